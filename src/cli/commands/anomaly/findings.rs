//! Findings as data and as text, each with the commands that show it again.

use std::fmt::Write;

use serde::Serialize;

use super::range::{Sweep, Swept};
use crate::base::Cycles;
use crate::cli::args::Anomaly;
use crate::cli::commands::again;
use crate::explore::anomaly::series::{self, Makespans, Rise};
use crate::machine::Machine;
use crate::report::json::{self, rounded};
use crate::report::style::Style;
use crate::report::table::Table;
use crate::sim::PolicySetup;

/// Largest rises and flips whose commands are printed as text; JSON has all.
const SHOWN_COMMANDS: usize = 5;
/// Flips shown as text.
const SHOWN_FLIPS: usize = 40;

/// What the command found.
#[derive(Serialize)]
pub struct AnomalyReport {
    /// Version of the contract.
    pub schema: u32,
    /// One per kernel.
    pub results: Vec<KernelFindings>,
    /// How it ended.
    #[serde(flatten)]
    pub batch: json::Batch,
    /// Version of the tool.
    pub tool_version: &'static str,
    /// Seed of random buffer contents.
    pub seed: u64,
}

/// What was found on a kernel.
#[derive(Serialize)]
pub struct KernelFindings {
    kernel: String,
    machine: String,
    machine_digest: String,
    /// What was swept.
    setting: String,
    /// Its values, descending.
    values: Vec<u64>,
    blocks: u64,
    policies: Vec<PolicyFindings>,
    flips: Vec<FlipFound>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

#[derive(Serialize)]
struct PolicyFindings {
    scheduler: String,
    makespans: Vec<u64>,
    /// Steps down at which the makespan goes up.
    rises: Vec<RiseFound>,
    /// The same between any two values, the largest.
    #[serde(skip_serializing_if = "Option::is_none")]
    largest: Option<RiseFound>,
}

#[derive(Serialize)]
struct RiseFound {
    value_before: u64,
    value_after: u64,
    makespan_before: u64,
    makespan_after: u64,
    increase: u64,
    increase_fraction: f64,
    command_before: String,
    command_after: String,
}

#[derive(Serialize)]
struct FlipFound {
    first: String,
    second: String,
    /// How often the lead changes along the sweep.
    changes: usize,
    first_leads: Lead,
    second_leads: Lead,
}

#[derive(Serialize)]
struct Lead {
    value: u64,
    first_makespan: u64,
    second_makespan: u64,
    /// The leader's saving, as a part of the other's makespan.
    lead_fraction: f64,
    first_command: String,
    second_command: String,
}

/// Builds the command that simulates one side of a finding.
pub struct Commands {
    before: Vec<String>,
    after: Vec<String>,
    swept: Swept,
}

impl Commands {
    /// For a kernel as the command line names it, with the options of this run.
    pub fn new(args: &Anomaly, kernel: &str, swept: &Swept) -> Self {
        let mut before = Vec::new();
        let mut after = Vec::new();
        let option = |to: &mut Vec<String>, name: &str, value: String| to.extend([name.to_owned(), value]);
        args.machine.iter().for_each(|m| option(&mut before, "--machine", m.clone()));
        args.mem_latency.iter().for_each(|l| {
            if *swept != Swept::MemLatency {
                option(&mut before, "--mem-latency", l.to_string());
            }
        });
        args.set.iter().for_each(|s| option(&mut before, "--set", s.clone()));
        args.seed.iter().for_each(|s| option(&mut after, "--seed", s.to_string()));
        after.extend(args.ptx.words());
        before.insert(0, kernel.to_owned());
        Self { before, after, swept: swept.clone() }
    }

