//! Fetch, decode and the instruction buffers.
//!
//! A warp's buffer holds consecutive instructions that start at some address. The actual next
//! instruction of a warp is known only when it is about to issue: if it is not the one at the head
//! of the buffer, the buffer is emptied (which uses up the turn of the warp) and fetched anew. A
//! fetch serves one warp whose buffer is empty, in round robin order; the fetched instructions are
//! decoded when the next fetch begins. On some machines fetch also ends the warps that it passes in
//! its round robin search ([`ends_warps`](Settings::ends_warps)). On machines with
//! [instruction caches](super::instruction_caches), these alone determine when instructions are
//! available.

use super::code_lines::{CodeLines, line_of};
use super::instruction_caches::InstructionCaches;
use super::per::PerSlot;
use warpbound_core::base::WarpMask;
use warpbound_core::machine::pipeline::{FrontEnd as Settings, InstructionCache};
use warpbound_trace::trace::FetchSample;

/// The instruction buffer of one warp.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Buffer {
    /// The address of the first instruction in the buffer, or of the next one to be fetched.
    pub pc: u32,
    /// The number of instructions in the buffer.
    pub count: u32,
}

#[derive(Clone, Debug)]
pub(super) struct FrontEnd {
    /// The settings, or `None` if instructions are always available.
    settings: Option<Settings>,
    buffers: PerSlot<Buffer>,
    /// For each slot, the instruction that its warp executes next.
    next: PerSlot<u32>,
    /// The warps whose buffer is not empty.
    filled: WarpMask,
    /// The warps among them whose buffer begins with another instruction than the next one of the
    /// warp.
    wrong_path: WarpMask,
    /// The warps that wait for the instruction cache.
    missing: WarpMask,
    /// The cycles in which the instructions of these warps arrive.
    arrivals: Vec<(u64, u8)>,
    /// The slot that has been fetched, but not yet decoded.
    fetched: Option<u8>,
    last: usize,
    cache: Option<CodeLines<()>>,
    /// The instruction caches that take the place of fetch and decode, if there are any.
    caches: Option<Box<InstructionCaches>>,
    slots: usize,
    /// The address at which the code that can be fetched ends.
    end: u32,
    /// The warps whose instructions are all complete, and that end when fetch passes them.
    complete: WarpMask,
    /// The warps that fetch has passed in this cycle.
    passed: WarpMask,
    /// The number of fetches so far.
    fetches: u64,
    misses: u64,
}

impl FrontEnd {
    pub fn new(
        settings: Option<Settings>,
        caches: Option<InstructionCaches>,
        slots: usize,
        end: u32,
    ) -> Self {
        Self {
            settings,
            buffers: PerSlot::new(|_| Buffer::default()),
            next: PerSlot::new(|_| 0),
            filled: if settings.is_some() { WarpMask::empty() } else { WarpMask::ALL },
            wrong_path: WarpMask::empty(),
            missing: WarpMask::empty(),
            arrivals: Vec::new(),
            fetched: None,
            // as in GPGPU-Sim (shader.cc, create_front_pipeline), so slot 1 is fetched first
            last: 0,
            cache: settings
                .and_then(|settings| settings.icache)
                .map(|icache| CodeLines::new(icache.sets, icache.ways)),
            caches: caches.map(Box::new),
            slots,
            end,
            complete: WarpMask::empty(),
            passed: WarpMask::empty(),
            fetches: 0,
            misses: 0,
        }
    }

    /// Returns whether warps end when fetch passes them.
    pub fn ends_warps(&self) -> bool {
        self.settings.is_some_and(|settings| settings.ends_warps)
    }

    /// Records that all instructions of a warp are complete, so that it ends when fetch passes it.
    /// Returns whether this was not recorded before.
    pub fn end_when_passed(&mut self, slot: usize) -> bool {
        let is_new = !self.complete.has(slot);
        self.complete |= WarpMask::slot(slot);
        is_new
    }

