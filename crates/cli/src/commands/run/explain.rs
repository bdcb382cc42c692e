//! A run with its critical path.

use crate::applications;
use crate::args::Run;
use crate::load;
use crate::session::Session;
use warpbound_core::base::Fnv1a;
use warpbound_core::diag::{Diagnostic, Diagnostics};
use warpbound_core::machine::Machine;
use warpbound_judge::check::{JudgedLaunch, Plan, observe};
use warpbound_judge::load::{Loaded, LoadedKernel, Sources};
use warpbound_report::explain::{About, Explained};
use warpbound_report::source_line::SourceLine;
use warpbound_trace::trace::UnitUse;
use warpbound_trace::why::{Explainer, Explanation, Unexplained};

/// The most links of the path that are kept, if they are to be shown.
pub const LINKS: usize = 200_000;

/// Returns the report of an explanation.
pub fn report(
    (kernel, sources): (&LoadedKernel, &Sources),
    machine: &Machine,
    checked: &JudgedLaunch,
    units: &UnitUse,
    found: &Explanation,
    (seed, with_path): (u64, bool),
) -> Explained {
    let program = kernel.workload.program();
    let mut digest = Fnv1a::default();
    digest.write(program.name.as_bytes());
    digest.write(&[0]);
    digest.write(kernel.code.text().as_bytes());
    let about = About {
        kernel: &kernel.workload.name,
        kernel_digest: digest.finish(),
        blocks: kernel.workload.blocks(),
        threads: kernel.workload.needs().threads,
        machine,
        checked,
        seed,
        units,
        place: &|pc| SourceLine::of(kernel, sources, pc),
        class: &|pc| program.classes.name(program.instr(pc).class),
    };
    Explained::new(&about, found, with_path)
}

/// Returns the error if there is no explanation.
pub fn problem(name: &str, why: Unexplained) -> Diagnostic {
    match why {
        Unexplained::Unfinished => {
            Diagnostic::general(name, "not explained, since the run did not come to its end")
        }
        Unexplained::TooLong { limit } => {
            let message = format!(
                "an SM issued more than {limit} instructions without being empty in between, and the search for the \
                 critical path keeps no more"
            );
            let hint = "take fewer blocks (--grid), or one resident block at a time (--set limits.blocks=1): then only the \
                        instructions of one block are kept";
            Diagnostic::general(name, message).hint(hint)
        }
    }
}

/// Runs a kernel only for its critical path. `given` is the run's name on the command line.
pub fn explain(args: &Run, given: &str, session: &Session) -> Result<Explained, Diagnostics> {
    let common = &args.on.common;
    let kernel = match load::any(&args.on.kernel, &args.on.ptx, common.seed, &session.monitor)? {
        Loaded::Kernel(kernel) => *kernel,
        Loaded::Application(program) => return Err(applications::takes_one(&program)),
    };
    let (machine, _) = load::machine(common, &kernel)?;
    let policy = load::policy(common, &kernel, &machine)?;
    let policies = std::slice::from_ref(&policy);
    let options = common.run_options(&session.monitor).race_memory(None);
    let plan = Plan { workload: &kernel.workload, machine: &machine, policies, options };
    session.progress.begin(&kernel.workload.name, Some(kernel.workload.blocks().into()), "blocks");
    let table = load::timing(&kernel, &machine)?;
    let mut observer = (UnitUse::new(machine.units().len()), Explainer::new(&table, &machine, 0));
    let checked = observe(&plan, &mut observer).map_err(|failed| kernel.with_excerpts(failed.problems))?;
    let (units, explainer) = observer;
    if !checked.is_complete() {
        let message = match session.stopped() {
            Some(reason) => format!("{}: there is nothing to compare", reason.text()),
            None => "the run did not come to its end: there is nothing to compare".to_owned(),
        };
        return Err(Diagnostic::general(given, message).into());
    }
    let found = explainer.finish(checked.makespan).map_err(|why| problem(given, why))?;
    Ok(report((&kernel, &kernel.sources()), &machine, &checked, &units, &found, (common.seed, false)))
}
