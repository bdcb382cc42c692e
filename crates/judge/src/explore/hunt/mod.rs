//! The adversarial search for a block whose worst case exceeds a bound.
//!
//! Kernels and machines are generated from a seed and changed step by step. Changes that bring the
//! worst case closer to the bound are kept (simulated annealing on worst case over bound). The
//! worst case is taken over all work-conserving schedules, computed exactly for blocks that are
//! small enough ([`Evaluator`]), or it is that of one policy, simulated by the engine. A violation
//! is shrunk to a witness from which nothing can be removed ([`shrink()`]).
//!
//! The hunt is divided into chains with independent random numbers. Among the chains with a
//! violation, the one with the lowest number determines the result, so the result does not depend
//! on the number of threads. Budgets are counts, never seconds.

mod chains;
mod fast_search;
mod genome;
mod instance;
mod judge;
mod machines;
mod shrink;
mod witness;

pub use super::worst_makespan::WorstMakespan;
pub use fast_search::Evaluator;
pub use genome::{Genome, Size};
pub use instance::{Ins, Instance, Kind, Subject, Together, UnitTime};
pub use judge::{Judge, Score, Setting, Witness, is_huntable};
pub use machines::{
    BUFFER, Case, CaseSize, CaseSummary, MachineHunt, MachineViolation, MachinesHunted, OF_CACHE, OF_DRAM,
    OF_L2, OF_PARTITIONS, Ran, Times, Values, hunt_machines,
};
pub use shrink::shrink;
pub use witness::WitnessFiles;

use std::sync::atomic::{AtomicU64, Ordering};

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use chains::{accepts, run_chains};

use warpbound_bound::Bound;
use warpbound_core::base::ProgressMonitor;

/// The configuration of a hunt.
#[derive(Clone, Debug, PartialEq)]
pub struct Hunt {
    /// The schedules over which the worst case is taken.
    pub setting: Setting,
    /// The seed of all random numbers.
    pub seed: u64,
    /// The largest number of instances to judge.
    pub instances: u64,
    /// The number of threads; the result does not depend on it.
    pub jobs: usize,
    /// The limits on the size of instances.
    pub size: Size,
    /// The number of instances of a chain.
    pub chain: u64,
    /// One of this many chains anneals; the others draw every instance independently.
    pub anneal_every: u64,
    /// The largest number of states of a layer that the search for the worst case follows.
    pub beam: usize,
}

/// The default number of states of a layer that are followed.
const BEAM: usize = 20_000;

impl Hunt {
    /// Creates a hunt with the default sizes. If `published` is set, these are the sizes at which
    /// violations of the published bound are found most quickly. Otherwise the blocks are tiny and
    /// may have barriers; a million of them are explored in seconds.
    pub fn usual(setting: Setting, published: bool, seed: u64, jobs: usize) -> Self {
        let identical = setting == Setting::Identical;
        let (instructions, init) = match &setting {
            _ if !published => (6, 16),
            Setting::Any => (14, 16),
            Setting::Identical => (12, 16),
            Setting::Policy(_) => (32, 32),
        };
        let size = Size {
            warps: 2,
            together: None,
            identical,
            instructions,
            units: 4,
            init,
            lat: 2 * init,
            barriers: !published,
        };
        let (instances, chain, anneal_every) =
            if published { (20_000_000, 5000, 1) } else { (1_000_000, 1000, 8) };
        Self { setting, seed, instances, jobs, size, chain, anneal_every, beam: BEAM }
    }
}

impl Hunt {
    /// Does the same as [`Self::usual`], for a bound of launches whose blocks are resident
    /// together. The blocks are as small as the search for launches requires.
    pub fn of_launches(setting: Setting, together: Together, seed: u64, jobs: usize) -> Self {
        let usual = Self::usual(setting, false, seed, jobs);
        let size = Size { together: Some(together), instructions: 4, init: 8, lat: 12, ..usual.size };
        Self { size, instances: 20_000, chain: 500, anneal_every: 2, beam: 2000, ..usual }
    }
}

/// Statistics about the instances of a hunt.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    /// The number of instances judged.
    pub instances: u64,
    /// The number of those whose every schedule was covered.
    pub exact: u64,
    /// The number of distinct states over all instances.
    pub states: u64,
    /// The number of schedules over all instances.
    pub schedules: f64,
    /// The number of instances whose worst case equals the bound.
    pub tight: u64,
    /// The sum of the ratios of worst case to bound.
    ratios: f64,
    /// The instance that came closest to the bound; among equal ones the longest, then the first.
    pub closest: Option<(Instance, Score)>,
}

impl Summary {
    /// Returns the average ratio of worst case to bound.
    pub fn mean_ratio(&self) -> f64 {
        if self.instances == 0 { 0.0 } else { self.ratios / self.instances as f64 }
    }

    fn add(&mut self, instance: &Instance, score: &Score) {
        self.instances += 1;
        self.exact += u64::from(score.worst.exact);
        self.states += score.worst.states;
        self.schedules += score.worst.schedules;
        self.tight += u64::from(score.worst.makespan == score.bound);
        self.ratios += score.ratio();
        self.offer(instance, score);
    }

    fn offer(&mut self, instance: &Instance, score: &Score) {
        let closer = self.closest.as_ref().is_none_or(|(known, best)| {
            score.is_closer_than(best)
                || !best.is_closer_than(score) && instance.instructions() > known.instructions()
        });
        if closer {
            self.closest = Some((instance.clone(), *score));
        }
    }

