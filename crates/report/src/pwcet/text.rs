//! The analysis as text.

use std::fmt::Write;

use super::{Measured, PwcetResult, number, probability, time};
use crate::count;
use crate::style::Style;
use crate::table::Table;
use warpbound_pwcet::Summary;
use warpbound_pwcet::critical::CriticalValue;
use warpbound_pwcet::curve::Support;
use warpbound_pwcet::decision::Question;
use warpbound_pwcet::goodness::FitTest;
use warpbound_pwcet::gpd::Gpd;
use warpbound_pwcet::interval::Interval;
use warpbound_pwcet::threshold::Rule;

/// A test, which is a row of the table.
pub(super) struct TestRow {
    pub name: String,
    pub statistic: String,
    pub critical: String,
    pub p_value: String,
    /// Whether the test passed; `None` if it does not count.
    pub passed: Option<bool>,
    /// The question that the test decides, if it decides one.
    pub asks: &'static str,
    /// Whether it is a variant of another test. Variants are shown only on request.
    pub is_variant: bool,
}

fn critical(values: &[CriticalValue], significance: f64) -> String {
    let nearest = values.iter().min_by(|a, b| {
        let far = |value: &CriticalValue| (value.significance - significance).abs();
        far(a).total_cmp(&far(b))
    });
    nearest.map_or_else(String::new, |value| {
        format!("{} ({} %)", number(value.statistic), number_of_percent(value.significance))
    })
}

fn number_of_percent(share: f64) -> String {
    let percent = share * 100.0;
    if (percent - percent.round()).abs() < 1e-9 { format!("{percent:.0}") } else { format!("{percent:.1}") }
}

impl PwcetResult {
    /// Returns the rows of the tests.
    pub(super) fn tests(&self) -> Vec<TestRow> {
        let mut rows = self.tests_of_stationarity();
        rows.extend(self.tests_of_independence());
        rows.extend(self.extremal_indices());
        rows.extend(self.tests_of_the_fit());
        rows
    }

    /// Returns the rows of the KPSS tests.
    fn tests_of_stationarity(&self) -> Vec<TestRow> {
        let analysis = &self.analysis;
        let mut rows = Vec::new();
        for test in &analysis.kpss.tests {
            let decides = *test == analysis.kpss.decisive;
            let name = |of: &dyn std::fmt::Debug| format!("{of:?}").to_lowercase();
            rows.push(TestRow {
                name: format!("KPSS {}, {} {}", name(&test.regression), name(&test.bandwidth), test.lags),
                statistic: number(test.statistic),
                critical: critical(&test.critical_values, analysis.options.significance),
                p_value: number(test.p_value),
                passed: Some(test.passed),
                asks: if decides { "stationary? This one decides; automatic bandwidth" } else { "" },
                is_variant: test.bandwidth != analysis.kpss.decisive.bandwidth,
            });
        }
        rows
    }

    /// Returns the rows of the BDS and Ljung-Box tests.
    fn tests_of_independence(&self) -> Vec<TestRow> {
        let analysis = &self.analysis;
        let significance = analysis.options.significance;
        let mut rows = Vec::new();
        for test in analysis.bds.tests.iter().filter(|test| test.enough_neighbours) {
            rows.push(TestRow {
                name: format!("BDS {}, {} sd", test.dimension, test.epsilon),
                statistic: test.statistic.map_or_else(|| "-".to_owned(), number),
                critical: critical(&analysis.bds.critical_values, significance),
                p_value: number(test.p_value),
                passed: Some(test.p_value >= significance),
                asks: "",
                is_variant: (test.epsilon - 1.0).abs() > 1e-9,
            });
        }
        rows.push(TestRow {
            name: "BDS together".to_owned(),
            statistic: String::new(),
            critical: String::new(),
            p_value: number(analysis.bds.p_value),
            passed: Some(analysis.bds.passed),
            asks: "independent? This one decides; by dimension and distance above",
            is_variant: false,
        });
        for test in &analysis.autocorrelation.ljung_box {
            rows.push(TestRow {
                name: format!("Ljung-Box, {} lags", test.lags),
                statistic: number(test.statistic),
                critical: critical(&test.critical_values, significance),
                p_value: number(test.p_value),
                passed: Some(test.passed),
                asks: "",
                is_variant: false,
            });
        }
        rows
    }

