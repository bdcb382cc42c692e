//! Video instructions: integer arithmetic on bytes, halves and words of 32-bit registers.
//!
//! The scalar ones pick a part of each source, compute once, and combine the result with a third
//! source or merge it into a part of that. The packed ones compute on two halves or four bytes at
//! once, each picked from eight bytes `b:a`.

use super::{Cmp, Operand};
use crate::base::RegId;

/// A video instruction.
#[derive(Clone, Debug, PartialEq)]
pub struct Video {
    /// What is computed.
    pub op: VideoOp,
    /// Destination, 32 bits.
    pub dst: RegId,
    /// First source, 32 bits.
    pub a: Operand,
    /// Second source, 32 bits.
    pub b: Operand,
    /// What the result is combined with or merged into; 0 where there is nothing.
    pub c: Operand,
    /// Whether parts of `a` are signed.
    pub a_signed: bool,
    /// Whether parts of `b` are signed.
    pub b_signed: bool,
    /// Whether the result is.
    pub signed: bool,
    /// Clamps each result to the range of the part it goes to.
    pub saturate: bool,
    /// One result, or several side by side.
    pub shape: VideoShape,
}

/// What a video instruction computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VideoOp {
    /// `a + b`.
    Add,
    /// `a - b`.
    Sub,
    /// The average, rounded up from a half where it is not negative, down where it is.
    Average,
    /// `|a - b|`.
    AbsDiff,
    /// The smaller one.
    Min,
    /// The larger one.
    Max,
    /// `a << b`; an amount beyond 32 wraps or counts as 32.
    Shl {
        /// At 32.
        wrap: bool,
    },
    /// `a >> b`.
    Shr {
        /// At 32.
        wrap: bool,
    },
    /// 1 where the relation holds, else 0.
    Set(Cmp),
    /// `(a * b + c) >> shift`; see [`VideoMad`].
    Mad(VideoMad),
}

/// What `vmad` does besides `a * b + c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VideoMad {
    /// The product is negated.
    pub negate_product: bool,
    /// `c` is negated.
    pub negate_c: bool,
    /// One more is added (`.po`).
    pub plus_one: bool,
    /// The sum is shifted to the right by so much: 0, 7 or 15.
    pub shift: u32,
}

/// Which parts a video instruction computes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VideoShape {
    /// One part of each source; the result is dealt with as `then` says.
    Scalar {
        /// Part of `a`.
        a: Part,
        /// Part of `b`.
        b: Part,
        /// What becomes of the result.
        then: Then,
    },
    /// `lanes` parts (2 halves or 4 bytes); entries beyond that mean nothing.
    Packed {
        /// 2 or 4.
        lanes: u8,
        /// By result: the part of `b:a` that is its first source.
        a: [u8; 4],
        /// By result: the part of `b:a` that is its second source.
        b: [u8; 4],
        /// Bit i: result i counts; the others are those of `c`, or left out of the sum.
        mask: u8,
        /// The results are added to `c` instead of merged into it.
        sum: bool,
    },
}

/// A part of 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// All of it.
    Word,
    /// The half with this number.
    Half(u8),
    /// The byte with this number.
    Byte(u8),
}

/// What becomes of the result of a scalar video instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// It is the result.
    Keep,
    /// `c` is added.
    Add,
    /// The smaller of it and `c`.
    Min,
    /// The larger of it and `c`.
    Max,
    /// It replaces this part of `c`.
    Merge(Part),
}
