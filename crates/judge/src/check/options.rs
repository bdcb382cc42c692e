//! The options of runs, which are the same for every kernel, machine and policy of a check.

use super::clock::Clock;
use warpbound_bound::Bound;
use warpbound_core::base::ProgressMonitor;

/// The options of runs: how they are executed, and what is judged.
#[derive(Clone, Copy)]
pub struct RunOptions<'a> {
    /// The bounds.
    pub bounds: &'a [Box<dyn Bound>],
    /// The names of the bounds that determine the verdict; empty for all.
    pub gating: &'a [String],
    /// The largest number of instructions that the functional run executes per block.
    pub max_instructions_per_block: u64,
    /// The number of threads for machines with several SMs; it does not change any result.
    pub threads: usize,
    /// The number of threads for kernels of an application that are independent of each other.
    pub jobs: usize,
    /// Whether blocks are executed on a separate thread while earlier ones are simulated. This does
    /// not change any result either.
    pub ahead: bool,
    /// Whether to compare the analyser with the simulator on every warp alone.
    pub self_check: bool,
    /// The number of bytes that the race detector may use to record accesses whose order matters;
    /// without it no verdict is final. `None` trusts the kernels and disables the detector.
    pub race_memory: Option<usize>,
    /// The monitor, which is notified of every block that a policy has completed, and can stop the
    /// runs.
    pub monitor: &'a ProgressMonitor,
    /// Measures the real time of execution, if it is wanted.
    pub clock: Option<&'a Clock>,
}

impl<'a> RunOptions<'a> {
    /// Creates the options of runs that execute this many instructions per block at most. They run
    /// on one thread, judge no bound, and do not look for races.
    pub fn new(max_instructions_per_block: u64, monitor: &'a ProgressMonitor) -> Self {
        Self {
            bounds: &[],
            gating: &[],
            max_instructions_per_block,
            threads: 1,
            jobs: 1,
            ahead: false,
            self_check: false,
            race_memory: None,
            monitor,
            clock: None,
        }
    }

    /// Sets the bounds to judge, and the names of those that determine the verdict; no names mean
    /// all bounds.
    pub fn judged_by(self, bounds: &'a [Box<dyn Bound>], gating: &'a [String]) -> Self {
        Self { bounds, gating, ..self }
    }

    /// Sets the number of threads for machines with several SMs.
    pub fn threads(self, threads: usize) -> Self {
        Self { threads, ..self }
    }

    /// Sets the number of threads for kernels that are independent of each other.
    pub fn jobs(self, jobs: usize) -> Self {
        Self { jobs, ..self }
    }

    /// Sets whether blocks are executed on a separate thread.
    pub fn ahead(self, ahead: bool) -> Self {
        Self { ahead, ..self }
    }

    /// Executes blocks ahead of the simulation only if runs use a single thread.
    pub fn ahead_unless_parallel(self, threads: usize) -> Self {
        Self { ahead: self.ahead && threads == 1, ..self }
    }

    /// Sets the clock that measures the real time of execution; `None` measures nothing.
    pub fn timed_by(self, clock: Option<&'a Clock>) -> Self {
        Self { clock, ..self }
    }

    /// Sets whether the analyser is compared with the simulator on every warp alone.
    pub fn self_check(self, self_check: bool) -> Self {
        Self { self_check, ..self }
    }

    /// Sets the number of bytes for the race detector; `None` disables it.
    pub fn race_memory(self, race_memory: Option<usize>) -> Self {
        Self { race_memory, ..self }
    }
}
