//! A kernel or program of `check`: what its runs need, and what came of them.

use crate::bound::Bound;
use crate::check::{Checked, Failed, Plan, SequenceChecked, SequenceFailed, check, observe_sequence};
use crate::cli::args::Check;
use crate::cli::assets::Location;
use crate::cli::load::{self, Loaded, LoadedKernel};
use crate::cli::policies;
use crate::cli::programs::LoadedProgram;
use crate::cli::session::Session;
use crate::diag::Diagnostics;
use crate::machine::{Machine, MachineSpec, SchedulerKind};
use crate::sim::PolicySetup;

/// A kernel or program with everything its runs need.
pub struct Prepared {
    pub what: Loaded,
    pub machine: Machine,
    pub spec: MachineSpec,
    pub policies: Vec<PolicySetup>,
}

/// The same with its runs.
pub struct Judged {
    pub prepared: Prepared,
    pub runs: Vec<Run>,
}

/// A run under one policy.
pub struct Run {
    pub policy: PolicySetup,
    pub result: Ran,
    /// The name of its counterexample's folder, if one is asked for and it is violated.
    pub folder: Option<String>,
}

/// What came of a run.
pub enum Ran {
    Kernel(Box<Checked>),
    /// Of a program; with the launch that shows a violation by itself, if a folder is to hold it.
    Program(Box<SequenceChecked>, Option<Box<(LoadedKernel, Checked)>>),
}

impl Run {
    /// The result; of a program the total.
    pub fn checked(&self) -> &Checked {
        match &self.result {
            Ran::Kernel(checked) => checked,
            Ran::Program(checked, _) => &checked.total,
        }
    }

    /// Whether a gating bound is exceeded.
    pub fn is_violated(&self) -> bool {
        self.checked().verdict().is_violated()
    }

    /// Of a violated program, the first launch that is.
    pub fn launch(&self) -> Option<u64> {
        match &self.result {
            Ran::Kernel(_) => None,
            Ran::Program(checked, _) => checked.first_violation(),
        }
    }
}

impl Judged {
    /// The kernel and the run of it that a folder holds.
    pub fn witness<'a>(&'a self, run: &'a Run) -> Option<(&'a LoadedKernel, &'a Checked)> {
        match (&self.prepared.what, &run.result) {
            (Loaded::Kernel(kernel), Ran::Kernel(checked)) => Some((kernel, checked)),
            (_, Ran::Program(_, witness)) => witness.as_ref().map(|of| (&of.0, &of.1)),
            (Loaded::Program(_), Ran::Kernel(_)) => None,
        }
    }
}

impl Prepared {
    /// Reads what was found under a name.
    pub fn new(name: &str, location: Location, args: &Check) -> Result<Self, Diagnostics> {
        let what = load::any_at(name, location, &args.ptx, args.common.seed)?;
        let (machine, spec, policies) = match &what {
            Loaded::Kernel(kernel) => {
                let (machine, spec) = load::machine(&args.common, kernel)?;
                let policies = if args.kernels.is_empty() && args.common.scheduler.is_none() {
                    vec![policies::setup(&SchedulerKind::Gto)?, policies::setup(&SchedulerKind::Lrr)?]
                } else {
                    vec![load::policy(&args.common, kernel, &machine)?]
                };
                (machine, spec, policies)
            }
            Loaded::Program(program) => {
                if args.gantt {
                    return Err(program.needs_one("--gantt"));
                }
                let (machine, spec) = load::machine_of_program(&args.common)?;
                let policy = program.policy(&machine)?;
                (machine, spec, vec![policy])
            }
        };
        Ok(Self { what, machine, spec, policies })
    }

    /// What reports call it.
    pub fn name(&self) -> &str {
        match &self.what {
            Loaded::Kernel(kernel) => &kernel.workload.name,
            Loaded::Program(program) => &program.name,
        }
    }

    /// As the command line named it.
    pub fn name_given(&self) -> &str {
        match &self.what {
            Loaded::Kernel(kernel) => &kernel.name_given,
            Loaded::Program(program) => &program.name_given,
        }
    }

