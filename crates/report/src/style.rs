//! The colours and the line width of text output.

/// The style of text output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// Whether to use ANSI colours.
    pub colour: bool,
    /// The number of characters per line; `None` for no limit.
    pub width: Option<usize>,
}

impl Style {
    /// Formats a heading.
    pub fn strong(self, text: &str) -> String {
        self.paint("1", text)
    }

    pub(super) fn paint(self, code: &str, text: &str) -> String {
        if self.colour { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    /// Wraps lines of prose that are too long. If a line begins with a label followed by two
    /// spaces, its continuation lines are indented to the text after the label.
    pub fn fill(self, text: &str) -> String {
        let Some(width) = self.width else { return text.to_owned() };
        let lines = text.split_inclusive('\n').map(|line| {
            if char_width(line.trim_end()) <= width { line.to_owned() } else { broken(line, width) }
        });
        lines.collect()
    }
}

fn broken(line: &str, width: usize) -> String {
    let indent = line.chars().take_while(|c| *c == ' ').count();
    let label = line[indent..].find("  ").map(|gap| {
        let after = indent + gap;
        after + line[after..].chars().take_while(|c| *c == ' ').count()
    });
    // a label that takes half of the line is not treated as one
    let hang = label.filter(|hang| *hang <= width / 2).unwrap_or(indent + 2).min(width / 2);
    let mut text = line[..indent].to_owned();
    let mut used = indent;
    let mut rest = line[indent..].trim_end();
    let mut first = true;
    while !rest.is_empty() {
        let gap = rest.len() - rest.trim_start_matches(' ').len();
        let word = rest[gap..].split(' ').next().unwrap_or_default();
        let (gap, length) = (&rest[..gap], char_width(word));
        if !first && used + gap.len() + length > width {
            text.push('\n');
            text.push_str(&" ".repeat(hang));
            used = hang + length;
        } else {
            text.push_str(gap);
            used += gap.len() + length;
        }
        text.push_str(word);
        rest = &rest[gap.len() + word.len()..];
        first = false;
    }
    text.push('\n');
    text
}

/// Returns the number of characters that take up space; escape sequences of colours do not.
pub(super) fn char_width(cell: &str) -> usize {
    // nearly all cells are such, and tables look at each several times
    if cell.is_ascii() && !cell.contains('\x1b') {
        return cell.len();
    }
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
    fn prose_is_broken_between_words() {
        let narrow = Style { colour: false, width: Some(20) };
        let text = "short\n  label  one two three four\nseven eight nine ten\n  aaa bbb cc ddd eee fff\n";
        assert_eq!(
            narrow.fill(text),
            "short\n  label  one two\n         three four\nseven eight nine ten\n  aaa bbb cc ddd eee\n    fff\n"
        );
        assert_eq!(Style::default().fill(text), text);
        assert_eq!(
            narrow.fill("a-word-that-is-longer-than-a-line x"),
            "a-word-that-is-longer-than-a-line\n  x\n"
        );
    }
}
