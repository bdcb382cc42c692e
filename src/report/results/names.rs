//! Names by number.

use std::collections::BTreeMap;

/// More different names are not kept.
const MOST: usize = 20_000;

/// Names in the order in which they came.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    list: Vec<String>,
    numbers: BTreeMap<String, usize>,
}

impl Names {
    /// The number of a name; none for a new one where there are too many.
    pub fn number(&mut self, name: &str) -> Option<usize> {
        if let Some(number) = self.numbers.get(name) {
            return Some(*number);
        }
        if self.list.len() == MOST {
            return None;
        }
        self.numbers.insert(name.to_owned(), self.list.len());
        self.list.push(name.to_owned());
        Some(self.list.len() - 1)
    }

    /// All of them.
    pub fn list(&self) -> &[String] {
        &self.list
    }
}
