//! The hunt on machines with a pipeline or a memory system.

use std::fmt::Write;

use super::{batch, folder, named, setting};
use crate::args;
use crate::commands::again::shell_word;
use crate::output::{Ending, Outcome};
use crate::policies;
use crate::resources;
use crate::session::Session;
use warpbound_bound::{self as bound, Bound};
use warpbound_core::base::ProgressMonitor;
use warpbound_core::diag::{Diagnostic, Diagnostics, SourceText};
use warpbound_core::machine::{Machine, MachineSpec, Setting as MachineSetting};
use warpbound_core::program::TimingTable;
use warpbound_judge::check::{JudgedLaunch, Plan, RunOptions, Verdict, check, counterexample};
use warpbound_judge::explore::hunt::{
    BUFFER, Case, CaseSize, CaseSummary, MachineHunt, MachineViolation, MachinesHunted, Ran, Setting, Times,
    hunt_machines,
};
use warpbound_judge::load::{LaunchOptions, LoadedKernel, Loader, Memory};
use warpbound_report::hunt::HuntOutcome;
use warpbound_report::machine_hunt::{About, MachineHuntResult};
use warpbound_report::output::Output;
use warpbound_sim::PolicySetup;

/// The names of the files of a case.
const KERNEL: &str = "kernel.ptx";
const LAUNCH: &str = "launch.ron";

/// The most instructions that the functional run executes per block.
const FUEL: u64 = 1 << 22;

/// What cases are run with.
struct Runner {
    bounds: Vec<Box<dyn Bound>>,
    /// The name of the bound to violate.
    gating: Vec<String>,
    bases: Vec<(MachineSpec, SourceText)>,
}

/// The result under one policy.
struct Row {
    policy: PolicySetup,
    summary: CaseSummary,
    violation: Option<MachineViolation>,
    ended_early: bool,
}

/// Runs the command.
pub fn run(args: &args::Hunt, session: &Session) -> Outcome {
    only_without_machines(args)?;
    let policies = policies(args)?;
    let runner = Runner::new(&args.bound, &args.machine)?;
    let folder = folder(args, policies.iter().map(|policy| name(args, policy)), session)?;
    let size = CaseSize {
        blocks: args.blocks.unwrap_or(8).into(),
        warps: args.warps.unwrap_or(16).into(),
        instructions: args.instructions.unwrap_or(24).into(),
    };
    let plan = MachineHunt {
        seed: args.seed,
        cases: args.instances.unwrap_or(10_000),
        jobs: args.jobs.unwrap_or_else(resources::threads),
        bases: args.machine.len(),
        size,
        chain: 250,
    };
    let mut rows = Vec::new();
    let mut left = policies.into_iter().peekable();
    while let Some(policy) = left.next_if(|_| !session.monitor.is_stopped()) {
        session.progress.begin(format!("{} policy:{policy}", args.bound), Some(plan.cases), "cases");
        let MachinesHunted { summary, violation, ended_early } =
            hunt_machines(&plan, &|case: &Case| runner.run(case, &policy), &session.monitor)?;
        rows.push(Row { policy, summary, violation, ended_early });
    }
    let not_reached: Vec<String> = left.map(|policy| format!("policy:{policy}")).collect();
    let violated = rows.iter().any(|row| row.violation.is_some());
    let mut ending = Ending { violated, ..Ending::default() };
    ending.report(session, args.format, &output(args, &rows, not_reached, session));
    for Row { policy, violation, .. } in &rows {
        let (Some(violation), Some(folder)) = (violation, &folder) else { continue };
        let files = runner.files(&violation.witness.0, policy);
        if let Err(problems) = files.and_then(|files| Ok(folder.write(&name(args, policy), &files)?)) {
            ending.late.append(problems);
        }
    }
    Ok(ending)
}

fn output(
    args: &args::Hunt,
    rows: &[Row],
    not_reached: Vec<String>,
    session: &Session,
) -> Output<HuntOutcome> {
    let batch = batch(not_reached, rows.iter().any(|row| row.ended_early), session);
    let result = |row: &Row| {
        let about = About {
            bound: &args.bound,
            setting: format!("policy:{}", row.policy),
            machines: &args.machine,
            seed: args.seed,
            ended_early: row.ended_early.then(|| session.stopped()),
            command: &|case| command(args, case, &row.policy),
        };
        HuntOutcome::Machines(MachineHuntResult::new(&about, &row.summary, row.violation.as_ref()))
    };
    let verdicts = rows.iter().filter_map(|row| match (&row.violation, row.summary.judged) {
        (Some(_), _) => Some(Verdict::Violated),
        (None, 0) => None,
        (None, _) => Some(Verdict::Holds),
    });
    Output::of_batch("hunt", Some(args.seed), rows.iter().map(result).collect(), batch).judged(verdicts)
}

