//! Makespans and bounds of a PTX launch as memory becomes slower.
//!
//! The kernel runs functionally once. What its warps did is then timed, and bounded, on one machine after the other.
//!
//!     cargo run --example latencies

use warpbound::base::Cycles;
use warpbound::bound::{Analyser, Bound, Gub, Iwb, Lwb};
use warpbound::diag::{Diagnostic, Diagnostics, SourceText};
use warpbound::exec::{Executor, Options};
use warpbound::isa::IsaTable;
use warpbound::machine::{Machine, MachineSpec};
use warpbound::path::{BlockPaths, BlockSource};
use warpbound::program::TimingTable;
use warpbound::program::launch::{Launch, LaunchSpec};
use warpbound::ptx::Module;
use warpbound::sim::{Engine, PaperMachine, PolicySetup};

const PTX: &str = include_str!("../kernels/sgemm_naive/sgemm_naive.ptx");
const LAUNCH: &str = include_str!("../kernels/sgemm_naive/sgemm_naive.ron");
const CLASSES: &str = include_str!("../isa/ptx.ron");
const MACHINE: &str = include_str!("../configs/ecrts25-orin.ron");

fn main() -> Result<(), Diagnostics> {
    // the kernel and its launch
    let isa = IsaTable::parse(&SourceText::new("ptx.ron", CLASSES))?;
    let source = SourceText::new("sgemm_naive.ron", LAUNCH);
    let spec = LaunchSpec::parse(&source)?;
    let module = Module::parse(&SourceText::new("sgemm_naive.ptx", PTX))?;
    let program = module.program(&spec.entry, &isa)?;
    let no_files = |name: &str, _| Err(format!("{name}: this launch reads no files"));
    let launch = Launch::new(&spec, &program, 0, &source, &no_files)?;

    // what its warps do, block by block
    let source = SourceText::new("ecrts25-orin.ron", MACHINE);
    let machine_spec = MachineSpec::parse(&source)?;
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
            // blocks of this machine run one after the other, so both add up
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
