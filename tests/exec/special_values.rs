//! The statements of the floating-point chapter of the PTX ISA (9.1, sections 9.7.3 to 9.7.9.21)
//! about special values, sentence by sentence, and our choice where NVIDIA's assembler and hardware
//! differ.

use crate::exec_support;

use exec_support::kernel;

const INF: u64 = 0x7f80_0000;
const MINUS_INF: u64 = 0xff80_0000;
const ONE: u64 = 0x3f80_0000;
const MINUS_ONE: u64 = 0xbf80_0000;
const MINUS_ZERO: u64 = 0x8000_0000;
const NAN: u64 = 0x7fff_ffff;
/// A NaN with another payload.
const OTHER_NAN: u64 = 0xffc1_2345;
const TINY: u64 = 1;
const MINUS_TINY: u64 = 0x8000_0001;
/// The smallest normal number.
const LEAST: u64 = 0x0080_0000;
const INF64: u64 = 0x7ff0_0000_0000_0000;
const NAN64: u64 = 0x7ff8_0000_0000_0001;
const SIGN64: u64 = 1 << 63;

/// An instruction with its registers, their values, and the result. Registers are named by kind:
/// `fd` is an f32 destination, `fa`, `fb`, `fc` are f32 sources; likewise `d` (f64), `h` (16 bits),
/// `r` (32), `l` (64), and `pd` a predicate.
type Row<'a> = (&'a str, &'a [u64], u64);

/// Runs the rows one after the other in one thread.
fn holds(sentence: &str, rows: &[Row]) {
    let mut body = String::new();
    for (index, (instruction, sources, _)) in rows.iter().enumerate() {
        let words: Vec<&str> =
            instruction.split(|c: char| !c.is_alphanumeric() && c != '.').filter(|w| !w.is_empty()).collect();
        let registers: Vec<&str> = words.iter().copied().filter(|word| is_register(word)).collect();
        for (value, name) in sources.iter().zip("abc".chars()) {
            let kind = registers.iter().find(|reg| reg.ends_with(name)).map_or("l", |reg| &reg[..1]);
            body += &match kind {
                "f" => format!("mov.b32 %r50, {value:#x}; mov.b32 %f{name}, %r50; "),
                "d" => format!("mov.b64 %rd30, {value:#x}; mov.b64 %d{name}, %rd30; "),
                "h" => format!("mov.u16 %h{name}, {value:#x}; "),
                "r" => format!("mov.b32 %r{name}, {value:#x}; "),
                _ => format!("mov.b64 %l{name}, {value:#x}; "),
            };
        }
        let named = instruction
            .split_inclusive([' ', ',', ';', '|'])
            .map(|piece| {
                let word = piece.trim_end_matches([' ', ',', ';', '|']);
                if is_register(word) { format!("%{piece}") } else { piece.to_owned() }
            })
            .collect::<String>();
        body += &named;
        body += "; ";
        let result = registers.iter().find(|reg| reg.ends_with('d')).map_or("l", |reg| &reg[..1]);
        body += match result {
            "f" => "mov.b32 %r50, %fd; cvt.u64.u32 %rd31, %r50;",
            "d" => "mov.b64 %rd31, %dd;",
            "h" => "cvt.u64.u16 %rd31, %hd;",
            "r" => "cvt.u64.u32 %rd31, %rd;",
            "p" => "selp.b64 %rd31, 1, 0, %pd;",
            _ => "mov.b64 %rd31, %ld;",
        };
        body += &format!(" st.global.u64 [%rd0+{}], %rd31;\n", index * 8);
    }
    let declared = ".reg .f32 %fa, %fb, %fc, %fd; .reg .f64 %da, %db, %dc, %dd; .reg .b16 %ha, %hb, %hc, %hd;
        .reg .b32 %ra, %rb, %rc, %rd; .reg .b64 %la, %lb, %lc, %ld; .reg .pred %pd;";
    let got = kernel(1, &format!("{declared}\n{body}\nret;")).zeros(rows.len() * 8).ok().longs(0);
    for ((instruction, sources, expected), got) in rows.iter().zip(got) {
        assert!(
            got == *expected,
            "{sentence}: `{instruction}` of {sources:x?} is {got:#x}, not {expected:#x}"
        );
    }
}

