//! A kernel or program of `check`: what its runs need, and their results.

use std::sync::{Mutex, PoisonError};

use crate::base::Watch;
use crate::check::{self, ApplicationChecked, Checked, Judging, Of, Reached, judge_application, judge_each};
use crate::cli::applications;
use crate::cli::args::Check;
use crate::cli::checkpoint::{self, Checkpoint, Identity, Opened};
use crate::cli::commands::sweep::Own;
use crate::cli::files::loader;
use crate::cli::lists::{Lists, Setup, policies_of};
use crate::cli::load;
use crate::cli::session::Session;
use crate::diag::{Diagnostic, Diagnostics};
use crate::load::{Loaded, LoadedApplication, LoadedKernel, Location, launch_of};
use crate::machine::{Machine, SchedulerKind};
use crate::sim::PolicySetup;

/// A kernel or program with everything that its runs need.
pub struct Prepared {
    pub what: Loaded,
    /// The runs, grouped by machine.
    pub setups: Vec<Vec<Setup>>,
}

/// A kernel or program with the results of its runs.
pub struct Judged {
    pub what: Loaded,
    pub runs: Vec<Run>,
}

/// A run on a machine under a policy.
pub struct Run {
    pub setup: Setup,
    pub result: Ran,
    /// The name of the folder for the counterexample, if one was requested and the run is violated.
    pub folder: Option<String>,
}

/// The result of a run.
pub enum Ran {
    Kernel(Box<Checked>),
    /// The result of an application and, if a folder is to hold it, a launch that shows a violation
    /// by itself.
    Application(Box<ApplicationChecked>, Option<Box<(LoadedKernel, Checked)>>),
}

impl Run {
    /// Returns the result; for a program, that of the total.
    pub fn checked(&self) -> &Checked {
        match &self.result {
            Ran::Kernel(checked) => checked,
            Ran::Application(checked, _) => &checked.total,
        }
    }

    /// Returns whether a gating bound is exceeded.
    pub fn is_violated(&self) -> bool {
        self.checked().verdict().is_violated()
    }

    /// Returns the index of the first violated launch of a program.
    pub fn launch(&self) -> Option<u64> {
        match &self.result {
            Ran::Kernel(_) => None,
            Ran::Application(checked, _) => checked.first_violation(),
        }
    }
}

impl Judged {
    /// Returns the kernel and the run of it that the folder holds.
    pub fn witness<'a>(&'a self, run: &'a Run) -> Option<(&'a LoadedKernel, &'a Checked)> {
        match (&self.what, &run.result) {
            (Loaded::Kernel(kernel), Ran::Kernel(checked)) => Some((kernel, checked)),
            (_, Ran::Application(_, witness)) => witness.as_ref().map(|of| (&of.0, &of.1)),
            (Loaded::Application(_), Ran::Kernel(_)) => None,
        }
    }
}

impl Prepared {
    /// Reads the kernel or program that was found under a name.
    pub fn new(
        name: &str,
        location: Location,
        args: &Check,
        lists: &Lists,
        watch: &Watch,
    ) -> Result<Self, Diagnostics> {
        let what = loader().load_at(name, location, &args.ptx.options(args.common.seed), watch)?;
        if let (Loaded::Application(program), true) = (&what, args.gantt) {
            return Err(applications::needs_one(program, "--gantt"));
        }
        let of_suite = [SchedulerKind::Gto, SchedulerKind::Lrr];
        let otherwise = if args.kernels.is_empty() { &of_suite[..] } else { &[] };
        let setups = lists.setups(&args.common, &what, otherwise)?;
        Ok(Self { what, setups })
    }

    /// Returns the number of blocks to simulate, if known.
    pub fn blocks(&self) -> Option<u64> {
        self.what.blocks(self.setups.iter().flatten().count())
    }

    /// Returns the defaults of the kernel, which apply where the command line states nothing.
    pub fn own(&self) -> Own {
        Own::of(&self.what, &self.setups)
    }

    /// Performs all runs.
    pub fn run(&self, judging: &Judging) -> Vec<check::Run> {
        self.everywhere(|on| judge_each(self.what.subject(), on, judging))
    }

