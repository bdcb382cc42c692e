//! Races: whether what a launch does depends on when its warps do it.
//!
//! A functional run takes the warps in one order of many. If two warps access the same bytes, one
//! of them writes, and nothing orders the two accesses (no barrier of the block, no end of a block
//! before another, no end of a launch), another order may give other values, other paths and other
//! times: a simulated makespan is then that of one order only. The same holds if an atomic
//! operation gives a warp an old value that depends on the order, or if operations on one cell do
//! not commute.
//!
//! For every word of memory that is accessed (every byte where accesses are narrower) the watch
//! remembers who wrote it and who read it in the running section; in programs whose barriers take
//! part of a block it does so by vector clocks. Where blocks run side by side it also remembers
//! what other blocks did.
//! It is exact: what it names is unordered, and every unordered pair on some word is noticed,
//! though of many pairs not each is named. Two refinements are worth a word:
//!
//! * A store of the value that is there already races with loads and other stores only if the value
//!   changes in the same section: several warps may raise one flag.
//! * Atomic operations of one kind commute; sums of floating-point numbers count as commuting.
//!
//! What lanes of one warp do to each other is no matter of time and not looked at.

mod atomics;
mod clocks;
mod shadow;
pub(super) mod targets;

use super::access::Span;
use crate::base::{LaneMask, Pc, WARP_SIZE, WarpMask};
use crate::isa::Space;
use crate::program::sem::BarrierKind;
use crate::program::{Program, Sem};
use atomics::Atomics;
use clocks::{Clocks, Place, Side};
use shadow::{Cell, Cells, Moment, Shadow};

/// Races that are named; the rest is counted.
const NAMED: usize = 8;

/// Runs of words that are gone through as runs.
const FEW_RUNS: u32 = 4;

/// How blocks of a launch lie in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockOrder {
    /// One after the other.
    OneByOne,
    /// Some may run at the same time.
    SideBySide,
}

/// What of a launch depends on when its warps do what they do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TimeDependences {
    /// Accesses without an order between them, each pair of instructions once.
    pub races: Vec<Race>,
    /// Races beyond those named.
    pub unnamed: u64,
    /// Line of an instruction that reads `%clock` and lets it decide where a warp goes or which
    /// addresses it accesses.
    pub clock: Option<u32>,
    /// There was too little memory to watch all accesses.
    pub incomplete: bool,
    /// Line of an instruction that writes a buffer to which the pointers in its registers do not lead,
    /// so that reads of that buffer were not watched.
    pub stray: Option<u32>,
}

/// Two accesses to the same bytes without an order between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Race {
    /// The memory, [`Space::Shared`] or [`Space::Global`].
    pub space: Space,
    /// Where in it.
    pub address: u64,
    /// What lies there, for global memory.
    pub place: String,
    /// What was done first, in the order of the functional run.
    pub first: Party,
    /// What was done then.
    pub second: Party,
}

/// One side of a race.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Party {
    /// Block in launch order; `None` for one of the blocks before.
    pub block: Option<u32>,
    /// Warp of the block.
    pub warp: usize,
    /// Whether other warps did the same.
    pub others: bool,
    /// The instruction.
    pub pc: Pc,
    /// Its line in the source.
    pub line: u32,
    /// What kind of instruction it is.
    pub access: AccessKind,
}

/// A kind of instruction that accesses memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "self-explanatory")]
pub enum AccessKind {
    Load,
    Store,
    Atomic,
    AsyncCopy,
}

/// What an access does to a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Deed {
    Reads,
    Writes,
    /// It stores the value that is there already.
    Rewrites,
    /// It reads and writes in one go.
    Updates,
}

/// Who accesses memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct By {
    pub(super) warp: usize,
    pub(super) pc: Pc,
}

/// A race as it was found.
#[derive(Clone, Copy, Debug)]
struct Found {
    shared: bool,
    address: u64,
    first: Cell,
    second: Cell,
    block: u32,
}

