//! The JSON Schema files of `schemas/`, which are embedded, and the validation of the output of
//! commands against them.

use include_dir::{Dir, include_dir};
use serde_json::Value;

use super::validator::Validator;
use warpbound_core::diag::{Diagnostic, Diagnostics, SourceText, closest};

static SCHEMAS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/schemas");

/// The maximum number of mismatches that are reported.
const SHOWN: usize = 10;

/// Returns the names of all schemas, in order. A name is that of the command, except for `errors`,
/// which is the schema of the output of any command that has no result.
pub fn names() -> Vec<&'static str> {
    let stem = |file: &'static include_dir::File<'static>| file.path().file_stem()?.to_str();
    let mut names: Vec<&str> = SCHEMAS.files().filter_map(stem).collect();
    names.sort_unstable();
    names
}

/// Returns the text of the schema with this name.
///
/// # Errors
/// There is no such schema.
pub fn text(name: &str) -> Result<&'static str, Diagnostic> {
    let file = SCHEMAS.get_file(format!("{name}.json")).and_then(|file| file.contents_utf8());
    file.ok_or_else(|| {
        let names = names();
        let near = closest(name, names.iter().copied());
        let near = near.map_or(String::new(), |near| format!("did you mean `{near}`? "));
        let hint = format!("{near}schemas: {}", names.join(", "));
        Diagnostic::general("schema", format!("no schema `{name}`")).hint(hint)
    })
}

/// Returns the name of the schema for an output: that of its command, or `errors` if the command had
/// no result.
fn name_for(output: &Value) -> Option<&str> {
    let command = output["command"].as_str()?;
    let has_none = output["results"].as_array().is_some_and(Vec::is_empty);
    Some(if has_none && output["errors"].is_array() { "errors" } else { command })
}

/// Checks an output of a command against the schema of the command, and returns the name of the
/// schema.
///
/// # Errors
/// Returns the first mismatches, or an error with its place if the text is not JSON or names no
/// command.
pub fn check(source: &SourceText) -> Result<String, Diagnostics> {
    let output: Value = serde_json::from_str(source.text()).map_err(|error| {
        let text = error.to_string();
        let message = text.split(" at line ").next().unwrap_or_default();
        let starts = source.text().split_inclusive('\n').take(error.line().saturating_sub(1));
        let offset = starts.map(str::len).sum::<usize>() + error.column().saturating_sub(1);
        source.error(offset..offset, format!("this is not JSON: {message}"))
    })?;
    let Some(name) = name_for(&output) else {
        let problem =
            Diagnostic::general(source.name(), "this is not the output of a command: it has no `command`");
        return Err(problem.hint("check the output of a command with --format json").into());
    };
    let schema = text(name).map_err(|problem| Diagnostic { file: source.name().to_owned(), ..problem })?;
    let schema: Value = serde_json::from_str(schema).expect("embedded schemas are JSON");
    let mismatches = Validator::new(&schema).mismatches(&output);
    let mut problems = Diagnostics::new();
    let rest = mismatches.len().saturating_sub(SHOWN);
    for (index, mismatch) in mismatches.into_iter().take(SHOWN).enumerate() {
        let path = if mismatch.path.is_empty() { "the whole object" } else { &mismatch.path };
        let mut problem = Diagnostic::general(source.name(), format!("{path}: {}", mismatch.reason));
        if index == 0 {
            problem = problem.hint(format!("`warpbound schema print {name}` prints the schema"));
        }
        problems.push(problem);
    }
    if rest > 0 {
        problems
            .push(Diagnostic::general(source.name(), format!("{rest} further mismatches are not listed")));
    }
    problems.into_result(name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(text: &str) -> String {
        check(&SourceText::new("out.json", text)).unwrap_err().to_string()
    }

    fn phases(change: impl FnOnce(&mut Value)) -> String {
        let mut output = serde_json::json!({
            "schema": 2, "command": "phases", "tool_version": "0", "seed": 0, "complete": true,
            "results": [{"kernel": "k", "machine": "m", "machine_digest": "0", "block": 0, "warps": [
                {"warp": 0, "isolated": 3, "exec": 2, "idle": 1, "phases": [{"kind": "exec", "start": 0, "end": 2}]}
            ]}]
        });
        change(&mut output);
        output.to_string()
    }

    #[test]
    fn a_wrong_output_has_path_and_reason() {
        assert_eq!(check(&SourceText::new("out.json", phases(|_| {}))).unwrap(), "phases");
        let wrong = |change: &dyn Fn(&mut Value)| problems(&phases(change));
        assert!(
            wrong(&|o| o["results"] = "none".into()).contains("/results: expected array, found \"none\"")
        );
        assert!(wrong(&|o| o["more"] = 1.into()).contains("no property `more`"));
        let inner = wrong(&|o| o["results"][0]["warps"][0]["exec"] = "2".into());
        assert!(inner.contains("/results/0/warps/0/exec: expected integer, found \"2\""), "{inner}");
        let deep = wrong(&|o| o["results"][0]["warps"][0]["phases"][0]["more"] = 1.into());
        assert!(deep.contains("/results/0/warps/0/phases/0: the schema has no property `more`"), "{deep}");
        let gone = wrong(&|o| drop(o["results"][0].as_object_mut().unwrap().remove("machine_digest")));
        assert!(gone.contains("/results/0: `machine_digest` is missing"), "{gone}");
        let many = wrong(&|o| o["results"] = vec![Value::from(1); 30].into());
        assert!(many.contains("/results/9") && !many.contains("/results/10"), "{many}");
        assert!(many.contains("20 further mismatches"), "{many}");
    }

    #[test]
    fn what_is_no_output_is_refused() {
        let broken = problems("{\n  \"command\": \"run\",\n  oops\n}");
        assert!(broken.contains("out.json:3:3") && broken.contains("this is not JSON"), "{broken}");
        assert!(problems("[1]").contains("not the output of a command"));
        assert!(problems("{\"command\": \"runn\"}").contains("did you mean `run`?"));
    }

    #[test]
    fn the_validator_knows_every_keyword() {
        // a value that fits no schema meets every keyword outside of values
        for name in names() {
            let schema: Value = serde_json::from_str(text(name).unwrap()).unwrap();
            let definitions = schema["$defs"].as_object().into_iter().flatten().map(|(_, of)| of);
            for of in definitions.chain([&schema]) {
                let mut wanted = vec![of];
                while let Some(next) = wanted.pop() {
                    let found = Validator::new(next).mismatches(&Value::from("x"));
                    let unknown = found.iter().find(|one| one.reason.contains("unknown keyword"));
                    assert_eq!(unknown, None, "{name}");
                    wanted
                        .extend(next["properties"].as_object().into_iter().flatten().map(|(_, inner)| inner));
                    wanted.extend(next.get("items"));
                    let lists =
                        ["allOf", "anyOf", "oneOf"].into_iter().filter_map(|key| next[key].as_array());
                    wanted.extend(lists.flatten());
                }
                let patterns = of["patternProperties"].as_object();
                assert!(patterns.is_none_or(|patterns| patterns.keys().eq([r"^\d+$"])), "{name}");
            }
        }
    }
}
