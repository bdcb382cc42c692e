//! What every command prints, as text or as one JSON object. Scripts rely on the JSON; [`SCHEMA`] counts its
//! versions. Names carry their units; times are cycles.

use std::fmt::Write;

use serde::{Deserialize, Serialize};

use super::count;
use super::style::Style;
use super::verdict::Status;
use crate::check::Verdict;
use crate::diag::{Diagnostic, Diagnostics};
use crate::machine::Machine;

/// Version of the JSON. 1 had the result of a single kernel flat in the object.
pub const SCHEMA: u32 = 2;

/// Version of this tool.
pub const TOOL_VERSION: &str = env!("CARGO_PKG_VERSION");

/// Something that a command prints.
pub trait Report: Serialize {
    /// For people.
    fn text(&self, style: Style) -> String;
}

/// What a command came to: its results, always a list, and what is to be said of all of them together.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Output<R> {
    /// Version of this contract.
    pub schema: u32,
    /// The command.
    pub command: &'static str,
    /// Version of the tool.
    pub tool_version: &'static str,
    /// Seed of everything that is drawn, where something can be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// One per kernel, policy, setting: whatever the command goes through.
    pub results: Vec<R>,
    /// Over all results, where the command judges.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Status>,
    /// Results with a verdict: some gating bound applied.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judged: Option<usize>,
    /// How it ended.
    #[serde(flatten)]
    pub batch: Batch,
}

impl<R> Output<R> {
    /// Results that are all there are.
    pub fn new(command: &'static str, seed: Option<u64>, results: Vec<R>) -> Self {
        Self::of_batch(command, seed, results, Batch::default())
    }

    /// Results of a batch.
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

    /// With what became of the gating bounds of each result.
    #[must_use]
    pub fn judged(mut self, verdicts: impl Iterator<Item = Verdict> + Clone) -> Self {
        self.judged = Some(verdicts.clone().filter(Verdict::applies).count());
        self.verdict = Some(Status::of(&Verdict::combine(verdicts)));
        self
    }
}

/// Where a result comes from, besides the seed: enough to get it again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Origin {
    /// Name of the machine.
    pub machine: String,
    /// Digest of every machine setting, hexadecimal.
    pub machine_digest: String,
}

impl Origin {
    /// The origin of a result on this machine.
    pub fn new(machine: &Machine) -> Self {
        Self { machine: machine.name().to_owned(), machine_digest: format!("{:016x}", machine.digest()) }
    }
}

/// Why a command ended before it was through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Stopped {
    /// Ctrl-C.
    Interrupt,
    /// SIGTERM.
    Terminated,
    /// `--time-limit`.
    TimeLimit,
    /// `--max-states`.
    MaxStates,
    /// The memory that there is.
    Memory,
}

impl Stopped {
    /// As people read it.
    pub fn text(self) -> &'static str {
        match self {
            Self::Interrupt => "stopped by Ctrl-C",
            Self::Terminated => "stopped by SIGTERM",
            Self::TimeLimit => "stopped by --time-limit",
            Self::MaxStates => "--max-states allows more",
            Self::Memory => "more would not fit in the memory that may be used",
        }
    }
}

/// How a command ended.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Batch {
    /// Whether everything was taken to its end: nothing failed, and nobody ended it.
    pub complete: bool,
    /// Why not, if something ended it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped: Option<Stopped>,
    /// What was not begun because of that, as the command line named it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_reached: Vec<String>,
    /// Of several kernels, those that failed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<String>,
    /// What was wrong with them, or with what the command was given.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<Problem>,
    /// Errors beyond those.
    #[serde(skip_serializing_if = "is_zero")]
    pub more_errors: usize,
}

impl Default for Batch {
    /// Everything went well.
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
    /// Nothing came of it.
    pub fn failed(problems: &Diagnostics) -> Self {
        let errors = problems.list().iter().map(|problem| Problem::new(problem, Vec::new())).collect();
        Self { complete: false, errors, more_errors: problems.dropped(), ..Self::default() }
    }

    /// Ended early, for this reason.
    pub fn stopped(stopped: Option<Stopped>) -> Self {
        Self { complete: false, stopped, ..Self::default() }
    }

    /// What people must know besides the results; nothing if all went well.
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

/// A problem.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Problem {
    /// The file or option.
    pub file: String,
    /// Line from 1; 0 where there is none.
    pub line: u32,
    /// Column from 1; 0 where there is none.
    pub column: u32,
    /// What is wrong.
    pub message: String,
    /// What to do about it; may be empty.
    pub hint: String,
    /// Of several kernels, those that have it, as the command line named them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kernels: Vec<String>,
}

impl Problem {
    /// A problem of these kernels.
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

/// What a command without results says: what was wrong.
pub type Failed = Output<()>;
