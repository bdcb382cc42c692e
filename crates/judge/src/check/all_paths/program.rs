//! The bound over all paths of a program: the sum of the bounds of its launches.
//!
//! All accesses of a launch come before those of the next one, and copies between launches take no
//! simulated time, so that a bound of the program is the sum of bounds of its launches. Which launches
//! there are, their shapes and their arguments are stated in the program file, so they are the same
//! for every input. Of the contents of memory, a launch knows what is declared constant and what no
//! step of the program writes. Of the lines in the L2, it knows those that earlier launches leave for
//! every input ([`PipelineAnalyser::leaves`](warpbound_bound::PipelineAnalyser::leaves)).

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use super::super::application::{Application, Launched};
use super::super::steps::{copied, in_launch, start};
use super::super::verdict::PartRow;
use super::super::workload::{Workload, WorkloadKind};
use super::{AllPathsBound, AllPathsOutcome, analysed, walk};
use warpbound_bound::{Guarantee, MemoryLeft, NotApplicable, Schedules, StaticKind};
use warpbound_core::base::{Cycles, Pc, ProgressMonitor};
use warpbound_core::diag::Diagnostics;
use warpbound_core::machine::{Machine, PolicyKind};
use warpbound_core::path::{BlockSource, Footprint};
use warpbound_core::program::launch::Launch;
use warpbound_core::program::loop_bounds::ProgramLoopBounds;
use warpbound_core::program::sequence::{Action, LaunchAction, Sequence};
use warpbound_exec::all_paths::{AllPaths, NoPaths};
use warpbound_exec::{Device, Executor, Options};

/// The bound over all paths of a program. It has a value only for schedules for which it holds
/// ([`Self::under`]).
#[derive(Clone, Debug)]
pub struct ProgramPaths {
    /// Every launch, in order.
    pub launches: Vec<LaunchPaths>,
    /// The name of the kernel that each statement launches.
    entries: Vec<String>,
}

/// The analysis of all paths of a launch of a program.
#[derive(Clone, Debug)]
pub struct LaunchPaths {
    /// The launch.
    pub launched: Launched,
    /// The result. It is never [`AllPathsOutcome::Stopped`].
    pub outcome: Arc<AllPathsOutcome>,
}

impl LaunchPaths {
    /// Returns the bound of the launch.
    ///
    /// # Errors
    /// Returns the premise that does not hold.
    pub fn bound(&self) -> Result<&AllPathsBound, NotApplicable> {
        match &*self.outcome {
            AllPathsOutcome::Bound(bound) => Ok(bound),
            AllPathsOutcome::NotApplicable(why) => Err(why.clone()),
            AllPathsOutcome::Stopped => Err(NotApplicable::new("it was ended before")),
        }
    }

    /// Returns the value for these schedules.
    ///
    /// # Errors
    /// Returns the first premise that does not hold for them.
    pub fn under(&self, schedules: Schedules) -> Result<Guarantee, NotApplicable> {
        self.bound()?.under(schedules)
    }
}

impl ProgramPaths {
    /// Returns the value for these schedules: the sum over the launches.
    ///
    /// # Errors
    /// Returns the first launch that has no value for them, with the premise that does not hold.
    pub fn under(&self, schedules: &Schedules) -> Result<Guarantee, NotApplicable> {
        self.launches.iter().try_fold(Guarantee::OF_NOTHING, |sum, launch| {
            let value = launch.under(schedules.clone()).map_err(|why| {
                let Launched { number, statement, .. } = launch.launched;
                NotApplicable::new(format!("launch {number} ({}): {why}", self.entries[statement]))
            })?;
            sum.plus(value)
        })
    }

    /// Returns the bounds of all launches, unless one of them has none.
    fn bounds(&self) -> Option<Vec<&AllPathsBound>> {
        self.launches.iter().map(|launch| launch.bound().ok()).collect()
    }

