//! Runs plans in the engine.

use super::facts::Facts;
use super::rules::{Follower, Noted, Plan};
use crate::path::BlockPaths;
use crate::program::TimingTable;
use crate::sim::{Engine, PaperMachine};

/// How a plan went.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Run {
    /// Cycles.
    pub makespan: u64,
    /// By section: from its first issue, of the first one from 0, to the first issue of the next one, of the last
    /// one to the end. They add up to the makespan.
    pub sections: Vec<u64>,
}

/// Runs one plan after the other; keeps its memory.
#[derive(Debug)]
pub struct Runner<'a> {
    facts: &'a Facts,
    paths: &'a BlockPaths,
    engine: Engine<'a>,
    /// By sub-core; the first one has the times of all once a plan has run.
    noted: Vec<Noted>,
    /// By warp: its sub-core.
    sub_core: Vec<usize>,
}

impl<'a> Runner<'a> {
    /// For a block.
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
            noted: vec![Noted::default(); sub_cores.count()],
            sub_core: (0..paths.warps.len()).map(|warp| sub_cores.of_slot(warp)).collect(),
        }
    }

    /// Runs a plan. `None` if the engine cannot take the block to its end, which says nothing of schedules.
    pub fn run(&mut self, plan: Plan) -> Option<Run> {
        let follower = |noted| Follower::new(self.facts, plan, noted);
        let mut followers: Vec<Follower> = self.noted.drain(..).map(follower).collect();
        let result = self.engine.run_block_with(self.paths, &mut followers, &mut ());
        self.noted.extend(followers.into_iter().map(|follower| follower.noted));
        let makespan = result.ok()?.makespan.get();
        if let [all, others @ ..] = &mut self.noted[..] {
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
        let first = &self.noted[0].first;
        let start = |section: usize| match section {
            0 => 0,
            _ => first.get(section).map_or(makespan, |&cycle| u64::from(cycle)),
        };
        let sections = (0..first.len()).map(|section| start(section + 1) - start(section)).collect();
        Some(Run { makespan, sections })
    }

    /// By instruction of [`Facts::ins`]: when it issued in the last run.
    pub fn times(&self) -> &[u32] {
        &self.noted[0].times
    }

    /// The warp at each issue of the last run. Of issues in the same cycle, which are of different sub-cores, the
    /// lower sub-core comes first.
    pub fn order(&self) -> Vec<usize> {
        let mut issues: Vec<(u32, usize, usize)> = Vec::with_capacity(self.facts.ins.len());
        for (warp, range) in self.facts.warps.iter().enumerate() {
            issues.extend(self.times()[range.clone()].iter().map(|&at| (at, self.sub_core[warp], warp)));
        }
        issues.sort_unstable();
        issues.into_iter().map(|(.., warp)| warp).collect()
    }
}
