//! The report of the worst and the best case: over all work-conserving schedules of a block, over
//! all choices of the arbiters of a pipeline, or over all latencies under one policy.

use std::fmt::Write;

use serde::Serialize;

use super::output::{Origin, Output, Report, Stopped};
use super::style::Style;
use super::verdict::{self, Bound};
use warpbound_core::base::Cycles;
use warpbound_core::machine::Machine;
use warpbound_judge::check::JudgedLaunch;
use warpbound_judge::check::order::notes_of;
use warpbound_judge::explore::choices::{Choice, Explored};
use warpbound_judge::explore::{Exploration, LatencyExtremes};

/// The most issues of a witness that text shows.
const MAX_WITNESS: usize = 200;

/// The output of `explore`.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "explored", rename_all = "kebab-case")]
pub enum ExploreResult {
    /// The result over all schedules.
    Schedules(Schedules),
    /// The result over all choices of the arbiters.
    Choices(Choices),
    /// The result over all latencies.
    Latencies(Latencies),
}

/// The block that was searched.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Searched {
    /// The name of the kernel.
    pub kernel: String,
    /// The machine.
    #[serde(flatten)]
    pub origin: Origin,
    /// The index of the block in the grid.
    pub block: u32,
    /// The number of blocks of the launch.
    pub launch_blocks: u32,
    /// Why the run did not look for races; absent if it did. If it did not, the report holds only
    /// for the paths of one order of accesses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub races_not_looked_for: Option<String>,
}

impl Searched {
    /// Returns the description of a block of a kernel on a machine.
    pub fn new(kernel: &str, machine: &Machine, block: u32, launch_blocks: u32) -> Self {
        let origin = Origin::new(machine);
        Self { kernel: kernel.to_owned(), origin, block, launch_blocks, races_not_looked_for: None }
    }

    fn note(&self, style: Style) -> String {
        let note = notes_of(self.races_not_looked_for.iter());
        if note.is_empty() { note } else { format!("\n{}", style.fill(&note)) }
    }

    fn text(&self, style: Style) -> String {
        let block = match self.launch_blocks {
            ..=1 => String::new(),
            all => format!("block {} of {all}: ", self.block),
        };
        format!("{block}{} on {}", style.strong(&self.kernel), self.origin.machine)
    }
}

/// The result over all work-conserving schedules. Times are in cycles.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Schedules {
    /// The block that was searched.
    #[serde(flatten)]
    pub of: Searched,
    /// The longest makespan, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worst: Option<u64>,
    /// The shortest makespan, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub best: Option<u64>,
    /// A lower bound of the longest makespan: some schedule takes this long.
    pub worst_at_least: u64,
    /// An upper bound of the longest makespan: no schedule takes longer.
    pub worst_at_most: u64,
    /// A lower bound of the shortest makespan: no schedule takes less.
    pub best_at_least: u64,
    /// An upper bound of the shortest makespan: some schedule takes this time.
    pub best_at_most: u64,
    /// Whether every schedule was followed to its end.
    pub complete: bool,
    /// Why the search was stopped early, if it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped: Option<Stopped>,
    /// The number of states visited.
    pub states: u64,
    /// The number of issues up to which every schedule was followed.
    pub followed_issues: u64,
    /// The verdicts on the bounds, over all schedules.
    pub bounds: Vec<Bound>,
    /// The index of the warp at each issue of a longest schedule.
    pub witness: Vec<usize>,
    /// The index of the warp at each issue of a shortest schedule.
    pub best_witness: Vec<usize>,
}

