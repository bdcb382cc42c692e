//! The greedy, then strict round robin policy.

use super::{Placed, Policy, PolicyError, View, next_from};

/// A policy like strict round robin, except that a warp that has issued keeps the turn while it is
/// ready. The turn passes in the first cycle in which the warp is not ready: to the next slot,
/// which then holds it, ready or not, until it has issued at least once. If there is no other warp
/// to pass it to, the warp keeps the turn.
#[derive(Clone, Debug, Default)]
pub struct Gsrr {
    turn: usize,
    /// Whether the warp that has the turn has issued in it, and therefore loses it when it is not
    /// ready.
    issued: bool,
}

impl Policy for Gsrr {
    fn is_work_conserving(&self) -> bool {
        false
    }

    fn restart(&mut self) {
        *self = Self::default();
    }

    fn placed(&mut self, placed: &Placed) {
        // the warp that kept the turn has ended; the new one in its slot does not inherit it
        if self.issued && placed.slots.has(self.turn & 63) {
            self.turn += 1;
            self.issued = false;
        }
    }

    #[inline]
    fn choose(&mut self, view: &View) -> Result<Option<usize>, Box<PolicyError>> {
        if self.issued && view.ready.has(self.turn) {
            return Ok(Some(self.turn));
        }
        let from = if self.issued { self.turn + 1 } else { self.turn };
        let Some(turn) = next_from(view.in_turn(), from) else {
            return Ok(None);
        };
        self.turn = turn;
        self.issued = view.ready.has(turn);
        Ok(self.issued.then_some(turn))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::view;
    use super::*;

    #[test]
    fn the_turn_is_kept_while_ready_and_then_passes_for_good() {
        let mut gsrr = Gsrr::default();
        assert_eq!(gsrr.choose(&view(0, 3, &[0, 1])), Ok(Some(0)));
        assert_eq!(gsrr.choose(&view(1, 3, &[0, 1])), Ok(Some(0)));
        assert_eq!(gsrr.choose(&view(2, 3, &[2])), Ok(None));
        // warp 1 has the turn and has not issued in it
        assert_eq!(gsrr.choose(&view(3, 3, &[0, 2])), Ok(None));
        assert_eq!(gsrr.choose(&view(4, 3, &[0, 1, 2])), Ok(Some(1)));
        assert_eq!(gsrr.choose(&view(5, 3, &[0, 2])), Ok(Some(2)));
    }

    #[test]
    fn a_lone_warp_gets_the_turn_back() {
        let mut gsrr = Gsrr::default();
        assert_eq!(gsrr.choose(&view(0, 1, &[0])), Ok(Some(0)));
        assert_eq!(gsrr.choose(&view(1, 1, &[])), Ok(None));
        assert_eq!(gsrr.choose(&view(5, 1, &[0])), Ok(Some(0)));
    }
}