    /// Removes and returns the warps that fetch has passed since the last call; these warps end.
    #[inline(always)]
    pub fn take_passed(&mut self) -> WarpMask {
        std::mem::replace(&mut self.passed, WarpMask::empty())
    }

    /// Passes all slots from `after` on, up to the warp that is served, or all slots if none is.
    #[cold]
    fn pass(&mut self, after: usize, served: Option<usize>) {
        let up_to = |slot: usize| u64::MAX >> (u64::BITS as usize - 1 - slot);
        let passed = match served {
            None => WarpMask::ALL,
            Some(slot) => {
                let (to, from) = (up_to(slot), u64::MAX << after);
                WarpMask::from_bits_retain(if after <= slot { to & from } else { to | from })
            }
        };
        self.passed |= self.complete & passed;
        self.complete -= passed;
    }

    /// Returns the warps whose buffer is not empty.
    #[inline(always)]
    pub fn filled(&self) -> WarpMask {
        self.filled
    }

    /// Returns the warps among them whose buffer begins with another instruction than the next one
    /// of the warp.
    #[inline(always)]
    pub fn wrong_path(&self) -> WarpMask {
        self.wrong_path
    }

    /// Starts a new warp at address 0.
    pub fn start(&mut self, slot: usize) {
        if let Some(caches) = &mut self.caches {
            caches.start(slot);
        }
        self.flush(slot, 0);
    }

    /// Sets the instruction that a warp executes next. The warp starts or has issued an instruction
    /// in the present cycle.
    #[inline(always)]
    pub fn goes_to(&mut self, slot: usize, pc: u32, now: u64) {
        if self.settings.is_some() {
            self.next[slot] = pc;
            self.compare(slot);
        } else if let Some(caches) = &mut self.caches
            && !caches.goes_straight_on(slot, pc)
        {
            self.look_up(slot, pc, now);
        }
    }

    /// Looks the line of the next instruction up if the warp may leave the line that it is in.
    #[inline(never)]
    fn look_up(&mut self, slot: usize, pc: u32, now: u64) {
        let Some(caches) = &mut self.caches else { return };
        let supplied = caches.goes_to(slot, pc, now);
        if supplied <= now {
            self.filled |= WarpMask::slot(slot);
        } else {
            self.filled -= WarpMask::slot(slot);
            caches.wait(slot, supplied);
        }
    }

    #[inline(always)]
    fn compare(&mut self, slot: usize) {
        let bit = WarpMask::slot(slot);
        let buffer = &self.buffers[slot];
        self.wrong_path -= bit;
        if buffer.count > 0 && buffer.pc != self.next[slot] {
            self.wrong_path |= bit;
        }
    }

    /// Removes the instruction at the head of the buffer, which has issued.
    #[inline(always)]
    pub fn issued(&mut self, slot: usize) {
        if self.settings.is_none() {
            return;
        }
        let buffer = &mut self.buffers[slot];
        buffer.pc = buffer.pc.wrapping_add(1);
        buffer.count = buffer.count.wrapping_sub(1);
        if buffer.count == 0 {
            self.filled -= WarpMask::slot(slot);
        }
    }

    /// Empties a buffer; the warp continues at `pc`.
    pub fn flush(&mut self, slot: usize, pc: u32) {
        if self.settings.is_none() {
            return;
        }
        self.buffers[slot] = Buffer { pc, count: 0 };
        self.filled -= WarpMask::slot(slot);
        self.wrong_path -= WarpMask::slot(slot);
    }

