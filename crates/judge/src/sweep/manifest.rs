//! The identification of a folder of results.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The version of the files in a folder of results.
pub const FORMAT: u32 = 1;

/// The plan that results belong to: everything that they depend on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// The version of the files.
    pub format: u32,
    /// The version of the tool.
    pub tool_version: String,
    /// The digest of the plan, and of every kernel, launch and machine that it names; hexadecimal.
    pub plan_digest: String,
    /// The parts of that digest, each with a separate digest: the plan, and the kernels, machines
    /// and schedules that it names. A folder of an older version does not have this field.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<Input>,
    /// The number of points of the plan.
    pub points: u64,
    /// The part of the plan in this folder; null for the whole plan.
    pub shard: Option<Shard>,
    /// The seeds of random buffer contents.
    pub seeds: Vec<u64>,
    /// The columns of the results.
    pub columns: Vec<String>,
    /// The plan as it was read.
    pub plan: String,
}

/// An input on which results depend.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Input {
    /// Its name in messages.
    pub name: String,
    /// The digest of its contents; hexadecimal.
    pub digest: String,
}

impl Manifest {
    /// Returns the point of a line of results, or `None` if the line is not a record of this plan.
    pub fn point_of(&self, line: &str) -> Option<u64> {
        let record: serde_json::Map<String, serde_json::Value> = serde_json::from_str(line).ok()?;
        let whole =
            record.len() == self.columns.len() && self.columns.iter().all(|name| record.contains_key(name));
        record.get("point")?.as_u64().filter(|point| whole && *point < self.points)
    }

    /// Returns the reason why results of this manifest belong to another plan than those of
    /// `other`, or `None` if they belong to the same plan.
    pub fn difference(&self, other: &Self) -> Option<String> {
        if self.format != other.format {
            Some("they were written in another format".to_owned())
        } else if self.tool_version != other.tool_version {
            Some("they come from another version of warpbound".to_owned())
        } else if self.plan_digest != other.plan_digest {
            Some(self.changed_input(other))
        } else if (self.points, &self.seeds, &self.columns) != (other.points, &other.seeds, &other.columns) {
            Some("their manifest has been changed".to_owned())
        } else {
            None
        }
    }

    /// Returns which of the inputs differ from those of another manifest.
    fn changed_input(&self, other: &Self) -> String {
        let differs = |(one, other): &(&Input, &Input)| one.name == other.name && one.digest != other.digest;
        let changed: Vec<&str> = self
            .inputs
            .iter()
            .zip(&other.inputs)
            .filter(differs)
            .map(|(input, _)| input.name.as_str())
            .collect();
        let same_names = self.inputs.len() == other.inputs.len()
            && self.inputs.iter().zip(&other.inputs).all(|(one, other)| one.name == other.name);
        match changed.as_slice() {
            names if same_names && !names.is_empty() => format!("{} changed since", names.join(", ")),
            _ => "they belong to another plan, or to the same plan with other kernels or machines".to_owned(),
        }
    }
}

/// One of several parts of a plan: every `of`-th job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shard {
    /// The number of the part, from 1 to `of`.
    pub index: u64,
    /// The number of parts.
    pub of: u64,
}

impl Shard {
    /// Returns whether a job is in this part.
    pub fn has(self, job: u64) -> bool {
        job % self.of == self.index - 1
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.of)
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || "expected I/N with I from 1 to N, for example 2/4".to_owned();
        let (index, of) = text.split_once('/').ok_or_else(wrong)?;
        let shard = Self {
            index: index.trim().parse().map_err(|_| wrong())?,
            of: of.trim().parse().map_err(|_| wrong())?,
        };
        if (1..=shard.of).contains(&shard.index) { Ok(shard) } else { Err(wrong()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_are_parts() {
        let shards: Vec<Shard> =
            ["1/3", "2/3", " 3 / 3 "].map(|text| text.parse().expect("it is one")).to_vec();
        for job in 0..10 {
            assert_eq!(shards.iter().filter(|shard| shard.has(job)).count(), 1);
        }
        for wrong in ["", "1", "0/3", "4/3", "1/0", "a/b", "-1/2"] {
            assert!(wrong.parse::<Shard>().is_err(), "{wrong}");
        }
    }
}
