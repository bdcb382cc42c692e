//! The mean share of each part of the smallest proved bound, by machine.

use std::collections::BTreeMap;

use warpbound_bound::Part;

/// The shares of the parts of bounds on one machine, summed up.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MeanParts {
    /// The number of bounds.
    pub points: u64,
    /// The sum of the shares of each part.
    pub shares: BTreeMap<Part, f64>,
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
    pub fn mean(&self, part: Part) -> Option<f64> {
        self.shares.get(&part).map(|sum| sum / self.points as f64)
    }
}
