//! The critical path of a run: computed by hand, and checked link by link against the events of
//! random runs.

#[path = "../support/random_kernels.rs"]
mod random_kernels;
#[path = "../support/runs.rs"]
mod runs;
#[path = "../support/shipped.rs"]
mod shipped;

mod by_hand;
mod launches;
mod random;
mod tight;
