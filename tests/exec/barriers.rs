//! Barriers, warps that wait for each other, and groups of asynchronous copies.

use crate::exec_support;

use exec_support::{Outcome, STORE, kernel};
use warpbound::exec::races::BlockOrder;
use warpbound::machine::Reconvergence;
use warpbound::path::{AsyncRing, BarrierUse, Step};
use warpbound::program::Sem;

/// Returns the barrier payloads of a warp's path.
fn barriers(outcome: &Outcome, warp: usize) -> Vec<BarrierUse> {
    let steps = outcome.blocks[0].warps[warp].steps().iter();
    let barrier = |step: &&Step| matches!(outcome.program.instr(step.pc()).sem, Sem::Barrier(_));
    steps.filter(barrier).map(|step| step.barrier()).collect()
}

const ALL: BarrierUse = BarrierUse { id: 0, warps: 0 };

/// `%r1 = s[127 - tid]` through shared memory, with `BAR` between the store and the load.
const REVERSE: &str = ".shared .align 4 .b32 s[128];
    mov.u32 %r10, s; mad.lo.u32 %r11, %r0, 4, %r10; st.shared.u32 [%r11], %r0;
    BAR;
    sub.u32 %r12, 127, %r0; mad.lo.u32 %r13, %r12, 4, %r10; ld.shared.u32 %r1, [%r13];";

#[test]
fn warps_exchange_values_over_a_barrier() {
    for bar in ["bar.sync 0", "barrier.sync 0", "bar.sync 0, 128", "mov.u32 %r9, 128; bar.sync 0, %r9"] {
        let outcome = kernel(128, &format!("{}\n{STORE} ret;", REVERSE.replace("BAR", bar))).zeros(512).ok();
        assert_eq!(outcome.words(0), (0..128).rev().collect::<Vec<u32>>(), "{bar}");
        assert!(!outcome.blocks[0].partial_barriers, "{bar}");
        assert_eq!(barriers(&outcome, 3), [ALL], "{bar}");
    }
}

#[test]
fn finished_warps_are_not_waited_for() {
    let body = "setp.ge.u32 %p1, %r0, 64; @%p1 ret; bar.sync 0; ret;";
    let outcome = kernel(128, body).ok();
    assert_eq!(barriers(&outcome, 1), [ALL]);
    assert_eq!(barriers(&outcome, 2), []);
}

/// `if (i >= 90) return;` before a barrier, as compilers write it: the lanes of warp 2 that return
/// wait where their branch ends, and warp 3 ends as a whole.
#[test]
fn lanes_that_returned_are_not_expected_at_a_barrier() {
    let after =
        "bar.sync 0; sub.u32 %r12, 89, %r0; mad.lo.u32 %r13, %r12, 4, %r10; ld.shared.u32 %r1, [%r13];";
    let before = ".shared .align 4 .b32 s[128];
        mov.u32 %r10, s; mad.lo.u32 %r11, %r0, 4, %r10; setp.gt.u32 %p1, %r0, 89; setp.gt.u32 %p2, %r0, 93;";
    let stores = "st.shared.u32 [%r11], %r0;";
    for (name, body) in [
        ("a jump to the end", format!("{before} @%p1 bra END; {stores} {after} {STORE} END: ret;")),
        (
            "by way of another jump",
            format!("{before} @%p1 bra OUT; {stores} {after} {STORE} bra END; OUT: bra END; END: exit;"),
        ),
        (
            "jumps of two kinds",
            format!("{before} @%p2 bra END; @%p1 bra END; {stores} {after} {STORE} END: ret;"),
        ),
        ("an end of its own", format!("{before} @!%p1 bra GO; ret; GO: {stores} {after} {STORE} ret;")),
        ("a guarded end", format!("{before} @%p1 exit; {stores} {after} {STORE} ret;")),
    ] {
        for reconvergence in [Reconvergence::PostDominator, Reconvergence::PascalStack] {
            let mut launch = kernel(100, &body).zeros(400);
            launch.reconvergence = reconvergence;
            let outcome = launch.ok();
            let expected: Vec<u32> = (0..100).map(|i| if i < 90 { 89 - i } else { 0 }).collect();
            assert_eq!(outcome.words(0), expected, "{name}, {reconvergence:?}");
            assert!(!outcome.blocks[0].partial_barriers);
            for warp in 0..3 {
                assert_eq!(barriers(&outcome, warp), [ALL], "{name}, warp {warp}");
            }
            assert_eq!(barriers(&outcome, 3), [], "{name}");
        }
    }
}