    fn append(&mut self, other: &Self) {
        self.instances += other.instances;
        self.exact += other.exact;
        self.states += other.states;
        self.schedules += other.schedules;
        self.tight += other.tight;
        self.ratios += other.ratios;
        if let Some((instance, score)) = &other.closest {
            self.offer(instance, score);
        }
    }
}

/// A violation.
#[derive(Clone, Debug, PartialEq)]
pub struct Violation {
    /// The instance as it was found.
    pub found: Instance,
    /// The worst case and the bound of `found`.
    pub found_score: Score,
    /// The shrunk instance.
    pub witness: Instance,
    /// The worst case and the bound of `witness`.
    pub score: Score,
    /// A schedule of `witness` that attains the worst case.
    pub schedule: Witness,
    /// The number of the chain that found it.
    pub chain: u64,
    /// The number of instances tried while shrinking.
    pub shrink_tries: u64,
}

/// The result of a hunt.
#[derive(Clone, Debug, PartialEq)]
pub struct Hunted {
    /// Statistics about the instances.
    pub summary: Summary,
    /// The violation found by the chain with the lowest number.
    pub violation: Option<Violation>,
    /// Whether the hunt was stopped before its budget was used up, or before a violation was
    /// completely shrunk.
    pub ended_early: bool,
}

struct Chain {
    summary: Summary,
    violation: Option<(Instance, Score)>,
}

/// Runs a hunt. `make_bound` creates a bound for each thread. `progress` is called at the end of
/// every chain with its number and its statistics. `monitor` is notified of instances and can stop
/// the hunt; the result then covers the instances judged so far.
pub fn hunt(
    hunt: &Hunt,
    make_bound: &(dyn Fn() -> Box<dyn Bound> + Sync),
    progress: &(dyn Fn(u64, &Summary) + Sync),
    monitor: &ProgressMonitor,
) -> Hunted {
    let chains = hunt.instances.div_ceil(hunt.chain.max(1));
    let begin = || Judge::new(hunt.setting.clone(), make_bound(), hunt.beam);
    let chain = |number: u64, judge: &mut Judge, violated: &AtomicU64| {
        let chain = run_chain(hunt, number, judge, violated, monitor);
        progress(number, &chain.summary);
        let ends = chain.violation.is_some();
        (chain, ends)
    };
    let mut summary = Summary::default();
    for (number, chain) in run_chains(chains, hunt.jobs, monitor, &begin, &chain) {
        summary.append(&chain.summary);
        if let Some((found, found_score)) = chain.violation {
            let (violation, ended_early) = finish(hunt, make_bound(), number, found, found_score, monitor);
            return Hunted { summary, violation: Some(violation), ended_early };
        }
    }
    let ended_early = summary.instances < hunt.instances;
    Hunted { summary, violation: None, ended_early }
}

/// Shrinks the violation that a chain found. Also returns whether shrinking was stopped early.
fn finish(
    hunt: &Hunt,
    bound: Box<dyn Bound>,
    chain: u64,
    found: Instance,
    found_score: Score,
    monitor: &ProgressMonitor,
) -> (Violation, bool) {
    let mut judge = Judge::new(hunt.setting.clone(), bound, hunt.beam);
    let mut ended_early = false;
    let (witness, shrink_tries) = shrink(found.clone(), |candidate| {
        // after a stop request, no smaller instance is tried
        ended_early = monitor.is_stopped();
        !ended_early && judge.score(candidate).violated()
    });
    let score = judge.score(&witness);
    let schedule = judge.witness(&witness);
    (Violation { found, found_score, witness, score, schedule, chain, shrink_tries }, ended_early)
}

/// Runs one chain until its end, its first violation, a violation in an earlier chain (the result
/// of this one is then irrelevant), or a stop request.
fn run_chain(
    hunt: &Hunt,
    number: u64,
    judge: &mut Judge,
    violated: &AtomicU64,
    monitor: &ProgressMonitor,
) -> Chain {
    let mut rng = ChaCha8Rng::seed_from_u64(hunt.seed);
    rng.set_stream(number);
    let length = hunt.chain.min(hunt.instances - number * hunt.chain);
    let anneals = number.is_multiple_of(hunt.anneal_every.max(1));
    let mut summary = Summary::default();
    let mut instance = Instance::default();
    let mut current = Genome::random(hunt.size, &mut rng);
    let mut ratio = f64::NEG_INFINITY;
    for step in 0..length {
        let mut candidate = if anneals { current.clone() } else { Genome::random(hunt.size, &mut rng) };
        if anneals && step > 0 {
            candidate.mutate(&mut rng);
        }
        candidate.write(&mut instance);
        let score = judge.score(&instance);
        summary.add(&instance, &score);
        monitor.advance(1);
        if score.violated() {
            return Chain { summary, violation: Some((instance, score)) };
        }
        if anneals {
            let gain = score.ratio() - ratio;
            if accepts(gain, step as f64 / length as f64, &mut rng) {
                current = candidate;
                ratio = score.ratio();
            }
        }
        if violated.load(Ordering::Relaxed) < number || monitor.is_stopped() {
            break;
        }
    }
    Chain { summary, violation: None }
}

#[cfg(test)]
mod tests;
