//! The validation of the command line's JSON output against the schema of its command.
//!
//! The validator supports only the keywords that occur in `schemas/`. It is stricter than the
//! standard: a property that the schema does not name is an error.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

/// Reads the JSON object that a command prints. If it has exactly one result, the fields of the
/// result are also added to the object itself, so that tests of single results can use short paths.
pub fn read(stdout: &[u8]) -> Value {
    let object: Value = serde_json::from_slice(stdout).expect("one JSON object on stdout");
    check(&object);
    let mut flat = object.clone();
    if let [Value::Object(only)] = object["results"].as_array().expect("results are a list").as_slice() {
        for (name, value) in only {
            flat.as_object_mut().unwrap().entry(name.clone()).or_insert_with(|| value.clone());
        }
    }
    flat
}

/// Panics if an object does not conform to the schema of its command.
fn check(object: &Value) {
    let command = object["command"].as_str().expect("the command is named");
    let failed = object["results"] == Value::Array(Vec::new()) && object["errors"].is_array();
    let name = if failed { "errors" } else { command };
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("schemas/{name}.json"));
    let schema: Value =
        serde_json::from_slice(&std::fs::read(path).expect("the command has a schema")).unwrap();
    let validator = Validator { root: &schema };
    if let Err(problem) = validator.check(&schema, object, "") {
        panic!("not as schemas/{name}.json says: {problem}\n{object:#}");
    }
}

fn is_number(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit())
}

struct Validator<'a> {
    root: &'a Value,
}

