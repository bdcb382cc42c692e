//! The SM as it is: the engine for machines with a `pipeline`.
//!
//! The paper model knows when an instruction starts and ends as soon as it issues. Here it does
//! not: instructions wait in registers between stages, share register banks, result buses and the
//! load/store unit, and memory answers when it likes. So this engine goes from cycle to cycle, but for those in which
//! nothing can happen. A cycle runs through the stages from the back to the
//! front, so that what a stage lets go is free for the one before it in the same cycle:
//!
//! ```text
//!  replies of memory          load_store/
//!  write-back                 results reach registers, hazards are lifted   (hazards.rs)
//!  load/store unit            transactions are sent, accesses start         (accesses.rs, load_store/)
//!  blocks                     end, and make room                            (blocks.rs, ../blocks/)
//!  operand collector          operands are read                             (collector.rs)
//!  units                      instructions start, with the next cycle       (dispatch.rs)
//!  issue                      each sub-core's policy decides                (issue.rs)
//!  fetch                      instruction buffers are filled                (front_end.rs)
//! ```
//!
//! What only waits costs nothing. When an instruction enters the collector it is known which operand is read when, and when
//! it enters a unit, when its result is there; a sub-core that issues nothing sleeps until something changes for it; the
//! load/store unit knows when the banks of shared memory have served an access, and has cycles for itself while nothing
//! happens elsewhere. Who has competitors (for a place in the
//! collector or behind it, a bus, a bank that is written) takes part in the cycles in which they are told apart.
//!
//! What is here is the state of one SM, which all stages share, and the order of its stages. Several SMs, their blocks and
//! the memory behind them are in `gpu.rs`; `window.rs` lets each go on for itself while memory has no answer for it.
//!
//! With every part off, the cycles are those of the paper model; `tests/engine/against_reference.rs`
//! compares event by event. The structure with everything on is that of GPGPU-Sim 4.2's
//! shader core, as read from its sources ([`crate::model`], section 15); `tests/engine/accelsim.rs` compares cycles.

mod accesses;
mod blocks;
mod code;
mod codes;
mod collector;
mod completions;
mod cores;
mod dispatch;
mod first_level;
mod flight;
mod front_end;
mod gpu;
mod hazards;
mod idle;
mod issue;
mod latch;
mod load_store;
mod log;
mod memory;
mod order;
mod outcome;
mod per;
mod place;
mod samples;
mod scoreboard;
mod stuck;
mod telling;
mod units;
mod window;

pub(in crate::sim) use gpu::launch;

use crate::base::WarpMask;
use crate::machine::{Machine, Pipeline};
use crate::path::{BlockPaths, Step, WarpPath};
use crate::sim::blocks::{Blocks, Layout};
use crate::sim::policy::{AnyPolicy, Policy, ReplayError, View};
use crate::trace::{Stalls, Waiting};
use code::Code;
use codes::Held;
use collector::{Collector, Operands};
use completions::Completions;
use flight::{Flight, FlightId, Flights};
use front_end::FrontEnd;
use idle::{EVERY, Idling};
use latch::Latch;
use load_store::LoadStore;
use log::Log;
use memory::Port;
use per::{Per, PerSlot, PerSubCore};
use place::{KINDS, Place};
use samples::Told;
use scoreboard::Scoreboard;
use units::{ResultBuses, Unit};

/// A warp slot.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct WarpState {
    /// Index of the next step.
    pub next: u32,
    /// Steps that take an issue slot.
    pub steps: u32,
    /// The next step, if there is one.
    pub step: Option<Step>,
    /// The sub-core of the slot.
    pub sub_core: u8,
    /// The kind of unit that the next step goes to.
    pub kind: u8,
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

const NO_WARP: WarpState = WarpState {
    next: 0,
    steps: 0,
    step: None,
    sub_core: 0,
    kind: 0,
    in_flight: 0,
    stores: 0,
    atomics: 0,
    traffic: 0,
    last_issue: 0,
    last_done: 0,
};

