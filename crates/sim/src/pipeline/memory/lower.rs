//! The memory system between the SMs and DRAM, DRAM included.

use super::carried::CarriedMemory;
use super::fixed::FixedLevel;
use super::jitter::Draws;
use super::partitioned::Partitioned;
use super::{Port, Share};
use crate::result::LowerStats;
use warpbound_core::machine::MemorySystem;
use warpbound_core::machine::memory::{Fixed, LINE_BYTES, LowerLevel};
use warpbound_trace::trace::Counted;

/// The memory system behind the SMs, shared by all of them.
#[derive(Clone, Debug)]
pub struct Lower {
    kind: Kind,
    /// The number of replies that wait in ports.
    waiting: usize,
}

#[derive(Clone, Debug)]
enum Kind {
    Fixed(Box<FixedLevel>),
    Partitions(Box<Partitioned>),
}

impl Lower {
    /// Creates an idle lower level for this many SMs. A perfect memory has no lower level; if one
    /// is created nevertheless, it answers in the next cycle.
    pub fn new(settings: &MemorySystem, sms: usize) -> Self {
        let seed = settings.seed;
        let draws = |stream| Draws::new(settings.jitter, seed, stream);
        let kind = match settings.lower {
            LowerLevel::Perfect => {
                let fixed = Fixed { latency: 1, per_cycle: u32::MAX, pipelined: true };
                Kind::Fixed(Box::new(FixedLevel::new(fixed, draws(0), sms)))
            }
            LowerLevel::Fixed => Kind::Fixed(Box::new(FixedLevel::new(settings.fixed, draws(0), sms))),
            LowerLevel::Partitions => {
                Kind::Partitions(Box::new(Partitioned::new(&settings.partitions, sms, seed, draws)))
            }
        };
        Self { kind, waiting: 0 }
    }

    /// Restores, before the first cycle, the state that another launch has left, and returns
    /// whether it fits.
    #[must_use]
    pub fn go_on_after(&mut self, left: CarriedMemory) -> bool {
        match (&mut self.kind, left) {
            (Kind::Fixed(fixed), CarriedMemory::Fixed(drawn)) => {
                fixed.draws.go_on_after(drawn);
                true
            }
            (Kind::Partitions(partitions), CarriedMemory::Partitions(left)) => partitions.go_on_after(left),
            _ => false,
        }
    }

    /// Returns the state that a launch of `cycles` core cycles leaves: all requests in flight are
    /// completed first. No SM waits for any of them.
    pub fn leave(mut self, cycles: u64, sms: usize) -> CarriedMemory {
        let mut ports: Vec<Port> = (0..sms).map(|sm| self.port(sm)).collect();
        self.waiting = 0;
        loop {
            match self.quiet_for() {
                u64::MAX => break,
                0 => {
                    for (sm, port) in ports.iter_mut().enumerate() {
                        self.deliver(sm, port, |port| port.reply().is_some());
                    }
                    self.cycle();
                }
                quiet => self.skip(quiet),
            }
        }
        match self.kind {
            Kind::Fixed(fixed) => CarriedMemory::Fixed(fixed.draws.drawn()),
            Kind::Partitions(mut partitions) => CarriedMemory::Partitions(partitions.leave(cycles)),
        }
    }

    /// Records that data has been copied to memory before the first cycle, through the L2.
    pub fn preload(&mut self, address: u64, bytes: u64) {
        if let Kind::Partitions(partitions) = &mut self.kind {
            for line in address / LINE_BYTES..(address + bytes).div_ceil(LINE_BYTES) {
                partitions.preload(line);
            }
        }
    }

    /// Creates the port of an SM.
    pub fn port(&self, sm: usize) -> Port {
        match &self.kind {
            Kind::Fixed(_) => Port::new(sm, 1, None),
            Kind::Partitions(partitions) => partitions.port(sm),
        }
    }

    /// Delivers replies to an SM, which takes one if it can. Must be called once per core cycle,
    /// before [`Self::cycle`]. Returns whether a reply was taken.
    pub fn deliver(&mut self, sm: usize, port: &mut Port, take: impl FnOnce(&mut Port) -> bool) -> bool {
        if let Kind::Fixed(fixed) = &mut self.kind
            && port.has_room()
            && let Some(reply) = fixed.reply(sm)
        {
            port.arrive(reply);
            self.waiting += 1;
        }
        let taken = port.has_replies() && take(port);
        self.waiting -= usize::from(taken);
        if let Kind::Partitions(partitions) = &mut self.kind
            && partitions.has_arrivals()
        {
            self.waiting += usize::from(partitions.eject(sm, port));
        }
        taken
    }

    /// Prepares the port of an SM that is about to send in a core cycle.
    #[inline]
    pub fn open(&self, sm: usize, port: &mut Port) {
        port.set_room(self.room(sm));
    }

