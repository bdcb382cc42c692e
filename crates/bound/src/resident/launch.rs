//! The combination of the blocks of a launch into [`Rbb`](crate::Rbb) or [`Plb`](crate::Plb).

mod parts;

use std::cmp::Reverse;

use super::block::BlockShare;
use crate::parts::{Beside, Services, add_each};
use crate::value::BoundValue;
use warpbound_core::base::BlockId;
use warpbound_core::machine::SubCores;
use warpbound_core::machine::pipeline::Launch;

/// The number of blocks of a launch that are on the SMs at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Residency {
    /// R: the number of blocks that an SM holds at a time, at least 1.
    pub places: u32,
    /// M: the number of SMs that share the blocks, at least 1.
    pub sms: usize,
    /// n: the number of blocks of the launch.
    pub blocks: u32,
    /// The number of warps of a block, and so of warp slots of a CTA slot.
    pub warps: usize,
    /// The number of sub-cores of an SM.
    pub sub_cores: usize,
    /// What launching costs.
    pub costs: Launch,
}

impl Residency {
    /// Returns the number of blocks that all SMs hold at the same time.
    fn room(&self) -> usize {
        self.places as usize * self.sms
    }

    /// Returns the largest number of blocks that an SM holds at the same time.
    pub(crate) fn together(&self) -> u64 {
        u64::from(self.places.min(self.blocks.div_ceil(self.sms as u32)))
    }

    /// Returns the largest number of blocks that all SMs hold at the same time.
    pub(crate) fn everywhere(&self) -> u64 {
        self.room().min(self.blocks as usize) as u64
    }

    /// Returns for how many cycles a free CTA slot of an SM may wait until it receives the last of
    /// this many blocks. In each such cycle this SM, or all SMs together, receive as many other
    /// blocks as they can.
    fn placing(&self, blocks: usize) -> u64 {
        let cycles = |blocks: usize, most: u32| {
            (blocks as u64).saturating_sub(1).checked_div(most.into()).unwrap_or(0)
        };
        let Launch { blocks_per_cycle, total_blocks_per_cycle, .. } = self.costs;
        cycles(blocks, blocks_per_cycle) + cycles(self.blocks as usize, total_blocks_per_cycle)
    }

    /// Returns how long a block takes in addition to its instructions. Its CTA slot receives it some
    /// cycles after the end of the block that had the slot before, if there may be one. Its warps begin
    /// some cycles after it is placed; if they have no instruction, it then ends in the following cycle.
    fn delay(&self, share: &BlockShare) -> u64 {
        let Launch { start, refill, .. } = self.costs;
        let refill = if self.all_at_once() { 0 } else { refill };
        let is_later = start > 0 && share.stages == 0;
        start.saturating_add(u64::from(is_later)).saturating_add(refill)
    }

    /// Returns whether all of this many blocks that an SM receives are placed in the same cycle, so
    /// that each goes to the next CTA slot. Otherwise a block may end before another is placed,
    /// which then goes to the same CTA slot.
    fn placed_in_order(&self, blocks: usize) -> bool {
        let within = |blocks: usize, most: u32| most == 0 || blocks <= most as usize;
        let Launch { blocks_per_cycle, total_blocks_per_cycle, .. } = self.costs;
        within(blocks, blocks_per_cycle) && within(self.blocks as usize, total_blocks_per_cycle)
    }

    /// Returns the number of SMs that receive a block.
    pub(crate) fn used_sms(&self) -> usize {
        self.sms.min(self.blocks as usize)
    }

    /// Returns whether every block is resident from the first cycle on.
    pub(crate) fn all_at_once(&self) -> bool {
        self.blocks as usize <= self.room()
    }

    /// Returns the largest number of blocks that an SM receives, if every block is resident from the first
    /// cycle on.
    pub(crate) fn blocks_of_an_sm(&self) -> Option<u64> {
        self.all_at_once().then(|| self.together())
    }
}

