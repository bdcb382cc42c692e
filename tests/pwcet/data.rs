//! Samples whose distribution is known.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use warpbound::pwcet::gpd::Gpd;

/// The random numbers of a test.
pub struct Source(ChaCha8Rng);

impl Source {
    pub fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    /// Draws a number in (0, 1].
    pub fn uniform(&mut self) -> f64 {
        1.0 - self.0.random::<f64>()
    }

    /// Draws a standard normal number, by Box and Muller.
    pub fn normal(&mut self) -> f64 {
        (-2.0 * self.uniform().ln()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// Draws excesses of a distribution.
    pub fn gpd(&mut self, gpd: Gpd, count: usize) -> Vec<f64> {
        (0..count).map(|_| gpd.at_hazard(-self.uniform().ln())).collect()
    }

    /// Draws an autoregressive series of first order, standard normal around a level.
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

    /// Draws the series X_t = max(a X_{t-1}, (1 - a) Z_t) with Fréchet Z, whose extremal index is
    /// 1 - a.
    pub fn moving_maximum(&mut self, a: f64, count: usize) -> Vec<f64> {
        // X_0 has the distribution of Z, so that the series is stationary
        let mut frechet = || 1.0 / -self.uniform().ln().min(-1e-12);
        let mut value = frechet();
        (0..count)
            .map(|_| {
                value = (a * value).max((1.0 - a) * frechet());
                value
            })
            .collect()
    }

    /// Draws independent times in cycles with an exponential tail.
    pub fn cycles(&mut self, count: usize) -> Vec<u64> {
        (0..count)
            .map(|_| (100_000.0 - 2_000.0 * self.uniform().ln() + 500.0 * self.normal()) as u64)
            .collect()
    }
}

/// Returns a range that contains the number of events of this probability in `n` tries, except once
/// in a thousand times: normal limits with the continuity correction of a half.
pub fn binomial(n: usize, probability: f64) -> std::ops::RangeInclusive<usize> {
    let mean = n as f64 * probability;
    let half = 3.29 * (mean * (1.0 - probability)).sqrt() + 0.5;
    (mean - half).max(0.0).ceil() as usize..=(mean + half).floor() as usize
}
