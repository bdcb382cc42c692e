//! Configurations of GPGPU-Sim (`gpgpusim.config`) as machines.
//!
//! An option becomes settings of a machine, the same that `--set` takes, over a base that has GPGPU-Sim's structure.
//! What an option says and the model has not is listed with the reason; so is what nobody knows and what is not
//! said. Nothing is dropped without a word.
//!
//! `options` reads the text, `values` the small languages of single values; `core`, `timing`, `memory` and `dram` say what
//! options mean; `left_out` knows the options that say nothing of time.
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

/// What became of an option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Became {
    /// These settings, `PATH=VALUE`; none where the base's are what it says.
    Settings(Vec<String>),
    /// Nothing: why.
    Nothing(String),
    /// Nothing, as no option of this name is known; one that is nearly called so.
    Unknown(Option<&'static str>),
    /// Nothing: it is given again in this line of this file, and the last one counts.
    Repeated(String, u32),
}

/// An option of the configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taken {
    /// Its name, with the dash.
    pub name: String,
    /// Its value as it stands.
    pub value: String,
    /// Its file.
    pub file: String,
    /// Its line, from 1.
    pub line: u32,
    /// What became of it.
    pub became: Became,
    /// What the settings do not say of it.
    pub but: Option<String>,
}

/// A machine, and where it comes from.
#[derive(Clone, Debug)]
pub struct Imported {
    /// The machine, whole.
    pub spec: MachineSpec,
    /// Every option, in the order of the files.
    pub options: Vec<Taken>,
    /// Options that say something of time and are not given: the base's settings stand.
    pub not_given: Vec<&'static str>,
    /// Every setting that was made, in order, and the option that says it as the place of a problem.
    made: Vec<(Setting, Diagnostic)>,
}

impl Imported {
    /// Problems of the machine, which stand in `written`, as problems of the options that say what is wrong. What no
    /// option says is the base's, or follows from several.
    pub fn of_options(&self, problems: Diagnostics, written: &SourceText) -> Diagnostics {
        problems.map(|problem| {
            // the longest path is that of the setting itself, the last one counts
            let found = self.made.iter().filter_map(|(setting, option)| {
                let path = setting.path();
                Some((near(path, &problem, written)?, path.len(), option))
            });
            match found.max_by_key(|(near, length, _)| (*near, *length)) {
                Some((.., option)) => {
                    let message = format!("{}: {}", option.message, problem.message);
                    Diagnostic { message, hint: problem.hint, ..option.clone() }
                }
                None => Diagnostic::general(written.name(), problem.message).hint(problem.hint),
            }
        })
    }
}

/// How it is known that a problem is one of a setting, the surest last.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Near {
    /// It stands in the value of the setting.
    Within,
    /// It stands where the setting does.
    Place,
    /// Its message has the name of the setting.
    Named,
}

/// Whether a problem of a machine is one of this setting, and how that is known.
fn near(path: &str, problem: &Diagnostic, written: &SourceText) -> Option<Near> {
    let named = problem.message.match_indices(path).any(|(at, _)| {
        let goes_on = |c: char| c.is_alphanumeric() || c == '_';
        let behind = problem.message[at + path.len()..].chars().next();
        let before = problem.message[..at].chars().next_back();
        !behind.is_some_and(goes_on) && !before.is_some_and(|c| goes_on(c) || c == '.')
    });
    if named {
        return Some(Near::Named);
    }
    let words: Vec<&str> = ["Machine"].into_iter().chain(path.split('.')).collect();
    let place = written.error_along(&words, "");
    let (from, to) = ((place.line, place.column), (problem.line, problem.column));
    match from.cmp(&to) {
        Ordering::Equal => Some(Near::Place),
        Ordering::Less if is_within(from, to, written) => Some(Near::Within),
        _ => None,
    }
}

/// Whether the second place is in the value of the field whose name stands at the first one.
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

/// Reads configurations, the later ones over the earlier, and lays them over a base.
///
/// # Errors
/// Values that are wrong, with their places, and machines that cannot be.
pub fn import(sources: &[SourceText], base: MachineSpec) -> Result<Imported, Diagnostics> {
    let given = options::read(sources)?;
    let mut import = Import::new(sources, &given, &base);
    core::translate(&mut import);
    if import.has(traces::INT) {
        traces::translate(&mut import);
    } else {
        timing::translate(&mut import);
    }
    memory::translate(&mut import);
    dram::translate(&mut import);
    import.finish()
}

/// Unknown options for which a name that is nearly the same is looked for.
const MOST_COMPARED: usize = 200;

/// A translation under way.
struct Import<'a> {
    sources: &'a [SourceText],
    given: &'a [Given],
    base: &'a MachineSpec,
    /// The last of each name.
    last: BTreeMap<&'a str, usize>,
    became: Vec<Option<Became>>,
    but: Vec<Option<String>>,
    settings: Vec<(usize, Setting)>,
    /// The names that mean something.
    meant: Vec<&'static str>,
    not_given: Vec<&'static str>,
    problems: Diagnostics,
}

