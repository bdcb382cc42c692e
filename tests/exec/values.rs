//! Tests of values, from PTX text to bytes: operands, types and destinations match. The result of
//! each operation is tested by the unit tests of its implementation.

use crate::exec_support;

use exec_support::{STORE, kernel};

/// Returns the final value of `%r1` in each of 32 lanes.
fn lanes(body: &str) -> Vec<u32> {
    kernel(32, &format!("{body}\n{STORE} ret;")).zeros(128).ok().words(0)
}

fn each(f: impl Fn(u32) -> u32) -> Vec<u32> {
    (0..32).map(f).collect()
}

#[test]
fn carries_ripple_through_a_128_bit_sum() {
    let body = "
        mov.u32 %r2, 0xffffffff; mov.u32 %r3, 0xffffffff; mov.u32 %r4, 0xfffffff0;
        add.cc.u32 %r2, %r2, 1; addc.cc.u32 %r3, %r3, 0; addc.cc.u32 %r4, %r4, %r0; addc.u32 %r1, 0, 0;
        and.b32 %r4, %r4, 0xff; shl.b32 %r1, %r1, 8; or.b32 %r1, %r1, %r4;
        sub.cc.u32 %r5, 0, %r0; subc.u32 %r6, 5, 0; shl.b32 %r6, %r6, 16; or.b32 %r1, %r1, %r6;";
    let expected = each(|lane| {
        let sum = 0xfu32.wrapping_add(0xffff_ffe1).wrapping_add(1 + lane) & 0xff;
        let carry = u32::from(0xffff_fff0u64 + u64::from(lane) + 1 > 0xffff_ffff);
        let borrow = u32::from(lane > 0);
        (5 - borrow) << 16 | carry << 8 | sum
    });
    assert_eq!(lanes(body), expected);
}

#[test]
fn conversions_between_registers_of_different_width() {
    let body = "
        cvt.u16.u32 %h1, %r0; cvt.s8.s16 %h2, 200; cvt.s32.s16 %r2, %h2; cvt.s32.s8 %r3, %h2;
        cvt.rn.f32.s32 %f1, %r2; cvt.rzi.s32.f32 %r4, %f1;
        cvt.f64.f32 %fd1, %f1; add.f64 %fd1, %fd1, 0d3FE0000000000000; cvt.rpi.s64.f64 %rd5, %fd1; cvt.u32.u64 %r5, %rd5;
        cvt.rn.f16.f32 %h3, %f1; cvt.f32.f16 %f2, %h3; cvt.rni.s32.f32 %r6, %f2;
        cvt.sat.u8.s32 %r7, %r2; cvt.u32.u16 %r8, %h1;
        add.s32 %r1, %r2, %r3; add.s32 %r1, %r1, %r4; add.s32 %r1, %r1, %r5; add.s32 %r1, %r1, %r6;
        add.s32 %r1, %r1, %r7; add.s32 %r1, %r1, %r8;";
    assert_eq!(lanes(body), each(|lane| (lane as i32 + 4 * -56 - 55) as u32));
}

#[test]
fn rounding_modes_reach_the_arithmetic() {
    let body = "
        mov.f32 %f1, 0f3F800000; mov.f32 %f2, 0f33000000;
        add.rn.f32 %f3, %f1, %f2; add.rp.f32 %f4, %f1, %f2; sub.rm.f32 %f5, %f1, %f2; sub.rz.f32 %f6, %f1, %f2;
        mov.b32 %r2, %f3; mov.b32 %r3, %f4; mov.b32 %r4, %f5; mov.b32 %r5, %f6;
        mov.f32 %f7, 0f00000001; add.ftz.f32 %f8, %f7, %f7; add.f32 %f9, %f7, %f7; mov.b32 %r6, %f8; mov.b32 %r7, %f9;
        mov.f32 %f10, 0f40000000; fma.rn.sat.f32 %f11, %f10, %f10, %f1; mov.b32 %r8, %f11;
        xor.b32 %r1, %r2, %r3; shl.b32 %r1, %r1, 4; xor.b32 %r4, %r4, %r5; or.b32 %r1, %r1, %r4;
        or.b32 %r1, %r1, %r6; shl.b32 %r7, %r7, 8; or.b32 %r1, %r1, %r7; xor.b32 %r8, %r8, 0x3f800000; or.b32 %r1, %r1, %r8;";
    assert_eq!(lanes(body), vec![0x210; 32]);
}

