//! What opcodes of machine code are to timing: `isa/traces/*.ron`.

use std::collections::HashMap;

use serde::Deserialize;

use crate::diag::{Diagnostics, SourceText};
use crate::isa::Space;

#[derive(Deserialize)]
#[serde(rename = "Opcodes", deny_unknown_fields)]
struct Spec {
    name: String,
    #[allow(dead_code, reason = "for the reader of the file")]
    doc: String,
    /// Architectures, 86 for sm_86.
    #[serde(default)]
    targets: Vec<u32>,
    /// The table whose rules follow these.
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
    does: Does,
    #[serde(default)]
    bytes: Option<u8>,
    #[serde(default)]
    sets: bool,
    #[serde(default)]
    reads: bool,
}

/// What an opcode does besides taking a unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub enum Does {
    /// Computes.
    #[default]
    Nothing,
    /// Brings a value to registers.
    Load(Space),
    /// Takes one to memory.
    Store(Space),
    /// Reads and writes in memory.
    Atomic(Space),
    /// Loads where nobody records addresses.
    Fetch,
    /// Copies from global to shared memory while the warp goes on.
    Copy,
    /// Ends a group of copies.
    Commit,
    /// Waits for groups of copies.
    Wait,
    /// Waits for the warp's accesses.
    Fence,
    /// Waits for the block.
    Barrier,
    /// Tells a barrier that the warp was here.
    Arrive,
    /// Waits for a time that the hardware chooses.
    Sleep,
    /// Branches, or says where lanes meet.
    Branch,
    /// Ends lanes.
    Exit,
}

/// What is said of some opcodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Words behind the first that an opcode has to have.
    modifiers: Vec<String>,
    /// The op class; of generic accesses without the space.
    pub class: String,
    /// What it does.
    pub does: Does,
    /// Bytes that each lane accesses, where the opcode does not say it as others do.
    pub bytes: Option<u8>,
    /// Whether it sets predicates.
    pub sets: bool,
    /// Whether it reads one, besides a guard.
    pub reads: bool,
}

impl Rule {
    /// Of an opcode that computes, whatever it is called.
    pub fn new(class: String) -> Self {
        Self { modifiers: Vec::new(), class, does: Does::Nothing, bytes: None, sets: false, reads: false }
    }
}

/// The opcodes of a generation.
#[derive(Clone, Debug)]
pub struct Opcodes {
    /// The name of the table.
    pub name: String,
    /// Architectures that it is for.
    pub targets: Vec<u32>,
    by_root: HashMap<String, Vec<Rule>>,
}

impl Opcodes {
    /// Reads a table with those that it extends.
    ///
    /// # Errors
    /// The place where a text stops being a table.
    pub fn parse(
        source: &SourceText,
        load: &dyn Fn(&str) -> Result<SourceText, Diagnostics>,
    ) -> Result<Self, Diagnostics> {
        let mut spec: Spec = crate::diag::from_ron(source)?;
        let mut table =
            Self { name: spec.name.clone(), targets: spec.targets.clone(), by_root: HashMap::new() };
        // a table that extends itself has an end all the same
        for _ in 0..8 {
            for rule in &spec.rules {
                table.add(rule);
            }
            match &spec.extends {
                Some(base) => spec = crate::diag::from_ron(&load(base)?)?,
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

    /// The first rule that fits an opcode such as `LDG.E.64`.
    pub fn find(&self, opcode: &str) -> Option<&Rule> {
        let mut words = opcode.split('.');
        let rules = self.by_root.get(words.next()?)?;
        let has = |modifier: &String| words.clone().any(|word| word == modifier);
        rules.iter().find(|rule| rule.modifiers.iter().all(has))
    }

    /// Every op class that some rule names, with what it does.
    pub fn classes(&self) -> impl Iterator<Item = (&str, Does)> {
        self.by_root.values().flatten().map(|rule| (rule.class.as_str(), rule.does))
    }
}

/// Bytes that each lane accesses, as an opcode says it; four where it says nothing.
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

/// The op classes of a generic access by space, as those of PTX are called; one of a kind that its space has no
/// class for counts as one to global memory.
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
    fn the_first_rule_that_fits() {
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
