//! The addresses of variables and functions, which relocations fill in, and the code of functions
//! that are in sections of their own.
//!
//! Where such a function is in the code differs from kernel to kernel, but pointers to it are shared
//! by all kernels of a file, so its address as a value is another one.

use std::collections::{BTreeMap, BTreeSet};

use object::LittleEndian;
use object::SectionIndex;
use object::elf::{Rel64, Rela64, SHT_REL, SHT_RELA, STT_FUNC};
use object::read::elf::{FileHeader, Rel, Rela, SectionHeader, Sym};

use super::{ENDIAN, Elf, File, constants_of};
use warpbound_core::diag::Diagnostics;
use warpbound_core::program::layout::function_address;

/// The types of relocations of a word of 64 bits by the address of a symbol.
const ABSOLUTE_64: u32 = 2;
const GENERIC_64: u32 = 4;
/// The types of relocations of an instruction by the lower and by the upper half of an address.
const LOWER_32: u32 = 0x38;
const UPPER_32: u32 = 0x39;
/// The types of relocations of an instruction by the place that it calls, until Ada and from Hopper
/// on.
const CALLED_47: u32 = 0x3a;
const CALLED_55: u32 = 0x4b;
/// The size of an instruction that has such a relocation, in bytes.
const WORD: usize = 16;
/// The maximum size in bytes of the code of all kernels with that of functions in other sections.
const MAX_LINKED: usize = 1 << 26;

/// The places of the parts of a file.
#[derive(Debug, Default)]
pub(super) struct Placed {
    /// The addresses of sections with variables.
    pub(super) sections: Vec<(SectionIndex, u64)>,
    /// The functions whose addresses are values.
    pub(super) functions: Vec<String>,
    /// The size in bytes of the code that was added to kernels.
    added: usize,
}

/// The code of a kernel with that of the functions in other sections.
#[derive(Debug, Default)]
pub(super) struct Linked {
    pub(super) code: Vec<u8>,
    pub(super) functions: Vec<(u64, String)>,
    pub(super) addresses: BTreeMap<u64, u64>,
    pub(super) resolved: BTreeSet<u64>,
    pub(super) unresolved: Vec<(u64, String)>,
    /// The sections, and where each begins.
    sections: Vec<(SectionIndex, u64)>,
}

impl Placed {
    /// Returns the address of a function as a value.
    fn function(&mut self, name: &str) -> u64 {
        let known = self.functions.iter().position(|known| known == name);
        let index = known.unwrap_or_else(|| {
            self.functions.push(name.to_owned());
            self.functions.len() - 1
        });
        function_address(index as u32)
    }
}

