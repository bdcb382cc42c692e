//! `--set PATH=VALUE`: one machine setting from the command line.

use serde_json::{Map, Value};

use super::scheduler::SchedulerKind;
use crate::diag::{Diagnostic, closest};

/// A path into a machine file and the value to put there, such as `units.gmem.lat=199`,
/// `ops.int.div.init=4`, `limits.blocks=4`, `scheduler=lrr` or `hazards=Raw,Waw`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    path: String,
    value: String,
}

/// The settings at the top of a machine.
const TOP: [&str; 15] = [
    "name",
    "doc",
    "scheduler",
    "hazards",
    "units",
    "ops",
    "limits",
    "exit_issues",
    "two_level_active",
    "shared_memory",
    "sub_cores",
    "pipeline",
    "memory",
    "sms",
    "reconvergence",
];

impl Setting {
    /// Reads `PATH=VALUE`.
    ///
    /// # Errors
    /// If there is no `=` or no path.
    pub fn parse(text: &str) -> Result<Self, Diagnostic> {
        match text.split_once('=') {
            Some((path, value)) if !path.trim().is_empty() => {
                Ok(Self { path: path.trim().to_owned(), value: value.trim().to_owned() })
            }
            _ => Err(Diagnostic::general(format!("--set {text}"), "expected PATH=VALUE")
                .hint("for example --set units.gmem.lat=199")),
        }
    }

    /// A setting from its parts.
    pub fn new(path: impl Into<String>, value: impl Into<String>) -> Self {
        Self { path: path.into(), value: value.into() }
    }

    pub(super) fn place(&self) -> String {
        format!("--set {}={}", self.path, self.value)
    }

    fn problem(&self, message: String) -> Diagnostic {
        Diagnostic::general(self.place(), message)
    }

    pub(super) fn apply(&self, root: &mut Value) -> Result<(), Diagnostic> {
        let (top, rest) = self.path.split_once('.').map_or((self.path.as_str(), None), |(t, r)| (t, Some(r)));
        if !TOP.contains(&top) {
            let near = closest(top, TOP).map_or(String::new(), |name| format!("did you mean `{name}`? "));
            return Err(self
                .problem(format!("no machine setting `{top}`"))
                .hint(format!("{near}settings: {}", TOP.join(", "))));
        }
        let value = self.typed_value(top)?;
        let object = root.as_object_mut().expect("a machine is an object");
        let Some(rest) = rest else {
            object.insert(top.to_owned(), value);
            return Ok(());
        };
        let inner = object.entry(top).or_insert_with(|| Value::Object(Map::new()));
        match top {
            "units" | "ops" => {
                let (name, field) = rest.rsplit_once('.').ok_or_else(|| {
                    self.problem(format!("`{}` names no field", self.path))
                        .hint("for example units.gmem.lat or ops.int.div.init")
                })?;
                let map = inner.as_object_mut().expect("units and ops are maps");
                let Some(entry) = map.get_mut(name) else {
                    let known: Vec<&str> = map.keys().map(String::as_str).collect();
                    return Err(self
                        .problem(format!("this machine has no `{top}.{name}`"))
                        .hint(format!("it has: {}", known.join(", "))));
                };
                if let Value::String(unit) = entry {
                    *entry = serde_json::json!({ "unit": unit });
                }
                entry.as_object_mut().expect("an entry is an object").insert(field.to_owned(), value);
            }
            "limits" | "shared_memory" => {
                let map = inner.as_object_mut().expect("limits and shared memory are maps");
                map.insert(rest.to_owned(), value);
            }
            "pipeline" | "memory" => self.switch(inner, rest, value)?,
            _ => {
                return Err(self
                    .problem(format!("`{top}` has no parts"))
                    .hint(format!("use --set {top}=VALUE")));
            }
        }
        Ok(())
    }

    /// Sets a part of a part; what lies between is switched on if it was off. `none` switches off.
    fn switch(&self, mut part: &mut Value, path: &str, value: Value) -> Result<(), Diagnostic> {
        let mut names = path.split('.').peekable();
        while let Some(name) = names.next() {
            if part.is_null() {
                *part = Value::Object(Map::new());
            }
            let Some(map) = part.as_object_mut() else {
                return Err(self.problem(format!("`{name}` is asked of something that has no parts")));
            };
            if names.peek().is_none() {
                map.insert(name.to_owned(), if value == "none" { Value::Null } else { value });
                return Ok(());
            }
            part = map.entry(name).or_insert(Value::Null);
        }
        Ok(())
    }

    fn typed_value(&self, top: &str) -> Result<Value, Diagnostic> {
        let text = self.value.as_str();
        if self.path == "scheduler" {
            let kind: SchedulerKind = text.parse().map_err(|e| self.problem(format!("{e}")))?;
            return Ok(serde_json::to_value(kind).expect("a policy name is plain data"));
        }
        if self.path == "hazards" {
            let words = text.trim_matches(['[', ']']).split(',').map(str::trim).filter(|w| !w.is_empty());
            let names: Result<Vec<Value>, Diagnostic> = words
                .map(|word| match word.to_ascii_lowercase().as_str() {
                    "raw" => Ok(Value::from("Raw")),
                    "waw" => Ok(Value::from("Waw")),
                    _ => Err(self.problem(format!("unknown hazard `{word}`")).hint("hazards: Raw, Waw")),
                })
                .collect();
            return names.map(Value::from);
        }
        if self.path == top
            && matches!(top, "units" | "ops" | "limits" | "shared_memory" | "pipeline" | "memory")
        {
            let part = if matches!(top, "units" | "ops") { "NAME.FIELD" } else { "FIELD" };
            return Err(self
                .problem(format!("`{top}` is not one value"))
                .hint(format!("name a part: {top}.{part}")));
        }
        Ok(match text {
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            _ => text.parse::<u64>().map_or_else(|_| Value::from(text), Value::from),
        })
    }
}
