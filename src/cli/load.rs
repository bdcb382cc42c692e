//! Loads a workload, a machine and a policy from names and options.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Mutex;

use super::applications::{self, LoadedApplication};
use super::args::{Common, PtxLaunch};
use super::assets::{self, Location};
use super::files::read;
use super::launches::{self, FittedLaunch};
use super::modules;
use super::policies;
use super::session::Session;
use super::traces;
use crate::accelsim::Listed;
use crate::base::{Fnv1a, Pc, Watch};
use crate::check::order::Seen;
use crate::check::{Subject, Workload, WorkloadKind};
use crate::diag::{Diagnostic, Diagnostics, SourceText, to_ron};
use crate::machine::{Machine, MachineSpec, SchedulerKind, Setting};
use crate::micro::MicroKernel;
use crate::path::{BlockPaths, BlockSource};
use crate::program::TimingTable;
use crate::program::launch::LaunchSpec;
use crate::sim::PolicySetup;

/// The default machine.
pub const DEFAULT_MACHINE: &str = "ecrts25-orin";

/// A loaded kernel, with the defaults that its file sets.
pub struct LoadedKernel {
    /// The name on the command line.
    pub name_given: String,
    /// The workload to simulate.
    pub workload: Workload,
    /// The file with the code.
    pub code: SourceText,
    /// The file it was loaded from.
    pub location: Location,
    /// Every file on disk that was read for it.
    pub inputs: Vec<PathBuf>,
    machine: Option<String>,
    scheduler: Option<SchedulerKind>,
    origin: Origin,
}

/// The kind of file that a kernel was made from.
enum Origin {
    Micro,
    Launch(Box<LaunchSpec>),
    Application(Box<LoadedApplication>),
    Trace,
}

impl LoadedKernel {
    /// Returns the source line of an instruction, without comments and surrounding spaces.
    pub fn text_of(&self, pc: Pc) -> String {
        let line = self.code.line(self.workload.program().instr(pc).line);
        let code = line.split(['#', ';']).next().unwrap_or("").split("//").next().unwrap_or("");
        code.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Returns the files for a folder from which the kernel can be launched again: `launch.ron` or
    /// `program.ron`, PTX and data.
    pub fn files(&self) -> Result<Vec<(String, Vec<u8>)>, Diagnostics> {
        let launch = match &self.origin {
            Origin::Micro | Origin::Trace => return Ok(Vec::new()),
            Origin::Application(of) => return of.files(),
            Origin::Launch(launch) => launch,
        };
        let module = "kernel.ptx".to_owned();
        let mut files = vec![(module.clone(), self.code.text().as_bytes().to_vec())];
        let mut spec = LaunchSpec { module, ..(**launch).clone() };
        for path in spec.data_files() {
            let name = format!("data{}.bin", files.len());
            files.push((name.clone(), self.location.beside(path).bytes(read::DATA_BYTES)?));
            *path = name;
        }
        let text = to_ron("launch.ron", &spec, ron::extensions::Extensions::empty())?;
        files.push(("launch.ron".to_owned(), text.into_bytes()));
        Ok(files)
    }
}

/// A kernel or application that was named on the command line.
pub enum Loaded {
    /// One kernel, ready to run.
    Kernel(Box<LoadedKernel>),
    /// Several kernels that run one after the other.
    Application(Box<LoadedApplication>),
}

impl Loaded {
    /// Returns the name in reports.
    pub fn name(&self) -> &str {
        match self {
            Self::Kernel(kernel) => &kernel.workload.name,
            Self::Application(program) => &program.name,
        }
    }

    /// Returns the name on the command line.
    pub fn name_given(&self) -> &str {
        match self {
            Self::Kernel(kernel) => &kernel.name_given,
            Self::Application(program) => &program.name_given,
        }
    }

    /// Returns the kernel or application as the subject of a verdict.
    pub fn subject(&self) -> Subject<'_> {
        match self {
            Self::Kernel(kernel) => Subject::Launch(&kernel.workload),
            Self::Application(of) => Subject::Application { name: &of.name, application: &of.application },
        }
    }

