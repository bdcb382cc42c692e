//! Memory: spaces, bounds, initial contents, atomics.

use crate::exec_support;

use exec_support::{STORE, kernel};
use warpbound::isa::Space;
use warpbound::program::Sem;

#[test]
fn accesses_out_of_bounds_name_lane_thread_and_buffer() {
    let body = "mul.wide.u32 %rd10, %r0, 4; add.u64 %rd11, %rd1, %rd10;
        mov.u32 %r2, %ctaid.x; mul.wide.u32 %rd12, %r2, 256; add.u64 %rd11, %rd11, %rd12;
        ld.global.u32 %r1, [%rd11];
        ret;";
    let mut launch = kernel(64, body).zeros(4).zeros(400);
    launch.grid = [2, 1, 1];
    let error = launch.error();
    for part in [
        "k.ptx:12",
        "out-of-bounds load of 4 bytes at global address 0xc0001290",
        "0 bytes past the end of buffer `p1`, which has 400 bytes",
        "lane 4 of warp 1, thread (36, 0, 0) of block (1, 0, 0)",
        "hint",
    ] {
        assert!(error.contains(part), "no {part:?} in {error}");
    }
}

#[test]
fn other_bad_accesses() {
    let error = |body: &str| kernel(32, body).zeros(64).error();
    let misaligned = error("ld.global.u32 %r1, [%rd0+2]; ret;");
    assert!(
        misaligned.contains("misaligned load of 4 bytes")
            && misaligned.contains("at offset 2 of buffer `p0`")
    );
    let vector = error("ld.global.v2.u32 {%r1, %r2}, [%rd0+4]; ret;");
    assert!(vector.contains("misaligned load of 8 bytes"), "{vector}");
    let null = error("mov.u64 %rd1, 0; st.global.u32 [%rd1], %r0; ret;");
    assert!(null.contains("store of 4 bytes") && null.contains("null pointer"), "{null}");
    let before = error("ld.global.u32 %r1, [%rd0+-4]; ret;");
    assert!(before.contains("4 bytes before buffer `p0`"), "{before}");
    let last = error("mov.u64 %rd1, -1; ld.global.u8 %r1, [%rd1]; ret;");
    assert!(last.contains("0xffffffffffffffff") && last.contains("past the end of buffer `p0`"), "{last}");
    let shared = error(".shared .align 4 .b8 s[64]; mov.u32 %r1, s; ld.shared.u32 %r1, [%r1+64]; ret;");
    assert!(
        shared.contains("shared address 0x40") && shared.contains("shared memory has 64 bytes"),
        "{shared}"
    );
    let atomic = error("atom.global.add.u32 %r1, [%rd0+64], 1; ret;");
    assert!(atomic.contains("atomic access of 4 bytes"), "{atomic}");
    let local = error(".local .align 4 .b8 l[8]; mov.u32 %r1, l; st.local.u32 [%r1+64], %r0; ret;");
    assert!(local.contains("local memory"), "{local}");
    let copy = error(
        ".shared .align 16 .b8 s[16]; mov.u32 %r1, s; cp.async.cg.shared.global [%r1], [%rd0+64], 16; ret;",
    );
    assert!(copy.contains("asynchronous copy of 16 bytes at global"), "{copy}");
    let generic = error(
        ".shared .align 4 .b8 s[8]; mov.u64 %rd1, s; cvta.shared.u64 %rd1, %rd1; ld.u32 %r1, [%rd1+8]; ret;",
    );
    assert!(generic.contains("shared address 0x8 (generic 0x1000008)"), "{generic}");
}

#[test]
fn lanes_that_are_off_may_have_any_address() {
    let body = "setp.gt.u32 %p1, %r0, 40; mov.u64 %rd1, 3; @%p1 ld.global.u32 %r1, [%rd1]; ret;";
    kernel(32, body).zeros(4).ok();
}

