//! Aligned columns.

/// A table under construction: a heading and rows of cells.
#[derive(Clone, Debug, Default)]
pub struct Table {
    rows: Vec<Vec<String>>,
    /// Columns aligned to the left; the others hold numbers and go to the right.
    left: Vec<usize>,
}

impl Table {
    /// A table with this heading; the columns in `left` hold words.
    pub fn new<S: Into<String>>(heading: impl IntoIterator<Item = S>, left: &[usize]) -> Self {
        Self { rows: vec![heading.into_iter().map(Into::into).collect()], left: left.to_vec() }
    }

    /// Appends a row.
    pub fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    /// The text, each line indented by `indent` blanks.
    pub fn render(&self, indent: usize) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns)
            .map(|c| self.rows.iter().filter_map(|row| row.get(c)).map(|cell| width(cell)).max().unwrap_or(0))
            .collect();
        let mut text = String::new();
        for row in &self.rows {
            let mut line = " ".repeat(indent);
            for (column, cell) in row.iter().enumerate() {
                let pad = " ".repeat(widths[column] - width(cell));
                if column > 0 {
                    line.push_str("  ");
                }
                if self.left.contains(&column) {
                    line.push_str(cell);
                    line.push_str(&pad);
                } else {
                    line.push_str(&pad);
                    line.push_str(cell);
                }
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }
}

/// Characters that take room: colours do not.
fn width(cell: &str) -> usize {
    let mut count = 0;
    let mut escaped = false;
    for c in cell.chars() {
        match (escaped, c) {
            (false, '\x1b') => escaped = true,
            (true, 'm') => escaped = false,
            (true, _) => {}
            (false, _) => count += 1,
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_do_not_disturb_the_columns() {
        let mut table = Table::new(["name", "n", "s"], &[0, 2]);
        table.row(["a", "10", "\x1b[32mok\x1b[0m"]);
        table.row(["bcdef", "7", "no"]);
        assert_eq!(table.render(1), " name    n  s\n a      10  \x1b[32mok\x1b[0m\n bcdef   7  no\n");
    }
}
