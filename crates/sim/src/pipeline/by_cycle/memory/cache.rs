//! A cache: lists of lines with time stamps.

use std::collections::{BTreeMap, HashSet, VecDeque};

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::fetches::Fetches;
use super::index::place;
use super::{Kind, Request, Waits, words_of};
use crate::key::Key;
use warpbound_core::machine::memory::{CacheSettings, Replacement, SECTOR_BYTES, WriteMiss, WritePolicy};
use warpbound_trace::trace::CacheStats;

/// The outcome of a look-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Found {
    /// The data is there, or the cache keeps the data of the store.
    Hit,
    /// The request waits for a fetch.
    Waits,
    /// The store goes to the next level, which answers it.
    Forwarded,
    /// The request has to be repeated.
    Refused,
}

/// A sector of a line: whether it has been fetched, the words that stores have written, whether
/// it is present at all, and whether the next level has older data.
#[derive(Clone, Debug, Default)]
struct Sector {
    fetched: bool,
    written: Vec<u64>,
    present: bool,
    dirty: bool,
}

impl Sector {
    /// Returns whether a load can read it: it is present and was complete at some time.
    fn is_readable(&self) -> bool {
        self.present && (self.fetched || self.written.len() == 8)
    }
}

#[derive(Clone, Debug)]
struct Line {
    /// The address divided by the size of a line.
    number: u64,
    sectors: BTreeMap<u64, Sector>,
}

impl Line {
    fn key(&self, key: &mut Key) {
        key.put(self.number);
        key.list(&self.sectors, |key, (&sector, of)| {
            key.put(sector);
            let words = of.written.iter().fold(0, |words, word| words | 1 << (word % 8));
            let flags =
                [of.fetched, of.present, of.dirty].iter().fold(0, |all, &flag| all << 1 | u64::from(flag));
            key.put(words << 3 | flags);
        });
    }
}

/// A way of a set, and the time at which it last moved to the end of the order of replacement.
#[derive(Clone, Debug, Default)]
struct Way {
    line: Option<Line>,
    stamp: u64,
}

#[derive(Clone, Debug)]
pub(in super::super) struct Cache {
    settings: CacheSettings,
    sets: Vec<Vec<Way>>,
    time: u64,
    fetches: Fetches,
    /// The requests to the next level.
    pub outgoing: VecDeque<Request>,
    random: ChaCha8Rng,
    pub stats: CacheStats,
}

impl Cache {
    pub fn new(settings: &CacheSettings, seed: u64) -> Self {
        Self {
            settings: *settings,
            sets: vec![vec![Way::default(); settings.ways as usize]; settings.sets as usize],
            time: 0,
            fetches: Fetches::new(settings.mshrs, settings.merge),
            outgoing: VecDeque::new(),
            random: ChaCha8Rng::seed_from_u64(seed),
            stats: CacheStats::default(),
        }
    }

    /// Returns the size of a line in bytes.
    pub fn line_bytes(&self) -> u32 {
        self.settings.line
    }

    /// Looks up a request. `address` selects the set. It is the address of the request; for a slice
    /// of the L2, the bits that have selected the slice are left out of it.
    pub fn look_up(&mut self, request: &Request, address: u64) -> Found {
        let set = self.set_of(address);
        let found = if request.writes() { self.store(request, set) } else { self.load(request, set) };
        match found {
            Found::Refused => self.stats.stalls += 1,
            _ => self.stats.accesses += 1,
        }
        found
    }

    /// Receives the answer to a fetch.
    pub fn fill(&mut self, number: u64) {
        let fetch = self.fetches.arrive(number);
        let (line, set, sectors) = (fetch.line, fetch.set, fetch.sectors.clone());
        let atomic = fetch.waiting.iter().any(|request| request.kind == Kind::Atomic);
        let way = self.way_of(set, line).expect("a line that is fetched keeps its way");
        for sector in sectors {
            let sector = self.sector(set, way, sector);
            (sector.present, sector.fetched) = (true, true);
            sector.dirty |= atomic;
        }
    }

    /// Returns whether there is a request whose data has arrived.
    pub fn has_ready(&self) -> bool {
        self.fetches.has_arrived()
    }

    /// Removes and returns the next request whose data has arrived.
    pub fn next_ready(&mut self) -> Option<Request> {
        self.fetches.next()
    }

