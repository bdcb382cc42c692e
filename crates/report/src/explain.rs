//! The report of the cause of a makespan: the critical path, summed up and link by link.
//!
//! [`Explained`] is self-contained: it states the kernel and the machine of the run, because `diff`
//! reads it back from a file.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::{Deserialize, Serialize};

use super::beside::BoundOfRun;
use super::source_line::{self, MadeFrom, SourceLine};
use super::style::Style;
use super::table::Table;
use super::{Fraction, count};
use warpbound_core::base::{Pc, UnitId};
use warpbound_core::machine::Machine;
use warpbound_judge::check::JudgedLaunch;
use warpbound_trace::trace::UnitUse;
use warpbound_trace::why::{Executed, Explanation, Kind, Link};

/// The most rows of instructions that text shows.
const MAX_LINES: usize = 12;
/// The most rows that text shows for instructions issued instead of those on the path.
const MAX_INSTEAD: usize = 4;
/// The most stretches of the path that text shows.
const MAX_STRETCHES: usize = 400;

/// The description of a run, for [`Explained`].
pub struct About<'a> {
    /// The name of the kernel.
    pub kernel: &'a str,
    /// The digest of its code.
    pub kernel_digest: u64,
    /// The number of blocks of the launch.
    pub blocks: u32,
    /// The number of threads per block.
    pub threads: u32,
    /// The machine.
    pub machine: &'a Machine,
    /// The seed of buffer contents.
    pub seed: u64,
    /// The judged run.
    pub checked: &'a JudgedLaunch,
    /// The use of the functional units.
    pub units: &'a UnitUse,
    /// Returns the place of an instruction.
    pub place: &'a dyn Fn(Pc) -> SourceLine,
    /// Returns the op class of an instruction.
    pub class: &'a dyn Fn(Pc) -> &'a str,
}

/// The cause of the makespan of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Explained {
    /// The name of the kernel.
    pub kernel: String,
    /// The digest of its code, in hexadecimal; runs with the same digest can be compared line by
    /// line.
    pub kernel_digest: String,
    /// The number of blocks of the launch.
    pub blocks: u32,
    /// The number of threads per block.
    pub threads: u32,
    /// The machine.
    pub machine: String,
    /// The digest of all machine settings, in hexadecimal.
    pub machine_digest: String,
    /// The policy.
    pub policy: String,
    /// The seed of buffer contents.
    pub seed: u64,
    /// The makespan of the launch in cycles: the sum of `kinds`, and the sum of `lines`.
    pub makespan: u64,
    /// The number of SMs of the machine.
    pub sms: usize,
    /// The SM of the path, which is the SM that ends last.
    pub sm: usize,
    /// The smallest proved bound of the run, if its parts are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound: Option<BoundOfRun>,
    /// The path by kind, the longest first.
    pub kinds: Vec<OfKind>,
    /// The path by kind and instruction, the longest first.
    pub lines: Vec<OfLine>,
    /// The instructions that were issued while an instruction on the path was ready, the most
    /// frequent first. Their cycles are those of the kind `issue-slot`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub issued_instead: Vec<Instead>,
    /// The barriers on the path.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub barriers: Vec<Barrier>,
    /// Idle issue slots of all sub-cores of all SMs, by reason.
    pub stalls: BTreeMap<String, u64>,
    /// Each functional unit that executed an instruction.
    pub units: Vec<Busy>,
    /// The path link by link, if it was requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<Stretches>,
}

/// The cycles of one kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct OfKind {
    /// The kind.
    #[cfg_attr(test, schemars(with = "crate::schemas::Kind"))]
    pub kind: Kind,
    /// The number of cycles.
    pub cycles: u64,
    /// Their share of the makespan.
    pub share: Fraction,
    /// The number of links of the path with these cycles.
    pub links: u64,
}

/// The cycles of one kind that an instruction caused.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct OfLine {
    /// The kind.
    #[cfg_attr(test, schemars(with = "crate::schemas::Kind"))]
    pub kind: Kind,
    /// The number of cycles.
    pub cycles: u64,
    /// Their share of the makespan.
    pub share: Fraction,
    /// The number of links of the path with these cycles.
    pub links: u64,
    /// The instruction that caused them; absent for the placement of blocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instruction: Option<SourceLine>,
    /// The functional unit of the instruction, if the cycles are those of its unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
}

/// The cycles in which an instruction was issued while an instruction on the path was ready.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Instead {
    /// The number of cycles.
    pub cycles: u64,
    /// The instruction that was issued.
    pub instruction: SourceLine,
}

