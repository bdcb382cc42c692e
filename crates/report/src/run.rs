//! The report of a run: its cycles, and which causes cost them.

use std::fmt::Write;
use std::sync::LazyLock;

use serde::{Serialize, Serializer};

use super::banks::{self, BankLine};
use super::check::CheckResult;
use super::divergence::DivergenceReport;
use super::explain::Explained;
use super::output::{Output, Report};
use super::source_line::SourceLine;
use super::style::Style;
use super::table::Table;
use super::{Fraction, count};
use warpbound_core::base::{Cycles, Pc, UnitId};
use warpbound_core::machine::Machine;
use warpbound_judge::check::JudgedLaunch;
use warpbound_sim::{CacheStats, MemoryStats};
use warpbound_trace::trace::{LostCycles, StallReason, Stalls, UnitUse};

/// The most causes of lost cycles that text shows.
const MAX_LOST: usize = 12;
/// The most sub-cores for which text has a column each.
const SUB_CORE_COLUMNS: usize = 8;

/// A run of a kernel or program under one policy, judged and explained.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RunResult<'a> {
    /// The part that `check` reports, too.
    #[serde(flatten)]
    pub check: CheckResult<'a>,
    /// Instructions that took an issue slot.
    pub issues: u64,
    /// Issues divided by issue slots; there are as many issue slots as cycles of the makespan, on
    /// each sub-core.
    pub issue_utilisation: Fraction,
    /// Idle issue slots by reason. Together with the slots that issued, they add up to the makespan
    /// times the number of sub-cores of all SMs.
    #[serde(serialize_with = "by_name")]
    #[cfg_attr(test, schemars(with = "std::collections::BTreeMap<&'static str, u64>"))]
    pub stalls: Stalls,
    /// The number of SMs of the machine.
    pub sms: usize,
    /// Each sub-core, SM by SM, if there are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sub_cores: Vec<SubCore>,
    /// Counts of memory transactions and DRAM commands, on machines with a memory system.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<Memory>,
    /// Which units and instructions the cycles went to; absent with `--timings`.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub details: Option<Details>,
    /// The critical path, with `--explain`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explanation: Option<Explained>,
    /// The time that the run took, with `--timings`; it differs from run to run.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<Seconds>,
}

/// One of several sub-cores.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SubCore {
    /// Its number; the sub-cores of an SM have consecutive numbers.
    pub sub_core: usize,
    /// Instructions that it issued.
    pub issues: u64,
    /// Its issues divided by the makespan.
    pub issue_utilisation: Fraction,
    /// Its idle issue slots by reason. Together with the slots that issued, they add up to the
    /// makespan.
    #[serde(serialize_with = "by_name")]
    #[cfg_attr(test, schemars(with = "std::collections::BTreeMap<&'static str, u64>"))]
    pub stalls: Stalls,
}

/// Counts of memory transactions and DRAM commands.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Memory {
    /// The first-level data caches.
    pub l1: Cache,
    /// The constant caches.
    pub constant: Cache,
    /// The slices of the second-level cache.
    pub l2: Cache,
    /// DRAM column reads.
    pub dram_reads: u64,
    /// DRAM column writes.
    pub dram_writes: u64,
    /// DRAM rows that were activated.
    pub dram_activations: u64,
}

/// A cache, or all caches of a kind together.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Cache {
    /// Transactions that accessed it.
    pub accesses: u64,
    /// Transactions that hit.
    pub hits: u64,
    /// Transactions that missed and were sent to the next level.
    pub misses: u64,
    /// Transactions that were merged with a miss in flight.
    pub merged: u64,
    /// Attempts that were rejected because a resource was full.
    pub stalls: u64,
    /// Lines written back to the next level.
    pub write_backs: u64,
}

/// Which units and instructions the cycles went to.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Details {
    /// Each functional unit that executed an instruction.
    pub units: Vec<Unit>,
    /// Idle issue slots by cause, the most costly first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lost_cycles: Vec<Lost>,
    /// Bank conflicts in shared memory by source line.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bank_conflicts: Vec<BankLine>,
    /// The divergence of branches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub divergence: Option<DivergenceReport>,
    /// The number of branches that text shows.
    #[serde(skip)]
    pub most_branches: usize,
}

