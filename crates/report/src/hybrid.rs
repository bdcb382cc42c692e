//! The report of the estimates of the hybrid analysis, beside the longest observed run.

use std::fmt::Write;

use serde::Serialize;

use super::output::{Origin, Output, Report};
use super::style::Style;
use super::table::Table;
use super::{Fraction, count};
use warpbound_core::base::Cycles;
use warpbound_core::machine::Machine;
use warpbound_hybrid::{Estimate, Estimates, Ipg, Limits, NoSections, Observed};
use warpbound_judge::check::order::not_looked_for;

/// The most transitions without an observation that text names; the others are counted.
const MAX_SHOWN: usize = 12;

/// The analysis of a kernel or graph. Times are in cycles.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct HybridResult {
    /// The name of the kernel, or the file of the graph.
    #[serde(rename = "kernel")]
    pub name: String,
    /// The origin of the runs.
    #[serde(flatten)]
    pub source: Source,
    /// What is instrumented besides the entry and the end: `blocks` or `loops`, or `nodes` for a
    /// given graph.
    pub ipoints_at: &'static str,
    /// The number of ipoints (instrumentation points).
    pub ipoints: usize,
    /// The number of runs.
    pub runs: u64,
    /// The number of warps in all runs.
    pub warps: u64,
    /// The number of events: each is the passage of a warp through an ipoint.
    pub events: u64,
    /// The time of the longest run, from the first start to the last end: the high-water mark.
    pub high_water: u64,
    /// The number of the longest run, from 1.
    pub high_water_run: u64,
    /// The time of the shortest run.
    pub shortest_run: u64,
    /// The longest time of a single warp.
    pub longest_warp: u64,
    /// What limits the counts of transitions: `loops` for the loop bounds alone, or `counts` for
    /// the loop bounds and the counts that were observed for warps.
    pub limits: &'static str,
    /// The estimates.
    pub estimates: Vec<EstimateRow>,
    /// The times at which warps start.
    pub waves: Waves,
    /// The loops, each after the loops that contain it.
    pub loops: Vec<LoopRow>,
    /// The transitions.
    pub transitions: Vec<TransitionRow>,
    /// The number of transitions that no warp took; no estimate accounts for them.
    pub never_observed: usize,
    /// Why the run did not look for races; absent if it did. If it did not, the report holds only
    /// for the paths of one order of accesses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub races_not_looked_for: Option<String>,
}

/// The origin of the runs.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Source {
    /// Simulated runs.
    Simulated {
        /// The machine.
        #[serde(flatten)]
        origin: Origin,
        /// The policy.
        policy: String,
        /// The seeds of the random data of the first and the last run; the runs between have the
        /// seeds between.
        seeds: [u64; 2],
    },
    /// Runs read from traces.
    Traces {
        /// The trace files.
        traces: Vec<String>,
    },
}

impl Source {
    /// Returns the origin of simulated runs.
    pub fn simulated(machine: &Machine, policy: String, seeds: [u64; 2]) -> Self {
        Self::Simulated { origin: Origin::new(machine), policy, seeds }
    }

    fn text(&self) -> String {
        match self {
            Self::Simulated { origin, policy, seeds: [first, last] } => {
                format!(" on {} under {policy}, seeds {first} to {last}", origin.machine)
            }
            Self::Traces { traces } => format!(", traces {}", traces.join(", ")),
        }
    }

    /// Returns a run as text: its number, and its seed if it has one.
    fn run(&self, number: u64) -> String {
        match self {
            Self::Simulated { seeds: [first, _], .. } => {
                format!("run {number} (seed {})", first.saturating_add(number.saturating_sub(1)))
            }
            Self::Traces { .. } => format!("run {number}"),
        }
    }
}

