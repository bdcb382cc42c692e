//! The random policy.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{Policy, PolicyError, View};

/// A policy that draws a ready warp from ChaCha8. Each decision takes one 32-bit draw, even if only
/// one warp is ready; of n ready warps, ordered by slot, it selects that with index `draw * n /
/// 2^32`.
#[derive(Clone, Debug)]
pub struct Random {
    seed: u64,
    sub_core: u64,
    rng: ChaCha8Rng,
}

impl Random {
    /// Creates a policy with this seed.
    pub fn new(seed: u64) -> Self {
        Self::on_sub_core(seed, 0)
    }

    /// Creates a policy with this seed, on one of several sub-cores: each draws from the stream of
    /// its index.
    pub fn on_sub_core(seed: u64, sub_core: usize) -> Self {
        let sub_core = sub_core as u64;
        Self { seed, sub_core, rng: stream(seed, sub_core) }
    }
}

fn stream(seed: u64, stream: u64) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(stream);
    rng
}

impl Policy for Random {
    fn is_work_conserving(&self) -> bool {
        true
    }

    fn lets_yield(&self) -> bool {
        true
    }

    fn restart(&mut self) {
        self.rng = stream(self.seed, self.sub_core);
    }

    fn choose(&mut self, view: &View) -> Result<Option<usize>, Box<PolicyError>> {
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

    #[test]
    fn sub_cores_draw_independently() {
        let draw = |mut random: Random| {
            (0..50).map(|t| random.choose(&view(t, 9, &[0, 4, 8])).unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(draw(Random::on_sub_core(7, 0)), draw(Random::new(7)));
        assert_ne!(draw(Random::on_sub_core(7, 1)), draw(Random::new(7)));
        let mut restarted = Random::on_sub_core(7, 1);
        let first = draw(restarted.clone());
        restarted.choose(&view(0, 9, &[0, 1])).unwrap();
        restarted.restart();
        assert_eq!(draw(restarted), first);
    }
}
