//! The tree rule: the longest path, computed from inner loops to outer ones.
//!
//! Betts and Donaldson, section II-C: the time of a sequence is the sum of its parts, and that of
//! an alternative is the maximum. The time of a loop is the time of an iteration times the bound.
//! This module applies the rule to the graph itself, so that no tree has to be built. The longest
//! path covers sequences and alternatives, and the value of each loop is added when its header is
//! reached. For graphs that a tree can describe, the result is the tree's value. If a loop is left
//! in the middle of an iteration, that part of an iteration is added to the loop's value.

use std::fmt;

use super::ipg::Ipg;
use super::timing::Timing;
use warpbound_core::base::Cycles;

/// The reason why the tree rule does not apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoTree {
    /// Divergence adds transitions, with cycles that are not loops.
    Divergent,
    /// This loop contains ipoints, but has none at its header, so that it has no single entry
    /// point.
    HeaderWithoutIpoint(usize),
    /// No path of observed transitions leads from the entry to an exit.
    NoPath,
    /// The value exceeds 64 bits.
    TooLarge,
}

impl fmt::Display for NoTree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Divergent => f.write_str("divergence adds transitions"),
            Self::HeaderWithoutIpoint(index) => write!(f, "loop {index} has no ipoint at its header"),
            Self::NoPath => f.write_str("no path that was observed leads from the entry to an exit"),
            Self::TooLarge => f.write_str("the value is beyond 64 bits"),
        }
    }
}

/// Returns the estimate of one warp by the tree rule, over the observed transitions.
///
/// # Errors
/// See [`NoTree`].
pub fn tree_value(ipg: &Ipg, timing: &Timing) -> Result<Cycles, NoTree> {
    if ipg.has_divergence() {
        return Err(NoTree::Divergent);
    }
    let mut loop_at = vec![None; ipg.len()];
    for (index, of) in ipg.loops().iter().enumerate() {
        let header = of.ipoint.ok_or(NoTree::HeaderWithoutIpoint(index))?;
        loop_at[header] = Some(index);
    }
    let order = forward_order(ipg);
    let mut longest = Longest { ipg, timing, loop_at, order, values: vec![0; ipg.loops().len()] };
    for index in (0..ipg.loops().len()).rev() {
        longest.values[index] = longest.of_loop(index)?;
    }
    let paths = longest.from(0, true, |_| true)?;
    let ends = (0..ipg.len()).filter(|&ipoint| ipg.is_exit(ipoint)).filter_map(|exit| paths[exit]);
    ends.max().map(Cycles::new).ok_or(NoTree::NoPath)
}

/// Returns the ipoints in an order in which transitions that iterate no loop lead from earlier ones
/// to later ones.
fn forward_order(ipg: &Ipg) -> Vec<usize> {
    let mut order = Vec::with_capacity(ipg.len());
    let mut seen = vec![false; ipg.len()];
    for root in 0..ipg.len() {
        let mut stack = Vec::new();
        if !std::mem::replace(&mut seen[root], true) {
            stack.push((root, 0));
        }
        while let Some((ipoint, next)) = stack.last_mut() {
            let Some(&(to, transition)) = ipg.leaving(*ipoint).get(*next) else {
                order.push(*ipoint);
                stack.pop();
                continue;
            };
            *next += 1;
            if ipg.transitions()[transition].iterates.is_empty() && !std::mem::replace(&mut seen[to], true) {
                stack.push((to, 0));
            }
        }
    }
    order.reverse();
    order
}

struct Longest<'a> {
    ipg: &'a Ipg,
    timing: &'a Timing,
    loop_at: Vec<Option<usize>>,
    order: Vec<usize>,
    /// The time of all iterations, for each loop that has been computed.
    values: Vec<u64>,
}

impl Longest<'_> {
    /// Returns the longest iteration, times the bound.
    fn of_loop(&self, index: usize) -> Result<u64, NoTree> {
        let of = &self.ipg.loops()[index];
        let header = of.ipoint.ok_or(NoTree::HeaderWithoutIpoint(index))?;
        let paths = self.from(header, false, |ipoint| of.ipoints.binary_search(&ipoint).is_ok())?;
        let mut longest = 0;
        for &from in &of.ipoints {
            let back = self
                .ipg
                .transition(from, header)
                .filter(|&back| self.ipg.transitions()[back].iterates.contains(&index));
            let time = back.and_then(|back| self.timing.wcet[back]);
            if let (Some(path), Some(time)) = (paths[from], time) {
                longest = longest.max(path.checked_add(time.get()).ok_or(NoTree::TooLarge)?);
            }
        }
        longest.checked_mul(self.timing.bound[index]).ok_or(NoTree::TooLarge)
    }

    /// Returns, by ipoint, the longest path from `start` within a region, including all iterations
    /// of the loops that it reaches.
    fn from(
        &self,
        start: usize,
        with_own_loop: bool,
        inside: impl Fn(usize) -> bool,
    ) -> Result<Vec<Option<u64>>, NoTree> {
        let all_iterations = |ipoint: usize| self.loop_at[ipoint].map_or(0, |index| self.values[index]);
        let mut paths: Vec<Option<u64>> = vec![None; self.ipg.len()];
        paths[start] = Some(if with_own_loop { all_iterations(start) } else { 0 });
        for &from in self.order.iter().filter(|&&ipoint| inside(ipoint)) {
            let Some(so_far) = paths[from] else { continue };
            for &(to, transition) in self.ipg.leaving(from).iter().filter(|&&(to, _)| inside(to)) {
                let Some(time) = self.timing.wcet[transition] else { continue };
                if !self.ipg.transitions()[transition].iterates.is_empty() {
                    continue;
                }
                let path = so_far.checked_add(time.get()).and_then(|sum| sum.checked_add(all_iterations(to)));
                paths[to] = paths[to].max(Some(path.ok_or(NoTree::TooLarge)?));
            }
        }
        Ok(paths)
    }
}
