//! The registers of a warp.
//!
//! Registers of up to 32 bits lie in narrow rows, and those of 64 bits in wide ones, so that a
//! 32-bit operation moves half the bytes. The registers of the program are followed by rows for its
//! immediates and for the special registers that it reads, so that every kind of operand is a row.

use std::collections::HashMap;

use super::lanes::{Lanes, width_mask};
use super::rows::Row;
use warpbound_core::base::{LaneMask, RegId, WARP_SIZE};
use warpbound_core::program::sem::{Operand, Special};
use warpbound_core::program::{KernelCode, RegKind};

/// The row of a register of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RegisterRow {
    /// A predicate, by its [`RegId`].
    Pred,
    /// A narrow row.
    Narrow(u32),
    /// A wide row.
    Wide(u32),
}

/// The contents of a row after the registers of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Input {
    /// The same value in every lane.
    Value(u64),
    /// A special register that does not change while a block runs.
    Special(Special),
}

/// The rows of all operands, for all warps of a launch.
#[derive(Clone, Debug)]
pub(super) struct RegisterMap {
    places: Vec<RegisterRow>,
    /// For each register, a mask of its bits.
    widths: Vec<u64>,
    narrow: usize,
    wide: usize,
    narrow_inputs: Inputs,
    wide_inputs: Inputs,
    words: Words,
}

/// The parameters and constants that kernels read as if they were registers.
#[derive(Clone, Debug, Default)]
pub(super) struct Words {
    pub(super) params: Vec<u8>,
    pub(super) constants: Vec<u8>,
}

impl Words {
    /// Returns 32 bits; bits beyond the end are zero.
    fn word(bytes: &[u8], at: u32) -> u64 {
        let word = bytes.get(at as usize..).and_then(|bytes| bytes.first_chunk::<4>());
        word.map_or(0, |word| u64::from(u32::from_le_bytes(*word)))
    }
}

/// The inputs of one kind of row, each once.
#[derive(Clone, Debug, Default)]
struct Inputs {
    list: Vec<Input>,
    /// The index of each in the list; never iterated over.
    known: HashMap<Input, usize>,
}

impl Inputs {
    /// Returns the row of an input. The rows of inputs follow after `before` other rows.
    fn row(&mut self, before: usize, input: Input) -> u32 {
        let next = self.list.len();
        let index = *self.known.entry(input).or_insert(next);
        if index == next {
            self.list.push(input);
        }
        (before + index) as u32
    }
}

impl RegisterMap {
    /// Creates the map of the registers of a program, without any inputs.
    pub(super) fn new(program: &KernelCode) -> Self {
        let (mut narrow, mut wide) = (0, 0);
        let place = |kind| match kind {
            RegKind::Pred => RegisterRow::Pred,
            RegKind::Bits(64) => {
                wide += 1;
                RegisterRow::Wide(wide - 1)
            }
            RegKind::Bits(_) => {
                narrow += 1;
                RegisterRow::Narrow(narrow - 1)
            }
        };
        let width = |kind| match kind {
            RegKind::Pred => 1,
            RegKind::Bits(bits) => width_mask(u32::from(bits)),
        };
        let places = program.regs.iter().map(|register| register.kind).map(place).collect();
        Self {
            places,
            widths: program.regs.iter().map(|register| width(register.kind)).collect(),
            narrow: narrow as usize,
            wide: wide as usize,
            narrow_inputs: Inputs::default(),
            wide_inputs: Inputs::default(),
            words: Words::default(),
        }
    }

    /// Sets the contents of parameters and constants for the launch.
    pub(super) fn bind(&mut self, words: Words) {
        self.words = words;
    }

    /// Returns a word of the parameters.
    pub(super) fn param(&self, at: u32) -> u64 {
        Words::word(&self.words.params, at)
    }

    /// Returns a word of constant memory.
    pub(super) fn constant(&self, at: u32) -> u64 {
        Words::word(&self.words.constants, at)
    }

    /// Returns the row of a register.
    pub(super) fn place(&self, reg: RegId) -> RegisterRow {
        self.places[reg.index()]
    }

    /// Returns a mask of the bits of a register.
    pub(super) fn width(&self, reg: RegId) -> u64 {
        self.widths[reg.index()]
    }

