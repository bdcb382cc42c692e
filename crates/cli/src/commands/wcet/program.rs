//! Programs of several launches in `wcet`: their runs, the bounds on these, and the bound over all
//! paths. Schedules are explored, and times between points of the code are measured, for one kernel
//! only.

use super::kinds;
use crate::args::Wcet;
use crate::campaign::{check_runs, failed_run};
use crate::load;
use crate::loop_bounds::ByLine;
use crate::policies;
use crate::resources;
use crate::session::Session;
use warpbound_bound as bound;
use warpbound_bound::Schedules;
use warpbound_core::base::{Cycles, ProgressMonitor, in_order};
use warpbound_core::diag::{Diagnostic, Diagnostics};
use warpbound_core::machine::{Machine, PolicyKind};
use warpbound_core::program::loop_bounds::ProgramLoopBounds;
use warpbound_exec::Options;
use warpbound_judge::check::all_paths::{ExceededLoops, ProgramPaths, all_paths_of_program};
use warpbound_judge::check::{JudgedApplication, judge_each};
use warpbound_judge::load::{Loaded, LoadedApplication};
use warpbound_report::all_paths::given_of_program;
use warpbound_report::wcet::{AllPathsValue, Analysed, Explored, Largest, Simulated, WcetLaunch, WcetResult};
use warpbound_sim::PolicySetup;

/// Why there are no estimates and no explored schedules.
const OF_ONE_KERNEL: &str = "this is done for one kernel, and a program has several launches";

/// The runs of a program.
#[derive(Default)]
struct Runs {
    simulated: Simulated,
    /// The longest time of each launch.
    longest: Vec<Cycles>,
}

/// Returns the result for a program.
pub(super) fn row(
    name: &str,
    program: &LoadedApplication,
    args: &Wcet,
    bounds: &ByLine,
    session: &Session,
) -> Result<WcetResult, Diagnostics> {
    let sequence = program.program()?;
    let (machine, _) = load::machine_of_application(&args.common)?;
    let bounds = bounds.of_program(sequence).map_err(|problems| program.with_excerpts(problems))?;
    let policies = match &args.common.policy {
        Some(_) => vec![crate::applications::policy(program, &machine)?],
        None => kinds(args).iter().map(policies::setup).collect::<Result<Vec<_>, _>>()?,
    };
    check_runs(name, args.common.seed, args.runs)?;
    let exceeded = exceeded(name, args, &machine, &bounds, session)?;
    exceeded.finish().map_err(|problems| program.with_excerpts(problems))?;
    let runs = simulated(name, args, (&machine, &policies), session)?;
    let schedules = runs.simulated.schedules().to_vec();
    let (found, launches) =
        all_paths(program, args, &bounds, (&machine, &schedules), &runs.longest, session)?;
    let of = Analysed {
        name: program.name.clone(),
        blocks: program
            .application
            .each()
            .map(|launch| launch.grid.iter().map(|&n| u64::from(n)).product::<u64>())
            .sum(),
        loop_bounds: given_of_program(sequence, &bounds),
        launches,
    };
    let largest = Largest {
        simulated: runs.simulated,
        estimates: Err(OF_ONE_KERNEL.to_owned()),
        found,
        explored: Explored::Missing(OF_ONE_KERNEL.to_owned()),
    };
    Ok(WcetResult::new(of, &machine, args.runs, &policies, &largest))
}

/// Runs the program with every input, if there are loop bounds, and returns the loops whose bounds some
/// input exceeds.
fn exceeded(
    name: &str,
    args: &Wcet,
    machine: &Machine,
    bounds: &ProgramLoopBounds,
    session: &Session,
) -> Result<ExceededLoops, Diagnostics> {
    let mut exceeded = ExceededLoops::default();
    let options = Options::of(machine, args.common.fuel());
    for number in 0..if bounds.is_empty() { 0 } else { args.runs } {
        let seed = args.common.seed.wrapping_add(number);
        let input = load::any(name, &args.ptx, seed, &session.monitor)?;
        if let Loaded::Application(program) = &input {
            let sequence = program.program()?;
            let added = exceeded.add_program(sequence, Some(seed), options, bounds, &session.monitor);
            added.map_err(|problems| input.with_excerpts(problems))?;
        }
    }
    Ok(exceeded)
}

