//! The two-level policy: a small active set, and a queue of pending warps.

use super::{Placed, Policy, PolicyError, View, next_from};
use crate::SLOTS;
use warpbound_core::base::{Cycle, WarpMask};

/// The two-level policy: an active set of N warps, served in loose round robin. A warp whose next
/// instruction waits for a load from global memory goes to the tail of the pending queue. In the
/// same cycle, the first pending warp that does not wait for such a load replaces it.
///
/// The details are defined as follows:
/// * At first all warps are pending, by age; the first N become active before the first decision.
///   The warps of a block that becomes resident later go to the tail.
/// * A warp waits for global memory while some register that its next instruction needs is not yet
///   available and was last written by a load from global or local memory, an atomic with a result
///   or an asynchronous copy. Where hazards include WAW, destinations count as needed too.
/// * A warp that waits at a barrier is treated like one that waits for global memory: it leaves the
///   active set and is not taken from the queue. Otherwise N warps at a barrier would keep out the
///   others, for which they wait.
/// * An active position stays empty while no pending warp may take it; it is filled in the first
///   cycle in which there is one, ready or not. Positions of finished warps are filled the same
///   way.
/// * Within a cycle, finished warps leave first, then waiting ones, by slot; then positions are
///   filled.
///
/// The policy is not work conserving: a pending warp can be ready while every active one waits for
/// something other than global memory.
#[derive(Clone, Debug)]
pub struct TwoLevel {
    capacity: u32,
    active: WarpMask,
    pending: Queue,
    /// The slot after the one that issued last.
    from: usize,
}

/// A queue of slots in first-in first-out order, each at most once.
#[derive(Clone, Debug)]
struct Queue {
    slots: [u8; SLOTS],
    len: usize,
}

impl Queue {
    const EMPTY: Self = Self { slots: [0; SLOTS], len: 0 };

    fn as_slice(&self) -> &[u8] {
        &self.slots[..self.len]
    }

    fn push(&mut self, slot: usize) {
        self.slots[self.len] = slot as u8;
        self.len += 1;
    }

    /// Removes and returns the first slot for which `fits` returns true.
    fn take_first(&mut self, fits: impl Fn(usize) -> bool) -> Option<usize> {
        let at = self.as_slice().iter().position(|&slot| fits(slot as usize))?;
        let slot = self.slots[at] as usize;
        self.slots.copy_within(at + 1..self.len, at);
        self.len -= 1;
        Some(slot)
    }

    fn remove_all(&mut self, gone: impl Fn(usize) -> bool) {
        while self.take_first(&gone).is_some() {}
    }
}

impl TwoLevel {
    /// Creates a policy with an active set of this many warps, at least 1.
    pub fn new(active: u32) -> Self {
        Self { capacity: active.max(1), active: WarpMask::empty(), pending: Queue::EMPTY, from: 0 }
    }

    fn has_vacancy(&self) -> bool {
        self.active.count() < self.capacity
    }
}

fn waits(view: &View, slot: usize) -> bool {
    view.at_barrier.has(slot) || view.global_until[slot] > view.now
}

impl Policy for TwoLevel {
    fn is_work_conserving(&self) -> bool {
        false
    }

    fn tracks_global(&self) -> bool {
        true
    }

    fn restart(&mut self) {
        *self = Self::new(self.capacity);
    }

    fn placed(&mut self, placed: &Placed) {
        // the previous warps of these slots have finished, perhaps since the last decision
        self.active -= placed.slots;
        self.pending.remove_all(|slot| placed.slots.has(slot));
        placed.slots.slots().for_each(|slot| self.pending.push(slot));
    }

    fn choose(&mut self, view: &View) -> Result<Option<usize>, Box<PolicyError>> {
        self.active &= view.live;
        self.pending.remove_all(|slot| !view.live.has(slot));
        for slot in self.active.slots() {
            if waits(view, slot) {
                self.active -= WarpMask::slot(slot);
                self.pending.push(slot);
            }
        }
        while self.has_vacancy()
            && let Some(slot) = self.pending.take_first(|slot| !waits(view, slot))
        {
            self.active |= WarpMask::slot(slot);
        }
        let chosen = next_from(self.active & view.ready, self.from);
        if let Some(slot) = chosen {
            self.from = slot + 1;
        }
        Ok(chosen)
    }

    /// Returns the cycle in which a pending warp stops waiting for global memory and could fill an
    /// empty position. Everything else that fills or empties positions is an event of the engine.
    fn wake(&self, view: &View) -> Cycle {
        if !self.has_vacancy() {
            return Cycle::NEVER;
        }
        let until = self.pending.as_slice().iter().map(|&slot| view.global_until[slot as usize]);
        until.filter(|&cycle| cycle > view.now).min().unwrap_or(Cycle::NEVER)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::view;
    use super::*;
    use warpbound_core::base::BlockId;

    fn with_warps(active: u32, warps: usize) -> TwoLevel {
        let mut policy = TwoLevel::new(active);
        let slots = view(0, warps, &[]).live;
        policy.placed(&Placed { block: BlockId::new(0), first_slot: 0, slots, at: Cycle::ZERO });
        policy
    }

    #[test]
    fn a_ready_warp_outside_the_active_set_does_not_issue() {
        let mut policy = with_warps(2, 3);
        assert_eq!(policy.choose(&view(0, 3, &[2])), Ok(None));
        assert_eq!(policy.choose(&view(1, 3, &[1, 2])), Ok(Some(1)));
    }

    #[test]
    fn a_warp_that_waits_for_global_memory_makes_room_in_the_same_cycle() {
        let mut policy = with_warps(2, 4);
        assert_eq!(policy.choose(&view(4, 4, &[0, 2])), Ok(Some(0)));
        let mut waiting = view(5, 4, &[2, 3]);
        waiting.global_until[0] = Cycle::new(9);
        assert_eq!(policy.choose(&waiting), Ok(Some(2)));
        assert_eq!(policy.active, WarpMask::slot(1) | WarpMask::slot(2));
        // 3 is before 0 in the queue
        assert_eq!(policy.pending.as_slice(), [3, 0]);
    }

    #[test]
    fn an_empty_place_is_filled_when_the_wait_ends() {
        let mut policy = with_warps(1, 2);
        let mut waiting = view(5, 2, &[]);
        waiting.global_until[0] = Cycle::new(9);
        waiting.global_until[1] = Cycle::new(7);
        assert_eq!(policy.choose(&waiting), Ok(None));
        assert_eq!(policy.wake(&waiting), Cycle::new(7));
        waiting.now = Cycle::new(7);
        assert_eq!(policy.choose(&waiting), Ok(None));
        assert_eq!(policy.active, WarpMask::slot(1));
        assert_eq!(policy.wake(&waiting), Cycle::NEVER);
    }
}
