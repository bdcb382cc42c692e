//! Tests of results that depend on the order of warps, on time, and on placement. Random kernels
//! under several orders are compared with the report of the race detector for one order. Each kind
//! of dependence is also tested separately.

use crate::exec_support::{Kernel, Outcome, kernel};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use warpbound::exec::races::{AccessKind, BlockOrder, Race, Source};

/// `%r2` is the warp, `%p1` and `%p2` are true in warps 0 and 1, `%r10` is the start of shared
/// memory.
const WARPS: &str = "shr.u32 %r2, %r0, 5; setp.eq.u32 %p1, %r2, 0; setp.eq.u32 %p2, %r2, 1; shl.b32 %r3, %r0, 2;
    .shared .align 16 .b8 s[8192]; mov.u32 %r10, s; add.u32 %r11, %r10, %r3; mul.wide.u32 %rd10, %r0, 4; add.s64 %rd10, %rd0, %rd10;";

fn launch(threads: u32, body: &str) -> Kernel {
    let mut launch = kernel(threads, &format!("{WARPS}\n{body}\nret;")).zeros(8192);
    launch.races = Some(BlockOrder::OneByOne);
    launch
}

fn watched(threads: u32, body: &str) -> Outcome {
    launch(threads, body).ok()
}

fn decides(body: &str) -> Option<Source> {
    watched(96, body).time.value.map(|value| value.source)
}

const BRANCH_ON_R5: &str =
    "and.b32 %r6, %r5, 1; setp.eq.u32 %p4, %r6, 1; @%p4 bra E; add.u32 %r7, %r7, 1;\nE:";

#[test]
fn sums_of_floats_count_if_they_decide_a_path() {
    let sum = "mov.f32 %f1, 0f3f800000; red.shared.add.f32 [%r10], %f1; bar.sync 0;";
    let load = "ld.shared.u32 %r5, [%r10];";
    assert_eq!(decides(&format!("{sum} {load} st.global.u32 [%rd10], %r5;")), None);
    assert_eq!(decides(&format!("{sum} {load} {BRANCH_ON_R5}")), Some(Source::Sum));
    let address = "and.b32 %r5, %r5, 4; add.u32 %r5, %r5, %r10; ld.shared.u32 %r6, [%r5];";
    assert_eq!(decides(&format!("{sum} {load} {address}")), Some(Source::Sum));
    // through more memory, and back
    let copy = "st.shared.u32 [%r11+64], %r5; ld.shared.u32 %r5, [%r11+64];";
    assert_eq!(decides(&format!("{sum} {load} {copy} {BRANCH_ON_R5}")), Some(Source::Sum));
    // a single warp adds in one order, and the order of integer additions is irrelevant
    let alone = "mov.f32 %f1, 0f3f800000; @%p1 red.shared.add.f32 [%r10], %f1; bar.sync 0;";
    assert_eq!(decides(&format!("{alone} {load} {BRANCH_ON_R5}")), None);
    let integers = "red.shared.add.u32 [%r10], 1; bar.sync 0;";
    assert_eq!(decides(&format!("{integers} {load} {BRANCH_ON_R5}")), None);
    // warps in turn, and a word that is overwritten
    let turns = format!("{alone} @%p2 red.shared.add.f32 [%r10], %f1; bar.sync 0;");
    assert_eq!(decides(&format!("{turns} {load} {BRANCH_ON_R5}")), None);
    let anew = "@%p1 st.shared.u32 [%r10], 5; bar.sync 0;";
    assert_eq!(decides(&format!("{sum} {anew} {load} {BRANCH_ON_R5}")), None);
}

