//! Op classes: which timing family an instruction belongs to, as data.
//!
//! An instruction set table (`isa/*.ron`) maps an opcode root, the kind of its type and its memory
//! space to the name of an op class; a machine maps op classes to units. Neither knows the other.

mod table;

pub use table::IsaTable;

use serde::{Deserialize, Serialize};

/// The op class of loads from global memory: the one whose latency a machine is asked for.
pub const GLOBAL_LOAD: &str = "ld.global";
/// The op class of barriers. A machine that does not map it gets a unit for it.
pub const BARRIER: &str = "barrier";

/// A memory space, as far as op classes and access checks tell them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Space {
    /// Kernel parameters.
    Param,
    /// Constant memory.
    Const,
    /// Global memory.
    Global,
    /// Shared memory of the block.
    Shared,
    /// Memory private to a thread.
    Local,
    /// A window onto the others, resolved per access.
    Generic,
}

impl Space {
    /// The spaces an access can resolve to, in the order of [`Space::index`].
    pub const RESOLVED: [Self; 5] = [Self::Param, Self::Const, Self::Global, Self::Shared, Self::Local];

    /// Whether what an access to this space touches lies in lines of device memory; `constants`:
    /// those and the kernel's parameters do, too.
    pub fn has_lines(self, constants: bool) -> bool {
        match self {
            Self::Global | Self::Local => true,
            Self::Const | Self::Param => constants,
            Self::Shared | Self::Generic => false,
        }
    }

    /// Index of a space for dense tables.
    pub const fn index(self) -> usize {
        self as usize
    }

    /// As it stands in PTX, without the dot.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Param => "param",
            Self::Const => "const",
            Self::Global => "global",
            Self::Shared => "shared",
            Self::Local => "local",
            Self::Generic => "generic",
        }
    }
}

/// What an instruction computes on, as far as op classes tell types apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
pub enum TypeKind {
    /// Integers and untyped bits of any width.
    Int,
    /// Half precision, packed or not, and bfloat16.
    F16,
    /// Single precision.
    F32,
    /// Double precision.
    F64,
    /// Predicates.
    Pred,
    /// The instruction has no type (`bra`, `bar`, `ret`).
    None,
}
