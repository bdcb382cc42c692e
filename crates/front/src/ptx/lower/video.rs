//! Video instructions.

use super::opcode::Opcode;
use super::operand::Cx;
use super::{Lowered, Refusal, Res, wrong_count};
use crate::ptx::ast::{Operand, OperandKind};
use crate::ptx::types::Type;
use warpbound_core::isa::TypeKind;
use warpbound_core::program::sem::{
    Cmp, Operand as Src, Part, Sem, Then, Video, VideoMad, VideoOp, VideoShape,
};

const B32: Type = Type::Bits(32);

const RELATIONS: [(&str, Cmp); 6] =
    [("eq", Cmp::Eq), ("ne", Cmp::Ne), ("lt", Cmp::Lt), ("le", Cmp::Le), ("gt", Cmp::Gt), ("ge", Cmp::Ge)];

/// The parts of an operand: the register, the selector, and whether it is negated.
struct Selected<'a> {
    operand: Operand,
    selector: Option<&'a str>,
    negated: bool,
}

pub(super) fn lower<'a>(cx: &mut Cx<'a, '_>, op: &mut Opcode<'a>, args: &[Operand]) -> Res<Lowered<'a>> {
    let lanes = match op.root.as_bytes().last() {
        Some(b'2') => Some(2),
        Some(b'4') => Some(4),
        _ => None,
    };
    let operation = operation(op, op.root.trim_end_matches(['2', '4']))?;
    let saturate = op.take("sat");
    let then = op.choose(&[("add", Then::Add), ("min", Then::Min), ("max", Then::Max)]);
    let signs = signs(op, operation)?;
    op.finish()?;
    let sem = match lanes {
        Some(lanes) => packed(cx, op, args, (operation, lanes), signs, (saturate, then))?,
        None => scalar(cx, op, args, operation, signs, (saturate, then))?,
    };
    Ok(Lowered::new(Sem::Video(Box::new(sem)), op.root, TypeKind::Int))
}

fn operation(op: &mut Opcode<'_>, name: &str) -> Res<VideoOp> {
    Ok(match name {
        "vadd" => VideoOp::Add,
        "vsub" => VideoOp::Sub,
        "vavrg" => VideoOp::Average,
        "vabsdiff" => VideoOp::AbsDiff,
        "vmin" => VideoOp::Min,
        "vmax" => VideoOp::Max,
        "vset" => VideoOp::Set(op.need("comparison", &RELATIONS)?),
        "vshl" => VideoOp::Shl { wrap: wraps(op)? },
        "vshr" => VideoOp::Shr { wrap: wraps(op)? },
        _ => {
            let plus_one = op.take("po");
            let shift = op.choose(&[("shr7", 7), ("shr15", 15)]).unwrap_or(0);
            VideoOp::Mad(VideoMad { negate_product: false, negate_c: false, plus_one, shift })
        }
    })
}

fn wraps(op: &mut Opcode<'_>) -> Res<bool> {
    op.need("mode", &[("clamp", false), ("wrap", true)])
}

/// Consumes the types; returns whether the result, `a` and `b` are signed. Comparisons have no type
/// for their result.
fn signs(op: &mut Opcode<'_>, operation: VideoOp) -> Res<[bool; 3]> {
    let wrong = |op: &Opcode<'_>, hint: &str| Refusal::new(format!("`{}`: wrong types", op.text), hint);
    let types = op.types();
    let list = match (operation, types.as_slice()) {
        (VideoOp::Set(_), &[a, b]) => [Type::Unsigned(32), a, b],
        (VideoOp::Set(_), _) => return Err(wrong(op, "it takes the types of both sources")),
        (_, &[d, a, b]) => [d, a, b],
        _ => return Err(wrong(op, "it takes the types of the result and both sources")),
    };
    if list.iter().any(|ty| !matches!(ty, Type::Unsigned(32) | Type::Signed(32))) {
        return Err(wrong(op, "each type is .u32 or .s32"));
    }
    let signs = list.map(|ty| matches!(ty, Type::Signed(_)));
    if matches!(operation, VideoOp::Shl { .. } | VideoOp::Shr { .. }) && signs[2] {
        return Err(wrong(op, "the amount of a shift is .u32"));
    }
    Ok(signs)
}

