//! The report of the distance between bounds and the worst case: makespans, the worst schedule that
//! a search found, and bounds.

use std::fmt::Write;

use serde::Serialize;

use super::output::{Batch, Origin, Output, Report};
use super::style::Style;
use super::table::Table;
use super::verdict::{Bound, Status};
use super::{Fraction, count};
use warpbound_core::base::Cycles;
use warpbound_core::machine::Machine;
use warpbound_judge::check::order::notes_of;
use warpbound_judge::explore::adversary::{Found, Method};

/// The output of `worst`.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WorstReport {
    /// The results.
    #[serde(flatten)]
    pub output: Output<WorstResult>,
    /// The summary of all results that have a proved bound; absent if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<Summary>,
}

/// A launch. Times are in cycles. Blocks run one after the other, except on a machine with a
/// pipeline, where the launch is searched as a whole.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WorstResult {
    /// The name of the kernel.
    pub kernel: String,
    /// The machine.
    #[serde(flatten)]
    pub origin: Origin,
    /// The number of blocks.
    pub blocks: u32,
    /// The number of blocks that were searched; each other block executes the same instructions as
    /// one of these.
    pub searched_blocks: u32,
    /// The number of warps per block.
    pub warps: u32,
    /// Every executed instruction, counted once per warp that executed it.
    pub warp_instructions: u64,
    /// The longest makespan found: that of the launch, or the sum of the longest of each block.
    pub worst: u64,
    /// Whether no schedule takes longer, because every schedule was explored or a proved bound is
    /// attained.
    pub exact: bool,
    /// The method that found this makespan: policy, rules, climbing or exploration. For several
    /// blocks, this is the method that comes last in this order.
    pub found_by: &'static str,
    /// The longest makespan under gto, lrr and oldest, as far as the search tried them.
    pub worst_of_policies: u64,
    /// The longest makespan after the search by rules.
    pub worst_of_rules: u64,
    /// The number of schedules, or runs with different choices, that were evaluated.
    pub evaluations: u64,
    /// Every bound on all work-conserving schedules, with the verdict on the worst schedule found;
    /// `overestimation` is relative to that schedule.
    pub bounds: Vec<Bound>,
    /// The proved bound with the smallest value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tightest_proved: Option<&'static str>,
    /// The tightest proved bound minus the worst makespan found; negative if the bound is violated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slack_cycles: Option<i64>,
    /// The launch under gto and under lrr.
    pub policies: Vec<PolicyRow>,
    /// The replay file of the worst schedule, with `--out`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schedule: Option<String>,
    /// Why the run did not look for races; absent if it did. If it did not, the report holds only
    /// for the paths of one order of accesses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub races_not_looked_for: Option<String>,
    /// Whether the order of the issues determines the run, so that a replay file can hold it.
    #[serde(skip)]
    pub replays: bool,
}

/// A launch under a policy.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PolicyRow {
    /// The policy.
    pub policy: String,
    /// The makespan in cycles.
    pub makespan: u64,
    /// The worst makespan found minus this makespan.
    pub luck_cycles: i64,
    /// `luck_cycles` divided by this makespan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub luck: Option<Fraction>,
    /// `slack_cycles` of the launch divided by this makespan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slack: Option<Fraction>,
    /// (tightest proved bound - makespan) / makespan, which is the sum of `slack` and `luck`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overestimation: Option<Fraction>,
}

impl PolicyRow {
    /// Returns the row of a policy.
    pub fn new(policy: String, makespan: Cycles, worst: Cycles, slack: Option<i64>) -> Self {
        let over =
            |cycles: i64| (makespan > Cycles::ZERO).then(|| Fraction(cycles as f64 / makespan.get() as f64));
        let luck_cycles = worst.get() as i64 - makespan.get() as i64;
        Self {
            policy,
            makespan: makespan.get(),
            luck_cycles,
            luck: over(luck_cycles),
            slack: slack.and_then(over),
            overestimation: slack.and_then(|slack| over(slack + luck_cycles)),
        }
    }
}

/// The launch that was searched.
pub struct Launch<'a> {
    /// The name of the kernel.
    pub kernel: String,
    /// The machine.
    pub machine: &'a Machine,
    /// The number of blocks.
    pub blocks: u32,
    /// The number of warps per block.
    pub warps: u32,
    /// Every executed instruction, counted once per warp that executed it.
    pub warp_instructions: u64,
    /// The policies with their makespans.
    pub policies: Vec<(String, Cycles)>,
    /// Why the run did not look for races; `None` if it did.
    pub races_not_looked_for: Option<String>,
    /// Whether the order of the issues determines the run.
    pub replays: bool,
}

