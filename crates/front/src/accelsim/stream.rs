//! The structure of a trace file: its header, blocks, warps and instruction lines.

use std::ops::Range;

use super::TraceFile;
use super::header::{Header, Reading, Wrong};
use super::lines::{Failed, Lines};
use super::packed::Unpacked;
use warpbound_core::base::ProgressMonitor;
use warpbound_core::diag::{Diagnostic, shortened};

/// An element of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Item {
    /// The beginning of a block with its number in the launch (x varies fastest).
    Block(u32),
    /// The beginning of a warp with its number of instructions.
    Warp(usize, u64),
    /// An instruction, whose text is [`Stream::line`], and whether it is the last one of its warp.
    Instruction(bool),
    /// The end of a block.
    EndBlock,
}

enum State {
    /// Between blocks.
    Between,
    /// In a block whose coordinates have not been read.
    Begun,
    /// In a block whose coordinates are known.
    InBlock,
    /// After the number of a warp.
    Named(usize),
    /// In a warp with this number of remaining instructions.
    InWarp(u64),
}

/// A parser of a trace file.
pub(super) struct Stream<'w> {
    name: String,
    lines: Lines<'w>,
    pub(super) header: Header,
    line: Range<usize>,
    state: State,
    /// The minimum number of the next block.
    next_block: u64,
    /// The number of blocks so far.
    pub(super) blocks: u64,
    /// The minimum number of the next warp.
    next_warp: usize,
    warps: usize,
}

