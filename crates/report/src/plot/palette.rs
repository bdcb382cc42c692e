//! The colours of plots, and their names in a page.

/// A colour by its purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ink {
    /// Text.
    Text,
    /// Secondary text and axes.
    Muted,
    /// Grid lines.
    Grid,
    /// The background.
    Ground,
    /// A bound that is exceeded.
    Bad,
    /// One of several series; after eight colours they repeat.
    Series(usize),
}

/// The names of the variables in `page.css`, and the colours for paper, which are those of the
/// light page.
const NAMED: [(&str, u32); 13] = [
    ("--ink", 0x1b1f24),
    ("--muted", 0x59626e),
    ("--line", 0xd5d9df),
    ("--ground", 0xffffff),
    ("--bad", 0xb3261e),
    ("--s0", 0x0072b2),
    ("--s1", 0xd55e00),
    ("--s2", 0x009e73),
    ("--s3", 0xb0558f),
    ("--s4", 0xb07d00),
    ("--s5", 0x2a9fd6),
    ("--s6", 0x6f4fa0),
    ("--s7", 0x6b7500),
];

impl Ink {
    /// The number of colours of [`Ink::Series`].
    pub(super) const SERIES: usize = 8;

    fn index(self) -> usize {
        match self {
            Self::Text => 0,
            Self::Muted => 1,
            Self::Grid => 2,
            Self::Ground => 3,
            Self::Bad => 4,
            Self::Series(number) => NAMED.len() - Self::SERIES + number % Self::SERIES,
        }
    }

    /// Returns the colour of a stand-alone plot.
    pub(super) fn colour(self) -> [u8; 3] {
        let [_, r, g, b] = NAMED[self.index()].1.to_be_bytes();
        [r, g, b]
    }

    /// Returns the name of the page's variable.
    pub fn variable(self) -> &'static str {
        NAMED[self.index()].0
    }
}

/// Returns a picture with the colours of the page that contains it, and with a label for screen
/// readers.
pub fn themed(svg: &str, label: &str) -> String {
    let mut themed = svg.to_owned();
    for (variable, colour) in NAMED {
        themed = themed.replace(&format!("\"#{colour:06X}\""), &format!("\"var({variable})\""));
    }
    let label = super::super::html::text(label);
    let start = themed.find("<svg ").unwrap_or(0);
    format!("<svg role=\"img\" aria-label=\"{label}\" {}", &themed[start + "<svg ".len().min(themed.len())..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::{Anchor, Drawing};

    #[test]
    fn every_colour_becomes_a_variable_that_the_page_has() {
        let css = include_str!("../html/assets/page.css");
        let mut picture = Drawing::new(100.0, 100.0);
        for (index, (_, colour)) in NAMED.iter().enumerate() {
            let ink = match index {
                0 => Ink::Text,
                1 => Ink::Muted,
                2 => Ink::Grid,
                3 => Ink::Ground,
                4 => Ink::Bad,
                series => Ink::Series(series - 5),
            };
            assert_eq!(ink.index(), index);
            picture.rectangle((0.0, 0.0), (9.0, 9.0), ink);
            let definition = format!("{}: #{colour:06x};", ink.variable());
            assert!(css.contains(&definition), "{definition}");
        }
        picture.text((0.0, 0.0), "a \"#1B1F24\" <b>", Anchor::Start, Ink::Text);
        let svg = picture.svg();
        let themed = themed(&svg, "<\"label\">");
        assert!(svg.contains("\"#0072B2\""), "{svg}");
        assert!(!themed.contains("\"#"), "{themed}");
        assert!(
            themed.starts_with("<svg role=\"img\" aria-label=\"&lt;&quot;label&quot;&gt;\" "),
            "{themed}"
        );
        assert!(themed.contains("&lt;b&gt;"), "text is text: {themed}");
    }
}
