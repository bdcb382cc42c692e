//! The expected results of the shipped kernels of machine learning: clustering, nearest points, the
//! layers of a network.
//!
//! The comparison is exact, except for exponentials, divisions and reciprocal square roots, which
//! are approximate in the kernels and computed in double precision here. The instructions are
//! accurate to 2 units in the last place; a comment at each tolerance derives the resulting error.

use super::{Match, RefIo, halves, tensor_product};

/// Computes the expected buffers as [`super::reference`] does.
pub fn reference(entry: &str, io: &mut RefIo) -> Option<Vec<Match>> {
    let mut matches = vec![Match::Exact; io.buffers.len()];
    // the last buffer is the result
    let mut tolerance = |rel: f32, abs: f32| *matches.last_mut().unwrap() = Match::F32 { rel, abs };
    match entry {
        "kmeans_assign" => kmeans_assign(io),
        "kmeans_move" => kmeans_move(io),
        "nearest_point" => nearest_point(io),
        "nearest_merge" => nearest_merge(io),
        "softmax_warp" | "softmax_block" => {
            // The product with log2(e) is at most 24 and rounds to 2^-20, which is also the
            // relative error of the exponential; sums of positive numbers and the division add less
            // than 16 units.
            tolerance(4e-6, 0.0);
            softmax(io, io.size(io.scalars.len() - 1));
        }
        "layernorm_passes" | "layernorm_welford" => {
            // Values are at most 6, the sum of a thread has at most 7 terms and the tree over the
            // block 7 levels. Means are therefore accurate to 16 * 6 * 2^-24, and results, at most
            // 2 deviations of 1.15 times 1.5, are only a little less accurate.
            tolerance(0.0, 1e-5);
            layernorm(io);
        }
        "attention" => {
            // Scores are at most 16 (see softmax); results are means of numbers in [-1, 1].
            tolerance(0.0, 1e-5);
            attention(io);
        }
        "wmma_gemm" => wmma_gemm(io),
        "bias_relu" => bias_relu(io),
        "bias_gelu" => {
            // The exponent is at most 17 and accurate to about 2^-19; results are at most 5.
            tolerance(4e-6, 1e-7);
            bias_gelu(io);
        }
        "embedding" => embedding(io),
        _ => return None,
    }
    Some(matches)
}

/// Returns the squared distance, rounded as in the kernels.
fn squared(dx: f32, dy: f32) -> f32 {
    dx.mul_add(dx, dy * dy)
}

/// Returns the first of the smallest values, with its index.
fn first_least(distances: impl Iterator<Item = f32>) -> (usize, f32) {
    distances.enumerate().fold(
        (0, f32::INFINITY),
        |best, (index, distance)| {
            if distance < best.1 { (index, distance) } else { best }
        },
    )
}

fn kmeans_assign(io: &mut RefIo) {
    let [x, y, centre_x, centre_y] = [0, 1, 2, 3].map(|buffer| io.f32s(buffer));
    let (mut member, mut sums, mut counts) = (io.i32s(4), io.i32s(5), io.u32s(6));
    let centres = io.size(1);
    for i in 0..io.size(0) {
        let (nearest, _) = first_least((0..centres).map(|c| squared(x[i] - centre_x[c], y[i] - centre_y[c])));
        member[i] = nearest as i32;
        sums[nearest] += (x[i] * 1024.0).round_ties_even() as i32;
        sums[centres + nearest] += (y[i] * 1024.0).round_ties_even() as i32;
        counts[nearest] += 1;
    }
    io.put_i32s(4, &member);
    io.put_i32s(5, &sums);
    io.put_u32s(6, &counts);
}

fn kmeans_move(io: &mut RefIo) {
    let (mut x, mut y, sums, counts) = (io.f32s(0), io.f32s(1), io.i32s(2), io.u32s(3));
    let centres = io.size(0);
    for c in (0..centres).filter(|&c| counts[c] > 0) {
        x[c] = sums[c] as f32 / (1024.0 * counts[c] as f32);
        y[c] = sums[centres + c] as f32 / (1024.0 * counts[c] as f32);
    }
    io.put_f32s(0, &x);
    io.put_f32s(1, &y);
    io.put_i32s(2, &vec![0; 2 * centres]);
}

fn nearest_point(io: &mut RefIo) {
    let (x, y) = (io.f32s(0), io.f32s(1));
    let (query_x, query_y, points) = (io.float(0), io.float(1), io.size(2));
    let (threads, blocks) = (io.block_threads(), io.blocks());
    let least = (0..blocks).map(|block| {
        let of_block: Vec<usize> = (0..points).filter(|i| i / threads % blocks == block).collect();
        let (at, distance) = first_least(of_block.iter().map(|&i| squared(x[i] - query_x, y[i] - query_y)));
        u64::from(distance.to_bits()) << 32 | of_block[at] as u64
    });
    io.buffers[2] = least.flat_map(u64::to_le_bytes).collect();
}

