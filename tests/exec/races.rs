//! Accesses whose order matters: they are found where they occur, and nowhere else.

use std::collections::BTreeSet;

use crate::exec_support::{Outcome, kernel};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use warpbound::exec::races::{AccessKind, BlockOrder, Party, Race};
use warpbound::isa::Space;
use warpbound::program::layout::place_buffers;

/// The tests use two warps unless stated otherwise: `%p1` is true in warp 0, `%p2` in warp 1.
const WARPS: &str = "mov.u32 %r2, %warpid; setp.eq.u32 %p1, %r2, 0; setp.eq.u32 %p2, %r2, 1; shl.b32 %r3, %r0, 2;
    .shared .align 16 .b8 s[8192]; mov.u32 %r10, s; add.u32 %r11, %r10, %r3; mul.wide.u32 %rd10, %r0, 4; add.s64 %rd10, %rd0, %rd10;";

fn watched(threads: u32, blocks: u32, order: BlockOrder, body: &str) -> Outcome {
    let mut launch = kernel(threads, &format!("{WARPS}\n{body}\nret;")).zeros(8192);
    launch.grid = [blocks, 1, 1];
    launch.races = Some(order);
    launch.ok()
}

fn races(body: &str) -> Vec<Race> {
    watched(64, 1, BlockOrder::OneByOne, body).time.races
}

/// Returns the lines of races, relative to the first line of the body.
fn lines(races: &[Race]) -> Vec<(u32, u32)> {
    let first =
        kernel(1, WARPS).zeros(1).text().lines().position(|line| line.starts_with("mov.u32 %r2")).unwrap()
            as u32
            + 3;
    races.iter().map(|race| (race.first.line - first, race.second.line - first)).collect()
}

#[test]
fn a_store_races_with_what_another_warp_does_in_the_same_section() {
    let store = "@%p1 st.shared.u32 [%r10+8], %r0;\n";
    let load = "@%p2 ld.shared.u32 %r5, [%r10+8];\n";
    let found = races(&format!("{store}{load}"));
    assert_eq!(lines(&found), [(0, 1)]);
    let [race] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((race.space, race.address), (Space::Shared, 8));
    let party = |warp, access, race: &Party| {
        assert_eq!((race.block, race.warp, race.access), (Some(0), warp, access))
    };
    party(0, AccessKind::Store, &race.first);
    party(1, AccessKind::Load, &race.second);
    // in the opposite order, and with a barrier between
    assert_eq!(lines(&races("@%p1 ld.shared.u32 %r5, [%r10+8];\n@%p2 st.shared.u32 [%r10+8], 5;")), [(0, 1)]);
    assert_eq!(lines(&races("@%p1 st.shared.u32 [%r10+8], 6;\n@%p2 st.shared.u32 [%r10+8], 5;")), [(0, 1)]);
    assert_eq!(races(&format!("{store}bar.sync 0;\n{load}")), []);
    // the same warp, other bytes, only reads
    assert_eq!(races("@%p1 st.shared.u32 [%r10+8], 6; @%p1 ld.shared.u32 %r5, [%r10+8];"), []);
    assert_eq!(races("@%p1 st.shared.u32 [%r10+8], 6; @%p2 st.shared.u32 [%r10+12], 6;"), []);
    assert_eq!(races("ld.shared.u32 %r5, [%r10+8]; ld.global.u32 %r6, [%rd0];"), []);
}

#[test]
fn bytes_count_not_words() {
    let at = |first: u32, second: u32, kind: &str| {
        races(&format!("@%p1 st.shared.{kind} [%r10+{first}], 6;\n@%p2 st.shared.{kind} [%r10+{second}], 5;"))
    };
    assert_eq!(at(8, 9, "u8"), []);
    assert_eq!(at(8, 10, "u16"), []);
    assert_eq!(lines(&at(9, 9, "u8")), [(0, 1)]);
    assert_eq!(at(9, 9, "u8")[0].address, 9);
    // a page that was recorded by words before
    let mixed = "@%p1 st.shared.u32 [%r10+8], 0x01010101;\nbar.sync 0;\n@%p1 st.shared.u8 [%r10+8], 2;\n@%p2 ld.shared.u8 %r5, [%r10+9];\n@%p2 ld.shared.u32 %r5, [%r10+8];";
    // the warp that arrives last at the barrier continues first
    assert_eq!(lines(&races(mixed)), [(4, 2)]);
    let before = "@%p1 st.shared.u32 [%r10+8], 0x01010101;\n@%p2 ld.shared.u8 %r5, [%r10+11];";
    assert_eq!(lines(&races(before)), [(0, 1)]);
}

