//! Lowers instructions to [`Sem`]; each file handles one family of instructions.
//!
//! The semantics layer has neither signs on sources nor halves or pairs of registers. If an
//! instruction of machine code does more than one operation, it is lowered to several adjacent
//! operations on additional registers ([`Instr::folded`]). For timing, each instruction of the
//! machine remains a single one.

mod accesses;
mod bits;
mod calls;
mod carry;
mod compare;
mod constant;
mod control;
mod converge;
mod conversion;
mod convert;
mod double;
mod flags;
mod float;
mod group;
mod half;
mod image;
mod int;
mod matrix;
mod memory;
mod minimum;
mod moves;
mod narrow;
mod problem;
mod program;
mod registers;
mod vector;
mod warp;
mod widths;

pub use problem::Problem;
pub(super) use program::build;
pub use program::{Built, Line};

use super::cubin::{Cubin, Kernel};
use super::table::{Decoded, Encoding, Meaning, Operand, Register, Value};
use warpbound_core::base::{Pc, RegId};
use warpbound_core::program::sem::{Carry, IntOp, IntTy, Operand as Src, PredOp, PredSrc, Sem, ValueTy};
use warpbound_core::program::{Flow, Guard, Instr, MemoryOp, RegList, Register as Declared};

/// The reason why an instruction cannot be lowered: message and hint.
type Refusal = (String, String);
type Res<T> = Result<T, Refusal>;

fn refuse<T>(message: impl Into<String>, hint: impl Into<String>) -> Res<T> {
    Err((message.into(), hint.into()))
}

const U32: IntTy = IntTy { bits: 32, signed: false };
const S32: IntTy = IntTy { bits: 32, signed: true };
const U64: IntTy = IntTy { bits: 64, signed: false };
const S64: IntTy = IntTy { bits: 64, signed: true };

/// The context in which the instructions of a kernel are lowered.
struct Cx<'a> {
    encoding: &'a Encoding,
    cubin: &'a Cubin,
    kernel: &'a Kernel,
    /// The registers of the program, including temporary ones.
    regs: Vec<Declared>,
    known: Vec<Option<RegId>>,
    preds: Vec<Option<RegId>>,
    /// The registers and predicates that the threads of a warp share. Each thread has a copy.
    uniform: Vec<Option<RegId>>,
    uniform_preds: Vec<Option<RegId>>,
    /// The temporary registers by kind; each instruction uses the first ones.
    own: [Vec<RegId>; 3],
    taken: [usize; 3],
    flags: flags::Flags,
    /// Whether an instruction before this one opened a region by a barrier of convergence.
    opened: bool,
    /// Whether the kernel copies asynchronously to shared memory.
    copies: bool,
    /// The functions that a call by a register may call: the value of the register, and the first
    /// instruction.
    pointed: Vec<(u64, Pc)>,
    /// The numbers of the barriers of convergence that BMOV saves in registers, and restores.
    saved: std::collections::BTreeSet<u8>,
    restored: std::collections::BTreeSet<u8>,
    /// The local memory of a thread in bytes.
    local_bytes: u64,
    /// The operations of the current instruction so far.
    parts: Vec<Part>,
    /// Returns the instruction at a branch target, given its byte offset.
    targets: &'a dyn Fn(i64) -> Res<Pc>,
}

/// One operation of an instruction.
struct Part {
    sem: Sem,
    guard: Option<Guard>,
}

/// The role of an instruction in timing.
#[derive(Clone, Copy, Debug, Default)]
struct Role {
    /// The index of the operation that is the memory access, if it is not the last one.
    main: Option<usize>,
    memory: Option<MemoryOp>,
    flow: Flow,
}

impl Role {
    const PLAIN: Self = Self { main: None, memory: None, flow: Flow::Plain };

    fn flow(flow: Flow) -> Self {
        Self { flow, ..Self::PLAIN }
    }
}

