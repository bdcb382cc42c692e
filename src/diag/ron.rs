//! RON with the crate's diagnostics.

use serde::de::DeserializeOwned;

use super::{Diagnostics, SourceText, shortened};

/// Reads a RON value; optional fields need no `Some(..)`.
///
/// # Errors
/// The place where reading stopped. RON reports one problem at a time.
pub fn from_ron<T: DeserializeOwned>(source: &SourceText) -> Result<T, Diagnostics> {
    let options = ron::Options::default().with_default_extension(ron::extensions::Extensions::IMPLICIT_SOME);
    options.from_str(source.text()).map_err(|error| {
        let at = error.span.start;
        let offset = offset_of(source.text(), at.line, at.col);
        let end = (offset..=source.text().len())
            .skip(1)
            .find(|&end| source.text().is_char_boundary(end))
            .unwrap_or(offset);
        let diagnostic = source.error(offset..end, shortened(&error.code.to_string()));
        Diagnostics::from(diagnostic.hint(
            "this file is RON: `Name(field: value, ...)`; the README's section on files lists the fields",
        ))
    })
}

fn offset_of(text: &str, line: usize, column: usize) -> usize {
    let start: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    let rest = &text[start..];
    start + rest.char_indices().nth(column.saturating_sub(1)).map_or(rest.len(), |(i, _)| i)
}
