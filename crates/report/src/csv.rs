//! The tables of a command's JSON as CSV.
//!
//! A table is a list of objects in the JSON and is named by its path, such as `results` or
//! `results.bounds`. Each object is a row. Its columns are its numbers and words, with those of the
//! objects around it before them, under the names of the JSON. An object inside a row becomes columns
//! `outer.inner`. The same holds for a list whose elements have different names, such as the bounds
//! of a run: `bounds.gub.value`. Other lists inside a row are tables of their own.

use std::collections::HashSet;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use warpbound_trace::trace::quoted;

/// A JSON value whose objects keep the order of their fields.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    /// A number, a word, a truth value or null, as it is printed in CSV.
    Scalar(String),
    /// A list.
    List(Vec<Json>),
    /// An object.
    Object(Vec<(String, Json)>),
}

/// A table that does not exist, with those that do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoTable {
    /// The names of the tables of this output.
    pub tables: Vec<String>,
}

/// The most elements of a list that become columns.
const MOST_COLUMNS: usize = 64;

/// Returns the table that a command prints unless another one is named.
pub fn main_table(json: &Json) -> String {
    let command = match json {
        Json::Object(fields) => fields.iter().find(|(name, _)| name == "command"),
        Json::Scalar(_) | Json::List(_) => None,
    };
    let command = command.and_then(|(_, name)| name.word()).unwrap_or_default();
    let tables = tables(json);
    let inner = || tables.iter().find(|name| *name != "results").map(String::as_str);
    let main = match command {
        // each kind is a list of its own
        "list" | "explain" => inner().unwrap_or("results"),
        "phases" => "results.warps",
        "cfg" => "results.blocks",
        "export" => "results.files",
        "wcet" => "results.methods",
        "hybrid" => "results.estimates",
        "worst" => "results.policies",
        "diff" => "results.lines",
        "why" => "results.causes",
        "ablate" => "results.kernels",
        "pwcet" => "results.pwcet.curve",
        "validate" => "results.kernels",
        _ => "results",
    };
    let is_there = tables.iter().any(|name| name == main);
    if is_there { main.to_owned() } else { "results".to_owned() }
}

/// Returns a table of a command's JSON as CSV.
///
/// # Errors
/// There is no table of this name.
pub fn table(json: &Json, name: &str) -> Result<String, NoTable> {
    let path: Vec<&str> = name.split('.').collect();
    let mut rows: Vec<Vec<(String, String)>> = Vec::new();
    if !collect(json, &path, &[], &mut rows) {
        return Err(NoTable { tables: tables(json) });
    }
    let mut columns: Vec<&str> = Vec::new();
    let mut known: HashSet<&str> = HashSet::new();
    for (column, _) in rows.iter().flatten() {
        if known.insert(column) {
            columns.push(column);
        }
    }
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        let cells: Vec<_> = cells.map(quoted).collect();
        cells.join(",") + "\n"
    };
    let mut text = line(&mut columns.iter().copied());
    for row in &rows {
        let cell = |column: &&str| row.iter().find(|(name, _)| name == column).map_or("", |(_, cell)| cell);
        text.push_str(&line(&mut columns.iter().map(cell)));
    }
    Ok(text)
}

/// Returns the names of all tables.
pub fn tables(json: &Json) -> Vec<String> {
    let mut names = Vec::new();
    find(json, "", &mut names);
    names
}

fn find(json: &Json, path: &str, names: &mut Vec<String>) {
    match json {
        Json::Scalar(_) => {}
        Json::List(elements) => {
            let rows = elements.iter().any(|element| matches!(element, Json::Object(_)));
            if rows && !names.iter().any(|name| name == path) {
                names.push(path.to_owned());
            }
            elements.iter().for_each(|element| find(element, path, names));
        }
        Json::Object(fields) => {
            for (name, value) in fields {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                find(value, &path, names);
            }
        }
    }
}

/// Appends the rows of the table that `path` leads to, and returns whether it exists. `around` are
/// the columns of the objects around it.
fn collect(
    json: &Json,
    path: &[&str],
    around: &[(String, String)],
    rows: &mut Vec<Vec<(String, String)>>,
) -> bool {
    let Some((name, rest)) = path.split_first() else {
        let Json::List(elements) = json else { return false };
        for element in elements {
            let mut row = around.to_vec();
            columns(element, "", &mut row);
            rows.push(row);
        }
        return elements.iter().all(|element| matches!(element, Json::Object(_)));
    };
    match json {
        Json::Scalar(_) => false,
        Json::List(elements) => {
            let mut found = false;
            for element in elements {
                let mut around = around.to_vec();
                scalars(element, &mut around);
                found |= collect(element, path, &around, rows);
            }
            found
        }
        Json::Object(fields) => match fields.iter().find(|(field, _)| field == name) {
            Some((_, inner)) => collect(inner, rest, around, rows),
            None => false,
        },
    }
}

