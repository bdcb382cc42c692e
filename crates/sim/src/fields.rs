//! A field-by-field comparison of two values, for tests.

use std::collections::BTreeMap;
use std::fmt::Debug;

/// Returns the fields of a value as its derived `Debug` prints them, keyed by path; the elements of
/// a list are numbered.
fn fields(value: &impl Debug) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    // for each value that is still open: its path, and the number of unnamed elements so far
    let mut open: Vec<(String, usize)> = Vec::new();
    for line in format!("{value:#?}").lines() {
        let line = line.trim().trim_end_matches(',');
        if matches!(line, "}" | ")" | "]") {
            open.pop();
            continue;
        }
        let named = line.split_once(": ").filter(|(name, _)| {
            let mut letters = name.chars();
            letters.next().is_some_and(|c| c.is_alphabetic())
                && name.chars().all(|c| c.is_alphanumeric() || c == '_')
        });
        let (path, text) = match (named, open.last_mut()) {
            (_, None) => (String::new(), line),
            (Some((name, text)), Some((path, _))) => (format!("{path}.{name}"), text),
            (None, Some((path, count))) => {
                *count += 1;
                (format!("{path}.{}", *count - 1), line)
            }
        };
        match text.strip_suffix(['{', '(', '[']) {
            Some(kind) => {
                // also record the value itself, so that an empty list or a list of another length
                // differs
                all.insert(path.clone(), kind.trim().to_owned());
                open.push((path, 0));
            }
            None => {
                all.insert(path, text.to_owned());
            }
        }
    }
    all
}

/// Returns the fields in which two values differ: the path, the first value and the second value.
pub(super) fn differences(one: &impl Debug, other: &impl Debug) -> Vec<(String, String, String)> {
    // computing the paths costs much more than the text, and is only needed if there is a
    // difference
    if format!("{one:?}") == format!("{other:?}") {
        return Vec::new();
    }
    let (one, other) = (fields(one), fields(other));
    let none = || "nothing".to_owned();
    let mut paths: Vec<&String> = one.keys().chain(other.keys()).collect();
    paths.sort();
    paths.dedup();
    paths
        .into_iter()
        .filter(|path| one.get(*path) != other.get(*path))
        .map(|path| {
            let text = |fields: &BTreeMap<String, String>| fields.get(path).cloned().unwrap_or_else(none);
            (path.clone(), text(&one), text(&other))
        })
        .collect()
}

#[test]
fn differences_have_paths() {
    #[derive(Debug)]
    #[expect(dead_code, reason = "`Debug` reads them")]
    struct Inner {
        list: Vec<u32>,
        pair: (u8, Option<u8>),
    }
    #[derive(Debug)]
    #[expect(dead_code, reason = "`Debug` reads them")]
    struct Outer {
        number: u64,
        inner: [Inner; 2],
    }
    let value = |last: u32, some: Option<u8>, more: &[u32]| Outer {
        number: 7,
        inner: [
            Inner { list: vec![1, last], pair: (0, some) },
            Inner { list: more.to_vec(), pair: (0, None) },
        ],
    };
    assert_eq!(differences(&value(2, None, &[]), &value(2, None, &[])), []);
    let different = differences(&value(2, None, &[]), &value(3, Some(4), &[5]));
    let paths: Vec<&str> = different.iter().map(|(path, ..)| &path[..]).collect();
    assert_eq!(
        paths,
        [".inner.0.list.1", ".inner.0.pair.1", ".inner.0.pair.1.0", ".inner.1.list", ".inner.1.list.0"]
    );
}
