//! The report of timing anomalies, in which a shorter latency or phase leads to a longer schedule:
//! findings on kernels, findings among sequences of phases, and drawings.

use std::fmt::Write;

use serde::Serialize;

use super::Fraction;
use super::output::{Origin, Output, Report};
use super::phase_anomaly::{self, Drawn, PolicySearch};
use super::style::Style;
use super::table::Table;

/// The number of largest rises and flips for which text shows the commands; JSON has all.
const SHOWN_COMMANDS: usize = 5;
/// The number of flips that text shows.
const SHOWN_FLIPS: usize = 40;

/// The output of `anomaly`.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "level", rename_all = "kebab-case")]
pub enum AnomalyResult {
    /// The findings on a kernel.
    Kernel(KernelFindings),
    /// The findings among sequences of phases, under one policy.
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

/// The findings on a kernel.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct KernelFindings {
    /// The name of the kernel.
    pub kernel: String,
    /// The machine.
    #[serde(flatten)]
    pub origin: Origin,
    /// The setting that was swept.
    pub setting: String,
    /// The values of the setting, in descending order.
    pub values: Vec<u64>,
    /// The number of blocks that were simulated.
    pub blocks: u64,
    /// The findings under each policy.
    pub policies: Vec<PolicyFindings>,
    /// Pairs of policies of which one is faster at some values and the other at others.
    pub flips: Vec<FlipFound>,
    /// Remarks on the result.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// The findings under a policy.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PolicyFindings {
    /// The policy.
    pub policy: String,
    /// The makespan at each value, in cycles.
    pub makespans: Vec<u64>,
    /// Steps to the next smaller value at which the makespan increases.
    pub rises: Vec<RiseFound>,
    /// The largest increase between any two values.
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
    /// The makespan at the larger value, in cycles.
    pub makespan_before: u64,
    /// The makespan at the smaller value, in cycles.
    pub makespan_after: u64,
    /// The increase of the makespan, in cycles.
    pub increase: u64,
    /// The increase divided by the makespan at the larger value.
    pub increase_fraction: Fraction,
    /// A command that reproduces the makespan at the larger value.
    pub command_before: String,
    /// A command that reproduces the makespan at the smaller value.
    pub command_after: String,
}

/// Two policies whose order changes along the sweep.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FlipFound {
    /// The first policy.
    pub first: String,
    /// The second policy.
    pub second: String,
    /// How often the faster policy changes along the sweep.
    pub changes: usize,
    /// The value at which the first policy leads most.
    pub first_leads: Lead,
    /// The value at which the second policy leads most.
    pub second_leads: Lead,
}

/// A value at which one of two policies is faster.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Lead {
    /// The value of the setting.
    pub value: u64,
    /// Cycles under the first policy.
    pub first_makespan: u64,
    /// Cycles under the second policy.
    pub second_makespan: u64,
    /// The difference of the makespans divided by the longer one.
    pub lead_fraction: Fraction,
    /// A command that reproduces the makespan under the first policy.
    pub first_command: String,
    /// A command that reproduces the makespan under the second policy.
    pub second_command: String,
}

fn percent(fraction: Fraction) -> String {
    format!("{:.2} %", fraction.0 * 100.0)
}

/// Returns the findings as text for people.
fn text(all: &[&KernelFindings], style: Style) -> String {
    let mut text = String::new();
    // the machines may differ, and with --unit the values may differ, too
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
                policy.policy.clone(),
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
    // the sort is stable: equals stay in the order of the table
    found.sort_by(|a, b| b.increase_fraction.0.total_cmp(&a.increase_fraction.0));
    text.push_str("  Commands that reproduce the largest (--format json has the commands of all):\n");
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
    text.push_str("  Commands that reproduce the first:\n");
    for (_, flip) in flips.iter().take(1) {
        for lead in [&flip.first_leads, &flip.second_leads] {
            let _ = writeln!(text, "    {}   # {}", lead.first_command, lead.first_makespan);
            let _ = writeln!(text, "    {}   # {}", lead.second_command, lead.second_makespan);
        }
    }
    text
}
