//! The simulation of blocks: of a whole launch, or of one block at a time.

use super::{PaperMachine, SlotSteps, Sm};
use crate::SLOTS;
use crate::blocks::Layout;
use crate::error::{RunError, SimError};
use crate::policy::{Gto, Lrr, Policy, PolicyError, PolicySetup};
use crate::result::{BlockResult, SimSummary, SubCoreResult};
use crate::supply::Supply;
use crate::supply::{Kept, OnBlock};
use warpbound_core::base::{BlockId, Cycles};
use warpbound_core::path::BlockPaths;
use warpbound_core::program::TimingTable;
use warpbound_trace::trace::{Event, Listening, Observer, Stalls};

/// Evaluates an expression with the policies that a setup selects, one for each sub-core. It is
/// compiled three times, because most runs use GTO or LRR on one sub-core.
macro_rules! with_policies {
    ($setup:expr, $machine:expr, $policies:ident => $run:expr) => {
        match ($setup, $machine.sub_cores().count()) {
            (PolicySetup::Gto, 1) => {
                let $policies = &mut [Gto::default()];
                $run
            }
            (PolicySetup::Lrr, 1) => {
                let $policies = &mut [Lrr::default()];
                $run
            }
            (any, _) => {
                let $policies = &mut any.policies($machine.machine());
                $run
            }
        }
    };
}

/// Simulates a launch; see [`crate::simulate`].
pub(crate) fn launch<O: Observer>(
    supply: &mut Supply<'_, '_>,
    table: &TimingTable,
    machine: PaperMachine<'_>,
    setup: &PolicySetup,
    observer: &mut O,
    on_block: &mut OnBlock<'_>,
) -> Result<SimSummary, SimError<Kept>> {
    with_policies!(setup, machine, policies => launch_with(supply, table, policies, observer, on_block))
}

fn launch_with<P: Policy, O: Observer>(
    supply: &mut Supply<'_, '_>,
    table: &TimingTable,
    policies: &mut [P],
    observer: &mut O,
    on_block: &mut OnBlock<'_>,
) -> Result<SimSummary, SimError<Kept>> {
    let layout = supply.layout();
    let mut sm = Sm::new(table, layout);
    let mut resident_paths = vec![BlockPaths::default(); layout.cta_slots()];
    let mut result = BlockResult::default();
    loop {
        while let Some(cta_slot) = sm.free_cta_slot() {
            if !supply.next(&mut resident_paths[cta_slot])? {
                break;
            }
            if layout.is_one() {
                policies.iter_mut().for_each(P::restart);
            }
            sm.place(cta_slot, &resident_paths[cta_slot], policies, observer);
        }
        if sm.is_empty() {
            break;
        }
        let mut steps: SlotSteps<'_> = [&[]; SLOTS];
        sm.steps_of(&resident_paths, &mut steps);
        sm.run(&steps, policies, observer)?;
        while let Some(cta_slot) = sm.take_ended(&mut result) {
            ended(policies, result.block)?;
            observer.on(&Event::BlockEnded { block: result.block, end: sm.now() });
            on_block(&result, &resident_paths[cta_slot]);
        }
    }
    let makespan = sm.now().since_start();
    let sub_cores = sm.used[..policies.len()].to_vec();
    let total = total(&sub_cores, makespan);
    Ok(SimSummary {
        makespan,
        issues: total.issues,
        stalls: total.stalls,
        sub_cores,
        blocks: supply.given(),
        resident_blocks: layout.cta_slots() as u32,
        memory: None,
    })
}

fn ended<P: Policy>(policies: &mut [P], block: BlockId) -> Result<(), Box<PolicyError>> {
    policies.iter_mut().try_for_each(|policy| policy.ended(block))
}

/// Returns the sum over the sub-cores, each of which accounts for every cycle of the makespan.
fn total(sub_cores: &[SubCoreResult], makespan: Cycles) -> SubCoreResult {
    let mut total = SubCoreResult::default();
    for used in sub_cores {
        debug_assert_eq!(Cycles::new(used.issues) + used.stalls.total(), makespan);
        total += *used;
    }
    total
}

/// An engine that simulates one block at a time, each by itself from cycle 0, and reuses its
/// memory.
#[derive(Clone, Debug)]
pub struct Engine<'a> {
    sm: Sm<'a>,
    machine: PaperMachine<'a>,
}

impl<'a> Engine<'a> {
    /// Creates an engine for a program on a machine of the paper model.
    pub fn new(table: &'a TimingTable, machine: PaperMachine<'a>) -> Self {
        Self { sm: Sm::new(table, Layout::ONE), machine }
    }

    /// Simulates a block.
    ///
    /// # Errors
    /// Returns the reason why the block could not be simulated to its end.
    pub fn run_block<O: Observer>(
        &mut self,
        paths: &BlockPaths,
        setup: &PolicySetup,
        observer: &mut O,
    ) -> Result<BlockResult, RunError> {
        self.run_under(paths, setup, observer)
    }

    /// Runs a block. The function is not generic, so that the engine is compiled here and nowhere
    /// else.
    fn run_under(
        &mut self,
        paths: &BlockPaths,
        setup: &PolicySetup,
        observer: &mut dyn Observer,
    ) -> Result<BlockResult, RunError> {
        let machine = self.machine;
        match Listening::new(observer) {
            Some(mut observer) => {
                with_policies!(setup, machine, policies => self.run_block_with(paths, policies, &mut observer))
            }
            None => with_policies!(setup, machine, policies => self.run_block_with(paths, policies, &mut ())),
        }
    }

    /// Simulates a block under policies of the caller, one for each sub-core of the machine. The
    /// policies are restarted first.
    ///
    /// # Errors
    /// Returns the reason why the block could not be simulated to its end.
    ///
    /// # Panics
    /// Panics if the number of policies differs from the number of sub-cores.
    pub fn run_block_with<P: Policy, O: Observer>(
        &mut self,
        paths: &BlockPaths,
        policies: &mut [P],
        observer: &mut O,
    ) -> Result<BlockResult, RunError> {
        assert_eq!(policies.len(), self.machine.sub_cores().count(), "one policy for each sub-core");
        Layout::ONE.fits(paths)?;
        self.sm.restart(Layout::ONE);
        policies.iter_mut().for_each(P::restart);
        self.sm.place(0, paths, policies, observer);
        let mut steps: SlotSteps<'_> = [&[]; SLOTS];
        self.sm.steps_of(std::slice::from_ref(paths), &mut steps);
        self.sm.run(&steps, policies, observer)?;
        let mut result = BlockResult::default();
        self.sm.take_ended(&mut result);
        ended(policies, result.block)?;
        observer.on(&Event::BlockEnded { block: result.block, end: self.sm.now() });
        total(self.sub_cores(), result.makespan);
        Ok(result)
    }

    /// Returns the results of the sub-cores for the last block.
    pub fn sub_cores(&self) -> &[SubCoreResult] {
        &self.sm.used[..self.machine.sub_cores().count()]
    }

    /// Returns the idle issue slots of the last block by reason, summed over all sub-cores.
    /// Together with the issues of the block they add up to its makespan times the number of
    /// sub-cores.
    pub fn stalls(&self) -> Stalls {
        let mut stalls = Stalls::default();
        self.sub_cores().iter().for_each(|used| stalls += used.stalls);
        stalls
    }
}