    /// Returns the number of requests that an SM may send in this core cycle.
    #[inline]
    pub fn room(&self, sm: usize) -> usize {
        match &self.kind {
            Kind::Fixed(fixed) => fixed.room(),
            Kind::Partitions(partitions) => partitions.room(sm),
        }
    }

    /// Takes the requests that an SM has sent in this core cycle.
    #[inline]
    pub fn collect(&mut self, port: &mut Port) {
        for (_, request) in port.sent().drain(..) {
            match &mut self.kind {
                Kind::Fixed(fixed) => fixed.push(request),
                Kind::Partitions(partitions) => partitions.push(request),
            }
        }
    }

    /// Returns the number of core cycles for which SMs and memory can be simulated independently.
    pub fn horizon(&self) -> u64 {
        match &self.kind {
            Kind::Fixed(_) => 1,
            Kind::Partitions(partitions) => partitions.horizon(),
        }
    }

    /// Simulates memory for a window of core cycles, at most [`Self::horizon`], except for
    /// accepting the requests that are sent in it. [`Self::open_window`] follows. If `remembers` is
    /// set, the statistics of each cycle are recorded for [`Self::stats_at`]. `run` runs all
    /// shares, in any order.
    pub fn run_ahead(&mut self, cycles: u64, remembers: bool, run: impl FnOnce(&mut [Share])) {
        if let Kind::Partitions(partitions) = &mut self.kind {
            partitions.run_ahead(cycles, remembers, run);
        }
    }

    /// Prepares the port of an SM that is about to run through the window.
    pub fn open_window(&mut self, sm: usize, port: &mut Port) {
        port.set_room(usize::MAX);
        if let Kind::Partitions(partitions) = &mut self.kind {
            partitions.exchange(sm, port);
        }
    }

    /// Takes back the port of an SM that has run through the window.
    pub fn close_window(&mut self, sm: usize, port: &mut Port) {
        if let Kind::Partitions(partitions) = &mut self.kind {
            partitions.exchange(sm, port);
        }
    }

    /// Accepts the requests that were sent in the window, after all SMs have run through it.
    /// `waiting` replies wait in ports.
    pub fn follow(&mut self, waiting: usize) {
        self.waiting = waiting;
        if let Kind::Partitions(partitions) = &mut self.kind {
            partitions.follow();
        }
    }

    /// Returns the statistics at the end of a core cycle of the window.
    pub fn stats_at(&self, cycle: u64) -> LowerStats {
        match &self.kind {
            Kind::Fixed(_) => LowerStats::default(),
            Kind::Partitions(partitions) => partitions.stats_at(cycle),
        }
    }

    /// Simulates one core cycle.
    pub fn cycle(&mut self) {
        match &mut self.kind {
            Kind::Fixed(fixed) => fixed.cycle(),
            Kind::Partitions(partitions) => partitions.cycle(),
        }
    }

    /// Returns whether there may be a reply for some SM.
    #[inline]
    pub fn has_replies(&self) -> bool {
        self.waiting > 0
            || match &self.kind {
                Kind::Fixed(fixed) => !fixed.is_idle(),
                Kind::Partitions(partitions) => partitions.has_arrivals(),
            }
    }

    /// Returns whether nothing is in flight.
    #[cfg(test)]
    pub fn is_idle(&self) -> bool {
        let idle = match &self.kind {
            Kind::Fixed(fixed) => fixed.is_idle(),
            Kind::Partitions(partitions) => partitions.is_idle(),
        };
        idle && self.waiting == 0
    }

    /// Returns, after the last step of a core cycle, the number of following cycles that bring no
    /// reply and change nothing here as long as no request is pushed; `u64::MAX` if nothing is in
    /// flight.
    pub fn quiet_for(&self) -> u64 {
        if self.waiting > 0 {
            return 0;
        }
        match &self.kind {
            Kind::Fixed(fixed) => fixed.quiet_for(),
            Kind::Partitions(partitions) => partitions.quiet_for(),
        }
    }

    /// Skips this many cycles, at most [`Self::quiet_for`].
    pub fn skip(&mut self, cycles: u64) {
        debug_assert!(cycles <= self.quiet_for(), "something happens in the skipped cycles");
        match &mut self.kind {
            Kind::Fixed(fixed) => fixed.skip(cycles),
            Kind::Partitions(partitions) => partitions.skip(cycles),
        }
    }

    /// Returns the counters of its parts.
    pub fn samples(&self) -> impl Iterator<Item = Counted> {
        let partitions = match &self.kind {
            Kind::Fixed(_) => None,
            Kind::Partitions(partitions) => Some(partitions.samples()),
        };
        partitions.into_iter().flatten()
    }

    /// Returns the statistics so far.
    pub fn stats(&self) -> LowerStats {
        match &self.kind {
            Kind::Fixed(_) => LowerStats::default(),
            Kind::Partitions(partitions) => partitions.stats(),
        }
    }
}

#[cfg(test)]
#[path = "lower_tests.rs"]
mod tests;