#[test]
fn variables_have_their_initial_contents_and_the_host_can_set_them() {
    let module = ".global .align 4 .u32 g[3] = {5, 6, 7};\n.const .align 4 .u32 c[2] = {1, 2};\n\
        .const .align 4 .u32 d;";
    let body = format!(
        "ld.global.u32 %r1, [g+4]; ld.const.u32 %r2, [c+4]; add.u32 %r1, %r1, %r2;
        ld.const.u32 %r2, [d]; add.u32 %r1, %r1, %r2;
        mov.u64 %rd10, g; cvta.global.u64 %rd10, %rd10; ld.u32 %r2, [%rd10+8]; add.u32 %r1, %r1, %r2;
        {STORE} ret;"
    );
    let mut launch = kernel(32, &body).module(module).zeros(128);
    launch.symbols = vec![("d".into(), 1000u32.to_le_bytes().to_vec()), ("g".into(), vec![9; 4])];
    assert_eq!(launch.ok().words(0), [6 + 2 + 1000 + 7; 32]);
    let mut launch = kernel(32, &body).module(module).zeros(128);
    launch.symbols = vec![("nosuch".into(), vec![0; 4])];
    assert!(launch.error().contains("nosuch"));
}

#[test]
fn generic_addresses_reach_every_space_lane_by_lane() {
    let body = format!(
        ".shared .align 4 .u32 s[32]; .local .align 4 .u32 l;
        mov.u64 %rd10, s; cvta.shared.u64 %rd10, %rd10; mul.wide.u32 %rd11, %r0, 4; add.u64 %rd10, %rd10, %rd11;
        mov.u64 %rd12, l; cvta.local.u64 %rd12, %rd12;
        add.u64 %rd13, %rd0, %rd11;
        rem.u32 %r2, %r0, 3; setp.eq.u32 %p1, %r2, 0; setp.eq.u32 %p2, %r2, 1;
        selp.b64 %rd14, %rd12, %rd13, %p2; selp.b64 %rd14, %rd10, %rd14, %p1;
        isspacep.shared %p3, %rd14; isspacep.local %p4, %rd14; isspacep.global %p5, %rd14;
        add.u32 %r3, %r0, 100;
        st.u32 [%rd14], %r3;
        ld.u32 %r1, [%rd14];
        selp.u32 %r4, 1000, 0, %p3; add.u32 %r1, %r1, %r4; selp.u32 %r4, 2000, 0, %p4; add.u32 %r1, %r1, %r4;
        selp.u32 %r4, 4000, 0, %p5; add.u32 %r1, %r1, %r4;
        {STORE} ret;"
    );
    let outcome = kernel(32, &body).zeros(128).ok();
    let expected: Vec<u32> = (0..32).map(|lane| lane + 100 + [1000, 2000, 4000][lane as usize % 3]).collect();
    assert_eq!(outcome.words(0), expected);
    // the timing class is that of the first lane
    let steps = outcome.blocks[0].warps[0].steps().iter();
    let spaces: Vec<Space> = steps
        .filter(|step| {
            matches!(outcome.program.instr(step.pc()).sem, Sem::Load { space: Space::Generic, .. })
        })
        .map(|step| step.memory().space)
        .collect();
    assert_eq!(spaces, [Space::Shared]);
}

#[test]
fn narrow_and_vector_accesses_extend_as_their_type_says() {
    let body = "
        ld.global.s8 %r1, [%rd1]; ld.global.u8 %r2, [%rd1]; ld.global.s16 %r3, [%rd1]; ld.global.u16 %r4, [%rd1+2];
        ld.global.v4.u8 {%r5, %r6, %r7, %r8}, [%rd1+4];
        ld.global.s32 %rd5, [%rd1];
        st.global.v4.u32 [%rd0], {%r1, %r2, %r3, %r4};
        st.global.v2.u32 [%rd0+16], {%r5, %r8};
        st.global.u64 [%rd0+24], %rd5;
        st.global.u8 [%rd0+32], %r1; st.global.u16 [%rd0+34], %r1;
        ret;";
    let outcome = kernel(1, body).zeros(36).words(&[0xfedc_ba98, 0x0403_0201]).ok();
    let expected = [0xffff_ff98, 0x98, 0xffff_ba98, 0xfedc, 1, 4, 0xfedc_ba98, 0xffff_ffff, 0xff98_0098];
    assert_eq!(outcome.words(0), expected);
}

