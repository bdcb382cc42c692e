//! Reading and querying `isa/*.ron`.

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

/// A mapping from (root, type kind, space) to op class names; the first rule that fits wins.
#[derive(Debug)]
pub struct IsaTable {
    by_root: HashMap<String, Vec<Rule>>,
}

impl IsaTable {
    /// Reads a table.
    ///
    /// # Errors
    /// The place where the text stops being a table.
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

    /// The class of an instruction, or nothing if no rule fits.
    pub fn class(&self, root: &str, kind: TypeKind, space: Option<Space>) -> Option<&str> {
        self.by_root
            .get(root)?
            .iter()
            .find(|rule| rule.kind.is_none_or(|k| k == kind) && rule.space.is_none_or(|s| Some(s) == space))
            .map(|rule| rule.class.as_str())
    }

    /// Whether any rule names the root.
    pub fn knows(&self, root: &str) -> bool {
        self.by_root.contains_key(root)
    }

    /// Every root that some rule names, unordered.
    pub fn roots(&self) -> impl Iterator<Item = &str> {
        self.by_root.keys().map(String::as_str)
    }
}
