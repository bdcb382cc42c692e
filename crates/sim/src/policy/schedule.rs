//! Replay files: the issue decisions of a run as text.
//!
//! ```text
//! # which warp issues when; cycles count from the start of the block
//! 0 0
//! 1 0
//! 3 1
//! block 1      # launches with several blocks: one section per block
//! 0 0
//! ```
//!
//! There is one `cycle warp` line per issue, ordered by cycle; several sub-cores may issue in the
//! same cycle. `#` starts a comment. `block N` opens the section of the block with that number;
//! lines before the first such line belong to block 0.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::ops::Range;

use crate::SLOTS;
use warpbound_core::base::{BlockId, Cycle, WarpId};
use warpbound_core::diag::{Diagnostics, SourceText};
use warpbound_trace::trace::Issue;

/// The issue decisions of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    file: String,
    decisions: Vec<Decision>,
    /// The decisions of each block, ordered by block.
    sections: Vec<Section>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Section {
    block: BlockId,
    /// The range of its decisions in `decisions`.
    decisions: Range<usize>,
}

/// One line: a warp issues in a cycle of its block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Decision {
    pub cycle: Cycle,
    pub warp: WarpId,
    pub line: u32,
}

impl Schedule {
    /// Parses a replay file.
    ///
    /// # Errors
    /// Returns a diagnostic for every invalid line.
    pub fn parse(source: &SourceText) -> Result<Self, Diagnostics> {
        let mut problems = Diagnostics::new();
        let mut schedule =
            Self { file: source.name().to_owned(), decisions: Vec::new(), sections: Vec::new() };
        let mut known = BTreeSet::new();
        let mut offset = 0;
        for (index, line) in source.text().split_inclusive('\n').enumerate() {
            let number = u32::try_from(index + 1).unwrap_or(u32::MAX);
            let code = line.split('#').next().unwrap_or_default();
            let start = offset + (code.len() - code.trim_start().len());
            let place = start..start + code.trim().len();
            if let Err(problem) = schedule.add_line(code, number, &mut known) {
                problems.push(source.error(place, problem).hint(
                    "one `cycle warp` line per issue, by cycle; `block N` before the lines of block N",
                ));
            }
            offset += line.len();
        }
        schedule.sections.sort_by_key(|section| section.block);
        problems.into_result(schedule)
    }

    fn add_line(&mut self, code: &str, line: u32, known: &mut BTreeSet<BlockId>) -> Result<(), String> {
        let words: Vec<&str> = code.split_whitespace().collect();
        match words.as_slice() {
            [] => {}
            ["block", number] => {
                let number =
                    number.parse().map_err(|_| format!("`{number}` is not the number of a block"))?;
                if !known.insert(BlockId::new(number)) {
                    return Err(format!("a second section of block {number}"));
                }
                self.open(BlockId::new(number));
            }
            [cycle, warp] => {
                let cycle: u64 = parse_cycle(cycle)?;
                let warp = warp.parse().map_err(|_| format!("`{warp}` is not the number of a warp"))?;
                if usize::from(warp) >= SLOTS {
                    return Err(format!("warp {warp}; a block has at most {SLOTS} warps"));
                }
                if self.sections.is_empty() {
                    known.insert(BlockId::new(0));
                    self.open(BlockId::new(0));
                }
                self.add(Decision { cycle: Cycle::new(cycle), warp: WarpId::new(warp), line })?;
            }
            _ => return Err("expected `cycle warp` or `block N`".to_owned()),
        }
        Ok(())
    }

    fn open(&mut self, block: BlockId) {
        let next = self.decisions.len();
        self.sections.push(Section { block, decisions: next..next });
    }

