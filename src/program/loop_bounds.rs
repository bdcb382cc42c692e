//! What people say of loops: how often a warp goes back to the beginning of one, at most, each time it comes to it from outside.

use std::collections::HashMap;

use super::Program;
use super::warp_cfg::WarpCfg;
use crate::base::Pc;
use crate::diag::Diagnostic;

/// A bound that somebody gave for the loop that begins in a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoopBound {
    /// A line of the loop's first block, or of the label before it.
    pub line: u32,
    /// How often a thread goes back to the beginning of the loop at most, each time it comes to it from outside.
    pub most: u64,
}

impl LoopBound {
    /// Reads `LINE=N`.
    ///
    /// # Errors
    /// What it should be instead.
    pub fn parse(text: &str) -> Result<Self, String> {
        let parts = text.split_once('=').map(|(line, most)| (line.trim().parse(), most.trim().parse()));
        match parts {
            Some((Ok(line), Ok(most))) => Ok(Self { line, most }),
            _ => Err(format!("`{text}` is not LINE=N, such as 17=100")),
        }
    }
}

/// The loops of a kernel that bounds are for: by first instruction, the bound.
///
/// # Errors
/// A line where no loop begins, or two bounds for one loop; with the loops that there are.
pub fn resolve(
    program: &Program,
    graph: &WarpCfg,
    bounds: &[LoopBound],
) -> Result<HashMap<Pc, u64>, Diagnostic> {
    let kernel = &graph.functions[0];
    let line = |pc: Pc| program.instr(pc).line;
    // the lines of a loop's first block, and those before it back to the instruction in front: its label is there
    let lines = |header: usize| {
        let block = kernel.cfg.blocks[header];
        let before = block.start.index().checked_sub(1).map_or(0, |index| line(Pc::from_index(index)));
        (before + 1).min(line(block.start))..=line(Pc::from_index(block.end.index() - 1))
    };
    let mut found = HashMap::new();
    for bound in bounds {
        let place = format!("--loop-bound {}={}", bound.line, bound.most);
        let of_line = kernel.loops.loops.iter().find(|known| lines(known.header).contains(&bound.line));
        let Some(known) = of_line else {
            let mut begins: Vec<u32> =
                kernel.loops.loops.iter().map(|known| line(kernel.cfg.blocks[known.header].start)).collect();
            begins.sort_unstable();
            let begins: Vec<String> = begins.iter().map(u32::to_string).collect();
            let hint = match begins.as_slice() {
                [] => format!("`{}` has no loop", program.name),
                [one] => format!("the only loop of `{}` begins in line {one}", program.name),
                _ => format!("the loops of `{}` begin in lines {}", program.name, begins.join(", ")),
            };
            return Err(Diagnostic::general(place, "no loop begins in this line").hint(hint));
        };
        if found.insert(kernel.cfg.blocks[known.header].start, bound.most).is_some() {
            return Err(
                Diagnostic::general(place, "this loop has a bound already").hint("leave one of them out")
            );
        }
    }
    Ok(found)
}
