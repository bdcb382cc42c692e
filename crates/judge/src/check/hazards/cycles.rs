//! Functions that call themselves, directly or through others.

use std::collections::{BTreeMap, BTreeSet};

use super::flow::Edge;

/// The groups of functions that call each other in a cycle. The calls within a group are not kept
/// apart: there are as many ways through them as orders of its calls.
pub(super) struct Cycles {
    /// The groups by the first instructions of their functions.
    groups: BTreeMap<usize, usize>,
    /// The instructions after the calls within each group.
    backs: BTreeMap<usize, BTreeSet<usize>>,
}

impl Cycles {
    pub(super) fn of(edges: &[Vec<Edge>]) -> Self {
        let called = edges.iter().flatten().filter_map(|edge| match *edge {
            Edge::Call { function, .. } => Some(function),
            Edge::To(_) | Edge::Return => None,
        });
        let called: BTreeSet<usize> = called.collect();
        let calls: BTreeMap<usize, Vec<(usize, usize)>> =
            called.iter().map(|&function| (function, calls_in(edges, function))).collect();
        let reached: BTreeMap<usize, BTreeSet<usize>> =
            called.iter().map(|&function| (function, reached(&calls, function))).collect();
        let mut groups = BTreeMap::new();
        for (&function, others) in reached.iter().filter(|(function, others)| others.contains(*function)) {
            // the group is named after its first function
            let first = others.iter().find(|other| reached[*other].contains(&function));
            groups.insert(function, first.copied().unwrap_or(function));
        }
        let mut backs: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for (caller, &group) in &groups {
            let within = calls[caller].iter().filter(|(function, _)| groups.get(function) == Some(&group));
            backs.entry(group).or_default().extend(within.map(|(_, back)| *back));
        }
        Self { groups, backs }
    }

    /// Returns the group of a function, if it is in a cycle.
    pub(super) fn group(&self, function: usize) -> Option<usize> {
        self.groups.get(&function).copied()
    }

    /// Returns the instructions after the calls within a group.
    pub(super) fn backs(&self, group: usize) -> impl Iterator<Item = usize> + '_ {
        self.backs.get(&group).into_iter().flatten().copied()
    }
}

/// Returns the calls in the code of a function: the called functions, and where each call continues.
fn calls_in(edges: &[Vec<Edge>], function: usize) -> Vec<(usize, usize)> {
    let (mut seen, mut open, mut calls) = (BTreeSet::from([function]), vec![function], Vec::new());
    while let Some(here) = open.pop() {
        for edge in edges.get(here).into_iter().flatten() {
            let next = match *edge {
                Edge::To(to) => to,
                Edge::Call { function, back } => {
                    calls.push((function, back));
                    back
                }
                Edge::Return => continue,
            };
            if seen.insert(next) {
                open.push(next);
            }
        }
    }
    calls
}

/// Returns the functions that run while a function runs.
fn reached(calls: &BTreeMap<usize, Vec<(usize, usize)>>, function: usize) -> BTreeSet<usize> {
    let (mut seen, mut open) = (BTreeSet::new(), vec![function]);
    while let Some(here) = open.pop() {
        for &(called, _) in calls.get(&here).into_iter().flatten() {
            if seen.insert(called) {
                open.push(called);
            }
        }
    }
    seen
}
