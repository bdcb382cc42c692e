//! Lowers integer sums, products and minima.

use super::registers::held;
use super::{Cx, Decoded, Res, Role, S32, U32, U64, refuse};
use crate::sass::table::meaning::Int as Name;
use warpbound_core::base::RegId;
use warpbound_core::program::sem::{
    Addend, Carry, Cmp, IntOp, IntTy, Operand as Src, PredOp, PredSrc, Sem, Xmad, XmadFlags,
};

/// The modifiers of a sum.
#[derive(Clone, Copy)]
struct Sum {
    /// Whether it adds the carry of the condition code.
    chained: bool,
    /// Whether it sets the condition code.
    sets: bool,
    saturate: bool,
}

impl Sum {
    /// A sum of words without a carry.
    const PLAIN: Self = Self { chained: false, sets: false, saturate: false };

    fn of(d: &Decoded) -> Self {
        Self { chained: d.has("x"), sets: sets(d), saturate: d.has("sat") }
    }
}

/// Returns whether an instruction sets the condition code.
fn sets(d: &Decoded) -> bool {
    d.operand("d").is_some_and(|operand| operand.cc)
}

pub(super) fn lower(cx: &mut Cx, d: &Decoded, name: Name) -> Res<Role> {
    match name {
        Name::Iadd => {
            let (a, b) = (cx.source(d, "a")?, cx.source(d, "b")?);
            let dst = cx.dst(d, "d")?;
            sum(cx, d, dst, (a, b))?;
        }
        Name::Iadd3 => sum_of_three(cx, d)?,
        Name::Iscadd => scaled(cx, d)?,
        Name::Lea if cx.pred_dst(d, "p").is_some() => return refuse("LEA into a predicate", ""),
        Name::Lea => scaled(cx, d)?,
        Name::LeaHi => scaled_upper(cx, d)?,
        Name::Imnmx => minimum(cx, d, sets(d))?,
        Name::Vmnmx if sets(d) => return refuse("VMNMX.CC", ""),
        Name::Vmnmx => video_minimum(cx, d)?,
        Name::Xmad => xmad(cx, d, sets(d))?,
        Name::Imul => product(cx, d)?,
        Name::Dot => dot(cx, d)?,
        Name::AbsDiff => {
            let (a, b, c) = (cx.source(d, "a")?, cx.source(d, "b")?, cx.source(d, "c")?);
            let dst = cx.dst(d, "d")?;
            cx.int(IntOp::Sad, if d.has("u") { U32 } else { S32 }, dst, &[a, b, c]);
        }
        Name::AbsDiff4 => super::vector::difference(cx, d)?,
        Name::Add3
        | Name::Add
        | Name::Add64
        | Name::Mad
        | Name::MadWide
        | Name::MadHi
        | Name::LeaCarry
        | Name::LeaUpper
        | Name::Iabs
        | Name::Minimum64 => return super::carry::lower(cx, d, name),
        Name::AddMinimum | Name::Minimum3 | Name::Vimnmx | Name::AddVector => {
            super::minimum::lower(cx, d, name)?;
        }
    }
    Ok(Role::PLAIN)
}

/// Lowers the sum of two words, one or none of them negated. Two negated sources denote something
/// else, which the assembler calls PO: the sum plus one.
fn sum(cx: &mut Cx, d: &Decoded, dst: RegId, (a, b): (Src, Src)) -> Res<()> {
    let sum = Sum::of(d);
    if d.has("po") {
        return one_more(cx, dst, a, b, sum);
    }
    add(cx, dst, (a, negated(d, "a")), (b, negated(d, "b")), sum)
}

/// Lowers the sum of three words, the first two of which may be shifted by 16 bits.
fn sum_of_three(cx: &mut Cx, d: &Decoded) -> Res<()> {
    let parts = ["a", "b", "c"].map(|name| part_of(cx, d, name));
    let [a, b, c] = parts;
    let (a, b, c) = (a?, b?, c?);
    let sum = Sum::of(d);
    if sum.sets || sum.chained {
        return iadd3_chained(cx, d, [a, b, c], sum);
    }
    let shifted = if d.modifier("shift") == ".RS" {
        upper_half(cx, d, a, b)?
    } else {
        let first = cx.narrow();
        let both = negated(d, "a") && negated(d, "b");
        let a = if both { cx.value(IntOp::Neg, U32, &[a]) } else { a };
        add(cx, first, (a, negated(d, "a") && !both), (b, negated(d, "b")), Sum::PLAIN)?;
        match d.modifier("shift") {
            "" => Src::Reg(first),
            _ => cx.value(IntOp::Shl, U32, &[Src::Reg(first), Src::Imm(16)]),
        }
    };
    let dst = cx.dst(d, "d")?;
    add(cx, dst, (shifted, false), (c, negated(d, "c")), Sum::PLAIN)
}

