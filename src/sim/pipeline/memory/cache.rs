//! A set-associative cache, non-blocking.
//!
//! A line has four flags per sector: valid, dirty, and reserved for a fetch under way. Lines are
//! taken when the miss happens, so a line that waits for data cannot make room. A store covers
//! its sectors fully, as far as the cache is concerned; write-allocation therefore fetches nothing.

use std::collections::VecDeque;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::mshr::Mshrs;
use super::tags::Tags;
use super::{Request, RequestKind, index};
use crate::machine::memory::{CacheSettings, Replacement, WriteMiss, WritePolicy};
use crate::trace::{CacheSample, CacheStats};

/// What became of a request at the tags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Done: the data is there, or a write-back cache has taken the store.
    Hit,
    /// The data is fetched; the request comes back from [`Cache::ready`].
    Miss,
    /// The data is being fetched already; the request comes back from [`Cache::ready`].
    Merged,
    /// A store that goes on to the next level, which answers it.
    Forwarded,
    /// Nothing happened; try again in a later cycle.
    Stall,
}

/// The lines of a cache, field by field: what is all zero costs nothing to set up.
#[derive(Clone, Debug)]
struct Lines {
    /// The ways of a set in the order in which they make room, where that is not random.
    tags: Tags,
    /// By place: sectors, as masks.
    valid: Vec<u8>,
    dirty: Vec<u8>,
    reserved: Vec<u8>,
}

impl Lines {
    fn new(sets: usize, ways: usize) -> Self {
        let masks = || vec![0; sets * ways];
        Self { tags: Tags::new(sets, ways), valid: masks(), dirty: masks(), reserved: masks() }
    }
}

/// A cache: the data cache of an SM, or a slice of the L2.
///
/// What it sends to the next level carries, if it is a fetch, an id of the cache's own.
#[derive(Clone, Debug)]
pub struct Cache {
    settings: CacheSettings,
    lines: Lines,
    set_bits: u32,
    /// Sectors of a line, as a shift of the 128-byte line's number and as a full mask.
    part_bits: u32,
    full: u8,
    mshrs: Mshrs,
    outgoing: VecDeque<Request>,
    rng: ChaCha8Rng,
    stats: CacheStats,
}

/// A request as the cache sees it.
#[derive(Clone, Copy, Debug)]
struct Target {
    tag: u64,
    sectors: u8,
    set: usize,
    /// The place that holds it.
    place: Option<usize>,
}

impl Cache {
    /// An empty cache. `seed` is for random replacement.
    pub fn new(settings: &CacheSettings, seed: u64) -> Self {
        let (sets, ways) = (settings.sets as usize, settings.ways as usize);
        let per_line = settings.line / 32;
        Self {
            settings: *settings,
            lines: Lines::new(sets, ways),
            set_bits: settings.sets.trailing_zeros(),
            part_bits: 2 - per_line.trailing_zeros(),
            full: ((1u16 << per_line) - 1) as u8,
            mshrs: Mshrs::new(settings.mshrs, settings.merge, sets * ways),
            outgoing: VecDeque::with_capacity(settings.miss_queue as usize),
            rng: ChaCha8Rng::seed_from_u64(seed),
            stats: CacheStats::default(),
        }
    }

    /// A transaction reaches the tags. It must lie in one line of this cache: with lines shorter
    /// than 128 bytes the sender coalesces to those.
    pub fn access(&mut self, request: Request) -> Access {
        self.access_at(request, request.line)
    }

    /// As [`Self::access`], with the set chosen by another number than the line's: a slice of the
    /// L2 leaves out the bits that chose the slice.
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

    /// Bytes of a line.
    pub fn line_bytes(&self) -> u32 {
        self.settings.line
    }

    /// Whether nothing waits to be sent or to be handed back.
    pub fn is_quiet(&self) -> bool {
        self.outgoing.is_empty() && !self.any_ready()
    }

    /// Requests that wait to be sent to the next level: the first of them.
    pub fn outgoing(&self) -> Option<&Request> {
        self.outgoing.front()
    }

    /// The first waiting request has been sent.
    pub fn sent(&mut self) {
        self.outgoing.pop_front();
    }

    /// The reply to a fetch, by the id that the fetch carried.
    pub fn fill(&mut self, id: u32) {
        let done = self.mshrs.complete(id);
        self.lines.reserved[done.place] &= !done.sectors;
        self.lines.valid[done.place] |= done.sectors;
        if done.atomic {
            self.lines.dirty[done.place] |= done.sectors;
        }
    }

    /// A waiting transaction whose data is there now, at most one per call.
    pub fn ready(&mut self) -> Option<Request> {
        self.mshrs.ready()
    }

    /// Whether [`Self::ready`] has something.
    pub fn any_ready(&self) -> bool {
        self.mshrs.any_ready()
    }

    /// Makes these sectors valid, as a copy into memory before the launch does.
    pub(super) fn preload_at(&mut self, line: u64, sectors: u8, number: u64) {
        for sector in 0..4 {
            let request = Request { line, sectors: 1 << sector, kind: RequestKind::WriteBack, sm: 0, id: 0 };
            if sectors & request.sectors == 0 {
                continue;
            }
            let target = self.target(&request, number);
            let place = target.place.or_else(|| self.victim(target.set));
            if let Some(place) = place {
                self.take(place, &target);
                self.lines.valid[place] |= target.sectors;
            }
        }
    }

    /// It would have refused so many accesses more.
    pub fn add_stalls(&mut self, stalls: u64) {
        self.stats.stalls += stalls;
    }

    /// What happened so far.
    pub fn stats(&self) -> CacheStats {
        self.stats
    }