impl<'a> Cx<'a> {
    fn new(
        encoding: &'a Encoding,
        (cubin, kernel): (&'a Cubin, &'a Kernel),
        flags: flags::Uses,
        targets: &'a dyn Fn(i64) -> Res<Pc>,
    ) -> Self {
        let registers = &encoding.registers;
        let mut cx = Self {
            encoding,
            cubin,
            kernel,
            regs: Vec::new(),
            known: vec![None; registers.general.count().into()],
            preds: vec![None; registers.predicate.count().into()],
            uniform: vec![None; registers.uniform.as_ref().map_or(0, |file| file.count().into())],
            uniform_preds: vec![
                None;
                registers.uniform_predicate.as_ref().map_or(0, |file| file.count().into())
            ],
            own: [Vec::new(), Vec::new(), Vec::new()],
            taken: [0; 3],
            flags: flags::Flags::default(),
            opened: false,
            copies: false,
            pointed: Vec::new(),
            saved: std::collections::BTreeSet::new(),
            restored: std::collections::BTreeSet::new(),
            local_bytes: kernel.local_bytes,
            parts: Vec::new(),
            targets,
        };
        cx.flags = flags::Flags::new(&mut cx, flags);
        cx
    }

    fn push(&mut self, sem: Sem) {
        self.parts.push(Part { sem, guard: None });
    }

    /// Adds an operation that only the lanes execute in which a predicate holds.
    fn push_if(&mut self, reg: RegId, negate: bool, sem: Sem) {
        self.parts.push(Part { sem, guard: Some(Guard { reg, negate }) });
    }

    /// Adds `dst = op(..)`.
    fn int(&mut self, op: IntOp, ty: IntTy, dst: RegId, src: &[Src]) {
        let mut all = [Src::Imm(0); 4];
        all.iter_mut().zip(src).for_each(|(to, from)| *to = *from);
        self.push(Sem::Int { op, ty, dst, src: all, carry: Carry::default(), saturate: false });
    }

    /// Adds a 32-bit operation whose destination is a temporary register.
    fn value(&mut self, op: IntOp, ty: IntTy, src: &[Src]) -> Src {
        let dst = self.narrow();
        self.int(op, ty, dst, src);
        Src::Reg(dst)
    }

    /// Returns the destination of a 32-bit result; for the register that is always zero, a register
    /// that is never read.
    fn dst(&mut self, d: &Decoded, name: &str) -> Res<RegId> {
        match d.operand(name).map(|operand| operand.value) {
            Some(Value::Register(Register::Fixed) | Value::Uniform(Register::Fixed)) => Ok(self.narrow()),
            Some(Value::Register(Register::Number(number))) => Ok(self.register(number)),
            Some(Value::Uniform(Register::Number(number))) => Ok(self.shared(number)),
            _ => refuse(format!("{} without a destination", d.op.name), ""),
        }
    }

    /// Returns the destination predicate; `None` for the one that is always true.
    fn pred_dst(&mut self, d: &Decoded, name: &str) -> Option<RegId> {
        match d.operand(name).map(|operand| operand.value) {
            Some(Value::Predicate(Register::Number(number))) => Some(self.predicate(number)),
            Some(Value::UniformPredicate(Register::Number(number))) => Some(self.shared_predicate(number)),
            _ => None,
        }
    }

    /// Returns a source predicate, which may be negated.
    fn pred_src(&mut self, d: &Decoded, name: &str) -> PredSrc {
        match d.operand(name) {
            Some(&Operand { value: Value::Predicate(Register::Number(number)), not, .. }) => {
                PredSrc::Reg(Guard { reg: self.predicate(number), negate: not })
            }
            Some(&Operand { value: Value::UniformPredicate(Register::Number(number)), not, .. }) => {
                PredSrc::Reg(Guard { reg: self.shared_predicate(number), negate: not })
            }
            Some(operand) => PredSrc::Const(!operand.not),
            None => PredSrc::Const(true),
        }
    }