/// Collects the blocks of a launch. Its size depends on the number of blocks that are resident
/// together, not on the number of blocks of the launch.
#[derive(Clone, Debug)]
pub struct LaunchShares {
    residency: Residency,
    /// The number of units per cycle in which the shares are given.
    scale: u64,
    /// A number of cycles that each SM adds once.
    once: u64,
    /// The most service of fetches for ended blocks that may be left on an SM at any time, if it is
    /// limited.
    of_ended_blocks: Option<u64>,
    /// What the launch costs beside its blocks.
    beside: Beside,
    /// The share of each block, if all blocks are resident at once.
    blocks: Vec<BlockShare>,
    /// A number that no sum over all blocks exceeds; `None` if some sum may not fit.
    total: Option<u64>,
    /// Sums over all blocks.
    services: Services,
    work: u64,
    load: u64,
    peaks: i128,
    stages: u64,
    /// Maxima over all blocks.
    most_stages: u64,
    /// The largest A, and what of it is the delay of the block.
    alone: (u64, u64),
    /// The block with the largest R * D - H.
    last: Option<Last>,
    /// The R largest S.
    works: Largest,
    /// The R - 1 largest amounts that one change of sub-core adds.
    repeats: Largest,
    classes: u8,
    /// The sums of the loads by unit.
    load_of: Vec<u64>,
    /// The sum of the delays of all blocks.
    delays: u64,
    /// The numbers of accesses that may go to DRAM: their sum over all blocks, and the largest.
    visits: (u64, u64),
}

/// The block that decides the bound if an SM executes its blocks in turn.
#[derive(Clone, Debug)]
struct Last {
    /// R * D - H.
    value: i128,
    block: BlockId,
    peak: i128,
    delay: u64,
    share: BlockShare,
}

/// The block that decides the bound of an SM on which all blocks have a CTA slot.
#[derive(Clone, Copy, Debug, Default)]
struct Decided {
    /// The bound.
    bound: i128,
    /// What it counts for latencies.
    latency: i128,
    /// The CTA slot of the block.
    place: usize,
    /// How often the chain of the block changes its sub-core; `None` if the bound counts only the load
    /// of one sub-core, the one with the largest.
    changes: Option<u64>,
}

impl LaunchShares {
    /// Creates the collection for a launch of which no block is known yet.
    pub fn new(residency: Residency) -> Self {
        let places = residency.places.max(1) as usize;
        let kept = if residency.all_at_once() { residency.blocks as usize } else { 0 };
        Self {
            residency,
            scale: 1,
            once: 0,
            of_ended_blocks: Some(0),
            beside: Beside::default(),
            blocks: vec![BlockShare::default(); kept],
            total: Some(0),
            services: Services::default(),
            work: 0,
            load: 0,
            peaks: 0,
            stages: 0,
            most_stages: 0,
            alone: (0, 0),
            last: None,
            works: Largest::new(places),
            repeats: Largest::new(places - 1),
            classes: 0,
            load_of: Vec::new(),
            delays: 0,
            visits: (0, 0),
        }
    }

    /// Returns the same collection for shares in units of which there are `scale` per cycle, on SMs
    /// each of which adds `once` cycles.
    #[must_use]
    pub fn scaled(self, scale: u64, once: u64) -> Self {
        Self { scale: scale.max(1), once, ..self }
    }

    /// Returns the same collection for SMs on which fetches for ended blocks may be left.
    #[must_use]
    pub(crate) fn fetching_for_ended_blocks(self, of_ended_blocks: Option<u64>) -> Self {
        Self { of_ended_blocks, ..self }
    }

    /// Returns the service of fetches for blocks that have ended when the last block is placed. The
    /// means over the SMs do not contain all of it, and the work of the blocks after that has none.
    fn left_by_ended_blocks(&self) -> u64 {
        let are_ended = self.residency.sms > 1 && !self.residency.all_at_once();
        let all = self.services.fetch;
        if are_ended { self.of_ended_blocks.map_or(all, |most| most.min(all)) } else { 0 }
    }

    /// Adds what the launch costs beside its blocks.
    pub(crate) fn add_beside(&mut self, beside: Beside) {
        self.beside = beside;
    }

