//! The code beside a timeline, the source files that it was made from, and the cost of each line.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::about::About;
use super::recording::Recording;
use crate::html::{HtmlCell, HtmlColumn, HtmlTable, text};
use warpbound_core::base::Pc;
use warpbound_core::diag::SourceText;
use warpbound_trace::trace::StallReason;

/// The number of lines shown before the first instruction and after the last.
const AROUND: u32 = 3;
/// The most lines that are shown.
const MOST: u32 = 20_000;
/// The most lines without an instruction that a source file shows in a row.
const MOST_BETWEEN: u32 = 12;

/// Returns the last part of the name of the code's file.
pub(super) fn code_label<'a>(about: &About<'a>) -> &'a str {
    about.code.name().rsplit('/').next().unwrap_or_default()
}

/// Returns the HTML of the lines with instructions and of the lines between them. A line with
/// instructions can be selected.
pub(super) fn listing(about: &About<'_>) -> String {
    let lines: BTreeSet<u32> = (0..about.listing.texts().count())
        .map(|pc| about.listing.line(Pc::from_index(pc)))
        .filter(|line| *line > 0)
        .collect();
    let (Some(first), Some(last)) = (lines.first(), lines.last()) else {
        return "<p>The source has no lines.</p>".to_owned();
    };
    let count = about.code.text().lines().count() as u32;
    let from = first.saturating_sub(AROUND).max(1);
    let to = (last + AROUND).min(count).min(from.saturating_add(MOST));
    let mut html = begin("code", about.code.name());
    for number in from..=to {
        line(&mut html, &format!("line-{number}"), number, about.code.line(number), lines.contains(&number));
    }
    html.push_str("</div>\n");
    html
}

/// Returns the HTML of the source files, as far as instructions were made from them.
pub(super) fn sources(about: &About<'_>) -> String {
    let mut lines = vec![BTreeSet::new(); about.sources.files.len()];
    for (file, line) in about.sources.places.iter().flatten() {
        lines[*file].insert(*line);
    }
    let labels = about.sources.labels();
    let mut html = begin("origin", &labels.join(", "));
    for (index, (file, lines)) in about.sources.files.iter().zip(&lines).enumerate() {
        let found = file.found.as_ref().map(|(_, source)| source);
        let note =
            if found.is_some() { "" } else { " (not found; the page shows it if it is beside the PTX)" };
        if about.sources.files.len() > 1 || found.is_none() {
            let (name, title) = (text(&labels[index]), text(&file.name));
            let _ = writeln!(
                html,
                "<div class=\"file\" role=\"presentation\" title=\"{title}\">{name}{note}</div>"
            );
        }
        file_lines(&mut html, index, lines, found);
    }
    html.push_str("</div>\n");
    html
}

/// Writes the lines of a source file that have instructions, and those around them.
fn file_lines(html: &mut String, file: usize, lines: &BTreeSet<u32>, found: Option<&SourceText>) {
    let count = found.map_or(0, |source| source.text().lines().count() as u32);
    let mut next = lines.first().map_or(1, |first| first.saturating_sub(AROUND).max(1));
    for number in lines.iter().take(MOST as usize).copied() {
        if number - next > MOST_BETWEEN {
            html.push_str(
                "<div class=\"other\" role=\"presentation\"><span class=\"number\">\u{22ee}</span></div>\n",
            );
            next = number - AROUND;
        }
        let between = if found.is_some() { next..number } else { number..number };
        for other in between {
            line(html, "", other, found.map_or("", |source| source.line(other)), false);
        }
        let shown = found.map_or("", |source| source.line(number));
        line(html, &format!("origin-{file}-{number}"), number, shown, true);
        next = number + 1;
    }
    for other in next..=(next + AROUND - 1).min(count) {
        line(html, "", other, found.map_or("", |source| source.line(other)), false);
    }
}

/// Returns the start of a list of lines, one of which can be selected.
fn begin(id: &str, name: &str) -> String {
    let name = text(name);
    format!(
        "<div class=\"code\" id=\"{id}\" role=\"listbox\" tabindex=\"0\" aria-label=\"Source, {name}\">\n"
    )
}

/// Writes a line; one with instructions can be selected.
fn line(html: &mut String, id: &str, number: u32, shown: &str, has_instructions: bool) {
    let option = if has_instructions {
        format!(" id=\"{id}\" role=\"option\" aria-selected=\"false\"")
    } else {
        " class=\"other\" role=\"presentation\"".to_owned()
    };
    let _ = writeln!(
        html,
        "<div data-line=\"{number}\"{option}><span class=\"number\">{number}</span>{}</div>",
        text(shown)
    );
}

/// The cycles of a line: its issues, and the cycles without an issue by reason.
#[derive(Clone, Debug, Default)]
struct OfLine {
    issues: u64,
    lost: [u64; StallReason::ALL.len()],
}

