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

    /// Divides partitions into shares.
    pub(super) fn of(mut partitions: impl Iterator<Item = Partition>) -> Vec<Self> {
        let next = || {
            let partitions: Vec<_> = partitions.by_ref().take(Self::PARTITIONS).collect();
            (!partitions.is_empty()).then_some(Self { partitions, until: 0, remembers: None })
        };
        std::iter::from_fn(next).collect()
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
