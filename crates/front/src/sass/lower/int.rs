//! Lowers integer sums, products, shifts and bit operations.

use super::{Cx, Decoded, Operand, Res, Role, S32, U32, U64, Value, refuse};
use warpbound_core::base::RegId;
use warpbound_core::program::sem::{
    Addend, Carry, IntOp, IntTy, Operand as Src, PredSrc, PrmtMode, Sem, ValueTy, Xmad, XmadFlags,
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

pub(super) fn lower(cx: &mut Cx, d: &Decoded) -> Res<Role> {
    let sets = d.operand("d").is_some_and(|operand| operand.cc);
    let sum = Sum { chained: d.has("x"), sets, saturate: d.has("sat") };
    // two negated sources denote something else: the sum plus one
    let more = d.has("po");
    match d.op.sem.as_str() {
        "iadd" => {
            let (a, b) = (cx.source(d, "a")?, cx.source(d, "b")?);
            let dst = cx.dst(d, "d")?;
            if more {
                one_more(cx, dst, a, b, sum)?;
            } else {
                add(cx, dst, (a, negated(d, "a")), (b, negated(d, "b")), sum)?;
            }
        }
        "iadd3" => {
            let parts = ["a", "b", "c"].map(|name| part_of(cx, d, name));
            let [a, b, c] = parts;
            let (a, b, c) = (a?, b?, c?);
            let plain = Sum { chained: false, sets: false, saturate: false };
            if sum.sets || sum.chained {
                return iadd3_chained(cx, d, [a, b, c], sum);
            }
            let shifted = if d.modifier("shift") == ".RS" {
                upper_half(cx, d, a, b)?
            } else {
                let first = cx.narrow();
                let both = negated(d, "a") && negated(d, "b");
                let a = if both { cx.value(IntOp::Neg, U32, &[a]) } else { a };
                add(cx, first, (a, negated(d, "a") && !both), (b, negated(d, "b")), plain)?;
                match d.modifier("shift") {
                    "" => Src::Reg(first),
                    _ => cx.value(IntOp::Shl, U32, &[Src::Reg(first), Src::Imm(16)]),
                }
            };
            let dst = cx.dst(d, "d")?;
            add(cx, dst, (shifted, false), (c, negated(d, "c")), plain)?;
        }
        "iscadd" | "lea" => {
            if d.op.sem == "lea" && cx.pred_dst(d, "p").is_some() {
                return refuse("LEA into a predicate", "");
            }
            let (a, b) = (cx.source(d, "a")?, cx.source(d, "b")?);
            let shift = cx.source(d, "shift")?;
            let scaled = if shift == Src::Imm(0) { a } else { cx.value(IntOp::Shl, U32, &[a, shift]) };
            let dst = cx.dst(d, "d")?;
            if more {
                one_more(cx, dst, scaled, b, sum)?;
            } else {
                add(cx, dst, (scaled, negated(d, "a")), (b, negated(d, "b")), sum)?;
            }
        }
        "lea_hi" => {
            if cx.pred_dst(d, "p").is_some() || negated(d, "a") {
                return refuse("LEA.HI into a predicate, or of a negated source", "");
            }
            // the upper half of c:a shifted, plus b
            let (a, b, c, shift) =
                (cx.source(d, "a")?, cx.source(d, "b")?, cx.source(d, "c")?, cx.source(d, "shift")?);
            let high = cx.value(IntOp::FunnelLeft { wrap: false }, U32, &[a, c, shift]);
            let dst = cx.dst(d, "d")?;
            add(cx, dst, (high, false), (b, false), sum)?;
        }
        "imnmx" => minimum(cx, d, sets)?,
        "vmnmx" if sets => return refuse("VMNMX.CC", ""),
        "vmnmx" => video_minimum(cx, d)?,
        "xmad" => xmad(cx, d, sets)?,
        _ => {
            // the product of two words
            if sets {
                return refuse("IMUL.CC", "");
            }
            let (a, b) = (cx.source(d, "a")?, cx.source(d, "b")?);
            let op = if d.has("hi") { IntOp::MulHi } else { IntOp::MulLo };
            let ty = if d.has("ty") { U32 } else { S32 };
            let dst = cx.dst(d, "d")?;
            cx.int(op, ty, dst, &[a, b]);
        }
    }
    Ok(Role::PLAIN)
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
    let widened = [a, b].map(|source| {
        let dst = cx.wide();
        cx.push(super::convert::plain(dst, source, ValueTy::Int(U32), ValueTy::Int(U64)));
        Src::Reg(dst)
    });
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
        return refuse("a sum and one more with carry, or that saturates", "");
    }
    let first = cx.value(IntOp::Add, U32, &[a, b]);
    cx.int(IntOp::Add, U32, dst, &[first, Src::Imm(1)]);
    Ok(())
}

/// Lowers sums of three operands with carry. They are computed in 64 bits because the carry out can
/// be two.
fn iadd3_chained(cx: &mut Cx, d: &Decoded, sources: [Src; 3], sum: Sum) -> Res<Role> {
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
        let held = |reg| PredSrc::Reg(warpbound_core::program::Guard { reg, negate: false });
        cx.push(Sem::PredLogic {
            op: warpbound_core::program::sem::PredOp::Or,
            dst: carry,
            a: held(one),
            b: held(second),
        });
        cx.note_zero(dst, sum.chained);
    }
    Ok(Role::PLAIN)
}

