//! The detailed SM: the engine for machines that have a `pipeline` section.
//!
//! In the paper model, an instruction's start and end are known as soon as it issues. In this
//! engine they are not: instructions wait in pipeline registers between stages, compete for
//! register banks, result buses and the load/store unit, and the latency of memory varies. This
//! engine therefore simulates cycle by cycle, but skips the cycles in which nothing can happen. A
//! cycle runs through the stages from the back to the front, so that what one stage frees is
//! available to the stage before it in the same cycle:
//!
//! ```text
//!  replies of memory   load_store/
//!  write-back          results reach registers, hazards are lifted   (completions.rs, warps/)
//!  load/store unit     transactions are sent, accesses start         (load_store/, first_level.rs)
//!  blocks              end, and make room                            (../blocks/)
//!  operand collector   operands are read                             (collector.rs)
//!  units               instructions start, with the next cycle       (units.rs)
//!  issue               each sub-core's policy decides                (schedulers.rs, warps/, register_ports.rs)
//!  fetch               instruction buffers are filled                (front_end.rs, instruction_caches.rs)
//! ```
//!
//! Each stage owns its state. Its inputs are method calls that carry all the data it needs, and
//! their return values say what follows for other stages. [`Sm`] has one of each stage and connects
//! them: `issue.rs` connects the schedulers to the collector, `dispatch.rs` the collector to the
//! units and the units back to the warps, `accesses.rs` the load/store unit in both directions, and
//! `blocks.rs` the blocks to the warps. Stages pass each other the number of an instruction in
//! flight (`flight.rs`); memory uses a [`Token`](memory::Token) instead.
//!
//! An instruction that only waits costs the simulator no work. When an instruction enters the
//! collector, the cycle in which each operand is read is known, and when it enters a unit, the
//! cycle of its result. A sub-core that issues nothing sleeps until something changes for it. The
//! load/store unit computes in advance when the banks of shared memory have served an access, and
//! it can run through cycles alone while nothing happens elsewhere. Some instructions compete for a
//! resource: an entry in the collector or behind it, a bus, or a bank that is written. Only these
//! take part in the cycles in which the winner is selected.
//!
//! `gpu.rs` contains several SMs, the supply of their blocks and the memory behind them;
//! `window.rs` lets each SM run on its own for as long as memory has no reply for it.
//!
//! `by_cycle/` contains a second implementation of the same SM, simple and slow, and tests compare
//! the two event by event on randomly drawn machines. With every feature off, the cycles are those
//! of the paper model; `tests/engine/against_reference.rs` compares them event by event. The
//! structure with every feature on is that of GPGPU-Sim 4.2's shader core, as read from its sources
//! (`warpbound::model`, section 15); `tests/engine/accelsim.rs` compares cycles.

mod accesses;
mod blocks;
pub mod by_cycle;
mod carried;
mod code;
mod code_lines;
mod collector;
mod completions;
mod cores;
mod dispatch;
mod first_level;
mod flight;
mod front_end;
mod gpu;
mod instruction_caches;
mod issue;
mod latch;
mod latch_entry;
mod load_store;
mod log;
mod memory;
mod order;
mod outcome;
mod pending;
mod per;
mod register_ports;
mod regs;
mod samples;
mod schedulers;
mod stuck;
mod units;
mod warps;
mod window;

pub use carried::CarriedState;
pub(crate) use gpu::launch;

use crate::blocks::{Blocks, Layout};
use crate::policy::{AnyPolicy, Policy, PolicyError};
use code::Code;
use collector::{Collector, Operands};
use flight::{Flight, FlightId, Flights};
use front_end::FrontEnd;
use instruction_caches::InstructionCaches;
use load_store::LoadStore;
use log::Log;
use memory::Port;
use register_ports::RegisterPorts;
use samples::Told;
use schedulers::Schedulers;
use units::Units;
use warpbound_core::machine::{Machine, Pipeline};
use warpbound_core::path::BlockPaths;
use warps::Warps;

