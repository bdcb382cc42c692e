//! A picture made of rectangles, lines and text, at places in pixels.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::palette::Ink;
use crate::diag::printable_markup;

/// Which end of a text is at its place; its middle is, vertically.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// Its beginning.
    Start,
    /// Its middle.
    Middle,
    /// Its end.
    End,
}

/// Size of text.
pub(super) const TEXT: u32 = 12;

/// What is to be drawn.
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
    /// An empty one of this size.
    pub fn new(width: u32, height: u32) -> Self {
        Self { width, height, items: Vec::new() }
    }

    /// Fills the rectangle from one corner to the other.
    pub fn rectangle(&mut self, from: (i32, i32), to: (i32, i32), ink: Ink) {
        self.items.push(Item::Rectangle(from, to, ink));
    }

    /// A line through these points.
    pub fn line(&mut self, points: &[(i32, i32)], ink: Ink, width: u32) {
        self.items.push(Item::Line(points.to_vec(), ink, width));
    }

    /// A text.
    pub fn text(&mut self, at: (i32, i32), text: &str, anchor: Anchor, ink: Ink) {
        self.items.push(Item::Text(at, text.to_owned(), anchor, ink));
    }

    /// As an SVG file, in the order in which things were added.
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

/// How text is written.
pub(super) fn style(ink: Ink, anchor: Anchor) -> TextStyle<'static> {
    let across = match anchor {
        Anchor::Start => HPos::Left,
        Anchor::Middle => HPos::Center,
        Anchor::End => HPos::Right,
    };
    ("sans-serif", TEXT).into_font().color(&ink.colour()).pos(Pos::new(across, VPos::Center))
}
