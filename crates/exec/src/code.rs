//! Instructions in decoded form: operands as rows, and common operations as separate kinds.
//!
//! The semantics of an instruction are defined once, by its [`Sem`] and the interpreter in
//! [`super::step`]. The operations here are those that are worth running on whole rows; all others
//! are [`Kind::General`] and are interpreted, with the same result (a test compares both for every
//! operation).

mod choice;

use super::Vectors;
use super::access::Access;
use super::arith::float;
use super::registers::{RegisterMap, RegisterRow};
use super::stack::SimtStack;
use warpbound_core::base::{LaneMask, Pc, RegId, WARP_SIZE};
use warpbound_core::isa::Space;
use warpbound_core::path::{MemoryUse, Step};
use warpbound_core::program::sem::{
    Carry, MbarrierOp, Operand, PredSrc, Special, Xmad, exchange, lanewise, memory, no_effect,
};
use warpbound_core::program::{Guard, Instr, KernelCode, Sem};

/// A decoded instruction. The meaning of `d`, `a`, `b` and `c` depends on the kind; they are rows
/// unless stated otherwise.
#[derive(Clone, Copy, Debug)]
pub(super) struct Op {
    pub(super) kind: Kind,
    pub(super) guard: Option<Guard>,
    pub(super) d: u32,
    pub(super) a: u32,
    pub(super) b: u32,
    pub(super) c: u32,
}

/// The kind of a decoded instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// An instruction that is not part of a straight run: it may jump, wait, or read the number of
    /// executed instructions.
    Apart,
    /// A branch to pc `a` whose lanes reconverge at pc `b`, unless that is [`SimtStack::END`]. It
    /// is not part of a straight run either.
    Branch,
    /// An instruction that is interpreted by its semantics.
    General,
    /// Fences and other instructions without an effect on values.
    Nothing,
    /// An operation on 32-bit integers, in narrow rows.
    Narrow(Narrow),
    /// An operation on 64-bit integers, in wide rows; the amounts of shifts are narrow.
    Wide(Wide),
    /// An operation with a 64-bit result and 32-bit sources.
    Widen(Widen),
    /// The low 32 bits of a wide row.
    Truncate,
    /// The high 32 bits of a wide row.
    Upper,
    /// Both halves of the wide row `a`: the low one in `d`, and the high one in `b`.
    Halves,
    /// An operation in single precision, on narrow rows.
    Single {
        op: Single,
        /// Whether subnormal sources and results are flushed to zero.
        ftz: bool,
    },
    /// An operation like `Single`, whose result is clamped to [0, 1].
    Saturated {
        op: Single,
        /// Whether subnormal sources and results are flushed to zero.
        ftz: bool,
    },
    /// An operation in double precision, on wide rows.
    Double(Double),
    /// A conversion from a narrow row to a wide one.
    SingleToDouble,
    /// A conversion from a wide row to a narrow one.
    DoubleToSingle,
    /// A comparison of `a` and `b`; its other parts are in the semantics of the instruction.
    Compare {
        relation: Relation,
        /// Whether the relation is negated.
        negate: bool,
    },
    /// A selection in narrow rows; `c` is an index into [`Code::conditions`].
    SelectNarrow,
    /// A selection like `SelectNarrow`, in wide rows.
    SelectWide,
    /// Logic on predicates.
    Predicates,
    /// Logic on the bits of narrow rows by this truth table, and on predicates.
    Lop3Predicate(u8),
    /// A load; `a` is an index into [`Code::accesses`].
    Load,
    /// A store; `a` is an index into [`Code::accesses`].
    Store,
}

/// The operations on 32 bits.
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
    /// The field of `a` at bit `b` with `c` bits.
    Extract {
        signed: bool,
    },
    CountOnes,
    /// The magnitude of a signed number.
    Magnitude,
    FunnelLeft {
        wrap: bool,
    },
    FunnelRight {
        wrap: bool,
    },
    Xmad(Xmad),
}

/// The operations on 64 bits.
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

/// The operations from 32 to 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Widen {
    Zero,
    Sign,
    MulUnsigned,
    MulSigned,
    /// Multiply-add; `c` is wide.
    MadUnsigned,
    /// Multiply-add; `c` is wide.
    MadSigned,
    /// `a` in the low half, and `b` in the high one.
    Pack,
}

