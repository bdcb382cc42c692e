//! Runs with random variation, simulated as a sweep.

use std::path::PathBuf;

use crate::args::Pwcet;
use crate::commands::sweep::{About, CommandOptions, Planned, RunParameters};
use crate::files::results::Results;
use crate::load;
use crate::measurements::Measurements;
use crate::output::Ending;
use crate::session::Session;
use warpbound_bound::Standing;
use warpbound_core::base::ProgressMonitor;
use warpbound_core::diag::{Diagnostic, Diagnostics};
use warpbound_core::machine::{Machine, MachineSpec, PolicyKind};
use warpbound_core::program::launch::Buffer;
use warpbound_judge::load::{DEFAULT_MACHINE, FROM_STDIN, Loaded};
use warpbound_judge::sweep::{Columns, Draws, Record, Source};
use warpbound_report::output::Origin;
use warpbound_report::pwcet::Measured;

/// The runs of a kernel.
pub struct Campaign {
    planned: Planned,
    draws: Draws,
    machine: Machine,
    policy: PolicyKind,
    kernel: String,
    inputs: Vec<PathBuf>,
}

/// The outcome of a campaign.
pub enum Simulated {
    /// One shard of the runs has been written to a folder.
    Part(Ending),
    /// All runs have been simulated.
    All {
        /// The description of the runs.
        measured: Measured,
        /// The makespans in cycles, in the order of the runs.
        makespans: Vec<u64>,
    },
}

impl Campaign {
    /// Prepares the campaign of a command line: `runs` runs, of which the first has the number
    /// `from`.
    pub fn new(args: &Pwcet, from: u64, runs: u64, monitor: &ProgressMonitor) -> Result<Self, Diagnostics> {
        if args.what == FROM_STDIN {
            let problem = Diagnostic::general("-", "a campaign reads its kernel again for each run");
            return Err(problem.hint("name a file").into());
        }
        if args.column.is_some() {
            let problem =
                Diagnostic::general("--column", format!("`{}` is simulated and has no columns", args.what));
            return Err(problem
                .hint("measured times are in .csv, .tsv, .txt, .jsonl and .json files")
                .into());
        }
        let common = &args.common;
        let loaded = load::any(&args.what, &args.ptx, common.seed, monitor)?;
        let (machine, spec) = load::machine_of(common, &loaded)?;
        let policy = load::policy_of(common, &loaded, &machine)?;
        let name = common.machine.clone().or_else(|| loaded.own_machine().map(str::to_owned));
        let command_options = CommandOptions {
            command: "pwcet",
            kernels: std::slice::from_ref(&args.what),
            common,
            launch: &args.ptx,
            bounds: &[],
        };
        let policies = vec![policy.kind().to_string()];
        let mut plan =
            command_options.plan(vec![name.unwrap_or_else(|| DEFAULT_MACHINE.to_owned())], policies)?;
        let of = sources(args, &loaded, &spec, monitor)?;
        let draws = Draws { count: runs, from, of };
        if draws.has_inputs() {
            plan.seeds = vec![0];
        }
        plan.draws = Some(draws.clone());
        let planned = Planned::of_command(plan, "warpbound pwcet")?;
        let inputs = load::inputs_of(common, &loaded, &policy);
        let kernel = loaded.name().to_owned();
        Ok(Self { planned, draws, machine, policy: policy.kind(), kernel, inputs })
    }

    /// Returns every file that is read.
    pub fn inputs(&self) -> Vec<PathBuf> {
        self.inputs.clone()
    }

    /// Simulates the runs, and keeps them in a folder if one is named.
    pub fn run(&self, args: &Pwcet, session: &Session) -> Result<Simulated, Diagnostics> {
        let makespans = match &args.out {
            Some(_) => match self.kept(args, session)? {
                Ok(makespans) => makespans,
                Err(ending) => return Ok(Simulated::Part(ending)),
            },
            None => self.in_memory(args, session)?,
        };
        let longest = makespans.iter().copied().max().unwrap_or(0);
        let first = makespans.iter().position(|makespan| *makespan == longest).unwrap_or(0);
        let measured = Measured::Campaign {
            kernel: self.kernel.clone(),
            origin: Origin::new(&self.machine),
            policy: self.policy.to_string(),
            runs: self.draws.count,
            from: self.draws.from,
            varied: self.draws.of.iter().map(|source| (*source).into()).collect(),
            longest_run: self.draws.from + first as u64,
        };
        Ok(Simulated::All { measured, makespans })
    }

    fn parameters(args: &Pwcet) -> RunParameters {
        RunParameters { what: "simulating", threads: args.jobs, self_check: false }
    }

    /// Simulates the runs, and passes the records to `see` in the order of the runs.
    ///
    /// # Errors
    /// If a run fails, or if the command is stopped before the last run.
    pub fn each(
        &self,
        args: &Pwcet,
        session: &Session,
        mut see: impl FnMut(u64, u64, &Record, &Columns),
    ) -> Result<(), Diagnostics> {
        let columns = &self.planned.columns;
        let mut done = 0;
        self.planned.run(0..self.planned.points.jobs(), &Self::parameters(args), session, |records| {
            for record in records {
                let makespan = record.makespan(columns).map_err(|why| self.failed(done, &why))?;
                see(self.draws.from + done, makespan, record, columns);
                done += 1;
            }
            Ok(())
        })?;
        if done < self.planned.points.len() { Err(self.incomplete(session, done).into()) } else { Ok(()) }
    }

