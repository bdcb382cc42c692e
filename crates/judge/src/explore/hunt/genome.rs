//! Random kernels and machines, and small changes to them.
//!
//! A code is a list of groups of equal instructions, so that a single change makes a queue on a
//! unit longer or shorter. A group reads the results of the last instructions of earlier groups.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::instance::{Ins, Instance, Kind, Together, UnitTime};

/// The limits on the size of an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// The number of warps of a block; each has a code of its own, or all are copies of one code.
    pub warps: usize,
    /// The blocks that are resident together; `None` for a single block.
    pub together: Option<Together>,
    /// Whether all warps run the same code.
    pub identical: bool,
    /// The largest number of instructions of a warp.
    pub instructions: usize,
    /// The largest number of units.
    pub units: usize,
    /// The longest initiation interval in cycles.
    pub init: u16,
    /// The longest latency in cycles.
    pub lat: u16,
    /// Whether instances may have barriers.
    pub barriers: bool,
}

impl Size {
    /// Returns the number of warps of all blocks.
    fn all_warps(&self) -> usize {
        self.warps * self.together.map_or(1, |together| together.blocks)
    }
}

/// Consecutive equal instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Group {
    kind: Kind,
    count: usize,
    reads: [Option<usize>; 2],
}

/// The editable form of an instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Genome {
    units: Vec<UnitTime>,
    codes: Vec<Vec<Group>>,
    size: Size,
}

impl Genome {
    /// Draws a random genome within these limits.
    pub fn random(size: Size, rng: &mut ChaCha8Rng) -> Self {
        let units = (0..rng.random_range(1..=size.units)).map(|_| random_unit(&size, rng)).collect();
        let codes = if size.identical { 1 } else { size.all_warps() };
        let mut genome = Self { units, codes: vec![Vec::new(); codes], size };
        for code in 0..codes {
            let wanted = rng.random_range(1..=size.instructions);
            while genome.length(code) < wanted {
                let remaining = wanted - genome.length(code);
                let group = genome.random_group(code, genome.codes[code].len(), remaining, rng);
                genome.codes[code].push(group);
            }
        }
        genome
    }

    /// Returns the instance.
    pub fn instance(&self) -> Instance {
        let mut instance = Instance::default();
        self.write(&mut instance);
        instance
    }

    /// Writes the instance into an existing one.
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
                let remaining = self.size.instructions - self.length(code);
                if remaining > 0 {
                    let at = rng.random_range(0..=self.codes[code].len());
                    let group = self.random_group(code, at, remaining, rng);
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
                // one block becomes a copy of another
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

    /// Draws a group that is valid at this position, with at most `remaining` instructions.
    fn random_group(&self, code: usize, at: usize, remaining: usize, rng: &mut ChaCha8Rng) -> Group {
        let kind = self.random_kind(rng);
        if kind == Kind::Barrier {
            return Group { kind, count: 1, reads: [None; 2] };
        }
        let count = if rng.random_range(0..3) == 0 { skewed(1, remaining, rng) } else { 1 };
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
        let remaining = self.size.instructions - self.length(code);
        let group = &mut self.codes[code][at];
        if group.kind == Kind::Barrier {
            return;
        }
        let most = group.count + remaining;
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

    /// Swaps two units in one code.
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
    // with one sub-core, no further random number is drawn
    let shared = size.together.is_some_and(|together| together.sub_cores > 1) && rng.random_range(0..3) == 0;
    UnitTime { init, lat, shared }
}

/// Draws a number from `least` to `most`. Small numbers are more likely, because the magnitude is
/// drawn first.
fn skewed(least: usize, most: usize, rng: &mut ChaCha8Rng) -> usize {
    let span = most - least + 1;
    let bits = rng.random_range(0..=span.ilog2());
    least + rng.random_range(0..span.min(2 << bits))
}
