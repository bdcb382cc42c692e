//! The output of `check`: one kernel in full, or several in a table with a line each. Only the
//! parts of a result that its form shows are kept, so that the results of very many kernels fit in
//! memory.

use std::fmt::Write;

use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use super::answer::{Answer, OfMachine};
use super::check::{CheckResult, self_check};
use super::count;
use super::output::{Batch, Output, Report};
use super::style::Style;
use super::table::Table;
use super::verdict::{Bound, Status};
use warpbound_judge::check::Verdict;

/// The form in which results are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// JSON.
    Json,
    /// Text that shows each result in full, as if one kernel was named.
    InFull(Style),
    /// A table with a line for each result.
    Table {
        /// Whether the table has a column for the machine, as it does if several were named.
        several_machines: bool,
    },
}

/// The output of `check`.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CheckReport {
    // its results are empty for the forms other than JSON
    #[serde(flatten)]
    #[cfg_attr(test, schemars(with = "Output<CheckResult<'static>>"))]
    output: Output<Box<RawValue>>,
    /// The answer for each kernel on each machine: the smallest proved bound beside the longest
    /// run. Runs that different bounds cover have an answer each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    answers: Vec<Answer>,
    /// The answers on each machine, combined.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    by_machine: Vec<OfMachine>,
    #[serde(skip)]
    form: Form,
    /// The verdict over the results so far.
    #[serde(skip)]
    verdict: Option<Verdict>,
    /// The text of each result, if they are shown in full.
    #[serde(skip)]
    text: String,
    /// The rows of the table, if the results are shown in one.
    #[serde(skip)]
    rows: Vec<Row>,
    /// The number of results.
    #[serde(skip)]
    results: usize,
    /// The number of kernels with results.
    #[serde(skip)]
    kernels: usize,
}

/// The part of a result that the table and its summary show.
#[derive(Clone, Debug)]
struct Row {
    kernel: Box<str>,
    machine: Box<str>,
    policy: Box<str>,
    blocks: Box<str>,
    warp_instructions: u64,
    makespan: u64,
    bounds: Box<[Bound]>,
    complete: bool,
    verdict: Status,
    self_checked_warps: Option<u64>,
}

impl CheckReport {
    /// Returns the output without results.
    pub fn new(seed: u64, form: Form) -> Self {
        Self {
            output: Output::new("check", Some(seed), Vec::new()).judged(std::iter::empty()),
            answers: Vec::new(),
            by_machine: Vec::new(),
            form,
            verdict: None,
            text: String::new(),
            rows: Vec::new(),
            results: 0,
            kernels: 0,
        }
    }

    /// Adds a result, with the verdict on its gating bounds.
    pub fn add(&mut self, result: &CheckResult, verdict: Verdict) {
        self.results += 1;
        match self.form {
            Form::Json => self.output.results.push(to_raw_value(result).expect("reports are plain data")),
            Form::InFull(style) => self.text.push_str(&result.text(style)),
            Form::Table { .. } => self.rows.push(Row::of(result)),
        }
        *self.output.judged.get_or_insert_default() += usize::from(verdict.applies());
        let verdict = Verdict::combine(self.verdict.take().into_iter().chain([verdict]));
        self.output.verdict = Some(Status::of(&verdict));
        self.verdict = Some(verdict);
    }

    /// Adds the answers for a kernel.
    pub fn answer(&mut self, answers: Vec<Answer>) {
        self.kernels += 1;
        self.answers.extend(answers);
    }

    /// Returns the number of results.
    pub fn results(&self) -> usize {
        self.results
    }

    /// Sets whether and how the command ended early.
    pub fn end(&mut self, batch: Batch) {
        self.output.batch = batch;
        self.by_machine = OfMachine::all(&self.answers);
    }

