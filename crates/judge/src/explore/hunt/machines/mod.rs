//! The search for a run on a machine with a pipeline or a memory system that exceeds a bound.
//!
//! A [`Case`] is a kernel in PTX with its launch, on a named machine of which some settings are
//! changed; every switch of the pipeline and of the memory may be drawn, except those that no bound
//! covers. The schedule is that of a policy, because the search over all schedules knows the paper
//! model only. As in the hunt for blocks, changes that bring the makespan closer to the bound are
//! kept, and a violation is shrunk.
//!
//! The caller of [`hunt_machines`] loads and runs a case, because this module reads no files and
//! judges nothing.

mod case;
mod settings;

pub use case::{BUFFER, Case, CaseSize};
pub use settings::{OF_CACHE, OF_DRAM, OF_L2, OF_PARTITIONS, Values};

use std::sync::atomic::{AtomicU64, Ordering};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::chains::{accepts, run_chains};
use warpbound_core::base::ProgressMonitor;

/// The configuration of a hunt on machines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MachineHunt {
    /// The seed of all random numbers.
    pub seed: u64,
    /// The number of cases to draw.
    pub cases: u64,
    /// The number of threads; the result does not depend on it.
    pub jobs: usize,
    /// The number of machines whose settings are changed.
    pub bases: usize,
    /// The limits on the size of cases.
    pub size: CaseSize,
    /// The number of cases of a chain.
    pub chain: u64,
}

/// The result of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ran {
    /// The settings do not fit each other, or the launch does not fit the machine, for this reason.
    Refused(String),
    /// The bound does not apply, for this reason.
    NotApplicable(String),
    /// The run ended after this many cycles.
    Judged(Times),
}

/// The makespan of a run and the value of the bound, in cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// The makespan.
    pub makespan: u64,
    /// The bound.
    pub bound: u64,
    /// Whether the bound is exceeded, in the launch or in a block.
    pub violated: bool,
}

impl Times {
    /// Returns the makespan divided by the bound.
    pub fn ratio(&self) -> f64 {
        self.makespan as f64 / self.bound.max(1) as f64
    }

    /// Returns whether the ratio is larger than that of `other`, compared exactly.
    fn is_closer_than(&self, other: &Self) -> bool {
        let product = |a: u64, b: u64| u128::from(a) * u128::from(b.max(1));
        product(self.makespan, other.bound) > product(other.makespan, self.bound)
    }
}

/// Statistics about the cases of a hunt on machines.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CaseSummary {
    /// The number of cases drawn.
    pub cases: u64,
    /// The number of those that were refused.
    pub refused: u64,
    /// The number of those to which the bound does not apply.
    pub not_applicable: u64,
    /// The reason why the first of the cases that were not judged was not.
    pub why_not_judged: Option<String>,
    /// The number of those that were compared with the bound.
    pub judged: u64,
    /// The number of those whose makespan equals the bound.
    pub tight: u64,
    /// The sum of the ratios of makespan to bound.
    ratios: f64,
    /// The case that came closest to the bound; the first of several.
    pub closest: Option<(Case, Times)>,
}

impl CaseSummary {
    /// Returns the average ratio of makespan to bound, or `None` if no case was judged.
    pub fn mean_ratio(&self) -> Option<f64> {
        (self.judged > 0).then(|| self.ratios / self.judged as f64)
    }

    fn add(&mut self, case: &Case, ran: &Ran) {
        self.cases += 1;
        match ran {
            Ran::Refused(_) => self.refused += 1,
            Ran::NotApplicable(_) => self.not_applicable += 1,
            &Ran::Judged(times) => {
                self.judged += 1;
                self.tight += u64::from(times.makespan == times.bound);
                self.ratios += times.ratio();
                self.offer(case, times);
            }
        }
        if let Ran::Refused(why) | Ran::NotApplicable(why) = ran {
            self.why_not_judged.get_or_insert_with(|| why.clone());
        }
    }

    fn offer(&mut self, case: &Case, times: Times) {
        if self.closest.as_ref().is_none_or(|(_, best)| times.is_closer_than(best)) {
            self.closest = Some((case.clone(), times));
        }
    }

    fn append(&mut self, other: &Self) {
        self.cases += other.cases;
        self.refused += other.refused;
        self.not_applicable += other.not_applicable;
        self.why_not_judged = self.why_not_judged.take().or_else(|| other.why_not_judged.clone());
        self.judged += other.judged;
        self.tight += other.tight;
        self.ratios += other.ratios;
        if let Some((case, times)) = &other.closest {
            self.offer(case, *times);
        }
    }
}

