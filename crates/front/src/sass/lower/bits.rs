//! Lowers shifts, logic and bit fields.

use super::{Cx, Decoded, Operand, Res, Role, S32, U32, U64, Value, refuse};
use crate::sass::table::meaning::Bits as Name;
use warpbound_core::base::RegId;
use warpbound_core::program::sem::{
    Cmp, IntOp, IntTy, Lop3Pred, Operand as Src, PredOp, PredSrc, PrmtMode, Sem,
};

pub(super) fn lower(cx: &mut Cx, d: &Decoded, name: Name) -> Res<Role> {
    let sets = d.operand("d").is_some_and(|operand| operand.cc);
    if d.has("x") || sets && !matches!(name, Name::Lop | Name::Lop3) {
        return refuse(format!("{} with the condition code", d.op.name), "");
    }
    let dst = cx.dst(d, "d")?;
    let ty = if d.has("u") { U32 } else { S32 };
    match name {
        Name::Shl => shift(cx, d, dst, (IntOp::Shl, U32))?,
        Name::Shr => shift(cx, d, dst, (IntOp::Shr, ty))?,
        Name::ShfLeft => funnel(cx, d, dst, true)?,
        Name::ShfRight => funnel(cx, d, dst, false)?,
        Name::Lop => logic(cx, d, dst)?,
        Name::Lop3 => logic_table(cx, d, dst)?,
        Name::Bfe => {
            let (a, b) = (cx.source(d, "a")?, cx.source(d, "b")?);
            let a = if d.has("brev") { cx.value(IntOp::Brev, U32, &[a]) } else { a };
            let (position, length) = field(cx, b);
            cx.int(IntOp::Bfe, ty, dst, &[a, position, length]);
        }
        Name::Bfi => {
            let (a, b, c) = (cx.source(d, "a")?, cx.source(d, "b")?, cx.source(d, "c")?);
            let (position, length) = field(cx, b);
            cx.int(IntOp::Bfi, U32, dst, &[a, c, position, length]);
        }
        Name::Popc => {
            let b = inverted(cx, d, "b")?;
            cx.int(IntOp::Popc, U32, dst, &[b]);
        }
        Name::Flo => {
            let b = inverted(cx, d, "b")?;
            cx.int(IntOp::Bfind { shift_amount: d.has("sh") }, ty, dst, &[b]);
        }
        Name::Prmt => permute(cx, d, dst)?,
        Name::Shf => shift_of_pair(cx, d, dst)?,
        Name::Lop3Test => logic_test(cx, d)?,
        Name::Brev => {
            let b = cx.source(d, "b")?;
            cx.int(IntOp::Brev, U32, dst, &[b]);
        }
        Name::Sgxt => {
            let (a, b) = (cx.source(d, "a")?, cx.source(d, "b")?);
            cx.int(IntOp::Szext { wrap: d.has("w") }, ty, dst, &[a, b]);
        }
        Name::Bmsk => {
            let (a, b) = (cx.source(d, "a")?, cx.source(d, "b")?);
            cx.int(IntOp::Bmsk { wrap: d.has("w") }, U32, dst, &[a, b]);
        }
    }
    if sets {
        cx.note_zero(dst, false);
    }
    Ok(Role::PLAIN)
}

/// Lowers a shift of a word.
fn shift(cx: &mut Cx, d: &Decoded, dst: RegId, (op, ty): (IntOp, IntTy)) -> Res<()> {
    let (a, mut b) = (cx.source(d, "a")?, cx.source(d, "b")?);
    if d.has("w") {
        b = wrapped(cx, b);
    }
    let a = if d.has("brev") { cx.value(IntOp::Brev, U32, &[a]) } else { a };
    cx.int(op, ty, dst, &[a, b]);
    Ok(())
}

