//! The table as text: tests and fits, then times.

use std::fmt::Write;

use super::{DiagxtrmResult, Entry, NoCurve, TraceRow};
use crate::count;
use crate::style::Style;
use crate::table::Table;

/// The text of an empty cell.
const NONE: &str = "-";

impl DiagxtrmResult {
    /// Returns the text for people.
    pub fn text(&self, style: Style) -> String {
        let heading = format!(
            "{}, {}: extreme-value statistics of traces, ours of {} and the paper's\n\n",
            self.table,
            self.paper,
            count(self.runs as usize, "run")
        );
        let mut text = style.fill(&style.strong(&heading));
        let columns = ["TB", "L1", "", "p_KPSS", "p_BDS", "p_EI", "u", "k", "p", "xi", "against"];
        text.push_str(&self.table(columns, &[2, 10], tests).render(0, style.width));
        text.push('\n');
        let columns = ["TB", "L1", "", "shortest", "longest", "GPD 1e-9", "a", "upper", "Gumbel", "a"];
        text.push_str(&self.table(columns, &[2], times).render(0, style.width));
        text.push_str(&style.fill(&self.without_curves()));
        if !self.statements.is_empty() {
            text.push('\n');
        }
        for statement in &self.statements {
            let verdict = if statement.holds { "holds here" } else { "does not hold here" };
            let line =
                format!("\"{}\" ({}): {verdict}; {}\n", statement.claim, statement.place, statement.seen);
            text.push_str(&style.fill(&line));
        }
        text.push('\n');
        for note in &self.notes {
            text.push_str(&style.fill(&format!("note: {note}\n")));
        }
        if let Some(row) = self.rows.first() {
            let _ =
                writeln!(text, "\nto show one configuration with tests and plots, for example the first:");
            let _ = writeln!(text, "  {}", self.command(row));
        }
        text
    }

    /// Returns why there are no curves, with each reason once.
    fn without_curves(&self) -> String {
        let mut reasons: Vec<(String, Vec<String>)> = Vec::new();
        for row in &self.rows {
            let Some(why) = row.no_curve.map(|why| why.to_string()) else { continue };
            let name = format!("{} blocks {} %", row.blocks, row.l1_percent);
            match reasons.iter_mut().find(|(known, _)| *known == why) {
                Some((_, rows)) => rows.push(name),
                None => reasons.push((why, vec![name])),
            }
        }
        let line = |(why, rows): &(String, Vec<String>)| {
            let of = if rows.len() == self.rows.len() { "no curve".to_owned() } else { rows.join(", ") };
            format!("\n{of}: {why}\n")
        };
        reasons.iter().map(line).collect()
    }

    /// Returns a table with two lines for each configuration.
    fn table<const N: usize, const CELLS: usize>(
        &self,
        columns: [&str; N],
        words: &[usize],
        cells: fn(&TraceRow, Option<&Entry>, bool) -> [String; CELLS],
    ) -> Table {
        let mut table = Table::new(columns, words);
        for row in &self.rows {
            for (origin, entry) in [("ours", row.ours.as_ref()), ("paper", Some(&row.published))] {
                let ours = origin == "ours";
                let label = |of: String| if ours { of } else { String::new() };
                let first = [
                    label(row.blocks.to_string()),
                    label(format!("{} %", row.l1_percent)),
                    origin.to_owned(),
                ];
                table.row(first.into_iter().chain(cells(row, entry, ours)));
            }
        }
        table
    }

    fn command(&self, row: &TraceRow) -> String {
        let varied: Vec<String> = self.varied.iter().map(|varied| varied.name().to_owned()).collect();
        format!(
            "warpbound pwcet {} --machine {} --runs {} \\\n    --set '{}' \\\n    --random {}",
            row.launch,
            self.origin.machine,
            self.runs,
            super::split(row.l1_percent),
            varied.join(",")
        )
    }
}

fn number(value: Option<f64>, digits: usize) -> String {
    match value {
        None => NONE.to_owned(),
        Some(value) if value.abs() >= 1e7 => format!("{value:.1e}"),
        Some(value) => format!("{value:.digits$}"),
    }
}

/// Returns the cells from p_KPSS to xi, and the tests that reject in our results.
fn tests(row: &TraceRow, entry: Option<&Entry>, ours: bool) -> [String; 8] {
    let of = |value: fn(&Entry) -> Option<f64>, digits| number(entry.and_then(value), digits);
    let against = match (ours, entry, row.against.is_empty()) {
        (false, ..) => String::new(),
        (true, None, _) => row.no_curve.map_or("", NoCurve::word).to_owned(),
        (true, Some(_), true) => "nothing".to_owned(),
        (true, Some(_), false) => row.against.join(" "),
    };
    [
        of(|entry| Some(entry.kpss.0), 3),
        of(|entry| Some(entry.bds.0), 3),
        of(|entry| entry.extremal_index.map(|theta| theta.0), 3),
        of(|entry| Some(entry.threshold), 0),
        row.exceedances.filter(|_| ours).map_or_else(|| NONE.to_owned(), |above| above.to_string()),
        of(|entry| Some(entry.confidence.0), 2),
        of(|entry| Some(entry.xi.0), 2),
        against,
    ]
}

/// Returns the cells of the shortest and longest run, and of the times at 1e-9.
fn times(row: &TraceRow, entry: Option<&Entry>, ours: bool) -> [String; 7] {
    let of = |value: fn(&Entry) -> f64, digits| number(entry.map(value), digits);
    let (shortest, longest) = match ours {
        true => (row.shortest.to_string(), row.longest.to_string()),
        false => (NONE.to_owned(), of(|entry| entry.longest, 0)),
    };
    [
        shortest,
        longest,
        of(|entry| entry.best, 0),
        of(|entry| entry.best_overestimation.0, 3),
        number(row.upper_limit.filter(|_| ours), 0),
        of(|entry| entry.exponential, 0),
        of(|entry| entry.exponential_overestimation.0, 3),
    ]
}
