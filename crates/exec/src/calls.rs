//! Calls and returns: the transfer of arguments and results, frames, and calls through pointers.

use super::context::Context;
use super::fault::{self, Fault};
use super::lanes::width_mask;
use super::registers::{RegisterRow, SavedRegisters};
use super::rows::Row;
use super::stack::Activation;
use super::warp::Warp;
use warpbound_core::base::{LaneMask, Pc, RegId};
use warpbound_core::program::sem::{ArgLocation, Call, PointerCall, Transfer};
use warpbound_core::program::{Function, Sem};

/// The largest number of bytes that the saved registers of one warp may take.
const MAX_SAVED_BYTES: usize = 1 << 28;

/// Executes `call function`.
///
/// # Errors
/// Returns an error if the stack has no room.
pub(super) fn call(
    warp: &mut Warp,
    context: &mut Context,
    pc: Pc,
    call: &Call,
    enabled: LaneMask,
) -> Result<(), Fault> {
    let program = context.program;
    let function = program.functions.get(call.function as usize);
    let Some(function) = function.filter(|function| function.frame.is_some()) else {
        let callee = activation(warp, context, call.function, 0);
        let bases = [warp.stack.local(), callee.local];
        call.pass.iter().for_each(|transfer| move_at_once(warp, context, transfer, enabled, bases));
        return open(warp, context, pc, &[(call.target, enabled, callee)]);
    };
    let callee = frame(warp, context, pc, call.function, function)?;
    let from: Vec<(ArgLocation, u32)> = call.pass.iter().map(|t| (t.from, t.bytes)).collect();
    let to: Vec<(ArgLocation, u32)> = call.pass.iter().map(|t| (t.to, t.bytes)).collect();
    let values = read(warp, context, &from, enabled, warp.stack.local());
    forget(warp);
    save_registers(warp, function, warp.stack.depth());
    write(warp, context, &to, &values, enabled, callee.local);
    open(warp, context, pc, &[(call.target, enabled, callee)])
}

/// Executes `call %pointer`. Lanes with the same target call it together; the target of the lowest
/// lane runs first, then that of the lowest remaining lane, and so on. Afterwards all lanes
/// continue together.
///
/// # Errors
/// Returns an error if an address is not that of a function that fits, or if the stack has no room.
pub(super) fn call_pointer(
    warp: &mut Warp,
    context: &mut Context,
    pc: Pc,
    call: &PointerCall,
    (active, enabled): (LaneMask, LaneMask),
) -> Result<(), Fault> {
    let program = context.program;
    let mut groups: Vec<(u64, u32, LaneMask)> = Vec::new();
    for lane in enabled.lanes() {
        let address = warp.operand_in(call.pointer, &context.shape, lane);
        if let Some((.., mask)) = groups.iter_mut().find(|(known, ..)| *known == address) {
            *mask |= LaneMask::lane(lane);
            continue;
        }
        let number = program.functions.iter().position(|function| function.address == address);
        let Some(number) = number else { return Err(no_function(warp, context, pc, lane, address)) };
        check_target(warp, context, pc, call, &program.functions[number])?;
        groups.push((address, number as u32, LaneMask::lane(lane)));
    }
    if let Some(divergence) = &mut context.divergence {
        let ways = groups.len() + usize::from(active != enabled);
        divergence.branch(program.instr(pc), pc, (active, enabled), ways);
    }
    let caller = warp.stack.local();
    let depth = warp.stack.depth();
    let mut opened = Vec::with_capacity(groups.len());
    forget(warp);
    // the group opened last runs first; groups may use the same stack above the caller's frame,
    // because no lane is in two of them
    for (index, &(_, number, lanes)) in groups.iter().rev().enumerate() {
        let function = &program.functions[number as usize];
        let values = read(warp, context, &call.args, lanes, caller);
        let callee = if function.frame.is_some() {
            save_registers(warp, function, depth + index);
            frame(warp, context, pc, number, function)?
        } else {
            activation(warp, context, number, 0)
        };
        write(warp, context, &function.params, &values, lanes, callee.local);
        opened.push((function.first, lanes, callee));
    }
    open(warp, context, pc, &opened)
}

