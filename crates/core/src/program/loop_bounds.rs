//! Loop bounds that the user states: the maximum number of times that a thread takes the back edge
//! of a loop per entry into the loop.

use std::collections::HashMap;
use std::fmt;
use std::path::Path;
use std::str::FromStr;

use super::KernelCode;
use super::warp_cfg::WarpCfg;
use crate::base::Pc;

/// A bound that the user gives for the loop that begins in a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopBound {
    /// The file name of the source that the bound applies to; `None` applies to every source.
    pub file: Option<String>,
    /// A line of the loop's header block, or of the label before it.
    pub line: u32,
    /// The maximum number of times that a thread takes the back edge per entry into the loop.
    pub most: u64,
}

impl FromStr for LoopBound {
    type Err = String;

    /// Parses `LINE=N` or `FILE:LINE=N`.
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
    /// Returns whether the bound applies to loops of a source.
    pub fn is_for(&self, source: &str) -> bool {
        let name = Path::new(source).file_name().map(|name| name.to_string_lossy());
        self.file.as_ref().is_none_or(|file| name.as_deref() == Some(file.as_str()))
    }
}

/// A bound that fits no loop, or a second bound for the same loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongBound {
    /// The index in the list of bounds.
    pub index: usize,
    /// The problem.
    pub message: &'static str,
    /// How to fix it.
    pub hint: String,
}

/// Maps the header instruction of each loop of the kernel that has a bound to that bound. Bounds
/// for other sources are ignored.
///
/// # Errors
/// No loop begins in the line of a bound (the hint lists the kernel's loops), or a loop has two
/// bounds.
pub fn resolve(
    program: &KernelCode,
    graph: &WarpCfg,
    bounds: &[LoopBound],
) -> Result<HashMap<Pc, u64>, WrongBound> {
    let kernel = &graph.functions[0];
    let line = |pc: Pc| program.instr(pc).line;
    // The lines of a loop's header block and those before it, back to the preceding instruction,
    // since the header's label is there.
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