/// A barrier expects the lanes that still have instructions to execute.
#[test]
fn lanes_on_another_path_are_expected_at_a_barrier() {
    let test = "setp.gt.u32 %p1, %r0, 20; @%p1 bra JOIN;";
    for (name, body) in [
        ("an instruction before the end", format!("{test} bar.sync 0; JOIN: add.u32 %r1, %r1, 1; ret;")),
        ("a conditional end", format!("{test} bar.sync 0; JOIN: @%p1 ret; ret;")),
        ("a loop", format!("{test} bar.sync 0; ret; JOIN: bra JOIN;")),
    ] {
        for reconvergence in [Reconvergence::PostDominator, Reconvergence::PascalStack] {
            let mut launch = kernel(32, &body);
            launch.reconvergence = reconvergence;
            launch.fuel = 1000;
            let error = launch.error();
            assert!(error.contains("divergence") || name == "a loop", "{name}: {error}");
        }
    }
    // the end of a function is not the end of the kernel
    let function = ".func f(.reg .u32 a) { .reg .pred %p<2>; setp.gt.u32 %p1, a, 20; @%p1 bra END; bar.sync 0; END: ret; }";
    let error = kernel(32, "call f, (%r0); add.u32 %r1, %r1, 1; ret;").module(function).error();
    assert!(error.contains("divergence"), "{error}");
}

#[test]
fn reductions_over_the_block() {
    let body = format!(
        "setp.lt.u32 %p1, %r0, 70;
        bar.red.popc.u32 %r1, 0, %p1;
        bar.red.and.pred %p2, 0, %p1; selp.u32 %r2, 1000, 0, %p2; add.u32 %r1, %r1, %r2;
        bar.red.or.pred %p3, 0, !%p1; selp.u32 %r2, 10000, 0, %p3; add.u32 %r1, %r1, %r2;
        setp.lt.u32 %p1, %r0, 100;
        bar.red.and.pred %p2, 0, %p1; selp.u32 %r2, 100000, 0, %p2; add.u32 %r1, %r1, %r2;
        {STORE} ret;"
    );
    let outcome = kernel(100, &body).zeros(400).ok();
    assert_eq!(outcome.words(0), vec![110_070; 100]);
}

#[test]
fn named_barriers_take_the_warps_they_count() {
    // warps 0 and 1 meet at barrier 1, warp 2 arrives at 2, where warp 3 waits for it
    let body = "
        mov.u32 %r2, %warpid;
        setp.lt.u32 %p1, %r2, 2; @%p1 bra PAIR;
        setp.eq.u32 %p2, %r2, 2; @%p2 bra PRODUCE;
        bar.sync 2, 64; ret;
        PRODUCE: bar.arrive 2, 64; ret;
        PAIR: bar.sync 1, 64; ret;";
    let outcome = kernel(128, body).ok();
    assert!(outcome.blocks[0].partial_barriers);
    assert_eq!(barriers(&outcome, 0), [BarrierUse { id: 1, warps: 2 }]);
    assert_eq!(barriers(&outcome, 2), [BarrierUse { id: 2, warps: 2 }]);
    assert_eq!(barriers(&outcome, 3), [BarrierUse { id: 2, warps: 2 }]);
}

#[test]
fn a_barrier_that_no_lane_executes_does_not_wait() {
    let body = "mov.u32 %r2, %warpid; setp.eq.u32 %p1, %r2, 0; @%p1 bar.sync 0, 32; ret;";
    let outcome = kernel(64, body).ok();
    assert!(outcome.blocks[0].partial_barriers);
    assert_eq!(barriers(&outcome, 1), [BarrierUse { id: 15, warps: 1 }]);
}

#[test]
fn barriers_that_cannot_work_are_errors() {
    let error = |threads, body: &str| kernel(threads, body).error();
    let divergent =
        error(64, "setp.lt.u32 %p1, %r0, 40; @!%p1 bra END;\nbar.sync 0;\nEND: mov.u32 %r1, 1; ret;");
    assert!(
        divergent.contains("k.ptx:11") && divergent.contains("lanes 0xffffff00 of warp 1"),
        "{divergent}"
    );
    assert!(divergent.contains("another path"), "{divergent}");
    let guarded = error(64, "setp.lt.u32 %p1, %r0, 40;\n@%p1 barrier.sync 0;\nret;");
    assert!(guarded.contains("their guard is false"), "{guarded}");
    assert!(error(32, "bar.sync 16; ret;").contains("barriers 0 to 15"));
    assert!(error(64, "mov.u32 %r1, 48; bar.sync 0, %r1; ret;").contains("multiple of 32"));
    assert!(error(64, "bar.sync 0, 96; ret;").contains("never opens"));
    let counts = "setp.lt.u32 %p1, %r0, 32; selp.u32 %r1, 64, 96, %p1;\nbar.sync 1, %r1; ret;";
    assert!(
        error(128, counts).contains("for 96 threads, but the warps that arrived before expect 64 threads")
    );
}

