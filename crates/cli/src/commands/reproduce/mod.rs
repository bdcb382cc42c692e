//! `warpbound reproduce`: reproduces tables and figures of papers beside the published numbers.

mod betts;
mod diagxtrm;
mod figures;
mod pastis;
mod stacks;
mod tables;

use figures::OfFermi;

use crate::args::{Reproduce, What};
use crate::failures::Failures;
use crate::output::{Ending, Outcome};
use crate::session::Session;
use warpbound_core::diag::{Diagnostic, Diagnostics, closest};
use warpbound_report::output::{Batch, Output};
use warpbound_report::reproduce::pastis::stacks::Drawn;
use warpbound_report::reproduce::{Paper, Reproduced, Reproducible};

/// The name for everything that does not take minutes.
const ALL: &str = "all";

/// The outcome of one table or figure.
struct Done {
    result: Reproduced,
    batch: Batch,
    violated: bool,
    failures: Failures,
}

impl Done {
    /// Returns the outcome of a result without errors.
    fn new(result: Reproduced) -> Self {
        Self { result, batch: Batch::default(), violated: false, failures: Failures::default() }
    }
}

/// Runs the command.
pub fn run(args: &Reproduce, session: &Session) -> Outcome {
    let mut ending = Ending::default();
    let Some(name) = &args.what else {
        let all = What::ALL.into_iter().map(|what| Reproduced::Listed(listed(what))).collect();
        ending.report(session, args.format, &Output::new("reproduce", None, all));
        return Ok(ending);
    };
    let quick = What::ALL.into_iter().filter(|what| !what.takes_minutes());
    let wanted = if name == ALL { quick.collect() } else { vec![named(name)?] };
    if let (Some(runs), false) = (args.runs, wanted.iter().any(|what| what.has_runs())) {
        let problem =
            Diagnostic::general(format!("--runs {runs}"), format!("`{name}` has no number of runs"));
        let with: Vec<&str> = What::ALL.into_iter().filter(|what| what.has_runs()).map(What::name).collect();
        return Err(problem.hint(format!("the option is for {}", with.join(" and "))).into());
    }
    if let (Some(dir), false) = (&args.svg, wanted.contains(&What::Diagxtrm)) {
        let problem = Diagnostic::general(
            format!("--svg {}", dir.display()),
            format!("`{name}` has no plots to write as files"),
        );
        return Err(problem.hint("the option is for diagxtrm").into());
    }
    if let (Some(compiler), true) = (&args.compiler, wanted.iter().any(|what| !what.is_of_a_plan())) {
        let plans: Vec<&str> =
            What::ALL.into_iter().filter(|what| what.is_of_a_plan()).map(What::name).collect();
        let problem =
            Diagnostic::general(format!("--compiler {compiler}"), format!("`{name}` takes no compiler"));
        return Err(problem.hint(format!("it chooses the PTX of {}", plans.join(", "))).into());
    }
    let mut batch = Batch::default();
    let mut results = Vec::new();
    for (index, what) in wanted.iter().enumerate() {
        if session.monitor.is_stopped() {
            let left = wanted[index..].iter().map(|what| what.name().to_owned()).collect();
            batch = Batch { complete: false, stopped: session.stopped(), not_reached: left, ..batch };
            break;
        }
        let done = reproduced(*what, args, session)?;
        ending.violated |= done.violated;
        results.push(done.result);
        ending.failures = done.failures;
        if !done.batch.complete {
            batch = done.batch;
            // the errors of a table are reported with that table alone
            if wanted.len() > 1 && !ending.failures.is_empty() {
                break;
            }
        }
    }
    ending.report(session, args.format, &Output::of_batch("reproduce", None, results, batch));
    Ok(ending)
}

fn reproduced(what: What, args: &Reproduce, session: &Session) -> Result<Done, Diagnostics> {
    match what {
        What::Table2 => tables::table2(args, session),
        What::Table3 => tables::of_plan(Paper::Table3, args, session),
        What::Table3Calls => tables::of_plan(Paper::Table3Calls, args, session),
        What::Table4 => tables::of_plan(Paper::Table4, args, session),
        What::Fig2 => figures::fig2(),
        What::Fig3 => figures::fig3(),
        What::Fig4 => figures::fig4(session),
        What::Fermi => Ok(figures::of_fermi(OfFermi::Formula, session)),
        What::FermiFig3 => Ok(figures::of_fermi(OfFermi::Fig3, session)),
        What::FermiFig4 => Ok(figures::of_fermi(OfFermi::Fig4, session)),
        What::PastisFig5 => stacks::figure(Drawn::Fig5, session),
        What::PastisFig6 => stacks::figure(Drawn::Fig6, session),
        What::PastisFig7 => stacks::figure(Drawn::Fig7, session),
        What::Pastis => pastis::section(session),
        What::Betts => betts::table(args, session),
        What::Diagxtrm => diagxtrm::table(args, session),
        What::FermiFig5 => Ok(figures::of_fermi(OfFermi::Fig5, session)),
    }
}

fn listed(what: What) -> Reproducible {
    let (shown, paper, about) = what.about();
    Reproducible { name: what.name().to_owned(), what: shown, paper, about }
}

fn named(name: &str) -> Result<What, Diagnostics> {
    if let Some(known) = What::ALL.into_iter().find(|known| known.name() == name) {
        return Ok(known);
    }
    let near = closest(name, What::ALL.into_iter().map(What::name).chain([ALL]));
    let near = near.map_or(String::new(), |near| format!("did you mean `{near}`? "));
    let line = |what: What| {
        let (shown, paper, _) = what.about();
        format!("{} ({shown}, {paper})", what.name())
    };
    let known: Vec<String> = What::ALL.into_iter().map(line).collect();
    Err(Diagnostic::general(name, "there is nothing of this name to reproduce")
        .hint(format!("{near}there are {}, and {ALL}", known.join(", ")))
        .into())
}