/// The operations in single precision, rounded to nearest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Single {
    Add,
    Sub,
    Mul,
    /// Rounded towards zero.
    MulToZero,
    Fma,
    Div,
    /// Division as a multiplication by a reciprocal that is flushed to zero if it is subnormal.
    DivApprox,
    Rcp,
    Sqrt,
    /// Computed in double precision, as in [`super::arith::approx`].
    Rsqrt,
    Abs,
    Neg,
    Min,
    Max,
    FromSigned,
    FromUnsigned,
    /// Rounded up.
    FromSignedUp,
    /// Rounded up.
    FromUnsignedUp,
    /// Rounded towards zero, and clamped.
    ToSigned,
    /// Rounded towards zero, and clamped.
    ToUnsigned,
}

/// The operations in double precision, rounded to nearest.
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

/// The relations of comparisons; the others are these with exchanged sources or a negated result.
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

/// The relations of floating-point numbers; none of them holds for NaN.
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

/// A decoded program.
#[derive(Debug)]
pub(super) struct Code {
    /// The instructions by pc.
    pub(super) ops: Vec<Op>,
    /// The steps of the instructions that are not folded, in program order, as far as they do not
    /// depend on the execution.
    pub(super) steps: Vec<Step>,
    /// For each pc, and for the end of the program, the number of instructions before it that are
    /// not folded.
    pub(super) taken: Vec<u32>,
    /// For each pc, the first instruction from it on that cannot be part of a straight run, or the
    /// end of the program.
    pub(super) ends: Vec<u32>,
    /// The same for lanes of a divergent warp, which may have to wait at WARPSYNC.
    pub(super) ends_apart: Vec<u32>,
    /// For each pc, whether lanes that reach it outside of every call can only end.
    pub(super) leaves: Vec<bool>,
    /// The loads and stores.
    pub(super) accesses: Vec<Access>,
    /// The predicates of selections.
    pub(super) conditions: Vec<PredSrc>,
}

impl Code {
    /// Decodes a program; the rows of its immediates are added to the map.
    pub(super) fn new(program: &KernelCode, map: &mut RegisterMap, vectors: Vectors) -> Self {
        let mut code = Self {
            ops: Vec::with_capacity(program.instrs.len()),
            steps: Vec::with_capacity(program.instrs.len()),
            taken: vec![0],
            ends: Vec::new(),
            ends_apart: Vec::new(),
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
            if !instr.folded {
                code.steps.push(match instr.sem.access() {
                    Some((space, _)) if space != Space::Generic => {
                        Step::with(pc, MemoryUse { space, extra_transactions: 0 })
                    }
                    _ => Step::plain(pc),
                });
            }
            code.taken.push(code.steps.len() as u32);
        }
        let apart = |index: usize| matches!(code.ops[index].kind, Kind::Apart | Kind::Branch);
        let waits = |index: usize| matches!(program.instrs[index].sem, Sem::WarpSync { .. });
        code.ends = ends(program.instrs.len(), apart);
        code.ends_apart = ends(program.instrs.len(), |index| apart(index) || waits(index));
        code.group_accesses(program);
        code
    }

    /// Gives each access its group: that of the access before it with the same source of addresses, if
    /// a straight run can contain both and no instruction in between changes these addresses.
    fn group_accesses(&mut self, program: &KernelCode) {
        // the open groups: source of addresses, size of an access, number of the group
        let mut open: Vec<(Operand, usize, u32)> = Vec::new();
        let mut groups = 0;
        for (op, instr) in self.ops.iter().zip(&program.instrs) {
            if matches!(op.kind, Kind::Apart | Kind::Branch) {
                open.clear();
            }
            if let Sem::Load { addr, .. } | Sem::Store { addr, .. } = &instr.sem {
                let access = &mut self.accesses[op.a as usize];
                let known = open.iter().find(|(base, size, _)| (*base, *size) == (addr.base, access.size()));
                access.join(known.map_or(groups, |&(_, _, group)| group));
                if known.is_none() {
                    open.push((addr.base, access.size(), groups));
                    groups += 1;
                }
            }
            let written = instr.sem.registers().dsts;
            open.retain(|(base, ..)| !matches!(base, Operand::Reg(reg) if written.as_slice().contains(reg)));
        }
    }

    /// Returns for each pc the end of straight runs of these active lanes, if these lanes are alive.
    #[inline]
    pub(super) fn ends_of(&self, active: LaneMask, live: LaneMask) -> &[u32] {
        if active == live { &self.ends } else { &self.ends_apart }
    }

