//! `warpbound compare`: compares every bound with simulated and explored times, one line per kernel
//! and machine.

mod over;

use super::prepared::Prepared;
use super::sweep::CommandOptions;
use crate::args::Compare;
use crate::batch::{Blocks, each_kernel};
use crate::failures::Batch;
use crate::files::loader;
use crate::lists::{Lists, Setup};
use crate::output::{Ending, Outcome};
use crate::progress::SEARCH;
use crate::resources;
use crate::session::Session;
use crate::suite::suite_kernels;
use warpbound_bound::{self as bound, Context, Order, Schedules};
use warpbound_core::base::{Cycles, ProgressMonitor};
use warpbound_core::diag::Diagnostics;
use warpbound_core::machine::{Machine, PolicyKind};
use warpbound_core::path::{BlockPaths, BlockSource};
use warpbound_core::program::{KernelCode, TimingTable};
use warpbound_judge::check::order::OrderDependences;
use warpbound_judge::check::{Application, JudgedLaunch, Run, StatementRow, Traced, execute_sequence};
use warpbound_judge::explore::explore;
use warpbound_judge::explore::search::Limits;
use warpbound_judge::load::Loaded;
use warpbound_report::compare::{CompareResult, CompareStep, Explored};
use warpbound_report::output::Output;

/// The policies that are compared by default.
const POLICIES: [PolicyKind; 2] = [PolicyKind::Gto, PolicyKind::Lrr];

/// Runs the command.
pub fn run(args: &Compare, session: &Session) -> Outcome {
    if let Some(setting) = &args.over {
        return over::run(args, setting, session);
    }
    let bounds = bound::all();
    let lists = Lists::new(&args.common)?;
    let names = if args.kernels.is_empty() { suite_kernels()? } else { args.kernels.clone() };
    // located only once, because stdin cannot be read again
    let locations: Vec<_> = names.iter().map(|name| loader().find_kernel(name)).collect();
    let prepare = |index: usize, monitor: &ProgressMonitor| {
        let location = locations[index].clone()?;
        let what = loader().load_at(&names[index], location, &args.ptx.options(args.common.seed), monitor)?;
        Prepared::new(what, &args.common, &lists, &POLICIES)
    };
    let command_options = CommandOptions {
        command: "compare",
        kernels: &args.kernels,
        common: &args.common,
        launch: &args.ptx,
        bounds: &[],
    };
    let own =
        || (0..names.len()).filter_map(|index| Some(prepare(index, &session.monitor).ok()?.own())).collect();
    let recording = command_options.recording(args.several.out.as_deref(), &lists, (session, false), own)?;
    let threads = args.several.threads(names.len());
    let work = |index: usize, monitor: &ProgressMonitor, begin: Blocks| {
        let options = args.several.run_options(&args.common, names.len(), monitor).judged_by(&bounds, &[]);
        match prepare(index, monitor) {
            Ok(prepared) => {
                begin(prepared.blocks());
                let runs = prepared.run(&options);
                let records = recording.as_ref().filter(|_| !monitor.is_stopped());
                let records = records.map(|recording| recording.of_kernel(index, &runs));
                (Ok((prepared, runs)), records)
            }
            Err(problems) => {
                let records = recording.as_ref().map(|recording| recording.of_failed(index, &problems));
                (Err(problems), records)
            }
        }
    };
    let mut ending = Ending::default();
    let mut rows = Vec::new();
    let mut batch = Batch::new(&names);
    each_kernel(&mut batch, threads, session, work, |batch, index, (done, records)| {
        if let Some(recording) = &recording {
            recording.append(records, &mut ending);
        }
        let (prepared, runs) = match done {
            Ok(done) => done,
            Err(problems) => {
                if session.monitor.is_stopped() {
                    batch.cut_short();
                }
                return batch.failures.add(batch.name(index), &problems);
            }
        };
        add_rows(&mut rows, (&prepared, runs), (batch, index), args, session, &mut ending);
    });
    batch.only_failure(!rows.is_empty() || recording.is_some() || ending.violated)?;
    let output = Output::of_batch("compare", Some(args.common.seed), rows, batch.report(session));
    ending.report(session, args.common.format, &output);
    if let Some(recording) = recording {
        recording.conclude(&mut ending);
    }
    ending.failures = batch.failures;
    Ok(ending)
}

