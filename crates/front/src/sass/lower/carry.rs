//! Lowers the integer sums and products of generations with carries in predicates.

use super::{Cx, Decoded, Operand, Res, Role, S32, U32, U64, conversion, refuse};
use crate::sass::table::meaning::Int as Name;
use warpbound_core::base::RegId;
use warpbound_core::program::sem::{Carry, Cmp, IntOp, IntTy, Operand as Src, PredSrc, Sem};

pub(super) fn lower(cx: &mut Cx, d: &Decoded, name: Name) -> Res<Role> {
    match name {
        Name::Add3 => sum(cx, d, &["a", "b", "c"])?,
        Name::Add => sum(cx, d, &["a", "b"])?,
        Name::Add64 => sum_of_pairs(cx, d)?,
        Name::Mad => product(cx, d)?,
        Name::MadWide => wide_product(cx, d)?,
        Name::MadHi => upper_product(cx, d)?,
        Name::LeaCarry => {
            let a = negated(cx, d, "a")?;
            let shift = cx.source(d, "shift")?;
            let scaled = if shift == Src::Imm(0) { a } else { cx.value(IntOp::Shl, U32, &[a, shift]) };
            let b = term(cx, d, "b")?;
            total(cx, d, vec![Term { value: scaled, negative: false }, b])?;
        }
        Name::LeaUpper => upper_scaled(cx, d)?,
        Name::Iabs => {
            let (b, dst) = (cx.source(d, "b")?, cx.dst(d, "d")?);
            cx.int(IntOp::Abs, S32, dst, &[b]);
        }
        _ => smaller_pair(cx, d)?,
    }
    Ok(Role::PLAIN)
}

/// The type of words by the modifier that says that they are unsigned.
fn word(d: &Decoded) -> IntTy {
    if d.has("u") { U32 } else { S32 }
}

/// A word of a sum, which may be inverted.
#[derive(Clone, Copy)]
struct Term {
    value: Src,
    negative: bool,
}

/// Returns a source; a negated one is the inverted one plus one.
fn term(cx: &mut Cx, d: &Decoded, name: &str) -> Res<Term> {
    let operand = d.operand(name);
    Ok(Term { value: cx.source(d, name)?, negative: operand.is_some_and(|o| o.neg || o.inv) })
}

fn inverted(cx: &mut Cx, source: Src) -> Src {
    match source {
        Src::Imm(value) => Src::Imm(u64::from(!(value as u32))),
        source => cx.value(IntOp::Not, U32, &[source]),
    }
}

/// Returns a source with its sign.
fn negated(cx: &mut Cx, d: &Decoded, name: &str) -> Res<Src> {
    let term = term(cx, d, name)?;
    Ok(match term.value {
        value if !term.negative => value,
        Src::Imm(value) => Src::Imm(u64::from((value as u32).wrapping_neg())),
        value => cx.value(IntOp::Neg, U32, &[value]),
    })
}

/// Lowers a sum of words.
fn sum(cx: &mut Cx, d: &Decoded, names: &[&str]) -> Res<()> {
    let terms = names.iter().map(|name| term(cx, d, name)).collect::<Res<Vec<Term>>>()?;
    total(cx, d, terms)
}

/// Returns 1 if a predicate holds, else 0; `None` for the constant false.
fn carry_in(cx: &mut Cx, d: &Decoded, name: &str) -> Option<Src> {
    d.operand(name)?;
    let p = cx.pred_src(d, name);
    (p != PredSrc::Const(false)).then(|| cx.word_of(p))
}

