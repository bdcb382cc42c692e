//! Calls. Parameters and results of functions have static places, in local memory or registers;
//! a call copies between the caller's places and these.

use super::opcode::Opcode;
use super::operand::Cx;
use super::{Lowered, Refusal, Res};
use crate::base::Pc;
use crate::isa::{Space, TypeKind};
use crate::program::RegKind;
use crate::program::sem::{Address, Call, Operand as Src, Place, Sem, Transfer};
use crate::ptx::ast::{Operand, OperandKind};
use crate::ptx::resolve::{Symbol, convert};
use crate::ptx::types::Type;

pub(super) fn lower<'a>(cx: &mut Cx<'a, '_>, op: &mut Opcode<'a>, args: &'a [Operand]) -> Res<Lowered<'a>> {
    op.take("uni");
    let (returns, rest) = match args {
        [Operand { kind: OperandKind::Group(list), .. }, rest @ ..] => (list.as_slice(), rest),
        rest => (&[][..], rest),
    };
    let (callee, params, prototype) = match rest {
        [callee] => (callee, &[][..], None),
        [callee, Operand { kind: OperandKind::Group(list), .. }] => (callee, list.as_slice(), None),
        [callee, Operand { kind: OperandKind::Group(list), .. }, prototype] => {
            (callee, list.as_slice(), Some(prototype))
        }
        [callee, prototype] => (callee, &[][..], Some(prototype)),
        _ => return Err(Refusal::new("a call names a function", "`call (result), function, (arguments);`")),
    };
    let OperandKind::Name(name) = callee.kind else {
        return Err(Refusal::new("a call names a function", "").at(callee.span));
    };
    let text = cx.text(name);
    let index = cx.module.statics.functions.get(text).copied();
    let (Some(index), None) = (index, prototype) else {
        return Err(if cx.symbol(text).is_some() || prototype.is_some() {
            Refusal::new("calls through a pointer are not supported", "call the functions by name").at(name)
        } else {
            Refusal::new(format!("function `{text}` is not declared"), "").at(name)
        });
    };
    let function = &cx.module.ast.functions[index as usize];
    if function.entry {
        return Err(Refusal::new(format!("`{text}` is a kernel, it cannot be called"), "").at(name));
    }
    let sem = if function.body.is_some() {
        defined(cx, index, text, params, returns)?
    } else {
        external(cx, text, returns)?
    };
    Ok(Lowered::new(sem, op.root, TypeKind::None))
}

fn defined(cx: &mut Cx<'_, '_>, index: u32, name: &str, params: &[Operand], returns: &[Operand]) -> Res<Sem> {
    let Some(formals) = cx.formals.get(&index) else {
        return Err(Refusal::new(format!("`{name}` cannot be called from here"), ""));
    };
    for (what, given, taken) in
        [("arguments", params, &formals.params), ("results", returns, &formals.returns)]
    {
        if given.len() != taken.len() {
            return Err(Refusal::new(
                format!("`{name}` has {} {what}, {} given", taken.len(), given.len()),
                "",
            ));
        }
    }
    let mut call = Call { target: Pc::from_index(formals.first), pass: Vec::new(), give_back: Vec::new() };
    for (arg, &(to, bytes)) in params.iter().zip(&formals.params) {
        call.pass.push(Transfer { from: place(cx, arg, bytes, to)?, to, bytes });
    }
    for (result, &(from, bytes)) in returns.iter().zip(&formals.returns) {
        if matches!(result.kind, OperandKind::Sink) {
            continue;
        }
        let to = place(cx, result, bytes, from)?;
        if let Place::Imm(_) = to {
            return Err(Refusal::new("a result needs a place", "").at(result.span));
        }
        call.give_back.push(Transfer { from, to, bytes });
    }
    Ok(Sem::Call(Box::new(call)))
}

/// The caller's place of an argument or result of this many bytes.
fn place(cx: &mut Cx<'_, '_>, operand: &Operand, bytes: u32, other: Place) -> Res<Place> {
    if let OperandKind::Name(name) = operand.kind
        && let Some(Symbol::Param(offset, size)) = cx.symbol(cx.text(name))
    {
        if size < u64::from(bytes) {
            let text = cx.text(name);
            return Err(Refusal::new(format!("`{text}` has {size} bytes, the function takes {bytes}"), "")
                .at(operand.span));
        }
        return Ok(Place::Local(offset));
    }
    let wide = bytes > 8;
    let wrong = || Refusal::new("this argument does not fit the function's parameter", "").at(operand.span);
    match operand.kind {
        OperandKind::Name(name) => match cx.reg(name)? {
            Some((reg, RegKind::Bits(bits))) if !wide && u32::from(bits) >= bytes * 8 => Ok(Place::Reg(reg)),
            Some((reg, RegKind::Pred)) if matches!(other, Place::Reg(_)) && bytes == 1 => Ok(Place::Reg(reg)),
            Some(_) => Err(wrong()),
            None => match cx.source(operand, Type::Bits(64), super::operand::Fit::Exact)? {
                Src::Imm(address) if !wide => Ok(Place::Imm(address)),
                _ => Err(wrong()),
            },
        },
        OperandKind::Const(constant) if !wide => {
            let ty = Type::Bits((bytes * 8).min(64) as u8);
            Ok(Place::Imm(convert(constant, ty)))
        }
        _ => Err(wrong()),
    }
}

/// Functions of the CUDA runtime that kernels call and no PTX file defines.
fn external(cx: &mut Cx<'_, '_>, name: &str, returns: &[Operand]) -> Res<Sem> {
    match name {
        "vprintf" => {
            cx.note("the kernel calls printf: nothing is printed here, and the call returns 0");
            zero_result(cx, returns)
        }
        "__assertfail" | "__assert_fail" => {
            Ok(Sem::Trap { message: "an assertion of the kernel failed".into() })
        }
        _ => Err(Refusal::new(
            format!("function `{name}` is declared but not defined in this file"),
            "files are not linked, and of the device runtime only printf and assert are known",
        )),
    }
}

fn zero_result(cx: &mut Cx<'_, '_>, returns: &[Operand]) -> Res<Sem> {
    let [result] = returns else { return Ok(Sem::Nop) };
    if matches!(result.kind, OperandKind::Sink) {
        return Ok(Sem::Nop);
    }
    match place(cx, result, 4, Place::Imm(0))? {
        Place::Local(offset) => {
            let addr = Address { base: Src::Imm(offset), offset: 0 };
            Ok(Sem::Store { space: Space::Local, bits: 32, srcs: vec![Src::Imm(0)], addr })
        }
        Place::Reg(dst) => Ok(Sem::Mov { dst, src: Src::Imm(0) }),
        Place::Imm(_) => Ok(Sem::Nop),
    }
}
