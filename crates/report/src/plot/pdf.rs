//! A drawing as a PDF file of one page, which contains the part of the font that it uses.

use std::collections::BTreeMap;
use std::fmt::Write;

use subsetter::GlyphRemapper;

use super::drawing::{Anchor, At, Drawing, Item};
use super::font::{FONT, face, glyph, width_of};
use super::palette::Ink;
use warpbound_core::diag::printable;

/// A pixel, in points.
const PIXEL: f64 = 0.75;

/// The glyphs of the texts of a drawing, with numbers of their own.
struct Glyphs {
    numbers: GlyphRemapper,
    /// The character of each number, for readers that search for text.
    characters: BTreeMap<u16, char>,
}

impl Glyphs {
    /// Collects the glyphs.
    ///
    /// # Errors
    /// The font has no glyph of a character.
    fn of(items: &[Item]) -> Result<Self, String> {
        let mut all = Self { numbers: GlyphRemapper::new(), characters: BTreeMap::new() };
        for item in items {
            let Item::Text { text, .. } = item else { continue };
            for c in printable(text).chars() {
                let found = glyph(c).ok_or_else(|| {
                    format!("the font of a PDF has no `{c}`: it has Latin, Greek and Cyrillic letters")
                })?;
                all.characters.insert(all.numbers.remap(found.0), c);
            }
        }
        Ok(all)
    }

    /// Returns a text as hexadecimal numbers of glyphs.
    fn text(&self, text: &str) -> String {
        let number = |c: char| self.numbers.get(glyph(c)?.0);
        printable(text).chars().filter_map(number).fold(String::new(), |mut words, number| {
            let _ = write!(words, "{number:04X}");
            words
        })
    }

    /// Returns the widths of the glyphs, in thousandths of the font size.
    fn widths(&self) -> String {
        let width = |glyph: u16| {
            let units = face().glyph_hor_advance(ttf_parser::GlyphId(glyph)).unwrap_or(0);
            (f64::from(units) * 1000.0 / f64::from(face().units_per_em())).round()
        };
        let widths: Vec<String> =
            self.numbers.remapped_gids().map(|glyph| width(glyph).to_string()).collect();
        widths.join(" ")
    }

    /// Returns the table from glyphs to characters.
    fn characters(&self) -> String {
        let mut table = "/CIDInit /ProcSet findresource begin\n12 dict begin\nbegincmap\n/CMapName /Characters def\n/CMapType 2 def\n\
             1 begincodespacerange\n<0000> <FFFF>\nendcodespacerange\n"
            .to_owned();
        let all: Vec<(&u16, &char)> = self.characters.iter().collect();
        // a block has at most a hundred lines
        for block in all.chunks(100) {
            let _ = writeln!(table, "{} beginbfchar", block.len());
            for (number, c) in block {
                let mut units = [0; 2];
                let units = c.encode_utf16(&mut units).iter().map(|unit| format!("{unit:04X}"));
                let _ = writeln!(table, "<{number:04X}> <{}>", units.collect::<String>());
            }
            table.push_str("endbfchar\n");
        }
        table.push_str("endcmap\nCMapName currentdict /CMap defineresource pop\nend\nend\n");
        table
    }
}

impl Drawing {
    /// Returns the drawing as a PDF file.
    ///
    /// # Errors
    /// The font lacks a character of a text.
    pub fn pdf(&self) -> Result<Vec<u8>, String> {
        let glyphs = Glyphs::of(&self.items)?;
        let content = self.content(&glyphs);
        let part = subsetter::subset(FONT, 0, &glyphs.numbers)
            .map_err(|error| format!("the font of the PDF cannot be made: {error}"))?;
        let of_em = |units: i16| (f64::from(units) * 1000.0 / f64::from(face().units_per_em())).round();
        let bounds = face().global_bounding_box();
        let name = "/WPLOTS+DejaVuSans";
        let objects: Vec<Vec<u8>> = vec![
            b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_vec(),
            format!(
                "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {:.2} {:.2}] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> /ExtGState << {} >> >> >>",
                self.width * PIXEL,
                self.height * PIXEL,
                self.opacities().iter().map(|share| format!("/O{share} << /ca 0.{share:02} >>")).collect::<Vec<_>>().join(" ")
            )
            .into_bytes(),
            stream(content.as_bytes()),
            format!("<< /Type /Font /Subtype /Type0 /BaseFont {name} /Encoding /Identity-H /DescendantFonts [6 0 R] /ToUnicode 9 0 R >>").into_bytes(),
            format!(
                "<< /Type /Font /Subtype /CIDFontType2 /BaseFont {name} /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> /FontDescriptor 7 0 R /CIDToGIDMap /Identity /W [0 [{}]] >>",
                glyphs.widths()
            )
            .into_bytes(),
            format!(
                "<< /Type /FontDescriptor /FontName {name} /Flags 4 /FontBBox [{} {} {} {}] /ItalicAngle 0 /Ascent {} /Descent {} /CapHeight {} /StemV 80 /FontFile2 8 0 R >>",
                of_em(bounds.x_min),
                of_em(bounds.y_min),
                of_em(bounds.x_max),
                of_em(bounds.y_max),
                of_em(face().ascender()),
                of_em(face().descender()),
                of_em(face().capital_height().unwrap_or(face().ascender()))
            )
            .into_bytes(),
            stream(&part),
            stream(glyphs.characters().as_bytes()),
        ];
        Ok(file(&objects))
    }