/// Lowers `(a << shift) + b`.
fn scaled(cx: &mut Cx, d: &Decoded) -> Res<()> {
    let (a, b) = (cx.source(d, "a")?, cx.source(d, "b")?);
    let shift = cx.source(d, "shift")?;
    let scaled = if shift == Src::Imm(0) { a } else { cx.value(IntOp::Shl, U32, &[a, shift]) };
    let dst = cx.dst(d, "d")?;
    sum(cx, d, dst, (scaled, b))
}

/// Lowers the sum of b and the upper half of c:a after a shift.
fn scaled_upper(cx: &mut Cx, d: &Decoded) -> Res<()> {
    if cx.pred_dst(d, "p").is_some() || negated(d, "a") {
        return refuse("LEA.HI into a predicate, or of a negated source", "");
    }
    let (a, b, c, shift) =
        (cx.source(d, "a")?, cx.source(d, "b")?, cx.source(d, "c")?, cx.source(d, "shift")?);
    let high = cx.value(IntOp::FunnelLeft { wrap: false }, U32, &[a, c, shift]);
    let dst = cx.dst(d, "d")?;
    add(cx, dst, (high, false), (b, false), Sum::of(d))
}

/// Lowers the product of two words.
fn product(cx: &mut Cx, d: &Decoded) -> Res<()> {
    if sets(d) {
        return refuse("IMUL.CC", "");
    }
    let (a, b) = (cx.source(d, "a")?, cx.source(d, "b")?);
    let op = if d.has("hi") { IntOp::MulHi } else { IntOp::MulLo };
    let ty = if d.has("ty") { U32 } else { S32 };
    let dst = cx.dst(d, "d")?;
    cx.int(op, ty, dst, &[a, b]);
    Ok(())
}

fn negated(d: &Decoded, name: &str) -> bool {
    d.operand(name).is_some_and(|operand| operand.neg)
}

/// Returns a source, or the selected half of it.
fn part_of(cx: &mut Cx, d: &Decoded, name: &str) -> Res<Src> {
    let source = cx.source(d, name)?;
    Ok(match d.operand(name).map_or("", |operand| operand.part) {
        ".H0" => cx.value(IntOp::And, U32, &[source, Src::Imm(0xffff)]),
        ".H1" => cx.value(IntOp::Shr, U32, &[source, Src::Imm(16)]),
        _ => source,
    })
}

/// Adds `dst = ±a ± b` with carries like those of hardware: a difference is the sum with the
/// inverted source plus one, so its carry means that there was no borrow.
fn add(cx: &mut Cx, dst: RegId, (a, minus_a): (Src, bool), (b, minus_b): (Src, bool), sum: Sum) -> Res<()> {
    let Sum { chained, sets, saturate } = sum;
    if !chained && !sets {
        let ty = if saturate { S32 } else { U32 };
        let (op, src) = match (minus_a, minus_b) {
            (false, false) => (IntOp::Add, [a, b]),
            (false, true) => (IntOp::Sub, [a, b]),
            (true, false) => (IntOp::Sub, [b, a]),
            (true, true) => return refuse("a sum of two negated sources", ""),
        };
        let src = [src[0], src[1], Src::Imm(0), Src::Imm(0)];
        cx.push(Sem::Int { op, ty, dst, src, carry: Carry::default(), saturate });
        return Ok(());
    }
    if saturate || minus_a && minus_b {
        return refuse("a sum with carry that saturates, or of two negated sources", "");
    }
    let invert = |cx: &mut Cx, source: Src, minus: bool| match source {
        _ if !minus => source,
        Src::Imm(value) => Src::Imm(u64::from(!(value as u32))),
        source => cx.value(IntOp::Not, U32, &[source]),
    };
    let (a, b) = (invert(cx, a, minus_a), invert(cx, b, minus_b));
    let read = if chained {
        Some(cx.flags.carry)
    } else if minus_a || minus_b {
        let always = cx.flags.always;
        cx.set_pred(always, PredSrc::Const(true));
        Some(always)
    } else {
        None
    };
    let carry = Carry { read, write: sets.then_some(cx.flags.carry) };
    cx.push(Sem::Int {
        op: IntOp::Add,
        ty: U32,
        dst,
        src: [a, b, Src::Imm(0), Src::Imm(0)],
        carry,
        saturate: false,
    });
    if sets {
        cx.note_zero(dst, chained);
    }
    Ok(())
}

