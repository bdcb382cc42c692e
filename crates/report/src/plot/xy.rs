//! A plot of points with two numeric axes.

use super::axis::{Ruled, Scale};
use super::drawing::{Anchor, Drawing, TEXT};
use super::frame::{Frame, Labels, width_of_labels};
use super::legend::{self, Entry, STROKE, Sign};
use super::palette::Ink;

/// The width of plots on pages, in pixels. Their text can be read on a telephone.
pub(super) const WIDTH: f64 = 430.0;
/// The height between the axes.
const HEIGHT: f64 = 220.0;
/// The dashes of lines that mark a value of an axis.
const AT_VALUE: &[f64] = &[5.0, 4.0];

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

impl Drawn {
    /// Returns the points that decide the ends of the axes.
    fn ends(&self) -> &[(f64, f64)] {
        match self {
            Self::Line(points) | Self::Dots(points) | Self::Strokes(points) => points,
            Self::Thin(_) | Self::Band(_) | Self::AtX(_) | Self::AtY(_) => &[],
        }
    }
}

impl XyPlot {
    /// Returns the plot as an SVG file.
    pub fn svg(&self) -> String {
        let points = || self.series.iter().flat_map(|series| series.drawn.ends());
        let x = Ruled::over(self.x.scale, points().map(|point| point.0));
        let y = Ruled::over(self.y.scale, points().map(|point| point.1));
        let left = 38.0 + width_of_labels(&y);
        let width = WIDTH - left - 18.0;
        let entries = self.entries();
        let (places, legend) = legend::placed(&entries, width);
        let top = 8.0 + legend;
        let mut drawing = Drawing::new(WIDTH, top + HEIGHT + 44.0);
        legend::draw(&entries, &places, (left, 4.0), &mut drawing);
        let frame = Frame { left, top, width, height: HEIGHT, x: &x, y: &y };
        frame.draw_y(true, true, &mut drawing);
        frame.draw_x_lines(&mut drawing);
        frame.draw_x(Some(Labels::NUMBERS), &mut drawing);
        self.series.iter().for_each(|series| draw(series, &frame, &mut drawing));
        frame.draw_corner(&mut drawing);
        let middle = (left + width / 2.0, top + HEIGHT + 34.0);
        drawing.text(middle, &self.x.title, Anchor::Middle, Ink::Muted);
        let at_left = (12.0, top + HEIGHT / 2.0);
        drawing.turned(at_left, &self.y.title, TEXT, Anchor::Middle, Ink::Muted, 90.0);
        drawing.svg()
    }

    /// Returns the names of the legend.
    fn entries(&self) -> Vec<Entry> {
        let mut entries: Vec<Entry> = Vec::new();
        for Series { name, colour, drawn } in self.series.iter().filter(|series| !series.name.is_empty()) {
            let sign = match drawn {
                Drawn::Dots(_) => Sign::Points,
                Drawn::Thin(_) => Sign::Thin,
                _ => Sign::Plain,
            };
            match entries.iter_mut().find(|entry| entry.name == *name) {
                Some(entry) if entry.sign != sign => entry.sign = Sign::Line,
                Some(_) => {}
                None => entries.push(Entry { name: name.clone(), number: *colour, sign }),
            }
        }
        entries
    }
}

/// Draws a series.
fn draw(series: &Series, frame: &Frame<'_>, drawing: &mut Drawing) {
    let ink = Ink::Series(series.colour);
    let (x, y) = (frame.x, frame.y);
    match &series.drawn {
        Drawn::Line(points) => {
            frame.draw_line(points, ink, STROKE, legend::dashes(series.colour), drawing);
        }
        Drawn::Thin(points) => frame.draw_line(points, ink, legend::HAIR, &[], drawing),
        Drawn::Dots(points) => points.iter().filter_map(|point| frame.place(*point)).for_each(|at| {
            drawing.mark(at, legend::shape(series.colour), 2.0, ink);
        }),
        Drawn::Strokes(points) => {
            let zero = frame.up(y.within(0.0));
            for (px, py) in points.iter().filter_map(|point| frame.place(*point)) {
                drawing.line(vec![(px, zero), (px, py)], ink, 3.0);
            }
        }
        Drawn::Band(points) => {
            let inside: Vec<_> = points
                .iter()
                .filter_map(|(px, low, high)| {
                    Some((frame.across(x.at(*px)?), y.within(*low), y.within(*high)))
                })
                .collect();
            let up = inside.iter().map(|(px, _, high)| (*px, frame.up(*high)));
            let down = inside.iter().rev().map(|(px, low, _)| (*px, frame.up(*low)));
            drawing.area(up.chain(down).collect(), ink, 0.2);
        }
        Drawn::AtX(value) => {
            if let Some(at) = x.at(*value) {
                let at = frame.across(at);
                drawing.dashed(vec![(at, frame.top), (at, frame.bottom())], ink, 1.2, AT_VALUE);
            }
        }
        Drawn::AtY(value) => {
            if let Some(at) = y.at(*value) {
                let at = frame.up(at);
                drawing.dashed(vec![(frame.left, at), (frame.right(), at)], ink, 1.2, AT_VALUE);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        // the band has two points only, of which four corners lie inside
        assert_eq!(svg.matches("<polygon").count(), 3 + 1 + 1, "three dots, the band, the legend: {svg}");
        assert_eq!(svg.matches(">measured</text>").count(), 1);
        assert!(svg.contains("cycles &lt;") && svg.contains(">runs</text>"), "{svg}");
        assert_eq!(svg, plot.svg());
    }
}
