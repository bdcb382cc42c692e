//! Conversions without modifiers, of which other operations are composed.

use super::Cx;
use warpbound_core::base::RegId;
use warpbound_core::program::sem::{Convert, IntTy, Operand as Src, Round, Sem, ValueTy};

/// Returns a conversion without modifiers.
pub(super) fn plain(dst: RegId, src: Src, from: ValueTy, to: ValueTy) -> Sem {
    Sem::Convert(Box::new(unmodified(dst, src, from, to)))
}

/// Returns a conversion whose modifiers are not set.
pub(super) fn unmodified(dst: RegId, src: Src, from: ValueTy, to: ValueTy) -> Convert {
    Convert {
        dst,
        src,
        src2: None,
        from,
        to,
        round: Round::Nearest,
        integral: false,
        sat: false,
        ftz: false,
        relu: false,
        finite: false,
    }
}

/// Returns a word as 64 bits.
pub(super) fn widened(cx: &mut Cx, source: Src, from: IntTy) -> Src {
    match source {
        Src::Imm(value) if from.signed => Src::Imm(i64::from(value as u32 as i32) as u64),
        Src::Imm(value) => Src::Imm(value),
        source => {
            let dst = cx.wide();
            let to = IntTy { bits: 64, signed: from.signed };
            cx.push(plain(dst, source, ValueTy::Int(from), ValueTy::Int(to)));
            Src::Reg(dst)
        }
    }
}