fn is_register(word: &str) -> bool {
    matches!(word.as_bytes(), [b'f' | b'd' | b'h' | b'r' | b'l' | b'p', b'a'..=b'd'])
}

#[test]
fn testp_distinguishes_kinds_of_numbers() {
    let kinds32 = [0, MINUS_ZERO, TINY, 0x807f_ffff, LEAST, MINUS_ONE, INF, MINUS_INF, NAN, OTHER_NAN];
    let kinds64 = [
        0,
        SIGN64,
        1,
        SIGN64 | 0x000f_ffff_ffff_ffff,
        0x0010_0000_0000_0000,
        0xbff0_0000_0000_0000,
        INF64,
        SIGN64 | INF64,
        NAN64,
        u64::MAX,
    ];
    for (test, expected) in [
        ("finite", [1, 1, 1, 1, 1, 1, 0, 0, 0, 0]),
        ("infinite", [0, 0, 0, 0, 0, 0, 1, 1, 0, 0]),
        ("number", [1, 1, 1, 1, 1, 1, 1, 1, 0, 0]),
        ("notanumber", [0, 0, 0, 0, 0, 0, 0, 0, 1, 1]),
        // "positive and negative zero are considered normal numbers"
        ("normal", [1, 1, 0, 0, 1, 1, 0, 0, 0, 0]),
        ("subnormal", [0, 0, 1, 1, 0, 0, 0, 0, 0, 0]),
    ] {
        for (kinds, text) in
            [(kinds32, format!("testp.{test}.f32 pd, fa")), (kinds64, format!("testp.{test}.f64 pd, da"))]
        {
            let sources: Vec<[u64; 1]> = kinds.iter().map(|&kind| [kind]).collect();
            let rows: Vec<Row> =
                sources.iter().zip(expected).map(|(source, y)| (text.as_str(), &source[..], y)).collect();
            holds("testp", &rows);
        }
    }
}

