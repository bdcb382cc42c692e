//! The state of one SM and the order of its stages.

use super::blocks::{PendingRelease, Resident};
use super::collector::{Collector, Latch};
use super::first_level::FirstLevel;
use super::flight::{Flight, FlightId, Flights};
use super::front_end::FrontEnd;
use super::hazards::Pending;
use super::load_store::LoadStore;
use super::log::Log;
use super::memory::Lower;
use super::units::{Completions, ResultBuses, Unit};
use crate::base::{Cycle, UnitId, WarpId, WarpMask};
use crate::machine::Machine;
use crate::machine::pipeline::Pipeline;
use crate::path::{BlockPaths, Step, WarpPath};
use crate::program::TimingTable;
use crate::sim::SLOTS;
use crate::sim::error::RunError;
use crate::sim::ops::Ops;
use crate::sim::policy::{Policy, View};
use crate::trace::{Idle, Observer, StallReason, Stalls, Waiting};

/// A warp slot.
#[derive(Clone, Copy, Debug)]
pub(super) struct Warp {
    /// Index of the next step.
    pub next: u32,
    /// Steps that take an issue slot.
    pub steps: u32,
    /// The next step, if there is one.
    pub step: Option<Step>,
    /// The unit it goes to.
    pub unit: u8,
    pub place: u8,
    /// Instructions under way.
    pub in_flight: u32,
    /// Transactions of stores that memory has not acknowledged.
    pub stores: u32,
    /// Transactions of atomics that are under way.
    pub atomics: u32,
    /// Next group of memory traffic in the path.
    pub traffic: u32,
    pub last_issue: u64,
    pub last_done: u64,
}

const NO_WARP: Warp = Warp {
    next: 0,
    steps: 0,
    step: None,
    unit: 0,
    place: 0,
    in_flight: 0,
    stores: 0,
    atomics: 0,
    traffic: 0,
    last_issue: 0,
    last_done: 0,
};

/// One sub-core.
#[derive(Clone, Debug)]
pub(super) struct SubCore {
    pub slots: WarpMask,
    pub view: View,
    pub stalls: Stalls,
    pub issues: u64,
    /// When its policy wants to decide again even if nothing happens.
    pub wake: u64,
    /// Its present idle interval.
    idle: Option<Idle>,
}

/// One SM.
#[derive(Clone, Debug)]
pub(super) struct Sm<'a> {
    /// Its number.
    pub index: usize,
    pub ops: Ops<'a>,
    pub settings: &'a Pipeline,
    pub now: u64,
    pub listening: bool,
    pub regs: usize,
    /// Per slot and register.
    pub pending: Vec<Pending>,
    pub warps: [Warp; SLOTS],
    pub subs: Vec<SubCore>,
    pub live: WarpMask,
    pub at_barrier: WarpMask,
    /// Warps that wait for a fence or an atomic.
    pub held: WarpMask,
    pub fenced: WarpMask,
    /// Warps whose next instruction has no hazard.
    pub clear: WarpMask,
    /// Per unit, the load/store unit last: warps whose next instruction goes there.
    pub wants: Vec<WarpMask>,
    shared_units: Vec<bool>,
    units: Vec<Unit>,
    pub flights: Flights,
    pub completions: Completions,
    buses: Option<ResultBuses>,
    pub collector: Option<Box<Collector>>,
    pub issued: Latch,
    collected: Latch,
    pub load_store: Option<Box<LoadStore>>,
    pub front_end: Option<Box<FrontEnd>>,
    pub log: Log,
    pub rooms: Vec<BlockPaths>,
    pub residents: Vec<Resident>,
    /// Places of the residents in launch order.
    pub age: Vec<u8>,
    pub releases: Vec<PendingRelease>,
    pub ages: u64,
    pub issues: u64,
    /// The sub-core that issues first in this cycle.
    pub first: usize,
    /// Whether anything happened in this cycle.
    pub busy: bool,
}