/// A run that exceeds the bound.
#[derive(Clone, Debug, PartialEq)]
pub struct MachineViolation {
    /// The case as it was found, and its times.
    pub found: (Case, Times),
    /// The shrunk case and its times.
    pub witness: (Case, Times),
    /// The number of the chain that found it.
    pub chain: u64,
    /// The number of cases tried while shrinking.
    pub shrink_tries: u64,
}

/// The result of a hunt on machines.
#[derive(Clone, Debug, PartialEq)]
pub struct MachinesHunted {
    /// Statistics about the cases.
    pub summary: CaseSummary,
    /// The violation found by the chain with the lowest number.
    pub violation: Option<MachineViolation>,
    /// Whether the hunt was stopped before its budget was used up, or before a violation was
    /// completely shrunk.
    pub ended_early: bool,
}

struct Chain {
    summary: CaseSummary,
    violation: Option<(Case, Times)>,
}

/// Runs a hunt. `run` runs a case; its result must depend on the case only. `monitor` is notified of
/// cases and can stop the hunt; the result then covers the cases so far.
///
/// # Errors
/// Returns the error of `run` in the chain with the lowest number, which is a fault of the program.
pub fn hunt_machines<E: Send>(
    hunt: &MachineHunt,
    run: &(dyn Fn(&Case) -> Result<Ran, E> + Sync),
    monitor: &ProgressMonitor,
) -> Result<MachinesHunted, E> {
    let chains = hunt.cases.div_ceil(hunt.chain.max(1));
    let chain = |number: u64, (): &mut (), violated: &AtomicU64| {
        let chain = run_chain(hunt, number, run, violated, monitor);
        let ends = chain.as_ref().map_or(true, |chain| chain.violation.is_some());
        (chain, ends)
    };
    let mut summary = CaseSummary::default();
    for (number, chain) in run_chains(chains, hunt.jobs, monitor, &|| (), &chain) {
        let chain = chain?;
        summary.append(&chain.summary);
        if let Some(found) = chain.violation {
            let (violation, ended_early) = shrink(found, number, run, monitor)?;
            return Ok(MachinesHunted { summary, violation: Some(violation), ended_early });
        }
    }
    let ended_early = summary.cases < hunt.cases;
    Ok(MachinesHunted { summary, violation: None, ended_early })
}

fn run_chain<E>(
    hunt: &MachineHunt,
    number: u64,
    run: &dyn Fn(&Case) -> Result<Ran, E>,
    violated: &AtomicU64,
    monitor: &ProgressMonitor,
) -> Result<Chain, E> {
    let mut rng = ChaCha8Rng::seed_from_u64(hunt.seed);
    rng.set_stream(number);
    let length = hunt.chain.min(hunt.cases - number * hunt.chain);
    // every second chain draws each case independently of the others
    let anneals = number.is_multiple_of(2);
    let mut summary = CaseSummary::default();
    // the last case that was accepted, and its ratio
    let mut current: Option<(Case, f64)> = None;
    for step in 0..length {
        let mut candidate = match &current {
            // now and then a chain begins anew, because a few settings can make all others useless
            Some((case, _)) if anneals && rng.random_range(0..16) > 0 => case.clone(),
            _ => Case::random(&hunt.size, hunt.bases, &mut rng),
        };
        candidate.mutate(&hunt.size, &mut rng);
        let ran = run(&candidate)?;
        summary.add(&candidate, &ran);
        monitor.advance(1);
        if let Ran::Judged(times) = ran {
            if times.violated {
                return Ok(Chain { summary, violation: Some((candidate, times)) });
            }
            let gain = times.ratio() - current.as_ref().map_or(0.0, |(_, ratio)| *ratio);
            if accepts(gain, step as f64 / length as f64, &mut rng) {
                current = Some((candidate, times.ratio()));
            }
        }
        if violated.load(Ordering::Relaxed) < number || monitor.is_stopped() {
            break;
        }
    }
    Ok(Chain { summary, violation: None })
}

/// Shrinks a violation until no single step keeps it. Also returns whether that was stopped early.
fn shrink<E>(
    found: (Case, Times),
    chain: u64,
    run: &dyn Fn(&Case) -> Result<Ran, E>,
    monitor: &ProgressMonitor,
) -> Result<(MachineViolation, bool), E> {
    let mut witness = found.clone();
    let (mut shrink_tries, mut ended_early) = (0, false);
    'again: loop {
        for smaller in witness.0.smaller() {
            if monitor.is_stopped() {
                ended_early = true;
                break 'again;
            }
            shrink_tries += 1;
            if let Ran::Judged(times) = run(&smaller)?
                && times.violated
            {
                witness = (smaller, times);
                continue 'again;
            }
        }
        break;
    }
    Ok((MachineViolation { found, witness, chain, shrink_tries }, ended_early))
}

#[cfg(test)]
mod tests;
