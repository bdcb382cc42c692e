//! RBB through `check`, on the suite's launches of several blocks, if several blocks are resident
//! or several SMs share them.

use crate::runs;
use crate::shipped;

use warpbound::base::ProgressMonitor;
use warpbound::bound::{self, Standing};
use warpbound::check::{JudgedLaunch, Plan, RunOptions, Verdict, Workload, check};
use warpbound::machine::Machine;
use warpbound::sim::PolicySetup;

/// Returns the suite's launches of more than one block.
fn launches() -> Vec<Workload> {
    let all = shipped::launch_files().into_iter().map(|file| shipped::load(&file, 0));
    let several = all.filter(|shipped| shipped.spec.suite && shipped.launch.blocks() > 1);
    several.map(|shipped| runs::workload(&shipped.name, shipped.program, shipped.launch)).collect()
}

fn judged(workload: &Workload, machine: &Machine, gating: &[String]) -> Vec<JudgedLaunch> {
    let policies = [PolicySetup::Gto, PolicySetup::Lrr];
    let (bounds, monitor) = (bound::all(), ProgressMonitor::new());
    let options = RunOptions::new(1 << 26, &monitor).judged_by(&bounds, gating);
    check(&Plan { workload, machine, policies: &policies, options })
        .unwrap_or_else(|error| panic!("{}", error.problems))
}

/// Returns the mean overestimation of RBB over the launches under gto and lrr, in percent with one
/// digit. RBB holds on all of them, and no other bound applies.
fn means(machine: &Machine) -> [f64; 2] {
    let workloads = launches();
    let mut sums = [0.0; 2];
    for workload in &workloads {
        for (run, sum) in judged(workload, machine, &[]).iter().zip(&mut sums) {
            let place = format!("{} under {}", workload.name, run.scheduler);
            assert_eq!(run.verdict(), Verdict::Holds, "{place}");
            for row in run.judged().filter(|row| row.name != "rbb") {
                assert!(!row.verdict().applies() && row.value.is_err(), "{place}: {}", row.name);
            }
            let rbb = run.judged().find(|row| row.name == "rbb").expect("several blocks are resident");
            assert_eq!(
                (rbb.verdict(), rbb.standing, rbb.gates),
                (Verdict::Holds, Standing::Proved, true),
                "{place}"
            );
            assert!(!rbb.of_blocks && run.blocks.len() as u32 == workload.blocks());
            let value = rbb.value.as_ref().expect("it applies").cycles().get() as f64;
            *sum += value / run.makespan.get() as f64 - 1.0;
        }
    }
    assert_eq!(workloads.len(), 29);
    sums.map(|sum| (sum / workloads.len() as f64 * 1000.0).round() / 10.0)
}

fn machine(base: &str, more: &str) -> Machine {
    shipped::machine_of(format!("Machine(name: \"test\", extends: \"{base}\", {more})"))
}

#[test]
fn rbb_holds_on_the_suite() {
    let one = means(&machine("ecrts25-orin", "limits: Limits(blocks: 8)"));
    let banks = means(&machine("ecrts25-orin-banks", "limits: Limits(blocks: 2)"));
    assert_eq!([one, banks], [[30.0, 25.7], [43.9, 36.8]]);
}

#[test]
fn rbb_holds_on_sub_cores() {
    let four = means(&machine("ecrts25-orin-4sub", "limits: Limits(blocks: 8)"));
    let turing = means(&shipped::machine("turing-tu102"));
    assert_eq!([four, turing], [[65.4, 63.3], [103.7, 102.2]]);
}

#[test]
fn rbb_holds_on_several_sms() {
    let two = means(&machine("ecrts25-orin", "sms: 2, pipeline: Pipeline()"));
    let two_by_two =
        means(&machine("ecrts25-orin", "sms: 2, pipeline: Pipeline(), limits: Limits(blocks: 2)"));
    assert_eq!([two, two_by_two], [[39.9, 35.2], [37.0, 31.4]]);
}

/// With one block at a time the bounds of blocks apply, and RBB is omitted; if the user requests
/// it, the output contains the reason.
#[test]
fn rbb_is_omitted_with_one_block_at_a_time() {
    let workload = launches().remove(0);
    let machine = shipped::machine("ecrts25-orin");
    for run in judged(&workload, &machine, &[]) {
        assert!(run.judged().all(|row| row.name != "rbb" && row.value.is_ok()));
        assert_eq!(run.verdict(), Verdict::Holds);
    }
    for run in judged(&workload, &machine, &["rbb".to_owned()]) {
        let rbb = run.judged().find(|row| row.name == "rbb").expect("it was named");
        assert!(!run.verdict().applies());
        assert!(rbb.value.as_ref().is_err_and(|reason| reason.contains("each is judged by itself")));
    }
}

/// Features beyond the paper model are named, and nothing is claimed.
#[test]
fn a_bound_that_does_not_apply_has_a_reason() {
    let workload = launches().remove(0);
    let queues = machine("ecrts25-orin", "pipeline: Pipeline(queue: 2), limits: Limits(blocks: 2)");
    for run in judged(&workload, &queues, &[]) {
        let rbb = run.judged().find(|row| row.name == "rbb").expect("several blocks are resident");
        assert!(!rbb.verdict().applies());
        assert!(rbb.value.as_ref().is_err_and(|reason| reason.contains("pipeline.queue")));
    }
}
