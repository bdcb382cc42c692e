//! Lowers conversions to numbers of a few bits, of which a register holds several.

use super::conversion::{half_source, int_type};
use super::{Cx, Decoded, Res, Role, S32, U32, refuse};
use crate::sass::table::meaning::Convert as Name;
use warpbound_core::program::sem::{
    Carry, Convert, FloatTy, IntOp, IntTy, Operand as Src, Round, Sem, SmallConvert, SmallTy, SmallWay,
    Tf32Mode, ValueTy,
};

pub(super) fn lower(cx: &mut Cx, d: &Decoded, name: Name) -> Res<Role> {
    match name {
        Name::ClampWord => {
            let src = cx.source(d, "b")?;
            let to = ValueTy::Int(int_type(d.modifier("to"))?);
            let dst = cx.dst(d, "d")?;
            let plain = super::conversion::unmodified(dst, src, ValueTy::Int(S32), to);
            cx.push(Sem::Convert(Box::new(Convert { sat: true, ..plain })));
        }
        Name::PackWords => {
            let (a, b, c) = (cx.source(d, "a")?, cx.source(d, "b")?, cx.source(d, "c")?);
            pack(cx, d, [a, b, c])?;
        }
        Name::PackBytes => bytes(cx, d)?,
        Name::ToTf32 => {
            let src = super::float::source(cx, d, "b")?;
            let dst = cx.dst(d, "d")?;
            let round = super::float::round(d.modifier("round"));
            let mode = Tf32Mode { round: Some(round), relu: d.has("relu"), finite: false };
            cx.push(Sem::ToTf32 { dst, src, mode });
        }
        Name::PackSmall => {
            let way = SmallWay::FromSingles(cx.source(d, "a")?, cx.source(d, "b")?);
            small(cx, d, d.modifier("to"), way)?;
        }
        Name::NarrowSmall => {
            let way = SmallWay::FromPacked(cx.source(d, "b")?, FloatTy::F16x2);
            small(cx, d, d.modifier("to"), way)?;
        }
        Name::WidenSmall => {
            let Some(operand) = d.operand("b") else {
                return refuse(format!("{} without a source", d.op.name), "");
            };
            let pair = half_source(cx, operand)?;
            let both = cx.value(IntOp::And, U32, &[pair, Src::Imm(0xffff)]);
            let dst = cx.dst(d, "d")?;
            let (small, way) = (small_type(d.modifier("from")), SmallWay::ToPacked(both, FloatTy::F16x2));
            cx.push(Sem::SmallConvert(Box::new(SmallConvert { dst, small, way, relu: d.has("relu") })));
        }
        _ => return refuse(format!("{} is no conversion to a few bits", d.op.name), ""),
    }
    Ok(Role::PLAIN)
}

/// Packs two words that are clamped to a narrower type, and the lower bits of a third one above them.
fn pack(cx: &mut Cx, d: &Decoded, [a, b, c]: [Src; 3]) -> Res<()> {
    let IntTy { bits, signed } = int_type(d.modifier("to"))?;
    let dst = cx.dst(d, "d")?;
    let src = [a, b, c, Src::Imm(0)];
    let (op, ty) = (IntOp::PackClamped { bits }, IntTy { bits: 32, signed });
    cx.push(Sem::Int { op, ty, dst, src, carry: Carry::default(), saturate: false });
    Ok(())
}

/// Packs two numbers of single precision as bytes. They are rounded to the nearest integers and clamped.
fn bytes(cx: &mut Cx, d: &Decoded) -> Res<()> {
    let to = ValueTy::Int(int_type(d.modifier("to"))?);
    let mut words = [Src::Imm(0); 2];
    for (word, name) in words.iter_mut().zip(["a", "b"]) {
        let src = super::float::source(cx, d, name)?;
        let dst = cx.narrow();
        let plain = super::conversion::unmodified(dst, src, ValueTy::Float(FloatTy::F32), to);
        cx.push(Sem::Convert(Box::new(Convert {
            round: Round::Nearest,
            integral: true,
            sat: true,
            ..plain
        })));
        *word = Src::Reg(dst);
    }
    let c = cx.source(d, "c")?;
    pack(cx, d, [words[0], words[1], c])
}

fn small_type(name: &str) -> SmallTy {
    if name == ".E4M3" { SmallTy::E4m3 } else { SmallTy::E5m2 }
}

/// Lowers a conversion to two numbers of eight bits, above which is the lower half of a third word.
fn small(cx: &mut Cx, d: &Decoded, to: &str, way: SmallWay) -> Res<()> {
    let c = cx.source(d, "c")?;
    let pair = cx.narrow();
    let small = small_type(to);
    cx.push(Sem::SmallConvert(Box::new(SmallConvert { dst: pair, small, way, relu: d.has("relu") })));
    let dst = cx.dst(d, "d")?;
    // the lower half is the pair, the upper one that of the third word
    cx.int(IntOp::Bfi, U32, dst, &[c, Src::Reg(pair), Src::Imm(16), Src::Imm(16)]);
    Ok(())
}