/// A functional unit.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Unit {
    /// Its name in the machine.
    pub unit: String,
    /// The number of its instances on all SMs.
    pub instances: usize,
    /// Instructions that the instances executed.
    pub instructions: u64,
    /// Cycles in which an instance was initiating an instruction, summed over the instances.
    pub busy_cycles: u64,
    /// Busy cycles divided by the makespan times the number of instances.
    pub utilisation: Fraction,
}

/// Idle issue slots with the same cause.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Lost {
    /// The number of slots, in cycles.
    pub cycles: u64,
    /// Their share of all issue slots.
    pub share: Fraction,
    /// The reason for the stall.
    pub reason: &'static str,
    /// The instruction that could not issue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waiting: Option<SourceLine>,
    /// The instruction whose result it waited for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub producer: Option<SourceLine>,
}

/// Times that the run took, in seconds. The functional run and the analysis may overlap the
/// simulation, so the parts may add up to more than the total; for a program the parts are not measured separately.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Seconds {
    /// The time of the functional run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exec_seconds: Option<f64>,
    /// The time of the analysis of blocks for the bounds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub analysis_seconds: Option<f64>,
    /// The time of the simulation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sim_seconds: Option<f64>,
    /// The total time.
    pub seconds: f64,
}

impl<'a> RunResult<'a> {
    /// Extends the report of a judged run by the results that only `run` reports.
    pub fn new(check: CheckResult<'a>, checked: &JudgedLaunch) -> Self {
        let sub_core = |(sub_core, used): (usize, &warpbound_sim::SubCoreResult)| SubCore {
            sub_core,
            issues: used.issues,
            issue_utilisation: Fraction(checked.sub_core_utilisation(sub_core)),
            stalls: used.stalls,
        };
        Self {
            check,
            issues: checked.issues,
            issue_utilisation: Fraction(checked.issue_utilisation()),
            stalls: checked.stalls,
            sms: checked.sms,
            sub_cores: match checked.sub_cores.as_slice() {
                [_] => Vec::new(),
                several => several.iter().enumerate().map(sub_core).collect(),
            },
            memory: checked.memory.map(Memory::from),
            details: None,
            explanation: None,
            seconds: None,
        }
    }

    fn text(&self, style: Style) -> String {
        let mut text = self.check.text(style);
        text.push('\n');
        text.push_str(&style.fill(&format!(
            "  {} warp instructions, {} thread instructions{}, {} issued, issue utilisation {:.3}\n",
            self.check.warp_instructions,
            self.check.thread_instructions,
            if self.check.complete { "" } else { " in blocks that ended" },
            self.issues,
            self.issue_utilisation.0
        )));
        text.push('\n');
        text.push_str(&self.stalls_text(style));
        if let Some(memory) = &self.memory {
            text.push('\n');
            text.push_str(&memory.text(style));
        }
        if let Some(details) = &self.details {
            text.push_str(&details.text(style));
        }
        if let Some(explanation) = &self.explanation {
            text.push_str(&explanation.text(style));
        }
        if let Some(seconds) = &self.seconds {
            text.push_str(&seconds.text(self.check.warp_instructions));
        } else if self.check.program.is_some() {
            text.push_str(
                "\n  --launch N shows one launch alone: lost cycles by source line, branches, traces\n",
            );
        }
        text
    }

