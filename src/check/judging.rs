//! What the analyser says of a block, and what becomes of it under a policy.

use super::judge::{BlockTable, BoundRow, Status, WarpRow};
use super::run::{Checked, Plan};
use crate::base::{Cycles, WarpId};
use crate::bound::{Analyser, Bound, BoundReport, Context, WarpTotals};
use crate::machine::SchedulerKind;
use crate::path::BlockPaths;
use crate::program::TimingTable;
use crate::sim::{BlockResult, PolicySetup, SubCoreResult};
use crate::trace::Stalls;

/// Strict round robin is judged over the order of turns, which costs a pass of its own.
pub(super) fn analyser<'t>(plan: &Plan, table: &'t TimingTable) -> Analyser<'t> {
    let srr = plan.policies.iter().any(|policy| policy.kind() == SchedulerKind::Srr);
    if srr { Analyser::new(table).in_turns() } else { Analyser::new(table) }
}

/// What the analyser says of a block: the same under every policy.
pub(super) struct Analysed {
    /// One per bound of the plan, whether or not it applies.
    reports: Vec<BoundReport>,
    warps: Vec<WarpTotals>,
}

impl Analysed {
    /// On a machine to which no bound applies: only what is said of the warps of a single block.
    pub fn without_bounds(plan: &Plan, analyser: &mut Analyser, paths: &BlockPaths) -> Self {
        let warps = if plan.workload.blocks() == 1 { analyser.alone(paths) } else { Vec::new() };
        Self { reports: vec![BoundReport::default(); plan.bounds.len()], warps }
    }

    pub fn new(plan: &Plan, analyser: &mut Analyser, paths: &BlockPaths) -> Self {
        let mut reports = vec![BoundReport::default(); plan.bounds.len()];
        let mut warps = vec![WarpTotals::default(); paths.warps.len()];
        analyser.for_each_section(paths, |section| {
            for (bound, report) in plan.bounds.iter().zip(&mut reports) {
                bound.add_section(report, section);
            }
            for (total, warp) in warps.iter_mut().zip(section.warps()) {
                total.add(warp);
            }
        });
        Self { reports, warps }
    }
}

/// Collects what becomes of one policy.
pub(super) struct Judge<'a> {
    plan: &'a Plan<'a>,
    pub policy: &'a PolicySetup,
    resident: u32,
    pub total: Checked,
}

impl<'a> Judge<'a> {
    pub fn new(plan: &'a Plan, policy: &'a PolicySetup, resident: u32) -> Self {
        // a conjecture decides nothing unless the user names it
        let gates = |bound: &dyn Bound| {
            let named = plan.gating.iter().any(|gating| gating == bound.name());
            named || plan.gating.is_empty() && bound.standing().gates()
        };
        let bounds = plan.bounds.iter().map(|bound| BoundRow {
            name: bound.name(),
            value: Some(Cycles::ZERO),
            status: Status::Holds,
            reason: None,
            gates: gates(bound.as_ref()),
            standing: bound.standing(),
            other_policy: bound.policy().is_some_and(|only| only != policy.kind()),
        });
        let total = Checked {
            scheduler: policy.kind().to_string(),
            makespan: Cycles::ZERO,
            warps: Vec::new(),
            bounds: bounds.collect(),
            blocks: BlockTable::new(plan.bounds.len()),
            launch_blocks: plan.workload.blocks(),
            issues: 0,
            stalls: Stalls::default(),
            memory: None,
            sub_cores: vec![SubCoreResult::default(); plan.machine.sub_cores().count()],
            sms: plan.machine.sms(),
            warp_instructions: 0,
            thread_instructions: 0,
            self_checked_warps: 0,
            notes: Vec::new(),
            races: Vec::new(),
        };
        Self { plan, policy, resident, total }
    }

    /// What bounds may rely on. `passed_over` says whether a ready warp was.
    fn context(&self, partial_barriers: bool, passed_over: bool) -> Context {
        let kind = self.policy.kind();
        Context {
            // a file promises nothing, but what it did can be seen
            work_conserving: kind.work_conserving().or(Some(!passed_over)),
            beyond: self.plan.machine.beyond_the_paper_model(),
            ..Context::new(&kind, self.resident, partial_barriers)
        }
    }

    /// Whether some bound may apply to some block.
    pub fn may_apply(&self) -> bool {
        let context = self.context(false, false);
        self.plan.bounds.iter().any(|bound| bound.applicable(&context).is_ok())
    }

    /// The result, with what a reader must know about it.
    pub fn finish(self, notes: Vec<String>) -> Checked {
        let mut total = Checked { notes, ..self.total };
        if total.blocks.is_empty() {
            // a bound that nothing was held against does not hold
            for row in &mut total.bounds {
                row.value = None;
                row.status = Status::NotApplicable;
                row.reason.get_or_insert_with(|| "no block was simulated to its end".to_owned());
            }
        }
        total
    }

    pub fn block(
        &mut self,
        result: &BlockResult,
        paths: &BlockPaths,
        analysed: &Analysed,
        passed_over: bool,
    ) {
        let context = self.context(paths.partial_barriers, passed_over);
        let total = &mut self.total;
        total.issues += result.issues;
        total.warp_instructions += paths.warp_instructions();
        total.thread_instructions += paths.thread_instructions;
        let mut values = Vec::with_capacity(self.plan.bounds.len());
        let reports = self.plan.bounds.iter().zip(&analysed.reports);
        for ((bound, report), row) in reports.zip(&mut total.bounds) {
            match bound.applicable(&context) {
                Ok(()) => {
                    let value = report.value;
                    values.push(Some(value.cycles()));
                    row.value = row.value.map(|sum| sum + value.cycles());
                    if row.status == Status::Holds {
                        row.status = Status::of(result.makespan, Some(value.cycles()));
                    }
                }
                Err(reason) => {
                    values.push(None);
                    row.value = None;
                    row.reason.get_or_insert(reason.to_string());
                    // what was broken in an earlier block stays broken
                    if row.status != Status::Violated {
                        row.status = Status::NotApplicable;
                    }
                }
            }
        }
        total.blocks.push(result.makespan, values);
        if self.plan.workload.blocks() == 1 {
            total.warps = result
                .warps
                .iter()
                .zip(&analysed.warps)
                .enumerate()
                .map(|(index, (simulated, alone))| WarpRow {
                    warp: WarpId::from_index(index),
                    finish: simulated.finish,
                    isolated: alone.isolated,
                    exec: alone.exec,
                    idle: alone.idle,
                })
                .collect();
        }
    }
}
