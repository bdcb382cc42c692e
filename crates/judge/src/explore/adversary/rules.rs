//! Work-conserving policies that try to make a block slow: rules, and keys.

use super::facts::Facts;
use warpbound_core::base::WarpMask;
use warpbound_sim::SLOTS;
use warpbound_sim::policy::{Policy, PolicyError, View};

/// The preference of a rule among ready warps. Among equal warps, the first one in circular order
/// after the warp that issued last is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The next warp in circular order, as `lrr`.
    Turns,
    /// The warp that issued last, else the oldest, as `gto`.
    Greedy,
    /// The warp with the lowest number.
    Oldest,
    /// The warp that would take the most time alone to the end of the section.
    LongTail,
    /// The warp that would take the least time alone to the end of the section.
    ShortTail,
    /// The warp with the most instructions left in the section.
    ManyLeft,
    /// The warp with the fewest instructions left in the section.
    FewLeft,
    /// The warp with the fewest instructions before its next long wait.
    SoonWait,
    /// The warp with the most instructions before its next long wait.
    LateWait,
    /// The warp whose instruction occupies its unit longest.
    LongInit,
    /// The warp whose instruction is on the unit that the victim uses next, and occupies it
    /// longest.
    InFront,
    /// The warp whose unit is occupied for the longest time from now on, by issued instructions.
    Queued,
}

impl Order {
    /// All orders.
    pub const ALL: [Self; 12] = [
        Self::Turns,
        Self::Greedy,
        Self::Oldest,
        Self::LongTail,
        Self::ShortTail,
        Self::ManyLeft,
        Self::FewLeft,
        Self::SoonWait,
        Self::LateWait,
        Self::LongInit,
        Self::InFront,
        Self::Queued,
    ];
}

/// The treatment of the victim of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It issues only if no other warp is ready.
    Starved,
    /// It competes with the others, and loses among equals.
    LastOfEquals,
}

/// A rule for a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The warp to delay, if any, and its treatment.
    pub victim: Option<(usize, Fate)>,
    /// The preference while the victim is ready.
    pub pressed: Order,
    /// The preference while the victim waits, or if there is none.
    pub relaxed: Order,
}

impl Rule {
    /// Creates a rule without a victim.
    pub const fn plain(order: Order) -> Self {
        Self { victim: None, pressed: order, relaxed: order }
    }
}

/// The description of a schedule.
#[derive(Clone, Copy, Debug)]
pub enum Plan<'k> {
    /// A rule for each section.
    Rules(&'k [Rule]),
    /// A number for each instruction of [`Facts::ins`]: the ready warp with the smallest number
    /// issues. The cycles in which the instructions of a schedule issued, used as numbers,
    /// reproduce that schedule.
    Keys(&'k [u32]),
}

/// A policy that follows a plan on one sub-core and records the issues.
#[derive(Debug)]
pub struct Follower<'k> {
    facts: &'k Facts,
    plan: Plan<'k>,
    /// The next instruction of each warp.
    next: [usize; SLOTS],
    last: usize,
    /// The time at which each instance of a unit becomes free; needed by rules.
    free: Vec<u64>,
    /// The recorded issues.
    pub issue_times: IssueTimes,
}

/// The times of all issues.
#[derive(Clone, Debug, Default)]
pub struct IssueTimes {
    /// The cycle of the issue of each instruction of [`Facts::ins`]; not valid for instructions
    /// that another sub-core issues.
    pub times: Vec<u32>,
    /// The cycle of the first issue of each section.
    pub first: Vec<u32>,
}

impl<'k> Follower<'k> {
    /// Creates a follower of a plan. `issue_times` provides the memory.
    pub fn new(facts: &'k Facts, plan: Plan<'k>, mut issue_times: IssueTimes) -> Self {
        issue_times.times.resize(facts.ins.len(), 0);
        issue_times.first.clear();
        issue_times.first.resize(facts.sections.len(), u32::MAX);
        let mut next = [0; SLOTS];
        for (next, range) in next.iter_mut().zip(&facts.warps) {
            *next = range.start;
        }
        Self { facts, plan, next, last: SLOTS - 1, free: vec![0; facts.units], issue_times }
    }

    fn by_keys(&self, keys: &[u32], ready: WarpMask) -> Option<usize> {
        ready.slots().min_by_key(|&warp| keys[self.next[warp]])
    }

    fn by_rule(&self, rules: &[Rule], ready: WarpMask, now: u64) -> Option<usize> {
        let any = ready.lowest()?;
        let rule = rules[self.facts.ins[self.next[any]].section as usize];
        let Some((victim, fate)) = rule.victim else { return self.preferred(rule.relaxed, ready, None, now) };
        if !ready.has(victim) {
            return self.preferred(rule.relaxed, ready, Some(victim), now);
        }
        let others = ready - WarpMask::slot(victim);
        match fate {
            _ if others.is_empty() => Some(victim),
            Fate::Starved => self.preferred(rule.pressed, others, Some(victim), now),
            Fate::LastOfEquals => self.preferred(rule.pressed, ready, Some(victim), now),
        }
    }

    /// Returns the warp that an order prefers.
    fn preferred(&self, order: Order, ready: WarpMask, victim: Option<usize>, now: u64) -> Option<usize> {
        match order {
            Order::Greedy if ready.has(self.last) => return Some(self.last),
            Order::Greedy | Order::Oldest => return ready.lowest(),
            _ => {}
        }
        let place = |warp: usize| (warp + SLOTS - 1 - self.last) % SLOTS;
        let value = |warp: usize| -> i64 {
            let ins = &self.facts.ins[self.next[warp]];
            match order {
                Order::LongTail => -i64::from(ins.tail),
                Order::ShortTail => i64::from(ins.tail),
                Order::ManyLeft => -i64::from(ins.left),
                Order::FewLeft => i64::from(ins.left),
                Order::SoonWait => i64::from(ins.to_wait),
                Order::LateWait => -i64::from(ins.to_wait),
                Order::LongInit => -i64::from(ins.init),
                Order::InFront => {
                    let hit = victim.is_some_and(|victim| {
                        let next = self.next[victim];
                        self.facts.warps[victim].contains(&next) && self.facts.ins[next].unit == ins.unit
                    });
                    if hit { -i64::from(ins.init) } else { 0 }
                }
                Order::Queued => -(self.free[usize::from(ins.unit)].saturating_sub(now) as i64),
                Order::Turns | Order::Greedy | Order::Oldest => 0,
            }
        };
        ready.slots().min_by_key(|&warp| (value(warp), Some(warp) == victim, place(warp)))
    }
}

impl Policy for Follower<'_> {
    fn is_work_conserving(&self) -> bool {
        true
    }

    fn restart(&mut self) {}

    fn choose(&mut self, view: &View) -> Result<Option<usize>, Box<PolicyError>> {
        let now = view.now.get();
        let chosen = match self.plan {
            Plan::Keys(keys) => self.by_keys(keys, view.ready),
            Plan::Rules(rules) => self.by_rule(rules, view.ready, now),
        };
        let Some(warp) = chosen else { return Ok(None) };
        let at = self.next[warp];
        let ins = &self.facts.ins[at];
        self.next[warp] += 1;
        self.last = warp;
        self.issue_times.times[at] = now as u32;
        let first = &mut self.issue_times.first[ins.section as usize];
        *first = (*first).min(now as u32);
        let free = &mut self.free[usize::from(ins.unit)];
        *free = now.max(*free) + u64::from(ins.init);
        Ok(Some(warp))
    }
}
