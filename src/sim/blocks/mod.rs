//! The life of a block on an SM, for both engines: it gets a place and slots, its warps begin, arrive at
//! barriers and are let go, have no instruction left and are over, and with the last of them it ends.
//!
//! Engines keep time. They say what happened and when, and this module answers with what follows, which
//! they carry out on what they know of warps: a [`Release`] is both the event and the slots that may go on,
//! an [`Ended`] block makes room. Between the two lies only [`Blocks::due`], the next cycle in which
//! something follows from what was said before.
//!
//! What the engines do not have in common is what they say. Under the paper model a warp is over at a cycle
//! that is known when its last instruction issues; in a pipeline it is not known before it is there.
//! And with a cost of launching, the warps of a block begin later than it is placed.

mod barriers;
mod layout;
#[cfg(test)]
mod tests;

pub(super) use layout::Layout;

use barriers::{Arrival, Barriers, Complete};

use super::SLOTS;
use super::policy::Placed;
use super::result::{BlockResult, WarpResult};
use crate::base::{BlockId, Cycle, Cycles, WarpId, WarpMask};
use crate::path::{BarrierUse, BlockPaths};
use crate::trace::{BlockStart, Release, WarpFinish};

/// Room for a block, and the block in it.
#[derive(Clone, Debug, Default)]
struct Resident {
    occupied: bool,
    block: BlockId,
    slots: WarpMask,
    /// Warps that have instructions left.
    live: WarpMask,
    /// Warps that have none, and at a known cycle everything of theirs is done.
    over: WarpMask,
    start: u64,
    /// When its warps begin; `None` once they have.
    begins: Option<u64>,
    issues: u64,
    /// One cycle after the last issue of any warp that has no instruction left.
    after_finished: u64,
    /// The last cycle at which a warp of `over` is over; when the block ends, once all are among them.
    over_at: u64,
    barriers: Barriers,
}

impl Resident {
    /// When the block ends, if that is known.
    fn end(&self) -> Option<u64> {
        (self.occupied && self.begins.is_none() && self.over == self.slots).then_some(self.over_at)
    }

    /// The next cycle in which something happens to the block by itself.
    fn next(&self) -> Option<u64> {
        self.begins.or_else(|| self.end())
    }
}

/// A complete barrier whose release lies ahead.
#[derive(Clone, Copy, Debug)]
struct Pending {
    place: usize,
    complete: Complete,
}

/// A block that has ended and made room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ended {
    /// Where it was.
    pub place: usize,
    /// The slots of its warps.
    pub slots: WarpMask,
    /// How many blocks were on the SM that had been launched before it.
    pub older: usize,
}

/// The blocks on an SM.
#[derive(Clone, Debug)]
pub(super) struct Blocks {
    layout: Layout,
    place_of: [u8; SLOTS],
    /// By place.
    residents: Vec<Resident>,
    /// Places of the residents in launch order.
    age: Vec<u8>,
    live: WarpMask,
    at_barrier: WarpMask,
    /// By slot: how its warp went, with instants instead of times since the start of the block.
    ran: [(Cycle, u64); SLOTS],
    /// In the order in which they were completed.
    releases: Vec<Pending>,
    due: u64,
}

