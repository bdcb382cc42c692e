//! `warpbound compare`: every bound beside what was simulated and what was explored, a line per
//! kernel.

use crate::base::Cycles;
use crate::bound::{self, Bound};
use crate::check::{Checked, Plan, WorkloadSource, check, execute_sequence, observe_sequence};
use crate::cli::args::Compare;
use crate::cli::failures::Batch;
use crate::cli::load::{self, Loaded};
use crate::cli::output::{Ending, Outcome};
use crate::cli::policies;
use crate::cli::programs::LoadedProgram;
use crate::cli::resources;
use crate::cli::session::Session;
use crate::diag::Diagnostics;
use crate::explore::explore;
use crate::explore::search::Limits;
use crate::machine::{Machine, SchedulerKind};
use crate::path::{BlockPaths, BlockSource};
use crate::program::{Program, TimingTable};
use crate::report::compare::{CompareResult, Explored};
use crate::report::output::Output;
use crate::sim::PolicySetup;

/// Runs the command.
pub fn run(args: &Compare, session: &Session) -> Outcome {
    let bounds = bound::all();
    let names = if args.kernels.is_empty() { super::check::suite_kernels()? } else { args.kernels.clone() };
    let mut batch = Batch::new(&names);
    let mut rows = Vec::new();
    while let Some((_, name)) = batch.begin(session) {
        match row(name, &batch.label(name), args, &bounds, session) {
            Ok(Some(row)) => {
                rows.push(row);
                // what was explored of it may not be all
                if session.watch.is_stopped() {
                    batch.cut_short();
                }
            }
            Ok(None) => batch.cut_short(),
            Err(problems) => batch.failures.add(name, &problems),
        }
    }
    if rows.is_empty() && names.len() == 1 && !batch.is_incomplete() {
        return Err(batch.failures.into_problems());
    }
    let mut ending = Ending::default();
    let output = Output::of_batch("compare", Some(args.common.seed), rows, batch.report(session));
    ending.report(session, args.common.format, &output);
    ending.failures = batch.failures;
    Ok(ending)
}

/// A kernel's line; nothing if somebody ended the command before it was simulated.
fn row(
    name: &str,
    label: &str,
    args: &Compare,
    bounds: &[Box<dyn Bound>],
    session: &Session,
) -> Result<Option<CompareResult>, Diagnostics> {
    let policies = [policies::setup(&SchedulerKind::Gto)?, policies::setup(&SchedulerKind::Lrr)?];
    let kernel = match load::any(name, &args.ptx, args.common.seed)? {
        Loaded::Kernel(kernel) => kernel,
        Loaded::Program(program) => return program_row(&program, label, args, bounds, &policies, session),
    };
    let (machine, _) = load::machine(&args.common, &kernel)?;
    let blocks = u64::from(kernel.workload.blocks());
    session.progress.begin(label, Some(blocks * policies.len() as u64), "blocks");
    let checked = check(&Plan {
        workload: &kernel.workload,
        machine: &machine,
        policies: &policies,
        bounds,
        gating: &[],
        max_instructions_per_block: args.common.fuel(),
        threads: 1,
        ahead: false,
        self_check: false,
        race_memory: args.common.race_memory(),
        watch: &session.watch,
    })
    .map_err(|failed| failed.problems.with_excerpts(&kernel.code))?;
    if !checked.iter().all(Checked::is_complete) {
        return Ok(None);
    }
    let runs: [Checked; 2] = checked.try_into().expect("one result a policy");
    let name = kernel.workload.name.clone();
    if runs.iter().any(|run| run.resident_blocks > 1) {
        // blocks that run at the same time are not explored
        return Ok(Some(CompareResult::new(name, &machine, &runs, Explored::NotHandled)));
    }
    session.progress.begin(format!("exploring {label}"), None, "issues");
    let source: WorkloadSource = kernel.workload.source(args.common.watched(&machine))?;
    let mut source = source.watched(&session.watch);
    let explored = explored(kernel.workload.program(), &machine, args, &mut source, session);
    let explored = explored.map_err(|problems| problems.with_excerpts(&kernel.code))?;
    let explored = explored.of_paths(&source.time_dependences());
    Ok(Some(CompareResult::new(name, &machine, &runs, explored)))
}

fn program_row(
    program: &LoadedProgram,
    label: &str,
    args: &Compare,
    bounds: &[Box<dyn Bound>],
    policies: &[PolicySetup; 2],
    session: &Session,
) -> Result<Option<CompareResult>, Diagnostics> {
    let (machine, _) = load::machine_of_program(&args.common)?;
    let options = args.common.watched(&machine);
    session.progress.begin(label, None, "blocks");
    let mut worst = Explored::Exactly(Cycles::ZERO);
    let mut all = || {
        let plan = program.plan(&machine, bounds, &[], &args.common, false, &session.watch);
        let run = |policy: &PolicySetup| {
            let run = observe_sequence(&plan, policy, &mut ()).map_err(|failed| failed.problems)?;
            Ok::<Checked, Diagnostics>(run.0.total)
        };
        let runs = [run(&policies[0])?, run(&policies[1])?];
        if !runs.iter().all(Checked::is_complete) {
            return Ok(None);
        }
        if runs.iter().any(|run| run.resident_blocks > 1) {
            worst = Explored::NotHandled;
            return Ok(Some(runs));
        }
        session.progress.begin(format!("exploring {label}"), None, "issues");
        execute_sequence(&program.sequence, None, options, &session.watch, &mut |step, run| {
            let of_launch = explored(&program.sequence.kernel(step).program, &machine, args, run, session)?;
            worst = worst.and(of_launch.of_paths(&run.time_dependences()));
            Ok(())
        })?;
        Ok(Some(runs))
    };
    let runs = all().map_err(|problems| program.with_excerpts(problems))?;
    Ok(runs.map(|runs| CompareResult::new(program.name.clone(), &machine, &runs, worst)))
}

/// The blocks of a launch, one after the other; all of them are taken.
fn explored(
    program: &Program,
    machine: &Machine,
    args: &Compare,
    source: &mut impl BlockSource<Error = Diagnostics>,
    session: &Session,
) -> Result<Explored, Diagnostics> {
    let table = TimingTable::new(program, machine)?;
    let limits =
        Limits { max_states: args.max_states, max_bytes: resources::budget(), threads: resources::threads() };
    let mut paths = BlockPaths::default();
    let mut worst = if machine.beyond_the_paper_model().is_empty() {
        Explored::Exactly(Cycles::ZERO)
    } else {
        Explored::NotHandled
    };
    while source.next_block(&mut paths)? {
        if worst == Explored::NotHandled {
            continue;
        }
        worst = match explore(&table, machine, &paths, Cycles::ZERO, limits, &session.watch) {
            Ok(found) if found.is_complete() => worst.and(Explored::Exactly(found.worst.at_least)),
            Ok(found) => worst.and(Explored::AtLeast(found.worst.at_least)),
            Err(_) => Explored::NotHandled,
        };
    }
    Ok(match worst {
        // blocks that were not looked at only add to it
        Explored::Exactly(sum) if session.watch.is_stopped() => Explored::AtLeast(sum),
        other => other,
    })
}
