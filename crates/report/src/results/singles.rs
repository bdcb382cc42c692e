//! The points that are listed individually.

use std::borrow::Cow;

use super::record::Read;

/// The most violated points that are listed.
pub const VIOLATED: usize = 200;
/// The most failed points that are listed.
pub const FAILED: usize = 100;
/// The most points that are listed because all their bounds are far above the makespan.
pub const WORST: usize = 100;

/// Why a point is listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Why {
    Violated,
    Failed,
    Worst,
}

/// A point.
#[derive(Clone, Debug, PartialEq)]
pub struct Single {
    pub why: Why,
    /// The index of its source.
    pub source: usize,
    pub point: u64,
    pub kernel: String,
    pub machine: String,
    pub policy: String,
    pub axes: Vec<String>,
    pub makespan: Option<u64>,
    /// The smallest overestimation, and the index of its bound.
    pub least: Option<(usize, f64)>,
    pub error: Option<String>,
}

/// The listed points so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Singles {
    violated: Vec<Single>,
    failed: Vec<Single>,
    /// The points with the largest overestimations, in descending order.
    worst: Vec<Single>,
}

impl Singles {
    /// Considers a point.
    pub fn add(&mut self, source: usize, read: &Read<'_>) {
        let least = read.least();
        let words = |words: &[Cow<'_, str>]| words.iter().map(|word| word.clone().into_owned()).collect();
        let single = |why| Single {
            why,
            source,
            point: read.point,
            kernel: read.kernel.to_owned(),
            machine: read.machine.to_owned(),
            policy: read.policy.to_owned(),
            axes: words(&read.axes),
            makespan: read.makespan,
            least,
            error: read.error.map(str::to_owned),
        };
        if read.is_violated() {
            if self.violated.len() < VIOLATED {
                self.violated.push(single(Why::Violated));
            }
        } else if read.error.is_some() {
            if self.failed.len() < FAILED {
                self.failed.push(single(Why::Failed));
            }
        } else if let Some((_, over)) = least {
            let above = |other: &Single| other.least.is_some_and(|(_, known)| known >= over);
            let place = self.worst.partition_point(above);
            if place < WORST {
                self.worst.insert(place, single(Why::Worst));
                self.worst.truncate(WORST);
            }
        }
    }

    /// Returns all listed points: violated, failed, worst.
    pub fn all(&self) -> impl Iterator<Item = &Single> {
        self.violated.iter().chain(&self.failed).chain(&self.worst)
    }
}
