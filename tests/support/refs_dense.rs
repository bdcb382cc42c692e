//! The expected memory contents after the kernels on dense matrices: `lud`, `gaussian`, `matvec`
//! and `backprop`. All except the sigmoid of `layer_forward` are compared byte by byte.

use super::{Match, RefIo, tree_sum};

/// Computes the expected buffers in place, and changes how they are compared. Returns `None` if the
/// entry is unknown.
pub fn reference(entry: &str, io: &mut RefIo, matches: &mut [Match]) -> Option<()> {
    match entry {
        "lud_diagonal" => lud_diagonal(io),
        "lud_perimeter" => lud_perimeter(io),
        "lud_internal" => lud_internal(io),
        "gauss_pivot" => gauss_pivot(io),
        "gauss_eliminate" => gauss_eliminate(io),
        "gauss_back" => gauss_back(io),
        "gemv_rows" => gemv_rows(io),
        "gemv_columns" => gemv_columns(io),
        "column_stats" => column_stats(io),
        "layer_forward" => {
            layer_forward(io);
            // The weighted sum s is exact. The exponent has an error of half a unit in the last
            // place of s * log2(e), less than 2^-20 for |s| up to 10, the exponential of 2^-22:
            // 1.2e-6 together. The error of the sigmoid is less than that, plus two roundings.
            matches[3] = Match::F32 { rel: 2e-6, abs: 0.0 };
        }
        "output_delta" => output_delta(io),
        "hidden_delta" => hidden_delta(io),
        "adjust_weights" => adjust_weights(io),
        _ => return None,
    }
    Some(())
}

const TILE: usize = 16;

/// Decomposes the rows and columns of tile k of the diagonal.
fn lud_diagonal(io: &mut RefIo) {
    let (mut a, n, first) = (io.f32s(0), io.size(0), TILE * io.size(1));
    for p in first..first + TILE {
        for i in p + 1..first + TILE {
            a[i * n + p] /= a[p * n + p];
            for j in p + 1..first + TILE {
                a[i * n + j] = (-a[i * n + p]).mul_add(a[p * n + j], a[i * n + j]);
            }
        }
    }
    io.put_f32s(0, &a);
}

/// Performs the substitution, element by element.
fn lud_perimeter(io: &mut RefIo) {
    let (mut a, n, first) = (io.f32s(0), io.size(0), TILE * io.size(1));
    let beyond = first + TILE..first + TILE + TILE * io.blocks();
    for away in beyond {
        for p in first..first + TILE {
            a[p * n + away] =
                (first..p).fold(a[p * n + away], |v, q| (-a[p * n + q]).mul_add(a[q * n + away], v));
            let rest = (first..p).fold(a[away * n + p], |v, q| (-a[away * n + q]).mul_add(a[q * n + p], v));
            a[away * n + p] = rest / a[p * n + p];
        }
    }
    io.put_f32s(0, &a);
}

fn lud_internal(io: &mut RefIo) {
    let (mut a, n, first) = (io.f32s(0), io.size(0), TILE * io.size(1));
    let [wide, high] = [0, 1].map(|axis| TILE * io.grid[axis] as usize);
    for i in (first + TILE..).take(high) {
        for j in (first + TILE..).take(wide) {
            a[i * n + j] =
                (first..first + TILE).fold(a[i * n + j], |v, p| (-a[i * n + p]).mul_add(a[p * n + j], v));
        }
    }
    io.put_f32s(0, &a);
}

fn gauss_pivot(io: &mut RefIo) {
    let (mut m, mut factors) = (io.f32s(0), io.f32s(1));
    let (n, k) = (io.size(0), io.size(1));
    let width = n + 1;
    let mut pivot = k;
    for row in k + 1..n {
        if m[row * width + k].abs() > m[pivot * width + k].abs() {
            pivot = row;
        }
    }
    (k..width).for_each(|column| m.swap(k * width + column, pivot * width + column));
    for (row, factor) in factors.iter_mut().enumerate().take(n).skip(k + 1) {
        *factor = m[row * width + k] / m[k * width + k];
    }
    io.put_f32s(0, &m);
    io.put_f32s(1, &factors);
}

fn gauss_eliminate(io: &mut RefIo) {
    let (mut m, factors) = (io.f32s(0), io.f32s(1));
    let (n, k) = (io.size(0), io.size(1));
    let width = n + 1;
    for (row, factor) in factors.iter().enumerate().take(n).skip(k + 1) {
        for column in k + 1..width {
            let at = row * width + column;
            m[at] = (-factor).mul_add(m[k * width + column], m[at]);
        }
    }
    io.put_f32s(0, &m);
}

