//! Kernels written to contradict the argument, one for each possible flaw.

use super::{Case, CaseResult, attack};

fn case(threads: u32, body: &str, inputs: Vec<Vec<u32>>) -> Case {
    Case {
        body: body.to_owned(),
        block: [threads, 1, 1],
        inputs,
        number: 7,
        bounds_first: true,
        ..Case::default()
    }
}

fn holds(case: &Case) {
    let machine = crate::shipped::machine("ecrts25-orin-banks");
    match attack(case, &crate::shipped::isa(), &machine, true) {
        Ok(CaseResult::Held(counts)) => println!("{counts:?}"),
        Ok(other) => println!("{other:?}"),
        Err(violation) => panic!("{violation:.2000}\n{}", case.text()),
    }
}

const LANE: &str =
    "mov.u32 %r0, %tid.x; mul.wide.u32 %rd1, %r0, 4; add.s64 %rd2, %rd0, %rd1; ld.global.u32 %r1, [%rd2];";

/// A waiting lane has the value that it wrote on the side that ran first.
#[test]
fn a_shuffle_reads_what_the_other_side_wrote() {
    let body = "mov.u32 %r0, %tid.x; mov.u32 %r2, 0; setp.lt.u32 %p0, %r0, 16;\n\
        @%p0 bra T;\nshfl.sync.idx.b32 %r3, %r2, 0, 31, -1;\nsetp.eq.u32 %p1, %r3, 5;\n@%p1 bra A;\nadd.u32 %r4, %r4, 1;\n\
        A: bra J;\nT: mov.u32 %r2, 5;\nJ: ret;";
    holds(&case(32, body, vec![vec![0; 64]]));
}

/// In each iteration, lanes can leave a loop by either of two exits; they then wait.
#[test]
fn two_exits_that_wait_in_each_iteration() {
    let body = format!(
        "{LANE}\nmov.u32 %r2, 0;\nL: setp.ne.u32 %p0, %r1, %r2;\n@%p0 bra C;\nadd.u32 %r4, %r4, 1;\nbra OUT;\n\
         C: add.u32 %r2, %r2, 1;\nsetp.ne.u32 %p1, %r1, %r2;\n@%p1 bra D;\nadd.u32 %r5, %r5, 1;\nbra OUT;\n\
         D: add.u32 %r2, %r2, 1;\nbra L;\nOUT: ret;"
    );
    // lanes leave in the last iterations, one by each exit
    let input = (0..32).map(|lane| 128 + lane % 4).collect();
    holds(&case(32, &body, vec![input]));
}

/// The lanes that stayed in the loop end in it, and then those that left it continue.
#[test]
fn lanes_end_in_a_loop_that_others_left() {
    let body = format!(
        "{LANE}\nmov.u32 %r2, 0;\nL: setp.ne.u32 %p0, %r1, %r2;\n@%p0 bra C;\nbra OUT;\n\
         C: add.u32 %r6, %r2, 1000;\nsetp.eq.u32 %p1, %r1, %r6;\n@%p1 ret;\nadd.u32 %r2, %r2, 1;\nbra L;\n\
         OUT: add.u32 %r4, %r4, 1;\nret;"
    );
    let input = |odd: u32| (0..32).map(|lane| if lane % 2 == 0 { 68 } else { odd }).collect();
    holds(&case(32, &body, vec![input(1066), input(1068), input(1069), vec![70; 32]]));
}

/// All lanes end in the loop.
#[test]
fn all_lanes_end_in_a_loop() {
    let body = format!(
        "{LANE}\nmov.u32 %r2, 0;\nL: add.u32 %r6, %r1, 100;\nsetp.eq.u32 %p0, %r6, %r2;\n@%p0 bra OUT;\n\
         setp.eq.u32 %p1, %r1, %r2;\nadd.u32 %r4, %r4, 1;\n@%p1 ret;\nadd.u32 %r2, %r2, 1;\nbra L;\n\
         OUT: add.u32 %r4, %r4, 1;\nret;"
    );
    holds(&case(32, &body, vec![vec![70; 32]]));
}

