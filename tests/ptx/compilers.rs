//! Two compilers and several optimisation levels with the same meaning: every build of
//! `tests/files/ptx/compiled/calls.cu` leaves the same bytes. The builds have hardly any
//! instruction sequence in common: without optimisation everything is in local memory behind
//! generic addresses and is passed through calls; with optimisation most of that is removed.
//!
//! To rebuild the files, run clang as `scripts/compile-kernels.sh` does, with `-O0`, `-O2` or
//! `-O1 -g`. Run NVRTC 12.9 with `--gpu-architecture=compute_61 -device-int128`, and with no other
//! option, `-lineinfo` or `-G`.
//! `nvrtc_matrices.ptx` is `matrices.cu` by NVRTC 12.9 with
//! `--gpu-architecture=compute_80 -default-device`.

use crate::tensor_sums;
use std::path::Path;

use warpbound::diag::SourceText;
use warpbound::exec::{Executor, Options};
use warpbound::load::ptx_isa;
use warpbound::machine::Reconvergence;
use warpbound::path::{BlockPaths, BlockSource};
use warpbound::program::launch::{Launch, LaunchSpec};
use warpbound::ptx::Module;

const BUILDS: [&str; 6] = ["clang_O0", "clang_O1g", "clang_O2", "nvrtc", "nvrtc_lineinfo", "nvrtc_G"];

/// Returns the buffers of a launch afterwards.
fn run(build: &str, launch: &str) -> Vec<Vec<u8>> {
    run_with(build, launch, Options::default())
}

fn run_with(build: &str, launch: &str, options: Options) -> Vec<Vec<u8>> {
    let isa = ptx_isa();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/files/ptx/compiled/{build}.ptx"));
    let source = SourceText::new(build, std::fs::read_to_string(path).unwrap());
    let text = SourceText::new("launch", launch);
    let spec = LaunchSpec::parse(&text).unwrap_or_else(|e| panic!("{e}"));
    let module = Module::parse(&source).unwrap_or_else(|e| panic!("{e}"));
    let program = module.program(&spec.entry, &isa).unwrap_or_else(|e| panic!("{e}"));
    let no_files = |_: &str, _: u64| Err(String::new());
    let launch = Launch::new(&spec, &program, 1, &text, &no_files).unwrap_or_else(|e| panic!("{build}: {e}"));
    let mut executor = Executor::new(&program, &launch, options).unwrap_or_else(|e| panic!("{e}"));
    let mut paths = BlockPaths::default();
    while executor.next_block(&mut paths).unwrap_or_else(|e| panic!("{build}: {e}")) {}
    (0..launch.buffers.len()).map(|index| executor.buffer(index).to_vec()).collect()
}

fn same_everywhere(launch: &str) -> Vec<Vec<u8>> {
    let first = run(BUILDS[0], launch);
    for build in &BUILDS[1..] {
        assert!(run(build, launch) == first, "{build} and {} differ", BUILDS[0]);
    }
    first
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect()
}

fn ints(bytes: &[u8]) -> Vec<i32> {
    bytes.chunks_exact(4).map(|b| i32::from_le_bytes(b.try_into().unwrap())).collect()
}

#[test]
fn calls_with_structs_and_generic_addresses() {
    // the struct: a = 1..5, b = 2.0, c = 0.5
    let mut bytes: Vec<u8> = (1..=5i32).flat_map(i32::to_le_bytes).collect();
    bytes.extend(2f32.to_le_bytes());
    bytes.extend(0.5f64.to_le_bytes());
    let launch = format!(
        "Launch(module: \"\", entry: \"calls\", grid: (2, 1, 1), block: (40, 1, 1), dynamic_shared: 256, args: [
            Buffer(name: \"out\", elem: F32, len: 320, init: Iota), I32(3), Bytes({bytes:?}), I8(-7), I16(300), F64(0.25),
        ])"
    );
    let buffers = same_everywhere(&launch);
    let out = floats(&buffers[0]);
    for i in [0usize, 1, 17, 39, 40, 79] {
        let thread = i % 40;
        let mut x = (4 * i) as f32;
        let mut y = 1f32;
        for k in 0..3 {
            x = x * 2.0 + (k + 1) as f32;
            y = y * i as f32 + (i * k) as f32;
        }
        assert_eq!(out[4 * i], x + y, "scaled, thread {i}");
        // after the swap x = 3 and y = i
        let many = if i > 3 { 3.0 * f64::from(i as i8) } else { 3.0 + 15.0 };
        assert_eq!(out[4 * i + 1], many as f32 + -7.0 + 300.0 + 0.25, "many, thread {i}");
        let table = [1.0, 2.0, 3.0].get(i & 15).copied().unwrap_or(0.0);
        let grid = match (i & 3, i % 5) {
            (0, 0) => 1.0,
            (0, 1) => 2.0,
            (1, 0) => 3.0,
            _ => 0.0,
        };
        let expected = table + 2.5 + 7.0 + grid + 7.0 + 7.0 + 3.0 + (i % 5 + 1) as f32;
        assert_eq!(out[4 * i + 2], expected, "variables, thread {i}");
        let tile = match thread {
            0 => i + 1,
            1 => i - 1,
            _ => i,
        };
        assert_eq!(out[4 * i + 3], tile as f32 + 3.0 - i as f32, "shared, thread {i}");
    }
}