/// Lowers a sum of words and carries, with carries out. A negative term is the inverted word plus
/// one or, in a sum with carries in, the inverted word. If the sum has two carries out, the first
/// one says that it is at least 2^32, and the second one that it is at least twice that.
fn total(cx: &mut Cx, d: &Decoded, terms: Vec<Term>) -> Res<()> {
    let chained = d.operand("x").is_some();
    let carries: Vec<Src> = ["x", "y"].iter().filter_map(|name| carry_in(cx, d, name)).collect();
    let outs = ["p", "q"].map(|name| cx.pred_dst(d, name));
    let dst = cx.dst(d, "d")?;
    if outs == [None, None] {
        return plain_total(cx, dst, &terms, carries, chained);
    }
    let ones = if chained { 0 } else { terms.iter().filter(|term| term.negative).count() };
    let mut parts = Vec::new();
    for term in &terms {
        let value = if term.negative { inverted(cx, term.value) } else { term.value };
        if value != Src::Imm(0) {
            parts.push(conversion::widened(cx, value, U32));
        }
    }
    for carry in carries {
        parts.push(conversion::widened(cx, carry, U32));
    }
    if ones > 0 {
        parts.push(Src::Imm(ones as u64));
    }
    let whole = added(cx, &parts);
    let upper = cx.wide();
    cx.int(IntOp::Shr, U64, upper, &[whole, Src::Imm(32)]);
    let count = cx.narrow();
    cx.low(count, upper);
    let low = match whole {
        Src::Reg(reg) => reg,
        other => {
            let reg = cx.wide();
            cx.int(IntOp::Add, U64, reg, &[other, Src::Imm(0)]);
            reg
        }
    };
    cx.low(dst, low);
    for (least, out) in (1..).zip(outs) {
        if let Some(out) = out {
            super::compare::into(cx, Cmp::Ge, U32, (Src::Reg(count), Src::Imm(least)), out);
        }
    }
    Ok(())
}

/// Lowers a sum without carries out.
fn plain_total(cx: &mut Cx, dst: RegId, terms: &[Term], carries: Vec<Src>, chained: bool) -> Res<()> {
    let mut left: Vec<Term> = Vec::new();
    for term in terms {
        match term {
            Term { value: Src::Imm(0), negative } if !*negative || !chained => {}
            Term { value, negative: true } if chained => {
                left.push(Term { value: inverted(cx, *value), negative: false });
            }
            term => left.push(*term),
        }
    }
    left.extend(carries.into_iter().map(|value| Term { value, negative: false }));
    // positive terms come first, so that the others are subtracted
    left.sort_by_key(|term| term.negative);
    let mut sum = match left.first() {
        Some(&Term { value, negative: false }) => {
            left.remove(0);
            value
        }
        _ => Src::Imm(0),
    };
    let last = left.len();
    if last == 0 {
        cx.push(Sem::Mov { dst, src: sum });
        return Ok(());
    }
    for (index, term) in left.into_iter().enumerate() {
        let to = if index + 1 == last { dst } else { cx.narrow() };
        let op = if term.negative { IntOp::Sub } else { IntOp::Add };
        cx.int(op, U32, to, &[sum, term.value]);
        sum = Src::Reg(to);
    }
    Ok(())
}

/// Returns the sum of numbers of 64 bits.
fn added(cx: &mut Cx, parts: &[Src]) -> Src {
    let (Some(&first), rest) = (parts.first(), parts.get(1..).unwrap_or_default()) else {
        return Src::Imm(0);
    };
    rest.iter().fold(first, |sum, &part| {
        let dst = cx.wide();
        cx.int(IntOp::Add, U64, dst, &[sum, part]);
        Src::Reg(dst)
    })
}

/// Lowers the sum of two pairs of registers.
fn sum_of_pairs(cx: &mut Cx, d: &Decoded) -> Res<()> {
    let pairs = ["a", "b", "c"].iter().filter_map(|name| d.operand(name));
    let mut sum: Option<Src> = None;
    let all: Vec<&Operand> = pairs.collect();
    let write = cx.pred_dst(d, "p");
    if let (&[a, b], true) = (all.as_slice(), write.is_some() || d.operand("x").is_some()) {
        return pair_with_carry(cx, d, a, b);
    }
    if all.iter().filter(|operand| operand.neg).count() > 1 || write.is_some() {
        return refuse(format!("{} with a carry, or of negated sources", d.op.name), "");
    }
    let mut last = cx.wide();
    for operand in all {
        let pair = cx.pair(operand)?;
        let negated = operand.neg;
        let from = sum.unwrap_or(Src::Imm(0));
        let dst = cx.wide();
        cx.int(if negated { IntOp::Sub } else { IntOp::Add }, U64, dst, &[from, pair]);
        (sum, last) = (Some(Src::Reg(dst)), dst);
    }
    cx.unpack(d, "d", last);
    Ok(())
}

