//! The output of `check`: one kernel in full, or several in a table with a line each.

use std::fmt::Write;

use serde::Serialize;

use super::check::{CheckResult, self_check};
use super::count;
use super::output::{Output, Report};
use super::style::Style;
use super::table::Table;
use super::verdict::Status;

/// The output of `check`.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CheckReport<'a> {
    /// The results.
    #[serde(flatten)]
    pub output: Output<CheckResult<'a>>,
    /// Whether text shows each result in full, as it does if one kernel was named.
    #[serde(skip)]
    pub in_full: bool,
    /// Whether the table has a column for the machine, as it does if several were named.
    #[serde(skip)]
    pub several_machines: bool,
}

impl Report for CheckReport<'_> {
    fn text(&self, style: Style) -> String {
        let results = &self.output.results;
        let mut text = String::new();
        if self.in_full {
            results.iter().for_each(|result| text.push_str(&result.text(style)));
        } else if !results.is_empty() {
            text.push_str(&table(results, self.several_machines, style));
            text.push_str(&summary(results, style));
        }
        text.push_str(&self.output.batch.text());
        if self.output.judged == Some(0) {
            let open = !self.output.batch.complete || results.is_empty();
            let why = if open { "" } else { ": no gating bound applies" };
            let _ = writeln!(text, "\nnothing was judged{why}");
        }
        text
    }
}

/// Returns the table of the runs.
fn table(runs: &[CheckResult], machines: bool, style: Style) -> String {
    // a bound of only some runs also has a column; all runs list their bounds in the same order
    let mut names: Vec<&str> = Vec::new();
    for run in runs {
        let mut from = 0;
        for bound in &run.bounds {
            from = match names.iter().position(|name| *name == bound.name) {
                Some(known) => known + 1,
                None => {
                    names.insert(from, bound.name);
                    from + 1
                }
            };
        }
    }
    let mut heading = vec!["kernel"];
    heading.extend(machines.then_some("machine"));
    heading.extend(["policy", "blocks", "warp insts", "makespan"]);
    let words = heading.len() - 3;
    let columns = names.iter().flat_map(|name| [*name, "over"]);
    let last = heading.len() + names.len() * 2;
    // columns dropped first on a narrow terminal: blocks and instructions, then overestimations,
    // then bounds from the right
    let overs = (0..names.len()).rev().map(|bound| heading.len() + 2 * bound + 1);
    let values = (0..names.len()).rev().map(|bound| heading.len() + 2 * bound);
    let expendable: Vec<usize> = [words, words + 1].into_iter().chain(overs).chain(values).collect();
    let left: Vec<usize> = (0..words).chain([last]).collect();
    let mut table =
        Table::new(heading.into_iter().chain(columns).chain(["verdict"]), &left).expendable(expendable);
    for run in runs {
        let mut start = vec![run.kernel.clone()];
        start.extend(machines.then(|| run.origin.machine.clone()));
        start.extend([
            run.scheduler.clone(),
            of_launch(run),
            run.warp_instructions.to_string(),
            run.makespan.to_string(),
        ]);
        let bounds =
            names.iter().flat_map(|name| match run.bounds.iter().find(|bound| bound.name == *name) {
                Some(bound) => [bound.value_text(), bound.over_text()],
                None => ["-".to_owned(), "-".to_owned()],
            });
        let so_far = if run.complete { "" } else { " so far" };
        table.row(start.into_iter().chain(bounds).chain([run.verdict.text(style) + so_far]));
    }
    table.render(0, style.width)
}

/// Returns the number of blocks, and of how many if some are missing; for a program, the number of
/// launches.
fn of_launch(run: &CheckResult) -> String {
    let done = run.program.as_ref().map_or(run.blocks_done(), |program| program.done());
    match run.launch_blocks {
        None => done.to_string(),
        Some(all) => format!("{done} of {all}"),
    }
}

/// Returns the summary of all runs.
fn summary(runs: &[CheckResult], style: Style) -> String {
    let with = |status: Status| {
        let number = runs.iter().filter(|run| run.verdict == status).count();
        format!("{number} {}", status.text(style))
    };
    let instructions: u64 = runs.iter().map(|run| run.warp_instructions).sum();
    // all policies of a kernel share its self-check
    let by_kernel = runs.chunk_by(|a, b| (&a.kernel, &a.origin.machine) == (&b.kernel, &b.origin.machine));
    let self_checked: u64 = by_kernel.filter_map(|runs| runs[0].self_checked_warps).sum();
    let text = format!(
        "\n{}, {instructions} warp instructions: {}, {}, {}\n",
        count(runs.len(), "run"),
        with(Status::Holds),
        with(Status::Violated),
        with(Status::NotApplicable),
    );
    let mut text = style.fill(&text);
    if self_checked > 0 {
        text.push_str(&self_check(self_checked));
    }
    text
}
