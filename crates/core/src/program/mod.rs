//! The decoded form of a kernel: instructions with op classes, registers and executable semantics.
//!
//! Every front end produces a [`KernelCode`]. The crate `exec` executes its semantics; [`timing`]
//! binds its op classes to a machine for the simulation and the bounds.

pub mod cfg;
mod codes;
pub mod expr;
pub mod graph;
pub mod hazards;
pub mod image;
pub mod joins;
pub mod launch;
pub mod layout;
pub mod loop_bounds;
mod machine_code;
mod memory_op;
pub mod names;
pub mod params;
mod port_reads;
pub mod sem;
pub mod sequence;
pub mod template;
pub mod tensor_map;
pub mod timing;
pub mod uniform;
mod unset;
pub mod warp_cfg;

use std::fmt;

use crate::base::{Few, OpClass, Pc, RegId};
use crate::isa::Space;

pub use codes::{BarrierId, Barriers, Codes};
pub use machine_code::{Coded, Control, MachineCode, Source};
pub use memory_op::{Access, Area, MemoryOp};
pub use port_reads::{PortRead, PortReads};
pub use sem::Sem;
pub use timing::{TimedInstr, TimingTable};
pub use unset::unset_reads;

/// A decoded kernel.
#[derive(Clone, Debug, Default)]
pub struct KernelCode {
    /// The kernel's name.
    pub name: String,
    /// The path of the source file, in the form that messages print.
    pub file: String,
    /// The code; the kernel starts at index 0.
    pub instrs: Vec<Instr>,
    /// All registers, indexed by [`RegId`].
    pub regs: Vec<Register>,
    /// The names of the op classes, indexed by [`OpClass`].
    pub classes: ClassTable,
    /// The kernel's parameters, in order.
    pub params: Vec<Param>,
    /// The functions that the kernel may call, in the order of their code.
    pub functions: Vec<Function>,
    /// The variables and the sizes of the memory that the program declares.
    pub memory: layout::MemoryLayout,
    /// Whether the kernel is the last code in its file.
    pub ends_file: bool,
    /// The maximum number of threads per block that the kernel was compiled for (`.maxntid`,
    /// `.reqntid`), if declared.
    pub max_threads: Option<u32>,
    /// The number of blocks of a cluster per axis, if the kernel (`.reqnctapercluster`) or its launch
    /// states it.
    pub cluster: Option<[u32; 3]>,
    /// The texture and surface references that the code names, without duplicates.
    pub references: Vec<Reference>,
    /// The control codes and offsets of the instructions, if the program was read from machine
    /// code.
    pub machine_code: Option<MachineCode>,
    /// The registers that may be read before any instruction has written them, each with the first
    /// instruction that may do so.
    pub unset_reads: Vec<(Pc, RegId)>,
    /// Notes for the user: constructs that are accepted but have no effect here, and reasons why a
    /// path may depend on timing.
    pub notes: Vec<String>,
}

/// A device function, that is, one that is not a kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// The name in the source.
    pub name: String,
    /// The value of a pointer to the function.
    pub address: u64,
    /// The function's first instruction.
    pub first: Pc,
    /// The locations and sizes (bytes) of the parameters.
    pub params: Vec<(sem::ArgLocation, u32)>,
    /// The locations and sizes (bytes) of the results.
    pub returns: Vec<(sem::ArgLocation, u32)>,
    /// The frame that each call allocates; `None` if the function cannot be called recursively.
    pub frame: Option<FrameLayout>,
}

/// The state that a recursive function has once per active call. Its local memory, parameters
/// included, is allocated on a stack per thread. All calls use the same registers, so an inner call
/// saves and restores them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FrameLayout {
    /// The size of the local memory in bytes.
    pub bytes: u64,
    /// The registers that an inner call preserves.
    pub registers: Vec<RegId>,
}

impl FrameLayout {
    /// Returns the number of bytes of stack that a call takes: a multiple of 16 that is never zero,
    /// so that the size of the stack limits the depth of recursion.
    #[inline]
    pub fn stack_bytes(&self) -> u64 {
        self.bytes.max(1).next_multiple_of(16)
    }
}

/// One instruction.
#[derive(Clone, Debug)]
pub struct Instr {
    /// The op class. The class of an access through a generic address depends on the space that the
    /// address resolves to, see [`Instr::class_by_space`].
    pub class: OpClass,
    /// The op class of a generic access for each resolved space, indexed by [`Space::index`].
    pub class_by_space: Option<Box<[OpClass; Space::RESOLVED.len()]>>,
    /// The registers that the instruction writes.
    pub dsts: RegList,
    /// The registers that the instruction reads, guard and address registers included.
    pub srcs: RegList,
    /// The guard predicate, which enables lanes.
    pub guard: Option<Guard>,
    /// The instruction's effect on control flow and synchronisation, as far as timing is concerned.
    pub flow: Flow,
    /// The instruction's memory access, as far as timing is concerned; `None` if it does not access
    /// memory.
    pub memory: Option<MemoryOp>,
    /// The instruction's semantics; [`Sem::None`] in micro kernels.
    pub sem: Sem,
    /// The line in the source file (from 1), or 0 if it is unknown. For machine code, the line in
    /// the listing.
    pub line: u32,
    /// Whether the instruction executes as a part of an adjacent instruction, so that it takes
    /// neither a step nor time.
    pub folded: bool,
}