/// Splits an operand such as `-%r1.b2`.
fn selected<'a>(cx: &Cx<'a, '_>, operand: &Operand) -> Selected<'a> {
    let (inner, negated) = match &operand.kind {
        OperandKind::Minus(inner) => (&**inner, true),
        _ => (operand, false),
    };
    if let OperandKind::Component(name, part) = inner.kind {
        let part = cx.text(part).trim_start_matches('.');
        if part.starts_with(['b', 'h']) && part.len() > 1 {
            let operand = Operand { kind: OperandKind::Name(name), span: inner.span };
            return Selected { operand, selector: Some(part), negated };
        }
    }
    Selected { operand: inner.clone(), selector: None, negated }
}

fn wrong_selector(operand: &Operand, allowed: &str) -> Refusal {
    Refusal::new("there is no such selector", format!("expected {allowed}")).at(operand.span)
}

fn scalar(
    cx: &mut Cx<'_, '_>,
    op: &Opcode<'_>,
    args: &[Operand],
    mut operation: VideoOp,
    [mut signed, a_signed, b_signed]: [bool; 3],
    (saturate, then): (bool, Option<Then>),
) -> Res<Video> {
    let [d, a, b, rest @ ..] = args else { return Err(wrong_count(op, args, "3 or 4")) };
    let (d, a, b) = (selected(cx, d), selected(cx, a), selected(cx, b));
    let part = |from: &Selected<'_>| match from.selector {
        None => Ok(Part::Word),
        Some(name) => [
            ("b0", Part::Byte(0)),
            ("b1", Part::Byte(1)),
            ("b2", Part::Byte(2)),
            ("b3", Part::Byte(3)),
            ("h0", Part::Half(0)),
            ("h1", Part::Half(1)),
        ]
        .into_iter()
        .find_map(|(known, part)| (known == name).then_some(part))
        .ok_or_else(|| wrong_selector(&from.operand, "one of .b0 .b1 .b2 .b3 .h0 .h1")),
    };
    let (to, of_a, of_b) = (part(&d)?, part(&a)?, part(&b)?);
    let mad = matches!(operation, VideoOp::Mad(_));
    let then = match (to, then) {
        (Part::Word, then) => then.unwrap_or(Then::Keep),
        (_, Some(_)) => {
            let message = format!("`{}` merges its result or has a second operation, not both", op.text);
            return Err(Refusal::new(message, ""));
        }
        (_, None) if mad => return Err(Refusal::new("vmad writes whole registers", "").at(d.operand.span)),
        (to, None) => Then::Merge(to),
    };
    if mad && then != Then::Keep {
        return Err(Refusal::new(format!("`{}`: vmad has no second operation", op.text), ""));
    }
    let third = match (rest, then == Then::Keep && !mad) {
        ([], true) => None,
        ([c], false) => Some(selected(cx, c)),
        (_, keeps_result) => return Err(wrong_count(op, args, if keeps_result { "3" } else { "4" })),
    };
    let negate_c = third.as_ref().is_some_and(|c| c.negated);
    if let VideoOp::Mad(mad) = &mut operation {
        (mad.negate_product, mad.negate_c) = (a.negated != b.negated, negate_c);
        if mad.plus_one && (a.negated || b.negated || negate_c) || mad.negate_product && negate_c {
            let hint = "either the product or the third source may be negated, and neither with .po";
            return Err(Refusal::new(format!("`{}` cannot negate these sources", op.text), hint));
        }
        // the signs of the sources determine that of the result, whatever its written type is
        signed = a_signed || b_signed || mad.negate_product || negate_c;
    } else if a.negated || b.negated || negate_c {
        return Err(Refusal::new(format!("`{}` negates no source", op.text), "only vmad does"));
    }
    let c = match third {
        Some(c) if c.selector.is_none() => cx.src(&c.operand, B32)?,
        Some(c) => return Err(Refusal::new("the third source is a whole register", "").at(c.operand.span)),
        None => Src::Imm(0),
    };
    let shape = VideoShape::Scalar { a: of_a, b: of_b, then };
    let (a, b) = (cx.src(&a.operand, B32)?, cx.src(&b.operand, B32)?);
    let dst = cx.dst(&d.operand, B32)?;
    Ok(Video { op: operation, dst, a, b, c, a_signed, b_signed, signed, saturate, shape })
}