/// A barrier on the path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Barrier {
    /// The barrier instruction.
    pub instruction: SourceLine,
    /// How often the path passes through the barrier.
    pub releases: u64,
    /// Cycles from the issue of the first arrival to the release, summed over these passes.
    pub first_arrival_to_release: u64,
}

/// The use of a functional unit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Busy {
    /// Its name in the machine.
    pub unit: String,
    /// The number of its instances on all SMs.
    pub instances: usize,
    /// Instructions that the instances executed.
    pub instructions: u64,
    /// Cycles in which an instance was initiating an instruction, summed over the instances.
    pub busy_cycles: u64,
}

/// The path, with similar consecutive links combined into stretches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Stretches {
    /// The stretches in the order of time, without gaps, from cycle 0.
    pub stretches: Vec<Stretch>,
    /// The number of links after these stretches, which are only included in the sums.
    pub more_links: u64,
}

/// One or more consecutive links of the path, of one kind and warp.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Stretch {
    /// The first cycle.
    pub from: u64,
    /// The cycle after the last.
    pub to: u64,
    /// The kind.
    #[cfg_attr(test, schemars(with = "crate::schemas::Kind"))]
    pub kind: Kind,
    /// The number of links.
    pub links: u64,
    /// The instruction that caused the cycles, or the first of several; absent for the placement of
    /// blocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<Instance>,
    /// The last instruction, if there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Instance>,
    /// The instruction that was delayed, if it is not the one that caused the cycles; absent at the
    /// end of a block.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting: Option<Instance>,
}

/// An instruction that a warp executed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Instance {
    /// The index of the block.
    pub block: u32,
    /// The index of the warp in its block.
    pub warp: u16,
    /// The index in the path of the warp.
    pub index: u32,
    /// The line in the source.
    pub line: u32,
    /// The text of the line.
    pub text: String,
    /// The line of CUDA C++ from which a compiler made the instruction, if the PTX states it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<MadeFrom>,
}

impl Instance {
    /// Returns line and text in the form that tables show, with the source line if it is known.
    fn shown(&self) -> String {
        source_line::shown(self.line, &self.text, self.source.as_ref())
    }
}

impl Explained {
    /// Returns the report of an explanation, with the path if it is requested.
    pub fn new(about: &About<'_>, found: &Explanation, with_path: bool) -> Self {
        let machine = about.machine;
        let makespan = found.makespan.get();
        let share = |cycles: u64| Fraction(cycles as f64 / makespan.max(1) as f64);
        let place = about.place;
        let mut sums: BTreeMap<Kind, (u64, u64)> = BTreeMap::new();
        for spent in &found.spent {
            let sum = sums.entry(spent.kind).or_default();
            *sum = (sum.0 + spent.cycles.get(), sum.1 + spent.links);
        }
        let of_kind = |(kind, (cycles, links))| OfKind { kind, cycles, share: share(cycles), links };
        let mut kinds: Vec<OfKind> = sums.into_iter().map(of_kind).collect();
        kinds.sort_by_key(|row| std::cmp::Reverse(row.cycles));
        let unit = |spent: &warpbound_trace::why::Spent| {
            let pc =
                spent.pc.filter(|_| matches!(spent.kind, Kind::Initiation | Kind::Unit | Kind::UnitFull))?;
            let timing = machine.op((about.class)(pc))?;
            Some(machine.units()[timing.unit.index()].name.clone())
        };
        let of_line = |spent: &warpbound_trace::why::Spent| OfLine {
            kind: spent.kind,
            cycles: spent.cycles.get(),
            share: share(spent.cycles.get()),
            links: spent.links,
            instruction: spent.pc.map(place),
            unit: unit(spent),
        };
        let mut lines: Vec<OfLine> = found.spent.iter().map(of_line).collect();
        lines.sort_by_key(|row| std::cmp::Reverse(row.cycles));
        let instead = |(pc, cycles): &(Pc, warpbound_core::base::Cycles)| Instead {
            cycles: cycles.get(),
            instruction: place(*pc),
        };
        let mut issued_instead: Vec<Instead> = found.instead.iter().map(instead).collect();
        issued_instead.sort_by_key(|row| std::cmp::Reverse(row.cycles));
        let barrier = |passed: &warpbound_trace::why::Passed| Barrier {
            instruction: place(passed.pc),
            releases: passed.releases,
            first_arrival_to_release: passed.spread.get(),
        };
        Self {
            kernel: about.kernel.to_owned(),
            kernel_digest: format!("{:016x}", about.kernel_digest),
            blocks: about.blocks,
            threads: about.threads,
            machine: machine.name().to_owned(),
            machine_digest: format!("{:016x}", machine.digest()),
            policy: about.checked.policy.clone(),
            seed: about.seed,
            makespan,
            sms: machine.sms(),
            sm: found.sm,
            bound: BoundOfRun::smallest(about.checked),
            kinds,
            lines,
            issued_instead,
            barriers: found.barriers.iter().map(barrier).collect(),
            stalls: about
                .checked
                .stalls
                .iter()
                .map(|(reason, n)| (reason.name().to_owned(), n.get()))
                .collect(),
            units: busy(machine, about.units),
            path: with_path.then(|| Stretches {
                stretches: stretches(&found.links, about.place),
                more_links: found.more_links,
            }),
        }
    }

