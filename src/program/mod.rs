//! One decoded kernel: instructions with op class, registers and executable semantics.
//!
//! Every front end produces a [`Program`]; `exec` reads its semantics, [`timing`] binds its op
//! classes to a machine for the simulator and the analyser.

pub mod cfg;
mod codes;
pub mod expr;
pub mod graph;
pub mod image;
pub mod launch;
pub mod layout;
pub mod loop_bounds;
mod machine_code;
mod memory_op;
pub mod names;
pub mod params;
pub mod sem;
pub mod sequence;
pub mod template;
pub mod timing;
pub mod uniform;
mod unset;
pub mod warp_cfg;

use std::fmt;

use crate::base::{Few, OpClass, Pc, RegId};
use crate::isa::Space;

pub use codes::{BarrierId, Barriers, Codes};
pub use machine_code::{Coded, Control, MachineCode};
pub use memory_op::{Access, Area, MemoryOp};
pub use sem::Sem;
pub use timing::{TimedInstr, TimingTable};
pub use unset::unset_reads;

/// A decoded kernel.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// The kernel's name.
    pub name: String,
    /// The file it came from, as messages should call it.
    pub file: String,
    /// The code; a kernel starts at index 0.
    pub instrs: Vec<Instr>,
    /// Every register, dense in [`RegId`].
    pub regs: Vec<Register>,
    /// Names of the op classes, dense in [`OpClass`].
    pub classes: ClassTable,
    /// The kernel's parameters, in order.
    pub params: Vec<Param>,
    /// The functions that the kernel may call, in the order of their code.
    pub functions: Vec<Function>,
    /// Variables and sizes of the memory the program declares.
    pub memory: layout::MemoryLayout,
    /// Whether no code follows it in its file.
    pub ends_file: bool,
    /// Threads the kernel was compiled for at most (`.maxntid`, `.reqntid`), if it says so.
    pub max_threads: Option<u32>,
    /// Texture and surface references that the code names, each once.
    pub references: Vec<Reference>,
    /// If it is machine code, what that says beside what it does.
    pub machine_code: Option<MachineCode>,
    /// Registers that may be read before an instruction has written them, each with the first instruction that may do so.
    pub unset_reads: Vec<(Pc, RegId)>,
    /// Things worth telling the user: constructs that were accepted but do nothing here, and
    /// reasons why a path may depend on timing.
    pub notes: Vec<String>,
}

/// A function that is no kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// As the source calls it.
    pub name: String,
    /// What a pointer to it holds.
    pub address: u64,
    /// Its first instruction.
    pub first: Pc,
    /// Places and sizes (bytes) of its parameters.
    pub params: Vec<(sem::ArgLocation, u32)>,
    /// Places and sizes of its results.
    pub returns: Vec<(sem::ArgLocation, u32)>,
    /// What it has of its own in every call, if it may be called while it runs.
    pub frame: Option<FrameLayout>,
}

/// What a function has of its own in every call. Its local memory, with parameters, lies on a stack
/// of each thread; the registers are the same in every call, and an inner call leaves them as they
/// were.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FrameLayout {
    /// Local memory, bytes.
    pub bytes: u64,
    /// The registers.
    pub registers: Vec<RegId>,
}

impl FrameLayout {
    /// Bytes that a call takes of the stack: a multiple of 16, not zero, so that the stack bounds
    /// how deep calls nest.
    pub fn stack_bytes(&self) -> u64 {
        self.bytes.max(1).next_multiple_of(16)
    }
}

/// One instruction.
#[derive(Clone, Debug)]
pub struct Instr {
    /// Op class; for accesses through generic addresses that of the space they resolve to is
    /// in [`Instr::class_by_space`].
    pub class: OpClass,
    /// Op class per resolved space (index [`Space::index`]) of a generic access.
    pub class_by_space: Option<Box<[OpClass; Space::RESOLVED.len()]>>,
    /// Registers written.
    pub dsts: RegList,
    /// Registers read, guard and address registers included.
    pub srcs: RegList,
    /// The predicate that enables lanes.
    pub guard: Option<Guard>,
    /// What the timing engine and the analyser must know beyond unit and registers.
    pub flow: Flow,
    /// What it does to memory, as far as timing goes; nothing if it does not access any.
    pub memory: Option<MemoryOp>,
    /// What it does; [`Sem::None`] in micro kernels.
    pub sem: Sem,
    /// Line in the source file, from 1; 0 if unknown. Of machine code, in its listing.
    pub line: u32,
    /// Executes as a part of an instruction that stands beside it: it takes no step and no time.
    pub folded: bool,
}

/// `@p` or `@!p`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guard {
    /// The predicate register.
    pub reg: RegId,
    /// Lanes are enabled where the predicate is false.
    pub negate: bool,
}

/// How an instruction takes part in the flow of a warp, as far as timing goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Flow {
    /// Computes, loads, stores, branches.
    #[default]
    Plain,
    /// May end lanes. The step that ends the warp is marked in the path.
    Exit,
    /// Waits for other warps; the step carries a [`crate::path::BarrierUse`].
    Barrier,
    /// Tells a barrier that this warp was here, without waiting.
    Arrive,
    /// Writes the pseudo-register of its commit group; the step carries an
    /// [`crate::path::AsyncRing`].
    AsyncCopy,
    /// Reads the pseudo-register that the step names.
    AsyncWait,
}

