//! Tables with aligned columns that fit the terminal.

use std::borrow::Cow;

use super::grouped;
use super::style::char_width;

/// The mark at the end of a word that was cut.
const CUT: &str = "..";
/// The least widths to which a column of words and a heading are cut.
const LEAST_WORDS: usize = 12;
const LEAST_HEADING: usize = 14;
/// The headings of columns whose numbers name something and are no quantities.
const NAMED_BY_NUMBER: [&str; 6] = ["line", "seed", "launch", "block", "warp", "rep"];
/// The number of spaces between columns.
const GAP: usize = 2;

/// A table under construction: a heading and rows of cells.
#[derive(Clone, Debug, Default)]
pub struct Table {
    rows: Vec<Vec<String>>,
    /// The rows that are one text across all columns.
    across: Vec<usize>,
    /// The columns aligned to the left; the others hold numbers and are aligned to the right.
    left: Vec<usize>,
    /// The columns that are dropped first if the table is too wide, the least important one first.
    expendable: Vec<usize>,
    /// The columns of words that are not cut as long as other columns can be dropped.
    uncut: Vec<usize>,
}

impl Table {
    /// Returns a table with this heading; the columns in `left` hold words.
    pub fn new<S: Into<String>>(heading: impl IntoIterator<Item = S>, left: &[usize]) -> Self {
        let rows = vec![heading.into_iter().map(Into::into).collect()];
        Self { rows, left: left.to_vec(), ..Self::default() }
    }

    /// Sets the columns that are dropped first if the table is too wide, the least important one
    /// first. The others are then dropped from the right; the first column always stays.
    #[must_use]
    pub fn expendable(mut self, columns: impl IntoIterator<Item = usize>) -> Self {
        self.expendable = columns.into_iter().collect();
        self
    }

    /// Sets the columns of words that are not cut as long as other columns can be dropped.
    #[must_use]
    pub fn uncut(mut self, columns: &[usize]) -> Self {
        self.uncut = columns.to_vec();
        self
    }