    /// Returns the names and digests of every file that it consists of.
    pub fn digests(&self) -> Result<Vec<(String, u64)>, Diagnostics> {
        let kernel = match self {
            Self::Application(application) => return application.digests(),
            Self::Kernel(kernel) => kernel,
        };
        if matches!(kernel.origin, Origin::Trace) {
            return Ok(traces::digests(&kernel.inputs)?);
        }
        let files = kernel.files()?;
        if files.is_empty() {
            return Ok(vec![("kernel.warp".to_owned(), Fnv1a::of(kernel.code.text().as_bytes()))]);
        }
        Ok(files.into_iter().map(|(name, bytes)| (name, Fnv1a::of(&bytes))).collect())
    }

    /// Returns the number of blocks to simulate in this number of runs, if known.
    pub fn blocks(&self, runs: usize) -> Option<u64> {
        match self {
            Self::Kernel(kernel) => Some(u64::from(kernel.workload.blocks()) * runs as u64),
            Self::Application(_) => None,
        }
    }

    /// Returns the machine that the kernel's own file names.
    pub fn own_machine(&self) -> Option<&str> {
        match self {
            Self::Kernel(kernel) => kernel.machine.as_deref(),
            Self::Application(_) => None,
        }
    }

    /// Adds the source lines of the code to the errors of a run.
    pub fn with_excerpts(&self, problems: Diagnostics) -> Diagnostics {
        match self {
            Self::Kernel(kernel) => problems.with_excerpts(&kernel.code),
            Self::Application(program) => program.with_excerpts(problems),
        }
    }
}

/// Finds and reads a kernel; of a program, the launch that the options select. Reading stops early
/// if `watch` requests it, here as in the other functions that read kernels.
///
/// # Errors
/// If a file is invalid, or if reading was stopped.
pub fn kernel(
    name: &str,
    options: &PtxLaunch,
    seed: u64,
    watch: &Watch,
) -> Result<LoadedKernel, Diagnostics> {
    match any(name, options, seed, watch)? {
        Loaded::Kernel(kernel) => Ok(*kernel),
        Loaded::Application(program) => Err(program.takes_one()),
    }
}

/// Finds and reads a kernel or program.
pub fn any(name: &str, options: &PtxLaunch, seed: u64, watch: &Watch) -> Result<Loaded, Diagnostics> {
    any_at(name, assets::find_kernel(name)?, options, seed, watch)
}

