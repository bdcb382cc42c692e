//! Lines, bars, points or boxes in one or several panels that share their axes (small multiples).

use std::collections::BTreeSet;

use super::axis::{Ruled, Scale};
use super::drawing::{Anchor, Drawing, Shape, TEXT};
use super::font::shortened;
use super::frame::{Frame, Labels, width_of_labels};
use super::legend::{self, Entry, POINT, STROKE, Sign};
use super::palette::Ink;

/// The most panels side by side.
const ACROSS: usize = 3;
/// The part of the largest value of all panels below which the values of a panel would lie flat.
const FLAT: f64 = 0.3;
/// The size of the only panel, and of one of several, in pixels.
const ALONE: (f64, f64) = (340.0, 220.0);
const SMALL: (f64, f64) = (190.0, 140.0);
/// The most that a panel is widened for its words.
const WIDEST: f64 = 1200.0;
/// The space for the title of the axis at the left, between panels, and for a line of text.
const LEFT: f64 = 38.0;
const GAP: f64 = 18.0;
const LINE: f64 = 18.0;
/// The most lines that are drawn as bars side by side.
const BARS: usize = 6;
/// The most points that are drawn in a box, which has at least this half of a width then.
const POINTS: usize = 40;
const HALF: f64 = 6.0;
/// The most space for a bar, or a box, beside others.
const SLOT: f64 = 56.0;

/// The minimum, the quartiles and the maximum.
pub type FiveNumbers = [f64; 5];

/// The values of an axis from left to right.
#[derive(Clone, Debug, PartialEq)]
pub enum Across {
    /// Numbers, at their places on this scale.
    Numbers(Scale),
    /// Words, at equal distances; a point has the index of its word.
    Words(Vec<String>),
}

/// The spread of several values at one place.
#[derive(Clone, Debug, PartialEq)]
pub struct Spread {
    /// The minimum, the quartiles and the maximum.
    pub five: FiveNumbers,
    /// The mean.
    pub mean: f64,
    /// The values themselves; they are drawn if they are few.
    pub values: Vec<f64>,
}

/// What is drawn under one name of the legend. Everything goes from left to right.
#[derive(Clone, Debug, PartialEq)]
pub enum Shown {
    /// Points: connected by a line over numbers, and bars or single points over words.
    Points(Vec<(f64, f64)>),
    /// The corners of a line without points, such as the steps of a distribution.
    Corners(Vec<(f64, f64)>),
    /// Spreads as boxes.
    Spreads(Vec<(f64, Spread)>),
}

impl Shown {
    /// Returns the ends of what is drawn, as points.
    fn ends(&self) -> Vec<(f64, f64)> {
        match self {
            Self::Points(points) | Self::Corners(points) => points.clone(),
            Self::Spreads(spreads) => {
                let ends = |(x, spread): &(f64, Spread)| [(*x, spread.five[0]), (*x, spread.five[4])];
                spreads.iter().flat_map(ends).collect()
            }
        }
    }
}

/// A line.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// The index of its name in the legend, which also decides its colour, dashes and shape.
    pub name: usize,
    /// What is drawn.
    pub shown: Shown,
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
    /// The scale from bottom to top.
    pub y_scale: Scale,
    /// Whether the values from left to right, and those from bottom to top, are shares, which are
    /// labelled in percent.
    pub percent: (bool, bool),
    /// The names of the lines.
    pub names: Vec<String>,
    /// The panels, row by row.
    pub panels: Vec<Panel>,
    /// Notes below the panels.
    pub notes: Vec<String>,
}

/// The measures of panels.
struct Layout {
    columns: usize,
    width: f64,
    height: f64,
    left: f64,
    /// The space for the title of a panel.
    head: f64,
    labels: Labels,
}

/// Returns the width of the widest labels of these axes.
fn widest_labels(axes: &[Ruled]) -> f64 {
    axes.iter().map(width_of_labels).fold(0.0, f64::max)
}

impl Panels {
    /// Returns the SVG file.
    pub fn svg(&self) -> String {
        self.draw(&capitalised(&self.title), &self.all_notes()).svg()
    }

    /// Returns the PDF file.
    ///
    /// # Errors
    /// The font of the PDF lacks a character.
    pub fn pdf(&self) -> Result<Vec<u8>, String> {
        self.draw(&capitalised(&self.title), &self.all_notes()).pdf()
    }

