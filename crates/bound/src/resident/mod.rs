//! The interaction of the resident blocks of a launch, in the numbers that [`Rbb`](crate::Rbb) and
//! [`Plb`](crate::Plb) combine.

mod block;
mod launch;

pub use block::{BlockShare, ByUnit};
pub use launch::{LaunchShares, Residency};
