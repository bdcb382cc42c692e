//! A record of results, as far as a report needs it.

use serde_json::Value;

use warpbound_judge::sweep::{Meaning, parts_in};

/// A point and its results.
#[derive(Clone, Debug, PartialEq)]
pub struct Read<'r> {
    pub point: u64,
    pub kernel: &'r str,
    pub machine: &'r str,
    pub policy: &'r str,
    /// The values of the axes, in their order; empty if the record has none.
    pub axes: Vec<String>,
    pub makespan: Option<u64>,
    pub warp_instructions: Option<u64>,
    pub verdict: Option<&'r str>,
    /// The overestimation of each bound, and whether it is exceeded.
    pub bounds: Vec<(Option<f64>, bool)>,
    /// The parts of the smallest proved bound, if they are known.
    pub parts: Vec<(&'r str, u64)>,
    pub error: Option<&'r str>,
}

impl<'r> Read<'r> {
    /// Reads a record.
    ///
    /// # Errors
    /// If the record lacks a required field.
    pub fn new(record: &'r Value, meaning: &Meaning) -> Result<Self, String> {
        let word =
            |name: &str| record[name].as_str().ok_or_else(|| format!("`{name}` is not there, or is no text"));
        let point = record["point"].as_u64().ok_or("`point` is not there, or is no number")?;
        let axes = meaning.axes.iter().map(|axis| match &record[axis.as_str()] {
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            other => other.to_string(),
        });
        let bounds = meaning.bounds.iter().map(|bound| {
            let exceeded = record[format!("{bound}_verdict")] == "violated";
            (record[format!("{bound}_overestimation")].as_f64(), exceeded)
        });
        Ok(Self {
            point,
            kernel: word("kernel")?,
            machine: word("machine")?,
            policy: word("policy")?,
            axes: axes.collect(),
            makespan: record["makespan"].as_u64(),
            warp_instructions: record["warp_instructions"].as_u64(),
            verdict: record["verdict"].as_str(),
            bounds: bounds.collect(),
            parts: record["parts"].as_str().map_or_else(Vec::new, parts_in),
            error: record["error"].as_str(),
        })
    }

    pub fn is_violated(&self) -> bool {
        self.verdict == Some("violated")
    }

    /// Returns the smallest overestimation and its bound.
    pub fn least(&self) -> Option<(usize, f64)> {
        let known = self.bounds.iter().enumerate().filter_map(|(bound, (over, _))| Some((bound, (*over)?)));
        known.min_by(|a, b| a.1.total_cmp(&b.1))
    }
}