impl File<'_> {
    fn section_name(&self, section: SectionIndex) -> String {
        self.sections().find(|(index, _)| *index == section).map_or(String::new(), |(_, name)| name)
    }

    fn symbol(&self, number: u32) -> Result<&<Elf as FileHeader>::Sym, Diagnostics> {
        self.symbols
            .symbol(object::SymbolIndex(number as usize))
            .map_err(|error| self.problem(error.to_string()))
    }

    /// Returns the address of a variable or function.
    fn address(&self, symbol: &<Elf as FileHeader>::Sym, placed: &mut Placed) -> Option<u64> {
        let section = usize::from(symbol.st_shndx(ENDIAN).0);
        let known = placed.sections.iter().find(|(index, _)| index.0 == section);
        if let Some((_, base)) = known {
            return Some(base.wrapping_add(symbol.st_value(ENDIAN)));
        }
        (symbol.st_type() == STT_FUNC).then(|| placed.function(&self.symbol_name(symbol)))
    }

    /// Applies the relocations of a section of data.
    pub(super) fn relocate(
        &self,
        name: &str,
        bytes: &mut [u8],
        placed: &mut Placed,
    ) -> Result<(), Diagnostics> {
        for (offset, kind, number, addend) in self.relocations(name)? {
            let symbol = self.symbol(number)?;
            let place =
                usize::try_from(offset).ok().and_then(|at| bytes.get_mut(at..)?.first_chunk_mut::<8>());
            match (kind, self.address(symbol, placed), place) {
                (ABSOLUTE_64 | GENERIC_64, Some(base), Some(place)) => {
                    let own = u64::from_le_bytes(*place);
                    *place = base.wrapping_add(own).wrapping_add(addend as u64).to_le_bytes();
                }
                _ => {
                    let of = self.symbol_name(symbol);
                    return Err(self.problem(format!(
                        "{name}: relocation {kind} by `{of}` at {offset:#x} cannot be applied"
                    )));
                }
            }
        }
        Ok(())
    }

    /// Returns the offset, type, symbol and addend of the relocations of a section.
    pub(super) fn relocations(&self, name: &str) -> Result<Vec<(u64, u32, u32, i64)>, Diagnostics> {
        let mut found = Vec::new();
        for (index, of) in self.sections() {
            let section = self.sections.section(index).map_err(|error| self.problem(error.to_string()))?;
            let kind = section.sh_type(ENDIAN);
            if kind == SHT_REL && of.strip_prefix(".rel") == Some(name) {
                let data = section.data_as_array::<Rel64<LittleEndian>, _>(ENDIAN, self.bytes);
                let data = data.map_err(|error| self.problem(format!("{of}: {error}")))?;
                found.extend(
                    data.iter().map(|rel| (rel.r_offset(ENDIAN), rel.r_type(ENDIAN).0, rel.r_sym(ENDIAN), 0)),
                );
            } else if kind == SHT_RELA && of.strip_prefix(".rela") == Some(name) {
                let data = section.data_as_array::<Rela64<LittleEndian>, _>(ENDIAN, self.bytes);
                let data = data.map_err(|error| self.problem(format!("{of}: {error}")))?;
                found.extend(data.iter().map(|rela| {
                    (
                        rela.r_offset(ENDIAN),
                        rela.r_type(ENDIAN, false).0,
                        rela.r_sym(ENDIAN, false),
                        rela.r_addend(ENDIAN),
                    )
                }));
            }
        }
        Ok(found)
    }

    /// Returns the code of a kernel, followed by that of the functions in other sections that it may
    /// call. A kernel that calls such functions may also call those whose addresses are in memory.
    pub(super) fn linked(&self, index: SectionIndex, placed: &mut Placed) -> Result<Linked, Diagnostics> {
        let mut linked =
            Linked { code: self.data(index)?.to_vec(), sections: vec![(index, 0)], ..Linked::default() };
        let (mut next, mut calls) = (0, false);
        while let Some(&(section, start)) = linked.sections.get(next) {
            next += 1;
            calls |= self.relocate_code(section, start, &mut linked, placed)?;
            if next == linked.sections.len() && calls {
                self.add_functions_in_memory(&mut linked, placed)?;
            }
        }
        Ok(linked)
    }

    /// Adds the functions of the file whose addresses are values.
    fn add_functions_in_memory(&self, linked: &mut Linked, placed: &mut Placed) -> Result<(), Diagnostics> {
        for number in 0..placed.functions.len() {
            let name = placed.functions[number].clone();
            let Some(section) = self.find(&format!(".text.{name}")) else { continue };
            if let Ok(start) = self.add(section, linked, placed)? {
                linked.addresses.insert(start, function_address(number as u32));
            }
        }
        Ok(())
    }

    /// Applies the relocations of a section of code that begins at `start`. Returns whether it refers
    /// to functions.
    fn relocate_code(
        &self,
        section: SectionIndex,
        start: u64,
        linked: &mut Linked,
        placed: &mut Placed,
    ) -> Result<bool, Diagnostics> {
        let mut calls = false;
        let name = self.section_name(section);
        for (offset, kind, number, addend) in self.relocations(&name)? {
            let (symbol, at) = (self.symbol(number)?, start.saturating_add(offset));
            let value = match kind {
                LOWER_32 | UPPER_32 | CALLED_47 | CALLED_55 => {
                    calls |= symbol.st_type() == STT_FUNC;
                    self.value(symbol, (kind, addend), linked, placed)?
                }
                _ => Err(self.symbol_name(symbol)),
            };
            let filled = value.and_then(|value| {
                if fill(&mut linked.code, at, kind, value) { Ok(()) } else { Err(self.symbol_name(symbol)) }
            });
            match filled {
                Ok(()) => _ = linked.resolved.insert(at),
                Err(symbol) => linked.unresolved.push((at, symbol)),
            }
        }
        Ok(calls)
    }

    /// Returns the address that a relocation of code names. The inner error is the reason why it is
    /// not known.
    fn value(
        &self,
        symbol: &<Elf as FileHeader>::Sym,
        (kind, addend): (u32, i64),
        linked: &mut Linked,
        placed: &mut Placed,
    ) -> Result<Result<u64, String>, Diagnostics> {
        let (own, name) = (SectionIndex(usize::from(symbol.st_shndx(ENDIAN).0)), self.symbol_name(symbol));
        let is_half = matches!(kind, LOWER_32 | UPPER_32);
        if symbol.st_type() != STT_FUNC || own.0 == 0 {
            let address = self.address(symbol, placed).filter(|_| is_half);
            return Ok(address.map(|address| address.wrapping_add(addend as u64)).ok_or(name));
        }
        let first = match self.add(own, linked, placed)? {
            Ok(first) => first,
            Err(reason) => return Ok(Err(reason)),
        };
        // a place behind the start of a function is where a call returns to
        if is_half && addend == 0 {
            if symbol.st_value(ENDIAN) != 0 {
                return Ok(Err(name));
            }
            let address = placed.function(&name);
            return Ok(Ok(*linked.addresses.entry(first).or_insert(address)));
        }
        Ok(Ok(first.wrapping_add(symbol.st_value(ENDIAN)).wrapping_add(addend as u64)))
    }

    /// Adds the code of a section, if it is not there yet, and returns where it begins. The inner
    /// error is the reason why it cannot be added.
    fn add(
        &self,
        section: SectionIndex,
        linked: &mut Linked,
        placed: &mut Placed,
    ) -> Result<Result<u64, String>, Diagnostics> {
        if let Some((_, start)) = linked.sections.iter().find(|(known, _)| *known == section) {
            return Ok(Ok(*start));
        }
        let name = self.section_name(section);
        let Some(name) = name.strip_prefix(".text.") else { return Ok(Err(name)) };
        let own = |prefix: &str| {
            let section = self.find(&format!("{prefix}.{name}")).map(|index| self.sections.section(index));
            section.is_some_and(|section| section.is_ok_and(|section| section.sh_size(ENDIAN) > 0))
        };
        for (prefix, what) in
            [(constants_of(self.abi.banks.compiler).as_str(), "constants"), (".nv.shared", "shared memory")]
        {
            if own(prefix) {
                return Ok(Err(format!("{name} (which has {what} of its own)")));
            }
        }
        let (start, code) = (linked.code.len(), self.data(section)?);
        if !start.is_multiple_of(WORD) {
            return Ok(Err(format!("{name} (the code before it ends within an instruction)")));
        }
        placed.added = placed.added.saturating_add(code.len());
        if placed.added > MAX_LINKED {
            let message = format!("the functions of all kernels take more than {MAX_LINKED} bytes of code");
            return Err(self.problem(message));
        }
        linked.code.extend_from_slice(code);
        linked.sections.push((section, start as u64));
        linked.functions.push((start as u64, name.to_owned()));
        Ok(Ok(start as u64))
    }
}

/// Writes an address into an instruction. Returns false if it does not fit.
fn fill(code: &mut [u8], at: u64, kind: u32, value: u64) -> bool {
    let place = usize::try_from(at).ok().and_then(|at| code.get_mut(at..)?.first_chunk_mut::<WORD>());
    let Some(place) = place else { return false };
    let fields: &[(u32, u32, u64)] = match kind {
        LOWER_32 => &[(32, 32, value & 0xffff_ffff)],
        UPPER_32 => &[(32, 32, value >> 32)],
        CALLED_47 if value.is_multiple_of(4) && value >> 49 == 0 => &[(34, 47, value >> 2)],
        CALLED_55 if value.is_multiple_of(4) && value >> 57 == 0 => {
            &[(16, 8, value >> 2 & 0xff), (34, 47, value >> 10)]
        }
        _ => return false,
    };
    let mut word = u128::from_le_bytes(*place);
    for &(bit, width, part) in fields {
        let mask = (1u128 << width) - 1;
        word = word & !(mask << bit) | u128::from(part) << bit;
    }
    *place = word.to_le_bytes();
    true
}
