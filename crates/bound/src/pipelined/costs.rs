//! What an instruction costs others, and what its own warp waits for.
//!
//! The *service* of an instruction is the number of cycles for which it may keep busy what other
//! instructions wait for: a unit, the load/store unit, or the stage that writes results back. Its
//! *latency* is the number of cycles from its issue to its result in which nothing else is served.
//! The proof ([`crate::proofs::plb`]) derives both from the rules of the stages.

use std::collections::{BTreeMap, BTreeSet};

use super::CASES;
use super::leaving::Leaving;
use super::memory::{LaunchMemory, Path, SentElsewhere, greatest_common_divisor, longest_jitter};
use crate::parts::Services;
use warpbound_core::base::UnitId;
use warpbound_core::isa::Space;
use warpbound_core::machine::memory::LowerLevel;
use warpbound_core::machine::pipeline::{AccessQueues, Collector, LoadStore};
use warpbound_core::machine::{Machine, MemorySystem, OpTiming};
use warpbound_core::path::{Accessed, Elsewhere, LineUse, Step};
use warpbound_core::program::{Access, Area, KernelCode, MemoryOp, RegList, TimedInstr, TimingTable};

/// The number of answers that wait in the load/store unit if memory is perfect.
const INBOX: u64 = 32;

/// The cost of one execution of an instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Cost {
    /// The services, in the scaled unit.
    pub service: Services,
    /// The service of the writes of its results, in the scaled unit. That of requests to memory is what
    /// exceeds their service behind the SM.
    pub writes: u64,
    /// Whether every sub-core can wait for this service.
    pub shared: bool,
    /// The cycles from the issue to the availability of the result, without service.
    pub latency: u64,
    /// The cycles by which an answer comes earlier in each case of [`Stays`](super::memory::Stays).
    pub earlier: [u64; CASES],
    /// The cycles from the issue to the moment at which the sources have been read, without
    /// service.
    pub read: u64,
    /// The cycles from the issue to the acknowledgement of a store, without service.
    pub acknowledged: u64,
    /// The cycles before the issue in which the warp may wait for room although nothing is served.
    pub room: u64,
    /// Whether it is an access to memory, or to a cache for constants, so that it may go to DRAM.
    pub reaches_memory: bool,
    /// Whether the warp issues nothing before the instruction has completed.
    pub holds: bool,
    /// Whether the warp issues nothing before all its results are available.
    pub fences: bool,
}

/// The costs that depend only on the instruction.
#[derive(Clone, Copy, Debug, Default)]
struct OfInstr {
    /// The cycles in which the collector may do nothing but read its operands, while units are
    /// idle.
    reading: u64,
    /// The cycles in which its results are written, if no bank is written by another instruction.
    writes: u64,
    /// The access, if the instruction uses the load/store unit.
    access: Option<Access>,
    /// The cost on its unit, if all executions take the same time.
    on_unit: Option<Cost>,
}

/// The costs of the instructions of a program on a machine.
#[derive(Clone, Debug)]
pub(super) struct Costs {
    scale: u64,
    instrs: Vec<OfInstr>,
    has_collector: bool,
    /// The cycles from an issue to the start in the unit, if nothing else is there.
    front: u64,
    /// The same for the load/store unit.
    front_of_memory: u64,
    room: u64,
    /// The longest time from the end of an access in the load/store unit to the moment at which its
    /// result can be written back: of an access to shared memory, and of one to global or local
    /// memory.
    shared_answer: u64,
    answer: u64,
    /// This time for a load of a constant or a parameter; `None` if it is complete when the unit has
    /// served it.
    constant_answer: Option<u64>,
    /// The cycles from the end of an access in the load/store unit until its sources count as read.
    read_latency: u64,
    /// The cycles by which an answer comes earlier if the request need not go to DRAM, and if it hits
    /// in the L1.
    earlier: (u64, u64),
    /// Whether the writes of results from global or local memory count in addition to its service,
    /// because results from shared memory take a shorter way to the write-back.
    writes_apart: bool,
    /// The service of a load from shared memory in the load/store unit, if it counts in addition to
    /// the write-back.
    shared_apart: u64,
    /// The service of a load of a constant or a parameter there, if it counts in addition.
    constants_apart: u64,
    /// The factors by which the service of transactions to memory, and of loads from shared memory,
    /// also pays for times in which the load/store unit is full.
    global_factor: u64,
    shared_factor: u64,
    /// Whether a write of a result can keep the collector from reading for a cycle.
    writes_block: bool,
    /// The shortest time from the start of an operation to the write of its result that can keep a
    /// result of the load/store unit from being written, in addition to its service; without a
    /// collector or such results there is none.
    late_write: Option<u64>,
    /// Whether the services at slices count by themselves, because several SMs share them.
    apart_from_slices: bool,
    /// The settings of the load/store unit, if there is one.
    load_store: LoadStore,
    /// What operations cost because results would leave units together.
    leaving: Leaving,
    ends_warps: bool,
    left: u64,
}

