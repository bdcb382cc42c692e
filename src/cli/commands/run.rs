//! `warpbound run`: simulate one kernel and say where its cycles went.

use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use crate::base::Pc;
use crate::bound;
use crate::check::counterexample::ScheduleRecorder;
use crate::check::{Checked, Plan, WorkloadSource, observe_source};
use crate::cli::args::Run;
use crate::cli::load::{self, LoadedKernel};
use crate::cli::output::{self, Failure, Format};
use crate::diag::{Diagnostic, Diagnostics};
use crate::machine::Machine;
use crate::path::{BlockPaths, BlockSource};
use crate::program::TimingTable;
use crate::report::{json, text};
use crate::sim::PolicySetup;
use crate::trace::{CsvTrace, KanataTrace, Observer, PerfettoTrace, StallProfile, UnitUse};

/// Causes of lost cycles shown as text.
const MAX_LOST: usize = 12;

/// Runs the command.
pub fn run(args: &Run) -> Result<ExitCode, Failure> {
    let kernel = load::kernel(&args.kernel, &args.ptx, args.common.seed)?;
    let (machine, _) = load::machine(&args.common, &kernel)?;
    let policy = load::policy(&args.common, &kernel, &machine)?;
    let dumps = dumps(args, &kernel)?;
    let bounds = bound::all();
    let plan = Plan {
        workload: &kernel.workload,
        machine: &machine,
        policies: std::slice::from_ref(&policy),
        bounds: &bounds,
        gating: &[],
        max_instructions_per_block: args.common.max_instructions,
        self_check: false,
    };
    let table = TimingTable::new(kernel.workload.program(), &machine)?;
    let mut profile = StallProfile::new(&table);
    let mut units = UnitUse::new(machine.units().len());
    let began = Instant::now();
    let source = kernel.workload.source(args.common.max_instructions)?;
    let mut source = TimedSource { source, spent: began.elapsed() };
    let checked = trace(args, &kernel, &machine, |observer| {
        let mut observers: Vec<&mut dyn Observer> = vec![observer];
        // text shows where cycles went; JSON and bare speed need not pay for it
        if args.common.format == Format::Text && !args.timings {
            observers.push(&mut profile);
            observers.push(&mut units);
        }
        observe_source(&plan, &policy, &mut source, &mut observers)
    })?;
    let seconds = (source.spent.as_secs_f64(), (began.elapsed().saturating_sub(source.spent)).as_secs_f64());
    for (index, path) in dumps {
        output::write_file(&path, source.source.buffer(index).unwrap_or_default())?;
    }
    match args.common.format {
        Format::Json => print_json(args, &kernel, &machine, &checked, seconds)?,
        Format::Text => print_text(args, &kernel, &machine, &policy, &checked, seconds, &profile, &units)?,
    }
    Ok(ExitCode::SUCCESS)
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
}

/// The buffers to write: index and file.
fn dumps(args: &Run, kernel: &LoadedKernel) -> Result<Vec<(usize, PathBuf)>, Diagnostics> {
    let mut problems = Diagnostics::new();
    let mut dumps = Vec::new();
    let buffers = kernel.workload.launch().map_or(&[][..], |launch| launch.buffers.as_slice());
    for dump in &args.dump {
        let place = format!("--dump {dump}");
        let Some((name, path)) = dump.split_once('=').filter(|(_, path)| !path.is_empty()) else {
            problems
                .push(Diagnostic::general(place, "expected NAME=FILE").hint("for example --dump c=out.bin"));
            continue;
        };
        match buffers.iter().position(|buffer| buffer.name == name) {
            Some(index) => dumps.push((index, PathBuf::from(path))),
            None => {
                let names: Vec<&str> = buffers.iter().map(|buffer| buffer.name.as_str()).collect();
                let hint = if names.is_empty() {
                    "this kernel has no buffers".to_owned()
                } else {
                    format!("buffers: {}", names.join(", "))
                };
                problems.push(Diagnostic::general(place, format!("no buffer `{name}`")).hint(hint));
            }
        }
    }
    problems.into_result(dumps)
}

/// A trace file being written, under a name of its own until it is complete.
struct TraceFile<'a> {
    path: &'a Path,
    part: PathBuf,
    out: BufWriter<File>,
}

impl<'a> TraceFile<'a> {
    fn create(path: &'a Path) -> Result<Self, Diagnostics> {
        let part = if std::fs::metadata(path).is_ok_and(|there| !there.is_file()) {
            path.to_path_buf()
        } else {
            let mut name = path.file_name().map(std::ffi::OsStr::to_os_string).unwrap_or_default();
            name.push(".part");
            path.with_file_name(name)
        };
        let file = File::create(&part).map_err(|error| problem(path, &error))?;
        Ok(Self { path, part, out: BufWriter::new(file) })
    }

    fn keep(self) -> Result<(), Diagnostics> {
        drop(self.out);
        if self.part == self.path {
            return Ok(());
        }
        std::fs::rename(&self.part, self.path).map_err(|error| problem(self.path, &error))
    }

    fn discard(self) {
        drop(self.out);
        if self.part != self.path {
            // best effort: the part file is ours
            let _ = std::fs::remove_file(&self.part);
        }
    }
}

fn problem(path: &Path, error: &std::io::Error) -> Diagnostics {
    Diagnostic::general(path.display().to_string(), format!("cannot write the trace: {error}")).into()
}

