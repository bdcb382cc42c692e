//! Conversion of GPGPU-Sim configurations (`gpgpusim.config`) to machines.
//!
//! An option is translated to machine settings, like those of `--set`, on top of a base that has
//! GPGPU-Sim's structure. The result lists each option that the model does not represent, with the
//! reason, as well as unknown options and options that are missing. No option is dropped silently.
//!
//! `options` parses the file, and `values` parses the formats of single values. `core`, `timing`,
//! `memory` and `dram` translate options, and `left_out` lists options that have no effect on
//! timing.
//!
//! Source: the options and their meaning are those of GPGPU-Sim 4.2.

mod core;
mod dram;
mod left_out;
mod memory;
mod options;
#[cfg(test)]
mod tests;
mod timing;
mod traces;
mod values;

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::layered::Setting;
use super::written::MachineSpec;
use crate::diag::{Diagnostic, Diagnostics, SourceText, closest, shortened};
use options::Given;

/// The result of the translation of an option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Became {
    /// The settings `PATH=VALUE`; none if the base already agrees with the option.
    Settings(Vec<String>),
    /// The option is ignored, with the reason.
    Nothing(String),
    /// The option is unknown, with a known option that has a similar name.
    Unknown(Option<&'static str>),
    /// The option is overridden by its last occurrence, which is in this file and line.
    Repeated(String, u32),
}

/// An option of the configuration and its translation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taken {
    /// The name, including the dash.
    pub name: String,
    /// The value as it is written.
    pub value: String,
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The result of the translation.
    pub became: Became,
    /// The aspects of the option that the settings do not represent.
    pub but: Option<String>,
}

/// A machine and the options that it was translated from.
#[derive(Clone, Debug)]
pub struct Imported {
    /// The complete machine.
    pub spec: MachineSpec,
    /// All options in the order of the files.
    pub options: Vec<Taken>,
    /// The options that affect timing but are missing; the base's settings remain in force.
    pub not_given: Vec<&'static str>,
    /// The parts of the machine that options set, in order.
    set_parts: Vec<SetPart>,
}

/// A part of the machine that an option sets.
#[derive(Clone, Debug)]
struct SetPart {
    /// The path in the form of messages.
    path: String,
    /// The words of the path in the text of the machine.
    words: Vec<String>,
    /// A diagnostic with the name and the location of the option.
    option: Diagnostic,
}

impl Imported {
    /// Attributes problems of the machine, whose text is `written`, to the options that cause them.
    /// A problem that no single option causes stems from the base, or from several options.
    pub fn of_options(&self, problems: Diagnostics, written: &SourceText) -> Diagnostics {
        problems.map(|problem| {
            // prefer the longest path, which is that of the setting itself, and then the last
            // occurrence
            let found = self
                .set_parts
                .iter()
                .filter_map(|part| Some((part.evidence(&problem, written)?, part.path.len(), &part.option)));
            match found.max_by_key(|(evidence, length, _)| (*evidence, *length)) {
                Some((.., option)) => {
                    let message = format!("{}: {}", option.message, problem.message);
                    Diagnostic { message, hint: problem.hint, ..option.clone() }
                }
                None => Diagnostic::general(written.name(), problem.message).hint(problem.hint),
            }
        })
    }
}

/// The evidence that a problem belongs to a setting, the strongest last.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Evidence {
    /// It is located in the value of the setting.
    Within,
    /// It is located at the setting.
    Place,
    /// Its message contains the path of the setting.
    Named,
}

impl SetPart {
    /// Returns the part with this path. The name of an entry of `units` or `ops` may contain dots;
    /// it is in quotes in the text of the machine.
    fn new(path: &[&str], entry: Option<&str>, field: Option<&str>, option: Diagnostic) -> Self {
        let names = || path.iter().copied().chain(entry).chain(field);
        let words = ["Machine"].into_iter().chain(path.iter().copied()).map(str::to_owned);
        let entry = entry.map(|name| format!("{name:?}"));
        Self {
            path: names().collect::<Vec<_>>().join("."),
            words: words.chain(entry).chain(field.map(str::to_owned)).collect(),
            option,
        }
    }

    /// Returns the evidence that a problem of a machine belongs to this part, if there is any.
    fn evidence(&self, problem: &Diagnostic, written: &SourceText) -> Option<Evidence> {
        let named = problem.message.match_indices(&self.path).any(|(at, _)| {
            let is_name_character = |c: char| c.is_alphanumeric() || c == '_';
            let next = problem.message[at + self.path.len()..].chars().next();
            let previous = problem.message[..at].chars().next_back();
            !next.is_some_and(is_name_character)
                && !previous.is_some_and(|c| is_name_character(c) || c == '.')
        });
        if named {
            return Some(Evidence::Named);
        }
        let words: Vec<&str> = self.words.iter().map(String::as_str).collect();
        let place = written.error_along(&words, "");
        let (from, to) = ((place.line, place.column), (problem.line, problem.column));
        match from.cmp(&to) {
            Ordering::Equal => Some(Evidence::Place),
            Ordering::Less if is_within(from, to, written) => Some(Evidence::Within),
            _ => None,
        }
    }
}

