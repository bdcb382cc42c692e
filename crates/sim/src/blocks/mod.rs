//! The life of a block on an SM, for both engines: the block gets a CTA slot and warp slots, its
//! warps begin, arrive at barriers and are released, run out of instructions and end, and with the
//! last of them the block ends.
//!
//! Engines advance the time. They report events by calls, and this module returns the consequences,
//! which the engines apply to their own state of the warps: a [`Release`] is both the event and the
//! set of slots that may continue, and an [`Ended`] block makes room. Further consequences of
//! earlier reports are due in the cycle [`Blocks::due`].
//!
//! The engines differ in the time of their reports. Under the paper model, the end of a warp is
//! known when its last instruction issues; in a pipeline it is not known before it happens. If
//! launching a block takes time, its warps begin later than it is placed.

mod barriers;
mod layout;
#[cfg(test)]
mod tests;

pub(super) use layout::Layout;

use barriers::{Arrival, Barriers, Complete};

use super::SLOTS;
use super::key::Key;
use super::policy::Placed;
use super::result::{BlockResult, WarpResult};
use warpbound_core::base::{BlockId, Cycle, Cycles, WarpId, WarpMask};
use warpbound_core::path::{BarrierUse, BlockPaths};
use warpbound_trace::trace::{BlockStart, Release, WarpFinish};

/// A CTA slot, and the block in it.
#[derive(Clone, Debug, Default)]
struct Resident {
    occupied: bool,
    /// The cycle in which the CTA slot can receive a block again, if its last one has ended and that
    /// cycle has not come.
    free_at: Option<u64>,
    block: BlockId,
    slots: WarpMask,
    /// The warps that have instructions left.
    live: WarpMask,
    /// The warps that have no instruction left, and for which the cycle of the last completion is
    /// known.
    over: WarpMask,
    start: u64,
    /// The cycle in which its warps begin; `None` once they have begun.
    begins: Option<u64>,
    issues: u64,
    /// One cycle after the last issue of any warp that has no instruction left.
    after_finished: u64,
    /// The latest cycle at which a warp of `over` ends. It is the end of the block once all its
    /// warps are in `over`.
    over_at: u64,
    barriers: Barriers,
}

impl Resident {
    /// Returns the cycle in which the block ends, if that is known.
    fn end(&self) -> Option<u64> {
        (self.occupied && self.begins.is_none() && self.over == self.slots).then_some(self.over_at)
    }

    /// Returns the next cycle in which something happens to the block, or to the free CTA slot, without a
    /// report.
    fn next(&self) -> Option<u64> {
        if self.occupied { self.begins.or_else(|| self.end()) } else { self.free_at }
    }
}

/// A complete barrier whose release is still to come.
#[derive(Clone, Copy, Debug)]
struct Pending {
    cta_slot: usize,
    complete: Complete,
}

/// A block that has ended and made room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ended {
    /// The CTA slot that it had.
    pub cta_slot: usize,
    /// The slots of its warps.
    pub slots: WarpMask,
    /// The number of blocks on the SM that were launched before it.
    pub older: usize,
}

/// The blocks on an SM.
#[derive(Clone, Debug)]
pub(super) struct Blocks {
    layout: Layout,
    cta_slot_of: [u8; SLOTS],
    /// The number of cycles after the end of a block in which its CTA slot can receive no other.
    refill: u64,
    /// The blocks, by CTA slot.
    residents: Vec<Resident>,
    /// The CTA slots of the resident blocks in launch order.
    age: Vec<u8>,
    live: WarpMask,
    at_barrier: WarpMask,
    /// For each warp slot, the result of its warp, but with points in time instead of times since
    /// the start of the block.
    ran: [(Cycle, u64); SLOTS],
    /// The releases to come, in the order in which the barriers were completed.
    releases: Vec<Pending>,
    due: u64,
}

