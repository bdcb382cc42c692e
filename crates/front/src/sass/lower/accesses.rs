//! The registers that machine instructions access, for the check of control codes.
//!
//! They are those that the hardware reads and writes, which the words name. The operations to which
//! an instruction is lowered may need fewer: descriptors of memory, for example, have no meaning
//! there.

use std::collections::BTreeMap;

use super::widths::width;
use super::{Decoded, Operand, Register, Value};
use crate::sass::table::meaning::Group;
use crate::sass::table::{Encoding, Latencies, Meaning, RegisterFile};
use warpbound_core::program::hazards::{Access, Accesses, File, Hazards};

/// Collects the accesses of the instructions of a kernel.
pub(super) struct Collector<'a> {
    encoding: &'a Encoding,
    latencies: &'a Latencies,
    known: BTreeMap<(File, u8), u16>,
    found: Hazards,
}

/// The accesses of one instruction.
struct Instruction<'c, 'a> {
    collector: &'c mut Collector<'a>,
    /// The class of the instruction, if it has one.
    class: &'a str,
    reads: Vec<Access>,
    writes: Vec<Access>,
}

impl<'a> Collector<'a> {
    pub(super) fn new(encoding: &'a Encoding) -> Option<Self> {
        let latencies = encoding.latencies.as_ref()?;
        let delays = latencies.delays.clone();
        let found = Hazards { registers: Vec::new(), instructions: Vec::new(), delays };
        Some(Self { encoding, latencies, known: BTreeMap::new(), found })
    }

    pub(super) fn finish(self) -> Hazards {
        self.found
    }

    /// Adds an instruction that the table of encodings does not describe.
    pub(super) fn unknown(&mut self) {
        self.found.instructions.push(Accesses::default());
    }

    pub(super) fn instruction(&mut self, d: &Decoded, text: String) {
        let class = self.latencies.class(d).unwrap_or_default();
        let mut found = Instruction { collector: self, class, reads: Vec::new(), writes: Vec::new() };
        if let Some((register, _)) = d.guard {
            found.access(false, guards(d), register, 1, &["guard"]);
        }
        let (mut sources, mut address) = (false, false);
        // a predicate that is not printed belongs to a modifier that is absent, and is not read
        let unread = |operand: &&Operand| operand.hidden && matches!(operand.value, Value::Predicate(_));
        for operand in d.operands.iter().filter(|operand| !unread(operand)) {
            // results come before sources, except that a store names its address first
            let writes = match operand.name {
                "d" | "upper" => !address,
                "p" => !sources && !d.op.name.starts_with("BAR"),
                "q" => true,
                _ => false,
            };
            found.operand(d, operand, writes);
            if operand.name == "p" && d.op.name == "R2UR.OR" {
                // it adds to the predicate
                found.operand(d, operand, false);
            }
            sources |= matches!(operand.name, "a" | "b" | "c" | "m" | "q");
            address |= matches!(operand.value, Value::Address { .. });
        }
        found.masked_predicates(d);
        let Instruction { mut reads, mut writes, .. } = found;
        for list in [&mut reads, &mut writes] {
            list.sort_unstable();
            list.dedup();
        }
        reads.append(&mut writes);
        let guard = d.guard.map(|(register, negated)| {
            let number = match register {
                Register::Number(number) => self.register(guards(d), number),
                Register::Fixed => None,
            };
            // an instruction that is never executed has the guard of no other one
            (number.unwrap_or(u16::MAX), negated)
        });
        let order = self.latencies.order(d);
        self.found.instructions.push(Accesses {
            text,
            guard,
            read_queue: order.reads,
            write_queue: order.writes,
            holds: order.holds,
            list: reads,
        });
    }

    /// Returns the number of a register in the result.
    fn register(&mut self, file: File, number: u8) -> Option<u16> {
        let registers = &self.encoding.registers;
        let of = match file {
            File::General => Some(&registers.general),
            File::Predicate => Some(&registers.predicate),
            File::Uniform => registers.uniform.as_ref(),
            File::UniformPredicate => registers.uniform_predicate.as_ref(),
        };
        let register = of.map(|of: &RegisterFile| (of.register(number), of));
        let Some((register @ Register::Number(_), of)) = register else { return None };
        let all = &mut self.found.registers;
        let next = all.len() as u16;
        Some(*self.known.entry((file, number)).or_insert_with(|| {
            all.push((file, of.name(register)));
            next
        }))
    }
}

