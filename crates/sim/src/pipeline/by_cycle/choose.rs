//! The arbiters of the SM and of memory, and what decides in them: their rules, or a chooser.

use crate::policy::AnyPolicy;

/// A point at which one of several candidates is served. The candidates are those that the premises
/// of the pipeline bound allow; see `docs/bounds.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Arbiter {
    /// The sub-core whose issue slot is simulated next in a cycle.
    SubCore,
    /// The ready warp of a sub-core that issues.
    Issue,
    /// Whether a warp whose buffer holds other instructions is reached before the one that issues.
    Redirect,
    /// The warp that fetch serves, or the line of the instruction cache that it receives.
    Fetch,
    /// Whether fetch passes a complete warp before it serves another one.
    Pass,
    /// The kind of instruction that enters the collector next.
    Entry,
    /// The collector unit whose instruction leaves through a port.
    HandOver,
    /// The instruction that starts next on its unit and takes a place on the result buses.
    Start,
    /// The sub-core whose access the load/store unit takes.
    Access,
    /// The source of the next result that the load/store unit writes back.
    WriteBack,
    /// The bank of the L1 whose request is looked up next in a cycle.
    Tags,
    /// The input of the crossbar that an output serves.
    Crossbar,
    /// The slice whose request goes to DRAM.
    ToDram,
    /// The bank of DRAM that gets a request.
    Bank,
    /// The request that a bank of DRAM gets.
    Request,
    /// The bank of DRAM that issues a command.
    Command,
}

impl Arbiter {
    /// Returns the name that reports use.
    pub fn name(self) -> &'static str {
        match self {
            Self::SubCore => "sub-core",
            Self::Issue => "issue",
            Self::Redirect => "redirect",
            Self::Fetch => "fetch",
            Self::Pass => "pass",
            Self::Entry => "entry",
            Self::HandOver => "hand-over",
            Self::Start => "start",
            Self::Access => "access",
            Self::WriteBack => "write-back",
            Self::Tags => "tags",
            Self::Crossbar => "crossbar",
            Self::ToDram => "to-dram",
            Self::Bank => "bank",
            Self::Request => "request",
            Self::Command => "command",
        }
    }
}

/// Decides in the arbiters. By default the rules of the machine decide.
pub trait Chooser {
    /// Returns the index of a candidate, below `count`, which is at least 2. `rule` is the index of
    /// the candidate that the rule of the arbiter serves. The order of the candidates depends only
    /// on what the key of the launch contains.
    fn choose(&mut self, arbiter: Arbiter, count: usize, rule: usize) -> usize {
        let _ = (arbiter, count);
        rule
    }
}

/// The rules of the machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rules;

impl Chooser for Rules {}

/// The policies of the issue slots, and the chooser of all other arbiters.
pub(in crate::pipeline) struct Deciders<'p, 'c> {
    /// The policies by SM and sub-core; none if the chooser also decides which warp issues.
    pub policies: Vec<Vec<AnyPolicy<'p>>>,
    pub chooser: &'c mut dyn Chooser,
}

impl<'p> Deciders<'p, '_> {
    /// Returns the policies of an SM.
    pub fn policies_of(&mut self, sm: usize) -> &mut [AnyPolicy<'p>] {
        self.policies.get_mut(sm).map_or(&mut [], Vec::as_mut_slice)
    }

    /// Returns one of the candidates, if there are any. The rule serves the one with the smallest
    /// rank.
    pub fn choose<T: Copy, R: Ord>(
        &mut self,
        arbiter: Arbiter,
        candidates: &[T],
        rank: impl Fn(T) -> R,
    ) -> Option<T> {
        let rule = (0..candidates.len()).min_by_key(|&index| rank(candidates[index]))?;
        let chosen = match candidates.len() {
            1 => 0,
            count => self.chooser.choose(arbiter, count, rule),
        };
        Some(candidates[chosen])
    }

    /// Decides a question to which the rule has this answer.
    pub fn whether(&mut self, arbiter: Arbiter, rule: bool) -> bool {
        self.choose(arbiter, &[false, true], |answer| answer != rule) == Some(true)
    }
}
