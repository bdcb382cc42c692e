//! Runs that differ by chance: what is drawn anew for each.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::machine::Random;

/// As many runs of everything that a plan lists, each with the next number. A number decides all that is drawn for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename = "Draws", deny_unknown_fields)]
pub struct Draws {
    /// How many.
    pub count: u64,
    /// The first number.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub from: u64,
    /// What is drawn. What else the machines do at random they do not do then.
    pub of: Vec<Source>,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// A source of variation between runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Source {
    /// Random contents of buffers, with the run's number as their seed.
    Inputs,
    /// Which lines of caches make room.
    Replacement,
    /// Additions to the latency of memory.
    Jitter,
    /// Which SM gets the next block.
    Placement,
}

impl Source {
    /// All there are.
    pub const ALL: [Self; 4] = [Self::Inputs, Self::Replacement, Self::Jitter, Self::Placement];

    /// As a command line names it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Inputs => "inputs",
            Self::Replacement => "replacement",
            Self::Jitter => "jitter",
            Self::Placement => "placement",
        }
    }

    /// What the machine does of it.
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
    /// Whether inputs are drawn: every run has a functional run of its own then.
    pub fn has_inputs(&self) -> bool {
        self.of.contains(&Source::Inputs)
    }

    /// What machines do at random.
    pub fn randoms(&self) -> Vec<Random> {
        self.of.iter().filter_map(|source| source.random()).collect()
    }
}
