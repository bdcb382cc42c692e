//! The premises of the bounds.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::claim::Claim;
use super::value::BoundValue;
use crate::base::Cycles;
use crate::machine::{Feature, Features, SchedulerKind};

/// What a bound may rely on, put together by the caller from the machine, the policy and the paths of the block.
///
/// Every field has to be written where one is made: there is no value that stands for a run whose policy, machine or
/// order of accesses was not asked for.
///
/// Everything else that the bounds assume (sub-cores that issue one instruction per cycle each,
/// units that serve first-in first-out, timing that does not depend on the schedule) is true of
/// every [`Machine`](crate::machine::Machine) there is so far. How many sub-cores there are and what
/// they share is known of each section ([`SectionAnalysis`](super::SectionAnalysis)).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Context {
    /// The schedules that are judged.
    pub schedules: Schedules,
    /// The most blocks that are on the SM at the same time in this launch.
    pub resident_blocks: u32,
    /// Whether some barrier of the block does not involve all of its warps
    /// ([`BlockPaths::partial_barriers`](crate::path::BlockPaths::partial_barriers)).
    pub partial_barriers: bool,
    /// What the machine does that the paper model does not
    /// ([`Machine::beyond_the_paper_model`](crate::machine::Machine::beyond_the_paper_model)).
    pub beyond: Features,
    /// Whether the paths that the bound is computed from are those of other orders of accesses, too.
    pub order: Order,
}

/// The schedules that a bound is judged for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Schedules {
    /// That of a run under a policy.
    Run {
        /// The policy, with its contract.
        policy: SchedulerKind,
        /// Whether a ready warp was passed over in the run; `None` if the run was not watched. It counts for a replay,
        /// which has no contract.
        passed_over: Option<bool>,
    },
    /// Every work-conserving one.
    WorkConserving,
}

/// Whether paths depend on the order in which warps access memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Order {
    /// They do not: accesses were watched and no race was found, or there are no accesses, or whatever is loaded counts
    /// as unknown.
    Irrelevant,
    /// The run has not ended, and what its accesses show is judged at its end (`check::Unsettled` holds the
    /// verdicts back until then).
    AtTheEnd,
    /// Races were not looked for. The verdict is about the paths of one order, and its reader must be told so.
    NotLookedFor,
    /// They do, or timing leaves something out that decides them: this is the reason.
    Decides(String),
}

/// Shows that the premises of a bound hold for a [`Context`]. Only the functions here make one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Applicable(());

impl Applicable {
    /// A value of the bound whose premises hold.
    pub fn guarantees(self, value: BoundValue) -> Guarantee {
        Guarantee(value.cycles())
    }
}

/// The value of a bound whose premises hold for the run or the set of runs it is judged for. Whatever prints a bound as
/// applicable takes one, and only [`Applicable`] makes them. (One that was written to a file is read back as it was.)
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Guarantee(Cycles);

impl Guarantee {
    /// No block takes no time: where sums begin.
    pub const OF_NOTHING: Self = Self(Cycles::ZERO);

    /// The cycles.
    pub fn cycles(self) -> Cycles {
        self.0
    }
}

impl std::ops::AddAssign for Guarantee {
    fn add_assign(&mut self, next: Self) {
        self.0 += next.0;
    }
}

impl fmt::Display for Guarantee {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Schedules {
    /// The policy, if it is that of a run.
    pub fn policy(&self) -> Option<&SchedulerKind> {
        match self {
            Self::Run { policy, .. } => Some(policy),
            Self::WorkConserving => None,
        }
    }

    /// The policy as messages call it.
    fn name(&self) -> String {
        match self {
            Self::Run { policy, .. } => policy.to_string(),
            Self::WorkConserving => "any work-conserving policy".to_owned(),
        }
    }

    /// Whether some instruction issues, on each sub-core, whenever a warp of it is ready. `None` if that is not known.
    fn work_conserving(&self) -> Option<bool> {
        match self {
            // a file promises nothing, but what was done can be seen
            Self::Run { policy, passed_over } => {
                policy.work_conserving().or_else(|| passed_over.map(|passed_over| !passed_over))
            }
            Self::WorkConserving => Some(true),
        }
    }

    /// Whether these are schedules of this policy.
    fn are_of(&self, kind: &SchedulerKind) -> bool {
        matches!(self, Self::Run { policy, .. } if policy == kind)
    }
}

impl Context {
    /// The premises of Jeanmougin et al., ECRTS 2025, that GUB and the bounds like it rest on.
    ///
    /// # Errors
    /// The first premise that does not hold.
    pub(super) fn paper_premises(&self, claim: Claim) -> Result<Applicable, NotApplicable> {
        self.keeps_the_slot_busy()?;
        self.one_aligned_block(claim)
    }

    fn keeps_the_slot_busy(&self) -> Result<(), NotApplicable> {
        let why = match self.schedules.work_conserving() {
            Some(true) => return Ok(()),
            Some(false) => "is not work conserving",
            None => "is not known to be work conserving",
        };
        Err(NotApplicable::new(format!("policy `{}` {why}", self.schedules.name())))
    }

    fn paths_are_those_of_every_order(&self) -> Result<(), NotApplicable> {
        match &self.order {
            Order::Irrelevant | Order::AtTheEnd | Order::NotLookedFor => Ok(()),
            Order::Decides(why) => Err(NotApplicable::new(why.clone())),
        }
    }

