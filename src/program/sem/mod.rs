//! What instructions do, independent of the language they were written in.
//!
//! Front ends lower to this; `exec` interprets it. Values live in 64-bit lanes, zero-extended from
//! the width of their register; an operation reads as many low bits as its type says and its
//! result is cut to the width of the destination register. Immediates are already bits of the
//! operation's type. Variables are already addresses (see [`super::layout`]).

mod atomic;
mod image;
mod matrix;
mod mbarrier;
mod ops;
mod registers;
mod small;
mod video;

pub use atomic::{Atomic, AtomicPart};
pub use image::*;
pub use matrix::{
    Fragment, Matrix, MatrixBlock, MatrixRole, MatrixRows, MatrixTy, Product, RegisterFragment,
};
pub use mbarrier::*;
pub use ops::*;
pub use registers::Registers;
pub use small::*;
pub use video::*;

use super::Guard;
use crate::base::{Pc, RegId};
use crate::isa::Space;

/// The meaning of one instruction.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "fields are named as PTX names operands")]
pub enum Sem {
    /// Micro kernels: there is timing and nothing else.
    None,
    /// Traces of other tools: there is timing, and for accesses to memory a width.
    Traced(Option<TracedAccess>),
    /// Executes without effect on values: fences, prefetches.
    Nop,
    /// `nanosleep`: suspends for a time between zero and twice this many nanoseconds.
    Sleep { time: Operand },
    /// `dst = src`, bit by bit.
    Mov { dst: RegId, src: Operand },
    /// Every destination gets its source, bit by bit; all sources are read before.
    Moves(Vec<(RegId, Operand)>),
    /// Integer and bit operations.
    Int { op: IntOp, ty: IntTy, dst: RegId, src: [Operand; 4], carry: Carry, saturate: bool },
    /// Floating-point arithmetic; unused sources are immediates 0.
    Float { op: FloatOp, ty: FloatTy, mode: FloatMode, dst: RegId, src: [Operand; 3] },
    /// As `Float` in single precision, of which the first source, of `Fma` the first two, are of a narrower type that is
    /// widened exactly.
    MixedFloat { op: FloatOp, from: FloatTy, mode: FloatMode, dst: RegId, src: [Operand; 3] },
    /// Rounds single precision to the eleven significant bits of TF32.
    ToTf32 { dst: RegId, src: Operand, mode: Tf32Mode },
    /// Arithmetic on bytes, halves and words.
    Video(Box<Video>),
    /// `testp`: classifies a float.
    TestFloat { test: FloatTest, ty: FloatTy, dst: RegId, src: Operand },
    /// Logic on predicates; `b` is ignored by the unary ones.
    PredLogic { op: PredOp, dst: RegId, a: PredSrc, b: PredSrc },
    /// Comparison into one or two predicates, or a register.
    Compare(Box<Compare>),
    /// `dst = p ? a : b`.
    Select { dst: RegId, a: Operand, b: Operand, p: PredSrc },
    /// `slct`: `dst = c >= 0 ? a : b`; `c` is `s32` or `f32`.
    SelectSign { dst: RegId, a: Operand, b: Operand, c: Operand, float: bool, ftz: bool },
    /// `lop3` with a predicate.
    Lop3Pred(Box<Lop3Pred>),
    /// Conversion between types.
    Convert(Box<Convert>),
    /// Conversion to or from numbers of 8 bits and fewer.
    SmallConvert(Box<SmallConvert>),
    /// `dst = {parts}`, part 0 in the low bits; `bits` per part.
    Pack { dst: RegId, parts: Vec<Operand>, bits: u8 },
    /// `{parts} = src`; `None` for `_`.
    Unpack { dsts: Vec<Option<RegId>>, src: Operand, bits: u8 },
    /// Whether a generic address lies in a space's window.
    IsSpace { dst: RegId, space: Space, src: Operand },

    /// `{dsts} = [addr]`; values are extended (by sign if `ty` is signed) to the register's width.
    Load { space: Space, ty: IntTy, dsts: Vec<Option<RegId>>, addr: Address },
    /// `[addr] = {srcs}`.
    Store { space: Space, bits: u8, srcs: Vec<Operand>, addr: Address },
    /// Atomic read-modify-write; `dst` gets the old value.
    Atomic(Box<Atomic>),
    /// A fetch from a texture.
    Fetch(Box<Fetch>),
    /// A load from or store to a surface.
    Surface(Box<SurfaceAccess>),
    /// A property of a texture or surface.
    ImageQuery(Box<ImageQuery>),
    /// `cp.async`: copies `bytes` (4, 8, 16) from global to shared memory, of which only the first
    /// `src_bytes` are read, the rest is zero.
    AsyncCopy { bytes: u8, dst: Address, src: Address, src_bytes: Option<Operand> },
    /// Closes the warp's current group of asynchronous copies.
    AsyncCommit,
    /// Waits until at most `pending` closed groups are in flight; `all` closes the current one first.
    AsyncWait { pending: u32, all: bool },

