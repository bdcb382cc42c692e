//! A run under one policy, judged.

use serde::{Deserialize, Serialize};

use super::judge::{BlockTable, BoundRow, Verdict, WarpRow, Why};
use crate::base::Cycles;
use crate::bound::Schedules;
use crate::diag::Diagnostics;
use crate::exec::races::Race;
use crate::machine::SchedulerKind;
use crate::sim::{MemoryStats, SubCoreResult};
use crate::trace::{StallReason, Stalls};

/// A run under one policy, judged.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Checked {
    /// The policy.
    pub scheduler: String,
    /// Of the launch: of blocks one after the other, the sum.
    pub makespan: Cycles,
    /// Blocks that an SM holds at a time, at most.
    pub resident_blocks: u32,
    /// Per warp, if there is one block.
    #[serde(skip)]
    pub warps: Vec<WarpRow>,
    /// Every bound over the launch.
    pub bounds: Vec<BoundRow>,
    /// Every block that was simulated to its end.
    pub blocks: BlockTable,
    /// Blocks of the launch; more than those above if the run was ended early. Everything else is then
    /// about the run up to there.
    pub launch_blocks: u32,
    /// Instructions issued, those of blocks that were not simulated to their end included.
    pub issues: u64,
    /// Idle issue slots by reason; with the issues they add up to the makespan times the number of
    /// sub-cores.
    pub stalls: Stalls,
    /// What happened in the memory, if the machine has one that is not perfect.
    pub memory: Option<MemoryStats>,
    /// Each sub-core, SM by SM.
    pub sub_cores: Vec<SubCoreResult>,
    /// SMs of the machine.
    pub sms: usize,
    /// Warp executions of instructions, `ret` included, in the blocks that were simulated to their end.
    pub warp_instructions: u64,
    /// Active, not predicated-off lanes over all instructions.
    pub thread_instructions: u64,
    /// Warps compared in the self-check, if one was asked for.
    pub self_checked_warps: u64,
    /// Why the result may depend on what is not modelled.
    pub notes: Vec<String>,
    /// Accesses whose order shows; no bound is judged then.
    pub races: Vec<Race>,
    /// Why such accesses were not looked for, if they were not. Verdicts are about the paths of this run's order only.
    pub races_not_looked_for: Option<Why>,
    /// Why the paths are not those of every order of accesses, if they are not: no bound is judged then.
    pub decided_by_order: Option<Why>,
}

impl Checked {
    /// Whether every block was simulated to its end.
    pub fn is_complete(&self) -> bool {
        self.blocks.len() == self.launch_blocks as usize
    }

    /// Violated if a gating bound is; else holds if one does; else not applicable.
    pub fn verdict(&self) -> Verdict {
        Verdict::combine(self.bounds.iter().filter(|bound| bound.gates).map(BoundRow::verdict))
    }

    /// The bounds that are for runs of this kind.
    pub fn judged(&self) -> impl Iterator<Item = &BoundRow> {
        self.bounds.iter().filter(|bound| !bound.left_out)
    }

    /// What was run under this policy, as a premise of bounds.
    pub fn schedules(&self, policy: &SchedulerKind) -> Schedules {
        let passed_over = self.stalls.get(StallReason::NotMyTurn) > Cycles::ZERO;
        Schedules::Run { policy: policy.clone(), passed_over: Some(passed_over) }
    }

    /// Issues over issue slots: the makespan, once for each sub-core.
    pub fn issue_utilisation(&self) -> f64 {
        self.utilisation(self.issues, self.sub_cores.len())
    }

    /// Issues of one sub-core over the makespan.
    pub fn sub_core_utilisation(&self, sub_core: usize) -> f64 {
        self.utilisation(self.sub_cores[sub_core].issues, 1)
    }

    fn utilisation(&self, issues: u64, sub_cores: usize) -> f64 {
        let slots = self.makespan.get() as f64 * sub_cores as f64;
        if slots == 0.0 { 0.0 } else { issues as f64 / slots }
    }
}

/// A run whose verdicts wait for what is known at its end only: whether its paths are those of other orders of
/// accesses, too. [`Self::settle`](Unsettled::settle) turns it into one that can be reported.
#[derive(Clone, Debug)]
pub struct Unsettled(pub(super) Checked);

impl Unsettled {
    /// Whether every block was simulated to its end.
    pub fn is_complete(&self) -> bool {
        self.0.is_complete()
    }
}

/// A run that ended with an error.
#[derive(Clone, Debug)]
pub struct Failed<C = Checked> {
    /// The error.
    pub problems: Diagnostics,
    /// What was judged before, in the order of the policies as far as they were run. It stays true: a
    /// violation among it is one.
    pub judged: Vec<C>,
}

impl<C> From<Diagnostics> for Failed<C> {
    fn from(problems: Diagnostics) -> Self {
        Self { problems, judged: Vec::new() }
    }
}

impl<C> From<Failed<C>> for Diagnostics {
    fn from(failed: Failed<C>) -> Self {
        failed.problems
    }
}

impl<C> Failed<C> {
    /// After these results.
    pub(super) fn after(mut self, before: Vec<C>) -> Self {
        self.judged.splice(..0, before);
        self
    }
}