#[test]
fn accesses_of_whole_rows_race_if_a_byte_is_shared() {
    // warp 1 reads what warp 0 writes, shifted by some words, with every shape of access
    for (shift, expected) in [(0, 1), (28, 1), (31, 1), (32, 0), (40, 0)] {
        for kind in ["shared", "global"] {
            let (own, other) = match kind {
                "shared" => ("%r11", "%r12"),
                _ => ("%rd10", "%rd12"),
            };
            let address = format!(
                "and.b32 %r12, %r0, 31; add.u32 %r12, %r12, {shift}; mul.wide.u32 %rd12, %r12, 4; shl.b32 %r12, %r12, 2;
                 add.u32 %r12, %r12, %r10; add.s64 %rd12, %rd12, %rd0; add.u32 %r13, %r0, 1;"
            );
            let body =
                format!("{address}\n@%p1 st.{kind}.u32 [{own}], %r13;\n@%p2 ld.{kind}.u32 %r5, [{other}];");
            assert_eq!(races(&body).len(), expected, "{kind} {shift}");
            let reverse = body.replace("[%r11]", "[%r14]").replace("[%rd10]", "[%rd14]").replace(
                "add.u32 %r13,",
                "xor.b32 %r14, %r0, 31; shl.b32 %r14, %r14, 2; add.u32 %r14, %r14, %r10; xor.b32 %r15, %r0, 31; mul.wide.u32 %rd14, %r15, 4; add.s64 %rd14, %rd14, %rd0; add.u32 %r13,",
            );
            assert_eq!(races(&reverse).len(), expected, "{kind} {shift} backwards");
        }
    }
}

#[test]
fn blocks_are_ordered_or_not() {
    let body = "mov.u32 %r5, %ctaid.x; add.u32 %r5, %r5, 1;\n@%p1 st.global.u32 [%rd0], %r5;\n@%p1 st.shared.u32 [%r10], %r5;";
    assert_eq!(watched(64, 3, BlockOrder::OneByOne, body).time.races, []);
    let found = watched(64, 3, BlockOrder::SideBySide, body).time.races;
    assert_eq!(lines(&found), [(1, 1)]);
    assert_eq!((found[0].first.block, found[0].second.block), (None, Some(1)));
    assert!(found[0].place.contains("at offset 0 of buffer `p0`"), "{}", found[0].place);
    // a barrier orders only the warps of a block; reads by many blocks do not conflict
    let barrier = "@%p1 ld.global.u32 %r6, [%rd0+8];\nbar.sync 0;\nmov.u32 %r5, %ctaid.x; setp.eq.u32 %p3, %r5, 2;\n@!%p3 bra E;\n@%p2 st.global.u32 [%rd0+8], 3;\nE:";
    let found = watched(64, 3, BlockOrder::SideBySide, barrier).time.races;
    assert_eq!(lines(&found), [(0, 4)]);
    assert!(found[0].first.others && found[0].second.block == Some(2), "{found:?}");
    assert_eq!(watched(64, 3, BlockOrder::OneByOne, barrier).time.races, []);
}