/// An estimate.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct EstimateRow {
    /// The name: `z_warp`, `z_warp_tree`, `z_dynamic` and `z_hybrid` as published, or
    /// `hybrid_blocks` and `hybrid_sections`, which are our own.
    pub name: &'static str,
    /// The value; absent if the estimate could not be computed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<u64>,
    /// (value - high-water mark) / high-water mark.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overestimation: Option<Fraction>,
    /// Whether a run took longer; if so, the estimate is no upper bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub below_high_water: Option<bool>,
    /// Why there is no value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
}

/// The times at which warps start.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Waves {
    /// The longest time from the start of a run until the last warp of an SM starts.
    pub jitter: u64,
    /// The largest number of waves; a wave is a series of starts on an SM without an end between
    /// them.
    pub waves: u64,
    /// The largest number of warps in a wave.
    pub warps_per_wave: u64,
    /// The longest time between consecutive starts of a wave.
    pub delta: u64,
    /// The largest number of blocks that one CTA slot of an SM held one after the other; absent for
    /// traces.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block_waves: Option<u64>,
    /// The longest time from the end of a block until the last warp of the next block in its slot
    /// starts; absent for traces.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block_jitter: Option<u64>,
    /// The longest path of a block from the start of its last warp, made of the parts that do not
    /// wait at barriers; absent if these are not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block_path: Option<u64>,
}

impl Waves {
    /// Returns the observed times at which warps start.
    fn new(observed: &Observed, found: &Estimates) -> Self {
        let waves = observed.waves;
        Self {
            jitter: waves.jitter.get(),
            waves: waves.waves,
            warps_per_wave: waves.warps_per_wave,
            delta: waves.spacing.get(),
            block_waves: observed.blocks.map(|blocks| blocks.waves),
            block_jitter: observed.blocks.map(|blocks| blocks.jitter.get()),
            block_path: found.sections.as_ref().ok().map(|sections| sections.path.get()),
        }
    }

    /// Returns the line of text, which starts with an empty line.
    fn text(self) -> String {
        let Self { jitter, waves, warps_per_wave, delta, block_waves, block_jitter, block_path } = self;
        let mut text =
            format!("\njitter {jitter}, waves {waves}, warps per wave {warps_per_wave}, delta {delta}");
        if let (Some(waves), Some(jitter)) = (block_waves, block_jitter) {
            let _ = write!(text, "; blocks in a CTA slot {waves}, jitter of a block {jitter}");
        }
        if let Some(path) = block_path {
            let _ = write!(text, ", path of a block {path}");
        }
        text.push('\n');
        text
    }
}

/// A loop.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LoopRow {
    /// The ipoint at its header; absent if the header has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header: Option<String>,
    /// The source line of its header.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The largest observed number of iterations between two entries.
    pub observed: u64,
    /// The given bound on this number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub given: Option<u64>,
}

/// A transition from one ipoint to the next.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TransitionRow {
    /// The ipoint at its start.
    pub from: String,
    /// The ipoint at its end.
    pub to: String,
    /// Whether it exists only because of divergence.
    pub divergent: bool,
    /// The longest time; absent if no warp took it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub longest: Option<u64>,
    /// Run, SM and warp of the first occurrence of the longest time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub longest_at: Option<[u64; 3]>,
    /// The largest number of times that a warp took it.
    pub observed: u64,
    /// The number of times that it is taken on the longest path.
    pub worst: u64,
}

/// The subject of an analysis.
pub struct About<'a> {
    /// The name of the kernel or graph.
    pub name: String,
    /// The origin of the runs.
    pub source: Source,
    /// What is instrumented.
    pub ipoints_at: &'static str,
    /// The ipoint graph.
    pub ipg: &'a Ipg,
    /// The source line of the header of each loop, if there is a source.
    pub loop_lines: &'a [u32],
    /// The given bound of each loop.
    pub given: &'a [Option<u64>],
    /// Why the paths of a run depend on the order of memory accesses; `None` if they do not. The
    /// times of such runs do not apply to other runs.
    pub decided_by_order: Option<String>,
    /// Why the runs did not look for races; `None` if they did.
    pub races_not_looked_for: Option<String>,
}

