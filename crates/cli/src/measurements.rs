//! Reads measured execution times: a column of a CSV or JSON-lines file, or of a folder of results.

use std::ops::Range;
use std::path::{Path, PathBuf};

use super::files::results::lines_of;
use crate::files::{CommandLine, loader};
use warpbound_core::diag::{Diagnostic, Diagnostics, SourceText, closest};
use warpbound_judge::load::{FROM_STDIN, Files, read};
use warpbound_pwcet::SCALES;

/// The largest file that is read, in bytes.
const BYTES: u64 = 1 << 30;

/// The file with the runs in a folder of results.
const LINES: &str = "results.jsonl";

/// The columns of results that describe what ran; runs that differ in them are not one sample.
const SAME: [&str; 3] = ["kernel", "machine", "policy"];

/// The default column of a folder of results.
const OF_RESULTS: &str = "makespan";

/// Measurements that are longer than all others by this factor are assumed to have another unit,
/// unless they are few.
const OTHER_UNIT: f64 = 500.0;
/// Measurements are few if they are less than one part in this many.
const SMALL_PART: usize = 20;

/// A column of numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Measurements {
    /// The name of the file in messages.
    pub file: String,
    /// The column: its name, or its number from 1 if it has none.
    pub column: String,
    /// The numbers in the order of the file.
    pub values: Vec<f64>,
    /// The file that was read; `None` for stdin.
    pub path: Option<PathBuf>,
}

/// Returns whether a name refers to measurements rather than to a kernel.
pub fn is_measured(name: &str) -> bool {
    let path = Path::new(name);
    let known = ["csv", "tsv", "txt", "dat", "jsonl", "ndjson", "json", "gz", "xz"];
    let ending = path.extension().and_then(|ending| ending.to_str());
    name == FROM_STDIN
        || path.join(LINES).is_file()
        || path.is_dir() && loader().find_kernel(name).is_err()
        || ending.is_some_and(|ending| known.contains(&ending))
}

impl Measurements {
    /// Reads a file, stdin or a folder of results.
    ///
    /// # Errors
    /// Every value that is not a measurement, with its place.
    pub fn read(name: &str, column: Option<&str>) -> Result<Self, Diagnostics> {
        if name == FROM_STDIN {
            return Self::parse(read::STDIN, &CommandLine.stdin(BYTES)?, column);
        }
        let path = Path::new(name);
        let (path, column) = match path.is_dir() {
            true => (path.join(LINES), Some(column.unwrap_or(OF_RESULTS))),
            false => (path.to_owned(), column),
        };
        if path.ends_with(LINES) {
            for line in lines_of(&path)? {
                // only the checksums are verified here
                line.map_err(|error| Diagnostic::general(path.display().to_string(), error.to_string()))?;
            }
        }
        let mut found = Self::parse(&path.display().to_string(), &read::text(&path, BYTES)?, column)?;
        found.path = Some(path);
        Ok(found)
    }

    fn parse(file: &str, bytes: &[u8], column: Option<&str>) -> Result<Self, Diagnostics> {
        let text = std::str::from_utf8(bytes).map_err(|error| {
            let line = bytes[..error.valid_up_to()].iter().filter(|&&byte| byte == b'\n').count() + 1;
            Diagnostic { line: line as u32, column: 1, ..Diagnostic::general(file, "this is not UTF-8 text") }
        })?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut reading = Reading { file, values: Vec::new(), problems: Diagnostics::new() };
        let column = match text.trim_start().chars().next() {
            None => return Err(Diagnostic::general(file, "there are no measurements in it").into()),
            Some('{') => reading.objects(text, column)?,
            Some(_) => reading.table(text, column)?,
        };
        let Reading { values, problems, .. } = reading;
        let values = problems.into_result(values)?;
        one_unit(file, &values)?;
        Ok(Self { file: file.to_owned(), column, values, path: None })
    }
}

/// A line of JSON.
type Object = serde_json::Map<String, serde_json::Value>;

