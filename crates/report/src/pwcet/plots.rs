//! The plots of an analysis.

use super::{PwcetResult, TracePart};
use crate::plot::{Axis, Drawn, Scale, Series, XyPlot};
use warpbound_pwcet::diagnostics::Banded;

/// A plot with a name for its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plot {
    /// A name for the file.
    pub name: &'static str,
    /// The title.
    pub title: &'static str,
    /// How to read the plot.
    pub note: &'static str,
    /// The SVG, in its own colours.
    pub svg: String,
}

pub(super) fn series(name: &str, colour: usize, drawn: Drawn) -> Series {
    Series { name: name.to_owned(), colour, drawn }
}

pub(super) fn axis(title: &str, scale: Scale) -> Axis {
    Axis { title: title.to_owned(), scale }
}

/// Returns several curves in one plot, as SVG: the shares of runs that took longer, and the
/// extrapolation of the best fits. `times` is the title of the time axis.
pub fn exceedances(times: &str, curves: &[(String, &PwcetResult)]) -> String {
    let mut all = Vec::new();
    for (colour, (name, result)) in curves.iter().enumerate() {
        let observed = &result.analysis.diagnostics.exceedance;
        let curve = &result.analysis.pwcet.curve;
        let best = curve.iter().map(|point| (point.time, point.probability.get()));
        all.push(series(name, colour, Drawn::Dots(observed.iter().map(|at| (at.time, at.share)).collect())));
        all.push(series(name, colour, Drawn::Line(best.collect())));
    }
    XyPlot {
        x: axis(times, Scale::Linear),
        y: axis("probability of a longer run", Scale::Decades),
        series: all,
    }
    .svg()
}

/// Returns the plot of the times in the order of the runs, with the threshold if there is one.
pub(super) fn trace(parts: &[TracePart], unit: &str, threshold: Option<f64>) -> Plot {
    let of = |time: fn(&TracePart) -> f64| -> Vec<(f64, f64)> {
        parts.iter().map(|part| (part.run as f64, time(part))).collect()
    };
    let mut all = vec![
        series("longest", 0, Drawn::Line(of(|part| part.longest))),
        series("shortest", 2, Drawn::Line(of(|part| part.shortest))),
    ];
    all.extend(threshold.map(|threshold| series("", 3, Drawn::AtY(threshold))));
    let plot = XyPlot { x: axis("run", Scale::Linear), y: axis(unit, Scale::Linear), series: all };
    Plot {
        name: "trace",
        title: "Times in the order of the runs",
        note: "The runs are divided into equal parts; the lines are the longest and the shortest time of each part. A dashed \
               line is the threshold. A trend, a step or a beginning that differs speaks against one distribution.",
        svg: plot.svg(),
    }
}

impl PwcetResult {
    /// Returns all plots.
    pub fn plots(&self) -> Vec<Plot> {
        vec![
            self.exceedance(),
            self.trace_plot(),
            self.correlations(),
            self.quantiles(),
            self.mean_residual_life(),
            self.stability(
                "stability-xi",
                "Shape against threshold",
                "xi",
                &self.analysis.diagnostics.xi_stability,
            ),
            self.stability(
                "stability-alpha",
                "Scale against threshold",
                "alpha - xi * threshold",
                &self.analysis.diagnostics.alpha_stability,
            ),
        ]
    }

    /// Returns the plot of exceedance probabilities.
    pub fn exceedance(&self) -> Plot {
        let pwcet = &self.analysis.pwcet;
        let observed = &self.analysis.diagnostics.exceedance;
        let best = pwcet.curve.iter().map(|point| (point.time, point.probability.get()));
        let exponential = pwcet.curve.iter().map(|point| (point.exponential, point.probability.get()));
        let limit = |side: fn(&warpbound_pwcet::interval::Interval) -> Option<f64>| -> Vec<(f64, f64)> {
            let points = pwcet
                .curve
                .iter()
                .filter_map(|point| Some((side(&point.intervals?.profile)?, point.probability.get())));
            points.collect()
        };
        let mut all = vec![
            series("95 %", 0, Drawn::Thin(limit(|interval| interval.lower))),
            series("95 %", 0, Drawn::Thin(limit(|interval| interval.upper))),
            series("exponential", 1, Drawn::Line(exponential.collect())),
            series("best fit", 0, Drawn::Line(best.collect())),
            series("measured", 2, Drawn::Dots(observed.iter().map(|at| (at.time, at.share)).collect())),
        ];
        all.push(series("", 3, Drawn::AtX(self.analysis.sample.maximum)));
        let plot = XyPlot {
            x: axis(&self.unit, Scale::Linear),
            y: axis("probability of a longer run", Scale::Decades),
            series: all,
        };
        Plot {
            name: "exceedance",
            title: "Probability that a run takes longer",
            note: "Share of the runs that took longer than a time, and the fitted tails; thin lines are confidence limits. \
                   The dashed line is the longest run. Beyond it the curves come from the model, not from runs.",
            svg: plot.svg(),
        }
    }