impl<'w> Stream<'w> {
    /// Opens a trace and reads its header. `monitor` may stop the reader.
    pub(super) fn open(file: &TraceFile, monitor: Option<&'w ProgressMonitor>) -> Result<Self, Diagnostic> {
        let mut lines = Lines::new(file.open.open()?, monitor);
        let mut reading = Reading::default();
        let name = file.name.clone();
        let at = |lines: &Lines<'_>, text: &str, (message, hint): Wrong| {
            let mut problem = Diagnostic::general(&name, message).hint(hint);
            problem.line = u32::try_from(lines.number()).unwrap_or(u32::MAX);
            (problem.column, problem.width) = (1, 1);
            problem.excerpt = shortened(text);
            problem
        };
        let cut = "the file ends in the header";
        let mut state = State::Begun;
        loop {
            // in the packed form a zero ends the header
            if lines.peek().map_err(|failed| at(&lines, "", input(failed)))? == Some(0) {
                let from = lines.position() + 1;
                let unpacked = Unpacked::open(file, from, monitor)?;
                let unpacked = unpacked.map_err(|failed| at(&lines, "", input(failed)))?;
                lines.continue_with(Box::new(unpacked));
                state = State::Between;
                break;
            }
            let line = match lines.advance() {
                Ok(Some(line)) => line,
                Ok(None) => {
                    let hint = "a trace has `#BEGIN_TB` after its header";
                    return Err(at(&lines, "", (cut.to_owned(), hint.to_owned())));
                }
                Err(failed) => return Err(at(&lines, "", input(failed))),
            };
            if line.is_empty() {
                continue;
            }
            let text = String::from_utf8_lossy(lines.text(line));
            let text = text.trim_start_matches('\u{feff}').trim().to_owned();
            match text.as_bytes().first() {
                None => {}
                Some(b'#') if is_begin(&text) => break,
                Some(b'#') => {}
                Some(b'-') => reading.line(&text).map_err(|wrong| at(&lines, &text, wrong))?,
                Some(first) => {
                    let raw = first.is_ascii_digit();
                    let message = "neither a header line, a comment nor `#BEGIN_TB`".to_owned();
                    let hint = match raw {
                        true => {
                            "the output of the tracer must first be grouped by block with its post-processing"
                        }
                        false => "header lines are `-key = value`",
                    };
                    return Err(at(&lines, &text, (message, hint.to_owned())));
                }
            }
        }
        let header = reading.finish().map_err(|wrong| at(&lines, "", wrong))?;
        let threads: u64 = header.block.iter().map(|&n| u64::from(n)).product();
        Ok(Self {
            name: file.name.clone(),
            lines,
            header,
            line: 0..0,
            state,
            next_block: 0,
            blocks: 0,
            next_warp: 0,
            warps: threads.div_ceil(32) as usize,
        })
    }

    /// Replaces the monitor that may stop the reader.
    pub(super) fn watched(&mut self, monitor: &'w ProgressMonitor) {
        self.lines.watched(monitor);
    }

    /// Returns the number of warps of a block.
    pub(super) fn warps(&self) -> usize {
        self.warps
    }

    /// Returns the line of the current instruction.
    pub(super) fn line(&self) -> &[u8] {
        self.lines.text(self.line.clone())
    }

    /// Creates a diagnostic for a range of the current line.
    #[cold]
    pub(super) fn problem(
        &self,
        at: Range<usize>,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Diagnostic {
        let text = String::from_utf8_lossy(self.line()).into_owned();
        let hint = self.header.with_version(hint.into());
        let mut problem = Diagnostic::general(&self.name, message).hint(hint);
        problem.line = u32::try_from(self.lines.number()).unwrap_or(u32::MAX);
        problem.column = at.start as u32 + 1;
        problem.width = (at.len() as u32).max(1);
        problem.excerpt = if text.len() > 200 { text.chars().take(200).collect() } else { text };
        problem
    }

    #[cold]
    fn line_problem(&self, message: impl Into<String>, hint: impl Into<String>) -> Diagnostic {
        self.problem(0..self.line.len(), message, hint)
    }

    /// Returns the next element, or `None` at the end of the file.
    pub(super) fn advance(&mut self) -> Result<Option<Item>, Diagnostic> {
        loop {
            match self.lines.advance() {
                Ok(Some(line)) => self.line = line,
                Ok(None) => {
                    self.line = 0..0;
                    return self.end().map(|()| None);
                }
                Err(failed) => {
                    self.line = 0..0;
                    let (message, hint) = input(failed);
                    return Err(self.line_problem(message, hint));
                }
            }
            if self.line.is_empty() {
                continue;
            }
            if let State::InWarp(left) = self.state
                && !matches!(self.line()[0], b'#' | b'w' | b't')
            {
                self.state = if left == 1 { State::InBlock } else { State::InWarp(left - 1) };
                return Ok(Some(Item::Instruction(left == 1)));
            }
            if let Some(item) = self.structure()? {
                return Ok(Some(item));
            }
        }
    }

    /// Checks that the file may end here.
    fn end(&self) -> Result<(), Diagnostic> {
        let grid: u64 = self.header.grid.iter().map(|&n| u64::from(n)).product();
        if !matches!(self.state, State::Between) {
            let hint = "the file is cut off, or was compressed from a file that was cut off";
            return Err(self.line_problem("the file ends within a block", hint));
        }
        if self.blocks != grid {
            let message = format!("the file ends after {} of the {grid} blocks of the grid", self.blocks);
            return Err(self.line_problem(message, "the file is cut off, or the tracer was stopped"));
        }
        Ok(())
    }

    /// Parses a line that is not an instruction.
    fn structure(&mut self) -> Result<Option<Item>, Diagnostic> {
        let text = String::from_utf8_lossy(self.line()).into_owned();
        if text.starts_with('#') {
            return self.comment_or_mark(&text);
        }
        let (key, value) =
            text.split_once('=').map_or((text.trim(), ""), |(key, value)| (key.trim(), value.trim()));
        match (key, &self.state) {
            ("thread block", State::Begun) => {
                let block = self.place(value)?;
                self.next_block = u64::from(block) + 1;
                self.blocks += 1;
                self.next_warp = 0;
                self.state = State::InBlock;
                Ok(Some(Item::Block(block)))
            }
            // clusters of blocks, which do not influence timing here
            ("cluster id" | "cluster cta" | "cluster rank", State::InBlock) => Ok(None),
            ("warp", State::InBlock) => {
                let warp =
                    value.parse::<usize>().ok().filter(|&warp| (self.next_warp..self.warps).contains(&warp));
                let Some(warp) = warp else {
                    let hint = format!(
                        "each warp comes at most once, in ascending order; a block of this kernel has {}",
                        self.warps
                    );
                    return Err(
                        self.line_problem(format!("`{value}` is not the number of a warp here"), hint)
                    );
                };
                self.next_warp = warp + 1;
                self.state = State::Named(warp);
                Ok(None)
            }
            ("insts", State::Named(warp)) => {
                let warp = *warp;
                let Ok(count) = value.parse::<u64>() else {
                    return Err(self.line_problem(format!("`{value}` is not a number of instructions"), ""));
                };
                self.state = if count == 0 { State::InBlock } else { State::InWarp(count) };
                Ok(Some(Item::Warp(warp, count)))
            }
            _ => Err(self.unexpected()),
        }
    }

    /// Parses a line that begins with `#`.
    fn comment_or_mark(&mut self, text: &str) -> Result<Option<Item>, Diagnostic> {
        match (is_begin(text), text.trim() == "#END_TB", &self.state) {
            (true, _, State::Between) => {
                self.state = State::Begun;
                Ok(None)
            }
            (true, ..) => Err(self.line_problem(
                "a block begins within another one",
                "blocks follow one another, and each ends with #END_TB",
            )),
            (_, true, State::InBlock) => {
                self.state = State::Between;
                Ok(Some(Item::EndBlock))
            }
            (_, true, _) => Err(self.unexpected()),
            // a comment
            _ => Ok(None),
        }
    }

    /// Returns the number of a block, given its coordinates in the grid.
    fn place(&self, value: &str) -> Result<u32, Diagnostic> {
        let [x, y, z] = self.header.grid.map(u64::from);
        let parts: Vec<Option<u64>> = value.split(',').map(|part| part.trim().parse().ok()).collect();
        let number = match parts.as_slice() {
            [Some(bx), Some(by), Some(bz)] if *bx < x && *by < y && *bz < z => Some((bz * y + by) * x + bx),
            _ => None,
        };
        let Some(number) = number else {
            let message = format!("`{value}` is not a block of a grid of ({x}, {y}, {z})");
            return Err(self.line_problem(message, "`thread block = x,y,z`"));
        };
        if number < self.next_block {
            let hint = "each block comes once, in the order of launch: x first, then y, then z";
            return Err(self.line_problem(format!("block {value} comes after a later block, or twice"), hint));
        }
        Ok(number as u32)
    }

    #[cold]
    fn unexpected(&self) -> Diagnostic {
        let expected = match &self.state {
            State::Between => "`#BEGIN_TB` or the end of the file".to_owned(),
            State::Begun => "`thread block = x,y,z`".to_owned(),
            State::InBlock => "`warp = n` or `#END_TB`".to_owned(),
            State::Named(_) => "`insts = n`".to_owned(),
            State::InWarp(left) => format!("{left} more instructions of the warp"),
        };
        self.line_problem("this line is not allowed here", format!("expected {expected}"))
    }
}

fn is_begin(text: &str) -> bool {
    text.trim() == "#BEGIN_TB"
}

fn input(failed: Failed) -> Wrong {
    match failed {
        Failed::Input(error) => {
            (format!("cannot read on: {error}"), "the file is damaged, or not what its name says".to_owned())
        }
        Failed::Stopped => ("stopped before the trace was read".to_owned(), String::new()),
        Failed::TooLong => ("a line of more than 2^18 bytes".to_owned(), "this is not a trace".to_owned()),
    }
}
