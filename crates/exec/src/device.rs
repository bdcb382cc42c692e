//! Device memory between launches: buffers, and the variables of every module.

use super::races::VaryingWords;
use warpbound_core::base::sparse_copy;
use warpbound_core::diag::{Diagnostic, Diagnostics};
use warpbound_core::program::KernelCode;
use warpbound_core::program::launch::{Buffer, Launch};
use warpbound_core::program::layout::{GLOBALS_BASE, MemoryLayout, Segment, Variable, place_buffers};
use warpbound_core::program::sequence::Target;

/// The limit on the bytes of module variables. More are rejected instead of risking an allocation
/// failure.
const MAX_BYTES: u64 = 1 << 32;

/// A region of global memory.
#[derive(Clone, Debug)]
pub(super) struct Region {
    pub(super) base: u64,
    /// The start of the region in recorded traffic, where there are no unmapped bytes between
    /// buffers.
    pub(super) packed: u64,
    pub(super) bytes: Vec<u8>,
    /// Whether kernels must not write to it.
    pub(super) constant: bool,
}

/// The contents of device memory from launch to launch.
#[derive(Clone, Debug)]
pub struct Device {
    /// The regions by ascending base: variables of modules that have any, then the buffers.
    pub(super) regions: Vec<Region>,
    /// The names of the buffers, in the order of the regions that hold them.
    pub(super) names: Vec<String>,
    pub(super) modules: Vec<ModuleMemory>,
    /// The ranges that the host has copied to since the last launch, if there was one, as (address,
    /// bytes) in recorded traffic.
    pub(super) copied: Vec<(u64, u64)>,
    /// The words that launches with race detection left with values that differ from run to run.
    pub(super) varying: VaryingWords,
}

/// The variables of one module.
#[derive(Clone, Debug)]
pub(super) struct ModuleMemory {
    /// The region of those in global memory.
    pub(super) region: Option<usize>,
    pub(super) globals: Vec<Variable>,
    constants: Vec<Variable>,
    /// The contents of constant memory; empty while a kernel of the module runs.
    pub(super) constant_bytes: Vec<u8>,
    /// Whether the contents of constant memory are the same for every input.
    pub(super) constants_known: bool,
}

