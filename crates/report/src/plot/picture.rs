//! A picture made of rectangles, lines and text, positioned in pixels.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::palette::Ink;
use warpbound_core::diag::printable_markup;

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

/// The font size.
pub(super) const TEXT: u32 = 12;

/// An element of a picture.
enum Item {
    Rectangle((i32, i32), (i32, i32), Ink),
    Line(Vec<(i32, i32)>, Ink, u32),
    Text((i32, i32), String, Anchor, Ink),
}

/// A picture.
pub struct Picture {
    width: u32,
    height: u32,
    items: Vec<Item>,
}

impl Picture {
    /// Returns an empty picture of this size.
    pub fn new(width: u32, height: u32) -> Self {
        Self { width, height, items: Vec::new() }
    }

    /// Adds a filled rectangle with these two opposite corners.
    pub fn rectangle(&mut self, from: (i32, i32), to: (i32, i32), ink: Ink) {
        self.items.push(Item::Rectangle(from, to, ink));
    }

    /// Adds a line through these points.
    pub fn line(&mut self, points: &[(i32, i32)], ink: Ink, width: u32) {
        self.items.push(Item::Line(points.to_vec(), ink, width));
    }

    /// Adds a text.
    pub fn text(&mut self, at: (i32, i32), text: &str, anchor: Anchor, ink: Ink) {
        self.items.push(Item::Text(at, text.to_owned(), anchor, ink));
    }

    /// Returns the picture as an SVG file, with the elements in the order in which they were added.
    pub fn svg(&self) -> String {
        let mut svg = String::new();
        {
            let area = SVGBackend::with_string(&mut svg, (self.width, self.height)).into_drawing_area();
            for item in &self.items {
                let drawn = match item {
                    Item::Rectangle(from, to, ink) => {
                        area.draw(&Rectangle::new([*from, *to], ink.colour().filled()))
                    }
                    Item::Line(points, ink, width) => {
                        area.draw(&PathElement::new(points.clone(), ink.colour().stroke_width(*width)))
                    }
                    Item::Text(at, text, anchor, ink) => {
                        area.draw(&Text::new(text.as_str(), *at, style(*ink, *anchor)))
                    }
                };
                drawn.expect("drawing into memory does not fail");
            }
            area.present().expect("drawing into memory does not fail");
        }
        printable_markup(&svg).into_owned()
    }
}

/// Returns the style of text.
pub(super) fn style(ink: Ink, anchor: Anchor) -> TextStyle<'static> {
    let across = match anchor {
        Anchor::Start => HPos::Left,
        Anchor::Middle => HPos::Center,
        Anchor::End => HPos::Right,
    };
    ("sans-serif", TEXT).into_font().color(&ink.colour()).pos(Pos::new(across, VPos::Center))
}
