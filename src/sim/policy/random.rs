//! Any ready warp.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{Policy, ReplayError, View};

/// A ready warp drawn from ChaCha8. Each decision takes one 32-bit draw, also when there is only
/// one warp to choose; of n ready warps, by slot, that with index `draw * n / 2^32` is chosen.
#[derive(Clone, Debug)]
pub struct Random {
    seed: u64,
    rng: ChaCha8Rng,
}

impl Random {
    /// With this seed.
    pub fn new(seed: u64) -> Self {
        Self { seed, rng: ChaCha8Rng::seed_from_u64(seed) }
    }
}

impl Policy for Random {
    const WORK_CONSERVING: bool = true;

    fn restart(&mut self) {
        self.rng = ChaCha8Rng::seed_from_u64(self.seed);
    }

    fn choose(&mut self, view: &View) -> Result<Option<usize>, Box<ReplayError>> {
        let count = u64::from(view.ready.count());
        if count == 0 {
            return Ok(None);
        }
        let index = (u64::from(self.rng.next_u32()) * count) >> 32;
        Ok(view.ready.slots().nth(index as usize))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::view;
    use super::*;

    #[test]
    fn every_ready_warp_is_chosen_sometimes_and_the_seed_decides() {
        let draw = |seed| {
            let mut random = Random::new(seed);
            (0..200).map(|t| random.choose(&view(t, 9, &[1, 4, 8])).unwrap().unwrap()).collect::<Vec<_>>()
        };
        let chosen = draw(7);
        assert!([1, 4, 8].iter().all(|slot| chosen.iter().filter(|c| *c == slot).count() > 40));
        assert_eq!(chosen, draw(7));
        assert_ne!(chosen, draw(8));
    }
}