#[test]
fn comparisons_combine_and_select() {
    let body = "
        setp.lt.u32 %p1, %r0, 20;
        setp.gt.and.s32 %p2|%p3, %r0, 9, %p1;
        set.eq.u32.u32 %r2, %r0, 12; and.b32 %r2, %r2, 16;
        selp.u32 %r1, 1, 0, %p2; selp.u32 %r3, 2, 0, %p3; or.b32 %r1, %r1, %r3; or.b32 %r1, %r1, %r2;
        xor.pred %p4, %p1, %p2; not.pred %p4, %p4; selp.u32 %r3, 4, 0, %p4; or.b32 %r1, %r1, %r3;
        slct.u32.s32 %r3, 8, 0, %r0; or.b32 %r1, %r1, %r3;";
    let expected = each(|n| {
        let (p1, gt) = (n < 20, n > 9);
        let (p2, p3) = (gt && p1, !gt && p1);
        u32::from(p2) | u32::from(p3) << 1 | u32::from(p1 == p2) << 2 | 8 | u32::from(n == 12) << 4
    });
    assert_eq!(lanes(body), expected);
}

#[test]
fn lanes_see_each_other() {
    let reduction = "
        mov.u32 %r1, %r0;
        shfl.sync.bfly.b32 %r2, %r1, 16, 31, -1; add.u32 %r1, %r1, %r2;
        shfl.sync.bfly.b32 %r2, %r1, 8, 31, -1; add.u32 %r1, %r1, %r2;
        shfl.sync.bfly.b32 %r2, %r1, 4, 31, -1; add.u32 %r1, %r1, %r2;
        shfl.sync.bfly.b32 %r2, %r1, 2, 31, -1; add.u32 %r1, %r1, %r2;
        shfl.sync.bfly.b32 %r2, %r1, 1, 31, -1; add.u32 %r1, %r1, %r2;";
    assert_eq!(lanes(reduction), [496; 32]);
    let up = "shfl.sync.up.b32 %r1|%p1, %r0, 1, 0, -1; @!%p1 mov.u32 %r1, 99;";
    assert_eq!(lanes(up), each(|lane| lane.checked_sub(1).unwrap_or(99)));
    let votes = "
        and.b32 %r2, %r0, 1; setp.eq.u32 %p1, %r2, 1;
        vote.sync.ballot.b32 %r1, %p1, -1;
        @!%p1 vote.sync.any.pred %p2, %p1, 0x55555555; @%p2 mov.u32 %r1, 0;
        @%p1 vote.sync.all.pred %p3, %p1, 0xaaaaaaaa; @%p1 vote.sync.uni.pred %p4, %p1, 0xaaaaaaaa;
        @%p1 and.pred %p3, %p3, %p4; not.pred %p4, %p3; @%p1 selp.b32 %r1, 7, %r1, %p4;";
    assert_eq!(lanes(votes), [0xaaaa_aaaa; 32]);
    let matches = "and.b32 %r2, %r0, 3; match.any.sync.b32 %r1, %r2, -1;";
    assert_eq!(lanes(matches), each(|lane| 0x1111_1111 << (lane % 4)));
    let redux = "redux.sync.max.u32 %r1, %r0, -1; redux.sync.add.s32 %r2, %r0, -1; add.u32 %r1, %r1, %r2;";
    assert_eq!(lanes(redux), [31 + 496; 32]);
    let diverged = "mov.u32 %r1, 0; setp.lt.u32 %p1, %r0, 5; @!%p1 bra J; activemask.b32 %r1; J:";
    assert_eq!(lanes(diverged), each(|lane| if lane < 5 { 31 } else { 0 }));
}