/// A guard predicate, `@p` or `@!p`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guard {
    /// The predicate register.
    pub reg: RegId,
    /// Whether a lane is enabled where the predicate is false.
    pub negate: bool,
}

/// How an instruction affects the control flow and the synchronisation of a warp, as far as timing
/// is concerned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Flow {
    /// The instruction computes, loads, stores or branches.
    #[default]
    Plain,
    /// The instruction may terminate lanes. The path marks the step that terminates the warp.
    Exit,
    /// The instruction waits for other warps; its step carries a [`crate::path::BarrierUse`].
    Barrier,
    /// The instruction arrives at a barrier without waiting.
    Arrive,
    /// The instruction writes the pseudo-register of its commit group; its step carries a
    /// [`crate::path::AsyncRing`].
    AsyncCopy,
    /// The instruction reads the pseudo-register that its step names.
    AsyncWait,
}

/// A set of registers in order of insertion. Only matrix instructions list more than seven.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct RegList(Few<RegId, 7>);

impl RegList {
    /// The maximum number of registers that an instruction can read or write; front ends reject
    /// instructions with more. The widest matrix product reads 24 registers and its guard.
    pub const MAX: usize = 40;

    /// Creates an empty list.
    #[inline]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a register unless the list contains it already.
    #[inline]
    pub fn insert(&mut self, reg: RegId) {
        if !self.as_slice().contains(&reg) {
            self.0.push(reg);
        }
    }

    /// Returns the registers.
    #[inline]
    pub fn as_slice(&self) -> &[RegId] {
        self.0.as_slice()
    }
}

impl FromIterator<RegId> for RegList {
    fn from_iter<I: IntoIterator<Item = RegId>>(regs: I) -> Self {
        let mut list = Self::new();
        regs.into_iter().for_each(|reg| list.insert(reg));
        list
    }
}

impl fmt::Debug for RegList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.as_slice().iter().map(|r| r.get())).finish()
    }
}

/// A register of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Register {
    /// The name in the source.
    pub name: String,
    /// The kind of value that the register holds.
    pub kind: RegKind,
}

/// The kind of value that a register holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegKind {
    /// One truth value per lane.
    Pred,
    /// The given number of bits per lane (8, 16, 32 or 64), zero-extended.
    Bits(u8),
}

/// A kernel parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Param {
    /// The name in the source.
    pub name: String,
    /// The offset in the parameter block in bytes.
    pub offset: u32,
    /// The size in bytes.
    pub size: u32,
    /// The type that arguments are checked against.
    pub ty: ParamType,
}

/// The type of a kernel parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamType {
    /// An integer or untyped scalar of [`Param::size`] bytes.
    Int,
    /// A floating-point scalar of [`Param::size`] bytes.
    Float,
    /// A byte array (a struct by value).
    Bytes,
}

/// A texture or surface reference (`.texref`, `.surfref`) that a program names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// The name of the module's variable.
    pub name: String,
    /// The variable's address, which is the handle of the texture or surface that is bound to it.
    pub handle: u64,
    /// Whether it is a surface (loads and stores) rather than a texture (fetches).
    pub surface: bool,
}

/// The names of the op classes, indexed by [`OpClass`].
#[derive(Clone, Debug, Default)]
pub struct ClassTable {
    names: Vec<String>,
}

impl ClassTable {
    /// Returns the id of a name, which is added if it is new.
    #[inline]
    pub fn intern(&mut self, name: &str) -> OpClass {
        let index = self.names.iter().position(|n| n == name).unwrap_or_else(|| {
            self.names.push(name.to_owned());
            self.names.len() - 1
        });
        OpClass::from_index(index)
    }

    /// Returns the name of a class.
    #[inline]
    pub fn name(&self, class: OpClass) -> &str {
        &self.names[class.index()]
    }

    /// Returns all names, indexed by class.
    #[inline]
    pub fn names(&self) -> &[String] {
        &self.names
    }
}

impl Instr {
    /// Returns the number of bytes that each lane accesses if the access may go to shared memory,
    /// that is, for loads, stores and atomics through shared or generic addresses.
    #[inline]
    pub fn shared_bytes(&self) -> Option<usize> {
        let (space, bytes) = self.sem.access()?;
        matches!(space, Space::Shared | Space::Generic).then_some(bytes)
    }

