//! A mistake in a table.

use warpbound_core::diag::{Diagnostic, Place, Step};

/// A wrong value of a table: its path, what is wrong, and how to correct it.
#[derive(Debug)]
pub(super) struct Mistake {
    path: Vec<Step>,
    message: String,
    hint: String,
}

impl Mistake {
    /// Creates a mistake in a field.
    pub(super) fn new(field: &'static str, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { path: vec![Step::field(field)], message: message.into(), hint: hint.into() }
    }

    /// Creates a mistake in the value itself.
    pub(super) fn here(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { path: Vec::new(), message: message.into(), hint: hint.into() }
    }

    /// Says in which field the wrong value is.
    pub(super) fn within(mut self, field: impl Into<std::borrow::Cow<'static, str>>) -> Self {
        self.path.insert(0, Step::field(field));
        self
    }

    /// Says in which element of a list the wrong value is.
    pub(super) fn item(mut self, index: usize) -> Self {
        self.path.insert(0, Step::Item(index));
        self
    }

    /// Returns the mistake of a generation that a table describes by its differences. What is wrong
    /// in the values that it has of its own, among them some choices, is searched there.
    pub(super) fn of_variant(self, index: usize, choices: &[String]) -> Self {
        let here = match &self.path[..] {
            [Step::Field(list), Step::Field(choice), ..] if list == "choices" => {
                choices.iter().any(|own| own == choice)
            }
            [Step::Field(name), ..] => ["targets", "registers", "abi"].contains(&name.as_ref()),
            _ => false,
        };
        if here { self.item(index).within("variants") } else { self }
    }

    /// Returns the mistake with the name of an instruction, or of another part of the table.
    pub(super) fn of(mut self, name: &str) -> Self {
        self.message = format!("{name}: {}", self.message);
        self
    }

    /// Returns the diagnostic, whose place is searched from the outermost value.
    pub(super) fn diagnostic(&self, root: Place<'_>) -> Diagnostic {
        let place = self.path.iter().fold(root, |place, step| match step {
            Step::Field(name) => place.field(name.clone()),
            Step::Item(index) => place.item(*index),
        });
        place.error(self.message.as_str()).hint(self.hint.as_str())
    }
}