    /// Returns the narrow row of an operand of a 32-bit operation; `None` if it has none.
    pub(super) fn narrow(&mut self, operand: Operand) -> Option<u32> {
        let input = match operand {
            Operand::Reg(reg) => {
                return match self.place(reg) {
                    RegisterRow::Narrow(row) => Some(row),
                    RegisterRow::Pred | RegisterRow::Wide(_) => None,
                };
            }
            Operand::Imm(value) => Input::Value(value & width_mask(32)),
            Operand::Special(Special::Clock | Special::Frame(_) | Special::Element { .. }) => return None,
            Operand::Special(special) => Input::Special(special),
        };
        Some(self.narrow_inputs.row(self.narrow, input))
    }

    /// Returns the wide row of an operand of a 64-bit operation; `None` if it has none.
    pub(super) fn wide(&mut self, operand: Operand) -> Option<u32> {
        match operand {
            Operand::Reg(reg) => match self.place(reg) {
                RegisterRow::Wide(row) => Some(row),
                RegisterRow::Pred | RegisterRow::Narrow(_) => None,
            },
            Operand::Imm(value) => Some(self.wide_inputs.row(self.wide, Input::Value(value))),
            Operand::Special(_) => None,
        }
    }
}

/// The registers of one warp.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Registers {
    /// The rows of up to 32 bits, zero-extended from the width of their register.
    pub(super) narrow: Vec<Row<u32>>,
    /// The rows of 64 bits.
    pub(super) wide: Vec<Row<u64>>,
    /// The predicates, by [`RegId`]; entries of other registers are unused.
    pub(super) preds: Vec<LaneMask>,
}

impl Registers {
    /// Creates registers that are all zero; [`Registers::start`] fills the inputs.
    pub(super) fn new(map: &RegisterMap) -> Self {
        Self {
            narrow: vec![Row([0; WARP_SIZE]); map.narrow + map.narrow_inputs.list.len()],
            wide: vec![Row([0; WARP_SIZE]); map.wide + map.wide_inputs.list.len()],
            preds: vec![LaneMask::empty(); map.places.len()],
        }
    }

    /// Zeroes the registers and fills the inputs for a block.
    pub(super) fn start(&mut self, map: &RegisterMap, special: impl Fn(Special) -> Lanes) {
        self.narrow[..map.narrow].fill(Row([0; WARP_SIZE]));
        self.wide[..map.wide].fill(Row([0; WARP_SIZE]));
        self.preds.fill(LaneMask::empty());
        let lanes = |input: &Input| match *input {
            Input::Value(value) => [value; WARP_SIZE],
            Input::Special(name) => special(name),
        };
        for (row, input) in self.narrow[map.narrow..].iter_mut().zip(&map.narrow_inputs.list) {
            row.0 = lanes(input).map(|value| value as u32);
        }
        for (row, input) in self.wide[map.wide..].iter_mut().zip(&map.wide_inputs.list) {
            row.0 = lanes(input);
        }
    }

    /// Returns a register in every lane.
    pub(super) fn lanes(&self, place: RegisterRow) -> Lanes {
        match place {
            RegisterRow::Pred => [0; WARP_SIZE],
            RegisterRow::Narrow(row) => self.narrow[row as usize].0.map(u64::from),
            RegisterRow::Wide(row) => self.wide[row as usize].0,
        }
    }

    /// Returns a register in one lane.
    #[inline]
    pub(super) fn get(&self, place: RegisterRow, lane: usize) -> u64 {
        match place {
            RegisterRow::Pred => 0,
            RegisterRow::Narrow(row) => u64::from(self.narrow[row as usize].0[lane]),
            RegisterRow::Wide(row) => self.wide[row as usize].0[lane],
        }
    }

    /// Writes one lane of a register; the value must have no bits beyond its width.
    #[inline]
    pub(super) fn set(&mut self, place: RegisterRow, lane: usize, value: u64) {
        match place {
            RegisterRow::Pred => {}
            RegisterRow::Narrow(row) => self.narrow[row as usize].0[lane] = value as u32,
            RegisterRow::Wide(row) => self.wide[row as usize].0[lane] = value,
        }
    }
}

/// The saved registers of a function that was called again.
#[derive(Clone, Debug)]
pub(super) struct SavedRegisters {
    /// The number of calls that were open below that one.
    pub(super) depth: usize,
    /// The values in the order of the function's registers of each kind.
    pub(super) narrow: Vec<Row<u32>>,
    pub(super) wide: Vec<Row<u64>>,
    pub(super) preds: Vec<LaneMask>,
}