    /// What holds for all work-conserving schedules of a block's paths, on the paper model: exploration takes each of them.
    ///
    /// # Errors
    /// The first premise that does not hold.
    pub fn explorable(&self) -> Result<Applicable, NotApplicable> {
        self.keeps_the_slot_busy()?;
        if !self.beyond.is_empty() {
            return Err(NotApplicable(Reason::Beyond(self.beyond)));
        }
        if self.resident_together() {
            return Err(NotApplicable::new("blocks are resident together"));
        }
        self.barriers_of_all()?;
        self.paths_are_those_of_every_order()?;
        Ok(Applicable(()))
    }

    /// For one policy, its bound.
    ///
    /// # Errors
    /// The first premise that does not hold.
    pub(super) fn of_policy(&self, kind: &SchedulerKind, claim: Claim) -> Result<Applicable, NotApplicable> {
        if !self.schedules.are_of(kind) {
            let other = self.schedules.name();
            return Err(NotApplicable::new(format!("it is for policy `{kind}`, not `{other}`")));
        }
        self.one_aligned_block(claim)
    }

    /// Blocks run at the same time, under a work-conserving policy, and barriers involve all warps.
    ///
    /// # Errors
    /// The first premise that does not hold.
    pub(super) fn resident_premises(&self, claim: Claim) -> Result<Applicable, NotApplicable> {
        self.keeps_the_slot_busy()?;
        self.accounted_for_by(claim)?;
        if !self.resident_together() {
            return Err(NotApplicable::new("blocks run one after the other, and each is judged by itself"));
        }
        self.barriers_of_all()?;
        self.paths_are_those_of_every_order()?;
        Ok(Applicable(()))
    }

    /// Whether several blocks may be running at a time.
    pub(super) fn resident_together(&self) -> bool {
        self.resident_blocks > 1 || self.beyond.contains(Feature::SeveralSms)
    }

    /// Sections exist: blocks run one after the other, and barriers involve all warps.
    ///
    /// # Errors
    /// The first premise that does not hold.
    fn one_aligned_block(&self, claim: Claim) -> Result<Applicable, NotApplicable> {
        self.accounted_for_by(claim)?;
        if self.resident_blocks > 1 {
            return Err(NotApplicable::new(format!(
                "up to {} blocks are resident together, and their barriers do not line up: rbb is for that",
                self.resident_blocks
            )));
        }
        self.barriers_of_all()?;
        self.paths_are_those_of_every_order()?;
        Ok(Applicable(()))
    }

    /// Whatever the machine does beyond the paper model, the claim holds all the same.
    fn accounted_for_by(&self, claim: Claim) -> Result<(), NotApplicable> {
        let others: Features = self.beyond.iter().filter(|&feature| !claim.accounts_for(feature)).collect();
        if others.is_empty() { Ok(()) } else { Err(NotApplicable(Reason::Beyond(others))) }
    }

    fn barriers_of_all(&self) -> Result<(), NotApplicable> {
        if self.partial_barriers {
            return Err(NotApplicable::new(
                "some barrier does not involve all warps of the block, so barriers do not split it into sections"
                    .to_owned(),
            ));
        }
        Ok(())
    }
}

/// Why a bound says nothing: the premise that does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotApplicable(Reason);

/// It is asked for each block whether a bound says something, and told once why not: words are found only then.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Reason {
    Said(String),
    /// What the machine does that the bound does not account for.
    Beyond(Features),
}

impl NotApplicable {
    /// With this reason, a clause without capital and full stop.
    pub fn new(reason: impl Into<String>) -> Self {
        Self(Reason::Said(reason.into()))
    }
}

impl fmt::Display for NotApplicable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Reason::Said(reason) => f.write_str(reason),
            Reason::Beyond(features) => features.fmt(f),
        }
    }
}

impl std::error::Error for NotApplicable {}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(policy: SchedulerKind, passed_over: Option<bool>) -> Context {
        Context {
            schedules: Schedules::Run { policy, passed_over },
            resident_blocks: 1,
            partial_barriers: false,
            beyond: Features::default(),
            order: Order::Irrelevant,
        }
    }

    #[test]
    fn every_broken_premise_is_named() {
        let fine = of(SchedulerKind::Lrr, None);
        assert!(fine.paper_premises(Claim::Gub).is_ok());
        let race = Order::Decides("the paths depend on timing: a race".to_owned());
        for (context, named) in [
            (of(SchedulerKind::Srr, None), "`srr` is not work conserving"),
            (of(SchedulerKind::Srr, Some(false)), "`srr` is not work conserving"),
            (of(SchedulerKind::Gsrr, None), "`gsrr` is not work conserving"),
            (of(SchedulerKind::TwoLevel, None), "`two-level` is not work conserving"),
            (of(SchedulerKind::Replay("x".into()), None), "not known to be work conserving"),
            (of(SchedulerKind::Replay("x".into()), Some(true)), "is not work conserving"),
            (Context { resident_blocks: 3, ..fine.clone() }, "up to 3 blocks are resident together"),
            (Context { partial_barriers: true, ..fine.clone() }, "does not involve all warps"),
            (Context { order: race, ..fine.clone() }, "a race"),
        ] {
            let reason = context.paper_premises(Claim::Gub).expect_err(named).to_string();
            assert!(reason.contains(named), "{reason}");
        }
        for fine in [
            of(SchedulerKind::Replay("x".into()), Some(false)),
            Context { schedules: Schedules::WorkConserving, ..fine.clone() },
            Context { order: Order::NotLookedFor, ..fine },
        ] {
            assert!(fine.paper_premises(Claim::Gub).is_ok(), "{fine:?}");
        }
    }
}
