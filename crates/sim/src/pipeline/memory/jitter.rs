//! Random additions to latencies, for probabilistic analysis.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::carried::Drawn;
use warpbound_core::machine::memory::Jitter;

/// A generator of additions to a latency. It uses integer arithmetic only, so that every platform
/// draws the same values.
#[derive(Clone, Debug)]
pub(super) struct Draws {
    jitter: Jitter,
    rng: ChaCha8Rng,
}

impl Draws {
    /// Creates a generator; `stream` distinguishes the sources of randomness of one run.
    pub fn new(jitter: Jitter, seed: u64, stream: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(stream);
        Self { jitter, rng }
    }

    /// Returns the number of random words drawn so far.
    pub fn drawn(&self) -> Drawn {
        Drawn::new(self.rng.get_word_pos())
    }

    /// Resumes after this number of random words.
    pub fn go_on_after(&mut self, drawn: Drawn) {
        self.rng.set_word_pos(drawn.words());
    }

    /// Draws the next addition, in cycles.
    pub fn next(&mut self) -> u64 {
        match self.jitter {
            Jitter::Off => 0,
            Jitter::Uniform(least, most) => least + self.below(most - least + 1),
            Jitter::Geometric(mean) => {
                let mut cycles = 0;
                // the limit is never reached in practice and keeps sums from overflowing
                while cycles < 1 << 32 && self.below(mean + 1) != 0 {
                    cycles += 1;
                }
                cycles
            }
            Jitter::HeavyTail { scale, shape, most } => {
                let mut reach = 0;
                while reach < most && self.below(1 << shape) == 0 {
                    reach = if reach == 0 { scale } else { reach.saturating_mul(2) };
                }
                if reach == 0 { 0 } else { (reach + self.below(reach)).min(most) }
            }
        }
    }

    /// Returns a uniform number below `bound`: 64 random bits scaled down, with a bias below bound
    /// / 2^64.
    fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.rng.next_u64()) * u128::from(bound)) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draw(jitter: Jitter, seed: u64) -> Vec<u64> {
        let mut draws = Draws::new(jitter, seed, 0);
        (0..20_000).map(|_| draws.next()).collect()
    }

    fn share(values: &[u64], selected: impl Fn(u64) -> bool) -> f64 {
        values.iter().filter(|&&v| selected(v)).count() as f64 / values.len() as f64
    }

    #[test]
    fn the_seed_decides() {
        for jitter in [
            Jitter::Uniform(3, 90),
            Jitter::Geometric(20),
            Jitter::HeavyTail { scale: 10, shape: 2, most: 9999 },
        ] {
            assert_eq!(draw(jitter, 1), draw(jitter, 1));
            assert_ne!(draw(jitter, 1), draw(jitter, 2));
        }
        assert!(draw(Jitter::Off, 1).iter().all(|&v| v == 0));
    }

    #[test]
    fn distributions_are_what_they_say() {
        let uniform = draw(Jitter::Uniform(10, 13), 5);
        for value in 10..=13 {
            assert!((share(&uniform, |v| v == value) - 0.25).abs() < 0.02, "{value}");
        }
        let geometric = draw(Jitter::Geometric(20), 5);
        let mean = geometric.iter().sum::<u64>() as f64 / geometric.len() as f64;
        assert!((mean - 20.0).abs() < 0.6, "mean {mean}");
        // the standard deviation of a geometric distribution is sqrt(mean (mean + 1))
        let square = geometric.iter().map(|&v| (v as f64 - mean).powi(2)).sum::<f64>() / 20_000.0;
        assert!((square.sqrt() - 20.49).abs() < 1.0, "deviation {}", square.sqrt());
        let heavy = draw(Jitter::HeavyTail { scale: 16, shape: 1, most: 1 << 20 }, 5);
        for doubling in 0..5 {
            let expected = 0.5_f64.powi(doubling + 1);
            let found = share(&heavy, |v| v >= 16 << doubling);
            assert!((found - expected).abs() < 0.02, "{doubling}: {found}");
        }
        let cut = draw(Jitter::HeavyTail { scale: 16, shape: 1, most: 100 }, 5);
        assert_eq!(cut.iter().max(), Some(&100));
    }
}