#[test]
fn sums_commute_unless_their_order_is_visible() {
    let quiet = [
        "red.shared.add.u32 [%r10], 1;",
        "atom.shared.add.u32 %r5, [%r10], 1;",
        "atom.global.max.s32 %r5, [%rd0], %r0;",
        "red.global.add.f32 [%rd0], 0f3F800000;",
        "atom.global.inc.u32 %r5, [%rd0], 1000;",
        // the old value of a warp's own cell
        "add.s64 %rd11, %rd10, 1024; atom.global.add.u32 %r5, [%rd11], 1; st.global.u32 [%rd10], %r5;",
        // a histogram, then its use after a barrier
        "and.b32 %r5, %r0, 7; shl.b32 %r5, %r5, 2; add.u32 %r5, %r5, %r10; red.shared.add.u32 [%r5], 1; bar.sync 0; ld.shared.u32 %r6, [%r5];",
    ];
    for body in quiet {
        assert_eq!(races(body), [], "{body}");
    }
    let loud = [
        ("atom.shared.add.u32 %r5, [%r10], 1;\nst.global.u32 [%rd10], %r5;", (0, 0)),
        ("atom.shared.add.u32 %r5, [%r10], 1;\nsetp.eq.u32 %p5, %r5, 3;\n@%p5 bra E;\nE:", (0, 0)),
        (
            "atom.shared.add.u32 %r5, [%r10], 4;\nadd.u32 %r6, %r5, %r10;\nld.shared.u32 %r7, [%r6+64];",
            (0, 0),
        ),
        ("atom.shared.exch.b32 %r5, [%r10], %r0;", (0, 0)),
        ("atom.global.cas.b32 %r5, [%rd0], 0, 1;", (0, 0)),
        ("@%p1 red.shared.add.u32 [%r10], 2;\n@%p2 red.shared.max.u32 [%r10], 5;", (0, 1)),
        ("@%p1 red.shared.add.u32 [%r10], 2;\n@%p2 ld.shared.u32 %r5, [%r10];", (0, 1)),
        ("@%p1 ld.shared.u32 %r5, [%r10];\n@%p2 red.shared.add.u32 [%r10], 2;", (0, 1)),
        ("@%p1 st.shared.u32 [%r10], 9;\n@%p2 red.shared.add.u32 [%r10], 2;", (0, 1)),
        // a plain store is hidden by an atomic one of the same warp
        (
            "@%p1 st.shared.u32 [%r10], 9;\n@%p1 red.shared.add.u32 [%r10], 2;\n@%p2 red.shared.add.u32 [%r10], 2;",
            (0, 2),
        ),
        // and so is an operation whose result is used
        (
            "@%p1 atom.shared.add.u32 %r5, [%r10], 2;\n@%p1 red.shared.add.u32 [%r10], 2;\n@%p2 red.shared.add.u32 [%r10], 2;\n@%p1 st.global.u32 [%rd10], %r5;",
            (0, 2),
        ),
    ];
    for (body, expected) in loud {
        assert_eq!(lines(&races(body)).first(), Some(&expected), "{body}");
    }
}

#[test]
fn a_spin_lock_and_a_last_block_reduction_depend_on_time() {
    let lock = "L: atom.shared.cas.b32 %r5, [%r10], 0, 1;\nsetp.ne.u32 %p3, %r5, 0;\n@%p3 bra L;
        ld.shared.u32 %r6, [%r10+4]; add.u32 %r6, %r6, 1; st.shared.u32 [%r10+4], %r6;\natom.shared.exch.b32 %r5, [%r10], 0;";
    let lock = format!("and.b32 %r5, %r0, 31; setp.ne.u32 %p4, %r5, 0;\n@%p4 bra E;\n{lock}\nE:");
    let found = races(&lock);
    assert!(lines(&found).iter().any(|&(first, second)| first == 2 || second == 2), "{found:?}");
    // threadFenceReduction: the last block to finish adds up the sums of all
    let last = "setp.eq.u32 %p3, %r0, 0; mov.u32 %r5, %ctaid.x; mul.wide.u32 %rd3, %r5, 4; add.s64 %rd3, %rd3, %rd0; @%p3 st.global.u32 [%rd3+256], %r5;
        membar.gl;\n@%p3 atom.global.inc.u32 %r6, [%rd0], 3;\n@%p3 st.shared.u32 [%r10], %r6; bar.sync 0; ld.shared.u32 %r7, [%r10]; setp.ne.u32 %p4, %r7, 3;
        @%p4 bra E; @%p3 ld.global.u32 %r8, [%rd0+256]; @%p3 ld.global.u32 %r9, [%rd0+260];\nE:";
    let side_by_side = watched(64, 4, BlockOrder::SideBySide, last).time.races;
    assert!(lines(&side_by_side).contains(&(2, 2)), "{side_by_side:?}");
    assert!(
        side_by_side
            .iter()
            .any(|race| race.first.access == AccessKind::Atomic && race.second.block == Some(1))
    );
    assert_eq!(watched(64, 4, BlockOrder::OneByOne, last).time.races, []);
}

