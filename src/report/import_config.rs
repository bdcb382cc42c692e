//! A machine made of another simulator's configuration.

use std::fmt::Write;

use serde::Serialize;

use super::output::{Output, Report};
use super::style::Style;
use crate::machine::gpgpusim::{Became, Imported, Taken};

/// The machine, and what became of every option.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ImportResult {
    /// The name of the machine.
    pub name: String,
    /// The machine file.
    pub machine: String,
    /// Options that became settings, or that say what the base does anyway.
    pub used: Vec<Used>,
    /// Options without a counterpart.
    pub without_counterpart: Vec<Left>,
    /// Options that nobody knows.
    pub unknown: Vec<Left>,
    /// Options that are given again further on.
    pub repeated: Vec<Left>,
    /// Options that say something of time and are not given: the settings of the base stand.
    pub not_given: Vec<&'static str>,
}

/// An option and its settings.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Used {
    /// Its name.
    pub option: String,
    /// Its value.
    pub value: String,
    /// File and line.
    pub place: String,
    /// `PATH=VALUE`.
    pub settings: Vec<String>,
    /// What is otherwise than it says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub but: Option<String>,
}

/// An option that became nothing.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Left {
    /// Its name.
    pub option: String,
    /// Its value.
    pub value: String,
    /// File and line.
    pub place: String,
    /// Why, or what it may be meant to be.
    pub note: String,
}

impl ImportResult {
    /// Of a machine file; its text begins with what became of the options.
    pub fn new(name: String, imported: &Imported, machine: &str) -> Self {
        let mut all = Self {
            name,
            machine: String::new(),
            used: Vec::new(),
            without_counterpart: Vec::new(),
            unknown: Vec::new(),
            repeated: Vec::new(),
            not_given: imported.not_given.clone(),
        };
        for option in &imported.options {
            let note = match &option.became {
                Became::Settings(settings) => {
                    all.used.push(Used {
                        option: option.name.clone(),
                        value: option.value.clone(),
                        place: place(option),
                        settings: settings.clone(),
                        but: option.but.clone(),
                    });
                    continue;
                }
                Became::Nothing(reason) => reason.clone(),
                Became::Unknown(near) => {
                    near.map_or_else(String::new, |near| format!("did you mean {near}?"))
                }
                Became::Repeated(file, line) => format!("{file}:{line} counts"),
            };
            let left =
                Left { option: option.name.clone(), value: option.value.clone(), place: place(option), note };
            match &option.became {
                Became::Nothing(_) => all.without_counterpart.push(left),
                Became::Unknown(_) => all.unknown.push(left),
                _ => all.repeated.push(left),
            }
        }
        all.machine = all.header() + machine;
        all
    }

    /// Options that are not as their value says.
    pub fn otherwise(&self) -> usize {
        self.used.iter().filter(|used| used.but.is_some()).count()
    }

    fn header(&self) -> String {
        let mut text = format!("// {}: made by `warpbound import-config`.\n", self.name);
        let mut part = |title: &str, lines: Vec<String>| {
            if !lines.is_empty() {
                let _ = writeln!(text, "//\n// {title}:");
                lines.iter().for_each(|line| text.push_str(&format!("//   {line}\n")));
            }
        };
        let said = |option: &str, value: &str| clean(&format!("{option} {value}"));
        let otherwise = self.used.iter().filter_map(|used| {
            let but = used.but.as_ref()?;
            Some(format!("{} ({but})", said(&used.option, &used.value)))
        });
        part("Otherwise than the option says", otherwise.collect());
        let left = |all: &[Left]| -> Vec<String> {
            let line = |left: &Left| {
                let note =
                    if left.note.is_empty() { String::new() } else { format!(" ({})", clean(&left.note)) };
                said(&left.option, &left.value) + &note
            };
            all.iter().map(line).collect()
        };
        part("Not known", left(&self.unknown));
        part("Without a counterpart", left(&self.without_counterpart));
        part("Given again further on", left(&self.repeated));
        part("Not given, as the base has it", self.not_given.iter().map(|&name| name.to_owned()).collect());
        let used = self.used.iter().filter(|used| !used.settings.is_empty());
        let used = used
            .map(|used| format!("{}: {}", said(&used.option, &used.value), clean(&used.settings.join(" "))));
        part("Settings", used.collect());
        text
    }
}

fn place(option: &Taken) -> String {
    format!("{}:{}", option.file, option.line)
}

/// A comment stays in its line, and is no longer than somebody reads.
fn clean(text: &str) -> String {
    crate::diag::shortened(text)
}

impl Report for Output<ImportResult> {
    fn text(&self, _: Style) -> String {
        self.results.iter().map(|result| result.machine.as_str()).collect()
    }
}
