//! The folder of results that another command writes. It has the contents that a sweep over the
//! equivalent plan writes.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::planned::Planned;
use crate::args::{Common, PtxLaunch, Races};
use crate::files::results::Results;
use crate::lists::{Lists, Setup};
use crate::output::Ending;
use crate::resources::MAX_INSTRUCTIONS;
use crate::session::Session;
use warpbound_core::diag::{Diagnostic, Diagnostics};
use warpbound_core::machine::PolicyKind;
use warpbound_judge::check::Run;
use warpbound_judge::load::{DEFAULT_MACHINE, Loaded, which_and_value};
use warpbound_judge::sweep::{KernelSpec, Record, SweepSpec, ValueSpec, records};

/// A folder of results that is being written.
pub struct Recording {
    dir: PathBuf,
    planned: Planned,
    /// The digests of the machines, in the order of the plan.
    digests: Vec<u64>,
    written: Mutex<Written>,
}

struct Written {
    results: Results,
    /// The number of points that are complete.
    done: u64,
    /// Whether a record is missing or could not be written; later records would leave a gap.
    broken: bool,
}

/// The defaults of a kernel, which apply where the command line states nothing.
pub struct KernelDefaults {
    /// The name of the kernel.
    pub kernel: String,
    /// The machine that its file names.
    pub machine: Option<String>,
    /// Its policies on each machine.
    pub policies: Vec<Vec<String>>,
}

impl KernelDefaults {
    /// Returns the defaults of a kernel with these runs.
    pub fn of(what: &Loaded, setups: &[Vec<Setup>]) -> Self {
        let words = |runs: &Vec<Setup>| runs.iter().map(|run| run.policy.kind().to_string()).collect();
        Self {
            kernel: what.name_given().to_owned(),
            machine: what.own_machine().map(str::to_owned),
            policies: setups.iter().map(words).collect(),
        }
    }
}

/// The options of a command line, except for the lists of machines and policies.
pub struct CommandOptions<'a> {
    pub command: &'static str,
    /// The kernels as the command line names them; empty for the suite.
    pub kernels: &'a [String],
    pub common: &'a Common,
    pub launch: &'a PtxLaunch,
    pub bounds: &'a [String],
}

impl CommandOptions<'_> {
    /// Opens the folder of results, if one is requested. `kernels` returns the defaults of the
    /// kernels.
    pub fn recording(
        &self,
        out: Option<&Path>,
        lists: &Lists,
        (session, resume): (&Session, bool),
        kernels: impl FnOnce() -> Vec<KernelDefaults>,
    ) -> Result<Option<Recording>, Diagnostics> {
        let Some(dir) = out else { return Ok(None) };
        let kernels = kernels();
        let mut problems = Diagnostics::new();
        let mut refuse = |message: String, hint: String| {
            problems.push(Diagnostic::general("--out", message).hint(hint));
        };
        let machines = lists.machines().map_or_else(|| vec![DEFAULT_MACHINE.to_owned()], <[String]>::to_vec);
        if lists.machines().is_none() {
            for KernelDefaults { kernel, machine, .. } in &kernels {
                if let Some(machine) = machine {
                    let message =
                        format!("all kernels run on the same machines, but `{kernel}` names `{machine}`");
                    refuse(message, format!("name the machine, for example --machine {machine}"));
                }
            }
        }
        let mut of_kernels = kernels.iter().flat_map(|own| &own.policies);
        let policies = match (lists.policies(), of_kernels.next()) {
            (Some(policies), _) => policies.to_vec(),
            (None, first) => {
                if of_kernels.any(|other| Some(other) != first) {
                    let message = "all kernels run under the same policies, but these kernels or machines name different ones";
                    refuse(message.to_owned(), "name them, for example --policy gto,lrr".to_owned());
                }
                // errors of kernels that cannot be read are reported with the plan
                first.cloned().unwrap_or_else(|| vec![PolicyKind::Gto.to_string()])
            }
        };
        problems.into_result(())?;
        Recording::open(self.command, dir, self.plan(machines, policies)?, session, resume).map(Some)
    }

    /// Returns the equivalent plan.
    pub fn plan(&self, machines: Vec<String>, policies: Vec<String>) -> Result<SweepSpec, Diagnostics> {
        let options = launch_options(self.launch)?;
        let kernel = |name: &String| match options.is_empty() {
            true => KernelSpec::Kernel(name.clone()),
            false => KernelSpec::Vary(name.clone(), options.clone()),
        };
        let Common { mem_latency, set, seed, max_instructions, races, .. } = self.common;
        let mut settings: Vec<(String, Vec<ValueSpec>)> = Vec::new();
        if let Some(latency) = mem_latency {
            settings.push(("mem_latency".to_owned(), vec![ValueSpec::Text(latency.to_string())]));
        }
        for setting in set {
            let (path, value) = setting.split_once('=').unwrap_or((setting, ""));
            // the last setting of a path overrides the others
            settings.retain(|(known, _)| known != path.trim());
            settings.push((path.trim().to_owned(), vec![ValueSpec::Text(value.trim().to_owned())]));
        }
        Ok(SweepSpec {
            doc: String::new(),
            kernels: match self.kernels {
                [] => vec![KernelSpec::Suite],
                kernels => kernels.iter().map(kernel).collect(),
            },
            seeds: vec![*seed],
            draws: None,
            machines,
            settings,
            policies,
            bounds: self.bounds.to_vec(),
            max_instructions: (*max_instructions != MAX_INSTRUCTIONS).then_some(*max_instructions),
            races: *races == Races::Report,
        })
    }
}