impl EstimateRow {
    fn new(name: &'static str, of: Estimate, mark: Cycles) -> Self {
        let over = (of.value.get() as f64 - mark.get() as f64) / mark.get() as f64;
        Self {
            name,
            value: Some(of.value.get()),
            overestimation: (mark > Cycles::ZERO).then_some(Fraction(over)),
            below_high_water: Some(of.below_high_water),
            missing: None,
        }
    }

    fn missing(name: &'static str, why: String) -> Self {
        Self { name, value: None, overestimation: None, below_high_water: None, missing: Some(why) }
    }

    fn cells(&self) -> [String; 4] {
        let over = self.overestimation.map_or(String::new(), |over| format!("{:+.1} %", over.0 * 100.0));
        let remark = match self.below_high_water {
            Some(true) => "BELOW the high-water mark: a run took longer".to_owned(),
            Some(false) => String::new(),
            None => self.missing.clone().unwrap_or_default(),
        };
        let value = self.value.map_or_else(|| "none".to_owned(), |value| value.to_string());
        [self.name.to_owned(), value, over, remark]
    }
}

/// Returns the row of every estimate.
fn estimate_rows(found: &Estimates, mark: Cycles) -> Vec<EstimateRow> {
    let row = |name, estimate| EstimateRow::new(name, estimate, mark);
    let tree = match found.tree {
        Ok(tree) => row("z_warp_tree", tree),
        Err(why) => EstimateRow::missing("z_warp_tree", format!("the tree rule does not apply: {why}")),
    };
    let blocks = found.blocks.map(|blocks| row("hybrid_blocks", blocks));
    let blocks = blocks.unwrap_or_else(|| {
        let why = match &found.sections {
            Err(why @ (NoSections::Early(_) | NoSections::Again(_))) => why.to_string(),
            _ => "traces do not state which warps form a block".to_owned(),
        };
        EstimateRow::missing("hybrid_blocks", why)
    });
    let sections = match &found.sections {
        Ok(sections) => row("hybrid_sections", sections.hybrid),
        Err(why) => EstimateRow::missing("hybrid_sections", format!("sections do not apply: {why}")),
    };
    vec![
        row("z_warp", found.warp),
        tree,
        row("z_dynamic", found.dynamic),
        row("z_hybrid", found.hybrid),
        blocks,
        sections,
    ]
}

impl HybridResult {
    /// Returns the report of the estimates. `observed` has the observed loop bounds.
    pub fn new(about: About<'_>, observed: &Observed, found: &Estimates) -> Self {
        let About {
            name,
            source,
            ipoints_at,
            ipg,
            loop_lines,
            given,
            decided_by_order,
            races_not_looked_for,
        } = about;
        let mark = observed.high_water;
        let estimates = estimate_rows(found, mark);
        let transition = |(index, of): (usize, &warpbound_hybrid::ipg::Transition)| TransitionRow {
            from: ipg.name(of.from).to_owned(),
            to: ipg.name(of.to).to_owned(),
            divergent: of.divergent,
            longest: observed.timing.wcet[index].map(Cycles::get),
            longest_at: observed.longest[index].map(|at| [at.run, u64::from(at.sm), u64::from(at.warp)]),
            observed: observed.timing.count[index],
            worst: found.worst.counts[index],
        };
        let loops = ipg.loops().iter().enumerate().map(|(index, of)| LoopRow {
            header: of.ipoint.map(|ipoint| ipg.name(ipoint).to_owned()),
            line: loop_lines.get(index).copied(),
            observed: observed.timing.bound[index],
            given: given.get(index).copied().flatten(),
        });
        Self {
            name,
            source,
            ipoints_at,
            ipoints: ipg.len(),
            runs: observed.runs,
            warps: observed.warps,
            events: observed.events,
            high_water: mark.get(),
            high_water_run: observed.high_water_run,
            shortest_run: observed.shortest_run.get(),
            longest_warp: observed.longest_warp.get(),
            limits: match found.limits {
                Limits::Loops => "loops",
                Limits::Counts => "counts",
            },
            estimates: match decided_by_order {
                None => estimates,
                Some(why) => {
                    estimates.into_iter().map(|of| EstimateRow::missing(of.name, why.clone())).collect()
                }
            },
            races_not_looked_for,
            waves: Waves::new(observed, found),
            loops: loops.collect(),
            transitions: ipg.transitions().iter().enumerate().map(transition).collect(),
            never_observed: found.unobserved.len(),
        }
    }

