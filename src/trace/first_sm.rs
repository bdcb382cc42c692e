//! A filter that passes on the events of SM 0 and of the memory that it shares with other SMs, for
//! observers that distinguish only the slots and units of one SM.

use super::{BlockStart, Idle, Issue, Observer, Release, Sample, WarpFinish};
use crate::base::{BlockId, Cycle};

/// Passes on the events of SM 0 and of the memory that it shares with other SMs.
#[derive(Clone, Debug, Default)]
pub struct FirstSm<O> {
    inner: O,
    elsewhere: bool,
}

impl<O> FirstSm<O> {
    /// Creates a filter that passes events on to this observer.
    pub fn new(inner: O) -> Self {
        Self { inner, elsewhere: false }
    }

    /// Returns the observer.
    pub fn into_inner(self) -> O {
        self.inner
    }

    fn here(&mut self) -> Option<&mut O> {
        (!self.elsewhere).then_some(&mut self.inner)
    }
}

impl<O: Observer> Observer for FirstSm<O> {
    fn is_active(&self) -> bool {
        self.inner.is_active()
    }
    fn wants_samples(&self) -> bool {
        self.inner.wants_samples()
    }
    fn wants_order(&self) -> bool {
        // the events are those of one SM
        false
    }
    fn on_sm(&mut self, sm: usize) {
        self.elsewhere = sm != 0;
    }
    fn block_started(&mut self, start: &BlockStart) {
        self.here().into_iter().for_each(|inner| inner.block_started(start));
    }
    fn issued(&mut self, issue: &Issue) {
        self.here().into_iter().for_each(|inner| inner.issued(issue));
    }
    fn idled(&mut self, idle: &Idle) {
        self.here().into_iter().for_each(|inner| inner.idled(idle));
    }
    fn barrier_released(&mut self, release: &Release) {
        self.here().into_iter().for_each(|inner| inner.barrier_released(release));
    }
    fn warp_finished(&mut self, finish: &WarpFinish) {
        self.here().into_iter().for_each(|inner| inner.warp_finished(finish));
    }
    fn block_ended(&mut self, block: BlockId, end: Cycle) {
        self.here().into_iter().for_each(|inner| inner.block_ended(block, end));
    }
    fn sampled(&mut self, sample: &Sample) {
        if !self.elsewhere || sample.counted.is_shared() {
            self.inner.sampled(sample);
        }
    }
}
