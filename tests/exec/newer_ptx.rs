//! Tests of instructions and operands that current compilers write, from PTX text to bytes: vector
//! registers, array elements, wide accesses, atomic operations on vectors and halves, arrays of any
//! length as arguments. The result of each operation is tested by the unit tests of its
//! implementation.

use warpbound::exec::races::BlockOrder;

use crate::exec_support;

use exec_support::{STORE, kernel};

/// Returns the final value of `%r1` in each of 32 lanes.
fn lanes(body: &str) -> Vec<u32> {
    kernel(32, &format!("{body}\n{STORE} ret;")).zeros(128).ok().words(0)
}

fn each(f: impl Fn(u32) -> u32) -> Vec<u32> {
    (0..32).map(f).collect()
}

/// Returns the words of the first buffer after a kernel of one thread.
fn words(body: &str, buffer: &[u32]) -> Vec<u32> {
    kernel(1, &format!("{body} ret;")).words(buffer).ok().words(0)
}

#[test]
fn vector_registers_are_loaded_named_moved_and_stored() {
    let body = "
        .reg .v4 .u32 v, w; .reg .v2 .b32 pair<3>; .reg .v2 .f32 f;
        ld.global.v4.u32 v, [%rd0]; mov.v4.u32 w, v;
        add.u32 v.x, v.y, w.a; mov.u32 v.g, w.r;
        mov.v2.b32 pair1, {v.w, v.z}; mov.v2.b32 {pair2.y, pair2.x}, pair1; mov.b64 %rd1, pair2;
        mov.v4.u32 {v.z, _, %r5, %r6}, %ntid;
        st.global.v4.u32 [%rd0], v; st.global.v2.b32 [%rd0+16], pair1; st.global.u64 [%rd0+24], %rd1;
        st.global.v2.u32 [%rd0+32], {%r5, %r6};";
    let got = words(body, &[1, 20, 300, 4000, 0, 0, 0, 0, 9, 9]);
    assert_eq!(got, [4020, 1, 1, 4000, 4000, 300, 300, 4000, 1, 0]);
}

#[test]
fn moves_of_vectors_read_everything_first() {
    let body =
        "mov.u32 %r2, 7; mov.v2.u32 {%r2, %r3}, {%r0, %r2}; shl.b32 %r1, %r2, 8; or.b32 %r1, %r1, %r3;";
    assert_eq!(lanes(body), each(|lane| lane << 8 | 7));
}

#[test]
fn registers_of_128_bits_hold_two_words() {
    let body = "
        .reg .b128 a, b; .reg .b128 many<2>;
        ld.global.b128 a, [%rd0]; mov.b128 {%rd2, %rd3}, a; add.u64 %rd2, %rd2, 5; mov.b128 b, {%rd3, %rd2};
        mov.b128 many1, b; st.global.b128 [%rd0+16], many1;
        atom.global.exch.b128 a, [%rd0], b;
        atom.global.cas.b128 b, [%rd0+16], b, a; st.global.b128 [%rd0+32], b;
        atom.global.cas.b128 b, [%rd0+16], b, b;";
    let got = words(body, &[1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0, 0]);
    // the second comparison finds the value that the first has stored, which differs from the
    // expected one
    assert_eq!(got, [3, 4, 6, 2, 1, 2, 3, 4, 3, 4, 6, 2]);
}

#[test]
fn elements_of_arrays_are_operands() {
    let module = ".global .u16 halves[4] = {10, 20, 30, 40}; .const .u32 words[3] = {7, 8, 9}; .global .v2 .u32 v[2] = {{1, 2}, {3, 4}};";
    let body = "
        .local .b64 own[3]; .shared .u32 s[4];
        ld.global.u16 %r2, halves[3]; ld.const.u32 %r3, words[1+1]; ld.global.u32 %r4, v[2];
        st.local.u64 own[2], 77; ld.local.u64 %rd3, [own+16]; cvt.u32.u64 %r5, %rd3;
        st.shared.u32 s[1], 5; ld.shared.u32 %r6, [s+4]; mov.u32 %r7, s[3]; sub.u32 %r7, %r7, s;
        st.global.v4.u32 [%rd0], {%r2, %r3, %r4, %r5}; st.global.v2.u32 [%rd0+16], {%r6, %r7};";
    let run = kernel(1, &format!("{body} ret;")).module(module).zeros(24).ok();
    assert_eq!(run.words(0), [40, 9, 3, 77, 5, 12]);
}

