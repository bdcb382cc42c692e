//! Something to simulate: a micro kernel, or a launch of a real one.

use crate::diag::Diagnostics;
use crate::exec::divergence::Divergence;
use crate::exec::{Executor, Options};
use crate::machine::BlockNeeds;
use crate::micro::{MicroKernel, MicroSource};
use crate::path::{BlockPaths, BlockSource, Footprint};
use crate::program::Program;
use crate::program::launch::Launch;

/// A kernel with everything its run depends on, except the machine.
#[derive(Clone, Debug)]
pub struct Workload {
    /// What reports call it.
    pub name: String,
    /// The code and where its blocks come from.
    pub kind: WorkloadKind,
}

/// Where the blocks of a workload come from.
#[derive(Clone, Debug)]
pub enum WorkloadKind {
    /// Straight-line code without values.
    Micro(Box<MicroKernel>),
    /// A decoded kernel and its launch.
    Launch {
        /// The kernel.
        program: Box<Program>,
        /// Grid, block and arguments.
        launch: Box<Launch>,
    },
}

/// The blocks of a workload, in launch order.
pub enum WorkloadSource<'a> {
    /// Blocks that were written down.
    Micro(MicroSource<'a>),
    /// A functional run.
    Launch(Box<Executor<'a>>),
}

impl Workload {
    /// The code.
    pub fn program(&self) -> &Program {
        match &self.kind {
            WorkloadKind::Micro(kernel) => &kernel.program,
            WorkloadKind::Launch { program, .. } => program,
        }
    }

    /// The launch of a real kernel.
    pub fn launch(&self) -> Option<&Launch> {
        match &self.kind {
            WorkloadKind::Micro(_) => None,
            WorkloadKind::Launch { launch, .. } => Some(launch),
        }
    }

    /// Blocks in the grid.
    pub fn blocks(&self) -> u32 {
        match &self.kind {
            WorkloadKind::Micro(kernel) => u32::try_from(kernel.blocks.len()).unwrap_or(u32::MAX),
            WorkloadKind::Launch { launch, .. } => launch.blocks(),
        }
    }

    /// What one block takes of an SM.
    pub fn needs(&self) -> BlockNeeds {
        match &self.kind {
            WorkloadKind::Micro(kernel) => BlockNeeds {
                threads: (kernel.block_warps * crate::base::WARP_SIZE) as u32,
                registers_per_thread: None,
                shared_bytes: 0,
            },
            WorkloadKind::Launch { program, launch } => launch.needs(program),
        }
    }

    /// Starts a fresh run that records what the timing of a machine needs.
    ///
    /// # Errors
    /// If the launch cannot start.
    pub fn source(&self, options: Options) -> Result<WorkloadSource<'_>, Diagnostics> {
        Ok(match &self.kind {
            WorkloadKind::Micro(kernel) => WorkloadSource::Micro(kernel.source()),
            WorkloadKind::Launch { program, launch } => {
                WorkloadSource::Launch(Box::new(Executor::new(program, launch, options)?))
            }
        })
    }
}

impl WorkloadSource<'_> {
    /// Why the paths may depend on timing, as far as the run noticed.
    pub fn notes(&self) -> Vec<String> {
        match self {
            Self::Micro(_) => Vec::new(),
            Self::Launch(executor) => executor.notes().to_vec(),
        }
    }

    /// What branches did so far, if the options asked for it.
    pub fn divergence(&self) -> Option<&Divergence> {
        match self {
            Self::Micro(_) => None,
            Self::Launch(executor) => executor.divergence(),
        }
    }

    /// Contents of a launch buffer as they are now.
    pub fn buffer(&self, index: usize) -> Option<&[u8]> {
        match self {
            Self::Micro(_) => None,
            Self::Launch(executor) => Some(executor.buffer(index)),
        }
    }
}

impl BlockSource for WorkloadSource<'_> {
    type Error = Diagnostics;

    fn next_block(&mut self, paths: &mut BlockPaths) -> Result<bool, Diagnostics> {
        match self {
            Self::Micro(source) => source.next_block(paths),
            Self::Launch(executor) => executor.next_block(paths),
        }
    }

    fn footprint(&self) -> Footprint {
        match self {
            Self::Micro(source) => source.footprint(),
            Self::Launch(executor) => executor.footprint(),
        }
    }
}