/// Reads a kernel or program that was found under this name.
pub fn any_at(
    name: &str,
    location: Location,
    options: &PtxLaunch,
    seed: u64,
    watch: &Watch,
) -> Result<Loaded, Diagnostics> {
    let with_compiler;
    let options = match assets::by_compiler(name).1 {
        Some(compiler) => {
            with_compiler = PtxLaunch { compiler: Some(compiler.to_owned()), ..options.clone() };
            &with_compiler
        }
        None => options,
    };
    let kernel = match location.extension().as_str() {
        "warp" if options.is_given() => {
            let message = "--entry, --grid, --block, --arg and their like belong to launches of PTX kernels";
            return Err(Diagnostic::general(name, message).hint("a .warp file says itself what runs").into());
        }
        "warp" => micro(name, location)?,
        "ron" => {
            let source = location.text()?;
            if applications::is_program(&source) {
                let program = applications::load(name, location, source, options, seed)?;
                match options.launch {
                    None => return Ok(Loaded::Application(Box::new(program))),
                    Some(number) => launch_of(program, number)?,
                }
            } else {
                let fitted = launches::from_file(&location, source, options, seed)?;
                launch(name, options.name_of(&location.stem()), location, fitted)
            }
        }
        "traceg" | "g" if options.says_a_launch() || !options.constant.is_empty() => {
            let message = "--entry, --grid, --block, --arg, --let and their like belong to code, and this is a trace of a run";
            return Err(Diagnostic::general(name, message).into());
        }
        "traceg" => trace(name, location, options, None, watch)?,
        "g" => {
            let (list, source) = traces::list(&location)?;
            match traces::chosen(&list, &source, options)? {
                Some(chosen) => trace(name, location, options, Some(chosen), watch)?,
                None => {
                    let list = applications::load_list(name, location, &list, options, watch)?;
                    return Ok(Loaded::Application(Box::new(list)));
                }
            }
        }
        "cubin" | "fatbin" if options.grid.is_none() && options.block.is_none() => {
            return match modules::launches_beside(&location)?.as_slice() {
                [only] => any(only, options, seed, watch),
                several => {
                    let message = format!("{} launches beside it are for this file", several.len());
                    let hint = if several.is_empty() {
                        "give --grid and --block, or write a launch .ron that names its .ptx".to_owned()
                    } else {
                        format!("name one of them: {}", several.join(", "))
                    };
                    Err(Diagnostic::general(name, message).hint(hint).into())
                }
            };
        }
        "ptx" | "cubin" | "fatbin" => {
            let fitted = launches::from_options(&location, options, seed)?;
            launch(name, fitted.program.name.clone(), location, fitted)
        }
        "cu" => {
            return Err(Diagnostic::general(name, "this is CUDA C, not PTX")
                .hint(compiling(&location))
                .into());
        }
        other => {
            let message = match other {
                "" => "the name has no ending that says what this is".to_owned(),
                other => format!("`.{other}` is not a kind of kernel file"),
            };
            let hint = "kernels are .warp, .ptx, .cubin, launch and program .ron files, traces (.traceg, kernelslist.g), names that `warpbound list` shows, \
                        or `-` for stdin";
            return Err(Diagnostic::general(name, message).hint(hint).into());
        }
    };
    Ok(Loaded::Kernel(Box::new(kernel)))
}

/// Returns a hint on compiling a CUDA file to PTX.
fn compiling(location: &Location) -> String {
    let stem = location.stem();
    format!(
        "compile it first (docs/wcet.md says what each part does): clang-16 -x cuda \
         --cuda-device-only --cuda-gpu-arch=sm_61 -nocudainc -nocudalib -O2 -fdeclspec --cuda-feature=+ptx63 \
         -Ikernels/include -include cuda_runtime.h -S {} -o {stem}.ptx",
        location.shown()
    )
}

fn micro(name: &str, location: Location) -> Result<LoadedKernel, Diagnostics> {
    let code = location.text()?;
    let kernel = MicroKernel::parse(&location.stem(), &code)?;
    Ok(LoadedKernel {
        name_given: name.to_owned(),
        origin: Origin::Micro,
        machine: kernel.machine.clone(),
        scheduler: kernel.scheduler.clone(),
        workload: Workload { name: location.stem(), kind: WorkloadKind::Micro(Box::new(kernel)) },
        code,
        inputs: location.on_disk().map(PathBuf::from).into_iter().collect(),
        location,
    })
}

/// Reads a trace that is given directly or as part of a list.
fn trace(
    name: &str,
    location: Location,
    options: &PtxLaunch,
    of: Option<Listed>,
    watch: &Watch,
) -> Result<LoadedKernel, Diagnostics> {
    let mut inputs: Vec<PathBuf> = location.on_disk().map(PathBuf::from).into_iter().collect();
    let (workload, code) = match &of {
        Some(listed) => traces::listed(&location, listed, options, watch)?,
        None => traces::workload(&location, options, watch)?,
    };
    inputs.extend(of.and_then(|listed| location.beside(&listed.file).on_disk().map(PathBuf::from)));
    inputs.dedup();
    Ok(LoadedKernel {
        name_given: name.to_owned(),
        code,
        workload,
        location,
        inputs,
        machine: None,
        scheduler: None,
        origin: Origin::Trace,
    })
}

fn launch(name_given: &str, name: String, location: Location, fitted: FittedLaunch) -> LoadedKernel {
    let FittedLaunch { spec, program, launch, code, inputs } = fitted;
    LoadedKernel {
        name_given: name_given.to_owned(),
        workload: Workload {
            name,
            kind: WorkloadKind::Launch { program: Box::new(program), launch: Box::new(launch) },
        },
        code,
        location,
        inputs,
        machine: None,
        scheduler: None,
        origin: Origin::Launch(Box::new(spec)),
    }
}