    /// Checks that the sums are consistent, because a file can have any contents.
    ///
    /// # Errors
    /// If the path does not add up to the makespan.
    pub fn added_up(self) -> Result<Self, String> {
        let kinds = self.kinds.iter().try_fold(0, |sum: u64, row| sum.checked_add(row.cycles));
        let lines = self.lines.iter().try_fold(0, |sum: u64, row| sum.checked_add(row.cycles));
        if kinds != Some(self.makespan) || lines != kinds {
            return Err(format!("its critical path does not add up to its {} cycles", self.makespan));
        }
        if let Some(bound) = self.bound.as_ref().filter(|bound| !bound.adds_up()) {
            return Err(format!("the parts of {} do not add up to its {} cycles", bound.name, bound.cycles));
        }
        Ok(self)
    }

    /// Returns the cycles of each kind.
    pub fn cycles_of_kinds(&self) -> Vec<(Kind, u64)> {
        self.kinds.iter().map(|row| (row.kind, row.cycles)).collect()
    }

    /// Returns the text for people, which follows the report of the run.
    pub fn text(&self, style: Style) -> String {
        let of_sm = if self.sms > 1 { format!(" of SM {}, which ends last", self.sm) } else { String::new() };
        let heading = format!("critical path{of_sm}: the causes of the {} cycles", self.makespan);
        let mut text = format!("\n  {}\n", style.strong(&heading));
        let mut table = Table::new(["cycles", "share", "kind", "in these cycles"], &[2, 3]);
        let percent = |cycles: u64| format!("{:.1} %", cycles as f64 / self.makespan.max(1) as f64 * 100.0);
        for row in &self.kinds {
            let cells = [row.cycles.to_string(), percent(row.cycles)];
            table.row(cells.into_iter().chain([row.kind.name().to_owned(), row.kind.meaning().to_owned()]));
        }
        table.row([self.makespan.to_string(), percent(self.makespan), "makespan".to_owned(), String::new()]);
        text.push_str(&table.render(2, style.width));
        text.extend(self.bound.iter().map(|bound| bound.text(&self.cycles_of_kinds(), style)));
        let mut table = Table::new(["cycles", "share", "times", "kind", "line: instruction"], &[3, 4]);
        for row in self.lines.iter().take(MAX_LINES) {
            table.row([
                row.cycles.to_string(),
                percent(row.cycles),
                row.links.to_string(),
                row.kind.name().to_owned(),
                row.instruction.as_ref().map(SourceLine::shown).unwrap_or_default(),
            ]);
        }
        let _ = write!(text, "\n{}", table.expendable([2]).render(2, style.width));
        if let Some(rest) = self.lines.get(MAX_LINES..).filter(|rest| !rest.is_empty()) {
            let cycles: u64 = rest.iter().map(|row| row.cycles).sum();
            let rows = count(rest.len(), "smaller row");
            let line = format!("  ... and {rows} with {cycles} cycles (--format json lists all)\n");
            text.push_str(&style.fill(&line));
        }
        text.push_str(&self.instead_text(style));
        text.push_str(&self.barriers_text(style));
        match &self.path {
            Some(path) => text.push_str(&path.text(style)),
            None => text.push_str("\n  -v shows the path link by link\n"),
        }
        text
    }

    fn barriers_text(&self, style: Style) -> String {
        if self.barriers.is_empty() {
            return String::new();
        }
        let heading = ["passes", "first arrival to release", "line: barrier on the path"];
        let mut table = Table::new(heading, &[2]);
        for barrier in &self.barriers {
            table.row([
                barrier.releases.to_string(),
                format!("{:.1} cycles", barrier.average()),
                barrier.instruction.shown(),
            ]);
        }
        format!("\n{}", table.render(2, style.width))
    }

