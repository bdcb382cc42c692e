//! The memory system through the pipeline engine: the effect of settings on the cycles of a launch.

use crate::reference;
use crate::runs;
use crate::shipped;

use runs::workload;
use warpbound::machine::Machine;
use warpbound::sim::{PolicySetup, SimSummary};

/// Returns GPGPU-Sim's SM with another memory.
fn machine(memory: &str) -> Machine {
    shipped::machine_of(format!(
        "Machine(name: \"test\", extends: \"accelsim-ecrts\", memory: Memory({memory}))"
    ))
}

fn run_on(machine: &Machine, launch: &str) -> SimSummary {
    let reference = reference::launch(launch);
    let workload = workload(launch, reference.program(), reference.launch);
    runs::run(&workload, machine, &PolicySetup::Gto, &mut ())
}

fn cycles(memory: &str, launch: &str) -> u64 {
    run_on(&machine(memory), launch).makespan.get()
}

#[test]
fn a_fixed_latency_counts_once_per_round_trip() {
    let at = |latency: u64| cycles(&format!("lower: Fixed, fixed: Fixed(latency: {latency})"), "vecadd.w1");
    // one warp: two loads that overlap, then a store that is acknowledged
    assert_eq!(at(300) - at(100), 2 * 200);
    let chase =
        |latency: u64| cycles(&format!("lower: Fixed, fixed: Fixed(latency: {latency})"), "pchase.w1");
    // 64 dependent loads, and the store of the last
    assert_eq!(chase(300) - chase(100), 65 * 200);
}

#[test]
fn bandwidth_and_overlap_are_settings() {
    let at = |fixed: &str| cycles(&format!("lower: Fixed, fixed: Fixed(latency: 100, {fixed})"), "vecadd.w1");
    // 12 transactions of four sectors each: one after the other, or pipelined
    let (pipelined, serial) = (at("per_cycle: 1"), at("pipelined: false"));
    assert!(serial > 12 * 100 && pipelined < 3 * 100, "{pipelined} {serial}");
}

#[test]
fn jitter_follows_its_seed() {
    let at = |seed: u64| {
        let memory =
            format!("lower: Fixed, jitter: HeavyTail(scale: 20, shape: 1, most: 4000), seed: {seed}");
        cycles(&memory, "saxpy.w4")
    };
    let drawn: Vec<u64> = (0..8).map(at).collect();
    assert_eq!(drawn, (0..8).map(at).collect::<Vec<_>>());
    let steady = cycles("lower: Fixed", "saxpy.w4");
    assert!(drawn.iter().all(|&cycles| cycles > steady), "{drawn:?} {steady}");
    assert!(drawn.iter().any(|&cycles| cycles != drawn[0]), "{drawn:?}");
}

#[test]
fn an_l1_saves_round_trips_as_far_as_the_data_fit() {
    let at = |l1: &str, launch| {
        run_on(&machine(&format!("{l1} lower: Fixed, fixed: Fixed(latency: 400)")), launch)
    };
    let l1 = |ways: u32, split: &str| {
        format!("l1: L1(cache: Cache(sets: 4, ways: {ways}), latency: 30, banks: 4, {split}),")
    };
    let without = at("", "pchase.w8.2");
    let with = at(&l1(64, ""), "pchase.w8.2");
    let stats = with.memory.unwrap().l1;
    assert!(with.makespan.get() * 2 < without.makespan.get(), "{} {}", with.makespan, without.makespan);
    assert_eq!(stats.accesses, stats.hits + stats.misses + stats.merged);
    assert!(stats.hits > 4 * stats.misses, "{stats:?}");
    // 4 KiB of its 32 remain
    let tiny = at(&l1(64, "split: Percent(total: 16384, l1: 25)"), "pchase.w8.2").memory.unwrap().l1;
    assert!(tiny.hits < stats.hits, "{tiny:?} {stats:?}");
    // four resident blocks take 2 KiB of shared memory each
    let fit = at(&l1(1, "split: Fit(total: 16384, shared: [0, 6144, 8192, 16384])"), "sgemm_tiled.w8g4");
    let same = at(&l1(16, ""), "sgemm_tiled.w8g4");
    assert_eq!((fit.makespan, fit.memory), (same.makespan, same.memory));
    assert_ne!(fit.memory, at(&l1(1, ""), "sgemm_tiled.w8g4").memory);
}

#[test]
fn a_warm_l2_spares_the_dram() {
    let sm1 = shipped::machine("accelsim-sm1");
    let stats = run_on(&sm1, "vecadd.w32").memory.unwrap();
    assert_eq!((stats.lower.dram.reads, stats.lower.l2.misses), (0, 0), "{stats:?}");
    // 1024 floats twice
    assert_eq!(stats.l1.misses, 256 + 128, "{stats:?}");
    let dram = shipped::machine("accelsim-ecrts-dram");
    let stats = run_on(&dram, "vecadd.w32").memory.unwrap();
    assert_eq!((stats.lower.dram.reads, stats.lower.dram.writes), (256, 128), "{stats:?}");
}
