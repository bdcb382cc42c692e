//! Moves, selections, logic on predicates, special registers.

use super::{Cx, Decoded, PT, Res, Role, U32, Value, refuse};
use crate::program::Guard;
use crate::program::sem::{IntOp, Operand as Src, PredOp, PredSrc, Sem, Special};
use crate::sass::special::special_name;

pub(super) fn lower(cx: &mut Cx, d: &Decoded) -> Res<Role> {
    match d.op.sem.as_str() {
        "mov" => {
            // some bytes only, says the mask
            if d.operand("mask").is_some_and(|operand| !operand.hidden) {
                return refuse("MOV of some bytes", "");
            }
            let (src, dst) = (cx.source(d, "b")?, cx.dst(d, "d")?);
            cx.push(Sem::Mov { dst, src });
        }
        "sel" => {
            let (a, b, p) = (cx.source(d, "a")?, cx.source(d, "b")?, cx.pred_src(d, "p"));
            let dst = cx.dst(d, "d")?;
            cx.push(Sem::Select { dst, a, b, p });
        }
        "psetp" => {
            let (first, opposite) = predicates(cx, d)?;
            let (p, q) = (cx.pred_dst(d, "p"), cx.pred_dst(d, "q"));
            // what is read may be what is written
            if let Some(p) = p {
                cx.set_pred(p, first);
            }
            if let Some(q) = q {
                cx.set_pred(q, opposite);
            }
        }
        "pset" => {
            let (p, _) = predicates(cx, d)?;
            let dst = cx.dst(d, "d")?;
            let yes = if d.has("bf") { 0x3f80_0000 } else { 0xffff_ffff };
            cx.push(Sem::Select { dst, a: Src::Imm(yes), b: Src::Imm(0), p });
            if d.operand("d").is_some_and(|operand| operand.cc) {
                cx.note_zero(dst, false);
            }
        }
        "p2r" => to_register(cx, d)?,
        "r2p" => from_register(cx, d)?,
        _ => {
            let Some(Value::Special(number)) = d.operand("s").map(|operand| operand.value) else {
                return refuse("S2R without a special register", "");
            };
            let dst = cx.dst(d, "d")?;
            let src = special(number)?;
            cx.push(Sem::Mov { dst, src });
        }
    }
    Ok(Role::PLAIN)
}

fn special(number: u8) -> Res<Src> {
    Ok(Src::Special(match number {
        0x00 => Special::LaneId,
        0x21..=0x23 => Special::Tid(number - 0x21),
        0x25..=0x27 => Special::Ctaid(number - 0x25),
        0x32 => Special::TotalSharedBytes,
        0x38 => Special::LaneMaskEq,
        0x39 => Special::LaneMaskLt,
        0x3a => Special::LaneMaskLe,
        0x3b => Special::LaneMaskGt,
        0x3c => Special::LaneMaskGe,
        0x50 => Special::Clock,
        // there is no time in a functional run, and no run is so long
        0x51 => return Ok(Src::Imm(0)),
        other => {
            let name = special_name(other);
            return refuse(
                format!("{name} is not supported"),
                "what depends on the SM or on time has no value in a functional run",
            );
        }
    }))
}

/// `(a op b) bop c` and `(!a op b) bop c`.
fn predicates(cx: &mut Cx, d: &Decoded) -> Res<(PredSrc, PredSrc)> {
    let logic = |name: &str| match name {
        ".OR" => PredOp::Or,
        ".XOR" => PredOp::Xor,
        _ => PredOp::And,
    };
    let (a, b, c) = (cx.pred_src(d, "a"), cx.pred_src(d, "b"), cx.pred_src(d, "c"));
    let not = match a {
        PredSrc::Reg(guard) => PredSrc::Reg(Guard { negate: !guard.negate, ..guard }),
        PredSrc::Const(value) => PredSrc::Const(!value),
    };
    let mut both = [a, not];
    for a in &mut both {
        let (first, second) = (cx.pred(), cx.pred());
        let held = |reg| PredSrc::Reg(Guard { reg, negate: false });
        cx.push(Sem::PredLogic { op: logic(d.modifier("op")), dst: first, a: *a, b });
        cx.push(Sem::PredLogic { op: logic(d.modifier("bop")), dst: second, a: held(first), b: c });
        *a = held(second);
    }
    Ok((both[0], both[1]))
}

/// The predicates that a mask names, and whether the whole register takes part.
fn masked(d: &Decoded) -> Res<u8> {
    let of_predicates = matches!(
        d.operand("what").map(|operand| (operand.value, operand.part)),
        Some((Value::Choice("PR", _), ""))
    );
    match d.operand("b").map(|operand| operand.value) {
        Some(Value::Number(mask @ 0..=0x7f)) if of_predicates => Ok(mask as u8),
        _ => refuse(format!("{} of this kind", d.op.name), ""),
    }
}

fn to_register(cx: &mut Cx, d: &Decoded) -> Res<()> {
    let mask = masked(d)?;
    let mut word = cx.source(d, "a")?;
    for number in (0..PT).filter(|number| mask >> number & 1 != 0) {
        let p = PredSrc::Reg(Guard { reg: cx.predicate(number), negate: false });
        let bit = cx.narrow();
        cx.push(Sem::Select { dst: bit, a: Src::Imm(1), b: Src::Imm(0), p });
        word = cx.value(IntOp::Bfi, U32, &[Src::Reg(bit), word, Src::Imm(number.into()), Src::Imm(1)]);
    }
    let dst = cx.dst(d, "d")?;
    cx.push(Sem::Mov { dst, src: word });
    Ok(())
}

fn from_register(cx: &mut Cx, d: &Decoded) -> Res<()> {
    let mask = masked(d)?;
    let word = cx.source(d, "a")?;
    for number in (0..PT).filter(|number| mask >> number & 1 != 0) {
        let bit = cx.value(IntOp::And, U32, &[word, Src::Imm(1 << number)]);
        let p = cx.predicate(number);
        super::compare::into(cx, crate::program::sem::Cmp::Ne, U32, (bit, Src::Imm(0)), p);
    }
    Ok(())
}
