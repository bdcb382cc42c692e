//! Operations on whole rows compared with the interpreter: every operation that has a faster path,
//! on ordinary and unusual values, with all lanes and with some. [`Kernel::run`] does the
//! comparison.

use crate::exec_support::kernel;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// 32-bit operations: `D` is the destination, `A`, `B`, `C` are the sources.
const NARROW: &[&str] = &[
    "mov.u32 D, A",
    "mov.u32 D, 77",
    "mov.u32 D, %laneid",
    "mov.u32 D, %ntid.x",
    "mov.u32 D, %clock",
    "not.b32 D, A",
    "neg.s32 D, A",
    "abs.s32 D, A",
    "add.u32 D, A, B",
    "add.s32 D, A, -5",
    "sub.u32 D, A, B",
    "add.sat.s32 D, A, B",
    "mul.lo.u32 D, A, B",
    "mul.hi.u32 D, A, B",
    "mul.hi.s32 D, A, B",
    "mad.lo.s32 D, A, B, C",
    "mad.hi.u32 D, A, B, C",
    "and.b32 D, A, B",
    "or.b32 D, A, B",
    "xor.b32 D, A, 0xf0f0f0f0",
    "shl.b32 D, A, B",
    "shl.b32 D, A, 31",
    "shl.b32 D, A, 32",
    "shr.u32 D, A, B",
    "shr.s32 D, A, B",
    "shr.s32 D, A, 40",
    "min.u32 D, A, B",
    "min.s32 D, A, B",
    "max.u32 D, A, B",
    "max.s32 D, A, B",
    "lop3.b32 D, A, B, C, 0x96",
    "lop3.b32 D, A, B, C, 0xe8",
    "lop3.b32 D, A, B, C, 0x1b",
    "lop3.or.b32 D|%p5, A, B, C, 0xe8, %p2; selp.b32 %r11, 5, 9, %p5; xor.b32 D, D, %r11",
    "lop3.and.b32 D|%p5, A, B, C, 0x80, %p2; selp.b32 %r11, 5, 9, %p5; xor.b32 D, D, %r11",
    "shf.l.wrap.b32 D, A, B, C",
    "shf.l.clamp.b32 D, A, B, C",
    "shf.r.wrap.b32 D, A, B, C",
    "shf.r.clamp.b32 D, A, B, C",
    "div.s32 D, A, B",
    "rem.u32 D, A, B",
    "popc.b32 D, A",
    "bfe.s32 D, A, 3, 7",
    "bfe.s32 D, A, B, C",
    "bfe.u32 D, A, B, C",
    "bfe.u32 D, A, B, 0",
    "bfe.s32 D, A, 28, B",
    "prmt.b32 D, A, B, 0x5410",
    "selp.b32 D, A, B, %p2",
    "selp.b32 D, A, B, %p3",
    "add.f32 D, A, B",
    "sub.f32 D, A, B",
    "mul.f32 D, A, B",
    "fma.rn.f32 D, A, B, C",
    "mad.rn.f32 D, A, B, C",
    "add.ftz.f32 D, A, B",
    "sub.ftz.f32 D, A, B",
    "mul.ftz.f32 D, A, B",
    "fma.rn.ftz.f32 D, A, B, C",
    "fma.rz.f32 D, A, B, C",
    "mul.rp.f32 D, A, B",
    "mul.rz.f32 D, A, B",
    "mul.rz.ftz.f32 D, A, B",
    "mul.rz.sat.f32 D, A, B",
    "add.sat.f32 D, A, B",
    "mul.sat.f32 D, A, B",
    "fma.rn.sat.f32 D, A, B, C",
    "add.ftz.sat.f32 D, A, B",
    "div.rn.f32 D, A, B",
    "div.approx.f32 D, A, B",
    "div.full.ftz.f32 D, A, B",
    "div.rz.f32 D, A, B",
    "rcp.rn.f32 D, A",
    "rcp.approx.ftz.f32 D, A",
    "sqrt.rn.f32 D, A",
    "sqrt.approx.ftz.f32 D, A",
    "rsqrt.approx.f32 D, A",
    "rsqrt.approx.ftz.f32 D, A",
    "abs.f32 D, A",
    "abs.ftz.f32 D, A",
    "neg.f32 D, A",
    "neg.ftz.f32 D, A",
    "min.f32 D, A, B",
    "max.f32 D, A, B",
    "min.ftz.f32 D, A, B",
    "max.NaN.f32 D, A, B",
    "ex2.approx.f32 D, A",
    "sin.approx.f32 D, A",
    "copysign.f32 D, A, B",
    "cvt.rn.f32.s32 D, A",
    "cvt.rn.f32.u32 D, A",
    "cvt.rz.f32.s32 D, A",
    "cvt.rp.f32.s32 D, A",
    "cvt.rp.f32.u32 D, A",
    "cvt.rzi.s32.f32 D, A",
    "cvt.rzi.u32.f32 D, A",
    "cvt.rzi.ftz.s32.f32 D, A",
    "cvt.rni.s32.f32 D, A",
    "cvt.rmi.f32.f32 D, A",
    "cvt.sat.f32.f32 D, A",
    "cvt.rzi.s16.f32 %h5, A; cvt.s32.s16 D, %h5",
    "cvt.u16.u32 %h5, A; cvt.u32.u16 D, %h5",
    "cvt.u16.u32 %h5, A; add.s16 %h6, %h5, 3; cvt.s32.s16 D, %h6",
    "cvt.u8.u32 D, A",
    "cvt.s8.s32 D, A",
    "cvt.s16.s32 D, A",
    "cvt.u32.u64 D, X",
    "cvt.s32.s64 D, X",
    "cvt.rn.f32.f64 D, X",
    "cvt.rz.f32.f64 D, X",
    "mov.b64 {D, _}, X",
    "mov.b64 {_, D}, X",
    "mov.b64 {%r11, D}, X; xor.b32 D, D, %r11",
];

