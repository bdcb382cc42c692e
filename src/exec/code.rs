//! Instructions made ready to run: operands as rows, the common operations told apart.
//!
//! What an instruction does is said once, by its [`Sem`] and the interpreter in [`super::step`].
//! Here stand the operations that are worth running on whole rows; everything else is
//! [`Kind::General`] and goes through the interpreter, with the same result (a test holds both
//! equal for every operation).

use super::Vectors;
use super::access::Access;
use super::registers::{Place, RegisterMap};
use super::stack::SimtStack;
use crate::base::{Pc, RegId};
use crate::isa::Space;
use crate::path::{MemoryUse, Step};
use crate::program::sem::{
    Carry, Cmp, Compare, Convert, FloatMode, FloatOp, FloatTy, IntOp, IntTy, MbarrierOp, Operand, PredSrc,
    Round, Special, ValueTy,
};
use crate::program::{Guard, Instr, Program, Sem};

/// An instruction, ready to run. What `d`, `a`, `b` and `c` are depends on the kind: rows, if
/// nothing else is said.
#[derive(Clone, Copy, Debug)]
pub(super) struct Op {
    pub(super) kind: Kind,
    pub(super) guard: Option<Guard>,
    pub(super) d: u32,
    pub(super) a: u32,
    pub(super) b: u32,
    pub(super) c: u32,
}

/// What to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Not part of a straight run: it may go elsewhere, wait, or see how much has been executed.
    Apart,
    /// Stands apart too: a branch to pc `a` whose lanes meet again at pc `b`, if that is not
    /// [`SimtStack::END`].
    Branch,
    /// As its semantics say.
    General,
    /// Fences and their like.
    Nothing,
    /// 32-bit integers; narrow rows.
    Narrow(Narrow),
    /// 64-bit integers; wide rows, the amounts of shifts narrow.
    Wide(Wide),
    /// 64-bit results from 32-bit sources.
    Widen(Widen),
    /// The low 32 bits of a wide row.
    Truncate,
    /// Single precision; narrow rows.
    Single {
        op: Single,
        /// Subnormal sources and results are zeros.
        ftz: bool,
    },
    /// Double precision; wide rows.
    Double(Double),
    /// From a narrow row to a wide one.
    SingleToDouble,
    /// From a wide row to a narrow one.
    DoubleToSingle,
    /// Where `a` is related to `b`; the rest of the comparison is in its semantics.
    Compare {
        relation: Relation,
        /// The relation's opposite is asked for.
        negate: bool,
    },
    /// `c` is an index into [`Code::conditions`].
    SelectNarrow,
    /// As `SelectNarrow`, of wide rows.
    SelectWide,
    /// Logic on predicates.
    Predicates,
    /// `a` is an index into [`Code::accesses`], for whatever loads or stores.
    Load,
    /// As for loads.
    Store,
}

/// Operations on 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Narrow {
    Move,
    Not,
    Neg,
    Add,
    Sub,
    Mul,
    Mad,
    MulHiUnsigned,
    MulHiSigned,
    And,
    Or,
    Xor,
    Shl,
    ShrUnsigned,
    ShrSigned,
    MinUnsigned,
    MinSigned,
    MaxUnsigned,
    MaxSigned,
    Lop3(u8),
    FunnelLeft { wrap: bool },
    FunnelRight { wrap: bool },
}

/// Operations on 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wide {
    Move,
    Not,
    Neg,
    Add,
    Sub,
    Mul,
    Mad,
    And,
    Or,
    Xor,
    Shl,
    ShrUnsigned,
    ShrSigned,
    MinUnsigned,
    MinSigned,
    MaxUnsigned,
    MaxSigned,
}

/// Operations from 32 to 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Widen {
    Zero,
    Sign,
    MulUnsigned,
    MulSigned,
    /// `c` is wide.
    MadUnsigned,
    /// `c` is wide.
    MadSigned,
    /// `a` in the low half, `b` in the high one.
    Pack,
}

