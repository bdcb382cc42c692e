//! A validated plan, and the execution of its jobs.

use super::inputs::Found;
use crate::files::loader;
use crate::resources;
use crate::session::Session;
use crate::suite::suite_kernels;
use warpbound_bound::{self as bound, Bound};
use warpbound_core::base::{Fnv1a, in_order};
use warpbound_core::diag::{Diagnostic, Diagnostics, SourceText, to_ron};
use warpbound_judge::check::RunOptions;
use warpbound_judge::load::Location;
use warpbound_judge::sweep::{
    Columns, FORMAT, Input, Inputs, Manifest, Points, Record, Shard, SweepSpec, run_job,
};
use warpbound_report::output::TOOL_VERSION;

/// The memory for race detection in each thread, in bytes.
const RACE_MEMORY: usize = 512 << 20;

/// The most threads; more do not help on any machine that we know.
const MAX_THREADS: usize = 1024;

/// A plan with everything that it names.
pub struct Planned {
    pub points: Points,
    pub bounds: Vec<Box<dyn Bound>>,
    pub columns: Columns,
    /// The text of the plan, without comments and defaults.
    pub text: String,
    spec: SweepSpec,
    found: Found,
}

/// The parameters for running jobs.
pub struct RunParameters {
    /// The label of the progress display.
    pub what: &'static str,
    /// The number of threads; `None` for all cores.
    pub threads: Option<usize>,
    /// Whether analyser and simulator are compared on every warp alone; a difference is an error of
    /// the point.
    pub self_check: bool,
}

impl Planned {
    /// Reads a plan and everything it names.
    pub fn read(location: &Location) -> Result<Self, Diagnostics> {
        let source = location.text()?;
        let spec = SweepSpec::parse(&source)?;
        Self::new(spec, location, &source)
    }

    /// Returns the plan that is equivalent to a command line. Its file names are relative to the
    /// working directory.
    pub fn of_command(spec: SweepSpec, command: &str) -> Result<Self, Diagnostics> {
        let location = loader().file(command);
        let text = to_ron(command, &spec, ron::extensions::Extensions::empty())?;
        Self::new(spec, &location, &SourceText::new(command, text))
    }

    fn new(spec: SweepSpec, location: &Location, source: &SourceText) -> Result<Self, Diagnostics> {
        let bounds = bound::all();
        let (points, mut problems) = Points::new(&spec, source, &suite_kernels()?, &bounds);
        let text = to_ron(&location.shown(), &spec, ron::extensions::Extensions::empty())?;
        let found = Found::new(&points, location, source, &text);
        let found = found.map_err(|wrong| problems.append(wrong)).ok();
        let found = problems.into_result(found)?.expect("what was not found is a problem");
        let columns = Columns::new(&points, &bounds);
        Ok(Self { points, bounds, columns, text, spec, found })
    }

    /// Returns the manifest for the results of this plan or of a shard.
    pub fn manifest(&self, shard: Option<Shard>) -> Manifest {
        let inputs = self.found.inputs();
        let mut digest = Fnv1a::default();
        for Input { name, digest: of_input } in &inputs {
            digest.write(name.as_bytes());
            digest.write(of_input.as_bytes());
        }
        Manifest {
            format: FORMAT,
            tool_version: TOOL_VERSION.to_owned(),
            plan_digest: format!("{:016x}", digest.finish()),
            inputs,
            points: self.points.len(),
            shard,
            seeds: self.points.seeds().to_vec(),
            columns: self.columns.names().to_vec(),
            plan: self.text.clone(),
        }
    }

    /// Returns the digests of the machines with their settings.
    pub fn digests(&self) -> Result<Vec<u64>, Diagnostics> {
        let of_launch = 0..self.points.len() / self.points.launches();
        let first = of_launch.step_by(self.points.policies().len());
        let digest = |number| self.found.machine(&self.points.point(number)).map(|machine| machine.digest());
        first.map(digest).collect()
    }

    /// Returns the number of points of a job.
    pub fn size(&self, job: u64) -> u64 {
        let numbers = self.points.numbers(&self.points.job(job));
        numbers.end - numbers.start
    }

    /// Runs these jobs and passes their records on in order, until the command is stopped.
    pub fn run(
        &self,
        jobs: impl Iterator<Item = u64> + Clone,
        parameters: &RunParameters,
        session: &Session,
        mut sink: impl FnMut(&[Record]) -> Result<(), Diagnostic>,
    ) -> Result<(), Diagnostic> {
        session.progress.begin(parameters.what, Some(jobs.clone().map(|job| self.size(job)).sum()), "points");
        // progress counts points, not blocks
        let monitor = session.monitor.beside();
        let most = self.spec.max_instructions.unwrap_or(resources::MAX_INSTRUCTIONS);
        let options = RunOptions::new(resources::fuel(most), &monitor)
            .judged_by(&self.bounds, &self.spec.bounds)
            .race_memory(self.spec.races.then_some(RACE_MEMORY))
            .self_check(parameters.self_check);
        let work = |job| run_job(&self.points, &self.points.job(job), &self.columns, &self.found, &options);
        // no further job is started after a stop request
        let wanted = jobs.take_while(|_| !session.monitor.is_stopped());
        let threads = parameters.threads.unwrap_or_else(resources::threads).clamp(1, MAX_THREADS);
        let ended = in_order(wanted, threads, work, |records| match records {
            Some(records) => {
                sink(&records).map_err(Some)?;
                session.monitor.advance(records.len() as u64);
                Ok(())
            }
            // later records would leave a gap
            None => Err(None),
        });
        match ended {
            Err(Some(problem)) => Err(problem),
            Err(None) | Ok(()) => Ok(()),
        }
    }
}
