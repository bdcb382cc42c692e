//! The validation of the command line's JSON output against the schema of its command.

use serde_json::Value;

use warpbound::diag::SourceText;
use warpbound::report::schema_files;

/// Reads the JSON object that a command prints. If it has exactly one result, the fields of the
/// result are also added to the object itself, so that tests of single results can use short paths.
pub fn read(stdout: &[u8]) -> Value {
    let text = std::str::from_utf8(stdout).expect("text");
    let object: Value = serde_json::from_str(text).expect("one JSON object on stdout");
    if let Err(problems) = schema_files::check(&SourceText::new("stdout", text)) {
        panic!("the output is not as its schema says: {problems}\n{object:#}");
    }
    let mut flat = object.clone();
    if let [Value::Object(only)] = object["results"].as_array().expect("results are a list").as_slice() {
        for (name, value) in only {
            flat.as_object_mut().unwrap().entry(name.clone()).or_insert_with(|| value.clone());
        }
    }
    flat
}