    /// Adds a block; the order of blocks does not matter.
    pub fn add(&mut self, block: BlockId, share: &BlockShare) {
        let delay = self.residency.delay(share).saturating_mul(self.scale);
        self.total = self.total.and_then(|total| total.checked_add(share.largest()?.checked_add(delay)?));
        // shares that were too large have the largest number
        if self.total.is_none_or(|total| total == u64::MAX) {
            self.total = None;
            return;
        }
        self.classes |= share.classes;
        self.services += share.services;
        let (all, most) = self.visits;
        self.visits = (all.saturating_add(share.visits), most.max(share.visits));
        let (surplus, peak) = (share.surplus + i128::from(delay), share.peak + i128::from(delay));
        let alone = share.alone.saturating_add(delay);
        if let Some(kept) = self.blocks.get_mut(block.index()) {
            *kept = BlockShare { surplus, peak, alone, ..share.clone() };
            return;
        }
        let places = i128::from(self.residency.places);
        self.work += share.work;
        self.load += share.load;
        self.peaks += peak;
        self.stages += share.stages;
        self.most_stages = self.most_stages.max(share.stages);
        self.alone = self.alone.max((alone, delay));
        add_each(&mut self.load_of, &share.by_unit.load);
        self.delays += delay;
        let value = places * surplus - peak;
        // of several such blocks the first one is named, in whatever order they are added
        if self.last.as_ref().is_none_or(|last| (value, Reverse(block)) > (last.value, Reverse(last.block))) {
            self.last = Some(Last { value, block, peak, delay, share: share.clone() });
        }
        self.works.offer(share.work);
        self.repeats.offer(share.largest_repeat());
    }

    /// Returns the largest number of accesses that a chain follows to DRAM one after the other. If blocks
    /// wait for CTA slots, it is the mean over the CTA slots up to the last placement, and then that of one
    /// block.
    pub(crate) fn visits(&self) -> u64 {
        let (all, most) = self.visits;
        if self.residency.all_at_once() {
            most
        } else {
            all.div_ceil(self.residency.room() as u64).saturating_add(most)
        }
    }

    /// Returns the bound of the launch, from its start to its end.
    pub fn value(&self) -> BoundValue {
        let beside = self.beside.total();
        if self.total.is_none() || beside == u64::MAX {
            return BoundValue::TOO_LARGE;
        }
        let scaled = if self.residency.all_at_once() {
            self.last_sm().1.bound
        } else if self.residency.sms == 1 {
            self.in_turn()
        } else {
            self.in_turn_on_several()
        };
        let scaled = scaled + i128::from(beside) + i128::from(self.left_by_ended_blocks());
        let Launch { first, end, .. } = self.residency.costs;
        let costs: i128 = [first, end, self.once()].map(i128::from).iter().sum();
        BoundValue::of(scaled.div_euclid(i128::from(self.scale)) + costs)
    }

    /// Returns the cycles that each SM adds once, as often as the bound contains them.
    fn once(&self) -> u64 {
        // the time until the last block is placed is a mean over the SMs, and the time from then on
        // is that of one SM; both may contain these cycles
        let in_two_parts = self.residency.sms > 1 && !self.residency.all_at_once();
        if in_two_parts { 2 * self.once } else { self.once }
    }

    /// Returns the SM with the largest bound, if there is a CTA slot for each block: its number, and the
    /// block that decides its bound.
    fn last_sm(&self) -> (usize, Decided) {
        let of_sm = |sm: usize| (sm, self.of_sm(sm));
        (0..self.residency.used_sms()).map(of_sm).max_by_key(|(_, decided)| decided.bound).unwrap_or_default()
    }

    /// Returns whether a chain stays on one sub-core as long as it stays in one CTA slot.
    fn keeps_sub_core(&self) -> bool {
        self.classes.count_ones() <= 1
    }

    /// Returns the blocks of an SM, by CTA slot, if there is a CTA slot for each block. Block i goes to
    /// SM i mod M, and if all blocks are placed in the same cycle, to CTA slot i div M.
    fn blocks_of(&self, sm: usize) -> Vec<&BlockShare> {
        self.blocks.iter().skip(sm).step_by(self.residency.sms).collect()
    }

    /// Returns the sub-core of the warps of a CTA slot that have this id modulo the number of
    /// sub-cores.
    fn sub_core(&self, place: usize, class: usize) -> usize {
        (place * self.residency.warps + class) % self.residency.sub_cores
    }

