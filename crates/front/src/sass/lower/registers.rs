//! The registers of a program: those of the machine, which are declared when an instruction first
//! names them, and temporary ones.

use super::{Cx, Decoded, Register, Res, Value, refuse};
use crate::sass::table::RegisterFile;
use warpbound_core::base::{Pc, RegId};
use warpbound_core::program::sem::{Operand as Src, PredOp, PredSrc, Sem};
use warpbound_core::program::{Guard, RegKind, Register as Declared};

/// Returns a predicate register as a source.
pub(super) fn held(reg: RegId) -> PredSrc {
    PredSrc::Reg(Guard { reg, negate: false })
}

/// Returns whether a value is a register that is always zero.
pub(super) fn is_zero(value: Option<Value>) -> bool {
    use Register::Fixed;
    matches!(value, None | Some(Value::Register(Fixed) | Value::Uniform(Fixed)))
}

/// The kinds of temporary registers.
#[derive(Clone, Copy)]
enum TempKind {
    Narrow,
    Wide,
    Pred,
}

impl Cx<'_> {
    pub(super) fn declare(&mut self, name: String, kind: RegKind) -> RegId {
        self.regs.push(Declared { name, kind });
        RegId::from_index(self.regs.len() - 1)
    }

    pub(super) fn register(&mut self, number: u8) -> RegId {
        let file = &self.encoding.registers.general;
        named(&mut self.known, &mut self.regs, (file, RegKind::Bits(32)), number)
    }

    pub(super) fn predicate(&mut self, number: u8) -> RegId {
        let file = &self.encoding.registers.predicate;
        named(&mut self.preds, &mut self.regs, (file, RegKind::Pred), number)
    }

    /// Returns a register that the threads of a warp share.
    pub(super) fn shared(&mut self, number: u8) -> RegId {
        match &self.encoding.registers.uniform {
            Some(file) => named(&mut self.uniform, &mut self.regs, (file, RegKind::Bits(32)), number),
            // a table without such registers has no operands of this kind
            None => self.narrow(),
        }
    }

    /// Returns a predicate that the threads of a warp share.
    pub(super) fn shared_predicate(&mut self, number: u8) -> RegId {
        match &self.encoding.registers.uniform_predicate {
            Some(file) => named(&mut self.uniform_preds, &mut self.regs, (file, RegKind::Pred), number),
            None => self.pred(),
        }
    }

    /// Returns the register of a value that is one, and its file's next one after `step` others.
    pub(super) fn register_of(&mut self, value: Value, step: u8) -> Option<RegId> {
        match value {
            Value::Register(Register::Number(number)) => {
                let number = self.further(number, step);
                Some(self.register(number))
            }
            Value::Uniform(Register::Number(number)) => {
                let file = self.encoding.registers.uniform.as_ref()?;
                Some(self.shared(file.further(number, step)))
            }
            _ => None,
        }
    }

    /// Returns a word of a value: the register `step` registers further, or zero for the one that is
    /// always zero.
    pub(super) fn word(&mut self, value: Value, step: u8) -> Src {
        self.register_of(value, step).map_or(Src::Imm(0), Src::Reg)
    }

    /// Returns a register with the 64 bits of the two words of a value from this one on.
    pub(super) fn packed(&mut self, value: Value, step: u8) -> RegId {
        let parts = vec![self.word(value, step), self.word(value, step + 1)];
        let dst = self.wide();
        self.push(Sem::Pack { dst, parts, bits: 32 });
        dst
    }

    /// Returns the number of the register `step` registers further.
    pub(super) fn further(&self, number: u8, step: u8) -> u8 {
        self.encoding.registers.general.further(number, step)
    }

    /// Returns a temporary register that the instruction has not used yet.
    fn own(&mut self, kind: TempKind) -> RegId {
        let (index, bits, letter) = match kind {
            TempKind::Narrow => (0, RegKind::Bits(32), 'n'),
            TempKind::Wide => (1, RegKind::Bits(64), 'w'),
            TempKind::Pred => (2, RegKind::Pred, 'p'),
        };
        let next = self.taken[index];
        self.taken[index] += 1;
        if next == self.own[index].len() {
            let reg = self.declare(format!("%{letter}{next}"), bits);
            self.own[index].push(reg);
        }
        self.own[index][next]
    }

    pub(super) fn is_own(&self, reg: RegId) -> bool {
        self.regs[reg.index()].name.starts_with('%')
    }

    pub(super) fn narrow(&mut self) -> RegId {
        self.own(TempKind::Narrow)
    }

    pub(super) fn wide(&mut self) -> RegId {
        self.own(TempKind::Wide)
    }

    pub(super) fn pred(&mut self) -> RegId {
        self.own(TempKind::Pred)
    }

    /// Returns the guard of an instruction. The negation of the predicate that is always true never
    /// holds.
    pub(super) fn guard(&mut self, register: Register, negate: bool, uniform: bool) -> Guard {
        match register {
            Register::Number(number) if uniform => Guard { reg: self.shared_predicate(number), negate },
            // a predicate that is never written is false in all lanes
            Register::Fixed => Guard { reg: self.flags.never, negate: false },
            Register::Number(number) => Guard { reg: self.predicate(number), negate },
        }
    }

    /// Returns a predicate that holds where another one and the guard of the instruction hold.
    pub(super) fn guarded(&mut self, d: &Decoded, a: PredSrc) -> RegId {
        let dst = self.pred();
        match d.guard {
            Some((register, negate)) if register != Register::Fixed || negate => {
                let b = PredSrc::Reg(self.guard(register, negate, d.op.uniform));
                self.push(Sem::PredLogic { op: PredOp::And, dst, a, b });
            }
            _ => self.set_pred(dst, a),
        }
        dst
    }

    /// Adds an operation that only the lanes execute in which a condition and the guard of the
    /// instruction hold.
    pub(super) fn push_where(&mut self, d: &Decoded, condition: PredSrc, sem: Sem) {
        if condition == PredSrc::Const(true) {
            self.push(sem);
        } else {
            let both = self.guarded(d, condition);
            self.push_if(both, false, sem);
        }
    }

    /// Returns a word that is 1 where a predicate holds, and 0 elsewhere.
    pub(super) fn word_of(&mut self, p: PredSrc) -> Src {
        match p {
            PredSrc::Const(value) => Src::Imm(u64::from(value)),
            p => {
                let dst = self.narrow();
                self.push(Sem::Select { dst, a: Src::Imm(1), b: Src::Imm(0), p });
                Src::Reg(dst)
            }
        }
    }

    /// Returns the instruction at the target of a branch.
    pub(super) fn target(&self, d: &Decoded, next: i64) -> Res<Pc> {
        match d.operand("t").map(|operand| operand.value) {
            Some(Value::Target(offset)) => (self.targets)(next + offset),
            _ => refuse(format!("{} without a target", d.op.name), ""),
        }
    }
}

/// Returns the register of a file with this number, which is declared when it is first named.
fn named(
    known: &mut [Option<RegId>],
    regs: &mut Vec<Declared>,
    (file, kind): (&RegisterFile, RegKind),
    number: u8,
) -> RegId {
    let index = usize::from(number) % known.len().max(1);
    let next = RegId::from_index(regs.len());
    let place = &mut known[index];
    *place.get_or_insert_with(|| {
        regs.push(Declared { name: file.name(Register::Number(index as u8)), kind });
        next
    })
}
