//! Lowers moves, selections, logic on predicates, and special registers.

use super::conversion::byte_of;
use super::registers::held;
use super::{Cx, Decoded, RegId, Res, Role, S32, U32, Value, refuse};
use crate::sass::table::meaning::Moves as Name;
use warpbound_core::program::Guard;
use warpbound_core::program::layout::SHARED_UPPER;
use warpbound_core::program::sem::{
    Cmp, IntOp, Operand as Src, PredOp, PredSrc, Sem, Shuffle, ShuffleMode, Special, VoteMode,
};

pub(super) fn lower(cx: &mut Cx, d: &Decoded, name: Name) -> Res<Role> {
    match name {
        Name::Mov => {
            // the mask selects only some bytes
            if d.operand("mask").is_some_and(|operand| !operand.hidden) {
                return refuse("MOV of some bytes", "");
            }
            let (src, dst) = (cx.source(d, "b")?, cx.dst(d, "d")?);
            cx.push(Sem::Mov { dst, src });
        }
        Name::ToUniform => to_uniform(cx, d)?,
        Name::Sel => {
            let (a, b, p) = (cx.source(d, "a")?, cx.source(d, "b")?, cx.pred_src(d, "p"));
            let dst = cx.dst(d, "d")?;
            cx.push(Sem::Select { dst, a, b, p });
        }
        Name::Psetp => {
            let (first, opposite) = predicates(cx, d)?;
            let (p, q) = (cx.pred_dst(d, "p"), cx.pred_dst(d, "q"));
            // the destinations may be sources
            if let Some(p) = p {
                cx.set_pred(p, first);
            }
            if let Some(q) = q {
                cx.set_pred(q, opposite);
            }
        }
        Name::Pset => {
            let (p, _) = predicates(cx, d)?;
            let dst = cx.dst(d, "d")?;
            let yes = if d.has("bf") { 0x3f80_0000 } else { 0xffff_ffff };
            cx.push(Sem::Select { dst, a: Src::Imm(yes), b: Src::Imm(0), p });
            if d.operand("d").is_some_and(|operand| operand.cc) {
                cx.note_zero(dst, false);
            }
        }
        Name::P2r => to_register(cx, d)?,
        Name::R2p => from_register(cx, d)?,
        Name::S2r => {
            let Some(Value::Choice(name, _)) = d.operand("s").map(|operand| operand.value) else {
                return refuse("S2R without a special register", "");
            };
            let dst = cx.dst(d, "d")?;
            let src = special(name)?;
            cx.push(Sem::Mov { dst, src });
        }
        Name::MovWords => words(cx, d)?,
        Name::Sel64 => {
            let (Some(a), Some(b)) = (d.operand("a"), d.operand("b")) else {
                return refuse(format!("{} without sources", d.op.name), "");
            };
            let (a, b, p) = (cx.pair(a)?, cx.pair(b)?, cx.pred_src(d, "p"));
            let dst = cx.wide();
            cx.push(Sem::Select { dst, a, b, p });
            cx.unpack(d, "d", dst);
        }
        Name::Fsel => {
            if d.has("ftz") {
                return refuse("FSEL.FTZ", "");
            }
            let (a, b) = (super::float::source(cx, d, "a")?, super::float::source(cx, d, "b")?);
            let (p, dst) = (cx.pred_src(d, "p"), cx.dst(d, "d")?);
            cx.push(Sem::Select { dst, a, b, p });
        }
        Name::Plop3 => {
            let src = ["a", "b", "c"].map(|name| {
                let p = cx.pred_src(d, name);
                cx.word_of(p)
            });
            table(cx, d, src)?;
        }
        Name::SignLogic => {
            let mut src = [Src::Imm(0); 3];
            for (word, name) in src.iter_mut().zip(["a", "b", "c"]) {
                let whole = cx.source(d, name)?;
                *word = cx.value(IntOp::Shr, U32, &[whole, Src::Imm(31)]);
            }
            table(cx, d, src)?;
        }
        Name::Cs2r => {
            let Some(Value::Choice(name, _)) = d.operand("s").map(|operand| operand.value) else {
                return refuse("CS2R without a special register", "");
            };
            let parts = match name {
                "SRZ" => [Src::Imm(0); 2],
                "SR_CLOCKLO" => [special(name)?, special("SR_CLOCKHI")?],
                other => return refuse(format!("a pair of {other} is not supported"), ""),
            };
            let Some(value) = d.operand("d").map(|operand| operand.value) else { return Ok(Role::PLAIN) };
            for (step, src) in (0..).zip(parts) {
                if let Some(dst) = cx.register_of(value, step) {
                    cx.push(Sem::Mov { dst, src });
                }
            }
        }
    }
    Ok(Role::PLAIN)
}

