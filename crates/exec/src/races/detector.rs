//! The race detector itself: the location of an access, the fast check by rows, and the start of
//! the precise analysis.

use super::super::span::Span;
use super::atomics::Atomics;
use super::clocks::Clocks;
use super::copies::Copies;
use super::rows::{self, Part, ROW_BYTES, Rows};
use super::shadow::{self, Cell, Moment, Shadow, copier};
use super::varying::{Varying, VaryingWords};
use super::{AccessEffect, Accessor, BlockOrder, Extent, Region};
use warpbound_core::base::{LaneMask, Pc, WARP_SIZE, WarpMask};
use warpbound_core::isa::Space;
use warpbound_core::program::sem::{BarrierKind, exchange, jump, lanewise, memory, no_effect};
use warpbound_core::program::{KernelCode, Sem};

/// The largest number of warps of a block.
const WARPS: usize = 64;

/// The number of runs of words up to which an access is processed run by run.
const FEW_RUNS: u32 = 4;

/// The number of accesses of a section that are logged in case that they must be analysed
/// precisely; further ones are analysed immediately.
const LOGGED: usize = 1 << 15;

/// The number of races that are reported; further ones are counted.
const NAMED: usize = 8;

/// The state of a region.
#[derive(Clone, Debug)]
pub(super) struct Watched {
    pub(super) extent: Extent,
    rows: Rows,
    pub(super) cells: Shadow,
}

/// An access that rows have cleared.
#[derive(Clone, Copy, Debug)]
pub(super) struct Logged {
    pub(super) region: Region,
    pub(super) effect: AccessEffect,
    pub(super) row: u32,
    pub(super) part: Part,
    pub(super) own: Cell,
}

/// A race that was found.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    pub(super) region: Region,
    pub(super) address: u64,
    pub(super) first: Cell,
    pub(super) second: Cell,
    pub(super) block: u32,
}

/// The races that were found.
pub(super) struct Named<'a> {
    pub(super) found: &'a mut Vec<Found>,
    pub(super) unnamed: &'a mut u64,
}

impl Named<'_> {
    /// Adds a race, if it is the first one of its two instructions.
    pub(super) fn add(&mut self, one: Found) {
        let pcs = |found: &Found| (found.first.pc(), found.second.pc());
        if !self.found.iter().any(|known| pcs(known) == pcs(&one)) {
            if self.found.len() < NAMED { self.found.push(one) } else { *self.unnamed += 1 }
        }
    }
}

/// The race detector of a launch.
#[derive(Clone, Debug)]
pub(crate) struct RaceDetector {
    pub(super) order: BlockOrder,
    pub(super) atomics: Atomics,
    /// The values that differ from run to run, if there are any.
    pub(super) varying: Option<Box<Varying>>,
    /// The state by [`Region`].
    pub(super) regions: [Watched; 3],
    /// The regions of global memory that the kernel does not write.
    unwritten: Vec<Extent>,
    /// The instruction of a store to this memory, if one occurred.
    pub(super) stray: Option<Pc>,
    /// The first barrier at which only some threads of a warp arrived, if one did.
    pub(super) split: Option<Pc>,
    pub(super) block: u32,
    /// The current section, and the one in which the block began.
    pub(super) section: u64,
    pub(super) block_section: u64,
    /// The accesses of the section that rows have cleared, and whether its accesses are now
    /// analysed precisely.
    log: Vec<Logged>,
    closer: bool,
    /// The vector clocks, only for programs in which barriers may involve a part of the block.
    pub(super) clocks: Option<Box<Clocks>>,
    /// The asynchronous copies, only for programs that have them.
    pub(super) copies: Option<Box<Copies>>,
    /// The largest number of bytes for the state of each kind of memory.
    pub(super) limit: usize,
    pub(super) found: Vec<Found>,
    pub(super) unnamed: u64,
    pub(super) incomplete: bool,
}