/// 64-bit operations, with `X`, `Y`, `Z` as sources, or the narrow ones.
const WIDE: &[&str] = &[
    "mov.u64 D, X",
    "mov.u64 D, -7",
    "not.b64 D, X",
    "neg.s64 D, X",
    "add.s64 D, X, Y",
    "add.s64 D, X, 4096",
    "sub.s64 D, X, Y",
    "mul.lo.s64 D, X, Y",
    "mul.hi.u64 D, X, Y",
    "mad.lo.s64 D, X, Y, Z",
    "and.b64 D, X, Y",
    "or.b64 D, X, Y",
    "xor.b64 D, X, Y",
    "shl.b64 D, X, B",
    "shl.b64 D, X, 3",
    "shl.b64 D, X, 64",
    "shr.u64 D, X, B",
    "shr.s64 D, X, B",
    "shr.s64 D, X, 99",
    "min.u64 D, X, Y",
    "min.s64 D, X, Y",
    "max.u64 D, X, Y",
    "max.s64 D, X, Y",
    "mul.wide.s32 D, A, B",
    "mul.wide.u32 D, A, B",
    "mad.wide.s32 D, A, B, X",
    "mad.wide.u32 D, A, B, X",
    "mul.wide.s32 D, A, 4",
    "cvt.s64.s32 D, A",
    "cvt.u64.u32 D, A",
    "cvt.u64.s32 D, A",
    "cvt.s64.u32 D, A",
    "mov.b64 D, {A, B}",
    "mov.b64 D, {A, 9}",
    "selp.b64 D, X, Y, %p2",
    "add.f64 D, X, Y",
    "sub.f64 D, X, Y",
    "mul.f64 D, X, Y",
    "fma.rn.f64 D, X, Y, Z",
    "fma.rm.f64 D, X, Y, Z",
    "div.rn.f64 D, X, Y",
    "sqrt.rn.f64 D, X",
    "rcp.rn.f64 D, X",
    "abs.f64 D, X",
    "neg.f64 D, X",
    "min.f64 D, X, Y",
    "max.f64 D, X, Y",
    "cvt.f64.f32 D, A",
    "cvt.rzi.s64.f32 D, A",
    "cvt.rn.f64.s64 D, X",
    "cvt.rzi.u64.f64 D, X",
];

