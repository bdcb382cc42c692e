//! Work-conserving policies that try to make a block slow: rules, and keys.

use super::facts::Facts;
use crate::base::WarpMask;
use crate::sim::SLOTS;
use crate::sim::policy::{Policy, ReplayError, View};

/// Whom a rule prefers among ready warps; of equals the first in circular order after the warp that issued last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// In circular order, as `lrr`.
    Turns,
    /// The one that issued last, else the oldest, as `gto`.
    Greedy,
    /// The one with the lowest number.
    Oldest,
    /// The one that would take longest alone to the end of the section.
    LongTail,
    /// The one that would take shortest.
    ShortTail,
    /// The one with the most instructions left in the section.
    ManyLeft,
    /// The one with the fewest.
    FewLeft,
    /// The one with the fewest instructions before its next long wait.
    SoonWait,
    /// The one with the most.
    LateWait,
    /// The one whose instruction takes its unit longest.
    LongInit,
    /// The one whose instruction is on the unit that the victim uses next, and takes it longest.
    InFront,
    /// The one whose unit will be occupied longest already.
    Queued,
}

impl Order {
    /// All of them.
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

/// What becomes of the victim of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It issues only where no other warp is ready.
    Starved,
    /// It takes part, and is the last of equals.
    LastOfEquals,
}

/// A rule for a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The warp that is to be late, if any, and what becomes of it.
    pub victim: Option<(usize, Fate)>,
    /// Whom it prefers while the victim is ready.
    pub pressed: Order,
    /// Whom it prefers while the victim waits, and where there is none.
    pub relaxed: Order,
}

impl Rule {
    /// An order without a victim.
    pub const fn plain(order: Order) -> Self {
        Self { victim: None, pressed: order, relaxed: order }
    }
}

/// How schedules are described.
#[derive(Clone, Copy, Debug)]
pub enum Plan<'k> {
    /// A rule for each section.
    Rules(&'k [Rule]),
    /// A number for each instruction of [`Facts::ins`]: the ready warp with the least number issues. With
    /// the cycles in which the instructions of a schedule issued, this is that schedule.
    Keys(&'k [u32]),
}

/// Follows a plan on one sub-core and notes what it does.
#[derive(Debug)]
pub struct Follower<'k> {
    facts: &'k Facts,
    plan: Plan<'k>,
    /// By warp: its next instruction.
    next: [usize; SLOTS],
    last: usize,
    /// By instance of a unit: when it is free; kept for rules.
    free: Vec<u64>,
    /// What it noted.
    pub noted: Noted,
}

/// When everything issued.
#[derive(Clone, Debug, Default)]
pub struct Noted {
    /// By instruction of [`Facts::ins`]: the cycle of its issue; stale where another sub-core issues it.
    pub times: Vec<u32>,
    /// By section: the cycle of its first issue.
    pub first: Vec<u32>,
}

impl<'k> Follower<'k> {
    /// Of a plan. `noted` gives the memory.
    pub fn new(facts: &'k Facts, plan: Plan<'k>, mut noted: Noted) -> Self {
        noted.times.resize(facts.ins.len(), 0);
        noted.first.clear();
        noted.first.resize(facts.sections.len(), u32::MAX);
        let mut next = [0; SLOTS];
        for (next, range) in next.iter_mut().zip(&facts.warps) {
            *next = range.start;
        }
        Self { facts, plan, next, last: SLOTS - 1, free: vec![0; facts.units], noted }
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

    /// The warp that an order prefers.
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

    fn choose(&mut self, view: &View) -> Result<Option<usize>, Box<ReplayError>> {
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
        self.noted.times[at] = now as u32;
        let first = &mut self.noted.first[ins.section as usize];
        *first = (*first).min(now as u32);
        let free = &mut self.free[usize::from(ins.unit)];
        *free = now.max(*free) + u64::from(ins.init);
        Ok(Some(warp))
    }
}
