//! Lowers the smallest or largest of words, or of both halves of words.

use super::{Cx, Decoded, Res, S32, U32, refuse};
use crate::sass::table::meaning::Int as Name;
use warpbound_core::base::RegId;
use warpbound_core::program::sem::{Cmp, HalvesOp, IntOp, IntTy, Operand as Src, PredSrc, Sem};

pub(super) fn lower(cx: &mut Cx, d: &Decoded, name: Name) -> Res<()> {
    if name == Name::AddVector {
        return super::vector::sum(cx, d);
    }
    if d.modifier("ty").ends_with("8x4") {
        return super::vector::smallest(cx, d);
    }
    let kind = Kind::of(d)?;
    let (a, b) = (cx.source(d, "a")?, cx.source(d, "b")?);
    let words = match name {
        Name::AddMinimum => {
            let c = cx.source(d, "c")?;
            vec![kind.sum(cx, d, a, b)?, c]
        }
        Name::Minimum3 => vec![a, b, cx.source(d, "c")?],
        _ => vec![a, b],
    };
    chosen(cx, d, kind, (a, b))?;
    smallest(cx, d, kind, &words)
}

/// What is compared.
#[derive(Clone, Copy)]
struct Kind {
    ty: IntTy,
    /// Whether the halves of words are compared each.
    halves: bool,
    /// Whether negative results become zero.
    relu: bool,
}

impl Kind {
    fn of(d: &Decoded) -> Res<Self> {
        let (ty, halves) = match d.modifier("ty") {
            ".U32" => (U32, false),
            ".U16x2" => (U32, true),
            ".S16x2" => (S32, true),
            _ => (S32, false),
        };
        let relu = d.has("relu");
        if relu && !ty.signed {
            return refuse(
                format!("{}{}.RELU", d.op.name, d.modifier("ty")),
                "unsigned numbers are never negative",
            );
        }
        Ok(Self { ty, halves, relu })
    }

    /// Returns the operation that selects one of two words. Only the last one of several replaces a
    /// negative result.
    fn op(self, least: bool, last: bool) -> IntOp {
        let relu = self.relu && last;
        match (self.halves, least) {
            (true, least) => IntOp::Halves { op: if least { HalvesOp::Min } else { HalvesOp::Max }, relu },
            (false, true) => {
                if relu {
                    IntOp::MinRelu
                } else {
                    IntOp::Min
                }
            }
            (false, false) => {
                if relu {
                    IntOp::MaxRelu
                } else {
                    IntOp::Max
                }
            }
        }
    }

    /// Returns the sum of two sources, of which the second may be negated.
    fn sum(self, cx: &mut Cx, d: &Decoded, a: Src, b: Src) -> Res<Src> {
        let negated = d.operand("b").is_some_and(|operand| operand.neg);
        let op = match (self.halves, negated) {
            (false, false) => IntOp::Add,
            (false, true) => IntOp::Sub,
            (true, false) => IntOp::Halves { op: HalvesOp::Add, relu: false },
            (true, true) => return refuse(format!("{} of negated halves", d.op.name), ""),
        };
        Ok(cx.value(op, U32, &[a, b]))
    }
}

/// Lowers the predicates that say whether the result is the first source, one for each half of a
/// word. The first one is that of the lower half, and of a word both are the same.
fn chosen(cx: &mut Cx, d: &Decoded, kind: Kind, (a, b): (Src, Src)) -> Res<()> {
    let (lower, upper) = (cx.pred_dst(d, "x"), cx.pred_dst(d, "y"));
    if lower.is_none() && upper.is_none() {
        return Ok(());
    }
    let PredSrc::Const(least) = cx.pred_src(d, "p") else {
        return refuse(format!("{} into predicates, selected by a predicate", d.op.name), "");
    };
    let relation = if least { Cmp::Le } else { Cmp::Ge };
    for (out, at) in [(lower, 0), (upper, 16)] {
        let Some(out) = out else { continue };
        let part = |cx: &mut Cx, word: Src| match kind.halves {
            true => cx.value(IntOp::Bfe, kind.ty, &[word, Src::Imm(at), Src::Imm(16)]),
            false => word,
        };
        let (a, b) = (part(cx, a), part(cx, b));
        super::compare::into(cx, relation, kind.ty, (a, b), out);
    }
    Ok(())
}

/// Lowers the smallest or largest of some words, selected by a predicate.
fn smallest(cx: &mut Cx, d: &Decoded, kind: Kind, words: &[Src]) -> Res<()> {
    let p = cx.pred_src(d, "p");
    let dst = cx.dst(d, "d")?;
    let each = |cx: &mut Cx, least: bool, dst: RegId| {
        let (first, rest) = (words[0], &words[1..]);
        rest.iter().enumerate().fold(first, |value, (index, &word)| {
            let last = index + 1 == rest.len();
            let to = if last { dst } else { cx.narrow() };
            cx.int(kind.op(least, last), kind.ty, to, &[value, word]);
            Src::Reg(to)
        })
    };
    match p {
        PredSrc::Const(least) => {
            each(cx, least, dst);
        }
        p => {
            let (low, high) = (cx.narrow(), cx.narrow());
            let (low, high) = (each(cx, true, low), each(cx, false, high));
            cx.push(Sem::Select { dst, a: low, b: high, p });
        }
    }
    Ok(())
}
