//! The names and contracts of the warp scheduling policies (`warpbound::model`, section 5).
//!
//! The crate `sim` implements the policies. This module states what they guarantee, because `bound`
//! may depend on the contract but not on the implementation.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::diag::closest;

/// The name of the setting and of the option before version 0.2, which is read as `policy`.
pub const FORMER_POLICY_SETTING: &str = "scheduler";

/// A warp scheduling policy. In RON it is written `Gto` or `Random(7)`, on the command line `gto`
/// or `random:7`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum PolicyKind {
    /// Greedy, then oldest.
    Gto,
    /// Greedy, then youngest.
    Gty,
    /// Loose round robin.
    Lrr,
    /// Strict round robin.
    Srr,
    /// Greedy, then strict round robin.
    Gsrr,
    /// The oldest ready warp.
    Oldest,
    /// Two-level: a small active set, which is refilled when a warp waits for global memory.
    TwoLevel,
    /// The same warp until it terminates or waits at a barrier.
    RunToBarrier,
    /// A random ready warp, drawn from ChaCha8 with this seed.
    Random(u64),
    /// The decisions that are read from this file.
    Replay(String),
    /// A policy that the program which uses this library defines by this name.
    #[cfg_attr(test, schemars(skip))]
    Called(String),
}

impl PolicyKind {
    /// All policies without arguments, for help texts and sweeps.
    pub const NAMED: [Self; 8] = [
        Self::Gto,
        Self::Lrr,
        Self::Srr,
        Self::Gsrr,
        Self::Oldest,
        Self::TwoLevel,
        Self::RunToBarrier,
        Self::Gty,
    ];

    /// Returns the command line forms of all policies, for help texts and messages.
    pub fn forms() -> String {
        let named = Self::NAMED.iter().map(ToString::to_string);
        named.chain(["random:SEED".to_owned(), "replay:FILE".to_owned()]).collect::<Vec<_>>().join(", ")
    }

    /// Returns whether the policy is work-conserving: if some warp is ready, some instruction
    /// issues.
    ///
    /// `None` means that it depends on the content of a file, or on a program.
    pub fn work_conserving(&self) -> Option<bool> {
        match self {
            Self::Gto | Self::Gty | Self::Lrr | Self::Oldest | Self::Random(_) => Some(true),
            Self::Srr | Self::Gsrr | Self::TwoLevel | Self::RunToBarrier => Some(false),
            Self::Replay(_) | Self::Called(_) => None,
        }
    }
}

impl fmt::Display for PolicyKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gto => f.write_str("gto"),
            Self::Gty => f.write_str("gty"),
            Self::Lrr => f.write_str("lrr"),
            Self::Srr => f.write_str("srr"),
            Self::Gsrr => f.write_str("gsrr"),
            Self::Oldest => f.write_str("oldest"),
            Self::TwoLevel => f.write_str("two-level"),
            Self::RunToBarrier => f.write_str("run-to-barrier"),
            Self::Random(seed) => write!(f, "random:{seed}"),
            Self::Replay(file) => write!(f, "replay:{file}"),
            Self::Called(name) => write!(f, "called:{name}"),
        }
    }
}

/// The error for a word that is not a policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParsePolicyError(String);

impl fmt::Display for ParsePolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown policy `{}`", self.0)
    }
}

impl ParsePolicyError {
    /// Returns a hint: the most similar policy, and all policies.
    pub fn hint(&self) -> String {
        match self.0.split_once(':').map_or(self.0.as_str(), |(name, _)| name) {
            "random" => return "a seed follows, an integer: random:1".to_owned(),
            "replay" => return "the file of a schedule follows: replay:FILE".to_owned(),
            _ => {}
        }
        if self.0.contains(',') && self.0.split(',').all(|part| part.parse::<PolicyKind>().is_ok()) {
            return "one policy is expected here; `check` and `compare` take several, as A,B".to_owned();
        }
        let names: Vec<String> = PolicyKind::NAMED.iter().map(ToString::to_string).collect();
        let known = names.iter().map(String::as_str).chain(["random", "replay"]);
        let word = self.0.split(':').next().unwrap_or_default();
        let near = closest(word, known).filter(|near| *near != word);
        let near = near.map_or(String::new(), |near| format!("did you mean `{near}`? "));
        format!("{near}policies: {}", PolicyKind::forms())
    }
}

impl std::error::Error for ParsePolicyError {}

impl FromStr for PolicyKind {
    type Err = ParsePolicyError;

    fn from_str(word: &str) -> Result<Self, ParsePolicyError> {
        let unknown = || ParsePolicyError(word.to_owned());
        let (name, argument) = word.split_once(':').map_or((word, None), |(n, a)| (n, Some(a)));
        // two-level, twolevel and two_level are the same name
        let plain = |name: &str| name.to_ascii_lowercase().replace(['-', '_'], "");
        match (plain(name).as_str(), argument) {
            ("random", Some(seed)) => seed.parse().map(Self::Random).map_err(|_| unknown()),
            ("replay", Some(file)) if !file.is_empty() => Ok(Self::Replay(file.to_owned())),
            ("called", Some(name)) if !name.is_empty() => Ok(Self::Called(name.to_owned())),
            (name, None) => {
                Self::NAMED.into_iter().find(|kind| plain(&kind.to_string()) == name).ok_or_else(unknown)
            }
            _ => Err(unknown()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for kind in
            PolicyKind::NAMED.into_iter().chain([PolicyKind::Random(9), PolicyKind::Replay("a/b".into())])
        {
            assert_eq!(kind.to_string().parse::<PolicyKind>(), Ok(kind));
        }
        for name in ["two-level", "TwoLevel", "two_level"] {
            assert_eq!(name.parse(), Ok(PolicyKind::TwoLevel));
        }
        assert!(PolicyKind::forms().starts_with("gto, lrr,"));
        assert!("rnd".parse::<PolicyKind>().is_err());
        assert!("random:x".parse::<PolicyKind>().is_err());
    }
}