    /// Returns the opacities that are used, in hundredths.
    fn opacities(&self) -> Vec<u32> {
        let of = |item: &Item| match item {
            Item::Area { opacity, .. } if *opacity < 1.0 => Some(hundredths(*opacity)),
            Item::Area { .. } | Item::Line { .. } | Item::Text { .. } => None,
        };
        let mut all: Vec<u32> = self.items.iter().filter_map(of).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Returns the content of the page.
    fn content(&self, glyphs: &Glyphs) -> String {
        let mut content = format!("{PIXEL} 0 0 {PIXEL} 0 0 cm 1 j\n");
        let up = |(x, y): At| (x, self.height - y);
        let path = |points: &[At]| path(points.iter().map(|at| up(*at)));
        for item in &self.items {
            let _ = match item {
                Item::Line { points, closed, ink, width, dashes } => {
                    let dashes = dashes.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
                    let draw = if *closed { "s" } else { "S" };
                    writeln!(content, "{} RG {width} w [{dashes}] 0 d {}{draw}", shares(*ink), path(points))
                }
                Item::Area { points, ink, opacity } if *opacity < 1.0 => {
                    let share = hundredths(*opacity);
                    writeln!(content, "q /O{share} gs {} rg {}f Q", shares(*ink), path(points))
                }
                Item::Area { points, ink, .. } => {
                    writeln!(content, "{} rg {}f", shares(*ink), path(points))
                }
                Item::Text { at, text, size, anchor, ink, turned } => {
                    let (x, y) = up(*at);
                    let left = match anchor {
                        Anchor::Start => 0.0,
                        Anchor::Middle => width_of(text) * size / 2.0,
                        Anchor::End => width_of(text) * size,
                    };
                    let below = size * 0.35;
                    let angle = turned.to_radians();
                    let (cos, sin) = (libm::cos(angle), libm::sin(angle));
                    let (x, y) = (x - left * cos + below * sin, y - left * sin - below * cos);
                    let place = format!("{cos:.4} {sin:.4} {:.4} {cos:.4} {x:.2} {y:.2}", -sin);
                    let words = glyphs.text(text);
                    writeln!(content, "BT {} rg /F1 {size} Tf {place} Tm <{words}> Tj ET", shares(*ink))
                }
            };
        }
        content
    }
}

/// Returns a stream object.
fn stream(bytes: &[u8]) -> Vec<u8> {
    let mut object = format!("<< /Length {0} /Length1 {0} >>\nstream\n", bytes.len()).into_bytes();
    object.extend_from_slice(bytes);
    object.extend_from_slice(b"\nendstream");
    object
}

/// Returns the file of these objects, the first of which is the catalog.
fn file(objects: &[Vec<u8>]) -> Vec<u8> {
    // the second line tells transfer programs that the file is binary
    let mut pdf = b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n".to_vec();
    let mut places = String::new();
    for (index, object) in objects.iter().enumerate() {
        let _ = writeln!(places, "{:010} 00000 n ", pdf.len());
        pdf.extend_from_slice(format!("{} 0 obj\n", index + 1).as_bytes());
        pdf.extend_from_slice(object);
        pdf.extend_from_slice(b"\nendobj\n");
    }
    let (start, count) = (pdf.len(), objects.len() + 1);
    let end = format!(
        "xref\n0 {count}\n0000000000 65535 f \n{places}trailer\n<< /Size {count} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n"
    );
    pdf.extend_from_slice(end.as_bytes());
    pdf
}

fn hundredths(opacity: f64) -> u32 {
    (opacity * 100.0).round() as u32
}

fn path(points: impl Iterator<Item = At>) -> String {
    let step =
        |(index, (x, y)): (usize, At)| format!("{x:.2} {y:.2} {} ", if index == 0 { 'm' } else { 'l' });
    points.enumerate().map(step).collect()
}

fn shares(ink: Ink) -> String {
    ink.colour().map(|part| format!("{:.3}", f64::from(part) / 255.0)).join(" ")
}

#[cfg(test)]
mod tests {
    use super::super::drawing::tests::drawing;
    use super::*;

    fn find(bytes: &[u8], what: &str) -> Option<usize> {
        bytes.windows(what.len()).position(|part| part == what.as_bytes())
    }

    #[test]
    fn pdf_has_the_places_of_its_objects() {
        let pdf = drawing().pdf().unwrap();
        assert!(find(&pdf, "[4 2] 0 d").is_some() && find(&pdf, "/O25 gs").is_some());
        let end = &pdf[find(&pdf, "xref\n").unwrap()..];
        let end = String::from_utf8(end.to_vec()).unwrap();
        let places: Vec<usize> =
            end.lines().skip(3).take(9).map(|line| line[..10].parse().unwrap()).collect();
        for (index, place) in places.iter().enumerate() {
            assert!(pdf[*place..].starts_with(format!("{} 0 obj", index + 1).as_bytes()), "object {index}");
        }
        let start: usize = end.rsplit("startxref\n").next().unwrap().lines().next().unwrap().parse().unwrap();
        assert!(pdf[start..].starts_with(b"xref"));
        assert_eq!(pdf, drawing().pdf().unwrap());
    }

    #[test]
    fn texts_are_written_with_an_embedded_font() {
        let mut drawing = Drawing::new(10.0, 10.0);
        drawing.text((1.0, 1.0), "Ωλя", Anchor::Start, Ink::Text);
        let pdf = drawing.pdf().unwrap();
        assert!(find(&pdf, "<000100020003> Tj").is_some(), "the glyphs are numbered as they occur");
        assert!(find(&pdf, "<0001> <03A9>").is_some() && find(&pdf, "/FontFile2").is_some());
        assert!(pdf.len() < 8_000, "{} bytes: only the glyphs that are used", pdf.len());
        drawing.text((1.0, 1.0), "漢", Anchor::Start, Ink::Text);
        assert!(drawing.pdf().unwrap_err().contains('漢'));
    }
}