impl Schedules {
    /// Returns the report of an exploration.
    pub fn new(of: Searched, found: &Exploration, stopped: Option<Stopped>, bounds: Vec<Bound>) -> Self {
        let exact = |cycles: Option<Cycles>| cycles.map(Cycles::get).filter(|_| found.is_complete());
        Self {
            of,
            worst: exact(found.worst.exact()),
            best: exact(found.best.exact()),
            worst_at_least: found.worst.at_least.get(),
            worst_at_most: found.worst.at_most.get(),
            best_at_least: found.best.at_least.get(),
            best_at_most: found.best.at_most.get(),
            complete: found.is_complete(),
            stopped,
            states: found.states,
            followed_issues: found.followed_issues as u64,
            bounds,
            witness: found.worst_witness.clone(),
            best_witness: found.best_witness.clone(),
        }
    }

    fn text(&self, style: Style) -> String {
        let start = self.of.text(style);
        let heading = if self.complete {
            format!(
                "{start}: over all work-conserving schedules worst {}, best {} cycles ({} states, complete)\n\n",
                self.worst_at_least, self.best_at_most, self.states
            )
        } else {
            format!(
                "{start}: INCOMPLETE after {} states, every schedule followed for {} issues\n  proven: worst between {} and {}, best between {} and {} cycles ({})\n\n",
                self.states,
                self.followed_issues,
                self.worst_at_least,
                self.worst_at_most,
                self.best_at_least,
                self.best_at_most,
                self.stopped.map_or("", Stopped::text)
            )
        };
        let mut text = style.fill(&heading);
        text.push_str(&verdict::table(&self.bounds, style));
        let _ =
            writeln!(text, "\n  a worst schedule, warp by issue: {}", shown(&self.witness, usize::to_string));
        let _ = writeln!(
            text,
            "  a best schedule, warp by issue:  {}",
            shown(&self.best_witness, usize::to_string)
        );
        text.push_str("  (--worst-schedule FILE writes it for --policy replay:FILE)\n");
        text
    }
}

/// The result over all choices of the arbiters of a launch. Times are in cycles.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Choices {
    /// The name of the kernel.
    pub kernel: String,
    /// The machine.
    #[serde(flatten)]
    pub origin: Origin,
    /// The number of blocks.
    pub blocks: u32,
    /// The largest number of blocks that an SM holds at a time.
    pub resident_blocks: u32,
    /// The longest makespan, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worst: Option<u64>,
    /// The shortest makespan, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub best: Option<u64>,
    /// A lower bound of the longest makespan: some run takes this long.
    pub worst_at_least: u64,
    /// An upper bound of the shortest makespan: some run takes this time.
    pub best_at_most: u64,
    /// Whether every choice was followed to the end of the launch.
    pub complete: bool,
    /// Why the search was stopped early, if it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped: Option<Stopped>,
    /// The number of states in which some arbiter has a choice.
    pub states: u64,
    /// The number of combinations of choices in a cycle that were followed.
    pub combinations: u64,
    /// The size of the keys of all states in bytes.
    pub key_bytes: u64,
    /// The launch under policies, with the rules of all other arbiters.
    pub policies: Vec<PolicyRun>,
    /// The verdicts on the bounds, over all choices.
    pub bounds: Vec<Bound>,
    /// The choices of the longest run that the search found.
    pub witness: Vec<OneChoice>,
    /// The choices of the shortest run that the search found.
    pub best_witness: Vec<OneChoice>,
    /// Why the run did not look for races; absent if it did. If it did not, the report holds only
    /// for the paths of one order of accesses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub races_not_looked_for: Option<String>,
}

/// A launch under a policy.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PolicyRun {
    /// The policy.
    pub policy: String,
    /// The makespan in cycles.
    pub makespan: u64,
}

/// A choice of an arbiter that had several candidates.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct OneChoice {
    /// The cycle.
    pub cycle: u64,
    /// The arbiter.
    pub arbiter: &'static str,
    /// The index of the candidate that was served.
    pub served: u8,
    /// The number of candidates.
    pub candidates: u8,
    /// The index of the candidate that the rule of the arbiter serves.
    pub by_rule: u8,
}