/// Executes `ret` of `lanes`: moves the results to the places that the caller specifies, and
/// restores the caller's registers.
pub(super) fn give_back(warp: &mut Warp, context: &mut Context, lanes: LaneMask) {
    let program = context.program;
    let (Some(call), Some((callee, caller))) = (warp.stack.caller(), warp.stack.running()) else { return };
    let function = program.functions.get(callee.function as usize);
    let has_frame = function.is_some_and(|function| function.frame.is_some());
    match (&program.instr(call).sem, function) {
        (Sem::Call(call), _) if !has_frame => {
            let bases = [callee.local, caller];
            call.give_back.iter().for_each(|transfer| move_at_once(warp, context, transfer, lanes, bases));
        }
        (Sem::Call(call), Some(function)) => {
            let from: Vec<(ArgLocation, u32)> = call.give_back.iter().map(|t| (t.from, t.bytes)).collect();
            let to: Vec<(ArgLocation, u32)> = call.give_back.iter().map(|t| (t.to, t.bytes)).collect();
            let values = read(warp, context, &from, lanes, callee.local);
            restore_registers(warp, function, lanes);
            write(warp, context, &to, &values, lanes, caller);
        }
        (Sem::CallPointer(call), Some(function)) => {
            let expected = |(from, (to, bytes)): (&(ArgLocation, u32), &(Option<ArgLocation>, u32))| {
                to.map(|to| ((from.0, *bytes), (to, *bytes)))
            };
            let pairs = function.returns.iter().zip(&call.results).filter_map(expected);
            let (from, to): (Vec<_>, Vec<_>) = pairs.unzip();
            let values = read(warp, context, &from, lanes, callee.local);
            restore_registers(warp, function, lanes);
            write(warp, context, &to, &values, lanes, caller);
        }
        _ => {}
    }
}

/// Returns the activation of a function without a frame, or of one whose frame has `bytes` bytes.
fn activation(warp: &Warp, context: &Context, function: u32, bytes: u64) -> Activation {
    let running = warp.stack.running();
    let free = running.map_or(context.memory.stack_base(), |(running, _)| running.free);
    let local = if bytes > 0 { free } else { warp.stack.local() };
    Activation { function, local, free: free.saturating_add(bytes) }
}

fn frame(
    warp: &Warp,
    context: &Context,
    pc: Pc,
    number: u32,
    function: &Function,
) -> Result<Activation, Fault> {
    let bytes = function.frame.as_ref().map_or(0, warpbound_core::program::FrameLayout::stack_bytes);
    let callee = activation(warp, context, number, bytes);
    let saved_bytes = registers(function).len().saturating_mul(size_of::<Row<u64>>());
    let calls = warp.stack.depth();
    if saved_bytes.saturating_mul(calls) > MAX_SAVED_BYTES {
        let message = format!(
            "warp {} is in {calls} calls at once, whose registers take too much memory: `{}` has {}",
            warp.id,
            function.name,
            registers(function).len()
        );
        return Err(fault::at(
            context.program,
            pc,
            message,
            "simulate a kernel whose calls nest less deeply",
        ));
    }
    let base = context.memory.stack_base();
    let (used, room) = (callee.free - base, context.memory.local_per_thread() - base);
    if used <= room {
        return Ok(callee);
    }
    let message = format!(
        "stack overflow in `{}`: warp {} is in {} calls at once, and the next frame needs {bytes} bytes where \
         {} of the {room} bytes of a thread's stack are left",
        function.name,
        warp.id,
        warp.stack.depth(),
        room - (used - bytes)
    );
    let hint = "does the recursion end? if it does, give it an input for which it is less deep";
    Err(fault::at(context.program, pc, message, hint))
}

fn open(
    warp: &mut Warp,
    context: &Context,
    pc: Pc,
    groups: &[(Pc, LaneMask, Activation)],
) -> Result<(), Fault> {
    if warp.stack.call_all(groups) {
        return Ok(());
    }
    let message =
        format!("warp {} is in {} calls at once, and no more are supported", warp.id, warp.stack.depth());
    Err(fault::at(context.program, pc, message, "simulate a kernel whose calls nest less deeply"))
}

fn no_function(warp: &Warp, context: &Context, pc: Pc, lane: usize, address: u64) -> Fault {
    let [x, y, z] = context.shape.thread(warp.thread(lane));
    let message = format!(
        "call of address {address:#x}, which is no function of this kernel (lane {lane} of warp {}, thread \
         ({x}, {y}, {z}))",
        warp.id
    );
    let hint = if address < 4096 {
        "this looks like a null pointer: was the pointer, or the object whose virtual function it is, made on the device?"
    } else {
        "a pointer to a function is valid in the module that it was taken in; was the memory it comes from overwritten?"
    };
    fault::at(context.program, pc, message, hint)
}

