//! The report of Algorithm 1 of Jeanmougin et al., ECRTS 2025, for each warp when it runs alone.

use std::fmt::Write;

use serde::Serialize;

use super::output::{Origin, Output, Report};
use super::style::Style;
use warpbound_bound::{PhaseKind, WarpPhases};
use warpbound_core::machine::Machine;

/// The most phases of a warp that text shows; the others are counted.
const MAX_SHOWN: usize = 40;

/// The warps of a block, each of them running alone. Times are in cycles.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PhasesResult {
    /// The name of the kernel.
    pub kernel: String,
    /// The machine.
    #[serde(flatten)]
    pub origin: Origin,
    /// The index of the block in the grid.
    pub block: u32,
    /// The warps of the block.
    pub warps: Vec<Warp>,
    /// Why there are no upper bounds of phases and warps, if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_upper_bounds: Option<&'static str>,
    /// Why the paths could differ if the warps ran at other times.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// A warp.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Warp {
    /// The index of the warp in its block.
    pub warp: usize,
    /// Its time.
    pub isolated: u64,
    /// Its time in exec phases.
    pub exec: u64,
    /// Its time in idle phases.
    pub idle: u64,
    /// WUB, the warp's upper bound (Definition 9): its time alone plus the exec phases of all other
    /// warps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wub: Option<u64>,
    /// The phases in order.
    pub phases: Vec<Phase>,
}

/// A phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Phase {
    /// The kind, `exec` or `idle`.
    pub kind: &'static str,
    /// The first cycle.
    pub start: u64,
    /// The cycle after the last.
    pub end: u64,
    /// PUB, the phase's upper bound (Definition 6): the phases of its warp up to and including it,
    /// plus the exec phases of all other warps.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(rename = "pub")]
    pub upper: Option<u64>,
}

/// Returns why the paper's upper bounds of phases and warps do not apply to a block, or `None` if
/// they do.
pub fn no_upper_bounds(sub_cores: usize, barriers: bool) -> Option<&'static str> {
    match (sub_cores, barriers) {
        (1, false) => None,
        (1, true) => Some(
            "warps meet at barriers, but PUB and WUB are defined without barriers; `check` has GUB section by section",
        ),
        _ => Some("the machine has several sub-cores, and PUB and WUB are defined for one"),
    }
}

/// Returns the name of a kind of phase.
pub fn kind_name(kind: PhaseKind) -> &'static str {
    match kind {
        PhaseKind::Exec => "exec",
        PhaseKind::Idle => "idle",
    }
}

impl Warp {
    fn new(warp: usize, phases: &WarpPhases, exec_of_others: Option<u64>) -> Self {
        let upper = |end: u64| exec_of_others.map(|others| end + others);
        let phase = |p: &warpbound_bound::Phase| Phase {
            kind: kind_name(p.kind),
            start: p.start.get(),
            end: p.end.get(),
            upper: upper(p.end.get()),
        };
        Self {
            warp,
            isolated: phases.end.get(),
            exec: phases.exec.get(),
            idle: phases.idle.get(),
            wub: upper(phases.end.get()),
            phases: phases.phases.iter().map(phase).collect(),
        }
    }
}

impl PhasesResult {
    /// Returns the phases of a block's warps.
    pub fn new(
        kernel: &str,
        machine: &Machine,
        block: u32,
        warps: &[WarpPhases],
        barriers: bool,
        notes: Vec<String>,
    ) -> Self {
        let no_upper_bounds = no_upper_bounds(machine.sub_cores().count(), barriers);
        let exec: u64 = warps.iter().map(|warp| warp.exec.get()).sum();
        let others = |warp: &WarpPhases| no_upper_bounds.is_none().then(|| exec - warp.exec.get());
        let warps =
            warps.iter().enumerate().map(|(index, warp)| Warp::new(index, warp, others(warp))).collect();
        let origin = Origin::new(machine);
        Self { kernel: kernel.to_owned(), origin, block, warps, no_upper_bounds, notes }
    }

    fn text(&self) -> String {
        let mut text = format!(
            "{} on {}, block {}: each warp run alone, phases in cycles\n\n",
            self.kernel, self.origin.machine, self.block
        );
        // warps with the same phases are listed once
        for run in self.warps.chunk_by(|a, b| a.phases == b.phases) {
            let (first, last) = (&run[0], &run[run.len() - 1]);
            let who = match run {
                [only] => format!("w{}", only.warp),
                _ => format!("w{} to w{}", first.warp, last.warp),
            };
            let wub = first.wub.map_or_else(String::new, |wub| format!(", WUB {wub}"));
            let _ = writeln!(
                text,
                "{who}: isolated {}, exec {}, idle {}{wub}, {} phases",
                first.isolated,
                first.exec,
                first.idle,
                first.phases.len()
            );
            for phase in first.phases.iter().take(MAX_SHOWN) {
                let upper = phase.upper.map_or_else(String::new, |upper| format!(", PUB {upper}"));
                let _ = writeln!(text, "  {} [{}, {}){upper}", phase.kind, phase.start, phase.end);
            }
            if first.phases.len() > MAX_SHOWN {
                let more = first.phases.len() - MAX_SHOWN;
                let _ = writeln!(text, "  ... and {more} more (--format json lists all)");
            }
        }
        text.push_str(match self.no_upper_bounds {
            Some(_) => "\nnote: no upper bounds of phases and warps: ",
            None => "\nnote: ",
        });
        let note = self.no_upper_bounds.unwrap_or(
            "PUB and WUB are the paper's upper bounds of a phase and of a warp, as published, for work-conserving policies; `check` \
             judges the largest WUB as GUB",
        );
        text.push_str(note);
        text.push('\n');
        for note in &self.notes {
            let _ = write!(text, "\nnote: the paths depend on timing: {note}\n");
        }
        text
    }
}

impl Report for Output<PhasesResult> {
    fn text(&self, _: Style) -> String {
        self.results.iter().map(PhasesResult::text).collect()
    }
}