impl OneChoice {
    fn new(choice: &Choice) -> Self {
        let Choice { arbiter, cycle, chosen, rule, count } = *choice;
        Self { cycle, arbiter: arbiter.name(), served: chosen, candidates: count, by_rule: rule }
    }

    fn text(&self) -> String {
        format!("{}:{} {}/{}", self.cycle, self.arbiter, u32::from(self.served) + 1, self.candidates)
    }
}

impl Choices {
    /// Returns the report of an exploration. `checked` are the runs under policies.
    pub fn new(
        kernel: &str,
        machine: &Machine,
        checked: &[JudgedLaunch],
        found: &Explored,
        stopped: Option<Stopped>,
        bounds: Vec<Bound>,
    ) -> Self {
        let complete = found.spent.is_none();
        let run = |of: &JudgedLaunch| PolicyRun { policy: of.policy.clone(), makespan: of.makespan.get() };
        Self {
            kernel: kernel.to_owned(),
            origin: Origin::new(machine),
            blocks: checked[0].launch_blocks,
            resident_blocks: checked[0].resident_blocks,
            worst: complete.then_some(found.worst),
            best: complete.then_some(found.best),
            worst_at_least: checked.iter().map(|run| run.makespan.get()).fold(found.worst, u64::max),
            best_at_most: checked.iter().map(|run| run.makespan.get()).fold(found.best, u64::min),
            complete,
            stopped,
            states: found.states,
            combinations: found.edges,
            key_bytes: found.bytes,
            policies: checked.iter().map(run).collect(),
            bounds,
            witness: found.worst_witness.iter().map(OneChoice::new).collect(),
            best_witness: found.best_witness.iter().map(OneChoice::new).collect(),
            races_not_looked_for: checked[0].races_not_looked_for.clone(),
        }
    }

    fn text(&self, style: Style) -> String {
        let start = format!("{} on {}", style.strong(&self.kernel), self.origin.machine);
        let size = format!(
            "{} states, {} combinations, {} bytes of keys",
            self.states, self.combinations, self.key_bytes
        );
        let heading = if self.complete {
            format!(
                "{start}: over all choices of the arbiters worst {}, best {} cycles ({size}, complete)\n",
                self.worst_at_least, self.best_at_most
            )
        } else {
            format!(
                "{start}: INCOMPLETE after {size}\n  proven: worst at least {}, best at most {} cycles ({})\n",
                self.worst_at_least,
                self.best_at_most,
                self.stopped.map_or("", Stopped::text)
            )
        };
        let mut text = style.fill(&heading);
        for PolicyRun { policy, makespan } in &self.policies {
            let _ = writeln!(text, "  under {policy} with the rules of all arbiters: {makespan} cycles");
        }
        text.push('\n');
        text.push_str(&verdict::table(&self.bounds, style));
        text.push_str("\n  choices that differ from the rules, as cycle:arbiter candidate/candidates:\n");
        for (name, witness) in [("worst", &self.witness), ("best", &self.best_witness)] {
            let differs = |choice: &&OneChoice| choice.served != choice.by_rule;
            let differing: Vec<OneChoice> = witness.iter().filter(differs).copied().collect();
            let shown = match differing.len() {
                0 => "none".to_owned(),
                _ => shown(&differing, OneChoice::text),
            };
            let _ = writeln!(text, "  a {name} run: {shown}");
        }
        let note = notes_of(self.races_not_looked_for.iter());
        if note.is_empty() { text } else { format!("{text}\n{}", style.fill(&note)) }
    }
}

/// Returns the start of a witness as text.
fn shown<T>(witness: &[T], one: impl Fn(&T) -> String) -> String {
    let more = if witness.len() > MAX_WITNESS { " ..." } else { "" };
    witness.iter().take(MAX_WITNESS).map(one).collect::<Vec<_>>().join(" ") + more
}

