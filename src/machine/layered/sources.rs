//! Where numbers come from, when something else says them: what is changed loses its source and gets that of the change.
//!
//! A unit, an op class with its own timing and the rules of shared memory say their `source`; the machine as a whole says
//! it in its `doc`.

use serde_json::{Map, Value};

/// The settings whose entries have a source each.
const ENTRIES: [&str; 2] = ["units", "ops"];
/// The setting that has one itself.
const WHOLE: &str = "shared_memory";

/// Who changes a machine.
#[derive(Clone, Copy, Debug)]
pub(super) enum Change<'a> {
    /// A machine file, laid over its base: it changes what it says otherwise.
    File(&'a str),
    /// A setting of the command line: likewise. Its path comes before the `=`.
    Option(&'a str),
    /// An option of another simulator's configuration: whatever it says is of it.
    Import(&'a str),
}

/// Gives what `over` has changed its source, unless it says one itself. `whole`: it says all of an entry, not one field.
pub(super) fn renew(
    before: &Map<String, Value>,
    after: &mut Map<String, Value>,
    over: &Map<String, Value>,
    (change, whole): (Change<'_>, bool),
) {
    let own = |entry: &Value| entry.get("source").is_some_and(|source| !source.is_null());
    for top in ENTRIES {
        let Some(Value::Object(said)) = over.get(top) else { continue };
        for (name, entry) in said {
            let old = before.get(top).and_then(|entries| entries.get(name));
            let new = after.get_mut(top).and_then(|entries| entries.get_mut(name));
            if let (Some(new), false) = (new, own(entry)) {
                renew_one(old, new, (change, whole));
            }
        }
    }
    if let (Some(said), Some(new)) = (over.get(WHOLE), after.get_mut(WHOLE))
        && !own(said)
    {
        renew_one(before.get(WHOLE), new, (change, whole));
    }
}

fn renew_one(old: Option<&Value>, new: &mut Value, (change, whole): (Change<'_>, bool)) {
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
        // a file that says something new may leave open where it is from
        Change::File(_) if old.is_none() => return,
        Change::File(text) | Change::Option(text) | Change::Import(text) => text,
    };
    let Value::Object(new) = new else { return };
    let known = old.and_then(|old| old.get("source")).and_then(Value::as_str).unwrap_or("");
    let kept = known.split("; ").filter(|part| !whole && goes_on_with(change, part)).collect::<Vec<_>>();
    let all = kept.into_iter().chain([text]).collect::<Vec<_>>().join("; ");
    new.insert("source".to_owned(), all.into());
}

/// The fields of shared memory that are numbers or rules.
const SHARED_MEMORY: [&str; 7] = ["rule", "banks", "latency", "step", "base_32", "base_64", "base_128"];

/// Whether a part of a source stays when another one is added: that of another field of the same entry, changed in the
/// same way.
fn goes_on_with(change: Change<'_>, part: &str) -> bool {
    match change {
        Change::File(_) => false,
        Change::Option(text) => {
            let path = |text: &str| text.split_once('=').map(|(path, _)| path.to_owned());
            part.starts_with("--set ") && path(part) != path(text)
        }
        // options begin with one dash
        Change::Import(text) => part.starts_with('-') && !part.starts_with("--") && part != text,
    }
}
