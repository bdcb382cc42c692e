//! The parts of [`Rbb`](crate::Rbb) and of [`Plb`](crate::Plb).

use std::collections::BTreeMap;

use super::{Decided, Last, LaunchShares};
use crate::parts::{BoundPart, Part, Services};
use crate::resident::{BlockShare, Residency};
use crate::value::BoundValue;
use warpbound_core::base::{Cycles, UnitId};
use warpbound_core::machine::pipeline::Launch;

impl LaunchShares {
    /// Returns the parts of the bound, which add up to it, if the blocks have services. The units of
    /// other sub-cores count only where a path may change its sub-core.
    pub fn parts(&self) -> Vec<BoundPart> {
        let Launch { first, end, .. } = self.residency.costs;
        let Residency { sms, blocks, .. } = self.residency;
        let all_at_once = self.residency.all_at_once();
        let (services, shared_by, placed) = if all_at_once {
            let blocks = self.blocks_of(self.last_sm().0);
            let services = blocks.iter().fold(Services::default(), |sum, block| sum + block.services);
            (services, 1, blocks.len())
        } else {
            (self.services, sms as u64, blocks as usize)
        };
        if services == Services::default() || self.value() == BoundValue::TOO_LARGE {
            return Vec::new();
        }
        let scale = self.scale * shared_by;
        let mut parts: Vec<(Part, u64)> =
            services.parts().map(|(part, service)| (part, service / scale)).to_vec();
        for (_, cycles) in parts.iter_mut().filter(|(part, _)| *part == Part::Fetch) {
            *cycles += self.left_by_ended_blocks() / self.scale;
        }
        parts.extend(self.beside.parts().iter().map(|&(part, service)| (part, service / self.scale)));
        parts.push((Part::InstructionCache, self.once()));
        parts.push((Part::Launch, first + end + self.residency.placing(placed)));
        if shared_by > 1 {
            parts.push((Part::LastBlocks, self.works() / self.scale));
        }
        let (work, load) = self
            .blocks
            .iter()
            .fold((self.work, self.load), |(work, load), block| (work + block.work, load + block.load));
        let rest = if work == load {
            Part::Latency
        } else {
            parts.retain(|&(part, _)| part != Part::Units);
            let latency = self.latency().div_euclid(i128::from(self.scale));
            parts.push((Part::Latency, u64::try_from(latency).unwrap_or(0)));
            Part::Units
        };
        let sum = parts.iter().map(|(_, cycles)| cycles).sum();
        let Some(cycles) = self.value().cycles().get().checked_sub(sum) else { return Vec::new() };
        parts.push((rest, cycles));
        let all = parts.into_iter().filter(|&(_, cycles)| cycles > 0);
        all.map(|(part, cycles)| BoundPart { part, unit: None, cycles: Cycles::new(cycles) }).collect()
    }

    /// Returns what the bound counts for latencies.
    fn latency(&self) -> i128 {
        let places = i128::from(self.residency.places);
        if self.residency.all_at_once() {
            self.last_sm().1.latency
        } else if self.residency.sms == 1 {
            (self.peaks + self.last.as_ref().map_or(0, |last| last.value)).div_euclid(places)
        } else {
            self.peaks.div_euclid(self.residency.room() as i128) + i128::from(self.alone.0)
        }
    }

    /// Returns the parts of the bound, which add up to it, if the shares are those of
    /// [`Rbb`](crate::Rbb).
    pub fn resident_parts(&self) -> Vec<BoundPart> {
        let mut sums = Sums::default();
        if self.value() == BoundValue::TOO_LARGE {
            return sums.list();
        }
        let Launch { first, end, .. } = self.residency.costs;
        sums.add(Part::Launch, first + end);
        if self.residency.all_at_once() {
            let (sm, decided) = self.last_sm();
            self.at_once(&mut sums, &self.blocks_of(sm), decided);
        } else {
            sums.add(Part::Launch, self.residency.placing(self.residency.blocks as usize));
            match &self.last {
                Some(last) if self.residency.sms == 1 => self.last_of_one(&mut sums, last),
                Some(_) => self.last_of_several(&mut sums),
                None => {}
            }
        }
        sums.list()
    }

    /// Returns W, which is at most the work of all blocks.
    fn works(&self) -> u64 {
        u64::try_from(self.works.sum()).unwrap_or(u64::MAX)
    }