#[test]
fn switches_and_local_arrays() {
    let launch = "Launch(module: \"\", entry: \"switches\", grid: (1, 1, 1), block: (64, 1, 1), args: [
            Buffer(name: \"out\", elem: I32, len: 192, init: Zero),
            Buffer(name: \"in\", elem: I32, len: 80, init: Uniform(-100.0, 100.0)), I32(21),
        ])";
    let buffers = same_everywhere(launch);
    let (out, input) = (ints(&buffers[0]), ints(&buffers[1]));
    for i in 0..64i32 {
        let at = i as usize;
        let r = match (input[at] + 21) & 15 {
            0 => i * 3,
            1 => i / 7,
            2 => i % 11,
            3 => i ^ 21,
            4 => 21 - i * i,
            5 => input[at + 5],
            6 => 9,
            7 => input[at & 31] * input[2],
            11 => 77,
            _ => -1,
        };
        assert_eq!(out[at], r, "thread {i}");
        let mut buffer: Vec<i32> = input[..32].to_vec();
        for k in 0..21usize {
            let add = buffer[(input[k] & 31) as usize] + i;
            buffer[(k * 7) & 31] += add;
        }
        assert_eq!(out[at + 128], if r == 77 { 0 } else { buffer[21] }, "thread {i}");
    }
}

