//! A violation as a folder from which anyone can replay it: kernel, machine, schedule, README.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::judged_launch::JudgedLaunch;
use super::options::RunOptions;
use super::plan::Plan;
use super::replay::observe;
use super::workload::{Workload, WorkloadKind};
use warpbound_core::base::{BlockId, Cycle, ProgressMonitor};
use warpbound_core::diag::{Diagnostic, Diagnostics, to_ron};
use warpbound_core::machine::{Machine, MachineSpec, PolicyKind};
use warpbound_front::micro;
use warpbound_sim::PolicySetup;
use warpbound_sim::policy::Schedule;
use warpbound_trace::trace::{Event, Issue, Needs, Observer};

/// The inputs of a run that violated a bound.
pub struct Inputs<'a> {
    /// The kernel.
    pub workload: &'a Workload,
    /// The machine.
    pub machine: &'a Machine,
    /// The machine description as it was read, with settings applied.
    pub machine_spec: &'a MachineSpec,
    /// The policy under which the bound was violated.
    pub policy: &'a PolicySetup,
    /// The run.
    pub run: &'a JudgedLaunch,
    /// The files that a real kernel needs: its launch file under the name `launch.ron`, or its
    /// program under the name `program.ron`; its PTX and its data.
    pub files: &'a [(String, Vec<u8>)],
    /// The seed of random buffer contents.
    pub seed: u64,
    /// The names of the gating bounds, if they were chosen.
    pub gating: &'a [String],
    /// The largest number of instructions that the functional run executes per block.
    pub max_instructions_per_block: u64,
    /// The monitor, which can stop the recording of the schedule.
    pub monitor: &'a ProgressMonitor,
}

/// The largest number of issues of a schedule that is written; for a longer one the command names
/// the policy.
const MAX_ISSUES: usize = 4_000_000;

/// Returns the name of a folder for a kernel under a policy.
pub fn folder_name(kernel: &str, policy: &PolicySetup) -> String {
    format!("{kernel}-{}", policy.kind()).replace([':', '/', '\\', ' ', '[', ']'], "-")
}

/// Returns the command that shows the violation again, to be run in the folder.
pub fn command(inputs: &Inputs) -> String {
    let kernel = match &inputs.workload.kind {
        WorkloadKind::Micro(_) => KERNEL.to_owned(),
        WorkloadKind::Launch { .. } => LAUNCH.to_owned(),
        WorkloadKind::Trace(kernel) => kernel.file_name().to_owned(),
        WorkloadKind::Step { step, .. } => format!("{PROGRAM} --launch {}", step.number),
    };
    let policy = policy(inputs);
    let mut command = format!("warpbound check {kernel} --machine {MACHINE} --policy {policy}");
    if inputs.seed != 0 {
        let _ = write!(command, " --seed {}", inputs.seed);
    }
    if !inputs.gating.is_empty() {
        let _ = write!(command, " --bound {}", inputs.gating.join(","));
    }
    command
}

/// Returns the recorded schedule, or the policy itself if the schedule is too long or the machine has a
/// pipeline: there, a warp may not be ready again in the cycle in which it issued, because another
/// warp was fetched or placed first.
fn policy(inputs: &Inputs) -> PolicyKind {
    let recorded = inputs.run.issues <= MAX_ISSUES as u64 && inputs.machine.pipeline().is_none();
    if recorded { PolicyKind::Replay(SCHEDULE.to_owned()) } else { inputs.policy.kind() }
}

const KERNEL: &str = "kernel.warp";
const LAUNCH: &str = "launch.ron";
const PROGRAM: &str = "program.ron";
const MACHINE: &str = "machine.ron";
const SCHEDULE: &str = "schedule.replay";

/// Returns the names and the contents of the files of the folder.
///
/// # Errors
/// Returns an error if the run cannot be repeated or the machine cannot be written.
pub fn counterexample(inputs: &Inputs) -> Result<Vec<(String, Vec<u8>)>, Diagnostics> {
    let mut files = replay(inputs)?;
    files.push(("README".to_owned(), readme(inputs, &command(inputs)).into_bytes()));
    Ok(files)
}

