//! What the requests of a launch cost together.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};

use super::lines::{LineState, Lines, Sets};
use super::outstanding::Outstanding;
use super::path::Path;
use crate::parts::{Beside, Part};
use crate::resident::Residency;
use warpbound_core::machine::memory::{CacheSettings, WriteMiss, WritePolicy};
use warpbound_core::machine::{Mapping, place_of};
use warpbound_core::path::{LineUse, Step};
use warpbound_core::program::{Access, TimingTable};

/// What is known of the L2 after the launches so far: nothing is in it, or only these lines are, or
/// its content is unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemoryLeft {
    is_unknown: bool,
    /// For each line of 128 bytes, the sectors that can be read, as a mask.
    lines: BTreeMap<u64, u8>,
}

impl MemoryLeft {
    /// Returns the state after launches that were not analysed.
    pub fn unknown() -> Self {
        Self { is_unknown: true, ..Self::default() }
    }
}

/// What a launch finds in memory.
#[derive(Clone, Copy, Debug)]
pub struct AtStart<'a> {
    /// What earlier launches have left.
    pub left: &'a MemoryLeft,
    /// The regions that have been copied to the L2 since, by address and number of bytes.
    pub copied: &'a [(u64, u64)],
    /// The shared memory of a block in bytes.
    pub shared_bytes: u64,
}

/// Whether lines of the caches stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::pipelined) enum Stays {
    /// Any line may be replaced at any time.
    No,
    /// No line of the L2 is replaced during the launch.
    Yes,
    /// Nor is a line of an L1, and no sector of it has to be fetched twice.
    InL1,
}

impl Stays {
    /// The cases, each with more premises than the one before.
    pub const ALL: [Self; 3] = [Self::No, Self::Yes, Self::InL1];
}

/// The number of sets of an L1 above which what waits for them is not counted set by set.
const MOST_SETS: usize = 1024;

/// The requests of a launch.
#[derive(Clone, Debug)]
pub(in crate::pipelined) struct LaunchMemory {
    path: Path,
    mapping: Option<Mapping>,
    l1: Option<Sets>,
    l2: Option<Sets>,
    lines: Lines,
    is_unknown: bool,
    /// Whether some sector is loaded and stored.
    stores_what_is_loaded: bool,
    /// The requests by slice, and those that an L1 or a register for misses may have to wait for.
    of_slice: Vec<u64>,
    l1_loads: u64,
    /// The number of sets of the L1, if what waits for them is counted set by set.
    l1_sets: usize,
    /// The loads and atomics that reach the L2, by slice, if any of them may miss.
    l2_loads: Vec<u64>,
    /// The fetches by slice if lines of the L2 stay.
    new_of_slice: Vec<u64>,
    /// The requests that may go to DRAM although lines of the L2 stay, by channel.
    of_channel: Vec<u64>,
    banks: HashMap<(u64, u64), Rows>,
    /// Services of requests at slices, for several SMs; of the write-back; of DRAM if lines of the L2
    /// stay, and if not.
    at_slices: u64,
    /// The services of replies that may come from DRAM, on machines where others do not: if lines of
    /// the L2 stay, and if not.
    late_replies_stays: u64,
    late_replies: u64,
    write_backs: u64,
    dram_stays: u64,
    dram: u64,
    /// The stores of the present block, and the most replies that may be under way for a block.
    stores: u64,
    most_replies: u64,
    /// The loads of an L1 before the present block, and the most of any block.
    l1_loads_before: u64,
    most_l1_loads: u64,
    outstanding: Outstanding,
    /// The places of the requests of the present access, and the number of these requests.
    places: Vec<u32>,
    waiting: u32,
}

/// The rows of a bank that requests need.
#[derive(Clone, Copy, Debug, Default)]
struct Rows {
    first: Option<u64>,
    are_several: bool,
    requests: u64,
}

/// What one transaction costs.
#[derive(Clone, Copy, Debug)]
pub(in crate::pipelined) struct Sent {
    /// The service on the SM and behind the entrance of the slice.
    pub service: u64,
    /// Whether it may go to DRAM although lines of the L2 stay.
    pub fetches: bool,
    /// Whether it hits in the L1 if lines stay there, too.
    pub hits_l1: bool,
}

