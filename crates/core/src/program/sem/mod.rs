//! The semantics of instructions, independent of the source language.
//!
//! Front ends lower instructions to these types, and `exec` interprets them. Values are stored in
//! 64-bit lanes, zero-extended from the width of their register. An operation reads as many low
//! bits as its type has, and truncates its result to the width of the destination register.
//! Immediates are bits of the operation's type, and variables are addresses (see
//! [`super::layout`]).

mod atomic;
mod bulk;
mod cluster;
mod fragment;
mod groups;
mod image;
mod matrix;
mod mbarrier;
mod ops;
mod registers;
mod small;
mod video;
mod warpgroup;

pub use atomic::{Atomic, AtomicPart};
pub use bulk::{Bulk, BulkCopy, BulkStore, TensorCopy};
pub use cluster::ClusterOp;
pub use fragment::{Fragment, MatrixRole, MatrixTy, RegisterFragment};
pub use groups::{exchange, jump, lanewise, memory, no_effect, straight, ungrouped};
pub use image::*;
pub use matrix::{Matrix, MatrixBlock, MatrixRows, Product};
pub use mbarrier::*;
pub use ops::*;
pub use registers::Registers;
pub use small::*;
pub use video::*;
pub use warpgroup::{GroupFactor, GroupProduct, SharedFactor};

use super::Guard;
use crate::base::{Pc, RegId};
use crate::isa::Space;

/// The semantics of one instruction.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "fields are named as PTX names operands")]
pub enum Sem {
    /// No semantics: an instruction of a micro kernel, which has only timing.
    None,
    /// An instruction of a trace of another tool, which has only timing and, for a memory access, a
    /// width.
    Traced(Option<TracedAccess>),
    /// No effect on values: fences and prefetches.
    Nop,
    /// `nanosleep`: suspends for between zero and twice this number of nanoseconds.
    Sleep { time: Operand },
    /// `dst = src` (bitwise).
    Mov { dst: RegId, src: Operand },
    /// Several bitwise moves, which read all sources before they write.
    Moves(Vec<(RegId, Operand)>),
    /// An integer or bit operation.
    Int { op: IntOp, ty: IntTy, dst: RegId, src: [Operand; 4], carry: Carry, saturate: bool },
    /// A floating-point operation; unused sources are immediates 0.
    Float { op: FloatOp, ty: FloatTy, mode: FloatMode, dst: RegId, src: [Operand; 3] },
    /// Like `Float` in single precision, except that the first source (for `Fma`, the first two)
    /// has a narrower type and is widened exactly.
    MixedFloat { op: FloatOp, from: FloatTy, mode: FloatMode, dst: RegId, src: [Operand; 3] },
    /// Rounds single precision to the eleven significant bits of TF32.
    ToTf32 { dst: RegId, src: Operand, mode: Tf32Mode },
    /// Arithmetic on bytes, halves and words.
    Video(Box<Video>),
    /// `testp`: tests a property of a floating-point number.
    TestFloat { test: FloatTest, ty: FloatTy, dst: RegId, src: Operand },
    /// A logic operation on predicates; unary ones ignore `b`.
    PredLogic { op: PredOp, dst: RegId, a: PredSrc, b: PredSrc },
    /// A comparison whose destination is one or two predicates, or a register.
    Compare(Box<Compare>),
    /// `dst = p ? a : b`.
    Select { dst: RegId, a: Operand, b: Operand, p: PredSrc },
    /// `slct`: `dst = c >= 0 ? a : b`; `c` is `s32` or `f32`.
    SelectSign { dst: RegId, a: Operand, b: Operand, c: Operand, float: bool, ftz: bool },
    /// `lop3` with a predicate result.
    Lop3Pred(Box<Lop3Pred>),
    /// A conversion between types.
    Convert(Box<Convert>),
    /// A conversion to or from floating-point types of at most 8 bits.
    SmallConvert(Box<SmallConvert>),
    /// `dst = {parts}`; part 0 goes to the low bits, and each part has `bits` bits.
    Pack { dst: RegId, parts: Vec<Operand>, bits: u8 },
    /// `{parts} = src`; a destination is `None` for `_`.
    Unpack { dsts: Vec<Option<RegId>>, src: Operand, bits: u8 },
    /// Tests whether a generic address lies in a space's window.
    IsSpace { dst: RegId, space: Space, src: Operand },

