//! Why one run takes longer than another: the largest causes, in sentences.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::Serialize;

use super::diff::{Side, names, settings};
use super::explain::{Explained, OfLine};
use super::output::{Output, Report};
use super::source_line::SourceLine;
use super::style::Style;
use super::{Fraction, grouped};
use warpbound_trace::why::Kind;

/// The most characters of a run's arguments that serve as its name.
const MAX_NAME: usize = 40;
/// The number of causes that are stated.
const CAUSES: usize = 3;
/// The name of the stall reason of slots that a policy leaves unused in favour of a warp that is not
/// ready.
const NOT_MY_TURN: &str = "not-my-turn";

/// The causes of the difference between two runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WhyResult {
    /// The answer in one sentence.
    pub sentence: String,
    /// The run that takes longer; the first one if both take the same time.
    pub slower: Side,
    /// The other run.
    pub faster: Side,
    /// The settings in which the runs differ; A is the first run.
    pub settings: Vec<String>,
    /// Cycles of the slower run minus cycles of the faster one.
    pub difference: u64,
    /// The difference over the makespan of the faster run.
    pub share: Fraction,
    /// The largest causes, the largest one first.
    pub causes: Vec<Cause>,
    /// The instruction that the slower run issues most often while a warp on the critical path is
    /// ready, if a cause is such a wait for an issue slot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issued_instead: Option<SourceLine>,
    /// The issue slots that the slower run leaves unused more often than the faster one because the
    /// policy keeps them for a warp that is not ready.
    #[serde(skip_serializing_if = "is_zero")]
    pub not_my_turn: u64,
    /// The cycles that the slower run spends more than the faster one, wherever it does: those of all
    /// causes.
    pub spent_more: u64,
    /// The cycles that it spends less, wherever it does.
    pub spent_less: u64,
}

/// A cause: cycles on the critical path that the slower run has and the faster one has not.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Cause {
    /// The number of cycles.
    pub cycles: u64,
    /// The kind of the cycles.
    #[cfg_attr(test, schemars(with = "crate::schemas::Kind"))]
    pub kind: Kind,
    /// The instruction that waits or executes in most of these cycles; absent for the placement of
    /// blocks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instruction: Option<SourceLine>,
    /// The lines of neighbouring instructions that have the other cycles, in ascending order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub neighbours: Vec<u32>,
    /// The functional unit of the instruction, if the cycles are those of its unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde calls")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// The place of cycles on a critical path: the instruction, unless kernels differ, and the kind.
type Place = (Option<u32>, Kind);

impl WhyResult {
    /// Compares two runs, each given with its name on the command line.
    pub fn new(a: (&str, &Explained), b: (&str, &Explained)) -> Self {
        let same_code = a.1.kernel_digest == b.1.kernel_digest;
        let names = match (same_code, a.1.kernel == b.1.kernel) {
            (true, _) => names(a.1, b.1),
            (false, false) => (a.1.kernel.clone(), b.1.kernel.clone()),
            (false, true) => ("A".to_owned(), "B".to_owned()),
        };
        // what was given says more than a letter
        let is_short = |given: &str| given.chars().count() <= MAX_NAME && !given.ends_with(".json");
        let names = match names.0 == "A" && a.0 != b.0 && is_short(a.0) && is_short(b.0) {
            true => (a.0.to_owned(), b.0.to_owned()),
            false => names,
        };
        let sides = [(a, names.0), (b, names.1)].map(|((given, of), name)| (Side::new(given, name, of), of));
        let settings = settings(a.1, b.1);
        let [first, second] = sides;
        let ((slower, slow), (faster, fast)) =
            if second.0.makespan > first.0.makespan { (second, first) } else { (first, second) };
        let (of_slow, of_fast) = (cycles_by_place(slow, same_code), cycles_by_place(fast, same_code));
        let more = |place: &Place, cycles: u64| cycles.saturating_sub(*of_fast.get(place).unwrap_or(&0));
        let less = |place: &Place, cycles: u64| cycles.saturating_sub(*of_slow.get(place).unwrap_or(&0));
        let causes: Vec<(u64, Place)> =
            of_slow.iter().map(|(place, cycles)| (more(place, *cycles), *place)).collect();
        let spent_more = causes.iter().map(|(cycles, _)| cycles).sum();
        let causes = largest(causes);
        let slots = |of: &Explained| of.stalls.get(NOT_MY_TURN).copied().unwrap_or(0);
        let difference = slower.makespan - faster.makespan;
        let mut result = Self {
            sentence: String::new(),
            settings,
            difference,
            share: Fraction(difference as f64 / faster.makespan.max(1) as f64),
            issued_instead: None,
            not_my_turn: slots(slow).saturating_sub(slots(fast)),
            spent_more,
            spent_less: of_fast.iter().map(|(place, cycles)| less(place, *cycles)).sum(),
            causes: causes.into_iter().take(CAUSES).map(|causes| cause(slow, &causes, same_code)).collect(),
            slower,
            faster,
        };
        if result.causes.iter().any(|cause| cause.kind == Kind::Slot) {
            result.issued_instead = slow.issued_instead.first().map(|first| first.instruction.clone());
        }
        result.sentence = result.sentence();
        result
    }

