//! The analysis as a page.

use std::fmt::Write;

use super::PwcetResult;
use super::judged::{EXCEEDED, Judged};
use super::plots::Plot;
use crate::count;
use crate::html::{HtmlCell, HtmlColumn, HtmlTable, Page, Section, grouped, text};
use crate::plot::themed;

impl PwcetResult {
    /// Returns a page with tables and plots.
    pub fn page(&self) -> Page {
        let section =
            |id: &'static str, title: &str, body| Section { id: id.into(), title: title.to_owned(), body };
        let plots = self.plots();
        let figures = |which: std::ops::Range<usize>| {
            let inside: String = plots[which].iter().map(figure).collect();
            format!("<div class=\"plots\">\n{inside}</div>\n")
        };
        let mut sections = vec![
            section("summary", "Summary", self.summary()),
            section(
                "pwcet",
                "pWCET",
                figures(0..1) + &self.times_table().render() + &lines(&self.accuracy()),
            ),
        ];
        if let Some(judged) = &self.judged {
            sections.push(section("judged", "Does it hold?", self.judged_section(judged)));
        }
        sections.extend([
            section("tests", "Tests", self.tests_table().render() + &figures(1..3)),
            section(
                "tail",
                "The tail",
                lines(&[self.threshold()]) + &self.fits_table().render() + &figures(3..plots.len()),
            ),
        ]);
        Page {
            title: "Times that runs exceed with a small probability".to_owned(),
            subtitle: self.measured.title(),
            sections,
            ..Page::default()
        }
    }

    fn judged_section(&self, judged: &Judged) -> String {
        let class = if judged.is_contradicted() { "alarm" } else { "calm" };
        let mut html = format!("<div class=\"{class}\"><p>{}.</p></div>\n", text(&self.verdict(judged)));
        let _ = writeln!(
            html,
            "<p>{} from number {} on; the longest took {} (number {}).</p>",
            count(usize::try_from(judged.runs).unwrap_or(usize::MAX), "further run"),
            judged.from,
            grouped(judged.longest),
            judged.longest_run
        );
        let rows = self.exceeded_rows(judged).into_iter().map(|row| row.map(HtmlCell::Text).to_vec());
        html.push_str(
            &table(
                "exceeded",
                "Further runs against the curve and the upper limit of its interval",
                &EXCEEDED,
                rows.collect(),
            )
            .render(),
        );
        let columns = ["method", &self.unit, "pWCET over it", "holds for"];
        let rows = self.other_rows(judged).into_iter().map(|row| row.map(HtmlCell::Text).to_vec());
        html.push_str(
            &table("others", "Other methods beside the pWCET at 1e-9", &columns, rows.collect()).render(),
        );
        html
    }

    fn summary(&self) -> String {
        let decision = self.decision();
        let class = if self.analysis.decision.reliable { "calm" } else { "alarm" };
        let mut html = format!("<p>{}.</p>\n", text(&self.about()));
        let (first, more) =
            decision.split_first().map_or(("", &[][..]), |(first, more)| (first.as_str(), more));
        let _ = writeln!(html, "<div class=\"{class}\"><p>{}.</p></div>", text(first));
        html.push_str(&lines(more));
        if let Some(judged) = &self.judged {
            html.push_str(&lines(&[self.verdict(judged)]));
        }
        html.push_str(
            "<p class=\"note\">The curve is based on the measured runs. An input, a machine state or a concurrent \
             workload that occurred in no run is not represented in the tail. The curve is not a bound.</p>\n",
        );
        html
    }

    fn tests_table(&self) -> HtmlTable {
        let rows = self.tests().into_iter().map(|row| {
            vec![
                HtmlCell::Text(row.name),
                HtmlCell::Text(row.statistic),
                HtmlCell::Text(row.critical),
                HtmlCell::Text(row.p_value),
                match row.passed {
                    None => HtmlCell::Empty,
                    Some(true) => HtmlCell::Text("kept".to_owned()),
                    Some(false) => HtmlCell::Bad("rejected".to_owned()),
                },
                HtmlCell::Text(row.asks.to_owned()),
            ]
        });
        let columns = ["test", "statistic", "critical", "p-value", "", "what it asks"];
        table("tests", "Whether the theory applies", &columns, rows.collect())
    }

    fn fits_table(&self) -> HtmlTable {
        let columns = ["fit", "xi", "interval", "alpha", "interval"];
        let rows = self.fits().into_iter().map(|row| row.map(HtmlCell::Text).to_vec());
        table(
            "fits",
            "Fits above the threshold; those by L-moments and of block maxima for comparison",
            &columns,
            rows.collect(),
        )
    }

    fn times_table(&self) -> HtmlTable {
        let columns = ["exceeded with", &self.unit, "interval", "exponential", "the sample"];
        let rows = self.times().into_iter().map(|row| row.map(HtmlCell::Text).to_vec());
        table("times", "Times against probabilities of a run", &columns, rows.collect())
    }
}

fn table(id: &str, caption: &str, columns: &[&str], rows: Vec<Vec<HtmlCell>>) -> HtmlTable {
    HtmlTable {
        id: format!("{id}-table").into(),
        caption: caption.to_owned(),
        columns: columns.iter().map(|name| HtmlColumn::words(name)).collect(),
        rows,
    }
}

pub(super) fn lines(lines: &[String]) -> String {
    lines.iter().map(|line| format!("<p>{}.</p>\n", text(line))).collect()
}

pub(super) fn figure(plot: &Plot) -> String {
    format!(
        "<figure><h3>{}</h3>\n{}<figcaption>{}</figcaption></figure>\n",
        text(plot.title),
        themed(&plot.svg, plot.title),
        text(plot.note)
    )
}
