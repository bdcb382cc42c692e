//! Video instructions: integer arithmetic on bytes, halves and words of 32-bit registers.
//!
//! A scalar instruction selects a part of each source, performs one operation, and combines the
//! result with a third source or merges it into a part of that source. A packed instruction
//! operates on two halves or four bytes at once, each selected from the eight bytes `b:a`.

use super::{Cmp, Operand};
use crate::base::RegId;

/// A video instruction.
#[derive(Clone, Debug, PartialEq)]
pub struct Video {
    /// The operation.
    pub op: VideoOp,
    /// The destination, 32 bits.
    pub dst: RegId,
    /// The first source, 32 bits.
    pub a: Operand,
    /// The second source, 32 bits.
    pub b: Operand,
    /// The value that the result is combined with or merged into, or 0.
    pub c: Operand,
    /// Whether parts of `a` are signed.
    pub a_signed: bool,
    /// Whether parts of `b` are signed.
    pub b_signed: bool,
    /// Whether the result is signed.
    pub signed: bool,
    /// Whether each result is clamped to the range of its destination part.
    pub saturate: bool,
    /// Whether there is one result or several packed ones.
    pub shape: VideoShape,
}

/// The operation of a video instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VideoOp {
    /// `a + b`.
    Add,
    /// `a - b`.
    Sub,
    /// The average; a half is rounded up if it is not negative, and down if it is.
    Average,
    /// `|a - b|`.
    AbsDiff,
    /// The minimum.
    Min,
    /// The maximum.
    Max,
    /// `a << b`; an amount beyond 32 wraps or is clamped to 32.
    Shl {
        /// Whether the amount wraps at 32.
        wrap: bool,
    },
    /// `a >> b`.
    Shr {
        /// Whether the amount wraps at 32.
        wrap: bool,
    },
    /// 1 if the relation holds, else 0.
    Set(Cmp),
    /// `(a * b + c) >> shift`; see [`VideoMad`].
    Mad(VideoMad),
}

/// The modifiers of `vmad`, which computes `a * b + c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VideoMad {
    /// Whether the product is negated.
    pub negate_product: bool,
    /// Whether `c` is negated.
    pub negate_c: bool,
    /// Whether 1 is added (`.po`).
    pub plus_one: bool,
    /// The distance by which the sum is shifted to the right: 0, 7 or 15.
    pub shift: u32,
}

/// The parts that a video instruction operates on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VideoShape {
    /// One part of each source; `then` states the use of the result.
    Scalar {
        /// The part of `a`.
        a: Part,
        /// The part of `b`.
        b: Part,
        /// The use of the result.
        then: Then,
    },
    /// `lanes` parts (2 halves or 4 bytes); further entries of the arrays are unused.
    Packed {
        /// The number of parts: 2 or 4.
        lanes: u8,
        /// For each result, the part of `b:a` that is its first source.
        a: [u8; 4],
        /// For each result, the part of `b:a` that is its second source.
        b: [u8; 4],
        /// The results that are used, one bit each. The others are taken from `c`, or omitted from
        /// the sum.
        mask: u8,
        /// Whether the results are added to `c` rather than merged into it.
        sum: bool,
    },
}

/// A part of a 32-bit register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The whole register.
    Word,
    /// The half with this number.
    Half(u8),
    /// The byte with this number.
    Byte(u8),
}

/// The use of the result of a scalar video instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// The result is written as it is.
    Keep,
    /// The result is added to `c`.
    Add,
    /// The minimum of the result and `c`.
    Min,
    /// The maximum of the result and `c`.
    Max,
    /// The result replaces this part of `c`.
    Merge(Part),
}
