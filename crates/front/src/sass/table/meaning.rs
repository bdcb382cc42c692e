//! The names by which a table gives instructions their semantics.
//!
//! `lower` has a function for each name, in the file of its family, and does not compile without
//! one. Names are those of opcodes with the same semantics in all tables that use them; an opcode
//! that does something else in another generation has another name there.

use serde::Deserialize;

/// The semantics of an instruction: a family and a name in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Meaning {
    /// Integer sums, products and minima.
    Int(Int),
    /// Shifts, logic and bit fields.
    Bits(Bits),
    /// Comparisons.
    Compare(Compare),
    /// Moves, selections, logic on predicates, and special registers.
    Moves(Moves),
    /// Single precision.
    Float(Float),
    /// Half precision.
    Half(Half),
    /// Double precision.
    Double(Double),
    /// Conversions.
    Convert(Convert),
    /// Loads, stores, atomic operations and fences.
    Memory(Memory),
    /// Texture fetches, accesses to surfaces, and queries of both.
    Image(Image),
    /// Exchanges between the threads of a warp or a block.
    Warp(Warp),
    /// Barriers in memory, bulk copies, and products of warp groups.
    Group(Group),
    /// Branches, divergent regions, calls and exits.
    Control(Control),
}

/// Integer sums, products and minima.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names are those of opcodes")]
pub enum Int {
    Iadd,
    Iadd3,
    Iscadd,
    Lea,
    LeaHi,
    Imnmx,
    Vmnmx,
    Xmad,
    Imul,
    /// A sum of three with up to two carries.
    Add3,
    /// A sum of two with a carry.
    Add,
    Add64,
    Mad,
    MadWide,
    MadHi,
    LeaCarry,
    LeaUpper,
    Iabs,
    AddMinimum,
    Minimum3,
    Vimnmx,
    /// The sums of words, of both halves or of the four bytes of words.
    AddVector,
    /// A dot product of bytes, or of halves and bytes, plus a word.
    Dot,
    /// The absolute difference of words plus a word.
    AbsDiff,
    /// The absolute differences of the bytes of words, or their sum plus a word.
    AbsDiff4,
    Minimum64,
}

/// Shifts, logic and bit fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names are those of opcodes")]
pub enum Bits {
    Shl,
    Shr,
    ShfLeft,
    ShfRight,
    Lop,
    Lop3,
    Bfe,
    Bfi,
    Popc,
    Flo,
    Prmt,
    /// A shift of two words in either direction.
    Shf,
    /// A table of three bits whose result is also tested.
    Lop3Test,
    Brev,
    Sgxt,
    Bmsk,
}

/// Comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names are those of opcodes")]
pub enum Compare {
    Isetp,
    Iset,
    Icmp,
    Fsetp,
    Fset,
    Fcmp,
    Dsetp,
    Dset,
    Fchk,
    /// The comparison of the upper words of 64-bit integers.
    IsetpUpper,
    Isetp64,
    Hsetp2,
    Hset2,
}

/// Moves, selections, logic on predicates, and special registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names are those of opcodes")]
pub enum Moves {
    Mov,
    Sel,
    Psetp,
    Pset,
    P2r,
    R2p,
    S2r,
    /// A move of one, two or four words.
    MovWords,
    Sel64,
    Fsel,
    Plop3,
    /// Two functions of the signs of three words.
    SignLogic,
    Cs2r,
    /// A move to a register of the warp, which finds the lanes that have another value.
    ToUniform,
}

/// Single precision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names are those of opcodes")]
pub enum Float {
    Fadd,
    Fmul,
    Ffma,
    Fmnmx,
    Rro,
    Mufu,
    /// The multifunction unit whose sine and cosine take turns.
    MufuTurns,
    /// The multifunction unit on a number of half precision.
    MufuHalf,
}

/// Half precision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names are those of opcodes")]
pub enum Half {
    Hadd2,
    Hmul2,
    Hfma2,
    Hmnmx2,
}

/// Double precision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names are those of opcodes")]
pub enum Double {
    Dadd,
    Dmul,
    Dfma,
    Dmnmx,
}

