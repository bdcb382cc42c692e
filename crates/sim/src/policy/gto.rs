//! The greedy-then-oldest policy.

use super::{Placed, Policy, PolicyError, View};
use warpbound_core::base::WarpMask;

/// The greedy-then-oldest policy: selects the warp that issued last while it is ready, or else the
/// oldest ready warp. An idle cycle does not change the greedy warp: if it is ready again and no
/// other warp has issued since, it is selected again.
#[derive(Clone, Debug, Default)]
pub struct Gto {
    /// The warp that issued last, as a set.
    greedy: WarpMask,
}

impl Policy for Gto {
    fn is_work_conserving(&self) -> bool {
        true
    }

    fn lets_yield(&self) -> bool {
        true
    }

    fn restart(&mut self) {
        self.greedy = WarpMask::empty();
    }

    fn placed(&mut self, placed: &Placed) {
        // the greedy warp has ended; the new one in its slot is not greedy
        self.greedy -= placed.slots;
    }

    #[inline]
    fn choose(&mut self, view: &View) -> Result<Option<usize>, Box<PolicyError>> {
        let greedy = self.greedy & view.ready;
        let chosen = greedy.lowest().or_else(|| view.oldest(view.ready));
        if let Some(slot) = chosen {
            self.greedy = WarpMask::slot(slot);
        }
        Ok(chosen)
    }

    fn first(&self, view: &View, warps: WarpMask) -> Option<usize> {
        (self.greedy & warps).lowest().or_else(|| view.oldest(warps))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::view;
    use super::*;

    #[test]
    fn greed_outlasts_idle_cycles_but_not_another_issue() {
        let mut gto = Gto::default();
        assert_eq!(gto.choose(&view(0, 3, &[1, 2])), Ok(Some(1)));
        assert_eq!(gto.choose(&view(1, 3, &[0, 1, 2])), Ok(Some(1)));
        // nothing is ready in cycles 2 to 8
        assert_eq!(gto.choose(&view(9, 3, &[0, 1])), Ok(Some(1)));
        assert_eq!(gto.choose(&view(10, 3, &[2])), Ok(Some(2)));
        assert_eq!(gto.choose(&view(11, 3, &[0, 1, 2])), Ok(Some(2)));
        assert_eq!(gto.choose(&view(12, 3, &[0, 1])), Ok(Some(0)));
    }
}
