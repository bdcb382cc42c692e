//! The watch itself: where an access goes, what rows clear of it, and what is looked at closer.

use super::super::span::Span;
use super::atomics::Atomics;
use super::clocks::Clocks;
use super::copies::Copies;
use super::rows::{self, Part, ROW_BYTES, Rows};
use super::shadow::{self, Cell, Moment, Shadow};
use super::varying::{Touch, Varying, VaryingWords};
use super::{BlockOrder, By, Deed, Extent, Region};
use crate::base::{LaneMask, Pc, WARP_SIZE, WarpMask};
use crate::isa::Space;
use crate::program::sem::BarrierKind;
use crate::program::{Program, Sem};

/// Warps of a block at most.
const WARPS: usize = 64;

/// Runs of words that are gone through as runs.
const FEW_RUNS: u32 = 4;

/// Accesses of a section that are kept in case that they must be looked at closer; beyond these they
/// are looked at as they come.
const LOGGED: usize = 1 << 15;

/// Races that are named; the rest is counted.
const NAMED: usize = 8;

/// What is known of a region.
#[derive(Clone, Debug)]
pub(super) struct Watched {
    extent: Extent,
    rows: Rows,
    pub(super) cells: Shadow,
}

/// An access that rows have cleared.
#[derive(Clone, Copy, Debug)]
struct Logged {
    region: Region,
    deed: Deed,
    row: u32,
    part: Part,
    own: Cell,
}

/// A race as it was found.
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
    /// One more, if it is the first of its instructions.
    pub(super) fn add(&mut self, one: Found) {
        let pcs = |found: &Found| (found.first.pc(), found.second.pc());
        if !self.found.iter().any(|known| pcs(known) == pcs(&one)) {
            if self.found.len() < NAMED { self.found.push(one) } else { *self.unnamed += 1 }
        }
    }
}

/// Watches the memory of a launch.
#[derive(Clone, Debug)]
pub(in crate::exec) struct Watch {
    order: BlockOrder,
    pub(super) atomics: Atomics,
    /// Values that differ from run to run, if there are any.
    pub(super) varying: Option<Box<Varying>>,
    /// By [`Region`].
    pub(super) regions: [Watched; 3],
    /// Memory that nobody writes: a few buffers and module variables.
    unwritten: Vec<Extent>,
    /// A store to it all the same.
    pub(super) stray: Option<Pc>,
    pub(super) block: u32,
    /// The running section, and the one in which the block began.
    section: u64,
    block_section: u64,
    /// What rows have cleared in the section, and whether its accesses are looked at closer by now.
    log: Vec<Logged>,
    closer: bool,
    /// Only for programs in which barriers may take a part of the block.
    pub(super) clocks: Option<Box<Clocks>>,
    /// Only for programs with asynchronous copies.
    copies: Option<Box<Copies>>,
    /// Bytes that what is remembered of each kind of memory may take.
    pub(super) limit: usize,
    pub(super) found: Vec<Found>,
    pub(super) unnamed: u64,
    pub(super) incomplete: bool,
}

