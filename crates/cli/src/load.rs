//! Loads a workload, a machine and a policy from names and the options of the command line.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use super::applications;
use super::args::{Common, PtxLaunch};
use super::files::loader;
use super::policies;
use super::session::Session;
use warpbound_core::base::ProgressMonitor;
use warpbound_core::diag::{Diagnostic, Diagnostics};
use warpbound_core::machine::{Machine, MachineSpec, PolicyKind, Setting};
use warpbound_core::path::{BlockPaths, BlockSource};
use warpbound_core::program::TimingTable;
use warpbound_judge::check::order::OrderDependences;
use warpbound_judge::load::{
    DEFAULT_MACHINE, FROM_STDIN, Loaded, LoadedApplication, LoadedKernel, Location, is_machine_code,
    launches_beside,
};
use warpbound_sim::PolicySetup;

/// Finds and reads a kernel, or the launch of a program that the options select. As in the other
/// functions that read kernels, `monitor` can stop the reading.
///
/// # Errors
/// If a file is invalid, or if reading was stopped.
pub fn kernel(
    name: &str,
    options: &PtxLaunch,
    seed: u64,
    monitor: &ProgressMonitor,
) -> Result<LoadedKernel, Diagnostics> {
    match any(name, options, seed, monitor)? {
        Loaded::Kernel(kernel) => Ok(*kernel),
        Loaded::Application(program) => Err(applications::takes_one(&program)),
    }
}

/// Finds and reads a kernel or program.
pub fn any(
    name: &str,
    options: &PtxLaunch,
    seed: u64,
    monitor: &ProgressMonitor,
) -> Result<Loaded, Diagnostics> {
    loader().load(name, &options.options(seed), monitor)
}

/// Replaces the names of machine code files by the launches found beside them.
pub fn expanded(names: &[String], options: &PtxLaunch) -> Vec<String> {
    let with_launches = |name: &String| {
        let location = loader().file(name);
        let own = vec![name.clone()];
        if !is_machine_code(&location) || options.grid.is_some() || options.block.is_some() {
            return own;
        }
        // an invalid file is reported where it is loaded
        launches_beside(&location).ok().filter(|found| !found.is_empty()).unwrap_or(own)
    };
    names.iter().flat_map(with_launches).collect()
}

/// Returns the machine for a kernel, with the settings applied. The option names it; otherwise the
/// kernel's file names it, and otherwise it is the default.
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
        Loaded::Application(program) => applications::policy(program, machine),
    }
}

fn machine_location(common: &Common, kernel: &LoadedKernel) -> Result<Location, Diagnostics> {
    match &common.machine {
        Some(name) => loader().find_machine(name, None),
        None => loader().find_machine_for(kernel),
    }
}

/// Returns every file on disk that a run reads; files that cannot be determined are left out.
pub fn inputs(common: &Common, kernel: &LoadedKernel, policy: &PolicySetup) -> Vec<PathBuf> {
    let mut found = kernel.inputs.clone();
    found.extend(machine_inputs(common, || machine_location(common, kernel)));
    if let PolicyKind::Replay(file) = policy.kind() {
        found.push(PathBuf::from(file));
    }
    found
}

/// Returns every file on disk that a run of a kernel or program reads; see [`inputs`].
pub fn inputs_of(common: &Common, what: &Loaded, policy: &PolicySetup) -> Vec<PathBuf> {
    match what {
        Loaded::Kernel(kernel) => inputs(common, kernel, policy),
        Loaded::Application(program) => inputs_of_application(common, program),
    }
}

/// Returns every file on disk that a run of a program reads; see [`inputs`].
pub fn inputs_of_application(common: &Common, program: &LoadedApplication) -> Vec<PathBuf> {
    let mut found = program.inputs.clone();
    found.extend(machine_inputs(common, || location_for_program(common)));
    found
}

/// Returns the file of a machine and those that it extends.
fn machine_inputs(common: &Common, find: impl FnOnce() -> Result<Location, Diagnostics>) -> Vec<PathBuf> {
    // stdin is not a file, and cannot be read a second time
    if common.machine.as_deref() == Some(FROM_STDIN) {
        return Vec::new();
    }
    // errors of the file are reported where the machine is loaded
    find().map_or_else(|_| Vec::new(), |location| loader().machine_inputs(&location))
}