    /// Its counters.
    pub fn sample(&self) -> CacheSample {
        CacheSample { stats: self.stats, mshrs: self.mshrs.in_use() }
    }

    fn target(&self, request: &Request, number: u64) -> Target {
        let part =
            if self.part_bits == 0 { 0 } else { request.sectors.trailing_zeros() >> (2 - self.part_bits) };
        let sectors = request.sectors >> (part << (2 - self.part_bits));
        debug_assert!(sectors & !self.full == 0, "a request spans lines of the cache: {request:?}");
        let within = |number: u64| number << self.part_bits | u64::from(part);
        let tag = within(request.line);
        let set = index::of(within(number), self.set_bits, self.settings.index);
        Target { tag, sectors: sectors & self.full, set, place: self.lines.tags.find(tag, set) }
    }

    fn load(&mut self, request: Request, target: Target) -> Access {
        let atomic = request.kind == RequestKind::Atomic;
        let (valid, reserved) =
            target.place.map_or((0, 0), |place| (self.lines.valid[place], self.lines.reserved[place]));
        if valid & target.sectors == target.sectors {
            if let Some(place) = target.place {
                self.touch(place);
                if atomic {
                    self.lines.dirty[place] |= target.sectors;
                }
            }
            self.stats.hits += 1;
            return Access::Hit;
        }
        // room for the fetch, and for a victim before it
        if self.outgoing.len() + 2 > self.settings.miss_queue as usize {
            return Access::Stall;
        }
        let wanted = if self.settings.sectored { target.sectors } else { self.full };
        let missing = wanted & !valid;
        if reserved & missing == missing
            && let Some(place) = target.place
            && let Some(fetch) = self.mshrs.find(place, target.tag, missing)
        {
            if !self.mshrs.may_merge(fetch) {
                return Access::Stall;
            }
            self.touch(place);
            self.mshrs.merge(fetch, request, atomic);
            return Access::Merged;
        }
        if !self.mshrs.has_free() {
            return Access::Stall;
        }
        let Some(place) = self.allocate(&target) else { return Access::Stall };
        self.lines.reserved[place] |= missing;
        let id = self.mshrs.start(target.tag, missing, place, request, atomic);
        self.outgoing.push_back(Request { sectors: self.outside(target.tag, missing), id, ..request });
        self.stats.misses += 1;
        Access::Miss
    }

    fn store(&mut self, request: Request, target: Target) -> Access {
        let back = self.settings.write == WritePolicy::Back;
        let there =
            target.place.is_some_and(|place| self.lines.valid[place] & target.sectors == target.sectors);
        let takes = there || self.settings.write_miss == WriteMiss::Allocate;
        let absorbed = back && takes;
        if !(absorbed && there) && self.outgoing.len() >= self.settings.miss_queue as usize {
            return Access::Stall;
        }
        if self.settings.write == WritePolicy::Evict {
            if let Some(place) = target.place {
                self.lines.valid[place] &= !target.sectors;
            }
        } else if takes {
            let Some(place) = self.allocate(&target) else { return Access::Stall };
            self.lines.valid[place] |= target.sectors;
            if back {
                self.lines.dirty[place] |= target.sectors;
            }
        }
        if there {
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

    /// The place of the target's line, which is taken if it has none yet.
    fn allocate(&mut self, target: &Target) -> Option<usize> {
        let place = match target.place {
            Some(place) => place,
            None => self.victim(target.set)?,
        };
        if target.place.is_none()
            && let Some(tag) = self.lines.tags.at(place)
            && self.lines.dirty[place] != 0
        {
            self.stats.write_backs += 1;
            self.outgoing.push_back(Request {
                line: tag >> self.part_bits,
                sectors: self.outside(tag, self.lines.dirty[place]),
                kind: RequestKind::WriteBack,
                sm: 0,
                id: u32::MAX,
            });
        }
        self.take(place, target);
        Some(place)
    }

    fn take(&mut self, place: usize, target: &Target) {
        if target.place.is_some() {
            return self.touch(place);
        }
        self.lines.tags.put(target.tag, place);
        self.lines.tags.move_to_end(place);
        self.lines.valid[place] = 0;
        self.lines.dirty[place] = 0;
        self.lines.reserved[place] = 0;
    }

    /// A line that is there is used.
    fn touch(&mut self, place: usize) {
        if self.settings.replacement == Replacement::Lru {
            self.lines.tags.move_to_end(place);
        }
    }

    /// The place of a set that makes room; none if all wait for data.
    fn victim(&mut self, set: usize) -> Option<usize> {
        let Lines { tags, reserved, .. } = &self.lines;
        let mut free = tags.in_order(set).filter(|&place| reserved[place] == 0);
        if self.settings.replacement != Replacement::Random {
            return free.next();
        }
        let ways = self.settings.ways as usize;
        let mut free = (set * ways..(set + 1) * ways).filter(|&place| reserved[place] == 0);
        let count = free.clone().count() as u64;
        let empty = free.clone().find(|&place| tags.at(place).is_none());
        // where nothing is drawn from, nothing is drawn: it makes no difference how often somebody tries
        if count == 0 {
            return None;
        }
        empty.or_else(|| {
            let drawn = (u64::from(self.rng.next_u32()) * count) >> 32;
            free.nth(drawn as usize)
        })
    }

    /// Sectors of one of this cache's lines as sectors of the 128-byte line.
    fn outside(&self, tag: u64, sectors: u8) -> u8 {
        let part = tag & ((1 << self.part_bits) - 1);
        sectors << (part << (2 - self.part_bits))
    }
}

#[cfg(test)]
#[path = "cache_tests.rs"]
mod tests;
