//! The premises of the bounds.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::claim::Claim;
use super::value::BoundValue;
use warpbound_core::base::Cycles;
use warpbound_core::machine::{Feature, Features, PolicyKind};

/// The facts about a run that a bound may rely on. The caller collects them from the machine, the
/// policy and the paths of the block.
///
/// Every field has to be given explicitly. No default stands for a run whose policy, machine or
/// order of accesses was not examined.
///
/// The bounds assume more: in each cycle a sub-core issues instructions of one warp only, units
/// serve first-in first-out, and without the features in `beyond` timing does not depend on the
/// schedule. All of this is true of every [`Machine`](warpbound_core::machine::Machine) so far.
/// Each section records the number of sub-cores and what they share
/// ([`SectionAnalysis`](super::SectionAnalysis)).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Context {
    /// The schedules that the bound is judged for.
    pub schedules: Schedules,
    /// The largest number of blocks that are on the SM at the same time in this launch.
    pub resident_blocks: u32,
    /// Whether some barrier of the block does not involve all of its warps
    /// ([`BlockPaths::partial_barriers`](warpbound_core::path::BlockPaths::partial_barriers)).
    pub partial_barriers: bool,
    /// The features of the machine that the paper model does not have
    /// ([`beyond_the_paper_model`](warpbound_core::machine::Machine::beyond_the_paper_model)).
    pub beyond: Features,
    /// Whether the paths that the bound is computed from are also valid for other orders of
    /// accesses.
    pub order: Order,
}

/// The schedules that a bound is judged for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Schedules {
    /// The schedule of one run under a policy.
    Run {
        /// The policy, with its contract.
        policy: PolicyKind,
        /// Whether a ready warp was passed over in the run; `None` if the run was not observed.
        /// Only a replay needs this, because a replay has no contract.
        passed_over: Option<bool>,
    },
    /// Every work-conserving schedule.
    WorkConserving,
}

/// Whether paths depend on the order in which warps access memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Order {
    /// The paths do not depend on it: accesses were observed and no race was found, or there are no
    /// accesses, or every loaded value counts as unknown.
    Irrelevant,
    /// The run has not ended, and its accesses are judged at its end (`check::Unsettled` holds the
    /// verdicts back until then).
    AtTheEnd,
    /// The run did not search for races. The verdict is about the paths of one order, and the
    /// output must state this.
    NotLookedFor,
    /// The paths depend on the order or on another value that may differ from run to run, such as a
    /// clock, or the program contains a wait that timing does not model; the string is the reason.
    Decides(String),
}

/// A proof that the premises of a bound hold for a [`Context`]. Only the functions of this module
/// create one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Applicable(());

impl Applicable {
    /// Returns a value of the bound, whose premises hold, as a guarantee.
    ///
    /// # Errors
    /// If the value is too large for a number of cycles.
    pub fn guarantees(self, value: BoundValue) -> Result<Guarantee, NotApplicable> {
        Guarantee(Cycles::ZERO).plus(Guarantee(value.cycles()))
    }
}

/// The value of a bound whose premises hold for the run or the set of runs that it is judged for.
/// Whatever prints a bound as applicable takes a guarantee, and only [`Applicable`] makes one. (A
/// guarantee that was written to a file is read back unchanged.)
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Guarantee(Cycles);

impl Guarantee {
    /// The guarantee for zero blocks, which is zero cycles. Sums start with it.
    pub const OF_NOTHING: Self = Self(Cycles::ZERO);

    /// Returns the number of cycles.
    pub fn cycles(self) -> Cycles {
        self.0
    }

    /// Returns the guarantee for what two guarantees cover, one after the other.
    ///
    /// # Errors
    /// If the sum is too large for a number of cycles.
    pub fn plus(self, next: Self) -> Result<Self, NotApplicable> {
        let sum = BoundValue::new(self.0).sum(BoundValue::new(next.0));
        if sum == BoundValue::TOO_LARGE {
            return Err(NotApplicable::new(
                "the numbers that the bound adds up are too large: they exceed 2^64 - 1 cycles",
            ));
        }
        Ok(Self(sum.cycles()))
    }
}