struct Reading<'a> {
    file: &'a str,
    values: Vec<f64>,
    problems: Diagnostics,
}

impl Reading<'_> {
    /// Reads lines of JSON with one object each.
    fn objects(&mut self, text: &str, column: Option<&str>) -> Result<String, Diagnostics> {
        let mut chosen = column.map(str::to_owned);
        let mut of: Option<Vec<Option<serde_json::Value>>> = None;
        for (index, line) in text.lines().enumerate() {
            if line.trim().is_empty() {
                continue;
            }
            let object: Object = match serde_json::from_str(line) {
                Ok(object) => object,
                Err(error) => {
                    let at = error.column().saturating_sub(1).min(line.len());
                    let message = format!("this line is no JSON object: {error}");
                    self.wrong(index, line, at..at, message, "write one object per line, or a table as CSV");
                    continue;
                }
            };
            let numbers =
                || object.iter().filter(|(_, value)| value.is_number()).map(|(name, _)| name.as_str());
            let name = match &chosen {
                Some(name) => name.clone(),
                None => {
                    let mut all = numbers();
                    match (all.next(), all.next()) {
                        (Some(only), None) => chosen.insert(only.to_owned()).clone(),
                        _ => return Err(self.which(numbers()).into()),
                    }
                }
            };
            self.one_sample(&mut of, &object, index, line)?;
            self.value_of(&name, &object, index, line);
        }
        Ok(chosen.unwrap_or_default())
    }

    /// Rejects a line of JSON whose kernel, machine or policy is not that of the first line.
    fn one_sample(
        &self,
        of: &mut Option<Vec<Option<serde_json::Value>>>,
        object: &Object,
        index: usize,
        line: &str,
    ) -> Result<(), Diagnostic> {
        let this: Vec<_> = SAME.iter().map(|key| object.get(*key).cloned()).collect();
        let first = of.get_or_insert_with(|| this.clone());
        let Some(other) = SAME.iter().zip(first.iter().zip(&this)).find(|(_, (a, b))| a != b) else {
            return Ok(());
        };
        let (key, (before, now)) = other;
        let shown =
            |value: &Option<serde_json::Value>| value.as_ref().map_or("none".to_owned(), ToString::to_string);
        let message = format!(
            "`{key}` is {} here and {} before: runs of both are not one sample",
            shown(now),
            shown(before)
        );
        let place = self.place(index, line, 0..line.len(), message);
        Err(place.hint("choose the lines of one kernel, machine and policy, for example with grep"))
    }

    /// Reads the measurement of a line of JSON.
    fn value_of(&mut self, name: &str, object: &Object, index: usize, line: &str) {
        let (message, hint) = match object.get(name) {
            Some(serde_json::Value::Number(number)) => {
                return self.value(&number.to_string(), index, line, 0..line.len());
            }
            Some(other) => (
                format!("`{name}` is {other} here, not a number"),
                "leave the line out, if nothing was measured".to_owned(),
            ),
            None => {
                let known: Vec<&str> = object.keys().map(String::as_str).collect();
                (format!("there is no `{name}` in this object"), unknown(name, &known))
            }
        };
        self.wrong(index, line, 0..line.len(), message, &hint);
    }

    /// Reads a table, with or without a line of names.
    fn table(&mut self, text: &str, column: Option<&str>) -> Result<String, Diagnostics> {
        let first = text.lines().find(|line| !is_blank(line)).unwrap_or_default();
        let separator = [b',', b';', b'\t'].into_iter().find(|&byte| first.as_bytes().contains(&byte));
        let spaced = separator.is_none() && first.split_whitespace().count() > 1 && is_row(first);
        let rows = text.lines().enumerate().filter(|(_, line)| !is_blank(line));
        let mut chosen: Option<(usize, String)> = None;
        for (index, line) in rows {
            let fields = match spaced {
                true => words(line),
                false => match fields(line, separator.unwrap_or(b',')) {
                    Ok(fields) => fields,
                    Err(why) => {
                        self.wrong(index, line, 0..line.len(), why, "write one row per line");
                        continue;
                    }
                },
            };
            let Some((at, _)) = &chosen else {
                let names: Vec<&str> = fields.iter().map(|(text, _)| text.as_str()).collect();
                let named = names.iter().any(|name| !name.is_empty() && name.parse::<f64>().is_err());
                let picked = self.pick(&names, named, column)?;
                if !named {
                    let (text, place) = &fields[picked.0];
                    self.value(text, index, line, place.clone());
                }
                chosen = Some(picked);
                continue;
            };
            match fields.get(*at) {
                Some((text, place)) => self.value(text, index, line, place.clone()),
                None => {
                    let message =
                        format!("this row has {} columns, and column {} is read", fields.len(), at + 1);
                    self.wrong(index, line, 0..line.len(), message, "every row needs this column");
                }
            }
        }
        Ok(chosen.map_or_else(String::new, |(_, name)| name))
    }

    /// Returns the index, from 0, and the name of the selected column.
    fn pick(&self, names: &[&str], named: bool, column: Option<&str>) -> Result<(usize, String), Diagnostic> {
        let called = |at: usize| if named { names[at].to_owned() } else { (at + 1).to_string() };
        let Some(wanted) = column else {
            return match names {
                [_] => Ok((0, called(0))),
                _ if named => Err(self.which(names.iter().copied())),
                _ => {
                    let problem = Diagnostic::general(
                        self.file,
                        format!("there are {} columns without names", names.len()),
                    );
                    Err(problem.hint("say which: --column 1, --column 2, .."))
                }
            };
        };
        let mut by_name = names.iter().enumerate().filter(|(_, name)| named && **name == wanted);
        match (by_name.next(), by_name.next()) {
            (Some((at, _)), None) => return Ok((at, called(at))),
            (Some(_), Some(_)) => {
                let problem = Diagnostic::general(self.file, format!("two columns are called `{wanted}`"));
                return Err(problem.hint("give the column's number, from 1"));
            }
            (None, _) => {}
        }
        match wanted.parse::<usize>() {
            Ok(number) if (1..=names.len()).contains(&number) => Ok((number - 1, called(number - 1))),
            _ => {
                let hint = match named {
                    true => unknown(wanted, names),
                    false => format!("the columns have no names: 1 to {}", names.len()),
                };
                Err(Diagnostic::general(self.file, format!("there is no column `{wanted}`")).hint(hint))
            }
        }
    }

    fn which<'n>(&self, names: impl Iterator<Item = &'n str>) -> Diagnostic {
        let names: Vec<&str> = names.take(SHOWN + 1).collect();
        let more = if names.len() > SHOWN { ", .." } else { "" };
        let list = names.iter().take(SHOWN).copied().collect::<Vec<_>>().join(", ");
        Diagnostic::general(self.file, "there are several columns").hint(match list.as_str() {
            "" => "none of them has numbers".to_owned(),
            list => format!("say which with --column: {list}{more}"),
        })
    }

    fn value(&mut self, text: &str, index: usize, line: &str, place: Range<usize>) {
        let hint = "an execution time is a number, 0 or more";
        let problem = match text.parse::<f64>() {
            Err(_) if text.is_empty() => "there is no measurement here".to_owned(),
            Err(_) if text.starts_with(|c: char| c.is_ascii_digit()) => {
                let message = format!("`{text}` is not a number");
                self.wrong(
                    index,
                    line,
                    place,
                    message,
                    "units are not read: give all times in one unit, as numbers alone",
                );
                return;
            }
            Err(_) => format!("`{text}` is not a number"),
            Ok(value) if value.is_nan() => "this is not a number".to_owned(),
            Ok(value) if value.is_infinite() => "this is infinite".to_owned(),
            Ok(value) if value < 0.0 => "this is negative".to_owned(),
            Ok(value) if value > SCALES.1 => {
                let message = format!("{text} is too large: more than {:e}", SCALES.1);
                self.wrong(index, line, place, message, "choose a larger unit of time");
                return;
            }
            Ok(_) if text.parse::<u64>().is_ok_and(|value| value > 1 << 53) => {
                let message =
                    format!("{text} is more than 2^53, above which not every number of cycles is exact");
                self.wrong(
                    index,
                    line,
                    place,
                    message,
                    "measure times, not the counter's value at their end",
                );
                return;
            }
            Ok(value) => {
                self.values.push(value);
                return;
            }
        };
        self.wrong(index, line, place, problem, hint);
    }

    fn wrong(&mut self, index: usize, line: &str, place: Range<usize>, message: String, hint: &str) {
        let problem = self.place(index, line, place, message).hint(hint);
        self.problems.push(problem);
    }

    fn place(&self, index: usize, line: &str, place: Range<usize>, message: String) -> Diagnostic {
        let mut problem = SourceText::new(self.file, line).error(place, message);
        problem.line = u32::try_from(index + 1).unwrap_or(u32::MAX);
        problem
    }
}

