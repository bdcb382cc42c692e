//! Blocks on the SM: placing them, their barriers, the end of their warps and their own.

use super::{PendingRelease, Slot, SlotSteps, Sm, issuing};
use crate::base::{Cycle, Cycles, WarpId, WarpMask};
use crate::path::{BlockPaths, Step};
use crate::sim::barrier::{Arrival, Complete};
use crate::sim::launch::{BlockResult, WarpResult};
use crate::sim::policy::{Placed, Policy};
use crate::trace::{BlockStart, Observer, Release, WarpFinish};

impl Sm<'_> {
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
        policies: &mut [P],
        observer: &mut O,
    ) {
        let warps = paths.warps.len();
        let now = self.view.now.get();
        let needed = (first_slot + warps) * self.regs;
        if self.avail.len() < needed {
            self.avail.resize(needed, 0);
        }
        self.tracks_global = policies.iter().any(P::tracks_global);
        if self.tracks_global && self.from_global.len() < needed {
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
        for (sub_core, policy) in policies.iter_mut().enumerate() {
            let slots = slots & self.sub_cores.slots(sub_core);
            policy.placed(&Placed { block: paths.block, first_slot, slots, at });
        }
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

    pub(super) fn arrive(&mut self, slot: usize, step: Step, waits: bool, done: u64) {
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
    pub(super) fn finish<O: Observer>(&mut self, slot: usize, issued: Option<u64>, observer: &mut O) {
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
    pub(super) fn special<O: Observer>(&mut self, steps: &SlotSteps<'_>, observer: &mut O) -> bool {
        let now = self.view.now.get();
        while let Some(due) = self.releases.iter().position(|release| release.complete.at <= now) {
            let release = self.releases.remove(due);
            self.release(release, steps, observer);
        }
        self.schedule_special();
        self.next_special <= now
    }

    fn schedule_special(&mut self) {
        let releases = self.releases.iter().map(|release| release.complete.at);
        let ends = self.residents.iter().filter(|r| r.occupied).filter_map(|resident| resident.end);
        self.next_special = releases.chain(ends).min().unwrap_or(u64::MAX);
    }

    fn release<O: Observer>(&mut self, release: PendingRelease, steps: &SlotSteps<'_>, observer: &mut O) {
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
                Some(&next) => self.wake_at(slot, next, now),
                None => self.finish(slot, Some(self.slots[slot].last_issue), observer),
            }
        }
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
}