/// Single precision, rounded to nearest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Single {
    Add,
    Sub,
    Mul,
    Fma,
    Div,
    Rcp,
    Sqrt,
    /// By way of double precision, as [`super::arith::approx`] does it.
    Rsqrt,
    Abs,
    Neg,
    Min,
    Max,
    FromSigned,
    FromUnsigned,
    /// Towards zero, clamped.
    ToSigned,
    /// Towards zero, clamped.
    ToUnsigned,
}

/// Double precision, rounded to nearest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Double {
    Add,
    Sub,
    Mul,
    Fma,
    Div,
    Sqrt,
    Abs,
    Neg,
}

/// What a comparison asks; others are these with sources exchanged or the answer negated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Relation {
    Equal,
    LessUnsigned,
    LessSigned,
    WideEqual,
    WideLessUnsigned,
    WideLessSigned,
    Single(Order),
    Double(Order),
}

/// Relations of floating-point numbers; none of them holds for NaN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Equal,
    Less,
    AtMost,
    /// Less or greater.
    Apart,
    /// Both are numbers.
    Ordered,
}

/// A program, ready to run.
#[derive(Debug)]
pub(super) struct Code {
    /// By pc.
    pub(super) ops: Vec<Op>,
    /// By pc: the step of the instruction, as far as it does not depend on the execution.
    pub(super) steps: Vec<Step>,
    /// By pc: the next instruction at or after it that stands apart, or the end of the program.
    pub(super) ends: Vec<u32>,
    /// By pc: whether lanes that come there in the kernel itself do nothing more but end.
    pub(super) leaves: Vec<bool>,
    /// Loads and stores.
    pub(super) accesses: Vec<Access>,
    /// Predicates of selections.
    pub(super) conditions: Vec<PredSrc>,
}

impl Code {
    /// Makes a program ready; the rows of its immediates are added to the map.
    pub(super) fn new(program: &Program, map: &mut RegisterMap, vectors: Vectors) -> Self {
        let mut code = Self {
            ops: Vec::with_capacity(program.instrs.len()),
            steps: Vec::with_capacity(program.instrs.len()),
            ends: Vec::new(),
            leaves: leaves(program),
            accesses: Vec::new(),
            conditions: Vec::new(),
        };
        for (index, instr) in program.instrs.iter().enumerate() {
            let mut op = Op { kind: Kind::General, guard: instr.guard, d: 0, a: 0, b: 0, c: 0 };
            let off = vectors == Vectors::Off;
            if let Sem::Branch { target, reconverge } = instr.sem {
                op.kind = Kind::Branch;
                (op.a, op.b) = (target.get(), reconverge.unwrap_or(SimtStack::END).get());
            } else if stands_apart(instr) {
                op.kind = Kind::Apart;
            } else if !off {
                code.decode(instr, map, &mut op);
            }
            code.decode_access(instr, map, off, &mut op);
            code.ops.push(op);
            let pc = Pc::from_index(index);
            code.steps.push(match instr.sem.access() {
                Some((space, _)) if space != Space::Generic => {
                    Step::with(pc, MemoryUse { space, transactions: 0 })
                }
                _ => Step::plain(pc),
            });
        }
        let mut end = program.instrs.len() as u32;
        code.ends = vec![end; program.instrs.len()];
        for index in (0..program.instrs.len()).rev() {
            if matches!(code.ops[index].kind, Kind::Apart | Kind::Branch) {
                end = index as u32;
            }
            code.ends[index] = end;
        }
        code
    }

    /// What the load or store at a pc accesses.
    pub(super) fn access(&self, pc: Pc) -> &Access {
        &self.accesses[self.ops[pc.index()].a as usize]
    }

