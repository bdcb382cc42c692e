//! The cycles in which a sub-core issues nothing.

use super::{SlotSteps, Sm};
use crate::error::Deadlock;
use crate::idle::{Stalled, waiting};
use warpbound_core::base::{Cycle, WarpMask};
use warpbound_trace::trace::{Event, Idle, Observer, StallReason, Waiting};

impl Sm<'_> {
    /// Accounts for the empty issue slots of a sub-core, whose warp slots are `own`, from the
    /// present cycle until `to`.
    #[inline]
    pub(super) fn idle<O: Observer>(
        &mut self,
        sub_core: usize,
        own: WarpMask,
        to: Cycle,
        steps: &SlotSteps<'_>,
        observer: &mut O,
    ) {
        // queues are unbounded, and the next instruction is always available
        let stalled = Stalled {
            ready: self.view.ready & own,
            no_room: WarpMask::empty(),
            awaiting: self.view.in_turn() & own,
            at_barrier: self.view.at_barrier & own,
            live: self.view.live & own,
        };
        let (reason, warps) = stalled.reason();
        let from = self.view.now;
        self.used[sub_core].stalls.add(reason, to - from);
        if observer.needs().events {
            let waiting = self.first_ready(reason, warps, steps);
            observer.on(&Event::Idled(Idle { from, to, sub_core: sub_core as u8, reason, waiting }));
        }
    }

    /// Returns the warp in this set that becomes ready first.
    fn first_ready(&self, reason: StallReason, warps: WarpMask, steps: &SlotSteps<'_>) -> Option<Waiting> {
        let ready_at = |&slot: &usize| match reason {
            StallReason::Barrier => 0,
            StallReason::NotMyTurn
            | StallReason::UnitFull
            | StallReason::Scoreboard
            | StallReason::Fetch
            | StallReason::Drain => self.slots[slot].ready_at,
        };
        let slot = warps.slots().min_by_key(ready_at)?;
        waiting(&self.blocks, slot, reason, self.slots[slot].next, steps[slot])
    }

    pub(super) fn deadlock(&self, steps: &SlotSteps<'_>) -> Deadlock {
        let warp = |slot: usize| {
            let (block, warp) = self.blocks.warp(slot);
            let last =
                (self.slots[slot].next as usize).checked_sub(1).and_then(|index| steps[slot].get(index));
            (block, warp, last.map(|step| step.pc()))
        };
        Deadlock { cycle: self.view.now, warps: self.view.live.slots().map(warp).collect() }
    }
}