/// Lanes 0 to 15 name each other, and so do lanes 16 to 31, as tiles of half a warp do.
#[test]
fn lanes_with_different_masks_are_separate_groups() {
    let halves = "setp.lt.u32 %p1, %r0, 16; selp.b32 %r2, 0x0000ffff, 0xffff0000, %p1;";
    let of = |instruction: &str| lanes(&format!("{halves} {instruction}"));
    let half = |low: u32, high: u32| each(move |lane| if lane < 16 { low } else { high });
    assert_eq!(of("redux.sync.add.s32 %r1, %r0, %r2;"), half(120, 376));
    assert_eq!(of("redux.sync.max.u32 %r1, %r0, %r2;"), half(15, 31));
    let ballot = "setp.gt.u32 %p2, %r0, 13; vote.sync.ballot.b32 %r1, %p2, %r2;";
    assert_eq!(of(ballot), half(0xc000, 0xffff_0000));
    let all = "setp.gt.u32 %p2, %r0, 13; vote.sync.all.pred %p3, %p2, %r2; selp.b32 %r1, 1, 0, %p3;";
    assert_eq!(of(all), half(0, 1));
    let any = "setp.eq.u32 %p2, %r0, 3; vote.sync.any.pred %p3, %p2, %r2; selp.b32 %r1, 1, 0, %p3;";
    assert_eq!(of(any), half(1, 0));
    assert_eq!(
        of("and.b32 %r3, %r0, 7; match.any.sync.b32 %r1, %r3, %r2;"),
        each(|lane| 0x0101 << (lane % 8) << (lane / 16 * 16))
    );
    let matched = "shr.u32 %r3, %r0, 4; match.all.sync.b32 %r1|%p2, %r3, %r2; @!%p2 mov.u32 %r1, 9;";
    assert_eq!(of(matched), half(0xffff, 0xffff_0000));
    // a guard excludes lanes from their group
    let guarded = "mov.u32 %r1, 5; setp.ne.u32 %p2, %r0, 20; @%p2 redux.sync.add.s32 %r1, %r0, %r2;";
    assert_eq!(
        of(guarded),
        each(|lane| if lane < 16 {
            120
        } else if lane == 20 {
            5
        } else {
            356
        })
    );
}

#[test]
fn a_member_mask_names_the_lane_that_uses_it() {
    for instruction in [
        "redux.sync.add.s32 %r1, %r0, 0xffff;",
        "vote.sync.ballot.b32 %r1, %p1, 0xffff;",
        "match.any.sync.b32 %r1, %r0, 0xffff;",
        "shfl.sync.idx.b32 %r1, %r0, 0, 31, 0xffff;",
        "bar.warp.sync 0xffff;",
    ] {
        let error = kernel(32, &format!("{instruction} ret;")).error();
        assert!(error.contains("lane 16 of warp 0") && error.contains("0x0000ffff"), "{error}");
        // the same by lanes 0 to 15 alone is valid
        kernel(32, &format!("setp.lt.u32 %p2, %r0, 16; @%p2 {instruction} ret;")).ok();
    }
}

#[test]
fn packing_and_wide_registers() {
    let body = "
        cvt.u16.u32 %h1, %r0; mov.b32 %r2, {%h1, %h1}; mov.b32 {%h2, %h3}, %r2;
        mov.b64 %rd5, {%r2, %r0}; mov.b64 {%r3, %r4}, %rd5;
        mul.wide.s32 %rd6, %r0, -3; shr.s64 %rd6, %rd6, 1; cvt.u32.u64 %r5, %rd6;
        bfe.s32 %r6, %r5, 0, 3; bfi.b32 %r7, %r0, 0, 4, 8; prmt.b32 %r8, %r0, 0, 0x4440;
        cvt.u32.u16 %r9, %h3; sub.u32 %r1, %r3, %r2; sub.u32 %r4, %r4, %r0; or.b32 %r1, %r1, %r4; sub.u32 %r9, %r9, %r0;
        or.b32 %r1, %r1, %r9; add.u32 %r1, %r1, %r5; add.u32 %r1, %r1, %r6; add.u32 %r1, %r1, %r7; add.u32 %r1, %r1, %r8;";
    let expected = each(|lane| {
        let half = (lane as i32 * -3) >> 1;
        let field = (half << 29) >> 29;
        half.wrapping_add(field).wrapping_add((lane << 4) as i32).wrapping_add(lane as i32) as u32
    });
    assert_eq!(lanes(body), expected);
}

