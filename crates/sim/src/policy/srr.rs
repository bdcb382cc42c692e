//! The strict round robin policy.

use super::{Policy, PolicyError, View, next_from};

/// The strict round robin policy: selects the warp that has the turn, at first the warp in slot 0.
/// The turn stays until the warp issues and then passes to the next slot. Warps that have finished
/// or wait at a barrier are skipped in the same cycle and lose their turn; if no warp is left to
/// skip to, the turn stays.
#[derive(Clone, Debug, Default)]
pub struct Srr {
    turn: usize,
}

impl Policy for Srr {
    fn is_work_conserving(&self) -> bool {
        false
    }

    fn restart(&mut self) {
        self.turn = 0;
    }

    #[inline]
    fn choose(&mut self, view: &View) -> Result<Option<usize>, Box<PolicyError>> {
        let Some(turn) = next_from(view.in_turn(), self.turn) else {
            return Ok(None);
        };
        self.turn = turn;
        if !view.ready.has(turn) {
            return Ok(None);
        }
        self.turn = turn + 1;
        Ok(Some(turn))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::view;
    use super::*;
    use warpbound_core::base::WarpMask;

    #[test]
    fn the_turn_waits_for_its_warp_and_skips_blocked_ones() {
        let mut srr = Srr::default();
        assert_eq!(srr.choose(&view(0, 3, &[0, 1, 2])), Ok(Some(0)));
        assert_eq!(srr.choose(&view(1, 3, &[0, 2])), Ok(None));
        assert_eq!(srr.choose(&view(2, 3, &[0, 1, 2])), Ok(Some(1)));
        let mut blocked = view(3, 3, &[0, 1]);
        blocked.at_barrier = WarpMask::slot(2);
        assert_eq!(srr.choose(&blocked), Ok(Some(0)));
        let mut finished = view(4, 3, &[0, 2]);
        finished.live = WarpMask::slot(0) | WarpMask::slot(2);
        assert_eq!(srr.choose(&finished), Ok(Some(2)));
        let mut all = view(5, 3, &[]);
        all.at_barrier = all.live;
        assert_eq!(srr.choose(&all), Ok(None));
    }
}
