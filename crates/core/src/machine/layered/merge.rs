//! Merging of machines, as `extends` and `--set` require.
//!
//! Machines are merged as JSON objects of [`MachineSpec`]s, in which a missing setting has its
//! default. A file states more than the values that are read from it: an explicit `None`, or a
//! value that happens to be the default, overrides the base, whereas an omitted setting does not.

use serde_json::{Map, Value};

use super::fields::{Kind, kind};
use crate::diag::Stated;
use crate::machine::written::{FORMER_POLICY_SETTING, MachineSpec};

/// Converts a machine to an object that [`from_json`] reads.
pub(super) fn to_json(spec: &MachineSpec) -> Map<String, Value> {
    match serde_json::to_value(spec) {
        Ok(Value::Object(object)) => object,
        other => panic!("a machine spec is plain data, not {other:?}"),
    }
}

/// Converts an object to a machine.
pub(super) fn from_json(object: Map<String, Value>) -> Result<MachineSpec, String> {
    serde_json::from_value(Value::Object(object)).map_err(|error| error.to_string())
}

/// Returns the settings that a file, from which `spec` was read, states explicitly. A setting with
/// parts contains only those that are named, and a setting that is `None` or the default is null.
pub(super) fn stated_settings(spec: &MachineSpec, written: &Stated) -> Map<String, Value> {
    let mut stated = to_json(spec);
    for (name, value) in written.fields() {
        let name = if name == FORMER_POLICY_SETTING { "policy" } else { name };
        if matches!(value, Stated::Nothing) {
            stated.insert(name.to_owned(), Value::Null);
        } else if kind(name) == Kind::Parts {
            let mut all = stated.remove(name).unwrap_or_default();
            let mut part = |name: &str| all.get_mut(name).map(Value::take).unwrap_or_default();
            let parts = value.fields().map(|(name, _)| (name.to_owned(), part(name))).collect();
            stated.insert(name.to_owned(), Value::Object(parts));
        } else if kind(name).is_named() {
            let all = stated.entry(name).or_insert_with(|| Value::Object(Map::new()));
            insert_nulls(all, value);
        }
    }
    stated
}

/// Inserts null for every name that is written but has the default value.
fn insert_nulls(stated: &mut Value, written: &Stated) {
    let Value::Object(stated) = stated else { return };
    for (name, value) in written.fields() {
        insert_nulls(stated.entry(name).or_insert(Value::Null), value);
    }
}

/// Removes null values.
fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(object) => {
            let kept = object.into_iter().filter(|(_, value)| !value.is_null());
            Value::Object(kept.map(|(name, value)| (name, without_nulls(value))).collect())
        }
        other => other,
    }
}

/// Applies the settings of a file to those of its base.
pub(super) fn overlay(under: &mut Map<String, Value>, over: Map<String, Value>) {
    for (name, value) in over {
        match (under.get_mut(&name), value) {
            (_, Value::Null) => {
                under.remove(&name);
            }
            (Some(Value::Object(under)), Value::Object(over)) if kind(&name) == Kind::Parts => {
                over.into_iter().for_each(|(part, value)| put(under, part, value));
            }
            (Some(under), over) if kind(&name).is_named() => merge(under, over),
            (None, over) if kind(&name).is_named() => {
                under.insert(name, without_nulls(over));
            }
            (_, Value::Object(mut parts)) if kind(&name) == Kind::Parts => {
                parts.retain(|_, value| !value.is_null());
                under.insert(name, Value::Object(parts));
            }
            (_, value) => {
                under.insert(name, value);
            }
        }
    }
}

/// Sets a field; null stands for its default.
pub(super) fn put(object: &mut Map<String, Value>, name: String, value: Value) {
    if value.is_null() {
        object.remove(&name);
    } else {
        object.insert(name, value);
    }
}

