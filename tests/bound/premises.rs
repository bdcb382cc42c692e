//! Contexts of the paper model, for tests of the bounds.

use warpbound::bound::{Context, Order, Schedules};
use warpbound::machine::{Features, PolicyKind};

/// Returns the context of a run under a policy on a machine of the paper model, whose paths do not
/// depend on races.
pub fn paper(policy: &PolicyKind, resident_blocks: u32, partial_barriers: bool) -> Context {
    Context {
        schedules: Schedules::Run { policy: policy.clone(), passed_over: None },
        resident_blocks,
        partial_barriers,
        beyond: Features::default(),
        order: Order::Irrelevant,
    }
}
