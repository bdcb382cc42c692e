//! Kernels that run one after the other, as one: the launches of a program, or the traces of a list.

use std::sync::Arc;

use super::plan::Plan;
use super::workload::{Workload, WorkloadKind};
use crate::base::Watch;
use crate::bound::Bound;
use crate::machine::Machine;
use crate::program::sequence::{Action, LaunchAction, Sequence};
use crate::sim::PolicySetup;

/// Several kernels in order. The end of one orders everything, so that makespans and bounds add up.
#[derive(Clone, Debug)]
pub enum Application {
    /// Launches over memory that persists.
    Program(Arc<Sequence>),
    /// Traces of a list; their paths are recorded, and nothing goes from one to the next.
    Traces(Arc<[Traced]>),
}

/// A kernel of a list of traces.
#[derive(Clone, Debug)]
pub struct Traced {
    /// Where it stands in the list.
    pub line: u32,
    /// The trace.
    pub workload: Workload,
}

/// A place in the file of an application that launches a kernel, once or more often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Statement<'a> {
    /// Its line.
    pub line: u32,
    /// The kernel's module, or its trace.
    pub module: &'a str,
    /// The kernel.
    pub entry: &'a str,
}

/// A launch of an application as reports name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launched {
    /// Counted from 0.
    pub number: u64,
    /// Which statement launches it.
    pub statement: usize,
    /// The counters of the loops around it, the outermost first.
    pub counters: Vec<(String, i128)>,
    /// Blocks in x, y, z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y, z.
    pub block: [u32; 3],
}

impl Application {
    /// Kernels in it, each as often as it is launched.
    pub fn launches(&self) -> u64 {
        match self {
            Self::Program(sequence) => sequence.launches,
            Self::Traces(traces) => traces.len() as u64,
        }
    }

    /// The program, if it is one.
    pub fn program(&self) -> Option<&Arc<Sequence>> {
        match self {
            Self::Program(sequence) => Some(sequence),
            Self::Traces(_) => None,
        }
    }

    /// What launches, by index.
    ///
    /// # Panics
    /// If there is no such statement.
    pub fn statement(&self, index: usize) -> Statement<'_> {
        match self {
            Self::Program(sequence) => {
                let statement = &sequence.statements[index];
                let kernel = &sequence.kernels[statement.kernel];
                Statement {
                    line: statement.line,
                    module: &sequence.modules[kernel.module].name,
                    entry: &kernel.program.name,
                }
            }
            Self::Traces(traces) => {
                let Traced { line, workload } = &traces[index];
                let program = workload.program();
                Statement { line: *line, module: &program.file, entry: &program.name }
            }
        }
    }

    /// Every launch, in order.
    pub fn each(&self) -> Box<dyn Iterator<Item = Launched> + '_> {
        match self {
            Self::Program(sequence) => Box::new(sequence.actions().filter_map(|action| match action {
                Ok(Action::Launch(launch)) => Some(Launched {
                    number: launch.number,
                    statement: launch.statement,
                    counters: launch.counters,
                    grid: launch.launch.grid,
                    block: launch.launch.block,
                }),
                _ => None,
            })),
            Self::Traces(traces) => Box::new(traces.iter().enumerate().map(|(index, traced)| {
                let (grid, block) = match &traced.workload.kind {
                    WorkloadKind::Trace(kernel) => (kernel.header.grid, kernel.header.block),
                    _ => ([0; 3], [0; 3]),
                };
                Launched { number: index as u64, statement: index, counters: Vec::new(), grid, block }
            })),
        }
    }
}

/// What to run and what to judge; as [`Plan`].
pub struct ApplicationPlan<'a> {
    /// What reports call the application.
    pub name: &'a str,
    /// The application.
    pub application: &'a Application,
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
    /// Threads for kernels that do not wait for each other: those of a list of traces.
    pub jobs: usize,
    /// Whether blocks are executed on a thread of their own.
    pub ahead: bool,
    /// Whether to compare the analyser with the simulator on every warp alone.
    pub self_check: bool,
    /// Memory of the watch for races within a launch, which is wanted for a verdict.
    pub race_memory: Option<usize>,
    /// Hears of every block that is through, and may end the run.
    pub watch: &'a Watch,
}

impl<'a> ApplicationPlan<'a> {
    /// A launch of a program by itself.
    pub(super) fn workload(&self, sequence: &Arc<Sequence>, step: &LaunchAction) -> Workload {
        Workload {
            name: self.name.to_owned(),
            kind: WorkloadKind::Step { sequence: Arc::clone(sequence), step: Box::new(step.clone()) },
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
