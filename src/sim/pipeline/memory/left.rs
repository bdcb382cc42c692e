//! What a launch leaves behind the SMs for the next one, as plain data that can be written down and read again.
//!
//! Between two launches memory comes to rest: what is under way is worked off, and every wait between commands of DRAM
//! is over. What stays is the contents of the L2, the open rows of DRAM, the phases of the clocks, whose turn it is, and
//! how much has been drawn.

use serde::{Deserialize, Serialize};

use super::clock::Clock;
use super::lines::LinesLeft;

/// The memory behind the SMs, at rest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::sim) enum MemoryLeft {
    /// Of a fixed latency: what has been drawn.
    Fixed(Drawn),
    /// Partitions behind a crossbar.
    Partitions(PartitionsLeft),
}

/// Words that a source of random numbers has given, as upper and lower half.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::sim) struct Drawn(u32, u32);

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
pub(in crate::sim) struct PartitionsLeft {
    pub(super) clock: Clock,
    /// By output of the two directions of the crossbar: the input served last.
    pub(super) requests: Vec<usize>,
    pub(super) replies: Vec<usize>,
    pub(super) partitions: Vec<PartitionLeft>,
}

/// The row of a bank as two halves, and whether it is open; nothing of a bank that never had one.
pub(super) type RowLeft = Option<(u32, u32, bool)>;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PartitionLeft {
    pub clock: Clock,
    /// By slice, if there is an L2.
    pub caches: Vec<CacheLeft>,
    /// The slice served last, and what has been drawn for the latency.
    pub served: usize,
    pub drawn: Drawn,
    /// By bank: its row, and whether that is open. Nothing of banks that never had one.
    pub rows: Vec<RowLeft>,
    /// The bank whose turn it is.
    pub turn: usize,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CacheLeft {
    pub lines: LinesLeft,
    pub drawn: Drawn,
}