/// The results for the blocks of a launch, which run one after the other.
#[derive(Clone, Copy, Debug)]
pub struct Sum {
    /// The number of blocks that were searched.
    pub searched: u32,
    /// The sum of the longest makespans found.
    pub worst: Cycles,
    /// The sum of the longest makespans under policies.
    pub of_policies: Cycles,
    /// The sum of the longest makespans after the search by rules.
    pub of_rules: Cycles,
    /// The method that found them.
    pub by: Method,
    /// Whether no schedule takes longer.
    pub exact: bool,
    /// The number of schedules that were evaluated.
    pub evaluations: u64,
}

impl Default for Sum {
    /// Returns the sum over zero blocks.
    fn default() -> Self {
        Self {
            searched: 0,
            worst: Cycles::ZERO,
            of_policies: Cycles::ZERO,
            of_rules: Cycles::ZERO,
            by: Method::Policy,
            exact: true,
            evaluations: 0,
        }
    }
}

impl Sum {
    /// Adds a block. `again` means that it executes the same instructions as one that was added
    /// before.
    pub fn add(&mut self, found: &Found, again: bool) {
        self.worst += found.makespan;
        self.of_policies += found.by_policies;
        self.of_rules += found.by_rules;
        self.by = self.by.max(found.by);
        self.exact &= found.exact;
        if !again {
            self.searched += 1;
            self.evaluations += found.evaluations;
        }
    }
}

impl WorstResult {
    /// Returns the report of a launch. `tightest` is the proved bound with the smallest value.
    pub fn new(
        launch: Launch,
        found: Sum,
        bounds: Vec<Bound>,
        tightest: Option<(&'static str, Cycles)>,
        schedule: Option<String>,
    ) -> Self {
        let slack = tightest.map(|(_, bound)| bound.get() as i64 - found.worst.get() as i64);
        let row = |(policy, makespan)| PolicyRow::new(policy, makespan, found.worst, slack);
        Self {
            kernel: launch.kernel,
            origin: Origin::new(launch.machine),
            blocks: launch.blocks,
            searched_blocks: found.searched,
            warps: launch.warps,
            warp_instructions: launch.warp_instructions,
            worst: found.worst.get(),
            exact: found.exact,
            found_by: found.by.name(),
            worst_of_policies: found.of_policies.get(),
            worst_of_rules: found.of_rules.get(),
            evaluations: found.evaluations,
            bounds,
            tightest_proved: tightest.map(|(name, _)| name),
            slack_cycles: slack,
            policies: launch.policies.into_iter().map(row).collect(),
            schedule,
            races_not_looked_for: launch.races_not_looked_for,
            replays: launch.replays,
        }
    }

    fn bound(&self, name: &str) -> Option<&Bound> {
        self.bounds.iter().find(|bound| bound.name == name)
    }

    /// Returns the cells of the row of the launch.
    fn cells(&self) -> Vec<String> {
        let start = [
            self.kernel.clone(),
            self.blocks.to_string(),
            self.warps.to_string(),
            self.warp_instructions.to_string(),
        ];
        let policies = self.policies.iter().map(|row| row.makespan.to_string());
        let value = |name: Option<&str>| {
            name.and_then(|name| self.bound(name)).map_or_else(|| "-".to_owned(), Bound::value_text)
        };
        let mark = if self.exact { " (exact)" } else { "" };
        let slack = self.slack_cycles.map_or_else(|| "-".to_owned(), |slack| slack.to_string());
        let middle = [
            self.worst.to_string(),
            format!("{}{mark}", self.found_by),
            value(self.tightest_proved),
            value(Some("gub")),
            slack,
        ];
        let percent = |value: Option<Fraction>| {
            value.map_or_else(|| "-".to_owned(), |value| format!("{:.1} %", value.0 * 100.0))
        };
        let shares = self
            .policies
            .iter()
            .flat_map(|row| [row.luck_cycles.to_string(), percent(row.slack), percent(row.luck)]);
        start.into_iter().chain(policies).chain(middle).chain(shares).collect()
    }

    /// Returns the text of every bound that the worst schedule violates.
    fn violations(&self, style: Style) -> String {
        let mut text = String::new();
        for bound in self.bounds.iter().filter(|bound| bound.status == Status::Violated) {
            let value = bound.value_text();
            let _ = writeln!(
                text,
                "\n{}: bound {} {}: {value} cycles, and a schedule takes {}",
                self.kernel,
                bound.name,
                bound.status.text(style),
                self.worst
            );
            match &self.schedule {
                Some(file) => {
                    let _ = writeln!(text, "  its schedule is {file}, for --policy replay:FILE");
                }
                None if self.replays => {
                    text.push_str("  --out DIR writes its schedule for --policy replay:FILE\n");
                }
                None => {}
            }
        }
        text
    }
}

/// Means and totals over all launches.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Summary {
    /// The number of launches with a proved bound.
    pub launches: usize,
    /// The number of these launches whose worst case is known exactly.
    pub exact: usize,
    /// The sum of the worst makespans found.
    pub worst: u64,
    /// The sum of the tightest proved bounds.
    pub bound: u64,
    /// The summary under each policy.
    pub policies: Vec<PolicySummary>,
}