/// Returns one launch of an application.
pub fn launch_of(application: LoadedApplication, number: u64) -> Result<LoadedKernel, Diagnostics> {
    let (workload, code) = application.launch(number)?;
    Ok(LoadedKernel {
        name_given: application.name_given.clone(),
        workload,
        code,
        location: application.location.clone(),
        inputs: application.inputs.clone(),
        machine: None,
        scheduler: None,
        origin: match application.application.program() {
            Some(_) => Origin::Application(Box::new(application)),
            None => Origin::Trace,
        },
    })
}

/// Returns the machine for a kernel: that of the option, or else of the kernel's file, or else the
/// default; the settings are applied to it.
pub fn machine(common: &Common, kernel: &LoadedKernel) -> Result<(Machine, MachineSpec), Diagnostics> {
    machine_at(&machine_location(common, kernel)?, common)
}

/// Returns the machine for a kernel or program.
pub fn machine_of(common: &Common, what: &Loaded) -> Result<(Machine, MachineSpec), Diagnostics> {
    match what {
        Loaded::Kernel(kernel) => machine(common, kernel),
        Loaded::Application(_) => machine_of_application(common),
    }
}

/// Returns the policy for a kernel or program.
pub fn policy_of(common: &Common, what: &Loaded, machine: &Machine) -> Result<PolicySetup, Diagnostics> {
    match what {
        Loaded::Kernel(kernel) => policy(common, kernel, machine),
        Loaded::Application(program) => program.policy(machine),
    }
}

fn machine_location(common: &Common, kernel: &LoadedKernel) -> Result<Location, Diagnostics> {
    match (&common.machine, &kernel.machine) {
        (Some(name), _) => assets::find_machine(name, None),
        (None, Some(name)) => assets::find_machine(name, Some(&kernel.location)),
        (None, None) => assets::find_machine(DEFAULT_MACHINE, None),
    }
}

/// Returns every file on disk that a run reads; files that cannot be determined are left out.
pub fn inputs(common: &Common, kernel: &LoadedKernel, policy: &PolicySetup) -> Vec<PathBuf> {
    let mut found = kernel.inputs.clone();
    found.extend(machine_inputs(common, machine_location(common, kernel)));
    if let SchedulerKind::Replay(file) = policy.kind() {
        found.push(PathBuf::from(file));
    }
    found
}

/// Returns the same for a program; see [`inputs`].
pub fn inputs_of_application(common: &Common, program: &LoadedApplication) -> Vec<PathBuf> {
    let mut found = program.inputs.clone();
    found.extend(machine_inputs(common, location_for_program(common)));
    found
}

/// Returns the file of a machine and those that it extends.
fn machine_inputs(common: &Common, location: Result<Location, Diagnostics>) -> Vec<PathBuf> {
    let found = RefCell::new(Vec::new());
    let note = |location: &Location| found.borrow_mut().extend(location.on_disk().map(PathBuf::from));
    // stdin is not a file, and cannot be read a second time
    if common.machine.as_deref() != Some(assets::FROM_STDIN)
        && let Ok(location) = location
        // an embedded machine extends only embedded ones
        && location.on_disk().is_some()
    {
        note(&location);
        let base = |name: &str| {
            let base = assets::find_machine(name, Some(&location))?;
            note(&base);
            base.text()
        };
        // errors of the file are reported where the machine is loaded
        let _ = location.text().and_then(|source| MachineSpec::parse_with_bases(&source, &base));
    }
    found.into_inner()
}

/// Returns the machine for a program: that of the option, or else the default; the settings are
/// applied to it.
pub fn machine_of_application(common: &Common) -> Result<(Machine, MachineSpec), Diagnostics> {
    machine_at(&location_for_program(common)?, common)
}

fn location_for_program(common: &Common) -> Result<Location, Diagnostics> {
    assets::find_machine(common.machine.as_deref().unwrap_or(DEFAULT_MACHINE), None)
}

