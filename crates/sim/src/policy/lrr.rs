//! The loose round robin policy.

use super::{Policy, PolicyError, View, next_from};
use warpbound_core::base::WarpMask;

/// The loose round robin policy: selects the first ready warp after the one that issued last, in
/// circular slot order, starting at slot 0.
#[derive(Clone, Debug, Default)]
pub struct Lrr {
    /// The slot after the one that issued last.
    from: usize,
}

impl Policy for Lrr {
    fn is_work_conserving(&self) -> bool {
        true
    }

    fn lets_yield(&self) -> bool {
        true
    }

    fn restart(&mut self) {
        self.from = 0;
    }

    #[inline]
    fn choose(&mut self, view: &View) -> Result<Option<usize>, Box<PolicyError>> {
        let chosen = next_from(view.ready, self.from);
        if let Some(slot) = chosen {
            self.from = slot + 1;
        }
        Ok(chosen)
    }

    fn first(&self, view: &View, warps: WarpMask) -> Option<usize> {
        let _ = view;
        next_from(warps, self.from)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::view;
    use super::*;

    #[test]
    fn the_one_that_issued_last_comes_last() {
        let mut lrr = Lrr::default();
        assert_eq!(lrr.choose(&view(0, 3, &[0, 1, 2])), Ok(Some(0)));
        assert_eq!(lrr.choose(&view(1, 3, &[0, 2])), Ok(Some(2)));
        assert_eq!(lrr.choose(&view(2, 3, &[1, 2])), Ok(Some(1)));
        assert_eq!(lrr.choose(&view(3, 3, &[1])), Ok(Some(1)));
    }
}
