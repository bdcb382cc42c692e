//! `warpbound hunt`: adversarial search for a violation of a bound.

use std::path::Path;
use std::process::ExitCode;

use serde::Serialize;

use super::check::{VIOLATED, check_bound_names, shell_word};
use crate::bound::{self, Bound, Scope};
use crate::check::{Plan, Status, Workload, WorkloadKind, check, counterexample};
use crate::cli::args;
use crate::cli::load;
use crate::cli::output::{self, Failure, Format};
use crate::diag::{Diagnostic, Diagnostics, SourceText};
use crate::explore::hunt::{
    Hunt, Hunted, Score, Setting, Summary, Together, Violation, Witness, WitnessFiles, hunt, is_huntable,
};
use crate::machine::SchedulerKind;
use crate::report::json::{SCHEMA, rounded};
use crate::sim::PolicySetup;
use crate::sim::policy::Schedule;

/// The published bound; it is known to fail, and hunted in all its settings.
const PUBLISHED: &str = "gub";

/// A violation with its files.
struct Shown {
    violation: Violation,
    files: WitnessFiles,
    /// What shows it again.
    command: String,
}

/// Runs the command.
pub fn run(args: &args::Hunt) -> Result<ExitCode, Failure> {
    check_bound_names(std::slice::from_ref(&args.bound), &bound::all())?;
    if args.instances == Some(0) {
        return Err(Diagnostic::general("--instances 0", "nothing to judge").into());
    }
    let make_bound = || named(&args.bound);
    only_for_launches(args, make_bound().scope())?;
    let mut results = Vec::new();
    for setting in settings(args)? {
        setting.admits(make_bound().as_ref()).map_err(|reason| {
            Diagnostic::general(
                format!("--setting {setting}"),
                format!("bound {} claims nothing here: {reason}", args.bound),
            )
        })?;
        let plan = plan(args, setting);
        tracing::info!(setting = %plan.setting, bound = %args.bound, "hunting");
        let Hunted { summary, violation } =
            hunt(&plan, &make_bound, &|chain, summary| progress(chain, summary));
        let shown = violation.map(|violation| show(args, &plan, violation)).transpose()?;
        results.push((plan, summary, shown));
    }
    match args.format {
        Format::Json => output::print_json(&Report::new(args, &results))?,
        Format::Text => output::print(&text(args, &results))?,
    }
    let violated = results.iter().any(|(_, _, shown)| shown.is_some());
    Ok(if violated { ExitCode::from(VIOLATED) } else { ExitCode::SUCCESS })
}

fn named(name: &str) -> Box<dyn Bound> {
    bound::all().into_iter().find(|bound| bound.name() == name).expect("the name was checked")
}

/// Refuses options that mean nothing for a bound of single blocks.
fn only_for_launches(args: &args::Hunt, scope: Scope) -> Result<(), Diagnostics> {
    let given = [("--blocks", args.blocks), ("--resident", args.resident), ("--sub-cores", args.sub_cores)];
    let mut problems = Diagnostics::new();
    for (option, value) in given.into_iter().filter_map(|(option, value)| Some((option, value?))) {
        if scope == Scope::Block {
            let message = format!("bound {} is about single blocks, on one sub-core here", args.bound);
            problems.push(Diagnostic::general(format!("{option} {value}"), message));
        }
    }
    problems.into_result(())
}

fn progress(chain: u64, summary: &Summary) {
    let closest = summary.closest.as_ref().map_or(0.0, |(_, score)| score.ratio());
    if chain.is_multiple_of(64) {
        tracing::info!(chain, closest, "chain ended");
    } else {
        tracing::debug!(chain, closest, "chain ended");
    }
}

fn settings(args: &args::Hunt) -> Result<Vec<Setting>, Diagnostics> {
    if args.setting.is_empty() {
        let policy = Setting::Policy(PolicySetup::Lrr);
        let all = vec![Setting::Any, Setting::Identical, policy];
        return Ok(if args.bound == PUBLISHED { all } else { vec![Setting::Any] });
    }
    let mut problems = Diagnostics::new();
    let mut settings = Vec::new();
    for text in &args.setting {
        match setting(text) {
            Ok(setting) => settings.push(setting),
            Err(wrong) => problems.append(wrong),
        }
    }
    problems.into_result(settings)
}

fn setting(text: &str) -> Result<Setting, Diagnostics> {
    let problem = |message: String| {
        Diagnostic::general(format!("--setting {text}"), message)
            .hint("any, identical, policy:lrr, policy:gto, policy:oldest or policy:random:SEED")
    };
    match text.split_once(':') {
        None if text == "any" => Ok(Setting::Any),
        None if text == "identical" => Ok(Setting::Identical),
        Some(("policy", name)) => {
            let kind: SchedulerKind = name.parse().map_err(|error| problem(format!("{error}")))?;
            if !is_huntable(&kind) {
                return Err(problem("a replay fits one kernel only".to_owned()).into());
            }
            Ok(Setting::Policy(load::setup(&kind)?))
        }
        _ => Err(problem(format!("unknown setting `{text}`")).into()),
    }
}

