//! The header of a trace: the lines `-key = value` before the first block.

use std::collections::BTreeMap;

use super::registers::register_number;
use warpbound_core::program::RegList;

/// The header of a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// The kernel's name according to the tracer.
    pub name: String,
    /// The number of blocks in x, y and z.
    pub grid: [u32; 3],
    /// The number of threads of a block in x, y and z.
    pub block: [u32; 3],
    /// The shared memory of a block in bytes.
    pub shared_bytes: u32,
    /// The number of registers of a thread; 0 if the trace does not state it.
    pub registers: u32,
    /// The architecture, such as 86 for sm_86.
    pub binary_version: Option<u32>,
    /// The version of the tracer; 0 if the trace does not state it.
    pub tracer: u32,
    /// Whether instruction lines begin with the number of a source line.
    pub line_numbers: bool,
    /// Whether instruction lines begin with the numbers of an SM and of a warp on it.
    pub core_numbers: bool,
    /// The version of the description of the memory reference at the end of each line, which some
    /// tracers of version 7 write.
    pub reference_metadata: Option<u32>,
    /// The first generic address of shared memory, if the trace states it.
    pub shared_base: Option<u64>,
    /// The first generic address of local memory, if the trace states it.
    pub local_base: Option<u64>,
    /// The additional information in traces that warpbound writes.
    pub own: WarpboundKeys,
    /// The unknown keys, with the number of occurrences.
    pub unknown: BTreeMap<String, u64>,
}

/// The information that a trace written by warpbound contains in addition to the format, in keys
/// that other tools ignore.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WarpboundKeys {
    /// Whether every operand is listed, including predicates.
    pub whole: bool,
    /// The local memory of a thread in bytes.
    pub local_bytes: Option<u64>,
    /// The op classes of opcodes.
    pub classes: BTreeMap<String, String>,
    /// The operands, by program counter, of instructions whose operands do not fit into a line of
    /// the format.
    pub operands: BTreeMap<u64, Operands>,
    /// The names of registers by number.
    pub registers: BTreeMap<u32, String>,
}

/// The operands of an instruction as numbers of registers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Operands {
    /// The registers that are written.
    pub dsts: Vec<u32>,
    /// The registers that are read, without the guard.
    pub srcs: Vec<u32>,
    /// The guard.
    pub guard: Option<u32>,
}

/// The newest version of Accel-Sim's tracer that is supported. Version 7 is one of another project,
/// which states a version of its description of memory references.
pub(super) const NEWEST_TRACER: u32 = 6;
/// The version whose lines end with a description of the memory reference.
pub(super) const REFERENCES: u32 = 7;

impl Header {
    /// Returns whether the format of the tracer's version is known.
    pub(super) fn is_known(&self) -> bool {
        self.tracer <= NEWEST_TRACER || self.tracer == REFERENCES && self.reference_metadata.is_some()
    }

    /// Extends the hint of a problem in the body of a trace if the version of the tracer is newer
    /// than the supported ones, which may be the cause.
    pub(super) fn with_version(&self, hint: String) -> String {
        if self.is_known() {
            return hint;
        }
        let version = format!(
            "the trace was written by tracer version {}, and versions 1 to {NEWEST_TRACER} are known, and {REFERENCES} \
             with `-mref metadata version = 1`",
            self.tracer
        );
        if hint.is_empty() { version } else { format!("{version}; {hint}") }
    }
}

/// The maximum number of unknown keys that are kept by name.
const KEPT: usize = 64;
/// The maximum number of header lines that only warpbound writes: one for each instruction of the
/// largest program.
const MAX_OWN: usize = 1 << 20;

/// A header in the process of being parsed.
#[derive(Default)]
pub(super) struct Reading {
    header: Header,
    has_grid: bool,
    has_block: bool,
}

/// The message and the hint of an invalid line.
pub(super) type Wrong = (String, String);

impl Reading {
    /// Parses a line that begins with a dash.
    pub(super) fn line(&mut self, text: &str) -> Result<(), Wrong> {
        let Some((key, value)) = text[1..].split_once('=') else {
            return Err((
                "a header line without `=`".to_owned(),
                "header lines are `-key = value`".to_owned(),
            ));
        };
        let (key, value) = (key.trim(), value.trim());
        let header = &mut self.header;
        match key {
            "kernel name" => header.name = value.to_owned(),
            "grid dim" => {
                header.grid = shape(key, value, u64::from(u32::MAX))?;
                self.has_grid = true;
            }
            "block dim" => {
                header.block = shape(key, value, 1024)?;
                self.has_block = true;
            }
            "shmem" => header.shared_bytes = small(key, value)?,
            "nregs" => header.registers = small(key, value)?,
            "binary version" => header.binary_version = Some(small(key, value)?),
            "accelsim tracer version" => header.tracer = small(key, value)?,
            "enable lineinfo" => header.line_numbers = number(key, value)? != 0,
            "enable core id" => header.core_numbers = number(key, value)? != 0,
            "mref metadata version" => match small(key, value)? {
                1 => header.reference_metadata = Some(1),
                _ => return Err(bad(key, value, "1, the only version that is known")),
            },
            "shmem base_addr" => header.shared_base = Some(address(key, value)?),
            "local mem base_addr" => header.local_base = Some(address(key, value)?),
            "kernel id" | "cuda stream id" | "nvbit version" => {}
            "operands" => match value {
                "whole" => header.own.whole = true,
                _ => return Err(bad(key, value, "`whole`, or nothing")),
            },
            "local bytes" => header.own.local_bytes = Some(number(key, value)?),
            _ if self.warpbound_key(key, value)? => {}
            _ => {
                let unknown = &mut self.header.unknown;
                let name = if unknown.len() < KEPT || unknown.contains_key(key) { key } else { "others" };
                *unknown.entry(name.to_owned()).or_default() += 1;
            }
        }
        Ok(())
    }