/// Lowers a move to a register of the warp: all active lanes get the value of the first lane in which
/// the guard holds. The predicate tells which of the lanes with the guard have another value; with
/// `.OR`, it also keeps holding where it held. Without a predicate, the compiler knows that the values
/// of these lanes are equal.
fn to_uniform(cx: &mut Cx, d: &Decoded) -> Res<()> {
    let (own, dst, p) = (cx.source(d, "b")?, cx.dst(d, "d")?, cx.pred_dst(d, "p"));
    if let (None, None) = (p, d.guard) {
        cx.push(Sem::Mov { dst, src: own });
        return Ok(());
    }
    let enabled = cx.guarded(d, PredSrc::Const(true));
    let lanes = cx.narrow();
    let of = PredSrc::Reg(Guard { reg: enabled, negate: false });
    cx.push(Sem::Vote { mode: VoteMode::Ballot, dst: lanes, p: of, members: None });
    let value = of_first(cx, own, Src::Reg(lanes));
    if let Some(p) = p {
        let other = cx.pred();
        super::compare::into(cx, Cmp::Ne, U32, (own, Src::Reg(value)), other);
        let a = if d.op.name.ends_with(".OR") { held(p) } else { PredSrc::Const(false) };
        cx.push_if(enabled, false, Sem::PredLogic { op: PredOp::Or, dst: p, a, b: held(other) });
    }
    let any = cx.pred();
    super::compare::into(cx, Cmp::Ne, U32, (Src::Reg(lanes), Src::Imm(0)), any);
    cx.push_if(any, false, Sem::Mov { dst, src: Src::Reg(value) });
    Ok(())
}

/// Returns a register with the value of a source in the first lane of a mask.
fn of_first(cx: &mut Cx, own: Src, lanes: Src) -> RegId {
    let before = cx.value(IntOp::Sub, U32, &[lanes, Src::Imm(1)]);
    let before = cx.value(IntOp::Lop3(0x0c), U32, &[lanes, before, Src::Imm(0)]);
    let first = cx.value(IntOp::Popc, U32, &[before]);
    let value = cx.narrow();
    cx.push(Sem::Shuffle(Box::new(Shuffle {
        mode: ShuffleMode::Idx,
        dst: value,
        pred: None,
        a: own,
        b: first,
        c: Src::Imm(0x1f),
        members: None,
    })));
    value
}

/// Lowers a move of one, two or four words.
fn words(cx: &mut Cx, d: &Decoded) -> Res<()> {
    let (Some(from), Some(to)) = (d.operand("b"), d.operand("d")) else {
        return refuse(format!("{} without operands", d.op.name), "");
    };
    let wide = d.op.suffix().any(|part| part == Ok(".64"));
    let count = match d.modifier("bits") {
        "" if wide => 2,
        "" => 1,
        ".64" => 2,
        ".128" => 4,
        ".U8" | ".S8" | ".U16" | ".S16" => return part(cx, d, from.value),
        other => return refuse(format!("{}{other}", d.op.name), ""),
    };
    let mut moves = Vec::new();
    for step in 0..count {
        let src = match from.value {
            Value::Constant { bank, offset } => cx.constant(bank, offset + 4 * i64::from(step))?,
            Value::UniformConstant { bank, register: super::Register::Fixed, offset } => {
                cx.constant(bank, offset + 4 * i64::from(step))?
            }
            Value::Small(number) => Src::Imm(u64::from((number >> (32 * step)) as u32)),
            Value::Number(number) => Src::Imm(u64::from((number as u64 >> (32 * step)) as u32)),
            Value::Double(bits) => Src::Imm(u64::from((bits >> (32 * step)) as u32)),
            value if super::registers::is_zero(Some(value)) => Src::Imm(0),
            value => match cx.register_of(value, step) {
                Some(reg) => Src::Reg(reg),
                None => return refuse(format!("{} of this operand", d.op.name), ""),
            },
        };
        if let Some(dst) = cx.register_of(to.value, step) {
            moves.push((dst, src));
        }
    }
    let overwrites = |at: usize, dst: RegId| moves[at + 1..].iter().any(|&(_, src)| src == Src::Reg(dst));
    if moves.iter().enumerate().any(|(at, &(dst, _))| overwrites(at, dst)) {
        cx.push(Sem::Moves(moves));
    } else {
        moves.into_iter().for_each(|(dst, src)| cx.push(Sem::Mov { dst, src }));
    }
    Ok(())
}

/// Lowers a move of one or two bytes of a constant, extended to a word.
fn part(cx: &mut Cx, d: &Decoded, from: Value) -> Res<()> {
    let (bank, offset) = match from {
        Value::Constant { bank, offset }
        | Value::UniformConstant { bank, register: super::Register::Fixed, offset } => (bank, offset),
        _ => return refuse(format!("{}{} of this operand", d.op.name, d.modifier("bits")), ""),
    };
    let (bits, ty) = match d.modifier("bits") {
        ".U8" => (8, U32),
        ".S8" => (8, S32),
        ".U16" => (16, U32),
        _ => (16, S32),
    };
    let within = offset.rem_euclid(4) * 8;
    if within % bits != 0 {
        return refuse(format!("{}{} at {offset:#x}", d.op.name, d.modifier("bits")), "");
    }
    let word = cx.constant(bank, offset - within / 8)?;
    let dst = cx.dst(d, "d")?;
    cx.int(IntOp::Bfe, ty, dst, &[word, Src::Imm(within as u64), Src::Imm(bits as u64)]);
    Ok(())
}

