//! The worked example of Jeanmougin et al., ECRTS 2025, and the known counterexamples of GUB
//! (`warpbound::model`, section 12).

use crate::bound_kernels;
use crate::bound_schedules;

use bound_kernels::{Kernel, kernel, machine_text, texts};
use bound_schedules::{code, extremes, gto, lrr};
use warpbound::base::Cycles;
use warpbound::bound::{Bound, Event, Gub, Iwb, PhaseKind, analyse_alone, analyse_block};

fn values(kernel: &Kernel) -> (u64, u64) {
    let block = analyse_block(&kernel.table, &kernel.paths);
    (Gub.evaluate(&block).value.cycles().get(), Iwb.evaluate(&block).value.cycles().get())
}

/// Returns C and E of each warp.
fn alone(kernel: &Kernel) -> Vec<(u64, u64)> {
    let block = analyse_block(&kernel.table, &kernel.paths);
    block.warps.iter().map(|warp| (warp.isolated.get(), warp.exec.get())).collect()
}

#[test]
fn figures_2_and_3() {
    let machine = machine_text(&[("red", 2, 6), ("blue", 3, 4), ("green", 2, 4)], "");
    let warp = "red r0; blue r1; blue r2; green r3, r0";
    let block = kernel(&machine, &texts(&[warp, warp]));
    let mut events = Vec::new();
    let phases = analyse_alone(&block.table, &block.paths.warps[0], |event: Event| {
        events.push((event.issue.get(), event.start.get(), event.done.get()));
    });
    assert_eq!(events, [(0, 0, 8), (1, 1, 8), (2, 4, 11), (8, 8, 14)]);
    let found: Vec<(PhaseKind, u64, u64)> =
        phases.phases.iter().map(|p| (p.kind, p.start.get(), p.end.get())).collect();
    let expected = [
        (PhaseKind::Exec, 0, 7),
        (PhaseKind::Idle, 7, 8),
        (PhaseKind::Exec, 8, 10),
        (PhaseKind::Idle, 10, 14),
    ];
    assert_eq!(found, expected);
    assert_eq!((phases.exec, phases.idle, phases.end.get()), (Cycles::new(9), Cycles::new(5), 14));
    assert_eq!(values(&block), (23, 24));
    assert_eq!(gto(&code(&block.table, &block.paths)).makespan(), 17);
}

fn pulled_apart(init: u64, shorts: usize) -> Kernel {
    let machine = machine_text(&[("f0", init, 0), ("f1", 2, 0), ("f2", init, 0)], "");
    let b = format!("{shorts}*f1 _; f0 r0; f2 _, r0");
    kernel(&machine, &[b, "f0 _; f1 r1; f2 _, r1".to_owned()])
}

#[test]
fn witness_9_2_9() {
    let block = pulled_apart(9, 14);
    assert_eq!(alone(&block), [(32, 32), (12, 12)]);
    assert_eq!(values(&block), (44, 58));
    let (best, worst, decisions) = extremes(&code(&block.table, &block.paths));
    assert_eq!((best, worst), (35, 48));
    // the schedule in the documentation of Gub attains it
    let issue_order: Vec<(u64, usize)> =
        (0..14).map(|t| (t, 0)).chain([(14, 1), (15, 0), (16, 1), (30, 1), (32, 0)]).collect();
    let mut left = issue_order.iter();
    let sm = bound_schedules::run(&code(&block.table, &block.paths), |cycle, _| {
        let &(at, warp) = left.next().expect("as many issues as decisions");
        assert_eq!(at, cycle);
        warp
    });
    assert_eq!(sm.makespan(), 48);
    assert_eq!(decisions.len(), issue_order.len());
}

#[test]
fn witness_6_2_6() {
    let block = pulled_apart(6, 8);
    assert_eq!(values(&block).0, 29);
    assert_eq!(extremes(&code(&block.table, &block.paths)).1, 30);
}

