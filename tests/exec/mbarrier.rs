//! Mbarrier objects: arrivals, phases, waits that let other warps run, and errors.

use crate::exec_support;

use exec_support::{Kernel, STORE, kernel};
use warpbound::exec::races::BlockOrder;

const OBJECT: &str = ".shared .align 8 .b64 object;";

/// Returns a block of `threads` threads, with an object initialised for `count` arrivals.
fn with_object(threads: u32, count: u32, body: &str) -> Kernel {
    let setup = format!(
        "setp.eq.u32 %p1, %r0, 0; @%p1 mbarrier.init.shared.b64 [object], {count}; bar.sync 0;
        mov.u32 %r20, %tid.x; shr.u32 %r21, %r20, 5;"
    );
    kernel(threads, &format!("{setup}\n{body}")).module(OBJECT).zeros(4 * threads as usize)
}

/// All threads arrive and wait: an object used as a barrier of the block.
#[test]
fn a_phase_completes_when_all_have_arrived() {
    for wait in ["test_wait", "try_wait"] {
        let body = format!(
            ".shared .b32 words[128];
            mov.u32 %r2, 0; shl.b32 %r5, %r0, 2; mov.u32 %r6, words; add.u32 %r6, %r6, %r5; xor.b32 %r7, %r6, 0x1fc;
            ROUND: add.u32 %r3, %r0, %r2; st.shared.u32 [%r6], %r3;
            mbarrier.arrive.shared::cta.b64 %rd5, [object];
            W1: mbarrier.{wait}.shared.b64 %p2, [object], %rd5; @!%p2 bra W1;
            sub.u32 %r8, 508, %r5; mov.u32 %r9, words; add.u32 %r8, %r8, %r9; ld.shared.u32 %r4, [%r8];
            mbarrier.arrive.release.cta.shared::cta.b64 _, [object];
            W2: mbarrier.{wait}.parity.acquire.cta.shared.b64 %p2, [object], 1; @!%p2 bra W2;
            add.u32 %r2, %r2, 1; setp.lt.u32 %p3, %r2, 3; @%p3 bra ROUND;
            mov.u32 %r1, %r4; {STORE} ret;"
        );
        let mut kernel = with_object(128, 128, &body);
        kernel.races = Some(BlockOrder::OneByOne);
        let outcome = kernel.ok();
        assert_eq!(outcome.words(0), (0..128).map(|n| 127 - n + 2).collect::<Vec<u32>>(), "{wait}");
        assert!(outcome.time.races.is_empty(), "{wait}: {:?}", outcome.time.races);
        let waits = |warp: usize| {
            let line = outcome
                .program
                .instrs
                .iter()
                .find(|i| i.line > 0 && format!("{:?}", i.sem).contains("parity: false"));
            outcome.trace(warp).iter().filter(|(at, _)| *at == line.unwrap().line).count()
        };
        if wait == "try_wait" {
            // a suspended warp tests once in every iteration
            assert!((0..4).all(|warp| waits(warp) == 3 * 2), "{}", waits(0));
        } else {
            assert!(waits(0) > 6);
        }
    }
}

#[test]
fn without_the_wait_the_detector_reports_a_race() {
    let body = format!(
        ".shared .b32 word;
        setp.eq.u32 %p4, %r0, 0; @%p4 st.shared.u32 [word], 7;
        mbarrier.arrive.shared.b64 %rd5, [object];
        setp.lt.u32 %p5, %r0, 32; @%p5 bra READ;
        W: mbarrier.try_wait.shared.b64 %p2, [object], %rd5; @!%p2 bra W;
        READ: ld.shared.u32 %r1, [word]; {STORE} ret;"
    );
    let watched = |count: u32, body: &str| {
        let mut kernel = with_object(64, count, body);
        kernel.races = Some(BlockOrder::OneByOne);
        kernel.ok()
    };
    assert!(watched(64, &body).time.races.is_empty());
    let without = watched(64, &body.replace("@!%p2 bra W;", "").replace("@%p5 bra READ;", "bra READ;"));
    assert_eq!(without.time.races.len(), 1);
}

