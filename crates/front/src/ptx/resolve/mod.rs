//! Name resolution: the storage of variables, the scopes of functions, and the call graph.

mod reach;
mod scope;
mod statics;

pub(super) use reach::{Reach, reach};
pub(super) use scope::{Frame, Scopes, Symbol, VectorRegister};
pub(super) use statics::{Statics, check_names, convert, has_length, natural_align, size_of};

use super::span::Span;

/// A construct that cannot be lowered, with its location.
#[derive(Clone, Debug)]
pub(super) struct Problem {
    pub span: Span,
    pub line: u32,
    /// The opcode or other construct.
    pub construct: String,
    pub message: String,
    pub hint: String,
}