/// Lowers the selection of the smaller source if the predicate holds, else the larger one, for
/// words, and for 64-bit integers in two steps.
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
            super::compare::into(cx, warpbound_core::program::sem::Cmp::Eq, ty, (a, b), zero);
            let relation = if least {
                warpbound_core::program::sem::Cmp::Lt
            } else {
                warpbound_core::program::sem::Cmp::Gt
            };
            super::compare::into(cx, relation, ty, (a, b), first);
            cx.int(op, ty, dst, &[a, b]);
        }
        ".XLO" => {
            let equal = cx.value(op, U32, &[a, b]);
            let held = |reg| PredSrc::Reg(warpbound_core::program::Guard { reg, negate: false });
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

/// Lowers shifts, logic and bit fields.
pub(super) fn bits(cx: &mut Cx, d: &Decoded) -> Res<Role> {
    let sets = d.operand("d").is_some_and(|operand| operand.cc);
    let chained = d.has("x");
    if chained || sets && !matches!(d.op.sem.as_str(), "lop" | "lop3") {
        return refuse(format!("{} with the condition code", d.op.name), "");
    }
    let dst = cx.dst(d, "d")?;
    let unsigned = d.has("u");
    let ty = if unsigned { U32 } else { S32 };
    match d.op.sem.as_str() {
        "shl" | "shr" => {
            let (a, mut b) = (cx.source(d, "a")?, cx.source(d, "b")?);
            if d.has("w") {
                b = wrapped(cx, b);
            }
            let a = if d.has("brev") { cx.value(IntOp::Brev, U32, &[a]) } else { a };
            let op = if d.op.sem == "shl" { IntOp::Shl } else { IntOp::Shr };
            cx.int(op, if d.op.sem == "shl" { U32 } else { ty }, dst, &[a, b]);
        }
        "shf_left" | "shf_right" => funnel(cx, d, dst)?,
        "lop" => {
            let (a, b) = (inverted(cx, d, "a")?, inverted(cx, d, "b")?);
            match d.modifier("op") {
                ".AND" => cx.int(IntOp::And, U32, dst, &[a, b]),
                ".OR" => cx.int(IntOp::Or, U32, dst, &[a, b]),
                ".XOR" => cx.int(IntOp::Xor, U32, dst, &[a, b]),
                _ => cx.push(Sem::Mov { dst, src: b }),
            }
            tested(cx, d, dst)?;
        }
        "lop3" => {
            let (a, b, c) = (cx.source(d, "a")?, cx.source(d, "b")?, cx.source(d, "c")?);
            let Some(Value::Small(table)) = d.operand("lut").map(|operand| operand.value) else {
                return refuse("LOP3 without a table", "");
            };
            cx.int(IntOp::Lop3(table as u8), U32, dst, &[a, b, c]);
            tested(cx, d, dst)?;
        }
        "bfe" => {
            let (a, b) = (cx.source(d, "a")?, cx.source(d, "b")?);
            let a = if d.has("brev") { cx.value(IntOp::Brev, U32, &[a]) } else { a };
            let (position, length) = field(cx, b);
            cx.int(IntOp::Bfe, ty, dst, &[a, position, length]);
        }
        "bfi" => {
            let (a, b, c) = (cx.source(d, "a")?, cx.source(d, "b")?, cx.source(d, "c")?);
            let (position, length) = field(cx, b);
            cx.int(IntOp::Bfi, U32, dst, &[a, c, position, length]);
        }
        "popc" => {
            let b = inverted(cx, d, "b")?;
            cx.int(IntOp::Popc, U32, dst, &[b]);
        }
        "flo" => {
            let b = inverted(cx, d, "b")?;
            cx.int(IntOp::Bfind { shift_amount: d.has("sh") }, ty, dst, &[b]);
        }
        _ => {
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
        }
    }
    if sets {
        cx.note_zero(dst, false);
    }
    Ok(Role::PLAIN)
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
        ".Z" => warpbound_core::program::sem::Cmp::Eq,
        ".NZ" => warpbound_core::program::sem::Cmp::Ne,
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

/// Lowers shifts of c:a whose result is the upper or the lower half.
fn funnel(cx: &mut Cx, d: &Decoded, dst: RegId) -> Res<()> {
    let (a, b, c) = (cx.source(d, "a")?, cx.source(d, "b")?, cx.source(d, "c")?);
    let left = d.op.sem == "shf_left";
    let wrap = d.has("w");
    match (d.modifier("part"), d.modifier("ty")) {
        ("", "") => {
            let op = if left { IntOp::FunnelLeft { wrap } } else { IntOp::FunnelRight { wrap } };
            cx.int(op, U32, dst, &[a, c, b]);
        }
        ("", ty) => {
            // for a 64-bit integer, shifted by up to 63 bits: the half in the direction of the
            // shift
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
