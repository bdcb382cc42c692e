//! The expected memory contents after the kernels of `kernels/micro`.

use super::RefIo;

/// Computes the expected buffers in place. Returns `None` if the entry is unknown.
pub fn reference(entry: &str, io: &mut RefIo) -> Option<()> {
    match entry {
        "coalesce" => {
            let (input, stride) = (io.u32s(0), io.size(0));
            fill(io, 1, |i| input[stride * i as usize]);
        }
        "bank_stride" => fill(io, 0, |i| i),
        "pairs_mixed" => fill(io, 0, |i| 2 * i + (i ^ 8)),
        "pairs_same" => fill(io, 0, |i| (i << 8) + (i ^ 8)),
        "pairs_dependent" => fill(io, 0, |i| (0..8).fold(i, |x, _| 2 * (x ^ 1))),
        "chain" => fill(io, 0, |i| i << 16),
        "icache_loop" => {
            let rounds = io.int(0);
            // every iteration flips the low 29 bits
            fill(io, 0, |i| if rounds % 2 == 1 { i ^ ((1 << 29) - 1) } else { i });
        }
        "fma_one_bank" | "fma_spread" => fill(io, 0, |i| (i as f32 + 8.0).to_bits()),
        "result_bus" => fill(io, 0, |i| i ^ 4 ^ 8),
        "burst" => fill(io, 0, |i| 2 * i),
        "walk" => {
            let (distances, steps, mask) = (io.u32s(0), io.int(0), io.int(1) as u32);
            fill(io, 1, |i| (0..steps).fold(i % 32, |at, _| (at + distances[at as usize]) & mask));
        }
        "rewrite" => {
            let (old, rounds) = (io.u32s(0), io.int(0) as u32);
            fill(io, 0, |i| old[i as usize] + rounds);
        }
        "retire_load" => {
            let loaded = io.u32s(0);
            fill(io, 1, |i| 2 * loaded[i as usize]);
        }
        "retire_store" => {
            fill(io, 0, |i| i);
            fill(io, 1, |i| 2 * i);
        }
        "retire_atomic" => {
            let old = io.u32s(0);
            fill(io, 0, |i| old[i as usize] + 1);
            fill(io, 1, |i| 2 * i);
        }
        "const_walk" => {
            let (steps, spread) = (io.int(0) as u32, io.int(1) as u32);
            // word n of the table is n
            fill(io, 0, |i| (0..steps).map(|step| (spread * i + 16 * step) % 1024).sum());
        }
        _ => return None,
    }
    Some(())
}

/// Sets element i of a buffer to `value(i)`, the result of thread i.
fn fill(io: &mut RefIo, buffer: usize, value: impl Fn(u32) -> u32) {
    let len = io.buffers[buffer].len() / 4;
    assert_eq!(len as u32, io.grid[0] * io.block[0], "an element for each thread");
    let values: Vec<u32> = (0..len as u32).map(value).collect();
    io.put_u32s(buffer, &values);
}
