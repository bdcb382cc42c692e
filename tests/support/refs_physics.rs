//! The expected results of the shipped kernels of simulation: particle filters, bodies that attract
//! each other, Monte Carlo.

use super::{Match, RefIo};

/// Computes the expected buffers as [`super::reference`] does.
pub fn reference(entry: &str, io: &mut RefIo) -> Option<Vec<Match>> {
    let mut matches = vec![Match::Exact; io.buffers.len()];
    match entry {
        "particle_step" => particle_step(io),
        "nbody_forces" => {
            // For 300 bodies in a cube of side 1, a pull is at most 38 and on average about 3. The
            // rounding error of their sum is at most a few times 1000 * 2^-24. Reciprocal roots are
            // accurate to 2 units in the last place, cubes to 6.
            matches[1] = Match::F32 { rel: 1e-6, abs: 3e-4 };
            nbody_forces(io);
        }
        "nbody_move" => nbody_move(io),
        "montecarlo_pi" => montecarlo_pi(io),
        "montecarlo_barrier" => montecarlo_barrier(io),
        _ => return None,
    }
    Some(matches)
}

fn particle_step(io: &mut RefIo) {
    let [from, noise, measured] = [0, 2, 3].map(|buffer| io.f32s(buffer));
    let (mut to, mut mean) = (io.f32s(1), io.i32s(4));
    let (speed, spread, start, count) = (io.float(0), io.float(1), io.int(2) as u64, io.size(3));
    for filter in 0..io.blocks() {
        let at = filter * count;
        let moved: Vec<f32> = (at..at + count).map(|i| from[i] + speed + noise[i]).collect();
        let weigh = |x: &f32| {
            let d = (x - measured[filter]) / spread;
            1.0 / d.mul_add(d, 1.0)
        };
        let weights: Vec<f32> = moved.iter().map(weigh).collect();
        let largest = weights.iter().copied().fold(0.0, f32::max);
        let shares: Vec<u64> = weights.iter().map(|w| (w / largest * 65535.0) as u64).collect();
        let total: u64 = shares.iter().sum();
        for i in 0..count {
            let mark = (65536 * i as u64 + start) * total / (65536 * count as u64);
            let mut sum = 0;
            let chosen = shares.iter().position(|share| {
                sum += share;
                sum > mark
            });
            to[at + i] = moved[chosen.expect("marks are below the sum of all")];
            mean[filter] += (to[at + i] * 256.0).round_ties_even() as i32;
        }
    }
    io.put_f32s(1, &to);
    io.put_i32s(4, &mean);
}

fn nbody_forces(io: &mut RefIo) {
    let bodies: Vec<[f64; 4]> = io.f32s(0).as_chunks().0.iter().map(|body| body.map(f64::from)).collect();
    let (soft, count) = (f64::from(io.float(0)), io.size(1));
    let mut out = Vec::new();
    for me in &bodies[..count] {
        let mut acceleration = [0.0f64; 4];
        for other in &bodies[..count] {
            let apart = [0, 1, 2].map(|axis| other[axis] - me[axis]);
            let squared = soft + apart.iter().map(|d| d * d).sum::<f64>();
            for axis in 0..3 {
                acceleration[axis] += other[3] * apart[axis] / (squared * squared.sqrt());
            }
        }
        out.extend(acceleration.map(|a| a as f32));
    }
    io.put_f32s(1, &out);
}

fn nbody_move(io: &mut RefIo) {
    let (mut bodies, mut velocities, accelerations) = (io.f32s(0), io.f32s(1), io.f32s(2));
    let step = io.float(0);
    for at in (0..4 * io.size(1)).filter(|at| at % 4 < 3) {
        velocities[at] = accelerations[at].mul_add(step, velocities[at]);
        bodies[at] = velocities[at].mul_add(step, bodies[at]);
    }
    io.put_f32s(0, &bodies);
    io.put_f32s(1, &velocities);
}

fn philox(mut counter: [u32; 4], mut key: [u32; 2]) -> [u32; 4] {
    for _ in 0..10 {
        let [a, b] = [(0xd251_1f53, counter[0]), (0xcd9e_8d57, counter[2])].map(|(m, c)| u64::from(c) * m);
        counter = [
            (b >> 32) as u32 ^ counter[1] ^ key[0],
            b as u32,
            (a >> 32) as u32 ^ counter[3] ^ key[1],
            a as u32,
        ];
        key = [key[0].wrapping_add(0x9e37_79b9), key[1].wrapping_add(0xbb67_ae85)];
    }
    counter
}

fn montecarlo_pi(io: &mut RefIo) {
    let mut inside = io.u32s(0)[0];
    for thread in 0..io.threads() as u32 {
        for draw in 0..io.int(1) as u32 {
            let words = philox([draw, thread, 0, 0], [io.int(0) as u32, 0]);
            for [x, y] in words.as_chunks().0 {
                let [x, y] = [x, y].map(|word| u64::from(word >> 16));
                inside += u32::from(x * x + y * y < 1 << 32);
            }
        }
    }
    io.put_u32s(0, &[inside]);
}

fn montecarlo_barrier(io: &mut RefIo) {
    let mut paid = io.u32s(0);
    let seed = io.int(0) as u32;
    let [start, strike, barrier, steps, paths] = [1, 2, 3, 4, 5].map(|scalar| io.int(scalar));
    for path in 0..paths as u32 {
        let mut x = (path + 1).wrapping_mul(2654435761) ^ seed;
        if x == 0 {
            x = seed;
        }
        let ups = (0..steps).map(|step| {
            if step % 16 == 0 {
                x ^= x << 13;
                x ^= x >> 17;
                x ^= x << 5;
            }
            x >> (step % 16 + 8) & 1 == 1
        });
        let prices: Vec<i64> = ups
            .scan(start, |price, up| {
                *price += if up { 1 } else { -1 };
                Some(*price)
            })
            .collect();
        if prices.iter().any(|price| *price <= barrier) {
            paid[1] += 1;
        } else {
            paid[0] += (prices.last().unwrap() - strike).max(0) as u32;
        }
    }
    io.put_u32s(0, &paid);
}

#[cfg(test)]
mod tests {
    use super::philox;

    /// Known answers of the library Random123 by Salmon et al.
    #[test]
    fn philox_draws_what_it_is_known_to_draw() {
        let zeros = [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8];
        assert_eq!(philox([0; 4], [0; 2]), zeros);
        let ones = [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd];
        assert_eq!(philox([u32::MAX; 4], [u32::MAX; 2]), ones);
    }
}
