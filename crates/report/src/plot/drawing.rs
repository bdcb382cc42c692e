//! A drawing of lines, areas and texts with fractional coordinates. `svg` and `pdf` write it.

use super::font;
use super::palette::Ink;

/// A point, in pixels from the upper left corner. One pixel is three quarters of a point of a PDF.
pub type At = (f64, f64);

/// The part of a text that lies at its horizontal position. At its vertical position lies the
/// middle of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// The start.
    Start,
    /// The middle.
    Middle,
    /// The end.
    End,
}

/// The shape that marks a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Circle,
    Square,
    Triangle,
    Diamond,
}

/// The font size of most texts, and of notes.
pub(super) const TEXT: f64 = 12.0;
const NOTE: f64 = 10.5;

/// An element, in front of those before it.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Item {
    /// A line, which also connects its last point with the first one if it is `closed`.
    Line { points: Vec<At>, closed: bool, ink: Ink, width: f64, dashes: &'static [f64] },
    /// A filled area.
    Area { points: Vec<At>, ink: Ink, opacity: f64 },
    /// A text, turned by these degrees against the clock.
    Text { at: At, text: String, size: f64, anchor: Anchor, ink: Ink, turned: f64 },
}

/// A drawing of this size.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawing {
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) items: Vec<Item>,
}

impl Drawing {
    /// Returns an empty drawing of this size.
    pub fn new(width: f64, height: f64) -> Self {
        Self { width, height, items: Vec::new() }
    }

    /// Adds a line through these points.
    pub fn line(&mut self, points: Vec<At>, ink: Ink, width: f64) {
        self.dashed(points, ink, width, &[]);
    }

    /// Adds a line through these points, with dashes and gaps of these lengths in turn.
    pub(super) fn dashed(&mut self, points: Vec<At>, ink: Ink, width: f64, dashes: &'static [f64]) {
        if points.len() > 1 {
            self.items.push(Item::Line { points, closed: false, ink, width, dashes });
        }
    }

    /// Adds a filled rectangle with these two opposite corners.
    pub fn rectangle(&mut self, from: At, to: At, ink: Ink) {
        self.area(corners(from, to), ink, 1.0);
    }

    /// Adds the outline of a rectangle with these two opposite corners.
    pub(super) fn outline(&mut self, from: At, to: At, ink: Ink, width: f64) {
        self.items.push(Item::Line { points: corners(from, to), closed: true, ink, width, dashes: &[] });
    }

    /// Adds a filled area; an opacity of 1 covers what is behind it.
    pub(super) fn area(&mut self, points: Vec<At>, ink: Ink, opacity: f64) {
        if points.len() > 2 {
            self.items.push(Item::Area { points, ink, opacity });
        }
    }

    /// Adds a filled shape around a point.
    pub(super) fn mark(&mut self, at: At, shape: Shape, size: f64, ink: Ink) {
        self.area(around(at, shape, size), ink, 1.0);
    }

    /// Adds the outline of a shape around a point.
    pub(super) fn ring(&mut self, at: At, shape: Shape, size: f64, ink: Ink, width: f64) {
        let points = around(at, shape, size);
        self.items.push(Item::Line { points, closed: true, ink, width, dashes: &[] });
    }

    /// Adds a text, whose middle lies at the vertical position of `at`.
    pub fn text(&mut self, at: At, text: &str, anchor: Anchor, ink: Ink) {
        self.turned(at, text, TEXT, anchor, ink, 0.0);
    }

    /// Adds a text of this font size, turned around `at` by these degrees against the clock.
    pub(super) fn turned(&mut self, at: At, text: &str, size: f64, anchor: Anchor, ink: Ink, turned: f64) {
        if !text.is_empty() {
            self.items.push(Item::Text { at, text: text.to_owned(), size, anchor, ink, turned });
        }
    }

    /// Adds notes below everything else, from `left` on.
    pub(super) fn add_notes(&mut self, notes: &[String], left: f64) {
        for note in notes {
            let most = self.width - left - 4.0;
            self.height += self.paragraph((left, self.height), note, NOTE, most, Ink::Muted);
        }
        self.height += if notes.is_empty() { 0.0 } else { 4.0 };
    }

    /// Adds the lines of a text below each other, and returns the height that they take.
    pub(super) fn paragraph(&mut self, (x, y): At, text: &str, size: f64, most: f64, ink: Ink) -> f64 {
        let mut height = 0.0;
        for line in font::lines_of(text, size, most) {
            self.turned((x, y + height + size * 0.7), &line, size, Anchor::Start, ink, 0.0);
            height += size * 1.4;
        }
        height
    }
}

fn corners((left, top): At, (right, bottom): At) -> Vec<At> {
    vec![(left, top), (right, top), (right, bottom), (left, bottom)]
}

/// Returns the outline of a shape.
fn around((x, y): At, shape: Shape, size: f64) -> Vec<At> {
    let around = |corners: &[At]| corners.iter().map(|(dx, dy)| (x + dx * size, y + dy * size)).collect();
    match shape {
        // as many corners as are needed at this size
        Shape::Circle => (0..16)
            .map(|corner| f64::from(corner) * std::f64::consts::PI / 8.0)
            .map(|angle| (x + libm::cos(angle) * size, y + libm::sin(angle) * size))
            .collect(),
        Shape::Square => around(&[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)]),
        Shape::Triangle => around(&[(0.0, -1.2), (1.1, 0.9), (-1.1, 0.9)]),
        Shape::Diamond => around(&[(0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0)]),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A drawing with each kind of element.
    pub fn drawing() -> Drawing {
        let mut drawing = Drawing::new(100.0, 50.0);
        drawing.dashed(vec![(1.25, 2.0), (30.0, 40.5)], Ink::Series(0), 1.5, &[4.0, 2.0]);
        drawing.line(vec![(1.0, 1.0)], Ink::Text, 1.0);
        drawing.mark((10.0, 10.0), Shape::Square, 3.0, Ink::Bad);
        drawing.ring((10.0, 10.0), Shape::Circle, 3.0, Ink::Bad, 1.0);
        drawing.area(vec![(0.0, 0.0), (9.0, 0.0), (9.0, 9.0)], Ink::Series(1), 0.25);
        drawing.text((50.0, 25.0), "a <b> (c)", Anchor::End, Ink::Text);
        drawing.turned((5.0, 25.0), "IPC", 12.0, Anchor::Middle, Ink::Text, 90.0);
        drawing
    }

    #[test]
    fn a_paragraph_takes_as_many_lines_as_it_needs() {
        let mut drawing = Drawing::new(100.0, 50.0);
        let one = drawing.paragraph((0.0, 0.0), "short", 10.0, 90.0, Ink::Text);
        let three = drawing.paragraph((0.0, 20.0), "loooooooong words of text", 10.0, 60.0, Ink::Text);
        assert!(three > 2.0 * one, "{one} {three}");
        assert_eq!(drawing.items.len() as f64, 1.0 + (three / one).round());
    }
}