#[test]
fn clocks_and_placement_count_if_they_decide_a_path_also_through_memory() {
    for clock in ["%clock", "%clock_hi", "%globaltimer_lo"] {
        let read = format!("mov.u32 %r5, {clock};");
        assert_eq!(decides(&format!("{read} st.global.u32 [%rd10], %r5;")), None, "{clock}");
        assert_eq!(decides(&format!("{read} {BRANCH_ON_R5}")), Some(Source::Clock), "{clock}");
        for place in ["shared.u32 [%r11]", "global.u32 [%rd10]"] {
            let (space, at) = place.split_once(' ').unwrap();
            let through = format!("{read} st.{space} {at}, %r5; mov.u32 %r5, 0; ld.{space} %r8, {at};");
            let branch = BRANCH_ON_R5.replace("%r5", "%r8");
            assert_eq!(decides(&format!("{through} {branch}")), Some(Source::Clock), "{clock} {place}");
        }
        let local = format!(".local .align 4 .b8 l[8]; {read} st.local.u32 [l], %r5; ld.local.u32 %r8, [l];");
        let branch = BRANCH_ON_R5.replace("%r5", "%r8");
        assert_eq!(decides(&format!("{local} {branch}")), Some(Source::Clock), "{clock}");
    }
    for (place, side_by_side, one_by_one) in [
        ("%smid", true, false),
        ("%warpid", true, false),
        ("%nsmid", true, true),
        ("%nwarpid", true, true),
        ("%gridid", true, true),
    ] {
        let body = format!("mov.u32 %r5, {place}; {BRANCH_ON_R5}");
        for (order, varies) in [(BlockOrder::SideBySide, side_by_side), (BlockOrder::OneByOne, one_by_one)] {
            let outcome = Kernel { races: Some(order), ..launch(64, &body) }.ok();
            let source = outcome.time.value.map(|value| value.source);
            assert_eq!(source, varies.then_some(Source::Placement), "{place} {order:?}");
        }
    }
}

#[test]
fn operations_on_one_cell_commute_only_if_they_are_the_same() {
    let pairs = [
        ("min.s32", "min.u32", false),
        ("max.u32", "max.u32", true),
        ("add.s32", "add.u32", true),
        ("add.f32", "add.u32", false),
        ("add.f32", "add.f32", true),
        ("add.u32", "and.b32", false),
        ("xor.b32", "xor.b32", true),
    ];
    for (one, other, commutes) in pairs {
        let body = format!("@%p1 red.shared.{one} [%r10], %r4;\n@%p2 red.shared.{other} [%r10], %r4;");
        let body = body.replace("f32 [%r10], %r4", "f32 [%r10], %f4");
        assert_eq!(watched(64, &body).time.races.is_empty(), commutes, "{one} {other}");
    }
    for op in ["inc", "dec"] {
        let at = |bound: &str| watched(96, &format!("{bound}\nred.shared.{op}.u32 [%r10], %r5;")).time.races;
        assert_eq!(at("mov.u32 %r5, 7;"), []);
        assert_eq!(at("add.u32 %r5, %r2, 7;").len(), 1, "another bound in each warp");
        let two = format!("@%p1 red.shared.{op}.u32 [%r10], 5;\n@%p2 red.shared.{op}.u32 [%r10], 6;");
        assert_eq!(watched(64, &two).time.races.len(), 1);
        let apart =
            format!("@%p1 red.shared.{op}.u32 [%r10], 5; bar.sync 0;\n@%p2 red.shared.{op}.u32 [%r10], 6;");
        assert_eq!(watched(64, &apart).time.races, []);
    }
}

#[test]
fn copies_in_flight_race_with_accesses_to_their_bytes() {
    let copy = "cp.async.ca.shared.global [%r11], [%rd10], 4; cp.async.commit_group;";
    let wait = "cp.async.wait_group 0;";
    let own = "ld.shared.u32 %r5, [%r11];";
    // a neighbour's word in another warp
    let other = "xor.b32 %r4, %r3, 128; add.u32 %r4, %r4, %r10; ld.shared.u32 %r5, [%r4];";
    let races = |body: &str| watched(64, body).time.races;
    assert_eq!(races(&format!("{copy}\n{wait}\n{own}")), []);
    assert_eq!(races(&format!("{copy}\n{wait}\nbar.sync 0;\n{other}")), []);
    let found = races(&format!("{copy}\n{own}\n{wait}"));
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].first.access, found[0].second.access), (AccessKind::AsyncCopy, AccessKind::Load));
    // a barrier is not a wait, and a barrier before the wait does not order what comes after the
    // wait
    for body in
        [format!("{copy}\nbar.sync 0;\n{other}\n{wait}"), format!("{copy}\nbar.sync 0;\n{wait}\n{other}")]
    {
        let found = races(&body);
        let pair = |race: &Race| [race.first.access, race.second.access];
        assert!(
            found.iter().any(|race| pair(race) == [AccessKind::AsyncCopy, AccessKind::Load]),
            "{found:?}"
        );
    }
    assert_eq!(races(&format!("{copy}\nst.shared.u32 [%r11], 7;\n{wait}")).len(), 1);
    assert_eq!(races(&format!("{copy}\nst.global.u32 [%rd10], 7;\n{wait}")).len(), 1, "what it reads");
    assert_eq!(races(&format!("{copy}\n{wait}\nst.global.u32 [%rd10], 7;")), []);
    // two groups, one of which may be in flight
    let second = copy.replace("[%r11]", "[%r11+4096]");
    let one = "cp.async.wait_group 1;";
    assert_eq!(races(&format!("{copy}\n{second}\n{one}\n{own}\n{wait}")), []);
    let late = "ld.shared.u32 %r6, [%r11+4096];";
    assert_eq!(races(&format!("{copy}\n{second}\n{one}\n{late}\n{wait}")).len(), 1);
    assert_eq!(races(&format!("{copy}\n{second}\ncp.async.wait_all;\n{late}")), []);
    // a group that was not committed is not waited for
    let open = "cp.async.ca.shared.global [%r11], [%rd10], 4;";
    assert_eq!(races(&format!("{open}\n{wait}\n{own}")).len(), 1);
}

