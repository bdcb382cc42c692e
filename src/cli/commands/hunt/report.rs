//! What `hunt` prints.

use serde::Serialize;

use super::{Row, Shown};
use crate::check::Status;
use crate::cli::args;
use crate::cli::session::Session;
use crate::explore::hunt::{Hunt, Score, Setting, Summary, Violation, Witness, WitnessFiles};
use crate::report::json::{SCHEMA, rounded};

/// The results for people.
pub fn text(args: &args::Hunt, rows: &[Row], not_reached: &[String], session: &Session) -> String {
    let mut out = String::new();
    for Row { plan, summary, ended_early, violation } in rows {
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
        if *ended_early {
            let reason = session.stopped().map_or("stopped", |reason| reason.text());
            out.push_str(&format!("  INCOMPLETE: {reason}\n"));
        }
        match violation {
            Some(shown) => out.push_str(&violation_text(args, shown)),
            None => out.push_str(&closest_text(plan, summary)),
        }
        out.push('\n');
    }
    if not_reached.is_empty() {
        out.pop();
    } else {
        out.push_str(&format!("INCOMPLETE: settings not reached: {}\n", not_reached.join(", ")));
    }
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
        out.push_str(&format!("---\nto see it again:\n  {}\n", shown.command));
    }
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

/// The results for scripts.
#[derive(Serialize)]
pub struct HuntReport<'a> {
    schema: u32,
    tool_version: &'static str,
    bound: &'a str,
    seed: u64,
    settings: Vec<SettingReport<'a>>,
    verdict: Status,
    complete: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stopped: Option<&'static str>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    not_reached: &'a [String],
}

#[derive(Serialize)]
struct SettingReport<'a> {
    setting: String,
    verdict: Status,
    complete: bool,
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
    /// The warp at each issue.
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

impl<'a> HuntReport<'a> {
    /// From what came of each setting.
    pub fn new(args: &'a args::Hunt, rows: &'a [Row], not_reached: &'a [String], session: &Session) -> Self {
        let verdict = |violated: bool| if violated { Status::Violated } else { Status::Holds };
        let settings = rows.iter().map(|Row { plan, summary, ended_early, violation }| SettingReport {
            setting: plan.setting.to_string(),
            verdict: verdict(violation.is_some()),
            complete: !ended_early,
            instances: summary.instances,
            exact_instances: summary.exact,
            states: summary.states,
            schedules: summary.schedules,
            tight_instances: summary.tight,
            mean_ratio: rounded(summary.mean_ratio()),
            closest: summary.closest.as_ref().map(|(instance, score)| Block::new(instance, score)),
            violation: violation.as_ref().map(|shown| ViolationReport {
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
        let complete = not_reached.is_empty() && !rows.iter().any(|row| row.ended_early);
        Self {
            schema: SCHEMA,
            tool_version: env!("CARGO_PKG_VERSION"),
            bound: &args.bound,
            seed: args.seed,
            settings: settings.collect(),
            verdict: verdict(rows.iter().any(|row| row.violation.is_some())),
            complete,
            stopped: session.stopped().filter(|_| !complete).map(|reason| reason.name()),
            not_reached,
        }
    }
}