impl Costs {
    /// Creates the costs on a machine. `path` is the way through the memory system, if there is one,
    /// which this many SMs share.
    pub fn new(
        program: &KernelCode,
        table: &TimingTable,
        machine: &Machine,
        (path, sms): (Option<&Path>, usize),
    ) -> Self {
        let pipeline = machine.pipeline();
        let load_store = pipeline.and_then(|pipeline| pipeline.load_store);
        let collector = pipeline.and_then(|pipeline| pipeline.collector);
        let sub_cores = table.sub_cores();
        let on_units =
            || table.instrs().iter().filter(|instr| instr.access.is_none() || load_store.is_none());
        let buses = pipeline.and_then(|pipeline| pipeline.result_buses).map(u64::from);
        let scale = scale(machine);
        let leaving = collector
            .map(|_| Leaving::new(on_units().flat_map(all_timings), sub_cores, buses, scale))
            .unwrap_or_default();
        let reads =
            |instr: &TimedInstr| most_in_one_bank(table, &instr.operands, collector, sub_cores.count());
        let front = collector.map_or(0, |collector| front(collector, 1));
        let share = collector.map_or(0, |collector| u64::from(collector.units) / sub_cores.count() as u64);
        let instrs = table.instrs().iter().map(|instr| OfInstr {
            reading: collector
                .map_or(0, |collector| reading(collector, share, reads(instr), sub_cores.count())),
            writes: writes(table, &instr.results, collector, sub_cores.count()),
            access: instr.access.filter(|_| load_store.is_some()),
            on_unit: None,
        });
        let queue = pipeline.and_then(|pipeline| pipeline.queue).filter(|_| collector.is_none());
        let left = queue.map(|queue| {
            let units = on_units().flat_map(all_timings).map(|op| op.unit);
            let private: BTreeSet<UnitId> = units.filter(|&unit| !sub_cores.is_shared(unit)).collect();
            let most_left = private.into_iter().map(|unit| longest_init(table, unit));
            most_left.map(|init| init.saturating_mul(u64::from(queue) + 1)).sum()
        });
        let writes_back =
            table.instrs().iter().any(|instr| instr.access.is_some() && !instr.results.as_slice().is_empty());
        let answers = load_store.map_or_else(Answers::default, |unit| {
            let of_shared = if reads_shared(program) { u64::from(unit.shared_latency) } else { 0 };
            let of_constants = if reads_constants(program) { u64::from(unit.constant_latency) } else { 0 };
            if let Some(path) = path {
                return Answers::of_path(path, of_shared, of_constants);
            }
            let least = answer(of_shared.max(of_constants), machine.memory());
            if collector.is_none() || !writes_back {
                return Answers::equal(least);
            }
            Answers::equal(longer_answer(least, most_answer(least, unit, machine.memory()), table))
        });
        let mut costs = Self {
            scale,
            instrs: instrs.collect(),
            has_collector: collector.is_some(),
            front,
            front_of_memory: if collector.is_some() { front } else { 1 },
            room: if collector.is_some() { front.saturating_sub(share + 1) } else { 0 },
            shared_answer: answers.shared,
            answer: answers.memory,
            constant_answer: load_store.filter(|unit| unit.constant_latency > 0).map(|_| answers.constants),
            // without control codes, nothing waits for the sources to be read
            read_latency: load_store
                .filter(|_| table.barriers().is_some())
                .map_or(0, |unit| unit.read_latency.into()),
            earlier: answers.earlier,
            writes_apart: answers.differ,
            shared_apart: u64::from(answers.overtakes),
            constants_apart: u64::from(path.is_some()),
            global_factor: match machine.memory().lower {
                LowerLevel::Perfect if path.is_none() => {
                    answers.memory.saturating_sub(1).div_ceil(INBOX).max(1)
                }
                LowerLevel::Perfect | LowerLevel::Fixed | LowerLevel::Partitions => 1,
            },
            shared_factor: load_store.map_or(1, |unit| {
                answers.shared.saturating_sub(1).div_ceil(unit.shared_latency.max(1).into()).max(1)
            }),
            writes_block: collector.is_some_and(|collector| collector.steps == 1),
            late_write: collector.and(load_store).and(writes_back.then_some(answers.first)),
            apart_from_slices: sms > 1,
            load_store: load_store.unwrap_or_default(),
            leaving,
            ends_warps: pipeline
                .and_then(|pipeline| pipeline.front_end)
                .is_some_and(|front_end| front_end.ends_warps),
            left: left.map_or(u64::MAX, |left: u64| left.saturating_mul(scale)),
        };
        for (index, instr) in table.instrs().iter().enumerate() {
            if costs.instrs[index].access.is_none() && instr.by_space.is_none() && instr.banks.is_none() {
                costs.instrs[index].on_unit = Some(costs.of_unit(costs.instrs[index], table, instr.op));
            }
        }
        costs
    }