#[test]
fn registers_are_indices_of_arrays() {
    let body = "
        .shared .u32 before[3]; .shared .u32 s[40]; .shared .b64 wide[32];
        st.shared.u32 s[%r0+1], %r0; cvt.u64.u32 %rd2, %r0; st.shared.u64 wide[%rd2], %rd2;
        ld.shared.u32 %r2, s[%r0]; @!%p1 setp.eq.u32 %p1, %r0, 0; @%p1 mov.u32 %r2, 0;
        mov.u32 %r3, s[%r0]; sub.u32 %r3, %r3, s; ld.shared.u32 %r4, [wide+80];
        shl.b32 %r3, %r3, 8; shl.b32 %r4, %r4, 24; or.b32 %r1, %r2, %r3; or.b32 %r1, %r1, %r4;";
    // the value that lane 10 has stored is visible to every lane, since lanes execute together
    assert_eq!(lanes(body), each(|lane| lane.saturating_sub(1) | ((4 * lane) << 8) | (10 << 24)));
    for (body, says) in [
        ("ld.global.u32 %r1, list[%h1];", "cannot be an index"),
        ("ld.global.u32 %r1, list[%r1-1];", "not supported here"),
        ("ld.shared.u32 %r1, list[%r1];", "is in .global"),
    ] {
        let error = kernel(1, body).module(".global .u32 list[4];").error();
        assert!(error.contains(says), "{error}");
    }
}

#[test]
fn an_array_of_any_length_takes_what_a_call_passes() {
    let module = "
        .func (.param .b32 r) pick(.param .b32 n, .param .align 8 .b8 list[])
        { .reg .b32 x, i; .reg .b64 at; mov.b64 at, list; ld.param.b32 i, [n]; mad.wide.u32 at, i, 4, at;
          ld.local.b32 x, [at]; st.param.b32 [r], x; ret; }
        .func (.param .b32 r) hand_on(.param .b32 n, .param .align 8 .b8 all[])
        { .reg .b32 x; { .param .b32 i, q; ld.param.b32 x, [n]; st.param.b32 [i], x;
          call (q), pick, (i, all); ld.param.b32 x, [q]; } st.param.b32 [r], x; ret; }
        .func (.param .b32 r) lonely(.param .b32 n, .param .align 8 .b8 none[])
        { .reg .b32 x; ld.param.b32 x, [n]; add.u32 x, x, 1; st.param.b32 [r], x; ret; }";
    let body = "
        { .param .b32 i, q; .param .align 8 .b8 two[8];
          st.param.b32 [i], 1; st.param.b32 [two], 42; st.param.b32 [two+4], 43;
          call (q), pick, (i, two); ld.param.b32 %r1, [q]; }
        { .param .b32 i, q; .param .align 8 .b8 four[16];
          st.param.b32 [i], 3; st.param.v4.b32 [four], {50, 51, 52, 53};
          call (q), hand_on, (i, four); ld.param.b32 %r2, [q]; }
        { .param .b32 i, q; st.param.b32 [i], 8; call (q), lonely, (i); ld.param.b32 %r3, [q]; }
        st.global.u32 [%rd0], %r1; st.global.u32 [%rd0+4], %r2; st.global.u32 [%rd0+8], %r3;";
    let run = kernel(1, &format!("{body} ret;")).module(module).zeros(12).ok();
    assert_eq!(run.words(0), [43, 53, 9]);
}

#[test]
fn accesses_of_32_bytes() {
    let body = "
        ld.global.v8.b32 {%r1, %r2, _, %r4, %r5, %r6, %r7, %r8}, [%rd0];
        ld.global.v4.u64 {%rd4, %rd5, %rd6, %rd7}, [%rd0]; add.u64 %rd5, %rd5, 1;
        st.global.v8.b32 [%rd0+32], {%r8, %r7, %r6, %r5, %r4, 33, %r2, %r1};
        st.global.v4.b64 [%rd0+64], {%rd7, %rd6, %rd5, %rd4};";
    let buffer: Vec<u32> = (1..=8).chain([0; 16]).collect();
    let got = words(body, &buffer);
    assert_eq!(got[8..], [8, 7, 6, 5, 4, 33, 2, 1, 7, 8, 5, 6, 4, 4, 1, 2]);
    let misaligned = kernel(1, "ld.global.v8.b32 {%r1,%r2,%r3,%r4,%r5,%r6,%r7,%r8}, [%rd0+16]; ret;");
    assert!(misaligned.zeros(128).error().contains("32"));
}

