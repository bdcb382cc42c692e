//! Judges every bound on a kernel that is loaded by its name or from a file, with all that the file
//! names.
//!
//!     cargo run --example launch kernels/vecadd/vecadd.ron

use warpbound::base::Watch;
use warpbound::bound;
use warpbound::check::{Plan, check};
use warpbound::diag::Diagnostics;
use warpbound::load::{LaunchOptions, Loader};
use warpbound::sim::PolicySetup;

fn main() -> Result<(), Diagnostics> {
    let name = std::env::args().nth(1).unwrap_or_else(|| "vecadd".to_owned());
    let (loader, watch) = (Loader::disk(), Watch::new());
    let kernel = loader.kernel(&name, &LaunchOptions::default(), &watch)?;
    let machine = loader.machine("ecrts25-orin")?;
    let plan = Plan {
        workload: &kernel.workload,
        machine: &machine,
        policies: &[PolicySetup::Gto],
        bounds: &bound::all(),
        gating: &[],
        max_instructions_per_block: 1 << 28,
        threads: 1,
        ahead: false,
        self_check: false,
        watch: &watch,
        race_memory: Some(1 << 30),
    };
    for run in check(&plan).map_err(|failed| failed.problems.with_excerpts(&kernel.code))? {
        println!("{} under {}: {} cycles", kernel.workload.name, run.scheduler, run.makespan);
        for bound in run.judged() {
            let value = bound.value.as_ref().map_or_else(|_| "-".to_owned(), ToString::to_string);
            println!("  {:5} {value:>6}  {}", bound.name, bound.verdict().name());
        }
    }
    Ok(())
}
