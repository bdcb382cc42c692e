//! Cycles in which a sub-core issues nothing, and why.
//!
//! A sub-core that issued nothing sleeps until something changes that could let it issue or could
//! change the reason. Only queues without a collector change with time alone; see
//! `Code::sleeps`.

use super::Sm;
use crate::base::{Cycle, WarpMask};
use crate::sim::idle::{Stalled, waiting};
use crate::trace::{Idle, StallReason, Waiting};

/// An idle interval that is not over.
#[derive(Clone, Copy, Debug)]
pub(super) struct Idling {
    from: u64,
    reason: StallReason,
}

/// Every sub-core, as a mask.
pub(super) const EVERY: u32 = u32::MAX;

impl Sm<'_> {
    /// Something changed for this slot.
    #[inline]
    pub fn wake(&mut self, slot: usize) {
        self.awake |= 1u32.wrapping_shl(self.warps[slot].sub_core.into());
    }

    /// Something changed for these slots.
    #[inline]
    pub fn wake_slots(&mut self, slots: WarpMask) {
        slots.slots().for_each(|slot| self.wake(slot));
    }

    pub fn wake_all(&mut self) {
        self.awake = EVERY;
    }

    /// Instructions of these slots were fetched. A sub-core need not know if one of its warps waits for something that
    /// comes before a fetch among the reasons, and none of these can issue.
    #[inline]
    pub fn wake_fetched(&mut self, slots: WarpMask) {
        let go_on = self.clear | self.front_end.wrong_path;
        for slot in slots.slots() {
            let sub_core = self.warps[slot].sub_core;
            let idle = &self.subs[usize::from(sub_core)].idle;
            if go_on.has(slot) || idle.is_none_or(|idle| idle.reason > StallReason::Scoreboard) {
                self.awake |= 1 << sub_core;
            }
        }
    }

    /// A sub-core issues nothing in this cycle. Of its warps, `there` are those that no barrier,
    /// fence or atomic holds and whose next instruction is there; `ready` those that could have
    /// issued. It `sleeps` if nothing but a change can alter that.
    #[inline]
    pub fn idle<const PLAIN: bool>(
        &mut self,
        sub_core: usize,
        there: WarpMask,
        ready: WarpMask,
        sleeps: bool,
    ) {
        if sleeps {
            self.awake &= !1u32.wrapping_shl(sub_core as u32);
        }
        let (reason, warps) = self.stalled(sub_core, there, ready).reason();
        if self.subs[sub_core].idle.is_some_and(|idle| idle.reason == reason) {
            return;
        }
        self.end_idle::<PLAIN>(sub_core);
        if reason == StallReason::UnitFull {
            self.without_room |= 1 << sub_core;
        }
        self.subs[sub_core].idle = Some(Idling { from: self.now, reason });
        if !PLAIN && self.listening {
            let waiting = warps.lowest().and_then(|slot| self.waiting(slot, reason));
            self.subs[sub_core].waiting = waiting;
        }
    }

    /// The present idle interval of a sub-core is over, if there is one.
    #[inline]
    pub fn end_idle<const PLAIN: bool>(&mut self, sub_core: usize) {
        let sub = &mut self.subs[sub_core];
        let Some(Idling { from, reason }) = sub.idle.take() else { return };
        self.without_room &= !1u32.wrapping_shl(sub_core as u32);
        let (from, to) = (Cycle::new(from), Cycle::new(self.now));
        sub.stalls.add(reason, to - from);
        if !PLAIN && self.listening {
            let waiting = sub.waiting;
            self.log.idled(Idle { sub_core: sub_core as u8, from, to, reason, waiting });
        }
    }

    fn waiting(&self, slot: usize, reason: StallReason) -> Option<Waiting> {
        waiting(&self.blocks, slot, reason, self.warps[slot].next, self.path(slot).steps())
    }

    /// The warps of a sub-core, by what keeps them. A fence or an atomic holds a warp as a register does.
    #[inline]
    fn stalled(&self, sub_core: usize, there: WarpMask, ready: WarpMask) -> Stalled {
        let own = self.subs[sub_core].slots;
        let live = self.blocks.live() & own;
        Stalled {
            ready,
            no_room: there & self.clear,
            awaiting: (there - self.clear) | (self.held & live),
            at_barrier: self.blocks.at_barrier() & own,
            live,
        }
    }
}
