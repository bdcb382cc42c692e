//! `kernels/include/cuda_min.h`: its functions compared with double precision, or with CUDA's
//! documentation.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use warpbound::isa::IsaTable;
use warpbound::ptx::Module;

use crate::support::{isa, run, test_module};

/// The number of values per function, a multiple of the block.
const COUNT: usize = 4096;
const BLOCK: u32 = 256;

fn f32s(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks().0.iter().map(|word| f32::from_le_bytes(*word)).collect()
}

fn f64s(bytes: &[u8]) -> Vec<f64> {
    bytes.as_chunks().0.iter().map(|word| f64::from_le_bytes(*word)).collect()
}

fn u32s(bytes: &[u8]) -> Vec<u32> {
    bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect()
}

fn u64s(bytes: &[u8]) -> Vec<u64> {
    bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect()
}

fn bytes<T: Copy, const N: usize>(values: &[T], of: impl Fn(T) -> [u8; N]) -> Vec<u8> {
    values.iter().flat_map(|value| of(*value)).collect()
}

/// Returns special values, values in the usual range of the functions, and arbitrary ones.
fn arguments(stream: u64) -> Vec<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    rng.set_stream(stream);
    let mut values = vec![
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        -0.5,
        0.499_999_97,
        2.5,
        -3.5,
        1e-40,
        -1e-45,
        3.4e38,
        -3.4e38,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        88.72,
        -103.9,
        127.999,
        -149.5,
        std::f64::consts::FRAC_PI_2,
        std::f64::consts::PI,
        30000.5,
        1e6,
    ];
    let ranges = [(-10.0, 10.0), (-120.0, 120.0), (0.5, 2.0), (0.99, 1.01), (-40000.0, 40000.0)];
    while values.len() < COUNT {
        let (low, high) = ranges[values.len() % ranges.len()];
        values.push(low + (high - low) * rng.random::<f64>());
        values.push(f64::from(f32::from_bits(rng.random())));
        // near multiples of a quarter turn, and whole numbers
        values.push(f64::from(((rng.random::<u32>() >> 12) as f32) * std::f32::consts::FRAC_PI_2));
        values.push((rng.random::<f64>() * 60.0).floor() - 30.0);
    }
    values.truncate(COUNT);
    values
}

/// Returns the difference in units in the last place of a number with this many bits of fraction
/// and this smallest exponent.
fn ulps(got: f64, expected: f64, rounded: f64, (fraction, least): (i32, i32)) -> f64 {
    if rounded.is_nan() || got.is_nan() {
        return if rounded.is_nan() && got.is_nan() { 0.0 } else { f64::INFINITY };
    }
    if got == rounded {
        return 0.0;
    }
    if !rounded.is_finite() || !got.is_finite() {
        return f64::INFINITY;
    }
    let exponent = if expected == 0.0 { least } else { (expected.abs().log2().floor() as i32).max(least) };
    (got - expected).abs() / 2f64.powi(exponent - fraction)
}

struct Worst {
    error: f64,
    at: String,
}

fn single(module: &Module, isa: &IsaTable, entry: &str, reference: &dyn Fn(f64, f64) -> f64) -> Worst {
    let (x, z) = (arguments(1), arguments(2));
    let [x, z] = [x, z].map(|list| list.iter().map(|v| *v as f32).collect::<Vec<f32>>());
    let buffers = [bytes(&x, f32::to_le_bytes), bytes(&z, f32::to_le_bytes), vec![0; 4 * COUNT]];
    let program = module.program(entry, isa).unwrap();
    let left = run(&program, (COUNT as u32 / BLOCK, BLOCK), &buffers, &[]).unwrap();
    let mut worst = Worst { error: 0.0, at: String::new() };
    for ((x, z), got) in x.iter().zip(&z).zip(f32s(&left[2])) {
        let expected = reference((*x).into(), (*z).into());
        let error = ulps(got.into(), expected, (expected as f32).into(), (23, -126));
        if error > worst.error {
            worst = Worst { error, at: format!("{entry}({x:e}, {z:e}) = {got:e}, {expected:e} expected") };
        }
    }
    worst
}