    /// Turns the operation into a special kind if there is one for it.
    fn decode(&mut self, instr: &Instr, map: &mut RegisterMap, op: &mut Op) {
        let found = match &instr.sem {
            Sem::Nop | Sem::WarpSync { members: Operand::Imm(0xffff_ffff) } => {
                op.kind = Kind::Nothing;
                Some(())
            }
            Sem::Mov { dst, src } => mov(map, *dst, *src, op),
            Sem::Int { op: int, ty, dst, src, carry, saturate: false } if *carry == Carry::default() => {
                integer(map, (*int, *ty), *dst, src, op)
            }
            Sem::Float { op: float, ty, mode, dst, src } => {
                self::float(map, (*float, *ty, *mode), *dst, src, op)
            }
            Sem::Convert(convert) => conversion(map, convert, op),
            Sem::Compare(compare) => comparison(map, compare, op),
            Sem::Select { dst, a, b, p } => self.selection(map, *dst, [*a, *b], *p, op),
            Sem::PredLogic { .. } => {
                op.kind = Kind::Predicates;
                Some(())
            }
            Sem::Pack { dst, parts, bits: 32 } => match (map.place(*dst), parts.as_slice()) {
                (Place::Wide(d), [low, high]) => {
                    rows(op, Kind::Widen(Widen::Pack), d, [map.narrow(*low), map.narrow(*high), Some(0)])
                }
                _ => None,
            },
            _ => None,
        };
        if found.is_none() {
            op.kind = Kind::General;
        }
    }

    /// Loads and stores have one way to run, which takes its shortcuts unless it is told not to.
    fn decode_access(&mut self, instr: &Instr, map: &mut RegisterMap, by_lane: bool, op: &mut Op) {
        let (access, kind) = match &instr.sem {
            Sem::Load { space, ty, dsts, addr } => {
                (Access::load(map, *space, *ty, dsts, addr, by_lane), Kind::Load)
            }
            Sem::Store { space, bits, srcs, addr } => {
                (Access::store(map, *space, *bits, srcs, addr, by_lane), Kind::Store)
            }
            _ => return,
        };
        op.a = self.accesses.len() as u32;
        self.accesses.push(access);
        if op.kind != Kind::Apart {
            op.kind = kind;
        }
    }

    fn selection(
        &mut self,
        map: &mut RegisterMap,
        dst: RegId,
        [a, b]: [Operand; 2],
        p: PredSrc,
        op: &mut Op,
    ) -> Option<()> {
        let condition = self.conditions.len() as u32;
        let found = match map.place(dst) {
            Place::Narrow(d) if map.width(dst) == u64::from(u32::MAX) => {
                rows(op, Kind::SelectNarrow, d, [map.narrow(a), map.narrow(b), Some(condition)])
            }
            Place::Wide(d) => rows(op, Kind::SelectWide, d, [map.wide(a), map.wide(b), Some(condition)]),
            _ => None,
        };
        self.conditions.push(p);
        found
    }
}

/// Where lanes can only end: at `ret`, `exit`, and jumps that lead there without a condition.
fn leaves(program: &Program) -> Vec<bool> {
    let mut known: Vec<Option<bool>> = vec![None; program.instrs.len()];
    for start in 0..program.instrs.len() {
        let (mut at, mut chain) = (start, Vec::new());
        let answer = loop {
            match known.get(at) {
                Some(Some(answer)) => break *answer,
                Some(None) => {}
                None => break false,
            }
            // jumps that go round in circles end nowhere
            known[at] = Some(false);
            chain.push(at);
            match &program.instrs[at] {
                Instr { sem: Sem::Return | Sem::Exit, guard: None, .. } => break true,
                Instr { sem: Sem::Branch { target, .. }, guard: None, .. } => at = target.index(),
                _ => break false,
            }
        };
        chain.into_iter().for_each(|pc| known[pc] = Some(answer));
    }
    known.into_iter().map(|answer| answer == Some(true)).collect()
}