impl<'a> Validator<'a> {
    fn resolved(&self, schema: &'a Value) -> &'a Value {
        match schema.get("$ref").and_then(Value::as_str) {
            None => schema,
            Some(path) => {
                let name = path.strip_prefix("#/$defs/").expect("references stay in the file");
                self.resolved(&self.root["$defs"][name])
            }
        }
    }

    /// Returns the subschemas that apply to the same value as the schema.
    fn branches(schema: &'a Value) -> impl Iterator<Item = &'a Value> {
        let lists = ["allOf", "anyOf", "oneOf"].into_iter().filter_map(|key| schema.get(key)?.as_array());
        lists.flatten()
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
        let own = of.get("properties").and_then(Value::as_object);
        let mut names: BTreeSet<&str> = own.into_iter().flatten().map(|(name, _)| name.as_str()).collect();
        // the properties next to a reference count too
        let properties_of_schema = schema.get("properties").and_then(Value::as_object);
        names.extend(properties_of_schema.into_iter().flatten().map(|(name, _)| name.as_str()));
        for branch in Self::branches(of).chain(Self::branches(schema)) {
            names.extend(self.named(branch)?);
        }
        Some(names)
    }

    fn check(&self, schema: &'a Value, value: &Value, place: &str) -> Result<(), String> {
        self.parts(schema, value, place)?;
        if let (Value::Object(object), Some(names)) = (value, self.named(schema))
            && let Some(unknown) = object.keys().find(|key| !names.contains(key.as_str()))
        {
            return Err(format!("{place}: `{unknown}` is in no schema"));
        }
        Ok(())
    }

    fn parts(&self, schema: &'a Value, value: &Value, place: &str) -> Result<(), String> {
        let Value::Object(keywords) = schema else {
            return if schema == &Value::Bool(true) { Ok(()) } else { Err(format!("{place}: nothing fits")) };
        };
        for (keyword, rule) in keywords {
            let wrong = |what: &str| Err(format!("{place}: {what}, {value}"));
            match keyword.as_str() {
                "$schema" | "$id" | "$defs" | "title" | "description" | "format" | "default" => {}
                "$ref" => self.parts(self.resolved(schema), value, place)?,
                "type" => {
                    let is = |name: &Value| match name.as_str().expect("a type has a name") {
                        "null" => value.is_null(),
                        "boolean" => value.is_boolean(),
                        "integer" => value.is_u64() || value.is_i64(),
                        "number" => value.is_number(),
                        "string" => value.is_string(),
                        "array" => value.is_array(),
                        "object" => value.is_object(),
                        other => panic!("no type `{other}`"),
                    };
                    let fits = rule.as_array().map_or_else(|| is(rule), |names| names.iter().any(is));
                    if !fits {
                        return wrong(&format!("expected {rule}"));
                    }
                }
                "const" if value != rule => return wrong(&format!("expected {rule}")),
                "enum" if !rule.as_array().unwrap().contains(value) => {
                    return wrong(&format!("expected one of {rule}"));
                }
                "minimum" if value.is_number() && value.as_f64() < rule.as_f64() => {
                    return wrong("too small");
                }
                "maximum" if value.is_number() && value.as_f64() > rule.as_f64() => {
                    return wrong("too large");
                }
                "minItems" if value.as_array().is_some_and(|l| (l.len() as u64) < rule.as_u64().unwrap()) => {
                    return wrong("too few");
                }
                "maxItems" if value.as_array().is_some_and(|l| (l.len() as u64) > rule.as_u64().unwrap()) => {
                    return wrong("too many");
                }
                "const" | "enum" | "minimum" | "maximum" | "minItems" | "maxItems" => {}
                "required" => {
                    let missing = |name: &&Value| value.get(name.as_str().unwrap()).is_none();
                    if let Some(name) = rule.as_array().unwrap().iter().find(missing) {
                        return wrong(&format!("{name} is missing"));
                    }
                }
                "properties" => {
                    for (name, schema) in rule.as_object().unwrap() {
                        if let Some(inner) = value.get(name) {
                            self.check(schema, inner, &format!("{place}/{name}"))?;
                        }
                    }
                }
                "additionalProperties" => {
                    let known = schema.get("properties").and_then(Value::as_object);
                    let numbers = schema.get("patternProperties").is_some();
                    for (name, inner) in value.as_object().into_iter().flatten() {
                        let matched = numbers && is_number(name);
                        if !matched && known.is_none_or(|known| !known.contains_key(name)) {
                            self.check(rule, inner, &format!("{place}/{name}"))?;
                        }
                    }
                }
                "patternProperties" => {
                    let patterns: Vec<_> = rule.as_object().unwrap().iter().collect();
                    let [(pattern, schema)] = patterns[..] else { panic!("several patterns") };
                    assert_eq!(pattern, r"^\d+$", "the one pattern that is known");
                    for (name, inner) in value.as_object().into_iter().flatten() {
                        if is_number(name) {
                            self.check(schema, inner, &format!("{place}/{name}"))?;
                        }
                    }
                }
                "items" => {
                    for (index, inner) in value.as_array().into_iter().flatten().enumerate() {
                        self.check(rule, inner, &format!("{place}/{index}"))?;
                    }
                }
                "allOf" => {
                    rule.as_array().unwrap().iter().try_for_each(|part| self.parts(part, value, place))?;
                }
                "anyOf" | "oneOf" => {
                    let tried: Vec<_> =
                        rule.as_array().unwrap().iter().map(|part| self.parts(part, value, place)).collect();
                    let fit = tried.iter().filter(|tried| tried.is_ok()).count();
                    if fit == 0 || keyword == "oneOf" && fit > 1 {
                        return wrong(&format!("{fit} of {} fit: {tried:?}", tried.len()));
                    }
                }
                other => panic!("schemas use `{other}`, which this test does not know"),
            }
        }
        Ok(())
    }
}

#[test]
fn a_wrong_object_does_not_pass() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas/phases.json");
    let schema: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let validator = Validator { root: &schema };
    let good = serde_json::json!({
        "schema": 2, "command": "phases", "tool_version": "0", "seed": 0, "complete": true,
        "results": [{"kernel": "k", "machine": "m", "machine_digest": "0", "block": 0, "warps": [
            {"warp": 0, "isolated": 3, "exec": 2, "idle": 1, "phases": [{"kind": "exec", "start": 0, "end": 2}]}
        ]}]
    });
    assert_eq!(validator.check(&schema, &good, ""), Ok(()));
    let wrong = |change: &dyn Fn(&mut Value)| {
        let mut object = good.clone();
        change(&mut object);
        assert!(validator.check(&schema, &object, "").is_err(), "{object:#}");
    };
    wrong(&|object| object["results"] = "none".into());
    wrong(&|object| object["more"] = 1.into());
    wrong(&|object| object["results"][0]["warps"][0]["exec"] = "2".into());
    wrong(&|object| object["results"][0]["warps"][0]["phases"][0]["more"] = 1.into());
    wrong(&|object| drop(object["results"][0].as_object_mut().unwrap().remove("machine_digest")));
}