    /// Returns the number of units of service per cycle.
    pub fn scale(&self) -> u64 {
        self.scale
    }

    /// Returns the cycles that a block takes after its last instruction has completed.
    pub fn block(&self) -> u64 {
        u64::from(self.ends_warps)
    }

    /// Returns the most service that a block's earlier sections may have left on the private units
    /// of a sub-core when a section begins.
    pub fn left(&self) -> u64 {
        self.left
    }

    /// Returns the cost of an instruction if all of its executions have the same.
    #[inline(always)]
    pub fn fixed(&self, step: Step) -> Option<&Cost> {
        self.instrs[step.pc().index()].on_unit.as_ref()
    }

    /// Returns the cost of an execution that accesses this. If there is a memory system, it records
    /// the requests.
    #[inline(always)]
    pub fn of(
        &self,
        table: &TimingTable,
        step: Step,
        accessed: Accessed,
        memory: Option<&mut LaunchMemory>,
    ) -> Cost {
        let instr = &self.instrs[step.pc().index()];
        match (instr.on_unit, instr.access) {
            (Some(cost), _) => cost,
            (None, Some(access)) => {
                let space = table.space(step);
                let cost = self.of_access(*instr, access, (space, extra(step)), accessed);
                match memory {
                    Some(memory) if reaches_memory(access, space) => {
                        self.in_memory(cost, (*instr, access), accessed, memory)
                    }
                    Some(memory) if memory.path().caches(access, space) => {
                        self.of_constants(cost, (*instr, extra(step)), accessed, memory)
                    }
                    _ => cost,
                }
            }
            (None, None) => self.of_unit(*instr, table, table.op(step)),
        }
    }

