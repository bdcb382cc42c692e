//! The expected memory contents after the kernels on graphs and sparse matrices: `bfs`, `sssp` and
//! `spmv_csr`. All of them are compared byte by byte.

use super::{RefIo, tree_sum};

/// Computes the expected buffers in place. Returns `None` if the entry is unknown.
pub fn reference(entry: &str, io: &mut RefIo) -> Option<()> {
    match entry {
        "bfs_expand" => bfs_expand(io),
        "bfs_settle" => bfs_settle(io),
        "sssp_relax" => sssp_relax(io),
        "spmv_thread" => spmv(io, 1),
        "spmv_warp" => spmv(io, 32),
        _ => return None,
    }
    Some(())
}

fn contains(set: &[u32], v: usize) -> bool {
    set[v / 32] >> (v % 32) & 1 == 1
}

/// Returns the range of entries of each row, from the starts of the rows.
fn row_entries(starts: &[i32], rows: usize) -> impl Iterator<Item = std::ops::Range<usize>> {
    starts.windows(2).take(rows).map(|ends| ends[0] as usize..ends[1] as usize)
}

fn bfs_expand(io: &mut RefIo) {
    let (starts, targets) = (io.i32s(0), io.i32s(1));
    let (frontier, visited, mut next) = (io.u32s(2), io.u32s(3), io.u32s(4));
    assert!(io.size(0) <= io.threads(), "a thread for each vertex");
    for (_, edges) in row_entries(&starts, io.size(0)).enumerate().filter(|(v, _)| contains(&frontier, *v)) {
        for &target in targets[edges].iter().filter(|&&target| !contains(&visited, target as usize)) {
            next[target as usize / 32] |= 1 << (target % 32);
        }
    }
    io.put_u32s(4, &next);
}

fn bfs_settle(io: &mut RefIo) {
    let (vertices, depth) = (io.size(0), io.size(1));
    let (next, mut visited) = (io.u32s(0), io.u32s(2));
    let (mut level, mut reached) = (io.i32s(3), io.i32s(4));
    for v in (0..vertices).filter(|&v| contains(&next, v)) {
        level[v] = depth as i32;
        reached[depth] += 1;
        visited[v / 32] |= 1 << (v % 32);
    }
    io.buffers[1].fill(0);
    io.put_u32s(2, &visited);
    io.put_i32s(3, &level);
    io.put_i32s(4, &reached);
}

fn sssp_relax(io: &mut RefIo) {
    let (starts, targets, lengths) = (io.i32s(0), io.i32s(1), io.i32s(2));
    let (from, mut to, limit) = (io.i32s(3), io.i32s(4), io.int(1) as i32);
    for (v, edges) in row_entries(&starts, io.size(0)).enumerate().filter(|(v, _)| from[*v] < limit) {
        for edge in edges {
            let (target, offer) = (targets[edge] as usize, from[v] + lengths[edge]);
            // a distance that is not below the one in `from` is not written, whatever `to` contains
            if offer < from[target] {
                to[target] = to[target].min(offer);
            }
        }
    }
    io.put_i32s(4, &to);
}

/// Computes each row with this number of lanes, whose sums are added as a tree.
fn spmv(io: &mut RefIo, lanes: usize) {
    let (starts, column, value) = (io.i32s(0), io.i32s(1), io.f32s(2));
    let (x, mut y) = (io.f32s(3), io.f32s(4));
    assert!(io.size(0) * lanes <= io.threads(), "so many lanes for each row");
    for (y, entries) in y.iter_mut().zip(row_entries(&starts, io.size(0))) {
        let of_lane = |lane| {
            let mine = entries.clone().skip(lane).step_by(lanes);
            mine.fold(0.0, |sum, i| value[i].mul_add(x[column[i] as usize], sum))
        };
        *y = tree_sum((0..lanes).map(of_lane).collect());
    }
    io.put_f32s(4, &y);
}
