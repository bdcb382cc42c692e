//! PLB compared with random launches that saturate a stage: a few instructions, repeated often, of
//! which few wait for others. Where launches of `pipelined.rs` mostly wait for latencies, these test
//! the services of the bound.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use warpbound::machine::{Machine, MachineSpec};
use warpbound::program::TimingTable;

use crate::pipelined::{POLICIES, Tally, number, of_micro, of_workload, pipeline, rounds};
use crate::pipelined_directed::InPtx;
use crate::random_kernels::KernelBuilder;
use crate::shipped;

/// Returns a function that draws a number below its argument.
fn drawing(seed: u64) -> impl FnMut(usize) -> usize {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    move |below| ((u64::from(rng.next_u32()) * below as u64) >> 32) as usize
}

/// Returns a number below one of these limits.
fn below<const N: usize>(limits: [usize; N], draw: &mut impl FnMut(usize) -> usize) -> usize {
    let limit = limits[draw(N)];
    draw(limit)
}

/// Draws a machine of micro kernels, as RON.
fn machine(draw: &mut impl FnMut(usize) -> usize) -> String {
    let sub_cores = [1, 1, 2, 4][draw(4)];
    let (mut units, mut ops) = (String::new(), String::new());
    for unit in 0..3 {
        let (init, lat, shared) = (1 + draw(2) * draw(5), below([2, 6, 30], draw), draw(2) == 0);
        units += &format!("\"u{unit}\": Unit(init: {init}, lat: {lat}, shared: {shared}), ");
        let (init, lat) = (1 + draw(2) * draw(3), below([2, 6, 30], draw));
        ops += &format!(
            "\"f{unit}\": \"u{unit}\", \"g{unit}\": Op(unit: \"u{unit}\", init: {init}, lat: {lat}), "
        );
    }
    let (pipeline, sms) = (pipeline(draw, sub_cores > 1), [1, 1, 2][draw(3)]);
    let exit = draw(3) == 0;
    format!(
        "Machine(name: \"streams\", units: {{ {units} }}, ops: {{ {ops} \"barrier\": \"u0\" }}, exit_issues: \
         {exit}, sub_cores: {sub_cores}, limits: Limits(blocks: 8), sms: {sms}, pipeline: {pipeline})"
    )
}

/// Adds a warp: a few instructions, again and again.
fn warp(draw: &mut impl FnMut(usize) -> usize, builder: &mut KernelBuilder, units: usize) {
    let (apart, most, waits) = ([1, 2, 8][draw(3)], 1 + draw(7), draw(4) == 0);
    let pattern: Vec<(String, Option<u16>, Vec<u16>)> = (0..1 + draw(4))
        .map(|_| {
            let class = format!("{}{}", ["f", "g"][draw(2)], draw(units));
            let first = draw(4) as u16;
            let mut sources: Vec<u16> = (0..draw(most + 1)).map(|n| first + n as u16 * apart).collect();
            let written = 100 + draw(16) as u16;
            if waits && draw(2) == 0 {
                sources.push(written);
            }
            (class, (draw(3) > 0).then_some(written), sources)
        })
        .collect();
    let (times, barriers) = (1 + below([2, 6, 40], draw), draw(3));
    builder.warp();
    for meeting in 0..=barriers {
        for _ in 0..times / (barriers + 1) {
            pattern.iter().for_each(|(class, written, read)| {
                builder.op(class, *written, read);
            });
        }
        if meeting < barriers {
            builder.bar();
        }
    }
    builder.ret("f0");
}