/// Lowers the sum of two pairs of registers with carries.
fn pair_with_carry(cx: &mut Cx, d: &Decoded, a: &Operand, b: &Operand) -> Res<()> {
    // a negated source is the inverted one plus one
    let ones = u8::from(a.neg) + u8::from(b.neg);
    if ones > 1 || ones > 0 && d.operand("x").is_some() {
        return refuse(format!("{} with a carry of negated sources", d.op.name), "");
    }
    let mut sources = [cx.pair(a)?, cx.pair(b)?];
    for (source, operand) in sources.iter_mut().zip([a, b]) {
        if operand.inv || operand.neg {
            let dst = cx.wide();
            cx.int(IntOp::Not, U64, dst, &[*source]);
            *source = Src::Reg(dst);
        }
    }
    let [first, second] = sources;
    let read = match d.operand("x") {
        None if ones > 0 => {
            let reg = cx.pred();
            cx.set_pred(reg, PredSrc::Const(true));
            Some(reg)
        }
        None => None,
        Some(_) => {
            let (from, reg) = (cx.pred_src(d, "x"), cx.pred());
            cx.set_pred(reg, from);
            Some(reg)
        }
    };
    let (dst, src) = (cx.wide(), [first, second, Src::Imm(0), Src::Imm(0)]);
    let carry = Carry { read, write: cx.pred_dst(d, "p") };
    cx.push(Sem::Int { op: IntOp::Add, ty: U64, dst, src, carry, saturate: false });
    cx.unpack(d, "d", dst);
    Ok(())
}

/// Lowers a product of words plus a word.
fn product(cx: &mut Cx, d: &Decoded) -> Res<()> {
    let (a, b) = (negated(cx, d, "a")?, cx.source(d, "b")?);
    let c = term(cx, d, "c")?;
    let chained = d.operand("x").is_some();
    let carry = carry_in(cx, d, "x");
    let dst = cx.dst(d, "d")?;
    let product = match (a, b) {
        (Src::Imm(0), _) | (_, Src::Imm(0)) => Src::Imm(0),
        (a, Src::Imm(1)) => a,
        (a, b) if !c.negative && carry.is_none() && !chained => {
            cx.int(IntOp::MadLo, U32, dst, &[a, b, c.value]);
            return Ok(());
        }
        (a, b) => cx.value(IntOp::MulLo, U32, &[a, b]),
    };
    let terms = [Term { value: product, negative: false }, c];
    plain_total(cx, dst, &terms, carry.into_iter().collect(), chained)
}

/// Returns the signed or unsigned product of two words.
fn product_of_words(cx: &mut Cx, d: &Decoded) -> Res<RegId> {
    let (a, b) = (negated(cx, d, "a")?, cx.source(d, "b")?);
    let dst = cx.wide();
    cx.int(IntOp::MulWide, word(d), dst, &[a, b]);
    Ok(dst)
}

