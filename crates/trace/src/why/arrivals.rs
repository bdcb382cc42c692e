//! The assignment of arrivals to the releases of barriers.

use warpbound_core::base::WarpMask;
use warpbound_core::path::BarrierUse;

/// A barrier with at least one arrival.
#[derive(Clone, Debug, Default)]
struct Barrier {
    id: u8,
    /// The number of arrivals that complete it; 0 if all warps of the block that have not finished
    /// must arrive.
    expected: u8,
    /// The records of the barrier instructions.
    arrivals: Vec<u32>,
    /// The slots of the warps that wait.
    waiting: WarpMask,
}

/// The barriers of a block.
#[derive(Clone, Debug, Default)]
pub(super) struct Arrivals {
    open: Vec<Barrier>,
    /// The complete barriers that have not released their warps yet.
    complete: Vec<Barrier>,
}

impl Arrivals {
    /// Records that the warp in this slot issued the barrier instruction with this record number.
    pub fn arrived(&mut self, record: u32, slot: usize, used: BarrierUse, waits: bool) {
        let at = self.open.iter().position(|barrier| barrier.id == used.id).unwrap_or_else(|| {
            self.open.push(Barrier { id: used.id, expected: used.warps, ..Barrier::default() });
            self.open.len() - 1
        });
        let barrier = &mut self.open[at];
        barrier.arrivals.push(record);
        if waits {
            barrier.waiting |= WarpMask::slot(slot);
        }
        if barrier.expected > 0 && barrier.arrivals.len() >= usize::from(barrier.expected) {
            let complete = self.open.swap_remove(at);
            if !complete.waiting.is_empty() {
                self.complete.push(complete);
            }
        }
    }

    /// Returns the instructions that arrived at a barrier that released these warps, in the order
    /// of their issue.
    pub fn released(&mut self, id: u8, slots: WarpMask) -> Vec<u32> {
        let matches = |barrier: &Barrier| barrier.id == id && barrier.waiting == slots;
        if let Some(at) = self.complete.iter().position(matches) {
            return self.complete.remove(at).arrivals;
        }
        let at = self.open.iter().position(|barrier| barrier.id == id);
        at.map_or_else(Vec::new, |at| self.open.swap_remove(at).arrivals)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(id: u8, warps: u8) -> BarrierUse {
        BarrierUse { id, warps }
    }

    #[test]
    fn arrivals_are_those_of_their_own_release() {
        let both = WarpMask::slot(0) | WarpMask::slot(1);
        let mut arrivals = Arrivals::default();
        // a barrier for all warps, with another one in between
        arrivals.arrived(0, 0, used(0, 0), true);
        arrivals.arrived(1, 2, used(3, 2), false);
        arrivals.arrived(2, 1, used(0, 0), true);
        assert_eq!(arrivals.released(0, both), [0, 2]);
        // a complete barrier that has not released its warps yet, and arrivals for its next use
        arrivals.arrived(3, 1, used(3, 2), true);
        arrivals.arrived(4, 2, used(3, 2), false);
        assert_eq!(arrivals.released(3, WarpMask::slot(1)), [1, 3]);
        arrivals.arrived(5, 0, used(3, 2), true);
        assert_eq!(arrivals.released(3, WarpMask::slot(0)), [4, 5]);
        // no warp waits, so none is released
        arrivals.arrived(6, 0, used(3, 1), false);
        assert_eq!(arrivals.released(3, WarpMask::slot(0)), [0u32; 0]);
    }
}