/// Returns the sum of two words, including the carry, without its lower 16 bits.
fn upper_half(cx: &mut Cx, d: &Decoded, a: Src, b: Src) -> Res<Src> {
    if negated(d, "a") || negated(d, "b") {
        return refuse("IADD3.RS of negated sources", "");
    }
    let widened = [a, b].map(|source| super::conversion::widened(cx, source, U32));
    let (sum, shifted) = (cx.wide(), cx.wide());
    cx.int(IntOp::Add, U64, sum, &widened);
    cx.int(IntOp::Shr, U64, shifted, &[Src::Reg(sum), Src::Imm(16)]);
    let low = cx.narrow();
    cx.low(low, shifted);
    Ok(Src::Reg(low))
}

/// Adds `a + b + 1`, which the assembler calls PO.
fn one_more(cx: &mut Cx, dst: RegId, a: Src, b: Src, sum: Sum) -> Res<()> {
    if sum.chained || sum.sets || sum.saturate {
        return refuse("a sum plus one (PO) with carry, or that saturates", "");
    }
    let first = cx.value(IntOp::Add, U32, &[a, b]);
    cx.int(IntOp::Add, U32, dst, &[first, Src::Imm(1)]);
    Ok(())
}

/// Lowers sums of three operands with carry. They are computed in 64 bits because the carry out can
/// be two.
fn iadd3_chained(cx: &mut Cx, d: &Decoded, sources: [Src; 3], sum: Sum) -> Res<()> {
    if ["a", "b", "c"].iter().any(|name| negated(d, name)) || d.has("shift") {
        return refuse("IADD3 with carry of negated or shifted sources", "");
    }
    // The carry into the next sum is a single bit. A carry of two would be lost, as on hardware;
    // compilers ensure that it is at most one.
    let [a, b, c] = sources;
    let first = cx.narrow();
    let one = cx.pred();
    let (carry, always) = (cx.flags.carry, Some(one));
    let read = sum.chained.then_some(carry);
    let src = |a, b| [a, b, Src::Imm(0), Src::Imm(0)];
    cx.push(Sem::Int {
        op: IntOp::Add,
        ty: U32,
        dst: first,
        src: src(a, b),
        carry: Carry { read, write: always },
        saturate: false,
    });
    let dst = cx.dst(d, "d")?;
    let second = cx.pred();
    cx.push(Sem::Int {
        op: IntOp::Add,
        ty: U32,
        dst,
        src: src(Src::Reg(first), c),
        carry: Carry { read: None, write: Some(second) },
        saturate: false,
    });
    if sum.sets {
        cx.push(Sem::PredLogic { op: PredOp::Or, dst: carry, a: held(one), b: held(second) });
        cx.note_zero(dst, sum.chained);
    }
    Ok(())
}

