//! `warpbound sweep`: every point of a plan, into a folder of results.

mod inputs;

use std::path::Path;

use inputs::Found;

use crate::bound::{self, Bound};
use crate::cli::args::Sweep;
use crate::cli::assets;
use crate::cli::files::results::Results;
use crate::cli::format::Format;
use crate::cli::output::{Ending, Outcome};
use crate::cli::resources;
use crate::cli::session::Session;
use crate::diag::{Diagnostic, to_ron};
use crate::report::output::{Batch, Output, TOOL_VERSION};
use crate::report::sweep::SweepResult;
use crate::sweep::{Columns, FORMAT, Judging, Manifest, Points, Summary, SweepSpec, in_order, run_job};

/// Memory of the watch for races in each thread, bytes.
const RACE_MEMORY: usize = 512 << 20;

/// Runs the command.
pub fn run(args: &Sweep, session: &Session) -> Outcome {
    let bounds = bound::all();
    let location = assets::find_plan(&args.plan)?;
    let source = location.text()?;
    let spec = SweepSpec::parse(&source)?;
    let (points, mut problems) = Points::new(&spec, &source, &super::check::suite_kernels()?, &bounds);
    let plan = to_ron(&location.shown(), &spec, ron::extensions::Extensions::empty())?;
    let found = Found::new(&points, &location, &source, &plan);
    let found = found.map_err(|wrong| problems.append(wrong)).ok();
    let found = problems.into_result(found)?.expect("what was not found is a problem");
    let columns = Columns::new(&points, &bounds);
    let manifest = Manifest {
        format: FORMAT,
        tool_version: TOOL_VERSION.to_owned(),
        plan_digest: found.digest(),
        points: points.len(),
        shard: args.shard,
        seeds: points.seeds().to_vec(),
        columns: columns.names().to_vec(),
        plan: plan.clone(),
    };
    let mut results = Results::open(&args.out, manifest.clone(), args.resume, &session.parts)?;
    let jobs = || (0..points.jobs()).filter(|job| args.shard.is_none_or(|shard| shard.has(*job)));
    let done = results.done(jobs().map(|job| points.numbers(&points.job(job))))?;
    let size = |job| {
        let numbers = points.numbers(&points.job(job));
        numbers.end - numbers.start
    };
    let to_do: u64 = jobs().skip(done as usize).map(size).sum();
    session.progress.begin("sweeping", Some(to_do), "points");
    // points are counted, not blocks
    let watch = session.watch.beside();
    let judging = Judging {
        bounds: &bounds,
        gating: &spec.bounds,
        max_instructions_per_block: resources::fuel(
            spec.max_instructions.unwrap_or(resources::MAX_INSTRUCTIONS),
        ),
        race_memory: spec.races.then_some(RACE_MEMORY),
        watch: &watch,
    };
    let work = |job| {
        let records = run_job(&points, &points.job(job), &columns, &found, &judging)?;
        let mut lines = String::new();
        records.iter().for_each(|record| lines.push_str(&record.json(&columns)));
        Some((records.len() as u64, lines))
    };
    // nobody begins a job that nobody wants any more
    let wanted = jobs().skip(done as usize).take_while(|_| !session.watch.is_stopped());
    let threads = args.jobs.unwrap_or_else(resources::threads);
    let ended = in_order(wanted, threads, work, |job| match job {
        Some((points, lines)) => {
            results.append(&lines).map_err(Some)?;
            session.watch.advance(points);
            Ok(())
        }
        // later ones would leave a gap
        None => Err(None),
    });
    let mut ending = Ending::default();
    if let Err(Some(problem)) = ended {
        ending.late.push(problem);
    }
    let (manifest, wanted) = (&manifest, jobs().map(size).sum());
    let about = About { command: "sweep", out: &args.out, manifest, wanted, format: args.format };
    about.conclude(&results, &bounds, session, &mut ending);
    Ok(ending)
}

/// A folder of results and the command that wrote it.
pub struct About<'a> {
    pub command: &'static str,
    pub out: &'a Path,
    pub manifest: &'a Manifest,
    /// How many points are to be there.
    pub wanted: u64,
    pub format: Format,
}

impl About<'_> {
    /// Writes the table, and says what the results show as a whole.
    pub fn conclude(
        &self,
        results: &Results,
        bounds: &[Box<dyn Bound>],
        session: &Session,
        ending: &mut Ending,
    ) {
        let names: Vec<&str> = bounds.iter().map(|bound| bound.name()).collect();
        let mut summary = Summary::default();
        if let Err(problems) = results.finish(|record| summary.add(record, &names)) {
            ending.late.append(problems);
        }
        let out = self.out.display().to_string();
        let result = SweepResult::new(&out, self.manifest, self.wanted, &summary, &names);
        let complete = result.points == result.wanted;
        let batch = Batch { complete, stopped: session.stopped().filter(|_| !complete), ..Batch::default() };
        ending.violated = summary.violated > 0;
        if !complete {
            let missing = result.wanted - result.points;
            let hint = match self.command {
                "sweep" => "--resume goes on",
                _ => "merge again when the shards are complete",
            };
            ending.late.push(Diagnostic::general(out, format!("{missing} points are missing")).hint(hint));
        }
        ending.report(session, self.format, &Output::of_batch(self.command, None, vec![result], batch));
    }
}