/// The summary of all launches under a policy: sums of cycles, and means of fractions.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PolicySummary {
    /// The policy.
    pub policy: String,
    /// The sum of the makespans.
    pub makespan: u64,
    /// The mean of `luck`.
    pub mean_luck: Fraction,
    /// The mean of `slack`.
    pub mean_slack: Fraction,
    /// The mean of `overestimation`, which is the sum of both.
    pub mean_overestimation: Fraction,
}

impl Summary {
    /// Returns the summary of these results, each of which has the same policies.
    pub fn new(results: &[WorstResult]) -> Option<Self> {
        let bounded: Vec<&WorstResult> =
            results.iter().filter(|result| result.slack_cycles.is_some()).collect();
        let first = bounded.first()?;
        let of_policy = |(index, row): (usize, &PolicyRow)| {
            let rows = || bounded.iter().filter_map(move |result| result.policies.get(index));
            let mean = |of: fn(&PolicyRow) -> Option<Fraction>| {
                Fraction(rows().filter_map(of).map(|value| value.0).sum::<f64>() / bounded.len() as f64)
            };
            PolicySummary {
                policy: row.policy.clone(),
                makespan: rows().map(|row| row.makespan).sum(),
                mean_luck: mean(|row| row.luck),
                mean_slack: mean(|row| row.slack),
                mean_overestimation: mean(|row| row.overestimation),
            }
        };
        let bound =
            |result: &&WorstResult| result.worst.saturating_add_signed(result.slack_cycles.unwrap_or(0));
        Some(Self {
            launches: bounded.len(),
            exact: bounded.iter().filter(|result| result.exact).count(),
            worst: bounded.iter().map(|result| result.worst).sum(),
            bound: bounded.iter().map(bound).sum(),
            policies: first.policies.iter().enumerate().map(of_policy).collect(),
        })
    }

    fn text(&self) -> String {
        let percent = |value: Fraction| format!("{:.1} %", value.0 * 100.0);
        let mut text = format!(
            "\n{}, the worst case of {} known exactly: worst found {} cycles in all, tightest proved bounds {}\n",
            count(self.launches, "launch"),
            self.exact,
            self.worst,
            self.bound
        );
        for row in &self.policies {
            let _ = writeln!(
                text,
                "  {}: makespans {} in all; mean overestimation {} = slack of the bound {} + luck of the policy {}",
                row.policy,
                row.makespan,
                percent(row.mean_overestimation),
                percent(row.mean_slack),
                percent(row.mean_luck)
            );
        }
        text
    }
}

impl AsRef<Batch> for WorstReport {
    fn as_ref(&self) -> &Batch {
        &self.output.batch
    }
}

impl Report for WorstReport {
    fn text(&self, style: Style) -> String {
        let results = &self.output.results;
        let Some(first) = results.first() else { return self.output.batch.text() };
        let start = ["kernel", "blocks", "warps", "warp insts"].map(str::to_owned);
        let policies = first.policies.iter().map(|row| row.policy.clone());
        let middle = ["worst found", "by", "bound", "gub", "slack"].map(str::to_owned);
        let shares = first
            .policies
            .iter()
            .flat_map(|row| [format!("luck {}", row.policy), "slack".to_owned(), "luck".to_owned()]);
        let heading: Vec<String> = start.into_iter().chain(policies).chain(middle).chain(shares).collect();
        let by = 5 + first.policies.len();
        let mut table = Table::new(heading, &[0, by]).expendable([2, 3, 1]);
        results.iter().for_each(|row| table.row(row.cells()));
        let mut text = table.render(0, style.width);
        results.iter().for_each(|row| text += &row.violations(style));
        let notes = notes_of(results.iter().filter_map(|row| row.races_not_looked_for.as_ref()));
        if !notes.is_empty() {
            text.push('\n');
            text.push_str(&style.fill(&notes));
        }
        if let Some(summary) = self.summary.as_ref().filter(|_| results.len() > 1) {
            text.push_str(&style.fill(&summary.text()));
        }
        text + &self.output.batch.text()
    }
}