impl Blocks {
    /// Creates an SM without blocks.
    pub fn new(layout: Layout) -> Self {
        let mut blocks = Self {
            layout,
            cta_slot_of: [0; SLOTS],
            refill: 0,
            residents: Vec::new(),
            age: Vec::with_capacity(SLOTS),
            live: WarpMask::empty(),
            at_barrier: WarpMask::empty(),
            ran: [(Cycle::ZERO, 0); SLOTS],
            releases: Vec::with_capacity(SLOTS),
            due: u64::MAX,
        };
        blocks.restart(layout);
        blocks
    }

    /// Creates an SM without blocks whose CTA slots can receive no block for this many cycles after the
    /// end of one.
    pub fn with_refill(layout: Layout, refill: u64) -> Self {
        Self { refill, ..Self::new(layout) }
    }

    /// Resets the state to that of a new SM: no blocks, cycle 0 of a new run, and these CTA slots.
    pub fn restart(&mut self, cta_slots: Layout) {
        let Self { layout, cta_slot_of, refill: _, residents, age, live, at_barrier, ran, releases, due } =
            self;
        *layout = cta_slots;
        *cta_slot_of = cta_slots.cta_slot_of_warp_slots();
        residents.clear();
        residents.resize_with(cta_slots.cta_slots(), Resident::default);
        age.clear();
        *live = WarpMask::empty();
        *at_barrier = WarpMask::empty();
        *ran = [(Cycle::ZERO, 0); SLOTS];
        releases.clear();
        *due = u64::MAX;
    }

