//! The barrier of a cluster.

use warpbound_core::base::LaneMask;

/// The barrier of a cluster. Its phase is complete when all threads that have not ended have arrived.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ClusterBarrier {
    /// The number of completed phases.
    phase: u64,
    /// The number of threads that have not ended.
    alive: u32,
    /// The number of these that have not arrived in this phase.
    missing: u32,
}

/// The threads of a warp that have arrived at the barrier of the cluster.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Arrived {
    /// The phase in which `lanes` arrived.
    phase: u64,
    lanes: LaneMask,
    /// The lanes that have arrived, in whatever phase, and have not waited since.
    pub(super) open: LaneMask,
}

impl ClusterBarrier {
    /// Returns the barrier of a cluster with this many threads.
    pub(super) fn new(threads: u32) -> Self {
        Self { phase: 0, alive: threads, missing: threads }
    }

    /// Returns the lanes of a warp that have arrived in the present phase.
    pub(super) fn present(self, arrived: Arrived) -> LaneMask {
        if arrived.phase == self.phase { arrived.lanes } else { LaneMask::empty() }
    }

    /// Records the arrival of lanes of a warp, none of which has arrived without waiting since. Returns
    /// whether the phase is complete now.
    pub(super) fn arrive(&mut self, arrived: &mut Arrived, lanes: LaneMask) -> bool {
        let present = self.present(*arrived);
        *arrived = Arrived { phase: self.phase, lanes: present | lanes, open: arrived.open | lanes };
        self.settle(lanes.count())
    }

    /// Records that threads have arrived or ended which had not arrived. Returns whether the phase is
    /// complete now.
    fn settle(&mut self, threads: u32) -> bool {
        self.missing = self.missing.saturating_sub(threads);
        let completes = self.missing == 0 && self.alive > 0;
        if completes {
            self.phase += 1;
            self.missing = self.alive;
        }
        completes
    }

    /// Records that these lanes of a warp have ended.
    pub(super) fn end(&mut self, arrived: Arrived, ended: LaneMask) {
        let missing = ended - self.present(arrived);
        self.alive -= ended.count();
        self.settle(missing.count());
    }

    /// Describes its progress, for messages.
    pub(super) fn progress(self) -> String {
        format!("{} of {} threads have arrived", self.alive - self.missing, self.alive)
    }
}