/// One SM: its stages and the connections between them.
#[derive(Clone, Debug)]
struct Sm<'a> {
    /// The number of the SM.
    index: usize,
    code: &'a Code<'a>,
    settings: &'a Pipeline,
    now: u64,
    /// Whether anything happened in this cycle that the stages after the load/store unit have to
    /// consider.
    busy: bool,
    /// Whether the next cycle has to be simulated because of what these stages did in this one.
    goes_on: bool,
    /// Whether no observer is attached and the configuration is the common one: an operand
    /// collector, work-conserving policies, at most one issue of a warp per cycle, and nothing but
    /// registers and fences that keeps an instruction from issuing. The stages are compiled a
    /// second time for this case, without the checks for the other features.
    plain: bool,
    listening: bool,
    /// Whether the completion of an instruction may go unnoticed if nothing waits for it: no observer
    /// is attached, and no stage but its unit has to know of the instruction.
    may_be_quiet: bool,
    /// Whether an observer requests the events of all SMs in the order of cycles.
    keeps_order: bool,
    /// Whether a block was resident when this cycle began. Without one, the round robin pointer of
    /// the sub-cores does not advance.
    active: bool,
    /// The first cycle in which something may happen outside of the load/store unit. Before it,
    /// only the load/store unit acts.
    others_next: u64,
    /// The cycle after which nothing moves until memory replies or accepts a request; see
    /// `stuck.rs`.
    stuck_since: Option<u64>,
    /// The number of instructions issued so far.
    issues: u64,
    warps: Warps<'a>,
    front_end: FrontEnd,
    schedulers: Schedulers,
    flights: Flights,
    collector: Option<Box<Collector>>,
    /// The ports of register banks, if the instructions of the program wait for them.
    register_ports: Option<Box<RegisterPorts>>,
    units: Units,
    load_store: Option<Box<LoadStore>>,
    blocks: Blocks,
    /// The paths of the resident blocks, by CTA slot. The paths of warps that have begun are not
    /// here but with the warps.
    resident_paths: Vec<BlockPaths>,
    log: Log,
    /// The counter values of the last sample, if an observer requests samples.
    told: Option<Box<Told>>,
}

/// The properties of instructions that the operand collector looks up.
struct InFlight<'s> {
    code: &'s Code<'s>,
    flights: &'s Flights,
}

