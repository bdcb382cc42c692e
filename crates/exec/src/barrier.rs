//! The barriers of a block.
//!
//! A barrier counts warps: when a warp arrives, all its threads count, as on hardware. A barrier
//! without a thread count is complete when every warp of the block that has not finished has
//! arrived: "As threads exit, barriers waiting on all threads are checked to see if the exiting
//! threads are the only threads that have not yet made it to a barrier" (PTX ISA 9.0, `exit`). A
//! barrier with a thread count is complete when that number of threads has arrived, even if the
//! count is that of the whole block: threads that have ended do not arrive, and a barrier that
//! needs them never opens.

use warpbound_core::base::{LaneMask, WARP_SIZE, WarpMask};

/// The number of barrier resources of a block.
pub(super) const BARRIERS: usize = 16;

/// The arrival of a warp at a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Arrival {
    /// The index of the barrier.
    pub(super) id: usize,
    /// The number of warps that take part; 0 for all warps of the block.
    pub(super) warps: usize,
    /// Whether the barrier has a thread count, so that this number of warps has to arrive.
    /// Otherwise the barrier does not wait for warps that have finished.
    pub(super) counted: bool,
    /// Whether the warp waits.
    pub(super) waits: bool,
    /// Whether threads of the warp pass without arriving, because they wait where they converge with
    /// those that do, or have a false guard.
    pub(super) split: bool,
    /// The threads that take part in a reduction.
    pub(super) threads: LaneMask,
    /// The threads whose predicate holds.
    pub(super) holds: LaneMask,
}

/// The result of a reduction over the threads of a completed barrier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    /// The number of threads that took part in the reduction.
    pub(super) threads: u32,
    /// The number of threads whose predicate held.
    pub(super) holds: u32,
}

/// A barrier that has opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Opened {
    /// The warps that waited at it.
    pub(super) waiting: WarpMask,
    /// The result of the reduction.
    pub(super) tally: Tally,
    /// The warps that arrived at it, waiting or not.
    pub(super) arrived: WarpMask,
    /// Whether it was for all warps of the block.
    pub(super) for_all: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Barrier {
    /// The warps that have arrived, waiting or not.
    arrived: WarpMask,
    /// The warps that wait.
    waiting: WarpMask,
    /// The number of arrivals; a warp may arrive more than once without waiting.
    count: usize,
    /// The number of warps that the first arrival expects.
    warps: usize,
    /// Whether one of the arrivals has a thread count.
    counted: bool,
    tally: Tally,
}

/// All barriers of a block.
#[derive(Clone, Debug, Default)]
pub(super) struct Barriers {
    barriers: [Barrier; BARRIERS],
    /// The warps of the block.
    all: WarpMask,
    unfinished: WarpMask,
}

impl Barriers {
    /// Resets the barriers for a block.
    pub(super) fn start(&mut self, warps: usize) {
        let all = (0..warps).fold(WarpMask::empty(), |mask, warp| mask | WarpMask::slot(warp));
        *self = Self { all, unfinished: all, ..Self::default() };
    }

    /// Records the arrival of a warp.
    ///
    /// # Errors
    /// Returns the number of warps that earlier arrivals expect (0 for all), if it differs.
    pub(super) fn arrive(&mut self, warp: usize, arrival: &Arrival) -> Result<(), usize> {
        let barrier = &mut self.barriers[arrival.id];
        if barrier.count > 0 && barrier.warps != arrival.warps {
            return Err(barrier.warps);
        }
        barrier.warps = arrival.warps;
        barrier.counted |= arrival.counted;
        barrier.count += 1;
        barrier.arrived |= WarpMask::slot(warp);
        if arrival.waits {
            barrier.waiting |= WarpMask::slot(warp);
        }
        barrier.tally.threads += arrival.threads.count();
        barrier.tally.holds += (arrival.threads & arrival.holds).count();
        Ok(())
    }

    /// Records that a warp has finished; barriers for all warps no longer expect it.
    pub(super) fn finish(&mut self, warp: usize) {
        self.unfinished.remove(WarpMask::slot(warp));
    }

    /// Returns the warps that have finished.
    pub(super) fn finished(&self) -> WarpMask {
        self.all - self.unfinished
    }

    /// Returns whether a barrier has a thread count and needs warps that have finished without
    /// arriving.
    pub(super) fn needs_the_finished(&self, id: usize) -> bool {
        let Barrier { arrived, count, warps, counted, .. } = self.barriers[id];
        let needed = if warps == 0 { self.all.count() as usize } else { warps };
        let to_come = (self.unfinished - arrived).count() as usize;
        counted && count + to_come < needed
    }

