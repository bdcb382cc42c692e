//! Figures 5 to 7 of Adalbert et al., ERTS 2022: the SIMT stack through SSY, a branch and SYNC.

use super::Done;
use crate::args::{Common, PtxLaunch};
use crate::load;
use crate::session::Session;
use warpbound_core::base::{LaneMask, Pc};
use warpbound_core::diag::Diagnostics;
use warpbound_core::machine::Reconvergence;
use warpbound_core::path::{BlockPaths, BlockSource, WarpPath};
use warpbound_core::program::sem::Region;
use warpbound_core::program::{KernelCode, Sem};
use warpbound_exec::stack::{Entry, SimtStack};
use warpbound_report::reproduce::Reproduced;
use warpbound_report::reproduce::pastis::MACHINE;
use warpbound_report::reproduce::pastis::published::{INSTRUCTION, REJOIN, STACKS, TAKING, TARGET};
use warpbound_report::reproduce::pastis::stacks::{self, Diverged, Drawn, Walked};
use warpbound_report::reproduce::stack::StackEntry;

/// The launch, in machine code, whose branches are counted.
const LAUNCH: &str = "ifelse@sm_61";

/// Reproduces one of the figures.
pub fn figure(drawn: Drawn, session: &Session) -> Result<Done, Diagnostics> {
    let walks = [(Region::Sync, "SSY", "SYNC"), (Region::Break, "PBK", "BRK")].map(walked);
    Ok(Done::new(Reproduced::Figure(stacks::figure(drawn, &walks, &diverged(session)?))))
}

/// Returns the stacks before and after the instructions of the figures.
fn walked((region, opened_by, closed_by): (Region, &'static str, &'static str)) -> Walked {
    let taking = LaneMask::first(TAKING as usize);
    let mut stack = SimtStack::new(Reconvergence::PascalStack);
    stack.start(LaneMask::ALL);
    while stack.top().is_some_and(|(npc, _)| npc < at(STACKS[0][0].0)) {
        stack.advance();
    }
    let before = entries(&stack);
    stack.open(region, at(REJOIN));
    let opened = entries(&stack);
    stack.branch(taking, at(TARGET), None);
    let branched = entries(&stack);
    stack.close(region, taking);
    let closed = entries(&stack);
    stack.close(region, LaneMask::ALL - taking);
    let rejoined = entries(&stack);
    Walked { opened_by, closed_by, stacks: [before, opened, branched, closed], rejoined }
}

/// Returns the program counter of the instruction at an address.
fn at(address: u32) -> Pc {
    Pc::new(address / INSTRUCTION)
}

/// Returns the entries as the paper draws them: top first, addresses in bytes, the first thread as
/// the highest bit.
fn entries(stack: &SimtStack) -> Vec<StackEntry> {
    let address = |pc: Pc| if pc == SimtStack::END { STACKS[0][0].1 } else { pc.get() * INSTRUCTION };
    let row = |entry: &Entry| {
        StackEntry::new(address(entry.npc), address(entry.rpc), entry.mask.bits().reverse_bits())
    };
    stack.entries().iter().rev().map(row).collect()
}

/// Counts the divergent branches of a launch, over all blocks.
fn diverged(session: &Session) -> Result<Diverged, Diagnostics> {
    let common = Common::on(MACHINE);
    let kernel = load::kernel(LAUNCH, &PtxLaunch::default(), common.seed, &session.monitor)?;
    let (machine, _) = load::machine(&common, &kernel)?;
    let program = kernel.workload.program();
    let mut found =
        Diverged { launch: LAUNCH.to_owned(), machine: machine.name().to_owned(), ..Diverged::default() };
    let mut source = kernel.workload.source(common.functional_options(&machine), &session.monitor)?;
    let mut paths = BlockPaths::default();
    while source.next_block(&mut paths)? {
        for path in &paths.warps {
            let (branches, taken_first) = of_warp(program, path);
            found.branches += branches;
            found.taken_first += taken_first;
        }
    }
    Ok(found)
}

/// Returns the number of branches at which a warp diverged, and after how many of them it continued
/// at the target.
fn of_warp(program: &KernelCode, path: &WarpPath) -> (usize, usize) {
    let (mut branches, mut taken_first) = (0, 0);
    // after a divergent branch, fewer lanes are active
    for pair in path.masks().windows(2) {
        let [(_, before), (next, after)] = pair else { continue };
        let next = *next as usize;
        let Sem::Branch { target, .. } = program.instr(path.steps()[next - 1].pc()).sem else { continue };
        if !before.contains(*after) {
            continue;
        }
        branches += 1;
        taken_first += usize::from(path.steps()[next].pc() == target);
    }
    (branches, taken_first)
}
