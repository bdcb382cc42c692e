//! Bulk copies, and the election of the lane that starts one.

use crate::exec_support;

use exec_support::{STORE, kernel};
use warpbound::exec::races::{AccessKind, BlockOrder, Race};

const SHARED: &str = ".shared .align 8 .b64 object; .shared .align 128 .b8 tile[1024];";

/// One lane copies to shared memory, all wait at the object, change the words, and one copies back.
fn there_and_back(wait: &str) -> exec_support::Kernel {
    let body = format!(
        "setp.ne.u32 %p1, %r0, 0; @%p1 bra READY;
        mbarrier.init.shared::cta.b64 [object], 1; fence.mbarrier_init.release.cluster;
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [object], 512;
        cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%rd0], 256, [object];
        cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes.L2::cache_hint [tile+256], [%rd0+256], 256, [object], %rd9;
        READY: bar.sync 0;
        {wait}
        mov.u32 %r2, tile; shl.b32 %r3, %r0, 2; add.u32 %r2, %r2, %r3;
        ld.shared.u32 %r4, [%r2]; mad.lo.u32 %r4, %r4, 3, 1; st.shared.u32 [%r2], %r4;
        fence.proxy.async.shared::cta; bar.sync 0;
        @%p1 bra END;
        cp.async.bulk.global.shared::cta.bulk_group [%rd1], [tile], 512;
        cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0;
        END: ret;"
    );
    let input: Vec<u32> = (0..128).map(|n| n * n).collect();
    let mut kernel = kernel(128, &body).module(SHARED).words(&input).zeros(512);
    kernel.races = Some(BlockOrder::OneByOne);
    kernel
}

const WAIT: &str = "W: mbarrier.try_wait.parity.shared.b64 %p2, [object], 0; @!%p2 bra W;";

#[test]
fn words_go_to_shared_memory_and_back() {
    let outcome = there_and_back(WAIT).ok();
    assert_eq!(outcome.words(1), (0..128).map(|n| n * n * 3 + 1).collect::<Vec<u32>>());
    assert!(outcome.time.races.is_empty(), "{:?}", outcome.time.races);
    let untimed = outcome.program.untimed_wait().map(|(_, waits)| waits);
    assert_eq!(untimed, Some("copies in bulk"));
    assert!(outcome.program.notes.iter().any(|note| note.contains("copies in bulk")));
}

/// What a copy writes is seen by those who wait at its object, and by those whom they order behind
/// themselves. A barrier behind the instruction that starts the copy does not show that it is complete,
/// and neither does the order of instructions.
#[test]
fn a_reader_that_does_not_wait_races_with_the_copy() {
    let races = |wait: &str| there_and_back(wait).ok().time.races;
    let of_lane_0 = "@%p1 bra ON; W: mbarrier.try_wait.parity.shared.b64 %p2, [object], 0; @!%p2 bra W; ON:";
    assert_eq!(races(&format!("{of_lane_0} bar.sync 0;")), []);
    for wait in ["", "bar.sync 0;", of_lane_0, "setp.gt.u32 %p2, %r0, 31; @%p2 exit;"] {
        let found = races(wait);
        let copies = |race: &Race| {
            [race.first, race.second].map(|party| party.access).contains(&AccessKind::AsyncCopy)
        };
        assert!(!found.is_empty() && found.iter().all(copies), "{wait}: {found:?}");
    }
    // the last words are read by the warp that has copied them
    assert!(races("setp.lt.u32 %p2, %r0, 96; @%p2 ld.shared.u32 %r5, [tile+384];").len() > 1);
}

