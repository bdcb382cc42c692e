//! Translates operands of the source to operands of [`warpbound_core::program::Sem`].

use std::collections::HashMap;

use super::special::special;
use super::{Formals, Refusal, Res, did_you_mean};
use crate::ptx::Module;
use crate::ptx::ast::{DeclSpace, Function, Operand, OperandKind, SymbolExpr};
use crate::ptx::parser::component;
use crate::ptx::resolve::{Scopes, Symbol, convert};
use crate::ptx::span::Span;
use crate::ptx::types::Type;
use warpbound_core::base::RegId;
use warpbound_core::isa::Space;
use warpbound_core::program::layout::function_address;
use warpbound_core::program::sem::{Address, ArgLocation, Operand as Src, PredSrc, Special};
use warpbound_core::program::{Guard, KernelCode, RegKind, Register};

/// The maximum number of registers of a program; the ring of asynchronous copies is numbered after
/// them.
const MAX_REGS: usize = 65_000;

/// The context in which instructions are lowered.
pub(super) struct Cx<'a, 'b> {
    pub module: &'a Module,
    pub scopes: &'b mut Scopes<'a>,
    /// The scope that contains the instruction.
    pub scope: u32,
    pub program: &'b mut KernelCode,
    /// The addresses of the shared variables in use.
    pub shared: &'b HashMap<u32, u64>,
    /// The first instruction and the parameters of every function that the kernel reaches.
    pub formals: &'b HashMap<u32, Formals>,
    /// The function that is being lowered.
    pub function: &'a Function,
    /// The number of entries of branch tables so far.
    pub table_entries: usize,
    /// Whether the function is the kernel.
    pub entry: bool,
    /// Whether the function's local memory is in a frame.
    pub framed: bool,
    /// The index of the function's first instruction.
    pub first: usize,
    /// The carry flag of the function, once it is used.
    pub carry: Option<RegId>,
    /// The register for results that are dropped, once it is used.
    pub scratch: Option<RegId>,
    /// The notes for the user, without duplicates.
    pub notes: &'b mut Vec<String>,
    /// Whether there are so many problems that further ones are not shown.
    pub quiet: bool,
}

/// The required width of a register.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Fit {
    /// Exactly as wide as the type.
    Exact,
    /// At least as wide, as for loads, stores and conversions.
    Wider,
}

/// The space and address of a variable.
pub(super) struct Located {
    pub space: Space,
    pub address: u64,
    /// Whether the address is an offset in the current frame.
    pub framed: bool,
}

impl Located {
    /// Returns the address plus `offset` bytes as an operand.
    pub fn operand(&self, offset: u64) -> Src {
        let address = self.address.wrapping_add(offset);
        if self.framed { Src::Special(Special::Frame(address)) } else { Src::Imm(address) }
    }
}

