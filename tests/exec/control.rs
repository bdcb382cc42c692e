//! Control flow: the lanes that execute each instruction, and the order of execution.

use crate::exec_support;

use exec_support::{Outcome, STORE, kernel};

fn counts(outcome: &Outcome) -> (u64, u64) {
    (outcome.blocks[0].warp_instructions(), outcome.blocks[0].thread_instructions)
}

#[test]
fn the_taken_side_runs_first_and_both_join() {
    let body = "\
        setp.lt.u32 %p1, %r0, 8;
        @%p1 bra THEN;
        mov.u32 %r1, 1;
        bra JOIN;
        THEN: mov.u32 %r1, 2;
        JOIN: add.u32 %r1, %r1, 10;
        ret;";
    let outcome = kernel(32, body).ok();
    let (all, taken) = (u32::MAX, 0xff);
    let expected = [(1, all), (2, all), (5, taken), (3, !taken), (4, !taken), (6, all), (7, all)];
    assert_eq!(outcome.body_trace(0, 0), expected);
    // 8 instructions: the seven of the body, and the mov of %tid before them. For the guarded
    // branch, the lanes that take it count
    assert_eq!(counts(&outcome), (8, 32 + 32 + 8 + 8 + 24 + 24 + 32 + 32));
}

#[test]
fn lanes_leave_a_loop_one_by_one_and_join_behind_it() {
    let body = format!(
        "\
        mov.u32 %r1, 0;
        LOOP: add.u32 %r1, %r1, 1;
        setp.lt.u32 %p1, %r1, %r0;
        @%p1 bra LOOP;
        {STORE}
        ret;"
    );
    let outcome = kernel(32, &body).zeros(128).ok();
    let expected: Vec<u32> = (0..32).map(|lane: u32| lane.max(1)).collect();
    assert_eq!(outcome.words(0), expected);
    let trace = outcome.body_trace(0, 0);
    let rounds: Vec<u32> = trace.iter().filter(|(line, _)| *line == 2).map(|(_, mask)| *mask).collect();
    assert_eq!(rounds.len(), 31);
    assert_eq!((rounds[0], rounds[1], rounds[2], rounds[30]), (!0, !0 << 2, !0 << 3, 1 << 31));
    assert_eq!(trace.last(), Some(&(6, u32::MAX)));
}

#[test]
fn nested_divergence_joins_from_the_inside_out() {
    let body = "\
        and.b32 %r2, %r0, 1; setp.ne.u32 %p1, %r2, 0;
        and.b32 %r3, %r0, 2; setp.ne.u32 %p2, %r3, 0;
        @%p1 bra ODD;
        @%p2 bra EVEN2;
        mov.u32 %r1, 0;
        bra EJOIN;
        EVEN2: mov.u32 %r1, 2;
        EJOIN: add.u32 %r1, %r1, 1;
        bra JOIN;
        ODD: mov.u32 %r1, 7;
        JOIN: ret;";
    let outcome = kernel(4, body).ok();
    let trace: Vec<_> = outcome.body_trace(0, 0).into_iter().skip_while(|(line, _)| *line < 3).collect();
    let expected = [
        (3, 0b1111),
        (10, 0b1010),
        (4, 0b0101),
        (7, 0b0100),
        (5, 0b0001),
        (6, 0b0001),
        (8, 0b0101),
        (9, 0b0101),
        (11, 0b1111),
    ];
    assert_eq!(trace, expected);
}

#[test]
fn guarded_exits_leave_the_others_running() {
    let body = "\
        setp.ge.u32 %p1, %r0, 4;
        @%p1 exit;
        add.u32 %r1, %r0, 1;
        setp.lt.u32 %p2, %r0, 2;
        @%p2 bra A;
        exit;
        A: ret;";
    let outcome = kernel(20, body).ok();
    let live = 0xf_ffff;
    let expected = [(1, live), (2, live), (3, 0xf), (4, 0xf), (5, 0xf), (7, 0x3), (6, 0xc)];
    assert_eq!(outcome.body_trace(0, 0), expected);
    let steps = outcome.blocks[0].warps[0].steps();
    assert!(steps.last().unwrap().ends_warp());
    assert_eq!(steps.iter().filter(|step| step.ends_warp()).count(), 1);
}

