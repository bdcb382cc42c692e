//! A set-associative, non-blocking cache.
//!
//! A line has flags per sector, among them valid, dirty, and reserved for a fetch in flight. A line
//! is allocated when the miss happens, so a line that waits for data cannot be a victim. Write
//! allocation fetches nothing: a sector that stores have written in part is fetched when a load
//! accesses it.

use std::collections::VecDeque;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::carried::{CarriedCache, Drawn};
use super::lines::{Lines, Masks};
use super::mshr::Mshrs;
use super::{Request, RequestKind, Token};
use warpbound_core::machine::memory::{CacheSettings, Replacement, WriteMiss, WritePolicy};
use warpbound_core::machine::place_of;
use warpbound_trace::trace::{CacheSample, CacheStats};

/// The outcome of a request at the tags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// The request is done: the data is present, or a write-back cache has accepted the store.
    Hit,
    /// The data is fetched; the request is returned by [`Cache::ready`].
    Miss,
    /// The data is being fetched already; the request is returned by [`Cache::ready`].
    Merged,
    /// The request is a store that is forwarded to the next level, which answers it.
    Forwarded,
    /// Nothing happened; the request has to be repeated in a later cycle.
    Stall,
}

/// A cache: the data cache of an SM, or a slice of the L2.
///
/// A fetch that it sends to the next level carries a token of the cache itself.
#[derive(Clone, Debug)]
pub struct Cache {
    settings: CacheSettings,
    lines: Lines,
    set_bits: u32,
    /// The binary logarithm of the number of cache lines in a 128-byte line; and a mask of all
    /// sectors of a line.
    part_bits: u32,
    full: u8,
    mshrs: Mshrs,
    outgoing: VecDeque<Request>,
    rng: ChaCha8Rng,
    stats: CacheStats,
}

/// The cache line that a request accesses.
#[derive(Clone, Copy, Debug)]
struct Target {
    tag: u64,
    sectors: u8,
    /// The words that a store writes.
    words: u32,
    set: usize,
    /// The way that holds the line, as an index among all ways of all sets; `None` on a miss.
    frame: Option<usize>,
}

impl Cache {
    /// Creates an empty cache. `seed` is for random replacement.
    pub fn new(settings: &CacheSettings, seed: u64) -> Self {
        let (sets, ways) = (settings.sets as usize, settings.ways as usize);
        let per_line = settings.line / 32;
        Self {
            settings: *settings,
            lines: Lines::new(sets, ways),
            set_bits: settings.sets.trailing_zeros(),
            part_bits: 2 - per_line.trailing_zeros(),
            full: ((1u16 << per_line) - 1) as u8,
            mshrs: Mshrs::new(settings.mshrs, settings.merge),
            outgoing: VecDeque::with_capacity(settings.miss_queue as usize),
            rng: ChaCha8Rng::seed_from_u64(seed),
            stats: CacheStats::default(),
        }
    }

    /// Looks up a transaction, and returns the outcome. The transaction must lie in one line of
    /// this cache: if lines are shorter than 128 bytes, the sender coalesces accesses to that
    /// length.
    #[inline]
    pub fn access(&mut self, request: Request) -> Access {
        let number = request.line << self.part_bits | self.part(&request);
        self.access_at(request, number)
    }

    /// Looks up a transaction like [`Self::access`], but selects the set by `number` instead of the
    /// number of the line: a slice of the L2 leaves out the bits of the address that selected the
    /// slice.
    pub(super) fn access_at(&mut self, request: Request, number: u64) -> Access {
        let target = self.target(&request, number);
        let access =
            if request.kind.is_write() { self.store(request, target) } else { self.load(request, target) };
        match access {
            Access::Stall => self.stats.stalls += 1,
            Access::Merged => self.stats.merged += 1,
            _ => {}
        }
        self.stats.accesses += u64::from(access != Access::Stall);
        access
    }

    /// Returns the number of bytes of a line.
    pub fn line_bytes(&self) -> u32 {
        self.settings.line
    }

    /// Returns whether nothing waits to be sent or to be returned.
    #[inline]
    pub fn is_quiet(&self) -> bool {
        self.outgoing.is_empty() && !self.any_ready()
    }

    /// Returns the first one of the requests that wait to be sent to the next level.
    #[inline]
    pub fn outgoing(&self) -> Option<&Request> {
        self.outgoing.front()
    }

    /// Removes the first waiting request, which has been sent.
    #[inline]
    pub fn sent(&mut self) {
        self.outgoing.pop_front();
    }

    /// Receives the reply to a fetch, given by the token of the fetch.
    pub fn fill(&mut self, token: Token) {
        let Token::Fetch(id) = token else { panic!("{token:?} is no fetch of a cache") };
        let done = self.mshrs.complete(id.into());
        let masks = self.lines.masks_mut(done.frame);
        // two fetches in flight may bring the same sector
        masks.reserved = done.coming;
        masks.partial &= !done.sectors;
        masks.valid |= done.sectors;
        if done.atomic {
            masks.dirty |= done.sectors;
        }
    }