impl RaceDetector {
    /// Creates the detector for the shared memory of a block, module variables and buffers; the
    /// cells of each take at most `limit` bytes. `varying` are the words of global memory that
    /// differ from run to run at the start of the launch.
    pub(crate) fn new(
        program: &KernelCode,
        order: BlockOrder,
        limit: usize,
        [shared, globals, buffers]: [Extent; 3],
        unwritten: Vec<Extent>,
        varying: &VaryingWords,
    ) -> Self {
        let partial = |sem: &Sem| match sem {
            Sem::Barrier(barrier) => barrier.threads.is_some() || barrier.kind == BarrierKind::Arrive,
            Sem::Cluster(_) | Sem::Mbarrier(_) | Sem::Bulk(_) => true,
            lanewise!() | exchange!() | memory!() | no_effect!() | jump!() => false,
            Sem::Matrix(_) | Sem::Call(_) | Sem::CallPointer(_) => false,
        };
        let signals = |sem: &Sem| matches!(sem, Sem::Bulk(bulk) if bulk.signal().is_some());
        let any = |is: &dyn Fn(&Sem) -> bool| program.instrs.iter().any(|instr| is(&instr.sem));
        let regions = [shared, globals, buffers].map(|extent| Watched {
            extent,
            rows: Rows::new(extent.bytes, limit),
            cells: Shadow::new(extent.base, extent.bytes, limit),
        });
        Self {
            order,
            atomics: Atomics::new(program),
            varying: Varying::new(program, order, [shared, globals, buffers], limit, varying),
            regions,
            unwritten,
            stray: None,
            split: None,
            block: 0,
            section: 0,
            block_section: 0,
            log: Vec::new(),
            closer: false,
            clocks: any(&partial).then(|| Box::new(Clocks::new(any(&signals)))),
            copies: any(&|sem| matches!(sem, Sem::AsyncCopy { .. }))
                .then(|| Box::new(Copies::new(WARPS, shared.bytes.div_ceil(ROW_BYTES) as usize))),
            limit,
            found: Vec::new(),
            unnamed: 0,
            incomplete: false,
        }
    }

    /// Starts the next block.
    pub(crate) fn start_block(&mut self, block: u32) {
        self.block = block;
        self.next_section();
        self.block_section = self.section;
        if let Some(clocks) = &mut self.clocks {
            clocks.start_block();
        }
        if let Some(varying) = &mut self.varying {
            varying.start_block();
        }
        if let Some(copies) = &mut self.copies {
            copies.start_block();
        }
        if self.order == BlockOrder::OneByOne {
            // accesses before this block are ordered before it
            for region in [Region::Globals, Region::Buffers] {
                let watched = &mut self.regions[region as usize];
                watched.rows.make_room();
                watched.cells.make_room();
            }
        }
    }

    fn next_section(&mut self) {
        self.section += 1;
        self.closer = false;
        self.log.clear();
    }

    /// Records that only some threads of a warp arrive at a barrier.
    pub(crate) fn split_barrier(&mut self, pc: Pc) {
        self.split = self.split.or(Some(pc));
    }

    /// Records that a warp arrives at a barrier.
    pub(crate) fn arrive(&mut self, warp: usize, barrier: usize) {
        if let Some(clocks) = &mut self.clocks {
            clocks.arrive(warp, barrier);
        }
    }

    /// Records that a barrier releases its waiting warps; if it is for all warps, the `ended` ones
    /// count as having arrived.
    pub(crate) fn release(&mut self, barrier: usize, waiting: WarpMask, ended: WarpMask) {
        match &mut self.clocks {
            Some(clocks) => clocks.release(barrier, waiting, ended),
            None => self.next_section(),
        }
    }

    /// Records that a warp arrives at the mbarrier object at this address of shared memory;
    /// `completes` says whether this completes the phase.
    pub(crate) fn arrive_at_object(&mut self, warp: usize, address: u64, completes: bool) {
        if let Some(clocks) = &mut self.clocks {
            clocks.arrive_at_object(warp, address, completes);
        }
    }

    /// Records that a warp starts a bulk copy, which will arrive at an mbarrier object.
    pub(crate) fn start_copy(&mut self, warp: usize) {
        if let Some(clocks) = &mut self.clocks {
            clocks.start_copy(warp);
        }
    }

    /// Records that a bulk copy of a warp is complete and arrives at an mbarrier object, like
    /// [`RaceDetector::arrive_at_object`].
    pub(crate) fn copy_arrives(&mut self, warp: usize, address: u64, completes: bool) {
        self.arrive_at_object(copier(warp), address, completes);
    }

    /// Records that a warp observes the completion of a phase of the mbarrier object at this
    /// address.
    pub(crate) fn learn_of_object(&mut self, warp: usize, address: u64) {
        if let Some(clocks) = &mut self.clocks {
            clocks.learn_of_object(warp, address);
        }
    }

    /// Returns whether blocks before the running one may still access this region.
    #[inline(always)]
    pub(super) fn overlaps(&self, region: Region) -> bool {
        self.order == BlockOrder::SideBySide && region != Region::Shared
    }

    #[inline(always)]
    fn moment(&self, own: Cell, region: Region) -> Moment {
        let overlap = self.overlaps(region);
        Moment { own, section: self.section, block: self.block_section, overlap }
    }

    /// Returns the region of an address in this space; `None` for local memory, and for memory that
    /// cannot be written.
    #[inline(always)]
    pub(super) fn region(&self, space: Space, address: u64) -> Option<Region> {
        match space {
            Space::Shared => Some(Region::Shared),
            Space::Global | Space::Generic => {
                let buffers = &self.regions[Region::Buffers as usize].extent;
                Some(if buffers.covers(address) { Region::Buffers } else { Region::Globals })
            }
            Space::Local | Space::Const | Space::Param => None,
        }
    }