impl<'a> Sm<'a> {
    pub fn new(
        table: &'a TimingTable,
        machine: &'a Machine,
        settings: &'a Pipeline,
        places: usize,
        slots: usize,
        (index, shared_bytes): (usize, u64),
    ) -> Self {
        let sub_cores = machine.sub_cores().count();
        let units = table.units() + 1;
        let sub = |index: usize| SubCore {
            slots: machine.sub_cores().slots(index),
            view: View {
                now: Cycle::ZERO,
                ready: WarpMask::empty(),
                live: WarpMask::empty(),
                at_barrier: WarpMask::empty(),
                by_age: Vec::with_capacity(SLOTS),
                global_until: [Cycle::ZERO; SLOTS],
            },
            stalls: Stalls::default(),
            issues: 0,
            wake: u64::MAX,
            idle: None,
        };
        Self {
            ops: Ops::new(table),
            settings,
            now: 0,
            listening: false,
            regs: table.regs(),
            pending: vec![Pending::NONE; table.regs() * slots],
            warps: [NO_WARP; SLOTS],
            subs: (0..sub_cores).map(sub).collect(),
            live: WarpMask::empty(),
            at_barrier: WarpMask::empty(),
            held: WarpMask::empty(),
            fenced: WarpMask::empty(),
            clear: WarpMask::empty(),
            wants: vec![WarpMask::empty(); units],
            shared_units: (0..units - 1)
                .map(|u| machine.sub_cores().is_shared(UnitId::from_index(u)))
                .collect(),
            units: vec![Unit::default(); (units - 1) * sub_cores],
            flights: Flights::default(),
            completions: Completions::default(),
            buses: settings.result_buses.map(ResultBuses::new),
            collector: settings.collector.map(|c| Box::new(Collector::new(c, units, sub_cores))),
            issued: Latch::new(units, sub_cores),
            collected: Latch::new(units, sub_cores),
            load_store: settings.load_store.map(|settings| {
                let memory = machine.memory();
                let seed = memory.seed ^ index as u64;
                let l1 = memory.l1.as_ref().map(|l1| Box::new(FirstLevel::new(l1, shared_bytes, seed)));
                Box::new(LoadStore::new(settings, l1))
            }),
            index,
            front_end: settings.front_end.map(|f| Box::new(FrontEnd::new(f, slots))),
            log: Log::default(),
            rooms: vec![BlockPaths::default(); places],
            residents: vec![Resident::default(); places],
            age: Vec::with_capacity(places),
            releases: Vec::new(),
            ages: 0,
            issues: 0,
            first: 0,
            busy: false,
        }
    }

