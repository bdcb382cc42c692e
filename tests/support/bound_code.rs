//! Lemma 7 of PLB in a naive implementation, written from the page of its proof: what instruction
//! caches add on one SM with one sub-core.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use warpbound::machine::Machine;
use warpbound::machine::pipeline::{CodeCache, InstructionCaches};
use warpbound::path::Step;
use warpbound::program::TimingTable;

/// The instruction caches of a machine, and a program in them.
pub struct Code<'a> {
    table: &'a TimingTable,
    caches: Option<InstructionCaches>,
}

/// A warp on its way through the code.
#[derive(Default)]
pub struct Walk {
    /// The place of the instruction before.
    last: Option<u32>,
    /// When the lines that the warp has requested arrive in the L0, or in the L1 if the L0 is too small.
    arrivals: BTreeMap<u64, u64>,
}

/// What the code counts for an instruction.
#[derive(Default)]
pub struct Supplied {
    /// The weight of program order.
    pub jump: u64,
    /// The instruction issues no earlier, because its line has not arrived.
    pub not_before: u64,
    /// The arrival of the last line that was requested, which the span of the section includes.
    pub requested: u64,
    /// The service in cycles.
    pub service: u64,
}

impl<'a> Code<'a> {
    pub fn new(table: &'a TimingTable, machine: &Machine) -> Self {
        Self { table, caches: machine.pipeline().and_then(|pipeline| pipeline.instruction_caches) }
    }

    fn line(&self, place: u32) -> u64 {
        let caches = self.caches.unwrap();
        u64::from(place) * u64::from(caches.instruction) / u64::from(caches.line)
    }

    fn lines(&self) -> u64 {
        self.table.places().checked_sub(1).map_or(0, |last| self.line(last) + 1)
    }

    fn all_fit(&self, cache: CodeCache) -> bool {
        self.lines().div_ceil(cache.sets.into()) <= cache.ways.into()
    }

    /// Whether no line ever comes from the memory behind the L1.
    fn is_warm(&self) -> bool {
        self.caches.is_some_and(|caches| caches.warm && self.all_fit(caches.l1))
    }

    /// The services that count once.
    pub fn once(&self) -> u64 {
        let Some(caches) = self.caches else { return 0 };
        let of_l1 = if self.all_fit(caches.l0) { self.lines() * caches.l1_interval } else { 0 };
        let counts_once = self.all_fit(caches.l0) || self.all_fit(caches.l1);
        let of_lower = if counts_once && !self.is_warm() { self.lines() * caches.lower_interval } else { 0 };
        of_l1 + of_lower
    }

    /// Follows a warp to its next instruction. `before` is the issue of the instruction before, or the
    /// beginning of the section.
    pub fn next(&self, walk: &mut Walk, step: Step, before: u64) -> Supplied {
        let mut supplied = Supplied::default();
        let Some(caches) = self.caches else { return supplied };
        let place = self.table.place(step.pc());
        let last = walk.last.replace(place);
        if last.is_some_and(|last| place != last + 1) {
            supplied.jump = caches.jump - 1;
        }
        let line = self.line(place);
        if last.is_some_and(|last| self.line(last) == line) {
            return supplied;
        }
        // the warp enters the line, and requests it together with those behind it
        let end = (line + 1 + u64::from(caches.prefetch)).min(self.lines());
        let lower_latency = if self.is_warm() { 0 } else { caches.lower_latency };
        if self.all_fit(caches.l0) {
            let arrives = before + caches.l1_latency + lower_latency - 1;
            supplied.requested = walk.request(line..end, arrives);
            supplied.not_before = walk.arrivals[&line];
        } else if self.all_fit(caches.l1) {
            supplied.requested = walk.request(line..end, before + lower_latency);
            supplied.not_before = walk.arrivals[&line].max(before) + caches.l1_latency - 1;
            supplied.service = (end - line) * caches.l1_interval;
        } else {
            supplied.not_before = before + caches.l1_latency + caches.lower_latency - 1;
            supplied.service = (end - line) * (caches.l1_interval + caches.lower_interval);
        }
        supplied
    }
}

impl Walk {
    /// Requests lines that have not been requested yet. Returns when they arrive, if there are any.
    fn request(&mut self, lines: std::ops::Range<u64>, arrive: u64) -> u64 {
        let mut latest = 0;
        for line in lines {
            if let Entry::Vacant(vacant) = self.arrivals.entry(line) {
                vacant.insert(arrive);
                latest = arrive;
            }
        }
        latest
    }

    /// Begins a section: what was requested before it is there.
    pub fn begin_section(&mut self) {
        self.arrivals.values_mut().for_each(|at| *at = 0);
    }
}