    /// Returns the rows of the extremal index, by both estimators.
    fn extremal_indices(&self) -> Vec<TestRow> {
        let index = &self.analysis.extremal_index;
        let mut rows = vec![TestRow {
            name: "theta by intervals".to_owned(),
            statistic: number(index.theta),
            critical: format!("{} at least", number(index.critical)),
            p_value: String::new(),
            passed: Some(index.passed),
            asks: "extremal index: do large times come alone?",
            is_variant: false,
        }];
        for runs in &index.runs {
            rows.push(TestRow {
                name: format!("theta by runs of {}", runs.run_length),
                statistic: number(runs.theta),
                critical: String::new(),
                p_value: String::new(),
                passed: None,
                asks: "",
                is_variant: runs.run_length != 5,
            });
        }
        rows
    }

    /// Returns the rows of the tests of how well the tail fits.
    fn tests_of_the_fit(&self) -> [TestRow; 2] {
        let significance = self.analysis.options.significance;
        let row = |name: &str, test: &FitTest| TestRow {
            name: name.to_owned(),
            statistic: number(test.statistic),
            critical: test.critical_values.map_or_else(String::new, |values| critical(&values, significance)),
            p_value: test.p_value.or(test.p_table).map_or_else(|| "-".to_owned(), number),
            passed: test.passed,
            asks: "does the tail fit?",
            is_variant: false,
        };
        let tests = &self.analysis.tail.tests;
        [
            row("Kolmogorov-Smirnov", &tests.kolmogorov_smirnov),
            row("Anderson-Darling", &tests.anderson_darling),
        ]
    }

    /// Returns the rows of the fits: a name, xi, alpha, and the confidence intervals of both.
    pub(super) fn fits(&self) -> Vec<[String; 5]> {
        let tail = &self.analysis.tail;
        let row = |name: &str, gpd: Gpd, intervals: [String; 2]| {
            let [of_xi, of_alpha] = intervals;
            [name.to_owned(), number(gpd.xi), of_xi, number(gpd.alpha), of_alpha]
        };
        let none = || [String::new(), String::new()];
        let both = |xi: &Interval, alpha: &Interval| [interval(xi, number), interval(alpha, number)];
        let mut rows = vec![
            row("maximum likelihood", tail.best, both(&tail.xi.profile, &tail.alpha.profile)),
            row("- by bootstrap", tail.best, both(&tail.xi.bootstrap, &tail.alpha.bootstrap)),
            row("PW moments", tail.probability_weighted_moments, none()),
            row("L-moments", tail.l_moments, none()),
            row(&format!("xi = 0 (p {})", number(tail.exponential.p_value)), tail.exponential.gpd, none()),
        ];
        if let Some(clusters) = &tail.declustered {
            let name = format!("of {}", count(clusters.clusters, "cluster"));
            rows.push(row(&name, clusters.gpd, [interval(&clusters.xi, number), String::new()]));
        }
        if let Some(blocks) = &self.analysis.block_maxima {
            let gev = blocks.maximum_likelihood;
            let name = format!("GEV, blocks of {}", blocks.block);
            rows.push([name, number(gev.xi), interval(&blocks.xi, number), number(gev.sigma), String::new()]);
        }
        rows
    }