#[test]
fn threads_that_have_ended_do_not_arrive_at_a_counted_barrier() {
    let body = |bar: &str| format!("@%p2 bra E;\n{bar}\nE:");
    watched(64, &body("bar.sync 0;"));
    for bar in ["bar.sync 0, 64;", "bar.sync 3, 64;", "mov.u32 %r9, 64; bar.sync 0, %r9;"] {
        let error = launch(64, &body(bar)).error();
        assert!(
            error.contains("1 of 2 warps have arrived") && error.contains("leave out the count"),
            "{error}"
        );
    }
}

/// Returns a part of a random kernel, over few cells of shared memory and all kinds of varying
/// values.
fn piece(rng: &mut ChaCha8Rng) -> String {
    let cell = 4 * rng.random_range(0..4);
    let guard = ["", "@%p1 ", "@%p2 "][rng.random_range(0..3)];
    let skip = rng.random_range(0..1_000_000);
    match rng.random_range(0..14) {
        0 | 1 => format!("{guard}ld.shared.u32 %r5, [%r10+{cell}];"),
        2 => format!("{guard}st.shared.u32 [%r10+{cell}], %r5;"),
        3 => format!("{guard}st.shared.u32 [%r10+{cell}], {};", rng.random_range(0..3)),
        4 | 5 => {
            let op =
                ["add.u32", "min.s32", "min.u32", "inc.u32", "dec.u32", "xor.b32"][rng.random_range(0..6)];
            let by = ["3", "%r2", "%r5", "0x80000001"][rng.random_range(0..4)];
            format!("{guard}red.shared.{op} [%r10+{cell}], {by};")
        }
        6 => format!("{guard}red.shared.add.f32 [%r10+{cell}], %f1;"),
        7 => format!("{guard}atom.shared.add.u32 %r5, [%r10+{cell}], 1;"),
        8 => "mov.u32 %r5, %clock;".to_owned(),
        9 => "and.b32 %r5, %r5, 12; add.u32 %r6, %r10, %r5; ld.shared.u32 %r7, [%r6];".to_owned(),
        // the path depends on a value
        10 | 11 => format!(
            "and.b32 %r6, %r5, 1; setp.eq.u32 %p4, %r6, 1; @%p4 bra L{skip}; add.u32 %r7, %r7, 1;\nL{skip}:"
        ),
        _ => "bar.sync 0;".to_owned(),
    }
}

/// If nothing is reported to depend on time, every order gives the same paths.
#[test]
fn kernels_without_reported_dependences_have_the_same_paths_in_every_order() {
    let mut rng = ChaCha8Rng::seed_from_u64(32);
    let (mut quiet, mut caught) = (0, 0);
    // large and small numbers, so that the order of additions matters
    let numbers = "mov.f32 %f1, 0f4cbebc20; @%p1 mov.f32 %f1, 0fccbebc20; @%p2 mov.f32 %f1, 0f3f800000; mov.u32 %r5, %r2;";
    for round in 0..400 {
        let pieces: Vec<String> = (0..rng.random_range(3..14)).map(|_| piece(&mut rng)).collect();
        let body = format!("{numbers}\n{}", pieces.join("\n"));
        let one = watched(96, &body);
        let differs = (1..7).any(|seed| {
            let other =
                Kernel { another_order: Some(seed * 7919 + round), races: None, ..launch(96, &body) }.ok();
            other.blocks != one.blocks
        });
        if one.time.is_empty() {
            assert!(!differs, "round {round}: {body}");
            quiet += 1;
        } else if differs {
            caught += 1;
        }
    }
    assert!(quiet > 50 && caught > 50, "{quiet} kernels depend on nothing, {caught} differ");
}

