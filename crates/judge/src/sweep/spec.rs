//! A plan as users write it.

use serde::{Deserialize, Serialize};

use super::draws::Draws;
use warpbound_core::diag::{Diagnostic, Diagnostics, SourceText, from_ron, unique_keys};

/// A plan: every combination of the listed values is a point.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename = "Sweep", deny_unknown_fields)]
pub struct SweepSpec {
    /// The purpose of the plan.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub doc: String,
    /// The kernels to run.
    #[serde(default = "the_suite")]
    pub kernels: Vec<KernelSpec>,
    /// The seeds of random buffer contents.
    #[serde(default = "seed_zero")]
    pub seeds: Vec<u64>,
    /// Runs that differ by chance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub draws: Option<Draws>,
    /// The names or files of machines.
    #[serde(default = "the_machine")]
    pub machines: Vec<String>,
    /// Machine settings by path, as for `--set`, and `mem_latency`, as for `--mem-latency`; each
    /// with its values. The first varies slowest.
    #[serde(default, deserialize_with = "unique_keys", serialize_with = "as_map")]
    pub settings: Vec<(String, Vec<ValueSpec>)>,
    /// Scheduling policies.
    #[serde(default = "the_policies")]
    pub policies: Vec<String>,
    /// The names of the bounds that determine a point's verdict; if empty, all that are published
    /// or proved.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bounds: Vec<String>,
    /// The largest number of warp instructions that one block may execute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_instructions: Option<u64>,
    /// Whether to look for memory accesses whose order matters.
    #[serde(default = "yes")]
    pub races: bool,
}

/// The kernels to run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum KernelSpec {
    /// Every kernel of the embedded suite.
    Suite,
    /// Every kernel of the embedded suite, with launch options, each with its values.
    SuiteWith(
        #[serde(deserialize_with = "unique_keys", serialize_with = "as_map")] Vec<(String, Vec<ValueSpec>)>,
    ),
    /// A name or file as for `check`.
    Kernel(String),
    /// A kernel with launch options, each with its values: `block`, `grid`, `entry`, `registers`,
    /// `dynamic-shared`, `compiler`, `launch` (a number, or `all`), `let NAME`, `arg WHICH`. The
    /// first varies slowest.
    Vary(
        String,
        #[serde(deserialize_with = "unique_keys", serialize_with = "as_map")] Vec<(String, Vec<ValueSpec>)>,
    ),
}

/// A value of an axis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ValueSpec {
    /// `true` or `false`.
    Flag(bool),
    /// A whole number.
    Number(i64),
    /// Any other number.
    Real(f64),
    /// The text after `=` on a command line.
    Text(String),
}

impl ValueSpec {
    /// Returns the value as it is written on a command line.
    pub fn word(&self) -> String {
        match self {
            Self::Flag(flag) => flag.to_string(),
            Self::Number(number) => number.to_string(),
            Self::Real(number) => number.to_string(),
            Self::Text(text) => text.trim().to_owned(),
        }
    }
}

impl SweepSpec {
    /// Parses a plan.
    ///
    /// # Errors
    /// Returns the position at which the text is not a valid plan.
    pub fn parse(source: &SourceText) -> Result<Self, Diagnostics> {
        let of_plans = |problem: Diagnostic| {
            let hint = problem.hint.replace("docs/files.md", "docs/sweeps.md");
            problem.hint(hint)
        };
        from_ron(source).map_err(|problems| problems.map(of_plans))
    }

    /// Returns the same plan with the PTX of another compiler.
    pub fn by_compiler(mut self, name: &str) -> Self {
        let axis = || ("compiler".to_owned(), vec![ValueSpec::Text(name.to_owned())]);
        let with = |mut axes: Vec<_>| {
            axes.push(axis());
            axes
        };
        let by = |kernel| match kernel {
            KernelSpec::Suite => KernelSpec::SuiteWith(vec![axis()]),
            KernelSpec::SuiteWith(axes) => KernelSpec::SuiteWith(with(axes)),
            KernelSpec::Kernel(name) => KernelSpec::Vary(name, vec![axis()]),
            KernelSpec::Vary(name, axes) => KernelSpec::Vary(name, with(axes)),
        };
        self.kernels = self.kernels.into_iter().map(by).collect();
        self
    }
}

fn the_suite() -> Vec<KernelSpec> {
    vec![KernelSpec::Suite]
}

fn seed_zero() -> Vec<u64> {
    vec![0]
}

fn the_machine() -> Vec<String> {
    vec!["ecrts25-orin".to_owned()]
}

fn the_policies() -> Vec<String> {
    vec!["gto".to_owned(), "lrr".to_owned()]
}

fn yes() -> bool {
    true
}

fn as_map<S: serde::Serializer>(axes: &[(String, Vec<ValueSpec>)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(axes.iter().map(|(name, values)| (name, values)))
}
