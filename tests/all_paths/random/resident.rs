//! The bound over all paths for blocks that are resident together, compared with RBB of runs and,
//! for small blocks, with every schedule.

use warpbound::base::{BlockId, Cycles, ProgressMonitor};
use warpbound::bound::{Analyser, BlockShare, LaunchShares, Residency, StaticShare, static_share};
use warpbound::explore::explore;
use warpbound::explore::search::Limits;
use warpbound::machine::Machine;
use warpbound::machine::pipeline::Launch;
use warpbound::path::{BlockPaths, PathSet};
use warpbound::program::TimingTable;

/// Returns the share of a run's block in RBB.
pub fn share_of_run(analyser: &mut Analyser<'_>, paths: &BlockPaths) -> BlockShare {
    let mut share = BlockShare::default();
    analyser.for_each_section(paths, |section| share.add_section(section));
    share
}

fn value(residency: Residency, shares: &[BlockShare]) -> u64 {
    let mut launch = LaunchShares::new(residency);
    for (block, share) in shares.iter().enumerate() {
        launch.add(BlockId::from_index(block), share);
    }
    launch.value().cycles().get()
}

/// Compares launches of several copies of the blocks, each with the paths of another run. RBB is at
/// most the bound over all paths, if blocks have a warp on each sub-core; both are equal if every block has one path and there is one
/// sub-core. Returns the number of comparisons.
pub fn attack(table: &TimingTable, sets: &[&[PathSet]], runs: &[Vec<BlockPaths>]) -> Result<u64, String> {
    let mut analyser = Analyser::new(table);
    let of_sets: Vec<StaticShare> = sets.iter().map(|sets| static_share(table, sets)).collect();
    let (mut ours, mut theirs, mut one_path) = (Vec::new(), Vec::new(), true);
    for (run, number) in runs.iter().zip(0..) {
        // the blocks of the first run occur twice, for equal blocks and a launch of odd length
        for _ in 0..if number == 0 { 2 } else { 1 } {
            for (paths, (of_sets, sets)) in run.iter().zip(of_sets.iter().zip(sets)) {
                one_path &= paths
                    .warps
                    .iter()
                    .zip(*sets)
                    .all(|(path, set)| set.only_path() == Some(path.steps().to_vec()));
                ours.push(of_sets.share.clone());
                theirs.push(share_of_run(&mut analyser, paths));
            }
        }
    }
    let mut compared = 0;
    for places in [1, 2, 3, 100] {
        for sms in [1, 2] {
            let cores = table.sub_cores();
            let warps = sets.first().map_or(0, |sets| sets.len());
            let blocks = ours.len() as u32;
            let residency =
                Residency { places, sms, blocks, warps, sub_cores: cores.count(), costs: Launch::default() };
            let (all_paths, rbb) = (value(residency, &ours), value(residency, &theirs));
            // If no block is on every sub-core, RBB may grow when a block has less work: it counts the
            // load of the fullest sub-core, and less for the block itself. Both are bounds.
            if warps < cores.count() && rbb > all_paths {
                continue;
            }
            if rbb > all_paths || one_path && cores.count() == 1 && rbb != all_paths {
                return Err(format!("{residency:?}: RBB {rbb}, static {all_paths}, one path: {one_path}"));
            }
            compared += 1;
        }
    }
    Ok(compared)
}

/// Checks that the longest of all schedules of the block is at most this; returns `None` if there
/// are too many.
pub fn explored(
    table: &TimingTable,
    machine: &Machine,
    paths: &BlockPaths,
    most: u64,
) -> Result<bool, String> {
    let limits = Limits { max_states: 3000, max_bytes: 1 << 24, threads: 1 };
    match explore(table, machine, paths, Cycles::ZERO, limits, &ProgressMonitor::new()) {
        Ok(found) if found.is_complete() => {
            let worst = found.worst.at_least.get();
            if worst <= most { Ok(true) } else { Err(format!("a schedule takes {worst} > static {most}")) }
        }
        _ => Ok(false),
    }
}
