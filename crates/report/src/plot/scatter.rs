//! Points on two logarithmic axes with the same scale, and the line on which both are equal.

use super::drawing::{Anchor, At, Drawing, Shape, TEXT};
use super::palette::Ink;

/// The size of the picture, and of the square with the points, in pixels.
const SIZE: (f64, f64) = (640.0, 520.0);
const SQUARE: f64 = 420.0;
const CORNER: At = (80.0, 40.0);
const SHAPES: [Shape; 4] = [Shape::Circle, Shape::Square, Shape::Triangle, Shape::Diamond];

/// A plot of positive numbers against each other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scatter {
    /// The title.
    pub title: String,
    /// The title of the axis from left to right.
    pub x: String,
    /// The title of the axis from bottom to top.
    pub y: String,
    /// The points by name. Points that are not positive are left out.
    pub series: Vec<(String, Vec<(f64, f64)>)>,
}

impl Scatter {
    /// Returns the plot as an SVG file.
    pub fn svg(&self) -> String {
        self.drawing().svg()
    }

    /// Returns the plot as a PDF file.
    ///
    /// # Errors
    /// The characters that the font lacks.
    pub fn pdf(&self) -> Result<Vec<u8>, String> {
        self.drawing().pdf()
    }

    /// Returns the powers of ten between which all numbers lie.
    fn decades(&self) -> (i32, i32) {
        let numbers = self.series.iter().flat_map(|(_, points)| points).flat_map(|&(x, y)| [x, y]);
        let numbers = numbers.filter(|number| *number > 0.0 && number.is_finite()).map(libm::log10);
        let (least, most) =
            numbers.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), at| (low.min(at), high.max(at)));
        if least > most {
            return (0, 1);
        }
        let first = least.floor() as i32;
        (first, (most.ceil() as i32).max(first + 1))
    }

    fn drawing(&self) -> Drawing {
        let (first, last) = self.decades();
        let mut drawing = Drawing::new(SIZE.0, SIZE.1);
        let along = |number: f64| (libm::log10(number) - f64::from(first)) / f64::from(last - first) * SQUARE;
        let at = |x: f64, y: f64| (CORNER.0 + along(x), CORNER.1 + SQUARE - along(y));
        let ends = (libm::pow(10.0, f64::from(first)), libm::pow(10.0, f64::from(last)));
        for power in first..=last {
            let number = libm::pow(10.0, f64::from(power));
            drawing.line(vec![at(number, ends.0), at(number, ends.1)], Ink::Grid, 1.0);
            drawing.line(vec![at(ends.0, number), at(ends.1, number)], Ink::Grid, 1.0);
            let (x, y) = at(number, ends.0);
            drawing.text((x, y + 14.0), &format!("1e{power}"), Anchor::Middle, Ink::Text);
            let (x, y) = at(ends.0, number);
            drawing.text((x - 8.0, y), &format!("1e{power}"), Anchor::End, Ink::Text);
        }
        drawing.dashed(vec![at(ends.0, ends.0), at(ends.1, ends.1)], Ink::Muted, 1.0, &[5.0, 4.0]);
        for (number, (name, points)) in self.series.iter().enumerate() {
            let (ink, shape) = (Ink::Series(number), SHAPES[number % SHAPES.len()]);
            let drawn = points.iter().filter(|(x, y)| [x, y].iter().all(|n| **n > 0.0 && n.is_finite()));
            drawn.for_each(|&(x, y)| drawing.mark(at(x, y), shape, 2.6, ink));
            let row = (CORNER.0 + SQUARE + 16.0, CORNER.1 + 8.0 + 20.0 * number as f64);
            drawing.mark(row, shape, 4.0, ink);
            drawing.text((row.0 + 10.0, row.1), name, Anchor::Start, Ink::Text);
        }
        let middle = (CORNER.0 + SQUARE / 2.0, CORNER.1 + SQUARE / 2.0);
        drawing.text((middle.0, 20.0), &self.title, Anchor::Middle, Ink::Text);
        drawing.text((middle.0, CORNER.1 + SQUARE + 38.0), &self.x, Anchor::Middle, Ink::Muted);
        drawing.turned((24.0, middle.1), &self.y, TEXT, Anchor::Middle, Ink::Muted, 90.0);
        drawing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_axes_have_the_same_decades_and_points_that_are_not_positive_are_left_out() {
        let plot = Scatter {
            title: "a < b".to_owned(),
            series: vec![("scoreboard".to_owned(), vec![(20.0, 3000.0), (0.0, 5.0), (200.0, f64::NAN)])],
            ..Scatter::default()
        };
        // the numbers of a point that is left out still count for the axes
        assert_eq!(plot.decades(), (0, 4));
        let svg = plot.svg();
        // one point, and one mark in the legend
        assert_eq!(svg.matches("<polygon").count(), 2, "{svg}");
        assert!(svg.contains("a &lt; b") && svg.contains(">scoreboard<") && svg.contains("1e4"), "{svg}");
        assert_eq!(svg, plot.svg());
        assert!(plot.pdf().unwrap().starts_with(b"%PDF"));
        assert_eq!(Scatter::default().decades(), (0, 1));
    }
}
