//! The schedulers of the sub-cores: the round robin pointer, the sleeping sub-cores, and the idle
//! intervals with their reasons.
//!
//! A sub-core that issued nothing sleeps until a change that could let it issue or could alter the
//! reason. Without a collector, queues get room again as time passes, so that a sub-core that waits for
//! room does not sleep; see `Code::sleeps`.

use super::per::{PerSlot, PerSubCore};
use crate::idle::Stalled;
use crate::policy::{Placed, View};
use crate::result::SubCoreResult;
use warpbound_core::base::{Cycle, WarpMask};
use warpbound_core::machine::SubCores;
use warpbound_trace::trace::{Idle, StallReason, Stalls, Waiting};

/// The scheduler of one sub-core.
#[derive(Clone, Debug)]
struct SubCore {
    /// The warp slots of the sub-core.
    slots: WarpMask,
    /// The present idle interval.
    idle: Option<Idling>,
    issues: u64,
    stalls: Stalls,
    /// Whether the policy is work conserving.
    conserving: bool,
    /// The cycle in which the policy has to be called again even if nothing happens.
    wake: u64,
    /// The warp that represents the idle interval, if an observer is attached.
    waiting: Option<Waiting>,
    view: View,
}

/// An idle interval that has not ended.
#[derive(Clone, Copy, Debug)]
struct Idling {
    from: u64,
    reason: StallReason,
}

/// The start of an idle interval with a new reason.
#[derive(Clone, Copy, Debug)]
pub(super) struct Change {
    /// The interval that ended, if the sub-core was idle before.
    pub ended: Option<Idle>,
    /// The new reason, and the warps that it holds back.
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
    /// The sub-cores that may issue, or whose reason for being idle may differ from the last cycle,
    /// as a mask.
    awake: u32,
    /// The sub-cores that are idle because units accept no more instructions, as a mask.
    without_room: u32,
    sub_core_of: PerSlot<u8>,
    /// The sub-core that issues first in this cycle.
    first: usize,
}

/// Every possible sub-core, as a mask.
const EVERY: u32 = u32::MAX;

impl Schedulers {
    /// Creates the schedulers of these sub-cores; `conserving` returns whether the policy of a
    /// sub-core is work conserving.
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

    /// Returns whether all policies are work conserving.
    pub fn conserve(&self) -> bool {
        self.subs.iter().all(|sub| sub.conserving)
    }

    #[inline(always)]
    pub fn conserves(&self, sub_core: usize) -> bool {
        self.subs[sub_core].conserving
    }

    /// Returns the warp slots of a sub-core.
    #[inline(always)]
    pub fn slots(&self, sub_core: usize) -> WarpMask {
        self.subs[sub_core].slots
    }

    /// Returns the state that the policy of a sub-core sees.
    #[inline(always)]
    pub fn view(&mut self, sub_core: usize) -> &mut View {
        &mut self.subs[sub_core].view
    }

    /// Advances the round robin pointer of the sub-cores by a number of cycles.
    #[inline(always)]
    pub fn turn(&mut self, cycles: u64) {
        // nearly always by one cycle, which needs no division
        let first = self.first.wrapping_add(cycles as usize);
        self.first = match first.checked_sub(self.count) {
            None => first,
            Some(beyond) if beyond < self.count => beyond,
            Some(beyond) => beyond % self.count,
        };
    }

    /// Returns, as masks, the sub-cores from the first one on, and those before it.
    #[inline(always)]
    pub fn in_turn(&self) -> [u32; 2] {
        let from_first = EVERY.wrapping_shl(self.first as u32);
        [from_first & self.all, !from_first & self.all]
    }

    /// Returns whether a sub-core is awake.
    #[inline(always)]
    pub fn any_awake(&self) -> bool {
        self.awake & self.all != 0
    }

    /// Returns the first of these sub-cores that is awake, and removes it and those before it from
    /// the set.
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

    /// Wakes the sub-core of this slot, for which something has changed.
    #[inline(always)]
    pub fn wake(&mut self, slot: usize) {
        self.awake |= 1u32.wrapping_shl(self.sub_core_of[slot].into());
    }

    /// Wakes the sub-cores of these slots, for which something has changed.
    #[inline]
    pub fn wake_slots(&mut self, slots: WarpMask) {
        slots.slots().for_each(|slot| self.wake(slot));
    }

    pub fn wake_all(&mut self) {
        self.awake = EVERY;
    }

