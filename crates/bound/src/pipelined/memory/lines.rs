//! The lines of a cache that a launch touches.

use super::outstanding::LoadId;
use super::partial::PartialFetches;
use super::untracked::Limit;
use crate::kept::ByNumber;

/// The sets of a cache, or of the slices of a cache.
#[derive(Clone, Debug)]
pub(super) struct Sets {
    ways: usize,
    /// The positions of sets in `sets`.
    places: ByNumber<usize>,
    sets: Vec<SetUse>,
    /// Whether no set has more lines than ways, so that no line is ever replaced.
    keeps_all: bool,
    /// The largest number of lines of a set that a block touches.
    most_of_block: usize,
}

#[derive(Clone, Debug, Default)]
struct SetUse {
    set: u64,
    /// The lines, as long as there are no more than ways.
    lines: Vec<u64>,
    /// The requests that may have fetched a line.
    fetches: u64,
    /// The lines that the present block has touched first among its accesses, and the most of a block.
    of_block: (BlockNumber, usize),
}

/// The number of a block in the order of analysis, from 1 on.
pub(super) type BlockNumber = u32;

impl Sets {
    pub fn new(ways: u32) -> Self {
        Self {
            ways: ways as usize,
            places: ByNumber::default(),
            sets: Vec::new(),
            keeps_all: true,
            most_of_block: 0,
        }
    }

    /// Records that a line is touched, and returns the position of its set.
    pub fn touch(&mut self, set: u64, line: u64) -> usize {
        let next = self.sets.len();
        let place = *self.places.entry(set).or_insert(next);
        if place == next {
            self.sets.push(SetUse { set, ..SetUse::default() });
        }
        let used = &mut self.sets[place];
        if used.lines.len() <= self.ways && !used.lines.contains(&line) {
            used.lines.push(line);
            self.keeps_all &= used.lines.len() <= self.ways;
        }
        place
    }

    /// Records that a block touches another line of the set at this position.
    pub fn touch_in_block(&mut self, place: usize, block: BlockNumber) {
        if let Some(used) = self.sets.get_mut(place) {
            let before = if used.of_block.0 == block { used.of_block.1 } else { 0 };
            used.of_block = (block, before + 1);
            self.most_of_block = self.most_of_block.max(before + 1);
        }
    }

    /// Returns whether no line is ever replaced in a cache that serves this many blocks only.
    pub fn keeps_all_of(&self, blocks: u64) -> bool {
        self.keeps_all || blocks.saturating_mul(self.most_of_block as u64) <= self.ways as u64
    }

    /// Records that this many requests may fetch lines of the set at this position.
    pub fn fetch(&mut self, place: usize, requests: u64) {
        if let Some(used) = self.sets.get_mut(place) {
            used.fetches += requests;
        }
    }

    /// Returns whether no line is ever replaced.
    pub fn keeps_all(&self) -> bool {
        self.keeps_all
    }

    /// Returns how many times, one after the other, a request can be refused because all ways of its
    /// set wait for data, given the limit of the ways, if at most this many loads wait for a set at the
    /// same time.
    pub fn times_full(&self, limit: Limit, outstanding: impl Fn(u64) -> u64) -> u64 {
        let full = |set: &SetUse| {
            let may_be = set.lines.len() > self.ways;
            if may_be { limit.times_if(outstanding(set.set), set.fetches) } else { 0 }
        };
        self.sets.iter().map(full).sum()
    }
}

/// What a launch does with the sectors of a line of 128 bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LineState {
    /// The sectors that can be read from the L2 when the launch starts, as a mask.
    pub readable: u8,
    /// The sectors that loads and atomics of the launch need.
    pub loaded: u8,
    /// The sectors that can be read from the L2 after these loads. Others that belong to the same part
    /// of the line may not have been fetched, if a store had made these readable.
    pub brought: u8,
    /// The sets of sectors that they need together, one bit each, and the fetches of the L2 if its
    /// lines stay.
    pub sets_of_l2: u16,
    pub fetches: u32,
    /// Those of requests that may ask for a part of what a load needs.
    pub partial: PartialFetches,
    /// The sets of sectors that an L1 looks up.
    pub sets_of_l1: u16,
    /// The latest block that has touched the line in its L1, and the sets of sectors that it has looked up.
    pub in_block: (BlockNumber, u16),
    /// The slice and the position of the set of the L2 in which all of the line lies, if it has been
    /// looked up there and is a line of the L2.
    pub place: Option<(usize, usize)>,
    /// The sectors that stores of the launch write.
    pub stored: u8,
    /// The loads by their first sector, and the atomics and loads that bypass the L1.
    pub loads: [u32; 4],
    pub bypassing: [u32; 4],
    /// For each sector, the latest load that brings it into the L1, and the latest that brings it into
    /// the L2.
    pub in_l1: [LoadId; 4],
    pub in_l2: [LoadId; 4],
}

