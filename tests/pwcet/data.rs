//! Samples whose distribution is known.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use warpbound::pwcet::gpd::Gpd;

/// Random numbers of a test.
pub struct Source(ChaCha8Rng);

impl Source {
    pub fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    /// In (0, 1].
    pub fn uniform(&mut self) -> f64 {
        1.0 - self.0.random::<f64>()
    }

    /// Standard normal, by Box and Muller.
    pub fn normal(&mut self) -> f64 {
        (-2.0 * self.uniform().ln()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// Excesses of a distribution.
    pub fn gpd(&mut self, gpd: Gpd, count: usize) -> Vec<f64> {
        (0..count).map(|_| gpd.at_hazard(-self.uniform().ln())).collect()
    }

    /// An autoregressive series of first order around a level, standard normal but for the level.
    pub fn ar(&mut self, correlation: f64, level: f64, count: usize) -> Vec<f64> {
        let mut value = self.normal();
        let noise = (1.0 - correlation * correlation).sqrt();
        (0..count)
            .map(|_| {
                value = correlation * value + noise * self.normal();
                level + value
            })
            .collect()
    }

    /// Independent times in cycles with an exponential tail.
    pub fn cycles(&mut self, count: usize) -> Vec<u64> {
        (0..count)
            .map(|_| (100_000.0 - 2_000.0 * self.uniform().ln() + 500.0 * self.normal()) as u64)
            .collect()
    }
}

/// How often something of this probability happens in `n` tries, but for one time in a thousand: normal limits with the
/// half-step that a count needs.
pub fn binomial(n: usize, probability: f64) -> std::ops::RangeInclusive<usize> {
    let mean = n as f64 * probability;
    let half = 3.29 * (mean * (1.0 - probability)).sqrt() + 0.5;
    (mean - half).max(0.0).ceil() as usize..=(mean + half).floor() as usize
}