/// Adds the lines of a kernel, one for each machine, and notes in the batch where they are missing.
fn add_rows(
    rows: &mut Vec<CompareResult>,
    (prepared, runs): (&Prepared, Vec<Vec<Run>>),
    (batch, index): (&mut Batch, usize),
    args: &Compare,
    session: &Session,
    ending: &mut Ending,
) {
    let label = batch.label(batch.name(index));
    for (setups, runs) in prepared.setups.iter().zip(runs) {
        let violated = |run: &Run| run.judged.as_ref().is_some_and(|of| of.total.verdict().is_violated());
        ending.violated |= runs.iter().any(violated);
        match row(&prepared.what, setups, runs, &label, args, session) {
            Ok(Some(row)) => {
                rows.push(row);
                // the exploration may be incomplete
                if session.monitor.is_stopped() {
                    batch.cut_short();
                }
            }
            Ok(None) => batch.cut_short(),
            Err(problems) => {
                batch.failures.add(batch.name(index), &prepared.what.with_excerpts(problems));
            }
        }
    }
}

/// Returns the line of a kernel on a machine, or `None` if the command was stopped before the
/// simulation completed.
fn row(
    what: &Loaded,
    setups: &[Setup],
    runs: Vec<Run>,
    label: &str,
    args: &Compare,
    session: &Session,
) -> Result<Option<CompareResult>, Diagnostics> {
    let mut all: Vec<JudgedLaunch> = Vec::new();
    let mut statements: Vec<Vec<StatementRow>> = Vec::new();
    for run in runs {
        if let Some(problems) = run.problems {
            return Err(problems);
        }
        if let Some(judged) = run.judged {
            statements.push(judged.statements());
            all.push(judged.total);
        }
    }
    let Some(setup) = setups.first().filter(|_| all.iter().all(JudgedLaunch::is_complete)) else {
        return Ok(None);
    };
    // blocks that are resident together are not explored
    let resident = all.iter().map(|run| run.resident_blocks).max().unwrap_or(1);
    let schedules: Vec<Schedules> =
        setups.iter().zip(&all).map(|(setup, run)| run.schedules(&setup.policy.kind())).collect();
    let premises = Explorable { schedules, resident, machine: &setup.machine };
    let (explored, each) = if resident > 1 {
        // nothing is explored, so the kernel is not executed again
        (Explored::NotHandled("blocks are resident together".to_owned()), Vec::new())
    } else {
        session.progress.begin(format!("exploring {label}"), None, SEARCH);
        explored_worst(what, &premises, setup, args, session)?
    };
    let steps = match what {
        Loaded::Kernel(_) => Vec::new(),
        Loaded::Application(found) => CompareStep::all(&found.application, &all, &statements, &each),
    };
    let result = CompareResult::new(what.name().to_owned(), &setup.machine, &all, explored);
    Ok(Some(CompareResult { steps, ..result }))
}

