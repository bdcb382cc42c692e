//! The report of times that have no pWCET curve.

use serde::Serialize;

use super::page::{figure, lines};
use super::plots::{Plot, axis, series, trace};
use super::text::about;
use super::{Measured, TracePart};
use crate::html::{Page, Section, text};
use crate::plot::{Drawn, Scale, XyPlot};
use crate::style::Style;
use warpbound_pwcet::diagnostics::Exceeded;
use warpbound_pwcet::sample::MIN_POINTS;
use warpbound_pwcet::{Advice, NoAnalysis, SampleError, Summary};

/// Times without a curve: a summary of the sample, why there is no curve, and what would help.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct NoCurveResult {
    /// The origin of the times.
    pub measured: Measured,
    /// The unit of the times.
    pub unit: String,
    /// A summary of the times.
    pub sample: Summary,
    /// Why there is no curve.
    pub no_curve: String,
    /// What would help.
    pub what_would_help: Vec<String>,
    /// The times in the order of the runs, divided into equal parts: the shortest and the longest
    /// time of each part.
    pub trace: Vec<TracePart>,
    /// The times in ascending order, with the share of runs that took longer.
    pub exceedance: Vec<Exceeded>,
}

/// Why times have no curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Without {
    /// The times are not a valid sample.
    Sample(SampleError),
    /// The sample cannot be analysed.
    Analysis(NoAnalysis),
}

impl Without {
    /// Returns whether the reason lies in the times and not in the options. In this case a summary
    /// of the times is useful.
    pub fn concerns_times(self) -> bool {
        match self {
            Self::Sample(why) => matches!(
                why,
                SampleError::TooFew(_)
                    | SampleError::Constant(_)
                    | SampleError::TooLarge(..)
                    | SampleError::OutOfScale(_)
            ),
            Self::Analysis(why) => matches!(why, NoAnalysis::Tied | NoAnalysis::Threshold(_)),
        }
    }

    /// Returns advice, if more or other measurements would help.
    fn advice(self, measured: &Measured) -> Vec<String> {
        let simulated = matches!(measured, Measured::Campaign { .. });
        let exact = measured.is_exact();
        let vary = "let more differ between runs: --random, random contents of buffers (--arg), a machine with random replacement \
                    or `memory.jitter`";
        match self {
            Self::Sample(SampleError::TooFew(count)) if simulated => {
                vec![format!("simulate at least {MIN_POINTS} runs (--runs), not {count}")]
            }
            Self::Sample(SampleError::TooFew(count)) => {
                vec![format!("measure at least {MIN_POINTS} runs, not {count}")]
            }
            Self::Sample(SampleError::Constant(_)) if simulated => vec![
                "all runs take the same time; further runs that vary in the same way take it, too".to_owned(),
                vary.to_owned(),
            ],
            Self::Sample(SampleError::Constant(_)) => vec![Advice::against_few_times(exact).to_string()],
            Self::Analysis(NoAnalysis::Tied) => {
                let mut help = vec![Advice::against_few_times(exact).to_string()];
                help.extend(simulated.then(|| vary.to_owned()));
                help
            }
            _ => Vec::new(),
        }
    }
}

impl std::fmt::Display for Without {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Sample(why) => why.fmt(f),
            Self::Analysis(why) => why.fmt(f),
        }
    }
}

impl NoCurveResult {
    /// Returns the report of these times, which must be finite.
    pub fn new(measured: Measured, unit: String, values: &[f64], why: Without) -> Self {
        let mut sorted = values.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        Self {
            what_would_help: why.advice(&measured),
            measured,
            unit,
            sample: Summary::of(values),
            no_curve: why.to_string(),
            trace: TracePart::all(values),
            exceedance: Exceeded::all(&sorted),
        }
    }

    /// Returns the lines of text that state why there is no curve and what would help.
    fn explanation(&self) -> Vec<String> {
        let help = self.what_would_help.iter().map(|help| format!("What would help: {help}"));
        std::iter::once(format!("No curve: {}", self.no_curve)).chain(help).collect()
    }

    pub(super) fn text(&self, style: Style) -> String {
        let mut text = format!("{}\n", style.strong(&self.measured.title()));
        text.push_str(&style.fill(&format!("  {}\n\n", about(&self.measured, &self.sample, &self.unit))));
        for line in self.explanation() {
            text.push_str(&style.fill(&format!("  {line}\n")));
        }
        text
    }

    /// Returns a page with the summary and the plots.
    pub fn page(&self) -> Page {
        let about = format!("<p>{}.</p>\n", text(&about(&self.measured, &self.sample, &self.unit)));
        let plots: String = self.plots().iter().map(figure).collect();
        let body = about + &lines(&self.explanation()) + "<div class=\"plots\">\n" + &plots + "</div>\n";
        Page {
            title: "Times of runs, without a curve".to_owned(),
            subtitle: self.measured.title(),
            sections: vec![Section { id: "summary".into(), title: "Summary".to_owned(), body }],
            ..Page::default()
        }
    }
}

impl NoCurveResult {
    /// Returns the plots that need no curve.
    pub fn plots(&self) -> Vec<Plot> {
        let dots = self.exceedance.iter().map(|at| (at.time, at.share)).collect();
        let plot = XyPlot {
            x: axis(&self.unit, Scale::Linear),
            y: axis("probability of a longer run", Scale::Decades),
            series: vec![
                series("measured", 2, Drawn::Dots(dots)),
                series("", 3, Drawn::AtX(self.sample.maximum)),
            ],
        };
        let exceedance = Plot {
            name: "exceedance",
            title: "How many runs took longer",
            note: "Share of the runs that took longer than a time. The dashed line is the longest run. There is no curve beyond it.",
            svg: plot.svg(),
        };
        vec![exceedance, trace(&self.trace, &self.unit, None)]
    }
}
