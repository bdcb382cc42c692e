//! The combination of the blocks of a launch into [`Rbb`](crate::Rbb) or [`Plb`](crate::Plb).

use super::block::BlockShare;
use crate::parts::{Beside, BoundPart, Part, Services};
use crate::value::BoundValue;
use warpbound_core::base::{BlockId, Cycles};
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

    /// Returns for how many cycles a free CTA slot of an SM may wait until it receives the last of
    /// this many blocks. In each such cycle the SM receives as many other blocks as it can.
    fn placing(&self, blocks: usize) -> u64 {
        (blocks as u64).saturating_sub(1).checked_div(self.costs.blocks_per_cycle.into()).unwrap_or(0)
    }

    /// Returns how long a block takes in addition to its instructions. Its warps begin some cycles
    /// after it is placed; if they have no instruction, it then ends in the following cycle.
    fn delay(&self, share: &BlockShare) -> u64 {
        let start = self.costs.start;
        if start > 0 && share.stages == 0 { start.saturating_add(1) } else { start }
    }

    /// Returns whether all of this many blocks that an SM receives are placed in the same cycle, so
    /// that each goes to the next CTA slot. Otherwise a block may end before another is placed,
    /// which then goes to the same CTA slot.
    fn placed_in_order(&self, blocks: usize) -> bool {
        let most = self.costs.blocks_per_cycle as usize;
        most == 0 || blocks <= most
    }

    /// Returns the number of SMs that receive a block.
    pub(crate) fn used_sms(&self) -> usize {
        self.sms.min(self.blocks as usize)
    }

    /// Returns whether every block is resident from the first cycle on.
    pub(crate) fn all_at_once(&self) -> bool {
        self.blocks as usize <= self.room()
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
    /// What the launch costs beside its blocks.
    beside: Beside,
    /// The share of each block, if all blocks are resident at once.
    blocks: Vec<BlockShare>,
    /// Sums over all blocks.
    services: Services,
    work: u64,
    load: u64,
    peaks: i128,
    stages: u64,
    /// Maxima over all blocks.
    most_stages: u64,
    alone: u64,
    /// The largest R * D - H.
    last: Option<i128>,
    /// The R largest S.
    works: Largest,
    /// The R - 1 largest amounts that one change of sub-core adds.
    repeats: Largest,
    classes: u8,
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
            beside: Beside::default(),
            blocks: vec![BlockShare::default(); kept],
            services: Services::default(),
            work: 0,
            load: 0,
            peaks: 0,
            stages: 0,
            most_stages: 0,
            alone: 0,
            last: None,
            works: Largest::new(places),
            repeats: Largest::new(places - 1),
            classes: 0,
        }
    }

    /// Returns the same collection for shares in units of which there are `scale` per cycle, on SMs
    /// each of which adds `once` cycles.
    #[must_use]
    pub fn scaled(self, scale: u64, once: u64) -> Self {
        Self { scale: scale.max(1), once, ..self }
    }

    /// Adds what the launch costs beside its blocks.
    pub(crate) fn add_beside(&mut self, beside: Beside) {
        self.beside = beside;
    }

    /// Adds a block; the order of blocks does not matter.
    pub fn add(&mut self, block: BlockId, share: &BlockShare) {
        self.classes |= share.classes;
        self.services += share.services;
        let delay = self.residency.delay(share).saturating_mul(self.scale);
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
        self.alone = self.alone.max(alone);
        self.last = self.last.max(Some(places * surplus - peak));
        self.works.offer(share.work);
        self.repeats.offer(share.largest_repeat());
    }

    /// Returns the bound of the launch, from its start to its end.
    pub fn value(&self) -> BoundValue {
        let scaled = if self.residency.all_at_once() {
            self.last_sm().0
        } else if self.residency.sms == 1 {
            self.in_turn()
        } else {
            self.in_turn_on_several()
        };
        let scaled = scaled + i128::from(self.beside.total());
        let Launch { first, end, .. } = self.residency.costs;
        let all = scaled.div_euclid(i128::from(self.scale)) + i128::from(first + end + self.once());
        BoundValue::new(Cycles::new(u64::try_from(all).unwrap_or(if all < 0 { 0 } else { u64::MAX })))
    }

    /// Returns the parts of the bound, which add up to it, if the blocks have services. The units of
    /// other sub-cores count only where a path may change its sub-core.
    pub fn parts(&self) -> Vec<BoundPart> {
        let Launch { first, end, .. } = self.residency.costs;
        let Residency { sms, blocks, .. } = self.residency;
        let all_at_once = self.residency.all_at_once();
        let (services, shared_by, placed) = if all_at_once {
            let (_, _, sm) = self.last_sm();
            let blocks = || self.blocks.iter().skip(sm).step_by(sms);
            let services = blocks().fold(Services::default(), |sum, block| sum + block.services);
            (services, 1, blocks().count())
        } else {
            (self.services, sms as u64, blocks as usize)
        };
        if services == Services::default() {
            return Vec::new();
        }
        let scale = self.scale * shared_by;
        let mut parts: Vec<(Part, u64)> =
            services.parts().map(|(part, service)| (part, service / scale)).to_vec();
        parts.extend(self.beside.parts().iter().map(|&(part, service)| (part, service / self.scale)));
        parts.push((Part::InstructionCache, self.once()));
        parts.push((Part::Launch, first + end + self.residency.placing(placed)));
        if shared_by > 1 {
            parts.push((Part::LastBlocks, self.works.sum() / self.scale));
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
        all.map(|(part, cycles)| BoundPart { part, cycles: Cycles::new(cycles) }).collect()
    }

    /// Returns the cycles that each SM adds once, as often as the bound contains them.
    fn once(&self) -> u64 {
        // the time until the last block is placed is a mean over the SMs, and the time from then on
        // is that of one SM; both may contain these cycles
        let in_two_parts = self.residency.sms > 1 && !self.residency.all_at_once();
        if in_two_parts { 2 * self.once } else { self.once }
    }

    /// Returns the SM with the largest bound, if there is a CTA slot for each block: the bound, what
    /// it counts for latencies, and the number of the SM.
    fn last_sm(&self) -> (i128, i128, usize) {
        let of_sm = |sm: usize| {
            let (bound, latency) = self.of_sm(sm);
            (bound, latency, sm)
        };
        (0..self.residency.sms).map(of_sm).max_by_key(|&(bound, ..)| bound).unwrap_or_default()
    }

    /// Returns what the bound counts for latencies.
    fn latency(&self) -> i128 {
        let places = i128::from(self.residency.places);
        if self.residency.all_at_once() {
            self.last_sm().1
        } else if self.residency.sms == 1 {
            (self.peaks + self.last.unwrap_or(0)).div_euclid(places)
        } else {
            self.peaks.div_euclid(self.residency.room() as i128) + i128::from(self.alone)
        }
    }

    /// Returns whether a chain stays on one sub-core as long as it stays in one CTA slot.
    fn keeps_sub_core(&self) -> bool {
        self.classes.count_ones() <= 1
    }

    /// Returns the bound of one SM if there is a CTA slot for each block, and what it counts for
    /// latencies. Block i goes to SM i mod M, and if all blocks are placed in the same cycle, to CTA
    /// slot i div M.
    fn of_sm(&self, sm: usize) -> (i128, i128) {
        let residency = &self.residency;
        let blocks: Vec<&BlockShare> = self.blocks.iter().skip(sm).step_by(residency.sms).collect();
        let load: u64 = blocks.iter().map(|block| block.load).sum();
        let mut on_core = [0; SubCores::MAX];
        for (place, block) in blocks.iter().enumerate() {
            for class in 0..residency.sub_cores {
                on_core[(place * residency.warps + class) % residency.sub_cores] += block.of_class[class];
            }
        }
        let on_one = on_core.into_iter().max().unwrap_or(0);
        let of_block = |(index, block): (usize, &&BlockShare)| {
            let stays = block.stages <= 1 || self.keeps_sub_core();
            let counted = if stays && residency.placed_in_order(blocks.len()) {
                on_one
            } else {
                let changes = if stays { 0 } else { block.stages - 1 };
                let others = blocks.iter().enumerate().filter(|(other, _)| *other != index);
                load + others.map(|(_, other)| other.repeated(changes)).sum::<u64>()
            };
            (i128::from(counted) + block.surplus, block.surplus)
        };
        let (bound, latency) = blocks.iter().enumerate().map(of_block).max().unwrap_or_default();
        (bound + i128::from(residency.placing(blocks.len()) * self.scale), latency)
    }

    /// Returns R times the work that changes of sub-core add, if a chain has this many of them
    /// (given times R).
    fn repeated(&self, changes_times_places: i128) -> i128 {
        let at_most = i128::from(self.residency.places) * i128::from(self.work - self.load);
        at_most.min(i128::from(self.repeats.sum()) * changes_times_places.max(0))
    }

    /// Returns the bound for one SM and more blocks than CTA slots.
    fn in_turn(&self) -> i128 {
        let places = i128::from(self.residency.places);
        let placing = i128::from(self.residency.placing(self.residency.blocks as usize) * self.scale);
        let Some(last) = self.last else { return 0 };
        let (stages, most) = (i128::from(self.stages), i128::from(self.most_stages));
        let changes = if self.keeps_sub_core() { places } else { stages - most + places * (most - 1) };
        (places * i128::from(self.load) + self.repeated(changes) + self.peaks + last).div_euclid(places)
            + placing
    }

    /// Returns the bound for several SMs and more blocks than CTA slots.
    fn in_turn_on_several(&self) -> i128 {
        let places = i128::from(self.residency.places);
        let changes = if self.keeps_sub_core() { 0 } else { i128::from(self.stages) };
        let sum = places * i128::from(self.load) + self.repeated(changes) + self.peaks;
        let placing = self.residency.placing(self.residency.blocks as usize) * self.scale;
        sum.div_euclid(self.residency.room() as i128) + i128::from(self.works.sum() + self.alone + placing)
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

    fn sum(&self) -> u64 {
        self.kept.iter().sum()
    }
}
