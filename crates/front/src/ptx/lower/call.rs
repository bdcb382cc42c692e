//! Lowers calls. The parameters and results of a function have fixed locations in local memory or
//! registers; a call copies between these and the caller's locations.
//!
//! A function that is not recursive has one set of locations. A recursive function, that is, one on
//! a cycle of the call graph, has a frame: its local memory, including parameters, is on a stack of
//! the thread, and its registers are saved during an inner call. See
//! [`warpbound_core::program::Function`].
//!
//! The cost of a call: it takes one issue slot on the unit of class `control`, and depends on the
//! registers of its arguments and its target. If the function takes parameters in registers (which
//! compilers do not generate), these are written when the call completes. A return takes one issue
//! slot as well. Arguments in `.param` variables are stored and loaded by separate instructions. An
//! indirect call whose lanes have different targets executes these one after the other, like the
//! sides of a branch, and takes one issue slot itself. Saving registers takes no time: compilers
//! save only those that are needed, and PTX, which has virtual registers, does not show which.

use super::opcode::Opcode;
use super::operand::Cx;
use super::{Lowered, Refusal, Res, did_you_mean};
use crate::ptx::ast::{DeclSpace, Operand, OperandKind, Stmt, VarDecl};
use crate::ptx::resolve::{Symbol, convert, has_length, size_of};
use crate::ptx::types::Type;
use crate::runtime::{self, Runtime};
use warpbound_core::base::Pc;
use warpbound_core::isa::{Space, TypeKind};
use warpbound_core::program::layout::function_address;
use warpbound_core::program::sem::{
    Address, ArgLocation, Call, Operand as Src, PointerCall, Sem, Special, Transfer,
};
use warpbound_core::program::{Area, MemoryOp, RegKind};

pub(super) fn lower<'a>(cx: &mut Cx<'a, '_>, op: &mut Opcode<'a>, args: &[Operand]) -> Res<Lowered<'a>> {
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
    let Some(index) = cx.module.statics.functions.get(text).copied() else {
        let Some((pointer, kind)) = cx.reg(name)? else {
            let known = cx.module.statics.functions.keys().map(AsRef::as_ref);
            let hint = if cx.quiet { String::new() } else { did_you_mean(text, known) };
            return Err(Refusal::new(format!("function `{text}` is not declared"), hint).at(name));
        };
        if !matches!(kind, RegKind::Bits(32 | 64)) {
            return Err(Refusal::new(format!("`{text}` cannot hold the address of a function"), "").at(name));
        }
        let sem = through_pointer(cx, Src::Reg(pointer), params, returns, prototype)?;
        return Ok(Lowered::new(sem, op.root, TypeKind::None));
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
    // runtime functions contain no instruction that stores their result
    let memory = matches!(sem, Sem::Store { .. }).then_some(MemoryOp::Store(Area::Local));
    Ok(Lowered { memory, ..Lowered::new(sem, op.root, TypeKind::None) })
}

fn check_counts(name: &str, counts: [(&str, usize, usize); 2]) -> Res<()> {
    for (kind, given, expected) in counts {
        if given != expected {
            return Err(Refusal::new(format!("`{name}` has {expected} {kind}, {given} given"), ""));
        }
    }
    Ok(())
}

fn defined(cx: &mut Cx<'_, '_>, index: u32, name: &str, params: &[Operand], returns: &[Operand]) -> Res<Sem> {
    let Some(formals) = cx.formals.get(&index) else {
        return Err(Refusal::new(format!("`{name}` cannot be called from here"), ""));
    };
    let left_out = usize::from(formals.open && params.len() + 1 == formals.params.len());
    check_counts(
        name,
        [
            ("arguments", params.len() + left_out, formals.params.len()),
            ("results", returns.len(), formals.returns.len()),
        ],
    )?;
    let mut call = Call {
        target: Pc::from_index(formals.first),
        function: formals.number,
        pass: Vec::new(),
        give_back: Vec::new(),
    };
    let last = formals.params.len().saturating_sub(1);
    for (index, (arg, &(to, bytes))) in params.iter().zip(&formals.params).enumerate() {
        let bytes = if formals.open && index == last { array_size(cx, arg)? } else { bytes };
        call.pass.push(Transfer { from: place(cx, arg, bytes, to)?, to, bytes });
    }
    for (result, &(from, bytes)) in returns.iter().zip(&formals.returns) {
        if let Some(to) = result_place(cx, result, bytes, from)? {
            call.give_back.push(Transfer { from, to, bytes });
        }
    }
    Ok(Sem::Call(Box::new(call)))
}

