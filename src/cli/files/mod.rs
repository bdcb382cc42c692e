//! Reading and writing of files.
//!
//! Reading stops at a limit and rejects anything but regular files. Writing is checked before the
//! simulation starts, never touches an input, and gives files their final names only when they are
//! complete.

mod folder;
mod outputs;
mod part;
pub mod read;
pub mod results;

pub use folder::{Draft, Folder};
pub use outputs::Outputs;
pub use part::{Part, Parts};
