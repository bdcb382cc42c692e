//! Instruction buffers, fetch by fetch.

use super::choose::{Arbiter, Deciders};
use super::warps::Warp;
use crate::key::Key;
use warpbound_core::base::WarpMask;
use warpbound_core::machine::pipeline::FrontEnd as Settings;
use warpbound_core::program::TimingTable;

/// What fetch does in one of its turns.
#[derive(Clone, Copy)]
enum Turn {
    /// It receives the line that is at this place in the list of missing ones.
    Receive(usize),
    /// It serves the warp in this slot.
    Serve(usize),
}

#[derive(Clone)]
pub(super) struct Fetch {
    settings: Option<Settings>,
    /// For each slot, the address of the first instruction in its buffer, and the number of
    /// instructions.
    buffers: Vec<(u32, u32)>,
    /// The warps that wait for the instruction cache, with the cycle in which the instructions
    /// arrive.
    missing: Vec<(u64, usize)>,
    fetched: Option<usize>,
    last: usize,
    slots: usize,
    /// The address at which the code that can be fetched ends.
    end: u32,
    /// The lines in the cache by set, most recently used first.
    sets: Vec<Vec<u32>>,
}

impl Fetch {
    pub fn new(settings: Option<Settings>, slots: usize, end: u32) -> Self {
        let sets = settings.and_then(|settings| settings.icache).map_or(0, |cache| cache.sets);
        Self {
            settings,
            buffers: vec![(0, 0); 64],
            missing: Vec::new(),
            fetched: None,
            last: 0,
            slots,
            end,
            sets: vec![Vec::new(); sets as usize],
        }
    }

    pub fn is_filled(&self, slot: usize) -> bool {
        self.settings.is_none() || self.buffers[slot].1 > 0
    }

    pub fn is_wrong(&self, slot: usize, warp: &Warp, table: &TimingTable) -> bool {
        let (pc, count) = self.buffers[slot];
        self.settings.is_some()
            && count > 0
            && warp.next_step().is_some_and(|step| table.place(step.pc()) != pc)
    }

    pub fn flush(&mut self, slot: usize, pc: u32) {
        self.buffers[slot] = (pc, 0);
    }

    pub fn issued(&mut self, slot: usize) {
        if self.settings.is_some() {
            let (pc, count) = self.buffers[slot];
            self.buffers[slot] = (pc + 1, count - 1);
        }
    }

    /// Returns whether warps end when fetch passes them.
    pub fn ends_warps(&self) -> bool {
        self.settings.is_some_and(|settings| settings.ends_warps)
    }

    /// Simulates a cycle of decode and fetch. Returns the slots of the complete warps that fetch
    /// has passed, and removes them from `complete`.
    pub fn cycle(
        &mut self,
        now: u64,
        live: WarpMask,
        complete: &mut WarpMask,
        deciders: &mut Deciders,
    ) -> Vec<usize> {
        let mut passed = Vec::new();
        let Some(settings) = self.settings else { return passed };
        for _ in 0..settings.fetches {
            if let Some(slot) = self.fetched.take() {
                let (pc, count) = &mut self.buffers[slot];
                *count = (1..=settings.buffer).take_while(|&n| n == 1 || *pc + n <= self.end).count() as u32;
            }
            let turns = self.turns(now, live);
            // lines come first, then the warps from the one behind the last that was served
            let distance = |slot: usize| (slot + self.slots - self.last - 1) % self.slots;
            let turn = deciders.choose(Arbiter::Fetch, &turns, |turn| match turn {
                Turn::Receive(place) => (0, place),
                Turn::Serve(slot) => (1, distance(slot)),
            });
            if let Some(Turn::Receive(place)) = turn {
                self.fetched = Some(self.missing.remove(place).1);
                continue;
            }
            for slot in complete.slots() {
                let passes = match turn {
                    Some(Turn::Serve(served)) => {
                        deciders.whether(Arbiter::Pass, distance(slot) < distance(served))
                    }
                    _ => true,
                };
                if passes {
                    *complete -= WarpMask::slot(slot);
                    passed.push(slot);
                }
            }
            let Some(Turn::Serve(slot)) = turn else { continue };
            self.last = slot;
            if self.hits(self.buffers[slot].0) {
                self.fetched = Some(slot);
            } else {
                self.missing.push((now + settings.icache.map_or(0, |cache| cache.miss_latency), slot));
            }
        }
        passed
    }

    /// Returns what a turn of fetch can do: receive a line that has arrived, or serve a warp whose
    /// buffer is empty.
    fn turns(&self, now: u64, live: WarpMask) -> Vec<Turn> {
        let arrived = (0..self.missing.len()).filter(|&place| self.missing[place].0 <= now);
        let is_hungry = |slot: &usize| {
            let missing = self.missing.iter().any(|(_, other)| other == slot);
            self.buffers[*slot].1 == 0 && !missing
        };
        let hungry = live.slots().filter(is_hungry);
        arrived.map(Turn::Receive).chain(hungry.map(Turn::Serve)).collect()
    }

    /// Accesses the line of an instruction, and returns whether it is a hit. The line is present
    /// afterwards.
    fn hits(&mut self, pc: u32) -> bool {
        let Some(cache) = self.settings.and_then(|settings| settings.icache) else { return true };
        let line = (u64::from(pc) * u64::from(cache.instruction) / u64::from(cache.line)) as u32;
        let set = &mut self.sets[(line % cache.sets) as usize];
        let found = set.contains(&line);
        set.retain(|&other| other != line);
        set.insert(0, line);
        set.truncate(cache.ways as usize);
        found
    }

    /// Adds the buffers and the instruction cache to the key of a state.
    pub fn key(&self, now: u64, live: WarpMask, key: &mut Key) {
        if self.settings.is_none() {
            return;
        }
        for slot in live.slots() {
            let (pc, count) = self.buffers[slot];
            key.put(pc.into());
            key.put(count.into());
        }
        key.list(&self.missing, |key, &(at, slot)| {
            key.until(at, now);
            key.put(slot as u64);
        });
        key.put(self.fetched.map_or(0, |slot| slot as u64 + 1));
        for set in &self.sets {
            key.list(set, |key, &line| key.put(line.into()));
        }
    }
}