/// Lowers an operation on the bits of two words.
fn logic(cx: &mut Cx, d: &Decoded, dst: RegId) -> Res<()> {
    let (a, b) = (inverted(cx, d, "a")?, inverted(cx, d, "b")?);
    match d.modifier("op") {
        ".AND" => cx.int(IntOp::And, U32, dst, &[a, b]),
        ".OR" => cx.int(IntOp::Or, U32, dst, &[a, b]),
        ".XOR" => cx.int(IntOp::Xor, U32, dst, &[a, b]),
        _ => cx.push(Sem::Mov { dst, src: b }),
    }
    tested(cx, d, dst)
}

/// Lowers an operation on the bits of three words that a table of eight bits defines.
fn logic_table(cx: &mut Cx, d: &Decoded, dst: RegId) -> Res<()> {
    let (a, b, c) = (cx.source(d, "a")?, cx.source(d, "b")?, cx.source(d, "c")?);
    let Some(Value::Small(table)) = d.operand("lut").map(|operand| operand.value) else {
        return refuse("LOP3 without a table", "");
    };
    cx.int(IntOp::Lop3(table as u8), U32, dst, &[a, b, c]);
    tested(cx, d, dst)
}

/// Lowers a selection of bytes.
fn permute(cx: &mut Cx, d: &Decoded, dst: RegId) -> Res<()> {
    let (a, b, c) = (cx.source(d, "a")?, cx.source(d, "b")?, cx.source(d, "c")?);
    let mode = match d.modifier("mode") {
        "" => PrmtMode::Default,
        ".F4E" => PrmtMode::F4e,
        ".B4E" => PrmtMode::B4e,
        ".RC8" => PrmtMode::Rc8,
        ".ECL" => PrmtMode::Ecl,
        ".ECR" => PrmtMode::Ecr,
        _ => PrmtMode::Rc16,
    };
    // the selector is the second operand here
    cx.int(IntOp::Prmt(mode), U32, dst, &[a, c, b]);
    Ok(())
}

fn wrapped(cx: &mut Cx, amount: Src) -> Src {
    match amount {
        Src::Imm(value) => Src::Imm(value & 31),
        amount => cx.value(IntOp::And, U32, &[amount, Src::Imm(31)]),
    }
}

/// Returns a source, inverted if the instruction requires it.
fn inverted(cx: &mut Cx, d: &Decoded, name: &str) -> Res<Src> {
    let source = cx.source(d, name)?;
    Ok(match (d.operand(name), source) {
        (Some(Operand { inv: true, .. }), Src::Imm(value)) => Src::Imm(u64::from(!(value as u32))),
        (Some(Operand { inv: true, .. }), source) => cx.value(IntOp::Not, U32, &[source]),
        _ => source,
    })
}

/// Splits a word into the position and length of a bit field.
fn field(cx: &mut Cx, word: Src) -> (Src, Src) {
    match word {
        Src::Imm(value) => (Src::Imm(value & 0xff), Src::Imm(value >> 8 & 0xff)),
        word => {
            let position = cx.value(IntOp::And, U32, &[word, Src::Imm(0xff)]);
            let length = cx.value(IntOp::Bfe, U32, &[word, Src::Imm(8), Src::Imm(8)]);
            (position, length)
        }
    }
}

/// Sets the predicate result of a logic operation.
fn tested(cx: &mut Cx, d: &Decoded, result: RegId) -> Res<()> {
    let Some(p) = cx.pred_dst(d, "p") else { return Ok(()) };
    let relation = match d.modifier("test") {
        ".Z" => Cmp::Eq,
        ".NZ" => Cmp::Ne,
        ".T" => {
            cx.set_pred(p, PredSrc::Const(true));
            return Ok(());
        }
        _ => {
            cx.set_pred(p, PredSrc::Const(false));
            return Ok(());
        }
    };
    super::compare::into(cx, relation, U32, (Src::Reg(result), Src::Imm(0)), p);
    Ok(())
}

