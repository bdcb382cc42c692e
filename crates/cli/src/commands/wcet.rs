//! `warpbound wcet`: compares methods for the worst case over inputs, policies and schedules.

mod program;

use crate::args::Wcet;
use crate::campaign::{Campaign, warn_of_equal_inputs};
use crate::exhaustive::{Exploring, all_paths_value};
use crate::failures::Batch;
use crate::ipoints::instrumented;
use crate::load;
use crate::loop_bounds::ByLine;
use crate::output::{Ending, Outcome};
use crate::policies;
use crate::session::Session;
use warpbound_bound as bound;
use warpbound_core::diag::{Diagnostic, Diagnostics};
use warpbound_core::machine::PolicyKind;
use warpbound_core::program::warp_cfg::Divergence;
use warpbound_exec::Options;
use warpbound_hybrid::{Density, Observed, default_limits, estimate};
use warpbound_judge::check::JudgedLaunch;
use warpbound_judge::check::all_paths::ExceededLoops;
use warpbound_judge::load::Loaded;
use warpbound_report::output::Output;
use warpbound_report::wcet::{Analysed, Largest, Simulated, WcetResult};

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
    bounds.warn_of_unused();
    batch.only_failure(!results.is_empty())?;
    let mut ending = Ending { violated: results.iter().any(WcetResult::is_violated), ..Ending::default() };
    let output = Output::of_batch("wcet", Some(args.common.seed), results, batch.report(session));
    ending.report(session, args.common.format, &output);
    ending.failures = batch.failures;
    Ok(ending)
}

/// Returns the default policies: those for which the bounds hold.
fn kinds(args: &Wcet) -> Vec<PolicyKind> {
    vec![PolicyKind::Gto, PolicyKind::Lrr, PolicyKind::Oldest, PolicyKind::Random(args.common.seed)]
}

fn row(name: &str, args: &Wcet, bounds: &ByLine, session: &Session) -> Result<WcetResult, Diagnostics> {
    let kernel = match load::any(name, &args.ptx, args.common.seed, &session.monitor)? {
        Loaded::Kernel(kernel) => *kernel,
        Loaded::Application(program) => return program::row(name, &program, args, bounds, session),
    };
    let (machine, _) = load::machine(&args.common, &kernel)?;
    let (given, resolved) = bounds.of(&kernel)?;
    warn_of_equal_inputs(name, (&args.ptx, &args.common), &kernel, args.runs, session)?;
    let code = instrumented(&kernel, Divergence::Sides, Density::Blocks)?;
    let policies = match &args.common.policy {
        Some(_) => vec![load::policy(&args.common, &kernel, &machine)?],
        None => kinds(args).iter().map(policies::setup).collect::<Result<Vec<_>, _>>()?,
    };
    let annotated = if resolved.is_empty() { 0 } else { args.runs };
    let mut exceeded = ExceededLoops::default();
    for number in 0..annotated {
        let seed = args.common.seed.wrapping_add(number);
        let input = load::kernel(name, &args.ptx, seed, &session.monitor)?;
        let options = Options::of(&machine, args.common.fuel());
        let added = exceeded.add(&input.workload, Some(seed), options, &resolved, &session.monitor);
        added.map_err(|problems| input.with_excerpts(problems))?;
    }
    exceeded.finish().map_err(|problems| kernel.with_excerpts(problems))?;
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
        let found = campaign.run(session, |seed, run: &JudgedLaunch| {
            simulated.add(&policy.kind(), seed, run);
        })?;
        match &mut observed {
            Some(all) => all.then(found),
            None => observed = Some(found),
        }
    }
    let observed = observed.ok_or_else(|| Diagnostic::general(name, "no policy"))?;
    let estimates =
        estimate(&code.ipg, &observed, &[], default_limits(&code.ipg)).map_err(|why| why.to_string());
    let found = all_paths_value(&kernel, &machine, simulated.schedules(), &resolved, &args.common, session)?;
    let exploring = Exploring {
        ptx: &args.ptx,
        common: &args.common,
        runs: args.runs,
        max_states: args.max_states,
        jobs: args.jobs,
    };
    let explored = exploring.worst(name, &machine, simulated.schedules(), session)?;
    let largest = Largest { simulated, estimates, found, explored };
    let of = Analysed::launch(&kernel, &given);
    Ok(WcetResult::new(of, &machine, args.runs, &policies, &largest))
}