    /// Returns the parts of the sum, if the parts of each launch are known.
    pub fn parts(&self) -> Vec<PartRow> {
        let mut sum: Vec<PartRow> = Vec::new();
        for bound in self.bounds().unwrap_or_default() {
            if bound.parts.is_empty() && bound.value.cycles() > Cycles::ZERO {
                return Vec::new();
            }
            super::super::judged_application::add_parts(&mut sum, bound.parts.clone());
        }
        sum
    }

    /// Returns the bounds on the paths of a run that the launches extend to all paths, each once; empty
    /// if some launch has no bound.
    pub fn kinds(&self) -> Vec<StaticKind> {
        let mut kinds = Vec::new();
        for bound in self.bounds().unwrap_or_default() {
            if !kinds.contains(&bound.kind) {
                kinds.push(bound.kind);
            }
        }
        kinds
    }

    /// Returns the number of warps of all launches, and the number of those that have a single path;
    /// `None` if some launch has no bound.
    pub fn warps(&self) -> Option<(u64, u64)> {
        let of = |bound: &&AllPathsBound| (bound.warps, bound.with_one_path);
        Some(self.bounds()?.iter().map(of).fold((0, 0), |(all, one), (a, b)| (all + a, one + b)))
    }

    /// Returns whether the number of barriers depends on the path in some launch.
    pub fn irregular(&self) -> bool {
        self.launches.iter().any(|launch| launch.bound().is_ok_and(|bound| bound.irregular))
    }
}

/// Computes the bound over all paths of a program on a machine, for runs under these policies.
/// Returns `None` if the analysis was stopped.
///
/// # Errors
/// Returns the errors of [`all_paths`](super::all_paths), with the first launch of each kernel in
/// which they occur.
pub fn all_paths_of_program(
    name: &str,
    sequence: &Arc<Sequence>,
    machine: &Machine,
    policies: &[PolicyKind],
    bounds: &ProgramLoopBounds,
    steps: u64,
    monitor: &ProgressMonitor,
) -> Result<Option<ProgramPaths>, Diagnostics> {
    let mut analysis = Analysis {
        name,
        sequence,
        machine,
        policies,
        bounds,
        options: Options::of(machine, steps),
        monitor,
        known: VecDeque::new(),
    };
    let mut device = known_memory(sequence)?;
    let mut left = None;
    let (mut outcomes, mut problems) = (Vec::new(), Diagnostics::new());
    let mut failed = vec![false; sequence.kernels.len()];
    for action in sequence.actions() {
        device = match action.map_err(|wrong| wrong.problems)? {
            Action::Launch(step) => {
                if monitor.is_stopped() {
                    return Ok(None);
                }
                let (after, footprint) = footprint(device, sequence, &step)?;
                let kernel = sequence.statements[step.statement].kernel;
                let before = left.take();
                let leaves = match () {
                    () if failed[kernel] => MemoryLeft::unknown(),
                    () => match analysis.launch(&after, &step, (footprint, before)) {
                        Ok((outcome, _)) if *outcome == AllPathsOutcome::Stopped => return Ok(None),
                        Ok((outcome, leaves)) => {
                            outcomes.push(outcome);
                            leaves
                        }
                        Err(found) => {
                            failed[kernel] = true;
                            problems.append(in_launch(found, sequence, &step));
                            MemoryLeft::unknown()
                        }
                    },
                };
                left = machine.memory().start.is_left().then_some(leaves);
                after
            }
            other => copied(device, &other)?,
        };
    }
    problems.into_result(())?;
    let application = Application::Program(Arc::clone(sequence));
    let launches = application.each().zip(outcomes);
    Ok(Some(ProgramPaths {
        launches: launches.map(|(launched, outcome)| LaunchPaths { launched, outcome }).collect(),
        entries: (0..sequence.statements.len())
            .map(|statement| application.statement(statement).entry.to_owned())
            .collect(),
    }))
}

/// Everything that the bound of a launch depends on.
struct Key {
    kernel: usize,
    launch: Launch,
    bounds: HashMap<Pc, u64>,
    /// The memory that it uses; its buffers are the same for all launches.
    copied: Vec<(u64, u64)>,
    left: Option<MemoryLeft>,
}

