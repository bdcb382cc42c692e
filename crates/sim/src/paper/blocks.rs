//! The effects of the life of a block on its warps; [`crate::blocks`] models the block itself.

use super::{Slot, SlotSteps, Sm};
use crate::ops::issuing;
use crate::policy::{Placed, Policy};
use crate::result::BlockResult;
use warpbound_core::base::{Cycle, WarpMask};
use warpbound_core::path::{BlockPaths, Step};
use warpbound_trace::trace::{Event, Observer, Release};

impl Sm<'_> {
    /// Sets the steps of the slots of resident blocks, whose paths are given by CTA slot.
    pub fn steps_of<'p>(&self, resident_paths: &'p [BlockPaths], steps: &mut SlotSteps<'p>) {
        for (cta_slot, slots) in self.blocks.residents() {
            for (slot, path) in slots.slots().zip(&resident_paths[cta_slot].warps) {
                steps[slot] = issuing(path, self.table());
            }
        }
    }

    /// Makes a block, which must fit, resident in a free CTA slot in the present cycle.
    pub fn place<P: Policy, O: Observer>(
        &mut self,
        cta_slot: usize,
        paths: &BlockPaths,
        policies: &mut [P],
        observer: &mut O,
    ) {
        let now = self.view.now.get();
        observer.on(&Event::BlockStarted(self.blocks.place(cta_slot, paths, now, now)));
        let placed = self.blocks.begin(cta_slot);
        let needed = (placed.first_slot + paths.warps.len()) * self.regs;
        if self.avail.len() < needed {
            self.avail.resize(needed, 0);
        }
        self.tracks_global = policies.iter().any(P::tracks_global);
        if self.tracks_global && self.from_global.len() < needed {
            self.from_global.resize(needed, 0);
        }
        self.view.by_age.push(placed.slots);
        self.follow_blocks();
        for (sub_core, policy) in policies.iter_mut().enumerate() {
            policy.placed(&Placed { slots: placed.slots & self.sub_cores.slots(sub_core), ..placed });
        }
        for (slot, path) in (placed.first_slot..).zip(&paths.warps) {
            // registers need no reset: every result written in this slot before was available when
            // the previous block ended, and that was no later than now
            self.yielding -= WarpMask::slot(slot);
            self.slots[slot] =
                Slot { next: 0, ready_at: now, last_issue: now, last_done: now, stalled_until: now };
            self.view.global_until[slot] = Cycle::ZERO;
            if issuing(path, self.table()).is_empty() {
                self.finish(slot, observer);
            } else {
                self.view.ready |= WarpMask::slot(slot);
            }
        }
    }

    /// Updates the policies' view of the blocks.
    fn follow_blocks(&mut self) {
        self.view.live = self.blocks.live();
        self.view.at_barrier = self.blocks.at_barrier();
    }

    /// Records that a warp has issued a barrier. The function is not inlined, to keep the registers
    /// of the event loop for issues.
    #[inline(never)]
    pub(super) fn arrive(&mut self, slot: usize, step: Step, waits: bool, done: u64) {
        if waits {
            self.view.ready -= WarpMask::slot(slot);
            self.view.global_until[slot] = Cycle::ZERO;
        }
        self.blocks.arrived(slot, step.barrier(), waits, done, self.view.now.get());
        self.follow_blocks();
    }

    /// Records that a warp has no instruction left. Its end is already known, because the cycles of
    /// its results are. The function is not inlined, like [`Sm::arrive`].
    #[inline(never)]
    pub(super) fn finish<O: Observer>(&mut self, slot: usize, observer: &mut O) {
        let (now, state) = (self.view.now.get(), self.slots[slot]);
        self.blocks.left(slot, state.next, state.last_issue, now);
        let finish = self.blocks.over(slot, state.last_done, now);
        self.follow_blocks();
        observer.on(&Event::WarpFinished(finish));
    }

    /// Releases the warps whose barriers are due. Returns whether a block has ended.
    #[cold]
    pub(super) fn follow_due<O: Observer>(&mut self, steps: &SlotSteps<'_>, observer: &mut O) -> bool {
        let now = self.view.now.get();
        while let Some(release) = self.blocks.release(now) {
            self.follow_blocks();
            self.release(&release, steps, observer);
        }
        self.blocks.has_ended(now)
    }

    fn release<O: Observer>(&mut self, release: &Release, steps: &SlotSteps<'_>, observer: &mut O) {
        observer.on(&Event::BarrierReleased(*release));
        for slot in release.slots.slots() {
            match steps[slot].get(self.slots[slot].next as usize) {
                Some(&next) => self.wake_at(slot, next, self.view.now.get()),
                None => self.finish(slot, observer),
            }
        }
    }

    /// Removes a block that has ended from the SM, stores its result and returns its CTA slot. If
    /// several have ended, it is the one launched first.
    pub fn take_ended(&mut self, result: &mut BlockResult) -> Option<usize> {
        let ended = self.blocks.take_ended(self.view.now.get(), result)?;
        self.view.by_age.remove(ended.older);
        Some(ended.cta_slot)
    }
}
