//! `warpbound run`: simulate one kernel and say where its cycles went.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use crate::base::Pc;
use crate::bound;
use crate::check::{Checked, Plan, WorkloadKind, WorkloadSource, ahead, observe_source};
use crate::cli::args::Run;
use crate::cli::dumps::{Dumped, Names};
use crate::cli::load::{self, Loaded, LoadedKernel};
use crate::cli::output::{self, Failure, Format};
use crate::cli::trace_files::{self, TraceFile, Writer};
use crate::diag::Diagnostics;
use crate::exec::Options;
use crate::machine::Machine;
use crate::path::{BlockPaths, BlockSource, Footprint};
use crate::program::launch;
use crate::report::banks::{self, BankLine};
use crate::report::{divergence, json, text};
use crate::sim::PolicySetup;
use crate::trace::{BankProfile, FirstSm, Observer, StallProfile, UnitUse};

/// Causes of lost cycles shown as text.
const MAX_LOST: usize = 12;

/// Branches shown as text without -v.
const MAX_BRANCHES: usize = 10;

/// Runs the command.
pub fn run(args: &Run, verbose: bool) -> Result<ExitCode, Failure> {
    let kernel = match load::any(&args.on.kernel, &args.on.ptx, args.on.common.seed)? {
        Loaded::Kernel(kernel) => *kernel,
        Loaded::Program(program) => return super::run_program::run(args, &program),
    };
    let (machine, _) = load::machine(&args.on.common, &kernel)?;
    let policy = load::policy(&args.on.common, &kernel, &machine)?;
    let dumps = names(&kernel).dumps(&args.dump)?;
    trace_files::check_endings(&args.trace)?;
    let bounds = bound::all();
    let plan = Plan {
        workload: &kernel.workload,
        machine: &machine,
        policies: std::slice::from_ref(&policy),
        bounds: &bounds,
        gating: &[],
        max_instructions_per_block: args.on.common.max_instructions,
        threads: args.on.common.threads(),
        ahead: args.on.common.runs_ahead(),
        self_check: false,
        race_memory: args.on.common.race_memory(),
    };
    let table = load::timing(&kernel, &machine)?;
    let mut profile = StallProfile::new(&table);
    let mut units = UnitUse::new(machine.units().len());
    let began = Instant::now();
    let options = Options {
        // bare speed need not pay for it
        divergence: !args.timings,
        ..plan.options()?
    };
    let source = kernel.workload.source(options)?;
    let mut source = TimedSource { source, spent: began.elapsed() };
    // text shows where cycles went; JSON and bare speed need not pay for it
    let detailed = args.on.common.format == Format::Text && !args.timings;
    let mut bank_profile = BankProfile::new(&table);
    let mut more: Vec<&mut dyn Observer> = if detailed { vec![&mut profile, &mut units] } else { Vec::new() };
    if machine.shared_memory().is_some() && !args.timings {
        more.push(&mut bank_profile);
    }
    let mut waited = source.spent;
    let mut checked = traced(args, &kernel, &machine, more, |mut observer| {
        ahead(&mut source, plan.runs_ahead(), |blocks| {
            let checked = observe_source(&plan, &policy, blocks, &mut observer);
            waited += blocks.waited();
            checked.map_err(|problems| problems.with_excerpts(&kernel.code))
        })
    })?;
    checked.ordered_by_time(source.source.time_dependences(), kernel.workload.program());
    let all = began.elapsed();
    let seconds = Seconds {
        exec: source.spent.as_secs_f64(),
        sim: all.saturating_sub(waited).as_secs_f64(),
        all: all.as_secs_f64(),
    };
    for dump in dumps {
        let bytes = match &dump.what {
            Dumped::Buffer(index) => source.source.buffer(*index),
            Dumped::Variable { name, .. } => source.source.variable(name),
        };
        output::write_file(&dump.path, bytes.unwrap_or_default())?;
    }
    let place = |pc: Pc| (kernel.workload.program().instr(pc).line, kernel.text_of(pc));
    let banks = banks::lines(&bank_profile, &place);
    let line = |pc: Pc| kernel.workload.program().instr(pc).line;
    let divergence = source.source.divergence().and_then(|d| divergence::Report::new(d, &line));
    let most = if verbose { usize::MAX } else { MAX_BRANCHES };
    let branches = divergence.as_ref().map_or_else(String::new, |d| d.table(most, &|pc| kernel.text_of(pc)));
    match args.on.common.format {
        Format::Json => print_json(args, &kernel, &machine, &checked, seconds, (banks, divergence))?,
        Format::Text => {
            let parts = Parts { profile: &profile, units: &units, banks: &banks, branches: &branches };
            print_text(args, &kernel, &machine, &policy, &checked, seconds, &parts)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// What took how long. The functional run may run ahead of the simulation, so `exec` and `sim`
/// may add up to more than `all`.
#[derive(Clone, Copy, Debug)]
struct Seconds {
    exec: f64,
    sim: f64,
    all: f64,
}

/// A functional run that knows how long it took.
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

/// What has a name in device memory.
fn names(kernel: &LoadedKernel) -> Names {
    let module = match &kernel.workload.kind {
        WorkloadKind::Step { sequence, step } => sequence.kernel(step).module,
        WorkloadKind::Micro(_) | WorkloadKind::Launch { .. } => 0,
    };
    let variables = launch::variables(kernel.workload.program());
    Names {
        buffers: kernel.workload.buffers(),
        variables: variables.into_iter().map(|variable| (variable.name, module)).collect(),
    }
}

/// Simulates with every trace that was asked for and `more` observers; a run that fails leaves no
/// file.
fn traced(
    args: &Run,
    kernel: &LoadedKernel,
    machine: &Machine,
    more: Vec<&mut dyn Observer>,
    simulate: impl FnOnce(&mut dyn Observer) -> Result<Checked, Diagnostics>,
) -> Result<Checked, Diagnostics> {
    let name = |pc: Pc| kernel.text_of(pc);
    let mut files = args.trace.iter().map(|path| TraceFile::create(path)).collect::<Result<Vec<_>, _>>()?;
    let mut writers: Vec<Writer> = files.iter_mut().map(|file| file.writer(machine, &name)).collect();
    let checked = {
        let own: Vec<&mut dyn Observer> = writers.iter_mut().map(Writer::observer).collect();
        simulate(&mut (FirstSm::new(own), more))
    };
    let written: Vec<std::io::Result<()>> = writers.into_iter().map(Writer::finish).collect();
    let mut problems = Diagnostics::new();
    for (file, written) in files.into_iter().zip(written) {
        if let Err(problem) = file.finish(written, checked.is_ok()) {
            problems.append(problem);
        }
    }
    let checked = checked?;
    problems.into_result(checked)
}

#[derive(serde::Serialize)]
struct Timed {
    #[serde(flatten)]
    check: json::Check,
    #[serde(flatten)]
    run: json::Run,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    bank_conflicts: Vec<BankLine>,
    #[serde(skip_serializing_if = "Option::is_none")]
    divergence: Option<divergence::Report>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exec_seconds: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sim_seconds: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seconds: Option<f64>,
}

fn print_json(
    args: &Run,
    kernel: &LoadedKernel,
    machine: &Machine,
    checked: &Checked,
    seconds: Seconds,
    (bank_conflicts, divergence): (Vec<BankLine>, Option<divergence::Report>),
) -> Result<(), Failure> {
    output::print_json(&Timed {
        check: json::Check::new(&kernel.workload.name, machine, args.on.common.seed, checked),
        run: json::Run::new(checked),
        bank_conflicts,
        divergence,
        exec_seconds: args.timings.then_some(seconds.exec),
        sim_seconds: args.timings.then_some(seconds.sim),
        seconds: args.timings.then_some(seconds.all),
    })
}

/// What text shows besides the verdict.
struct Parts<'a> {
    profile: &'a StallProfile<'a>,
    units: &'a UnitUse,
    banks: &'a [BankLine],
    branches: &'a str,
}

fn print_text(
    args: &Run,
    kernel: &LoadedKernel,
    machine: &Machine,
    policy: &PolicySetup,
    checked: &Checked,
    seconds: Seconds,
    parts: &Parts,
) -> Result<(), Failure> {
    let mut out = text::check(&kernel.workload.name, machine, checked, output::style());
    out.push('\n');
    out.push_str(&text::run(checked));
    if !args.timings {
        let place = |pc: Pc| (kernel.workload.program().instr(pc).line, kernel.text_of(pc));
        out.push_str(&text::units(machine, parts.units, checked));
        out.push_str(&text::lost_cycles(&parts.profile.lost(), checked, MAX_LOST, &place));
        out.push_str(&banks::text(parts.banks));
        out.push_str(parts.branches);
    }
    if args.timings {
        let per_second = |seconds: f64| checked.warp_instructions as f64 / seconds.max(1e-9) / 1e6;
        let Seconds { exec, sim, all } = seconds;
        out.push_str(&format!(
            "\n  functional run {exec:.3} s ({:.1} million warp instructions per second), simulation and bounds {sim:.3} s ({:.1}), \
             together {all:.3} s ({:.1})\n",
            per_second(exec),
            per_second(sim),
            per_second(all)
        ));
    }
    if args.gantt {
        out.push('\n');
        out.push_str(&super::draw::gantt(kernel, machine, policy, &args.on.common)?);
    }
    output::print(&out)
}
