//! Made-up kernels and machines, and small changes to them.
//!
//! A code is written as groups of equal instructions, so that one change makes a queue on a unit
//! longer or shorter. What a group reads is the result of the last instruction of earlier groups.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::instance::{Ins, Instance, Kind, Together, UnitTime};

/// How large things get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Warps of a block: codes, or copies of the one code.
    pub warps: usize,
    /// Blocks that are resident together; without it there is one block.
    pub together: Option<Together>,
    /// Whether all warps run the same code.
    pub identical: bool,
    /// Instructions of a warp.
    pub instructions: usize,
    /// Units.
    pub units: usize,
    /// Longest initiation, cycles.
    pub init: u16,
    /// Longest latency, cycles.
    pub lat: u16,
    /// Whether there are barriers.
    pub barriers: bool,
}

impl Size {
    /// Warps of all blocks.
    fn all_warps(&self) -> usize {
        self.warps * self.together.map_or(1, |together| together.blocks)
    }
}

/// Equal instructions in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Group {
    kind: Kind,
    count: usize,
    reads: [Option<usize>; 2],
}

/// An instance in the making.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Genome {
    units: Vec<UnitTime>,
    codes: Vec<Vec<Group>>,
    size: Size,
}

impl Genome {
    /// Anything of the size.
    pub fn random(size: Size, rng: &mut ChaCha8Rng) -> Self {
        let units = (0..rng.random_range(1..=size.units)).map(|_| random_unit(&size, rng)).collect();
        let codes = if size.identical { 1 } else { size.all_warps() };
        let mut genome = Self { units, codes: vec![Vec::new(); codes], size };
        for code in 0..codes {
            let wanted = rng.random_range(1..=size.instructions);
            while genome.length(code) < wanted {
                let room = wanted - genome.length(code);
                let group = genome.random_group(code, genome.codes[code].len(), room, rng);
                genome.codes[code].push(group);
            }
        }
        genome
    }

    /// The instance itself.
    pub fn instance(&self) -> Instance {
        let mut instance = Instance::default();
        self.write(&mut instance);
        instance
    }

    /// Writes the instance over another one.
    pub fn write(&self, instance: &mut Instance) {
        instance.units.clone_from(&self.units);
        instance.copies = if self.size.identical { self.size.all_warps() } else { 1 };
        instance.together = self.size.together;
        instance.codes.resize_with(self.codes.len(), Vec::new);
        let mut ends = Vec::new();
        for (code, groups) in instance.codes.iter_mut().zip(&self.codes) {
            code.clear();
            ends.clear();
            for group in groups {
                let reads = group.reads.map(|read| read.map(|read| ends[read]));
                code.extend(std::iter::repeat_n(Ins { kind: group.kind, reads }, group.count));
                ends.push((code.len() - 1) as u16);
            }
        }
    }

    /// Makes one to three small changes.
    pub fn mutate(&mut self, rng: &mut ChaCha8Rng) {
        let changes = [1, 1, 1, 2, 2, 3][rng.random_range(0..6)];
        for _ in 0..changes {
            self.change(rng);
        }
    }

    fn change(&mut self, rng: &mut ChaCha8Rng) {
        let code = rng.random_range(0..self.codes.len());
        let at = rng.random_range(0..self.codes[code].len());
        match rng.random_range(0..20) {
            0..=3 => self.change_unit(rng),
            4 => {
                let (from, to) = (self.any_unit(rng), self.any_unit(rng));
                self.units[to] = self.units[from];
            }
            5 if self.units.len() < self.size.units => {
                let unit = random_unit(&self.size, rng);
                self.units.push(unit);
            }
            5..=7 => {
                let room = self.size.instructions - self.length(code);
                if room > 0 {
                    let at = rng.random_range(0..=self.codes[code].len());
                    let group = self.random_group(code, at, room, rng);
                    self.insert(code, at, group);
                }
            }
            8..=9 => self.remove(code, at),
            10..=12 => self.change_count(code, at, rng),
            13..=14 => {
                let kind = self.random_kind(rng);
                self.set_kind(code, at, kind);
            }
            15..=16 => {
                let reads = self.random_reads(code, at, rng);
                self.codes[code][at].reads =
                    if self.codes[code][at].kind == Kind::Barrier { [None; 2] } else { reads };
            }
            17 if at + 1 < self.codes[code].len() => self.swap_with_next(code, at),
            18 => self.exchange_units(code, rng),
            19 if self.size.together.is_some() => {
                // a block becomes as another
                let warps = self.size.warps.min(self.codes.len());
                let blocks = self.codes.len() / warps;
                let (from, to) = (rng.random_range(0..blocks), rng.random_range(0..blocks));
                for warp in 0..warps {
                    self.codes[to * warps + warp] = self.codes[from * warps + warp].clone();
                }
            }
            _ => {
                let other = rng.random_range(0..self.codes.len());
                self.codes[code] = self.codes[other].clone();
                if rng.random_range(0..2) == 0 {
                    self.exchange_units(code, rng);
                }
            }
        }
    }

    fn length(&self, code: usize) -> usize {
        self.codes[code].iter().map(|group| group.count).sum()
    }

    fn any_unit(&self, rng: &mut ChaCha8Rng) -> usize {
        rng.random_range(0..self.units.len())
    }