fn gauss_back(io: &mut RefIo) {
    let (m, mut unknowns, n) = (io.f32s(0), io.f32s(1), io.size(0));
    let width = n + 1;
    for row in (0..n).rev() {
        let known = (row + 1..n).rev();
        let right = known
            .fold(m[row * width + n], |v, column| (-m[row * width + column]).mul_add(unknowns[column], v));
        unknowns[row] = right / m[row * width + row];
    }
    io.put_f32s(1, &unknowns);
}

fn gemv_rows(io: &mut RefIo) {
    let (a, x, mut y) = (io.f32s(0), io.f32s(1), io.f32s(2));
    let (rows, columns) = (io.size(0), io.size(1));
    for row in 0..rows {
        y[row] = (0..columns).fold(0.0, |sum, column| a[row * columns + column].mul_add(x[column], sum));
    }
    io.put_f32s(2, &y);
}

/// Returns `add` folded over the rows of each of several slices, then the sum of the slices in
/// order.
fn over_slices(rows: usize, slices: usize, add: impl Fn(f32, usize) -> f32) -> f32 {
    let of_slice = |slice| (slice..rows).step_by(slices).fold(0.0, &add);
    (1..slices).fold(of_slice(0), |sum, slice| sum + of_slice(slice))
}

fn gemv_columns(io: &mut RefIo) {
    let (a, x, mut y) = (io.f32s(0), io.f32s(1), io.f32s(2));
    let (rows, columns, slices) = (io.size(0), io.size(1), io.block[1] as usize);
    for (column, y) in y[..columns].iter_mut().enumerate() {
        *y = over_slices(rows, slices, |sum, row| a[row * columns + column].mul_add(x[row], sum));
    }
    io.put_f32s(2, &y);
}

fn column_stats(io: &mut RefIo) {
    let (a, mut means, mut deviations) = (io.f32s(0), io.f32s(1), io.f32s(2));
    let (rows, columns, slices) = (io.size(0), io.size(1), io.block[1] as usize);
    for column in 0..columns {
        let at = |row: usize| a[row * columns + column];
        let mean = over_slices(rows, slices, |sum, row| sum + at(row)) / rows as f32;
        let squares = over_slices(rows, slices, |sum, row| (at(row) - mean).mul_add(at(row) - mean, sum));
        means[column] = mean;
        deviations[column] = (squares / rows as f32).sqrt();
    }
    io.put_f32s(1, &means);
    io.put_f32s(2, &deviations);
}

fn layer_forward(io: &mut RefIo) {
    let (input, weights, bias, mut out) = (io.f32s(0), io.f32s(1), io.f32s(2), io.f32s(3));
    let (ins, outs, slices) = (io.size(0), io.size(1), io.block[1] as usize);
    for j in 0..outs {
        let of_slice = |slice: usize| {
            (slice..ins).step_by(slices).fold(0.0, |sum, i| weights[i * outs + j].mul_add(input[i], sum))
        };
        let sum = tree_sum((0..slices).map(of_slice).collect()) + bias[j];
        out[j] = (1.0 / (1.0 + (-f64::from(sum)).exp())) as f32;
    }
    io.put_f32s(3, &out);
}

fn output_delta(io: &mut RefIo) {
    let (out, target, mut delta) = (io.f32s(0), io.f32s(1), io.f32s(2));
    for j in 0..io.size(0) {
        delta[j] = out[j] * (1.0 - out[j]) * (target[j] - out[j]);
    }
    io.put_f32s(2, &delta);
}

fn hidden_delta(io: &mut RefIo) {
    let (hidden, weights, next, mut delta) = (io.f32s(0), io.f32s(1), io.f32s(2), io.f32s(3));
    let (hiddens, outs) = (io.size(0), io.size(1));
    for i in 0..hiddens {
        let of_lane = |lane: usize| {
            (lane..outs).step_by(32).fold(0.0, |sum, j| weights[i * outs + j].mul_add(next[j], sum))
        };
        let sum = tree_sum((0..32).map(of_lane).collect());
        delta[i] = hidden[i] * (1.0 - hidden[i]) * sum;
    }
    io.put_f32s(3, &delta);
}

fn adjust_weights(io: &mut RefIo) {
    let (mut weights, mut moved, input, delta) = (io.f32s(0), io.f32s(1), io.f32s(2), io.f32s(3));
    let (ins, outs, rate, momentum) = (io.size(0), io.size(1), io.float(2), io.float(3));
    for at in 0..ins * outs {
        moved[at] = momentum.mul_add(moved[at], rate * (delta[at % outs] * input[at / outs]));
        weights[at] += moved[at];
    }
    io.put_f32s(0, &weights);
    io.put_f32s(1, &moved);
}
