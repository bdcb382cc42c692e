//! The real time that functional execution takes.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use warpbound_core::path::{BlockPaths, BlockSource, Footprint};

/// The real time of the functional execution of a run. No result depends on it.
#[derive(Debug, Default)]
pub struct Clock {
    executed: AtomicU64,
    waited: AtomicU64,
}

impl Clock {
    /// Returns the time that functional execution took, on any thread.
    pub fn executed(&self) -> Duration {
        Duration::from_nanos(self.executed.load(Ordering::Relaxed))
    }

    /// Returns the part of that time for which the simulation waited.
    pub fn waited(&self) -> Duration {
        Duration::from_nanos(self.waited.load(Ordering::Relaxed))
    }

    /// Adds the time of a piece of execution for which the simulation waited.
    pub(super) fn measure<T>(clock: Option<&Self>, work: impl FnOnce() -> T) -> T {
        let Some(clock) = clock else { return work() };
        let began = Instant::now();
        let result = work();
        let time = began.elapsed();
        add(&clock.executed, time);
        add(&clock.waited, time);
        result
    }

    /// Adds a time for which the simulation waited for blocks.
    pub(super) fn add_waited(&self, time: Duration) {
        add(&self.waited, time);
    }
}

fn add(sum: &AtomicU64, time: Duration) {
    sum.fetch_add(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
}

/// A source whose execution is measured.
pub(super) struct Timed<'s, S: ?Sized> {
    pub source: &'s mut S,
    pub clock: &'s Clock,
}

impl<S: BlockSource + ?Sized> BlockSource for Timed<'_, S> {
    type Error = S::Error;

    fn next_block(&mut self, paths: &mut BlockPaths) -> Result<bool, S::Error> {
        let began = Instant::now();
        let result = self.source.next_block(paths);
        add(&self.clock.executed, began.elapsed());
        result
    }

    fn footprint(&self) -> Footprint {
        self.source.footprint()
    }
}