    fn random_kind(&self, rng: &mut ChaCha8Rng) -> Kind {
        if self.size.barriers && rng.random_range(0..12) == 0 {
            Kind::Barrier
        } else {
            Kind::On(self.any_unit(rng) as u8)
        }
    }

    /// A group that can stand at a place; `room` instructions are left.
    fn random_group(&self, code: usize, at: usize, room: usize, rng: &mut ChaCha8Rng) -> Group {
        let kind = self.random_kind(rng);
        if kind == Kind::Barrier {
            return Group { kind, count: 1, reads: [None; 2] };
        }
        let count = if rng.random_range(0..3) == 0 { skewed(1, room, rng) } else { 1 };
        Group { kind, count, reads: self.random_reads(code, at, rng) }
    }

    fn random_reads(&self, code: usize, at: usize, rng: &mut ChaCha8Rng) -> [Option<usize>; 2] {
        let mut one = |chance: u32| {
            let kind = rng.random_range(0..8);
            if at == 0 || kind >= chance {
                return None;
            }
            let read = if kind % 2 == 0 { at - 1 } else { rng.random_range(0..at) };
            (self.codes[code][read].kind != Kind::Barrier).then_some(read)
        };
        let reads = [one(4), one(1)];
        if reads[0] == reads[1] { [reads[0], None] } else { reads }
    }

    fn change_unit(&mut self, rng: &mut ChaCha8Rng) {
        let unit = self.any_unit(rng);
        let Size { init, lat, .. } = self.size;
        let time = &mut self.units[unit];
        match rng.random_range(0..8) {
            0 => time.init = (time.init + 1).min(init),
            1 => time.init = time.init.saturating_sub(1).max(1),
            2 => time.init = (time.init * 2).min(init),
            3 => time.init = (time.init / 2).max(1),
            4 => time.init = skewed(1, usize::from(init), rng) as u16,
            5 => time.lat = (time.lat + 1).min(lat),
            6 => time.lat = time.lat.saturating_sub(1),
            _ => time.lat = skewed(0, usize::from(lat), rng) as u16,
        }
    }

    fn change_count(&mut self, code: usize, at: usize, rng: &mut ChaCha8Rng) {
        let room = self.size.instructions - self.length(code);
        let group = &mut self.codes[code][at];
        if group.kind == Kind::Barrier {
            return;
        }
        let most = group.count + room;
        group.count = match rng.random_range(0..5) {
            0 => group.count + 1,
            1 => group.count - 1,
            2 => group.count * 2,
            3 => group.count / 2,
            _ => skewed(1, most, rng),
        }
        .clamp(1, most);
    }

    fn set_kind(&mut self, code: usize, at: usize, kind: Kind) {
        let group = &mut self.codes[code][at];
        group.kind = kind;
        if kind == Kind::Barrier {
            group.count = 1;
            group.reads = [None; 2];
            for later in &mut self.codes[code][at + 1..] {
                later.reads = later.reads.map(|read| read.filter(|&read| read != at));
            }
        }
    }

    fn insert(&mut self, code: usize, at: usize, group: Group) {
        for later in &mut self.codes[code][at..] {
            later.reads = later.reads.map(|read| read.map(|read| if read >= at { read + 1 } else { read }));
        }
        self.codes[code].insert(at, group);
    }

    fn remove(&mut self, code: usize, at: usize) {
        if self.codes[code].len() == 1 {
            return;
        }
        self.codes[code].remove(at);
        for later in &mut self.codes[code][at..] {
            later.reads = later.reads.map(|read| match read {
                Some(read) if read == at => None,
                Some(read) if read > at => Some(read - 1),
                other => other,
            });
        }
    }

    fn swap_with_next(&mut self, code: usize, at: usize) {
        let groups = &mut self.codes[code];
        if groups[at + 1].reads.contains(&Some(at)) {
            return;
        }
        groups.swap(at, at + 1);
        for later in &mut groups[at + 2..] {
            later.reads = later.reads.map(|read| match read {
                Some(read) if read == at => Some(at + 1),
                Some(read) if read == at + 1 => Some(at),
                other => other,
            });
        }
    }

    /// Two units change places in one code.
    fn exchange_units(&mut self, code: usize, rng: &mut ChaCha8Rng) {
        let (a, b) = (self.any_unit(rng) as u8, self.any_unit(rng) as u8);
        for group in &mut self.codes[code] {
            if group.kind == Kind::On(a) {
                group.kind = Kind::On(b);
            } else if group.kind == Kind::On(b) {
                group.kind = Kind::On(a);
            }
        }
    }
}

fn random_unit(size: &Size, rng: &mut ChaCha8Rng) -> UnitTime {
    let init = skewed(1, usize::from(size.init), rng) as u16;
    let lat = if rng.random_range(0..2) == 0 { 0 } else { skewed(0, usize::from(size.lat), rng) as u16 };
    // where there is one sub-core, nothing more is drawn
    let shared = size.together.is_some_and(|together| together.sub_cores > 1) && rng.random_range(0..3) == 0;
    UnitTime { init, lat, shared }
}

/// From `least` to `most`, small numbers more often: the magnitude is drawn first.
fn skewed(least: usize, most: usize, rng: &mut ChaCha8Rng) -> usize {
    let span = most - least + 1;
    let bits = rng.random_range(0..=span.ilog2());
    least + rng.random_range(0..span.min(2 << bits))
}
