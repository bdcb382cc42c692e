//! Kernels that run one after the other, treated as one unit: the launches of a program, or the
//! traces of a list.

use std::sync::Arc;

use super::options::RunOptions;
use super::plan::Plan;
use super::workload::{Workload, WorkloadKind};
use warpbound_core::machine::Machine;
use warpbound_core::program::sequence::{Action, LaunchAction, Sequence};
use warpbound_sim::PolicySetup;

/// Several kernels in order. All accesses of a kernel come before those of the next one, so that
/// makespans and bounds are added up.
#[derive(Clone, Debug)]
pub enum Application {
    /// Launches over memory that persists between them.
    Program(Arc<Sequence>),
    /// Traces of a list; their paths are recorded, and no memory contents pass from one to the
    /// next.
    Traces(Arc<[Traced]>),
}

/// A kernel of a list of traces.
#[derive(Clone, Debug)]
pub struct Traced {
    /// The line of the list that names it.
    pub line: u32,
    /// The trace.
    pub workload: Workload,
}

/// A statement in the file of an application that launches a kernel, once or more often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Statement<'a> {
    /// Its line.
    pub line: u32,
    /// The name of the kernel's module or trace.
    pub module: &'a str,
    /// The name of the kernel.
    pub entry: &'a str,
}

/// A launch of an application as reports name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launched {
    /// The number of the launch, counted from 0.
    pub number: u64,
    /// The index of the statement that launches it.
    pub statement: usize,
    /// The counters of the loops around it, the outermost first.
    pub counters: Vec<(String, i128)>,
    /// The number of blocks in x, y, z.
    pub grid: [u32; 3],
    /// The number of threads of a block in x, y, z.
    pub block: [u32; 3],
}

impl Application {
    /// Returns the number of launches; a kernel counts once for each launch.
    pub fn launches(&self) -> u64 {
        match self {
            Self::Program(sequence) => sequence.launches,
            Self::Traces(traces) => traces.len() as u64,
        }
    }

    /// Returns the program, or `None` if the application is a list of traces.
    pub fn program(&self) -> Option<&Arc<Sequence>> {
        match self {
            Self::Program(sequence) => Some(sequence),
            Self::Traces(_) => None,
        }
    }

    /// Returns the statement with this index.
    ///
    /// # Panics
    /// Panics if there is no such statement.
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

    /// Returns every launch, in order.
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

/// The plan of a check of an application; compare [`Plan`].
#[derive(Clone, Copy)]
pub(super) struct ApplicationPlan<'a> {
    /// The name of the application in reports.
    pub name: &'a str,
    /// The application.
    pub application: &'a Application,
    /// The machine.
    pub machine: &'a Machine,
    /// How the runs are executed, and what is judged.
    pub options: RunOptions<'a>,
}

impl<'a> ApplicationPlan<'a> {
    /// Returns a single launch of a program as a workload.
    pub(super) fn workload(&self, sequence: &Arc<Sequence>, step: &LaunchAction) -> Workload {
        Workload {
            name: self.name.to_owned(),
            kind: WorkloadKind::Step { sequence: Arc::clone(sequence), step: Box::new(step.clone()) },
        }
    }

    /// Returns the plan of one launch.
    pub(super) fn of_launch<'p>(&self, workload: &'p Workload, policies: &'p [PolicySetup]) -> Plan<'p>
    where
        'a: 'p,
    {
        Plan { workload, machine: self.machine, policies, options: self.options }
    }
}