/// Two places of shared memory are filled and emptied in turn, for which each has two objects.
#[test]
fn places_are_used_again() {
    let body = "setp.ne.u32 %p1, %r0, 0; shr.u32 %r9, %r0, 5;
        @%p1 bra READY;
        mbarrier.init.shared::cta.b64 [full], 1; mbarrier.init.shared::cta.b64 [full+8], 1;
        mbarrier.init.shared::cta.b64 [empty], 64; mbarrier.init.shared::cta.b64 [empty+8], 64;
        READY: bar.sync 0;
        mov.u32 %r2, 0; // the number of the part
        mov.u32 %r7, 0;
        setp.ne.u32 %p3, %r9, 2; @%p3 bra CONSUME;
        // lane 64 copies
        setp.ne.u32 %p3, %r0, 64; @%p3 exit;
        FILL: and.b32 %r3, %r2, 1; shl.b32 %r4, %r3, 3;
        mov.u32 %r5, empty; add.u32 %r5, %r5, %r4; shr.u32 %r6, %r2, 1; xor.b32 %r6, %r6, 1; and.b32 %r6, %r6, 1;
        FREE: mbarrier.try_wait.parity.shared.b64 %p2, [%r5], %r6; @!%p2 bra FREE;
        mov.u32 %r5, full; add.u32 %r5, %r5, %r4; shl.b32 %r4, %r3, 8; mov.u32 %r6, tile; add.u32 %r4, %r4, %r6;
        mul.wide.u32 %rd3, %r2, 256; add.u64 %rd3, %rd0, %rd3;
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5], 256;
        cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r4], [%rd3], 256, [%r5];
        add.u32 %r2, %r2, 1; setp.ne.u32 %p3, %r2, 6; @%p3 bra FILL;
        exit;
        CONSUME: and.b32 %r3, %r2, 1; shl.b32 %r4, %r3, 3;
        mov.u32 %r5, full; add.u32 %r5, %r5, %r4; shr.u32 %r6, %r2, 1; and.b32 %r6, %r6, 1;
        WAIT: mbarrier.try_wait.parity.shared.b64 %p2, [%r5], %r6; @!%p2 bra WAIT;
        shl.b32 %r5, %r3, 8; mov.u32 %r6, tile; add.u32 %r5, %r5, %r6; shl.b32 %r6, %r0, 2; add.u32 %r5, %r5, %r6;
        ld.shared.u32 %r6, [%r5]; mad.lo.u32 %r7, %r7, 3, %r6;
        mov.u32 %r5, empty; add.u32 %r5, %r5, %r4;
        mbarrier.arrive.shared::cta.b64 _, [%r5];
        add.u32 %r2, %r2, 1; setp.ne.u32 %p3, %r2, 6; @%p3 bra CONSUME;
        mul.wide.u32 %rd3, %r0, 4; add.u64 %rd3, %rd1, %rd3; st.global.u32 [%rd3], %r7;
        ret;";
    let input: Vec<u32> = (0..6 * 64).map(|n| n * n).collect();
    let run = |body: &str| {
        let mut kernel = kernel(96, body)
            .module(".shared .align 8 .b64 full[2]; .shared .align 8 .b64 empty[2]; .shared .align 128 .b8 tile[512];")
            .words(&input)
            .zeros(256);
        kernel.races = Some(BlockOrder::OneByOne);
        kernel.ok()
    };
    let outcome = run(body);
    let folded = |lane: usize| {
        (0..6).fold(0_u32, |sum, part| sum.wrapping_mul(3).wrapping_add(input[part * 64 + lane]))
    };
    assert_eq!(outcome.words(1), (0..64).map(folded).collect::<Vec<u32>>());
    assert_eq!(outcome.time.races, []);
    // the readers say that a place is empty before they have read it
    let empty = "mov.u32 %r5, empty; add.u32 %r5, %r5, %r4;
        mbarrier.arrive.shared::cta.b64 _, [%r5];";
    let early = body.replace(empty, "").replace("@!%p2 bra WAIT;", &format!("@!%p2 bra WAIT; {empty}"));
    assert!(early.contains(empty));
    assert!(!run(&early).time.races.is_empty());
}

#[test]
fn reductions_combine_what_is_there() {
    let reduce = |op: &str, old: &[u32], new: &[u32]| {
        let body = format!(
            "mul.wide.u32 %rd3, %r0, 4; add.u64 %rd4, %rd0, %rd3; ld.global.u32 %r2, [%rd4];
            mov.u32 %r3, tile; shl.b32 %r4, %r0, 2; add.u32 %r3, %r3, %r4; st.shared.u32 [%r3], %r2;
            elect.sync _|%p1, 0xf;
            @%p1 cp.reduce.async.bulk.global.shared::cta.bulk_group.{op} [%rd1], [tile], 16;
            cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; ret;"
        );
        kernel(4, &body).module(SHARED).words(new).words(old).ok().words(1)
    };
    assert_eq!(reduce("add.u32", &[1, 2, 3, u32::MAX], &[10, 20, 30, 2]), [11, 22, 33, 1]);
    assert_eq!(reduce("min.s32", &[1, 2, 3, u32::MAX], &[10, 0, 30, 2]), [1, 0, 3, u32::MAX]);
    assert_eq!(reduce("max.u32", &[1, 2, 3, u32::MAX], &[10, 0, 30, 2]), [10, 2, 30, u32::MAX]);
    assert_eq!(reduce("and.b32", &[7, 2, 3, 9], &[10, 0, 30, 8]), [2, 0, 2, 8]);
    let halves = |a: f32, b: f32| [a, b].map(f32::to_bits).to_vec();
    let sums = reduce("add.f32", &[halves(1.5, 2.5), halves(-1.0, 0.0)].concat(), &[0x3f80_0000; 4]);
    assert_eq!(sums, [halves(2.5, 3.5), halves(0.0, 1.0)].concat());
    let pair = reduce("add.noftz.f16", &[0x3c00_4000; 4], &[0x3c00_3c00; 4]);
    assert_eq!(pair, [0x4000_4200; 4]);
    let long = reduce("add.u64", &[u32::MAX, 0, 5, 6], &[1, 0, 7, 8]);
    assert_eq!(long, [0, 1, 12, 14]);
}

