//! From names and options to a workload, a machine and a policy.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Mutex;

use super::args::{Common, PtxLaunch};
use super::assets::{self, Location};
use super::files::read;
use super::session::Session;
use crate::base::Pc;
use crate::check::{Workload, WorkloadKind};
use crate::diag::{Diagnostic, Diagnostics, SourceText};
use crate::exec::Options;
use crate::machine::{Machine, MachineSpec, SchedulerKind, Setting};
use crate::micro::MicroKernel;
use crate::path::{BlockPaths, BlockSource};
use crate::program::TimingTable;
use crate::program::launch::{ArgSpec, Init, Launch, LaunchSpec, parse_arg};
use crate::ptx::Module;
use crate::sim::PolicySetup;

/// The machine when nobody asks for another.
const DEFAULT_MACHINE: &str = "ecrts25-orin";

/// A kernel as found, with what its file sets as defaults.
pub struct LoadedKernel {
    /// As the command line named it.
    pub name_given: String,
    /// What to simulate.
    pub workload: Workload,
    /// The file that holds the code.
    pub code: SourceText,
    /// Where the kernel came from.
    pub location: Location,
    /// Every file on disk that was read for it.
    pub inputs: Vec<PathBuf>,
    machine: Option<String>,
    scheduler: Option<SchedulerKind>,
    launch: Option<LaunchSpec>,
}

