//! What the requests of a launch cost together.

use std::borrow::Cow;
use std::cmp::Reverse;

use super::at_start::Stays;
use super::elsewhere::Unplaced;
use super::launch::{LaunchMemory, add, lines_of};
use super::lines::LineState;
use super::path::Partitioned;
use super::untracked::{Limit, Waits, on_an_sm, times_full};
use crate::parts::{Beside, Part};
use crate::resident::Residency;
use warpbound_core::machine::memory::{CacheSettings, WritePolicy};
use warpbound_core::path::LineUse;

impl LaunchMemory {
    /// Returns the services that the launch adds to those of its blocks. `visits` is the largest number of
    /// accesses, one after the other, that the bound follows to DRAM.
    pub fn beside(&self, residency: &Residency, stays: Stays, visits: u64) -> Beside {
        let sms = residency.used_sms() as u64;
        let replies = self.most_replies.saturating_mul(residency.together());
        let late = if stays == Stays::No { self.late_replies } else { self.late_replies_stays };
        let mut memory = self.at_slices.saturating_add(self.entrances(residency, stays)).saturating_add(late);
        if stays == Stays::InL1 {
            memory = memory.saturating_sub(self.behind_l1.spared(sms)).saturating_add(self.passed(residency));
        }
        if let Some(partitions) = &self.path.partitions
            && sms > 1
            && replies >= u64::from(partitions.settings.crossbar_queue)
        {
            // replies of another SM may be in front, and wait until it has written its results
            memory = memory.saturating_add(self.write_backs);
            if stays == Stays::InL1 {
                // a load that joins a fetch in the L1 has a result, although it counts nothing at slices
                memory = memory.saturating_add(self.behind_l1.joins(sms).saturating_mul(self.path.scale));
            }
        }
        let waits = self.waits(stays, residency);
        let visits = visits.saturating_add(waits.times);
        let dram = match stays {
            Stays::No if self.l2.is_some() => self.dram.saturating_add(self.dirty_at_start()),
            _ => self.in_dram(visits),
        };
        Beside::new(vec![(Part::Memory, memory), (Part::Dram, dram), (Part::Misses, waits.service)])
    }

    /// Returns the service of loads that join a fetch in the L1 and wait for DRAM with it, if others may pass
    /// them that do not wait: they count in the load/store unit and once more for their results. Any load
    /// that waits for DRAM may be one of them.
    fn passed(&self, residency: &Residency) -> u64 {
        self.l1_loads.on_an_sm(self.behind_l1.passed(), residency).saturating_mul(self.path.scale)
    }

