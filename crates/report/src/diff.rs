//! The comparison of two runs of one kernel: which cycles make up the difference of their
//! makespans.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::Serialize;

use super::explain::{Barrier, Explained};
use super::output::{Output, Report};
use super::source_line::SourceLine;
use super::style::Style;
use super::table::Table;
use super::{Fraction, count, grouped};
use warpbound_trace::why::Kind;

/// The most rows of instructions that text shows.
const MAX_LINES: usize = 12;
/// The most kinds that the stated reason names, and the most lines of each.
const MAX_KINDS: usize = 3;
const MAX_PLACES: usize = 2;

/// The comparison of two runs of a kernel.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DiffResult {
    /// The kernel of both runs.
    pub kernel: String,
    /// The first run.
    pub a: Side,
    /// The second run.
    pub b: Side,
    /// The settings in which the runs differ.
    pub settings: Vec<String>,
    /// Cycles of B minus cycles of A: the sum of the differences in `kinds`, and the sum of those
    /// in `lines`.
    pub difference: i64,
    /// The critical paths by kind, the largest difference first.
    pub kinds: Vec<KindDifference>,
    /// The critical paths by instruction, the largest difference first.
    pub lines: Vec<LineDifference>,
    /// Idle issue slots by reason, the largest difference first.
    pub stalls: Vec<Difference>,
    /// Cycles in which functional units initiated an instruction, the largest difference first.
    pub units: Vec<Difference>,
    /// The reasons for the difference, as sentences.
    pub reasons: Vec<String>,
}

/// One of two runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Side {
    /// The run, as the command line named it.
    pub given: String,
    /// The short name of the run in `reasons`.
    pub name: String,
    /// The machine.
    pub machine: String,
    /// The digest of all machine settings, in hexadecimal.
    pub machine_digest: String,
    /// The policy.
    pub policy: String,
    /// The seed of buffer contents.
    pub seed: u64,
    /// The number of blocks of the launch.
    pub blocks: u32,
    /// The makespan in cycles.
    pub makespan: u64,
}

/// A number counted in both runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Difference {
    /// The name of what is counted.
    pub name: String,
    /// The number in A.
    pub a: u64,
    /// The number in B.
    pub b: u64,
    /// B minus A.
    pub difference: i64,
}

/// The cycles of a kind on both critical paths.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct KindDifference {
    /// The kind.
    #[cfg_attr(test, schemars(with = "crate::schemas::Kind"))]
    pub kind: Kind,
    /// The cycles on the critical path of A.
    pub a: u64,
    /// The cycles on the critical path of B.
    pub b: u64,
    /// B minus A.
    pub difference: i64,
}

/// The cycles that an instruction caused on both critical paths.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LineDifference {
    /// The instruction; absent for the placement of blocks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instruction: Option<SourceLine>,
    /// The cycles on the critical path of A.
    pub a: u64,
    /// The cycles on the critical path of B.
    pub b: u64,
    /// B minus A: the sum of the differences in `kinds`.
    pub difference: i64,
    /// The cycles by kind, the largest difference first.
    pub kinds: Vec<KindDifference>,
}

impl Side {
    /// Returns a run that the command line gave.
    pub(super) fn new(given: &str, name: String, of: &Explained) -> Self {
        Self {
            given: given.to_owned(),
            name,
            machine: of.machine.clone(),
            machine_digest: of.machine_digest.clone(),
            policy: of.policy.clone(),
            seed: of.seed,
            blocks: of.blocks,
            makespan: of.makespan,
        }
    }
}

fn less(b: u64, a: u64) -> i64 {
    b as i64 - a as i64
}

impl KindDifference {
    fn new(kind: Kind, (a, b): (u64, u64)) -> Self {
        Self { kind, a, b, difference: less(b, a) }
    }
}

/// Pairs the numbers of A and B that have the same key, the largest difference first.
fn paired<K: Ord + Clone>(
    a: impl Iterator<Item = (K, u64)>,
    b: impl Iterator<Item = (K, u64)>,
) -> Vec<(K, (u64, u64))> {
    let mut pairs: BTreeMap<K, (u64, u64)> = BTreeMap::new();
    a.for_each(|(key, cycles)| pairs.entry(key).or_default().0 += cycles);
    b.for_each(|(key, cycles)| pairs.entry(key).or_default().1 += cycles);
    let mut list: Vec<(K, (u64, u64))> = pairs.into_iter().filter(|(_, (a, b))| a + b > 0).collect();
    list.sort_by_key(|(_, (a, b))| std::cmp::Reverse(a.abs_diff(*b)));
    list
}

