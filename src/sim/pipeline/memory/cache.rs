//! A set-associative cache, non-blocking.
//!
//! A line has four flags per sector: valid, dirty, and reserved for a fetch under way. Lines are
//! taken when the miss happens, so a line that waits for data cannot make room. A store covers
//! its sectors fully, as far as the cache is concerned; write-allocation therefore fetches nothing.

use std::collections::VecDeque;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::mshr::Mshrs;
use super::{Lower, Request, RequestKind, index};
use crate::machine::memory::{CacheSettings, Replacement, WriteMiss, WritePolicy};

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

/// What happened in a cache, in transactions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheStats {
    /// Requests that were not stalled.
    pub accesses: u64,
    /// Data, or the line of a store, was there.
    pub hits: u64,
    /// Neither was.
    pub misses: u64,
    /// Joined a fetch under way.
    pub merged: u64,
    /// Tries that had to be repeated.
    pub stalls: u64,
    /// Dirty lines written to the next level.
    pub write_backs: u64,
}

impl CacheStats {
    pub(in crate::sim::pipeline) fn add(&mut self, other: Self) {
        self.accesses += other.accesses;
        self.hits += other.hits;
        self.misses += other.misses;
        self.merged += other.merged;
        self.stalls += other.stalls;
        self.write_backs += other.write_backs;
    }
}

#[derive(Clone, Copy, Debug)]
struct Line {
    tag: u64,
    valid: u8,
    dirty: u8,
    reserved: u8,
    /// Ordinals of the accesses that used it last and that brought it in; 0 if it is empty.
    used: u64,
    since: u64,
}

const EMPTY: Line = Line { tag: u64::MAX, valid: 0, dirty: 0, reserved: 0, used: 0, since: 0 };

/// A cache: the data cache of an SM, or a slice of the L2.
///
/// What it sends to the next level carries, if it is a fetch, an id of the cache's own.
#[derive(Clone, Debug)]
pub struct Cache {
    settings: CacheSettings,
    lines: Vec<Line>,
    /// A copy of the tags, dense for the search.
    tags: Vec<u64>,
    set_bits: u32,
    /// Sectors of a line, as a shift of the 128-byte line's number and as a full mask.
    part_bits: u32,
    full: u8,
    ordinal: u64,
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
    first: usize,
    /// The way that holds the line.
    place: Option<usize>,
}

