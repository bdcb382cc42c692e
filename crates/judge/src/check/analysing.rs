//! The analysis of blocks for the bounds, beside their simulation.
//!
//! The analysis of a block depends on its paths only. It is made as soon as the block has been
//! executed, on a separate thread if there is one, and the judge takes it up when the block ends.
//! The order of the blocks in the analysis is that of the launch.

use std::collections::HashMap;

use crossbeam::channel::{Receiver, Sender, bounded, unbounded};

use super::ahead::Source;
use super::clock::Clock;
use super::judge::{Analysed, Analysers};
use super::plan::Plan;
use warpbound_core::base::BlockId;
use warpbound_core::diag::Diagnostics;
use warpbound_core::path::{BlockPaths, BlockSource, Footprint};

/// The number of blocks that may wait for their analysis. Beyond it, execution waits.
const WAITING: usize = 8;

/// The blocks of a source, each of which is handed to the analysis before it is passed on.
pub(super) struct Analysing<'s, 'p> {
    source: &'s mut Source<'s, Diagnostics>,
    analysis: Place<'s, 'p>,
}

/// Where blocks are analysed.
enum Place<'s, 'p> {
    Here(Analysis<'s, 'p>, Sender<Done>),
    Thread {
        blocks: Sender<BlockPaths>,
        /// Returns analysed blocks, whose buffers are used again.
        spare: Receiver<BlockPaths>,
    },
}

/// What the analysis of blocks needs.
struct Analysis<'s, 'p> {
    plan: &'p Plan<'p>,
    /// For each bound of the plan, whether it is requested.
    requested: &'s [bool],
    analysers: &'s mut Analysers<'p>,
}

impl Analysis<'_, '_> {
    fn of(&mut self, paths: &BlockPaths) -> Done {
        let Self { plan, requested, analysers } = self;
        let clock = plan.options.clock;
        (paths.block, Clock::analysis(clock, || Analysed::new(plan, requested, analysers, paths)))
    }
}

/// A block with its analysis.
type Done = (BlockId, Analysed);

/// The analyses of blocks that are being simulated or are still to be simulated.
pub(super) struct Analyses {
    coming: Receiver<Done>,
    /// Those that were received before the block ended.
    received: HashMap<BlockId, Analysed>,
}

/// Passes the blocks of a source and their analyses to `body`. `requested` has one entry per bound
/// of the plan. If `thread` is set, a separate thread analyses the blocks while `body` runs.
pub(super) fn analysing<'p, R>(
    source: &mut Source<'_, Diagnostics>,
    plan: &'p Plan<'p>,
    (requested, analysers): (&[bool], &mut Analysers<'p>),
    thread: bool,
    body: impl FnOnce(&mut Analysing<'_, 'p>, Analyses) -> R,
) -> R {
    let (done, coming) = unbounded();
    let analyses = Analyses { coming, received: HashMap::new() };
    let mut analysis = Analysis { plan, requested, analysers };
    if !thread {
        return body(&mut Analysing { source, analysis: Place::Here(analysis, done) }, analyses);
    }
    std::thread::scope(|scope| {
        let (blocks, to_analyse) = bounded::<BlockPaths>(WAITING);
        let (give_back, spare) = unbounded();
        scope.spawn(move || {
            for paths in to_analyse {
                // a judge that is gone needs no more analyses
                if done.send(analysis.of(&paths)).is_err() {
                    return;
                }
                let _ = give_back.send(paths);
            }
        });
        // dropped here, so that the thread does not wait forever
        let mut source = Analysing { source, analysis: Place::Thread { blocks, spare } };
        body(&mut source, analyses)
    })
}

impl BlockSource for Analysing<'_, '_> {
    type Error = Diagnostics;

    fn next_block(&mut self, paths: &mut BlockPaths) -> Result<bool, Diagnostics> {
        let there = self.source.next_block(paths)?;
        if there {
            // without a receiver, the analysis is not needed any more
            let _ = match &mut self.analysis {
                Place::Here(analysis, done) => done.send(analysis.of(paths)).is_ok(),
                Place::Thread { blocks, spare } => {
                    let mut copy = spare.try_recv().unwrap_or_default();
                    copy.clone_from(paths);
                    blocks.send(copy).is_ok()
                }
            };
        }
        Ok(there)
    }

    fn footprint(&self) -> Footprint {
        self.source.footprint()
    }
}

impl Analyses {
    /// Removes and returns the analysis of a block that the source has passed on.
    pub fn take(&mut self, block: BlockId) -> Analysed {
        if let Some(analysed) = self.received.remove(&block) {
            return analysed;
        }
        loop {
            let (other, analysed) = self.coming.recv().expect("each block that is simulated is analysed");
            if other == block {
                return analysed;
            }
            self.received.insert(other, analysed);
        }
    }
}