fn named(list: Vec<(String, (u64, u64))>) -> Vec<Difference> {
    let one = |(name, (a, b))| Difference { name, a, b, difference: less(b, a) };
    list.into_iter().map(one).collect()
}

impl DiffResult {
    /// Compares two runs, each given with its name on the command line.
    ///
    /// # Errors
    /// If they are not runs of the same code.
    pub fn new((given_a, a): (&str, &Explained), (given_b, b): (&str, &Explained)) -> Result<Self, String> {
        if a.kernel_digest != b.kernel_digest {
            return Err(match a.kernel == b.kernel {
                true => {
                    format!("two kernels that are both called `{}`, but their code is not the same", a.kernel)
                }
                false => format!("two kernels, `{}` and `{}`", a.kernel, b.kernel),
            });
        }
        let (name_a, name_b) = names(a, b);
        let by_kind = |of: &Explained| of.kinds.iter().map(|row| (row.kind, row.cycles)).collect::<Vec<_>>();
        let kinds = paired(by_kind(a).into_iter(), by_kind(b).into_iter());
        let stalls = |of: &Explained| of.stalls.clone().into_iter();
        let units = |of: &Explained| of.units.clone().into_iter().map(|u| (u.unit, u.busy_cycles));
        let mut result = Self {
            kernel: a.kernel.clone(),
            a: Side::new(given_a, name_a, a),
            b: Side::new(given_b, name_b, b),
            settings: settings(a, b),
            difference: less(b.makespan, a.makespan),
            kinds: kinds.into_iter().map(|(kind, pair)| KindDifference::new(kind, pair)).collect(),
            lines: lines(a, b),
            stalls: named(paired(stalls(a), stalls(b))),
            units: named(paired(units(a), units(b))),
            reasons: Vec::new(),
        };
        result.reasons = result.reasons(a, b);
        Ok(result)
    }

    /// Returns the reasons for the difference, as sentences.
    fn reasons(&self, a: &Explained, b: &Explained) -> Vec<String> {
        let (slow, fast) = if self.difference >= 0 { (&self.b, &self.a) } else { (&self.a, &self.b) };
        let by = self.difference.unsigned_abs();
        let mut reasons = Vec::new();
        let percent = by as f64 / fast.makespan.max(1) as f64 * 100.0;
        let changed = self.kinds.iter().any(|kind| kind.difference != 0);
        reasons.push(match (by, changed) {
            (0, false) => format!("Both take {}, and spend them in the same ways.", cycles(slow.makespan)),
            (0, true) => format!("Both take {}, but spend them in different ways.", cycles(slow.makespan)),
            _ => format!("{} is {} ({percent:.1} %) slower than {}.", slow.name, cycles(by), fast.name),
        });
        // the kinds of which the slower run has more cycles, and those of which it has fewer
        let sign = if self.difference >= 0 { 1 } else { -1 };
        let more = |kind: &&KindDifference| kind.difference * sign > 0;
        let fewer = |kind: &&KindDifference| kind.difference * sign < 0;
        for kind in self.kinds.iter().filter(more).take(MAX_KINDS) {
            reasons.push(format!(
                "{} spends {} more of its critical path on {} ({}){}.",
                slow.name,
                cycles(kind.difference.unsigned_abs()),
                kind.kind,
                kind.kind.meaning(),
                self.places(kind.kind, sign)
            ));
            if kind.kind == Kind::Slot {
                let of_slow = if self.difference >= 0 { b } else { a };
                if let Some(first) = of_slow.issued_instead.first() {
                    reasons.push(format!(
                        "Instead {} issues other warps in these slots, most often line {} ({}).",
                        slow.name,
                        first.instruction.shown(),
                        cycles(first.cycles)
                    ));
                }
            }
        }
        let gains: Vec<String> = { self.kinds.iter().filter(fewer) }
            .take(MAX_KINDS)
            .map(|kind| format!("{} less on {}", cycles(kind.difference.unsigned_abs()), kind.kind))
            .collect();
        if !gains.is_empty() {
            reasons.push(format!("On the other hand {} spends {}.", slow.name, joined(&gains)));
        }
        reasons.extend(self.barriers(a, b));
        if let Some(stall) = self.stalls.first().filter(|stall| stall.difference != 0) {
            reasons.push(format!(
                "Issue slots, on the critical path or not: {} stay empty for {} with {}, {} with {}.",
                stall.a, stall.name, self.a.name, stall.b, self.b.name
            ));
        }
        reasons
    }

