//! The speed of the engine, in warp instructions per second, on paths like those of a matrix
//! product with a global latency of 200 cycles.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use warpbound::base::{BlockId, LaneMask, Pc, RegId};
use warpbound::diag::SourceText;
use warpbound::machine::{Machine, MachineSpec};
use warpbound::path::{BarrierUse, BlockPaths, Step, WarpPath};
use warpbound::program::{Flow, Instr, KernelCode, RegKind, Register, Sem, TimingTable};
use warpbound::sim::{Engine, PaperMachine, PolicySetup};

/// The units of `configs/ecrts25-orin.ron`, which states their sources.
const MACHINE: &str = r#"Machine(
    name: "bench", hazards: [Raw],
    units: { "int": Unit(init: 2, lat: 2), "alu": Unit(init: 1, lat: 0), "fp32": Unit(init: 1, lat: 3),
             "gmem": Unit(init: 1, lat: 199), "smem": Unit(init: 1, lat: 1) },
    ops: { "int": "int", "alu": "alu", "fp32": "fp32", "global": "gmem", "shared": "smem", "control": "alu" },
)"#;

/// The code: in each iteration, two tiles are copied to shared memory and multiplied.
struct Code {
    program: KernelCode,
    round: Vec<Pc>,
    ret: Pc,
}

fn code() -> Code {
    let mut program = KernelCode { name: "bench".into(), ..KernelCode::default() };
    program.regs = (0..40).map(|r| Register { name: format!("r{r}"), kind: RegKind::Bits(32) }).collect();
    let mut round = Vec::new();
    let mut add = |class: &str, dst: Option<u16>, srcs: &[u16], flow: Flow| {
        let pc = Pc::from_index(program.instrs.len());
        program.instrs.push(Instr {
            folded: false,
            class: program.classes.intern(class),
            class_by_space: None,
            dsts: dst.into_iter().map(RegId::new).collect(),
            srcs: srcs.iter().copied().map(RegId::new).collect(),
            guard: None,
            flow,
            memory: None,
            sem: Sem::None,
            line: 0,
        });
        pc
    };
    // addresses, loads, stores to shared memory
    for (dst, src) in [(0, 1), (2, 3)] {
        round.push(add("int", Some(dst), &[dst, 30], Flow::Plain));
        round.push(add("global", Some(src), &[dst], Flow::Plain));
    }
    round.push(add("shared", None, &[4, 1], Flow::Plain));
    round.push(add("shared", None, &[5, 3], Flow::Plain));
    round.push(add("barrier", None, &[], Flow::Barrier));
    for k in 0..16 {
        round.push(add("shared", Some(6 + k % 4), &[4], Flow::Plain));
        round.push(add("shared", Some(10 + k % 4), &[5], Flow::Plain));
        round.push(add("fp32", Some(20), &[6 + k % 4, 10 + k % 4, 20], Flow::Plain));
    }
    round.push(add("barrier", None, &[], Flow::Barrier));
    round.push(add("alu", Some(31), &[31], Flow::Plain));
    round.push(add("int", Some(32), &[31, 33], Flow::Plain));
    round.push(add("control", None, &[32], Flow::Plain));
    let ret = add("control", None, &[], Flow::Exit);
    Code { program, round, ret }
}

/// A block of `warps` warps that execute `rounds` iterations each.
fn paths(code: &Code, warps: usize, rounds: usize) -> BlockPaths {
    let mut path = WarpPath::new();
    for _ in 0..rounds {
        for &pc in &code.round {
            let barrier = code.program.instr(pc).flow == Flow::Barrier;
            let all = BarrierUse { id: 0, warps: 0 };
            path.push(if barrier { Step::with(pc, all) } else { Step::plain(pc) }, LaneMask::ALL);
        }
    }
    path.push(Step::plain(code.ret).ending_warp(), LaneMask::ALL);
    let mut block = BlockPaths::default();
    block.reset(BlockId::new(0), 0);
    block.warps = vec![path; warps];
    block
}

fn engine(criterion: &mut Criterion) {
    let source = SourceText::new("bench.ron", MACHINE);
    let machine = Machine::new(&MachineSpec::parse(&source).expect("the machine parses"), &source)
        .expect("the machine is valid");
    let code = code();
    let table = TimingTable::new(&code.program, &machine).expect("the machine maps every op class");
    let mut engine = Engine::new(&table, PaperMachine::of(&machine).expect("it has units only"));
    let mut group = criterion.benchmark_group("engine");
    group.sample_size(20);
    for (warps, rounds) in [(1, 1500), (32, 50), (48, 33)] {
        let block = paths(&code, warps, rounds);
        group.throughput(Throughput::Elements(block.warp_instructions()));
        let setups = [PolicySetup::Gto, PolicySetup::Lrr, PolicySetup::TwoLevel];
        for setup in &setups[..if warps == 32 { 3 } else { 2 }] {
            group.bench_function(format!("{setup}/{warps} warps"), |bencher| {
                bencher.iter(|| engine.run_block(black_box(&block), setup, &mut ()).expect("the block ends"));
            });
        }
    }
    group.finish();
}

criterion_group!(benches, engine);
criterion_main!(benches);
