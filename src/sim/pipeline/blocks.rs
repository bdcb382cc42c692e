//! Blocks on the SM: placing them, their barriers, the end of their warps and their own.

use super::sm::Sm;
use crate::base::{BlockId, Cycle, Cycles, WarpId, WarpMask};
use crate::path::Step;
use crate::program::TimingTable;
use crate::sim::barrier::{Arrival, Barriers, Complete};
use crate::sim::launch::{BlockResult, WarpResult};
use crate::sim::policy::{AnyPolicy, Placed, Policy};
use crate::trace::{BlockStart, Release, WarpFinish};

/// Room for a block, and the block in it.
#[derive(Clone, Debug, Default)]
pub(super) struct Resident {
    pub occupied: bool,
    pub block: BlockId,
    pub first_slot: usize,
    pub slots: WarpMask,
    /// Warps that have instructions left.
    pub live: WarpMask,
    /// Warps that have none, and all of whose instructions are complete.
    pub over: WarpMask,
    pub start: u64,
    /// Whether its warps have not begun.
    pending: bool,
    /// When they do.
    starts_at: u64,
    pub issues: u64,
    after_finished: u64,
    barriers: Barriers,
    ended: bool,
}

/// A complete barrier whose release lies ahead.
#[derive(Clone, Copy, Debug)]
pub(super) struct PendingRelease {
    place: usize,
    pub complete: Complete,
}

/// The steps of a warp that take an issue slot.
fn issuing(steps: &[Step], table: &TimingTable) -> usize {
    let free = steps.last().is_some_and(|&last| !table.issues(last));
    steps.len() - usize::from(free)
}