/// Streams of instructions that do not access memory.
#[test]
fn micro_kernels() {
    let (rounds, seed) = (rounds(2500), number("SEED", 1));
    let mut tally = Tally::default();
    for case in 0..rounds {
        let case = number("ONLY", seed * 1_000_000_000 + case);
        let mut draw = drawing(case);
        let ron = machine(&mut draw);
        let source = warpbound::diag::SourceText::new("m.ron", &ron);
        let Some(machine) =
            MachineSpec::parse(&source).ok().and_then(|spec| Machine::new(&spec, &source).ok())
        else {
            tally.refused += 1;
            continue;
        };
        let (blocks, warps, units) = (1 + draw(7), 1 + draw(12), 1 + draw(3));
        let mut builder = KernelBuilder::new();
        for block in 0..blocks {
            if block > 0 {
                builder.block();
            }
            (0..warps).for_each(|_| warp(&mut draw, &mut builder, units));
        }
        let mut launch = builder.build_launch(&ron);
        // all warps, or those with the same number, may execute the same code
        let same = draw(4);
        for block in 0..blocks {
            for warp in 0..warps {
                let (from, of) = match same {
                    0 => (block, warp),
                    1 => (0, warp),
                    2 => (0, 0),
                    _ => (draw(blocks), draw(warps)),
                };
                launch.blocks[block].warps[warp] = launch.blocks[from].warps[of].clone();
            }
        }
        if TimingTable::new(&launch.program, &machine).is_err() {
            tally.refused += 1;
            continue;
        }
        let places = (1 + draw(7) as u32).min(blocks as u32).min(64 / warps as u32);
        let policy = &POLICIES[draw(4)];
        let (makespan, bound) = of_micro(&launch, places, policy);
        tally.add(makespan, bound, || {
            format!("ONLY={case} {policy}, {places} places, {blocks} x {warps}, {ron}")
        });
    }
    println!("{tally:?}");
    assert_eq!(tally.exceeded, 0);
}

pub const SETTINGS: &[&[&str]] = &[
    &["sub_cores=1", "sub_cores=2", "sub_cores=4"],
    &["sms=1", "sms=2"],
    &["hazards=[Raw]", "hazards=[Raw, Waw]"],
    &["pipeline.front_end=none", "pipeline.front_end.fetches=1", "pipeline.front_end.buffer=1"],
    &["pipeline.collector=none"],
    &["pipeline.collector.units=4", "pipeline.collector.units=16"],
    &["pipeline.collector.banks=4", "pipeline.collector.banks=16"],
    &["pipeline.collector.steps=1", "pipeline.collector.steps=3"],
    &["pipeline.collector.ports=1", "pipeline.collector.ports=2"],
    &["pipeline.result_buses=none", "pipeline.result_buses=1"],
    &["pipeline.load_store.shared_latency=1", "pipeline.load_store.shared_latency=5"],
    &["pipeline.load_store.shared_latency=60", "pipeline.load_store.shared_latency=200"],
    &["pipeline.load_store.replies=1", "pipeline.load_store.replies=8"],
    &["pipeline.load_store.transaction=128"],
    &["pipeline.load_store.atomics_block=false"],
    &["pipeline.queue=0", "pipeline.queue=3"],
    &["pipeline.launch.start=3", "pipeline.launch.blocks_per_cycle=0"],
];

