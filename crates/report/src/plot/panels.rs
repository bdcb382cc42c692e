//! Lines in one or several panels that share their axes (small multiples).

use std::collections::BTreeSet;

use super::palette::Ink;
use super::picture::Anchor;
use super::vector::{Drawing, Shape};
use super::xy::{Ruled, Scale};

/// The most panels side by side.
const ACROSS: usize = 3;
/// The size of the only panel, and of one of several, in pixels.
const ALONE: (f64, f64) = (460.0, 260.0);
const SMALL: (f64, f64) = (230.0, 160.0);
/// The space for the labels of the axes, between panels, and for a line of text.
const LEFT: f64 = 76.0;
const BELOW: f64 = 52.0;
const GAP: f64 = 18.0;
const LINE: f64 = 18.0;
const TEXT: f64 = 12.0;

/// The dashes of the lines, in turn, so that they differ in grey, too.
const DASHES: [&[f64]; 4] = [&[], &[7.0, 3.0], &[2.0, 2.5], &[9.0, 3.0, 2.0, 3.0]];
const SHAPES: [Shape; 4] = [Shape::Circle, Shape::Square, Shape::Triangle, Shape::Diamond];

/// The values of an axis from left to right.
#[derive(Clone, Debug, PartialEq)]
pub enum Across {
    /// Numbers, at their places.
    Numbers,
    /// Words, at equal distances; a point has the index of its word.
    Words(Vec<String>),
}

/// A line.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// The index of its name in the legend, which also decides its colour and shape.
    pub name: usize,
    /// Its points from left to right.
    pub points: Vec<(f64, f64)>,
}

/// A panel.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    /// Its title; empty for the only panel.
    pub title: String,
    /// Its lines.
    pub lines: Vec<Line>,
}

/// Panels with the same axes.
#[derive(Clone, Debug, PartialEq)]
pub struct Panels {
    /// The title above all of them.
    pub title: String,
    /// The title of the axis from left to right, with its unit.
    pub x_title: String,
    /// The title of the axis from bottom to top, with its unit.
    pub y_title: String,
    /// The values from left to right.
    pub across: Across,
    /// Whether the values from bottom to top are shares, which are labelled in percent.
    pub percent: bool,
    /// Whether the values from bottom to top begin at 0.
    pub from_zero: bool,
    /// The names of the lines.
    pub names: Vec<String>,
    /// The panels, row by row.
    pub panels: Vec<Panel>,
}

impl Panels {
    /// Returns the SVG file.
    pub fn svg(&self) -> String {
        self.draw().svg()
    }

    /// Returns the PDF file.
    pub fn pdf(&self) -> Vec<u8> {
        self.draw().pdf()
    }

    /// Returns the number of different values from left to right.
    pub fn values(&self) -> usize {
        let points = self.panels.iter().flat_map(|panel| &panel.lines).flat_map(|line| &line.points);
        points.map(|point| point.0.to_bits()).collect::<BTreeSet<u64>>().len()
    }

    /// Returns the same panels for a page that has their title.
    #[must_use]
    pub fn untitled(self) -> Self {
        Self { title: String::new(), ..self }
    }

