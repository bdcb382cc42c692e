//! The schedulers of the sub-cores: whose turn it is, who sleeps, and what of their time was idle and why.
//!
//! A sub-core that issued nothing sleeps until something changes that could let it issue or could change the reason. Only
//! queues without a collector change with time alone; see `Code::sleeps`.

use super::per::{PerSlot, PerSubCore};
use crate::base::{Cycle, WarpMask};
use crate::machine::SubCores;
use crate::sim::idle::Stalled;
use crate::sim::policy::{Placed, View};
use crate::sim::result::SubCoreResult;
use crate::trace::{Idle, StallReason, Stalls, Waiting};

/// One sub-core.
#[derive(Clone, Debug)]
struct SubCore {
    /// Its warp slots.
    slots: WarpMask,
    /// Its present idle interval.
    idle: Option<Idling>,
    issues: u64,
    stalls: Stalls,
    /// Whether its policy issues whenever it can.
    conserving: bool,
    /// When its policy wants to decide again even if nothing happens.
    wake: u64,
    /// What stands for its idle interval, if somebody listens.
    waiting: Option<Waiting>,
    view: View,
}

/// An idle interval that is not over.
#[derive(Clone, Copy, Debug)]
struct Idling {
    from: u64,
    reason: StallReason,
}

/// A sub-core is idle for another reason than before.
#[derive(Clone, Copy, Debug)]
pub(super) struct Change {
    /// The interval that is over, if it was idle.
    pub ended: Option<Idle>,
    /// The new reason, and the warps that it keeps.
    pub reason: StallReason,
    pub warps: WarpMask,
}

/// The schedulers of an SM.
#[derive(Clone, Debug)]
pub(super) struct Schedulers {
    subs: PerSubCore<SubCore>,
    count: usize,
    /// All sub-cores, as a mask.
    all: u32,
    /// Sub-cores that may issue, or be idle for another reason than in the last cycle, as a mask.
    awake: u32,
    /// Those that are idle because units take no more.
    without_room: u32,
    sub_core_of: PerSlot<u8>,
    /// The sub-core that issues first in this cycle.
    first: usize,
}

/// Every sub-core, as a mask.
const EVERY: u32 = u32::MAX;

impl Schedulers {
    /// Of these sub-cores; of each, whether its policy issues whenever it can.
    pub fn new(sub_cores: SubCores, conserving: impl Fn(usize) -> bool) -> Self {
        let count = sub_cores.count();
        let sub = |index: usize| SubCore {
            slots: if index < count { sub_cores.slots(index) } else { WarpMask::empty() },
            idle: None,
            issues: 0,
            stalls: Stalls::default(),
            conserving: index >= count || conserving(index),
            wake: u64::MAX,
            waiting: None,
            view: View::new(),
        };
        Self {
            subs: PerSubCore::new(sub),
            count,
            all: EVERY >> (u32::BITS as usize - count),
            awake: EVERY,
            without_room: 0,
            sub_core_of: PerSlot::new(|slot| sub_cores.of_slot(slot) as u8),
            first: 0,
        }
    }

    /// Whether all policies issue whenever they can.
    pub fn conserve(&self) -> bool {
        self.subs.iter().all(|sub| sub.conserving)
    }

    #[inline(always)]
    pub fn conserves(&self, sub_core: usize) -> bool {
        self.subs[sub_core].conserving
    }

    /// The warp slots of a sub-core.
    #[inline(always)]
    pub fn slots(&self, sub_core: usize) -> WarpMask {
        self.subs[sub_core].slots
    }

    /// What the policy of a sub-core sees.
    #[inline(always)]
    pub fn view(&mut self, sub_core: usize) -> &mut View {
        &mut self.subs[sub_core].view
    }

    /// Cycles go by in which sub-cores take turns at being first.
    #[inline(always)]
    pub fn turn(&mut self, cycles: u64) {
        // nearly always the next cycle: no division then
        let first = self.first.wrapping_add(cycles as usize);
        self.first = match first.checked_sub(self.count) {
            None => first,
            Some(beyond) if beyond < self.count => beyond,
            Some(beyond) => beyond % self.count,
        };
    }

    /// The sub-cores from the first one on, and those before it, as masks.
    #[inline(always)]
    pub fn in_turn(&self) -> [u32; 2] {
        let from_first = EVERY.wrapping_shl(self.first as u32);
        [from_first & self.all, !from_first & self.all]
    }

    /// Whether one is awake.
    #[inline(always)]
    pub fn any_awake(&self) -> bool {
        self.awake & self.all != 0
    }

    /// The first of these sub-cores that is awake; the set is of those after it then.
    #[inline(always)]
    pub fn next_awake(&self, sub_cores: &mut u32) -> Option<usize> {
        let awake = self.awake & *sub_cores;
        if awake == 0 {
            return None;
        }
        let first = awake.trailing_zeros();
        *sub_cores &= EVERY.wrapping_shl(first) << 1;
        Some(first as usize)
    }