impl<'a> Cx<'a, '_> {
    /// Returns the text of a name.
    pub fn text(&self, span: Span) -> &'a str {
        self.module.slice(span)
    }

    /// Resolves a name, in the scopes of the function first and then in the module.
    pub fn symbol(&self, name: &str) -> Option<Symbol> {
        self.scopes
            .find(self.scope, name)
            .map(|(_, symbol)| symbol)
            .or_else(|| self.module.statics.vars.get(name).map(|&index| Symbol::Static(index)))
    }

    /// Adds a note for the user unless it exists already.
    pub fn note(&mut self, text: &str) {
        if !self.notes.iter().any(|note| note == text) {
            self.notes.push(text.to_owned());
        }
    }

    /// Creates a register, which the source need not name.
    pub fn pseudo(&mut self, name: &str, kind: RegKind) -> Res<RegId> {
        if self.program.regs.len() >= MAX_REGS {
            return Err(Refusal::new(
                format!("more than {MAX_REGS} registers are in use"),
                "the kernel and the functions it calls have static registers here",
            ));
        }
        self.program.regs.push(Register { name: name.to_owned(), kind });
        Ok(RegId::from_index(self.program.regs.len() - 1))
    }

    /// Returns the carry flag.
    pub fn carry(&mut self) -> Res<RegId> {
        match self.carry {
            Some(reg) => Ok(reg),
            None => {
                let reg = self.pseudo("CC.CF", RegKind::Pred)?;
                self.carry = Some(reg);
                Ok(reg)
            }
        }
    }

    /// Returns a register of the source, which is created on first use.
    pub fn reg(&mut self, name: Span) -> Res<Option<(RegId, RegKind)>> {
        let text = self.text(name);
        match self.scopes.find(self.scope, text) {
            Some((_, Symbol::Reg(reg, kind))) => Ok(Some((reg, kind))),
            Some((scope, Symbol::Unused(kind))) => {
                let reg = self.pseudo(text, kind)?;
                self.scopes.define(scope, text, Symbol::Reg(reg, kind));
                Ok(Some((reg, kind)))
            }
            _ => Ok(None),
        }
    }

    pub fn unknown(&self, name: Span) -> Refusal {
        let text = self.text(name);
        let known = self.names(|symbol| !matches!(symbol, Symbol::Label(_)));
        Refusal::new(format!("`{text}` is not declared"), did_you_mean(text, known)).at(name)
    }

    /// Returns the names in scope, for hints; empty if hints are not shown.
    pub fn names(&self, wanted: fn(&Symbol) -> bool) -> Vec<&'a str> {
        if self.quiet { Vec::new() } else { self.scopes.names(self.scope, wanted) }
    }

    /// Checks that a register can hold values of a type.
    fn fits(&self, name: Span, kind: RegKind, ty: Type, fit: Fit) -> Res<()> {
        let text = self.text(name);
        let RegKind::Bits(bits) = kind else {
            return Err(Refusal::new(format!("`{text}` is a predicate, a value is needed here"), "").at(name));
        };
        let wanted = ty.bits();
        if bits == wanted || fit == Fit::Wider && bits > wanted {
            return Ok(());
        }
        Err(Refusal::new(
            format!("`{text}` has {bits} bits where this instruction takes {wanted}"),
            "the type of a register must have the width of the instruction's type",
        )
        .at(name))
    }

    /// Returns a source operand of a type.
    pub fn src(&mut self, operand: &Operand, ty: Type) -> Res<Src> {
        self.source(operand, ty, Fit::Exact)
    }

    /// Returns a source operand of a type, which may be the low bits of a wider register.
    pub fn source(&mut self, operand: &Operand, ty: Type, fit: Fit) -> Res<Src> {
        if let Some((reg, kind)) = self.register(operand)? {
            self.fits(operand.span, kind, ty, fit)?;
            return Ok(Src::Reg(reg));
        }
        match &operand.kind {
            OperandKind::Name(name) => {
                let text = self.text(*name);
                if self.symbol(text).is_none()
                    && let Some(found) = special(text, None)
                {
                    return self.special(found.map_err(|refusal| refusal.at(*name))?);
                }
                self.symbol_address(SymbolExpr { name: *name, offset: 0, generic: false })
            }
            OperandKind::Component(name, part) => {
                let part = component(self.module.source.text(), *part);
                let text = self.text(*name);
                match special(text, Some(part)) {
                    Some(found) => self.special(found.map_err(|refusal| refusal.at(operand.span))?),
                    None => Err(Refusal::new(
                        format!("`{text}.{part}` is not supported"),
                        "special registers and vector registers have components",
                    )
                    .at(operand.span)),
                }
            }
            OperandKind::Const(constant) => Ok(Src::Imm(convert(*constant, ty))),
            OperandKind::Symbol(expr) => self.symbol_address(*expr),
            OperandKind::Indexed(element) => {
                let (_, address) = self.element(*element)?;
                Ok(address)
            }
            _ => Err(Refusal::new("a register or a constant is needed here", "").at(operand.span)),
        }
    }

    /// Returns a component of a special register by its number.
    pub fn special_component(&mut self, name: Span, axis: usize) -> Res<Src> {
        let text = self.text(name);
        match special(text, ["x", "y", "z", "w"].get(axis).copied()) {
            Some(found) => self.special(found.map_err(|refusal| refusal.at(name))?),
            None => Err(self.unknown(name)),
        }
    }

    fn special(&mut self, found: super::special::Found) -> Res<Src> {
        if found.clock {
            self.note(
                "the kernel reads a clock: here it counts the instructions of the warp, so what depends on it \
                 may take another path than on hardware",
            );
        }
        if found.environment {
            self.note(
                "the kernel reads an environment register: the driver sets them on hardware, here they are 0",
            );
        }
        Ok(found.operand)
    }

    /// Returns source operands of a type.
    pub fn srcs<const N: usize>(&mut self, operands: [&Operand; N], ty: Type) -> Res<[Src; N]> {
        let mut list = [Src::Imm(0); N];
        for (slot, operand) in list.iter_mut().zip(operands) {
            *slot = self.src(operand, ty)?;
        }
        Ok(list)
    }

    /// Returns a destination register of a type.
    pub fn dst(&mut self, operand: &Operand, ty: Type) -> Res<RegId> {
        self.destination(operand, ty, Fit::Exact)
    }

    /// Returns a destination register of a type; for `_`, a register that is never read.
    pub fn destination(&mut self, operand: &Operand, ty: Type, fit: Fit) -> Res<RegId> {
        match self.maybe_destination(operand, ty, fit)? {
            Some(reg) => Ok(reg),
            None => self.sink(RegKind::Bits(64)),
        }
    }

    /// Returns a destination register of a type; `None` for `_`.
    pub fn maybe_destination(&mut self, operand: &Operand, ty: Type, fit: Fit) -> Res<Option<RegId>> {
        if let Some((reg, kind)) = self.register(operand)? {
            self.fits(operand.span, kind, ty, fit)?;
            return Ok(Some(reg));
        }
        match &operand.kind {
            OperandKind::Sink => Ok(None),
            OperandKind::Name(name) if self.symbol(self.text(*name)).is_some() => {
                let message = format!("`{}` is no register, it cannot be written", self.text(*name));
                Err(Refusal::new(message, "").at(*name))
            }
            OperandKind::Name(name) => Err(self.unknown(*name)),
            _ => Err(Refusal::new("a register is needed here", "").at(operand.span)),
        }
    }

    fn sink(&mut self, kind: RegKind) -> Res<RegId> {
        match self.scratch {
            Some(reg) if self.program.regs[reg.index()].kind == kind => Ok(reg),
            _ => {
                let reg = self.pseudo("_", kind)?;
                self.scratch = Some(reg);
                Ok(reg)
            }
        }
    }

    /// Returns a destination predicate.
    pub fn pred_dst(&mut self, operand: &Operand) -> Res<RegId> {
        match &operand.kind {
            OperandKind::Sink => self.sink(RegKind::Pred),
            OperandKind::Name(name) => self.pred(*name),
            _ => Err(Refusal::new("a predicate register is needed here", "").at(operand.span)),
        }
    }

    /// Returns a predicate register by name.
    pub fn pred(&mut self, name: Span) -> Res<RegId> {
        match self.reg(name)? {
            Some((reg, RegKind::Pred)) => Ok(reg),
            Some(_) => {
                let message = format!("`{}` is not a predicate", self.text(name));
                Err(Refusal::new(message, "declare it with .pred").at(name))
            }
            None => Err(self.unknown(name)),
        }
    }

    /// Returns a source predicate, which may be negated or constant.
    pub fn pred_src(&mut self, operand: &Operand) -> Res<PredSrc> {
        match &operand.kind {
            OperandKind::Name(name) => Ok(PredSrc::Reg(Guard { reg: self.pred(*name)?, negate: false })),
            OperandKind::Not(name) => Ok(PredSrc::Reg(Guard { reg: self.pred(*name)?, negate: true })),
            OperandKind::Const(constant) => Ok(PredSrc::Const(convert(*constant, Type::Bits(64)) != 0)),
            _ => Err(Refusal::new("a predicate is needed here", "").at(operand.span)),
        }
    }

    /// Parses `p|q` or `p` alone; both may be `_`.
    pub fn pred_pair(&mut self, operand: &Operand) -> Res<(Option<RegId>, Option<RegId>)> {
        match &operand.kind {
            OperandKind::Sink => Ok((None, None)),
            OperandKind::Pair(p, q) => Ok((self.maybe_pred(*p)?, self.maybe_pred(*q)?)),
            _ => Ok((Some(self.pred_dst(operand)?), None)),
        }
    }

    /// Parses `d|p` or `d` alone: a register and a predicate.
    pub fn value_and_pred(&mut self, operand: &Operand, ty: Type) -> Res<(RegId, Option<RegId>)> {
        match operand.kind {
            OperandKind::Pair(name, pred) => {
                let kind = if self.text(name) == "_" { OperandKind::Sink } else { OperandKind::Name(name) };
                let value = self.dst(&Operand { kind, span: name }, ty)?;
                Ok((value, self.maybe_pred(pred)?))
            }
            _ => Ok((self.dst(operand, ty)?, None)),
        }
    }

    /// Parses `d|p` like [`Self::value_and_pred`]; `d` may be `_`.
    pub fn maybe_value_and_pred(
        &mut self,
        operand: &Operand,
        ty: Type,
    ) -> Res<(Option<RegId>, Option<RegId>)> {
        match operand.kind {
            OperandKind::Pair(name, pred) if self.text(name) == "_" => Ok((None, self.maybe_pred(pred)?)),
            _ => self.value_and_pred(operand, ty).map(|(value, pred)| (Some(value), pred)),
        }
    }

    fn maybe_pred(&mut self, name: Span) -> Res<Option<RegId>> {
        if self.text(name) == "_" { Ok(None) } else { self.pred(name).map(Some) }
    }

    /// Returns the bits of a constant operand.
    pub fn constant(&self, operand: &Operand) -> Res<u64> {
        match operand.kind {
            OperandKind::Const(constant) => Ok(convert(constant, Type::Bits(64))),
            _ => Err(Refusal::new("a constant is needed here", "").at(operand.span)),
        }
    }

    /// Returns the space and address of a variable.
    pub fn locate(&self, name: Span) -> Res<Located> {
        let text = self.text(name);
        let located = |space, address| Ok(Located { space, address, framed: false });
        match self.symbol(text) {
            Some(Symbol::Static(index)) => self.locate_static(index, name),
            Some(Symbol::KernelParam(offset, _)) => located(Space::Param, offset),
            Some(Symbol::Local(address, _) | Symbol::Param(address, _)) => {
                Ok(Located { space: Space::Local, address, framed: self.framed })
            }
            Some(Symbol::Label(_) | Symbol::Targets(_) | Symbol::Prototype(_)) => {
                Err(Refusal::new(format!("`{text}` is a label, it has no address"), "").at(name))
            }
            Some(Symbol::Vector(_) | Symbol::UnusedVector(_)) => {
                let message = format!("`{text}` has several parts, one value is needed here");
                Err(Refusal::new(message, "name a component of a vector, for example `.x`").at(name))
            }
            Some(Symbol::Reg(..) | Symbol::Unused(_)) => {
                let message = format!("`{text}` is a register, `register + constant` is no operand");
                Err(Refusal::new(message, "add with an instruction of its own").at(name))
            }
            None if self.module.statics.functions.contains_key(text) => {
                let message = format!("`{text}` is a function, there is no memory at its address");
                Err(Refusal::new(message, "call it").at(name))
            }
            None => Err(self.unknown(name)),
        }
    }

    fn locate_static(&self, index: u32, name: Span) -> Res<Located> {
        let statics = &self.module.statics;
        let text = self.text(name);
        if let Some((_, message)) = statics.broken.get(&index) {
            return Err(Refusal::new(format!("initialiser of `{text}`: {message}"), "").at(name));
        }
        let space = match self.module.ast.vars[index as usize].space {
            DeclSpace::Shared => Space::Shared,
            DeclSpace::Const => Space::Const,
            _ => Space::Global,
        };
        let address = match space {
            Space::Shared => self.shared.get(&index).copied(),
            _ => statics.addresses[index as usize],
        };
        match address {
            Some(address) => Ok(Located { space, address, framed: false }),
            None => Err(Refusal::new(
                format!("variable `{text}` is declared .extern and not defined in this file"),
                "files are not linked: define it here",
            )
            .at(name)),
        }
    }

    /// Returns the address of a variable or function as a value, either within its space or
    /// generic.
    fn symbol_address(&mut self, expr: SymbolExpr) -> Res<Src> {
        let text = self.text(expr.name);
        if self.symbol(text).is_none()
            && let Some(&index) = self.module.statics.functions.get(text)
        {
            if self.module.ast.functions[index as usize].entry {
                let message = format!("`{text}` is a kernel, whose address is not supported");
                return Err(Refusal::new(message, "kernels are launched from outside here").at(expr.name));
            }
            return Ok(Src::Imm(function_address(index).wrapping_add(expr.offset as u64)));
        }
        let located = self.locate(expr.name)?;
        let base = if expr.generic { warpbound_core::program::layout::window_base(located.space) } else { 0 };
        Ok(located.operand(base.wrapping_add(expr.offset as u64)))
    }

    /// Returns the location of a local variable or function parameter at an offset.
    pub fn local_place(&self, offset: u64) -> ArgLocation {
        if self.framed { ArgLocation::Frame(offset) } else { ArgLocation::Local(offset) }
    }

    /// Translates `[...]` to a space and an address. `wanted` is the space that the instruction
    /// names; `None` means generic, in which case a variable determines the space.
    pub fn address(&mut self, operand: &Operand, wanted: Option<Space>) -> Res<(Space, Address)> {
        if let OperandKind::Indexed(element) = operand.kind {
            let (located, address) = self.element(element)?;
            let space = self.space_of_variable(element.name, &located, wanted, operand.span)?;
            return Ok((space, Address { base: address, offset: 0 }));
        }
        let OperandKind::Address(expr) = operand.kind else {
            let hint = "write it as `[register+offset]` or `[variable+offset]`";
            return Err(Refusal::new("an address is needed here", hint).at(operand.span));
        };
        let Some(base) = expr.base else {
            let address = Address { base: Src::Imm(0), offset: expr.offset };
            return Ok((self.space_of_register(wanted), address));
        };
        if let Some((reg, kind)) = self.reg(base)? {
            if !matches!(kind, RegKind::Bits(32 | 64)) {
                let message = format!("`{}` cannot hold an address", self.text(base));
                return Err(Refusal::new(message, "addresses have 32 or 64 bits").at(base));
            }
            return Ok((
                self.space_of_register(wanted),
                Address { base: Src::Reg(reg), offset: expr.offset },
            ));
        }
        let located = self.locate(base)?;
        let space = self.space_of_variable(base, &located, wanted, operand.span)?;
        Ok((space, Address { base: located.operand(0), offset: expr.offset }))
    }

    /// Returns the space of a variable, which must agree with the space that the instruction names.
    fn space_of_variable(
        &self,
        base: Span,
        located: &Located,
        wanted: Option<Space>,
        span: Span,
    ) -> Res<Space> {
        let space = located.space;
        let parameter = matches!(self.symbol(self.text(base)), Some(Symbol::Param(..)));
        match wanted {
            None | Some(Space::Generic) => {}
            Some(wanted) if wanted == space || parameter && wanted == Space::Param => {}
            Some(wanted) => {
                let (text, space, wanted) = (self.text(base), space.name(), wanted.name());
                return Err(Refusal::new(
                    format!("`{text}` is in .{space}, the instruction accesses .{wanted}"),
                    "name the variable's space, or none",
                )
                .at(span));
            }
        }
        Ok(space)
    }

    /// Returns the space of an access through a register. Parameters of functions are in local
    /// memory, those of the kernel in the parameter block.
    fn space_of_register(&self, wanted: Option<Space>) -> Space {
        match wanted {
            None => Space::Generic,
            Some(Space::Param) if !self.entry => Space::Local,
            Some(space) => space,
        }
    }
}
