//! PLB compared with random launches on machines with caches, a crossbar and DRAM, of which every
//! setting may be drawn.

use std::sync::atomic::Ordering::Relaxed;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use warpbound::check::{Workload, WorkloadKind};

use crate::pipelined::{COMPARED, POLICIES, Tally, instruction_caches, number, of_workload, rounds};
use crate::pipelined_directed::InPtx;
use crate::pipelined_streams::{SETTINGS, body};
use crate::random_kernels::add_codes;
use crate::{random_accesses, random_memory, runs, shipped};

pub const BASES: [&str; 6] =
    ["accelsim-ecrts", "accelsim-ecrts-dram", "accelsim-sm1", "fermi-c2050", "kepler-gk104", "rtx3070-1sm"];

/// Settings of a memory system that the bound does not cover, or that refuse most machines.
const OTHERS: [&str; 5] =
    ["memory.constant", "Geometric", "memory.fixed.pipelined", "memory.fixed.per_cycle", "bank_bits=[]"];

/// The setting of machines that follow control codes, which kernels then have.
pub const CODES: &str = "dependences=ControlCodes";

/// Draws a kernel, with one of these numbers of threads if it is a stream, and a description.
pub fn kernel(draw: &mut impl FnMut(usize) -> usize, threads: &[u32]) -> (Workload, String) {
    if draw(2) == 0 {
        let (program, launch) = random_accesses::kernel(draw);
        return (runs::workload("random accesses", program, launch), String::new());
    }
    let (blocks, threads) = (1 + draw(9) as u32, threads[draw(threads.len())]);
    let text = body(draw);
    let workload = InPtx { settings: &[], blocks, threads }.workload(&text);
    (workload, format!("{blocks} x {threads}:\n{text}"))
}

