//! The greedy policies: greedy then oldest, and greedy then youngest.

use super::{Placed, Policy, PolicyError, View};
use warpbound_core::base::WarpMask;

/// A greedy policy: selects the warp that issued last while it is ready, or else the oldest or the
/// youngest ready warp. An idle cycle does not change the greedy warp: if it is ready again and no
/// other warp has issued since, it is selected again.
#[derive(Clone, Debug, Default)]
pub struct Greedy<const YOUNGEST: bool> {
    /// The warp that issued last, as a set.
    greedy: WarpMask,
}

/// The greedy-then-oldest policy.
pub type Gto = Greedy<false>;

/// The greedy-then-youngest policy. The youngest warp is that of the block that was placed last, and
/// in it the warp with the highest number. Huerta et al. (MICRO 2025, "Dissecting and Modeling the
/// Architecture of Modern GPU Cores") found this order on Ampere.
pub type Gty = Greedy<true>;

impl<const YOUNGEST: bool> Policy for Greedy<YOUNGEST> {
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
        let chosen = self.first(view, view.ready);
        if let Some(slot) = chosen {
            self.greedy = WarpMask::slot(slot);
        }
        Ok(chosen)
    }

    #[inline]
    fn first(&self, view: &View, warps: WarpMask) -> Option<usize> {
        let greedy = (self.greedy & warps).lowest();
        greedy.or_else(|| if YOUNGEST { view.youngest(warps) } else { view.oldest(warps) })
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

    #[test]
    fn the_youngest_warp_follows_the_greedy_one() {
        let mut gty = Gty::default();
        assert_eq!(gty.choose(&view(0, 4, &[0, 2])), Ok(Some(2)));
        assert_eq!(gty.choose(&view(1, 4, &[0, 2, 3])), Ok(Some(2)));
        assert_eq!(gty.choose(&view(2, 4, &[0, 1, 3])), Ok(Some(3)));
        assert_eq!(gty.choose(&view(3, 4, &[])), Ok(None));
        assert_eq!(gty.choose(&view(4, 4, &[0, 3])), Ok(Some(3)));
    }

    #[test]
    fn the_block_that_was_placed_last_is_the_youngest() {
        let mut two_blocks = view(0, 4, &[0, 1, 3]);
        let (low, high) = (WarpMask::slot(0) | WarpMask::slot(1), WarpMask::slot(2) | WarpMask::slot(3));
        two_blocks.by_age = vec![high, low];
        assert_eq!(Gty::default().choose(&two_blocks), Ok(Some(1)));
    }
}