/// Returns the file of the guard of an instruction.
fn guards(d: &Decoded) -> File {
    if d.op.uniform { File::UniformPredicate } else { File::Predicate }
}

impl Instruction<'_, '_> {
    /// Adds accesses to consecutive registers. The kinds of the accesses are given for the registers
    /// in turn; the last one is that of all further registers.
    fn access(&mut self, writes: bool, file: File, register: Register, count: u8, kinds: &[&str]) {
        let Register::Number(first) = register else { return };
        for step in 0..count {
            let kind = kinds.get(usize::from(step)).or(kinds.last()).copied().unwrap_or_default();
            let number = first.saturating_add(step);
            let Some(register) = self.collector.register(file, number) else { continue };
            // a kind that the table does not have, and that no delay is known for
            let kind = self.collector.latencies.kind(kind).unwrap_or(u8::MAX);
            let list = if writes { &mut self.writes } else { &mut self.reads };
            list.push(Access { register, writes, kind });
        }
    }

    fn operand(&mut self, d: &Decoded, operand: &Operand, writes: bool) {
        let of_group = matches!(d.op.meaning, Some(Meaning::Group(Group::Product)));
        if of_group && matches!(operand.value, Value::Register(_)) {
            // products access these asynchronously, until WARPGROUP.DEPBAR has waited for them
            return;
        }
        let (class, count) = (self.class, width(d, operand));
        match operand.value {
            Value::Register(register) if class == "imadw" => {
                let kinds: [&str; 2] = match (writes, operand.name) {
                    (true, _) => ["imadw.d0", "imadw.d1"],
                    (false, "c") => ["imadw.c0", "imadw.c1"],
                    (false, _) => ["imadw.ab"; 2],
                };
                self.access(writes, File::General, register, count, &kinds);
            }
            Value::Register(register) => self.access(writes, File::General, register, count, &[class]),
            Value::Predicate(register) => self.access(writes, File::Predicate, register, 1, &[class]),
            Value::Uniform(register) => self.access(writes, File::Uniform, register, count, &[class]),
            Value::UniformPredicate(register) => {
                self.access(writes, File::UniformPredicate, register, 1, &[class]);
            }
            Value::IndexedConstant { register, .. } => {
                self.access(false, File::General, register, 1, &[class]);
            }
            Value::UniformConstant { register, .. } => {
                self.access(false, File::Uniform, register, 1, &["bindless"]);
            }
            Value::Address { register, wide, uniform, descriptor, .. } => {
                let pair = |wide: bool| if wide { 2 } else { 1 };
                // the coordinates of a surface are printed like an address
                let own = wide && operand.part != ".U32";
                let count = super::image::width(d, operand).unwrap_or(pair(own));
                self.access(false, File::General, register, count, &[class]);
                for (register, wide) in [(uniform, wide), (descriptor, true)] {
                    let Some(register) = register else { continue };
                    self.access(false, File::Uniform, register, pair(wide), &[class]);
                }
            }
            Value::Descriptor(_, register) => {
                self.access(false, File::Uniform, register, count, &[class]);
            }
            Value::Constant { .. }
            | Value::Number(_)
            | Value::Small(_)
            | Value::Single(_)
            | Value::Double(_)
            | Value::Half(_)
            | Value::Brain(_)
            | Value::Target(_)
            | Value::Choice(..)
            | Value::Barrier(_)
            | Value::Barriers(_) => {}
        }
    }

    /// Adds the predicates that P2R and R2P name by a mask.
    fn masked_predicates(&mut self, d: &Decoded) {
        let writes = match d.op.name.as_str() {
            "P2R" => false,
            "R2P" => true,
            _ => return,
        };
        let Some(Value::Number(mask)) = d.operand("b").map(|operand| operand.value) else { return };
        for number in (0..7).filter(|number| mask >> number & 1 != 0) {
            self.access(writes, File::Predicate, Register::Number(number), 1, &[self.class]);
        }
    }
}