impl Device {
    /// Creates the memory before the first launch: the modules, with the data that the host copies
    /// to their variables, and the buffers.
    ///
    /// # Errors
    /// Returns an error for variables that are too large, or for symbols that do not exist.
    pub fn new<'a>(
        modules: impl IntoIterator<Item = (&'a MemoryLayout, &'a [Buffer])>,
        buffers: &[Buffer],
    ) -> Result<Self, Diagnostics> {
        let mut device = Self {
            regions: Vec::new(),
            names: Vec::new(),
            modules: Vec::new(),
            copied: Vec::new(),
            varying: Vec::new(),
        };
        let mut problems = Diagnostics::new();
        for (layout, symbols) in modules {
            if let Err(problem) = device.add_module(layout, symbols) {
                problems.push(problem);
            }
        }
        for (buffer, place) in buffers.iter().zip(place_buffers(buffers.iter().map(|b| b.bytes.len() as u64)))
        {
            let (base, packed, bytes) = (place.address, place.packed, sparse_copy(&buffer.bytes));
            let region = Region { base, packed, bytes, constant: buffer.constant };
            device.regions.push(region);
            device.names.push(buffer.name.clone());
        }
        problems.into_result(device)
    }

    /// Creates the memory of a single launch.
    ///
    /// # Errors
    /// Returns the same errors as [`Device::new`].
    pub fn of(program: &KernelCode, launch: &Launch) -> Result<Self, Diagnostics> {
        Self::new([(&program.memory, launch.symbols.as_slice())], &launch.buffers)
    }

    fn add_module(&mut self, layout: &MemoryLayout, symbols: &[Buffer]) -> Result<(), Diagnostic> {
        let sizes = [("module variables", layout.globals.size), ("constant memory", layout.constants.size)];
        for (kind, size) in sizes {
            if size > MAX_BYTES {
                let message = format!("the modules need {size} bytes of {kind}; the limit is 4 GiB");
                return Err(Diagnostic::general("launch", message));
            }
        }
        let mut globals = image(&layout.globals);
        let mut constants = image(&layout.constants);
        for symbol in symbols {
            let place = place_of(&layout.globals, &symbol.name, &mut globals)
                .or_else(|| place_of(&layout.constants, &symbol.name, &mut constants))
                .and_then(|bytes| bytes.get_mut(..symbol.bytes.len()));
            match place {
                Some(place) => place.copy_from_slice(&symbol.bytes),
                None => {
                    let (name, size) = (&symbol.name, symbol.bytes.len());
                    let message = format!("the module has no variable `{name}` that holds {size} bytes");
                    return Err(Diagnostic::general("launch", message));
                }
            }
        }
        let region = (!globals.is_empty()).then_some(self.regions.len());
        if region.is_some() {
            let base = GLOBALS_BASE + layout.globals.start;
            self.regions.push(Region { base, packed: base, bytes: globals, constant: false });
        }
        self.modules.push(ModuleMemory {
            region,
            globals: layout.globals.vars.clone(),
            constants: layout.constants.vars.clone(),
            constant_bytes: constants,
            constants_known: symbols.iter().all(|symbol| symbol.constant),
        });
        Ok(())
    }

    /// States that the contents of a buffer or of constant memory differ from input to input, even if
    /// they are declared constant, because the host writes there. Only the analysis of all paths
    /// relies on declarations.
    pub fn forget(&mut self, at: Target) {
        match at {
            Target::Constant { module, .. } => {
                if let Some(module) = self.modules.get_mut(module) {
                    module.constants_known = false;
                }
            }
            Target::Global(address) => {
                if let Some(region) = self.region(address) {
                    self.regions[region].constant = false;
                }
            }
        }
    }

    /// Returns the contents of a buffer, by its index; empty if there is no such buffer.
    pub fn buffer(&self, index: usize) -> &[u8] {
        let first = self.regions.len() - self.names.len();
        self.regions.get(first + index).map_or(&[], |region| &region.bytes)
    }

    /// Returns the contents of a module's variable, by its full name.
    pub fn variable(&self, module: usize, name: &str) -> Option<&[u8]> {
        let module = self.modules.get(module)?;
        variable_in(module, module.region.map(|region| &self.regions[region]), &module.constant_bytes, name)
    }

    /// Returns `size` bytes from a location on, or `None` if not all are mapped.
    pub fn bytes(&self, at: Target, size: usize) -> Option<&[u8]> {
        match at {
            Target::Constant { module, offset } => {
                self.modules.get(module)?.constant_bytes.get(offset as usize..)?.get(..size)
            }
            Target::Global(address) => {
                let region = self.region(address)?;
                let offset = (address - self.regions[region].base) as usize;
                self.regions[region].bytes.get(offset..)?.get(..size)
            }
        }
    }

    /// Writes bytes to a location, and returns whether they are mapped there.
    #[must_use]
    pub fn write(&mut self, at: Target, bytes: &[u8]) -> bool {
        let place = match at {
            Target::Constant { module, offset } => {
                let module = self.modules.get_mut(module);
                module.and_then(|module| module.constant_bytes.get_mut(offset as usize..))
            }
            Target::Global(address) => self.region(address).and_then(|region| {
                let region = &mut self.regions[region];
                region.bytes.get_mut((address - region.base) as usize..)
            }),
        };
        let place = place.and_then(|place| place.get_mut(..bytes.len()));
        place.map(|place| place.copy_from_slice(bytes)).is_some()
    }

    /// Writes bytes like [`Device::write`], as the host does when it copies them. On a GPU whose L2
    /// keeps copied data, these bytes are in the L2 afterwards. Returns whether they are mapped
    /// there.
    #[must_use]
    pub fn copy_in(&mut self, at: Target, bytes: &[u8]) -> bool {
        let written = self.write(at, bytes);
        if let Target::Global(address) = at
            && written
            && let Some(region) = self.region(address).map(|region| &self.regions[region])
        {
            self.copied.push((region.packed + (address - region.base), bytes.len() as u64));
        }
        written
    }

    /// Copies bytes from one location to another, and returns whether they are mapped there. If the
    /// source differs from run to run, so does the copy.
    #[must_use]
    pub fn copy(&mut self, from: Target, to: Target, size: usize) -> bool {
        /// The bytes of a row of varying words.
        const ROW: u64 = 128;
        let Some(bytes) = self.bytes(from, size).map(<[u8]>::to_vec) else { return false };
        if let (Target::Global(from), Target::Global(to)) = (from, to) {
            let touched = |(row, _): &(u64, u32)| *row < from + size as u64 && from < row + ROW;
            if self.varying.iter().any(touched) {
                let rows = (to..to + size as u64).step_by(ROW as usize);
                self.varying.extend(rows.map(|row| (row, u32::MAX)));
            }
        }
        self.write(to, &bytes)
    }

    /// Returns the whole contents, piece by piece: the regions, then the constant memory of each
    /// module. The number of pieces and the size of each are the same throughout an application.
    pub fn contents(&self) -> impl Iterator<Item = &[u8]> {
        let regions = self.regions.iter().map(|region| region.bytes.as_slice());
        regions.chain(self.modules.iter().map(|module| module.constant_bytes.as_slice()))
    }

    /// Returns the same pieces as [`Self::contents`], for writing.
    pub fn contents_mut(&mut self) -> impl Iterator<Item = &mut [u8]> {
        let regions = self.regions.iter_mut().map(|region| region.bytes.as_mut_slice());
        regions.chain(self.modules.iter_mut().map(|module| module.constant_bytes.as_mut_slice()))
    }

    /// Returns the region in which an address can lie.
    fn region(&self, address: u64) -> Option<usize> {
        self.regions.partition_point(|region| region.base <= address).checked_sub(1)
    }
}

/// Returns the contents of a variable by its full name.
pub(super) fn variable_in<'m>(
    module: &ModuleMemory,
    globals: Option<&'m Region>,
    constants: &'m [u8],
    name: &str,
) -> Option<&'m [u8]> {
    let named = |variable: &&Variable| variable.name == name;
    let (bytes, variable, start) = match module.globals.iter().find(named) {
        Some(variable) => {
            let globals = globals?;
            (globals.bytes.as_slice(), variable, globals.base - GLOBALS_BASE)
        }
        None => (constants, module.constants.iter().find(named)?, 0),
    };
    bytes.get((variable.offset - start) as usize..)?.get(..variable.size as usize)
}

/// Returns the bytes of a variable.
fn place_of<'b>(segment: &Segment, name: &str, bytes: &'b mut [u8]) -> Option<&'b mut [u8]> {
    let variable = segment.vars.iter().find(|variable| variable.name == name)?;
    bytes.get_mut((variable.offset - segment.start) as usize..)?.get_mut(..variable.size as usize)
}

/// Returns the initial contents of a segment.
fn image(segment: &Segment) -> Vec<u8> {
    let mut bytes = segment.init.clone();
    bytes.resize((segment.size - segment.start) as usize, 0);
    bytes
}