#[test]
fn named_barriers_order_the_warps_that_pass_them() {
    // warps 0 and 1 read and then arrive; warp 2 waits for both and overwrites
    let body = "setp.eq.u32 %p3, %r2, 2; @%p3 bra W;\nld.shared.u32 %r5, [%r10];\nbar.arrive 1, 96; bra E;\nW: bar.sync 1, 96;\nst.shared.u32 [%r10], 5;\nE:";
    assert_eq!(watched(96, 1, BlockOrder::OneByOne, body).time.races, []);
    // the other direction is not ordered: warps that only arrive do not wait
    let early = "setp.eq.u32 %p3, %r2, 2; @%p3 bra W;\nbar.arrive 1, 96;\nld.shared.u32 %r5, [%r10]; bra E;\nW: bar.sync 1, 96;\nst.shared.u32 [%r10], 5;\nE:";
    assert_eq!(lines(&watched(96, 1, BlockOrder::OneByOne, early).time.races), [(2, 4)]);
    // only one of the readers arrives at the barrier
    let one = "setp.eq.u32 %p3, %r2, 2; @%p3 bra W;\nld.shared.u32 %r5, [%r10];\n@%p2 bra E; bar.arrive 1, 64; bra E;\nW: bar.sync 1, 64;\nst.shared.u32 [%r10], 5;\nE:";
    assert_eq!(lines(&watched(96, 1, BlockOrder::OneByOne, one).time.races), [(1, 4)]);
    // a barrier of the whole block and named ones
    let whole =
        "@%p1 st.shared.u32 [%r10], 5;\nbar.sync 0;\n@%p2 ld.shared.u32 %r5, [%r10]; @%p1 bar.sync 1, 32;";
    assert_eq!(watched(96, 1, BlockOrder::OneByOne, whole).time.races, []);
}

#[test]
fn the_clock_counts_only_if_it_decides_a_path() {
    let at = |body: &str| watched(64, 1, BlockOrder::OneByOne, body).time.value;
    assert_eq!(at("mov.u32 %r5, %clock; st.global.u32 [%rd10], %r5;"), None);
    assert!(
        at("mov.u32 %r5, %clock; and.b32 %r6, %r5, 1; setp.eq.u32 %p4, %r6, 1; @%p4 bra E; E:").is_some()
    );
    assert!(
        at("mov.u32 %r5, %clock; and.b32 %r6, %r5, 4; add.u32 %r6, %r6, %r10; ld.shared.u32 %r7, [%r6];")
            .is_some()
    );
}

/// Random accesses to few bytes compared with the definition: two accesses of different warps in
/// one section that share a byte, one of them a write, not both atomic. All stores change
/// something.
#[test]
fn random_accesses_agree_with_the_definition() {
    struct Access {
        warp: u32,
        section: u32,
        start: u32,
        bytes: u32,
        writes: bool,
        atomic: bool,
    }
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let (mut quiet, mut loud) = (0, 0);
    for round in 0..600 {
        let shared = rng.random_bool(0.5);
        let (mut body, mut accesses) = (String::new(), Vec::new());
        let mut value = 0;
        for section in 0..rng.random_range(1..4) {
            for _ in 0..rng.random_range(1..4) {
                let warp = rng.random_range(0..3);
                let bytes: u32 = [1, 2, 4, 4, 4, 8][rng.random_range(0..6)];
                let start = rng.random_range(0..24 / bytes) * bytes;
                let (space, base) = if shared { ("shared", "%r10") } else { ("global", "%rd0") };
                let kind = rng.random_range(0..3);
                value += 1;
                let guard = format!("setp.eq.u32 %p3, %r2, {warp}; @%p3");
                body += &match kind {
                    0 => format!("{guard} ld.{space}.u{} %rd5, [{base}+{start}];\n", 8 * bytes),
                    1 if bytes == 4 => format!("{guard} red.{space}.add.u32 [{base}+{start}], 1;\n"),
                    // no two stores write the same byte
                    _ => format!(
                        "mov.u64 %rd6, {}; {guard} st.{space}.u{} [{base}+{start}], %rd6;\n",
                        u64::from_le_bytes([value; 8]),
                        8 * bytes
                    ),
                };
                let (writes, atomic) = (kind != 0, kind == 1 && bytes == 4);
                accesses.push(Access { warp, section, start, bytes, writes, atomic });
            }
            body += "bar.sync 0;\n";
        }
        let conflict = |a: &Access, b: &Access| {
            a.warp != b.warp
                && a.section == b.section
                && a.start < b.start + b.bytes
                && b.start < a.start + a.bytes
                && (a.writes || b.writes)
                && !(a.atomic && b.atomic)
        };
        let races_exist = accesses.iter().any(|a| accesses.iter().any(|b| conflict(a, b)));
        let found = watched(96, 1, BlockOrder::OneByOne, &body).time.races;
        assert_eq!(!found.is_empty(), races_exist, "round {round}: {found:?}\n{body}");
        // every reported pair is a conflict
        let number = |line: u32| {
            let before = body.lines().take(line as usize).filter(|line| !line.starts_with("bar")).count();
            &accesses[before]
        };
        for &(first, second) in &lines(&found) {
            assert!(conflict(number(first), number(second)), "round {round}: {first} {second}\n{body}");
        }
        if races_exist { loud += 1 } else { quiet += 1 }
    }
    assert!(quiet > 100 && loud > 100, "{quiet} {loud}");
}