/// Draws the body of a kernel in PTX: a few instructions, again and again.
pub fn body(draw: &mut impl FnMut(usize) -> usize) -> String {
    let apart = [1, 1, 4, 8][draw(4)];
    let stride = [0, 4, 8, 32, 128][draw(5)];
    let mut text = format!(
        "mul.lo.u32 %r3, %r1, {stride};\nand.b32 %r3, %r3, 4080;\nadd.u32 %r2, %r2, %r3;\ncvt.u64.u32 %rd2, \
         %r3;\nadd.u64 %rd1, %rd1, %rd2;\nmov.f32 %f1, 0f3F800000;\nsetp.lt.u32 %p1, %r1, 20;\n\
         setp.lt.u32 %p2, %r1, {};\n",
        64 * draw(3)
    );
    let mut pattern = String::new();
    let kinds = [draw(14), draw(14), draw(14), draw(14)];
    for kind in kinds.into_iter().take(1 + draw(4)) {
        let order = [0, 2, 1, 3][draw(4)];
        let reg = |n: usize| 8 + (n ^ order) % 4 / 2 + (n ^ order) % 2 * apart;
        let all = format!("{{%r{}, %r{}, %r{}, %r{}}}", reg(0), reg(1), reg(2), reg(3));
        let guard = ["", "", "", "@%p1 ", "@%p2 "][draw(5)];
        let instruction = match kind {
            0 => "ld.global.u32 %r20, [%rd1];".to_owned(),
            1 => format!("ld.global.v4.u32 {all}, [%rd1];"),
            2 => format!("ld.shared.v4.u32 {all}, [%r2];"),
            3 => "ld.shared.u32 %r21, [%r2];".to_owned(),
            4 => "st.global.u32 [%rd1], %r1;".to_owned(),
            5 => "st.shared.u32 [%r2], %r1;".to_owned(),
            6 => format!("st.global.v4.u32 [%rd1], {all};"),
            7 => "atom.global.add.u32 %r22, [%rd1], %r1;".to_owned(),
            8 => "atom.shared.add.u32 %r22, [%r2], %r1;".to_owned(),
            9 => "membar.gl;".to_owned(),
            10 => format!("fma.rn.f32 %f{}, %f{}, %f{}, %f{};", 30, 1, 1 + apart, 1 + 2 * apart),
            11 => format!("add.u32 %r{}, %r{}, %r{};", 40, 1, 1 + apart),
            12 => "sin.approx.f32 %f31, %f1;".to_owned(),
            _ if draw(2) == 0 => "bar.sync 0;".to_owned(),
            _ => "ld.param.u64 %rd5, [k_param_0];".to_owned(),
        };
        let guard = if instruction.starts_with("bar") { "" } else { guard };
        pattern += &format!("{guard}{instruction}\n");
    }
    text += &pattern.repeat(1 + below([3, 12, 60], draw));
    text
}

/// Streams of instructions in PTX.
#[test]
fn ptx() {
    let (rounds, seed) = (rounds(600), number("SEED", 1));
    let mut tally = Tally::default();
    for case in 0..rounds {
        let case = number("ONLY", seed * 1_000_000_000 + case);
        let mut draw = drawing(case);
        let latency = format!("memory.fixed.latency={}", [1, 9, 40, 300][draw(4)]);
        let mut settings: Vec<&str> = Vec::new();
        for _ in 0..draw(7) {
            let of = SETTINGS[draw(SETTINGS.len())];
            settings.push(of[draw(of.len())]);
        }
        match draw(3) {
            0 => settings.extend(["memory.lower=Fixed", "memory.fixed.per_cycle=4", &latency]),
            1 => settings.extend([
                "memory.lower=Fixed",
                "memory.fixed.per_cycle=4",
                &latency,
                "memory.jitter=Uniform(0, 20)",
            ]),
            _ => settings.push("memory.lower=Perfect"),
        }
        let (blocks, threads) = (1 + draw(6) as u32, [1, 32, 64, 256, 512, 1024][draw(6)]);
        let text = body(&mut draw);
        let policy = &POLICIES[draw(4)];
        let of = InPtx { settings: &settings, blocks, threads };
        let (workload, machine) =
            (of.workload(&text), shipped::try_machine_with("accelsim-ecrts", &settings));
        let machine = machine.ok().filter(|machine| machine.limits().occupancy(&workload.needs()).is_ok());
        match machine.map(|machine| of_workload(&workload, &machine, policy)) {
            None => tally.refused += 1,
            Some(None) => tally.not_applicable += 1,
            Some(Some((makespan, bound))) => tally.add(makespan, bound, || {
                format!("ONLY={case} {policy}, {blocks} x {threads} with {settings:?}:\n{text}")
            }),
        }
    }
    println!("{tally:?}");
    assert_eq!(tally.exceeded, 0);
}
