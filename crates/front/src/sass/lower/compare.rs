//! Lowers comparisons whose result is a predicate, a mask, or a selection of a source.

use super::conversion::widened;
use super::registers::held;
use super::{Cx, Decoded, Res, Role, S32, S64, U32, U64, Value, double, float, half, refuse};
use crate::sass::table::meaning::Compare as Name;
use warpbound_core::base::RegId;
use warpbound_core::program::Guard;
use warpbound_core::program::sem::{
    Carry, Cmp, Compare, CompareInto, FloatMode, FloatOp, FloatTy, IntOp, IntTy, Operand as Src, PredOp,
    PredSrc, Sem, ValueTy,
};

/// Adds `p = a cmp b`.
pub(super) fn into(cx: &mut Cx, cmp: Cmp, ty: IntTy, (a, b): (Src, Src), p: RegId) {
    let ty = ValueTy::Int(ty);
    cx.push(Sem::Compare(Box::new(Compare {
        cmp,
        ty,
        ftz: false,
        a,
        b,
        combine: None,
        into: CompareInto::Preds(Some(p), None),
    })));
}

/// Returns a relation by its name; `None` for those that do not depend on the sources.
fn relation(name: &str) -> Option<Cmp> {
    Some(match name {
        ".LT" => Cmp::Lt,
        ".EQ" => Cmp::Eq,
        ".LE" => Cmp::Le,
        // FCMP does not print it
        ".GT" | "" => Cmp::Gt,
        ".NE" => Cmp::Ne,
        ".GE" => Cmp::Ge,
        ".NUM" => Cmp::Num,
        ".NAN" => Cmp::Nan,
        ".LTU" => Cmp::Ltu,
        ".EQU" => Cmp::Equ,
        ".LEU" => Cmp::Leu,
        ".GTU" => Cmp::Gtu,
        ".NEU" => Cmp::Neu,
        ".GEU" => Cmp::Geu,
        _ => return None,
    })
}

fn logic(name: &str) -> PredOp {
    match name {
        ".OR" => PredOp::Or,
        ".XOR" => PredOp::Xor,
        _ => PredOp::And,
    }
}

/// The operands of a comparison.
struct Question {
    cmp: Cmp,
    ty: ValueTy,
    ftz: bool,
    a: Src,
    b: Src,
}

/// The type of the sources of a comparison.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sources {
    Int,
    Single,
    Double,
    /// Two numbers of half precision.
    Halves,
}

pub(super) fn lower(cx: &mut Cx, d: &Decoded, name: Name) -> Res<Role> {
    match name {
        Name::Isetp => set_predicates(cx, d, Sources::Int)?,
        Name::Fsetp => set_predicates(cx, d, Sources::Single)?,
        Name::Dsetp if matches!(d.modifier("cmp"), ".MIN" | ".MAX") => choice(cx, d)?,
        Name::Dsetp => set_predicates(cx, d, Sources::Double)?,
        Name::Iset => set_register(cx, d, Sources::Int)?,
        Name::Fset => set_register(cx, d, Sources::Single)?,
        Name::Dset => set_register(cx, d, Sources::Double)?,
        Name::Icmp => select(cx, d, Sources::Int)?,
        Name::Fcmp => select(cx, d, Sources::Single)?,
        Name::Fchk => check_divide(cx, d)?,
        Name::IsetpUpper => upper_predicates(cx, d)?,
        Name::Isetp64 => pair_predicates(cx, d)?,
        Name::Hsetp2 | Name::Hset2 if d.has("all") || relation(d.modifier("cmp")).is_none() => {
            return refuse(format!("{}{}{}", d.op.name, d.modifier("cmp"), d.modifier("all")), "");
        }
        Name::Hsetp2 => set_predicates(cx, d, Sources::Halves)?,
        Name::Hset2 => set_register(cx, d, Sources::Halves)?,
    }
    Ok(Role::PLAIN)
}

/// Lowers the selection of a or b by the comparison of c with zero.
fn select(cx: &mut Cx, d: &Decoded, sources: Sources) -> Res<()> {
    let question = question(cx, d, sources, |cx| Ok((cx.source(d, "c")?, Src::Imm(0))))?;
    let p = cx.pred();
    ask(cx, question, None, CompareInto::Preds(Some(p), None));
    let (a, b) = (cx.source(d, "a")?, cx.source(d, "b")?);
    let dst = cx.dst(d, "d")?;
    cx.push(Sem::Select { dst, a, b, p: held(p) });
    Ok(())
}

