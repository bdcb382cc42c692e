//! The simulation of a launch on the engine that its machine requires.

use super::error::{RunError, SimError};
use super::paper::{self, PaperMachine};
use super::pipeline::{self, CarriedState};
use super::policy::PolicySetup;
use super::result::{BlockResult, SimSummary};
use super::supply::{AnySource, KeepsError, Kept, On, OnBlock, Supply};
use warpbound_core::machine::Machine;
use warpbound_core::path::{BlockPaths, BlockSource};
use warpbound_core::program::TimingTable;
use warpbound_trace::trace::{Listening, Observer};

/// Simulates a launch, on one SM unless the machine has several.
///
/// Blocks become resident in launch order, at most `resident_blocks` at a time, each with its own
/// warp slots. A block ends at the last completion of its instructions, and in that cycle it makes
/// room for the next block. If one block is resident at a time, the policy restarts with each
/// block. `on_block` is called for every block when it ends; blocks that end in the same cycle are
/// reported in launch order.
///
/// If the source has been stopped, the blocks in flight may be left unfinished, and the summary
/// covers the cycles simulated so far.
///
/// # Errors
/// Returns the error of the source, or the reason why a block could not be simulated to its end.
pub fn simulate<S: BlockSource, O: Observer>(
    source: &mut S,
    table: &TimingTable,
    machine: &Machine,
    setup: &PolicySetup,
    resident_blocks: u32,
    observer: &mut O,
    on_block: impl FnMut(&BlockResult, &BlockPaths),
) -> Result<SimSummary, SimError<S::Error>> {
    let left = &mut CarriedState::default();
    simulate_after(left, 1, source, table, machine, setup, resident_blocks, observer, on_block)
}

/// Simulates a launch like [`simulate`], on a machine whose caches and memory are in the state
/// `left` by earlier launches, and with several SMs on `threads` threads. A launch that comes to
/// its end stores the state that it leaves in `left`. The number of threads changes no event and no
/// cycle.
///
/// # Errors
/// Returns the same errors as [`simulate`].
///
/// # Panics
/// Panics if `left` comes from a launch on another machine.
#[allow(clippy::too_many_arguments, reason = "the arguments of `simulate`, and two more")]
pub fn simulate_after<S: BlockSource, O: Observer>(
    left: &mut CarriedState,
    threads: usize,
    source: &mut S,
    table: &TimingTable,
    machine: &Machine,
    setup: &PolicySetup,
    resident_blocks: u32,
    observer: &mut O,
    mut on_block: impl FnMut(&BlockResult, &BlockPaths),
) -> Result<SimSummary, SimError<S::Error>> {
    let mut source = KeepsError { source, error: None };
    let on = On { threads, table, machine, policy: setup };
    let ran = on_engine(&on, left, &mut source, resident_blocks, observer, &mut on_block);
    ran.map_err(|error| match error {
        SimError::Run(error) => SimError::Run(error),
        SimError::Source(Kept) => {
            SimError::Source(source.error.expect("a source that fails has stored its error"))
        }
    })
}

/// Runs the launch on the engine that the machine requires, and returns its summary. The function
/// is not generic, so that the engines are compiled here and nowhere else.
fn on_engine(
    on: &On<'_>,
    left: &mut CarriedState,
    source: &mut AnySource<'_>,
    resident_blocks: u32,
    observer: &mut dyn Observer,
    on_block: &mut OnBlock<'_>,
) -> Result<SimSummary, SimError<Kept>> {
    let mut supply = Supply::new(source, resident_blocks)?;
    if let Some(pipeline) = on.machine.pipeline() {
        return pipeline::launch(&mut supply, on, left, pipeline, observer, on_block);
    }
    let machine = PaperMachine::of(on.machine).map_err(RunError::from)?;
    match Listening::new(observer) {
        Some(mut observer) => {
            paper::launch(&mut supply, on.table, machine, on.policy, &mut observer, on_block)
        }
        None => paper::launch(&mut supply, on.table, machine, on.policy, &mut (), on_block),
    }
}