impl Blocks {
    /// An SM without blocks.
    pub fn new(layout: Layout) -> Self {
        let mut blocks = Self {
            layout,
            place_of: [0; SLOTS],
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

    /// Makes them new: no blocks, at cycle 0 of a new run, with these places.
    pub fn restart(&mut self, places: Layout) {
        let Self { layout, place_of, residents, age, live, at_barrier, ran, releases, due } = self;
        *layout = places;
        *place_of = places.place_of_slots();
        residents.clear();
        residents.resize_with(places.places(), Resident::default);
        age.clear();
        *live = WarpMask::empty();
        *at_barrier = WarpMask::empty();
        *ran = [(Cycle::ZERO, 0); SLOTS];
        releases.clear();
        *due = u64::MAX;
    }

    /// Whether no block is on the SM.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.age.is_empty()
    }

    /// A place without a block, if there is one.
    pub fn free_place(&self) -> Option<usize> {
        self.residents.iter().position(|resident| !resident.occupied)
    }

    /// Warps that have instructions left.
    #[inline]
    pub fn live(&self) -> WarpMask {
        self.live
    }

    /// Those of them that wait at a barrier.
    #[inline]
    pub fn at_barrier(&self) -> WarpMask {
        self.at_barrier
    }

    /// The next cycle in which a block begins or ends or a barrier lets warps go, as far as is known;
    /// `u64::MAX` if nothing is.
    #[inline]
    pub fn due(&self) -> u64 {
        self.due
    }

    /// The place of a slot, and the warp of the block there that has it.
    #[inline]
    pub fn seat(&self, slot: usize) -> (usize, WarpId) {
        let place = self.place_of[slot] as usize;
        (place, WarpId::from_index(slot - self.layout.first_slot(place)))
    }

    /// The block and the warp that have a slot.
    pub fn warp(&self, slot: usize) -> (BlockId, WarpId) {
        let (place, warp) = self.seat(slot);
        (self.residents[place].block, warp)
    }

    /// The place and the slots of each block, the oldest first.
    pub fn residents(&self) -> impl Iterator<Item = (usize, WarpMask)> + '_ {
        self.age.iter().map(|&place| (place as usize, self.residents[place as usize].slots))
    }

    /// Puts a block, which fits, into a free place, now. Its warps are to begin at `begins`: see
    /// [`Blocks::begin`].
    pub fn place(&mut self, place: usize, paths: &BlockPaths, now: u64, begins: u64) -> BlockStart {
        let (block, warps) = (paths.block, paths.warps.len());
        let first_slot = self.layout.first_slot(place);
        let slots = (first_slot..first_slot + warps).fold(WarpMask::empty(), |s, w| s | WarpMask::slot(w));
        let resident = &mut self.residents[place];
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
        self.age.push(place as u8);
        self.due = self.due.min(begins);
        BlockStart { block, first_slot, warps, at: Cycle::new(now) }
    }

    /// A place whose block was to begin by now and has not.
    pub fn to_begin(&self, now: u64) -> Option<usize> {
        if self.due > now {
            return None;
        }
        self.residents.iter().position(|r| r.occupied && r.begins.is_some_and(|begins| begins <= now))
    }

    /// The warps of the block in a place begin. All are live; of those without an instruction the engine
    /// says so next.
    pub fn begin(&mut self, place: usize) -> Placed {
        let resident = &mut self.residents[place];
        resident.begins = None;
        resident.live = resident.slots;
        self.live |= resident.slots;
        let (block, slots, at) = (resident.block, resident.slots, Cycle::new(resident.start));
        self.reschedule();
        Placed { block, first_slot: self.layout.first_slot(place), slots, at }
    }

    /// A warp has issued a barrier that is done at `done`.
    pub fn arrived(&mut self, slot: usize, barrier: BarrierUse, waits: bool, done: u64, now: u64) {
        if waits {
            self.at_barrier |= WarpMask::slot(slot);
        }
        let place = self.place_of[slot] as usize;
        let resident = &mut self.residents[place];
        let arrival = Arrival { slot, barrier: barrier.id, expected: barrier.warps, waits, done };
        if let Some(complete) = resident.barriers.arrive(arrival, resident.live, resident.after_finished) {
            self.release_later(place, complete, now);
        }
    }

