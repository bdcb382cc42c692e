//! The description of memory accesses that front ends provide for timing.
//!
//! The name of an op class selects only the unit of an instruction. The type [`MemoryOp`] states
//! whether it loads, stores or fences, and which memory it accesses, independently of the source
//! language.

use crate::isa::Space;

/// The memory operation of an instruction, as far as timing is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryOp {
    /// Loads values into registers.
    Load(Area),
    /// Loads values into registers, and bypasses the cache of the SM.
    LoadUncached(Area),
    /// Stores values to memory.
    Store(Area),
    /// Reads and modifies memory.
    Atomic(Area),
    /// Copies from global to shared memory asynchronously to the warp.
    AsyncCopy,
    /// Copies like that, and bypasses the cache of the SM.
    AsyncCopyUncached,
    /// Waits for the warp's memory accesses.
    Fence,
    /// Loads a value from an unknown address, as micro kernels do. It executes on the unit of its
    /// op class and bypasses load/store units.
    Unaddressed(Area),
}

/// The memory that an access goes to, according to the source. A combination of operation and space
/// that has no op class of its own counts as an access to global memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Area {
    /// The parameters of the kernel.
    KernelParam,
    /// The parameters of functions. They are in local memory here, but transfer no lines.
    FunctionParam,
    /// Constant memory.
    Const,
    /// Global memory.
    Global,
    /// Shared memory.
    Shared,
    /// Local memory.
    Local,
    /// The memory that the address of each execution selects.
    Generic,
}

/// The kind of a memory access at a load/store unit. Its space is that of the step, see
/// [`TimingTable::space`](super::TimingTable::space).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Loads values into registers.
    Load,
    /// Loads values into registers or copies them to shared memory, and bypasses the cache of the SM.
    LoadUncached,
    /// Stores values to memory.
    Store,
    /// Reads and modifies memory.
    Atomic,
    /// Copies from global to shared memory.
    AsyncCopy,
    /// Waits for the warp's memory accesses.
    Fence,
}

impl MemoryOp {
    /// Returns the kind of access at a load/store unit, or `None` if it does not go there.
    pub fn access(self) -> Option<Access> {
        match self {
            Self::Load(_) => Some(Access::Load),
            Self::LoadUncached(_) | Self::AsyncCopyUncached => Some(Access::LoadUncached),
            Self::Store(_) => Some(Access::Store),
            Self::Atomic(_) => Some(Access::Atomic),
            Self::AsyncCopy => Some(Access::AsyncCopy),
            Self::Fence => Some(Access::Fence),
            Self::Unaddressed(_) => None,
        }
    }

    /// Returns whether the result may come from global memory.
    pub fn loads_global(self) -> bool {
        match self {
            Self::Load(area) | Self::LoadUncached(area) | Self::Atomic(area) | Self::Unaddressed(area) => {
                match area {
                    Area::Global | Area::Generic => true,
                    Area::KernelParam | Area::FunctionParam | Area::Const | Area::Shared | Area::Local => {
                        false
                    }
                }
            }
            Self::AsyncCopy | Self::AsyncCopyUncached => true,
            Self::Store(_) | Self::Fence => false,
        }
    }

    /// Returns whether the access may transfer lines of device memory. `constants` states whether
    /// constants and kernel parameters are in device memory, too.
    pub fn moves_lines(self, constants: bool) -> bool {
        match self {
            Self::Load(area) | Self::LoadUncached(area) | Self::Store(area) | Self::Atomic(area) => {
                match area {
                    Area::Global | Area::Local | Area::Generic => true,
                    Area::Const | Area::KernelParam => constants,
                    Area::FunctionParam | Area::Shared => false,
                }
            }
            Self::AsyncCopy | Self::AsyncCopyUncached => true,
            Self::Fence | Self::Unaddressed(_) => false,
        }
    }

    /// Returns the space that selects the op class; `None` for a fence.
    pub fn space(self) -> Option<Space> {
        match self {
            Self::Load(area)
            | Self::LoadUncached(area)
            | Self::Store(area)
            | Self::Atomic(area)
            | Self::Unaddressed(area) => Some(area.space()),
            Self::AsyncCopy | Self::AsyncCopyUncached => Some(Space::Global),
            Self::Fence => None,
        }
    }

    /// Returns the same operation in another area.
    #[must_use]
    pub fn to(self, area: Area) -> Self {
        match self {
            Self::Load(_) => Self::Load(area),
            Self::LoadUncached(_) => Self::LoadUncached(area),
            Self::Store(_) => Self::Store(area),
            Self::Atomic(_) => Self::Atomic(area),
            Self::Unaddressed(_) => Self::Unaddressed(area),
            Self::AsyncCopy | Self::AsyncCopyUncached | Self::Fence => self,
        }
    }
}

impl Area {
    /// Returns the space that selects the op class.
    pub const fn space(self) -> Space {
        match self {
            Self::KernelParam | Self::FunctionParam => Space::Param,
            Self::Const => Space::Const,
            Self::Global => Space::Global,
            Self::Shared => Space::Shared,
            Self::Local => Space::Local,
            Self::Generic => Space::Generic,
        }
    }
}

impl From<Space> for Area {
    /// Returns the area of an access to a space; for parameters, those of the kernel.
    fn from(space: Space) -> Self {
        match space {
            Space::Param => Self::KernelParam,
            Space::Const => Self::Const,
            Space::Global => Self::Global,
            Space::Shared => Self::Shared,
            Space::Local => Self::Local,
            Space::Generic => Self::Generic,
        }
    }
}
