//! Short runs of accepted inputs.

use std::sync::OnceLock;

use warpbound::base::{Fnv1a, ProgressMonitor};
use warpbound::bound;
use warpbound::check::{Plan, RunOptions, Workload, WorkloadKind, check};
use warpbound::diag::SourceText;
use warpbound::machine::Machine;
use warpbound::program::KernelCode;
use warpbound::program::launch::{Launch, LaunchSpec};
use warpbound::program::template;
use warpbound::sim::PolicySetup;

use super::refused;
use crate::shipped;

/// The largest number of warp instructions of a block.
const FUEL: u64 = 1 << 11;
/// The largest number of blocks of a launch that is run; larger ones are only read.
const MAX_BLOCKS: u32 = 64;

/// Returns machines for both engines, with all memory features and without.
fn machines() -> &'static [Machine] {
    static MACHINES: OnceLock<Vec<Machine>> = OnceLock::new();
    MACHINES.get_or_init(|| {
        ["ecrts25-orin", "ecrts25-orin-banks", "kepler-gk104", "accelsim-sm1", "rtx3070-1sm"]
            .map(shipped::machine)
            .into()
    })
}

/// Returns a machine that is selected by the input's hash.
pub fn some_machine(input: &[u8]) -> &'static Machine {
    let all = machines();
    &all[(Fnv1a::of(input) % all.len() as u64) as usize]
}

/// Runs a kernel of PTX or machine code with a launch that fits its parameters.
pub fn program(program: KernelCode, input: &[u8], monitor: &ProgressMonitor) {
    let text = template::launch_file(&program, "kernel.ptx");
    let source = SourceText::new("launch.ron", text.as_str());
    let spec = LaunchSpec::parse(&source)
        .unwrap_or_else(|error| panic!("a written launch is none: {error}\n{text}"));
    match Launch::new(&spec, &program, 0, &source, &|_, _| Err("no file".to_owned())) {
        Ok(launch) => {
            let kind = WorkloadKind::Launch { program: Box::new(program), launch: Box::new(launch) };
            workload(&Workload { name: "kernel".to_owned(), kind }, some_machine(input), monitor);
        }
        Err(problems) => drop(refused(&problems)),
    }
}

/// Runs and judges a workload on a machine; an error is accepted.
pub fn workload(workload: &Workload, machine: &Machine, monitor: &ProgressMonitor) {
    under(workload, machine, &[PolicySetup::Gto, PolicySetup::TwoLevel], monitor);
}

/// Does the same as [`workload`], under these policies.
pub fn under(workload: &Workload, machine: &Machine, policies: &[PolicySetup], monitor: &ProgressMonitor) {
    if workload.blocks() > MAX_BLOCKS {
        return;
    }
    let bounds = bound::all();
    let options =
        RunOptions::new(FUEL, monitor).judged_by(&bounds, &[]).race_memory(Some(1 << 22)).self_check(true);
    let plan = Plan { workload, machine, policies, options };
    match check(&plan) {
        Ok(judged) => {
            for run in judged.iter().filter(|run| run.is_complete()) {
                let broken = run.judged().find(|row| row.violated && row.gates);
                assert!(
                    broken.is_none(),
                    "a bound is exceeded under {}: {broken:?}, makespan {:?}",
                    run.policy,
                    run.makespan
                );
            }
        }
        Err(failed) => drop(refused(&failed.problems)),
    }
}

/// Runs small kernels on a machine.
pub fn suite(machine: &Machine, monitor: &ProgressMonitor) {
    static KERNELS: OnceLock<Vec<Workload>> = OnceLock::new();
    let kernels = KERNELS.get_or_init(|| {
        let load = |name: &str| {
            let shipped::Shipped { name, program, launch, .. } = shipped::launch(name);
            Workload {
                name,
                kind: WorkloadKind::Launch { program: Box::new(program), launch: Box::new(launch) },
            }
        };
        ["four_warps", "ifelse"].map(load).into()
    });
    for kernel in kernels {
        workload(kernel, machine, monitor);
    }
}
