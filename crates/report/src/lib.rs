//! The results of commands, as text for people and as data for scripts. The functions of this crate
//! are pure: they turn values into text.
//!
//! The results of a command are one struct, in the file with the name of the command. Both text and
//! JSON are made from it. [`output`] holds what all commands share. The JSON Schema files in
//! `schemas/` are generated from these types.

pub mod ablation;
pub mod all_paths;
pub mod anomaly;
pub mod answer;
pub mod banks;
pub mod beside;
pub mod book;
pub mod cause;
pub mod cfg;
pub mod check;
pub mod compare;
pub mod compile;
pub mod csv;
pub mod diff;
pub mod divergence;
pub mod evidence;
pub mod evidence_pack;
pub mod explain;
pub mod explore;
pub mod export;
pub mod fastest;
pub mod fermi;
pub mod gantt;
pub mod html;
pub mod hunt;
pub mod hybrid;
pub mod import_config;
pub mod inspect;
pub mod list;
pub mod machine_hunt;
pub mod output;
pub mod path_tables;
pub mod phase_anomaly;
pub mod phase_gantt;
pub mod phases;
pub mod plot;
pub mod program;
pub mod pwcet;
pub mod reproduce;
pub mod results;
pub mod run;
pub mod schema_files;
#[cfg(test)]
mod schemas;
pub mod source_line;
pub mod style;
pub mod suite;
pub mod sweep;
pub mod table;
pub mod terms;
pub mod timeline;
pub mod validate;
mod validator;
pub mod verdict;
pub mod wcet;
pub mod worst;

use serde::{Deserialize, Serialize, Serializer};

/// A fraction. JSON has it rounded to four decimal places.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Deserialize)]
#[serde(transparent)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(transparent))]
pub struct Fraction(pub f64);

impl Serialize for Fraction {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64((self.0 * 10_000.0).round() / 10_000.0)
    }
}

/// Formats a number with a comma between groups of three digits.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut shown = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}

/// Formats a number of things, with the noun in the plural if needed.
pub fn count(number: usize, of: &str) -> String {
    let plural = if of.ends_with("ch") { "es" } else { "s" };
    format!("{} {of}{}", grouped(number as u64), if number == 1 { "" } else { plural })
}
