//! Partitions that one thread takes at a time.

use super::clock::Clock;
use super::partition::Partition;

/// Some partitions, and what they are to do in the present window.
#[derive(Clone, Debug, Default)]
pub struct Share {
    pub(super) partitions: Vec<Partition>,
    /// The last tick of the window.
    until: u64,
    /// The clock, if what has happened by when is to be remembered.
    remembers: Option<Clock>,
}

impl Share {
    /// Partitions of a share, but for the last.
    pub(super) const PARTITIONS: usize = 2;

    pub(super) fn new(partitions: &[Partition]) -> Self {
        Self { partitions: partitions.to_vec(), until: 0, remembers: None }
    }

    /// A window begins.
    pub(super) fn begin(&mut self, until: u64, remembers: Option<Clock>) {
        (self.until, self.remembers) = (until, remembers);
    }

    /// Goes through the window.
    pub fn run(&mut self) {
        for partition in &mut self.partitions {
            partition.run(self.until, self.remembers.map(|clock| move |tick| clock.cycle_of(tick) - 1));
        }
    }

    /// How much there is to do in the window, in requests.
    pub fn load(&self) -> usize {
        self.partitions.iter().map(Partition::load).sum()
    }
}