    /// Returns the notes below the panels: those that are given, and one about lines that coincide.
    pub fn all_notes(&self) -> Vec<String> {
        let own = self.has_own_axes().then(|| "Each panel has an axis of its own.".to_owned());
        self.notes.iter().cloned().chain(own).chain(self.coinciding()).collect()
    }

    /// Returns the SVG without title, and with these notes only, for a page that has the others
    /// beside it.
    pub fn bare_svg(&self, notes: &[String]) -> String {
        self.draw("", notes).svg()
    }

    fn draw(&self, title: &str, notes: &[String]) -> Drawing {
        let (x, ys) = self.axes();
        let Layout { columns, width, height, left, head, labels } = self.layout(&x, &ys);
        let rows = self.panels.len().div_ceil(columns).max(1);
        let own = ys.len() > 1;
        let gap = GAP + if own { widest_labels(&ys) } else { 0.0 };
        let inner = columns as f64 * (width + gap) - gap;
        let entries = self.entries();
        let (places, legend) = legend::placed(&entries, inner);
        let mut drawing = Drawing::new(left + inner + GAP, 0.0);
        let mut top = 6.0;
        if !title.is_empty() {
            top += drawing.paragraph((left, top), title, TEXT + 1.0, inner, Ink::Text) + 4.0;
        }
        legend::draw(&entries, &places, (left, top), &mut drawing);
        top += legend;
        for (index, panel) in self.panels.iter().enumerate() {
            let (column, row) = (index % columns, index / columns);
            let frame = Frame {
                left: left + column as f64 * (width + gap),
                top: top + head + row as f64 * (head + height + GAP),
                width,
                height,
                x: &x,
                y: if own { &ys[index] } else { &ys[0] },
            };
            let title = shortened(&panel.title, TEXT, width);
            drawing.text((frame.left, frame.top - LINE / 2.0), &title, Anchor::Start, Ink::Text);
            frame.draw_y(own || column == 0, true, &mut drawing);
            let is_last = index + columns >= self.panels.len();
            frame.draw_x(is_last.then_some(labels), &mut drawing);
            self.draw_lines(panel, &frame, &mut drawing);
            frame.draw_corner(&mut drawing);
        }
        let bottom = top + rows as f64 * (head + height + GAP) - GAP;
        let middle = (left + inner / 2.0, bottom + labels.height + LINE / 2.0);
        drawing.text(middle, &self.x_title, Anchor::Middle, Ink::Muted);
        let at_left = (12.0, (top + bottom) / 2.0);
        // a title that is longer than the panels are high may begin beside what is above them
        let title = shortened(&self.y_title, TEXT, bottom + top - 8.0);
        drawing.turned(at_left, &title, TEXT, Anchor::Middle, Ink::Muted, 90.0);
        drawing.height = bottom + labels.height + LINE + 6.0;
        drawing.add_notes(notes, left);
        drawing
    }

    fn layout(&self, x: &Ruled, ys: &[Ruled]) -> Layout {
        // four panels are a square, without a hole
        let columns = if self.panels.len() == 4 { 2 } else { self.panels.len().clamp(1, ACROSS) };
        let are_several = self.panels.len() > 1;
        let (width, height) = if are_several { SMALL } else { ALONE };
        let (width, labels) = match &self.across {
            Across::Numbers(_) => (width, Labels::NUMBERS),
            Across::Words(words) => {
                let lines = self.names.len().max(1) as f64;
                let needed = words.len() as f64 * (8.0 + 6.0 * lines).max(Labels::SPACE);
                let width = needed.clamp(width, WIDEST / columns as f64);
                (width, Labels::of_words(x, width))
            }
        };
        let left = (LEFT + widest_labels(ys)).max(24.0 + labels.beside);
        Layout { columns, width, height, left, head: if are_several { LINE } else { 0.0 }, labels }
    }