#[test]
fn sums_and_products_flush_and_saturate() {
    holds(
        "subnormal numbers are supported by default",
        &[
            ("add.f32 fd, fa, fb", &[TINY, TINY], 2),
            ("mul.f32 fd, fa, fb", &[LEAST, 0x3f00_0000], 0x0040_0000),
            ("fma.rn.f32 fd, fa, fb, fc", &[TINY, ONE, TINY], 2),
            ("div.rn.f32 fd, fa, fb", &[LEAST, 0x4000_0000], 0x0040_0000),
            ("add.f16 hd, ha, hb", &[1, 1], 2),
            ("add.f64 dd, da, db", &[1, 1], 2),
        ],
    );
    holds(
        ".ftz flushes subnormal inputs and results to sign-preserving zero",
        &[
            ("add.ftz.f32 fd, fa, fb", &[TINY, TINY], 0),
            ("add.ftz.f32 fd, fa, fb", &[MINUS_TINY, MINUS_TINY], MINUS_ZERO),
            ("sub.ftz.f32 fd, fa, fb", &[0x0080_0001, LEAST], 0),
            ("sub.ftz.f32 fd, fa, fb", &[LEAST, 0x0080_0001], MINUS_ZERO),
            ("mul.ftz.f32 fd, fa, fb", &[LEAST, 0xbf00_0000], MINUS_ZERO),
            ("mul.ftz.f32 fd, fa, fb", &[MINUS_TINY, 0x7f00_0000], MINUS_ZERO),
            ("fma.rn.ftz.f32 fd, fa, fb, fc", &[ONE, ONE, TINY], ONE),
            ("fma.rn.ftz.f32 fd, fa, fb, fc", &[LEAST, 0xbf00_0000, 0], MINUS_ZERO),
            ("div.rn.ftz.f32 fd, fa, fb", &[ONE, MINUS_TINY], MINUS_INF),
            ("div.rn.ftz.f32 fd, fa, fb", &[0x8080_0000, 0x4000_0000], MINUS_ZERO),
            ("abs.ftz.f32 fd, fa", &[MINUS_TINY], 0),
            ("neg.ftz.f32 fd, fa", &[TINY], MINUS_ZERO),
            ("min.ftz.f32 fd, fa, fb", &[TINY, ONE], 0),
            ("max.ftz.f32 fd, fa, fb", &[MINUS_TINY, MINUS_ONE], MINUS_ZERO),
            ("add.ftz.f16 hd, ha, hb", &[0x8001, 0x8001], 0x8000),
            ("mul.ftz.f16 hd, ha, hb", &[0x0400, 0x3800], 0),
            ("fma.rn.ftz.f16 hd, ha, hb, hc", &[0x3c00, 0x3c00, 0x0001], 0x3c00),
            ("neg.ftz.f16 hd, ha", &[0x0001], 0x8000),
            ("abs.ftz.f16 hd, ha", &[0x8001], 0),
        ],
    );
    holds(
        ".sat clamps the result to [0.0, 1.0], and NaN becomes +0.0",
        &[
            ("add.sat.f32 fd, fa, fb", &[ONE, ONE], ONE),
            ("sub.sat.f32 fd, fa, fb", &[0, ONE], 0),
            ("mul.sat.f32 fd, fa, fb", &[MINUS_ZERO, ONE], 0),
            ("mul.sat.f32 fd, fa, fb", &[INF, 0], 0),
            ("add.sat.f32 fd, fa, fb", &[OTHER_NAN, ONE], 0),
            ("fma.rn.sat.f32 fd, fa, fb, fc", &[INF, ONE, MINUS_INF], 0),
            ("fma.rn.sat.f32 fd, fa, fb, fc", &[INF, ONE, 0], ONE),
            ("add.sat.f16 hd, ha, hb", &[0x7e01, 0x3c00], 0),
            ("add.sat.f16 hd, ha, hb", &[0x7c00, 0x3c00], 0x3c00),
            ("cvt.sat.f32.f32 fd, fa", &[OTHER_NAN], 0),
            ("cvt.sat.f32.f32 fd, fa", &[MINUS_ZERO], 0),
            ("cvt.rn.sat.f16.f32 hd, fa", &[INF], 0x3c00),
            ("cvt.sat.f64.f64 dd, da", &[NAN64], 0),
            ("cvt.sat.f64.f32 dd, fa", &[MINUS_INF], 0),
        ],
    );
}

#[test]
fn rounding_modifiers_round_the_last_bit() {
    let half_ulp = 0x3380_0000;
    holds(
        ".rn to even, .rz, .rm, .rp",
        &[
            ("add.rn.f32 fd, fa, fb", &[ONE, half_ulp], ONE),
            ("add.rn.f32 fd, fa, fb", &[ONE + 1, half_ulp], ONE + 2),
            ("add.rz.f32 fd, fa, fb", &[ONE + 1, half_ulp], ONE + 1),
            ("add.rp.f32 fd, fa, fb", &[ONE, TINY], ONE + 1),
            ("add.rm.f32 fd, fa, fb", &[MINUS_ONE, MINUS_TINY], MINUS_ONE + 1),
            ("sub.rm.f32 fd, fa, fb", &[ONE, ONE], MINUS_ZERO),
            ("sub.rp.f32 fd, fa, fb", &[ONE, ONE], 0),
            ("mul.rz.f32 fd, fa, fb", &[0x7f7f_ffff, 0x4000_0000], 0x7f7f_ffff),
            ("mul.rp.f32 fd, fa, fb", &[0x7f7f_ffff, 0x4000_0000], INF),
            ("mul.rp.f32 fd, fa, fb", &[TINY, TINY], TINY),
            // the product is not rounded before the sum
            ("fma.rn.f32 fd, fa, fb, fc", &[ONE + 1, ONE + 1, 0xbf80_0002], 0x2880_0000),
            ("mad.rn.f32 fd, fa, fb, fc", &[ONE + 1, ONE + 1, 0xbf80_0002], 0x2880_0000),
            ("sqrt.rp.f32 fd, fa", &[0x4000_0000], 0x3fb5_04f4),
            ("rcp.rm.f32 fd, fa", &[0x4040_0000], 0x3eaa_aaaa),
        ],
    );
}

