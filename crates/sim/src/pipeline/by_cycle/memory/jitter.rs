//! Random additions to latencies.

use crate::key::Key;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use warpbound_core::machine::memory::Jitter;

/// A source of random additions. Each has a stream of its own.
#[derive(Clone, Debug)]
pub(super) struct Draws {
    jitter: Jitter,
    random: ChaCha8Rng,
}

impl Draws {
    pub fn new(jitter: Jitter, seed: u64, stream: u64) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(stream);
        Self { jitter, random }
    }

    /// Draws the next addition.
    pub fn next(&mut self) -> u64 {
        match self.jitter {
            Jitter::Off => 0,
            Jitter::Uniform(least, most) => least + self.below(most - least + 1),
            Jitter::Geometric(mean) => {
                let mut cycles = 0;
                while self.below(mean + 1) > 0 {
                    cycles += 1;
                }
                cycles
            }
            Jitter::HeavyTail { scale, shape, most } => {
                let mut reach = 0;
                while reach < most && self.below(2_u64.pow(shape)) == 0 {
                    reach = if reach == 0 { scale } else { 2 * reach };
                }
                if reach == 0 { 0 } else { most.min(reach + self.below(reach)) }
            }
        }
    }

    /// Draws a number below `bound` from 64 random bits.
    fn below(&mut self, bound: u64) -> u64 {
        let drawn = u128::from(self.random.next_u64()) * u128::from(bound);
        (drawn / (1 << 64)) as u64
    }

    /// Adds the position in the random numbers to the key of a state.
    pub fn key(&self, key: &mut Key) {
        if self.jitter != Jitter::Off {
            key.put(self.random.get_word_pos() as u64);
        }
    }
}
