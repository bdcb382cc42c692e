//! `warpbound hunt`: searches adversarially for a violation of a bound.

mod machines;

use super::again::shell_word;
use super::check::check_bound_names;
use crate::args;
use crate::files::Folder;
use crate::output::{Ending, Outcome};
use crate::policies;
use crate::resources;
use crate::session::Session;
use warpbound_bound::{self as bound, Bound, Scope};
use warpbound_core::base::ProgressMonitor;
use warpbound_core::diag::{Diagnostic, Diagnostics, SourceText};
use warpbound_core::machine::PolicyKind;
use warpbound_judge::check::{Plan, RunOptions, Verdict, Workload, WorkloadKind, check, counterexample};
use warpbound_judge::explore::hunt::{
    Hunt, Hunted, Setting, Summary, Together, Violation, WitnessFiles, hunt, is_huntable,
};
use warpbound_report::hunt::{Found, HuntOutcome, HuntResult};
use warpbound_report::output::{self as report, Batch};
use warpbound_sim::PolicySetup;
use warpbound_sim::policy::Schedule;

/// The published bound, which is known to fail. Violations of it are searched for in several
/// settings.
const PUBLISHED: &str = "gub";

/// The result of one setting.
struct Row {
    plan: Hunt,
    summary: Summary,
    ended_early: bool,
    violation: Option<Shown>,
}

/// A violation with its files.
struct Shown {
    violation: Violation,
    files: WitnessFiles,
    /// The policy that reproduces the violation.
    policy: PolicySetup,
    /// The command that reproduces the violation.
    command: String,
}

/// Runs the command.
pub fn run(args: &args::Hunt, session: &Session) -> Outcome {
    check_bound_names(std::slice::from_ref(&args.bound), &bound::all())?;
    if args.instances == Some(0) {
        return Err(Diagnostic::general("--instances 0", "nothing to judge").into());
    }
    if !args.machine.is_empty() {
        return machines::run(args, session);
    }
    let make_bound = || named(&args.bound);
    for_drawn_machines(args, make_bound().as_ref())?;
    let mut plans = Vec::new();
    for setting in settings(args)? {
        setting.admits(make_bound().as_ref()).map_err(|reason| {
            Diagnostic::general(
                format!("--setting {setting}"),
                format!("bound {} claims nothing here: {reason}", args.bound),
            )
            .hint(setting_hint(make_bound().as_ref()))
        })?;
        plans.push(plan(args, setting));
    }
    let folder = folder(args, plans.iter().map(|plan| name(args, plan)), session)?;
    let mut rows = Vec::new();
    let mut left = plans.into_iter().peekable();
    while let Some(plan) = left.next_if(|_| !session.monitor.is_stopped()) {
        tracing::info!(setting = %plan.setting, bound = %args.bound, "hunting");
        session.progress.begin(format!("{} {}", args.bound, plan.setting), Some(plan.instances), "instances");
        let Hunted { summary, violation, ended_early } =
            hunt(&plan, &make_bound, &|chain, summary| progress(chain, summary), &session.monitor);
        let violation =
            violation.map(|violation| show(args, &plan, violation, folder.as_ref())).transpose()?;
        rows.push(Row { plan, summary, ended_early, violation });
    }
    let not_reached: Vec<String> = left.map(|plan| plan.setting.to_string()).collect();
    let violated = rows.iter().any(|row| row.violation.is_some());
    let mut ending = Ending { violated, ..Ending::default() };
    ending.report(session, args.format, &output(args, &rows, not_reached, session));
    for Row { plan, violation, .. } in &rows {
        let (Some(shown), Some(folder)) = (violation, &folder) else { continue };
        if let Err(problems) = write_folder(args, shown, &name(args, plan), folder) {
            ending.late.append(problems);
        } else if args.format.is_for_people() {
            let line =
                format!("\nsetting {}; to reproduce the violation:\n  {}\n", plan.setting, shown.command);
            ending.print(session, &line);
        }
    }
    Ok(ending)
}

fn output(
    args: &args::Hunt,
    rows: &[Row],
    not_reached: Vec<String>,
    session: &Session,
) -> report::Output<HuntOutcome> {
    let batch = batch(not_reached, rows.iter().any(|row| row.ended_early), session);
    let result = |Row { plan, summary, ended_early, violation }: &Row| {
        let found = |shown: &Shown| {
            Found::new(&shown.violation, &shown.command, &shown.files, args.counterexamples.is_none())
        };
        let ended_early = ended_early.then(|| session.stopped());
        let found = violation.as_ref().map(found);
        HuntOutcome::Schedules(HuntResult::new(&args.bound, plan, summary, ended_early, found))
    };
    let verdicts = rows.iter().map(|row| match row.violation {
        Some(_) => Verdict::Violated,
        None => Verdict::Holds,
    });
    let results = rows.iter().map(result).collect();
    report::Output::of_batch("hunt", Some(args.seed), results, batch).judged(verdicts)
}

/// Creates the folder for counterexamples, if requested, and checks that every possible
/// counterexample may be written, given their names.
fn folder(
    args: &args::Hunt,
    names: impl Iterator<Item = String>,
    session: &Session,
) -> Result<Option<Folder>, Diagnostics> {
    let Some(dir) = &args.counterexamples else { return Ok(None) };
    let folder = Folder::prepare("--counterexamples", dir, args.writing.force, &session.parts)?;
    let mut problems = Diagnostics::new();
    for name in names {
        if let Err(problem) = folder.check_folder(&name, &[]) {
            problems.push(problem);
        }
    }
    problems.into_result(Some(folder))
}