    /// Returns the cost of an execution that only some paths have, and what its requests cost besides.
    pub fn of_some_paths(
        &self,
        table: &TimingTable,
        step: Step,
        accessed: Accessed,
        path: Option<&Path>,
    ) -> (Cost, SentElsewhere) {
        let elsewhere = if table.moves_lines(step) {
            accessed.elsewhere.and(Elsewhere::of_lines(accessed.lines))
        } else {
            Elsewhere::default()
        };
        let accessed = Accessed { lines: &[], elsewhere };
        let mut cost = self.of(table, step, accessed, None);
        let instr = self.instrs[step.pc().index()];
        let space = table.space(step);
        let (Some(access), Some(path)) = (instr.access, path) else {
            return (cost, SentElsewhere::default());
        };
        if path.caches(access, space) {
            let sent = path.constants_elsewhere(elsewhere, self.ends(instr, access));
            let requests = (sent.service, sent.requests);
            return (self.with_constants(cost, (instr, extra(step)), requests, [true; 2]), sent);
        }
        if !reaches_memory(access, space) {
            return (cost, SentElsewhere::default());
        }
        let sent = path.elsewhere(access, elsewhere, self.ends(instr, access));
        let service = sent.service + sent.requests * self.apart(instr, access);
        let addresses = self.addresses(access, sent.requests) * self.scale;
        cost.service.load_store = service.max(self.scale) + addresses;
        cost.writes = self.writes_beside(cost.writes, sent.requests);
        cost.earlier = self.earlier_in(sent.fetches, false);
        (cost, sent)
    }

    fn of_unit(&self, instr: OfInstr, table: &TimingTable, op: OpTiming) -> Cost {
        let lat = (op.lat + table.write_back()).get();
        let is_late = self.late_write.is_some_and(|least| op.init.get() + lat >= least);
        let counts_write = instr.writes > 0 && (self.writes_block || is_late);
        let service = Services {
            units: op.init.get() * self.scale,
            results: self.leaving.cost(op),
            operands: (instr.reading + u64::from(counts_write)) * self.scale,
            ..Services::default()
        };
        Cost {
            service,
            writes: instr.writes * self.scale,
            shared: self.has_collector || table.sub_cores().is_shared(op.unit),
            latency: self.front + lat,
            read: self.front,
            room: self.room,
            ..Cost::default()
        }
    }

    fn of_access(
        &self,
        instr: OfInstr,
        access: Access,
        (space, extra): (Space, u64),
        accessed: Accessed,
    ) -> Cost {
        let front = self.front_of_memory;
        let writes = self.write_cycles(instr);
        let is_store = access == Access::Store;
        let transactions = self.transactions(accessed).max(1);
        let occupied = (extra + 1) * u64::from(self.load_store.shared_interval);
        let by_address = self.by_address(extra);
        let (service, answered) = match space {
            _ if access == Access::Fence => (1, false),
            Space::Shared if is_store => (occupied, false),
            Space::Shared => {
                let LoadStore { conflict_latency, shared_atomic_latency, .. } = self.load_store;
                let atomic = if access == Access::Atomic { shared_atomic_latency } else { 0 };
                let delay = extra * u64::from(conflict_latency) + u64::from(atomic);
                ((self.shared_apart + occupied - 1 + delay + writes) * self.shared_factor, true)
            }
            Space::Global | Space::Local => {
                let writes = if is_store { 1 } else { writes }.max(self.data_cycles(access));
                (transactions * writes * self.global_factor + self.addresses(access, transactions), true)
            }
            Space::Const | Space::Param if access == Access::Load && self.constant_answer.is_some() => {
                (self.constants_apart + by_address + writes, true)
            }
            Space::Const | Space::Param => (by_address + 1, false),
            Space::Generic => (1, false),
        };
        let answer = match space {
            _ if !answered => 0,
            Space::Shared => self.shared_answer,
            Space::Const | Space::Param => self.constant_answer.unwrap_or(0),
            Space::Global | Space::Local | Space::Generic => self.answer,
        };
        let blocked = if self.writes_block { transactions * instr.writes } else { 0 };
        let written = if space == Space::Shared { 1 } else { transactions };
        Cost {
            writes: written * writes * self.scale,
            service: Services {
                load_store: service * self.scale,
                operands: (instr.reading + blocked) * self.scale,
                ..Services::default()
            },
            shared: true,
            latency: front + if is_store { 0 } else { answer },
            earlier: Default::default(),
            read: front + self.read_latency,
            acknowledged: if is_store { front + answer } else { 0 },
            room: self.room,
            reaches_memory: reaches_memory(access, space),
            holds: self.load_store.atomics_block && access == Access::Atomic,
            fences: access == Access::Fence,
        }
    }

