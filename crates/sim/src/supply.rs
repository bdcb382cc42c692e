//! The inputs of a simulation, and the supply of blocks that are not on an SM yet.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::blocks::Layout;
use super::error::SimError;
use super::policy::PolicySetup;
use super::result::BlockResult;
use warpbound_core::machine::Machine;
use warpbound_core::path::{BlockPaths, BlockSource, Footprint};
use warpbound_core::program::TimingTable;

/// Any source of blocks. It is a trait object, so that the engines are compiled once for all
/// sources.
pub(super) type AnySource<'s> = dyn BlockSource<Error = Kept> + 's;

/// A callback that receives each block that ended.
pub(super) type OnBlock<'f> = dyn FnMut(&BlockResult, &BlockPaths) + 'f;

/// The error of a source that failed; the reason is kept in [`KeepsError`].
pub(super) struct Kept;

/// A block source that stores its error.
pub(super) struct KeepsError<'s, S: BlockSource> {
    pub source: &'s mut S,
    pub error: Option<S::Error>,
}

impl<S: BlockSource> BlockSource for KeepsError<'_, S> {
    type Error = Kept;

    fn next_block(&mut self, paths: &mut BlockPaths) -> Result<bool, Kept> {
        self.source.next_block(paths).map_err(|error| {
            self.error = Some(error);
            Kept
        })
    }

    fn is_stopped(&self) -> bool {
        self.source.is_stopped()
    }

    fn footprint(&self) -> Footprint {
        self.source.footprint()
    }

    fn at_work(&self) -> Option<Arc<AtomicBool>> {
        self.source.at_work()
    }
}

/// The inputs that stay the same for a whole launch.
pub(super) struct On<'a> {
    /// The number of threads on which several SMs may be simulated.
    pub threads: usize,
    pub table: &'a TimingTable,
    pub machine: &'a Machine,
    pub policy: &'a PolicySetup,
}

/// Hands out the blocks of a source in launch order.
pub(super) struct Supply<'a, 's> {
    source: &'a mut AnySource<'s>,
    /// A block that had to be read early: the first one, to find out how large the blocks are, or one
    /// that shows that there is another.
    ahead: Option<BlockPaths>,
    /// The number of warp slots that the first block takes.
    warps: usize,
    layout: Layout,
    exhausted: bool,
    given: u64,
}

impl<'a, 's> Supply<'a, 's> {
    /// Creates the supply of a source, for SMs that hold `resident` blocks at a time.
    pub fn new(source: &'a mut AnySource<'s>, resident: u32) -> Result<Self, SimError<Kept>> {
        let mut first = BlockPaths::default();
        let has_block = source.next_block(&mut first).map_err(SimError::Source)?;
        let (warps, layout) = (first.warps.len(), Layout::of(&first, resident));
        let ahead = has_block.then_some(first);
        Ok(Self { source, ahead, warps, layout, exhausted: !has_block, given: 0 })
    }

    /// Returns the arrangement of the blocks on each SM.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// Returns the number of warp slots that the blocks of one SM take if all are as large as the
    /// first.
    pub fn slots(&self) -> usize {
        self.layout.cta_slots() * self.warps.max(1)
    }

    pub fn source(&self) -> &AnySource<'s> {
        self.source
    }

    /// Reads the next block into `paths` and returns whether there was one. The block fits into a
    /// CTA slot.
    ///
    /// # Errors
    /// Returns the error of the source, or an error if the block does not fit.
    pub fn next(&mut self, paths: &mut BlockPaths) -> Result<bool, SimError<Kept>> {
        if self.exhausted {
            return Ok(false);
        }
        match self.ahead.take() {
            Some(ahead) => *paths = ahead,
            None => self.exhausted = !self.source.next_block(paths).map_err(SimError::Source)?,
        }
        if self.exhausted {
            return Ok(false);
        }
        self.layout.fits(paths)?;
        self.given += 1;
        Ok(true)
    }

    /// Finds out whether there is a further block, without handing it out.
    ///
    /// # Errors
    /// Returns the error of the source.
    pub fn look_ahead(&mut self) -> Result<(), SimError<Kept>> {
        if !self.exhausted && self.ahead.is_none() {
            let mut ahead = BlockPaths::default();
            self.exhausted = !self.source.next_block(&mut ahead).map_err(SimError::Source)?;
            self.ahead = (!self.exhausted).then_some(ahead);
        }
        Ok(())
    }

    /// Returns whether the source is known to have no further block.
    pub fn is_exhausted(&self) -> bool {
        self.exhausted
    }

    /// Returns the number of blocks handed out so far.
    pub fn given(&self) -> u64 {
        self.given
    }
}
