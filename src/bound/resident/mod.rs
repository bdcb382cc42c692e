//! What the blocks of a launch that are resident together have to do with each other, in numbers:
//! [`Rbb`](crate::bound::Rbb).

mod block;
mod launch;

pub use block::BlockShare;
pub use launch::{LaunchShares, Residency};
