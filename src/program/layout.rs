//! Where variables live: one address map for front ends and `exec`.
//!
//! Addresses within a space are offsets from 0, except global memory, which is flat. Generic
//! addresses see shared, local, constant and parameter memory through fixed windows; all windows
//! lie below 4 GiB, so that 32-bit code works too. Device buffers start where GPGPU-Sim puts them,
//! so that addresses in our traces can be compared with the reference data.

use crate::isa::Space;

/// Where the handles of texture and surface objects start: addresses at which nothing lies.
pub const HANDLES_BASE: u64 = 0x0500_0000;
/// Where module variables of global memory start.
pub const GLOBALS_BASE: u64 = 0x1000_0000;
/// Where launch buffers start.
pub const BUFFERS_BASE: u64 = 0xc000_0000;
/// Alignment of each buffer, bytes.
pub const BUFFER_ALIGN: u64 = 256;
/// Unmapped bytes after each buffer, at least.
pub const GUARD_BYTES: u64 = 4096;
/// Where local memory lies in the traffic of a path ([`crate::path::LineUse`]): beyond all global
/// memory. Kernels do not see these addresses.
pub const LOCAL_LINES_BASE: u64 = 1 << 48;
/// Where constants lie in the traffic of a path, if it has them, and the kernel's parameters.
pub const CONSTANT_LINES_BASE: u64 = 1 << 49;
/// As [`CONSTANT_LINES_BASE`].
pub const PARAM_LINES_BASE: u64 = CONSTANT_LINES_BASE + (1 << 48);
/// Size of each window, bytes.
pub const WINDOW_SIZE: u64 = 0x0100_0000;

/// Where the addresses of functions begin; no access to memory goes there.
const FUNCTIONS_BASE: u64 = 0x0500_0000;
/// Distance of the addresses of two functions.
const FUNCTION_STEP: u64 = 16;

/// The address of the function with this index in its module, as a value: nothing lies there.
pub const fn function_address(index: u32) -> u64 {
    FUNCTIONS_BASE + index as u64 * FUNCTION_STEP
}

/// First generic address of a space's window; global memory is mapped one to one.
pub const fn window_base(space: Space) -> u64 {
    match space {
        Space::Shared => 0x0100_0000,
        Space::Local => 0x0200_0000,
        Space::Const => 0x0300_0000,
        Space::Param => 0x0400_0000,
        Space::Global | Space::Generic => 0,
    }
}

/// The space a generic address falls into, and the address within it.
pub fn resolve_generic(address: u64) -> (Space, u64) {
    match address / WINDOW_SIZE {
        1 => (Space::Shared, address % WINDOW_SIZE),
        2 => (Space::Local, address % WINDOW_SIZE),
        3 => (Space::Const, address % WINDOW_SIZE),
        4 => (Space::Param, address % WINDOW_SIZE),
        _ => (Space::Global, address),
    }
}

/// Where a launch buffer lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferPlace {
    /// Where kernels see it: what is beyond its end is mapped to nothing.
    pub address: u64,
    /// Where traffic shows it, without the unmapped bytes in between.
    pub packed: u64,
}

/// Where buffers of these sizes lie, in their order.
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

/// The memory a program declares.
#[derive(Clone, Debug, Default)]
pub struct MemoryLayout {
    /// Module variables of global memory; their addresses start at [`GLOBALS_BASE`].
    pub globals: Segment,
    /// Constant memory.
    pub constants: Segment,
    /// Static shared memory; dynamic shared memory begins at [`MemoryLayout::dynamic_shared_offset`].
    pub shared: Segment,
    /// Whether an unsized `.extern .shared` variable exists.
    pub uses_dynamic_shared: bool,
    /// Memory private to a thread: `.local` variables and the parameters of functions.
    pub local: Segment,
    /// Size of the kernel parameter block, bytes.
    pub param_bytes: u32,
}

impl MemoryLayout {
    /// Offset in shared memory of the dynamic part.
    pub fn dynamic_shared_offset(&self) -> u64 {
        self.shared.size.next_multiple_of(16)
    }

    /// Shared memory a block takes with this much of it dynamic, bytes.
    pub fn shared_bytes(&self, dynamic: u64) -> u64 {
        if dynamic == 0 { self.shared.size } else { self.dynamic_shared_offset() + dynamic }
    }
}

/// A run of variables in one space.
#[derive(Clone, Debug, Default)]
pub struct Segment {
    /// The first offset: those before belong to other modules of the same run.
    pub start: u64,
    /// The offset behind the last byte, padding included.
    pub size: u64,
    /// Initial contents from the first offset on; what lies beyond is zero. Empty for shared and local.
    pub init: Vec<u8>,
    /// The variables, by ascending offset.
    pub vars: Vec<Variable>,
}

/// A variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// As the source calls it.
    pub name: String,
    /// Offset from the segment's start, bytes.
    pub offset: u64,
    /// Size, bytes.
    pub size: u64,
}

impl Segment {
    /// An empty segment behind those of other modules.
    pub fn starting_at(start: u64) -> Self {
        Self { start, size: start, ..Self::default() }
    }

    /// Places a variable of `size` bytes at the next multiple of `align` and returns its offset.
    pub fn place(&mut self, name: &str, size: u64, align: u64) -> u64 {
        let offset = self.size.next_multiple_of(align.max(1));
        self.size = offset + size;
        self.vars.push(Variable { name: name.to_owned(), offset, size });
        offset
    }

    /// The variable that holds the offset.
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
