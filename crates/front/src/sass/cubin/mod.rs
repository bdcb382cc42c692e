//! Cubins: ELF files of machine code that NVIDIA's compilers write.
//!
//! The parts of a kernel are in sections that contain its name: `.text` is its code and that of the
//! functions it calls, `.nv.info` its parameters and limits, and `.nv.shared` its shared variables.
//! Variables that all kernels share are in `.nv.global` and `.nv.global.init`. A bank of constants
//! is in `.nv.constant` followed by its number, which the table of the generation states. The
//! constants of the compiler belong to a kernel. All kernels share the constants of the user and
//! the addresses of variables, which this module fills in. A linker leaves functions in sections of
//! their own; their code is added to that of each kernel that needs it.

mod container;
mod expand;
mod info;
mod link;

use std::collections::{BTreeMap, BTreeSet};

use object::elf::{EM_CUDA, FileHeader64, SHT_NOBITS, STT_FUNC, STT_OBJECT};
use object::read::elf::{FileHeader, SectionHeader, SectionTable, Sym, SymbolTable};
use object::{LittleEndian, SectionIndex};

use super::table::{Abi, Encoding};
use info::{Info, Infos};
use link::Placed;
use warpbound_core::diag::{Diagnostic, Diagnostics};
use warpbound_core::program::Reference;
use warpbound_core::program::image::{MAX_IMAGES, reference_handle};
use warpbound_core::program::layout::{GLOBALS_BASE, Segment};

type Elf = FileHeader64<LittleEndian>;
const ENDIAN: LittleEndian = LittleEndian;

/// The maximum size in bytes of a section of variables.
const MAX_VARIABLES: u64 = 1 << 30;
/// The minimum alignment of sections in a segment, such as that of the compiler's constants after
/// those of the user.
const ALIGN: u64 = 256;
/// The flag of the symbols of kernels.
const ENTRY: u8 = 0x10;
/// The types of relocations by the handle of a texture reference and of a surface reference.
const TEXTURE_HANDLE: u32 = 6;
const SURFACE_HANDLE: u32 = 52;

/// The content of a cubin.
#[derive(Debug)]
pub struct Cubin {
    /// The architecture, such as 61 for sm_61.
    pub target: u32,
    /// The variables in global memory.
    pub globals: Segment,
    /// The constants of the user.
    pub constants: Segment,
    /// The addresses of variables.
    pub addresses: Vec<u8>,
    /// The functions whose addresses are values in memory or in the code, by their index; see
    /// [`warpbound_core::program::layout::function_address`].
    pub functions: Vec<String>,
    /// The kernels in the order of the file.
    pub kernels: Vec<Kernel>,
    /// Whether the cubin is a member of a fat binary, so that offsets are within this member.
    pub member: bool,
}

/// A kernel of a cubin.
#[derive(Clone, Debug, Default)]
pub struct Kernel {
    /// The mangled name.
    pub name: String,
    /// The code of the kernel, followed by that of functions, also of those in other sections.
    pub code: Vec<u8>,
    /// The offset of the code in the cubin.
    pub at: u64,
    /// The offset of the first byte and the name of each function.
    pub functions: Vec<(u64, String)>,
    /// The constants of the compiler.
    pub constants: Vec<u8>,
    /// The offset of the parameters in the bank of the launch.
    pub param_base: u32,
    /// The size of all parameters in bytes.
    pub param_bytes: u32,
    /// The offset and size of each parameter in bytes.
    pub params: Vec<(u32, u32)>,
    /// The number of registers of a thread.
    pub registers: Option<u32>,
    /// The static shared memory in bytes.
    pub shared_bytes: u64,
    /// The local memory of a thread in bytes.
    pub local_bytes: u64,
    /// Whether the kernel calls functions that call themselves, so that more memory may be needed.
    pub recursive: bool,
    /// The maximum number of threads of a block that the kernel was compiled for.
    pub max_threads: Option<u32>,
    /// The number of blocks of a cluster per axis, if the kernel fixes it.
    pub cluster: Option<[u32; 3]>,
    /// The texture and surface references whose handles are words of the bank of the launch, by the
    /// offset of the word.
    pub references: BTreeMap<u32, Reference>,
    /// The targets of indirect branches, by the offset of the branch, as the compiler lists them.
    pub branch_targets: BTreeMap<u32, Vec<u32>>,
    /// The functions that a linker placed in sections of their own and whose addresses are values:
    /// the address of each by its offset in the code.
    pub addresses: BTreeMap<u64, u64>,
    /// The offsets of the instructions that contain an address, which a relocation filled in.
    pub resolved: BTreeSet<u64>,
    /// The relocations of the code, which are not applied: the offset and the symbol of each.
    pub unresolved: Vec<(u64, String)>,
}

