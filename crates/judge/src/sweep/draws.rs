//! Runs that differ by chance, and the values that are drawn for each.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use warpbound_core::machine::Random;

/// Repeated runs of everything that a plan lists. They have consecutive numbers. The number of a
/// run determines everything that is drawn for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename = "Draws", deny_unknown_fields)]
pub struct Draws {
    /// The number of runs.
    pub count: u64,
    /// The number of the first run.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub from: u64,
    /// The sources of variation that are drawn. Other random behaviour of the machines is switched
    /// off.
    pub of: Vec<Source>,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// A source of variation between runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Source {
    /// Random contents of buffers, with the run's number as the seed.
    Inputs,
    /// The choice of the cache line to evict.
    Replacement,
    /// Additional latency of memory.
    Jitter,
    /// The choice of the SM that receives the next block.
    Placement,
}

impl Source {
    /// All sources.
    pub const ALL: [Self; 4] = [Self::Inputs, Self::Replacement, Self::Jitter, Self::Placement];

    /// Returns the name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Inputs => "inputs",
            Self::Replacement => "replacement",
            Self::Jitter => "jitter",
            Self::Placement => "placement",
        }
    }

    /// Returns the random behaviour of the machine that corresponds to this source, if it is one of
    /// the machine.
    pub fn random(self) -> Option<Random> {
        match self {
            Self::Inputs => None,
            Self::Replacement => Some(Random::Replacement),
            Self::Jitter => Some(Random::Jitter),
            Self::Placement => Some(Random::Placement),
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Source {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|source| source.name() == text.trim());
        known.ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.into_iter().map(Self::name).collect();
            format!("expected some of {}", names.join(", "))
        })
    }
}

impl Draws {
    /// Returns whether inputs are drawn; every run then has a separate functional run.
    pub fn has_inputs(&self) -> bool {
        self.of.contains(&Source::Inputs)
    }

    /// Returns the random behaviour of machines that is drawn.
    pub fn randoms(&self) -> Vec<Random> {
        self.of.iter().filter_map(|source| source.random()).collect()
    }
}