    /// Returns whether the accesses to a region are analysed cell by cell. Barriers that involve a
    /// part of the block, and concurrent blocks, have an order that sections do not represent.
    #[inline(always)]
    pub(super) fn is_close(&self, region: Region) -> bool {
        self.closer || self.clocks.is_some() || self.overlaps(region)
    }

    /// Returns whether the kernel does not write the memory at this address of global memory.
    #[inline(always)]
    pub(super) fn is_unwritten(&self, address: u64) -> bool {
        self.unwritten.iter().any(|extent| extent.covers(address))
    }

    /// Records the access of lanes of a warp, whose span begins at `low` of the space.
    #[inline(always)]
    pub(crate) fn span(
        &mut self,
        by: Accessor,
        (space, low): (Space, u64),
        span: &Span,
        lanes: LaneMask,
        size: u64,
        mut effect: AccessEffect,
    ) {
        if self.varying.is_some() {
            effect = self.vary_span(by, (space, low), span, lanes, size, effect);
        }
        let Some((region, own)) = self.enter(by, space, low, effect) else { return };
        if self.copies.is_some() {
            let at = self.offset(region, low);
            if size >= 4 {
                rows::of_lanes(at, span, lanes, size, |row, words| {
                    self.meet_copies((region, row, words), own, effect)
                });
            } else {
                for_runs(span, lanes, size, |start, bytes| {
                    rows::of_run(at + start, bytes, true, |row, part| {
                        self.meet_copies((region, row, part.words()), own, effect);
                    });
                });
            }
        }
        if self.is_close(region) {
            return self.span_closer((region, low), span, lanes, size, own, effect);
        }
        let harmless = self.is_harmless(own, effect);
        let at = self.offset(region, low);
        if size >= 4 {
            rows::of_lanes(at, span, lanes, size, |row, words| {
                self.part(Logged { region, effect, row, part: Part::Words(words), own }, harmless);
            });
        } else {
            for_runs(span, lanes, size, |start, bytes| {
                rows::of_run(at + start, bytes, true, |row, part| {
                    self.part(Logged { region, effect, row, part, own }, harmless);
                });
            });
        }
    }

    /// Records an access by one lane.
    #[inline(always)]
    pub(crate) fn access(
        &mut self,
        by: Accessor,
        space: Space,
        address: u64,
        size: u64,
        effect: AccessEffect,
    ) {
        self.access_as(by, false, (space, address), size, effect);
    }

    /// Records an access by a bulk copy, which may signal its completion.
    pub(crate) fn by_bulk_copy(
        &mut self,
        by: Accessor,
        signals: bool,
        place: (Space, u64),
        size: u64,
        effect: AccessEffect,
    ) {
        self.access_as(by, signals, place, size, effect);
    }

    #[inline(always)]
    fn access_as(
        &mut self,
        by: Accessor,
        signals: bool,
        (space, address): (Space, u64),
        size: u64,
        mut effect: AccessEffect,
    ) {
        if self.varying.is_some() {
            effect = self.vary(by, (space, address), size, effect);
        }
        let Some((region, own)) = self.enter(by, space, address, effect) else { return };
        let own = if signals { own.copied() } else { own };
        if self.copies.is_some() {
            rows::of_run(self.offset(region, address), size, true, |row, part| {
                self.meet_copies((region, row, part.words()), own, effect);
            });
        }
        if self.is_close(region) {
            return self.run(region, address, size, size, own, effect);
        }
        let harmless = self.is_harmless(own, effect);
        rows::of_run(self.offset(region, address), size, size < 4, |row, part| {
            self.part(Logged { region, effect, row, part, own }, harmless);
        });
    }

    /// Returns the region of an access and the cell that it leaves, if it has to be recorded.
    #[inline(always)]
    fn enter(
        &mut self,
        by: Accessor,
        space: Space,
        address: u64,
        effect: AccessEffect,
    ) -> Option<(Region, Cell)> {
        let region = self.region(space, address)?;
        if region != Region::Shared && self.is_unwritten(address) {
            if effect == AccessEffect::Reads {
                return None;
            }
            self.stray = self.stray.or(Some(by.pc));
        }
        Some((region, Cell::new(by.warp, by.pc.get())))
    }

    /// Returns the offset of an accessed address in its region.
    #[inline(always)]
    pub(super) fn offset(&self, region: Region, address: u64) -> u64 {
        address.wrapping_sub(self.regions[region as usize].extent.base)
    }

    #[inline(always)]
    fn is_harmless(&self, own: Cell, effect: AccessEffect) -> bool {
        effect == AccessEffect::Updates && self.atomics.is_harmless(own.pc())
    }

