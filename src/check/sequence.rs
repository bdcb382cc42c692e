//! A program: each launch is simulated and judged, and a kernel boundary orders everything, so that
//! makespans and bounds add up. Copies between launches take no time here. Each launch finds caches
//! and DRAM as the machine says that a launch finds them.

use std::sync::Arc;

use super::ahead::ahead;
use super::judge::{BlockTable, BoundRow, Status};
use super::run::{Checked, Plan, observe_source};
use super::workload::{Workload, WorkloadKind, WorkloadSource};
use crate::base::Cycles;
use crate::bound::Bound;
use crate::diag::{Diagnostic, Diagnostics};
use crate::exec::{Device, Executor, Options};
use crate::machine::Machine;
use crate::path::{BlockPaths, BlockSource};
use crate::program::sequence::{Action, LaunchAction, Sequence};
use crate::sim::PolicySetup;
use crate::trace::Observer;

/// What to run and what to judge; as [`Plan`].
pub struct SequencePlan<'a> {
    /// What reports call the program.
    pub name: &'a str,
    /// The program.
    pub sequence: &'a Arc<Sequence>,
    /// The machine.
    pub machine: &'a Machine,
    /// The bounds.
    pub bounds: &'a [Box<dyn Bound>],
    /// Names of the bounds that decide the verdict; empty for all.
    pub gating: &'a [String],
    /// Fuel of the functional run.
    pub max_instructions_per_block: u64,
    /// Threads for machines with several SMs.
    pub threads: usize,
    /// Whether blocks are executed on a thread of their own.
    pub ahead: bool,
    /// Whether to compare the analyser with the simulator on every warp alone.
    pub self_check: bool,
    /// Memory of the watch for races within a launch, which is wanted for a verdict.
    pub race_memory: Option<usize>,
}

/// A program under one policy, judged.
#[derive(Clone, Debug)]
pub struct SequenceChecked {
    /// Over all launches: what can be added up is. Its blocks are the launches.
    pub total: Checked,
    /// Of each launch.
    pub launches: Vec<LaunchRow>,
}

/// What is kept of a launch besides its makespan and bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchRow {
    /// Index in [`Sequence::statements`].
    pub statement: u32,
    /// Warp executions of instructions.
    pub warp_instructions: u64,
}

/// The launches of one statement of a program, taken together.
#[derive(Clone, Debug, PartialEq)]
pub struct StatementRow {
    /// Index in [`Sequence::statements`].
    pub statement: usize,
    /// How many launches.
    pub launches: u64,
    /// The shortest.
    pub least: Cycles,
    /// The longest.
    pub most: Cycles,
    /// All together.
    pub sum: Cycles,
    /// Warp executions of instructions.
    pub warp_instructions: u64,
    /// Per bound: its sum, if it applies to all of them, and what became of it.
    pub bounds: Vec<(Option<Cycles>, Status)>,
}

impl SequenceChecked {
    /// The statements that launched something, in the order of the file.
    pub fn statements(&self) -> Vec<StatementRow> {
        let mut rows: Vec<Option<StatementRow>> = Vec::new();
        for (row, (makespan, values)) in self.launches.iter().zip(self.total.blocks.iter()) {
            let statement = row.statement as usize;
            if rows.len() <= statement {
                rows.resize(statement + 1, None);
            }
            let sums = rows[statement].get_or_insert_with(|| StatementRow {
                statement,
                launches: 0,
                least: makespan,
                most: makespan,
                sum: Cycles::ZERO,
                warp_instructions: 0,
                bounds: vec![(Some(Cycles::ZERO), Status::Holds); self.total.bounds.len()],
            });
            sums.launches += 1;
            sums.least = sums.least.min(makespan);
            sums.most = sums.most.max(makespan);
            sums.sum += makespan;
            sums.warp_instructions += row.warp_instructions;
            for ((sum, status), value) in sums.bounds.iter_mut().zip(values) {
                *sum = sum.zip(value).map(|(sum, value)| sum + value);
                *status = worse(*status, Status::of(makespan, value));
            }
        }
        rows.into_iter().flatten().collect()
    }

