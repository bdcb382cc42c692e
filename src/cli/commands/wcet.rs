//! `warpbound wcet`: what is known of the worst case over inputs, policies and schedules, one method beside the other.

use std::collections::HashMap;

use crate::base::{Cycles, Pc};
use crate::bound;
use crate::check::Checked;
use crate::check::every_path::{EveryPath, every_path, keeps_bounds};
use crate::cli::args::Wcet;
use crate::cli::campaign::Campaign;
use crate::cli::failures::Batch;
use crate::cli::ipoints::instrumented;
use crate::cli::load::{self, LoadedKernel};
use crate::cli::loop_bounds::ByLine;
use crate::cli::output::{Ending, Outcome};
use crate::cli::policies;
use crate::cli::resources;
use crate::cli::session::Session;
use crate::diag::{Diagnostic, Diagnostics};
use crate::exec::Options;
use crate::explore::explore;
use crate::explore::search::Limits;
use crate::hybrid::{Density, Observed, default_limits, estimate};
use crate::machine::{Machine, SchedulerKind};
use crate::path::{BlockPaths, BlockSource};
use crate::program::TimingTable;
use crate::program::warp_cfg::Divergence;
use crate::report::output::Output;
use crate::report::wcet::{Explored, Largest, Simulated, StaticOf, WcetResult};

/// Runs the command.
pub fn run(args: &Wcet, session: &Session) -> Outcome {
    let bounds = ByLine::new(&args.bounds)?;
    let mut batch = Batch::new(&args.kernels);
    let mut results = Vec::new();
    while let Some((_, name)) = batch.begin(session) {
        match row(name, args, &bounds, session) {
            Ok(result) => results.push(result),
            Err(problems) => batch.failures.add(name, &problems),
        }
    }
    if results.is_empty() && args.kernels.len() == 1 && !batch.is_incomplete() {
        return Err(batch.failures.into_problems());
    }
    let mut ending = Ending { violated: results.iter().any(WcetResult::is_violated), ..Ending::default() };
    let output = Output::of_batch("wcet", Some(args.common.seed), results, batch.report(session));
    ending.report(session, args.common.format, &output);
    ending.failures = batch.failures;
    Ok(ending)
}

/// The policies that are tried: those that the bounds hold for.
fn kinds(args: &Wcet) -> Vec<SchedulerKind> {
    vec![
        SchedulerKind::Gto,
        SchedulerKind::Lrr,
        SchedulerKind::Oldest,
        SchedulerKind::Random(args.common.seed),
    ]
}

fn row(name: &str, args: &Wcet, bounds: &ByLine, session: &Session) -> Result<WcetResult, Diagnostics> {
    let kernel = load::kernel(name, &args.ptx, args.common.seed)?;
    let (machine, _) = load::machine(&args.common, &kernel)?;
    let (given, resolved) = bounds.of(&kernel)?;
    let code = instrumented(&kernel, Divergence::Sides, Density::Blocks)?;
    let policies = match &args.common.scheduler {
        Some(_) => vec![load::policy(&args.common, &kernel, &machine)?],
        None => kinds(args).iter().map(policies::setup).collect::<Result<Vec<_>, _>>()?,
    };
    let annotated = if resolved.is_empty() { 0 } else { args.runs };
    for number in 0..annotated {
        let seed = args.common.seed.wrapping_add(number);
        let kernel = load::kernel(name, &args.ptx, seed)?;
        let options = Options::of(&machine, args.common.fuel());
        let kept = keeps_bounds(&kernel.workload, options, &resolved, &session.watch);
        kept.map_err(|problems| {
            let mut said = Diagnostics::new();
            for problem in problems.list() {
                said.push(Diagnostic {
                    message: format!("{} (seed {seed})", problem.message),
                    ..problem.clone()
                });
            }
            said.with_excerpts(&kernel.code)
        })?;
    }
    let bounds = bound::all();
    let unbounded = vec![None; code.ipg.loops().len()];
    let mut simulated = Simulated::default();
    let mut observed: Option<Observed> = None;
    for policy in &policies {
        let campaign = Campaign {
            name,
            ptx: &args.ptx,
            common: &args.common,
            runs: args.runs,
            jobs: args.jobs,
            code: &code,
            given: &unbounded,
            machine: &machine,
            policy,
            bounds: &bounds,
        };
        let found = campaign.run(session, |seed, run: &Checked| simulated.add(seed, run))?;
        match &mut observed {
            Some(all) => all.then(found),
            None => observed = Some(found),
        }
    }
    let observed = observed.ok_or_else(|| Diagnostic::general(name, "no policy"))?;
    let estimates =
        estimate(&code.ipg, &observed, &[], default_limits(&code.ipg)).map_err(|why| why.to_string());
    let found = static_of(&kernel, &machine, &resolved, args, session)?;
    let explored = explored(name, &machine, args, session)?;
    let largest = Largest { simulated, estimates, found, explored };
    Ok(WcetResult::new(&kernel.workload, &machine, args.runs, &policies, &given, &largest))
}