/// Checks that the function has the signature of the call.
///
/// # Errors
/// Returns an error if the function's parameters or results differ from those of the call.
fn check_target(
    warp: &Warp,
    context: &Context,
    pc: Pc,
    call: &PointerCall,
    function: &Function,
) -> Result<(), Fault> {
    let name = &function.name;
    if call.targets.as_ref().is_some_and(|targets| !targets.contains(&function.address)) {
        let message = format!(
            "call of `{name}`, which is not among the targets of this call (.calltargets; warp {})",
            warp.id
        );
        return Err(fault::at(context.program, pc, message, "list every function that may be called there"));
    }
    let takes: Vec<u32> = function.params.iter().map(|(_, bytes)| *bytes).collect();
    let returns: Vec<u32> = function.returns.iter().map(|(_, bytes)| *bytes).collect();
    let passed: Vec<u32> = call.args.iter().map(|(_, bytes)| *bytes).collect();
    let expected: Vec<u32> = call.results.iter().map(|(_, bytes)| *bytes).collect();
    if (&takes, &returns) == (&passed, &expected) {
        return Ok(());
    }
    let message = format!(
        "call of `{name}` with another prototype: it takes {} and returns {}, but the call passes {} and expects {} (warp {})",
        sizes(&takes),
        sizes(&returns),
        sizes(&passed),
        sizes(&expected),
        warp.id
    );
    Err(fault::at(context.program, pc, message, "call a function through a pointer of its own type"))
}

/// Formats sizes as in `values of 4, 8 bytes`.
fn sizes(list: &[u32]) -> String {
    match list {
        [] => "nothing".to_owned(),
        [one] => format!("{one} bytes"),
        list => {
            let sizes: Vec<String> = list.iter().map(u32::to_string).collect();
            format!("values of {} bytes", sizes.join(", "))
        }
    }
}

/// Saves the registers of a function that is about to be called at a depth.
fn save_registers(warp: &mut Warp, function: &Function, depth: usize) {
    let mut saved = SavedRegisters { depth, narrow: Vec::new(), wide: Vec::new(), preds: Vec::new() };
    for &reg in registers(function) {
        match warp.map.place(reg) {
            RegisterRow::Pred => saved.preds.push(warp.registers.preds[reg.index()]),
            RegisterRow::Narrow(row) => saved.narrow.push(warp.registers.narrow[row as usize]),
            RegisterRow::Wide(row) => saved.wide.push(warp.registers.wide[row as usize]),
        }
    }
    warp.saved.push(saved);
}

/// Discards the registers that were saved for calls that have ended.
pub(super) fn forget(warp: &mut Warp) {
    let depth = warp.stack.depth();
    while warp.saved.last().is_some_and(|saved| saved.depth >= depth) {
        warp.saved.pop();
    }
}

/// Restores the registers of the running function to their values before its call.
fn restore_registers(warp: &mut Warp, function: &Function, lanes: LaneMask) {
    let depth = warp.stack.depth() - 1;
    let Some(saved) = warp.saved.iter().rfind(|saved| saved.depth == depth) else { return };
    let (mut narrow, mut wide, mut preds) = (saved.narrow.iter(), saved.wide.iter(), saved.preds.iter());
    let all = &mut warp.registers;
    for &reg in registers(function) {
        match warp.map.place(reg) {
            RegisterRow::Pred => {
                if let Some(&old) = preds.next() {
                    let pred = &mut all.preds[reg.index()];
                    *pred = (*pred - lanes) | (old & lanes);
                }
            }
            RegisterRow::Narrow(row) => {
                if let Some(old) = narrow.next() {
                    lanes.lanes().for_each(|lane| all.narrow[row as usize].0[lane] = old.0[lane]);
                }
            }
            RegisterRow::Wide(row) => {
                if let Some(old) = wide.next() {
                    lanes.lanes().for_each(|lane| all.wide[row as usize].0[lane] = old.0[lane]);
                }
            }
        }
    }
}

fn registers(function: &Function) -> &[RegId] {
    function.frame.as_ref().map_or(&[], |frame| &frame.registers)
}

