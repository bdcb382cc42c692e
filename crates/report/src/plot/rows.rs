//! Box plots and bar plots with a row for each name.

use super::axis::{Ruled, Scale};
use super::drawing::{Anchor, At, Drawing, Shape};
use super::frame::{Frame, Labels, width_of_labels};
use super::legend::{self, Entry, POINT, STROKE, Sign};
use super::palette::Ink;
use super::panels::FiveNumbers;
use super::xy::WIDTH;

/// The height of a row, in pixels.
const ROW: f64 = 20.0;

/// A box plot of the distribution of overestimations.
#[derive(Clone, Debug, PartialEq)]
pub struct BoxPlot {
    /// The name, the index of the colour, the five numbers and the mean of each row.
    pub rows: Vec<(String, usize, FiveNumbers, f64)>,
    /// Notes below the plot.
    pub notes: Vec<String>,
}

/// A row with a bar and dots, each with the index of a colour and a value.
#[derive(Clone, Debug, PartialEq)]
pub struct BarRow {
    /// The name at the left.
    pub name: String,
    /// The bar, which starts at 0.
    pub bar: Option<(usize, f64)>,
    /// The dots in the same row.
    pub dots: Vec<(usize, f64)>,
}

/// A bar plot with a row for each name.
#[derive(Clone, Debug, PartialEq)]
pub struct BarPlot {
    /// The title of the value axis.
    pub x_title: String,
    /// The rows from top to bottom.
    pub rows: Vec<BarRow>,
    /// The names of the colours.
    pub legend: Vec<(String, usize)>,
    /// Whether the values are overestimations.
    pub is_overestimation: bool,
    /// Notes below the plot.
    pub notes: Vec<String>,
}

/// Draws rows from top to bottom with names at the left. Passes the place of a value in a row to
/// `draw`.
fn rows(
    names: Vec<String>,
    (x, title): (&Ruled, &str),
    entries: &[Entry],
    notes: &[String],
    draw: impl FnOnce(&dyn Fn(usize, f64) -> At, &mut Drawing),
) -> String {
    let count = names.len();
    let upwards: Vec<String> = names.into_iter().rev().collect();
    let y = Ruled::of_words(&upwards);
    let left = 14.0 + width_of_labels(&y);
    let (places, legend) = legend::placed(entries, WIDTH - left - 14.0);
    let height = ROW * count as f64;
    let top = 8.0 + legend;
    let mut drawing = Drawing::new(WIDTH, top + height + 44.0);
    legend::draw(entries, &places, (left, 4.0), &mut drawing);
    let frame = Frame { left, top, width: WIDTH - left - 18.0, height, x, y: &y };
    frame.draw_x_lines(&mut drawing);
    frame.draw_y(true, false, &mut drawing);
    frame.draw_x(Some(Labels::NUMBERS), &mut drawing);
    let place = |row: usize, value: f64| (frame.across(x.within(value)), frame.up((count - 1 - row) as f64));
    draw(&place, &mut drawing);
    frame.draw_corner(&mut drawing);
    let middle = (left + frame.width / 2.0, top + height + 34.0);
    drawing.text(middle, title, Anchor::Middle, Ink::Muted);
    drawing.add_notes(notes, left);
    drawing.svg()
}

impl BoxPlot {
    /// Returns the plot as an SVG file.
    pub fn svg(&self) -> String {
        let all = self.rows.iter().flat_map(|(_, _, five, _)| five.iter().copied());
        let mut axis = Ruled::over(Scale::Factor, all);
        // the axis starts a little earlier, so that marks at its end do not touch the names
        axis.ends.0 -= (axis.ends.1 - axis.ends.0) * 0.02;
        let names = self.rows.iter().map(|(name, ..)| name.clone()).collect();
        rows(names, (&axis, "overestimation"), &[], &self.notes, |place, drawing| {
            for (row, (_, colour, five, mean)) in self.rows.iter().enumerate() {
                let ink = Ink::Series(*colour);
                let [least, lower, median, upper, most] = five.map(|over| place(row, over).0);
                let y = place(row, 0.0).1;
                drawing.line(vec![(least, y), (most, y)], ink, STROKE);
                for end in [least, most] {
                    drawing.line(vec![(end, y - 4.0), (end, y + 4.0)], ink, STROKE);
                }
                let (from, to) = ((lower - 0.5, y - 6.0), (upper + 0.5, y + 6.0));
                legend::box_of(from, to, ink, drawing);
                drawing.line(vec![(median, y - 6.0), (median, y + 6.0)], ink, 2.6);
                drawing.mark(place(row, *mean), Shape::Diamond, 2.8, Ink::Text);
            }
        })
    }
}

impl BarPlot {
    /// Returns the plot as an SVG file.
    pub fn svg(&self) -> String {
        let values = self.rows.iter().flat_map(|row| row.bar.iter().chain(&row.dots));
        let scale = if self.is_overestimation { Scale::Factor } else { Scale::FromZero };
        let axis = Ruled::over(scale, values.map(|(_, value)| *value));
        let names = self.rows.iter().map(|row| row.name.clone()).collect();
        let is_bar = |number: usize| self.rows.iter().any(|row| row.bar.is_some_and(|bar| bar.0 == number));
        let entry = |(name, number): &(String, usize)| Entry {
            name: name.clone(),
            number: *number,
            sign: if is_bar(*number) { Sign::Bar } else { Sign::Points },
        };
        let entries: Vec<Entry> = self.legend.iter().map(entry).collect();
        rows(names, (&axis, &self.x_title), &entries, &self.notes, |place, drawing| {
            for (row, BarRow { bar, dots, .. }) in self.rows.iter().enumerate() {
                if let Some((colour, value)) = bar {
                    let (from, to) = (place(row, 0.0), place(row, *value));
                    legend::bar((from.0, from.1 - 6.0), (to.0, to.1 + 6.0), *colour, drawing);
                }
                for (colour, value) in dots {
                    let at = place(row, *value);
                    drawing.mark(at, legend::shape(*colour), POINT + 1.0, Ink::Ground);
                    drawing.mark(at, legend::shape(*colour), POINT, Ink::Series(*colour));
                }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plots_name_what_they_show() {
        let bars = BarPlot {
            x_title: "warp instructions per cycle".to_owned(),
            rows: vec![
                BarRow { name: "k".to_owned(), bar: Some((0, 0.5)), dots: vec![] },
                BarRow { name: "l".repeat(60), bar: Some((0, 1.0)), dots: vec![(1, 0.25)] },
            ],
            legend: vec![("gub".to_owned(), 0), ("a < b".to_owned(), 1)],
            is_overestimation: false,
            notes: vec!["not complete".to_owned()],
        };
        let svg = bars.svg();
        assert!(
            svg.contains(">k</text>") && svg.contains("ll…</text>") && svg.contains(">a &lt; b<"),
            "{svg}"
        );
        assert!(svg.contains(">not complete</text>"));
        assert_eq!(svg, bars.svg());
        let boxes =
            BoxPlot { rows: vec![("gub".to_owned(), 0, [-0.1, 0.2, 0.3, 0.5, 4.0], 0.4)], notes: Vec::new() };
        let svg = boxes.svg();
        assert!(svg.contains(">gub</text>") && svg.contains(">400 %</text>"), "{svg}");
    }
}
