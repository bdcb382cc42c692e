//! The search for an anomaly among phases.
//!
//! Instances are tried in one of two orders: canonical, which visits all instances of a total
//! length before the longer ones and so finds a shortest one; or drawn from a seed. Every shortened
//! phase is necessary: if any of them has its old length, the schedule does not get longer.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::explore::phase_level::{PhasePair, PhaseWarp, schedule};
use warpbound_bound::PhaseKind;
use warpbound_core::base::{Cycles, ProgressMonitor};
use warpbound_core::machine::PolicyKind;

/// The longest phase of a drawn instance, in cycles.
const LONGEST_DRAWN: u64 = 6;

/// The parameters of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhaseSearch {
    /// The policy, one of [`crate::explore::phase_level::POLICIES`].
    pub policy: PolicyKind,
    /// The number of warps.
    pub warps: usize,
    /// The number of exec phases per warp, each with the idle phase after it.
    pub pairs: usize,
    /// The number of phases to shorten.
    pub shortened: usize,
    /// The seed from which instances are drawn; `None` visits all instances in canonical order.
    pub seed: Option<u64>,
    /// The largest number of schedules to try.
    pub max_schedules: u64,
}

/// A phase that got shorter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shortened {
    /// Its warp.
    pub warp: usize,
    /// The index of the pair in the warp.
    pub index: usize,
    /// The kind of the phase in the pair.
    pub kind: PhaseKind,
    /// Its length before.
    pub from: Cycles,
    /// Its length after.
    pub to: Cycles,
}

/// An anomaly: phases got shorter, and the makespan longer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhaseAnomaly {
    /// The warps with their full lengths.
    pub before: Vec<PhaseWarp>,
    /// The same warps with some phases shortened.
    pub after: Vec<PhaseWarp>,
    /// The phases that were shortened.
    pub shortened: Vec<Shortened>,
    /// The makespan of `before`.
    pub makespan_before: Cycles,
    /// The makespan of `after`, which is larger.
    pub makespan_after: Cycles,
}

/// The result of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhaseFound {
    /// The first anomaly in the order of the search.
    pub anomaly: Option<PhaseAnomaly>,
    /// The number of schedules tried.
    pub schedules: u64,
    /// The number of instances tried; each is shortened in every possible way.
    pub instances: u64,
    /// Whether the search was stopped before it had tried the allowed number of schedules.
    pub ended_early: bool,
    /// The total length up to which every instance was searched completely; only in canonical
    /// order.
    pub all_up_to: Option<Cycles>,
}

/// Searches for an anomaly. Returns `None` for a policy that does not exist at this level, or an
/// empty search space. `monitor` is notified of every schedule and can stop the search.
pub fn search(wanted: &PhaseSearch, monitor: &ProgressMonitor) -> Option<PhaseFound> {
    let shape = Shape { warps: wanted.warps, pairs: wanted.pairs };
    let empty = shape.phases() == 0 || wanted.shortened == 0 || wanted.shortened > shape.phases();
    if empty || wanted.warps > warpbound_sim::SLOTS {
        return None;
    }
    schedule(&[], &wanted.policy, |_| {})?;
    let mut trial = Trial { wanted, monitor, shape, schedules: 0, instances: 0 };
    Some(match wanted.seed {
        Some(seed) => trial.drawn(seed),
        None => trial.canonical(),
    })
}

/// The number of phases of an instance.
#[derive(Clone, Copy)]
struct Shape {
    warps: usize,
    pairs: usize,
}

impl Shape {
    fn phases(self) -> usize {
        self.warps * self.pairs * 2
    }

    /// Returns the shortest length of a phase. Phases are numbered warp by warp, exec and idle in
    /// turn. The idle phase at the end of a warp may be missing; all others take at least one
    /// cycle.
    fn shortest(self, phase: usize) -> u64 {
        u64::from(!(phase + 1).is_multiple_of(2 * self.pairs))
    }

    fn build(self, lengths: &[u64]) -> Vec<PhaseWarp> {
        let pair = |p: &[u64]| PhasePair { exec: Cycles::new(p[0]), idle: Cycles::new(p[1]) };
        lengths.chunks(2 * self.pairs).map(|warp| warp.chunks(2).map(pair).collect()).collect()
    }