/// Watches the memory of a launch.
#[derive(Clone, Debug)]
pub(super) struct Watch {
    order: BlockOrder,
    atomics: Atomics,
    clock: Option<Pc>,
    shared: Shadow,
    globals: Shadow,
    buffers: Shadow,
    /// Memory that nobody writes: a few buffers.
    unwritten: Vec<Extent>,
    /// A store to it all the same.
    stray: Option<Pc>,
    block: u32,
    /// The running section, and the one in which the block began.
    section: u64,
    block_section: u64,
    /// Only for programs in which barriers may take a part of the block.
    clocks: Option<Box<Clocks>>,
    clocked: bool,
    /// Bytes that what is remembered of each kind of memory may take.
    limit: usize,
    found: Vec<Found>,
    unnamed: u64,
    incomplete: bool,
}

/// The memory to watch: where it begins and how many bytes it has.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    pub(super) base: u64,
    pub(super) bytes: u64,
}

impl Extent {
    #[inline(always)]
    fn covers(&self, address: u64) -> bool {
        address.wrapping_sub(self.base) < self.bytes
    }
}

impl TimeDependences {
    /// Whether nothing depends on time, as far as was watched.
    pub fn is_empty(&self) -> bool {
        self.races.is_empty() && self.clock.is_none() && !self.incomplete && self.stray.is_none()
    }
}

impl Watch {
    /// A watch over shared memory of a block, module variables and buffers; the cells of each take
    /// at most `limit` bytes.
    pub(super) fn new(
        program: &Program,
        order: BlockOrder,
        limit: usize,
        [shared, globals, buffers]: [Extent; 3],
        unwritten: Vec<Extent>,
    ) -> Self {
        let partial = |sem: &Sem| match sem {
            Sem::Barrier(barrier) => barrier.threads.is_some() || barrier.kind == BarrierKind::Arrive,
            Sem::Mbarrier(_) => true,
            _ => false,
        };
        let [shared, globals, buffers] =
            [shared, globals, buffers].map(|extent| Shadow::new(extent.base, extent.bytes, limit));
        Self {
            order,
            atomics: Atomics::new(program),
            clock: atomics::clock_decides(program),
            shared,
            globals,
            buffers,
            unwritten,
            stray: None,
            block: 0,
            section: 0,
            block_section: 0,
            clocks: None,
            clocked: program.instrs.iter().any(|instr| partial(&instr.sem)),
            limit,
            found: Vec::new(),
            unnamed: 0,
            incomplete: false,
        }
    }

    /// The next block starts.
    pub(super) fn start_block(&mut self, block: u32) {
        self.block = block;
        self.section += 1;
        self.block_section = self.section;
        self.clocks = self.clocked.then(|| Box::new(Clocks::new()));
        if self.order == BlockOrder::OneByOne {
            // what was before this block is ordered before it
            [&mut self.globals, &mut self.buffers].into_iter().for_each(Shadow::make_room);
        }
    }

    /// A warp comes to a barrier.
    pub(super) fn arrive(&mut self, warp: usize, barrier: usize) {
        if let Some(clocks) = &mut self.clocks {
            clocks.arrive(warp, barrier);
        }
    }

    /// A barrier opens for those who wait; `ended` warps count as having come if it is for all.
    pub(super) fn release(&mut self, barrier: usize, waiting: WarpMask, ended: WarpMask) {
        match &mut self.clocks {
            Some(clocks) => clocks.release(barrier, waiting, ended),
            None => self.section += 1,
        }
    }

    /// A warp arrives at the mbarrier object at this address of shared memory; whether that
    /// completes the phase.
    pub(super) fn arrive_at_object(&mut self, warp: usize, address: u64, completes: bool) {
        if let Some(clocks) = &mut self.clocks {
            clocks.arrive_at_object(warp, address, completes);
        }
    }