    /// Records an access to a part of a row.
    #[inline(always)]
    pub(super) fn part(&mut self, access: Logged, harmless: bool) {
        if !self.closer {
            let rows = &mut self.regions[access.region as usize].rows;
            let words = access.part.words();
            match rows.clear(access.row, words, (self.section, access.own), access.effect, harmless) {
                Some(true) => {
                    if self.log.len() == LOGGED {
                        self.look_back();
                    }
                    return self.log.push(access);
                }
                Some(false) => {}
                None => {
                    self.incomplete = true;
                    return;
                }
            }
            self.look_back();
            self.closer = true;
        }
        self.replay(access);
    }

    /// Analyses precisely the accesses that rows have cleared.
    #[cold]
    fn look_back(&mut self) {
        let mut log = std::mem::take(&mut self.log);
        log.drain(..).for_each(|access| self.replay(access));
        self.log = log;
    }

    #[cold]
    pub(super) fn replay(&mut self, Logged { region, effect, row, part, own }: Logged) {
        let first = self.regions[region as usize].extent.base + u64::from(row) * ROW_BYTES;
        let size = if matches!(part, Part::Words(_)) { 4 } else { 1 };
        for (start, bytes) in part.runs() {
            self.run(region, first + start, bytes, size, own, effect);
        }
    }

    /// Records an access like [`RaceDetector::span`], cell by cell.
    fn span_closer(
        &mut self,
        (region, low): (Region, u64),
        span: &Span,
        lanes: LaneMask,
        size: u64,
        own: Cell,
        effect: AccessEffect,
    ) {
        if size == 4 && self.clocks.is_none() && starts(span, lanes, size).count_ones() > FEW_RUNS {
            return self.words((region, low), span, lanes, own, effect);
        }
        for_runs(span, lanes, size, |start, bytes| self.run(region, low + start, bytes, size, own, effect));
    }

    /// Records an access like [`RaceDetector::span_closer`], by lanes with scattered words.
    fn words(
        &mut self,
        (region, low): (Region, u64),
        span: &Span,
        lanes: LaneMask,
        own: Cell,
        effect: AccessEffect,
    ) {
        let harmless = self.is_harmless(own, effect);
        let section = self.section;
        let cells = &mut self.regions[region as usize].cells;
        let mut left = LaneMask::empty();
        for lane in lanes.lanes() {
            let word = cells.word(low + u64::from(span.offsets.0[lane]), section);
            let done =
                word.and_then(|(reader, writer)| shadow::remember(reader, writer, own, effect, harmless));
            if done.is_none() {
                left |= LaneMask::lane(lane);
            }
        }
        for lane in left.lanes() {
            self.run(region, low + u64::from(span.offsets.0[lane]), 4, 4, own, effect);
        }
    }

    /// Records an access to the bytes from `address` on, cell by cell; the access of each lane has
    /// `size` bytes.
    #[inline]
    fn run(
        &mut self,
        region: Region,
        mut address: u64,
        mut bytes: u64,
        size: u64,
        own: Cell,
        effect: AccessEffect,
    ) {
        let (harmless, moment) = (self.is_harmless(own, effect), self.moment(own, region));
        let clocked = self.clocks.is_some();
        while bytes > 0 {
            let cells = &mut self.regions[region as usize].cells;
            let Some((mut cells, done)) = cells.cells(address, bytes, size, &moment) else {
                self.incomplete = true;
                return;
            };
            if clocked || cells.remember(own, effect, harmless).is_none() {
                self.examine(region, (address, done), size, &moment, effect);
            }
            (address, bytes) = (address + done, bytes - done);
        }
    }
}

/// Returns the lanes whose access does not begin where that of the previous lane begins or ends.
#[inline(always)]
fn starts(span: &Span, lanes: LaneMask, size: u64) -> u32 {
    let offsets = &span.offsets.0;
    let mut apart = 0;
    for lane in 1..WARP_SIZE {
        let step = u64::from(offsets[lane].wrapping_sub(offsets[lane - 1]));
        apart |= u32::from(step != 0 && step != size) << lane;
    }
    lanes.bits() & (apart | !(lanes.bits() << 1))
}

/// Calls `each` for the runs of bytes that lanes touch, with the offset of the run in the span and
/// its number of bytes.
#[inline(always)]
pub(super) fn for_runs(span: &Span, lanes: LaneMask, size: u64, mut each: impl FnMut(u64, u64)) {
    let offset = |lane: u32| u64::from(span.offsets.0[lane as usize]);
    let mut starts = starts(span, lanes, size);
    while starts != 0 {
        let first = starts.trailing_zeros();
        starts &= starts - 1;
        // up to the next start, or to a lane that does not take part
        let until = starts.trailing_zeros().min(first + (lanes.bits() >> first).trailing_ones());
        each(offset(first), offset(until - 1) + size - offset(first));
    }
}

#[cfg(test)]
#[path = "detector_tests.rs"]
mod tests;