    /// The first launch that exceeds a bound which decides the verdict.
    pub fn first_violation(&self) -> Option<u64> {
        let violated = |(makespan, values): (Cycles, &mut dyn Iterator<Item = Option<Cycles>>)| {
            let mut rows = self.total.bounds.iter().zip(values);
            rows.any(|(bound, value)| bound.gates && Status::of(makespan, value) == Status::Violated)
        };
        let mut blocks = self.total.blocks.iter();
        blocks.position(|(makespan, mut values)| violated((makespan, &mut values))).map(|n| n as u64)
    }
}

/// Over several launches: violated if any is, not applicable if some is not, else holds.
fn worse(a: Status, b: Status) -> Status {
    match (a, b) {
        (Status::Violated, _) | (_, Status::Violated) => Status::Violated,
        (Status::NotApplicable, _) | (_, Status::NotApplicable) => Status::NotApplicable,
        _ => Status::Holds,
    }
}

/// Runs a program under one policy with an observer, and gives back the memory at its end.
///
/// # Errors
/// As [`super::check`], with the launch in which it happened.
pub fn observe_sequence<O: Observer>(
    plan: &SequencePlan,
    policy: &PolicySetup,
    observer: &mut O,
) -> Result<(SequenceChecked, Device), Diagnostics> {
    let mut all: Option<SequenceChecked> = None;
    let mut device = start(plan.sequence)?;
    for action in plan.sequence.actions() {
        device = match action.map_err(|wrong| wrong.problems)? {
            Action::Launch(step) => {
                tracing::debug!(launch = step.number, "running");
                let (checked, device) = one(plan, policy, observer, &step, device)
                    .map_err(|problems| in_launch(problems, plan.sequence, &step))?;
                let all = all.get_or_insert_with(|| SequenceChecked {
                    total: empty(&checked, plan.bounds.len()),
                    launches: Vec::new(),
                });
                all.launches.push(LaunchRow {
                    statement: step.statement as u32,
                    warp_instructions: checked.warp_instructions,
                });
                add(&mut all.total, checked);
                device
            }
            other => copied(device, &other)?,
        };
    }
    // a program launches something, or it is none
    let none = || Diagnostic::general(plan.name, "the program launches no kernel");
    Ok((all.ok_or_else(none)?, device))
}

/// One launch, judged.
fn one<O: Observer>(
    plan: &SequencePlan,
    policy: &PolicySetup,
    observer: &mut O,
    step: &LaunchAction,
    device: Device,
) -> Result<(Checked, Device), Diagnostics> {
    let sequence = plan.sequence;
    let kernel = sequence.kernel(step);
    let workload = Workload {
        name: plan.name.to_owned(),
        kind: WorkloadKind::Step { sequence: Arc::clone(sequence), step: Box::new(step.clone()) },
    };
    let one = Plan {
        workload: &workload,
        machine: plan.machine,
        policies: std::slice::from_ref(policy),
        bounds: plan.bounds,
        gating: plan.gating,
        max_instructions_per_block: plan.max_instructions_per_block,
        threads: plan.threads,
        ahead: plan.ahead,
        self_check: plan.self_check,
        race_memory: plan.race_memory,
    };
    let executor = Executor::on(device, kernel.module, &kernel.program, &step.launch, one.options()?)?;
    let mut source = WorkloadSource::Launch(Box::new(executor));
    let mut checked =
        ahead(&mut source, one.runs_ahead(), |blocks| observe_source(&one, policy, blocks, observer))?;
    checked.ordered_by_time(source.time_dependences(), &kernel.program);
    match source {
        WorkloadSource::Launch(executor) => Ok((checked, executor.into_device())),
        WorkloadSource::Micro(_) => Err(Diagnostic::general(plan.name, "a step is a launch").into()),
    }
}

/// A sum of nothing, of the same shape.
fn empty(like: &Checked, bounds: usize) -> Checked {
    let zero = |row: &BoundRow| BoundRow {
        value: Some(Cycles::ZERO),
        status: Status::Holds,
        reason: None,
        ..row.clone()
    };
    Checked {
        makespan: Cycles::ZERO,
        warps: Vec::new(),
        bounds: like.bounds.iter().map(zero).collect(),
        blocks: BlockTable::new(bounds),
        issues: 0,
        stalls: Default::default(),
        memory: None,
        sub_cores: vec![Default::default(); like.sub_cores.len()],
        warp_instructions: 0,
        thread_instructions: 0,
        self_checked_warps: 0,
        notes: Vec::new(),
        races: Vec::new(),
        ..like.clone()
    }
}

