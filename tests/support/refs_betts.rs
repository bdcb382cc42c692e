//! The expected memory contents after the kernels of `betts`: a merge of bitonic sort, eigenvalues,
//! a histogram of 64 bins. Eigenvalues are computed by Jacobi rotations of the whole matrix in
//! double precision, not by counting signs.

use std::ops::Range;

use super::{Match, RefIo, exchange};

/// The rounding error of the kernels' counts, as a shift of the eigenvalues: some units in the last
/// place of the largest element, which is below 4.
const COUNTING: f32 = 4e-6;

/// Computes the expected buffers as [`super::reference`] does.
pub fn reference(entry: &str, io: &mut RefIo) -> Option<Vec<Match>> {
    let mut matches = vec![Match::Exact; io.buffers.len()];
    match entry {
        "bitonic_merge" => bitonic_merge(io),
        "eigen_intervals" => eigen_intervals(io),
        "eigen_single" => {
            eigen_single(io);
            // Half the width of the last interval, which is `relative` times its larger end or
            // `least`; the larger end is at most the sum of the eigenvalue and the width.
            let (relative, least) = (io.float(1), io.float(2));
            let rel = relative / 2.0 / (1.0 - relative);
            matches[4] = Match::F32 { rel, abs: least / 2.0 + COUNTING };
        }
        "eigen_cluster" => {
            eigen_cluster(io);
            matches[4] = Match::F32 { rel: 0.0, abs: io.float(1) / 2.0 + COUNTING };
        }
        "histogram64_partial" => histogram64_partial(io),
        "histogram64_merge" => histogram64_merge(io),
        _ => return None,
    }
    Some(matches)
}

fn bitonic_merge(io: &mut RefIo) {
    let (mut data, sequence) = (io.i32s(0), io.size(0));
    let mut distance = sequence.min(2 * io.block_threads()) / 2;
    while distance > 0 {
        exchange(&mut data, distance, sequence);
        distance /= 2;
    }
    io.put_i32s(0, &data);
}

/// Returns the eigenvalues of a symmetric matrix, ascending, by cyclic rotations (Jacobi, 1846).
fn eigenvalues(mut a: Vec<Vec<f64>>) -> Vec<f64> {
    let n = a.len();
    let beside = |a: &[Vec<f64>]| -> f64 {
        a.iter().enumerate().flat_map(|(i, row)| row[..i].iter()).map(|x| x * x).sum()
    };
    while beside(&a) > 1e-24 {
        for p in 0..n {
            for q in p + 1..n {
                if a[p][q].abs() < 1e-300 {
                    continue;
                }
                let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
                let t = theta.signum() / (theta.abs() + theta.hypot(1.0));
                let c = 1.0 / t.hypot(1.0);
                let s = t * c;
                for row in &mut a {
                    (row[p], row[q]) = (c * row[p] - s * row[q], s * row[p] + c * row[q]);
                }
                let (above, below) = a.split_at_mut(q);
                for (x, y) in above[p].iter_mut().zip(&mut below[0]) {
                    (*x, *y) = (c * *x - s * *y, s * *x + c * *y);
                }
            }
        }
    }
    let mut values: Vec<f64> = (0..n).map(|i| a[i][i]).collect();
    values.sort_by(f64::total_cmp);
    values
}

/// Returns the eigenvalues of the tridiagonal matrix in buffers 0 and 1; scalar 0 is its size.
fn of_matrix(io: &RefIo) -> Vec<f64> {
    let (n, diagonal, beside) = (io.size(0), io.f32s(0), io.f32s(1));
    let element = |i: usize, j: usize| match i.abs_diff(j) {
        0 => f64::from(diagonal[i]),
        1 => f64::from(beside[i.max(j)]),
        _ => 0.0,
    };
    eigenvalues((0..n).map(|i| (0..n).map(|j| element(i, j)).collect()).collect())
}

/// Returns the number of values below `x`.
fn below(values: &[f64], x: f32) -> usize {
    values.partition_point(|value| *value < f64::from(x))
}

/// Returns the parts of an interval that contain the eigenvalues with the indices `of`, after at
/// most this number of halvings; each part comes with the indices of its own eigenvalues.
fn parts(
    values: &[f64],
    (left, right): (f32, f32),
    of: Range<usize>,
    halvings: u64,
) -> Vec<(f32, f32, Range<usize>)> {
    if of.is_empty() {
        return vec![];
    }
    if of.len() == 1 || halvings == 0 {
        return vec![(left, right, of)];
    }
    let middle = 0.5 * (left + right);
    let split = below(values, middle);
    let mut all = parts(values, (left, middle), of.start..split, halvings - 1);
    all.extend(parts(values, (middle, right), split..of.end, halvings - 1));
    all
}

