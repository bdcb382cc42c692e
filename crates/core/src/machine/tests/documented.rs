//! The page of all settings, `docs/settings.md`, is generated from the documentation comments of the
//! types in `written`. `warpbound explain` reads it.
//!
//! After a change, `WRITE_DOCS=1 cargo test -p warpbound-core documented` writes the page; without
//! the variable, the test compares it. A number whose comment does not state its unit is an error.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

use super::machine;
use crate::diag::SourceText;
use crate::machine::{Hazards, MachineSpec};

const HEAD: &str = "# Settings of machines

This page is generated from the comments in `crates/core/src/machine/written`; do not edit it.

Each row is a path that `--set PATH=VALUE` accepts, and a field of a [machine file](machines.md).
UNIT stands for the name of a functional unit, and CLASS for an op class, such as `int.div`. The
default is that of a machine that extends no other one and, below a part that is off by default, the
value after the part is switched on. `warpbound explain PATH` prints a row.
";

/// A setting: a row of the page.
struct Row {
    path: String,
    form: String,
    unit: String,
    default: String,
    meaning: String,
}

/// The rows that were collected from the schema of machine files.
struct Page {
    schema: Value,
    /// The values that a machine of the paper model has, for fields that are optional in files.
    of_paper: BTreeMap<String, String>,
    rows: Vec<Row>,
}

/// Returns the defaults of fields that are optional in files and have a value in every machine.
fn of_paper() -> BTreeMap<String, String> {
    let m = machine("Machine(name: \"m\", units: { \"u\": Unit(init: 1, lat: 1) })", &[]).unwrap();
    assert_eq!(m.hazards(), Hazards::RAW);
    let values = [
        ("policy", format!("{:?}", m.policy())),
        ("hazards", "[Raw]".to_owned()),
        ("exit_issues", m.exit_issues().to_string()),
        ("two_level_active", m.two_level_active().to_string()),
        ("sub_cores", m.sub_cores().count().to_string()),
        ("sms", m.sms().to_string()),
        ("reconvergence", format!("{:?}", m.reconvergence())),
        ("dependences", format!("{:?}", m.dependences())),
    ];
    let limits = serde_json::to_value(m.limits()).unwrap();
    let limits = limits.as_object().unwrap().iter();
    let limits = limits.map(|(name, value)| (format!("limits.{name}"), value.to_string()));
    values.map(|(path, value)| (path.to_owned(), value)).into_iter().chain(limits).collect()
}

/// Returns a description as one line.
fn line(schema: &Value) -> String {
    let text = schema["description"].as_str().expect("every setting has a comment");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the unit that the comment of a number states.
fn unit(path: &str, comment: &str) -> String {
    let ends = ["that", "of", "in", "per", "to", "from", "between", "above", "which", "for"];
    if let Some((_, rest)) = comment.split_once("number of ") {
        let phrase = rest.split(['.', ',', ';', ':', '(']).next().unwrap_or_default();
        let noun = phrase.split_whitespace().take_while(|word| !ends.contains(word));
        return noun.last().expect("a noun follows").to_owned();
    }
    let measures =
        ["bytes per cycle", "bytes", "kHz", "cycles", "warps", "percent", "packets", "replies", "requests"];
    if let Some(measure) = measures.iter().find(|measure| comment.contains(&format!(" in {measure}"))) {
        return (*measure).to_owned();
    }
    let words = [("The ticks ", "ticks"), ("The cycle ", "cycles"), ("lowest bit", "bit"), ("The seed ", "")];
    let found = words.iter().find(|(word, _)| comment.contains(word));
    found.unwrap_or_else(|| panic!("the comment of {path} states no unit: {comment}")).1.to_owned()
}

/// Returns a default value as it is written in a machine file.
fn written(value: &Value, form: &str) -> String {
    match value {
        Value::Null => "none".to_owned(),
        Value::String(text) if text.is_empty() => "\"\"".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(|item| written(item, "")).collect();
            let items = items.join(", ");
            if form.starts_with('(') { format!("({items})") } else { format!("[{items}]") }
        }
        other => other.to_string(),
    }
}

