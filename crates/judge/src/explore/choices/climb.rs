//! The search for a long run of a launch that has too many choices to explore them all.

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::Choice;
use warpbound_core::base::ProgressMonitor;
use warpbound_sim::by_cycle::{Arbiter, Chooser, Launch, Rules};

/// The longest run that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Climbed {
    /// The makespan of the run in which the rules decide.
    pub by_rules: u64,
    /// The largest makespan.
    pub makespan: u64,
    /// The number of runs that were simulated.
    pub runs: u64,
    /// The choices of the longest run.
    pub choices: Vec<Choice>,
}

/// A chooser with one of several habits, which follows an earlier run to some point.
struct Climber<'a> {
    /// The choices of the earlier run that are made again, as far as they fit.
    again: &'a [u8],
    habit: Habit,
    random: ChaCha8Rng,
}

/// How a choice is made that is not made again.
#[derive(Clone, Copy)]
enum Habit {
    Rules,
    /// The candidate that the rule would serve last, if candidates take turns.
    Last,
    /// Any candidate.
    Any,
    /// Any candidate with a probability of one in this number, otherwise the one of the rule.
    Sometimes(u32),
    /// The candidate with the highest rank. Each index of each arbiter has a random rank.
    Ranked(u64),
}

impl Chooser for Climber<'_> {
    fn choose(&mut self, arbiter: Arbiter, count: usize, rule: usize) -> usize {
        if let Some((&first, rest)) = self.again.split_first() {
            self.again = rest;
            return usize::from(first) % count;
        }
        match self.habit {
            Habit::Rules => rule,
            Habit::Last => (rule + count - 1) % count,
            Habit::Any => self.random.random_range(0..count),
            Habit::Sometimes(one_in) if self.random.random_range(0..one_in) > 0 => rule,
            Habit::Sometimes(_) => self.random.random_range(0..count),
            Habit::Ranked(seed) => {
                let rank = |index: &usize| {
                    let mut random =
                        ChaCha8Rng::seed_from_u64(seed ^ ((arbiter as u64) << 32 | *index as u64));
                    random.next_u64()
                };
                (0..count).max_by_key(rank).unwrap_or(rule)
            }
        }
    }
}

/// Simulates runs of a launch with different choices, at most `budget`, at least one, and returns
/// the longest. Each run either has a new habit, or follows the longest run so far to a random
/// point. `monitor` can stop the search after any run.
pub fn climb(launch: &Launch, budget: u64, seed: u64, monitor: &ProgressMonitor) -> Climbed {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let (by_rules, choices) = run(launch, Rules);
    let mut found = Climbed { by_rules, makespan: by_rules, runs: 1, choices };
    let mut again: Vec<u8> = found.choices.iter().map(|choice| choice.chosen).collect();
    while found.runs < budget && !monitor.is_stopped() {
        let habit = match random.random_range(0..6) {
            0 => Habit::Any,
            1 => Habit::Last,
            2 => Habit::Sometimes(random.random_range(2..32)),
            3 => Habit::Rules,
            _ => Habit::Ranked(random.next_u64()),
        };
        // the first half of the runs looks for a good start
        let follows = found.runs * 2 > budget || random.random_range(0..2) == 0;
        let upto = if follows { random.random_range(0..=again.len()) } else { 0 };
        let mut prefix = again[..upto].to_vec();
        // one choice differs from those of the longest run
        if let (Some(last), Some(choice)) = (prefix.last_mut(), found.choices.get(upto.wrapping_sub(1))) {
            *last = random.random_range(0..choice.count);
        }
        let climber = Climber { again: &prefix, habit, random: ChaCha8Rng::seed_from_u64(random.next_u64()) };
        let (makespan, choices) = run(launch, climber);
        found.runs += 1;
        monitor.searched(found.runs, found.makespan);
        // a run that is as long is as good a start for the next ones
        if makespan >= found.makespan {
            (found.makespan, found.choices) = (makespan, choices);
            again = found.choices.iter().map(|choice| choice.chosen).collect();
        }
    }
    found
}

/// Returns the makespan and the choices of a run.
fn run(launch: &Launch, chooser: impl Chooser) -> (u64, Vec<Choice>) {
    let mut launch = launch.clone();
    let mut choices = Vec::new();
    let mut recording =
        super::Following { cycle: 0, choices: &mut choices, next: usize::MAX / 2, then: chooser };
    loop {
        recording.cycle = launch.now();
        if let Some(makespan) = launch.cycle_by(&mut recording) {
            return (makespan, choices);
        }
    }
}
