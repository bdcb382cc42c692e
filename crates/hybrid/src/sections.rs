//! The time of a block by sections: that of the slowest warp from one barrier to the next. This is
//! an extension; the paper treats a warp's path as a whole.
//!
//! A warp at a barrier waits for the others of its block. That waiting time is part of the longest
//! time of a transition over the barrier, and is multiplied by the bounds of the enclosing loops.
//! Betts and Donaldson, section VI-D, find that it is the largest share of `Z_warp`. But the warp
//! that arrives last does not wait. The time of a block is therefore that of a *critical path*. Up
//! to each barrier, the path follows the warp that arrives last there; after the last barrier, it
//! follows the warp that ends last.
//!
//! Times are cut at the last arrival. For a warp that passed ipoint u, then arrived at barriers,
//! and then passed ipoint v,
//! * each time until the arrival of the warp at the next barrier is attributed to u and to the
//!   number of barriers since u. It begins at u or, after a barrier, at the last arrival at that
//!   barrier;
//! * the time from the last arrival at the last barrier until v is attributed to the transition
//!   from u to v and to the number of barriers on it. It includes the release of the barrier.
//!
//! The time in which a warp waits for others, from its arrival until the last one, is not
//! attributed. The longest of each time is kept. The time of a transition is the sum of its parts,
//! maximised over the numbers of barriers that were observed on it. The longest path with these
//! times is found as for `Z_warp`. Its counts are limited by the loop bounds and, if `Z_warp` needs
//! them, by the counts of critical paths: at a barrier all warps continue with the counts of the
//! last one.
//!
//! This path (see [`SectionTiming::timing`]) is therefore at least as long as the time of any
//! observed block, counted from the start of the block's last warp. No run takes longer than the
//! number of blocks in a CTA slot times the sum of jitter and path, as for [`super::BlockWaves`].
//! This says nothing about unobserved runs: the value is measured and not proved. The sum can
//! exceed `Z_warp`, since its parts belong to different warps. A barrier may also wait for a warp
//! that ends, or that arrives without waiting; that time is not subtracted.
//!
//! The analysis does not apply if warps of a block that come from different ipoints meet at a
//! barrier: their combined paths are not a path of the graph.

use std::collections::HashMap;
use std::fmt;

use super::ipg::Ipg;
use super::timing::Timing;
use super::trace::Event;
use warpbound_core::base::{Cycle, Cycles};

/// The longest time by the number of barriers met before; `None` if there is none.
type ByBarriers = Vec<Option<Cycles>>;

/// The data from runs about sections, by the numbers of an [`Ipg`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SectionTiming {
    /// The time until the arrival at the next barrier, by the ipoint passed last.
    to_barrier: Vec<ByBarriers>,
    /// The time until the end of the transition, by transition.
    to_ipoint: Vec<ByBarriers>,
    /// The largest number of times that a critical path took each transition.
    count: Vec<u64>,
    /// The largest number of times that a critical path iterated each loop between two entries.
    bound: Vec<u64>,
}

/// The reason why there are no sections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoSections {
    /// The blocks and barriers of the traces are unknown.
    Unknown,
    /// Warps of a block that came from these two ipoints met at a barrier, or they were at
    /// different barriers after the same ipoint.
    Apart(String, String),
    /// In the traces, the warp with this number continued past a barrier before all warps of its
    /// block had arrived.
    Early(u32),
    /// In the traces, the warp with this number started again before its block had ended.
    Again(u32),
    /// There is no longest path.
    NoPath(String),
}

impl fmt::Display for NoSections {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => {
                f.write_str("neither the positions of the barriers nor the warps of a block are given")
            }
            Self::Apart(one, other) => {
                write!(f, "warps of a block that met had passed `{one}` and `{other}` before the barrier")
            }
            Self::Early(warp) => {
                write!(f, "warp {warp} passed a barrier before all warps of its block had arrived")
            }
            Self::Again(warp) => write!(f, "warp {warp} started again before its block had ended"),
            Self::NoPath(why) => f.write_str(why),
        }
    }
}

fn longer(times: &mut ByBarriers, barriers: usize, time: Cycles) {
    if times.len() <= barriers {
        times.resize(barriers + 1, None);
    }
    times[barriers] = times[barriers].max(Some(time));
}

fn join(mine: &mut [ByBarriers], theirs: &[ByBarriers]) {
    for (mine, theirs) in mine.iter_mut().zip(theirs) {
        for (barriers, time) in theirs.iter().enumerate() {
            if let Some(time) = *time {
                longer(mine, barriers, time);
            }
        }
    }
}

fn larger(mine: &mut [u64], theirs: &[u64]) {
    mine.iter_mut().zip(theirs).for_each(|(mine, theirs)| *mine = (*mine).max(*theirs));
}

impl SectionTiming {
    fn new(ipg: &Ipg) -> Self {
        let transitions = ipg.transitions().len();
        Self {
            to_barrier: vec![Vec::new(); ipg.len()],
            to_ipoint: vec![Vec::new(); transitions],
            count: vec![0; transitions],
            bound: vec![0; ipg.loops().len()],
        }
    }

    /// Combines this with what was observed in other runs.
    pub fn max(&mut self, other: &Self) {
        join(&mut self.to_barrier, &other.to_barrier);
        join(&mut self.to_ipoint, &other.to_ipoint);
        larger(&mut self.count, &other.count);
        larger(&mut self.bound, &other.bound);
    }