    /// Returns the instructions that cause the difference of a kind, in the direction of the sign.
    fn places(&self, kind: Kind, sign: i64) -> String {
        let of_kind = |line: &LineDifference| {
            let place = line.instruction.as_ref()?;
            let row = line.kinds.iter().find(|row| row.kind == kind && row.difference * sign > 0)?;
            Some((row.difference.unsigned_abs(), place.shown()))
        };
        let mut places: Vec<(u64, String)> = self.lines.iter().filter_map(of_kind).collect();
        places.sort_by_key(|(cycles, _)| std::cmp::Reverse(*cycles));
        let shown: Vec<String> = { places.iter().take(MAX_PLACES) }
            .map(|(cycles, text)| format!("{cycles} at line {text}"))
            .collect();
        if shown.is_empty() { String::new() } else { format!(": {}", joined(&shown)) }
    }

    /// Returns the barriers at which the arrivals of warps are further apart in one run than in the
    /// other.
    fn barriers(&self, a: &Explained, b: &Explained) -> Option<String> {
        let find = |of: &Explained, pc: u32| of.barriers.iter().find(|b| b.instruction.pc == pc).cloned();
        let pair = |of_a: &Barrier| Some((of_a.clone(), find(b, of_a.instruction.pc)?));
        let pairs = a.barriers.iter().filter_map(pair);
        let apart = |(x, y): &(Barrier, Barrier)| (x.average() - y.average()).abs();
        let (of_a, of_b) = pairs.max_by(|x, y| apart(x).total_cmp(&apart(y)))?;
        if apart(&(of_a.clone(), of_b.clone())) < 1.0 {
            return None;
        }
        Some(format!(
            "From the first warp's arrival at the barrier of line {} to its release it takes {:.1} cycles on average with \
             {}, {:.1} with {}.",
            of_a.instruction.line,
            of_a.average(),
            self.a.name,
            of_b.average(),
            self.b.name
        ))
    }

    fn text(&self, style: Style) -> String {
        let mut text = String::new();
        let heading =
            format!("{}: A {}, B {}", self.kernel, grouped(self.a.makespan), cycles(self.b.makespan));
        let percent = Fraction(self.difference as f64 / self.a.makespan.max(1) as f64).0 * 100.0;
        let _ = writeln!(text, "{} ({}, {percent:+.1} %)", style.strong(&heading), signed(self.difference));
        for (letter, side) in [("A", &self.a), ("B", &self.b)] {
            let of = format!("  {letter}  {} on {}: {}\n", side.policy, side.machine, side.given);
            text.push_str(&style.fill(&of));
        }
        for setting in &self.settings {
            text.push_str(&style.fill(&format!("  {setting}\n")));
        }
        text.push('\n');
        for reason in &self.reasons {
            text.push_str(&style.fill(&format!("  {reason}\n")));
        }
        let mut table = Table::new(["critical path", "A", "B", "B - A", "in these cycles"], &[0, 4]);
        for row in &self.kinds {
            let cells = [row.kind.name().to_owned(), row.a.to_string(), row.b.to_string()];
            table.row(cells.into_iter().chain([signed(row.difference), row.kind.meaning().to_owned()]));
        }
        let total = [self.a.makespan.to_string(), self.b.makespan.to_string(), signed(self.difference)];
        table.row(["makespan".to_owned()].into_iter().chain(total));
        let _ = write!(text, "\n{}", table.render(2, style.width));
        let mut table = Table::new(["A", "B", "B - A", "mostly", "line: instruction"], &[3, 4]);
        let changed: Vec<&LineDifference> = self.lines.iter().filter(|line| line.moved() > 0).collect();
        for line in changed.iter().take(MAX_LINES) {
            table.row([
                line.a.to_string(),
                line.b.to_string(),
                signed(line.difference),
                line.kinds.first().map(|row| row.kind.name().to_owned()).unwrap_or_default(),
                line.instruction.as_ref().map(SourceLine::shown).unwrap_or_default(),
            ]);
        }
        if !changed.is_empty() {
            let _ = write!(text, "\n{}", table.render(2, style.width));
        }
        if let Some(rest) = changed.get(MAX_LINES..).filter(|rest| !rest.is_empty()) {
            let sum: i64 = rest.iter().map(|line| line.difference).sum();
            let more = count(rest.len(), "more instruction");
            let line = format!("  ... and {more}, together {} (--format json lists all)\n", signed(sum));
            text.push_str(&style.fill(&line));
        }
        for (heading, rows) in [("idle issue slots", &self.stalls), ("unit initiating", &self.units)] {
            let mut table = Table::new([heading, "A", "B", "B - A"], &[0]);
            for row in rows {
                table.row([row.name.clone(), row.a.to_string(), row.b.to_string(), signed(row.difference)]);
            }
            let _ = write!(text, "\n{}", table.render(2, style.width));
        }
        text
    }
}

