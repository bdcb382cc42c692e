//! A plot of points with two numeric axes.

use plotters::coord::cartesian::Cartesian2d;
use plotters::prelude::*;

use super::chart::{HEIGHT, IN_MEMORY, LEGEND, WIDTH, drawn, legend, nice_step};
use super::marks::Marks;
use super::palette::Ink;
use crate::html::grouped;

/// The width of the numbers at the left, in pixels.
const LEFT: u32 = 84;

/// The scale of an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// Linear, from the minimum to the maximum.
    #[default]
    Linear,
    /// Linear, including 0.
    FromZero,
    /// Logarithmic, in powers of ten; values that are not positive are left out.
    Decades,
}

/// An axis.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Axis {
    /// Its title.
    pub title: String,
    /// Its scale.
    pub scale: Scale,
}

/// The form in which points are drawn.
#[derive(Clone, Debug, PartialEq)]
pub enum Drawn {
    /// A line through the points.
    Line(Vec<(f64, f64)>),
    /// A thin line, for secondary data.
    Thin(Vec<(f64, f64)>),
    /// A dot for each point.
    Dots(Vec<(f64, f64)>),
    /// A vertical stroke from 0 to each point.
    Strokes(Vec<(f64, f64)>),
    /// The area between the two values at each x.
    Band(Vec<(f64, f64, f64)>),
    /// A dashed line at this x.
    AtX(f64),
    /// A dashed line at this y.
    AtY(f64),
}

/// A named set of points.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// The name in the legend, which lists it once; empty for no entry.
    pub name: String,
    /// The index of the colour.
    pub colour: usize,
    /// The points and their form.
    pub drawn: Drawn,
}

/// A plot of points with two numeric axes. Points of lines and dots that lie outside of the axes
/// are not drawn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct XyPlot {
    /// The axis from left to right.
    pub x: Axis,
    /// The axis from bottom to top.
    pub y: Axis,
    /// The series from back to front.
    pub series: Vec<Series>,
}

/// An axis with ends and labels, in positions of the plot.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Ruled {
    scale: Scale,
    pub ends: (f64, f64),
    pub ticks: Vec<f64>,
    pub digits: usize,
}

impl Ruled {
    /// Returns an axis with this number of ticks, at 0, 1, 2 and so on.
    pub fn of_places(places: usize) -> Self {
        let ticks: Vec<f64> = (0..places).map(|place| place as f64).collect();
        let last = places.max(1) as f64 - 1.0;
        Self { scale: Scale::Linear, ends: (-0.3, last + 0.3), ticks, digits: 0 }
    }

    pub fn over(scale: Scale, values: impl Iterator<Item = f64>) -> Self {
        let at = values.filter_map(|value| position(scale, value));
        let (mut least, mut most) =
            at.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), at| (least.min(at), most.max(at)));
        if scale == Scale::FromZero {
            (least, most) = (least.min(0.0), most.max(0.0));
        }
        if least > most || scale == Scale::FromZero && least == most {
            (least, most) = (0.0, 1.0);
        }
        if scale == Scale::Decades {
            let (first, last) = (least.floor(), most.ceil().max(least.floor() + 1.0));
            let step = ((last - first) / 8.0).ceil().max(1.0);
            let count = ((last - first) / step) as u32;
            let ticks = (0..=count).map(|tick| first + f64::from(tick) * step).collect();
            return Self { scale, ends: (first, last), ticks, digits: 0 };
        }
        let margin = ((most - least) * 0.04).max(most.abs().max(least.abs()) * 1e-9).max(1e-12);
        let ends = (
            if scale == Scale::FromZero && least == 0.0 { 0.0 } else { least - margin },
            if scale == Scale::FromZero && most == 0.0 { 0.0 } else { most + margin },
        );
        let step = nice_step(ends.1 - ends.0);
        let first = (ends.0 / step).ceil();
        let count = ((ends.1 / step).floor() - first).clamp(0.0, 20.0) as u32;
        let ticks = (0..=count).map(|tick| (first + f64::from(tick)) * step).collect();
        let digits = (0..=6).find(|digits| {
            let scaled = step * libm::pow(10.0, f64::from(*digits));
            (scaled - scaled.round()).abs() < 1e-6 * scaled
        });
        Self { scale, ends, ticks, digits: digits.unwrap_or(6) as usize }
    }

    fn at(&self, value: f64) -> Option<f64> {
        position(self.scale, value).filter(|at| (self.ends.0..=self.ends.1).contains(at))
    }

    /// Returns the position of a value; for a value outside of the axis, the nearer end.
    fn within(&self, value: f64) -> f64 {
        position(self.scale, value).map_or(self.ends.0, |at| at.clamp(self.ends.0, self.ends.1))
    }

    pub fn label(&self, at: f64) -> String {
        match self.scale {
            Scale::Decades if at == 0.0 => "1".to_owned(),
            Scale::Decades => format!("1e{}", at.round() as i64),
            _ if self.digits == 0 && at >= 0.0 => grouped(at.round() as u64),
            _ => format!("{:.*}", self.digits, at),
        }
    }

    fn marks(&self) -> Marks {
        Marks { ends: self.ends, at: self.ticks.clone() }
    }
}