    /// Returns the sentences that the output begins with: those of one kernel, or one for each
    /// machine.
    fn opening(&self, style: Style) -> String {
        let alone = self.kernels == 1 && self.by_machine.len() == 1;
        let sentences: Vec<String> = match self.kernels {
            1 if alone => self.answers.iter().map(|answer| answer.sentence.clone()).collect(),
            1 => self.answers.iter().map(Answer::with_names).collect(),
            _ => self.by_machine.iter().map(OfMachine::sentence).collect(),
        };
        let mut text = String::new();
        for sentence in sentences {
            text.push_str(&style.fill(&format!("{sentence}\n")));
        }
        if !text.is_empty() {
            text.push('\n');
        }
        text
    }
}

impl AsRef<Batch> for CheckReport {
    fn as_ref(&self) -> &Batch {
        &self.output.batch
    }
}

impl Report for CheckReport {
    fn text(&self, style: Style) -> String {
        let mut text = self.opening(style);
        text.push_str(&self.text);
        if let (Form::Table { several_machines }, [_, ..]) = (self.form, self.rows.as_slice()) {
            text.push_str(&table(&self.rows, several_machines, style));
            text.push_str(&by_machine(&self.by_machine, style));
            text.push_str(&summary(&self.rows, style));
        }
        text.push_str(&self.output.batch.text());
        if self.output.judged == Some(0) {
            let open = !self.output.batch.complete || self.results == 0;
            let why = if open { "" } else { ": no gating bound applies" };
            let _ = writeln!(text, "\nnothing was judged{why}");
        }
        text
    }
}

impl Row {
    fn of(result: &CheckResult) -> Self {
        // a table has no room for reasons
        let bound = |bound: &Bound| Bound { reason: None, parts: Vec::new(), ..bound.clone() };
        Self {
            kernel: result.kernel.as_str().into(),
            machine: result.origin.machine.as_str().into(),
            policy: result.policy.as_str().into(),
            blocks: of_launch(result).into(),
            warp_instructions: result.warp_instructions,
            makespan: result.makespan,
            bounds: result.bounds.iter().map(bound).collect(),
            complete: result.complete,
            verdict: result.verdict,
            self_checked_warps: result.self_checked_warps,
        }
    }

    /// Returns by how much the smallest proved bound exceeds the makespan.
    fn least_overestimation(&self) -> String {
        let proved = self.bounds.iter().filter(|bound| bound.proved && bound.value.is_some());
        proved.min_by_key(|bound| bound.value).map_or_else(|| "-".to_owned(), Bound::overestimation_text)
    }
}

/// Returns the table of the runs. A bound has a column if it applies to some run; those that apply to
/// none are named below the table.
fn table(runs: &[Row], machines: bool, style: Style) -> String {
    let (names, without): (Vec<&str>, Vec<&str>) = bounds_of(runs).into_iter().partition(|name| {
        runs.iter().any(|run| run.bounds.iter().any(|bound| bound.name == *name && bound.value.is_some()))
    });
    let mut heading = vec!["kernel"];
    heading.extend(machines.then_some("machine"));
    heading.extend(["policy", "blocks", "warp insts", "makespan"]);
    let (words, first) = (heading.len() - 3, heading.len());
    // columns dropped first on a narrow terminal: blocks and instructions, then bounds; the verdict stays
    let values = first..first + names.len();
    let last = [first + names.len(), first - 1];
    let expendable: Vec<usize> = [words, words + 1].into_iter().chain(values).chain(last).collect();
    let left: Vec<usize> = (0..words).chain([first + names.len() + 1]).collect();
    let columns = heading.into_iter().chain(names.iter().copied()).chain(["overestimation", "verdict"]);
    let mut table = Table::new(columns, &left).expendable(expendable);
    for run in runs {
        let mut start = vec![run.kernel.to_string()];
        start.extend(machines.then(|| run.machine.to_string()));
        start.extend([
            run.policy.to_string(),
            run.blocks.to_string(),
            run.warp_instructions.to_string(),
            run.makespan.to_string(),
        ]);
        let value = |name: &&str| match run.bounds.iter().find(|bound| bound.name == *name) {
            Some(bound) => bound.value_text(),
            None => "-".to_owned(),
        };
        let so_far = if run.complete { "" } else { " so far" };
        let end = [run.least_overestimation(), run.verdict.text(style) + so_far];
        table.row(start.into_iter().chain(names.iter().map(value)).chain(end));
    }
    let text = table.render(0, style.width);
    if without.is_empty() || names.is_empty() {
        return text;
    }
    let apply = if without.len() == 1 { "applies" } else { "apply" };
    let line = format!("({} {apply} to none of these runs; `check KERNEL` states why)\n", without.join(", "));
    text + &style.fill(&line)
}