/// Relations, with the type that they compare.
const COMPARED: &[(&str, &[&str])] = &[
    (
        "eq ne lt le gt ge",
        &["u32 A, B", "s32 A, B", "u64 X, Y", "s64 X, Y", "s16 %h1, %h2", "u32 A, 7", "s64 X, -1"],
    ),
    ("eq ne lt le gt ge equ neu ltu leu gtu geu num nan", &["f32 A, B", "ftz.f32 A, B", "f64 X, Y"]),
];

/// Returns the input of a lane: often a value at which an operation changes its behaviour, often
/// two values that are close.
fn value(rng: &mut ChaCha8Rng) -> u64 {
    const ODD: [u32; 16] = [
        0,
        1,
        2,
        31,
        32,
        33,
        63,
        64,
        0x7fff_ffff,
        0x8000_0000,
        0xffff_ffff,
        0x7f80_0000,
        0xff80_0000,
        0x7fc0_0001,
        0x007f_ffff,
        0x4f00_0000,
    ];
    let word = |rng: &mut ChaCha8Rng| match rng.random_range(0..4) {
        0 => ODD[rng.random_range(0..ODD.len())],
        1 => (rng.random_range(-300.0..300.0) as f32).to_bits(),
        2 => 1f32.to_bits() ^ rng.random_range(0..8),
        _ => rng.random(),
    };
    match rng.random_range(0..3) {
        0 => rng.random_range(-1e6_f64..1e6).to_bits(),
        _ => u64::from(word(rng)) << 32 | u64::from(word(rng)),
    }
}

/// Runs the operations, each once with all lanes and once under a guard, on new values for each.
fn run(seed: u64, ops: &[String], result_bytes: usize) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let stride = 2 * ops.len() * result_bytes;
    let mut body = String::from(
        "and.b32 %r20, %r0, 1; setp.eq.u32 %p1, %r20, 0; setp.gt.u32 %p2, %r0, 11; not.pred %p3, %p2;\n\
         mul.wide.u32 %rd10, %r0, 24; add.s64 %rd11, %rd0, %rd10;\n",
    );
    body += &format!("mul.wide.u32 %rd12, %r0, {stride}; add.s64 %rd13, %rd1, %rd12;\n");
    for (index, op) in ops.iter().enumerate() {
        // the sources take 24 bytes per lane, 768 per set
        let at = 768 * index;
        let load = |name: &str, offset: usize| format!("ld.global.u64 {name}, [%rd11+{}];\n", at + offset);
        body += &load("%rd1", 0).replace("%rd1,", "%rd4,");
        body += &load("%rd5", 8);
        body += &load("%rd6", 16);
        body += "mov.b64 {%r1, %r4}, %rd4; mov.b64 {%r2, _}, %rd5; mov.b64 {%r3, _}, %rd6;\n";
        body += "cvt.u16.u32 %h1, %r1; cvt.u16.u32 %h2, %r2;\n";
        let op =
            ["A", "B", "C"].iter().zip(["%r1", "%r2", "%r3"]).fold(op.clone(), |op, (n, r)| op.replace(n, r));
        let op = ["X", "Y", "Z"].iter().zip(["%rd4", "%rd5", "%rd6"]).fold(op, |op, (n, r)| op.replace(n, r));
        let (dst, store) = if result_bytes == 4 { ("%r10", "u32") } else { ("%rd20", "u64") };
        let op = op.replace('D', dst);
        let guarded = op.split("; ").map(|part| format!("@%p1 {part};")).collect::<Vec<_>>().join(" ");
        for (copy, op) in [format!("{op};"), guarded].into_iter().enumerate() {
            let place = (2 * index + copy) * result_bytes;
            body += &format!("{op}\nst.global.{store} [%rd13+{place}], {dst};\n");
        }
    }
    body += "ret;";
    let inputs: Vec<u8> = (0..96 * ops.len()).flat_map(|_| value(&mut rng).to_le_bytes()).collect();
    let mut launch = kernel(32, &body);
    launch.buffers = vec![inputs, vec![0; 32 * stride]];
    launch.ok();
}

