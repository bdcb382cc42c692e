//! Loop bounds that the user states: the maximum number of times that a thread takes the back edge
//! of a loop per entry into the loop.

use std::collections::HashMap;
use std::fmt;
use std::ops::RangeInclusive;
use std::path::Path;
use std::str::FromStr;

use super::KernelCode;
use super::sequence::Sequence;
use super::warp_cfg::{Divergence, IrreducibleCode, WarpCfg};
use crate::base::Pc;

/// A bound that the user gives for the loop that begins in a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopBound {
    /// The file name of the source that the bound applies to; `None` applies to every source.
    pub file: Option<String>,
    /// A line of the loop's header block, or of the label before it.
    pub line: u32,
    /// The launches of a program that the bound applies to, numbered from 0; `None` applies to all.
    pub launches: Option<RangeInclusive<u64>>,
    /// The maximum number of times that a thread takes the back edge per entry into the loop.
    pub most: u64,
}

impl FromStr for LoopBound {
    type Err = String;

    /// Parses `LINE=N` or `FILE:LINE=N`. After the line, `@LAUNCH` or `@FIRST-LAST` may follow.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not LINE=N or FILE:LINE=N, such as 17=100");
        let launches_are_wrong =
            || format!("`{text}` is not LINE@LAUNCH=N or LINE@FIRST-LAST=N, such as 17@0-3=100");
        let (place, most) = text.split_once('=').ok_or_else(wrong)?;
        let (file, line) = match place.rsplit_once(':') {
            Some((file, line)) => (Some(file.trim().to_owned()), line),
            None => (None, place),
        };
        let (line, launches) = match line.split_once('@') {
            Some((line, launches)) => (line, Some(range(launches).ok_or_else(launches_are_wrong)?)),
            None => (line, None),
        };
        let line = line.trim().parse().map_err(|_| wrong())?;
        let most = most.trim().parse().map_err(|_| wrong())?;
        Ok(Self { file, line, launches, most })
    }
}

/// Parses `LAUNCH` or `FIRST-LAST`.
fn range(text: &str) -> Option<RangeInclusive<u64>> {
    let number = |text: &str| text.trim().parse::<u64>().ok();
    let range = match text.split_once('-') {
        Some((first, last)) => number(first)?..=number(last)?,
        None => number(text)?..=number(text)?,
    };
    (!range.is_empty()).then_some(range)
}

impl fmt::Display for LoopBound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{file}:")?;
        }
        write!(f, "{}", self.line)?;
        match &self.launches {
            Some(launches) if launches.start() == launches.end() => write!(f, "@{}", launches.start())?,
            Some(launches) => write!(f, "@{}-{}", launches.start(), launches.end())?,
            None => {}
        }
        write!(f, "={}", self.most)
    }
}

impl LoopBound {
    /// Returns whether the bound applies to loops of a source.
    pub fn is_for(&self, source: &str) -> bool {
        let name = Path::new(source).file_name().map(|name| name.to_string_lossy());
        self.file.as_ref().is_none_or(|file| name.as_deref() == Some(file.as_str()))
    }