#[test]
fn divisions() {
    let large = 0x7e80_0001;
    holds(
        "2^126 < |b| < 2^128: NaN if a is infinity, otherwise a sign-preserving zero",
        &[
            ("div.approx.f32 fd, fa, fb", &[large, large], 0),
            ("div.approx.f32 fd, fa, fb", &[MINUS_ONE, 0x7f7f_ffff], MINUS_ZERO),
            ("div.approx.f32 fd, fa, fb", &[ONE, 0xff00_0000], MINUS_ZERO),
            ("div.approx.f32 fd, fa, fb", &[INF, large], NAN),
            ("div.approx.f32 fd, fa, fb", &[MINUS_INF, 0xff7f_ffff], NAN),
            ("div.approx.f32 fd, fa, fb", &[OTHER_NAN, large], NAN),
            ("div.approx.ftz.f32 fd, fa, fb", &[large, large], 0),
            ("div.approx.ftz.f32 fd, fa, fb", &[INF, large], NAN),
            // at 2^126 itself, and beyond 2^128
            ("div.approx.f32 fd, fa, fb", &[0x7e80_0000, 0x7e80_0000], ONE),
            ("div.approx.f32 fd, fa, fb", &[ONE, MINUS_INF], MINUS_ZERO),
            ("div.approx.f32 fd, fa, fb", &[INF, INF], NAN),
            ("div.approx.f32 fd, fa, fb", &[ONE, MINUS_ZERO], MINUS_INF),
            ("div.approx.f32 fd, fa, fb", &[0x4080_0000, 0x4000_0000], 0x4000_0000),
        ],
    );
    holds(
        "div.full has the full range, and so have rounded divisions",
        &[
            ("div.full.f32 fd, fa, fb", &[large, large], ONE),
            ("div.full.f32 fd, fa, fb", &[INF, large], INF),
            ("div.full.ftz.f32 fd, fa, fb", &[large, large], ONE),
            ("div.rn.f32 fd, fa, fb", &[large, large], ONE),
            ("div.rn.f32 fd, fa, fb", &[0, MINUS_ONE], MINUS_ZERO),
            ("div.rn.f64 dd, da, db", &[0x7fe0_0000_0000_0000, 0x7fe0_0000_0000_0000], 0x3ff0_0000_0000_0000),
        ],
    );
}

#[test]
fn minima_and_maxima() {
    holds(
        "a NaN loses, two NaNs give one, +0.0 > -0.0; with .NaN the result is canonical",
        &[
            ("min.f32 fd, fa, fb", &[OTHER_NAN, ONE], ONE),
            ("max.f32 fd, fa, fb", &[ONE, OTHER_NAN], ONE),
            ("min.f32 fd, fa, fb", &[OTHER_NAN, OTHER_NAN], NAN),
            ("min.f32 fd, fa, fb", &[0, MINUS_ZERO], MINUS_ZERO),
            ("min.f32 fd, fa, fb", &[MINUS_ZERO, 0], MINUS_ZERO),
            ("max.f32 fd, fa, fb", &[0, MINUS_ZERO], 0),
            ("max.f32 fd, fa, fb", &[MINUS_ZERO, 0], 0),
            ("max.NaN.f32 fd, fa, fb", &[ONE, OTHER_NAN], NAN),
            ("min.NaN.f32 fd, fa, fb", &[OTHER_NAN, ONE], NAN),
            ("min.f64 dd, da, db", &[NAN64, SIGN64], SIGN64),
            ("max.f64 dd, da, db", &[SIGN64, 0], 0),
            ("min.f16 hd, ha, hb", &[0x7e01, 0x3c00], 0x3c00),
            ("max.NaN.f16 hd, ha, hb", &[0x3c00, 0xfe01], 0x7fff),
            ("max.f16 hd, ha, hb", &[0x8000, 0], 0),
            ("fma.rn.relu.f16 hd, ha, hb, hc", &[0xbc00, 0x3c00, 0], 0),
            ("fma.rn.relu.f16 hd, ha, hb, hc", &[0xfe01, 0x3c00, 0], 0x7fff),
            ("copysign.f32 fd, fa, fb", &[MINUS_ZERO, OTHER_NAN & NAN], OTHER_NAN),
            ("copysign.f64 dd, da, db", &[0x3ff0_0000_0000_0000, SIGN64 | INF64], INF64),
        ],
    );
}

