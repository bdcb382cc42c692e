//! Address spaces: the storage of bytes, and the check of accesses.
//!
//! Global memory consists of a few regions with unmapped gaps between them, so that an access past
//! a buffer's end is an error and does not reach other data. The other spaces are plain arrays that
//! start at address 0.

use super::device::{Device, ModuleMemory, Region, variable_in};
use super::races::{Extent, targets};
use super::registers::Words;
use warpbound_core::base::ask_memory;
use warpbound_core::diag::{Diagnostic, Diagnostics};
use warpbound_core::isa::Space;
use warpbound_core::path::Footprint;
use warpbound_core::program::KernelCode;
use warpbound_core::program::launch::{Arg, Launch};
use warpbound_core::program::layout::{BUFFERS_BASE, GLOBALS_BASE};

/// The limit on the bytes of shared and local memory. More are rejected instead of risking an
/// allocation failure.
const MAX_BYTES: u64 = 1 << 32;

/// All memory of a launch; shared and local memory are those of the running block.
#[derive(Clone, Debug)]
pub(super) struct Memory {
    /// The regions by ascending base: module variables if there are any, then the buffers.
    regions: Vec<Region>,
    /// The names of the buffers, in the order of the regions that hold them.
    names: Vec<String>,
    /// The variables of the modules; the constants of the running one are in `constants`.
    modules: Vec<ModuleMemory>,
    /// The ranges that the host has copied to since the previous launch.
    copied: Vec<(u64, u64)>,
    /// The index of the running module.
    module: usize,
    constants: Vec<u8>,
    params: Vec<u8>,
    shared: Vec<u8>,
    local: Vec<u8>,
    /// The shared and local memory of the other blocks of the cluster, by rank; that of the running
    /// block is empty.
    parked: Vec<Private>,
    /// The rank of the running block in its cluster.
    rank: usize,
    /// Whether the uppermost byte of an address in shared memory is the rank of a block, as in machine
    /// code. In PTX it starts at [`FIRST_NAMED`], and 0 means the running block.
    numbered: bool,
    local_per_thread: usize,
    /// The bytes of the local memory of a thread that do not belong to its stack.
    local_fixed: u64,
    /// The region that was accessed last, because the next access is most likely to be there too.
    recent: usize,
}

/// The memory that only one block owns.
#[derive(Clone, Debug, Default)]
struct Private {
    shared: Vec<u8>,
    local: Vec<u8>,
}

/// The bits of an address in shared memory below the byte that names a block of the cluster.
const OFFSET_BITS: u32 = 24;

/// The uppermost byte of the addresses of the first block of the cluster in PTX. The bytes of the others
/// follow in steps of two, so that a conversion for the window of the own block leads nowhere.
const FIRST_NAMED: usize = 8;

/// The reason for which an access is not allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Denied {
    /// The address is not a multiple of the access size.
    Misaligned,
    /// Some byte of it is not mapped.
    Unmapped,
    /// It is a write to read-only memory.
    ReadOnly,
}

