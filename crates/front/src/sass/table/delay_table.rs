//! A table of delays as the file of latencies writes it.

use serde::Deserialize;

use super::mistake::Mistake;
use warpbound_core::program::hazards::Delay;

/// Delays by the kind of the earlier access, one for each column, and that of the later access, one
/// for each row. A kind may stand for several ones that behave alike. Where tables overlap, later
/// ones count.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Table {
    earlier: Vec<String>,
    later: Vec<(String, String)>,
}

impl Table {
    /// Returns the kinds that it names.
    pub(super) fn kinds(&self) -> impl Iterator<Item = &str> {
        let labels = self.earlier.iter().chain(self.later.iter().map(|(label, _)| label));
        labels.flat_map(|label| label.split_whitespace())
    }

    /// Gives each delay with the numbers of its kinds, the earlier and the later one, to a function.
    /// Returns what is wrong.
    pub(super) fn fill(&self, kinds: &[String], mut set: impl FnMut((u8, u8), Delay)) -> Vec<Mistake> {
        let mut mistakes = Vec::new();
        let numbers = |label: &str| -> Vec<u8> {
            let named = label.split_whitespace();
            named.filter_map(|kind| kinds.iter().position(|known| known == kind)).map(|i| i as u8).collect()
        };
        let columns: Vec<Vec<u8>> = self.earlier.iter().map(|label| numbers(label)).collect();
        for (label, row) in &self.later {
            let cells: Vec<&str> = row.split_whitespace().collect();
            if cells.len() != columns.len() {
                let message =
                    format!("the row `{label}` has {} numbers for {} columns", cells.len(), columns.len());
                mistakes.push(Mistake::here(message, "a `-` stands for a delay that is not known"));
                continue;
            }
            for (cell, earlier) in cells.into_iter().zip(&columns).filter(|(cell, _)| *cell != "-") {
                let Some(delay) = delay(cell) else {
                    let hint = "a number of cycles, `1/6` for one without and one with a guard, or `wait`";
                    mistakes.push(Mistake::here(format!("the row `{label}` has `{cell}`"), hint));
                    continue;
                };
                for later in numbers(label) {
                    earlier.iter().for_each(|&earlier| set((earlier, later), delay));
                }
            }
        }
        mistakes
    }
}

/// Parses a delay.
fn delay(cell: &str) -> Option<Delay> {
    if cell == "wait" {
        return Some(Delay::Barrier);
    }
    let (always, guarded) = cell.split_once('/').unwrap_or((cell, cell));
    Some(Delay::Cycles { always: always.parse().ok()?, guarded: guarded.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    type Found = Vec<((u8, u8), Delay)>;

    fn filled(earlier: &[&str], later: &[(&str, &str)]) -> (Found, usize) {
        let own = |text: &&str| (*text).to_owned();
        let pair = |&(label, row): &(&str, &str)| (label.to_owned(), row.to_owned());
        let table =
            Table { earlier: earlier.iter().map(own).collect(), later: later.iter().map(pair).collect() };
        let kinds: Vec<String> = ["alu", "fma", "load"].iter().map(own).collect();
        let mut found = Vec::new();
        let mistakes = table.fill(&kinds, |pair, delay| found.push((pair, delay)));
        (found, mistakes.len())
    }

    #[test]
    fn cells_are_cycles_with_and_without_a_guard_or_waits() {
        let cycles = |always, guarded| Delay::Cycles { always, guarded };
        let (found, mistakes) = filled(&["alu fma", "load"], &[("fma", "4 wait"), ("load", "1/6 -")]);
        assert_eq!(
            found,
            [
                ((0, 1), cycles(4, 4)),
                ((1, 1), cycles(4, 4)),
                ((2, 1), Delay::Barrier),
                ((0, 2), cycles(1, 6)),
                ((1, 2), cycles(1, 6)),
            ]
        );
        assert_eq!(mistakes, 0);
    }

    #[test]
    fn rows_that_do_not_fit_and_unknown_cells_are_mistakes() {
        assert_eq!(filled(&["alu", "fma"], &[("load", "4")]).1, 1);
        assert_eq!(filled(&["alu", "fma"], &[("load", "4 often")]).1, 1);
    }
}
