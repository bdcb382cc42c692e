//! A workload to simulate: a micro kernel, or a launch of a real kernel.

use std::sync::Arc;

use super::order::{IN_A_TRACE, OrderDependences};
use super::steps::before;
use warpbound_core::base::ProgressMonitor;
use warpbound_core::diag::Diagnostics;
use warpbound_core::machine::BlockNeeds;
use warpbound_core::path::{BlockPaths, BlockSource, Footprint};
use warpbound_core::program::KernelCode;
use warpbound_core::program::launch::Launch;
use warpbound_core::program::sequence::{Kernel, LaunchAction, Sequence};
use warpbound_exec::divergence::Divergence;
use warpbound_exec::{Executor, Options};
use warpbound_front::accelsim::{TraceSource, TracedKernel, Wanted};
use warpbound_front::micro::{MicroKernel, MicroSource};

/// A kernel with everything that its run depends on, except the machine.
#[derive(Clone, Debug)]
pub struct Workload {
    /// The name of the workload in reports.
    pub name: String,
    /// The code and the source of its blocks.
    pub kind: WorkloadKind,
}

/// The source of the blocks of a workload.
#[derive(Clone, Debug)]
pub enum WorkloadKind {
    /// Straight-line code without values.
    Micro(Box<MicroKernel>),
    /// A decoded kernel and its launch.
    Launch {
        /// The kernel.
        program: Box<KernelCode>,
        /// The grid, the block and the arguments.
        launch: Box<Launch>,
    },
    /// A kernel whose paths were recorded by another tool.
    Trace(Arc<TracedKernel>),
    /// One launch of a program, with the memory that earlier launches leave.
    Step {
        /// The program.
        sequence: Arc<Sequence>,
        /// The launch.
        step: Box<LaunchAction>,
    },
}

/// The blocks of a workload, in launch order.
pub enum WorkloadSource<'a> {
    /// The blocks that a micro kernel states explicitly.
    Micro(MicroSource<'a>),
    /// A functional run.
    Launch(Box<Executor<'a>>),
    /// A trace that is being read.
    Trace(Box<TraceSource<'a>>),
}

impl Workload {
    /// Returns the code.
    pub fn program(&self) -> &KernelCode {
        match &self.kind {
            WorkloadKind::Micro(kernel) => &kernel.program,
            WorkloadKind::Launch { program, .. } => program,
            WorkloadKind::Trace(kernel) => &kernel.program,
            WorkloadKind::Step { sequence, step } => &sequence.kernel(step).program,
        }
    }

    /// Returns the launch, or `None` for a micro kernel or a trace.
    pub fn launch(&self) -> Option<&Launch> {
        match &self.kind {
            WorkloadKind::Micro(_) | WorkloadKind::Trace(_) => None,
            WorkloadKind::Launch { launch, .. } => Some(launch),
            WorkloadKind::Step { step, .. } => Some(&step.launch),
        }
    }

    /// Returns the names of the buffers that the workload uses, each with its index for
    /// [`WorkloadSource::buffer`].
    pub fn buffers(&self) -> Vec<(String, usize)> {
        match &self.kind {
            WorkloadKind::Micro(_) | WorkloadKind::Trace(_) => Vec::new(),
            WorkloadKind::Launch { launch, .. } => {
                let names = launch.buffers.iter().map(|buffer| buffer.name.clone());
                names.enumerate().map(|(index, name)| (name, index)).collect()
            }
            WorkloadKind::Step { sequence, step } => sequence.buffers_at(Some(step.number)),
        }
    }

    /// Returns the number of blocks in the grid.
    pub fn blocks(&self) -> u32 {
        match &self.kind {
            WorkloadKind::Micro(kernel) => u32::try_from(kernel.blocks.len()).unwrap_or(u32::MAX),
            WorkloadKind::Launch { launch, .. } => launch.blocks(),
            WorkloadKind::Trace(kernel) => kernel.blocks(),
            WorkloadKind::Step { step, .. } => step.launch.blocks(),
        }
    }

    /// Returns the resources of an SM that one block occupies.
    pub fn needs(&self) -> BlockNeeds {
        match &self.kind {
            WorkloadKind::Micro(kernel) => BlockNeeds {
                threads: (kernel.block_warps * warpbound_core::base::WARP_SIZE) as u32,
                registers_per_thread: None,
                shared_bytes: 0,
            },
            WorkloadKind::Launch { program, launch } => launch.needs(program),
            WorkloadKind::Trace(kernel) => kernel.needs(),
            WorkloadKind::Step { sequence, step } => step.launch.needs(&sequence.kernel(step).program),
        }
    }

    /// Starts a new run that records what the timing of a machine needs. `monitor` can stop this
    /// run, and also the launches that have to run before it. After that the source yields no more
    /// blocks, not even the one in progress.
    ///
    /// # Errors
    /// Returns an error if the launch cannot start.
    pub fn source<'a>(
        &'a self,
        options: Options,
        monitor: &'a ProgressMonitor,
    ) -> Result<WorkloadSource<'a>, Diagnostics> {
        Ok(match &self.kind {
            WorkloadKind::Micro(kernel) => WorkloadSource::Micro(kernel.source()),
            WorkloadKind::Launch { program, launch } => {
                WorkloadSource::Launch(Box::new(Executor::new(program, launch, options)?.watched(monitor)))
            }
            WorkloadKind::Trace(kernel) => {
                WorkloadSource::Trace(Box::new(kernel.source(wanted(&options))?.watched(monitor)))
            }
            WorkloadKind::Step { sequence, step } => {
                let device = before(sequence, step.number, options, monitor)?;
                let Kernel { module, program } = sequence.kernel(step);
                let executor = Executor::on(device, *module, program, &step.launch, options)?;
                WorkloadSource::Launch(Box::new(executor.watched(monitor)))
            }
        })
    }
}

