//! Lowers calls and returns of generations that keep the return address in a register.

use std::collections::BTreeSet;

use super::control::Name;
use super::registers::held;
use super::{Cx, Decoded, Kernel, Res, U64, Value, refuse};
use crate::runtime::{self, Runtime};
use warpbound_core::base::Pc;
use warpbound_core::program::Guard;
use warpbound_core::program::layout::function_address;
use warpbound_core::program::sem::{Call, Cmp, Operand as Src, PointerCall, PredOp, PredSrc, Sem};

/// The register in which a function returns a word.
const RESULT: u8 = 4;
/// The maximum number of functions that a call by a register may call.
pub(super) const MAX_POINTED: usize = 256;
/// The maximum number of functions that a message names.
const SHOWN: usize = 3;

/// Returns the functions that a call by a register may call. A linker gives them addresses.
/// Otherwise, they are those whose offsets are among the compiler's constants, where pointers to
/// functions find them, or all functions if there are none.
pub(super) fn pointed(
    kernel: &Kernel,
    targets: &dyn Fn(i64) -> Result<Pc, (String, String)>,
) -> Vec<(u64, Pc)> {
    if !kernel.addresses.is_empty() {
        let first = |at: u64| i64::try_from(at).ok().and_then(|at| targets(at).ok());
        return kernel.addresses.iter().filter_map(|(&at, &address)| Some((address, first(at)?))).collect();
    }
    let constants: BTreeSet<u64> =
        kernel.constants.as_chunks().0.iter().map(|&word| u64::from_le_bytes(word)).collect();
    let mut all: Vec<(u64, Pc)> = Vec::new();
    for &(at, _) in &kernel.functions {
        if let Some(first) = i64::try_from(at).ok().and_then(|at| targets(at).ok()) {
            all.push((at, first));
        }
    }
    all.dedup();
    let named: Vec<(u64, Pc)> = all.iter().filter(|(at, _)| constants.contains(at)).copied().collect();
    if named.is_empty() { all } else { named }
}

/// Adds a call of the function that begins at an instruction.
fn push_call(cx: &mut Cx, target: Pc) {
    // the number is set once all functions are known
    let call = Call { target, function: 0, pass: Vec::new(), give_back: Vec::new() };
    cx.push(Sem::Call(Box::new(call)));
}

/// Lowers a call. From Turing on, the code before it puts the return address into a register, with
/// which the function returns.
pub(super) fn call(cx: &mut Cx, d: &Decoded, next: i64) -> Res<()> {
    let target = cx.target(d, next)?;
    push_call(cx, target);
    Ok(())
}

/// Lowers a call of a function by its offset in the code. A pointer to a function selects an entry of
/// a table of the compiler's constants, which has the offset.
pub(super) fn call_by_offset(cx: &mut Cx, d: &Decoded, next: i64) -> Res<()> {
    let (Some(address), Some(Value::Target(offset))) = (d.operand("a"), d.operand("t").map(|t| t.value))
    else {
        return refuse(format!("{} by this operand", d.op.name), "");
    };
    if offset + next != 0 {
        return refuse(format!("{} from another place than the start of the kernel", d.op.name), "");
    }
    let pointer = cx.pair(address)?;
    let call = pointer_call(cx, d, pointer)?;
    cx.push(call);
    Ok(())
}

/// Returns a call of one of the functions whose addresses are values.
fn pointer_call(cx: &Cx, d: &Decoded, pointer: Src) -> Res<Sem> {
    if cx.pointed.is_empty() || cx.pointed.len() > MAX_POINTED {
        let message =
            format!("{}: the file names {} functions that it may call", d.op.name, cx.pointed.len());
        return refuse(message, format!("1 to {MAX_POINTED} functions are supported"));
    }
    let targets = Some(cx.pointed.iter().map(|(address, _)| *address).collect());
    Ok(Sem::CallPointer(Box::new(PointerCall { pointer, targets, args: Vec::new(), results: Vec::new() })))
}

/// Lowers a call of a function that is in another section of the file.
pub(super) fn call_elsewhere(cx: &mut Cx, d: &Decoded, next: i64) -> Res<()> {
    let here = u64::try_from(next - cx.encoding.word_bytes as i64).unwrap_or_default();
    let place = match d.operand("t").map(|operand| operand.value) {
        Some(Value::Number(place)) => Some(place),
        Some(Value::Small(place)) => i64::try_from(place).ok(),
        _ => None,
    };
    let Some(place) = place.filter(|_| cx.kernel.resolved.contains(&here)) else {
        return refuse(format!("{} to an address that is in no section of the file", d.op.name), "");
    };
    let target = (cx.targets)(place)?;
    push_call(cx, target);
    Ok(())
}

/// Lowers a call of a function by its address: of one of the file, or of the CUDA runtime, whose
/// addresses come from the table of addresses.
pub(super) fn call_by_address(cx: &mut Cx, d: &Decoded) -> Res<()> {
    let (Some(address), Some(Value::Number(0))) = (d.operand("a"), d.operand("t").map(|t| t.value)) else {
        return refuse(format!("{} by this operand", d.op.name), "");
    };
    if cx.cubin.functions.is_empty() {
        return refuse(format!("{}: the file has no address of a function", d.op.name), "");
    }
    let address = cx.pair(address)?;
    let own = if cx.kernel.addresses.is_empty() { None } else { Some(pointer_call(cx, d, address)?) };
    if let Some(call) = &own
        && cx.cubin.functions.iter().all(|name| runtime::function(name).is_none())
    {
        cx.push(call.clone());
        return Ok(());
    }
    let (elsewhere, here) = (cx.pred(), cx.pred());
    cx.set_pred(elsewhere, PredSrc::Const(true));
    let mut unknown = Vec::new();
    for (index, name) in cx.cubin.functions.iter().enumerate() {
        let Some(function) = runtime::function(name) else {
            unknown.push(name.as_str());
            continue;
        };
        let place = Src::Imm(function_address(index as u32));
        super::compare::into(cx, Cmp::Eq, U64, (address, place), here);
        let not_here = PredSrc::Reg(Guard { reg: here, negate: true });
        cx.push(Sem::PredLogic { op: PredOp::And, dst: elsewhere, a: held(elsewhere), b: not_here });
        let effect = match function {
            Runtime::Print => Sem::Mov { dst: cx.register(RESULT), src: Src::Imm(0) },
            Runtime::Fail => Sem::Trap { message: runtime::FAILED.into() },
        };
        cx.push_where(d, held(here), effect);
    }
    let mut message =
        "the kernel calls a function by its address that is neither printf nor assert".to_owned();
    if !unknown.is_empty() {
        unknown.truncate(SHOWN);
        message += &format!(" (the file has the address of {})", unknown.join(", "));
    }
    cx.push_where(d, held(elsewhere), own.unwrap_or(Sem::Trap { message }));
    Ok(())
}

/// Lowers a return to an address in a register, which has to be that of the call.
pub(super) fn return_to(cx: &mut Cx, d: &Decoded, name: Name, next: i64) -> Res<()> {
    let from = match (d.operand("t").map(|operand| operand.value), name) {
        (Some(Value::Target(offset)), Name::ReturnRelative) => offset + next,
        (Some(Value::Number(offset)), Name::ReturnAbsolute) => offset,
        _ => return refuse(format!("{} without an offset", d.op.name), ""),
    };
    if from != 0 {
        return refuse(format!("{} from another place than the start of the kernel", d.op.name), "");
    }
    let address = Some(cx.source(d, "a")?);
    cx.push(Sem::Return { address });
    Ok(())
}
