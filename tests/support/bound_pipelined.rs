//! A second, naive implementation of PLB, written from the page of its proof: for one SM with one
//! sub-core, without control codes and without units that have bank conflicts. Services are in units
//! of a cycle divided by the number of fetches and that of result buses.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use crate::bound_code::{Code, Walk};
use warpbound::isa::Space;
use warpbound::machine::memory::{Jitter, LowerLevel};
use warpbound::machine::pipeline::AccessQueues;
use warpbound::machine::{Hazards, Machine, OpTiming};
use warpbound::path::{BlockPaths, LineUse, Step, WarpPath};
use warpbound::program::{Access, Area, Flow, KernelCode, MemoryOp, RegList, TimedInstr, TimingTable};

/// Returns the registers that the step waits for.
pub fn awaited(table: &TimingTable, step: Step) -> impl Iterator<Item = usize> + '_ {
    let (instr, waw) = (table.instr(step.pc()), table.hazards().contains(Hazards::WAW));
    let ring = table
        .async_reg(step)
        .filter(|_| instr.flow == Flow::AsyncWait || waw && instr.flow == Flow::AsyncCopy);
    let written = instr.dsts.as_slice().iter().copied().filter(move |_| waw);
    instr.srcs.as_slice().iter().copied().chain(written).chain(ring).map(|reg| reg.index())
}

/// Returns the registers that become available with the results of the step.
pub fn written(table: &TimingTable, step: Step) -> impl Iterator<Item = usize> + '_ {
    let instr = table.instr(step.pc());
    let copied = table.async_reg(step).filter(|_| instr.flow == Flow::AsyncCopy);
    let all = instr.dsts.as_slice().iter().copied().chain(copied);
    all.filter(|_| !instr.unscored).map(|reg| reg.index())
}

/// When registers are available.
#[derive(Default)]
pub struct Ready(BTreeMap<usize, u64>);

impl Ready {
    /// Returns when everything is available that the step waits for.
    pub fn awaited(&self, table: &TimingTable, step: Step) -> u64 {
        awaited(table, step).filter_map(|reg| self.0.get(&reg).copied()).max().unwrap_or(0)
    }

    /// Records when the results of the step are available.
    pub fn write(&mut self, table: &TimingTable, step: Step, at: u64) {
        self.0.extend(written(table, step).map(|reg| (reg, at)));
    }

    /// Begins a section.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

struct Formula<'a> {
    table: &'a TimingTable,
    machine: &'a Machine,
    code: Code<'a>,
    /// k of units and of accesses, and g.
    unit_start: u64,
    access_start: u64,
    answer: u64,
    some_access_has_a_result: bool,
    fetches: u64,
    buses: u64,
    /// What `leave` has returned, by unit, init and latency.
    leaves: RefCell<BTreeMap<(usize, u64, u64), u64>>,
}

/// S in cycles, G as a number of fetches and arrivals, and the sum of the largest spans.
#[derive(Default)]
struct Sums {
    services: u64,
    fetches: u64,
    spans: Vec<u64>,
}

/// Returns whether a program has loads or atomics of such an area.
pub fn loads(program: &KernelCode, of: impl Fn(Area) -> bool) -> bool {
    program.instrs.iter().any(|instr| match instr.memory {
        Some(MemoryOp::Load(area) | MemoryOp::LoadUncached(area) | MemoryOp::Atomic(area)) => of(area),
        _ => false,
    })
}

/// Whether a load of such an area may be one of a constant or a parameter.
pub fn may_be_constant(area: Area) -> bool {
    matches!(area, Area::Const | Area::KernelParam | Area::FunctionParam | Area::Generic)
}

/// Returns F without what instruction caches count.
pub fn of_launch(machine: &Machine, blocks: u64) -> u64 {
    let launch = machine.pipeline().unwrap().launch;
    let placing = |per_cycle: u32| (blocks - 1).checked_div(per_cycle.into()).unwrap_or(0);
    launch.first + launch.end + placing(launch.blocks_per_cycle) + placing(launch.total_blocks_per_cycle)
}

