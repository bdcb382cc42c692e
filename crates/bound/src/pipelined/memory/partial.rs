//! Fetches of the L2 where an L1 may ask for a part of what a load needs.

use super::path::Path;
use warpbound_core::path::LineUse;

/// What the L2 fetches of a line at most, as long as its lines stay: each set of parts of the line that an
/// L1 may ask for, once.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PartialFetches {
    /// The sets of sectors that the L2 may have to fetch, one bit each.
    sets: u16,
    /// The number of fetches so far: no more than the loads, and no more than these sets.
    fetches: u16,
    /// All sectors of these sets.
    sectors: u8,
}

/// What such fetches cost.
#[derive(Clone, Debug)]
pub(super) struct PartialCosts {
    /// For each mask of sectors that a load needs, the sets that the L2 may have to fetch for parts of it.
    sets: [u16; 16],
    /// For each mask, the services of the fetches of its subsets in descending order, each added to those
    /// before.
    largest: Vec<Vec<u64>>,
}

impl PartialCosts {
    /// Creates the costs of a path.
    pub fn new(path: &Path) -> Self {
        let fetched = |mask: u8| path.fetched_sectors(mask);
        let sets_of = |needed: u8| {
            let parts = (1..=needed).filter(|part| part & !needed == 0);
            parts.fold(0_u16, |sets, part| sets | 1 << fetched(part))
        };
        let sums_of = |sectors: u8| {
            let sets = (1..16).filter(|set| sets_of(sectors) >> set & 1 != 0);
            let bytes = |set: u8| u64::from(set.count_ones()) * LineUse::SECTOR_BYTES;
            let mut services: Vec<u64> = sets.map(|set| path.read_stays(bytes(set))).collect();
            services.sort_unstable_by(|a, b| b.cmp(a));
            let sum = |sum: &mut u64, service: u64| {
                *sum = sum.saturating_add(service);
                Some(*sum)
            };
            services.into_iter().scan(0, sum).collect()
        };
        Self {
            sets: std::array::from_fn(|needed| sets_of(needed as u8)),
            largest: (0..16).map(sums_of).collect(),
        }
    }

    /// Returns the number of fetches that the L2 makes of a line at most, as long as its lines stay, and
    /// their service: each set of sectors that a load may need, once.
    pub fn of_whole_line(&self) -> (u64, u64) {
        let sums = &self.largest[0b1111];
        (sums.len() as u64, sums.last().copied().unwrap_or(0))
    }

    /// Returns the service of this many fetches of sets of these sectors.
    fn of(&self, fetches: PartialFetches) -> u64 {
        let sums = &self.largest[usize::from(fetches.sectors)];
        match (fetches.fetches as usize).min(sums.len()) {
            0 => 0,
            count => sums[count - 1],
        }
    }
}

impl PartialFetches {
    /// Records a load that needs these sectors. Returns whether it makes another fetch, and the service that
    /// is added.
    pub fn load(&mut self, sectors: u8, costs: &PartialCosts) -> (bool, u64) {
        let before = *self;
        self.sets |= costs.sets[usize::from(sectors)];
        self.sectors |= sectors;
        let is_another = u32::from(self.fetches) < self.sets.count_ones();
        self.fetches += u16::from(is_another);
        (is_another, costs.of(*self).saturating_sub(costs.of(before)))
    }
}