/// One thread tests counts, states, drops and bytes.
#[test]
fn states_and_counts_are_as_the_isa_says() {
    let of = |count: u32, body: &str| {
        let body = format!(
            "mov.u32 %r1, 0; setp.ne.u32 %p3, %r0, 0; @%p3 bra END; {body}
            END: {STORE} ret;"
        );
        with_object(32, count, &body).ok().words(0)[0]
    };
    let pending = "mbarrier.arrive.shared.b64 %rd5, [object]; mbarrier.arrive.shared.b64 %rd5, [object], 3;
        mbarrier.pending_count.b64 %r1, %rd5;";
    assert_eq!(of(9, pending), 8, "the state is that before the arrival");
    let test_wait_code = "mbarrier.test_wait.shared.b64 %p4, [object], %rd5; selp.u32 %r3, 1, 0, %p4; shl.b32 %r1, %r1, 1; or.b32 %r1, %r1, %r3;";
    let parity = "mbarrier.test_wait.parity.shared.b64 %p4, [object], 0; selp.u32 %r3, 1, 0, %p4; shl.b32 %r1, %r1, 1; or.b32 %r1, %r1, %r3;";
    let arrive = "mbarrier.arrive.shared.b64 %rd6, [object];";
    assert_eq!(
        of(
            2,
            &format!(
                "mbarrier.arrive.noComplete.shared.b64 %rd5, [object], 1; {test_wait_code} {arrive} {test_wait_code} {parity}"
            )
        ),
        0b011
    );
    // three phases later the parity is that of the phase before
    assert_eq!(of(1, &format!("{arrive} {parity} {arrive} {parity} {arrive} {parity}")), 0b101);
    // a drop lowers the expected count of later phases
    let drop = "mbarrier.arrive_drop.shared.b64 %rd5, [object];";
    assert_eq!(
        of(
            2,
            &format!(
                "{drop} {test_wait_code} {arrive} {test_wait_code} mov.b64 %rd5, %rd6; {arrive} mov.b64 %rd5, %rd6; {test_wait_code}"
            )
        ),
        0b011
    );
    // bytes are waited for as well
    let bytes = "mbarrier.arrive.expect_tx.shared.b64 %rd5, [object], 64;";
    let half = "mbarrier.complete_tx.relaxed.cta.shared.b64 [object], 32;";
    assert_eq!(
        of(1, &format!("{bytes} {test_wait_code} {half} {test_wait_code} {half} {test_wait_code}")),
        0b001
    );
    let expect = "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [object], 8; mov.u64 %rd5, 0; ";
    assert_eq!(
        of(
            1,
            &format!("{expect} {arrive} {parity} mbarrier.complete_tx.shared::cta.b64 [object], 8; {parity}")
        ),
        1
    );
    // through a generic address, with a time limit
    let generic = "mov.u64 %rd7, object; cvta.shared.u64 %rd7, %rd7; mbarrier.arrive.b64 %rd5, [%rd7];
        mbarrier.try_wait.b64 %p4, [%rd7+0], %rd5, 1000; selp.u32 %r1, 1, 0, %p4;";
    assert_eq!(of(1, generic), 1);
    // no other thread arrives: the time limit expires, and the result is false
    let in_vain =
        "mbarrier.arrive.shared.b64 %rd5, [object]; mbarrier.try_wait.shared.b64 %p4, [object], %rd5;
        selp.u32 %r1, 1, 2, %p4;";
    assert_eq!(of(2, in_vain), 2);
}

/// Copies arrive when they complete, which is immediately here.
#[test]
fn asynchronous_copies_arrive() {
    let copy = |arrive: &str, count: u32| {
        let body = format!(
            ".shared .align 16 .b32 words[64];
            shl.b32 %r5, %r0, 2; mov.u32 %r6, words; add.u32 %r6, %r6, %r5; mul.wide.u32 %rd6, %r0, 4; add.u64 %rd6, %rd1, %rd6;
            cp.async.ca.shared.global [%r6], [%rd6], 4;
            {arrive}
            W: mbarrier.try_wait.parity.shared.b64 %p2, [object], 0; @!%p2 bra W;
            sub.u32 %r5, 252, %r5; mov.u32 %r6, words; add.u32 %r6, %r6, %r5; ld.shared.u32 %r1, [%r6]; {STORE} ret;"
        );
        let input: Vec<u32> = (0..64).map(|n| n * n).collect();
        with_object(64, count, &body).words(&input).ok().words(0)
    };
    let expected: Vec<u32> = (0..64).map(|n| (63 - n) * (63 - n)).collect();
    assert_eq!(copy("cp.async.mbarrier.arrive.noinc.shared.b64 [object];", 64), expected);
    let both =
        "cp.async.mbarrier.arrive.shared::cta.b64 [object]; mbarrier.arrive.shared.b64 %rd8, [object];";
    assert_eq!(copy(both, 64), expected);
}