impl fmt::Display for Guarantee {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Schedules {
    /// Returns the policy if these are the schedules of a run.
    pub fn policy(&self) -> Option<&PolicyKind> {
        match self {
            Self::Run { policy, .. } => Some(policy),
            Self::WorkConserving => None,
        }
    }

    /// Returns the name of the policy for messages.
    fn name(&self) -> String {
        match self {
            Self::Run { policy, .. } => policy.to_string(),
            Self::WorkConserving => "any work-conserving policy".to_owned(),
        }
    }

    /// Returns whether, on each sub-core, some instruction issues whenever a warp of the sub-core
    /// is ready. Returns `None` if that is not known.
    fn work_conserving(&self) -> Option<bool> {
        match self {
            // a replay file gives no contract, but an observed run shows whether a warp was passed
            // over
            Self::Run { policy, passed_over } => {
                policy.work_conserving().or_else(|| passed_over.map(|passed_over| !passed_over))
            }
            Self::WorkConserving => Some(true),
        }
    }

    /// Returns whether these are schedules of this policy.
    fn are_of(&self, kind: &PolicyKind) -> bool {
        matches!(self, Self::Run { policy, .. } if policy == kind)
    }
}

impl Context {
    /// Checks the premises of Jeanmougin et al., ECRTS 2025, on which GUB and similar bounds rest.
    ///
    /// # Errors
    /// Returns the first premise that does not hold.
    pub(super) fn paper_premises(&self, claim: Claim) -> Result<Applicable, NotApplicable> {
        self.keeps_the_slot_busy()?;
        self.one_aligned_block(claim)
    }

    fn keeps_the_slot_busy(&self) -> Result<(), NotApplicable> {
        let reason = match self.schedules.work_conserving() {
            Some(true) => return Ok(()),
            Some(false) => "is not work conserving",
            None => "is not known to be work conserving",
        };
        Err(NotApplicable::new(format!("policy `{}` {reason}", self.schedules.name())))
    }

    fn paths_are_those_of_every_order(&self) -> Result<(), NotApplicable> {
        match &self.order {
            Order::Irrelevant | Order::AtTheEnd | Order::NotLookedFor => Ok(()),
            Order::Decides(reason) => Err(NotApplicable::new(reason.clone())),
        }
    }

    /// Checks the premises of exploration, which tries every work-conserving schedule of a block's
    /// paths on the paper model.
    ///
    /// # Errors
    /// Returns the first premise that does not hold.
    pub fn explorable(&self) -> Result<Applicable, NotApplicable> {
        self.keeps_the_slot_busy()?;
        if !self.beyond.is_empty() {
            return Err(NotApplicable(Reason::Beyond(self.beyond)));
        }
        if self.judged_as_a_whole() {
            return Err(NotApplicable::new("blocks are resident together"));
        }
        self.barriers_of_all()?;
        self.paths_are_those_of_every_order()?;
        Ok(Applicable(()))
    }

    /// Checks the premises of a bound for one policy.
    ///
    /// # Errors
    /// Returns the first premise that does not hold.
    pub(super) fn of_policy(&self, kind: &PolicyKind, claim: Claim) -> Result<Applicable, NotApplicable> {
        if !self.schedules.are_of(kind) {
            let other = self.schedules.name();
            return Err(NotApplicable::new(format!("it is for policy `{kind}`, not `{other}`")));
        }
        self.one_aligned_block(claim)
    }

    /// Checks that the launch is judged as a whole, under a work-conserving policy, and that
    /// barriers involve all warps.
    ///
    /// # Errors
    /// Returns the first premise that does not hold.
    pub(super) fn resident_premises(&self, claim: Claim) -> Result<Applicable, NotApplicable> {
        self.keeps_the_slot_busy()?;
        self.accounted_for_by(claim)?;
        if !self.judged_as_a_whole() {
            return Err(NotApplicable::new("blocks run one after the other, and each is judged by itself"));
        }
        self.barriers_of_all()?;
        self.paths_are_those_of_every_order()?;
        Ok(Applicable(()))
    }