impl LaunchMemory {
    pub fn new(path: Path, at_start: AtStart) -> Self {
        let (slices, channels) = path
            .partitions
            .as_ref()
            .map_or((0, 0), |partitions| (partitions.channels * partitions.slices, partitions.channels));
        let l1_sets = path.l1.as_ref().map_or(0, |l1| l1.sets as usize);
        let l1_sets = if l1_sets <= MOST_SETS { l1_sets } else { 0 };
        let mapping = path.partitions.as_ref().map(Mapping::new);
        let l2 = path.l2().map(|l2| Sets::new(l2.ways));
        let mut memory = Self {
            l1: path.l1.as_ref().map(|l1| Sets::new(l1.ways)),
            path,
            mapping,
            l2,
            lines: Lines::default(),
            stores_what_is_loaded: false,
            is_unknown: at_start.left.is_unknown,
            of_slice: vec![0; slices as usize],
            l1_loads: 0,
            l2_loads: vec![0; slices as usize],
            of_channel: vec![0; channels as usize],
            banks: HashMap::new(),
            at_slices: 0,
            late_replies_stays: 0,
            late_replies: 0,
            write_backs: 0,
            dram_stays: 0,
            dram: 0,
            stores: 0,
            most_replies: 0,
            l1_loads_before: 0,
            most_l1_loads: 0,
            outstanding: Outstanding::new(l1_sets + slices as usize),
            l1_sets,
            places: Vec::new(),
            waiting: 0,
            new_of_slice: vec![0; slices as usize],
        };
        memory.find(at_start);
        memory
    }

    /// Records the lines that are in the L2 when the launch starts.
    fn find(&mut self, at_start: AtStart) {
        let lines = |&(address, bytes): &(u64, u64)| {
            address / LineUse::LINE_BYTES..(address + bytes).div_ceil(LineUse::LINE_BYTES)
        };
        let copied = at_start.copied.iter().flat_map(lines).map(|line| (line, 0b1111));
        for (line, readable) in
            at_start.left.lines.iter().map(|(&line, &sectors)| (line, sectors)).chain(copied)
        {
            if !self.l2_stays() {
                return;
            }
            (0..4).for_each(|sector| self.touch_l2(line, 1 << sector, false));
            if let Some(state) = self.lines.at(line) {
                state.readable |= readable;
            }
        }
    }

