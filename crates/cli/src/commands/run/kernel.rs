//! A run of one kernel: simulates it and shows where its cycles went.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::explain;
use super::report::output;
use crate::args::Run;
use crate::commands::draw;
use crate::dumps::{self, Dump, Dumped, Names, OpenDump};
use crate::files::Outputs;
use crate::load;
use crate::output::{Ending, Outcome};
use crate::session::Session;
use crate::trace_files::{self, Listener, TraceFile, TraceKind, Writer};
use warpbound_bound as bound;
use warpbound_core::base::Pc;
use warpbound_core::diag::{Diagnostic, Diagnostics};
use warpbound_core::machine::Machine;
use warpbound_core::program::{TimingTable, launch};
use warpbound_hybrid::Instrumented;
use warpbound_judge::check::{Clock, JudgedLaunch, Plan, WorkloadKind, WorkloadSource, observe_and_keep};
use warpbound_judge::load::{LoadedKernel, Sources};
use warpbound_report::banks;
use warpbound_report::check::CheckResult;
use warpbound_report::divergence::DivergenceReport;
use warpbound_report::explain::Explained;
use warpbound_report::run::{self as report, Details, RunResult, Seconds};
use warpbound_report::source_line::SourceLine;
use warpbound_report::timeline::{About, Recording};
use warpbound_sim::PolicySetup;
use warpbound_trace::trace::{BankProfile, FirstSm, Listing, Observer, StallProfile, UnitUse};
use warpbound_trace::why::{Explainer, Explanation, Unexplained};

/// The most branches that text shows without -v.
const MAX_BRANCHES: usize = 10;

/// Runs the command.
pub fn run(args: &Run, kernel: &LoadedKernel, verbose: bool, session: &Session) -> Outcome {
    let (machine, _) = load::machine(&args.on.common, kernel)?;
    let policy = load::policy(&args.on.common, kernel, &machine)?;
    let paths = args.traces();
    let kinds = trace_files::kinds(&paths)?;
    trace_files::warn_of_schedules(&kinds, &machine);
    let ipoints = trace_files::instrumented(&kinds, kernel)?;
    let dumps = names(kernel).dumps(&args.dump)?;
    // with --timings only the speed counts, and no table shows a line
    let sources = if args.timings { trace_files::sources(&kinds, kernel) } else { kernel.sources() };
    let mut inputs = load::inputs(&args.on.common, kernel, &policy);
    inputs.extend(sources.paths().map(PathBuf::from));
    let mut outputs = Outputs::new(&inputs, args.writing.force, &session.parts);
    let (mut traces, dumps) = create((&paths, &kinds), dumps, &mut outputs)?;
    let bounds = bound::all();
    let policies = std::slice::from_ref(&policy);
    let clock = Clock::default();
    let options = args
        .on
        .common
        .run_options(&session.monitor)
        .judged_by(&bounds, &[])
        .timed_by(args.timings.then_some(&clock));
    let plan = Plan { workload: &kernel.workload, machine: &machine, policies, options };
    session.progress.begin(&kernel.workload.name, Some(kernel.workload.blocks().into()), "blocks");
    let table = load::timing(kernel, &machine)?;
    let mut profiles = Profiles::new(&table, &machine);
    // with --timings only the speed counts, so no profile is made
    let mut more = if args.timings { Vec::new() } else { profiles.observers(&machine) };
    let records = kinds.iter().any(|kind| kind.is_recorded());
    let mut recording = records.then(|| Recording::new(&machine));
    more.extend(recording.as_mut().map(|recording| recording as &mut dyn Observer));
    // the HTML page shows the path, too
    let keep = if verbose || records { explain::LINKS } else { 0 };
    let mut explainer = args.explain.then(|| Explainer::new(&table, &machine, keep));
    more.extend(explainer.as_mut().map(|explainer| explainer as &mut dyn Observer));
    let listing = trace_files::listing(&traces, kernel);
    let began = Instant::now();
    let (ran, written) = traced(&mut traces, (&listing, ipoints.as_ref()), &machine, more, |observer| {
        observe_and_keep(&plan, !args.timings, observer)
    });
    let all = began.elapsed();
    let (checked, source) = ran.map_err(|failed| kernel.with_excerpts(failed.problems))?;
    let found = explainer.map(|explainer| match checked.is_complete() {
        true => explainer.finish(checked.makespan),
        false => Err(Unexplained::Unfinished),
    });
    let ran = Ran {
        args,
        kernel,
        sources: &sources,
        machine: &machine,
        checked: &checked,
        profiles: &profiles,
        found,
    };
    let result = RunResult {
        explanation: ran.explained(verbose),
        details: (!args.timings).then(|| ran.details(&source, verbose)),
        seconds: args.timings.then(|| seconds(&clock, all)),
        ..RunResult::new(CheckResult::new(&kernel.workload.name, &machine, &checked), &checked)
    };
    let mut ending = Ending::default();
    ending.report(session, args.on.common.format, &output(args, result, &checked, session));
    if args.gantt && args.on.common.format.is_for_people() {
        ran.print_schedule(&policy, session, &mut ending);
    }
    let mut files = Files { traces, written, dumps };
    if let Some(recording) = recording.filter(|_| checked.is_complete()) {
        ran.fill(&mut files, &recording, &listing, session)?;
    }
    if let Some(Err(why)) = ran.found {
        ending.late.push(explain::problem("--explain", why));
    }
    files.place(checked.is_complete(), &source, &mut ending);
    Ok(ending)
}