    /// A warp learns that a phase of the mbarrier object at this address has completed.
    pub(super) fn learn_of_object(&mut self, warp: usize, address: u64) {
        if let Some(clocks) = &mut self.clocks {
            clocks.learn_of_object(warp, address);
        }
    }

    #[inline(always)]
    fn moment(&self, by: By, shared: bool) -> Moment {
        let overlap = self.order == BlockOrder::SideBySide && !shared;
        let own = Cell::new(by.warp, by.pc.get());
        Moment { own, section: self.section, block: self.block_section, overlap }
    }

    #[inline(always)]
    fn shadow(&mut self, shared: bool, address: u64) -> &mut Shadow {
        match shared {
            true => &mut self.shared,
            false if self.buffers.covers(address) => &mut self.buffers,
            false => &mut self.globals,
        }
    }

    /// Whether nobody writes the memory at this address of global memory.
    #[inline(always)]
    fn is_unwritten(&self, address: u64) -> bool {
        self.unwritten.iter().any(|extent| extent.covers(address))
    }

    /// A load by the lanes of a warp, whose span begins at `low` of the space.
    #[inline(always)]
    pub(super) fn load(&mut self, by: By, space: Space, low: u64, span: &Span, lanes: LaneMask, size: u64) {
        if let Some(shared) = is_shared(space)
            && (shared || !self.is_unwritten(low))
        {
            let moment = self.moment(by, shared);
            self.lanes((shared, low), span, lanes, size, &moment, Deed::Reads);
        }
    }

    /// A store; `unchanged` are the lanes that store what is there already.
    #[inline(always)]
    pub(super) fn store(
        &mut self,
        by: By,
        space: Space,
        low: u64,
        span: &Span,
        (lanes, unchanged): (LaneMask, LaneMask),
        size: u64,
    ) {
        if let Some(shared) = is_shared(space) {
            if !shared && self.is_unwritten(low) {
                self.stray = self.stray.or(Some(by.pc));
            }
            let moment = self.moment(by, shared);
            for (lanes, deed) in [(lanes - unchanged, Deed::Writes), (lanes & unchanged, Deed::Rewrites)] {
                self.lanes((shared, low), span, lanes, size, &moment, deed);
            }
        }
    }

    /// An access by one lane.
    pub(super) fn access(&mut self, by: By, space: Space, address: u64, size: u64, deed: Deed) {
        if let Some(shared) = is_shared(space) {
            if !shared && self.is_unwritten(address) {
                if deed == Deed::Reads {
                    return;
                }
                self.stray = self.stray.or(Some(by.pc));
            }
            let moment = self.moment(by, shared);
            self.run(shared, address, size, size, &moment, deed);
        }
    }

    /// What lanes do to memory whose span begins at `low`.
    #[inline(always)]
    fn lanes(
        &mut self,
        (shared, low): (bool, u64),
        span: &Span,
        lanes: LaneMask,
        size: u64,
        moment: &Moment,
        deed: Deed,
    ) {
        let offset = |lane: u32| u64::from(span.offsets.0[lane as usize]);
        let mut starts = starts(span, lanes, size);
        if starts.count_ones() > FEW_RUNS && size == 4 && !self.clocked {
            return self.words((shared, low), span, lanes, moment, deed);
        }
        while starts != 0 {
            let first = starts.trailing_zeros();
            starts &= starts - 1;
            // up to the next start, or to a lane that does not take part
            let until = starts.trailing_zeros().min(first + (lanes.bits() >> first).trailing_ones());
            let bytes = offset(until - 1) + size - offset(first);
            self.run(shared, low + offset(first), bytes, size, moment, deed);
        }
    }

