//! The operand collector, step by step: banks with queues, from each of which one operand is read
//! per step.

use std::collections::{BTreeMap, VecDeque};

use super::choose::{Arbiter, Deciders};
use crate::key::Key;
use warpbound_core::machine::pipeline::Collector as Settings;

/// A unit, or a kind of unit, and a sub-core.
type Place = (usize, usize);

/// An instruction, and the number of its operands that have not been read.
#[derive(Clone)]
struct Taken {
    id: usize,
    place: Place,
    unread: usize,
}

/// An instruction that waits to enter.
#[derive(Clone)]
struct Waiting {
    id: usize,
    place: Place,
    banks: Vec<usize>,
}

#[derive(Clone)]
pub(in crate::pipeline) struct Collector {
    settings: Settings,
    sub_cores: usize,
    kinds: usize,
    units: Vec<Option<Taken>>,
    /// For each bank, the collector units that wait to read it, one entry for each operand.
    reads: Vec<VecDeque<usize>>,
    search_from: Vec<usize>,
    waiting: BTreeMap<Place, Waiting>,
    /// The instructions that wait to enter, by kind and sub-core; and those that wait for a unit.
    pub input: BTreeMap<Place, usize>,
    pub output: BTreeMap<Place, usize>,
}

impl Collector {
    pub fn new(settings: Settings, sub_cores: usize, kinds: usize) -> Self {
        let units = settings.units as usize;
        Self {
            settings,
            sub_cores,
            kinds,
            units: vec![None; units],
            reads: vec![VecDeque::new(); settings.banks as usize],
            search_from: vec![units / sub_cores % units; settings.ports as usize],
            waiting: BTreeMap::new(),
            input: BTreeMap::new(),
            output: BTreeMap::new(),
        }
    }

    pub fn put(&mut self, entry: Place, id: usize, place: Place, banks: Vec<usize>) {
        self.input.insert(entry, id);
        self.waiting.insert(entry, Waiting { id, place, banks });
    }

    fn share(&self) -> usize {
        self.units.len() / self.sub_cores
    }

    /// Simulates a cycle in which these banks are written.
    pub fn cycle(&mut self, written: &[usize], deciders: &mut Deciders) {
        for step in 0..self.settings.steps {
            self.hand_over(deciders);
            self.read(if step == 0 { written } else { &[] });
            self.accept(deciders);
        }
    }

    fn hand_over(&mut self, deciders: &mut Deciders) {
        let count = self.units.len();
        for port in 0..self.search_from.len() {
            let goes = |unit: &usize| {
                let ready = |taken: &Taken| taken.unread == 0 && !self.output.contains_key(&taken.place);
                self.units[*unit].as_ref().is_some_and(ready)
            };
            let from = self.search_from[port];
            let go: Vec<usize> = (0..count).filter(goes).collect();
            let chosen = deciders.choose(Arbiter::HandOver, &go, |unit| (unit + count - from) % count);
            let Some(unit) = chosen else { continue };
            let taken = self.units[unit].take().expect("it goes");
            self.output.insert(taken.place, taken.id);
            self.search_from[port] = (unit / self.share() + 1) * self.share() % count;
        }
    }

    fn read(&mut self, written: &[usize]) {
        for (bank, waiting) in self.reads.iter_mut().enumerate() {
            if !written.contains(&bank)
                && let Some(unit) = waiting.pop_front()
            {
                self.units[unit].as_mut().expect("it waits").unread -= 1;
            }
        }
    }

    fn accept(&mut self, deciders: &mut Deciders) {
        for _ in 0..self.settings.ports {
            let mut kinds: Vec<usize> = (0..self.kinds).collect();
            loop {
                let enter: Vec<(Place, usize)> = kinds.iter().filter_map(|&kind| self.enters(kind)).collect();
                let Some((entry, free)) = deciders.choose(Arbiter::Entry, &enter, |(entry, _)| entry) else {
                    break;
                };
                kinds.retain(|&kind| kind != entry.0);
                self.input.remove(&entry);
                let Waiting { id, place, banks } = self.waiting.remove(&entry).expect("it waits");
                banks.iter().for_each(|&bank| self.reads[bank].push_back(free));
                self.units[free] = Some(Taken { id, place, unread: banks.len() });
            }
        }
    }

    /// Returns the next instruction of a kind and the collector unit that it enters, if one is free.
    /// The instructions of a kind wait behind the oldest of them.
    fn enters(&self, kind: usize) -> Option<(Place, usize)> {
        let of_kind = self.waiting.iter().filter(|((other, _), _)| *other == kind);
        let (&entry, _) = of_kind.min_by_key(|(_, waiting)| waiting.id)?;
        let from = entry.1 * self.share();
        let free = (from..from + self.share()).find(|&unit| self.units[unit].is_none())?;
        Some((entry, free))
    }

    /// Adds the collector to the key of a state.
    pub(super) fn key(&self, sm: usize, key: &mut Key) {
        key.list(&self.units, |key, unit| match unit {
            None => key.put(0),
            Some(Taken { id, unread, .. }) => {
                key.put(*unread as u64 + 1);
                key.instr(sm, *id);
            }
        });
        for bank in &self.reads {
            key.list(bank, |key, &unit| key.put(unit as u64));
        }
        // the places follow from the instructions, but not their ages
        let mut waiting: Vec<usize> = self.waiting.values().map(|waiting| waiting.id).collect();
        waiting.sort_unstable();
        key.list(waiting, |key, id| key.instr(sm, id));
        let mut output: Vec<usize> = self.output.values().copied().collect();
        output.sort_unstable();
        key.list(output, |key, id| key.instr(sm, id));
    }
}
