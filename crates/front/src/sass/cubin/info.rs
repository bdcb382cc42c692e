//! The `.nv.info` sections, which contain attributes of kernels as (format, attribute, value).

use std::collections::{BTreeMap, BTreeSet};

/// The numbers of the attributes that are used.
const MAX_THREADS: u8 = 0x05;
const PARAM_BANK: u8 = 0x0a;
const FRAME_SIZE: u8 = 0x11;
const MIN_STACK_SIZE: u8 = 0x12;
const PARAM: u8 = 0x17;
const REGISTERS: u8 = 0x2f;
const BRANCH_TARGETS: u8 = 0x34;
const BLOCKS_PER_CLUSTER: u8 = 0x3d;

/// The attributes of a kernel.
#[derive(Debug, Default)]
pub(super) struct Info {
    pub(super) param_base: u32,
    pub(super) param_bytes: u32,
    pub(super) params: Vec<(u32, u32)>,
    pub(super) max_threads: Option<u32>,
    /// The number of blocks of a cluster per axis, if the kernel fixes it.
    pub(super) cluster: Option<[u32; 3]>,
    pub(super) branch_targets: BTreeMap<u32, Vec<u32>>,
}

/// The attributes of all functions, by the number of their symbol.
#[derive(Debug, Default)]
pub(super) struct Infos {
    registers: BTreeMap<u32, u32>,
    local: BTreeMap<u32, u64>,
    /// The functions whose stack has no known size, as they call themselves.
    recursive: BTreeSet<u32>,
}

impl Info {
    /// Reads the attributes; the parameters begin at `param_base` if no attribute says where.
    pub(super) fn read(bytes: &[u8], param_base: u32) -> Result<Self, String> {
        let mut info = Self { param_base, ..Self::default() };
        let mut params = BTreeMap::new();
        for (attribute, value) in records(bytes)? {
            match (attribute, value) {
                (PARAM_BANK, [_, _, _, _, base @ ..]) if base.len() == 4 => {
                    info.param_base = half(base, 0);
                    info.param_bytes = half(base, 2);
                }
                (PARAM, value) if value.len() == 12 => {
                    let (ordinal, offset) = (half(value, 4), half(value, 6));
                    params.insert(ordinal, (offset, word(value, 8) >> 18));
                }
                (MAX_THREADS, value) if value.len() == 12 => info.max_threads = Some(product(value)),
                (BLOCKS_PER_CLUSTER, value) if value.len() == 12 => {
                    info.cluster = Some([0, 4, 8].map(|at| word(value, at)));
                }
                (BRANCH_TARGETS, value) => info.branch_targets.append(&mut branch_targets(value)?),
                _ => {}
            }
        }
        if let Some((ordinal, _)) = params
            .iter()
            .enumerate()
            .map(|(at, (&ordinal, _))| (ordinal, at))
            .find(|&(ordinal, at)| ordinal as usize != at)
        {
            return Err(format!("parameter {ordinal} is listed without the parameters before it"));
        }
        info.params = params.into_values().collect();
        let end = info.params.iter().map(|(offset, size)| offset + size).max().unwrap_or(0);
        info.param_bytes = info.param_bytes.max(end);
        Ok(info)
    }
}

impl Infos {
    pub(super) fn read(bytes: &[u8]) -> Result<Self, String> {
        let mut infos = Self::default();
        for (attribute, value) in records(bytes)? {
            if value.len() != 8 {
                continue;
            }
            let (symbol, number) = (word(value, 0), word(value, 4));
            match attribute {
                REGISTERS => {
                    infos.registers.insert(symbol, number);
                }
                MIN_STACK_SIZE if number == u32::MAX => {
                    infos.recursive.insert(symbol);
                }
                // the stack contains the frame and those of called functions
                FRAME_SIZE | MIN_STACK_SIZE => {
                    let local = infos.local.entry(symbol).or_default();
                    *local = (*local).max(number.into());
                }
                _ => {}
            }
        }
        Ok(infos)
    }

    pub(super) fn registers(&self, symbol: u32) -> Option<u32> {
        self.registers.get(&symbol).copied()
    }

    pub(super) fn recursive(&self, symbol: u32) -> bool {
        self.recursive.contains(&symbol)
    }

    pub(super) fn local(&self, symbol: u32) -> u64 {
        self.local.get(&symbol).copied().unwrap_or(0).next_multiple_of(16)
    }
}

/// Returns the targets of branches whose target is not in their word, by the offset of the branch:
/// for each one its offset, a word that is 0, the number of entries of its table, and the entries.
fn branch_targets(mut bytes: &[u8]) -> Result<BTreeMap<u32, Vec<u32>>, String> {
    let mut found = BTreeMap::new();
    while !bytes.is_empty() {
        let (heading, rest) = bytes.split_at_checked(12).ok_or("targets of a branch that are cut off")?;
        let size = (word(heading, 8) as usize).saturating_mul(4);
        let (targets, rest) =
            rest.split_at_checked(size).ok_or("a table of targets goes beyond the end of its record")?;
        let targets = targets.as_chunks().0.iter().map(|&target| u32::from_le_bytes(target));
        found.insert(word(heading, 0), targets.collect());
        bytes = rest;
    }
    Ok(found)
}

/// Returns the product of the extents along three axes.
fn product(extents: &[u8]) -> u32 {
    [0, 4, 8].iter().map(|&at| word(extents, at).max(1)).fold(1u32, u32::saturating_mul)
}

fn half(bytes: &[u8], at: usize) -> u32 {
    u32::from(u16::from_le_bytes([bytes[at], bytes[at + 1]]))
}

fn word(bytes: &[u8], at: usize) -> u32 {
    half(bytes, at) | half(bytes, at + 2) << 16
}

/// Returns the attributes of a section with their values.
fn records(mut bytes: &[u8]) -> Result<Vec<(u8, &[u8])>, String> {
    let mut found = Vec::new();
    while let [format, attribute, low, high, rest @ ..] = bytes {
        let value = match format {
            // no value, a byte, or a half word, which is in the record itself
            1..=3 => {
                bytes = rest;
                &[][..]
            }
            4 => {
                let size = usize::from(u16::from_le_bytes([*low, *high]));
                let (value, after) = rest.split_at_checked(size).ok_or("a record goes beyond the end")?;
                bytes = after;
                value
            }
            other => return Err(format!("a record of format {other}")),
        };
        found.push((*attribute, value));
    }
    if bytes.is_empty() { Ok(found) } else { Err("the last record is cut off".to_owned()) }
}