#[test]
fn witness_under_lrr() {
    let machine = machine_text(&[("f0", 32, 0), ("f1", 4, 0), ("f2", 32, 0), ("f3", 1, 18)], "");
    let block = kernel(&machine, &texts(&["20*f1 _; f0 r0; f2 _, r0", "f3 r0; f0 _, r0; f1 r1; f2 _, r1"]));
    assert_eq!(alone(&block), [(84, 84), (56, 38)]);
    assert_eq!(values(&block), (140, 200));
    let sm = lrr(&code(&block.table, &block.paths));
    assert_eq!((sm.makespan(), sm.finishes()), (148, vec![148, 116]));
}

#[test]
fn witness_of_identical_warps() {
    let machine = machine_text(&[("f0", 9, 0), ("f1", 13, 4), ("f2", 12, 6)], "");
    let warp = "f0 r0; f0 r1; f0 r2; f2 r3; f1 r4, r0; f0 r5, r3; f1 r6; f1 r7";
    let block = kernel(&machine, &texts(&[warp, warp]));
    assert_eq!(values(&block), (100, 139));
    assert_eq!(extremes(&code(&block.table, &block.paths)).1, 106);
}

#[test]
fn witness_of_21_instructions() {
    let machine = machine_text(&[("f0", 13, 0), ("f1", 16, 0), ("f2", 16, 3)], "");
    let block = kernel(
        &machine,
        &texts(&[
            "f1 r0; f1 r1; f1 r2; f1 r3; f0 r4; f2 r5, r4; f2 r6; f1 r7, r2; f2 r8; f0 r9, r5; f2 r10",
            "f0 r0; f1 r1; f0 r2; f0 r3; f0 r4; f1 r5; f0 r6; f2 r7, r1; f2 r8; f2 r9",
        ]),
    );
    assert_eq!(values(&block).0, 149);
    assert_eq!(extremes(&code(&block.table, &block.paths)).1, 195);
}

/// Returns a member of the ping-pong family (`warpbound::model`, section 12): `stages` units a and
/// as many b, all with init `period`. A stage is `length` instructions on one kind of unit. Each of
/// them reads the result of the gate of the previous stage, which is one instruction on the other
/// kind. In the gated version, each gate first reads the result of a short instruction.
fn ping_pong(period: u64, stages: usize, length: usize, gated: bool) -> Kernel {
    let names: Vec<String> = (0..stages).flat_map(|s| [format!("a{s}"), format!("b{s}")]).collect();
    let mut units: Vec<(&str, u64, u64)> = names.iter().map(|name| (name.as_str(), period, 0)).collect();
    if gated {
        units.push(("x", 1, 2));
    }
    let warp = |own: char, other: char| {
        let mut code = String::new();
        for stage in 0..stages {
            let gate = if stage > 0 { ", r1" } else { "" };
            code += &format!("{length}*{own}{stage} _{gate};");
            if stage + 1 < stages {
                code += &if gated {
                    format!("x r0; {other}{stage} r1, r0;")
                } else {
                    format!("{other}{stage} r1;")
                };
            }
        }
        code
    };
    kernel(&machine_text(&units, ""), &[warp('a', 'b'), warp('b', 'a')])
}

#[test]
fn ping_pong_family() {
    for (period, stages, length, instructions, gub, makespan, iwb) in [
        (8, 3, 8, 52, 192, 209, 248),
        (16, 4, 16, 134, 704, 1073, 1184),
        (32, 6, 32, 394, 2688, 6305, 6656),
        (32, 8, 32, 526, 2944, 8417, 8896),
    ] {
        let block = ping_pong(period, stages, length, false);
        let code = code(&block.table, &block.paths);
        assert_eq!(code.iter().map(Vec::len).sum::<usize>(), instructions);
        assert_eq!(values(&block), (gub, iwb), "{period} {stages} {length}");
        assert_eq!(lrr(&code).makespan(), makespan);
    }
}

#[test]
fn gated_ping_pong_family() {
    for (period, stages, length, gub, under_gto, under_lrr, iwb) in
        [(16, 4, 16, 722, 1089, 1073, 1196), (32, 6, 32, 2718, 6337, 6305, 6676)]
    {
        let block = ping_pong(period, stages, length, true);
        let code = code(&block.table, &block.paths);
        assert_eq!(values(&block), (gub, iwb), "{period} {stages} {length}");
        assert_eq!((gto(&code).makespan(), lrr(&code).makespan()), (under_gto, under_lrr));
    }
}