    pub fn table(&self) -> &'a TimingTable {
        self.ops.table
    }

    /// The path of the warp in a slot.
    pub fn path(&self, slot: usize) -> &WarpPath {
        let place = self.warps[slot].place as usize;
        &self.rooms[place].warps[slot - self.residents[place].first_slot]
    }

    /// The unit number of the load/store unit.
    pub fn load_store_unit(&self) -> usize {
        self.wants.len() - 1
    }

    fn instance(&self, unit: usize, sub_core: usize) -> usize {
        unit * self.subs.len() + if self.shared_units[unit] { 0 } else { sub_core }
    }

    /// Takes a reply of the lower level of memory.
    pub fn receive(&mut self, lower: &mut Lower) {
        self.busy = false;
        if let Some(load_store) = &mut self.load_store {
            self.busy = load_store.receive(lower, self.index);
        }
    }

    /// One cycle, up to the point where blocks are placed.
    pub fn begin_cycle(&mut self, lower: Option<&mut Lower>) {
        if lower.is_none() {
            self.busy = false;
        }
        let now = self.now;
        while let Some(id) = self.completions.due(now) {
            self.busy = true;
            self.write_back(id);
        }
        if self.collector.is_some() {
            self.start_collected();
        }
        if let Some(mut load_store) = self.load_store.take() {
            self.busy |= load_store.cycle(self, lower);
            self.load_store = Some(load_store);
            self.start_access();
        }
        self.release_barriers();
    }

    /// The rest of the cycle.
    pub fn end_cycle<P: Policy, O: Observer>(
        &mut self,
        policies: &mut [P],
        observer: &mut O,
    ) -> Result<(), RunError> {
        if let Some(mut collector) = self.collector.take() {
            if !self.issued.is_empty() || !collector.is_empty() {
                let table = self.table();
                collector.cycle(table, &mut self.flights, &mut self.issued, &mut self.collected);
                self.busy = true;
            } else {
                collector.written = 0;
            }
            self.collector = Some(collector);
        }
        self.lift_fences();
        for n in 0..self.subs.len() {
            let sub_core = (self.first + n) % self.subs.len();
            self.issue(sub_core, &mut policies[sub_core])?;
        }
        if let Some(mut front_end) = self.front_end.take() {
            self.busy |= front_end.cycle(self.now, self.live);
            self.front_end = Some(front_end);
        }
        if self.listening {
            self.log.tell(observer);
        }
        Ok(())
    }

    /// The next cycle in which something can happen, after a cycle in which nothing did.
    pub fn next_event(&self) -> u64 {
        let collecting = !self.issued.is_empty()
            || !self.collected.is_empty()
            || self.collector.as_ref().is_some_and(|c| !c.is_empty());
        if self.busy || collecting {
            return self.now + 1;
        }
        let load_store = self.load_store.as_ref().map_or(u64::MAX, |unit| unit.next_event(self.now));
        let fetch = self.front_end.as_ref().map_or(u64::MAX, |front_end| front_end.next_arrival());
        let releases = self.releases.iter().map(|release| release.complete.at).min().unwrap_or(u64::MAX);
        let wake = self.subs.iter().map(|sub| sub.wake).min().unwrap_or(u64::MAX);
        self.completions
            .next()
            .min(self.next_birth())
            .min(load_store)
            .min(fetch)
            .min(releases)
            .min(wake)
            .max(self.now + 1)
    }

    /// Goes to a later cycle; what kept sub-cores idle in this one does so until then.
    pub fn advance_to(&mut self, to: u64) {
        let skipped = to - self.now - 1;
        if skipped > 0 {
            for sub in &mut self.subs {
                if let Some(idle) = &mut sub.idle {
                    sub.stalls.add(idle.reason, crate::base::Cycles::new(skipped));
                    idle.to = Cycle::new(to);
                }
            }
        }
        if self.settings.issue.rotate {
            self.first = (self.first + (to - self.now) as usize) % self.subs.len();
        }
        self.now = to;
    }

    /// Units take what the collector has ready.
    fn start_collected(&mut self) {
        let now = self.now;
        if self.collected.is_empty() {
            return;
        }
        let mut units = self.collected.units() & !(1 << self.load_store_unit());
        while units != 0 {
            let unit = units.trailing_zeros() as usize;
            units &= units - 1;
            for sub_core in 0..self.subs.len() {
                let Some(id) = self.collected.at(unit, sub_core) else { continue };
                let flight = self.flights.get_mut(id);
                let leaves = now + flight.total;
                let room = self.buses.as_ref().is_none_or(|buses| buses.has_room(leaves));
                let instance = unit * self.subs.len() + if self.shared_units[unit] { 0 } else { sub_core };
                if !room || !self.units[instance].can_start(now, flight.total) {
                    continue;
                }
                flight.start = now;
                flight.init_end = now + flight.init;
                self.units[instance].start(now, flight.init, flight.total);
                if let Some(buses) = &mut self.buses {
                    buses.take(leaves);
                }
                self.completions.file(leaves + self.settings.write_back, id);
                self.collected.take(unit, sub_core);
                self.busy = true;
            }
        }
    }

    /// The load/store unit takes the oldest access, if it is free.
    fn start_access(&mut self) {
        let unit = self.load_store_unit();
        let Some(load_store) = &mut self.load_store else { return };
        if !load_store.is_free() {
            return;
        }
        let next = if self.collector.is_some() {
            let oldest = self.collected.oldest(unit, &self.flights);
            oldest.and_then(|(sub_core, _)| self.collected.take(unit, sub_core))
        } else {
            load_store.queue.pop_front()
        };
        if let Some(id) = next {
            self.busy = true;
            let mut load_store = self.load_store.take();
            if let Some(load_store) = &mut load_store {
                load_store.start(self, id);
            }
            self.load_store = load_store;
        }
    }

    /// Sends an issued instruction on its way.
    pub fn dispatch(&mut self, id: FlightId) {
        let now = self.now;
        let Flight { unit, sub_core, init, total, .. } = *self.flights.get(id);
        let (unit, sub_core) = (unit as usize, sub_core as usize);
        if self.collector.is_some() {
            self.issued.put(unit, sub_core, id);
        } else if unit == self.load_store_unit() {
            if let Some(load_store) = &mut self.load_store {
                load_store.queue.push_back(id);
            }
        } else {
            let instance = self.instance(unit, sub_core);
            let start = self.units[instance].enqueue(now, init, self.settings.queue.is_some());
            let done = start + total + self.settings.write_back;
            let flight = self.flights.get_mut(id);
            flight.start = start;
            flight.init_end = start + init;
            self.completions.file(done, id);
        }
    }

    /// When an instruction that was dispatched without a collector to a unit will be done.
    pub fn done_of(&self, id: FlightId) -> Option<u64> {
        let flight = self.flights.get(id);
        let known = self.collector.is_none() && flight.unit as usize != self.load_store_unit();
        known.then(|| flight.start + flight.total + self.settings.write_back)
    }

    /// Whether a sub-core's instruction for a unit can issue now.
    pub fn has_room(&mut self, unit: usize, sub_core: usize) -> bool {
        if self.collector.is_some() {
            return self.issued.at(unit, sub_core).is_none();
        }
        let Some(limit) = self.settings.queue else { return true };
        let waiting = if unit == self.load_store_unit() {
            self.load_store.as_ref().map_or(0, |unit| unit.queue.len())
        } else {
            let instance = self.instance(unit, sub_core);
            self.units[instance].waiting(self.now)
        };
        waiting < limit as usize
    }

    /// A result reaches the registers.
    fn write_back(&mut self, id: FlightId) {
        let flight = *self.flights.get(id);
        if let Some(collector) = &mut self.collector {
            let op = self.ops.of(flight.step);
            for &reg in op.writes() {
                let number = self.ops.table.reg_number(crate::base::RegId::new(reg));
                let bank = collector.bank(number, flight.slot as usize, flight.sub_core as usize);
                collector.written |= 1 << bank;
            }
        }
        self.complete(id);
    }

    /// Allocates banks for the destinations that have none yet. Whether all have one.
    pub fn write_banks(&mut self, id: FlightId) -> bool {
        let flight = self.flights.get_mut(id);
        let Some(collector) = &mut self.collector else { return true };
        for (index, &reg) in self.ops.of(flight.step).writes().iter().enumerate() {
            if flight.unwritten & 1 << index == 0 {
                continue;
            }
            let number = self.ops.table.reg_number(crate::base::RegId::new(reg));
            let bank = 1 << collector.bank(number, flight.slot as usize, flight.sub_core as usize);
            if collector.written & bank != 0 {
                return false;
            }
            collector.written |= bank;
            flight.unwritten &= !(1 << index);
        }
        true
    }

    /// A sub-core issued nothing in this cycle.
    pub fn idle(&mut self, sub_core: usize, reason: StallReason, slot: Option<usize>) {
        let now = Cycle::new(self.now);
        let sub = &mut self.subs[sub_core];
        sub.stalls.add(reason, crate::base::Cycles::ONE);
        match &mut sub.idle {
            Some(idle) if idle.reason == reason && idle.to == now => idle.to = now.next(),
            _ => {
                let waiting = slot.and_then(|slot| self.waiting(slot, reason));
                self.end_idle(sub_core);
                self.subs[sub_core].idle =
                    Some(Idle { sub_core: sub_core as u8, from: now, to: now.next(), reason, waiting });
            }
        }
    }

    /// The present idle interval of a sub-core is over.
    pub fn end_idle(&mut self, sub_core: usize) {
        if let Some(idle) = self.subs[sub_core].idle.take()
            && self.listening
        {
            self.log.idled(idle);
        }
    }

    fn waiting(&self, slot: usize, reason: StallReason) -> Option<Waiting> {
        let warp = &self.warps[slot];
        let resident = &self.residents[warp.place as usize];
        let at_barrier = reason == StallReason::Barrier;
        let index = if at_barrier { warp.next.saturating_sub(1) } else { warp.next };
        let of_block = slot - resident.first_slot;
        let path = &self.rooms[warp.place as usize].warps[of_block];
        let step = *path.steps().get(index as usize)?;
        Some(Waiting { block: resident.block, slot, warp: WarpId::from_index(of_block), index, step })
    }
}
