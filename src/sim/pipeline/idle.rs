//! Cycles in which a sub-core issues nothing, and why.

use super::sm::Sm;
use crate::base::{Cycle, Cycles, WarpId, WarpMask};
use crate::trace::{Idle, StallReason, Waiting};

impl Sm<'_> {
    /// A sub-core issued nothing in this cycle. `ready` are warps that could have issued, `there`
    /// those whose next instruction is there.
    pub fn idle(&mut self, sub_core: usize, ready: WarpMask, there: WarpMask) {
        let (reason, warps) = self.why_idle(sub_core, ready, there);
        let now = Cycle::new(self.now);
        let sub = &mut self.subs[sub_core];
        sub.stalls.add(reason, Cycles::ONE);
        match &mut sub.idle {
            Some(idle) if idle.reason == reason && idle.to == now => idle.to = now.next(),
            _ => {
                let waiting = warps.lowest().and_then(|slot| self.waiting(slot, reason));
                self.end_idle(sub_core);
                self.subs[sub_core].idle =
                    Some(Idle { sub_core: sub_core as u8, from: now, to: now.next(), reason, waiting });
            }
        }
    }

    /// The present idle interval of a sub-core is over.
    pub fn end_idle(&mut self, sub_core: usize) {
        if let Some(idle) = self.subs[sub_core].idle.take()
            && self.listening
        {
            self.log.idled(idle);
        }
    }

    fn waiting(&self, slot: usize, reason: StallReason) -> Option<Waiting> {
        let warp = &self.warps[slot];
        let resident = &self.residents[warp.place as usize];
        let at_barrier = reason == StallReason::Barrier;
        let index = if at_barrier { warp.next.saturating_sub(1) } else { warp.next };
        let of_block = slot - resident.first_slot;
        let path = &self.rooms[warp.place as usize].warps[of_block];
        let step = *path.steps().get(index as usize)?;
        Some(Waiting { block: resident.block, slot, warp: WarpId::from_index(of_block), index, step })
    }

    /// The reason, and the warps that have it.
    fn why_idle(&self, sub_core: usize, ready: WarpMask, there: WarpMask) -> (StallReason, WarpMask) {
        let mine = self.subs[sub_core].slots;
        let live = self.live & mine;
        let full = there & self.clear;
        let scoreboard = (there - self.clear) | (self.held & live);
        let at_barrier = self.at_barrier & mine;
        if !ready.is_empty() {
            (StallReason::NotMyTurn, ready)
        } else if !full.is_empty() {
            (StallReason::UnitFull, full)
        } else if !scoreboard.is_empty() {
            (StallReason::Scoreboard, scoreboard)
        } else if !at_barrier.is_empty() {
            (StallReason::Barrier, at_barrier)
        } else if !live.is_empty() {
            (StallReason::Fetch, live)
        } else {
            (StallReason::Drain, live)
        }
    }
}
