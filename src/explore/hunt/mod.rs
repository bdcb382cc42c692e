//! Adversarial search for a block whose worst case exceeds a bound.
//!
//! Kernels and machines are made up from a seed and changed step by step, keeping what brings the
//! worst case closer to the bound (simulated annealing on worst over bound). The worst case is over
//! all work-conserving schedules, computed exactly on blocks small enough ([`Evaluator`]), or that
//! of one policy, simulated by the engine. A violation is shrunk to a witness from which nothing
//! can be taken away ([`shrink()`]).
//!
//! The hunt is cut into chains with random numbers of their own, and the first chain by number that
//! finds something decides; so the result does not depend on the number of threads. Budgets are
//! counts, never seconds.

mod genome;
mod instance;
mod judge;
mod shrink;
mod witness;
mod worst;

pub use super::worst_case::Worst;
pub use genome::{Genome, Size};
pub use instance::{Ins, Instance, Kind, Subject, Together, UnitTime};
pub use judge::{Judge, Score, Setting, Witness, is_huntable};
pub use shrink::shrink;
pub use witness::WitnessFiles;
pub use worst::Evaluator;

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::base::Watch;
use crate::bound::Bound;

/// What to hunt, where, and for how long.
#[derive(Clone, Debug, PartialEq)]
pub struct Hunt {
    /// Which schedules count.
    pub setting: Setting,
    /// Seed of everything random.
    pub seed: u64,
    /// Instances to judge at most.
    pub instances: u64,
    /// Threads; the result does not depend on it.
    pub jobs: usize,
    /// How large instances get.
    pub size: Size,
    /// Instances of a chain.
    pub chain: u64,
    /// Of this many chains one anneals, the others draw every instance afresh.
    pub anneal_every: u64,
    /// States of a layer that the worst case follows at most.
    pub beam: usize,
}

/// States of a layer that are followed unless somebody asks for another number.
const BEAM: usize = 20_000;

impl Hunt {
    /// A hunt with the usual sizes: those at which violations of the published bound are found
    /// quickest if `published`, else tiny blocks, barriers included, of which a million are
    /// explored in seconds.
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
    /// As [`Self::usual`], for a bound of launches whose blocks are resident together: as tiny as blocks have to be.
    pub fn of_launches(setting: Setting, together: Together, seed: u64, jobs: usize) -> Self {
        let usual = Self::usual(setting, false, seed, jobs);
        let size = Size { together: Some(together), instructions: 4, init: 8, lat: 12, ..usual.size };
        Self { size, instances: 20_000, chain: 500, anneal_every: 2, beam: 2000, ..usual }
    }
}

/// What was looked at.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    /// Instances judged.
    pub instances: u64,
    /// Of these, those whose every schedule was covered.
    pub exact: u64,
    /// Distinct states over all instances.
    pub states: u64,
    /// Schedules over all instances.
    pub schedules: f64,
    /// Instances whose worst case is the bound, to the cycle.
    pub tight: u64,
    /// Sum of worst over bound.
    ratios: f64,
    /// The instance that came closest to the bound; of equal ones the longest, then the first.
    pub closest: Option<(Instance, Score)>,
}

impl Summary {
    /// Worst over bound, on average.
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
    /// As it was found.
    pub found: Instance,
    /// Its worst case and bound.
    pub found_score: Score,
    /// Shrunk.
    pub witness: Instance,
    /// Its worst case and bound.
    pub score: Score,
    /// A schedule that attains the worst case.
    pub schedule: Witness,
    /// The chain that found it.
    pub chain: u64,
    /// Instances tried while shrinking.
    pub shrink_tries: u64,
}

/// What a hunt found out.
#[derive(Clone, Debug, PartialEq)]
pub struct Hunted {
    /// What was looked at.
    pub summary: Summary,
    /// The violation of the first chain that found one.
    pub violation: Option<Violation>,
    /// Whether the hunt was ended from outside before its budget was used up, or before a violation was
    /// as small as it gets.
    pub ended_early: bool,
}