/// Refuses the options that have no meaning here.
fn only_without_machines(args: &args::Hunt) -> Result<(), Diagnostics> {
    let given = [("--resident", args.resident), ("--sub-cores", args.sub_cores), ("--units", args.units)];
    let mut problems = Diagnostics::new();
    for (option, value) in given.into_iter().filter_map(|(option, value)| Some((option, value?))) {
        let problem =
            Diagnostic::general(format!("{option} {value}"), "the machines of --machine state this");
        problems.push(problem.hint("the hunt changes their settings at random"));
    }
    problems.into_result(())
}

fn policies(args: &args::Hunt) -> Result<Vec<PolicySetup>, Diagnostics> {
    if args.setting.is_empty() {
        return match named(&args.bound).policy() {
            Some(policy) => Ok(vec![policies::setup(&policy)?]),
            None => Ok(vec![PolicySetup::Gto, PolicySetup::Lrr]),
        };
    }
    let mut problems = Diagnostics::new();
    let mut policies = Vec::new();
    for text in &args.setting {
        match setting(text) {
            Ok(Setting::Policy(policy)) => policies.push(policy),
            Ok(Setting::Any | Setting::Identical) => {
                let message = "all schedules are searched on machines of the paper model only";
                let problem = Diagnostic::general(format!("--setting {text}"), message);
                problems.push(problem.hint("with --machine, name policies: policy:gto, policy:lrr, ..."));
            }
            Err(wrong) => problems.append(wrong),
        }
    }
    problems.into_result(policies)
}

/// Returns the name of a violation.
fn name(args: &args::Hunt, policy: &PolicySetup) -> String {
    format!("hunt-{}-machines-{policy}-{}", args.bound, args.seed).replace(':', "-")
}

/// Returns the text of the only argument of a kernel.
fn argument() -> String {
    format!("Buffer(name: \"buffer\", elem: U32, len: {}, init: Zero)", BUFFER / 4)
}

/// Returns the launch file of a case.
fn launch_text(case: &Case) -> String {
    format!(
        "Launch(\n    module: \"{KERNEL}\", entry: \"k\", grid: ({}, 1, 1), block: ({}, 1, 1),\n    args: [{}],\n)\n",
        case.blocks,
        case.threads,
        argument()
    )
}

/// Returns the command that repeats a case in a folder with its kernel.
fn command(args: &args::Hunt, case: &Case, policy: &PolicySetup) -> String {
    let mut command = format!(
        "warpbound check {KERNEL} --entry k --grid {} --block {} --arg {} --machine {}",
        case.blocks,
        case.threads,
        shell_word(&argument()),
        shell_word(&args.machine[case.base])
    );
    for setting in case.settings_text() {
        let _ = write!(command, " --set {}", shell_word(&setting));
    }
    // a hunt does not look for races, so that the judgement is about the order of the functional run
    let _ = write!(command, " --policy {policy} --bound {} --races ignore", args.bound);
    command
}

/// Checks that a machine can run the instructions of the kernels that are drawn.
fn runs_cases(name: &str, (spec, source): &(MachineSpec, SourceText)) -> Result<(), Diagnostics> {
    let machine = Machine::new(spec, source)?;
    let kernel = loaded(&Case::of_all_forms())?;
    let Err(problems) = TimingTable::new(kernel.workload.program(), &machine) else { return Ok(()) };
    let problem = Diagnostic::general(format!("--machine {name}"), problems.first_message());
    Err(problem.hint("the hunt draws kernels in PTX: name a machine for PTX, such as accelsim-sm1").into())
}

impl Runner {
    fn new(bound: &str, machines: &[String]) -> Result<Self, Diagnostics> {
        let loader = Loader::disk();
        let base = |name: &String| {
            let found = loader.machine_spec(&loader.find_machine(name, None)?)?;
            runs_cases(name, &found)?;
            Ok::<_, Diagnostics>(found)
        };
        Ok(Self {
            bounds: bound::all(),
            gating: vec![bound.to_owned()],
            bases: machines.iter().map(base).collect::<Result<_, _>>()?,
        })
    }

    /// Returns the machine of a case, unless its settings do not fit.
    fn machine(&self, case: &Case) -> Result<(MachineSpec, Machine), Diagnostics> {
        let (spec, source) = &self.bases[case.base];
        let settings = case.settings_text().map(|setting| MachineSetting::parse(&setting));
        let settings: Vec<MachineSetting> = settings.collect::<Result<_, _>>()?;
        let spec = spec.clone().with_settings(&settings)?;
        let machine = Machine::new(&spec, source)?;
        Ok((spec, machine))
    }

