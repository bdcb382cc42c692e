//! HTML for critical paths and for the difference of two.

use std::fmt::Write;

use super::beside::BoundOfRun;
use super::diff::DiffResult;
use super::explain::Explained;
use super::html::{HtmlCell, HtmlColumn, HtmlTable, text};
use super::source_line::SourceLine;
use warpbound_trace::why::Kind;

/// The most rows by instruction; the others are summed up.
const MAX_ROWS: usize = 500;

fn table(id: &str, caption: &str, columns: Vec<HtmlColumn>, rows: Vec<Vec<HtmlCell>>) -> String {
    HtmlTable { id: id.to_owned().into(), caption: caption.to_owned(), columns, rows }.render()
}

fn line(place: Option<&SourceLine>) -> HtmlCell {
    place.map_or(HtmlCell::Empty, |place| HtmlCell::Count(u64::from(place.line)))
}

fn code(place: Option<&SourceLine>) -> HtmlCell {
    place.map_or(HtmlCell::Empty, |place| HtmlCell::Text(place.text.clone()))
}

/// Returns the columns of the place of an instruction.
fn code_columns(with_source: bool) -> Vec<HtmlColumn> {
    let mut columns = vec![HtmlColumn::numbers("line", ""), HtmlColumn::words("text")];
    columns.extend(with_source.then(|| HtmlColumn::words("source")));
    columns
}

/// Returns the cell of the line that the code was made from, if some row has one.
fn source(place: Option<&SourceLine>, some: bool) -> Option<HtmlCell> {
    let from = place.and_then(|place| place.source.as_ref());
    some.then(|| from.map_or(HtmlCell::Empty, |from| HtmlCell::Text(from.shown())))
}

/// Returns whether the line that the code was made from is known for some place.
fn some_source<'a>(mut places: impl Iterator<Item = &'a Option<SourceLine>>) -> bool {
    places.any(|place| place.as_ref().is_some_and(|place| place.source.is_some()))
}

/// Returns the HTML for a critical path. The ids of its tables end with `id`, so that a page can
/// hold several paths.
pub fn path(explained: &Explained, id: &str) -> String {
    let of_sm =
        if explained.sms > 1 { format!(" of SM {}, which ends last", explained.sm) } else { String::new() };
    let mut html = format!(
        "<p>The cause of each of the {} cycles{of_sm}: a chain from the last result back to cycle 0, in which each cause \
         ends in the cycle in which its effect begins.</p>\n",
        explained.makespan
    );
    let kinds = explained.kinds.iter().map(|row| {
        vec![
            HtmlCell::Text(row.kind.name().to_owned()),
            HtmlCell::Count(row.cycles),
            HtmlCell::Percent(row.share.0),
            HtmlCell::Count(row.links),
            HtmlCell::Text(row.kind.meaning().to_owned()),
        ]
    });
    let columns = vec![
        HtmlColumn::words("kind"),
        HtmlColumn::numbers("cycles", ""),
        HtmlColumn::numbers("share", "of the makespan"),
        HtmlColumn::numbers("times", "links of the path"),
        HtmlColumn::words("in these cycles"),
    ];
    html.push_str(&table(&format!("kinds-table{id}"), "The critical path by kind", columns, kinds.collect()));
    html.extend(explained.bound.iter().map(|bound| beside(bound, &explained.cycles_of_kinds(), id)));
    let with_source = some_source(explained.lines.iter().map(|row| &row.instruction));
    let lines = explained.lines.iter().take(MAX_ROWS).map(|row| {
        let place = row.instruction.as_ref();
        let mut cells = vec![line(place), code(place)];
        cells.extend(source(place, with_source));
        cells.extend([
            HtmlCell::Text(row.kind.name().to_owned()),
            HtmlCell::Count(row.cycles),
            HtmlCell::Percent(row.share.0),
            HtmlCell::Count(row.links),
        ]);
        cells
    });
    let mut columns = code_columns(with_source);
    columns.extend([
        HtmlColumn::words("kind"),
        HtmlColumn::numbers("cycles", ""),
        HtmlColumn::numbers("share", "of the makespan"),
        HtmlColumn::numbers("times", "links of the path"),
    ]);
    let caption = "The critical path by instruction, the longest first";
    html.push_str(&table(&format!("path-table{id}"), caption, columns, lines.collect()));
    let rest: u64 = explained.lines.iter().skip(MAX_ROWS).map(|row| row.cycles).sum();
    if rest > 0 {
        let _ = writeln!(
            html,
            "<p>Smaller rows have {rest} more cycles; <code>--format json</code> lists all.</p>"
        );
    }
    for barrier in &explained.barriers {
        let _ = writeln!(
            html,
            "<p>The path passes the barrier of line {} <code>{}</code> {} times; from the first arrival to the release \
             {:.1} cycles on average.</p>",
            barrier.instruction.line,
            text(&barrier.instruction.text),
            barrier.releases,
            barrier.average()
        );
    }
    html
}