/// Reads a machine file and applies the settings of the command line.
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
        settings.push(Setting::of_option("--scheduler", "scheduler", scheduler.clone()));
    }
    let (written, source) = written_machine(location)?;
    let spec = changed(written.clone(), common.mem_latency, &settings)?;
    match Machine::new(&spec, &source) {
        Ok(machine) => {
            warn_of_idle(&settings, &spec);
            Ok((machine, spec))
        }
        // the file itself is valid, so the error is in the settings of the command line
        Err(problems) if Machine::new(&written, &source).is_ok() => Err(blame_options(common, problems)),
        Err(problems) => Err(problems),
    }
}

/// Reads a machine file with all that it extends, and its text.
pub fn written_machine(location: &Location) -> Result<(MachineSpec, SourceText), Diagnostics> {
    let source = location.text()?;
    let load = |name: &str| assets::find_machine(name, Some(location))?.text();
    Ok((MachineSpec::parse_with_bases(&source, &load)?, source))
}

/// Changes the latency and then the settings of a machine.
pub fn changed(
    spec: MachineSpec,
    mem_latency: Option<u64>,
    settings: &[Setting],
) -> Result<MachineSpec, Diagnostics> {
    let spec = match mem_latency {
        Some(total) => spec.with_memory_latency(total)?,
        None => spec,
    };
    spec.with_settings(settings)
}

/// Warns once of each setting of the command line that has no effect on the resulting machine.
fn warn_of_idle(settings: &[Setting], spec: &MachineSpec) {
    // a command loads the machine again for each kernel, and for each point of a sweep
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

fn blame_options(common: &Common, problems: Diagnostics) -> Diagnostics {
    let latency = common.mem_latency.map(|total| format!("--mem-latency {total}"));
    let settings = common.set.iter().map(|setting| format!("--set {setting}"));
    let options: Vec<String> = latency.into_iter().chain(settings).collect();
    problems.map(|problem| Diagnostic::general(options.join(" "), problem.message).hint(problem.hint))
}

/// Returns the policy for a kernel: that of the option, or else of a setting, or else of the
/// kernel's file, or else of the machine.
pub fn policy(common: &Common, kernel: &LoadedKernel, machine: &Machine) -> Result<PolicySetup, Diagnostics> {
    let set = common.set.iter().any(|setting| setting.trim_start().starts_with("scheduler"));
    match &kernel.scheduler {
        Some(own) if common.scheduler.is_none() && !set => {
            policies::setup_beside(own, Some(&kernel.location))
        }
        _ => policies::setup(machine.scheduler()),
    }
}

/// Returns the paths of one block of a kernel, and what was observed of the order of memory
/// accesses.
pub fn nth_block(
    kernel: &LoadedKernel,
    machine: &Machine,
    block: u32,
    common: &Common,
    session: &Session,
) -> Result<(BlockPaths, Seen), Diagnostics> {
    session.progress.begin(
        format!("executing {}", kernel.workload.name),
        Some(u64::from(block) + 1),
        "blocks",
    );
    let mut source = kernel.workload.source(common.watched(machine), &session.watch)?;
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
    let seen = source.seen();
    Ok((paths, seen))
}

/// Returns an error if the machine is not covered by the paper model, for commands that support
/// only that.
pub fn paper_model(machine: &Machine, what: &str) -> Result<(), Diagnostic> {
    let beyond = machine.beyond_the_paper_model();
    if beyond.is_empty() {
        return Ok(());
    }
    let message = format!("{what} the paper model, and machine `{}` is more: {}", machine.name(), beyond);
    Err(Diagnostic::general(machine.name(), message).hint("`run` and `check` simulate such machines"))
}

/// Returns the timing of a kernel's instructions on a machine.
pub fn timing(kernel: &LoadedKernel, machine: &Machine) -> Result<TimingTable, Diagnostics> {
    TimingTable::new(kernel.workload.program(), machine)
        .map_err(|problems| problems.with_excerpts(&kernel.code))
}
