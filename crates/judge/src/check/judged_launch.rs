//! The judged run of a launch under one policy.

use serde::{Deserialize, Serialize};

use super::verdict::{BlockTable, BoundRow, Verdict, WarpRow, Why};
use warpbound_bound::Schedules;
use warpbound_core::base::Cycles;
use warpbound_core::diag::Diagnostics;
use warpbound_core::machine::PolicyKind;
use warpbound_exec::races::Race;
use warpbound_sim::{MemoryStats, SubCoreResult};
use warpbound_trace::trace::{StallReason, Stalls};

/// The judged run of a launch under one policy.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct JudgedLaunch {
    /// The policy.
    pub policy: String,
    /// The makespan of the launch; the sum over the blocks if they run one after the other.
    pub makespan: Cycles,
    /// The largest number of blocks that an SM holds at a time.
    pub resident_blocks: u32,
    /// One row per warp, if the launch has a single block.
    #[serde(skip)]
    pub warps: Vec<WarpRow>,
    /// Every bound, over the launch.
    pub bounds: Vec<BoundRow>,
    /// Every block that was simulated to its end.
    pub blocks: BlockTable,
    /// The number of blocks of the launch. It exceeds the number of blocks above if the run was
    /// stopped early. Everything else then refers to the part of the run up to that point.
    pub launch_blocks: u32,
    /// The number of instructions issued, including those of blocks that were not simulated to
    /// their end.
    pub issues: u64,
    /// The idle issue slots by reason; together with the issues they add up to the makespan times
    /// the number of sub-cores.
    pub stalls: Stalls,
    /// The statistics of the memory system, if the machine has one that is not perfect.
    pub memory: Option<MemoryStats>,
    /// The result of each sub-core, SM by SM.
    pub sub_cores: Vec<SubCoreResult>,
    /// The number of SMs of the machine.
    pub sms: usize,
    /// The number of warp executions of instructions, including `ret`, in the blocks that were
    /// simulated to their end.
    pub warp_instructions: u64,
    /// The number of active, not predicated-off lanes over all instructions.
    pub thread_instructions: u64,
    /// The number of warps compared in the self-check; 0 if none was requested.
    pub self_checked_warps: u64,
    /// Remarks on what is not modelled and may affect the result.
    pub notes: Vec<String>,
    /// Pairs of accesses whose order matters. If there are any, no bound is judged.
    pub races: Vec<Race>,
    /// The reason why such accesses were not looked for, if they were not. The verdicts are then
    /// about the paths of this run's order only.
    pub races_not_looked_for: Option<Why>,
    /// Whether some barrier involves only some warps of its block.
    #[serde(default)]
    pub partial_barriers: bool,
    /// The reason why the paths are not valid for every order of accesses, if they are not. No
    /// bound is judged then.
    pub decided_by_order: Option<Why>,
}

impl JudgedLaunch {
    /// Creates a result that has these bounds and contains no block.
    pub(super) fn empty(policy: String, bounds: Vec<BoundRow>, sub_cores: usize) -> Self {
        Self {
            policy,
            makespan: Cycles::ZERO,
            warps: Vec::new(),
            blocks: BlockTable::new(bounds.len()),
            bounds,
            launch_blocks: 0,
            issues: 0,
            stalls: Stalls::default(),
            memory: None,
            sub_cores: vec![SubCoreResult::default(); sub_cores],
            sms: 0,
            resident_blocks: 0,
            warp_instructions: 0,
            thread_instructions: 0,
            self_checked_warps: 0,
            notes: Vec::new(),
            races: Vec::new(),
            races_not_looked_for: None,
            partial_barriers: false,
            decided_by_order: None,
        }
    }

    /// Returns whether every block was simulated to its end.
    pub fn is_complete(&self) -> bool {
        self.blocks.len() == self.launch_blocks as usize
    }

    /// Returns the verdict over all gating bounds: violated if one is violated; else holds if one
    /// holds; else not applicable.
    pub fn verdict(&self) -> Verdict {
        Verdict::combine(self.bounds.iter().filter(|bound| bound.gates).map(BoundRow::verdict))
    }

    /// Returns the bounds that are intended for runs of this kind.
    pub fn judged(&self) -> impl Iterator<Item = &BoundRow> {
        self.bounds.iter().filter(|bound| !bound.left_out)
    }

    /// Returns the schedules of this run under the policy, as a premise of bounds.
    pub fn schedules(&self, policy: &PolicyKind) -> Schedules {
        let passed_over = self.stalls.get(StallReason::NotMyTurn) > Cycles::ZERO;
        Schedules::Run { policy: policy.clone(), passed_over: Some(passed_over) }
    }

    /// Returns the issues divided by the issue slots, of which each sub-core has one per cycle of
    /// the makespan.
    pub fn issue_utilisation(&self) -> f64 {
        self.utilisation(self.issues, self.sub_cores.len())
    }

    /// Returns the issues of one sub-core divided by the makespan.
    pub fn sub_core_utilisation(&self, sub_core: usize) -> f64 {
        self.utilisation(self.sub_cores[sub_core].issues, 1)
    }

    fn utilisation(&self, issues: u64, sub_cores: usize) -> f64 {
        let slots = self.makespan.get() as f64 * sub_cores as f64;
        if slots == 0.0 { 0.0 } else { issues as f64 / slots }
    }
}

/// A run whose verdicts depend on a fact that is known only at its end: whether its paths are also
/// valid for other orders of accesses. [`Self::settle`](Unsettled::settle) turns it into a run that
/// can be reported.
#[derive(Clone, Debug)]
pub(super) struct Unsettled(pub(super) JudgedLaunch);

impl Unsettled {
    /// Returns whether every block was simulated to its end.
    pub fn is_complete(&self) -> bool {
        self.0.is_complete()
    }
}

/// A run that ended with an error.
#[derive(Clone, Debug)]
pub struct Failed<C = JudgedLaunch> {
    /// The error.
    pub problems: Diagnostics,
    /// The results judged before the error, in the order of the policies as far as they were run.
    /// They stay valid, including any violation.
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
    /// Puts these earlier results before the ones judged so far.
    pub(super) fn after(mut self, before: Vec<C>) -> Self {
        self.judged.splice(..0, before);
        self
    }
}