#[test]
fn approximate_functions() {
    let of = |name: &str, rows: &[(u64, u64)]| {
        let text = format!("{name}.f32 fd, fa");
        let sources: Vec<[u64; 1]> = rows.iter().map(|&(x, _)| [x]).collect();
        let rows: Vec<Row> =
            sources.iter().zip(rows).map(|(x, &(_, y))| (text.as_str(), &x[..], y)).collect();
        holds("the tables of approximate functions", &rows);
    };
    let ends = [(MINUS_INF, MINUS_ZERO), (MINUS_ZERO, MINUS_INF), (0, INF), (INF, 0), (OTHER_NAN, NAN)];
    of("rcp.approx", &ends);
    of("rcp.approx.ftz", &ends);
    of(
        "rcp.approx.ftz",
        &[(TINY, INF), (MINUS_TINY, MINUS_INF), (0x7f00_0000, 0), (0xff00_0000, MINUS_ZERO)],
    );
    of("rcp.approx", &[(0x7f00_0000, 0x0040_0000)]);
    let root =
        [(MINUS_INF, NAN), (MINUS_ONE, NAN), (MINUS_ZERO, MINUS_ZERO), (0, 0), (INF, INF), (OTHER_NAN, NAN)];
    of("sqrt.approx", &root);
    of("sqrt.approx.ftz", &root);
    of("sqrt.rn", &root);
    of("sqrt.approx.ftz", &[(TINY, 0), (MINUS_TINY, MINUS_ZERO)]);
    let root =
        [(MINUS_INF, NAN), (MINUS_ONE, NAN), (MINUS_ZERO, MINUS_INF), (0, INF), (INF, 0), (OTHER_NAN, NAN)];
    of("rsqrt.approx", &root);
    of("rsqrt.approx.ftz", &root);
    of("rsqrt.approx.ftz", &[(TINY, INF), (MINUS_TINY, MINUS_INF)]);
    let wave = [(MINUS_INF, NAN), (INF, NAN), (OTHER_NAN, NAN)];
    of("sin.approx", &wave);
    of("cos.approx", &wave);
    of("sin.approx", &[(MINUS_ZERO, MINUS_ZERO), (0, 0)]);
    of("cos.approx", &[(MINUS_ZERO, ONE), (0, ONE)]);
    of("sin.approx.ftz", &[(TINY, 0), (MINUS_TINY, MINUS_ZERO)]);
    of("cos.approx.ftz", &[(TINY, ONE), (MINUS_TINY, ONE)]);
    let logarithm = [
        (MINUS_INF, NAN),
        (MINUS_ONE, NAN),
        (MINUS_ZERO, MINUS_INF),
        (0, MINUS_INF),
        (INF, INF),
        (OTHER_NAN, NAN),
        (ONE, 0),
    ];
    of("lg2.approx", &logarithm);
    of("lg2.approx.ftz", &logarithm);
    of("lg2.approx.ftz", &[(TINY, MINUS_INF), (MINUS_TINY, MINUS_INF)]);
    of("lg2.approx", &[(TINY, 0xc315_0000)]);
    let power = [(MINUS_INF, 0), (MINUS_ZERO, ONE), (0, ONE), (INF, INF), (OTHER_NAN, NAN)];
    of("ex2.approx", &power);
    of("ex2.approx.ftz", &power);
    // 2^-127, and 2 to the power of a subnormal number
    of("ex2.approx", &[(0xc2fe_0000, 0x0040_0000)]);
    of("ex2.approx.ftz", &[(0xc2fe_0000, 0), (TINY, ONE)]);
    of(
        "tanh.approx",
        &[
            (MINUS_INF, MINUS_ONE),
            (MINUS_ZERO, MINUS_ZERO),
            (0, 0),
            (INF, ONE),
            (OTHER_NAN, NAN),
            (TINY, TINY),
            (0x807f_ffff, 0x807f_ffff),
        ],
    );
    holds(
        "functions of halves",
        &[
            ("ex2.approx.f16 hd, ha", &[0xfc00], 0),
            ("ex2.approx.f16 hd, ha", &[0x8000], 0x3c00),
            ("ex2.approx.f16 hd, ha", &[0x7c00], 0x7c00),
            ("ex2.approx.f16 hd, ha", &[0xfe01], 0x7fff),
            ("tanh.approx.f16 hd, ha", &[0xfc00], 0xbc00),
            ("tanh.approx.f16 hd, ha", &[0x8000], 0x8000),
            ("tanh.approx.f16 hd, ha", &[0x0001], 0x0001),
            ("tanh.approx.f16 hd, ha", &[0x7e01], 0x7fff),
        ],
    );
    let nan = 0x7fff_ffff_0000_0000;
    let low = 0xffff_ffff;
    holds(
        "gross approximations look at the upper word and give one",
        &[
            ("rcp.approx.ftz.f64 dd, da", &[SIGN64 | INF64], SIGN64),
            ("rcp.approx.ftz.f64 dd, da", &[SIGN64 | 1], SIGN64 | INF64),
            ("rcp.approx.ftz.f64 dd, da", &[1 << 40], INF64),
            ("rcp.approx.ftz.f64 dd, da", &[NAN64], nan),
            ("rcp.approx.ftz.f64 dd, da", &[SIGN64 | NAN64], nan),
            ("rcp.approx.ftz.f64 dd, da", &[INF64 | low], 0),
            ("rcp.approx.ftz.f64 dd, da", &[0x4000_0000_0000_0000 | low], 0x3fe0_0000_0000_0000),
            ("rcp.approx.ftz.f64 dd, da", &[0x7fe0_0000_0000_0000], 0),
            ("rsqrt.approx.ftz.f64 dd, da", &[SIGN64 | INF64], nan),
            ("rsqrt.approx.ftz.f64 dd, da", &[SIGN64 | 1], SIGN64 | INF64),
            ("rsqrt.approx.ftz.f64 dd, da", &[SIGN64], SIGN64 | INF64),
            ("rsqrt.approx.ftz.f64 dd, da", &[1], INF64),
            ("rsqrt.approx.ftz.f64 dd, da", &[INF64], 0),
            ("rsqrt.approx.ftz.f64 dd, da", &[NAN64], nan),
        ],
    );
}

