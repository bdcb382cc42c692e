//! Line plots, box plots and bar plots, with axes and legends.

use plotters::coord::Shift;
use plotters::prelude::*;

use super::factor::FactorAxis;
use super::marks::Marks;
use super::palette::Ink;
use super::picture::{Anchor, style};
use warpbound_core::diag::printable_markup;

pub(super) const WIDTH: u32 = 620;
pub(super) const HEIGHT: u32 = 320;
/// The height of a row of boxes or bars, in pixels.
const ROW: u32 = 22;
pub(super) const LEGEND: u32 = 80;
pub(super) const IN_MEMORY: &str = "drawing into memory does not fail";

pub(super) type Area<'s> = DrawingArea<SVGBackend<'s>, Shift>;

/// A line plot of overestimations over the values of an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct LinePlot {
    /// The title of the axis.
    pub x_title: String,
    /// The values, drawn at equal distances.
    pub xs: Vec<String>,
    /// The name, the index of the colour, and the overestimation at each value of each line.
    pub series: Vec<(String, usize, Vec<Option<f64>>)>,
}

/// The minimum, the quartiles and the maximum.
pub type FiveNumbers = [f64; 5];

/// A box plot of the distribution of overestimations.
#[derive(Clone, Debug, PartialEq)]
pub struct BoxPlot {
    /// The name, the index of the colour, the five numbers and the mean of each row.
    pub rows: Vec<(String, usize, FiveNumbers, f64)>,
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
}

/// Draws into a picture of this height and returns the SVG file.
pub(super) fn drawn(height: u32, draw: impl FnOnce(&Area<'_>)) -> String {
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, (WIDTH, height)).into_drawing_area();
        draw(&area);
        area.present().expect(IN_MEMORY);
    }
    printable_markup(&svg).into_owned()
}

pub(super) fn legend(area: &Area<'_>, names: impl Iterator<Item = (String, usize)>) {
    for (row, (name, colour)) in names.enumerate() {
        let y = 18 + 18 * row as i32;
        let ink = Ink::Series(colour);
        area.draw(&Rectangle::new([(4, y - 5), (16, y + 5)], ink.colour().filled())).expect(IN_MEMORY);
        area.draw(&Text::new(name, (22, y), style(Ink::Text, Anchor::Start))).expect(IN_MEMORY);
    }
}

impl LinePlot {
    /// Returns the plot as an SVG file.
    pub fn svg(&self) -> String {
        let all = self.series.iter().flat_map(|(_, _, values)| values.iter().flatten().copied());
        let y = FactorAxis::over(all);
        drawn(HEIGHT, |area| {
            let (left, right) = area.split_horizontally(WIDTH - LEGEND);
            let last = self.xs.len() as f64 - 0.7;
            // no more labels than there is space for
            let stride = self.xs.len().div_ceil(12).max(1);
            let places: Vec<f64> = (0..self.xs.len()).step_by(stride).map(|x| x as f64).collect();
            let mut chart = ChartBuilder::on(&left)
                .margin(10)
                .x_label_area_size(40)
                .y_label_area_size(64)
                .build_cartesian_2d(
                    Marks { ends: (-0.3, last), at: places },
                    Marks { ends: y.ends, at: y.ticks.clone() },
                )
                .expect(IN_MEMORY);
            chart
                .configure_mesh()
                .disable_x_mesh()
                .light_line_style(Ink::Ground.colour())
                .bold_line_style(Ink::Grid.colour())
                .axis_style(Ink::Muted.colour())
                .label_style(("sans-serif", 12).into_font().color(&Ink::Text.colour()))
                .axis_desc_style(("sans-serif", 12).into_font().color(&Ink::Muted.colour()))
                .x_desc(self.x_title.as_str())
                .x_label_formatter(&|x| self.xs.get(x.round() as usize).cloned().unwrap_or_default())
                .y_label_formatter(&|y| FactorAxis::label(*y))
                .draw()
                .expect(IN_MEMORY);
            for (_, colour, values) in &self.series {
                let ink = Ink::Series(*colour).colour();
                let points = values.iter().enumerate();
                let points: Vec<(f64, f64)> =
                    points.filter_map(|(x, over)| Some((x as f64, FactorAxis::position((*over)?)))).collect();
                let area = chart.plotting_area();
                area.draw(&PathElement::new(points.clone(), ink.stroke_width(2))).expect(IN_MEMORY);
                for point in points {
                    area.draw(&Circle::new(point, 3, ink.filled())).expect(IN_MEMORY);
                }
            }
            legend(&right, self.series.iter().map(|(name, colour, _)| (name.clone(), *colour)));
        })
    }
}

