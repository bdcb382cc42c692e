//! The operations of instructions. Sources are in the order of PTX.

use crate::base::RegId;

/// An integer operation; sources are in the order of PTX.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "named as in PTX")]
pub enum IntOp {
    Add,
    Sub,
    MulLo,
    MulHi,
    /// The result is twice as wide as the sources.
    MulWide,
    MadLo,
    MadHi,
    /// `c` and the result are twice as wide as `a` and `b`.
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
    /// 1 if the source is zero, else 0.
    Cnot,
    /// Shift amounts beyond the width yield 0 (or the sign).
    Shl,
    Shr,
    /// Left funnel shift of `b:a`; the amount wraps at 32 or is clamped to 32.
    FunnelLeft {
        wrap: bool,
    },
    /// Right funnel shift of `b:a`.
    FunnelRight {
        wrap: bool,
    },
    /// Any function of three bits, given by its truth table.
    Lop3(u8),
    Popc,
    Clz,
    /// The position of the most significant bit, or the distance by which to shift it to the top.
    Bfind {
        shift_amount: bool,
    },
    Brev,
    /// Extracts a bit field; the sources are `a`, position and length.
    Bfe,
    /// `mbarrier.pending_count`: the pending arrivals in the state `a` of an mbarrier object.
    PendingCount,
    /// Inserts `a` into `b`; the other sources are position and length.
    Bfi,
    /// Permutes the bytes of `b:a` by the selector `c`.
    Prmt(PrmtMode),
    /// `b` ones from position `a` on; both wrap at 32 or are clamped to 32.
    Bmsk {
        wrap: bool,
    },
    /// The low `b` bits of `a`, extended; `b` wraps at 32 or is clamped to 32.
    Szext {
        wrap: bool,
    },
    /// The position of the `c`-th set bit of `a` from `b` on.
    Fns,
    /// The XMAD instruction of machine code.
    Xmad(Xmad),
    /// The sum, minimum or maximum of the lower halves and that of the upper halves; `relu`
    /// replaces negative results by 0.
    Halves {
        op: HalvesOp,
        relu: bool,
    },
    /// `Min` and `Max` with negative results replaced by 0.
    MinRelu,
    MaxRelu,
    /// `cvt.pack`: clamps `a` and `b` to `bits` bits, and packs `b` into the lowest bits, `a` above
    /// it and the low bits of `c` above both. The operation's type determines the sign of the
    /// clamped numbers.
    PackClamped {
        bits: u8,
    },
    /// Four-way byte dot product; the fields state whether `a` and `b` are signed.
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

/// The operation of [`IntOp::Halves`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "named as in PTX")]
pub enum HalvesOp {
    Add,
    Min,
    Max,
}

/// A product of two halves plus an addend, the building block of integer multiplication in machine
/// code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Xmad {
    /// The flags of the multiplication.
    pub flags: XmadFlags,
    /// The part of `c` that is added.
    pub addend: Addend,
}

bitflags::bitflags! {
    /// The flags of an [`Xmad`].
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct XmadFlags: u8 {
        /// The first factor is an upper half.
        const UPPER_A = 1;
        /// The second factor is an upper half.
        const UPPER_B = 2;
        /// The first factor is signed.
        const SIGNED_A = 4;
        /// The second factor is signed.
        const SIGNED_B = 8;
        /// The product is shifted to the upper half (`PSL`).
        const SHIFT = 16;
        /// The upper half of the result is the lower half of `b` (`MRG`).
        const MERGE = 32;
    }
}

impl Xmad {
    /// Computes the product of the halves plus the addend modulo 2^32. It has no branches on
    /// values, so that it can be vectorised over the lanes.
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

/// The addend that an [`Xmad`] derives from its third source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Addend {
    /// The whole source.
    #[default]
    Whole,
    /// The lower half (`CLO`).
    Lower,
    /// The upper half (`CHI`).
    Upper,
    /// The whole source plus the lower half of `b` shifted to the upper half (`CBCC`).
    WithB,
    /// The whole source minus a correction (`CSFU`): 2^16 for each of `a` and `b` that is negative,
    /// if the lower half of the other one is not zero. A signed product of words contains the upper
    /// half of the sum of two middle products. If these are summed as unsigned numbers, the carries
    /// out of the sum are wrong, and this term corrects them. The behaviour of hardware is inferred
    /// from the code that compilers generate for such products.
    Corrected,
}

/// The modes of `prmt`.
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

/// The use of the carry flag, which is a predicate register.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Carry {
    /// The carry that is added; a subtraction borrows if it is clear.
    pub read: Option<RegId>,
    /// The carry that the result sets.
    pub write: Option<RegId>,
}

/// A floating-point operation; sources are in the order of PTX.
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
    /// The minimum of three numbers.
    Min3,
    /// The maximum of three numbers.
    Max3,
    /// The magnitude of `b` with the sign of `a`.
    Copysign,
}

/// The rounding of a floating-point operation and its treatment of subnormals and NaN.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FloatMode {
    /// The rounding direction.
    pub round: Round,
    /// Whether subnormal sources and results become zeros of the same sign (f32, f16).
    pub ftz: bool,
    /// Whether the result is clamped to [0, 1] and NaN becomes 0.
    pub sat: bool,
    /// Whether it is an approximate variant (`.approx`), whose error PTX documents.
    pub approx: bool,
    /// Whether `min` and `max` return NaN if either source is NaN.
    pub nan: bool,
    /// Whether negative results become 0; NaN stays the canonical NaN (`.relu`, half precision).
    pub relu: bool,
    /// Whether `min` and `max` compare the magnitudes of the sources.
    pub magnitude: bool,
    /// Whether the result of `min` and `max` has the product of the sources' signs.
    pub sign_product: bool,
}

/// How a number is rounded to TF32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tf32Mode {
    /// The rounding direction; `None` is to nearest, ties away from zero.
    pub round: Option<Round>,
    /// Whether negative results become 0.
    pub relu: bool,
    /// Whether overflow yields the largest finite number.
    pub finite: bool,
}

/// An IEEE 754 rounding direction.
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

/// The property that `testp` tests.
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

/// An operation on predicates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "named as in PTX")]
pub enum PredOp {
    Mov,
    Not,
    And,
    Or,
    Xor,
}

/// A relation. The `U` forms are true if either source is NaN. Front ends lower the unsigned
/// relations of PTX (`lo` to `hs`) to `Lt` to `Ge` of an unsigned type.
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
    /// Both sources are numbers.
    Num,
    /// Either source is NaN.
    Nan,
}

/// An atomic operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "named as in PTX")]
pub enum AtomOp {
    Add,
    Min,
    Max,
    /// Increments and wraps to 0 at `b`.
    Inc,
    /// Decrements and wraps from 0 to `b`.
    Dec,
    And,
    Or,
    Xor,
    Exch,
    Cas,
}

/// The modes of `shfl`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "named as in PTX")]
pub enum ShuffleMode {
    Up,
    Down,
    Bfly,
    Idx,
}

/// The modes of `vote`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "named as in PTX")]
pub enum VoteMode {
    All,
    Any,
    Uni,
    Ballot,
}
