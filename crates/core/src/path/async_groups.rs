//! Commit groups of asynchronous copies for timing.
//!
//! The functional run performs the copies at once. This module tracks which ring slot (a
//! pseudo-register of the timing model) each group with copies writes, and which slot a wait must
//! read.

use std::collections::VecDeque;

use super::AsyncRing;

/// The maximum number of groups with copies that a warp may have in flight. One slot must stay
/// free; a wait that has no group to wait for reads it.
const MAX_IN_FLIGHT: usize = AsyncRing::SLOTS as usize - 1;

/// The commit groups of one warp.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AsyncGroups {
    /// The number of closed groups so far, including empty ones.
    closed: u64,
    /// The number of groups with copies so far, which is the slot number of the next one.
    used: u64,
    /// The slot number of the open group, if it has a copy.
    open: Option<u64>,
    /// The closed groups with copies that no wait has covered: (index of the group, slot number).
    in_flight: VecDeque<(u64, u64)>,
}

impl AsyncGroups {
    /// Resets to the initial state.
    #[inline]
    pub fn reset(&mut self) {
        self.in_flight.clear();
        (self.closed, self.used, self.open) = (0, 0, None);
    }

    /// Adds a copy to the open group and returns the slot that it writes, or `None` if too many
    /// groups are in flight.
    pub fn copy(&mut self) -> Option<AsyncRing> {
        let slot = match self.open {
            Some(slot) => slot,
            None if self.in_flight.len() >= MAX_IN_FLIGHT => return None,
            None => {
                self.used += 1;
                *self.open.insert(self.used - 1)
            }
        };
        Some(AsyncRing::of_group(slot))
    }

    /// Closes the open group.
    #[inline]
    pub fn commit(&mut self) {
        if let Some(slot) = self.open.take() {
            self.in_flight.push_back((self.closed, slot));
        }
        self.closed += 1;
    }

    /// Waits until at most the last `pending` closed groups are in flight. Returns the slot of the
    /// latest group that is waited for or, if there is none, a slot that no group in flight writes.
    pub fn wait(&mut self, pending: u64) -> AsyncRing {
        let waited_for = self.closed.saturating_sub(pending);
        let mut last = None;
        while let Some(&(group, slot)) = self.in_flight.front()
            && group < waited_for
        {
            last = Some(slot);
            self.in_flight.pop_front();
        }
        AsyncRing::of_group(last.unwrap_or(self.used))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_read_the_latest_group_they_cover() {
        let mut groups = AsyncGroups::default();
        assert_eq!(groups.wait(0).index(), 0, "never written");
        for group in 0..3 {
            assert_eq!(groups.copy().map(AsyncRing::index), Some(group));
            assert_eq!(groups.copy().map(AsyncRing::index), Some(group));
            groups.commit();
        }
        groups.commit(); // empty
        assert_eq!(groups.wait(2).index(), 1);
        assert_eq!(groups.wait(2).index(), 3, "already waited for: a fresh slot");
        assert_eq!(groups.copy().map(AsyncRing::index), Some(3));
        groups.commit();
        assert_eq!(groups.wait(0).index(), 3);
    }

    #[test]
    fn too_many_groups_in_flight_are_refused() {
        let mut groups = AsyncGroups::default();
        for _ in 0..MAX_IN_FLIGHT {
            assert!(groups.copy().is_some());
            groups.commit();
        }
        assert_eq!(groups.copy(), None);
        assert_eq!(groups.wait(1).index(), 29);
        assert!(groups.copy().is_some());
    }
}
