//! The speed of the analyser and the bounds, in warp instructions per second.
//!
//! The block resembles a tiled SGEMM with 32 warps and K tiles. Each tile has two global loads into
//! shared memory between barriers, then sixteen times two shared loads and a multiply-add. In
//! `distinct`, the steps of each warp and tile differ, so that every section is analysed. In
//! `equal`, as in most real kernels, a section equals the previous one and is recognised.

#[path = "../tests/support/bound_kernels.rs"]
mod bound_kernels;

use std::hint::black_box;

use bound_kernels::{Builder, Kernel, machine};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use warpbound::bound::{Analyser, Bound, BoundReport, Gub, Iwb, analyse_alone};
use warpbound::isa::Space;
use warpbound::path::{BarrierUse, MemoryUse, Step};
use warpbound::program::Flow;

const WARPS: usize = 32;
const TILES: usize = 32;

const MACHINE: &str = r#"Machine(name: "bench",
    units: { "int": Unit(init: 1, lat: 0), "fp": Unit(init: 1, lat: 3), "gmem": Unit(init: 1, lat: 199),
             "smem": Unit(init: 1, lat: 1) },
    ops: { "int": "int", "ret": "int", "fp": "fp", "ldg": "gmem", "lds": "smem", "sts": "smem" })"#;

fn sgemm(distinct: bool) -> Kernel {
    let mut builder = Builder::new(64);
    let whole_block = BarrierUse { id: 0, warps: 0 };
    let loads: Vec<_> = (0..2).map(|i| builder.instr("ldg", &[i], &[10 + i], Flow::Plain)).collect();
    let stores: Vec<_> = (0..2).map(|i| builder.instr("sts", &[], &[i, 20], Flow::Plain)).collect();
    let bar = builder.instr("barrier", &[], &[], Flow::Barrier);
    let inner: Vec<_> = (0..16)
        .flat_map(|k| {
            [
                builder.instr("lds", &[30 + k % 4], &[21], Flow::Plain),
                builder.instr("lds", &[40 + k % 4], &[22], Flow::Plain),
                builder.instr("fp", &[5], &[30 + k % 4, 40 + k % 4, 5], Flow::Plain),
            ]
        })
        .collect();
    let address: Vec<_> = (0..9).map(|i| builder.instr("int", &[10 + i], &[10 + i], Flow::Plain)).collect();
    for warp in 0..WARPS {
        let mut steps = Vec::new();
        for tile in 0..TILES {
            // a payload that changes no timing, but makes steps differ
            let tag = if distinct { (warp + tile) % 2 } else { 0 } as u8;
            let used = MemoryUse { space: Space::Global, extra_transactions: tag };
            steps.extend(loads.iter().map(|&pc| Step::with(pc, used)));
            steps.extend(stores.iter().map(|&pc| Step::with(pc, used)));
            steps.push(Step::with(bar, whole_block));
            steps.push(Step::with(inner[0], used));
            steps.extend(inner[1..].iter().chain(&address).map(|&pc| Step::plain(pc)));
            steps.push(Step::with(bar, whole_block));
        }
        builder.warp(&steps);
    }
    builder.finish(&machine(MACHINE))
}

fn bound(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("bound");
    for (name, distinct) in [("distinct", true), ("equal", false)] {
        let kernel = sgemm(distinct);
        let mut analyser = Analyser::new(&kernel.table);
        group.throughput(Throughput::Elements(kernel.paths.warp_instructions()));
        group.bench_function(format!("sections/{name}"), |bencher| {
            bencher.iter(|| {
                let mut reports = [BoundReport::default(), BoundReport::default()];
                analyser.for_each_section(black_box(&kernel.paths), |section| {
                    Gub.add_section(&mut reports[0], section);
                    Iwb.add_section(&mut reports[1], section);
                });
                reports
            });
        });
    }
    let kernel = sgemm(true);
    let path = &kernel.paths.warps[0];
    group.throughput(Throughput::Elements(path.steps().len() as u64));
    group.bench_function("alone", |bencher| {
        bencher.iter(|| {
            let mut sum = 0;
            let phases = analyse_alone(&kernel.table, black_box(path), |event| sum += event.done.get());
            (phases, sum)
        });
    });
    group.finish();
}

criterion_group!(benches, bound);
criterion_main!(benches);