    /// Does the same as `run` from a checkpoint that is kept up to date, which is stored in `kept`.
    pub fn run_from_checkpoint(
        &self,
        judging: &Judging,
        args: &Check,
        session: &Session,
        kept: &Mutex<Option<Checkpoint>>,
    ) -> Result<Vec<check::Run>, Diagnostics> {
        let Some(path) = &args.checkpoint.checkpoint else { return Ok(self.run(judging)) };
        let Loaded::Application(found) = &self.what else {
            return Err(checkpoint::of_one(path, "this is one kernel").into());
        };
        let application = &found.application;
        let mut opened = Ok(None);
        let runs = self.everywhere(|on| {
            let said = (&args.common, &args.ptx);
            let of = Of { application, on, bounds: judging.bounds };
            let identity = Identity::new("check", found, on, said, &args.bound, args.self_check);
            opened = identity.and_then(|identity| {
                let inputs = load::inputs_of_application(&args.common, found);
                Checkpoint::open(&args.checkpoint, args.writing.force, identity, &of, &inputs, session)
            });
            let Ok(Some(Opened { checkpoint, from })) = &mut opened else { return Vec::new() };
            let begun = from.take().map(|(begun, ())| begun);
            let mut keep = |reached: &Reached| checkpoint.keep(application, reached, &());
            judge_application(&found.name, application, on, judging, begun, &mut keep)
        });
        let checkpoint = opened?.map(|opened: Opened<()>| opened.checkpoint);
        *kept.lock().unwrap_or_else(PoisonError::into_inner) = checkpoint;
        Ok(runs)
    }

    /// Calls `judge` with every machine and the policies on it.
    fn everywhere(
        &self,
        judge: impl FnOnce(&[(&Machine, &[PolicySetup])]) -> Vec<Vec<check::Run>>,
    ) -> Vec<check::Run> {
        let policies = policies_of(&self.setups);
        let machines = self.setups.iter().filter_map(|runs| Some(&runs.first()?.machine));
        let on: Vec<_> = machines.zip(policies.iter().map(Vec::as_slice)).collect();
        judge(&on).into_iter().flatten().collect()
    }

    /// Returns the results of the runs, as far as they got, and the errors. `folder` returns the
    /// name of the folder for the run with an index, if one was requested.
    pub fn judged(
        self,
        runs: Vec<check::Run>,
        judging: &Judging,
        folder: &dyn Fn(usize) -> Option<String>,
    ) -> (Option<Judged>, Diagnostics) {
        let Self { what, setups } = self;
        let mut problems = Diagnostics::new();
        let mut all = Vec::new();
        for (index, (setup, run)) in setups.into_iter().flatten().zip(runs).enumerate() {
            let failed = run.problems.is_some();
            let mut found = run.problems.map(|found| what.with_excerpts(found)).unwrap_or_default();
            let result = match (run.judged, &what) {
                (None, _) => None,
                (Some(check::Judged::Launch(checked)), _) => Some(Ran::Kernel(checked)),
                (Some(check::Judged::Application(checked)), Loaded::Application(program)) => {
                    let wanted = checked.first_violation().filter(|_| folder(index).is_some());
                    let witness =
                        wanted.and_then(|launch| witness(program, launch, &setup, judging, &mut found));
                    Some(Ran::Application(checked, witness))
                }
                (Some(check::Judged::Application(checked)), Loaded::Kernel(_)) => {
                    Some(Ran::Application(checked, None))
                }
            };
            // an error of the kernel occurs in each run
            found.list().iter().for_each(|problem| push_once(&mut problems, problem));
            let Some(result) = result else { continue };
            let run = Run { setup, result, folder: None };
            // of a kernel that failed, only runs with judged blocks are shown
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
    judging: &Judging,
    problems: &mut Diagnostics,
) -> Option<Box<(LoadedKernel, Checked)>> {
    let kernel = match launch_of(program.clone(), launch) {
        Ok(kernel) => kernel,
        Err(wrong) => {
            problems.append(wrong);
            return None;
        }
    };
    let on = [(&setup.machine, std::slice::from_ref(&setup.policy))];
    let run = judge_each(check::Subject::Launch(&kernel.workload), &on, judging).pop()?.pop()?;
    if let Some(wrong) = run.problems {
        problems.append(wrong.with_excerpts(&kernel.code));
    }
    match run.judged? {
        check::Judged::Launch(checked) => Some(Box::new((kernel, *checked))),
        check::Judged::Application(_) => None,
    }
}