    fn sentence(&self) -> String {
        let Self { slower, faster, difference, .. } = self;
        let makespan = cycles(slower.makespan);
        match (difference, self.spent_more) {
            (0, 0) => format!(
                "{} and {} both take {makespan}, and spend them in the same ways.",
                slower.name, faster.name
            ),
            (0, _) => format!(
                "{} and {} both take {makespan}, but spend them in different ways.",
                slower.name, faster.name
            ),
            _ => format!(
                "{} takes {makespan}, {} ({:.1} %) more than {}.",
                slower.name,
                grouped(*difference),
                self.share.0 * 100.0,
                faster.name
            ),
        }
    }

    fn text(&self, style: Style) -> String {
        let mut text = style.fill(&format!("{}\n", self.sentence));
        for side in [&self.slower, &self.faster] {
            let under = format!("{} under {}", side.machine, side.policy);
            let name = if side.name == side.given { String::new() } else { format!("{}: ", side.name) };
            text.push_str(&style.fill(&format!("  {name}{} on {under}\n", side.given)));
        }
        for setting in self.settings.iter().filter(|setting| !setting.starts_with("policies differ")) {
            text.push_str(&style.fill(&format!("  {setting}\n")));
        }
        if self.causes.is_empty() {
            return text;
        }
        let of = if self.difference == 0 { "The largest differences" } else { "The largest causes" };
        let _ = writeln!(text, "\n{of}:");
        for (number, cause) in self.causes.iter().enumerate() {
            text.push_str(&style.fill(&format!("  {}.  {}\n", number + 1, cause.text())));
        }
        if let Some(instead) = &self.issued_instead {
            let line = format!(
                "In the issue slots {} issues other warps, most often line {}.\n",
                self.slower.name,
                instead.shown()
            );
            text.push('\n');
            text.push_str(&style.fill(&line));
        }
        if self.not_my_turn > 0 {
            let line = format!(
                "{} leaves {} more issue slots unused, although a warp is ready, because it is the turn of \
                 another warp ({NOT_MY_TURN}).\n",
                self.slower.name,
                grouped(self.not_my_turn)
            );
            text.push('\n');
            text.push_str(&style.fill(&line));
        }
        let stated: u64 = self.causes.iter().map(|cause| cause.cycles).sum();
        let mut rest = format!(
            "These are {} of the {} that {} spends more than {}",
            grouped(stated),
            cycles(self.spent_more),
            self.slower.name,
            self.faster.name
        );
        let _ = match self.spent_less {
            0 => write!(rest, "."),
            less => write!(rest, "; elsewhere it spends {} less.", cycles(less)),
        };
        text.push('\n');
        text.push_str(&style.fill(&format!("{rest}\n")));
        text.push_str(&style.fill("`warpbound diff` with the same arguments shows all differences.\n"));
        text
    }
}