/// Returns the cycles until the first fetch of a block. If there are more blocks than places, another
/// block may have been in its place. A block that does nothing ends a cycle after it begins, if that is
/// not when it is placed.
pub fn until_start(machine: &Machine, (blocks, places): (u64, u64), is_empty: bool) -> u64 {
    let launch = machine.pipeline().unwrap().launch;
    let refill = if blocks > places { launch.refill } else { 0 };
    refill + launch.start + u64::from(is_empty && launch.start > 0)
}

/// Returns PLB, or nothing where this implementation has no formula.
pub fn value(
    program: &KernelCode,
    table: &TimingTable,
    machine: &Machine,
    blocks: &[BlockPaths],
    places: u64,
) -> Option<u64> {
    let pipeline = machine.pipeline()?;
    let on_a_unit = |instr: &&TimedInstr| instr.access.is_none() || pipeline.load_store.is_none();
    let has_conflicts = table.instrs().iter().filter(on_a_unit).any(|instr| instr.banks.is_some());
    let memory = machine.memory();
    let has_memory_system = memory.l1.is_some() || memory.lower == LowerLevel::Partitions;
    let loads_constants = loads(program, may_be_constant);
    let simple = !has_memory_system
        && (memory.constant.is_none() || !loads_constants)
        && machine.sms() == 1
        && table.sub_cores().count() == 1
        && table.barriers().is_none();
    if !simple || has_conflicts {
        return None;
    }
    let formula = Formula::new(program, table, machine);
    let parts = formula.fetches * formula.buses;
    let (mut load, mut spans) = (0, Vec::new());
    for block in blocks {
        let mut sums = Sums::default();
        block.warps.iter().for_each(|warp| formula.warp(warp, &mut sums));
        load += sums.services + sums.fetches * formula.buses;
        let start = until_start(machine, (blocks.len() as u64, places), sums.spans.is_empty());
        let ends = pipeline.front_end.is_some_and(|front_end| front_end.ends_warps);
        spans.push(start + u64::from(ends) + sums.spans.iter().sum::<u64>());
    }
    let (count, most) = (blocks.len() as u64, spans.iter().copied().max().unwrap_or(0));
    // everything times R and the number of parts of a cycle
    let of_spans =
        if count <= places { places * most } else { spans.iter().sum::<u64>() + (places - 1) * most };
    let once = formula.cold() + formula.code.once() + of_launch(machine, count);
    Some(once + (places * load + of_spans * parts) / (places * parts))
}

impl<'a> Formula<'a> {
    fn new(program: &KernelCode, table: &'a TimingTable, machine: &'a Machine) -> Self {
        let mut formula = Self {
            table,
            machine,
            code: Code::new(table, machine),
            unit_start: 0,
            access_start: 1,
            answer: 0,
            some_access_has_a_result: table
                .instrs()
                .iter()
                .any(|instr| instr.access.is_some() && !instr.results.as_slice().is_empty()),
            fetches: 1,
            buses: 1,
            leaves: RefCell::default(),
        };
        let pipeline = machine.pipeline().unwrap();
        formula.fetches = pipeline.front_end.map_or(1, |front_end| front_end.fetches.into());
        formula.buses = pipeline.result_buses.map_or(1, u64::from);
        if let Some(collector) = pipeline.collector {
            formula.unit_start = lone_start(1, u64::from(collector.steps));
            formula.access_start = formula.unit_start;
        }
        if let Some(unit) = pipeline.load_store {
            let loads_shared = loads(program, |area| matches!(area, Area::Shared | Area::Generic));
            let loads_constants = loads(program, may_be_constant);
            let memory = machine.memory();
            let jitter = match memory.jitter {
                Jitter::Uniform(_, most) | Jitter::HeavyTail { most, .. } => most,
                _ => 0,
            };
            let of_memory = match memory.lower {
                LowerLevel::Fixed => memory.fixed.latency.max(1) + 2 + jitter,
                _ => 3,
            };
            let of_shared = if loads_shared { u64::from(unit.shared_latency) + 1 } else { 0 };
            let of_constants = if loads_constants { u64::from(unit.constant_latency) + 1 } else { 0 };
            formula.answer = of_memory.max(of_shared).max(of_constants);
            if pipeline.collector.is_some() && formula.some_access_has_a_result {
                formula.answer = formula.longer_answer(unit.shared_latency.into(), memory.lower);
            }
        }
        formula
    }

