//! The order in which SMs get blocks.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use warpbound_core::machine::pipeline::Placement;

/// The order of the SMs in a round of block placement.
pub(super) struct Order {
    /// The first SM of a round; the others follow in the order of their numbers.
    first: usize,
    count: usize,
    /// The generator and the permutation of the present round, if each round has a random order.
    random: Option<Box<(ChaCha8Rng, Vec<usize>)>>,
}

impl Order {
    /// Creates the order for this many SMs.
    pub fn new(placement: Placement, count: usize) -> Self {
        let random = match placement {
            Placement::RoundRobin => None,
            Placement::Random(seed) => {
                Some(Box::new((ChaCha8Rng::seed_from_u64(seed), (0..count).collect())))
            }
        };
        Self { first: 0, count, random }
    }

    /// Starts a round. With round robin placement it begins with the SM `turn`.
    pub fn next_round(&mut self, turn: usize) {
        self.first = turn;
        if let Some(random) = &mut self.random {
            let (rng, order) = &mut **random;
            // Fisher-Yates shuffle; the bias of a draw is below count / 2^64
            for last in (1..order.len()).rev() {
                let drawn = (u128::from(rng.next_u64()) * (last as u128 + 1)) >> 64;
                order.swap(last, drawn as usize);
            }
        }
    }

    /// Returns the nth SM of this round, counted from 0.
    pub fn at(&self, n: usize) -> usize {
        match &self.random {
            Some(random) => random.1[n],
            None => (self.first + n) % self.count,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sm_has_a_turn_in_every_round() {
        let mut firsts = [0; 5];
        let mut order = Order::new(Placement::Random(7), 5);
        for _ in 0..2000 {
            order.next_round(0);
            let mut round: Vec<usize> = (0..5).map(|n| order.at(n)).collect();
            firsts[round[0]] += 1;
            round.sort_unstable();
            assert_eq!(round, [0, 1, 2, 3, 4]);
        }
        // the expected count is 400 each, with a standard deviation of 18
        assert!(firsts.iter().all(|first| (310..490).contains(first)), "{firsts:?}");
        let mut turns = Order::new(Placement::RoundRobin, 3);
        turns.next_round(2);
        assert_eq!([0, 1, 2].map(|n| turns.at(n)), [2, 0, 1]);
    }
}