    /// Opens and returns a barrier, if it is complete.
    pub(super) fn release(&mut self, id: usize) -> Option<Opened> {
        let barrier = &mut self.barriers[id];
        let complete = match barrier.warps {
            _ if barrier.count == 0 => false,
            0 if barrier.counted => barrier.arrived.contains(self.all),
            0 => barrier.arrived.contains(self.unfinished),
            warps => barrier.count >= warps,
        };
        complete.then(|| {
            let open = std::mem::take(barrier);
            Opened {
                waiting: open.waiting,
                tally: open.tally,
                arrived: open.arrived,
                for_all: open.warps == 0,
            }
        })
    }

    /// Returns the barrier with the highest index among those at which no warp has arrived.
    pub(super) fn unused(&self) -> Option<usize> {
        (0..BARRIERS).rev().find(|&id| self.barriers[id].count == 0)
    }

    /// Describes the progress of a barrier, for messages.
    pub(super) fn progress(&self, id: usize) -> String {
        let Barrier { count, warps, counted, .. } = self.barriers[id];
        let all = if counted { self.all } else { self.unfinished };
        let expected = if warps == 0 { all.count() as usize } else { warps };
        format!("{count} of {expected} warps have arrived")
    }
}

/// Returns the number of warps of a thread count, or 0 for the whole block.
///
/// # Errors
/// Returns what is wrong with the count.
pub(super) fn warps_of(threads: u64, warps_of_block: usize) -> Result<usize, String> {
    let warp = WARP_SIZE as u64;
    if threads == 0 || !threads.is_multiple_of(warp) {
        return Err(format!("a barrier for {threads} threads: the count has to be a multiple of {warp}"));
    }
    let warps = usize::try_from(threads / warp).unwrap_or(usize::MAX);
    match warps.cmp(&warps_of_block) {
        std::cmp::Ordering::Less => Ok(warps),
        std::cmp::Ordering::Equal => Ok(0),
        std::cmp::Ordering::Greater => Err(format!(
            "a barrier for {threads} threads: the block has {warps_of_block} warps, so it never opens"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrival(id: usize, warps: usize, waits: bool) -> Arrival {
        Arrival {
            id,
            warps,
            counted: warps != 0,
            waits,
            split: false,
            threads: LaneMask::ALL,
            holds: LaneMask::first(3),
        }
    }

    #[test]
    fn a_barrier_for_all_waits_for_the_unfinished() {
        let mut barriers = Barriers::default();
        barriers.start(3);
        barriers.arrive(0, &arrival(0, 0, true)).unwrap();
        assert_eq!(barriers.release(0), None);
        barriers.arrive(2, &arrival(0, 0, true)).unwrap();
        assert_eq!(barriers.release(0), None);
        assert_eq!(barriers.progress(0), "2 of 3 warps have arrived");
        barriers.finish(1);
        let opened = barriers.release(0).unwrap();
        assert_eq!((opened.waiting.bits(), opened.for_all), (0b101, true));
        assert_eq!(opened.tally, Tally { threads: 64, holds: 6 });
        assert_eq!(barriers.release(0), None);
    }

    #[test]
    fn a_barrier_that_counts_the_whole_block_needs_those_that_finished() {
        for (counted, opens) in [(false, true), (true, false)] {
            let mut barriers = Barriers::default();
            barriers.start(2);
            barriers.finish(1);
            barriers.arrive(0, &Arrival { counted, ..arrival(3, 0, true) }).unwrap();
            assert_eq!(barriers.needs_the_finished(3), counted);
            assert_eq!(barriers.release(3).is_some(), opens);
        }
    }

    #[test]
    fn producers_arrive_without_waiting() {
        let mut barriers = Barriers::default();
        barriers.start(4);
        barriers.arrive(3, &arrival(5, 2, false)).unwrap();
        assert_eq!(barriers.release(5), None);
        assert_eq!(barriers.arrive(0, &arrival(5, 3, true)), Err(2));
        barriers.arrive(1, &arrival(5, 2, true)).unwrap();
        assert_eq!(
            barriers.release(5).map(|opened| (opened.waiting.bits(), opened.for_all)),
            Some((0b10, false))
        );
        assert_eq!(barriers.unused(), Some(15));
    }

    #[test]
    fn thread_counts_become_warp_counts() {
        assert_eq!(warps_of(64, 4), Ok(2));
        assert_eq!(warps_of(128, 4), Ok(0));
        assert!(warps_of(48, 4).unwrap_err().contains("multiple of 32"));
        assert!(warps_of(0, 4).is_err());
        assert!(warps_of(160, 4).unwrap_err().contains("never opens"));
    }
}