struct Chain {
    number: u64,
    summary: Summary,
    violation: Option<(Instance, Score)>,
}

/// Hunts. `make_bound` gives each thread its own bound; `progress` hears of every chain that ends:
/// its number and closest ratio. `watch` hears of instances and may end the hunt; what was judged by
/// then counts.
pub fn hunt(
    hunt: &Hunt,
    make_bound: &(dyn Fn() -> Box<dyn Bound> + Sync),
    progress: &(dyn Fn(u64, &Summary) + Sync),
    watch: &Watch,
) -> Hunted {
    let chains = hunt.instances.div_ceil(hunt.chain.max(1));
    let next = AtomicU64::new(0);
    let violated = AtomicU64::new(u64::MAX);
    let ended: Mutex<Vec<Chain>> = Mutex::new(Vec::new());
    let work = || {
        let mut judge = Judge::new(hunt.setting.clone(), make_bound(), hunt.beam);
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= chains || number > violated.load(Ordering::Relaxed) || watch.is_stopped() {
                return;
            }
            let chain = run_chain(hunt, number, &mut judge, &violated, watch);
            if chain.violation.is_some() {
                violated.fetch_min(number, Ordering::Relaxed);
            }
            progress(number, &chain.summary);
            ended.lock().expect("a hunting thread panicked").push(chain);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..hunt.jobs.max(1) {
            scope.spawn(work);
        }
        work();
    });
    let mut ended = ended.into_inner().expect("a hunting thread panicked");
    ended.sort_by_key(|chain| chain.number);
    let mut summary = Summary::default();
    for chain in ended {
        summary.append(&chain.summary);
        if let Some((found, found_score)) = chain.violation {
            let (violation, ended_early) =
                finish(hunt, make_bound(), chain.number, found, found_score, watch);
            return Hunted { summary, violation: Some(violation), ended_early };
        }
    }
    let ended_early = summary.instances < hunt.instances;
    Hunted { summary, violation: None, ended_early }
}

/// Shrinks what a chain found. Tells whether that was ended from outside.
fn finish(
    hunt: &Hunt,
    bound: Box<dyn Bound>,
    chain: u64,
    found: Instance,
    found_score: Score,
    watch: &Watch,
) -> (Violation, bool) {
    let mut judge = Judge::new(hunt.setting.clone(), bound, hunt.beam);
    let mut ended_early = false;
    let (witness, shrink_tries) = shrink(found.clone(), |candidate| {
        // once ended, nothing smaller is looked for
        ended_early = watch.is_stopped();
        !ended_early && judge.score(candidate).violated()
    });
    let score = judge.score(&witness);
    let schedule = judge.witness(&witness);
    (Violation { found, found_score, witness, score, schedule, chain, shrink_tries }, ended_early)
}

/// Temperatures of the annealing, in units of worst over bound.
const HOT: f64 = 0.03;
const COLD: f64 = 0.0005;

/// Runs one chain to its end, or to its first violation, or until an earlier chain has one (what
/// this one finds does not matter then), or until somebody ends the hunt.
fn run_chain(hunt: &Hunt, number: u64, judge: &mut Judge, violated: &AtomicU64, watch: &Watch) -> Chain {
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
        watch.advance(1);
        if score.violated() {
            return Chain { number, summary, violation: Some((instance, score)) };
        }
        if anneals {
            let temperature = HOT * (COLD / HOT).powf(step as f64 / length as f64);
            let gain = score.ratio() - ratio;
            if gain >= 0.0 || rng.random::<f64>() < (gain / temperature).exp() {
                current = candidate;
                ratio = score.ratio();
            }
        }
        if violated.load(Ordering::Relaxed) < number || watch.is_stopped() {
            break;
        }
    }
    Chain { number, summary, violation: None }
}

#[cfg(test)]
mod tests;
