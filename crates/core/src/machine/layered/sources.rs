//! Maintenance of the sources of numbers: a number that changes loses its source and gets that of
//! the change.
//!
//! A unit, an op class with its own timing, and the rules of shared memory have a `source`; the
//! machine as a whole has its `doc`.

use serde_json::{Map, Value};

/// The settings whose entries have a source each.
const ENTRIES: [&str; 2] = ["units", "ops"];
/// The setting that has a source itself.
const WHOLE: &str = "shared_memory";

/// Returns the settings that [`update_sources`] looks at when a file is combined with its base, of
/// one of the two: those that the `other` has as well.
pub(super) fn with_sources(settings: &Map<String, Value>, other: &Map<String, Value>) -> Map<String, Value> {
    let looked_at = ENTRIES.into_iter().chain([WHOLE]).filter(|name| other.contains_key(*name));
    looked_at.filter_map(|name| Some((name.to_owned(), settings.get(name)?.clone()))).collect()
}

/// The origin of a change.
#[derive(Clone, Copy, Debug)]
pub(super) enum Change<'a> {
    /// A machine file that extends a base; it changes the values that differ.
    File(&'a str),
    /// A setting of the command line; it changes the values that differ. The text before the `=` is
    /// its path.
    Option(&'a str),
    /// An option of another simulator's configuration; it is the source of all values that it sets.
    Import(&'a str),
}

/// Updates the sources of the entries that `over` has changed, unless it states a source itself.
/// `whole` states whether the change sets entire entries rather than one field.
pub(super) fn update_sources(
    before: &Map<String, Value>,
    after: &mut Map<String, Value>,
    over: &Map<String, Value>,
    (change, whole): (Change<'_>, bool),
) {
    let has_source = |entry: &Value| entry.get("source").is_some_and(|source| !source.is_null());
    for top in ENTRIES {
        let Some(Value::Object(stated)) = over.get(top) else { continue };
        for (name, entry) in stated {
            let old = before.get(top).and_then(|entries| entries.get(name));
            let new = after.get_mut(top).and_then(|entries| entries.get_mut(name));
            if let (Some(new), false) = (new, has_source(entry)) {
                update_source(old, new, (change, whole));
            }
        }
    }
    if let (Some(stated), Some(new)) = (over.get(WHOLE), after.get_mut(WHOLE))
        && !has_source(stated)
    {
        update_source(before.get(WHOLE), new, (change, whole));
    }
}

fn update_source(old: Option<&Value>, new: &mut Value, (change, whole): (Change<'_>, bool)) {
    let numbers = |entry: &Value| match entry {
        Value::Object(entry) => entry.iter().filter(|(name, _)| *name != "source").count(),
        _ => 0,
    };
    let same = old.is_some_and(|old| {
        let get = |entry: &Value, name: &str| entry.get(name).cloned();
        let names = || ["unit", "init", "lat", "shared"].into_iter().chain(SHARED_MEMORY);
        old.is_object() == new.is_object()
            && numbers(old) == numbers(new)
            && names().all(|name| get(old, name) == get(new, name))
    });
    let text = match change {
        Change::File(_) | Change::Option(_) if same => return,
        // a file may add an entry without a source
        Change::File(_) if old.is_none() => return,
        Change::File(text) | Change::Option(text) | Change::Import(text) => text,
    };
    let Value::Object(new) = new else { return };
    let known = old.and_then(|old| old.get("source")).and_then(Value::as_str).unwrap_or("");
    let kept = known.split("; ").filter(|part| !whole && stays_valid_after(change, part)).collect::<Vec<_>>();
    let all = kept.into_iter().chain([text]).collect::<Vec<_>>().join("; ");
    new.insert("source".to_owned(), all.into());
}

/// The fields of shared memory that are numbers or rules.
const SHARED_MEMORY: [&str; 8] =
    ["rule", "banks", "latency", "step", "base_32", "base_64", "base_128", "atomics"];

/// Returns whether a part of a source stays valid after this change. It does if it names a change
/// of the same kind to another field of the entry.
fn stays_valid_after(change: Change<'_>, part: &str) -> bool {
    match change {
        Change::File(_) => false,
        Change::Option(text) => {
            let path = |text: &str| text.split_once('=').map(|(path, _)| path.to_owned());
            part.starts_with("--set ") && path(part) != path(text)
        }
        // these options begin with a single dash
        Change::Import(text) => part.starts_with('-') && !part.starts_with("--") && part != text,
    }
}