    /// Returns the table of issue slots, with a column per sub-core if there are a few.
    fn stalls_text(&self, style: Style) -> String {
        let all = self.sub_cores.len().max(1);
        // with many sub-cores, a column each would not fit the line, so only the sum is shown
        let several = if all <= SUB_CORE_COLUMNS { self.sub_cores.as_slice() } else { &[] };
        let heading = ["issue slots", "cycles", "share"].map(str::to_owned);
        let per_sm = all / self.sms.max(1);
        let cores = (0..several.len()).map(|core| match (self.sms, per_sm) {
            (1, _) => format!("sub-core {core}"),
            (_, 1) => format!("SM {core}"),
            _ => format!("SM {} sub-core {}", core / per_sm, core % per_sm),
        });
        let mut table = Table::new(heading.into_iter().chain(cores), &[0]);
        let makespan = self.check.makespan;
        let slots = makespan * all as u64;
        let share = |cycles: u64| format!("{:.1} %", cycles as f64 / slots.max(1) as f64 * 100.0);
        let mut row = |name: &str, cycles: u64, of: &dyn Fn(&SubCore) -> u64| {
            let cells = [name.to_owned(), cycles.to_string(), share(cycles)];
            table.row(cells.into_iter().chain(several.iter().map(|used| of(used).to_string())));
        };
        // with dual issue, a slot can issue two instructions
        row("issued", slots - self.stalls.total().get(), &|used| makespan - used.stalls.total().get());
        for (reason, cycles) in self.stalls.iter().filter(|(_, cycles)| *cycles > Cycles::ZERO) {
            row(reason.name(), cycles.get(), &|used| used.stalls.get(reason).get());
        }
        let total = match all {
            1 => "makespan",
            _ if self.sms == 1 => "makespan x sub-cores",
            _ if per_sm == 1 => "makespan x SMs",
            _ => "makespan x sub-cores x SMs",
        };
        let cells = [total.to_owned(), slots.to_string(), "100.0 %".to_owned()];
        table.row(cells.into_iter().chain(several.iter().map(|_| makespan.to_string())));
        table.render(2, style.width)
    }
}

/// Writes every reason with its cycles, sorted by name.
fn by_name<S: Serializer>(stalls: &Stalls, serializer: S) -> Result<S::Ok, S::Error> {
    // a machine may have hundreds of sub-cores, so that they are not sorted for each
    static SORTED: LazyLock<[StallReason; StallReason::ALL.len()]> = LazyLock::new(|| {
        let mut reasons = StallReason::ALL;
        reasons.sort_unstable_by_key(|reason| reason.name());
        reasons
    });
    serializer.collect_map(SORTED.iter().map(|reason| (reason.name(), stalls.get(*reason).get())))
}

impl From<MemoryStats> for Memory {
    fn from(MemoryStats { l1, constant, lower }: MemoryStats) -> Self {
        Self {
            l1: l1.into(),
            constant: constant.into(),
            l2: lower.l2.into(),
            dram_reads: lower.dram.reads,
            dram_writes: lower.dram.writes,
            dram_activations: lower.dram.activations,
        }
    }
}

impl From<CacheStats> for Cache {
    fn from(stats: CacheStats) -> Self {
        let CacheStats { accesses, hits, misses, merged, stalls, write_backs } = stats;
        Self { accesses, hits, misses, merged, stalls, write_backs }
    }
}

impl Memory {
    fn text(&self, style: Style) -> String {
        let headings = ["cache", "accesses", "hits", "misses", "merged", "stalls", "write-backs"];
        let mut table = Table::new(headings, &[0]);
        for (name, cache) in [("L1", self.l1), ("constant", self.constant), ("L2", self.l2)] {
            if cache.accesses > 0 {
                let Cache { accesses, hits, misses, merged, stalls, write_backs } = cache;
                let counts = [accesses, hits, misses, merged, stalls, write_backs].map(|n| n.to_string());
                table.row(std::iter::once(name.to_owned()).chain(counts));
            }
        }
        let mut text = table.render(2, style.width);
        let _ = writeln!(
            text,
            "  DRAM: {} reads, {} writes, {} activations",
            self.dram_reads, self.dram_writes, self.dram_activations
        );
        text
    }
}

