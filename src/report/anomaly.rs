//! Something gets shorter and the schedule gets longer: findings on kernels, among whole phases, and drawings.

use std::fmt::Write;

use serde::Serialize;

use super::Fraction;
use super::output::{Origin, Output, Report};
use super::phase_anomaly::{self, Drawn, PolicySearch};
use super::style::Style;
use super::table::Table;

/// Largest rises and flips whose commands are printed as text; JSON has all.
const SHOWN_COMMANDS: usize = 5;
/// Flips shown as text.
const SHOWN_FLIPS: usize = 40;

/// What `anomaly` says.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "level", rename_all = "kebab-case")]
pub enum AnomalyResult {
    /// Of a kernel.
    Kernel(KernelFindings),
    /// Of a policy on whole phases.
    Phases(PolicySearch),
    /// The schedule of given phases.
    Lengths(Drawn),
}

impl Report for Output<AnomalyResult> {
    fn text(&self, style: Style) -> String {
        let (mut kernels, mut searches, mut drawn) = (Vec::new(), Vec::new(), Vec::new());
        for result in &self.results {
            match result {
                AnomalyResult::Kernel(found) => kernels.push(found),
                AnomalyResult::Phases(found) => searches.push(found),
                AnomalyResult::Lengths(found) => drawn.push(found),
            }
        }
        let text = match (searches.is_empty(), drawn.is_empty()) {
            (true, true) => text(&kernels, style),
            (false, _) => phase_anomaly::text(&searches, self.seed, style),
            (true, false) => phase_anomaly::drawings(&drawn),
        };
        text + &self.batch.text()
    }
}

/// What was found on a kernel.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct KernelFindings {
    /// The kernel.
    pub kernel: String,
    /// The machine.
    #[serde(flatten)]
    pub origin: Origin,
    /// What was swept.
    pub setting: String,
    /// Its values, descending.
    pub values: Vec<u64>,
    /// Blocks that were replayed.
    pub blocks: u64,
    /// Each policy.
    pub policies: Vec<PolicyFindings>,
    /// Pairs of policies of which one is faster here and the other there.
    pub flips: Vec<FlipFound>,
    /// What a reader must know.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// What was found under a policy.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PolicyFindings {
    /// The policy.
    pub scheduler: String,
    /// Cycles at each value.
    pub makespans: Vec<u64>,
    /// Steps down at which the makespan goes up.
    pub rises: Vec<RiseFound>,
    /// The same between any two values, the largest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub largest: Option<RiseFound>,
}

/// Two values of which the smaller gives the longer makespan.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RiseFound {
    /// The larger value.
    pub value_before: u64,
    /// The smaller value.
    pub value_after: u64,
    /// Cycles at the larger value.
    pub makespan_before: u64,
    /// Cycles at the smaller value.
    pub makespan_after: u64,
    /// How many more.
    pub increase: u64,
    /// The same over the makespan before.
    pub increase_fraction: Fraction,
    /// What shows the first.
    pub command_before: String,
    /// What shows the second.
    pub command_after: String,
}

/// Two policies that change places along the sweep.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FlipFound {
    /// A policy.
    pub first: String,
    /// Another one.
    pub second: String,
    /// How often the lead changes along the sweep.
    pub changes: usize,
    /// Where the first is faster by most.
    pub first_leads: Lead,
    /// Where the second is.
    pub second_leads: Lead,
}

/// A point at which one of two policies is faster.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Lead {
    /// The value.
    pub value: u64,
    /// Cycles under the first policy.
    pub first_makespan: u64,
    /// Cycles under the second.
    pub second_makespan: u64,
    /// The leader's saving, as a part of the other's makespan.
    pub lead_fraction: Fraction,
    /// What shows the first.
    pub first_command: String,
    /// What shows the second.
    pub second_command: String,
}

fn percent(fraction: Fraction) -> String {
    format!("{:.2} %", fraction.0 * 100.0)
}

/// The findings for people.
fn text(all: &[&KernelFindings], style: Style) -> String {
    let mut text = String::new();
    // machines differ, and with --unit the values do too
    let same = |a: &&KernelFindings, b: &&KernelFindings| a.setting == b.setting && a.values == b.values;
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

fn rises_text(all: &[&KernelFindings], style: Style) -> String {
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
    found.sort_by(|a, b| b.increase_fraction.0.total_cmp(&a.increase_fraction.0));
    text.push_str("  The largest, to be seen again with (--format json has the commands of all):\n");
    for rise in found.iter().take(SHOWN_COMMANDS) {
        let _ = writeln!(text, "    {}   # {}", rise.command_before, rise.makespan_before);
        let _ = writeln!(text, "    {}   # {}", rise.command_after, rise.makespan_after);
    }
    text.push('\n');
    text
}

fn flips_text(all: &[&KernelFindings], style: Style) -> String {
    let mut flips: Vec<(&str, &FlipFound)> =
        all.iter().flat_map(|k| k.flips.iter().map(|flip| (k.kernel.as_str(), flip))).collect();
    let mut text = style.strong("Flips: which of two policies is faster depends on the value\n");
    if flips.is_empty() {
        text.push_str("  none\n");
        return text;
    }
    let weight = |flip: &FlipFound| flip.first_leads.lead_fraction.0.min(flip.second_leads.lead_fraction.0);
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
