//! Returns to an address in a register, as machine code returns.

use super::context::Context;
use super::fault::{self, Fault};
use super::lanes::width_mask;
use super::warp::Warp;
use warpbound_core::base::{LaneMask, Pc};
use warpbound_core::program::sem::Operand;

/// Checks that `lanes` return to the instruction after the call of the running function.
///
/// # Errors
/// Returns an error if a lane returns to another address, or if no function runs.
pub(super) fn check(
    warp: &Warp,
    context: &Context,
    pc: Pc,
    address: Operand,
    lanes: LaneMask,
) -> Result<(), Fault> {
    let program = context.program;
    let call = warp.stack.caller().map(|call| program.instr(call));
    let expected = call.and_then(|call| program.machine_code.as_ref()?.after(call)).map(u64::from);
    for lane in lanes.lanes() {
        let found = warp.operand_in(address, &context.shape, lane) & width_mask(32);
        if expected != Some(found) {
            let wanted = expected.map_or_else(
                || "no call is open that it could return from".to_owned(),
                |expected| format!("the call that it returns from ends at {expected:#x}"),
            );
            let message = format!(
                "a function returns to another address than that of its call: lane {lane} of warp {} goes to \
                 {found:#x}, and {wanted}",
                warp.id
            );
            let hint = "was the register or the stack that holds the address overwritten?";
            return Err(fault::at(program, pc, message, hint));
        }
    }
    Ok(())
}
