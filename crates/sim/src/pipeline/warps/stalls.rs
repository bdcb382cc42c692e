//! The ends of stall counts.

use warpbound_core::base::WarpMask;

/// The number of cycles that a stall count can reach ahead.
const REACH: usize = 1 << u8::BITS;
const WORDS: usize = REACH / 64;

/// For each of the next cycles, the warps whose stall count ends in it.
#[derive(Clone, Debug)]
pub(super) struct Stalls {
    /// The warps by the cycle, modulo the length.
    ends: Box<[WarpMask; REACH]>,
    /// The entries that are not empty, as a bit mask.
    filled: [u64; WORDS],
    /// The cycle of the first entry that is not empty, or `u64::MAX`.
    next: u64,
}

impl Stalls {
    pub fn new() -> Self {
        Self { ends: Box::new([WarpMask::empty(); REACH]), filled: [0; WORDS], next: u64::MAX }
    }

    /// Returns the next cycle in which a stall count ends, or `u64::MAX`.
    #[inline(always)]
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Inserts a stall count of the warp in a slot that ends `count` cycles after the present one. No
    /// earlier end is left.
    #[inline(always)]
    pub fn insert(&mut self, slot: usize, now: u64, count: u8) {
        let at = now + u64::from(count);
        let place = at as usize % REACH;
        self.ends[place] |= WarpMask::slot(slot);
        self.filled[place / 64] |= 1 << (place % 64);
        self.next = self.next.min(at);
    }

    /// Removes and returns the warps whose stall count ends in this cycle, which is not after the next
    /// end.
    #[inline(always)]
    pub fn take(&mut self, now: u64) -> WarpMask {
        if self.next > now {
            return WarpMask::empty();
        }
        debug_assert_eq!(self.next, now, "an end was skipped");
        let place = now as usize % REACH;
        self.filled[place / 64] &= !(1 << (place % 64));
        self.next = self.next_after(now);
        std::mem::replace(&mut self.ends[place], WarpMask::empty())
    }

    /// Returns the cycle of the first entry after this cycle, whose own entry is empty.
    fn next_after(&self, now: u64) -> u64 {
        let (word, bit) = (now as usize % REACH / 64, now as usize % 64);
        let rest = self.filled[word] >> bit;
        if rest != 0 {
            return now + u64::from(rest.trailing_zeros());
        }
        // the first word is searched again at the end, for the entries before the present one
        (1..=WORDS)
            .find_map(|ahead| {
                let bits = self.filled[(word + ahead) % WORDS];
                let first = ahead * 64 + bits.trailing_zeros() as usize - bit;
                (bits != 0).then_some(now + first as u64)
            })
            .unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares the ends with a plain list.
    #[test]
    fn every_end_comes_in_its_cycle() {
        let (mut stalls, mut list) = (Stalls::new(), Vec::new());
        let mut now = 0;
        for n in 0..5000_usize {
            let (slot, count) = (n % 64, (n * n % 255 + 1) as u8);
            stalls.insert(slot, now, count);
            list.push((now + u64::from(count), slot));
            if n % 3 > 0 {
                continue;
            }
            now = list.iter().map(|&(at, _)| at).min().unwrap();
            assert_eq!(stalls.next(), now);
            let due = list.iter().filter(|&&(at, _)| at == now).map(|&(_, slot)| WarpMask::slot(slot));
            assert_eq!(stalls.take(now), due.fold(WarpMask::empty(), |all, one| all | one));
            list.retain(|&(at, _)| at > now);
        }
    }
}