    fn entries(&self) -> Vec<Entry> {
        let are_corners = self.lines().any(|line| matches!(line.shown, Shown::Corners(_)));
        let are_spreads = self.lines().any(|line| matches!(line.shown, Shown::Spreads(_)));
        let sign = match &self.across {
            Across::Numbers(_) if are_corners => Sign::Plain,
            Across::Numbers(_) => Sign::Line,
            Across::Words(_) if are_spreads => Sign::Box,
            Across::Words(_) if self.has_bars() => Sign::Bar,
            Across::Words(_) => Sign::Points,
        };
        let entry = |(number, name): (usize, &String)| Entry { name: name.clone(), number, sign };
        let named = self.names.iter().enumerate();
        named.filter(|(number, _)| self.lines().any(|line| line.name == *number)).map(entry).collect()
    }

    fn lines(&self) -> impl Iterator<Item = &Line> {
        self.panels.iter().flat_map(|panel| &panel.lines)
    }

    /// Returns whether the points over words are bars, which need a common end at 0.
    fn has_bars(&self) -> bool {
        self.y_scale == Scale::FromZero && self.names.len() <= BARS
    }

    /// Returns the different values from left to right.
    pub fn distinct(&self) -> Vec<f64> {
        let all: BTreeSet<u64> =
            self.lines().flat_map(|line| line.shown.ends()).map(|(x, _)| x.to_bits()).collect();
        let mut all: Vec<f64> = all.into_iter().map(f64::from_bits).collect();
        all.sort_by(f64::total_cmp);
        all
    }

    /// Returns whether each panel has an axis from bottom to top of its own: on a common one, what is
    /// small in one of them would lie flat.
    fn has_own_axes(&self) -> bool {
        let most = |panel: &Panel| {
            let ends = panel.lines.iter().flat_map(|line| line.shown.ends());
            ends.map(|point| point.1.abs()).fold(0.0, f64::max)
        };
        let is_linear = matches!(self.y_scale, Scale::Linear | Scale::FromZero) && !self.percent.1;
        let least = self.panels.iter().map(most).fold(f64::INFINITY, f64::min);
        is_linear && self.panels.len() > 1 && least < FLAT * self.panels.iter().map(most).fold(0.0, f64::max)
    }

    /// Returns the axis from left to right, and those from bottom to top: a common one, or one for
    /// each panel.
    fn axes(&self) -> (Ruled, Vec<Ruled>) {
        let points = || self.lines().flat_map(|line| line.shown.ends());
        let x = match &self.across {
            Across::Numbers(scale) => {
                let axis = Ruled::over(*scale, points().map(|point| point.0));
                let are_corners = self.lines().any(|line| matches!(line.shown, Shown::Corners(_)));
                if are_corners { axis } else { axis.at_values(&self.distinct()) }
            }
            Across::Words(words) => Ruled::of_words(words),
        };
        let of = |panels: &[Panel]| {
            let lines = panels.iter().flat_map(|panel| &panel.lines);
            let y = Ruled::over(self.y_scale, lines.flat_map(|line| line.shown.ends()).map(|point| point.1));
            if self.percent.1 { y.in_percent() } else { y }
        };
        let ys = match self.has_own_axes() {
            true => self.panels.iter().map(|panel| of(std::slice::from_ref(panel))).collect(),
            false => vec![of(&self.panels)],
        };
        (if self.percent.0 { x.in_percent() } else { x }, ys)
    }

    fn draw_lines(&self, panel: &Panel, frame: &Frame<'_>, drawing: &mut Drawing) {
        let (slot, first) = match &self.across {
            Across::Numbers(_) => (0.0, 0.0),
            Across::Words(words) => {
                let count = self.names.len().max(1) as f64;
                let slot = (frame.width / words.len().max(1) as f64 * 0.8 / count).min(SLOT);
                (slot, -slot * (count - 1.0) / 2.0)
            }
        };
        for Line { name, shown } in &panel.lines {
            let ink = Ink::Series(*name);
            let aside = first + slot * *name as f64;
            match (&self.across, shown) {
                (Across::Words(_), Shown::Points(points)) if self.has_bars() => {
                    let zero = frame.up(frame.y.within(0.0));
                    let half = slot * if self.names.len() > 1 { 0.46 } else { 0.4 };
                    for (x, y) in points.iter().filter_map(|point| frame.place(*point)) {
                        let x = x + aside;
                        legend::bar((x - half, zero), (x + half, y), *name, drawing);
                    }
                }
                (Across::Words(_), Shown::Points(points)) => {
                    for (x, y) in points.iter().filter_map(|point| frame.place(*point)) {
                        drawing.mark((x + aside, y), legend::shape(*name), POINT, ink);
                    }
                }
                (Across::Numbers(_), Shown::Points(points)) => {
                    let placed = || points.iter().filter_map(|point| frame.place(*point));
                    drawing.dashed(placed().collect(), ink, STROKE, legend::dashes(*name));
                    placed().for_each(|at| drawing.ring(at, legend::shape(*name), POINT, ink, STROKE));
                }
                (_, Shown::Corners(points)) => {
                    let placed = points.iter().filter_map(|point| frame.place(*point));
                    drawing.dashed(placed.collect(), ink, STROKE, legend::dashes(*name));
                }
                (_, Shown::Spreads(spreads)) => {
                    for (x, spread) in spreads {
                        let x = frame.across(*x) + aside;
                        draw_spread(spread, x, (slot * 0.4).clamp(2.0, 16.0), *name, frame, drawing);
                    }
                }
            }
        }
    }

