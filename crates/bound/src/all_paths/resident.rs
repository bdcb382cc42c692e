//! The share of a block in [`Rbb`](crate::Rbb), whatever paths its warps take.

use super::lone::{Initiated, Inits, Time};
use super::surplus::Surplus;
use crate::over_paths::{Piece, Sections, measured, units};
use crate::resident::BlockShare;
use warpbound_core::machine::SubCores;
use warpbound_core::path::PathSet;
use warpbound_core::program::TimingTable;

/// The share of a block in the bound of its launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StaticShare {
    /// The share, in the terms of [`Rbb`](crate::Rbb).
    pub share: BlockShare,
    /// Whether the number of the block's sections depends on the path.
    pub irregular: bool,
}

/// Sums over the sections of a block, in cycles.
#[derive(Default)]
struct Sums {
    /// The loads by sub-core.
    loads: BlockShare,
    /// The sum over the stages of the largest C(w) plus the S of the other warps.
    with_others: u64,
    /// D.
    surplus: i128,
    /// H.
    peak: i128,
    /// The sum over the stages of the largest C(w).
    alone: u64,
    stages: u64,
}

/// The share of a section in which a warp may have an instruction.
struct Stage {
    /// The initiations on units of one sub-core, by sub-core, and those on shared units.
    private: [u64; SubCores::MAX],
    shared: u64,
    /// A mask of the sub-cores whose warps may have instructions.
    classes: u8,
    with_others: u64,
    surplus: i128,
    /// The largest a(w) or C(w) - S(w).
    peak: i128,
    alone: u64,
}

/// Returns the share of a block whose warps take any of these paths.
pub fn static_share(table: &TimingTable, warps: &[PathSet]) -> StaticShare {
    let sections = Sections::new(table, warps);
    let (cores, mut sums) = (table.sub_cores(), Sums::default());
    for stage in sections.regular().filter_map(|pieces| stage(table, &pieces)) {
        sums.add(&stage, cores);
    }
    if let Some(rest) = &sections.rest
        && let Some(stage) = stage(table, &rest.pieces())
    {
        sums.add_up_to(&stage, rest.sections, cores);
    }
    StaticShare { share: sums.share(), irregular: sections.rest.is_some() }
}

fn stage(table: &TimingTable, warps: &[&[Piece<'_>]]) -> Option<Stage> {
    let (inits, surplus, time) = (Inits(table), Surplus(table), Time::new(table));
    let (mut private, mut shared, mut classes) = ([0_u64; SubCores::MAX], 0_u64, 0);
    let mut found = Vec::new();
    let issuing = warps.iter().enumerate().filter(|(_, pieces)| units(table, pieces).contains(&true));
    for (warp, pieces) in issuing {
        let mut own = Initiated::default();
        measured(&inits, pieces, &mut own);
        let mut over = surplus.begin();
        measured(&surplus, pieces, &mut over);
        let mut alone = time.begin();
        measured(&time, pieces, &mut alone);
        let core = table.sub_cores().of_slot(warp);
        private[core] = private[core].saturating_add(own.private);
        shared = shared.saturating_add(own.shared);
        classes |= 1 << core;
        found.push((own.private.saturating_add(own.shared), over, alone.longest().get()));
    }
    let work = private.iter().fold(shared, |sum, &private| sum.saturating_add(private));
    Some(Stage {
        private,
        shared,
        classes,
        with_others: found
            .iter()
            .map(|&(own, _, alone)| work.saturating_sub(own).saturating_add(alone))
            .max()?,
        surplus: found.iter().map(|(_, over, _)| over.largest().into()).max()?,
        peak: found.iter().map(|(_, over, _)| over.largest().max(over.ahead()).into()).max()?,
        alone: found.iter().map(|&(.., alone)| alone).max()?,
    })
}

impl Sums {
    /// Adds a section.
    fn add(&mut self, stage: &Stage, cores: SubCores) {
        self.peak = self.peak.max(self.surplus + stage.peak).max(0);
        self.surplus += stage.surplus;
        self.loads.add_loads(stage.private, stage.shared, cores);
        self.loads.classes |= stage.classes;
        self.with_others = self.with_others.saturating_add(stage.with_others);
        self.alone = self.alone.saturating_add(stage.alone);
        self.stages = self.stages.saturating_add(1);
    }

    /// Adds up to `times` sections, each of which is at most this one; their work together is at
    /// most this section's.
    fn add_up_to(&mut self, stage: &Stage, times: u64, cores: SubCores) {
        let alone = stage.alone.saturating_mul(times);
        // a share that is too large has the largest numbers
        let all = self.surplus.saturating_add(stage.surplus.max(0).saturating_mul(times.into()));
        self.peak = self.peak.max(all.saturating_add(stage.peak)).max(0);
        self.surplus = all;
        // the largest load of each section may be on another sub-core
        let work = stage.private.iter().fold(stage.shared, |sum, &private| sum.saturating_add(private));
        self.loads.add_loads([0; SubCores::MAX], work, cores);
        self.loads.classes |= stage.classes;
        self.with_others = self.with_others.saturating_add(alone).saturating_add(work);
        self.alone = self.alone.saturating_add(alone);
        self.stages = self.stages.saturating_add(times);
    }

    fn share(self) -> BlockShare {
        let Self { loads, with_others, surplus, peak, alone, stages } = self;
        // With one sub-core, the sum of the block's own S and D is at most the largest of that sum over
        // all paths.
        let surplus = if loads.classes.count_ones() > 1 {
            surplus
        } else {
            i128::from(with_others) - i128::from(loads.load)
        };
        // What earlier sections have queued when one begins is not known, so it may be everything.
        BlockShare { surplus, peak, stages, alone, left: loads.work - loads.load, ..loads }
    }
}