/// Returns the size in bytes of the argument for a parameter that is an array without a length.
fn array_size(cx: &mut Cx<'_, '_>, operand: &Operand) -> Res<u32> {
    if let OperandKind::Name(name) = operand.kind
        && let Some(Symbol::Param(_, size)) = cx.symbol(cx.text(name))
    {
        return Ok(u32::try_from(size).unwrap_or(u32::MAX));
    }
    let hint = "pass an array in a .param variable, or leave the argument out";
    Err(Refusal::new("the function takes an array of any length here", hint).at(operand.span))
}

/// Returns the caller's location of a result; `None` for `_`.
fn result_place(
    cx: &mut Cx<'_, '_>,
    result: &Operand,
    bytes: u32,
    from: ArgLocation,
) -> Res<Option<ArgLocation>> {
    if matches!(result.kind, OperandKind::Sink) {
        return Ok(None);
    }
    match place(cx, result, bytes, from)? {
        ArgLocation::Imm(_) => Err(Refusal::new("a result needs a place", "").at(result.span)),
        to => Ok(Some(to)),
    }
}

/// Lowers `call (results), %pointer, (arguments), prototype`.
fn through_pointer(
    cx: &mut Cx<'_, '_>,
    pointer: Src,
    params: &[Operand],
    returns: &[Operand],
    prototype: Option<&Operand>,
) -> Res<Sem> {
    let unknown = "a call through a pointer names a .callprototype, .calltargets or a table of functions";
    let Some(prototype) = prototype else { return Err(Refusal::new(unknown, "")) };
    let OperandKind::Name(name) = prototype.kind else {
        return Err(Refusal::new(unknown, "").at(prototype.span));
    };
    let text = cx.text(name);
    let stmts = cx.function.body.as_ref().map_or(&[][..], |body| &body.stmts);
    let mut targets = None;
    let sizes = match cx.symbol(text) {
        Some(Symbol::Prototype(stmt)) => match stmts.get(stmt as usize) {
            Some(Stmt::Prototype(_, signature)) if signature.params.iter().any(|var| !has_length(var)) => {
                return Err(
                    Refusal::new(format!("`{text}` takes an array of any length"), OPEN_HINT).at(name)
                );
            }
            Some(Stmt::Prototype(_, signature)) => {
                let sizes = |vars: &[VarDecl]| vars.iter().map(bytes_of).collect::<Vec<_>>();
                Some((sizes(&signature.params), sizes(&signature.returns)))
            }
            Some(Stmt::CallTargets(_, names)) => {
                let mut list = Vec::new();
                let mut first = None;
                for &name in names {
                    let text = cx.text(name);
                    let Some(&index) = cx.module.statics.functions.get(text) else {
                        return Err(Refusal::new(format!("function `{text}` is not declared"), "").at(name));
                    };
                    list.push(function_address(index));
                    first = first.or(cx.formals.get(&index));
                    if cx.formals.get(&index).is_some_and(|formals| formals.open) {
                        let message = format!("`{text}` takes an array of any length");
                        return Err(Refusal::new(message, OPEN_HINT).at(name));
                    }
                }
                targets = Some(list);
                let sizes =
                    |list: &[(ArgLocation, u32)]| list.iter().map(|&(_, bytes)| bytes).collect::<Vec<_>>();
                first.map(|formals| (sizes(&formals.params), sizes(&formals.returns)))
            }
            _ => None,
        },
        // for a table of functions, only the arguments determine the signature
        Some(Symbol::Static(_)) => {
            let sizes = |cx: &mut Cx<'_, '_>, list: &[Operand]| {
                list.iter().map(|operand| own_size(cx, operand)).collect::<Res<Vec<_>>>()
            };
            Some((sizes(cx, params)?, sizes(cx, returns)?))
        }
        _ => None,
    };
    let Some((takes, gives)) = sizes else {
        return Err(Refusal::new(format!("`{text}` is no prototype of a call"), unknown).at(name));
    };
    check_counts(text, [("arguments", params.len(), takes.len()), ("results", returns.len(), gives.len())])?;
    let mut call = PointerCall { pointer, targets, args: Vec::new(), results: Vec::new() };
    for (arg, bytes) in params.iter().zip(takes) {
        call.args.push((place(cx, arg, bytes, ArgLocation::Local(0))?, bytes));
    }
    for (result, bytes) in returns.iter().zip(gives) {
        call.results.push((result_place(cx, result, bytes, ArgLocation::Local(0))?, bytes));
    }
    Ok(Sem::CallPointer(Box::new(call)))
}

