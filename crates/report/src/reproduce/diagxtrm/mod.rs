//! Table 1 and figures 2 to 4 of Berezovskyi et al., "Measurement-Based Probabilistic Timing
//! Analysis for Graphics Processor Units", ARCS 2016: extreme-value statistics of a Voronoi kernel
//! with four numbers of blocks and three sizes of L1. The paper measured on a GK104; we simulate
//! `kepler-gk104`.

mod claims;
mod figures;
pub mod published;
mod text;

use std::fmt;

use serde::{Serialize, Serializer};

use super::figure::Statement;
use crate::Fraction;
use crate::output::Origin;
use crate::pwcet::{PwcetResult, Varied};
use published::{THREADS, Trace};
use warpbound_pwcet::curve::{ACCURACY_AT, Point};
use warpbound_pwcet::extremal::ExtremalIndex;
use warpbound_pwcet::{NoAnalysis, SampleError};

pub use figures::names;

/// The paper.
pub const PAPER: &str = "Berezovskyi et al., ARCS 2016";

/// Returns the machine setting that gives L1 this percentage of the 64 KiB on-chip memory of an SM.
pub fn split(l1_percent: u32) -> String {
    format!("memory.l1.split=Percent(total: 65536, l1: {l1_percent})")
}

/// The columns of table 1. Times are in cycles.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Entry {
    /// p_KPSS; ours is a p-value.
    pub kpss: Fraction,
    /// p_BDS; ours is a p-value.
    pub bds: Fraction,
    /// p_EI, which is the extremal index theta; null where our copy of the paper is not legible.
    pub extremal_index: Option<Fraction>,
    /// The threshold u.
    pub threshold: f64,
    /// The confidence p (equation 2). As in the paper's column, p_KPSS counts as 0.99 if that test
    /// accepts stationarity and as 0 otherwise.
    pub confidence: Fraction,
    /// The shape parameter of the best fit.
    pub xi: Fraction,
    /// "ET", the longest run.
    pub longest: f64,
    /// The time at 1e-9 by the best fit.
    pub best: f64,
    /// `best` above the longest run, as a fraction of the longest run. Equation 3 divides by the
    /// time at 1e-9 instead, but the table does not.
    pub best_overestimation: Fraction,
    /// The time at 1e-9 by the exponential tail, "Gumbel".
    pub exponential: f64,
    /// `exponential` above the longest run, as a fraction of the longest run.
    pub exponential_overestimation: Fraction,
}

/// Why there is no curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NoCurve {
    /// The runs are not a valid sample.
    Sample(SampleError),
    /// The sample cannot be analysed.
    Analysis(NoAnalysis),
}

impl NoCurve {
    /// Returns a short text for a cell.
    fn word(self) -> &'static str {
        match self {
            Self::Sample(SampleError::TooFew(_)) => "too few runs",
            Self::Sample(SampleError::Constant(_)) => "constant",
            Self::Analysis(NoAnalysis::Tied) => "tied",
            Self::Sample(_) | Self::Analysis(_) => "no curve",
        }
    }
}

impl fmt::Display for NoCurve {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sample(why) => why.fmt(f),
            Self::Analysis(why) => why.fmt(f),
        }
    }
}

/// Whether large times occur alone or in clusters, by the estimate of the extremal index, which
/// varies much by chance if there are few exceedances.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Extremes {
    /// The estimate is at least 0.9.
    Alone,
    /// The estimate is below 0.9, and so is its confidence interval.
    InClusters,
    /// The estimate is below 0.9, but its interval reaches 0.9, or there is no interval; more runs
    /// would decide.
    Undecided,
}

impl Extremes {
    fn of(index: &ExtremalIndex) -> Self {
        if index.passed {
            Self::Alone
        } else if index.interval.upper.is_some_and(|upper| upper < index.critical) {
            Self::InClusters
        } else {
            Self::Undecided
        }
    }
}

/// A configuration.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TraceRow {
    /// The number of thread blocks.
    pub blocks: u32,
    /// The number of threads per block.
    pub threads: u32,
    /// The percentage of the on-chip memory that is L1.
    pub l1_percent: u32,
    /// Our launch.
    pub launch: &'static str,
    /// The shortest run, in cycles.
    pub shortest: u64,
    /// The longest run, in cycles.
    pub longest: u64,
    /// The number of distinct times among the runs.
    pub distinct: usize,
    /// Our results, if there is a curve.
    pub ours: Option<Entry>,
    /// Why there is no curve.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "as_text")]
    #[cfg_attr(test, schemars(with = "Option<String>"))]
    pub no_curve: Option<NoCurve>,
    /// k, the number of runs above our threshold.
    pub exceedances: Option<usize>,
    /// Whether large times occur alone, as far as these runs show.
    pub extremes: Option<Extremes>,
    /// The tests that argue against our curve: `KPSS`, `BDS`, `EI` (theta below 0.9), `fit`,
    /// `ties`.
    pub against: Vec<&'static str>,
    /// The upper limit of the 95 % confidence interval of `best`, in cycles; null without a curve
    /// or without such a limit.
    pub upper_limit: Option<f64>,
    /// The paper's results.
    pub published: Entry,
    /// The analysis that the plots are drawn from.
    #[serde(skip)]
    analysed: Option<Box<PwcetResult>>,
}