/// Returns whether the second location is in the value of the field whose name is at the first one.
fn is_within(field: (u32, u32), place: (u32, u32), written: &SourceText) -> bool {
    let (mut depth, mut quoted) = (0, false);
    for line in field.0..=place.0 {
        let start = if line == field.0 { field.1 as usize - 1 } else { 0 };
        let end = if line == place.0 { place.1 as usize - 1 } else { usize::MAX };
        for character in written.line(line).chars().take(end).skip(start) {
            match character {
                '"' => quoted = !quoted,
                _ if quoted => {}
                '(' | '[' | '{' => depth += 1,
                ')' | ']' | '}' => depth -= 1,
                // the next field begins
                ',' if depth == 0 => return false,
                _ => {}
            }
            if depth < 0 {
                return false;
            }
        }
    }
    depth > 0
}

/// Reads configurations, of which later ones override earlier ones, and applies them to a base.
///
/// # Errors
/// Values are invalid, or the resulting machine is; the diagnostics have locations.
pub fn import(sources: &[SourceText], base: MachineSpec) -> Result<Imported, Diagnostics> {
    let given = options::read(sources)?;
    let mut import = Import::new(sources, &given, &base);
    core::translate(&mut import);
    if let Some(selected) = traces::selected(&import) {
        traces::translate(&mut import, selected);
    } else {
        traces::ignore(&mut import);
        timing::translate(&mut import);
    }
    memory::translate(&mut import);
    dram::translate(&mut import);
    import.finish()
}

/// The maximum number of unknown options for which similar names are searched.
const MAX_COMPARED: usize = 200;

/// A translation in progress.
struct Import<'a> {
    sources: &'a [SourceText],
    given: &'a [Given],
    base: &'a MachineSpec,
    /// The index of the last occurrence of each name.
    last: BTreeMap<&'a str, usize>,
    became: Vec<Option<Became>>,
    but: Vec<Option<String>>,
    settings: Vec<(usize, Setting)>,
    set_parts: Vec<SetPart>,
    /// The names of the options that have been looked up.
    looked_up: Vec<&'static str>,
    not_given: Vec<&'static str>,
    problems: Diagnostics,
}

impl<'a> Import<'a> {
    fn new(sources: &'a [SourceText], given: &'a [Given], base: &'a MachineSpec) -> Self {
        let last: BTreeMap<&str, usize> =
            given.iter().enumerate().map(|(index, option)| (option.known_as.as_str(), index)).collect();
        let overridden = |(index, option): (usize, &Given)| {
            let counts = last[option.known_as.as_str()];
            (counts != index).then(|| {
                let (file, line) = given[counts].place(sources);
                Became::Repeated(file, line)
            })
        };
        let became = given.iter().enumerate().map(overridden).collect();
        Self {
            sources,
            given,
            base,
            last,
            became,
            but: vec![None; given.len()],
            settings: Vec::new(),
            set_parts: Vec::new(),
            looked_up: Vec::new(),
            not_given: Vec::new(),
            problems: Diagnostics::new(),
        }
    }

    /// Returns the value of an option if it is present and valid. The option then counts as
    /// translated, without settings so far.
    fn value<T>(&mut self, name: &'static str, read: impl Fn(&str) -> Result<T, String>) -> Option<T> {
        let value = self.optional(name, read);
        if !self.last.contains_key(name) {
            self.not_given.push(name);
        }
        value
    }

    /// Like [`Self::value`], for an option that may be missing.
    fn optional<T>(&mut self, name: &'static str, read: impl Fn(&str) -> Result<T, String>) -> Option<T> {
        self.looked_up.push(name);
        let &index = self.last.get(name)?;
        self.became[index].get_or_insert_with(|| Became::Settings(Vec::new()));
        let value = &self.given[index].value;
        let result = if value.is_empty() { Err("it has no value".to_owned()) } else { read(value) };
        result.map_err(|message| self.wrong(name, message)).ok()
    }

    /// Like [`Self::value`], for an option that is 0 or 1.
    fn flag(&mut self, name: &'static str) -> Option<bool> {
        let value = self.optional_flag(name);
        if !self.last.contains_key(name) {
            self.not_given.push(name);
        }
        value
    }

    /// Like [`Self::flag`], for an option that may be missing.
    ///
    /// Such an option needs no value. GPGPU-Sim then tries to read the next word as its value, which
    /// results in 0, and in 1 only if there is no further word.
    fn optional_flag(&mut self, name: &'static str) -> Option<bool> {
        let Some(&index) = self.last.get(name).filter(|&&index| self.given[index].value.is_empty()) else {
            return self.optional(name, values::switch);
        };
        self.looked_up.push(name);
        self.became[index].get_or_insert_with(|| Became::Settings(Vec::new()));
        let on = self.given.get(index + 1).is_none_or(|next| next.source != self.given[index].source);
        let (value, reason) = if on { (1, "at the end of the file") } else { (0, "before another option") };
        self.note(name, format!("it has no value, which GPGPU-Sim reads as {value} {reason}"));
        Some(on)
    }