    fn shortened(self, phase: usize, from: u64, to: u64) -> Shortened {
        let in_warp = phase % (2 * self.pairs);
        Shortened {
            warp: phase / (2 * self.pairs),
            index: in_warp / 2,
            kind: if in_warp.is_multiple_of(2) { PhaseKind::Exec } else { PhaseKind::Idle },
            from: Cycles::new(from),
            to: Cycles::new(to),
        }
    }
}

struct Trial<'a> {
    wanted: &'a PhaseSearch,
    monitor: &'a ProgressMonitor,
    shape: Shape,
    schedules: u64,
    instances: u64,
}

impl Trial<'_> {
    fn found(&self, anomaly: Option<PhaseAnomaly>, all_up_to: Option<u64>) -> PhaseFound {
        let all_up_to = all_up_to.map(Cycles::new);
        let ended_early = anomaly.is_none() && self.schedules < self.wanted.max_schedules;
        PhaseFound { anomaly, schedules: self.schedules, instances: self.instances, ended_early, all_up_to }
    }

    fn spent(&self) -> bool {
        self.schedules >= self.wanted.max_schedules || self.monitor.is_stopped()
    }

    fn canonical(&mut self) -> PhaseFound {
        let phases = self.shape.phases();
        let shortest: Vec<u64> = (0..phases).map(|p| self.shape.shortest(p)).collect();
        let least: u64 = shortest.iter().sum();
        let mut complete = None;
        for excess in 0u64.. {
            let mut extra = vec![0; phases];
            extra[phases - 1] = excess;
            loop {
                if self.spent() {
                    return self.found(None, complete);
                }
                let lengths: Vec<u64> = extra.iter().zip(&shortest).map(|(a, b)| a + b).collect();
                if let Some(anomaly) = self.instance(&lengths) {
                    return self.found(Some(anomaly), complete);
                }
                if !next_composition(&mut extra) {
                    break;
                }
            }
            complete = Some(least + excess);
        }
        self.found(None, complete)
    }

    fn drawn(&mut self, seed: u64) -> PhaseFound {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        while !self.spent() {
            let draw = |p| rng.random_range(self.shape.shortest(p)..=LONGEST_DRAWN);
            let lengths: Vec<u64> = (0..self.shape.phases()).map(draw).collect();
            if let Some(anomaly) = self.instance(&lengths) {
                return self.found(Some(anomaly), None);
            }
        }
        self.found(None, None)
    }

    /// Shortens an instance in every way until an anomaly occurs.
    fn instance(&mut self, lengths: &[u64]) -> Option<PhaseAnomaly> {
        self.instances += 1;
        let before = self.makespan(lengths);
        let mut chosen: Vec<(usize, u64)> = Vec::new();
        self.shorten(lengths, before, 0, &mut chosen)
    }

    fn shorten(
        &mut self,
        lengths: &[u64],
        before: Cycles,
        from: usize,
        chosen: &mut Vec<(usize, u64)>,
    ) -> Option<PhaseAnomaly> {
        if chosen.len() == self.wanted.shortened {
            return self.judge(lengths, before, chosen);
        }
        for phase in from..lengths.len() {
            // the smallest change first
            for to in (self.shape.shortest(phase)..lengths[phase]).rev() {
                chosen.push((phase, to));
                let anomaly = self.shorten(lengths, before, phase + 1, chosen);
                chosen.pop();
                if anomaly.is_some() {
                    return anomaly;
                }
            }
        }
        None
    }

    fn judge(&mut self, lengths: &[u64], before: Cycles, chosen: &[(usize, u64)]) -> Option<PhaseAnomaly> {
        let with = |left_out: Option<usize>| {
            let mut shorter = lengths.to_vec();
            for (i, (phase, to)) in chosen.iter().enumerate() {
                if Some(i) != left_out {
                    shorter[*phase] = *to;
                }
            }
            shorter
        };
        let shorter = with(None);
        let after = self.makespan(&shorter);
        if after <= before
            || (0..chosen.len()).any(|i| chosen.len() > 1 && self.makespan(&with(Some(i))) > before)
        {
            return None;
        }
        Some(PhaseAnomaly {
            before: self.shape.build(lengths),
            after: self.shape.build(&shorter),
            shortened: chosen.iter().map(|(p, to)| self.shape.shortened(*p, lengths[*p], *to)).collect(),
            makespan_before: before,
            makespan_after: after,
        })
    }

    fn makespan(&mut self, lengths: &[u64]) -> Cycles {
        self.schedules += 1;
        self.monitor.advance(1);
        schedule(&self.shape.build(lengths), &self.wanted.policy, |_| {}).unwrap_or(Cycles::ZERO)
    }
}

