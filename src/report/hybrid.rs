//! Estimates of the hybrid analysis, beside the longest run that was observed.

use std::fmt::Write;

use serde::Serialize;

use super::output::{Origin, Output, Report};
use super::style::Style;
use super::table::Table;
use super::{Fraction, count};
use crate::base::Cycles;
use crate::check::order::not_looked_for;
use crate::hybrid::{Estimate, Estimates, Ipg, Limits, NoSections, Observed};
use crate::machine::Machine;

/// Transitions that were never observed and are named as text before the rest is counted.
const MAX_SHOWN: usize = 12;

/// What the analysis says of a kernel or graph. Times are cycles.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct HybridResult {
    /// The kernel, or the file of the graph.
    pub name: String,
    /// Where the runs come from.
    #[serde(flatten)]
    pub source: Source,
    /// What is instrumented besides the entry and the end: `blocks` or `loops`; of a graph `nodes`.
    pub ipoints_at: &'static str,
    /// Ipoints.
    pub ipoints: usize,
    /// Runs.
    pub runs: u64,
    /// Warps of all runs.
    pub warps: u64,
    /// Ipoints that were passed.
    pub events: u64,
    /// The longest run, from the first start to the last end: the high-water mark.
    pub high_water: u64,
    /// That run, from 1.
    pub high_water_run: u64,
    /// The shortest run.
    pub shortest_run: u64,
    /// The longest time of a single warp.
    pub longest_warp: u64,
    /// What limits how often transitions are taken: `loops`, the bounds of loops, or `counts`, those and how often
    /// warps were seen to take them.
    pub limits: &'static str,
    /// The estimates.
    pub estimates: Vec<EstimateRow>,
    /// How warps start.
    pub waves: Waves,
    /// The loops, outer ones before those in them.
    pub loops: Vec<LoopRow>,
    /// The transitions.
    pub transitions: Vec<TransitionRow>,
    /// Transitions that no warp took: no estimate accounts for them.
    pub never_observed: usize,
    /// Why races were not looked for, if they were not: what is said is about the paths of one order of accesses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub races_not_looked_for: Option<String>,
}

/// Where runs come from.
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
        scheduler: String,
        /// Seeds of the random data of the first and the last run; each has the next.
        seeds: [u64; 2],
    },
    /// Traces.
    Traces {
        /// Their files.
        traces: Vec<String>,
    },
}

impl Source {
    /// Of simulated runs.
    pub fn simulated(machine: &Machine, scheduler: String, seeds: [u64; 2]) -> Self {
        Self::Simulated { origin: Origin::new(machine), scheduler, seeds }
    }

    fn text(&self) -> String {
        match self {
            Self::Simulated { origin, scheduler, seeds: [first, last] } => {
                format!(" on {} under {scheduler}, seeds {first} to {last}", origin.machine)
            }
            Self::Traces { traces } => format!(", traces {}", traces.join(", ")),
        }
    }

    /// A run by its number, with its seed if it has one.
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
    /// `z_warp`, `z_warp_tree`, `z_dynamic`, `z_hybrid` as published, and `hybrid_blocks` and
    /// `hybrid_sections`, which are ours.
    pub name: &'static str,
    /// Its value; none if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<u64>,
    /// (value - high-water mark) / high-water mark.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub over_high_water: Option<Fraction>,
    /// Whether a run took longer: then it bounds nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub below_high_water: Option<bool>,
    /// Why there is no value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
}

/// How warps start.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Waves {
    /// The longest time from the start of a run until the last warp of an SM starts.
    pub jitter: u64,
    /// The largest number of waves: series of starts on an SM without an end between them.
    pub waves: u64,
    /// The largest number of warps in a wave.
    pub warps_per_wave: u64,
    /// The longest time between consecutive starts of a wave.
    pub delta: u64,
    /// The largest number of blocks that one place of an SM held one after the other; none of traces.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block_waves: Option<u64>,
    /// The longest time from the end of a block until the last warp of the next in its place starts; none of traces.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block_jitter: Option<u64>,
    /// The longest path of a block from the start of its last warp, of the parts that do not wait at barriers; none where they
    /// are not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block_path: Option<u64>,
}

/// A loop.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LoopRow {
    /// The ipoint at its header; none where the header has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header: Option<String>,
    /// The source line of its header.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Iterations between two entries, the most that was observed.
    pub observed: u64,
    /// The bound that somebody gave.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub given: Option<u64>,
}

/// A transition from one ipoint to the next.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TransitionRow {
    /// The ipoint it leaves.
    pub from: String,
    /// The ipoint it leads to.
    pub to: String,
    /// Whether it is there because of divergence only.
    pub divergent: bool,
    /// The longest time; none if no warp took it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub longest: Option<u64>,
    /// Run, SM and warp of the first time that it took so long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub longest_at: Option<[u64; 3]>,
    /// How often a warp took it at most.
    pub observed: u64,
    /// How often it is taken on the longest path.
    pub worst: u64,
}

