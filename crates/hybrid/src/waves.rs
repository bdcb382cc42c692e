//! The start times of warps on a multiprocessor: release jitter and waves.
//!
//! The names of the values are those of Betts and Donaldson, section V-B.
//!
//! * The *release jitter* of a multiprocessor is the time until its final warp starts. The paper's
//!   figure 4 has one multiprocessor, and counts from its first start. With several multiprocessors
//!   the first start of the run on any of them is used, because the high-water mark begins there.
//! * A *wave* is a series of starts without an end between them. The first start after an end
//!   begins the next wave. Ω is the largest number of waves on a multiprocessor in a run, φ the
//!   largest number of warps in a wave, and Δ the longest time between consecutive starts of the
//!   same wave.
//!
//! It does not matter which blocks the warps belong to: the first start after the end of any warp
//! of the multiprocessor begins a wave. If blocks start and end independently, there are therefore
//! many more waves than blocks that ran one after the other. [`BlockWaves`] are an extension: if
//! the block scheduler can be observed, they count the blocks that one CTA slot of a multiprocessor
//! held one after the other.
//!
//! The paper inserts an empty set of warps on every end; a set that stays empty is not a wave (its
//! figure 6 has two waves although warps end after the second).

use warpbound_core::base::{Cycle, Cycles};

/// The parameters of the start times of warps in traces.
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
    /// Returns equation (1): `z_warp` + max(δ); `None` if that exceeds a `u64`.
    pub fn dynamic(&self, z_warp: Cycles) -> Option<Cycles> {
        z_warp.get().checked_add(self.jitter.get()).map(Cycles::new)
    }

    /// Returns equation (2): Ω · (`z_warp` + (φ − 1) · Δ); `None` if that exceeds a `u64`.
    pub fn hybrid(&self, z_warp: Cycles) -> Option<Cycles> {
        let ripple = self.warps_per_wave.saturating_sub(1).checked_mul(self.spacing.get())?;
        z_warp.get().checked_add(ripple)?.checked_mul(self.waves).map(Cycles::new)
    }

    /// Returns the larger of both values for each parameter.
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

/// The starts and ends of warps of one multiprocessor in one run, in order.
#[derive(Clone, Copy, Debug, Default)]
pub struct Arrivals {
    span: Option<(Cycle, Cycle)>,
    in_wave: u64,
    ended: bool,
    so_far: WaveParameters,
}

impl Arrivals {
    /// Records that a warp starts, no earlier than any event recorded before.
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

    /// Records that a warp ends.
    pub fn end(&mut self) {
        self.ended = true;
    }

    /// Returns the first start.
    pub fn first(&self) -> Option<Cycle> {
        self.span.map(|(first, _)| first)
    }

    /// Returns the values of this multiprocessor, in a run whose first start was at `run_start`.
    pub fn parameters(&self, run_start: Cycle) -> WaveParameters {
        let jitter = self.span.map_or(Cycles::ZERO, |(_, last)| last - run_start);
        WaveParameters { jitter, ..self.so_far }
    }
}

/// The data from runs about the blocks in the CTA slots of multiprocessors.
///
/// A CTA slot holds one block after the other. At most the jitter passes from the end of a block,
/// or the start of the run, until the last warp of the next block starts. Then each warp takes the
/// time of its path. So no observed run takes longer than the number of blocks times the sum of
/// both, if no warp takes longer than its estimate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlockWaves {
    /// The largest number of blocks that a CTA slot held in a run.
    pub waves: u64,
    /// The longest time from the end of the previous block in the CTA slot, or the start of the
    /// run, until the last warp of a block starts.
    pub jitter: Cycles,
}

impl BlockWaves {
    /// Returns the estimate by waves of blocks: the number of blocks in a CTA slot times the sum of
    /// jitter and `z_warp`; `None` if that exceeds a `u64`.
    pub fn hybrid(&self, z_warp: Cycles) -> Option<Cycles> {
        z_warp.get().checked_add(self.jitter.get())?.checked_mul(self.waves).map(Cycles::new)
    }

    /// Returns the larger of both values for each parameter.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        Self { waves: self.waves.max(other.waves), jitter: self.jitter.max(other.jitter) }
    }
}

/// A CTA slot of a multiprocessor.
#[derive(Clone, Copy, Debug, Default)]
struct CtaSlot {
    blocks: u64,
    /// When the last warp of the previous block ended; `None` for the first block.
    free: Option<Cycle>,
    /// When the last warp so far of the current block ended.
    end: Option<Cycle>,
}

