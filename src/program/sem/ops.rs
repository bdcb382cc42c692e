//! What operations there are; sources in PTX order.

use crate::base::RegId;

/// Integer operations; sources in PTX order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "named as in PTX")]
pub enum IntOp {
    Add,
    Sub,
    MulLo,
    MulHi,
    /// Result twice as wide as the sources.
    MulWide,
    MadLo,
    MadHi,
    /// `c` and result twice as wide as `a` and `b`.
    MadWide,
    Mul24Lo,
    Mul24Hi,
    Mad24Lo,
    Mad24Hi,
    Sad,
    Div,
    Rem,
    Abs,
    Neg,
    Min,
    Max,
    And,
    Or,
    Xor,
    Not,
    /// 1 if zero, else 0.
    Cnot,
    /// Shift amounts beyond the width give 0 (or the sign).
    Shl,
    Shr,
    /// Funnel shift of `b:a` to the left; the amount wraps at 32 or is clamped to 32.
    FunnelLeft {
        wrap: bool,
    },
    /// Funnel shift of `b:a` to the right.
    FunnelRight {
        wrap: bool,
    },
    /// Any function of three bits, by truth table.
    Lop3(u8),
    Popc,
    Clz,
    /// Position of the highest significant bit, or how far to shift it to the top.
    Bfind {
        shift_amount: bool,
    },
    Brev,
    /// `a`, position, length.
    Bfe,
    /// `a` into `b` at position, length.
    Bfi,
    /// Byte permutation of `b:a` by selector `c`.
    Prmt(PrmtMode),
    /// `b` ones from position `a` on; both wrap at 32 or count as 32.
    Bmsk {
        wrap: bool,
    },
    /// The low `b` bits of `a`, extended; `b` wraps at 32 or counts as 32.
    Szext {
        wrap: bool,
    },
    /// Position of the c-th set bit of `a` from `b` on.
    Fns,
    /// XMAD of machine code.
    Xmad(Xmad),
    /// The sum, minimum or maximum of the lower halves, and that of the upper ones; `relu` makes what is negative 0.
    Halves {
        op: HalvesOp,
        relu: bool,
    },
    /// As `Min` and `Max`, and what is negative becomes 0.
    MinRelu,
    MaxRelu,
    /// `a` and `b` clamped to so many bits, `b` in the lowest bits, `a` above it, the low bits of `c` above both
    /// (`cvt.pack`). The type is that of the clamped numbers' sign.
    PackClamped {
        bits: u8,
    },
    /// Four-way byte dot product; signedness of `a` and `b`.
    Dp4a {
        a_signed: bool,
        b_signed: bool,
    },
    /// Two-way dot product of 16-bit and 8-bit parts.
    Dp2a {
        a_signed: bool,
        b_signed: bool,
        high: bool,
    },
}

/// What [`IntOp::Halves`] computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "named as in PTX")]
pub enum HalvesOp {
    Add,
    Min,
    Max,
}

/// Product of two halves and a sum: what machine code multiplies integers with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Xmad {
    /// How.
    pub flags: XmadFlags,
    /// What of `c` is added.
    pub addend: Addend,
}

bitflags::bitflags! {
    /// How an [`Xmad`] multiplies.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct XmadFlags: u8 {
        /// The first factor is an upper half.
        const UPPER_A = 1;
        /// The second one is.
        const UPPER_B = 2;
        /// The first factor has a sign.
        const SIGNED_A = 4;
        /// The second one has.
        const SIGNED_B = 8;
        /// The product goes to the upper half (`PSL`).
        const SHIFT = 16;
        /// The upper half of the result is the lower one of `b` (`MRG`).
        const MERGE = 32;
    }
}

impl Xmad {
    /// Product of halves and a sum, modulo 2^32. Written without branches on values, so that it runs on rows.
    #[inline(always)]
    pub fn of(self, a: u32, b: u32, c: u32) -> u32 {
        let has = |flag| self.flags.contains(flag);
        let half = |value: u32, upper: bool, signed: bool| {
            let half = if upper { value >> 16 } else { value & 0xffff };
            let sign = if signed { 0x8000 } else { 0 };
            (half ^ sign).wrapping_sub(sign)
        };
        let first = half(a, has(XmadFlags::UPPER_A), has(XmadFlags::SIGNED_A));
        let product = first.wrapping_mul(half(b, has(XmadFlags::UPPER_B), has(XmadFlags::SIGNED_B)));
        let addend = match self.addend {
            Addend::Whole => c,
            Addend::Lower => c & 0xffff,
            Addend::Upper => c >> 16,
            Addend::WithB => c.wrapping_add(b << 16),
            Addend::Corrected => {
                let correction = |sign: u32, other: u32| (sign >> 31 & u32::from(other & 0xffff != 0)) << 16;
                c.wrapping_sub(correction(a, b)).wrapping_sub(correction(b, a))
            }
        };
        let sum = (if has(XmadFlags::SHIFT) { product << 16 } else { product }).wrapping_add(addend);
        if has(XmadFlags::MERGE) { sum & 0xffff | b << 16 } else { sum }
    }
}

