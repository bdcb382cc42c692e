//! `warpbound check`: simulate and judge every bound.

mod folders;
mod report;

use folders::Folders;

use crate::bound::{self, Bound};
use crate::check::{Checked, Failed, Plan, Status, check};
use crate::cli::args::Check;
use crate::cli::assets::{self, Location};
use crate::cli::failures::Batch;
use crate::cli::output::{Ending, Format, Outcome};
use crate::cli::session::Session;
use crate::cli::{load, memory};
use crate::diag::{Diagnostic, Diagnostics, closest};
use crate::machine::{Machine, MachineSpec, SchedulerKind};
use crate::program::launch::LaunchSpec;
use crate::sim::PolicySetup;

/// A kernel with everything its runs need.
struct Prepared {
    kernel: load::LoadedKernel,
    machine: Machine,
    spec: MachineSpec,
    policies: Vec<PolicySetup>,
}

/// A kernel with its runs.
struct Judged {
    prepared: Prepared,
    runs: Vec<Run>,
}

/// A run under one policy.
struct Run {
    policy: PolicySetup,
    checked: Checked,
    /// The name of its counterexample's folder, if one is asked for and it is violated.
    folder: Option<String>,
}

/// Runs the command.
pub fn run(args: &Check, session: &Session) -> Outcome {
    let bounds = bound::all();
    check_bound_names(&args.bound, &bounds)?;
    let names = if args.kernels.is_empty() { suite_kernels()? } else { args.kernels.clone() };
    // stdin can be read once
    let locations: Vec<_> = names.iter().map(|name| assets::find_kernel(name)).collect();
    let folders = Folders::prepare(args, &names, &locations, session)?;
    let mut batch = Batch::new(&names);
    let mut all = Vec::new();
    while let Some((index, name)) = batch.begin(session) {
        tracing::info!(kernel = %name, "checking");
        let outcome = locations[index].clone().and_then(|location| prepare(name, location, args));
        let (judged, problems) = match outcome {
            Ok(prepared) => {
                let blocks = u64::from(prepared.kernel.workload.blocks()) * prepared.policies.len() as u64;
                session.progress.begin(batch.label(name), Some(blocks), "blocks");
                judge(prepared, args, &bounds, session, &|policy| folders.name(index, policy))
            }
            Err(problems) => (None, Some(problems)),
        };
        match problems {
            Some(problems) => batch.failures.add(name, &problems),
            None if judged.iter().flat_map(|judged| &judged.runs).any(|run| !run.checked.is_complete()) => {
                batch.cut_short();
            }
            None => {}
        }
        all.extend(judged);
    }
    if all.is_empty() && args.kernels.len() == 1 && !batch.is_incomplete() {
        return Err(batch.failures.into_problems());
    }
    let verdicts = all.iter().flat_map(|judged| judged.runs.iter().map(|run| run.checked.verdict()));
    let violated = Status::combine(verdicts) == Status::Violated;
    let mut ending = Ending { violated, ..Ending::default() };
    match args.common.format {
        Format::Json => report::json(args, &all, &folders, &batch, session, &mut ending),
        Format::Text => report::text(args, &all, &batch, session, &mut ending),
    }
    report::again(args, &all, &folders, session, &mut ending);
    if args.require_verdict {
        require_verdict(&all, &mut ending);
    }
    ending.failures = batch.failures;
    Ok(ending)
}

/// Refuses names that no bound has.
pub fn check_bound_names(names: &[String], bounds: &[Box<dyn Bound>]) -> Result<(), Diagnostics> {
    let known: Vec<&str> = bounds.iter().map(|bound| bound.name()).collect();
    let mut problems = Diagnostics::new();
    for name in names.iter().filter(|name| !known.contains(&name.as_str())) {
        let near =
            closest(name, known.iter().copied()).map_or(String::new(), |n| format!("did you mean `{n}`? "));
        problems.push(
            Diagnostic::general(format!("--bound {name}"), format!("unknown bound `{name}`"))
                .hint(format!("{near}bounds: {}", known.join(", "))),
        );
    }
    problems.into_result(())
}

/// The launches that say `suite: true`, by name.
pub fn suite_kernels() -> Result<Vec<String>, Diagnostics> {
    let mut names = Vec::new();
    for (name, location) in assets::kernels() {
        if location.extension() == "ron" && LaunchSpec::parse(&location.text()?)?.suite {
            names.push(name);
        }
    }
    Ok(names)
}

fn prepare(name: &str, location: Location, args: &Check) -> Result<Prepared, Diagnostics> {
    let kernel = load::kernel_at(name, location, &args.ptx, args.common.seed)?;
    let (machine, spec) = load::machine(&args.common, &kernel)?;
    let suite = args.kernels.is_empty();
    let policies = if suite && args.common.scheduler.is_none() {
        vec![load::setup(&SchedulerKind::Gto)?, load::setup(&SchedulerKind::Lrr)?]
    } else {
        vec![load::policy(&args.common, &kernel, &machine)?]
    };
    Ok(Prepared { kernel, machine, spec, policies })
}

/// What came of a kernel, as far as it came, and what went wrong.
fn judge(
    prepared: Prepared,
    args: &Check,
    bounds: &[Box<dyn Bound>],
    session: &Session,
    folder: &dyn Fn(usize) -> Option<String>,
) -> (Option<Judged>, Option<Diagnostics>) {
    let Prepared { kernel, machine, policies, .. } = &prepared;
    let judged = check(&Plan {
        workload: &kernel.workload,
        machine,
        policies,
        bounds,
        gating: &args.bound,
        max_instructions_per_block: memory::fuel(args.common.max_instructions),
        threads: args.common.threads(),
        ahead: args.common.runs_ahead(),
        self_check: args.self_check,
        watch: &session.watch,
    });
    let (checked, problems) = match judged {
        Ok(checked) => (checked, None),
        Err(Failed { problems, judged }) => (judged, Some(problems.with_excerpts(&kernel.code))),
    };
    let of_policy = |(index, (policy, checked)): (usize, (&PolicySetup, Checked))| {
        let folder = folder(index).filter(|_| checked.verdict() == Status::Violated);
        // of a kernel that failed, only what was judged is shown
        let shown = problems.is_none() || !checked.blocks.is_empty();
        shown.then(|| Run { policy: policy.clone(), checked, folder })
    };
    let runs: Vec<Run> = policies.iter().zip(checked).enumerate().filter_map(of_policy).collect();
    ((!runs.is_empty()).then_some(Judged { prepared, runs }), problems)
}

/// Runs to which no gating bound applied, or that were not taken to their end, are an error.
fn require_verdict(all: &[Judged], ending: &mut Ending) {
    let mut missing = Vec::new();
    for judged in all {
        let kernel = &judged.prepared.kernel.workload.name;
        let runs = judged.runs.iter().map(|run| &run.checked);
        let without = |run: &&Checked| !run.is_complete() || run.verdict() == Status::NotApplicable;
        missing.extend(runs.filter(without).map(|run| format!("{kernel} under {}", run.scheduler)));
    }
    let message = match (missing.is_empty(), all.is_empty()) {
        (true, false) => return,
        (_, true) => "nothing was judged".to_owned(),
        (false, _) => format!("no verdict on {}", missing.join(", ")),
    };
    let problem = Diagnostic::general("--require-verdict", message);
    ending
        .late
        .push(problem.hint("the reasons stand beside the bounds; `--bound NAME` chooses which decide"));
}
