//! Conversions between types and between address spaces.

use super::opcode::Opcode;
use super::operand::{Cx, Fit};
use super::{Lowered, Refusal, Res, exactly};
use crate::ptx::ast::Operand;
use crate::ptx::types::Type;
use warpbound_core::isa::{Space, TypeKind};
use warpbound_core::program::layout::{SHARED_UPPER, window_base};
use warpbound_core::program::sem::{
    Carry, ClusterOp, Convert, IntOp, IntTy, Operand as Src, Round, Sem, SmallConvert, SmallTy, SmallWay,
    Tf32Mode, ValueTy,
};

pub(super) fn lower<'a>(cx: &mut Cx<'a, '_>, op: &mut Opcode<'a>, args: &[Operand]) -> Res<Lowered<'a>> {
    match op.root {
        "cvta" => address(cx, op, args),
        "isspacep" => is_space(cx, op, args),
        _ => convert(cx, op, args),
    }
}

fn convert<'a>(cx: &mut Cx<'a, '_>, op: &mut Opcode<'a>, args: &[Operand]) -> Res<Lowered<'a>> {
    if op.take("pack") {
        return pack(cx, op, args);
    }
    if let Some(small) = op.choose(&SMALL) {
        return small_float(cx, op, args, small);
    }
    if op.has("tf32") {
        return tf32(cx, op, args);
    }
    let round = op.rounding();
    let integral =
        op.choose(&[("rni", Round::Nearest), ("rzi", Round::Zero), ("rmi", Round::Down), ("rpi", Round::Up)]);
    let (ftz, sat, relu) = (op.take("ftz"), op.take("sat"), op.take("relu"));
    let finite = op.take("satfinite");
    let (to, from) = op.two_types()?;
    let wrong = |op: &Opcode<'_>| Refusal::new(format!("`{}`: there is no such conversion", op.text), "");
    let (Some(to_value), Some(from_value)) = (to.value(), from.value()) else { return Err(wrong(op)) };
    let to_float = matches!(to_value, ValueTy::Float(_));
    let from_float = matches!(from_value, ValueTy::Float(_));
    let is_packed = |value| matches!(value, ValueTy::Float(float) if float.half().is_some());
    let packed = is_packed(to_value);
    if packed != (args.len() == 3)
        || packed && from != Type::F32
        || is_packed(from_value)
        || to == Type::F32x2
    {
        return Err(wrong(op));
    }
    let narrowing = matches!(to, Type::F16 | Type::F16x2 | Type::Bf16 | Type::Bf16x2) && from == Type::F32;
    if (finite || relu) && !narrowing {
        let hint = "`.relu` and `.satfinite` are for conversions from .f32 to halves, bfloat16 and tf32";
        return Err(Refusal::new(format!("`{}`: there is no such conversion", op.text), hint));
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
    // conversions to integers truncate unless a rounding mode is given
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
        finite,
    }));
    Ok(Lowered::new(sem, op.root, to.kind()))
}

/// The floating-point types of at most 8 bits, of which two are converted at once.
const SMALL: [(&str, SmallTy); 5] = [
    ("e4m3x2", SmallTy::E4m3),
    ("e5m2x2", SmallTy::E5m2),
    ("e2m1x2", SmallTy::E2m1),
    ("e2m3x2", SmallTy::E2m3),
    ("e3m2x2", SmallTy::E3m2),
];

/// Lowers a conversion to or from a type of at most 8 bits, whose modifier has been consumed.
fn small_float<'a>(
    cx: &mut Cx<'a, '_>,
    op: &mut Opcode<'a>,
    args: &[Operand],
    small: SmallTy,
) -> Res<Lowered<'a>> {
    let widens = SMALL.iter().any(|(name, _)| op.text.ends_with(name));
    let (rounds, finite, relu) = (op.take("rn"), op.take("satfinite"), op.take("relu"));
    let ty = op.ty()?;
    let packed = ty.float().filter(|_| matches!(ty, Type::F16x2 | Type::Bf16x2));
    if !rounds || finite == widens || packed.is_none() && (widens || ty != Type::F32) {
        let hint = "cvt.rn.satfinite to such a type from .f32 or .f16x2, cvt.rn from it to .f16x2";
        return Err(Refusal::new(format!("`{}`: there is no such conversion", op.text), hint));
    }
    // two numbers of 4 bits are declared as .b8
    let small_type = Type::Bits(2 * small.place_bits() as u8);
    let (dst, way) = match packed {
        None => {
            let [d, a, b] = exactly(op, args)?;
            let way = SmallWay::FromSingles(cx.src(a, ty)?, cx.src(b, ty)?);
            (cx.dst(d, small_type)?, way)
        }
        Some(packed) => {
            let [d, a] = exactly(op, args)?;
            if widens {
                let way = SmallWay::ToPacked(cx.src(a, small_type)?, packed);
                (cx.dst(d, ty)?, way)
            } else {
                let way = SmallWay::FromPacked(cx.src(a, ty)?, packed);
                (cx.dst(d, small_type)?, way)
            }
        }
    };
    let sem = Sem::SmallConvert(Box::new(SmallConvert { dst, small, way, relu }));
    Ok(Lowered::new(sem, op.root, TypeKind::F16))
}

