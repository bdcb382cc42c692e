//! The data from traces that a calculation reads: longest times, and limits of counts.

use super::ipg::Ipg;
use warpbound_core::base::Cycles;

/// The data from traces that a calculation reads, by the numbers of an [`Ipg`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timing {
    /// The longest time that a warp took for each transition; `None` if no warp took the
    /// transition.
    pub wcet: Vec<Option<Cycles>>,
    /// The largest number of times that a warp took each transition.
    pub count: Vec<u64>,
    /// The largest number of times that a warp iterated each loop between two entries.
    pub bound: Vec<u64>,
}

impl Timing {
    /// Replaces observed loop bounds by bounds that the user knows; the observed runs must have
    /// kept them.
    ///
    /// The counts of the transitions inside such a loop are raised accordingly. If the loop may be
    /// iterated n times as often as observed, these transitions may be taken n times as often,
    /// rounded up.
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