    fn trace_plot(&self) -> Plot {
        trace(&self.trace, &self.unit, Some(self.analysis.tail.threshold))
    }

    fn correlations(&self) -> Plot {
        let of = &self.analysis.autocorrelation;
        let points = of.correlations.iter().zip(1u32..).map(|(value, lag)| (f64::from(lag), *value));
        let plot = XyPlot {
            x: axis("lag", Scale::FromZero),
            y: axis("correlation", Scale::FromZero),
            series: vec![
                series("", 0, Drawn::Strokes(points.collect())),
                series("", 3, Drawn::AtY(of.band)),
                series("", 3, Drawn::AtY(-of.band)),
            ],
        };
        Plot {
            name: "autocorrelation",
            title: "Autocorrelation",
            note: "The correlation of a time with the time that many runs later. If the runs are independent, 95 % of the \
                   values are between the dashed lines.",
            svg: plot.svg(),
        }
    }

    fn quantiles(&self) -> Plot {
        let pairs = &self.analysis.diagnostics.quantiles;
        let points: Vec<(f64, f64)> = pairs.iter().map(|pair| (pair.fitted, pair.observed)).collect();
        let ends = pairs.iter().flat_map(|pair| [pair.fitted, pair.observed]);
        let (least, most) =
            ends.fold((f64::INFINITY, 0.0f64), |(least, most), value| (least.min(value), most.max(value)));
        let plot = XyPlot {
            x: axis("by the fit", Scale::Linear),
            y: axis("measured", Scale::Linear),
            series: vec![
                series("", 3, Drawn::Line(vec![(least, least), (most, most)])),
                series("", 0, Drawn::Dots(points)),
            ],
        };
        Plot {
            name: "quantiles",
            title: "Measured times against those of the fit",
            note: "Times above the threshold and those that the fit has with the same probability. Where the fit holds, the \
                   dots lie along the line.",
            svg: plot.svg(),
        }
    }

    fn mean_residual_life(&self) -> Plot {
        self.banded(
            "mean-residual-life",
            "Mean excess against threshold",
            "The mean amount by which runs above a threshold exceed it, with a 95 % band. It is a straight line from where a \
             generalized Pareto distribution holds; the dashed line is the threshold.",
            "mean excess",
            &self.analysis.diagnostics.mean_residual_life,
        )
    }

    fn stability(&self, name: &'static str, title: &'static str, what: &str, of: &[Banded]) -> Plot {
        self.banded(
            name,
            title,
            "The fit above each threshold that was tried, with a 95 % band. It is level from where the distribution holds; the \
             dashed line is the threshold.",
            what,
            of,
        )
    }

    fn banded(
        &self,
        name: &'static str,
        title: &'static str,
        note: &'static str,
        what: &str,
        of: &[Banded],
    ) -> Plot {
        let band =
            of.iter().filter_map(|point| Some((point.threshold, point.band.lower?, point.band.upper?)));
        let plot = XyPlot {
            x: axis(&format!("threshold, {}", self.unit), Scale::Linear),
            y: axis(what, Scale::Linear),
            series: vec![
                series("", 0, Drawn::Band(band.collect())),
                series("", 0, Drawn::Line(of.iter().map(|point| (point.threshold, point.value)).collect())),
                series("", 3, Drawn::AtX(self.analysis.tail.threshold)),
            ],
        };
        Plot { name, title, note, svg: plot.svg() }
    }
}
