//! The option `--set PATH=VALUE`, which overrides one machine setting.
//!
//! A value has the syntax of machine files: the path and the value are converted to a machine file
//! that contains nothing else, so `memory.l1.latency=20` becomes `(memory: (l1: (latency: 20)))`.
//! Every setting of a file can therefore be set, with the same messages. Only the value at the end
//! of the path is used; the defaults around it are ignored.

use serde_json::{Map, Value, json};

use super::fields::{Kind, SETTINGS, kind};
use super::merge::{from_json, overlay, put, stated_settings, to_json};
use super::sources::{Change, update_sources};
use crate::diag::{
    Diagnostic, Diagnostics, SourceText, Stated, closest, from_ron_stated, ron_problem, shortened,
};
use crate::machine::written::{FORMER_POLICY_SETTING, MachineSpec, PolicyKind};

/// The path of a setting in a machine file and its value, such as `units.gmem.lat=199`,
/// `ops.int.div.init=4`, `limits.blocks=4`, `policy=lrr`, `hazards=Raw,Waw` or
/// `memory.l1.split=Percent(total: 65536, l1: 50)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    path: String,
    value: String,
    /// The option of the command line that is an alternative to this setting, such as
    /// `--policy`.
    option: Option<&'static str>,
    /// The option of another simulator's configuration that the setting was translated from.
    origin: Option<String>,
}

/// The options of the command line, each with names that users may try as a machine setting.
const OPTIONS: &[(&str, &[&str])] = &[
    ("--mem-latency", &["mem_latency", "mem-latency", "memory_latency", "memory.latency"]),
    ("--policy", &["sched"]),
    ("--seed", &["seed"]),
    ("--machine", &["machine"]),
    ("--max-instructions", &["max_instructions", "max-instructions"]),
    ("--sm-threads", &["sm_threads", "sm-threads", "threads"]),
    ("--races", &["races"]),
];

impl Setting {
    /// Parses `PATH=VALUE`.
    ///
    /// # Errors
    /// There is no `=`, or the path is empty.
    pub fn parse(text: &str) -> Result<Self, Diagnostic> {
        match text.split_once('=') {
            Some((path, value)) if !path.trim().is_empty() => Ok(Self::new(path.trim(), value.trim())),
            _ => Err(Diagnostic::general(format!("--set {text}"), "expected PATH=VALUE")
                .hint("for example --set units.gmem.lat=199")),
        }
    }

    /// Creates a setting from its parts.
    pub fn new(path: impl Into<String>, value: impl Into<String>) -> Self {
        let mut path = path.into();
        if path == FORMER_POLICY_SETTING {
            path = "policy".to_owned();
        }
        Self { path, value: value.into(), option: None, origin: None }
    }

    /// Creates a setting from a separate option of the command line. Messages name this option.
    pub fn of_option(option: &'static str, path: impl Into<String>, value: impl Into<String>) -> Self {
        Self { option: Some(option), ..Self::new(path, value) }
    }

    /// Returns the same setting, marked as translated from an option of another simulator.
    #[must_use]
    pub fn translated_from(self, option: impl Into<String>) -> Self {
        Self { origin: Some(option.into()), ..self }
    }

    /// Returns the path in a machine file.
    pub fn path(&self) -> &str {
        &self.path
    }

    fn place(&self) -> String {
        match self.option {
            Some(option) => format!("{option} {}", self.value),
            None => format!("--set {}={}", self.path, self.value),
        }
    }

    fn problem(&self, message: String) -> Diagnostic {
        Diagnostic::general(self.place(), message)
    }

    /// Applies the setting and returns whether it changes anything.
    fn apply(&self, root: &mut Map<String, Value>) -> Result<bool, Diagnostic> {
        let before = root.clone();
        let path = self.names(&before)?;
        let over = self.read(&path)?;
        self.put(&path, over.clone(), root);
        let changed = before != *root;
        // a setting of a source is not a change of a number
        if path.get(2) != Some(&"source") && path != ["shared_memory", "source"] {
            let place = self.place();
            // one field of an entry shares its source with the entry's other numbers
            let field = if kind(path[0]).entry().is_some() { 3 } else { 2 };
            let whole = path.len() < field;
            let change = self.origin.as_ref().map_or(Change::Option(&place), |text| Change::Import(text));
            update_sources(&before, root, &over, (change, whole));
        }
        Ok(changed)
    }

