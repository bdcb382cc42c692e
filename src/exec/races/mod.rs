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
//! Where it is the sections that order accesses, most of them are cleared by what is known of rows
//! of words (`rows.rs`), and the words themselves are looked at only in sections in which a row leaves
//! doubt.
//! It is exact for what the warps did in this run: what it names is unordered, and every unordered pair
//! on some word is noticed, though of many pairs not each is named. Some things are worth a word:
//!
//! * A store of the value that is there already races with loads and other stores only if the value
//!   changes in the same section: several warps may raise one flag.
//! * Atomic operations of one kind and type commute; `inc` and `dec` do if they wrap at the same value.
//!   Sums of floating-point numbers commute as well as far as races go.
//! * Values that differ from run to run although nothing races (sums of floating-point numbers, clocks,
//!   multiprocessor numbers, registers that are read before they are written) are followed through registers and memory until they decide something.
//!   This says too much rather than too little, see `varying.rs`.
//! * An asynchronous copy is under way until its warp has waited for it, see `copies.rs`.
//!
//! Two things are taken as given that need not be: a register of machine code that no instruction wrote is zero
//! (in PTX it is followed as above), and constant memory that the host fills with values that differ from run to
//! run holds what it holds in this run.
//!
//! What lanes of one warp do to each other is no matter of time and not looked at.

mod atomics;
mod clocks;
mod closer;
mod copies;
mod decide;
mod follow;
mod pages;
mod rows;
mod shadow;
pub(super) mod targets;
mod varying;
mod watch;

use serde::{Deserialize, Serialize};

use crate::base::Pc;
use crate::isa::Space;
use crate::program::{Program, Sem};
pub(super) use atomics::wraps;
use shadow::Cell;
pub(super) use varying::VaryingWords;
pub use varying::makes_varying_values;
use watch::Found;
pub(super) use watch::Watch;

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
    /// A value that differs from run to run and decides where a warp goes or which addresses it
    /// accesses.
    pub value: Option<VaryingValue>,
    /// There was too little memory to watch all accesses.
    pub incomplete: bool,
    /// Line of an instruction that writes a buffer to which the pointers in its registers do not lead,
    /// so that reads of that buffer were not watched.
    pub stray: Option<u32>,
}

/// A value that differs from run to run, and decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VaryingValue {
    /// Why it differs.
    pub source: Source,
    /// Line of the instruction that makes it; `None` if it was an earlier launch.
    pub line: Option<u32>,
    /// Line of the instruction for which it decides something.
    pub decides: u32,
}

/// Why a value differs from run to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// It tells the time.
    Clock,
    /// It tells where on the hardware a block or warp was placed.
    Placement,
    /// It is a sum of floating-point numbers to which several warps add in any order.
    Sum,
    /// A register is read before an instruction has written it.
    Unset,
    /// An earlier launch left it in memory.
    Launch,
}

/// Two accesses to the same bytes without an order between them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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

/// A part of memory with a range of addresses of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Region {
    /// Shared memory of the running block.
    Shared,
    /// Variables of modules.
    Globals,
    Buffers,
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
        self.races.is_empty() && self.value.is_none() && !self.incomplete && self.stray.is_none()
    }
}

impl Watch {
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
            let space = if found.region == Region::Shared { Space::Shared } else { Space::Global };
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
            value: self.varying.as_ref().and_then(|varying| varying.found).map(|(origin, pc)| VaryingValue {
                source: origin.source,
                line: origin.pc.map(|pc| program.instr(pc).line),
                decides: program.instr(pc).line,
            }),
            incomplete: self.incomplete || self.varying.as_ref().is_some_and(|varying| varying.incomplete),
            stray: self.stray.map(|pc| program.instr(pc).line),
        }
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
