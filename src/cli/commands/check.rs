//! `warpbound check`: simulate and judge every bound.

use std::process::ExitCode;

use crate::bound::{self, Bound};
use crate::check::{Checked, Plan, SequenceChecked, Status, check, counterexample, observe_sequence};
use crate::cli::args::{Check, Common, PtxLaunch};
use crate::cli::assets;
use crate::cli::load::{self, Loaded, LoadedKernel};
use crate::cli::output::{self, Failure, Format};
use crate::cli::programs::{self, LoadedProgram};
use crate::diag::{Diagnostic, Diagnostics, closest};
use crate::machine::{Machine, MachineSpec, SchedulerKind};
use crate::program::launch::LaunchSpec;
use crate::report::json::{self, Suite};
use crate::report::sequence;
use crate::report::text::{self, SuiteRow};
use crate::sim::PolicySetup;

/// Exit code when a gating bound is violated.
pub const VIOLATED: u8 = 3;

/// A kernel or program with its runs.
struct Judged {
    what: What,
    machine: Machine,
    spec: MachineSpec,
    policies: Vec<PolicySetup>,
}

/// What was judged, with what became of it under each policy.
enum What {
    Kernel(Box<LoadedKernel>, Vec<Checked>),
    /// Programs run under one policy.
    Program(Box<LoadedProgram>, Box<SequenceChecked>),
}

impl Judged {
    fn name(&self) -> &str {
        match &self.what {
            What::Kernel(kernel, _) => &kernel.workload.name,
            What::Program(program, _) => &program.name,
        }
    }

    fn name_given(&self) -> &str {
        match &self.what {
            What::Kernel(kernel, _) => &kernel.name_given,
            What::Program(program, _) => &program.name_given,
        }
    }

    /// The runs, one per policy; of programs the totals.
    fn runs(&self) -> &[Checked] {
        match &self.what {
            What::Kernel(_, runs) => runs,
            What::Program(_, checked) => std::slice::from_ref(&checked.total),
        }
    }
}

/// Runs the command.
pub fn run(args: &Check) -> Result<ExitCode, Failure> {
    let bounds = bound::all();
    check_bound_names(&args.bound, &bounds)?;
    let suite = args.kernels.is_empty();
    let names = if suite { suite_kernels()? } else { args.kernels.clone() };
    let mut problems = Diagnostics::new();
    let mut all = Vec::new();
    for name in &names {
        tracing::info!(kernel = %name, "checking");
        match judge(name, args, suite, &bounds) {
            Ok(judged) => all.push(judged),
            Err(wrong) => problems.append(wrong),
        }
    }
    if !problems.is_empty() {
        return Err(problems.into());
    }
    let commands = replay_commands(args, &all, &bounds)?;
    match args.common.format {
        Format::Json => print_json(args, &all, &commands)?,
        Format::Text => print_text(args, &all, &commands, suite)?,
    }
    let verdict = verdict(&all);
    Ok(if verdict == Status::Violated { ExitCode::from(VIOLATED) } else { ExitCode::SUCCESS })
}

fn verdict(all: &[Judged]) -> Status {
    Status::combine(all.iter().flat_map(|judged| judged.runs().iter().map(Checked::verdict)))
}

pub fn check_bound_names(names: &[String], bounds: &[Box<dyn Bound>]) -> Result<(), Diagnostics> {
    let known: Vec<&str> = bounds.iter().map(|bound| bound.name()).collect();
    let mut problems = Diagnostics::new();
    for name in names.iter().filter(|name| !known.contains(&name.as_str())) {
        let near =
            closest(name, known.iter().copied()).map_or(String::new(), |n| format!("did you mean `{n}`? "));
        problems.push(
            Diagnostic::general(format!("--bound {name}"), format!("unknown bound `{name}`"))
                .hint(format!("{near}bounds: {}", known.join(", "))),
        );
    }
    problems.into_result(())
}

/// The launches that say `suite: true`, by name.
pub fn suite_kernels() -> Result<Vec<String>, Diagnostics> {
    let mut names = Vec::new();
    for (name, location) in assets::kernels() {
        if location.extension() != "ron" {
            continue;
        }
        let source = location.text()?;
        if !programs::is_program(&source) && LaunchSpec::parse(&source)?.suite {
            names.push(name);
        }
    }
    Ok(names)
}