/// The profiles of a run.
struct Profiles<'a> {
    stalls: StallProfile<'a>,
    units: UnitUse,
    banks: BankProfile<'a>,
}

impl<'a> Profiles<'a> {
    /// Returns empty profiles.
    fn new(table: &'a TimingTable, machine: &Machine) -> Self {
        Self {
            stalls: StallProfile::new(table),
            units: UnitUse::new(machine.units().len()),
            banks: BankProfile::new(table),
        }
    }

    /// Returns the observers that fill the profiles; shared memory has one only on a machine that
    /// describes it.
    fn observers(&mut self, machine: &Machine) -> Vec<&mut dyn Observer> {
        let mut observers: Vec<&mut dyn Observer> = vec![&mut self.stalls, &mut self.units];
        if machine.shared_memory().is_some() {
            observers.push(&mut self.banks);
        }
        observers
    }
}

/// A kernel with the results of its run.
struct Ran<'a> {
    args: &'a Run,
    kernel: &'a LoadedKernel,
    sources: &'a Sources,
    machine: &'a Machine,
    checked: &'a JudgedLaunch,
    profiles: &'a Profiles<'a>,
    /// The critical path, or why there is none, if it was requested.
    found: Option<Result<Explanation, Unexplained>>,
}

impl Ran<'_> {
    /// Returns the report of the profiles.
    fn details(&self, source: &WorkloadSource, verbose: bool) -> Details {
        let place = |pc: Pc| SourceLine::of(self.kernel, self.sources, pc);
        Details {
            units: report::units(self.machine, &self.profiles.units, self.checked.makespan),
            lost_cycles: report::lost(&self.profiles.stalls.lost(), self.checked, &place),
            bank_conflicts: banks::lines(&self.profiles.banks, &place),
            divergence: source.divergence().and_then(|d| DivergenceReport::new(d, &place)),
            most_branches: if verbose { usize::MAX } else { MAX_BRANCHES },
        }
    }

    /// Returns the report of the critical path, if it was requested and there is one.
    fn explained(&self, with_path: bool) -> Option<Explained> {
        let found = self.found.as_ref()?.as_ref().ok()?;
        let with = (self.args.on.common.seed, with_path);
        Some(explain::report(
            (self.kernel, self.sources),
            self.machine,
            self.checked,
            &self.profiles.units,
            found,
            with,
        ))
    }

    /// Prints the schedule of the first block.
    fn print_schedule(&self, policy: &PolicySetup, session: &Session, ending: &mut Ending) {
        match draw::gantt(self.kernel, self.machine, policy, &self.args.on.common, &session.monitor) {
            Ok(drawn) => ending.print(session, &format!("\n{drawn}")),
            Err(problems) => ending.late.append(problems),
        }
    }

    /// Writes the traces that are made from the recording of the whole run.
    fn fill(
        &self,
        files: &mut Files,
        recording: &Recording,
        listing: &Listing,
        session: &Session,
    ) -> Result<(), Diagnostics> {
        let alone = match self.checked.launch_blocks {
            1 => draw::alone(self.kernel, self.machine, &self.args.on.common, &session.monitor)?,
            _ => Vec::new(),
        };
        let explained = self.explained(true);
        let about = About {
            explained: explained.as_ref(),
            kernel: &self.kernel.workload.name,
            machine: self.machine.name(),
            checked: self.checked,
            code: &self.kernel.code,
            listing,
            sources: self.sources,
            alone: &alone,
        };
        for (trace, written) in files.traces.iter_mut().zip(&mut files.written) {
            if written.is_ok() {
                *written = trace.fill(recording, &about);
            }
        }
        Ok(())
    }
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

