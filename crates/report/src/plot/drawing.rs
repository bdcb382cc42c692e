//! A drawing with fractional coordinates, as SVG or PDF. Equal drawings yield equal bytes.

use std::fmt::Write;

use super::palette::Ink;
use super::picture::Anchor;
use crate::html::text as escaped;
use warpbound_core::diag::printable_markup;

/// A point, in pixels from the upper left corner. One pixel is three quarters of a point of a PDF.
pub(super) type At = (f64, f64);

/// The shape that marks a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Circle,
    Square,
    Triangle,
    Diamond,
}

enum Item {
    Line { points: Vec<At>, ink: Ink, width: f64, dashes: &'static [f64] },
    Area { points: Vec<At>, ink: Ink },
    Text { at: At, text: String, size: f64, anchor: Anchor, ink: Ink, upwards: bool },
}

/// A drawing of this size.
pub(super) struct Drawing {
    pub width: f64,
    pub height: f64,
    items: Vec<Item>,
}

impl Drawing {
    pub fn new(width: f64, height: f64) -> Self {
        Self { width, height, items: Vec::new() }
    }

    /// Adds a line through these points.
    pub fn line(&mut self, points: Vec<At>, ink: Ink, width: f64, dashes: &'static [f64]) {
        if points.len() > 1 {
            self.items.push(Item::Line { points, ink, width, dashes });
        }
    }

    /// Adds a filled shape around a point.
    pub fn mark(&mut self, (x, y): At, shape: Shape, size: f64, ink: Ink) {
        let around = |corners: &[At]| corners.iter().map(|(dx, dy)| (x + dx * size, y + dy * size)).collect();
        let points = match shape {
            // as many corners as are needed at this size
            Shape::Circle => (0..16)
                .map(|corner| f64::from(corner) * std::f64::consts::PI / 8.0)
                .map(|angle| (x + libm::cos(angle) * size, y + libm::sin(angle) * size))
                .collect(),
            Shape::Square => around(&[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)]),
            Shape::Triangle => around(&[(0.0, -1.2), (1.1, 0.9), (-1.1, 0.9)]),
            Shape::Diamond => around(&[(0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0)]),
        };
        self.items.push(Item::Area { points, ink });
    }

    /// Adds a text, whose middle lies at the vertical position of `at`.
    pub fn text(&mut self, at: At, text: &str, size: f64, anchor: Anchor, ink: Ink) {
        self.items.push(Item::Text { at, text: text.to_owned(), size, anchor, ink, upwards: false });
    }

    /// Adds a text that is read upwards, and whose middle lies at `at`.
    pub fn text_upwards(&mut self, at: At, text: &str, size: f64, ink: Ink) {
        let anchor = Anchor::Middle;
        self.items.push(Item::Text { at, text: text.to_owned(), size, anchor, ink, upwards: true });
    }

    /// Returns the drawing as an SVG file.
    pub fn svg(&self) -> String {
        let (width, height) = (self.width, self.height);
        let mut svg = format!(
            "<svg width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" xmlns=\"http://www.w3.org/2000/svg\">\n"
        );
        for item in &self.items {
            let _ = match item {
                Item::Line { points, ink, width, dashes } => {
                    let dashes = dashes.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
                    let dashes =
                        if dashes.is_empty() { dashes } else { format!(" stroke-dasharray=\"{dashes}\"") };
                    writeln!(
                        svg,
                        "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{width}\"{dashes} stroke-linejoin=\"round\"/>",
                        corners(points),
                        hex(*ink)
                    )
                }
                Item::Area { points, ink } => {
                    writeln!(svg, "<polygon points=\"{}\" fill=\"{}\"/>", corners(points), hex(*ink))
                }
                Item::Text { at: (x, y), text, size, anchor, ink, upwards } => {
                    let turned = if *upwards {
                        format!(" transform=\"rotate(-90 {x:.2} {y:.2})\"")
                    } else {
                        String::new()
                    };
                    let anchor = match anchor {
                        Anchor::Start => "start",
                        Anchor::Middle => "middle",
                        Anchor::End => "end",
                    };
                    writeln!(
                        svg,
                        "<text x=\"{x:.2}\" y=\"{y:.2}\" dy=\"0.35em\" font-family=\"sans-serif\" font-size=\"{size}\" text-anchor=\"{anchor}\" fill=\"{}\"{turned}>{}</text>",
                        hex(*ink),
                        escaped(text)
                    )
                }
            };
        }
        svg.push_str("</svg>\n");
        printable_markup(&svg).into_owned()
    }

