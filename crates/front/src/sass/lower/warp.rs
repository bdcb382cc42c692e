//! Lowers exchanges between the threads of a warp or a block.

use super::{Cx, Decoded, Register, Res, Role, Value, refuse};
use crate::sass::table::meaning::Warp as Name;
use warpbound_core::program::sem::{
    Barrier, BarrierKind, Operand as Src, PredSrc, Sem, Shuffle, ShuffleMode, VoteMode,
};
use warpbound_core::program::{Flow, Guard};

pub(super) fn lower(cx: &mut Cx, d: &Decoded, name: Name) -> Res<Role> {
    match name {
        Name::Shfl => {
            let mode = match d.modifier("mode") {
                ".UP" => ShuffleMode::Up,
                ".DOWN" => ShuffleMode::Down,
                ".BFLY" => ShuffleMode::Bfly,
                _ => ShuffleMode::Idx,
            };
            let (a, b, c) = (cx.source(d, "a")?, cx.source(d, "b")?, cx.source(d, "c")?);
            let dst = cx.dst(d, "d")?;
            let pred = cx.pred_dst(d, "p");
            cx.push(Sem::Shuffle(Box::new(Shuffle { mode, dst, pred, a, b, c, members: None })));
            Ok(Role::PLAIN)
        }
        Name::Vote => {
            let p = cx.pred_src(d, "p");
            let mode = match d.modifier("mode") {
                ".ALL" => VoteMode::All,
                ".ANY" => VoteMode::Any,
                _ => VoteMode::Uni,
            };
            // the instruction returns the mask of the lanes for which the predicate holds, and the
            // result of the vote
            if !matches!(d.operand("d").map(|operand| operand.value), Some(Value::Register(Register::Fixed)))
            {
                let dst = cx.dst(d, "d")?;
                cx.push(Sem::Vote { mode: VoteMode::Ballot, dst, p, members: None });
            }
            if let Some(dst) = cx.pred_dst(d, "q") {
                cx.push(Sem::Vote { mode, dst, p, members: None });
            }
            Ok(Role::PLAIN)
        }
        Name::B2r => {
            let held = PredSrc::Reg(Guard { reg: cx.flags.barrier, negate: false });
            if !matches!(d.operand("d").map(|operand| operand.value), Some(Value::Register(Register::Fixed)))
            {
                let (dst, count) = (cx.dst(d, "d")?, cx.flags.count);
                cx.push(Sem::Mov { dst, src: Src::Reg(count) });
            }
            if let Some(dst) = cx.pred_dst(d, "p") {
                cx.set_pred(dst, held);
            }
            Ok(Role::PLAIN)
        }
        Name::Bar => barrier(cx, d),
    }
}

fn barrier(cx: &mut Cx, d: &Decoded) -> Res<Role> {
    let p = cx.pred_src(d, "p");
    let kind = match d.modifier("mode") {
        ".SYNC" => BarrierKind::Sync,
        ".ARV" => BarrierKind::Arrive,
        ".RED.AND" => BarrierKind::And(cx.flags.barrier, p),
        ".RED.OR" => BarrierKind::Or(cx.flags.barrier, p),
        ".RED.POPC" => BarrierKind::Popc(cx.flags.count, p),
        other => return refuse(format!("BAR{other}"), ""),
    };
    let id = cx.source(d, "id")?;
    let threads = match d.operand("threads") {
        Some(operand) if !operand.hidden => Some(cx.source(d, "threads")?),
        _ => None,
    };
    cx.push(Sem::Barrier(Box::new(Barrier { kind, id, threads, aligned: true })));
    Ok(Role::flow(if kind == BarrierKind::Arrive { Flow::Arrive } else { Flow::Barrier }))
}