    /// Returns a note about lines with the same points in all panels.
    fn coinciding(&self) -> Option<String> {
        if matches!(self.across, Across::Words(_)) {
            return None;
        }
        let of = |name: usize| -> Vec<Option<&Shown>> {
            let in_panel = |panel: &'_ Panel| panel.lines.iter().position(|line| line.name == name);
            self.panels.iter().map(|panel| in_panel(panel).map(|at| &panel.lines[at].shown)).collect()
        };
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for name in 0..self.names.len() {
            let drawn = of(name);
            match groups.iter_mut().find(|group| of(group[0]) == drawn) {
                Some(group) => group.push(name),
                None if drawn.iter().any(Option::is_some) => groups.push(vec![name]),
                None => {}
            }
        }
        let named = |group: &Vec<usize>| {
            let names: Vec<&str> = group.iter().map(|name| self.names[*name].as_str()).collect();
            names
                .split_last()
                .map_or_else(String::new, |(last, others)| format!("{} and {last}", others.join(", ")))
        };
        let several: Vec<String> = groups.iter().filter(|group| group.len() > 1).map(named).collect();
        (!several.is_empty()).then(|| format!("The lines of {} coincide.", several.join("; those of ")))
    }
}

/// Returns a title with a capital letter at its start.
pub fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Draws a box with its whiskers, the mean, and the values if they are few.
fn draw_spread(spread: &Spread, x: f64, half: f64, name: usize, frame: &Frame<'_>, drawing: &mut Drawing) {
    let ink = Ink::Series(name);
    let up = |value: f64| frame.up(frame.y.within(value));
    let [least, lower, median, upper, most] = spread.five.map(up);
    for (from, to) in [(least, lower), (upper, most)] {
        drawing.line(vec![(x, from), (x, to)], ink, STROKE);
    }
    for end in [least, most] {
        drawing.line(vec![(x - half / 2.0, end), (x + half / 2.0, end)], ink, STROKE);
    }
    legend::box_of((x - half, upper), (x + half, lower), ink, drawing);
    if half >= HALF && spread.values.len() <= POINTS {
        for (index, value) in spread.values.iter().enumerate() {
            // the points are spread over the width of the box, in an order that is not random
            let aside = ((index as f64 + 1.0) * 0.618_034).fract() * 1.6 - 0.8;
            drawing.mark((x + aside * half, up(*value)), legend::shape(name), 1.6, ink);
        }
    }
    drawing.line(vec![(x - half, median), (x + half, median)], ink, 2.6);
    drawing.mark((x, up(spread.mean)), Shape::Diamond, 2.6_f64.min(half * 0.7), Ink::Text);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn panels(count: usize) -> Panels {
        let line = |name, y: f64| Line { name, shown: Shown::Points(vec![(100.0, y), (400.0, 2.0 * y)]) };
        let panel =
            |index: usize| Panel { title: format!("k{index}"), lines: vec![line(0, 50.0), line(1, 50.0)] };
        Panels {
            title: "cycles against mem_latency".to_owned(),
            x_title: "mem_latency (cycles)".to_owned(),
            y_title: "cycles".to_owned(),
            across: Across::Numbers(Scale::Linear),
            y_scale: Scale::FromZero,
            percent: (false, false),
            names: vec!["gto".to_owned(), "lrr".to_owned()],
            panels: (0..count).map(panel).collect(),
            notes: vec!["3 of 4 points: the results are not complete.".to_owned()],
        }
    }

    /// Checks that every corner and every text begins inside the picture.
    #[track_caller]
    fn lies_inside(plot: &Panels) -> String {
        let drawing = plot.draw(&plot.title, &plot.all_notes());
        let svg = drawing.svg();
        for points in svg.split("points=\"").skip(1) {
            for point in points.split('"').next().unwrap().split(' ') {
                let (x, y) = point.split_once(',').unwrap();
                let (x, y): (f64, f64) = (x.parse().unwrap(), y.parse().unwrap());
                assert!((0.0..=drawing.width).contains(&x) && (0.0..=drawing.height).contains(&y), "{point}");
            }
        }
        svg
    }

    #[test]
    fn all_that_is_drawn_lies_inside() {
        for count in [1, 2, 3, 7] {
            let svg = lies_inside(&panels(count));
            assert_eq!(svg.matches(">k").count(), count);
            assert!(svg.contains("results are not complete"));
        }
        let words: Vec<String> = (0..30).map(|index| format!("a_kernel_with_a_long_name_{index}")).collect();
        let values: Vec<(f64, f64)> = (0..30).map(|index| (f64::from(index), f64::from(index * 7))).collect();
        let line = |name| Line { name, shown: Shown::Points(values.clone()) };
        let bars = Panels {
            across: Across::Words(words.clone()),
            panels: vec![Panel { title: String::new(), lines: vec![line(0), line(1)] }],
            ..panels(1)
        };
        let svg = lies_inside(&bars);
        assert!(svg.contains("rotate(-40 ") && !svg.contains("<polygon points=\"\""), "{svg}");
        let points = Panels { y_scale: Scale::Log, ..bars };
        assert!(!lies_inside(&points).contains("NaN"));
    }

    #[test]
    fn panels_with_small_values_have_axes_of_their_own() {
        let mut plot = panels(4);
        let common = lies_inside(&plot);
        assert_eq!((plot.axes().1.len(), common.matches(">100<").count()), (1, 4), "{common}");
        let line = Line { name: 0, shown: Shown::Points(vec![(100.0, 90_000.0), (400.0, 1000.0)]) };
        plot.panels[2].lines.push(line);
        let own = lies_inside(&plot);
        assert_eq!((plot.axes().1.len(), own.matches(">80,000<").count()), (4, 1), "{own}");
        assert!(own.contains("Each panel has an axis of its own."), "{own}");
        // ratios are compared across panels
        let log = Panels { y_scale: Scale::Log, ..plot };
        assert_eq!(log.axes().1.len(), 1);
    }

    #[test]
    fn no_line_is_wider_than_another_and_a_note_says_which_coincide() {
        let svg = panels(1).svg();
        let widths: BTreeSet<&str> = svg
            .lines()
            .filter(|line| ["#0072B2", "#D55E00"].iter().any(|ink| line.contains(ink)))
            .filter_map(|line| line.split("stroke-width=\"").nth(1)?.split('"').next())
            .collect();
        assert_eq!(widths.len(), 1, "{svg}");
        assert!(svg.contains("The lines of gto and lrr coincide."), "{svg}");
        let mut differ = panels(2);
        differ.panels[1].lines[1].shown = Shown::Points(vec![(100.0, 51.0), (400.0, 100.0)]);
        assert!(!differ.svg().contains("coincide"));
    }

    #[test]
    fn few_values_are_labels_and_boxes_have_their_values() {
        let svg = panels(1).svg();
        assert!(svg.contains(">100</text>") && svg.contains(">400</text>") && !svg.contains(">200</text>"));
        let spread =
            Spread { five: [1.0, 2.0, 3.0, 4.0, 9.0], mean: 3.5, values: vec![1.0, 2.0, 3.0, 4.0, 9.0] };
        let boxes = Panels {
            across: Across::Words(vec!["gto".to_owned()]),
            names: Vec::new(),
            panels: vec![Panel {
                title: String::new(),
                lines: vec![Line { name: 0, shown: Shown::Spreads(vec![(0.0, spread)]) }],
            }],
            ..panels(1)
        };
        // the area twice, the outline, five values and the mean
        assert_eq!(lies_inside(&boxes).matches("<polygon").count(), 2 + 1 + 5 + 1);
    }
}