    /// Returns whether the instruction may transfer lines of device memory: an access to global or
    /// local memory or, if `constants` is set, to constants or kernel parameters.
    #[inline]
    pub fn moves_lines(&self, constants: bool) -> bool {
        self.flow == Flow::AsyncCopy || self.memory.is_some_and(|memory| memory.moves_lines(constants))
    }

    /// Returns whether the instruction is a store.
    #[inline]
    pub fn stores(&self) -> bool {
        matches!(self.memory, Some(MemoryOp::Store(_)))
    }

    /// Returns whether the instruction's results may come from global memory.
    #[inline]
    pub fn loads_global(&self) -> bool {
        self.flow == Flow::AsyncCopy || self.memory.is_some_and(MemoryOp::loads_global)
    }

    /// Describes what an instruction does that takes no time in this model although it takes time on
    /// hardware: a wait, or work that it only starts.
    pub fn waits_untimed(&self) -> Option<&'static str> {
        match &self.sem {
            Sem::Mbarrier(barrier) => {
                matches!(barrier.op, sem::MbarrierOp::Wait { .. }).then_some("waits at an mbarrier object")
            }
            Sem::Sleep { time } => {
                (*time != sem::Operand::Imm(0)).then_some("sleeps for a time that the hardware chooses")
            }
            Sem::Cluster(op) => {
                (*op == sem::ClusterOp::Wait).then_some("waits for the other blocks of the cluster")
            }
            Sem::Bulk(_) => Some("copies in bulk"),
            Sem::Matrix(matrix) => matches!(**matrix, sem::Matrix::GroupMultiply(_))
                .then_some("multiplies matrices of a warp group"),
            Sem::None | Sem::Traced(_) | Sem::Nop | Sem::Barrier(_) => None,
            sem::lanewise!() | sem::exchange!() | sem::memory!() => None,
            sem::jump!() | Sem::Call(_) | Sem::CallPointer(_) => None,
        }
    }
}

impl KernelCode {
    /// Returns the number of blocks of a cluster; without clusters it is 1.
    pub fn blocks_of_cluster(&self) -> u64 {
        self.cluster.map_or(1, |blocks| blocks.iter().map(|&n| u64::from(n)).fold(1, u64::saturating_mul))
    }

    /// Returns the accesses and fences of its instructions, in their order.
    pub fn memory_ops(&self) -> impl Iterator<Item = MemoryOp> + '_ {
        self.instrs.iter().filter_map(|instr| instr.memory)
    }

    /// Returns whether the threads of a warp are scheduled independently of each other.
    pub fn has_independent_threads(&self) -> bool {
        self.machine_code.as_ref().is_some_and(|code| code.independent)
    }

    /// Returns the line and a description of the first instruction with a part that takes no time in
    /// this model although it takes time on hardware: a wait at an mbarrier object; a sleep, whose
    /// duration is between zero and twice the time that it names (PTX ISA, `nanosleep`); and the
    /// completion of a bulk copy or of a product of a warp group.
    #[inline]
    pub fn untimed_wait(&self) -> Option<(u32, &'static str)> {
        self.instrs.iter().find_map(|instr| Some((instr.line, instr.waits_untimed()?)))
    }

    /// Returns a note if the paths may depend on the order in which warps run: an instruction reads
    /// the result of an atomic operation, or the program contains an exchange or a
    /// compare-and-swap.
    pub fn order_note(&self) -> Option<&'static str> {
        let mut read = vec![false; self.regs.len()];
        self.instrs.iter().flat_map(|instr| instr.srcs.as_slice()).for_each(|reg| read[reg.index()] = true);
        let decides = |atomic: &sem::Atomic| {
            matches!(atomic.op, sem::AtomOp::Exch | sem::AtomOp::Cas)
                || atomic.dsts().any(|dst| read[dst.index()])
        };
        let depends =
            self.instrs.iter().any(|instr| matches!(&instr.sem, Sem::Atomic(atomic) if decides(atomic)));
        depends.then_some(
            "the kernel uses results of atomic operations: they depend on the order of warps, and so may the \
             paths; the functional run takes one order",
        )
    }

    /// Returns the instruction at a program counter.
    #[inline]
    pub fn instr(&self, pc: Pc) -> &Instr {
        &self.instrs[pc.index()]
    }

    /// Returns the location of an instruction for messages: `file:line`, or `file:kernel+byte` for
    /// machine code.
    #[inline]
    pub fn place(&self, pc: Pc) -> String {
        let instr = self.instr(pc);
        match self.machine_code.as_ref().and_then(|code| code.of(instr)) {
            Some(coded) => format!("{}:{}+{:#x}", self.file, self.name, coded.byte),
            None => format!("{}:{}", self.file, instr.line),
        }
    }

    /// Returns the number of instructions in the source; instructions that are folded into another
    /// one are not counted.
    #[inline]
    pub fn count(&self) -> usize {
        self.instrs.iter().filter(|instr| !instr.folded).count()
    }
}