/// Returns the cycles by the line of each instruction. Cycles in which no warp had an instruction
/// left belong to no line.
fn by_line<L: Ord>(recording: &Recording, line: impl Fn(u32) -> Option<L>) -> BTreeMap<Option<L>, OfLine> {
    let mut lines: BTreeMap<Option<L>, OfLine> = BTreeMap::new();
    for sm in recording.sms() {
        for instruction in sm.instructions() {
            lines.entry(line(instruction.pc)).or_default().issues += 1;
        }
        for gap in sm.gaps.iter().flatten() {
            let at = gap.waiting.and_then(|(_, pc)| line(pc));
            lines.entry(at).or_default().lost[usize::from(gap.reason)] += gap.to - gap.from;
        }
    }
    lines
}

/// Returns a table of cycles without an issue, by the line that waited. `leading` gives the cells
/// that name a line, and its text.
fn table<L: Ord>(
    (id, caption): (&'static str, String),
    mut columns: Vec<HtmlColumn>,
    lines: BTreeMap<Option<L>, OfLine>,
    leading: impl Fn(Option<&L>) -> (Vec<HtmlCell>, String),
) -> HtmlTable {
    let used = |reason: &&StallReason| lines.values().any(|of| of.lost[reason.index()] > 0);
    let reasons: Vec<&StallReason> = StallReason::ALL.iter().filter(used).collect();
    columns.push(HtmlColumn::numbers("issues", "warp instructions"));
    columns
        .push(HtmlColumn::numbers("lost", "cycles in which a sub-core issued nothing and this line waited"));
    columns.push(HtmlColumn::words("text"));
    columns.extend(reasons.iter().map(|reason| HtmlColumn::numbers(reason.name(), "cycles")));
    let mut all: Vec<_> = lines.iter().collect();
    all.sort_by_key(|(_, of)| std::cmp::Reverse(of.lost.iter().sum::<u64>()));
    let rows = all.into_iter().map(|(line, of)| {
        let (mut row, text) = leading(line.as_ref());
        row.extend([
            HtmlCell::Count(of.issues),
            HtmlCell::Count(of.lost.iter().sum()),
            HtmlCell::Text(short(&text)),
        ]);
        row.extend(reasons.iter().map(|reason| match of.lost[reason.index()] {
            0 => HtmlCell::Empty,
            lost => HtmlCell::Count(lost),
        }));
        row
    });
    HtmlTable { id: id.into(), caption, rows: rows.collect(), columns }
}

/// Returns the table of cycles without an issue, by the line of the code that waited. `of` says
/// which SMs it covers.
pub(super) fn stalls(recording: &Recording, about: &About<'_>, of: &str) -> HtmlTable {
    let lines = by_line(recording, |pc| match about.listing.line(Pc::from_index(pc as usize)) {
        0 => None,
        line => Some(line),
    });
    let caption = format!("Stalls by line of {}{of}: cycles without an issue", code_label(about));
    let columns = vec![HtmlColumn::numbers("line", "of the code")];
    table(("stalls-table", caption), columns, lines, |line| match line {
        Some(line) => (vec![HtmlCell::Count(u64::from(*line))], about.code.line(*line).to_owned()),
        None => (vec![HtmlCell::Empty], "(no instruction left)".to_owned()),
    })
}

/// Returns the table of cycles without an issue, by the line of a source file that waited.
pub(super) fn stalls_of_sources(recording: &Recording, about: &About<'_>, of: &str) -> HtmlTable {
    let labels = about.sources.labels();
    let lines = by_line(recording, |pc| about.sources.places.get(pc as usize).copied().flatten());
    let several = labels.len() > 1;
    let caption = match labels.as_slice() {
        [one] => format!("Stalls by line of {one}{of}: cycles without an issue"),
        _ => format!("Stalls by line of the sources{of}: cycles without an issue"),
    };
    let mut columns = vec![HtmlColumn::numbers("line", "of the source")];
    columns.extend(several.then(|| HtmlColumn::words("file")));
    table(("origin-stalls-table", caption), columns, lines, |line| {
        let mut cells = vec![line.map_or(HtmlCell::Empty, |(_, line)| HtmlCell::Count(u64::from(*line)))];
        let file = line.map_or(String::new(), |(file, _)| labels[*file].clone());
        cells.extend(several.then_some(HtmlCell::Text(file)));
        let Some((file, line)) = line else {
            return (cells, "(no instruction left, or no line known)".to_owned());
        };
        let found = about.sources.files[*file].found.as_ref();
        (cells, found.map_or("", |(_, source)| source.line(*line)).to_owned())
    })
}

fn short(line: &str) -> String {
    const SHOWN: usize = 60;
    let words = line.split_whitespace().collect::<Vec<_>>().join(" ");
    match words.char_indices().nth(SHOWN) {
        None => words,
        Some((end, _)) => format!("{}…", &words[..end]),
    }
}
