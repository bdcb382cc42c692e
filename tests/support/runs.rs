//! Helpers that run launches on a machine.
#![allow(dead_code, reason = "each test file uses a part")]

use warpbound::base::ProgressMonitor;
use warpbound::bound;
use warpbound::check::{JudgedLaunch, Plan, RunOptions, Workload, WorkloadKind, check};
use warpbound::exec::Options;
use warpbound::machine::Machine;
use warpbound::program::launch::Launch;
use warpbound::program::{KernelCode, TimingTable};
use warpbound::sim::{BlockResult, CarriedState, PolicySetup, SimSummary, simulate, simulate_after};
use warpbound::trace::Observer;

pub fn workload(name: &str, program: KernelCode, launch: Launch) -> Workload {
    let kind = WorkloadKind::Launch { program: Box::new(program), launch: Box::new(launch) };
    Workload { name: name.to_owned(), kind }
}

/// Evaluates every bound and the self-check, under gto and lrr.
pub fn judged(workload: &Workload, machine: &Machine, race_memory: Option<usize>) -> Vec<JudgedLaunch> {
    let (bounds, monitor) = (bound::all(), ProgressMonitor::new());
    let options =
        RunOptions::new(1 << 22, &monitor).judged_by(&bounds, &[]).race_memory(race_memory).self_check(true);
    let plan = Plan { workload, machine, policies: &[PolicySetup::Gto, PolicySetup::Lrr], options };
    check(&plan).unwrap_or_else(|failed| panic!("{}", failed.problems))
}

fn resident(workload: &Workload, machine: &Machine) -> u32 {
    machine.limits().occupancy(&workload.needs()).unwrap().blocks.min(workload.blocks())
}

/// Runs a launch with the largest number of resident blocks.
pub fn run(
    workload: &Workload,
    machine: &Machine,
    policy: &PolicySetup,
    observer: &mut impl Observer,
) -> SimSummary {
    let table = TimingTable::new(workload.program(), machine).unwrap();
    let monitor = ProgressMonitor::new();
    let mut source = workload.source(Options::of(machine, 1 << 26), &monitor).unwrap();
    let resident = resident(workload, machine);
    let summary = simulate(&mut source, &table, machine, policy, resident, observer, |_, _| {}).unwrap();
    // a machine that issues two instructions in a cycle uses one slot for both
    if machine.pipeline().is_none_or(|pipeline| pipeline.issue.per_warp == 1) {
        let slots = summary.issues + summary.stalls.total().get();
        let all = summary.makespan.get() * (machine.sub_cores().count() * machine.sms()) as u64;
        assert_eq!(slots, all, "{}: issues and stalls fill the time of every sub-core", workload.name);
    }
    summary
}

/// Runs a launch on several threads and returns the times of each block, too.
pub fn run_on(
    threads: usize,
    workload: &Workload,
    machine: &Machine,
    policy: &PolicySetup,
) -> (SimSummary, Vec<BlockResult>) {
    observed_on(threads, workload, machine, policy, &mut ())
}

/// Runs a launch as [`run_on`] does, with an observer.
pub fn observed_on(
    threads: usize,
    workload: &Workload,
    machine: &Machine,
    policy: &PolicySetup,
    observer: &mut impl Observer,
) -> (SimSummary, Vec<BlockResult>) {
    let table = TimingTable::new(workload.program(), machine).unwrap();
    let monitor = ProgressMonitor::new();
    let mut source = workload.source(Options::of(machine, 1 << 26), &monitor).unwrap();
    let resident = resident(workload, machine);
    let mut blocks = Vec::new();
    let on_block = |result: &BlockResult, _: &_| blocks.push(result.clone());
    let summary = simulate_after(
        &mut CarriedState::default(),
        threads,
        &mut source,
        &table,
        machine,
        policy,
        resident,
        observer,
        on_block,
    )
    .unwrap();
    (summary, blocks)
}
