//! Cycles compared with another simulator: the results of GPGPU-Sim 4.2 for the launches of
//! `tests/data/reference`, configuration by configuration.
//!
//! `WARPBOUND_TABLE=1 cargo test --release --test engine accelsim -- --nocapture` prints every
//! launch.

use crate::reference;
use crate::runs;
use crate::shipped;

use reference::{Reference, fields, read};
use warpbound::base::Cycles;
use warpbound::machine::Machine;
use warpbound::program::launch::Launch;
use warpbound::sim::PolicySetup;

/// One launch in one configuration.
struct Compared {
    name: String,
    policy: String,
    ours: u64,
    theirs: u64,
}

impl Compared {
    /// Returns (ours - theirs) / theirs.
    fn error(&self) -> f64 {
        (self.ours as f64 - self.theirs as f64) / self.theirs as f64
    }
}

fn cycles(machine: &Machine, reference: &Reference, policy: &PolicySetup) -> Cycles {
    let workload = runs::workload(&reference.name, reference.program(), reference.launch.clone());
    runs::run(&workload, machine, policy, &mut ()).makespan
}

/// Compares every launch of a configuration. `overhead` is contained in their cycles and not in
/// ours.
fn compare(config: &str, machine: &str, overhead: u64) -> Vec<Compared> {
    let machine = shipped::machine(machine);
    let file = if config == "stock" { "stock.csv" } else { "accelsim.csv" };
    let mut launches = reference::launches();
    launches.extend(reference::launches_of_many_blocks());
    let mut all = Vec::new();
    for line in read(&format!("tests/data/reference/{file}")).lines().skip(1) {
        let f = fields(line, 13);
        // +shfl only gives shfl a latency
        if f[2].trim_end_matches("+shfl") != config {
            continue;
        }
        let setup = match f[3].as_str() {
            "gto" => PolicySetup::Gto,
            "lrr" => PolicySetup::Lrr,
            other => panic!("unknown policy {other}"),
        };
        let reference = launches.iter().find(|launch| launch.name == f[0]).unwrap();
        let theirs = f[4].parse::<u64>().unwrap() - overhead;
        if std::env::var("WARPBOUND_ONLY").is_ok_and(|only| !f[0].contains(&only)) {
            continue;
        }
        let ours = cycles(&machine, reference, &setup).get();
        all.push(Compared { name: f[0].clone(), policy: f[3].clone(), ours, theirs });
    }
    if std::env::var_os("WARPBOUND_TABLE").is_some() {
        for c in &all {
            eprintln!(
                "{config:9} {:22} {:4} {:8} {:8} {:+7.2} %",
                c.name,
                c.policy,
                c.theirs,
                c.ours,
                100.0 * c.error()
            );
        }
    }
    let (mean, worst) = errors(&all, 500);
    println!(
        "{config}: {} launches, mean |error| {:.2} %, largest {:.2} %",
        all.len(),
        100.0 * mean,
        100.0 * worst
    );
    all
}

/// Returns the mean and the largest absolute error over launches of at least this many cycles.
fn errors(all: &[Compared], least: u64) -> (f64, f64) {
    let errors: Vec<f64> = all.iter().filter(|c| c.theirs >= least).map(|c| c.error().abs()).collect();
    let mean = errors.iter().sum::<f64>() / errors.len().max(1) as f64;
    (mean, errors.iter().copied().fold(0.0, f64::max))
}

#[test]
fn perfect_memory() {
    let all = compare("ecrts_pm", "accelsim-ecrts", 0);
    let (mean, worst) = errors(&all, 0);
    assert_eq!(all.len(), 156);
    assert!(mean == 0.0 && worst == 0.0, "mean {mean}, largest {worst}");
}

#[test]
fn dram_without_caches() {
    let all = compare("ecrts", "accelsim-ecrts-dram", 0);
    let (mean, worst) = errors(&all, 0);
    assert_eq!(all.len(), 156);
    // one launch differs by two cycles: D1 in docs/accel-sim.md
    assert!(all.iter().filter(|c| c.ours != c.theirs).count() <= 1);
    assert!(mean < 1e-6 && worst < 1e-4, "mean {mean}, largest {worst}");
}

#[test]
fn stock_sm() {
    let all = compare("sm1", "accelsim-sm1", 5000);
    let (mean, worst) = errors(&all, 0);
    assert_eq!(all.len(), 156);
    assert!(mean == 0.0 && worst == 0.0, "mean {mean}, largest {worst}");
}

#[test]
fn stock_gpu() {
    let all = compare("stock", "rtx3070", 5000);
    let (mean, worst) = errors(&all, 0);
    assert_eq!(all.len(), 177);
    assert!(all.iter().filter(|c| c.ours != c.theirs).count() <= 1);
    assert!(mean < 2e-5 && worst < 0.003, "mean {mean}, largest {worst}");
}

/// Launches of the suite, which were not used to calibrate anything: all are equal.
#[test]
fn launches_of_the_suite() {
    let only = std::env::var("WARPBOUND_ONLY").ok();
    for (name, count) in [("accelsim-ecrts", 102), ("accelsim-sm1", 102), ("rtx3070", 48)] {
        let machine = shipped::machine(name);
        let mut all = Vec::new();
        for line in read("tests/data/reference/suite.csv").lines().skip(1) {
            let f = fields(line, 5);
            if f[1] != name || only.as_ref().is_some_and(|only| !f[0].contains(only)) {
                continue;
            }
            let setup = if f[2] == "gto" { PolicySetup::Gto } else { PolicySetup::Lrr };
            let kernel = shipped::launch(&f[0]);
            let workload = runs::workload(&kernel.name, kernel.program, kernel.launch);
            let ours = runs::run(&workload, &machine, &setup, &mut ()).makespan.get();
            all.push(Compared {
                name: f[0].clone(),
                policy: f[2].clone(),
                ours,
                theirs: f[3].parse().unwrap(),
            });
        }
        let differ: Vec<&Compared> = all.iter().filter(|c| c.ours != c.theirs).collect();
        for c in &differ {
            let Compared { name: launch, policy, ours, theirs } = c;
            println!("{name} {launch} {policy}: {theirs}, here {ours}, {:+.2} %", 100.0 * c.error());
        }
        assert!(differ.is_empty(), "{name}: {} of {} differ", differ.len(), all.len());
        assert!(only.is_some() || all.len() == count, "{name}: {} launches", all.len());
    }
}

/// Only stores: the remaining components are the crossbar, and the assignment of lines to slices.
#[test]
fn stores_of_many_sms() {
    let machine = shipped::machine("rtx3070");
    let reference = reference::launch("xorhash.w8");
    for (blocks, threads, theirs) in [(46, 64, 307), (32, 256, 365), (16, 256, 352), (46, 256, 385)] {
        let (args, buffers) =
            reference::arguments(&format!("buf:u32:{}:zero;u32:12345;s32:0", blocks * threads));
        let launch = Launch {
            grid: [blocks, 1, 1],
            block: [threads, 1, 1],
            args,
            buffers,
            ..reference.launch.clone()
        };
        let workload = runs::workload(&reference.name, reference.program(), launch);
        let ours = runs::run(&workload, &machine, &PolicySetup::Lrr, &mut ()).makespan;
        assert_eq!(ours, Cycles::new(theirs), "{blocks} blocks of {threads} threads");
    }
}