fn eigen_intervals(io: &mut RefIo) {
    let (values, n, diagonal, beside) = (of_matrix(io), io.size(0), io.f32s(0), io.f32s(1));
    let beside = |i: usize| if i == 0 || i == n { 0.0 } else { beside[i].abs() };
    let discs = (0..n).map(|i| (diagonal[i], beside(i) + beside(i + 1)));
    let left = discs.clone().map(|(center, radius)| center - radius).fold(f32::INFINITY, f32::min);
    let right = discs.map(|(center, radius)| center + radius).fold(f32::NEG_INFINITY, f32::max);
    let (mut lefts, mut rights, mut counts) = (vec![0.0; n], vec![0.0; n], vec![0; n]);
    for (left, right, of) in parts(&values, (left, right), 0..n, io.int(1) as u64) {
        (lefts[of.start], rights[of.start], counts[of.start]) = (left, right, of.len() as u32);
    }
    io.put_f32s(2, &lefts);
    io.put_f32s(3, &rights);
    io.put_u32s(4, &counts);
}

fn eigen_single(io: &mut RefIo) {
    let values: Vec<f32> = of_matrix(io).into_iter().map(|value| value as f32).collect();
    io.put_f32s(4, &values);
}

fn eigen_cluster(io: &mut RefIo) {
    let (values, n) = (of_matrix(io), io.size(0));
    let (left, right) = (io.f32s(2), io.f32s(3));
    let (mut rows, mut counts) = (io.f32s(4), io.u32s(5));
    for block in 0..io.blocks() {
        let found = &values[below(&values, left[block])..below(&values, right[block])];
        for (to, value) in rows[n * block..].iter_mut().zip(found) {
            *to = *value as f32;
        }
        counts[block] = found.len() as u32;
    }
    io.put_f32s(4, &rows);
    io.put_u32s(5, &counts);
}

fn histogram64_partial(io: &mut RefIo) {
    let mut partial = vec![0; 64 * io.blocks()];
    for word in 0..io.size(0) {
        let block = word / io.block_threads() % io.blocks();
        for byte in &io.buffers[0][4 * word..4 * word + 4] {
            partial[64 * block + usize::from(byte / 4)] += 1;
        }
    }
    io.put_u32s(1, &partial);
}

fn histogram64_merge(io: &mut RefIo) {
    let partial = io.u32s(0);
    let bins: Vec<u32> =
        (0..64).map(|bin| partial[..64 * io.size(0)].iter().skip(bin).step_by(64).sum()).collect();
    io.put_u32s(1, &bins);
}

#[cfg(test)]
mod refs_betts_tests {
    use super::*;

    /// The second difference on n points has the eigenvalues 2 - 2 cos(k pi / (n + 1)).
    #[test]
    fn eigenvalues_of_the_second_difference() {
        let n = 9;
        let element = |i: usize, j: usize| [2.0, -1.0].get(i.abs_diff(j)).copied().unwrap_or(0.0);
        let values = eigenvalues((0..n).map(|i| (0..n).map(|j| element(i, j)).collect()).collect());
        for (k, value) in values.iter().enumerate() {
            let exact = 2.0 - 2.0 * ((k + 1) as f64 * std::f64::consts::PI / (n + 1) as f64).cos();
            assert!((value - exact).abs() < 1e-12, "{value} is not {exact}");
        }
    }

    #[test]
    fn parts_end_with_one_eigenvalue_or_as_clusters() {
        let values = [0.1, 0.6, 0.61];
        let found = parts(&values, (0.0, 1.0), 0..3, 2);
        assert_eq!(found, [(0.0, 0.5, 0..1), (0.5, 0.75, 1..3)]);
        assert_eq!(parts(&values, (0.0, 1.0), 0..3, 10).len(), 3);
    }

    /// A merge of all steps sorts a bitonic sequence.
    #[test]
    fn a_merge_sorts_what_rises_and_falls() {
        let sequence: Vec<i32> = (0..8).chain((0..8).rev()).collect();
        let mut buffers = [sequence.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>()];
        let scalars = [super::super::Scalar::I(16)];
        let mut io = RefIo {
            grid: [1; 3],
            block: [8, 1, 1],
            dynamic_shared: 64,
            scalars: &scalars,
            buffers: &mut buffers,
        };
        assert!(reference("bitonic_merge", &mut io).is_some());
        let mut sorted = sequence;
        sorted.sort_unstable();
        assert_eq!(io.i32s(0), sorted);
    }
}