#[test]
fn instructions_that_are_switched_off_count_as_warp_instructions_only() {
    let body = "\
        setp.gt.u32 %p1, %r0, 100;
        @%p1 add.u32 %r1, %r0, 1;
        @%p1 bra NOWHERE;
        @!%p1 add.u32 %r1, %r0, 1;
        NOWHERE: ret;";
    assert_eq!(counts(&kernel(32, body).ok()), (6, 32 * 4));
}

#[test]
fn functions_take_and_return_values_under_divergence() {
    let module = ".func (.param .b32 out) triangle(.param .b32 n) { .reg .b32 %a<4>; .reg .pred %q;\n\
        ld.param.u32 %a0, [n]; mov.u32 %a1, 0;\n\
        AGAIN: setp.eq.u32 %q, %a0, 0; @%q bra DONE;\n\
        add.u32 %a1, %a1, %a0; sub.u32 %a0, %a0, 1; bra AGAIN;\n\
        DONE: st.param.b32 [out], %a1; ret; }";
    let call = "{ .param .b32 arg; .param .b32 res; st.param.b32 [arg], %r0;
        call.uni (res), triangle, (arg); ld.param.b32 %r1, [res]; }";
    let body = format!(
        "mov.u32 %r1, 1000; and.b32 %r2, %r0, 1; setp.eq.u32 %p1, %r2, 1;
        @%p1 bra SKIP;
        {call}
        SKIP: {STORE} ret;"
    );
    let outcome = kernel(40, &body).module(module).zeros(160).ok();
    let expected: Vec<u32> = (0..40).map(|n: u32| if n % 2 == 1 { 1000 } else { n * (n + 1) / 2 }).collect();
    assert_eq!(outcome.words(0), expected);
}

#[test]
fn branch_tables_send_each_lane_to_its_entry() {
    let body = format!(
        "\
        TABLE: .branchtargets L0, L1, L2;
        rem.u32 %r2, %r0, 3;
        brx.idx %r2, TABLE;
        L0: mov.u32 %r1, 100; bra JOIN;
        L1: mov.u32 %r1, 200; bra JOIN;
        L2: mov.u32 %r1, 300;
        JOIN: {STORE}
        ret;"
    );
    let outcome = kernel(32, &body).zeros(128).ok();
    let expected: Vec<u32> = (0..32).map(|n: u32| 100 * (n % 3 + 1)).collect();
    assert_eq!(outcome.words(0), expected);
    let order: Vec<u32> =
        outcome.body_trace(0, 0).into_iter().filter(|(line, _)| (4..7).contains(line)).map(|t| t.0).collect();
    assert_eq!(order, [4, 4, 5, 5, 6], "entries in order");
    let beyond = body.replace("rem.u32 %r2, %r0, 3", "mov.u32 %r2, 3");
    let error = kernel(32, &beyond).zeros(128).error();
    assert!(error.contains("entry 3 of a table with 3"), "{error}");
}

#[test]
fn special_registers_say_where_a_thread_is() {
    let body = "\
        mov.u32 %r2, %tid.y; mov.u32 %r3, %tid.z; mov.u32 %r4, %ctaid.x; mov.u32 %r5, %ctaid.y;
        mov.u32 %r6, %ntid.x; mov.u32 %r7, %ntid.y; mov.u32 %r8, %nctaid.x; mov.u32 %r9, %laneid;
        mov.u32 %r10, %warpid; mov.u32 %r11, %ntid.z; mov.u32 %r12, %lanemask_lt; popc.b32 %r12, %r12;
        mad.lo.u32 %r20, %r5, %r8, %r4;
        mul.lo.u32 %r21, %r6, %r7; mul.lo.u32 %r21, %r21, %r11;
        mad.lo.u32 %r22, %r3, %r7, %r2; mad.lo.u32 %r22, %r22, %r6, %r0;
        mad.lo.u32 %r23, %r20, %r21, %r22;
        shl.b32 %r24, %r10, 5; add.u32 %r24, %r24, %r9;
        setp.eq.u32 %p1, %r24, %r22; selp.u32 %r1, 1, 0, %p1;
        setp.eq.u32 %p1, %r9, %r12; selp.u32 %r25, 2, 0, %p1; add.u32 %r1, %r1, %r25;
        mul.wide.u32 %rd30, %r23, 4; add.u64 %rd31, %rd0, %rd30; st.global.u32 [%rd31], %r1; ret;";
    let mut launch = kernel(1, body).zeros(4 * 42 * 6);
    launch.block = [7, 3, 2];
    launch.grid = [3, 2, 1];
    let outcome = launch.ok();
    assert_eq!(outcome.words(0), vec![3; 42 * 6]);
    assert_eq!(outcome.blocks.len(), 6);
    let last: Vec<u32> = outcome.blocks[0].warps.iter().map(|w| w.masks()[0].1.bits()).collect();
    assert_eq!(last, [u32::MAX, 0x3ff], "42 threads");
}

