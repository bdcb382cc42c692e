//! The reasons for which an issue slot stays empty.

use std::fmt;
use std::ops::AddAssign;

use warpbound_core::base::Cycles;

/// The reason for which nothing issued in a cycle: the first one, in this order, that fits some
/// live warp (of the sub-core).
///
/// Issues and idle cycles by reason add up to the makespan, on every sub-core. (With dual issue the
/// sum exceeds it by one for each cycle with two issues.)
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StallReason {
    /// A warp was ready, but the policy did not select it. It never occurs with work-conserving
    /// policies.
    NotMyTurn,
    /// A warp's unit accepted no more instructions, or the sub-core held its instruction because the
    /// ports of register banks were not free for it. It never occurs in the paper model, whose
    /// queues are unbounded.
    UnitFull,
    /// A warp waited for a register.
    Scoreboard,
    /// A warp waited at a barrier.
    Barrier,
    /// A warp's next instruction was not fetched yet. It never occurs in the paper model.
    Fetch,
    /// No warp had an instruction left; results were still in flight, or other sub-cores were
    /// active.
    Drain,
}

impl StallReason {
    /// All reasons, by priority. [`StallReason::Drain`] is the last one.
    pub const ALL: [Self; Self::Drain as usize + 1] =
        [Self::NotMyTurn, Self::UnitFull, Self::Scoreboard, Self::Barrier, Self::Fetch, Self::Drain];

    /// Returns the name in output.
    #[inline]
    pub const fn name(self) -> &'static str {
        match self {
            Self::NotMyTurn => "not-my-turn",
            Self::UnitFull => "unit-full",
            Self::Scoreboard => "scoreboard",
            Self::Barrier => "barrier",
            Self::Fetch => "fetch",
            Self::Drain => "drain",
        }
    }

    /// Returns an index for dense tables.
    #[inline]
    pub const fn index(self) -> usize {
        self as usize
    }
}

// `index` is the position in `ALL`
const _: () = {
    let mut position = 0;
    while position < StallReason::ALL.len() {
        assert!(StallReason::ALL[position].index() == position);
        position += 1;
    }
};

impl fmt::Display for StallReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Idle cycles by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Stalls([Cycles; StallReason::ALL.len()]);

impl Stalls {
    /// Returns the idle cycles with this reason.
    #[inline]
    pub fn get(&self, reason: StallReason) -> Cycles {
        self.0[reason.index()]
    }

    /// Adds idle cycles.
    #[inline]
    pub fn add(&mut self, reason: StallReason, cycles: Cycles) {
        self.0[reason.index()] += cycles;
    }

    /// Returns the sum of all idle cycles.
    #[inline]
    pub fn total(&self) -> Cycles {
        self.0.iter().copied().sum()
    }

    /// Returns every reason with its idle cycles, by priority.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = (StallReason, Cycles)> + '_ {
        StallReason::ALL.into_iter().map(|reason| (reason, self.get(reason)))
    }
}

impl AddAssign for Stalls {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        for (reason, cycles) in other.iter() {
            self.add(reason, cycles);
        }
    }
}
