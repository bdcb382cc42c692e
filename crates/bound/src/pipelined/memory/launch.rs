//! The requests of a launch, one after the other, and what each of them costs.

use std::collections::BTreeMap;
use std::ops::Range;

use super::at_start::{AtStart, MemoryLeft, Stays};
use super::behind_l1::{BehindL1, LookedUp};
use super::constants::Constants;
use super::elsewhere::{SentElsewhere, Unplaced};
use super::lines::{BlockNumber, First, LineState, Lines, Sets};
use super::outstanding::{AtPlace, Outstanding};
use super::partial::PartialCosts;
use super::path::{Partitioned, Path, around};
use super::request::{RequestCost, bypasses_l1};
use super::untracked::Loads;
use crate::resident::Residency;
use warpbound_core::machine::memory::{CacheSettings, Partitions, WriteMiss, WritePolicy};
use warpbound_core::machine::place_of;
use warpbound_core::path::{Elsewhere, LineUse, Step};
use warpbound_core::program::{Access, TimingTable};

/// The number of sets of an L1 above which what waits for them is not counted set by set.
const MOST_SETS: usize = 1024;

/// The number of groups of lines, or of sectors, for each of which is counted how many loads wait at the
/// same time.
const GROUPS: usize = 256;

/// The requests of a launch.
#[derive(Clone, Debug)]
pub(in crate::pipelined) struct LaunchMemory {
    pub(super) path: Path,
    pub(super) l1: Option<Sets>,
    pub(super) l2: Option<Sets>,
    pub(super) constants: Option<Constants>,
    pub(super) lines: Lines,
    /// The number of lines that may be in the L2 when the launch starts; `None` if it is unknown.
    pub(super) left_lines: Option<u64>,
    /// Whether some sector is loaded and stored.
    pub(super) stores_what_is_loaded: bool,
    /// The requests by slice.
    pub(super) of_slice: Vec<u64>,
    /// The loads that an L1 looks up, and those of them that may need a way of their own.
    pub(super) l1_loads: Loads,
    pub(super) l1_ways: Loads,
    /// The number of sets of the L1, if what waits for them is counted set by set.
    pub(super) l1_sets: usize,
    /// The loads and atomics that reach the L2, by slice, if any of them may miss.
    pub(super) l2_loads: Vec<u64>,
    /// The fetches by slice if lines of the L2 stay.
    pub(super) new_of_slice: Vec<u64>,
    /// The requests that may go to DRAM although lines of the L2 stay, by channel.
    pub(super) of_channel: Vec<u64>,
    /// Their services in DRAM, without rows.
    pub(super) service_of_channel: Vec<u64>,
    /// The rows of the banks, channel by channel.
    pub(super) banks: Vec<Rows>,
    /// The services that count by themselves: that of requests at slices; below, that of the write-back,
    /// and that of DRAM.
    pub(super) at_slices: u64,
    /// What requests add that may wait for DRAM, as their replies count once more: if lines of the L2 stay, and
    /// if not.
    pub(super) late_replies_stays: u64,
    pub(super) late_replies: u64,
    /// What loads that look up an L1 add to `at_slices` and `late_replies_stays`.
    pub(super) behind_l1: BehindL1,
    /// The number of the present block.
    block: BlockNumber,
    /// The number of blocks that an SM receives, if it is known.
    pub(super) blocks_of_an_sm: Option<u64>,
    pub(super) write_backs: u64,
    /// That of DRAM if lines of the L2 stay, for requests whose places are known.
    pub(super) dram_stays: u64,
    pub(super) dram: u64,
    /// The stores of the present block, and the most replies that may be under way for a block.
    stores: u64,
    pub(super) most_replies: u64,
    pub(super) outstanding: Outstanding,
    /// The places of the requests of the present access, the number of these requests, and of those
    /// whose places are not known.
    places: Vec<AtPlace>,
    waiting: u32,
    waiting_elsewhere: u32,
    /// The costs of fetches for parts of loads.
    pub(super) partial: PartialCosts,
    /// The costs of the kinds of transactions so far.
    costs: Vec<(RequestKind, RequestCost)>,
    /// The requests whose places are not known.
    pub(super) unplaced: Unplaced,
    /// The regions in which they lie, by address and number of bytes, if these are known.
    pub(super) regions: Vec<(u64, u64)>,
    lie_in_regions: bool,
}