    /// Appends a row. In the columns of numbers, digits are grouped by three, except for numbers
    /// that name something.
    pub fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        let cells = cells.into_iter().map(Into::into).enumerate();
        let row = cells.map(|(column, cell)| self.shown(column, cell)).collect();
        self.rows.push(row);
    }

    /// Appends a text across all columns, as the heading of the rows that follow.
    pub fn across(&mut self, text: impl Into<String>) {
        self.across.push(self.rows.len());
        self.rows.push(vec![text.into()]);
    }

    /// Returns the text of a cell.
    fn shown(&self, column: usize, cell: String) -> String {
        let heading = self.rows.first().and_then(|heading| heading.get(column));
        let names = || heading.is_some_and(|heading| NAMED_BY_NUMBER.contains(&heading.as_str()));
        let digits = cell.trim_start_matches(['+', '-']);
        if self.left.contains(&column) || !digits.bytes().all(|byte| byte.is_ascii_digit()) || names() {
            return cell;
        }
        let sign = &cell[..cell.len() - digits.len()];
        digits.parse().map_or_else(|_| cell.clone(), |number| format!("{sign}{}", grouped(number)))
    }

    /// Returns whether the table has no row below its heading.
    pub fn is_empty(&self) -> bool {
        self.rows.len() < 2
    }

    /// Returns the text, with each line indented by `indent` spaces.
    ///
    /// If the table is wider than `width` characters, words continue on further lines of their row;
    /// then columns are dropped, and a line at the end names them. Words of the first column, which
    /// names the row, are cut.
    pub fn render(&self, indent: usize, width: Option<usize>) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let available = width.map_or(usize::MAX, |width| width.saturating_sub(indent));
        let mut shown: Vec<usize> = (0..columns).collect();
        let mut widths = self.fitted(&shown, available);
        while shown.len() > 1 && total(&widths, &shown) > available {
            let expendable = self.expendable.iter().find(|column| shown.contains(column) && **column > 0);
            let dropped = expendable.copied().unwrap_or(shown[shown.len() - 1]);
            shown.retain(|column| *column != dropped);
            widths = self.fitted(&shown, available);
        }
        if let [only] = shown[..] {
            widths[only] = widths[only].min(available.max(CUT.len()));
        }
        let mut text = String::new();
        for (index, row) in self.rows.iter().enumerate() {
            if self.across.contains(&index) {
                text.push_str(&lines_of(&row[0], indent, width));
                continue;
            }
            let mut rest: Vec<&str> = row.iter().map(String::as_str).collect();
            while let Some(next) = self.line(&rest, &shown, &widths, indent, &mut text) {
                rest = next;
            }
        }
        text + &self.left_out(&shown, indent, width)
    }

    /// Returns the cells of a column, each with the index of its row.
    fn cells(&self, column: usize) -> impl Iterator<Item = (usize, &String)> {
        let rows = self.rows.iter().enumerate().filter(|(index, _)| !self.across.contains(index));
        rows.filter_map(move |(index, row)| Some((index, row.get(column)?)))
    }

    fn natural(&self, column: usize) -> usize {
        self.cells(column).map(|(_, cell)| char_width(cell)).max().unwrap_or(0)
    }

    /// Returns the least width of a column: words can be cut, numbers and coloured cells cannot.
    fn least(&self, column: usize) -> usize {
        if self.uncut.contains(&column) {
            return self.natural(column);
        }
        let words = self.left.contains(&column);
        let least = self.cells(column).map(|(index, cell)| match (index, words) {
            (0, _) => char_width(cell).min(LEAST_HEADING),
            (_, true) if !cell.contains('\x1b') => char_width(cell).min(LEAST_WORDS),
            _ => char_width(cell),
        });
        least.max().unwrap_or(0)
    }

    /// Returns the width of each column. The widest columns that can be cut are narrowed until all
    /// that are shown fit, or nothing more can be cut.
    fn fitted(&self, shown: &[usize], available: usize) -> Vec<usize> {
        let columns = shown.last().map_or(0, |last| last + 1);
        let mut widths: Vec<usize> = (0..columns).map(|column| self.natural(column)).collect();
        let total = total(&widths, shown);
        if total <= available {
            return widths;
        }
        let least: Vec<usize> = (0..columns).map(|column| self.least(column)).collect();
        for _ in available..total {
            let shrinkable = shown.iter().copied().filter(|&column| widths[column] > least[column]);
            let Some(widest) = shrinkable.max_by_key(|&column| widths[column]) else { break };
            widths[widest] -= 1;
        }
        widths
    }

    /// Writes a line of a row. Returns the cells of its next line, if there is one.
    fn line<'a>(
        &self,
        row: &[&'a str],
        shown: &[usize],
        widths: &[usize],
        indent: usize,
        text: &mut String,
    ) -> Option<Vec<&'a str>> {
        let start = text.len();
        pad(text, indent);
        let mut next = vec![""; row.len()];
        for (place, &column) in shown.iter().enumerate() {
            let Some(&cell) = row.get(column) else { break };
            let left = self.left.contains(&column);
            let cell = if column > 0 && left && !cell.contains('\x1b') {
                let (first, rest) = first_words(cell, widths[column]);
                next[column] = rest;
                first.into()
            } else {
                cut(cell, widths[column])
            };
            pad(text, if place > 0 { GAP } else { 0 });
            let room = widths[column] - char_width(&cell);
            pad(text, if left { 0 } else { room });
            text.push_str(&cell);
            pad(text, if left { room } else { 0 });
        }
        text.truncate(start + text[start..].trim_end().len());
        text.push('\n');
        next.iter().any(|cell| !cell.is_empty()).then_some(next)
    }

    /// Returns the line that names the dropped columns.
    fn left_out(&self, shown: &[usize], indent: usize, width: Option<usize>) -> String {
        let heading = self.rows.first().map_or(&[][..], Vec::as_slice);
        let mut names: Vec<&str> = Vec::new();
        for (column, name) in heading.iter().enumerate() {
            if !shown.contains(&column) && !name.is_empty() && !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
        if names.is_empty() {
            return String::new();
        }
        lines_of(&format!("(no room for {})", names.join(", ")), indent, width)
    }
}

/// Returns the lines of a text, with each line indented by `indent` spaces.
fn lines_of(text: &str, indent: usize, width: Option<usize>) -> String {
    let available = width.map_or(usize::MAX, |width| width.saturating_sub(indent)).max(1);
    let mut lines = String::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (first, next) = first_words(rest, available);
        lines.push_str(&format!("{}{first}\n", " ".repeat(indent)));
        rest = next;
    }
    lines
}

