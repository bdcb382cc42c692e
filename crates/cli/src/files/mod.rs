//! Files that a command line names, and writing of files.
//!
//! Reading stops at a limit and rejects anything but regular files; see [`warpbound_judge::load`].
//! Writing is checked before the simulation starts, never touches an input, and gives files their
//! final names only when they are complete.

mod command_line;
mod folder;
mod outputs;
mod part;
pub mod results;
mod scratch;

pub use command_line::{CommandLine, loader};
pub use folder::{Draft, Folder};
pub use outputs::Outputs;
pub use part::{Part, Parts};
pub use scratch::Scratch;