#[test]
fn logic_gives_a_predicate() {
    let body = "
        setp.lt.u32 %p1, %r0, 20;
        lop3.and.b32 %r2|%p2, %r0, 6, 0, 0xc0, %p1; lop3.or.b32 _|%p3, %r0, 1, 0, 0xc0, !%p1;
        selp.u32 %r3, 256, 0, %p2; selp.u32 %r4, 512, 0, %p3; or.b32 %r1, %r2, %r3; or.b32 %r1, %r1, %r4;";
    let expected = each(|lane| {
        let masked = lane & 6;
        let (and, or) = (masked != 0 && lane < 20, lane & 1 != 0 || lane >= 20);
        masked | u32::from(and) << 8 | u32::from(or) << 9
    });
    assert_eq!(lanes(body), expected);
}

#[test]
fn integers_are_packed_and_paired() {
    let body = "
        ld.global.v2.u32 {%r1, %r2}, [%rd0];
        cvt.pack.sat.u16.s32 %r3, %r1, %r2; cvt.pack.sat.s8.s32.b32 %r4, %r1, %r2, 0xabcd1234;
        cvt.pack.sat.s2.s32.b32 %r5, %r1, %r2, 0x11;
        add.u16x2 %r6, %r1, %r2; max.s16x2.relu %r7, %r1, %r2; min.u16x2 %r8, %r1, %r2; min.relu.s32 %r9, %r1, %r2;
        max.s32.relu %r10, %r1, -5;
        st.global.v4.u32 [%rd0], {%r3, %r4, %r5, %r6}; st.global.v4.u32 [%rd0+16], {%r7, %r8, %r9, %r10};";
    let (a, b) = (0xfffe_8001u32, 0x0003_7fffu32);
    let got = words(body, &[a, b, 0, 0, 0, 0, 0, 0]);
    // a is -98303, b is 229375
    assert_eq!(got[..3], [0x0000_ffff, 0x1234_807f, 0x11 << 4 | 0b10_01]);
    assert_eq!(got[3..], [0x0001_0000, 0x0003_7fff, 0x0003_7fff, 0, 0]);
}

#[test]
fn extremes_of_magnitudes_and_of_three() {
    let body = "
        ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd0];
        max.xorsign.abs.f32 %f5, %f1, %f2; min.xorsign.abs.f32 %f6, %f1, %f2; max.f32 %f7, %f1, %f2, %f3;
        min.abs.f32 %f8, %f1, %f2, %f3; max.NaN.f32 %f9, %f1, %f2, %f4; max.f32 %f10, %f1, %f4, %f3;
        st.global.v4.f32 [%rd0], {%f5, %f6, %f7, %f8}; st.global.v2.f32 [%rd0+16], {%f9, %f10};";
    let [a, b, c] = [-3.0f32, 2.0, 2.5].map(f32::to_bits);
    let got = words(body, &[a, b, c, 0x7f80_0001, 0, 0]);
    let [x, y, z, w, v] = [-3.0f32, -2.0, 2.5, 2.0, 2.5].map(f32::to_bits);
    assert_eq!(got, [x, y, z, w, 0x7fff_ffff, v]);
}