    /// The g between the least one and the largest without other factors that costs the program the
    /// fewest cycles, if each instruction counts once.
    fn longer_answer(&self, shared_latency: u64, lower: LowerLevel) -> u64 {
        let least = self.answer;
        let factors = |g: u64| {
            let inbox = if lower == LowerLevel::Perfect { (g - 1).div_ceil(32).max(1) } else { 1 };
            (inbox, (g - 1).div_ceil(shared_latency.max(1)).max(1))
        };
        let instrs = || self.table.instrs().iter().filter(|instr| !instr.results.as_slice().is_empty());
        let loads = instrs().filter(|instr| instr.access.is_some()).count() as u64;
        let write_back = self.table.write_back();
        let ends = || {
            let units = instrs().filter(|instr| instr.access.is_none());
            units.map(|instr| (instr.op.init + instr.op.lat + write_back).get())
        };
        let cost = |g: u64| (g - least) * loads + ends().filter(|&end| end >= g).count() as u64;
        let mut best = least;
        for g in least..=ends().max().unwrap_or(0) + 1 {
            if factors(g) == factors(least) && cost(g) < cost(best) {
                best = g;
            }
        }
        best
    }

    fn banks(&self, regs: &RegList) -> Vec<usize> {
        let Some(collector) = self.machine.pipeline().unwrap().collector else { return Vec::new() };
        regs.as_slice().iter().map(|&reg| self.table.reg_number(reg) % collector.banks as usize).collect()
    }

    fn most_in_a_bank(&self, regs: &RegList) -> u64 {
        let banks = self.banks(regs);
        banks.iter().map(|bank| banks.iter().filter(|other| *other == bank).count() as u64).max().unwrap_or(0)
    }

    /// b
    fn cycles_of_writes(&self, regs: &RegList) -> u64 {
        let (mut cycles, mut left) = (0, self.banks(regs));
        while !left.is_empty() {
            let mut written = Vec::new();
            while !left.is_empty() && !written.contains(&left[0]) {
                written.push(left.remove(0));
            }
            cycles += 1;
        }
        cycles.max(1)
    }