/// Returns the number of characters of a row with these columns.
fn total(widths: &[usize], shown: &[usize]) -> usize {
    shown.iter().map(|&column| widths[column]).sum::<usize>() + GAP * shown.len().saturating_sub(1)
}

/// Splits a text in front of the first word that does not fit. A word that is too long by itself is
/// divided.
fn first_words(text: &str, width: usize) -> (&str, &str) {
    if char_width(text) <= width {
        return (text, "");
    }
    let fits = |end: &usize| char_width(text[..*end].trim_end()) <= width;
    let ends = text.match_indices(' ').map(|(at, _)| at).take_while(fits);
    let end = ends.last().filter(|end| !text[..*end].trim().is_empty()).unwrap_or_else(|| {
        text.char_indices()
            .map(|(at, _)| at)
            .take_while(fits)
            .last()
            .filter(|end| *end > 0)
            .unwrap_or(text.len())
    });
    (text[..end].trim_end(), text[end..].trim_start())
}

/// Returns the text, or its start with a mark if it does not fit.
fn cut(text: &str, width: usize) -> Cow<'_, str> {
    if char_width(text) <= width {
        return text.into();
    }
    let kept: String = text.chars().take(width.saturating_sub(CUT.len())).collect();
    (kept.trim_end().to_owned() + CUT).into()
}

/// Appends this many spaces.
fn pad(text: &mut String, mut count: usize) {
    const SPACES: &str = "                                ";
    while count > 0 {
        let some = count.min(SPACES.len());
        text.push_str(&SPACES[..some]);
        count -= some;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_do_not_disturb_the_columns() {
        let mut table = Table::new(["name", "n", "s"], &[0, 2]);
        table.row(["a", "10", "\x1b[32mok\x1b[0m"]);
        table.row(["bcdef", "7", "no"]);
        assert_eq!(table.render(1, None), " name    n  s\n a      10  \x1b[32mok\x1b[0m\n bcdef   7  no\n");
    }

    fn wide() -> Table {
        let mut table = Table::new(["name", "many", "few", "what it is"], &[0, 3]).expendable([1]);
        table.row(["a", "1234567", "12", "something that takes many words to say"]);
        table.row(["a-longer-name", "1", "2", "\x1b[32mok\x1b[0m"]);
        table
    }

    #[test]
    fn words_continue_on_the_next_line_before_columns_go() {
        let text = wide().render(2, Some(50));
        assert_eq!(
            text,
            "  name                many  few  what it is\n  \
             a              1,234,567   12  something that\n                                 \
             takes many words\n                                 to say\n  \
             a-longer-name          1    2  \x1b[32mok\x1b[0m\n"
        );
        let text = wide().render(2, Some(34));
        assert_eq!(
            text,
            "  name           few  what it is\n  \
             a               12  something\n                      \
             that takes\n                      \
             many words\n                      \
             to say\n  \
             a-longer-name    2  \x1b[32mok\x1b[0m\n  \
             (no room for many)\n"
        );
    }

    #[test]
    fn columns_go_before_words_that_must_not_be_cut() {
        let text = wide().uncut(&[3]).render(2, Some(62));
        assert_eq!(
            text.lines().next(),
            Some("  name           few  what it is"),
            "the column of numbers is dropped first:\n{text}"
        );
        assert!(text.contains("  a               12  something that takes many words to say\n"), "{text}");
        // the last column that is left is cut, because a line has to fit
        assert_eq!(wide().uncut(&[0]).render(0, Some(10)).lines().nth(2), Some("a-longer.."));
    }

    #[test]
    fn no_line_is_wider_than_there_is_room() {
        for width in 1..100 {
            let text = wide().render(2, Some(width));
            let widest = text.lines().map(char_width).max().unwrap_or(0);
            // the mark of a missing part is always shown
            assert!(widest <= width.max(4), "{widest} of {width}:\n{text}");
        }
        assert_eq!(wide().render(2, Some(200)), wide().render(2, None));
    }

    #[test]
    fn long_words_are_divided() {
        let mut table = Table::new(["n", "what"], &[0, 1]);
        table.row(["1", "aVeryLongWordThatHasNoBlankAtAll and more"]);
        let text = table.render(0, Some(20));
        assert_eq!(text, "n  what\n1  aVeryLongWordThat\n   HasNoBlankAtAll\n   and more\n");
    }
}
