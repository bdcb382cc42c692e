//! A page and its sections.

use std::borrow::Cow;
use std::fmt::Write;

use super::escape::text;
use crate::output::TOOL_VERSION;

/// The styles and scripts of every page.
const STYLES: [&str; 2] = [include_str!("assets/page.css"), include_str!("assets/table.css")];
const SCRIPTS: [&str; 2] = [include_str!("assets/theme.js"), include_str!("assets/table.js")];

/// A part of a page with a heading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// Its anchor, a single word.
    pub id: Cow<'static, str>,
    /// Its heading, as plain text.
    pub title: String,
    /// Its contents, as HTML.
    pub body: String,
}

/// A page that is a single self-contained file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// The title, as plain text.
    pub title: String,
    /// The line below the title, as plain text.
    pub subtitle: String,
    /// The sections, in the order of the page.
    pub sections: Vec<Section>,
    /// Style sheets in addition to those of every page.
    pub styles: Vec<&'static str>,
    /// Scripts in addition to those of every page; they run in this order once the page is loaded.
    pub scripts: Vec<&'static str>,
    /// Data for scripts: the id of an element, and JSON as [`super::script_data`] writes it.
    pub data: Vec<(&'static str, String)>,
}

impl Page {
    /// Returns the text of the file.
    pub fn render(&self) -> String {
        let mut page = String::new();
        let title = text(&self.title);
        page.push_str("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
        page.push_str(
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n",
        );
        page.push_str("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
        page.push_str("<meta name=\"color-scheme\" content=\"light dark\">\n");
        let _ = writeln!(page, "<meta name=\"generator\" content=\"warpbound {TOOL_VERSION}\">");
        let _ = writeln!(page, "<title>{title}</title>\n<style>");
        for style in STYLES.iter().chain(&self.styles) {
            page.push_str(style);
        }
        page.push_str("</style>\n</head>\n<body>\n<header class=\"top\">\n");
        let _ = writeln!(page, "<h1>{title}</h1>\n<p class=\"subtitle\">{}</p>", text(&self.subtitle));
        page.push_str("<nav aria-label=\"Sections\">\n");
        for section in &self.sections {
            let _ = writeln!(page, "<a href=\"#{}\">{}</a>", section.id, text(&section.title));
        }
        page.push_str("</nav>\n<button type=\"button\" id=\"theme\" class=\"switch\">Dark</button>\n</header>\n<main>\n");
        for section in &self.sections {
            let Section { id, title, body } = section;
            let title = text(title);
            let _ = writeln!(
                page,
                "<section id=\"{id}\" aria-labelledby=\"{id}-title\">\n<h2 id=\"{id}-title\">{title}</h2>\n{body}\n</section>"
            );
        }
        let _ = writeln!(page, "</main>\n<footer>Made by warpbound {TOOL_VERSION}.</footer>");
        for (id, json) in &self.data {
            let _ = writeln!(page, "<script type=\"application/json\" id=\"{id}\">{json}</script>");
        }
        for script in SCRIPTS.iter().chain(&self.scripts) {
            let _ = writeln!(page, "<script>\n{script}</script>");
        }
        page.push_str("</body>\n</html>\n");
        page
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::html::script_data;

    #[test]
    fn a_page_stands_alone_and_names_are_text() {
        let page = Page {
            title: "a </title><script>b".to_owned(),
            sections: vec![Section {
                id: "one".into(),
                title: "<one>".to_owned(),
                body: "<p>x</p>".to_owned(),
            }],
            data: vec![("d", script_data(&"</script>"))],
            ..Page::default()
        };
        let html = page.render();
        assert!(html.contains("<title>a &lt;/title&gt;&lt;script&gt;b</title>"));
        assert!(html.contains("<a href=\"#one\">&lt;one&gt;</a>") && html.contains("\\u003c/script\\u003e"));
        assert_eq!(html.matches("</script>").count(), SCRIPTS.len() + 1);
        for outside in ["http://", "https://", "src=\"", "@import", "url("] {
            assert!(!html.contains(outside), "{outside}");
        }
    }
}
