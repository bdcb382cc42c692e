//! Judges every bound on a kernel written as a string, under two policies.
//!
//! The kernel is the smallest one known on which a run under plain lrr takes longer than GUB, the
//! published bound.
//!
//!     cargo run --example judge

use warpbound::base::ProgressMonitor;
use warpbound::bound;
use warpbound::check::{Plan, RunOptions, Workload, WorkloadKind, check};
use warpbound::diag::{Diagnostics, SourceText};
use warpbound::machine::{Machine, MachineSpec};
use warpbound::micro::MicroKernel;
use warpbound::sim::PolicySetup;

const MACHINE: &str = r#"Machine(
    name: "three-units",
    units: { "f0": Unit(init: 5, lat: 0), "f1": Unit(init: 5, lat: 0), "f2": Unit(init: 3, lat: 0) },
    ops: { "f0": "f0", "f1": "f1", "f2": "f2" },
)"#;

const KERNEL: &str = "
.warps 1
    f1 a
    f1 b
    f0 c
    f2 _, c
.warps 1
    f0 a
    f0 b
    f1 c
    f2 _, c
";

fn main() -> Result<(), Diagnostics> {
    let source = SourceText::new("machine.ron", MACHINE);
    let machine = Machine::new(&MachineSpec::parse(&source)?, &source)?;
    let kernel = MicroKernel::parse("example", &SourceText::new("kernel.warp", KERNEL))?;
    let workload = Workload { name: "example".to_owned(), kind: WorkloadKind::Micro(Box::new(kernel)) };
    let (bounds, monitor) = (bound::all(), ProgressMonitor::new());
    let plan = Plan {
        workload: &workload,
        machine: &machine,
        policies: &[PolicySetup::Gto, PolicySetup::Lrr],
        options: RunOptions::new(1 << 20, &monitor).judged_by(&bounds, &[]).self_check(true),
    };
    for run in check(&plan)? {
        println!("{}: {} cycles, {}", run.policy, run.makespan, run.verdict().name());
        for bound in run.judged() {
            let value = bound.value.as_ref().map_or_else(|_| "-".to_owned(), ToString::to_string);
            println!("  {:5} {value:>4}  {}", bound.name, bound.verdict().name());
        }
    }
    Ok(())
}