    /// Returns whether no block is on the SM.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.age.is_empty()
    }

    /// Returns a CTA slot that can receive a block, if there is one.
    pub fn free_cta_slot(&self) -> Option<usize> {
        self.residents.iter().position(|resident| !resident.occupied && resident.free_at.is_none())
    }

    /// Returns the warps that have instructions left.
    #[inline]
    pub fn live(&self) -> WarpMask {
        self.live
    }

    /// Returns the warps among them that wait at a barrier.
    #[inline]
    pub fn at_barrier(&self) -> WarpMask {
        self.at_barrier
    }

    /// Returns the next cycle in which a block begins or ends or a barrier releases warps, as far
    /// as it is known, or `u64::MAX`.
    #[inline]
    pub fn due(&self) -> u64 {
        self.due
    }

    /// Returns the CTA slot to which a warp slot belongs, and the warp of the block there that
    /// occupies the warp slot.
    #[inline]
    pub fn position(&self, slot: usize) -> (usize, WarpId) {
        let cta_slot = self.cta_slot_of[slot] as usize;
        (cta_slot, WarpId::from_index(slot - self.layout.first_slot(cta_slot)))
    }

    /// Returns the block and the warp that occupy a warp slot.
    #[inline]
    pub fn warp(&self, slot: usize) -> (BlockId, WarpId) {
        let (cta_slot, warp) = self.position(slot);
        (self.residents[cta_slot].block, warp)
    }

    /// Returns the CTA slot and the warp slots of each block, the oldest block first.
    pub fn residents(&self) -> impl Iterator<Item = (usize, WarpMask)> + '_ {
        self.age.iter().map(|&cta_slot| (cta_slot as usize, self.residents[cta_slot as usize].slots))
    }

    /// Puts a block, which must fit, into a free CTA slot in cycle `now`, and returns the event.
    /// The warps of the block begin at `begins`: see [`Blocks::begin`].
    pub fn place(&mut self, cta_slot: usize, paths: &BlockPaths, now: u64, begins: u64) -> BlockStart {
        let (block, warps) = (paths.block, paths.warps.len());
        let first_slot = self.layout.first_slot(cta_slot);
        let slots = (first_slot..first_slot + warps).fold(WarpMask::empty(), |s, w| s | WarpMask::slot(w));
        let resident = &mut self.residents[cta_slot];
        debug_assert!(!resident.occupied);
        resident.occupied = true;
        resident.block = block;
        resident.slots = slots;
        resident.live = WarpMask::empty();
        resident.over = WarpMask::empty();
        resident.start = now;
        resident.begins = Some(begins);
        resident.issues = 0;
        resident.after_finished = now;
        resident.over_at = begins;
        resident.barriers.clear();
        self.age.push(cta_slot as u8);
        self.due = self.due.min(begins);
        BlockStart { block, first_slot, warps, at: Cycle::new(now) }
    }

    /// Returns a CTA slot whose block is due to begin and has not begun.
    pub fn to_begin(&self, now: u64) -> Option<usize> {
        if self.due > now {
            return None;
        }
        self.residents.iter().position(|r| r.occupied && r.begins.is_some_and(|begins| begins <= now))
    }

    /// Starts the warps of the block in a CTA slot. All become live; the engine must report those
    /// without an instruction next.
    pub fn begin(&mut self, cta_slot: usize) -> Placed {
        let resident = &mut self.residents[cta_slot];
        resident.begins = None;
        resident.live = resident.slots;
        self.live |= resident.slots;
        let (block, slots, at) = (resident.block, resident.slots, Cycle::new(resident.start));
        self.reschedule();
        Placed { block, first_slot: self.layout.first_slot(cta_slot), slots, at }
    }

    /// Records that a warp has issued a barrier that is done at `done`.
    pub fn arrived(&mut self, slot: usize, barrier: BarrierUse, waits: bool, done: u64, now: u64) {
        if waits {
            self.at_barrier |= WarpMask::slot(slot);
        }
        let cta_slot = self.cta_slot_of[slot] as usize;
        let resident = &mut self.residents[cta_slot];
        let arrival = Arrival { slot, barrier: barrier.id, expected: barrier.warps, waits, done };
        if let Some(complete) = resident.barriers.arrive(arrival, resident.live, resident.after_finished) {
            self.release_later(cta_slot, complete, now);
        }
    }

    /// Records that a warp has no instruction left. It has issued `issues` instructions, the last
    /// one in the cycle `last_issue`.
    pub fn left(&mut self, slot: usize, issues: u32, last_issue: u64, now: u64) {
        let cta_slot = self.cta_slot_of[slot] as usize;
        let resident = &mut self.residents[cta_slot];
        debug_assert!(resident.live.has(slot));
        self.live -= WarpMask::slot(slot);
        resident.live -= WarpMask::slot(slot);
        resident.issues += u64::from(issues);
        self.ran[slot].1 = u64::from(issues);
        if issues > 0 {
            resident.after_finished = resident.after_finished.max(last_issue + 1);
        }
        while let Some(complete) = {
            let resident = &mut self.residents[cta_slot];
            if resident.live.is_empty() {
                None
            } else {
                resident.barriers.finished(resident.live, resident.after_finished)
            }
        } {
            self.release_later(cta_slot, complete, now);
        }
    }

    /// Records the end of a warp that has issued all its instructions. `done` is the cycle in which
    /// the last of them is done; the warp does not end before `now`. The block ends when all its
    /// warps have ended. Returns the event.
    pub fn over(&mut self, slot: usize, done: u64, now: u64) -> WarpFinish {
        let resident = &mut self.residents[self.cta_slot_of[slot] as usize];
        debug_assert!(!resident.live.has(slot) && !resident.over.has(slot));
        resident.over |= WarpMask::slot(slot);
        resident.over_at = resident.over_at.max(done).max(now);
        self.ran[slot].0 = Cycle::new(done);
        if resident.over == resident.slots {
            self.due = self.due.min(resident.over_at);
        }
        self.finish(slot, done)
    }

    /// Returns the event of the end of a warp whose last instruction is done at `done`.
    pub fn finish(&self, slot: usize, done: u64) -> WarpFinish {
        let (block, warp) = self.warp(slot);
        WarpFinish { block, slot, warp, done: Cycle::new(done), issues: self.ran[slot].1 }
    }

    /// Returns whether the end of the warp in this slot has been recorded.
    pub fn is_over(&self, slot: usize) -> bool {
        self.residents[self.cta_slot_of[slot] as usize].over.has(slot)
    }

    fn release_later(&mut self, cta_slot: usize, mut complete: Complete, now: u64) {
        if complete.waiting.is_empty() {
            return;
        }
        // a warp that finishes when a partial barrier releases it may complete a barrier for all
        // warps, and the release time of the latter may have passed
        complete.at = complete.at.max(now);
        self.due = self.due.min(complete.at);
        self.releases.push(Pending { cta_slot, complete });
    }

    /// Releases the warps of a barrier that is due in cycle `now`, and returns the event; `None` if
    /// no barrier is due. A released warp that has no instruction after the barrier stays live
    /// until the engine reports it.
    pub fn release(&mut self, now: u64) -> Option<Release> {
        if self.due > now {
            return None;
        }
        let due = self.releases.iter().position(|release| release.complete.at <= now)?;
        let Pending { cta_slot, complete } = self.releases.remove(due);
        self.at_barrier -= complete.waiting;
        self.reschedule();
        Some(Release {
            block: self.residents[cta_slot].block,
            barrier: complete.barrier,
            slots: complete.waiting,
            at: Cycle::new(now),
        })
    }

    /// Returns whether a block has ended by `now` and still occupies its CTA slot, or whether a CTA slot
    /// has to be opened for blocks again. [`Self::take_ended`] does both.
    #[inline]
    pub fn has_ended(&self, now: u64) -> bool {
        let is_free = |resident: &Resident| resident.free_at.is_some_and(|free| free <= now);
        self.due <= now && (self.ended(now).is_some() || self.residents.iter().any(is_free))
    }

    /// Returns the position in launch order of the first block that has ended by `now`.
    fn ended(&self, now: u64) -> Option<usize> {
        self.age
            .iter()
            .position(|&cta_slot| self.residents[cta_slot as usize].end().is_some_and(|end| end <= now))
    }

    /// Removes a block that has ended by `now` from its CTA slot, stores its result and returns its
    /// position; `None` if there is no such block. If several have ended, it is the one launched
    /// first.
    pub fn take_ended(&mut self, now: u64, result: &mut BlockResult) -> Option<Ended> {
        if self.due > now {
            return None;
        }
        if self.refill > 0 {
            self.free(now);
        }
        let older = self.ended(now)?;
        let cta_slot = self.age.remove(older) as usize;
        let resident = &mut self.residents[cta_slot];
        resident.occupied = false;
        resident.free_at = (self.refill > 0).then_some(now + self.refill);
        let slots = resident.slots;
        let start = Cycle::new(resident.start);
        result.block = resident.block;
        result.start = start;
        result.makespan = Cycles::new(now - resident.start);
        result.issues = resident.issues;
        result.warps.clear();
        result.warps.extend(resident.slots.slots().map(|slot| {
            let (done, issues) = self.ran[slot];
            WarpResult { finish: done - start, issues }
        }));
        self.reschedule();
        Some(Ended { cta_slot, slots, older })
    }

    /// Lets the CTA slots receive blocks that can do so from `now` on.
    fn free(&mut self, now: u64) {
        for resident in &mut self.residents {
            resident.free_at = resident.free_at.filter(|&free| free > now);
        }
        self.reschedule();
    }

    fn reschedule(&mut self) {
        let releases = self.releases.iter().map(|release| release.complete.at);
        let residents = self.residents.iter().filter_map(Resident::next);
        self.due = releases.chain(residents).min().unwrap_or(u64::MAX);
    }

    /// Adds the blocks to the key of a state at the beginning of cycle `now`.
    pub fn key(&self, now: u64, key: &mut Key) {
        key.list(&self.age, |key, &cta_slot| {
            let resident = &self.residents[cta_slot as usize];
            key.put(cta_slot.into());
            key.put(resident.block.index() as u64);
            key.put(resident.begins.map_or(0, |begins| begins.saturating_sub(now) + 1));
            key.put(resident.live.bits());
            key.put(resident.over.bits());
            key.until(resident.after_finished, now);
            key.until(resident.over_at, now);
            resident.barriers.key(now, key);
        });
        if self.refill > 0 {
            let waits = |resident: &Resident| resident.free_at.map_or(0, |free| free.saturating_sub(now) + 1);
            self.residents.iter().for_each(|resident| key.put(waits(resident)));
        }
        key.put(self.at_barrier.bits());
        key.list(&self.releases, |key, Pending { cta_slot, complete }| {
            key.put(*cta_slot as u64);
            key.put(complete.barrier.into());
            key.put(complete.waiting.bits());
            key.until(complete.at, now);
        });
    }
}
