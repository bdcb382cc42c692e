//! The register files of a generation.

use serde::Deserialize;

/// The register files that instructions name.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Registers {
    /// The 32-bit registers of a thread; the fixed one is zero.
    pub general: RegisterFile,
    /// The predicates of a thread; the fixed one is true.
    pub predicate: RegisterFile,
    /// The 32-bit registers that the threads of a warp share, if the generation has them.
    #[serde(default)]
    pub uniform: Option<RegisterFile>,
    /// The predicates that the threads of a warp share, if the generation has them.
    #[serde(default)]
    pub uniform_predicate: Option<RegisterFile>,
}

/// A register file.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "File", deny_unknown_fields)]
pub struct RegisterFile {
    /// The letters before the number of a register.
    pub prefix: String,
    /// The number of bits of a register's number.
    pub bits: u32,
    /// The name of the register with the highest number. Its value is fixed.
    pub fixed: String,
}

/// A register of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Register {
    /// The register whose value is fixed: zero or, in a file of predicates, true.
    Fixed,
    /// The register with this number.
    Number(u8),
}

impl RegisterFile {
    /// Returns how many registers can be written. The fixed register has this value as its number.
    pub fn count(&self) -> u8 {
        u8::MAX >> (8 - self.bits.clamp(1, 8))
    }

    /// Returns the number of the register that is `step` registers further, or of the fixed
    /// register if there is no such register.
    pub fn further(&self, number: u8, step: u8) -> u8 {
        number.saturating_add(step).min(self.count())
    }

    /// Returns the name of a register.
    pub fn name(&self, register: Register) -> String {
        match register {
            Register::Fixed => self.fixed.clone(),
            Register::Number(number) => format!("{}{number}", self.prefix),
        }
    }

    /// Returns the register with this number.
    pub fn register(&self, number: u8) -> Register {
        if number >= self.count() { Register::Fixed } else { Register::Number(number) }
    }

    /// Returns the number of a register, or `None` if the file has no such register.
    pub(super) fn number(&self, register: Register) -> Option<u8> {
        match register {
            Register::Fixed => Some(self.count()),
            Register::Number(number) => (number < self.count()).then_some(number),
        }
    }
}
