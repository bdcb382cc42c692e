//! The speed of functional execution, in warp instructions per second: a dense matrix product, and
//! code that diverges.

#[path = "../tests/support/shipped.rs"]
mod shipped;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use warpbound::exec::{Executor, Options};
use warpbound::path::{BlockPaths, BlockSource};
use warpbound::program::KernelCode;
use warpbound::program::launch::Launch;

fn run(program: &KernelCode, launch: &Launch, paths: &mut BlockPaths) -> u64 {
    let mut executor = Executor::new(program, launch, Options::default()).expect("fits");
    let mut executed = 0;
    while executor.next_block(paths).expect("runs") {
        executed += paths.warp_instructions();
    }
    executed
}

fn exec(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("exec");
    for launch in ["sgemm_naive_w32", "sgemm_prefetch", "loopbreak", "xorhash"] {
        let shipped::Shipped { program, launch: inputs, .. } = shipped::launch(launch);
        let mut paths = BlockPaths::default();
        group.throughput(Throughput::Elements(run(&program, &inputs, &mut paths)));
        group.bench_function(launch, |bencher| bencher.iter(|| run(&program, &inputs, &mut paths)));
    }
    group.finish();
}

criterion_group!(benches, exec);
criterion_main!(benches);