/// Reads a cubin, or the cubin for one of the encoding's architectures in a fat binary. Variables
/// in global memory begin at offset `globals_start`.
///
/// # Errors
/// The file is not a cubin, or is damaged.
pub fn read(name: &str, bytes: &[u8], encoding: &Encoding, globals_start: u64) -> Result<Cubin, Diagnostics> {
    let container::Found { bytes: found, member } = contained(name, bytes, &encoding.targets)?;
    let found = &*found;
    let (header, target) = opened(name, found, &encoding.targets)?;
    let broken = |what: &str, error| damaged(name, what, error);
    let sections = header.sections(ENDIAN, found).map_err(|error| broken("sections", error))?;
    let symbols =
        sections.symbols(ENDIAN, found, object::elf::SHT_SYMTAB).map_err(|error| broken("symbols", error))?;
    let file = File { name, abi: &encoding.abi, bytes: found, sections, symbols };
    Ok(Cubin { member, ..file.cubin(target, globals_start)? })
}

/// Returns the architecture that a cubin, or the first cubin for one of these architectures in a fat
/// binary, is made for.
///
/// # Errors
/// The file contains no machine code for one of them.
pub fn target_of(name: &str, bytes: &[u8], targets: &[u32]) -> Result<u32, Diagnostics> {
    let found = contained(name, bytes, targets)?;
    opened(name, &found.bytes, targets).map(|(_, target)| target)
}

/// Returns the cubin in a file.
fn contained<'b>(name: &str, bytes: &'b [u8], targets: &[u32]) -> Result<container::Found<'b>, Diagnostics> {
    container::cubin(bytes, targets)
        .map_err(|(message, hint)| Diagnostic::general(name, message).hint(hint).into())
}

/// Returns the header of a cubin for one of these architectures, and its architecture.
fn opened<'b>(name: &str, found: &'b [u8], targets: &[u32]) -> Result<(&'b Elf, u32), Diagnostics> {
    let fail = |message: String, hint: &str| Diagnostics::from(Diagnostic::general(name, message).hint(hint));
    let header = Elf::parse(found).map_err(|error| damaged(name, "this is not a 64-bit ELF file", error))?;
    let machine = header.e_machine(ENDIAN);
    if machine != EM_CUDA {
        return Err(fail(
            format!("an ELF file for machine {machine}, and not for NVIDIA GPUs (190)"),
            "a cubin is what `nvcc -cubin` or ptxas write",
        ));
    }
    let target = target(header.e_ident().abi_version, header.e_flags(ENDIAN).0);
    if targets.contains(&target) { Ok((header, target)) } else { Err(no_table(name, target, targets)) }
}

/// Returns the problem of a part of a file that cannot be read.
fn damaged(name: &str, what: &str, error: object::Error) -> Diagnostics {
    let hint = "the file is damaged, or is not a cubin";
    Diagnostic::general(name, format!("{what}: {error}")).hint(hint).into()
}

/// Returns the problem of a file for an architecture without a table.
fn no_table(name: &str, target: u32, targets: &[u32]) -> Diagnostics {
    let known: Vec<String> = targets.iter().map(|target| format!("sm_{target}")).collect();
    let message = format!("there is no table of encodings for machine code of sm_{target}");
    Diagnostic::general(name, message).hint(format!("compile for one of {}", known.join(", "))).into()
}

/// Returns the architecture in the flags of a file, such as 61 for sm_61. Since ABI version 8 (CUDA
/// 13), it is in the second byte.
fn target(abi_version: u8, flags: u32) -> u32 {
    let first = if abi_version >= 8 { 8 } else { 0 };
    flags >> first & 0xff
}

/// Returns the name of the section of a bank of constants.
fn constants_of(bank: u8) -> String {
    format!(".nv.constant{bank}")
}

struct File<'a> {
    name: &'a str,
    abi: &'a Abi,
    bytes: &'a [u8],
    sections: SectionTable<'a, Elf>,
    symbols: SymbolTable<'a, Elf>,
}