/// The bound over all paths. That a loop needs a bound, or something cannot be analysed, is a result here.
fn static_of(
    kernel: &LoadedKernel,
    machine: &Machine,
    bounds: &HashMap<Pc, u64>,
    args: &Wcet,
    session: &Session,
) -> Result<StaticOf, Diagnostics> {
    Ok(match every_path(&kernel.workload, machine, bounds, args.common.fuel(), &session.watch) {
        Ok(EveryPath::Bound(found)) => StaticOf::Bound(found.value),
        Ok(EveryPath::NotApplicable(why)) => StaticOf::Missing(why.reason().to_owned()),
        Ok(EveryPath::Stopped) => {
            return Err(
                Diagnostic::general(kernel.workload.name.clone(), "ended before there was a bound").into()
            );
        }
        Err(problems) => {
            let first = problems.list().first();
            let said = |problem: &Diagnostic| match problem.hint.as_str() {
                "" => problem.message.clone(),
                hint => format!("{}; {hint}", problem.message),
            };
            StaticOf::Missing(first.map_or_else(String::new, said))
        }
    })
}

/// The worst case over all schedules of the runs' paths, if that can be known of each.
fn explored(name: &str, machine: &Machine, args: &Wcet, session: &Session) -> Result<Explored, Diagnostics> {
    let threads = args.jobs.unwrap_or_else(resources::threads).max(1);
    let limits = Limits { max_states: args.max_states, max_bytes: resources::budget(), threads };
    let mut known: Vec<(Vec<BlockPaths>, Cycles)> = Vec::new();
    let mut worst = None;
    session.progress.begin(format!("exploring {name}"), Some(args.runs), "runs");
    for number in 0..args.runs {
        let seed = args.common.seed + number;
        let kernel = load::kernel(name, &args.ptx, seed)?;
        let table = TimingTable::new(kernel.workload.program(), machine)?;
        let mut source = kernel.workload.source(args.common.watched(machine))?.watched(&session.watch);
        let (mut paths, mut blocks) = (BlockPaths::default(), Vec::new());
        while source.next_block(&mut paths).map_err(|problems| problems.with_excerpts(&kernel.code))? {
            if blocks.len() == MOST_BLOCKS {
                return Ok(Explored::Missing(format!("more than {MOST_BLOCKS} blocks")));
            }
            blocks.push(paths.clone());
        }
        let same = |(other, _): &&(Vec<BlockPaths>, Cycles)| *other == blocks;
        let sum = match known.iter().find(same) {
            Some((_, sum)) => *sum,
            None => {
                let mut sum = Cycles::ZERO;
                for paths in &blocks {
                    match explore(&table, machine, paths, Cycles::ZERO, limits, &session.watch) {
                        Ok(found) if found.is_complete() => sum += found.worst.at_least,
                        Ok(_) => {
                            let why = format!("more than {} states (--max-states)", args.max_states);
                            return Ok(Explored::Missing(why));
                        }
                        Err(why) => return Ok(Explored::Missing(why.to_string())),
                    }
                }
                if known.len() < MOST_KNOWN {
                    known.push((blocks, sum));
                }
                sum
            }
        };
        if worst.is_none_or(|(most, _)| sum > most) {
            worst = Some((sum, seed));
        }
        session.watch.advance(1);
    }
    Ok(worst.map_or_else(|| Explored::Missing("no run".to_owned()), |(sum, seed)| Explored::Worst(sum, seed)))
}

/// Blocks of a launch that is explored.
const MOST_BLOCKS: usize = 64;

/// Runs that are kept to be compared with later ones.
const MOST_KNOWN: usize = 64;
