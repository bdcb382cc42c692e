//! The state of the SM and the event loop.

use super::SLOTS;
use super::barrier::{Arrival, Barriers, Complete};
use super::error::{Deadlock, RunError};
use super::launch::{BlockResult, WarpResult};
use super::ops::{Op, Ops};
use super::policy::{Placed, Policy, View};
use super::wheel::Wheel;
use crate::base::{BlockId, Cycle, Cycles, RegId, UnitId, WarpId, WarpMask};
use crate::path::{BlockPaths, Step, WarpPath};
use crate::program::{Flow, TimingTable};
use crate::trace::{BlockStart, Idle, Issue, Observer, Release, StallReason, Stalls, Waiting, WarpFinish};

/// The steps each slot issues; what [`issuing`] leaves of the warp's path.
pub(super) type SlotSteps<'p> = [&'p [Step]; SLOTS];

/// The steps of a path that take an issue slot.
pub(super) fn issuing<'p>(path: &'p WarpPath, table: &TimingTable) -> &'p [Step] {
    match path.steps() {
        [before @ .., last] if !table.issues(*last) => before,
        all => all,
    }
}

/// A warp slot.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    /// Instructions issued, which is the index of the next one.
    next: u32,
    /// Index in `residents` of its block.
    place: u8,
    /// When its next instruction is ready, if it is not at a barrier.
    ready_at: u64,
    last_issue: u64,
    /// Largest `done`; the start of the block if nothing issued.
    last_done: u64,
}

/// Room for a block, and the block in it.
#[derive(Clone, Debug, Default)]
struct Resident {
    occupied: bool,
    block: BlockId,
    first_slot: usize,
    slots: WarpMask,
    live: WarpMask,
    start: u64,
    issues: u64,
    /// One cycle after the last issue of any warp that has finished.
    after_finished: u64,
    /// Largest `done` of the finished warps.
    last_done: u64,
    /// When the block ends, once that is known.
    end: Option<u64>,
    barriers: Barriers,
}

/// A complete barrier whose release lies ahead.
#[derive(Clone, Copy, Debug)]
struct PendingRelease {
    place: usize,
    complete: Complete,
}

/// The SM. Time goes on until [`Sm::restart`].
#[derive(Clone, Debug)]
pub(super) struct Sm<'a> {
    ops: Ops<'a>,
    regs: usize,
    /// Per slot and register: when its value is available.
    avail: Vec<u64>,
    /// Per slot and register: whether a load from global memory wrote it. Empty unless the policy
    /// asks for it.
    from_global: Vec<bool>,
    /// Per unit: when it can start the next initiation.
    free: Vec<u64>,
    wheel: Wheel,
    view: View,
    slots: [Slot; SLOTS],
    residents: Vec<Resident>,
    /// Indices of the residents in launch order, parallel to `view.by_age`.
    age: Vec<u8>,
    releases: Vec<PendingRelease>,
    /// The next release or end of a block.
    next_special: u64,
    pub issues: u64,
    pub stalls: Stalls,
}

impl<'a> Sm<'a> {
    pub fn new(table: &'a TimingTable) -> Self {
        Self {
            ops: Ops::new(table),
            regs: table.regs(),
            avail: Vec::new(),
            from_global: Vec::new(),
            free: vec![0; table.units()],
            wheel: Wheel::new(),
            view: View {
                now: Cycle::ZERO,
                ready: WarpMask::empty(),
                live: WarpMask::empty(),
                at_barrier: WarpMask::empty(),
                by_age: Vec::with_capacity(SLOTS),
                global_until: [Cycle::ZERO; SLOTS],
            },
            slots: [Slot::default(); SLOTS],
            residents: Vec::new(),
            age: Vec::with_capacity(SLOTS),
            releases: Vec::with_capacity(SLOTS),
            next_special: u64::MAX,
            issues: 0,
            stalls: Stalls::default(),
        }
    }

    /// Empties the SM and starts again at cycle 0, with room for this many blocks.
    pub fn restart(&mut self, places: usize) {
        self.avail.fill(0);
        self.free.fill(0);
        self.wheel.clear();
        self.view.now = Cycle::ZERO;
        self.view.ready = WarpMask::empty();
        self.view.live = WarpMask::empty();
        self.view.at_barrier = WarpMask::empty();
        self.view.by_age.clear();
        self.age.clear();
        self.residents.iter_mut().for_each(|resident| resident.occupied = false);
        self.residents.resize_with(places, Resident::default);
        self.releases.clear();
        self.next_special = u64::MAX;
        self.issues = 0;
        self.stalls = Stalls::default();
    }

    pub fn now(&self) -> Cycle {
        self.view.now
    }

