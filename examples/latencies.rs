//! Makespans and bounds of a PTX launch as memory becomes slower.
//!
//! The kernel runs functionally once. The paths of its warps are then timed and bounded on several
//! machines.
//!
//!     cargo run --example latencies

use warpbound::base::{Cycles, ProgressMonitor};
use warpbound::bound::{Analyser, Bound, Gub, Iwb, Lwb};
use warpbound::check::WorkloadKind;
use warpbound::diag::{Diagnostic, Diagnostics};
use warpbound::exec::{Executor, Options};
use warpbound::load::{LaunchOptions, Loader};
use warpbound::machine::Machine;
use warpbound::path::{BlockPaths, BlockSource};
use warpbound::program::TimingTable;
use warpbound::sim::{Engine, PaperMachine, PolicySetup};

fn main() -> Result<(), Diagnostics> {
    // the kernel and its launch
    let loader = Loader::disk();
    let kernel = loader.kernel("sgemm_naive", &LaunchOptions::default(), &ProgressMonitor::new())?;
    let WorkloadKind::Launch { program, launch } = kernel.workload.kind else {
        return Err(Diagnostic::general("sgemm_naive", "this is no launch").into());
    };

    // the paths of its warps, block by block
    let (machine_spec, source) = loader.machine_spec(&loader.find_machine("ecrts25-orin", None)?)?;
    let machine = Machine::new(&machine_spec, &source)?;
    let mut executor = Executor::new(&program, &launch, Options::of(&machine, 1 << 20))?;
    let mut blocks = Vec::new();
    let mut paths = BlockPaths::default();
    while executor.next_block(&mut paths)? {
        blocks.push(paths.clone());
    }

    // the same blocks on machines with slower and slower memory
    let bounds: [&dyn Bound; 3] = [&Gub, &Iwb, &Lwb];
    println!("latency    gto    lrr    gub    iwb    lwb");
    for latency in [100, 150, 200, 250, 300, 350, 400] {
        let spec = machine_spec.clone().with_memory_latency(latency)?;
        let machine = Machine::new(&spec, &source)?;
        let table = TimingTable::new(&program, &machine)?;
        let (mut engine, mut analyser) =
            (Engine::new(&table, PaperMachine::of(&machine)?), Analyser::new(&table));
        let mut makespans = [Cycles::ZERO; 2];
        let mut values = [Cycles::ZERO; 3];
        for paths in &blocks {
            // blocks run one after the other on this machine, so makespans and bounds are added up
            for (makespan, policy) in makespans.iter_mut().zip([PolicySetup::Gto, PolicySetup::Lrr]) {
                let run = engine.run_block(paths, &policy, &mut ());
                *makespan +=
                    run.map_err(|error| Diagnostic::general(policy.to_string(), error.to_string()))?.makespan;
            }
            let block = analyser.block(paths);
            for (value, bound) in values.iter_mut().zip(bounds) {
                *value += bound.evaluate(&block).value.cycles();
            }
        }
        let columns = makespans.iter().chain(&values).map(|cycles| format!("{:>7}", cycles.get()));
        println!("{latency:>7}{}", columns.collect::<String>());
    }
    Ok(())
}