    /// Returns the cost of an access to global or local memory, given what it costs in memory of fixed
    /// latency, and records its requests.
    fn in_memory(
        &self,
        mut cost: Cost,
        (instr, access): (OfInstr, Access),
        accessed: Accessed,
        memory: &mut LaunchMemory,
    ) -> Cost {
        let (ends, apart) = (self.ends(instr, access), self.apart(instr, access));
        let (mut service, mut fetches, mut hits_l1) = (0, false, true);
        let mut requests = 0;
        for line in accessed.lines {
            let sent = memory.send(access, (line.line(), line.sectors()), ends);
            service += sent.service + sent.requests * apart;
            requests += sent.requests;
            fetches |= sent.late > 0;
            hits_l1 &= !sent.misses_l1;
        }
        if accessed.elsewhere != Elsewhere::default() {
            let sent = memory.send_elsewhere(access, accessed.elsewhere, ends);
            service += sent.service + sent.requests * apart;
            requests += sent.requests;
            (fetches, hits_l1) = (fetches || sent.fetches, false);
        }
        let addresses = self.addresses(access, requests) * self.scale;
        cost.service.load_store = service.max(self.scale) + addresses;
        cost.writes = self.writes_beside(cost.writes, requests);
        cost.earlier = self.earlier_in(fetches, hits_l1);
        cost
    }

    /// Returns what writing the results of requests costs on other SMs, given all of it: what exceeds
    /// the service of each request behind its SM.
    fn writes_beside(&self, writes: u64, requests: u64) -> u64 {
        writes.saturating_sub(requests * self.scale)
    }

    /// Returns the cost of a load that goes through the cache for constants, and records its requests.
    fn of_constants(
        &self,
        cost: Cost,
        (instr, extra): (OfInstr, u64),
        accessed: Accessed,
        memory: &mut LaunchMemory,
    ) -> Cost {
        let ends = self.ends(instr, Access::Load);
        let (mut service, mut requests, mut fetches, mut misses) = (0, 0, false, false);
        for line in accessed.lines {
            let sent = memory.send_constants((line.line(), line.sectors()), ends);
            (service, requests) = (service + sent.service, requests + sent.requests);
            (fetches, misses) = (fetches || sent.late > 0, misses || sent.misses_l1);
        }
        if accessed.elsewhere != Elsewhere::default() {
            let sent = memory.send_constants_elsewhere(accessed.elsewhere, ends);
            (service, requests) = (service + sent.service, requests + sent.requests);
            (fetches, misses) = (true, true);
        }
        self.with_constants(cost, (instr, extra), (service, requests), [fetches, misses])
    }

    /// Returns the cost of a load of constants whose requests have this service on their way, given what
    /// it costs if constants pass stages only. Its transactions are looked up one after the other, and
    /// each may be answered by itself.
    fn with_constants(
        &self,
        mut cost: Cost,
        (instr, extra): (OfInstr, u64),
        (service, requests): (u64, u64),
        [fetches, misses]: [bool; 2],
    ) -> Cost {
        let writes = self.write_cycles(instr);
        cost.reaches_memory = true;
        cost.writes = requests.max(1) * writes * self.scale;
        let served = self.by_address(extra) + requests.max(1) * (1 + writes);
        cost.service.load_store = service + served * self.scale;
        let blocked = if self.writes_block { requests.max(1) * instr.writes } else { 0 };
        cost.service.operands = (instr.reading + blocked) * self.scale;
        let front = self.front_of_memory;
        let hit = front + self.constant_answer.unwrap_or(0);
        cost.latency = (front + self.answer).max(hit);
        let if_l2_stays = if fetches { 0 } else { self.earlier.0 };
        let if_it_stays = if misses { if_l2_stays } else { cost.latency - hit };
        cost.earlier = [0, if_l2_stays, if_it_stays.max(if_l2_stays)];
        cost
    }

