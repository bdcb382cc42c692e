//! Why nothing issues.

use super::{SlotSteps, Sm};
use crate::base::{Cycle, WarpId, WarpMask};
use crate::sim::error::Deadlock;
use crate::trace::{Idle, Observer, StallReason, Waiting};

impl Sm<'_> {
    /// Accounts for the empty issue slots of a sub-core, whose slots are `own`, from now until `to`.
    #[inline]
    pub(super) fn idle<O: Observer>(
        &mut self,
        sub_core: usize,
        own: WarpMask,
        to: Cycle,
        steps: &SlotSteps<'_>,
        observer: &mut O,
    ) {
        let ready = self.view.ready & own;
        let waiting = self.view.in_turn() & own;
        let (reason, candidates) = if !ready.is_empty() {
            (StallReason::NotMyTurn, ready)
        } else if !waiting.is_empty() {
            (StallReason::Scoreboard, waiting)
        } else if !(self.view.live & own).is_empty() {
            (StallReason::Barrier, self.view.at_barrier & own)
        } else {
            (StallReason::Drain, WarpMask::empty())
        };
        let from = self.view.now;
        self.used[sub_core].stalls.add(reason, to - from);
        if observer.is_active() {
            let waiting = self.first_ready(reason, candidates, steps);
            observer.idled(&Idle { from, to, sub_core: sub_core as u8, reason, waiting });
        }
    }

    /// The candidate that is ready first.
    fn first_ready(
        &self,
        reason: StallReason,
        candidates: WarpMask,
        steps: &SlotSteps<'_>,
    ) -> Option<Waiting> {
        let at_barrier = reason == StallReason::Barrier;
        let slot =
            candidates.slots().min_by_key(|&slot| if at_barrier { 0 } else { self.slots[slot].ready_at })?;
        let state = self.slots[slot];
        let index = if at_barrier { state.next.saturating_sub(1) } else { state.next };
        let resident = &self.residents[state.place as usize];
        let step = *steps[slot].get(index as usize)?;
        let warp = WarpId::from_index(slot - resident.first_slot);
        Some(Waiting { block: resident.block, slot, warp, index, step })
    }

    pub(super) fn deadlock(&self, steps: &SlotSteps<'_>) -> Deadlock {
        let warp = |slot: usize| {
            let state = self.slots[slot];
            let resident = &self.residents[state.place as usize];
            let last = (state.next as usize).checked_sub(1).and_then(|index| steps[slot].get(index));
            (resident.block, WarpId::from_index(slot - resident.first_slot), last.map(|step| step.pc()))
        };
        Deadlock { cycle: self.view.now, warps: self.view.live.slots().map(warp).collect() }
    }
}
