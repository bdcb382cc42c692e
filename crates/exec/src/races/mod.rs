//! Race detection: whether the results of a launch depend on the timing of its warps.
//!
//! A functional run executes the warps in one order of many. Two accesses are ordered if a barrier
//! of the block, the end of a block before another one, or the end of a launch separates them. If
//! two warps access the same bytes, one of them writes, and the two accesses are unordered, another
//! order may give other values, other paths and other times. A simulated makespan is then that of
//! one order only. The same holds if an atomic operation returns an old value that depends on the
//! order, or if operations on one cell do not commute.
//!
//! For every word of memory that is accessed (every byte where accesses are narrower) the detector
//! records which warps wrote and read it in the current section; in programs whose barriers involve
//! only part of a block it uses vector clocks instead. Where blocks run concurrently it also
//! records the accesses of other blocks. Where sections order accesses, most accesses are cleared
//! by the state of whole rows of words (`rows.rs`), and the words themselves are analysed only in
//! sections in which a row leaves doubt.
//!
//! The detector is exact for the actions of the warps in this run: every reported pair is
//! unordered, and every word with an unordered pair is noticed. If a word has many such pairs, not
//! all of them are reported. Special cases:
//!
//! * A store of the value that is already in memory races with loads and other stores only if the
//!   value changes in the same section: several warps may set the same flag.
//! * Atomic operations of one kind and type commute; `inc` and `dec` do if they wrap at the same
//!   value. Sums of floating-point numbers count as commuting for races.
//! * Some values differ from run to run without a race: sums of floating-point numbers, clocks,
//!   multiprocessor numbers, and registers that are read before they are written. They are tracked
//!   through registers and memory until they determine a path or an address. This overestimates the
//!   dependences, see `varying.rs`.
//! * An asynchronous copy is in flight until its warp has waited for it, see `copies.rs`.
//! * A bulk copy that signals its completion makes its accesses like another warp, which begins when
//!   the copy is started and ends with the signal. Copies that the same warp has started count as
//!   ordered. A bulk copy of a bulk group makes its accesses when it is started.
//!
//! There are two unchecked premises. First, a register of machine code that no instruction has
//! written is zero; in PTX it is tracked as above. Second, constant memory has the contents of this
//! run, even if the host fills it with values that differ from run to run.
//!
//! Interactions between lanes of one warp do not depend on time and are not analysed.

mod atomics;
mod clocks;
mod closer;
mod copies;
mod decide;
mod detector;
mod follow;
mod pages;
mod rows;
mod shadow;
pub(super) mod targets;
mod varying;

use serde::{Deserialize, Serialize};

pub(super) use atomics::wraps;
use detector::Found;
pub(super) use detector::RaceDetector;
use shadow::Cell;
pub(super) use varying::VaryingWords;
pub use varying::makes_varying_values;
use warpbound_core::base::Pc;
use warpbound_core::isa::Space;
use warpbound_core::program::sem::{MbarrierOp, exchange, jump, lanewise, no_effect};
use warpbound_core::program::{KernelCode, Sem};

/// The order of the blocks of a launch in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockOrder {
    /// Blocks run one after the other.
    OneByOne,
    /// Some blocks may run at the same time.
    SideBySide,
}

/// The results of a launch that depend on the timing of its warps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TimeDependences {
    /// The unordered accesses, with each pair of instructions once.
    pub races: Vec<Race>,
    /// The number of races beyond those in `races`.
    pub unnamed: u64,
    /// A value that differs from run to run and determines where a warp continues or which
    /// addresses it accesses.
    pub value: Option<VaryingValue>,
    /// Whether there was too little memory to check all accesses.
    pub incomplete: bool,
    /// The line of an instruction that writes a buffer to which the pointers in its registers do
    /// not lead, so that reads of that buffer were not checked.
    pub stray: Option<u32>,
    /// The line of a barrier at which only some threads of a warp arrived, while others waited where
    /// they converge with these, or had a false guard. The hardware does not define when they go on.
    pub split_barrier: Option<u32>,
}

