//! Functional execution, in warp instructions per second: a dense matrix product, and code that
//! diverges.

use std::path::PathBuf;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use warpbound::diag::SourceText;
use warpbound::exec::{Executor, Options};
use warpbound::isa::IsaTable;
use warpbound::path::{BlockPaths, BlockSource};
use warpbound::program::Program;
use warpbound::program::launch::{Launch, LaunchSpec};
use warpbound::ptx::Module;

fn source(path: &str) -> SourceText {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(path);
    SourceText::new(path, std::fs::read_to_string(file).expect("shipped with the crate"))
}

fn kernel(folder: &str, launch: &str) -> (Program, Launch) {
    let isa = IsaTable::parse(&source("isa/ptx.ron")).expect("valid");
    let text = source(&format!("kernels/{folder}/{launch}.ron"));
    let spec = LaunchSpec::parse(&text).expect("valid");
    let module = Module::parse(&source(&format!("kernels/{folder}/{}", spec.module))).expect("valid");
    let program = module.program(&spec.entry, &isa).expect("valid");
    let launch = Launch::new(&spec, &program, 1, &text, &|_| Err("no files".to_owned())).expect("fits");
    (program, launch)
}

fn run(program: &Program, launch: &Launch, paths: &mut BlockPaths) -> u64 {
    let mut executor = Executor::new(program, launch, Options::default()).expect("fits");
    let mut executed = 0;
    while executor.next_block(paths).expect("runs") {
        executed += paths.warp_instructions();
    }
    executed
}

fn exec(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("exec");
    for (folder, launch) in [
        ("sgemm_naive", "sgemm_naive_w32"),
        ("sgemm_prefetch", "sgemm_prefetch"),
        ("loopbreak", "loopbreak"),
        ("xorhash", "xorhash"),
    ] {
        let (program, inputs) = kernel(folder, launch);
        let mut paths = BlockPaths::default();
        group.throughput(Throughput::Elements(run(&program, &inputs, &mut paths)));
        group.bench_function(launch, |bencher| bencher.iter(|| run(&program, &inputs, &mut paths)));
    }
    group.finish();
}

criterion_group!(benches, exec);
criterion_main!(benches);
