//! PLB compared with random launches on machines with caches, a crossbar and DRAM, of which every
//! setting may be drawn.

use std::sync::atomic::Ordering::Relaxed;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::pipelined::{COMPARED, DIFFERENT, POLICIES, Tally, number, of_workload, rounds};
use crate::pipelined_directed::InPtx;
use crate::pipelined_streams::{SETTINGS, body};
use crate::{random_accesses, random_memory, runs, shipped};

const BASES: [&str; 6] =
    ["accelsim-ecrts", "accelsim-ecrts-dram", "accelsim-sm1", "fermi-c2050", "kepler-gk104", "rtx3070-1sm"];

/// Settings of a memory system that the bound does not cover, or that refuse most machines.
const OTHERS: [&str; 5] =
    ["memory.constant", "Geometric", "memory.fixed.pipelined", "memory.fixed.per_cycle", "bank_bits=[]"];

#[test]
fn random_memory_systems() {
    let (rounds, seed) = (rounds(1500), number("SEED", 1));
    let mut tally = Tally::default();
    for case in 0..rounds {
        let case = number("ONLY", seed * 1_000_000_000 + case);
        let mut rng = ChaCha8Rng::seed_from_u64(case);
        let mut draw = move |below: usize| ((u64::from(rng.next_u32()) * below as u64) >> 32) as usize;
        let base = BASES[draw(BASES.len())];
        let mut settings = Vec::new();
        if draw(5) > 0 {
            settings = random_memory::settings(&mut draw);
            settings.retain(|setting| !OTHERS.iter().any(|other| setting.contains(other)));
        }
        settings.extend(["memory.fixed.per_cycle=64", "memory.constant=none"].map(str::to_owned));
        settings.push(format!("sms={}", [1, 1, 1, 2, 5][draw(5)]));
        for _ in 0..draw(4) {
            let of = SETTINGS[draw(SETTINGS.len())];
            settings.push(of[draw(of.len())].to_owned());
        }
        let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
        let (workload, what) = if draw(2) == 0 {
            let (program, launch) = random_accesses::kernel(&mut draw);
            (runs::workload("random accesses", program, launch), String::new())
        } else {
            let (blocks, threads) = (1 + draw(9) as u32, [32, 64, 256, 512, 1024][draw(5)]);
            let text = body(&mut draw);
            let workload = InPtx { settings: &settings, blocks, threads }.workload(&text);
            (workload, format!("{blocks} x {threads}:\n{text}"))
        };
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
    println!("{tally:?}");
    assert_eq!(tally.exceeded, 0);
    assert!(tally.runs > rounds / 4, "{tally:?}");
}

/// Machines of which the naive formula knows all parts.
#[test]
fn the_naive_formula() {
    let (rounds, seed) = (rounds(400), number("SEED", 1));
    let (before, mut tally) = (COMPARED.load(Relaxed), Tally::default());
    let simple = std::env::var("SIMPLE").unwrap_or_default();
    for case in 0..rounds {
        let case = number("ONLY", seed * 1_000_000_000 + case);
        let mut rng = ChaCha8Rng::seed_from_u64(case);
        let mut draw = move |below: usize| ((u64::from(rng.next_u32()) * below as u64) >> 32) as usize;
        let base = ["accelsim-ecrts", "accelsim-ecrts-dram", "fermi-c2050", "kepler-gk104"][draw(4)];
        let mut settings = Vec::new();
        if draw(5) > 0 {
            settings = random_memory::settings(&mut draw);
            let others = ["lower=Perfect", "line=", "_bit=5", "[5, ", "memory.start=Warm"];
            settings.retain(|setting| !OTHERS.iter().chain(&others).any(|other| setting.contains(other)));
        }
        let fixed = "sms=1 sub_cores=1 memory.fixed.per_cycle=64 memory.constant=none \
            pipeline.load_store.transaction=32 pipeline.front_end=none pipeline.collector=none \
            pipeline.result_buses=none";
        settings.extend(fixed.split(' ').map(str::to_owned));
        if draw(4) == 0 {
            settings.push("hazards=[Raw]".to_owned());
        }
        settings.extend(simple.split_whitespace().map(str::to_owned));
        let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
        let (workload, what) = if draw(2) == 0 {
            let (program, launch) = random_accesses::kernel(&mut draw);
            (runs::workload("random accesses", program, launch), String::new())
        } else {
            let (blocks, threads) = (1 + draw(9) as u32, [32, 64, 256][draw(3)]);
            let text = body(&mut draw);
            let workload = InPtx { settings: &settings, blocks, threads }.workload(&text);
            (workload, format!("{blocks} x {threads}:\n{text}"))
        };
        let machine = shipped::try_machine_with(base, &settings).ok();
        let Some(machine) = machine.filter(|machine| machine.limits().occupancy(&workload.needs()).is_ok())
        else {
            tally.refused += 1;
            continue;
        };
        let policy = &POLICIES[draw(4)];
        let different = DIFFERENT.load(Relaxed);
        match of_workload(&workload, &machine, policy) {
            None => tally.not_applicable += 1,
            Some((makespan, bound)) => {
                tally.add(makespan, bound, || format!("ONLY={case} {policy} {base} {settings:?} {what}"));
            }
        }
        if DIFFERENT.load(Relaxed) != different {
            println!("ONLY={case} {base} {settings:?} {what}");
        }
        if std::env::var("ONLY").is_ok() {
            break;
        }
    }
    let compared = COMPARED.load(Relaxed) - before;
    println!("{compared} compared, {tally:?}");
    assert_eq!(tally.exceeded, 0);
    assert!(compared > rounds / 4, "{compared} of {rounds}");
}
