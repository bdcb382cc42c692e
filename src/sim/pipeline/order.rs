//! In which order SMs get blocks.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::machine::pipeline::Placement;

/// Who comes first in a round of giving out blocks.
pub(super) struct Order {
    /// The first SM of a round; the others follow in the order of their numbers.
    first: usize,
    count: usize,
    /// Another order for every round.
    random: Option<Box<(ChaCha8Rng, Vec<usize>)>>,
}

impl Order {
    /// Of this many SMs.
    pub fn new(placement: Placement, count: usize) -> Self {
        let random = match placement {
            Placement::RoundRobin => None,
            Placement::Random(seed) => {
                Some(Box::new((ChaCha8Rng::seed_from_u64(seed), (0..count).collect())))
            }
        };
        Self { first: 0, count, random }
    }

    /// A round begins; it is the turn of this SM if they take turns.
    pub fn next_round(&mut self, turn: usize) {
        self.first = turn;
        if let Some(random) = &mut self.random {
            let (rng, order) = &mut **random;
            // Fisher and Yates; the bias of a draw is below count / 2^64
            for last in (1..order.len()).rev() {
                let drawn = (u128::from(rng.next_u64()) * (last as u128 + 1)) >> 64;
                order.swap(last, drawn as usize);
            }
        }
    }

    /// The SM whose turn is the nth in this round, from 0.
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
        // 400 each, standard deviation 18
        assert!(firsts.iter().all(|first| (310..490).contains(first)), "{firsts:?}");
        let mut turns = Order::new(Placement::RoundRobin, 3);
        turns.next_round(2);
        assert_eq!([0, 1, 2].map(|n| turns.at(n)), [2, 0, 1]);
    }
}