/// The largest number of results that are kept for equal launches later on.
const MAX_KNOWN: usize = 64;

/// The result of the analysis of a launch.
type Analysed = (Arc<AllPathsOutcome>, MemoryLeft);

/// The launches of a program that have been analysed. Equal launches are analysed once.
struct Analysis<'a> {
    name: &'a str,
    sequence: &'a Arc<Sequence>,
    machine: &'a Machine,
    policies: &'a [PolicyKind],
    bounds: &'a ProgramLoopBounds,
    options: Options,
    monitor: &'a ProgressMonitor,
    /// The latest results.
    known: VecDeque<(Key, Analysed)>,
}

impl Analysis<'_> {
    /// Analyses a launch. `device` is what is known of memory.
    fn launch(
        &mut self,
        device: &Device,
        step: &LaunchAction,
        (footprint, left): (Footprint, Option<MemoryLeft>),
    ) -> Result<Analysed, Diagnostics> {
        let Self { sequence, machine, policies, options, monitor, .. } = *self;
        let kernel = sequence.statements[step.statement].kernel;
        let (_, bounds) = self.bounds.of_launch(kernel, step.number);
        let is_same = |(key, _): &&(Key, Analysed)| {
            key.kernel == kernel
                && key.launch == step.launch
                && key.bounds == bounds
                && key.copied == footprint.copied
                && key.left == left
        };
        if let Some((_, found)) = self.known.iter().find(is_same) {
            return Ok(found.clone());
        }
        let key = Key {
            kernel,
            launch: step.launch.clone(),
            bounds,
            copied: footprint.copied.clone(),
            left: left.clone(),
        };
        let kind = WorkloadKind::Step { sequence: Arc::clone(sequence), step: Box::new(step.clone()) };
        let workload = Workload { name: self.name.to_owned(), kind };
        let (outcome, leaves) = analysed(
            &workload,
            machine,
            policies,
            || Ok((footprint, left)),
            |visit| {
                walk(paths(device.clone(), sequence, step, options, &key.bounds), &workload, monitor, visit)
            },
        )?;
        let found = (Arc::new(outcome), leaves);
        if self.known.len() == MAX_KNOWN {
            self.known.pop_front();
        }
        self.known.push_back((key, found.clone()));
        Ok(found)
    }
}

/// Returns the memory of a program as far as it is the same before every launch, for every input:
/// what is declared constant and not written by a step. The other contents are those before the first
/// step, and are not relied on.
pub(super) fn known_memory(sequence: &Sequence) -> Result<Device, Diagnostics> {
    let mut device = start(sequence)?;
    for action in sequence.actions() {
        match action.map_err(|wrong| wrong.problems)? {
            Action::Write { to, .. } | Action::Copy { to, .. } => device.forget(to),
            Action::Launch(_) => {}
        }
    }
    Ok(device)
}

/// Returns the memory that a launch uses, and the memory after it, as far as it is known.
pub(super) fn footprint(
    device: Device,
    sequence: &Sequence,
    step: &LaunchAction,
) -> Result<(Device, Footprint), Diagnostics> {
    let kernel = sequence.kernel(step);
    let run = Executor::on(device, kernel.module, &kernel.program, &step.launch, Options::default())
        .map_err(|problems| in_launch(problems, sequence, step))?;
    let footprint = run.footprint();
    Ok((run.into_device(), footprint))
}

/// Returns the paths of a launch, given what is known of memory.
pub(super) fn paths<'a>(
    device: Device,
    sequence: &'a Sequence,
    step: &'a LaunchAction,
    options: Options,
    bounds: &HashMap<Pc, u64>,
) -> Result<AllPaths<'a>, NoPaths> {
    let kernel = sequence.kernel(step);
    AllPaths::on(device, kernel.module, &kernel.program, &step.launch, options, bounds)
}
