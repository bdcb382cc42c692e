//! The greedy-then-youngest policy.

use super::{Placed, Policy, PolicyError, View};
use warpbound_core::base::WarpMask;

/// The greedy-then-youngest policy: selects the warp that issued last while it is ready, or else the
/// youngest ready warp, which is that of the block that was placed last, and in it the warp with the
/// highest number. Huerta et al. (MICRO 2025, "Dissecting and Modeling the Architecture of Modern GPU
/// Cores") found this order on Ampere.
#[derive(Clone, Debug, Default)]
pub struct Gty {
    /// The warp that issued last, as a set.
    greedy: WarpMask,
}

impl Policy for Gty {
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

    fn choose(&mut self, view: &View) -> Result<Option<usize>, Box<PolicyError>> {
        let chosen = self.first(view, view.ready);
        if let Some(slot) = chosen {
            self.greedy = WarpMask::slot(slot);
        }
        Ok(chosen)
    }

    fn first(&self, view: &View, warps: WarpMask) -> Option<usize> {
        (self.greedy & warps).lowest().or_else(|| view.youngest(warps))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::view;
    use super::*;

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
