//! What to run, and what to judge.

use super::workload::Workload;
use crate::base::Watch;
use crate::bound::Bound;
use crate::diag::{Diagnostic, Diagnostics};
use crate::exec::Options;
use crate::exec::races::BlockOrder;
use crate::machine::Machine;
use crate::sim::PolicySetup;

/// What to run and what to judge.
pub struct Plan<'a> {
    /// The kernel.
    pub workload: &'a Workload,
    /// The machine.
    pub machine: &'a Machine,
    /// The policies; all of them replay the same functional run.
    pub policies: &'a [PolicySetup],
    /// The bounds.
    pub bounds: &'a [Box<dyn Bound>],
    /// Names of the bounds that decide the verdict; empty for all.
    pub gating: &'a [String],
    /// Fuel of the functional run.
    pub max_instructions_per_block: u64,
    /// Threads for machines with several SMs; they change no result.
    pub threads: usize,
    /// Whether blocks are executed on a thread of their own while earlier ones are simulated, which
    /// changes no result either.
    pub ahead: bool,
    /// Whether to compare the analyser with the simulator on every warp alone.
    pub self_check: bool,
    /// Hears of every block that a policy is through with, and may end the run.
    pub watch: &'a Watch,
    /// Whether to watch for accesses whose order shows, without which no verdict stands: bytes of
    /// memory that the watch may take. `None` trusts the kernel.
    pub race_memory: Option<usize>,
}

impl Plan<'_> {
    /// Whether control codes are held against the dependences that they stand for.
    pub fn checks_control_codes(&self) -> bool {
        self.self_check && self.workload.program().machine_code.is_some()
    }

    /// How the functional run goes.
    ///
    /// # Errors
    /// A block that is larger than an SM.
    pub fn options(&self) -> Result<Options, Diagnostics> {
        let side_by_side = resident_blocks(self)? > 1 || self.machine.sms() > 1 && self.workload.blocks() > 1;
        let order = if side_by_side { BlockOrder::SideBySide } else { BlockOrder::OneByOne };
        let options = Options::of(self.machine, self.max_instructions_per_block);
        Ok(options.watching(self.race_memory, order))
    }

    /// Whether functional execution runs ahead: a single block has nothing to be ahead of.
    pub fn runs_ahead(&self) -> bool {
        self.ahead && self.workload.blocks() > 1
    }
}

/// Blocks of the launch that an SM of the machine holds together.
pub(super) fn resident_blocks(plan: &Plan) -> Result<u32, Diagnostics> {
    resident_blocks_on(plan.workload, plan.machine)
}

/// Blocks of a launch that an SM of a machine holds together.
pub(super) fn resident_blocks_on(workload: &Workload, machine: &Machine) -> Result<u32, Diagnostics> {
    let occupancy = machine.limits().occupancy(&workload.needs()).map_err(|error| {
        Diagnostic::general(workload.name.clone(), format!("block larger than the SM holds: {error}"))
            .hint(format!("choose a smaller block, or another machine than `{}`", machine.name()))
    })?;
    Ok(occupancy.blocks.min(workload.blocks()))
}