impl Memory {
    /// Creates the memory of a launch before its first block: that of a kernel of one of the
    /// modules, with global memory as earlier launches left it.
    ///
    /// # Errors
    /// Returns an error for arguments that do not fit the program, or memory that is too large.
    pub(super) fn on(
        mut device: Device,
        module: usize,
        program: &KernelCode,
        launch: &Launch,
        stack_bytes: u64,
    ) -> Result<Self, Diagnostics> {
        let mut problems = Diagnostics::new();
        let layout = &program.memory;
        let threads = (launch.warps_per_block() * warpbound_core::base::WARP_SIZE) as u64;
        let shared = layout.shared_bytes(u64::from(launch.dynamic_shared));
        let fixed = layout.local.size.next_multiple_of(16);
        let has_frames = program.functions.iter().any(|function| function.frame.is_some());
        let local = fixed.saturating_add(if has_frames { stack_bytes.next_multiple_of(16) } else { 0 });
        let ranks = program.blocks_of_cluster().max(1);
        let sizes = [
            ("shared memory", shared.saturating_mul(ranks)),
            ("local memory of a block", local.saturating_mul(threads).saturating_mul(ranks)),
        ];
        for (kind, size) in sizes {
            if size > MAX_BYTES {
                let message = format!("`{}` needs {size} bytes of {kind}; the limit is 4 GiB", program.name);
                problems.push(Diagnostic::general(&program.file, message));
            }
        }
        if ranks > 1 && shared > 1 << OFFSET_BITS {
            let message = format!("`{}` needs {shared} bytes of shared memory", program.name);
            let problem = Diagnostic::general(&program.file, message);
            problems.push(problem.hint("a block of a cluster can have 16 MiB"));
        }
        // both are overwritten completely before each block
        if problems.is_empty()
            && let Err(why) =
                ask_memory(shared.saturating_add(local.saturating_mul(threads)).saturating_mul(ranks))
        {
            let message = format!("shared and local memory of a block of `{}` {why}", program.name);
            let hint = "use fewer threads in a block, or allow more with --max-memory";
            problems.push(Diagnostic::general(&program.file, message).hint(hint));
        }
        problems.into_result(())?;

        let constants = device.modules.get_mut(module).map(|m| std::mem::take(&mut m.constant_bytes));
        let Device { regions, names, modules, copied, varying: _ } = device;
        let private =
            Private { shared: vec![0; shared as usize], local: vec![0; (local * threads) as usize] };
        let mut parked = vec![private.clone(); ranks as usize - 1];
        parked.insert(0, Private::default());
        let Private { shared, local: of_block } = private;
        let mut memory = Self {
            regions,
            names,
            modules,
            copied,
            module,
            constants: constants.unwrap_or_default(),
            params: Vec::new(),
            shared,
            local: of_block,
            parked,
            rank: 0,
            numbered: program.machine_code.is_some(),
            local_per_thread: local as usize,
            local_fixed: fixed,
            recent: 0,
        };
        let mut problems = Diagnostics::new();
        memory.params = memory.parameter_block(program, launch, &mut problems);
        problems.into_result(memory)
    }

    /// Returns copies of the parameters and constants, which kernels can read without loads.
    pub(super) fn words(&self) -> Words {
        Words { params: self.params.clone(), constants: self.constants.clone() }
    }

    /// Returns the device memory that the launch leaves.
    pub(super) fn into_device(self) -> Device {
        let Self { regions, names, mut modules, module, constants, .. } = self;
        if let Some(module) = modules.get_mut(module) {
            module.constant_bytes = constants;
        }
        Device { regions, names, modules, copied: Vec::new(), varying: Vec::new() }
    }

    /// Returns the contents of a variable of the running kernel's module, by its full name.
    pub(super) fn variable(&self, name: &str) -> Option<&[u8]> {
        let module = self.modules.get(self.module)?;
        variable_in(module, module.region.map(|region| &self.regions[region]), &self.constants, name)
    }

    fn parameter_block(&self, program: &KernelCode, launch: &Launch, problems: &mut Diagnostics) -> Vec<u8> {
        let end = program.params.iter().map(|p| u64::from(p.offset) + u64::from(p.size)).max().unwrap_or(0);
        // machine code reads whole words
        let size = end.max(u64::from(program.memory.param_bytes)).next_multiple_of(4).min(1 << 20) as usize;
        let mut block = vec![0; size];
        if program.params.len() != launch.args.len() {
            let (takes, given) = (program.params.len(), launch.args.len());
            problems.push(Diagnostic::general(
                "launch",
                format!("`{}` takes {takes} arguments, {given} given", program.name),
            ));
        }
        for (param, arg) in program.params.iter().zip(&launch.args) {
            let bytes = match arg {
                Arg::Value(bytes) => bytes.clone(),
                Arg::Buffer(index) => match self.buffer_address(*index) {
                    Some(address) if param.size == 8 => address.to_le_bytes().to_vec(),
                    Some(address) if param.size == 4 && address <= u64::from(u32::MAX) => {
                        (address as u32).to_le_bytes().to_vec()
                    }
                    _ => Vec::new(),
                },
            };
            let place = block.get_mut(param.offset as usize..).and_then(|b| b.get_mut(..param.size as usize));
            match place {
                Some(place) if place.len() == bytes.len() => place.copy_from_slice(&bytes),
                _ => problems.push(Diagnostic::general(
                    "launch",
                    format!(
                        "the argument for parameter `{}` ({} bytes) does not fit",
                        param.name, param.size
                    ),
                )),
            }
        }
        block
    }