/// The requested files of a run.
struct Files<'a> {
    traces: Vec<TraceFile<'a>>,
    /// Whether each trace could be written.
    written: Vec<std::io::Result<()>>,
    dumps: Vec<OpenDump>,
}

impl Files<'_> {
    /// Gives the files of a complete run their final names after the results have been printed.
    fn place(self, complete: bool, source: &WorkloadSource, ending: &mut Ending) {
        let Self { traces, written, dumps } = self;
        if !complete {
            if !(traces.is_empty() && dumps.is_empty()) {
                let problem = Diagnostic::general(
                    "--trace, --dump",
                    "not written, since the run did not come to its end",
                );
                ending.late.push(problem);
            }
            return;
        }
        for (trace, written) in traces.into_iter().zip(written) {
            if let Err(problem) = trace.finish(written) {
                ending.late.push(problem);
            }
        }
        let bytes = |what: &Dumped| match what {
            Dumped::Buffer(index) => source.buffer(*index).unwrap_or_default(),
            Dumped::Variable { name, .. } => source.variable(name).unwrap_or_default(),
        };
        dumps::place_all(dumps, bytes, ending);
    }
}

/// Returns the times of a run that took `all`.
fn seconds(clock: &Clock, all: Duration) -> Seconds {
    Seconds {
        exec_seconds: Some(clock.executed().as_secs_f64()),
        analysis_seconds: Some(clock.analysed().as_secs_f64()),
        sim_seconds: Some(all.saturating_sub(clock.waited()).as_secs_f64()),
        seconds: all.as_secs_f64(),
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
fn traced<T>(
    files: &mut [TraceFile],
    (listing, ipoints): (&Listing, Option<&Instrumented>),
    machine: &Machine,
    more: Vec<&mut dyn Observer>,
    simulate: impl FnOnce(&mut dyn Observer) -> T,
) -> (T, Vec<std::io::Result<()>>) {
    let mut writers: Vec<Writer> =
        files.iter_mut().map(|file| file.writer(machine, listing, ipoints)).collect();
    let ran = {
        let (mut own, mut all): (Vec<&mut dyn Observer>, Vec<&mut dyn Observer>) = Default::default();
        for listener in writers.iter_mut().filter_map(Writer::observer) {
            match listener {
                Listener::FirstSm(observer) => own.push(observer),
                Listener::AllSms(observer) => all.push(observer),
            }
        }
        simulate(&mut (FirstSm::new(own), (all, more)))
    };
    (ran, writers.into_iter().map(Writer::finish).collect())
}