/// What was analysed.
pub struct About<'a> {
    /// The kernel or graph.
    pub name: String,
    /// Where the runs come from.
    pub source: Source,
    /// What is instrumented.
    pub ipoints_at: &'static str,
    /// The graph.
    pub ipg: &'a Ipg,
    /// By loop, the source line of its header, where there is a source.
    pub loop_lines: &'a [u32],
    /// By loop, the bound that somebody gave.
    pub given: &'a [Option<u64>],
    /// Why the paths of a run are not those of every order of accesses, if they are not: then times of these runs say
    /// nothing of others.
    pub decided_by_order: Option<String>,
    /// Why that was not looked for, if it was not.
    pub races_not_looked_for: Option<String>,
}

impl EstimateRow {
    fn new(name: &'static str, of: Estimate, mark: Cycles) -> Self {
        let over = (of.value.get() as f64 - mark.get() as f64) / mark.get() as f64;
        Self {
            name,
            value: Some(of.value.get()),
            over_high_water: (mark > Cycles::ZERO).then_some(Fraction(over)),
            below_high_water: Some(of.below_high_water),
            missing: None,
        }
    }

    fn missing(name: &'static str, why: String) -> Self {
        Self { name, value: None, over_high_water: None, below_high_water: None, missing: Some(why) }
    }

    fn cells(&self) -> [String; 4] {
        let over = self.over_high_water.map_or(String::new(), |over| format!("{:+.1}%", over.0 * 100.0));
        let remark = match self.below_high_water {
            Some(true) => "BELOW the high-water mark: a run took longer".to_owned(),
            Some(false) => String::new(),
            None => self.missing.clone().unwrap_or_default(),
        };
        let value = self.value.map_or_else(|| "none".to_owned(), |value| value.to_string());
        [self.name.to_owned(), value, over, remark]
    }
}

impl HybridResult {
    /// The estimates of what was observed, `observed` with the bounds as runs showed them.
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
        let row = |name, estimate| EstimateRow::new(name, estimate, mark);
        let tree = match found.tree {
            Ok(tree) => row("z_warp_tree", tree),
            Err(why) => EstimateRow::missing("z_warp_tree", format!("the tree rule does not apply: {why}")),
        };
        let blocks = found.blocks.map(|blocks| row("hybrid_blocks", blocks));
        let blocks = blocks.unwrap_or_else(|| {
            let why = match &found.sections {
                Err(why @ (NoSections::Early(_) | NoSections::Again(_))) => why.to_string(),
                _ => "traces do not tell which warps are a block".to_owned(),
            };
            EstimateRow::missing("hybrid_blocks", why)
        });
        let sections = match &found.sections {
            Ok(sections) => row("hybrid_sections", sections.hybrid),
            Err(why) => EstimateRow::missing("hybrid_sections", format!("sections do not apply: {why}")),
        };
        let estimates = vec![
            row("z_warp", found.warp),
            tree,
            row("z_dynamic", found.dynamic),
            row("z_hybrid", found.hybrid),
            blocks,
            sections,
        ];
        let waves = observed.waves;
        let transition = |(index, of): (usize, &crate::hybrid::ipg::Transition)| TransitionRow {
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
            waves: Waves {
                jitter: waves.jitter.get(),
                waves: waves.waves,
                warps_per_wave: waves.warps_per_wave,
                delta: waves.spacing.get(),
                block_waves: observed.blocks.map(|blocks| blocks.waves),
                block_jitter: observed.blocks.map(|blocks| blocks.jitter.get()),
                block_path: found.sections.as_ref().ok().map(|sections| sections.path.get()),
            },
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
            if self.limits == "loops" { "loop bounds" } else { "loop bounds and what warps were seen to do" }
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
        let Waves { jitter, waves, warps_per_wave, delta, block_waves, block_jitter, block_path } =
            self.waves;
        let _ =
            write!(text, "\njitter {jitter}, waves {waves}, warps per wave {warps_per_wave}, delta {delta}");
        if let (Some(waves), Some(jitter)) = (block_waves, block_jitter) {
            let _ = write!(text, "; blocks in a place {waves}, jitter of a block {jitter}");
        }
        if let Some(path) = block_path {
            let _ = write!(text, ", path of a block {path}");
        }
        text.push('\n');
        for of in &self.loops {
            let name = of.header.as_deref().unwrap_or("a header without ipoint");
            let line = of.line.map_or(String::new(), |line| format!(" (line {line})"));
            let given = of.given.map_or(String::new(), |bound| format!(", {bound} given"));
            let _ =
                writeln!(text, "loop at {name}{line}: {} iterations an entry observed{given}", of.observed);
        }
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
        let _ = write!(text, "\nthe longest path of a warp\n\n{}", table.render(2, width));
        let never: Vec<String> = self
            .transitions
            .iter()
            .filter(|row| row.longest.is_none())
            .map(|row| format!("{}-{}", row.from, row.to))
            .collect();
        if !never.is_empty() {
            let more = never.len().saturating_sub(MAX_SHOWN);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let shown = never.iter().take(MAX_SHOWN).cloned().collect::<Vec<_>>().join(" ");
            let _ = writeln!(
                text,
                "\n{} never observed, which no estimate accounts for: {shown}{more}",
                count(never.len(), "transition")
            );
        }
        if let Some(why) = &self.races_not_looked_for {
            let _ = writeln!(text, "\nnote: {}", not_looked_for(why));
        }
        text
    }
}

impl Report for Output<HybridResult> {
    fn text(&self, style: Style) -> String {
        self.results.iter().map(|result| result.text(style.width)).collect()
    }
}
