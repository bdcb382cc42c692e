//! The output that every command prints, as text or as one JSON object. Scripts rely on the JSON;
//! [`SCHEMA`] counts its versions. The names of numbers state their units; times without one are in
//! cycles.

use std::fmt::Write;

use serde::{Deserialize, Serialize};

use super::style::Style;
use super::verdict::Status;
use super::{count, grouped};
use warpbound_core::diag::{Diagnostic, Diagnostics};
use warpbound_core::machine::Machine;
use warpbound_judge::check::Verdict;

/// The version of the JSON. Version 1 had the fields of a single kernel's result at the top level.
/// Version 2 had several names for one thing (`docs/json.md` lists the differences).
pub const SCHEMA: u32 = 3;

/// The version of this tool.
pub const TOOL_VERSION: &str = env!("CARGO_PKG_VERSION");

/// A result that a command prints. It states whether and how the command ended early.
pub trait Report: Serialize + AsRef<Batch> {
    /// Returns the text for people.
    fn text(&self, style: Style) -> String;
}

/// The output of a command: its results, which are always a list, and facts about the whole
/// command.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Output<R> {
    /// The version of this JSON format.
    pub schema: u32,
    /// The name of the command.
    pub command: &'static str,
    /// The version of the tool.
    pub tool_version: &'static str,
    /// The seed of all random choices, if the command makes any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// One result per kernel, policy or setting, depending on the command.
    pub results: Vec<R>,
    /// The verdict over all results, if the command judges bounds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Status>,
    /// The number of results with a verdict, that is, to which some gating bound applied.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judged: Option<usize>,
    /// Whether and how the command ended early.
    #[serde(flatten)]
    pub batch: Batch,
}

impl<R> Output<R> {
    /// Returns the output of a command that completed all its results.
    pub fn new(command: &'static str, seed: Option<u64>, results: Vec<R>) -> Self {
        Self::of_batch(command, seed, results, Batch::default())
    }

    /// Returns the output of a command that worked through a batch.
    pub fn of_batch(command: &'static str, seed: Option<u64>, results: Vec<R>, batch: Batch) -> Self {
        Self {
            schema: SCHEMA,
            command,
            tool_version: TOOL_VERSION,
            seed,
            results,
            verdict: None,
            judged: None,
            batch,
        }
    }

    /// Adds the summary of the verdicts on the gating bounds, one verdict per result.
    #[must_use]
    pub fn judged(mut self, verdicts: impl Iterator<Item = Verdict> + Clone) -> Self {
        self.judged = Some(verdicts.clone().filter(Verdict::applies).count());
        self.verdict = Some(Status::of(&Verdict::combine(verdicts)));
        self
    }
}

impl<R> AsRef<Batch> for Output<R> {
    fn as_ref(&self) -> &Batch {
        &self.batch
    }
}

/// The origin of a result: together with the seed, it suffices to reproduce the result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Origin {
    /// The name of the machine.
    pub machine: String,
    /// The digest of all machine settings, in hexadecimal.
    pub machine_digest: String,
    /// The frequency of the SMs' clock in kHz, by which cycles become times: cycles * 1000 / this is
    /// a time in microseconds. Absent if the machine states none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_khz: Option<u32>,
}

impl Origin {
    /// Returns the origin of a result on this machine.
    pub fn new(machine: &Machine) -> Self {
        Self {
            machine: machine.name().to_owned(),
            machine_digest: format!("{:016x}", machine.digest()),
            clock_khz: machine.clock_khz(),
        }
    }

    /// Returns a number of cycles as text, with the time that they take if the clock is known.
    pub fn cycles_text(&self, cycles: u64) -> String {
        let unit = if cycles == 1 { "cycle" } else { "cycles" };
        let time = self.clock_khz.map_or_else(String::new, |clock| {
            let microseconds = cycles as f64 * 1000.0 / f64::from(clock);
            format!(" or {microseconds:.2} us")
        });
        format!("{} {unit}{time}", grouped(cycles))
    }
}

