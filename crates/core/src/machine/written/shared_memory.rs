//! The settings of bank conflicts of shared memory.

use serde::{Deserialize, Serialize};

/// The rule by which conflicts are counted, and their cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum BankRule {
    /// Adalbert et al., ERTS 2022: lanes are served in pools, each with a separate transaction.
    #[serde(alias = "pascal")]
    Pascal,
    /// Measured by microbenchmarks on two TU102: an n-way conflict takes 22 + 2(n-1) cycles.
    #[serde(alias = "turing")]
    Turing,
    /// GPGPU-Sim: one cycle of initiation for each distinct word of the most loaded bank, where
    /// only the first word of each lane counts; the latency is that of the unit.
    #[serde(alias = "words")]
    Words,
}

/// The conflicts between lanes of an atomic that access the same word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum AtomicRule {
    /// A word is served once, for all lanes, as in GPGPU-Sim.
    #[default]
    Words,
    /// A word is served once for each lane. On a TU102 and an H100, an atomic of n lanes at one word
    /// takes 2(n-1) cycles longer than that of one lane.
    Lanes,
}

/// The `SharedMemory(rule: Pascal, ..)` of a machine file.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename = "SharedMemory", deny_unknown_fields, default)]
pub struct SharedMemorySpec {
    /// The rule by which conflicts are counted, and their cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<BankRule>,
    /// The number of banks of 4-byte words; 32 by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub banks: Option<u32>,
    /// Pascal and Turing: the number of cycles that every access takes; 22 by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency: Option<u64>,
    /// Pascal and Turing: the number of cycles that each extra transaction takes; 2 by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<u64>,
    /// Pascal: the number of additional cycles of an access of at most 32 bits; 1 by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_32: Option<u64>,
    /// Pascal: the number of additional cycles of a 64-bit access; 8 by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_64: Option<u64>,
    /// Pascal: the number of additional cycles of an access of 128 bits or more; 16 by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_128: Option<u64>,
    /// The conflicts between lanes of an atomic that access the same word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub atomics: Option<AtomicRule>,
    /// The source of the numbers.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub source: String,
}