fn plan(args: &args::Hunt, setting: Setting) -> Hunt {
    let jobs = args.jobs.unwrap_or_else(load::threads);
    let mut plan = match named(&args.bound).scope() {
        Scope::Block => Hunt::usual(setting, args.bound == PUBLISHED, args.seed, jobs),
        Scope::Launch => {
            let together = Together {
                blocks: usize::from(args.blocks.unwrap_or(3)),
                places: usize::from(args.resident.unwrap_or(2)),
                sub_cores: usize::from(args.sub_cores.unwrap_or(1)),
            };
            Hunt::of_launches(setting, together, args.seed, jobs)
        }
    };
    plan.instances = args.instances.unwrap_or(plan.instances);
    plan.size.warps = usize::from(args.warps);
    plan.size.units = usize::from(args.units);
    plan.size.instructions = args.instructions.map_or(plan.size.instructions, usize::from);
    plan
}

/// Makes the files of a violation, has `check` judge them, and writes them if asked to.
fn show(args: &args::Hunt, plan: &Hunt, violation: Violation) -> Result<Shown, Diagnostics> {
    let Violation { witness, score, schedule, .. } = &violation;
    let name = format!("hunt-{}-{}-{}", args.bound, plan.setting, args.seed).replace(':', "-");
    let title = format!(
        "found by warpbound hunt --bound {} --seed {}, setting {}: worst {}, bound {}",
        args.bound, args.seed, plan.setting, score.worst.makespan, score.bound
    );
    let files = WitnessFiles::new(witness, &plan.setting, schedule, score.worst.makespan, &name, &title)?;
    let policy = match &plan.setting {
        Setting::Policy(policy) => policy.clone(),
        _ => {
            let source = SourceText::new("schedule.replay", files.schedule_text.as_str());
            PolicySetup::Replay(Schedule::parse(&source)?)
        }
    };
    let command = match &args.counterexamples {
        Some(dir) => write_folder(args, &files, &policy, &name, score, dir)?,
        None => format!("warpbound check kernel.warp --machine machine.ron --scheduler {policy}"),
    };
    Ok(Shown { violation, files, command })
}

fn write_folder(
    args: &args::Hunt,
    files: &WitnessFiles,
    policy: &PolicySetup,
    name: &str,
    score: &Score,
    dir: &Path,
) -> Result<String, Diagnostics> {
    let workload =
        Workload { name: name.to_owned(), kind: WorkloadKind::Micro(Box::new(files.kernel.clone())) };
    let fuel = 1 << 20;
    let runs = check(&Plan {
        workload: &workload,
        machine: &files.machine,
        policies: std::slice::from_ref(policy),
        bounds: &bound::all(),
        gating: std::slice::from_ref(&args.bound),
        max_instructions_per_block: fuel,
        threads: 1,
        ahead: false,
        self_check: true,
    })?;
    let run = &runs[0];
    assert_eq!(
        (run.makespan.get(), run.verdict()),
        (score.worst.makespan, Status::Violated),
        "check and hunt disagree on a witness"
    );
    let found = counterexample::counterexample(&counterexample::Inputs {
        workload: &workload,
        machine: &files.machine,
        machine_spec: &files.spec,
        policy,
        run,
        files: &[],
        seed: 0,
        max_instructions_per_block: fuel,
    })?;
    let folder = dir.join(name);
    std::fs::create_dir_all(&folder).map_err(|error| {
        Diagnostic::general(folder.display().to_string(), format!("cannot create the folder: {error}"))
    })?;
    for (file, bytes) in &found.files {
        output::write_file(&folder.join(file), bytes)?;
    }
    Ok(format!("cd {} && {}", shell_word(&folder.display().to_string()), found.command))
}

/// A setting: what was hunted, what was looked at, what was found.
type Row = (Hunt, Summary, Option<Shown>);

fn text(args: &args::Hunt, results: &[Row]) -> String {
    let mut out = String::new();
    for (plan, summary, shown) in results {
        let covered = match &plan.setting {
            Setting::Policy(_) => format!("{} instances simulated", summary.instances),
            _ => format!(
                "{} instances, {} of them exactly ({} states, {:.4e} schedules)",
                summary.instances, summary.exact, summary.states, summary.schedules
            ),
        };
        out.push_str(&format!("{} in setting {}, seed {}: {covered}\n", args.bound, plan.setting, args.seed));
        out.push_str(&format!(
            "  worst over bound: {:.4} on average, equal to the bound in {} instances\n",
            summary.mean_ratio(),
            summary.tight
        ));
        match shown {
            Some(shown) => out.push_str(&violation_text(args, shown)),
            None => out.push_str(&closest_text(plan, summary)),
        }
        out.push('\n');
    }
    out.pop();
    out
}

