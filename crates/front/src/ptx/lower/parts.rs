//! Operands that are parts of larger ones: parts of vector registers, and elements of arrays.

use super::operand::{Cx, Located};
use super::{Refusal, Res};
use crate::ptx::ast::{ArrayElement, Operand, OperandKind};
use crate::ptx::parser::component;
use crate::ptx::resolve::{Symbol, VectorRegister};
use crate::ptx::span::Span;
use warpbound_core::base::RegId;
use warpbound_core::program::RegKind;
use warpbound_core::program::sem::{Operand as Src, Special};

impl Cx<'_, '_> {
    /// Returns a vector register, which is created on first use.
    pub fn vector(&mut self, name: Span) -> Res<Option<VectorRegister>> {
        let text = self.text(name);
        match self.scopes.find(self.scope, text) {
            Some((_, Symbol::Vector(vector))) => Ok(Some(vector)),
            Some((scope, Symbol::UnusedVector(mut vector))) => {
                for (index, part) in ["x", "y", "z", "w"].iter().take(usize::from(vector.len)).enumerate() {
                    vector.parts[index] = self.pseudo(&format!("{text}.{part}"), vector.kind)?;
                }
                self.scopes.define(scope, text, Symbol::Vector(vector));
                Ok(Some(vector))
            }
            _ => Ok(None),
        }
    }

    /// Returns a part of a vector register by its name, as in `vector.x`.
    fn component(&mut self, name: Span, part: &str) -> Res<Option<(RegId, RegKind)>> {
        let Some(vector) = self.vector(name)? else { return Ok(None) };
        let index = ["x", "y", "z", "w"]
            .iter()
            .zip(["r", "g", "b", "a"])
            .position(|(one, other)| *one == part || other == part);
        match index.and_then(|index| vector.parts().get(index)).filter(|_| !vector.whole) {
            Some(&reg) => Ok(Some((reg, vector.kind))),
            None => {
                let text = self.text(name);
                let message = if vector.whole {
                    format!("`{text}` has 128 bits and no components")
                } else {
                    format!("`{text}` has {} components, `.{part}` is none of them", vector.len)
                };
                Err(Refusal::new(message, "").at(name))
            }
        }
    }

    /// Replaces every vector register among the operands by the vector of its parts; returns `None`
    /// if there is none.
    pub fn expanded(&mut self, operands: &[Operand]) -> Res<Option<Vec<Operand>>> {
        if !self.scopes.vectors {
            return Ok(None);
        }
        let mut found = false;
        let mut list = Vec::new();
        for (index, operand) in operands.iter().enumerate() {
            let kind = match &operand.kind {
                OperandKind::Name(name) => self.vector(*name)?.map(|vector| {
                    let part =
                        |index| Operand { kind: OperandKind::Element(*name, index), span: operand.span };
                    OperandKind::Vector((0..vector.len).map(part).collect())
                }),
                OperandKind::Image(address, rest) => {
                    self.expanded(rest)?.map(|rest| OperandKind::Image(*address, rest))
                }
                _ => None,
            };
            if kind.is_some() && !found {
                found = true;
                list.extend_from_slice(&operands[..index]);
            }
            match kind {
                Some(kind) => list.push(Operand { kind, span: operand.span }),
                None if found => list.push(operand.clone()),
                None => {}
            }
        }
        Ok(found.then_some(list))
    }

    /// Returns the register that an operand names, directly or as a part of a vector.
    pub fn register(&mut self, operand: &Operand) -> Res<Option<(RegId, RegKind)>> {
        match operand.kind {
            OperandKind::Name(name) => self.reg(name),
            OperandKind::Component(name, part) => {
                let part = component(self.module.source.text(), part);
                self.component(name, part)
            }
            OperandKind::Element(name, index) => {
                let vector = self.vector(name)?;
                Ok(vector.and_then(|vector| Some((*vector.parts().get(usize::from(index))?, vector.kind))))
            }
            _ => Ok(None),
        }
    }

    /// Returns the array of an element, and the address of the element. An index counts elements of
    /// the scalar type, even for arrays of several dimensions and arrays of vectors.
    pub fn element(&mut self, element: ArrayElement) -> Res<(Located, Src)> {
        let ArrayElement { name, register, index } = element;
        let text = self.text(name);
        let located = self.locate(name)?;
        let bytes = match self.scopes.find(self.scope, text) {
            Some((_, Symbol::Static(index))) => Some(self.module.ast.vars[index as usize].ty.bytes()),
            Some((scope, _)) => self.scopes.element_bytes(scope, text),
            None => {
                let index = self.module.statics.vars.get(text);
                index.map(|&index| self.module.ast.vars[index as usize].ty.bytes())
            }
        };
        let bytes = bytes.unwrap_or(1);
        let Some(register) = register else {
            let address = located.operand((index as u64).wrapping_mul(bytes));
            return Ok((located, address));
        };
        let Some((reg, RegKind::Bits(32 | 64))) = self.reg(register)? else {
            let message = format!("`{}` cannot be an index", self.text(register));
            return Err(
                Refusal::new(message, "an index is a constant or a register of 32 or 64 bits").at(register)
            );
        };
        let (Ok(plus), false) = (u32::try_from(index), located.framed) else {
            let message = format!("`{text}[{}]` is not supported here", self.text(register));
            return Err(Refusal::new(message, "compute the address with an instruction of its own").at(name));
        };
        let shift = bytes.trailing_zeros() as u8;
        let element = Special::Element { index: reg, plus, shift, base: located.address };
        Ok((located, Src::Special(element)))
    }
}