    /// Simulates that the host copies a sector to memory: it is in the cache afterwards.
    pub fn copy(&mut self, sector: u64, address: u64) {
        let (set, number) = (self.set_of(address), self.number(sector));
        if let Some(way) = self.way_for(set, number, false) {
            let sector = self.sector(set, way, sector);
            (sector.present, sector.fetched) = (true, true);
        }
    }

    pub fn is_idle(&self) -> bool {
        self.outgoing.is_empty() && self.fetches.is_empty()
    }

    fn number(&self, sector: u64) -> u64 {
        sector * SECTOR_BYTES / u64::from(self.settings.line)
    }

    fn set_of(&self, address: u64) -> usize {
        let number = address / u64::from(self.settings.line);
        place(number, self.settings.sets.ilog2(), self.settings.index) as usize
    }

    /// Returns the way that holds a line.
    fn way_of(&self, set: usize, number: u64) -> Option<usize> {
        self.sets[set].iter().position(|way| way.line.as_ref().is_some_and(|line| line.number == number))
    }

    /// Returns a sector of the line in a way.
    fn sector(&mut self, set: usize, way: usize, sector: u64) -> &mut Sector {
        let line = self.sets[set][way].line.as_mut().expect("the way holds the line");
        line.sectors.entry(sector).or_default()
    }

    /// Returns those of these sectors that are not in the line in `way`, or for which `holds`
    /// returns false.
    fn lacking(
        &self,
        set: usize,
        way: Option<usize>,
        sectors: &[u64],
        holds: impl Fn(&Sector) -> bool,
    ) -> Vec<u64> {
        let line = way.and_then(|way| self.sets[set][way].line.as_ref());
        let has = |sector: &u64| line.and_then(|line| line.sectors.get(sector)).is_some_and(&holds);
        sectors.iter().copied().filter(|sector| !has(sector)).collect()
    }

    fn load(&mut self, request: &Request, set: usize) -> Found {
        let number = self.number(request.sectors[0]);
        let way = self.way_of(set, number);
        if let Some(way) = way
            && self.lacking(set, Some(way), &request.sectors, Sector::is_readable).is_empty()
        {
            self.touch(set, way);
            if request.kind == Kind::Atomic {
                request.sectors.iter().for_each(|&sector| self.sector(set, way, sector).dirty = true);
            }
            self.stats.hits += 1;
            return Found::Hit;
        }
        // a fetch and the write-back of a victim need two places
        if self.outgoing.len() + 2 > self.settings.miss_queue as usize {
            return Found::Refused;
        }
        let all = u64::from(self.settings.line) / SECTOR_BYTES;
        let whole: Vec<u64> = (number * all..(number + 1) * all).collect();
        let part = u64::from(self.settings.fetch) / SECTOR_BYTES;
        let is_wanted = |sector: &u64| request.sectors.iter().any(|needed| needed / part == sector / part);
        let sectored = self.settings.sectored;
        let wanted: Vec<u64> = whole.into_iter().filter(|sector| !sectored || is_wanted(sector)).collect();
        let missing = self.lacking(set, way, &wanted, Sector::is_readable);
        match self.fetches.join(number, &missing, request) {
            Some(true) => {
                self.touch(set, way.expect("a line that is fetched has a way"));
                self.stats.merged += 1;
                return Found::Waits;
            }
            Some(false) => return Found::Refused,
            None if !self.fetches.has_room() => return Found::Refused,
            None => {}
        }
        if self.way_for(set, number, true).is_none() {
            return Found::Refused;
        }
        let fetch = self.fetches.start((set, number), missing.clone(), request);
        self.outgoing.push_back(Request { sectors: missing, waits: Waits::Fetch(fetch), ..request.clone() });
        self.stats.misses += 1;
        Found::Waits
    }