    /// `{dsts} = [addr]`; values are extended to the register's width (sign-extended if `ty` is
    /// signed).
    Load { space: Space, ty: IntTy, dsts: Vec<Option<RegId>>, addr: Address },
    /// `[addr] = {srcs}`.
    Store { space: Space, bits: u8, srcs: Vec<Operand>, addr: Address },
    /// An atomic read-modify-write operation; `dst` receives the old value.
    Atomic(Box<Atomic>),
    /// A fetch from a texture.
    Fetch(Box<Fetch>),
    /// A load from or store to a surface.
    Surface(Box<SurfaceAccess>),
    /// A query of a property of a texture or surface.
    ImageQuery(Box<ImageQuery>),
    /// `cp.async`: copies `bytes` (4, 8 or 16) bytes from global to shared memory. Only the first
    /// `src_bytes` are read; the rest is zero.
    AsyncCopy { bytes: u8, dst: Address, src: Address, src_bytes: Option<Operand> },
    /// Closes the warp's current group of asynchronous copies.
    AsyncCommit,
    /// Waits until at most `pending` closed groups are in flight; `all` closes the current one
    /// first.
    AsyncWait { pending: u32, all: bool },
    /// An asynchronous copy of many bytes.
    Bulk(Box<Bulk>),

    /// An exchange of values between the lanes of a warp.
    Shuffle(Box<Shuffle>),
    /// A vote of the lanes; `dst` is a predicate, or a mask for `Ballot`.
    Vote { mode: VoteMode, dst: RegId, p: PredSrc, members: Option<Operand> },
    /// Reads the active mask.
    ActiveMask { dst: RegId },
    /// `elect`: the first of the member lanes whose predicate holds is elected. `elected` says in each
    /// lane whether it is this one, and `leader` receives its number.
    Elect { leader: Option<RegId>, elected: Option<RegId>, p: PredSrc, members: Option<Operand> },
    /// Tests whether all member lanes that have not ended execute this instruction together.
    Together { dst: RegId, members: Operand },
    /// `match`: the mask of lanes with equal values. `all` sets `pred`, and yields the mask only if
    /// all values are equal.
    Match { all: bool, bits: u8, dst: RegId, pred: Option<RegId>, src: Operand, members: Operand },
    /// `redux`: a reduction over the lanes of the member mask.
    Reduce { op: IntOp, ty: IntTy, dst: RegId, src: Operand, members: Operand },
    /// `redux` in single precision: the largest or smallest number or magnitude of the lanes of the
    /// member mask. With `nan` the result is NaN if any source is.
    ReduceFloat { largest: bool, magnitude: bool, nan: bool, dst: RegId, src: Operand, members: Operand },
    /// Products, loads and stores of matrices that are distributed over the lanes of a warp.
    Matrix(Box<Matrix>),
    /// `bar.warp.sync`, WARPSYNC: the member lanes of a warp wait for each other.
    WarpSync { members: Operand },

    /// A barrier of the block.
    Barrier(Box<Barrier>),
    /// An operation on the cluster of the block.
    Cluster(ClusterOp),
    /// An operation on an mbarrier object.
    Mbarrier(Box<Mbarrier>),
    /// A branch of the lanes whose guard holds.
    Branch { target: Pc, reconverge: Option<Pc> },
    /// A branch through a table (`brx.idx`).
    BranchTable { targets: Vec<Pc>, index: Operand, reconverge: Option<Pc> },
    /// SSY, PBK and BSSY: opens a region in which lanes may diverge and whose reconvergence point is
    /// `join`.
    OpenRegion { region: Region, join: Pc },
    /// SYNC, BRK and BSYNC: the lanes have reached the end of the innermost region of this kind.
    CloseRegion { region: Region },
    /// BREAK: the lanes leave the innermost region of this kind before its end.
    LeaveRegion { region: Region },
    /// YIELD: other lanes of the warp get their turn.
    Yield,
    /// WARPSYNC.COLLECTIVE: the member lanes execute the instructions up to ENDCOLLECTIVE together,
    /// wherever they are. Those that came here continue at `onward` then.
    Collect { members: Operand, onward: Pc },
    /// ENDCOLLECTIVE.
    EndCollective,
    /// A call of a function.
    Call(Box<Call>),
    /// An indirect call of the functions whose addresses the lanes hold.
    CallPointer(Box<PointerCall>),
    /// A return from a function. Machine code returns to an address in a register, which has to be
    /// that of the instruction after the call.
    Return { address: Option<Operand> },
    /// Terminates the lanes.
    Exit,
    /// Aborts the kernel with an error.
    Trap { message: String },
}