/// Returns the units of the machine that executed an instruction.
pub fn units(machine: &Machine, used: &UnitUse, makespan: Cycles) -> Vec<Unit> {
    let unit = |(index, unit): (usize, &warpbound_core::machine::Unit)| {
        let id = UnitId::from_index(index);
        let instances = machine.sub_cores().instances(id) * machine.sms();
        let total = (makespan * instances as u64).get().max(1) as f64;
        let (busy, instructions) = (used.busy(id).get(), used.instructions(id));
        (instructions > 0).then(|| Unit {
            unit: unit.name.clone(),
            instances,
            instructions,
            busy_cycles: busy,
            utilisation: Fraction(busy as f64 / total),
        })
    };
    machine.units().iter().enumerate().filter_map(unit).collect()
}

/// Returns the lost cycles with the places of their instructions.
pub fn lost(lost: &[LostCycles], checked: &JudgedLaunch, place: &dyn Fn(Pc) -> SourceLine) -> Vec<Lost> {
    let total = (checked.makespan * checked.sub_cores.len() as u64).get().max(1) as f64;
    let of = |one: &LostCycles| Lost {
        cycles: one.cycles.get(),
        share: Fraction(one.cycles.get() as f64 / total),
        reason: one.reason.name(),
        waiting: one.waiting.map(place),
        producer: one.producer.map(place),
    };
    lost.iter().map(of).collect()
}

impl Details {
    fn text(&self, style: Style) -> String {
        let mut table = Table::new(["unit", "instructions", "initiating", "share"], &[0]);
        for unit in &self.units {
            let share = format!("{:.1} %", unit.utilisation.0 * 100.0);
            table.row([
                unit.unit.clone(),
                unit.instructions.to_string(),
                unit.busy_cycles.to_string(),
                share,
            ]);
        }
        let mut text = format!("\n{}", table.render(2, style.width));
        text.push_str(&self.lost_text(style));
        text.push_str(&banks::text(&self.bank_conflicts, style));
        if let Some(divergence) = &self.divergence {
            text.push_str(&divergence.table(self.most_branches, style));
        }
        text
    }

    /// Returns the table of the instructions that lost the most cycles.
    fn lost_text(&self, style: Style) -> String {
        if self.lost_cycles.is_empty() {
            return String::new();
        }
        let shown = |place: &Option<SourceLine>| place.as_ref().map(SourceLine::shown).unwrap_or_default();
        let heading = ["lost cycles", "share", "reason", "line: waiting", "line: for the result of"];
        let mut table = Table::new(heading, &[2, 3, 4]);
        for one in self.lost_cycles.iter().take(MAX_LOST) {
            table.row([
                one.cycles.to_string(),
                format!("{:.1} %", one.share.0 * 100.0),
                one.reason.to_owned(),
                shown(&one.waiting),
                shown(&one.producer),
            ]);
        }
        let mut text = format!("\n{}", table.render(2, style.width));
        if self.lost_cycles.len() > MAX_LOST {
            let more = count(self.lost_cycles.len() - MAX_LOST, "smaller cause");
            let _ = writeln!(text, "  ... and {more} (--format json lists all)");
        }
        text
    }
}

impl Seconds {
    fn text(&self, instructions: u64) -> String {
        let speed = |seconds: f64| instructions as f64 / seconds.max(1e-9) / 1e6;
        let all = self.seconds;
        match (self.exec_seconds, self.analysis_seconds, self.sim_seconds) {
            (Some(exec), Some(analysis), Some(sim)) => format!(
                "\n  functional run {exec:.3} s ({:.1} million warp instructions per second), analysis {analysis:.3} s ({:.1}), \
                 simulation {sim:.3} s ({:.1}), together {all:.3} s ({:.1})\n",
                speed(exec),
                speed(analysis),
                speed(sim),
                speed(all)
            ),
            _ => format!("\n  {all:.3} s ({:.1} million warp instructions per second)\n", speed(all)),
        }
    }
}

impl Report for Output<RunResult<'_>> {
    fn text(&self, style: Style) -> String {
        let mut text: String = self.results.iter().map(|result| result.text(style)).collect();
        text.push_str(&self.batch.text());
        text
    }
}
