//! The worst schedule that a search finds, of blocks that are too large for all of theirs.
//!
//! A bound above a simulated makespan is not yet loose: the policy may have been lucky. For small blocks
//! [`explore`](crate::explore::explore()) knows the truth. Here is what can be said of others: some work-conserving
//! schedule takes *at least* so long. What is found is a schedule, which the engine follows, so that
//!
//! ```text
//! makespan under a policy <= worst found <= true worst case <= proved bound
//!                 luck of the policy      (unknown)      slack of the bound
//! ```
//!
//! (The first holds from a budget of two on: `lrr` and `gto` are what is tried first.) What lies between worst found and bound is slack at
//! most: a better search may find more. If both are equal, the worst case is known exactly.
//!
//! # Scope
//! Blocks that run by themselves, on machines of the paper model, with barriers of the whole block. A launch
//! whose blocks run one after the other is the sum of its blocks, as for the bounds.
//!
//! # Method
//! A run of the engine under a policy of this module is one *evaluation*. Sections, which full barriers
//! separate, follow one another, and the length of one hardly depends on the schedule of those before it (only what is
//! in flight across the barrier connects them, as in the bounds). So one evaluation tries something in every section
//! at once; of each section the longest is kept, and what has been put together is evaluated as a whole.
//! Nothing but such an evaluation is reported.
//!
//! 1. *Policies*: `lrr`, `gto`, `oldest`.
//! 2. *Exploration* of all schedules, where the number of positions says that it may succeed. If it does, that is the
//!    result.
//! 3. *Rules* (`rules.rs`): a victim, which issues only if nobody else can, or loses among equals; an order
//!    of preference while it is ready and pressed, and one while it waits. For the warp that takes longest alone all
//!    pairs of orders; then for the best pair of each section every other victim.
//! 4. *Climbing* (`climb.rs`): from the longest schedule, changes of the cycles at which instructions issue, in
//!    several walks side by side that are put together now and then.
//!
//! On the 89 launches of the suite the longest of the policies adds up to 516207 cycles, rules come to 535071, and
//! 2000 evaluations a block with climbing to 536496, without exploration. On launches that can be explored the search
//! alone comes to within 0.3 % of the worst case (`pchase` 6905 of 6926, `gemv_rows` 15386 of 15399, `fft_radix4` 1798 of
//! 1802, `gauss_back` 19850 of 19851, `align` 7620).
//!
//! # Where slack comes from
//! Two things that GUB, IWB and SWB charge in full; `tests.rs` has both as blocks of a few instructions.
//!
//! * *Results that nobody waits for at a barrier.* The bound of a section ends with the last `done` in it, stores
//!   included, and the next section is counted from there. But the release waits for the barrier instructions only: a
//!   store of 200 cycles before each of k barriers costs these bounds about 200 k cycles more than any schedule takes.
//!   [`Lwb`](crate::bound::Lwb), which counts a section from when those before have settled, does not charge them. A result
//!   that is waited for at the end of the next section still counts from its beginning.
//! * *Short waits.* A chain of dependent instructions leaves issue slots between them, which other warps use, and must
//!   use. Credits ([`Lwb`](crate::bound::Lwb)) are given for the longest latency of the program alone.
//!
//! Same block, budget and seed: same result, on any number of threads.

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
use crate::base::{Cycles, Watch};
use crate::bound::BoundReport;
use crate::machine::Machine;
use crate::path::BlockPaths;
use crate::program::TimingTable;
use crate::sim::PaperMachine;

/// Walks side by side; fixed, because the result depends on it.
const WALKS: u64 = 4;
/// How often walks are put together.
const ROUNDS: u64 = 12;
/// By how much of its length a section may get shorter at the beginning of a walk.
const SLOPE: f64 = 0.004;

/// How far to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// Schedules to evaluate for a block, at most; at least one is.
    pub budget: u64,
    /// Seed of the changes.
    pub seed: u64,
    /// For the exploration of all schedules, where it may succeed; its threads search, too, and the result does not
    /// depend on how many they are.
    pub exploration: Limits,
}

/// What found a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Method {
    /// A usual policy.
    Policy,
    /// A rule for each section.
    Rules,
    /// Climbing from there.
    Climbing,
    /// All schedules were explored.
    Exploration,
}