fn double(module: &Module, isa: &IsaTable, entry: &str, reference: &dyn Fn(f64, f64) -> f64) -> Worst {
    let (mut x, z) = (arguments(3), arguments(4));
    // beyond single precision
    for (index, value) in x.iter_mut().enumerate().filter(|(index, _)| index % 7 == 0) {
        *value *= 2f64.powi((index % 1200) as i32 - 600);
    }
    let buffers = [bytes(&x, f64::to_le_bytes), bytes(&z, f64::to_le_bytes), vec![0; 8 * COUNT]];
    let program = module.program(entry, isa).unwrap();
    let left = run(&program, (COUNT as u32 / BLOCK, BLOCK), &buffers, &[]).unwrap();
    let mut worst = Worst { error: 0.0, at: String::new() };
    for ((x, z), got) in x.iter().zip(&z).zip(f64s(&left[2])) {
        let expected = reference(*x, *z);
        let error = ulps(got, expected, expected, (52, -1022));
        if error > worst.error {
            worst = Worst { error, at: format!("{entry}({x:e}, {z:e}) = {got:e}, {expected:e} expected") };
        }
    }
    worst
}

fn fmod(x: f64, y: f64) -> f64 {
    x % y
}

/// Returns the minimum of IEEE 754-2008: a number takes precedence over NaN.
fn smaller(x: f64, y: f64) -> f64 {
    x.min(y)
}