#[test]
fn comparisons_and_selections() {
    let ordered = ["eq", "ne", "lt", "le", "gt", "ge", "num"];
    let unordered = ["equ", "neu", "ltu", "leu", "gtu", "geu", "nan"];
    for (names, expected) in [(ordered, 0), (unordered, 1)] {
        for name in names {
            let text = format!("setp.{name}.f32 pd, fa, fb");
            let halves = format!("setp.{name}.f16 pd, ha, hb");
            let doubles = format!("set.{name}.u32.f64 rd, da, db");
            holds(
                "comparisons with NaN",
                &[
                    (&text, &[OTHER_NAN, ONE], expected),
                    (&text, &[ONE, NAN], expected),
                    (&text, &[NAN, NAN], expected),
                    (&halves, &[0x7e01, 0x3c00], expected),
                    (&doubles, &[0, NAN64], expected * 0xffff_ffff),
                ],
            );
        }
    }
    holds(
        "results of set, subnormal sources, and the choice by a sign",
        &[
            ("set.eq.f32.f32 fd, fa, fb", &[0, MINUS_ZERO], ONE),
            ("set.lt.u32.f32 rd, fa, fb", &[0, TINY], 0xffff_ffff),
            ("set.lt.ftz.u32.f32 rd, fa, fb", &[0, TINY], 0),
            ("setp.eq.ftz.f32 pd, fa, fb", &[TINY, MINUS_TINY], 1),
            ("setp.eq.ftz.f16 pd, ha, hb", &[0x0001, 0x8002], 1),
            ("slct.u32.f32 rd, ra, rb, fc", &[7, 9, MINUS_ZERO], 7),
            ("slct.u32.f32 rd, ra, rb, fc", &[7, 9, NAN], 9),
            ("slct.u32.f32 rd, ra, rb, fc", &[7, 9, MINUS_TINY], 9),
            ("slct.ftz.u32.f32 rd, ra, rb, fc", &[7, 9, MINUS_TINY], 7),
            ("slct.f32.f32 fd, fa, fb, fc", &[TINY, OTHER_NAN, MINUS_ONE], OTHER_NAN),
            ("slct.ftz.f32.f32 fd, fa, fb, fc", &[TINY, 9, 0], TINY),
            ("slct.u32.s32 rd, ra, rb, rc", &[7, 9, 0x8000_0000], 9),
        ],
    );
}

