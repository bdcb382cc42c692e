//! A run of one kernel: simulates it and shows where its cycles went.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::explain;
use super::report::output;
use crate::args::Run;
use crate::commands::draw;
use crate::dumps::{Dump, Dumped, Names, OpenDump};
use crate::files::Outputs;
use crate::load;
use crate::output::{Ending, Outcome};
use crate::session::Session;
use crate::trace_files::{self, Listener, TraceFile, TraceKind, Writer};
use warpbound_bound as bound;
use warpbound_core::base::Pc;
use warpbound_core::diag::{Diagnostic, Diagnostics};
use warpbound_core::machine::Machine;
use warpbound_core::path::{BlockPaths, BlockSource, Footprint};
use warpbound_core::program::launch;
use warpbound_exec::Options;
use warpbound_hybrid::Instrumented;
use warpbound_judge::check::{Failed, Plan, Unsettled, WorkloadKind, WorkloadSource, ahead, observe_source};
use warpbound_judge::load::LoadedKernel;
use warpbound_report::banks;
use warpbound_report::check::CheckResult;
use warpbound_report::divergence::DivergenceReport;
use warpbound_report::run::{self as report, Details, RunResult, Seconds};
use warpbound_report::timeline::{About, Recording};
use warpbound_trace::trace::{BankProfile, FirstSm, Listing, Observer, StallProfile, UnitUse};
use warpbound_trace::why::{Explainer, Unexplained};

/// The most branches that text shows without -v.
const MAX_BRANCHES: usize = 10;

/// Runs the command.
pub fn run(args: &Run, kernel: &LoadedKernel, verbose: bool, session: &Session) -> Outcome {
    let (machine, _) = load::machine(&args.on.common, kernel)?;
    let policy = load::policy(&args.on.common, kernel, &machine)?;
    let kinds = trace_files::kinds(&args.trace)?;
    let ipoints = trace_files::instrumented(&kinds, kernel)?;
    let dumps = names(kernel).dumps(&args.dump)?;
    let inputs = load::inputs(&args.on.common, kernel, &policy);
    let mut outputs = Outputs::new(&inputs, args.writing.force, &session.parts);
    let (mut traces, dumps) = create((&args.trace, &kinds), dumps, &mut outputs)?;
    let bounds = bound::all();
    let policies = std::slice::from_ref(&policy);
    let options = args.on.common.run_options(&session.watch).judged_by(&bounds, &[]);
    let plan = Plan { workload: &kernel.workload, machine: &machine, policies, options };
    session.progress.begin(&kernel.workload.name, Some(kernel.workload.blocks().into()), "blocks");
    let table = load::timing(kernel, &machine)?;
    let mut profile = StallProfile::new(&table);
    let mut units = UnitUse::new(machine.units().len());
    let began = Instant::now();
    let options = Options { divergence: !args.timings, ..plan.exec_options()? };
    let source = kernel.workload.source(options, &session.watch)?;
    let mut source = TimedSource { source, spent: began.elapsed() };
    let mut bank_profile = BankProfile::new(&table);
    // with --timings only the speed counts, so no profile is made
    let mut more: Vec<&mut dyn Observer> =
        if args.timings { Vec::new() } else { vec![&mut profile, &mut units] };
    if machine.shared_memory().is_some() && !args.timings {
        more.push(&mut bank_profile);
    }
    let records = kinds.iter().any(|kind| kind.is_recorded());
    let mut recording = records.then(|| FirstSm::new(Recording::new(&machine)));
    if let Some(recording) = &mut recording {
        more.push(recording);
    }
    // the HTML page shows the path, too
    let keep = if verbose || records { explain::LINKS } else { 0 };
    let mut explainer = args.explain.then(|| Explainer::new(&table, &machine, keep));
    more.extend(explainer.as_mut().map(|explainer| explainer as &mut dyn Observer));
    let mut waited = source.spent;
    let listing = trace_files::listing(&traces, kernel);
    let (checked, mut written) =
        traced(&mut traces, (&listing, ipoints.as_ref()), &machine, more, |mut observer| {
            ahead(&mut source, plan.runs_ahead(), |blocks| {
                let checked = observe_source(&plan, &policy, blocks, &mut observer);
                waited += blocks.waited();
                checked
            })
        });
    let checked = checked.map_err(|failed| failed.problems.with_excerpts(&kernel.code))?;
    let checked = checked.settle(&source.source.seen(), kernel.workload.program());
    let all = began.elapsed();
    let seconds = Seconds {
        exec_seconds: Some(source.spent.as_secs_f64()),
        sim_seconds: Some(all.saturating_sub(waited).as_secs_f64()),
        seconds: all.as_secs_f64(),
    };
    let place = |pc: Pc| (kernel.workload.program().instr(pc).line, kernel.text_of(pc));
    let details = || Details {
        units: report::units(&machine, &units, checked.makespan),
        lost_cycles: report::lost(&profile.lost(), &checked, &place),
        bank_conflicts: banks::lines(&bank_profile, &place),
        divergence: source.source.divergence().and_then(|d| DivergenceReport::new(d, &place)),
        most_branches: if verbose { usize::MAX } else { MAX_BRANCHES },
    };
    let found = explainer.map(|explainer| match checked.is_complete() {
        true => explainer.finish(checked.makespan),
        false => Err(Unexplained::Unfinished),
    });
    let explained = |with_path: bool| {
        let found = found.as_ref()?.as_ref().ok()?;
        let with = (args.on.common.seed, with_path);
        Some(explain::report(kernel, &machine, &checked, &units, found, with))
    };
    let result = RunResult {
        explanation: explained(verbose),
        details: (!args.timings).then(details),
        seconds: args.timings.then_some(seconds),
        ..RunResult::new(CheckResult::new(&kernel.workload.name, &machine, &checked), &checked)
    };
    let mut ending = Ending::default();
    ending.report(session, args.on.common.format, &output(args, result, &checked, session));
    if args.gantt && args.on.common.format.is_for_people() {
        match draw::gantt(kernel, &machine, &policy, &args.on.common, &session.watch) {
            Ok(drawn) => ending.print(session, &format!("\n{drawn}")),
            Err(problems) => ending.late.append(problems),
        }
    }
    if let Some(recording) = recording.map(FirstSm::into_inner).filter(|_| checked.is_complete()) {
        let alone = match checked.launch_blocks {
            1 => draw::alone(kernel, &machine, &args.on.common, &session.watch)?,
            _ => Vec::new(),
        };
        let explained = explained(true);
        let about = About {
            explained: explained.as_ref(),
            kernel: &kernel.workload.name,
            machine: machine.name(),
            checked: &checked,
            code: &kernel.code,
            listing: &listing,
            alone: &alone,
        };
        for (trace, written) in traces.iter_mut().zip(&mut written) {
            if written.is_ok() {
                *written = trace.fill(&recording, &about);
            }
        }
    }
    if let Some(Err(why)) = found {
        ending.late.push(explain::problem("--explain", why));
    }
    if checked.is_complete() {
        place_files(traces, written, dumps, &source.source, &mut ending);
    } else if !(traces.is_empty() && dumps.is_empty()) {
        let problem =
            Diagnostic::general("--trace, --dump", "not written, since the run did not come to its end");
        ending.late.push(problem);
    }
    Ok(ending)
}