    fn wrong(&mut self, name: &'static str, message: String) {
        if let Some(&index) = self.last.get(name) {
            let given = &self.given[index];
            let source = &self.sources[given.source];
            let problem = source.error(given.range.clone(), format!("{}: {message}", given.name));
            let hint = format!("a valid form is `{} {}`", given.name, values::example(name));
            // an option may be looked up several times
            let known = |known: &Diagnostic| known.line == problem.line && known.message == problem.message;
            if !self.problems.list().iter().any(known) {
                self.problems.push(problem.hint(hint));
            }
        }
    }

    /// Adds a setting that an option stands for, if the option is present.
    fn set(&mut self, name: &'static str, path: &str, value: impl ToString) {
        self.add(name, path, value.to_string());
        self.record_part(name, &path.split('.').collect::<Vec<_>>(), None, None);
    }

    /// Adds an entry of `units` or `ops` that an option stands for, if the option is present. The
    /// initiation interval in it is that of the option `interval`.
    ///
    /// An entry is set as a whole, since a path cannot name one that does not exist yet.
    fn set_entry(
        &mut self,
        (name, interval): (&'static str, &'static str),
        (entries, entry): (&'static str, &str),
        value: &str,
    ) {
        self.add(name, entries, format!("{{\"{entry}\": {value}}}"));
        self.record_part(name, &[entries], Some(entry), None);
        self.record_part(interval, &[entries], Some(entry), Some("init"));
    }

    fn add(&mut self, name: &'static str, path: &str, value: String) {
        if let Some(&index) = self.last.get(name) {
            if let Some(Became::Settings(settings)) = &mut self.became[index] {
                settings.push(format!("{path}={value}"));
            }
            let given = &self.given[index];
            let (file, line) = given.place(self.sources);
            let option = format!("{} {} ({file}:{line})", given.name, shortened(&given.value));
            self.settings.push((index, Setting::new(path, value).translated_from(option)));
        }
    }

    /// Records the part of the machine that an option sets, for problems of the machine.
    fn record_part(&mut self, name: &'static str, path: &[&str], entry: Option<&str>, field: Option<&str>) {
        if let Some(&index) = self.last.get(name) {
            let given = &self.given[index];
            let option = self.sources[given.source].error(given.range.clone(), given.name.clone());
            self.set_parts.push(SetPart::new(path, entry, field, option));
        }
    }

    /// Returns whether an option is present.
    fn has(&self, name: &str) -> bool {
        self.last.contains_key(name)
    }

    /// Ignores an option that may be present, with the reason.
    fn ignore(&mut self, name: &'static str, why: &str) {
        self.looked_up.push(name);
        if let Some(&index) = self.last.get(name) {
            self.became[index] = Some(Became::Nothing(why.to_owned()));
        }
    }

    /// Notes an aspect in which the machine differs from an option.
    fn note(&mut self, name: &'static str, difference: impl Into<String>) {
        if let Some(&index) = self.last.get(name) {
            let difference = difference.into();
            match &mut self.but[index] {
                Some(before) if before.contains(&difference) => {}
                Some(before) => *before = format!("{before}; {difference}"),
                none => *none = Some(difference),
            }
        }
    }

    fn finish(mut self) -> Result<Imported, Diagnostics> {
        let mut spec = self.base.clone();
        for (index, setting) in std::mem::take(&mut self.settings) {
            match spec.clone().with_settings(&[setting]) {
                Ok(changed) => spec = changed,
                Err(problems) => {
                    let given = &self.given[index];
                    let message = problems.list().first().map_or("", |problem| problem.message.as_str());
                    let source = &self.sources[given.source];
                    self.problems
                        .push(source.error(given.range.clone(), format!("{}: {message}", given.name)));
                }
            }
        }
        let known: Vec<&str> = left_out::names().chain(self.looked_up.iter().copied()).collect();
        // A file with more unknown options than this is not a configuration, and comparing names
        // takes time.
        let mut compared = 0;
        let options = self.given.iter().zip(self.became).zip(self.but).map(|((given, became), but)| {
            let (file, line) = given.place(self.sources);
            let became = became.unwrap_or_else(|| {
                let name = given.known_as.as_str();
                if let Some(reason) = left_out::reason(name) {
                    return Became::Nothing(reason.to_owned());
                }
                compared += 1;
                let near = (compared <= MAX_COMPARED).then(|| closest(name, known.iter().copied()));
                Became::Unknown(near.flatten())
            });
            Taken { name: given.name.clone(), value: given.value.clone(), file, line, became, but }
        });
        let options = options.collect();
        let imported = Imported { spec, options, not_given: self.not_given, set_parts: self.set_parts };
        self.problems.into_result(imported)
    }
}
