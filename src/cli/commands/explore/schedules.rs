//! All work-conserving schedules of a block.

use std::io::Write;
use std::path::Path;

use serde::Serialize;

use super::Block;
use crate::base::Cycles;
use crate::bound::{self, Analyser, Bound, BoundReport, Context, Iwb, Scope};
use crate::check::{Status, overestimation};
use crate::cli::args::Explore;
use crate::cli::files::{Outputs, Part};
use crate::cli::load::{self, LoadedKernel};
use crate::cli::output::{Ending, Format, Outcome};
use crate::cli::session::Session;
use crate::diag::{Diagnostic, Diagnostics};
use crate::explore::{Exploration, witness_schedule};
use crate::machine::SchedulerKind;
use crate::path::BlockPaths;
use crate::program::TimingTable;
use crate::report::json::{self, Origin, SCHEMA};
use crate::report::table::Table;
use crate::report::text::percent;
use crate::sim::PolicySetup;

/// Files for a worst and a best schedule.
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
    /// Starts the files that were asked for.
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
    fn write(mut self, block: &Block, witness: &[usize]) -> Result<(), Diagnostic> {
        let schedule = witness_schedule(block.table, block.machine, block.paths, witness)
            .expect("witnesses are replayed before they are reported");
        self.part.write_all(schedule.as_bytes()).and_then(|()| self.part.place()).map_err(|error| {
            let place = format!("{} {}", self.option, self.path.display());
            Diagnostic::general(place, format!("cannot write the file: {error}"))
        })
    }
}

/// Searches them and judges the bounds.
pub fn explore(block: &Block, files: Witnesses) -> Outcome {
    let Block { args, kernel, machine, table, paths, limits, session } = block;
    // every schedule that is explored is work conserving, and one block is
    let context = Context {
        work_conserving: Some(true),
        ..Context::new(&SchedulerKind::Gto, 1, paths.partial_barriers)
    };
    // bounds for one policy claim nothing of all schedules, and bounds of launches nothing of a block
    let mut bounds = bound::all();
    bounds.retain(|bound| bound.policy().is_none() && bound.scope() == Scope::Block);
    let mut reports = vec![BoundReport::default(); bounds.len()];
    Analyser::new(table).for_each_section(paths, |section| {
        bounds.iter().zip(&mut reports).for_each(|(bound, report)| bound.add_section(report, section));
    });
    let proved = upper_bound(table, paths);
    session.progress.begin(&kernel.workload.name, Some(block.issues()), "issues");
    let found = crate::explore::explore(table, machine, paths, proved, *limits, &session.watch)
        .map_err(|error| block.not_explorable(&error))?;
    let judged: Vec<json::Bound> = bounds
        .iter()
        .zip(&reports)
        .map(|(bound, report)| match bound.applicable(&context) {
            Ok(()) => judge(bound.name(), report.value.cycles(), &found),
            Err(reason) => json::Bound {
                name: bound.name(),
                value: None,
                status: Status::NotApplicable,
                reason: Some(reason.to_string()),
                overestimation: None,
            },
        })
        .collect();
    let violated = judged.iter().any(|bound| bound.status == Status::Violated);
    let mut ending = Ending { violated, ..Ending::default() };
    match args.on.common.format {
        Format::Json => ending.print_json(session, &ExploreReport::new(block, &found, judged)),
        Format::Text => {
            let blocks = kernel.workload.blocks();
            let which =
                if blocks > 1 { format!("block {} of {blocks}: ", args.of_block) } else { String::new() };
            ending.print(session, &(which + &text(block, &found, &judged)));
        }
    }
    for (file, witness) in [(files.worst, &found.worst_witness), (files.best, &found.best_witness)] {
        if let Some(Err(problem)) = file.map(|file| file.write(block, witness)) {
            ending.late.push(problem);
        }
    }
    Ok(ending)
}

/// No schedule takes longer: the search ends there. Whatever the bounds to be judged, this one is
/// proved for every block that can be explored.
fn upper_bound(table: &TimingTable, paths: &BlockPaths) -> Cycles {
    let mut report = BoundReport::default();
    Analyser::new(table).for_each_section(paths, |section| Iwb.add_section(&mut report, section));
    report.value.cycles()
}