    /// Exchange of values between the lanes of a warp.
    Shuffle(Box<Shuffle>),
    /// Vote of the lanes; `dst` is a predicate, or a mask for `Ballot`.
    Vote { mode: VoteMode, dst: RegId, p: PredSrc, members: Option<Operand> },
    /// The mask of active lanes.
    ActiveMask { dst: RegId },
    /// `match`: lanes with equal values; `all` sets `pred` and gives the mask only if all agree.
    Match { all: bool, bits: u8, dst: RegId, pred: Option<RegId>, src: Operand, members: Operand },
    /// `redux`: reduction over the lanes of the member mask.
    Reduce { op: IntOp, ty: IntTy, dst: RegId, src: Operand, members: Operand },
    /// `redux` of single precision: the largest or smallest number, or magnitude, of the lanes of the member mask. With `nan`
    /// the result is NaN if any of them is.
    ReduceFloat { largest: bool, magnitude: bool, nan: bool, dst: RegId, src: Operand, members: Operand },
    /// Products, loads and stores of matrices that the lanes of a warp hold together.
    Matrix(Box<Matrix>),
    /// Reconvergence of the member lanes within a warp (`bar.warp.sync`); effect on values: none.
    WarpSync { members: Operand },

    /// Barrier of the block.
    Barrier(Box<Barrier>),
    /// An operation on an mbarrier object.
    Mbarrier(Box<Mbarrier>),
    /// Branch of the lanes whose guard holds.
    Branch { target: Pc, reconverge: Option<Pc> },
    /// Branch through a table (`brx.idx`).
    BranchTable { targets: Vec<Pc>, index: Operand, reconverge: Option<Pc> },
    /// SSY and PBK: opens a region of code in which lanes may diverge; they rejoin at `join`.
    OpenRegion { region: Region, join: Pc },
    /// SYNC and BRK: the lanes have come to the end of the innermost region of this kind.
    CloseRegion { region: Region },
    /// Call of a function.
    Call(Box<Call>),
    /// Call of the functions whose addresses the lanes hold.
    CallPointer(Box<PointerCall>),
    /// Return from a function.
    Return,
    /// The lanes end.
    Exit,
    /// The kernel gives up; an error of the kernel.
    Trap { message: String },
}

/// A kind of divergent region, by the instructions that delimit it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Region {
    /// SSY to SYNC: around an if or a switch.
    Sync,
    /// PBK to BRK: around a loop.
    Break,
    /// PCNT to CONT: around the body of a loop.
    Continue,
}

/// A source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// A register.
    Reg(RegId),
    /// Bits of the operation's type.
    Imm(u64),
    /// A special register.
    Special(Special),
}

/// A source of a predicate operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PredSrc {
    /// A predicate register, possibly negated.
    Reg(Guard),
    /// A constant.
    Const(bool),
}

/// Read-only registers of the hardware. Axes are 0, 1, 2 for x, y, z.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "named as in PTX")]
pub enum Special {
    Tid(u8),
    Ntid(u8),
    Ctaid(u8),
    Nctaid(u8),
    LaneId,
    WarpId,
    NumWarps,
    SmId,
    NumSms,
    GridId,
    LaneMaskEq,
    LaneMaskLt,
    LaneMaskLe,
    LaneMaskGt,
    LaneMaskGe,
    /// Instructions this warp has executed: there is no time in a functional run.
    Clock,
    /// The upper half of that number, which is 0.
    ClockHigh,
    DynamicSharedBytes,
    TotalSharedBytes,
    /// 32 bits of the kernel's parameters, at so many bytes.
    Param(u32),
    /// 32 bits of constant memory, at so many bytes.
    Const(u32),
    /// So many bytes beyond the beginning of the running function's frame in local memory. It is no
    /// register of the language, and nothing has to wait for it.
    Frame(u64),
    /// An element of an array, by an index in a register: `base + ((index + plus) << shift)`. What is shifted has the width of
    /// the register, and no sign.
    #[allow(missing_docs, reason = "the formula says it")]
    Element {
        index: RegId,
        plus: u32,
        shift: u8,
        base: u64,
    },
}

impl Special {
    /// Whether it tells the time, so that its value differs from run to run.
    pub fn tells_time(self) -> bool {
        matches!(self, Self::Clock | Self::ClockHigh)
    }

    /// Whether its value is up to the placement of blocks and warps on the hardware, or to the driver.
    pub fn tells_place(self) -> bool {
        matches!(self, Self::SmId | Self::NumSms | Self::WarpId | Self::NumWarps | Self::GridId)
    }
}