impl Method {
    /// As reports call it.
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
    /// What found it.
    pub by: Method,
    /// The longest makespan among policies.
    pub by_policies: Cycles,
    /// The longest up to rules.
    pub by_rules: Cycles,
    /// The warp at each issue.
    pub order: Vec<usize>,
    /// Schedules that were evaluated.
    pub evaluations: u64,
    /// Whether no schedule takes longer: all were explored, or the bound is attained.
    pub exact: bool,
}

/// Searches for a long work-conserving schedule of a block. `proved` is a proved bound of it; no
/// section is searched on that attains its own part. `watch` hears of evaluations and may end the search, with what there is
/// by then.
///
/// # Errors
/// Blocks and machines of which schedules are not searched.
pub fn search(
    table: &TimingTable,
    machine: &Machine,
    paths: &BlockPaths,
    proved: &BoundReport,
    effort: Effort,
    watch: &Watch,
) -> Result<Found, Unsupported> {
    let paper = PaperMachine::of(machine).map_err(|_| Unsupported::BeyondPaper)?;
    let facts = Facts::new(table, paths)?;
    let runner = || Runner::new(&facts, table, paper, paths);
    let mut main = runner();
    let mut search =
        Search { facts: &facts, proved, effort, watch, runner: &runner, evaluations: 0, best: None };
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
    // what was found as the engine follows it, issue by issue
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

/// Positions of a block, as a multiple of the states that may be visited, up to which exploration is tried.
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
    watch: &'s Watch,
    runner: &'s R,
    evaluations: u64,
    best: Option<Best>,
}

impl<'s, R: Fn() -> Runner<'s> + Sync> Search<'s, R> {
    fn makespan(&self) -> Cycles {
        self.best.as_ref().map_or(Cycles::ZERO, |best| Cycles::new(best.schedule.run.makespan))
    }

    /// Evaluations that may still be made.
    fn left(&self) -> u64 {
        self.effort.budget.saturating_sub(self.evaluations)
    }

    /// Whether the best schedule takes as long as the bound allows.
    fn is_attained(&self) -> bool {
        !self.proved.sections.is_empty() && self.makespan() >= self.proved.value.cycles()
    }

    /// Explores all schedules; nothing if they are too many.
    fn explored(&self, table: &TimingTable, machine: &Machine, paths: &BlockPaths) -> Option<Exploration> {
        let limits = self.effort.exploration;
        if self.facts.positions() / HOPELESS > limits.max_states {
            return None;
        }
        let ceiling = self.proved.value.cycles();
        let explored = super::explore(table, machine, paths, ceiling, limits, &self.watch.beside()).ok()?;
        explored.is_complete().then_some(explored)
    }

    /// Whether there is more to find, and leave to look for it.
    fn goes_on(&self) -> bool {
        self.left() > 0 && !self.watch.is_stopped() && self.open().contains(&true)
    }

    /// By section, whether it may get longer.
    fn open(&self) -> Vec<bool> {
        let Some(best) = &self.best else { return vec![true; self.facts.sections.len()] };
        if self.is_attained() {
            return vec![false; self.facts.sections.len()];
        }
        // no section begins later than when all before it have settled by the bound; the last one ends as late as may be
        // only if the bound is attained
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
        self.watch.advance(1);
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
        // all pairs of orders for the first victim, then the victims for the pair that was best
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

    /// The warps of a section, those first that take longest alone; of equals the last.
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

    /// Tries `count` choices in all sections at once, keeps the best of each, and evaluates what they make together.
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
        // one is left for what they make together
        let count = count.min(usize::try_from(self.left() - 1).unwrap_or(usize::MAX));
        let rules = |pick: &dyn Fn(usize) -> Choice| -> Vec<Rule> {
            (0..victims.len()).map(|section| pick(section).rule(&victims[section])).collect()
        };
        let watch = self.watch;
        let runs = self.in_parallel(count, |runner, index| {
            // nothing is as good as a run that was not made
            if watch.is_stopped() {
                return None;
            }
            watch.advance(1);
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
        // one of them may be longer as it was than what is put together
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
            let watch = self.watch;
            let walk = |stream| Walk { facts, open: &open, runs, slope, seed, stream, watch };
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

    /// The results of `count` tasks, in order, on as many threads as are allowed.
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

/// A rule with its victim by rank.
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

/// Every order without a victim, and every pair of orders with each fate of one.
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
