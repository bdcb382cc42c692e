//! A second, naive implementation of PLB with a memory system, written from the page of its proof.
//!
//! It covers one SM with one sub-core, without collector, front end, result buses, control codes
//! and constant cache; transactions of 32 bytes; an L1 or partitions; caches with lines of 128
//! bytes; and address bits of channels, slices, banks and rows from 7 on.

use std::collections::{BTreeMap, BTreeSet};

use warpbound::isa::Space;
use warpbound::machine::memory::{CacheSettings, Dram, Jitter, LowerLevel, WriteMiss, WritePolicy};
use warpbound::machine::{Hazards, Machine, Mapping, place_of};
use warpbound::path::{BlockPaths, Footprint, LineUse, Step};
use warpbound::program::{Access, Area, Flow, KernelCode, MemoryOp, TimingTable};

/// A cycle has this many parts, to which services are rounded up.
const WITH_PARTITIONS: u128 = 64;

/// A transaction of an access to global or local memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Request {
    block: usize,
    warp: usize,
    index: usize,
    access: Access,
    line: u64,
    sector: u32,
    /// The load needs a sector that this warp has loaded, and has waited for.
    brought: bool,
    /// The instruction of the warp that waits for it first.
    awaited: Option<usize>,
}

/// A step of a warp, and its transactions.
struct Taken {
    step: Step,
    requests: Vec<Request>,
    /// The instructions before it for which it waits.
    waits: Vec<usize>,
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
    l2_stays: bool,
    l1_stays: bool,
    has_atomics: bool,
    loads_shared: bool,
    loads_global: bool,
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
        l2_stays: false,
        l1_stays: false,
        has_atomics: false,
        loads_shared: false,
        loads_global: false,
    };
    naive.read(program, blocks);
    naive.find_what_stays();
    Some(naive.bound(blocks))
}

/// Whether an access goes to memory.
fn is_global(table: &TimingTable, step: Step) -> bool {
    table.instr(step.pc()).access.is_some_and(|access| access != Access::Fence)
        && matches!(table.space(step), Space::Global | Space::Local)
}