#[test]
fn integers_and_conversions_of_every_width() {
    for seed in [3.0, -11.0] {
        let launch = format!(
            "Launch(module: \"\", entry: \"types\", grid: (1, 1, 1), block: (1, 1, 1), args: [
                Buffer(name: \"a\", elem: I32, len: 16, init: Values([{seed}, 7, -3])),
                Buffer(name: \"u\", elem: U32, len: 16, init: Values([4000000000, 17, 3])),
                Buffer(name: \"l\", elem: I64, len: 16, init: Values([-123456789012, 1000003, 5])),
                Buffer(name: \"ul\", elem: U64, len: 16, init: Values([12345678901234567000, 98765432109, 5])),
                Buffer(name: \"s\", elem: I16, len: 16, init: Values([-3000, 7, 5])),
                Buffer(name: \"c\", elem: U8, len: 16, init: Values([200, 9, 5])),
                Buffer(name: \"f\", elem: F32, len: 16, init: Values([1.5, -2.25, 3, 4, 5, 6, 7.75, 8.5, -9.9, 10.1, -11.7, 12.3, 0.1, 3e9])),
                Buffer(name: \"d\", elem: F64, len: 16, init: Values([1.5, -2.25, 3, 4, 5, 6, -7.75, 8.5, 1e-9, 10.1])),
            ])"
        );
        let buffers = same_everywhere(&launch);
        let a = ints(&buffers[0]);
        assert_eq!((a[0], a[1], a[5]), (seed as i32 / 7, seed as i32 % 7, -7));
    }
}

/// Returns the value of a half.
fn half(bits: u16) -> f32 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f32::from(bits & 0x3ff) / 1024.0);
    let magnitude =
        if exponent == 0 { fraction / 16384.0 } else { (1.0 + fraction) * 2f32.powi(exponent - 15) };
    if bits >> 15 == 1 { -magnitude } else { magnitude }
}

/// `2 A B - C` of the kernels of `matrices.cu`; C is 0, 1, 2, ... before.
#[test]
fn matrix_functions_of_cuda() {
    let launch =
        |entry: &str, grid: &str, elem: &str, sizes: [usize; 3], init: &str, sums: &str, depth: usize| {
            let [a, b, c] = sizes;
            let text = format!(
                "Launch(module: \"\", entry: \"{entry}\", grid: {grid}, block: (32, 1, 1), args: [
                Buffer(name: \"a\", elem: {elem}, len: {a}, init: {init}),
                Buffer(name: \"b\", elem: {elem}, len: {b}, init: {init}),
                Buffer(name: \"c\", elem: {sums}, len: {c}, init: Iota), I32({depth}),
            ])"
            );
            run("nvrtc_matrices", &text)
        };
    let shorts = |bytes: &[u8]| -> Vec<u16> {
        bytes.chunks_exact(2).map(|b| u16::from_le_bytes(b.try_into().unwrap())).collect()
    };
    let chain = |least: i32, depth: usize, factors: &dyn Fn(usize) -> (f32, f32)| {
        tensor_sums::chained(least, &(0..depth).map(factors).collect::<Vec<_>>())
    };

    // A by rows, B by columns
    let depth = 80;
    let buffers =
        launch("halves", "(3, 2, 1)", "F16", [32 * 80, 48 * 80, 32 * 48], "Uniform(-2.0, 2.0)", "F32", depth);
    let [a, b] = [0, 1].map(|i| shorts(&buffers[i]).into_iter().map(half).collect::<Vec<f32>>());
    for (index, got) in floats(&buffers[2]).into_iter().enumerate() {
        let (m, n) = (index / 48, index % 48);
        let sum = chain(-14, depth, &|k| (a[m * depth + k], b[n * depth + k]));
        assert_eq!(got, sum.mul_add(2.0, -(index as f32)), "halves, {m}, {n}");
    }

    // A and C by columns, B by rows; bits of bfloat16 from 1 to 2.25
    let (height, width, depth) = (16, 64, 48);
    let sizes = [height * depth, width * depth, height * width];
    let buffers = launch("brains", "(2, 2, 1)", "U16", sizes, "Uniform(16256, 16400)", "F32", depth);
    let brain = |bits: u16| f32::from_bits(u32::from(bits) << 16);
    let [a, b] = [0, 1].map(|i| shorts(&buffers[i]).into_iter().map(brain).collect::<Vec<f32>>());
    for (index, got) in floats(&buffers[2]).into_iter().enumerate() {
        let (m, n) = (index % height, index / height);
        let sum = chain(-126, depth, &|k| (a[k * height + m], b[k * width + n]));
        assert_eq!(got, sum.mul_add(2.0, -(index as f32)), "brains, {m}, {n}");
    }

    // A by rows, B by columns
    let depth = 64;
    let buffers =
        launch("bytes", "(2, 1, 1)", "I8", [32 * 64, 16 * 64, 32 * 16], "Uniform(-128, 127)", "I32", depth);
    for (index, got) in ints(&buffers[2]).into_iter().enumerate() {
        let (m, n) = (index / 16, index % 16);
        let term =
            |k| i32::from(buffers[0][m * depth + k] as i8) * i32::from(buffers[1][n * depth + k] as i8);
        assert_eq!(got, 2 * (0..depth).map(term).sum::<i32>() - index as i32, "bytes, {m}, {n}");
    }
}

/// Addresses of parameters, of the kernel and of functions, direct and generic.
#[test]
fn parameters_have_addresses() {
    let text = ".version 8.0
        .func (.param .b32 sum) generic_sum(.param .b64 p, .param .align 4 .b8 own[8]) {
            .reg .b64 %d<4>; .reg .b32 %r<6>;
            ld.param.b64 %d0, [p];
            ld.u32 %r0, [%d0+4];
            mov.b64 %d1, own;
            ld.param.u32 %r1, [%d1+4];
            cvta.local.u64 %d2, %d1;
            ld.u32 %r2, [%d2];
            add.u32 %r3, %r0, %r1;
            add.u32 %r4, %r3, %r2;
            st.param.b32 [sum], %r4;
            ret;
        }
        .visible .entry k(.param .u64 out, .param .align 4 .b8 s[12]) {
            .reg .b64 %d<4>; .reg .b32 %r<4>;
            mov.b64 %d0, s;
            ld.param.u32 %r0, [%d0+8];
            cvta.param.u64 %d1, %d0;
            {
                .param .b64 p0; .param .align 4 .b8 p1[8]; .param .b32 r0;
                st.param.b64 [p0], %d1;
                st.param.v2.b32 [p1], {%r0, 1000};
                call (r0), generic_sum, (p0, p1);
                ld.param.b32 %r1, [r0];
            }
            ld.param.u64 %d2, [out];
            st.u32 [%d2], %r1;
        }";
    let module = Module::parse(&SourceText::new("k.ptx", text)).unwrap_or_else(|e| panic!("{e}"));
    let program = module.program("k", &ptx_isa()).unwrap_or_else(|e| panic!("{e}"));
    let text = SourceText::new(
        "launch",
        "Launch(module: \"\", entry: \"k\", grid: (1, 1, 1), block: (1, 1, 1), args: [
            Buffer(name: \"out\", elem: U32, len: 1, init: Zero), Bytes([1, 0, 0, 0, 20, 0, 0, 0, 44, 1, 0, 0]),
        ])",
    );
    let spec = LaunchSpec::parse(&text).unwrap();
    let launch = Launch::new(&spec, &program, 1, &text, &|_, _| Err(String::new())).unwrap();
    let mut executor = Executor::new(&program, &launch, Options::default()).unwrap();
    executor.next_block(&mut BlockPaths::default()).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(ints(executor.buffer(0)), [20 + 1000 + 300]);
}

/// `tests/files/ptx/compiled/early.cu`: threads beyond the end of the data return before the first
/// barrier, and leave warps that are partly filled.
#[test]
fn threads_that_have_left_are_not_waited_for() {
    const THREADS: usize = 128;
    for n in [1, 31, 128, 129, 257, 300, 384] {
        let input: Vec<i32> = (0..n).map(|i| (i * 7919) % 1000 - 500).collect();
        let values: Vec<String> = input.iter().map(ToString::to_string).collect();
        let blocks: Vec<&[i32]> = input.chunks(THREADS).collect();
        let at = |block: &[i32], index: usize| block.get(index).copied().unwrap_or(0);
        let neighbours = blocks.iter().flat_map(|block| {
            (0..block.len()).map(|i| at(block, i.wrapping_sub(1)) + at(block, i) + at(block, i + 1))
        });
        let scan = blocks.iter().flat_map(|block| (1..=block.len()).map(|end| block[..end].iter().sum()));
        let expected: [(&str, Vec<i32>); 2] =
            [("neighbours", neighbours.collect()), ("scan", scan.collect())];
        for (entry, expected) in expected {
            let launch = format!(
                "Launch(module: \"\", entry: \"{entry}\", grid: ({}, 1, 1), block: ({THREADS}, 1, 1), args: [
                    Buffer(name: \"in\", elem: I32, len: {n}, init: Values([{}])),
                    Buffer(name: \"out\", elem: I32, len: {n}, init: Zero), I32({n}),
                ])",
                blocks.len(),
                values.join(", ")
            );
            for build in ["early_clang_O0", "early_clang_O2", "early_nvrtc"] {
                for reconvergence in [Reconvergence::PostDominator, Reconvergence::PascalStack] {
                    let options = Options { reconvergence, ..Options::default() };
                    let buffers = run_with(build, &launch, options);
                    assert_eq!(ints(&buffers[1]), expected, "{build} {entry} {n} {reconvergence:?}");
                }
            }
        }
    }
}

/// Calls through pointers, virtual functions and recursion, with and without optimisation.
#[test]
fn pointers_and_recursion() {
    let launch = |entry: &str, per_thread: usize| {
        format!(
            "Launch(module: \"\", entry: \"{entry}\", grid: (1, 1, 1), block: (32, 1, 1), args: [
                Buffer(name: \"out\", elem: I32, len: {}, init: Zero),
            ])",
            32 * per_thread
        )
    };
    let digits = |mut n: i32| {
        let mut sum = 0;
        while n > 0 {
            (sum, n) = (sum + n % 10, n / 10);
        }
        sum
    };
    let fibonacci = |n: usize| (0..n).fold((0, 1), |(a, b), _| (b, a + b)).0;
    for build in ["pointers_clang_O0", "pointers_clang_O2", "pointers_nvrtc"] {
        let out = |entry: &str, per_thread| ints(&run(build, &launch(entry, per_thread))[0]);
        let table: Vec<i32> = (0..32).map(|n| [n + 7, n * 7, n - 7][n as usize % 3]).collect();
        assert_eq!(out("through_table", 1), table, "{build}");
        let shapes: Vec<i32> =
            (0..32).map(|n| if n % 2 == 1 { n * n * 5 * 10 + 4 } else { (n * 3 + 5) * 10 }).collect();
        assert_eq!(out("virtual_functions", 1), shapes, "{build}");
        let expected: Vec<i32> = (0..32usize)
            .flat_map(|n| {
                let number = 1234 * n as i32 + 7;
                let parity = if n % 2 == 0 { 2 } else { 1 };
                [fibonacci(n % 12), parity, digits(number) * 100_000 + number]
            })
            .collect();
        assert_eq!(out("recursion", 3), expected, "{build}");
    }
}