impl Page {
    /// Returns the schema that a field refers to, if it does, and whether the field is optional.
    fn resolved<'a>(&'a self, field: &'a Value) -> (&'a Value, bool) {
        if let Some(path) = field["$ref"].as_str() {
            return (&self.schema["$defs"][path.trim_start_matches("#/$defs/")], false);
        }
        let any = field["anyOf"].as_array().map_or(&[][..], Vec::as_slice);
        match any {
            [inner, null] if null["type"] == "null" => (self.resolved(inner).0, true),
            _ => (field, field["type"].as_array().is_some_and(|types| types.contains(&"null".into()))),
        }
    }

    /// Returns how a value is written.
    fn form(&self, field: &Value) -> String {
        let (schema, _) = self.resolved(field);
        let forms = |list: &Value| -> Vec<String> {
            list.as_array().unwrap().iter().map(|item| self.form(item)).collect()
        };
        if let Some(variants) = schema["oneOf"].as_array() {
            let forms: Vec<String> = variants.iter().map(|variant| self.variant(variant)).collect();
            return forms.join(", ");
        }
        if schema["prefixItems"].is_array() {
            return format!("({})", forms(&schema["prefixItems"]).join(", "));
        }
        let name = schema["type"].as_str().or_else(|| schema["type"][0].as_str());
        match name.unwrap_or_else(|| panic!("{schema:#}")) {
            "integer" => "integer".to_owned(),
            "boolean" => "true or false".to_owned(),
            "string" => "text".to_owned(),
            "array" => format!("list of {}", self.form(&schema["items"])),
            other => panic!("no form for {other}"),
        }
    }

    /// Returns how a variant of an enumeration is written.
    fn variant(&self, variant: &Value) -> String {
        if let Some(name) = variant["const"].as_str() {
            return name.to_owned();
        }
        let (name, inner) = variant["properties"].as_object().unwrap().iter().next().unwrap();
        let inner = match inner["properties"].as_object() {
            Some(fields) => {
                let fields = fields.iter().map(|(name, field)| format!("{name}: {}", self.form(field)));
                format!("({})", fields.collect::<Vec<_>>().join(", "))
            }
            None if inner["prefixItems"].is_array() => self.form(inner),
            None => format!("({})", self.form(inner)),
        };
        format!("{name}{inner}")
    }

    /// Returns the meaning of a field, with the meanings of the values that it can have. The page of
    /// policies has those of the policies.
    fn meaning(&self, field: &Value) -> String {
        let mut meaning = line(field);
        let (schema, _) = self.resolved(field);
        let schema = if schema["items"].is_object() { self.resolved(&schema["items"]).0 } else { schema };
        if field["anyOf"][0]["$ref"] == "#/$defs/PolicyKind" {
            return meaning;
        }
        for variant in schema["oneOf"].as_array().into_iter().flatten() {
            let name = self.variant(variant);
            let name = name.split('(').next().unwrap();
            write!(meaning, " `{name}`: {}", line(variant)).unwrap();
        }
        meaning
    }

    /// Returns the default of a field that is no part.
    fn default(&self, path: &str, field: &Value, form: &str, optional: bool, required: bool) -> String {
        if let Some(value) = self.of_paper.get(path) {
            return value.clone();
        }
        if required {
            return "required".to_owned();
        }
        let stated = line(field);
        if let Some((before, _)) = stated.split_once(" by default.") {
            let word = before.rsplit([';', ' ']).next().unwrap();
            if word.parse::<u64>().is_ok() {
                return word.to_owned();
            }
        }
        match field.get("default") {
            Some(value) => written(value, form),
            None if optional => "none".to_owned(),
            // a default that files omit is not in the schema
            None if form == "integer" => "0".to_owned(),
            None if form == "true or false" => "false".to_owned(),
            None if form == "text" => "\"\"".to_owned(),
            None if form.starts_with("list") => "[]".to_owned(),
            None => form.split(',').next().unwrap().to_owned(),
        }
    }

    /// Adds a row for each field of a struct, and for what is inside.
    fn add_fields(&mut self, prefix: &str, schema: &Value) {
        let required = &schema["required"];
        for (name, field) in schema["properties"].as_object().into_iter().flatten() {
            let path = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
            if path == "extends" {
                continue;
            }
            let required =
                required.as_array().is_some_and(|names| names.contains(&Value::from(name.as_str())));
            self.add(path, field, required);
        }
    }

    fn add(&mut self, path: String, field: &Value, required: bool) {
        let (schema, optional) = self.resolved(field);
        let schema = schema.clone();
        if schema["properties"].is_object() {
            let name = match field["$ref"].as_str().or_else(|| field["anyOf"][0]["$ref"].as_str()) {
                Some(name) => name.trim_start_matches("#/$defs/"),
                None => panic!("{path} has no named type"),
            };
            // every machine has limits
            let default = if optional && path != "limits" { "off" } else { "" }.to_owned();
            let form = format!("{name}(..)");
            self.rows.push(Row {
                path: path.clone(),
                form,
                unit: String::new(),
                default,
                meaning: line(field),
            });
            self.add_fields(&path, &schema);
        } else if schema["additionalProperties"]["type"] == "string" {
            let form = "{ SETTING: text }".to_owned();
            let (unit, default) = (String::new(), String::new());
            self.rows.push(Row { path, form, unit, default, meaning: line(field) });
        } else if schema["additionalProperties"].is_object() {
            let entry = self.resolved(&schema["additionalProperties"]).0.clone();
            let place = if path == "units" { "UNIT" } else { "CLASS" };
            let (form, inner) = match entry["anyOf"].as_array() {
                Some(either) => ("UNIT or Op(..)", self.resolved(&either[1]).0.clone()),
                None => ("Unit(..)", entry.clone()),
            };
            let unit = String::new();
            let row = |path: String, form: String, of: &Value| Row {
                path,
                form,
                unit: unit.clone(),
                default: String::new(),
                meaning: line(of),
            };
            self.rows.push(row(path.clone(), format!("{{ {place}: {form} }}"), field));
            self.rows.push(row(format!("{path}.{place}"), form.to_owned(), &entry));
            self.add_fields(&format!("{path}.{place}"), &inner);
        } else {
            let form = self.form(field);
            let meaning = self.meaning(field);
            let unit = if form == "integer" { unit(&path, &line(field)) } else { String::new() };
            let default = self.default(&path, field, &form, optional, required);
            self.rows.push(Row { path, form, unit, default, meaning });
        }
    }
}

