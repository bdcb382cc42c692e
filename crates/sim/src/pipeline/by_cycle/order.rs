//! The order in which SMs get blocks.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use warpbound_core::machine::pipeline::Placement;

#[derive(Clone)]
pub(super) struct Order {
    /// The order of the last round, if each round has a random one.
    last: Vec<usize>,
    random: Option<ChaCha8Rng>,
}

impl Order {
    pub fn new(placement: Placement, sms: usize) -> Self {
        let random = match placement {
            Placement::RoundRobin => None,
            Placement::Random(seed) => Some(ChaCha8Rng::seed_from_u64(seed)),
        };
        Self { last: (0..sms).collect(), random }
    }

    /// Returns the order of the next round. Without a random one it begins behind the SM that got
    /// a block last.
    pub fn next_round(&mut self, last_served: usize) -> Vec<usize> {
        let count = self.last.len();
        let Some(random) = &mut self.random else {
            return (1..=count).map(|n| (last_served + n) % count).collect();
        };
        // from the last place on, each place gets one of the SMs that remain
        for place in (1..count).rev() {
            let drawn = u128::from(random.next_u64()) * (place as u128 + 1) / (1 << 64);
            self.last.swap(place, drawn as usize);
        }
        self.last.clone()
    }
}