/// Returns the names and the contents of the files from which a run can be replayed: those of a
/// counterexample without its README.
///
/// # Errors
/// Returns an error if the run cannot be repeated or the machine cannot be written.
pub fn replay(inputs: &Inputs) -> Result<Vec<(String, Vec<u8>)>, Diagnostics> {
    let schedule = match policy(inputs) {
        PolicyKind::Replay(_) => record(inputs)?,
        _ => None,
    };
    let mut files = vec![(MACHINE.to_owned(), machine_file(inputs.machine_spec)?.into_bytes())];
    match &inputs.workload.kind {
        WorkloadKind::Micro(kernel) => {
            // file names are relative to the kernel file, so that the folder is self-contained
            let own = micro::MicroKernel {
                machine: Some(MACHINE.to_owned()),
                policy: Some(policy(inputs)),
                ..(**kernel).clone()
            };
            files.push((KERNEL.to_owned(), micro::write(&own, &headline(inputs)).into_bytes()));
        }
        // the trace stays where it is
        WorkloadKind::Trace(_) => {}
        WorkloadKind::Launch { .. } | WorkloadKind::Step { .. } => files.extend(inputs.files.iter().cloned()),
    }
    files.extend(schedule.map(|text| (SCHEDULE.to_owned(), text.into_bytes())));
    Ok(files)
}

/// Returns the text of a machine file with this content.
///
/// # Errors
/// Returns an error if the machine cannot be written.
pub fn machine_file(spec: &MachineSpec) -> Result<String, Diagnostics> {
    Ok(to_ron("machine.ron", spec, ron::extensions::Extensions::IMPLICIT_SOME)? + "\n")
}

fn headline(inputs: &Inputs) -> String {
    let broken = inputs.run.bounds.iter().filter(|bound| bound.violated);
    let broken: Vec<String> = broken
        .map(|bound| match &bound.value {
            Ok(value) => format!("{} {value}", bound.name),
            // the sum over all blocks has no value, because the bound does not apply to some of
            // them
            Err(_) => format!("{} in a block", bound.name),
        })
        .collect();
    let run =
        format!("{} under {}: makespan {}", inputs.workload.name, inputs.run.policy, inputs.run.makespan);
    match broken.is_empty() {
        true => run,
        false => format!("{run} exceeds {}", broken.join(", ")),
    }
}

fn readme(inputs: &Inputs, command: &str) -> String {
    let mut text = format!(
        "{}\n\nFound by warpbound {} on machine `{}` (machine.ron; digest {:016x}).\nReplay, in this folder:\n\n    {command}\n\n{}Bounds of this run:\n",
        headline(inputs),
        env!("CARGO_PKG_VERSION"),
        inputs.machine.name(),
        inputs.machine.digest(),
        match &inputs.workload.kind {
            WorkloadKind::Micro(_) =>
                "kernel.warp names its machine and schedule: it shows the same without options.\n\n",
            WorkloadKind::Trace(_) =>
                "The trace is not in this folder: the command names it as it was named.\n\n",
            WorkloadKind::Launch { .. } | WorkloadKind::Step { .. } => "",
        }
    );
    for bound in inputs.run.judged() {
        let value = bound.value.as_ref().map_or_else(|_| "-".to_owned(), ToString::to_string);
        let _ = writeln!(text, "    {:<8} {value:>12}  {}", bound.name, bound.verdict().name());
    }
    text
}

/// Records the schedule of the run as a replay file; `None` if it is too long.
fn record(inputs: &Inputs) -> Result<Option<String>, Diagnostics> {
    let policies = std::slice::from_ref(inputs.policy);
    let options = RunOptions::new(inputs.max_instructions_per_block, inputs.monitor);
    let plan = Plan { workload: inputs.workload, machine: inputs.machine, policies, options };
    let mut recorder = ScheduleRecorder::default();
    let again = observe(&plan, &mut recorder)?;
    if !again.is_complete() {
        let problem =
            Diagnostic::general(inputs.workload.name.clone(), "ended before its schedule was recorded");
        return Err(problem.into());
    }
    Ok(recorder.text())
}

/// Records the issue decisions of a run, to write them as a replay file.
#[derive(Clone, Debug, Default)]
pub struct ScheduleRecorder {
    issues: Vec<Issue>,
    starts: BTreeMap<BlockId, Cycle>,
    overflowed: bool,
}

impl ScheduleRecorder {
    /// Returns the replay file, or `None` if the run was too long to be recorded.
    pub fn text(&self) -> Option<String> {
        let start = |block: BlockId| self.starts.get(&block).copied().unwrap_or(Cycle::ZERO);
        (!self.overflowed).then(|| Schedule::text(&self.issues, start))
    }
}

impl Observer for ScheduleRecorder {
    fn needs(&self) -> Needs {
        Needs::IN_ORDER
    }

    fn on(&mut self, event: &Event) {
        match event {
            Event::BlockStarted(start) => {
                self.starts.insert(start.block, start.at);
            }
            Event::Issued(issue) => {
                if self.issues.len() < MAX_ISSUES {
                    self.issues.push(*issue);
                } else {
                    self.overflowed = true;
                }
            }
            Event::Sm(_)
            | Event::Idled(_)
            | Event::BarrierReleased(_)
            | Event::WarpFinished(_)
            | Event::BlockEnded { .. }
            | Event::Sampled(_) => {}
        }
    }
}