/// Lowers a comparison that sets two predicates.
fn set_predicates(cx: &mut Cx, d: &Decoded, sources: Sources) -> Res<()> {
    let question = compared(cx, d, sources)?;
    let combine = combined(cx, d);
    let (p, q) = (cx.pred_dst(d, "p"), cx.pred_dst(d, "q"));
    ask(cx, question, combine, CompareInto::Preds(p, q));
    Ok(())
}

/// Lowers the comparison of the upper words of 64-bit integers. The predicate x is the result of
/// the same comparison of the lower words, which decides if the upper ones are equal.
fn upper_predicates(cx: &mut Cx, d: &Decoded) -> Res<()> {
    let question = question(cx, d, Sources::Int, |cx| Ok((cx.source(d, "a")?, cx.source(d, "b")?)))?;
    let lower = cx.pred_src(d, "x");
    let (first, equal, both) = (cx.pred(), cx.pred(), cx.pred());
    let Question { cmp, ty, a, b, .. } = question;
    let strict = match cmp {
        Cmp::Ge | Cmp::Gt => Some(Cmp::Gt),
        Cmp::Le | Cmp::Lt => Some(Cmp::Lt),
        Cmp::Ne => Some(Cmp::Ne),
        _ => None,
    };
    let relation = d.modifier("cmp");
    if matches!(relation, ".F" | ".T") {
        return refuse(format!("ISETP{relation}.EX"), "");
    }
    let ask_for = |cx: &mut Cx, cmp, p| {
        ask(cx, Question { cmp, ty, ftz: false, a, b }, None, CompareInto::Preds(Some(p), None));
    };
    ask_for(cx, Cmp::Eq, equal);
    cx.push(Sem::PredLogic { op: PredOp::And, dst: both, a: held(equal), b: lower });
    if let Some(strict) = strict {
        ask_for(cx, strict, first);
        cx.push(Sem::PredLogic { op: PredOp::Or, dst: both, a: held(both), b: held(first) });
    }
    store(cx, d, both)
}

/// Lowers the comparison of two pairs of registers.
fn pair_predicates(cx: &mut Cx, d: &Decoded) -> Res<()> {
    let (Some(a), Some(b)) = (d.operand("a"), d.operand("b")) else {
        return refuse(format!("{} without sources", d.op.name), "");
    };
    let (a, b) = (cx.pair(a)?, cx.pair(b)?);
    let Some(cmp) = relation(d.modifier("cmp")).filter(|_| d.has("cmp")) else {
        return refuse(format!("{}{}", d.op.name, d.modifier("cmp")), "");
    };
    let ty = ValueTy::Int(if d.modifier("ty") == ".U64" { U64 } else { S64 });
    let combine = combined(cx, d);
    let (p, q) = (cx.pred_dst(d, "p"), cx.pred_dst(d, "q"));
    ask(cx, Question { cmp, ty, ftz: false, a, b }, combine, CompareInto::Preds(p, q));
    Ok(())
}

/// Lowers the decision which of two doubles is the smaller or the larger one: the first predicate
/// says that it is the first source, the second one that both are NaN.
fn choice(cx: &mut Cx, d: &Decoded) -> Res<()> {
    if cx.pred_src(d, "c") != PredSrc::Const(true) {
        return refuse(format!("DSETP{} with a predicate", d.modifier("cmp")), "");
    }
    let (a, b) = (double::source(cx, d, "a")?, double::source(cx, d, "b")?);
    let op = if d.modifier("cmp") == ".MIN" { FloatOp::Min } else { FloatOp::Max };
    let chosen = cx.wide();
    let mode = FloatMode::default();
    cx.push(Sem::Float { op, ty: FloatTy::F64, mode, dst: chosen, src: [a, b, Src::Imm(0)] });
    let ask_for = |cx: &mut Cx, cmp, ty, a, b, combine, p| {
        ask(cx, Question { cmp, ty, ftz: false, a, b }, combine, CompareInto::Preds(Some(p), None));
    };
    let float = ValueTy::Float(FloatTy::F64);
    let (first, both) = (cx.pred(), cx.pred());
    ask_for(cx, Cmp::Nan, float, a, a, None, both);
    ask_for(cx, Cmp::Nan, float, b, b, Some((PredOp::And, held(both))), both);
    let not_both = PredSrc::Reg(Guard { reg: both, negate: true });
    let equal = Some((PredOp::And, not_both));
    ask_for(cx, Cmp::Eq, ValueTy::Int(U64), Src::Reg(chosen), a, equal, first);
    for (out, found) in [("p", first), ("q", both)] {
        if let Some(out) = cx.pred_dst(d, out) {
            cx.set_pred(out, held(found));
        }
    }
    Ok(())
}

