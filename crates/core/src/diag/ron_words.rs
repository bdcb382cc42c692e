//! Messages about RON errors in terms of the files that users write, rather than of the parser's
//! types.

use ron::error::Error;

use super::closest;

const FORM: &str = "this file is RON: `Name(field: value, ...)`; docs/files.md lists the fields";

const QUOTED: &str = "a text in quotes cannot stand alone here; write it in a form such as `Kernel(\"my.ron\")`; \
                      docs/files.md lists the forms";

/// Describes an error.
pub fn description(error: &Error) -> String {
    if let Some(text) = of_forms(error) {
        return text;
    }
    let fixed = match error {
        Error::Message(message) => return reworded(message),
        Error::Io(message) => return message.clone(),
        Error::Eof => "the text ends too early: something that was opened is not closed",
        Error::ExpectedArray => "a list `[...]` is expected here",
        Error::ExpectedArrayEnd => "a `]` is missing here: the list is not closed",
        Error::ExpectedAttribute | Error::ExpectedAttributeEnd => {
            "an attribute `#![enable(...)]` is expected here"
        }
        Error::ExpectedBoolean => "`true` or `false` is expected here",
        Error::ExpectedComma => "a comma or the closing bracket is expected here",
        Error::ExpectedChar => "a single character such as 'a' is expected here",
        Error::ExpectedByteLiteral | Error::ExpectedByteString => "bytes such as b\"...\" are expected here",
        Error::ExpectedFloat => "a number is expected here",
        Error::FloatUnderscore => "a number with a fraction has no `_`",
        Error::ExpectedInteger => "a whole number is expected here",
        Error::ExpectedOption => "a value or `None` is expected here",
        Error::ExpectedOptionEnd | Error::ExpectedStructLikeEnd => "a `)` is missing here",
        Error::ExpectedMap => "a map `{ \"name\": value, ... }` is expected here",
        Error::ExpectedMapColon => "a colon is expected between a name and its value",
        Error::ExpectedMapEnd => "a `}` is missing here: the map is not closed",
        Error::ExpectedStructLike => "an opening `(` is expected here",
        Error::ExpectedUnit => "`()` is expected here",
        Error::ExpectedString => "a text in double quotes is expected here",
        Error::ExpectedStringEnd => "the text in quotes is not closed",
        Error::ExpectedIdentifier => "a name is expected here",
        Error::InvalidEscape(why) => return format!("a text in quotes has a wrong escape: {why}"),
        Error::IntegerOutOfBounds => "the number is too large or too small here",
        Error::InvalidIntegerDigit { digit, .. } => {
            return format!("a whole number is expected here, and `{}` is not a digit", digit.escape_debug());
        }
        Error::NoSuchExtension(name) => return format!("RON has no extension `{name}`"),
        Error::UnclosedBlockComment => "a comment `/* ...` is not closed",
        Error::UnclosedLineComment => "the value ends in a comment",
        Error::UnderscoreAtBeginning => "a number does not begin with `_`",
        Error::UnexpectedChar(c) => return format!("`{}` does not belong here", c.escape_debug()),
        Error::Utf8Error(_) => "the text is not UTF-8",
        Error::TrailingCharacters => "the value is complete, and more text follows here",
        Error::InvalidIdentifier(name) => return format!("`{}` is not a name", name.escape_debug()),
        Error::SuggestRawIdentifier(name) => {
            return format!("`{}` is not a name; it can be written `r#{0}`", name.escape_debug());
        }
        Error::ExceededRecursionLimit => "brackets are nested too deeply here (more than 128 levels)",
        Error::ExpectedRangeSyntax => "a range `a..b` is expected here",
        // errors that only the writer reports, or that a later version of the parser adds
        Error::Fmt | Error::ExpectedRawValue => "a value is expected here",
        other => return other.to_string(),
    };
    fixed.to_owned()
}

/// Describes an error about a form, its name or its fields; `None` for other errors.
fn of_forms(error: &Error) -> Option<String> {
    Some(match error {
        Error::InvalidValueForType { expected, found } => {
            format!("{} is expected here, and this is {found}", plain(expected))
        }
        Error::ExpectedDifferentLength { expected, found } => {
            let values = if *found == 1 { "value" } else { "values" };
            format!("{} is expected here, and this has {found} {values}", plain(expected))
        }
        Error::ExpectedDifferentStructName { expected, found } => {
            format!("`{expected}(...)` is expected here, not `{found}`")
        }
        Error::ExpectedNamedStructLike("") => "an opening `(` without a name is expected here".to_owned(),
        Error::ExpectedNamedStructLike(name) => format!("`{name}(...)` is expected here"),
        Error::ExpectedStructName(name) => format!("the name `{name}` is expected before the `(`"),
        Error::NoSuchEnumVariant { found, expected, .. } => {
            format!("`{found}` is not one of {}", listed(expected))
        }
        Error::NoSuchStructField { found, expected: [], .. } => {
            format!("the field `{found}` is not expected here: there are no fields")
        }
        Error::NoSuchStructField { found, expected, outer } => {
            format!("there is no field `{found}`{}; it has {}", in_form(outer), listed(expected))
        }
        Error::MissingStructField { field, outer } => {
            format!("the field `{field}`{} is missing", in_form(outer))
        }
        Error::DuplicateStructField { field, outer } => {
            format!("the field `{field}`{} is given twice here", in_form(outer))
        }
        _ => return None,
    })
}

