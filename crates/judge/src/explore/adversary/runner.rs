//! The execution of plans in the engine.

use super::facts::Facts;
use super::rules::{Follower, IssueTimes, Plan};
use warpbound_core::path::BlockPaths;
use warpbound_core::program::TimingTable;
use warpbound_sim::{Engine, PaperMachine};

/// The result of running a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Run {
    /// The makespan in cycles.
    pub makespan: u64,
    /// The length of each section, from its first issue (from cycle 0 for the first section) to the
    /// first issue of the next section (to the end for the last one). They add up to the makespan.
    pub sections: Vec<u64>,
}

/// Runs one plan after the other; reuses its memory.
#[derive(Debug)]
pub struct Runner<'a> {
    facts: &'a Facts,
    paths: &'a BlockPaths,
    engine: Engine<'a>,
    /// The recorded issues of each sub-core; the first entry has the times of all sub-cores once a
    /// plan has run.
    issue_times: Vec<IssueTimes>,
    /// The sub-core of each warp.
    sub_core: Vec<usize>,
}

impl<'a> Runner<'a> {
    /// Creates a runner for a block.
    pub fn new(
        facts: &'a Facts,
        table: &'a TimingTable,
        machine: PaperMachine<'a>,
        paths: &'a BlockPaths,
    ) -> Self {
        let sub_cores = table.sub_cores();
        Self {
            facts,
            paths,
            engine: Engine::new(table, machine),
            issue_times: vec![IssueTimes::default(); sub_cores.count()],
            sub_core: (0..paths.warps.len()).map(|warp| sub_cores.of_slot(warp)).collect(),
        }
    }

    /// Runs a plan. Returns `None` if the engine cannot run the block to its end. The reason is
    /// never the schedule.
    pub fn run(&mut self, plan: Plan) -> Option<Run> {
        let follower = |issue_times| Follower::new(self.facts, plan, issue_times);
        let mut followers: Vec<Follower> = self.issue_times.drain(..).map(follower).collect();
        let result = self.engine.run_block_with(self.paths, &mut followers, &mut ());
        self.issue_times.extend(followers.into_iter().map(|follower| follower.issue_times));
        let makespan = result.ok()?.makespan.get();
        if let [all, others @ ..] = &mut self.issue_times[..] {
            for (core, other) in (1..).zip(others) {
                for (range, _) in self.facts.warps.iter().zip(&self.sub_core).filter(|(_, own)| **own == core)
                {
                    all.times[range.clone()].copy_from_slice(&other.times[range.clone()]);
                }
                for (first, other) in all.first.iter_mut().zip(&other.first) {
                    *first = (*first).min(*other);
                }
            }
        }
        let first = &self.issue_times[0].first;
        let start = |section: usize| match section {
            0 => 0,
            _ => first.get(section).map_or(makespan, |&cycle| u64::from(cycle)),
        };
        let sections = (0..first.len()).map(|section| start(section + 1) - start(section)).collect();
        Some(Run { makespan, sections })
    }

    /// Returns when each instruction of [`Facts::ins`] issued in the last run.
    pub fn times(&self) -> &[u32] {
        &self.issue_times[0].times
    }

    /// Returns the warp at each issue of the last run. Issues in the same cycle, which are on
    /// different sub-cores, are ordered by sub-core.
    pub fn order(&self) -> Vec<usize> {
        let mut issues: Vec<(u32, usize, usize)> = Vec::with_capacity(self.facts.ins.len());
        for (warp, range) in self.facts.warps.iter().enumerate() {
            issues.extend(self.times()[range.clone()].iter().map(|&at| (at, self.sub_core[warp], warp)));
        }
        issues.sort_unstable();
        issues.into_iter().map(|(.., warp)| warp).collect()
    }
}