#[test]
fn a_deadlock_names_the_waiting_warps_and_barriers() {
    let body = "setp.lt.u32 %p1, %r0, 64; @%p1 bra A;\nbar.sync 0;\nret;\nA: bar.sync 1;\nret;";
    let error = kernel(128, body).error();
    assert!(error.contains("barrier deadlock in block (0, 0, 0)"), "{error}");
    assert!(error.contains("warps 0, 1 wait at barrier 1 at k.ptx:13 (2 of 4 warps"), "{error}");
    assert!(error.contains("warps 2, 3 wait at barrier 0 at k.ptx:11 (2 of 4 warps"), "{error}");
}

#[test]
fn warps_that_poll_memory_make_progress() {
    // warp 0 waits for a flag that warp 1 sets
    let body = format!(
        "mov.u32 %r2, %warpid; setp.eq.u32 %p1, %r2, 1; @%p1 bra SET;
        WAIT: ld.volatile.global.u32 %r1, [%rd1];
        setp.eq.u32 %p2, %r1, 0;
        @%p2 bra WAIT;
        bra END;
        SET: mov.u32 %r1, 7; st.volatile.global.u32 [%rd1], %r1;
        END: {STORE} ret;"
    );
    let mut launch = kernel(64, &body).zeros(256).zeros(4);
    launch.races = Some(BlockOrder::OneByOne);
    let outcome = launch.ok();
    assert_eq!(outcome.words(0), [7; 64]);
    let lines: Vec<_> = outcome.time.races.iter().map(|race| (race.first.line, race.second.line)).collect();
    assert_eq!(lines, [(11, 15), (15, 11)], "{:?}", outcome.time);
}

#[test]
fn asynchronous_copies_fill_with_zeros_and_name_their_groups() {
    let body = format!(
        ".shared .align 16 .b8 s[1024];
        mov.u32 %r10, s; shl.b32 %r11, %r0, 4; add.u32 %r10, %r10, %r11;
        mul.wide.u32 %rd10, %r0, 16; add.u64 %rd11, %rd1, %rd10;
        and.b32 %r12, %r0, 3; shl.b32 %r12, %r12, 2;
        cp.async.cg.shared.global [%r10], [%rd11], 16, %r12;
        cp.async.commit_group;
        add.u32 %r13, %r10, 512;
        cp.async.ca.shared.global [%r13], [%rd11], 4;
        cp.async.commit_group;
        cp.async.wait_group 1;
        ld.shared.v4.u32 {{%r14, %r15, %r16, %r17}}, [%r10];
        add.u32 %r1, %r14, %r15; add.u32 %r1, %r1, %r16; add.u32 %r1, %r1, %r17;
        cp.async.wait_all;
        ld.shared.u32 %r18, [%r13]; shl.b32 %r18, %r18, 16; or.b32 %r1, %r1, %r18;
        {STORE} ret;"
    );
    let source: Vec<u32> = (1..=128).collect();
    let outcome = kernel(32, &body).zeros(128).words(&source).ok();
    let sum = |lane: u32| (0..lane % 4).map(|k| 4 * lane + k + 1).sum::<u32>();
    let expected: Vec<u32> = (0..32).map(|lane| sum(lane) | (4 * lane + 1) << 16).collect();
    assert_eq!(outcome.words(0), expected);
    let steps = outcome.blocks[0].warps[0].steps().iter();
    let rings: Vec<AsyncRing> = steps
        .filter(|step| {
            let sem = &outcome.program.instr(step.pc()).sem;
            matches!(sem, Sem::AsyncCopy { .. } | Sem::AsyncWait { .. })
        })
        .map(|step| step.async_ring())
        .collect();
    assert_eq!(rings.iter().map(|ring| ring.index()).collect::<Vec<_>>(), [0, 1, 0, 1]);
}

#[test]
fn too_many_groups_in_flight_are_an_error() {
    let body = ".shared .align 16 .b8 s[16]; mov.u32 %r10, s; mov.u32 %r1, 0;
        L: cp.async.ca.shared.global [%r10], [%rd0], 4;
        cp.async.commit_group;
        add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, ROUNDS; @%p1 bra L;
        ret;";
    kernel(1, &body.replace("ROUNDS", "31")).zeros(4).ok();
    let error = kernel(1, &body.replace("ROUNDS", "32")).zeros(4).error();
    assert!(error.contains("more than 31 groups") && error.contains("k.ptx:11"), "{error}");
}