#[test]
fn conversions() {
    let min64 = SIGN64;
    holds(
        "a NaN is zero if the source is no .f64 and the destination has no 64 bits, otherwise 1 << (bits - 1)",
        &[
            ("cvt.rzi.s32.f32 rd, fa", &[OTHER_NAN], 0),
            ("cvt.rni.u32.f32 rd, fa", &[NAN], 0),
            ("cvt.rni.s16.f32 hd, fa", &[NAN], 0),
            ("cvt.rzi.s32.f16 rd, ha", &[0x7e01], 0),
            ("cvt.rzi.s64.f32 ld, fa", &[NAN], min64),
            ("cvt.rzi.u64.f32 ld, fa", &[OTHER_NAN], min64),
            ("cvt.rpi.u64.f16 ld, ha", &[0xfe01], min64),
            ("cvt.rzi.s32.f64 rd, da", &[NAN64], 0x8000_0000),
            ("cvt.rzi.u32.f64 rd, da", &[NAN64], 0x8000_0000),
            ("cvt.rzi.s16.f64 hd, da", &[NAN64], 0x8000),
            ("cvt.rmi.s64.f64 ld, da", &[u64::MAX], min64),
            ("cvt.rmi.u64.f64 ld, da", &[NAN64], min64),
        ],
    );
    holds(
        "the result is clamped to the destination range",
        &[
            ("cvt.rzi.s32.f32 rd, fa", &[INF], 0x7fff_ffff),
            ("cvt.rzi.s32.f32 rd, fa", &[MINUS_INF], 0x8000_0000),
            ("cvt.rzi.u32.f32 rd, fa", &[MINUS_ONE], 0),
            ("cvt.rzi.u32.f32 rd, fa", &[INF], 0xffff_ffff),
            ("cvt.rni.s16.f32 hd, fa", &[0x4780_0000], 0x7fff),
            ("cvt.rzi.u64.f64 ld, da", &[SIGN64 | INF64], 0),
            ("cvt.rzi.s64.f32 ld, fa", &[0x5f80_0000], 0x7fff_ffff_ffff_ffff),
            ("cvt.sat.u16.s32 hd, ra", &[0xffff_ffff], 0),
            ("cvt.sat.s16.u32 hd, ra", &[0xffff_ffff], 0x7fff),
        ],
    );
    holds(
        "integers: .rni to even, .rzi, .rmi, .rpi",
        &[
            ("cvt.rni.f32.f32 fd, fa", &[0x4020_0000], 0x4000_0000),
            ("cvt.rni.f32.f32 fd, fa", &[0xbf00_0000], MINUS_ZERO),
            ("cvt.rpi.f32.f32 fd, fa", &[TINY], ONE),
            ("cvt.rmi.f32.f32 fd, fa", &[MINUS_TINY], MINUS_ONE),
            ("cvt.rzi.f32.f32 fd, fa", &[0xbfff_ffff], MINUS_ONE),
            ("cvt.rni.f32.f32 fd, fa", &[MINUS_INF], MINUS_INF),
            ("cvt.rpi.s32.f32 rd, fa", &[TINY], 1),
            ("cvt.rmi.s32.f32 rd, fa", &[MINUS_TINY], 0xffff_ffff),
        ],
    );
    holds(
        ".ftz flushes single precision, sources and results",
        &[
            ("cvt.rpi.ftz.f32.f32 fd, fa", &[TINY], 0),
            ("cvt.rmi.ftz.f32.f32 fd, fa", &[MINUS_TINY], MINUS_ZERO),
            ("cvt.rpi.ftz.s32.f32 rd, fa", &[TINY], 0),
            ("cvt.rmi.ftz.s32.f32 rd, fa", &[MINUS_TINY], 0),
            ("cvt.rn.ftz.f32.f64 fd, da", &[0xb80f_ffff_0000_0000], MINUS_ZERO),
            ("cvt.ftz.f64.f32 dd, fa", &[MINUS_TINY], SIGN64),
            ("cvt.f64.f32 dd, fa", &[TINY], 0x36a0_0000_0000_0000),
            ("cvt.ftz.f32.f16 fd, ha", &[0x0001], 0x3380_0000),
        ],
    );
    // NVIDIA's assembler omits FTZ here, and ZLUDA's sweep on NVIDIA GPUs found sources that are
    // not flushed
    holds(
        "cvt.ftz.f16.f32 flushes neither sources nor results",
        &[
            ("cvt.rn.ftz.f16.f32 hd, fa", &[0x3380_0000], 0x0001),
            ("cvt.rp.ftz.f16.f32 hd, fa", &[TINY], 0x0001),
            ("cvt.rm.ftz.f16.f32 hd, fa", &[MINUS_TINY], 0x8001),
        ],
    );
    holds(
        "floating-point rounding of narrower results, and of integers",
        &[
            ("cvt.rn.f16.f32 hd, fa", &[0x477f_f000], 0x7c00),
            ("cvt.rz.f16.f32 hd, fa", &[0x477f_f000], 0x7bff),
            ("cvt.rm.f32.u32 fd, ra", &[0xffff_ffff], 0x4f7f_ffff),
            ("cvt.rp.f32.s32 fd, ra", &[0x8000_0001], 0xceff_ffff),
            ("cvt.rn.f16.s32 hd, ra", &[0x0001_0000], 0x7c00),
            ("cvt.rz.f16.s32 hd, ra", &[0xfffe_0000], 0xfbff),
        ],
    );
}