    /// Returns the drawing as a PDF file of one page.
    pub fn pdf(&self) -> Vec<u8> {
        let mut content = String::new();
        let _ = writeln!(content, "0.75 0 0 0.75 0 0 cm 1 j");
        let up = |(x, y): At| (x, self.height - y);
        for item in &self.items {
            let _ = match item {
                Item::Line { points, ink, width, dashes } => {
                    let dashes = dashes.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
                    let path = path(points.iter().map(|at| up(*at)));
                    writeln!(content, "{} RG {width} w [{dashes}] 0 d {path}S", shares(*ink))
                }
                Item::Area { points, ink } => {
                    writeln!(content, "{} rg {}f", shares(*ink), path(points.iter().map(|at| up(*at))))
                }
                Item::Text { at, text, size, anchor, ink, upwards } => {
                    let (x, y) = up(*at);
                    let left = match anchor {
                        Anchor::Start => 0.0,
                        Anchor::Middle => width_of(text) * size / 2.0,
                        Anchor::End => width_of(text) * size,
                    };
                    let below = size * 0.35;
                    let place = match upwards {
                        false => format!("1 0 0 1 {:.2} {:.2}", x - left, y - below),
                        true => format!("0 1 -1 0 {:.2} {:.2}", x + below, y - left),
                    };
                    let words = pdf_words(text);
                    writeln!(content, "BT {} rg /F1 {size} Tf {place} Tm ({words}) Tj ET", shares(*ink))
                }
            };
        }
        let page = format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {} {}] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
            self.width * 0.75,
            self.height * 0.75
        );
        let font = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>";
        let objects = [
            "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
            "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
            page,
            format!("<< /Length {} >>\nstream\n{content}endstream", content.len()),
            font.to_owned(),
        ];
        let mut pdf = "%PDF-1.4\n".to_owned();
        let mut places = Vec::new();
        for (index, object) in objects.iter().enumerate() {
            places.push(pdf.len());
            let _ = writeln!(pdf, "{} 0 obj\n{object}\nendobj", index + 1);
        }
        let start = pdf.len();
        let _ = write!(pdf, "xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1);
        for place in places {
            let _ = writeln!(pdf, "{place:010} 00000 n ");
        }
        let _ = write!(
            pdf,
            "trailer\n<< /Size {} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n",
            objects.len() + 1
        );
        pdf.into_bytes()
    }
}

fn corners(points: &[At]) -> String {
    points.iter().map(|(x, y)| format!("{x:.2},{y:.2}")).collect::<Vec<_>>().join(" ")
}

fn path(points: impl Iterator<Item = At>) -> String {
    let step =
        |(index, (x, y)): (usize, At)| format!("{x:.2} {y:.2} {} ", if index == 0 { 'm' } else { 'l' });
    points.enumerate().map(step).collect()
}

fn hex(ink: Ink) -> String {
    let colour = ink.colour();
    format!("#{:02X}{:02X}{:02X}", colour.0, colour.1, colour.2)
}

fn shares(ink: Ink) -> String {
    let colour = ink.colour();
    [colour.0, colour.1, colour.2].map(|part| format!("{:.3}", f64::from(part) / 255.0)).join(" ")
}

/// Returns text as a PDF writes it in parentheses. The font has no characters beyond Latin 1.
fn pdf_words(text: &str) -> String {
    let mut words = String::new();
    for c in text.chars() {
        match c {
            '(' | ')' | '\\' => words.extend(['\\', c]),
            ' '..='~' => words.push(c),
            '\u{a0}' | '\u{202f}' => words.push(' '),
            '\u{a1}'..='\u{ff}' => {
                let _ = write!(words, "\\{:03o}", u32::from(c));
            }
            _ => words.push('?'),
        }
    }
    words
}

/// Returns the width of text in Helvetica, in units of the font size, from the widths of the classes
/// of its characters.
fn width_of(text: &str) -> f64 {
    let width = |c: char| match c {
        'i' | 'j' | 'l' | '\'' => 0.222,
        ' ' | 'f' | 't' | 'I' | '.' | ',' | ':' | ';' | '/' | '\\' | '!' | '[' | ']' | '|' | '\u{a0}'
        | '\u{202f}' => 0.278,
        '(' | ')' | 'r' | '-' => 0.333,
        'c' | 'k' | 's' | 'v' | 'x' | 'y' | 'z' | 'J' => 0.5,
        '+' | '<' | '=' | '>' | '~' => 0.584,
        'A' | 'B' | 'E' | 'K' | 'P' | 'S' | 'V' | 'X' | 'Y' => 0.667,
        'C' | 'D' | 'H' | 'N' | 'R' | 'U' | 'w' => 0.722,
        'G' | 'O' | 'Q' => 0.778,
        'M' | 'm' => 0.833,
        '%' => 0.889,
        'W' => 0.944,
        _ => 0.556,
    };
    text.chars().map(width).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawing() -> Drawing {
        let mut drawing = Drawing::new(100.0, 50.0);
        drawing.line(vec![(1.25, 2.0), (30.0, 40.5)], Ink::Series(0), 1.5, &[4.0, 2.0]);
        drawing.line(vec![(1.0, 1.0)], Ink::Text, 1.0, &[]);
        drawing.mark((10.0, 10.0), Shape::Square, 3.0, Ink::Bad);
        drawing.text((50.0, 25.0), "a <b> (c)", 12.0, Anchor::End, Ink::Text);
        drawing.text_upwards((5.0, 25.0), "IPC", 12.0, Ink::Text);
        drawing
    }

    #[test]
    fn svg_has_fractional_coordinates_and_no_markup_in_text() {
        let svg = drawing().svg();
        assert!(svg.contains("points=\"1.25,2.00 30.00,40.50\"") && svg.contains("a &lt;b&gt; (c)"), "{svg}");
        assert_eq!(svg.matches("<polyline").count(), 1, "a single point is no line");
        assert!(svg.contains("rotate(-90 5.00 25.00)"));
    }

    #[test]
    fn pdf_has_the_places_of_its_objects() {
        let pdf = String::from_utf8(drawing().pdf()).unwrap();
        assert!(pdf.contains("(a <b> \\(c\\)) Tj") && pdf.contains("[4 2] 0 d"), "{pdf}");
        let table = pdf.split("xref\n").nth(1).unwrap();
        let places: Vec<usize> =
            table.lines().skip(2).take(5).map(|line| line[..10].parse().unwrap()).collect();
        for (index, place) in places.iter().enumerate() {
            assert!(pdf[*place..].starts_with(&format!("{} 0 obj", index + 1)), "object {index}");
        }
        let start: usize = pdf.rsplit("startxref\n").next().unwrap().lines().next().unwrap().parse().unwrap();
        assert!(pdf[start..].starts_with("xref"));
    }
}