/// A kind of divergent region, named by the instructions that delimit it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Region {
    /// SSY to SYNC: an if or a switch.
    Sync,
    /// PBK to BRK: a loop.
    Break,
    /// PCNT to CONT: the body of a loop.
    Continue,
    /// BSSY to BSYNC: the code between them, by the number of the barrier of convergence.
    Barrier(u8),
}

/// A source operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// A register.
    Reg(RegId),
    /// An immediate: bits of the operation's type.
    Imm(u64),
    /// A special register.
    Special(Special),
}

/// A source operand of a predicate operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PredSrc {
    /// A predicate register, possibly negated.
    Reg(Guard),
    /// A constant.
    Const(bool),
}

/// A read-only register of the hardware. The axes 0, 1 and 2 are x, y and z.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "named as in PTX")]
pub enum Special {
    Tid(u8),
    Ntid(u8),
    Ctaid(u8),
    Nctaid(u8),
    /// The position of the block in its cluster.
    ClusterCtaid(u8),
    /// The number of blocks of a cluster.
    ClusterNctaid(u8),
    /// The number of the block in its cluster.
    ClusterRank,
    /// The number of blocks of a cluster in all directions.
    ClusterRanks,
    /// The position of the cluster.
    Clusterid(u8),
    /// The number of clusters of the grid.
    Nclusterid(u8),
    /// 1 if the launch states clusters, and 0 if each block is one.
    HasClusters,
    /// The reciprocal of the number of blocks of a cluster as a single, rounded up.
    ClusterReciprocal(u8),
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
    /// The number of instructions that the warp has executed, since the functional run has no
    /// clock.
    Clock,
    /// The upper half of the clock, which is 0.
    ClockHigh,
    DynamicSharedBytes,
    TotalSharedBytes,
    /// 32 bits of the kernel's parameters at this byte offset.
    Param(u32),
    /// 32 bits of constant memory at this byte offset.
    Const(u32),
    /// The address at this byte offset in the running function's frame in local memory. The source
    /// language has no such register, and no instruction depends on it.
    Frame(u64),
    /// The address of an array element: `base + ((index + plus) << shift)`. The shifted value has
    /// the width of the index register and is unsigned.
    #[allow(missing_docs, reason = "the formula says it")]
    Element {
        index: RegId,
        plus: u32,
        shift: u8,
        base: u64,
    },
}

impl Special {
    /// Returns whether the value is a time, which differs from run to run.
    pub fn tells_time(self) -> bool {
        matches!(self, Self::Clock | Self::ClockHigh)
    }

    /// Returns whether the value depends on the placement of blocks and warps on the hardware, or
    /// on the driver.
    pub fn tells_place(self) -> bool {
        matches!(self, Self::SmId | Self::NumSms | Self::WarpId | Self::NumWarps | Self::GridId)
    }
}

/// An integer type. Untyped bits count as unsigned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IntTy {
    /// The width: 8, 16, 32 or 64 bits.
    pub bits: u8,
    /// Whether the type is signed (two's complement).
    pub signed: bool,
}

/// A floating-point type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "named as in PTX")]
pub enum FloatTy {
    F16,
    /// Two F16 numbers in 32 bits, computed separately.
    F16x2,
    /// bfloat16: the upper half of single precision.
    Bf16,
    /// Two Bf16 numbers in 32 bits, computed separately.
    Bf16x2,
    F32,
    /// Two numbers of single precision in 64 bits, computed separately.
    F32x2,
    F64,
}

