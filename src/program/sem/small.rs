//! Conversions to and from numbers of 8 bits and fewer.

use super::{FloatTy, Operand};
use crate::base::RegId;

/// A small floating-point type, by the bits of its exponent and of its fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "named as in PTX")]
pub enum SmallTy {
    /// No infinity; all ones is NaN.
    E4m3,
    /// The upper half of `F16`.
    E5m2,
    /// Neither infinity nor NaN, as the following ones.
    E2m1,
    E2m3,
    E3m2,
}

/// A conversion of two numbers at once. The first, or upper, source gives the upper part of the result.
#[derive(Clone, Debug, PartialEq)]
pub struct SmallConvert {
    /// Destination register.
    pub dst: RegId,
    /// The type that is small.
    pub small: SmallTy,
    /// From where to where.
    pub way: SmallWay,
    /// Negative results become 0.
    pub relu: bool,
}

/// Between which types a [`SmallConvert`] converts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SmallWay {
    /// From two numbers of single precision: the upper one, the lower one.
    FromSingles(Operand, Operand),
    /// From a packed type.
    FromPacked(Operand, FloatTy),
    /// To a packed type.
    ToPacked(Operand, FloatTy),
}

impl SmallTy {
    /// Bits of the exponent and of the fraction.
    pub const fn shape(self) -> (u32, u32) {
        match self {
            Self::E4m3 => (4, 3),
            Self::E5m2 => (5, 2),
            Self::E2m1 => (2, 1),
            Self::E2m3 => (2, 3),
            Self::E3m2 => (3, 2),
        }
    }

    /// Bits that each number takes in a register: four numbers fit 16 bits only of the smallest type.
    pub const fn place_bits(self) -> u32 {
        match self {
            Self::E2m1 => 4,
            _ => 8,
        }
    }
}

impl SmallConvert {
    /// What is read.
    pub fn sources(&self) -> impl Iterator<Item = Operand> {
        let (first, second) = match self.way {
            SmallWay::FromSingles(upper, lower) => (upper, Some(lower)),
            SmallWay::FromPacked(src, _) | SmallWay::ToPacked(src, _) => (src, None),
        };
        std::iter::once(first).chain(second)
    }
}
