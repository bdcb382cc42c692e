//! Functional results compared with another implementation: the launches of `tests/data/reference`
//! leave the same bytes in memory as GPGPU-Sim, and execute as many instructions.
//!
//! There is one deviation of GPGPU-Sim: its `fma.rn.f32` rounds the product and then the sum, but
//! PTX rounds once. (The hashes of four sgemm launches match only with two roundings; all others
//! match with either.) So bytes are compared with every `fma.rn.f32` of the PTX rewritten as a
//! product and a sum; counts are those of the unchanged PTX.

use crate::reference;
use std::collections::BTreeMap;

use reference::{Reference, fields, program, read};
use warpbound::base::Fnv1a;
use warpbound::exec::races::BlockOrder;
use warpbound::exec::{Executor, Options};
use warpbound::path::{BlockPaths, BlockSource};
use warpbound::program::KernelCode;
use warpbound::program::launch::Launch;

/// Rewrites `fma.rn.f32 d, a, b, c;` as a rounded product and a rounded sum.
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

/// Returns the numbers of warp and thread instructions, and the buffers afterwards.
fn run(program: &KernelCode, launch: &Launch, name: &str) -> ((u64, u64), Vec<Vec<u8>>) {
    let options = Options { races: Some(BlockOrder::OneByOne), ..Options::default() };
    let mut executor = Executor::new(program, launch, options).unwrap();
    let mut paths = BlockPaths::default();
    let mut executed = (0, 0);
    while executor.next_block(&mut paths).unwrap_or_else(|error| panic!("{name}: {error}")) {
        executed.0 += paths.warp_instructions();
        executed.1 += paths.thread_instructions;
    }
    let time = executor.time_dependences();
    assert!(time.is_empty(), "{name}: {time:?}");
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
    for Reference { name, entry, ptx: file, launch, warp_instructions, thread_instructions } in
        reference::launches()
    {
        launches += 1;
        let (name, ptx) = (&name, read(&format!("tests/data/reference/{file}")));
        let (executed, fused) = run(&program(&file, &entry, ptx.clone()), &launch, name);
        let unfused = if ptx.contains("fma.rn.f32") {
            run(&program(&file, &entry, without_fma(&ptx)), &launch, name).1
        } else {
            fused
        };
        let expected = [warp_instructions, thread_instructions];
        for (what, got, expected) in [("warp", executed.0, expected[0]), ("thread", executed.1, expected[1])]
        {
            if got != expected {
                wrong.push(format!("{name}: {got} {what} instructions, {expected} expected"));
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