impl Cause {
    pub(super) fn text(&self) -> String {
        let place = match (&self.instruction, &self.neighbours[..]) {
            (None, _) => "at the placement of blocks".to_owned(),
            (Some(place), []) => format!("at line {}", place.shown()),
            (Some(place), lines) => {
                let first = place.line.min(lines[0]);
                let last = place.line.max(lines[lines.len() - 1]);
                format!("at lines {first} to {last}, most at {}", place.shown())
            }
        };
        let unit = self.unit.as_deref().map_or_else(String::new, |unit| format!("; the unit is {unit}"));
        format!("{} more {place} ({}: {}{unit})", cycles(self.cycles), self.kind, self.kind.meaning())
    }
}

/// Returns causes, the largest one first. Cycles of one kind at neighbouring instructions are one
/// cause, of which the place with most cycles comes first.
fn largest(mut places: Vec<(u64, Place)>) -> Vec<Vec<(u64, Place)>> {
    places.retain(|(cycles, _)| *cycles > 0);
    places.sort_by_key(|&(_, (pc, kind))| (kind, pc));
    let are_one = |(_, (a, kind)): &(u64, Place), (_, (b, other)): &(u64, Place)| {
        kind == other && a.zip(*b).is_some_and(|(a, b)| b - a <= 1)
    };
    let mut causes: Vec<Vec<(u64, Place)>> = places.chunk_by(are_one).map(<[_]>::to_vec).collect();
    let sum = |cause: &Vec<(u64, Place)>| cause.iter().map(|(cycles, _)| cycles).sum::<u64>();
    causes.sort_by_key(|cause| std::cmp::Reverse(sum(cause)));
    causes.iter_mut().for_each(|cause| cause.sort_by_key(|(cycles, _)| std::cmp::Reverse(*cycles)));
    causes
}

/// Returns a cause in the slower run.
fn cause(slow: &Explained, places: &[(u64, Place)], same_code: bool) -> Cause {
    let row = |&(_, (pc, kind)): &(u64, Place)| row_of(slow, pc, kind, same_code);
    let most = places.first().and_then(row);
    let line = |row: &OfLine| row.instruction.as_ref().map(|place| place.line);
    let mut neighbours: Vec<u32> = places.iter().skip(1).filter_map(row).filter_map(line).collect();
    neighbours.sort_unstable();
    neighbours.dedup();
    Cause {
        cycles: places.iter().map(|(cycles, _)| cycles).sum(),
        kind: places[0].1.1,
        instruction: most.and_then(|row| row.instruction.clone()),
        neighbours,
        unit: most.and_then(|row| row.unit.clone()),
    }
}

/// Returns the cycles of a critical path by place.
fn cycles_by_place(of: &Explained, by_instruction: bool) -> BTreeMap<Place, u64> {
    let mut cycles = BTreeMap::new();
    for row in &of.lines {
        let pc = row.instruction.as_ref().map(|place| place.pc).filter(|_| by_instruction);
        *cycles.entry((pc, row.kind)).or_default() += row.cycles;
    }
    cycles
}

/// Returns the row of a place, or the one with most of its cycles.
fn row_of(of: &Explained, pc: Option<u32>, kind: Kind, by_instruction: bool) -> Option<&OfLine> {
    let rows = of.lines.iter().filter(|row| row.kind == kind);
    let of_pc = |row: &&OfLine| !by_instruction || row.instruction.as_ref().map(|place| place.pc) == pc;
    rows.filter(of_pc).max_by_key(|row| row.cycles)
}

fn cycles(number: u64) -> String {
    match number {
        1 => "1 cycle".to_owned(),
        _ => format!("{} cycles", grouped(number)),
    }
}

impl Report for Output<WhyResult> {
    fn text(&self, style: Style) -> String {
        self.results.iter().map(|result| result.text(style)).collect()
    }
}
