//! Every path of a warp is a walk over the control flow of warps, whatever the lanes do.

use warpbound::exec::{Executor, Options};
use warpbound::path::{BlockPaths, BlockSource};
use warpbound::program::warp_cfg::{Divergence, WarpCfg};

use crate::shipped::{Shipped, launch_files, load_by};

#[derive(Default, Debug, PartialEq, Eq)]
struct Seen {
    paths: u64,
    /// The number of steps from block to block that no lane takes.
    added: u64,
    branches: usize,
    /// The number of branches at which lanes may diverge, and at which they did.
    divergent: usize,
    parted: usize,
}

/// Collects the statistics of a launch, and checks that every path is a walk.
fn walks(shipped: &Shipped, divergence: Divergence, seen: &mut Seen) -> Result<(), String> {
    let graph =
        WarpCfg::new(&shipped.program, Some(shipped.launch.block), divergence).expect("it is reducible");
    seen.branches += (0..graph.blocks.len()).filter(|&block| graph.lanes.successors(block).len() > 1).count();
    seen.divergent += graph.diverges.iter().filter(|diverges| **diverges).count();
    let options = Options { max_instructions_per_block: 1 << 30, divergence: true, ..Options::default() };
    let mut executor = Executor::new(&shipped.program, &shipped.launch, options).expect("a launch");
    let mut paths = BlockPaths::default();
    while executor.next_block(&mut paths).unwrap_or_else(|error| panic!("{}: {error}", shipped.name)) {
        for (warp, path) in paths.warps.iter().enumerate() {
            if let Some(index) = graph.first_impossible(path.steps()) {
                let line = |index: usize| shipped.program.instrs[path.steps()[index].pc().index()].line;
                let from = index.checked_sub(1).map(line);
                return Err(format!("{} w{warp}: step {index}, {from:?} to {}", shipped.name, line(index)));
            }
            seen.paths += 1;
            let blocks =
                path.steps().windows(2).map(|pair| [pair[0].pc(), pair[1].pc()].map(|pc| graph.block_of(pc)));
            seen.added += blocks.filter(|&[a, b]| a != b && !graph.lanes.has_edge(a, b)).count() as u64;
        }
    }
    let parted = executor.divergence().expect("asked for").branches().filter(|branch| branch.diverged > 0);
    for branch in parted {
        seen.parted += 1;
        let line = shipped.program.instrs[branch.pc.index()].line;
        assert!(
            graph.diverges[graph.block_of(branch.pc)],
            "{}: line {line} is taken for uniform",
            shipped.name
        );
    }
    Ok(())
}

#[test]
fn paths_of_all_launches_are_walks() {
    let (mut seen, mut published_fails) = (Seen::default(), Vec::new());
    for compiler in ["ptx", "nvrtc.ptx"] {
        for file in launch_files() {
            // instruction tests are our own PTX, not a compiler's
            if compiler != "ptx" && file.parent().is_some_and(|folder| folder.ends_with("micro")) {
                continue;
            }
            let shipped = load_by(&file, 0, compiler);
            walks(&shipped, Divergence::Sides, &mut seen).unwrap_or_else(|problem| panic!("{problem}"));
            if walks(&shipped, Divergence::Published, &mut Seen::default()).is_err() {
                published_fails.push(format!("{} ({compiler})", shipped.name));
            }
        }
    }
    println!("{seen:?}; not walks with the published edges: {published_fails:?}");
    assert!(seen.paths > 1000 && seen.added > 1000, "{seen:?}");
    assert!(seen.divergent < seen.branches, "{seen:?}");
    // its lanes leave the loop early, in different iterations
    assert!(published_fails.iter().any(|name| name.starts_with("loopbreak")), "{published_fails:?}");
}