    /// Adds the parts of the bound of an SM that has a CTA slot for each of its blocks.
    fn at_once(&self, sums: &mut Sums, blocks: &[&BlockShare], decided: Decided) {
        sums.add(Part::Launch, self.residency.placing(blocks.len()));
        let Decided { place, changes, .. } = decided;
        let Some(block) = blocks.get(place) else { return };
        sums.add(Part::Launch, self.residency.delay(block));
        sums.add(Part::Alone, block.by_unit.alone);
        sums.add_units(&block.by_unit.beside);
        let others = blocks.iter().enumerate().filter(|&(other, _)| other != place);
        if let Some(changes) = changes {
            sums.add(Part::SubCores, block.of_other_sub_cores());
            for (_, other) in others {
                sums.add_units(&other.by_unit.load);
                sums.add(Part::SubCores, other.repeated(changes));
            }
        } else {
            let core = self.sub_core(place, block.by_unit.class);
            for (other, share) in others {
                let mut classes = 0..self.residency.sub_cores;
                let there = classes.find(|&class| self.sub_core(other, class) == core);
                sums.add_units(share.of_class_by_unit(there.unwrap_or(0)));
            }
            let on_core = self.on_core(blocks);
            sums.add(Part::SubCores, on_core.into_iter().max().unwrap_or(0) - on_core[core]);
        }
    }

    /// Adds the parts of the bound of one SM that executes its blocks in turn, of which this one ends
    /// last.
    fn last_of_one(&self, sums: &mut Sums, last: &Last) {
        let places = i128::from(self.residency.places);
        let share = &last.share;
        sums.add(Part::Launch, last.delay);
        sums.add(Part::Alone, share.by_unit.alone);
        sums.add(Part::SubCores, share.of_other_sub_cores());
        sums.add_units(&share.by_unit.beside);
        for (unit, &load) in self.load_of.iter().enumerate() {
            sums.add_unit(unit, load - share.by_unit.load.get(unit).copied().unwrap_or(0));
        }
        let delays = i128::from(self.delays - last.delay);
        let waits = self.peaks - last.peak - delays;
        let of_place = [
            (Part::SubCores, None, self.repeated(self.changes())),
            (Part::Launch, None, delays),
            (Part::Latency, None, waits),
        ];
        sums.divide(of_place, places);
    }

    /// Adds the parts of the bound of several SMs that execute their blocks in turn.
    fn last_of_several(&self, sums: &mut Sums) {
        let places = i128::from(self.residency.places);
        let (alone, delay) = self.alone;
        sums.add(Part::Launch, delay);
        sums.add(Part::Alone, alone - delay);
        sums.add(Part::LastBlocks, self.works());
        let units = self.load_of.iter().enumerate();
        let units = units
            .map(|(unit, &load)| (Part::Units, Some(UnitId::from_index(unit)), places * i128::from(load)));
        let delays = i128::from(self.delays);
        let others = [
            (Part::SubCores, None, self.repeated(self.changes())),
            (Part::Launch, None, delays),
            (Part::Latency, None, self.peaks - delays),
        ];
        sums.divide(units.chain(others), self.residency.room() as i128);
    }
}

/// Cycles by part and unit.
#[derive(Debug, Default)]
struct Sums(BTreeMap<(Part, Option<UnitId>), u64>);

impl Sums {
    fn add(&mut self, part: Part, cycles: u64) {
        *self.0.entry((part, None)).or_default() += cycles;
    }

    fn add_unit(&mut self, unit: usize, cycles: u64) {
        *self.0.entry((Part::Units, Some(UnitId::from_index(unit)))).or_default() += cycles;
    }

    /// Adds cycles on each unit.
    fn add_units(&mut self, cycles: &[u64]) {
        cycles.iter().enumerate().for_each(|(unit, &cycles)| self.add_unit(unit, cycles));
    }

    /// Adds a quotient of each of these numbers and `by`. Each quotient is rounded so that together
    /// they add up to the quotient of the sum, rounded down.
    fn divide(&mut self, all: impl IntoIterator<Item = (Part, Option<UnitId>, i128)>, by: i128) {
        let (mut sum, mut divided) = (0, 0);
        for (part, unit, number) in all {
            sum += number;
            let quotient = sum.div_euclid(by);
            let cycles = u64::try_from(quotient - divided).unwrap_or(0);
            *self.0.entry((part, unit)).or_default() += cycles;
            divided = quotient;
        }
    }

    fn list(self) -> Vec<BoundPart> {
        let parts = self.0.into_iter().filter(|&(_, cycles)| cycles > 0);
        parts.map(|((part, unit), cycles)| BoundPart { part, unit, cycles: Cycles::new(cycles) }).collect()
    }
}
