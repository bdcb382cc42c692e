//! The micro kernels on the machine of Jeanmougin et al., ECRTS 2025, with some features enabled.
#![allow(dead_code, reason = "each test file uses a part")]

use warpbound::check::Workload;
use warpbound::machine::Machine;
use warpbound::sim::{MemoryStats, PolicySetup, SimSummary};
use warpbound::trace::{Issue, Recorder};

use crate::{runs, shipped};

/// Returns a kernel by name, and `ecrts25-orin` with settings `PATH=VALUE`.
pub fn setup(kernel: &str, settings: &[&str]) -> (Workload, Machine) {
    let shipped = shipped::launch(kernel);
    let workload = runs::workload(kernel, shipped.program, shipped.launch);
    (workload, shipped::machine_with("ecrts25-orin", settings))
}

fn summary(kernel: &str, settings: &[&str]) -> SimSummary {
    let (workload, machine) = setup(kernel, settings);
    runs::run(&workload, &machine, &PolicySetup::Gto, &mut ())
}

pub fn cycles(kernel: &str, settings: &[&str]) -> u64 {
    summary(kernel, settings).makespan.get()
}

/// Returns the makespan in cycles and the memory statistics.
pub fn memory(kernel: &str, settings: &[&str]) -> (u64, MemoryStats) {
    let summary = summary(kernel, settings);
    (summary.makespan.get(), summary.memory.expect("the memory was simulated"))
}

/// Returns the issues of all instructions of a kernel with one warp, in order of their index.
pub fn issues(kernel: &str, settings: &[&str]) -> Vec<Issue> {
    let (workload, machine) = setup(kernel, settings);
    let mut recorder = Recorder::new();
    runs::run(&workload, &machine, &PolicySetup::Gto, &mut recorder);
    let mut issues: Vec<Issue> = recorder.issues().copied().collect();
    issues.sort_by_key(|issue| issue.index);
    issues
}