impl LoadedKernel {
    /// The source line of an instruction, without comment and blanks.
    pub fn text_of(&self, pc: Pc) -> String {
        let line = self.code.line(self.workload.program().instr(pc).line);
        let code = line.split(['#', ';']).next().unwrap_or("").split("//").next().unwrap_or("");
        code.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// What a folder needs to launch the kernel again: `launch.ron`, its PTX, its data files.
    pub fn files(&self) -> Result<Vec<(String, Vec<u8>)>, Diagnostics> {
        let Some(launch) = &self.launch else { return Ok(Vec::new()) };
        let module = "kernel.ptx".to_owned();
        let mut files = vec![(module.clone(), self.code.text().as_bytes().to_vec())];
        let mut spec = LaunchSpec { module, ..launch.clone() };
        for arg in spec.args.iter_mut().chain(&mut spec.symbols) {
            if let ArgSpec::Buffer { init: Init::File(path), .. } = arg {
                let name = format!("data{}.bin", files.len());
                files.push((name.clone(), self.location.beside(path).bytes(read::DATA_BYTES)?));
                *path = name;
            }
        }
        let style = ron::ser::PrettyConfig::new().struct_names(true);
        let text = ron::ser::to_string_pretty(&spec, style)
            .map_err(|error| Diagnostic::general("launch.ron", error.to_string()))?;
        files.push(("launch.ron".to_owned(), text.into_bytes()));
        Ok(files)
    }
}

/// Finds and reads a kernel.
pub fn kernel(name: &str, ptx: &PtxLaunch, seed: u64) -> Result<LoadedKernel, Diagnostics> {
    kernel_at(name, assets::find_kernel(name)?, ptx, seed)
}

/// Reads a kernel that has been found under this name.
pub fn kernel_at(
    name: &str,
    location: Location,
    ptx: &PtxLaunch,
    seed: u64,
) -> Result<LoadedKernel, Diagnostics> {
    let extension = location.extension();
    if extension != "ptx" && ptx.is_given() {
        let problem = Diagnostic::general(
            name,
            "--entry, --grid, --block, --arg and their like launch a bare .ptx file",
        );
        return Err(problem
            .hint("this kernel brings its own launch; edit a copy of its .ron instead")
            .into());
    }
    match extension.as_str() {
        "warp" => micro(name, location),
        "ron" => {
            let source = location.text()?;
            let spec = LaunchSpec::parse(&source)?;
            launch(name, location, &source, spec, seed)
        }
        "ptx" => {
            let (source, spec) = command_line_launch(&location, ptx)?;
            launch(name, location, &source, spec, seed)
        }
        "cu" => Err(Diagnostic::general(name, "this is CUDA C, not PTX")
            .hint("compile it first, for example as the README's \"From .cu to a verdict\" does")
            .into()),
        other => {
            let message = match other {
                "" => "the name has no ending that says what this is".to_owned(),
                other => format!("`.{other}` is not a kind of kernel file"),
            };
            Err(Diagnostic::general(name, message)
                .hint(
                    "kernels are .warp, launch .ron and .ptx files, names that `warpbound list` shows, or `-` for stdin",
                )
                .into())
        }
    }
}

fn micro(name: &str, location: Location) -> Result<LoadedKernel, Diagnostics> {
    let code = location.text()?;
    let kernel = MicroKernel::parse(&location.stem(), &code)?;
    Ok(LoadedKernel {
        name_given: name.to_owned(),
        launch: None,
        machine: kernel.machine.clone(),
        scheduler: kernel.scheduler.clone(),
        workload: Workload { name: location.stem(), kind: WorkloadKind::Micro(Box::new(kernel)) },
        code,
        inputs: location.on_disk().map(PathBuf::from).into_iter().collect(),
        location,
    })
}

fn launch(
    name: &str,
    location: Location,
    source: &SourceText,
    spec: LaunchSpec,
    seed: u64,
) -> Result<LoadedKernel, Diagnostics> {
    let module_location =
        if location.extension() == "ptx" { location.clone() } else { location.beside(&spec.module) };
    let code = module_location.text()?;
    let module = Module::parse(&code)?;
    let program = module.program(&spec.entry, &assets::ptx_isa()?)?;
    let inputs = [&location, &module_location].map(|file| file.on_disk().map(PathBuf::from));
    let inputs = RefCell::new(inputs.into_iter().flatten().collect::<Vec<PathBuf>>());
    let read = |path: &str| {
        let file = location.beside(path);
        inputs.borrow_mut().extend(file.on_disk().map(PathBuf::from));
        let most = declared_bytes(&spec, path);
        file.bytes(most).map_err(|e| format!("`{path}`, for a buffer of {most} bytes: {}", e.message))
    };
    let launch = Launch::new(&spec, &program, seed, source, &read)?;
    Ok(LoadedKernel {
        name_given: name.to_owned(),
        workload: Workload {
            name: if location.extension() == "ptx" { spec.entry.clone() } else { location.stem() },
            kind: WorkloadKind::Launch { program: Box::new(program), launch: Box::new(launch) },
        },
        code,
        location,
        inputs: inputs.into_inner(),
        machine: None,
        scheduler: None,
        launch: Some(spec),
    })
}

/// Bytes of the largest buffer that takes its contents from this file.
fn declared_bytes(spec: &LaunchSpec, path: &str) -> u64 {
    let of_file = |arg: &ArgSpec| match arg {
        ArgSpec::Buffer { elem, len, init: Init::File(file), .. } if file == path => {
            Some(len.saturating_mul(elem.size() as u64))
        }
        _ => None,
    };
    let declared = spec.args.iter().chain(&spec.symbols).filter_map(of_file).max();
    declared.map_or(read::DATA_BYTES, |bytes| bytes.min(read::DATA_BYTES))
}

/// The launch that the options describe, and the options as a text for messages.
fn command_line_launch(
    location: &Location,
    ptx: &PtxLaunch,
) -> Result<(SourceText, LaunchSpec), Diagnostics> {
    let mut problems = Diagnostics::new();
    let mut text = String::new();
    let entry = match &ptx.entry {
        Some(entry) => entry.clone(),
        None => {
            let module = Module::parse(&location.text()?)?;
            match module.entries().as_slice() {
                [only] => (*only).to_owned(),
                [] => {
                    let problem = Diagnostic::general(location.shown(), "the file has no kernel");
                    return Err(problem.hint("a kernel is a `.visible .entry NAME(...) { ... }`").into());
                }
                entries => {
                    let message = format!("the file has {} kernels: name one with --entry", entries.len());
                    return Err(Diagnostic::general(location.shown(), message)
                        .hint(entries.join(", "))
                        .into());
                }
            }
        }
    };
    for (name, given) in [("--grid", ptx.grid), ("--block", ptx.block)] {
        if given.is_none() {
            let problem = Diagnostic::general(location.shown(), format!("a .ptx file needs {name} X,Y,Z"));
            problems.push(problem.hint("or write a launch .ron beside it, see README"));
        }
    }
    let mut args = Vec::new();
    for arg in &ptx.arg {
        text.push_str(&format!("--arg {arg}\n"));
        match parse_arg(arg) {
            Ok(arg) => args.push(arg),
            Err(wrong) => problems.append(wrong),
        }
    }
    let shape = |given: Option<super::args::Shape>| given.map_or((1, 1, 1), |s| (s.0, s.1, s.2));
    let spec = LaunchSpec {
        doc: String::new(),
        suite: false,
        module: location.shown(),
        entry,
        grid: shape(ptx.grid),
        block: shape(ptx.block),
        dynamic_shared: ptx.dynamic_shared.unwrap_or(0),
        registers: ptx.registers,
        args,
        symbols: Vec::new(),
    };
    problems.into_result((SourceText::new("command line", text), spec))
}

/// The machine for a kernel: the option, else the kernel's own, else the default; then settings.
pub fn machine(common: &Common, kernel: &LoadedKernel) -> Result<(Machine, MachineSpec), Diagnostics> {
    machine_at(&machine_location(common, kernel)?, common)
}

fn machine_location(common: &Common, kernel: &LoadedKernel) -> Result<Location, Diagnostics> {
    match (&common.machine, &kernel.machine) {
        (Some(name), _) => assets::find_machine(name, None),
        (None, Some(name)) => assets::find_machine(name, Some(&kernel.location)),
        (None, None) => assets::find_machine(DEFAULT_MACHINE, None),
    }
}

/// Every file on disk that a run reads, as far as it can be read.
pub fn inputs(common: &Common, kernel: &LoadedKernel, policy: &PolicySetup) -> Vec<PathBuf> {
    let found = RefCell::new(kernel.inputs.clone());
    let note = |location: &Location| found.borrow_mut().extend(location.on_disk().map(PathBuf::from));
    // what came on stdin is no file, and cannot be read again
    if common.machine.as_deref() != Some(assets::FROM_STDIN)
        && let Ok(location) = machine_location(common, kernel)
    {
        note(&location);
        let base = |name: &str| {
            let base = assets::find_machine(name, Some(&location))?;
            note(&base);
            base.text()
        };
        // what is wrong with it has been said by whoever used it
        let _ = location.text().and_then(|source| MachineSpec::parse_with_bases(&source, &base));
    }
    if let SchedulerKind::Replay(file) = policy.kind() {
        found.borrow_mut().push(PathBuf::from(file));
    }
    found.into_inner()
}

/// A machine file with the settings of the command line.
pub fn machine_at(location: &Location, common: &Common) -> Result<(Machine, MachineSpec), Diagnostics> {
    let mut problems = Diagnostics::new();
    let mut settings = Vec::new();
    for text in &common.set {
        match Setting::parse(text) {
            Ok(setting) => settings.push(setting),
            Err(problem) => problems.push(problem),
        }
    }
    let mut settings = problems.into_result(settings)?;
    if let Some(scheduler) = &common.scheduler {
        settings.push(Setting::new("scheduler", scheduler.clone()));
    }
    let source = location.text()?;
    let load = |name: &str| assets::find_machine(name, Some(location))?.text();
    let written = MachineSpec::parse_with_bases(&source, &load)?;
    let mut spec = written.clone();
    if let Some(total) = common.mem_latency {
        spec = spec.with_memory_latency(total)?;
    }
    let spec = spec.with_settings(&settings)?;
    match Machine::new(&spec, &source) {
        Ok(machine) => {
            warn_of_idle(&settings, &spec);
            Ok((machine, spec))
        }
        // what the file says is fine, so what the command line says is not
        Err(problems) if Machine::new(&written, &source).is_ok() => Err(blame_options(common, &problems)),
        Err(problems) => Err(problems),
    }
}

/// Says once what was set on the command line and does nothing on the machine that came of it.
fn warn_of_idle(settings: &[Setting], spec: &MachineSpec) {
    // a command loads the machine anew for each kernel, and for each point of a sweep
    static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    for idle in spec.idle_settings() {
        let message = idle.to_string();
        if settings.iter().any(|setting| idle.concerns(setting.path()))
            && SAID.lock().is_ok_and(|mut said| said.insert(message.clone()))
        {
            tracing::warn!("{message}");
        }
    }
}

fn blame_options(common: &Common, problems: &Diagnostics) -> Diagnostics {
    let latency = common.mem_latency.map(|total| format!("--mem-latency {total}"));
    let settings = common.set.iter().map(|setting| format!("--set {setting}"));
    let options: Vec<String> = latency.into_iter().chain(settings).collect();
    let mut blamed = Diagnostics::new();
    for problem in problems.list() {
        blamed
            .push(Diagnostic::general(options.join(" "), problem.message.clone()).hint(problem.hint.clone()));
    }
    blamed
}

/// The policy for a kernel: the option, else a setting, else the kernel's own, else the machine's.
pub fn policy(common: &Common, kernel: &LoadedKernel, machine: &Machine) -> Result<PolicySetup, Diagnostics> {
    let set = common.set.iter().any(|setting| setting.trim_start().starts_with("scheduler"));
    match &kernel.scheduler {
        Some(own) if common.scheduler.is_none() && !set => setup_beside(own, Some(&kernel.location)),
        _ => setup(machine.scheduler()),
    }
}

/// A policy ready to run: the schedule of a replay is read.
pub fn setup(kind: &SchedulerKind) -> Result<PolicySetup, Diagnostics> {
    setup_beside(kind, None)
}

/// The same for a policy that a file names: so is a schedule, relative to it.
fn setup_beside(kind: &SchedulerKind, file: Option<&Location>) -> Result<PolicySetup, Diagnostics> {
    let read = |path: &str| assets::find_schedule(path, file)?.text_up_to(read::SCHEDULE_BYTES);
    PolicySetup::new(kind, read)
}

/// The paths of one block of a kernel.
pub fn nth_block(
    kernel: &LoadedKernel,
    machine: &Machine,
    block: u32,
    max_instructions: u64,
    session: &Session,
) -> Result<BlockPaths, Diagnostics> {
    session.progress.begin(
        format!("executing {}", kernel.workload.name),
        Some(u64::from(block) + 1),
        "blocks",
    );
    let mut source = kernel.workload.source(Options::of(machine, max_instructions))?.watched(&session.watch);
    let mut paths = BlockPaths::default();
    for _ in 0..=block {
        if !source.next_block(&mut paths).map_err(|problems| problems.with_excerpts(&kernel.code))? {
            if let Some(reason) = session.stopped() {
                let message = format!("{} before block {block} was executed", reason.text());
                return Err(Diagnostic::general(kernel.workload.name.clone(), message).into());
            }
            let message = format!("the launch has {} blocks", kernel.workload.blocks());
            return Err(Diagnostic::general(format!("--of-block {block}"), message).into());
        }
        session.watch.advance(1);
    }
    Ok(paths)
}

/// For what looks at the paper model alone: an error if the machine is more than that.
pub fn paper_model(machine: &Machine, what: &str) -> Result<(), Diagnostic> {
    let beyond = machine.beyond_the_paper_model();
    if beyond.is_empty() {
        return Ok(());
    }
    let message =
        format!("{what} the paper model, and machine `{}` is more: {}", machine.name(), beyond.join("; "));
    Err(Diagnostic::general(machine.name(), message).hint("`run` and `check` simulate such machines"))
}

/// The cores of this machine: how many threads to use where nobody says.
pub fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// A kernel's instructions bound to a machine.
pub fn timing(kernel: &LoadedKernel, machine: &Machine) -> Result<TimingTable, Diagnostics> {
    TimingTable::new(kernel.workload.program(), machine)
        .map_err(|problems| problems.with_excerpts(&kernel.code))
}
