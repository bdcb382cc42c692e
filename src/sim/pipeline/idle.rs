//! Cycles in which a sub-core issues nothing, and why.

use super::sm::Sm;
use crate::base::{Cycle, WarpId, WarpMask};
use crate::trace::{Idle, StallReason, Waiting};

/// Everything that decides whether some warp of a sub-core can issue, except for the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Situation {
    there: WarpMask,
    clear: WarpMask,
    live: WarpMask,
    at_barrier: WarpMask,
    held: WarpMask,
    /// Units for which an instruction waits in front of the collector.
    full: u64,
}

impl Sm<'_> {
    /// The situation of a sub-core. `there` are warps that no barrier, fence or atomic holds and
    /// whose next instruction is there.
    #[inline]
    pub fn situation(&self, sub_core: usize, there: WarpMask) -> Situation {
        let mine = self.subs[sub_core].slots;
        Situation {
            there,
            clear: self.clear & mine,
            live: self.live & mine,
            at_barrier: self.at_barrier & mine,
            held: self.held & mine,
            full: self.issued.units_of(sub_core),
        }
    }

    /// Whether a sub-core issued nothing in the last cycle in this situation, and so issues nothing
    /// now. Only queues without a collector change with time alone.
    #[inline]
    pub fn still_idle(&mut self, sub_core: usize, situation: &Situation) -> bool {
        let now = Cycle::new(self.now);
        let timeless = self.collector.is_some() || self.settings.queue.is_none();
        match &mut self.subs[sub_core].idle {
            Some((idle, before)) if idle.to == now && before == situation && timeless => {
                idle.to = now.next();
                true
            }
            _ => false,
        }
    }

    /// A sub-core issued nothing in this cycle. `ready` are warps that could have issued.
    pub fn idle(&mut self, sub_core: usize, ready: WarpMask, situation: Situation) {
        let (reason, warps) = self.why_idle(ready, &situation);
        let now = Cycle::new(self.now);
        if let Some((idle, before)) = &mut self.subs[sub_core].idle
            && idle.reason == reason
            && idle.to == now
        {
            idle.to = now.next();
            *before = situation;
            return;
        }
        self.end_idle(sub_core);
        let waiting =
            if self.listening { warps.lowest().and_then(|slot| self.waiting(slot, reason)) } else { None };
        let idle = Idle { sub_core: sub_core as u8, from: now, to: now.next(), reason, waiting };
        self.subs[sub_core].idle = Some((idle, situation));
    }

    /// The present idle interval of a sub-core is over, if there is one.
    pub fn end_idle(&mut self, sub_core: usize) {
        let sub = &mut self.subs[sub_core];
        if let Some((idle, _)) = sub.idle.take() {
            sub.stalls.add(idle.reason, idle.cycles());
            if self.listening {
                self.log.idled(idle);
            }
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
    fn why_idle(&self, ready: WarpMask, situation: &Situation) -> (StallReason, WarpMask) {
        let Situation { there, clear, live, at_barrier, held, .. } = *situation;
        let full = there & clear;
        let scoreboard = (there - clear) | (held & live);
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