/// A warp slot of a multiprocessor.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    cta_slot: usize,
    live: bool,
}

/// The CTA slots of all multiprocessors in one run, as blocks and warps start and end.
#[derive(Clone, Debug, Default)]
pub struct CtaSlots {
    /// For each multiprocessor, its CTA slots, indexed by their first warp slot, and its warp
    /// slots.
    sms: Vec<(Vec<CtaSlot>, Vec<Slot>)>,
    first: Option<Cycle>,
    /// The last start among the first blocks of all CTA slots.
    last_of_first: Option<Cycle>,
    jitter: Cycles,
}

impl CtaSlots {
    /// Records that a block occupies these warp slots.
    pub fn block(&mut self, sm: u32, first_slot: usize, warps: usize) {
        let (cta_slots, slots) = self.sm(sm);
        if slots.len() < first_slot + warps {
            slots.resize(first_slot + warps, Slot::default());
            cta_slots.resize(first_slot + warps, CtaSlot::default());
        }
        slots[first_slot..first_slot + warps].fill(Slot { cta_slot: first_slot, live: false });
        let cta_slot = &mut cta_slots[first_slot];
        cta_slot.blocks += 1;
        cta_slot.free = cta_slot.end;
    }

    /// Records that a warp passes an ipoint; the first one is its start.
    pub fn seen(&mut self, sm: u32, slot: u32, now: Cycle) {
        let (cta_slots, slots) = self.sm(sm);
        let Some(slot) = slots.get_mut(slot as usize) else { return };
        if std::mem::replace(&mut slot.live, true) {
            return;
        }
        let free = cta_slots[slot.cta_slot].free;
        self.first = Some(self.first.map_or(now, |first| first.min(now)));
        match free {
            None => self.last_of_first = self.last_of_first.max(Some(now)),
            Some(free) if free < now => self.jitter = self.jitter.max(now - free),
            Some(_) => {}
        }
    }

    /// Records that a warp ends.
    pub fn ended(&mut self, sm: u32, slot: u32, now: Cycle) {
        let (cta_slots, slots) = self.sm(sm);
        let Some(slot) = slots.get_mut(slot as usize) else { return };
        slot.live = false;
        let cta_slot = &mut cta_slots[slot.cta_slot];
        cta_slot.end = cta_slot.end.max(Some(now));
    }

    /// Returns the values of the run.
    pub fn waves(&self) -> BlockWaves {
        let of_first = self.last_of_first.zip(self.first).map_or(Cycles::ZERO, |(last, first)| last - first);
        let cta_slots = self.sms.iter().flat_map(|(cta_slots, _)| cta_slots);
        BlockWaves {
            waves: cta_slots.map(|cta_slot| cta_slot.blocks).max().unwrap_or(0),
            jitter: self.jitter.max(of_first),
        }
    }

    fn sm(&mut self, sm: u32) -> &mut (Vec<CtaSlot>, Vec<Slot>) {
        let sm = sm as usize;
        if self.sms.len() <= sm {
            self.sms.resize_with(sm + 1, Default::default);
        }
        &mut self.sms[sm]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figure_6_of_the_paper() {
        // s1 s2 s3 t2 ... s4 s5 ...: starts 3, 8 and 5 apart; the text does not give what is
        // between t2 and s4
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
    fn blocks_of_a_cta_slot_follow_each_other() {
        // two CTA slots of two warps; the first holds a second block, whose last warp starts 6
        // cycles after the previous end
        let mut cta_slots = CtaSlots::default();
        let at = Cycle::new;
        cta_slots.block(0, 0, 2);
        cta_slots.block(0, 2, 2);
        for (slot, start) in [(0, 3), (1, 4), (2, 5), (3, 8)] {
            cta_slots.seen(0, slot, at(start));
        }
        // passing another ipoint is not a start
        cta_slots.seen(0, 0, at(15));
        cta_slots.ended(0, 0, at(18));
        cta_slots.ended(0, 1, at(20));
        cta_slots.block(0, 0, 2);
        cta_slots.seen(0, 0, at(21));
        cta_slots.seen(0, 1, at(26));
        for (slot, end) in [(0, 30), (1, 31), (2, 40), (3, 39)] {
            cta_slots.ended(0, slot, at(end));
        }
        let found = cta_slots.waves();
        assert_eq!((found.waves, found.jitter.get()), (2, 6));
        assert_eq!(found.hybrid(Cycles::new(35)), Some(Cycles::new(82)));
        assert_eq!(found.hybrid(Cycles::new(u64::MAX / 2)), None);
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
