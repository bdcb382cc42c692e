//! The memory of the reference: a second, simple and slow implementation of section 18 of the
//! execution model.
//!
//! It shares nothing with the engine but the settings of the machine and the counters of the
//! results. Every part is simulated in every cycle and in every tick of its clock, in plain lists.
//! A transaction names its sectors by their addresses divided by 32, and the words that a store
//! writes by their addresses divided by 4.

mod cache;
mod clock;
mod crossbar;
mod dram;
mod fetches;
mod first_level;
mod fixed;
mod index;
mod jitter;
mod mapping;
mod partition;
mod partitions;
mod slice;

pub(super) use cache::{Cache, Found};
pub(super) use first_level::FirstLevel;

use std::collections::VecDeque;

use super::choose::{Deciders, Rules};
use crate::key::Key;
use crate::result::LowerStats;
use fixed::Fixed;
use jitter::Draws;
use partitions::Partitions;
use warpbound_core::machine::Machine;
use warpbound_core::machine::memory::{Fixed as FixedSettings, LINE_BYTES, LowerLevel, SECTOR_BYTES};
use warpbound_core::path::Footprint;

/// The purpose of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Load,
    Constant,
    Store,
    Atomic,
    /// The dirty sectors of a victim. Nothing answers it.
    WriteBack,
}

/// The one that waits for the answer to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waits {
    /// An instruction, by its number.
    Instr(usize),
    /// The warp in this slot, whose store it is.
    Warp(usize),
    /// A fetch of a cache, by its number in the cache.
    Fetch(u64),
    Nobody,
}

/// Some sectors of one line of 128 bytes, on their way to memory or back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Request {
    /// The sectors, in ascending order: addresses divided by 32.
    pub sectors: Vec<u64>,
    /// The words of these sectors that a store writes: addresses divided by 4.
    pub words: Vec<u64>,
    pub kind: Kind,
    pub waits: Waits,
    /// The SM that has sent it.
    pub sm: usize,
}

impl Request {
    /// Returns the address of its first byte.
    fn address(&self) -> u64 {
        self.sectors[0] * SECTOR_BYTES
    }

    fn bytes(&self) -> u64 {
        self.sectors.len() as u64 * SECTOR_BYTES
    }

    /// Returns whether it brings data to memory and reads none.
    fn writes(&self) -> bool {
        matches!(self.kind, Kind::Store | Kind::WriteBack)
    }

    /// Adds the request to the key of a state.
    pub fn key(&self, key: &mut Key) {
        let Self { sectors, words, kind, waits, sm } = self;
        key.put(*sm as u64);
        key.list(sectors, |key, &sector| key.put(sector));
        key.list(words, |key, &word| key.put(word));
        key.put(*kind as u64);
        match *waits {
            Waits::Instr(id) => {
                key.put(0);
                key.instr(*sm, id);
            }
            Waits::Warp(slot) => {
                key.put(1);
                key.put(slot as u64);
            }
            Waits::Fetch(fetch) => {
                key.put(2);
                key.put(fetch);
            }
            Waits::Nobody => key.put(3),
        }
    }
}

/// Returns the words of these sectors.
pub(super) fn words_of(sectors: &[u64]) -> Vec<u64> {
    sectors.iter().flat_map(|sector| sector * 8..sector * 8 + 8).collect()
}

/// The memory behind the SMs.
#[derive(Clone, Debug)]
pub(super) struct Memory {
    behind: Behind,
    /// For each SM, the replies that it can take, and the largest number of them.
    replies: Vec<VecDeque<Request>>,
    limit: usize,
}

#[derive(Clone, Debug)]
enum Behind {
    Fixed(Box<Fixed>),
    Partitions(Box<Partitions>),
}

/// The state that launches leave for the next one: the SM that got a block last, and the memory.
#[derive(Clone, Debug, Default)]
pub struct Carried(Option<(usize, Option<Memory>)>);

impl Carried {
    /// Returns whether a launch has left anything.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Returns the state in which a launch starts: the memory, and the SM that got a block last.
    pub(super) fn found(&mut self, machine: &Machine, footprint: &Footprint) -> (Option<Memory>, usize) {
        let ((last_served, mut memory), copied) = match self.0.take() {
            Some(left) => (left, &footprint.copied),
            None => ((machine.sms() - 1, Memory::of(machine)), &footprint.buffers),
        };
        for &(address, bytes) in copied {
            if machine.memory().keeps_copies_of(bytes) {
                memory.iter_mut().for_each(|memory| memory.copy(address, bytes));
            }
        }
        (memory, last_served)
    }

    /// Stores the state that a launch of this many cycles leaves, if the next one starts from it.
    pub(super) fn leave(
        &mut self,
        machine: &Machine,
        memory: Option<Memory>,
        last_served: usize,
        cycles: u64,
    ) {
        if machine.memory().start.is_left() {
            self.0 = Some((last_served, memory.map(|memory| memory.at_rest(cycles))));
        }
    }
}