impl Naive<'_> {
    /// Lists all steps and all requests of the launch.
    fn read(&mut self, program: &KernelCode, blocks: &[BlockPaths]) {
        let area = |instr: &warpbound::program::Instr| match instr.memory {
            Some(MemoryOp::Load(area) | MemoryOp::Atomic(area)) => Some(area),
            _ => None,
        };
        self.loads_shared = program
            .instrs
            .iter()
            .any(|instr| matches!(area(instr), Some(Area::Shared | Area::Generic)));
        self.loads_global = program.instrs.iter().any(|instr| {
            matches!(instr.memory, Some(MemoryOp::Load(area)) if !matches!(area, Area::Shared))
        });
        self.has_atomics = program.instrs.iter().any(
            |instr| matches!(instr.memory, Some(MemoryOp::Atomic(area)) if !matches!(area, Area::Shared)),
        );
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
                                let (line, brought, awaited) = (line.line(), false, None);
                                requests.push(Request {
                                    block, warp, index, access, line, sector, brought, awaited,
                                });
                            }
                        }
                    }
                    taken.push(Taken { step, requests, waits: Vec::new() });
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

    /// Finds what each instruction of a warp waits for, and which loads find what the warp has
    /// brought.
    fn find_waits(&self, taken: &mut [Taken]) {
        let (table, unit) = (self.table, self.machine.pipeline().unwrap().load_store.unwrap());
        let waw = table.hazards().contains(Hazards::WAW);
        let mut writer: BTreeMap<usize, usize> = BTreeMap::new();
        let mut held: Vec<usize> = Vec::new();
        for index in 0..taken.len() {
            let (step, instr) = (taken[index].step, table.instr(taken[index].step.pc()));
            let ring = table
                .async_reg(step)
                .filter(|_| instr.flow == Flow::AsyncWait || waw && instr.flow == Flow::AsyncCopy);
            let written: Vec<_> = instr.dsts.as_slice().to_vec();
            let awaited = instr.srcs.as_slice().iter().copied().chain(ring);
            let awaited: Vec<_> = awaited.chain(written.iter().copied().filter(|_| waw)).collect();
            let mut waits: Vec<usize> =
                awaited.iter().filter_map(|reg| writer.get(&reg.index()).copied()).collect();
            waits.extend(&held);
            if !instr.unscored {
                let copied = table.async_reg(step).filter(|_| instr.flow == Flow::AsyncCopy);
                for reg in written.into_iter().chain(copied) {
                    writer.insert(reg.index(), index);
                }
            }
            if unit.atomics_block && instr.access == Some(Access::Atomic) {
                held.push(index);
            }
            if instr.access == Some(Access::Fence) {
                held = (0..index).collect();
            }
            for &waited in &waits {
                for request in &mut taken[waited].requests {
                    request.awaited.get_or_insert(index);
                }
            }
            taken[index].waits = waits;
        }
        let all: Vec<Request> = taken.iter().flat_map(|now| now.requests.clone()).collect();
        for now in taken {
            for request in &mut now.requests {
                request.brought = all.iter().any(|other| {
                    (other.line, other.sector) == (request.line, request.sector)
                        && other.access == Access::Load
                        && other.awaited.is_some_and(|at| at <= request.index)
                });
            }
        }
    }

    fn mapping(&self) -> Mapping {
        Mapping::new(&self.machine.memory().partitions)
    }

    fn copied_lines(&self) -> BTreeSet<u64> {
        let mut lines = BTreeSet::new();
        if self.machine.memory().start.copies() {
            for &(address, bytes) in &self.footprint.buffers {
                (address / 128..(address + bytes).div_ceil(128)).for_each(|line| drop(lines.insert(line)));
            }
        }
        lines
    }

    /// Whether a sector can be read in the L2 when the launch starts.
    fn is_copied(&self, line: u64, sector: u32) -> bool {
        let address = line * 128 + u64::from(sector) * 32;
        self.machine.memory().start.copies()
            && self
                .footprint
                .buffers
                .iter()
                .any(|&(from, bytes)| from < address + 32 && address < from + bytes)
    }

    /// The set of the L2 in which a line is: slice and set.
    fn l2_set(&self, line: u64) -> (usize, usize) {
        let (mapping, l2) = (self.mapping(), self.l2.unwrap());
        (
            mapping.slice(line * 128),
            place_of(mapping.line(line * 128), l2.sets.trailing_zeros(), l2.index),
        )
    }

    fn l1_set(&self, line: u64) -> usize {
        let l1 = self.l1.unwrap();
        place_of(line, l1.sets.trailing_zeros(), l1.index)
    }

    fn find_what_stays(&mut self) {
        if let Some(l2) = self.l2 {
            let mut lines = self.copied_lines();
            lines.extend(self.all.iter().map(|request| request.line));
            let mut sets: BTreeMap<(usize, usize), u64> = BTreeMap::new();
            for line in lines {
                *sets.entry(self.l2_set(line)).or_default() += 1;
            }
            self.l2_stays = l2.write != WritePolicy::Evict && sets.values().all(|&n| n <= l2.ways.into());
        }
        if let Some(l1) = self.l1 {
            let enters = |request: &&Request| match request.access {
                Access::Load => true,
                Access::Store => l1.write != WritePolicy::Evict && l1.write_miss == WriteMiss::Allocate,
                _ => false,
            };
            let lines: BTreeSet<u64> = self.all.iter().filter(enters).map(|request| request.line).collect();
            let mut sets: BTreeMap<usize, u64> = BTreeMap::new();
            for line in lines {
                *sets.entry(self.l1_set(line)).or_default() += 1;
            }
            let sectors = |access: Access| -> BTreeSet<(u64, u32)> {
                let of = self.all.iter().filter(|request| request.access == access);
                of.map(|request| (request.line, request.sector)).collect()
            };
            let removed = l1.write == WritePolicy::Evict
                && !sectors(Access::Load).is_disjoint(&sectors(Access::Store));
            self.l1_stays = (self.l2.is_none() || self.l2_stays)
                && sets.values().all(|&n| n <= l1.ways.into())
                && !removed;
        }
    }

    // ---- times, in parts: a cycle has `cycle()` of them, and all ticks are whole numbers of parts

    fn cycle(&self) -> u128 {
        let partitions = &self.machine.memory().partitions;
        u128::from(partitions.clock.0) * u128::from(partitions.dram.clock.0)
    }

    fn tick(&self) -> u128 {
        let partitions = &self.machine.memory().partitions;
        u128::from(partitions.clock.1) * u128::from(partitions.dram.clock.0)
    }

    fn dram_tick(&self) -> u128 {
        let partitions = &self.machine.memory().partitions;
        u128::from(partitions.clock.1) * u128::from(partitions.dram.clock.1)
    }

    fn dram(&self) -> &Dram {
        &self.machine.memory().partitions.dram
    }

    /// Rounds a service up to a 64th of a cycle (to a cycle without partitions).
    fn units(&self, parts: u128) -> u128 {
        (parts * self.scale()).div_ceil(self.cycle())
    }

    fn scale(&self) -> u128 {
        if self.partitions { WITH_PARTITIONS } else { 1 }
    }

    fn jitter(&self) -> u64 {
        match self.machine.memory().jitter {
            Jitter::Uniform(_, most) | Jitter::HeavyTail { most, .. } => most,
            _ => 0,
        }
    }

    // ---- the way

    fn l1_time(&self) -> u128 {
        let latency = self.machine.memory().l1.as_ref().map(|l1| l1.latency.max(1));
        u128::from(latency.map_or(0, |latency| latency + 1)) * self.cycle()
    }

    /// The times from the port to the receipt, with and without DRAM.
    fn below(&self, with_dram: bool) -> u128 {
        let memory = self.machine.memory();
        if !self.partitions {
            let latency = if memory.lower == LowerLevel::Perfect { 1 } else { memory.fixed.latency };
            return u128::from((latency + self.jitter()).max(1) + 1) * self.cycle();
        }
        let to_the_slice = u128::from(1 + 1 + memory.partitions.latency + 1) * self.tick();
        to_the_slice + self.tick() + if with_dram { self.in_dram() } else { 0 } + 2 * self.cycle()
    }

    /// The times from the queue to DRAM to the end of the fill.
    fn in_dram(&self) -> u128 {
        let dram = self.dram();
        let fill = if self.l2.is_some() { self.tick() } else { 0 };
        self.tick() * (1 + u128::from(dram.latency + self.jitter()))
            + self.dram_tick() * u128::from(dram.cl.max(dram.wl).max(1) + 1)
            + fill
    }

    // ---- services, in parts

    /// The bytes of a request behind the L1.
    fn size(&self, request: &Request) -> u128 {
        match self.l1 {
            Some(l1) if !l1.sectored && request.access == Access::Load => 128,
            _ => 32,
        }
    }

    /// m
    fn passing(&self, size: u128) -> u128 {
        if !self.partitions {
            return self.cycle();
        }
        let ticks = self.l2.map_or(1, |l2| size.div_ceil(l2.port.into()));
        (ticks * self.tick()).max(self.cycle())
    }

    fn delivery(&self, line: u64) -> u128 {
        if !self.partitions {
            return 0;
        }
        let slice = self.mapping().slice(line * 128);
        let requests =
            self.all.iter().filter(|request| self.mapping().slice(request.line * 128) == slice).count();
        if requests as u64 <= self.machine.memory().partitions.queue.into() {
            0
        } else {
            self.tick().max(self.cycle())
        }
    }

    /// C
    fn column(&self) -> u128 {
        let dram = self.dram();
        dram.ccd.max(dram.ccdl).max(dram.rtpl).max(1).into()
    }

    /// The columns of a request in DRAM ticks.
    fn columns(&self, bytes: u128, is_write: bool) -> u128 {
        let dram = self.dram();
        let changes = (dram.cl + dram.burst + 2).saturating_sub(dram.wl) + dram.wl + dram.burst + dram.cdlr;
        bytes.div_ceil(dram.burst_bytes.into()) * self.column()
            + if is_write { u128::from(changes) } else { 0 }
    }

    fn activation(&self) -> u128 {
        let dram = self.dram();
        let own = dram.rc.max(dram.ras.max(dram.wl + dram.burst + dram.wr) + dram.rp);
        (own + dram.rcd + dram.rrd.max(1) + 3).into()
    }

    fn fill(&self, bytes: u128) -> u128 {
        self.l2.map_or(0, |l2| bytes.div_ceil(l2.port.into()) * self.tick())
    }

    fn may_wait_for_dram(&self, request: &Request) -> bool {
        if !self.partitions {
            return false;
        }
        let load = request.access != Access::Store;
        if self.l2.is_some() && load && self.l2_stays {
            return !(self.is_copied(request.line, request.sector) || request.brought);
        }
        load || self.l2.is_none()
    }

    fn is_l1_hit(&self, request: &Request) -> bool {
        self.l1_stays && request.access == Access::Load && request.brought
    }

    /// The service of everything, in units.
    fn services(&self) -> u128 {
        let mut sum = 0;
        for taken in self.taken.iter().flatten().flatten() {
            let (table, step) = (self.table, taken.step);
            let instr = table.instr(step.pc());
            let parts = match (instr.access, table.space(step)) {
                (None, _) => u128::from(table.op(step).init.get()) * self.cycle(),
                (Some(Access::Fence), _) => self.cycle(),
                (Some(_), Space::Shared) => {
                    let extra = u128::from(step.memory().extra_transactions);
                    let sooner = instr.access != Some(Access::Store) && self.loads_global;
                    (extra + 1 + u128::from(sooner)) * self.cycle()
                }
                (Some(_), Space::Global | Space::Local) => 0,
                _ => self.cycle(),
            };
            sum += self.units(parts);
            let global = matches!(table.space(step), Space::Global | Space::Local)
                && instr.access.is_some_and(|access| access != Access::Fence);
            if global && taken.requests.is_empty() {
                sum += self.units(self.cycle());
            }
            for request in &taken.requests {
                sum += self.units(self.request(request));
            }
        }
        sum + self.units(self.dram_parts())
    }

    /// The service of a request up to the look-up, and of its reply.
    fn request(&self, request: &Request) -> u128 {
        if self.is_l1_hit(request) {
            return self.cycle();
        }
        let m = self.passing(self.size(request));
        let mut parts = m + self.delivery(request.line);
        if self.may_wait_for_dram(request) {
            parts += m;
        }
        if self.l1.is_some() && self.has_atomics && request.access != Access::Atomic {
            parts += self.cycle();
        }
        if self.loads_shared && request.access != Access::Store {
            parts += self.cycle();
        }
        parts
    }

    /// The service of DRAM, of all requests that go there.
    fn dram_parts(&self) -> u128 {
        if !self.partitions {
            return 0;
        }
        // the requests that go there: address, bytes, and whether they write
        let mut there: Vec<(u64, u128, bool)> = Vec::new();
        let mut fetched: BTreeSet<(u64, u32)> = BTreeSet::new();
        for request in &self.all {
            let (line, sector) = (request.line, request.sector);
            let address = line * 128 + u64::from(sector) * 32;
            let Some(l2) = self.l2 else {
                there.push((address, self.size(request), request.access == Access::Store));
                continue;
            };
            let bytes = if l2.sectored { self.size(request) } else { 128 };
            if request.access == Access::Store {
                let stays = l2.write == WritePolicy::Back
                    && (l2.write_miss == WriteMiss::Allocate
                        || self.l2_stays && self.is_copied(line, sector));
                if !stays {
                    there.push((address, 32, true));
                }
                if l2.write == WritePolicy::Back && !self.l2_stays {
                    there.push((address, 32, true));
                }
                continue;
            }
            if !self.l2_stays {
                there.push((address, bytes, false));
                if request.access == Access::Atomic {
                    there.push((address, bytes, true));
                }
            } else if !self.is_copied(line, sector) {
                let key = if l2.sectored { (line, sector) } else { (line, 0) };
                let parts = self.l1.is_some_and(|l1| !l1.sectored);
                if fetched.insert(key) || parts {
                    there.push((address, bytes, false));
                }
            }
        }
        let mut rows: BTreeMap<(u64, u64), BTreeMap<u64, u128>> = BTreeMap::new();
        let mut parts = 0;
        for (address, bytes, is_write) in there {
            let fill = if is_write { 0 } else { self.fill(bytes) };
            let column = self.column() * self.dram_tick();
            let paid = self.passing(bytes.min(32)).min(column.max(fill));
            parts += self.dram_tick() * (1 + self.columns(bytes, is_write)) + fill - paid;
            let inner = self.mapping().inner(address);
            let channel = self.mapping().slice(address) as u64 / u64::from(self.machine.memory().partitions.slices);
            let bits = self.dram().bank_bits.iter().enumerate();
            let bank = bits.map(|(at, &bit)| (inner >> bit & 1) << at).sum::<u64>();
            *rows.entry((channel, bank)).or_default().entry(inner >> self.dram().row_bit).or_default() += 1;
        }
        for of_bank in rows.values() {
            let openings = if of_bank.len() == 1 { 1 } else { of_bank.values().sum() };
            parts += openings * self.activation() * self.dram_tick();
        }
        parts
    }

    // ---- excursions

    /// The excursions of Lemma M4, in parts.
    fn excursions(&self) -> u128 {
        let mut parts = 0;
        if let Some(l1) = self.l1 {
            let loads: Vec<Request> =
                self.all.iter().copied().filter(|request| request.access == Access::Load).collect();
            let number = self.refusals(&l1, &loads, &|line| (0, self.l1_set(line)));
            parts += number * (self.below(true) + self.cycle());
        }
        if let Some(l2) = self.l2 {
            let loads: Vec<Request> = self
                .all
                .iter()
                .copied()
                .filter(|request| request.access != Access::Store && self.may_wait_for_dram(request))
                .collect();
            let number = self.refusals(&l2, &loads, &|line| self.l2_set(line));
            parts += number * self.in_dram();
        }
        if self.partitions {
            let partitions = &self.machine.memory().partitions;
            let room = u64::from(partitions.dram.queue + partitions.dram.returns + 2)
                .saturating_sub(partitions.slices.into())
                .max(1);
            let mut channels: BTreeMap<usize, Vec<Request>> = BTreeMap::new();
            for request in self.all.iter().filter(|request| self.may_wait_for_dram(request)) {
                let slice = self.mapping().slice(request.line * 128);
                channels.entry(slice / partitions.slices as usize).or_default().push(*request);
            }
            for requests in channels.values() {
                if self.at_once(requests) >= room {
                    parts += u128::from(requests.len() as u64 / room) * self.in_dram();
                }
            }
        }
        parts
    }

    fn refusals(
        &self,
        cache: &CacheSettings,
        loads: &[Request],
        set: &dyn Fn(u64) -> (usize, usize),
    ) -> u128 {
        let mut number = 0;
        let (mut slices, mut lines, mut sets) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        for load in loads {
            let (slice, index) = set(load.line);
            slices.entry(slice).or_insert_with(Vec::new).push(*load);
            lines.entry((load.line, load.sector)).or_insert_with(Vec::new).push(*load);
            sets.entry((slice, index)).or_insert_with(Vec::new).push(*load);
        }
        for loads in slices.values() {
            if self.at_once(loads) > cache.mshrs.into() {
                number += loads.len() as u64 / u64::from(cache.mshrs);
            }
        }
        for loads in lines.values() {
            if self.at_once(loads) > cache.merge.into() {
                number += loads.len() as u64 / u64::from(cache.merge);
            }
        }
        for loads in sets.values() {
            let different: BTreeSet<u64> = loads.iter().map(|load| load.line).collect();
            if different.len() as u64 > cache.ways.into() && self.at_once(loads) > cache.ways.into() {
                number += loads.len() as u64 / u64::from(cache.ways);
            }
        }
        number.into()
    }

    /// How many of these can wait at the same time.
    fn at_once(&self, requests: &[Request]) -> u64 {
        let mut of_blocks: Vec<u64> = Vec::new();
        for (block, warps) in self.taken.iter().enumerate() {
            let mut of_block = 0;
            for warp in 0..warps.len() {
                let own: Vec<&Request> =
                    requests.iter().filter(|of| (of.block, of.warp) == (block, warp)).collect();
                let at = |index: usize| {
                    let waits = |of: &&&Request| {
                        of.index <= index && of.awaited.is_none_or(|awaited| awaited > index)
                    };
                    own.iter().filter(waits).count() as u64
                };
                of_block += own.iter().map(|of| at(of.index)).max().unwrap_or(0);
            }
            of_blocks.push(of_block);
        }
        of_blocks.sort_unstable();
        of_blocks.iter().rev().take(self.places as usize).sum()
    }

    // ---- the bound

    fn bound(&self, blocks: &[BlockPaths]) -> u64 {
        let launch = self.machine.pipeline().unwrap().launch;
        let (mut spans, mut most) = (0_u128, 0_u128);
        for block in &self.taken {
            let mut sections: Vec<u64> = Vec::new();
            block.iter().for_each(|warp| self.spans(warp, &mut sections));
            let empty = sections.is_empty() && launch.start > 0;
            let own = launch.start + u64::from(empty) + sections.iter().sum::<u64>();
            spans += u128::from(own);
            most = most.max(own.into());
        }
        let (count, places) = (blocks.len() as u64, u128::from(self.places));
        let of_spans = if count <= self.places { places * most } else { spans + (places - 1) * most };
        let placing =
            if launch.blocks_per_cycle > 0 { (count - 1) / u64::from(launch.blocks_per_cycle) } else { 0 };
        let once = launch.first + launch.end + placing;
        let units = self.services() + self.units(self.excursions());
        once + u64::try_from((places * units + of_spans * self.scale()) / (places * self.scale())).unwrap()
    }

    /// The latency of an instruction, and that of the acknowledgement of a store.
    fn latency(&self, taken: &Taken) -> (u64, u64) {
        let (table, step, pipeline) = (self.table, taken.step, self.machine.pipeline().unwrap());
        let instr = table.instr(step.pc());
        let Some(access) = instr.access else {
            return (table.op(step).lat.get() + pipeline.write_back, 0);
        };
        let space = table.space(step);
        let start = 1;
        if access == Access::Fence {
            return (start, 0);
        }
        match space {
            Space::Shared if access == Access::Store => (start, 0),
            Space::Shared => (start + u64::from(pipeline.load_store.unwrap().shared_latency) + 1, 0),
            Space::Global | Space::Local => {
                let with_dram = taken.requests.iter().any(|request| self.may_wait_for_dram(request));
                let hits = taken.requests.iter().all(|request| self.is_l1_hit(request));
                let l1 = if access == Access::Atomic { 0 } else { self.l1_time() };
                let below = if hits { 0 } else { self.below(with_dram) };
                let way = u64::try_from((l1 + below).div_ceil(self.cycle())).unwrap();
                let all = start + way + 1;
                if access == Access::Store { (start, all) } else { (all, 0) }
            }
            _ => (start, 0),
        }
    }

    /// Raises the largest spans of the sections to those of a warp.
    fn spans(&self, warp: &[Taken], sections: &mut Vec<u64>) {
        let (table, unit) = (self.table, self.machine.pipeline().unwrap().load_store.unwrap());
        let waw = table.hazards().contains(Hazards::WAW);
        let mut section = 0;
        let mut ready: BTreeMap<usize, u64> = BTreeMap::new();
        let (mut issue, mut all, mut held) = (0_u64, 0_u64, 0_u64);
        for taken in warp {
            let (step, instr) = (taken.step, table.instr(taken.step.pc()));
            let (latency, acknowledged) = self.latency(taken);
            let ring = table
                .async_reg(step)
                .filter(|_| instr.flow == Flow::AsyncWait || waw && instr.flow == Flow::AsyncCopy);
            let written = instr.dsts.as_slice().iter().copied();
            let awaited =
                instr.srcs.as_slice().iter().copied().chain(written.clone().filter(|_| waw)).chain(ring);
            let last = awaited.filter_map(|reg| ready.get(&reg.index()).copied()).max().unwrap_or(0);
            issue = issue.max(held).max(last);
            if !instr.unscored {
                let copied = table.async_reg(step).filter(|_| instr.flow == Flow::AsyncCopy);
                for reg in written.chain(copied) {
                    ready.insert(reg.index(), issue + latency);
                }
            }
            all = all.max(issue + latency);
            if unit.atomics_block && instr.access == Some(Access::Atomic) {
                held = held.max(issue + latency);
            }
            if instr.access == Some(Access::Fence) {
                held = all;
            }
            sections.resize(sections.len().max(section + 1), 0);
            sections[section] = sections[section].max(issue + latency.max(acknowledged));
            if instr.flow == Flow::Barrier {
                section += 1;
                (issue, all, held) = (0, 0, 0);
                ready.clear();
            }
        }
    }
}
