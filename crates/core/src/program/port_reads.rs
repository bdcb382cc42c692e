//! The registers that instructions of machine code read through the ports of register banks.

use super::{Coded, Instr, KernelCode};
use crate::base::Few;
use crate::machine::Machine;

/// A register that an instruction reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortRead {
    /// The number of the register.
    pub register: u8,
    /// The operand slot, if the instruction uses the register cache.
    pub slot: Option<u8>,
    /// Whether the operand has the reuse bit, so that the register stays in the cache.
    pub reuse: bool,
}

/// The registers that an instruction reads through ports of its sub-core, in the order of its
/// operands; a register that is two operands occurs twice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PortReads {
    /// The registers.
    pub list: Few<PortRead, 6>,
    /// Whether an operand consists of four registers or more.
    pub wide: bool,
}

impl PortReads {
    /// Returns the reads of each operation of a program on a machine; `None` if the machine has no
    /// such ports, or the program is not machine code. `to_own_unit` returns whether an operation
    /// goes to a unit of its sub-core, and not to memory.
    pub(super) fn of(
        program: &KernelCode,
        machine: &Machine,
        to_own_unit: impl Fn(usize) -> bool,
    ) -> Option<Vec<Self>> {
        machine.pipeline()?.register_file?;
        let code = program.machine_code.as_ref()?;
        let reads = |(index, instr): (usize, &Instr)| {
            let coded = code.of(instr).filter(|coded| has_fixed_latency(coded) && to_own_unit(index));
            coded.map_or_else(Self::default, Self::of_instruction)
        };
        Some(program.instrs.iter().enumerate().map(reads).collect())
    }

    fn of_instruction(coded: &Coded) -> Self {
        let mut reads = Self::default();
        for source in coded.sources.as_slice() {
            let reuse = source.slot.is_some_and(|slot| coded.control.reuse >> slot & 1 != 0);
            for number in 0..source.count {
                let register = source.first.wrapping_add(number);
                reads.list.push(PortRead { register, slot: source.slot, reuse });
            }
            reads.wide |= source.count >= 4;
        }
        reads
    }
}

/// Returns whether an instruction has a fixed latency, so that it reads its registers a fixed time
/// after its issue. Those of variable latency, and those for a unit of the whole SM, read them when
/// they leave a queue.
///
/// Products of matrices and double precision have a fixed latency in some chips and not in others.
/// Code for a chip in which they do signals no barrier for them.
fn has_fixed_latency(coded: &Coded) -> bool {
    let signals = coded.control.write_barrier.is_some() || coded.control.read_barrier.is_some();
    let may_be_cached = coded.sources.as_slice().iter().any(|source| source.slot.is_some());
    !coded.variable || may_be_cached && !signals
}