impl Memory {
    /// Returns the memory of a machine in the state before the first launch, or `None` if nothing
    /// goes to it.
    fn of(machine: &Machine) -> Option<Self> {
        let (settings, sms) = (machine.memory(), machine.sms());
        machine.pipeline()?.load_store?;
        let draws = |stream| Draws::new(settings.jitter, settings.seed, stream);
        let (behind, limit) = match settings.lower {
            LowerLevel::Perfect if settings.l1.is_none() && settings.constant.is_none() => return None,
            LowerLevel::Perfect => {
                let at_once = FixedSettings { latency: 1, per_cycle: u32::MAX, pipelined: true };
                (Behind::Fixed(Box::new(Fixed::new(at_once, draws(0)))), 1)
            }
            LowerLevel::Fixed => (Behind::Fixed(Box::new(Fixed::new(settings.fixed, draws(0)))), 1),
            LowerLevel::Partitions => {
                let partitions = Partitions::new(&settings.partitions, sms, settings.seed, draws);
                (Behind::Partitions(Box::new(partitions)), settings.partitions.ejection_queue as usize)
            }
        };
        Some(Self { behind, replies: vec![VecDeque::new(); sms], limit })
    }

    /// Simulates, at the beginning of a core cycle, the arrival of replies at an SM. Returns the
    /// reply that the SM takes, if it `takes` one.
    pub fn deliver(&mut self, sm: usize, takes: bool) -> Option<Request> {
        let queue = &mut self.replies[sm];
        if let Behind::Fixed(fixed) = &mut self.behind
            && queue.len() < self.limit
        {
            queue.extend(fixed.reply(sm));
        }
        let taken = if takes { queue.pop_front() } else { None };
        if let Behind::Partitions(partitions) = &mut self.behind
            && queue.len() < self.limit
        {
            queue.extend(partitions.reply(sm));
        }
        taken
    }

    /// Simulates a core cycle of everything behind the SMs.
    pub fn cycle(&mut self, deciders: &mut Deciders) {
        match &mut self.behind {
            Behind::Fixed(fixed) => fixed.cycle(),
            Behind::Partitions(partitions) => partitions.cycle(deciders),
        }
    }

    /// Returns whether an SM can send a request now.
    pub fn accepts(&self, sm: usize) -> bool {
        match &self.behind {
            Behind::Fixed(fixed) => fixed.accepts(),
            Behind::Partitions(partitions) => partitions.accepts(sm),
        }
    }

    /// Takes a request of an SM.
    pub fn send(&mut self, request: Request) {
        match &mut self.behind {
            Behind::Fixed(fixed) => fixed.send(request),
            Behind::Partitions(partitions) => partitions.send(request),
        }
    }

    pub fn stats(&self) -> LowerStats {
        match &self.behind {
            Behind::Fixed(_) => LowerStats::default(),
            Behind::Partitions(partitions) => partitions.stats(),
        }
    }

    /// Simulates that the host copies data to memory.
    fn copy(&mut self, address: u64, bytes: u64) {
        if let Behind::Partitions(partitions) = &mut self.behind {
            let (first, end) = (address / LINE_BYTES, (address + bytes).div_ceil(LINE_BYTES));
            for sector in first * LINE_BYTES / SECTOR_BYTES..end * LINE_BYTES / SECTOR_BYTES {
                partitions.copy(sector);
            }
        }
    }

    /// Completes what is in flight, and returns the memory as it is before the next launch.
    fn at_rest(mut self, cycles: u64) -> Self {
        self.replies.iter_mut().for_each(VecDeque::clear);
        match &mut self.behind {
            Behind::Fixed(fixed) => fixed.rest(),
            Behind::Partitions(_) => {
                let mut rules = Deciders { policies: Vec::new(), chooser: &mut Rules };
                while !self.is_idle() {
                    for sm in 0..self.replies.len() {
                        self.deliver(sm, true);
                    }
                    self.cycle(&mut rules);
                }
                self.replies.iter_mut().for_each(VecDeque::clear);
            }
        }
        if let Behind::Partitions(partitions) = &mut self.behind {
            partitions.rest(cycles);
        }
        self
    }

    fn is_idle(&self) -> bool {
        match &self.behind {
            Behind::Fixed(fixed) => fixed.is_idle(),
            Behind::Partitions(partitions) => partitions.is_idle(),
        }
    }

    /// Adds the memory to the key of a state.
    pub fn key(&self, key: &mut Key) {
        for replies in &self.replies {
            key.list(replies, |key, reply| reply.key(key));
        }
        match &self.behind {
            Behind::Fixed(fixed) => fixed.key(key),
            Behind::Partitions(partitions) => partitions.key(key),
        }
    }
}
