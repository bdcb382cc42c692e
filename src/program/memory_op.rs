//! What front ends tell timing about accesses to memory.
//!
//! The name of an op class chooses the unit of an instruction and says nothing else; that an instruction
//! loads, from where, or that it is a fence stands here, in every language alike.

use crate::isa::Space;

/// What an instruction does to memory, as far as timing goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryOp {
    /// Brings a value to a register.
    Load(Area),
    /// Takes one to memory.
    Store(Area),
    /// Reads and writes in memory.
    Atomic(Area),
    /// Copies from global to shared memory while the warp goes on.
    AsyncCopy,
    /// Waits for the warp's accesses.
    Fence,
    /// Brings a value to a register from addresses that nobody knows: there is no more to micro kernels. It
    /// runs on the unit of its op class, past any load/store unit.
    Unaddressed(Area),
}

/// Where an access goes, as the source says it. An access of a kind that its space has no op class for
/// counts as one to global memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Area {
    /// Parameters of the kernel.
    KernelParam,
    /// Parameters of functions; they are in local memory here, but move no lines.
    FunctionParam,
    /// Constant memory.
    Const,
    /// Global memory.
    Global,
    /// Shared memory.
    Shared,
    /// Local memory.
    Local,
    /// Each execution says where.
    Generic,
}

/// What a memory access is to a load/store unit. The space is that of the step, see
/// [`TimingTable::space`](super::TimingTable::space).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Brings a value to a register.
    Load,
    /// Takes one to memory.
    Store,
    /// Reads and writes in memory.
    Atomic,
    /// From global to shared memory.
    AsyncCopy,
    /// Waits for the warp's accesses.
    Fence,
}

impl MemoryOp {
    /// What it is to a load/store unit, if it goes there.
    pub fn access(self) -> Option<Access> {
        match self {
            Self::Load(_) => Some(Access::Load),
            Self::Store(_) => Some(Access::Store),
            Self::Atomic(_) => Some(Access::Atomic),
            Self::AsyncCopy => Some(Access::AsyncCopy),
            Self::Fence => Some(Access::Fence),
            Self::Unaddressed(_) => None,
        }
    }

    /// Whether its result may come from global memory.
    pub fn loads_global(self) -> bool {
        match self {
            Self::Load(area) | Self::Atomic(area) | Self::Unaddressed(area) => match area {
                Area::Global | Area::Generic => true,
                Area::KernelParam | Area::FunctionParam | Area::Const | Area::Shared | Area::Local => false,
            },
            Self::AsyncCopy => true,
            Self::Store(_) | Self::Fence => false,
        }
    }

    /// Whether it may move lines of device memory; `constants`: those and the kernel's parameters lie there,
    /// too.
    pub fn moves_lines(self, constants: bool) -> bool {
        match self {
            Self::Load(area) | Self::Store(area) | Self::Atomic(area) => match area {
                Area::Global | Area::Local | Area::Generic => true,
                Area::Const | Area::KernelParam => constants,
                Area::FunctionParam | Area::Shared => false,
            },
            Self::AsyncCopy => true,
            Self::Fence | Self::Unaddressed(_) => false,
        }
    }

    /// The space by which its op class is chosen; nothing for a fence.
    pub fn space(self) -> Option<Space> {
        match self {
            Self::Load(area) | Self::Store(area) | Self::Atomic(area) | Self::Unaddressed(area) => {
                Some(area.space())
            }
            Self::AsyncCopy => Some(Space::Global),
            Self::Fence => None,
        }
    }

    /// The same elsewhere.
    #[must_use]
    pub fn to(self, area: Area) -> Self {
        match self {
            Self::Load(_) => Self::Load(area),
            Self::Store(_) => Self::Store(area),
            Self::Atomic(_) => Self::Atomic(area),
            Self::Unaddressed(_) => Self::Unaddressed(area),
            Self::AsyncCopy | Self::Fence => self,
        }
    }
}

impl Area {
    /// The space that op classes are told apart by.
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
    /// Where an access to this space goes; to parameters, to those of the kernel.
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
