//! Op classes: the timing family of each instruction, as data.
//!
//! An instruction set table (`isa/*.ron`) maps an opcode root, the kind of its type and its memory
//! space to the name of an op class. A machine maps op classes to units. The two are independent of
//! each other.

mod table;

pub use table::{IsaTable, Rule};

use serde::{Deserialize, Serialize};

/// The op class of loads from global memory, whose latency the option `--mem-latency` sets.
pub const GLOBAL_LOAD: &str = "ld.global";
/// The op class of barriers. If a machine does not map it, a unit for barriers is added.
pub const BARRIER: &str = "barrier";

/// A memory space, as distinguished by op classes and access checks.
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
    /// A window onto the other spaces, resolved per access.
    Generic,
}

impl Space {
    /// The spaces that an access can resolve to, in the order of [`Space::index`].
    pub const RESOLVED: [Self; 5] = [Self::Param, Self::Const, Self::Global, Self::Shared, Self::Local];

    /// Returns whether accesses to this space touch lines of device memory. `constants` states
    /// whether constants and kernel parameters are in device memory, too.
    pub fn has_lines(self, constants: bool) -> bool {
        match self {
            Self::Global | Self::Local => true,
            Self::Const | Self::Param => constants,
            Self::Shared | Self::Generic => false,
        }
    }

    /// Returns the index of a space for dense tables.
    pub const fn index(self) -> usize {
        self as usize
    }

    /// Returns the name in PTX without the dot.
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

/// The kind of an instruction's type, as distinguished by op classes.
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