impl Sm<'_> {
    /// A place without a block, if there is one.
    pub fn free_place(&self) -> Option<usize> {
        self.residents.iter().position(|resident| !resident.occupied)
    }

    /// Makes the block in the room of this place resident, now.
    pub fn place(&mut self, place: usize, first_slot: usize, policies: &mut [AnyPolicy<'_>]) {
        let now = self.now;
        let room = &self.rooms[place];
        let (block, warps) = (room.block, room.warps.len());
        let slots = (first_slot..first_slot + warps).fold(WarpMask::empty(), |s, w| s | WarpMask::slot(w));
        self.residents[place] = Resident {
            occupied: true,
            block,
            first_slot,
            slots,
            start: now,
            pending: true,
            starts_at: now + self.settings.launch.start,
            after_finished: now,
            ..Resident::default()
        };
        self.pending_starts += 1;
        self.age.push(place as u8);
        if self.listening {
            let at = Cycle::new(now);
            self.log.block_started(BlockStart { block, first_slot, warps, at });
        }
        if self.settings.launch.start == 0 {
            self.start_block(place, policies);
        }
        self.busy = true;
    }

    /// The warps of a block that was placed `launch.start` cycles ago begin.
    pub fn start_due_blocks(&mut self, policies: &mut [AnyPolicy<'_>]) {
        if self.pending_starts == 0 {
            return;
        }
        for place in 0..self.residents.len() {
            let resident = &self.residents[place];
            if resident.pending && resident.starts_at <= self.now {
                self.start_block(place, policies);
            }
        }
    }

    fn start_block(&mut self, place: usize, policies: &mut [AnyPolicy<'_>]) {
        let Resident { first_slot, slots, block, start, .. } = self.residents[place];
        for (sub, policy) in self.subs.iter_mut().zip(policies) {
            let slots = slots & sub.slots;
            sub.view.by_age.push(slots);
            policy.placed(&Placed { block, first_slot, slots, at: Cycle::new(start) });
        }
        self.residents[place].pending = false;
        self.pending_starts -= 1;
        self.residents[place].live = slots;
        self.live |= slots;
        self.wake_all();
        for slot in slots.slots() {
            let path = &self.rooms[place].warps[slot - first_slot];
            let warp = &mut self.warps[slot];
            warp.next = 0;
            warp.steps = issuing(path.steps(), self.code.table) as u32;
            warp.place = place as u8;
            warp.traffic = 0;
            warp.last_issue = self.now;
            warp.last_done = self.now;
            if let Some(front_end) = &mut self.front_end {
                front_end.start(slot);
            }
            self.look_at_next(slot);
        }
        for slot in slots.slots() {
            if self.warps[slot].step.is_none() {
                self.finish(slot);
            }
        }
        if slots.is_empty() {
            self.residents[place].ended = true;
            self.ended += 1;
        }
    }

    pub(super) fn arrive(&mut self, slot: usize, step: Step, waits: bool, done: u64) {
        let used = step.barrier();
        let place = self.warps[slot].place as usize;
        if waits {
            self.at_barrier |= WarpMask::slot(slot);
        }
        let resident = &mut self.residents[place];
        let arrival = Arrival { slot, barrier: used.id, expected: used.warps, waits, done };
        if let Some(complete) = resident.barriers.arrive(arrival, resident.live, resident.after_finished) {
            self.release_later(place, complete);
        }
    }

    fn release_later(&mut self, place: usize, complete: Complete) {
        if complete.waiting.is_empty() {
            return;
        }
        let release = PendingRelease { place, complete };
        if complete.at <= self.now {
            self.release(release);
        } else {
            self.releases.push(release);
        }
    }

    pub(super) fn release_barriers(&mut self) {
        while let Some(due) = self.releases.iter().position(|release| release.complete.at <= self.now) {
            let release = self.releases.remove(due);
            self.busy = true;
            self.release(release);
        }
    }

    fn release(&mut self, PendingRelease { place, complete }: PendingRelease) {
        if self.listening {
            self.log.released(Release {
                block: self.residents[place].block,
                barrier: complete.barrier,
                slots: complete.waiting,
                at: Cycle::new(self.now),
            });
        }
        self.at_barrier -= complete.waiting;
        self.wake_slots(complete.waiting);
        for slot in complete.waiting.slots() {
            if self.warps[slot].step.is_none() && self.live.has(slot) {
                self.finish(slot);
            }
        }
    }

    /// A warp has no instruction left to issue.
    pub(super) fn finish(&mut self, slot: usize) {
        let warp = self.warps[slot];
        let place = warp.place as usize;
        self.live -= WarpMask::slot(slot);
        self.wake(slot);
        let resident = &mut self.residents[place];
        resident.live -= WarpMask::slot(slot);
        resident.issues += u64::from(warp.next);
        if warp.next > 0 {
            resident.after_finished = resident.after_finished.max(warp.last_issue + 1);
        }
        while let Some(complete) = {
            let resident = &mut self.residents[place];
            if resident.live.is_empty() {
                None
            } else {
                resident.barriers.finished(resident.live, resident.after_finished)
            }
        } {
            self.release_later(place, complete);
        }
        self.warp_may_be_over(slot);
    }

    /// A warp without instructions is over when all of them are complete and all its stores are
    /// acknowledged.
    pub(super) fn warp_may_be_over(&mut self, slot: usize) {
        let warp = self.warps[slot];
        if self.live.has(slot) || warp.in_flight > 0 || warp.stores > 0 {
            return;
        }
        let resident = &mut self.residents[warp.place as usize];
        if !resident.slots.has(slot) || resident.over.has(slot) {
            return;
        }
        resident.over |= WarpMask::slot(slot);
        if resident.over == resident.slots {
            resident.ended = true;
            self.ended += 1;
        }
        let finish = WarpFinish {
            block: resident.block,
            slot,
            warp: WarpId::from_index(slot - resident.first_slot),
            done: Cycle::new(warp.last_done),
            issues: u64::from(warp.next),
        };
        if self.listening {
            self.log.warp_finished(finish);
        }
    }

    /// Whether a block waits to be taken out.
    pub fn has_ended(&self) -> bool {
        self.ended > 0
    }

    /// Takes a block that has ended out of the SM, and says how it went. Of several, the one
    /// placed first.
    pub fn take_ended(&mut self, result: &mut BlockResult) -> Option<usize> {
        if self.ended == 0 {
            return None;
        }
        let index = self.age.iter().position(|&place| self.residents[place as usize].ended)?;
        let place = self.age.remove(index) as usize;
        for sub in &mut self.subs {
            sub.view.by_age.remove(index);
        }
        let resident = &mut self.residents[place];
        resident.occupied = false;
        resident.ended = false;
        self.ended -= 1;
        result.block = resident.block;
        result.start = Cycle::new(resident.start);
        result.makespan = Cycles::new(self.now - resident.start);
        result.issues = resident.issues;
        result.warps.clear();
        result.warps.extend(resident.slots.slots().map(|slot| WarpResult {
            finish: Cycles::new(self.warps[slot].last_done - resident.start),
            issues: u64::from(self.warps[slot].next),
        }));
        if self.listening {
            self.log.block_ended(resident.block, Cycle::new(self.now));
        }
        Some(place)
    }

    /// When the warps of some block begin.
    pub fn next_birth(&self) -> u64 {
        if self.pending_starts == 0 {
            return u64::MAX;
        }
        let pending = self.residents.iter().filter(|resident| resident.pending);
        pending.map(|resident| resident.starts_at).min().unwrap_or(u64::MAX)
    }

    /// Whether no block is on the SM.
    pub fn is_empty(&self) -> bool {
        self.age.is_empty()
    }
}