    /// Blocks to simulate, where that is known.
    pub fn blocks(&self) -> Option<u64> {
        match &self.what {
            Loaded::Kernel(kernel) => Some(u64::from(kernel.workload.blocks()) * self.policies.len() as u64),
            Loaded::Program(_) => None,
        }
    }

    /// What came of it, as far as it came, and what went wrong. `folder` names the folder for a policy,
    /// if there is to be one.
    pub fn judge(
        self,
        args: &Check,
        bounds: &[Box<dyn Bound>],
        session: &Session,
        folder: &dyn Fn(usize) -> Option<String>,
    ) -> (Option<Judged>, Option<Diagnostics>) {
        let (results, problems) = match &self.what {
            Loaded::Kernel(kernel) => {
                let (runs, problems) = self.judge_kernel(kernel, &self.policies, args, bounds, session);
                (runs.into_iter().map(|checked| Ran::Kernel(Box::new(checked))).collect(), problems)
            }
            Loaded::Program(program) => {
                let (run, problems) = self.judge_program(program, args, bounds, session, folder(0).is_some());
                (Vec::from_iter(run), problems)
            }
        };
        let of_policy = |(index, (policy, result)): (usize, (&PolicySetup, Ran))| {
            let run = Run { policy: policy.clone(), result, folder: None };
            let folder = folder(index).filter(|_| run.is_violated());
            // of a kernel that failed, only what was judged is shown
            let shown = problems.is_none() || !run.checked().blocks.is_empty();
            shown.then_some(Run { folder, ..run })
        };
        let runs: Vec<Run> = self.policies.iter().zip(results).enumerate().filter_map(of_policy).collect();
        ((!runs.is_empty()).then_some(Judged { prepared: self, runs }), problems)
    }

    fn judge_kernel(
        &self,
        kernel: &LoadedKernel,
        policies: &[PolicySetup],
        args: &Check,
        bounds: &[Box<dyn Bound>],
        session: &Session,
    ) -> (Vec<Checked>, Option<Diagnostics>) {
        let judged = check(&Plan {
            workload: &kernel.workload,
            machine: &self.machine,
            policies,
            bounds,
            gating: &args.bound,
            max_instructions_per_block: args.common.fuel(),
            threads: args.common.threads(),
            ahead: args.common.runs_ahead(),
            self_check: args.self_check,
            race_memory: args.common.race_memory(),
            watch: &session.watch,
        });
        match judged {
            Ok(checked) => (checked, None),
            Err(Failed { problems, judged }) => (judged, Some(problems.with_excerpts(&kernel.code))),
        }
    }

    fn judge_program(
        &self,
        program: &LoadedProgram,
        args: &Check,
        bounds: &[Box<dyn Bound>],
        session: &Session,
        witness: bool,
    ) -> (Option<Ran>, Option<Diagnostics>) {
        let plan =
            program.plan(&self.machine, bounds, &args.bound, &args.common, args.self_check, &session.watch);
        let policy = &self.policies[0];
        let (judged, mut problems) = match observe_sequence(&plan, policy, &mut ()) {
            Ok((checked, _)) => (Some(Box::new(checked)), None),
            Err(SequenceFailed { problems, judged }) => (judged, Some(program.with_excerpts(problems))),
        };
        let Some(checked) = judged else { return (None, problems) };
        let launch = checked.first_violation().filter(|_| witness);
        // one launch shows it, in the memory that those before it leave
        let witness = launch.and_then(|launch| {
            let mut wrong = |found: Diagnostics| problems.get_or_insert_default().append(found);
            let kernel = load::launch_of(program.clone(), launch).map_err(&mut wrong).ok()?;
            let (mut runs, found) =
                self.judge_kernel(&kernel, std::slice::from_ref(policy), args, bounds, session);
            found.into_iter().for_each(wrong);
            Some(Box::new((kernel, runs.pop()?)))
        });
        (Some(Ran::Program(checked, witness)), problems)
    }
}