fn position(scale: Scale, value: f64) -> Option<f64> {
    match scale {
        Scale::Linear | Scale::FromZero => value.is_finite().then_some(value),
        Scale::Decades => (value > 0.0 && value.is_finite()).then(|| libm::log10(value)),
    }
}

impl Drawn {
    fn xs(&self) -> Vec<f64> {
        match self {
            Self::Line(points) | Self::Dots(points) | Self::Strokes(points) => {
                points.iter().map(|point| point.0).collect()
            }
            Self::Thin(_) | Self::Band(_) | Self::AtX(_) | Self::AtY(_) => Vec::new(),
        }
    }

    fn ys(&self) -> Vec<f64> {
        match self {
            Self::Line(points) | Self::Dots(points) | Self::Strokes(points) => {
                points.iter().map(|point| point.1).collect()
            }
            Self::Thin(_) | Self::Band(_) | Self::AtX(_) | Self::AtY(_) => Vec::new(),
        }
    }
}

impl XyPlot {
    /// Returns the plot as an SVG file.
    pub fn svg(&self) -> String {
        let x = Ruled::over(self.x.scale, self.series.iter().flat_map(|series| series.drawn.xs()));
        let y = Ruled::over(self.y.scale, self.series.iter().flat_map(|series| series.drawn.ys()));
        let named = self.named();
        let legend_width =
            named.iter().map(|(name, _)| name.chars().count() as u32 * 7 + 30).max().unwrap_or(0);
        let legend_width = if named.is_empty() { 0 } else { legend_width.clamp(LEGEND, 170) };
        drawn(HEIGHT, |area| {
            let (left, right) = area.split_horizontally(WIDTH - legend_width);
            let mut chart = ChartBuilder::on(&left)
                .margin(10)
                .margin_right(24)
                .x_label_area_size(40)
                .y_label_area_size(LEFT)
                .build_cartesian_2d(x.marks(), y.marks())
                .expect(IN_MEMORY);
            chart
                .configure_mesh()
                .light_line_style(Ink::Ground.colour())
                .bold_line_style(Ink::Grid.colour())
                .axis_style(Ink::Muted.colour())
                .label_style(("sans-serif", 12).into_font().color(&Ink::Text.colour()))
                .axis_desc_style(("sans-serif", 12).into_font().color(&Ink::Muted.colour()))
                .x_desc(self.x.title.as_str())
                .y_desc(self.y.title.as_str())
                .x_label_formatter(&|at| x.label(*at))
                .y_label_formatter(&|at| y.label(*at))
                .draw()
                .expect(IN_MEMORY);
            let inside = Inside { area: chart.plotting_area(), x: &x, y: &y };
            self.series.iter().for_each(|series| inside.draw(series));
            legend(&right, named.into_iter());
        })
    }

    /// Returns the names of the legend with their colours.
    fn named(&self) -> Vec<(String, usize)> {
        let mut named: Vec<(String, usize)> = Vec::new();
        for Series { name, colour, .. } in &self.series {
            if !name.is_empty() && !named.iter().any(|(known, _)| known == name) {
                named.push((name.clone(), *colour));
            }
        }
        named
    }
}

/// The part of a plot inside its axes.
struct Inside<'a, 's> {
    area: &'a DrawingArea<SVGBackend<'s>, Cartesian2d<Marks, Marks>>,
    x: &'a Ruled,
    y: &'a Ruled,
}

impl Inside<'_, '_> {
    /// Draws a series.
    fn draw(&self, series: &Series) {
        let Self { area, x, y } = self;
        let ink = Ink::Series(series.colour).colour();
        match &series.drawn {
            Drawn::Line(points) => self.line(points, ink.stroke_width(2)),
            Drawn::Thin(points) => self.line(points, ink.stroke_width(1)),
            Drawn::Dots(points) => points.iter().filter_map(|point| self.at(point)).for_each(|point| {
                area.draw(&Circle::new(point, 2, ink.filled())).expect(IN_MEMORY);
            }),
            Drawn::Strokes(points) => {
                points.iter().filter_map(|point| self.at(point)).for_each(|(px, py)| {
                    let ends = vec![(px, y.within(0.0)), (px, py)];
                    area.draw(&PathElement::new(ends, ink.stroke_width(3))).expect(IN_MEMORY);
                })
            }
            Drawn::Band(points) => {
                let inside = points
                    .iter()
                    .filter_map(|&(px, low, high)| Some((x.at(px)?, y.within(low), y.within(high))));
                let inside: Vec<_> = inside.collect();
                let up = inside.iter().map(|&(px, _, high)| (px, high));
                let down = inside.iter().rev().map(|&(px, low, _)| (px, low));
                let outline: Vec<_> = up.chain(down).collect();
                area.draw(&Polygon::new(outline, ink.mix(0.2).filled())).expect(IN_MEMORY);
            }
            Drawn::AtX(value) => {
                if let Some(at) = x.at(*value) {
                    self.dashed((at, y.ends.0), (at, y.ends.1), ink.stroke_width(1));
                }
            }
            Drawn::AtY(value) => {
                if let Some(at) = y.at(*value) {
                    self.dashed((x.ends.0, at), (x.ends.1, at), ink.stroke_width(1));
                }
            }
        }
    }