/// The type of the operands of a comparison or conversion.
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
    /// The type of the sources.
    pub ty: ValueTy,
    /// Whether subnormal sources are flushed to zero.
    pub ftz: bool,
    /// The first source.
    pub a: Operand,
    /// The second source.
    pub b: Operand,
    /// The combination `op` with the predicate `p`, if any.
    pub combine: Option<(PredOp, PredSrc)>,
    /// The destination.
    pub into: CompareInto,
}

/// The destination of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompareInto {
    /// `setp`: a predicate and, optionally, its complement (before the combination). For packed
    /// sources, the predicate of the lower half and that of the upper half. `None` for `_`.
    Preds(Option<RegId>, Option<RegId>),
    /// `set` with an integer destination: all ones or zero, for packed sources in each half.
    Ones(RegId),
    /// `set` with a floating-point destination: 1.0 or 0.0, for packed sources in each half.
    Float(RegId, FloatTy),
}

impl FloatTy {
    /// Returns the type of each half of a packed type.
    pub const fn half(self) -> Option<Self> {
        match self {
            Self::F16x2 => Some(Self::F16),
            Self::Bf16x2 => Some(Self::Bf16),
            Self::F32x2 => Some(Self::F32),
            _ => None,
        }
    }

    /// Returns the bits of 1.0, for packed types in each half.
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

/// A conversion. Forms with two sources, which pack, convert `src2` to the low half.
#[derive(Clone, Debug, PartialEq)]
pub struct Convert {
    /// The destination register.
    pub dst: RegId,
    /// The source; for a packed result, that of the upper half.
    pub src: Operand,
    /// The source of the lower half of a packed result.
    pub src2: Option<Operand>,
    /// The type of the source.
    pub from: ValueTy,
    /// The type of the result.
    pub to: ValueTy,
    /// The rounding direction.
    pub round: Round,
    /// Whether to round to an integral value in the floating-point type (`.rni` and similar), even
    /// if source and result have the same type.
    pub integral: bool,
    /// Whether to clamp to the range of the result: [0, 1] for floats, the integer range for
    /// integers.
    pub sat: bool,
    /// Whether to flush subnormal f32 sources and results to zero.
    pub ftz: bool,
    /// Whether negative results become 0; NaN stays the canonical NaN.
    pub relu: bool,
    /// Whether overflow yields the largest finite number.
    pub finite: bool,
}

/// The operations `dst = table(src)` and `pred = (dst != 0) op with`.
#[derive(Clone, Debug, PartialEq)]
pub struct Lop3Pred {
    /// The truth table, as for [`IntOp::Lop3`].
    pub table: u8,
    /// The sources.
    pub src: [Operand; 3],
    /// The destination register, if any.
    pub dst: Option<RegId>,
    /// The destination predicate, if any.
    pub pred: Option<RegId>,
    /// The operation that combines the predicate.
    pub op: PredOp,
    /// The predicate that it is combined with.
    pub with: PredSrc,
}

/// The address `base + offset`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    /// A register, or the address of a variable.
    pub base: Operand,
    /// The offset in bytes.
    pub offset: i64,
}

/// An exchange of values between lanes (`shfl`).
#[derive(Clone, Debug, PartialEq)]
pub struct Shuffle {
    /// How the source lane is selected.
    pub mode: ShuffleMode,
    /// The destination.
    pub dst: RegId,
    /// The destination predicate: whether the source lane is in range.
    pub pred: Option<RegId>,
    /// The value that the lane provides.
    pub a: Operand,
    /// The lane or distance.
    pub b: Operand,
    /// The clamp value and the segment mask.
    pub c: Operand,
    /// The member mask; `None` for the form without `.sync`.
    pub members: Option<Operand>,
}

