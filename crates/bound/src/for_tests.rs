//! Small programs for the unit tests of this crate: tables of instructions on one unit, and blocks
//! that execute them.

use warpbound_core::base::{Cycles, LaneMask, Pc, RegId, UnitId};
use warpbound_core::machine::OpTiming;
use warpbound_core::path::{BlockPaths, Step, WarpPath};
use warpbound_core::program::{Flow, TimedInstr, TimingTable};

/// The exit, the first instruction of every table. It takes no issue slot where it ends a warp.
pub(super) const EXIT: u32 = 0;

/// A table with the exit and these instructions, which are numbered from 1 on.
pub(super) fn table(instrs: &[TimedInstr]) -> TimingTable {
    let exit = timed(Flow::Exit, (1, 0), &[], &[]);
    TimingTable::of_instrs([std::slice::from_ref(&exit), instrs].concat(), 1, 4)
}

/// An instruction with this initiation and latency in cycles that writes the registers `dsts` and
/// reads the registers `srcs`, which are numbered from 0 to 3.
pub(super) fn plain(init: u64, lat: u64, dsts: &[u16], srcs: &[u16]) -> TimedInstr {
    timed(Flow::Plain, (init, lat), dsts, srcs)
}

/// A barrier of all warps, which takes one cycle.
pub(super) fn barrier() -> TimedInstr {
    timed(Flow::Barrier, (1, 0), &[], &[])
}

fn timed(flow: Flow, (init, lat): (u64, u64), dsts: &[u16], srcs: &[u16]) -> TimedInstr {
    let op = OpTiming { unit: UnitId::new(0), init: Cycles::new(init), lat: Cycles::new(lat) };
    let registers = |list: &[u16]| list.iter().copied().map(RegId::new).collect();
    TimedInstr::bare(flow, op, registers(dsts), registers(srcs))
}

/// The steps that execute these instructions.
pub(super) fn steps(instrs: &[u32]) -> Vec<Step> {
    instrs.iter().map(|&number| Step::plain(Pc::new(number))).collect()
}

/// A block whose warps execute these instructions and then the exit.
pub(super) fn block(warps: &[&[u32]]) -> BlockPaths {
    let path = |instrs: &&[u32]| {
        let mut path = WarpPath::new();
        path.extend(&steps(instrs), LaneMask::ALL);
        path.push(Step::plain(Pc::new(EXIT)).ending_warp(), LaneMask::ALL);
        path
    };
    BlockPaths { warps: warps.iter().map(path).collect(), ..BlockPaths::default() }
}