/// Reductions to the same words are no race, whichever warps start them; copies to the same words are.
#[test]
fn reductions_do_not_race() {
    let races = |copy: &str| {
        let body = format!(
            "mov.u32 %r3, tile; shl.b32 %r4, %r0, 2; add.u32 %r3, %r3, %r4; st.shared.u32 [%r3], %r0;
            bar.sync 0; and.b32 %r5, %r0, 31; setp.eq.u32 %p1, %r5, 0;
            @%p1 {copy} [%rd0], [tile], 128;
            cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; ret;"
        );
        let mut kernel = kernel(64, &body).module(SHARED).zeros(128);
        (kernel.grid, kernel.races) = ([2, 1, 1], Some(BlockOrder::OneByOne));
        let outcome = kernel.ok();
        (outcome.time.races.len(), outcome.words(0)[..4].to_vec())
    };
    let reduce = "cp.reduce.async.bulk.global.shared::cta.bulk_group";
    assert_eq!(races(&format!("{reduce}.add.u32")), (0, vec![0, 4, 8, 12]));
    assert_eq!(races(&format!("{reduce}.max.u32")), (0, vec![0, 1, 2, 3]));
    assert!(races("cp.async.bulk.global.shared::cta.bulk_group").0 > 0);
}

#[test]
fn the_first_member_is_elected() {
    let elected = |threads: u32, guard: &str, mask: &str| {
        let body = format!(
            "setp.gt.u32 %p3, %r0, 4; mov.u32 %r2, 99; setp.ne.u32 %p1, 0, 0;
            {guard} elect.sync %r2|%p1, {mask}; selp.u32 %r3, 1000, 0, %p1; add.u32 %r1, %r2, %r3; {STORE} ret;"
        );
        kernel(threads, &body).zeros(4 * threads as usize).ok().words(0)
    };
    let of = |leader: u32, n: u32| leader + if leader == n { 1000 } else { 0 };
    assert_eq!(elected(32, "", "-1"), (0..32).map(|n| of(0, n)).collect::<Vec<u32>>());
    let later = elected(32, "@%p3", "-1");
    assert_eq!(later, (0..32).map(|n| if n > 4 { of(5, n) } else { 99 }).collect::<Vec<u32>>());
}

#[test]
fn mistakes_are_named() {
    let of = |from: &str, to: &str| {
        let mut kernel = there_and_back(WAIT);
        assert!(kernel.body.contains(from));
        kernel.body = kernel.body.replacen(from, to, 1);
        kernel.error()
    };
    for (from, to, why) in [
        ("[tile], [%rd0], 256", "[tile], [%rd0], 250", "a bulk copy of 250 bytes"),
        ("[tile], [%rd0], 256", "[tile+8], [%rd0], 256", "misaligned bulk copy"),
        ("[tile], [%rd0], 256", "[tile+1000], [%rd0], 256", "bulk copy"),
        ("[tile], [%rd0], 256", "[tile], [%rd0+400], 256", "out-of-bounds bulk copy"),
        ("256, [object];", "256, [object+8];", "no mbarrier object"),
        ("[object], 512;", "[object], 528;", "does not end"),
        (".bulk.shared::cluster.global", ".bulk.tensor.1d.im2col.shared::cluster.global", "boxes of tensors"),
        (".bulk.shared::cluster.global", ".bulk.tensor.1d.shared::cluster.global", "takes 3 operands"),
        ("complete_tx::bytes [tile]", "complete_tx::bytes.multicast::cluster [tile]", "takes 5 operands"),
        (".bulk.shared::cluster.global", ".bulk.global.global", "does not exist"),
        (".bulk.shared::cluster.global", ".bulk.shared::cluster", "does not have two spaces"),
        (".bulk_group [%rd1]", " [%rd1]", "does not say how it completes"),
    ] {
        let text = of(from, to);
        assert!(text.contains(why) && text.contains("k.ptx:"), "{to}: {text}");
    }
}
