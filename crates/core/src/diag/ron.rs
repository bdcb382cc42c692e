//! Reading and writing of RON with [`Diagnostics`].

use std::collections::BTreeSet;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;

use ron::error::{Error, SpannedError};
use ron::extensions::Extensions;
use serde::de::{self, DeserializeOwned, DeserializeSeed, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::ron_words::{description, suggestion};
use super::stated::{Noting, Stated};
use super::{Diagnostic, Diagnostics, SourceText, shortened};

/// Parses a RON value; optional fields need no `Some(..)`.
///
/// # Errors
/// Returns a diagnostic at the location where parsing stopped. RON reports one problem at a time.
pub fn from_ron<T: DeserializeOwned>(source: &SourceText) -> Result<T, Diagnostics> {
    from_ron_seed(source, PhantomData)
}

/// Parses a RON value like [`from_ron`], and returns also which fields the text states.
///
/// # Errors
/// Returns the errors of [`from_ron`].
pub fn from_ron_stated<T: DeserializeOwned>(source: &SourceText) -> Result<(T, Stated), Diagnostics> {
    let mut stated = Stated::default();
    let value = from_ron_seed(source, Noting { inner: PhantomData, stated: &mut stated })?;
    Ok((value, stated))
}

fn from_ron_seed<'a, S: DeserializeSeed<'a>>(
    source: &'a SourceText,
    seed: S,
) -> Result<S::Value, Diagnostics> {
    let options = ron::Options::default().with_default_extension(Extensions::IMPLICIT_SOME);
    options.from_str_seed(source.text(), seed).map_err(|error| problem(source, &error).into())
}

/// Writes a value as RON with the names of structs; `file` is the name for messages.
///
/// # Errors
/// RON cannot express the value.
pub fn to_ron(
    file: &str,
    value: &dyn erased_serde::Serialize,
    extensions: Extensions,
) -> Result<String, Diagnostic> {
    let style = ron::ser::PrettyConfig::new().struct_names(true).extensions(extensions);
    ron::ser::to_string_pretty(value, style).map_err(|error| Diagnostic::general(file, error.to_string()))
}

fn problem(source: &SourceText, error: &SpannedError) -> Diagnostic {
    let text = source.text();
    let at = |position: ron::error::Position| offset_of(text, position.line, position.col);
    let (start, end) = (at(error.span.start), at(error.span.end));
    let word: &str = match &error.code {
        Error::NoSuchStructField { found, .. }
        | Error::NoSuchEnumVariant { found, .. }
        | Error::ExpectedDifferentStructName { found, .. } => found,
        Error::DuplicateStructField { field, .. } => field,
        _ => "",
    };
    let place = if word.is_empty() { None } else { word_before(text, end, word) };
    let place = place.unwrap_or_else(|| with_its_sign(text, start)..after(text, start));
    let (message, hint) = (description(&error.code), suggestion(&error.code, &text[place.start..]));
    source.error(place, shortened(&message)).hint(hint)
}

/// Moves the location of a number to its sign, since the parser reports the position after the
/// sign.
fn with_its_sign(text: &str, start: usize) -> usize {
    if text[..start].ends_with('-') { start - 1 } else { start }
}

/// Finds the last occurrence of a word before an offset, since the parser is already past the
/// problem.
fn word_before(text: &str, end: usize, word: &str) -> Option<Range<usize>> {
    let inner = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    let places = text.get(..end)?.rmatch_indices(word).map(|(at, _)| at..at + word.len());
    let mut whole_words = places
        .filter(|at| !inner(text[..at.start].chars().next_back()) && !inner(text[at.end..].chars().next()));
    whole_words.next()
}

/// Returns the end of the character at an offset.
fn after(text: &str, offset: usize) -> usize {
    (offset..=text.len()).skip(1).find(|&end| text.is_char_boundary(end)).unwrap_or(offset)
}

fn offset_of(text: &str, line: usize, column: usize) -> usize {
    let start: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    let rest = &text[start..];
    start + rest.char_indices().nth(column.saturating_sub(1)).map_or(rest.len(), |(i, _)| i)
}

/// Deserializes a map with unique keys to any collection, for serde's `deserialize_with`.
///
/// # Errors
/// The text is not such a map.
pub fn unique_keys<'de, D, V, C>(deserializer: D) -> Result<C, D::Error>
where
    D: Deserializer<'de>,
    V: Deserialize<'de>,
    C: FromIterator<(String, V)>,
{
    struct Unique<V>(PhantomData<V>);

    impl<'de, V: Deserialize<'de>> Visitor<'de> for Unique<V> {
        type Value = Vec<(String, V)>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a map `{ \"name\": value, .. }`")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut pairs = Vec::new();
            let mut seen = BTreeSet::new();
            while let Some(key) = map.next_key::<String>()? {
                if !seen.insert(key.clone()) {
                    return Err(de::Error::custom(format!("`{key}` is given twice here")));
                }
                pairs.push((key, map.next_value()?));
            }
            Ok(pairs)
        }
    }

    deserializer.deserialize_map(Unique(PhantomData)).map(|pairs| pairs.into_iter().collect())
}