const OPEN_HINT: &str = "calls through pointers pass arrays of a fixed length here: declare the length";

/// Returns the size in bytes of a parameter of a prototype.
fn bytes_of(var: &VarDecl) -> u32 {
    match (var.space, var.ty.register()) {
        (DeclSpace::Reg, Some(RegKind::Bits(bits))) => u32::from(bits / 8),
        (DeclSpace::Reg, _) => 1,
        _ => u32::try_from(size_of(var).unwrap_or(0)).unwrap_or(0),
    }
}

/// Returns the size in bytes of an argument or result.
fn own_size(cx: &mut Cx<'_, '_>, operand: &Operand) -> Res<u32> {
    if let OperandKind::Name(name) = operand.kind {
        if let Some(Symbol::Param(_, size)) = cx.symbol(cx.text(name)) {
            return Ok(u32::try_from(size).unwrap_or(u32::MAX));
        }
        if let Some((_, RegKind::Bits(bits))) = cx.reg(name)? {
            return Ok(u32::from(bits / 8));
        }
    }
    let hint = "pass it in a register or .param variable, or give the call a .callprototype";
    Err(Refusal::new("the size of this argument is not known", hint).at(operand.span))
}

/// Returns the caller's location of an argument or result of this many bytes.
fn place(cx: &mut Cx<'_, '_>, operand: &Operand, bytes: u32, other: ArgLocation) -> Res<ArgLocation> {
    if let OperandKind::Name(name) = operand.kind
        && let Some(Symbol::Param(offset, size)) = cx.symbol(cx.text(name))
    {
        if size < u64::from(bytes) {
            let text = cx.text(name);
            return Err(Refusal::new(format!("`{text}` has {size} bytes, the function takes {bytes}"), "")
                .at(operand.span));
        }
        return Ok(cx.local_place(offset));
    }
    let wide = bytes > 8;
    let wrong = || Refusal::new("this argument does not fit the function's parameter", "").at(operand.span);
    match operand.kind {
        OperandKind::Name(name) => match cx.reg(name)? {
            Some((reg, RegKind::Bits(bits))) if !wide && u32::from(bits) >= bytes * 8 => {
                Ok(ArgLocation::Reg(reg))
            }
            Some((reg, RegKind::Pred)) if matches!(other, ArgLocation::Reg(_)) && bytes == 1 => {
                Ok(ArgLocation::Reg(reg))
            }
            Some(_) => Err(wrong()),
            None => match cx.source(operand, Type::Bits(64), super::operand::Fit::Exact)? {
                Src::Imm(address) if !wide => Ok(ArgLocation::Imm(address)),
                _ => Err(wrong()),
            },
        },
        OperandKind::Const(constant) if !wide => {
            let ty = Type::Bits((bytes * 8).min(64) as u8);
            Ok(ArgLocation::Imm(convert(constant, ty)))
        }
        _ => Err(wrong()),
    }
}

/// Lowers a call of a function of the CUDA runtime, which no PTX file defines.
fn external(cx: &mut Cx<'_, '_>, name: &str, returns: &[Operand]) -> Res<Sem> {
    match runtime::function(name) {
        Some(Runtime::Print) => {
            cx.note(runtime::PRINT_NOTE);
            zero_result(cx, returns)
        }
        Some(Runtime::Fail) => Ok(Sem::Trap { message: runtime::FAILED.into() }),
        None => Err(Refusal::new(
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
    match place(cx, result, 4, ArgLocation::Imm(0))? {
        place @ (ArgLocation::Local(_) | ArgLocation::Frame(_)) => {
            let base = match place {
                ArgLocation::Frame(offset) => Src::Special(Special::Frame(offset)),
                ArgLocation::Local(offset) | ArgLocation::Imm(offset) => Src::Imm(offset),
                ArgLocation::Reg(reg) => Src::Reg(reg),
            };
            let addr = Address { base, offset: 0 };
            Ok(Sem::Store { space: Space::Local, bits: 32, srcs: vec![Src::Imm(0)], addr })
        }
        ArgLocation::Reg(dst) => Ok(Sem::Mov { dst, src: Src::Imm(0) }),
        ArgLocation::Imm(_) => Ok(Sem::Nop),
    }
}