    fn instead_text(&self, style: Style) -> String {
        if self.issued_instead.is_empty() {
            return String::new();
        }
        let mut table = Table::new(["cycles", "line: issued instead, in issue-slot"], &[1]);
        for row in self.issued_instead.iter().take(MAX_INSTEAD) {
            table.row([row.cycles.to_string(), row.instruction.shown()]);
        }
        if let Some(rest) = self.issued_instead.get(MAX_INSTEAD..).filter(|rest| !rest.is_empty()) {
            let cycles: u64 = rest.iter().map(|row| row.cycles).sum();
            table.row([cycles.to_string(), format!("{} more", rest.len())]);
        }
        format!("\n{}", table.render(2, style.width))
    }
}

/// Returns the units of the machine that executed an instruction.
fn busy(machine: &Machine, used: &UnitUse) -> Vec<Busy> {
    let busy = |(index, unit): (usize, &warpbound_core::machine::Unit)| {
        let id = UnitId::from_index(index);
        (used.instructions(id) > 0).then(|| Busy {
            unit: unit.name.clone(),
            instances: machine.sub_cores().instances(id) * machine.sms(),
            instructions: used.instructions(id),
            busy_cycles: used.busy(id).get(),
        })
    };
    machine.units().iter().enumerate().filter_map(busy).collect()
}

impl Barrier {
    /// Returns the average number of cycles from the first arrival to the release.
    pub fn average(&self) -> f64 {
        self.first_arrival_to_release as f64 / self.releases.max(1) as f64
    }
}

/// Combines similar consecutive links into stretches.
fn stretches(links: &[Link], place: &dyn Fn(Pc) -> SourceLine) -> Vec<Stretch> {
    let instance = |of: Executed| {
        let SourceLine { line, text, source, .. } = place(of.pc);
        Instance { block: of.block.get(), warp: of.warp.get(), index: of.index, line, text, source }
    };
    let mut stretches: Vec<Stretch> = Vec::new();
    for link in links {
        let of = link.of.map(instance);
        let same = |stretch: &&mut Stretch| {
            let who = |of: &Option<Instance>| of.as_ref().map(|of| (of.block, of.warp));
            stretch.kind == link.kind && who(&stretch.of) == who(&of)
        };
        let waiting = link.waiting.map(instance);
        if let Some(stretch) = stretches.last_mut().filter(same) {
            stretch.to = link.to.get();
            stretch.links += 1;
            stretch.until = of;
            stretch.waiting = waiting;
        } else {
            let (from, to) = (link.from.get(), link.to.get());
            stretches.push(Stretch { from, to, kind: link.kind, links: 1, of, until: None, waiting });
        }
    }
    stretches
}

impl Stretches {
    fn text(&self, style: Style) -> String {
        let heading = ["from", "to", "cycles", "kind", "block", "warp", "line: instruction", "delayed"];
        let mut table = Table::new(heading, &[3, 6, 7]).expendable([4, 7, 1]);
        for stretch in self.stretches.iter().take(MAX_STRETCHES) {
            let of =
                |number: &dyn Fn(&Instance) -> String| stretch.of.as_ref().map(number).unwrap_or_default();
            let what = match (&stretch.of, &stretch.until) {
                (Some(first), Some(last)) if first.line != last.line => {
                    format!("{} to {}: {} instructions", first.line, last.line, stretch.links)
                }
                (Some(of), _) => of.shown(),
                (None, _) => String::new(),
            };
            let waiting = stretch.waiting.as_ref();
            table.row([
                stretch.from.to_string(),
                stretch.to.to_string(),
                (stretch.to - stretch.from).to_string(),
                stretch.kind.name().to_owned(),
                of(&|of| of.block.to_string()),
                of(&|of| format!("w{}", of.warp)),
                what,
                waiting.map(|by| format!("w{} {}", by.warp, by.shown())).unwrap_or_default(),
            ]);
        }
        let mut text = format!("\n{}", table.render(2, style.width));
        let more = self.stretches.len().saturating_sub(MAX_STRETCHES);
        if more > 0 {
            let _ = writeln!(text, "  ... and {} (--format json lists all)", count(more, "more stretch"));
        }
        if self.more_links > 0 {
            let _ = writeln!(text, "  the {} links after them are only in the sums", self.more_links);
        }
        text
    }
}
