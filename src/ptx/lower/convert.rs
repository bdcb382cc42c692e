//! Conversions between types and between address spaces.

use super::opcode::Opcode;
use super::operand::{Cx, Fit};
use super::{Lowered, Refusal, Res, exactly};
use crate::isa::{Space, TypeKind};
use crate::program::layout::window_base;
use crate::program::sem::{
    Carry, Convert, FloatTy, IntOp, IntTy, Operand as Src, Round, Sem, Tf32Mode, ValueTy,
};
use crate::ptx::ast::Operand;
use crate::ptx::types::Type;

pub(super) fn lower<'a>(cx: &mut Cx<'a, '_>, op: &mut Opcode<'a>, args: &'a [Operand]) -> Res<Lowered<'a>> {
    match op.root {
        "cvta" => address(cx, op, args),
        "isspacep" => is_space(cx, op, args),
        _ => convert(cx, op, args),
    }
}

fn convert<'a>(cx: &mut Cx<'a, '_>, op: &mut Opcode<'a>, args: &'a [Operand]) -> Res<Lowered<'a>> {
    if op.take("pack") {
        return Err(Refusal::new(format!("`{}` is not supported", op.text), "use cvt and prmt"));
    }
    if op.has("tf32") {
        return tf32(cx, op, args);
    }
    let round = op.rounding();
    let integral =
        op.choose(&[("rni", Round::Nearest), ("rzi", Round::Zero), ("rmi", Round::Down), ("rpi", Round::Up)]);
    let (ftz, sat, relu) = (op.take("ftz"), op.take("sat"), op.take("relu"));
    let (to, from) = op.two_types()?;
    let wrong = |op: &Opcode<'_>| Refusal::new(format!("`{}`: there is no such conversion", op.text), "");
    let (Some(to_value), Some(from_value)) = (to.value(), from.value()) else { return Err(wrong(op)) };
    let to_float = matches!(to_value, ValueTy::Float(_));
    let from_float = matches!(from_value, ValueTy::Float(_));
    let packed = to_value == ValueTy::Float(FloatTy::F16x2);
    if packed != (args.len() == 3) || packed && from != Type::F32 || from == Type::F16x2 {
        return Err(wrong(op));
    }
    let (d, src, src2) = if packed {
        let [d, a, b] = exactly(op, args)?;
        (d, cx.src(a, from)?, Some(cx.src(b, from)?))
    } else {
        let [d, a] = exactly(op, args)?;
        (d, cx.source(a, from, Fit::Wider)?, None)
    };
    if !from_float && !to_float && (round.is_some() || integral.is_some()) {
        return Err(Refusal::new(format!("`{}`: conversions of integers do not round", op.text), ""));
    }
    let dst = cx.destination(d, to, Fit::Wider)?;
    // towards an integer the fraction goes one way or another; without a word it is cut off
    let integral_by_type = from_float && !to_float;
    let fallback = if integral_by_type { Round::Zero } else { Round::Nearest };
    let sem = Sem::Convert(Box::new(Convert {
        dst,
        src,
        src2,
        from: from_value,
        to: to_value,
        round: integral.or(round).unwrap_or(fallback),
        integral: integral.is_some() || integral_by_type,
        sat,
        ftz,
        relu,
    }));
    Ok(Lowered::new(sem, op.root, to.kind()))
}

fn tf32<'a>(cx: &mut Cx<'a, '_>, op: &mut Opcode<'a>, args: &'a [Operand]) -> Res<Lowered<'a>> {
    let away = op.take("rna");
    let round = op.choose(&[("rn", Round::Nearest), ("rz", Round::Zero)]);
    let mode = Tf32Mode { round, relu: op.take("relu"), finite: op.take("satfinite") };
    let from_single = op.text.ends_with(".tf32.f32") && op.types().len() == 2;
    if !from_single || away == round.is_some() || away && mode.relu {
        let hint = "cvt.rna, cvt.rn or cvt.rz with .tf32.f32; .relu not with .rna";
        return Err(Refusal::new(format!("`{}`: there is no such conversion", op.text), hint));
    }
    let [d, a] = exactly(op, args)?;
    let src = cx.src(a, Type::F32)?;
    let dst = cx.dst(d, Type::Bits(32))?;
    Ok(Lowered::new(Sem::ToTf32 { dst, src, mode }, op.root, TypeKind::F32))
}

/// The windows that generic addresses look through.
pub(super) fn space(op: &mut Opcode<'_>) -> Option<Space> {
    op.choose(&[
        ("global", Space::Global),
        ("shared", Space::Shared),
        ("shared::cta", Space::Shared),
        ("local", Space::Local),
        ("const", Space::Const),
        ("param", Space::Param),
        ("param::entry", Space::Param),
    ])
}

fn need_space(op: &mut Opcode<'_>) -> Res<Space> {
    space(op).ok_or_else(|| {
        op.finish().err().unwrap_or_else(|| Refusal::new(format!("`{}` names no space", op.text), ""))
    })
}

fn address<'a>(cx: &mut Cx<'a, '_>, op: &mut Opcode<'a>, args: &'a [Operand]) -> Res<Lowered<'a>> {
    let away = op.take("to");
    let named = need_space(op)?;
    // parameters of functions live in local memory
    let space = if named == Space::Param && !cx.entry { Space::Local } else { named };
    let ty = op.ty()?;
    if !matches!(ty, Type::Unsigned(32 | 64)) {
        return Err(Refusal::new(format!("`{}`: addresses are .u32 or .u64", op.text), ""));
    }
    let [d, a] = exactly(op, args)?;
    let a = cx.src(a, ty)?;
    let dst = cx.dst(d, ty)?;
    let base = window_base(space);
    let sem = match a {
        Src::Imm(address) => {
            let moved = if away { address.wrapping_sub(base) } else { address.wrapping_add(base) };
            Sem::Mov { dst, src: Src::Imm(moved) }
        }
        a if base == 0 => Sem::Mov { dst, src: a },
        a => Sem::Int {
            op: if away { IntOp::Sub } else { IntOp::Add },
            ty: IntTy { bits: ty.bits(), signed: false },
            dst,
            src: [a, Src::Imm(base), Src::Imm(0), Src::Imm(0)],
            carry: Carry::default(),
            saturate: false,
        },
    };
    Ok(Lowered::new(sem, op.root, TypeKind::Int))
}

fn is_space<'a>(cx: &mut Cx<'a, '_>, op: &mut Opcode<'a>, args: &'a [Operand]) -> Res<Lowered<'a>> {
    let space = need_space(op)?;
    let [p, a] = exactly(op, args)?;
    let ty = Type::Unsigned(cx.module.ast.address_bits);
    let src = cx.src(a, ty)?;
    let dst = cx.pred_dst(p)?;
    Ok(Lowered::new(Sem::IsSpace { dst, space, src }, op.root, TypeKind::Int))
}