/// The same comparison with whole warps and some stride. Accesses to whole rows of words clear most
/// of the record, and must not clear too much.
#[test]
fn random_strides_agree_with_the_definition() {
    struct Access {
        warp: u32,
        section: u32,
        words: BTreeSet<u32>,
        writes: bool,
        atomic: bool,
    }
    let mut rng = ChaCha8Rng::seed_from_u64(6);
    let (mut quiet, mut loud) = (0, 0);
    for round in 0..400 {
        let shared = rng.random_bool(0.5);
        let (space, base) = if shared { ("shared", "%rd11") } else { ("global", "%rd0") };
        let (mut body, mut accesses) = ("cvt.u64.u32 %rd11, %r10;".to_owned(), Vec::new());
        for section in 0..rng.random_range(1..4) {
            for _ in 0..rng.random_range(1..5) {
                let warp = rng.random_range(0..4);
                let width = [1, 1, 1, 2, 4][rng.random_range(0..5)];
                let stride: u32 = [0, 1, 1, 2, 3, 16, 17, 32][rng.random_range(0..8)] * width;
                let stride = stride.min(32);
                let start =
                    [0, 0, 16, 96, 128, 200, 640][rng.random_range(0..7)] + rng.random_range(0..3) * width;
                let first = [0, 0, 0, 16][rng.random_range(0..4)];
                let kind = if width == 1 { rng.random_range(0..3) } else { rng.random_range(0..2) };
                let value = accesses.len() * 64 + 1;
                body += &format!(
                    "setp.eq.u32 %p3, %r2, {warp}; and.b32 %r4, %r0, 31; setp.ge.and.u32 %p3, %r4, {first}, %p3;
                     mad.lo.u32 %r5, %r4, {}, {}; cvt.u64.u32 %rd6, %r5; add.u64 %rd6, {base}, %rd6; add.u32 %r6, %r4, {value};",
                    stride * 4,
                    start * 4
                );
                let vector = [
                    ("", "%r6", "%r7"),
                    ("v2.", "{%r6, %r6}", "{%r7, %r8}"),
                    ("v4.", "{%r6, %r6, %r6, %r6}", "{%r7, %r8, %r12, %r13}"),
                ];
                let (vector, from, to) = vector[width as usize / 2];
                body += &match kind {
                    0 => format!("@%p3 ld.{space}.{vector}u32 {to}, [%rd6];\n"),
                    1 => format!("@%p3 st.{space}.{vector}u32 [%rd6], {from};\n"),
                    _ => format!("@%p3 red.{space}.add.u32 [%rd6], 1;\n"),
                };
                let words =
                    (first..32).flat_map(|lane| (0..width).map(move |word| start + lane * stride + word));
                accesses.push(Access {
                    warp,
                    section,
                    words: words.collect(),
                    writes: kind != 0,
                    atomic: kind == 2,
                });
            }
            body += "bar.sync 0;\n";
        }
        let conflict = |a: &Access, b: &Access| {
            a.warp != b.warp
                && a.section == b.section
                && !a.words.is_disjoint(&b.words)
                && (a.writes || b.writes)
                && !(a.atomic && b.atomic)
        };
        let races_exist = accesses.iter().any(|a| accesses.iter().any(|b| conflict(a, b)));
        let found = watched(128, 1, BlockOrder::OneByOne, &body).time.races;
        assert_eq!(!found.is_empty(), races_exist, "round {round}: {found:?}\n{body}");
        if races_exist { loud += 1 } else { quiet += 1 }
    }
    assert!(quiet > 80 && loud > 80, "{quiet} {loud}");
}

