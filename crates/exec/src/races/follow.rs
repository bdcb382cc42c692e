//! The state that the race detector tracks besides accessed locations: asynchronous copies in
//! flight, and values that differ from run to run.

use super::super::span::Span;
use super::detector::{Found, Logged, Named, RaceDetector, for_runs};
use super::rows::{self, Part, ROW_BYTES};
use super::shadow::Cell;
use super::varying::{Touch, Varying, VaryingWords};
use super::{AccessEffect, Accessor, BlockOrder, Region};
use warpbound_core::base::LaneMask;
use warpbound_core::isa::Space;

/// Asynchronous copies.
impl RaceDetector {
    /// Checks an access to words of a row against the copies in flight: it races with those that
    /// write the words, and a store also with those that read them.
    #[inline(always)]
    pub(super) fn meet_copies(
        &mut self,
        (region, row, words): (Region, u32, u32),
        own: Cell,
        effect: AccessEffect,
    ) {
        let Some(copies) = &self.copies else { return };
        let may_race = match (region, effect) {
            (Region::Shared, _) => copies.writes(row, words),
            (_, AccessEffect::Writes | AccessEffect::Updates) => copies.read_global(),
            (_, AccessEffect::Reads | AccessEffect::Rewrites) => false,
        };
        if may_race {
            self.race_with_a_copy((region, row, words), own);
        }
    }

    #[cold]
    fn race_with_a_copy(&mut self, (region, row, words): (Region, u32, u32), own: Cell) {
        let piece = self.copies.as_ref().and_then(|copies| copies.find(region, row, words));
        let Some(piece) = piece else { return };
        let word = u64::from((piece.words & words).trailing_zeros());
        let address = self.regions[region as usize].extent.base + u64::from(row) * ROW_BYTES + 4 * word;
        let first = Cell::new(piece.warp, piece.pc.get());
        let found = Found { region, address, first, second: own, block: self.block };
        Named { found: &mut self.found, unnamed: &mut self.unnamed }.add(found);
    }

    /// Records that a lane's asynchronous copy starts, whose accesses have been recorded already:
    /// the address and number of bytes that it reads in global memory, and those that it writes in
    /// shared memory.
    pub(crate) fn copy(&mut self, by: Accessor, lane: usize, from: (u64, u64), to: (u64, u64)) {
        for (space, (address, bytes)) in [(Space::Global, from), (Space::Shared, to)] {
            let Some(region) = self.region(space, address) else { continue };
            if bytes == 0 || region != Region::Shared && self.is_unwritten(address) {
                continue;
            }
            let at = self.offset(region, address);
            let Some(copies) = &mut self.copies else { return };
            rows::of_run(at, bytes, true, |row, part| {
                copies.start((region, row, part.words()), (by.warp, by.pc), lane);
            });
        }
    }

    /// Records that a warp closes its group of asynchronous copies.
    pub(crate) fn commit_copies(&mut self, warp: usize) {
        if let Some(copies) = &mut self.copies {
            copies.commit(warp);
        }
    }

    /// Records that lanes of a warp have waited until at most `pending` closed groups are in
    /// flight.
    pub(crate) fn wait_for_copies(&mut self, warp: usize, pending: usize, lanes: LaneMask) {
        let Some(copies) = &mut self.copies else { return };
        for piece in copies.wait(warp, pending, lanes) {
            if piece.region != Region::Shared {
                continue;
            }
            // the copy may have happened as late as this
            let (region, row) = (piece.region, piece.row);
            let (own, part) = (Cell::new(warp, piece.pc.get()), Part::Words(piece.words));
            let access = Logged { region, effect: AccessEffect::Writes, row, part, own };
            if self.is_close(region) { self.replay(access) } else { self.part(access, false) }
        }
    }
}