    /// Returns the 32 bits of a source without its signs.
    fn raw(&mut self, operand: &Operand) -> Res<Src> {
        Ok(match operand.value {
            Value::Register(Register::Fixed) | Value::Uniform(Register::Fixed) => Src::Imm(0),
            Value::Register(Register::Number(number)) => Src::Reg(self.register(number)),
            Value::Uniform(Register::Number(number)) => Src::Reg(self.shared(number)),
            Value::Number(number) => Src::Imm(u64::from(number as u32)),
            Value::Small(number) => Src::Imm(number),
            Value::Single(bits) => Src::Imm(bits.into()),
            Value::Constant { bank, offset } => self.constant(bank, offset)?,
            _ => return refuse("an operand that this instruction does not take", ""),
        })
    }

    fn source(&mut self, d: &Decoded, name: &str) -> Res<Src> {
        match d.operand(name) {
            Some(operand) => self.raw(operand),
            None => refuse(format!("{} without operand {name}", d.op.name), ""),
        }
    }

    /// Returns 64 bits of a source: a pair of registers, two words of a constant, or a double.
    fn pair(&mut self, operand: &Operand) -> Res<Src> {
        let parts = match operand.value {
            Value::Register(Register::Fixed) | Value::Uniform(Register::Fixed) => return Ok(Src::Imm(0)),
            Value::Double(bits) => return Ok(Src::Imm(bits)),
            Value::Number(number) => return Ok(Src::Imm(number as u64)),
            Value::Register(Register::Number(number)) => {
                let next = self.further(number, 1);
                vec![Src::Reg(self.register(number)), Src::Reg(self.register(next))]
            }
            Value::Uniform(Register::Number(number)) => {
                let next = self.register_of(operand.value, 1);
                vec![Src::Reg(self.shared(number)), next.map_or(Src::Imm(0), Src::Reg)]
            }
            Value::Constant { bank, offset } => {
                vec![self.constant(bank, offset)?, self.constant(bank, offset + 4)?]
            }
            _ => return refuse("an operand that is no pair", ""),
        };
        if let [Src::Imm(low), Src::Imm(high)] = parts[..] {
            return Ok(Src::Imm(low | high << 32));
        }
        let dst = self.wide();
        self.push(Sem::Pack { dst, parts, bits: 32 });
        Ok(Src::Reg(dst))
    }

    /// Returns the mask of the lanes that execute the instruction.
    fn active(&mut self) -> Src {
        let dst = self.narrow();
        self.push(Sem::ActiveMask { dst });
        Src::Reg(dst)
    }

    /// Writes 64 bits to the pair of registers of a destination.
    fn unpack(&mut self, d: &Decoded, name: &str, src: RegId) {
        let Some(value) = d.operand(name).map(|operand| operand.value) else { return };
        if let (Some(low), Some(high)) = (self.register_of(value, 0), self.register_of(value, 1)) {
            self.halves(low, high, src);
        }
    }

    /// Adds an extraction of both halves of 64 bits.
    fn halves(&mut self, low: RegId, high: RegId, src: RegId) {
        self.push(Sem::Unpack { dsts: vec![Some(low), Some(high)], src: Src::Reg(src), bits: 32 });
    }

    /// Adds an extraction of the lower half of 64 bits.
    fn low(&mut self, dst: RegId, src: RegId) {
        self.push(conversion::plain(dst, Src::Reg(src), ValueTy::Int(U64), ValueTy::Int(U32)));
    }

    /// Adds an extraction of the upper half of 64 bits.
    fn high(&mut self, dst: RegId, src: RegId) {
        self.push(Sem::Unpack { dsts: vec![None, Some(dst)], src: Src::Reg(src), bits: 32 });
    }

    /// Adds `dst = a` for predicates.
    fn set_pred(&mut self, dst: RegId, a: PredSrc) {
        self.push(Sem::PredLogic { op: PredOp::Mov, dst, a, b: PredSrc::Const(false) });
    }