    /// Returns what requests cost because slices may be full. For each slice, either each of its requests
    /// counts once more when it is delivered, or each time at which the slice is full counts the latency
    /// that the requests in its input do not pay for.
    fn entrances(&self, residency: &Residency, stays: Stays) -> u64 {
        let Some(partitions) = &self.path.partitions else { return 0 };
        let (of_slices, loads) = (self.by_slice(&self.of_slice), self.by_slice(&self.l2_loads));
        let (anywhere, queue) = (&self.unplaced, u64::from(partitions.settings.queue));
        let sms = residency.used_sms() as u64;
        // if lines of the L1 stay, each line lies in one slice
        let spared = |slice: usize| match stays {
            Stays::InL1 => self.behind_l1.spared_at(slice, sms),
            _ => 0,
        };
        let reached = |slice: usize| of_slices[slice].saturating_sub(spared(slice));
        let is_full = |slice: usize| {
            let loads = loads[slice].saturating_sub(spared(slice)).saturating_add(anywhere.loads);
            let others = reached(slice).saturating_add(anywhere.requests).saturating_sub(loads);
            let at_once = loads.min(self.most_at_slice(slice).saturating_mul(residency.everywhere()));
            others.saturating_add(at_once) > queue
        };
        let full = (0..of_slices.len()).filter(|&slice| is_full(slice)).map(reached);
        // a request may count in front of the entrance although it is served behind it later
        let each = self.path.ticks(1).max(self.path.scale);
        // one of the requests in the input may be looked up in the tick in which it is full
        let time = self.path.ticks((self.path.delivery() + 1).saturating_sub(queue));
        let cost = |requests: u64| {
            let times = Limit::new(queue).times(requests);
            each.saturating_mul(requests).min(time.saturating_mul(times))
        };
        if anywhere.requests == 0 {
            return full.map(cost).fold(0, u64::saturating_add);
        }
        // those whose slices are not known may be in any slice, whichever of these is full
        let known: Vec<u64> = full.collect();
        let all = known.iter().fold(anywhere.requests, |sum, &requests| sum.saturating_add(requests));
        let times = times_full(known.iter().copied(), anywhere.requests, queue);
        if known.is_empty() { 0 } else { each.saturating_mul(all).min(time.saturating_mul(times)) }
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

    /// Returns the largest number of loads of a block that wait at a slice at the same time, or at all
    /// slices if the slice of a request depends on the sectors that are missing when it is sent.
    fn most_at_slice(&self, slice: usize) -> u64 {
        let place = if self.path.one_slice_per_line { self.l1_sets + slice } else { usize::MAX };
        self.outstanding.most_at(place)
    }

    /// Returns the service of DRAM if lines of the L2 stay, or without an L2, if the bound follows this many
    /// requests through DRAM.
    fn in_dram(&self, visits: u64) -> u64 {
        let Some(Partitioned { settings, dram, .. }) = &self.path.partitions else { return 0 };
        let anywhere = self.anywhere_in_dram();
        // otherwise the bank of a request depends on the sectors that are missing when it is sent
        let is_known = self.path.one_slice_per_line && dram.one_bank_per_line() && anywhere.requests == 0;
        if !is_known {
            let requests = self.of_channel.iter().sum::<u64>().saturating_add(anywhere.requests);
            let service = self.dram_stays.saturating_add(anywhere.service);
            return service.saturating_add(requests.saturating_mul(dram.row()));
        }
        let room = dram.never_full(settings);
        // in each tick, one bank takes up a request; and a request of another slice may count in DRAM and
        // once more for its reply
        let taken = dram.taken_up() + if settings.slices > 1 { self.path.reply() } else { 0 };
        let (mut always, mut in_turn, mut in_passing, mut own) = (0, Vec::new(), Vec::new(), Vec::new());
        let channels = self.of_channel.iter().zip(&self.service_of_channel);
        for ((&requests, &service), banks) in channels.zip(self.banks.chunks(dram.banks())) {
            let (mut rows_in_turn, mut passing) = (service, service);
            for rows in banks.iter().filter(|rows| rows.first.is_some()) {
                let again = if rows.are_several { rows.requests - 1 } else { 0 };
                let of_bank = again.saturating_mul(dram.row()).saturating_add(dram.first_row());
                let of_others = (again + 1).saturating_mul(dram.row_elsewhere());
                add(&mut rows_in_turn, of_bank);
                add(&mut passing, of_others.saturating_add(rows.requests.saturating_mul(taken)));
                own.push(if requests > room { 0 } else { of_bank.saturating_sub(of_others) });
            }
            if requests > room {
                add(&mut always, rows_in_turn);
            } else {
                in_turn.push(rows_in_turn);
                in_passing.push(passing);
            }
        }
        // a request that the bound follows visits one channel, and one bank of it
        let in_passing = largest(in_passing, visits).saturating_add(largest(own, visits));
        always.saturating_add(largest(in_turn, visits).min(in_passing))
    }

    /// Returns what requests whose places are not known do in DRAM at most, if lines of the L2 stay, or
    /// without an L2. If only loads go to DRAM, they fetch no more than all sets of sectors of all lines in
    /// which they lie, each once.
    fn anywhere_in_dram(&self) -> Anywhere {
        let Unplaced { to_dram, dram_stays, .. } = self.unplaced;
        let each = Anywhere { requests: to_dram, service: dram_stays };
        if self.l2.is_none() || self.path.forwards_stores() {
            return each;
        }
        let lines = self.regions.iter().map(|region| {
            let lines = lines_of(region);
            lines.end - lines.start
        });
        let lines = lines.fold(0, u64::saturating_add);
        let (fetches, service) = self.partial.of_whole_line();
        Anywhere {
            requests: to_dram.min(lines.saturating_mul(fetches)),
            service: dram_stays.min(lines.saturating_mul(service)),
        }
    }

    /// Returns the service of writing back lines that are in the L2 when the launch starts. Any of them
    /// may be dirty, and a request replaces one line at most.
    fn dirty_at_start(&self) -> u64 {
        let (Some(l2), Some(Partitioned { settings, dram, .. })) = (self.path.l2(), &self.path.partitions)
        else {
            return 0;
        };
        let passed_on = if settings.queue == 1 { self.path.ticks(1) } else { 0 };
        let line = passed_on + dram.service(l2.line.into(), true, (0, 0)) + dram.row();
        let room = u64::from(l2.sets) * u64::from(l2.ways) * self.of_slice.len() as u64;
        let requests = self.of_slice.iter().sum::<u64>().saturating_add(self.unplaced.requests);
        let lines = match self.left_lines {
            Some(lines) => lines.saturating_mul((LineUse::LINE_BYTES / u64::from(l2.line)).max(1)),
            None => room,
        };
        line.saturating_mul(lines.min(room).min(requests))
    }

    /// Returns the longest waits until a cache can track another fetch, one after the other.
    fn waits(&self, stays: Stays, residency: &Residency) -> Waits {
        let sms = residency.used_sms() as u64;
        let (together, everywhere) = (residency.together(), residency.everywhere());
        let fetches = stays == Stays::No || self.dram_stays > 0 || self.unplaced.dram_stays > 0;
        let scale = self.path.scale;
        let mut waits = Waits::default();
        let outstanding = self.outstanding.most().1;
        let keeps_l1 = self.keeps_l1();
        if let (Some(l1), Some(sets)) = (&self.path.l1, &self.l1) {
            let (waiting, ways) = (outstanding.saturating_mul(together), Limit::ways(l1));
            let merged = self.merged(l1, together, true, (keeps_l1.then_some(sms), u64::MAX));
            let of_set = |set: u64| {
                let set = if self.l1_sets > 0 { set as usize } else { usize::MAX };
                self.outstanding.most_at(set).saturating_mul(together)
            };
            let full = if self.unplaced.requests > 0 {
                ways.times_if(waiting, self.l1_ways.all)
            } else {
                sets.times_full(ways, of_set)
            };
            let of_sm = |times, limit, loads| on_an_sm(residency, times, (limit, loads));
            let mut times = of_sm(merged, Limit::new(l1.merge), self.l1_loads);
            times = times.saturating_add(of_sm(full, ways, self.l1_ways));
            // the L1 of each SM fetches by itself
            let once = if keeps_l1 { self.behind_l1.fetches(sms) } else { u64::MAX };
            let mshrs = Limit::new(l1.mshrs);
            let tracked = mshrs.times_if(waiting, self.l1_loads.all.min(once));
            times = times.saturating_add(of_sm(tracked, mshrs, self.l1_loads));
            waits.add(times, self.path.fetch_of_l1(fetches) * scale);
        }
        if let Some(constants) = &self.constants {
            let times = constants.times_untracked(residency, self.outstanding.most());
            waits.add(times, self.path.fetch_of_l1(fetches) * scale);
        }
        let (Some(Partitioned { settings, dram, .. }), true) = (&self.path.partitions, fetches) else {
            return waits;
        };
        let anywhere_in_dram = self.anywhere_in_dram().requests;
        if let (Some(l2), Some(sets)) = (self.path.l2(), &self.l2) {
            let (stays, ways) = (stays != Stays::No, Limit::ways(l2));
            // an L1 that keeps its lines fetches each set of sectors once
            let one_set = self.path.by_sector || self.path.l1.as_ref().is_some_and(|l1| !l1.sectored);
            let most = if keeps_l1 && one_set { sms } else { u64::MAX };
            let mut times = self.merged(l2, everywhere, false, (stays.then_some(1), most));
            let is_known = self.path.one_slice_per_line;
            let fetches = self.by_slice(if stays { &self.new_of_slice } else { &self.l2_loads });
            let anywhere = self.unplaced.loads;
            let fetched = if stays { anywhere.min(anywhere_in_dram) } else { anywhere };
            let full = if stays {
                0
            } else if is_known && self.unplaced.requests == 0 {
                sets.times_full(ways, |_| outstanding.saturating_mul(everywhere))
            } else {
                let all = fetches.iter().sum::<u64>().saturating_add(anywhere);
                ways.times_if(outstanding.saturating_mul(everywhere), all)
            };
            let may_wait = fetches.iter().enumerate().filter(|&(slice, _)| {
                self.most_at_slice(slice).saturating_mul(everywhere) > u64::from(l2.mshrs)
            });
            let tracked = times_full(may_wait.map(|(_, &fetches)| fetches), fetched, l2.mshrs.into());
            times = times.saturating_add(full).saturating_add(tracked);
            waits.add(times, self.path.fetch_of_slice() * scale);
        }
        let room = dram.places(settings.slices.into());
        let only_loads = stays != Stays::No && !self.path.forwards_stores();
        let held: u64 = if only_loads && outstanding.saturating_mul(everywhere) <= room {
            0
        } else if stays != Stays::No || self.l2.is_none() {
            let of_channels = self.by_slice(&self.of_channel);
            times_full(of_channels.iter().copied(), anywhere_in_dram, room)
        } else {
            // a write-back for each request
            let all = self.of_slice.iter().sum::<u64>().saturating_add(self.unplaced.requests);
            Limit::new(room).times(all.saturating_mul(2))
        };
        waits.add(held, self.path.fetch_of_slice() * scale);
        waits
    }

    /// Returns whether no line of the L1 of any SM is replaced and no sector of it has to be fetched twice.
    pub(super) fn keeps_l1(&self) -> bool {
        let (Some(l1), Some(sets)) = (&self.path.l1, &self.l1) else { return false };
        let evicts = l1.write == WritePolicy::Evict && self.stores_what_is_loaded;
        sets.keeps_all_of(self.blocks_of_an_sm.unwrap_or(u64::MAX))
            && !evicts
            && self.lines.all().is_some()
            && self.unplaced == Unplaced::default()
    }

    /// Returns how many times, one after the other, a request can be refused because a fetch serves as
    /// many others as a cache allows. `blocks` is the largest number of blocks whose loads reach the cache
    /// at the same time. If the lines stay, `keep` is the number of caches, each of which fetches a set
    /// of sectors once. At most `most` loads of each sector reach the cache.
    fn merged(
        &self,
        cache: &CacheSettings,
        blocks: u64,
        is_l1: bool,
        (keep, most): (Option<u64>, u64),
    ) -> u64 {
        let by_sector =
            if is_l1 { self.path.by_sector && cache.sectored } else { self.path.joins_by_sector() };
        let merge = Limit::new(cache.merge);
        let loads = self.outstanding.most().0.saturating_mul(blocks);
        let of_one = loads.saturating_mul(if by_sector { 1 } else { 4 });
        let anywhere = if is_l1 { self.unplaced.l1_loads } else { self.unplaced.loads };
        let all_loads = || {
            if is_l1 { self.l1_loads.all } else { self.l2_loads.iter().sum::<u64>().saturating_add(anywhere) }
        };
        let Some(all) = self.lines.all() else { return merge.times(all_loads()) };
        if anywhere > 0 {
            let is_bypassed = self.path.has_bypasses && !is_l1;
            return if !merge.may_refuse(of_one) && !is_bypassed { 0 } else { merge.times(all_loads()) };
        }
        let times = |line: u64, state: &LineState| {
            // an atomic may access a sector several times
            let is_bypassed = state.is_bypassed() && !is_l1;
            if !merge.may_refuse(of_one) && !is_bypassed {
                return 0;
            }
            let most = if is_bypassed { u64::MAX } else { most };
            // a load of constants may bring all of a line, whose fetch others join that need a part of it
            let by_sector = by_sector && !(is_bypassed && self.path.constants.is_some());
            let waiting =
                |sectors| self.outstanding.most_at(self.group(line, sectors)).saturating_mul(blocks);
            let times = state.times_merged(merge, by_sector, (most, waiting), is_bypassed);
            let fetches = if is_l1 { state.sets_of_l1.count_ones() } else { state.fetches };
            keep.map_or(times, |caches| times.min(u64::from(fetches).saturating_mul(caches)))
        };
        all.map(|(&line, state)| times(line, state)).sum()
    }
}

/// Requests to DRAM whose places are not known.
#[derive(Clone, Copy, Debug)]
struct Anywhere {
    requests: u64,
    service: u64,
}

/// Returns the sum of the largest of these numbers, no more than `count` of them.
fn largest(mut numbers: Vec<u64>, count: u64) -> u64 {
    numbers.sort_unstable_by_key(|&number| Reverse(number));
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    numbers.into_iter().take(count).fold(0, u64::saturating_add)
}
