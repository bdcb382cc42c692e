//! Barriers as sections: what the slowest warp of a block takes from one barrier to the next. This is ours; the paper takes a
//! warp's path as one.
//!
//! A warp at a barrier waits for the others of its block. That is in the longest time of a transition over the barrier, and is
//! multiplied by the bounds of the loops around it (Betts and Donaldson, section VI-D, find that the largest share of
//! `Z_warp`). But somebody comes last and does not wait, so that the time of a block is that of a *critical path*: up to
//! each barrier that of the warp that came to it last, from there on that of the last one at the next barrier, and behind the
//! last barrier that of the warp that ends last.
//!
//! Times are cut at the last arrival. Of a warp that passed ipoint u, then came to barriers, and then passed ipoint v,
//! * each time from u, or from the last arrival at the barrier before, until the warp's own arrival at the next is of u and of
//!   how many barriers there were since u;
//! * the time from the last arrival at the last barrier until v is of the transition from u to v and of how many barriers
//!   were on it. The release of the barrier is in it.
//!
//! What waits for others, from a warp's arrival until the last one, is in none. The longest of each is kept. The time of a
//! transition is the sum of its parts, the largest over the numbers of barriers that were seen on it, and the longest path with
//! these times is found as `Z_warp` is. What limits its counts are the loop bounds, and where `Z_warp` needs them the counts,
//! of critical paths: at a barrier all warps go on with what the last one has counted.
//!
//! So no block that was observed takes longer from the start of its last warp than that path, [`SectionTiming::timing`]; and
//! no run longer than blocks in a place times jitter and path, as for [`super::BlockWaves`]. Nothing is said of what was
//! not observed: this is measured and not proved. The sum can exceed `Z_warp`, since its parts are of different warps.
//! A warp that leaves, or that arrives without waiting, can be what a barrier waited for; that time is not taken away.
//!
//! It does not apply where warps of a block meet that come from different ipoints: their paths put together are no path of the
//! graph.

use std::collections::HashMap;
use std::fmt;

use super::ipg::Ipg;
use super::timing::Timing;
use super::trace::Event;
use crate::base::{Cycle, Cycles};

/// The longest time by how many barriers were met before; `None` where there is none.
type ByBarriers = Vec<Option<Cycles>>;

/// What runs say of sections, by the numbers of an [`Ipg`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SectionTiming {
    /// By ipoint that was passed last: until the arrival at the next barrier.
    to_barrier: Vec<ByBarriers>,
    /// By transition: until its end.
    to_ipoint: Vec<ByBarriers>,
    /// By transition, how often a critical path took it at most.
    count: Vec<u64>,
    /// By loop, how often a critical path iterated it at most between two entries.
    bound: Vec<u64>,
}

/// Why there are no sections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoSections {
    /// Traces in which nobody knows the blocks and barriers.
    Unknown,
    /// At a barrier warps of a block met that came from these two ipoints, or were at different barriers after one.
    Apart(String, String),
    /// In traces a warp of this number went on past a barrier before all of its block had come to it.
    Early(u32),
    /// In traces a warp of this number started again before its block had ended.
    Again(u32),
    /// There is no longest path.
    NoPath(String),
}

impl fmt::Display for NoSections {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => f.write_str("nothing says where the barriers are and which warps are a block"),
            Self::Apart(one, other) => {
                write!(f, "warps of a block met that had passed `{one}` and `{other}` before the barrier")
            }
            Self::Early(warp) => {
                write!(f, "warp {warp} went past a barrier before all of its block had come")
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

    /// Joins what was seen in other runs.
    pub fn max(&mut self, other: &Self) {
        join(&mut self.to_barrier, &other.to_barrier);
        join(&mut self.to_ipoint, &other.to_ipoint);
        larger(&mut self.count, &other.count);
        larger(&mut self.bound, &other.bound);
    }

    /// Times of transitions without what waits for others, and what limits the counts of critical paths. The longest path with
    /// them is that of a block from the start of its last warp.
    ///
    /// `bounds` are the iterations that somebody allows each loop; never fewer than a critical path did.
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
    /// When the present part began: at the ipoint, or the last arrival at the last barrier.
    cut: Cycle,
    /// How many barriers since the ipoint.
    barriers: usize,
    counts: Vec<u64>,
    iterations: Vec<u64>,
}

/// Hears of ipoints and of warps that meet at barriers, and keeps what is to be known of sections. What it hears must be
/// possible: [`super::Observer`] says so where it is not.
#[derive(Clone, Debug)]
pub struct Sections<'a> {
    ipg: &'a Ipg,
    /// By multiprocessor and warp, those that are running.
    running: HashMap<(u32, u32), Path>,
    spare: Vec<Path>,
    found: Result<SectionTiming, NoSections>,
}

impl<'a> Sections<'a> {
    /// Has heard nothing.
    pub fn new(ipg: &'a Ipg) -> Self {
        Self { ipg, running: HashMap::new(), spare: Vec::new(), found: Ok(SectionTiming::new(ipg)) }
    }

    /// A warp passes an ipoint.
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

    /// These warps of a block met at a barrier that lets them go: each came to it then.
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

    /// What was heard.
    pub fn finish(self) -> Result<SectionTiming, NoSections> {
        self.found
    }
}