/// The rows of a bank that requests need.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rows {
    pub(super) first: Option<u64>,
    pub(super) are_several: bool,
    pub(super) requests: u64,
}

/// What the cost of a transaction depends on: the access, the sectors that it touches, and the `ends` of
/// [`Path::request`].
type RequestKind = (Access, u8, (u64, bool));

/// What the transactions of an access in a line cost.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::pipelined) struct Sent {
    /// The number of transactions.
    pub requests: u64,
    /// The service on the SM and behind the entrance of the slice.
    pub service: u64,
    /// The number of those that may go to DRAM although lines of the L2 stay.
    pub late: u64,
    /// Whether any may miss in the L1 although lines stay there, too.
    pub misses_l1: bool,
}

impl LaunchMemory {
    pub fn new(path: Path, table: &TimingTable, residency: &Residency, at_start: AtStart) -> Self {
        let (slices, channels, banks) = path.partitions.as_ref().map_or((0, 0, 0), |partitions| {
            let Partitions { channels, slices, .. } = partitions.settings;
            (channels * slices, channels, partitions.dram.banks())
        });
        let l1_sets = path.l1.as_ref().map_or(0, |l1| l1.sets as usize);
        let l1_sets = if l1_sets <= MOST_SETS { l1_sets } else { 0 };
        let l2 = path.l2().map(|l2| Sets::new(l2.ways));
        let mut memory = Self {
            l1: path.l1.as_ref().map(|l1| Sets::new(l1.ways)),
            constants: path.constants.map(Constants::new),
            partial: PartialCosts::new(&path),
            path,
            l2,
            lines: Lines::default(),
            stores_what_is_loaded: false,
            left_lines: (!at_start.left.is_unknown).then_some(at_start.left.lines.len() as u64),
            of_slice: vec![0; slices as usize],
            l1_loads: Loads::default(),
            l1_ways: Loads::default(),
            l2_loads: vec![0; slices as usize],
            of_channel: vec![0; channels as usize],
            service_of_channel: vec![0; channels as usize],
            banks: vec![Rows::default(); channels as usize * banks],
            at_slices: 0,
            late_replies_stays: 0,
            behind_l1: BehindL1::new(slices),
            block: 0,
            blocks_of_an_sm: residency.blocks_of_an_sm(),
            late_replies: 0,
            write_backs: 0,
            dram_stays: 0,
            dram: 0,
            stores: 0,
            most_replies: 0,
            outstanding: Outstanding::new(table, l1_sets + slices as usize + GROUPS),
            l1_sets,
            places: Vec::new(),
            costs: Vec::new(),
            waiting: 0,
            waiting_elsewhere: 0,
            new_of_slice: vec![0; slices as usize],
            unplaced: Unplaced::default(),
            regions: Vec::new(),
            lie_in_regions: false,
        };
        memory.find(at_start);
        memory
    }

    /// Records the lines that are in the L2 when the launch starts.
    fn find(&mut self, at_start: AtStart) {
        let copied = at_start.copied.iter().flat_map(lines_of).map(|line| (line, 0b1111));
        for (line, readable) in
            at_start.left.lines.iter().map(|(&line, &sectors)| (line, sectors)).chain(copied)
        {
            if !self.l2_stays() {
                return;
            }
            self.touch_whole_line(line);
            if let Some(state) = self.lines.at(line) {
                state.readable |= readable;
            }
        }
    }

    /// States that all requests whose places are not known lie in these regions, or are for constants.
    pub fn requests_lie_in(&mut self, regions: Vec<(u64, u64)>) {
        let is_readable = |line: u64| self.lines.get(line).is_some_and(|state| state.readable == 0b1111);
        self.path.loads_find_data = self.l2_stays() && regions.iter().flat_map(lines_of).all(is_readable);
        let of_constants = self.path.constants.iter().flat_map(|cache| cache.regions);
        self.regions = regions.into_iter().chain(of_constants).collect();
        self.lie_in_regions = true;
    }

