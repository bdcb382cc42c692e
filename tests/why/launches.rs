//! Critical paths of real kernels, on machines of both engines.

use warpbound::machine::Machine;
use warpbound::program::TimingTable;
use warpbound::sim::PolicySetup;
use warpbound::why::{Explainer, Explanation, Kind};

use crate::random::adds_up;
use crate::{runs, shipped};

fn explained(kernel: &str, machine: &Machine, setup: &PolicySetup) -> Explanation {
    let shipped = shipped::launch(kernel);
    let workload = runs::workload(kernel, shipped.program, shipped.launch);
    let table = TimingTable::new(workload.program(), machine).unwrap();
    let mut explainer = Explainer::new(&table, machine, usize::MAX);
    let summary = runs::run(&workload, machine, setup, &mut explainer);
    let found = explainer.finish(summary.makespan).unwrap();
    adds_up(&found, summary.makespan.get());
    found
}

fn cycles(found: &Explanation, kind: Kind) -> u64 {
    found.spent.iter().filter(|spent| spent.kind == kind).map(|spent| spent.cycles.get()).sum()
}

#[test]
fn paper_machines_need_no_kinds_of_the_pipeline() {
    let beyond = [Kind::Memory, Kind::Dispatch, Kind::UnitFull, Kind::Held, Kind::Fetch, Kind::Launch];
    for kernel in ["vecadd", "reduce_shfl", "sgemm_naive", "transpose_naive"] {
        for machine in ["ecrts25-orin", "ecrts25-orin-4sub", "ecrts25-orin-banks"] {
            let machine = shipped::machine_with(machine, &[]);
            for setup in [PolicySetup::Gto, PolicySetup::Lrr] {
                let found = explained(kernel, &machine, &setup);
                for kind in beyond.into_iter().chain([Kind::Turn]) {
                    assert_eq!(cycles(&found, kind), 0, "{kernel}: {kind}");
                }
            }
        }
    }
}

#[test]
fn the_detailed_engine_is_partitioned_as_well() {
    for kernel in ["vecadd", "reduce_shfl", "transpose_naive", "sgemm_naive"] {
        for (machine, settings) in [
            ("accelsim-sm1", &[][..]),
            ("accelsim-ecrts", &[][..]),
            ("accelsim-ecrts-dram", &[][..]),
            ("accelsim-sm1", &["sms=3"][..]),
            ("accelsim-sm1", &["pipeline.issue.per_warp=2"][..]),
            ("accelsim-sm1", &["pipeline.launch.start=20", "pipeline.launch.end=30"][..]),
            ("ecrts25-orin", &["pipeline.front_end.icache.sets=1", "pipeline.front_end.icache.ways=2"][..]),
        ] {
            let machine = shipped::machine_with(machine, settings);
            for setup in [PolicySetup::Gto, PolicySetup::Lrr, PolicySetup::Srr, PolicySetup::TwoLevel] {
                let found = explained(kernel, &machine, &setup);
                assert!(found.makespan.get() > 0);
            }
        }
    }
}

/// A block that reads from a slow memory waits for it; with an instruction cache that is too small,
/// it waits for fetches.
#[test]
fn the_largest_cost_is_named() {
    let far = shipped::machine_with("accelsim-ecrts-dram", &[]);
    let found = explained("vecadd", &far, &PolicySetup::Gto);
    assert!(2 * cycles(&found, Kind::Memory) > found.makespan.get(), "{:?}", found.spent);
    let settings = ["pipeline.front_end.icache.sets=1", "pipeline.front_end.icache.ways=1"];
    let slow = shipped::machine_with("ecrts25-orin", &settings);
    let found = explained("reduce_shfl", &slow, &PolicySetup::Gto);
    assert!(cycles(&found, Kind::Fetch) > 0, "{:?}", found.spent);
    let launching =
        shipped::machine_with("ecrts25-orin", &["pipeline.launch.start=20", "pipeline.launch.end=30"]);
    let found = explained("reduce_shfl", &launching, &PolicySetup::Gto);
    // each of the four blocks is launched separately, and the launch ends once
    assert_eq!(cycles(&found, Kind::Launch), 4 * 20 + 30, "{:?}", found.spent);
}