    /// Adds a decision to the section opened last.
    fn add(&mut self, decision: Decision) -> Result<(), String> {
        let Some(section) = self.sections.last_mut() else {
            return Ok(());
        };
        let before = &self.decisions[section.decisions.clone()];
        if let Some(last) = before.last().filter(|last| last.cycle > decision.cycle) {
            return Err(format!(
                "cycle {} comes after cycle {} of line {}",
                decision.cycle, last.cycle, last.line
            ));
        }
        // several sub-cores may issue in the same cycle, but a warp does not issue twice
        let at_once = before.iter().rev().take_while(|other| other.cycle == decision.cycle);
        if let Some(same) = at_once.into_iter().find(|other| other.warp == decision.warp) {
            return Err(format!(
                "warp {} issues in cycle {} of line {} already",
                decision.warp.get(),
                decision.cycle,
                same.line
            ));
        }
        self.decisions.push(decision);
        section.decisions.end = self.decisions.len();
        Ok(())
    }

    /// Returns the name of the file.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// Returns the decisions for a block; none if it has no section.
    pub(super) fn section(&self, block: BlockId) -> &[Decision] {
        self.sections
            .binary_search_by_key(&block, |section| section.block)
            .map_or(&[], |index| &self.decisions[self.sections[index].decisions.clone()])
    }

    /// Returns the text of a replay file that repeats a run.
    ///
    /// `issues` are the issues of the run in their order; `start` returns the cycle in which a
    /// block started.
    pub fn text<'a>(issues: impl IntoIterator<Item = &'a Issue>, start: impl Fn(BlockId) -> Cycle) -> String {
        let mut issues: Vec<&Issue> = issues.into_iter().collect();
        issues.sort_by_key(|issue| (issue.block, issue.issue));
        let mut text = "# cycle warp\n".to_owned();
        let mut block = BlockId::new(0);
        for issue in issues {
            if issue.block != block {
                block = issue.block;
                let _ = writeln!(text, "block {}", block.get());
            }
            let _ = writeln!(text, "{} {}", issue.issue - start(block), issue.warp.get());
        }
        text
    }
}

/// The limit of cycle numbers. Larger ones are rejected, so that a block's start can be added to
/// them.
const MAX_CYCLE: u64 = 1 << 40;

fn parse_cycle(word: &str) -> Result<u64, String> {
    word.parse().ok().filter(|&c| c < MAX_CYCLE).ok_or_else(|| format!("`{word}` is not a cycle"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Schedule, Diagnostics> {
        Schedule::parse(&SourceText::new("s.replay", text))
    }

    #[test]
    fn sections_and_comments() {
        let schedule = parse("# head\n0 0\n2 1 # why\n\nblock 3\n0 1\nblock 1\n").unwrap();
        let decisions_of = |block| {
            let decisions = schedule.section(BlockId::new(block)).iter();
            decisions.map(|d| (d.cycle.get(), d.warp.get(), d.line)).collect::<Vec<_>>()
        };
        assert_eq!(decisions_of(0), [(0, 0, 2), (2, 1, 3)]);
        assert_eq!(decisions_of(3), [(0, 1, 6)]);
        assert_eq!((decisions_of(1), decisions_of(2)), (vec![], vec![]));
    }

    #[test]
    fn all_wrong_lines_are_reported_with_their_place() {
        let text =
            "x 0\n0 y\n1 0\n1 1\n1 0\n0 1\n2 64\n3\nblock\nblock z\nblock 0\n5 0 0\n99999999999999999999 0\n";
        let shown = parse(text).unwrap_err();
        let lines: Vec<u32> = shown.list().iter().map(|d| d.line).collect();
        assert_eq!(lines, [1, 2, 5, 6, 7, 8, 9, 10, 11, 12, 13], "{shown}");
        assert!(shown.to_string().contains("warp 0 issues in cycle 1 of line 3 already"), "{shown}");
        assert!(shown.to_string().contains("cycle 0 comes after cycle 1 of line 4"), "{shown}");
    }

    #[test]
    fn garbage_is_refused_without_panic() {
        for text in ["\u{0}\u{fffd}\t", "block 0 0", "-1 0", "ä ö", "0 -0", "#", "\r\n0 0\r\n"] {
            let _ = parse(text);
        }
        assert!(parse("\r\n0 0\r\n").is_ok());
    }
}
