//! The number of times that lanes iterate loops.

use std::collections::HashMap;

use warpbound::base::{LaneMask, Pc};
use warpbound::path::BlockPaths;
use warpbound::program::KernelCode;
use warpbound::program::warp_cfg::{Divergence, WarpCfg};

/// Returns, for each loop of the kernel, the largest number of times that a lane goes back to its
/// beginning after it enters it from outside.
///
/// # Errors
/// Returns an error for irreducible code.
pub fn observed_bounds<'p>(
    program: &KernelCode,
    block: [u32; 3],
    runs: impl Iterator<Item = &'p BlockPaths>,
    by_warp: bool,
) -> Result<HashMap<Pc, u64>, String> {
    let graph = WarpCfg::new(program, Some(block), Divergence::Sides)
        .map_err(|code| code.problem(program).to_string())?;
    let loops = &graph.functions[0].loops.loops;
    let mut most: HashMap<Pc, u64> = HashMap::new();
    for path in runs.flat_map(|block| &block.warps) {
        let mut rounds = vec![[None; 32]; loops.len()];
        let mut masks = path.masks().iter().peekable();
        let mut mask = LaneMask::empty();
        for (index, step) in path.steps().iter().enumerate() {
            while let Some((_, next)) = masks.next_if(|(start, _)| *start as usize <= index) {
                mask = if by_warp { LaneMask::lane(0) } else { *next };
            }
            // lanes that run a function that a loop calls are still in the loop
            let Some(block) = graph.kernel_block_entered_at(program, step.pc()) else { continue };
            for (found, rounds) in loops.iter().zip(&mut rounds) {
                let known = most.entry(graph.blocks[found.header].start).or_default();
                for lane in mask.lanes() {
                    rounds[lane] = match rounds[lane] {
                        _ if !found.contains(block) => None,
                        Some(count) if found.header == block => Some(count + 1),
                        None => Some(0u64),
                        count => count,
                    };
                    *known = rounds[lane].unwrap_or(0).max(*known);
                }
            }
        }
    }
    Ok(most)
}
