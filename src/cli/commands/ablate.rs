//! `warpbound ablate`: what each simplification of the paper model costs, over many kernels.

use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::base::Cycles;
use crate::check::ablation::{Row, VARIANTS, Variants, cycles};
use crate::cli::args::{Ablate, Common, PtxLaunch, Races, TableFormat};
use crate::cli::assets;
use crate::cli::load::{self, LoadedKernel};
use crate::cli::output::{self, Failure, Format};
use crate::diag::Diagnostics;
use crate::report::ablation::Ablation;
use crate::sim::PolicySetup;

/// Runs the command.
pub fn run(args: &Ablate) -> Result<ExitCode, Failure> {
    let location = assets::find_machine(&args.machine, None)?;
    let (machine, spec) = load::machine_at(&location, &common(args))?;
    let variants = Variants::new(&spec, &location.text()?, &assets::ptx_isa()?)?;
    let policy = load::setup(machine.scheduler())?;
    let names = if args.kernels.is_empty() { super::check::suite_kernels()? } else { args.kernels.clone() };
    let kernels = names
        .iter()
        .map(|name| load::kernel(name, &PtxLaunch::default(), args.seed))
        .collect::<Result<Vec<LoadedKernel>, Diagnostics>>()?;
    let rows = rows(&kernels, &variants, &policy, args)?;
    let report = Ablation::new(machine.name(), policy.kind().to_string(), &variants, &rows, args.seed);
    match args.format {
        TableFormat::Text => output::print(&report.text())?,
        TableFormat::Json => output::print_json(&report)?,
        TableFormat::Csv => output::print(&report.csv())?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The options as the loading of machines knows them.
fn common(args: &Ablate) -> Common {
    Common {
        machine: Some(args.machine.clone()),
        scheduler: args.scheduler.clone(),
        mem_latency: None,
        set: args.set.clone(),
        seed: args.seed,
        format: Format::Text,
        max_instructions: args.max_instructions,
        sm_threads: None,
        races: Races::Ignore,
        race_memory: 0,
    }
}

/// Every kernel on every variant. Threads take the next pair that nobody has taken; where a result
/// goes depends on the pair only.
fn rows(
    kernels: &[LoadedKernel],
    variants: &Variants,
    policy: &PolicySetup,
    args: &Ablate,
) -> Result<Vec<Row>, Diagnostics> {
    let pairs = kernels.len() * VARIANTS.len();
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let pair = next.fetch_add(1, Ordering::Relaxed);
            if pair >= pairs {
                return done;
            }
            let (kernel, machine) =
                (&kernels[pair / VARIANTS.len()], &variants.machines[pair % VARIANTS.len()]);
            let result = cycles(&kernel.workload, machine, policy, args.max_instructions)
                .map_err(|problems| problems.with_excerpts(&kernel.code));
            done.push((pair, result));
        }
    };
    let jobs = args.jobs.unwrap_or_else(load::threads).clamp(1, pairs.max(1));
    let mut results: Vec<(usize, Result<Cycles, Diagnostics>)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..jobs).map(|_| scope.spawn(work)).collect();
        // a panic of a worker is a fault of ours and goes on here
        workers
            .into_iter()
            .flat_map(|worker| worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    results.sort_by_key(|(pair, _)| *pair);
    let mut rows: Vec<Row> = kernels
        .iter()
        .map(|kernel| Row { kernel: kernel.workload.name.clone(), cycles: [0; VARIANTS.len()] })
        .collect();
    for (pair, result) in results {
        rows[pair / VARIANTS.len()].cycles[pair % VARIANTS.len()] = result?.get();
    }
    Ok(rows)
}
