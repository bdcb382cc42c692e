//! Bank conflicts of shared memory as people write them.

use serde::{Deserialize, Serialize};

/// How conflicts are counted and what they cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum BankRule {
    /// Adalbert et al., ERTS 2022: lanes are served in pools, each with a transaction of its own.
    #[serde(alias = "pascal")]
    Pascal,
    /// Measured by microbenchmarks on two TU102: an n-way conflict takes 22 + 2(n-1) cycles.
    #[serde(alias = "turing")]
    Turing,
    /// GPGPU-Sim: a cycle of initiation for each distinct word of the most loaded bank, counting
    /// the first word of each lane only; the latency is that of the unit.
    #[serde(alias = "words")]
    Words,
}

/// `SharedMemory(rule: Pascal, ..)` as people write it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename = "SharedMemory", deny_unknown_fields, default)]
pub struct SharedMemorySpec {
    /// How conflicts are counted and what they cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<BankRule>,
    /// Banks of 4-byte words; 32 by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub banks: Option<u32>,
    /// Pascal and Turing: cycles of every access; 22 by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency: Option<u64>,
    /// Pascal and Turing: cycles of each extra transaction; 2 by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<u64>,
    /// Pascal: further cycles of an access of at most 32 bits; 1 by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_32: Option<u64>,
    /// Pascal: further cycles of a 64-bit access; 8 by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_64: Option<u64>,
    /// Pascal: further cycles of a 128-bit (or wider) access; 16 by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_128: Option<u64>,
    /// Where the numbers come from.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub source: String,
}