/// Returns a hint for an error; `at` is the text from its location on.
pub(super) fn suggestion(error: &Error, at: &str) -> String {
    let near = match error {
        Error::NoSuchStructField { found, expected, .. }
        | Error::NoSuchEnumVariant { found, expected, .. } => closest(found, expected.iter().copied()),
        Error::ExpectedDifferentStructName { expected, found } => closest(found, [*expected]),
        _ => None,
    };
    if let Some(near) = near {
        return format!("did you mean `{near}`?");
    }
    match error {
        Error::ExceededRecursionLimit => {
            "no machine, launch, program or plan nests that deeply: is a bracket not closed?"
        }
        Error::ExpectedIdentifier if at.trim_start().starts_with('"') => QUOTED,
        Error::ExpectedString if at.trim_start().starts_with('\'') => {
            "texts stand in double quotes: \"like this\""
        }
        _ => FORM,
    }
    .to_owned()
}

/// Names the form that a field belongs to, if users know it by that name.
fn in_form(outer: &Option<String>) -> String {
    match outer {
        Some(name) if !is_of_types(name) => format!(" of `{name}`"),
        _ => String::new(),
    }
}

/// Returns whether a name is a Rust type of this crate, which no file contains.
fn is_of_types(name: &str) -> bool {
    name.ends_with("Spec") || name.ends_with("Kind")
}

/// Formats names as a list in a message.
fn listed(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.as_slice() {
        [] => "nothing".to_owned(),
        [only] => only.clone(),
        [before @ .., last] => format!("{} and {last}", before.join(", ")),
    }
}

/// Describes what serde expects without the names of Rust types.
fn plain(expected: &str) -> String {
    for (begins, meant) in
        [("struct ", "a form `"), ("tuple struct ", "a form `"), ("enum ", "one of the forms of `")]
    {
        if let Some(rest) = expected.strip_prefix(begins) {
            let name = rest.split(' ').next().unwrap_or(rest);
            return if is_of_types(name) { "another form".to_owned() } else { format!("{meant}{name}`") };
        }
    }
    match expected {
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number from 0 on".to_owned(),
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number".to_owned(),
        "f32" | "f64" => "a number".to_owned(),
        other => other.to_owned(),
    }
}

/// Rewords a message of serde that exists only as text: those about untagged enums name a Rust
/// type.
fn reworded(message: &str) -> String {
    if message.starts_with("data did not match any variant of untagged enum") {
        return "the value has none of the forms that are allowed here".to_owned();
    }
    message.to_owned()
}

#[cfg(test)]
mod tests {
    use super::super::{SourceText, from_ron};
    use std::collections::HashMap;

    use serde::Deserialize;

    #[derive(Debug, Deserialize)]
    #[serde(rename = "Machine", deny_unknown_fields)]
    #[allow(dead_code, reason = "they are read and not used")]
    struct MachineSpec {
        name: String,
        #[serde(default)]
        doc: String,
        #[serde(default)]
        hazards: Vec<HazardKind>,
        #[serde(default)]
        units: HashMap<String, UnitSpec>,
        #[serde(default)]
        ops: HashMap<String, String>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(rename = "Unit", deny_unknown_fields)]
    #[allow(dead_code, reason = "they are read and not used")]
    struct UnitSpec {
        init: u64,
        lat: u64,
    }

    #[derive(Debug, Deserialize)]
    enum HazardKind {
        Raw,
        Waw,
    }

    /// No message mentions types of the program that reads the file.
    #[test]
    fn messages_are_about_the_file() {
        let nested = format!("Machine(name: \"m\", doc: {}1{})", "[".repeat(400), "]".repeat(400));
        let unit = |text: &str| format!("Machine(name: \"m\", units: {{ \"f\": {text} }}, ops: {{}})");
        for (text, expected, hinted) in [
            (unit("Uni(init: 1, lat: 0)"), "`Unit(...)` is expected here, not `Uni`", "did you mean `Unit`?"),
            (unit("Unit(lat: 0)"), "the field `init` of `Unit` is missing", "docs/files.md"),
            (unit("Unit(init: \"a\", lat: 0)"), "a whole number is expected here", "docs/files.md"),
            (unit("Unit(init: -1, lat: 0)"), "too large or too small", "docs/files.md"),
            (unit("Unit(init: 1, init: 1, lat: 0)"), "is given twice here", "docs/files.md"),
            (unit("Unit(init: 1, lta: 0)"), "there is no field `lta`", "did you mean `lat`?"),
            ("Machine(name: 'm')".to_owned(), "a text in double quotes", "double quotes"),
            ("Machine(name: \"m\") x".to_owned(), "more text follows", "docs/files.md"),
            ("Machine(name: \"m\"".to_owned(), "expected", "docs/files.md"),
            (
                "Machine(name: \"m\", hazards: [Rwa])".to_owned(),
                "`Rwa` is not one of `Raw` and `Waw`",
                "did you mean `Raw`?",
            ),
            (nested, "a text in double quotes is expected here", "docs/files.md"),
            ("[".repeat(100_000), "`Machine(...)` is expected here", "docs/files.md"),
        ] {
            let problems = from_ron::<MachineSpec>(&SourceText::new("m.ron", text.clone())).expect_err(&text);
            let problem = &problems.list()[0];
            assert!(problem.message.contains(expected), "{}", problem.message);
            assert!(problem.hint.contains(hinted), "{}", problem.hint);
            for rust in ["enum", "struct", "variant", "Spec", "identifier", "serde", "u64"] {
                assert!(!problem.to_string().replace(&problem.excerpt, "").contains(rust), "{problem}");
            }
        }
        let deep = format!("{}{}", "[".repeat(400), "]".repeat(400));
        let problems = from_ron::<ron::Value>(&SourceText::new("m.ron", deep)).expect_err("it is too deep");
        assert!(problems.list()[0].message.contains("nested too deeply"), "{problems}");
    }
}
