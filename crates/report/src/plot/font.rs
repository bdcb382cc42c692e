//! The font of plots: the widths of texts, and the part of the font that a PDF contains.

use std::sync::LazyLock;

use ttf_parser::{Face, GlyphId};

/// The Latin, Greek and Cyrillic letters and the signs of DejaVu Sans.
pub const FONT: &[u8] = include_bytes!("font/DejaVuSans-part.ttf");

static FACE: LazyLock<Face<'static>> =
    LazyLock::new(|| Face::parse(FONT, 0).expect("the embedded font is valid, which a test checks"));

/// Returns the face.
pub fn face() -> &'static Face<'static> {
    &FACE
}

/// Returns the glyph of a character, if the font has it.
pub fn glyph(c: char) -> Option<GlyphId> {
    face().glyph_index(c)
}

/// Returns the width of a text, in units of the font size. Characters that the font lacks, such as
/// those of Chinese, are as wide as they are high.
pub fn width_of(text: &str) -> f64 {
    let per_em = f64::from(face().units_per_em());
    let width = |c: char| {
        glyph(c)
            .and_then(|glyph| face().glyph_hor_advance(glyph))
            .map_or(1.0, |units| f64::from(units) / per_em)
    };
    text.chars().map(width).sum()
}

/// Shortens a text that is wider than `most`, both in pixels.
pub fn shortened(text: &str, size: f64, most: f64) -> String {
    if width_of(text) * size <= most {
        return text.to_owned();
    }
    let mut short = String::new();
    for c in text.chars() {
        short.push(c);
        if (width_of(&short) + width_of("…")) * size > most {
            short.pop();
            break;
        }
    }
    short + "…"
}

/// Divides a text into lines that are at most `most` pixels wide, if its words allow it.
pub fn lines_of(text: &str, size: f64, most: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if width_of(&format!("{line} {word}")) * size <= most => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_font_has_what_plots_write() {
        for c in "aZ09 %~…·–×ÄéßΩλЖя\u{a0}\u{202f}→≤µ".chars() {
            assert!(glyph(c).is_some(), "{c}");
        }
        assert_eq!(glyph('漢'), None);
        assert!(width_of("iiii") < width_of("mmmm"));
        assert_eq!(shortened("cycles", 12.0, 100.0), "cycles");
        let short = shortened(&"m".repeat(100), 12.0, 100.0);
        assert!(short.ends_with('…') && width_of(&short) * 12.0 <= 100.0, "{short}");
        assert_eq!(lines_of("one two three", 12.0, width_of("one two") * 12.0), ["one two", "three"]);
    }
}