/// One sub-core.
#[derive(Clone, Debug)]
struct SubCore {
    pub slots: WarpMask,
    pub view: View,
    /// Whether its policy issues whenever it can.
    pub conserving: bool,
    pub stalls: Stalls,
    pub issues: u64,
    /// When its policy wants to decide again even if nothing happens.
    pub wake: u64,
    /// Its present idle interval.
    pub idle: Option<Idling>,
    /// What stands for that interval, if somebody listens.
    pub waiting: Option<Waiting>,
}

/// One SM.
#[derive(Clone, Debug)]
struct Sm<'a> {
    /// Its number.
    pub index: usize,
    pub code: &'a Code<'a>,
    pub settings: &'a Pipeline,
    pub now: u64,
    pub listening: bool,
    /// Whether somebody wants to hear of all SMs cycle by cycle.
    pub keeps_order: bool,
    /// Whether the policy asks who waits for global memory.
    pub tracks_global: bool,
    /// Whether nobody listens and everything is as on most machines: an operand collector, policies that conserve work, one
    /// issue of a warp per cycle, nothing but registers and fences that keeps an instruction from issuing. The stages are
    /// compiled once for that, so that they ask for none of it.
    pub plain: bool,
    /// Whether nothing but registers and fences keeps an instruction from issuing, and nobody asks what they wait for.
    pub only_registers: bool,
    pub scoreboard: Scoreboard,
    /// What control codes hold back, where they count.
    pub codes: Option<Box<Held>>,
    pub warps: PerSlot<WarpState>,
    pub subs: PerSubCore<SubCore>,
    pub sub_cores: usize,
    /// Warps that wait for a fence or an atomic.
    pub held: WarpMask,
    pub fenced: WarpMask,
    /// Sub-cores that may issue, or be idle for another reason than in the last cycle, as a mask.
    pub awake: u32,
    /// Those that are idle because units take no more.
    pub without_room: u32,
    /// All sub-cores, as a mask.
    pub all_subs: u32,
    /// Warps whose next instruction has no hazard.
    pub clear: WarpMask,
    /// Per kind of unit: warps whose next instruction goes there.
    pub wants: Per<WarpMask, KINDS>,
    pub units: Vec<Unit>,
    pub flights: Flights,
    pub completions: Completions,
    pub buses: Option<ResultBuses>,
    pub collector: Option<Box<Collector>>,
    pub issued: Latch,
    pub collected: Latch,
    pub load_store: Option<Box<LoadStore>>,
    pub front_end: Box<FrontEnd>,
    pub log: Log,
    /// The counters that were told last, if somebody wants to hear of them.
    pub told: Option<Box<Told>>,
    pub blocks: Blocks,
    /// The blocks' paths, by place, but for those of warps that have begun: they are by slot.
    pub rooms: Vec<BlockPaths>,
    pub paths: Box<PerSlot<WarpPath>>,
    pub issues: u64,
    /// The sub-core that issues first in this cycle.
    pub first: usize,
    /// Whether a block was there when this cycle began: without one nothing takes turns.
    active: bool,
    /// Whether anything happened in this cycle.
    pub busy: bool,
    /// Before this cycle nothing happens in it but in the load/store unit, and what follows from that.
    others_next: u64,
    /// The cycle after which nothing moves until memory answers or takes a request; see `stuck.rs`.
    pub stuck_since: Option<u64>,
}

/// What the operand collector asks about instructions.
struct InFlight<'s> {
    code: &'s Code<'s>,
    flights: &'s Flights,
}

impl Operands for InFlight<'_> {
    #[inline]
    fn age(&self, id: FlightId) -> u64 {
        self.flights.get(id).age
    }

    #[inline]
    fn place(&self, id: FlightId) -> Place {
        self.flights.get(id).place
    }

    #[inline]
    fn banks(&self, id: FlightId) -> impl Iterator<Item = usize> {
        let Flight { step, slot, place, .. } = *self.flights.get(id);
        self.code.banks(self.code.of(step).reads(), slot, place.sub_core())
    }
}