fn add(total: &mut Checked, one: Checked) {
    total.blocks.push(one.makespan, one.bounds.iter().map(|bound| bound.value));
    total.makespan += one.makespan;
    total.issues += one.issues;
    total.stalls += one.stalls;
    total.warp_instructions += one.warp_instructions;
    total.thread_instructions += one.thread_instructions;
    total.self_checked_warps += one.self_checked_warps;
    if let Some(memory) = one.memory {
        *total.memory.get_or_insert_default() += memory;
    }
    total.sub_cores.iter_mut().zip(one.sub_cores).for_each(|(sum, used)| *sum += used);
    for (sum, bound) in total.bounds.iter_mut().zip(one.bounds) {
        sum.value = sum.value.zip(bound.value).map(|(sum, value)| sum + value);
        sum.status = worse(sum.status, bound.status);
        sum.reason = sum.reason.take().or(bound.reason);
    }
    let new_notes = one.notes.into_iter().filter(|note| !total.notes.contains(note)).collect::<Vec<_>>();
    total.notes.extend(new_notes);
    let new_races = one.races.into_iter().filter(|race| !total.races.contains(race)).collect::<Vec<_>>();
    total.races.extend(new_races);
}

/// Memory before the first step.
fn start(sequence: &Sequence) -> Result<Device, Diagnostics> {
    let modules = sequence.modules.iter().map(|module| (&module.memory, module.symbols.as_slice()));
    Device::new(modules, &sequence.buffers)
}

fn copied(mut device: Device, action: &Action) -> Result<Device, Diagnostics> {
    let written = match action {
        Action::Launch(_) => true,
        Action::Write { to, bytes } => device.write(*to, bytes),
        Action::Copy { from, to, bytes } => {
            let bytes = device.bytes(*from, *bytes).map(<[u8]>::to_vec);
            bytes.is_some_and(|bytes| device.write(*to, &bytes))
        }
    };
    if written { Ok(device) } else { Err(Diagnostic::general("program", "a copy outside of memory").into()) }
}

/// Memory before a launch: those before it run, without a thought of time.
///
/// # Errors
/// What a kernel does wrong, with the launch in which it happened.
pub(super) fn before(sequence: &Sequence, number: u64, options: Options) -> Result<Device, Diagnostics> {
    let options =
        Options { banks: None, traffic: false, constants: false, divergence: false, races: None, ..options };
    let mut paths = BlockPaths::default();
    execute_sequence(sequence, Some(number), options, &mut |_, run| {
        while run.next_block(&mut paths)? {}
        Ok(())
    })
}

/// Executes the launches of a program, all of them or those before one; `blocks` has to take every
/// block of each. Gives back the memory at the end.
///
/// # Errors
/// What a kernel does wrong, with the launch in which it happened.
pub fn execute_sequence(
    sequence: &Sequence,
    until: Option<u64>,
    options: Options,
    blocks: &mut dyn FnMut(&LaunchAction, &mut Executor) -> Result<(), Diagnostics>,
) -> Result<Device, Diagnostics> {
    let mut device = start(sequence)?;
    for action in sequence.actions() {
        device = match action.map_err(|wrong| wrong.problems)? {
            Action::Launch(step) if Some(step.number) == until => break,
            Action::Launch(step) => {
                let kernel = sequence.kernel(&step);
                let run = Executor::on(device, kernel.module, &kernel.program, &step.launch, options);
                let done = run.and_then(|mut run| {
                    blocks(&step, &mut run)?;
                    Ok(run.into_device())
                });
                done.map_err(|problems| in_launch(problems, sequence, &step))?
            }
            other => copied(device, &other)?,
        };
    }
    Ok(device)
}

/// The same problems, with the launch in which they came up.
fn in_launch(problems: Diagnostics, sequence: &Sequence, step: &LaunchAction) -> Diagnostics {
    let line = sequence.statements[step.statement].line;
    let counters: Vec<String> =
        step.counters.iter().map(|(name, value)| format!(", {name} = {value}")).collect();
    let launch = format!("in launch {} (line {line} of the program{})", step.number, counters.concat());
    let mut told = Diagnostics::new();
    for problem in problems.list() {
        let message = format!("{launch}: {}", problem.message);
        told.push(Diagnostic { message, ..problem.clone() });
    }
    told
}