    /// Puts the value at the end of the path into the machine. `over` is the machine file that
    /// contains only this setting.
    fn put(&self, path: &[&str], over: Map<String, Value>, root: &mut Map<String, Value>) {
        let (last, parents) = path.split_last().expect("a path names something");
        if parents.is_empty() {
            overlay(root, over);
            return;
        }
        let mut value = &Value::Object(over);
        for name in path {
            // a missing value is the default
            value = value.get(*name).unwrap_or(&Value::Null);
        }
        let mut place = root;
        for name in parents {
            let inner = place.entry(*name).or_insert(Value::Null);
            match inner {
                Value::Object(_) => {}
                // an op that only names its unit
                Value::String(unit) => *inner = json!({ "unit": unit }),
                // a part on the path is switched on
                _ => *inner = Value::Object(Map::new()),
            }
            place = inner.as_object_mut().expect("it was made one");
        }
        put(place, (*last).to_owned(), value.clone());
    }

    /// Splits the path into names; names of units and ops may contain dots.
    fn names(&self, root: &Map<String, Value>) -> Result<Vec<&str>, Diagnostic> {
        let (top, rest) =
            self.path.split_once('.').map_or((self.path.as_str(), None), |(top, rest)| (top, Some(rest)));
        let known = || SETTINGS.iter().filter(|(_, kind)| *kind != Kind::Base).map(|(name, _)| *name);
        if !known().any(|name| name == top) {
            let problem = self.problem(format!("no machine setting `{top}`"));
            if let Some((option, _)) = OPTIONS.iter().find(|(_, names)| names.contains(&self.path.as_str())) {
                let in_plans =
                    if *option == "--mem-latency" { ", and is `mem_latency` in a plan" } else { "" };
                let hint = format!("this has an option of its own: {option} {}{in_plans}", self.value);
                return Err(problem.hint(hint));
            }
            let near = closest(top, known()).map_or(String::new(), |name| format!("did you mean `{name}`? "));
            return Err(problem.hint(format!("{near}settings: {}", known().collect::<Vec<_>>().join(", "))));
        }
        let Some(rest) = rest else { return Ok(vec![top]) };
        if !kind(top).is_divided() {
            return Err(self.problem(format!("`{top}` has no parts")).hint(format!("use --set {top}=VALUE")));
        }
        if kind(top).entry().is_none() {
            return Ok(std::iter::once(top).chain(rest.split('.')).collect());
        }
        let none = Map::new();
        let known = root.get(top).and_then(Value::as_object).unwrap_or(&none);
        if known.contains_key(rest) {
            return Ok(vec![top, rest]);
        }
        let Some((name, field)) = rest.rsplit_once('.') else {
            return Err(self
                .problem(format!("`{}` names no field", self.path))
                .hint("for example units.gmem.lat or ops.int.div.init"));
        };
        if !known.contains_key(name) {
            let known: Vec<&str> = known.keys().map(String::as_str).collect();
            return Err(self
                .problem(format!("this machine has no `{top}.{name}`"))
                .hint(format!("it has: {}", known.join(", "))));
        }
        Ok(vec![top, name, field])
    }

    /// Returns the machine file that contains only this setting.
    fn read(&self, path: &[&str]) -> Result<Map<String, Value>, Diagnostic> {
        let named = |name: &str, value: Value| Ok(Map::from_iter([(name.to_owned(), value)]));
        if path == ["policy"]
            && let Ok(kind) = self.value.parse::<PolicyKind>()
        {
            return named("policy", json!(kind));
        }
        if path == ["hazards"] {
            return named("hazards", self.hazards()?);
        }
        let identifier = |name: &&str| {
            name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
                && !name.starts_with(|c: char| c.is_ascii_digit())
                && !name.is_empty()
        };
        let fields = if kind(path[0]).entry().is_some() { path.get(2..).unwrap_or(&[]) } else { path };
        if let Some(name) = fields.iter().find(|name| !identifier(name)) {
            return Err(self
                .problem(format!("`{name}` is not the name of a setting"))
                .hint("a part without a name is set together with the field that contains it, for example memory.partitions.dram.clock=(7, 2)"));
        }
        let mut first_problem = None;
        for value in readings(&self.value) {
            match machine_file(path, &value) {
                Ok(stated) => return Ok(stated),
                Err(message) => first_problem = first_problem.or(Some(message)),
            }
        }
        if path == ["policy"]
            && let Err(unknown) = self.value.parse::<PolicyKind>()
        {
            return Err(self.problem(unknown.to_string()).hint(unknown.hint()));
        }
        Err(self.problem(first_problem.expect("there is the value as it was written")).hint(
            "values are as in machine files: 5, true, none, Lru, (7, 2), [\"fp32\", \"sfu\"], Uniform(2, 9)",
        ))
    }