    /// Wakes the sub-cores in this mask that waited for room in the queues of units.
    #[inline(always)]
    pub fn wake_for_room(&mut self, sub_cores: u32) {
        self.awake |= sub_cores & self.without_room;
    }

    /// Wakes the sub-cores of these slots, whose instructions were fetched. The warps in `go_on`
    /// have no hazard, or have the wrong instructions in their buffers. If no fetched warp of a
    /// sub-core is among them, the sub-core need not be woken as long as its reason precedes
    /// [`StallReason::Barrier`] in priority, because the fetch then does not change the reason.
    #[inline]
    pub fn wake_fetched(&mut self, slots: WarpMask, go_on: WarpMask) {
        for slot in slots.slots() {
            let sub_core = self.sub_core_of[slot];
            let idle = &self.subs[usize::from(sub_core)].idle;
            let may_change = |idle: Idling| match idle.reason {
                StallReason::NotMyTurn | StallReason::UnitFull | StallReason::Scoreboard => false,
                StallReason::Barrier | StallReason::Fetch | StallReason::Drain => true,
            };
            if go_on.has(slot) || idle.is_none_or(may_change) {
                self.awake |= 1u32.wrapping_shl(sub_core.into());
            }
        }
    }

    /// Sets the cycle in which a policy has to be called again even if nothing happens.
    pub fn wake_at(&mut self, sub_core: usize, cycle: u64) {
        self.subs[sub_core].wake = cycle;
    }

    /// Returns the next cycle in which a policy has to be called again, or `u64::MAX`.
    pub fn next_wake(&self) -> u64 {
        self.subs.iter().map(|sub| sub.wake).min().unwrap_or(u64::MAX)
    }

    /// Counts an instruction that a sub-core issues.
    #[inline(always)]
    pub fn issued(&mut self, sub_core: usize) {
        let issues = &mut self.subs[sub_core].issues;
        *issues = issues.wrapping_add(1);
    }

    /// Accounts for a cycle in which a sub-core issues nothing; it falls asleep if `sleeps`.
    /// Returns the change if the reason is a new one.
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
        match reason {
            StallReason::UnitFull => self.without_room |= bit,
            StallReason::NotMyTurn
            | StallReason::Scoreboard
            | StallReason::Barrier
            | StallReason::Fetch
            | StallReason::Drain => {}
        }
        self.subs[sub_core].idle = Some(Idling { from: now, reason });
        Some(Change { ended, reason, warps })
    }

    /// Records that no sub-core had an instruction before this cycle.
    pub fn drain_until(&mut self, now: u64) {
        let idle = (now > 0).then_some(Idling { from: 0, reason: StallReason::Drain });
        self.subs.iter_mut().take(self.count).for_each(|sub| sub.idle = idle);
    }

    /// Sets the warp that represents the present idle interval of a sub-core.
    pub fn note_waiting(&mut self, sub_core: usize, waiting: Option<Waiting>) {
        self.subs[sub_core].waiting = waiting;
    }

    /// Ends the present idle interval of a sub-core and returns it, if there is one.
    #[inline(always)]
    pub fn end_idle(&mut self, sub_core: usize, now: u64) -> Option<Idle> {
        let sub = &mut self.subs[sub_core];
        let Idling { from, reason } = sub.idle.take()?;
        self.without_room &= !1u32.wrapping_shl(sub_core as u32);
        let (from, to) = (Cycle::new(from), Cycle::new(now));
        sub.stalls.add(reason, to - from);
        Some(Idle { sub_core: sub_core as u8, from, to, reason, waiting: sub.waiting })
    }

    /// Adds the warps of a block to a sub-core, and returns the description of the block for the
    /// policy.
    pub fn place(&mut self, sub_core: usize, placed: Placed) -> Placed {
        let sub = &mut self.subs[sub_core];
        let slots = placed.slots & sub.slots;
        sub.view.by_age.push(slots);
        Placed { slots, ..placed }
    }

    /// Removes a block that has ended; `older` is its position in launch order.
    pub fn remove(&mut self, older: usize) {
        for sub in self.subs.iter_mut().take(self.count) {
            sub.view.by_age.remove(older);
        }
    }

    /// Returns what a sub-core did so far, without its present idle interval.
    pub fn result(&self, sub_core: usize) -> SubCoreResult {
        SubCoreResult { issues: self.subs[sub_core].issues, stalls: self.subs[sub_core].stalls }
    }
}
