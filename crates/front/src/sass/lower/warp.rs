//! Lowers exchanges between the threads of a warp or a block.

use super::registers::held;
use super::{Cx, Decoded, Register, Res, Role, S32, U32, Value, refuse};
use crate::sass::table::meaning::Warp as Name;
use warpbound_core::program::Flow;
use warpbound_core::program::sem::{
    Barrier, BarrierKind, IntOp, Operand as Src, Sem, Shuffle, ShuffleMode, VoteMode,
};

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
            if !matches!(d.operand("d").map(|operand| operand.value), Some(Value::Register(Register::Fixed)))
            {
                let (dst, count) = (cx.dst(d, "d")?, cx.flags.count);
                cx.push(Sem::Mov { dst, src: Src::Reg(count) });
            }
            if let Some(dst) = cx.pred_dst(d, "p") {
                cx.set_pred(dst, held(cx.flags.barrier));
            }
            Ok(Role::PLAIN)
        }
        Name::Bar => barrier(cx, d),
        Name::BarRed => reducing_barrier(cx, d),
        Name::Warpsync => {
            // without an operand all lanes take part
            let members = match d.operand("b") {
                Some(operand) => cx.raw(operand)?,
                None => Src::Imm(0xffff_ffff),
            };
            cx.push(Sem::WarpSync { members });
            Ok(Role::PLAIN)
        }
        Name::Redux => {
            let src = cx.source(d, "a")?;
            let members = cx.active();
            let op = match d.modifier("op") {
                "" => IntOp::And,
                ".OR" => IntOp::Or,
                ".XOR" => IntOp::Xor,
                ".SUM" => IntOp::Add,
                ".MIN" => IntOp::Min,
                _ => IntOp::Max,
            };
            let ty = if d.has("s") { S32 } else { U32 };
            let dst = cx.dst(d, "d")?;
            cx.push(Sem::Reduce { op, ty, dst, src, members });
            Ok(Role::PLAIN)
        }
        Name::Match => {
            let members = cx.active();
            let wide = d.has("wide");
            let src = match d.operand("a") {
                Some(operand) if wide => cx.pair(operand)?,
                _ => cx.source(d, "a")?,
            };
            let all = d.op.name.ends_with("ALL");
            let (dst, pred) = (cx.dst(d, "d")?, cx.pred_dst(d, "p"));
            cx.push(Sem::Match { all, bits: if wide { 64 } else { 32 }, dst, pred, src, members });
            Ok(Role::PLAIN)
        }
        Name::Movm | Name::Mma => super::matrix::lower(cx, d, name),
    }
}

/// Lowers a barrier that combines predicates of all threads.
fn reducing_barrier(cx: &mut Cx, d: &Decoded) -> Res<Role> {
    let p = cx.pred_src(d, "p");
    let kind = match d.modifier("op") {
        ".AND" => BarrierKind::And(cx.flags.barrier, p),
        ".OR" => BarrierKind::Or(cx.flags.barrier, p),
        _ => BarrierKind::Popc(cx.flags.count, p),
    };
    meet(cx, d, kind)
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
    meet(cx, d, kind)
}

/// Lowers the arrival at a barrier of the block.
fn meet(cx: &mut Cx, d: &Decoded, kind: BarrierKind) -> Res<Role> {
    let id = cx.source(d, "id")?;
    let threads = match d.operand("threads") {
        Some(operand) if !operand.hidden => Some(cx.source(d, "threads")?),
        _ => None,
    };
    // words of 128 bits are the code of SMs since Volta
    let partly = cx.encoding.word_bytes == 16;
    cx.push(Sem::Barrier(Box::new(Barrier { kind, id, threads, aligned: true, partly })));
    Ok(Role::flow(if kind == BarrierKind::Arrive { Flow::Arrive } else { Flow::Barrier }))
}
