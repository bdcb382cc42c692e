//! The speed at which traces are read.

use std::hint::black_box;
use std::io::Write;
use std::sync::Arc;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use warpbound::accelsim::{
    InMemory, Opcodes, Pattern, Synthetic, TraceFile, TraceOptions, TracedKernel, Wanted,
};
use warpbound::diag::SourceText;
use warpbound::path::{BlockPaths, BlockSource};

fn tables() -> Vec<Opcodes> {
    let source = |name: &str| {
        let text = match name {
            "common" => include_str!("../isa/traces/common.ron"),
            "volta" => include_str!("../isa/traces/volta.ron"),
            "turing" => include_str!("../isa/traces/turing.ron"),
            _ => include_str!("../isa/traces/ampere.ron"),
        };
        Ok(SourceText::new(name, text))
    };
    vec![
        Opcodes::parse(&source("ampere").expect("it is there"), &source).expect("the shipped table is right"),
    ]
}

fn traces(criterion: &mut Criterion) {
    let tables = tables();
    let mut group = criterion.benchmark_group("traces");
    for (name, pattern) in Pattern::ALL {
        let made = Synthetic { pattern, blocks: 16, warps: 8, instructions: 1000, seed: 1 };
        let mut text = Vec::new();
        made.write(&mut text).expect("memory takes it");
        let file = TraceFile { name: name.to_owned(), open: Arc::new(InMemory(text.into())) };
        group.throughput(Throughput::Elements(made.warp_instructions()));
        let read =
            || TracedKernel::read(file.clone(), &tables, &TraceOptions::default(), None).expect("it is one");
        group.bench_function(format!("{name}/read"), |bencher| bencher.iter(|| black_box(read())));
        let kernel = read();
        let wanted = Wanted { banks: None, traffic: true, constants: false, most: u64::MAX };
        group.bench_function(format!("{name}/paths"), |bencher| {
            bencher.iter(|| {
                let mut source = kernel.source(wanted).expect("it opens");
                let mut paths = BlockPaths::default();
                while source.next_block(&mut paths).expect("it is one") {
                    black_box(&paths);
                }
            });
        });
        group.bench_function(format!("{name}/write"), |bencher| {
            bencher.iter(|| made.write(&mut black_box(std::io::sink()) as &mut dyn Write));
        });
    }
    group.finish();
}

criterion_group!(benches, traces);
criterion_main!(benches);
