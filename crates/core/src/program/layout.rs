//! The address map that front ends and `exec` share.
//!
//! Addresses within a space are offsets from 0, except in global memory, which is flat. Generic
//! addresses reach shared, local, constant and parameter memory through fixed windows; all windows
//! lie below 4 GiB, so that 32-bit code works too. A further window of shared memory lies beyond
//! all memory. Device buffers start at the address at which GPGPU-Sim places them, so that
//! addresses in traces can be compared with its reference data.

use crate::isa::Space;

/// The first handle of texture and surface objects; no memory lies at these addresses.
pub const HANDLES_BASE: u64 = 0x0500_0000;
/// The address of the first module variable in global memory.
pub const GLOBALS_BASE: u64 = 0x1000_0000;
/// The address of the first launch buffer.
pub const BUFFERS_BASE: u64 = 0xc000_0000;
/// The alignment of each buffer in bytes.
pub const BUFFER_ALIGN: u64 = 256;
/// The minimum number of unmapped bytes after each buffer.
pub const GUARD_BYTES: u64 = 4096;
/// The address at which the traffic of a path ([`crate::path::LineUse`]) shows local memory: beyond
/// all of global memory. Kernels never see these addresses.
pub const LOCAL_LINES_BASE: u64 = 1 << 48;
/// The address at which the traffic of a path shows constants, if the machine caches them.
pub const CONSTANT_LINES_BASE: u64 = 1 << 49;
/// The address at which the traffic of a path shows the kernel's parameters, if the machine caches
/// constants.
pub const PARAM_LINES_BASE: u64 = CONSTANT_LINES_BASE + (1 << 48);
/// The size of each window in bytes.
pub const WINDOW_SIZE: u64 = 0x0100_0000;

/// The upper half of further generic addresses of shared memory. Their lower half is the offset in
/// it, as the machine code of GPUs with clusters composes such an address.
pub const SHARED_UPPER: u64 = 0x0080_0000;

/// The default local memory of a thread for the frames of functions that may call themselves, in
/// bytes: sixteen times the default of the CUDA runtime (`cudaLimitStackSize`).
pub const STACK_BYTES: u64 = 16 << 10;

/// The address of the first function; no memory lies at these addresses.
const FUNCTIONS_BASE: u64 = 0x0500_0000;
/// The difference between the addresses of consecutive functions in bytes.
const FUNCTION_STEP: u64 = 16;

/// Returns the address of a function by its index in its module. No memory lies there.
pub const fn function_address(index: u32) -> u64 {
    FUNCTIONS_BASE + index as u64 * FUNCTION_STEP
}

/// Returns the first generic address of a space's window; global memory is mapped one to one.
pub const fn window_base(space: Space) -> u64 {
    match space {
        Space::Shared => 0x0100_0000,
        Space::Local => 0x0200_0000,
        Space::Const => 0x0300_0000,
        Space::Param => 0x0400_0000,
        Space::Global | Space::Generic => 0,
    }
}

/// Returns the space that a generic address belongs to, and the address within that space.
pub fn resolve_generic(address: u64) -> (Space, u64) {
    match address / WINDOW_SIZE {
        1 => (Space::Shared, address % WINDOW_SIZE),
        2 => (Space::Local, address % WINDOW_SIZE),
        3 => (Space::Const, address % WINDOW_SIZE),
        4 => (Space::Param, address % WINDOW_SIZE),
        _ if address >> 32 == SHARED_UPPER => (Space::Shared, address & 0xffff_ffff),
        _ => (Space::Global, address),
    }
}

/// The location of a launch buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferPlace {
    /// The address that kernels use; the bytes after the buffer's end are unmapped.
    pub address: u64,
    /// The address in the traffic of paths, which leaves out the unmapped bytes between buffers.
    pub packed: u64,
}

/// Places buffers of the given sizes (bytes) in order.
pub fn place_buffers(sizes: impl IntoIterator<Item = u64>) -> Vec<BufferPlace> {
    let mut next = BufferPlace { address: BUFFERS_BASE, packed: BUFFERS_BASE };
    let places = sizes.into_iter().map(|size| {
        let place = next;
        next.packed = (next.packed + size).next_multiple_of(BUFFER_ALIGN);
        next.address = (next.address + size + GUARD_BYTES).next_multiple_of(BUFFER_ALIGN);
        place
    });
    places.collect()
}

