//! The exploration of all work-conserving schedules of a block.

use std::path::Path;

use super::Block;
use crate::args::Explore;
use crate::files::{Outputs, Part};
use crate::load;
use crate::output::{Ending, Outcome};
use crate::progress::SEARCH;
use crate::session::Session;
use warpbound_bound::{self as bound, Analyser, Bound, BoundReport, Context, Guarantee, Iwb, Order, Scope};
use warpbound_core::base::Cycles;
use warpbound_core::diag::{Diagnostic, Diagnostics};
use warpbound_core::path::BlockPaths;
use warpbound_core::program::TimingTable;
use warpbound_judge::check::Verdict;
use warpbound_judge::explore::{Exploration, witness_schedule};
use warpbound_judge::load::LoadedKernel;
use warpbound_report::explore::{ExploreResult, Schedules};
use warpbound_report::output::Output;
use warpbound_report::verdict as report;
use warpbound_sim::PolicySetup;

/// The files for a worst and a best schedule.
pub struct Witnesses<'a> {
    worst: Option<Witness<'a>>,
    best: Option<Witness<'a>>,
}

struct Witness<'a> {
    option: &'static str,
    path: &'a Path,
    part: Part,
}

impl<'a> Witnesses<'a> {
    /// Creates the requested files.
    pub fn create(args: &'a Explore, kernel: &LoadedKernel, session: &Session) -> Result<Self, Diagnostics> {
        let inputs = load::inputs(&args.on.common, kernel, &PolicySetup::Gto);
        let mut outputs = Outputs::new(&inputs, args.writing.force, &session.parts);
        let mut problems = Diagnostics::new();
        let mut create = |option: &'static str, path: Option<&'a std::path::PathBuf>| {
            let path = path?.as_path();
            match outputs.file(option, path) {
                Ok(part) => Some(Witness { option, path, part }),
                Err(problem) => {
                    problems.push(problem);
                    None
                }
            }
        };
        let worst = create("--worst-schedule", args.worst_schedule.as_ref());
        let best = create("--best-schedule", args.best_schedule.as_ref());
        problems.into_result(Self { worst, best })
    }
}

impl Witness<'_> {
    fn write(self, block: &Block, witness: &[usize]) -> Result<(), Diagnostic> {
        let schedule = witness_schedule(block.table, block.machine, block.paths, witness)
            .expect("witnesses are replayed before they are reported");
        self.part.complete(format!("{} {}", self.option, self.path.display()), schedule.as_bytes())
    }
}

/// Explores the schedules and judges the bounds.
pub fn explore(block: &Block, order: Order, files: Witnesses) -> Outcome {
    let Block { args, kernel, machine, table, paths, limits, session, .. } = block;
    // the explored schedules are work conserving and belong to a single block
    let context = Context {
        schedules: bound::Schedules::WorkConserving,
        resident_blocks: 1,
        partial_barriers: paths.partial_barriers,
        beyond: kernel.workload.program().beyond_the_paper_model_on(machine),
        order,
    };
    // bounds for a single policy do not apply to all schedules, and bounds on launches do not apply
    // to a block
    let mut bounds = bound::all();
    bounds.retain(|bound| bound.policy().is_none() && bound.scope() == Scope::Block);
    let mut reports = vec![BoundReport::default(); bounds.len()];
    Analyser::new(table).for_each_section(paths, |section| {
        bounds.iter().zip(&mut reports).for_each(|(bound, report)| bound.add_section(report, section));
    });
    let proved = upper_bound(table, paths);
    session.progress.begin(&kernel.workload.name, Some(block.issues()), SEARCH);
    let found = warpbound_judge::explore::explore(table, machine, paths, proved, *limits, &session.monitor)
        .map_err(|error| block.not_explorable(&error))?;
    let verdicts = bounds.iter().zip(&reports).map(|(bound, report)| {
        match bound.applicable(&context).and_then(|applicable| applicable.guarantees(report.value)) {
            Ok(value) => (bound.name(), Some(value), judge(value, &found)),
            Err(reason) => (bound.name(), None, Verdict::NotApplicable(reason.to_string())),
        }
    });
    let verdicts: Vec<(&'static str, Option<Guarantee>, Verdict)> = verdicts.collect();
    let violated = verdicts.iter().any(|(.., verdict)| verdict.is_violated());
    let worst = found.is_complete().then_some(found.worst.at_least);
    let judged = verdicts
        .iter()
        .map(|(name, value, verdict)| report::Bound::of_worst_case(name, *value, verdict, worst));
    let stopped = found.spent.map(|spent| block.stopped(spent));
    let schedules = Schedules::new(block.searched(), &found, stopped, judged.collect());
    let mut ending = Ending { violated, ..Ending::default() };
    let (common, results) = (&args.on.common, vec![ExploreResult::Schedules(schedules)]);
    let output = Output::of_batch("explore", Some(common.seed), results, Block::batch(stopped));
    let output = output.judged(std::iter::once(Verdict::combine(verdicts.iter().map(|of| of.2.clone()))));
    ending.report(session, common.format, &output);
    for (file, witness) in [(files.worst, &found.worst_witness), (files.best, &found.best_witness)] {
        if let Some(Err(problem)) = file.map(|file| file.write(block, witness)) {
            ending.late.push(problem);
        }
    }
    Ok(ending)
}

/// Returns an upper bound of the worst case, at which the search can end. It does not depend on the
/// bounds to be judged, and is proved for every block that can be explored.
fn upper_bound(table: &TimingTable, paths: &BlockPaths) -> Cycles {
    let mut report = BoundReport::default();
    Analyser::new(table).for_each_section(paths, |section| Iwb.add_section(&mut report, section));
    report.value.cycles()
}

/// Judges a bound on all schedules: it holds only if the worst case is known to be at most the
/// bound.
fn judge(bound: Guarantee, found: &Exploration) -> Verdict {
    let undecided = "the exploration is incomplete: the worst case may be above or below";
    Verdict::between(found.worst.at_least, found.worst.at_most, bound, undecided)
}