/// Returns the HTML for the run beside its smallest proved bound.
fn beside(bound: &BoundOfRun, kinds: &[(Kind, u64)], id: &str) -> String {
    let columns = vec![
        HtmlColumn::words("cycles of"),
        HtmlColumn::numbers("run", "cycles of the critical path"),
        HtmlColumn::numbers("bound", "cycles of the bound"),
        HtmlColumn::numbers("difference", "bound - run"),
        HtmlColumn::words("parts of the bound"),
        HtmlColumn::words("kinds in the run"),
    ];
    let rows = bound.beside(kinds).into_iter().map(|row| {
        vec![
            HtmlCell::Text(row.cause.to_owned()),
            HtmlCell::Count(row.run),
            HtmlCell::Count(row.bound),
            HtmlCell::Signed(row.over()),
            HtmlCell::Text(row.parts),
            HtmlCell::Text(row.kinds),
        ]
    });
    let caption = format!("The run beside the bound {} of {} cycles", bound.name, bound.cycles);
    table(&format!("beside-table{id}"), &caption, columns, rows.collect())
}

/// Returns the HTML for the difference of two runs.
pub fn difference(diff: &DiffResult, id: &str) -> String {
    let mut html = String::new();
    for reason in &diff.reasons {
        let _ = writeln!(html, "<p>{}</p>", text(reason));
    }
    let numbers = || {
        [("A", diff.a.given.as_str()), ("B", diff.b.given.as_str()), ("B - A", "")]
            .map(|(title, hint)| HtmlColumn::numbers(title, hint))
    };
    let cells = |a, b, difference| [HtmlCell::Count(a), HtmlCell::Count(b), HtmlCell::Signed(difference)];
    let kinds = diff.kinds.iter().map(|row| {
        [HtmlCell::Text(row.kind.name().to_owned())]
            .into_iter()
            .chain(cells(row.a, row.b, row.difference))
            .chain([HtmlCell::Text(row.kind.meaning().to_owned())])
            .collect()
    });
    let columns = [HtmlColumn::words("kind")].into_iter().chain(numbers());
    let columns = columns.chain([HtmlColumn::words("in these cycles")]).collect();
    html.push_str(&table(
        &format!("kind-differences{id}"),
        "Both critical paths by kind",
        columns,
        kinds.collect(),
    ));
    let with_source = some_source(diff.lines.iter().map(|row| &row.instruction));
    let lines = diff.lines.iter().take(MAX_ROWS).map(|row| {
        let place = row.instruction.as_ref();
        let places = [line(place), code(place)].into_iter().chain(source(place, with_source));
        places.chain(cells(row.a, row.b, row.difference)).collect()
    });
    let columns = code_columns(with_source).into_iter().chain(numbers()).collect();
    let caption = "Both critical paths by instruction, the largest difference first";
    html.push_str(&table(&format!("line-differences{id}"), caption, columns, lines.collect()));
    html
}
