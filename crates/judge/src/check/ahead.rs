//! Functional execution ahead of the simulation, on a separate thread.
//!
//! Blocks are executed in launch order and do not depend on simulated time, so that running ahead
//! changes only the elapsed real time. SMs often need their next blocks at the same time, so many
//! blocks should be ready; the number of bytes in flight is limited, however large the grid.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use crossbeam::channel::{Receiver, Sender, unbounded};

use super::clock::Clock;
use warpbound_core::path::{BlockPaths, BlockSource, Footprint, WarpPath};

/// No batch is started while this many bytes of blocks wait for the simulator.
const READY: usize = 1 << 25;
/// The number of bytes counted for a block in addition to its warps: about those of its analysis.
const BLOCK: usize = 1 << 11;
/// The number of bytes counted for a warp in addition to its path.
const WARP: usize = size_of::<WarpPath>() + 64;
/// The number of steps that completes a batch, unless [`BLOCKS`] is reached first: a handover costs
/// about as much as simulating a few hundred steps.
const STEPS: u64 = 1 << 14;
const BLOCKS: usize = 128;

/// Any source that may move to another thread.
pub(super) type Source<'s, E> = dyn BlockSource<Error = E> + Send + 's;

/// The blocks of a source that may run ahead.
pub(super) struct Ahead<'s, E> {
    kind: Kind<'s, E>,
    clock: Option<&'s Clock>,
}

enum Kind<'s, E> {
    /// The source does not run ahead.
    Here(&'s mut Source<'s, E>),
    Thread {
        batches: Receiver<Batch<E>>,
        /// Returns taken buffers, to be filled again.
        spare: Sender<Spare>,
        present: Batch<E>,
        footprint: Footprint,
        at_work: Arc<AtomicBool>,
    },
}

/// The buffers of blocks that have been taken, and the size of these blocks in bytes.
type Spare = (Vec<BlockPaths>, usize);

/// A batch of executed blocks.
struct Batch<E> {
    rooms: Vec<BlockPaths>,
    bytes: usize,
    /// The number of buffers whose block the simulator has taken, and the number that hold a block.
    taken: usize,
    filled: usize,
    /// The event after the last block, if no batch follows.
    end: Option<Result<(), E>>,
}

impl<E> Batch<E> {
    fn new(rooms: Vec<BlockPaths>) -> Self {
        Self { rooms, bytes: 0, taken: 0, filled: 0, end: None }
    }

    fn fill(&mut self, source: &mut Source<'_, E>) {
        let mut steps = 0;
        while self.end.is_none() && self.filled < BLOCKS && steps < STEPS {
            if self.filled == self.rooms.len() {
                self.rooms.push(BlockPaths::default());
            }
            let room = &mut self.rooms[self.filled];
            match source.next_block(room) {
                Ok(true) => {
                    steps += room.warp_instructions();
                    self.bytes +=
                        room.warps.iter().map(|warp| WARP + warp.size_bytes()).sum::<usize>() + BLOCK;
                    self.filled += 1;
                }
                Ok(false) => self.end = Some(Ok(())),
                Err(error) => self.end = Some(Err(error)),
            }
        }
    }
}

impl<E> BlockSource for Ahead<'_, E> {
    type Error = E;

    fn next_block(&mut self, paths: &mut BlockPaths) -> Result<bool, E> {
        let (batches, spare, present) = match &mut self.kind {
            Kind::Here(source) => return Clock::waiting(self.clock, || source.next_block(paths)),
            Kind::Thread { batches, spare, present, .. } => (batches, spare, present),
        };
        while present.taken == present.filled {
            if let Some(end) = &mut present.end {
                // an error is returned once, and no block follows it
                return std::mem::replace(end, Ok(())).map(|()| false);
            }
            let over = std::mem::replace(present, Batch::new(Vec::new()));
            // the receiver no longer exists once the last batch has been sent
            let _ = spare.send((over.rooms, over.bytes));
            let next = Clock::waiting(self.clock, || batches.recv());
            *present = next.expect("the last batch of a source says so");
        }
        std::mem::swap(paths, &mut present.rooms[present.taken]);
        present.taken += 1;
        Ok(true)
    }

    fn footprint(&self) -> Footprint {
        match &self.kind {
            Kind::Here(source) => source.footprint(),
            Kind::Thread { footprint, .. } => footprint.clone(),
        }
    }

    fn at_work(&self) -> Option<Arc<AtomicBool>> {
        match &self.kind {
            Kind::Here(_) => None,
            Kind::Thread { at_work, .. } => Some(Arc::clone(at_work)),
        }
    }
}