impl<'a> Import<'a> {
    fn new(sources: &'a [SourceText], given: &'a [Given], base: &'a MachineSpec) -> Self {
        let mut last = BTreeMap::new();
        let mut became = vec![None; given.len()];
        for (index, option) in given.iter().enumerate() {
            if let Some(before) = last.insert(option.known_as.as_str(), index) {
                let (file, line) = option.place(sources);
                became[before] = Some(Became::Repeated(file, line));
            }
        }
        Self {
            sources,
            given,
            base,
            last,
            became,
            but: vec![None; given.len()],
            settings: Vec::new(),
            meant: Vec::new(),
            not_given: Vec::new(),
            problems: Diagnostics::new(),
        }
    }

    /// The value of an option, if it is given and has the form. It has become settings then, none so far.
    fn value<T>(&mut self, name: &'static str, read: impl Fn(&str) -> Result<T, String>) -> Option<T> {
        let value = self.optional(name, read);
        if !self.last.contains_key(name) {
            self.not_given.push(name);
        }
        value
    }

    /// As [`Self::value`], of what need not be there.
    fn optional<T>(&mut self, name: &'static str, read: impl Fn(&str) -> Result<T, String>) -> Option<T> {
        self.meant.push(name);
        let &index = self.last.get(name)?;
        self.became[index].get_or_insert_with(|| Became::Settings(Vec::new()));
        match read(&self.given[index].value) {
            Ok(value) => Some(value),
            Err(message) => {
                self.wrong(name, message);
                None
            }
        }
    }

    fn wrong(&mut self, name: &'static str, message: String) {
        if let Some(&index) = self.last.get(name) {
            let given = &self.given[index];
            let source = &self.sources[given.source];
            self.problems.push(source.error(given.range.clone(), format!("{name}: {message}")));
        }
    }

    /// A setting that an option which is given stands for.
    fn set(&mut self, name: &'static str, path: &str, value: impl ToString) {
        let value = value.to_string();
        if let Some(&index) = self.last.get(name) {
            if let Some(Became::Settings(settings)) = &mut self.became[index] {
                settings.push(format!("{path}={value}"));
            }
            let given = &self.given[index];
            let (file, line) = given.place(self.sources);
            let option = format!("{} {} ({file}:{line})", given.name, shortened(&given.value));
            self.settings.push((index, Setting::new(path, value).said_by(option)));
        }
    }

    /// Whether an option is given.
    fn has(&self, name: &str) -> bool {
        self.last.contains_key(name)
    }

    /// An option that is given becomes nothing, and why.
    fn pass_over(&mut self, name: &'static str, why: &str) {
        self.meant.push(name);
        if let Some(&index) = self.last.get(name) {
            self.became[index] = Some(Became::Nothing(why.to_owned()));
        }
    }

    /// What is not as the option says.
    fn but(&mut self, name: &'static str, what: impl Into<String>) {
        if let Some(&index) = self.last.get(name) {
            let what = what.into();
            match &mut self.but[index] {
                Some(before) => *before = format!("{before}; {what}"),
                none => *none = Some(what),
            }
        }
    }

    fn finish(mut self) -> Result<Imported, Diagnostics> {
        let mut spec = self.base.clone();
        let mut made = Vec::new();
        for (index, setting) in std::mem::take(&mut self.settings) {
            let given = &self.given[index];
            let option = self.sources[given.source].error(given.range.clone(), given.name.clone());
            made.push((setting.clone(), option));
            match spec.clone().with_settings(&[setting]) {
                Ok(changed) => spec = changed,
                Err(problems) => {
                    let given = &self.given[index];
                    let said = problems.list().first().map_or("", |problem| problem.message.as_str());
                    let source = &self.sources[given.source];
                    self.problems.push(source.error(given.range.clone(), format!("{}: {said}", given.name)));
                }
            }
        }
        let known: Vec<&str> = left_out::names().chain(self.meant.iter().copied()).collect();
        // a file with more unknown options than these is no configuration, and the names take time to compare
        let mut compared = 0;
        let options = self.given.iter().zip(self.became).zip(self.but).map(|((given, became), but)| {
            let (file, line) = given.place(self.sources);
            let became = became.unwrap_or_else(|| {
                let name = given.known_as.as_str();
                if let Some(reason) = left_out::reason(name) {
                    return Became::Nothing(reason.to_owned());
                }
                compared += 1;
                let near = (compared <= MOST_COMPARED).then(|| closest(name, known.iter().copied()));
                Became::Unknown(near.flatten())
            });
            Taken { name: given.name.clone(), value: given.value.clone(), file, line, became, but }
        });
        let options = options.collect();
        let imported = Imported { spec, options, not_given: self.not_given, made };
        self.problems.into_result(imported)
    }
}
