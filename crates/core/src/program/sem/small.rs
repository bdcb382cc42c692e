//! Conversions to and from floating-point types of at most 8 bits.

use super::{FloatTy, Operand};
use crate::base::RegId;

/// A small floating-point type, named by the widths of its exponent and its fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "named as in PTX")]
pub enum SmallTy {
    /// It has no infinity; all ones is NaN.
    E4m3,
    /// It is the upper half of `F16`.
    E5m2,
    /// It has neither infinity nor NaN, like the following types.
    E2m1,
    E2m3,
    E3m2,
}

/// A conversion of two numbers at once. The first or upper source yields the upper part of the
/// result.
#[derive(Clone, Debug, PartialEq)]
pub struct SmallConvert {
    /// The destination register.
    pub dst: RegId,
    /// The small type.
    pub small: SmallTy,
    /// The direction and the operands.
    pub way: SmallWay,
    /// Whether negative results become 0.
    pub relu: bool,
}

/// The direction and the operands of a [`SmallConvert`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SmallWay {
    /// From two numbers of single precision: the upper one and the lower one.
    FromSingles(Operand, Operand),
    /// From a packed type.
    FromPacked(Operand, FloatTy),
    /// To a packed type.
    ToPacked(Operand, FloatTy),
}

impl SmallTy {
    /// Returns the widths of the exponent and of the fraction in bits.
    pub const fn shape(self) -> (u32, u32) {
        match self {
            Self::E4m3 => (4, 3),
            Self::E5m2 => (5, 2),
            Self::E2m1 => (2, 1),
            Self::E2m3 => (2, 3),
            Self::E3m2 => (3, 2),
        }
    }

    /// Returns the number of bits that each number takes in a register: 4 for the smallest type,
    /// otherwise 8.
    pub const fn place_bits(self) -> u32 {
        match self {
            Self::E2m1 => 4,
            _ => 8,
        }
    }
}

impl SmallConvert {
    /// Returns the sources.
    pub fn sources(&self) -> impl Iterator<Item = Operand> {
        let (first, second) = match self.way {
            SmallWay::FromSingles(upper, lower) => (upper, Some(lower)),
            SmallWay::FromPacked(src, _) | SmallWay::ToPacked(src, _) => (src, None),
        };
        std::iter::once(first).chain(second)
    }
}
