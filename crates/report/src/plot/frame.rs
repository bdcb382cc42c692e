//! The rectangle between two axes.

use super::axis::Ruled;
use super::drawing::{Anchor, At, Drawing, TEXT};
use super::font::{shortened, width_of};
use super::palette::Ink;

/// The angles of words that would touch each other side by side, and of those that would do so at the
/// first angle. A word takes this space across its own direction.
const SLANT: f64 = 40.0;
const UPRIGHT: f64 = 90.0;
const ACROSS_WORD: f64 = 11.0;
/// The most space for a word of an axis.
const WORD: f64 = 150.0;
/// The most by which a label may stick out at the right.
const BESIDE: f64 = 14.0;
/// The width of grid lines.
const HAIR: f64 = 0.7;

/// A rectangle with its axes.
pub(super) struct Frame<'a> {
    pub left: f64,
    pub top: f64,
    pub width: f64,
    pub height: f64,
    pub x: &'a Ruled,
    pub y: &'a Ruled,
}

/// Returns the width of the labels of an axis at the left.
pub(super) fn width_of_labels(y: &Ruled) -> f64 {
    let widths = y.ticks.iter().map(|tick| width_of(&tick.label) * TEXT);
    widths.fold(0.0, f64::max).min(WORD)
}

/// The labels of an axis from left to right.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Labels {
    /// The angle by which they are turned against the clock.
    pub turned: f64,
    /// The height that they take.
    pub height: f64,
    /// How far the first of them begins to the left of the axis.
    pub beside: f64,
}

impl Labels {
    /// The labels of numbers.
    pub const NUMBERS: Self = Self { turned: 0.0, height: 22.0, beside: 0.0 };

    /// The space that each word needs at least.
    pub const SPACE: f64 = ACROSS_WORD + 2.0;

    /// Returns the labels of words on an axis of this width.
    pub fn of_words(x: &Ruled, width: f64) -> Self {
        let widest = width_of_labels(x);
        let space = width / x.ticks.len().max(1) as f64;
        if widest + 6.0 <= space {
            return Self::NUMBERS;
        }
        let turned = if space * libm::sin(SLANT.to_radians()) >= ACROSS_WORD { SLANT } else { UPRIGHT };
        let angle = turned.to_radians();
        let height = 12.0 + widest * libm::sin(angle) + TEXT * 0.6 * libm::cos(angle);
        Self { turned, height, beside: widest * libm::cos(angle) - space / 2.0 }
    }
}

impl Frame<'_> {
    /// Returns the place of a position of the axis from left to right.
    pub fn across(&self, at: f64) -> f64 {
        self.left + self.width * self.x.share(at)
    }

    /// Returns the place of a position of the axis from bottom to top.
    pub fn up(&self, at: f64) -> f64 {
        self.top + self.height * (1.0 - self.y.share(at))
    }

    /// Returns the place of a point inside the axes.
    pub fn place(&self, (x, y): (f64, f64)) -> Option<At> {
        Some((self.across(self.x.at(x)?), self.up(self.y.at(y)?)))
    }

    /// Returns the right end.
    pub fn right(&self) -> f64 {
        self.left + self.width
    }

    /// Returns the bottom.
    pub fn bottom(&self) -> f64 {
        self.top + self.height
    }

    /// Draws the grid lines and the labels of the axis from bottom to top.
    pub fn draw_y(&self, labelled: bool, lines: bool, drawing: &mut Drawing) {
        for tick in &self.y.ticks {
            let y = self.up(tick.at);
            if lines {
                drawing.line(vec![(self.left, y), (self.right(), y)], Ink::Grid, HAIR);
            }
            if labelled {
                let label = shortened(&tick.label, TEXT, WORD);
                drawing.text((self.left - 6.0, y), &label, Anchor::End, Ink::Text);
            }
        }
    }

    /// Draws the ticks of the axis from left to right, and its labels unless they touch each other.
    pub fn draw_x(&self, labels: Option<Labels>, drawing: &mut Drawing) {
        let (bottom, mut free_from) = (self.bottom(), f64::NEG_INFINITY);
        for tick in &self.x.ticks {
            let x = self.across(tick.at);
            drawing.line(vec![(x, bottom), (x, bottom + 4.0)], Ink::Muted, 1.0);
            let Some(Labels { turned, .. }) = labels else { continue };
            let label = shortened(&tick.label, TEXT, WORD);
            if turned > 0.0 {
                let angle = turned.to_radians();
                if x >= free_from {
                    let at = (x + 3.0 * libm::cos(angle), bottom + 10.0);
                    drawing.turned(at, &label, TEXT, Anchor::End, Ink::Text, turned);
                    free_from = x + ACROSS_WORD / libm::sin(angle) - 0.01;
                }
                continue;
            }
            let half = width_of(&label) * TEXT / 2.0;
            let x = x.min(self.right() + BESIDE - half);
            if x - half > free_from {
                drawing.text((x, bottom + 14.0), &label, Anchor::Middle, Ink::Text);
                free_from = x + half + 5.0;
            }
        }
    }

    /// Draws the grid lines of the axis from left to right.
    pub fn draw_x_lines(&self, drawing: &mut Drawing) {
        for tick in &self.x.ticks {
            let x = self.across(tick.at);
            drawing.line(vec![(x, self.top), (x, self.bottom())], Ink::Grid, HAIR);
        }
    }

    /// Draws the two axes themselves.
    pub fn draw_corner(&self, drawing: &mut Drawing) {
        let (left, bottom) = (self.left, self.bottom());
        drawing.line(vec![(left, self.top), (left, bottom), (self.right(), bottom)], Ink::Muted, 1.0);
    }

    /// Draws a line through those points that lie inside, in parts where others lie between them.
    pub fn draw_line(
        &self,
        points: &[(f64, f64)],
        ink: Ink,
        width: f64,
        dashes: &'static [f64],
        drawing: &mut Drawing,
    ) {
        for part in points.split(|point| self.place(*point).is_none()) {
            let part = part.iter().filter_map(|point| self.place(*point)).collect();
            drawing.dashed(part, ink, width, dashes);
        }
    }
}