/// Simulates the program with every input under every policy.
fn simulated(
    name: &str,
    args: &Wcet,
    (machine, policies): (&Machine, &[PolicySetup]),
    session: &Session,
) -> Result<Runs, Diagnostics> {
    let jobs = args.jobs.unwrap_or_else(resources::threads).max(1);
    let threads = jobs.min(usize::try_from(args.runs).unwrap_or(usize::MAX));
    session.progress.begin(format!("simulating {name}"), Some(args.runs), "runs");
    let monitor = session.monitor.beside();
    let judged_by = bound::all();
    let one = |number: u64| one(name, args, number, (machine, policies, &judged_by), (threads, &monitor));
    let mut runs = Runs::default();
    let mut seed = args.common.seed;
    in_order(0..args.runs, threads, one, |done| {
        for (policy, run) in policies.iter().zip(done?) {
            runs.simulated.add(&policy.kind(), seed, &run.total);
            let makespans = run.total.blocks.iter().map(|(_, makespan, _)| makespan);
            runs.longest.resize(run.launches().len(), Cycles::ZERO);
            runs.longest.iter_mut().zip(makespans).for_each(|(most, makespan)| *most = makespan.max(*most));
        }
        seed = seed.wrapping_add(1);
        session.monitor.advance(1);
        Ok::<(), Diagnostics>(())
    })
    .map_err(|problems| failed_run(name, problems, session))?;
    Ok(runs)
}

/// Simulates the input with this index, from 0, under every policy.
fn one(
    name: &str,
    args: &Wcet,
    number: u64,
    (machine, policies, judged_by): (&Machine, &[PolicySetup], &[Box<dyn bound::Bound>]),
    (threads, monitor): (usize, &ProgressMonitor),
) -> Result<Vec<JudgedApplication>, Diagnostics> {
    let common = &args.common;
    let seed = common.seed.wrapping_add(number);
    let what = load::any(name, &args.ptx, seed, monitor)?;
    let options = common.run_options(monitor).judged_by(judged_by, &[]).ahead_unless_parallel(threads);
    let runs = judge_each(what.subject(), &[(machine, policies)], &options);
    let judged = |run: warpbound_judge::check::Run| match (run.problems, run.judged) {
        (Some(problems), _) => Err(what.with_excerpts(problems)),
        (None, Some(judged)) if judged.total.is_complete() => Ok(judged),
        (None, _) => Err(Diagnostic::general(name, "a run did not come to its end").into()),
    };
    runs.into_iter().flatten().map(judged).collect()
}

/// Returns the bound over all paths for runs with these schedules, and the launches beside the longest
/// time of each. If something cannot be analysed, the result states it.
fn all_paths(
    program: &LoadedApplication,
    args: &Wcet,
    bounds: &ProgramLoopBounds,
    (machine, schedules): (&Machine, &[Schedules]),
    longest: &[Cycles],
    session: &Session,
) -> Result<(AllPathsValue, Vec<WcetLaunch>), Diagnostics> {
    let policies: Vec<PolicyKind> = schedules.iter().filter_map(Schedules::policy).cloned().collect();
    let (fuel, monitor) = (args.common.fuel(), &session.monitor);
    let sequence = program.program()?;
    let found = match all_paths_of_program(&program.name, sequence, machine, &policies, bounds, fuel, monitor)
    {
        Ok(Some(found)) => Ok(found),
        Ok(None) => {
            return Err(Diagnostic::general(program.name.clone(), "ended before there was a bound").into());
        }
        Err(problems) => Err(crate::exhaustive::first_of(&problems)),
    };
    let value = match &found {
        Ok(found) => {
            let of_each = schedules.iter().map(|schedules| found.under(schedules));
            match of_each.collect::<Result<Vec<_>, _>>().map(|values| values.first().copied()) {
                Ok(Some(value)) => AllPathsValue::Bound(value),
                Ok(None) => AllPathsValue::Missing("no run".to_owned()),
                Err(why) => AllPathsValue::Missing(why.to_string()),
            }
        }
        Err(why) => AllPathsValue::Missing(why.clone()),
    };
    let application = &program.application;
    let value_of = |found: &ProgramPaths, number: usize| {
        let of_each = schedules.iter().map(|schedules| found.launches[number].under(schedules.clone()));
        of_each.collect::<Result<Vec<_>, _>>().ok()?.first().map(|value| value.cycles().get())
    };
    let launches = application.each().zip(longest).enumerate().map(|(number, (launched, longest))| {
        let statement = application.statement(launched.statement);
        WcetLaunch {
            launch: launched.number,
            line: statement.line,
            entry: statement.entry.to_owned(),
            simulated: longest.get(),
            all_paths: found.as_ref().ok().and_then(|found| value_of(found, number)),
        }
    });
    Ok((value, launches.collect()))
}