    /// Returns the cycles by which an answer comes earlier in each case of [`Stays`](super::memory::Stays).
    fn earlier_in(&self, fetches: bool, hits_l1: bool) -> [u64; CASES] {
        let (from_l2, from_l1) = self.earlier;
        let if_l2_stays = if fetches { 0 } else { from_l2 };
        [0, if_l2_stays, if hits_l1 { from_l1 } else { if_l2_stays }]
    }

    /// Returns the service that the reply of a request needs on the SM, and whether services at slices
    /// count by themselves.
    fn ends(&self, instr: OfInstr, access: Access) -> (u64, bool) {
        let counts = !self.writes_apart && self.has_collector && access != Access::Store;
        let writes = if counts { instr.writes.max(1) } else { 1 };
        (writes * self.scale, self.apart_from_slices)
    }

    /// Returns the cycles in which the results of a request are written.
    fn write_cycles(&self, instr: OfInstr) -> u64 {
        if self.has_collector { instr.writes.max(1) } else { 1 }
    }

    /// Returns the service of a request that counts in addition to its largest one: that of writing its
    /// results, if it counts by itself, and what its data take in the load/store unit beyond a cycle.
    fn apart(&self, instr: OfInstr, access: Access) -> u64 {
        let is_written = self.writes_apart && access != Access::Store;
        let written = if is_written { self.write_cycles(instr) } else { 0 };
        (written + self.data_cycles(access) - 1) * self.scale
    }

    /// Returns the cycles for which a transaction of an access to memory occupies the load/store unit.
    fn data_cycles(&self, access: Access) -> u64 {
        let has_data = matches!(access, Access::Store | Access::Atomic);
        if has_data { self.load_store.data_interval.into() } else { 1 }
    }

    /// Returns the cycles for which the addresses of a load of constants beyond the first occupy the unit.
    fn by_address(&self, extra: u64) -> u64 {
        extra * u64::from(self.load_store.constant_interval)
    }

    /// Returns the cycles for which an access with this many transactions occupies the address unit of its
    /// sub-core before the load/store unit can serve it.
    fn addresses(&self, access: Access, transactions: u64) -> u64 {
        let LoadStore { queues, address_interval, .. } = self.load_store;
        let takes_time = queues == AccessQueues::BySubCore && access != Access::Atomic;
        if takes_time { transactions * u64::from(address_interval).saturating_sub(1) } else { 0 }
    }

    /// Returns the number of transactions of an access.
    fn transactions(&self, accessed: Accessed) -> u64 {
        let by_sector = u64::from(self.load_store.transaction) <= LineUse::SECTOR_BYTES;
        let of_line = |line: &LineUse| {
            let sectors = u64::from(line.sectors().count_ones());
            if by_sector { sectors } else { sectors.min(1) }
        };
        let Elsewhere { lines, sectors } = accessed.elsewhere;
        let elsewhere = u64::from(if by_sector { sectors } else { lines });
        accessed.lines.iter().map(of_line).sum::<u64>() + elsewhere
    }
}

/// Returns whether an access goes to memory.
fn reaches_memory(access: Access, space: Space) -> bool {
    access != Access::Fence && matches!(space, Space::Global | Space::Local)
}

/// Returns the number of transactions to the banks of shared memory, or of addresses of a load of
/// constants, beyond the first.
fn extra(step: Step) -> u64 {
    step.memory().extra_transactions.into()
}

/// Returns every timing that an execution can have.
fn all_timings(instr: &TimedInstr) -> impl Iterator<Item = OpTiming> + '_ {
    let banks = instr.banks.iter().flat_map(|banks| (0..=u8::MAX).map(|extra| banks.with_extra(extra)));
    instr.timings().chain(banks)
}

