//! `warpbound ablate`: measures what each simplification of the paper model costs, over many
//! kernels.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::args::{Ablate, Common, PtxLaunch, Races, TableFormat};
use crate::failures::Batch;
use crate::files::loader;
use crate::format::Format;
use crate::load;
use crate::output::{Ending, Outcome};
use crate::policies;
use crate::resources;
use crate::session::Session;
use crate::suite::suite_kernels;
use warpbound_core::base::Cycles;
use warpbound_core::diag::Diagnostics;
use warpbound_core::machine::Machine;
use warpbound_judge::check::ablation::{MACHINES, Row, Variants, cycles};
use warpbound_judge::load::{Loaded, ptx_isa};
use warpbound_report::ablation::Ablation;
use warpbound_report::output::Output;
use warpbound_sim::PolicySetup;

/// Runs the command.
pub fn run(args: &Ablate, session: &Session) -> Outcome {
    let names = if args.kernels.is_empty() { suite_kernels()? } else { args.kernels.clone() };
    let mut batch = Batch::new(&names);
    let table = ablation(args, session, &mut batch)?;
    batch.only_failure(!table.kernels.is_empty())?;
    let mut ending = Ending::default();
    // the CSV of --table is a list of the JSON, as for every command
    let format = match (args.format, &session.table) {
        (TableFormat::Csv, None) => None,
        (TableFormat::Csv, Some(_)) => Some(Format::Csv),
        (TableFormat::Text | TableFormat::Json, _) => Some(args.format.of_reports()),
    };
    match format {
        None => ending.print(session, &table.csv()),
        Some(format) => {
            let output = Output::of_batch("ablate", Some(args.seed), vec![table], batch.report(session));
            ending.report(session, format, &output);
        }
    }
    ending.failures = batch.failures;
    Ok(ending)
}

/// Returns the table over the kernels of a batch.
pub fn ablation(args: &Ablate, session: &Session, batch: &mut Batch) -> Result<Ablation, Diagnostics> {
    let location = loader().find_machine(&args.machine, None)?;
    let (machine, spec) = load::machine_at(&location, &common(args))?;
    let variants = Variants::new(&spec, &location.text()?, &ptx_isa())?;
    let policy = policies::setup(machine.policy())?;
    let mut kernels = Vec::new();
    while let Some((_, name)) = batch.begin(session) {
        match load::any(name, &PtxLaunch::default(), args.seed, &session.monitor) {
            Ok(kernel) => kernels.push(kernel),
            Err(problems) => batch.failures.add(name, &problems),
        }
    }
    let rows = rows(&kernels, &variants, &policy, args, session, batch);
    Ok(Ablation::new(machine.name(), policy.kind().to_string(), &variants, &rows))
}

/// Returns the options in the form in which machines are loaded.
fn common(args: &Ablate) -> Common {
    Common {
        machine: Some(args.machine.clone()),
        policy: args.policy.clone(),
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

/// Simulates every kernel on every variant. Kernels that fail, or did not complete because the
/// command was stopped, are reported in the batch. Worker threads take one pair of kernel and
/// variant after the other; the place of a result depends only on its pair.
fn rows(
    kernels: &[Loaded],
    variants: &Variants,
    policy: &PolicySetup,
    args: &Ablate,
    session: &Session,
    batch: &mut Batch,
) -> Vec<Row> {
    let machines: &[Machine] = &variants.machines;
    let pairs = kernels.len() * machines.len();
    let fuel = resources::fuel(args.max_instructions);
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let pair = next.fetch_add(1, Ordering::Relaxed);
            if pair >= pairs {
                return done;
            }
            let (kernel, machine) = (&kernels[pair / machines.len()], &machines[pair % machines.len()]);
            let result = cycles(kernel.subject(), machine, policy, fuel, &session.monitor)
                .map_err(|problems| kernel.with_excerpts(problems));
            done.push((pair, result));
        }
    };
    let blocks: Option<u64> = kernels.iter().map(|kernel| kernel.blocks(machines.len())).sum();
    session.progress.begin("ablating", blocks, "blocks");
    let jobs = args.jobs.unwrap_or_else(resources::threads).clamp(1, pairs.max(1));
    let mut results: Vec<(usize, Result<Option<Cycles>, Diagnostics>)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..jobs).map(|_| scope.spawn(work)).collect();
        // a panic of a worker is an internal fault and is propagated
        workers
            .into_iter()
            .flat_map(|worker| worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    results.sort_by_key(|(pair, _)| *pair);
    let mut rows = Vec::new();
    for (kernel, results) in kernels.iter().zip(results.chunks(machines.len())) {
        let kernel_name = kernel.name().to_owned();
        let mut row = Row { kernel: kernel_name, cycles: [0; MACHINES] };
        let mut whole = true;
        for ((_, result), cycles) in results.iter().zip(&mut row.cycles) {
            match result {
                Ok(Some(known)) => *cycles = known.get(),
                Ok(None) => {
                    batch.cut_short();
                    whole = false;
                }
                Err(problems) => {
                    // all variants of a kernel fail for the same reason
                    if std::mem::replace(&mut whole, false) {
                        batch.failures.add(kernel.name_given(), problems);
                    }
                }
            }
        }
        rows.extend(whole.then_some(row));
    }
    rows
}