fn packed(
    cx: &mut Cx<'_, '_>,
    op: &Opcode<'_>,
    args: &[Operand],
    (operation, lanes): (VideoOp, u8),
    [signed, a_signed, b_signed]: [bool; 3],
    (saturate, then): (bool, Option<Then>),
) -> Res<Video> {
    if matches!(operation, VideoOp::Shl { .. } | VideoOp::Shr { .. } | VideoOp::Mad(_)) {
        return Err(Refusal::new(format!("there is no `{}`", op.root), ""));
    }
    let sum = match then {
        None => false,
        Some(Then::Add) if !saturate => true,
        Some(_) => {
            let message = format!(
                "`{}`: packed results can be merged, or summed with .add if they are not clamped",
                op.text
            );
            return Err(Refusal::new(message, ""));
        }
    };
    let [d, a, b, c] = super::exactly(op, args)?;
    let [d, a, b, c] = [d, a, b, c].map(|operand| selected(cx, operand));
    if [&a, &b, &c].iter().any(|source| source.negated) || c.selector.is_some() {
        return Err(Refusal::new(
            format!("`{}` takes no negated source, and no selector for the third one", op.text),
            "",
        ));
    }
    let letter = if lanes == 2 { 'h' } else { 'b' };
    // the digits of a selector, that of the lowest part first
    let digits = |from: &Selected<'_>, below: u8| -> Res<Option<Vec<u8>>> {
        let Some(name) = from.selector else { return Ok(None) };
        let wrong = || {
            let allowed = if lanes == 2 { ".h and two digits" } else { ".b and four digits" };
            wrong_selector(&from.operand, allowed)
        };
        let list = name.strip_prefix(letter).ok_or_else(wrong)?;
        let digits: Vec<u8> = list.bytes().rev().map(|byte| byte.wrapping_sub(b'0')).collect();
        if digits.iter().all(|&digit| digit < below) { Ok(Some(digits)) } else { Err(wrong()) }
    };
    let picks = |from: &Selected<'_>, first: u8| -> Res<[u8; 4]> {
        let mut picks = [0; 4];
        match digits(from, 2 * lanes)? {
            None => (0..lanes).for_each(|index| picks[usize::from(index)] = first + index),
            Some(list) if list.len() == usize::from(lanes) => picks[..list.len()].copy_from_slice(&list),
            Some(_) => return Err(wrong_selector(&from.operand, "one digit for each part")),
        }
        Ok(picks)
    };
    let (of_a, of_b) = (picks(&a, 0)?, picks(&b, lanes)?);
    let mask = match digits(&d, lanes)? {
        None => (1 << lanes) - 1,
        Some(list) if !list.is_empty() && list.is_sorted_by(|one, next| one < next) => {
            list.iter().fold(0, |mask, digit| mask | 1 << digit)
        }
        Some(_) => return Err(wrong_selector(&d.operand, "digits in descending order")),
    };
    let [a, b, c] = cx.srcs([&a.operand, &b.operand, &c.operand], B32)?;
    let dst = cx.dst(&d.operand, B32)?;
    let shape = VideoShape::Packed { lanes, a: of_a, b: of_b, mask, sum };
    Ok(Video { op: operation, dst, a, b, c, a_signed, b_signed, signed, saturate, shape })
}