/// Returns the machine for a program, with the settings applied: the one that the option names, or
/// the default.
pub fn machine_of_application(common: &Common) -> Result<(Machine, MachineSpec), Diagnostics> {
    machine_at(&location_for_program(common)?, common)
}

fn location_for_program(common: &Common) -> Result<Location, Diagnostics> {
    loader().find_machine(common.machine.as_deref().unwrap_or(DEFAULT_MACHINE), None)
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
    if let Some(policy) = &common.policy {
        settings.push(Setting::of_option("--policy", "policy", policy.clone()));
    }
    let (written, source) = loader().machine_spec(location)?;
    let spec = changed(written, common.mem_latency, &settings)?;
    match Machine::new(&spec, &source) {
        Ok(machine) => {
            warn_of_idle(&settings, &spec);
            Ok((machine, spec))
        }
        // the file itself is valid, so the error is in the settings of the command line
        Err(problems) if is_valid(location) => Err(blame_options(common, problems)),
        Err(problems) => Err(problems),
    }
}

/// Returns whether a machine file is valid without the settings of the command line.
fn is_valid(location: &Location) -> bool {
    loader().machine_spec(location).is_ok_and(|(written, source)| Machine::new(&written, &source).is_ok())
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

/// The settings without effect that were warned of. A command loads the machine again for each
/// kernel, and for each point of a sweep.
static WARNED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// Begins a command in a process that has run others: it warns of everything again.
pub fn forget_warnings() {
    WARNED.lock().unwrap_or_else(PoisonError::into_inner).clear();
}

/// Warns once of each setting of the command line that has no effect on the resulting machine.
fn warn_of_idle(settings: &[Setting], spec: &MachineSpec) {
    if settings.is_empty() {
        return;
    }
    for idle in spec.idle_settings() {
        let message = idle.to_string();
        if settings.iter().any(|setting| idle.concerns(setting.path()))
            && WARNED.lock().is_ok_and(|mut warned| warned.insert(message.clone()))
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

/// Returns the policy for a kernel. The first of these that names one decides: the option, a
/// setting, the kernel's file, the machine.
pub fn policy(common: &Common, kernel: &LoadedKernel, machine: &Machine) -> Result<PolicySetup, Diagnostics> {
    let set =
        common.set.iter().any(|setting| Setting::parse(setting).is_ok_and(|set| set.path() == "policy"));
    match common.policy.is_some() || set {
        true => policies::setup(machine.policy()),
        false => loader().policy_for(kernel, machine),
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
) -> Result<(BlockPaths, OrderDependences), Diagnostics> {
    session.progress.begin(
        format!("executing {}", kernel.workload.name),
        Some(u64::from(block) + 1),
        "blocks",
    );
    let mut source = kernel.workload.source(common.functional_options(machine), &session.monitor)?;
    let mut paths = BlockPaths::default();
    for _ in 0..=block {
        if !source.next_block(&mut paths).map_err(|problems| kernel.with_excerpts(problems))? {
            if let Some(reason) = session.stopped() {
                let message = format!("{} before block {block} was executed", reason.text());
                return Err(Diagnostic::general(kernel.workload.name.clone(), message).into());
            }
            let message = format!("the launch has {} blocks", kernel.workload.blocks());
            return Err(Diagnostic::general(format!("--of-block {block}"), message).into());
        }
        session.monitor.advance(1);
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
    let message =
        format!("{what} the paper model, and machine `{}` has more features: {}", machine.name(), beyond);
    Err(Diagnostic::general(machine.name(), message).hint("`run` and `check` simulate such machines"))
}

/// Returns the timing of a kernel's instructions on a machine.
pub fn timing(kernel: &LoadedKernel, machine: &Machine) -> Result<TimingTable, Diagnostics> {
    TimingTable::new(kernel.workload.program(), machine).map_err(|problems| kernel.with_excerpts(problems))
}