/// One warp produces, three consume; two objects, several phases.
#[test]
fn producers_and_consumers_take_turns() {
    let body = format!(
        ".shared .align 8 .b64 empty; .shared .b32 slot;
        @%p1 mbarrier.init.shared.b64 [empty], 96; bar.sync 0;
        mov.u32 %r2, 0; mov.u32 %r1, 0; setp.eq.u32 %p5, %r21, 0;
        LOOP: and.b32 %r3, %r2, 1; xor.b32 %r4, %r3, 1;
        @!%p5 bra CONSUME;
        W1: mbarrier.try_wait.parity.shared.b64 %p2, [empty], %r4; @!%p2 bra W1;
        mul.lo.u32 %r6, %r2, %r2; st.shared.u32 [slot], %r6; mbarrier.arrive.shared.b64 _, [object]; bra NEXT;
        CONSUME:
        W2: mbarrier.try_wait.parity.shared.b64 %p2, [object], %r3; @!%p2 bra W2;
        ld.shared.u32 %r6, [slot]; add.u32 %r1, %r1, %r6; mbarrier.arrive.shared.b64 _, [empty];
        NEXT: add.u32 %r2, %r2, 1; setp.lt.u32 %p3, %r2, 10; @%p3 bra LOOP;
        {STORE} ret;"
    );
    let mut kernel = with_object(128, 32, &body);
    kernel.races = Some(BlockOrder::OneByOne);
    let outcome = kernel.ok();
    let expected: Vec<u32> = (0..128).map(|n| if n < 32 { 0 } else { 285 }).collect();
    assert_eq!(outcome.words(0), expected);
    assert!(outcome.time.races.is_empty(), "{:?}", outcome.time.races);
    assert!(outcome.program.untimed_wait().is_some());
    assert!(outcome.program.notes.iter().any(|note| note.contains("no bound is judged")));
}

#[test]
fn errors_of_an_object_are_named() {
    let of =
        |threads: u32, count: u32, body: &str| with_object(threads, count, &format!("{body} ret;")).error();
    for (count, body, why) in [
        (1, "mbarrier.arrive.shared.b64 %rd5, [object+8];", "out-of-bounds mbarrier access"),
        (1, "mbarrier.arrive.shared.b64 %rd5, [object+4];", "misaligned mbarrier access"),
        (
            32,
            "@%p1 mbarrier.inval.shared.b64 [object]; mbarrier.arrive.shared.b64 %rd5, [object];",
            "no mbarrier object",
        ),
        (16, "mbarrier.arrive.shared.b64 %rd5, [object], 17;", "more arrivals"),
        (32, "mbarrier.arrive.noComplete.shared.b64 %rd5, [object], 1;", ".noComplete that completes"),
        (32, "mbarrier.arrive.shared.b64 %rd5, [object], 0;", "0 arrivals"),
        (32, "mbarrier.init.shared.b64 [object], 0;", "for 0 arrivals"),
        (32, "mbarrier.arrive.b64 %rd5, [%rd0];", "of global memory"),
        (32, "mbarrier.expect_tx.shared.b64 [object], 40000;", "too many bytes"),
    ] {
        let error = of(32, count, body);
        assert!(error.contains(why) && error.contains("k.ptx:"), "{body}: {error}");
    }
    // 33 arrivals are expected, but never occur
    let spin = "mbarrier.arrive.shared.b64 %rd5, [object]; W: mbarrier.try_wait.shared.b64 %p2, [object], %rd5; @!%p2 bra W;";
    let deadlock = of(32, 33, spin);
    assert!(deadlock.contains("does not end: warp 0 waits for a phase of an mbarrier object"), "{deadlock}");
    for (body, why) in [
        ("mbarrier.arrive.shared.b32 %rd5, [object];", "are .b64"),
        ("mbarrier.wait.shared.b64 %p2, [object], %rd5;", "names no operation"),
        ("mbarrier.test_wait.shared.b64 %p2, [object], %rd5, 10;", "takes 3 operands"),
        ("mbarrier.init.global.b64 [%rd0], 4;", "shared memory"),
    ] {
        let error = of(32, 32, body);
        assert!(error.contains(why), "{body}: {error}");
    }
}
