//! The extreme-value statistics compared with references, and on data whose distribution is known.

mod data;
mod decisions;
mod invariants;
mod plots;
mod recovery;
mod reference;
mod sizes;
mod table;
mod whole;
