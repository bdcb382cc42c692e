//! How a setting is found wrong: in one wording, at its place in the file, under the path that `--set`
//! would give it.

use std::fmt::Display;
use std::ops::RangeInclusive;

use crate::diag::{Diagnostics, SourceText};

/// Times beyond this are refused, so that sums of them cannot overflow.
pub(super) const MAX_TIME: u64 = 1 << 32;

/// Looks at the settings of one part of a machine.
pub(super) struct Check<'a> {
    source: &'a SourceText,
    problems: &'a mut Diagnostics,
    /// The part, from the top of the machine on.
    path: Vec<Step>,
}

/// A step of a path.
#[derive(Clone)]
enum Step {
    /// The name of a setting.
    Field(String),
    /// The name of an entry, which stands in quotes in the file.
    Entry(String),
}

impl<'a> Check<'a> {
    /// Of a whole machine. `source` is the file it came from, for the places of messages.
    pub(super) fn new(source: &'a SourceText, problems: &'a mut Diagnostics) -> Self {
        Self { source, problems, path: Vec::new() }
    }

    /// Of a part of this one; dots separate parts of parts.
    pub(super) fn part(&mut self, name: &str) -> Check<'_> {
        let path = self.path.iter().cloned().chain(fields(name)).collect();
        Check { source: self.source, problems: &mut *self.problems, path }
    }

    /// Of an entry of this part. Its name may have dots.
    pub(super) fn entry(&mut self, name: &str) -> Check<'_> {
        let path = self.path.iter().cloned().chain([Step::Entry(name.to_owned())]).collect();
        Check { source: self.source, problems: &mut *self.problems, path }
    }

    /// A setting of this part must lie in a range.
    pub(super) fn range<T: PartialOrd + Display>(&mut self, name: &str, value: T, range: RangeInclusive<T>) {
        self.range_because(name, value, range, "");
    }

    /// As [`Check::range`], with what to do about it.
    pub(super) fn range_because<T: PartialOrd + Display>(
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

    /// A setting of this part must not be zero.
    pub(super) fn at_least_one(&mut self, name: &str, value: u32) {
        if value == 0 {
            self.must_be(name, value, "at least 1", "");
        }
    }

    /// A setting of this part must be a power of two up to `most`.
    pub(super) fn power_of_two(&mut self, name: &str, value: u32, most: u32) {
        if !value.is_power_of_two() || value > most {
            self.must_be(name, value, &format!("a power of two up to {most}"), "");
        }
    }

    /// A setting of this part must be one of a few values.
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

    /// Anything else that is wrong with a setting of this part, or with the part itself if `name` is
    /// empty. The hint may be empty.
    pub(super) fn problem(&mut self, name: &str, message: String, hint: &str) {
        // a setting that is not in this file is a default or the base's: then its place is what it is in
        let mut words = vec!["Machine".to_owned()];
        words.extend(self.path.iter().cloned().chain(fields(name)).map(|step| match step {
            Step::Field(name) => name,
            Step::Entry(name) => format!("{name:?}"),
        }));
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        self.problems.push(self.source.error_along(&words, message).hint(hint));
    }

    /// A setting of this part as `--set` names it.
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

    /// Whether these checks find no problem.
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