/// Combines a predicate and its negation with a third one, and stores the results.
fn store(cx: &mut Cx, d: &Decoded, found: RegId) -> Res<()> {
    let with = cx.pred_src(d, "c");
    let op = logic(d.modifier("bop"));
    let outs = [(cx.pred_dst(d, "p"), false), (cx.pred_dst(d, "q"), true)];
    // the first destination may be the third predicate
    let mut results = Vec::new();
    for (out, negate) in outs {
        if let Some(out) = out {
            let dst = cx.pred();
            cx.push(Sem::PredLogic { op, dst, a: PredSrc::Reg(Guard { reg: found, negate }), b: with });
            results.push((out, dst));
        }
    }
    for (out, reg) in results {
        cx.set_pred(out, held(reg));
    }
    Ok(())
}

/// Lowers a comparison that sets a register to ones or to 1.0.
fn set_register(cx: &mut Cx, d: &Decoded, sources: Sources) -> Res<()> {
    let question = compared(cx, d, sources)?;
    let combine = combined(cx, d);
    let dst = cx.dst(d, "d")?;
    let one = if sources == Sources::Halves { half::ty(d) } else { FloatTy::F32 };
    let result = if d.has("bf") { CompareInto::Float(dst, one) } else { CompareInto::Ones(dst) };
    ask(cx, question, combine, result);
    if d.operand("d").is_some_and(|operand| operand.cc) {
        cx.note_zero(dst, false);
    }
    Ok(())
}

/// Returns the predicate with which the result of a comparison is combined.
fn combined(cx: &mut Cx, d: &Decoded) -> Option<(PredOp, PredSrc)> {
    let with = cx.pred_src(d, "c");
    match (logic(d.modifier("bop")), with) {
        (PredOp::And, PredSrc::Const(true)) => None,
        (op, with) => Some((op, with)),
    }
}

fn ask(cx: &mut Cx, question: Question, combine: Option<(PredOp, PredSrc)>, into: CompareInto) {
    let Question { cmp, ty, ftz, a, b } = question;
    cx.push(Sem::Compare(Box::new(Compare { cmp, ty, ftz, a, b, combine, into })));
}

/// Returns the comparison of a with b.
fn compared(cx: &mut Cx, d: &Decoded, sources: Sources) -> Res<Question> {
    let question = question(cx, d, sources, |cx| match sources {
        Sources::Single => Ok((float::source(cx, d, "a")?, float::source(cx, d, "b")?)),
        Sources::Double => Ok((double::source(cx, d, "a")?, double::source(cx, d, "b")?)),
        Sources::Halves => Ok((half::source(cx, d, "a")?, half::source(cx, d, "b")?)),
        Sources::Int => Ok((cx.source(d, "a")?, cx.source(d, "b")?)),
    })?;
    let chained = sources == Sources::Int && d.has("x") && relation(d.modifier("cmp")).is_some();
    if chained { extended(cx, d, question) } else { Ok(question) }
}

/// Returns a comparison of the operands, which do not matter for the relations that always hold or
/// never hold.
fn question(
    cx: &mut Cx,
    d: &Decoded,
    sources: Sources,
    operands: impl FnOnce(&mut Cx) -> Res<(Src, Src)>,
) -> Res<Question> {
    let name = d.modifier("cmp");
    let ty = match sources {
        Sources::Single => ValueTy::Float(FloatTy::F32),
        Sources::Double => ValueTy::Float(FloatTy::F64),
        Sources::Halves => ValueTy::Float(half::ty(d)),
        Sources::Int => ValueTy::Int(if d.has("u") { U32 } else { S32 }),
    };
    let Some(cmp) = relation(name) else {
        let cmp = if name == ".T" { Cmp::Eq } else { Cmp::Ne };
        return Ok(Question { cmp, ty: ValueTy::Int(U32), ftz: false, a: Src::Imm(0), b: Src::Imm(0) });
    };
    let (a, b) = operands(cx)?;
    Ok(Question { cmp, ty, ftz: d.has("ftz"), a, b })
}