fn judge(name: &str, args: &Check, suite: bool, bounds: &[Box<dyn Bound>]) -> Result<Judged, Diagnostics> {
    let kernel = match load::any(name, &args.ptx, args.common.seed)? {
        Loaded::Kernel(kernel) => kernel,
        Loaded::Program(program) => return judge_program(program, args, bounds),
    };
    let (machine, spec) = load::machine(&args.common, &kernel)?;
    let policies = if suite && args.common.scheduler.is_none() {
        vec![load::setup(&SchedulerKind::Gto)?, load::setup(&SchedulerKind::Lrr)?]
    } else {
        vec![load::policy(&args.common, &kernel, &machine)?]
    };
    let runs = judge_kernel(&kernel, &machine, &policies, args, bounds)?;
    Ok(Judged { what: What::Kernel(kernel, runs), machine, spec, policies })
}

fn judge_kernel(
    kernel: &LoadedKernel,
    machine: &Machine,
    policies: &[PolicySetup],
    args: &Check,
    bounds: &[Box<dyn Bound>],
) -> Result<Vec<Checked>, Diagnostics> {
    check(&Plan {
        workload: &kernel.workload,
        machine,
        policies,
        bounds,
        gating: &args.bound,
        max_instructions_per_block: args.common.max_instructions,
        threads: args.common.threads(),
        ahead: args.common.runs_ahead(),
        self_check: args.self_check,
        race_memory: args.common.race_memory(),
    })
    .map_err(|problems| problems.with_excerpts(&kernel.code))
}

fn judge_program(
    program: Box<LoadedProgram>,
    args: &Check,
    bounds: &[Box<dyn Bound>],
) -> Result<Judged, Diagnostics> {
    if args.gantt {
        return Err(program.needs_one("--gantt"));
    }
    let (machine, spec) = load::machine_of_program(&args.common)?;
    let policy = program.policy(&machine)?;
    let plan = program.plan(&machine, bounds, &args.bound, &args.common, args.self_check);
    let (checked, _) =
        observe_sequence(&plan, &policy, &mut ()).map_err(|problems| program.with_excerpts(problems))?;
    Ok(Judged { what: What::Program(program, Box::new(checked)), machine, spec, policies: vec![policy] })
}

/// For every violated run the command that shows it again; with --counterexamples its folder is
/// written first.
fn replay_commands(
    args: &Check,
    all: &[Judged],
    bounds: &[Box<dyn Bound>],
) -> Result<Vec<Vec<Option<String>>>, Diagnostics> {
    let of_judged = |judged: &Judged| {
        let of_run = |(policy, run): (&PolicySetup, &Checked)| {
            if run.verdict() != Status::Violated {
                return Ok(None);
            }
            match (&args.counterexamples, &judged.what) {
                (None, What::Kernel(..)) => Ok(Some(same_command(args, judged, policy, None))),
                (None, What::Program(_, checked)) => {
                    Ok(Some(same_command(args, judged, policy, checked.first_violation())))
                }
                (Some(dir), What::Kernel(kernel, _)) => {
                    write_counterexample(args, judged, kernel, policy, run, dir).map(Some)
                }
                (Some(dir), What::Program(program, checked)) => {
                    // one launch shows it, in the memory that those before it leave
                    let launch = checked.first_violation();
                    let options = PtxLaunch { launch, ..args.ptx.clone() };
                    let kernel = load::kernel(&program.name_given, &options, args.common.seed)?;
                    let policies = std::slice::from_ref(policy);
                    let runs = judge_kernel(&kernel, &judged.machine, policies, args, bounds)?;
                    write_counterexample(args, judged, &kernel, policy, &runs[0], dir).map(Some)
                }
            }
        };
        judged.policies.iter().zip(judged.runs()).map(of_run).collect()
    };
    all.iter().map(of_judged).collect()
}

