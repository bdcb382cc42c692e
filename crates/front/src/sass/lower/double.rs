//! Lowers double precision, which uses pairs of registers.

use super::{Cx, Decoded, Res, Role, U64, float, refuse};
use crate::sass::table::meaning::Double as Name;
use warpbound_core::program::sem::{FloatMode, FloatOp, FloatTy, IntOp, Operand as Src, Sem};

const SIGN: u64 = 1 << 63;

/// Returns a source with its signs.
pub(super) fn source(cx: &mut Cx, d: &Decoded, name: &str) -> Res<Src> {
    let Some(operand) = d.operand(name) else {
        return refuse(format!("{} without operand {name}", d.op.name), "");
    };
    let raw = cx.pair(operand)?;
    let (op, mask) = match (operand.abs, operand.neg) {
        (false, false) => return Ok(raw),
        (true, false) => (IntOp::And, !SIGN),
        (true, true) => (IntOp::Or, SIGN),
        (false, true) => (IntOp::Xor, SIGN),
    };
    Ok(match raw {
        Src::Imm(bits) => Src::Imm(match op {
            IntOp::And => bits & mask,
            IntOp::Or => bits | mask,
            _ => bits ^ mask,
        }),
        raw => {
            let dst = cx.wide();
            cx.int(op, U64, dst, &[raw, Src::Imm(mask)]);
            Src::Reg(dst)
        }
    })
}

pub(super) fn lower(cx: &mut Cx, d: &Decoded, name: Name) -> Res<Role> {
    if d.operand("d").is_some_and(|operand| operand.cc) {
        return refuse(format!("{} with the condition code", d.op.name), "");
    }
    let (a, b) = (source(cx, d, "a")?, source(cx, d, "b")?);
    let mode = FloatMode { round: float::round(d.modifier("round")), ..FloatMode::default() };
    let (ty, zero) = (FloatTy::F64, Src::Imm(0));
    let dst = cx.wide();
    match name {
        Name::Dfma => {
            let c = source(cx, d, "c")?;
            cx.push(Sem::Float { op: FloatOp::Fma, ty, mode, dst, src: [a, b, c] });
        }
        Name::Dmnmx => {
            let operation = |op, dst| Sem::Float { op, ty, mode, dst, src: [a, b, zero] };
            float::choose(cx, d, (FloatOp::Min, FloatOp::Max), operation, dst, true);
        }
        Name::Dadd | Name::Dmul => {
            let op = if name == Name::Dadd { FloatOp::Add } else { FloatOp::Mul };
            cx.push(Sem::Float { op, ty, mode, dst, src: [a, b, zero] });
        }
    }
    cx.unpack(d, "d", dst);
    Ok(Role::PLAIN)
}
