//! Why a sub-core issues nothing: the one place where the reasons are asked, for both engines.

use super::blocks::Blocks;
use crate::base::WarpMask;
use crate::path::Step;
use crate::trace::{StallReason, Waiting};

/// The warps of a sub-core that issued nothing, by what keeps them. A warp may be in several of these.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stalled {
    /// Nothing but the policy.
    pub ready: WarpMask,
    /// Their unit takes no more.
    pub no_room: WarpMask,
    /// A register that is not there, or what holds a warp as one would.
    pub awaiting: WarpMask,
    /// A barrier.
    pub at_barrier: WarpMask,
    /// Something: all that have an instruction left. Those in none of the other sets wait for its fetch.
    pub live: WarpMask,
}

impl Stalled {
    /// The first reason, in the order of [`StallReason::ALL`], that keeps a warp, and the warps that it keeps; none if no
    /// warp has an instruction left.
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

/// The warp that stands for the reason of an idle interval: the one in this slot, whose next instruction is
/// that of index `next` in its path. At a barrier it waits with the one before, which it has issued.
pub(super) fn waiting(
    blocks: &Blocks,
    slot: usize,
    reason: StallReason,
    next: u32,
    steps: &[Step],
) -> Option<Waiting> {
    let index = if reason == StallReason::Barrier { next.saturating_sub(1) } else { next };
    let step = *steps.get(index as usize)?;
    let (block, warp) = blocks.warp(slot);
    Some(Waiting { block, slot, warp, index, step })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every combination of sets against the order written out.
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
            let expected = match (0..5).find(|&bit| bits >> bit & 1 == 1) {
                Some(0) => StallReason::NotMyTurn,
                Some(1) => StallReason::UnitFull,
                Some(2) => StallReason::Scoreboard,
                Some(3) => StallReason::Barrier,
                Some(4) => StallReason::Fetch,
                _ => StallReason::Drain,
            };
            let (reason, warps) = stalled.reason();
            assert_eq!(reason, expected);
            assert_eq!(warps.lowest(), (0..5).find(|&bit| bits >> bit & 1 == 1));
        }
    }
}
