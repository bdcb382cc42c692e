//! The search for the worst schedule of a block that is too large to explore all schedules.
//!
//! A bound above a simulated makespan is not necessarily loose: the policy may have been lucky. For
//! small blocks [`explore`](crate::explore::explore()) computes the exact worst case. For other
//! blocks, this module proves that some work-conserving schedule takes *at least* a certain time.
//! It searches for a long schedule, which the engine then follows. So
//!
//! ```text
//! makespan under a policy <= worst found <= true worst case <= proved bound
//!                 luck of the policy      (unknown)      slack of the bound
//! ```
//!
//! (The first inequality holds from a budget of two on: `lrr` and `gto` are tried first.) The
//! difference between worst found and bound is an upper limit of the slack: a better search may
//! find a longer schedule. If both are equal, the worst case is known exactly.
//!
//! # Scope
//! Blocks that run by themselves, on machines of the paper model, with barriers of the whole block.
//! A launch whose blocks run one after the other is the sum of its blocks, as for the bounds.
//!
//! # Method
//! A run of the engine under a policy of this module is one *evaluation*. Sections are separated by
//! full barriers and follow one another. The length of a section hardly depends on the schedule of
//! those before it: only results in flight across the barrier connect them, as in the bounds. One
//! evaluation therefore tries something in every section at once; for each section the longest
//! schedule is kept, and the combination is evaluated as a whole. Only the result of such an
//! evaluation is reported.
//!
//! 1. *Policies*: `lrr`, `gto`, `oldest`.
//! 2. *Exploration* of all schedules, if the number of positions indicates that it may succeed. If
//!    it does, that is the result.
//! 3. *Rules* (`rules.rs`): a victim, which issues only if no other warp is ready, or loses among
//!    equals; an order of preference while it is ready, and one while it waits. First the victim is
//!    the warp that takes longest alone, and all pairs of orders are tried. Then every other victim
//!    is tried with the best pair of each section.
//! 4. *Climbing* (`climb.rs`): from the longest schedule, changes of the cycles at which
//!    instructions issue, in several walks side by side whose results are combined from time to
//!    time.
//!
//! On the 89 launches of the suite, the longest makespans under the policies add up to 516207
//! cycles, rules reach 535071, and 2000 evaluations per block with climbing reach 536496, without
//! exploration. On launches that can be explored the search alone comes within 0.3 % of the worst
//! case (`pchase` 6905 of 6926, `gemv_rows` 15386 of 15399, `fft_radix4` 1798 of 1802, `gauss_back`
//! 19850 of 19851, `align` 7620).
//!
//! # Where slack comes from
//! GUB, IWB and SWB charge two effects in full; `tests.rs` demonstrates both with blocks of a few
//! instructions.
//!
//! * *Results that no instruction waits for at a barrier.* The bound of a section ends with the
//!   last `done` in it, including that of stores, and the next section is counted from there. But
//!   the release waits only for the barrier instructions: a store of 200 cycles before each of k
//!   barriers costs these bounds about 200 k cycles more than any schedule takes.
//!   [`Lwb`](warpbound_bound::Lwb), which counts a section from when those before have settled,
//!   does not charge them. A slack of that bound remains: if a result is waited for only at the end
//!   of the next section, it counts that section, too, from when the result is available.
//! * *Short waits.* A chain of dependent instructions leaves issue slots between them, which other
//!   warps use; a work-conserving policy cannot leave these slots empty while a warp is ready.
//!   Credits ([`Lwb`](warpbound_bound::Lwb)) are given only for the longest latency of the program.
//!
//! The same block, budget and seed give the same result on any number of threads.

mod climb;
mod facts;
mod rules;
mod runner;

use std::sync::atomic::{AtomicUsize, Ordering};

use climb::{Schedule, Walk};
use facts::Facts;
use rules::{Fate, Order, Plan, Rule};
use runner::{Run, Runner};

use super::Exploration;
use super::model::Unsupported;
use super::search::Limits;
use warpbound_bound::BoundReport;
use warpbound_core::base::{Cycles, ProgressMonitor};
use warpbound_core::machine::Machine;
use warpbound_core::path::BlockPaths;
use warpbound_core::program::TimingTable;
use warpbound_sim::PaperMachine;

/// The number of walks side by side; it is fixed because the result depends on it.
const WALKS: u64 = 4;
/// The number of times that walks are combined.
const ROUNDS: u64 = 12;
/// The fraction of its length by which a section may get shorter at the beginning of a walk.
const SLOPE: f64 = 0.004;

/// The limits of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// The largest number of schedules to evaluate for a block; at least one is evaluated.
    pub budget: u64,
    /// The seed of the changes.
    pub seed: u64,
    /// The limits of the exploration of all schedules, which is tried if it may succeed. The other
    /// phases of the search use its number of threads as well; the result does not depend on that
    /// number.
    pub exploration: Limits,
}

