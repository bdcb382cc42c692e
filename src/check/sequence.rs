//! A program: each launch is simulated and judged, and a kernel boundary orders everything, so that
//! makespans and bounds add up. Copies between launches take no time here. Each launch finds caches
//! and DRAM as the machine says that a launch finds them.

use std::sync::Arc;

use super::ahead::ahead;
use super::checked::{Checked, Failed};
use super::judge::{BlockTable, BoundRow};
use super::plan::Plan;
use super::run::observe_source;
use super::steps::{copied, in_launch, start};
use super::workload::{Workload, WorkloadKind};
use crate::base::{BlockId, Cycles, Watch};
use crate::bound::Bound;
use crate::diag::{Diagnostic, Diagnostics};
use crate::exec::{Device, Executor};
use crate::machine::Machine;
use crate::program::sequence::{Action, Kernel, LaunchAction, Sequence};
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
    /// Hears of every block that is through, and may end the run.
    pub watch: &'a Watch,
}

impl<'a> SequencePlan<'a> {
    /// A launch of the program by itself.
    pub(super) fn workload(&self, step: &LaunchAction) -> Workload {
        Workload {
            name: self.name.to_owned(),
            kind: WorkloadKind::Step { sequence: Arc::clone(self.sequence), step: Box::new(step.clone()) },
        }
    }

    /// The plan of one launch.
    pub(super) fn of_launch<'p>(&self, workload: &'p Workload, policies: &'p [PolicySetup]) -> Plan<'p>
    where
        'a: 'p,
    {
        Plan {
            workload,
            machine: self.machine,
            policies,
            bounds: self.bounds,
            gating: self.gating,
            max_instructions_per_block: self.max_instructions_per_block,
            threads: self.threads,
            ahead: self.ahead,
            self_check: self.self_check,
            race_memory: self.race_memory,
            watch: self.watch,
        }
    }
}

/// A program that ended with an error.
#[derive(Debug)]
pub struct SequenceFailed {
    /// The error.
    pub problems: Diagnostics,
    /// The launches before it, if there were any. What was violated by them or by the one that failed
    /// stays so.
    pub judged: Option<Box<SequenceChecked>>,
}

impl From<Diagnostics> for SequenceFailed {
    fn from(problems: Diagnostics) -> Self {
        Self { problems, judged: None }
    }
}

/// A program under one policy, judged.
#[derive(Clone, Debug)]
pub struct SequenceChecked {
    /// Over all launches: what can be added up is. Its blocks are the launches that came to their end.
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
    /// Each bound of the program over these launches.
    pub bounds: Vec<StatementBound>,
}

/// A bound over the launches of one statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatementBound {
    /// Its sum, if it applies to all of them.
    pub value: Option<Cycles>,
    /// Whether one of them exceeds it.
    pub violated: bool,
}

impl SequenceChecked {
    /// The statements that launched something, in the order of the file.
    pub fn statements(&self) -> Vec<StatementRow> {
        let mut rows: Vec<Option<StatementRow>> = Vec::new();
        for (row, (_, makespan, values)) in self.launches.iter().zip(self.total.blocks.iter()) {
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
                bounds: vec![
                    StatementBound { value: Some(Cycles::ZERO), violated: false };
                    self.total.bounds.len()
                ],
            });
            sums.launches += 1;
            sums.least = sums.least.min(makespan);
            sums.most = sums.most.max(makespan);
            sums.sum += makespan;
            sums.warp_instructions += row.warp_instructions;
            for (sum, value) in sums.bounds.iter_mut().zip(values) {
                sum.value = sum.value.zip(value).map(|(sum, value)| sum + value);
                sum.violated |= value.is_some_and(|value| makespan > value);
            }
        }
        rows.into_iter().flatten().collect()
    }

    /// Of a launch that did not come to its end only a violation counts.
    fn add_part(&mut self, part: &Checked) {
        for (sum, bound) in self.total.bounds.iter_mut().zip(&part.bounds) {
            sum.violated |= bound.violated;
        }
    }

    /// The first launch that exceeds a bound which decides the verdict.
    pub fn first_violation(&self) -> Option<u64> {
        let violated = |(makespan, values): (Cycles, &mut dyn Iterator<Item = Option<Cycles>>)| {
            let mut rows = self.total.bounds.iter().zip(values);
            rows.any(|(bound, value)| bound.gates && value.is_some_and(|value| makespan > value))
        };
        let mut blocks = self.total.blocks.iter();
        blocks.position(|(_, makespan, mut values)| violated((makespan, &mut values))).map(|n| n as u64)
    }
}

/// A run of a program that is under way, launch by launch.
#[derive(Default)]
pub(super) struct Tally(Option<SequenceChecked>);

impl Tally {
    /// Adds what came of a launch. Whether the run goes on: a launch that was ended early ends it.
    pub fn add(&mut self, plan: &SequencePlan, step: &LaunchAction, checked: Checked) -> bool {
        let all = self.begun(plan, &checked);
        if !checked.is_complete() {
            all.add_part(&checked);
            return false;
        }
        let row =
            LaunchRow { statement: step.statement as u32, warp_instructions: checked.warp_instructions };
        all.launches.push(row);
        add(&mut all.total, checked);
        true
    }

