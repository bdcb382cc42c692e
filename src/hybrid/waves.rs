//! When warps start on a multiprocessor: release jitter and waves.
//!
//! Betts and Donaldson, section V-B; the names of the values are theirs.
//!
//! * The *release jitter* of a multiprocessor is the time until its final warp starts. The paper's figure 4 has one
//!   multiprocessor, and counts from its first start; with several we count from the first start of the run on any of them,
//!   because that is where the high-water mark begins.
//! * A *wave* is a series of starts without an end between them. The first start after an end begins the next. Ω is the
//!   largest number of waves on a multiprocessor in a run, φ the largest number of warps in a wave, and Δ the longest time between
//!   consecutive starts of the same wave.
//!
//! The paper inserts an empty set of warps on every end; a set that stays empty is no wave (its figure 6 has two waves
//! although warps end after the second).

use crate::base::{Cycle, Cycles};

/// What traces say of how warps start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WaveParameters {
    /// max(δ): the longest release jitter of a multiprocessor's final warp.
    pub jitter: Cycles,
    /// Ω: the largest number of waves.
    pub waves: u64,
    /// φ: the largest number of warps in a wave.
    pub warps_per_wave: u64,
    /// Δ: the longest time from a start to the next of the same wave.
    pub spacing: Cycles,
}

impl WaveParameters {
    /// Equation (1): `z_warp` + max(δ); `None` if that is beyond a `u64`.
    pub fn dynamic(&self, z_warp: Cycles) -> Option<Cycles> {
        z_warp.get().checked_add(self.jitter.get()).map(Cycles::new)
    }

    /// Equation (2): Ω · (`z_warp` + (φ − 1) · Δ); `None` if that is beyond a `u64`.
    pub fn hybrid(&self, z_warp: Cycles) -> Option<Cycles> {
        let ripple = self.warps_per_wave.saturating_sub(1).checked_mul(self.spacing.get())?;
        z_warp.get().checked_add(ripple)?.checked_mul(self.waves).map(Cycles::new)
    }

    /// The larger of each value.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        Self {
            jitter: self.jitter.max(other.jitter),
            waves: self.waves.max(other.waves),
            warps_per_wave: self.warps_per_wave.max(other.warps_per_wave),
            spacing: self.spacing.max(other.spacing),
        }
    }
}

/// The starts and ends of one multiprocessor in one run, as they come.
#[derive(Clone, Copy, Debug, Default)]
pub struct Arrivals {
    span: Option<(Cycle, Cycle)>,
    in_wave: u64,
    ended: bool,
    so_far: WaveParameters,
}

impl Arrivals {
    /// A warp starts, not before anything that was told before.
    pub fn start(&mut self, now: Cycle) {
        match self.span {
            Some((_, last)) if !self.ended => {
                self.in_wave += 1;
                self.so_far.spacing = self.so_far.spacing.max(now - last);
            }
            _ => {
                self.in_wave = 1;
                self.so_far.waves += 1;
            }
        }
        self.ended = false;
        self.so_far.warps_per_wave = self.so_far.warps_per_wave.max(self.in_wave);
        self.span = Some((self.span.map_or(now, |(first, _)| first), now));
    }

    /// A warp ends.
    pub fn end(&mut self) {
        self.ended = true;
    }

    /// The first start.
    pub fn first(&self) -> Option<Cycle> {
        self.span.map(|(first, _)| first)
    }

    /// The values of this multiprocessor, in a run whose first start was then.
    pub fn parameters(&self, run_start: Cycle) -> WaveParameters {
        let jitter = self.span.map_or(Cycles::ZERO, |(_, last)| last - run_start);
        WaveParameters { jitter, ..self.so_far }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figure_6_of_the_paper() {
        // s1 s2 s3 t2 ... s4 s5 ...: starts 3, 8 and 5 apart; what is between t2 and s4 is not in the text
        let mut arrivals = Arrivals::default();
        [2, 5, 13].into_iter().for_each(|cycle| arrivals.start(Cycle::new(cycle)));
        arrivals.end();
        arrivals.end();
        [40, 45].into_iter().for_each(|cycle| arrivals.start(Cycle::new(cycle)));
        (0..3).for_each(|_| arrivals.end());
        let found = arrivals.parameters(Cycle::new(2));
        assert_eq!((found.waves, found.warps_per_wave, found.spacing.get()), (2, 3, 8));
        assert_eq!(found.jitter.get(), 43);
        // 2 · (100 + 2 · 8)
        assert_eq!(found.hybrid(Cycles::new(100)), Some(Cycles::new(232)));
        assert_eq!(found.dynamic(Cycles::new(100)), Some(Cycles::new(143)));
    }

    #[test]
    fn every_start_after_an_end_is_a_wave() {
        let mut arrivals = Arrivals::default();
        for cycle in [0, 10, 20] {
            arrivals.start(Cycle::new(cycle));
            arrivals.end();
        }
        let found = arrivals.parameters(Cycle::ZERO);
        assert_eq!((found.waves, found.warps_per_wave, found.spacing.get()), (3, 1, 0));
    }

    #[test]
    fn values_beyond_64_bits_are_not_wrapped() {
        let all = WaveParameters {
            jitter: Cycles::new(u64::MAX),
            waves: 3,
            warps_per_wave: 2,
            spacing: Cycles::new(u64::MAX / 2),
        };
        assert_eq!(all.dynamic(Cycles::ONE), None);
        assert_eq!(all.hybrid(Cycles::ONE), None);
    }
}