/// Returns the worst case over all schedules: the sum over all blocks and launches, and for an
/// application also by statement.
fn explored_worst(
    what: &Loaded,
    premises: &Explorable,
    setup: &Setup,
    args: &Compare,
    session: &Session,
) -> Result<(Explored, Vec<Explored>), Diagnostics> {
    let Setup { machine, common, .. } = setup;
    match what {
        Loaded::Kernel(kernel) => {
            let mut source = kernel.workload.source(common.functional_options(machine), &session.monitor)?;
            let program = kernel.workload.program();
            let explored = explored(program, premises, args, &mut source, session)?;
            Ok((premises.of(explored, &source.seen(), program), Vec::new()))
        }
        Loaded::Application(program) => {
            let none = Explored::Exactly(Cycles::ZERO);
            let mut each: Vec<Explored> = Vec::new();
            let mut add = |statement: usize, worst: Explored| {
                each.resize(each.len().max(statement + 1), none.clone());
                each[statement] = each[statement].clone().and(worst);
            };
            let options = common.functional_options(machine);
            match &program.application {
                Application::Program(sequence) => {
                    execute_sequence(sequence, None, options, &session.monitor, &mut |step, run| {
                        let program = &sequence.kernel(step).program;
                        let of_launch = explored(program, premises, args, run, session)?;
                        add(step.statement, premises.of(of_launch, &OrderDependences::of(run), program));
                        Ok(())
                    })?;
                }
                Application::Traces(traces) => {
                    for (index, Traced { workload, .. }) in traces.iter().enumerate() {
                        let mut source = workload.source(options, &session.monitor)?;
                        let program = workload.program();
                        let of_launch = explored(program, premises, args, &mut source, session)?;
                        add(index, premises.of(of_launch, &source.seen(), program));
                    }
                }
            }
            Ok((each.iter().cloned().fold(none, Explored::and), each))
        }
    }
}

/// The premises of the exploration, except for the paths.
struct Explorable<'a> {
    /// The schedules of the compared runs.
    schedules: Vec<Schedules>,
    resident: u32,
    machine: &'a Machine,
}

impl Explorable<'_> {
    /// Returns the explored worst case if it holds for some of the runs, and otherwise the reason
    /// why it does not.
    fn of(&self, explored: Explored, seen: &OrderDependences, program: &KernelCode) -> Explored {
        self.of_order(explored, &seen.order(program), program)
    }

    fn of_order(&self, explored: Explored, order: &Order, program: &KernelCode) -> Explored {
        let context = |schedules: &Schedules| Context {
            schedules: schedules.clone(),
            resident_blocks: self.resident,
            // exploration rejects blocks with partial barriers
            partial_barriers: false,
            beyond: program.beyond_the_paper_model_on(self.machine),
            order: order.clone(),
        };
        let each = || self.schedules.iter().map(|schedules| context(schedules).explorable());
        match each().find_map(Result::err) {
            Some(why) if each().all(|of| of.is_err()) => Explored::NotHandled(why.to_string()),
            _ => explored,
        }
    }
}

/// Explores the blocks of a launch, which run one after the other. All blocks are read from
/// `source` in any case.
fn explored(
    program: &KernelCode,
    premises: &Explorable,
    args: &Compare,
    source: &mut impl BlockSource<Error = Diagnostics>,
    session: &Session,
) -> Result<Explored, Diagnostics> {
    let table = TimingTable::new(program, premises.machine)?;
    let threads = args.several.jobs.unwrap_or_else(resources::threads).max(1);
    let limits = Limits { max_states: args.max_states, max_bytes: resources::of_search(), threads };
    let mut paths = BlockPaths::default();
    let no_blocks = Explored::Exactly(Cycles::ZERO);
    let mut worst = premises.of_order(no_blocks, &Order::AtTheEnd, program);
    while source.next_block(&mut paths)? {
        if matches!(worst, Explored::NotHandled(_)) {
            continue;
        }
        worst = match explore(&table, premises.machine, &paths, Cycles::ZERO, limits, &session.monitor) {
            Ok(found) if found.is_complete() => worst.and(Explored::Exactly(found.worst.at_least)),
            Ok(found) => worst.and(Explored::AtLeast(found.worst.at_least)),
            Err(why) => Explored::NotHandled(why.to_string()),
        };
    }
    Ok(match worst {
        // blocks that were not explored only add to the worst case
        Explored::Exactly(sum) if session.monitor.is_stopped() => Explored::AtLeast(sum),
        other => other,
    })
}