/// Appends the numbers and words of an object. A name that an outer object has, too, replaces it.
fn scalars(json: &Json, row: &mut Vec<(String, String)>) {
    let Json::Object(fields) = json else { return };
    for (name, value) in fields {
        if let Json::Scalar(text) = value {
            put(name.clone(), text.clone(), row);
        }
    }
}

/// Appends the columns of a row.
fn columns(json: &Json, prefix: &str, row: &mut Vec<(String, String)>) {
    let named = |name: &str| if prefix.is_empty() { name.to_owned() } else { format!("{prefix}.{name}") };
    match json {
        Json::Scalar(text) => put(prefix.to_owned(), text.clone(), row),
        Json::Object(fields) => fields.iter().for_each(|(name, value)| columns(value, &named(name), row)),
        Json::List(elements) => {
            let words: Option<Vec<&str>> = elements.iter().map(Json::word).collect();
            if let Some(words) = words {
                put(prefix.to_owned(), words.join(" "), row);
            } else if let Some(names) = names(elements) {
                for (name, element) in names.iter().zip(elements) {
                    let Json::Object(fields) = element else { continue };
                    for (field, value) in fields.iter().skip_while(|field| is_name(field)) {
                        columns(value, &format!("{}.{field}", named(name)), row);
                    }
                }
            }
        }
    }
}

/// Returns the names of the elements of a list, if they differ.
fn names(elements: &[Json]) -> Option<Vec<String>> {
    if elements.len() > MOST_COLUMNS {
        return None;
    }
    let names: Vec<String> = elements.iter().map(Json::name).collect::<Option<_>>()?;
    let different: HashSet<&String> = names.iter().collect();
    (different.len() == names.len()).then_some(names)
}

/// The fields that name an element of a list. They come first in it.
const NAMES: [&str; 6] = ["name", "policy", "part", "unit", "reason", "kind"];

fn is_name(field: &(String, Json)) -> bool {
    NAMES.contains(&field.0.as_str())
}

/// Sets a column.
fn put(name: String, text: String, row: &mut Vec<(String, String)>) {
    match row.iter_mut().find(|(known, _)| *known == name) {
        Some((_, cell)) => *cell = text,
        None => row.push((name, text)),
    }
}

impl Json {
    /// Returns a number or word.
    fn word(&self) -> Option<&str> {
        match self {
            Self::Scalar(text) => Some(text),
            Self::List(_) | Self::Object(_) => None,
        }
    }

    /// Returns the name of an element of a list: the words that it begins with.
    fn name(&self) -> Option<String> {
        let Self::Object(fields) = self else { return None };
        let words = fields.iter().take_while(|field| is_name(field)).map(|(_, value)| value.word());
        let words = words.collect::<Option<Vec<&str>>>()?;
        (!words.is_empty()).then(|| words.join(" "))
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Scalar(value.to_string()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Scalar(value.to_string()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(Json::Scalar(value.to_string()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Json, E> {
        Ok(Json::Scalar(value.to_string()))
    }

    fn visit_str<E>(self, value: &str) -> Result<Json, E> {
        Ok(Json::Scalar(value.to_owned()))
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Scalar(String::new()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Json, A::Error> {
        let mut elements = Vec::new();
        while let Some(element) = access.next_element()? {
            elements.push(element);
        }
        Ok(Json::List(elements))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Json, A::Error> {
        let mut fields = Vec::new();
        while let Some(field) = access.next_entry()? {
            fields.push(field);
        }
        Ok(Json::Object(fields))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Json {
        serde_json::from_str(text).unwrap()
    }

    const RUN: &str = r#"{"schema":3,"results":[
        {"kernel":"a, b","makespan":10,"bounds":[{"name":"gub","value":12,"over":0.2},{"name":"iwb"}],
         "parts":[{"part":"units","unit":"int","cycles":3},{"part":"units","unit":"sfu","cycles":4}],
         "blocks":[{"block":0,"makespan":4},{"block":1,"makespan":6}],"lines":[3,5],"launch":{"grid":[1,2,1]}},
        {"kernel":"c","makespan":7,"bounds":[],"races":null}]}"#;

    #[test]
    fn rows_have_the_columns_of_all_results() {
        assert_eq!(
            table(&read(RUN), "results").unwrap(),
            "kernel,makespan,bounds.gub.value,bounds.gub.over,parts.units int.cycles,parts.units sfu.cycles,\
             lines,launch.grid,bounds,races\n\
             \"a, b\",10,12,0.2,3,4,3 5,1 2 1,,\nc,7,,,,,,,,\n"
        );
    }

    #[test]
    fn inner_tables_repeat_what_is_around_them() {
        assert_eq!(
            table(&read(RUN), "results.blocks").unwrap(),
            "kernel,makespan,block\n\"a, b\",4,0\n\"a, b\",6,1\n"
        );
        let all = ["results", "results.bounds", "results.parts", "results.blocks"];
        assert_eq!(table(&read(RUN), "results.lines").unwrap_err().tables, all);
        assert_eq!(table(&read(RUN), "rows").unwrap_err().tables, all);
    }
}
