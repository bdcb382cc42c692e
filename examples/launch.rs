//! Judges every bound on a kernel that is loaded by its name or from a file, with all that the file
//! names.
//!
//!     cargo run --example launch kernels/vecadd/vecadd.ron

use warpbound::base::ProgressMonitor;
use warpbound::bound;
use warpbound::check::{Plan, RunOptions, check};
use warpbound::diag::Diagnostics;
use warpbound::load::{LaunchOptions, Loader};
use warpbound::sim::PolicySetup;

fn main() -> Result<(), Diagnostics> {
    let name = std::env::args().nth(1).unwrap_or_else(|| "vecadd".to_owned());
    let (loader, monitor) = (Loader::disk(), ProgressMonitor::new());
    let kernel = loader.kernel(&name, &LaunchOptions::default(), &monitor)?;
    let machine = loader.machine("ecrts25-orin")?;
    let bounds = bound::all();
    let options = RunOptions::new(1 << 28, &monitor).judged_by(&bounds, &[]).race_memory(Some(1 << 30));
    let (workload, policies) = (&kernel.workload, &[PolicySetup::Gto][..]);
    for run in check(&Plan { workload, machine: &machine, policies, options })? {
        println!("{} under {}: {} cycles", kernel.workload.name, run.policy, run.makespan);
        for bound in run.judged() {
            let value = bound.value.as_ref().map_or_else(|_| "-".to_owned(), ToString::to_string);
            println!("  {:5} {value:>6}  {}", bound.name, bound.verdict().name());
        }
    }
    Ok(())
}
