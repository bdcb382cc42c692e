//! Parsing and look-up of `isa/*.ron`.

use std::collections::HashMap;

use serde::Deserialize;

use super::{Space, TypeKind};
use crate::diag::{Diagnostics, SourceText};

#[derive(Deserialize)]
#[serde(rename = "Isa", deny_unknown_fields)]
struct IsaSpec {
    #[allow(dead_code, reason = "for the reader of the file")]
    name: String,
    #[allow(dead_code, reason = "for the reader of the file")]
    doc: String,
    rules: Vec<RuleSpec>,
}

#[derive(Deserialize)]
#[serde(rename = "Rule", deny_unknown_fields)]
struct RuleSpec {
    roots: String,
    kind: Option<TypeKind>,
    space: Option<Space>,
    class: String,
}

#[derive(Debug)]
struct Rule {
    kind: Option<TypeKind>,
    space: Option<Space>,
    class: String,
}

/// A mapping from (root, type kind, space) to names of op classes; the first matching rule applies.
#[derive(Debug)]
pub struct IsaTable {
    by_root: HashMap<String, Vec<Rule>>,
}

impl IsaTable {
    /// Parses a table.
    ///
    /// # Errors
    /// The text is not a table; the diagnostic has the location.
    pub fn parse(source: &SourceText) -> Result<Self, Diagnostics> {
        let spec: IsaSpec = crate::diag::from_ron(source)?;
        let mut by_root: HashMap<String, Vec<Rule>> = HashMap::new();
        for rule in spec.rules {
            for root in rule.roots.split_whitespace() {
                by_root.entry(root.to_owned()).or_default().push(Rule {
                    kind: rule.kind,
                    space: rule.space,
                    class: rule.class.clone(),
                });
            }
        }
        Ok(Self { by_root })
    }

    /// Returns the class of an instruction, or `None` if no rule matches.
    pub fn class(&self, root: &str, kind: TypeKind, space: Option<Space>) -> Option<&str> {
        self.by_root
            .get(root)?
            .iter()
            .find(|rule| rule.kind.is_none_or(|k| k == kind) && rule.space.is_none_or(|s| Some(s) == space))
            .map(|rule| rule.class.as_str())
    }

    /// Returns whether any rule names the root.
    pub fn knows(&self, root: &str) -> bool {
        self.by_root.contains_key(root)
    }

    /// Returns all roots that rules name, in no particular order.
    pub fn roots(&self) -> impl Iterator<Item = &str> {
        self.by_root.keys().map(String::as_str)
    }
}