/// Lowers `cvt.pack.sat.s8.s32.b32 d, a, b, c`.
fn pack<'a>(cx: &mut Cx<'a, '_>, op: &mut Opcode<'a>, args: &[Operand]) -> Res<Lowered<'a>> {
    let saturates = op.take("sat");
    let to = op.choose(&[
        ("u16", (16, false)),
        ("s16", (16, true)),
        ("u8", (8, false)),
        ("s8", (8, true)),
        ("u4", (4, false)),
        ("s4", (4, true)),
        ("u2", (2, false)),
        ("s2", (2, true)),
    ]);
    let types = op.types();
    let (bits, signed, args, above) = match (to, types.as_slice(), args) {
        (Some((16, signed)), [Type::Signed(32)], [d, a, b]) => (16, signed, [d, a, b], None),
        (Some((bits, signed)), [Type::Signed(32), Type::Bits(32)], [d, a, b, c]) if bits < 16 => {
            (bits, signed, [d, a, b], Some(c))
        }
        _ => {
            op.finish()?;
            let hint = "cvt.pack.sat.s16.s32 d, a, b or cvt.pack.sat.s8.s32.b32 d, a, b, c; also of u16, u8, u4, s4, u2, s2";
            return Err(Refusal::new(format!("`{}`: there is no such conversion", op.text), hint));
        }
    };
    if !saturates {
        return Err(Refusal::new(format!("`{}` saturates", op.text), "write cvt.pack.sat"));
    }
    let [d, a, b] = args;
    let [a, b] = cx.srcs([a, b], Type::Signed(32))?;
    let c = match above {
        Some(c) => cx.src(c, Type::Bits(32))?,
        None => Src::Imm(0),
    };
    let sem = Sem::Int {
        op: IntOp::PackClamped { bits },
        ty: IntTy { bits: 32, signed },
        dst: cx.dst(d, Type::Bits(32))?,
        src: [a, b, c, Src::Imm(0)],
        carry: Carry::default(),
        saturate: false,
    };
    Ok(Lowered::new(sem, op.root, TypeKind::Int))
}

fn tf32<'a>(cx: &mut Cx<'a, '_>, op: &mut Opcode<'a>, args: &[Operand]) -> Res<Lowered<'a>> {
    let ties_away = op.take("rna");
    let round = op.choose(&[("rn", Round::Nearest), ("rz", Round::Zero)]);
    let mode = Tf32Mode { round, relu: op.take("relu"), finite: op.take("satfinite") };
    let from_single = op.text.ends_with(".tf32.f32") && op.types().len() == 2;
    if !from_single || ties_away == round.is_some() || ties_away && mode.relu {
        let hint = "cvt.rna, cvt.rn or cvt.rz with .tf32.f32; .relu not with .rna";
        return Err(Refusal::new(format!("`{}`: there is no such conversion", op.text), hint));
    }
    let [d, a] = exactly(op, args)?;
    let src = cx.src(a, Type::F32)?;
    let dst = cx.dst(d, Type::Bits(32))?;
    Ok(Lowered::new(Sem::ToTf32 { dst, src, mode }, op.root, TypeKind::F32))
}

/// Consumes a space that generic addresses have a window for.
pub(super) fn space(op: &mut Opcode<'_>) -> Option<Space> {
    op.choose(&[
        ("global", Space::Global),
        ("shared", Space::Shared),
        ("shared::cta", Space::Shared),
        ("shared::cluster", Space::Shared),
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

fn address<'a>(cx: &mut Cx<'a, '_>, op: &mut Opcode<'a>, args: &[Operand]) -> Res<Lowered<'a>> {
    let from_generic = op.take("to");
    let of_cluster = op.has("shared::cluster");
    let named = need_space(op)?;
    // parameters of functions are in local memory
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
        a if of_cluster && from_generic => Sem::Cluster(ClusterOp::Resolve { dst, address: a }),
        // the window of the block does not have room for the byte that names another one
        a if of_cluster && ty.bits() == 64 => Sem::Int {
            op: IntOp::Or,
            ty: IntTy { bits: 64, signed: false },
            dst,
            src: [a, Src::Imm(SHARED_UPPER << 32), Src::Imm(0), Src::Imm(0)],
            carry: Carry::default(),
            saturate: false,
        },
        Src::Imm(address) => {
            let moved = if from_generic { address.wrapping_sub(base) } else { address.wrapping_add(base) };
            Sem::Mov { dst, src: Src::Imm(moved) }
        }
        a if base == 0 => Sem::Mov { dst, src: a },
        a => Sem::Int {
            op: if from_generic { IntOp::Sub } else { IntOp::Add },
            ty: IntTy { bits: ty.bits(), signed: false },
            dst,
            src: [a, Src::Imm(base), Src::Imm(0), Src::Imm(0)],
            carry: Carry::default(),
            saturate: false,
        },
    };
    Ok(Lowered::new(sem, op.root, TypeKind::Int))
}

fn is_space<'a>(cx: &mut Cx<'a, '_>, op: &mut Opcode<'a>, args: &[Operand]) -> Res<Lowered<'a>> {
    let of_cluster = op.has("shared::cluster");
    let space = need_space(op)?;
    let [p, a] = exactly(op, args)?;
    let ty = Type::Unsigned(cx.module.ast.address_bits);
    let src = cx.src(a, ty)?;
    let dst = cx.pred_dst(p)?;
    let sem = match of_cluster {
        true => Sem::Cluster(ClusterOp::IsShared { dst, address: src }),
        false => Sem::IsSpace { dst, space, src },
    };
    Ok(Lowered::new(sem, op.root, TypeKind::Int))
}