    /// As [`Watch::lanes`], for lanes with a word here and a word there.
    #[inline(always)]
    fn words(
        &mut self,
        (shared, low): (bool, u64),
        span: &Span,
        lanes: LaneMask,
        moment: &Moment,
        deed: Deed,
    ) {
        let harmless = deed == Deed::Updates && self.atomics.is_harmless(moment.own.pc());
        let shadow = self.shadow(shared, low);
        let mut left = LaneMask::empty();
        for lane in lanes.lanes() {
            let word = shadow.word(low + u64::from(span.offsets.0[lane]), moment.section);
            let done = word
                .and_then(|(reader, writer)| shadow::remember(reader, writer, moment.own, deed, harmless));
            if done.is_none() {
                left |= LaneMask::lane(lane);
            }
        }
        for lane in left.lanes() {
            self.run(shared, low + u64::from(span.offsets.0[lane]), 4, 4, moment, deed);
        }
    }

    /// An access to the bytes from `address` on; that of each lane has `size` of them.
    #[inline(always)]
    fn run(
        &mut self,
        shared: bool,
        mut address: u64,
        mut bytes: u64,
        size: u64,
        moment: &Moment,
        deed: Deed,
    ) {
        while bytes > 0 {
            let (clocked, harmless) =
                (self.clocked, deed == Deed::Updates && self.atomics.is_harmless(moment.own.pc()));
            let Some((mut cells, done)) = self.shadow(shared, address).cells(address, bytes, size, moment)
            else {
                self.incomplete = true;
                return;
            };
            if clocked || cells.remember(moment.own, deed, harmless).is_none() {
                self.look_closer(shared, address, done, size, moment, deed);
            }
            (address, bytes) = (address + done, bytes - done);
        }
    }

    /// The same cell by cell, with everything that is rare.
    #[cold]
    fn look_closer(
        &mut self,
        shared: bool,
        address: u64,
        bytes: u64,
        size: u64,
        moment: &Moment,
        deed: Deed,
    ) {
        let Self { shared: shared_shadow, globals, buffers, clocks, limit, incomplete, .. } = self;
        let (atomics, found, unnamed, block) =
            (&self.atomics, &mut self.found, &mut self.unnamed, self.block);
        let shadow = match shared {
            true => shared_shadow,
            false if buffers.covers(address) => buffers,
            false => globals,
        };
        let Some((cells, _)) = shadow.cells(address, bytes, size, moment) else { return };
        let Cells { readers, writers, place } = cells;
        for (index, (reader, writer)) in readers.iter_mut().zip(writers).enumerate() {
            let address = address / place * place + index as u64 * place;
            if clocks.as_ref().is_some_and(|clocks| !clocks.fits(*limit)) {
                *incomplete = true;
                return;
            }
            let clocks = clocks.as_deref_mut().map(|clocks| (clocks, (shared, address)));
            let raced = examine(clocks, atomics, moment.own, (reader, writer), deed);
            for first in raced.into_iter().flatten() {
                let one = Found { shared, address, first, second: moment.own, block };
                let pcs = |found: &Found| (found.first.pc(), found.second.pc());
                if !found.iter().any(|known| pcs(known) == pcs(&one)) {
                    if found.len() < NAMED { found.push(one) } else { *unnamed += 1 }
                }
            }
        }
    }

    /// What was found so far.
    pub(super) fn report(&self, program: &Program, place: impl Fn(Space, u64) -> String) -> TimeDependences {
        let party = |cell: Cell, block: u32| {
            let block = (!cell.is_of_another_block()).then_some(block);
            let pc = Pc::new(cell.pc());
            let instr = program.instr(pc);
            let access = kind_of(&instr.sem);
            Party { block, warp: cell.warp(), others: cell.is_many(), pc, line: instr.line, access }
        };
        let race = |found: &Found| {
            let space = if found.shared { Space::Shared } else { Space::Global };
            Race {
                space,
                address: found.address,
                place: place(space, found.address),
                first: party(found.first, found.block),
                second: party(found.second, found.block),
            }
        };
        TimeDependences {
            races: self.found.iter().map(race).collect(),
            unnamed: self.unnamed,
            clock: self.clock.map(|pc| program.instr(pc).line),
            incomplete: self.incomplete,
            stray: self.stray.map(|pc| program.instr(pc).line),
        }
    }
}