/// Returns what a trace has to record to match a functional run with these options.
fn wanted(options: &Options) -> Wanted {
    let Options { banks, traffic, constants, max_instructions_per_block, .. } = *options;
    Wanted { banks, traffic, constants, most: max_instructions_per_block.min(u64::from(u32::MAX)) }
}

impl WorkloadSource<'_> {
    /// Returns what is known about the order in which warps accessed memory; complete after the
    /// last block.
    pub fn seen(&self) -> OrderDependences {
        match self {
            // the instructions of a micro kernel access no memory
            Self::Micro(_) => OrderDependences::default(),
            Self::Launch(executor) => OrderDependences::of(executor),
            Self::Trace(_) => {
                OrderDependences { not_looked_for: Some(IN_A_TRACE), ..OrderDependences::default() }
            }
        }
    }

    /// Returns the statistics of branches so far, if the options requested them.
    pub fn divergence(&self) -> Option<&Divergence> {
        match self {
            Self::Micro(_) | Self::Trace(_) => None,
            Self::Launch(executor) => executor.divergence(),
        }
    }

    /// Returns the current contents of a launch buffer.
    pub fn buffer(&self, index: usize) -> Option<&[u8]> {
        match self {
            Self::Micro(_) | Self::Trace(_) => None,
            Self::Launch(executor) => Some(executor.buffer(index)),
        }
    }

    /// Returns the current contents of a module variable, by its full name.
    pub fn variable(&self, name: &str) -> Option<&[u8]> {
        match self {
            Self::Micro(_) | Self::Trace(_) => None,
            Self::Launch(executor) => executor.variable(name),
        }
    }
}

impl BlockSource for WorkloadSource<'_> {
    type Error = Diagnostics;

    fn next_block(&mut self, paths: &mut BlockPaths) -> Result<bool, Diagnostics> {
        match self {
            Self::Micro(source) => source.next_block(paths),
            Self::Launch(executor) => executor.next_block(paths),
            Self::Trace(source) => source.next_block(paths),
        }
    }

    fn footprint(&self) -> Footprint {
        match self {
            Self::Micro(source) => source.footprint(),
            Self::Launch(executor) => executor.footprint(),
            Self::Trace(source) => source.footprint(),
        }
    }
}