    /// Records that any sector of a line may be looked up in the L2.
    fn touch_whole_line(&mut self, line: u64) {
        (0..4).for_each(|sector| {
            self.touch_l2(address(line, 1 << sector));
        });
    }

    /// Records requests of the present block whose places are not known.
    pub fn add_unplaced(&mut self, sums: Unplaced) {
        if sums == Unplaced::default() {
            return;
        }
        if self.unplaced == Unplaced::default() {
            // any line of the regions may be in the caches from now on
            let regions = std::mem::take(&mut self.regions);
            for line in regions.iter().flat_map(lines_of) {
                if !self.l2_stays() {
                    break;
                }
                self.touch_whole_line(line);
            }
            self.regions = regions;
        }
        self.unplaced = self.unplaced.with(sums, u64::saturating_add);
        add(&mut self.stores, sums.stores);
        self.l1_loads.add(sums.l1_loads);
        self.l1_ways.add(sums.l1_loads);
        self.constants.iter_mut().for_each(|constants| constants.look_up_anywhere(sums.constants));
        add(&mut self.at_slices, sums.at_slices);
        add(&mut self.late_replies, sums.late);
        add(&mut self.late_replies_stays, sums.late_stays);
        add(&mut self.dram, sums.dram);
    }

    /// Records the part of the present access whose place is not known, and returns its service.
    pub fn send_elsewhere(&mut self, access: Access, part: Elsewhere, ends: (u64, bool)) -> SentElsewhere {
        self.record_elsewhere(self.path.elsewhere(access, part, ends))
    }

    /// Records the part of a load of constants whose place is not known, and returns its service.
    pub fn send_constants_elsewhere(&mut self, part: Elsewhere, ends: (u64, bool)) -> SentElsewhere {
        self.record_elsewhere(self.path.constants_elsewhere(part, ends))
    }

    fn record_elsewhere(&mut self, sent: SentElsewhere) -> SentElsewhere {
        self.add_unplaced(sent.sums);
        if sent.sums.loads > 0 {
            self.waiting += sent.requests as u32;
            self.waiting_elsewhere += sent.requests as u32;
        }
        sent
    }

    /// Records that the warp may write this step's registers, or not.
    pub fn may_write(&mut self, table: &TimingTable, step: Step) {
        self.outstanding.overwrite(table, step);
    }

    /// Records loads of the present warp that may wait together with all its others.
    pub fn wait_elsewhere(&mut self, loads: u64, requests: u64) {
        self.outstanding.add_elsewhere(loads, requests);
    }