    /// The service of an instruction, and its latency, and that of the acknowledgement of a store.
    fn costs(&self, step: Step, group: &[LineUse]) -> (u64, u64, u64) {
        let (pipeline, instr, op) =
            (self.machine.pipeline().unwrap(), self.table.instr(step.pc()), self.table.op(step));
        let access = instr.access.filter(|_| pipeline.load_store.is_some());
        let writes = self.cycles_of_writes(&instr.results);
        let has_result = !instr.results.as_slice().is_empty();
        let one_step = pipeline.collector.is_some_and(|collector| collector.steps == 1);
        let read = pipeline.collector.map_or(0, |collector| {
            let (most, steps) = (self.most_in_a_bank(&instr.operands), u64::from(collector.steps));
            let behind = (most + u64::from(collector.units == 1)).saturating_sub(1) / (steps - 1).max(1);
            behind.max(lone_start(most, steps).saturating_sub(self.unit_start))
        });
        let Some(access) = access else {
            let total = (op.init + op.lat).get() + pipeline.write_back;
            let is_late =
                pipeline.load_store.is_some() && self.some_access_has_a_result && total >= self.answer;
            let writes = pipeline.collector.is_some() && has_result && (one_step || is_late);
            let latency = self.unit_start + op.lat.get() + pipeline.write_back;
            let whole = op.init.get() + read + u64::from(writes);
            return (whole * self.fetches * self.buses + self.leave(op), latency, 0);
        };
        let unit = pipeline.load_store.unwrap();
        let transactions: u64 = group
            .iter()
            .map(|line| u64::from(line.sectors().count_ones()).min(if unit.transaction > 32 { 1 } else { 4 }))
            .sum::<u64>()
            .max(1);
        let space = self.table.space(step);
        let extra = u64::from(step.memory().extra_transactions);
        let takes_addresses = access != Access::Atomic && unit.queues != AccessQueues::One;
        let addresses = if takes_addresses {
            transactions * u64::from(unit.address_interval).saturating_sub(1)
        } else {
            0
        };
        let full = |room: u64| (self.answer - 1).div_ceil(room).max(1);
        let of_memory = if self.machine.memory().lower == LowerLevel::Perfect { full(32) } else { 1 };
        let of_shared = full(u64::from(unit.shared_latency).max(1));
        let (service, answered) = match (space, access) {
            (_, Access::Fence) => (1, false),
            (Space::Shared, Access::Store) => ((extra + 1) * u64::from(unit.shared_interval), false),
            (Space::Shared, _) => {
                let atomic = if access == Access::Atomic { unit.shared_atomic_latency } else { 0 };
                let occupied = (extra + 1) * u64::from(unit.shared_interval) - 1;
                let delay = extra * u64::from(unit.conflict_latency) + u64::from(atomic);
                ((occupied + delay + writes) * of_shared, true)
            }
            (Space::Global | Space::Local, Access::Store) => {
                (transactions * u64::from(unit.data_interval) * of_memory + addresses, true)
            }
            (Space::Global | Space::Local, access) => {
                let sent = if access == Access::Atomic { unit.data_interval } else { 1 };
                (transactions * writes.max(sent.into()) * of_memory + addresses, true)
            }
            (Space::Const | Space::Param, Access::Load) => {
                let passes = unit.constant_latency > 0;
                let by_address = extra * u64::from(unit.constant_interval);
                (by_address + if passes { writes } else { 1 }, passes)
            }
            _ => (1, false),
        };
        let blocked = if one_step && has_result { transactions * writes } else { 0 };
        let answered = if answered { self.access_start + self.answer } else { self.access_start };
        let service = (service + read + blocked) * self.fetches * self.buses;
        match access {
            Access::Store => (service, self.access_start, answered),
            _ => (service, answered, 0),
        }
    }

    /// The service for results that leave together, in parts of a cycle.
    fn leave(&self, op: OpTiming) -> u64 {
        let pipeline = self.machine.pipeline().unwrap();
        if pipeline.collector.is_none() {
            return 0;
        }
        let key = (op.unit.index(), op.init.get(), op.lat.get());
        if let Some(&known) = self.leaves.borrow().get(&key) {
            return known;
        }
        let is_unit = |instr: &&TimedInstr| instr.access.is_none() || pipeline.load_store.is_none();
        let ops: Vec<OpTiming> =
            self.table.instrs().iter().filter(is_unit).flat_map(TimedInstr::timings).collect();
        let mut parts = leaves_unit(op, &ops) * self.fetches * self.buses;
        if pipeline.result_buses.is_some() {
            parts += leaves_on_buses(op, &ops, self.buses) * self.fetches;
        }
        self.leaves.borrow_mut().insert(key, parts);
        parts
    }

    fn lines(&self) -> u64 {
        let cache = self.machine.pipeline().unwrap().front_end.and_then(|front_end| front_end.icache);
        cache.map_or(0, |cache| {
            ((self.table.instrs().len() as u64 + 1) * u64::from(cache.instruction))
                .div_ceil(u64::from(cache.line))
        })
    }

    /// The latency of a miss if lines may miss more than once.
    fn misses(&self) -> Option<u64> {
        let cache = self.machine.pipeline().unwrap().front_end?.icache?;
        (self.lines().div_ceil(cache.sets.into()) > u64::from(cache.ways)).then_some(cache.miss_latency)
    }