    /// Removes and returns a waiting transaction whose data has arrived, at most one per call.
    #[inline]
    pub fn ready(&mut self) -> Option<Request> {
        self.mshrs.ready()
    }

    /// Returns whether [`Self::ready`] would return a transaction.
    #[inline]
    pub fn any_ready(&self) -> bool {
        self.mshrs.any_ready()
    }

    /// Makes these sectors, which lie in one line of this cache, valid, as a copy into memory
    /// before the launch does. `number` selects the set.
    pub(super) fn preload_at(&mut self, line: u64, sectors: u8, number: u64) {
        let request = Request::new(line, sectors, RequestKind::WriteBack, Token::None);
        let target = self.target(&request, number);
        if let Some(frame) = self.frame_of(&target) {
            let masks = self.lines.masks_mut(frame);
            masks.valid |= target.sectors;
            masks.partial &= !target.sectors;
        }
    }

    /// Takes out the state of the cache at rest: its lines, and the number of random words drawn.
    pub(super) fn leave(&mut self) -> CarriedCache {
        CarriedCache { lines: self.lines.leave(self.full), drawn: Drawn::new(self.rng.get_word_pos()) }
    }

    /// Restores the state that another launch has left, and returns whether it fits this cache.
    #[must_use]
    pub(super) fn go_on_after(&mut self, left: CarriedCache) -> bool {
        self.rng.set_word_pos(left.drawn.words());
        self.lines.go_on_after(left.lines, self.full)
    }

    /// Adds refused accesses of cycles that were not simulated.
    pub fn add_stalls(&mut self, stalls: u64) {
        self.stats.stalls += stalls;
    }

    /// Returns the statistics so far.
    pub fn stats(&self) -> CacheStats {
        self.stats
    }

    /// Returns the counters.
    pub fn sample(&self) -> CacheSample {
        CacheSample { stats: self.stats, mshrs: self.mshrs.in_use() }
    }

    /// Returns the part of the 128-byte line that a request lies in, counted in lines of the cache.
    #[inline(always)]
    fn part(&self, request: &Request) -> u64 {
        u64::from(request.sectors.trailing_zeros() >> (2 - self.part_bits))
    }

    #[inline(always)]
    fn target(&self, request: &Request, number: u64) -> Target {
        let set = place_of(number, self.set_bits, self.settings.index);
        if self.part_bits == 0 {
            // this is nearly always the case: lines of the cache are as long as those of requests
            let tag = request.line;
            let Request { sectors, words, .. } = request;
            return Target { tag, sectors: *sectors, words: *words, set, frame: self.lines.find(tag, set) };
        }
        let part = self.part(request);
        let first = part << (2 - self.part_bits);
        let (sectors, words) = (request.sectors >> first, request.words >> (8 * first));
        debug_assert!(sectors & !self.full == 0, "a request spans lines of the cache: {request:?}");
        let tag = request.line << self.part_bits | part;
        Target { tag, sectors: sectors & self.full, words, set, frame: self.lines.find(tag, set) }
    }

    /// Returns the sector masks of the target's line.
    #[inline(always)]
    fn masks(&self, target: &Target) -> Masks {
        target.frame.map_or(Masks::default(), |frame| self.lines.masks(frame))
    }

    #[inline(always)]
    fn load(&mut self, request: Request, target: Target) -> Access {
        let atomic = request.kind == RequestKind::Atomic;
        let masks = self.masks(&target);
        let (readable, reserved) = (masks.readable(), masks.reserved);
        if readable & target.sectors == target.sectors {
            if let Some(frame) = target.frame {
                self.touch(frame, target.set);
                if atomic {
                    self.lines.masks_mut(frame).dirty |= target.sectors;
                }
            }
            self.stats.hits += 1;
            return Access::Hit;
        }
        // there must be room for the fetch, and for the write-back of a victim before it
        if self.outgoing.len() + 2 > self.settings.miss_queue as usize {
            return Access::Stall;
        }
        let wanted = self.wanted(target.sectors);
        let missing = wanted & !readable;
        if reserved & missing == missing
            && let Some(frame) = target.frame
            && let Some(fetch) = self.mshrs.find(frame, target.tag, missing)
        {
            if !self.mshrs.may_merge(fetch) {
                return Access::Stall;
            }
            self.touch(frame, target.set);
            self.mshrs.merge(fetch, request, atomic);
            return Access::Merged;
        }
        if !self.mshrs.has_free() {
            return Access::Stall;
        }
        let Some(frame) = self.allocate(&target) else { return Access::Stall };
        self.lines.masks_mut(frame).reserved |= missing;
        let id = self.mshrs.start(target.tag, missing, frame, request, atomic);
        let (sectors, token) = (self.outside(target.tag, missing), Token::Fetch(id.into()));
        self.outgoing.push_back(Request { sectors, token, ..request });
        self.stats.misses += 1;
        Access::Miss
    }

