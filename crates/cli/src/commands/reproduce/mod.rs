//! `warpbound reproduce`: reproduces tables and figures of papers beside the published numbers.

mod betts;
mod diagxtrm;
mod figures;
mod pastis;
mod stacks;
mod tables;

use figures::FermiItem;

use crate::args::{PaperItem, Reproduce};
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
        let all = PaperItem::ALL.into_iter().map(|item| Reproduced::Listed(listed(item))).collect();
        ending.report(session, args.format, &Output::new("reproduce", None, all));
        return Ok(ending);
    };
    let quick = PaperItem::ALL.into_iter().filter(|item| !item.takes_minutes());
    let wanted = if name == ALL { quick.collect() } else { vec![named(name)?] };
    if let (Some(runs), false) = (args.runs, wanted.iter().any(|item| item.has_runs())) {
        let problem =
            Diagnostic::general(format!("--runs {runs}"), format!("`{name}` has no number of runs"));
        let with: Vec<&str> =
            PaperItem::ALL.into_iter().filter(|item| item.has_runs()).map(PaperItem::name).collect();
        return Err(problem.hint(format!("the option is for {}", with.join(" and "))).into());
    }
    if let (Some(dir), false) = (&args.svg, wanted.contains(&PaperItem::Diagxtrm)) {
        let problem = Diagnostic::general(
            format!("--svg {}", dir.display()),
            format!("`{name}` has no plots to write as files"),
        );
        return Err(problem.hint("the option is for diagxtrm").into());
    }
    if let (Some(compiler), true) = (&args.compiler, wanted.iter().any(|item| !item.uses_plan())) {
        let plans: Vec<&str> =
            PaperItem::ALL.into_iter().filter(|item| item.uses_plan()).map(PaperItem::name).collect();
        let problem =
            Diagnostic::general(format!("--compiler {compiler}"), format!("`{name}` takes no compiler"));
        return Err(problem.hint(format!("it chooses the PTX of {}", plans.join(", "))).into());
    }
    let mut batch = Batch::default();
    let mut results = Vec::new();
    for (index, item) in wanted.iter().enumerate() {
        if session.monitor.is_stopped() {
            let left = wanted[index..].iter().map(|item| item.name().to_owned()).collect();
            batch = Batch { complete: false, stopped: session.stopped(), not_reached: left, ..batch };
            break;
        }
        let done = reproduced(*item, args, session)?;
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

fn reproduced(item: PaperItem, args: &Reproduce, session: &Session) -> Result<Done, Diagnostics> {
    match item {
        PaperItem::Table2 => tables::table2(args, session),
        PaperItem::Table3 => tables::of_plan(Paper::Table3, args, session),
        PaperItem::Table3Calls => tables::of_plan(Paper::Table3Calls, args, session),
        PaperItem::Table4 => tables::of_plan(Paper::Table4, args, session),
        PaperItem::Fig2 => figures::fig2(),
        PaperItem::Fig3 => figures::fig3(),
        PaperItem::Fig4 => figures::fig4(session),
        PaperItem::Fermi => Ok(figures::fermi_item(FermiItem::Formula, session)),
        PaperItem::FermiFig3 => Ok(figures::fermi_item(FermiItem::Fig3, session)),
        PaperItem::FermiFig4 => Ok(figures::fermi_item(FermiItem::Fig4, session)),
        PaperItem::PastisFig5 => stacks::figure(Drawn::Fig5, session),
        PaperItem::PastisFig6 => stacks::figure(Drawn::Fig6, session),
        PaperItem::PastisFig7 => stacks::figure(Drawn::Fig7, session),
        PaperItem::Pastis => pastis::section(session),
        PaperItem::Betts => betts::table(args, session),
        PaperItem::Diagxtrm => diagxtrm::table(args, session),
        PaperItem::FermiFig5 => Ok(figures::fermi_item(FermiItem::Fig5, session)),
    }
}

fn listed(item: PaperItem) -> Reproducible {
    let (shown, paper, about) = item.about();
    Reproducible { name: item.name().to_owned(), what: shown, paper, about }
}

fn named(name: &str) -> Result<PaperItem, Diagnostics> {
    if let Some(known) = PaperItem::ALL.into_iter().find(|known| known.name() == name) {
        return Ok(known);
    }
    let near = closest(name, PaperItem::ALL.into_iter().map(PaperItem::name).chain([ALL]));
    let near = near.map_or(String::new(), |near| format!("did you mean `{near}`? "));
    let line = |item: PaperItem| {
        let (shown, paper, _) = item.about();
        format!("{} ({shown}, {paper})", item.name())
    };
    let known: Vec<String> = PaperItem::ALL.into_iter().map(line).collect();
    Err(Diagnostic::general(name, "there is nothing of this name to reproduce")
        .hint(format!("{near}there are {}, and {ALL}", known.join(", ")))
        .into())
}