fn rows() -> Vec<Row> {
    let schema = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<MachineSpec>();
    let schema = serde_json::to_value(&schema).unwrap();
    let mut page = Page { schema: schema.clone(), of_paper: of_paper(), rows: Vec::new() };
    page.add_fields("", &schema);
    page.rows
}

#[test]
fn the_page_of_settings_has_the_comments() {
    let mut text = format!("{HEAD}\n| setting | type | unit | default | meaning |\n|---|---|---|---|---|\n");
    for Row { path, form, unit, default, meaning } in rows() {
        let quoted = |text: &str| if text.is_empty() { String::new() } else { format!("`{text}`") };
        let cells = [quoted(&path), form, unit, quoted(&default), meaning];
        assert!(cells.iter().all(|cell| !cell.contains('|') && !cell.contains("[`")), "{cells:?}");
        writeln!(text, "| {} |", cells.join(" | ")).unwrap();
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/settings.md");
    if std::env::var_os("WRITE_DOCS").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    let first = kept.lines().zip(text.lines()).find(|(kept, now)| kept != now);
    assert!(
        kept == text,
        "docs/settings.md is not the comments: see the head of this file; first: {first:?}"
    );
}

/// Adds the paths of all values in an object.
fn paths(prefix: &str, object: &Map<String, Value>, found: &mut Vec<String>) {
    for (name, value) in object {
        let path = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
        let place = match prefix {
            "units" => "units.UNIT".to_owned(),
            "ops" => "ops.CLASS".to_owned(),
            "fitted" => "fitted".to_owned(),
            _ => path,
        };
        if let Value::Object(inner) = value {
            paths(&place, inner, found);
        }
        found.push(place);
    }
}

#[test]
fn every_setting_of_the_embedded_machines_is_on_the_page() {
    let rows: Vec<String> = rows().into_iter().map(|row| row.path).collect();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs");
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "ron") {
            let source = SourceText::new("m.ron", std::fs::read_to_string(&path).unwrap());
            let spec = serde_json::to_value(MachineSpec::parse(&source).unwrap()).unwrap();
            paths("", spec.as_object().unwrap(), &mut found);
        }
    }
    assert!(found.len() > 500, "only {} settings", found.len());
    for path in found {
        // the fields of a value such as Fit(..) have no paths
        let is_inside = path.starts_with("memory.l1.split.") || path.starts_with("memory.jitter.");
        let is_known = rows.contains(&path) || path == "extends" || is_inside;
        assert!(is_known, "{path} is not on the page of settings");
    }
}
