//! The registers of a program: those of the machine, which are declared when an instruction first
//! names them, and temporary ones.

use super::{Cx, Decoded, Register, Res, Value, refuse};
use warpbound_core::base::{Pc, RegId};
use warpbound_core::program::{Guard, RegKind, Register as Declared};

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
        if let Some(Some(reg)) = self.known.get(usize::from(number)) {
            return *reg;
        }
        let name = self.encoding.registers.general.name(Register::Number(number));
        let reg = self.declare(name, RegKind::Bits(32));
        if let Some(known) = self.known.get_mut(usize::from(number)) {
            *known = Some(reg);
        }
        reg
    }

    pub(super) fn predicate(&mut self, number: u8) -> RegId {
        let index = usize::from(number) % self.preds.len();
        match self.preds[index] {
            Some(reg) => reg,
            None => {
                let name = self.encoding.registers.predicate.name(Register::Number(index as u8));
                let reg = self.declare(name, RegKind::Pred);
                self.preds[index] = Some(reg);
                reg
            }
        }
    }

    /// Returns a register that the threads of a warp share.
    pub(super) fn shared(&mut self, number: u8) -> RegId {
        let index = usize::from(number) % self.uniform.len().max(1);
        match (self.uniform.get(index), &self.encoding.registers.uniform) {
            (Some(None), Some(file)) => {
                let name = file.name(Register::Number(number));
                let reg = self.declare(name, RegKind::Bits(32));
                self.uniform[index] = Some(reg);
                reg
            }
            (Some(&Some(reg)), _) => reg,
            // a table without such registers has no operands of this kind
            _ => self.narrow(),
        }
    }

    /// Returns a predicate that the threads of a warp share.
    pub(super) fn shared_predicate(&mut self, number: u8) -> RegId {
        let index = usize::from(number) % self.uniform_preds.len().max(1);
        match (self.uniform_preds.get(index), &self.encoding.registers.uniform_predicate) {
            (Some(None), Some(file)) => {
                let name = file.name(Register::Number(number));
                let reg = self.declare(name, RegKind::Pred);
                self.uniform_preds[index] = Some(reg);
                reg
            }
            (Some(&Some(reg)), _) => reg,
            _ => self.pred(),
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

    /// Returns the number of the register `step` registers further.
    pub(super) fn further(&self, number: u8, step: u8) -> u8 {
        self.encoding.registers.general.further(number, step)
    }

    /// Returns the register that holds the return address of a function, which begins at this
    /// instruction.
    pub(super) fn return_address(&mut self, function: i64) -> RegId {
        match self.returns.get(&function) {
            Some(reg) => *reg,
            None => {
                let reg = self.declare(format!("%return{function}"), RegKind::Bits(32));
                self.returns.insert(function, reg);
                reg
            }
        }
    }

    /// Returns the register that holds the return address of the function that contains an
    /// instruction: the last one that begins before it.
    pub(super) fn return_address_at(&self, instruction: i64) -> Option<RegId> {
        self.returns.range(..=instruction).next_back().map(|(_, reg)| *reg)
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

    /// Returns the instruction at the target of a branch.
    pub(super) fn target(&self, d: &Decoded, next: i64) -> Res<Pc> {
        match d.operand("t").map(|operand| operand.value) {
            Some(Value::Target(offset)) => (self.targets)(next + offset),
            _ => refuse(format!("{} without a target", d.op.name), ""),
        }
    }
}