fn longest_init(table: &TimingTable, unit: UnitId) -> u64 {
    let ops = table.instrs().iter().flat_map(all_timings).filter(|op| op.unit == unit);
    ops.map(|op| op.init.get()).max().unwrap_or(0)
}

/// Returns the register banks of these registers; without a collector there are none. Other warps
/// have other banks, but two registers are in the same bank either for all warps or for none.
fn banks<'r>(
    table: &'r TimingTable,
    regs: &'r RegList,
    collector: Option<Collector>,
    sub_cores: usize,
) -> impl Iterator<Item = usize> + 'r {
    let count = collector.map(|collector| (collector.banks as usize / sub_cores).max(1));
    count
        .into_iter()
        .flat_map(move |count| regs.as_slice().iter().map(move |&reg| table.reg_number(reg) % count))
}

/// Returns the largest number of these registers that are in one bank.
fn most_in_one_bank(
    table: &TimingTable,
    regs: &RegList,
    collector: Option<Collector>,
    sub_cores: usize,
) -> u64 {
    let mut of_bank: BTreeMap<usize, u64> = BTreeMap::new();
    for bank in banks(table, regs, collector, sub_cores) {
        *of_bank.entry(bank).or_default() += 1;
    }
    of_bank.into_values().max().unwrap_or(0)
}

/// Returns the number of cycles in which results are written, in their order: a result waits for the
/// next cycle if its bank has been written in this one, and those behind it wait, too.
fn writes(table: &TimingTable, regs: &RegList, collector: Option<Collector>, sub_cores: usize) -> u64 {
    let (mut cycles, mut written) = (0, BTreeSet::new());
    for bank in banks(table, regs, collector, sub_cores) {
        if cycles == 0 || written.contains(&bank) {
            cycles += 1;
            written.clear();
        }
        written.insert(bank);
    }
    cycles
}

/// Returns the cycles from the issue of a lone instruction with this many operands in one bank to
/// its start. If there are several steps per cycle, the first one may be lost to a write.
fn front(collector: Collector, reads: u64) -> u64 {
    let steps = u64::from(collector.steps);
    if steps == 1 { reads + 3 } else { 2 + (reads + 2).saturating_sub(steps).div_ceil(steps - 1) }
}

/// Returns the cycles in which all units may be idle because the oldest instruction of a collector
/// reads its operands.
fn reading(collector: Collector, share: u64, reads: u64, sub_cores: usize) -> u64 {
    let ports = u64::from(collector.ports.max(1));
    let late =
        if sub_cores as u64 > ports { 1 + (sub_cores as u64).div_ceil(ports) } else { u64::from(share < 2) };
    let behind = (reads + late).saturating_sub(1) / u64::from(collector.steps.max(2) - 1);
    // an instruction that enters an empty collector at once may take longer than `front` says
    behind.max(front(collector, reads).saturating_sub(front(collector, 1)))
}

/// The longest times from the end of an access in the load/store unit to the moment at which its
/// result can be written back.
#[derive(Clone, Copy, Debug, Default)]
struct Answers {
    shared: u64,
    constants: u64,
    memory: u64,
    earlier: (u64, u64),
    /// The shorter one of those that the program has.
    first: u64,
    /// Whether several ways to the write-back are used, and one is shorter.
    differ: bool,
    /// Whether another result may reach the write-back sooner than one of shared memory.
    overtakes: bool,
}

impl Answers {
    /// Returns the times if both are equal.
    fn equal(answer: u64) -> Self {
        Self { shared: answer, constants: answer, memory: answer, first: answer, ..Self::default() }
    }

    /// Returns the times with a memory system. `of_shared` and `of_constants` are the latencies of
    /// shared memory and of constants, if the program loads from them.
    fn of_path(path: &Path, of_shared: u64, of_constants: u64) -> Self {
        let shared = if of_shared > 0 { (of_shared + 1).max(2) } else { 0 };
        let constants = if of_constants > 0 { (of_constants + 1).max(2) } else { 0 };
        let (memory, answered) = (path.latency(true) + 1, path.latency(false) + 1);
        let memory = memory.max(shared).max(constants);
        Self {
            shared,
            constants,
            memory,
            // a hit is not written back
            earlier: (memory - answered.max(shared).max(constants), memory - (path.hit_l1() + 1).min(memory)),
            first: [shared, constants].into_iter().filter(|&other| other > 0).fold(answered, u64::min),
            differ: shared > 0 || constants > 0,
            overtakes: path.to_replies() < shared || constants > 0,
        }
    }
}