/// Returns the options of a launch in the form of plans.
fn launch_options(launch: &PtxLaunch) -> Result<Vec<(String, Vec<ValueSpec>)>, Diagnostics> {
    let mut options = Vec::new();
    let mut problems = Diagnostics::new();
    for pair in launch.words().chunks_exact(2) {
        let (option, value) = (pair[0].trim_start_matches("--"), pair[1].as_str());
        let (name, value) = match option {
            "let" => match value.split_once('=') {
                Some((name, value)) => (format!("let {}", name.trim()), value),
                None => ("let".to_owned(), value),
            },
            "arg" => match which_and_value(value) {
                Some((which, value)) => (format!("arg {which}"), value),
                None => {
                    let problem = Diagnostic::general(
                        format!("--arg {value}"),
                        "the results are written with a plan, and an argument in a plan needs WHICH=",
                    );
                    problems.push(problem.hint(
                        "write WHICH=ARG, or a launch file: `warpbound inspect FILE --template` prints a template",
                    ));
                    continue;
                }
            },
            option => (option.to_owned(), value),
        };
        options.push((name, vec![ValueSpec::Text(value.to_owned())]));
    }
    if launch.conservative_predicates {
        options.push(("conservative-predicates".to_owned(), vec![ValueSpec::Text("true".to_owned())]));
    }
    problems.into_result(options)
}

impl Recording {
    /// Opens the folder, after finding and reading everything that the plan names. With `resume`,
    /// existing results of the same plan are discarded; the command computes all of them again.
    fn open(
        command: &'static str,
        dir: &Path,
        spec: SweepSpec,
        session: &Session,
        resume: bool,
    ) -> Result<Self, Diagnostics> {
        let planned = Planned::of_command(spec, &format!("warpbound {command}"))?;
        let digests = planned.digests()?;
        let mut results =
            Results::open(dir, planned.manifest(None), resume, &session.parts).map_err(|problem| {
                let taken = problem.message.contains("has results");
                if taken { problem.hint("choose another folder") } else { problem }
            })?;
        results.done(std::iter::empty())?;
        let written = Mutex::new(Written { results, done: 0, broken: false });
        Ok(Self { dir: dir.to_owned(), planned, digests, written })
    }

    /// Returns the records of the runs of a kernel, grouped by machine. The kernel is given by its
    /// index.
    pub fn of_kernel(&self, kernel: usize, runs: &[Vec<Run>]) -> Vec<Record> {
        let policies = self.planned.points.policies().len();
        let digests = self.digests.iter().flat_map(|digest| std::iter::repeat_n(*digest, policies));
        let first = kernel as u64 * (self.digests.len() * policies) as u64;
        records(&self.planned.points, first, &self.planned.columns, digests.zip(runs.iter().flatten()))
    }

    /// Returns the records of a kernel without any run.
    pub fn of_failed(&self, kernel: usize, problems: &Diagnostics) -> Vec<Record> {
        let of_machine = vec![Run::failed(problems.clone()); self.planned.points.policies().len()];
        let runs = vec![of_machine; self.digests.len()];
        self.of_kernel(kernel, &runs)
    }

    /// Appends the records of the next kernel; `None` means that it did not complete.
    pub fn append(&self, records: Option<Vec<Record>>, ending: &mut Ending) {
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(records) = records.filter(|_| !written.broken) else {
            written.broken = true;
            return;
        };
        let lines: String = records.iter().map(|record| record.json(&self.planned.columns)).collect();
        match written.results.append(&lines) {
            Ok(()) => written.done += records.len() as u64,
            Err(problem) => {
                ending.late.push(problem);
                written.broken = true;
            }
        }
    }

    /// Writes the table, and reports what is missing.
    pub fn conclude(self, ending: &mut Ending) {
        let written = self.written.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Err(problems) = written.results.finish(|_| {}) {
            ending.late.append(problems);
        }
        let missing = self.planned.points.len() - written.done;
        if missing > 0 {
            let problem =
                Diagnostic::general(self.dir.display().to_string(), format!("{missing} points are missing"));
            ending.late.push(
                problem.hint("`warpbound sweep` with the plan in its manifest.json and --resume goes on"),
            );
        }
    }
}
