//! Tables that can be sorted and filtered. Without scripts they are plain tables.

use std::borrow::Cow;
use std::fmt::Write;

use super::escape::text;
use crate::grouped;

/// A column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HtmlColumn {
    /// Its heading, as plain text.
    pub title: String,
    /// A tooltip; may be empty.
    pub hint: String,
    /// Whether it holds numbers.
    pub is_number: bool,
}

impl HtmlColumn {
    /// Returns a column of words.
    pub fn words(title: &str) -> Self {
        Self { title: title.to_owned(), hint: String::new(), is_number: false }
    }

    /// Returns a column of numbers.
    pub fn numbers(title: &str, hint: &str) -> Self {
        Self { title: title.to_owned(), hint: hint.to_owned(), is_number: true }
    }
}

/// A cell.
#[derive(Clone, Debug, PartialEq)]
pub enum HtmlCell {
    /// An empty cell, which is sorted below all others in either order.
    Empty,
    /// Text.
    Text(String),
    /// Highlighted text.
    Bad(String),
    /// A count.
    Count(u64),
    /// A count that is highlighted unless it is 0.
    BadCount(u64),
    /// A difference, shown with its sign.
    Signed(i64),
    /// A fraction, shown in percent.
    Percent(f64),
    /// A number, shown with two decimal places.
    Decimal(f64),
}

impl HtmlCell {
    fn write(&self, html: &mut String) {
        let _ = match self {
            Self::Empty => write!(html, "<td></td>"),
            Self::Text(shown) => write!(html, "<td>{}</td>", text(shown)),
            Self::Bad(shown) => write!(html, "<td class=\"bad\">{}</td>", text(shown)),
            Self::BadCount(number @ 1..) => {
                write!(html, "<td class=\"n bad\" data-k=\"{number}\">{}</td>", grouped(*number))
            }
            Self::Signed(number) => {
                let sign = if *number < 0 { "-" } else { "+" };
                write!(
                    html,
                    "<td class=\"n\" data-k=\"{number}\">{sign}{}</td>",
                    grouped(number.unsigned_abs())
                )
            }
            Self::Count(number) | Self::BadCount(number) => {
                write!(html, "<td class=\"n\" data-k=\"{number}\">{}</td>", grouped(*number))
            }
            Self::Percent(fraction) => {
                let bad = if *fraction < 0.0 { " bad" } else { "" };
                let percent = fraction * 100.0;
                write!(html, "<td class=\"n{bad}\" data-k=\"{fraction:.6}\">{percent:.1} %</td>")
            }
            Self::Decimal(number) => {
                write!(html, "<td class=\"n\" data-k=\"{number:.6}\">{number:.2}</td>")
            }
        };
    }
}

/// A table.
#[derive(Clone, Debug, PartialEq)]
pub struct HtmlTable {
    /// Its id, a single word.
    pub id: Cow<'static, str>,
    /// Its caption, as plain text.
    pub caption: String,
    /// Its columns.
    pub columns: Vec<HtmlColumn>,
    /// Its rows.
    pub rows: Vec<Vec<HtmlCell>>,
}

impl HtmlTable {
    /// Returns the HTML.
    pub fn render(&self) -> String {
        let mut html = String::new();
        let _ = write!(
            html,
            "<div class=\"filter\"><label>Filter <input type=\"search\" data-filter=\"{0}\" placeholder=\"words that a row has\" autocomplete=\"off\"></label> <output data-count=\"{0}\"></output></div>\n\
             <div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{1}\">\n<table id=\"{0}\" data-table>\n<caption>{1}</caption>\n<thead><tr>",
            self.id,
            text(&self.caption)
        );
        for column in &self.columns {
            let class = if column.is_number { " class=\"n\"" } else { "" };
            let hint = match column.hint.as_str() {
                "" => String::new(),
                hint => format!(" title=\"{}\"", text(hint)),
            };
            let title = text(&column.title);
            let _ =
                write!(html, "<th scope=\"col\"{class}{hint}><button type=\"button\">{title}</button></th>");
        }
        html.push_str("</tr></thead>\n<tbody>\n");
        for row in &self.rows {
            html.push_str("<tr>");
            row.iter().for_each(|cell| cell.write(&mut html));
            html.push_str("</tr>\n");
        }
        html.push_str("</tbody>\n</table>\n</div>\n");
        html
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_text_and_carry_what_they_are_sorted_by() {
        let table = HtmlTable {
            id: "t".into(),
            caption: "<c>".to_owned(),
            columns: vec![HtmlColumn::words("k<"), HtmlColumn::numbers("n", "a \"hint\"")],
            rows: vec![vec![HtmlCell::Text("</td>".to_owned()), HtmlCell::Percent(-0.05)]],
        };
        let html = table.render();
        assert!(
            html.contains("<td>&lt;/td&gt;</td><td class=\"n bad\" data-k=\"-0.050000\">-5.0 %</td>"),
            "{html}"
        );
        assert!(
            html.contains("<caption>&lt;c&gt;</caption>") && html.contains("title=\"a &quot;hint&quot;\"")
        );
    }
}
