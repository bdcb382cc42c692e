//! How fast the detailed engine replays real kernels: warp instructions per second on four
//! sub-cores with operand collector, coalescing, L1, L2 and DRAM. The paths are recorded before.

use std::convert::Infallible;
use std::path::PathBuf;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use warpbound::check::{Workload, WorkloadKind};
use warpbound::diag::SourceText;
use warpbound::exec::Options;
use warpbound::isa::IsaTable;
use warpbound::machine::{Machine, MachineSpec};
use warpbound::path::{BlockPaths, BlockSource, Footprint};
use warpbound::program::TimingTable;
use warpbound::program::launch::{Launch, LaunchSpec};
use warpbound::ptx::Module;
use warpbound::sim::{PolicySetup, SimSummary, simulate};

fn source(path: &str) -> SourceText {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(path);
    SourceText::new(path, std::fs::read_to_string(file).expect("shipped with the crate"))
}

fn workload(folder: &str, name: &str) -> Workload {
    let isa = IsaTable::parse(&source("isa/ptx.ron")).expect("valid");
    let text = source(&format!("kernels/{folder}/{name}.ron"));
    let spec = LaunchSpec::parse(&text).expect("valid");
    let module = Module::parse(&source(&format!("kernels/{folder}/{}", spec.module))).expect("valid");
    let program = module.program(&spec.entry, &isa).expect("valid");
    let launch = Launch::new(&spec, &program, 1, &text, &|_| Err("no files".to_owned())).expect("fits");
    let kind = WorkloadKind::Launch { program: Box::new(program), launch: Box::new(launch) };
    Workload { name: name.to_owned(), kind }
}

/// The blocks of a launch, again and again.
struct Recorded {
    blocks: Vec<BlockPaths>,
    footprint: Footprint,
    next: usize,
}

impl Recorded {
    fn of(workload: &Workload, machine: &Machine) -> Self {
        let mut source = workload.source(Options::of(machine, 1 << 26)).expect("runs");
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

fn pipeline(criterion: &mut Criterion) {
    let text = source("configs/accelsim-sm1.ron");
    let base = |name: &str| Ok(source(&format!("configs/{name}.ron")));
    let spec = MachineSpec::parse_with_bases(&text, &base).expect("the machine parses");
    let machine = Machine::new(&spec, &text).expect("the machine is valid");
    let mut group = criterion.benchmark_group("pipeline");
    group.sample_size(20);
    for (folder, name) in [
        ("sgemm_naive", "sgemm_naive_w32"),
        ("sgemm_dbuf", "sgemm_dbuf_w8"),
        ("sgemm_prefetch", "sgemm_prefetch"),
        ("transpose", "transpose_naive"),
        ("loopbreak", "loopbreak"),
        ("bitonic", "bitonic_shared"),
    ] {
        let workload = workload(folder, name);
        let table = TimingTable::new(workload.program(), &machine).expect("every class is mapped");
        let limits = machine.limits().occupancy(&workload.needs()).expect("the block fits");
        let mut recorded = Recorded::of(&workload, &machine);
        let mut run = || -> SimSummary {
            recorded.next = 0;
            let (setup, resident) = (&PolicySetup::Gto, limits.blocks);
            simulate(&mut recorded, &table, &machine, setup, resident, &mut (), |_, _| ()).expect("runs")
        };
        group.throughput(Throughput::Elements(run().issues));
        group.bench_function(name, |bencher| bencher.iter(&mut run));
    }
    group.finish();
}

criterion_group!(benches, pipeline);
criterion_main!(benches);
