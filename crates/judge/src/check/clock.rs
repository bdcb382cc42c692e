//! The real time that functional execution and the analysis of blocks take.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use warpbound_core::path::{BlockPaths, BlockSource, Footprint};

/// The real time of the functional execution of a run and of the analysis for its bounds. No result
/// depends on it.
#[derive(Debug, Default)]
pub struct Clock {
    executed: AtomicU64,
    analysed: AtomicU64,
    waited: AtomicU64,
}

impl Clock {
    /// Returns the time that functional execution took, on any thread.
    pub fn executed(&self) -> Duration {
        Duration::from_nanos(self.executed.load(Ordering::Relaxed))
    }

    /// Returns the time that the analysis of blocks took, on any thread.
    pub fn analysed(&self) -> Duration {
        Duration::from_nanos(self.analysed.load(Ordering::Relaxed))
    }

    /// Returns the part of these times for which the simulation waited.
    pub fn waited(&self) -> Duration {
        Duration::from_nanos(self.waited.load(Ordering::Relaxed))
    }

    /// Measures a piece of execution for which the simulation waits.
    pub(super) fn execution<T>(clock: Option<&Self>, work: impl FnOnce() -> T) -> T {
        Self::waiting(clock, || Self::measure(clock, work, |clock| &clock.executed))
    }

    /// Measures the analysis of a block.
    pub(super) fn analysis<T>(clock: Option<&Self>, work: impl FnOnce() -> T) -> T {
        Self::measure(clock, work, |clock| &clock.analysed)
    }

    /// Measures a time for which the simulation waits.
    pub(super) fn waiting<T>(clock: Option<&Self>, work: impl FnOnce() -> T) -> T {
        Self::measure(clock, work, |clock| &clock.waited)
    }

    fn measure<T>(clock: Option<&Self>, work: impl FnOnce() -> T, sum: fn(&Self) -> &AtomicU64) -> T {
        let Some(clock) = clock else { return work() };
        let began = Instant::now();
        let result = work();
        let nanoseconds = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        sum(clock).fetch_add(nanoseconds, Ordering::Relaxed);
        result
    }
}

/// A source whose execution is measured, if there is a clock.
pub(super) struct Timed<'s, S: ?Sized> {
    pub source: &'s mut S,
    pub clock: Option<&'s Clock>,
}

impl<S: BlockSource + ?Sized> BlockSource for Timed<'_, S> {
    type Error = S::Error;

    fn next_block(&mut self, paths: &mut BlockPaths) -> Result<bool, S::Error> {
        Clock::measure(self.clock, || self.source.next_block(paths), |clock| &clock.executed)
    }

    fn footprint(&self) -> Footprint {
        self.source.footprint()
    }
}