    /// Returns the contents of a buffer of the launch.
    pub(super) fn buffer(&self, index: usize) -> &[u8] {
        self.regions.get(self.first_buffer() + index).map_or(&[], |region| &region.bytes)
    }

    fn first_buffer(&self) -> usize {
        self.regions.len() - self.names.len()
    }

    fn buffer_address(&self, index: usize) -> Option<u64> {
        self.regions.get(self.first_buffer() + index).map(|region| region.base)
    }

    /// Returns the rank of the running block in its cluster.
    pub(super) fn rank(&self) -> usize {
        self.rank
    }

    /// Makes another block of the cluster the running one.
    pub(super) fn enter(&mut self, rank: usize) {
        for other in [self.rank, rank] {
            std::mem::swap(&mut self.shared, &mut self.parked[other].shared);
            std::mem::swap(&mut self.local, &mut self.parked[other].local);
        }
        self.rank = rank;
    }

    /// Returns the rank of the block in whose shared memory an address lies.
    #[inline]
    pub(super) fn rank_of(&self, address: u64) -> Option<usize> {
        let ranks = self.parked.len();
        if ranks == 1 {
            return Some(0);
        }
        let named = (address >> OFFSET_BITS) as usize;
        match (self.numbered, named) {
            (true, rank) => Some(rank),
            (false, 0) => Some(self.rank),
            (false, named) if named % 2 == 0 => (named / 2).checked_sub(FIRST_NAMED / 2),
            (false, _) => None,
        }
        .filter(|&rank| rank < ranks)
    }

    /// Returns whether an address lies in the shared memory of the running block.
    pub(super) fn is_own(&self, address: u64) -> bool {
        self.rank_of(address) == Some(self.rank)
    }

    /// Returns the address in the shared memory of another block that corresponds to this one. If there
    /// is no such block, the result is not mapped.
    pub(super) fn in_block(&self, address: u64, rank: u64) -> u64 {
        if self.parked.len() == 1 && rank == 0 {
            return address;
        }
        let named = match (rank < self.parked.len() as u64, self.numbered) {
            (false, _) => 0xff,
            (true, true) => rank,
            (true, false) => FIRST_NAMED as u64 + 2 * rank,
        };
        address & ((1 << OFFSET_BITS) - 1) | named << OFFSET_BITS
    }

    /// Returns the offset of an address within the shared memory of its block.
    #[inline]
    pub(super) fn offset(&self, address: u64) -> u64 {
        if self.parked.len() == 1 { address } else { address & ((1 << OFFSET_BITS) - 1) }
    }

    /// Returns the address in the shared memory of the running block that has this offset.
    pub(super) fn own(&self, offset: u64) -> u64 {
        if self.numbered { self.in_block(offset, self.rank as u64) } else { offset }
    }

    /// Returns the shared memory in which an address lies, and the address within it.
    #[inline]
    fn shared_at(&self, address: u64) -> (&[u8], u64) {
        let bytes = match self.rank_of(address) {
            Some(rank) if rank == self.rank => self.shared.as_slice(),
            Some(rank) => &self.parked[rank].shared,
            None => &[],
        };
        (bytes, self.offset(address))
    }

    /// Returns shared memory like [`Self::shared_at`], for writing.
    #[inline]
    fn shared_at_mut(&mut self, address: u64) -> (&mut [u8], u64) {
        let offset = self.offset(address);
        let bytes = match self.rank_of(address) {
            Some(rank) if rank == self.rank => self.shared.as_mut_slice(),
            Some(rank) => &mut self.parked[rank].shared,
            None => &mut [],
        };
        (bytes, offset)
    }