/// Passes the blocks of a source to `body`. If `thread` is set, a separate thread executes them
/// while `body` runs. The clock measures the waiting for them.
pub(super) fn ahead<E: Send, R>(
    source: &mut Source<'_, E>,
    thread: bool,
    clock: Option<&Clock>,
    body: impl FnOnce(&mut Ahead<'_, E>) -> R,
) -> R {
    if !thread {
        return body(&mut Ahead { kind: Kind::Here(source), clock });
    }
    std::thread::scope(|scope| {
        let (ready, batches) = unbounded();
        let (spare, rooms) = unbounded();
        let footprint = source.footprint();
        let at_work = Arc::new(AtomicBool::new(true));
        let (present, of_thread) = (Batch::new(Vec::new()), Arc::clone(&at_work));
        scope.spawn(move || {
            make(source, &ready, &rooms, &of_thread);
            of_thread.store(false, Relaxed);
        });
        let kind = Kind::Thread { batches, spare, present, footprint, at_work };
        // dropped here, so that the thread does not wait forever
        let mut ahead = Ahead { kind, clock };
        body(&mut ahead)
    })
}

/// Creates batches as long as the receiver takes them.
fn make<E>(
    source: &mut Source<'_, E>,
    ready: &Sender<Batch<E>>,
    back: &Receiver<Spare>,
    at_work: &AtomicBool,
) {
    let (mut waiting, mut spare) = (0, Vec::new());
    loop {
        at_work.store(waiting < READY, Relaxed);
        while let Some((rooms, bytes)) = if waiting < READY { back.try_recv().ok() } else { back.recv().ok() }
        {
            waiting -= bytes;
            spare.push(rooms);
        }
        at_work.store(true, Relaxed);
        let mut batch = Batch::new(spare.pop().unwrap_or_default());
        batch.fill(source);
        waiting += batch.bytes;
        let last = batch.end.is_some();
        // a receiver that was dropped needs no more batches
        if ready.send(batch).is_err() || last {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpbound_core::base::{BlockId, LaneMask, Pc};
    use warpbound_core::path::Step;

    /// A source of `count` blocks, with an error at the end if `fails`.
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

    fn drain(source: &mut Ahead<'_, String>) -> (Vec<BlockPaths>, Result<bool, String>) {
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
        let batch = BLOCKS as u32;
        for (count, fails) in
            [(0, false), (1, true), (batch, false), (batch, true), (1000, false), (1000, true)]
        {
            let of = |thread| ahead(&mut Numbered { next: 0, count, fails }, thread, None, drain);
            assert_eq!(of(true), of(false), "{count} blocks");
            assert_eq!(of(true).0.len(), count as usize);
        }
    }

    #[test]
    fn who_stops_early_does_not_wait_for_the_rest() {
        let mut source = Numbered { next: 0, count: u32::MAX, fails: false };
        let first = ahead(&mut source, true, None, |blocks| {
            let mut room = BlockPaths::default();
            blocks.next_block(&mut room).map(|there| (there, room.block))
        });
        assert_eq!(first, Ok((true, BlockId::new(0))));
        // a batch may begin just before there are enough bytes
        assert!(source.next as usize <= READY / (BLOCK + WARP) + BLOCKS);
    }
}
