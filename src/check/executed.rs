//! A functional run whose paths are kept, to be timed later, or not at all if an earlier run had
//! the same paths.
//!
//! Timing depends on data only through the paths of warps, the lines that they access, and the
//! memory footprint of the launch. Runs of one kernel with the same paths on one machine under one
//! policy therefore take exactly the same number of cycles.

use super::ahead::ahead;
use super::order::{Seen, settled};
use super::plan::Plan;
use super::run::observe_source;
use super::workload::WorkloadSource;
use super::{Checked, Failed};
use crate::diag::Diagnostics;
use crate::path::{BlockPaths, BlockSource, Footprint};
use crate::sim::PolicySetup;
use crate::trace::Observer;

/// The largest number of bytes of a run that are kept; the blocks beyond are executed while they
/// are timed.
const MOST_BYTES: usize = 1 << 26;

/// Everything that timing depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paths {
    blocks: Vec<BlockPaths>,
    footprint: Footprint,
}

/// A functional run, executed to its end if its paths can be kept.
pub struct Executed<'a> {
    source: WorkloadSource<'a>,
    paths: Paths,
    /// Whether `paths` covers the whole run.
    is_whole: bool,
    failed: Option<Diagnostics>,
    given: usize,
}

impl<'a> Executed<'a> {
    /// Executes the workload of a plan.
    ///
    /// # Errors
    /// Returns an error if the launch cannot start. [`Self::observe`] returns errors that occur
    /// later.
    pub fn new(plan: &Plan<'a>) -> Result<Self, Diagnostics> {
        let mut source = plan.workload.source(plan.options()?, plan.watch)?;
        let paths = Paths { blocks: Vec::new(), footprint: source.footprint() };
        let (mut is_whole, mut failed, mut bytes) = (false, None, 0);
        let mut executed = paths;
        while bytes <= MOST_BYTES && !plan.watch.is_stopped() {
            let mut block = BlockPaths::default();
            match source.next_block(&mut block) {
                Ok(true) => {
                    bytes += block.warps.iter().map(|warp| warp.size_bytes()).sum::<usize>();
                    executed.blocks.push(block);
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
        Ok(Self { source, paths: executed, is_whole, failed, given: 0 })
    }

    /// Returns the paths of the whole run, if they were kept.
    pub fn paths(&self) -> Option<&Paths> {
        self.is_whole.then_some(&self.paths)
    }

    /// Returns what is known about the order of accesses so far; of the whole run if its paths were
    /// kept.
    pub fn seen(&self) -> Seen {
        self.source.seen()
    }

    /// Times the run under one policy with an observer.
    ///
    /// # Errors
    /// As [`super::observe`].
    pub fn observe(
        &mut self,
        plan: &Plan,
        policy: &PolicySetup,
        observer: &mut dyn Observer,
    ) -> Result<Checked, Failed> {
        let ended = ahead(self, plan.runs_ahead(), |blocks| observe_source(plan, policy, blocks, observer));
        settled(ended, &self.source.seen(), plan.workload.program())
    }
}

impl BlockSource for Executed<'_> {
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