/// Lowers a minimum or maximum: the smaller source if the predicate holds, else the larger one. For
/// 64-bit integers this takes two instructions, one for the upper words and one for the lower
/// words.
fn minimum(cx: &mut Cx, d: &Decoded, sets: bool) -> Res<()> {
    // the step for the upper words records in the condition code which source it selected, for the
    // step for the lower words
    if sets != (d.modifier("ext") == ".XHI") {
        let cc = if sets { ".CC" } else { "" };
        return refuse(format!("IMNMX{}{cc}", d.modifier("ext")), "");
    }
    let (a, b) = (cx.source(d, "a")?, cx.source(d, "b")?);
    let ty = if d.has("u") { U32 } else { S32 };
    let smaller = cx.pred_src(d, "p");
    let dst = cx.dst(d, "d")?;
    let PredSrc::Const(least) = smaller else {
        if d.has("ext") {
            return refuse("IMNMX of double words by a predicate", "");
        }
        let (low, high) = (cx.value(IntOp::Min, ty, &[a, b]), cx.value(IntOp::Max, ty, &[a, b]));
        cx.push(Sem::Select { dst, a: low, b: high, p: smaller });
        return Ok(());
    };
    let op = if least { IntOp::Min } else { IntOp::Max };
    let (zero, first) = (cx.flags.zero, cx.flags.first);
    match d.modifier("ext") {
        "" => cx.int(op, ty, dst, &[a, b]),
        // the upper words decide unless they are equal
        ".XHI" => {
            super::compare::into(cx, Cmp::Eq, ty, (a, b), zero);
            let relation = if least { Cmp::Lt } else { Cmp::Gt };
            super::compare::into(cx, relation, ty, (a, b), first);
            cx.int(op, ty, dst, &[a, b]);
        }
        ".XLO" => {
            let equal = cx.value(op, U32, &[a, b]);
            let other = cx.narrow();
            cx.push(Sem::Select { dst: other, a, b, p: held(first) });
            cx.push(Sem::Select { dst, a: equal, b: Src::Reg(other), p: held(zero) });
        }
        other => return refuse(format!("IMNMX{other}"), ""),
    }
    Ok(())
}

fn video_minimum(cx: &mut Cx, d: &Decoded) -> Res<()> {
    let (a, b, c) = (cx.source(d, "a")?, cx.source(d, "b")?, cx.source(d, "c")?);
    let ty = match d.modifier("ty") {
        "" => S32,
        ".U32.U32" => U32,
        mixed => return refuse(format!("VMNMX{mixed}"), ""),
    };
    let op = if d.has("op") { IntOp::Max } else { IntOp::Min };
    let dst = cx.dst(d, "d")?;
    let second = match d.modifier("acc") {
        "" => None,
        ".MIN" => Some(IntOp::Min),
        ".MAX" => Some(IntOp::Max),
        _ => Some(IntOp::Add),
    };
    match second {
        None => cx.int(op, ty, dst, &[a, b]),
        Some(second) => {
            let first = cx.value(op, ty, &[a, b]);
            cx.int(second, ty, dst, &[first, c]);
        }
    }
    Ok(())
}

/// Lowers a dot product of bytes, or of halves and bytes, plus a word.
fn dot(cx: &mut Cx, d: &Decoded) -> Res<()> {
    let (a, b) = (cx.source(d, "a")?, cx.source(d, "b")?);
    let mut c = cx.source(d, "c")?;
    if negated(d, "c") {
        c = cx.value(IntOp::Neg, U32, &[c]);
    }
    let signed = |name: &str| d.modifier(name).starts_with(".S");
    let (a_signed, b_signed) = (signed("aty"), signed("bty"));
    let op = if d.op.name == "IDP.2A" {
        IntOp::Dp2a { a_signed, b_signed, high: d.modifier("half") == ".HI" }
    } else {
        IntOp::Dp4a { a_signed, b_signed }
    };
    let dst = cx.dst(d, "d")?;
    cx.int(op, IntTy { bits: 32, signed: a_signed || b_signed }, dst, &[a, b, c]);
    Ok(())
}

fn xmad(cx: &mut Cx, d: &Decoded, sets: bool) -> Res<()> {
    let (a, b, c) = (cx.source(d, "a")?, cx.source(d, "b")?, cx.source(d, "c")?);
    let upper = |name: &str| d.operand(name).is_some_and(|operand| operand.half);
    let types = d.modifier("words");
    let mut flags = XmadFlags::empty();
    flags.set(XmadFlags::UPPER_A, upper("a"));
    flags.set(XmadFlags::UPPER_B, upper("b"));
    flags.set(XmadFlags::SIGNED_A, types.starts_with(".S16"));
    flags.set(XmadFlags::SIGNED_B, types.ends_with(".S16"));
    flags.set(XmadFlags::SHIFT, d.has("psl"));
    flags.set(XmadFlags::MERGE, d.has("mrg"));
    let addend = match d.modifier("mode") {
        "" => Addend::Whole,
        ".CLO" => Addend::Lower,
        ".CHI" => Addend::Upper,
        ".CSFU" => Addend::Corrected,
        _ => Addend::WithB,
    };
    if sets || d.has("x") {
        return refuse("XMAD with carry", "");
    }
    let op = Xmad { flags, addend };
    let dst = cx.dst(d, "d")?;
    cx.int(IntOp::Xmad(op), U32, dst, &[a, b, c]);
    Ok(())
}