    /// Simulates a cycle of decode and fetch. `live` are the warps that have instructions left.
    /// Returns the warps whose buffers were filled, and whether anything happened.
    #[inline(always)]
    pub fn cycle(&mut self, now: u64, live: WarpMask) -> (WarpMask, bool) {
        if let Some(caches) = &mut self.caches {
            let supplied = caches.take_supplied(now);
            self.filled |= supplied;
            return (supplied, !supplied.is_empty());
        }
        let rests = self.fetched.is_none() && self.arrivals.is_empty();
        if rests && ((live - self.filled - self.missing) | self.complete).is_empty() {
            return (WarpMask::empty(), false);
        }
        let before = self.filled;
        let busy = if self.cache.is_none() { self.fetch_at_once(live) } else { self.fetch(now, live) };
        (self.filled - before, busy || !self.passed.is_empty())
    }

    /// Fills a buffer with the instructions that were fetched for it.
    #[inline(always)]
    fn decode(&mut self, slot: usize, count: u32) {
        let buffer = &mut self.buffers[slot];
        // a fetch beyond the end of the code returns one instruction, which is not the next one of
        // any warp
        buffer.count = count.min(self.end.saturating_sub(buffer.pc).max(1));
        self.filled |= WarpMask::slot(slot);
        self.compare(slot);
    }

    /// Fetches without an instruction cache, so that fetched instructions wait only for their
    /// decoding. Returns whether anything happened.
    fn fetch_at_once(&mut self, live: WarpMask) -> bool {
        let Some(settings) = self.settings else { return false };
        let decoded = self.fetched.take();
        if let Some(slot) = decoded {
            self.decode(slot.into(), settings.buffer);
        }
        let mut unfilled = live - self.filled;
        let busy = decoded.is_some() || !unfilled.is_empty();
        let mut left = settings.fetches;
        while left > 0 {
            let after = if self.last + 1 < self.slots { self.last + 1 } else { 0 };
            let next = crate::policy::next_from(unfilled, after);
            if !self.complete.is_empty() {
                self.pass(after, next);
            }
            let Some(slot) = next else { break };
            unfilled -= WarpMask::slot(slot);
            self.last = slot;
            self.fetches = self.fetches.wrapping_add(1);
            left -= 1;
            if left > 0 {
                self.decode(slot, settings.buffer);
            } else {
                self.fetched = Some(slot as u8);
            }
        }
        busy
    }

    fn fetch(&mut self, now: u64, live: WarpMask) -> bool {
        let Some(settings) = self.settings else { return false };
        let mut busy = false;
        for _ in 0..settings.fetches {
            if let Some(slot) = self.fetched.take() {
                self.decode(slot.into(), settings.buffer);
                busy = true;
            }
            if let Some(place) = self.arrivals.iter().position(|&(at, _)| at <= now) {
                let (_, slot) = self.arrivals.remove(place);
                self.missing -= WarpMask::slot(slot as usize);
                self.fetched = Some(slot);
                busy = true;
                continue;
            }
            let unfilled = live - self.filled - self.missing;
            let after = if self.last + 1 < self.slots { self.last + 1 } else { 0 };
            let next = crate::policy::next_from(unfilled, after);
            if !self.complete.is_empty() {
                self.pass(after, next);
            }
            let Some(slot) = next else { continue };
            self.last = slot;
            busy = true;
            self.fetches += 1;
            let hit = self.hits(self.buffers[slot].pc);
            if hit {
                self.fetched = Some(slot as u8);
            } else {
                self.misses += 1;
                self.missing |= WarpMask::slot(slot);
                let latency = settings.icache.map_or(0, |cache| cache.miss_latency);
                self.arrivals.push((now + latency, slot as u8));
            }
        }
        busy || self.fetched.is_some()
    }

    /// Accesses the line of an instruction in the cache, and returns whether it is a hit. The line is
    /// present afterwards.
    fn hits(&mut self, pc: u32) -> bool {
        let icache = self.settings.and_then(|settings| settings.icache);
        let (Some(cache), Some(InstructionCache { line, instruction, .. })) = (&mut self.cache, icache)
        else {
            return true;
        };
        let number = line_of(pc, instruction, line);
        let found = cache.touch(number).is_some();
        if !found {
            cache.insert(number, ());
        }
        found
    }