    /// Returns the times of transitions without the time spent waiting for others, and the limits
    /// of the counts of critical paths. The longest path with these times and limits is at least as
    /// long as the time of any observed block, counted from the start of the block's last warp.
    ///
    /// `bounds` are the iteration bounds of the loops that the user gives; they must not be smaller
    /// than the iterations of any critical path.
    pub fn timing(&self, ipg: &Ipg, bounds: &[Option<u64>]) -> Timing {
        let of = |(transition, times): (usize, &ByBarriers)| {
            let before = &self.to_barrier[ipg.transitions()[transition].from];
            let sum = |(barriers, last): (usize, &Option<Cycles>)| {
                let parts = before.iter().take(barriers).flatten().chain([last.as_ref()?]);
                Some(Cycles::new(parts.fold(0u64, |sum, part| sum.saturating_add(part.get()))))
            };
            times.iter().enumerate().filter_map(sum).max()
        };
        let mut timing = Timing {
            wcet: self.to_ipoint.iter().enumerate().map(of).collect(),
            count: self.count.clone(),
            bound: self.bound.clone(),
        };
        let at_least = |(bound, seen): (&Option<u64>, &u64)| bound.map(|bound| bound.max(*seen));
        let bounds: Vec<Option<u64>> = bounds.iter().zip(&self.bound).map(at_least).collect();
        timing.set_bounds(ipg, &bounds);
        timing
    }
}

/// A warp, and the critical path up to it.
#[derive(Clone, Debug)]
struct Path {
    at: usize,
    /// The start of the current part: at the ipoint, or the last arrival at the last barrier.
    cut: Cycle,
    /// The number of barriers since the ipoint.
    barriers: usize,
    counts: Vec<u64>,
    iterations: Vec<u64>,
}

/// Observes ipoints and the warps that meet at barriers, and collects the data about sections. The
/// events must be possible in the graph; [`super::Observer`] reports those that are not.
#[derive(Clone, Debug)]
pub struct Sections<'a> {
    ipg: &'a Ipg,
    /// The running warps, by multiprocessor and warp.
    running: HashMap<(u32, u32), Path>,
    spare: Vec<Path>,
    found: Result<SectionTiming, NoSections>,
}

impl<'a> Sections<'a> {
    /// Creates an observer that has observed nothing.
    pub fn new(ipg: &'a Ipg) -> Self {
        Self { ipg, running: HashMap::new(), spare: Vec::new(), found: Ok(SectionTiming::new(ipg)) }
    }

    /// Records that a warp passes an ipoint.
    pub fn passed(&mut self, event: Event) {
        let Event { ipoint, sm, warp, cycle } = event;
        let Ok(found) = &mut self.found else { return };
        if let Some(path) = self.running.get_mut(&(sm, warp)) {
            let Some(transition) = self.ipg.transition(path.at, ipoint) else { return };
            longer(&mut found.to_ipoint[transition], path.barriers, cycle - path.cut);
            path.counts[transition] += 1;
            let taken = &self.ipg.transitions()[transition];
            taken.enters.iter().for_each(|&entered| path.iterations[entered] = 0);
            for &iterated in &taken.iterates {
                path.iterations[iterated] += 1;
                found.bound[iterated] = found.bound[iterated].max(path.iterations[iterated]);
            }
            (path.at, path.cut, path.barriers) = (ipoint, cycle, 0);
        } else {
            let mut path = self.spare.pop().unwrap_or_else(|| Path {
                at: 0,
                cut: cycle,
                barriers: 0,
                counts: vec![0; found.count.len()],
                iterations: vec![0; found.bound.len()],
            });
            path.counts.fill(0);
            path.iterations.fill(0);
            (path.at, path.cut, path.barriers) = (ipoint, cycle, 0);
            self.running.insert((sm, warp), path);
        }
        if self.ipg.is_exit(ipoint)
            && let Some(path) = self.running.remove(&(sm, warp))
        {
            larger(&mut found.count, &path.counts);
            self.spare.push(path);
        }
    }

    /// Records that these warps of a block met at a barrier that releases them, each with the cycle
    /// of its arrival.
    pub fn met(&mut self, sm: u32, arrivals: &[(u32, Cycle)]) {
        let Ok(found) = &mut self.found else { return };
        let Some(&(last, end)) = arrivals.iter().max_by_key(|&&(warp, at)| (at, std::cmp::Reverse(warp)))
        else {
            return;
        };
        let Some(critical) = self.running.get(&(sm, last)).cloned() else { return };
        for &(warp, arrival) in arrivals {
            let Some(path) = self.running.get_mut(&(sm, warp)) else { continue };
            if (path.at, path.barriers) != (critical.at, critical.barriers) {
                let name = |ipoint: usize| self.ipg.name(ipoint).to_owned();
                self.found = Err(NoSections::Apart(name(critical.at), name(path.at)));
                return;
            }
            longer(&mut found.to_barrier[path.at], path.barriers, arrival - path.cut);
            path.counts.copy_from_slice(&critical.counts);
            path.iterations.copy_from_slice(&critical.iterations);
            path.cut = end;
            path.barriers += 1;
        }
    }

    /// Returns what was observed.
    pub fn finish(self) -> Result<SectionTiming, NoSections> {
        self.found
    }
}