/// Instructions that change where a warp is, wait, or read how much it has executed.
fn stands_apart(instr: &Instr) -> bool {
    let reads_clock = |operand: &Operand| *operand == Operand::Special(Special::Clock);
    match &instr.sem {
        Sem::BranchTable { .. }
        | Sem::OpenRegion { .. }
        | Sem::CloseRegion { .. }
        | Sem::Call(_)
        | Sem::CallPointer(_)
        | Sem::Return
        | Sem::Exit
        | Sem::Trap { .. }
        | Sem::Barrier(_) => true,
        Sem::Mbarrier(barrier) => matches!(barrier.op, MbarrierOp::Wait { .. }),
        Sem::Mov { src, .. } => reads_clock(src),
        Sem::Int { src, .. } => src.iter().any(reads_clock),
        Sem::Convert(convert) => reads_clock(&convert.src),
        Sem::Store { srcs, .. } => srcs.iter().any(reads_clock),
        Sem::Pack { parts, .. } => parts.iter().any(reads_clock),
        Sem::Compare(compare) => reads_clock(&compare.a) || reads_clock(&compare.b),
        Sem::Select { a, b, .. } => reads_clock(a) || reads_clock(b),
        Sem::Atomic(atomic) => reads_clock(&atomic.b) || reads_clock(&atomic.c),
        Sem::Matrix(matrix) => matrix.sources().any(|operand| reads_clock(&operand)),
        _ => false,
    }
}

/// Fills in an operation whose rows were all found.
fn rows(op: &mut Op, kind: Kind, d: u32, sources: [Option<u32>; 3]) -> Option<()> {
    let [a, b, c] = sources;
    (op.a, op.b, op.c) = (a?, b?, c?);
    (op.kind, op.d) = (kind, d);
    Some(())
}

/// The narrow row of a register of just 32 bits.
fn full_narrow(map: &RegisterMap, reg: RegId) -> Option<u32> {
    match map.place(reg) {
        Place::Narrow(row) if map.width(reg) == u64::from(u32::MAX) => Some(row),
        _ => None,
    }
}

fn mov(map: &mut RegisterMap, dst: RegId, src: Operand, op: &mut Op) -> Option<()> {
    match map.place(dst) {
        Place::Wide(d) => rows(op, Kind::Wide(Wide::Move), d, [map.wide(src), Some(0), Some(0)]),
        Place::Narrow(d) => {
            let fits = match src {
                Operand::Reg(reg) => map.width(reg) <= map.width(dst),
                Operand::Imm(value) => value <= map.width(dst),
                Operand::Special(_) => map.width(dst) == u64::from(u32::MAX),
            };
            fits.then_some(())?;
            rows(op, Kind::Narrow(Narrow::Move), d, [map.narrow(src), Some(0), Some(0)])
        }
        Place::Pred => None,
    }
}

fn integer(
    map: &mut RegisterMap,
    (int, ty): (IntOp, IntTy),
    dst: RegId,
    &[a, b, c, _]: &[Operand; 4],
    op: &mut Op,
) -> Option<()> {
    match (ty.bits, map.place(dst)) {
        (32, Place::Wide(d)) => {
            let (kind, has_addend) = match (int, ty.signed) {
                (IntOp::MulWide, false) => (Widen::MulUnsigned, false),
                (IntOp::MulWide, true) => (Widen::MulSigned, false),
                (IntOp::MadWide, false) => (Widen::MadUnsigned, true),
                (IntOp::MadWide, true) => (Widen::MadSigned, true),
                _ => return None,
            };
            let addend = if has_addend { map.wide(c) } else { Some(0) };
            rows(op, Kind::Widen(kind), d, [map.narrow(a), map.narrow(b), addend])
        }
        (32, Place::Narrow(_)) => {
            let d = full_narrow(map, dst)?;
            let (kind, sources) = narrow_kind(int, ty.signed)?;
            let second = if sources > 1 { map.narrow(b) } else { Some(0) };
            let third = if sources > 2 { map.narrow(c) } else { Some(0) };
            rows(op, Kind::Narrow(kind), d, [map.narrow(a), second, third])
        }
        (64, Place::Wide(d)) => {
            let (kind, sources) = wide_kind(int, ty.signed)?;
            let shift = matches!(kind, Wide::Shl | Wide::ShrUnsigned | Wide::ShrSigned);
            let second = match sources {
                1 => Some(0),
                _ if shift => map.narrow(b),
                _ => map.wide(b),
            };
            let third = if sources > 2 { map.wide(c) } else { Some(0) };
            rows(op, Kind::Wide(kind), d, [map.wide(a), second, third])
        }
        _ => None,
    }
}