/// A register that was never written has an unknown value.
#[test]
fn unwritten_registers_count_if_they_decide_a_path() {
    let branch = "setp.eq.u32 %p4, %r40, 1; @%p4 bra E; add.u32 %r7, %r2, 1;\nE:";
    assert_eq!(decides(branch), Some(Source::Unset));
    assert_eq!(decides(&format!("mov.u32 %r40, %r2; {branch}")), None);
    // such values may be stored and computed with
    assert_eq!(decides("add.u32 %r41, %r40, 1; st.global.u32 [%rd10], %r41;"), None);
    let address = "and.b32 %r41, %r40, 4; add.u32 %r41, %r41, %r10; ld.shared.u32 %r6, [%r41];";
    assert_eq!(decides(address), Some(Source::Unset));
    assert_eq!(decides("@%p9 bra E; add.u32 %r7, %r2, 1;\nE:"), Some(Source::Unset), "a predicate register");
    let through = "st.shared.u32 [%r11], %r40; ld.shared.u32 %r5, [%r11];";
    assert_eq!(decides(&format!("{through} {BRANCH_ON_R5}")), Some(Source::Unset));
    // the branches and guards under which it is written
    for (writes, unset) in [
        ("@%p1 mov.u32 %r40, 1;", true),
        ("@%p1 mov.u32 %r40, 1; @!%p1 mov.u32 %r40, 2;", false),
        ("@%p1 mov.u32 %r40, 1; @%p2 mov.u32 %r40, 2;", true),
        ("@%p1 mov.u32 %r40, 1; setp.ne.u32 %p1, %r2, 1; @!%p1 mov.u32 %r40, 2;", true),
        ("@%p1 bra A; mov.u32 %r40, 1; bra B;\nA: mov.u32 %r40, 2;\nB:", false),
        ("@%p1 bra A; mov.u32 %r40, 1;\nA:", true),
        ("@%p1 bra A; mov.u32 %r40, 1;\nA: @%p1 mov.u32 %r40, 2;", false),
        ("@%p1 bra A; mov.u32 %r40, 1;\nA: @!%p1 mov.u32 %r40, 2;", true),
        (
            "mov.u32 %r9, 0;\nA: add.u32 %r9, %r9, 1; mov.u32 %r40, %r9; setp.lt.u32 %p5, %r9, 3; @%p5 bra A;",
            false,
        ),
        (
            "mov.u32 %r9, 0;\nA: setp.ge.u32 %p5, %r9, 3; @%p5 bra B; mov.u32 %r40, 1; add.u32 %r9, %r9, 1; bra A;\nB:",
            true,
        ),
    ] {
        let expected = unset.then_some(Source::Unset);
        assert_eq!(decides(&format!("{writes}\n{branch}")), expected, "{writes}");
    }
    // the reader has the same guard as the writer
    let under = |guard: &str| format!("@%p1 mov.u32 %r40, 1; {guard} add.u32 %r5, %r40, 1; {BRANCH_ON_R5}");
    let set = "mov.u32 %r5, 0;";
    assert_eq!(decides(&format!("{set} {}", under("@%p1"))), None);
    assert_eq!(decides(&format!("{set} {}", under("@!%p1"))), Some(Source::Unset));
    let select = |p: &str| format!("@%p1 mov.u32 %r40, 1; selp.u32 %r5, {p}; {BRANCH_ON_R5}");
    assert_eq!(decides(&select("%r40, 0, %p1")), None);
    assert_eq!(decides(&select("0, %r40, %p1")), Some(Source::Unset));
}

/// The return values of functions are written; other registers are unknown in them.
#[test]
fn registers_of_functions_are_written_by_their_callers_and_by_them() {
    let function = |body: &str| {
        format!(".func (.reg .u32 %out) f (.reg .u32 %in) {{ .reg .u32 %own; .reg .pred %q; {body} ret; }}")
    };
    let call = format!("call (%r5), f, (%r2); {BRANCH_ON_R5}");
    for (body, expected) in [
        ("add.u32 %out, %in, 1;", None),
        ("add.u32 %out, %own, 1;", Some(Source::Unset)),
        ("setp.eq.u32 %q, %in, 0; @%q mov.u32 %out, 1;", None),
        ("mov.u32 %out, 0; setp.eq.u32 %q, %own, 0; @%q bra E; mov.u32 %out, 1;\nE:", Some(Source::Unset)),
    ] {
        let outcome = launch(96, &call).module(&function(body)).ok();
        assert_eq!(outcome.time.value.map(|value| value.source), expected, "{body}");
    }
}
