//! The tables of machine code opcodes for timing: `isa/traces/*.ron`.

use std::collections::HashMap;

use serde::Deserialize;

use warpbound_core::diag::{Diagnostics, SourceText};
use warpbound_core::isa::Space;

#[derive(Deserialize)]
#[serde(rename = "Opcodes", deny_unknown_fields)]
struct Spec {
    name: String,
    #[allow(dead_code, reason = "for the reader of the file")]
    doc: String,
    /// The architectures, such as 86 for sm_86.
    #[serde(default)]
    targets: Vec<u32>,
    /// The table whose rules are appended to these.
    #[serde(default)]
    extends: Option<String>,
    rules: Vec<RuleSpec>,
}

#[derive(Deserialize)]
#[serde(rename = "Op", deny_unknown_fields)]
struct RuleSpec {
    names: String,
    class: String,
    #[serde(default, rename = "do")]
    does: OpcodeEffect,
    #[serde(default)]
    bytes: Option<u8>,
    #[serde(default)]
    sets: bool,
    #[serde(default)]
    reads: bool,
}

/// The effect of an opcode besides occupying a unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub enum OpcodeEffect {
    /// No further effect: it computes.
    #[default]
    Nothing,
    /// Loads values into registers.
    Load(Space),
    /// Stores values to memory.
    Store(Space),
    /// Reads and modifies memory.
    Atomic(Space),
    /// Loads from addresses that traces do not record.
    Fetch,
    /// Copies from global to shared memory asynchronously to the warp.
    Copy,
    /// Closes a group of asynchronous copies.
    Commit,
    /// Waits for groups of asynchronous copies.
    Wait,
    /// Waits for the warp's memory accesses.
    Fence,
    /// Waits at a barrier of the block.
    Barrier,
    /// Arrives at a barrier without waiting.
    Arrive,
    /// Waits for a time that the hardware chooses.
    Sleep,
    /// Branches, or marks a reconvergence point.
    Branch,
    /// Terminates lanes.
    Exit,
}

/// A rule for some opcodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The modifiers that an opcode must have.
    modifiers: Vec<String>,
    /// The op class; for generic accesses, without the space.
    pub class: String,
    /// The effect.
    pub does: OpcodeEffect,
    /// The number of bytes that each lane accesses, if the opcode does not encode it in the usual
    /// way.
    pub bytes: Option<u8>,
    /// Whether the opcode sets predicates.
    pub sets: bool,
    /// Whether the opcode reads a predicate other than a guard.
    pub reads: bool,
}

impl Rule {
    /// Creates a rule for opcodes of this class that compute.
    pub fn new(class: String) -> Self {
        Self {
            modifiers: Vec::new(),
            class,
            does: OpcodeEffect::Nothing,
            bytes: None,
            sets: false,
            reads: false,
        }
    }
}

/// The opcodes of a GPU generation.
#[derive(Clone, Debug)]
pub struct Opcodes {
    /// The name of the table.
    pub name: String,
    /// The architectures that the table applies to.
    pub targets: Vec<u32>,
    by_root: HashMap<String, Vec<Rule>>,
}

impl Opcodes {
    /// Parses a table and those that it extends.
    ///
    /// # Errors
    /// A text is not a table; the diagnostic has the location.
    pub fn parse(
        source: &SourceText,
        load: &dyn Fn(&str) -> Result<SourceText, Diagnostics>,
    ) -> Result<Self, Diagnostics> {
        let mut spec: Spec = warpbound_core::diag::from_ron(source)?;
        let mut table =
            Self { name: spec.name.clone(), targets: spec.targets.clone(), by_root: HashMap::new() };
        // the limit ends a circular chain of `extends`
        for _ in 0..8 {
            for rule in &spec.rules {
                table.add(rule);
            }
            match &spec.extends {
                Some(base) => spec = warpbound_core::diag::from_ron(&load(base)?)?,
                None => break,
            }
        }
        Ok(table)
    }

    fn add(&mut self, spec: &RuleSpec) {
        for name in spec.names.split_whitespace() {
            let mut words = name.split('.');
            let root = words.next().unwrap_or_default().to_owned();
            self.by_root.entry(root).or_default().push(Rule {
                modifiers: words.map(str::to_owned).collect(),
                class: spec.class.clone(),
                does: spec.does,
                bytes: spec.bytes,
                sets: spec.sets,
                reads: spec.reads,
            });
        }
    }

    /// Returns the first rule that matches an opcode such as `LDG.E.64`.
    pub fn find(&self, opcode: &str) -> Option<&Rule> {
        let mut words = opcode.split('.');
        let rules = self.by_root.get(words.next()?)?;
        let has = |modifier: &String| words.clone().any(|word| word == modifier);
        rules.iter().find(|rule| rule.modifiers.iter().all(has))
    }

    /// Returns all op classes that rules name, with their effects.
    pub fn classes(&self) -> impl Iterator<Item = (&str, OpcodeEffect)> {
        self.by_root.values().flatten().map(|rule| (rule.class.as_str(), rule.does))
    }
}

/// Returns the number of bytes that each lane accesses according to the opcode; four if it does not
/// state any.
pub fn bytes_of(opcode: &str) -> u8 {
    for word in opcode.split('.').skip(1) {
        let digits = word.trim_start_matches(['U', 'S', 'B', 'F']);
        let prefix = word.len() - digits.len();
        match (prefix, digits) {
            (0 | 1, "8") => return 1,
            (0 | 1, "16") => return 2,
            (0 | 1, "32") => return 4,
            (0 | 1, "64") => return 8,
            (0 | 1, "128") => return 16,
            (0 | 1, "256") => return 32,
            _ => {}
        }
    }
    4
}

/// Returns the op class of a generic access for a space, with the same names as for PTX. A
/// combination of operation and space that has no class counts as an access to global memory.
pub fn class_in(root: &str, space: Space) -> String {
    let known = match root {
        "ld" => true,
        "st" => space != Space::Const,
        _ => matches!(space, Space::Global | Space::Shared),
    };
    format!("{root}.{}", if known { space } else { Space::Global }.name())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_matching_rule_applies() {
        let text = r#"Opcodes(name: "t", doc: "", extends: Some("b"), rules: [
            Op(names: "IMAD.MOV", class: "alu.mov"), Op(names: "LDG LD", class: "ld.global", do: Load(Global)),
        ])"#;
        let base = r#"Opcodes(name: "b", doc: "", rules: [Op(names: "IMAD", class: "int.mad")])"#;
        let load = |_: &str| Ok(SourceText::new("b", base));
        let table = Opcodes::parse(&SourceText::new("t", text), &load).unwrap();
        let class = |opcode| table.find(opcode).map(|rule| rule.class.as_str());
        assert_eq!(class("IMAD.MOV.U32"), Some("alu.mov"));
        assert_eq!(class("IMAD.WIDE"), Some("int.mad"));
        assert_eq!(class("LDG.E.64"), Some("ld.global"));
        assert_eq!((class("IMADX"), class("")), (None, None));
    }

    #[test]
    fn widths_of_opcodes() {
        for (opcode, bytes) in [
            ("LDG.E", 4),
            ("LDG.E.U8", 1),
            ("LDG.E.S16.SYS", 2),
            ("LDG.E.128.CONSTANT", 16),
            ("RED.E.ADD.F64.RN", 8),
            ("STS.U.64", 8),
            ("ATOMS.ADD", 4),
        ] {
            assert_eq!(bytes_of(opcode), bytes, "{opcode}");
        }
    }
}
