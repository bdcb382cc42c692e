//! The instruction caches: an L0 of each sub-core, the L1 of the SM, and the prefetcher.
//!
//! When a warp goes on to another line of code than the one it is in, it looks the line up in the
//! L0 of its sub-core. A line that is not there is requested from the L1, which all sub-cores share
//! and which requests what it does not have from the memory behind it. Requests are served in the
//! order in which they are made, so that the cycle in which a line arrives is known at once. A line
//! has its place in a cache from its request on.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::code_lines::{CodeLines, line_of};
use super::per::PerSlot;
use warpbound_core::base::WarpMask;
use warpbound_core::machine::SubCores;
use warpbound_core::machine::pipeline::{CodeCache, InstructionCaches as Settings};
use warpbound_trace::trace::FetchSample;

/// A line in a cache.
#[derive(Clone, Copy, Debug)]
struct Line {
    /// The cycle in which it arrives or has arrived.
    at: u64,
    /// Whether it was prefetched and has not been used.
    ahead: bool,
}

/// Where a warp is in the code.
#[derive(Clone, Copy, Debug)]
struct Reached {
    /// The place after that of the instruction for which the warp was supplied last.
    next: u32,
    /// The first place behind the line of that instruction; 0 if there was none.
    end: u32,
}

#[derive(Clone, Debug)]
pub(super) struct InstructionCaches {
    settings: Settings,
    sub_core_of: PerSlot<u8>,
    /// For each slot, where its warp is in the code.
    reached: PerSlot<Reached>,
    l0: Vec<CodeLines<Line>>,
    l1: CodeLines<Line>,
    /// The first cycles in which the L1 and the memory behind it can serve another request.
    l1_free: u64,
    lower_free: u64,
    /// The number of lines of the code; nothing behind them is prefetched.
    lines: u32,
    /// The cycles in which waiting warps can issue again, with their slots.
    waiting: BinaryHeap<Reverse<(u64, u8)>>,
    requests: u64,
    misses: u64,
}

/// A warp that has not been supplied with an instruction.
const NOWHERE: Reached = Reached { next: 0, end: 0 };

impl InstructionCaches {
    /// Creates the caches for code with this number of instructions.
    pub fn new(settings: Settings, sub_cores: SubCores, instructions: u32) -> Self {
        let bytes = u64::from(instructions) * u64::from(settings.instruction);
        let lines = bytes.div_ceil(settings.line.into()) as u32;
        let empty = |size: CodeCache| CodeLines::new(size.sets, size.ways);
        let mut l1 = empty(settings.l1);
        if settings.warm {
            (0..lines).for_each(|number| l1.insert(number, Line { at: 0, ahead: false }));
        }
        Self {
            settings,
            sub_core_of: PerSlot::new(|slot| sub_cores.of_slot(slot) as u8),
            reached: PerSlot::new(|_| NOWHERE),
            l0: vec![empty(settings.l0); sub_cores.count()],
            l1,
            l1_free: 0,
            lower_free: 0,
            lines,
            waiting: BinaryHeap::new(),
            requests: 0,
            misses: 0,
        }
    }

    /// Starts a new warp, which has no line.
    pub fn start(&mut self, slot: usize) {
        self.reached[slot] = NOWHERE;
    }

    /// Returns whether the next instruction of a warp, which is at this place in the code, follows the
    /// last one in the same line, and so is available.
    #[inline(always)]
    pub fn goes_straight_on(&mut self, slot: usize, place: u32) -> bool {
        let Reached { next, end } = &mut self.reached[slot];
        let follows = place == *next && place < *end;
        *next += u32::from(follows);
        follows
    }

    /// Returns the cycle from which on the next instruction of a warp, which is at this place in the
    /// code, is available. The warp starts or has issued an instruction in the present cycle.
    pub fn goes_to(&mut self, slot: usize, place: u32, now: u64) -> u64 {
        if self.goes_straight_on(slot, place) {
            return now;
        }
        let line = self.line_of(place);
        let reached = Reached { next: place.wrapping_add(1), end: self.end_of(line) };
        let before = std::mem::replace(&mut self.reached[slot], reached);
        let starts = before.end == 0;
        let earliest = if starts || place == before.next { now } else { now + self.settings.jump };
        if !starts && self.line_of(before.next.wrapping_sub(1)) == line {
            earliest
        } else {
            earliest.max(self.enter(usize::from(self.sub_core_of[slot]), line, now))
        }
    }

    /// Records that a warp waits until a cycle.
    pub fn wait(&mut self, slot: usize, until: u64) {
        self.waiting.push(Reverse((until, slot as u8)));
    }

    /// Removes and returns the warps that can issue in the cycle after the present one.
    #[inline]
    pub fn take_supplied(&mut self, now: u64) -> WarpMask {
        let mut supplied = WarpMask::empty();
        while let Some(&Reverse((until, slot))) = self.waiting.peek()
            && until <= now + 1
        {
            self.waiting.pop();
            supplied |= WarpMask::slot(slot.into());
        }
        supplied
    }