    /// Returns the decoded load or store at a pc.
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
            Sem::Mov { dst, src } => choice::mov(map, *dst, *src, op),
            Sem::Int { op: int, ty, dst, src, carry, saturate: false } if *carry == Carry::default() => {
                choice::integer(map, (*int, *ty), *dst, src, op)
            }
            // compilers make constants in this way, too
            Sem::Float {
                op: name,
                ty,
                mode,
                dst,
                src: [Operand::Imm(a), Operand::Imm(b), Operand::Imm(c)],
            } => {
                let [a, b, c] = [*a, *b, *c].map(|value| [value; WARP_SIZE]);
                let [value, ..] = float::lanes(*name, *ty, *mode, [&a, &b, &c]);
                choice::mov(map, *dst, Operand::Imm(value & map.width(*dst)), op)
            }
            Sem::Float { op: float, ty, mode, dst, src } => {
                choice::float(map, (*float, *ty, *mode), *dst, src, op)
            }
            Sem::Convert(convert) => choice::conversion(map, convert, op),
            Sem::Compare(compare) => choice::comparison(map, compare, op),
            Sem::Select { dst, a, b, p } => self.selection(map, *dst, [*a, *b], *p, op),
            Sem::PredLogic { .. } => {
                op.kind = Kind::Predicates;
                Some(())
            }
            Sem::Lop3Pred(logic) => choice::logic_with_predicate(map, logic, op),
            Sem::Pack { dst, parts, bits: 32 } => match (map.place(*dst), parts.as_slice()) {
                (RegisterRow::Wide(d), [low, high]) => choice::rows(
                    op,
                    Kind::Widen(Widen::Pack),
                    d,
                    [map.narrow(*low), map.narrow(*high), Some(0)],
                ),
                _ => None,
            },
            Sem::Unpack { dsts, src, bits: 32 } => choice::halves(map, dsts, *src, op),
            // whatever has no decoded form is interpreted
            _ => None,
        };
        if found.is_none() {
            op.kind = Kind::General;
        }
    }

    /// Decodes a load or store. There is one implementation for all of them, which takes shortcuts
    /// unless `by_lane` is set.
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
        let found = match (choice::full_narrow(map, dst), map.place(dst)) {
            (Some(d), _) => {
                choice::rows(op, Kind::SelectNarrow, d, [map.narrow(a), map.narrow(b), Some(condition)])
            }
            (None, RegisterRow::Wide(d)) => {
                choice::rows(op, Kind::SelectWide, d, [map.wide(a), map.wide(b), Some(condition)])
            }
            _ => None,
        };
        self.conditions.push(p);
        found
    }
}

/// Returns for each of `count` instructions the first one from it on for which `stops` holds.
fn ends(count: usize, stops: impl Fn(usize) -> bool) -> Vec<u32> {
    let mut end = count as u32;
    let mut ends: Vec<u32> = (0..count)
        .rev()
        .map(|index| {
            if stops(index) {
                end = index as u32;
            }
            end
        })
        .collect();
    ends.reverse();
    ends
}

/// Returns the instructions from which lanes can only end: `ret`, `exit`, and jumps that lead there
/// unconditionally.
fn leaves(program: &KernelCode) -> Vec<bool> {
    let mut known: Vec<Option<bool>> = vec![None; program.instrs.len()];
    for start in 0..program.instrs.len() {
        let (mut at, mut chain) = (start, Vec::new());
        let answer = loop {
            match known.get(at) {
                Some(Some(answer)) => break *answer,
                Some(None) => {}
                None => break false,
            }
            // jumps that form a cycle never reach an end
            known[at] = Some(false);
            chain.push(at);
            match &program.instrs[at] {
                Instr { sem: Sem::Return { .. } | Sem::Exit, guard: None, .. } => break true,
                Instr { sem: Sem::Branch { target, .. }, guard: None, .. } => at = target.index(),
                _ => break false,
            }
        };
        chain.into_iter().for_each(|pc| known[pc] = Some(answer));
    }
    known.into_iter().map(|answer| answer == Some(true)).collect()
}

/// Returns whether an instruction changes the position of a warp, waits, or reads the number of
/// executed instructions.
fn stands_apart(instr: &Instr) -> bool {
    match &instr.sem {
        Sem::BranchTable { .. }
        | Sem::OpenRegion { .. }
        | Sem::CloseRegion { .. }
        | Sem::LeaveRegion { .. }
        | Sem::Yield
        | Sem::Collect { .. }
        | Sem::EndCollective
        | Sem::Call(_)
        | Sem::CallPointer(_)
        | Sem::Return { .. }
        | Sem::Exit
        | Sem::Trap { .. }
        | Sem::Barrier(_)
        | Sem::Cluster(_) => true,
        Sem::Mbarrier(barrier) => matches!(barrier.op, MbarrierOp::Wait { .. }),
        // what it moves counts against the limit on instructions
        Sem::Bulk(_) => true,
        lanewise!() | exchange!() | memory!() | no_effect!() | Sem::Matrix(_) | Sem::Branch { .. } => {
            instr.sem.registers().specials.contains(&Special::Clock)
        }
    }
}