    fn store(&mut self, request: &Request, set: usize) -> Found {
        let number = self.number(request.sectors[0]);
        let way = self.way_of(set, number);
        let there = self.lacking(set, way, &request.sectors, |sector| sector.present).is_empty();
        let back = self.settings.write == WritePolicy::Back;
        let updates = self.settings.write != WritePolicy::Evict
            && (there || self.settings.write_miss == WriteMiss::Allocate);
        let stays = back && updates;
        // a store that goes on needs a place, and so may the write-back of a victim
        if !(stays && there) && self.outgoing.len() >= self.settings.miss_queue as usize {
            return Found::Refused;
        }
        if updates {
            let Some(way) = self.way_for(set, number, true) else { return Found::Refused };
            for &address in &request.sectors {
                let sector = self.sector(set, way, address);
                (sector.present, sector.dirty) = (true, sector.dirty || back);
                let of_sector = request.words.iter().filter(|&&word| word / 8 == address);
                sector.written.extend(of_sector);
                sector.written.sort_unstable();
                sector.written.dedup();
            }
        } else if self.settings.write == WritePolicy::Evict
            && let Some(way) = way
        {
            for &sector in &request.sectors {
                let sector = self.sector(set, way, sector);
                (sector.present, sector.fetched) = (false, false);
            }
        }
        if there {
            self.stats.hits += 1;
        } else {
            self.stats.misses += 1;
        }
        if stays {
            return Found::Hit;
        }
        self.outgoing.push_back(request.clone());
        Found::Forwarded
    }

    /// Records that a line that is present was used.
    fn touch(&mut self, set: usize, way: usize) {
        if self.settings.replacement == Replacement::Lru {
            self.time += 1;
            self.sets[set][way].stamp = self.time;
        }
    }

    /// Returns the way of a line. If the line has none, it gets that of a victim, whose dirty
    /// sectors are written back. Returns `None` if there is no victim.
    fn way_for(&mut self, set: usize, number: u64, writes_back: bool) -> Option<usize> {
        if let Some(way) = self.way_of(set, number) {
            self.touch(set, way);
            return Some(way);
        }
        let way = self.victim(set)?;
        let old = self.sets[set][way].line.replace(Line { number, sectors: BTreeMap::new() });
        self.time += 1;
        self.sets[set][way].stamp = self.time;
        let sectors = old.into_iter().flat_map(|line| line.sectors);
        let dirty: Vec<u64> = sectors.filter(|(_, sector)| sector.dirty).map(|(sector, _)| sector).collect();
        if writes_back && !dirty.is_empty() {
            self.stats.write_backs += 1;
            let (words, kind, waits) = (words_of(&dirty), Kind::WriteBack, Waits::Nobody);
            self.outgoing.push_back(Request { sectors: dirty, words, kind, waits, sm: 0 });
        }
        Some(way)
    }

    /// Selects the victim of a set among the ways whose lines wait for no data.
    fn victim(&mut self, set: usize) -> Option<usize> {
        let fetched: HashSet<u64> = self.fetches.lines_in_flight().collect();
        let waits = |line: &Line| fetched.contains(&line.number);
        let ways = self.sets[set].iter().enumerate();
        let free: Vec<(usize, &Way)> =
            ways.filter(|(_, way)| !way.line.as_ref().is_some_and(waits)).collect();
        match self.settings.replacement {
            Replacement::Lru | Replacement::Fifo => {
                free.iter().min_by_key(|(_, way)| way.stamp).map(|&(way, _)| way)
            }
            Replacement::Random => {
                let free: Vec<(usize, bool)> =
                    free.into_iter().map(|(way, of)| (way, of.line.is_none())).collect();
                if let Some(&(empty, _)) = free.iter().find(|(_, empty)| *empty) {
                    return Some(empty);
                }
                if free.is_empty() {
                    return None;
                }
                let drawn = u64::from(self.random.next_u32()) * free.len() as u64 / (1 << 32);
                Some(free[drawn as usize].0)
            }
        }
    }

    /// Adds the lines and the requests to the key of a state.
    pub fn key(&self, key: &mut Key) {
        for set in &self.sets {
            // only the order of the stamps matters, and those of ways without a line
            let mut stamps: Vec<u64> = set.iter().map(|way| way.stamp).collect();
            stamps.sort_unstable();
            stamps.dedup();
            let ways = set.iter().enumerate().filter(|(_, way)| way.line.is_some() || way.stamp > 0);
            let ways: Vec<(usize, &Way)> = ways.collect();
            key.list(ways, |key, (number, way)| {
                key.put(number as u64);
                key.put(stamps.partition_point(|&stamp| stamp < way.stamp) as u64);
                key.list(&way.line, |key, line| line.key(key));
            });
        }
        self.fetches.key(key);
        key.list(&self.outgoing, |key, request| request.key(key));
        if self.settings.replacement == Replacement::Random {
            key.put(self.random.get_word_pos() as u64);
        }
    }
}
