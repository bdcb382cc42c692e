//! The report of anomalies among sequences of phases, drawn as two schedules one above the other.

use std::fmt::Write;

use serde::Serialize;

use super::phase_gantt;
use super::phases::kind_name;
use super::style::Style;
use warpbound_core::base::Cycles;
use warpbound_core::machine::PolicyKind;
use warpbound_judge::explore::anomaly::phases::{PhaseAnomaly, PhaseFound};
use warpbound_judge::explore::phase_level::{PhasePair, PhaseRun, PhaseWarp, schedule};

/// The result of the search under a policy.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PolicySearch {
    /// The policy.
    pub policy: String,
    /// Whether an anomaly was found.
    pub found: bool,
    /// Whether the search reached its limit or found an anomaly.
    pub complete: bool,
    /// The number of instances that were tried.
    pub instances: u64,
    /// The number of schedules of these instances.
    pub schedules: u64,
    /// The total length of phases, in cycles, up to which every instance was searched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub all_up_to: Option<u64>,
    /// The anomaly, if one was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub anomaly: Option<Anomaly>,
}

/// An anomaly: phases get shorter and the makespan increases. Times are in cycles.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Anomaly {
    /// The makespan before.
    pub makespan_before: u64,
    /// The makespan after.
    pub makespan_after: u64,
    /// The phases that get shorter.
    pub shortened: Vec<Shortened>,
    /// The schedule before.
    pub before: Vec<Run>,
    /// The schedule after.
    pub after: Vec<Run>,
    /// A command that draws the schedule before.
    pub command_before: String,
    /// A command that draws the schedule after.
    pub command_after: String,
    #[serde(skip)]
    drawings: [String; 2],
}

/// A phase that gets shorter.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Shortened {
    /// The index of its warp.
    pub warp: usize,
    /// The index of the phase in its warp, from 0, where exec and idle phases are counted
    /// separately.
    pub phase: usize,
    /// The kind, `exec` or `idle`.
    pub kind: &'static str,
    /// The length before.
    pub from: u64,
    /// The length after.
    pub to: u64,
}

/// An exec phase and the idle phase after it.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Run {
    /// The index of the warp.
    pub warp: usize,
    /// The index of the exec phase in its warp, from 0.
    pub phase: usize,
    /// The cycle from which the exec phase could start.
    pub ready: u64,
    /// The cycle at which it started.
    pub start: u64,
    /// The end of the exec phase.
    pub exec_end: u64,
    /// The end of the idle phase.
    pub idle_end: u64,
}

/// The schedule of given phases.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Drawn {
    /// The policy.
    pub policy: String,
    /// The makespan in cycles.
    pub makespan: u64,
    #[serde(skip)]
    drawing: String,
}

impl Drawn {
    /// Returns the schedule, or `None` for a policy that does not schedule whole phases.
    pub fn new(warps: &[PhaseWarp], policy: &PolicyKind) -> Option<Self> {
        let mut all = Vec::new();
        let makespan = schedule(warps, policy, |run| all.push(run))?;
        Some(Self {
            policy: policy.to_string(),
            makespan: makespan.get(),
            drawing: phase_gantt::draw(&all, warps.len(), &[]),
        })
    }
}

/// Returns the drawings, one below the other.
pub(super) fn drawings(all: &[&Drawn]) -> String {
    let mut text = String::new();
    for drawn in all {
        let _ = writeln!(text, "{}: makespan {}\n{}", drawn.policy, drawn.makespan, drawn.drawing);
    }
    text + phase_gantt::LEGEND
}

fn runs(warps: &[PhaseWarp], policy: &PolicyKind) -> Vec<PhaseRun> {
    let mut runs = Vec::new();
    // a policy that does not schedule whole phases is rejected earlier, and yields no runs
    let _ = schedule(warps, policy, |run| runs.push(run));
    runs
}

/// Returns the command that draws phases of these lengths.
pub fn command(warps: &[PhaseWarp], policy: &PolicyKind) -> String {
    let pair = |p: &PhasePair| format!("{},{}", p.exec, p.idle);
    let warp = |w: &PhaseWarp| w.iter().map(pair).collect::<Vec<_>>().join(",");
    let lengths = warps.iter().map(warp).collect::<Vec<_>>().join("/");
    format!("warpbound anomaly --lengths {lengths} --policy {policy}")
}

