//! The expected results of the shipped kernels that sort and look up: B+trees, radix sort, odd-even
//! merge sort.

use std::collections::BTreeMap;

use super::{Match, RefIo};

/// Computes the expected buffers as [`super::reference`] does.
pub fn reference(entry: &str, io: &mut RefIo) -> Option<Vec<Match>> {
    match entry {
        "btree_lane" | "btree_group" => lookups(io),
        "radix_block" => radix_block(io),
        "radix_count" => radix_count(io),
        "radix_offsets" => radix_offsets(io),
        "radix_scatter" => radix_scatter(io),
        "oddeven_shared" => {
            let mut data = io.i32s(0);
            data.chunks_mut(2 * io.block_threads()).for_each(<[i32]>::sort);
            io.put_i32s(0, &data);
        }
        "oddeven_step" => oddeven_step(io),
        _ => return None,
    }
    Some(vec![Match::Exact; io.buffers.len()])
}

fn lookups(io: &mut RefIo) {
    const PLACES: usize = 8;
    let [keys, first_child, values, queries] = [0, 1, 2, 3].map(|buffer| io.i32s(buffer));
    let leaves = (0..keys.len()).filter(|at| first_child[at / PLACES] == -1 && keys[*at] != i32::MAX);
    let entries: BTreeMap<i32, i32> = leaves.map(|at| (keys[at], values[at])).collect();
    let mut found = io.i32s(4);
    for i in 0..io.size(0) {
        found[i] = entries.get(&queries[i]).copied().unwrap_or(-1);
    }
    io.put_i32s(4, &found);
}

fn radix_block(io: &mut RefIo) {
    let (keys, values) = (io.u32s(0), io.u32s(1));
    let mut pairs: Vec<(u32, u32)> = keys.into_iter().zip(values).collect();
    pairs.chunks_mut(io.size(1)).for_each(|segment| segment.sort_by_key(|(key, _)| *key));
    let (keys, values): (Vec<u32>, Vec<u32>) = pairs.into_iter().unzip();
    io.put_u32s(0, &keys);
    io.put_u32s(1, &values);
}

fn radix_count(io: &mut RefIo) {
    let (keys, blocks, threads) = (io.u32s(0), io.blocks(), io.block_threads());
    let mut counts = vec![0; 4 * blocks];
    for i in 0..io.size(1) {
        counts[(keys[i] >> io.size(0) & 3) as usize * blocks + i / threads] += 1;
    }
    io.put_u32s(1, &counts);
}

fn radix_offsets(io: &mut RefIo) {
    let mut counts = io.u32s(0);
    let mut sum = 0;
    for count in &mut counts[..io.size(0)] {
        sum += std::mem::replace(count, sum);
    }
    io.put_u32s(0, &counts);
}

fn radix_scatter(io: &mut RefIo) {
    let (keys, values, mut next) = (io.u32s(0), io.u32s(1), io.u32s(4));
    let (mut sorted_keys, mut sorted_values) = (io.u32s(2), io.u32s(3));
    for i in 0..io.size(1) {
        let digit = (keys[i] >> io.size(0) & 3) as usize;
        let to = &mut next[digit * io.blocks() + i / io.block_threads()];
        sorted_keys[*to as usize] = keys[i];
        sorted_values[*to as usize] = values[i];
        *to += 1;
    }
    io.put_u32s(2, &sorted_keys);
    io.put_u32s(3, &sorted_values);
}

/// Performs a step of Batcher's method in Knuth's formulation ("The Art of Computer Programming",
/// volume 3, 5.2.2), for merges of `2 * half` elements each.
fn oddeven_step(io: &mut RefIo) {
    let mut data = io.i32s(0);
    let (distance, half) = (io.size(0), io.size(1));
    let merge = 2 * half;
    let start = if distance == half { 0 } else { distance };
    for first in (0..data.len()).step_by(merge) {
        for group in (start..merge - distance).step_by(2 * distance) {
            for low in first + group..first + group + distance {
                if data[low] > data[low + distance] {
                    data.swap(low, low + distance);
                }
            }
        }
    }
    io.put_i32s(0, &data);
}