    /// Adds what was judged of a launch that failed, and says in which launch that was.
    pub fn fail(&mut self, plan: &SequencePlan, step: &LaunchAction, failed: &Failed) -> Diagnostics {
        for part in &failed.judged {
            self.begun(plan, part).add_part(part);
        }
        in_launch(&failed.problems, plan.sequence, step)
    }

    fn begun(&mut self, plan: &SequencePlan, like: &Checked) -> &mut SequenceChecked {
        let begin = || SequenceChecked { total: empty(like, plan), launches: Vec::new() };
        self.0.get_or_insert_with(begin)
    }

    /// The result of a run that ended so, with what it left.
    pub fn end<T>(
        self,
        plan: &SequencePlan,
        ended: Result<T, Diagnostics>,
    ) -> Result<(SequenceChecked, T), SequenceFailed> {
        let Self(mut all) = self;
        if let Some(SequenceChecked { total, .. }) = all.as_mut().filter(|all| all.launches.is_empty()) {
            // a bound that nothing was held against does not hold
            let open = total.bounds.iter_mut().filter(|row| !row.violated);
            open.for_each(|row| row.withdraw("no launch was simulated to its end"));
        }
        match ended {
            Ok(left) => {
                // a program launches something, or it is none
                let none =
                    || Diagnostics::from(Diagnostic::general(plan.name, "the program launches no kernel"));
                Ok((all.ok_or_else(none)?, left))
            }
            Err(problems) => Err(SequenceFailed { problems, judged: all.map(Box::new) }),
        }
    }
}

/// Runs a program under one policy with an observer, and gives back the memory at its end.
///
/// # Errors
/// As [`super::check`], with the launch in which it happened.
pub fn observe_sequence(
    plan: &SequencePlan,
    policy: &PolicySetup,
    observer: &mut dyn Observer,
) -> Result<(SequenceChecked, Device), SequenceFailed> {
    let mut tally = Tally::default();
    let ended = every_launch(plan, policy, observer, &mut tally);
    tally.end(plan, ended)
}

/// Launch after launch, until somebody ends the run.
fn every_launch(
    plan: &SequencePlan,
    policy: &PolicySetup,
    observer: &mut dyn Observer,
    tally: &mut Tally,
) -> Result<Device, Diagnostics> {
    let mut device = start(plan.sequence)?;
    for action in plan.sequence.actions() {
        device = match action.map_err(|wrong| wrong.problems)? {
            Action::Launch(step) => {
                tracing::debug!(launch = step.number, "running");
                let (checked, device) = one(plan, policy, observer, &step, device)
                    .map_err(|failed| tally.fail(plan, &step, &failed))?;
                if !tally.add(plan, &step, checked) {
                    return Ok(device);
                }
                device
            }
            other => copied(device, &other)?,
        };
    }
    Ok(device)
}

/// One launch, judged.
fn one(
    plan: &SequencePlan,
    policy: &PolicySetup,
    observer: &mut dyn Observer,
    step: &LaunchAction,
    device: Device,
) -> Result<(Checked, Device), Failed> {
    let workload = plan.workload(step);
    let one = plan.of_launch(&workload, std::slice::from_ref(policy));
    let Kernel { module, program } = plan.sequence.kernel(step);
    let executor = Executor::on(device, *module, program, &step.launch, one.options()?)?;
    let mut executor = executor.watched(plan.watch);
    let ended =
        ahead(&mut executor, one.runs_ahead(), |blocks| observe_source(&one, policy, blocks, observer));
    let dependences = executor.time_dependences();
    let checked = ended.map_err(|failed| failed.ordered_by_time(&dependences, program))?;
    Ok((checked.ordered_by_time(dependences, program), executor.into_device()))
}

/// A sum of nothing, of the same shape.
fn empty(like: &Checked, plan: &SequencePlan) -> Checked {
    let zero = |row: &BoundRow| BoundRow { value: Ok(Cycles::ZERO), violated: false, ..row.clone() };
    Checked {
        makespan: Cycles::ZERO,
        warps: Vec::new(),
        bounds: like.bounds.iter().map(zero).collect(),
        blocks: BlockTable::new(plan.bounds.len()),
        launch_blocks: u32::try_from(plan.sequence.launches).unwrap_or(u32::MAX),
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
    let launch = BlockId::from_index(total.blocks.len());
    total.blocks.enter(
        launch,
        one.makespan,
        one.bounds.iter().map(|bound| bound.value.as_ref().ok().copied()),
    );
    total.makespan += one.makespan;
    total.resident_blocks = total.resident_blocks.max(one.resident_blocks);
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
        match (&mut sum.value, bound.value) {
            (Ok(sum), Ok(value)) => *sum += value,
            (Ok(_), Err(why)) => sum.value = Err(why),
            (Err(_), _) => {}
        }
        sum.violated |= bound.violated;
        sum.left_out &= bound.left_out;
    }
    let new_notes = one.notes.into_iter().filter(|note| !total.notes.contains(note)).collect::<Vec<_>>();
    total.notes.extend(new_notes);
    let new_races = one.races.into_iter().filter(|race| !total.races.contains(race)).collect::<Vec<_>>();
    total.races.extend(new_races);
}