/// A barrier of the block.
#[derive(Clone, Debug, PartialEq)]
pub struct Barrier {
    /// The kind of synchronisation.
    pub kind: BarrierKind,
    /// The number of the barrier resource.
    pub id: Operand,
    /// The number of participating threads; `None` for all threads of the block.
    pub threads: Option<Operand>,
    /// Whether all lanes of the warp must execute the barrier together.
    pub aligned: bool,
    /// Whether some threads of a warp may execute it while the others wait where they converge, or
    /// have a false guard, as machine code since Volta allows.
    pub partly: bool,
}

/// A kind of barrier synchronisation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BarrierKind {
    /// Waits.
    Sync,
    /// Arrives without waiting.
    Arrive,
    /// Waits; `dst` is the conjunction of the predicates of all threads.
    And(RegId, PredSrc),
    /// Waits; `dst` is the disjunction.
    Or(RegId, PredSrc),
    /// Waits; `dst` is the number of threads whose predicate holds.
    Popc(RegId, PredSrc),
}

/// A direct call.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The function's first instruction.
    pub target: Pc,
    /// The index in [`super::KernelCode::functions`].
    pub function: u32,
    /// The transfers of arguments to parameters, which happen at the call.
    pub pass: Vec<Transfer>,
    /// The transfers of results to the caller, which happen at the return.
    pub give_back: Vec<Transfer>,
}

impl Call {
    /// Returns whether the call only transfers control: registers and memory stay as they are, as
    /// in machine code.
    pub fn moves_nothing(&self, program: &super::KernelCode) -> bool {
        let frame =
            program.functions.get(self.function as usize).and_then(|function| function.frame.as_ref());
        self.pass.is_empty() && self.give_back.is_empty() && frame.is_none()
    }
}

/// An indirect call. The function must have the same number of parameters and results, of the same
/// sizes.
#[derive(Clone, Debug, PartialEq)]
pub struct PointerCall {
    /// The address of the function.
    pub pointer: Operand,
    /// The possible addresses; `None` if any function is possible.
    pub targets: Option<Vec<u64>>,
    /// The caller's locations of the arguments, and their sizes in bytes.
    pub args: Vec<(ArgLocation, u32)>,
    /// The caller's locations of the results (`None` for results that are dropped), and their sizes
    /// in bytes.
    pub results: Vec<(Option<ArgLocation>, u32)>,
}

/// A copy of bits between two locations, per lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// The source.
    pub from: ArgLocation,
    /// The destination, which is never an immediate.
    pub to: ArgLocation,
    /// The size in bytes; at most 8 if a register is involved.
    pub bytes: u32,
}

/// The location of an argument or result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgLocation {
    /// An offset in the thread's local memory, which contains the parameters of functions.
    Local(u64),
    /// An offset in the frame of a recursive function, which is the caller or the callee that the
    /// location belongs to.
    Frame(u64),
    /// A register.
    Reg(RegId),
    /// A constant.
    Imm(u64),
}

/// A memory access in a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TracedAccess {
    /// The space that the opcode states.
    pub space: Space,
    /// The number of bytes that each lane accesses.
    pub bytes: u8,
    /// The address register of an atomic operation.
    pub atomic: Option<RegId>,
}

impl Sem {
    /// Returns the space of a load, store or atomic, and the maximum number of bytes that each lane
    /// accesses. Texels are in global memory; a fetch reads at most 16 bytes for each of 8 texels,
    /// depending on the texture.
    pub fn access(&self) -> Option<(Space, usize)> {
        match self {
            Self::Load { space, ty, dsts, .. } => Some((*space, usize::from(ty.bits / 8) * dsts.len())),
            Self::Store { space, bits, srcs, .. } => Some((*space, usize::from(bits / 8) * srcs.len())),
            Self::Atomic(atomic) => Some((atomic.space, atomic.bytes())),
            Self::Matrix(matrix) => matrix.access(),
            Self::Traced(access) => access.map(|access| (access.space, usize::from(access.bytes))),
            Self::Fetch(_) => Some((Space::Global, 128)),
            Self::Surface(access) => Some((Space::Global, access.size())),
            Self::ImageQuery(_) | Self::AsyncCopy { .. } | Self::AsyncCommit | Self::AsyncWait { .. } => None,
            Self::None
            | Self::Nop
            | Self::Sleep { .. }
            | Self::Barrier(_)
            | Self::Cluster(_)
            | Self::Mbarrier(_)
            | Self::Bulk(_) => None,
            lanewise!() | exchange!() | jump!() | Self::Call(_) | Self::CallPointer(_) => None,
        }
    }
}