    /// The command for a value and a policy.
    fn of(&self, value: u64, scheduler: &str) -> String {
        let start = ["warpbound".to_owned(), "run".to_owned()];
        let point = self.swept.option(value);
        let policy = ["--scheduler".to_owned(), scheduler.to_owned()];
        let words = start.iter().chain(&self.before).chain(&point).chain(&policy).chain(&self.after);
        again::shell_line(words)
    }
}

/// Everything anomalous in the makespans of a kernel.
pub fn findings(
    kernel: &str,
    machine: &Machine,
    sweep: &Sweep,
    policies: &[PolicySetup],
    makespans: &Makespans,
    commands: &Commands,
    notes: Vec<String>,
) -> KernelFindings {
    let names: Vec<String> = policies.iter().map(ToString::to_string).collect();
    let of_policy = |(scheduler, series): (&String, &Vec<Cycles>)| {
        let found = |rise: &Rise| RiseFound {
            value_before: sweep.values[rise.before],
            value_after: sweep.values[rise.after],
            makespan_before: series[rise.before].get(),
            makespan_after: series[rise.after].get(),
            increase: rise.increase.get(),
            increase_fraction: part(rise.increase, series[rise.before]),
            command_before: commands.of(sweep.values[rise.before], scheduler),
            command_after: commands.of(sweep.values[rise.after], scheduler),
        };
        PolicyFindings {
            scheduler: scheduler.clone(),
            makespans: series.iter().map(|makespan| makespan.get()).collect(),
            rises: series::rises(series).iter().map(found).collect(),
            largest: series::largest(series).as_ref().map(found),
        }
    };
    let mut flips = Vec::new();
    for (i, first) in makespans.of_policy.iter().enumerate() {
        for (j, second) in makespans.of_policy.iter().enumerate().skip(i + 1) {
            let Some(flip) = series::flip(first, second) else { continue };
            let lead = |point: usize| Lead {
                value: sweep.values[point],
                first_makespan: first[point].get(),
                second_makespan: second[point].get(),
                lead_fraction: lead_fraction(first[point], second[point]),
                first_command: commands.of(sweep.values[point], &names[i]),
                second_command: commands.of(sweep.values[point], &names[j]),
            };
            flips.push(FlipFound {
                first: names[i].clone(),
                second: names[j].clone(),
                changes: flip.changes,
                first_leads: lead(flip.first_leads),
                second_leads: lead(flip.second_leads),
            });
        }
    }
    KernelFindings {
        kernel: kernel.to_owned(),
        machine: machine.name().to_owned(),
        machine_digest: format!("{:016x}", machine.digest()),
        setting: sweep.setting.name().to_owned(),
        values: sweep.values.clone(),
        blocks: makespans.blocks,
        policies: names.iter().zip(&makespans.of_policy).map(of_policy).collect(),
        flips,
        notes,
    }
}

fn part(of: Cycles, whole: Cycles) -> f64 {
    if whole == Cycles::ZERO { 0.0 } else { rounded(of.get() as f64 / whole.get() as f64) }
}

fn lead_fraction(a: Cycles, b: Cycles) -> f64 {
    part(a.max(b) - a.min(b), a.max(b))
}

fn percent(fraction: f64) -> String {
    format!("{:.2} %", fraction * 100.0)
}

/// The findings for people.
pub fn text(all: &[KernelFindings], style: Style) -> String {
    let mut text = String::new();
    // machines differ, and with --unit the values do too
    let same = |a: &KernelFindings, b: &KernelFindings| a.setting == b.setting && a.values == b.values;
    for run in all.chunk_by(same) {
        let (Some(first), Some(high), Some(low)) = (run.first(), run[0].values.first(), run[0].values.last())
        else {
            continue;
        };
        let kernels = if run.len() == all.len() {
            String::new()
        } else {
            let names: Vec<&str> = run.iter().map(|kernel| kernel.kernel.as_str()).collect();
            format!("{}: ", names.join(", "))
        };
        let (setting, values) = (&first.setting, first.values.len());
        let _ = writeln!(text, "{kernels}{setting} swept down from {high} to {low}, {values} values");
    }
    text.push_str("one block at a time; all times in cycles\n\n");
    text.push_str(&rises_text(all, style));
    text.push_str(&flips_text(all, style));
    for kernel in all {
        for note in &kernel.notes {
            let _ = writeln!(text, "note ({}): {note}", kernel.kernel);
        }
    }
    text
}

fn rises_text(all: &[KernelFindings], style: Style) -> String {
    let heading =
        ["kernel", "policy", "steps up", "largest", "down to", "makespan", "becomes", "increase", ""];
    let mut table = Table::new(heading, &[0, 1]).expendable([2, 8, 3, 4]);
    let mut found: Vec<&RiseFound> = Vec::new();
    let mut without = 0;
    for kernel in all {
        for policy in &kernel.policies {
            let Some(rise) = &policy.largest else {
                without += 1;
                continue;
            };
            found.push(rise);
            table.row([
                kernel.kernel.clone(),
                policy.scheduler.clone(),
                policy.rises.len().to_string(),
                rise.value_before.to_string(),
                rise.value_after.to_string(),
                rise.makespan_before.to_string(),
                rise.makespan_after.to_string(),
                format!("+{}", rise.increase),
                percent(rise.increase_fraction),
            ]);
        }
    }
    let mut text = style.strong("Anomalies: the value goes down, the makespan goes up\n");
    if found.is_empty() {
        text.push_str("  none\n\n");
        return text;
    }
    text.push_str(&table.render(2, style.width));
    let _ = writeln!(
        text,
        "  {} of {} kernel and policy pairs; `steps up` counts neighbouring values, `largest` is between any two",
        found.len(),
        found.len() + without
    );
    // a stable sort, so that equal ones stay in the order of the table
    found.sort_by(|a, b| b.increase_fraction.total_cmp(&a.increase_fraction));
    text.push_str("  The largest, to be seen again with (--format json has the commands of all):\n");
    for rise in found.iter().take(SHOWN_COMMANDS) {
        let _ = writeln!(text, "    {}   # {}", rise.command_before, rise.makespan_before);
        let _ = writeln!(text, "    {}   # {}", rise.command_after, rise.makespan_after);
    }
    text.push('\n');
    text
}

fn flips_text(all: &[KernelFindings], style: Style) -> String {
    let mut flips: Vec<(&str, &FlipFound)> =
        all.iter().flat_map(|k| k.flips.iter().map(|flip| (k.kernel.as_str(), flip))).collect();
    let mut text = style.strong("Flips: which of two policies is faster depends on the value\n");
    if flips.is_empty() {
        text.push_str("  none\n");
        return text;
    }
    let weight = |flip: &FlipFound| flip.first_leads.lead_fraction.min(flip.second_leads.lead_fraction);
    flips.sort_by(|(_, a), (_, b)| weight(b).total_cmp(&weight(a)));
    let heading = ["kernel", "A", "B", "A leads at", "A", "B", "by", "B leads at", "A", "B", "by", "changes"];
    let mut table = Table::new(heading, &[0, 1, 2]).expendable([11, 4, 5, 8, 9]);
    for (kernel, flip) in flips.iter().take(SHOWN_FLIPS) {
        let lead = |lead: &Lead| {
            [
                lead.value.to_string(),
                lead.first_makespan.to_string(),
                lead.second_makespan.to_string(),
                percent(lead.lead_fraction),
            ]
        };
        let start = [(*kernel).to_owned(), flip.first.clone(), flip.second.clone()];
        let leads = lead(&flip.first_leads).into_iter().chain(lead(&flip.second_leads));
        table.row(start.into_iter().chain(leads).chain([flip.changes.to_string()]));
    }
    text.push_str(&table.render(2, style.width));
    if flips.len() > SHOWN_FLIPS {
        let _ = writeln!(text, "  ... and {} more (--format json has all)", flips.len() - SHOWN_FLIPS);
    }
    text.push_str("  The first, to be seen again with:\n");
    for (_, flip) in flips.iter().take(1) {
        for lead in [&flip.first_leads, &flip.second_leads] {
            let _ = writeln!(text, "    {}   # {}", lead.first_command, lead.first_makespan);
            let _ = writeln!(text, "    {}   # {}", lead.second_command, lead.second_makespan);
        }
    }
    text
}
