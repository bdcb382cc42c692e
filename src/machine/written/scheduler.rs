//! The names and contracts of the warp scheduling policies ([the model](crate::model#5-policies), section 5).
//!
//! How a policy decides is `sim`'s business. What it promises is said here, because `bound` must
//! see the contract and never the policy.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A policy by name. In RON `Gto`, `Random(7)`; on the command line `gto`, `random:7`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SchedulerKind {
    /// Greedy then oldest.
    Gto,
    /// Loose round robin.
    Lrr,
    /// Strict round robin.
    Srr,
    /// Greedy, then strict round robin.
    Gsrr,
    /// Oldest ready warp.
    Oldest,
    /// A small active set, refilled when a warp waits for global memory.
    TwoLevel,
    /// Any ready warp, drawn from ChaCha8 with this seed.
    Random(u64),
    /// Decisions read from a file.
    Replay(String),
}

impl SchedulerKind {
    /// Every policy that needs nothing but its name, for help texts and sweeps.
    pub const NAMED: [Self; 6] = [Self::Gto, Self::Lrr, Self::Srr, Self::Gsrr, Self::Oldest, Self::TwoLevel];

    /// The contract: if some warp is ready, some instruction issues.
    ///
    /// `None` where it depends on the contents of a file.
    pub fn work_conserving(&self) -> Option<bool> {
        match self {
            Self::Gto | Self::Lrr | Self::Oldest | Self::Random(_) => Some(true),
            Self::Srr | Self::Gsrr | Self::TwoLevel => Some(false),
            Self::Replay(_) => None,
        }
    }
}

impl fmt::Display for SchedulerKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gto => f.write_str("gto"),
            Self::Lrr => f.write_str("lrr"),
            Self::Srr => f.write_str("srr"),
            Self::Gsrr => f.write_str("gsrr"),
            Self::Oldest => f.write_str("oldest"),
            Self::TwoLevel => f.write_str("two-level"),
            Self::Random(seed) => write!(f, "random:{seed}"),
            Self::Replay(file) => write!(f, "replay:{file}"),
        }
    }
}

/// Why a word is not a policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseSchedulerError(String);

impl fmt::Display for ParseSchedulerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "unknown scheduler `{}`; known: gto, lrr, srr, gsrr, oldest, two-level, random:SEED, replay:FILE",
            self.0
        )
    }
}

impl std::error::Error for ParseSchedulerError {}

impl FromStr for SchedulerKind {
    type Err = ParseSchedulerError;

    fn from_str(word: &str) -> Result<Self, ParseSchedulerError> {
        let unknown = || ParseSchedulerError(word.to_owned());
        let (name, argument) = word.split_once(':').map_or((word, None), |(n, a)| (n, Some(a)));
        let kind = match (name.to_ascii_lowercase().as_str(), argument) {
            ("gto", None) => Self::Gto,
            ("lrr", None) => Self::Lrr,
            ("srr", None) => Self::Srr,
            ("gsrr", None) => Self::Gsrr,
            ("oldest", None) => Self::Oldest,
            ("two-level" | "twolevel" | "two_level", None) => Self::TwoLevel,
            ("random", Some(seed)) => Self::Random(seed.parse().map_err(|_| unknown())?),
            ("replay", Some(file)) if !file.is_empty() => Self::Replay(file.to_owned()),
            _ => return Err(unknown()),
        };
        Ok(kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for kind in SchedulerKind::NAMED
            .into_iter()
            .chain([SchedulerKind::Random(9), SchedulerKind::Replay("a/b".into())])
        {
            assert_eq!(kind.to_string().parse::<SchedulerKind>(), Ok(kind));
        }
        assert!("rnd".parse::<SchedulerKind>().is_err());
        assert!("random:x".parse::<SchedulerKind>().is_err());
    }
}
