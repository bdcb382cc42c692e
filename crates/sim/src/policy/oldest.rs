//! The oldest-first policy.

use super::{Policy, PolicyError, View};
use warpbound_core::base::WarpMask;

/// The oldest-first policy: selects the oldest ready warp; age is launch order of the block, then
/// warp.
#[derive(Clone, Copy, Debug, Default)]
pub struct Oldest;

impl Policy for Oldest {
    fn is_work_conserving(&self) -> bool {
        true
    }

    fn lets_yield(&self) -> bool {
        true
    }

    fn restart(&mut self) {}

    #[inline]
    fn choose(&mut self, view: &View) -> Result<Option<usize>, Box<PolicyError>> {
        Ok(view.oldest(view.ready))
    }

    fn first(&self, view: &View, warps: WarpMask) -> Option<usize> {
        view.oldest(warps)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::view;
    use super::*;
    use warpbound_core::base::WarpMask;

    #[test]
    fn age_is_launch_order_not_slot_order() {
        let mut two_blocks = view(0, 4, &[0, 1, 3]);
        let (low, high) = (WarpMask::slot(0) | WarpMask::slot(1), WarpMask::slot(2) | WarpMask::slot(3));
        two_blocks.by_age = vec![high, low];
        assert_eq!(Oldest.choose(&two_blocks), Ok(Some(3)));
        two_blocks.by_age = vec![low, high];
        assert_eq!(Oldest.choose(&two_blocks), Ok(Some(0)));
    }
}
