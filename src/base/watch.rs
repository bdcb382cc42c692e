//! A long computation as others see it while it runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Shared between a long computation and whoever started it: how far it is, and whether it should
/// end.
///
/// What computes looks at it now and then, ends early if asked to, and says what it knows by then.
/// Nothing else of a result depends on it. It has no clock: when to stop is decided outside.
#[derive(Debug, Default)]
pub struct Watch {
    stopped: Arc<AtomicBool>,
    /// Whether the computation has seen that it should end.
    noticed: Arc<AtomicBool>,
    done: AtomicU64,
    states: AtomicU64,
}

impl Watch {
    /// Nothing done, and nobody wants it to end.
    pub fn new() -> Self {
        Self::default()
    }

    /// Another one that counts steps of its own and ends with this one: for a part of the computation whose steps
    /// are not those that are shown.
    #[must_use]
    pub fn beside(&self) -> Self {
        let (stopped, noticed) = (Arc::clone(&self.stopped), Arc::clone(&self.noticed));
        Self { stopped, noticed, ..Self::default() }
    }

    /// Asks the computation to end as soon as it can.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    /// Whether it should end.
    #[inline]
    pub fn is_stopped(&self) -> bool {
        let stopped = self.stopped.load(Ordering::Relaxed);
        if stopped {
            self.noticed.store(true, Ordering::Relaxed);
        }
        stopped
    }

    /// Whether the computation has seen that it should end, so that it is on its way to a result.
    pub fn has_noticed(&self) -> bool {
        self.noticed.load(Ordering::Relaxed)
    }

    /// So many more steps are done; the computation says what a step is.
    pub fn advance(&self, steps: u64) {
        self.done.fetch_add(steps, Ordering::Relaxed);
    }

    /// A search has come so far: steps, and distinct states.
    pub fn searched(&self, steps: u64, states: u64) {
        self.done.store(steps, Ordering::Relaxed);
        self.states.store(states, Ordering::Relaxed);
    }

    /// Another computation begins: no steps, no states.
    pub fn restart(&self) {
        self.searched(0, 0);
    }

    /// Steps done.
    pub fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }

    /// Distinct states seen by a search.
    pub fn states(&self) -> u64 {
        self.states.load(Ordering::Relaxed)
    }
}