/// Draws rows from top to bottom with names at the left. Passes the position of each row to `draw`.
fn rows(
    names: &[String],
    ends: (f64, f64),
    ticks: Vec<f64>,
    label: &dyn Fn(&f64) -> String,
    title: &str,
    legend_of: &[(String, usize)],
    draw: impl FnOnce(&dyn Fn(usize, f64) -> (i32, i32), &Area<'_>),
) -> String {
    let names_width = names.iter().map(|name| name.chars().count() as u32 * 7 + 24).max().unwrap_or(0);
    let names_width = names_width.clamp(64, 220);
    let height = ROW * names.len() as u32 + 60;
    let legend_width = if legend_of.is_empty() { 0 } else { LEGEND };
    drawn(height.max(60 + 18 * legend_of.len() as u32), |area| {
        let (left, right) = area.split_horizontally(WIDTH - legend_width);
        let count = names.len() as f64;
        let places: Vec<f64> = (0..names.len()).map(|row| row as f64).collect();
        let mut chart = ChartBuilder::on(&left)
            .margin(10)
            .margin_right(24)
            .x_label_area_size(40)
            .y_label_area_size(names_width)
            .build_cartesian_2d(Marks { ends, at: ticks }, Marks { ends: (count - 0.5, -0.5), at: places })
            .expect(IN_MEMORY);
        chart
            .configure_mesh()
            .disable_y_mesh()
            .light_line_style(Ink::Ground.colour())
            .bold_line_style(Ink::Grid.colour())
            .axis_style(Ink::Muted.colour())
            .label_style(("sans-serif", 12).into_font().color(&Ink::Text.colour()))
            .axis_desc_style(("sans-serif", 12).into_font().color(&Ink::Muted.colour()))
            .x_desc(title)
            .y_labels(names.len())
            .x_label_formatter(&|x| label(x))
            .y_label_formatter(&|y| names.get(y.round() as usize).map(|name| short(name)).unwrap_or_default())
            .draw()
            .expect(IN_MEMORY);
        let place = |row: usize, value: f64| chart.backend_coord(&(value, row as f64));
        draw(&place, area);
        legend(&right, legend_of.iter().cloned());
    })
}

/// Shortens a name that is too long.
fn short(name: &str) -> String {
    const SHOWN: usize = 28;
    match name.char_indices().nth(SHOWN) {
        None => name.to_owned(),
        Some((end, _)) => format!("{}…", &name[..end]),
    }
}

impl BoxPlot {
    /// Returns the plot as an SVG file.
    pub fn svg(&self) -> String {
        let axis = FactorAxis::over(self.rows.iter().flat_map(|(_, _, five, _)| five.iter().copied()));
        let names: Vec<String> = self.rows.iter().map(|(name, ..)| name.clone()).collect();
        let label = |x: &f64| FactorAxis::label(*x);
        let title = "overestimation: least, quartiles, most; the dot is the mean";
        // the axis starts a little earlier, so that marks at its end do not touch the names
        let ends = (axis.ends.0 - (axis.ends.1 - axis.ends.0) * 0.02, axis.ends.1);
        rows(&names, ends, axis.ticks, &label, title, &[], |place, area| {
            for (row, (_, colour, five, mean)) in self.rows.iter().enumerate() {
                let ink = Ink::Series(*colour).colour();
                let at = five.map(|over| place(row, FactorAxis::position(over)));
                let y = at[0].1;
                let vertical = |x: i32, half: i32| {
                    PathElement::new(vec![(x, y - half), (x, y + half)], ink.stroke_width(2))
                };
                area.draw(&PathElement::new(vec![at[0], at[4]], ink.stroke_width(2))).expect(IN_MEMORY);
                area.draw(&Rectangle::new(
                    [(at[1].0, y - 7), (at[3].0.max(at[1].0 + 2), y + 7)],
                    ink.filled(),
                ))
                .expect(IN_MEMORY);
                area.draw(&vertical(at[0].0, 4)).expect(IN_MEMORY);
                area.draw(&vertical(at[4].0, 4)).expect(IN_MEMORY);
                let ground = Ink::Ground.colour().stroke_width(2);
                area.draw(&PathElement::new(vec![(at[2].0, y - 7), (at[2].0, y + 7)], ground))
                    .expect(IN_MEMORY);
                let mean = place(row, FactorAxis::position(*mean));
                area.draw(&Circle::new(mean, 3, Ink::Text.colour().filled())).expect(IN_MEMORY);
            }
        })
    }
}

impl BarPlot {
    /// Returns the plot as an SVG file.
    pub fn svg(&self) -> String {
        let values =
            || self.rows.iter().flat_map(|row| row.bar.iter().chain(&row.dots).map(|(_, value)| *value));
        let (ends, ticks) = if self.is_overestimation {
            let axis = FactorAxis::over(values());
            (axis.ends, axis.ticks)
        } else {
            let most = values().fold(0.0f64, f64::max).max(1e-3);
            let step = nice_step(most);
            let count = (most * 1.02 / step).floor() as u32;
            ((0.0, most * 1.05), (0..=count).map(|tick| f64::from(tick) * step).collect())
        };
        let position = |value: f64| if self.is_overestimation { FactorAxis::position(value) } else { value };
        let over = |x: &f64| FactorAxis::label(*x);
        let plain = |x: &f64| format!("{}", (x * 1000.0).round() / 1000.0);
        let label: &dyn Fn(&f64) -> String = if self.is_overestimation { &over } else { &plain };
        let names: Vec<String> = self.rows.iter().map(|row| row.name.clone()).collect();
        rows(&names, ends, ticks, label, &self.x_title, &self.legend, |place, area| {
            for (row, BarRow { bar, dots, .. }) in self.rows.iter().enumerate() {
                if let Some((colour, value)) = bar {
                    let (from, to) = (place(row, 0.0), place(row, position(*value)));
                    let style = Ink::Series(*colour).colour().filled();
                    area.draw(&Rectangle::new([(from.0, from.1 - 6), (to.0, to.1 + 6)], style))
                        .expect(IN_MEMORY);
                }
                for (colour, value) in dots {
                    let style = Ink::Series(*colour).colour().filled();
                    area.draw(&Circle::new(place(row, position(*value)), 3, style)).expect(IN_MEMORY);
                }
            }
        })
    }
}

/// Returns a step that yields three to eight ticks up to `most`.
pub(super) fn nice_step(most: f64) -> f64 {
    let mut step = 0.001;
    for factor in [2.0, 2.5, 2.0].into_iter().cycle().take(60) {
        if most / step <= 8.0 {
            break;
        }
        step *= factor;
    }
    step
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plots_name_what_they_show() {
        let lines = LinePlot {
            x_title: "mem_latency".to_owned(),
            xs: vec!["5".to_owned(), "400".to_owned()],
            series: vec![
                ("gub<".to_owned(), 0, vec![Some(0.5), None]),
                ("iwb".to_owned(), 1, vec![Some(1.5), Some(9.0)]),
            ],
        };
        let svg = lines.svg();
        for part in ["mem_latency", "\n400\n", "gub&lt;", "iwb", "\n400 %\n"] {
            assert!(svg.contains(part), "{part}: {svg}");
        }
        assert_eq!(svg.matches("<circle").count(), 3, "{svg}");
        assert_eq!(svg, lines.svg());
        let bars = BarPlot {
            x_title: "warp instructions per cycle".to_owned(),
            rows: vec![
                BarRow { name: "k".to_owned(), bar: Some((0, 0.5)), dots: vec![] },
                BarRow { name: "l".repeat(60), bar: Some((0, 1.0)), dots: vec![(1, 0.25)] },
            ],
            legend: vec![],
            is_overestimation: false,
        };
        let svg = bars.svg();
        assert!(svg.contains("\nk\n") && svg.contains(&format!("{}…", "l".repeat(28))), "{svg}");
        let boxes = BoxPlot { rows: vec![("gub".to_owned(), 0, [-0.1, 0.2, 0.3, 0.5, 4.0], 0.4)] };
        assert!(boxes.svg().contains("\ngub\n"));
    }
}
