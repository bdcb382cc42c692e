//! Progress and cancellation of a long computation.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The progress of a long computation, and a stop request to it.
///
/// The computation polls it regularly, ends early if a stop is requested, and returns what it has
/// found so far. The result depends on the monitor in no other way. The monitor has no clock: the
/// caller decides when to stop.
#[derive(Debug, Default)]
pub struct ProgressMonitor {
    stopped: Arc<AtomicBool>,
    /// Whether the computation has noticed the stop request.
    noticed: Arc<AtomicBool>,
    done: AtomicU64,
    states: AtomicU64,
}

impl ProgressMonitor {
    /// Creates a monitor without progress and without a stop request.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns another monitor that counts separate steps but shares the stop request. It is for a
    /// part of the computation whose steps are not displayed.
    #[must_use]
    pub fn beside(&self) -> Self {
        let (stopped, noticed) = (Arc::clone(&self.stopped), Arc::clone(&self.noticed));
        Self { stopped, noticed, ..Self::default() }
    }

    /// Requests that the computation stop as soon as possible.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    /// Returns whether a stop is requested.
    #[inline]
    pub fn is_stopped(&self) -> bool {
        let stopped = self.stopped.load(Ordering::Relaxed);
        if stopped {
            self.noticed.store(true, Ordering::Relaxed);
        }
        stopped
    }

    /// Returns whether the computation has noticed the stop request, so that it will return a
    /// result soon.
    pub fn has_noticed(&self) -> bool {
        self.noticed.load(Ordering::Relaxed)
    }

    /// Adds completed steps; the computation defines what a step is.
    pub fn advance(&self, steps: u64) {
        self.done.fetch_add(steps, Ordering::Relaxed);
    }

    /// Sets the progress of a search: the number of steps and of distinct states.
    pub fn searched(&self, steps: u64, states: u64) {
        self.done.store(steps, Ordering::Relaxed);
        self.states.store(states, Ordering::Relaxed);
    }

    /// Resets the numbers of steps and states for another computation.
    pub fn restart(&self) {
        self.searched(0, 0);
    }

    /// Returns the number of completed steps.
    pub fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }

    /// Returns the number of distinct states that a search has visited.
    pub fn states(&self) -> u64 {
        self.states.load(Ordering::Relaxed)
    }
}