impl Operands for InFlight<'_> {
    fn banks(&self, id: FlightId) -> impl Iterator<Item = usize> {
        let &Flight { step, slot, place, .. } = self.flights.get(id);
        self.code.operand_banks(self.code.of(step), slot, place.sub_core())
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
        let sub_cores = machine.sub_cores();
        let conserving = |sub_core: usize| policies.get(sub_core).is_none_or(Policy::is_work_conserving);
        let load_store = |settings| {
            let of_sm = (index, sub_cores.count());
            Box::new(LoadStore::new(settings, machine.memory(), shared_bytes, of_sm))
        };
        let times_of = |&times| settings.collector.is_some().then_some(times);
        let times = (0..sub_cores.count()).flat_map(|_| code.times.iter().map(times_of));
        Self {
            index,
            code,
            settings,
            now: 0,
            busy: false,
            goes_on: false,
            plain: false,
            listening: false,
            may_be_quiet: false,
            keeps_order: false,
            active: false,
            others_next: 0,
            stuck_since: None,
            issues: 0,
            warps: Warps::new(code, slots, policies.iter().any(Policy::tracks_global)),
            front_end: FrontEnd::new(
                settings.front_end,
                settings
                    .instruction_caches
                    .map(|caches| InstructionCaches::new(caches, sub_cores, code.table.places())),
                slots,
                code.table.fetch_end(),
            ),
            schedulers: Schedulers::new(sub_cores, conserving),
            flights: Flights::default(),
            collector: settings.collector.map(|c| Box::new(Collector::new(c, sub_cores.count()))),
            register_ports: settings
                .register_file
                .filter(|_| code.table.has_port_reads())
                .map(|file| Box::new(RegisterPorts::new(file))),
            units: Units::new(times, settings.result_buses, settings.write_back),
            load_store: settings.load_store.map(load_store),
            blocks: Blocks::with_refill(layout, settings.launch.refill),
            resident_paths: vec![BlockPaths::default(); layout.cta_slots()],
            log: Log::default(),
            told: None,
        }
    }

    /// Receives a reply of memory, and returns whether it was accepted.
    pub fn receive(&mut self, port: &mut Port) -> bool {
        self.load_store.as_mut().is_some_and(|unit| unit.receive(port))
    }

    /// Sets which events are observed, before the first cycle.
    pub fn listen(&mut self, listening: bool, keeps_order: bool, told: Option<Box<Told>>) {
        (self.listening, self.keeps_order, self.told) = (listening, keeps_order, told);
        self.may_be_quiet = !listening && self.collector.is_none() && !self.front_end.ends_warps();
        self.plain = !listening
            && self.told.is_none()
            && self.warps.are_plain()
            && self.collector.is_some()
            && self.register_ports.is_none()
            && self.settings.issue.per_warp == 1
            && self.schedulers.conserve();
    }

    /// Records that the SM had no block before this cycle.
    pub fn was_idle_until(&mut self, now: u64) {
        self.schedulers.drain_until(now);
    }

    /// Simulates the first part of a cycle, up to the point at which blocks are placed.
    #[inline(always)]
    pub fn begin_cycle<const PLAIN: bool>(&mut self, port: Option<&mut Port>) {
        let now = self.now;
        if self.stuck_since.is_some() {
            self.end_stuck();
        }
        if now >= self.others_next {
            if self.units.completions.is_due(now) {
                self.write_back::<PLAIN>();
            }
            if !PLAIN {
                self.follow_codes();
            }
        }
        self.load_and_store::<PLAIN>(port);
        if !self.others_rest() {
            self.release_barriers();
        }
    }

    /// Returns whether nothing happens in this cycle outside of the load/store unit.
    #[inline(always)]
    pub fn others_rest(&self) -> bool {
        self.now < self.others_next && !self.busy
    }

    /// Simulates the second part of a cycle in which only the load/store unit acts.
    #[inline(always)]
    pub fn rest_others(&mut self) {
        if let Some(collector) = &mut self.collector {
            collector.rest();
        }
    }

    /// Simulates the second part of the cycle, after blocks are placed.
    #[inline(always)]
    pub fn end_cycle<const PLAIN: bool>(
        &mut self,
        policies: &mut [AnyPolicy<'_>],
    ) -> Result<(), Box<PolicyError>> {
        if self.others_rest() {
            self.rest_others();
            return Ok(());
        }
        self.collect::<PLAIN>();
        if self.warps.have_fences() {
            self.lift_fences();
        }
        if self.schedulers.any_awake() {
            for sub_cores in self.schedulers.in_turn() {
                self.issue_on::<PLAIN>(sub_cores, policies)?;
            }
        }
        let (fetched, busy) = self.front_end.cycle(self.now, self.blocks.live());
        self.goes_on |= busy;
        let passed = self.front_end.take_passed();
        if !passed.is_empty() {
            self.end_warps(passed);
        }
        if !fetched.is_empty() {
            let go_on = self.warps.clear() | self.front_end.wrong_path();
            self.schedulers.wake_fetched(fetched, go_on);
        }
        if !PLAIN && self.told.is_some() {
            self.sample();
        }
        Ok(())
    }

    /// Lets warps issue again whose fences have completed.
    fn lift_fences(&mut self) {
        let lifted = self.warps.lift_fences();
        self.schedulers.wake_slots(lifted);
        self.goes_on |= !lifted.is_empty();
    }

    /// Returns the next cycle in which something can happen, provided that memory neither replies
    /// nor accepts a request for which it had no room.
    #[inline(always)]
    pub fn next_event(&mut self, waits_for_room: bool) -> u64 {
        if self.goes_on {
            self.others_next = 0;
            return self.now + 1;
        }
        self.next_if_quiet(waits_for_room)
    }

    #[inline(never)]
    fn next_if_quiet(&mut self, waits_for_room: bool) -> u64 {
        if self.busy || self.now >= self.others_next {
            self.others_next = self.next_of_others();
        }
        let next = self.others_next.min(self.next_of_unit(waits_for_room)).max(self.now + 1);
        // a sub-core that is awake looks for an instruction in each cycle, and samples include the
        // counters of the load/store unit
        if self.schedulers.any_awake() || self.told.is_some() {
            self.others_next = 0;
        }
        next
    }

    /// Returns the next cycle in which something can happen in the load/store unit.
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

    /// Returns the next cycle in which something can happen outside of the load/store unit, if
    /// nothing happens in the unit.
    fn next_of_others(&mut self) -> u64 {
        if self.collector.as_ref().is_some_and(|collector| !collector.is_stuck()) {
            return self.now + 1;
        }
        // a sub-core that waits for room does not sleep
        let waits_for_room = !self.code.sleeps && self.schedulers.any_awake();
        let room = if waits_for_room { self.units.next_room(self.now) } else { u64::MAX };
        self.units
            .completions
            .next()
            .min(room)
            .min(self.blocks.due())
            .min(self.next_start())
            .min(self.front_end.next_arrival())
            .min(self.schedulers.next_wake())
            .min(self.warps.next_of_codes())
            .max(self.now + 1)
    }

    /// Advances to a later cycle; does nothing if `to` is the current one.
    #[inline(always)]
    pub fn advance_to(&mut self, to: u64) {
        if to == self.now {
            return;
        }
        if self.active && self.settings.issue.rotate {
            // if the last block has ended, it ended in the cycle before the skipped ones
            self.schedulers.turn(if self.blocks.is_empty() { 1 } else { to.wrapping_sub(self.now) });
        }
        self.active = !self.blocks.is_empty();
        self.now = to;
        (self.busy, self.goes_on) = (false, false);
    }
}
