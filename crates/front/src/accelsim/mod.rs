//! Traces of machine code in the format of Accel-Sim's tracer (Khairy et al., ISCA 2020): kernels
//! whose paths are given.
//!
//! `list` parses `kernelslist.g`. A trace is read twice. First, [`TracedKernel::read`] reads it
//! from beginning to end and finds the instructions, from which `lower` builds a
//! [`warpbound_core::program::KernelCode`] using the tables in `opcodes` (`isa/traces/*.ron`). Then
//! [`TraceSource`] yields its blocks. `stream` parses the structure of the file, which `packed`
//! unpacks first if it is a `.tracez`, and `instruction` its lines, with `bulk` and `tail` for their
//! ends; `words` splits them, and `format` is what the header states on them; `code` looks up an instruction by its text.
//!
//! Information that the tracer does not record (predicates, uniform registers, numbers of barriers,
//! addresses of textures) takes no time here unless [`TraceOptions`] states otherwise. The notes of
//! the program list it. No input causes a panic. The use of memory grows with the largest block and
//! the number of distinct instructions, at most 2^20, but not with the size of the file.

mod bulk;
mod code;
mod format;
mod header;
mod instruction;
mod kernel;
mod lines;
mod list;
mod lower;
mod opcodes;
mod packed;
mod registers;
mod source;
mod stream;
mod synthetic;
mod tail;
mod windows;
mod words;
mod write;

use std::fmt;
use std::io::Read;
use std::sync::Arc;

use warpbound_core::diag::Diagnostic;

pub use header::Header;
pub use kernel::{Summary, TracedKernel};
pub use list::{KernelsList, Listed};
pub use lower::TraceOptions;
pub use opcodes::{OpcodeEffect, Opcodes, Rule, bytes_of};
pub use source::{TraceSource, Wanted};
pub use synthetic::{Pattern, Synthetic};
pub use write::{Launched, Writer};

/// A trace file, which is read more than once.
#[derive(Clone, Debug)]
pub struct TraceFile {
    /// The name in messages.
    pub name: String,
    /// Opens the file at its beginning.
    pub open: Arc<dyn Open>,
}

/// A file that can be opened repeatedly, uncompressed.
pub trait Open: fmt::Debug + Send + Sync {
    /// Opens the file at its beginning.
    ///
    /// # Errors
    /// The file cannot be opened.
    fn open(&self) -> Result<Box<dyn Read + Send>, Diagnostic>;
}

/// A text in memory.
#[derive(Clone, Debug)]
pub struct InMemory(pub Arc<[u8]>);

impl Open for InMemory {
    fn open(&self) -> Result<Box<dyn Read + Send>, Diagnostic> {
        Ok(Box::new(std::io::Cursor::new(Arc::clone(&self.0))))
    }
}
