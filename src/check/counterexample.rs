//! A violation as a folder that anybody can replay: kernel, machine, schedule, README.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::judge::Status;
use super::run::{Checked, Plan, observe};
use super::workload::{Workload, WorkloadKind};
use crate::base::{BlockId, Cycle};
use crate::diag::{Diagnostic, Diagnostics};
use crate::machine::{Machine, MachineSpec};
use crate::micro;
use crate::sim::PolicySetup;
use crate::sim::policy::Schedule;
use crate::trace::{BlockStart, Issue, Observer};

/// What was violated.
pub struct Inputs<'a> {
    /// The kernel.
    pub workload: &'a Workload,
    /// The machine.
    pub machine: &'a Machine,
    /// The machine as it was read, settings applied.
    pub machine_spec: &'a MachineSpec,
    /// The policy that did it.
    pub policy: &'a PolicySetup,
    /// The run.
    pub run: &'a Checked,
    /// Files a real kernel needs: its launch file under the name `launch.ron`, or the program that it is a
    /// launch of as `program.ron`; its PTX, its data.
    pub files: &'a [(String, Vec<u8>)],
    /// Seed of random buffer contents.
    pub seed: u64,
    /// Fuel of the functional run.
    pub max_instructions_per_block: u64,
}

/// The files of a counterexample folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counterexample {
    /// The folder's name.
    pub name: String,
    /// File names and contents.
    pub files: Vec<(String, Vec<u8>)>,
    /// The command that replays it, to be run in the folder.
    pub command: String,
}

/// Longer schedules are left out; the policy then stands in the command.
const MAX_ISSUES: usize = 4_000_000;

/// Puts the folder together.
///
/// # Errors
/// If the run cannot be repeated or the machine cannot be written down.
pub fn counterexample(inputs: &Inputs) -> Result<Counterexample, Diagnostics> {
    let schedule = record(inputs)?;
    let kernel_file = match &inputs.workload.kind {
        WorkloadKind::Micro(_) => "kernel.warp".to_owned(),
        WorkloadKind::Launch { .. } => "launch.ron".to_owned(),
        WorkloadKind::Step { step, .. } => format!("program.ron --launch {}", step.number),
    };
    let scheduler = match &schedule {
        Some(_) => "replay:schedule.replay".to_owned(),
        None => inputs.policy.kind().to_string(),
    };
    let mut command = format!("warpbound check {kernel_file} --machine machine.ron --scheduler {scheduler}");
    if inputs.seed != 0 {
        let _ = write!(command, " --seed {}", inputs.seed);
    }
    let mut files = vec![("machine.ron".to_owned(), machine_file(inputs.machine_spec)?.into_bytes())];
    match &inputs.workload.kind {
        WorkloadKind::Micro(kernel) => {
            // what the file's own defaults were is said by the command
            let bare = micro::MicroKernel { machine: None, scheduler: None, ..(**kernel).clone() };
            files.push((kernel_file, micro::write(&bare, &headline(inputs)).into_bytes()));
        }
        WorkloadKind::Launch { .. } | WorkloadKind::Step { .. } => files.extend(inputs.files.iter().cloned()),
    }
    files.extend(schedule.map(|text| ("schedule.replay".to_owned(), text.into_bytes())));
    files.push(("README".to_owned(), readme(inputs, &command).into_bytes()));
    let name = format!("{}-{}", inputs.workload.name, inputs.run.scheduler)
        .replace([':', '/', '\\', ' ', '[', ']'], "-");
    Ok(Counterexample { name, files, command })
}

fn machine_file(spec: &MachineSpec) -> Result<String, Diagnostics> {
    let style = ron::ser::PrettyConfig::new()
        .struct_names(true)
        .extensions(ron::extensions::Extensions::IMPLICIT_SOME);
    ron::ser::to_string_pretty(spec, style)
        .map(|text| text + "\n")
        .map_err(|error| Diagnostic::general("machine.ron", error.to_string()).into())
}

fn headline(inputs: &Inputs) -> String {
    let broken = inputs.run.bounds.iter().filter(|bound| bound.status == Status::Violated);
    let broken: Vec<String> = broken
        .map(|b| format!("{} {}", b.name, b.value.map_or_else(String::new, |v| v.to_string())))
        .collect();
    format!(
        "{} under {}: makespan {} exceeds {}",
        inputs.workload.name,
        inputs.run.scheduler,
        inputs.run.makespan,
        broken.join(", ")
    )
}

fn readme(inputs: &Inputs, command: &str) -> String {
    let mut text = format!(
        "{}\n\nFound by warpbound {} on machine `{}` (machine.ron; digest {:016x}).\nReplay, in this folder:\n\n    {command}\n\nBounds of this run:\n",
        headline(inputs),
        env!("CARGO_PKG_VERSION"),
        inputs.machine.name(),
        inputs.machine.digest()
    );
    for bound in inputs.run.judged() {
        let value = bound.value.map_or_else(|| "-".to_owned(), |v| v.to_string());
        let _ = writeln!(text, "    {:<8} {value:>12}  {}", bound.name, bound.status.name());
    }
    text
}

/// The schedule of the run as a replay file, unless it is too long to be of use.
fn record(inputs: &Inputs) -> Result<Option<String>, Diagnostics> {
    let policies = std::slice::from_ref(inputs.policy);
    let plan = Plan {
        workload: inputs.workload,
        machine: inputs.machine,
        policies,
        bounds: &[],
        gating: &[],
        max_instructions_per_block: inputs.max_instructions_per_block,
        threads: 1,
        ahead: false,
        self_check: false,
        race_memory: None,
    };
    let mut recorder = ScheduleRecorder::default();
    observe(&plan, inputs.policy, &mut recorder)?;
    Ok(recorder.text())
}

/// Keeps the issue decisions of a run, to write them as a replay file.
#[derive(Clone, Debug, Default)]
pub struct ScheduleRecorder {
    issues: Vec<Issue>,
    starts: BTreeMap<BlockId, Cycle>,
    overflowed: bool,
}

impl ScheduleRecorder {
    /// The replay file; nothing if the run was too long to be kept.
    pub fn text(&self) -> Option<String> {
        let start = |block: BlockId| self.starts.get(&block).copied().unwrap_or(Cycle::ZERO);
        (!self.overflowed).then(|| Schedule::text(&self.issues, start))
    }
}

impl Observer for ScheduleRecorder {
    fn block_started(&mut self, start: &BlockStart) {
        self.starts.insert(start.block, start.at);
    }

    fn issued(&mut self, issue: &Issue) {
        if self.issues.len() < MAX_ISSUES {
            self.issues.push(*issue);
        } else {
            self.overflowed = true;
        }
    }
}
