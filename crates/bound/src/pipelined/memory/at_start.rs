//! What a launch finds in memory, and what is assumed about it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What is known of the L2 after the launches so far: nothing is in it, or only these lines are, or
/// its content is unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemoryLeft {
    pub(super) is_unknown: bool,
    /// For each line of 128 bytes, the sectors that can be read, as a mask.
    pub(super) lines: BTreeMap<u64, u8>,
}

impl MemoryLeft {
    /// Returns the state after launches that were not analysed.
    pub fn unknown() -> Self {
        Self { is_unknown: true, ..Self::default() }
    }

    /// Returns whether everything that is stated here follows from `known`: no line can be in the L2
    /// that cannot be there according to this, and every sector that can be read according to this can
    /// be read.
    pub fn follows_from(&self, known: &Self) -> bool {
        let readable = |line: &u64| known.lines.get(line).copied().unwrap_or(0);
        self.is_unknown
            || !known.is_unknown
                && known.lines.keys().all(|line| self.lines.contains_key(line))
                && self.lines.iter().all(|(line, sectors)| sectors & !readable(line) == 0)
    }
}

/// What a launch finds in memory.
#[derive(Clone, Copy, Debug)]
pub struct AtStart<'a> {
    /// What earlier launches have left.
    pub left: &'a MemoryLeft,
    /// The regions that have been copied to the L2 since, by address and number of bytes.
    pub copied: &'a [(u64, u64)],
    /// The shared memory of a block in bytes.
    pub shared_bytes: u64,
}

/// Whether lines of the caches stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::pipelined) enum Stays {
    /// Any line may be replaced at any time.
    No,
    /// No line of the L2 is replaced during the launch.
    Yes,
    /// Nor is a line of an L1, and no sector of it has to be fetched twice.
    InL1,
}

impl Stays {
    /// The cases, each with more premises than the one before.
    pub const ALL: [Self; 3] = [Self::No, Self::Yes, Self::InL1];
}