    /// Returns what the launch leaves in the L2.
    pub fn leaves(&self) -> MemoryLeft {
        match (&self.l2, self.lines.all()) {
            (None, _) => MemoryLeft::default(),
            (Some(_), Some(all)) if self.l2_stays() => {
                // a load may have hit in the L1 because of stores that the L2 has not kept
                let readable = |state: &LineState| {
                    let lost = if self.path.l1_reads_l2 { 0 } else { state.stored };
                    state.readable | state.loaded & !lost
                };
                let lines = all.map(|(&line, state)| (line, readable(state))).collect();
                MemoryLeft { is_unknown: false, lines }
            }
            (Some(_), _) => MemoryLeft::unknown(),
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns whether the lines of this case have stayed so far.
    pub fn stays(&self, stays: Stays) -> bool {
        match stays {
            Stays::No => true,
            Stays::Yes => self.l2_stays(),
            Stays::InL1 => self.l2_stays() && self.keeps_l1(),
        }
    }

    fn l2_stays(&self) -> bool {
        let stays = |l2: &CacheSettings| l2.write != WritePolicy::Evict;
        if self.path.partitions.is_none() {
            return true;
        }
        !self.is_unknown
            && self.path.one_slice_per_line
            && self.path.l2().is_some_and(stays)
            && self.l2.as_ref().is_some_and(Sets::keeps_all)
            && self.lines.all().is_some()
    }

    /// Records that sectors of a line are looked up in the L2.
    fn touch_l2(&mut self, line: u64, sectors: u8, fetches: bool) {
        let (Some(l2), Some(mapping), Some(sets)) = (self.path.l2(), &self.mapping, &mut self.l2) else {
            return;
        };
        let bits = l2.sets.trailing_zeros();
        let address = address(line, sectors);
        let set = place_of(mapping.line(address), bits, l2.index) as u64;
        let key = (mapping.slice(address) as u64) << bits | set;
        sets.touch(key, address / u64::from(l2.line), fetches);
    }

    /// Begins a block.
    pub fn begin_block(&mut self) {
        self.stores = 0;
        self.l1_loads_before = self.l1_loads;
    }

    /// Ends the block.
    pub fn end_block(&mut self) {
        let replies = self.stores + self.outstanding.of_block();
        self.most_replies = self.most_replies.max(replies);
        self.most_l1_loads = self.most_l1_loads.max(self.l1_loads - self.l1_loads_before);
        self.outstanding.end_block();
    }

    /// Begins a warp.
    pub fn begin_warp(&mut self, table: &TimingTable) {
        self.outstanding.begin_warp(table.regs());
    }

    /// Ends the warp.
    pub fn end_warp(&mut self) {
        self.outstanding.end_warp();
    }

    /// Begins the warp's next instruction.
    pub fn before(&mut self, table: &TimingTable, step: Step) {
        self.outstanding.wait(table, step);
        self.places.clear();
        self.waiting = 0;
    }

    /// Ends the instruction, whose requests have been recorded.
    pub fn after(&mut self, table: &TimingTable, step: Step) {
        self.outstanding.overwrite(table, step);
        if self.waiting > 0 {
            self.outstanding.issue(table, step, self.waiting, &self.places);
        }
    }

    /// Records results of any kind that are written on the SM.
    pub fn writes(&mut self, service: u64) {
        self.write_backs += service;
    }

    /// Records a transaction of an access to global or local memory; `is_first` states whether it is
    /// the first one of the access in the line. `end` is the service that its reply needs on the SM;
    /// `alone` states whether the service at slices counts by itself, because several SMs share
    /// them.
    pub fn send(
        &mut self,
        access: Access,
        (line, sectors): (u64, u8),
        is_first: bool,
        (end, alone): (u64, bool),
    ) -> Sent {
        let is_store = access == Access::Store;
        let bypasses = access == Access::Atomic;
        let scale = self.path.scale;
        let bytes = u64::from(sectors.count_ones()) * LineUse::SECTOR_BYTES;
        let sent = if is_store { bytes } else { self.path.sent(bytes, bypasses) };
        let of_l1 = self.path.l1.as_ref().filter(|_| sent > bytes);
        let sectors_sent = of_l1.map_or(sectors, |l1| around(sectors, l1.line));
        self.stores += u64::from(is_store);
        self.waiting += u32::from(!is_store);
        let behind = self.path.behind(sent, end);
        let mut service = behind;
        if alone {
            self.at_slices += self.path.behind(sent, 0);
            service = end.max(scale);
        }
        // the line that a write-back L1 writes later, because of this store
        let copies = match &self.path.l1 {
            Some(l1) if is_store && l1.write == WritePolicy::Back => 2,
            _ => 1,
        };
        if copies == 2 {
            let later = self.path.behind(bytes, 0) + self.path.ticks(1);
            if alone {
                self.at_slices += later;
                service += scale;
            } else {
                service += later.max(scale);
            }
        }
        if self.path.l1.is_some() && self.path.has_atomics && !bypasses {
            // atomics take a shorter way to the port
            service += scale;
        }
        if !is_store && !bypasses {
            // a bank looks up the transactions of an access in a line one after the other, so that
            // they need a way only once
            let together = self.path.banks == 1 && self.path.l1.as_ref().is_some_and(|l1| l1.line == 128);
            self.touch_l1(line, sectors, is_first || !together);
            self.l1_loads += u64::from(self.path.l1.is_some());
        } else if is_store && self.path.l1.as_ref().is_some_and(|l1| l1.write_miss == WriteMiss::Allocate) {
            self.touch_l1(line, sectors, false);
        }
        let hits_l1 = !is_store && !bypasses && self.path.l1.is_some() && self.was_loaded(line, sectors);
        let fetches = self.partitions(line, sectors_sent, (access, sent), copies);
        if self.path.dram.is_some() {
            // others may hit, and replies may prevent requests to DRAM, so that a request that waits for
            // DRAM counts on its way there and on its way back
            let may_wait = !is_store || self.path.forwards_stores();
            self.late_replies_stays += if fetches { behind } else { 0 };
            self.late_replies += if may_wait { behind } else { 0 };
        }
        Sent { service, fetches, hits_l1 }
    }

    /// Records a request in the partitions, and returns whether it may go to DRAM although lines of
    /// the L2 stay.
    fn partitions(&mut self, line: u64, sectors: u8, (access, bytes): (Access, u64), copies: u64) -> bool {
        let is_store = access == Access::Store;
        let address = address(line, sectors);
        let Some((slice, inner)) =
            self.mapping.as_ref().map(|mapping| (mapping.slice(address), mapping.inner(address)))
        else {
            self.note_line(line, sectors, access);
            return false;
        };
        self.of_slice[slice] += copies;
        if !is_store {
            self.l2_loads[slice] += 1;
            self.places.push((self.l1_sets + slice) as u32);
        }
        self.touch_l2(line, sectors, !is_store);
        let may_fetch = !is_store && self.may_fetch(line, sectors);
        let new = self.note_line(line, sectors, access);
        let Some(dram) = &self.path.dram else { return false };
        let channel =
            slice / self.path.partitions.as_ref().map_or(1, |partitions| partitions.slices as usize);
        // lines do not stay
        let fetched = self.path.fetched_bytes(bytes);
        let fill = if self.l2.is_some() { self.path.ticks(self.path.port(fetched)) } else { 0 };
        // the rest of this is part of the reply
        let reply = self.path.behind(0, 0);
        let forwards = is_store && self.path.forwards_stores();
        let writes_back = self.path.l2().is_some_and(|l2| l2.write == WritePolicy::Back);
        // with a single place, a slice that passes a request on to DRAM looks nothing up
        let single = self.path.partitions.as_ref().is_some_and(|partitions| partitions.queue == 1);
        let passed_on = if single && self.l2.is_some() { self.path.ticks(1) } else { 0 };
        let read = passed_on + dram.service(fetched, false, (fill, reply));
        let write = passed_on + dram.service(bytes, true, (0, reply));
        // an atomic makes all sectors dirty that come with its own
        let together = !self.path.by_sector || self.path.l2().is_some_and(|l2| !l2.sectored);
        let whole = access == Access::Atomic && together;
        let dirty = if whole { bytes.max(self.path.l2().map_or(0, |l2| l2.line.into())) } else { bytes };
        let write_back = passed_on + dram.service(dirty, true, (0, 0));
        let has_l2 = self.l2.is_some();
        let row = if has_l2 { dram.row() } else { 0 };
        self.dram += if is_store { u64::from(forwards) * copies * (write + row) } else { read + row };
        if has_l2 && (access == Access::Atomic || is_store && writes_back) {
            self.dram += copies * (write_back + row);
        }
        // lines stay
        let fetches = u64::from(new != 0);
        self.dram_stays += if forwards { copies * write } else { fetches * read };
        self.new_of_slice[slice] += if is_store { 0 } else { fetches };
        self.of_channel[channel] += if !has_l2 || forwards { copies } else { fetches };
        let mut open = |inner: u64, requests: u64| {
            let (bank, row) = dram.place(inner);
            let rows = self.banks.entry((channel as u64, bank)).or_default();
            rows.requests += requests;
            rows.are_several |= rows.first.is_some_and(|first| first != row);
            rows.first = Some(row);
        };
        if !has_l2 || forwards {
            open(inner, copies);
        } else {
            // a fetch begins with any of these sectors
            for sector in (0..4).filter(|sector| new >> sector & 1 == 1) {
                let inner = |mapping: &Mapping| mapping.inner(self::address(line, 1 << sector));
                open(self.mapping.as_ref().map_or(0, inner), 1);
            }
        }
        forwards || may_fetch
    }

    /// Returns whether a load of these sectors may miss although lines of the L2 stay.
    fn may_fetch(&mut self, line: u64, sectors: u8) -> bool {
        if self.l2.is_none() {
            return true;
        }
        let (outstanding, reads_l2) = (&self.outstanding, self.path.l1_reads_l2);
        self.lines.at(line).is_none_or(|state| {
            let missing = |sector: &usize| sectors & !state.readable & 1 << sector != 0;
            let was_loaded = |sector: usize| reads_l2 && outstanding.is_answered(state.in_l2[sector]);
            (0..4).filter(missing).any(|sector| !was_loaded(sector))
        })
    }

    /// Returns whether the same warp has loaded these sectors before, and the loads are complete.
    fn was_loaded(&mut self, line: u64, sectors: u8) -> bool {
        let outstanding = &self.outstanding;
        self.lines.at(line).is_some_and(|state| {
            let wanted = |sector: &usize| sectors & 1 << sector != 0;
            (0..4).filter(wanted).all(|sector| outstanding.is_answered(state.in_l1[sector]))
        })
    }

    /// Records the use of a line, and returns the sectors that the L2 may have to fetch, if its lines
    /// stay. A request joins a fetch only if that brings all that it needs, so that each set of
    /// sectors may be fetched once.
    fn note_line(&mut self, line: u64, sectors: u8, access: Access) -> u8 {
        let whole_lines = self.path.l2().filter(|l2| !l2.sectored);
        let of_l2 = whole_lines.map_or(sectors, |l2| around(sectors, l2.line));
        let load = self.outstanding.next();
        let Some(state) = self.lines.at(line) else { return 0 };
        if access == Access::Store {
            state.stored |= sectors;
            self.stores_what_is_loaded |= state.stored & state.loaded != 0;
            return 0;
        }
        let first = sectors.trailing_zeros().min(3) as usize;
        state.loads[first] = state.loads[first].saturating_add(1);
        let among = |sectors: u8| (0..4).filter(move |sector| sectors & 1 << sector != 0);
        if access == Access::Atomic {
            // what an atomic brings does not reach the L1
            state.has_atomics = true;
        } else {
            among(sectors).for_each(|sector| state.in_l1[sector] = load);
            among(of_l2).for_each(|sector| state.in_l2[sector] = load);
            state.sets_of_l1 |= 1 << sectors;
        }
        let is_new = state.sets_of_l2 >> of_l2 & 1 == 0 || !self.path.exact_requests;
        state.sets_of_l2 |= 1 << of_l2;
        let new = if is_new { of_l2 & !state.readable } else { 0 };
        state.fetches = state.fetches.saturating_add(u32::from(new != 0));
        state.loaded |= of_l2;
        self.stores_what_is_loaded |= state.stored & state.loaded != 0;
        new
    }

    /// Records that a transaction reaches the tags of the L1.
    fn touch_l1(&mut self, line: u64, sectors: u8, fetches: bool) {
        let (Some(l1), Some(sets)) = (&self.path.l1, &mut self.l1) else { return };
        let parts = LineUse::LINE_BYTES / u64::from(l1.line);
        let part = u64::from(sectors.trailing_zeros().min(3)) * parts / 4;
        let number = line * parts + part;
        let set = place_of(number, l1.sets.trailing_zeros(), l1.index) as u64;
        sets.touch(set, number, fetches);
        if fetches && self.l1_sets > 0 {
            self.places.push(set as u32);
        }
    }

    /// Returns the services that the launch adds to those of its blocks.
    pub fn beside(&self, residency: &Residency, stays: Stays) -> Beside {
        let sms = residency.used_sms();
        let places = u64::from(residency.places);
        let replies = self.most_replies.saturating_mul(places);
        let late = if stays == Stays::No { self.late_replies } else { self.late_replies_stays };
        let mut memory = self.at_slices + self.entrances() + late;
        if let Some(partitions) = &self.path.partitions
            && sms > 1
            && replies >= u64::from(partitions.crossbar_queue)
        {
            // replies of another SM may be in front, and wait until it has written its results
            memory += self.write_backs;
        }
        let dram = match stays {
            Stays::Yes | Stays::InL1 => self.dram_stays + self.rows(),
            Stays::No if self.l2.is_none() => self.dram + self.rows(),
            Stays::No => self.dram + self.dirty_at_start(),
        };
        let waits = self.waits(stays, residency);
        Beside::new(vec![(Part::Memory, memory), (Part::Dram, dram), (Part::Misses, waits)])
    }

    /// Returns how many times an L1 may be unable to track another fetch on the SM that the bound
    /// follows, if all of a launch's loads on one SM made that `times`, and each time takes `by`
    /// other loads.
    fn on_an_sm(&self, residency: &Residency, times: u64, by: u32) -> u64 {
        let sms = residency.used_sms() as u64;
        let of_blocks = |blocks: u64| times.min(blocks * self.most_l1_loads / u64::from(by));
        if sms <= 1 {
            times
        } else if residency.all_at_once() {
            of_blocks(u64::from(residency.blocks).div_ceil(sms))
        } else {
            // the mean over the SMs until the last block is placed, and then those of one SM
            times.div_ceil(sms) + of_blocks(residency.places.into())
        }
    }

    /// Returns the service of requests that are delivered to slices, if a slice may be full.
    fn entrances(&self) -> u64 {
        let Some(partitions) = &self.path.partitions else { return 0 };
        let of_slices = self.by_slice(&self.of_slice);
        let may_wait = of_slices.iter().filter(|&&requests| requests > u64::from(partitions.queue));
        // a request may count in front of the entrance although it is served behind it later
        self.path.ticks(1).max(self.path.scale) * may_wait.sum::<u64>()
    }

    /// Returns numbers of requests by slice, or only their sum if the slice of a request depends on the
    /// sectors that are missing when it is sent.
    fn by_slice<'n>(&self, numbers: &'n [u64]) -> Cow<'n, [u64]> {
        if self.path.one_slice_per_line {
            Cow::Borrowed(numbers)
        } else {
            Cow::Owned(vec![numbers.iter().sum()])
        }
    }