/// Conversions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names are those of opcodes")]
pub enum Convert {
    F2f,
    F2i,
    I2f,
    I2i,
    /// The conversions of generations in which the texts of types differ.
    FloatToInt,
    IntToFloat,
    FloatToFloat,
    Integral,
    PackHalves,
    /// A word clamped to a narrower type.
    ClampWord,
    /// Two words clamped to a narrower type, above each other.
    PackWords,
    /// Two numbers of single precision as bytes, above each other.
    PackBytes,
    /// The rounding of single precision to tf32.
    ToTf32,
    /// Two numbers of single precision as numbers of eight bits.
    PackSmall,
    /// Two halves as numbers of eight bits.
    NarrowSmall,
    /// Two numbers of eight bits as halves.
    WidenSmall,
}

/// Loads, stores, atomic operations and fences.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names are those of opcodes")]
pub enum Memory {
    Load,
    Store,
    LoadConst,
    Atom,
    AtomCas,
    /// A store if memory holds the expected value; the result is whether it did.
    Cast,
    Red,
    Membar,
    Depbar,
    Ldsm,
    Stsm,
    /// Whether an address lies in a space.
    QuerySpace,
    Ldgsts,
    Ldgdepbar,
    /// Each lane adds one.
    Count,
}

/// Texture fetches, accesses to surfaces, and queries of both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names say what the opcodes do")]
pub enum Image {
    /// A fetch at floating-point coordinates.
    Sample,
    /// A fetch at integer coordinates.
    Texel,
    /// A fetch of one channel of four texels.
    Gather,
    LoadSurface,
    StoreSurface,
    /// The extents of a texture.
    Query,
}

/// Exchanges between the threads of a warp or a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names are those of opcodes")]
pub enum Warp {
    Shfl,
    Vote,
    Bar,
    B2r,
    BarRed,
    Match,
    Redux,
    Warpsync,
    Movm,
    Mma,
}

/// Barriers in memory, bulk copies, and products of warp groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Group {
    /// The initialisation of an mbarrier object by a word that the code has computed.
    Initialise,
    /// The end of an mbarrier object.
    Invalidate,
    /// An arrival of threads or bytes at an mbarrier object, or their expectation.
    Arrive,
    /// The question whether a phase of an mbarrier object is complete.
    PhaseCheck,
    /// The arrival of asynchronous copies at an mbarrier object.
    CopiesArrive,
    /// A copy of many bytes.
    BulkCopy,
    /// A reduction of many numbers in memory.
    BulkReduce,
    /// A copy of a box of a tensor to shared memory.
    TensorLoad,
    /// A copy of a box to a tensor, or a reduction of its elements.
    TensorStore,
    /// A store or a reduction of registers in shared memory that signals an mbarrier object.
    SignalledStore,
    /// An arrival at the barrier of the cluster.
    ClusterArrive,
    /// A wait at the barrier of the cluster.
    ClusterWait,
    /// A product of matrices of a warp group.
    Product,
    /// The election of a lane.
    Elect,
    /// A request for registers, which is always granted here.
    RequestRegisters,
}

/// Branches, divergent regions, calls and exits.
///
/// `Ssy` to `Cont` push and pop the stack by which warps reconverge, and `Cal` and `Ret` push and
/// pop return addresses. Generations without these stacks have other opcodes, and thus other names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names are those of opcodes")]
pub enum Control {
    Nop,
    Bra,
    Brx,
    Ssy,
    Pbk,
    Pcnt,
    Sync,
    Brk,
    Cont,
    Cal,
    Ret,
    Exit,
    Bpt,
    Nanosleep,
    /// A branch by a predicate and the guard.
    BranchIf,
    /// A branch of all lanes that is taken if one of them satisfies the predicate and the guard.
    BranchAny,
    /// A branch that is taken if the warp is divergent.
    BranchDivergent,
    /// A branch that is taken if the warp is not divergent.
    BranchConverged,
    Bssy,
    Bsync,
    Break,
    Yield,
    /// The copy of a barrier to a register.
    Bmov,
    /// The copy of a register to a barrier.
    BmovRestore,
    /// The initialisation of a barrier.
    BmovBarrier,
    CallRelative,
    /// A call of a function whose offset in the code is in a register.
    CallRegister,
    /// A call of a function in another section of the file.
    CallPlace,
    ReturnRelative,
    ReturnAbsolute,
    /// The address of an instruction.
    Lepc,
    /// A call of a function by its address.
    CallAbsolute,
    /// The beginning of instructions that lanes on different paths execute together.
    Collective,
    /// Their end.
    EndCollective,
    /// Instructions for divergent warps that are not modelled, and stop a run that reaches them.
    Divergent,
}