/// Lowers a product of words plus a pair of registers.
fn wide_product(cx: &mut Cx, d: &Decoded) -> Res<()> {
    let Some(c) = d.operand("c") else { return refuse("IMAD.WIDE without an addend", "") };
    let (pair, minus) = (cx.pair(c)?, c.neg);
    let carry = carry_in(cx, d, "x");
    let out = cx.pred_dst(d, "p");
    if pair != Src::Imm(0) && !minus && carry.is_none() && out.is_none() {
        let (a, b, dst) = (negated(cx, d, "a")?, cx.source(d, "b")?, cx.wide());
        cx.int(IntOp::MadWide, word(d), dst, &[a, b, pair]);
        cx.unpack(d, "d", dst);
        return Ok(());
    }
    let mut sum = product_of_words(cx, d)?;
    if let Some(carry) = carry {
        let (widened, next) = (conversion::widened(cx, carry, U32), cx.wide());
        if out.is_some() {
            return refuse("IMAD.WIDE.X with a carry out", "");
        }
        cx.int(IntOp::Add, U64, next, &[Src::Reg(sum), widened]);
        sum = next;
    }
    let sum = plus_pair(cx, sum, (pair, minus), out);
    cx.unpack(d, "d", sum);
    Ok(())
}

/// Returns a sum plus or minus a pair of registers, with a carry out.
fn plus_pair(cx: &mut Cx, sum: RegId, (pair, minus): (Src, bool), out: Option<RegId>) -> RegId {
    if pair == Src::Imm(0) && out.is_none() {
        return sum;
    }
    let dst = cx.wide();
    let op = if minus { IntOp::Sub } else { IntOp::Add };
    let src = [Src::Reg(sum), pair, Src::Imm(0), Src::Imm(0)];
    let carry = Carry { read: None, write: out };
    cx.push(Sem::Int { op, ty: U64, dst, src, carry, saturate: false });
    dst
}

/// Lowers the upper word of a product of words plus a pair of registers. The carry out is that of
/// the whole sum.
fn upper_product(cx: &mut Cx, d: &Decoded) -> Res<()> {
    let product = product_of_words(cx, d)?;
    let Some(c) = d.operand("c") else { return refuse("IMAD.HI without an addend", "") };
    let (pair, minus) = (cx.pair(c)?, c.neg);
    let out = cx.pred_dst(d, "p");
    let sum = plus_pair(cx, product, (pair, minus), out);
    let dst = cx.dst(d, "d")?;
    cx.high(dst, sum);
    Ok(())
}

/// Lowers the sum of b and the upper word of c:a after a shift. Without c, the word is extended by
/// its sign.
fn upper_scaled(cx: &mut Cx, d: &Decoded) -> Res<()> {
    if d.operand("a").is_some_and(|a| a.inv || a.neg && d.operand("c").is_some()) {
        return refuse(format!("{} of a negated pair", d.op.name), "");
    }
    let a = negated(cx, d, "a")?;
    let shift = cx.source(d, "shift")?;
    let whole = match d.operand("c") {
        None => conversion::widened(cx, a, S32),
        Some(c) => {
            let c = cx.raw(c)?;
            let dst = cx.wide();
            cx.push(Sem::Pack { dst, parts: vec![a, c], bits: 32 });
            Src::Reg(dst)
        }
    };
    let shifted = cx.wide();
    cx.int(IntOp::Shl, U64, shifted, &[whole, shift]);
    let high = cx.narrow();
    cx.high(high, shifted);
    let b = term(cx, d, "b")?;
    total(cx, d, vec![Term { value: Src::Reg(high), negative: false }, b])
}

/// Lowers the smaller or larger of two pairs of registers.
fn smaller_pair(cx: &mut Cx, d: &Decoded) -> Res<()> {
    let (Some(a), Some(b)) = (d.operand("a"), d.operand("b")) else {
        return refuse(format!("{} without sources", d.op.name), "");
    };
    if ["p", "q"].iter().any(|name| cx.pred_dst(d, name).is_some()) {
        return refuse(format!("{} with predicate results", d.op.name), "");
    }
    let (a, b) = (cx.pair(a)?, cx.pair(b)?);
    let PredSrc::Const(least) = cx.pred_src(d, "x") else {
        return refuse(format!("{} by a predicate", d.op.name), "");
    };
    let ty = IntTy { bits: 64, signed: d.modifier("ty") == ".S64" };
    let dst = cx.wide();
    cx.int(if least { IntOp::Min } else { IntOp::Max }, ty, dst, &[a, b]);
    cx.unpack(d, "d", dst);
    Ok(())
}
