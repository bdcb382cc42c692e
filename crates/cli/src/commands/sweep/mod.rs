//! `warpbound sweep`: simulates every point of a plan and writes a folder of results.

mod inputs;
mod planned;
mod recording;

use std::path::Path;

pub use planned::{Planned, RunParameters};
pub use recording::{CommandOptions, KernelDefaults};

use crate::args::Sweep;
use crate::commands::plot::WantedPlot;
use crate::files::results::Results;
use crate::files::{Outputs, loader};
use crate::format::Format;
use crate::output::{Ending, Outcome};
use crate::session::Session;
use warpbound_bound::Bound;
use warpbound_core::diag::Diagnostic;
use warpbound_judge::sweep::{Row, Summary};
use warpbound_report::output::{Batch, Output};
use warpbound_report::results::incomplete;
use warpbound_report::sweep::SweepResult;

/// Runs the command.
pub fn run(args: &Sweep, session: &Session) -> Outcome {
    let planned = Planned::read(&loader().find_plan(&args.plan)?)?;
    let Planned { points, bounds, .. } = &planned;
    // a file that is there may be one that the plan names
    let mut outputs = Outputs::that_are_new(&session.parts);
    let plots = args.plot.iter().map(|text| wanted_plot(text, &mut outputs));
    let mut plots = plots.collect::<Result<Vec<WantedPlot>, Diagnostic>>()?;
    plots.iter().try_for_each(|plot| plot.check(planned.columns.names(), &args.plan))?;
    let mut results = Results::open(&args.out, planned.manifest(args.shard), args.resume, &session.parts)?;
    session.keep(format!("the points that are done are in {}; --resume goes on", args.out.display()));
    let jobs = || (0..points.jobs()).filter(|job| args.shard.is_none_or(|shard| shard.has(*job)));
    let done = results.done(jobs().map(|job| points.numbers(&points.job(job))))?;
    let parameters = RunParameters { what: "sweeping", threads: args.jobs, self_check: false };
    let ended = planned.run(jobs().skip(done as usize), &parameters, session, |records| {
        let lines: String = records.iter().map(|record| record.json(&planned.columns)).collect();
        results.append(&lines)
    });
    if jobs().next().is_none() {
        tracing::warn!("no point of the plan is in this shard: at most {} shards have points", points.jobs());
    }
    let mut ending = Ending::default();
    if let Err(problem) = ended {
        ending.late.push(problem);
    }
    let about = About {
        command: "sweep",
        out: &args.out,
        wanted: jobs().map(|job| planned.size(job)).sum(),
        lacks: None,
        if_missing: "--resume goes on",
        format: args.format,
    };
    let (mut drawn, mut points) = (Ok(()), 0);
    let out = args.out.display().to_string();
    about.conclude(&results, bounds, session, &mut ending, |record| {
        points += 1;
        if drawn.is_ok() {
            drawn = plots.iter_mut().try_for_each(|plot| plot.add(record, &out));
        }
    });
    if let Some(note) = incomplete(points, results.manifest()) {
        plots.iter_mut().for_each(|plot| plot.data.note(note.clone()));
    }
    let drawn = drawn.and_then(|()| plots.into_iter().try_for_each(|plot| plot.write().map(drop)));
    if let Err(problem) = drawn {
        ending.late.push(problem);
    }
    Ok(ending)
}

/// Reads `FORMULA=FILE` and creates the file.
fn wanted_plot(text: &str, outputs: &mut Outputs) -> Result<WantedPlot, Diagnostic> {
    let Some((formula, file)) = text.rsplit_once('=').filter(|(_, file)| !file.trim().is_empty()) else {
        let problem = Diagnostic::general(format!("--plot {text}"), "no file is named");
        return Err(problem.hint("for example --plot 'cycles ~ mem_latency | policy=plot.svg'"));
    };
    WantedPlot::create(formula.trim(), Path::new(file.trim()), "--plot", outputs)
}

/// A folder of results and the command that wrote it.
pub struct About<'a> {
    pub command: &'static str,
    pub out: &'a Path,
    /// The number of points that belong in the folder.
    pub wanted: u64,
    /// What is missing because the command was stopped, although all points are complete.
    pub lacks: Option<&'static str>,
    /// The hint if points are missing.
    pub if_missing: &'static str,
    pub format: Format,
}

impl About<'_> {
    /// Writes the table and prints a summary of the results. Passes each record to `see`.
    pub fn conclude(
        &self,
        results: &Results,
        bounds: &[Box<dyn Bound>],
        session: &Session,
        ending: &mut Ending,
        mut see: impl FnMut(&Row<'_>),
    ) {
        // called first, because writing the table of all lines can take long
        session.conclude();
        let names: Vec<&str> = bounds.iter().map(|bound| bound.name()).collect();
        let mut summary = Summary::default();
        if let Err(problems) = results.finish(|record| {
            summary.add(record, &names);
            see(record);
        }) {
            ending.late.append(problems);
        }
        let out = self.out.display().to_string();
        let result = SweepResult::new(&out, results.manifest(), self.wanted, &summary, &names);
        let all = result.points == result.wanted;
        let lacks = self.lacks.filter(|_| all);
        let complete = all && lacks.is_none();
        let batch = Batch { complete, stopped: session.stopped().filter(|_| !complete), ..Batch::default() };
        ending.violated = summary.violated > 0;
        if summary.failed > 0 {
            let points = if summary.failed == 1 { "1 point" } else { &format!("{} points", summary.failed) };
            let problem = Diagnostic::general(out.clone(), format!("{points} failed"));
            ending.late.push(problem.hint("the summary lists the errors; the other results are valid"));
        }
        if let Some(lacks) = lacks {
            let message = format!("all points are there, but not {lacks}");
            ending.late.push(Diagnostic::general(out, message).hint(self.if_missing));
        } else if !complete {
            let missing = result.wanted - result.points;
            ending.late.push(
                Diagnostic::general(out, format!("{missing} points are missing")).hint(self.if_missing),
            );
        }
        ending.report(session, self.format, &Output::of_batch(self.command, None, vec![result], batch));
    }
}