/// Returns whether a program may load constants or parameters.
fn reads_constants(program: &KernelCode) -> bool {
    let is_one = |area| matches!(area, Area::KernelParam | Area::FunctionParam | Area::Const | Area::Generic);
    program.memory_ops().any(|memory| matches!(memory, MemoryOp::Load(area) if is_one(area)))
}

/// Returns whether a program may read from shared memory.
fn reads_shared(program: &KernelCode) -> bool {
    let from_shared = |memory: MemoryOp| match memory {
        MemoryOp::Load(area) | MemoryOp::LoadUncached(area) | MemoryOp::Atomic(area) => {
            matches!(area, Area::Shared | Area::Generic)
        }
        MemoryOp::Store(_)
        | MemoryOp::AsyncCopy
        | MemoryOp::AsyncCopyUncached
        | MemoryOp::Fence
        | MemoryOp::Unaddressed(_) => false,
    };
    program.memory_ops().any(from_shared)
}

/// Returns the longest time from the end of an access in the load/store unit to the moment at which
/// its result can be written back, without a memory system.
fn answer(of_shared: u64, memory: &MemorySystem) -> u64 {
    let of_memory = match memory.lower {
        LowerLevel::Perfect | LowerLevel::Partitions => 1,
        LowerLevel::Fixed => memory.fixed.latency.max(1) + longest_jitter(memory.jitter),
    };
    // a result that can be written back in the cycle in which the stage becomes busy counts as one
    // that comes later
    of_shared.max(of_memory + 1) + 1
}

/// Returns the largest value of the same time for which the services need no larger factors.
fn most_answer(least: u64, unit: LoadStore, memory: &MemorySystem) -> u64 {
    let room = |room: u64| (least - 1).div_ceil(room).max(1) * room + 1;
    let of_shared = room(unit.shared_latency.max(1).into());
    if memory.lower == LowerLevel::Perfect { of_shared.min(room(INBOX)) } else { of_shared }
}

/// Returns a value between the two that suits the program. With a larger one accesses have a longer
/// latency, and fewer operations count a late write.
fn longer_answer(least: u64, most: u64, table: &TimingTable) -> u64 {
    let with_results = || table.instrs().iter().filter(|instr| !instr.results.as_slice().is_empty());
    let accesses = with_results().filter(|instr| instr.access.is_some()).count() as u64;
    let duration = |instr: &TimedInstr| (instr.op.init + instr.op.lat + table.write_back()).get();
    let durations: Vec<u64> = with_results().filter(|instr| instr.access.is_none()).map(duration).collect();
    let cost = |answer: u64| {
        let late = durations.iter().filter(|&&duration| duration >= answer).count() as u64;
        (answer - least) * accesses + late
    };
    let longer =
        durations.iter().map(|duration| duration + 1).filter(|longer| (least..=most).contains(longer));
    longer.chain([least]).min_by_key(|&answer| (cost(answer), answer)).unwrap_or(least)
}

/// Returns the number of units of service per cycle on a machine, so that a fetch, the use of a result
/// bus and a tick of another clock are nearly exact.
pub(super) fn scale(machine: &Machine) -> u64 {
    let Some(pipeline) = machine.pipeline() else { return 1 };
    let fetches = pipeline.front_end.map_or(1, |front| front.fetches.into());
    let buses = pipeline.result_buses.map_or(1, u64::from);
    least_common_multiple(fetches, buses).max(1) * Path::factor(machine.memory())
}

fn least_common_multiple(a: u64, b: u64) -> u64 {
    a / greatest_common_divisor(a, b) * b
}