    /// Returns the counters; `live` are the warps that have instructions left.
    pub fn sample(&self, live: WarpMask) -> Option<FetchSample> {
        let count = |warps: WarpMask| warps.slots().count() as u32;
        if let Some(caches) = &self.caches {
            return Some(caches.sample(count(self.filled & live)));
        }
        self.settings.is_some().then(|| FetchSample {
            fetches: self.fetches,
            misses: self.misses,
            filled: count(self.filled & live),
            missing: count(self.missing),
        })
    }

    /// Returns the next cycle in which instructions arrive, or `u64::MAX`.
    pub fn next_arrival(&self) -> u64 {
        if let Some(caches) = &self.caches {
            return caches.next_supply();
        }
        self.arrivals.iter().map(|&(at, _)| at).min().unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn warps(slots: &[usize]) -> WarpMask {
        slots.iter().fold(WarpMask::empty(), |set, &slot| set | WarpMask::slot(slot))
    }

    #[test]
    fn a_fetch_is_decoded_when_the_next_begins() {
        let mut front =
            FrontEnd::new(Some(Settings { fetches: 2, ..Settings::default() }), None, 4, u32::MAX);
        front.cycle(0, warps(&[0, 1, 2]));
        assert_eq!(front.filled, warps(&[1]), "slot 1 is fetched first");
        front.cycle(1, warps(&[0, 1, 2]));
        assert_eq!(front.filled, warps(&[0, 1, 2]));
        front.issued(1);
        front.issued(1);
        assert_eq!((front.filled, front.buffers[1].pc), (warps(&[0, 2]), 2));
    }

    #[test]
    fn a_buffer_with_other_instructions_is_known() {
        let mut front =
            FrontEnd::new(Some(Settings { fetches: 2, ..Settings::default() }), None, 4, u32::MAX);
        front.cycle(0, warps(&[0]));
        front.goes_to(0, 7, 0);
        assert_eq!(front.wrong_path, warps(&[0]));
        front.flush(0, 7);
        front.cycle(1, warps(&[0]));
        assert_eq!((front.filled, front.wrong_path), (warps(&[0]), warps(&[])));
    }

    #[test]
    fn nothing_is_behind_the_end_of_the_code() {
        let mut front = FrontEnd::new(Some(Settings { fetches: 2, ..Settings::default() }), None, 4, 3);
        for (pc, count) in [(1, 2), (2, 1), (3, 1)] {
            front.flush(0, pc);
            front.goes_to(0, 1, 0);
            front.cycle(0, warps(&[0]));
            front.cycle(1, warps(&[0]));
            assert_eq!(front.buffers[0].count, count, "{pc}");
            assert_eq!(front.wrong_path.has(0), pc != 1, "{pc}");
        }
    }

    #[test]
    fn warps_end_when_fetch_passes_them() {
        let settings = Settings { fetches: 2, ends_warps: true, ..Settings::default() };
        let mut front = FrontEnd::new(Some(settings), None, 64, u32::MAX);
        for slot in [0, 2, 3, 63] {
            assert!(front.end_when_passed(slot) && !front.end_when_passed(slot));
        }
        let live = warps(&[1, 4, 5, 62]);
        front.cycle(0, live);
        assert_eq!((front.take_passed(), front.last), (warps(&[2, 3]), 4), "it stops at 1 and at 4");
        front.cycle(1, live);
        assert_eq!((front.take_passed(), front.last), (warps(&[]), 62), "it stops at 5 and at 62");
        front.cycle(2, live);
        assert_eq!(front.take_passed(), warps(&[0, 63]), "it goes around");
        assert!(front.end_when_passed(2));
        assert_eq!((front.cycle(3, live), front.take_passed()), ((warps(&[]), true), warps(&[2])));
        assert_eq!(front.cycle(4, live), (warps(&[]), false));
    }
}