/// Merges `over` into `under`; objects are merged key by key, and null stands for the default.
fn merge(under: &mut Value, over: Value) {
    match (under, over) {
        (Value::Object(under), Value::Object(over)) => {
            for (key, value) in over {
                if value.is_null() {
                    under.remove(&key);
                } else {
                    merge(under.entry(key).or_insert(Value::Null), value);
                }
            }
        }
        (under, over) => *under = without_nulls(over),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::{Diagnostic, SourceText};

    /// Returns the machine of a file that extends `base`, without the names.
    fn extended(base: &str, file: &str) -> MachineSpec {
        let base = SourceText::new("base", format!("Machine(name: \"base\", {base})"));
        let file = SourceText::new("file", format!("Machine(name: \"file\", extends: \"base\", {file})"));
        let load = |name: &str| {
            if name == "base" { Ok(base.clone()) } else { Err(Diagnostic::general(name, "unknown").into()) }
        };
        MachineSpec::parse_with_bases(&file, &load).unwrap_or_else(|problems| panic!("{problems}"))
    }

    /// Returns the same machine, written as a single file.
    fn written(text: &str) -> MachineSpec {
        let source = SourceText::new("file", format!("Machine(name: \"file\", {text})"));
        MachineSpec::parse(&source).unwrap_or_else(|problems| panic!("{problems}"))
    }

    fn check(base: &str, file: &str, expected: &str) {
        // sources of numbers have their own tests
        let values = |spec: &MachineSpec| {
            let mut values = to_json(spec);
            values.remove("doc");
            if let Some(rules) = values.get_mut("shared_memory").and_then(Value::as_object_mut) {
                rules.remove("source");
            }
            for of_name in ["units", "ops"] {
                let entries = values.get_mut(of_name).and_then(Value::as_object_mut).into_iter().flatten();
                entries.filter_map(|(_, entry)| entry.as_object_mut()).for_each(|entry| {
                    entry.remove("source");
                });
            }
            values
        };
        assert_eq!(values(&extended(base, file)), values(&written(expected)), "{file} on {base}");
    }

    #[test]
    fn memory_and_pipeline_are_merged_part_by_part() {
        check(
            "memory: Memory(l1: L1(latency: 5, banks: 2), lower: Fixed)",
            "memory: Memory(seed: 3)",
            "memory: Memory(l1: L1(latency: 5, banks: 2), lower: Fixed, seed: 3)",
        );
        check(
            "pipeline: Pipeline(queue: 3, write_back: 2)",
            "pipeline: Pipeline(launch: Launch(end: 1))",
            "pipeline: Pipeline(queue: 3, write_back: 2, launch: Launch(end: 1))",
        );
        check("memory: Memory(seed: 3)", "", "memory: Memory(seed: 3)");
        check("memory: Memory(seed: 3)", "memory: Memory()", "memory: Memory(seed: 3)");
        check("", "memory: Memory(seed: 3)", "memory: Memory(seed: 3)");
    }

    #[test]
    fn a_nested_part_is_replaced_as_a_whole() {
        check(
            "memory: Memory(l1: L1(latency: 5, banks: 2))",
            "memory: Memory(l1: L1(banks: 4))",
            "memory: Memory(l1: L1(banks: 4))",
        );
        check(
            "pipeline: Pipeline(front_end: FrontEnd(icache: InstructionCache()))",
            "pipeline: Pipeline(front_end: FrontEnd(fetches: 2))",
            "pipeline: Pipeline(front_end: FrontEnd(fetches: 2))",
        );
        check(
            "memory: Memory(jitter: Uniform(1, 2))",
            "memory: Memory(jitter: Geometric(3))",
            "memory: Memory(jitter: Geometric(3))",
        );
        check("policy: Random(1)", "policy: Replay(\"x\")", "policy: Replay(\"x\")");
    }

    #[test]
    fn none_and_defaults_override_the_base() {
        let pipeline = "pipeline: Pipeline(queue: 3, write_back: 2)";
        check(pipeline, "pipeline: None", "");
        check("memory: Memory(lower: Fixed)", "memory: None", "");
        check("shared_memory: SharedMemory(rule: Words), sms: 4", "shared_memory: None, sms: None", "");
        check(pipeline, "pipeline: Pipeline(queue: None)", "pipeline: Pipeline(write_back: 2)");
        check(pipeline, "pipeline: Some(Pipeline(write_back: 0))", "pipeline: Pipeline(queue: 3)");
        check(
            "memory: Memory(l1: L1(), lower: Fixed, seed: 2)",
            "memory: Memory(l1: None, seed: 0)",
            "memory: Memory(lower: Fixed)",
        );
    }

    #[test]
    fn defaults_override_the_base_in_an_entry_too() {
        check(
            "units: {\"a\": Unit(init: 1, lat: 2, shared: true), \"b\": Unit(init: 1, lat: 1, shared: true)}, \
             ops: {\"o\": Op(unit: \"a\", init: 3, lat: 4)}",
            "units: {\"a\": Unit(init: 1, lat: 2, shared: false)}, \
             ops: {\"o\": Op(unit: \"a\", lat: None), \"p\": Op(unit: \"b\", init: None)}",
            "units: {\"a\": Unit(init: 1, lat: 2), \"b\": Unit(init: 1, lat: 1, shared: true)}, \
             ops: {\"o\": Op(unit: \"a\", init: 3), \"p\": Op(unit: \"b\")}",
        );
        check(
            "shared_memory: SharedMemory(rule: Turing, latency: 5), limits: Limits(warps: 3, blocks: 2)",
            "shared_memory: SharedMemory(latency: None), limits: Limits(warps: None)",
            "shared_memory: SharedMemory(rule: Turing), limits: Limits(blocks: 2)",
        );
    }

    #[test]
    fn units_and_limits_are_merged_by_name() {
        check(
            "units: {\"a\": Unit(init: 1, lat: 2, source: \"s\"), \"b\": Unit(init: 1, lat: 1)}, limits: Limits(warps: 3)",
            "units: {\"a\": Unit(init: 2, lat: 2)}, limits: Limits(blocks: 2)",
            "units: {\"a\": Unit(init: 2, lat: 2, source: \"machine file\"), \"b\": Unit(init: 1, lat: 1)}, \
             limits: Limits(warps: 3, blocks: 2)",
        );
    }
}