/// One access to one place: remembers it, and says which writer and which reader it races with.
/// Without clocks it is the sections that order accesses.
fn examine(
    clocks: Option<(&mut Clocks, Place)>,
    atomics: &Atomics,
    own: Cell,
    (reader, writer): (&mut Cell, &mut Cell),
    deed: Deed,
) -> [Option<Cell>; 2] {
    let (read, written) = (*reader, *writer);
    let foreign = |cell: Cell, side| match &clocks {
        None => cell.is_foreign(own),
        Some((clocks, place)) => clocks.is_foreign(cell, own.warp(), *place, side),
    };
    let (foreign_reader, foreign_writer) = (foreign(read, Side::Reader), foreign(written, Side::Writer));
    let raced_reader = foreign_reader.then_some(read);
    let raced_writer = foreign_writer.then_some(written);
    let pc = Pc::new(own.pc());
    let raced = match deed {
        Deed::Reads => [raced_writer, None],
        Deed::Writes => [raced_writer, raced_reader],
        // several may leave the same value, as long as nobody else looks or changes it otherwise
        Deed::Rewrites => {
            [raced_writer.filter(|cell| cell.is_special()), raced_reader.filter(|read| !read.is_special())]
        }
        Deed::Updates => {
            let order_shows = |written: &Cell| {
                let other = Pc::new(written.pc());
                !written.is_special()
                    || !atomics.commute(other, pc)
                    || atomics.is_used(other)
                    || atomics.is_used(pc)
            };
            [raced_writer.filter(order_shows), raced_reader]
        }
    };
    // with clocks, what a warp did itself may lie in an earlier section
    let open = |cell: Cell, foreign: bool| if clocks.is_some() { foreign } else { cell.is_open() };
    let side = match deed {
        Deed::Reads | Deed::Rewrites => {
            let special = deed == Deed::Rewrites;
            *reader = match (open(read, foreign_reader), foreign_reader) {
                (false, _) if special => own.special(),
                (false, _) => own,
                (true, false) if special => read,
                (true, false) => read.plain(),
                (true, true) if special => read.many(),
                (true, true) => read.plain().many(),
            };
            Side::Reader
        }
        Deed::Writes => {
            *writer = own;
            Side::Writer
        }
        Deed::Updates => {
            *writer = match (open(written, foreign_writer), foreign_writer) {
                (false, _) => own.special(),
                (true, true) => written.many(),
                // the warp's own store, or an operation whose result counts, says more
                (true, false) if !written.is_special() || !atomics.is_used(pc) => written,
                (true, false) => own.special(),
            };
            Side::Writer
        }
    };
    if let Some((clocks, place)) = clocks {
        let ordered = if side == Side::Reader { !foreign_reader } else { !foreign_writer };
        clocks.remember(own.warp(), place, side, ordered);
    }
    raced
}

/// Whether memory of this space is a block's or everybody's; `None` if it is a thread's, or cannot
/// be written.
fn is_shared(space: Space) -> Option<bool> {
    match space {
        Space::Shared => Some(true),
        Space::Global | Space::Generic => Some(false),
        Space::Local | Space::Const | Space::Param => None,
    }
}

fn kind_of(sem: &Sem) -> AccessKind {
    match sem {
        Sem::Store { .. } => AccessKind::Store,
        Sem::Surface(access) if access.is_store() => AccessKind::Store,
        Sem::Atomic(_) | Sem::Mbarrier(_) => AccessKind::Atomic,
        Sem::AsyncCopy { .. } => AccessKind::AsyncCopy,
        Sem::Matrix(matrix) if matrix.stores() => AccessKind::Store,
        _ => AccessKind::Load,
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
