//! Which arrivals belong to which release of a barrier.

use crate::base::WarpMask;
use crate::path::BarrierUse;

/// A barrier that somebody has arrived at.
#[derive(Clone, Debug, Default)]
struct Barrier {
    id: u8,
    /// Arrivals that complete it; 0 if all warps of the block that have not finished must arrive.
    expected: u8,
    /// The barrier instructions.
    arrivals: Vec<u32>,
    /// Slots of those that wait.
    waiting: WarpMask,
}

/// The barriers of a block.
#[derive(Clone, Debug, Default)]
pub(super) struct Arrivals {
    open: Vec<Barrier>,
    /// Complete ones that have not let their warps go yet.
    complete: Vec<Barrier>,
}

impl Arrivals {
    /// The barrier instruction with this number was issued by the warp in this slot.
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

    /// A barrier let these warps go: the instructions that arrived at it, in the order of their issue.
    pub fn released(&mut self, id: u8, slots: WarpMask) -> Vec<u32> {
        let is_it = |barrier: &Barrier| barrier.id == id && barrier.waiting == slots;
        if let Some(at) = self.complete.iter().position(is_it) {
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
        // for all, with another one in between
        arrivals.arrived(0, 0, used(0, 0), true);
        arrivals.arrived(1, 2, used(3, 2), false);
        arrivals.arrived(2, 1, used(0, 0), true);
        assert_eq!(arrivals.released(0, both), [0, 2]);
        // one that is complete and has not let go yet, and who arrives for the next time
        arrivals.arrived(3, 1, used(3, 2), true);
        arrivals.arrived(4, 2, used(3, 2), false);
        assert_eq!(arrivals.released(3, WarpMask::slot(1)), [1, 3]);
        arrivals.arrived(5, 0, used(3, 2), true);
        assert_eq!(arrivals.released(3, WarpMask::slot(0)), [4, 5]);
        // nobody waits: nobody is let go
        arrivals.arrived(6, 0, used(3, 1), false);
        assert_eq!(arrivals.released(3, WarpMask::slot(0)), [0u32; 0]);
    }
}
