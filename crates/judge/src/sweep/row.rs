//! A record of results as it is read: a cell for each field of a line of JSON.
//!
//! Results have many lines with the same fields, so the names are kept beside the lines, and the
//! words of a line are borrowed from it.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, Visitor};
use serde_json::{Number, Value};

/// The contents of a field.
#[derive(Clone, Debug, PartialEq)]
pub enum Field<'t> {
    /// The value null.
    Null,
    /// A truth value.
    Truth(bool),
    /// A number.
    Number(Number),
    /// A text.
    Text(Cow<'t, str>),
}

impl Field<'_> {
    /// Returns the text, if it is one.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Null | Self::Truth(_) | Self::Number(_) => None,
        }
    }

    /// Returns the number, if it is one.
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => number.as_f64(),
            Self::Null | Self::Truth(_) | Self::Text(_) => None,
        }
    }

    /// Returns the number, if it is a natural one.
    pub fn natural(&self) -> Option<u64> {
        match self {
            Self::Number(number) => number.as_u64(),
            Self::Null | Self::Truth(_) | Self::Text(_) => None,
        }
    }

    /// Returns the contents as they are written in a table; null is empty.
    pub fn written(&self) -> Cow<'_, str> {
        match self {
            Self::Null => Cow::Borrowed(""),
            Self::Truth(truth) => Cow::Borrowed(if *truth { "true" } else { "false" }),
            Self::Number(number) => Cow::Owned(number.to_string()),
            Self::Text(text) => Cow::Borrowed(text),
        }
    }
}

/// A record: the fields of a line, which belong to the names of its reader.
#[derive(Clone, Debug, PartialEq)]
pub struct Row<'t> {
    names: &'t [String],
    /// The field of each name; `None` if the line does not have it.
    fields: Vec<Option<Field<'t>>>,
}

impl<'t> Row<'t> {
    /// Returns the field of this name, if the line has one.
    pub fn get(&self, name: &str) -> Option<&Field<'t>> {
        self.fields[self.names.iter().position(|known| known == name)?].as_ref()
    }

    /// Returns the field of this name. `at` is where it was the last time, and is updated.
    pub fn find(&self, name: &str, at: &mut usize) -> Option<&Field<'t>> {
        if self.names.get(*at).is_none_or(|known| known != name) {
            *at = self.names.iter().position(|known| known == name)?;
        }
        self.fields[*at].as_ref()
    }

    /// Returns the names of the fields that the line has.
    pub fn names(&self) -> impl Iterator<Item = &'t String> {
        self.names.iter().zip(&self.fields).filter_map(|(name, field)| field.as_ref().map(|_| name))
    }
}

/// A field that is looked for in many rows, most of which have it at the same place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    name: String,
    at: usize,
}

impl Place {
    /// Creates the place of the field of this name.
    pub fn of(name: &str) -> Self {
        Self { name: name.to_owned(), at: 0 }
    }

    /// Creates the places of the overestimation of a bound and of its verdict.
    pub fn of_bound(bound: &str) -> [Self; 2] {
        ["overestimation", "verdict"].map(|end| Self::of(&format!("{bound}_{end}")))
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the field in a row, if the row has it.
    pub fn in_row<'r, 't>(&mut self, row: &'r Row<'t>) -> Option<&'r Field<'t>> {
        row.find(&self.name, &mut self.at)
    }
}

/// A reader of records, which knows the names of the fields so far.
#[derive(Clone, Debug, Default)]
pub struct RowReader {
    names: Vec<String>,
}

impl RowReader {
    /// Reads a line.
    ///
    /// # Errors
    /// If the line is no JSON object, or a field is a list or an object.
    pub fn read<'t>(&'t mut self, line: &'t str) -> Result<Row<'t>, serde_json::Error> {
        let mut fields = Vec::with_capacity(self.names.len());
        let mut json = serde_json::Deserializer::from_str(line);
        json.deserialize_map(Fields { names: &mut self.names, fields: &mut fields })?;
        json.end()?;
        fields.resize(self.names.len(), None);
        Ok(Row { names: &self.names, fields })
    }

    /// Converts a record that was read before. A list or an object becomes its text.
    ///
    /// # Errors
    /// If the record is no object.
    pub fn convert<'t>(&'t mut self, record: &'t Value) -> Result<Row<'t>, String> {
        let Value::Object(record) = record else { return Err("a record is an object".to_owned()) };
        let mut fields = Vec::with_capacity(self.names.len());
        for (name, value) in record {
            let field = match value {
                Value::Null => Field::Null,
                Value::Bool(truth) => Field::Truth(*truth),
                Value::Number(number) => Field::Number(number.clone()),
                Value::String(text) => Field::Text(Cow::Borrowed(text)),
                Value::Array(_) | Value::Object(_) => Field::Text(Cow::Owned(value.to_string())),
            };
            put(&mut self.names, &mut fields, name, field);
        }
        fields.resize(self.names.len(), None);
        Ok(Row { names: &self.names, fields })
    }
}

/// Puts a field at the place of its name, which is usually the one after the last.
fn put<'t>(names: &mut Vec<String>, fields: &mut Vec<Option<Field<'t>>>, name: &str, field: Field<'t>) {
    let at = place(names, fields.len(), name);
    if fields.len() <= at {
        fields.resize(at + 1, None);
    }
    fields[at] = Some(field);
}