    /// Parses `Raw,Waw`, in upper or lower case, with or without brackets.
    fn hazards(&self) -> Result<Value, Diagnostic> {
        let text = self.value.as_str();
        let inside = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
        let words = inside.split(',').map(str::trim).filter(|word| !word.is_empty());
        let names: Result<Vec<Value>, Diagnostic> = words
            .map(|word| match word.to_ascii_lowercase().as_str() {
                "raw" => Ok(Value::from("Raw")),
                "waw" => Ok(Value::from("Waw")),
                _ => Err(self.problem(format!("unknown hazard `{word}`")).hint("hazards: Raw, Waw")),
            })
            .collect();
        names.map(Value::from)
    }
}

/// Returns the possible readings of `value`: the value itself; `None` for `none`; a string, or a
/// list of strings, without the quotes that a shell would remove.
fn readings(value: &str) -> Vec<String> {
    let quoted = |text: &str| format!("{text:?}");
    // text that begins like a structure or a quoted string is not a word
    let is_word = |text: &str| {
        let rest = text.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
        !rest.starts_with(['(', ')', '[', ']', '{', '}', '"'])
    };
    let mut readings = vec![value.to_owned()];
    if value == "none" {
        // this is tried first, because `none` means `None` wherever `None` is a valid value
        readings.insert(0, "None".to_owned());
    }
    if is_word(value) {
        readings.push(quoted(value));
    }
    if let Some(inside) = value.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'))
        && inside.split(',').map(str::trim).all(is_word)
    {
        let words = inside.split(',').map(str::trim).filter(|word| !word.is_empty()).map(quoted);
        readings.push(format!("[{}]", words.collect::<Vec<_>>().join(", ")));
    }
    readings
}

/// Returns the machine file that has this value at the end of this path, or an error message.
fn machine_file(path: &[&str], value: &str) -> Result<Map<String, Value>, String> {
    // the value may end in a comment
    let value = format!("{value}\n");
    // a single value, so that it cannot close the parentheses around it
    ron::value::RawValue::from_ron(&value).map_err(|error| shortened(&ron_problem(&error.code)))?;
    let entry = kind(path[0]).entry();
    let mut text = value;
    for (depth, name) in path.iter().enumerate().rev() {
        text = match (depth, entry) {
            // a name in the map, and a field of its entry
            (1, Some(_)) => format!("{{{name:?}: {text}}}"),
            (2, Some(fields)) => {
                // the other fields that are required
                let others = fields.iter().filter(|(field, _)| field != name);
                let placeholder =
                    |(field, value): &(&str, Option<&str>)| Some(format!("{field}: {}, ", (*value)?));
                format!("({}{name}: {text})", others.filter_map(placeholder).collect::<String>())
            }
            _ => format!("({name}: {text})"),
        };
    }
    let source = SourceText::new("--set", text);
    let message = |problems: Diagnostics| problems.list()[0].message.clone();
    let (spec, stated): (MachineSpec, Stated) = from_ron_stated(&source).map_err(message)?;
    Ok(stated_settings(&spec, &stated))
}

impl MachineSpec {
    /// Returns the same machine with settings of the command line applied in order.
    ///
    /// # Errors
    /// The path or the value of a setting is invalid.
    pub fn with_settings(self, settings: &[Setting]) -> Result<Self, Diagnostics> {
        if settings.is_empty() {
            return Ok(self);
        }
        let mut value = to_json(&self);
        let mut problems = Diagnostics::new();
        let mut changes = Vec::new();
        for setting in settings {
            let before = value.clone();
            let applied = setting.apply(&mut value).and_then(|changed| {
                from_json(value.clone()).map(|_| changed).map_err(|e| Diagnostic::general(setting.place(), e))
            });
            match applied {
                Ok(true) if setting.origin.is_none() && setting.path != "doc" => {
                    changes.push(setting.place());
                }
                Ok(_) => {}
                Err(problem) => {
                    value = before;
                    problems.push(problem);
                }
            }
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        if let (Some(Value::String(doc)), false) = (value.get_mut("doc"), changes.is_empty()) {
            // the description of the machine may no longer apply
            doc.push_str(&format!(" Changed by {}.", changes.join(", ")));
        }
        from_json(value).map_err(|error| Diagnostic::general("--set", error).into())
    }
}
