//! The mean share of each part of the smallest proved bound, by machine.

use std::collections::BTreeMap;

use super::names::Names;
use crate::html::{HtmlCell, HtmlColumn, HtmlTable};
use warpbound_bound::Part;

/// The shares of the parts of bounds on one machine, summed up.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MeanParts {
    /// The number of bounds.
    points: u64,
    /// The sum of the shares of each part.
    shares: BTreeMap<Part, f64>,
}

impl MeanParts {
    /// Adds a bound of which these are the parts; unknown parts count as part of the whole only.
    pub fn add(&mut self, parts: &[(&str, u64)]) {
        let whole: f64 = parts.iter().map(|(_, cycles)| *cycles as f64).sum();
        if whole <= 0.0 {
            return;
        }
        self.points += 1;
        for (name, cycles) in parts {
            if let Some(part) = Part::ALL.into_iter().find(|part| part.name() == *name) {
                *self.shares.entry(part).or_default() += *cycles as f64 / whole;
            }
        }
    }

    /// Returns the mean share of a part; `None` if no bound has it.
    fn mean(&self, part: Part) -> Option<f64> {
        self.shares.get(&part).map(|sum| sum / self.points as f64)
    }
}

/// Returns the table of the parts on each machine, or `None` if no parts are known.
pub fn table(parts: &BTreeMap<usize, MeanParts>, machines: &Names) -> Option<HtmlTable> {
    let of_machines = || parts.iter().filter(|(_, parts)| parts.points > 0);
    of_machines().next()?;
    let has = |part: &Part| of_machines().any(|(_, parts)| parts.shares.contains_key(part));
    let shown: Vec<Part> = Part::ALL.into_iter().filter(has).collect();
    let mut columns = vec![
        HtmlColumn::words("machine"),
        HtmlColumn::numbers("points", "with a proved bound of known parts"),
    ];
    columns.extend(shown.iter().map(|part| HtmlColumn::numbers(part.name(), "mean share in the bound")));
    let rows = of_machines().map(|(machine, parts)| {
        let shares = shown.iter().map(|&part| parts.mean(part).map_or(HtmlCell::Empty, HtmlCell::Percent));
        let start = [HtmlCell::Text(machines.list()[*machine].clone()), HtmlCell::Count(parts.points)];
        start.into_iter().chain(shares).collect()
    });
    let caption = "What the smallest proved bound consists of, on each machine: the mean share of each part";
    Some(HtmlTable { id: "parts-table".into(), caption: caption.to_owned(), columns, rows: rows.collect() })
}