    fn cold(&self) -> u64 {
        let cache = self.machine.pipeline().unwrap().front_end.and_then(|front_end| front_end.icache);
        match (cache, self.misses()) {
            (Some(cache), None) => self.lines() * (cache.miss_latency + 1),
            _ => 0,
        }
    }

    fn warp(&self, warp: &WarpPath, sums: &mut Sums) {
        let (table, pipeline) = (self.table, self.machine.pipeline().unwrap());
        let steps: Vec<Step> = warp.steps().iter().copied().take_while(|&step| table.issues(step)).collect();
        let mut traffic = warp.traffic();
        // the addresses in the buffer, and where it goes on
        let (mut buffer, mut goes_on): (Vec<u32>, u32) = (Vec::new(), 0);
        let (mut section, mut begins) = (0, true);
        let mut ready = Ready::default();
        let mut walk = Walk::default();
        let (mut issue, mut all, mut held) = (0_u64, 0_u64, 0_u64);
        for (index, &step) in steps.iter().enumerate() {
            let (pc, instr) = (step.pc().get(), table.instr(step.pc()));
            let mut weight = 0;
            let holds_others = buffer.first().is_some_and(|&first| first != pc);
            if let Some(front_end) = pipeline.front_end {
                let mut served = Vec::new();
                while buffer.first() != Some(&pc) {
                    if !buffer.is_empty() {
                        goes_on = pc;
                    }
                    served.push(goes_on);
                    let end = goes_on + front_end.buffer;
                    buffer = (goes_on..end).filter(|&at| at == goes_on || at < table.fetch_end()).collect();
                    sums.fetches += if self.misses().is_some() { 2 } else { 1 };
                }
                // the table of Lemma 6
                weight = match (served.len(), holds_others, begins) {
                    (0, ..) => 0,
                    (1, false, false) => 1,
                    (1, false, true) | (1, true, _) => 2,
                    (_, _, false) => 3,
                    _ => 4,
                } + served.len() as u64 * self.misses().unwrap_or(0);
                buffer.remove(0);
                goes_on = pc + 1;
                if instr.flow == Flow::Exit && !step.ends_warp() {
                    buffer.clear();
                }
            }
            let count = if table.moves_lines(step) {
                traffic.iter().position(|line| line.is_last()).map_or(traffic.len(), |last| last + 1)
            } else {
                0
            };
            let (group, rest) = traffic.split_at(count);
            traffic = rest;
            let (service, latency, acknowledged) = self.costs(step, group);
            sums.services += service;
            let supplied = self.code.next(&mut walk, step, issue);
            weight = weight.max(supplied.jump);
            sums.services += supplied.service * self.fetches * self.buses;
            if let Some(collector) = pipeline.collector {
                weight += self.unit_start.saturating_sub(u64::from(collector.units) + 1);
            }
            let from = if holds_others { issue.max(held) } else { issue };
            issue = (from + weight).max(held).max(ready.awaited(table, step));
            issue = issue.max(supplied.not_before);
            ready.write(table, step, issue + latency);
            all = all.max(issue + latency);
            let unit = pipeline.load_store;
            if unit.is_some_and(|unit| unit.atomics_block) && instr.access == Some(Access::Atomic) {
                held = held.max(issue + latency);
            }
            if unit.is_some() && instr.access == Some(Access::Fence) {
                held = all;
            }
            sums.spans.resize(sums.spans.len().max(section + 1), 0);
            sums.spans[section] = sums.spans[section].max(issue + latency.max(acknowledged));
            sums.spans[section] = sums.spans[section].max(supplied.requested);
            begins = instr.flow == Flow::Barrier;
            if begins {
                section += 1;
                (issue, all, held) = (0, 0, 0);
                ready.clear();
                walk.begin_section();
                if index + 1 == steps.len() && buffer.is_empty() && pipeline.front_end.is_some() {
                    sums.fetches += if self.misses().is_some() { 2 } else { 1 };
                }
            }
        }
    }
}

