//! The code beside a timeline, with the cost of each line.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::about::About;
use super::recording::Recording;
use crate::html::{HtmlCell, HtmlColumn, HtmlTable, text};
use warpbound_core::base::Pc;
use warpbound_trace::trace::StallReason;

/// The number of lines shown before the first instruction and after the last.
const AROUND: u32 = 3;
/// The most lines that are shown.
const MOST: u32 = 20_000;

/// Returns the HTML of the lines with instructions and of the lines between them. A line with
/// instructions can be selected.
pub(super) fn listing(about: &About<'_>) -> String {
    let lines: Vec<u32> = (0..about.listing.texts().count())
        .map(|pc| about.listing.line(Pc::from_index(pc)))
        .filter(|line| *line > 0)
        .collect();
    let (Some(first), Some(last)) = (lines.iter().min(), lines.iter().max()) else {
        return "<p>The source has no lines.</p>".to_owned();
    };
    let count = about.code.text().lines().count() as u32;
    let from = first.saturating_sub(AROUND).max(1);
    let to = (last + AROUND).min(count).min(from.saturating_add(MOST));
    let mut html = String::new();
    let _ = writeln!(
        html,
        "<div class=\"code\" id=\"code\" role=\"listbox\" tabindex=\"0\" aria-label=\"Source, {}\">",
        text(about.code.name())
    );
    for line in from..=to {
        let has = lines.contains(&line);
        let option = if has {
            " role=\"option\" aria-selected=\"false\""
        } else {
            " class=\"other\" role=\"presentation\""
        };
        let _ = writeln!(
            html,
            "<div data-line=\"{line}\" id=\"line-{line}\"{option}><span class=\"number\">{line}</span>{}</div>",
            text(about.code.line(line))
        );
    }
    html.push_str("</div>\n");
    html
}

/// Returns the table of cycles without an issue, by the line that waited.
pub(super) fn stalls(recording: &Recording, about: &About<'_>) -> HtmlTable {
    let mut lines: BTreeMap<u32, (u64, [u64; StallReason::ALL.len()])> = BTreeMap::new();
    let line = |pc: u32| about.listing.line(Pc::from_index(pc as usize));
    for instruction in recording.rows.iter().flat_map(|row| &row.instructions) {
        lines.entry(line(instruction.pc)).or_default().0 += 1;
    }
    for gap in recording.gaps.iter().flatten() {
        let at = gap.waiting.map_or(0, |(_, pc)| line(pc));
        lines.entry(at).or_default().1[usize::from(gap.reason)] += gap.to - gap.from;
    }
    let used = |reason: &&StallReason| lines.values().any(|(_, cycles)| cycles[reason.index()] > 0);
    let reasons: Vec<&StallReason> = StallReason::ALL.iter().filter(used).collect();
    let mut columns = vec![
        HtmlColumn::numbers("line", "of the source"),
        HtmlColumn::words("text"),
        HtmlColumn::numbers("issues", "warp instructions"),
        HtmlColumn::numbers("lost", "cycles in which a sub-core issued nothing and this line waited"),
    ];
    columns.extend(reasons.iter().map(|reason| HtmlColumn::numbers(reason.name(), "cycles")));
    let mut all: Vec<_> = lines.iter().collect();
    all.sort_by_key(|(line, (_, cycles))| (std::cmp::Reverse(cycles.iter().sum::<u64>()), **line));
    let rows = all.into_iter().map(|(line, (issues, cycles))| {
        let known = *line > 0;
        let mut row = vec![
            if known { HtmlCell::Count(u64::from(*line)) } else { HtmlCell::Empty },
            HtmlCell::Text(if known {
                short(about.code.line(*line))
            } else {
                "(no instruction left)".to_owned()
            }),
            HtmlCell::Count(*issues),
            HtmlCell::Count(cycles.iter().sum()),
        ];
        row.extend(reasons.iter().map(|reason| match cycles[reason.index()] {
            0 => HtmlCell::Empty,
            lost => HtmlCell::Count(lost),
        }));
        row
    });
    let caption = "Stalls by line: cycles without an issue, by the line whose instruction waited".to_owned();
    HtmlTable { id: "stalls-table".into(), caption, rows: rows.collect(), columns }
}

fn short(line: &str) -> String {
    const SHOWN: usize = 60;
    let words = line.split_whitespace().collect::<Vec<_>>().join(" ");
    match words.char_indices().nth(SHOWN) {
        None => words,
        Some((end, _)) => format!("{}…", &words[..end]),
    }
}