/// The method that found a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Method {
    /// One of the usual policies.
    Policy,
    /// A rule for each section.
    Rules,
    /// Climbing from the best schedule so far.
    Climbing,
    /// The exploration of all schedules.
    Exploration,
}

impl Method {
    /// Returns the name that reports use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Policy => "policy",
            Self::Rules => "rules",
            Self::Climbing => "climbing",
            Self::Exploration => "exploration",
        }
    }
}

/// The longest schedule that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Its makespan.
    pub makespan: Cycles,
    /// The method that found it.
    pub by: Method,
    /// The longest makespan among policies.
    pub by_policies: Cycles,
    /// The longest makespan among policies and rules.
    pub by_rules: Cycles,
    /// The warp at each issue.
    pub order: Vec<usize>,
    /// The number of schedules evaluated.
    pub evaluations: u64,
    /// Whether no schedule takes longer, because all were explored or the bound is attained.
    pub exact: bool,
}

/// Searches for a long work-conserving schedule of a block. `proved` is a proved bound of the
/// block; sections whose part of the bound is attained are not searched any further. `monitor` is
/// notified of evaluations and can stop the search, which then returns the best schedule so far.
///
/// # Errors
/// Returns an error for blocks and machines that the search does not support.
pub fn search(
    table: &TimingTable,
    machine: &Machine,
    paths: &BlockPaths,
    proved: &BoundReport,
    effort: Effort,
    monitor: &ProgressMonitor,
) -> Result<Found, Unsupported> {
    let paper = PaperMachine::of(machine).map_err(|_| Unsupported::BeyondPaper)?;
    let facts = Facts::new(table, paths)?;
    let runner = || Runner::new(&facts, table, paper, paths);
    let mut main = runner();
    let mut search =
        Search { facts: &facts, proved, effort, monitor, runner: &runner, evaluations: 0, best: None };
    search.policies(&mut main)?;
    let by_policies = search.makespan();
    let explored = if search.is_attained() { None } else { search.explored(table, machine, paths) };
    if explored.is_none() {
        search.rules(&mut main);
    }
    let by_rules = search.makespan();
    if explored.is_none() {
        search.climbing(&mut main);
    }
    let attained = search.is_attained();
    let Search { evaluations, best, .. } = search;
    let Some(Best { schedule, mut by }) = best else { return Err(Unsupported::TooLarge) };
    // the engine follows the schedule that was found, issue by issue
    let last = main.run(Plan::Keys(&schedule.keys)).ok_or(Unsupported::TooLarge)?;
    assert_eq!(last, schedule.run, "a schedule is its issue times");
    let (mut makespan, mut order) = (Cycles::new(last.makespan), main.order());
    let exact = attained || explored.is_some();
    if let Some(explored) = explored.filter(|explored| explored.worst.at_least > makespan) {
        (makespan, order, by) = (explored.worst.at_least, explored.worst_witness, Method::Exploration);
    }
    let replayed = super::replay(table, machine, paths, &order, &mut ());
    assert_eq!(replayed, Some(makespan), "the engine and the search disagree on a schedule");
    Ok(Found { makespan, by, by_policies, by_rules, order, evaluations, exact })
}

/// The largest number of positions of a block for which exploration is tried, as a multiple of the
/// states that may be visited.
const HOPELESS: u64 = 8;

/// The longest schedule so far, as it ran.
struct Best {
    schedule: Schedule,
    by: Method,
}

struct Search<'s, R> {
    facts: &'s Facts,
    proved: &'s BoundReport,
    effort: Effort,
    monitor: &'s ProgressMonitor,
    runner: &'s R,
    evaluations: u64,
    best: Option<Best>,
}