/// An integer type. Untyped bits count as unsigned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IntTy {
    /// 8, 16, 32 or 64.
    pub bits: u8,
    /// Two's complement.
    pub signed: bool,
}

/// A floating-point type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "named as in PTX")]
pub enum FloatTy {
    F16,
    /// Two halves in 32 bits, each computed on its own.
    F16x2,
    /// bfloat16: the upper half of single precision.
    Bf16,
    /// Two of them in 32 bits, each computed on its own.
    Bf16x2,
    F32,
    /// Two numbers of single precision in 64 bits, each computed on its own.
    F32x2,
    F64,
}

/// What a comparison or conversion works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "self-explanatory")]
pub enum ValueTy {
    Int(IntTy),
    Float(FloatTy),
}

/// A comparison: `t = a cmp b`; `dst = t op p`, `dst_not = !t op p`.
#[derive(Clone, Debug, PartialEq)]
pub struct Compare {
    /// The relation.
    pub cmp: Cmp,
    /// Type of the sources.
    pub ty: ValueTy,
    /// Subnormal sources count as zero.
    pub ftz: bool,
    /// First source.
    pub a: Operand,
    /// Second source.
    pub b: Operand,
    /// Combination with a predicate.
    pub combine: Option<(PredOp, PredSrc)>,
    /// Where the result goes.
    pub into: CompareInto,
}

/// Destinations of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompareInto {
    /// `setp`: a predicate and, optionally, its complement (before the combination), for packed
    /// sources one of the lower half and one of the upper; `None` for `_`.
    Preds(Option<RegId>, Option<RegId>),
    /// `set` with an integer destination: all ones or zero; for packed sources in each half.
    Ones(RegId),
    /// `set` with a floating-point destination: 1.0 or 0.0; for packed sources in each half.
    Float(RegId, FloatTy),
}

impl FloatTy {
    /// The type of each half of a packed one.
    pub const fn half(self) -> Option<Self> {
        match self {
            Self::F16x2 => Some(Self::F16),
            Self::Bf16x2 => Some(Self::Bf16),
            Self::F32x2 => Some(Self::F32),
            _ => None,
        }
    }

    /// The bits of 1.0, for packed types in each half.
    pub const fn one(self) -> u64 {
        match self {
            Self::F16 => 0x3c00,
            Self::F16x2 => 0x3c00_3c00,
            Self::Bf16 => 0x3f80,
            Self::Bf16x2 => 0x3f80_3f80,
            Self::F32 => 0x3f80_0000,
            Self::F32x2 => 0x3f80_0000_3f80_0000,
            Self::F64 => 0x3ff0_0000_0000_0000,
        }
    }
}

/// A conversion. `cvt.pack`-like forms with two sources put `src2` in the low half.
#[derive(Clone, Debug, PartialEq)]
pub struct Convert {
    /// Destination register.
    pub dst: RegId,
    /// Source; the upper half of a packed result.
    pub src: Operand,
    /// Lower half of a packed `f16x2` result.
    pub src2: Option<Operand>,
    /// Source type.
    pub from: ValueTy,
    /// Result type.
    pub to: ValueTy,
    /// Rounding.
    pub round: Round,
    /// Rounds to an integral value in the floating-point type (`.rni` and its like), also when
    /// source and destination type are the same.
    pub integral: bool,
    /// Clamps to the range of the result: [0, 1] for floats, the integer range for integers.
    pub sat: bool,
    /// Subnormal f32 sources and results become zero.
    pub ftz: bool,
    /// Negative results become 0; NaN stays the canonical NaN.
    pub relu: bool,
    /// What is beyond the largest finite number becomes that.
    pub finite: bool,
}

/// `dst = table(src)`; `pred = (dst != 0) op with`.
#[derive(Clone, Debug, PartialEq)]
pub struct Lop3Pred {
    /// Truth table, as of [`IntOp::Lop3`].
    pub table: u8,
    /// Sources.
    pub src: [Operand; 3],
    /// The word, if it is wanted.
    pub dst: Option<RegId>,
    /// The predicate, if it is wanted.
    pub pred: Option<RegId>,
    /// How the predicate is combined.
    pub op: PredOp,
    /// With which one.
    pub with: PredSrc,
}

/// `base + offset`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    /// A register, or the address of a variable.
    pub base: Operand,
    /// Bytes.
    pub offset: i64,
}

