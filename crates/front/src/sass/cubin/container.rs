//! Files that contain cubins: a cubin itself, a fat binary, or a program with fat binaries.

use std::borrow::Cow;

use super::expand::{Method, expand};
use object::elf::{EM_CUDA, FileHeader64};
use object::read::elf::FileHeader;
use object::{LittleEndian, read::elf::SectionHeader};

const FAT: [u8; 4] = 0xba55_ed50_u32.to_le_bytes();
/// The kind of an entry of machine code (as opposed to PTX).
const MACHINE_CODE: u16 = 2;

type Problem = (String, String);

/// A cubin in a file.
pub(super) struct Found<'a> {
    /// Its bytes.
    pub bytes: Cow<'a, [u8]>,
    /// Whether it is a member of a fat binary.
    pub member: bool,
}

/// Returns the cubin in a file: the file itself, or the one for one of these architectures in a fat
/// binary.
pub(super) fn cubin<'a>(bytes: &'a [u8], targets: &[u32]) -> Result<Found<'a>, Problem> {
    if bytes.starts_with(&FAT) {
        return fat(bytes, targets);
    }
    if !bytes.starts_with(&object::elf::ELFMAG) {
        let message = "this is not a cubin: it begins neither as an ELF file nor as a fat binary".to_owned();
        return Err((message, "a cubin is what `nvcc -cubin` or ptxas write".to_owned()));
    }
    match host(bytes) {
        Some(section) => fat(section, targets),
        None => Ok(Found { bytes: Cow::Borrowed(bytes), member: false }),
    }
}

/// Returns the fat binary in a host program.
fn host(bytes: &[u8]) -> Option<&[u8]> {
    let header = FileHeader64::<LittleEndian>::parse(bytes).ok()?;
    if header.e_machine(LittleEndian) == EM_CUDA {
        return None;
    }
    let sections = header.sections(LittleEndian, bytes).ok()?;
    let (_, section) = sections.section_by_name(LittleEndian, b".nv_fatbin")?;
    section.data(LittleEndian, bytes).ok()
}

/// Returns the first entry of machine code for one of these architectures.
fn fat<'a>(mut bytes: &'a [u8], targets: &[u32]) -> Result<Found<'a>, Problem> {
    let damaged = || ("a damaged fat binary".to_owned(), String::new());
    let mut others: Vec<String> = Vec::new();
    // consecutive fat binaries, each with a header and entries
    while bytes.starts_with(&FAT) {
        let (header, size) = (half(bytes, 6).ok_or_else(damaged)?, long(bytes, 8).ok_or_else(damaged)?);
        let rest = bytes.get(usize::from(header)..).ok_or_else(damaged)?;
        let (mut entries, after) =
            rest.split_at_checked(usize::try_from(size).map_err(|_| damaged())?).ok_or_else(damaged)?;
        while !entries.is_empty() {
            let kind = half(entries, 0).ok_or_else(damaged)?;
            let header = word(entries, 4).ok_or_else(damaged)? as usize;
            let size = usize::try_from(long(entries, 8).ok_or_else(damaged)?).map_err(|_| damaged())?;
            let (compressed, target) =
                (word(entries, 16).ok_or_else(damaged)?, word(entries, 28).ok_or_else(damaged)?);
            let end = header.checked_add(size).filter(|&end| end > 0).ok_or_else(damaged)?;
            let payload = entries.get(header..end).ok_or_else(damaged)?;
            if kind == MACHINE_CODE && targets.contains(&target) {
                let bytes = if compressed == 0 {
                    Cow::Borrowed(payload)
                } else {
                    // without the bytes that fill up the member
                    let packed = payload.get(..compressed as usize).ok_or_else(damaged)?;
                    let (flags, size) = (long(entries, 40), long(entries, 56));
                    let (flags, size) = flags.zip(size).filter(|_| header >= 64).ok_or_else(damaged)?;
                    let number = others.len() + 1;
                    Cow::Owned(expanded(packed, flags, size).map_err(|why| {
                        (
                            format!("member {number} of the fat binary, machine code for sm_{target}: {why}"),
                            hint(),
                        )
                    })?)
                };
                return Ok(Found { bytes, member: true });
            }
            let ptx = if kind == MACHINE_CODE { "" } else { "PTX for " };
            others.push(format!("{ptx}sm_{target}"));
            entries = &entries[end..];
        }
        bytes = after;
    }
    let targets: Vec<String> = targets.iter().map(|target| format!("sm_{target}")).collect();
    let hint = format!("wanted: machine code for one of {}", targets.join(", "));
    Err((format!("a fat binary without machine code that can be read; it has {}", others.join("; ")), hint))
}

/// Returns the content of a compressed member.
fn expanded(packed: &[u8], flags: u64, size: u64) -> Result<Vec<u8>, String> {
    match Method::of(flags) {
        Some(method) => expand(packed, method, size),
        None => Err(format!("compressed in a way that is not known (flags {flags:#x})")),
    }
}

/// Returns how to get a file that can be read.
fn hint() -> String {
    "the file is damaged, or `nvcc -Xfatbin -compress=false` writes one that can be read".to_owned()
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().map(|bytes| u16::from_le_bytes(*bytes))
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|bytes| u32::from_le_bytes(*bytes))
}

fn long(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk().map(|bytes| u64::from_le_bytes(*bytes))
}