    /// Completes an instruction: it emits the operations, of which one represents the instruction
    /// in timing.
    fn finish(&mut self, d: &Decoded, role: Role, place: u32, out: &mut Vec<Instr>) {
        if self.parts.is_empty() {
            self.push(Sem::Nop);
        }
        let main = role.main.unwrap_or(self.parts.len() - 1);
        let guard = d.guard.filter(|&(register, negated)| register != Register::Fixed || negated);
        let guard = guard.map(|(register, negate)| self.guard(register, negate, d.op.uniform));
        let (mut dsts, mut srcs) = (RegList::new(), RegList::new());
        for part in &self.parts {
            let used = part.sem.registers();
            used.dsts.as_slice().iter().filter(|&&reg| !self.is_own(reg)).for_each(|&reg| dsts.insert(reg));
            used.srcs.as_slice().iter().filter(|&&reg| !self.is_own(reg)).for_each(|&reg| srcs.insert(reg));
        }
        // a guard that an operation overwrites is copied first
        let parts = std::mem::take(&mut self.parts);
        let (last, before) = parts.split_last().map_or((0, &[][..]), |(_, before)| (before.len(), before));
        let writes = |guard: Guard| {
            before.iter().any(|part| part.sem.registers().dsts.as_slice().contains(&guard.reg))
        };
        let blank = |sem: Sem, guard: Option<Guard>| Instr {
            class: warpbound_core::base::OpClass::default(),
            class_by_space: None,
            dsts: RegList::new(),
            srcs: RegList::new(),
            guard,
            flow: Flow::Plain,
            memory: None,
            sem,
            line: place,
            folded: true,
        };
        // an operation with its own condition includes the guard in it
        let conditional = parts.iter().any(|part| part.guard.is_some());
        let mut kept = if conditional { None } else { guard };
        if let Some(guard) = guard {
            if writes(guard) && !conditional {
                let copy = self.pred();
                let sem = Sem::PredLogic {
                    op: PredOp::Mov,
                    dst: copy,
                    a: PredSrc::Reg(Guard { negate: false, ..guard }),
                    b: PredSrc::Const(false),
                };
                out.push(blank(sem, None));
                kept = Some(Guard { reg: copy, negate: guard.negate });
            }
            srcs.insert(guard.reg);
        }
        debug_assert!(main <= last);
        for (index, part) in parts.into_iter().enumerate() {
            let used = part.sem.registers();
            let mut instr = blank(part.sem, kept);
            instr.guard = part.guard.or(instr.guard);
            (instr.dsts, instr.srcs) = (used.dsts, used.srcs);
            if let Some(guard) = instr.guard {
                instr.srcs.insert(guard.reg);
            }
            if index == main {
                instr.folded = false;
                (instr.dsts, instr.srcs) = (dsts.clone(), srcs.clone());
                (instr.flow, instr.memory) = (role.flow, role.memory);
            }
            out.push(instr);
        }
        self.taken = [0; 3];
    }

    /// Lowers one instruction by the name of its semantics.
    fn instruction(&mut self, d: &Decoded, next: i64) -> Res<Role> {
        match d.op.meaning {
            Some(Meaning::Int(name)) => int::lower(self, d, name),
            Some(Meaning::Bits(name)) => bits::lower(self, d, name),
            Some(Meaning::Compare(name)) => compare::lower(self, d, name),
            Some(Meaning::Moves(name)) => moves::lower(self, d, name),
            Some(Meaning::Float(name)) => float::lower(self, d, name),
            Some(Meaning::Half(name)) => half::lower(self, d, name),
            Some(Meaning::Double(name)) => double::lower(self, d, name),
            Some(Meaning::Convert(name)) => convert::lower(self, d, name),
            Some(Meaning::Memory(name)) => memory::lower(self, d, name),
            Some(Meaning::Image(name)) => image::lower(self, d, name),
            Some(Meaning::Warp(name)) => warp::lower(self, d, name),
            Some(Meaning::Group(name)) => group::lower(self, d, name),
            Some(Meaning::Control(name)) => control::lower(self, d, name, next),
            None => {
                refuse(format!("{} is not supported", d.op.name), "compile the kernel without what needs it")
            }
        }
    }
}