    /// Parses a key with a variable part, which only traces by warpbound contain. Returns false if
    /// the key has no such form.
    fn warpbound_key(&mut self, key: &str, value: &str) -> Result<bool, Wrong> {
        let keys = &mut self.header.own;
        if keys.classes.len() + keys.operands.len() + keys.registers.len() > MAX_OWN {
            return Err(("more than 2^20 lines of this kind".to_owned(), String::new()));
        }
        if let Some(opcode) = key.strip_prefix("op class ") {
            keys.classes.insert(opcode.trim().to_owned(), value.to_owned());
        } else if let Some(register) = key.strip_prefix("register ") {
            keys.registers.insert(
                register_number(register.trim()).ok_or_else(|| bad(key, value, "R7"))?,
                value.to_owned(),
            );
        } else if let Some(pc) = key.strip_prefix("operands ") {
            let hint =
                "the registers written, the registers read, and the guard: R1,R2 R3 R4, and `-` for none";
            let pc = address(key, pc.trim())?;
            let parts: Vec<&str> = value.split_whitespace().collect();
            let [dsts, srcs, guard] = parts.as_slice() else { return Err(bad(key, value, hint)) };
            let list = |text: &str| match text {
                "-" => Some(Vec::new()),
                text => text.split(',').map(register_number).collect::<Option<Vec<u32>>>(),
            };
            let lists = (list(dsts), list(srcs), list(guard));
            let (Some(dsts), Some(srcs), Some(guard)) = lists else { return Err(bad(key, value, hint)) };
            if dsts.len().max(srcs.len()) > MAX_OPERANDS || guard.len() > 1 {
                return Err(bad(
                    key,
                    value,
                    "at most 36 registers written, 36 registers read, and one guard",
                ));
            }
            keys.operands.insert(pc, Operands { dsts, srcs, guard: guard.first().copied() });
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    /// Returns the header if it is complete.
    pub(super) fn finish(self) -> Result<Header, Wrong> {
        let missing = [("grid dim", self.has_grid), ("block dim", self.has_block)];
        if let Some((key, _)) = missing.iter().find(|(_, present)| !present) {
            let message = format!("the header has no `-{key} = (x,y,z)`");
            return Err((
                message,
                "the beginning of the trace is cut off, or this is not a trace".to_owned(),
            ));
        }
        if self.header.reference_metadata.is_some() && self.header.tracer != REFERENCES {
            let message =
                format!("`-mref metadata version` in a trace of tracer version {}", self.header.tracer);
            return Err((message, format!("this key belongs to tracer version {REFERENCES}")));
        }
        Ok(self.header)
    }
}

/// The maximum number of registers of one kind in a line. With the registers that are added, an
/// instruction stays below its limit.
pub(super) const MAX_OPERANDS: usize = RegList::MAX - 4;

fn bad(key: &str, value: &str, expected: &str) -> Wrong {
    let value: String = value.chars().take(80).collect();
    (format!("`{value}` is no value for `-{key}`"), format!("expected {expected}"))
}

fn shape(key: &str, value: &str, most: u64) -> Result<[u32; 3], Wrong> {
    let wrong = || bad(key, value, &format!("(x,y,z), each at least 1, the product at most {most}"));
    let inner = value.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).ok_or_else(wrong)?;
    let mut numbers = inner.split(',').map(|part| part.trim().parse::<u32>().ok());
    let mut next = || numbers.next().flatten().ok_or_else(wrong);
    let shape = [next()?, next()?, next()?];
    let product = shape.iter().try_fold(1u64, |product, &n| product.checked_mul(u64::from(n)));
    let fits = product.is_some_and(|product| (1..=most).contains(&product));
    if fits && numbers.next().is_none() { Ok(shape) } else { Err(wrong()) }
}

fn number(key: &str, value: &str) -> Result<u64, Wrong> {
    value.parse().map_err(|_| bad(key, value, "a number"))
}

fn small(key: &str, value: &str) -> Result<u32, Wrong> {
    value.parse().map_err(|_| bad(key, value, "a number"))
}

fn address(key: &str, value: &str) -> Result<u64, Wrong> {
    u64::from_str_radix(value.trim_start_matches("0x"), 16)
        .map_err(|_| bad(key, value, "a hexadecimal number"))
}
