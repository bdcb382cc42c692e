//! The machine of Raravi and Andersson, 2010, as users write it, and its validation.

use std::fmt;

use serde::Deserialize;

use warpbound_core::diag::{Diagnostic, Diagnostics, SourceText, from_ron};

/// The largest number of slots of one kind.
const MAX_SLOTS: u32 = 16;
/// The largest number of instructions of a part of the template.
const MAX_PART: usize = 16;

/// An instruction of the template.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum Op {
    /// Arithmetic on the CUDA cores.
    Cuda,
    /// A load from memory to a register.
    Load,
    /// A store from a register to memory.
    Store,
}

impl Op {
    /// Returns whether it takes the memory slot; otherwise it takes an arithmetic one.
    pub fn is_memory(self) -> bool {
        self != Self::Cuda
    }

    /// Returns the letter used in the paper's figures.
    pub fn letter(self) -> char {
        match self {
            Self::Cuda => 'C',
            Self::Load => 'L',
            Self::Store => 'S',
        }
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cuda => "CUDA",
            Self::Load => "LOAD",
            Self::Store => "STORE",
        })
    }
}

/// The control flow that every thread follows (Raravi and Andersson, 2010, figure 2).
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Template {
    /// The instructions before the repetitions; they count as part of the first repetition.
    pub first: Vec<Op>,
    /// The sub-block that is repeated.
    pub repeated: Vec<Op>,
    /// The instructions after the repetitions; they count as part of the last repetition.
    pub last: Vec<Op>,
}

impl Template {
    /// Returns the template of Raravi and Andersson, 2010.
    pub fn published() -> Self {
        Self { first: vec![Op::Cuda], repeated: vec![Op::Load, Op::Load, Op::Cuda], last: vec![Op::Store] }
    }
}

/// An SM on which every instruction takes one cycle and each kind of slot is work conserving.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FermiMachine {
    /// The name of the machine in reports.
    pub name: String,
    /// A description of the machine.
    #[serde(default)]
    pub doc: String,
    /// The number of threads that execute together.
    pub warp_threads: u32,
    /// The number of warps that may execute arithmetic in one cycle.
    pub arithmetic_slots: u32,
    /// The number of warps that may access memory in one cycle.
    pub memory_slots: u32,
    /// The instructions that every thread executes.
    pub template: Template,
}

impl FermiMachine {
    /// Returns the machine of Raravi and Andersson, 2010.
    pub fn published() -> Self {
        Self::parse(&SourceText::new("fermi-raravi.ron", include_str!("fermi-raravi.ron")))
            .expect("the embedded machine is valid, a test reads it")
    }

    /// Reads a machine file.
    ///
    /// # Errors
    /// Returns the position at which the text is not a valid machine, or every number that is out
    /// of range.
    pub fn parse(source: &SourceText) -> Result<Self, Diagnostics> {
        let machine: Self = from_ron(source)?;
        let mut problems = Diagnostics::new();
        if machine.warp_threads == 0 {
            problems.push(source.error_at("warp_threads", "a warp has at least one thread"));
        }
        for (field, slots) in
            [("arithmetic_slots", machine.arithmetic_slots), ("memory_slots", machine.memory_slots)]
        {
            if !(1..=MAX_SLOTS).contains(&slots) {
                let message = format!("`{field}` is {slots}; it must be 1 to {MAX_SLOTS}");
                problems.push(source.error_at(field, message));
            }
        }
        let Template { first, repeated, last } = &machine.template;
        for (field, part) in [("first", first), ("repeated", repeated), ("last", last)] {
            if part.len() > MAX_PART {
                let message = format!("`{field}` has {} instructions; at most {MAX_PART}", part.len());
                problems.push(source.error_at(field, message));
            }
        }
        if repeated.is_empty() {
            problems.push(source.error_at("repeated", "the sub-block has no instruction"));
        }
        problems.into_result(machine)
    }

    /// Returns the number of warps that this many threads need.
    pub fn warps(&self, threads: u32) -> u32 {
        threads.div_ceil(self.warp_threads)
    }
}

/// The code of a warp: the expanded template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateKernel {
    /// The number of warps that execute it.
    pub warps: usize,
    /// The number of repetitions of the sub-block.
    pub repetitions: usize,
    /// The operation of each instruction, and the repetition that it belongs to, counted from 1.
    pub code: Vec<(Op, usize)>,
}

impl TemplateKernel {
    /// The largest number of warps of one kernel.
    pub const MAX_WARPS: usize = 16;
    /// The largest number of instructions of a warp.
    pub const MAX_INSTRUCTIONS: usize = 200;

    /// Creates the kernel that `warps` warps execute on a machine.
    ///
    /// # Errors
    /// Returns an error if there is nothing to execute, or more than the search can represent.
    pub fn new(machine: &FermiMachine, warps: usize, repetitions: usize) -> Result<Self, Diagnostic> {
        let place = format!("{warps} warps, rep {repetitions}");
        if !(1..=Self::MAX_WARPS).contains(&warps) {
            let message = format!("a kernel of {warps} warps; 1 to {} are explored", Self::MAX_WARPS);
            return Err(Diagnostic::general(place, message));
        }
        let Template { first, repeated, last } = &machine.template;
        let length = repeated
            .len()
            .checked_mul(repetitions)
            .and_then(|body| body.checked_add(first.len() + last.len()))
            .filter(|length| *length <= Self::MAX_INSTRUCTIONS);
        if repetitions == 0 || length.is_none() {
            let message = format!(
                "{repetitions} repetitions; at least 1, and at most {} instructions in all",
                Self::MAX_INSTRUCTIONS
            );
            return Err(Diagnostic::general(place, message));
        }
        let body = (1..=repetitions).flat_map(|k| repeated.iter().map(move |op| (*op, k)));
        let code = first
            .iter()
            .map(|op| (*op, 1))
            .chain(body)
            .chain(last.iter().map(|op| (*op, repetitions)))
            .collect();
        Ok(Self { warps, repetitions, code })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_machine_is_that_of_the_paper() {
        let machine = FermiMachine::published();
        assert_eq!((machine.warp_threads, machine.arithmetic_slots, machine.memory_slots), (16, 2, 1));
        assert_eq!(machine.template, Template::published());
        assert_eq!((machine.warps(64), machine.warps(65), machine.warps(0)), (4, 5, 0));
    }

    #[test]
    fn the_template_is_expanded_with_its_repetitions() {
        let kernel = TemplateKernel::new(&FermiMachine::published(), 4, 2).unwrap();
        let shown: String = kernel.code.iter().map(|(op, k)| format!("{}{k} ", op.letter())).collect();
        assert_eq!(shown, "C1 L1 L1 C1 L2 L2 C2 S2 ");
        for (warps, repetitions) in [(0, 1), (17, 1), (1, 0), (1, 67), (1, usize::MAX)] {
            assert!(TemplateKernel::new(&FermiMachine::published(), warps, repetitions).is_err());
        }
    }

    #[test]
    fn wrong_machines_are_refused_with_all_their_problems() {
        let text = include_str!("fermi-raravi.ron")
            .replace("warp_threads: 16", "warp_threads: 0")
            .replace("memory_slots: 1", "memory_slots: 99")
            .replace("[Load, Load, Cuda]", "[]");
        let problems = FermiMachine::parse(&SourceText::new("x.ron", text)).unwrap_err();
        assert_eq!(problems.list().len(), 3, "{problems}");
        assert!(FermiMachine::parse(&SourceText::new("x.ron", "Machine()")).is_err());
    }
}
