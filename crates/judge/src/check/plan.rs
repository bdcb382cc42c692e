//! The plan of a check: what to run, and how.

use super::options::RunOptions;
use super::workload::Workload;
use warpbound_core::diag::{Diagnostic, Diagnostics};
use warpbound_core::machine::Machine;
use warpbound_exec::Options;
use warpbound_exec::races::BlockOrder;
use warpbound_sim::PolicySetup;

/// The plan of a check: what to run, and how.
#[derive(Clone, Copy)]
pub struct Plan<'a> {
    /// The kernel.
    pub workload: &'a Workload,
    /// The machine.
    pub machine: &'a Machine,
    /// The policies; all of them replay the same functional run.
    pub policies: &'a [PolicySetup],
    /// How the runs are executed, and what is judged.
    pub options: RunOptions<'a>,
}

impl Plan<'_> {
    /// Returns whether control codes are compared with the dependences that they represent.
    pub fn checks_control_codes(&self) -> bool {
        self.options.self_check && self.workload.program().machine_code.is_some()
    }

    /// Returns whether control codes are compared with the dependences on the paths of the warps. If
    /// the times that accesses need are known, [`super::hazards`] checks every way instead.
    pub fn follows_control_codes(&self) -> bool {
        let code = self.workload.program().machine_code.as_ref();
        self.checks_control_codes() && code.is_some_and(|code| code.hazards.is_none())
    }

    /// Returns the options of the functional run.
    ///
    /// # Errors
    /// Returns an error for a block that is larger than an SM.
    pub fn exec_options(&self) -> Result<Options, Diagnostics> {
        let side_by_side = resident_blocks(self)? > 1 || self.machine.sms() > 1 && self.workload.blocks() > 1;
        let order = if side_by_side { BlockOrder::SideBySide } else { BlockOrder::OneByOne };
        let options = Options::of(self.machine, self.options.max_instructions_per_block);
        Ok(options.watching(self.options.race_memory, order))
    }

    /// Returns whether functional execution runs ahead of the simulation. With a single block there
    /// is nothing to gain.
    pub fn runs_ahead(&self) -> bool {
        self.options.ahead && self.workload.blocks() > 1
    }
}

/// Returns the number of blocks of the launch that an SM of the machine holds at a time.
pub(super) fn resident_blocks(plan: &Plan) -> Result<u32, Diagnostics> {
    resident_blocks_on(plan.workload, plan.machine)
}

/// Returns the number of blocks of a launch that an SM of a machine holds at a time.
pub(super) fn resident_blocks_on(workload: &Workload, machine: &Machine) -> Result<u32, Diagnostics> {
    let (limits, needs) = (machine.limits(), workload.needs());
    let occupancy = limits.occupancy(&needs).map_err(|error| {
        let requests =
            needs.shared_bytes > limits.shared_bytes_per_block && needs.shared_bytes <= limits.shared_bytes;
        let hint = if requests {
            format!(
                "a block gets more if the host requests it, up to the {} bytes of an SM: \
                 --set limits.shared_bytes_per_block={}",
                limits.shared_bytes, needs.shared_bytes
            )
        } else {
            format!("choose a smaller block, or another machine than `{}`", machine.name())
        };
        Diagnostic::general(workload.name.clone(), format!("block larger than the SM holds: {error}"))
            .hint(hint)
    })?;
    Ok(occupancy.blocks.min(workload.blocks()))
}