/// A bound claims something of every schedule: it holds only if the worst case is known to be
/// below it.
fn judge(name: &'static str, value: Cycles, found: &Exploration) -> json::Bound {
    let status = Status::between(found.worst.at_least, found.worst.at_most, value);
    let open = "the exploration is incomplete: the worst case may be above or below";
    let over = overestimation(value, found.worst.at_least).filter(|_| found.is_complete());
    json::Bound {
        name,
        value: Some(value.get()),
        status,
        reason: (status == Status::Undecided).then(|| open.to_owned()),
        overestimation: over.map(json::rounded),
    }
}

#[derive(Serialize)]
struct ExploreReport {
    schema: u32,
    kernel: String,
    machine: String,
    block: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    worst: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    best: Option<u64>,
    worst_at_least: u64,
    worst_at_most: u64,
    best_at_least: u64,
    best_at_most: u64,
    complete: bool,
    /// Why not, if so: `max-states`, `memory`, `interrupt`, `terminated`, `time-limit`.
    #[serde(skip_serializing_if = "Option::is_none")]
    stopped: Option<&'static str>,
    states: u64,
    bounds: Vec<json::Bound>,
    witness: Vec<usize>,
    best_witness: Vec<usize>,
    #[serde(flatten)]
    origin: Origin,
}

impl ExploreReport {
    fn new(block: &Block, found: &Exploration, bounds: Vec<json::Bound>) -> Self {
        let Block { args, kernel, machine, .. } = block;
        Self {
            schema: SCHEMA,
            kernel: kernel.workload.name.clone(),
            machine: machine.name().to_owned(),
            block: args.of_block,
            worst: found.worst.exact().map(Cycles::get).filter(|_| found.is_complete()),
            best: found.best.exact().map(Cycles::get).filter(|_| found.is_complete()),
            worst_at_least: found.worst.at_least.get(),
            worst_at_most: found.worst.at_most.get(),
            best_at_least: found.best.at_least.get(),
            best_at_most: found.best.at_most.get(),
            complete: found.is_complete(),
            stopped: found.spent.map(|spent| block.stopped(spent)),
            states: found.states,
            bounds,
            witness: found.worst_witness.clone(),
            best_witness: found.best_witness.clone(),
            origin: Origin::new(machine, args.on.common.seed),
        }
    }
}

/// Issues shown of a witness.
const MAX_WITNESS: usize = 200;

fn shown_witness(witness: &[usize]) -> String {
    let shown: Vec<String> = witness.iter().take(MAX_WITNESS).map(usize::to_string).collect();
    let more = if witness.len() > MAX_WITNESS { " ..." } else { "" };
    format!("{}{more}", shown.join(" "))
}

fn text(block: &Block, found: &Exploration, bounds: &[json::Bound]) -> String {
    let Block { kernel, machine, .. } = block;
    let style = block.session.style;
    let heading = if found.is_complete() {
        format!(
            "{} on {}: over all work-conserving schedules worst {}, best {} cycles ({} states, complete)\n\n",
            style.strong(&kernel.workload.name),
            machine.name(),
            found.worst.at_least,
            found.best.at_most,
            found.states
        )
    } else {
        format!(
            "{} on {}: INCOMPLETE after {} states, every schedule followed for {} issues\n  proven: worst between {} and {}, best between {} and {} cycles ({})\n\n",
            style.strong(&kernel.workload.name),
            machine.name(),
            found.states,
            found.followed_issues,
            found.worst.at_least,
            found.worst.at_most,
            found.best.at_least,
            found.best.at_most,
            found.spent.map_or_else(String::new, |spent| block.why(spent))
        )
    };
    let mut out = style.fill(&heading);
    let mut table = Table::new(["bound", "cycles", "over worst", "status", ""], &[0, 3, 4]);
    for bound in bounds {
        table.row([
            bound.name.to_owned(),
            bound.value.map_or_else(|| "-".to_owned(), |v| v.to_string()),
            bound.overestimation.map_or_else(|| "-".to_owned(), percent),
            style.status(bound.status),
            bound.reason.clone().unwrap_or_default(),
        ]);
    }
    out.push_str(&table.render(2, style.width));
    out.push_str(&format!("\n  a worst schedule, warp by issue: {}\n", shown_witness(&found.worst_witness)));
    out.push_str(&format!("  a best schedule, warp by issue:  {}\n", shown_witness(&found.best_witness)));
    out.push_str("  (--worst-schedule FILE writes it for --scheduler replay:FILE)\n");
    out
}