#[test]
fn guards_keep_the_old_value_of_disabled_lanes() {
    let body =
        "mov.u32 %r1, 5; setp.lt.u32 %p1, %r0, 9; @%p1 add.u32 %r1, %r1, %r0; @!%p1 mov.u32 %r1, %laneid;";
    assert_eq!(lanes(body), each(|lane| if lane < 9 { 5 + lane } else { lane }));
}

/// `set` with halves: as source, as result, packed.
#[test]
fn comparisons_of_halves_give_every_kind_of_result() {
    // lane i compares i/2 with 4.0: less, equal, greater, and lane 31 a NaN
    let setup = "
        cvt.rn.f32.u32 %f1, %r0; mul.f32 %f1, %f1, 0f3F000000; cvt.rn.f16.f32 %h1, %f1;
        setp.eq.u32 %p1, %r0, 31; @%p1 mov.b16 %h1, 0x7e00; mov.b16 %h2, 0x4400;
        mov.b32 %r2, %f1; shr.u32 %r2, %r2, 16; cvt.u16.u32 %h3, %r2; @%p1 mov.b16 %h3, 0x7fc0; mov.b16 %h4, 0x4080;
        mov.b32 %r3, {%h1, %h2}; mov.b32 %r4, {%h2, %h1}; mov.b32 %r5, {%h3, %h4}; mov.b32 %r6, {%h4, %h3};
        setp.lt.u32 %p2, %r0, 20;";
    let of = |body: &str| lanes(&format!("{setup} {body}"));
    let less = |lane: u32| lane < 8;
    let more = |lane: u32| lane > 8 && lane != 31;
    for (body, yes) in [
        ("set.lt.u32.f16 %r1, %h1, %h2;", u32::MAX),
        ("set.lt.f32.f16 %f2, %h1, %h2; mov.b32 %r1, %f2;", 0x3f80_0000),
        ("set.lt.f16.f16 %h5, %h1, %h2; cvt.u32.u16 %r1, %h5;", 0x3c00),
        ("set.lt.s16.f16 %h5, %h1, %h2; cvt.u32.u16 %r1, %h5;", 0xffff),
        ("set.lt.f16.f32 %h5, %f1, 0f40800000; cvt.u32.u16 %r1, %h5;", 0x3c00),
        ("set.lt.bf16.u32 %h5, %r0, 8; cvt.u32.u16 %r1, %h5;", 0x3f80),
        ("set.lt.u32.bf16 %r1, %h3, %h4;", u32::MAX),
        ("set.lt.bf16.bf16 %h5, %h3, %h4; cvt.u32.u16 %r1, %h5;", 0x3f80),
        ("set.lt.u16.bf16 %h5, %h3, %h4; cvt.u32.u16 %r1, %h5;", 0xffff),
    ] {
        assert_eq!(of(body), each(|lane| if less(lane) { yes } else { 0 }), "{body}");
    }
    // the lower half compares in one direction, the upper in the other
    for (body, yes) in [
        ("set.lt.f16x2.f16x2 %r1, %r3, %r4;", 0x3c00),
        ("set.lt.ftz.u32.f16x2 %r1, %r3, %r4;", 0xffff),
        ("set.lt.bf16x2.bf16x2 %r1, %r5, %r6;", 0x3f80),
        ("set.lt.s32.bf16x2 %r1, %r5, %r6;", 0xffff),
    ] {
        let part = |holds: bool| if holds { yes } else { 0 };
        assert_eq!(of(body), each(|lane| part(less(lane)) | part(more(lane)) << 16), "{body}");
    }
    let combined = "set.ltu.and.f16x2.f16x2 %r1, %r3, %r4, %p2;";
    let part = |holds: bool| if holds { 0x3c00 } else { 0 };
    assert_eq!(of(combined), each(|lane| part(less(lane)) | part(more(lane) && lane < 20) << 16));
    let pair = "setp.lt.f16x2 %p3|%p4, %r3, %r4; selp.u32 %r1, 1, 0, %p3; @%p4 or.b32 %r1, %r1, 2;";
    assert_eq!(of(pair), each(|lane| u32::from(less(lane)) | u32::from(more(lane)) << 1));
    let single = "setp.neu.bf16 %p3, %h3, %h4; selp.u32 %r1, 1, 0, %p3;";
    assert_eq!(of(single), each(|lane| u32::from(lane != 8)));
    for wrong in [
        "set.lt.f16.f16x2 %h1, %r3, %r4;",
        "set.lt.f16x2.f16 %r1, %h1, %h2;",
        "set.lt.u16.f32 %h1, %f1, %f1;",
    ] {
        let error = kernel(32, wrong).error();
        assert!(error.contains("there is no such result"), "{error}");
    }
}

