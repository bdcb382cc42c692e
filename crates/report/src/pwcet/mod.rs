//! The report of `pwcet`: times that are exceeded with a small probability, estimated from
//! measurements.

mod judged;
mod no_curve;
mod page;
mod plots;
mod text;

use serde::Serialize;

pub use judged::{Further, Judged, Other};
pub use no_curve::{NoCurveResult, Without};
pub use plots::{Plot, exceedances};

use super::html::Page;
use super::output::{Origin, Output, Report};
use super::style::Style;
use warpbound_judge::sweep::Source;
use warpbound_pwcet::{Analysis, Sample};

/// The number of parts of a trace that are kept for a plot.
const TRACE: usize = 300;

/// The analysis of one sample.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PwcetResult {
    /// The origin of the times.
    pub measured: Measured,
    /// The unit of the times.
    pub unit: String,
    /// The analysis.
    #[serde(flatten)]
    pub analysis: Analysis,
    /// The times in the order of the runs, divided into equal parts: the shortest and the longest
    /// time of each part.
    pub trace: Vec<TracePart>,
    /// The judgement of the curve, with `--judge`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judged: Option<Judged>,
}

/// The origin of the times.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Measured {
    /// A column of a file.
    Column {
        /// The file.
        file: String,
        /// The column.
        column: String,
    },
    /// Simulated runs.
    Campaign {
        /// The name of the kernel.
        kernel: String,
        /// The machine, before the random choices of a run are applied to it.
        #[serde(flatten)]
        origin: Origin,
        /// The policy.
        policy: String,
        /// The number of runs.
        runs: u64,
        /// The number of the first run.
        from: u64,
        /// The sources of variation between the runs.
        varied: Vec<Varied>,
        /// The number of the longest run; the first of them if several runs are equally long.
        longest_run: u64,
    },
}

/// A source of variation between runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Varied {
    /// The contents of buffers.
    Inputs,
    /// The choice of the cache line to replace.
    Replacement,
    /// Additions to the latency of memory.
    Jitter,
    /// The choice of the SM for the next block.
    Placement,
}

impl Varied {
    /// Returns the name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Inputs => Source::Inputs,
            Self::Replacement => Source::Replacement,
            Self::Jitter => Source::Jitter,
            Self::Placement => Source::Placement,
        }
        .name()
    }
}

impl From<Source> for Varied {
    fn from(source: Source) -> Self {
        match source {
            Source::Inputs => Self::Inputs,
            Source::Replacement => Self::Replacement,
            Source::Jitter => Self::Jitter,
            Source::Placement => Self::Placement,
        }
    }
}

/// Consecutive runs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TracePart {
    /// The index of the first of them, from 0.
    pub run: usize,
    /// The shortest time.
    pub shortest: f64,
    /// The longest time.
    pub longest: f64,
}

impl PwcetResult {
    /// Returns the report of a sample.
    pub fn new(measured: Measured, unit: String, sample: &Sample, analysis: Analysis) -> Self {
        Self { measured, unit, analysis, trace: TracePart::all(sample.values()), judged: None }
    }
}

impl TracePart {
    /// Divides the times, in the order of the runs, into at most [`TRACE`] parts.
    fn all(values: &[f64]) -> Vec<Self> {
        let parts = values.len().min(TRACE);
        let of_part = |number: usize| {
            let run = number * values.len() / parts;
            let part = &values[run..(number + 1) * values.len() / parts];
            Self {
                run,
                shortest: part.iter().copied().fold(f64::INFINITY, f64::min),
                longest: part.iter().copied().fold(0.0, f64::max),
            }
        };
        (0..parts).map(of_part).collect()
    }
}

impl Measured {
    /// Returns whether each time is exact; simulated cycles are, here or in a folder of results.
    pub fn is_exact(&self) -> bool {
        match self {
            Self::Column { file, column } => column == "makespan" && file.ends_with("results.jsonl"),
            Self::Campaign { .. } => true,
        }
    }

    /// Returns a title, which states what was measured.
    pub fn title(&self) -> String {
        match self {
            Self::Column { file, column } => format!("{column} of {file}"),
            Self::Campaign { kernel, origin, policy, .. } => {
                format!("{kernel} on {} under {policy}", origin.machine)
            }
        }
    }
}

/// The output of `pwcet`.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum PwcetReport {
    /// A pWCET curve with its analysis.
    Curve(Box<PwcetResult>),
    /// A summary of times that have no curve.
    NoCurve(Box<NoCurveResult>),
}

impl PwcetReport {
    /// Returns the plots for this output.
    pub fn plots(&self) -> Vec<Plot> {
        match self {
            Self::Curve(result) => result.plots(),
            Self::NoCurve(result) => result.plots(),
        }
    }

    /// Returns a page with tables and plots.
    pub fn page(&self) -> Page {
        match self {
            Self::Curve(result) => result.page(),
            Self::NoCurve(result) => result.page(),
        }
    }

    fn text(&self, style: Style) -> String {
        match self {
            Self::Curve(result) => result.text(style),
            Self::NoCurve(result) => result.text(style),
        }
    }
}

impl Report for Output<PwcetReport> {
    fn text(&self, style: Style) -> String {
        let parts: Vec<String> = self.results.iter().map(|result| result.text(style)).collect();
        parts.join("\n") + &self.batch.text()
    }
}

/// Formats a time; it is a whole number if the clock has whole numbers.
fn time(value: f64, resolution: f64) -> String {
    if value.is_nan() || value.abs() >= 1e15 {
        return format!("{value:.3e}");
    }
    if resolution >= 1.0 || value.abs() >= 1e6 {
        return format!("{value:.0}");
    }
    format!("{value:.*}", if value.abs() >= 100.0 { 2 } else { 4 })
}

/// Formats a statistic or a p-value with about four digits.
fn number(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        size if size < 1e-4 => format!("{value:.1e}"),
        size if size < 10.0 => format!("{value:.4}"),
        size if size < 1e4 => format!("{value:.2}"),
        _ => format!("{value:.3e}"),
    }
}

/// Formats a probability, as a power of ten if it is one.
fn probability(value: f64) -> String {
    let exponent = libm::log10(value);
    if (exponent - exponent.round()).abs() < 1e-9 {
        format!("1e{}", exponent.round() as i64)
    } else {
        format!("{value:.1e}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        assert_eq!(
            [time(120_594.5, 1.0), time(0.125, 0.001), time(150.25, 0.1)],
            ["120594", "0.1250", "150.25"]
        );
        assert_eq!([time(1e300, 1.0), time(f64::INFINITY, 1.0)], ["1.000e300", "inf"]);
        assert_eq!(
            [number(0.73912), number(0.0), number(1.3e-7), number(123.456), number(1e9)],
            ["0.7391", "0", "1.3e-7", "123.46", "1.000e9"]
        );
        assert_eq!([probability(1e-9), probability(0.05)], ["1e-9", "5.0e-2"]);
    }
}