impl ValueTy {
    /// Returns the size in memory in bytes.
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
    /// Returns the register that the operand reads, if any.
    pub fn reg(self) -> Option<RegId> {
        match self {
            Self::Reg(reg) | Self::Special(Special::Element { index: reg, .. }) => Some(reg),
            Self::Imm(_) | Self::Special(_) => None,
        }
    }
}

impl ArgLocation {
    /// Returns the register, if it is one.
    pub fn reg(self) -> Option<RegId> {
        match self {
            Self::Reg(reg) => Some(reg),
            Self::Local(_) | Self::Frame(_) | Self::Imm(_) => None,
        }
    }
}

impl Sem {
    /// Returns the atomic that this instruction executes. The detection of races depends on it.
    pub fn atomic(&self) -> Option<&Atomic> {
        match self {
            Self::Atomic(atomic) => Some(atomic),
            Self::Load { .. }
            | Self::Store { .. }
            | Self::Fetch(_)
            | Self::Surface(_)
            | Self::ImageQuery(_)
            | Self::AsyncCopy { .. }
            | Self::AsyncCommit
            | Self::AsyncWait { .. }
            | Self::Matrix(_)
            | Self::Barrier(_)
            | Self::Cluster(_)
            | Self::Mbarrier(_)
            | Self::Bulk(_)
            | Self::Call(_)
            | Self::CallPointer(_)
            | lanewise!()
            | exchange!()
            | no_effect!()
            | jump!() => None,
        }
    }

    /// Returns the operation and the type by which this instruction updates each cell of memory, if
    /// they are known. The detection of races depends on it. Sums of floating-point numbers by bulk
    /// reductions are not included: which of them rounds first is not analysed.
    pub fn update(&self) -> Option<(AtomOp, ValueTy)> {
        let exact = |(op, ty): &(AtomOp, ValueTy)| {
            !matches!(op, AtomOp::Inc | AtomOp::Dec) && (*op != AtomOp::Add || matches!(ty, ValueTy::Int(_)))
        };
        match self {
            Self::Bulk(bulk) => match bulk.as_ref() {
                Bulk::Bytes(copy) => copy.reduce.filter(exact),
                Bulk::Store(store) => store.reduce.filter(exact),
                Bulk::Tensor(_) => None,
            },
            _ => self.atomic().map(|atomic| (atomic.op, atomic.ty)),
        }
    }

    /// Returns whether the lanes that execute this jump may continue at different instructions of
    /// the same function. The lanes of a call may run different functions, but all of them continue
    /// at the instruction after the call.
    pub fn selects_targets(&self) -> bool {
        match self {
            Self::BranchTable { .. } => true,
            Self::Branch { .. }
            | Self::OpenRegion { .. }
            | Self::CloseRegion { .. }
            | Self::LeaveRegion { .. }
            | Self::Yield
            | Self::Collect { .. }
            | Self::EndCollective
            | Self::Return { .. }
            | Self::Exit
            | Self::Trap { .. }
            | Self::CallPointer(_)
            | Self::Call(_)
            | straight!() => false,
        }
    }

    /// Calls `visit` for each register in which a call returns a result.
    pub(crate) fn each_result_register(&self, visit: impl FnMut(RegId)) {
        match self {
            Self::Call(call) => {
                call.give_back.iter().filter_map(|transfer| transfer.to.reg()).for_each(visit);
            }
            Self::CallPointer(call) => {
                call.results.iter().filter_map(|(place, _)| (*place)?.reg()).for_each(visit);
            }
            straight!() | jump!() => {}
        }
    }
}

impl PredSrc {
    /// Returns the predicate register, if it is not a constant.
    pub fn reg(self) -> Option<RegId> {
        match self {
            Self::Reg(guard) => Some(guard.reg),
            Self::Const(_) => None,
        }
    }
}
