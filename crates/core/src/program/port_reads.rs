//! The registers that instructions of machine code read through the ports of register banks.

use super::{Coded, Instr, KernelCode, TimedInstr};
use crate::base::Few;
use crate::machine::{Machine, SubCores};

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
    /// such ports, or the program is not machine code.
    pub(super) fn of(program: &KernelCode, machine: &Machine, timed: &[TimedInstr]) -> Option<Vec<Self>> {
        machine.pipeline()?.register_file?;
        let code = program.machine_code.as_ref()?;
        let reads = |(instr, timed): (&Instr, &TimedInstr)| {
            let coded = code.of(instr).filter(|coded| reads_in_order(coded, timed, machine.sub_cores()));
            coded.map_or_else(Self::default, Self::of_instruction)
        };
        Some(program.instrs.iter().zip(timed).map(reads).collect())
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

/// Returns whether an instruction reads its registers a fixed time after its issue. Those of variable
/// latency, and those for a unit of the whole SM, read them when they leave a queue.
///
/// Products of matrices and double precision have a fixed latency in some chips and not in others.
/// Code for a chip in which they do signals no barrier for them.
fn reads_in_order(coded: &Coded, timed: &TimedInstr, sub_cores: SubCores) -> bool {
    let signals = coded.control.write_barrier.is_some() || coded.control.read_barrier.is_some();
    let may_be_cached = coded.sources.as_slice().iter().any(|source| source.slot.is_some());
    let fixed = !coded.variable || may_be_cached && !signals;
    fixed && timed.access.is_none() && !sub_cores.is_shared(timed.op.unit)
}