    /// Returns what the launch leaves in the L2, whichever paths its warps take. A request whose place
    /// depends on the path or on data may bring any line of the regions, and makes no sector readable.
    pub fn leaves(&self) -> MemoryLeft {
        match (&self.l2, self.lines.all()) {
            (None, _) => MemoryLeft::default(),
            (Some(_), Some(all)) if self.l2_stays() => {
                // a load may have hit in the L1 because of stores that the L2 has not kept
                let lost = |state: &LineState| match self.unplaced.stores {
                    _ if self.path.l1_reads_l2 => 0,
                    0 => state.stored,
                    _ => 0b1111,
                };
                let readable = |state: &LineState| state.readable | state.brought & !lost(state);
                let mut lines: BTreeMap<u64, u8> =
                    all.map(|(&line, state)| (line, readable(state))).collect();
                if self.unplaced != Unplaced::default() {
                    for line in self.regions.iter().flat_map(lines_of) {
                        lines.entry(line).or_insert(0);
                    }
                }
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
            Stays::InL1 => {
                let keeps_constants = self.constants.as_ref().is_none_or(Constants::keeps_all);
                self.l2_stays() && self.keeps_l1() && keeps_constants
            }
        }
    }

    pub(super) fn l2_stays(&self) -> bool {
        let stays = |l2: &CacheSettings| l2.write != WritePolicy::Evict;
        if self.path.partitions.is_none() {
            return true;
        }
        self.left_lines.is_some()
            && self.path.one_slice_per_line
            && self.path.l2().is_some_and(stays)
            && self.l2.as_ref().is_some_and(Sets::keeps_all)
            && self.lines.all().is_some()
            && (self.unplaced == Unplaced::default() || self.lie_in_regions)
    }

    /// Records that an address is looked up in the L2. Returns its slice, and the position of its set.
    fn touch_l2(&mut self, address: u64) -> (usize, usize) {
        let Some(Partitioned { settings, mapping, .. }) = &self.path.partitions else { return (0, 0) };
        let slice = mapping.slice(address);
        let (Some(l2), Some(sets)) = (&settings.l2, &mut self.l2) else { return (slice, 0) };
        let bits = l2.sets.trailing_zeros();
        let set = place_of(mapping.line(address), bits, l2.index) as u64;
        (slice, sets.touch((slice as u64) << bits | set, address / u64::from(l2.line)))
    }

    /// Begins a block.
    pub fn begin_block(&mut self) {
        self.block = self.block.saturating_add(1);
        self.stores = 0;
        self.l1_loads.begin_block();
        self.l1_ways.begin_block();
        self.constants.iter_mut().for_each(Constants::begin_block);
    }

    /// Ends the block.
    pub fn end_block(&mut self) {
        let replies = self.stores.saturating_add(self.outstanding.of_block());
        self.most_replies = self.most_replies.max(replies);
        self.l1_loads.end_block();
        self.l1_ways.end_block();
        self.outstanding.end_block();
        self.constants.iter_mut().for_each(Constants::end_block);
    }

    /// Begins a warp.
    pub fn begin_warp(&mut self, table: &TimingTable) {
        self.outstanding.begin_warp(table.regs());
    }

    /// Ends the warp.
    pub fn end_warp(&mut self) {
        self.outstanding.end_warp();
    }

    /// Records the warp's next instruction, which does not access memory.
    #[inline]
    pub fn pass(&mut self, table: &TimingTable, step: Step) {
        self.outstanding.wait(table, step);
        self.outstanding.overwrite(table, step);
        self.outstanding.signal(table, step, None);
    }

    /// Begins the warp's next instruction, which may access memory.
    pub fn before(&mut self, table: &TimingTable, step: Step) {
        self.outstanding.wait(table, step);
        self.places.clear();
        (self.waiting, self.waiting_elsewhere) = (0, 0);
    }

    /// Ends the instruction, whose requests have been recorded.
    pub fn after(&mut self, table: &TimingTable, step: Step) {
        self.outstanding.overwrite(table, step);
        let requests = (self.waiting, self.waiting_elsewhere);
        let load = (self.waiting > 0).then(|| self.outstanding.issue(table, step, requests, &self.places));
        self.outstanding.signal(table, step, load);
    }

    /// Records results of any kind that are written on the SM.
    pub fn writes(&mut self, service: u64) {
        add(&mut self.write_backs, service);
    }

    /// Records the transactions of an access to global or local memory in a line. `ends` is described
    /// at [`Path::request`].
    pub fn send(&mut self, access: Access, (line, sectors): (u64, u8), ends: (u64, bool)) -> Sent {
        let Some((first, requests)) = self.path.transactions(sectors) else { return Sent::default() };
        let is_store = access == Access::Store;
        let cost = self.request(access, first, ends);
        let all = |each: u64| each.saturating_mul(requests);
        if is_store {
            add(&mut self.stores, requests);
        } else {
            self.waiting += requests as u32;
        }
        add(&mut self.at_slices, all(cost.at_slices));
        self.look_up_l1(access, (line, sectors), requests);
        let l1 = self.path.l1.as_ref();
        let looks_up = !is_store && !bypasses_l1(access) && l1.is_some();
        let line_of_l1 = l1.filter(|_| cost.sent > bytes_of(first)).map_or(0, |l1| l1.line);
        let keeps_lines = self.path.keeps_lines;
        let service = all(cost.service).saturating_add(self.path.bank_waits(access, requests));
        let mut sent = Sent { requests, service, late: 0, misses_l1: !looks_up };
        let (mut part, mut left, mut slice) = (first, sectors, None);
        loop {
            let of_l2 = around(part, line_of_l1);
            let at = match slice.filter(|_| keeps_lines) {
                Some(at) => at,
                None => self.reach_slice(access, (line, of_l2), if keeps_lines { requests } else { 1 }),
            };
            slice = Some(at);
            let hits_l1 = looks_up && self.was_loaded(line, part);
            sent.misses_l1 |= looks_up && !hits_l1;
            let request = Request { line, sectors: of_l2, own: part, slice: at };
            if !is_store {
                self.places.push(AtPlace { place: self.group(line, part) as u32, requests: 1 });
            }
            let first = self.lines.at(line).filter(|_| looks_up).map(|state| state.look_up_in_l1(of_l2));
            let First { ever: is_first, in_block: is_first_in_block } = first.unwrap_or_default();
            let is_late = self.request_at(access, request, &cost);
            sent.late += u64::from(is_late);
            if !is_store && !is_late && !hits_l1 {
                self.behind_l1.note_answer_of_l2();
            }
            if looks_up {
                let (end, alone) = ends;
                let result = if alone { 0 } else { end.saturating_sub(self.path.scale) };
                let load = LookedUp { slice: at, is_first, is_first_in_block, is_late, result };
                self.behind_l1.load(load, &cost);
            }
            left &= !part;
            let Some((next, _)) = self.path.transactions(left) else { break };
            part = next;
        }
        if self.path.partitions.is_some() {
            add(&mut self.dram, all(cost.dram));
            // others may hit, and replies may prevent requests to DRAM, so that a request that waits for
            // DRAM counts on its way there and on its way back
            add(&mut self.late_replies_stays, sent.late.saturating_mul(cost.late));
            add(&mut self.late_replies, if cost.may_wait { all(cost.late) } else { 0 });
        }
        sent
    }

    /// Records the transactions of a load of constants in a line.
    pub fn send_constants(&mut self, (line, sectors): (u64, u8), ends: (u64, bool)) -> Sent {
        let Some(cache) = self.path.constants else { return Sent::default() };
        let mut sent = Sent::default();
        for fetched in cache.transactions(sectors) {
            // it goes to the L2 like any load that bypasses the L1
            let access = Access::LoadUncached;
            let cost = self.request(access, fetched, ends);
            let outstanding = &self.outstanding;
            let is_answered = |load| outstanding.is_answered(load);
            sent.misses_l1 |= self.constants.as_mut().is_none_or(|constants| {
                !constants.look_up(address(line, fetched), outstanding.next(), is_answered)
            });
            self.waiting += 1;
            sent.requests += 1;
            add(&mut sent.service, cost.service);
            add(&mut self.at_slices, cost.at_slices);
            let at = self.reach_slice(access, (line, fetched), 1);
            let request = Request { line, sectors: fetched, own: fetched, slice: at };
            let may_fetch = self.request_at(access, request, &cost);
            sent.late += u64::from(may_fetch);
            if !may_fetch {
                self.behind_l1.note_answer_of_l2();
            }
            if self.path.partitions.is_some() {
                add(&mut self.dram, cost.dram);
                add(&mut self.late_replies_stays, if may_fetch { cost.late } else { 0 });
                add(&mut self.late_replies, cost.late);
            }
        }
        sent
    }

    /// Returns the cost of a transaction, which is the same for many of them.
    fn request(&mut self, access: Access, part: u8, ends: (u64, bool)) -> RequestCost {
        let kind = (access, part, ends);
        if let Some((_, cost)) = self.costs.iter().find(|(known, _)| *known == kind) {
            return *cost;
        }
        let cost = self.path.request(access, (bytes_of(part), Some(part)), ends);
        self.costs.push((kind, cost));
        cost
    }

    /// Records that the transactions of an access in a line reach the tags of the L1.
    fn look_up_l1(&mut self, access: Access, (line, sectors): (u64, u8), requests: u64) {
        let (Some(l1), Some(sets)) = (&self.path.l1, &mut self.l1) else { return };
        let fetches = match access {
            Access::Store if l1.write_miss == WriteMiss::Allocate => false,
            Access::Store | Access::Atomic | Access::LoadUncached => return,
            Access::Load | Access::AsyncCopy | Access::Fence => true,
        };
        if fetches {
            self.l1_loads.add(requests);
        }
        let parts = LineUse::LINE_BYTES / u64::from(l1.line);
        // a bank looks up the transactions of an access in a line one after the other, so that they
        // need a way only once
        let together = self.path.banks == 1 && l1.line == 128;
        let block = self.block;
        let is_new = self.lines.at(line).is_none_or(|state| state.enter_block(block));
        let mut left = sectors;
        while let Some((first, _)) = self.path.transactions(left) {
            let of_line = left & around(first, l1.line);
            left &= !of_line;
            let count = self.path.transactions(of_line).filter(|_| fetches);
            let count = count.map_or(0, |(_, count)| if together { 1 } else { count });
            let part = u64::from(first.trailing_zeros().min(3)) * parts / 4;
            let number = line * parts + part;
            let set = place_of(number, l1.sets.trailing_zeros(), l1.index) as u64;
            let position = sets.touch(set, number);
            if is_new || l1.line < 128 {
                sets.touch_in_block(position, block);
            }
            sets.fetch(position, count);
            self.l1_ways.add(count);
            if count > 0 && self.l1_sets > 0 {
                self.places.push(AtPlace { place: set as u32, requests: count as u32 });
            }
        }
    }

    /// Returns the place at which loads are counted that may join the fetch of these sectors of a line.
    pub(super) fn group(&self, line: u64, sectors: u8) -> usize {
        let number = match self.path.joins_by_sector() {
            true => line << 2 | u64::from(sectors.trailing_zeros().min(3)),
            false => line,
        };
        self.l1_sets + self.of_slice.len() + number as usize % GROUPS
    }

    /// Records that requests of an access for sectors of a line reach their slice, and returns it.
    fn reach_slice(&mut self, access: Access, (line, sectors): (u64, u8), requests: u64) -> usize {
        let loads = if access == Access::Store { 0 } else { requests };
        let known = self.lines.at(line).and_then(|state| state.place);
        let (slice, set) = known.unwrap_or_else(|| {
            let place = self.touch_l2(address(line, sectors));
            if let Some(state) = self.lines.at(line).filter(|_| self.path.keeps_lines) {
                state.place = Some(place);
            }
            place
        });
        if let Some(sets) = &mut self.l2 {
            sets.fetch(set, loads);
        }
        if loads > 0 && self.path.partitions.is_some() {
            self.l2_loads[slice] += loads;
            self.places.push(AtPlace { place: (self.l1_sets + slice) as u32, requests: loads as u32 });
        }
        slice
    }

    /// Records a request for sectors of a line at its slice, and returns whether it may go to DRAM
    /// although lines of the L2 stay.
    fn request_at(&mut self, access: Access, request: Request, cost: &RequestCost) -> bool {
        let Request { line, sectors, slice, .. } = request;
        let is_store = access == Access::Store;
        let may_fetch = !is_store && self.may_fetch(line, self.path.joined_sectors(access, sectors));
        let (new, fetched) = self.note_line(request, access, cost.dram_stays);
        let Some(Partitioned { settings, mapping, dram }) = &self.path.partitions else { return false };
        let forwards = is_store && self.path.forwards_stores();
        self.of_slice[slice] += cost.copies;
        let service = if forwards || settings.l2.is_none() { cost.dram_stays } else { fetched };
        let channel = slice / settings.slices as usize;
        add(&mut self.dram_stays, service);
        add(&mut self.service_of_channel[channel], service);
        if !is_store {
            self.new_of_slice[slice] += u64::from(new != 0);
        }
        let (address, requests) = if settings.l2.is_none() || forwards {
            (address(line, sectors), cost.copies)
        } else if new != 0 {
            // any of these sectors; the bank matters only if it is the same for all of a line
            (address(line, new), 1)
        } else {
            return may_fetch;
        };
        self.of_channel[channel] += requests;
        let (bank, row) = dram.place(mapping.inner(address));
        let rows = &mut self.banks[channel * dram.banks() + bank as usize];
        rows.requests += requests;
        rows.are_several |= rows.first.is_some_and(|first| first != row);
        rows.first = Some(row);
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

    /// Records the use of a line. Returns the sectors that the L2 may have to fetch, if its lines stay, and
    /// the service that fetches of the line add in DRAM, given that of a fetch for all of this request. A
    /// request joins a fetch only if that brings all that it needs, so that each set of sectors may be
    /// fetched once.
    fn note_line(&mut self, request: Request, access: Access, service: u64) -> (u8, u64) {
        let Request { line, sectors, own, slice: _ } = request;
        let of_l2 = self.path.fetched_sectors(sectors);
        let load = self.outstanding.next();
        // a load that hits fetches nothing: it may find in the L2, or in an L1 into which stores write,
        // what a store has left there
        let brought = if self.path.l1_reads_l2 { sectors } else { own };
        let Some(state) = self.lines.at(line) else { return (0, 0) };
        if access == Access::Store {
            state.stored |= sectors;
            self.stores_what_is_loaded |= state.stored & state.loaded != 0;
            return (0, 0);
        }
        let first = sectors.trailing_zeros().min(3) as usize;
        let requests =
            if bypasses_l1(access) { &mut state.bypassing[first] } else { &mut state.loads[first] };
        *requests = requests.saturating_add(1);
        let among = |sectors: u8| (0..4).filter(move |sector| sectors & 1 << sector != 0);
        // what bypasses the L1 does not reach it
        if !bypasses_l1(access) {
            among(brought).for_each(|sector| state.in_l1[sector] = load);
        }
        if access != Access::Atomic {
            among(brought).for_each(|sector| state.in_l2[sector] = load);
        }
        let is_exact = self.path.exact_requests && !(bypasses_l1(access) && self.path.parts_of_constants());
        let missing = of_l2 & !state.readable;
        let (is_new, service) = match () {
            () if missing == 0 => (false, 0),
            () if is_exact => {
                let is_new = state.sets_of_l2 >> of_l2 & 1 == 0;
                state.sets_of_l2 |= 1 << of_l2;
                (is_new, if is_new { service } else { 0 })
            }
            () => state.partial.load(sectors, &self.partial),
        };
        let new = if is_new { missing } else { 0 };
        state.fetches = state.fetches.saturating_add(u32::from(is_new));
        state.loaded |= of_l2;
        state.brought |= brought;
        self.stores_what_is_loaded |= state.stored & state.loaded != 0;
        (new, service)
    }
}

/// A request for sectors of a line at its slice.
#[derive(Clone, Copy, Debug)]
struct Request {
    line: u64,
    sectors: u8,
    /// The sectors that the transaction itself touches.
    own: u8,
    slice: usize,
}

/// Adds to a sum. A sum that is too large keeps the largest number, and the bound then has no value.
pub(super) fn add(sum: &mut u64, more: u64) {
    *sum = sum.saturating_add(more);
}

/// Returns the lines of a region, given its address and its number of bytes.
pub(super) fn lines_of(&(address, bytes): &(u64, u64)) -> Range<u64> {
    address / LineUse::LINE_BYTES..(address + bytes).div_ceil(LineUse::LINE_BYTES)
}

/// Returns the number of bytes of these sectors.
fn bytes_of(sectors: u8) -> u64 {
    u64::from(sectors.count_ones()) * LineUse::SECTOR_BYTES
}

/// Returns the address of a request.
fn address(line: u64, sectors: u8) -> u64 {
    line * LineUse::LINE_BYTES + u64::from(sectors.trailing_zeros().min(3)) * LineUse::SECTOR_BYTES
}