/// Lowers the comparison of the upper words of 64-bit integers, after the condition code has been
/// set by that of the lower words. It compares the difference of the upper words minus the borrow
/// of the lower words with zero.
fn extended(cx: &mut Cx, d: &Decoded, question: Question) -> Res<Question> {
    let Question { cmp, a, b, .. } = question;
    let word = if d.has("u") { U32 } else { S32 };
    let (a, b) = (widened(cx, a, word), widened(cx, b, word));
    let difference = cx.wide();
    cx.int(IntOp::Sub, S64, difference, &[a, b]);
    let (carry, zero) = (cx.flags.carry, cx.flags.zero);
    let borrowed = cx.wide();
    cx.push(Sem::Select { dst: borrowed, a: Src::Imm(0), b: Src::Imm(1), p: held(carry) });
    let rest = cx.wide();
    let src = [Src::Reg(difference), Src::Reg(borrowed), Src::Imm(0), Src::Imm(0)];
    cx.push(Sem::Int { op: IntOp::Sub, ty: S64, dst: rest, src, carry: Carry::default(), saturate: false });
    // The integers are equal only if the lower words are as well; otherwise the value is not zero
    // and has the same sign.
    let lower = cx.wide();
    cx.push(Sem::Select { dst: lower, a: Src::Imm(0), b: Src::Imm(1), p: held(zero) });
    let whole = cx.wide();
    let twice = cx.wide();
    cx.int(IntOp::Shl, U64, twice, &[Src::Reg(rest), Src::Imm(1)]);
    cx.int(IntOp::Or, U64, whole, &[Src::Reg(twice), Src::Reg(lower)]);
    Ok(Question { cmp, ty: ValueTy::Int(S64), ftz: false, a: Src::Reg(whole), b: Src::Imm(0) })
}

/// Lowers `FCHK.DIVIDE`, which tests whether a quotient needs the slow path. The condition is not
/// documented. On an H200, it depends on the biased exponents a and b of dividend and divisor alone:
/// the fast path is taken for 25 <= a <= 254, 2 <= b <= 251 and -124 <= a - b <= 126
/// (`data/measured/h200-division.xz`).
fn check_divide(cx: &mut Cx, d: &Decoded) -> Res<()> {
    let Some(p) = cx.pred_dst(d, "p") else { return refuse("FCHK without a predicate", "") };
    if let Some(operand) = ["a", "b"]
        .iter()
        .filter_map(|name| d.operand(name))
        .find(|operand| matches!(operand.value, Value::Predicate(_)))
    {
        return refuse(format!("FCHK of {}", operand.name), "");
    }
    let (a, b) = (float::source(cx, d, "a")?, float::source(cx, d, "b")?);
    let exponent = |cx: &mut Cx, source: Src| cx.value(IntOp::Bfe, U32, &[source, Src::Imm(23), Src::Imm(8)]);
    let (of_a, of_b) = (exponent(cx, a), exponent(cx, b));
    let outside = |cx: &mut Cx, value: Src, least: u64, count: u64| {
        let from = cx.value(IntOp::Sub, U32, &[value, Src::Imm(least)]);
        let p = cx.pred();
        into(cx, Cmp::Ge, U32, (from, Src::Imm(count)), p);
        p
    };
    let (divisor, dividend) = (outside(cx, of_b, 2, 250), outside(cx, of_a, 25, 230));
    let difference = cx.value(IntOp::Sub, U32, &[of_a, of_b]);
    let biased = cx.value(IntOp::Add, U32, &[difference, Src::Imm(124)]);
    let quotient = outside(cx, biased, 0, 251);
    let either = cx.pred();
    cx.push(Sem::PredLogic { op: PredOp::Or, dst: either, a: held(dividend), b: held(quotient) });
    cx.push(Sem::PredLogic { op: PredOp::Or, dst: p, a: held(either), b: held(divisor) });
    Ok(())
}
