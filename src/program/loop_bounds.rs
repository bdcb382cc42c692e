//! What people say of loops: how often a thread goes back to the beginning of one, at most, each time it comes to it from
//! outside.

use std::collections::HashMap;
use std::fmt;
use std::path::Path;
use std::str::FromStr;

use super::Program;
use super::warp_cfg::WarpCfg;
use crate::base::Pc;

/// A bound that somebody gave for the loop that begins in a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopBound {
    /// The last part of the path of the source, where a bound says which it is for.
    pub file: Option<String>,
    /// A line of the loop's first block, or of the label before it.
    pub line: u32,
    /// How often a thread goes back to the beginning of the loop at most, each time it comes to it from outside.
    pub most: u64,
}

impl FromStr for LoopBound {
    type Err = String;

    /// Reads `LINE=N` or `FILE:LINE=N`.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not LINE=N or FILE:LINE=N, such as 17=100");
        let (place, most) = text.split_once('=').ok_or_else(wrong)?;
        let (file, line) = match place.rsplit_once(':') {
            Some((file, line)) => (Some(file.trim().to_owned()), line),
            None => (None, place),
        };
        let line = line.trim().parse().map_err(|_| wrong())?;
        let most = most.trim().parse().map_err(|_| wrong())?;
        Ok(Self { file, line, most })
    }
}

impl fmt::Display for LoopBound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{file}:")?;
        }
        write!(f, "{}={}", self.line, self.most)
    }
}

impl LoopBound {
    /// Whether it is for loops of this source.
    pub fn is_for(&self, source: &str) -> bool {
        let name = Path::new(source).file_name().map(|name| name.to_string_lossy());
        self.file.as_ref().is_none_or(|file| name.as_deref() == Some(file.as_str()))
    }
}

/// A bound of no loop, or a second one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongBound {
    /// Which of those that were given.
    pub index: usize,
    /// What is wrong.
    pub message: &'static str,
    /// What to do about it.
    pub hint: String,
}

/// The loops of a kernel that bounds are for: by first instruction, the bound. Those of other sources are left out.
///
/// # Errors
/// A line where no loop begins, or two bounds for one loop; with the loops that there are.
pub fn resolve(
    program: &Program,
    graph: &WarpCfg,
    bounds: &[LoopBound],
) -> Result<HashMap<Pc, u64>, WrongBound> {
    let kernel = &graph.functions[0];
    let line = |pc: Pc| program.instr(pc).line;
    // the lines of a loop's first block, and those before it back to the instruction in front: its label is there
    let lines = |header: usize| {
        let block = kernel.cfg.blocks[header];
        let before = block.start.index().checked_sub(1).map_or(0, |index| line(Pc::from_index(index)));
        (before + 1).min(line(block.start))..=line(Pc::from_index(block.end.index() - 1))
    };
    let mut found = HashMap::new();
    for (index, bound) in bounds.iter().enumerate().filter(|(_, bound)| bound.is_for(&program.file)) {
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
            return Err(WrongBound { index, message: "no loop begins in this line", hint });
        };
        if found.insert(kernel.cfg.blocks[known.header].start, bound.most).is_some() {
            let hint = "leave one of them out".to_owned();
            return Err(WrongBound { index, message: "this loop has a bound already", hint });
        }
    }
    Ok(found)
}
