//! A second, naive implementation of PLB with a memory system, written from the page of its proof.
//!
//! It covers one SM with one sub-core, without collector, front end, result buses, control codes
//! and cache for constants; WAW hazards; transactions of 32 bytes; an L1 or partitions; caches with lines
//! of 128 bytes, but no sectored L1 in front of an L2 that is not; and address bits of channels,
//! slices, banks and rows from 7 on. Nothing is known of earlier launches.
//!
//! Where the bound counts more than the proof asks for, this follows the bound, and says so in
//! brackets.

use std::collections::{BTreeMap, BTreeSet};

use crate::bound_code::{Code, Walk};
use crate::bound_pipelined::{Ready, awaited, loads, may_be_constant, of_launch, until_start, written};
use warpbound::isa::Space;
use warpbound::machine::memory::{
    CacheSettings, Dram, DramScheduler, Jitter, LowerLevel, WriteMiss, WritePolicy,
};
use warpbound::machine::pipeline::AccessQueues;
use warpbound::machine::{Hazards, Machine, Mapping, place_of};
use warpbound::path::{BlockPaths, Footprint, LineUse, Step};
use warpbound::program::{Access, Area, Flow, KernelCode, MemoryOp, TimingTable};

/// A transaction of an access to global or local memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Request {
    block: usize,
    warp: usize,
    index: usize,
    access: Access,
    line: u64,
    sector: u32,
    /// The instruction of the warp that waits for it first.
    awaited: Option<usize>,
}

/// A step of a warp, and its transactions.
struct Taken {
    step: Step,
    requests: Vec<Request>,
}

/// What stays in the launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Case {
    Any,
    /// The lines of the L2.
    L2,
    /// The lines of the L1, too.
    L1,
}

struct Naive<'a> {
    table: &'a TimingTable,
    machine: &'a Machine,
    footprint: &'a Footprint,
    places: u64,
    l1: Option<CacheSettings>,
    l2: Option<CacheSettings>,
    partitions: bool,
    /// All steps, by block and warp.
    taken: Vec<Vec<Vec<Taken>>>,
    all: Vec<Request>,
    /// The lines that are in the L2 when the launch starts.
    copied: BTreeSet<u64>,
    l2_stays: bool,
    l1_stays: bool,
    code: Code<'a>,
    /// Whether some accesses go to the port at once: atomics and loads that bypass the L1.
    has_bypasses: bool,
    has_atomics: bool,
    /// Whether the program may write to memory.
    has_stores: bool,
    loads_shared: bool,
    /// Whether loads of constants or parameters pass stages in the load/store unit.
    passes_constants: bool,
}

/// Returns PLB, or nothing where this implementation has no formula.
pub fn value(
    program: &KernelCode,
    table: &TimingTable,
    machine: &Machine,
    blocks: &[BlockPaths],
    places: u64,
    footprint: &Footprint,
) -> Option<u64> {
    let (pipeline, memory) = (machine.pipeline()?, machine.memory());
    let partitions = memory.lower == LowerLevel::Partitions;
    let l1 = memory.l1.as_ref().map(|l1| l1.with_shared((footprint.shared_bytes * places) as u32));
    let l2 = memory.partitions.l2.filter(|_| partitions);
    let bits = [memory.partitions.channel_bit, memory.partitions.slice_bit, memory.partitions.dram.row_bit];
    let far = !partitions || bits.iter().chain(&memory.partitions.dram.bank_bits).all(|&bit| bit >= 7);
    let covered = (l1.is_some() || partitions)
        && machine.sms() == 1
        && table.sub_cores().count() == 1
        && table.barriers().is_none()
        && pipeline.collector.is_none()
        && pipeline.front_end.is_none()
        && pipeline.result_buses.is_none()
        && memory.constant.is_none()
        && pipeline.load_store?.transaction == 32
        && [l1, l2].iter().flatten().all(|cache| cache.line == 128)
        && table.hazards().contains(Hazards::WAW)
        && !(l1.is_some_and(|l1| l1.sectored) && l2.is_some_and(|l2| !l2.sectored))
        && l2.is_none_or(|l2| l2.fetch == 32)
        && far;
    if !covered {
        return None;
    }
    let mut naive = Naive {
        table,
        machine,
        footprint,
        places,
        l1,
        l2,
        partitions,
        taken: Vec::new(),
        all: Vec::new(),
        copied: BTreeSet::new(),
        l2_stays: false,
        l1_stays: false,
        code: Code::new(table, machine),
        has_bypasses: false,
        has_atomics: false,
        has_stores: false,
        loads_shared: false,
        passes_constants: false,
    };
    naive.list(program, blocks);
    naive.find_what_stays();
    Some(naive.bound(blocks))
}

/// How many times one of these requests can be refused because `by` others wait.
fn refused(requests: u64, by: u32) -> u64 {
    requests.saturating_sub(1) / u64::from(by)
}

/// Whether an access goes to memory.
fn is_global(table: &TimingTable, step: Step) -> bool {
    table.instr(step.pc()).access.is_some_and(|access| access != Access::Fence)
        && matches!(table.space(step), Space::Global | Space::Local)
}

/// Whether an access goes to the port at once.
fn bypasses(access: Access) -> bool {
    matches!(access, Access::Atomic | Access::LoadUncached)
}