/// Returns the place of a name, which is probably `next`.
fn place(names: &mut Vec<String>, next: usize, name: &str) -> usize {
    if names.get(next).is_some_and(|known| known == name) {
        return next;
    }
    names.iter().position(|known| known == name).unwrap_or_else(|| {
        names.push(name.to_owned());
        names.len() - 1
    })
}

/// Reads the fields of an object.
struct Fields<'n, 't> {
    names: &'n mut Vec<String>,
    fields: &'n mut Vec<Option<Field<'t>>>,
}

impl<'t> Visitor<'t> for Fields<'_, 't> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a record")
    }

    fn visit_map<A: MapAccess<'t>>(self, mut map: A) -> Result<(), A::Error> {
        let Self { names, fields } = self;
        while let Some(at) = map.next_key_seed(Name { next: fields.len(), names })? {
            let field = Some(map.next_value_seed(AnyField)?);
            if at == fields.len() {
                fields.push(field);
            } else {
                fields.resize(fields.len().max(at + 1), None);
                fields[at] = field;
            }
        }
        Ok(())
    }
}

/// Reads the name of a field and returns its place.
struct Name<'n> {
    names: &'n mut Vec<String>,
    next: usize,
}

impl<'t> DeserializeSeed<'t> for Name<'_> {
    type Value = usize;

    fn deserialize<D: Deserializer<'t>>(self, deserializer: D) -> Result<usize, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Name<'_> {
    type Value = usize;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a field")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<usize, E> {
        Ok(place(self.names, self.next, name))
    }
}

/// Reads the contents of a field.
struct AnyField;

impl<'t> DeserializeSeed<'t> for AnyField {
    type Value = Field<'t>;

    fn deserialize<D: Deserializer<'t>>(self, deserializer: D) -> Result<Field<'t>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'t> Visitor<'t> for AnyField {
    type Value = Field<'t>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("null, a truth value, a number or a text")
    }

    fn visit_unit<E: Error>(self) -> Result<Field<'t>, E> {
        Ok(Field::Null)
    }

    fn visit_bool<E: Error>(self, truth: bool) -> Result<Field<'t>, E> {
        Ok(Field::Truth(truth))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Field<'t>, E> {
        Ok(Field::Number(number.into()))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Field<'t>, E> {
        Ok(Field::Number(number.into()))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Field<'t>, E> {
        Ok(Number::from_f64(number).map_or(Field::Null, Field::Number))
    }

    fn visit_borrowed_str<E: Error>(self, text: &'t str) -> Result<Field<'t>, E> {
        Ok(Field::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Field<'t>, E> {
        Ok(Field::Text(Cow::Owned(text.to_owned())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_as_json_is() {
        let mut reader = RowReader::default();
        for line in [
            r#"{"a": 1, "b": "x", "c": null}"#,
            // another order, a new name, a name twice, and escapes in names and texts
            r#" {"c":-2,"a":1.5e3,"d":true,"d":false,"\u0062":"\"\u00e9\n"} "#,
            r#"{"d": 18446744073709551615, "e": 1e-7}"#,
            "{}",
        ] {
            let value: Value = serde_json::from_str(line).unwrap();
            let mut converted = RowReader::default();
            let (row, other) = (reader.read(line).unwrap(), converted.convert(&value).unwrap());
            let fields = value.as_object().unwrap();
            assert_eq!(row.names().count(), fields.len(), "{line}");
            for (name, field) in fields {
                assert_eq!(row.get(name), other.get(name), "{line}: {name}");
                let written = row.get(name).unwrap().written().into_owned();
                let expected = match field {
                    Value::Null => String::new(),
                    Value::String(text) => text.clone(),
                    other => other.to_string(),
                };
                assert_eq!(written, expected, "{line}: {name}");
            }
        }
        let mut place = Place::of("b");
        assert_eq!(place.in_row(&reader.read(r#"{"a": 1, "b": 2}"#).unwrap()).unwrap().natural(), Some(2));
        assert_eq!(place.in_row(&reader.read(r#"{"a": 1}"#).unwrap()), None);
    }

    #[test]
    fn what_is_no_record_is_refused() {
        let mut reader = RowReader::default();
        for line in ["[1]", "1", "{\"a\": [1]}", "{\"a\": {}}", "{\"a\": 1,}", "{} {}", "{\"a\": 1e999}", ""]
        {
            assert!(reader.read(line).is_err(), "{line}");
        }
        assert!(reader.convert(&serde_json::json!([1])).is_err());
        let list = serde_json::json!({"a": [1]});
        assert_eq!(reader.convert(&list).unwrap().get("a").unwrap().text(), Some("[1]"));
    }
}
