//! The names of a plot with the marks that they stand for.

use super::drawing::{Anchor, At, Drawing, Shape, TEXT};
use super::font::width_of;
use super::palette::Ink;

/// The height of a row of names.
const ROW: f64 = 18.0;
/// The width of a mark, and the space after a name.
const MARK: f64 = 26.0;
const GAP: f64 = 16.0;

/// The dashes of lines and the shapes of points, in turn, so that they differ in grey, too.
const DASHES: [&[f64]; 4] = [&[], &[7.0, 3.0], &[2.0, 2.5], &[9.0, 3.0, 2.0, 3.0]];
const SHAPES: [Shape; 4] = [Shape::Circle, Shape::Square, Shape::Triangle, Shape::Diamond];
/// The width of lines, and of the outlines of points.
pub(super) const STROKE: f64 = 1.6;
/// The width of lines of secondary data.
pub(super) const HAIR: f64 = 0.8;
/// The size of points.
pub(super) const POINT: f64 = 3.6;

/// Returns a number below four. Where the colours begin again, another one belongs to each of them.
fn turn(number: usize) -> usize {
    (number + number / Ink::SERIES) % 4
}

/// Returns the dashes of a line.
pub(super) fn dashes(number: usize) -> &'static [f64] {
    DASHES[turn(number)]
}

/// Returns the shape of a point.
pub(super) fn shape(number: usize) -> Shape {
    SHAPES[turn(number)]
}

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sign {
    /// A line with points.
    Line,
    /// A line without points.
    Plain,
    /// A thin line.
    Thin,
    /// Points.
    Points,
    /// A bar.
    Bar,
    /// A box.
    Box,
}

/// A name and what it stands for.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Entry {
    pub name: String,
    /// The number that decides the colour, the dashes and the shape.
    pub number: usize,
    pub sign: Sign,
}

/// Returns the places of the names in rows of this width, and the height of all rows.
pub(super) fn placed(entries: &[Entry], width: f64) -> (Vec<At>, f64) {
    let (mut places, mut x, mut y) = (Vec::new(), 0.0, 0.0);
    for entry in entries {
        let needed = MARK + 6.0 + width_of(&entry.name) * TEXT;
        if x + needed > width && x > 0.0 {
            (x, y) = (0.0, y + ROW);
        }
        places.push((x, y + ROW / 2.0));
        x += needed + GAP;
    }
    (places, if entries.is_empty() { 0.0 } else { y + ROW + 6.0 })
}

/// Draws the names; `left` and `top` is the corner of their rows.
pub(super) fn draw(entries: &[Entry], places: &[At], (left, top): At, drawing: &mut Drawing) {
    for (Entry { name, number, sign }, (x, y)) in entries.iter().zip(places) {
        let (x, y, ink) = (left + x, top + y, Ink::Series(*number));
        let line = vec![(x, y), (x + MARK, y)];
        let middle = (x + MARK / 2.0, y);
        match sign {
            Sign::Line => {
                drawing.dashed(line, ink, STROKE, dashes(*number));
                drawing.ring(middle, shape(*number), POINT, ink, STROKE);
            }
            Sign::Plain => drawing.dashed(line, ink, STROKE, dashes(*number)),
            Sign::Thin => drawing.line(line, ink, HAIR),
            Sign::Points => drawing.mark(middle, shape(*number), POINT, ink),
            Sign::Bar => bar((x + 8.0, y - 5.0), (x + MARK, y + 5.0), *number, drawing),
            Sign::Box => box_of((x + 8.0, y - 5.0), (x + MARK, y + 5.0), ink, drawing),
        }
        drawing.text((x + MARK + 6.0, y), name, Anchor::Start, Ink::Text);
    }
}

/// Draws a box between two opposite corners.
pub(super) fn box_of(from: At, to: At, ink: Ink, drawing: &mut Drawing) {
    drawing.rectangle(from, to, Ink::Ground);
    drawing.area(vec![from, (to.0, from.1), to, (from.0, to.1)], ink, 0.25);
    drawing.outline(from, to, ink, STROKE);
}

/// Draws a bar between two opposite corners. Bars of different numbers differ in colour and in the
/// stripes of the ground, so that they differ in grey, too.
pub(super) fn bar(from: At, to: At, number: usize, drawing: &mut Drawing) {
    let (left, right) = (from.0.min(to.0), from.0.max(to.0));
    let (top, bottom) = (from.1.min(to.1), from.1.max(to.1));
    drawing.rectangle((left, top), (right, bottom), Ink::Series(number));
    const STEP: f64 = 4.0;
    let stripes = |from: f64, to: f64| {
        let count = ((to - from) / STEP).floor().clamp(0.0, 1000.0) as u32;
        (1..=count).map(move |stripe| from + f64::from(stripe) * STEP).filter(move |at| *at < to - 0.5)
    };
    let turn = turn(number);
    if turn == 1 || turn == 3 {
        stripes(top, bottom).for_each(|y| drawing.line(vec![(left, y), (right, y)], Ink::Ground, 1.2));
    }
    if turn == 2 || turn == 3 {
        stripes(left, right).for_each(|x| drawing.line(vec![(x, top), (x, bottom)], Ink::Ground, 1.2));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_go_to_the_next_row_where_they_do_not_fit() {
        let entry = |number: usize| Entry { name: format!("policy {number}"), number, sign: Sign::Line };
        let entries: Vec<Entry> = (0..5).map(entry).collect();
        let (places, height) = placed(&entries, 300.0);
        assert_eq!(places[0], (0.0, ROW / 2.0));
        assert!(places[4].1 > places[0].1 && height > 2.0 * ROW);
        assert_eq!(placed(&[], 300.0), (Vec::new(), 0.0));
    }

    #[test]
    fn no_two_of_many_lines_look_the_same() {
        let look = |number: usize| (Ink::Series(number).colour(), turn(number));
        let looks: std::collections::BTreeSet<_> = (0..4 * Ink::SERIES).map(look).collect();
        assert_eq!(looks.len(), 4 * Ink::SERIES);
    }
}