    /// Returns the load of each sub-core if these blocks are in one CTA slot each.
    fn on_core(&self, blocks: &[&BlockShare]) -> [u64; SubCores::MAX] {
        let mut on_core = [0; SubCores::MAX];
        for (place, block) in blocks.iter().enumerate() {
            for class in 0..self.residency.sub_cores {
                on_core[self.sub_core(place, class)] += block.of_class[class];
            }
        }
        on_core
    }

    /// Returns the bound of one SM if there is a CTA slot for each block.
    fn of_sm(&self, sm: usize) -> Decided {
        let residency = &self.residency;
        let blocks = self.blocks_of(sm);
        let load: u64 = blocks.iter().map(|block| block.load).sum();
        let on_one = self.on_core(&blocks).into_iter().max().unwrap_or(0);
        let of_block = |(place, block): (usize, &&BlockShare)| {
            let stays = block.stages <= 1 || self.keeps_sub_core();
            let (counted, changes) = if stays && residency.placed_in_order(blocks.len()) {
                (i128::from(on_one), None)
            } else {
                let changes = if stays { 0 } else { block.stages - 1 };
                let others = blocks.iter().enumerate().filter(|(other, _)| *other != place);
                let repeated: i128 = others.map(|(_, other)| i128::from(other.repeated(changes))).sum();
                (i128::from(load) + repeated, Some(changes))
            };
            let (bound, latency) = (counted + block.surplus, block.surplus);
            Decided { bound, latency, place, changes }
        };
        let all = blocks.iter().enumerate().map(of_block);
        let first = |decided: &Decided| (decided.bound, decided.latency, Reverse(decided.place));
        let decided = all.max_by_key(first).unwrap_or_default();
        let placing = self.placing(blocks.len());
        Decided { bound: decided.bound + placing, ..decided }
    }

    /// Returns R times the work that changes of sub-core add, if a chain has this many of them
    /// (given times R).
    fn repeated(&self, changes_times_places: i128) -> i128 {
        let at_most = i128::from(self.residency.places) * i128::from(self.work - self.load);
        at_most.min(self.repeats.sum() * changes_times_places.max(0))
    }

    /// Returns how long it takes to place this many blocks of an SM, in units of service.
    fn placing(&self, blocks: usize) -> i128 {
        i128::from(self.residency.placing(blocks)) * i128::from(self.scale)
    }

    /// Returns how often a chain changes its sub-core while the SMs execute their blocks in turn, times
    /// R.
    fn changes(&self) -> i128 {
        let places = i128::from(self.residency.places);
        let (stages, most) = (i128::from(self.stages), i128::from(self.most_stages));
        match (self.keeps_sub_core(), self.residency.sms) {
            (true, 1) => places,
            (true, _) => 0,
            (false, 1) => stages - most + places * (most - 1),
            (false, _) => stages,
        }
    }

    /// Returns the bound for one SM and more blocks than CTA slots.
    fn in_turn(&self) -> i128 {
        let places = i128::from(self.residency.places);
        let placing = self.placing(self.residency.blocks as usize);
        let Some(last) = &self.last else { return 0 };
        (places * i128::from(self.load) + self.repeated(self.changes()) + self.peaks + last.value)
            .div_euclid(places)
            + placing
    }

    /// Returns the bound for several SMs and more blocks than CTA slots.
    fn in_turn_on_several(&self) -> i128 {
        let places = i128::from(self.residency.places);
        let sum = places * i128::from(self.load) + self.repeated(self.changes()) + self.peaks;
        let placing = self.placing(self.residency.blocks as usize);
        sum.div_euclid(self.residency.room() as i128) + self.works.sum() + i128::from(self.alone.0) + placing
    }
}

/// Keeps the largest few of many numbers.
#[derive(Clone, Debug)]
struct Largest {
    most: usize,
    /// The numbers in descending order.
    kept: Vec<u64>,
}

impl Largest {
    fn new(most: usize) -> Self {
        Self { most, kept: Vec::with_capacity(most + 1) }
    }

    fn offer(&mut self, value: u64) {
        let place = self.kept.partition_point(|&kept| kept >= value);
        if place < self.most {
            self.kept.insert(place, value);
            self.kept.truncate(self.most);
        }
    }

    fn sum(&self) -> i128 {
        self.kept.iter().map(|&kept| i128::from(kept)).sum()
    }
}
