//! What a launch runs on, and its blocks that are not on an SM yet.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::blocks::Layout;
use super::error::SimError;
use super::policy::PolicySetup;
use super::result::BlockResult;
use crate::machine::Machine;
use crate::path::{BlockPaths, BlockSource, Footprint};
use crate::program::TimingTable;

/// Any source of blocks: the engines are compiled once for all of them.
pub(super) type AnySource<'s> = dyn BlockSource<Error = Kept> + 's;

/// Somebody who hears of blocks that ended.
pub(super) type OnBlock<'f> = dyn FnMut(&BlockResult, &BlockPaths) + 'f;

/// Says that a source has failed; the reason is kept in [`KeepsError`].
pub(super) struct Kept;

/// A source that keeps its error.
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

/// What a launch runs on.
pub(super) struct On<'a> {
    /// Threads that several SMs may run on.
    pub threads: usize,
    pub table: &'a TimingTable,
    pub machine: &'a Machine,
    pub policy: &'a PolicySetup,
}

/// Gives out the blocks of a source in launch order.
pub(super) struct Supply<'a, 's> {
    source: &'a mut AnySource<'s>,
    /// The first block, which had to be asked how large blocks are.
    first: Option<BlockPaths>,
    /// Slots that it takes.
    warps: usize,
    layout: Layout,
    exhausted: bool,
    given: u64,
}

impl<'a, 's> Supply<'a, 's> {
    /// Of a source, for SMs that are to hold this many blocks at a time.
    pub fn new(source: &'a mut AnySource<'s>, resident: u32) -> Result<Self, SimError<Kept>> {
        let mut first = BlockPaths::default();
        let there = source.next_block(&mut first).map_err(SimError::Source)?;
        let (warps, layout) = (first.warps.len(), Layout::of(&first, resident));
        let first = there.then_some(first);
        Ok(Self { source, first, warps, layout, exhausted: !there, given: 0 })
    }

    /// Where blocks go on each SM.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// Slots that the blocks of one SM take, if all are like the first.
    pub fn slots(&self) -> usize {
        self.layout.places() * self.warps.max(1)
    }

    pub fn source(&self) -> &AnySource<'s> {
        self.source
    }

    /// The next block, which fits into a place. Whether there was one.
    ///
    /// # Errors
    /// What the source reports, or that the block does not fit.
    pub fn next(&mut self, room: &mut BlockPaths) -> Result<bool, SimError<Kept>> {
        if self.exhausted {
            return Ok(false);
        }
        match self.first.take() {
            Some(first) => *room = first,
            None => self.exhausted = !self.source.next_block(room).map_err(SimError::Source)?,
        }
        if self.exhausted {
            return Ok(false);
        }
        self.layout.fits(room)?;
        self.given += 1;
        Ok(true)
    }

    /// Whether the source is known to have no more.
    pub fn is_exhausted(&self) -> bool {
        self.exhausted
    }

    /// Blocks given out so far.
    pub fn given(&self) -> u64 {
        self.given
    }
}
