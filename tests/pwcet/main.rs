//! The extreme-value statistics compared with references, and on data whose distribution is known.

#[path = "../support/campaign.rs"]
mod campaign;
mod data;
mod decisions;
mod extremal_index;
mod invariants;
mod plots;
mod recovery;
mod reference;
mod sizes;
mod table;
mod whole;