    fn text(&self, width: Option<usize>) -> String {
        let many = |number: u64, of| count(usize::try_from(number).unwrap_or(usize::MAX), of);
        let divergent = self.transitions.iter().filter(|transition| transition.divergent).count();
        let mut text = format!(
            "{}{}: {}, {}, {}\n{} at {}, {}, {divergent} of them due to divergence; counts are limited by {}\n\n",
            self.name,
            self.source.text(),
            many(self.runs, "run"),
            many(self.warps, "warp"),
            many(self.events, "event"),
            count(self.ipoints, "ipoint"),
            self.ipoints_at,
            count(self.transitions.len(), "transition"),
            if self.limits == "loops" { "loop bounds" } else { "loop bounds and the observed counts" }
        );
        let _ = writeln!(
            text,
            "high-water mark {}: {}; the shortest run took {}, the longest warp {}\n",
            self.high_water,
            self.source.run(self.high_water_run),
            self.shortest_run,
            self.longest_warp
        );
        let mut table = Table::new(["estimate", "cycles", "to the mark", ""], &[0, 3]);
        self.estimates.iter().for_each(|estimate| table.row(estimate.cells()));
        text += &table.render(2, width);
        text += &self.waves.text();
        for of in &self.loops {
            let name = of.header.as_deref().unwrap_or("a header without ipoint");
            let line = of.line.map_or(String::new(), |line| format!(" (line {line})"));
            let given = of.given.map_or(String::new(), |bound| format!(", {bound} given"));
            let _ =
                writeln!(text, "loop at {name}{line}: {} iterations per entry observed{given}", of.observed);
        }
        let _ = write!(text, "\nthe longest path of a warp\n\n{}", self.longest_path().render(2, width));
        text += &self.never_taken();
        if let Some(why) = &self.races_not_looked_for {
            let _ = writeln!(text, "\nnote: {}", not_looked_for(why));
        }
        text
    }

    /// Returns the table of the transitions on the longest path of a warp.
    fn longest_path(&self) -> Table {
        let mut table = Table::new(
            ["from", "to", "longest", "worst count", "cycles", "most observed", "due to divergence"],
            &[0, 1, 6],
        );
        for row in self.transitions.iter().filter(|row| row.worst > 0) {
            let longest = row.longest.unwrap_or(0);
            table.row([
                row.from.clone(),
                row.to.clone(),
                longest.to_string(),
                row.worst.to_string(),
                longest.saturating_mul(row.worst).to_string(),
                row.observed.to_string(),
                if row.divergent { "yes" } else { "" }.to_owned(),
            ]);
        }
        table
    }

    /// Returns the paragraph on the transitions that no warp took; it is empty if there are none.
    fn never_taken(&self) -> String {
        let never: Vec<String> = self
            .transitions
            .iter()
            .filter(|row| row.longest.is_none())
            .map(|row| format!("{}-{}", row.from, row.to))
            .collect();
        if never.is_empty() {
            return String::new();
        }
        let more = never.len().saturating_sub(MAX_SHOWN);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let shown = never.iter().take(MAX_SHOWN).cloned().collect::<Vec<_>>().join(" ");
        format!(
            "\n{} never observed, which no estimate accounts for: {shown}{more}\n",
            count(never.len(), "transition")
        )
    }
}

impl Report for Output<HybridResult> {
    fn text(&self, style: Style) -> String {
        self.results.iter().map(|result| result.text(style.width)).collect()
    }
}
