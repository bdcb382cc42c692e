//! Mbarrier objects.

use super::memory::ignore_neutral;
use super::opcode::Opcode;
use super::operand::{Cx, Fit};
use super::{Lowered, Refusal, Res, convert, exactly, wrong_count};
use crate::ptx::ast::Operand;
use crate::ptx::types::Type;
use warpbound_core::isa::{Space, TypeKind};
use warpbound_core::program::sem::{
    Carry, IntOp, IntTy, Mbarrier, MbarrierArrive, MbarrierOp, Operand as Src, Sem,
};

const B32: Type = Type::Bits(32);
const B64: Type = Type::Bits(64);

pub(super) fn lower<'a>(cx: &mut Cx<'a, '_>, op: &mut Opcode<'a>, args: &[Operand]) -> Res<Lowered<'a>> {
    if op.take("pending_count") {
        return pending_count(cx, op, args);
    }
    let of_cluster = op.has("shared::cluster");
    let space = place(op)?;
    let (address, operation) = if op.take("init") {
        let [address, count] = exactly(op, args)?;
        (address, MbarrierOp::Init { count: cx.src(count, B32)? })
    } else if op.take("inval") {
        let [address] = exactly(op, args)?;
        (address, MbarrierOp::Inval)
    } else if op.has("arrive") || op.has("arrive_drop") {
        arrive(cx, op, args)?
    } else if op.take("expect_tx") {
        let [address, bytes] = exactly(op, args)?;
        (address, MbarrierOp::ExpectTx { bytes: cx.src(bytes, B32)? })
    } else if op.take("complete_tx") {
        let [address, bytes] = exactly(op, args)?;
        (address, MbarrierOp::CompleteTx { bytes: cx.src(bytes, B32)? })
    } else {
        wait(cx, op, args)?
    };
    let is_remote = match operation {
        MbarrierOp::ExpectTx { .. } | MbarrierOp::CompleteTx { .. } => true,
        MbarrierOp::Arrive(arrive) => arrive.state.is_none(),
        _ => false,
    };
    if of_cluster && !is_remote {
        let hint = "objects of other blocks accept arrivals without a result, expect_tx and complete_tx";
        return Err(Refusal::new(format!("`{}` does not exist for this operation", op.text), hint));
    }
    finish(cx, op, address, space, operation)
}

/// Lowers `cp.async.mbarrier.arrive`, whose `async` has been consumed.
pub(super) fn copies_arrive<'a>(
    cx: &mut Cx<'a, '_>,
    op: &mut Opcode<'a>,
    args: &[Operand],
) -> Res<Lowered<'a>> {
    op.ignore(&["mbarrier", "arrive"]);
    let space = place(op)?;
    let counted = op.take("noinc");
    let [address] = exactly(op, args)?;
    finish(cx, op, address, space, MbarrierOp::CopiesArrive { counted })
}

/// Consumes the space of the object, neutral modifiers and the type.
fn place(op: &mut Opcode<'_>) -> Res<Option<Space>> {
    ignore_neutral(op);
    let space = convert::space(op);
    if op.ty()? != B64 {
        return Err(Refusal::new(format!("`{}`: mbarrier objects are .b64", op.text), ""));
    }
    Ok(space)
}

fn finish<'a>(
    cx: &mut Cx<'a, '_>,
    op: &Opcode<'a>,
    address: &Operand,
    wanted: Option<Space>,
    operation: MbarrierOp,
) -> Res<Lowered<'a>> {
    let (space, addr) = cx.address(address, wanted)?;
    if !matches!(space, Space::Shared | Space::Generic) {
        return Err(Refusal::new("mbarrier objects are in shared memory", "").at(address.span));
    }
    let waits = matches!(operation, MbarrierOp::Wait { .. });
    if waits {
        cx.note(
            "the kernel waits at mbarrier objects: it is executed as PTX defines, but these waits take no time \
             here, and no bound is judged",
        );
    }
    op.finish()?;
    let root = if waits { "mbarrier.wait" } else { "mbarrier" };
    let sem = Sem::Mbarrier(Box::new(Mbarrier { op: operation, space, addr }));
    Ok(Lowered::new(sem, root, TypeKind::None))
}

fn arrive<'a>(
    cx: &mut Cx<'_, '_>,
    op: &mut Opcode<'_>,
    args: &'a [Operand],
) -> Res<(&'a Operand, MbarrierOp)> {
    let drops = op.take("arrive_drop");
    if !drops {
        op.take("arrive");
    }
    let (expects, completes) = (op.take("expect_tx"), !op.take("noComplete"));
    let (state, address, number) = match args {
        [state, address] if completes && !expects => (state, address, None),
        [state, address, number] => (state, address, Some(cx.src(number, B32)?)),
        _ => return Err(wrong_count(op, args, if completes && !expects { "2 or 3" } else { "3" })),
    };
    let one = Src::Imm(1);
    let (count, expect) =
        if expects { (one, number.unwrap_or(one)) } else { (number.unwrap_or(one), Src::Imm(0)) };
    let state = cx.maybe_destination(state, B64, Fit::Exact)?;
    Ok((address, MbarrierOp::Arrive(MbarrierArrive { state, count, expect, drops, completes })))
}

fn wait<'a>(cx: &mut Cx<'_, '_>, op: &mut Opcode<'_>, args: &'a [Operand]) -> Res<(&'a Operand, MbarrierOp)> {
    let suspends = op.need("operation", &[("test_wait", false), ("try_wait", true)])?;
    let parity = op.take("parity");
    let (done, address, phase) = match args {
        [done, address, phase] => (done, address, phase),
        [done, address, phase, hint] if suspends => {
            // the time limit is ignored: the warp is suspended until the phase completes
            cx.src(hint, B32)?;
            (done, address, phase)
        }
        _ => return Err(wrong_count(op, args, if suspends { "3 or 4" } else { "3" })),
    };
    let phase = cx.src(phase, if parity { B32 } else { B64 })?;
    let done = cx.pred_dst(done)?;
    Ok((address, MbarrierOp::Wait { done, phase, parity, suspends }))
}

fn pending_count<'a>(cx: &mut Cx<'a, '_>, op: &mut Opcode<'a>, args: &[Operand]) -> Res<Lowered<'a>> {
    if op.ty()? != B64 {
        return Err(Refusal::new(format!("`{}`: states are .b64", op.text), ""));
    }
    let [count, state] = exactly(op, args)?;
    let sem = Sem::Int {
        op: IntOp::PendingCount,
        ty: IntTy { bits: 64, signed: false },
        dst: cx.dst(count, B32)?,
        src: [cx.src(state, B64)?, Src::Imm(0), Src::Imm(0), Src::Imm(0)],
        carry: Carry::default(),
        saturate: false,
    };
    Ok(Lowered::new(sem, "mbarrier.pending_count", TypeKind::Int))
}