/// Advances to the next way to write a sum as this number of terms, in lexicographic order. Returns
/// false after the last one.
fn next_composition(terms: &mut [u64]) -> bool {
    let Some(last) = terms.iter().rposition(|term| *term > 0).filter(|last| *last > 0) else { return false };
    let rest = terms[last] - 1;
    terms[last] = 0;
    terms[last - 1] += 1;
    terms[terms.len() - 1] = rest;
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(policy: PolicyKind) -> PhaseSearch {
        PhaseSearch { policy, warps: 3, pairs: 2, shortened: 2, seed: None, max_schedules: 3_000_000 }
    }

    #[test]
    fn compositions_come_once_each_in_order() {
        let mut terms = vec![0, 0, 2];
        let mut all = vec![terms.clone()];
        while next_composition(&mut terms) {
            all.push(terms.clone());
        }
        assert_eq!(all, [[0, 0, 2], [0, 1, 1], [0, 2, 0], [1, 0, 1], [1, 1, 0], [2, 0, 0]]);
    }

    /// Checks every claim of an anomaly by computing it again.
    fn is_anomaly(found: &PhaseAnomaly, policy: &PolicyKind, shortened: usize) {
        let makespan = |warps: &[PhaseWarp]| schedule(warps, policy, |_| {}).unwrap();
        assert_eq!(makespan(&found.before), found.makespan_before);
        assert_eq!(makespan(&found.after), found.makespan_after);
        assert!(found.makespan_after > found.makespan_before);
        assert_eq!(found.shortened.len(), shortened);
        let total = |warps: &[PhaseWarp]| -> u64 {
            warps.iter().flatten().map(|pair| pair.exec.get() + pair.idle.get()).sum()
        };
        let less: u64 = found.shortened.iter().map(|one| one.from.get() - one.to.get()).sum();
        assert!(less > 0);
        assert_eq!(total(&found.before) - total(&found.after), less);
        for one in &found.shortened {
            let pair = |warps: &[PhaseWarp]| match one.kind {
                PhaseKind::Exec => warps[one.warp][one.index].exec,
                PhaseKind::Idle => warps[one.warp][one.index].idle,
            };
            assert_eq!((pair(&found.before), pair(&found.after)), (one.from, one.to));
        }
    }

    #[test]
    fn an_anomaly_like_figure_4_exists_under_lrr_and_gto() {
        for policy in [PolicyKind::Lrr, PolicyKind::Gto] {
            let found = search(&wanted(policy.clone()), &ProgressMonitor::new()).unwrap();
            is_anomaly(&found.anomaly.expect("there is one"), &policy, 2);
            let drawn = search(
                &PhaseSearch { seed: Some(1), pairs: 3, ..wanted(policy.clone()) },
                &ProgressMonitor::new(),
            )
            .unwrap();
            is_anomaly(&drawn.anomaly.expect("there is one"), &policy, 2);
        }
    }

    #[test]
    fn strict_round_robin_has_no_anomaly() {
        // the order of issue does not depend on lengths, so each phase starts at the largest of
        // some sums
        let found = search(
            &PhaseSearch { max_schedules: 200_000, ..wanted(PolicyKind::Srr) },
            &ProgressMonitor::new(),
        )
        .unwrap();
        assert_eq!(found.anomaly, None);
        assert!(found.schedules >= 200_000 && found.all_up_to.is_some());
    }

    #[test]
    fn searches_with_an_empty_space_are_refused() {
        let base = wanted(PolicyKind::Lrr);
        assert_eq!(search(&PhaseSearch { shortened: 0, ..base.clone() }, &ProgressMonitor::new()), None);
        assert_eq!(search(&PhaseSearch { warps: 0, ..base.clone() }, &ProgressMonitor::new()), None);
        assert_eq!(search(&PhaseSearch { warps: 65, ..base.clone() }, &ProgressMonitor::new()), None);
        assert_eq!(
            search(&PhaseSearch { policy: PolicyKind::TwoLevel, ..base }, &ProgressMonitor::new()),
            None
        );
    }
}
