//! Lowers sums, differences and minima of the halves or the bytes of words.

use super::{Cx, Decoded, Res, S32, refuse};
use warpbound_core::base::RegId;
use warpbound_core::program::sem::{Carry, IntOp, Operand as Src, PredSrc, Sem, Video, VideoOp, VideoShape};

/// What an operation does with each part of its sources.
#[derive(Clone, Copy)]
struct Each {
    op: VideoOp,
    lanes: u8,
    signed: bool,
    saturate: bool,
    /// Whether the results are added to the third source.
    sum: bool,
}

impl Each {
    /// Returns the operation on all parts of two words.
    fn of(self, dst: RegId, [a, b, c]: [Src; 3]) -> Sem {
        let Self { op, lanes, signed, saturate, sum } = self;
        let from = |first: u8| std::array::from_fn(|index| first + index as u8);
        let shape = VideoShape::Packed { lanes, a: from(0), b: from(lanes), mask: (1 << lanes) - 1, sum };
        let (a_signed, b_signed) = (signed, signed);
        Sem::Video(Box::new(Video { op, dst, a, b, c, a_signed, b_signed, signed, saturate, shape }))
    }
}

/// Lowers the sum of two words, of their halves or of their bytes; one source may be negated.
pub(super) fn sum(cx: &mut Cx, d: &Decoded) -> Res<()> {
    let negated = |name: &str| d.operand(name).is_some_and(|operand| operand.neg);
    let (a, b) = (cx.source(d, "a")?, cx.source(d, "b")?);
    let (op, a, b) = match (negated("a"), negated("b")) {
        (false, false) => (VideoOp::Add, a, b),
        (false, true) => (VideoOp::Sub, a, b),
        (true, false) => (VideoOp::Sub, b, a),
        (true, true) => return refuse(format!("{} of two negated sources", d.op.name), ""),
    };
    let saturate = d.has("sat");
    let (lanes, signed) = match d.modifier("ty") {
        // without a type the name says that they are halves
        "" | ".16x2" => (2, false),
        ".S16x2" => (2, true),
        ".U8x4" => (4, false),
        ".S8x4" => (4, true),
        _ => (1, true),
    };
    if saturate && matches!(d.modifier("ty"), ".16x2" | ".32") {
        return refuse(format!("{}{} that saturates", d.op.name, d.modifier("ty")), "it states no sign");
    }
    let dst = cx.dst(d, "d")?;
    if lanes > 1 {
        cx.push(Each { op, lanes, signed, saturate, sum: false }.of(dst, [a, b, Src::Imm(0)]));
        return Ok(());
    }
    let op = if op == VideoOp::Add { IntOp::Add } else { IntOp::Sub };
    let src = [a, b, Src::Imm(0), Src::Imm(0)];
    cx.push(Sem::Int { op, ty: S32, dst, src, carry: Carry::default(), saturate });
    Ok(())
}

/// Lowers the smaller or the larger of the bytes of two words, selected by a predicate.
pub(super) fn smallest(cx: &mut Cx, d: &Decoded) -> Res<()> {
    let (a, b, p) = (cx.source(d, "a")?, cx.source(d, "b")?, cx.pred_src(d, "p"));
    let signed = d.modifier("ty") == ".S8x4";
    let dst = cx.dst(d, "d")?;
    let of =
        |op, dst| Each { op, lanes: 4, signed, saturate: false, sum: false }.of(dst, [a, b, Src::Imm(0)]);
    match p {
        PredSrc::Const(least) => cx.push(of(if least { VideoOp::Min } else { VideoOp::Max }, dst)),
        p => {
            let (low, high) = (cx.narrow(), cx.narrow());
            cx.push(of(VideoOp::Min, low));
            cx.push(of(VideoOp::Max, high));
            cx.push(Sem::Select { dst, a: Src::Reg(low), b: Src::Reg(high), p });
        }
    }
    Ok(())
}

/// Lowers the absolute differences of the bytes of two words, or their sum plus a third word. A third
/// word that is not added has no effect, as all bytes are computed.
pub(super) fn difference(cx: &mut Cx, d: &Decoded) -> Res<()> {
    let (a, b, c) = (cx.source(d, "a")?, cx.source(d, "b")?, cx.source(d, "c")?);
    let (sum, unsigned) = (d.has("acc"), d.has("u"));
    let dst = cx.dst(d, "d")?;
    let each = Each { op: VideoOp::AbsDiff, lanes: 4, signed: !unsigned, saturate: false, sum };
    cx.push(each.of(dst, [a, b, c]));
    Ok(())
}
