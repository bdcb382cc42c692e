//! A functional run whose paths are kept, to be timed later and more than once, or not at all if an
//! earlier run had the same paths.
//!
//! Timing depends on data only through the paths of warps, the lines that they access, and the
//! memory footprint of the launch. Runs of one kernel with the same paths on one machine under one
//! policy therefore take exactly the same number of cycles.

use super::left::Left;
use super::order::{OrderDependences, settled};
use super::plan::Plan;
use super::run::observe_source;
use super::workload::WorkloadSource;
use super::{Failed, JudgedLaunch};
use warpbound_core::base::ProgressMonitor;
use warpbound_core::diag::Diagnostics;
use warpbound_core::path::{BlockPaths, BlockSource, Footprint, Listed, WarpPath};
use warpbound_sim::PolicySetup;
use warpbound_trace::trace::Observer;

/// The largest number of bytes of paths that are kept of a run.
const MAX_BYTES: usize = 128 << 20;

/// Everything that timing depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paths {
    blocks: Vec<BlockPaths>,
    footprint: Footprint,
}

impl Paths {
    /// Returns the blocks as a source, from the first one.
    pub(super) fn replay(&self) -> Replayed<'_> {
        Replayed { blocks: Listed::new(&self.blocks), footprint: &self.footprint }
    }
}

/// The blocks of kept paths as a source.
pub(super) struct Replayed<'k> {
    blocks: Listed<'k>,
    footprint: &'k Footprint,
}

impl BlockSource for Replayed<'_> {
    type Error = Diagnostics;

    fn next_block(&mut self, paths: &mut BlockPaths) -> Result<bool, Diagnostics> {
        let Ok(there) = self.blocks.next_block(paths);
        Ok(there)
    }

    fn footprint(&self) -> Footprint {
        self.footprint.clone()
    }
}

/// A functional run, executed to its end if its paths can be kept.
pub struct ExecutedLaunch<'a> {
    source: WorkloadSource<'a>,
    paths: Paths,
    /// Whether `paths` covers the whole run.
    is_whole: bool,
    failed: Option<Diagnostics>,
    given: usize,
}

impl<'a> ExecutedLaunch<'a> {
    /// Executes the workload of a plan.
    ///
    /// # Errors
    /// Returns an error if the launch cannot start. [`Self::observe`] returns errors that occur
    /// later.
    pub fn new(plan: &Plan<'a>) -> Result<Self, Diagnostics> {
        let monitor = plan.options.monitor;
        Ok(Self::of(plan.workload.source(plan.exec_options()?, monitor)?, monitor))
    }

    /// Executes a functional run until it ends, is too large to be kept, or is stopped.
    pub(super) fn of(mut source: WorkloadSource<'a>, monitor: &ProgressMonitor) -> Self {
        let (mut blocks, footprint) = (Vec::new(), source.footprint());
        let (mut is_whole, mut failed, mut bytes) = (false, None, 0);
        while bytes <= MAX_BYTES && !monitor.is_stopped() {
            let mut block = BlockPaths::default();
            match source.next_block(&mut block) {
                Ok(true) => {
                    bytes += block.warps.iter().map(WarpPath::size_bytes).sum::<usize>();
                    blocks.push(block);
                }
                Ok(false) => {
                    is_whole = true;
                    break;
                }
                Err(problems) => {
                    failed = Some(problems);
                    break;
                }
            }
        }
        Self { source, paths: Paths { blocks, footprint }, is_whole, failed, given: 0 }
    }

    /// Returns the paths of the whole run, if they were kept.
    pub fn paths(&self) -> Option<&Paths> {
        self.is_whole.then_some(&self.paths)
    }

    /// Returns the run and its paths, if all of them were kept.
    pub(super) fn into_whole(self) -> Option<(WorkloadSource<'a>, Paths)> {
        self.is_whole.then_some((self.source, self.paths))
    }

    /// Returns what is known about the order of accesses in the run so far. If the paths were kept,
    /// this is the whole run.
    pub fn seen(&self) -> OrderDependences {
        self.source.seen()
    }

    /// Times the run under one policy with an observer.
    ///
    /// # Errors
    /// Returns the errors of [`super::observe`].
    pub fn observe(
        &mut self,
        plan: &Plan,
        policy: &PolicySetup,
        observer: &mut dyn Observer,
    ) -> Result<JudgedLaunch, Failed> {
        let ended = observe_source(&mut Left::default(), plan, policy, self, observer);
        settled(ended, &self.source.seen(), plan.workload.program())
    }
}

impl BlockSource for ExecutedLaunch<'_> {
    type Error = Diagnostics;

    fn next_block(&mut self, paths: &mut BlockPaths) -> Result<bool, Diagnostics> {
        if let Some(block) = self.paths.blocks.get(self.given) {
            self.given += 1;
            paths.clone_from(block);
            return Ok(true);
        }
        match self.failed.take() {
            Some(problems) => Err(problems),
            None if self.is_whole => Ok(false),
            None => self.source.next_block(paths),
        }
    }

    fn footprint(&self) -> Footprint {
        self.paths.footprint.clone()
    }
}