    /// Returns the service of opening rows, if all requests are known.
    fn rows(&self) -> u64 {
        let Some(dram) = &self.path.dram else { return 0 };
        // otherwise the bank of a request depends on the sectors that are missing when it is sent
        let is_known = self.path.one_slice_per_line && dram.one_bank_per_line();
        let of_bank = |rows: &Rows| if rows.are_several || !is_known { rows.requests } else { 1 };
        let opened = self.banks.values().map(of_bank);
        opened.sum::<u64>() * dram.row()
    }

    /// Returns the service of writing back what is in the L2 when the launch starts.
    fn dirty_at_start(&self) -> u64 {
        let (Some(l2), Some(dram)) = (self.path.l2(), &self.path.dram) else { return 0 };
        if !self.is_unknown {
            return 0;
        }
        let line = dram.service(l2.line.into(), true, (0, 0)) + dram.row();
        let lines = u64::from(l2.sets) * u64::from(l2.ways) * self.of_slice.len() as u64;
        line.saturating_mul(lines)
    }

    /// Returns the longest waits until a cache can track another fetch, one after the other.
    fn waits(&self, stays: Stays, residency: &Residency) -> u64 {
        let (places, sms) = (u64::from(residency.places), residency.used_sms() as u64);
        let fetches = stays == Stays::No || self.dram_stays > 0;
        let scale = self.path.scale;
        let mut sum = 0;
        let (loads, outstanding) = self.outstanding.most();
        let keeps_l1 = self.keeps_l1();
        if let (Some(l1), Some(sets)) = (&self.path.l1, &self.l1) {
            let keeps = keeps_l1;
            let on_an_sm = |times: u64, by: u32| self.on_an_sm(residency, times, by);
            let merged = self.merged(l1, loads * places, true, (keeps, u64::MAX));
            let full = sets.times_full(|set| {
                let set = if self.l1_sets > 0 { set as usize } else { usize::MAX };
                self.outstanding.most_at(set) * places
            });
            let mut times = on_an_sm(merged, l1.merge) + on_an_sm(full, l1.ways);
            if outstanding * places > u64::from(l1.mshrs) {
                let fetches = if keeps { self.l1_loads.min(self.fetches_of_l1()) } else { self.l1_loads };
                times += on_an_sm(fetches / u64::from(l1.mshrs), l1.mshrs);
            }
            sum += times * self.path.fetch_of_l1(fetches) * scale;
        }
        let (Some(partitions), true) = (&self.path.partitions, fetches) else { return sum };
        if let (Some(l2), Some(sets)) = (self.path.l2(), &self.l2) {
            let stays = stays != Stays::No;
            // an L1 that keeps its lines fetches each set of sectors once
            let one_set = self.path.by_sector || self.path.l1.as_ref().is_some_and(|l1| !l1.sectored);
            let most = if keeps_l1 && one_set { sms } else { u64::MAX };
            let mut times = self.merged(l2, loads * places * sms, false, (stays, most));
            let is_known = self.path.one_slice_per_line;
            let fetches = self.by_slice(if stays { &self.new_of_slice } else { &self.l2_loads });
            times += if is_known {
                sets.times_full(|_| outstanding * places * sms)
            } else if stays {
                0
            } else {
                fetches.iter().sum::<u64>() / u64::from(l2.ways)
            };
            for (slice, fetches) in fetches.iter().enumerate() {
                let place = if is_known { self.l1_sets + slice } else { usize::MAX };
                let waiting = self.outstanding.most_at(place) * places * sms;
                if waiting > u64::from(l2.mshrs) {
                    times += fetches / u64::from(l2.mshrs);
                }
            }
            sum += times * self.path.fetch_of_slice() * scale;
        }
        if let Some(dram) = &self.path.dram {
            let room = dram.places(partitions.slices.into());
            let of_channel = |requests: &u64| requests / room;
            let only_loads = stays != Stays::No && !self.path.forwards_stores();
            let held: u64 = if only_loads && outstanding * places * sms <= room {
                0
            } else if stays != Stays::No || self.l2.is_none() {
                self.by_slice(&self.of_channel).iter().map(of_channel).sum()
            } else {
                // a write-back for each request
                let all: u64 = self.of_slice.iter().sum();
                2 * all / room
            };
            sum += held * self.path.fetch_of_slice() * scale;
        }
        sum
    }

