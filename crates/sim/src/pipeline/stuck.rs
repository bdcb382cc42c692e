//! SMs in which nothing moves.
//!
//! An SM whose load/store unit waits for memory soon stalls completely: accesses wait for the unit,
//! instructions wait for the accesses, and the L1 refuses the same transactions in every cycle.
//! Such an SM need not be simulated until memory replies or accepts a request, or until an event is
//! due by time alone. Only the counters of refusals continue.

use super::Sm;
use super::latch_entry::LatchEntries;

impl Sm<'_> {
    /// Returns, after a cycle in which nothing happened, whether every later cycle repeats it until
    /// an event is due or comes from outside.
    pub(super) fn is_stuck(&self) -> bool {
        let load_store = LatchEntries::of_unit(self.code.load_store);
        // samples include the refusals of each cycle
        self.told.is_none()
            && !self.schedulers.any_awake()
            && self.collector.as_ref().is_none_or(|collector| {
                collector.is_stuck() && collector.collected().without(load_store).is_empty()
            })
            && self.load_store.as_ref().is_some_and(|unit| unit.is_stuck())
    }

    /// Ends the stalled phase in the cycle in which the SM is simulated again.
    #[inline]
    pub(super) fn end_stuck(&mut self) {
        if let (Some(since), Some(unit)) = (self.stuck_since.take(), &mut self.load_store) {
            unit.refused_for(self.now.saturating_sub(since + 1));
        }
    }
}