    /// Returns the rows of the pWCET: probability, time, its confidence interval, the time by the
    /// exponential tail, and how well the sample supports it.
    pub(super) fn times(&self) -> Vec<[String; 5]> {
        let resolution = self.analysis.sample.ties.resolution;
        let time = |value: f64| time(value, resolution);
        let points = self.analysis.pwcet.points.iter();
        let row = points.map(|point| {
            let mut support = match point.support {
                Support::Observed => "observed".to_owned(),
                Support::Extrapolated => format!("{:.1} decades beyond the runs", point.decades_beyond),
                Support::Unsupported => "NOT SUPPORTED by so few runs".to_owned(),
            };
            if let (Support::Unsupported, Some(needed)) = (point.support, point.measurements_needed) {
                let _ = write!(support, ": about {needed} would suffice");
            }
            [
                probability(point.probability.get()),
                time(point.time),
                point.intervals.map_or_else(String::new, |both| interval(&both.profile, time)),
                time(point.exponential),
                support,
            ]
        });
        row.collect()
    }

    /// Returns one or two sentences on the measurements.
    pub(super) fn about(&self) -> String {
        about(&self.measured, &self.analysis.sample, &self.unit)
    }

    /// Returns a sentence on the choice of the threshold.
    pub(super) fn threshold(&self) -> String {
        let choice = &self.analysis.threshold;
        let resolution = self.analysis.sample.ties.resolution;
        let how = match choice.rule {
            Rule::Automatic if choice.all_rejected() => format!(
                "the highest of {} candidates: Anderson-Darling with ForwardStop rejects all",
                choice.candidates.len()
            ),
            Rule::Automatic => format!(
                "the lowest of {} candidates that Anderson-Darling with ForwardStop accepts ({} rejected)",
                choice.candidates.len(),
                choice.rejected
            ),
            Rule::At(_) => "as requested".to_owned(),
            Rule::Exceedances(_) => "by the requested number of runs above it".to_owned(),
        };
        format!(
            "threshold {}: {} above, {:.2} % of all; {how}",
            time(choice.threshold, resolution.min(0.5)),
            count(choice.exceedances, "run"),
            self.analysis.tail.rate * 100.0
        )
    }

    /// Returns lines on the decision, its reasons, and what would help.
    pub(super) fn decision(&self) -> Vec<String> {
        let decision = &self.analysis.decision;
        let steps: Vec<String> = decision
            .steps
            .iter()
            .map(|step| {
                let question = match step.question {
                    Question::Stationary => "stationary",
                    Question::Independent => "independent",
                    Question::ExtremallyIndependent => "extremes independent",
                    Question::Fits => "tail fits",
                };
                format!("{question}: {}", if step.yes { "yes" } else { "no" })
            })
            .collect();
        let confidence = &decision.confidence;
        let mut lines = vec![
            format!(
                "{}, since {}",
                if decision.reliable { "The tests accept" } else { "The tests do not accept" },
                steps.join(", ")
            ),
            format!(
                "confidence {} = min(p_KPSS {}, max(p_BDS {}, extremal index {})); as defined in the paper, {}",
                number(confidence.overall),
                number(confidence.kpss),
                number(confidence.bds),
                number(confidence.extremal_index),
                number(confidence.as_in_paper)
            ),
        ];
        lines.extend(decision.advice.iter().map(|advice| format!("What would help: {advice}")));
        lines
    }

    /// Returns lines on the paper's accuracy, and on the end of the tail.
    pub(super) fn accuracy(&self) -> Vec<String> {
        let pwcet = &self.analysis.pwcet;
        let resolution = self.analysis.sample.ties.resolution;
        let mut lines = vec![format!(
            "accuracy a at 1e-9: {:.3} by the best fit, {:.3} by the exponential tail",
            pwcet.accuracy.best, pwcet.accuracy.exponential
        )];
        if let Some(end) = pwcet.end_point {
            lines.push(format!("the best fit ends at {} {} (xi < 0)", time(end, resolution), self.unit));
        }
        if self.analysis.tail.ties.doubtful {
            let ties = &self.analysis.tail.ties;
            lines.push(format!(
                "the tail has {} distinct values, in steps of {:.2} of its scale: a continuous distribution is a doubtful model",
                ties.distinct, ties.step_over_alpha
            ));
        }
        lines
    }