#[test]
fn a_kernel_that_never_ends_is_stopped_with_its_loop_named() {
    let body = "\
        mov.u32 %r1, 0;
        OUTER: mov.u32 %r2, 0;
        INNER: add.u32 %r2, %r2, 1;
        setp.lt.u32 %p1, %r2, 10;
        @%p1 bra INNER;
        bra OUTER;";
    let mut launch = kernel(64, body);
    launch.fuel = 5000;
    let error = launch.error();
    // the body starts at line 10
    let named = error.contains("loop from k.ptx:12 to k.ptx:14");
    assert!(named && error.contains("--max-instructions") && error.contains("5000"), "{error}");
}

#[test]
fn lanes_that_wait_for_their_own_warp_are_named() {
    // lane 0 leaves the loop, and waits behind it for the others, which wait for its store
    let body = "\
        ld.param.u64 %rd1, [p0];
        AGAIN: atom.global.cas.b32 %r1, [%rd1], 0, 1;
        setp.ne.u32 %p1, %r1, 0;
        @%p1 bra AGAIN;
        st.global.u32 [%rd1], 0;
        ret;";
    let mut launch = kernel(32, body).zeros(4);
    launch.fuel = 5000;
    let error = launch.error();
    assert!(error.contains("wait for other lanes of the warp, run the machine code"), "{error}");
}

#[test]
fn lanes_on_both_sides_of_a_branch_meet() {
    let body = "\
        .shared .b32 s[32];
        mov.u32 %r2, s;
        shl.b32 %r3, %r0, 2;
        add.u32 %r4, %r2, %r3;
        xor.b32 %r5, %r3, 64;
        add.u32 %r5, %r2, %r5;
        setp.lt.u32 %p1, %r0, 16;
        @%p1 bra LOW;
        mul.lo.u32 %r1, %r0, 3;
        st.shared.u32 [%r4], %r1;
        bar.warp.sync 0xffffffff;
        ld.shared.u32 %r6, [%r5];
        bra JOIN;
        LOW: mul.lo.u32 %r1, %r0, 5;
        st.shared.u32 [%r4], %r1;
        bar.warp.sync 0xffffffff;
        ld.shared.u32 %r6, [%r5];
        JOIN: ld.param.u64 %rd1, [p0];
        cvt.u64.u32 %rd2, %r3;
        add.u64 %rd1, %rd1, %rd2;
        st.global.u32 [%rd1], %r6;
        ret;";
    let expected: Vec<u32> = (0..32).map(|lane| (lane ^ 16) * if lane < 16 { 3 } else { 5 }).collect();
    assert_eq!(kernel(32, body).zeros(128).ok().words(0), expected);
}

#[test]
fn the_same_launch_gives_the_same_paths() {
    let body = "\
        mov.u32 %r1, 0;
        LOOP: add.u32 %r1, %r1, 1;
        and.b32 %r2, %r1, %r0; setp.ne.u32 %p1, %r2, 0; @%p1 bra SKIP;
        atom.global.add.u32 %r3, [%rd0], %r1;
        SKIP: setp.lt.u32 %p2, %r1, 20; @%p2 bra LOOP;
        ret;";
    let run = || {
        let outcome = kernel(96, body).zeros(4).ok();
        (outcome.blocks, outcome.buffers)
    };
    assert_eq!(run(), run());
}

#[test]
fn a_trap_is_an_error_of_the_kernel() {
    let error = kernel(32, "setp.eq.u32 %p1, %r0, 5;\n@%p1 trap;\nret;").error();
    assert!(error.contains("k.ptx:11") && error.contains("0x00000020"), "{error}");
    kernel(32, "setp.eq.u32 %p1, %r0, 50;\n@%p1 trap;\nret;").ok();
}