/// Values that differ from run to run.
impl RaceDetector {
    /// Records that an `inc` or `dec` of a cell wraps at this value.
    pub(crate) fn wraps_at(&mut self, by: Accessor, space: Space, address: u64, value: u64) {
        let Some(region) = self.region(space, address) else { return };
        let cell = (region == Region::Shared, address);
        let (time, most) = (self.time(region), self.limit / 64);
        self.incomplete |= !self.atomics.wraps_at(by.pc, cell, value, time, most);
    }

    /// Returns a time that changes only where all earlier accesses to a region are ordered before
    /// the later ones.
    fn time(&self, region: Region) -> u64 {
        match self.clocks {
            _ if self.overlaps(region) => 0,
            Some(_) => self.block_section,
            None => self.section,
        }
    }

    /// Tracks which of the values that lanes load and store differ from run to run. Returns the
    /// effect of the access: the one in this run, or the one that it may have in another run if
    /// that is stronger.
    #[inline(never)]
    pub(super) fn vary_span(
        &mut self,
        by: Accessor,
        (space, low): (Space, u64),
        span: &Span,
        lanes: LaneMask,
        size: u64,
        effect: AccessEffect,
    ) -> AccessEffect {
        if space == Space::Local {
            for lane in lanes.lanes() {
                self.vary(by, (space, low + u64::from(span.offsets.0[lane])), size, effect);
            }
        } else if size < 4 {
            for_runs(span, lanes, size, |start, bytes| {
                self.vary(by, (space, low + start), bytes, effect);
            });
        } else if let Some((varying, touch, at)) = self.touch(by, (space, low), effect) {
            rows::of_lanes(at, span, lanes, size, |row, words| {
                varying.touch(&Touch { row, words, whole: true, ..touch });
            });
        }
        self.in_some_run(by, effect)
    }

    /// Tracks values like [`RaceDetector::vary_span`], for a run of bytes.
    #[inline(never)]
    pub(super) fn vary(
        &mut self,
        by: Accessor,
        (space, address): (Space, u64),
        bytes: u64,
        effect: AccessEffect,
    ) -> AccessEffect {
        if let (Space::Local, Some(varying)) = (space, &mut self.varying) {
            varying.touch_local(by.pc, address, bytes, effect);
        } else if let Some((varying, touch, at)) = self.touch(by, (space, address), effect) {
            let whole = at.is_multiple_of(4) && bytes.is_multiple_of(4);
            rows::of_run(at, bytes, true, |row, part| {
                varying.touch(&Touch { row, words: part.words(), whole, ..touch });
            });
        }
        self.in_some_run(by, effect)
    }

    /// Returns the data to record an access to shared or global memory, except for its words, and
    /// its offset in its region.
    fn touch(
        &mut self,
        by: Accessor,
        (space, low): (Space, u64),
        effect: AccessEffect,
    ) -> Option<(&mut Varying, Touch, u64)> {
        let region = self.region(space, low)?;
        let (at, time) = (self.offset(region, low), self.time(region));
        let block = if self.order == BlockOrder::SideBySide { self.block } else { 0 };
        let adder = block.wrapping_mul(64).wrapping_add(by.warp as u32).wrapping_add(1).max(1);
        let touch = Touch { pc: by.pc, region, row: 0, words: 0, whole: false, effect, adder, time };
        Some((self.varying.as_deref_mut()?, touch, at))
    }

    /// Returns the effect of an access, taking other runs into account: a store of a value that
    /// differs from run to run may change the memory there, even if it does not in this run.
    fn in_some_run(&self, by: Accessor, effect: AccessEffect) -> AccessEffect {
        let varies = self.varying.as_ref().is_some_and(|varying| varying.stores(by.pc));
        if effect == AccessEffect::Rewrites && varies { AccessEffect::Writes } else { effect }
    }

    /// Returns the words of global memory that the launch leaves with values that differ from run
    /// to run.
    pub(crate) fn varying_words(&self) -> VaryingWords {
        self.varying.as_ref().map_or_else(Vec::new, |varying| varying.words())
    }
}
