//! A judged run under one policy, with an observer.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::ahead::{Source, ahead};
use super::analysing::analysing;
use super::clock::{Clock, Timed};
use super::judge::{Analysers, Found, Judge};
use super::judged_launch::{Failed, Unsettled};
use super::left::Left;
use super::plan::{Plan, resident_blocks};
use super::result_times::ResultTimes;
use super::workload::WorkloadKind;
use warpbound_core::base::{Cycles, ProgressMonitor};
use warpbound_core::diag::{Diagnostic, Diagnostics};
use warpbound_core::path::{BlockPaths, BlockSource, Footprint};
use warpbound_core::program::TimingTable;
use warpbound_sim::{PolicySetup, SimError, simulate_after};
use warpbound_trace::trace::{Event, Needs, Observer, StallReason};

/// Does the same as [`super::observe`], with the blocks of a source, on a machine whose caches and
/// DRAM earlier launches have left in the state `left`; see [`simulate_after`]. When the run has
/// ended, the source knows which dependences on the order of accesses were found.
///
/// # Errors
/// Returns the errors of [`check`](super::check()).
pub(super) fn observe_source(
    left: &mut Left,
    plan: &Plan,
    policy: &PolicySetup,
    source: &mut Source<'_, Diagnostics>,
    observer: &mut dyn Observer,
) -> Result<Unsettled, Failed<Unsettled>> {
    let table = TimingTable::new(plan.workload.program(), plan.machine)?;
    let resident = resident_blocks(plan)?;
    let found = Found::new(source.footprint(), plan.machine, left);
    let mut analysers = Analysers::new(plan, &table, resident, std::slice::from_ref(policy), &found);
    let mut judge = Judge::new(plan, policy, resident, &analysers);
    let mut failed = None;
    let passed_over = Cell::new(false);
    // the run is observed only if it is unknown whether the policy is work conserving
    let watched = policy.kind().work_conserving().is_none();
    let early = ResultTimes::new(plan.workload.program(), plan.checks_control_codes());
    let mut observer = ((PassedOver { seen: &passed_over, watched }, early), observer);
    let mut latest = Cycles::ZERO;
    let (thread, clock) = (plan.runs_ahead(), plan.options.clock);
    let mut timed = Timed { source, clock };
    let requested = judge.may_apply();
    let simulated =
        analysing(&mut timed, plan, (&requested, &mut analysers), thread, |blocks, mut analyses| {
            ahead(blocks, thread, clock, |source| {
                simulate_after(
                    &mut left.simulated,
                    plan.options.threads,
                    &mut Watched { source, monitor: plan.options.monitor },
                    &table,
                    plan.machine,
                    policy,
                    resident,
                    &mut observer,
                    |result, paths| {
                        // the analyser covers the paper model only
                        if plan.options.self_check && failed.is_none() && plan.machine.pipeline().is_none() {
                            match super::self_check(&table, plan.machine, paths) {
                                Ok(checked) => judge.total.self_checked_warps += checked,
                                Err(problem) => failed = Some(problem),
                            }
                        }
                        let analysed = Clock::waiting(clock, || analyses.take(result.block));
                        judge.block(result, paths, &analysed, passed_over.take());
                        latest = latest.max((result.start + result.makespan).since_start());
                        plan.options.monitor.advance(1);
                    },
                )
            })
        });
    let summary = match simulated {
        Ok(summary) => summary,
        Err(error) => {
            judge.total.makespan = latest;
            return Err(Failed::from(sim_problem(plan, policy, error)).after(vec![judge.finish(Vec::new())]));
        }
    };
    if let Some(problem) = failed {
        return Err(problem.into());
    }
    judge.launch(summary.makespan, &analysers);
    if plan.machine.memory().start.is_left() {
        left.lines = analysers.leaves();
    }
    // blocks that did not end have issued instructions, too
    judge.total.issues = summary.issues;
    judge.total.stalls = summary.stalls;
    judge.total.memory = summary.memory;
    judge.total.sub_cores = summary.sub_cores;
    judge.early = observer.0.1;
    Ok(judge.finish([&plan.workload.program().notes[..], &machine_notes(plan)].concat()))
}

/// Returns the notes about the detailed engine that a reader of the tables needs.
fn machine_notes(plan: &Plan) -> Vec<String> {
    let mut notes = Vec::new();
    if !plan.machine.beyond_the_paper_model().is_empty() {
        notes.push("isolated, exec and idle cycles of warps are those of the paper model".to_owned());
    }
    if plan.machine.sms() > 1 {
        notes.push("traces and drawings are those of SM 0 only".to_owned());
    }
    if plan.options.self_check && plan.machine.pipeline().is_some() {
        notes.push("no self-check: the analyser knows lone warps of the paper model only".to_owned());
    }
    let load_store = plan.machine.pipeline().is_some_and(|pipeline| pipeline.load_store.is_some());
    if load_store && matches!(plan.workload.kind, WorkloadKind::Micro(_)) {
        let note = "a .warp kernel has no addresses: its memory instructions run on the units of their \
                    classes, and not on the load/store unit";
        notes.push(note.to_owned());
    }
    notes
}

/// A source that yields no more blocks once the run is stopped.
struct Watched<'a, S> {
    source: &'a mut S,
    monitor: &'a ProgressMonitor,
}

impl<S: BlockSource<Error = Diagnostics>> BlockSource for Watched<'_, S> {
    type Error = Diagnostics;

    fn next_block(&mut self, paths: &mut BlockPaths) -> Result<bool, Diagnostics> {
        if self.is_stopped() { Ok(false) } else { self.source.next_block(paths) }
    }

    fn is_stopped(&self) -> bool {
        self.monitor.is_stopped()
    }

    fn footprint(&self) -> Footprint {
        self.source.footprint()
    }

    fn at_work(&self) -> Option<Arc<AtomicBool>> {
        self.source.at_work()
    }
}

/// Records whether some cycle stayed idle although a warp was ready.
struct PassedOver<'a> {
    seen: &'a Cell<bool>,
    /// Whether the result is needed.
    watched: bool,
}

impl Observer for PassedOver<'_> {
    fn needs(&self) -> Needs {
        if self.watched { Needs::EVENTS } else { Needs::NOTHING }
    }

    fn on(&mut self, event: &Event) {
        if let Event::Idled(idle) = event {
            self.seen.set(self.seen.get() || idle.reason == StallReason::NotMyTurn);
        }
    }
}

pub(super) fn sim_problem(plan: &Plan, policy: &PolicySetup, error: SimError<Diagnostics>) -> Diagnostics {
    match error {
        SimError::Source(problems) => problems,
        other => Diagnostic::general(plan.workload.name.clone(), other.to_string())
            .hint(format!("policy {}, machine {}", policy.kind(), plan.machine.name()))
            .into(),
    }
}