#[test]
fn masks_extensions_and_environment_registers() {
    // positions and lengths from 0 to 62, in steps that pass 32
    let of = |instruction: &str| lanes(&format!("shl.b32 %r2, %r0, 1; sub.u32 %r3, 40, %r0; {instruction}"));
    let ones = |position: u32, length: u32| {
        (0..32)
            .filter(|bit| (position..position.saturating_add(length)).contains(bit))
            .fold(0, |m, bit| m | 1u32 << bit)
    };
    assert_eq!(of("bmsk.clamp.b32 %r1, %r2, %r3;"), each(|n| ones(2 * n, 40 - n)));
    assert_eq!(of("bmsk.wrap.b32 %r1, %r2, %r3;"), each(|n| ones(2 * n % 32, (40 - n) % 32)));
    assert_eq!(of("bmsk.clamp.b32 %r1, 4, %r0;"), each(|n| ones(4, n)));
    let signed = |value: u32, bits: u32| match bits {
        0 => 0,
        bits => ((value << (32 - bits)) as i32 >> (32 - bits)) as u32,
    };
    assert_eq!(of("szext.clamp.s32 %r1, 0x5a5a5a5a, %r2;"), each(|n| signed(0x5a5a_5a5a, (2 * n).min(32))));
    assert_eq!(of("szext.wrap.s32 %r1, 0x5a5a5a5a, %r2;"), each(|n| signed(0x5a5a_5a5a, 2 * n % 32)));
    assert_eq!(of("szext.clamp.u32 %r1, 0x5a5a5a5a, %r0;"), each(|n| 0x5a5a_5a5a & ones(0, n)));
    assert_eq!(of("mov.u32 %r1, 5; mov.u32 %r1, %envreg31;"), [0; 32]);
    let note = kernel(32, "mov.b32 %r1, %envreg3; ret;").ok().program.notes;
    assert!(note.iter().any(|note| note.contains("environment register")), "{note:?}");
    assert!(kernel(32, "mov.b32 %r1, %envreg32; ret;").error().contains("%envreg32"));
}

#[test]
fn single_precision_becomes_tf32() {
    let body = "shl.b32 %r2, %r0, 10; add.u32 %r2, %r2, 0x3f800000; mov.b32 %f1, %r2;";
    let of = |instruction: &str| lanes(&format!("{body} {instruction}"));
    let units = |f: &dyn Fn(u32) -> u32| each(|n| 0x3f80_0000 + 8192 * f(n));
    assert_eq!(of("cvt.rna.tf32.f32 %r1, %f1;"), units(&|n| (n + 4) / 8));
    assert_eq!(of("cvt.rz.tf32.f32 %r1, %f1;"), units(&|n| n / 8));
    assert_eq!(
        of("cvt.rn.satfinite.tf32.f32 %r1, %f1;"),
        units(&|n| (n as f32 / 8.0).round_ties_even() as u32)
    );
    assert_eq!(of("neg.f32 %f1, %f1; cvt.rn.relu.tf32.f32 %r1, %f1;"), [0; 32]);
    assert!(kernel(32, "cvt.tf32.f32 %r1, %f1;").error().contains("there is no such conversion"));
}