impl Naive<'_> {
    /// Lists all steps and all requests of the launch.
    fn list(&mut self, program: &KernelCode, blocks: &[BlockPaths]) {
        self.loads_shared = loads(program, |area| matches!(area, Area::Shared | Area::Generic));
        let in_memory = |area: Area| area != Area::Shared;
        let has = |kind: &dyn Fn(MemoryOp) -> bool| program.memory_ops().any(kind);
        self.has_atomics = has(&|memory| matches!(memory, MemoryOp::Atomic(area) if in_memory(area)));
        self.has_stores =
            self.has_atomics || has(&|memory| matches!(memory, MemoryOp::Store(area) if in_memory(area)));
        self.has_bypasses = has(&|memory| match memory {
            MemoryOp::Atomic(area) | MemoryOp::LoadUncached(area) => in_memory(area),
            MemoryOp::AsyncCopyUncached => true,
            _ => false,
        });
        let unit = self.machine.pipeline().unwrap().load_store.unwrap();
        let loads_constants = loads(program, may_be_constant);
        self.passes_constants = unit.constant_latency > 0 && loads_constants;
        for (block, paths) in blocks.iter().enumerate() {
            let mut of_block = Vec::new();
            for (warp, path) in paths.warps.iter().enumerate() {
                let steps: Vec<Step> =
                    path.steps().iter().copied().take_while(|&step| self.table.issues(step)).collect();
                let mut traffic = path.traffic();
                let mut taken: Vec<Taken> = Vec::new();
                for (index, &step) in steps.iter().enumerate() {
                    let mut group: &[LineUse] = &[];
                    if self.table.moves_lines(step) {
                        let last = traffic.iter().position(|line| line.is_last());
                        (group, traffic) = traffic.split_at(last.map_or(traffic.len(), |last| last + 1));
                    }
                    let mut requests = Vec::new();
                    if let (true, Some(access)) =
                        (is_global(self.table, step), self.table.instr(step.pc()).access)
                    {
                        for line in group {
                            for sector in (0..4).filter(|sector| line.sectors() >> sector & 1 == 1) {
                                let (line, awaited) = (line.line(), None);
                                requests.push(Request { block, warp, index, access, line, sector, awaited });
                            }
                        }
                    }
                    taken.push(Taken { step, requests });
                }
                self.find_waits(&mut taken);
                for now in &taken {
                    self.all.extend(&now.requests);
                }
                of_block.push(taken);
            }
            self.taken.push(of_block);
        }
    }

    /// Finds the first instruction of a warp that waits for each load, through a register.
    fn find_waits(&self, taken: &mut [Taken]) {
        let mut writer: BTreeMap<usize, usize> = BTreeMap::new();
        for index in 0..taken.len() {
            let step = taken[index].step;
            for reg in awaited(self.table, step) {
                let Some(&waited) = writer.get(&reg) else { continue };
                for request in &mut taken[waited].requests {
                    request.awaited.get_or_insert(index);
                }
            }
            writer.extend(written(self.table, step).map(|reg| (reg, index)));
        }
    }

    fn mapping(&self) -> Mapping {
        Mapping::new(&self.machine.memory().partitions)
    }

    fn slice(&self, line: u64) -> usize {
        self.mapping().slice(line * 128)
    }

    fn copied_lines(&self) -> Vec<u64> {
        let mut lines = Vec::new();
        if self.machine.memory().start.copies() {
            for &(address, bytes) in &self.footprint.buffers {
                lines.extend(address / 128..(address + bytes).div_ceil(128));
            }
        }
        lines
    }

    /// Whether a line can be read in the L2 when the launch starts: copies touch whole lines.
    fn is_copied(&self, line: u64) -> bool {
        self.copied.contains(&line)
    }

    /// The set of the L2 in which a line is: slice and set.
    fn l2_set(&self, line: u64) -> (usize, usize) {
        let (number, l2) = (self.mapping().line(line * 128), self.l2.unwrap());
        (self.slice(line), place_of(number, l2.sets.trailing_zeros(), l2.index))
    }

    fn l1_set(&self, line: u64) -> usize {
        let l1 = self.l1.unwrap();
        place_of(line, l1.sets.trailing_zeros(), l1.index)
    }

    /// Whether stores may allocate a line of the L1.
    fn enters_l1(&self, request: &Request) -> bool {
        match request.access {
            Access::Load => true,
            Access::Store => self.l1.unwrap().write_miss == WriteMiss::Allocate,
            _ => false,
        }
    }

    /// The lines of each set of the L2 that a launch touches, and that are there when it starts.
    fn lines_of_l2(&self) -> BTreeMap<(usize, usize), BTreeSet<u64>> {
        let (mut sets, l2) = (BTreeMap::<_, BTreeSet<u64>>::new(), self.l2.unwrap());
        // as soon as lines are known to be replaced, it does not matter which others are there
        let mut stays = l2.write != WritePolicy::Evict;
        for line in self.copied_lines() {
            if stays {
                let set = sets.entry(self.l2_set(line)).or_default();
                set.insert(line);
                stays = set.len() <= l2.ways as usize;
            }
        }
        for request in &self.all {
            sets.entry(self.l2_set(request.line)).or_default().insert(request.line);
        }
        sets
    }

    fn lines_of_l1(&self) -> BTreeMap<(usize, usize), BTreeSet<u64>> {
        let mut sets: BTreeMap<(usize, usize), BTreeSet<u64>> = BTreeMap::new();
        for request in self.all.iter().filter(|request| self.enters_l1(request)) {
            sets.entry((0, self.l1_set(request.line))).or_default().insert(request.line);
        }
        sets
    }

    fn find_what_stays(&mut self) {
        self.copied = self.copied_lines().into_iter().collect();
        // without partitions there is no L2 that would have to keep its lines
        self.l2_stays = !self.partitions;
        if let Some(l2) = self.l2 {
            let fits = self.lines_of_l2().values().all(|lines| lines.len() <= l2.ways as usize);
            self.l2_stays = l2.write != WritePolicy::Evict && fits;
        }
        if let Some(l1) = self.l1 {
            let fits = self.lines_of_l1().values().all(|lines| lines.len() <= l1.ways as usize);
            let sectors = |is_store: bool| {
                let of = self.all.iter().filter(move |request| (request.access == Access::Store) == is_store);
                of.flat_map(|request| {
                    let mask = self.needed(request);
                    (0..4).filter(move |sector| mask >> sector & 1 == 1).map(|sector| (request.line, sector))
                })
                .collect::<BTreeSet<(u64, u32)>>()
            };
            let removes = l1.write == WritePolicy::Evict && !sectors(true).is_disjoint(&sectors(false));
            self.l1_stays = fits && !removes;
        }
    }

    // ---- times

    /// The units of service in a cycle.
    fn scale(&self) -> u64 {
        if self.partitions { 64 } else { 1 }
    }

    /// The service of ticks of the crossbar and the L2. Without partitions, a tick is a cycle.
    fn ticks(&self, ticks: u64) -> u64 {
        let (faster, slower) = self.machine.memory().partitions.clock;
        if !self.partitions {
            return ticks;
        }
        ticks * (self.scale() * u64::from(slower)).div_ceil(faster.into())
    }

    fn dram_ticks(&self, ticks: u64) -> u64 {
        let (of_l2, of_dram) = (self.machine.memory().partitions.clock, self.dram().clock);
        let slower = u64::from(of_l2.1) * u64::from(of_dram.1);
        (ticks * self.scale() * slower).div_ceil(u64::from(of_l2.0) * u64::from(of_dram.0))
    }

    fn dram(&self) -> &Dram {
        &self.machine.memory().partitions.dram
    }

    fn jitter(&self) -> u64 {
        match self.machine.memory().jitter {
            Jitter::Uniform(_, most) | Jitter::HeavyTail { most, .. } => most,
            _ => 0,
        }
    }

    /// The cycles from the load/store unit to the port.
    fn through_l1(&self) -> u64 {
        self.machine.memory().l1.as_ref().map_or(0, |l1| l1.latency.max(1) + 1)
    }

    /// The ticks by which the delivery may take longer: to the other half of the L2, and of atomics.
    fn far(&self) -> u64 {
        let partitions = &self.machine.memory().partitions;
        let far = if self.l2.is_some() { partitions.far_latency } else { 0 };
        if self.has_atomics { far.max(partitions.atomic_latency) } else { far }
    }

    /// The cycles from the port to the write-back.
    fn below(&self, with_dram: bool) -> u64 {
        self.way_below(with_dram, self.far())
    }

    /// The least of these cycles.
    fn soonest(&self) -> u64 {
        let (faster, slower) = self.ratio();
        let ticks = self.machine.memory().partitions.latency + 4;
        if self.partitions { ticks * slower / faster + 3 } else { self.way_below(false, 0) }
    }

    fn way_below(&self, with_dram: bool, far: u64) -> u64 {
        let memory = self.machine.memory();
        if !self.partitions {
            let latency = if memory.lower == LowerLevel::Perfect { 1 } else { memory.fixed.latency.max(1) };
            return latency + self.jitter() + 1;
        }
        // port, crossbar, delivery, look-up
        let mut ticks = 1 + 1 + (memory.partitions.latency + far + 1) + 1;
        if with_dram {
            let dram = self.dram();
            // each change of the clock costs one tick more
            let in_dram = (dram.cl.max(dram.wl) + 5) * u64::from(dram.clock.1);
            let in_dram = in_dram.div_ceil(dram.clock.0.into()) + 1;
            // queue to DRAM, fill
            ticks += 1 + 1 + dram.latency + self.jitter() + in_dram + 2;
        }
        self.cycles(ticks) + 1 + 1 + 1
    }

    /// The cycles of the way back from the crossbar of replies, at most.
    fn returned(&self) -> u64 {
        if self.partitions { self.cycles(1) + 3 } else { 1 }
    }

    /// The terms of the ratio of the clocks, without common factors: ticks for each number of cycles.
    fn ratio(&self) -> (u64, u64) {
        let (faster, slower) = self.machine.memory().partitions.clock;
        let shared = (1..=faster.min(slower)).rev().find(|by| faster % by == 0 && slower % by == 0).unwrap();
        (u64::from(faster / shared), u64::from(slower / shared))
    }

    /// The cycles for these ticks beside others, with which they are rounded up together.
    fn cycles(&self, ticks: u64) -> u64 {
        let (faster, slower) = self.ratio();
        (ticks * slower + faster - 1).div_ceil(faster)
    }

    /// What a request counts if it fills a queue between the clocks alone.
    fn rounded(&self) -> u64 {
        let memory = &self.machine.memory().partitions;
        let single =
            [memory.crossbar_queue, memory.ejection_queue].iter().filter(|queue| **queue == 1).count();
        let (faster, _) = self.ratio();
        (self.scale() * single as u64 * (faster - 1)).div_ceil(faster)
    }

    // ---- requests

    /// The sectors that a request may ask of memory behind the L1.
    fn asked(&self, request: &Request) -> u8 {
        match self.l1 {
            Some(l1) if !l1.sectored && request.access == Access::Load => 0b1111,
            _ => 1 << request.sector,
        }
    }

    /// The sectors that a request needs in the last cache.
    fn needed(&self, request: &Request) -> u8 {
        if self.l2.is_some_and(|l2| !l2.sectored) { 0b1111 } else { self.asked(request) }
    }

    fn bytes(sectors: u8) -> u64 {
        32 * u64::from(sectors.count_ones())
    }

    /// Whether a load from the L1 never asks for a part of what it needs.
    fn asks_for_all(&self) -> bool {
        self.l1.is_none_or(|l1| l1.sectored || self.l1_reads_l2())
    }

    /// Whether stores put nothing into the L1.
    fn l1_reads_l2(&self) -> bool {
        self.l1.is_none_or(|l1| l1.write == WritePolicy::Evict || l1.write_miss == WriteMiss::NoAllocate)
    }

    fn forwards_stores(&self) -> bool {
        self.l2.is_none_or(|l2| l2.write != WritePolicy::Back || l2.write_miss != WriteMiss::Allocate)
    }

    /// 2 for a store that an L1 writes back later.
    fn copies(&self, request: &Request) -> u64 {
        let back = self.l1.is_some_and(|l1| l1.write == WritePolicy::Back);
        if back && request.access == Access::Store { 2 } else { 1 }
    }

    fn is_forwarded(&self, request: &Request) -> bool {
        request.access == Access::Store && self.forwards_stores()
    }

    /// Whether a request may go to DRAM, if lines of the L2 stay.
    fn may_fetch(&self, request: &Request) -> bool {
        if !self.partitions {
            return false;
        }
        if request.access == Access::Store {
            return self.forwards_stores();
        }
        if self.l2.is_none() {
            return true;
        }
        let asked = self.asked(request);
        let missing = (0..4).filter(|sector| asked >> sector & 1 == 1 && !self.is_copied(request.line));
        let mut missing = missing;
        missing.any(|sector| !(self.l1_reads_l2() && self.has_brought(request, sector, Self::brings)))
    }

    /// The sectors that are there after a load. The others of a line may not have been fetched, if the
    /// load found its own because of a store.
    fn brings(&self, request: &Request) -> u8 {
        if self.l1_reads_l2() { self.asked(request) } else { 1 << request.sector }
    }

    /// Whether the warp's latest transaction of a load with a sector is complete when a request is
    /// made. (A transaction of the same load that fetches the line is not, although an earlier one
    /// may have brought it.)
    fn has_brought(&self, request: &Request, sector: u32, brings: impl Fn(&Self, &Request) -> u8) -> bool {
        let own = self.taken[request.block][request.warp].iter().flat_map(|taken| &taken.requests);
        let before = own.take_while(|other| *other != request).filter(|other| {
            matches!(other.access, Access::Load | Access::LoadUncached)
                && other.line == request.line
                && brings(self, other) >> sector & 1 == 1
        });
        before.last().is_some_and(|latest| latest.awaited.is_some_and(|at| at <= request.index))
    }

    fn hits_l1(&self, request: &Request) -> bool {
        self.l1.is_some()
            && request.access == Access::Load
            && self.has_brought(request, request.sector, |naive, other| match other.access {
                Access::LoadUncached => 0,
                _ => naive.brings(other),
            })
    }

    /// The loads and atomics that fetch if lines of the L2 stay, and what they fetch: each set of sectors
    /// once.
    fn fetches(&self) -> Vec<(Request, u8)> {
        let requests = self.all.iter().filter(|request| request.access != Access::Store);
        let requests = requests.filter(|request| !self.is_copied(request.line));
        if !self.asks_for_all() {
            return self.fetches_of_parts(&requests.copied().collect::<Vec<_>>());
        }
        let mut seen = BTreeSet::new();
        let all = requests.map(|request| (*request, self.needed(request)));
        all.filter(|(request, needed)| seen.insert((request.line, *needed))).collect()
    }

    /// What is fetched if the L1 may ask for any part of what a load needs: the largest sets of sectors that
    /// it may ask for, as many as loads have come while it could ask for another set.
    fn fetches_of_parts(&self, requests: &[Request]) -> Vec<(Request, u8)> {
        let wanted = |part: u8| if self.l2.is_some_and(|l2| !l2.sectored) { 0b1111 } else { part };
        let parts = |all: u8| (1..=15).filter(move |part| all & part == *part);
        let mut lines: BTreeMap<u64, (Request, usize, BTreeSet<u8>, u8)> = BTreeMap::new();
        for request in requests {
            let (_, count, sets, all) =
                lines.entry(request.line).or_insert((*request, 0, BTreeSet::new(), 0));
            sets.extend(parts(self.asked(request)).map(wanted));
            *count = sets.len().min(*count + 1);
            *all |= self.asked(request);
        }
        let of_line = |(request, count, _, all): (Request, usize, BTreeSet<u8>, u8)| {
            let sets: BTreeSet<u8> = parts(all).map(wanted).collect();
            let mut sets: Vec<u8> = sets.into_iter().collect();
            sets.sort_by_key(|set| std::cmp::Reverse(set.count_ones()));
            sets.into_iter().take(count).map(move |set| (request, set))
        };
        lines.into_values().flat_map(of_line).collect()
    }

    // ---- services

    fn port(&self, bytes: u64) -> u64 {
        self.l2.map_or(1, |l2| bytes.div_ceil(l2.port.into()).max(1))
    }

    /// m
    fn passing(&self, bytes: u64) -> u64 {
        if !self.partitions {
            return self.scale();
        }
        self.ticks(self.port(bytes)).max(self.scale()) + self.rounded()
    }

    fn request(&self, request: &Request) -> u64 {
        let is_store = request.access == Access::Store;
        let mut service = self.passing(Self::bytes(self.asked(request)));
        if self.copies(request) == 2 {
            service += self.passing(32) + self.ticks(1);
        }
        if self.l1.is_some() && self.has_bypasses && !bypasses(request.access) {
            service += self.scale();
        }
        if (self.loads_shared || self.passes_constants) && !is_store {
            service += self.scale();
        }
        service
    }

    /// The cycles in which an access waits for banks of the L1.
    fn waits_for_banks(&self, requests: &[Request]) -> u64 {
        let l1 = self.machine.memory().l1.as_ref().filter(|_| !bypasses(requests[0].access));
        let Some(l1) = l1 else { return 0 };
        let lines: BTreeSet<u64> = requests.iter().map(|request| request.line).collect();
        let groups = if l1.banks >= 4 { lines.len() } else { requests.len() };
        groups as u64 * l1.interval.saturating_sub(1)
    }

    /// The service of instructions.
    fn instructions(&self) -> u64 {
        let unit = self.machine.pipeline().unwrap().load_store.unwrap();
        let shared = self.shared_answer();
        let factor = shared.saturating_sub(1).div_ceil(u64::from(unit.shared_latency).max(1)).max(1);
        let to_replies = (self.through_l1() + self.soonest()).saturating_sub(self.returned());
        let overtakes = self.passes_constants || to_replies < shared;
        let of = |taken: &Taken| {
            let (table, step) = (self.table, taken.step);
            let extra = u64::from(step.memory().extra_transactions);
            match (table.instr(step.pc()).access, table.space(step)) {
                (None, _) => table.op(step).init.get() * self.scale(),
                (Some(Access::Fence), _) => self.scale(),
                (Some(Access::Store), Space::Shared) => {
                    (extra + 1) * u64::from(unit.shared_interval) * self.scale()
                }
                (Some(access), Space::Shared) => {
                    let atomic = if access == Access::Atomic { unit.shared_atomic_latency } else { 0 };
                    let banks = (extra + 1) * u64::from(unit.shared_interval);
                    let delay = extra * u64::from(unit.conflict_latency) + u64::from(atomic);
                    (u64::from(overtakes) + banks + delay) * factor * self.scale()
                }
                (Some(_), Space::Global | Space::Local) => {
                    let requests: u64 = taken.requests.iter().map(|request| self.request(request)).sum();
                    let waits =
                        if taken.requests.is_empty() { 0 } else { self.waits_for_banks(&taken.requests) };
                    let takes_addresses = table.instr(step.pc()).access != Some(Access::Atomic)
                        && unit.queues != AccessQueues::One;
                    let sent = if takes_addresses { taken.requests.len() as u64 } else { 0 };
                    let addresses = sent * u64::from(unit.address_interval).saturating_sub(1);
                    let has_data = table
                        .instr(step.pc())
                        .access
                        .is_some_and(|access| matches!(access, Access::Store | Access::Atomic));
                    let data = if has_data { u64::from(unit.data_interval) - 1 } else { 0 };
                    let data = taken.requests.len() as u64 * data;
                    requests.max(self.scale()) + (waits + addresses + data) * self.scale()
                }
                // in the load/store unit and at the write-back
                (Some(Access::Load), Space::Const | Space::Param) => {
                    let stages = if self.passes_constants { 2 } else { 1 };
                    (extra * u64::from(unit.constant_interval) + stages) * self.scale()
                }
                _ => self.scale(),
            }
        };
        self.taken.iter().flatten().flatten().map(of).sum()
    }

    /// What requests that may wait for DRAM count beyond m: they pass a stage for a tick on their way, and
    /// once more reply.
    fn replies(&self, case: Case) -> u64 {
        let waits = |request: &&Request| match case {
            Case::Any => request.access != Access::Store || self.forwards_stores(),
            _ => self.may_fetch(request),
        };
        if !self.partitions {
            return 0;
        }
        let beyond = |request: &Request| {
            let passing = self.passing(Self::bytes(self.asked(request)));
            (2 * self.passing(0)).saturating_sub(passing)
        };
        self.all.iter().filter(waits).map(beyond).sum()
    }

    /// The requests of each slice, the later write-backs of an L1 included.
    fn of_slices(&self) -> BTreeMap<usize, u64> {
        let mut slices = BTreeMap::new();
        for request in &self.all {
            *slices.entry(self.slice(request.line)).or_default() += self.copies(request);
        }
        slices
    }

    fn deliveries(&self, case: Case) -> u64 {
        if !self.partitions {
            return 0;
        }
        let room = u64::from(self.machine.memory().partitions.queue);
        // if lines of the L1 stay, each set of sectors reaches its slice once
        let spared = |slice: usize| {
            let of_l1 = || {
                let loads = self.all.iter().filter(|request| request.access == Access::Load);
                loads.filter(|load| self.l1.is_some() && self.slice(load.line) == slice)
            };
            let sets: BTreeSet<(u64, u8)> = of_l1().map(|load| (load.line, self.asked(load))).collect();
            if case == Case::L1 { (of_l1().count() - sets.len()) as u64 } else { 0 }
        };
        let reached = |(slice, requests): (usize, u64)| (slice, requests - spared(slice));
        let is_full = |&(slice, requests): &(usize, u64)| {
            let of_slice = |of: &&Request| of.access != Access::Store && self.slice(of.line) == slice;
            let loads: Vec<Request> = self.all.iter().filter(of_slice).copied().collect();
            let count = loads.len() as u64 - spared(slice);
            requests - count + count.min(self.at_once(&loads)) > room
        };
        // the time until a request can be looked up, of which those in the input of a full slice but the first
        // one pay a tick each; or each request counts once more
        let unpaid = (self.machine.memory().partitions.latency + self.far() + 2).saturating_sub(room);
        let cost = |(_, requests): (usize, u64)| {
            let full_again = (requests - 1) / room * self.ticks(unpaid);
            full_again.min(requests * self.ticks(1).max(self.scale()))
        };
        self.of_slices().into_iter().map(reached).filter(is_full).map(cost).sum()
    }

    /// What loads count behind their L1 that hit there or join a fetch, if its lines stay.
    fn spared_by_l1(&self) -> u64 {
        let (mut all, mut once) = ([0, 0], [0, 0]);
        let mut seen = BTreeSet::new();
        for request in self.all.iter().filter(|request| request.access == Access::Load) {
            let passing = self.passing(Self::bytes(self.asked(request)));
            all[0] += passing - self.scale();
            let twice = (2 * self.passing(0)).saturating_sub(passing);
            all[1] += if self.partitions && self.may_fetch(request) { twice } else { 0 };
            if seen.insert((request.line, self.asked(request))) {
                once[0] += passing - self.scale();
                once[1] += twice;
            }
        }
        (0..2).map(|of: usize| all[of].saturating_sub(once[of])).sum()
    }

    /// What loads count in addition that join a fetch in the L1 and wait for DRAM, if others pass them.
    fn passed_in_l1(&self) -> u64 {
        let loads = || self.all.iter().filter(|request| request.access != Access::Store);
        let may_pass = loads().any(|load| !self.may_fetch(load) && !self.hits_l1(load));
        let of_l1 = || loads().filter(|request| request.access == Access::Load);
        let late = of_l1().filter(|load| self.may_fetch(load)).count() as u64;
        if may_pass { late * self.scale() } else { 0 }
    }

    /// C
    fn column(&self) -> u64 {
        let dram = self.dram();
        dram.ccd.max(dram.ccdl).max(dram.rtpl).max(1)
    }

    /// A request in DRAM, without its row: the largest of a column and the fill is partly paid.
    fn in_dram(&self, bytes: u64, is_write: bool, fill: u64, paid: u64) -> u64 {
        let dram = self.dram();
        let after_a_write = dram.wl + dram.burst + dram.cdlr;
        let rest = |of: u64| of.saturating_sub(self.column());
        let changes = if is_write { rest(after_a_write) } else { 0 };
        let columns = bytes.div_ceil(dram.burst_bytes.into());
        let queue = self.machine.memory().partitions.queue;
        let alone = if queue == 1 && self.l2.is_some() { self.ticks(1) } else { 0 };
        alone
            + self.dram_ticks(1 + (columns - 1) * self.column() + changes)
            + self.dram_ticks(self.column()).max(fill).saturating_sub(paid)
    }

    /// The rest of the time between a read and a write that waits for it, which each read may prolong.
    fn before_a_write(&self, case: Case) -> u64 {
        let dram = self.dram();
        let after_a_read = (dram.cl + dram.burst + 2).saturating_sub(dram.wl);
        let forwarded = self.forwards_stores() && self.has_stores;
        let written_back = case == Case::Any && self.l2.is_some();
        if forwarded || written_back {
            self.dram_ticks(after_a_read.saturating_sub(self.column()))
        } else {
            0
        }
    }

    fn read(&self, bytes: u64, case: Case) -> u64 {
        let bytes = if self.l2.is_some_and(|l2| !l2.sectored) { 128 } else { bytes };
        let fill = if self.l2.is_some() { self.ticks(self.port(bytes)) } else { 0 };
        self.in_dram(bytes, false, fill, self.ticks(1).max(self.scale())) + self.before_a_write(case)
    }

    /// The writes of a store: that of a line which an L1 writes later has no reply.
    fn writes(&self, copies: u64) -> u64 {
        self.in_dram(32, true, 0, self.ticks(1).max(self.scale()))
            + (copies - 1) * self.in_dram(32, true, 0, 0)
    }

    fn write_back(&self, request: &Request) -> u64 {
        // an atomic makes everything dirty that its fetch brings, or that of a load that it joins
        let whole_lines = self.l2.is_some_and(|l2| !l2.sectored) || self.l1.is_some_and(|l1| !l1.sectored);
        let whole = request.access == Access::Atomic && whole_lines;
        self.in_dram(if whole { 128 } else { 32 }, true, 0, 0)
    }

    fn row(&self) -> u64 {
        let dram = self.dram();
        let own = dram.rc.max(dram.ras.max(dram.wl + dram.burst + dram.wr) + dram.rp);
        self.dram_ticks(own + dram.rcd + dram.rrd.max(1) + 3)
    }

    /// The first row of a bank.
    fn first_row(&self) -> u64 {
        let dram = self.dram();
        self.dram_ticks(dram.rp + dram.rcd + dram.rrd.max(1) + 3)
    }

    fn channel(&self, line: u64) -> u64 {
        self.slice(line) as u64 / u64::from(self.machine.memory().partitions.slices)
    }

    /// The number of accesses that a chain may follow to DRAM one after the other.
    fn visits(&self) -> u64 {
        let of_block = |block: &Vec<Vec<Taken>>| {
            let mut most: BTreeMap<usize, u64> = BTreeMap::new();
            for warp in block {
                let ends = |taken: &Taken| self.table.instr(taken.step.pc()).flow == Flow::Barrier;
                for (section, own) in warp.split_inclusive(ends).enumerate() {
                    let accesses =
                        own.iter().filter(|taken| is_global(self.table, taken.step)).count() as u64;
                    let most = most.entry(section).or_default();
                    *most = accesses.max(*most);
                }
            }
            most.into_values().sum::<u64>()
        };
        let blocks: Vec<u64> = self.taken.iter().map(of_block).collect();
        let most = blocks.iter().copied().max().unwrap_or(0);
        let all: u64 = blocks.iter().sum();
        if blocks.len() as u64 <= self.places { most } else { all.div_ceil(self.places) + most }
    }

    /// The service of channels with these services of their requests, which lie in these lines, each with a
    /// number of requests.
    fn channels(&self, services: &BTreeMap<u64, u64>, lines: &[(u64, u64)], visits: u64) -> u64 {
        let mut banks: BTreeMap<(u64, u64), Vec<(u64, u64)>> = BTreeMap::new();
        for &(line, requests) in lines {
            let inner = self.mapping().inner(line * 128);
            let bits = self.dram().bank_bits.iter().enumerate();
            let bank = bits.map(|(at, &bit)| (inner >> bit & 1) << at).sum::<u64>();
            banks
                .entry((self.channel(line), bank))
                .or_default()
                .push((inner >> self.dram().row_bit, requests));
        }
        let count = |rows: &[(u64, u64)]| rows.iter().map(|(_, requests)| requests).sum::<u64>();
        let rows_of = |rows: &[(u64, u64)]| {
            if rows.iter().all(|(row, _)| *row == rows[0].0) { 1 } else { count(rows) }
        };
        let openings = |rows: &[(u64, u64)]| self.first_row() + (rows_of(rows) - 1) * self.row();
        let dram = self.dram();
        let queue = u64::from(self.machine.memory().partitions.queue);
        let (waiting, returned) = (u64::from(dram.queue), u64::from(dram.returns));
        let slices = u64::from(self.machine.memory().partitions.slices);
        let places = (waiting + returned).saturating_sub(slices - 1) + 1;
        let has_room = |requests: u64| {
            let in_order = dram.scheduler == DramScheduler::Fifo;
            !in_order && requests < queue && requests <= waiting.min(returned).min(places)
        };
        // what a row, and a request, count in passing; one of another slice may count again for its reply
        let passing = self.dram_ticks(dram.rrd.max(1) + 3);
        let replies = if slices > 1 { self.ticks(1).max(self.scale()) } else { 0 };
        let taken = self.dram_ticks(1) + replies;
        let (mut full, mut one_by_one, mut passed, mut own) = (0, Vec::new(), Vec::new(), Vec::new());
        for (&channel, &service) in services {
            let rows: Vec<&Vec<(u64, u64)>> =
                banks.iter().filter(|((of, _), _)| *of == channel).map(|(_, rows)| rows).collect();
            let in_turn: u64 = rows.iter().map(|rows| openings(rows)).sum();
            if !has_room(rows.iter().map(|rows| count(rows)).sum()) {
                full += service + in_turn;
                continue;
            }
            one_by_one.push(service + in_turn);
            let in_passing = rows.iter().map(|rows| rows_of(rows) * passing + count(rows) * taken);
            passed.push(service + in_passing.sum::<u64>());
            own.extend(rows.iter().map(|rows| openings(rows) - rows_of(rows) * passing));
        }
        // a chain visits one channel at a time, and one bank of it
        let most = |mut of: Vec<u64>| {
            of.sort_unstable();
            of.iter().rev().take(visits as usize).sum::<u64>()
        };
        full + most(one_by_one).min(most(passed) + most(own))
    }

    /// The service of DRAM.
    fn dram_service(&self, case: Case, visits: u64) -> u64 {
        if !self.partitions {
            return 0;
        }
        let mut services: BTreeMap<u64, u64> = BTreeMap::new();
        let mut lines = Vec::new();
        for request in &self.all {
            let (copies, bytes) = (self.copies(request), Self::bytes(self.asked(request)));
            let of_channel = services.entry(self.channel(request.line)).or_default();
            let is_store = request.access == Access::Store;
            let goes = if is_store { self.forwards_stores() } else { self.l2.is_none() || case == Case::Any };
            if goes {
                *of_channel += if is_store { self.writes(copies) } else { self.read(bytes, case) };
                lines.push((request.line, copies));
            }
            if let (Some(l2), Case::Any) = (self.l2, case) {
                let is_dirty = request.access == Access::Atomic || is_store && l2.write == WritePolicy::Back;
                *of_channel += if is_dirty { copies * (self.write_back(request) + self.row()) } else { 0 };
            }
        }
        if self.l2.is_some() && case == Case::Any {
            let requests: u64 = lines.iter().map(|(_, requests)| requests).sum();
            return services.values().sum::<u64>() + requests * self.row();
        }
        if self.l2.is_some() {
            for (request, fetched) in self.fetches() {
                *services.entry(self.channel(request.line)).or_default() +=
                    self.read(Self::bytes(fetched), case);
                // all sectors of a line are in one row
                lines.push((request.line, 1));
            }
        }
        self.channels(&services, &lines, visits)
    }

    // ---- excursions

    /// The excursions of Lemma M4: their number, and their time in cycles.
    fn excursions(&self, case: Case) -> (u64, u64) {
        let (stays, fetches) = (case != Case::Any, self.fetches());
        let is_load = |request: &&Request| request.access == Access::Load;
        let goes_to_dram = !stays
            || self.partitions
                && (!fetches.is_empty() || self.all.iter().any(|request| self.is_forwarded(request)));
        let all_loads: Vec<Request> =
            self.all.iter().copied().filter(|request| request.access != Access::Store).collect();
        let waiting = self.at_once(&all_loads);
        // of each load one request
        let instructions: Vec<Request> = all_loads
            .iter()
            .filter(|load| {
                let own = &self.taken[load.block][load.warp][load.index].requests;
                own[0] == **load
            })
            .copied()
            .collect();
        let mut one_each: Vec<Request> = Vec::new();
        for load in instructions {
            if !one_each.contains(&load) {
                one_each.push(load);
            }
        }
        let instructions = self.at_once(&one_each);
        let (mut number, mut sum) = (0, 0);
        if let Some(l1) = self.l1 {
            let loads: Vec<Request> = self.all.iter().copied().filter(|request| is_load(&request)).collect();
            // those that the L1 looks up
            let sets: BTreeSet<(u64, u8)> = loads.iter().map(|load| (load.line, self.asked(load))).collect();
            let mut times = 0;
            // joined; atomics pass the L1 by
            let mut lines: BTreeMap<u64, Vec<Request>> = BTreeMap::new();
            loads.iter().for_each(|load| lines.entry(load.line).or_default().push(*load));
            for (line, loads) in &lines {
                let fetches = sets.iter().filter(|(of, _)| of == line).count() as u64;
                let most = if self.l1_stays { fetches } else { u64::MAX };
                let waiting = (instructions, all_loads.as_slice());
                times += self.joined(&l1, loads, waiting, l1.sectored, u64::MAX).min(most);
            }
            // all ways of a set: with one bank, only the first transaction of an access in a line
            let firsts: Vec<Request> = loads
                .iter()
                .filter(|load| {
                    let own = &self.taken[load.block][load.warp][load.index].requests;
                    let first = own.iter().find(|other| other.line == load.line).unwrap();
                    first.sector == load.sector || self.machine.memory().l1.as_ref().unwrap().banks > 1
                })
                .copied()
                .collect();
            for (set, lines) in self.lines_of_l1() {
                let own: Vec<Request> =
                    firsts.iter().copied().filter(|load| self.l1_set(load.line) == set.1).collect();
                // the one that is refused may be a store that needs a way
                let refused = u64::from(l1.write_miss != WriteMiss::Allocate);
                if lines.len() > l1.ways as usize && self.at_once(&own) >= u64::from(l1.ways) + refused {
                    times += (own.len() as u64).saturating_sub(refused) / u64::from(l1.ways);
                }
            }
            // all registers
            if waiting > l1.mshrs.into() {
                let most = if self.l1_stays { sets.len() as u64 } else { u64::MAX };
                times += refused((loads.len() as u64).min(most), l1.mshrs);
            }
            number += times;
            sum += times * (2 + self.below(goes_to_dram));
        }
        if !self.partitions || !goes_to_dram {
            return (number, sum);
        }
        if let Some(l2) = self.l2 {
            let mut times = 0;
            let most = if self.l1_stays { 1 } else { u64::MAX };
            let by_sector = l2.sectored && self.l1.is_none_or(|l1| l1.sectored);
            let mut lines: BTreeMap<u64, Vec<Request>> = BTreeMap::new();
            all_loads.iter().for_each(|load| lines.entry(load.line).or_default().push(*load));
            for (line, loads) in &lines {
                let fetched = fetches.iter().filter(|(request, _)| request.line == *line).count() as u64;
                let limit = if stays { fetched } else { u64::MAX };
                let waiting = (instructions, all_loads.as_slice());
                times += self.joined(&l2, loads, waiting, by_sector, most).min(limit);
            }
            for (set, lines) in self.lines_of_l2() {
                let own = all_loads.iter().filter(|load| self.l2_set(load.line) == set).count() as u64;
                let refused = u64::from(l2.write_miss != WriteMiss::Allocate);
                if lines.len() > l2.ways as usize && waiting >= u64::from(l2.ways) + refused {
                    times += own.saturating_sub(refused) / u64::from(l2.ways);
                }
            }
            let mut slices: BTreeMap<usize, Vec<Request>> = BTreeMap::new();
            all_loads.iter().for_each(|load| slices.entry(self.slice(load.line)).or_default().push(*load));
            for (slice, loads) in &slices {
                if self.at_once(loads) > l2.mshrs.into() {
                    let of_slice =
                        fetches.iter().filter(|(request, _)| self.slice(request.line) == *slice).count();
                    let count = if stays { of_slice } else { loads.len() };
                    times += refused(count as u64, l2.mshrs);
                }
            }
            number += times;
            sum += times * self.below(true);
        }
        let partitions = &self.machine.memory().partitions;
        let room = u64::from(partitions.dram.queue + partitions.dram.returns)
            .saturating_sub(u64::from(partitions.slices) - 1)
            + 1;
        let held = if stays && !self.forwards_stores() && waiting <= room {
            0
        } else if !stays && self.l2.is_some() {
            (2 * self.of_slices().into_values().sum::<u64>()).saturating_sub(1) / room
        } else {
            let mut channels: BTreeMap<u64, u64> = BTreeMap::new();
            for request in &self.all {
                if self.l2.is_none() || self.is_forwarded(request) {
                    *channels.entry(self.channel(request.line)).or_default() += self.copies(request);
                }
            }
            for (request, _) in fetches.iter().filter(|_| self.l2.is_some()) {
                *channels.entry(self.channel(request.line)).or_default() += 1;
            }
            channels.into_values().map(|requests| (requests - 1) / room).sum()
        };
        (number + held, sum + held * self.below(true))
    }

    /// How many times one of these loads of a line may be refused because a fetch serves `merge` others.
    /// `waiting` loads of all loads wait at the same time, and no more than `most` of a sector reach the
    /// cache.
    fn joined(
        &self,
        cache: &CacheSettings,
        loads: &[Request],
        (waiting, all_loads): (u64, &[Request]),
        by_sector: bool,
        most: u64,
    ) -> u64 {
        let merge = u64::from(cache.merge);
        let has_bypasses = loads.iter().any(|load| bypasses(load.access));
        if waiting * if by_sector { 1 } else { 4 } <= merge && !has_bypasses {
            return 0;
        }
        let most = if has_bypasses { u64::MAX } else { most };
        let of_sector = |sector: u32| {
            let first = |load: &&Request| self.asked(load).trailing_zeros() == sector;
            (loads.iter().filter(first).count() as u64).min(most)
        };
        // those that wait are counted in 256 groups of sectors or, if any cache joins by line, of lines
        let joins_by_sector = self.l1.is_none_or(|l1| l1.sectored) && self.l2.is_none_or(|l2| l2.sectored);
        let group = |line: u64, sector: u32| {
            (if joins_by_sector { 4 * line + u64::from(sector) } else { line }) % 256
        };
        let may_be = |sector: u32| {
            let of_group = group(loads[0].line, sector);
            let all = all_loads.iter().filter(|load| group(load.line, load.sector) == of_group);
            has_bypasses || self.at_once(&all.copied().collect::<Vec<_>>()) > merge
        };
        if by_sector {
            (0..4)
                .filter(|&sector| may_be(sector))
                .map(|sector| refused(of_sector(sector), cache.merge))
                .sum()
        } else if may_be(0) {
            refused((0..4).map(of_sector).sum(), cache.merge)
        } else {
            0
        }
    }

    /// How many of these can wait at the same time: the most of a block, for each place.
    fn at_once(&self, requests: &[Request]) -> u64 {
        let mut warps: BTreeMap<(usize, usize), Vec<&Request>> = BTreeMap::new();
        requests.iter().for_each(|of| warps.entry((of.block, of.warp)).or_default().push(of));
        let mut of_blocks: BTreeMap<usize, u64> = BTreeMap::new();
        for ((block, _), own) in &warps {
            let at = |index: usize| {
                let waits =
                    |of: &&&Request| of.index <= index && of.awaited.is_none_or(|awaited| awaited > index);
                own.iter().filter(waits).count() as u64
            };
            *of_blocks.entry(*block).or_default() += own.iter().map(|of| at(of.index)).max().unwrap_or(0);
        }
        of_blocks.into_values().max().unwrap_or(0) * self.places.min(self.taken.len() as u64)
    }

    // ---- the bound

    fn bound(&self, blocks: &[BlockPaths]) -> u64 {
        let mut cases = vec![Case::Any];
        if self.l2_stays {
            cases.push(Case::L2);
            if self.l1_stays {
                cases.push(Case::L1);
            }
        }
        cases.into_iter().map(|case| self.in_case(case, blocks)).min().unwrap()
    }

    fn in_case(&self, case: Case, blocks: &[BlockPaths]) -> u64 {
        let (mut spans, mut most, mut code) = (0, 0, 0);
        for block in &self.taken {
            let mut sections: Vec<u64> = Vec::new();
            block.iter().for_each(|warp| code += self.spans(case, warp, &mut sections));
            let launch = (blocks.len() as u64, self.places);
            let own = until_start(self.machine, launch, sections.is_empty()) + sections.iter().sum::<u64>();
            spans += own;
            most = most.max(own);
        }
        let (count, places, scale) = (blocks.len() as u64, self.places, self.scale());
        let of_spans = if count <= places { places * most } else { spans + (places - 1) * most };
        let (excursions, waits) = self.excursions(case);
        let service = self.instructions()
            + self.replies(case)
            + self.deliveries(case)
            + self.dram_service(case, self.visits() + excursions)
            + (code + waits) * scale
            - if case == Case::L1 { self.spared_by_l1() } else { 0 }
            + if case == Case::L1 { self.passed_in_l1() } else { 0 };
        self.code.once()
            + of_launch(self.machine, count)
            + (places * service + of_spans * scale) / (places * scale)
    }

    fn shared_answer(&self) -> u64 {
        let unit = self.machine.pipeline().unwrap().load_store.unwrap();
        if self.loads_shared { (u64::from(unit.shared_latency) + 1).max(2) } else { 0 }
    }

    fn constant_answer(&self) -> u64 {
        let unit = self.machine.pipeline().unwrap().load_store.unwrap();
        if self.passes_constants { u64::from(unit.constant_latency) + 1 } else { 0 }
    }

    /// The latency of an instruction, and that of the acknowledgement of a store.
    fn latency(&self, case: Case, taken: &Taken) -> (u64, u64) {
        let (table, step) = (self.table, taken.step);
        let Some(access) = table.instr(step.pc()).access else {
            return (table.op(step).lat.get() + table.write_back().get(), 0);
        };
        let start = 1;
        let answer = match table.space(step) {
            _ if access == Access::Fence => 0,
            Space::Shared if access == Access::Store => 0,
            Space::Shared => self.shared_answer(),
            Space::Const | Space::Param if access == Access::Load && self.passes_constants => {
                self.constant_answer()
            }
            Space::Global | Space::Local => {
                let fetches = taken.requests.iter().any(|request| self.may_fetch(request));
                let hits = taken.requests.iter().all(|request| self.hits_l1(request));
                let with_dram = case == Case::Any || fetches;
                // (and no less than that of a load of constants)
                let least = self.shared_answer().max(self.constant_answer());
                let all = (self.through_l1() + self.below(with_dram) + 1).max(least);
                if case == Case::L1 && hits { self.through_l1().min(all) } else { all }
            }
            _ => 0,
        };
        if access == Access::Store { (start, start + answer) } else { (start + answer, 0) }
    }

    /// Raises the largest spans of the sections to those of a warp. Returns the services of its lines of
    /// code.
    fn spans(&self, case: Case, warp: &[Taken], sections: &mut Vec<u64>) -> u64 {
        let (table, unit) = (self.table, self.machine.pipeline().unwrap().load_store.unwrap());
        let (mut section, mut ready) = (0, Ready::default());
        let (mut walk, mut code) = (Walk::default(), 0);
        let (mut issue, mut all, mut held) = (0_u64, 0_u64, 0_u64);
        for taken in warp {
            let (step, instr) = (taken.step, table.instr(taken.step.pc()));
            let (latency, acknowledged) = self.latency(case, taken);
            let supplied = self.code.next(&mut walk, step, issue);
            code += supplied.service;
            issue = (issue + supplied.jump).max(supplied.not_before);
            issue = issue.max(held).max(ready.awaited(table, step));
            ready.write(table, step, issue + latency);
            all = all.max(issue + latency);
            if unit.atomics_block && instr.access == Some(Access::Atomic) {
                held = held.max(issue + latency);
            }
            if instr.access == Some(Access::Fence) {
                held = all;
            }
            sections.resize(sections.len().max(section + 1), 0);
            sections[section] = sections[section].max(issue + latency.max(acknowledged));
            sections[section] = sections[section].max(supplied.requested);
            if instr.flow == Flow::Barrier {
                section += 1;
                (issue, all, held) = (0, 0, 0);
                ready.clear();
                walk.begin_section();
            }
        }
        code
    }
}
