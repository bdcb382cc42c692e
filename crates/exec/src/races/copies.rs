//! Asynchronous copies in flight: memory that must not be accessed until the copying warp has
//! waited for them.
//!
//! A copy completes at once in the functional run; on hardware it may happen at any time up to the
//! wait. It therefore counts as a write where it is issued, and as one where it is waited for. In
//! between, any access to the bytes that it writes races with it, even one of its own warp, and so
//! does a store to the bytes that it reads.

use std::collections::VecDeque;

use super::Region;
use warpbound_core::base::{LaneMask, Pc};

/// A part of a copy: some words of a row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub(super) region: Region,
    pub(super) row: u32,
    pub(super) words: u32,
    pub(super) warp: usize,
    pub(super) pc: Pc,
    /// The lanes that issued the copies and have not waited for them.
    lanes: LaneMask,
}

/// The groups of a warp.
#[derive(Clone, Debug, Default)]
struct Groups {
    open: Vec<Piece>,
    closed: VecDeque<Vec<Piece>>,
    /// The pieces of groups for which some lanes have waited and others have not.
    partly_waited: Vec<Piece>,
}

/// The copies of a block that are in flight.
#[derive(Clone, Debug, Default)]
pub(super) struct Copies {
    warps: Vec<Groups>,
    /// For each row of shared memory, the words that copies write.
    written: Vec<u32>,
    /// The number of pieces of global memory that copies read.
    reads: usize,
}

impl Copies {
    /// Creates the state without copies, for a block whose shared memory has `rows` rows.
    pub(super) fn new(warps: usize, rows: usize) -> Self {
        Self { warps: vec![Groups::default(); warps], written: vec![0; rows], reads: 0 }
    }

    /// Resets the state for the next block.
    pub(super) fn start_block(&mut self) {
        self.warps.fill(Groups::default());
        self.written.fill(0);
        self.reads = 0;
    }

    /// Records the start of a copy that accesses words of a row.
    pub(super) fn start(
        &mut self,
        (region, row, words): (Region, u32, u32),
        (warp, pc): (usize, Pc),
        lane: usize,
    ) {
        match region {
            Region::Shared => {
                if let Some(written) = self.written.get_mut(row as usize) {
                    *written |= words;
                }
            }
            _ => self.reads += 1,
        }
        let lanes = LaneMask::lane(lane);
        let open = &mut self.warps[warp].open;
        match open.last_mut() {
            Some(last) if (last.region, last.row, last.pc) == (region, row, pc) => {
                last.words |= words;
                last.lanes |= lanes;
                self.reads -= usize::from(region != Region::Shared);
            }
            _ => open.push(Piece { region, row, words, warp, pc, lanes }),
        }
    }

    /// Closes the open group of a warp.
    pub(super) fn commit(&mut self, warp: usize) {
        let groups = &mut self.warps[warp];
        groups.closed.push_back(std::mem::take(&mut groups.open));
    }

    /// Records that lanes of a warp have waited until at most `pending` closed groups are in
    /// flight. Returns the pieces that are complete.
    pub(super) fn wait(&mut self, warp: usize, pending: usize, lanes: LaneMask) -> Vec<Piece> {
        let groups = &mut self.warps[warp];
        while groups.closed.len() > pending {
            groups.partly_waited.extend(groups.closed.pop_front().into_iter().flatten());
        }
        groups.partly_waited.iter_mut().for_each(|piece| piece.lanes -= lanes);
        let (done, left) =
            std::mem::take(&mut groups.partly_waited).into_iter().partition(|p| p.lanes.is_empty());
        groups.partly_waited = left;
        let done: Vec<Piece> = done;
        for piece in &done {
            match piece.region {
                Region::Shared => {
                    if let Some(written) = self.written.get_mut(piece.row as usize) {
                        *written &= !piece.words;
                    }
                }
                _ => self.reads -= 1,
            }
        }
        done
    }

    /// Returns whether copies in flight write words of a row of shared memory.
    #[inline(always)]
    pub(super) fn writes(&self, row: u32, words: u32) -> bool {
        self.written.get(row as usize).is_some_and(|written| written & words != 0)
    }

    /// Returns whether any copies read global memory that some store may change.
    pub(super) fn read_global(&self) -> bool {
        self.reads > 0
    }

    /// Returns a copy in flight that accesses words of a row.
    pub(super) fn find(&self, region: Region, row: u32, words: u32) -> Option<Piece> {
        let pieces = self.warps.iter().flat_map(|groups| {
            groups.partly_waited.iter().chain(groups.closed.iter().flatten()).chain(&groups.open)
        });
        let mut touching =
            pieces.filter(|piece| (piece.region, piece.row) == (region, row) && piece.words & words != 0);
        touching.next().copied()
    }
}