/// More accesses in a section than are kept: the first of them is reported nevertheless.
#[test]
fn long_sections_forget_nothing() {
    let long = "@%p2 bra W; mov.u32 %r5, 0;\n@%p1 ld.shared.u32 %r6, [%r10+8];\nL: ld.shared.u32 %r6, [%r10+12]; add.u32 %r5, %r5, 1; setp.lt.u32 %p3, %r5, 70000; @%p3 bra L; W:";
    assert_eq!(lines(&races(&format!("{long}\n@%p2 st.shared.u32 [%r10+8], 5;"))), [(1, 3)]);
    // warps take turns, so that some of these loads come after the store
    assert_eq!(lines(&races(&format!("{long}\n@%p2 st.shared.u32 [%r10+12], 5;"))), [(2, 3), (3, 2)]);
    assert_eq!(races(&format!("{long}\n@%p2 st.shared.u32 [%r10+16], 5;")), []);
}

/// Programs without reported races give the same values and the same memory in every order: all
/// interleavings of short programs, with stores that may change nothing and atomic operations of
/// several kinds.
#[test]
fn programs_without_races_give_the_same_results_in_every_order() {
    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Do {
        Load(usize),
        Store(usize, u32),
        Add(usize, u32),
        Max(usize, u32),
        /// The result is stored to memory of the warp.
        Fetch(usize, u32),
        Exchange(usize, u32),
    }
    fn outcomes(
        warps: &[Vec<Do>],
        at: &mut Vec<usize>,
        memory: [u32; 2],
        seen: &[Vec<u32>],
        all: &mut BTreeSet<([u32; 2], Vec<Vec<u32>>)>,
    ) {
        if warps.iter().zip(&*at).all(|(warp, &at)| at == warp.len()) {
            all.insert((memory, seen.to_vec()));
            return;
        }
        for warp in 0..warps.len() {
            let Some(&act) = warps[warp].get(at[warp]) else { continue };
            let (mut memory, mut seen) = (memory, seen.to_vec());
            match act {
                Do::Load(a) => seen[warp].push(memory[a]),
                Do::Store(a, v) => memory[a] = v,
                Do::Add(a, v) => memory[a] += v,
                Do::Max(a, v) => memory[a] = memory[a].max(v),
                Do::Fetch(a, v) => {
                    seen[warp].push(memory[a]);
                    memory[a] += v;
                }
                Do::Exchange(a, v) => memory[a] = v,
            }
            at[warp] += 1;
            outcomes(warps, at, memory, &seen, all);
            at[warp] -= 1;
        }
    }
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    let (mut quiet, mut rewritten) = (0, 0);
    for _ in 0..1500 {
        let count = rng.random_range(2..4);
        let act = |rng: &mut ChaCha8Rng| {
            let (a, v) = (rng.random_range(0..2), rng.random_range(0..2));
            match rng.random_range(0..12) {
                0..3 => Do::Load(a),
                3..8 => Do::Store(a, v),
                8 => Do::Add(a, v + 1),
                9 => Do::Max(a, v + 1),
                10 => Do::Fetch(a, v + 1),
                _ => Do::Exchange(a, v),
            }
        };
        let warps: Vec<Vec<Do>> =
            (0..count).map(|_| (0..rng.random_range(1..4)).map(|_| act(&mut rng)).collect()).collect();
        let mut body = String::new();
        let mut place = 64;
        for (warp, acts) in warps.iter().enumerate() {
            body += &format!("setp.eq.u32 %p3, %r0, {};\n", 32 * warp);
            for act in acts {
                place += 4;
                body += &match act {
                    Do::Load(a) => format!("@%p3 ld.shared.u32 %r5, [%r10+{}];\n", 4 * a),
                    Do::Store(a, v) => format!("@%p3 st.shared.u32 [%r10+{}], {v};\n", 4 * a),
                    Do::Add(a, v) => format!("@%p3 red.shared.add.u32 [%r10+{}], {v};\n", 4 * a),
                    Do::Max(a, v) => format!("@%p3 red.shared.max.u32 [%r10+{}], {v};\n", 4 * a),
                    Do::Fetch(a, v) => format!(
                        "@%p3 atom.shared.add.u32 %r5, [%r10+{}], {v}; @%p3 st.global.u32 [%rd0+{place}], %r5;\n",
                        4 * a
                    ),
                    Do::Exchange(a, v) => format!("@%p3 atom.shared.exch.b32 %r6, [%r10+{}], {v};\n", 4 * a),
                };
            }
        }
        let found = watched(32 * count as u32, 1, BlockOrder::OneByOne, &body).time.races;
        let mut all = BTreeSet::new();
        outcomes(&warps, &mut vec![0; count], [0; 2], &vec![Vec::new(); count], &mut all);
        if found.is_empty() {
            assert_eq!(all.len(), 1, "{warps:?}");
            quiet += 1;
            let stores = |acts: &Vec<Do>, a| acts.iter().any(|act| matches!(act, Do::Store(b, _) if *b == a));
            let writers = |a: usize| warps.iter().filter(|acts| stores(acts, a)).count();
            rewritten += usize::from((0..2).any(|a| writers(a) > 1));
        }
    }
    assert!(quiet > 200 && rewritten > 20, "{quiet} {rewritten}");
}