    /// Something changed for this slot.
    #[inline(always)]
    pub fn wake(&mut self, slot: usize) {
        self.awake |= 1u32.wrapping_shl(self.sub_core_of[slot].into());
    }

    /// Something changed for these slots.
    #[inline]
    pub fn wake_slots(&mut self, slots: WarpMask) {
        slots.slots().for_each(|slot| self.wake(slot));
    }

    pub fn wake_all(&mut self) {
        self.awake = EVERY;
    }

    /// There is room in units' queues for some sub-cores, given as a mask.
    #[inline(always)]
    pub fn wake_for_room(&mut self, sub_cores: u32) {
        self.awake |= sub_cores & self.without_room;
    }

    /// Instructions of these slots were fetched, some of which `go_on`. A sub-core need not know if one of its warps waits
    /// for something that comes before a fetch among the reasons, and none of these can issue.
    #[inline]
    pub fn wake_fetched(&mut self, slots: WarpMask, go_on: WarpMask) {
        for slot in slots.slots() {
            let sub_core = self.sub_core_of[slot];
            let idle = &self.subs[usize::from(sub_core)].idle;
            if go_on.has(slot) || idle.is_none_or(|idle| idle.reason > StallReason::Scoreboard) {
                self.awake |= 1u32.wrapping_shl(sub_core.into());
            }
        }
    }

    /// A policy wants to decide again in this cycle, even if nothing happens.
    pub fn wake_at(&mut self, sub_core: usize, cycle: u64) {
        self.subs[sub_core].wake = cycle;
    }

    /// The next cycle in which a policy wants to decide again.
    pub fn next_wake(&self) -> u64 {
        self.subs.iter().map(|sub| sub.wake).min().unwrap_or(u64::MAX)
    }

    /// A sub-core issues an instruction.
    #[inline(always)]
    pub fn issued(&mut self, sub_core: usize) {
        let issues = &mut self.subs[sub_core].issues;
        *issues = issues.wrapping_add(1);
    }

    /// A sub-core issues nothing in this cycle, and `sleeps` if nothing but a change can alter that.
    #[inline(always)]
    pub fn idle(&mut self, sub_core: usize, stalled: &Stalled, sleeps: bool, now: u64) -> Option<Change> {
        let bit = 1u32.wrapping_shl(sub_core as u32);
        if sleeps {
            self.awake &= !bit;
        }
        let (reason, warps) = stalled.reason();
        if self.subs[sub_core].idle.is_some_and(|idle| idle.reason == reason) {
            return None;
        }
        let ended = self.end_idle(sub_core, now);
        if reason == StallReason::UnitFull {
            self.without_room |= bit;
        }
        self.subs[sub_core].idle = Some(Idling { from: now, reason });
        Some(Change { ended, reason, warps })
    }

    /// There was no instruction so far, up to this cycle.
    pub fn drain_until(&mut self, now: u64) {
        let idle = (now > 0).then_some(Idling { from: 0, reason: StallReason::Drain });
        self.subs.iter_mut().take(self.count).for_each(|sub| sub.idle = idle);
    }

    /// What stands for the present idle interval of a sub-core.
    pub fn note_waiting(&mut self, sub_core: usize, waiting: Option<Waiting>) {
        self.subs[sub_core].waiting = waiting;
    }

    /// The present idle interval of a sub-core is over, if there is one.
    #[inline(always)]
    pub fn end_idle(&mut self, sub_core: usize, now: u64) -> Option<Idle> {
        let sub = &mut self.subs[sub_core];
        let Idling { from, reason } = sub.idle.take()?;
        self.without_room &= !1u32.wrapping_shl(sub_core as u32);
        let (from, to) = (Cycle::new(from), Cycle::new(now));
        sub.stalls.add(reason, to - from);
        Some(Idle { sub_core: sub_core as u8, from, to, reason, waiting: sub.waiting })
    }

    /// The warps of a block begin. What its policy hears of it.
    pub fn place(&mut self, sub_core: usize, placed: Placed) -> Placed {
        let sub = &mut self.subs[sub_core];
        let slots = placed.slots & sub.slots;
        sub.view.by_age.push(slots);
        Placed { slots, ..placed }
    }

    /// A block has ended that was this one in launch order.
    pub fn remove(&mut self, older: usize) {
        for sub in self.subs.iter_mut().take(self.count) {
            sub.view.by_age.remove(older);
        }
    }

    /// What a sub-core did so far, but for its present idle interval.
    pub fn result(&self, sub_core: usize) -> SubCoreResult {
        SubCoreResult { issues: self.subs[sub_core].issues, stalls: self.subs[sub_core].stalls }
    }
}