/// What of its third source an [`Xmad`] adds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Addend {
    /// All.
    #[default]
    Whole,
    /// The lower half (`CLO`).
    Lower,
    /// The upper half (`CHI`).
    Upper,
    /// All, and the lower half of `b` in the upper one (`CBCC`).
    WithB,
    /// All, less 2^16 for each of the whole factors that is negative while the other's lower half is not zero
    /// (`CSFU`): so many carries come out of the sum of the two middle products, whose upper half a signed product
    /// of words adds, if they are summed as if they had no signs. That hardware does just this is inferred from
    /// the code that compilers write for such products.
    Corrected,
}

/// Modes of `prmt`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "named as in PTX")]
pub enum PrmtMode {
    Default,
    F4e,
    B4e,
    Rc8,
    Ecl,
    Ecr,
    Rc16,
}

/// Use of the carry flag, itself a predicate register.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Carry {
    /// Added; a difference borrows if it is clear.
    pub read: Option<RegId>,
    /// Set from the result.
    pub write: Option<RegId>,
}

/// Floating-point operations; sources in PTX order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "named as in PTX")]
pub enum FloatOp {
    Add,
    Sub,
    Mul,
    Fma,
    Div,
    Rcp,
    Sqrt,
    Rsqrt,
    Sin,
    Cos,
    Ex2,
    Lg2,
    Tanh,
    Abs,
    Neg,
    Min,
    Max,
    /// Of three numbers.
    Min3,
    /// Of three numbers.
    Max3,
    /// Sign of `a` on the magnitude of `b`.
    Copysign,
}

/// How a floating-point operation rounds and what it does with subnormals and NaN.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FloatMode {
    /// Rounding.
    pub round: Round,
    /// Subnormal sources and results become zeros of the same sign (f32, f16).
    pub ftz: bool,
    /// Result clamped to [0, 1], NaN to 0.
    pub sat: bool,
    /// An approximate variant (`.approx`): PTX documents its error.
    pub approx: bool,
    /// `min`/`max` return NaN if either source is.
    pub nan: bool,
    /// Negative results become 0; NaN stays the canonical NaN (`.relu`, half precision).
    pub relu: bool,
    /// `min`/`max` of the magnitudes of the sources.
    pub magnitude: bool,
    /// Their result gets the product of the sources' signs.
    pub sign_product: bool,
}

/// How TF32 is rounded to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tf32Mode {
    /// The direction; nothing to nearest, ties away from zero.
    pub round: Option<Round>,
    /// Negative results become 0.
    pub relu: bool,
    /// What is beyond the largest finite number becomes that.
    pub finite: bool,
}

/// IEEE rounding directions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Round {
    /// To nearest, ties to even.
    #[default]
    Nearest,
    /// Towards zero.
    Zero,
    /// Towards minus infinity.
    Down,
    /// Towards plus infinity.
    Up,
}

/// What `testp` asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "named as in PTX")]
pub enum FloatTest {
    Finite,
    Infinite,
    Number,
    NotANumber,
    Normal,
    Subnormal,
}

/// Operations on predicates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "named as in PTX")]
pub enum PredOp {
    Mov,
    Not,
    And,
    Or,
    Xor,
}

/// Relations. The `U` forms are true if either source is NaN. `Lo` to `Hs` are unsigned; front
/// ends lower them to `Lt` to `Ge` of an unsigned type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "named as in PTX")]
pub enum Cmp {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Equ,
    Neu,
    Ltu,
    Leu,
    Gtu,
    Geu,
    /// Both are numbers.
    Num,
    /// Either is NaN.
    Nan,
}

/// Atomic operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "named as in PTX")]
pub enum AtomOp {
    Add,
    Min,
    Max,
    /// Wraps to 0 at `b`.
    Inc,
    /// Wraps to `b` at 0.
    Dec,
    And,
    Or,
    Xor,
    Exch,
    Cas,
}

/// Modes of `shfl`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "named as in PTX")]
pub enum ShuffleMode {
    Up,
    Down,
    Bfly,
    Idx,
}

/// Modes of `vote`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "named as in PTX")]
pub enum VoteMode {
    All,
    Any,
    Uni,
    Ballot,
}