/// Lowers a shift of c:a by b bits, which wraps at the width of the type or is clamped to it. The
/// result is one of the words.
fn shift_of_pair(cx: &mut Cx, d: &Decoded, dst: RegId) -> Res<()> {
    let (a, b, c) = (cx.source(d, "a")?, cx.source(d, "b")?, cx.source(d, "c")?);
    let left = d.op.name.ends_with('L');
    let (upper, wrap) = (d.has("hi"), d.has("w"));
    let kind = d.modifier("ty");
    let (signed, width) = (kind.starts_with(".S"), if kind.ends_with("64") { 64 } else { 32 });
    let amount = match b {
        Src::Imm(value) if wrap => Src::Imm(value & (width - 1)),
        Src::Imm(value) => Src::Imm(value.min(width)),
        b if wrap => cx.value(IntOp::And, U32, &[b, Src::Imm(width - 1)]),
        b => cx.value(IntOp::Min, U32, &[b, Src::Imm(width)]),
    };
    let of_word = if signed { S32 } else { U32 };
    match (left, upper) {
        // only one word matters
        (true, false) if width == 32 => cx.int(IntOp::Shl, U32, dst, &[a, amount]),
        (false, true) if width == 32 => cx.int(IntOp::Shr, of_word, dst, &[c, amount]),
        _ => {
            let (pair, shifted) = (cx.wide(), cx.wide());
            cx.push(Sem::Pack { dst: pair, parts: vec![a, c], bits: 32 });
            let op = if left { IntOp::Shl } else { IntOp::Shr };
            cx.int(op, IntTy { bits: 64, signed }, shifted, &[Src::Reg(pair), amount]);
            if upper { cx.high(dst, shifted) } else { cx.low(dst, shifted) }
        }
    }
    Ok(())
}

/// Lowers an operation on the bits of three words that also tests whether the result is zero.
fn logic_test(cx: &mut Cx, d: &Decoded) -> Res<()> {
    let src = [cx.source(d, "a")?, cx.source(d, "b")?, cx.source(d, "c")?];
    let Some(Value::Small(table)) = d.operand("lut").map(|operand| operand.value) else {
        return refuse("LOP3 without a table", "");
    };
    let dst = cx.dst(d, "d")?;
    match cx.pred_dst(d, "p") {
        None => cx.int(IntOp::Lop3(table as u8), U32, dst, &src),
        pred => {
            let op = if d.has("pand") { PredOp::And } else { PredOp::Or };
            let with = cx.pred_src(d, "x");
            let test = Lop3Pred { table: table as u8, src, dst: Some(dst), pred, op, with };
            cx.push(Sem::Lop3Pred(Box::new(test)));
        }
    }
    Ok(())
}

/// Lowers shifts of c:a whose result is the upper or the lower half.
fn funnel(cx: &mut Cx, d: &Decoded, dst: RegId, left: bool) -> Res<()> {
    let (a, b, c) = (cx.source(d, "a")?, cx.source(d, "b")?, cx.source(d, "c")?);
    let wrap = d.has("w");
    match (d.modifier("part"), d.modifier("ty")) {
        ("", "") => {
            let op = if left { IntOp::FunnelLeft { wrap } } else { IntOp::FunnelRight { wrap } };
            cx.int(op, U32, dst, &[a, c, b]);
        }
        ("", ty) => {
            // the pair is a 64-bit integer here, and is shifted by up to 63 bits; the result is its
            // upper half for a shift to the left, else its lower half
            let pair = cx.wide();
            cx.push(Sem::Pack { dst: pair, parts: vec![a, c], bits: 32 });
            let amount = match b {
                Src::Imm(value) => Src::Imm(if wrap { value & 63 } else { value }),
                b if wrap => cx.value(IntOp::And, U32, &[b, Src::Imm(63)]),
                b => b,
            };
            let shifted = cx.wide();
            let ty = IntTy { bits: 64, signed: ty == ".S64" };
            cx.int(
                if left { IntOp::Shl } else { IntOp::Shr },
                if left { U64 } else { ty },
                shifted,
                &[Src::Reg(pair), amount],
            );
            if left {
                cx.high(dst, shifted);
            } else {
                cx.low(dst, shifted);
            }
        }
        (part, _) => return refuse(format!("{}{part}", d.op.name), ""),
    }
    Ok(())
}
