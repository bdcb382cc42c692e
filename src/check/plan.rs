//! The plan of a check: what to run, and what to judge.

use super::workload::Workload;
use crate::base::Watch;
use crate::bound::Bound;
use crate::diag::{Diagnostic, Diagnostics};
use crate::exec::Options;
use crate::exec::races::BlockOrder;
use crate::machine::Machine;
use crate::sim::PolicySetup;

/// The plan of a check: what to run, and what to judge.
pub struct Plan<'a> {
    /// The kernel.
    pub workload: &'a Workload,
    /// The machine.
    pub machine: &'a Machine,
    /// The policies; all of them replay the same functional run.
    pub policies: &'a [PolicySetup],
    /// The bounds.
    pub bounds: &'a [Box<dyn Bound>],
    /// The names of the bounds that determine the verdict; empty for all.
    pub gating: &'a [String],
    /// The largest number of instructions that the functional run executes per block.
    pub max_instructions_per_block: u64,
    /// The number of threads for machines with several SMs; it does not change any result.
    pub threads: usize,
    /// Whether blocks are executed on a separate thread while earlier ones are simulated. This does
    /// not change any result either.
    pub ahead: bool,
    /// Whether to compare the analyser with the simulator on every warp alone.
    pub self_check: bool,
    /// Is notified of every block that a policy has completed, and can stop the run.
    pub watch: &'a Watch,
    /// The number of bytes that the race detector may use to record accesses whose order matters;
    /// without it no verdict is final. `None` trusts the kernel and disables the detector.
    pub race_memory: Option<usize>,
}

impl Plan<'_> {
    /// Returns whether control codes are compared with the dependences that they represent.
    pub fn checks_control_codes(&self) -> bool {
        self.self_check && self.workload.program().machine_code.is_some()
    }

    /// Returns the options of the functional run.
    ///
    /// # Errors
    /// Returns an error for a block that is larger than an SM.
    pub fn options(&self) -> Result<Options, Diagnostics> {
        let side_by_side = resident_blocks(self)? > 1 || self.machine.sms() > 1 && self.workload.blocks() > 1;
        let order = if side_by_side { BlockOrder::SideBySide } else { BlockOrder::OneByOne };
        let options = Options::of(self.machine, self.max_instructions_per_block);
        Ok(options.watching(self.race_memory, order))
    }

    /// Returns whether functional execution runs ahead of the simulation. With a single block there
    /// is nothing to gain.
    pub fn runs_ahead(&self) -> bool {
        self.ahead && self.workload.blocks() > 1
    }
}

/// Returns the number of blocks of the launch that an SM of the machine holds at a time.
pub(super) fn resident_blocks(plan: &Plan) -> Result<u32, Diagnostics> {
    resident_blocks_on(plan.workload, plan.machine)
}

/// Returns the number of blocks of a launch that an SM of a machine holds at a time.
pub(super) fn resident_blocks_on(workload: &Workload, machine: &Machine) -> Result<u32, Diagnostics> {
    let occupancy = machine.limits().occupancy(&workload.needs()).map_err(|error| {
        Diagnostic::general(workload.name.clone(), format!("block larger than the SM holds: {error}"))
            .hint(format!("choose a smaller block, or another machine than `{}`", machine.name()))
    })?;
    Ok(occupancy.blocks.min(workload.blocks()))
}