impl<'a> Sm<'a> {
    pub fn new(
        code: &'a Code<'a>,
        machine: &'a Machine,
        settings: &'a Pipeline,
        layout: Layout,
        slots: usize,
        (index, shared_bytes): (usize, u64),
        policies: &[AnyPolicy<'_>],
    ) -> Self {
        let sub_cores = machine.sub_cores().count();
        let table = code.table;
        let tracks_global = policies.iter().any(Policy::tracks_global);
        let sub = |index: usize| SubCore {
            slots: if index < sub_cores { machine.sub_cores().slots(index) } else { WarpMask::empty() },
            view: View::new(),
            stalls: Stalls::default(),
            issues: 0,
            wake: u64::MAX,
            conserving: policies.get(index).is_none_or(Policy::is_work_conserving),
            idle: None,
            waiting: None,
        };
        Self {
            code,
            settings,
            now: 0,
            listening: false,
            keeps_order: false,
            tracks_global,
            plain: false,
            only_registers: !tracks_global && table.barriers().is_none(),
            scoreboard: Scoreboard::new(table, slots, tracks_global),
            codes: table.barriers().map(|barriers| Box::new(Held::new(barriers))),
            warps: PerSlot::new(|slot| WarpState {
                sub_core: machine.sub_cores().of_slot(slot) as u8,
                ..NO_WARP
            }),
            subs: PerSubCore::new(sub),
            sub_cores,
            held: WarpMask::empty(),
            fenced: WarpMask::empty(),
            awake: EVERY,
            without_room: 0,
            all_subs: EVERY >> (u32::BITS as usize - sub_cores),
            clear: WarpMask::empty(),
            wants: Per::new(|_| WarpMask::empty()),
            units: (0..sub_cores).flat_map(|_| code.times.iter().copied().map(Unit::new)).collect(),
            flights: Flights::default(),
            completions: Completions::default(),
            buses: settings.result_buses.map(ResultBuses::new),
            collector: settings.collector.map(|c| Box::new(Collector::new(c, sub_cores))),
            issued: Latch::new(),
            collected: Latch::new(),
            load_store: settings
                .load_store
                .map(|settings| Box::new(LoadStore::new(settings, machine.memory(), shared_bytes, index))),
            index,
            front_end: Box::new(FrontEnd::new(settings.front_end, slots)),
            log: Log::default(),
            told: None,
            blocks: Blocks::new(layout),
            rooms: vec![BlockPaths::default(); layout.places()],
            paths: Box::new(PerSlot::new(|_| WarpPath::default())),
            issues: 0,
            first: 0,
            active: false,
            busy: false,
            others_next: 0,
            stuck_since: None,
        }
    }

    /// The path of the warp in a slot.
    pub fn path(&self, slot: usize) -> &WarpPath {
        &self.paths[slot]
    }

    /// Takes a reply of memory. Whether it could.
    pub fn receive(&mut self, port: &mut Port) -> bool {
        self.load_store.as_mut().is_some_and(|unit| unit.receive(port))
    }

    /// Says who listens, before the first cycle.
    pub fn listen(&mut self, listening: bool, keeps_order: bool, told: Option<Box<Told>>) {
        (self.listening, self.keeps_order, self.told) = (listening, keeps_order, told);
        self.plain = !listening
            && self.told.is_none()
            && self.only_registers
            && self.collector.is_some()
            && self.settings.issue.per_warp == 1
            && self.subs.iter().all(|sub| sub.conserving);
    }

    /// One cycle, up to the point where blocks are placed.
    #[inline(always)]
    pub fn begin_cycle<const PLAIN: bool>(&mut self, port: Option<&mut Port>) {
        let now = self.now;
        if self.stuck_since.is_some() {
            self.end_stuck();
        }
        if now >= self.others_next {
            while let Some(id) = self.completions.due(now) {
                self.busy = true;
                self.write_back::<PLAIN>(id);
            }
            if !PLAIN && self.codes.is_some() {
                self.follow_codes();
            }
        }
        self.load_and_store(port);
        if !self.others_rest() {
            self.release_barriers();
        }
    }

    /// Whether nothing has happened in this cycle but in the load/store unit, and nothing will.
    #[inline]
    pub fn others_rest(&self) -> bool {
        self.now < self.others_next && !self.busy
    }

    /// The rest of a cycle in which nothing happens but in the load/store unit.
    #[inline]
    pub fn rest_others(&mut self) {
        if let Some(collector) = &mut self.collector {
            collector.rest();
        }
    }

    /// The rest of the cycle.
    #[inline(always)]
    pub fn end_cycle<const PLAIN: bool>(
        &mut self,
        policies: &mut [AnyPolicy<'_>],
    ) -> Result<(), Box<ReplayError>> {
        if self.others_rest() {
            self.rest_others();
            return Ok(());
        }
        if let Some(collector) = &mut self.collector {
            if !self.issued.is_empty() || !collector.is_empty() {
                let operands = InFlight { code: self.code, flights: &self.flights };
                self.busy |= collector.cycle(self.now, &operands, &mut self.issued, &mut self.collected);
                self.awake |= std::mem::take(&mut self.issued.left) & self.without_room;
            } else {
                collector.rest();
            }
            // they do so when the next cycle begins, but nothing before that changes what they do
            if !self.collected.is_empty() {
                self.start_collected::<PLAIN>(self.now + 1);
            }
        }
        if !self.fenced.is_empty() {
            self.lift_fences();
        }
        if self.awake & self.all_subs != 0 {
            // those from the first on, and then those before it
            let from_first = EVERY << self.first;
            self.issue_on::<PLAIN>(from_first & self.all_subs, policies)?;
            self.issue_on::<PLAIN>(!from_first & self.all_subs, policies)?;
        }
        let before = self.front_end.filled;
        self.busy |= self.front_end.cycle(self.now, self.blocks.live());
        let fetched = self.front_end.filled - before;
        if !fetched.is_empty() {
            self.wake_fetched(fetched);
        }
        if !PLAIN && self.told.is_some() {
            self.sample();
        }
        Ok(())
    }

    /// The next cycle in which something can happen, if memory neither answers nor takes a request that it had no room for.
    #[inline]
    pub fn next_event(&mut self, waits_for_room: bool) -> u64 {
        if self.busy {
            self.others_next = 0;
            return self.now + 1;
        }
        if self.now >= self.others_next {
            self.others_next = self.next_of_others();
        }
        let next = self.others_next.min(self.next_of_unit(waits_for_room)).max(self.now + 1);
        // who may issue looks at it in each cycle, and who listens to samples hears of the unit's
        if self.awake & self.all_subs != 0 || self.told.is_some() {
            self.others_next = 0;
        }
        next
    }

    /// The next cycle in which something can happen in the load/store unit.
    #[inline]
    fn next_of_unit(&mut self, waits_for_room: bool) -> u64 {
        let Some(unit) = &self.load_store else { return u64::MAX };
        if unit.acted {
            return self.now + 1;
        }
        if !waits_for_room || !self.is_stuck() {
            return unit.next_event(self.now);
        }
        self.stuck_since = Some(self.now);
        unit.next_by_time(self.now)
    }

    /// The next cycle in which something can happen but in the load/store unit, if nothing happens there.
    #[inline(never)]
    fn next_of_others(&mut self) -> u64 {
        let collecting = self.collector.as_ref().is_some_and(|collector| !collector.is_stuck(&self.issued));
        if collecting {
            return self.now + 1;
        }
        let start = self.next_start();
        let fetch = self.front_end.next_arrival();
        let wake = self.subs.iter().map(|sub| sub.wake).min().unwrap_or(u64::MAX);
        let codes = self.codes.as_ref().map_or(u64::MAX, |held| held.next());
        let queues = if self.code.sleeps {
            None
        } else {
            self.units.iter().map(|unit| unit.next_room(self.now)).min()
        };
        self.completions
            .next()
            .min(queues.unwrap_or(u64::MAX))
            .min(self.blocks.due())
            .min(start)
            .min(fetch)
            .min(wake)
            .min(codes)
            .max(self.now + 1)
    }

    /// Goes to a later cycle, or stays in this one.
    #[inline]
    pub fn advance_to(&mut self, to: u64) {
        if to == self.now {
            return;
        }
        if self.settings.issue.rotate && self.active {
            // if the last block has ended, it did so in the cycle after which this begins
            let turns = if self.blocks.is_empty() { 1 } else { to - self.now };
            // nearly always the next cycle: no division then
            let first = self.first + turns as usize;
            self.first = match first.checked_sub(self.sub_cores) {
                None => first,
                Some(beyond) if beyond < self.sub_cores => beyond,
                Some(beyond) => beyond % self.sub_cores,
            };
        }
        self.active = !self.blocks.is_empty();
        self.now = to;
        self.busy = false;
    }
}