    pub(super) fn text(&self, style: Style) -> String {
        let mut text = format!("{}\n", style.strong(&self.measured.title()));
        text.push_str(&style.fill(&format!("  {}\n\n", self.about())));
        // the name of a test, its verdict and its question are what a narrow terminal keeps
        let mut table = Table::new(["test", "statistic", "critical", "p-value", "", ""], &[0, 4, 5])
            .expendable([2, 1, 3])
            .uncut(&[0]);
        for row in self.tests().into_iter().filter(|row| !row.is_variant) {
            let verdict = match row.passed {
                Some(true) => "kept".to_owned(),
                Some(false) => style.paint("33", "rejected"),
                None => String::new(),
            };
            table.row([row.name, row.statistic, row.critical, row.p_value, verdict, row.asks.to_owned()]);
        }
        text.push_str(&table.render(2, style.width));
        let lines = |text: &mut String, lines: Vec<String>| {
            lines.iter().for_each(|line| {
                text.push_str(&style.fill(&format!("  {line}\n")));
            });
        };
        text.push('\n');
        lines(&mut text, self.decision());
        text.push_str(&style.fill(&format!("\n  {}\n", self.threshold())));
        let fits = |level: &str| {
            let table = Table::new(["fit", "xi", level, "alpha", level], &[0, 2, 4]);
            table.expendable([4, 3]).uncut(&[0, 2, 4])
        };
        let mut table = fits("95 %");
        if (self.analysis.options.level - 0.95).abs() > 1e-9 {
            let level = format!("{} %", number_of_percent(self.analysis.options.level));
            table = fits(&level);
        }
        self.fits().into_iter().for_each(|row| table.row(row));
        text.push_str(&table.render(2, style.width));
        let heading = ["exceeded with", &self.unit, "interval", "exponential", "the sample"];
        let mut table = Table::new(heading, &[0, 2, 4]).expendable([3]).uncut(&[0, 2]);
        self.times().into_iter().for_each(|row| table.row(row));
        text.push('\n');
        text.push_str(&table.render(2, style.width));
        lines(&mut text, self.accuracy());
        if let Some(judged) = &self.judged {
            text.push_str(&self.judged_text(judged, style));
        }
        text
    }
}

/// Returns one or two sentences on the measurements.
pub(super) fn about(measured: &Measured, sample: &Summary, unit: &str) -> String {
    // times that are all equal have no step between them
    let whole = sample.ties.distinct == 1 && sample.minimum.fract() == 0.0;
    let time = |value: f64| time(value, if whole { 1.0 } else { sample.ties.resolution });
    let mut text = match measured {
        Measured::Column { .. } => count(sample.measurements, "measurement"),
        Measured::Campaign { runs, from, varied, longest_run, .. } => {
            let varied: Vec<&str> = varied.iter().map(|source| source.name()).collect();
            format!(
                "{}, numbers {from} to {}; drawn for each run: {}. The longest is number {longest_run}",
                count(usize::try_from(*runs).unwrap_or(usize::MAX), "run"),
                from.saturating_add(runs.saturating_sub(1)),
                varied.join(", ")
            )
        }
    };
    let _ = write!(
        text,
        ". {} to {} {unit}, mean {}, standard deviation {}, {}",
        time(sample.minimum),
        time(sample.maximum),
        time(sample.mean),
        number(sample.standard_deviation),
        count(sample.ties.distinct, "distinct value")
    );
    text
}

/// Formats a confidence interval. If it has no limit on one side, this side is shown as open.
fn interval(of: &Interval, show: impl Fn(f64) -> String) -> String {
    match (of.lower, of.upper) {
        (None, None) => String::new(),
        (lower, upper) => {
            let side = |side: Option<f64>| side.map_or_else(|| "..".to_owned(), &show);
            format!("[{}, {}]", side(lower), side(upper))
        }
    }
}
