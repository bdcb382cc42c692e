//! The tables and figures of papers, our numbers beside the published ones.

pub mod anomaly;
pub mod betts;
pub mod diagxtrm;
pub mod example;
pub mod fermi;
pub mod figure;
pub mod pastis;
mod published;
pub mod stack;
mod table2;
mod table3;
mod table4;

use std::fmt::Write;

use serde::Serialize;

use figure::{FigureResult, Statement};

use super::Fraction;
use super::ablation::Ablation;
use super::output::{Output, Report};
use super::style::Style;
use super::table::Table;
use warpbound_core::base::Cycles;
use warpbound_judge::check::ablation::MACHINES;
use warpbound_judge::check::overestimation;

/// The paper of the model.
pub const PAPER: &str = "Jeanmougin et al., ECRTS 2025";

/// The difference from which a disagreement is marked, in percentage points.
const BEYOND: f64 = 3.0;

/// A table of a paper that is computed from the records of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paper {
    /// Overestimation over a suite (Jeanmougin et al., ECRTS 2025, Table 3).
    Table3,
    /// The same table over every launch of programs.
    Table3Calls,
    /// Overestimation of two matrix products (Jeanmougin et al., ECRTS 2025, Table 4).
    Table4,
}

impl Paper {
    /// Returns whether the table has the numbers of Table 3, which include those of single warps.
    pub fn is_table_3(self) -> bool {
        matches!(self, Self::Table3 | Self::Table3Calls)
    }

    /// Returns the embedded plan whose records it uses.
    pub fn plan(self) -> &'static str {
        match self {
            Self::Table3 => "table3",
            Self::Table3Calls => "table3-calls",
            Self::Table4 => "table4",
        }
    }
}

/// A table of a paper with our numbers.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ReproduceResult {
    /// The name of the table.
    pub table: &'static str,
    /// The paper.
    pub paper: &'static str,
    /// The embedded plan whose results these are, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<&'static str>,
    /// The compiler of the PTX, if it is not clang.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compiler: Option<String>,
    /// The digest of this plan and of all files that it names, in hexadecimal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan_digest: Option<String>,
    /// The number of runs that the table is based on.
    pub points: u64,
    /// The number of points that failed and are not included.
    pub failed: u64,
    /// The number of points at which a gating bound is exceeded.
    pub violated: u64,
    /// Every number of the table.
    pub numbers: Vec<Number>,
    /// Differences from the paper that matter for the comparison.
    pub notes: Vec<String>,
    /// Statements of the paper about the table, and whether they hold here.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub statements: Vec<Statement>,
    /// The layout of the text; `None` for an ablation.
    #[serde(skip)]
    of: Option<Paper>,
}

/// A number of the table, in percent if the paper has a percentage.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Number {
    /// The total latency of global memory, in cycles.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mem_latency: Option<u64>,
    /// The policy; `single-warp` for warps that run alone.
    pub policy: String,
    /// The bound; for single warps, the analyser.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound: Option<String>,
    /// The column of an ablation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<&'static str>,
    /// The program, if the table has several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program: Option<&'static str>,
    /// The number of warps of the block, if the table varies it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warps: Option<u64>,
    /// The statistic: `mean`, `max`, `weighted-mean`, `std-dev`, or `overestimation` of one run.
    pub figure: &'static str,
    /// Our number, in percent.
    pub ours: Fraction,
    /// The paper's number, in percent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub published: Option<Fraction>,
    /// Our number minus the paper's, in percentage points.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difference: Option<Fraction>,
}

impl Number {
    /// Returns a number without a subject.
    fn new(figure: &'static str, ours: f64, paper: Option<f64>) -> Self {
        Self {
            mem_latency: None,
            policy: String::new(),
            bound: None,
            column: None,
            program: None,
            warps: None,
            figure,
            ours: Fraction(ours),
            published: paper.map(Fraction),
            difference: paper.map(|paper| Fraction(ours - paper)),
        }
    }

    /// Returns a number with the subject of a bound under a policy.
    fn of_bound(mem_latency: u64, policy: &str, bound: &str, number: Self) -> Self {
        let (mem_latency, bound) = (Some(mem_latency), Some(bound.to_owned()));
        Self { mem_latency, policy: policy.to_owned(), bound, ..number }
    }

    /// Returns whether its subject is this bound under this policy.
    fn is_of(&self, mem_latency: u64, policy: &str, bound: &str) -> bool {
        (self.mem_latency, self.policy.as_str(), self.bound.as_deref())
            == (Some(mem_latency), policy, Some(bound))
    }

    /// Returns our number and the paper's as text, with a mark if they are far apart.
    fn cells(&self) -> [String; 2] {
        let far = self.difference.is_some_and(|difference| difference.0.abs() > BEYOND);
        [
            format!("{:.2}{}", self.ours.0, if far { "*" } else { " " }),
            self.published.map_or("-".to_owned(), |paper| format!("{:.2}", paper.0)),
        ]
    }
}

/// The fields of a plan's record that the tables use.
#[derive(Clone, Debug, serde::Deserialize)]
pub struct Measured {
    kernel: String,
    mem_latency: u64,
    policy: String,
    makespan: Option<u64>,
    verdict: Option<String>,
    gub: Option<u64>,
    iwb: Option<u64>,
    swb: Option<u64>,
    lwb: Option<u64>,
}

/// A function that returns the value of a bound in a record.
type BoundOf = fn(&Measured) -> Option<u64>;

/// The bounds that the tables show, with their columns in the records.
const BOUNDS: [(&str, BoundOf); 4] =
    [("gub", |run| run.gub), ("iwb", |run| run.iwb), ("swb", |run| run.swb), ("lwb", |run| run.lwb)];

