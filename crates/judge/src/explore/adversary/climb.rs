//! Changes to schedules, which are kept section by section if they make it longer.
//!
//! A schedule is the cycle in which each instruction issues, interpreted as keys
//! ([`Plan::Keys`](super::rules::Plan)): the ready warp with the smallest key issues. Any keys give
//! a work-conserving schedule, so a change needs no repair. One run tries a change in every section
//! at once, since the length of a section hardly depends on the schedule of the sections before it.
//! The remaining dependence, through results in flight across the barrier, is measured again when
//! the best sections have been combined.

use rand::RngExt;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::facts::Facts;
use super::rules::Plan;
use super::runner::{Run, Runner};
use warpbound_core::base::ProgressMonitor;

/// A schedule with the lengths of its sections.
#[derive(Clone, Debug)]
pub struct Schedule {
    /// The time at which each instruction issued, counted from the first issue of its section.
    pub keys: Vec<u32>,
    /// The result of its run. For a combined schedule, each section has the result of the run from
    /// which it was taken.
    pub run: Run,
}

impl Schedule {
    /// Creates the schedule of the last run of a runner.
    pub fn of_last(facts: &Facts, runner: &Runner, run: &Run) -> Self {
        let mut schedule = Self { keys: vec![0; facts.ins.len()], run: run.clone() };
        for section in 0..facts.sections.len() {
            schedule.take(facts, section, runner, run);
        }
        schedule
    }

    /// Takes a section from the last run of a runner.
    fn take(&mut self, facts: &Facts, section: usize, runner: &Runner, run: &Run) {
        let start: u64 = run.sections[..section].iter().sum();
        for range in &facts.sections[section] {
            for (key, &time) in self.keys[range.clone()].iter_mut().zip(&runner.times()[range.clone()]) {
                *key = time - start as u32;
            }
        }
        self.run.sections[section] = run.sections[section];
    }

    /// Takes a section from another schedule.
    pub fn take_from(&mut self, facts: &Facts, section: usize, other: &Self) {
        for range in &facts.sections[section] {
            self.keys[range.clone()].copy_from_slice(&other.keys[range.clone()]);
        }
        self.run.sections[section] = other.run.sections[section];
    }
}

/// The parameters of a walk from a schedule.
#[derive(Clone, Copy, Debug)]
pub struct Walk<'a> {
    /// The block.
    pub facts: &'a Facts,
    /// Whether each section is worth changing.
    pub open: &'a [bool],
    /// The number of runs.
    pub runs: u64,
    /// The fraction of its length by which a section may get shorter at the beginning of the walk;
    /// it falls to zero at the end.
    pub slope: f64,
    /// The seed of the changes.
    pub seed: u64,
    /// The number of the walk with that seed.
    pub stream: u64,
    /// The monitor, which is notified of every run, and can stop the walk.
    pub monitor: &'a ProgressMonitor,
}

impl Walk<'_> {
    /// Walks from `start`. Returns the longest schedule found for each section, and the number of
    /// runs.
    pub fn from(&self, start: &Schedule, runner: &mut Runner) -> (Schedule, u64) {
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        rng.set_stream(self.stream);
        let mut now = start.clone();
        let mut best = start.clone();
        let mut keys = Vec::new();
        for run in 0..self.runs {
            if self.monitor.is_stopped() {
                return (best, run);
            }
            self.monitor.advance(1);
            keys.clone_from(&now.keys);
            for (section, ranges) in self.facts.sections.iter().enumerate() {
                if self.open[section] {
                    change(&mut keys, ranges, now.run.sections[section], &mut rng);
                }
            }
            let Some(tried) = runner.run(Plan::Keys(&keys)) else { continue };
            let left = 1.0 - run as f64 / self.runs as f64;
            for section in (0..self.facts.sections.len()).filter(|&section| self.open[section]) {
                let (before, after) = (now.run.sections[section], tried.sections[section]);
                let allowed = (before as f64 * self.slope * left * rng.random::<f64>()) as u64;
                if after + allowed < before {
                    continue;
                }
                now.take(self.facts, section, runner, &tried);
                if after > best.run.sections[section] {
                    best.take_from(self.facts, section, &now);
                }
            }
        }
        (best, self.runs)
    }
}

/// Draws a number from 1 to `most`, distributed uniformly on a logarithmic scale.
fn magnitude(most: u64, rng: &mut ChaCha8Rng) -> i64 {
    let most = most.max(1);
    ((most as f64 + 1.0).powf(rng.random::<f64>()) as i64).clamp(1, most as i64)
}

/// Changes the keys of a section of this length.
fn change(keys: &mut [u32], ranges: &[std::ops::Range<usize>], length: u64, rng: &mut ChaCha8Rng) {
    let with: Vec<usize> = (0..ranges.len()).filter(|&warp| !ranges[warp].is_empty()).collect();
    if with.len() < 2 {
        return;
    }
    let any = |rng: &mut ChaCha8Rng| ranges[with[rng.random_range(0..with.len())]].clone();
    let later = |key: &mut u32, by: i64| *key = (i64::from(*key) + by).clamp(0, i64::from(u32::MAX)) as u32;
    let from = rng.random_range(0..length.max(1)) as u32;
    let to = from.saturating_add(magnitude(length, rng) as u32);
    match rng.random_range(0..10u32) {
        // some instructions of a warp become earlier or later
        0..=3 => {
            let range = any(rng);
            let some = magnitude(range.len() as u64, rng) as usize;
            let first = range.start + rng.random_range(0..=range.len() - some);
            let sign = if rng.random() { 1 } else { -1 };
            let by = sign * magnitude(length, rng);
            keys[first..first + some].iter_mut().for_each(|key| later(key, by));
        }
        // the rest of a warp, from some instruction on, becomes earlier or later
        4 => {
            let range = any(rng);
            let first = rng.random_range(range.clone());
            let sign = if rng.random() { 1 } else { -1 };
            let by = sign * magnitude(length, rng);
            keys[first..range.end].iter_mut().for_each(|key| later(key, by));
        }
        // a warp waits, or goes first, for some time
        5..=7 => {
            let range = any(rng);
            let at = if rng.random() { to } else { from };
            keys[range].iter_mut().filter(|key| (from..to).contains(key)).for_each(|key| *key = at);
        }
        // two warps swap their keys for some time
        8 => {
            let (a, b) = (any(rng), any(rng));
            let offset = rng.random_range(0..a.len().min(b.len()));
            let some = magnitude((a.len().min(b.len()) - offset) as u64, rng) as usize;
            for index in offset..offset + some {
                keys.swap(a.start + index, b.start + index);
            }
        }
        // the warps go one after the other for some time, in any order
        _ => {
            let first = rng.random_range(0..with.len());
            for place in 0..with.len() {
                let range = ranges[with[(first + place) % with.len()]].clone();
                let at = from.saturating_add(place as u32);
                keys[range].iter_mut().filter(|key| (from..to).contains(key)).for_each(|key| *key = at);
            }
        }
    }
}