/// The operation and how many sources it has.
fn narrow_kind(int: IntOp, signed: bool) -> Option<(Narrow, usize)> {
    Some(match int {
        IntOp::Add => (Narrow::Add, 2),
        IntOp::Sub => (Narrow::Sub, 2),
        IntOp::MulLo => (Narrow::Mul, 2),
        IntOp::MulHi if signed => (Narrow::MulHiSigned, 2),
        IntOp::MulHi => (Narrow::MulHiUnsigned, 2),
        IntOp::MadLo => (Narrow::Mad, 3),
        IntOp::And => (Narrow::And, 2),
        IntOp::Or => (Narrow::Or, 2),
        IntOp::Xor => (Narrow::Xor, 2),
        IntOp::Not => (Narrow::Not, 1),
        IntOp::Neg => (Narrow::Neg, 1),
        IntOp::Shl => (Narrow::Shl, 2),
        IntOp::Shr if signed => (Narrow::ShrSigned, 2),
        IntOp::Shr => (Narrow::ShrUnsigned, 2),
        IntOp::Min if signed => (Narrow::MinSigned, 2),
        IntOp::Min => (Narrow::MinUnsigned, 2),
        IntOp::Max if signed => (Narrow::MaxSigned, 2),
        IntOp::Max => (Narrow::MaxUnsigned, 2),
        IntOp::Lop3(table) => (Narrow::Lop3(table), 3),
        IntOp::FunnelLeft { wrap } => (Narrow::FunnelLeft { wrap }, 3),
        IntOp::FunnelRight { wrap } => (Narrow::FunnelRight { wrap }, 3),
        _ => return None,
    })
}

/// As [`narrow_kind`].
fn wide_kind(int: IntOp, signed: bool) -> Option<(Wide, usize)> {
    Some(match int {
        IntOp::Add => (Wide::Add, 2),
        IntOp::Sub => (Wide::Sub, 2),
        IntOp::MulLo => (Wide::Mul, 2),
        IntOp::MadLo => (Wide::Mad, 3),
        IntOp::And => (Wide::And, 2),
        IntOp::Or => (Wide::Or, 2),
        IntOp::Xor => (Wide::Xor, 2),
        IntOp::Not => (Wide::Not, 1),
        IntOp::Neg => (Wide::Neg, 1),
        IntOp::Shl => (Wide::Shl, 2),
        IntOp::Shr if signed => (Wide::ShrSigned, 2),
        IntOp::Shr => (Wide::ShrUnsigned, 2),
        IntOp::Min if signed => (Wide::MinSigned, 2),
        IntOp::Min => (Wide::MinUnsigned, 2),
        IntOp::Max if signed => (Wide::MaxSigned, 2),
        IntOp::Max => (Wide::MaxUnsigned, 2),
        _ => return None,
    })
}