/// Returns k of an instruction with this many operands in a bank, step by step. It enters the
/// collector in the first step of the cycle after its issue, after the banks have read.
fn lone_start(operands: u64, steps: u64) -> u64 {
    let (mut read, mut step) = (0, steps + 1);
    loop {
        if read == operands {
            return step / steps + 1;
        }
        // writes may take the first step of a cycle, and count themselves if there is no other
        read += u64::from(step % steps > 0 || steps == 1);
        step += 1;
    }
}

fn duration(op: &OpTiming) -> u64 {
    (op.init + op.lat).get()
}

/// Whether an operation may delay one of a duration that starts when its unit is idle.
fn may_delay(op: &OpTiming, of: u64) -> bool {
    duration(op) > of && duration(op) - of >= op.init.get()
}

/// The cycles that an operation pays because two results would leave its unit together.
fn leaves_unit(op: OpTiming, ops: &[OpTiming]) -> u64 {
    let own: Vec<&OpTiming> = ops.iter().filter(|other| other.unit == op.unit).collect();
    // what one that takes `short` pays for those that take `long`, unless these pay
    let waits = |short: u64, long: u64| {
        let delaying: Vec<&&OpTiming> =
            own.iter().filter(|other| duration(other) == long && may_delay(other, short)).collect();
        let apart = delaying.iter().map(|other| other.init.get()).min()?;
        // the last one starts at 0, and the others as closely in front of it as they can; the results of
        // those leave too late that make one wait after the last initiation
        let mut cycles = 0;
        while long - short >= apart * (cycles + 1) {
            cycles += 1;
        }
        let waiting = own.iter().filter(|other| duration(other) == short).count() as u64;
        (waiting * cycles <= delaying.len() as u64).then_some(cycles)
    };
    let durations: BTreeSet<u64> = own.iter().map(|other| duration(other)).collect();
    let total = duration(&op);
    let as_longer =
        durations.iter().filter(|&&short| may_delay(&op, short) && waits(short, total).is_none()).count();
    let as_shorter: u64 = durations.range(total + 1..).filter_map(|&long| waits(total, long)).sum();
    as_longer as u64 + as_shorter
}

/// The same for result buses, in units of a cycle divided by their number. There is one sub-core.
fn leaves_on_buses(op: OpTiming, ops: &[OpTiming], buses: u64) -> u64 {
    let durations: BTreeSet<u64> = ops.iter().map(duration).collect();
    let pays = |of: u64| {
        let waiting: BTreeSet<usize> =
            ops.iter().filter(|other| duration(other) == of).map(|other| other.unit.index()).collect();
        let mut counts: BTreeMap<usize, u64> = BTreeMap::new();
        for other in ops.iter().filter(|other| may_delay(other, of)) {
            *counts.entry(other.unit.index()).or_default() += 1;
        }
        if waiting.len() == 1 {
            counts.retain(|unit, _| !waiting.contains(unit));
        }
        let units: Vec<usize> = counts.keys().copied().collect();
        let mut best: Option<(u64, Vec<usize>)> = None;
        for choice in 0..1_usize << units.len() {
            let pick = |pays: bool| {
                let picked = units.iter().enumerate().filter(|(at, _)| (choice >> at & 1 == 1) == pays);
                picked.map(|(_, &unit)| unit).collect::<Vec<usize>>()
            };
            let (paying, others) = (pick(true), pick(false));
            let own = waiting.iter().all(|unit| others.contains(unit));
            let cost: u64 = paying.iter().map(|unit| counts[unit]).sum();
            let suffices = (others.len() - usize::from(own && !others.is_empty())) < buses as usize;
            if suffices && best.as_ref().is_none_or(|(least, _)| cost < *least) {
                best = Some((cost, paying));
            }
        }
        let all: u64 = counts.values().sum();
        match best {
            Some((cost, paying)) if cost * buses <= all => {
                if paying.contains(&op.unit.index()) {
                    buses
                } else {
                    0
                }
            }
            _ => u64::from(counts.contains_key(&op.unit.index())),
        }
    };
    durations.iter().filter(|&&of| may_delay(&op, of)).map(|&of| pays(of)).sum()
}
