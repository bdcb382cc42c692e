//! A value that has passed its checks.

use std::ops::Deref;

use serde::{Serialize, Serializer};

use super::range::Check;

/// A part of a machine that is used as it was written because it has passed all checks. Only the
/// checks can construct it, and it is immutable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked<T>(T);

impl<T> Checked<T> {
    /// Returns the value unless the rules report a problem.
    pub(super) fn new(value: T, check: &mut Check, rules: impl FnOnce(&T, &mut Check)) -> Option<Self> {
        check.finds_nothing(|check| rules(&value, check)).then_some(Self(value))
    }
}

impl<T> Deref for Checked<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: PartialEq> PartialEq<T> for Checked<T> {
    fn eq(&self, written: &T) -> bool {
        self.0 == *written
    }
}

impl<T: Serialize> Serialize for Checked<T> {
    /// Serializes the value as it was written.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}
