//! The reason for which a sub-core issues nothing in a cycle, determined in one place for both
//! engines.

use super::blocks::Blocks;
use warpbound_core::base::WarpMask;
use warpbound_core::path::Step;
use warpbound_trace::trace::{StallReason, Waiting};

/// The warps of a sub-core that issued nothing, grouped by what prevents them. A warp may be in
/// several of these sets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stalled {
    /// The warps that could issue, but that the policy did not select.
    pub ready: WarpMask,
    /// The warps whose execution unit accepts no further instruction.
    pub no_room: WarpMask,
    /// The warps that wait for a register, or for a condition that is handled like one.
    pub awaiting: WarpMask,
    /// The warps that wait at a barrier.
    pub at_barrier: WarpMask,
    /// All warps that have an instruction left. Those that are in no other set wait for the fetch
    /// of their next instruction.
    pub live: WarpMask,
}

impl Stalled {
    /// Returns the first reason, in the order of [`StallReason::ALL`], that holds back a warp, and
    /// the warps that it holds back. The set is empty if no warp has an instruction left.
    #[inline]
    pub fn reason(&self) -> (StallReason, WarpMask) {
        if !self.ready.is_empty() {
            (StallReason::NotMyTurn, self.ready)
        } else if !self.no_room.is_empty() {
            (StallReason::UnitFull, self.no_room)
        } else if !self.awaiting.is_empty() {
            (StallReason::Scoreboard, self.awaiting)
        } else if !self.at_barrier.is_empty() {
            (StallReason::Barrier, self.at_barrier)
        } else if !self.live.is_empty() {
            (StallReason::Fetch, self.live)
        } else {
            (StallReason::Drain, WarpMask::empty())
        }
    }
}

/// Returns the warp that represents the reason of an idle interval: the one in `slot`, whose next
/// instruction has the index `next` in its path. A warp at a barrier waits at the previous
/// instruction, the barrier itself, which it has already issued.
pub(super) fn waiting(
    blocks: &Blocks,
    slot: usize,
    reason: StallReason,
    next: u32,
    steps: &[Step],
) -> Option<Waiting> {
    let index = match reason {
        StallReason::Barrier => next.saturating_sub(1),
        StallReason::NotMyTurn
        | StallReason::UnitFull
        | StallReason::Scoreboard
        | StallReason::Fetch
        | StallReason::Drain => next,
    };
    let step = *steps.get(index as usize)?;
    let (block, warp) = blocks.warp(slot);
    Some(Waiting { block, slot, warp, index, step })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks every combination of sets against the written-out order.
    #[test]
    fn the_first_set_that_is_not_empty_gives_the_reason() {
        for bits in 0..32 {
            let set = |bit: usize| if bits >> bit & 1 == 1 { WarpMask::slot(bit) } else { WarpMask::empty() };
            let stalled = Stalled {
                ready: set(0),
                no_room: set(1),
                awaiting: set(2),
                at_barrier: set(3),
                live: set(4),
            };
            let warps = |reason: StallReason| match reason {
                StallReason::NotMyTurn => Some(stalled.ready),
                StallReason::UnitFull => Some(stalled.no_room),
                StallReason::Scoreboard => Some(stalled.awaiting),
                StallReason::Barrier => Some(stalled.at_barrier),
                StallReason::Fetch => Some(stalled.live),
                // the reason if there is no warp
                StallReason::Drain => None,
            };
            let holds_back = |&reason: &StallReason| warps(reason).is_none_or(|warps| !warps.is_empty());
            let expected = StallReason::ALL.into_iter().find(holds_back);
            let (reason, held_back) = stalled.reason();
            assert_eq!(Some(reason), expected);
            assert_eq!(held_back, warps(reason).unwrap_or(WarpMask::empty()));
        }
    }
}
