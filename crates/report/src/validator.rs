//! The validation of a JSON value against a JSON Schema.
//!
//! The validator supports the keywords that occur in `schemas/`, which a test checks. It is stricter
//! than the standard: a property that the schema does not name is a mismatch.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use warpbound_core::diag::shortened;

/// A place where a value does not conform to a schema, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// The path to the value, such as `/results/0/makespan`; empty for the whole value.
    pub path: String,
    /// What is wrong.
    pub reason: String,
}

/// A schema with the definitions that it refers to.
pub struct Validator<'a> {
    root: &'a Value,
}

/// The pattern of property names that the schemas use: the names are numbers.
const NUMBERS: &str = r"^\d+$";

fn is_number(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns the entries of an object; none for another value.
fn entries(value: Option<&Value>) -> impl Iterator<Item = (&String, &Value)> {
    value.and_then(Value::as_object).into_iter().flatten()
}

/// Returns the items of a list; none for another value.
fn items(value: Option<&Value>) -> impl Iterator<Item = &Value> {
    value.and_then(Value::as_array).into_iter().flatten()
}

impl<'a> Validator<'a> {
    /// Creates the validator of this schema.
    pub fn new(root: &'a Value) -> Self {
        Self { root }
    }

    /// Returns the mismatches of a value, in the order of the schema.
    pub fn mismatches(&self, value: &Value) -> Vec<Mismatch> {
        let mut found = Vec::new();
        self.check(self.root, value, "", &mut found);
        found
    }

    fn resolved(&self, schema: &'a Value) -> &'a Value {
        let name = schema.get("$ref").and_then(Value::as_str).and_then(|path| path.strip_prefix("#/$defs/"));
        name.map_or(schema, |name| self.resolved(&self.root["$defs"][name]))
    }

    /// Returns the subschemas that apply to the same value as the schema.
    fn branches(schema: &'a Value) -> impl Iterator<Item = &'a Value> {
        ["allOf", "anyOf", "oneOf"].into_iter().flat_map(|key| items(schema.get(key)))
    }

    /// Returns the properties that some part of a schema names, or `None` if any property is
    /// allowed.
    fn named(&self, schema: &'a Value) -> Option<BTreeSet<&'a str>> {
        let of = self.resolved(schema);
        if of == &Value::Bool(true) || of.get("additionalProperties").is_some_and(|more| more != false) {
            return None;
        }
        let says_something = |key: &&str| of.get(key).is_some() || schema.get(key).is_some();
        if !["type", "allOf", "anyOf", "oneOf", "properties"].iter().any(says_something) {
            return None; // any value is valid
        }
        if of.get("patternProperties").is_some() {
            return None; // its values are checked where their properties are
        }
        let own = entries(of.get("properties")).map(|(name, _)| name.as_str());
        // the properties next to a reference count too
        let beside = entries(schema.get("properties")).map(|(name, _)| name.as_str());
        let mut names: BTreeSet<&str> = own.chain(beside).collect();
        for branch in Self::branches(of).chain(Self::branches(schema)) {
            names.extend(self.named(branch)?);
        }
        Some(names)
    }

    fn check(&self, schema: &'a Value, value: &Value, path: &str, found: &mut Vec<Mismatch>) {
        self.parts(schema, value, path, found);
        if let (Value::Object(object), Some(names)) = (value, self.named(schema)) {
            for name in object.keys().filter(|key| !names.contains(key.as_str())) {
                let reason = format!("the schema has no property `{name}`");
                found.push(Mismatch { path: path.to_owned(), reason });
            }
        }
    }

    /// Checks every keyword of a schema, but not whether properties are known.
    fn parts(&self, schema: &'a Value, value: &Value, path: &str, found: &mut Vec<Mismatch>) {
        match schema {
            Value::Bool(true) => {}
            Value::Object(keywords) => {
                for (keyword, rule) in keywords {
                    match keyword.as_str() {
                        "$schema" | "$id" | "$defs" | "title" | "description" | "format" | "default" => {}
                        "$ref" => self.parts(self.resolved(schema), value, path, found),
                        "properties" | "additionalProperties" | "patternProperties" | "items" => {
                            self.inside(keyword, (keywords, rule), value, path, found);
                        }
                        "allOf" => items(Some(rule)).for_each(|part| self.parts(part, value, path, found)),
                        "anyOf" | "oneOf" => self.alternatives(rule, keyword == "oneOf", value, path, found),
                        _ => found.extend(
                            of_itself(keyword, rule, value)
                                .map(|reason| Mismatch { path: path.to_owned(), reason }),
                        ),
                    }
                }
            }
            _ => {
                found.push(Mismatch { path: path.to_owned(), reason: "no value is allowed here".to_owned() })
            }
        }
    }

    /// Checks the values inside a value.
    fn inside(
        &self,
        keyword: &str,
        (keywords, rule): (&'a Map<String, Value>, &'a Value),
        value: &Value,
        path: &str,
        found: &mut Vec<Mismatch>,
    ) {
        let known = keywords.get("properties").and_then(Value::as_object);
        let patterns = keywords.get("patternProperties").and_then(Value::as_object);
        let is_matched = |name: &str| patterns.is_some() && is_number(name);
        match keyword {
            "properties" => {
                for (name, schema) in entries(Some(rule)) {
                    if let Some(inner) = value.get(name) {
                        self.check(schema, inner, &format!("{path}/{name}"), found);
                    }
                }
            }
            "additionalProperties" => {
                let is_known = |name: &str| known.is_some_and(|known| known.contains_key(name));
                for (name, inner) in entries(Some(value)) {
                    if !is_matched(name) && !is_known(name) {
                        self.check(rule, inner, &format!("{path}/{name}"), found);
                    }
                }
            }
            "patternProperties" => {
                for (name, inner) in entries(Some(value)).filter(|(name, _)| is_number(name)) {
                    self.check(&rule[NUMBERS], inner, &format!("{path}/{name}"), found);
                }
            }
            _ => {
                for (index, inner) in items(Some(value)).enumerate() {
                    self.check(rule, inner, &format!("{path}/{index}"), found);
                }
            }
        }
    }

    /// Checks alternatives, of which one has to fit. If none fits, the mismatches of the nearest one
    /// are reported, which is the one with mismatches farthest inside the value.
    fn alternatives(
        &self,
        rule: &'a Value,
        only_one: bool,
        value: &Value,
        path: &str,
        found: &mut Vec<Mismatch>,
    ) {
        let tried = items(Some(rule)).map(|part| {
            let mut mismatches = Vec::new();
            self.parts(part, value, path, &mut mismatches);
            mismatches
        });
        let tried: Vec<Vec<Mismatch>> = tried.collect();
        let fit = tried.iter().filter(|mismatches| mismatches.is_empty()).count();
        if fit == 1 || fit > 1 && !only_one {
            return;
        }
        if fit > 1 {
            let reason = format!("{fit} of {} alternatives fit, not one", tried.len());
            found.push(Mismatch { path: path.to_owned(), reason });
            return;
        }
        let words: Vec<String> =
            items(Some(rule)).filter_map(|part| part.get("const")).map(Value::to_string).collect();
        if words.len() == tried.len() {
            let reason = format!("expected one of {}, found {}", words.join(", "), shown(value));
            found.push(Mismatch { path: path.to_owned(), reason });
            return;
        }
        let depth =
            |mismatches: &Vec<Mismatch>| mismatches.iter().map(|one| one.path.matches('/').count()).min();
        let nearest = tried
            .into_iter()
            .max_by_key(|mismatches| (depth(mismatches), std::cmp::Reverse(mismatches.len())));
        found.extend(nearest.into_iter().flatten());
    }
}

/// Returns a value in a message.
fn shown(value: &Value) -> String {
    match value {
        Value::Object(_) => "an object".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        other => shortened(&other.to_string()),
    }
}

/// Returns why a value does not conform to a keyword that concerns the value itself.
fn of_itself(keyword: &str, rule: &Value, value: &Value) -> Option<String> {
    let length = value.as_array().map(|list| list.len() as u64);
    let found = shown(value);
    let reason = |fits: bool, reason: String| (!fits).then_some(reason);
    match keyword {
        "type" => {
            let fits = rule
                .as_array()
                .map_or_else(|| is_of(rule, value), |types| types.iter().any(|of| is_of(of, value)));
            let types: Vec<&str> =
                rule.as_str().into_iter().chain(items(Some(rule)).filter_map(Value::as_str)).collect();
            reason(fits, format!("expected {}, found {found}", types.join(" or ")))
        }
        "const" => reason(value == rule, format!("expected {rule}, found {found}")),
        "enum" => reason(
            items(Some(rule)).any(|one| one == value),
            format!("expected one of {rule}, found {found}"),
        ),
        "minimum" => {
            reason(value.as_f64() >= rule.as_f64() || !value.is_number(), format!("{found} is below {rule}"))
        }
        "maximum" => {
            reason(value.as_f64() <= rule.as_f64() || !value.is_number(), format!("{found} is above {rule}"))
        }
        "minItems" => reason(
            length.is_none() || length >= rule.as_u64(),
            format!("the list has fewer than {rule} items"),
        ),
        "maxItems" => reason(
            length.is_none() || length <= rule.as_u64(),
            format!("the list has more than {rule} items"),
        ),
        "required" => {
            let properties = value.as_object()?;
            let missing =
                items(Some(rule)).filter_map(Value::as_str).find(|name| !properties.contains_key(*name));
            missing.map(|name| format!("`{name}` is missing"))
        }
        other => Some(format!("the schema has the unknown keyword `{other}`")),
    }
}

/// Returns whether a value has the type with this name.
fn is_of(name: &Value, value: &Value) -> bool {
    match name.as_str() {
        Some("null") => value.is_null(),
        Some("boolean") => value.is_boolean(),
        Some("integer") => value.is_u64() || value.is_i64(),
        Some("number") => value.is_number(),
        Some("string") => value.is_string(),
        Some("array") => value.is_array(),
        Some("object") => value.is_object(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn reasons(schema: &Value, value: &Value) -> Vec<String> {
        let found = Validator::new(schema).mismatches(value);
        found.into_iter().map(|Mismatch { path, reason }| format!("{path}: {reason}")).collect()
    }

    #[test]
    fn mismatches_have_path_and_reason() {
        let schema = json!({
            "type": "object", "required": ["a"],
            "properties": {
                "a": { "$ref": "#/$defs/Positive" },
                "list": { "type": "array", "items": { "oneOf": [{ "const": "x" }, { "const": "y" }] }, "minItems": 1 },
                "either": { "anyOf": [{ "type": "null" }, {
                    "type": "object", "required": ["n"], "properties": { "n": { "type": ["integer", "null"] } }
                }] },
                "numbered": { "type": "object", "patternProperties": { NUMBERS: { "type": "boolean" } } },
            },
            "$defs": { "Positive": { "type": "integer", "minimum": 1, "maximum": 9 } },
        });
        let check = |value: Value| reasons(&schema, &value);
        assert_eq!(check(json!({"a": 1, "list": ["x"], "either": null, "numbered": {"3": true}})), [""; 0]);
        assert_eq!(check(json!({})), [": `a` is missing"]);
        assert_eq!(check(json!({"a": 0, "b": 2})), ["/a: 0 is below 1", ": the schema has no property `b`"]);
        assert_eq!(check(json!({"a": 10})), ["/a: 10 is above 9"]);
        assert_eq!(check(json!({"a": "1"})), ["/a: expected integer, found \"1\""]);
        assert_eq!(
            check(json!({"a": 1, "list": ["x", "z"]})),
            ["/list/1: expected one of \"x\", \"y\", found \"z\""]
        );
        assert_eq!(check(json!({"a": 1, "list": []})), ["/list: the list has fewer than 1 items"]);
        assert_eq!(
            check(json!({"a": 1, "either": {"n": {}}})),
            ["/either/n: expected integer or null, found an object"]
        );
        assert_eq!(check(json!({"a": 1, "numbered": {"3": 0}})), ["/numbered/3: expected boolean, found 0"]);
        assert_eq!(
            reasons(&json!({"pattern": "x"}), &json!(1)),
            [": the schema has the unknown keyword `pattern`"]
        );
    }
}
