//! Points that are named one by one.

use super::record::Read;

/// Violated points that are named, the first ones.
pub const VIOLATED: usize = 200;
/// Failed points that are named, the first ones.
pub const FAILED: usize = 100;
/// Points named because even their best bound is far above the makespan.
pub const WORST: usize = 100;

/// Why a point is named.
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
    /// The source it is from.
    pub source: usize,
    pub point: u64,
    pub kernel: String,
    pub machine: String,
    pub policy: String,
    pub axes: Vec<String>,
    pub makespan: Option<u64>,
    /// The smallest overestimation, and the number of its bound.
    pub least: Option<(usize, f64)>,
    pub error: Option<String>,
}

/// Those that are named, so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Singles {
    violated: Vec<Single>,
    failed: Vec<Single>,
    /// By overestimation, the largest first.
    worst: Vec<Single>,
}

impl Singles {
    /// Looks at a point.
    pub fn add(&mut self, source: usize, read: &Read<'_>) {
        let least = read.least();
        let single = |why| Single {
            why,
            source,
            point: read.point,
            kernel: read.kernel.to_owned(),
            machine: read.machine.to_owned(),
            policy: read.policy.to_owned(),
            axes: read.axes.clone(),
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

    /// All of them: violated, failed, worst.
    pub fn all(&self) -> impl Iterator<Item = &Single> {
        self.violated.iter().chain(&self.failed).chain(&self.worst)
    }
}