impl<'s, R: Fn() -> Runner<'s> + Sync> Search<'s, R> {
    fn makespan(&self) -> Cycles {
        self.best.as_ref().map_or(Cycles::ZERO, |best| Cycles::new(best.schedule.run.makespan))
    }

    /// Returns the number of evaluations that may still be made.
    fn left(&self) -> u64 {
        self.effort.budget.saturating_sub(self.evaluations)
    }

    /// Returns whether the best schedule takes as long as the bound allows.
    fn is_attained(&self) -> bool {
        !self.proved.sections.is_empty() && self.makespan() >= self.proved.value.cycles()
    }

    /// Explores all schedules. Returns `None` if there are too many.
    fn explored(&self, table: &TimingTable, machine: &Machine, paths: &BlockPaths) -> Option<Exploration> {
        let limits = self.effort.exploration;
        if self.facts.positions() / HOPELESS > limits.max_states {
            return None;
        }
        let ceiling = self.proved.value.cycles();
        let explored = super::explore(table, machine, paths, ceiling, limits, &self.monitor.beside()).ok()?;
        explored.is_complete().then_some(explored)
    }

    /// Returns whether a longer schedule may exist and the search may continue.
    fn goes_on(&self) -> bool {
        self.left() > 0 && !self.monitor.is_stopped() && self.open().contains(&true)
    }

    /// Returns for each section whether it may get longer.
    fn open(&self) -> Vec<bool> {
        let Some(best) = &self.best else { return vec![true; self.facts.sections.len()] };
        if self.is_attained() {
            return vec![false; self.facts.sections.len()];
        }
        // no section begins later than the time by which, according to the bound, all sections
        // before it have settled; the last section ends at its latest possible time only if the
        // bound is attained
        let lengths = &best.schedule.run.sections;
        let (mut released, mut settled) = (0, 0);
        let below = |(section, &cycles): (usize, &u64)| {
            released += cycles;
            let proved = self.proved.sections.get(section);
            settled = proved.map_or(u64::MAX, |proved| settled + proved.settled.cycles().get());
            section + 1 == lengths.len() || released < settled
        };
        lengths.iter().enumerate().map(below).collect()
    }

    /// Evaluates a plan as a whole, and keeps it if it is the longest.
    fn evaluate(&mut self, plan: Plan, by: Method, main: &mut Runner) -> Option<Schedule> {
        let run = main.run(plan)?;
        self.evaluations += 1;
        self.monitor.advance(1);
        let schedule = Schedule::of_last(self.facts, main, &run);
        if self.best.as_ref().is_none_or(|best| run.makespan > best.schedule.run.makespan) {
            self.best = Some(Best { schedule: schedule.clone(), by });
        }
        Some(schedule)
    }

    fn policies(&mut self, main: &mut Runner) -> Result<(), Unsupported> {
        for order in [Order::Turns, Order::Greedy, Order::Oldest] {
            if self.evaluations > 0 && !self.goes_on() {
                break;
            }
            let rules = vec![Rule::plain(order); self.facts.sections.len()];
            self.evaluate(Plan::Rules(&rules), Method::Policy, main).ok_or(Unsupported::TooLarge)?;
        }
        Ok(())
    }

    fn rules(&mut self, main: &mut Runner) {
        let victims: Vec<Vec<usize>> = (0..self.facts.sections.len()).map(|s| self.victims(s)).collect();
        let mut chosen = vec![Choice { victim: 0, ..Choice::START }; victims.len()];
        // all pairs of orders for the first victim, then all victims for the best pair
        let orders = all_orders();
        self.choose(&mut chosen, &orders, &victims, main);
        let most = victims.iter().map(Vec::len).max().unwrap_or(0);
        for _ in 0..2 {
            if !self.goes_on() {
                return;
            }
            let before = chosen.clone();
            let others = |section: usize| {
                let chosen: Choice = before[section];
                (0..most).map(move |victim| Choice { victim, ..chosen })
            };
            let lists: Vec<Vec<Choice>> =
                (0..victims.len()).map(|section| others(section).collect()).collect();
            self.choose_each(&mut chosen, most, &|section, index| lists[section][index], &victims, main);
            if chosen == before || !self.goes_on() {
                return;
            }
            let again = chosen.clone();
            let with =
                |section: usize, index: usize| Choice { victim: again[section].victim, ..orders[index] };
            self.choose_each(&mut chosen, orders.len(), &with, &victims, main);
        }
    }

    /// Returns the warps of a section, those that take longest alone first; among equals the last
    /// warp first.
    fn victims(&self, section: usize) -> Vec<usize> {
        let ranges = &self.facts.sections[section];
        let mut warps: Vec<usize> = (0..ranges.len()).filter(|&warp| !ranges[warp].is_empty()).collect();
        warps.sort_by_key(|&warp| {
            (std::cmp::Reverse(self.facts.ins[ranges[warp].start].tail), std::cmp::Reverse(warp))
        });
        warps
    }

    fn choose(&mut self, chosen: &mut [Choice], all: &[Choice], victims: &[Vec<usize>], main: &mut Runner) {
        self.choose_each(chosen, all.len(), &|_, index| all[index], victims, main);
    }

    /// Tries `count` choices in all sections at once, keeps the best one for each section, and
    /// evaluates their combination.
    fn choose_each(
        &mut self,
        chosen: &mut [Choice],
        count: usize,
        choice: &(impl Fn(usize, usize) -> Choice + Sync),
        victims: &[Vec<usize>],
        main: &mut Runner,
    ) {
        if !self.goes_on() {
            return;
        }
        // one evaluation is left for the combination
        let count = count.min(usize::try_from(self.left() - 1).unwrap_or(usize::MAX));
        let rules = |pick: &dyn Fn(usize) -> Choice| -> Vec<Rule> {
            (0..victims.len()).map(|section| pick(section).rule(&victims[section])).collect()
        };
        let monitor = self.monitor;
        let runs = self.in_parallel(count, |runner, index| {
            // after a stop request the run is omitted, and an omitted run cannot win
            if monitor.is_stopped() {
                return None;
            }
            monitor.advance(1);
            runner.run(Plan::Rules(&rules(&|section| choice(section, index))))
        });
        let made = runs.iter().flatten().count() as u64;
        self.evaluations += made;
        if made < count as u64 {
            return;
        }
        let runs: Vec<Run> = runs.into_iter().flatten().collect();
        for (section, chosen) in chosen.iter_mut().enumerate() {
            let mut longest = None;
            for (index, run) in runs.iter().enumerate() {
                let length = run.sections.get(section).copied().unwrap_or(0);
                if longest.is_none_or(|most| length > most) {
                    longest = Some(length);
                    *chosen = choice(section, index);
                }
            }
        }
        // a run with a single choice may be longer than the combination
        let whole = (0..runs.len()).rev().max_by_key(|&index| runs[index].makespan);
        self.evaluate(Plan::Rules(&rules(&|section| chosen[section])), Method::Rules, main);
        let longest = whole.filter(|&index| Cycles::new(runs[index].makespan) > self.makespan());
        if let Some(index) = longest.filter(|_| self.left() > 0) {
            self.evaluate(Plan::Rules(&rules(&|section| choice(section, index))), Method::Rules, main);
        }
    }

    fn climbing(&mut self, main: &mut Runner) {
        let rounds = ROUNDS.min(self.left() / (WALKS + 1)).max(1);
        for round in 0..rounds {
            if !self.goes_on() {
                return;
            }
            let runs = ((self.left() / (rounds - round)).saturating_sub(1)) / WALKS;
            if runs == 0 {
                return;
            }
            let Some(best) = &self.best else { return };
            let (start, open) = (best.schedule.clone(), self.open());
            let slope = SLOPE * (1.0 - round as f64 / rounds as f64);
            let (facts, seed) = (self.facts, self.effort.seed);
            let monitor = self.monitor;
            let walk = |stream| Walk { facts, open: &open, runs, slope, seed, stream, monitor };
            let walked = self.in_parallel(WALKS as usize, |runner, index| {
                walk(round * WALKS + index as u64).from(&start, runner)
            });
            self.evaluations += walked.iter().map(|(_, runs)| runs).sum::<u64>();
            let mut together = start;
            for (other, _) in &walked {
                for section in 0..facts.sections.len() {
                    if other.run.sections[section] > together.run.sections[section] {
                        together.take_from(facts, section, other);
                    }
                }
            }
            self.evaluate(Plan::Keys(&together.keys), Method::Climbing, main);
        }
    }

    /// Returns the results of `count` tasks, in order, computed on as many threads as are allowed.
    fn in_parallel<T: Send>(
        &self,
        count: usize,
        task: impl Fn(&mut Runner<'s>, usize) -> T + Sync,
    ) -> Vec<T> {
        let next = AtomicUsize::new(0);
        let work = || {
            let mut runner = (self.runner)();
            let mut done = Vec::new();
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                if index >= count {
                    return done;
                }
                done.push((index, task(&mut runner, index)));
            }
        };
        let mut done = if self.effort.exploration.threads <= 1 {
            work()
        } else {
            std::thread::scope(|scope| {
                let threads: Vec<_> =
                    (0..self.effort.exploration.threads.min(count)).map(|_| scope.spawn(work)).collect();
                threads
                    .into_iter()
                    .flat_map(|thread| thread.join().expect("a searching thread panicked"))
                    .collect()
            })
        };
        done.sort_by_key(|&(index, _)| index);
        done.into_iter().map(|(_, result)| result).collect()
    }
}

/// A rule that names its victim by rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Choice {
    victim: usize,
    fate: Option<Fate>,
    pressed: Order,
    relaxed: Order,
}

impl Choice {
    const START: Self = Self { victim: 0, fate: None, pressed: Order::Turns, relaxed: Order::Turns };

    fn rule(self, victims: &[usize]) -> Rule {
        let victim = self.fate.zip(victims.get(self.victim).copied());
        Rule { victim: victim.map(|(fate, warp)| (warp, fate)), pressed: self.pressed, relaxed: self.relaxed }
    }
}

/// Returns every order without a victim, and every pair of orders with each fate of a victim.
fn all_orders() -> Vec<Choice> {
    let mut all: Vec<Choice> =
        Order::ALL.iter().map(|&order| Choice { pressed: order, relaxed: order, ..Choice::START }).collect();
    for fate in [Fate::Starved, Fate::LastOfEquals] {
        for pressed in Order::ALL {
            for relaxed in Order::ALL {
                all.push(Choice { victim: 0, fate: Some(fate), pressed, relaxed });
            }
        }
    }
    all
}

#[cfg(test)]
mod tests;