/// The memory that a program declares.
#[derive(Clone, Debug, Default)]
pub struct MemoryLayout {
    /// The module variables in global memory, which start at [`GLOBALS_BASE`].
    pub globals: Segment,
    /// Constant memory.
    pub constants: Segment,
    /// Static shared memory. Dynamic shared memory begins at
    /// [`MemoryLayout::dynamic_shared_offset`].
    pub shared: Segment,
    /// Whether an unsized `.extern .shared` variable exists.
    pub uses_dynamic_shared: bool,
    /// The memory that is private to a thread: `.local` variables and the parameters of functions.
    pub local: Segment,
    /// The size of the kernel parameter block in bytes.
    pub param_bytes: u32,
}

impl MemoryLayout {
    /// Returns the offset of dynamic shared memory.
    pub fn dynamic_shared_offset(&self) -> u64 {
        self.shared.size.next_multiple_of(16)
    }

    /// Returns the regions, given by address and number of bytes, in which the traffic of a path shows
    /// constants and kernel parameters, if the machine caches them.
    pub fn constant_regions(&self) -> [(u64, u64); 2] {
        [(CONSTANT_LINES_BASE, self.constants.size), (PARAM_LINES_BASE, self.param_bytes.into())]
    }

    /// Returns the number of bytes of shared memory that a block takes, given its dynamic part.
    pub fn shared_bytes(&self, dynamic: u64) -> u64 {
        if dynamic == 0 { self.shared.size } else { self.dynamic_shared_offset() + dynamic }
    }
}

/// A sequence of variables in one space.
#[derive(Clone, Debug, Default)]
pub struct Segment {
    /// The first offset; lower offsets belong to other modules of the same run.
    pub start: u64,
    /// The offset after the last byte, padding included.
    pub size: u64,
    /// The initial contents, which begin at `start`; the rest is zero. Empty for shared and local
    /// memory.
    pub init: Vec<u8>,
    /// The variables in ascending order of offset.
    pub vars: Vec<Variable>,
}

/// A variable and its location in a segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// The name in the source.
    pub name: String,
    /// The offset from the segment's start in bytes.
    pub offset: u64,
    /// The size in bytes.
    pub size: u64,
}

impl Segment {
    /// Creates an empty segment after those of other modules.
    pub fn starting_at(start: u64) -> Self {
        Self { start, size: start, ..Self::default() }
    }

    /// Returns the first offset for the variables of another module.
    pub fn next_start(&self) -> u64 {
        match self.size {
            none if none == self.start => none,
            end => (end + GUARD_BYTES).next_multiple_of(BUFFER_ALIGN),
        }
    }

    /// Places a variable of `size` bytes at the next multiple of `align` and returns its offset.
    pub fn place(&mut self, name: &str, size: u64, align: u64) -> u64 {
        let offset = self.size.next_multiple_of(align.max(1));
        self.size = offset + size;
        self.vars.push(Variable { name: name.to_owned(), offset, size });
        offset
    }

    /// Returns the variable that contains an offset.
    pub fn find(&self, offset: u64) -> Option<&Variable> {
        let index = self.vars.partition_point(|v| v.offset <= offset).checked_sub(1)?;
        self.vars.get(index).filter(|v| offset < v.offset + v.size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_do_not_overlap_and_resolve_back() {
        for space in [Space::Shared, Space::Local, Space::Const, Space::Param] {
            assert_eq!(resolve_generic(window_base(space) + 20), (space, 20));
        }
        assert_eq!(resolve_generic(BUFFERS_BASE + 4), (Space::Global, BUFFERS_BASE + 4));
        assert_eq!(resolve_generic(GLOBALS_BASE), (Space::Global, GLOBALS_BASE));
        assert_eq!(resolve_generic(0), (Space::Global, 0));
        assert_eq!(resolve_generic(SHARED_UPPER << 32 | 20), (Space::Shared, 20));
    }

    #[test]
    fn variables_are_aligned_and_found() {
        let mut segment = Segment::default();
        assert_eq!(segment.place("a", 3, 1), 0);
        assert_eq!(segment.place("b", 8, 8), 8);
        assert_eq!(segment.find(15).map(|v| v.name.as_str()), Some("b"));
        assert_eq!(segment.find(4), None);
    }
}