    /// Clears shared and local memory for the next block.
    pub(super) fn start_block(&mut self) {
        self.shared.fill(0);
        self.local.fill(0);
    }

    /// Returns a range of a space whose bytes are the same for all threads; `None` if not all of it
    /// is mapped, or it is not contiguous.
    #[inline]
    pub(super) fn stretch(&mut self, space: Space, address: u64, size: u64) -> Option<&[u8]> {
        let size = usize::try_from(size).ok()?;
        let bytes = match space {
            Space::Global => {
                let (region, offset) = self.global(address, size)?;
                &self.regions[region].bytes[offset..]
            }
            Space::Shared => {
                let (bytes, address) = self.shared_at(address);
                from(bytes, address)
            }
            Space::Const => from(&self.constants, address),
            Space::Param => from(&self.params, address),
            Space::Local | Space::Generic => return None,
        };
        bytes.get(..size)
    }

    /// Returns whether all of these bytes of global memory are in a buffer that no kernel writes.
    pub(super) fn is_constant(&mut self, address: u64, size: usize) -> bool {
        self.global(address, size).is_some_and(|(region, _)| self.regions[region].constant)
    }

    /// Returns a range like [`Memory::stretch`], for writing.
    #[inline]
    pub(super) fn stretch_mut(&mut self, space: Space, address: u64, size: u64) -> Option<&mut [u8]> {
        let size = usize::try_from(size).ok()?;
        let bytes = match space {
            Space::Global => {
                let (region, offset) = self.global(address, size)?;
                let region = &mut self.regions[region];
                if region.constant {
                    return None;
                }
                &mut region.bytes[offset..]
            }
            Space::Shared => {
                let (bytes, address) = self.shared_at_mut(address);
                from_mut(bytes, address)
            }
            Space::Const | Space::Param | Space::Local | Space::Generic => return None,
        };
        bytes.get_mut(..size)
    }

    /// Returns the bytes of an aligned access by `thread` of the block; `size` is a power of two.
    ///
    /// # Errors
    /// Returns an error if the address is misaligned or not mapped.
    #[inline]
    pub(super) fn read(
        &mut self,
        space: Space,
        thread: usize,
        address: u64,
        size: usize,
    ) -> Result<&[u8], Denied> {
        if address & (size as u64 - 1) != 0 {
            return Err(Denied::Misaligned);
        }
        self.bytes(space, thread, address, size)
    }

    /// Returns bytes like [`Memory::read`], for any size and alignment.
    ///
    /// # Errors
    /// Returns an error if some byte is not mapped.
    #[inline]
    pub(super) fn bytes(
        &mut self,
        space: Space,
        thread: usize,
        address: u64,
        size: usize,
    ) -> Result<&[u8], Denied> {
        let bytes = match space {
            Space::Global | Space::Generic => {
                let (region, offset) = self.global(address, size).ok_or(Denied::Unmapped)?;
                &self.regions[region].bytes[offset..]
            }
            Space::Shared => {
                let (bytes, address) = self.shared_at(address);
                from(bytes, address)
            }
            Space::Local => from(self.local(thread), address),
            Space::Const => from(&self.constants, address),
            Space::Param => from(&self.params, address),
        };
        bytes.get(..size).ok_or(Denied::Unmapped)
    }

    /// Returns bytes like [`Memory::read`], for writing.
    ///
    /// # Errors
    /// Returns the errors of reading, and an error if the space is read-only.
    #[inline]
    pub(super) fn write(
        &mut self,
        space: Space,
        thread: usize,
        address: u64,
        size: usize,
    ) -> Result<&mut [u8], Denied> {
        if address & (size as u64 - 1) != 0 {
            return Err(Denied::Misaligned);
        }
        let bytes = match space {
            Space::Global | Space::Generic => {
                let (region, offset) = self.global(address, size).ok_or(Denied::Unmapped)?;
                let region = &mut self.regions[region];
                if region.constant {
                    return Err(Denied::ReadOnly);
                }
                &mut region.bytes[offset..]
            }
            Space::Shared => {
                let (bytes, address) = self.shared_at_mut(address);
                from_mut(bytes, address)
            }
            Space::Local => from_mut(self.local_mut(thread), address),
            Space::Const | Space::Param => return Err(Denied::ReadOnly),
        };
        bytes.get_mut(..size).ok_or(Denied::Unmapped)
    }

