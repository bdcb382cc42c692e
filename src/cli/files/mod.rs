//! Files that are read and files that are written.
//!
//! Reading stops at a limit and refuses what is no regular file. Writing is tried before anything is
//! simulated, never touches an input, and puts files in place when they are whole.

mod folder;
mod outputs;
mod part;
pub mod read;
pub mod results;

pub use folder::{Draft, Folder};
pub use outputs::Outputs;
pub use part::{Part, Parts};
