//! Candidates for tighter bounds that do not hold (`crates/bound/src/failed.md`): the true worst
//! case of each counterexample, found by exploration, exceeds the candidate.

use crate::bound_formulas;
use crate::bound_kernels;

use bound_formulas::{Ins, alone, isolated, sections};
use bound_kernels::{Kernel, kernel, machine, machine_text, texts};
use warpbound::base::ProgressMonitor;
use warpbound::bound::{Analyser, Bound, BoundReport, Iwb, Lwb, Srr, Swb, analyse_block};
use warpbound::explore::model::Model;
use warpbound::explore::schedules::search;
use warpbound::explore::search::Limits;
use warpbound::sim::{Engine, PaperMachine, PolicySetup};

fn block(units: &[(&str, u64, u64)], codes: &[&str]) -> Kernel {
    kernel(&machine_text(units, ""), &texts(codes))
}

/// Returns the true worst case, and checks that the proved bounds hold for it.
fn worst(block: &Kernel) -> u64 {
    let model = Model::new(&block.table, &block.paths).expect("a small block");
    let limits = Limits { max_states: 100_000, ..Limits::default() };
    let worst = search(&model, limits, &ProgressMonitor::new()).expect("few states").worst;
    let analysis = analyse_block(&block.table, &block.paths);
    for bound in [&Lwb as &dyn Bound, &Swb, &Iwb] {
        assert!(worst <= bound.evaluate(&analysis).value.cycles().get(), "{}", bound.name());
    }
    worst
}

fn warps(block: &Kernel) -> Vec<Vec<Ins>> {
    sections(&block.table, &block.paths).remove(0)
}

fn slots(warps: &[Vec<Ins>]) -> u64 {
    warps.iter().map(|warp| warp.len() as u64).sum()
}

fn slots_only(block: &Kernel) -> u64 {
    let warps = warps(block);
    let of_warp = |warp: &Vec<Ins>| isolated(warp) + slots(&warps) - warp.len() as u64;
    warps.iter().map(of_warp).max().expect("a warp")
}

#[test]
fn slots_alone_are_too_little() {
    let block = block(&[("f", 2, 2)], &["f _", "f _"]);
    assert_eq!((slots_only(&block), worst(&block)), (5, 6));
}

#[test]
fn idle_cycles_outlast_the_least_stall() {
    let block = block(&[("f", 1, 2), ("b", 1, 0)], &["f r0; f _, r0", "b _"]);
    let warps = warps(&block);
    let least = warps.iter().map(|warp| isolated(warp) - warp.len() as u64).min().expect("a warp");
    assert_eq!((slots(&warps) + least, worst(&block)), (3, 7));
}

#[test]
fn equal_warps_meet_again() {
    let claim = |block: &Kernel| {
        let warps = warps(block);
        let issues: Vec<u64> = alone(&warps[0]).iter().map(|at| at.issue).collect();
        let bursts = issues.chunk_by(|a, b| a + 1 == *b).map(|burst| burst.len() as u64);
        isolated(&warps[0]) + (warps.len() as u64 - 1) * bursts.max().expect("a burst")
    };
    let three = block(&[("a", 1, 1), ("b", 1, 0)], &["a r0; b _, r0"; 3]);
    assert_eq!((claim(&three), worst(&three)), (5, 7));
    let two = block(&[("a", 1, 1), ("b", 1, 3)], &["a r0; a r1; b r2, r1; b _, r2"; 2]);
    assert_eq!((claim(&two), worst(&two)), (13, 14));
}

#[test]
fn finished_warps_give_no_credit() {
    let block = block(&[("f", 1, 2)], &["f r0; f _, r0", "f _"]);
    let credit = 1;
    assert_eq!((slots_only(&block) - credit, worst(&block)), (6, 7));
}

#[test]
fn waits_that_are_not_the_longest_give_no_credit() {
    let block = block(&[("a", 1, 3), ("b", 1, 4)], &["a r0; b _, r0", "b r0; a _, r0"]);
    let credit = 1;
    assert_eq!((slots_only(&block) - credit, worst(&block)), (10, 11));
}

#[test]
fn lrr_can_take_longer_than_strict_turns() {
    let compare = |units: &[(&str, u64, u64)], codes: &[&str]| {
        let block = block(units, codes);
        let mut report = BoundReport::default();
        Analyser::new(&block.table)
            .in_turns()
            .for_each_section(&block.paths, |section| Srr.add_section(&mut report, section));
        let machine = machine(&machine_text(units, ""));
        let run = Engine::new(&block.table, PaperMachine::of(&machine).unwrap()).run_block(
            &block.paths,
            &PolicySetup::Lrr,
            &mut (),
        );
        (report.value.cycles().get(), run.expect("a run").makespan.get())
    };
    let units = [("f", 3, 1), ("m", 1, 11), ("a", 1, 0)];
    assert_eq!(compare(&units, &["f r0; f r1, r0; m _, r1", "a r0; f _, r0"]), (20, 22));
    let units = [("f", 3, 3), ("a", 1, 1), ("b", 1, 2)];
    assert_eq!(compare(&units, &["f r0; a r1, r0; b r2, r1; a _, r2"; 2]), (16, 17));
}
