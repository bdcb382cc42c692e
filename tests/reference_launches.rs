//! Functional truth from another implementation: the launches of `tests/data/reference` leave the
//! bytes in memory that GPGPU-Sim leaves there, and execute as many instructions.
//!
//! One deviation is GPGPU-Sim's: its `fma.rn.f32` rounds the product and then the sum, where PTX
//! rounds once. (The hashes of four sgemm launches come out only with two roundings; all others
//! with either.) So bytes are compared with every `fma.rn.f32` of the PTX rewritten as a product
//! and a sum; counts are those of the PTX as it is.

use std::collections::BTreeMap;
use std::path::PathBuf;

use warpbound::base::Fnv1a;
use warpbound::diag::SourceText;
use warpbound::exec::{Executor, Options};
use warpbound::isa::IsaTable;
use warpbound::path::{BlockPaths, BlockSource};
use warpbound::program::Program;
use warpbound::program::launch::{Arg, Buffer, Elem, Launch};
use warpbound::ptx::Module;

fn read(path: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The fields of a line; the last may be quoted.
fn fields(line: &str, count: usize) -> Vec<String> {
    line.splitn(count, ',').map(|field| field.trim_matches('"').to_owned()).collect()
}

fn shape(text: &str) -> [u32; 3] {
    let axes: Vec<u32> = text.split('x').map(|n| n.parse().unwrap()).collect();
    axes.try_into().unwrap()
}

fn element(elem: Elem, rule: &str, i: u64, len: u64) -> Vec<u8> {
    let mut words = rule.split(',');
    let name = words.next().unwrap();
    let numbers: Vec<f64> = words.map(|n| n.parse().unwrap()).collect();
    let whole = |index: usize| numbers[index] as u64;
    let hash = |seed: u64| ((i + seed) * 2_654_435_761) & 0xffff_ffff;
    // integers of up to 32 bits are exact in a double
    let value = match name {
        "zero" => 0.0,
        "fill" => numbers[0],
        "iota" => i as f64,
        "hash" => (hash(whole(0)) >> whole(1)) as f64,
        "hashmod" => ((hash(whole(0)) >> 8) % whole(1)) as f64 - numbers[2],
        "uni" => {
            let fraction = (hash(whole(0)) >> 8) as f64 / 16_777_216.0;
            numbers[1] + (numbers[2] - numbers[1]) * fraction
        }
        "chase" => ((i * whole(0) + whole(1)) % len) as f64,
        other => panic!("unknown rule {other}"),
    };
    match elem {
        Elem::F32 => (value as f32).to_le_bytes().to_vec(),
        Elem::F64 => value.to_le_bytes().to_vec(),
        Elem::U8 => vec![value as i64 as u8],
        _ => (value as i64 as u32).to_le_bytes().to_vec(),
    }
}

fn arguments(text: &str) -> (Vec<Arg>, Vec<Buffer>) {
    let (mut args, mut buffers) = (Vec::new(), Vec::new());
    for arg in text.split(';').filter(|a| !a.is_empty()) {
        let parts: Vec<&str> = arg.split(':').collect();
        match parts.as_slice() {
            ["buf", ty, len, rule] => {
                let elem = match *ty {
                    "u8" => Elem::U8,
                    "u32" => Elem::U32,
                    "s32" => Elem::I32,
                    "f32" => Elem::F32,
                    "f64" => Elem::F64,
                    other => panic!("unknown type {other}"),
                };
                let len: u64 = len.parse().unwrap();
                let bytes = (0..len).flat_map(|i| element(elem, rule, i, len)).collect();
                args.push(Arg::Buffer(buffers.len()));
                buffers.push(Buffer { name: format!("buffer {}", buffers.len()), elem, bytes });
            }
            ["f32", value] => args.push(Arg::Value(value.parse::<f32>().unwrap().to_le_bytes().to_vec())),
            [_, value] => {
                let value: i64 = value.parse().unwrap();
                args.push(Arg::Value((value as u32).to_le_bytes().to_vec()));
            }
            other => panic!("unknown argument {other:?}"),
        }
    }
    (args, buffers)
}

/// `fma.rn.f32 d, a, b, c;` as a rounded product and a rounded sum.
fn without_fma(ptx: &str) -> String {
    let mut lines = Vec::new();
    for line in ptx.lines() {
        match line.trim().strip_prefix("fma.rn.f32").and_then(|rest| rest.trim().strip_suffix(';')) {
            Some(operands) => {
                let operands: Vec<&str> = operands.split(',').map(str::trim).collect();
                let [d, a, b, c] = operands.try_into().unwrap();
                lines.push(format!("mul.rn.f32 %unfused, {a}, {b}; add.rn.f32 {d}, %unfused, {c};"));
            }
            None => lines.push(line.to_owned()),
        }
        if line.trim() == "{" {
            lines.push(".reg .f32 %unfused;".to_owned());
        }
    }
    lines.join("\n")
}

fn program(file: &str, entry: &str, text: String) -> Program {
    let isa = IsaTable::parse(&SourceText::new("isa/ptx.ron", read("isa/ptx.ron"))).unwrap();
    let source = SourceText::new(file, text);
    let module = Module::parse(&source).unwrap_or_else(|error| panic!("{error}"));
    module.program(entry, &isa).unwrap_or_else(|error| panic!("{error}"))
}

/// Warp and thread instructions, and the buffers afterwards.
fn run(program: &Program, launch: &Launch, name: &str) -> ((u64, u64), Vec<Vec<u8>>) {
    let mut executor = Executor::new(program, launch, Options::default()).unwrap();
    let mut paths = BlockPaths::default();
    let mut executed = (0, 0);
    while executor.next_block(&mut paths).unwrap_or_else(|error| panic!("{name}: {error}")) {
        executed.0 += paths.warp_instructions();
        executed.1 += paths.thread_instructions;
    }
    assert_eq!(executor.notes(), [""; 0], "{name}");
    (executed, (0..launch.buffers.len()).map(|index| executor.buffer(index).to_vec()).collect())
}

#[test]
fn outputs_and_instruction_counts_are_those_of_gpgpu_sim() {
    let mut outputs: BTreeMap<String, Vec<(usize, u64)>> = BTreeMap::new();
    for line in read("tests/data/reference/outputs.csv").lines().skip(1) {
        let f = fields(line, 3);
        let expected = (f[1].parse().unwrap(), u64::from_str_radix(&f[2], 16).unwrap());
        outputs.entry(f[0].clone()).or_default().push(expected);
    }
    let mut wrong = Vec::new();
    let mut launches = 0;
    for line in read("tests/data/reference/launches.csv").lines().skip(1) {
        let f = fields(line, 9);
        let (name, entry) = (&f[0], &f[1]);
        launches += 1;
        let ptx = read(&format!("tests/data/reference/{}", f[2]));
        let (args, buffers) = arguments(&f[8]);
        let launch = Launch {
            grid: shape(&f[3]),
            block: shape(&f[4]),
            dynamic_shared: f[5].parse().unwrap(),
            registers: None,
            args,
            buffers,
            symbols: Vec::new(),
        };
        let (executed, fused) = run(&program(&f[2], entry, ptx.clone()), &launch, name);
        let unfused = if ptx.contains("fma.rn.f32") {
            run(&program(&f[2], entry, without_fma(&ptx)), &launch, name).1
        } else {
            fused
        };
        let (warp_instructions, thread_instructions) = executed;
        for (what, got, field) in [("warp", warp_instructions, &f[6]), ("thread", thread_instructions, &f[7])]
        {
            if got.to_string() != *field {
                wrong.push(format!("{name}: {got} {what} instructions, {field} expected"));
            }
        }
        for (buffer, expected) in outputs.remove(name).unwrap_or_default() {
            let got = Fnv1a::of(&unfused[buffer]);
            if got != expected {
                wrong.push(format!("{name}: buffer {buffer} hashes to {got:016x}, {expected:016x} expected"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!(launches, 78);
    assert!(outputs.is_empty(), "outputs without a launch: {:?}", outputs.keys());
}
