//! The report of a machine converted from another simulator's configuration.

use std::fmt::Write;

use serde::Serialize;

use super::output::{Output, Report};
use super::style::Style;
use warpbound_core::machine::gpgpusim::{Became, Imported, Taken};

/// The machine, and how every option was converted.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ImportResult {
    /// The name of the machine.
    pub name: String,
    /// The text of the machine file.
    pub machine: String,
    /// Options that became settings, or that agree with the base machine.
    pub used: Vec<UsedOption>,
    /// Options without a counterpart.
    pub without_counterpart: Vec<UnusedOption>,
    /// Unknown options.
    pub unknown: Vec<UnusedOption>,
    /// Options that a later one overrides.
    pub repeated: Vec<UnusedOption>,
    /// Options that affect timing and are not given; the settings of the base machine apply.
    pub not_given: Vec<&'static str>,
}

/// An option and the settings made from it.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct UsedOption {
    /// The name of the option.
    pub option: String,
    /// Its value.
    pub value: String,
    /// File and line.
    pub place: String,
    /// The settings, as `PATH=VALUE`.
    pub settings: Vec<String>,
    /// How the machine differs from what the option says, if it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub but: Option<String>,
}

/// An option that did not become a setting.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct UnusedOption {
    /// The name of the option.
    pub option: String,
    /// Its value.
    pub value: String,
    /// File and line.
    pub place: String,
    /// The reason, or a similar option that may have been meant.
    pub note: String,
    /// File and line of the last occurrence of the option, which overrides this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overridden_by: Option<String>,
}

impl ImportResult {
    /// Returns the report of a machine file; the file begins with comments on the conversion of the
    /// options.
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
                    all.used.push(UsedOption {
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
            let overridden_by = match &option.became {
                Became::Repeated(file, line) => Some(format!("{file}:{line}")),
                _ => None,
            };
            let left = UnusedOption {
                option: option.name.clone(),
                value: option.value.clone(),
                place: place(option),
                note,
                overridden_by,
            };
            match &option.became {
                Became::Nothing(_) => all.without_counterpart.push(left),
                Became::Unknown(_) => all.unknown.push(left),
                _ => all.repeated.push(left),
            }
        }
        all.machine = all.header() + machine;
        all
    }

    /// Returns the number of options from which the machine differs.
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
        // the places tell the files apart if there are several
        let given = |option: &str, value: &str, place: &str| {
            format!("{} at {place}", clean(format!("{option} {value}").trim_end()))
        };
        let given_as = |used: &UsedOption| given(&used.option, &used.value, &used.place);
        let otherwise = self.used.iter().filter_map(|used| {
            let difference = used.but.as_ref()?;
            Some(format!("{} ({difference})", given_as(used)))
        });
        part("Options from which the machine differs", otherwise.collect());
        let left = |all: &[UnusedOption]| -> Vec<String> {
            let line = |left: &UnusedOption| {
                let note =
                    if left.note.is_empty() { String::new() } else { format!(" ({})", clean(&left.note)) };
                given(&left.option, &left.value, &left.place) + &note
            };
            all.iter().map(line).collect()
        };
        part("Not known", left(&self.unknown));
        part("Without a counterpart", left(&self.without_counterpart));
        part("Given again later", left(&self.repeated));
        part(
            "Not given; the settings of the base machine apply",
            self.not_given.iter().map(|&name| name.to_owned()).collect(),
        );
        let (set, agreeing): (Vec<_>, Vec<_>) = self.used.iter().partition(|used| !used.settings.is_empty());
        let agreeing = agreeing.into_iter().filter(|used| used.but.is_none()).map(given_as);
        part(
            "Without a setting of their own, because the machine agrees or another option has it",
            agreeing.collect(),
        );
        let set = set.iter().map(|used| format!("{}: {}", given_as(used), clean(&used.settings.join(" "))));
        part("Settings", set.collect());
        text
    }
}

fn place(option: &Taken) -> String {
    format!("{}:{}", option.file, option.line)
}

/// Shortens the text of a comment and keeps it in one line.
fn clean(text: &str) -> String {
    warpbound_core::diag::shortened(text)
}

impl Report for Output<ImportResult> {
    fn text(&self, _: Style) -> String {
        self.results.iter().map(|result| result.machine.as_str()).collect()
    }
}
