//! Critical paths that are computed by hand.

use warpbound::sim::PolicySetup;
use warpbound::why::{Executed, Explanation, Kind};

use crate::random::explained;
use crate::random_kernels::{KernelBuilder, RandomLaunch, paper_machine};

/// A link: its kind, the warp and index of its instruction, its cycles, and the warp and index of
/// the instruction that waited.
type Row = (Kind, Option<(u16, u32)>, u64, Option<(u16, u32)>);

fn rows(found: &Explanation) -> Vec<Row> {
    let warp_and_index = |of: &Executed| (of.warp.get(), of.index);
    let row = |link: &warpbound::why::Link| {
        (
            link.kind,
            link.of.as_ref().map(warp_and_index),
            link.cycles().get(),
            link.waiting.as_ref().map(warp_and_index),
        )
    };
    found.links.iter().map(row).collect()
}

fn path(builder: KernelBuilder, units: &[(&str, u64, u64)], setup: &PolicySetup) -> Vec<Row> {
    let launch: RandomLaunch = builder.build_launch(&paper_machine(units));
    rows(&explained(&launch, setup, 1).0)
}

/// Jeanmougin et al., ECRTS 2025, figure 3: two warps of `red r0; blue r1; blue r2; green r3, r0`.
/// The last result is that of w1's green. It reads r0 of w1's red, which could have issued at once
/// if w0 had not used the slot three times.
#[test]
fn figure_3_of_the_paper() {
    let mut builder = KernelBuilder::new();
    for _ in 0..2 {
        builder.warp().op("red", Some(0), &[]).op("blue", Some(1), &[]).op("blue", Some(2), &[]);
        builder.op("green", Some(3), &[0]).ret("red");
    }
    let found = path(builder, &[("red", 2, 6), ("blue", 3, 4), ("green", 2, 4)], &PolicySetup::Gto);
    let (red, green) = (Some((1, 0)), Some((1, 3)));
    assert_eq!(
        found,
        [
            (Kind::Slot, red, 3, None),
            (Kind::Initiation, red, 2, green),
            (Kind::Latency, red, 6, green),
            (Kind::Initiation, green, 2, None),
            (Kind::Latency, green, 4, None),
        ]
    );
}

/// w0 arrives at the barrier at once, w1 after a result of 1 + 9 cycles. w1 issues the barrier at
/// 12, which takes a cycle; both warps can continue at 13. gto is greedy, so w1, which issued last,
/// goes first; w0 issues at 14, and its result of 1 + 5 cycles is the last.
#[test]
fn a_barrier_hangs_on_its_last_arrival() {
    let mut builder = KernelBuilder::new();
    builder.warp().bar().op("slow", Some(0), &[]).ret("slow");
    builder.warp().op("load", Some(0), &[]).op("slow", None, &[0]).bar().op("fast", Some(1), &[]).ret("slow");
    let found = path(builder, &[("slow", 1, 5), ("load", 1, 9), ("fast", 1, 0)], &PolicySetup::Gto);
    let (load, uses, bar) = (Some((1, 0)), Some((1, 1)), Some((1, 2)));
    assert_eq!(
        found,
        [
            // w0 issues its barrier first
            (Kind::Slot, load, 1, None),
            (Kind::Initiation, load, 1, uses),
            (Kind::Latency, load, 9, uses),
            (Kind::Issue, uses, 1, bar),
            (Kind::Barrier, bar, 1, Some((0, 1))),
            (Kind::Slot, Some((0, 1)), 1, None),
            (Kind::Initiation, Some((0, 1)), 1, None),
            (Kind::Latency, Some((0, 1)), 5, None),
        ]
    );
}

/// Three instructions occupy one unit for 4 cycles each and issue at 0, 1 and 2: the third waits
/// for the other two.
#[test]
fn a_unit_is_busy_with_others() {
    let mut builder = KernelBuilder::new();
    for _ in 0..3 {
        builder.warp().op("f", Some(0), &[]).ret("f");
    }
    let found = path(builder, &[("f", 4, 2)], &PolicySetup::Gto);
    let (first, second, third) = (Some((0, 0)), Some((1, 0)), Some((2, 0)));
    assert_eq!(
        found,
        [
            (Kind::Unit, first, 4, second),
            (Kind::Unit, second, 4, third),
            (Kind::Initiation, third, 4, None),
            (Kind::Latency, third, 2, None),
        ]
    );
}

/// Under srr, w1 is ready for its second instruction at 2 but has to wait for the turn of w0, whose
/// load takes 10 cycles: w0 issues at 10, w1 at 11. Under gto, w1 does not wait.
#[test]
fn strict_turns_leave_slots_idle() {
    let builder = || {
        let mut builder = KernelBuilder::new();
        builder.warp().op("load", Some(0), &[]).op("fast", Some(1), &[0]).ret("fast");
        builder.warp().op("fast", Some(0), &[]).op("slow", Some(1), &[]).ret("fast");
        builder
    };
    let units = [("load", 1, 9), ("fast", 1, 0), ("slow", 1, 4)];
    let (first, second) = (Some((1, 0)), Some((1, 1)));
    assert_eq!(
        path(builder(), &units, &PolicySetup::Srr),
        [
            (Kind::Slot, first, 1, None),
            (Kind::Issue, first, 1, second),
            (Kind::Turn, second, 8, None),
            (Kind::Slot, second, 1, None),
            (Kind::Initiation, second, 1, None),
            (Kind::Latency, second, 4, None),
        ]
    );
    let (load, uses) = (Some((0, 0)), Some((0, 1)));
    assert_eq!(
        path(builder(), &units, &PolicySetup::Gto),
        [
            (Kind::Initiation, load, 1, uses),
            (Kind::Latency, load, 9, uses),
            (Kind::Initiation, uses, 1, None),
        ]
    );
}

/// The end of a warp releases the others: w0 waits at a barrier that w1, which has 3 instructions,
/// never reaches.
#[test]
fn the_end_of_a_warp_opens_a_barrier() {
    let mut builder = KernelBuilder::new();
    builder.warp().bar().op("f", Some(0), &[]).ret("f");
    builder.warp().op("g", Some(0), &[]).op("g", Some(1), &[]).op("g", Some(2), &[]).ret("f");
    let found = path(builder, &[("f", 1, 9), ("g", 1, 0)], &PolicySetup::Gto);
    let g = |index: u32| Some((1, index));
    assert_eq!(
        found,
        [
            (Kind::Slot, g(0), 1, None),
            (Kind::Issue, g(0), 1, g(1)),
            (Kind::Issue, g(1), 1, g(2)),
            (Kind::Issue, g(2), 1, Some((0, 1))),
            (Kind::Initiation, Some((0, 1)), 1, None),
            (Kind::Latency, Some((0, 1)), 9, None),
        ]
    );
}

/// Blocks run one after another, and the path goes through all of them.
#[test]
fn blocks_hang_on_those_before_them() {
    let mut builder = KernelBuilder::new();
    builder.warp().op("f", Some(0), &[]).ret("f");
    builder.block().warp().op("f", Some(0), &[]).ret("f");
    let launch = builder.build_launch(&paper_machine(&[("f", 2, 3)]));
    let (found, _, makespan) = explained(&launch, &PolicySetup::Gto, 1);
    assert_eq!(makespan, 10);
    let blocks: Vec<(u64, Kind)> =
        found.links.iter().map(|s| (u64::from(s.of.unwrap().block.get()), s.kind)).collect();
    assert_eq!(
        blocks,
        [(0, Kind::Initiation), (0, Kind::Latency), (1, Kind::Initiation), (1, Kind::Latency)]
    );
}