#[test]
fn narrow_floats_go_through_registers() {
    let body = "
        ld.global.v2.f32 {%f1, %f2}, [%rd0];
        cvt.rn.bf16x2.f32 %r1, %f1, %f2; fma.rn.bf16x2 %r2, %r1, %r1, %r1; cvt.rn.bf16.f32 %h1, %f1; cvt.f32.bf16 %f3, %h1;
        cvt.rn.satfinite.e4m3x2.f32 %h2, %f1, %f2; cvt.rn.f16x2.e4m3x2 %r3, %h2;
        cvt.rn.satfinite.e5m2x2.f16x2 %h3, %r3; mov.b32 %r4, {%h2, %h3};
        mov.b64 %rd2, {%f1, %f2}; add.rn.f32x2 %rd2, %rd2, %rd2;
        sub.rn.f32.bf16 %f4, %h1, %f2;
        st.global.v4.u32 [%rd0], {%r1, %r2, %r3, %r4}; st.global.v2.f32 [%rd0+16], {%f3, %f4}; st.global.u64 [%rd0+24], %rd2;";
    let [a, b] = [1.5f32, -0.75].map(f32::to_bits);
    let got = words(body, &[a, b, 0, 0, 0, 0, 0, 0]);
    let single = |x: f32| x.to_bits();
    // 1.5 * 1.5 + 1.5 is 3.75, 0.75 * 0.75 - 0.75 is -0.1875; in e4m3 1.5 is 3c and -0.75 is b4,
    // in e5m2 they are 3e and ba
    let expected =
        [0x3fc0_bf40, 0x4070_be40, 0x3e00_ba00, 0x3eba_3cb4, a, single(2.25), single(3.0), single(-1.5)];
    assert_eq!(got, expected);
}

#[test]
fn reductions_of_floats_over_a_warp() {
    let body = "
        cvt.rn.f32.u32 %f1, %r0; sub.f32 %f1, %f1, 0f41A00000;
        redux.sync.max.f32 %f2, %f1, -1; redux.sync.min.f32 %f3, %f1, -1; redux.sync.max.abs.f32 %f4, %f1, -1;
        setp.eq.u32 %p1, %r0, 4; selp.b32 %f5, 0fFFFFFFFF, %f1, %p1;
        redux.sync.min.f32 %f6, %f5, -1; redux.sync.min.NaN.f32 %f7, %f5, -1;
        add.f32 %f2, %f2, %f4; sub.f32 %f2, %f2, %f3; sub.f32 %f2, %f2, %f6; cvt.rzi.u32.f32 %r1, %f2;
        mov.b32 %r2, %f7; setp.eq.u32 %p2, %r2, 0x7fffffff; @!%p2 mov.u32 %r1, 0;";
    // from -20 to 11: 11 + 20 + 20 + 20
    assert_eq!(lanes(body), [71; 32]);
}

#[test]
fn atomic_operations_on_halves_and_vectors() {
    let body = "
        mov.b32 {%h1, %h2}, 0x3c004000; mov.u32 %r2, 0x3f804000; mov.f32 %f1, 0f3F800000; mov.f32 %f2, 0f40000000;
        atom.global.add.noftz.f16x2 %r3, [%rd0], 0x3c004000; red.global.add.noftz.bf16x2 [%rd0+4], %r2;
        red.global.add.noftz.f16 [%rd0+8], %h2; red.global.v2.f16.max.noftz [%rd0+12], {%h1, %h2};
        red.global.add.v4.f32 [%rd0+16], {%f1, %f2, %f1, %f2};
        atom.global.add.v2.f32 {%f3, %f4}, [%rd0+32], {%f1, %f2};
        red.add.noftz.v2.bf16x2 [%rd0+40], {%r2, %r2};
        red.global.add.noftz.v4.f16 [%rd0+48], {%h1, %h1, %h2, %h2};
        red.global.add.noftz.v8.f16 [%rd0+64], {%h1, %h2, %h1, %h2, %h1, %h2, %h1, %h1}; ";
    let run = kernel(32, &format!("{body} ret;")).zeros(80).ok();
    let got = run.words(0);
    let single = |x: f32| x.to_bits();
    // sums of 32 ones and twos: 5000 and 5400 in half precision, 4200 and 4280 in bfloat16
    assert_eq!(got[..4], [0x5000_5400, 0x4200_4280, 0x5000, 0x3c00_4000]);
    let (ones, twos) = (single(32.0), single(64.0));
    assert_eq!(got[4..10], [ones, twos, ones, twos, ones, twos]);
    assert_eq!(got[10..14], [0x4200_4280, 0x4200_4280, 0x5400_5400, 0x5000_5000]);
    assert_eq!(got[16..20], [0x5000_5400, 0x5000_5400, 0x5000_5400, 0x5400_5400]);
}