    fn draw(&self) -> Drawing {
        let columns = self.panels.len().clamp(1, ACROSS);
        let rows = self.panels.len().div_ceil(columns).max(1);
        let (width, height) = if self.panels.len() > 1 { SMALL } else { ALONE };
        let head = if self.panels.len() > 1 { LINE } else { 0.0 };
        let whole = LEFT + columns as f64 * (width + GAP);
        let (places, legend) = self.legend(whole);
        let above = if self.title.is_empty() { 0.0 } else { 14.0 + LINE };
        let top = above + legend;
        let mut drawing = Drawing::new(whole, top + rows as f64 * (head + height + GAP) - GAP + BELOW);
        drawing.text((LEFT, 16.0), &self.title, TEXT + 1.0, Anchor::Start, Ink::Text);
        for (index, (name, (x, y))) in self.names.iter().zip(places).enumerate() {
            let y = y + above;
            drawing.line(vec![(x, y), (x + 26.0, y)], Ink::Series(index), 1.8, DASHES[index % 4]);
            drawing.mark((x + 13.0, y), SHAPES[index % 4], 3.4, Ink::Series(index));
            drawing.text((x + 32.0, y), name, TEXT, Anchor::Start, Ink::Text);
        }
        let (x, y) = self.axes();
        for (index, panel) in self.panels.iter().enumerate() {
            let (column, row) = (index % columns, index / columns);
            let left = LEFT + column as f64 * (width + GAP);
            let at_top = top + head + row as f64 * (head + height + GAP);
            let last = index + columns >= self.panels.len();
            let frame = Frame { left, top: at_top, width, height, x: &x, y: &y };
            drawing.text((left, at_top - LINE / 2.0), &panel.title, TEXT, Anchor::Start, Ink::Text);
            self.axes_of(&frame, column == 0, last, &mut drawing);
            frame.lines(panel, &mut drawing);
        }
        let middle = LEFT + (whole - LEFT - GAP) / 2.0;
        let foot = drawing.height - 14.0;
        drawing.text((middle, foot), &self.x_title, TEXT, Anchor::Middle, Ink::Muted);
        let centre = top + (drawing.height - top - BELOW) / 2.0;
        drawing.text_upwards((12.0, centre), &self.y_title, TEXT, Ink::Muted);
        drawing
    }

    /// Returns the places of the names in the legend, and its height.
    fn legend(&self, whole: f64) -> (Vec<(f64, f64)>, f64) {
        let mut places = Vec::new();
        let (mut x, mut y) = (LEFT, 0.0);
        for name in &self.names {
            let width = 48.0 + name.chars().count() as f64 * 6.8;
            if x + width > whole && x > LEFT {
                (x, y) = (LEFT, y + LINE);
            }
            places.push((x, y + LINE / 2.0));
            x += width;
        }
        (places, if self.names.is_empty() { 0.0 } else { y + LINE + 6.0 })
    }

    fn axes(&self) -> (Ruled, Ruled) {
        let points = || self.panels.iter().flat_map(|panel| &panel.lines).flat_map(|line| &line.points);
        let x = match &self.across {
            Across::Numbers => Ruled::over(Scale::Linear, points().map(|point| point.0)),
            Across::Words(words) => Ruled::of_places(words.len()),
        };
        let scale = if self.from_zero { Scale::FromZero } else { Scale::Linear };
        (x, Ruled::over(scale, points().map(|point| point.1)))
    }

    /// Draws the axes of a panel, with the labels at the left and below if they are wanted.
    fn axes_of(&self, frame: &Frame<'_>, at_left: bool, below: bool, drawing: &mut Drawing) {
        let bottom = frame.top + frame.height;
        for tick in &frame.y.ticks {
            let y = frame.up(*tick);
            drawing.line(vec![(frame.left, y), (frame.left + frame.width, y)], Ink::Grid, 0.7, &[]);
            if at_left {
                let label = if self.percent { percent(*tick, frame.y) } else { frame.y.label(*tick) };
                drawing.text((frame.left - 6.0, y), &label, TEXT, Anchor::End, Ink::Text);
            }
        }
        let (mut free_from, end) = (f64::NEG_INFINITY, frame.left + frame.width);
        for (index, tick) in frame.x.ticks.iter().enumerate() {
            let x = frame.across(*tick);
            drawing.line(vec![(x, bottom), (x, bottom + 4.0)], Ink::Muted, 1.0, &[]);
            let label = match &self.across {
                Across::Numbers => frame.x.label(*tick),
                Across::Words(words) => words.get(index).cloned().unwrap_or_default(),
            };
            // a label that would touch the one before it is left out
            let half = label.chars().count() as f64 * 3.4;
            if below && x - half > free_from {
                let anchor = if x + half > end + GAP { Anchor::End } else { Anchor::Middle };
                drawing.text((x, bottom + 14.0), &label, TEXT, anchor, Ink::Text);
                free_from = x + half + 6.0;
            }
        }
        let corner = (frame.left, bottom);
        drawing.line(vec![(frame.left, frame.top), corner, (end, bottom)], Ink::Muted, 1.0, &[]);
    }
}