/// Whether a load is the first one that looks up its set of sectors of a line in an L1.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct First {
    pub ever: bool,
    /// Whether it is the first one of its block.
    pub in_block: bool,
}

impl LineState {
    /// Records that a block touches the line in its L1, and returns whether it has not done so before.
    pub fn enter_block(&mut self, block: BlockNumber) -> bool {
        let is_new = self.in_block.0 != block;
        if is_new {
            self.in_block = (block, 0);
        }
        is_new
    }

    /// Records that a load of the latest block looks up these sectors in its L1.
    pub fn look_up_in_l1(&mut self, sectors: u8) -> First {
        let adds = |sets: &mut u16| {
            let is_new = *sets >> sectors & 1 == 0;
            *sets |= 1 << sectors;
            is_new
        };
        First { ever: adds(&mut self.sets_of_l1), in_block: adds(&mut self.in_block.1) }
    }

    /// Returns whether atomics or loads access the line that bypass the L1.
    pub fn is_bypassed(&self) -> bool {
        self.bypassing != [0; 4]
    }

    /// Returns how many times, one after the other, a request can be refused because a fetch of the line
    /// serves as many others as a cache allows. `by_sector` states whether each sector is fetched by
    /// itself. No more than `most` loads of each sector reach the cache, and only as many wait at the
    /// same time as `waiting` says. The cache receives those that bypass the L1 only `with_bypassing`.
    pub fn times_merged(
        &self,
        merge: Limit,
        by_sector: bool,
        (most, waiting): (u64, impl Fn(u8) -> u64),
        with_bypassing: bool,
    ) -> u64 {
        let requests = || {
            let all = self.loads.iter().zip(&self.bypassing);
            all.map(|(&loads, &bypassing)| {
                u64::from(loads).min(most) + if with_bypassing { bypassing.into() } else { 0 }
            })
        };
        let may_be = |sectors| with_bypassing || merge.may_refuse(waiting(sectors));
        if by_sector {
            let of_sectors = requests().enumerate().filter(|(sector, _)| may_be(1 << sector));
            of_sectors.map(|(_, requests)| merge.times(requests)).sum()
        } else if may_be(0b1111) {
            merge.times(requests().sum())
        } else {
            0
        }
    }
}

/// The lines of a launch. So that its size does not grow with the grid, it stops at a limit.
#[derive(Clone, Debug, Default)]
pub(super) struct Lines {
    /// The positions of lines in `states`.
    places: ByNumber<usize>,
    states: Vec<(u64, LineState)>,
    /// The position of the line that was used last, which is often the next one, too.
    last: usize,
    overflows: bool,
}

impl Lines {
    const MOST: usize = 1 << 18;

    /// Returns the state of a line, unless there are too many lines.
    pub fn at(&mut self, line: u64) -> Option<&mut LineState> {
        if self.states.get(self.last).is_none_or(|(last, _)| *last != line) && !self.overflows {
            let next = self.states.len();
            self.last = *self.places.entry(line).or_insert(next);
            self.overflows = self.last >= Self::MOST;
            if self.last == next && !self.overflows {
                self.states.push((line, LineState::default()));
            }
        }
        if self.overflows { None } else { self.states.get_mut(self.last).map(|(_, state)| state) }
    }

    /// Returns the state of a line that has been used.
    pub fn get(&self, line: u64) -> Option<&LineState> {
        self.states.get(*self.places.get(&line)?).map(|(_, state)| state)
    }

    /// Returns all lines, unless there are too many.
    pub fn all(&self) -> Option<impl Iterator<Item = (&u64, &LineState)>> {
        (!self.overflows).then(|| self.states.iter().map(|(line, state)| (line, state)))
    }
}