/// The result over all latencies in intervals, under one policy. Times are in cycles.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Latencies {
    /// The block that was searched.
    #[serde(flatten)]
    pub of: Searched,
    /// The policy.
    pub policy: String,
    /// The units whose latencies vary.
    pub varied: Vec<VariedUnit>,
    /// Whether all latencies were followed to their end.
    pub complete: bool,
    /// Why the search was stopped early, if it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped: Option<Stopped>,
    /// The number of states visited.
    pub states: u64,
    /// The longest makespan, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worst: Option<u64>,
    /// The shortest makespan, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub best: Option<u64>,
    /// The makespan with every varied latency at its longest.
    pub all_longest: u64,
    /// A longest run, issue by issue.
    pub witness: Vec<Decision>,
    /// A shortest run, issue by issue.
    pub best_witness: Vec<Decision>,
}

/// A unit whose latency varies in an interval.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct VariedUnit {
    /// Its name in the machine.
    pub unit: String,
    /// The shortest latency.
    pub lat_from: u16,
    /// The longest latency.
    pub lat_to: u16,
}

/// An issue.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Decision {
    /// The index of the warp that issued.
    pub warp: usize,
    /// The latency of the instruction, if its unit's latency varies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lat: Option<u16>,
}

impl Latencies {
    /// Returns the report of an exploration. `stopped` is the reason if it was stopped early.
    pub fn new(
        of: Searched,
        policy: String,
        varied: Vec<VariedUnit>,
        all_longest: u64,
        found: &LatencyExtremes,
        stopped: Option<Stopped>,
    ) -> Self {
        let decisions = |witness: &[(usize, Option<u16>)]| {
            witness.iter().map(|&(warp, lat)| Decision { warp, lat }).collect()
        };
        Self {
            of,
            policy,
            varied,
            complete: found.is_ok(),
            stopped,
            states: found.as_ref().map_or_else(|fuel| fuel.states, |found| found.states),
            worst: found.as_ref().ok().map(|found| found.worst),
            best: found.as_ref().ok().map(|found| found.best),
            all_longest,
            witness: found.as_ref().map(|found| decisions(&found.worst_witness)).unwrap_or_default(),
            best_witness: found.as_ref().map(|found| decisions(&found.best_witness)).unwrap_or_default(),
        }
    }

    fn text(&self, style: Style) -> String {
        let unit = |v: &VariedUnit| format!("{} lat {} to {}", v.unit, v.lat_from, v.lat_to);
        let units = self.varied.iter().map(unit).collect::<Vec<_>>().join(", ");
        let head = format!("{} under {}, {units}", self.of.text(style), self.policy);
        let (Some(worst), Some(best)) = (self.worst, self.best) else {
            let why = self.stopped.map_or("stopped", Stopped::text);
            return style.fill(&format!(
                "{head}: INCOMPLETE after {} states; nothing is claimed ({why})\n",
                self.states
            ));
        };
        let mut text = style.fill(&format!(
            "{head}: over all latencies worst {worst}, best {best} cycles ({} states, complete)\n  with every varied latency at its longest: {} cycles\n",
            self.states, self.all_longest
        ));
        if worst > self.all_longest {
            text.push_str("  a timing anomaly: shorter latencies make this block slower\n");
        }
        let one = |decision: &Decision| match decision.lat {
            None => format!("w{}", decision.warp),
            Some(lat) => format!("w{}:{lat}", decision.warp),
        };
        let _ = writeln!(text, "  a worst run, warp:latency by issue: {}", shown(&self.witness, one));
        let _ = writeln!(text, "  a best run, warp:latency by issue:  {}", shown(&self.best_witness, one));
        text
    }
}

impl Report for Output<ExploreResult> {
    fn text(&self, style: Style) -> String {
        let text = |result: &ExploreResult| match result {
            ExploreResult::Schedules(found) => found.text(style) + &found.of.note(style),
            ExploreResult::Choices(found) => found.text(style),
            ExploreResult::Latencies(found) => found.text(style) + &found.of.note(style),
        };
        self.results.iter().map(text).collect()
    }
}
