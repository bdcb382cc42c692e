//! The effects of the life of a block on its warps; [`crate::blocks`] models the block itself.

use super::Sm;
use crate::policy::{AnyPolicy, Policy};
use crate::result::BlockResult;
use warpbound_core::base::{Cycle, WarpMask};
use warpbound_core::path::Step;
use warpbound_trace::trace::{Event, Release};

impl Sm<'_> {
    /// Makes the block whose paths are stored for this free CTA slot resident in the present cycle.
    /// Its warps begin when the launch latency of the block has passed.
    pub fn place(&mut self, cta_slot: usize, policies: &mut [AnyPolicy<'_>]) {
        let begins = self.now + self.settings.launch.start;
        let start = self.blocks.place(cta_slot, &self.resident_paths[cta_slot], self.now, begins);
        if self.listening {
            self.log.add(Event::BlockStarted(start));
        }
        if begins == self.now {
            self.begin_block(cta_slot, policies);
        }
        // the round robin pointer advances with the next cycle
        (self.busy, self.goes_on) = (true, true);
        // where fetch ends warps, blocks are placed and removed before a cycle and not in it
        self.active |= self.front_end.ends_warps();
    }

    /// Starts the warps of the blocks whose launch latency has passed.
    #[inline]
    pub fn begin_due_blocks(&mut self, policies: &mut [AnyPolicy<'_>]) {
        while let Some(cta_slot) = self.blocks.to_begin(self.now) {
            self.begin_block(cta_slot, policies);
        }
    }

    fn begin_block(&mut self, cta_slot: usize, policies: &mut [AnyPolicy<'_>]) {
        let placed = self.blocks.begin(cta_slot);
        for (sub_core, policy) in policies.iter_mut().enumerate() {
            policy.placed(&self.schedulers.place(sub_core, placed));
        }
        self.schedulers.wake_all();
        if let Some(ports) = &mut self.register_ports {
            ports.forget(placed.slots);
        }
        self.exchange_paths(cta_slot, placed.slots);
        for slot in placed.slots.slots() {
            self.warps.begin(slot, self.now);
            self.front_end.start(slot);
            if let Some(place) = self.warps.look_at_next(slot, self.now) {
                self.front_end.goes_to(slot, place, self.now);
            }
        }
        self.finish_without_step(placed.slots);
    }

    /// Exchanges the paths of a block between its CTA slot and its warp slots. A block that begins
    /// moves its paths to the warp slots, and a block that has ended moves them back.
    fn exchange_paths(&mut self, cta_slot: usize, slots: WarpMask) {
        for (slot, path) in slots.slots().zip(&mut self.resident_paths[cta_slot].warps) {
            self.warps.exchange_path(slot, path);
        }
    }

    /// Records that a warp has issued a barrier.
    pub(super) fn arrive(&mut self, slot: usize, step: Step, waits: bool, done: u64) {
        self.blocks.arrived(slot, step.barrier(), waits, done, self.now);
        self.release_barriers();
    }

    /// Releases the warps whose barriers are due.
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
            self.log.add(Event::BarrierReleased(release));
        }
        self.schedulers.wake_slots(release.slots);
        self.finish_without_step(release.slots);
    }

    /// Finishes the warps in this set that have no instruction left.
    fn finish_without_step(&mut self, slots: WarpMask) {
        for slot in slots.slots() {
            if !self.warps.has_next(slot) {
                self.finish(slot);
            }
        }
    }

    /// Records that a warp has no instruction left to issue.
    pub(super) fn finish(&mut self, slot: usize) {
        let (issues, last_issue) = self.warps.issued(slot);
        self.blocks.left(slot, issues, last_issue, self.now);
        self.schedulers.wake(slot);
        self.warp_may_be_over(slot);
    }

    /// Ends a warp without remaining instructions if all its instructions are complete and all its
    /// stores are acknowledged.
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
            (self.busy, self.goes_on) = (true, true);
        } else {
            return;
        }
        if self.listening {
            self.log.add(Event::WarpFinished(self.blocks.finish(slot, done)));
        }
    }

    /// Ends the warps that fetch has passed and whose instructions are all complete.
    #[cold]
    pub(super) fn end_warps(&mut self, passed: WarpMask) {
        for slot in passed.slots() {
            self.blocks.over(slot, self.warps.last_done(slot), self.now + 1);
        }
    }

    /// Returns whether a block that has ended waits to be removed, or a CTA slot to be opened again.
    #[inline]
    pub fn has_ended(&self) -> bool {
        self.blocks.has_ended(self.now)
    }

    /// Removes a block that has ended from the SM, stores its result and returns its CTA slot. If
    /// several have ended, it is the one that was placed first.
    pub fn take_ended(&mut self, result: &mut BlockResult) -> Option<usize> {
        let ended = self.blocks.take_ended(self.now, result)?;
        self.exchange_paths(ended.cta_slot, ended.slots);
        self.schedulers.remove(ended.older);
        if self.front_end.ends_warps() {
            self.active = !self.blocks.is_empty();
        }
        if self.listening {
            self.log.add(Event::BlockEnded { block: result.block, end: Cycle::new(self.now) });
        }
        Some(ended.cta_slot)
    }
}
