//! The speed of the detailed engine on real kernels, in warp instructions per second. It runs on
//! four sub-cores with coalescing, L1, L2 and DRAM, then also with instruction buffers, operand
//! collector and result buses, and on 46 SMs. The paths are recorded in advance.

#[path = "../tests/support/runs.rs"]
mod runs;
#[path = "../tests/support/shipped.rs"]
mod shipped;

use std::convert::Infallible;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use warpbound::base::ProgressMonitor;
use warpbound::check::Workload;
use warpbound::exec::Options;
use warpbound::machine::Machine;
use warpbound::path::{BlockPaths, BlockSource, Footprint};
use warpbound::program::TimingTable;
use warpbound::sim::{CarriedState, PolicySetup, SimSummary, simulate_after};

/// The recorded blocks of a launch, which can be replayed repeatedly.
struct Recorded {
    blocks: Vec<BlockPaths>,
    footprint: Footprint,
    next: usize,
}

impl Recorded {
    fn of(workload: &Workload, machine: &Machine) -> Self {
        let monitor = ProgressMonitor::new();
        let mut source = workload.source(Options::of(machine, 1 << 26), &monitor).expect("runs");
        let footprint = source.footprint();
        let mut blocks = Vec::new();
        let mut block = BlockPaths::default();
        while source.next_block(&mut block).expect("runs") {
            blocks.push(block.clone());
        }
        Self { blocks, footprint, next: 0 }
    }
}

impl BlockSource for Recorded {
    type Error = Infallible;

    fn next_block(&mut self, paths: &mut BlockPaths) -> Result<bool, Infallible> {
        let Some(block) = self.blocks.get(self.next) else { return Ok(false) };
        paths.clone_from(block);
        self.next += 1;
        Ok(true)
    }

    fn footprint(&self) -> Footprint {
        self.footprint.clone()
    }
}

/// `accelsim-sm1` without instruction buffers, operand collector and result buses: four sub-cores,
/// coalescing and caches remain.
const CACHES: &str = "Machine(name: \"caches\", extends: \"accelsim-sm1\", pipeline: Pipeline(front_end: None, \
     collector: None, collect: [], queue: None, result_buses: None, write_back: 0, issue: Issue()))";

fn pipeline(criterion: &mut Criterion) {
    replay(criterion, "pipeline", &shipped::machine("accelsim-sm1"), 1, &KERNELS);
    replay(criterion, "caches", &shipped::machine_of(CACHES.to_owned()), 1, &KERNELS);
    for threads in [1, 2] {
        let name = format!("46 SMs on {threads} threads");
        replay(criterion, &name, &shipped::machine("rtx3070"), threads, &OF_MANY_BLOCKS);
    }
}

const KERNELS: [&str; 6] =
    ["sgemm_naive_w32", "sgemm_dbuf_w8", "sgemm_prefetch", "transpose_naive", "loopbreak", "bitonic_shared"];
const OF_MANY_BLOCKS: [&str; 4] =
    ["voronoi_1024_waves", "scan_padded_waves", "transpose_padded_waves", "transpose_naive_waves"];

fn replay(criterion: &mut Criterion, name: &str, machine: &Machine, threads: usize, kernels: &[&str]) {
    let mut group = criterion.benchmark_group(name);
    group.sample_size(20);
    for &name in kernels {
        let kernel = shipped::launch(name);
        let workload = runs::workload(name, kernel.program, kernel.launch);
        let table = TimingTable::new(workload.program(), machine).expect("every class is mapped");
        let limits = machine.limits().occupancy(&workload.needs()).expect("the block fits");
        let mut recorded = Recorded::of(&workload, machine);
        let mut run = || -> SimSummary {
            recorded.next = 0;
            let (setup, resident) = (&PolicySetup::Gto, limits.blocks);
            let ran = simulate_after(
                &mut CarriedState::default(),
                threads,
                &mut recorded,
                &table,
                machine,
                setup,
                resident,
                &mut (),
                |_, _| (),
            );
            ran.expect("runs")
        };
        group.throughput(Throughput::Elements(run().issues));
        group.bench_function(name, |bencher| bencher.iter(&mut run));
    }
    group.finish();
}

criterion_group!(benches, pipeline);
criterion_main!(benches);
