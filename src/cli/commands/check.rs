//! `warpbound check`: simulate and judge every bound.

use std::process::ExitCode;

use crate::bound::{self, Bound};
use crate::check::{Checked, Plan, Status, check, counterexample};
use crate::cli::args::{Check, Common, PtxLaunch};
use crate::cli::output::{self, Failure, Format};
use crate::cli::{assets, load};
use crate::diag::{Diagnostic, Diagnostics, closest};
use crate::machine::{Machine, MachineSpec, SchedulerKind};
use crate::program::launch::LaunchSpec;
use crate::report::json::{self, Suite};
use crate::report::text::{self, SuiteRow};
use crate::sim::PolicySetup;

/// Exit code when a gating bound is violated.
pub const VIOLATED: u8 = 3;

/// A kernel with its runs.
struct Judged {
    kernel: load::LoadedKernel,
    machine: Machine,
    spec: MachineSpec,
    policies: Vec<PolicySetup>,
    runs: Vec<Checked>,
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
    let commands = replay_commands(args, &all)?;
    match args.common.format {
        Format::Json => print_json(args, &all, &commands)?,
        Format::Text => print_text(args, &all, &commands, suite)?,
    }
    let verdict = Status::combine(all.iter().flat_map(|judged| judged.runs.iter().map(Checked::verdict)));
    Ok(if verdict == Status::Violated { ExitCode::from(VIOLATED) } else { ExitCode::SUCCESS })
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
        if location.extension() == "ron" && LaunchSpec::parse(&location.text()?)?.suite {
            names.push(name);
        }
    }
    Ok(names)
}

fn judge(name: &str, args: &Check, suite: bool, bounds: &[Box<dyn Bound>]) -> Result<Judged, Diagnostics> {
    let kernel = load::kernel(name, &args.ptx, args.common.seed)?;
    let (machine, spec) = load::machine(&args.common, &kernel)?;
    let policies = if suite && args.common.scheduler.is_none() {
        vec![load::setup(&SchedulerKind::Gto)?, load::setup(&SchedulerKind::Lrr)?]
    } else {
        vec![load::policy(&args.common, &kernel, &machine)?]
    };
    let runs = check(&Plan {
        workload: &kernel.workload,
        machine: &machine,
        policies: &policies,
        bounds,
        gating: &args.bound,
        max_instructions_per_block: args.common.max_instructions,
        threads: args.common.threads(),
        ahead: args.common.runs_ahead(),
        self_check: args.self_check,
        race_memory: args.common.race_memory(),
    })
    .map_err(|problems| problems.with_excerpts(&kernel.code))?;
    Ok(Judged { kernel, machine, spec, policies, runs })
}

/// For every violated run the command that shows it again; with --counterexamples its folder is
/// written first.
fn replay_commands(args: &Check, all: &[Judged]) -> Result<Vec<Vec<Option<String>>>, Diagnostics> {
    let of_judged = |judged: &Judged| {
        let of_run = |(policy, run): (&PolicySetup, &Checked)| {
            if run.verdict() != Status::Violated {
                return Ok(None);
            }
            match &args.counterexamples {
                Some(dir) => write_counterexample(args, judged, policy, run, dir).map(Some),
                None => Ok(Some(same_command(args, judged, policy))),
            }
        };
        judged.policies.iter().zip(&judged.runs).map(of_run).collect()
    };
    all.iter().map(of_judged).collect()
}

fn write_counterexample(
    args: &Check,
    judged: &Judged,
    policy: &PolicySetup,
    run: &Checked,
    dir: &std::path::Path,
) -> Result<String, Diagnostics> {
    let files = judged.kernel.files()?;
    let found = counterexample::counterexample(&counterexample::Inputs {
        workload: &judged.kernel.workload,
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
fn same_command(args: &Check, judged: &Judged, policy: &PolicySetup) -> String {
    let Common { machine, mem_latency, set, seed, .. } = &args.common;
    let mut words = vec!["warpbound".to_owned(), "check".to_owned(), judged.kernel.name_given.clone()];
    let mut option = |name: &str, value: String| words.extend([name.to_owned(), value]);
    option("--scheduler", policy.kind().to_string());
    machine.iter().for_each(|m| option("--machine", m.clone()));
    mem_latency.iter().for_each(|l| option("--mem-latency", l.to_string()));
    set.iter().for_each(|s| option("--set", s.clone()));
    if *seed != 0 {
        option("--seed", seed.to_string());
    }
    let PtxLaunch { entry, grid, block, arg, dynamic_shared, registers } = &args.ptx;
    entry.iter().for_each(|e| option("--entry", e.clone()));
    grid.iter().for_each(|s| option("--grid", format!("{},{},{}", s.0, s.1, s.2)));
    block.iter().for_each(|s| option("--block", format!("{},{},{}", s.0, s.1, s.2)));
    arg.iter().for_each(|a| option("--arg", a.clone()));
    dynamic_shared.iter().for_each(|n| option("--dynamic-shared", n.to_string()));
    registers.iter().for_each(|n| option("--registers", n.to_string()));
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
    let mut results = Vec::new();
    for (judged, commands) in all.iter().zip(commands) {
        for (run, command) in judged.runs.iter().zip(commands) {
            let name = &judged.kernel.workload.name;
            let mut result = json::Check::new(name, &judged.machine, args.common.seed, run);
            result.replay_command.clone_from(command);
            results.push(result);
        }
    }
    if args.kernels.len() == 1 && results.len() == 1 {
        return output::print_json(&results[0]);
    }
    let verdict = Status::combine(all.iter().flat_map(|judged| judged.runs.iter().map(Checked::verdict)));
    output::print_json(&Suite { schema: json::SCHEMA, results, verdict: verdict.name() })
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
                judged.runs.iter().map(|checked| SuiteRow { kernel: &judged.kernel.workload.name, checked })
            })
            .collect();
        out.push_str(&text::suite(&rows, style));
        out.push_str(&text::suite_summary(&rows, style));
    }
    for (judged, commands) in all.iter().zip(commands) {
        for ((run, command), policy) in judged.runs.iter().zip(commands).zip(&judged.policies) {
            if !several {
                out.push_str(&text::check(&judged.kernel.workload.name, &judged.machine, run, style));
                if args.gantt {
                    out.push('\n');
                    out.push_str(&super::draw::gantt(&judged.kernel, &judged.machine, policy, &args.common)?);
                }
            }
            if let Some(command) = command {
                out.push_str(&format!(
                    "\n{} breaks a bound under {}; to see it again:\n  {command}\n",
                    judged.kernel.workload.name, run.scheduler
                ));
            }
        }
    }
    output::print(&out)
}