fn violation_text(args: &args::Hunt, shown: &Shown) -> String {
    let Shown {
        violation: Violation { found, found_score, witness, score, chain, shrink_tries, .. }, ..
    } = shown;
    let mut out = format!(
        "  VIOLATED in chain {chain}: worst {}, {} {}, {} instructions\n  shrunk to {} instructions on {} units: worst {}, {} {} ({shrink_tries} tries)\n",
        found_score.worst.makespan,
        args.bound,
        found_score.bound,
        found.instructions(),
        witness.instructions(),
        witness.units.len(),
        score.worst.makespan,
        args.bound,
        score.bound,
    );
    if args.counterexamples.is_none() {
        let WitnessFiles { kernel_text, machine_text, schedule_text, .. } = &shown.files;
        for (name, text) in
            [("kernel.warp", kernel_text), ("machine.ron", machine_text), ("schedule.replay", schedule_text)]
        {
            out.push_str(&format!("\n--- {name}\n{text}"));
        }
        out.push_str("---\n");
    }
    out.push_str(&format!("to see it again:\n  {}\n", shown.command));
    out
}

fn closest_text(plan: &Hunt, summary: &Summary) -> String {
    let Some((instance, score)) = &summary.closest else { return String::new() };
    let title = format!(
        "closest: worst {}, bound {}, ratio {:.4}, setting {}",
        score.worst.makespan,
        score.bound,
        score.ratio(),
        plan.setting
    );
    let text = instance.kernel_text(&title, "machine.ron") + &instance.machine_text("closest", &title);
    format!("  no violation\n\n{text}")
}

#[derive(Serialize)]
struct Report<'a> {
    schema: u32,
    tool_version: &'static str,
    bound: &'a str,
    seed: u64,
    settings: Vec<SettingReport<'a>>,
    verdict: &'static str,
}

#[derive(Serialize)]
struct SettingReport<'a> {
    setting: String,
    verdict: &'static str,
    instances: u64,
    exact_instances: u64,
    states: u64,
    schedules: f64,
    tight_instances: u64,
    mean_ratio: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    closest: Option<Block>,
    #[serde(skip_serializing_if = "Option::is_none")]
    violation: Option<ViolationReport<'a>>,
}

/// An instance with its worst case.
#[derive(Serialize)]
struct Block {
    worst: u64,
    bound: u64,
    ratio: f64,
    instructions: usize,
    units: usize,
    kernel: String,
    machine: String,
}

#[derive(Serialize)]
struct ViolationReport<'a> {
    chain: u64,
    shrink_tries: u64,
    found: Block,
    witness: Block,
    /// The warp at each issue, of a block.
    #[serde(skip_serializing_if = "Option::is_none")]
    schedule: Option<&'a [usize]>,
    /// The same as a replay file.
    replay: &'a str,
    replay_command: &'a str,
}

impl Block {
    fn new(instance: &crate::explore::hunt::Instance, score: &Score) -> Self {
        Self {
            worst: score.worst.makespan,
            bound: score.bound,
            ratio: rounded(score.ratio()),
            instructions: instance.instructions(),
            units: instance.units.len(),
            kernel: instance.kernel_text("", "machine.ron"),
            machine: instance.machine_text("hunt", ""),
        }
    }
}

impl<'a> Report<'a> {
    fn new(args: &'a args::Hunt, results: &'a [Row]) -> Self {
        let verdict = |violated: bool| if violated { Status::Violated.name() } else { Status::Holds.name() };
        let settings = results.iter().map(|(plan, summary, shown)| SettingReport {
            setting: plan.setting.to_string(),
            verdict: verdict(shown.is_some()),
            instances: summary.instances,
            exact_instances: summary.exact,
            states: summary.states,
            schedules: summary.schedules,
            tight_instances: summary.tight,
            mean_ratio: rounded(summary.mean_ratio()),
            closest: summary.closest.as_ref().map(|(instance, score)| Block::new(instance, score)),
            violation: shown.as_ref().map(|shown| ViolationReport {
                chain: shown.violation.chain,
                shrink_tries: shown.violation.shrink_tries,
                found: Block::new(&shown.violation.found, &shown.violation.found_score),
                witness: Block::new(&shown.violation.witness, &shown.violation.score),
                schedule: match &shown.violation.schedule {
                    Witness::Warps(warps) => Some(warps),
                    Witness::Decisions(_) => None,
                },
                replay: &shown.files.schedule_text,
                replay_command: &shown.command,
            }),
        });
        Self {
            schema: SCHEMA,
            tool_version: env!("CARGO_PKG_VERSION"),
            bound: &args.bound,
            seed: args.seed,
            settings: settings.collect(),
            verdict: verdict(results.iter().any(|(_, _, shown)| shown.is_some())),
        }
    }
}
