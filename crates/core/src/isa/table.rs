//! Look-up of op classes.

use std::borrow::Cow;

use super::{Space, TypeKind};

/// A rule of a table: the class of the instructions with one of these roots and with this type kind
/// and space, if they are given.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// The roots, separated by spaces.
    pub roots: &'static str,
    /// The kind of the type.
    pub kind: Option<TypeKind>,
    /// The memory space.
    pub space: Option<Space>,
    /// The name of the class.
    pub class: &'static str,
}

/// A mapping from (root, type kind, space) to names of op classes; the first matching rule applies.
#[derive(Debug)]
pub struct IsaTable {
    /// The rules for each root, sorted by root; those for the same root have their order.
    rules: Cow<'static, [Rule]>,
}

impl IsaTable {
    /// Creates a table.
    pub fn new(rules: impl IntoIterator<Item = Rule>) -> Self {
        let for_each = |rule: Rule| rule.roots.split(' ').map(move |roots| Rule { roots, ..rule });
        let mut rules: Vec<Rule> = rules.into_iter().flat_map(for_each).collect();
        rules.sort_by_key(|rule| rule.roots);
        Self { rules: rules.into() }
    }

    /// Returns the table with the [`Self::rules`] of another one.
    pub fn prepared(rules: &'static [Rule]) -> Self {
        Self { rules: rules.into() }
    }

    /// Returns the rules, each for a single root, sorted by root.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// Returns the rules for a root, in order.
    fn of_root(&self, root: &str) -> impl Iterator<Item = &Rule> {
        let from = self.rules.partition_point(|rule| rule.roots < root);
        self.rules[from..].iter().take_while(move |rule| rule.roots == root)
    }

    /// Returns the class of an instruction, or `None` if no rule matches.
    pub fn class(&self, root: &str, kind: TypeKind, space: Option<Space>) -> Option<&'static str> {
        self.of_root(root)
            .find(|rule| rule.kind.is_none_or(|k| k == kind) && rule.space.is_none_or(|s| Some(s) == space))
            .map(|rule| rule.class)
    }

    /// Returns whether any rule names the root.
    pub fn knows(&self, root: &str) -> bool {
        self.of_root(root).next().is_some()
    }

    /// Returns all roots that rules name, sorted.
    pub fn roots(&self) -> impl Iterator<Item = &'static str> {
        self.rules.chunk_by(|a, b| a.roots == b.roots).map(|rules| rules[0].roots)
    }
}
