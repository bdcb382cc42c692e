//! What a calculation reads of traces: longest times, and what limits how often.

use super::ipg::Ipg;
use crate::base::Cycles;

/// What a calculation reads of traces, by the numbers of an [`Ipg`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timing {
    /// By transition, the longest time that a warp took for it; `None` if no warp did it.
    pub wcet: Vec<Option<Cycles>>,
    /// By transition, how often a warp did it at most.
    pub count: Vec<u64>,
    /// By loop, how often a warp iterated it at most between two entries.
    pub bound: Vec<u64>,
}

impl Timing {
    /// Puts bounds that somebody knows in the place of those that were observed; runs must have kept them.
    ///
    /// How often a transition was taken is no limit then where it is due to the loop alone: within a loop that may go
    /// round n times as often as was seen, transitions may be taken n times as often, rounded up.
    pub fn set_bounds(&mut self, ipg: &Ipg, bounds: &[Option<u64>]) {
        for (index, &bound) in bounds.iter().enumerate() {
            let Some(bound) = bound else { continue };
            let seen = std::mem::replace(&mut self.bound[index], bound).max(1);
            let inside = |ipoint: usize| ipg.loops()[index].ipoints.binary_search(&ipoint).is_ok();
            for (count, transition) in self.count.iter_mut().zip(ipg.transitions()) {
                if inside(transition.from) && inside(transition.to) {
                    *count = count.saturating_mul(bound.div_ceil(seen).max(1));
                }
            }
        }
    }
}
