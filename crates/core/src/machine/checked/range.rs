//! Reporting of invalid settings with uniform wording, the location in the file, and the path that
//! `--set` uses.

use std::fmt::Display;
use std::ops::RangeInclusive;

use crate::diag::{Diagnostics, SourceText};

/// The maximum of a time, so that sums of times cannot overflow.
pub(super) const MAX_TIME: u64 = 1 << 32;

/// Checks the settings of one part of a machine.
pub(super) struct Check<'a> {
    source: &'a SourceText,
    problems: &'a mut Diagnostics,
    /// The path of the part from the top of the machine.
    path: Vec<Step>,
}

/// A step of a path.
#[derive(Clone)]
enum Step {
    /// The name of a setting.
    Field(String),
    /// The name of an entry, which is in quotes in the file.
    Entry(String),
}

impl<'a> Check<'a> {
    /// Creates the check of a whole machine. `source` is the file it was read from, for the
    /// locations of diagnostics.
    pub(super) fn new(source: &'a SourceText, problems: &'a mut Diagnostics) -> Self {
        Self { source, problems, path: Vec::new() }
    }

    /// Returns the check of a part of this part; dots separate nested parts.
    pub(super) fn part(&mut self, name: &str) -> Check<'_> {
        let path = self.path.iter().cloned().chain(fields(name)).collect();
        Check { source: self.source, problems: &mut *self.problems, path }
    }

    /// Returns the check of an entry of this part, whose name may contain dots.
    pub(super) fn entry(&mut self, name: &str) -> Check<'_> {
        let path = self.path.iter().cloned().chain([Step::Entry(name.to_owned())]).collect();
        Check { source: self.source, problems: &mut *self.problems, path }
    }

    /// Checks that a setting of this part lies in a range.
    pub(super) fn range<T: PartialOrd + Display>(&mut self, name: &str, value: T, range: RangeInclusive<T>) {
        self.range_with_hint(name, value, range, "");
    }

    /// Like [`Check::range`], with a hint.
    pub(super) fn range_with_hint<T: PartialOrd + Display>(
        &mut self,
        name: &str,
        value: T,
        range: RangeInclusive<T>,
        hint: &str,
    ) {
        if !range.contains(&value) {
            self.must_be(name, value, &format!("{} to {}", range.start(), range.end()), hint);
        }
    }

    /// Checks that a setting of this part is not zero.
    pub(super) fn at_least_one(&mut self, name: &str, value: u32) {
        if value == 0 {
            self.must_be(name, value, "at least 1", "");
        }
    }

    /// Checks that a setting of this part is a power of two that is at most `most`.
    pub(super) fn power_of_two(&mut self, name: &str, value: u32, most: u32) {
        if !value.is_power_of_two() || value > most {
            self.must_be(name, value, &format!("a power of two up to {most}"), "");
        }
    }

    /// Checks that a setting of this part is one of the given values.
    pub(super) fn one_of<const N: usize>(&mut self, name: &str, value: u32, known: [u32; N]) {
        if !known.contains(&value) {
            let words = known.map(|value| value.to_string());
            let expected = match words.split_last() {
                Some((last, others)) if !others.is_empty() => format!("{} or {last}", others.join(", ")),
                _ => words.concat(),
            };
            self.must_be(name, value, &expected, "");
        }
    }

    fn must_be(&mut self, name: &str, value: impl Display, expected: &str, hint: &str) {
        let message = format!("{} is {value}, it must be {expected}", self.full(name));
        self.problem(name, message, hint);
    }

    /// Reports a problem of a setting of this part, or of the part itself if `name` is empty. The
    /// hint may be empty.
    pub(super) fn problem(&mut self, name: &str, message: String, hint: &str) {
        // A setting that is not in this file has its default or the base's value; then the location
        // is that of the part.
        let mut words = vec!["Machine".to_owned()];
        words.extend(self.path.iter().cloned().chain(fields(name)).map(|step| match step {
            Step::Field(name) => name,
            Step::Entry(name) => format!("{name:?}"),
        }));
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        self.problems.push(self.source.error_along(&words, message).hint(hint));
    }

    /// Returns the path of a setting of this part in the syntax of `--set`.
    pub(super) fn full(&self, name: &str) -> String {
        let names: Vec<String> = self
            .path
            .iter()
            .cloned()
            .chain(fields(name))
            .map(|step| match step {
                Step::Field(name) | Step::Entry(name) => name,
            })
            .collect();
        names.join(".")
    }

    /// Runs checks and returns whether they find no problem.
    pub(super) fn finds_nothing(&mut self, checks: impl FnOnce(&mut Self)) -> bool {
        let so_far = |problems: &Diagnostics| problems.list().len() + problems.dropped();
        let before = so_far(self.problems);
        checks(self);
        so_far(self.problems) == before
    }
}

fn fields(name: &str) -> impl Iterator<Item = Step> + '_ {
    name.split('.').filter(|name| !name.is_empty()).map(|name| Step::Field(name.to_owned()))
}
