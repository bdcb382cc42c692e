//! A clock whose frequency has a fixed ratio to that of another clock.

use serde::{Deserialize, Serialize};

/// A clock that has `ticks` ticks in `cycles` cycles of another clock. Both start together in the
/// first launch; a later launch starts with the phase that the launch before it has left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Clock {
    ticks: u64,
    cycles: u64,
    /// The progress within the next tick, in units of 1 / `cycles` of a tick; it is below `cycles`.
    phase: u64,
}

impl Clock {
    pub fn new((ticks, cycles): (u32, u32)) -> Self {
        Self { ticks: ticks.into(), cycles: cycles.into(), phase: 0 }
    }

    /// Returns whether the clock ticks once in each cycle.
    #[inline]
    pub fn is_same(&self) -> bool {
        self.ticks == self.cycles
    }

    /// Returns the number of ticks within this number of cycles.
    #[inline]
    pub fn ticks(&self, cycles: u64) -> u64 {
        // this is nearly always the case, and avoids a division in every cycle
        if self.is_same() { cycles } else { (cycles * self.ticks + self.phase) / self.cycles }
    }

    /// Returns the cycle in which a tick lies, both counted from 1.
    #[inline]
    pub fn cycle_of(&self, tick: u64) -> u64 {
        if self.is_same() { tick } else { (tick * self.cycles - self.phase).div_ceil(self.ticks) }
    }

    /// Returns a number of cycles that contain no more than this number of ticks.
    pub fn cycles_within(&self, ticks: u64) -> u64 {
        if self.is_same() { ticks } else { ticks.saturating_sub(1) * self.cycles / self.ticks }
    }

    /// Restarts the count of cycles and ticks at 0 after this number of cycles.
    pub fn go_on_after(&mut self, cycles: u64) {
        if !self.is_same() {
            let parts = u128::from(cycles) * u128::from(self.ticks) + u128::from(self.phase);
            self.phase = (parts % u128::from(self.cycles)) as u64;
        }
    }

    /// Returns whether the two clocks are equal except for a valid phase.
    pub fn is_like(&self, other: &Self) -> bool {
        (self.ticks, self.cycles) == (other.ticks, other.cycles) && self.phase < self.cycles
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_goes_on_ticks_as_one_that_never_stopped() {
        for pair in [(7001, 2264), (3, 7), (1, 1), (5, 2), (1, 64)] {
            let whole = Clock::new(pair);
            let (mut parts, mut cycles, mut ticks) = (whole, 0, 0);
            for length in [1, 5, 1000, 17, 2264, 3, 1, 1] {
                for n in 0..=length {
                    assert_eq!(ticks + parts.ticks(n), whole.ticks(cycles + n), "{pair:?} {cycles} {n}");
                }
                for tick in 1..=parts.ticks(length) {
                    let cycle = parts.cycle_of(tick);
                    assert!(parts.ticks(cycle) >= tick && parts.ticks(cycle - 1) < tick, "{pair:?} {tick}");
                }
                (cycles, ticks) = (cycles + length, ticks + parts.ticks(length));
                parts.go_on_after(length);
                assert!(parts.is_like(&whole));
            }
        }
    }
}
