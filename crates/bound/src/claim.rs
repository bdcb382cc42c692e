//! The machine features beyond the paper model that each bound accounts for.

use warpbound_core::machine::Feature;

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
    /// Returns whether the claim also holds on machines with this feature.
    pub(super) fn accounts_for(self, feature: Feature) -> bool {
        let by: &[Self] = match feature {
            Feature::BoundedQueues | Feature::DualIssue => &[Self::Iwb, Self::Rbb, Self::Plb],
            Feature::RotatingSubCores | Feature::UnscoredResults => &[Self::Iwb, Self::Rbb, Self::Plb],
            Feature::WriteBack => &[Self::Iwb, Self::Swb, Self::Lwb, Self::Rbb, Self::Plb],
            Feature::LaunchCosts | Feature::SeveralSms => &[Self::Rbb, Self::Plb],
            Feature::ControlCodes => &[Self::Gub, Self::Iwb, Self::Swb, Self::Rbb, Self::Plb],
            Feature::FrontEnd | Feature::Collector | Feature::ResultBuses | Feature::LoadStore => {
                &[Self::Plb]
            }
            Feature::FirstLevel | Feature::Partitions => &[Self::Plb],
            Feature::InstructionCaches
            | Feature::RegisterFile
            | Feature::LoadStoreStages
            | Feature::SlowBanks
            | Feature::UncachedLoads
            | Feature::ConstantCache
            | Feature::L2Halves
            | Feature::SharedPlacement
            | Feature::RandomPlacement
            | Feature::NarrowMemory
            | Feature::UnlimitedJitter => &[],
        };
        by.contains(&self)
    }
}
