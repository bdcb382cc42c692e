//! The speed at which PTX is parsed and lowered to programs.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;
use warpbound::diag::SourceText;
use warpbound::load::ptx_isa;
use warpbound::ptx::Module;

fn parse(criterion: &mut Criterion) {
    let isa = ptx_isa();
    let mut group = criterion.benchmark_group("parse");
    for (name, text) in [
        ("sgemm_dbuf", include_str!("../kernels/sgemm_dbuf/sgemm_dbuf.ptx")),
        ("reduction", include_str!("../kernels/reduction/reduction.ptx")),
        ("calls-O0", include_str!("../tests/files/ptx/compiled/clang_O0.ptx")),
    ] {
        let source = SourceText::new(name, text);
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_function(format!("{name}/parse"), |bencher| {
            bencher.iter(|| Module::parse(black_box(&source)).expect("it is right"));
        });
        let module = Module::parse(&source).expect("it is right");
        group.bench_function(format!("{name}/lower"), |bencher| {
            bencher.iter(|| {
                for entry in module.entries() {
                    black_box(module.program(entry, &isa).expect("it is right"));
                }
            });
        });
    }
    group.finish();
}

criterion_group!(benches, parse);
criterion_main!(benches);