/// NVIDIA's assembler translates all of these into sums with one carry, and shifts of 64-bit
/// fields: where the PTX ISA differs, we follow the assembler.
#[test]
fn the_condition_code_and_wide_fields_are_those_of_the_hardware() {
    let body = "
        sub.cc.u32 %r1, 5, 3; addc.u32 %r2, 10, 0;
        sub.cc.u32 %r1, 3, 5; addc.u32 %r3, 10, 0;
        add.cc.u32 %r1, 5, 3; subc.u32 %r4, 10, 0;
        add.cc.u32 %r1, -1, 3; subc.u32 %r5, 10, 0;
        sub.cc.u32 %r1, 5, 3; subc.u32 %r6, 10, 0;
        sub.cc.u32 %r1, 3, 5; subc.u32 %r7, 10, 0;
        st.global.u32 [%rd0], %r2; st.global.u32 [%rd0+4], %r3; st.global.u32 [%rd0+8], %r4;
        st.global.u32 [%rd0+12], %r5; st.global.u32 [%rd0+16], %r6; st.global.u32 [%rd0+20], %r7; ret;";
    assert_eq!(kernel(1, body).zeros(24).ok().words(0), [11, 10, 9, 10, 10, 9]);
    let a = 0x8123_4567_89ab_cdef;
    holds(
        "fields beyond position and length 255",
        &[
            ("bfe.u64 ld, la, rb, rc", &[a, 256, 8], 0),
            ("bfe.s64 ld, la, rb, rc", &[a, 256, 8], u64::MAX),
            ("bfe.u64 ld, la, rb, rc", &[a, 4, 264], a >> 4),
            ("bfe.u64 ld, la, rb, rc", &[a, 4, 8], 0xde),
            ("bfe.u32 rd, ra, rb, rc", &[0x89ab_cdef, 260, 264], 0xde),
        ],
    );
}