/// Returns what is reported about the settings that were not reached or not searched to the end.
fn batch(not_reached: Vec<String>, ended_early: bool, session: &Session) -> Batch {
    if not_reached.is_empty() && !ended_early {
        return Batch::default();
    }
    Batch { not_reached, ..Batch::stopped(session.stopped()) }
}

/// Returns the name of a violation.
fn name(args: &args::Hunt, plan: &Hunt) -> String {
    format!("hunt-{}-{}-{}", args.bound, plan.setting, args.seed).replace(':', "-")
}

fn named(name: &str) -> Box<dyn Bound> {
    bound::all().into_iter().find(|bound| bound.name() == name).expect("the name was checked")
}

/// The most warps per instance on machines that are drawn whole.
const MAX_WARPS: u16 = 8;

/// Rejects a bound that is not judged on machines that are drawn whole, and options that have no
/// meaning there.
fn for_drawn_machines(args: &args::Hunt, bound: &dyn Bound) -> Result<(), Diagnostics> {
    if !Setting::judges(bound) {
        let message = format!(
            "{} is about machines with a pipeline, and the machines that are drawn here have none",
            args.bound
        );
        return Err(Diagnostic::general(format!("--bound {}", args.bound), message)
            .hint("name machines, for example --machine accelsim-sm1")
            .into());
    }
    let given = [("--blocks", args.blocks), ("--resident", args.resident), ("--sub-cores", args.sub_cores)];
    let mut problems = Diagnostics::new();
    for (option, value) in given.into_iter().filter_map(|(option, value)| Some((option, value?))) {
        if bound.scope() == Scope::Block {
            let message = format!("bound {} is about single blocks, on one sub-core here", args.bound);
            let hint =
                "leave the option out; --bound rbb is about launches, and --machine draws launches, too";
            problems.push(Diagnostic::general(format!("{option} {value}"), message).hint(hint));
        }
    }
    if let Some(warps) = args.warps.filter(|warps| *warps > MAX_WARPS) {
        let message = format!("at most {MAX_WARPS} warps are searched on machines that are drawn whole");
        let hint = "give fewer warps, or name machines with --machine";
        problems.push(Diagnostic::general(format!("--warps {warps}"), message).hint(hint));
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
        if let Some(policy) = named(&args.bound).policy() {
            return Ok(vec![Setting::Policy(policies::setup(&policy)?)]);
        }
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
            .hint(format!("any, identical, or policy:NAME; policies: {}", huntable_policies()))
    };
    match text.split_once(':') {
        None if text == "any" => Ok(Setting::Any),
        None if text == "identical" => Ok(Setting::Identical),
        Some(("policy", name)) => {
            let kind: PolicyKind = name.parse().map_err(|error| problem(format!("{error}")))?;
            if !is_huntable(&kind) {
                return Err(problem("a replay fits one kernel only".to_owned()).into());
            }
            Ok(Setting::Policy(policies::setup(&kind)?))
        }
        _ => Err(problem(format!("unknown setting `{text}`")).into()),
    }
}

/// Returns which settings a bound is about.
fn setting_hint(bound: &dyn Bound) -> String {
    match bound.policy() {
        Some(policy) => format!("--setting policy:{policy} is the setting of {}", bound.name()),
        None => {
            "any, identical, policy:gto, policy:lrr, policy:oldest and policy:random:SEED are work conserving"
                .to_owned()
        }
    }
}

/// Returns the forms of the policies that can be hunted.
fn huntable_policies() -> String {
    let named = PolicyKind::NAMED.iter().map(ToString::to_string);
    named.chain(["random:SEED".to_owned()]).collect::<Vec<_>>().join(", ")
}

fn plan(args: &args::Hunt, setting: Setting) -> Hunt {
    let jobs = args.jobs.unwrap_or_else(resources::threads);
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
    plan.size.warps = args.warps.map_or(plan.size.warps, usize::from);
    plan.size.units = args.units.map_or(plan.size.units, usize::from);
    plan.size.instructions = args.instructions.map_or(plan.size.instructions, usize::from);
    plan
}

/// Makes the files of a violation.
fn show(
    args: &args::Hunt,
    plan: &Hunt,
    violation: Violation,
    folder: Option<&Folder>,
) -> Result<Shown, Diagnostics> {
    let Violation { witness, score, schedule, .. } = &violation;
    let name = name(args, plan);
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
    let bound = &args.bound;
    let command =
        format!("warpbound check kernel.warp --machine machine.ron --policy {policy} --bound {bound}");
    let command = match folder {
        Some(folder) => format!("cd {} && {command}", shell_word(&folder.path(&name).display().to_string())),
        None => command,
    };
    Ok(Shown { violation, files, policy, command })
}

/// Lets `check` judge a violation, and writes its folder.
fn write_folder(args: &args::Hunt, shown: &Shown, name: &str, folder: &Folder) -> Result<(), Diagnostics> {
    let Shown { violation: Violation { score, .. }, files, policy, .. } = shown;
    let workload =
        Workload { name: name.to_owned(), kind: WorkloadKind::Micro(Box::new(files.kernel.clone())) };
    let gating = std::slice::from_ref(&args.bound);
    let fuel = 1 << 20;
    // a violation is written even if the command was stopped
    let monitor = ProgressMonitor::new();
    let (bounds, policies) = (bound::all(), std::slice::from_ref(policy));
    let options = RunOptions::new(fuel, &monitor).judged_by(&bounds, gating).self_check(true);
    let runs = check(&Plan { workload: &workload, machine: &files.machine, policies, options })?;
    let run = &runs[0];
    assert_eq!(
        (run.makespan.get(), run.verdict()),
        (score.worst.makespan, Verdict::Violated),
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
        gating,
        max_instructions_per_block: fuel,
        monitor: &monitor,
    })?;
    folder.write(name, &found)?;
    Ok(())
}