    /// Returns the next cycle at whose end a warp can be supplied, or `u64::MAX`.
    pub fn next_supply(&self) -> u64 {
        self.waiting.peek().map_or(u64::MAX, |Reverse((until, _))| until.saturating_sub(1))
    }

    /// Returns the counters: requests of the sub-cores, and those that missed the L1.
    pub fn sample(&self, filled: u32) -> FetchSample {
        let missing = self.waiting.len() as u32;
        FetchSample { fetches: self.requests, misses: self.misses, filled, missing }
    }

    fn line_of(&self, place: u32) -> u32 {
        line_of(place, self.settings.instruction, self.settings.line)
    }

    /// Returns the first place in the code behind a line.
    fn end_of(&self, line: u32) -> u32 {
        let bytes = (u64::from(line) + 1) * u64::from(self.settings.line);
        u32::try_from(bytes.div_ceil(self.settings.instruction.into())).unwrap_or(u32::MAX)
    }

    /// Looks a line up in the L0 of a sub-core, and returns the cycle in which it is there.
    #[inline(never)]
    fn enter(&mut self, sub_core: usize, number: u32, now: u64) -> u64 {
        let (at, first_use) = match self.l0[sub_core].touch(number) {
            Some(line) => (line.at, std::mem::replace(&mut line.ahead, false)),
            None => (self.request(sub_core, number, false, now), true),
        };
        if first_use {
            for next in number + 1..=number.saturating_add(self.settings.prefetch) {
                if next < self.lines && !self.l0[sub_core].has(next) {
                    self.request(sub_core, next, true, now);
                }
            }
        }
        at
    }

    /// Requests a line for the L0 of a sub-core, and returns the cycle in which it arrives.
    fn request(&mut self, sub_core: usize, number: u32, ahead: bool, now: u64) -> u64 {
        let Settings { l1_latency, l1_interval, lower_latency, lower_interval, .. } = self.settings;
        self.requests += 1;
        let served = now.max(self.l1_free);
        self.l1_free = served + l1_interval;
        let in_l1 = match self.l1.touch(number) {
            Some(line) => line.at.max(served),
            None => {
                self.misses += 1;
                let sent = served.max(self.lower_free);
                self.lower_free = sent + lower_interval;
                let at = sent + lower_latency;
                self.l1.insert(number, Line { at, ahead: false });
                at
            }
        };
        let at = in_l1 + l1_latency;
        self.l0[sub_core].insert(number, Line { at, ahead });
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SETTINGS: Settings = Settings {
        line: 128,
        instruction: 16,
        l0: CodeCache { sets: 1, ways: 3 },
        l1: CodeCache { sets: 2, ways: 2 },
        l1_latency: 10,
        l1_interval: 2,
        lower_latency: 100,
        lower_interval: 20,
        prefetch: 1,
        warm: false,
        jump: 5,
    };

    fn caches(settings: Settings) -> InstructionCaches {
        InstructionCaches::new(settings, SubCores::ONE, 64)
    }

    #[test]
    fn a_line_is_prefetched_while_the_line_before_it_is_used() {
        let mut caches = caches(SETTINGS);
        // line 0 misses both levels; line 1 is requested with it and arrives 20 cycles later
        assert_eq!(caches.goes_to(0, 0, 7), 7 + 100 + 10);
        assert_eq!(caches.goes_to(0, 1, 117), 117);
        assert_eq!(caches.goes_to(0, 8, 118), 137, "a jump to line 1");
        assert_eq!((caches.requests, caches.misses), (3, 3), "line 2 is on its way");
    }

    #[test]
    fn a_jump_within_a_line_costs_its_cycles() {
        let mut caches = caches(SETTINGS);
        caches.goes_to(0, 4, 0);
        assert_eq!(caches.goes_to(0, 0, 200), 205);
        assert_eq!(caches.goes_to(0, 1, 205), 205);
    }

    #[test]
    fn the_l1_keeps_what_the_l0_loses() {
        let mut caches = caches(Settings { prefetch: 0, l0: CodeCache { sets: 1, ways: 1 }, ..SETTINGS });
        let arrivals: Vec<u64> = [(0, 0), (8, 1000), (0, 2000)]
            .iter()
            .map(|&(place, now)| caches.goes_to(0, place, now))
            .collect();
        assert_eq!(arrivals, [110, 1110, 2010]);
    }

    #[test]
    fn a_warm_l1_has_the_end_of_the_code() {
        let settings = Settings { warm: true, prefetch: 0, ..SETTINGS };
        // eight lines, of which the L1 has room for the last four
        let arrivals = [32, 24].map(|place| caches(settings).goes_to(0, place, 0));
        assert_eq!(arrivals, [10, 110]);
    }

    #[test]
    fn nothing_is_prefetched_behind_the_end() {
        let mut caches = InstructionCaches::new(Settings { prefetch: 8, ..SETTINGS }, SubCores::ONE, 9);
        caches.goes_to(0, 0, 0);
        assert_eq!(caches.requests, 2);
    }
}