#[test]
fn vectors_of_atomic_operations_give_the_old_values() {
    let body = "
        cvt.rn.f32.u32 %f1, %r0; atom.global.add.v2.f32 {%f2, %f3}, [%rd0], {%f1, 0f3F800000};
        mov.u16 %h1, 5; cvt.u16.u32 %h3, %r0;
        atom.global.cas.b16 %h2, [%rd0+10], %h3, %h1;
        cvt.rzi.u32.f32 %r2, %f2; cvt.rzi.u32.f32 %r3, %f3; shl.b32 %r3, %r3, 16; or.b32 %r2, %r2, %r3;
        mad.wide.u32 %rd1, %r0, 4, %rd0; st.global.u32 [%rd1+16], %r2;";
    let run = kernel(32, &format!("{body} ret;")).zeros(16 + 128).ok();
    let got = run.words(0);
    // lanes execute in ascending order: lane 0 finds 0 and leaves 5, which lane 5 finds
    assert_eq!(got[2], 5 << 16);
    assert_eq!(got[4..], each(|lane| (lane * (lane.max(1) - 1) / 2) | (lane << 16)));
}

#[test]
fn cells_of_a_vector_race_each_by_itself() {
    let race = |second: &str| {
        let body = format!(
            "setp.lt.u32 %p1, %r0, 32; mov.f32 %f1, 0f3F800000;
             @%p1 red.global.add.v4.f32 [%rd0], {{%f1, %f1, %f1, %f1}};
             @!%p1 {second};
             ret;"
        );
        let mut launch = kernel(64, &body).zeros(64);
        launch.races = Some(BlockOrder::OneByOne);
        launch.ok().time.races.len()
    };
    assert_eq!(race("red.global.add.v4.f32 [%rd0], {%f1, %f1, %f1, %f1}"), 0);
    assert_eq!(race("ld.global.f32 %f2, [%rd0+16]"), 0);
    assert_eq!(race("ld.global.f32 %f2, [%rd0+12]"), 1);
    assert_eq!(race("st.global.f32 [%rd0+8], 0f40000000"), 1);
}

#[test]
fn impossible_forms_are_refused_by_name() {
    for (body, says) in [
        (".reg .v2 .f32 v; add.f32 v.z, v.x, v.y;", "`.z` is none of them"),
        (".reg .v2 .f32 v; add.f32 %f1, v, v;", "register or a constant is needed"),
        (".reg .v4 .f32 v; ld.global.v2.f32 v, [%rd0];", "takes 2 elements, 4 given"),
        (".reg .v2 .pred v; ret;", "none of this type"),
        (".reg .b128 b; mov.b128 {b.x, %rd1}, b;", "no components"),
        (".local .b32 l[]; st.local.u32 [l], 1;", "has no length"),
        ("ld.global.v8.b64 {%rd1,%rd2,%rd3,%rd4,%rd5,%rd6,%rd7,%rd8}, [%rd0];", "wider than 256 bits"),
        ("red.shared.add.v2.f32 [%r1], {%f1, %f2};", "only global memory"),
        ("red.global.add.v4.u32 [%rd0], {%r1, %r2, %r3, %r4};", "vectors are of .f32"),
        ("red.global.min.noftz.f16 [%rd0], %h1;", "atomic operation on this type"),
        ("add.ftz.bf16 %h1, %h2, %h3;", "keeps its subnormal numbers"),
        ("max.abs.f32 %f1, %f2, %f3;", "together, or neither"),
        ("cvt.rn.satfinite.f64.f32 %fd1, %f1;", "no such conversion"),
        ("cvt.rn.e4m3x2.f32 %h1, %f1, %f2;", "no such conversion"),
        ("cvt.pack.sat.s8.s32 %r1, %r2, %r3;", "no such conversion"),
        ("add.relu.s16x2 %r1, %r2, %r3;", "only min and max"),
        ("mul.lo.s16x2 %r1, %r2, %r3;", "only add, min and max"),
        ("lop3.and.b32 %r1, %r2, %r3, %r4, 1, %p1;", "gives a predicate"),
        ("setp.eq.f32x2 %p1, %rd1, %rd2;", "wrong types"),
    ] {
        let error = kernel(1, body).zeros(64).error();
        assert!(error.contains(says), "{body}\n{error}");
    }
}
