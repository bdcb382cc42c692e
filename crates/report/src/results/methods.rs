//! The section of the page that compares the methods of `wcet` for a kernel.

use std::fmt::Write;

use super::figure::{Plot, file_name};
use crate::count;
use crate::html::{HtmlCell, HtmlColumn, HtmlTable, grouped, text};
use crate::plot::{BarPlot, BarRow, themed};
use crate::wcet::{About, MethodRow, WcetResult};

/// The kinds of methods, in the order of the legend.
const KINDS: [(About, &str); 6] = [
    (About::Runs, "runs"),
    (About::Paths, "their paths"),
    (About::PathsUnproved, "unproved"),
    (About::Estimate, "estimate"),
    (About::All, "all inputs"),
    (About::PathsUnderPolicy, "one policy"),
];

/// Returns the verdict on the proved bounds: what is violated, or that nothing is.
pub fn verdict(cases: &[WcetResult]) -> String {
    if cases.is_empty() {
        return String::new();
    }
    let violated: Vec<&str> =
        cases.iter().filter(|case| case.is_violated()).map(|case| case.kernel.as_str()).collect();
    let undershoots = |case: &&WcetResult| case.methods.iter().any(|row| row.undershoots);
    let low = cases.iter().filter(undershoots).count();
    let of = format!("{low} of {}", count(cases.len(), "worst case"));
    if violated.is_empty() {
        format!(
            "<div class=\"calm\">No run takes longer than a proved bound; a method is below the longest run in {of}.</div>\n"
        )
    } else {
        format!(
            "<div class=\"alarm\" role=\"alert\"><h3>A run takes longer than a proved bound</h3><p>{}</p></div>\n",
            text(&violated.join(", "))
        )
    }
}

/// Returns the section of one kernel.
pub fn section(case: &WcetResult, id: &str) -> String {
    let mut html = format!(
        "<p>{} under {}. The shortest run took {} cycles.</p>\n",
        count(usize::try_from(case.runs).unwrap_or(usize::MAX), "input"),
        text(&case.policies.join(", ")),
        grouped(case.shortest)
    );
    for bound in &case.loop_bounds {
        let _ = writeln!(
            html,
            "<p class=\"note\">The loop of line {} goes back at most {} times, as the user stated.</p>",
            bound.line, bound.most
        );
    }
    let plot = plot(case);
    let _ = writeln!(
        html,
        "<div class=\"plots\">\n<figure><h3>{}</h3>\n{}<figcaption>{}</figcaption></figure>\n</div>",
        text(&plot.title),
        themed(&plot.svg, &plot.title),
        text(&plot.note)
    );
    html.push_str(&table(case, id).render());
    html
}

/// Returns a plot of every method that has a value, relative to the longest run.
pub fn plot(case: &WcetResult) -> Plot {
    let known = || case.methods.iter().filter_map(|row| Some((row, row.overestimation?.0)));
    let rows = known().map(|(row, over)| BarRow {
        name: row.name.to_string(),
        bar: Some((colour(row.about), over)),
        dots: Vec::new(),
    });
    let shown = |about: About| known().any(|(row, _)| row.about == about);
    let legend = KINDS.iter().filter(|(about, _)| shown(*about));
    let plot = BarPlot {
        x_title: "over the longest run".to_owned(),
        rows: rows.collect(),
        legend: legend.map(|(about, name)| ((*name).to_owned(), colour(*about))).collect(),
        is_overestimation: true,
        notes: Vec::new(),
    };
    Plot {
        name: file_name(&["wcet", &case.kernel, &case.origin.machine]),
        title: format!("The value of each method for {}", case.kernel),
        note: "Relative to the longest simulated run; logarithmic scale. A bar to the left is a value below the longest \
               run. The colour shows what the value holds for."
            .to_owned(),
        svg: plot.svg(),
    }
}

fn colour(about: About) -> usize {
    KINDS.iter().position(|(known, _)| *known == about).unwrap_or(0)
}

fn table(case: &WcetResult, id: &str) -> HtmlTable {
    let columns = vec![
        HtmlColumn::words("method"),
        HtmlColumn::numbers("cycles", ""),
        HtmlColumn::numbers("overestimation", "(value - longest run) / longest run"),
        HtmlColumn::words("holds for"),
        HtmlColumn::words("below the longest run"),
        HtmlColumn::words("more"),
    ];
    let row = |row: &MethodRow| {
        let proved = row.about.is_proved();
        let mut notes: Vec<String> = row.seed.map(|seed| format!("seed {seed}")).into_iter().collect();
        notes.extend(row.note.clone());
        vec![
            HtmlCell::Text(row.name.to_string()),
            row.value.map_or(HtmlCell::Empty, HtmlCell::Count),
            row.overestimation.map_or(HtmlCell::Empty, |over| HtmlCell::Percent(over.0)),
            HtmlCell::Text(row.holds_for()),
            match (row.undershoots, proved) {
                (true, true) => HtmlCell::Bad("violated".to_owned()),
                (true, false) => HtmlCell::Bad("undershoots".to_owned()),
                _ => HtmlCell::Empty,
            },
            HtmlCell::Text(notes.join(", ")),
        ]
    };
    HtmlTable {
        id: format!("{id}-table").into(),
        caption: "One method beside the other".to_owned(),
        columns,
        rows: case.methods.iter().map(row).collect(),
    }
}