/// Table 1 with our numbers.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DiagxtrmResult {
    /// The name of the table.
    pub table: &'static str,
    /// The paper.
    pub paper: &'static str,
    /// The machine, with the size of L1 that its file states.
    #[serde(flatten)]
    pub origin: Origin,
    /// The number of runs of each configuration. Runs with the same number have the same points,
    /// colours and random choices in every configuration.
    pub runs: u64,
    /// The sources of variation between the runs.
    pub varied: Vec<Varied>,
    /// The configurations.
    pub rows: Vec<TraceRow>,
    /// The numbers of blocks for which every run takes the same time with each size of L1.
    pub same_with_each_l1: Vec<u32>,
    /// Statements of the paper about its results, and whether they hold here.
    pub statements: Vec<Statement>,
    /// Differences from the paper that matter for the comparison.
    pub notes: Vec<String>,
}

impl TraceRow {
    /// Returns the row of a configuration from the makespans of its runs and their analysis, or the
    /// reason why there is none.
    pub fn new(trace: &Trace, makespans: &[u64], analysed: Result<PwcetResult, NoCurve>) -> Self {
        let mut distinct = makespans.to_vec();
        distinct.sort_unstable();
        distinct.dedup();
        let mut row = Self {
            blocks: trace.blocks,
            threads: THREADS / trace.blocks,
            l1_percent: trace.l1_percent,
            launch: trace.launch,
            shortest: distinct.first().copied().unwrap_or_default(),
            longest: distinct.last().copied().unwrap_or_default(),
            distinct: distinct.len(),
            ours: None,
            no_curve: None,
            exceedances: None,
            extremes: None,
            against: Vec::new(),
            upper_limit: None,
            published: trace.entry,
            analysed: None,
        };
        match analysed {
            Err(why) => row.no_curve = Some(why),
            Ok(result) => {
                row.ours = Some(entry(&result));
                row.against = against(&result);
                row.extremes = Some(Extremes::of(&result.analysis.extremal_index));
                row.exceedances = Some(result.analysis.tail.exceedances);
                let at = |point: &&Point| (point.probability.get() / ACCURACY_AT - 1.0).abs() < 1e-6;
                row.upper_limit = result.analysis.pwcet.points.iter().find(at).and_then(Point::upper_limit);
                row.analysed = Some(Box::new(result));
            }
        }
        row
    }
}

fn as_text<S: Serializer>(why: &Option<NoCurve>, serializer: S) -> Result<S::Ok, S::Error> {
    why.as_ref().map(NoCurve::to_string).serialize(serializer)
}

fn entry(result: &PwcetResult) -> Entry {
    let analysis = &result.analysis;
    let longest = analysis.sample.maximum;
    let over = |time: f64| Fraction((time - longest) / longest);
    let best = analysis.pwcet.accuracy.time;
    // equation 3, solved for the time
    let exponential = longest / (1.0 - analysis.pwcet.accuracy.exponential);
    Entry {
        kpss: Fraction(analysis.kpss.decisive.p_value),
        bds: Fraction(analysis.bds.p_value),
        extremal_index: Some(Fraction(analysis.extremal_index.theta)),
        threshold: analysis.tail.threshold,
        confidence: Fraction(analysis.decision.confidence.as_in_paper),
        xi: Fraction(analysis.tail.best.xi),
        longest,
        best,
        best_overestimation: over(best),
        exponential,
        exponential_overestimation: over(exponential),
    }
}

fn against(result: &PwcetResult) -> Vec<&'static str> {
    let analysis = &result.analysis;
    let kept = [
        ("KPSS", analysis.kpss.decisive.passed),
        ("BDS", analysis.bds.passed),
        ("EI", analysis.extremal_index.passed),
        ("fit", analysis.tail.tests.passed()),
        ("ties", !analysis.tail.ties.doubtful),
    ];
    kept.into_iter().filter(|(_, kept)| !kept).map(|(name, _)| name).collect()
}