fn nearest_merge(io: &mut RefIo) {
    let candidates = io.buffers[0].as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes));
    let least = candidates.take(io.size(0)).min().unwrap();
    io.put_u32s(1, &[least as u32]);
    io.put_f32s(2, &[f32::from_bits((least >> 32) as u32).sqrt()]);
}

/// Returns the exponentials of the differences from the largest value, and their sum.
fn exponentials(row: &[f64]) -> (Vec<f64>, f64) {
    let largest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = row.iter().map(|v| (v - largest).exp()).collect();
    let sum = weights.iter().sum();
    (weights, sum)
}

fn wide(values: &[f32]) -> Vec<f64> {
    values.iter().copied().map(f64::from).collect()
}

fn softmax(io: &mut RefIo, columns: usize) {
    let rows = wide(&io.f32s(0));
    let out: Vec<f32> = rows
        .chunks(columns)
        .flat_map(|row| {
            let (weights, sum) = exponentials(row);
            weights.into_iter().map(move |weight| (weight / sum) as f32)
        })
        .collect();
    io.put_f32s(1, &out);
}

fn layernorm(io: &mut RefIo) {
    let [rows, scale, shift] = [0, 1, 2].map(|buffer| wide(&io.f32s(buffer)));
    let (epsilon, columns) = (f64::from(io.float(0)), io.size(1));
    let mut out = Vec::new();
    for row in rows.chunks(columns) {
        let mean = row.iter().sum::<f64>() / columns as f64;
        let variance = row.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / columns as f64;
        let deviation = (variance + epsilon).sqrt();
        out.extend((0..columns).map(|c| ((row[c] - mean) / deviation * scale[c] + shift[c]) as f32));
    }
    io.put_f32s(3, &out);
}

fn attention(io: &mut RefIo) {
    const COLUMNS: usize = 16;
    let [q, k, v] = [0, 1, 2].map(|buffer| wide(&io.f32s(buffer)));
    let (queries, keys, causal) = (io.size(0), io.size(1), io.int(2) != 0);
    let mut out = Vec::new();
    for head in 0..io.grid[1] as usize {
        let row = |of: &[f64], rows: usize, row: usize| -> [f64; COLUMNS] {
            let first = (head * rows + row) * COLUMNS;
            of[first..first + COLUMNS].try_into().unwrap()
        };
        for query in 0..queries {
            let of_query = row(&q, queries, query);
            let seen = if causal { keys.min(query + 1) } else { keys };
            let score = |key| of_query.iter().zip(row(&k, keys, key)).map(|(a, b)| a * b).sum::<f64>() / 4.0;
            let (weights, sum) = exponentials(&(0..seen).map(score).collect::<Vec<f64>>());
            out.extend((0..COLUMNS).map(|column| {
                let values = weights.iter().enumerate().map(|(key, w)| w * row(&v, keys, key)[column]);
                (values.sum::<f64>() / sum) as f32
            }));
        }
    }
    io.put_f32s(3, &out);
}

fn wmma_gemm(io: &mut RefIo) {
    let (a, b, c) = (halves(&io.buffers[0]), halves(&io.buffers[1]), io.f32s(2));
    let (alpha, beta, depth) = (io.float(0), io.float(1), io.size(2));
    let product = tensor_product(&a, &b, depth, (io.grid[0] * io.block[0]) as usize);
    let out: Vec<f32> = product.iter().zip(&c).map(|(sum, old)| alpha.mul_add(*sum, beta * old)).collect();
    io.put_f32s(3, &out);
}

fn bias_relu(io: &mut RefIo) {
    let (values, bias, columns) = (io.f32s(0), io.f32s(1), io.size(0));
    let out: Vec<f32> =
        values.iter().enumerate().map(|(i, value)| (value + bias[i % columns]).max(0.0)).collect();
    assert_eq!(out.len(), io.size(1));
    io.put_f32s(2, &out);
}

fn bias_gelu(io: &mut RefIo) {
    let (values, bias, columns) = (io.f32s(0), io.f32s(1), io.size(0));
    let gelu = |(i, value): (usize, &f32)| {
        let v = f64::from(value + bias[i % columns]);
        let inner = (2.0 / std::f64::consts::PI).sqrt() * (v + 0.044715 * v.powi(3));
        (0.5 * v * (1.0 + inner.tanh())) as f32
    };
    let out: Vec<f32> = values.iter().enumerate().map(gelu).collect();
    assert_eq!(out.len(), io.size(1));
    io.put_f32s(2, &out);
}

fn embedding(io: &mut RefIo) {
    let (table, places, tokens) = (io.f32s(0), io.f32s(1), io.i32s(2));
    let [rows, columns, sequence, count] = [0, 1, 2, 3].map(|scalar| io.size(scalar));
    let mut out = Vec::new();
    for (i, &token) in tokens[..count].iter().enumerate() {
        let row = usize::try_from(token).ok().filter(|&token| token < rows);
        out.extend((0..columns).map(|column| {
            let place = places[i % sequence * columns + column];
            row.map_or(0.0, |row| table[row * columns + column] + place)
        }));
    }
    io.put_f32s(3, &out);
}