    fn local(&self, thread: usize) -> &[u8] {
        &self.local[thread * self.local_per_thread..][..self.local_per_thread]
    }

    /// Returns all local memory of a thread of the block.
    pub(super) fn local_mut(&mut self, thread: usize) -> &mut [u8] {
        &mut self.local[thread * self.local_per_thread..][..self.local_per_thread]
    }

    /// Returns the region and the offset of `size` mapped bytes of global memory.
    #[inline]
    fn global(&mut self, address: u64, size: usize) -> Option<(usize, usize)> {
        let within = |region: &Region| {
            let offset = address.wrapping_sub(region.base);
            let fits =
                offset <= region.bytes.len() as u64 && region.bytes.len() as u64 - offset >= size as u64;
            fits.then_some(offset as usize)
        };
        if let Some(offset) = self.regions.get(self.recent).and_then(within) {
            return Some((self.recent, offset));
        }
        let index = self.regions.partition_point(|region| region.base <= address).checked_sub(1)?;
        let offset = within(&self.regions[index])?;
        self.recent = index;
        Some((index, offset))
    }

    /// Returns the address of a mapped byte of global memory in recorded traffic: buffers are
    /// contiguous there, at the addresses that GPGPU-Sim assigns
    /// ([`warpbound_core::program::layout::BufferPlace::packed`]). In the addresses of the kernel
    /// there are guards between them, but each buffer starts at the same position in a line.
    pub(super) fn packed_address(&mut self, address: u64) -> u64 {
        match self.global(address, 1) {
            Some((region, offset)) => self.regions[region].packed + offset as u64,
            None => address,
        }
    }

    /// Returns the memory that the launch uses; buffers have their addresses in recorded traffic.
    pub(super) fn footprint(&self) -> Footprint {
        let buffers = self.regions.iter().map(|region| (region.packed, region.bytes.len() as u64));
        Footprint {
            buffers: buffers.collect(),
            copied: self.copied.clone(),
            shared_bytes: self.shared.len() as u64,
        }
    }

    /// Returns the extents of shared memory, module variables and buffers.
    pub(super) fn extents(&self) -> [Extent; 3] {
        let end = |base: u64| {
            let ends = self.regions.iter().map(|region| region.base + region.bytes.len() as u64);
            ends.filter(|&end| end > base && (base == BUFFERS_BASE) == (end > BUFFERS_BASE))
                .max()
                .unwrap_or(base)
        };
        let global = |base| Extent { base, bytes: end(base) - base };
        [Extent { base: 0, bytes: self.shared.len() as u64 }, global(GLOBALS_BASE), global(BUFFERS_BASE)]
    }

    /// Returns the regions that a kernel with these arguments does not write, as far as its code
    /// shows.
    pub(super) fn unwritten(&self, program: &KernelCode) -> Vec<Extent> {
        let extent = |region: &Region| Extent { base: region.base, bytes: region.bytes.len() as u64 };
        let regions: Vec<Extent> = self.regions.iter().map(extent).collect();
        targets::unwritten(program, &self.params, &regions)
    }

    /// Returns the bytes of local memory of a thread.
    pub(super) fn local_per_thread(&self) -> u64 {
        self.local_per_thread as u64
    }

    /// Returns the start of the stack in the local memory of a thread.
    pub(super) fn stack_base(&self) -> u64 {
        self.local_fixed
    }

    /// Describes the memory at or near an address, for messages.
    pub(super) fn describe(&self, space: Space, address: u64) -> String {
        let sized = |what: &str, size: usize| format!("{what} has {size} bytes");
        match space {
            Space::Shared => match self.rank_of(address) {
                None => format!("the cluster has no such block, but {}", self.parked.len()),
                Some(rank) if rank != self.rank => {
                    sized(&format!("the shared memory of block {rank} of the cluster"), self.shared.len())
                }
                Some(_) => sized("the block's shared memory", self.shared.len()),
            },
            Space::Local => sized("the thread's local memory", self.local_per_thread),
            Space::Const => sized("constant memory", self.constants.len()),
            Space::Param => sized("the parameter block", self.params.len()),
            Space::Global | Space::Generic => self.describe_global(address),
        }
    }