    /// Returns the sectors of a line that a miss fetches, unless the line has them, if it needs these.
    #[inline]
    fn wanted(&self, sectors: u8) -> u8 {
        match self.settings.fetch {
            _ if !self.settings.sectored => self.full,
            32 => sectors,
            64 => (sectors | sectors << 1 & 0b1010 | sectors >> 1 & 0b0101) & self.full,
            _ => self.full,
        }
    }

    fn store(&mut self, request: Request, target: Target) -> Access {
        let back = self.settings.write == WritePolicy::Back;
        let Masks { valid, .. } = self.masks(&target);
        let present = target.frame.is_some() && valid & target.sectors == target.sectors;
        let takes = present || self.settings.write_miss == WriteMiss::Allocate;
        let absorbed = back && takes;
        if !(absorbed && present) && self.outgoing.len() >= self.settings.miss_queue as usize {
            return Access::Stall;
        }
        if self.settings.write == WritePolicy::Evict {
            if let Some(frame) = target.frame {
                self.lines.masks_mut(frame).valid &= !target.sectors;
            }
        } else if takes {
            let Some(frame) = self.allocate(&target) else { return Access::Stall };
            let masks = self.lines.masks_mut(frame);
            masks.write(target.sectors, target.words);
            if back {
                masks.dirty |= target.sectors;
            }
        }
        if present {
            self.stats.hits += 1;
        } else {
            self.stats.misses += 1;
        }
        if absorbed {
            return Access::Hit;
        }
        self.outgoing.push_back(request);
        Access::Forwarded
    }

    /// Returns the way of the target's line, and allocates one if the line has none yet.
    #[inline]
    fn allocate(&mut self, target: &Target) -> Option<usize> {
        if let Some(frame) = target.frame {
            self.touch(frame, target.set);
            return Some(frame);
        }
        let frame = self.victim(target.set)?;
        let Masks { dirty, .. } = self.lines.masks(frame);
        if dirty != 0
            && let Some(tag) = self.lines.at(frame)
        {
            self.stats.write_backs += 1;
            let (line, sectors) = (tag >> self.part_bits, self.outside(tag, dirty));
            self.outgoing.push_back(Request::new(line, sectors, RequestKind::WriteBack, Token::None));
        }
        self.take(frame, target);
        Some(frame)
    }

    /// Returns the way of the target's line like [`Self::allocate`], if the victim need not be
    /// written back.
    fn frame_of(&mut self, target: &Target) -> Option<usize> {
        if let Some(frame) = target.frame {
            self.touch(frame, target.set);
            return Some(frame);
        }
        let frame = self.victim(target.set)?;
        self.take(frame, target);
        Some(frame)
    }

    /// Puts the target's line into a way.
    fn take(&mut self, frame: usize, target: &Target) {
        self.lines.put(target.tag, frame);
        self.lines.move_to_end(frame, target.set);
    }

    /// Updates the replacement order when a line that is present is accessed.
    #[inline]
    fn touch(&mut self, frame: usize, set: usize) {
        match self.settings.replacement {
            Replacement::Lru => self.lines.move_to_end(frame, set),
            Replacement::Fifo | Replacement::Random => {}
        }
    }

    /// Returns the victim of a set, or `None` if all ways wait for data.
    #[inline]
    fn victim(&mut self, set: usize) -> Option<usize> {
        match self.settings.replacement {
            Replacement::Lru | Replacement::Fifo => self.lines.first_free(set),
            Replacement::Random => self.drawn_victim(set),
        }
    }

    /// Returns a random victim of a set like [`Self::victim`], or the first empty way.
    fn drawn_victim(&mut self, set: usize) -> Option<usize> {
        self.lines.set_up(set);
        let lines = &self.lines;
        let mut free = lines.of_set(set).filter(|&frame| lines.is_free(frame));
        let count = free.clone().count() as u64;
        let empty = free.clone().find(|&frame| lines.at(frame).is_none());
        // do not draw if there is no candidate, so that the number of attempts has no effect on the
        // generator
        if count == 0 {
            return None;
        }
        empty.or_else(|| {
            let drawn = (u64::from(self.rng.next_u32()) * count) >> 32;
            free.nth(drawn as usize)
        })
    }

    /// Converts sectors of one of this cache's lines to sectors of the 128-byte line.
    #[inline]
    fn outside(&self, tag: u64, sectors: u8) -> u8 {
        if self.part_bits == 0 {
            return sectors;
        }
        let part = tag & ((1 << self.part_bits) - 1);
        sectors << (part << (2 - self.part_bits))
    }
}

#[cfg(test)]
#[path = "cache_tests.rs"]
mod tests;
