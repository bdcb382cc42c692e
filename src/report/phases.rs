//! What Algorithm 1 of Jeanmougin et al., ECRTS 2025, says about each warp run alone.

use std::fmt::Write;

use serde::Serialize;

use super::output::{Origin, Output, Report};
use super::style::Style;
use crate::bound::{PhaseKind, WarpPhases};
use crate::machine::Machine;

/// Phases of one warp shown as text before the rest is counted.
const MAX_SHOWN: usize = 40;

/// A block's warps, each alone. Times are cycles.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PhasesResult {
    /// The kernel.
    pub kernel: String,
    /// The machine.
    #[serde(flatten)]
    pub origin: Origin,
    /// The block's number in the grid.
    pub block: u32,
    /// Its warps.
    pub warps: Vec<Warp>,
    /// Why there are no upper bounds of phases and warps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_upper_bounds: Option<&'static str>,
    /// Why the paths may be others if the warps run at other times.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// A warp.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Warp {
    /// Its number in the block.
    pub warp: usize,
    /// Its time.
    pub isolated: u64,
    /// Time in exec phases.
    pub exec: u64,
    /// Time in idle phases.
    pub idle: u64,
    /// WUB, its upper bound (Definition 9): its time alone and the exec phases of all other warps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wub: Option<u64>,
    /// One after the other.
    pub phases: Vec<Phase>,
}

/// A phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Phase {
    /// `exec` or `idle`.
    pub kind: &'static str,
    /// Its first cycle.
    pub start: u64,
    /// The cycle after its last.
    pub end: u64,
    /// PUB, its upper bound (Definition 6): the phases of its warp up to it, and the exec phases of all other warps.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(rename = "pub")]
    pub upper: Option<u64>,
}

/// Why the paper's upper bounds of phases and warps are not those of a block; none if they are.
pub fn no_upper_bounds(sub_cores: usize, barriers: bool) -> Option<&'static str> {
    match (sub_cores, barriers) {
        (1, false) => None,
        (1, true) => Some(
            "warps meet at barriers, and PUB and WUB are defined without them; `check` has GUB section by section",
        ),
        _ => Some("the machine has several sub-cores, and PUB and WUB are defined for one"),
    }
}

/// What a kind of phase is called.
pub fn kind_name(kind: PhaseKind) -> &'static str {
    match kind {
        PhaseKind::Exec => "exec",
        PhaseKind::Idle => "idle",
    }
}

impl Warp {
    fn new(warp: usize, phases: &WarpPhases, exec_of_others: Option<u64>) -> Self {
        let upper = |end: u64| exec_of_others.map(|others| end + others);
        let phase = |p: &crate::bound::Phase| Phase {
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
    /// The phases of a block's warps.
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
        // warps with the same phases are told once
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
        let said = self.no_upper_bounds.unwrap_or(
            "PUB and WUB are the paper's upper bounds of a phase and of a warp, as published, for work-conserving policies; `check` \
             judges the largest WUB as GUB",
        );
        text.push_str(said);
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
