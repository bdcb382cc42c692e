//! The barriers of a resident block (`warpbound::model`, section 4).
//!
//! There are two kinds, distinguished by the first arrival: a barrier for all warps of the block
//! that have not finished, or for a number of arrivals. Either is complete as soon as all expected
//! arrivals have *issued*. Its release follows later: when the last of these instructions is done,
//! but for the first kind at least one cycle after the last issue of every warp that has finished.
//! (The model says "that finished in this section". Warps that finished before make no difference:
//! the release that ended their section was later than their last issue.)

use crate::key::Key;
use warpbound_core::base::WarpMask;

/// The number of barrier resources of a block.
const BARRIERS: usize = 16;

/// One barrier resource.
#[derive(Clone, Copy, Debug, Default)]
struct Barrier {
    /// The warps that have issued the barrier, waiting or not, since it was last complete.
    arrived: WarpMask,
    /// The warps among them that wait.
    waiting: WarpMask,
    /// The number of arrivals; a warp can arrive more than once.
    arrivals: u32,
    /// The number of arrivals that complete it, or 0 for all warps that have not finished.
    expected: u32,
    /// The latest `done` of the arrivals.
    latest: u64,
}

/// The barriers of one block.
#[derive(Clone, Debug, Default)]
pub(super) struct Barriers {
    barriers: [Barrier; BARRIERS],
    /// Bit b is set if a warp has arrived at barrier b and the barrier is for all warps.
    open_for_all: u16,
}

/// A barrier that is complete.
#[derive(Clone, Copy, Debug)]
pub(super) struct Complete {
    pub barrier: u8,
    /// The warps to release.
    pub waiting: WarpMask,
    /// The earliest cycle in which to release them.
    pub at: u64,
}

impl Barriers {
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Records that a warp has issued a barrier. `live` are the block's warps that have not
    /// finished; `after_finished` is one cycle after the last issue of those that have. Returns the
    /// barrier if it is complete.
    pub fn arrive(&mut self, arrival: Arrival, live: WarpMask, after_finished: u64) -> Option<Complete> {
        let index = arrival.barrier as usize % BARRIERS;
        let barrier = &mut self.barriers[index];
        if barrier.arrivals == 0 {
            barrier.expected = u32::from(arrival.expected);
        }
        let warp = WarpMask::slot(arrival.slot);
        barrier.arrived |= warp;
        barrier.arrivals += 1;
        barrier.latest = barrier.latest.max(arrival.done);
        if arrival.waits {
            barrier.waiting |= warp;
        }
        if barrier.expected == 0 {
            self.open_for_all |= 1 << index;
            return self.complete_for_all(index, live, after_finished);
        }
        let full = barrier.arrivals >= barrier.expected;
        full.then(|| self.reset(index, 0))
    }

    /// Records that a warp has finished, which may complete barriers for all warps. The caller must
    /// repeat the call until it returns `None`.
    pub fn finished(&mut self, live: WarpMask, after_finished: u64) -> Option<Complete> {
        let mut open = self.open_for_all;
        while open != 0 {
            let index = open.trailing_zeros() as usize;
            open &= open - 1;
            if let Some(complete) = self.complete_for_all(index, live, after_finished) {
                return Some(complete);
            }
        }
        None
    }

    fn complete_for_all(&mut self, index: usize, live: WarpMask, after_finished: u64) -> Option<Complete> {
        if !(live - self.barriers[index].arrived).is_empty() {
            return None;
        }
        self.open_for_all &= !(1 << index);
        Some(self.reset(index, after_finished))
    }

    fn reset(&mut self, index: usize, earliest: u64) -> Complete {
        let barrier = std::mem::take(&mut self.barriers[index]);
        Complete { barrier: index as u8, waiting: barrier.waiting, at: barrier.latest.max(earliest) }
    }

    /// Adds the barriers to the key of a state.
    pub fn key(&self, now: u64, key: &mut Key) {
        let used = |(_, barrier): &(usize, &Barrier)| barrier.arrivals > 0;
        let used: Vec<_> = self.barriers.iter().enumerate().filter(used).collect();
        key.list(used, |key, (index, barrier)| {
            let Barrier { arrived, waiting, arrivals, expected, latest } = *barrier;
            key.put(index as u64);
            key.put(arrived.bits());
            key.put(waiting.bits());
            key.put(arrivals.into());
            key.put(expected.into());
            key.until(latest, now);
        });
    }
}

/// A barrier instruction that a warp has issued.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    pub slot: usize,
    pub barrier: u8,
    pub expected: u8,
    pub waits: bool,
    pub done: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrival(slot: usize, barrier: u8, expected: u8, waits: bool, done: u64) -> Arrival {
        Arrival { slot, barrier, expected, waits, done }
    }

    #[test]
    fn all_waits_for_everybody_or_their_end() {
        let mut barriers = Barriers::default();
        let (both, one) = (WarpMask::slot(0) | WarpMask::slot(1), WarpMask::slot(0));
        assert!(barriers.arrive(arrival(0, 0, 0, true, 5), both, 0).is_none());
        let complete = barriers.finished(one, 9).unwrap();
        assert_eq!((complete.waiting, complete.at), (one, 9));
        assert!(barriers.finished(one, 9).is_none());
    }

    #[test]
    fn a_count_of_arrivals_releases_those_that_wait() {
        let mut barriers = Barriers::default();
        assert!(barriers.arrive(arrival(3, 2, 2, false, 50), WarpMask::ALL, 0).is_none());
        let complete = barriers.arrive(arrival(4, 2, 2, true, 7), WarpMask::ALL, 99).unwrap();
        assert_eq!((complete.waiting, complete.at, complete.barrier), (WarpMask::slot(4), 50, 2));
    }
}
