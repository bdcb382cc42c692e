//! The numbering of names.

use std::collections::HashMap;

/// The most distinct names that are kept.
const MOST: usize = 20_000;

/// Names in the order of their first occurrence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    list: Vec<String>,
    numbers: HashMap<String, usize>,
    /// The number that was asked for the last time.
    last: usize,
}

impl Names {
    /// Returns the number of a name, or `None` for a new name beyond the limit.
    pub fn number(&mut self, name: &str) -> Option<usize> {
        // the same name often follows
        if self.list.get(self.last).is_some_and(|last| last == name) {
            return Some(self.last);
        }
        if let Some(number) = self.numbers.get(name) {
            self.last = *number;
            return Some(*number);
        }
        if self.list.len() == MOST {
            return None;
        }
        self.numbers.insert(name.to_owned(), self.list.len());
        self.list.push(name.to_owned());
        Some(self.list.len() - 1)
    }

    /// Returns all names.
    pub fn list(&self) -> &[String] {
        &self.list
    }
}