/// Every selector of every source and destination.
#[test]
fn video_instructions_select_parts() {
    let (a, b, c) = (0x8091_a2b3_u32, 0x71f2_03c4_u32, 0x1122_3344_u32);
    let run = |text: &str| {
        let words = format!("mov.u32 %r2, {a:#x}; mov.u32 %r3, {b:#x}; mov.u32 %r4, {c:#x};");
        lanes(&format!("{words} {text};"))[7]
    };
    let part = |value: u32, name: &str, signed: bool| -> i64 {
        let (at, width) = match name {
            "" => (0, 32),
            name if name.starts_with(".b") => (8 * name[2..].parse::<u32>().unwrap(), 8),
            name => (16 * name[2..].parse::<u32>().unwrap(), 16),
        };
        let bits = i64::from(value >> at) & ((1i64 << width) - 1);
        if signed && bits >> (width - 1) == 1 { bits - (1i64 << width) } else { bits }
    };
    let parts = ["", ".b0", ".b1", ".b2", ".b3", ".h0", ".h1"];
    for a_part in parts {
        for b_part in parts {
            for (signed, ty) in [(false, "u32"), (true, "s32")] {
                let (x, y) = (part(a, a_part, signed), part(b, b_part, signed));
                let of = |name: &str, end: &str| {
                    run(&format!("{name}.s32.{ty}.{ty}{end} %r1, %r2{a_part}, %r3{b_part}"))
                };
                assert_eq!(of("vadd", ""), (x + y) as u32);
                assert_eq!(of("vsub", ".sat"), (x - y).clamp(i32::MIN.into(), i32::MAX.into()) as u32);
                assert_eq!(of("vmin", ""), x.min(y) as u32);
                let last = run(&format!("vabsdiff.u32.{ty}.{ty}.add %r1, %r2{a_part}, %r3{b_part}, %r4"));
                assert_eq!(last, ((x - y).abs() + i64::from(c)) as u32);
                let set = run(&format!("vset.{ty}.{ty}.lt %r1, %r2{a_part}, %r3{b_part}"));
                assert_eq!(set, u32::from(x < y));
                let mad = run(&format!("vmad.{ty}.{ty}.{ty}.shr7 %r1, %r2{a_part}, -%r3{b_part}, %r4"));
                assert_eq!(mad, ((-i128::from(x) * i128::from(y) + i128::from(c)) >> 7) as u32);
            }
        }
    }
    for (to, expected) in [
        (".b0", 0x1122_33b3),
        (".b1", 0x1122_b344),
        (".b2", 0x11b3_3344),
        (".b3", 0xb322_3344),
        (".h0", 0x1122_a2b3),
        (".h1", 0xa2b3_3344),
    ] {
        assert_eq!(run(&format!("vmax.u32.u32.u32 %r1{to}, %r2.h0, %r3.b1, %r4")), expected, "{to}");
    }
    assert_eq!(run("vshl.u32.u32.u32.clamp %r1, %r2, %r3.b1"), a << 3);
    assert_eq!(run("vshr.s32.s32.u32.wrap.max %r1, %r2, %r3.b3, %r4"), c);
    assert_eq!(run("vmad.u32.u32.u32.po.sat %r1, %r2, %r3, %r4"), u32::MAX);
    // byte 3 of the result: byte 4 of b:a (0xc4) and byte 0 (0xb3); byte 0: 7 (0x71) and 1 (0xa2)
    assert_eq!(run("vadd4.u32.u32.u32.sat %r1.b30, %r2.b4327, %r3.b0761, %r4"), 0xff22_33ff);
    assert_eq!(run("vsub2.s32.s32.s32 %r1, %r2, %r3, %r4"), 0x0e9f_9eef);
    assert_eq!(run("vset4.u32.u32.gt.add %r1, %r2, %r3, %r4"), c + 2);
    for (wrong, why) in [
        ("vadd.u32.u32 %r1, %r2, %r3", "wrong types"),
        ("vadd.u32.u32.u32 %r1, %r2.b4, %r3", "no such selector"),
        ("vadd.u32.u32.u32 %r1.b0, %r2, %r3", "takes 4 operands"),
        ("vadd.u32.u32.u32 %r1, -%r2, %r3", "negates no source"),
        ("vadd4.u32.u32.u32 %r1, %r2.b8210, %r3, %r4", "no such selector"),
        ("vadd2.u32.u32.u32.sat.add %r1, %r2, %r3, %r4", "not clamped"),
        ("vmad.u32.u32.u32.po %r1, -%r2, %r3, %r4", "cannot negate"),
        ("vshl4.u32.u32.u32.wrap %r1, %r2, %r3, %r4", "vshl4"),
    ] {
        let error = kernel(32, &format!("{wrong};")).error();
        assert!(error.contains(why), "{wrong}: {error}");
    }
}