#[test]
fn shared_and_local_memory_are_fresh_in_every_block() {
    let body = ".shared .align 4 .u32 s; .local .align 4 .u32 l; .reg .b32 %a;
        ld.shared.u32 %r1, [s]; ld.local.u32 %r2, [l]; add.u32 %r1, %r1, %r2;
        st.shared.u32 [s], 5; st.local.u32 [l], 6;
        atom.global.add.u32 %a, [%rd0], %r1; red.global.add.u32 [%rd0+4], 1; ret;";
    let mut launch = kernel(32, body).zeros(8);
    launch.grid = [3, 2, 2];
    assert_eq!(launch.ok().words(0), [0, 12 * 32]);
}

#[test]
fn dynamic_shared_memory_begins_behind_the_static() {
    let module = ".extern .shared .align 16 .b8 dyn[];";
    let body = ".shared .align 4 .b8 s[20]; mov.u32 %r1, dyn; mov.u32 %r2, s; sub.u32 %r1, %r1, %r2;
        mov.u32 %r3, %dynamic_smem_size; mov.u32 %r4, %total_smem_size; st.shared.u8 [%r2], 1; st.shared.u32 [dyn+60], 1;
        st.global.u32 [%rd0], %r1; st.global.u32 [%rd0+4], %r3; st.global.u32 [%rd0+8], %r4; ret;";
    let mut launch = kernel(1, body).module(module).zeros(12);
    launch.dynamic_shared = 64;
    assert_eq!(launch.ok().words(0), [32, 64, 96]);
    let mut launch = kernel(1, body).module(module).zeros(12);
    launch.dynamic_shared = 32;
    assert!(launch.error().contains("out-of-bounds store"));
}

#[test]
fn atomics_go_lane_by_lane() {
    let body = format!(
        "atom.global.add.u32 %r1, [%rd1], %r0;
        atom.global.max.s32 %r2, [%rd1+4], %r0;
        atom.global.inc.u32 %r3, [%rd1+8], 4;
        atom.global.cas.b32 %r4, [%rd1+12], 0, 77;
        atom.global.exch.b32 %r5, [%rd1+16], %r0;
        red.global.or.b32 [%rd1+20], 3;
        mov.f32 %f1, 0f3F800000; red.global.add.f32 [%rd1+24], %f1;
        mov.u32 %r6, 1; atom.global.dec.u32 %r7, [%rd1+28], 9;
        setp.eq.u32 %p1, %r0, 31; @%p1 st.global.u32 [%rd1+32], %r5;
        {STORE} ret;"
    );
    let outcome = kernel(32, &body).zeros(128).zeros(36).ok();
    let before: Vec<u32> = (0..32).map(|lane: u32| lane * lane.saturating_sub(1) / 2).collect();
    assert_eq!(outcome.words(0), before);
    // dec: 0 -> 9 -> 8 ... -> 0 -> 9: after 32 steps 10 - 32 % 10 = 8
    assert_eq!(outcome.words(1), [496, 31, 32 % 5, 77, 31, 3, 32f32.to_bits(), 8, 30]);
}

#[test]
fn launches_that_do_not_fit_are_refused() {
    let mut launch = kernel(32, "ret;");
    launch.block = [2048, 1, 1];
    assert!(launch.error().contains("block (2048, 1, 1)"));
    let mut launch = kernel(32, "ret;");
    launch.grid = [0, 1, 1];
    assert!(launch.error().contains("grid"));
}
