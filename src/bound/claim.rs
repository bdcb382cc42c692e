//! Which bound accounts for what a machine does beyond the paper model.

use crate::machine::Feature;

/// What a bound claims, one for each bound. Each holds on machines of the paper model, and on those whose
/// features its argument accounts for.
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
    /// [`Srr`](super::Srr)
    Srr,
    /// [`Gsrr`](super::Gsrr)
    Gsrr,
}

impl Claim {
    /// Whether it holds on machines with this feature, too.
    pub(super) fn accounts_for(self, feature: Feature) -> bool {
        let by: &[Self] = match feature {
            Feature::BoundedQueues => &[Self::Iwb],
            Feature::SeveralSms => &[Self::Rbb],
            Feature::ControlCodes => &[Self::Gub, Self::Iwb, Self::Swb, Self::Rbb],
            Feature::RotatingSubCores
            | Feature::DualIssue
            | Feature::FrontEnd
            | Feature::Collector
            | Feature::ResultBuses
            | Feature::WriteBack
            | Feature::LoadStore
            | Feature::LaunchCosts
            | Feature::RandomPlacement
            | Feature::UnscoredResults => &[],
        };
        by.contains(&self)
    }
}