    /// Returns the names of the bounds in the records, and whether they are proved.
    pub fn bounds(&self) -> impl Iterator<Item = (&'static str, bool)> {
        self.planned.bounds.iter().map(|bound| (bound.name(), bound.standing() == Standing::Proved))
    }

    /// Returns the policy of all runs.
    pub fn policy(&self) -> &PolicyKind {
        &self.policy
    }

    /// Returns the machine, before the random choices of a run are applied to it.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    fn in_memory(&self, args: &Pwcet, session: &Session) -> Result<Vec<u64>, Diagnostics> {
        let mut makespans = Vec::new();
        self.each(args, session, |_, makespan, _, _| makespans.push(makespan))?;
        Ok(makespans)
    }

    /// Returns the makespans of all runs, or the ending of the command if some are missing.
    fn kept(&self, args: &Pwcet, session: &Session) -> Result<Result<Vec<u64>, Ending>, Diagnostics> {
        let points = &self.planned.points;
        let Some(dir) = &args.out else { return Ok(Ok(Vec::new())) };
        let mut results = Results::open(dir, self.planned.manifest(args.shard), args.resume, &session.parts)?;
        session.keep(format!("the runs that are done are in {}; --resume goes on", dir.display()));
        let jobs = || (0..points.jobs()).filter(|job| args.shard.is_none_or(|shard| shard.has(*job)));
        let done = results.done(jobs().map(|job| points.numbers(&points.job(job))))?;
        let ended =
            self.planned.run(jobs().skip(done as usize), &Self::parameters(args), session, |records| {
                let lines: String = records.iter().map(|record| record.json(&self.planned.columns)).collect();
                results.append(&lines)
            });
        ended?;
        let wanted: u64 = jobs().map(|job| self.planned.size(job)).sum();
        if args.shard.is_some() || session.cut_short().is_some() {
            let mut ending = Ending::default();
            let format = args.common.format;
            let lacks =
                args.shard.is_none().then_some("the curve: the command was ended before it was computed");
            let if_missing = "--resume goes on";
            let about = About { command: "pwcet", out: dir, wanted, lacks, if_missing, format };
            about.conclude(&results, &self.planned.bounds, session, &mut ending, |_| ());
            return Ok(Err(ending));
        }
        results.finish(|_| ())?;
        let found = Measurements::read(&dir.display().to_string(), None)?;
        Ok(Ok(found.values.iter().map(|cycles| *cycles as u64).collect()))
    }

    fn failed(&self, index: u64, why: &str) -> Diagnostic {
        let number = self.draws.from + index;
        Diagnostic::general(self.kernel.clone(), format!("run {number} failed: {why}"))
            .hint(format!("`warpbound run` with --seed {number} shows more"))
    }

    fn incomplete(&self, session: &Session, done: u64) -> Diagnostic {
        let why = session.stopped().map_or("ended", warpbound_report::output::Stopped::text);
        Diagnostic::general(self.kernel.clone(), format!("{why} after {done} runs: there is no curve"))
            .hint("--out DIR keeps the runs, and --resume goes on with them")
    }
}

/// Returns the sources of variation: those requested, or else all that exist.
fn sources(
    args: &Pwcet,
    loaded: &Loaded,
    spec: &MachineSpec,
    monitor: &ProgressMonitor,
) -> Result<Vec<Source>, Diagnostics> {
    let has_inputs = has_random_inputs(args, loaded, monitor)?;
    if !args.random.is_empty() {
        let repeated = args.random.iter().enumerate().find(|(index, of)| args.random[..*index].contains(of));
        if let Some((_, source)) = repeated {
            let place = format!("--random {source}");
            return Err(Diagnostic::general(place, "this source is named twice").hint("name it once").into());
        }
        if args.random.contains(&Source::Inputs) && !has_inputs {
            let message = format!("the launch of `{}` has no random data", args.what);
            let hint = "give a buffer random contents, for example --arg NAME='Buffer(.., init: Uniform(0, 9))', or vary \
                        something else";
            return Err(Diagnostic::general("--random inputs", message).hint(hint).into());
        }
        return Ok(args.random.clone());
    }
    let random = spec.random();
    let varies = |source: &Source| match source.random() {
        None => has_inputs,
        Some(kind) => random.contains(&kind),
    };
    let found: Vec<Source> = Source::ALL.into_iter().filter(varies).collect();
    if found.is_empty() {
        let message =
            "nothing differs between runs: no data are random, and the machine does nothing at random";
        let hint = "for example --machine kepler-gk104 (caches that replace lines at random), or --set \
                    'memory.jitter=Geometric(4)' on a machine with `memory`, or --random placement with several SMs";
        return Err(Diagnostic::general(args.what.clone(), message).hint(hint).into());
    }
    Ok(found)
}

/// Returns whether the data of the launch depend on the seed.
fn has_random_inputs(args: &Pwcet, loaded: &Loaded, monitor: &ProgressMonitor) -> Result<bool, Diagnostics> {
    let kernel = match loaded {
        // data that a program writes between launches may be random, too; traces are fixed
        Loaded::Application(found) => return Ok(found.application.program().is_some()),
        Loaded::Kernel(kernel) => kernel,
    };
    let Some(launch) = kernel.workload.launch() else { return Ok(false) };
    let other = load::kernel(&args.what, &args.ptx, args.common.seed.wrapping_add(1), monitor)?;
    let Some(other) = other.workload.launch() else { return Ok(false) };
    let differ =
        |ours: &[Buffer], theirs: &[Buffer]| ours.iter().zip(theirs).any(|(a, b)| a.bytes != b.bytes);
    Ok(differ(&launch.buffers, &other.buffers) || differ(&launch.symbols, &other.symbols))
}
