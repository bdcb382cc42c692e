//! The exploration of latencies in given intervals under one policy, which shows timing anomalies.
//!
//! A fixed policy with fixed latencies has one schedule. If every execution of an instruction on a
//! unit may take any latency from an interval, there are many schedules, and the one with the
//! longest latencies need not be the longest. The search chooses each latency when its instruction
//! issues. That loses nothing, because the policy does not see the future.

use std::ops::RangeInclusive;

use super::model::{Model, Outcome, State};
use super::search::System;

/// The policies whose state is small enough to be part of a search state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FixedPolicy {
    /// Greedy then oldest.
    Gto,
    /// Loose round robin.
    Lrr,
    /// The oldest ready warp.
    Oldest,
}

/// A block under a policy, with intervals of latencies.
#[derive(Clone, Debug)]
pub struct Latencies<'m> {
    model: &'m Model,
    policy: FixedPolicy,
    /// The interval of each unit; `None` for units with their own latency.
    intervals: Vec<Option<RangeInclusive<u16>>>,
}

/// A state of the block, with the state of the policy.
#[derive(Clone, Debug)]
pub struct PolicyState {
    block: State,
    /// The warp that issued last, if any did.
    last: Option<u16>,
}

impl<'m> Latencies<'m> {
    /// Creates the system; `intervals` is indexed by unit, with `None` for units with their own
    /// latency.
    pub fn new(model: &'m Model, policy: FixedPolicy, intervals: Vec<Option<RangeInclusive<u16>>>) -> Self {
        Self { model, policy, intervals }
    }

    /// Returns the warp that issues in a state, or `None` if everything has issued.
    fn pick(&self, state: &PolicyState) -> Option<usize> {
        let warps = self.model.warps();
        let ready = |warp: &usize| self.model.is_ready(&state.block, *warp);
        let last = state.last.map(usize::from);
        match self.policy {
            FixedPolicy::Gto => last.filter(ready).or_else(|| (0..warps).find(ready)),
            FixedPolicy::Oldest => (0..warps).find(ready),
            FixedPolicy::Lrr => {
                let from = last.map_or(0, |last| last + 1);
                (from..from + warps).map(|warp| warp % warps).find(ready)
            }
        }
    }

    /// Returns the warp and the latency at each issue of a run; `None` if the unit's own latency is
    /// used.
    pub fn decisions(&self, choices: &[u16]) -> Vec<(usize, Option<u16>)> {
        let mut state = self.start();
        let mut decisions = Vec::with_capacity(choices.len());
        for &choice in choices {
            let Some(warp) = self.pick(&state) else { break };
            let unit = self.model.next_unit(&state.block, warp);
            decisions.push((warp, self.intervals[unit].as_ref().map(|_| choice)));
            self.issue(&mut state, choice);
        }
        decisions
    }
}

impl System for Latencies<'_> {
    type State = PolicyState;

    fn issues(&self) -> usize {
        self.model.issues()
    }

    fn start(&self) -> PolicyState {
        let mut block = self.model.start_by_id();
        self.model.forget(&mut block);
        PolicyState { block, last: None }
    }

    fn most_choices(&self) -> usize {
        let longest = |interval: &RangeInclusive<u16>| usize::from(interval.end() - interval.start()) + 1;
        self.intervals.iter().flatten().map(longest).max().unwrap_or(1)
    }

    /// Adds the possible latencies of the instruction that the policy issues.
    fn choices(&self, state: &PolicyState, choices: &mut Vec<u16>) {
        let Some(warp) = self.pick(state) else { return };
        match &self.intervals[self.model.next_unit(&state.block, warp)] {
            Some(interval) => choices.extend(interval.clone()),
            None => choices.push(0),
        }
    }

    fn issue(&self, state: &mut PolicyState, choice: u16) -> Outcome {
        let warp = self.pick(state).expect("some instruction can issue in this state");
        let varies = self.intervals[self.model.next_unit(&state.block, warp)].is_some();
        let outcome = self.model.issue(&mut state.block, warp, varies.then_some(choice));
        self.model.forget(&mut state.block);
        state.last = match self.policy {
            FixedPolicy::Oldest => None,
            FixedPolicy::Gto | FixedPolicy::Lrr => Some(warp as u16),
        };
        outcome
    }

    fn encode(&self, state: &PolicyState, key: &mut Vec<u16>) {
        self.model.encode(&state.block, key);
        key.push(state.last.map_or(0, |last| last + 1));
    }

    fn decode(&self, key: &[u16], state: &mut PolicyState) {
        self.model.decode(key, &mut state.block);
        state.last = key.last().copied().unwrap_or(0).checked_sub(1);
    }
}
