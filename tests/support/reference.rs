//! The launches of `tests/data/reference` (its README documents the columns).

#![allow(dead_code, reason = "each test uses its part")]

use std::path::PathBuf;

use warpbound::diag::SourceText;
use warpbound::load::ptx_isa;
use warpbound::program::KernelCode;
use warpbound::program::launch::{Arg, Buffer, Elem, Launch};
use warpbound::ptx::Module;

pub fn read(path: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns the fields of a line; the last may be quoted.
pub fn fields(line: &str, count: usize) -> Vec<String> {
    line.splitn(count, ',').map(|field| field.trim_matches('"').to_owned()).collect()
}

pub fn shape(text: &str) -> [u32; 3] {
    let axes: Vec<u32> = text.split('x').map(|n| n.parse().unwrap()).collect();
    axes.try_into().unwrap()
}

pub fn element(elem: Elem, rule: &str, i: u64, len: u64) -> Vec<u8> {
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

pub fn arguments(text: &str) -> (Vec<Arg>, Vec<Buffer>) {
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
                buffers.push(Buffer {
                    name: format!("buffer {}", buffers.len()),
                    elem,
                    bytes,
                    constant: false,
                });
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

pub fn program(file: &str, entry: &str, text: String) -> KernelCode {
    let isa = ptx_isa();
    let source = SourceText::new(file, text);
    let module = Module::parse(&source).unwrap_or_else(|error| panic!("{error}"));
    module.program(entry, &isa).unwrap_or_else(|error| panic!("{error}"))
}

/// A row of `launches.csv`.
pub struct Reference {
    pub name: String,
    pub entry: String,
    pub ptx: String,
    pub launch: Launch,
    pub warp_instructions: u64,
    pub thread_instructions: u64,
}

impl Reference {
    /// Returns its program, from its PTX file.
    pub fn program(&self) -> KernelCode {
        program(&self.ptx, &self.entry, read(&format!("tests/data/reference/{}", self.ptx)))
    }
}

/// Returns a launch by name.
pub fn launch(name: &str) -> Reference {
    launches().into_iter().find(|launch| launch.name == name).unwrap()
}

/// Returns every launch.
pub fn launches() -> Vec<Reference> {
    of_file("tests/data/reference/launches.csv")
}

/// Returns the launches with many blocks, for a whole GPU.
pub fn launches_of_many_blocks() -> Vec<Reference> {
    of_file("tests/data/reference/stock_launches.csv")
}

fn of_file(path: &str) -> Vec<Reference> {
    let registers: Vec<(String, u32)> = read("tests/data/reference/kernels.csv")
        .lines()
        .skip(1)
        .map(|line| fields(line, 6))
        .map(|f| (f[0].clone(), f[3].parse().unwrap()))
        .collect();
    let row = |line: &str| {
        let f = fields(line, 9); // launch,entry,ptx,grid,block,dyn_shared_bytes,warp_insts,thread_insts,args
        let (args, buffers) = arguments(&f[8]);
        let launch = Launch {
            grid: shape(&f[3]),
            block: shape(&f[4]),
            dynamic_shared: f[5].parse().unwrap(),
            registers: registers.iter().find(|(entry, _)| *entry == f[1]).map(|&(_, n)| n),
            args,
            buffers,
            symbols: Vec::new(),
            images: Vec::new(),
        };
        Reference {
            name: f[0].clone(),
            entry: f[1].clone(),
            ptx: f[2].clone(),
            launch,
            warp_instructions: f[6].parse().unwrap(),
            thread_instructions: f[7].parse().unwrap(),
        }
    };
    read(path).lines().skip(1).map(row).collect()
}