impl File<'_> {
    fn problem(&self, message: String) -> Diagnostics {
        Diagnostic::general(self.name, message)
            .hint("the file is damaged, or its compiler is not known here")
            .into()
    }

    fn sections(&self) -> impl Iterator<Item = (SectionIndex, String)> + '_ {
        self.sections.enumerate().skip(1).map(|(index, section)| {
            let name = self.sections.section_name(ENDIAN, section).unwrap_or_default();
            (index, String::from_utf8_lossy(name).into_owned())
        })
    }

    fn find(&self, name: &str) -> Option<SectionIndex> {
        self.sections().find(|(_, known)| known == name).map(|(index, _)| index)
    }

    fn data(&self, index: SectionIndex) -> Result<&[u8], Diagnostics> {
        let section = self.sections.section(index);
        section
            .and_then(|section| section.data(ENDIAN, self.bytes))
            .map_err(|error| self.problem(format!("section {}: {error}", index.0)))
    }

    /// Returns the content of a section by name; empty if there is no such section.
    fn named(&self, name: &str) -> Result<Vec<u8>, Diagnostics> {
        self.find(name).map_or(Ok(Vec::new()), |index| self.data(index).map(<[u8]>::to_vec))
    }

    fn symbol_name(&self, symbol: &<Elf as FileHeader>::Sym) -> String {
        let name = symbol.name(ENDIAN, self.symbols.strings()).unwrap_or_default();
        String::from_utf8_lossy(name).into_owned()
    }

    fn cubin(&self, target: u32, globals_start: u64) -> Result<Cubin, Diagnostics> {
        let mut globals = Segment::starting_at(globals_start);
        // initialised variables come first, so that the others need no initial contents
        let mut placed = Placed::default();
        for name in [".nv.global.init", ".nv.global"] {
            if let Some(index) = self.find(name) {
                placed.sections.push((index, GLOBALS_BASE + self.place(index, &mut globals)?));
            }
        }
        let mut constants = Segment::default();
        let banks = &self.abi.banks;
        if let Some(index) = self.find(&constants_of(banks.user)) {
            placed.sections.push((index, self.place(index, &mut constants)?));
        }
        let table = constants_of(banks.addresses);
        let mut addresses = self.named(&table)?;
        self.relocate(&table, &mut addresses, &mut placed)?;
        for (name, base, segment) in [
            (".nv.global.init", GLOBALS_BASE, &mut globals),
            (constants_of(banks.user).as_str(), 0, &mut constants),
        ] {
            let index = self.find(name);
            let at = placed.sections.iter().find(|(section, _)| Some(*section) == index);
            let start = at.map_or(0, |(_, at)| at - base - segment.start) as usize;
            self.relocate(name, segment.init.get_mut(start..).unwrap_or_default(), &mut placed)?;
        }
        let infos = self.named(".nv.info")?;
        let infos = Infos::read(&infos).map_err(|message| self.problem(format!(".nv.info: {message}")))?;
        let (mut kernels, mut references) = (Vec::new(), BTreeMap::new());
        for (index, name) in self.sections() {
            if let Some(name) = name.strip_prefix(".text.")
                && let Some(kernel) = self.kernel(index, name, &infos, (&mut references, &mut placed))?
            {
                kernels.push(kernel);
            }
        }
        let functions = placed.functions;
        Ok(Cubin { target, globals, constants, addresses, functions, kernels, member: false })
    }

    /// Appends a section and its variables to a segment; returns its offset.
    fn place(&self, index: SectionIndex, segment: &mut Segment) -> Result<u64, Diagnostics> {
        let section = self.sections.section(index).map_err(|error| self.problem(error.to_string()))?;
        let size = section.sh_size(ENDIAN);
        let align = section.sh_addralign(ENDIAN).clamp(1, 4096).next_power_of_two();
        if size > MAX_VARIABLES {
            return Err(self.problem(format!(
                "section {} has {size} bytes, at most {MAX_VARIABLES} are supported",
                index.0
            )));
        }
        let start = segment.size.next_multiple_of(align.max(ALIGN));
        segment.size = start + size;
        if section.sh_type(ENDIAN) != SHT_NOBITS {
            let data = self.data(index)?;
            segment.init.resize((start - segment.start) as usize, 0);
            segment.init.extend_from_slice(data);
        }
        let mut variables: Vec<_> = self
            .symbols
            .iter()
            .filter(|symbol| {
                usize::from(symbol.st_shndx(ENDIAN).0) == index.0 && symbol.st_type() == STT_OBJECT
            })
            .collect();
        variables.sort_by_key(|symbol| symbol.st_value(ENDIAN));
        for symbol in variables {
            let (offset, bytes) = (symbol.st_value(ENDIAN), symbol.st_size(ENDIAN));
            if offset.checked_add(bytes).is_some_and(|end| end <= size) {
                let name = self.symbol_name(symbol);
                segment.vars.push(warpbound_core::program::layout::Variable {
                    name,
                    offset: start + offset,
                    size: bytes,
                });
            }
        }
        Ok(start)
    }

    /// Returns the kernel whose code is in a section, or `None` if the section contains only
    /// functions.
    fn kernel(
        &self,
        index: SectionIndex,
        name: &str,
        infos: &Infos,
        (references, placed): (&mut BTreeMap<u32, usize>, &mut Placed),
    ) -> Result<Option<Kernel>, Diagnostics> {
        let own = self.find(&format!(".nv.info.{name}"));
        let Some(own) = own else { return Ok(None) };
        let info = Info::read(self.data(own)?, self.abi.params)
            .map_err(|message| self.problem(format!(".nv.info.{name}: {message}")))?;
        let section = self.sections.section(index).map_err(|error| self.problem(error.to_string()))?;
        let inside = |symbol: &&<Elf as FileHeader>::Sym| {
            usize::from(symbol.st_shndx(ENDIAN).0) == index.0 && symbol.st_type() == STT_FUNC
        };
        let mut functions: Vec<(u64, String)> = self
            .symbols
            .iter()
            .filter(inside)
            .map(|symbol| (symbol.st_value(ENDIAN), self.symbol_name(symbol)))
            .collect();
        functions.sort();
        // the symbol table determines the number that attributes use for the kernel
        let symbol =
            self.symbols.enumerate().find(|(_, symbol)| inside(symbol) && symbol.st_value(ENDIAN) == 0);
        if symbol.is_some_and(|(_, symbol)| symbol.st_other().0 & ENTRY == 0) {
            return Ok(None);
        }
        let number = symbol.map_or(0, |(index, _)| index.0 as u32);
        functions.retain(|(at, _)| *at > 0);
        let linked = self.linked(index, placed)?;
        functions.extend(linked.functions);
        let shared = self.find(&format!(".nv.shared.{name}"));
        let shared_bytes = match shared.map(|index| self.sections.section(index)) {
            Some(Ok(section)) => section.sh_size(ENDIAN),
            _ => 0,
        };
        Ok(Some(Kernel {
            name: name.to_owned(),
            code: linked.code,
            at: section.sh_offset(ENDIAN),
            functions,
            constants: self.named(&format!("{}.{name}", constants_of(self.abi.banks.compiler)))?,
            param_base: info.param_base,
            param_bytes: info.param_bytes,
            params: info.params,
            registers: infos.registers(number),
            shared_bytes,
            local_bytes: infos.local(number),
            recursive: infos.recursive(number),
            max_threads: info.max_threads,
            cluster: info.cluster,
            branch_targets: info.branch_targets,
            references: self.references(name, references)?,
            addresses: linked.addresses,
            resolved: linked.resolved,
            unresolved: linked.unresolved,
        }))
    }

    /// Returns the words of the bank of the launch that hold the handles of texture and surface
    /// references. `numbers` has the numbers of the references so far, by their symbols.
    fn references(
        &self,
        kernel: &str,
        numbers: &mut BTreeMap<u32, usize>,
    ) -> Result<BTreeMap<u32, Reference>, Diagnostics> {
        let section = format!("{}.{kernel}", constants_of(self.abi.banks.launch));
        let mut found = BTreeMap::new();
        for (offset, kind, symbol, _) in self.relocations(&section)? {
            if !matches!(kind, TEXTURE_HANDLE | SURFACE_HANDLE) {
                continue;
            }
            let next = numbers.len();
            let number = *numbers.entry(symbol).or_insert(next);
            let symbol = self.symbols.symbol(object::SymbolIndex(symbol as usize));
            let (Ok(symbol), Ok(offset)) = (symbol, u32::try_from(offset)) else {
                return Err(self.problem(format!("{section}: a relocation at {offset:#x} by no symbol")));
            };
            if number >= MAX_IMAGES {
                let message = format!("{section}: more than {MAX_IMAGES} texture and surface references");
                return Err(self.problem(message));
            }
            let handle = reference_handle(number);
            let reference =
                Reference { name: self.symbol_name(symbol), handle, surface: kind == SURFACE_HANDLE };
            found.insert(offset, reference);
        }
        Ok(found)
    }
}