/// Returns the bytes at these places, value by value, and for each value lane by lane.
fn read(
    warp: &Warp,
    context: &mut Context,
    places: &[(ArgLocation, u32)],
    lanes: LaneMask,
    base: u64,
) -> Vec<u8> {
    let mut values = Vec::new();
    for &(place, bytes) in places {
        let size = bytes as usize;
        for lane in lanes.lanes() {
            let end = values.len() + size;
            match resolved(place, base) {
                ArgLocation::Local(offset) | ArgLocation::Frame(offset) => {
                    let local = context.memory.local_mut(warp.thread(lane));
                    let from = local.get(offset as usize..).unwrap_or_default();
                    values.extend(from.iter().take(size));
                }
                ArgLocation::Reg(reg) => {
                    values.extend(register(warp, reg, lane).to_le_bytes().iter().take(size))
                }
                ArgLocation::Imm(value) => values.extend(value.to_le_bytes().iter().take(size)),
            }
            values.resize(end, 0);
        }
    }
    values
}

/// Writes the bytes that [`read`] returned to other places.
fn write(
    warp: &mut Warp,
    context: &mut Context,
    places: &[(ArgLocation, u32)],
    values: &[u8],
    lanes: LaneMask,
    base: u64,
) {
    let mut left = values;
    for &(place, bytes) in places {
        for lane in lanes.lanes() {
            let Some((value, rest)) = left.split_at_checked(bytes as usize) else { return };
            left = rest;
            match resolved(place, base) {
                ArgLocation::Local(offset) | ArgLocation::Frame(offset) => {
                    let local = context.memory.local_mut(warp.thread(lane));
                    let to = local.get_mut(offset as usize..).unwrap_or_default();
                    to.iter_mut().zip(value).for_each(|(to, from)| *to = *from);
                }
                ArgLocation::Reg(reg) => {
                    let number = value.iter().take(8).rev().fold(0, |sum, &byte| sum << 8 | u64::from(byte));
                    if warp.map.place(reg) == RegisterRow::Pred {
                        let holds = if number != 0 { LaneMask::ALL } else { LaneMask::empty() };
                        warp.set_pred(reg, holds, LaneMask::lane(lane));
                    } else {
                        warp.set_in(reg, lane, number);
                    }
                }
                ArgLocation::Imm(_) => {}
            }
        }
    }
}

fn resolved(place: ArgLocation, base: u64) -> ArgLocation {
    match place {
        ArgLocation::Frame(offset) => ArgLocation::Local(base.wrapping_add(offset)),
        other => other,
    }
}

fn register(warp: &Warp, reg: RegId, lane: usize) -> u64 {
    if warp.map.place(reg) == RegisterRow::Pred {
        u64::from(warp.registers.preds[reg.index()].has(lane))
    } else {
        warp.get(reg, lane)
    }
}

/// Moves one argument or result from the first base to the second, for functions whose places do
/// not overlap with those of their caller.
fn move_at_once(
    warp: &mut Warp,
    context: &mut Context,
    transfer: &Transfer,
    enabled: LaneMask,
    [from_base, to_base]: [u64; 2],
) {
    let size = transfer.bytes as usize;
    let (from, to) = (resolved(transfer.from, from_base), resolved(transfer.to, to_base));
    for lane in enabled.lanes() {
        let local = context.memory.local_mut(warp.thread(lane));
        let value = match from {
            ArgLocation::Local(offset) | ArgLocation::Frame(offset) => {
                if let ArgLocation::Local(to) = to {
                    copy_within(local, offset as usize, to as usize, size);
                    continue;
                }
                let bytes = local.get(offset as usize..).unwrap_or(&[]);
                bytes.iter().take(size.min(8)).rev().fold(0, |value, &byte| value << 8 | u64::from(byte))
            }
            ArgLocation::Reg(reg) => register(warp, reg, lane),
            ArgLocation::Imm(value) => value,
        };
        match to {
            ArgLocation::Local(offset) | ArgLocation::Frame(offset) => {
                let place = local.get_mut(offset as usize..).unwrap_or(&mut []);
                let bytes = value.to_le_bytes();
                place.iter_mut().take(size).zip(bytes).for_each(|(to, from)| *to = from);
            }
            ArgLocation::Reg(reg) if warp.map.place(reg) == RegisterRow::Pred => {
                let holds = if value != 0 { LaneMask::ALL } else { LaneMask::empty() };
                warp.set_pred(reg, holds, LaneMask::lane(lane));
            }
            ArgLocation::Reg(reg) => warp.set_in(reg, lane, value & width_mask(8 * transfer.bytes.min(8))),
            ArgLocation::Imm(_) => {}
        }
    }
}

fn copy_within(bytes: &mut [u8], from: usize, to: usize, size: usize) {
    if from.max(to).checked_add(size).is_some_and(|end| end <= bytes.len()) {
        bytes.copy_within(from..from + size, to);
    }
}