/// A value that differs from run to run, and determines a path or an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VaryingValue {
    /// The reason for the difference.
    pub source: Source,
    /// The line of the instruction that produces it; `None` if that was an earlier launch.
    pub line: Option<u32>,
    /// The line of the instruction whose path or address it determines.
    pub decides: u32,
}

/// The reason for which a value differs from run to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// It depends on the time.
    Clock,
    /// It depends on where on the hardware a block or warp was placed.
    Placement,
    /// It is a sum of floating-point numbers to which several warps add in any order.
    Sum,
    /// It comes from a register that is read before an instruction has written it.
    Unset,
    /// An earlier launch left it in memory.
    Launch,
}

/// Two unordered accesses to the same bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Race {
    /// The memory, [`Space::Shared`] or [`Space::Global`].
    pub space: Space,
    /// The address in this memory.
    pub address: u64,
    /// A description of the location, for global memory.
    pub place: String,
    /// The first access, in the order of the functional run.
    pub first: Party,
    /// The second access.
    pub second: Party,
}

/// One access of a race.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Party {
    /// The block in launch order; `None` for one of the earlier blocks.
    pub block: Option<u32>,
    /// The warp of the block.
    pub warp: usize,
    /// Whether other warps did the same.
    pub others: bool,
    /// The instruction.
    pub pc: Pc,
    /// Its line in the source.
    pub line: u32,
    /// The kind of the instruction.
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

/// The effect of an access on a location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AccessEffect {
    Reads,
    Writes,
    /// It stores the value that is already there.
    Rewrites,
    /// It reads and writes in one atomic operation.
    Updates,
}

/// The warp and the instruction of an access.
#[derive(Clone, Copy, Debug)]
pub(super) struct Accessor {
    pub(super) warp: usize,
    pub(super) pc: Pc,
}

/// A part of memory with its own range of addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Region {
    /// The shared memory of the running block.
    Shared,
    /// The variables of modules.
    Globals,
    Buffers,
}

/// A range of memory: its start and its number of bytes.
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
    /// Returns whether nothing depends on the timing, as far as accesses were checked.
    pub fn is_empty(&self) -> bool {
        self.races.is_empty()
            && self.value.is_none()
            && !self.incomplete
            && self.stray.is_none()
            && self.split_barrier.is_none()
    }
}

impl RaceDetector {
    /// Returns the dependences found so far.
    pub(super) fn report(
        &self,
        program: &KernelCode,
        place: impl Fn(Space, u64) -> String,
    ) -> TimeDependences {
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
            split_barrier: self.split.map(|pc| program.instr(pc).line),
        }
    }
}

fn kind_of(sem: &Sem) -> AccessKind {
    match sem {
        Sem::Store { .. } => AccessKind::Store,
        Sem::Surface(access) if access.is_store() => AccessKind::Store,
        Sem::Mbarrier(barrier) => match barrier.op {
            MbarrierOp::Init { .. } | MbarrierOp::Inval => AccessKind::Store,
            MbarrierOp::Wait { .. } => AccessKind::Load,
            _ => AccessKind::Atomic,
        },
        Sem::Atomic(_) => AccessKind::Atomic,
        Sem::Bulk(bulk) if bulk.reduces() => AccessKind::Atomic,
        Sem::AsyncCopy { .. } | Sem::Bulk(_) => AccessKind::AsyncCopy,
        Sem::Matrix(matrix) if matrix.stores() => AccessKind::Store,
        Sem::Load { .. } | Sem::Fetch(_) | Sem::Surface(_) | Sem::ImageQuery(_) | Sem::Matrix(_) => {
            AccessKind::Load
        }
        // these access no memory that is watched
        Sem::AsyncCommit | Sem::AsyncWait { .. } | Sem::Barrier(_) | Sem::Cluster(_) => AccessKind::Load,
        lanewise!() | exchange!() | no_effect!() | jump!() => AccessKind::Load,
        // a call passes arguments in local memory
        Sem::Call(_) | Sem::CallPointer(_) => AccessKind::Load,
    }
}