fn write_counterexample(
    args: &Check,
    judged: &Judged,
    kernel: &LoadedKernel,
    policy: &PolicySetup,
    run: &Checked,
    dir: &std::path::Path,
) -> Result<String, Diagnostics> {
    let files = kernel.files()?;
    let found = counterexample::counterexample(&counterexample::Inputs {
        workload: &kernel.workload,
        machine: &judged.machine,
        machine_spec: &judged.spec,
        policy,
        run,
        files: &files,
        seed: args.common.seed,
        max_instructions_per_block: args.common.max_instructions,
    })?;
    let folder = dir.join(&found.name);
    std::fs::create_dir_all(&folder).map_err(|error| {
        Diagnostic::general(folder.display().to_string(), format!("cannot create the folder: {error}"))
    })?;
    for (name, bytes) in &found.files {
        output::write_file(&folder.join(name), bytes)?;
    }
    Ok(format!("cd {} && {}", shell_word(&folder.display().to_string()), found.command))
}

/// The command that repeats a run from the same inputs.
fn same_command(args: &Check, judged: &Judged, policy: &PolicySetup, launch: Option<u64>) -> String {
    let Common { machine, mem_latency, set, seed, .. } = &args.common;
    let mut words = vec!["warpbound".to_owned(), "check".to_owned(), judged.name_given().to_owned()];
    let mut option = |name: &str, value: String| words.extend([name.to_owned(), value]);
    option("--scheduler", policy.kind().to_string());
    machine.iter().for_each(|m| option("--machine", m.clone()));
    mem_latency.iter().for_each(|l| option("--mem-latency", l.to_string()));
    set.iter().for_each(|s| option("--set", s.clone()));
    if *seed != 0 {
        option("--seed", seed.to_string());
    }
    let options = PtxLaunch { launch: launch.or(args.ptx.launch), ..args.ptx.clone() };
    words.extend(options.words());
    words.iter().map(|word| shell_word(word)).collect::<Vec<_>>().join(" ")
}

pub fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

fn print_json(args: &Check, all: &[Judged], commands: &[Vec<Option<String>>]) -> Result<(), Failure> {
    let seed = args.common.seed;
    let mut results = Vec::new();
    for (judged, commands) in all.iter().zip(commands) {
        let name = judged.name();
        let of_judged: Vec<json::Check> = match &judged.what {
            What::Kernel(_, runs) => {
                runs.iter().map(|run| json::Check::new(name, &judged.machine, seed, run)).collect()
            }
            What::Program(program, checked) => {
                vec![sequence::json(name, &program.sequence, &judged.machine, seed, checked)]
            }
        };
        for (mut result, command) in of_judged.into_iter().zip(commands) {
            result.replay_command.clone_from(command);
            results.push(result);
        }
    }
    if args.kernels.len() == 1 && results.len() == 1 {
        return output::print_json(&results[0]);
    }
    output::print_json(&Suite { schema: json::SCHEMA, results, verdict: verdict(all).name() })
}

fn print_text(
    args: &Check,
    all: &[Judged],
    commands: &[Vec<Option<String>>],
    suite: bool,
) -> Result<(), Failure> {
    let style = output::style();
    let mut out = String::new();
    let several = suite || all.len() > 1;
    if several {
        let rows: Vec<SuiteRow> = all
            .iter()
            .flat_map(|judged| {
                judged.runs().iter().map(|checked| SuiteRow { kernel: judged.name(), checked })
            })
            .collect();
        out.push_str(&text::suite(&rows, style));
        out.push_str(&text::suite_summary(&rows, style));
    } else {
        for judged in all {
            out.push_str(&one_text(args, judged)?);
        }
    }
    for (judged, commands) in all.iter().zip(commands) {
        for (run, command) in judged.runs().iter().zip(commands) {
            if let Some(command) = command {
                out.push_str(&format!(
                    "\n{} breaks a bound under {}; to see it again:\n  {command}\n",
                    judged.name(),
                    run.scheduler
                ));
            }
        }
    }
    output::print(&out)
}

/// A kernel or program in full.
fn one_text(args: &Check, judged: &Judged) -> Result<String, Failure> {
    let (style, machine) = (output::style(), &judged.machine);
    match &judged.what {
        What::Program(program, checked) => {
            Ok(sequence::text(&program.name, &program.sequence, machine, checked, style))
        }
        What::Kernel(kernel, runs) => {
            let mut out = String::new();
            for (run, policy) in runs.iter().zip(&judged.policies) {
                out.push_str(&text::check(&kernel.workload.name, machine, run, style));
                if args.gantt {
                    out.push('\n');
                    out.push_str(&super::draw::gantt(kernel, machine, policy, &args.common)?);
                }
            }
            Ok(out)
        }
    }
}