impl Measured {
    /// Returns makespan and bound, if the record has both.
    fn against(&self, bound: BoundOf) -> Option<(u64, u64)> {
        self.makespan.zip(bound(self))
    }
}

/// Returns (bound - makespan) / makespan in percent.
fn over((makespan, bound): (u64, u64)) -> f64 {
    100.0 * overestimation(Cycles::new(bound), Cycles::new(makespan)).unwrap_or(0.0)
}

impl ReproduceResult {
    /// Returns the table computed from the records of its plan.
    pub fn new(paper: Paper, compiler: Option<String>, plan_digest: String, runs: &[Measured]) -> Self {
        let (table, numbers, notes) = match paper {
            Paper::Table3 => ("Table 3", table3::numbers(runs), table3::NOTES),
            Paper::Table3Calls => ("Table 3", table3::numbers(runs), table3::NOTES_OF_CALLS),
            Paper::Table4 => ("Table 4", table4::numbers(runs), table4::NOTES),
        };
        let by = compiler.as_deref().unwrap_or("clang");
        let compiled = format!("the kernels' PTX is by {by}; the paper does not name its compiler");
        Self {
            table,
            paper: PAPER,
            plan: Some(paper.plan()),
            compiler,
            plan_digest: Some(plan_digest),
            points: runs.len() as u64,
            failed: runs.iter().filter(|run| run.makespan.is_none()).count() as u64,
            violated: runs.iter().filter(|run| run.verdict.as_deref() == Some("violated")).count() as u64,
            numbers,
            notes: std::iter::once(compiled).chain(notes.iter().map(|note| (*note).to_owned())).collect(),
            statements: Vec::new(),
            of: Some(paper),
        }
    }

    /// Returns Table 2, computed from an ablation.
    pub fn of_ablation(ablation: &Ablation) -> Self {
        Self {
            table: "Table 2",
            paper: PAPER,
            plan: None,
            compiler: None,
            plan_digest: None,
            points: (ablation.kernels.len() * MACHINES) as u64,
            failed: 0,
            violated: 0,
            numbers: table2::numbers(ablation),
            notes: table2::notes(ablation),
            statements: table2::statements(ablation),
            of: None,
        }
    }

    fn find(&self, wanted: impl Fn(&Number) -> bool) -> Option<&Number> {
        self.numbers.iter().find(|number| wanted(number))
    }

    fn text(&self, style: Style) -> String {
        let (what, body) = match self.of {
            None => ("speed of simplified variants", table2::text(self, style)),
            Some(Paper::Table3 | Paper::Table3Calls) => ("overestimation", table3::text(self, style)),
            Some(Paper::Table4) => ("overestimation", table4::text(self, style)),
        };
        let heading = format!("{}, {}: {what} in percent, ours and the paper's\n\n", self.table, self.paper);
        let mut text = style.fill(&style.strong(&heading));
        text.push_str(&body);
        let _ = write!(text, "\n* more than {BEYOND} points from the paper\n");
        for statement in &self.statements {
            text.push_str(&style.fill(&statement.text()));
        }
        for note in &self.notes {
            text.push_str(&style.fill(&format!("note: {note}\n")));
        }
        match self.plan {
            Some(plan) => {
                let by = self.compiler.as_ref().map_or(String::new(), |name| format!(" with PTX by {name}"));
                let (points, violated) = (self.points, self.violated);
                let _ = writeln!(text, "\n{points} points of plan `{plan}`{by}, {violated} violated");
                if self.failed > 0 {
                    let _ =
                        writeln!(text, "{} failed: `warpbound sweep {plan} --out DIR` says why", self.failed);
                }
            }
            None => {
                let _ = writeln!(text, "\n{} runs", self.points);
            }
        }
        text
    }
}

/// The output of `reproduce` for one table or figure.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Reproduced {
    /// A table.
    Table(Box<ReproduceResult>),
    /// A figure.
    Figure(FigureResult),
    /// A table of estimates.
    Estimates(Box<betts::BettsResult>),
    /// A table of extreme-value statistics.
    Traces(Box<diagxtrm::DiagxtrmResult>),
    /// A section with several figures.
    Section(Box<pastis::PastisResult>),
    /// An entry of the list of what can be reproduced, if no name is given.
    Listed(Reproducible),
}

/// A table or figure that can be reproduced.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Reproducible {
    /// The name for `reproduce`.
    pub name: String,
    /// The label in the paper: table, figure or formula.
    pub what: &'static str,
    /// The paper.
    pub paper: &'static str,
    /// A description.
    pub about: &'static str,
}

impl Report for Output<Reproduced> {
    fn text(&self, style: Style) -> String {
        let mut parts: Vec<String> = Vec::new();
        let mut listed = list_table();
        for result in &self.results {
            match result {
                Reproduced::Table(table) => parts.push(table.text(style)),
                Reproduced::Figure(figure) => parts.push(figure.text(style)),
                Reproduced::Estimates(table) => parts.push(table.text(style)),
                Reproduced::Traces(table) => parts.push(table.text(style)),
                Reproduced::Section(section) => parts.push(section.text(style)),
                Reproduced::Listed(Reproducible { name, what, paper, about }) => {
                    listed.row([name.as_str(), what, paper, about]);
                }
            }
        }
        if parts.is_empty() && !self.results.is_empty() {
            parts.push(listed.render(0, style.width));
        }
        parts.join("\n") + &self.batch.text()
    }
}

fn list_table() -> Table {
    Table::new(["name", "what", "paper", "about"], &[0, 1, 2, 3])
}

/// Returns a table whose first columns are words.
fn table(heading: &[String], words: usize) -> Table {
    Table::new(heading.to_vec(), &(0..words).collect::<Vec<_>>())
}
