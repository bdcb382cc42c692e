//! A kernel or program of `check`: what its runs need, and their results.

use std::sync::{Mutex, PoisonError};

use crate::applications;
use crate::args::Check;
use crate::checkpoint::{self, Checkpoint, Identity, Opened};
use crate::commands::prepared::Prepared;
use crate::files::loader;
use crate::lists::{Lists, Setup};
use crate::load;
use crate::session::Session;
use warpbound_core::base::ProgressMonitor;
use warpbound_core::diag::{Diagnostic, Diagnostics};
use warpbound_core::machine::PolicyKind;
use warpbound_judge::check::{
    self, ApplicationProgress, JudgedLaunch, ProgressOf, RunOptions, judge_each, judge_from,
};
use warpbound_judge::load::{Loaded, LoadedApplication, LoadedKernel, Location, launch_of};

/// A kernel or program with the results of its runs.
pub struct Judged {
    pub what: Loaded,
    pub runs: Vec<Run>,
}

/// A run on a machine under a policy.
pub struct Run {
    pub setup: Setup,
    pub judged: check::JudgedApplication,
    /// The launch of a program that shows a violation by itself, if a folder is to hold it.
    pub witness: Option<Box<(LoadedKernel, JudgedLaunch)>>,
    /// The name of the folder for the counterexample, if one was requested and the run is violated.
    pub folder: Option<String>,
}

impl Run {
    /// Returns the result; for a program, that of the total.
    pub fn checked(&self) -> &JudgedLaunch {
        &self.judged.total
    }

    /// Returns whether a gating bound is exceeded.
    pub fn is_violated(&self) -> bool {
        self.checked().verdict().is_violated()
    }

    /// Returns the index of the first violated launch of a program.
    pub fn launch(&self) -> Option<u64> {
        self.judged.first_violation()
    }
}

impl Judged {
    /// Returns the kernel and the run of it that the folder holds.
    pub fn witness<'a>(&'a self, run: &'a Run) -> Option<(&'a LoadedKernel, &'a JudgedLaunch)> {
        match &self.what {
            Loaded::Kernel(kernel) => Some((kernel, run.checked())),
            Loaded::Application(_) => run.witness.as_ref().map(|of| (&of.0, &of.1)),
        }
    }
}

/// Reads a kernel or program of the command.
pub fn prepare(
    name: &str,
    location: Location,
    args: &Check,
    lists: &Lists,
    monitor: &ProgressMonitor,
) -> Result<Prepared, Diagnostics> {
    let what = loader().load_at(name, location, &args.ptx.options(args.common.seed), monitor)?;
    if let (Loaded::Application(program), true) = (&what, args.gantt) {
        return Err(applications::needs_one(program, "--gantt"));
    }
    let of_suite = [PolicyKind::Gto, PolicyKind::Lrr];
    let otherwise = if args.kernels.is_empty() { &of_suite[..] } else { &[] };
    Prepared::new(what, &args.common, lists, otherwise)
}

impl Prepared {
    /// Does the same as `run`, but starts from a checkpoint and keeps it up to date. The checkpoint
    /// is stored in `kept`.
    pub fn run_from_checkpoint(
        &self,
        options: &RunOptions,
        args: &Check,
        session: &Session,
        kept: &Mutex<Option<Checkpoint>>,
    ) -> Result<Vec<Vec<check::Run>>, Diagnostics> {
        let Some(path) = &args.checkpoint.checkpoint else { return Ok(self.run(options)) };
        let Loaded::Application(found) = &self.what else {
            return Err(checkpoint::of_one(path, "this is one kernel").into());
        };
        let application = &found.application;
        let (runs, checkpoint) = self.everywhere(|on| {
            let launch_options = (&args.common, &args.ptx);
            let of = ProgressOf { application, on, bounds: options.bounds };
            let identity = Identity::new("check", found, on, launch_options, &args.bound, args.self_check)?;
            let inputs = load::inputs_of_application(&args.common, found);
            let opened =
                Checkpoint::open(&args.checkpoint, args.writing.force, identity, &of, &inputs, session)?;
            let Some(Opened { mut checkpoint, from }) = opened else { return Ok((Vec::new(), None)) };
            let begun = from.map(|(begun, ())| begun);
            let mut keep =
                |reached: &ApplicationProgress, (): &()| checkpoint.keep(application, reached, &());
            let (runs, _) = judge_from(found.subject(), on, options, &mut (), begun, &mut keep);
            Ok::<_, Diagnostics>((runs, Some(checkpoint)))
        })?;
        *kept.lock().unwrap_or_else(PoisonError::into_inner) = checkpoint;
        Ok(runs)
    }

    /// Returns the results of the runs, which may be partial, and the errors. `folder` returns the
    /// name of the folder for the run with an index, if one was requested.
    pub fn judged(
        self,
        runs: Vec<Vec<check::Run>>,
        options: &RunOptions,
        folder: &dyn Fn(usize) -> Option<String>,
    ) -> (Option<Judged>, Diagnostics) {
        let Self { what, setups } = self;
        let mut problems = Diagnostics::new();
        let mut all = Vec::new();
        for (index, (setup, run)) in setups.into_iter().flatten().zip(runs.into_iter().flatten()).enumerate()
        {
            let failed = run.problems.is_some();
            let mut found = run.problems.map(|found| what.with_excerpts(found)).unwrap_or_default();
            let witness = match (&run.judged, &what) {
                (Some(judged), Loaded::Application(program)) => {
                    let wanted = judged.first_violation().filter(|_| folder(index).is_some());
                    wanted.and_then(|launch| witness(program, launch, &setup, options, &mut found))
                }
                _ => None,
            };
            // an error of the kernel occurs in each run
            found.list().iter().for_each(|problem| push_once(&mut problems, problem));
            let Some(judged) = run.judged else { continue };
            let run = Run { setup, judged, witness, folder: None };
            // only runs with judged blocks are shown for a kernel that failed
            if !failed || !run.checked().blocks.is_empty() {
                let folder = folder(index).filter(|_| run.is_violated());
                all.push(Run { folder, ..run });
            }
        }
        ((!all.is_empty()).then_some(Judged { what, runs: all }), problems)
    }
}

fn push_once(problems: &mut Diagnostics, problem: &Diagnostic) {
    if !problems.list().contains(problem) {
        problems.push(problem.clone());
    }
}

/// Returns the launch of a program that shows a violation, with memory as the launches before it
/// leave it.
fn witness(
    program: &LoadedApplication,
    launch: u64,
    setup: &Setup,
    options: &RunOptions,
    problems: &mut Diagnostics,
) -> Option<Box<(LoadedKernel, JudgedLaunch)>> {
    let kernel = match launch_of(program.clone(), launch) {
        Ok(kernel) => kernel,
        Err(wrong) => {
            problems.append(wrong);
            return None;
        }
    };
    let on = [(&setup.machine, std::slice::from_ref(&setup.policy))];
    let run = judge_each(check::Subject::Launch(&kernel.workload), &on, options).pop()?.pop()?;
    if let Some(wrong) = run.problems {
        problems.append(kernel.with_excerpts(wrong));
    }
    Some(Box::new((kernel, run.judged?.total)))
}