    fn describe_global(&self, address: u64) -> String {
        let distance = |region: &Region| {
            let end = region.base + region.bytes.len() as u64;
            if address < region.base {
                region.base - address
            } else {
                address.saturating_add(1).saturating_sub(end)
            }
        };
        let Some(index) = (0..self.regions.len()).min_by_key(|&i| distance(&self.regions[i])) else {
            return "the launch has no buffers".to_owned();
        };
        let region = &self.regions[index];
        let (name, base, size) = if index < self.first_buffer() {
            let offset = address.saturating_sub(GLOBALS_BASE);
            let module = self.modules.iter().find(|module| module.region == Some(index));
            let globals = module.map_or(&[][..], |module| &module.globals);
            let before = globals.iter().rev().find(|v| v.offset <= offset);
            match before.or(globals.first()) {
                Some(v) => (format!("variable `{}`", v.name), GLOBALS_BASE + v.offset, v.size),
                None => ("the module's variables".to_owned(), GLOBALS_BASE, region.bytes.len() as u64),
            }
        } else {
            let name = &self.names[index - self.first_buffer()];
            (format!("buffer `{name}`"), region.base, region.bytes.len() as u64)
        };
        let end = base + size;
        let place = if address < base {
            format!("{} bytes before", base - address)
        } else if address >= end {
            format!("{} bytes past the end of", address - end)
        } else {
            format!("at offset {} of", address - base)
        };
        format!("{place} {name}, which has {size} bytes")
    }
}

/// Returns the bytes from an address on; empty if it is beyond the end.
#[inline]
fn from(bytes: &[u8], address: u64) -> &[u8] {
    &bytes[address.min(bytes.len() as u64) as usize..]
}