    /// Returns whether the bound applies to a launch of a program.
    pub fn is_for_launch(&self, number: u64) -> bool {
        self.launches.as_ref().is_none_or(|launches| launches.contains(&number))
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
    let mut found = HashMap::new();
    for (index, bound) in bounds.iter().enumerate().filter(|(_, bound)| bound.is_for(&program.file)) {
        let Some(header) = loop_in_line(program, graph, bound.line) else {
            return Err(WrongBound { index, message: NO_LOOP, hint: loops_of(program, graph) });
        };
        if found.insert(header, bound.most).is_some() {
            return Err(second_bound(index));
        }
    }
    Ok(found)
}

const NO_LOOP: &str = "no loop begins in this line";

fn second_bound(index: usize) -> WrongBound {
    let hint = "leave one of them out".to_owned();
    WrongBound { index, message: "this loop has a bound already", hint }
}

/// Returns the header instruction of the loop of the kernel that begins in a line.
fn loop_in_line(program: &KernelCode, graph: &WarpCfg, line: u32) -> Option<Pc> {
    let kernel = &graph.functions[0];
    let line_of = |pc: Pc| program.instr(pc).line;
    // The lines of a loop's header block and those before it, back to the preceding instruction,
    // since the header's label is there.
    let lines = |header: usize| {
        let block = kernel.cfg.blocks[header];
        let before = block.start.index().checked_sub(1).map_or(0, |index| line_of(Pc::from_index(index)));
        (before + 1).min(line_of(block.start))..=line_of(Pc::from_index(block.end.index() - 1))
    };
    let known = kernel.loops.loops.iter().find(|known| lines(known.header).contains(&line))?;
    Some(kernel.cfg.blocks[known.header].start)
}

/// Returns the lines in which loops of the kernel begin, as a hint.
fn loops_of(program: &KernelCode, graph: &WarpCfg) -> String {
    let kernel = &graph.functions[0];
    let line = |pc: Pc| program.instr(pc).line;
    let mut begins: Vec<u32> =
        kernel.loops.loops.iter().map(|known| line(kernel.cfg.blocks[known.header].start)).collect();
    begins.sort_unstable();
    let begins: Vec<String> = begins.iter().map(u32::to_string).collect();
    match begins.as_slice() {
        [] => format!("`{}` has no loop", program.name),
        [one] => format!("the only loop of `{}` begins in line {one}", program.name),
        _ => format!("the loops of `{}` begin in lines {}", program.name, begins.join(", ")),
    }
}

/// The loop bounds of the launches of a program. A bound for some launches takes precedence over a
/// bound of the same loop for all launches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProgramLoopBounds {
    bounds: Vec<LoopBound>,
    /// For each kernel, the indices of the bounds of its loops, with the headers of these loops.
    of_kernel: Vec<Vec<(usize, Pc)>>,
}

/// A reason for which a program has no loop bounds.
#[derive(Debug)]
pub enum NoLoopBounds {
    /// A bound is wrong.
    Bound(WrongBound),
    /// The control flow of the kernel with this index is irreducible.
    Kernel(usize, Box<IrreducibleCode>),
}

impl ProgramLoopBounds {
    /// Assigns bounds to the loops of the kernels of a program. Bounds for other sources are ignored.
    ///
    /// # Errors
    /// No kernel has a loop that begins in the line of a bound, or no launch that the bound applies to
    /// executes such a kernel, or a loop has two bounds for the same launch.
    pub fn new(sequence: &Sequence, bounds: &[LoopBound]) -> Result<Self, NoLoopBounds> {
        let mut of_kernel: Vec<Vec<(usize, Pc)>> = vec![Vec::new(); sequence.kernels.len()];
        let mut hints: Vec<Vec<String>> = vec![Vec::new(); bounds.len()];
        for (index, kernel) in sequence.kernels.iter().enumerate() {
            let program = &kernel.program;
            let is_for = |bound: &LoopBound| bound.is_for(&program.file);
            if !bounds.iter().any(is_for) {
                continue;
            }
            let graph = WarpCfg::new(program, None, Divergence::Sides)
                .map_err(|code| NoLoopBounds::Kernel(index, code))?;
            for (number, bound) in bounds.iter().enumerate().filter(|(_, bound)| is_for(bound)) {
                match loop_in_line(program, &graph, bound.line) {
                    Some(header) => of_kernel[index].push((number, header)),
                    None => hints[number].push(loops_of(program, &graph)),
                }
            }
        }
        let found = Self { bounds: bounds.to_vec(), of_kernel };
        found.check(sequence, &hints).map_err(NoLoopBounds::Bound)?;
        Ok(found)
    }

