//! A line of results, as far as a report needs it.

use serde_json::Value;

use crate::sweep::Meaning;

/// A point and what came of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Read<'r> {
    pub point: u64,
    pub kernel: &'r str,
    pub machine: &'r str,
    pub policy: &'r str,
    /// Values of the axes, in their order; empty where there is none.
    pub axes: Vec<String>,
    pub makespan: Option<u64>,
    pub warp_instructions: Option<u64>,
    pub verdict: Option<&'r str>,
    /// By bound: its overestimation, and whether it is exceeded.
    pub bounds: Vec<(Option<f64>, bool)>,
    pub error: Option<&'r str>,
}

impl<'r> Read<'r> {
    /// Takes a record apart.
    ///
    /// # Errors
    /// What a record of results has and this has not.
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
            (record[format!("{bound}_over")].as_f64(), exceeded)
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
            error: record["error"].as_str(),
        })
    }

    pub fn is_violated(&self) -> bool {
        self.verdict == Some("violated")
    }

    /// The smallest overestimation, and of which bound.
    pub fn least(&self) -> Option<(usize, f64)> {
        let known = self.bounds.iter().enumerate().filter_map(|(bound, (over, _))| Some((bound, (*over)?)));
        known.min_by(|a, b| a.1.total_cmp(&b.1))
    }
}
