//! The comparison of the analyser with the simulator on a single warp, event by event.
//!
//! Table 3 of Jeanmougin et al., ECRTS 2025, compares total cycles; here every issue, start and
//! write-back time of every instruction must be the same. Analyser and simulator share no code that
//! computes times, so their agreement is meaningful.

use std::fmt;

use warpbound_bound::analyse_alone;
use warpbound_core::base::Cycle;
use warpbound_core::diag::{Diagnostic, Diagnostics};
use warpbound_core::machine::Machine;
use warpbound_core::path::{BlockPaths, WarpPath};
use warpbound_core::program::TimingTable;
use warpbound_sim::{Engine, PaperMachine, PolicySetup};
use warpbound_trace::trace::Recorder;

/// The index in the path of one instruction, and its issue, start and write-back.
type Times = (u32, Cycle, Cycle, Cycle);

/// The first event in which analyser and simulator differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The index of the warp in the block.
    pub warp: usize,
    /// The times of the analyser: index in the path, issue, start, done.
    pub analysed: Option<Times>,
    /// The times of the simulator.
    pub simulated: Option<Times>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "self-check: warp {} alone: analyser {:?}, simulator {:?}",
            self.warp, self.analysed, self.simulated
        )
    }
}

/// Compares every warp of a block, run alone. Returns the number of warps compared. Blocks with
/// partial barriers are skipped, because a lone warp would wait there forever.
///
/// # Errors
/// Returns the first difference, which is a fault of this program; or an error for a machine beyond
/// the paper model.
pub fn self_check(table: &TimingTable, machine: &Machine, paths: &BlockPaths) -> Result<u64, Diagnostics> {
    if paths.partial_barriers {
        return Ok(0);
    }
    let machine = PaperMachine::of(machine)?;
    let mut compared = 0;
    // warps of a block mostly execute the same steps, so equal ones are compared only once
    let mut done: Vec<&WarpPath> = Vec::new();
    for (index, path) in paths.warps.iter().enumerate() {
        compared += 1;
        if done.iter().any(|seen| seen.steps() == path.steps()) {
            continue;
        }
        done.push(path);
        compare(table, machine, index, path).map_err(|difference| {
            Diagnostic::general("warpbound", difference.to_string())
                .hint("this is a fault of warpbound; please report it")
        })?;
    }
    Ok(compared)
}

fn compare(
    table: &TimingTable,
    machine: PaperMachine<'_>,
    warp: usize,
    path: &WarpPath,
) -> Result<(), Difference> {
    let mut analysed: Vec<Times> = Vec::new();
    analyse_alone(table, path, |event| analysed.push((event.index, event.issue, event.start, event.done)));
    let alone = BlockPaths { warps: vec![path.clone()], ..BlockPaths::default() };
    let mut recorder = Recorder::default();
    let ran = Engine::new(table, machine).run_block(&alone, &PolicySetup::Lrr, &mut recorder);
    debug_assert!(ran.is_ok(), "only a replay can fail");
    let simulated: Vec<Times> = recorder.issues().map(|e| (e.index, e.issue, e.start, e.done)).collect();
    let first = (0..analysed.len().max(simulated.len())).find(|&i| analysed.get(i) != simulated.get(i));
    first.map_or(Ok(()), |i| {
        Err(Difference { warp, analysed: analysed.get(i).copied(), simulated: simulated.get(i).copied() })
    })
}