type Row = (&'static str, f64, fn(f64, f64) -> f64);

/// Entries with the largest error that the header states, in units in the last place.
const SINGLE: [Row; 28] = [
    ("f_fabs", 0.0, |x, _| x.abs()),
    ("f_sqrt", 0.5, |x, _| x.sqrt()),
    ("f_rsqrt", 1.0, |x, _| 1.0 / x.sqrt()),
    ("f_floor", 0.0, |x, _| x.floor()),
    ("f_ceil", 0.0, |x, _| x.ceil()),
    ("f_trunc", 0.0, |x, _| x.trunc()),
    ("f_round", 0.0, |x, _| x.round()),
    ("f_rint", 0.0, |x, _| x.round_ties_even()),
    ("f_exp", 1.0, |x, _| x.exp()),
    ("f_exp2", 1.0, |x, _| x.exp2()),
    ("f_exp10", 2.0, |x, _| 10f64.powf(x)),
    ("f_log", 1.0, |x, _| x.ln()),
    ("f_log2", 2.0, |x, _| x.log2()),
    ("f_log10", 2.0, |x, _| x.log10()),
    ("f_sin", 2.0, |x, _| x.sin()),
    ("f_cos", 2.0, |x, _| x.cos()),
    ("f_tan", 3.0, |x, _| x.tan()),
    ("f_tanh", 2.0, |x, _| x.tanh()),
    ("f_atan", 2.0, |x, _| x.atan()),
    ("f_erf", 2.0, |x, _| libm::erf(x)),
    ("f_saturate", 0.0, |x, _| if x.is_nan() { 0.0 } else { x.clamp(0.0, 1.0) }),
    ("f_fmax", 0.0, |x, y| x.max(y)),
    ("f_fmin", 0.0, smaller),
    ("f_fmod", 0.0, fmod),
    ("f_pow", 2.0, |x, y| x.powf(y)),
    ("f_atan2", 3.0, |y, x| y.atan2(x)),
    ("f_hypot", 1.0, |x, y| x.hypot(y)),
    ("f_copysign", 0.0, |x, y| x.copysign(y)),
];

const DOUBLE: [Row; 18] = [
    ("d_sqrt", 0.0, |x, _| x.sqrt()),
    ("d_rsqrt", 2.0, |x, _| 1.0 / x.sqrt()),
    ("d_floor", 0.0, |x, _| x.floor()),
    ("d_ceil", 0.0, |x, _| x.ceil()),
    ("d_trunc", 0.0, |x, _| x.trunc()),
    ("d_round", 0.0, |x, _| x.round()),
    ("d_exp", 1.0, |x, _| x.exp()),
    ("d_exp2", 1.0, |x, _| x.exp2()),
    ("d_log", 1.0, |x, _| x.ln()),
    ("d_log2", 2.0, |x, _| x.log2()),
    ("d_log10", 2.0, |x, _| x.log10()),
    ("d_sin", 1.0, |x, _| x.sin()),
    ("d_cos", 1.0, |x, _| x.cos()),
    ("d_tan", 3.0, |x, _| x.tan()),
    ("d_fmax", 0.0, |x, y| x.max(y)),
    ("d_fmin", 0.0, smaller),
    ("d_fmod", 0.0, fmod),
    ("d_pow", 2.0, |x, y| x.powf(y)),
];

#[test]
fn functions_are_as_accurate_as_the_header_says() {
    let (module, isa) = (test_module("functions"), isa());
    let mut wrong = Vec::new();
    let mut judge = |entry: &str, allowed: f64, worst: Worst| {
        if std::env::var_os("WARPBOUND_TABLE").is_some() {
            println!("{entry:12} {:6.3} of {allowed}: {}", worst.error, worst.at);
        }
        if worst.error > allowed {
            wrong.push(format!("{:.3} > {allowed}: {}", worst.error, worst.at));
        }
    };
    for (entry, allowed, reference) in SINGLE {
        judge(entry, allowed, single(&module, &isa, entry, &reference));
    }
    for (entry, allowed, reference) in DOUBLE {
        judge(entry, allowed, double(&module, &isa, entry, &reference));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_approximate_functions_are_near() {
    let (module, isa) = (test_module("functions"), isa());
    let x: Vec<f32> = (0..COUNT).map(|i| -3.0 + 6.0 * i as f32 / COUNT as f32).collect();
    let z: Vec<f32> = x.iter().map(|x| x * 0.5 + 2.0).collect();
    let buffers = [bytes(&x, f32::to_le_bytes), bytes(&z, f32::to_le_bytes), vec![0; 4 * COUNT]];
    let rows: [Row; 5] = [
        ("f_fast_exp", 1e-5, |x, _| x.exp()),
        ("f_fast_log", 1e-6, |x, _| x.ln()),
        ("f_fast_sin", 1e-6, |x, _| x.sin()),
        ("f_fast_cos", 1e-6, |x, _| x.cos()),
        ("f_fdividef", 1e-6, |x, z| x / z),
    ];
    for (entry, allowed, reference) in rows {
        let program = module.program(entry, &isa).unwrap();
        let left = run(&program, (COUNT as u32 / BLOCK, BLOCK), &buffers, &[]).unwrap();
        for ((x, z), got) in x.iter().zip(&z).zip(f32s(&left[2])) {
            let expected = reference((*x).into(), (*z).into());
            let near = (f64::from(got) - expected).abs() <= allowed;
            assert!(
                near || expected.is_nan() && got.is_nan() || expected.is_infinite(),
                "{entry}({x}, {z}) = {got}"
            );
        }
    }
}

#[test]
fn floats_are_classified_and_names_overloaded() {
    let program = test_module("functions").program("f_classes", &isa()).unwrap();
    let x: Vec<f32> = arguments(5).iter().map(|v| *v as f32).collect();
    let left =
        run(&program, (COUNT as u32 / BLOCK, BLOCK), &[bytes(&x, f32::to_le_bytes), vec![0; 4 * COUNT]], &[]);
    for (x, got) in x.iter().zip(u32s(&left.unwrap()[1])) {
        let bit = |holds: bool, at: u32| u32::from(holds) << at;
        let expected = bit(x.is_nan(), 0)
            | bit(x.is_infinite(), 1)
            | bit(x.is_finite(), 2)
            | bit(x.is_sign_negative(), 3)
            | bit(true, 4);
        assert_eq!(got, expected, "{x}");
    }
}

/// Returns the bytes that a selector takes of two words.
fn byte_perm(a: u32, b: u32, selector: u32) -> u32 {
    let all = (u64::from(b) << 32 | u64::from(a)).to_le_bytes();
    let byte = |at: u32| all[(selector >> (4 * at) & 7) as usize];
    u32::from_le_bytes([byte(0), byte(1), byte(2), byte(3)])
}

#[test]
fn integer_functions_do_what_their_names_say() {
    let program = test_module("functions").program("integers", &isa()).unwrap();
    let count = 256;
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    let mut x: Vec<u32> = (0..2 * count).map(|_| rng.random()).collect();
    x[..16].copy_from_slice(&[
        0,
        0,
        1,
        31,
        u32::MAX,
        32,
        1 << 31,
        1,
        0x4049_0fdb,
        7,
        0xc020_0000,
        0,
        5,
        5,
        0x7fff_ffff,
        9,
    ]);
    let buffers = [bytes(&x, u32::to_le_bytes), vec![0; 18 * 4 * count]];
    let left = run(&program, (1, count as u32), &buffers, &[(count as u32).to_le_bytes().to_vec()]).unwrap();
    let results = u32s(&left[1]);
    for i in 0..count {
        let (a, b) = (x[2 * i], x[2 * i + 1]);
        let wide = u64::from(a) << 32 | u64::from(b);
        let (low, high) = (u64::from(a), u64::from(b) << 32);
        let float = f32::from_bits(a);
        let expected = [
            a.count_ones(),
            wide.count_ones(),
            a.leading_zeros(),
            wide.leading_zeros(),
            if a == 0 { 0 } else { a.trailing_zeros() + 1 },
            a.reverse_bits(),
            byte_perm(a, b, 0x5041),
            ((high | low) << (b & 31) >> 32) as u32,
            ((high | low) >> (b & 31)) as u32,
            ((u64::from(a) * u64::from(b)) >> 32) as u32,
            ((i64::from(a as i32) * i64::from(b as i32)) >> 32) as u32,
            (a as i32).min(b as i32) as u32,
            a.max(b),
            (a as i32).wrapping_abs() as u32,
            float.round_ties_even() as i32 as u32,
            float as i32 as u32,
            ((u128::from(wide) * u128::from(wide)) >> 96) as u32,
            a.abs_diff(b).wrapping_add(7),
        ];
        for (row, expected) in expected.into_iter().enumerate() {
            assert_eq!(results[row * count + i], expected, "function {row} of {a:#x}, {b:#x}");
        }
    }
}

#[test]
fn atomics_add_up() {
    let program = test_module("functions").program("atomics", &isa()).unwrap();
    let threads = 64u32;
    let cells = bytes(&[0i32, 100, 0, 0], i32::to_le_bytes);
    let unsigneds = bytes(&[u32::MAX, 0, 0, 3, 3, 77, 0], u32::to_le_bytes);
    let buffers = [cells, unsigneds, vec![0; 16], vec![0; 4], vec![0; 8], vec![0; 4 * threads as usize]];
    let left = run(&program, (1, threads), &buffers, &[]).unwrap();
    let sum = threads * (threads - 1) / 2;
    let cells: Vec<i32> = u32s(&left[0]).into_iter().map(|word| word as i32).collect();
    assert_eq!(cells, [sum as i32, 100 - 128, -63, 58]);
    let words = u32s(&left[1]);
    assert_eq!(words[..3], [0, u32::MAX, 0]);
    // counters that wrap around after 9: 64 steps up from 3, and down from 3
    assert_eq!(words[3..5], [(3 + 64) % 10, 3 + 10 * 7 - 64]);
    assert_eq!(words[6], sum);
    assert_eq!(u64s(&left[2]), [64 << 33, 63 << 40]);
    assert_eq!((f32s(&left[3])[0], f64s(&left[4])[0]), (32.0, 16.0));
    // each exchanged value occurs once, with the first value instead of the last
    let mut seen = u32s(&left[5]);
    seen.push(words[5]);
    seen.sort_unstable();
    let mut expected: Vec<u32> = (0..threads).chain([77]).collect();
    expected.sort_unstable();
    assert_eq!(seen, expected);
}

#[test]
fn types_votes_and_assertions_work() {
    let module = test_module("functions");
    let threads = 64usize;
    let x: Vec<f32> = (0..4 * threads).map(|i| i as f32).collect();
    let buffers = [bytes(&x, f32::to_le_bytes), vec![0; 32 * threads], vec![0; 12]];
    let program = module.program("rest", &isa()).unwrap();
    let left = run(&program, (1, threads as u32), &buffers, &[500f32.to_le_bytes().to_vec()]).unwrap();
    let sums: Vec<f32> = x.chunks(4).map(|quad| quad.iter().sum()).collect();
    let many = sums.iter().filter(|sum| **sum > 500.0).count() as u32;
    assert_eq!(u32s(&left[2]), [many, 0, 1]);
    for (i, pair) in left[1].chunks(32).enumerate() {
        assert_eq!(f32s(&pair[..16]), [sums[threads - 1 - i], x[4 * i], 1.0, 32.0]);
        assert_eq!(pair[16..20], [i as u8, 1, 2, 3]);
    }
    let asserts = module.program("asserts", &isa()).unwrap();
    let run_on = |values: [i32; 32]| run(&asserts, (1, 32), &[bytes(&values, i32::to_le_bytes)], &[]);
    assert!(run_on([3; 32]).is_ok());
    let mut values = [3; 32];
    values[9] = -1;
    assert!(run_on(values).unwrap_err().to_string().contains("trap"));
}

#[test]
fn lanes_exchange_values() {
    let program = test_module("warp").program("lanes", &isa()).unwrap();
    let x: Vec<i32> = (0..32).map(|i| i * i % 37 + 3).collect();
    let z: Vec<f64> = (0..32).map(|i| f64::from(i) * 1.5 + 1e-12).collect();
    let buffers =
        [bytes(&x, i32::to_le_bytes), bytes(&z, f64::to_le_bytes), vec![0; 19 * 4 * 32], vec![0; 8 * 32]];
    let left = run(&program, (1, 32), &buffers, &[]).unwrap();
    let results = u32s(&left[2]);
    let ballot = |of: &dyn Fn(usize) -> bool| (0..32).fold(0u32, |mask, i| mask | u32::from(of(i)) << i);
    for i in 0..32usize {
        let at = |lane: usize| x[lane] as u32;
        let segment = i & !7;
        let wide = (x[9] as i64) << 34;
        let expected = [
            at(3),
            at(if i >= 2 { i - 2 } else { i }),
            at(if i + 2 < 32 { i + 2 } else { i }),
            at(i ^ 5),
            at(segment + 3),
            at(if i - segment >= 2 { i - 2 } else { i }),
            at(if i - segment + 2 < 8 { i + 2 } else { i }),
            at(i ^ 5),
            ballot(&|lane| x[lane] & 1 == 1),
            u32::from(x.contains(&7)),
            1,
            u32::MAX,
            ballot(&|lane| x[lane] & 3 == x[i] & 3),
            u32::MAX,
            1,
            x.iter().sum::<i32>() as u32,
            *x.iter().min().unwrap() as u32,
            x.iter().fold(0, |all, v| all ^ v) as u32,
            (wide as u32).wrapping_add((wide >> 32) as u32),
        ];
        for (row, expected) in expected.into_iter().enumerate() {
            assert_eq!(results[row * 32 + i], expected, "function {row}, lane {i}");
        }
        let down = if i < 31 { z[i + 1] } else { z[31] };
        assert_eq!(f64s(&left[3])[i], z[i ^ 1] + down);
    }
}