/// The clock is unknown wherever it is read.
#[test]
fn a_select_of_the_clock() {
    let body = format!(
        "{LANE}\nsetp.eq.u32 %p0, %r1, 0;\n@%p0 bra A;\nadd.u32 %r4, %r4, 1;\nadd.u32 %r4, %r4, 1;\nA: setp.ne.u32 %p2, %r0, 99;\n\
         selp.b32 %r3, %clock, 0, %p2;\nsetp.lt.u32 %p1, %r3, 16;\n@%p1 bra B;\nadd.u32 %r4, %r4, 1;\nB: ret;"
    );
    holds(&case(32, &body, vec![vec![0; 32], vec![1; 32], (0..32).map(|lane| lane & 1).collect()]));
}

/// All lanes that a barrier concerns have ended in one run, and none of them in another.
#[test]
fn a_barrier_whose_lanes_may_have_ended() {
    let body = format!(
        "{LANE}\nsetp.ne.u32 %p0, %r1, 0;\nsetp.lt.u32 %p1, %r0, 16;\n@%p0 ret;\n@%p1 bar.sync 0;\nadd.u32 %r4, %r4, 1;\nret;"
    );
    let ended = (0..32).map(|lane| u32::from(lane < 16)).collect();
    let others = (0..32).map(|lane| u32::from(lane >= 16)).collect();
    holds(&case(32, &body, vec![ended, others]));
}

/// The kernel of `lanes_end_in_a_loop_that_others_left`, with a bound that is small enough to walk
/// the iterations one by one.
#[test]
fn lanes_end_in_a_short_loop_that_others_left() {
    let body = format!(
        "{LANE}\nmov.u32 %r2, 0;\nL: setp.ne.u32 %p0, %r1, %r2;\n@%p0 bra C;\nbra OUT;\n\
         C: add.u32 %r6, %r1, 1;\nsetp.eq.u32 %p1, %r6, %r2;\n@%p1 ret;\nadd.u32 %r2, %r2, 1;\nbra L;\n\
         OUT: add.u32 %r4, %r4, 1;\nret;"
    );
    let input = |odd: u32| (0..32).map(|lane| if lane % 2 == 0 { 8 } else { odd }).collect();
    holds(&case(32, &body, vec![input(7), input(8), input(9)]));
}

/// The exit of a loop runs before the remaining lanes continue: the warp leaves the loop and enters
/// it again.
#[test]
fn an_exit_that_runs_first() {
    let body = format!(
        "{LANE}\nmov.u32 %r2, 0;\nL: setp.eq.u32 %p0, %r1, %r2;\nadd.u32 %r2, %r2, 1;\n@%p0 bra A;\nadd.u32 %r5, %r5, 1;\nbra L;\n\
         A: add.u32 %r4, %r4, 1;\nbra OUT;\nOUT: ret;"
    );
    for shift in [0, 60, 80] {
        holds(&case(32, &body, vec![(0..32).map(|lane| shift + lane % 4).collect(), vec![shift + 3; 32]]));
    }
    // iterations counted on the warp's path, from where it enters the loop again
    let by_warp = Case { by_warp: true, ..case(32, &body, vec![(0..32).map(|lane| lane % 16).collect()]) };
    holds(&by_warp);
}

/// Lanes diverge in a loop; it is known that every lane that reaches one of its exits takes this
/// exit.
#[test]
fn a_known_exit_with_diverged_lanes() {
    // lanes below 14 leave in the first iteration; the others iterate depending on data
    let body = format!(
        "{LANE}\nmov.u32 %r2, 0;\nH: setp.lt.u32 %p0, %r0, 14;\n@!%p0 bra E;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra LATCH;\n\
         setp.lt.u32 %p2, %r0, 17;\n@%p2 bra OUT;\nE: add.u32 %r4, %r4, 1;\n\
         LATCH: add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p3, %r2, %r1;\n@%p3 bra H;\nOUT: add.u32 %r5, %r5, 1;\nret;"
    );
    holds(&case(32, &body, vec![vec![0; 32], vec![3; 32], (0..32).map(|lane| lane & 1).collect()]));
}