    /// Returns whether no line of the L1 is replaced and no sector of it has to be fetched twice.
    fn keeps_l1(&self) -> bool {
        let (Some(l1), Some(sets)) = (&self.path.l1, &self.l1) else { return false };
        let evicts = l1.write == WritePolicy::Evict && self.stores_what_is_loaded;
        sets.keeps_all() && !evicts && self.lines.all().is_some()
    }

    /// Returns the largest number of fetches of an L1 that keeps its lines.
    fn fetches_of_l1(&self) -> u64 {
        let sets = |state: &LineState| u64::from(state.sets_of_l1.count_ones());
        self.lines.all().map_or(u64::MAX, |all| all.map(|(_, state)| sets(state)).sum())
    }

    /// Returns how many times, one after the other, a fetch may serve as many requests as a cache
    /// allows. `loads` is the largest number of loads that wait at the same time; if the cache
    /// `keeps` its lines, each sector is fetched once; no more than `most` loads of each sector
    /// reach the cache.
    fn merged(&self, cache: &CacheSettings, loads: u64, is_l1: bool, (keeps, most): (bool, u64)) -> u64 {
        let by_sector = self.path.by_sector
            && cache.sectored
            && (is_l1 || self.path.l1.as_ref().is_none_or(|l1| l1.sectored));
        let merge = u64::from(cache.merge);
        let of_one = loads * if by_sector { 1 } else { 4 };
        let Some(all) = self.lines.all() else {
            return if is_l1 { self.l1_loads / merge } else { self.l2_loads.iter().sum::<u64>() / merge };
        };
        let times = |state: &LineState| {
            // an atomic may access a sector several times
            if of_one <= merge && !state.has_atomics {
                return 0;
            }
            let most = if state.has_atomics { u64::MAX } else { most };
            let times = state.times_merged(merge, by_sector, most);
            let fetches = if is_l1 { state.sets_of_l1.count_ones() } else { state.fetches };
            if keeps { times.min(fetches.into()) } else { times }
        };
        all.map(|(_, state)| times(state)).sum()
    }
}

/// Returns the address of a request.
fn address(line: u64, sectors: u8) -> u64 {
    line * LineUse::LINE_BYTES + u64::from(sectors.trailing_zeros().min(3)) * LineUse::SECTOR_BYTES
}

/// Returns the sectors of the lines of this many bytes in which these sectors lie.
fn around(sectors: u8, line: u32) -> u8 {
    let part = |mask: u8| if sectors & mask == 0 { 0 } else { mask };
    match line {
        128 => part(0b1111),
        64 => part(0b0011) | part(0b1100),
        _ => sectors,
    }
}
