//! Barriers of a cluster, of a block and of a warp, and fences.

use super::opcode::Opcode;
use super::operand::Cx;
use super::{Lowered, Refusal, Res, exactly, wrong_count};
use crate::ptx::ast::Operand;
use crate::ptx::types::Type;
use warpbound_core::isa::TypeKind;
use warpbound_core::program::sem::{Barrier, BarrierKind, ClusterOp, Sem};
use warpbound_core::program::{Flow, MemoryOp};

const B32: Type = Type::Bits(32);

pub(super) fn lower<'a>(cx: &mut Cx<'a, '_>, op: &mut Opcode<'a>, args: &[Operand]) -> Res<Lowered<'a>> {
    if matches!(op.root, "membar" | "fence") {
        op.ignore_if(|_| true);
        return Ok(Lowered::access(Sem::Nop, op.root, TypeKind::None, MemoryOp::Fence));
    }
    if op.take("warp") {
        op.take("sync");
        let [mask] = exactly(op, args)?;
        let members = cx.src(mask, B32)?;
        return Ok(Lowered::new(Sem::WarpSync { members }, "bar.warp.sync", TypeKind::None));
    }
    if op.take("cluster") {
        return cluster(op, args);
    }
    block(cx, op, args)
}

/// Lowers an operation on the barrier of the cluster.
fn cluster<'a>(op: &mut Opcode<'a>, args: &[Operand]) -> Res<Lowered<'a>> {
    op.ignore(&["aligned", "release", "acquire", "relaxed"]);
    let operations = [("arrive", ClusterOp::Arrive), ("wait", ClusterOp::Wait)];
    let operation = op.need("operation", &operations)?;
    let [] = exactly(op, args)?;
    Ok(Lowered::new(Sem::Cluster(operation), "barrier.cluster", TypeKind::None))
}

fn block<'a>(cx: &mut Cx<'a, '_>, op: &mut Opcode<'a>, args: &[Operand]) -> Res<Lowered<'a>> {
    op.take("cta");
    let aligned = op.take("aligned") || op.root == "bar";
    let (kind, id, threads) = if op.take("sync") {
        match args {
            [id] => (BarrierKind::Sync, id, None),
            [id, threads] => (BarrierKind::Sync, id, Some(threads)),
            _ => return Err(wrong_count(op, args, "1 or 2")),
        }
    } else if op.take("arrive") {
        let [id, threads] = exactly(op, args)?;
        (BarrierKind::Arrive, id, Some(threads))
    } else if op.take("red") {
        let (d, id, threads, p) = match args {
            [d, id, p] => (d, id, None, p),
            [d, id, threads, p] => (d, id, Some(threads), p),
            _ => return Err(wrong_count(op, args, "3 or 4")),
        };
        let p = cx.pred_src(p)?;
        let kind = if op.take("popc") {
            BarrierKind::Popc(cx.dst(d, B32)?, p)
        } else if op.take("and") {
            BarrierKind::And(cx.pred_dst(d)?, p)
        } else if op.take("or") {
            BarrierKind::Or(cx.pred_dst(d)?, p)
        } else {
            return Err(Refusal::new(format!("`{}` names no reduction", op.text), "one of .popc .and .or"));
        };
        op.types();
        (kind, id, threads)
    } else {
        return Err(Refusal::new(format!("`{}` names no operation", op.text), "one of .sync .arrive .red"));
    };
    let id = cx.src(id, B32)?;
    let threads = match threads {
        Some(threads) => Some(cx.src(threads, B32)?),
        None => None,
    };
    let flow = if kind == BarrierKind::Arrive { Flow::Arrive } else { Flow::Barrier };
    let sem = Sem::Barrier(Box::new(Barrier { kind, id, threads, aligned, partly: false }));
    Ok(Lowered::new(sem, op.root, TypeKind::None).flow(flow))
}