impl DiagxtrmResult {
    /// Returns the table of these configurations, each with the makespans of its runs.
    pub fn new(origin: Origin, runs: u64, varied: Vec<Varied>, traces: Vec<(TraceRow, Vec<u64>)>) -> Self {
        let same_with_each_l1 = claims::same_with_each_l1(&traces);
        let rows: Vec<TraceRow> = traces.into_iter().map(|(row, _)| row).collect();
        Self {
            table: "Table 1",
            paper: PAPER,
            origin,
            runs,
            varied,
            statements: claims::statements(&rows, &same_with_each_l1),
            notes: claims::notes(&rows, runs, &same_with_each_l1),
            same_with_each_l1,
            rows,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::published::TABLE_1;
    use super::*;
    use crate::pwcet::Measured;
    use crate::style::Style;
    use warpbound_core::base::ProgressMonitor;
    use warpbound_pwcet::{Options, Sample, analyse};

    /// Returns times that grow with the number of blocks, except that with 64 blocks they are all
    /// the same. With 512 blocks they are longer for a smaller L1, and with 1024 blocks shorter.
    fn times(trace: &Trace) -> Vec<u64> {
        let mut state = 1u64;
        let mut draw = || {
            // Knuth's MMIX generator
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as f64 / f64::from(1u32 << 31)
        };
        let shift = match trace.blocks {
            512 => 100 - u64::from(trace.l1_percent),
            1024 => u64::from(trace.l1_percent),
            _ => 0,
        };
        let time = |_| match trace.blocks {
            64 => 30_000,
            blocks => 30_000 + u64::from(blocks) + shift + (-100.0 * libm::log(1.0 - draw())) as u64,
        };
        (0..400).map(time).collect()
    }

    fn result(times: fn(&Trace) -> Vec<u64>) -> DiagxtrmResult {
        let row = |trace: &Trace| {
            let makespans = times(trace);
            let analysed = Sample::from_cycles(&makespans).map_err(NoCurve::Sample).and_then(|sample| {
                let options = Options { bootstraps: 0, ..Options::default() };
                let analysis =
                    analyse(&sample, &options, 1, &ProgressMonitor::default()).map_err(NoCurve::Analysis)?;
                let measured = Measured::Column { file: String::new(), column: String::new() };
                Ok(PwcetResult::new(measured, "cycles".to_owned(), &sample, analysis))
            });
            (TraceRow::new(trace, &makespans, analysed), makespans)
        };
        let origin =
            Origin { machine: "kepler-gk104".to_owned(), machine_digest: String::new(), clock_khz: None };
        let varied = vec![Varied::Inputs, Varied::Replacement, Varied::Placement];
        DiagxtrmResult::new(origin, 400, varied, TABLE_1.iter().map(row).collect())
    }

    #[test]
    fn rows_are_those_of_pwcet_and_say_where_there_is_no_curve() {
        let result = result(times);
        for row in &result.rows {
            assert_eq!(row.blocks * row.threads, 65_536);
            assert_eq!(row.no_curve.is_some(), row.blocks == 64, "{row:?}");
            assert_eq!(row.no_curve.is_some(), row.ours.is_none());
            let Some(ours) = row.ours else { continue };
            assert_eq!(ours.longest, row.longest as f64);
            assert!(
                (ours.best - ours.longest - ours.best_overestimation.0 * ours.longest).abs() < 1e-3,
                "{ours:?}"
            );
            let by_equation_3 = row.analysed.as_ref().unwrap().analysis.pwcet.accuracy.exponential;
            assert!(((ours.exponential - ours.longest) / ours.exponential - by_equation_3).abs() < 1e-9);
            assert!(row.upper_limit.is_none_or(|upper| upper >= ours.best), "{row:?}");
        }
        assert_eq!(result.same_with_each_l1, [64, 256]);
        let held: Vec<bool> = result.statements.iter().map(|statement| statement.holds).collect();
        // both effects of L1; times grow with the blocks; 1024 blocks are the slowest
        assert_eq!(held[..3], [true, false, false], "{:?}", result.statements);
        assert_eq!(result.statements[0].seen, "75 % against 25 % helps 512 blocks, harms 1024");
    }

    #[test]
    fn the_text_fits_80_columns() {
        let text = result(times).text(Style { colour: false, width: Some(80) });
        for line in text.lines() {
            // a command is not wrapped, so that it can be copied
            assert!(line.chars().count() <= 80, "{line}");
        }
        assert!(!text.contains("no room"), "{text}");
        assert!(text.contains("-  constant\n"), "{text}");
        assert!(text.contains("\n1,024  75 %  ours   "), "{text}");
        assert!(
            text.contains("64 blocks 75 %, 64 blocks 50 %, 64 blocks 25 %: all measurements are 30000"),
            "{text}"
        );
    }

    #[test]
    fn there_is_a_plot_for_every_curve_and_comparison() {
        let result = result(times);
        let plots: Vec<String> = result.plots().into_iter().map(|(name, _)| name).collect();
        let missing: Vec<String> = names().into_iter().filter(|name| !plots.contains(name)).collect();
        assert_eq!(
            missing,
            ["fig2-64-blocks-75.svg", "fig2-64-blocks-50.svg", "fig2-64-blocks-25.svg", "fig3-64-blocks.svg"]
        );
        assert_eq!((names().len(), plots.len()), (19, 15));
    }

    #[test]
    fn without_curves_nothing_is_claimed() {
        let result = result(|_| vec![1, 2, 3]);
        assert!(result.statements.is_empty() && result.plots().is_empty());
        let text = result.text(Style { colour: false, width: Some(80) });
        assert!(
            text.contains("too few runs") && text.contains("\nno curve: 3 measurements are too few"),
            "{text}"
        );
    }
}
