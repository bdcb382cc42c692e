//! Figures 2 and 3 of Jeanmougin et al., ECRTS 2025: the worked example, with one warp alone and
//! with two.

use super::PAPER;
use super::figure::{FigureResult, Quantity};
use super::published::{self, Moment, StatedMoment};
use warpbound_bound::{PhaseKind, WarpPhases};
use warpbound_trace::trace::Issue;

const NOTES: &[&str] = &[
    "the moments of an instruction: it is issued, it starts on its unit (is dispatched), its unit is free again, and it \
     is done; exec and idle phases are numbered in turn",
    "the paper's \"at the end of cycle n\" is the instant n here, where cycle n begins: i0 has its result at the end of cycle 8, \
     and i3 starts in cycle 8",
];

impl Moment {
    fn of(self, issue: &Issue) -> u64 {
        match self {
            Self::Issued => issue.issue.get(),
            Self::Dispatched => issue.start.get(),
            Self::Initiated => issue.init_end.get(),
            Self::Done => issue.done.get(),
        }
    }

    fn text(self) -> &'static str {
        match self {
            Self::Issued => "issued",
            Self::Dispatched => "starts",
            Self::Initiated => "unit free",
            Self::Done => "done",
        }
    }
}

fn moments(stated: &[StatedMoment], warps: bool, issues: &[Issue]) -> Vec<Quantity> {
    let one = |(warp, index, moment, place, published): &StatedMoment| {
        let issue = issues.iter().find(|issue| (issue.warp.get(), issue.index) == (*warp, *index));
        let who = if warps { format!("w{warp} i{index}") } else { format!("i{index}") };
        let what = format!("{who} {}", moment.text());
        Quantity::new(what, place, issue.map(|issue| moment.of(issue)), *published)
    };
    stated.iter().map(one).collect()
}

/// Returns Figure 2: the simulation of one warp, and the phases that the analyser computes from it.
pub fn fig2(issues: &[Issue], phases: &WarpPhases) -> FigureResult {
    let mut quantities = moments(&published::FIG_2, false, issues);
    let place = "Example 3";
    quantities.push(Quantity::new(
        "phases",
        "Example 1",
        Some(phases.phases.len() as u64),
        published::FIG_2_PHASES.len() as u64,
    ));
    for (index, (is_exec, start, end)) in published::FIG_2_PHASES.into_iter().enumerate() {
        let kind = if is_exec { PhaseKind::Exec } else { PhaseKind::Idle };
        let ours = phases.phases.get(index).filter(|phase| phase.kind == kind);
        let name = if is_exec { "exec" } else { "idle" };
        let (from, to) = (ours.map(|phase| phase.start.get()), ours.map(|phase| phase.end.get()));
        quantities.push(Quantity::new(format!("{name} {index} from"), place, from, start));
        quantities.push(Quantity::new(format!("{name} {index} to"), place, to, end));
    }
    let about = "a warp of five instructions alone, and its phases";
    FigureResult {
        quantities,
        notes: NOTES.to_vec(),
        commands: ["warpbound phases fig3", "warpbound check fig3 --gantt"].map(str::to_owned).to_vec(),
        ..FigureResult::new("Figure 2", PAPER, "section 2.1", about)
    }
}

/// Returns Figure 3: two warps of the same code under gto.
pub fn fig3(issues: &[Issue]) -> FigureResult {
    let mut notes = NOTES.to_vec();
    notes.push(
        "the text does not name the policy; under gto the schedule is the one that it describes. It does not say when the \
         schedule ends, nor the bound: those are not compared",
    );
    let about = "two warps that run the code of Figure 2, under gto";
    FigureResult {
        quantities: moments(&published::FIG_3, true, issues),
        notes,
        commands: vec!["warpbound check fig3 --gantt".to_owned()],
        ..FigureResult::new("Figure 3", PAPER, "section 2.2", about)
    }
}
