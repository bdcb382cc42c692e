//! A functional run that is kept: to be timed afterwards, or not at all where one before it was the same.
//!
//! Timing depends on data only through the paths of warps, the lines that they access, and what the launch takes of memory. So
//! runs of one kernel with the same paths on one machine under one policy take the same time, to the cycle.

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

/// A run that takes more bytes than this is not kept: what is beyond is executed as it is timed.
const MOST_BYTES: usize = 1 << 26;

/// All of what timing depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paths {
    blocks: Vec<BlockPaths>,
    footprint: Footprint,
}

/// A functional run, executed to its end if that can be kept.
pub struct Executed<'a> {
    source: WorkloadSource<'a>,
    paths: Paths,
    /// Whether that is all of the run.
    is_whole: bool,
    failed: Option<Diagnostics>,
    given: usize,
}

impl<'a> Executed<'a> {
    /// Executes the workload of a plan.
    ///
    /// # Errors
    /// If the launch cannot start. What goes wrong in it is told by [`Self::observe`].
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

    /// The paths of the whole run, if they were kept.
    pub fn paths(&self) -> Option<&Paths> {
        self.is_whole.then_some(&self.paths)
    }

    /// What was seen of the order of accesses so far; of the whole run if its paths were kept.
    pub fn seen(&self) -> Seen {
        self.source.seen()
    }

    /// Times it under one policy with an observer.
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