/// Creates the requested files.
fn create<'a>(
    (paths, kinds): (&'a [PathBuf], &[TraceKind]),
    dumps: Vec<Dump>,
    outputs: &mut Outputs,
) -> Result<(Vec<TraceFile<'a>>, Vec<OpenDump>), Diagnostics> {
    let mut problems = Diagnostics::new();
    let mut traces = Vec::new();
    for (path, &kind) in paths.iter().zip(kinds) {
        match TraceFile::create(path, kind, outputs) {
            Ok(trace) => traces.push(trace),
            Err(problem) => problems.push(problem),
        }
    }
    let mut parts = Vec::new();
    for dump in dumps {
        match OpenDump::create(dump, outputs) {
            Ok(part) => parts.push(part),
            Err(problem) => problems.push(problem),
        }
    }
    problems.into_result((traces, parts))
}

/// Gives the files their final names after the results have been printed.
fn place_files(
    traces: Vec<TraceFile>,
    written: Vec<std::io::Result<()>>,
    dumps: Vec<OpenDump>,
    source: &WorkloadSource,
    ending: &mut Ending,
) {
    for (trace, written) in traces.into_iter().zip(written) {
        if let Err(problem) = trace.finish(written) {
            ending.late.push(problem);
        }
    }
    for dump in dumps {
        let bytes = match &dump.what {
            Dumped::Buffer(index) => source.buffer(*index),
            Dumped::Variable { name, .. } => source.variable(name),
        };
        if let Err(problem) = dump.place(bytes.unwrap_or_default()) {
            ending.late.push(problem);
        }
    }
}

/// A functional run that measures its time.
struct TimedSource<'a> {
    source: WorkloadSource<'a>,
    spent: Duration,
}

impl BlockSource for TimedSource<'_> {
    type Error = Diagnostics;

    fn next_block(&mut self, paths: &mut BlockPaths) -> Result<bool, Diagnostics> {
        let began = Instant::now();
        let result = self.source.next_block(paths);
        self.spent += began.elapsed();
        result
    }

    fn footprint(&self) -> Footprint {
        self.source.footprint()
    }
}

/// Returns the named parts of device memory.
fn names(kernel: &LoadedKernel) -> Names {
    let module = match &kernel.workload.kind {
        WorkloadKind::Step { sequence, step } => sequence.kernel(step).module,
        WorkloadKind::Micro(_) | WorkloadKind::Launch { .. } | WorkloadKind::Trace(_) => 0,
    };
    let variables = launch::variables(kernel.workload.program());
    Names {
        buffers: kernel.workload.buffers(),
        variables: variables.into_iter().map(|variable| (variable.name, module)).collect(),
    }
}

/// Simulates with the requested traces and with the observers in `more`; returns whether each trace
/// could be written.
fn traced(
    files: &mut [TraceFile],
    (listing, ipoints): (&Listing, Option<&Instrumented>),
    machine: &Machine,
    more: Vec<&mut dyn Observer>,
    simulate: impl FnOnce(&mut dyn Observer) -> Result<Unsettled, Failed<Unsettled>>,
) -> (Result<Unsettled, Failed<Unsettled>>, Vec<std::io::Result<()>>) {
    let mut writers: Vec<Writer> =
        files.iter_mut().map(|file| file.writer(machine, listing, ipoints)).collect();
    let checked = {
        let (mut own, mut all): (Vec<&mut dyn Observer>, Vec<&mut dyn Observer>) = Default::default();
        for listener in writers.iter_mut().filter_map(Writer::observer) {
            match listener {
                Listener::FirstSm(observer) => own.push(observer),
                Listener::AllSms(observer) => all.push(observer),
            }
        }
        simulate(&mut (FirstSm::new(own), (all, more)))
    };
    (checked, writers.into_iter().map(Writer::finish).collect())
}