#[test]
fn every_operation_on_rows_equals_the_interpreter() {
    let owned = |ops: &[&str]| ops.iter().map(|op| (*op).to_owned()).collect::<Vec<_>>();
    let comparisons: Vec<String> = COMPARED
        .iter()
        .flat_map(|(relations, forms)| {
            relations.split(' ').flat_map(|relation| {
                forms.iter().map(move |form| {
                    let form = match form.strip_prefix("ftz.") {
                        Some(form) => format!("{relation}.ftz.{form}"),
                        None => format!("{relation}.{form}"),
                    };
                    format!("setp.{form}; selp.b32 D, 1, 0, %p5")
                })
            })
        })
        .map(|op| {
            // setp.REL.TYPE P, SOURCES
            let (head, rest) = op.split_once(' ').expect("an operation");
            format!("{head} %p5, {rest}")
        })
        .collect();
    for seed in 0..6 {
        run(seed, &owned(NARROW), 4);
        run(100 + seed, &owned(WIDE), 8);
        run(200 + seed, &comparisons, 4);
    }
}

#[test]
fn accesses_of_every_shape_equal_those_by_lane() {
    // one buffer of 4 KiB; the address of lane l is (l * stride) ^ twist, in bytes
    for (stride, twist) in [(0, 0), (4, 0), (8, 0), (16, 0), (4, 64), (12, 0), (36, 4), (4, 124)] {
        for (suffix, regs, align) in [
            ("u8", "%r5", 1),
            ("s8", "%r5", 1),
            ("s16", "%r5", 2),
            ("u32", "%r5", 4),
            ("s32", "%rd6", 4),
            ("u64", "%rd6", 8),
            ("v2.u32", "{%r5, %r6}", 8),
            ("v4.u32", "{%r5, _, %r6, %r7}", 16),
            ("v2.u32", "{%r6, %r7}", 8),
            ("v4.u32", "{%r5, %r6, %r7, %r8}", 16),
            ("v2.u64", "{%rd6, %rd7}", 16),
        ] {
            for guard in ["", "@%p1 "] {
                let store = suffix.replace("s8", "u8").replace("s16", "u16").replace("s32", "u32");
                let stored = regs.replace('_', "9");
                let body = format!(
                    "and.b32 %r20, %r0, 5; setp.ne.u32 %p1, %r20, 1;\n\
                     mul.lo.u32 %r1, %r0, {stride}; xor.b32 %r1, %r1, {twist}; and.b32 %r1, %r1, {};\n\
                     cvt.u64.u32 %rd3, %r1; add.s64 %rd3, %rd0, %rd3; add.s64 %rd4, %rd3, 2048;\n\
                     {guard}ld.global.{suffix} {regs}, [%rd3];\n\
                     {guard}st.global.{store} [%rd4], {stored};\n\
                     {guard}ld.{suffix} {regs}, [%rd3+16];\n\
                     {guard}st.{store} [%rd4+16], {stored};\n\
                     ret;",
                    2047 & !(align - 1)
                );
                let mut launch = kernel(64, &body);
                launch.buffers =
                    vec![(0..4400u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect()];
                launch.ok();
            }
        }
    }
}
