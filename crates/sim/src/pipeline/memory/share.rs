//! Shares of partitions, each of which one thread takes at a time.

use super::clock::Clock;
use super::partition::Partition;

/// Some partitions, and their work in the present window.
#[derive(Clone, Debug, Default)]
pub struct Share {
    pub(super) partitions: Vec<Partition>,
    /// The last tick of the window.
    until: u64,
    /// The clock, if the counters of the window are to be recorded by cycle.
    remembers: Option<Clock>,
}

impl Share {
    /// The number of partitions of a share; the last share may have fewer.
    pub(super) const PARTITIONS: usize = 2;

    pub(super) fn new(partitions: &[Partition]) -> Self {
        Self { partitions: partitions.to_vec(), until: 0, remembers: None }
    }

    /// Starts a window.
    pub(super) fn begin(&mut self, until: u64, remembers: Option<Clock>) {
        (self.until, self.remembers) = (until, remembers);
    }

    /// Simulates the window.
    pub fn run(&mut self) {
        for partition in &mut self.partitions {
            partition.run(self.until, self.remembers.map(|clock| move |tick| clock.cycle_of(tick) - 1));
        }
    }

    /// Returns the amount of work in the window, in units of requests.
    pub fn load(&self) -> usize {
        self.partitions.iter().map(Partition::load).sum()
    }
}