#[test]
fn reads_of_memory_that_is_never_written_are_not_recorded() {
    // %rd0 and %rd1 are two buffers
    let run = |body: &str| {
        let mut launch = kernel(64, &format!("{WARPS}\n{body}\nret;")).zeros(4096).zeros(4096);
        launch.races = Some(BlockOrder::SideBySide);
        launch.race_memory = 0;
        launch.ok().time
    };
    let quiet = run("ld.global.u32 %r5, [%rd10]; ld.global.u32 %r6, [%rd1];");
    assert!(quiet.is_empty(), "{quiet:?}");
    // the other buffer is written, and recording that takes memory
    assert!(run("ld.global.u32 %r5, [%rd10]; st.global.u32 [%rd1], %r5;").incomplete);
    assert!(run("ld.global.u32 %r5, [%rd10]; st.global.u32 [%rd10], %r5;").incomplete);
    assert!(run("atom.global.add.u32 %r5, [%rd10], 1;").incomplete);
    // the same holds for variables of the module
    let quiet = run(".global .u32 v[4]; ld.global.u32 %r5, [v];");
    assert!(quiet.is_empty(), "{quiet:?}");
    assert!(run(".global .u32 v[4]; ld.global.u32 %r5, [v]; st.global.u32 [v], %r5;").incomplete);
}

#[test]
fn a_store_outside_of_the_buffer_of_its_pointer_is_noticed() {
    // from the second buffer to the first, by a distance that is stored in memory
    let body = "ld.global.u32 %r5, [%rd10];\nld.global.u32 %r6, [%rd1]; cvt.s64.s32 %rd5, %r6;
        add.s64 %rd6, %rd1, %rd5;\nst.global.u32 [%rd6], 7;";
    let run = |distance: i32| {
        let launch = kernel(32, &format!("{WARPS}\n{body}\nret;")).zeros(4096);
        let mut launch = launch.words(&[distance as u32, 0, 0, 0]);
        launch.races = Some(BlockOrder::OneByOne);
        launch.ok().time
    };
    assert_eq!(run(8).stray, None);
    let places: Vec<u64> = place_buffers([4096, 16]).iter().map(|place| place.address).collect();
    let strayed = run((places[0] as i64 - places[1] as i64) as i32);
    assert!(strayed.stray.is_some() && !strayed.is_empty(), "{strayed:?}");
}
