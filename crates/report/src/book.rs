//! The pages of the book that are embedded, because commands print rows of their tables. Each of
//! these facts is written in one place only, which is the page. The crate has a link to each page in
//! its own folder, because its published package contains nothing else.

/// A page of the book.
#[derive(Clone, Copy, Debug)]
pub struct Page {
    /// The path in the repository.
    pub path: &'static str,
    text: &'static str,
}

macro_rules! page {
    ($path:literal) => {
        Page { path: $path, text: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/", $path)) }
    };
}

/// The definitions of terms.
pub const GLOSSARY: Page = page!("docs/glossary.md");
/// The policies.
pub const POLICIES: Page = page!("docs/policies.md");
/// The bounds and their parts.
pub const BOUNDS: Page = page!("docs/bounds.md");
/// The stall reasons, causes, functional units and tests.
pub const NAMES: Page = page!("docs/names.md");
/// The settings of machines.
pub const SETTINGS: Page = page!("docs/settings.md");
/// The comparisons of machines.
pub const LIMITS: Page = page!("docs/limits.md");

impl Page {
    /// Returns the rows of the first table with this head. The cells have no markup, except that
    /// the first cell, which has the names, keeps its backquotes.
    ///
    /// # Panics
    /// Panics if the page has no such table, or a row has another number of cells. The pages are
    /// constant, and a test reads every table.
    pub fn table<const N: usize>(self, head: [&str; N]) -> Vec<[String; N]> {
        let line = format!("| {} |", head.join(" | "));
        let mut lines = self.text.lines().skip_while(|found| *found != line);
        assert!(lines.next().is_some(), "{} has no table {line}", self.path);
        let rows = lines.skip(1).take_while(|line| line.starts_with('|'));
        let row = |line: &str| {
            let inside = line.trim_start_matches('|').trim_end_matches('|');
            let cells = inside.split('|').enumerate();
            let cells = cells.map(|(column, cell)| {
                let cell = cell.trim();
                if column == 0 { cell.to_owned() } else { plain(cell) }
            });
            let cells: Vec<String> = cells.collect();
            cells.try_into().unwrap_or_else(|cells| panic!("{}: {cells:?}", self.path))
        };
        rows.map(row).collect()
    }
}

/// Returns the names in the first cell of a row. Several names are separated by commas, and a name in
/// parentheses is another form of the name before it.
pub fn names(cell: &str) -> Vec<String> {
    let names = cell.split([',', '(', ')']).map(plain).map(|name| name.trim().to_owned());
    names.filter(|name| !name.is_empty()).collect()
}

/// Returns the text without backquotes and emphasis, and the texts of links instead of the links.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("](") {
        let (lead, link) = before.rsplit_once('[').unwrap_or((before, ""));
        plain.push_str(lead);
        plain.push_str(link);
        rest = after.split_once(')').map_or("", |(_, rest)| rest);
    }
    plain.push_str(rest);
    plain.replace(['`', '*'], "")
}

/// Returns what a machine was compared with and how far off it is.
pub fn compared(machine: &str) -> String {
    let has = |cell: &str| names(cell).iter().any(|name| name == machine);
    let stages = LIMITS.table(["machine", "what it is", "equal cycles", "mean error", "largest error"]);
    if let Some([_, _, equal, _, largest]) = stages.into_iter().find(|row| has(&row[0])) {
        let off = if largest == "0" { String::new() } else { format!(", largest error {largest}") };
        return format!("GPGPU-Sim 4.2: {equal} runs take equal cycles{off}");
    }
    let others = LIMITS.table(["machine", "what its numbers come from", "compared with"]);
    let found = others.iter().find(|row| has(&row[0])).or_else(|| others.last());
    found.map_or_else(String::new, |row| row[2].clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_is_removed() {
        assert_eq!(plain("a `b` of [the *page*](x.md#y), c"), "a b of the page, c");
        assert_eq!(names("initiation interval (`init`)"), ["initiation interval", "init"]);
        assert_eq!(names("`f0`, `f1`"), ["f0", "f1"]);
    }

    #[test]
    fn each_machine_has_its_comparison() {
        assert_eq!(compared("accelsim-ecrts"), "GPGPU-Sim 4.2: 156 of 156 runs take equal cycles");
        assert!(compared("rtx3070").contains("largest error"), "{}", compared("rtx3070"));
        assert!(compared("ecrts25-orin").starts_with("model, not compared"));
        assert_eq!(compared("lrr-witness"), "models no GPU");
        let machines =
            warpbound_judge::load::Loader::embedded(warpbound_judge::load::EmbeddedFolder::Configs);
        let embedded: Vec<String> = machines.into_iter().map(|(name, _)| name).collect();
        let others = LIMITS.table(["machine", "what its numbers come from", "compared with"]);
        let stages = LIMITS.table(["machine", "what it is", "equal cycles", "mean error", "largest error"]);
        let cells = others.iter().map(|row| &row[0]).chain(stages.iter().map(|row| &row[0]));
        for name in cells.flat_map(|cell| names(cell)).filter(|name| name != "all others") {
            assert!(embedded.contains(&name), "{name} is no machine");
        }
    }
}
