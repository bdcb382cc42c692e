//! The exact extremes of the execution time of a launch on a machine with a pipeline, over every
//! choice of its arbiters.
//!
//! The pipeline bound (PLB) is proved for arbiters that may serve their candidates in any order. A
//! simulated run sees the order of the rules only. Here, every arbiter of the reference
//! ([`by_cycle`](warpbound_sim::by_cycle)) takes each of its candidates, and the search finds the
//! largest and the smallest makespan of any combination of choices. [`climb()`] looks for long runs
//! of launches that are too large for the search.

mod climb;
mod search;

pub use climb::{Climbed, climb};
pub use search::{Explored, explore};

use warpbound_sim::by_cycle::{Arbiter, Chooser, Launch};

/// A choice of an arbiter with at least two candidates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The arbiter.
    pub arbiter: Arbiter,
    /// The cycle.
    pub cycle: u64,
    /// The index of the candidate that it served, and of the one that its rule serves.
    pub chosen: u8,
    /// The index of the candidate that its rule serves.
    pub rule: u8,
    /// The number of candidates.
    pub count: u8,
}

impl Choice {
    /// Returns the choice of the candidate after this one, if every candidate is taken once,
    /// beginning with the one of the rule.
    fn next(self) -> Option<Self> {
        let taken = (self.count + self.chosen - self.rule) % self.count + 1;
        (taken < self.count).then(|| Self { chosen: (self.rule + taken) % self.count, ..self })
    }
}

/// A chooser that follows given choices and then another chooser, and records all choices.
struct Following<'a, C> {
    cycle: u64,
    choices: &'a mut Vec<Choice>,
    /// The index in `choices` of the next choice to follow.
    next: usize,
    then: C,
}

impl<C: Chooser> Chooser for Following<'_, C> {
    fn choose(&mut self, arbiter: Arbiter, count: usize, rule: usize) -> usize {
        self.next += 1;
        if let Some(choice) = self.choices.get(self.next - 1) {
            debug_assert_eq!((choice.arbiter, usize::from(choice.count)), (arbiter, count));
            return choice.chosen.into();
        }
        let chosen = self.then.choose(arbiter, count, rule);
        let small = |number: usize| u8::try_from(number).expect("there are at most 64 candidates");
        self.choices.push(Choice {
            arbiter,
            cycle: self.cycle,
            chosen: small(chosen),
            rule: small(rule),
            count: small(count),
        });
        chosen
    }
}

/// Returns the makespan of a launch whose arbiters make these choices, or `None` if the choices do
/// not belong to it.
pub fn replay(mut launch: Launch, choices: &[Choice]) -> Option<u64> {
    let mut given = Given { choices: choices.iter(), lost: false };
    loop {
        let over = launch.cycle_by(&mut given);
        if given.lost {
            return None;
        }
        if over.is_some() {
            return over.filter(|_| given.choices.len() == 0);
        }
    }
}

/// A chooser that makes given choices.
struct Given<'a> {
    choices: std::slice::Iter<'a, Choice>,
    lost: bool,
}

impl Chooser for Given<'_> {
    fn choose(&mut self, arbiter: Arbiter, count: usize, rule: usize) -> usize {
        match self.choices.next() {
            Some(choice) if (choice.arbiter, usize::from(choice.count)) == (arbiter, count) => {
                choice.chosen.into()
            }
            _ => {
                self.lost = true;
                rule
            }
        }
    }
}