/// Returns the names of the bounds of all runs. A bound may be defined only for some runs; all runs
/// list their bounds in the same order.
fn bounds_of(runs: &[Row]) -> Vec<&'static str> {
    let mut names: Vec<&str> = Vec::new();
    for run in runs {
        let mut from = 0;
        for bound in &*run.bounds {
            from = match names.iter().position(|name| *name == bound.name) {
                Some(known) => known + 1,
                None => {
                    names.insert(from, bound.name);
                    from + 1
                }
            };
        }
    }
    names
}

/// Returns the table of the proved bounds on each machine: how many kernels have one, how much
/// larger they are than the longest runs, and the mean share of each part, over the bounds whose
/// parts are known. It is empty if there is one machine and the parts of no bound are known.
fn by_machine(machines: &[OfMachine], style: Style) -> String {
    if machines.len() < 2 && machines.iter().all(|of| of.with_parts == 0) {
        return String::new();
    }
    let mut names: Vec<&str> = Vec::new();
    for part in machines.iter().flat_map(|of| &of.parts) {
        if !names.contains(&&*part.part) {
            names.push(&part.part);
        }
    }
    // the largest share of any machine comes first, so that small ones are left out on a narrow terminal
    let largest = |name: &str| {
        let parts = machines.iter().flat_map(|of| &of.parts).filter(|part| part.part == name);
        parts.map(|part| part.share.0).fold(0.0, f64::max)
    };
    names.sort_by(|a, b| largest(b).total_cmp(&largest(a)));
    let heading = ["machine", "kernels", "guaranteed", "mean ratio", "largest", "with parts"];
    let first = heading.len();
    let expendable: Vec<usize> = (first..first + names.len()).rev().chain([5, 4]).collect();
    let columns = heading.into_iter().chain(names.iter().copied());
    let mut table = Table::new(columns, &[0]).uncut(&[0]).expendable(expendable);
    let percent = |share: f64| format!("{:.1} %", share * 100.0);
    for of in machines {
        let ratio = |ratio: Option<super::Fraction>| match ratio {
            Some(ratio) => format!("{:.2}", ratio.0),
            None => "-".to_owned(),
        };
        let start = [
            of.origin.machine.clone(),
            of.kernels.to_string(),
            of.guaranteed.to_string(),
            ratio(of.mean_ratio),
            ratio(of.largest_ratio),
            of.with_parts.to_string(),
        ];
        let share = |name: &&str| {
            let part = of.parts.iter().find(|part| part.part == **name);
            part.map_or_else(|| "-".to_owned(), |part| percent(part.share.0))
        };
        table.row(start.into_iter().chain(names.iter().map(share)));
    }
    format!("\n{}", table.render(0, style.width))
}

/// Returns the number of blocks, with the total if some are missing; for a program, the number of
/// launches.
fn of_launch(run: &CheckResult) -> String {
    let done = run.program.as_ref().map_or(run.blocks_done(), |program| program.done());
    match run.launch_blocks {
        None => done.to_string(),
        Some(all) => format!("{done} of {all}"),
    }
}

/// Returns the summary of all runs.
fn summary(runs: &[Row], style: Style) -> String {
    let with = |status: Status| {
        let number = runs.iter().filter(|run| run.verdict == status).count();
        format!("{number} {}", status.text(style))
    };
    let instructions: u64 = runs.iter().map(|run| run.warp_instructions).sum();
    // all policies of a kernel share its self-check
    let by_kernel = runs.chunk_by(|a, b| (&a.kernel, &a.machine) == (&b.kernel, &b.machine));
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
