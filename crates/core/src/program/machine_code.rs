//! The information that machine code carries besides the semantics of its instructions.

use super::hazards::Hazards;
use super::{Area, Instr, KernelCode, MemoryOp};
use crate::base::Few;
use crate::machine::memory::LowerLevel;
use crate::machine::{Dependences, Feature, Features, Machine};

/// The offsets and the control codes of the instructions of machine code. Line numbers refer to the
/// listing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MachineCode {
    /// The line of the first instruction.
    pub first_line: u32,
    /// The instructions, one per line.
    pub instructions: Vec<Coded>,
    /// The accesses to registers that the control codes have to cover, and the times that they
    /// need; `None` if the times of the generation are not known.
    pub hazards: Option<Hazards>,
    /// Whether the threads of a warp are scheduled independently of each other, as since Volta:
    /// lanes that have diverged rejoin only at barriers of convergence, and take turns.
    pub independent: bool,
}

/// An instruction of machine code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coded {
    /// The offset of its first byte.
    pub byte: u32,
    /// The instruction's control codes.
    pub control: Control,
    /// Whether the instruction's latency varies, so that readers of its result must wait at a
    /// barrier.
    pub variable: bool,
    /// The barriers that a `DEPBAR` waits for, one bit each.
    pub waits: u8,
    /// The barrier that a `DEPBAR.LE` waits for, and the maximum number of instructions that signal
    /// it and may still be in flight.
    pub drains: Option<(u8, u8)>,
    /// The operands that it reads from registers of threads, except for addresses.
    pub sources: Few<Source, 4>,
}

/// An operand in consecutive registers of threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Source {
    /// The number of the first register.
    pub first: u8,
    /// The number of registers.
    pub count: u8,
    /// The operand slot, if the registers can stay in the reuse cache.
    pub slot: Option<u8>,
}

/// The control codes of an instruction (Hayes et al., CGO 2019).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Control {
    /// The number of cycles until the warp may issue its next instruction.
    pub stall: u8,
    /// Whether the scheduler should continue with this warp rather than yield to another one. In
    /// the encoding, a cleared bit is the request to yield.
    pub stay: bool,
    /// The barrier that is released once the instruction's result is written.
    pub write_barrier: Option<u8>,
    /// The barrier that is released once the instruction's sources are read.
    pub read_barrier: Option<u8>,
    /// The barriers that must be released before the instruction issues, one bit each.
    pub wait: u8,
    /// The operand slots whose values stay in the reuse cache, one bit each.
    pub reuse: u8,
}

impl KernelCode {
    /// Returns the control codes if the program has any and the machine follows them instead of
    /// tracking registers.
    pub fn control_codes_on(&self, machine: &Machine) -> Option<&MachineCode> {
        self.machine_code.as_ref().filter(|_| machine.dependences() == Dependences::ControlCodes)
    }

    /// Returns the features that this program uses on this machine and that are not in the paper's
    /// model.
    pub fn beyond_the_paper_model_on(&self, machine: &Machine) -> Features {
        let features = machine.beyond_the_paper_model();
        let uncached = |instr: &Instr| {
            matches!(instr.memory, Some(MemoryOp::LoadUncached(_) | MemoryOp::AsyncCopyUncached))
        };
        let bypasses = features.contains(Feature::FirstLevel) && self.instrs.iter().any(uncached);
        let features = if bypasses { features.with(Feature::UncachedLoads) } else { features };
        // a cache that is not used matters only because perfect memory has a latency behind it
        let memory = machine.memory();
        let adds_latency = memory.lower == LowerLevel::Perfect && memory.l1.is_none();
        let matters = adds_latency || self.uses_constant_cache(machine);
        let features = if matters { features } else { features.without(Feature::ConstantCache) };
        if self.control_codes_on(machine).is_some() { features.with(Feature::ControlCodes) } else { features }
    }
}

impl KernelCode {
    /// Returns whether any load may use the cache for constants of a machine that has one.
    pub fn uses_constant_cache(&self, machine: &Machine) -> bool {
        let load_store = machine.pipeline().and_then(|pipeline| pipeline.load_store);
        let are_ready = load_store.is_some_and(|unit| unit.parameters_ready);
        let uses = |area: Area| match area {
            Area::KernelParam | Area::FunctionParam => !are_ready,
            Area::Const | Area::Generic => true,
            Area::Global | Area::Shared | Area::Local => false,
        };
        self.instrs.iter().any(|instr| matches!(instr.memory, Some(MemoryOp::Load(area)) if uses(area)))
    }
}

impl MachineCode {
    /// Returns the offset and the control codes of an instruction.
    pub fn of(&self, instr: &Instr) -> Option<&Coded> {
        self.instructions.get(self.number(instr)? as usize)
    }

    /// Returns the offset of the instruction after the one to which an operation belongs.
    pub fn after(&self, instr: &Instr) -> Option<u32> {
        let next = self.number(instr)?.checked_add(1)?;
        self.instructions.get(next as usize).map(|coded| coded.byte)
    }

    /// Returns the position in the code of the instruction to which an operation belongs, or `None`
    /// if its line lies before the code.
    pub fn number(&self, instr: &Instr) -> Option<u32> {
        instr.line.checked_sub(self.first_line)
    }
}

/// Prints the codes like disassemblers do: barriers waited for, read barrier, write barrier, yield,
/// stall count.
impl std::fmt::Display for Control {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let digit = |barrier: Option<u8>| barrier.map_or('-', |barrier| char::from(b'0' + barrier));
        write!(f, "{:02x}:{}:{}:", self.wait, digit(self.read_barrier), digit(self.write_barrier))?;
        write!(f, "{}:{:x}", if self.stay { '-' } else { 'Y' }, self.stall)
    }
}