impl Watch {
    /// A watch over shared memory of a block, module variables and buffers; the cells of each take
    /// at most `limit` bytes. The launch finds `varying` words in global memory.
    pub(in crate::exec) fn new(
        program: &Program,
        order: BlockOrder,
        limit: usize,
        [shared, globals, buffers]: [Extent; 3],
        unwritten: Vec<Extent>,
        varying: &VaryingWords,
    ) -> Self {
        let partial = |sem: &Sem| match sem {
            Sem::Barrier(barrier) => barrier.threads.is_some() || barrier.kind == BarrierKind::Arrive,
            Sem::Mbarrier(_) => true,
            _ => false,
        };
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
            block: 0,
            section: 0,
            block_section: 0,
            log: Vec::new(),
            closer: false,
            clocks: program.instrs.iter().any(|instr| partial(&instr.sem)).then(|| Box::new(Clocks::new())),
            copies: program
                .instrs
                .iter()
                .any(|instr| matches!(instr.sem, Sem::AsyncCopy { .. }))
                .then(|| Box::new(Copies::new(WARPS, shared.bytes.div_ceil(ROW_BYTES) as usize))),
            limit,
            found: Vec::new(),
            unnamed: 0,
            incomplete: false,
        }
    }

    /// The next block starts.
    pub(in crate::exec) fn start_block(&mut self, block: u32) {
        self.block = block;
        self.next_section();
        self.block_section = self.section;
        if let Some(clocks) = &mut self.clocks {
            **clocks = Clocks::new();
        }
        if let Some(varying) = &mut self.varying {
            varying.start_block();
        }
        if let Some(copies) = &mut self.copies {
            copies.start_block();
        }
        if self.order == BlockOrder::OneByOne {
            // what was before this block is ordered before it
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

    /// A warp comes to a barrier.
    pub(in crate::exec) fn arrive(&mut self, warp: usize, barrier: usize) {
        if let Some(clocks) = &mut self.clocks {
            clocks.arrive(warp, barrier);
        }
    }

    /// A barrier opens for those who wait; `ended` warps count as having come if it is for all.
    pub(in crate::exec) fn release(&mut self, barrier: usize, waiting: WarpMask, ended: WarpMask) {
        match &mut self.clocks {
            Some(clocks) => clocks.release(barrier, waiting, ended),
            None => self.next_section(),
        }
    }

    /// A warp arrives at the mbarrier object at this address of shared memory; whether that
    /// completes the phase.
    pub(in crate::exec) fn arrive_at_object(&mut self, warp: usize, address: u64, completes: bool) {
        if let Some(clocks) = &mut self.clocks {
            clocks.arrive_at_object(warp, address, completes);
        }
    }

    /// A warp learns that a phase of the mbarrier object at this address has completed.
    pub(in crate::exec) fn learn_of_object(&mut self, warp: usize, address: u64) {
        if let Some(clocks) = &mut self.clocks {
            clocks.learn_of_object(warp, address);
        }
    }

    /// Whether blocks before the running one may still access this region.
    #[inline(always)]
    fn overlaps(&self, region: Region) -> bool {
        self.order == BlockOrder::SideBySide && region != Region::Shared
    }

    #[inline(always)]
    fn moment(&self, own: Cell, region: Region) -> Moment {
        let overlap = self.overlaps(region);
        Moment { own, section: self.section, block: self.block_section, overlap }
    }

    /// Where an address of this space lies; `None` if its memory is a thread's, or cannot be written.
    #[inline(always)]
    fn region(&self, space: Space, address: u64) -> Option<Region> {
        match space {
            Space::Shared => Some(Region::Shared),
            Space::Global | Space::Generic => {
                let buffers = &self.regions[Region::Buffers as usize].extent;
                Some(if buffers.covers(address) { Region::Buffers } else { Region::Globals })
            }
            Space::Local | Space::Const | Space::Param => None,
        }
    }

    /// Whether the accesses to a region are looked at cell by cell from the start: barriers that take a
    /// part of the block, and blocks side by side, order more than sections tell.
    #[inline(always)]
    fn is_close(&self, region: Region) -> bool {
        self.closer || self.clocks.is_some() || self.overlaps(region)
    }

    /// Whether nobody writes the memory at this address of global memory.
    #[inline(always)]
    fn is_unwritten(&self, address: u64) -> bool {
        self.unwritten.iter().any(|extent| extent.covers(address))
    }

    /// What lanes of a warp do, whose span begins at `low` of the space.
    #[inline(always)]
    pub(in crate::exec) fn span(
        &mut self,
        by: By,
        (space, low): (Space, u64),
        span: &Span,
        lanes: LaneMask,
        size: u64,
        mut deed: Deed,
    ) {
        if self.varying.is_some() {
            deed = self.vary_span(by, (space, low), span, lanes, size, deed);
        }
        let Some((region, own)) = self.enter(by, space, low, deed) else { return };
        if self.copies.is_some() {
            let at = self.offset(region, low);
            if size >= 4 {
                rows::of_lanes(at, span, lanes, size, |row, words| {
                    self.meet_copies((region, row, words), own, deed)
                });
            } else {
                for_runs(span, lanes, size, |start, bytes| {
                    rows::of_run(at + start, bytes, true, |row, part| {
                        self.meet_copies((region, row, part.words()), own, deed);
                    });
                });
            }
        }
        if self.is_close(region) {
            return self.span_closer((region, low), span, lanes, size, own, deed);
        }
        let harmless = self.is_harmless(own, deed);
        let at = self.offset(region, low);
        if size >= 4 {
            rows::of_lanes(at, span, lanes, size, |row, words| {
                self.part(Logged { region, deed, row, part: Part::Words(words), own }, harmless);
            });
        } else {
            for_runs(span, lanes, size, |start, bytes| {
                rows::of_run(at + start, bytes, true, |row, part| {
                    self.part(Logged { region, deed, row, part, own }, harmless);
                });
            });
        }
    }

    /// An access by one lane.
    #[inline(always)]
    pub(in crate::exec) fn access(&mut self, by: By, space: Space, address: u64, size: u64, mut deed: Deed) {
        if self.varying.is_some() {
            deed = self.vary(by, (space, address), size, deed);
        }
        let Some((region, own)) = self.enter(by, space, address, deed) else { return };
        if self.copies.is_some() {
            rows::of_run(self.offset(region, address), size, true, |row, part| {
                self.meet_copies((region, row, part.words()), own, deed);
            });
        }
        if self.is_close(region) {
            return self.run(region, address, size, size, own, deed);
        }
        let harmless = self.is_harmless(own, deed);
        rows::of_run(self.offset(region, address), size, size < 4, |row, part| {
            self.part(Logged { region, deed, row, part, own }, harmless);
        });
    }

    /// An access to words of a row races with the copies in flight that write them, and a store with
    /// those that read them.
    #[inline(always)]
    fn meet_copies(&mut self, (region, row, words): (Region, u32, u32), own: Cell, deed: Deed) {
        let Some(copies) = &self.copies else { return };
        let may_race = match (region, deed) {
            (Region::Shared, _) => copies.writes(row, words),
            (_, Deed::Writes | Deed::Updates) => copies.read_global(),
            (_, Deed::Reads | Deed::Rewrites) => false,
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

    /// A lane's asynchronous copy, of which the watch has seen the accesses, starts: where it reads in
    /// global memory and how many bytes, and where it writes in shared memory.
    pub(in crate::exec) fn copy(&mut self, by: By, lane: usize, from: (u64, u64), to: (u64, u64)) {
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

    /// A warp closes its group of asynchronous copies.
    pub(in crate::exec) fn commit_copies(&mut self, warp: usize) {
        if let Some(copies) = &mut self.copies {
            copies.commit(warp);
        }
    }

    /// Lanes of a warp have waited until at most `pending` closed groups are in flight.
    pub(in crate::exec) fn wait_for_copies(&mut self, warp: usize, pending: usize, lanes: LaneMask) {
        let Some(copies) = &mut self.copies else { return };
        for piece in copies.wait(warp, pending, lanes) {
            if piece.region != Region::Shared {
                continue;
            }
            // the copy may have been done as late as this
            let (region, row) = (piece.region, piece.row);
            let (own, part) = (Cell::new(warp, piece.pc.get()), Part::Words(piece.words));
            let access = Logged { region, deed: Deed::Writes, row, part, own };
            if self.is_close(region) { self.replay(access) } else { self.part(access, false) }
        }
    }

    /// An `inc` or `dec` of a cell wraps at this value.
    pub(in crate::exec) fn wraps_at(&mut self, by: By, space: Space, address: u64, value: u64) {
        let Some(region) = self.region(space, address) else { return };
        let cell = (region == Region::Shared, address);
        let (time, most) = (self.time(region), self.limit / 64);
        self.incomplete |= !self.atomics.wraps_at(by.pc, cell, value, time, most);
    }

    /// A time that is another one only after what orders all accesses to a region before it.
    fn time(&self, region: Region) -> u64 {
        match self.clocks {
            _ if self.overlaps(region) => 0,
            Some(_) => self.block_section,
            None => self.section,
        }
    }

    /// Looks for values that differ from run to run in what lanes load and store, and says what the access
    /// does in some run.
    #[inline(never)]
    fn vary_span(
        &mut self,
        by: By,
        (space, low): (Space, u64),
        span: &Span,
        lanes: LaneMask,
        size: u64,
        deed: Deed,
    ) -> Deed {
        if space == Space::Local {
            for lane in lanes.lanes() {
                self.vary(by, (space, low + u64::from(span.offsets.0[lane])), size, deed);
            }
        } else if size < 4 {
            for_runs(span, lanes, size, |start, bytes| {
                self.vary(by, (space, low + start), bytes, deed);
            });
        } else if let Some((varying, touch, at)) = self.touch(by, (space, low), deed) {
            rows::of_lanes(at, span, lanes, size, |row, words| {
                varying.touch(&Touch { row, words, whole: true, ..touch });
            });
        }
        self.in_some_run(by, deed)
    }

    /// As [`Watch::vary_span`], of a run of bytes.
    #[inline(never)]
    fn vary(&mut self, by: By, (space, address): (Space, u64), bytes: u64, deed: Deed) -> Deed {
        if let (Space::Local, Some(varying)) = (space, &mut self.varying) {
            varying.touch_local(by.pc, address, bytes, deed);
        } else if let Some((varying, touch, at)) = self.touch(by, (space, address), deed) {
            let whole = at.is_multiple_of(4) && bytes.is_multiple_of(4);
            rows::of_run(at, bytes, true, |row, part| {
                varying.touch(&Touch { row, words: part.words(), whole, ..touch });
            });
        }
        self.in_some_run(by, deed)
    }

    /// An access to shared or global memory, whose words are still to be named, and where it begins in
    /// its region.
    fn touch(
        &mut self,
        by: By,
        (space, low): (Space, u64),
        deed: Deed,
    ) -> Option<(&mut Varying, Touch, u64)> {
        let region = self.region(space, low)?;
        let (at, time) = (self.offset(region, low), self.time(region));
        let block = if self.order == BlockOrder::SideBySide { self.block } else { 0 };
        let adder = block.wrapping_mul(64).wrapping_add(by.warp as u32).wrapping_add(1).max(1);
        let touch = Touch { pc: by.pc, region, row: 0, words: 0, whole: false, deed, adder, time };
        Some((self.varying.as_deref_mut()?, touch, at))
    }

    /// A value that differs from run to run may be another one than is there already.
    fn in_some_run(&self, by: By, deed: Deed) -> Deed {
        let varies = self.varying.as_ref().is_some_and(|varying| varying.stores(by.pc));
        if deed == Deed::Rewrites && varies { Deed::Writes } else { deed }
    }

    /// The words of global memory that the launch leaves with values that differ from run to run.
    pub(in crate::exec) fn varying_words(&self) -> VaryingWords {
        self.varying.as_ref().map_or_else(Vec::new, |varying| varying.words())
    }

    /// Where an access goes and the cell that it leaves, if it is one to remember.
    #[inline(always)]
    fn enter(&mut self, by: By, space: Space, address: u64, deed: Deed) -> Option<(Region, Cell)> {
        let region = self.region(space, address)?;
        if region != Region::Shared && self.is_unwritten(address) {
            if deed == Deed::Reads {
                return None;
            }
            self.stray = self.stray.or(Some(by.pc));
        }
        Some((region, Cell::new(by.warp, by.pc.get())))
    }

    /// Where in its region an address lies, which is one that could be accessed.
    #[inline(always)]
    fn offset(&self, region: Region, address: u64) -> u64 {
        address.wrapping_sub(self.regions[region as usize].extent.base)
    }

    #[inline(always)]
    fn is_harmless(&self, own: Cell, deed: Deed) -> bool {
        deed == Deed::Updates && self.atomics.is_harmless(own.pc())
    }

    /// An access to a part of a row.
    #[inline(always)]
    fn part(&mut self, access: Logged, harmless: bool) {
        if !self.closer {
            let rows = &mut self.regions[access.region as usize].rows;
            let words = access.part.words();
            match rows.clear(access.row, words, (self.section, access.own), access.deed, harmless) {
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

    /// Looks closer at what rows have cleared.
    #[cold]
    fn look_back(&mut self) {
        let mut log = std::mem::take(&mut self.log);
        log.drain(..).for_each(|access| self.replay(access));
        self.log = log;
    }

    #[cold]
    fn replay(&mut self, Logged { region, deed, row, part, own }: Logged) {
        let first = self.regions[region as usize].extent.base + u64::from(row) * ROW_BYTES;
        let size = if matches!(part, Part::Words(_)) { 4 } else { 1 };
        for (start, bytes) in part.runs() {
            self.run(region, first + start, bytes, size, own, deed);
        }
    }

    /// As [`Watch::span`], cell by cell.
    fn span_closer(
        &mut self,
        (region, low): (Region, u64),
        span: &Span,
        lanes: LaneMask,
        size: u64,
        own: Cell,
        deed: Deed,
    ) {
        if size == 4 && self.clocks.is_none() && starts(span, lanes, size).count_ones() > FEW_RUNS {
            return self.words((region, low), span, lanes, own, deed);
        }
        for_runs(span, lanes, size, |start, bytes| self.run(region, low + start, bytes, size, own, deed));
    }

    /// As [`Watch::span_closer`], for lanes with a word here and a word there.
    fn words(&mut self, (region, low): (Region, u64), span: &Span, lanes: LaneMask, own: Cell, deed: Deed) {
        let harmless = self.is_harmless(own, deed);
        let section = self.section;
        let cells = &mut self.regions[region as usize].cells;
        let mut left = LaneMask::empty();
        for lane in lanes.lanes() {
            let word = cells.word(low + u64::from(span.offsets.0[lane]), section);
            let done =
                word.and_then(|(reader, writer)| shadow::remember(reader, writer, own, deed, harmless));
            if done.is_none() {
                left |= LaneMask::lane(lane);
            }
        }
        for lane in left.lanes() {
            self.run(region, low + u64::from(span.offsets.0[lane]), 4, 4, own, deed);
        }
    }

    /// An access to the bytes from `address` on, cell by cell; that of each lane has `size` of them.
    #[inline]
    fn run(&mut self, region: Region, mut address: u64, mut bytes: u64, size: u64, own: Cell, deed: Deed) {
        let (harmless, moment) = (self.is_harmless(own, deed), self.moment(own, region));
        let clocked = self.clocks.is_some();
        while bytes > 0 {
            let cells = &mut self.regions[region as usize].cells;
            let Some((mut cells, done)) = cells.cells(address, bytes, size, &moment) else {
                self.incomplete = true;
                return;
            };
            if clocked || cells.remember(own, deed, harmless).is_none() {
                self.examine(region, (address, done), size, &moment, deed);
            }
            (address, bytes) = (address + done, bytes - done);
        }
    }
}

/// The lanes whose access begins somewhere else than where that of the lane before begins or ends.
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

/// The runs of bytes that lanes touch: where each begins in the span, and its bytes.
#[inline(always)]
fn for_runs(span: &Span, lanes: LaneMask, size: u64, mut each: impl FnMut(u64, u64)) {
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
