//! The state of the memory behind the SMs that a launch leaves for the next one, as plain data that
//! can be serialized.
//!
//! Between two launches memory comes to rest: all requests in flight are completed, and all delays
//! between DRAM commands have passed. What remains is the contents of the L2, the open rows of
//! DRAM, the phases of the clocks, the round robin pointers, and the number of random words drawn.

use serde::{Deserialize, Serialize};

use super::clock::Clock;
use super::lines::CarriedLines;

/// The state of the memory behind the SMs, at rest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) enum CarriedMemory {
    /// The state of a memory of fixed latency: the number of random words drawn.
    Fixed(Drawn),
    /// The state of partitions behind a crossbar.
    Partitions(CarriedPartitions),
}

/// The number of words that a random number generator has produced, as upper and lower half.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Drawn(u32, u32);

impl Drawn {
    pub fn new(words: u128) -> Self {
        Self((words >> 32) as u32, words as u32)
    }

    pub fn words(self) -> u128 {
        u128::from(self.0) << 32 | u128::from(self.1)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CarriedPartitions {
    pub(super) clock: Clock,
    /// For each output of the two directions of the crossbar, the input served last.
    pub(super) requests: Vec<usize>,
    pub(super) replies: Vec<usize>,
    pub(super) partitions: Vec<CarriedPartition>,
}

/// The row of a bank as two halves, and whether it is open; `None` for a bank that never had a row.
pub(super) type CarriedRow = Option<(u32, u32, bool)>;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CarriedPartition {
    pub clock: Clock,
    /// The caches by slice, if there is an L2.
    pub caches: Vec<CarriedCache>,
    /// The slice served last, and the number of random words drawn for the latency.
    pub served: usize,
    pub drawn: Drawn,
    /// For each bank, its row, and whether that is open. `None` for a bank that never had a row.
    pub rows: Vec<CarriedRow>,
    /// The bank at the round robin pointer.
    pub turn: usize,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CarriedCache {
    pub lines: CarriedLines,
    pub drawn: Drawn,
}