/// The most names in a hint.
const SHOWN: usize = 12;

fn unknown(name: &str, known: &[&str]) -> String {
    match closest(name, known.iter().copied()) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("there are: {}", known.iter().take(SHOWN).copied().collect::<Vec<_>>().join(", ")),
    }
}

fn is_blank(line: &str) -> bool {
    line.trim().is_empty() || line.trim_start().starts_with('#')
}

/// Returns whether all words of a line are numbers.
fn is_row(line: &str) -> bool {
    line.split_whitespace().all(|word| word.parse::<f64>().is_ok())
}

/// Returns the words of a line, with their places.
fn words(line: &str) -> Vec<(String, Range<usize>)> {
    let start = line.as_ptr() as usize;
    let place = |word: &str| {
        let from = word.as_ptr() as usize - start;
        (word.to_owned(), from..from + word.len())
    };
    line.split_whitespace().map(place).collect()
}

/// Returns the fields of a line of CSV, with their approximate places.
pub fn fields(line: &str, separator: u8) -> Result<Vec<(String, Range<usize>)>, String> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(separator)
        .trim(csv::Trim::All)
        .from_reader(line.as_bytes());
    let mut record = csv::StringRecord::new();
    reader.read_record(&mut record).map_err(|error| format!("this row cannot be read: {error}"))?;
    let mut from = 0;
    let place = |field: &str| {
        let at = line[from..].find(field).map_or(from, |at| from + at);
        from = (at + field.len()).min(line.len());
        (field.to_owned(), at..from)
    };
    Ok(record.iter().map(place).collect())
}