/// A shuffle.
#[derive(Clone, Debug, PartialEq)]
pub struct Shuffle {
    /// Which lane to read.
    pub mode: ShuffleMode,
    /// Destination.
    pub dst: RegId,
    /// Whether the source lane was in range.
    pub pred: Option<RegId>,
    /// The value offered.
    pub a: Operand,
    /// Lane or distance.
    pub b: Operand,
    /// Clamp and segment mask.
    pub c: Operand,
    /// Lanes that take part; `None` before `.sync`.
    pub members: Option<Operand>,
}

/// A barrier of the block.
#[derive(Clone, Debug, PartialEq)]
pub struct Barrier {
    /// What happens at it.
    pub kind: BarrierKind,
    /// Which barrier resource.
    pub id: Operand,
    /// Threads that take part; `None` for all of the block.
    pub threads: Option<Operand>,
    /// All lanes of the warp must be there together.
    pub aligned: bool,
}

/// What happens at a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BarrierKind {
    /// Wait.
    Sync,
    /// Count in, do not wait.
    Arrive,
    /// Wait; `dst` is the conjunction of all threads' predicates.
    And(RegId, PredSrc),
    /// Wait; `dst` is the disjunction.
    Or(RegId, PredSrc),
    /// Wait; `dst` is the number of threads whose predicate holds.
    Popc(RegId, PredSrc),
}

/// A call.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// First instruction of the function.
    pub target: Pc,
    /// Its number in [`super::Program::functions`].
    pub function: u32,
    /// Arguments to formals, done at the call.
    pub pass: Vec<Transfer>,
    /// Results back to the caller's places, done at the return.
    pub give_back: Vec<Transfer>,
}

/// A call through a pointer. The function must take and give as many values of just these sizes.
#[derive(Clone, Debug, PartialEq)]
pub struct PointerCall {
    /// The address of the function.
    pub pointer: Operand,
    /// The addresses that it may have; nothing if any function will do.
    pub targets: Option<Vec<u64>>,
    /// The caller's places of the arguments, and bytes.
    pub args: Vec<(ArgLocation, u32)>,
    /// The caller's places of the results, `None` for what nobody wants, and bytes.
    pub results: Vec<(Option<ArgLocation>, u32)>,
}

/// Moves bits between places, per lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// From here.
    pub from: ArgLocation,
    /// To here; never an immediate.
    pub to: ArgLocation,
    /// Bytes; at most 8 if a register takes part.
    pub bytes: u32,
}

/// Where an argument or result is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgLocation {
    /// Offset in the thread's local memory, where parameters of functions live.
    Local(u64),
    /// Offset in the frame of a function that has one: the caller's or the callee's, whose place it
    /// is.
    Frame(u64),
    /// A register.
    Reg(RegId),
    /// A constant.
    Imm(u64),
}

/// What a trace tells of an access to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TracedAccess {
    /// Where it goes, as the opcode says it.
    pub space: Space,
    /// Bytes that each lane accesses.
    pub bytes: u8,
    /// Of an atomic operation, the register of the address.
    pub atomic: Option<RegId>,
}

impl Sem {
    /// Space of a load, store or atomic, and the bytes each lane accesses. Texels lie in global memory;
    /// how many bytes of them a fetch reads is up to the texture, at most 16 for each of 8 texels.
    pub fn access(&self) -> Option<(Space, usize)> {
        match self {
            Self::Load { space, ty, dsts, .. } => Some((*space, usize::from(ty.bits / 8) * dsts.len())),
            Self::Store { space, bits, srcs, .. } => Some((*space, usize::from(bits / 8) * srcs.len())),
            Self::Atomic(atomic) => Some((atomic.space, atomic.bytes())),
            Self::Matrix(matrix) => matrix.access(),
            Self::Traced(access) => access.map(|access| (access.space, usize::from(access.bytes))),
            Self::Fetch(_) => Some((Space::Global, 128)),
            Self::Surface(access) => Some((Space::Global, access.size())),
            _ => None,
        }
    }
}

impl ValueTy {
    /// Its size in memory.
    pub const fn bytes(self) -> usize {
        match self {
            Self::Int(ty) => (ty.bits / 8) as usize,
            Self::Float(FloatTy::F16 | FloatTy::Bf16) => 2,
            Self::Float(FloatTy::F16x2 | FloatTy::Bf16x2 | FloatTy::F32) => 4,
            Self::Float(FloatTy::F64 | FloatTy::F32x2) => 8,
        }
    }
}

impl Operand {
    /// The register that is read, if one is.
    pub fn reg(self) -> Option<RegId> {
        match self {
            Self::Reg(reg) | Self::Special(Special::Element { index: reg, .. }) => Some(reg),
            Self::Imm(_) | Self::Special(_) => None,
        }
    }
}

impl PredSrc {
    /// The register, if it is one.
    pub fn reg(self) -> Option<RegId> {
        match self {
            Self::Reg(guard) => Some(guard.reg),
            Self::Const(_) => None,
        }
    }
}