/// Lowers two functions of three bits, each given by a table.
fn table(cx: &mut Cx, d: &Decoded, src: [Src; 3]) -> Res<()> {
    for (out, name) in [("p", "lut"), ("q", "lut2")] {
        let Some(Value::Small(lut)) = d.operand(name).map(|operand| operand.value) else {
            return refuse(format!("{} without a table", d.op.name), "");
        };
        if let Some(out) = cx.pred_dst(d, out) {
            // only the lowest bit of the words counts
            let found = cx.value(IntOp::Lop3(lut as u8), U32, &src);
            let bit = cx.value(IntOp::And, U32, &[found, Src::Imm(1)]);
            super::compare::into(cx, warpbound_core::program::sem::Cmp::Ne, U32, (bit, Src::Imm(0)), out);
        }
    }
    Ok(())
}

fn special(name: &str) -> Res<Src> {
    if matches!(name, "SRZ" | "SR_SWINLO") {
        // the window of shared memory begins where the lower half of an address is zero
        return Ok(Src::Imm(0));
    }
    if name == "SR_SWINHI" {
        return Ok(Src::Imm(SHARED_UPPER));
    }
    Ok(Src::Special(match name {
        "SR_LANEID" => Special::LaneId,
        "SR_CgaCtaId" => Special::ClusterRank,
        "SR_TID.X" => Special::Tid(0),
        "SR_TID.Y" => Special::Tid(1),
        "SR_TID.Z" => Special::Tid(2),
        "SR_CTAID.X" => Special::Ctaid(0),
        "SR_CTAID.Y" => Special::Ctaid(1),
        "SR_CTAID.Z" => Special::Ctaid(2),
        "SR_EQMASK" => Special::LaneMaskEq,
        "SR_LTMASK" => Special::LaneMaskLt,
        "SR_LEMASK" => Special::LaneMaskLe,
        "SR_GTMASK" => Special::LaneMaskGt,
        "SR_GEMASK" => Special::LaneMaskGe,
        "SR_CLOCKLO" => Special::Clock,
        "SR_CLOCKHI" => Special::ClockHigh,
        other => {
            let hint = "what depends on the SM or on time has no value in a functional run";
            return refuse(format!("{other} is not supported"), hint);
        }
    }))
}

/// Returns `(a op b) bop c` and `(!a op b) bop c`.
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
        cx.push(Sem::PredLogic { op: logic(d.modifier("op")), dst: first, a: *a, b });
        cx.push(Sem::PredLogic { op: logic(d.modifier("bop")), dst: second, a: held(first), b: c });
        *a = held(second);
    }
    Ok((both[0], both[1]))
}

/// Returns the mask of predicates that an instruction names.
fn masked(cx: &Cx, d: &Decoded) -> Res<u8> {
    let of_predicates =
        d.operands.iter().any(|operand| matches!(operand.value, Value::Choice("PR" | "UPR", _)));
    match d.operand("b").map(|operand| operand.value) {
        Some(Value::Number(mask)) if of_predicates && (0..1 << cx.preds.len()).contains(&mask) => {
            Ok(mask as u8)
        }
        _ => refuse(format!("{} of this kind", d.op.name), ""),
    }
}

/// Returns a predicate of the thread or, if the warp executes the instruction together, of the warp.
fn numbered(cx: &mut Cx, d: &Decoded, number: u8) -> RegId {
    if d.op.uniform { cx.shared_predicate(number) } else { cx.predicate(number) }
}

fn to_register(cx: &mut Cx, d: &Decoded) -> Res<()> {
    let (mask, place) = (masked(cx, d)?, byte_of(d.modifier("part")));
    let mut word = cx.source(d, "a")?;
    for number in (0..8u8).filter(|number| mask >> number & 1 != 0) {
        let p = held(numbered(cx, d, number));
        let (bit, at) = (cx.narrow(), Src::Imm(u64::from(number) + place));
        cx.push(Sem::Select { dst: bit, a: Src::Imm(1), b: Src::Imm(0), p });
        word = cx.value(IntOp::Bfi, U32, &[Src::Reg(bit), word, at, Src::Imm(1)]);
    }
    let dst = cx.dst(d, "d")?;
    cx.push(Sem::Mov { dst, src: word });
    Ok(())
}

fn from_register(cx: &mut Cx, d: &Decoded) -> Res<()> {
    let mask = masked(cx, d)?;
    let place = byte_of(d.operand("a").map_or("", |operand| operand.part));
    let word = cx.source(d, "a")?;
    for number in (0..8u8).filter(|number| mask >> number & 1 != 0) {
        let bit = cx.value(IntOp::And, U32, &[word, Src::Imm(1 << (u64::from(number) + place))]);
        let p = numbered(cx, d, number);
        super::compare::into(cx, Cmp::Ne, U32, (bit, Src::Imm(0)), p);
    }
    Ok(())
}
