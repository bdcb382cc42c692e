//! A timing wheel of warp sets: the cycle in which each warp becomes ready.
//!
//! The wheel is a ring of buckets, one per cycle of the next [`SPAN`] cycles. One bit per bucket
//! records whether the bucket is non-empty, so that the next event is found in a few steps however
//! far away it is. Events beyond the ring are kept outside it in a set, together with the earliest
//! time; as each slot is present at most once, such an event costs at most one pass over the slots.

use crate::SLOTS;
use warpbound_core::base::WarpMask;

/// The number of cycles that the ring covers.
const SPAN: usize = 1024;
const WORDS: usize = SPAN / 64;

/// The slots by the cycle in which they become ready.
#[derive(Clone, Debug)]
pub(super) struct Wheel {
    buckets: Box<[u64; SPAN]>,
    /// Bit b of word w is set if bucket 64w + b is not empty.
    used: [u64; WORDS],
    /// Bit w is set if word w is not zero.
    used_words: u16,
    /// The slots that were beyond the reach of the ring when they were inserted.
    far: u64,
    far_at: [u64; SLOTS],
    far_min: u64,
}

const _: () = assert!(WORDS == u16::BITS as usize);

impl Wheel {
    pub fn new() -> Self {
        Self {
            buckets: Box::new([0; SPAN]),
            used: [0; WORDS],
            used_words: 0,
            far: 0,
            far_at: [0; SLOTS],
            far_min: u64::MAX,
        }
    }

    /// Empties the wheel.
    pub fn clear(&mut self) {
        let Self { buckets, used, used_words, far, far_at, far_min } = self;
        **buckets = [0; SPAN];
        *used = [0; WORDS];
        *used_words = 0;
        *far = 0;
        *far_at = [0; SLOTS];
        *far_min = u64::MAX;
    }

    /// Inserts a slot. `at` must be after `now`, and the wheel must hold nothing before `now`.
    #[inline]
    pub fn insert(&mut self, now: u64, at: u64, slot: usize) {
        debug_assert!(at > now);
        if at - now < SPAN as u64 {
            let bucket = at as usize % SPAN;
            self.buckets[bucket] |= 1 << slot;
            self.used[bucket / 64] |= 1 << (bucket % 64);
            self.used_words |= 1 << (bucket / 64);
        } else {
            self.far |= 1 << slot;
            self.far_at[slot] = at;
            self.far_min = self.far_min.min(at);
        }
    }

    /// Removes and returns the slots of cycle `now`.
    #[inline]
    pub fn take(&mut self, now: u64) -> WarpMask {
        let bucket = now as usize % SPAN;
        let mut slots = std::mem::take(&mut self.buckets[bucket]);
        if slots != 0 {
            let word = bucket / 64;
            self.used[word] &= !(1 << (bucket % 64));
            if self.used[word] == 0 {
                self.used_words &= !(1 << word);
            }
        }
        if now == self.far_min {
            slots |= self.take_far(now);
        }
        WarpMask::from_bits_retain(slots)
    }

    #[cold]
    fn take_far(&mut self, now: u64) -> u64 {
        let mut slots = 0;
        self.far_min = u64::MAX;
        for slot in WarpMask::from_bits_retain(self.far).slots() {
            if self.far_at[slot] == now {
                slots |= 1 << slot;
            } else {
                self.far_min = self.far_min.min(self.far_at[slot]);
            }
        }
        self.far &= !slots;
        slots
    }

    /// Returns the first cycle from `now` on that has slots, or `u64::MAX` if there is none.
    #[inline]
    pub fn next(&self, now: u64) -> u64 {
        let bucket = now as usize % SPAN;
        let current_word = self.used[bucket / 64] >> (bucket % 64);
        let near = if current_word != 0 {
            now + u64::from(current_word.trailing_zeros())
        } else if self.used_words == 0 {
            u64::MAX
        } else {
            // Search the words after this one, around the ring. The current word comes last,
            // because its low bits are the far end of the ring.
            let after = self.used_words.rotate_right((bucket / 64 + 1) as u32 % 16);
            let steps = after.trailing_zeros() as usize + 1;
            let word = (bucket / 64 + steps) % WORDS;
            let first = steps * 64 - bucket % 64 + self.used[word].trailing_zeros() as usize;
            now + first as u64
        };
        near.min(self.far_min)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    #[test]
    fn agrees_with_a_list() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let mut wheel = Wheel::new();
        let mut list: Vec<(u64, usize)> = Vec::new();
        let mut now = 0u64;
        for _ in 0..200_000 {
            let slot = rng.random_range(0..SLOTS);
            if list.iter().all(|(_, s)| *s != slot) {
                let reach = [2, 70, 1100, 5000][rng.random_range(0..4)];
                let at = now + rng.random_range(1..reach);
                wheel.insert(now, at, slot);
                list.push((at, slot));
            }
            let next = list.iter().map(|(at, _)| *at).min().unwrap_or(u64::MAX);
            assert_eq!(wheel.next(now), next);
            // sometimes stop between two events, but always stop at each event, as the engine does
            now = if rng.random_bool(0.3) { (now + rng.random_range(1..400)).min(next) } else { next };
            let expected = list.iter().filter(|(at, _)| *at == now).fold(0u64, |set, (_, s)| set | 1 << s);
            assert_eq!(wheel.take(now).bits(), expected);
            list.retain(|(at, _)| *at != now);
        }
    }
}