/// Returns bytes like [`from`], for writing.
#[inline]
fn from_mut(bytes: &mut [u8], address: u64) -> &mut [u8] {
    let start = address.min(bytes.len() as u64) as usize;
    &mut bytes[start..]
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpbound_core::program::launch::{Buffer, Elem};
    use warpbound_core::program::layout::{BUFFER_ALIGN, GUARD_BYTES};
    use warpbound_core::program::{Param, ParamType};

    fn memory(lens: &[usize]) -> Memory {
        let mut program = KernelCode { name: "k".into(), file: "k.ptx".into(), ..KernelCode::default() };
        program.memory.globals.place("table", 8, 4);
        program.memory.globals.place("other", 8, 8);
        program.memory.globals.init = vec![1, 2, 3];
        program.memory.constants.place("c", 4, 4);
        program.memory.local.place("l", 12, 4);
        program.memory.shared.place("s", 20, 4);
        program.params = vec![Param { name: "p".into(), offset: 0, size: 8, ty: ParamType::Int }; lens.len()];
        for (index, param) in program.params.iter_mut().enumerate() {
            param.offset = 8 * index as u32;
        }
        let buffer = |(i, &len): (usize, &usize)| Buffer {
            name: format!("b{i}"),
            elem: Elem::U8,
            bytes: vec![i as u8; len],
            constant: len == 300,
        };
        let launch = Launch {
            grid: [1, 1, 1],
            block: [40, 1, 1],
            dynamic_shared: 0,
            registers: None,
            args: (0..lens.len()).map(Arg::Buffer).collect(),
            buffers: lens.iter().enumerate().map(buffer).collect(),
            symbols: vec![Buffer {
                name: "c".into(),
                elem: Elem::U32,
                bytes: vec![9, 8, 7, 6],
                constant: false,
            }],
            images: Vec::new(),
        };
        Memory::on(Device::of(&program, &launch).unwrap(), 0, &program, &launch, 0).unwrap()
    }

    #[test]
    fn buffers_start_where_they_should_and_end_where_they_do() {
        let mut memory = memory(&[100, 0, 300]);
        assert_eq!(memory.read(Space::Param, 0, 0, 8).unwrap(), BUFFERS_BASE.to_le_bytes());
        assert_eq!(memory.read(Space::Global, 0, BUFFERS_BASE + 96, 4).unwrap(), [0; 4]);
        assert_eq!(memory.read(Space::Global, 0, BUFFERS_BASE + 100, 4), Err(Denied::Unmapped));
        assert_eq!(memory.read(Space::Global, 0, BUFFERS_BASE + 96, 8), Err(Denied::Unmapped));
        assert_eq!(memory.read(Space::Global, 0, BUFFERS_BASE + 98, 4), Err(Denied::Misaligned));
        assert_eq!(memory.read(Space::Global, 0, 0, 4), Err(Denied::Unmapped));
        assert_eq!(memory.read(Space::Global, 0, u64::MAX - 3, 4), Err(Denied::Unmapped));
        let third = memory.buffer_address(2).unwrap();
        assert_eq!((third % BUFFER_ALIGN, third - BUFFERS_BASE > 2 * GUARD_BYTES), (0, true));
        memory.write(Space::Global, 0, BUFFERS_BASE + 4, 2).unwrap().copy_from_slice(&[7, 7]);
        assert_eq!(memory.buffer(0)[..7], [0, 0, 0, 0, 7, 7, 0]);
        assert_eq!(memory.write(Space::Global, 0, third + 4, 2), Err(Denied::ReadOnly), "it is constant");
        assert!(memory.stretch_mut(Space::Global, third, 4).is_none());
        assert!(memory.is_constant(third, 300) && !memory.is_constant(third, 301));
        assert!(!memory.is_constant(BUFFERS_BASE, 4));
        assert!(memory.buffer(1).is_empty() && memory.buffer(3).is_empty());
    }

    #[test]
    fn variables_symbols_and_private_memory() {
        let mut memory = memory(&[]);
        assert_eq!(memory.read(Space::Global, 0, GLOBALS_BASE, 4).unwrap(), [1, 2, 3, 0]);
        assert_eq!(memory.read(Space::Const, 0, 0, 4).unwrap(), [9, 8, 7, 6]);
        assert_eq!(memory.write(Space::Const, 0, 0, 4), Err(Denied::ReadOnly));
        memory.write(Space::Local, 39, 8, 4).unwrap().fill(5);
        assert_eq!(memory.read(Space::Local, 38, 8, 4).unwrap(), [0; 4]);
        assert_eq!(memory.read(Space::Local, 39, 8, 4).unwrap(), [5; 4]);
        assert_eq!(memory.read(Space::Local, 39, 16, 4), Err(Denied::Unmapped));
        memory.write(Space::Shared, 0, 16, 4).unwrap().fill(1);
        assert_eq!(memory.read(Space::Shared, 0, 20, 4), Err(Denied::Unmapped));
        memory.start_block();
        assert_eq!(memory.read(Space::Local, 39, 8, 4).unwrap(), [0; 4]);
        assert_eq!(memory.read(Space::Shared, 0, 16, 4).unwrap(), [0; 4]);
    }

    #[test]
    fn descriptions_name_the_nearest_buffer() {
        let memory = memory(&[100, 64]);
        let second = memory.buffer_address(1).unwrap();
        let near = |address| memory.describe(Space::Global, address);
        assert_eq!(near(BUFFERS_BASE + 104), "4 bytes past the end of buffer `b0`, which has 100 bytes");
        assert_eq!(near(second - 8), "8 bytes before buffer `b1`, which has 64 bytes");
        assert_eq!(near(second + 2), "at offset 2 of buffer `b1`, which has 64 bytes");
        assert_eq!(near(GLOBALS_BASE + 16), "0 bytes past the end of variable `other`, which has 8 bytes");
        assert_eq!(near(0), format!("{GLOBALS_BASE} bytes before variable `table`, which has 8 bytes"));
        assert!(memory.describe(Space::Shared, 40).contains("20 bytes"));
    }
}