/// Rejects times of which some are so much longer than all others that they must have another unit.
fn one_unit(file: &str, values: &[f64]) -> Result<(), Diagnostic> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let part = sorted.len() / SMALL_PART;
    let inside = part.max(1)..(sorted.len() - part).max(part.max(1));
    let jump = inside
        .filter(|&at| sorted[at - 1] > 0.0)
        .map(|at| (sorted[at] / sorted[at - 1], at))
        .max_by(|a, b| a.0.total_cmp(&b.0));
    match jump {
        Some((ratio, at)) if ratio >= OTHER_UNIT => {
            let message = format!(
                "{} of the {} measurements are at least {} times as long as all others: are they all in one unit?",
                sorted.len() - at,
                sorted.len(),
                match ratio {
                    ratio if ratio < 1e6 => format!("{ratio:.0}"),
                    ratio => format!("{ratio:.0e}"),
                }
            );
            let hint = "give all times in one unit; if they are right, analyse the two groups separately";
            Err(Diagnostic::general(file, message).hint(hint))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str, column: Option<&str>) -> Result<Measurements, String> {
        Measurements::parse("m", text.as_bytes(), column).map_err(|problems| problems.to_string())
    }

    fn values(text: &str, column: Option<&str>) -> (String, Vec<f64>) {
        let found = parse(text, column).unwrap_or_else(|message| panic!("{message}"));
        (found.column, found.values)
    }

    #[test]
    fn columns_are_found_by_name_or_number() {
        let three = vec![3.0, 4.5, 2.0];
        for (text, column, name) in [
            ("3\n4.5\n2\n", None, "1"),
            ("cycles\n3\n4.5\n2", None, "cycles"),
            ("\u{feff}# of a board\ncycles\r\n3\r\n\r\n4.5\r\n2\r\n", None, "cycles"),
            ("run,cycles\n1,3\n2,4.5\n3,2\n", Some("cycles"), "cycles"),
            ("run,cycles\n1,3\n2,4.5\n3,2\n", Some("2"), "cycles"),
            ("run;\"a; b\"\n1;3\n2;4.5\n3; 2 \n", Some("a; b"), "a; b"),
            ("1\t3\n2\t4.5\n3\t2\n", Some("2"), "2"),
            ("1 3\n2  4.5\n3 2\n", Some("2"), "2"),
            ("{\"a\":3}\n{\"a\":4.5}\n\n{\"a\":2}\n", None, "a"),
            ("{\"n\":\"x\",\"a\":3}\n{\"a\":4.5}\n{\"a\":2}\n", None, "a"),
            ("{\"b\":1,\"a\":3}\n{\"a\":4.5}\n{\"a\":2}\n", Some("a"), "a"),
        ] {
            assert_eq!(values(text, column), (name.to_owned(), three.clone()), "{text:?}");
        }
    }

    #[test]
    fn what_is_no_measurement_is_said_with_its_place() {
        for (text, column, message) in [
            ("", None, "no measurements"),
            ("1,2\n3,4\n", None, "2 columns without names"),
            ("a,b\n3,4\n", None, "--column: a, b"),
            ("a,a\n3,4\n", Some("a"), "two columns are called"),
            ("cycles,b\n3,4\n", Some("cycle"), "did you mean `cycles`?"),
            ("3,4\n", Some("3"), "no names: 1 to 2"),
            ("a\n3\nx\n", None, "m:3:1"),
            ("a\n3\n12 ms\n", None, "units are not read"),
            ("a,b\n3,1\n4\n", Some("b"), "this row has 1 columns"),
            ("a,b\n3,1\n4,\n", Some("b"), "no measurement here"),
            ("a\n1\nNaN\n", None, "not a number"),
            ("a\n1\ninf\n", None, "infinite"),
            ("a\n1\n1e308\n", None, "more than 1e100"),
            ("a,b\n1,2\n3, -2\n", Some("b"), "m:3:4"),
            ("a\n9007199254740993\n", None, "2^53"),
            ("{\"a\":1}\n{\"b\":1}\n", None, "no `a` in this object"),
            ("{\"a\":1}\n{\"a\":null}\n", None, "`a` is null here"),
            ("{\"a\":1}\n{\"a\":\n", None, "m:2:"),
            ("{\"a\":1,\"b\":2}\n", None, "--column: a, b"),
            (
                "{\"kernel\":\"x\",\"a\":1}\n{\"kernel\":\"y\",\"a\":2}\n",
                Some("a"),
                "`kernel` is \"y\" here and \"x\" before",
            ),
        ] {
            let error = parse(text, column).expect_err(text);
            assert!(error.contains(message), "{text:?}: {error}");
        }
        let message = Measurements::parse("m", b"a\n1\n\xff\n", None).expect_err("no text").to_string();
        assert!(message.contains("m:3:1"), "{message}");
    }

    #[test]
    fn two_units_are_not_one_sample() {
        let mixed: String =
            (0..100).map(|n| format!("{}\n", if n % 3 == 0 { 2_000_000 + n } else { 2000 + n })).collect();
        let message = parse(&mixed, None).expect_err("two units");
        assert!(message.contains("34 of the 100 measurements are at least 953 times as long"), "{message}");
        // a few outliers are a tail
        let tail: String =
            (0..100).map(|n| format!("{}\n", if n > 97 { 2_000_000 } else { 2000 + n })).collect();
        assert!(parse(&tail, None).is_ok());
    }
}
