//! The lines before the first block: `-key = value`.

use std::collections::BTreeMap;

use crate::program::RegList;

/// What a trace says of its kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// The kernel's name, as the tracer knows it.
    pub name: String,
    /// Blocks in x, y, z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y, z.
    pub block: [u32; 3],
    /// Shared memory of a block, bytes.
    pub shared_bytes: u32,
    /// Registers of a thread; 0 if the trace does not say.
    pub registers: u32,
    /// The architecture, 86 for sm_86.
    pub binary_version: Option<u32>,
    /// Version of the tracer; 0 if the trace does not say.
    pub tracer: u32,
    /// Lines of instructions begin with a number of a line of source.
    pub line_numbers: bool,
    /// Where generic addresses of shared memory begin, if the trace says it.
    pub shared_base: Option<u64>,
    /// Where those of local memory begin.
    pub local_base: Option<u64>,
    /// What our own traces say beside what the format knows.
    pub own: Own,
    /// Keys that are not known, with how often.
    pub unknown: BTreeMap<String, u64>,
}

/// What a trace that was written here says beside what the format knows: keys that other tools pass over.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Own {
    /// Every operand is listed, predicates too.
    pub whole: bool,
    /// Local memory of a thread, bytes.
    pub local_bytes: Option<u64>,
    /// Op classes of opcodes.
    pub classes: BTreeMap<String, String>,
    /// By pc: registers written, read and guarding, where a line of the format cannot hold them.
    pub operands: BTreeMap<u64, Operands>,
    /// Names of registers by number.
    pub registers: BTreeMap<u32, String>,
}

/// The operands of an instruction, as numbers of registers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Operands {
    /// Registers written.
    pub dsts: Vec<u32>,
    /// Registers read, without the guard.
    pub srcs: Vec<u32>,
    /// The register of the guard.
    pub guard: Option<u32>,
}

/// The newest version of the tracer whose format is known.
pub(super) const NEWEST_TRACER: u32 = 5;

impl Header {
    /// A hint for a problem in the body of a trace: a format that is newer than what is known here may be the reason.
    pub(super) fn with_version(&self, hint: String) -> String {
        if self.tracer <= NEWEST_TRACER {
            return hint;
        }
        let version = format!(
            "the trace is of tracer version {}, and versions 1 to {NEWEST_TRACER} are known",
            self.tracer
        );
        if hint.is_empty() { version } else { format!("{version}; {hint}") }
    }
}

/// Unknown keys that are kept by name.
const KEPT: usize = 64;
/// The kinds of own lines are held to so many: one for each instruction of the largest program.
const MOST_OWN: usize = 1 << 20;

/// Lines of a header as they are read.
#[derive(Default)]
pub(super) struct Reading {
    header: Header,
    has_grid: bool,
    has_block: bool,
}

/// What is wrong with a line, and what to do about it.
pub(super) type Wrong = (String, String);

impl Reading {
    /// Reads a line that begins with a dash.
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
            "shmem base_addr" => header.shared_base = Some(address(key, value)?),
            "local mem base_addr" => header.local_base = Some(address(key, value)?),
            "kernel id" | "cuda stream id" | "nvbit version" => {}
            "operands" => match value {
                "whole" => header.own.whole = true,
                _ => return Err(bad(key, value, "`whole`, or nothing")),
            },
            "local bytes" => header.own.local_bytes = Some(number(key, value)?),
            _ if self.own(key, value)? => {}
            _ => {
                let unknown = &mut self.header.unknown;
                let name = if unknown.len() < KEPT || unknown.contains_key(key) { key } else { "others" };
                *unknown.entry(name.to_owned()).or_default() += 1;
            }
        }
        Ok(())
    }

    /// Keys with a part that varies; whether it is one.
    fn own(&mut self, key: &str, value: &str) -> Result<bool, Wrong> {
        let own = &mut self.header.own;
        if own.classes.len() + own.operands.len() + own.registers.len() > MOST_OWN {
            return Err(("more than 2^20 lines of this kind".to_owned(), String::new()));
        }
        if let Some(opcode) = key.strip_prefix("op class ") {
            own.classes.insert(opcode.trim().to_owned(), value.to_owned());
        } else if let Some(register) = key.strip_prefix("register ") {
            own.registers.insert(
                register_number(register.trim()).ok_or_else(|| bad(key, value, "R7"))?,
                value.to_owned(),
            );
        } else if let Some(pc) = key.strip_prefix("operands ") {
            let hint = "registers written, read and guarding: R1,R2 R3 R4, and `-` for none";
            let pc = address(key, pc.trim())?;
            let parts: Vec<&str> = value.split_whitespace().collect();
            let [dsts, srcs, guard] = parts.as_slice() else { return Err(bad(key, value, hint)) };
            let list = |text: &str| match text {
                "-" => Some(Vec::new()),
                text => text.split(',').map(register_number).collect::<Option<Vec<u32>>>(),
            };
            let lists = (list(dsts), list(srcs), list(guard));
            let (Some(dsts), Some(srcs), Some(guard)) = lists else { return Err(bad(key, value, hint)) };
            if dsts.len().max(srcs.len()) > MOST_OPERANDS || guard.len() > 1 {
                return Err(bad(key, value, "at most 36 registers of a kind, and one that guards"));
            }
            own.operands.insert(pc, Operands { dsts, srcs, guard: guard.first().copied() });
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    /// The header, if it says what it has to.
    pub(super) fn finish(self) -> Result<Header, Wrong> {
        let missing = [("grid dim", self.has_grid), ("block dim", self.has_block)];
        if let Some((key, _)) = missing.iter().find(|(_, there)| !there) {
            let message = format!("the header has no `-{key} = (x,y,z)`");
            return Err((message, "the trace is cut off at its beginning, or is none".to_owned()));
        }
        Ok(self.header)
    }
}

/// The number of a register such as `R7`.
pub(super) fn register_number(text: &str) -> Option<u32> {
    text.strip_prefix('R')?.parse().ok().filter(|&number| number <= MOST_REGISTER)
}

/// Registers that a line may list of a kind: with those that are added, an instruction has fewer than it may.
pub(super) const MOST_OPERANDS: usize = RegList::MAX - 4;

/// The highest number of a register.
pub(super) const MOST_REGISTER: u32 = 59_999;

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