impl PolicySearch {
    /// Returns the report of a search under this policy.
    pub fn new(policy: &PolicyKind, found: &PhaseFound) -> Self {
        Self {
            policy: policy.to_string(),
            found: found.anomaly.is_some(),
            complete: !found.ended_early,
            instances: found.instances,
            schedules: found.schedules,
            all_up_to: found.all_up_to.map(Cycles::get),
            anomaly: found.anomaly.as_ref().map(|anomaly| Anomaly::new(anomaly, policy)),
        }
    }
}

impl Anomaly {
    fn new(anomaly: &PhaseAnomaly, policy: &PolicyKind) -> Self {
        let run = |run: PhaseRun| Run {
            warp: run.warp,
            phase: run.index,
            ready: run.ready.get(),
            start: run.start.get(),
            exec_end: run.exec_end.get(),
            idle_end: run.idle_end.get(),
        };
        let all = |warps: &[PhaseWarp]| runs(warps, policy).into_iter().map(run).collect();
        let marked: Vec<_> = anomaly.shortened.iter().map(|one| (one.warp, one.index, one.kind)).collect();
        let draw = |warps: &[PhaseWarp]| phase_gantt::draw(&runs(warps, policy), warps.len(), &marked);
        Self {
            makespan_before: anomaly.makespan_before.get(),
            makespan_after: anomaly.makespan_after.get(),
            shortened: anomaly
                .shortened
                .iter()
                .map(|one| Shortened {
                    warp: one.warp,
                    phase: one.index,
                    kind: kind_name(one.kind),
                    from: one.from.get(),
                    to: one.to.get(),
                })
                .collect(),
            before: all(&anomaly.before),
            after: all(&anomaly.after),
            command_before: command(&anomaly.before, policy),
            command_after: command(&anomaly.after, policy),
            drawings: [draw(&anomaly.before), draw(&anomaly.after)],
        }
    }

    fn text(&self, policy: &str, tried: &str, style: Style) -> String {
        let one = |one: &Shortened| {
            format!("w{}'s {} phase {} from {} to {}", one.warp, one.kind, one.phase + 1, one.from, one.to)
        };
        let shorter: Vec<String> = self.shortened.iter().map(one).collect();
        let mut text = String::new();
        let _ = writeln!(
            text,
            "{}: {} shrink{}, and the makespan grows from {} to {}",
            style.strong(policy),
            shorter.join(" and "),
            if shorter.len() == 1 { "s" } else { "" },
            self.makespan_before,
            self.makespan_after
        );
        let [before, after] = &self.drawings;
        let _ = writeln!(text, "\nbefore: makespan {}\n{before}", self.makespan_before);
        let _ = writeln!(text, "after: makespan {}\n{after}", self.makespan_after);
        let _ = writeln!(text, "{tried}; commands that draw the two schedules:");
        let _ = writeln!(text, "  {}\n  {}\n", self.command_before, self.command_after);
        text
    }
}

/// Returns the text of the searches under each policy. `seed` is the seed of the instances, if they
/// were drawn at random.
pub(super) fn text(results: &[&PolicySearch], seed: Option<u64>, style: Style) -> String {
    let mut text = String::new();
    for found in results {
        let order = match seed {
            Some(seed) => format!("drawn from seed {seed}"),
            None => found.all_up_to.map_or_else(
                || "in order of total length".to_owned(),
                |all| format!("in order of total length, all up to {all} searched"),
            ),
        };
        let tried = format!("{} schedules of {} instances, {order}", found.schedules, found.instances);
        match &found.anomaly {
            Some(anomaly) => text.push_str(&anomaly.text(&found.policy, &tried, style)),
            None => {
                let early = if found.complete { "" } else { "INCOMPLETE, " };
                let policy = style.strong(&found.policy);
                let _ = writeln!(text, "{policy}: {early}no anomaly in {tried}\n");
            }
        }
    }
    text + phase_gantt::LEGEND
}