fn float(
    map: &mut RegisterMap,
    (float, ty, mode): (FloatOp, FloatTy, FloatMode),
    dst: RegId,
    &[a, b, c]: &[Operand; 3],
    op: &mut Op,
) -> Option<()> {
    let FloatMode { round, ftz, sat, approx, nan, relu } = mode;
    // approximate variants of what IEEE defines are done exactly
    let defined = matches!(float, FloatOp::Div | FloatOp::Sqrt | FloatOp::Rcp);
    let nearest = round == Round::Nearest || approx && defined;
    let exact = matches!(float, FloatOp::Abs | FloatOp::Neg | FloatOp::Min | FloatOp::Max);
    if sat || relu || nan || !(nearest || exact) {
        return None;
    }
    match ty {
        FloatTy::F32 => {
            let kind = match float {
                FloatOp::Add => Single::Add,
                FloatOp::Sub => Single::Sub,
                FloatOp::Mul => Single::Mul,
                FloatOp::Fma => Single::Fma,
                FloatOp::Div => Single::Div,
                FloatOp::Rcp => Single::Rcp,
                FloatOp::Sqrt => Single::Sqrt,
                FloatOp::Rsqrt => Single::Rsqrt,
                FloatOp::Abs => Single::Abs,
                FloatOp::Neg => Single::Neg,
                FloatOp::Min => Single::Min,
                FloatOp::Max => Single::Max,
                _ => return None,
            };
            let d = full_narrow(map, dst)?;
            rows(op, Kind::Single { op: kind, ftz }, d, [map.narrow(a), map.narrow(b), map.narrow(c)])
        }
        FloatTy::F64 if !ftz => {
            let kind = match float {
                FloatOp::Add => Double::Add,
                FloatOp::Sub => Double::Sub,
                FloatOp::Mul => Double::Mul,
                FloatOp::Fma => Double::Fma,
                FloatOp::Div => Double::Div,
                FloatOp::Sqrt => Double::Sqrt,
                FloatOp::Abs => Double::Abs,
                FloatOp::Neg => Double::Neg,
                _ => return None,
            };
            let Place::Wide(d) = map.place(dst) else { return None };
            rows(op, Kind::Double(kind), d, [map.wide(a), map.wide(b), map.wide(c)])
        }
        _ => None,
    }
}

fn conversion(map: &mut RegisterMap, convert: &Convert, op: &mut Op) -> Option<()> {
    const F32: ValueTy = ValueTy::Float(FloatTy::F32);
    const F64: ValueTy = ValueTy::Float(FloatTy::F64);
    const fn int(bits: u8, signed: bool) -> ValueTy {
        ValueTy::Int(IntTy { bits, signed })
    }
    let Convert { dst, src, src2: None, from, to, round, integral, sat: false, ftz, relu: false } = *convert
    else {
        return None;
    };
    // towards integers every conversion is integral, and what would be flushed is cut off anyway
    let to_int = matches!(to, ValueTy::Int(_));
    if (integral || ftz) && !to_int {
        return None;
    }
    let nearest = round == Round::Nearest;
    let one = |row| [row, Some(0), Some(0)];
    let single = |op| Kind::Single { op, ftz: false };
    match (from, to) {
        (ValueTy::Int(from), ValueTy::Int(to)) => {
            let width = |bits| super::lanes::width_mask(u32::from(bits));
            let place = map.place(dst);
            match place {
                Place::Wide(d) if from.bits == 32 && to.bits == 64 => {
                    let kind = if from.signed { Widen::Sign } else { Widen::Zero };
                    rows(op, Kind::Widen(kind), d, one(map.narrow(src)))
                }
                Place::Wide(d) if from.bits == 64 && to.bits == 64 => {
                    rows(op, Kind::Wide(Wide::Move), d, one(map.wide(src)))
                }
                Place::Narrow(_) if from.bits == 64 && to.bits == 32 => {
                    let d = full_narrow(map, dst)?;
                    rows(op, Kind::Truncate, d, one(map.wide(src)))
                }
                // what is unsigned keeps its low bits; what has as many bits keeps all
                Place::Narrow(d) if from.bits <= 32 && !(from.signed && from.bits < to.bits) => {
                    let keep = width(from.bits.min(to.bits)) & map.width(dst);
                    (!to.signed || width(to.bits) >= map.width(dst)).then_some(())?;
                    let sources = [map.narrow(src), map.narrow(Operand::Imm(keep)), Some(0)];
                    rows(op, Kind::Narrow(Narrow::And), d, sources)
                }
                _ => None,
            }
        }
        _ if from == int(32, true) && to == F32 && nearest => {
            rows(op, single(Single::FromSigned), full_narrow(map, dst)?, one(map.narrow(src)))
        }
        _ if from == int(32, false) && to == F32 && nearest => {
            rows(op, single(Single::FromUnsigned), full_narrow(map, dst)?, one(map.narrow(src)))
        }
        _ if from == F32 && to == int(32, true) && round == Round::Zero => {
            rows(op, single(Single::ToSigned), full_narrow(map, dst)?, one(map.narrow(src)))
        }
        _ if from == F32 && to == int(32, false) && round == Round::Zero => {
            rows(op, single(Single::ToUnsigned), full_narrow(map, dst)?, one(map.narrow(src)))
        }
        (F32, F64) => match map.place(dst) {
            Place::Wide(d) => rows(op, Kind::SingleToDouble, d, one(map.narrow(src))),
            _ => None,
        },
        (F64, F32) if nearest => rows(op, Kind::DoubleToSingle, full_narrow(map, dst)?, one(map.wide(src))),
        _ => None,
    }
}

