//! The operand collector, step by step: banks with queues, from each of which one operand is read
//! per step.

use std::collections::{BTreeMap, VecDeque};

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
struct Waiting {
    id: usize,
    place: Place,
    banks: Vec<usize>,
}

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
    pub fn cycle(&mut self, written: &[usize]) {
        for step in 0..self.settings.steps {
            self.hand_over();
            self.read(if step == 0 { written } else { &[] });
            self.accept();
        }
    }

    fn hand_over(&mut self) {
        let count = self.units.len();
        for port in 0..self.search_from.len() {
            let goes = |unit: &usize| {
                let ready = |taken: &Taken| taken.unread == 0 && !self.output.contains_key(&taken.place);
                self.units[*unit].as_ref().is_some_and(ready)
            };
            let from = self.search_from[port];
            let Some(unit) = (from..from + count).map(|unit| unit % count).find(goes) else { continue };
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

    fn accept(&mut self) {
        // the instructions of a kind wait behind the oldest of them
        let mut stuck = Vec::new();
        for _ in 0..self.settings.ports {
            for kind in 0..self.kinds {
                let of_kind = self.waiting.iter().filter(|((other, _), _)| *other == kind);
                let oldest = of_kind.min_by_key(|(_, waiting)| waiting.id).map(|(&entry, _)| entry);
                let Some(entry) = oldest.filter(|_| !stuck.contains(&kind)) else { continue };
                let from = entry.1 * self.share();
                let Some(free) = (from..from + self.share()).find(|&unit| self.units[unit].is_none()) else {
                    stuck.push(kind);
                    continue;
                };
                self.input.remove(&entry);
                let Waiting { id, place, banks } = self.waiting.remove(&entry).expect("it waits");
                banks.iter().for_each(|&bank| self.reads[bank].push_back(free));
                self.units[free] = Some(Taken { id, place, unread: banks.len() });
            }
        }
    }
}