    /// Checks the premises of a bound of a launch that applies whether or not several of its blocks
    /// run at the same time.
    ///
    /// # Errors
    /// Returns the first premise that does not hold.
    pub(super) fn launch_premises(&self, claim: Claim) -> Result<Applicable, NotApplicable> {
        self.keeps_the_slot_busy()?;
        self.accounted_for_by(claim)?;
        self.barriers_of_all()?;
        self.paths_are_those_of_every_order()?;
        Ok(Applicable(()))
    }

    /// Returns whether the launch is judged as a whole: several blocks may be running at the same
    /// time, or launching takes time that belongs to no block.
    pub fn judged_as_a_whole(&self) -> bool {
        self.resident_blocks > 1
            || self.beyond.contains(Feature::SeveralSms)
            || self.beyond.contains(Feature::LaunchCosts)
            || self.beyond.contains(Feature::SharedPlacement)
    }

    /// Checks that sections exist: blocks run one after the other, and barriers involve all warps.
    ///
    /// # Errors
    /// Returns the first premise that does not hold.
    fn one_aligned_block(&self, claim: Claim) -> Result<Applicable, NotApplicable> {
        self.accounted_for_by(claim)?;
        if self.resident_blocks > 1 {
            return Err(NotApplicable::new(format!(
                "up to {} blocks are resident together, and their barriers do not line up: rbb is the bound for this case",
                self.resident_blocks
            )));
        }
        self.barriers_of_all()?;
        self.paths_are_those_of_every_order()?;
        Ok(Applicable(()))
    }

    /// Checks that the claim accounts for every feature of the machine beyond the paper model.
    fn accounted_for_by(&self, claim: Claim) -> Result<(), NotApplicable> {
        let is_other = |feature: &Feature| !claim.accounts_for(*feature, self.beyond);
        let others: Features = self.beyond.iter().filter(is_other).collect();
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

/// The reason why a bound does not apply: the premise that does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotApplicable(Reason);

/// The reason, without its text where possible: every block checks whether a bound applies, but the
/// reason is printed only once, so the text is formatted only then.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Reason {
    Said(String),
    /// The features of the machine that the bound does not account for.
    Beyond(Features),
}

impl NotApplicable {
    /// Creates the value with this reason, a clause without capital and full stop.
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

    fn context(policy: PolicyKind, passed_over: Option<bool>) -> Context {
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
        let fine = context(PolicyKind::Lrr, None);
        assert!(fine.paper_premises(Claim::Gub).is_ok());
        let race = Order::Decides("the paths depend on timing: a race".to_owned());
        for (context, named) in [
            (context(PolicyKind::Srr, None), "`srr` is not work conserving"),
            (context(PolicyKind::Srr, Some(false)), "`srr` is not work conserving"),
            (context(PolicyKind::Gsrr, None), "`gsrr` is not work conserving"),
            (context(PolicyKind::TwoLevel, None), "`two-level` is not work conserving"),
            (context(PolicyKind::Replay("x".into()), None), "not known to be work conserving"),
            (context(PolicyKind::Replay("x".into()), Some(true)), "is not work conserving"),
            (Context { resident_blocks: 3, ..fine.clone() }, "up to 3 blocks are resident together"),
            (Context { partial_barriers: true, ..fine.clone() }, "does not involve all warps"),
            (Context { order: race, ..fine.clone() }, "a race"),
        ] {
            let reason = context.paper_premises(Claim::Gub).expect_err(named).to_string();
            assert!(reason.contains(named), "{reason}");
        }
        for fine in [
            context(PolicyKind::Replay("x".into()), Some(false)),
            Context { schedules: Schedules::WorkConserving, ..fine.clone() },
            Context { order: Order::NotLookedFor, ..fine },
        ] {
            assert!(fine.paper_premises(Claim::Gub).is_ok(), "{fine:?}");
        }
    }
}