    /// A warp has issued so many instructions, at last in `last_issue`, and has none left.
    pub fn left(&mut self, slot: usize, issues: u32, last_issue: u64, now: u64) {
        let place = self.place_of[slot] as usize;
        let resident = &mut self.residents[place];
        debug_assert!(resident.live.has(slot));
        self.live -= WarpMask::slot(slot);
        resident.live -= WarpMask::slot(slot);
        resident.issues += u64::from(issues);
        self.ran[slot].1 = u64::from(issues);
        if issues > 0 {
            resident.after_finished = resident.after_finished.max(last_issue + 1);
        }
        while let Some(complete) = {
            let resident = &mut self.residents[place];
            if resident.live.is_empty() {
                None
            } else {
                resident.barriers.finished(resident.live, resident.after_finished)
            }
        } {
            self.release_later(place, complete, now);
        }
    }

    /// A warp that has no instruction left is over at `done`, when the last of them is done, but not
    /// before now. The block ends when all its warps are over.
    pub fn over(&mut self, slot: usize, done: u64, now: u64) -> WarpFinish {
        let resident = &mut self.residents[self.place_of[slot] as usize];
        debug_assert!(!resident.live.has(slot) && !resident.over.has(slot));
        resident.over |= WarpMask::slot(slot);
        resident.over_at = resident.over_at.max(done).max(now);
        self.ran[slot].0 = Cycle::new(done);
        if resident.over == resident.slots {
            self.due = self.due.min(resident.over_at);
        }
        self.finish(slot, done)
    }

    /// What there is to be said of a warp without instructions left, the last of which is done at `done`.
    pub fn finish(&self, slot: usize, done: u64) -> WarpFinish {
        let (block, warp) = self.warp(slot);
        WarpFinish { block, slot, warp, done: Cycle::new(done), issues: self.ran[slot].1 }
    }

    /// Whether it was said of the warp in this slot that it is over.
    pub fn is_over(&self, slot: usize) -> bool {
        self.residents[self.place_of[slot] as usize].over.has(slot)
    }

    fn release_later(&mut self, place: usize, mut complete: Complete, now: u64) {
        if complete.waiting.is_empty() {
            return;
        }
        // a warp that finishes when a partial barrier lets it go may complete a barrier for all
        // whose time has come before
        complete.at = complete.at.max(now);
        self.due = self.due.min(complete.at);
        self.releases.push(Pending { place, complete });
    }

    /// A barrier whose time has come lets its warps go, now. Those among them that have no instruction
    /// after the barrier are live until the engine says so.
    pub fn release(&mut self, now: u64) -> Option<Release> {
        if self.due > now {
            return None;
        }
        let due = self.releases.iter().position(|release| release.complete.at <= now)?;
        let Pending { place, complete } = self.releases.remove(due);
        self.at_barrier -= complete.waiting;
        self.reschedule();
        Some(Release {
            block: self.residents[place].block,
            barrier: complete.barrier,
            slots: complete.waiting,
            at: Cycle::new(now),
        })
    }

    /// Whether a block has ended by now and is still in its place.
    #[inline]
    pub fn has_ended(&self, now: u64) -> bool {
        self.due <= now && self.ended(now).is_some()
    }

    /// Where in launch order the first block is that has ended by now.
    fn ended(&self, now: u64) -> Option<usize> {
        self.age.iter().position(|&place| self.residents[place as usize].end().is_some_and(|end| end <= now))
    }

    /// Takes a block that has ended by now out of its place, and says how it went. Of several, the one
    /// launched first.
    pub fn take_ended(&mut self, now: u64, result: &mut BlockResult) -> Option<Ended> {
        if self.due > now {
            return None;
        }
        let older = self.ended(now)?;
        let place = self.age.remove(older) as usize;
        let resident = &mut self.residents[place];
        resident.occupied = false;
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
        Some(Ended { place, slots, older })
    }

    fn reschedule(&mut self) {
        let releases = self.releases.iter().map(|release| release.complete.at);
        let residents = self.residents.iter().filter(|resident| resident.occupied).filter_map(Resident::next);
        self.due = releases.chain(residents).min().unwrap_or(u64::MAX);
    }
}