/// Compares the bound with one run in each case. `machine` draws the base of a machine and its
/// settings; streams have one of these numbers of threads.
fn compare(
    rounds: u64,
    threads: &[u32],
    machine: impl Fn(&mut dyn FnMut(usize) -> usize) -> (&'static str, Vec<String>),
) -> Tally {
    let seed = number("SEED", 1);
    let mut tally = Tally::default();
    for case in 0..rounds {
        let case = number("ONLY", seed * 1_000_000_000 + case);
        let mut rng = ChaCha8Rng::seed_from_u64(case);
        let mut draw = move |below: usize| ((u64::from(rng.next_u32()) * below as u64) >> 32) as usize;
        let (base, settings) = machine(&mut draw);
        let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
        let (mut workload, what) = kernel(&mut draw, threads);
        if let (true, WorkloadKind::Launch { program, .. }) = (settings.contains(&CODES), &mut workload.kind)
        {
            add_codes(program, case);
        }
        let machine = shipped::try_machine_with(base, &settings).ok();
        let Some(machine) = machine.filter(|machine| machine.limits().occupancy(&workload.needs()).is_ok())
        else {
            tally.refused += 1;
            continue;
        };
        let policy = &POLICIES[draw(4)];
        match of_workload(&workload, &machine, policy) {
            None => tally.not_applicable += 1,
            Some((makespan, bound)) => {
                tally.add(makespan, bound, || format!("ONLY={case} {policy} {base} {settings:?} {what}"));
            }
        }
        if std::env::var("ONLY").is_ok() {
            break;
        }
    }
    tally
}

/// Draws settings of memory without those that contain one of these texts.
pub fn of_memory(mut draw: &mut dyn FnMut(usize) -> usize, without: &[&str]) -> Vec<String> {
    if draw(5) == 0 {
        return Vec::new();
    }
    let mut settings = random_memory::settings(&mut draw);
    settings.retain(|setting| !OTHERS.iter().chain(without).any(|other| setting.contains(other)));
    settings
}

/// Draws settings of stages that only the newest machines have.
fn of_new_stages(mut draw: &mut dyn FnMut(usize) -> usize) -> Vec<String> {
    let mut settings = Vec::new();
    for (name, values) in [
        ("memory.l1.interval", ["2", "3", "9"]),
        ("memory.partitions.far_latency", ["1", "9", "60"]),
        ("memory.partitions.atomic_latency", ["1", "9", "60"]),
        ("pipeline.load_store.constant_latency", ["1", "9", "60"]),
        ("pipeline.load_store.read_latency", ["1", "9", "60"]),
        ("pipeline.launch.total_blocks_per_cycle", ["1", "2", "3"]),
    ] {
        if draw(3) == 0 {
            settings.push(format!("{name}={}", values[draw(3)]));
        }
    }
    if draw(4) == 0 {
        settings.push("pipeline.front_end=none".to_owned());
        settings.push(format!("pipeline.{}", instruction_caches(&mut draw).replacen(": ", "=", 1)));
    }
    settings
}

#[test]
fn random_memory_systems() {
    let rounds = rounds(1500);
    let tally = compare(rounds, &[32, 64, 256, 512, 1024], |draw| {
        let base = BASES[draw(BASES.len())];
        let mut settings = of_memory(draw, &[]);
        settings.extend(["memory.fixed.per_cycle=64", "memory.constant=none"].map(str::to_owned));
        settings.push(format!("sms={}", [1, 1, 1, 2, 5][draw(5)]));
        for _ in 0..draw(4) {
            let of = SETTINGS[draw(SETTINGS.len())];
            settings.push(of[draw(of.len())].to_owned());
        }
        if draw(2) == 0 {
            settings.extend(of_new_stages(draw));
        }
        if draw(3) == 0 {
            settings.push(CODES.to_owned());
        }
        (base, settings)
    });
    println!("{tally:?}");
    assert_eq!(tally.exceeded, 0);
    assert!(tally.runs > rounds / 4, "{tally:?}");
}

/// Machines of which the naive formula knows all parts.
#[test]
fn the_naive_formula() {
    let (rounds, before) = (rounds(400), COMPARED.load(Relaxed));
    let tally = compare(rounds, &[32, 64, 256], |draw| {
        let base = ["accelsim-ecrts", "accelsim-ecrts-dram", "fermi-c2050", "kepler-gk104"][draw(4)];
        let mut settings =
            of_memory(draw, &["lower=Perfect", "line=", "_bit=5", "[5, ", "memory.start=Warm"]);
        let fixed = "sms=1 sub_cores=1 memory.fixed.per_cycle=64 memory.constant=none \
            pipeline.load_store.transaction=32 pipeline.front_end=none pipeline.collector=none \
            pipeline.result_buses=none";
        settings.push("hazards=[Raw, Waw]".to_owned());
        settings.extend(fixed.split(' ').map(str::to_owned));
        settings.extend(of_new_stages(draw));
        (base, settings)
    });
    let compared = COMPARED.load(Relaxed) - before;
    println!("{compared} compared, {tally:?}");
    assert_eq!(tally.exceeded, 0);
    assert!(compared > rounds / 4, "{compared} of {rounds}");
}

/// A load fills one sector of an L1, although the L2 behind it fetches the whole line.
#[test]
fn sectored_l1_in_front_of_whole_lines() {
    let common = [
        "memory.lower=Partitions",
        "memory.l1.latency=1",
        "memory.l1.cache.sets=64",
        "memory.l1.cache.ways=16",
        "memory.l1.cache.sectored=true",
        "memory.partitions.l2.sets=64",
        "memory.partitions.l2.ways=16",
        "memory.partitions.l2.sectored=false",
        "memory.partitions.latency=300",
        "memory.partitions.dram.latency=1",
    ];
    let load = |at: usize| format!("ld.global.u32 %r9, [%rd1+{at}];\nadd.u32 %r8, %r8, %r9;\nmembar.gl;\n");
    let chain: String = (0..80).map(|sector| load(sector * 32)).collect();
    let alone = |at: usize| format!("ld.global.u32 %r{}, [%rd1+{at}];\n", 9 + at / 32);
    let stream: String = (0..80).map(|sector| alone(sector * 32)).collect();
    for (text, mshrs, merge) in [(&chain, 64, 8), (&stream, 1, 8), (&stream, 64, 1), (&stream, 64, 2)] {
        let more = [
            format!("memory.l1.cache.mshrs={mshrs}"),
            format!("memory.l1.cache.merge={merge}"),
            format!("memory.partitions.l2.merge={merge}"),
        ];
        let settings: Vec<&str> = common.iter().copied().chain(more.iter().map(String::as_str)).collect();
        let workload = InPtx { settings: &settings, blocks: 1, threads: 1 }.workload(text);
        let machine = shipped::machine_with("accelsim-sm1", &settings);
        let (makespan, bound) = of_workload(&workload, &machine, &POLICIES[0]).unwrap();
        assert!(makespan <= bound, "{makespan} > {bound} with mshrs={mshrs} merge={merge}");
    }
}

/// Without WAW hazards, an instruction that waits for a register need not wait for an older load.
#[test]
fn loads_whose_registers_are_overwritten() {
    let settings = [
        "hazards=[Raw]",
        "memory.lower=Partitions",
        "memory.l1.cache.mshrs=1",
        "memory.l1.latency=1",
        "memory.partitions.latency=300",
        "pipeline.front_end=none",
    ];
    let machine = shipped::machine_with("accelsim-sm1", &settings);
    for other in ["mov.u32 %r9, 5;", "@%p3 ld.global.u32 %r9, [%rd1];"] {
        let load = |at: usize| format!("ld.global.u32 %r9, [%rd1+{at}];\n{other}\nadd.u32 %r8, %r8, %r9;\n");
        let loads: String = (0..80).map(|line| load(line * 128)).collect();
        let text = format!("setp.lt.u32 %p3, %r1, 0;\n{loads}");
        let workload = InPtx { settings: &settings, blocks: 1, threads: 1 }.workload(&text);
        let (makespan, bound) = of_workload(&workload, &machine, &POLICIES[0]).unwrap();
        assert!(makespan <= bound, "{makespan} > {bound} with {other}");
    }
}

/// Requests of a sectored L1 join the fetch of a whole line in the L2.
#[test]
fn sectors_of_an_l1_join_the_fetch_of_a_line() {
    for sectored in [false, true] {
        let sectored = format!("memory.partitions.l2.sectored={sectored}");
        let settings = [
            "hazards=[Raw, Waw]",
            "memory.lower=Partitions",
            "memory.l1.cache.sectored=true",
            "memory.l1.cache.sets=64",
            "memory.l1.cache.ways=16",
            "memory.l1.cache.mshrs=4096",
            "memory.l1.cache.merge=64",
            "memory.partitions.l2.sets=64",
            "memory.partitions.l2.ways=64",
            "memory.partitions.l2.mshrs=4096",
            "memory.partitions.l2.merge=2",
            "memory.partitions.l2.write=Evict",
            "memory.partitions.dram.latency=9000",
            "memory.start=Cold",
            "memory.partitions.channels=1",
            "memory.partitions.slices=1",
            "memory.partitions.spread=Linear",
            &sectored,
        ];
        let load = |at: usize| format!("ld.global.u32 %r{}, [%rd1+{}];\n", 20 + at, at * 128);
        let loads: String = (0..40).map(load).collect();
        let text =
            format!("mul.lo.u32 %r3, %r1, 4;\ncvt.u64.u32 %rd2, %r3;\nadd.u64 %rd1, %rd1, %rd2;\n{loads}");
        let workload = InPtx { settings: &settings, blocks: 1, threads: 32 }.workload(&text);
        let machine = shipped::machine_with("accelsim-sm1", &settings);
        let (makespan, bound) = of_workload(&workload, &machine, &POLICIES[0]).unwrap();
        println!("{sectored}: {makespan} of {bound}");
        assert!(makespan <= bound, "{makespan} > {bound} with {sectored}");
    }
}