/// Simulates with every trace that was asked for; a run that fails leaves no file.
fn trace(
    args: &Run,
    kernel: &LoadedKernel,
    machine: &Machine,
    simulate: impl FnOnce(&mut dyn Observer) -> Result<Checked, Diagnostics>,
) -> Result<Checked, Diagnostics> {
    let mut problems = Diagnostics::new();
    for path in &args.trace {
        if !matches!(ending(path), "json" | "kanata" | "csv" | "replay") {
            problems.push(
                Diagnostic::general(path.display().to_string(), "the ending names no kind of trace")
                    .hint(".json Perfetto, .kanata Konata, .csv table, .replay schedule"),
            );
        }
    }
    problems.into_result(())?;
    let name = |pc: Pc| kernel.text_of(pc);
    trace_rest(&args.trace, kernel, machine, &name, &mut (), simulate)
}

fn ending(path: &Path) -> &str {
    path.extension().and_then(|ending| ending.to_str()).unwrap_or("")
}

/// Opens the first trace of the list around the rest. Each writer borrows its file, so they nest.
fn trace_rest(
    paths: &[PathBuf],
    kernel: &LoadedKernel,
    machine: &Machine,
    name: &dyn Fn(Pc) -> String,
    outer: &mut dyn Observer,
    simulate: impl FnOnce(&mut dyn Observer) -> Result<Checked, Diagnostics>,
) -> Result<Checked, Diagnostics> {
    let Some((path, rest)) = paths.split_first() else { return simulate(outer) };
    let mut file = TraceFile::create(path)?;
    let units = machine.units().iter().map(|unit| unit.name.clone());
    // boxed, so that the recursion over the list has one type
    let simulate: Box<dyn FnOnce(&mut dyn Observer) -> Result<Checked, Diagnostics> + '_> =
        Box::new(simulate);
    let (checked, written) = match ending(path) {
        "csv" => {
            let mut writer = CsvTrace::new(&mut file.out, units);
            let checked = trace_rest(rest, kernel, machine, name, &mut (&mut writer, outer), simulate);
            (checked, writer.finish())
        }
        "kanata" => {
            let mut writer = KanataTrace::new(&mut file.out, name);
            let checked = trace_rest(rest, kernel, machine, name, &mut (&mut writer, outer), simulate);
            (checked, writer.finish())
        }
        "replay" => {
            let mut recorder = ScheduleRecorder::default();
            let checked = trace_rest(rest, kernel, machine, name, &mut (&mut recorder, outer), simulate);
            let text =
                recorder.text().ok_or_else(|| std::io::Error::other("the run is too long for a replay file"));
            (checked, text.and_then(|text| std::io::Write::write_all(&mut file.out, text.as_bytes())))
        }
        _ => {
            let mut writer = PerfettoTrace::new(&mut file.out, units, name);
            let checked = trace_rest(rest, kernel, machine, name, &mut (&mut writer, outer), simulate);
            (checked, writer.finish())
        }
    };
    match (checked, written) {
        (Ok(checked), Ok(())) => file.keep().map(|()| checked),
        (Err(problems), _) => {
            file.discard();
            Err(problems)
        }
        (_, Err(error)) => {
            let failed = problem(path, &error);
            file.discard();
            Err(failed)
        }
    }
}

#[derive(serde::Serialize)]
struct Timed {
    #[serde(flatten)]
    check: json::Check,
    #[serde(flatten)]
    run: json::Run,
    #[serde(skip_serializing_if = "Option::is_none")]
    exec_seconds: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sim_seconds: Option<f64>,
}

fn print_json(
    args: &Run,
    kernel: &LoadedKernel,
    machine: &Machine,
    checked: &Checked,
    (exec, sim): (f64, f64),
) -> Result<(), Failure> {
    output::print_json(&Timed {
        check: json::Check::new(&kernel.workload.name, machine, args.common.seed, checked),
        run: json::Run::new(checked),
        exec_seconds: args.timings.then_some(exec),
        sim_seconds: args.timings.then_some(sim),
    })
}

#[allow(clippy::too_many_arguments, reason = "the parts of one page")]
fn print_text(
    args: &Run,
    kernel: &LoadedKernel,
    machine: &Machine,
    policy: &PolicySetup,
    checked: &Checked,
    (exec, sim): (f64, f64),
    profile: &StallProfile,
    units: &UnitUse,
) -> Result<(), Failure> {
    let mut out = text::check(&kernel.workload.name, machine, checked, output::style());
    out.push('\n');
    out.push_str(&text::run(checked));
    if !args.timings {
        let place = |pc: Pc| (kernel.workload.program().instr(pc).line, kernel.text_of(pc));
        out.push_str(&text::units(machine, units, checked));
        out.push_str(&text::lost_cycles(&profile.lost(), checked, MAX_LOST, &place));
    }
    if args.timings {
        let per_second = |seconds: f64| checked.warp_instructions as f64 / seconds.max(1e-9) / 1e6;
        out.push_str(&format!(
            "\n  functional run {exec:.3} s ({:.1} million warp instructions per second), simulation and bounds {sim:.3} s ({:.1})\n",
            per_second(exec),
            per_second(sim)
        ));
    }
    if args.gantt {
        out.push('\n');
        out.push_str(&super::draw::gantt(kernel, machine, policy, &args.common)?);
    }
    output::print(&out)
}