impl Cache {
    /// An empty cache. `seed` is for random replacement.
    pub fn new(settings: &CacheSettings, seed: u64) -> Self {
        let lines = settings.sets as usize * settings.ways as usize;
        let per_line = settings.line / 32;
        Self {
            settings: *settings,
            lines: vec![EMPTY; lines],
            tags: vec![EMPTY.tag; lines],
            set_bits: settings.sets.trailing_zeros(),
            part_bits: 2 - per_line.trailing_zeros(),
            full: ((1u16 << per_line) - 1) as u8,
            ordinal: 0,
            mshrs: Mshrs::new(settings.mshrs, settings.merge),
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

    /// Sends one waiting request to the memory behind an SM. Whether it could.
    pub fn send(&mut self, lower: &mut Lower, sm: usize) -> bool {
        let Some(&request) = self.outgoing() else { return false };
        let accepted = lower.accepts(sm, &request);
        if accepted {
            lower.push(sm, request);
            self.sent();
        }
        accepted
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
        let line = &mut self.lines[done.place];
        line.reserved &= !done.sectors;
        line.valid |= done.sectors;
        if done.atomic {
            line.dirty |= done.sectors;
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
            let request = Request { line, sectors: 1 << sector, kind: RequestKind::WriteBack, id: 0 };
            if sectors & request.sectors == 0 {
                continue;
            }
            let target = self.target(&request, number);
            let place = target.place.or_else(|| self.victim(target.first));
            if let Some(place) = place {
                self.take(place, &target);
                self.lines[place].valid |= target.sectors;
            }
        }
    }

    /// What happened so far.
    pub fn stats(&self) -> CacheStats {
        self.stats
    }

    fn target(&self, request: &Request, number: u64) -> Target {
        let part =
            if self.part_bits == 0 { 0 } else { request.sectors.trailing_zeros() >> (2 - self.part_bits) };
        let sectors = request.sectors >> (part << (2 - self.part_bits));
        debug_assert!(sectors & !self.full == 0, "a request spans lines of the cache: {request:?}");
        let within = |number: u64| number << self.part_bits | u64::from(part);
        let tag = within(request.line);
        let set = index::of(within(number), self.set_bits, self.settings.index);
        let ways = self.settings.ways as usize;
        let first = set * ways;
        let way = self.tags[first..first + ways].iter().position(|&t| t == tag);
        Target { tag, sectors: sectors & self.full, first, place: way.map(|way| first + way) }
    }

    fn load(&mut self, request: Request, target: Target) -> Access {
        let atomic = request.kind == RequestKind::Atomic;
        let line = target.place.map_or(EMPTY, |place| self.lines[place]);
        if line.valid & target.sectors == target.sectors {
            if let Some(place) = target.place {
                self.touch(place);
                if atomic {
                    self.lines[place].dirty |= target.sectors;
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
        let missing = wanted & !line.valid;
        if line.reserved & missing == missing
            && let Some(fetch) = self.mshrs.find(target.tag, missing)
        {
            if !self.mshrs.may_merge(fetch) {
                return Access::Stall;
            }
            if let Some(place) = target.place {
                self.touch(place);
            }
            self.mshrs.merge(fetch, request, atomic);
            return Access::Merged;
        }
        if !self.mshrs.has_free() {
            return Access::Stall;
        }
        let Some(place) = self.allocate(&target) else { return Access::Stall };
        self.lines[place].reserved |= missing;
        let id = self.mshrs.start(target.tag, missing, place, request, atomic);
        self.outgoing.push_back(Request { sectors: self.outside(target.tag, missing), id, ..request });
        self.stats.misses += 1;
        Access::Miss
    }

    fn store(&mut self, request: Request, target: Target) -> Access {
        let back = self.settings.write == WritePolicy::Back;
        let there =
            target.place.is_some_and(|place| self.lines[place].valid & target.sectors == target.sectors);
        let takes = there || self.settings.write_miss == WriteMiss::Allocate;
        let absorbed = back && takes;
        if !(absorbed && there) && self.outgoing.len() >= self.settings.miss_queue as usize {
            return Access::Stall;
        }
        if self.settings.write == WritePolicy::Evict {
            if let Some(place) = target.place {
                self.lines[place].valid &= !target.sectors;
            }
        } else if takes {
            let Some(place) = self.allocate(&target) else { return Access::Stall };
            let line = &mut self.lines[place];
            line.valid |= target.sectors;
            if back {
                line.dirty |= target.sectors;
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
            None => self.victim(target.first)?,
        };
        let old = self.lines[place];
        if old.tag != target.tag && old.dirty != 0 {
            self.stats.write_backs += 1;
            self.outgoing.push_back(Request {
                line: old.tag >> self.part_bits,
                sectors: self.outside(old.tag, old.dirty),
                kind: RequestKind::WriteBack,
                id: u32::MAX,
            });
        }
        self.take(place, target);
        Some(place)
    }

    fn take(&mut self, place: usize, target: &Target) {
        self.touch(place);
        if self.lines[place].tag != target.tag {
            let used = self.ordinal;
            self.lines[place] = Line { tag: target.tag, used, since: used, ..EMPTY };
            self.tags[place] = target.tag;
        }
    }

    fn touch(&mut self, place: usize) {
        self.ordinal += 1;
        self.lines[place].used = self.ordinal;
    }

    /// The line of a set that makes room; none if all wait for data.
    fn victim(&mut self, first: usize) -> Option<usize> {
        let set = &self.lines[first..first + self.settings.ways as usize];
        let free = set.iter().enumerate().filter(|(_, line)| line.reserved == 0);
        let chosen = match self.settings.replacement {
            Replacement::Lru => free.min_by_key(|(_, line)| line.used),
            Replacement::Fifo => free.min_by_key(|(_, line)| line.since),
            Replacement::Random => {
                let count = free.clone().count() as u64;
                let empty = free.clone().find(|(_, line)| line.tag == EMPTY.tag);
                empty.or_else(|| {
                    let drawn = (u64::from(self.rng.next_u32()) * count) >> 32;
                    free.clone().nth(drawn as usize)
                })
            }
        };
        chosen.map(|(way, _)| first + way)
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
