//! A drawing as an SVG file.

use std::fmt::Write;

use super::drawing::{Anchor, At, Drawing, Item};
use super::palette::Ink;
use crate::html::text as escaped;
use warpbound_core::diag::printable_markup;

impl Drawing {
    /// Returns the drawing as an SVG file, with a ground of its own, because a viewer may be dark.
    pub fn svg(&self) -> String {
        let (width, height) = (number(self.width), number(self.height));
        let mut svg = format!(
            "<svg width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" xmlns=\"http://www.w3.org/2000/svg\">\n\
             <rect width=\"{width}\" height=\"{height}\" fill=\"{}\"/>\n",
            hex(Ink::Ground)
        );
        for item in &self.items {
            let _ = match item {
                Item::Line { points, closed, ink, width, dashes } => {
                    let dashes = dashes.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
                    let dashes =
                        if dashes.is_empty() { dashes } else { format!(" stroke-dasharray=\"{dashes}\"") };
                    writeln!(
                        svg,
                        "<{} points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\"{dashes} stroke-linejoin=\"round\"/>",
                        if *closed { "polygon" } else { "polyline" },
                        corners(points),
                        hex(*ink),
                        number(*width)
                    )
                }
                Item::Area { points, ink, opacity } => {
                    let opacity =
                        if *opacity < 1.0 { format!(" fill-opacity=\"{opacity}\"") } else { String::new() };
                    writeln!(svg, "<polygon points=\"{}\" fill=\"{}\"{opacity}/>", corners(points), hex(*ink))
                }
                Item::Text { at: (x, y), text, size, anchor, ink, turned } => {
                    let (x, y) = (number(*x), number(*y));
                    let turned = if *turned == 0.0 {
                        String::new()
                    } else {
                        format!(" transform=\"rotate({} {x} {y})\"", -turned)
                    };
                    let anchor = match anchor {
                        Anchor::Start => "",
                        Anchor::Middle => " text-anchor=\"middle\"",
                        Anchor::End => " text-anchor=\"end\"",
                    };
                    writeln!(
                        svg,
                        "<text x=\"{x}\" y=\"{y}\" dy=\"0.35em\" font-family=\"'DejaVu Sans', Verdana, sans-serif\" font-size=\"{size}\"{anchor} fill=\"{}\"{turned}>{}</text>",
                        hex(*ink),
                        escaped(text)
                    )
                }
            };
        }
        svg.push_str("</svg>\n");
        printable_markup(&svg).into_owned()
    }
}

fn corners(points: &[At]) -> String {
    points.iter().map(|(x, y)| format!("{},{}", number(*x), number(*y))).collect::<Vec<_>>().join(" ")
}

/// Returns a number to within a hundredth of a pixel, without zeros at its end.
fn number(value: f64) -> String {
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

fn hex(ink: Ink) -> String {
    let [r, g, b] = ink.colour();
    format!("#{r:02X}{g:02X}{b:02X}")
}

#[cfg(test)]
mod tests {
    use super::super::drawing::tests::drawing;

    #[test]
    fn svg_has_fractional_coordinates_and_no_markup_in_text() {
        let svg = drawing().svg();
        assert!(svg.contains("points=\"1.25,2 30,40.5\"") && svg.contains("a &lt;b&gt; (c)"), "{svg}");
        assert_eq!(svg.matches("<polyline").count(), 1, "a single point is no line");
        assert!(svg.contains("rotate(-90 5 25)") && svg.contains("fill-opacity=\"0.25\""), "{svg}");
        assert_eq!(svg, drawing().svg());
    }
}