    /// Checks that every bound for a source of the program has a loop and a launch, and that no loop
    /// has two bounds. `hints` has the loops of those kernels that a bound does not fit.
    fn check(&self, sequence: &Sequence, hints: &[Vec<String>]) -> Result<(), WrongBound> {
        for (index, (bound, hints)) in self.bounds.iter().zip(hints).enumerate() {
            let kernels: Vec<usize> = (0..self.of_kernel.len())
                .filter(|&kernel| self.of_kernel[kernel].iter().any(|(of, _)| *of == index))
                .collect();
            if kernels.is_empty() && !hints.is_empty() {
                return Err(WrongBound { index, message: NO_LOOP, hint: hints.join("; ") });
            }
            let is_launched = |launches: &RangeInclusive<u64>| {
                let mut all = sequence.launch_kernels().enumerate();
                all.any(|(number, kernel)| launches.contains(&(number as u64)) && kernels.contains(&kernel))
            };
            if let Some(last) = bound.launches.as_ref().map(RangeInclusive::end)
                && *last >= sequence.launches
            {
                let hint = format!("the last launch has the number {}", sequence.launches.saturating_sub(1));
                return Err(WrongBound { index, message: "the program has no launch of this number", hint });
            }
            if let Some(launches) = bound.launches.as_ref().filter(|_| !kernels.is_empty())
                && !is_launched(launches)
            {
                let names: Vec<String> = kernels
                    .iter()
                    .map(|&kernel| format!("`{}`", sequence.kernels[kernel].program.name))
                    .collect();
                let hint = format!("the loop is in {}; the first launch has the number 0", names.join(", "));
                return Err(WrongBound { index, message: "none of these launches executes the loop", hint });
            }
            let before = self.bounds[..index].iter().enumerate();
            let overlaps = |(other, known): (usize, &LoopBound)| {
                let same_launch = match (&known.launches, &bound.launches) {
                    (None, None) => true,
                    (Some(a), Some(b)) => a.start() <= b.end() && b.start() <= a.end(),
                    _ => false,
                };
                let header = |of: &[(usize, Pc)], wanted: usize| {
                    of.iter().find(|(of, _)| *of == wanted).map(|(_, header)| *header)
                };
                same_launch
                    && self
                        .of_kernel
                        .iter()
                        .any(|of| header(of, index).is_some() && header(of, index) == header(of, other))
            };
            if before.into_iter().any(overlaps) {
                return Err(second_bound(index));
            }
        }
        Ok(())
    }

    /// Returns whether no loop of the program has a bound.
    pub fn is_empty(&self) -> bool {
        self.of_kernel.iter().all(Vec::is_empty)
    }

    /// Returns the bounds of the loops of the kernel with this index.
    pub fn of_kernel(&self, kernel: usize) -> impl Iterator<Item = &LoopBound> {
        self.of_kernel[kernel].iter().map(|(index, _)| &self.bounds[*index])
    }

    /// Returns the bounds of a launch of the kernel with this index, as a list and as a map from the
    /// header instruction of the loop to the bound.
    pub fn of_launch(&self, kernel: usize, number: u64) -> (Vec<LoopBound>, HashMap<Pc, u64>) {
        let mut chosen: Vec<(usize, Pc)> = Vec::new();
        for &(index, header) in &self.of_kernel[kernel] {
            let bound = &self.bounds[index];
            if !bound.is_for_launch(number) {
                continue;
            }
            match chosen.iter_mut().find(|(_, known)| *known == header) {
                Some((known, _)) if bound.launches.is_some() => *known = index,
                Some(_) => {}
                None => chosen.push((index, header)),
            }
        }
        let list = chosen.iter().map(|(index, _)| self.bounds[*index].clone()).collect();
        (list, chosen.iter().map(|(index, header)| (*header, self.bounds[*index].most)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_printed_as_they_are_read() {
        for text in ["17=100", "k.ptx:17=100", "17@3=0", "k.ptx:17@0-3=9"] {
            assert_eq!(text.parse::<LoopBound>().map(|bound| bound.to_string()), Ok(text.to_owned()));
        }
        let bound: LoopBound = " k.ptx : 17 @ 2 - 4 = 9".parse().unwrap();
        assert_eq!((bound.line, bound.most, bound.launches.clone()), (17, 9, Some(2..=4)));
        assert!(bound.is_for("folder/k.ptx") && !bound.is_for("other.ptx"));
        assert!(bound.is_for_launch(2) && bound.is_for_launch(4) && !bound.is_for_launch(5));
        for text in ["17", "x=3", "17@=3", "17@4-3=9", "17@x=9", "17@3=-1"] {
            assert!(text.parse::<LoopBound>().is_err(), "{text}");
        }
    }
}
