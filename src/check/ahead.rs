//! Functional execution ahead of the simulation, on a thread of its own.
//!
//! Blocks are executed in launch order and know nothing of time, so that nothing but the clock on
//! the wall can tell the difference. A few blocks are under way at a time, however large the grid.

use std::time::{Duration, Instant};

use crossbeam::channel::{Receiver, Sender, bounded};

use crate::path::{BlockPaths, BlockSource, Footprint};

/// Executed blocks that wait for the simulator.
const READY: usize = 2;

/// The blocks of a source that may run ahead.
pub struct Ahead<'s, S: BlockSource> {
    kind: Kind<'s, S>,
    waited: Duration,
}

enum Kind<'s, S: BlockSource> {
    /// It does not.
    Here(&'s mut S),
    Thread {
        blocks: Receiver<Result<BlockPaths, S::Error>>,
        /// Rooms to be filled again.
        spare: Sender<BlockPaths>,
        footprint: Footprint,
    },
}

impl<S: BlockSource> Ahead<'_, S> {
    /// For how long somebody waited for blocks.
    pub fn waited(&self) -> Duration {
        self.waited
    }
}

impl<S: BlockSource> BlockSource for Ahead<'_, S> {
    type Error = S::Error;

    fn next_block(&mut self, paths: &mut BlockPaths) -> Result<bool, S::Error> {
        let began = Instant::now();
        let there = match &mut self.kind {
            Kind::Here(source) => source.next_block(paths),
            Kind::Thread { blocks, spare, .. } => match blocks.recv() {
                Ok(Ok(block)) => {
                    // nobody takes it back when the last block is under way
                    let _ = spare.send(std::mem::replace(paths, block));
                    Ok(true)
                }
                Ok(Err(error)) => Err(error),
                // the thread is through
                Err(_) => Ok(false),
            },
        };
        self.waited += began.elapsed();
        there
    }

    fn footprint(&self) -> Footprint {
        match &self.kind {
            Kind::Here(source) => source.footprint(),
            Kind::Thread { footprint, .. } => footprint.clone(),
        }
    }
}

/// Hands the blocks of a source to `body`; with a `thread`, they are made on one while `body` is at
/// work.
pub fn ahead<S, R>(source: &mut S, thread: bool, body: impl FnOnce(&mut Ahead<'_, S>) -> R) -> R
where
    S: BlockSource + Send,
    S::Error: Send,
{
    if !thread {
        return body(&mut Ahead { kind: Kind::Here(source), waited: Duration::ZERO });
    }
    std::thread::scope(|scope| {
        let (ready, blocks) = bounded(READY);
        // as many as there are at a time: ready, being made, being simulated
        let (spare, rooms) = bounded::<BlockPaths>(READY + 2);
        let footprint = source.footprint();
        scope.spawn(move || {
            loop {
                let mut paths = rooms.try_recv().unwrap_or_default();
                let block = match source.next_block(&mut paths) {
                    Ok(true) => Ok(paths),
                    Ok(false) => return,
                    Err(error) => Err(error),
                };
                // whoever stopped listening wants no more
                if ready.send(block).is_err() {
                    return;
                }
            }
        });
        let kind = Kind::Thread { blocks, spare, footprint };
        // dropped here, so that the thread does not wait for ever
        let mut ahead = Ahead { kind, waited: Duration::ZERO };
        body(&mut ahead)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::{BlockId, LaneMask, Pc};
    use crate::path::Step;

    /// So many blocks, then perhaps an error.
    struct Numbered {
        next: u32,
        count: u32,
        fails: bool,
    }

    impl BlockSource for Numbered {
        type Error = String;

        fn next_block(&mut self, paths: &mut BlockPaths) -> Result<bool, String> {
            if self.next == self.count {
                return if self.fails { Err(format!("after {}", self.count)) } else { Ok(false) };
            }
            paths.reset(BlockId::new(self.next), 1);
            paths.warps[0].push(Step::plain(Pc::new(self.next)).ending_warp(), LaneMask::ALL);
            self.next += 1;
            Ok(true)
        }
    }

    fn drain(source: &mut Ahead<'_, Numbered>) -> (Vec<BlockPaths>, Result<bool, String>) {
        let mut blocks = Vec::new();
        let mut room = BlockPaths::default();
        loop {
            match source.next_block(&mut room) {
                Ok(true) => blocks.push(room.clone()),
                end => return (blocks, end),
            }
        }
    }

    #[test]
    fn a_thread_changes_nothing() {
        for (count, fails) in [(0, false), (1, true), (50, false), (50, true)] {
            let of = |thread| ahead(&mut Numbered { next: 0, count, fails }, thread, drain);
            assert_eq!(of(true), of(false), "{count} blocks");
            assert_eq!(of(true).0.len(), count as usize);
        }
    }

    #[test]
    fn who_stops_early_does_not_wait_for_the_rest() {
        let mut source = Numbered { next: 0, count: u32::MAX, fails: false };
        let first = ahead(&mut source, true, |blocks| {
            let mut room = BlockPaths::default();
            blocks.next_block(&mut room).map(|there| (there, room.block))
        });
        assert_eq!(first, Ok((true, BlockId::new(0))));
        assert!(source.next <= READY as u32 + 2);
    }
}
