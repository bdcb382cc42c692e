//! Traces of machine code as Accel-Sim's tracer writes them (Khairy et al., ISCA 2020): kernels whose paths are given.
//!
//! `list` reads `kernelslist.g`. A trace is read twice: [`TracedKernel::read`] goes through it once and finds the
//! instructions, from which `lower` makes a [`crate::program::Program`] with what `opcodes` (`isa/traces/*.ron`) says of them;
//! [`TraceSource`] then yields its blocks. `stream` knows the structure of the file, `instruction` its lines, `code` finds an
//! instruction again by its text.
//!
//! What the tracer leaves out (predicates, uniform registers, numbers of barriers, addresses of textures) costs nothing here
//! or what [`Taking`] says, and the program's notes tell it. Nothing here panics on any input. Memory grows with the largest
//! block and with the different instructions, at most 2^20, not with the file.

mod code;
mod header;
mod instruction;
mod kernel;
mod lines;
mod list;
mod lower;
mod opcodes;
mod source;
mod stream;
mod synthetic;
mod windows;
mod write;

use std::fmt;
use std::io::Read;
use std::sync::Arc;

use crate::diag::Diagnostic;

pub use header::Header;
pub use kernel::{Summary, TracedKernel};
pub use list::{KernelsList, Listed};
pub use lower::Taking;
pub use opcodes::{Does, Opcodes, Rule, bytes_of};
pub use source::{TraceSource, Wanted};
pub use synthetic::{Pattern, Synthetic};
pub use write::{Launched, Writer};

/// Where a trace comes from: it is read more than once.
#[derive(Clone, Debug)]
pub struct TraceFile {
    /// What messages call it.
    pub name: String,
    /// How to read it from its beginning.
    pub open: Arc<dyn Open>,
}

/// Something that can be read from its beginning, unpacked.
pub trait Open: fmt::Debug + Send + Sync {
    /// Begins.
    ///
    /// # Errors
    /// Why it cannot be read.
    fn open(&self) -> Result<Box<dyn Read + Send>, Diagnostic>;
}

/// A text that is in memory.
#[derive(Clone, Debug)]
pub struct InMemory(pub Arc<[u8]>);

impl Open for InMemory {
    fn open(&self) -> Result<Box<dyn Read + Send>, Diagnostic> {
        Ok(Box::new(std::io::Cursor::new(Arc::clone(&self.0))))
    }
}