/// Some registers, each once. Only matrix instructions list more than a few.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct RegList(Few<RegId, 7>);

impl RegList {
    /// The most registers an instruction can read or write; front ends refuse those with more.
    /// The widest product of matrices reads 24 and its guard.
    pub const MAX: usize = 40;

    /// No register.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a register unless it is there already.
    pub fn insert(&mut self, reg: RegId) {
        if !self.as_slice().contains(&reg) {
            self.0.push(reg);
        }
    }

    /// The registers.
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
    /// As the source calls it.
    pub name: String,
    /// What it holds.
    pub kind: RegKind,
}

/// What a register holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegKind {
    /// A truth value per lane.
    Pred,
    /// This many bits per lane (8, 16, 32 or 64), kept zero-extended.
    Bits(u8),
}

/// A kernel parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Param {
    /// As the source calls it.
    pub name: String,
    /// Offset in the parameter block, bytes.
    pub offset: u32,
    /// Size, bytes.
    pub size: u32,
    /// Type, for checking arguments.
    pub ty: ParamType,
}

/// What a kernel parameter takes.
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
    /// The variable of the module.
    pub name: String,
    /// Its address, which is the handle of what is bound to it.
    pub handle: u64,
    /// Whether stores and loads go through it, not fetches.
    pub surface: bool,
}

/// Names of op classes, dense in [`OpClass`].
#[derive(Clone, Debug, Default)]
pub struct ClassTable {
    names: Vec<String>,
}

impl ClassTable {
    /// The id of a name, new or known.
    pub fn intern(&mut self, name: &str) -> OpClass {
        let index = self.names.iter().position(|n| n == name).unwrap_or_else(|| {
            self.names.push(name.to_owned());
            self.names.len() - 1
        });
        OpClass::from_index(index)
    }

    /// The name of an id.
    pub fn name(&self, class: OpClass) -> &str {
        &self.names[class.index()]
    }

    /// Every name, by id.
    pub fn names(&self) -> &[String] {
        &self.names
    }
}

impl Instr {
    /// Bytes that each lane accesses in shared memory, if it may be there that it does: loads,
    /// stores and atomics through shared or generic addresses.
    pub fn shared_bytes(&self) -> Option<usize> {
        let (space, bytes) = self.sem.access()?;
        matches!(space, Space::Shared | Space::Generic).then_some(bytes)
    }

    /// Whether it moves lines of device memory when it accesses global or local memory, or, if
    /// `constants`, constants or the kernel's parameters.
    pub fn moves_lines(&self, constants: bool) -> bool {
        self.flow == Flow::AsyncCopy || self.memory.is_some_and(|memory| memory.moves_lines(constants))
    }

    /// Whether it takes values to memory and brings none back.
    pub fn stores(&self) -> bool {
        matches!(self.memory, Some(MemoryOp::Store(_)))
    }

    /// Whether it may fetch its results from global memory.
    pub fn loads_global(&self) -> bool {
        self.flow == Flow::AsyncCopy || self.memory.is_some_and(MemoryOp::loads_global)
    }

    /// What it waits for, if that takes no time here though it does on hardware.
    pub fn waits_untimed(&self) -> Option<&'static str> {
        match &self.sem {
            Sem::Mbarrier(barrier) => {
                matches!(barrier.op, sem::MbarrierOp::Wait { .. }).then_some("waits at an mbarrier object")
            }
            Sem::Sleep { time } => {
                (*time != sem::Operand::Imm(0)).then_some("sleeps for a time that the hardware chooses")
            }
            _ => None,
        }
    }
}

impl Program {
    /// A wait that takes no time here, though it does on hardware: that at an mbarrier object, or a sleep,
    /// which takes between zero and twice the time that it names (PTX ISA, `nanosleep`). Its line, and
    /// what it does.
    pub fn untimed_wait(&self) -> Option<(u32, &'static str)> {
        self.instrs.iter().find_map(|instr| Some((instr.line, instr.waits_untimed()?)))
    }

    /// Why the paths may depend on the order in which warps run: an instruction reads what an atomic
    /// operation returned, or an exchange decides who comes first.
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

    /// The instruction at a pc.
    pub fn instr(&self, pc: Pc) -> &Instr {
        &self.instrs[pc.index()]
    }

    /// `file:line` of an instruction, or `file:kernel+byte`, for messages.
    pub fn place(&self, pc: Pc) -> String {
        let instr = self.instr(pc);
        match self.machine_code.as_ref().and_then(|code| code.of(instr)) {
            Some(coded) => format!("{}:{}+{:#x}", self.file, self.name, coded.byte),
            None => format!("{}:{}", self.file, instr.line),
        }
    }

    /// Instructions as the source has them: those that others are made of count once.
    pub fn count(&self) -> usize {
        self.instrs.iter().filter(|instr| !instr.folded).count()
    }
}
