//! SMs in which nothing moves.
//!
//! An SM whose load/store unit waits for memory soon stands still: accesses wait for the unit, instructions for the
//! accesses, and the L1 refuses the same transactions in every cycle. Nobody needs to look at it then until memory
//! answers or takes a request, or until something is due by itself. Only the refusals count on.

use super::Sm;
use super::place::Places;

impl Sm<'_> {
    /// Whether every cycle after one in which nothing happened is like that one, until something is due or comes from outside.
    pub(super) fn is_stuck(&self) -> bool {
        let load_store = Places::of_unit(self.code.load_store);
        // who listens to samples hears of the refusals in each cycle
        self.told.is_none()
            && !self.schedulers.any_awake()
            && self.collector.as_ref().is_none_or(|collector| {
                collector.is_stuck() && collector.collected().without(load_store).is_empty()
            })
            && self.load_store.as_ref().is_some_and(|unit| unit.is_stuck())
    }

    /// A cycle begins in which somebody looks at the SM again.
    #[inline]
    pub(super) fn end_stuck(&mut self) {
        if let (Some(since), Some(unit)) = (self.stuck_since.take(), &mut self.load_store) {
            unit.refused_for(self.now.saturating_sub(since + 1));
        }
    }
}
