//! A policy under which one warp runs to its end or to a barrier.

use super::{Placed, Policy, PolicyError, View};

/// A policy that selects an elected warp until it has finished or waits at a barrier; then it
/// elects the oldest warp that has done neither.
///
/// It is the policy of the simulator PasTiS (Adalbert et al., ERTS 2022, section V: "a warp is
/// simulated until its completion or until it reaches a synchronization barrier, at which point
/// another warp is elected"). The paper does not say which other warp; here it is the oldest. The
/// elected warp stays elected while it waits for a result, so that no latency is hidden.
#[derive(Clone, Debug, Default)]
pub struct RunToBarrier {
    /// The slot of the elected warp.
    elected: Option<usize>,
}

impl Policy for RunToBarrier {
    fn is_work_conserving(&self) -> bool {
        false
    }

    fn restart(&mut self) {
        self.elected = None;
    }

    fn placed(&mut self, placed: &Placed) {
        // the elected warp that had the slot before has ended
        self.elected = self.elected.filter(|&slot| !placed.slots.has(slot));
    }

    #[inline]
    fn choose(&mut self, view: &View) -> Result<Option<usize>, Box<PolicyError>> {
        let in_turn = view.in_turn();
        self.elected = self.elected.filter(|&slot| in_turn.has(slot)).or_else(|| view.oldest(in_turn));
        Ok(self.elected.filter(|&slot| view.ready.has(slot)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::view;
    use super::*;
    use warpbound_core::base::{BlockId, Cycle, WarpMask};

    #[test]
    fn the_elected_warp_keeps_the_turn_until_it_ends_or_waits_at_a_barrier() {
        let mut policy = RunToBarrier::default();
        assert_eq!(policy.choose(&view(0, 3, &[1, 2])), Ok(None), "warp 0 is elected, and not ready");
        assert_eq!(policy.choose(&view(1, 3, &[0, 1, 2])), Ok(Some(0)));
        assert_eq!(
            policy.choose(&view(2, 3, &[1, 2])),
            Ok(None),
            "a wait for a result does not end the turn"
        );
        let mut blocked = view(3, 3, &[1, 2]);
        blocked.at_barrier = WarpMask::slot(0);
        assert_eq!(policy.choose(&blocked), Ok(Some(1)));
        assert_eq!(
            policy.choose(&view(4, 3, &[0, 1, 2])),
            Ok(Some(1)),
            "an older warp does not take the turn"
        );
        let mut finished = view(5, 3, &[0, 2]);
        finished.live -= WarpMask::slot(1);
        assert_eq!(policy.choose(&finished), Ok(Some(0)));
    }

    #[test]
    fn a_new_block_does_not_inherit_the_turn_of_the_slot() {
        let mut policy = RunToBarrier::default();
        let mut later = view(0, 2, &[1]);
        later.by_age = vec![WarpMask::slot(1), WarpMask::slot(0)];
        assert_eq!(policy.choose(&later), Ok(Some(1)));
        let slots = WarpMask::slot(1);
        policy.placed(&Placed { block: BlockId::new(1), first_slot: 1, slots, at: Cycle::new(4) });
        let mut both = view(5, 2, &[0, 1]);
        both.by_age = vec![WarpMask::slot(0), WarpMask::slot(1)];
        assert_eq!(policy.choose(&both), Ok(Some(0)));
    }
}
