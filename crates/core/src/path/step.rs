//! An executed instruction in four bytes.

use std::fmt;

use crate::base::Pc;
use crate::isa::Space;

/// A step of a path: the instruction, eleven bits that depend on this execution, and whether it
/// terminated the warp.
///
/// The meaning of the eleven bits depends on the instruction: [`MemoryUse`] for memory accesses,
/// [`BarrierUse`] for barriers, [`AsyncRing`] for asynchronous copies and their waits.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Step(u32);

const PC_BITS: u32 = 20;
const PAYLOAD_BITS: u32 = 11;
const ENDS_WARP: u32 = 1 << 31;

impl Step {
    /// The largest program counter; front ends reject programs with more instructions.
    pub const MAX_PC: u32 = (1 << PC_BITS) - 1;

    /// Creates a step of an instruction whose timing does not depend on the execution.
    #[inline]
    pub const fn plain(pc: Pc) -> Self {
        assert!(pc.get() <= Self::MAX_PC, "programs are limited to 2^20 instructions");
        Self(pc.get())
    }

    /// Creates a step with data that depends on this execution.
    #[inline]
    pub fn with(pc: Pc, payload: impl Into<Payload>) -> Self {
        Self(Self::plain(pc).0 | payload.into().0 << PC_BITS)
    }

    /// Returns the same step, marked as the last one of the warp.
    #[must_use]
    #[inline]
    pub fn ending_warp(self) -> Self {
        Self(self.0 | ENDS_WARP)
    }

    /// Returns the program counter.
    #[inline]
    pub const fn pc(self) -> Pc {
        Pc::new(self.0 & Self::MAX_PC)
    }

    /// Returns whether this is the last step of the warp.
    #[inline]
    pub const fn ends_warp(self) -> bool {
        self.0 & ENDS_WARP != 0
    }

    const fn payload(self) -> u32 {
        self.0 >> PC_BITS & ((1 << PAYLOAD_BITS) - 1)
    }

    /// Returns the payload of a memory access.
    #[inline]
    pub fn memory(self) -> MemoryUse {
        let bits = self.payload();
        let space = Space::RESOLVED.get((bits & 7) as usize).copied().unwrap_or(Space::Global);
        MemoryUse { space, extra_transactions: (bits >> 3) as u8 }
    }

    /// Returns the payload of a barrier.
    #[inline]
    pub fn barrier(self) -> BarrierUse {
        let bits = self.payload();
        BarrierUse { id: (bits & 15) as u8, warps: (bits >> 4) as u8 }
    }

    /// Returns the payload of an asynchronous copy or wait.
    #[inline]
    pub fn async_ring(self) -> AsyncRing {
        AsyncRing((self.payload() & 31) as u8)
    }
}

impl fmt::Debug for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.pc())?;
        if self.payload() != 0 {
            write!(f, "+{:#x}", self.payload())?;
        }
        if self.ends_warp() { f.write_str("!") } else { Ok(()) }
    }
}

/// The eleven bits of a step that depend on the execution.
pub struct Payload(u32);

/// The space that a memory access resolved to, and what it costs that lanes have different addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryUse {
    /// The space, which is never `Generic`.
    pub space: Space,
    /// In shared memory, the number of transactions beyond those that an access of this width takes
    /// without bank conflicts; 0 if the machine has no bank conflicts. For constants and parameters, the
    /// number of addresses beyond the first, if the machine serves them one after the other.
    pub extra_transactions: u8,
}

/// A barrier and the number of warps that it synchronises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BarrierUse {
    /// The barrier resource of the block, 0 to 15.
    pub id: u8,
    /// The number of participating warps; 0 for all warps of the block that have not terminated.
    pub warps: u8,
}

/// A slot in the ring of pseudo-registers that asynchronous copies write and waits read, one per
/// commit group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AsyncRing(u8);

impl AsyncRing {
    /// The number of slots, which is the number of commit groups that can be distinguished.
    pub const SLOTS: u8 = 32;

    /// Returns the slot of the n-th commit group of a warp.
    #[inline]
    pub fn of_group(group: u64) -> Self {
        Self((group % u64::from(Self::SLOTS)) as u8)
    }

    /// Returns the index of the slot.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl From<MemoryUse> for Payload {
    #[inline]
    fn from(memory: MemoryUse) -> Self {
        debug_assert!(memory.space != Space::Generic);
        Self(memory.space.index() as u32 | u32::from(memory.extra_transactions) << 3)
    }
}

impl From<BarrierUse> for Payload {
    #[inline]
    fn from(barrier: BarrierUse) -> Self {
        Self(u32::from(barrier.id & 15) | u32::from(barrier.warps & 127) << 4)
    }
}

impl From<AsyncRing> for Payload {
    #[inline]
    fn from(slot: AsyncRing) -> Self {
        Self(u32::from(slot.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn payloads_round_trip() {
        let pc = Pc::new(Step::MAX_PC);
        for space in Space::RESOLVED {
            for extra_transactions in [0, 1, 32, 64, 255] {
                let used = MemoryUse { space, extra_transactions };
                let step = Step::with(pc, used).ending_warp();
                assert_eq!((step.memory(), step.pc(), step.ends_warp()), (used, pc, true));
            }
        }
        let barrier = BarrierUse { id: 15, warps: 64 };
        assert_eq!(Step::with(Pc::new(3), barrier).barrier(), barrier);
        assert_eq!(Step::with(Pc::new(3), AsyncRing::of_group(33)).async_ring().index(), 1);
        assert_eq!(std::mem::size_of::<Step>(), 4);
    }
}