impl LineDifference {
    /// Returns the sum of the absolute differences over all kinds.
    fn moved(&self) -> u64 {
        self.kinds.iter().map(|kind| kind.difference.unsigned_abs()).sum()
    }
}

/// Returns the critical paths by instruction.
fn lines(a: &Explained, b: &Explained) -> Vec<LineDifference> {
    let by_pc = |of: &Explained| {
        let key = |pc: &Option<SourceLine>| pc.as_ref().map(|place| place.pc);
        of.lines.iter().map(|row| ((key(&row.instruction), row.kind), row.cycles)).collect::<Vec<_>>()
    };
    let places = a.lines.iter().chain(&b.lines).filter_map(|row| row.instruction.as_ref());
    let places: BTreeMap<u32, &SourceLine> = places.map(|place| (place.pc, place)).collect();
    let mut lines: BTreeMap<Option<u32>, LineDifference> = BTreeMap::new();
    for ((pc, kind), pair) in paired(by_pc(a).into_iter(), by_pc(b).into_iter()) {
        let line = lines.entry(pc).or_insert_with(|| LineDifference {
            instruction: pc.and_then(|pc| places.get(&pc).map(|&place| place.clone())),
            a: 0,
            b: 0,
            difference: 0,
            kinds: Vec::new(),
        });
        line.a += pair.0;
        line.b += pair.1;
        line.difference = less(line.b, line.a);
        line.kinds.push(KindDifference::new(kind, pair));
    }
    let mut lines: Vec<LineDifference> = lines.into_values().collect();
    lines.sort_by_key(|line| std::cmp::Reverse((line.difference.unsigned_abs(), line.moved())));
    lines
}

/// Returns short names for the runs: the setting in which they differ, if a single word states it.
pub(super) fn names(a: &Explained, b: &Explained) -> (String, String) {
    let same_machine = a.machine_digest == b.machine_digest;
    let same_policy = a.policy == b.policy;
    // the policy is also a setting of the machine
    match (same_policy, same_machine || a.machine == b.machine, a.seed == b.seed && a.blocks == b.blocks) {
        (false, true, true) => (a.policy.clone(), b.policy.clone()),
        (true, false, true) => (a.machine.clone(), b.machine.clone()),
        _ => ("A".to_owned(), "B".to_owned()),
    }
}

/// Returns the settings in which the runs differ.
pub(super) fn settings(a: &Explained, b: &Explained) -> Vec<String> {
    let mut settings = Vec::new();
    if a.policy != b.policy {
        settings.push(format!("policies differ: A {}, B {}", a.policy, b.policy));
    }
    if a.machine != b.machine {
        settings.push(format!("machines differ: A {}, B {}", a.machine, b.machine));
    } else if a.machine_digest != b.machine_digest && a.policy == b.policy {
        settings.push(format!("settings of the machine {} differ", a.machine));
    }
    if a.seed != b.seed {
        settings.push(format!("seeds of buffer contents differ: A {}, B {}", a.seed, b.seed));
    }
    if (a.blocks, a.threads) != (b.blocks, b.threads) {
        let of = |side: &Explained| {
            format!("{} of {} threads", count(side.blocks as usize, "block"), side.threads)
        };
        settings.push(format!("launches differ: A {}, B {}", of(a), of(b)));
    }
    settings
}

fn cycles(number: u64) -> String {
    count(number as usize, "cycle")
}

fn signed(number: i64) -> String {
    match number {
        0 => "0".to_owned(),
        1.. => format!("+{}", grouped(number.unsigned_abs())),
        _ => format!("-{}", grouped(number.unsigned_abs())),
    }
}

fn joined(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

impl Report for Output<DiffResult> {
    fn text(&self, style: Style) -> String {
        self.results.iter().map(|result| result.text(style)).collect()
    }
}