    pub fn table(&self) -> &'a TimingTable {
        self.ops.table
    }

    pub fn is_empty(&self) -> bool {
        self.view.by_age.is_empty()
    }

    pub fn is_free(&self, place: usize) -> bool {
        !self.residents[place].occupied
    }

    /// Points the slots of a resident block at the paths of its warps.
    pub fn steps_of<'p>(&self, place: usize, paths: &'p BlockPaths, steps: &mut SlotSteps<'p>) {
        let first = self.residents[place].first_slot;
        for (slot, path) in steps[first..].iter_mut().zip(&paths.warps) {
            *slot = issuing(path, self.table());
        }
    }

    /// Makes a block resident, now. It fits into the slots from `first_slot`.
    pub fn place<P: Policy, O: Observer>(
        &mut self,
        place: usize,
        first_slot: usize,
        paths: &BlockPaths,
        policy: &mut P,
        observer: &mut O,
    ) {
        let warps = paths.warps.len();
        let now = self.view.now.get();
        let needed = (first_slot + warps) * self.regs;
        if self.avail.len() < needed {
            self.avail.resize(needed, 0);
        }
        if P::TRACKS_GLOBAL && self.from_global.len() < needed {
            self.from_global.resize(needed, false);
        }
        let slots = (first_slot..first_slot + warps).fold(WarpMask::empty(), |s, w| s | WarpMask::slot(w));
        let resident = &mut self.residents[place];
        resident.occupied = true;
        resident.block = paths.block;
        resident.first_slot = first_slot;
        resident.slots = slots;
        resident.live = slots;
        resident.start = now;
        resident.issues = 0;
        resident.after_finished = now;
        resident.last_done = now;
        resident.end = None;
        resident.barriers.clear();
        self.view.by_age.push(slots);
        self.age.push(place as u8);
        self.view.live |= slots;
        let at = self.view.now;
        observer.block_started(&BlockStart { block: paths.block, first_slot, warps, at });
        policy.placed(&Placed { block: paths.block, first_slot, slots, at });
        for (slot, path) in (first_slot..).zip(&paths.warps) {
            // registers need no reset: whatever was written in this slot before was available
            // when the block before ended, which is now at the latest
            self.slots[slot] =
                Slot { next: 0, place: place as u8, ready_at: now, last_issue: now, last_done: now };
            self.view.global_until[slot] = Cycle::ZERO;
            if issuing(path, self.table()).is_empty() {
                self.finish(slot, None, observer);
            } else {
                self.view.ready |= WarpMask::slot(slot);
            }
        }
        if warps == 0 {
            self.end_at(place, now);
        }
    }

    /// Runs until a block ends; [`Sm::take_ended`] then tells which.
    pub fn run<P: Policy, O: Observer>(
        &mut self,
        steps: &SlotSteps<'_>,
        policy: &mut P,
        observer: &mut O,
    ) -> Result<(), RunError> {
        loop {
            let now = self.view.now.get();
            if now >= self.next_special && self.special::<P, O>(steps, observer) {
                return Ok(());
            }
            self.view.ready |= self.wheel.take(now);
            if (!P::WORK_CONSERVING || !self.view.ready.is_empty())
                && let Some(slot) = policy.choose(&self.view)?
            {
                debug_assert!(self.view.ready.has(slot));
                self.issue::<P, O>(slot, steps, observer);
                self.view.now = self.view.now.next();
                continue;
            }
            let mut next = self.wheel.next(now).min(self.next_special);
            if !P::WORK_CONSERVING {
                next = next.min(policy.wake(&self.view).get());
            }
            if next == u64::MAX {
                return Err(RunError::Deadlock(self.deadlock(steps)));
            }
            debug_assert!(next > now);
            self.idle(Cycle::new(next), steps, observer);
            self.view.now = Cycle::new(next);
        }
    }

    /// Issues the next instruction of a slot, now.
    #[inline]
    fn issue<P: Policy, O: Observer>(&mut self, slot: usize, steps: &SlotSteps<'_>, observer: &mut O) {
        let now = self.view.now.get();
        let path = steps[slot];
        let state = &mut self.slots[slot];
        let index = state.next as usize;
        let step = path[index];
        let op = self.ops.of(step);
        let (unit, init, total) = if op.special {
            let timing = self.ops.table.op(step);
            (timing.unit.get(), timing.init.get(), (timing.init + timing.lat).get())
        } else {
            (op.unit, op.init, op.total)
        };
        let free = &mut self.free[unit as usize];
        let start = now.max(*free);
        let init_end = start + init;
        let done = start + total;
        *free = init_end;
        let base = slot * self.regs;
        let avail = &mut self.avail[base..base + self.regs];
        for &reg in op.writes() {
            avail[reg as usize] = done;
        }
        if op.flow == Flow::AsyncCopy
            && let Some(ring) = self.ops.table.async_reg(step)
        {
            avail[ring.index()] = done;
        }
        if P::TRACKS_GLOBAL {
            let loads = self.ops.table.loads_global(step);
            for reg in written(op, self.ops.table.async_reg(step)) {
                self.from_global[base + reg] = loads;
            }
        }
        state.last_issue = now;
        state.last_done = state.last_done.max(done);
        state.next += 1;
        self.issues += 1;
        if observer.is_active() {
            let resident = &self.residents[state.place as usize];
            observer.issued(&Issue {
                block: resident.block,
                slot,
                warp: WarpId::from_index(slot - resident.first_slot),
                index: index as u32,
                step,
                unit: UnitId::new(unit),
                issue: Cycle::new(now),
                start: Cycle::new(start),
                init_end: Cycle::new(init_end),
                done: Cycle::new(done),
            });
        }
        if op.special && matches!(op.flow, Flow::Barrier | Flow::Arrive) {
            let waits = op.flow == Flow::Barrier;
            self.arrive(slot, step, waits, done);
            if waits {
                return;
            }
        }
        match path.get(index + 1) {
            Some(&next) => self.wake_at::<P>(slot, next, now + 1),
            None => {
                self.view.ready -= WarpMask::slot(slot);
                self.finish(slot, Some(now), observer);
            }
        }
    }

    /// Files a slot under the cycle in which its next instruction can issue, `earliest` or later;
    /// `earliest` is the next cycle to decide about.
    #[inline]
    fn wake_at<P: Policy>(&mut self, slot: usize, next: Step, earliest: u64) {
        let op = self.ops.of(next);
        let base = slot * self.regs;
        let avail = &self.avail[base..base + self.regs];
        let mut at = earliest;
        for &reg in op.waits() {
            at = at.max(avail[reg as usize]);
        }
        if op.waits_ring
            && let Some(ring) = self.ops.table.async_reg(next)
        {
            at = at.max(avail[ring.index()]);
        }
        if P::TRACKS_GLOBAL {
            let ring = self.ops.table.async_reg(next).filter(|_| op.waits_ring).map(RegId::index);
            let regs = op.waits().iter().map(|&reg| reg as usize).chain(ring);
            let until = regs.filter(|reg| self.from_global[base + reg]).map(|reg| avail[reg]).max();
            self.view.global_until[slot] = Cycle::new(until.unwrap_or(0));
        }
        self.slots[slot].ready_at = at;
        if at == earliest {
            self.view.ready |= WarpMask::slot(slot);
        } else {
            self.view.ready -= WarpMask::slot(slot);
            self.wheel.insert(self.view.now.get(), at, slot);
        }
    }

    fn arrive(&mut self, slot: usize, step: Step, waits: bool, done: u64) {
        let used = step.barrier();
        let place = self.slots[slot].place as usize;
        let resident = &mut self.residents[place];
        if waits {
            self.view.ready -= WarpMask::slot(slot);
            self.view.at_barrier |= WarpMask::slot(slot);
            self.view.global_until[slot] = Cycle::ZERO;
        }
        let arrival = Arrival { slot, barrier: used.id, expected: used.warps, waits, done };
        if let Some(complete) = resident.barriers.arrive(arrival, resident.live, resident.after_finished) {
            self.release_later(place, complete);
        }
    }

    /// A slot's warp has no instruction left. `issued` is the cycle, if any, of an issue that is
    /// not yet counted to what has finished.
    fn finish<O: Observer>(&mut self, slot: usize, issued: Option<u64>, observer: &mut O) {
        let state = self.slots[slot];
        let place = state.place as usize;
        let resident = &mut self.residents[place];
        self.view.live -= WarpMask::slot(slot);
        resident.live -= WarpMask::slot(slot);
        resident.issues += u64::from(state.next);
        resident.last_done = resident.last_done.max(state.last_done);
        if let Some(issued) = issued {
            resident.after_finished = resident.after_finished.max(issued + 1);
        }
        if observer.is_active() {
            observer.warp_finished(&WarpFinish {
                block: resident.block,
                slot,
                warp: WarpId::from_index(slot - resident.first_slot),
                done: Cycle::new(state.last_done),
                issues: u64::from(state.next),
            });
        }
        if resident.live.is_empty() {
            let end = resident.last_done.max(self.view.now.get());
            self.end_at(place, end);
            return;
        }
        while let Some(complete) = {
            let resident = &mut self.residents[place];
            resident.barriers.finished(resident.live, resident.after_finished)
        } {
            self.release_later(place, complete);
        }
    }

    fn end_at(&mut self, place: usize, end: u64) {
        self.residents[place].end = Some(end);
        self.next_special = self.next_special.min(end);
    }

    fn release_later(&mut self, place: usize, mut complete: Complete) {
        if complete.waiting.is_empty() {
            return;
        }
        // a warp that finishes when a partial barrier lets it go may complete a barrier for all
        // whose time has come before
        complete.at = complete.at.max(self.view.now.get());
        self.next_special = self.next_special.min(complete.at);
        self.releases.push(PendingRelease { place, complete });
    }

    /// Releases and ends of blocks that are due. Tells whether a block has ended.
    #[cold]
    fn special<P: Policy, O: Observer>(&mut self, steps: &SlotSteps<'_>, observer: &mut O) -> bool {
        let now = self.view.now.get();
        while let Some(due) = self.releases.iter().position(|release| release.complete.at <= now) {
            let release = self.releases.remove(due);
            self.release::<P, O>(release, steps, observer);
        }
        self.schedule_special();
        self.next_special <= now
    }

    fn schedule_special(&mut self) {
        let releases = self.releases.iter().map(|release| release.complete.at);
        let ends = self.residents.iter().filter(|r| r.occupied).filter_map(|resident| resident.end);
        self.next_special = releases.chain(ends).min().unwrap_or(u64::MAX);
    }

    fn release<P: Policy, O: Observer>(
        &mut self,
        release: PendingRelease,
        steps: &SlotSteps<'_>,
        observer: &mut O,
    ) {
        let PendingRelease { place, complete } = release;
        observer.barrier_released(&Release {
            block: self.residents[place].block,
            barrier: complete.barrier,
            slots: complete.waiting,
            at: self.view.now,
        });
        let now = self.view.now.get();
        self.view.at_barrier -= complete.waiting;
        for slot in complete.waiting.slots() {
            match steps[slot].get(self.slots[slot].next as usize) {
                Some(&next) => self.wake_at::<P>(slot, next, now),
                None => self.finish(slot, Some(self.slots[slot].last_issue), observer),
            }
        }
    }

    /// Accounts for the empty issue slots from now until `to`.
    fn idle<O: Observer>(&mut self, to: Cycle, steps: &SlotSteps<'_>, observer: &mut O) {
        let waiting = self.view.in_turn();
        let (reason, candidates) = if !self.view.ready.is_empty() {
            (StallReason::NotMyTurn, self.view.ready)
        } else if !waiting.is_empty() {
            (StallReason::Scoreboard, waiting)
        } else if !self.view.live.is_empty() {
            (StallReason::Barrier, self.view.at_barrier)
        } else {
            (StallReason::Drain, WarpMask::empty())
        };
        let from = self.view.now;
        self.stalls.add(reason, to - from);
        if observer.is_active() {
            let waiting = self.first_ready(reason, candidates, steps);
            observer.idled(&Idle { from, to, reason, waiting });
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

    /// Takes a block that has ended by now out of the SM, and says how it went. Of several, the
    /// one launched first.
    pub fn take_ended(&mut self, result: &mut BlockResult) -> Option<usize> {
        let now = self.view.now.get();
        let is_over = |&place: &u8| self.residents[place as usize].end.is_some_and(|end| end <= now);
        let index = self.age.iter().position(is_over)?;
        let place = self.age.remove(index) as usize;
        self.view.by_age.remove(index);
        let resident = &mut self.residents[place];
        resident.occupied = false;
        result.block = resident.block;
        result.start = Cycle::new(resident.start);
        result.makespan = Cycles::new(now - resident.start);
        result.issues = resident.issues;
        result.warps.clear();
        result.warps.extend(resident.slots.slots().map(|slot| WarpResult {
            finish: Cycles::new(self.slots[slot].last_done - resident.start),
            issues: u64::from(self.slots[slot].next),
        }));
        self.schedule_special();
        Some(place)
    }

    fn deadlock(&self, steps: &SlotSteps<'_>) -> Deadlock {
        let warp = |slot: usize| {
            let state = self.slots[slot];
            let resident = &self.residents[state.place as usize];
            let last = (state.next as usize).checked_sub(1).and_then(|index| steps[slot].get(index));
            (resident.block, WarpId::from_index(slot - resident.first_slot), last.map(|step| step.pc()))
        };
        Deadlock { cycle: self.view.now, warps: self.view.live.slots().map(warp).collect() }
    }
}

/// Registers that an instruction writes, the pseudo-register of an asynchronous copy included.
fn written(op: &Op, ring: Option<RegId>) -> impl Iterator<Item = usize> {
    let ring = ring.filter(|_| op.flow == Flow::AsyncCopy).map(RegId::index);
    op.writes().iter().map(|&reg| reg as usize).chain(ring)
}
