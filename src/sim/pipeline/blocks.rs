//! What follows for warps from the life of their blocks, which is that of [`crate::sim::blocks`].

use super::Sm;
use crate::base::{Cycle, WarpMask};
use crate::path::Step;
use crate::sim::policy::{AnyPolicy, Policy};
use crate::sim::result::BlockResult;
use crate::trace::Release;

impl Sm<'_> {
    /// Makes the block in the room of this free place resident, now. Its warps begin when launching it
    /// is over.
    pub fn place(&mut self, place: usize, policies: &mut [AnyPolicy<'_>]) {
        let begins = self.now + self.settings.launch.start;
        let start = self.blocks.place(place, &self.rooms[place], self.now, begins);
        if self.listening {
            self.log.block_started(start);
        }
        if begins == self.now {
            self.begin_block(place, policies);
        }
        self.busy = true;
        // where fetch ends warps, blocks come and go before a cycle and not in it
        self.active |= self.front_end.ends_warps();
    }

    /// The warps of blocks whose launching is over begin.
    #[inline]
    pub fn begin_due_blocks(&mut self, policies: &mut [AnyPolicy<'_>]) {
        while let Some(place) = self.blocks.to_begin(self.now) {
            self.begin_block(place, policies);
        }
    }

    fn begin_block(&mut self, place: usize, policies: &mut [AnyPolicy<'_>]) {
        let placed = self.blocks.begin(place);
        for (sub_core, policy) in policies.iter_mut().enumerate() {
            policy.placed(&self.schedulers.place(sub_core, placed));
        }
        self.schedulers.wake_all();
        self.exchange_paths(place, placed.slots);
        for slot in placed.slots.slots() {
            self.warps.begin(slot, self.now);
            self.front_end.start(slot);
            if let Some(pc) = self.warps.look_at_next(slot, self.now) {
                self.front_end.goes_to(slot, pc);
            }
        }
        self.finish_without_step(placed.slots);
    }

    /// The paths of a block that begins or has ended go from its room to its slots or back.
    fn exchange_paths(&mut self, place: usize, slots: WarpMask) {
        for (slot, path) in slots.slots().zip(&mut self.rooms[place].warps) {
            self.warps.exchange_path(slot, path);
        }
    }

    /// A warp has issued a barrier.
    pub(super) fn arrive(&mut self, slot: usize, step: Step, waits: bool, done: u64) {
        self.blocks.arrived(slot, step.barrier(), waits, done, self.now);
        self.release_barriers();
    }

    /// Lets go the warps whose barriers are due.
    #[inline(always)]
    pub(super) fn release_barriers(&mut self) {
        if self.blocks.due() <= self.now {
            self.release_due_barriers();
        }
    }

    fn release_due_barriers(&mut self) {
        while let Some(release) = self.blocks.release(self.now) {
            self.release(release);
        }
    }

    fn release(&mut self, release: Release) {
        self.busy = true;
        if self.listening {
            self.log.released(release);
        }
        self.schedulers.wake_slots(release.slots);
        self.finish_without_step(release.slots);
    }

    /// Of these warps, those that have no instruction left are told so.
    fn finish_without_step(&mut self, slots: WarpMask) {
        for slot in slots.slots() {
            if !self.warps.has_next(slot) {
                self.finish(slot);
            }
        }
    }

    /// A warp has no instruction left to issue.
    pub(super) fn finish(&mut self, slot: usize) {
        let (issues, last_issue) = self.warps.issued(slot);
        self.blocks.left(slot, issues, last_issue, self.now);
        self.schedulers.wake(slot);
        self.warp_may_be_over(slot);
    }

    /// A warp without instructions is over when all of them are complete and all its stores are
    /// acknowledged.
    #[inline]
    pub(super) fn warp_may_be_over(&mut self, slot: usize) {
        if !self.blocks.live().has(slot) && self.warps.rests(slot) {
            self.warp_is_over(slot);
        }
    }

    fn warp_is_over(&mut self, slot: usize) {
        if self.blocks.is_over(slot) {
            return;
        }
        let done = self.warps.last_done(slot);
        if !self.front_end.ends_warps() {
            self.blocks.over(slot, done, self.now);
        } else if self.front_end.end_when_passed(slot) {
            self.busy = true;
        } else {
            return;
        }
        if self.listening {
            self.log.warp_finished(self.blocks.finish(slot, done));
        }
    }

    /// Fetch has passed warps whose instructions are all complete.
    #[cold]
    pub(super) fn end_warps(&mut self, passed: WarpMask) {
        for slot in passed.slots() {
            self.blocks.over(slot, self.warps.last_done(slot), self.now + 1);
        }
    }

    /// Whether a block waits to be taken out.
    #[inline]
    pub fn has_ended(&self) -> bool {
        self.blocks.has_ended(self.now)
    }

    /// Takes a block that has ended out of the SM, and says how it went and where it was. Of several,
    /// the one placed first.
    pub fn take_ended(&mut self, result: &mut BlockResult) -> Option<usize> {
        let ended = self.blocks.take_ended(self.now, result)?;
        self.exchange_paths(ended.place, ended.slots);
        self.schedulers.remove(ended.older);
        if self.front_end.ends_warps() {
            self.active = !self.blocks.is_empty();
        }
        if self.listening {
            self.log.block_ended(result.block, Cycle::new(self.now));
        }
        Some(ended.place)
    }
}