/// Why a command ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Stopped {
    /// The user pressed Ctrl-C.
    Interrupt,
    /// The process received SIGTERM.
    Terminated,
    /// The time given by `--time-limit` was over.
    TimeLimit,
    /// The number of states given by `--max-states` was reached.
    MaxStates,
    /// The memory was used up.
    Memory,
}

impl Stopped {
    /// Returns the reason as text for people.
    pub fn text(self) -> &'static str {
        match self {
            Self::Interrupt => "stopped by Ctrl-C",
            Self::Terminated => "stopped by SIGTERM",
            Self::TimeLimit => "stopped by --time-limit",
            Self::MaxStates => "stopped by --max-states",
            Self::Memory => "stopped because the memory was used up",
        }
    }
}

/// Whether and how a command ended early.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Batch {
    /// Whether all work was completed: nothing failed and nothing stopped the command.
    pub complete: bool,
    /// Why the command was stopped early, if it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped: Option<Stopped>,
    /// The inputs that were not started because the command was stopped, as the command line named
    /// them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_reached: Vec<String>,
    /// The kernels that failed, if the command was given several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<String>,
    /// The errors of the failed kernels, or of the command itself.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<Problem>,
    /// The number of further errors that are not listed.
    #[serde(skip_serializing_if = "is_zero")]
    pub more_errors: usize,
}

impl Default for Batch {
    /// Returns the state of a command that completed.
    fn default() -> Self {
        Self {
            complete: true,
            stopped: None,
            not_reached: Vec::new(),
            failed: Vec::new(),
            errors: Vec::new(),
            more_errors: 0,
        }
    }
}

impl Batch {
    /// Returns the state of a command that failed with these errors.
    pub fn failed(problems: &Diagnostics) -> Self {
        let errors = problems.list().iter().map(|problem| Problem::new(problem, Vec::new())).collect();
        Self { complete: false, errors, more_errors: problems.dropped(), ..Self::default() }
    }

    /// Returns the state of a command that was stopped early for this reason.
    pub fn stopped(stopped: Option<Stopped>) -> Self {
        Self { complete: false, stopped, ..Self::default() }
    }

    /// Returns the text on whether and how the command ended early; it is empty if the command
    /// completed.
    pub fn text(&self) -> String {
        let mut text = String::new();
        if !self.failed.is_empty() || self.stopped.is_some() {
            text.push('\n');
        }
        if !self.failed.is_empty() {
            let _ =
                writeln!(text, "{} failed: {}", count(self.failed.len(), "kernel"), self.failed.join(", "));
        }
        if let Some(stopped) = self.stopped {
            let _ = write!(text, "INCOMPLETE: {}", stopped.text());
            if !self.not_reached.is_empty() {
                let kernels = count(self.not_reached.len(), "kernel");
                let _ = write!(text, "; {kernels} not reached: {}", self.not_reached.join(", "));
            }
            text.push('\n');
        }
        text
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn is_zero(n: &usize) -> bool {
    *n == 0
}

/// An error.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Problem {
    /// The file or option that has the error.
    pub file: String,
    /// The line, from 1; 0 if the error has no line.
    pub line: u32,
    /// The column, from 1; 0 if the error has no column.
    pub column: u32,
    /// What is wrong.
    pub message: String,
    /// How to correct it; may be empty.
    pub hint: String,
    /// The kernels that have this error, as the command line named them, if the command was given
    /// several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kernels: Vec<String>,
}

impl Problem {
    /// Returns an error that these kernels have.
    pub fn new(problem: &Diagnostic, kernels: Vec<String>) -> Self {
        Self {
            file: problem.file.clone(),
            line: problem.line,
            column: problem.column,
            message: problem.message.clone(),
            hint: problem.hint.clone(),
            kernels,
        }
    }
}

/// The output of a command that failed without results.
pub type Failed = Output<()>;