/// Returns the label of a share.
fn percent(share: f64, axis: &Ruled) -> String {
    format!("{:.*} %", axis.digits.saturating_sub(2), share * 100.0)
}

/// The place of a panel.
struct Frame<'a> {
    left: f64,
    top: f64,
    width: f64,
    height: f64,
    x: &'a Ruled,
    y: &'a Ruled,
}

impl Frame<'_> {
    fn across(&self, at: f64) -> f64 {
        self.left + self.width * share(self.x, at)
    }

    fn up(&self, at: f64) -> f64 {
        self.top + self.height * (1.0 - share(self.y, at))
    }

    /// Draws the lines. A line under another one is wider, so that both can be seen where they
    /// coincide.
    fn lines(&self, panel: &Panel, drawing: &mut Drawing) {
        let count = panel.lines.len();
        for (index, Line { name, points }) in panel.lines.iter().enumerate() {
            let points: Vec<(f64, f64)> =
                points.iter().map(|(x, y)| (self.across(*x), self.up(*y))).collect();
            let above = (count - 1 - index).min(3) as f64;
            let ink = Ink::Series(*name);
            drawing.line(points.clone(), ink, 1.6 + 1.7 * above, DASHES[name % 4]);
            for point in points {
                drawing.mark(point, SHAPES[name % 4], 3.0 + 0.9 * above, ink);
            }
        }
    }
}

fn share(axis: &Ruled, at: f64) -> f64 {
    (at - axis.ends.0) / (axis.ends.1 - axis.ends.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn panels(count: usize) -> Panels {
        let line = |name, y: f64| Line { name, points: vec![(100.0, y), (400.0, 2.0 * y)] };
        let panel =
            |index: usize| Panel { title: format!("k{index}"), lines: vec![line(0, 50.0), line(1, 50.0)] };
        Panels {
            title: "cycles against mem_latency".to_owned(),
            x_title: "mem_latency (cycles)".to_owned(),
            y_title: "cycles".to_owned(),
            across: Across::Numbers,
            percent: false,
            from_zero: true,
            names: vec!["gto".to_owned(), "lrr".to_owned()],
            panels: (0..count).map(panel).collect(),
        }
    }

    #[test]
    fn all_that_is_drawn_lies_inside() {
        for count in [1, 2, 3, 7] {
            let drawing = panels(count).draw();
            let svg = drawing.svg();
            for points in svg.split("points=\"").skip(1) {
                for point in points.split('"').next().unwrap().split(' ') {
                    let (x, y) = point.split_once(',').unwrap();
                    let (x, y): (f64, f64) = (x.parse().unwrap(), y.parse().unwrap());
                    assert!(
                        (0.0..=drawing.width).contains(&x) && (0.0..=drawing.height).contains(&y),
                        "{point}"
                    );
                }
            }
            assert_eq!(svg.matches(">k").count(), count);
        }
    }

    #[test]
    fn lines_with_the_same_points_differ() {
        let svg = panels(1).svg();
        let in_panel: Vec<&str> = svg
            .lines()
            .filter(|line| {
                ["3.3", "1.6"].iter().any(|width| line.contains(&format!("stroke-width=\"{width}\"")))
            })
            .collect();
        assert_eq!(in_panel.len(), 2, "{svg}");
        assert!(in_panel[1].contains("stroke-dasharray"), "{svg}");
    }
}
