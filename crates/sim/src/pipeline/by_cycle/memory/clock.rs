//! A clock that runs beside another one.

use crate::key::Key;

/// A clock with `ticks` ticks in `cycles` cycles of another clock.
#[derive(Clone, Debug)]
pub(super) struct Clock {
    ticks: u64,
    cycles: u64,
    /// The part of the next tick that has passed, in units of 1 / `cycles` of a tick.
    part: u64,
}

impl Clock {
    pub fn new((ticks, cycles): (u32, u32)) -> Self {
        Self { ticks: ticks.into(), cycles: cycles.into(), part: 0 }
    }

    /// Simulates a cycle of the other clock, and returns the number of ticks in it.
    pub fn cycle(&mut self) -> u64 {
        let mut count = 0;
        self.part += self.ticks;
        while self.part >= self.cycles {
            self.part -= self.cycles;
            count += 1;
        }
        count
    }

    /// Adds the phase to the key of a state.
    pub fn key(&self, key: &mut Key) {
        key.put(self.part);
    }
}