fn comparison(map: &mut RegisterMap, compare: &Compare, op: &mut Op) -> Option<()> {
    if compare.ftz {
        return None;
    }
    let (mut a, mut b) = (compare.a, compare.b);
    let (relation, negate) = match compare.ty {
        ValueTy::Int(IntTy { bits: bits @ (32 | 64), signed }) => {
            let (equal, less) = match (bits, signed) {
                (32, false) => (Relation::Equal, Relation::LessUnsigned),
                (32, true) => (Relation::Equal, Relation::LessSigned),
                (_, false) => (Relation::WideEqual, Relation::WideLessUnsigned),
                (_, true) => (Relation::WideEqual, Relation::WideLessSigned),
            };
            match compare.cmp {
                Cmp::Eq | Cmp::Equ => (equal, false),
                Cmp::Ne | Cmp::Neu => (equal, true),
                Cmp::Lt | Cmp::Ltu => (less, false),
                Cmp::Ge | Cmp::Geu => (less, true),
                Cmp::Gt | Cmp::Gtu => {
                    std::mem::swap(&mut a, &mut b);
                    (less, false)
                }
                Cmp::Le | Cmp::Leu => {
                    std::mem::swap(&mut a, &mut b);
                    (less, true)
                }
                Cmp::Num | Cmp::Nan => return None,
            }
        }
        ValueTy::Float(ty @ (FloatTy::F32 | FloatTy::F64)) => {
            let (order, negate, exchanged) = match compare.cmp {
                Cmp::Eq => (Order::Equal, false, false),
                Cmp::Ne => (Order::Apart, false, false),
                Cmp::Lt => (Order::Less, false, false),
                Cmp::Le => (Order::AtMost, false, false),
                Cmp::Gt => (Order::Less, false, true),
                Cmp::Ge => (Order::AtMost, false, true),
                Cmp::Equ => (Order::Apart, true, false),
                Cmp::Neu => (Order::Equal, true, false),
                Cmp::Ltu => (Order::AtMost, true, true),
                Cmp::Leu => (Order::Less, true, true),
                Cmp::Gtu => (Order::AtMost, true, false),
                Cmp::Geu => (Order::Less, true, false),
                Cmp::Num => (Order::Ordered, false, false),
                Cmp::Nan => (Order::Ordered, true, false),
            };
            if exchanged {
                std::mem::swap(&mut a, &mut b);
            }
            let relation = if ty == FloatTy::F32 { Relation::Single(order) } else { Relation::Double(order) };
            (relation, negate)
        }
        _ => return None,
    };
    let wide = matches!(
        relation,
        Relation::WideEqual | Relation::WideLessUnsigned | Relation::WideLessSigned | Relation::Double(_)
    );
    let row = |map: &mut RegisterMap, operand| if wide { map.wide(operand) } else { map.narrow(operand) };
    let (a, b) = (row(map, a), row(map, b));
    rows(op, Kind::Compare { relation, negate }, 0, [a, b, Some(0)])
}