    /// Returns the position of a point, if it lies inside the axes.
    fn at(&self, &(px, py): &(f64, f64)) -> Option<(f64, f64)> {
        Some((self.x.at(px)?, self.y.at(py)?))
    }

    /// Draws a line through the points.
    fn line(&self, points: &[(f64, f64)], style: ShapeStyle) {
        // parts separated by a point outside of the picture are not connected
        for part in points.split(|point| self.at(point).is_none()) {
            let part: Vec<_> = part.iter().filter_map(|point| self.at(point)).collect();
            self.area.draw(&PathElement::new(part, style)).expect(IN_MEMORY);
        }
    }

    /// Draws a dashed line between two positions.
    fn dashed(&self, from: (f64, f64), to: (f64, f64), style: ShapeStyle) {
        const DASHES: u32 = 40;
        let along = |step: u32| {
            let share = f64::from(step) / f64::from(2 * DASHES);
            (from.0 + (to.0 - from.0) * share, from.1 + (to.1 - from.1) * share)
        };
        for dash in 0..DASHES {
            let ends = vec![along(2 * dash), along(2 * dash + 1)];
            self.area.draw(&PathElement::new(ends, style)).expect(IN_MEMORY);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_have_few_round_labels() {
        let labels = |scale, values: &[f64]| {
            let axis = Ruled::over(scale, values.iter().copied());
            assert!(axis.ticks.iter().all(|at| (axis.ends.0..=axis.ends.1).contains(at)), "{axis:?}");
            axis.ticks.iter().map(|at| axis.label(*at)).collect::<Vec<_>>()
        };
        assert_eq!(labels(Scale::FromZero, &[0.2, 0.9]), ["0.0", "0.2", "0.4", "0.6", "0.8"]);
        assert_eq!(
            labels(Scale::Linear, &[118_000.0, 141_000.0]),
            ["120,000", "125,000", "130,000", "135,000", "140,000"]
        );
        assert_eq!(labels(Scale::Linear, &[-0.1, 0.1]), ["-0.10", "-0.05", "0.00", "0.05", "0.10"]);
        assert_eq!(labels(Scale::Decades, &[0.002, 0.9, 0.0, -1.0]), ["1e-3", "1e-2", "1e-1", "1"]);
        assert_eq!(labels(Scale::Decades, &[1e-15, 1.0]).len(), 8);
        // no value, a single value, and values that are not finite or extreme
        for scale in [Scale::Linear, Scale::FromZero, Scale::Decades] {
            for values in [&[][..], &[5.0], &[f64::NAN, f64::INFINITY], &[1e300, -1e300], &[1e-300]] {
                assert!(labels(scale, values).len() < 25);
            }
        }
    }

    #[test]
    fn every_series_is_drawn_and_named_once() {
        let series = |name: &str, drawn| Series { name: name.to_owned(), colour: 1, drawn };
        let points = vec![(1.0, 10.0), (2.0, 20.0), (3.0, f64::NAN), (4.0, 5.0)];
        let plot = XyPlot {
            x: Axis { title: "runs".to_owned(), scale: Scale::Linear },
            y: Axis { title: "cycles <".to_owned(), scale: Scale::FromZero },
            series: vec![
                series("measured", Drawn::Line(points.clone())),
                series("measured", Drawn::Dots(points.clone())),
                series("band", Drawn::Band(vec![(1.0, 8.0, 12.0), (2.0, 18.0, 99.0)])),
                series("", Drawn::AtY(15.0)),
                series("", Drawn::AtX(2.0)),
                series("", Drawn::Strokes(points)),
            ],
        };
        let svg = plot.svg();
        assert_eq!(svg.matches("<circle").count(), 3, "{svg}");
        assert_eq!(svg.matches("\nmeasured\n").count(), 1);
        assert!(svg.contains("<polygon") && svg.contains("cycles &lt;") && svg.contains("\nruns\n"), "{svg}");
        assert_eq!(svg, plot.svg());
    }
}
