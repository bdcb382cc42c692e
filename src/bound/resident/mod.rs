//! What the blocks of a launch that are resident together have to do with each other, in numbers:
//! [`Rbb`](super::Rbb).

mod block;
mod launch;

pub use block::BlockShare;
pub use launch::{LaunchShares, Residency};
