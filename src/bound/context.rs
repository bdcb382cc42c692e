//! The premises of the bounds.

use std::fmt;

use super::claim::Claim;
use crate::machine::{Feature, Features, SchedulerKind};

/// What a bound may rely on, put together by the caller from the machine, the contract of the
/// policy and the paths of the block.
///
/// Everything else that the bounds assume (sub-cores that issue one instruction per cycle each,
/// units that serve first-in first-out, timing that does not depend on the schedule) is true of
/// every [`Machine`](crate::machine::Machine) there is so far. How many sub-cores there are and what
/// they share is known of each section ([`SectionAnalysis`](super::SectionAnalysis)).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Context {
    /// The policy as messages should call it.
    pub policy: String,
    /// The policy's contract. What a replay follows does not count.
    pub scheduler: SchedulerKind,
    /// Whether some instruction issues, on each sub-core, whenever a warp of it is ready. `None` if nobody knows; a replay
    /// that was watched may be promoted to `Some(true)` by the caller.
    pub work_conserving: Option<bool>,
    /// The most blocks that are on the SM at the same time in this launch.
    pub resident_blocks: u32,
    /// Whether some barrier of the block does not involve all of its warps
    /// ([`BlockPaths::partial_barriers`](crate::path::BlockPaths::partial_barriers)).
    pub partial_barriers: bool,
    /// What the machine does that the paper model does not
    /// ([`Machine::beyond_the_paper_model`](crate::machine::Machine::beyond_the_paper_model)).
    pub beyond: Features,
}

impl Context {
    /// The context of a policy by its contract, on a machine of the paper model.
    pub fn new(policy: &SchedulerKind, resident_blocks: u32, partial_barriers: bool) -> Self {
        Self {
            policy: policy.to_string(),
            scheduler: policy.clone(),
            work_conserving: policy.work_conserving(),
            resident_blocks,
            partial_barriers,
            beyond: Features::default(),
        }
    }

    /// The premises of Jeanmougin et al., ECRTS 2025, that GUB and the bounds like it rest on.
    ///
    /// # Errors
    /// The first premise that does not hold.
    pub(super) fn paper_premises(&self, claim: Claim) -> Result<(), NotApplicable> {
        self.keeps_the_slot_busy()?;
        self.one_aligned_block(claim)
    }

    fn keeps_the_slot_busy(&self) -> Result<(), NotApplicable> {
        match self.work_conserving {
            Some(true) => Ok(()),
            Some(false) => {
                Err(NotApplicable::new(format!("policy `{}` is not work conserving", self.policy)))
            }
            None => Err(NotApplicable::new(format!(
                "policy `{}` is not known to be work conserving",
                self.policy
            ))),
        }
    }

    /// Blocks run at the same time, under a work-conserving policy, and barriers involve all warps.
    ///
    /// # Errors
    /// The first premise that does not hold.
    pub(super) fn resident_premises(&self, claim: Claim) -> Result<(), NotApplicable> {
        self.keeps_the_slot_busy()?;
        self.accounted_for_by(claim)?;
        if !self.resident_together() {
            return Err(NotApplicable::new("blocks run one after the other, and each is judged by itself"));
        }
        self.barriers_of_all()
    }

    /// Whether several blocks may be running at a time.
    pub(super) fn resident_together(&self) -> bool {
        self.resident_blocks > 1 || self.beyond.contains(Feature::SeveralSms)
    }

    /// Sections exist: blocks run one after the other, and barriers involve all warps.
    ///
    /// # Errors
    /// The first premise that does not hold.
    pub(super) fn one_aligned_block(&self, claim: Claim) -> Result<(), NotApplicable> {
        self.accounted_for_by(claim)?;
        if self.resident_blocks > 1 {
            return Err(NotApplicable::new(format!(
                "up to {} blocks are resident together, and their barriers do not line up: rbb is for that",
                self.resident_blocks
            )));
        }
        self.barriers_of_all()
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

    #[test]
    fn every_broken_premise_is_named() {
        let fine = Context::new(&SchedulerKind::Lrr, 1, false);
        assert_eq!(fine.paper_premises(Claim::Gub), Ok(()));
        for (context, named) in [
            (Context::new(&SchedulerKind::Srr, 1, false), "`srr` is not work conserving"),
            (Context::new(&SchedulerKind::Gsrr, 1, false), "`gsrr` is not work conserving"),
            (Context::new(&SchedulerKind::TwoLevel, 1, false), "`two-level` is not work conserving"),
            (Context::new(&SchedulerKind::Replay("x".into()), 1, false), "not known to be work conserving"),
            (Context { resident_blocks: 3, ..fine.clone() }, "up to 3 blocks are resident together"),
            (Context { partial_barriers: true, ..fine.clone() }, "does not involve all warps"),
        ] {
            let reason = context.paper_premises(Claim::Gub).expect_err(named).to_string();
            assert!(reason.contains(named), "{reason}");
        }
        let judged = Context {
            work_conserving: Some(true),
            ..Context::new(&SchedulerKind::Replay("x".into()), 1, false)
        };
        assert_eq!(judged.paper_premises(Claim::Gub), Ok(()));
    }
}