    /// Runs a kernel and judges it.
    fn judged(
        &self,
        kernel: &LoadedKernel,
        machine: &Machine,
        policy: &PolicySetup,
        monitor: &ProgressMonitor,
    ) -> Result<JudgedLaunch, Diagnostics> {
        let options = RunOptions::new(FUEL, monitor).judged_by(&self.bounds, &self.gating);
        let policies = std::slice::from_ref(policy);
        let plan = Plan { workload: &kernel.workload, machine, policies, options };
        let mut runs = check(&plan).map_err(|failed| failed.problems)?;
        Ok(runs.swap_remove(0))
    }

    /// Runs a case and judges it.
    fn run(&self, case: &Case, policy: &PolicySetup) -> Result<Ran, Diagnostics> {
        let refused = |why: String| Ok(Ran::Refused(why));
        let machine = match self.machine(case) {
            Ok((_, machine)) => machine,
            Err(problems) => return refused(problems.first_message()),
        };
        let kernel = loaded(case)?;
        if let Err(why) = machine.limits().occupancy(&kernel.workload.needs()) {
            return refused(why.to_string());
        }
        let run = self.judged(&kernel, &machine, policy, &ProgressMonitor::new())?;
        let row = run.judged().find(|row| row.name == self.gating[0]);
        Ok(match row.map(|row| (row, &row.value)) {
            Some((row, Ok(value))) => Ran::Judged(Times {
                makespan: run.makespan.get(),
                bound: value.cycles().get(),
                violated: row.violated,
            }),
            Some((_, Err(why))) => Ran::NotApplicable(why.clone()),
            None => Ran::NotApplicable("its rows are left out of reports of such runs".to_owned()),
        })
    }

    /// Returns the names and the contents of the files from which a case can be replayed.
    fn files(&self, case: &Case, policy: &PolicySetup) -> Result<Vec<(String, Vec<u8>)>, Diagnostics> {
        let (machine_spec, machine) = self.machine(case)?;
        let kernel = loaded(case)?;
        // a violation is written even if the command was stopped
        let monitor = ProgressMonitor::new();
        let run = self.judged(&kernel, &machine, policy, &monitor)?;
        let files = [(LAUNCH, launch_text(case)), (KERNEL, case.kernel_text())];
        let files = files.map(|(name, text)| (name.to_owned(), text.into_bytes()));
        counterexample::counterexample(&counterexample::Inputs {
            workload: &kernel.workload,
            machine: &machine,
            machine_spec: &machine_spec,
            policy,
            run: &run,
            files: &files,
            seed: 0,
            gating: &self.gating,
            max_instructions_per_block: FUEL,
            monitor: &monitor,
        })
    }
}

/// Returns the kernel of a case, read from its own files.
fn loaded(case: &Case) -> Result<LoadedKernel, Diagnostics> {
    let files = Memory::new().with(LAUNCH, launch_text(case)).with(KERNEL, case.kernel_text());
    Loader::new(files).kernel(LAUNCH, &LaunchOptions::default(), &ProgressMonitor::new())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The files of a case give the same times when they are read again: the machine with its settings,
    /// and the kernel.
    #[test]
    fn files_of_a_case_give_the_same_times() {
        let machines = ["accelsim-sm1", "fermi-c2050"].map(str::to_owned);
        let runner = Runner::new("plb", &machines).expect("they are embedded");
        for seed in 0..8 {
            let size = CaseSize { blocks: 3, warps: 4, instructions: 10 };
            let plan = MachineHunt { seed, cases: 20, jobs: 1, bases: machines.len(), size, chain: 20 };
            let run = |case: &Case| runner.run(case, &PolicySetup::Lrr);
            let found = hunt_machines(&plan, &run, &ProgressMonitor::new()).expect("cases can be loaded");
            let (case, times) = found.summary.closest.expect("plb applies to some case");
            let files = runner.files(&case, &PolicySetup::Lrr).expect("it ran before");
            let loader = Loader::new(
                files.iter().fold(Memory::new(), |memory, (name, bytes)| memory.with(name, bytes.clone())),
            );
            let monitor = ProgressMonitor::new();
            let kernel = loader.kernel(LAUNCH, &LaunchOptions::default(), &monitor).expect("it is a launch");
            let machine = loader.machine("machine.ron").expect("it is a machine");
            // a replay is not exact on machines with a pipeline
            assert!(files.iter().all(|(name, _)| name != "schedule.replay"));
            let policies = [PolicySetup::Lrr];
            let options = RunOptions::new(FUEL, &monitor).judged_by(&runner.bounds, &runner.gating);
            let plan = Plan { workload: &kernel.workload, machine: &machine, policies: &policies, options };
            let runs = check(&plan).unwrap_or_else(|failed| panic!("{}", failed.problems));
            assert_eq!(runs[0].makespan.get(), times.makespan, "seed {seed}");
            let row = runs[0].judged().find(|row| row.name == "plb").expect("it was named");
            assert_eq!(row.value.as_ref().map(|value| value.cycles().get()), Ok(times.bound));
        }
    }
}
