//! The machine features beyond the paper model that each bound accounts for.

use warpbound_core::machine::{Feature, Features};

/// The claim that a bound makes; there is one variant for each bound. Each claim holds on machines
/// of the paper model, and on machines whose further features its proof accounts for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Claim {
    /// [`Gub`](super::Gub)
    Gub,
    /// [`Iwb`](super::Iwb)
    Iwb,
    /// [`Swb`](super::Swb)
    Swb,
    /// [`Lwb`](super::Lwb)
    Lwb,
    /// [`Rbb`](super::Rbb)
    Rbb,
    /// [`Plb`](super::Plb)
    Plb,
    /// [`Srr`](super::Srr)
    Srr,
    /// [`Gsrr`](super::Gsrr)
    Gsrr,
}

impl Claim {
    /// Returns whether the claim also holds on machines with this feature. `all` are the features of the
    /// machine.
    pub(super) fn accounts_for(self, feature: Feature, all: Features) -> bool {
        let by: &[Self] = match feature {
            Feature::BoundedQueues | Feature::DualIssue => &[Self::Iwb, Self::Rbb, Self::Plb],
            Feature::RotatingSubCores | Feature::UnscoredResults => &[Self::Iwb, Self::Rbb, Self::Plb],
            Feature::WriteBack => &[Self::Iwb, Self::Swb, Self::Lwb, Self::Rbb, Self::Plb],
            Feature::LaunchCosts | Feature::SeveralSms => &[Self::Rbb, Self::Plb],
            Feature::ControlCodes => &[Self::Gub, Self::Iwb, Self::Swb, Self::Rbb, Self::Plb],
            Feature::FrontEnd | Feature::Collector | Feature::ResultBuses | Feature::LoadStore => {
                &[Self::Plb]
            }
            Feature::FirstLevel | Feature::SlowBanks | Feature::UncachedLoads => &[Self::Plb],
            // the lemmas about constants are about caches in front of a crossbar
            Feature::ConstantCache if all.contains(Feature::Partitions) => &[Self::Plb],
            Feature::Partitions | Feature::L2Halves => &[Self::Plb],
            Feature::InstructionCaches | Feature::LoadStoreStages => &[Self::Plb],
            Feature::SharedPlacement => &[Self::Rbb, Self::Plb],
            Feature::ConstantCache
            | Feature::RegisterFile
            | Feature::RandomPlacement
            | Feature::NarrowMemory
            | Feature::UnlimitedJitter => &[],
        };
        by.contains(&self)
    }
}
