//! What machine code says of its instructions beside what they do.

use super::{Instr, Program};
use crate::machine::{Dependences, Feature, Features, Machine};

/// Where the instructions of machine code lie, and what the compiler tells the scheduler of them. Lines are those of a listing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MachineCode {
    /// The line of the first instruction.
    pub first_line: u32,
    /// Each, line by line.
    pub instructions: Vec<Coded>,
}

/// An instruction of machine code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coded {
    /// Its first byte.
    pub byte: u32,
    /// Its control codes.
    pub control: Control,
    /// How long it takes is not always the same: who reads its result waits at a barrier.
    pub variable: bool,
    /// `DEPBAR`: barriers that it waits for as an instruction, a bit for each.
    pub waits: u8,
    /// `DEPBAR.LE`: waits until at most so many of those that release the barrier are under way.
    pub drains: Option<(u8, u8)>,
}

/// The control codes of an instruction (Hayes et al., CGO 2019; seven values in 21 bits).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Control {
    /// Cycles until the warp may issue its next instruction.
    pub stall: u8,
    /// The warp would rather go on itself than let another one issue; the bit says the opposite.
    pub stay: bool,
    /// The barrier that is released once its result is written.
    pub write_barrier: Option<u8>,
    /// The barrier that is released once its sources are read.
    pub read_barrier: Option<u8>,
    /// Barriers that have to be released before it issues, a bit for each.
    pub wait: u8,
    /// Sources that stay in the reuse cache, a bit for each slot.
    pub reuse: u8,
}

impl Program {
    /// The control codes, if it has any and the machine follows them instead of registers.
    pub fn control_codes_on(&self, machine: &Machine) -> Option<&MachineCode> {
        self.machine_code.as_ref().filter(|_| machine.dependences() == Dependences::ControlCodes)
    }

    /// What the machine does with this program that the paper model does not.
    pub fn beyond_the_paper_model_on(&self, machine: &Machine) -> Features {
        let features = machine.beyond_the_paper_model();
        if self.control_codes_on(machine).is_some() { features.with(Feature::ControlCodes) } else { features }
    }
}

impl MachineCode {
    /// What is said of an instruction.
    pub fn of(&self, instr: &Instr) -> Option<&Coded> {
        self.instructions.get(instr.line.checked_sub(self.first_line)? as usize)
    }
}

impl Control {
    /// From 21 bits.
    pub fn from_bits(bits: u32) -> Self {
        let barrier = |bits: u32| (bits & 7 != 7).then_some((bits & 7) as u8);
        Self {
            stall: (bits & 15) as u8,
            stay: bits >> 4 & 1 != 0,
            write_barrier: barrier(bits >> 5),
            read_barrier: barrier(bits >> 8),
            wait: (bits >> 11 & 63) as u8,
            reuse: (bits >> 17 & 15) as u8,
        }
    }

    /// As 21 bits.
    pub fn bits(self) -> u32 {
        let barrier = |barrier: Option<u8>| u32::from(barrier.unwrap_or(7) & 7);
        u32::from(self.stall & 15)
            | u32::from(self.stay) << 4
            | barrier(self.write_barrier) << 5
            | barrier(self.read_barrier) << 8
            | u32::from(self.wait & 63) << 11
            | u32::from(self.reuse & 15) << 17
    }
}

/// As disassemblers print them: barriers waited for, read barrier, write barrier, yield, stall count.
impl std::fmt::Display for Control {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let digit = |barrier: Option<u8>| barrier.map_or('-', |barrier| char::from(b'0' + barrier));
        write!(f, "{:02x}:{}:{}:", self.wait, digit(self.read_barrier), digit(self.write_barrier))?;
        write!(f, "{}:{:x}", if self.stay { '-' } else { 'Y' }, self.stall)
    }
}
