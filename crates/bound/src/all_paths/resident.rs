//! The share of a block in [`Rbb`](crate::Rbb), whatever paths its warps take.

use super::lone::{Inits, Time};
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
    /// S, the sum of all initiations.
    work: u64,
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
    work: u64,
    with_others: u64,
    surplus: i128,
    /// The largest a(w) or C(w) - S(w).
    peak: i128,
    alone: u64,
}

/// Returns the share of a block whose warps take any of these paths.
pub fn static_share(table: &TimingTable, warps: &[PathSet]) -> StaticShare {
    let sections = Sections::new(table, warps);
    let mut sums = Sums::default();
    for stage in sections.regular().filter_map(|pieces| stage(table, &pieces)) {
        sums.add(&stage);
    }
    if let Some(rest) = &sections.rest
        && let Some(stage) = stage(table, &rest.pieces())
    {
        sums.add_up_to(&stage, rest.sections);
    }
    StaticShare { share: sums.share(table.sub_cores()), irregular: sections.rest.is_some() }
}

fn stage(table: &TimingTable, warps: &[&[Piece<'_>]]) -> Option<Stage> {
    let (inits, surplus, time) = (Inits(table), Surplus(table), Time::new(table));
    let (mut work, mut found) = (0u64, Vec::new());
    for pieces in warps.iter().filter(|pieces| units(table, pieces).contains(&true)) {
        let mut own = 0;
        measured(&inits, pieces, &mut own);
        let mut over = surplus.begin();
        measured(&surplus, pieces, &mut over);
        let mut alone = time.begin();
        measured(&time, pieces, &mut alone);
        work = work.saturating_add(own);
        found.push((own, over, alone.longest().get()));
    }
    Some(Stage {
        work,
        with_others: found.iter().map(|&(own, _, alone)| (work - own).saturating_add(alone)).max()?,
        surplus: found.iter().map(|(_, over, _)| over.largest().into()).max()?,
        peak: found.iter().map(|(_, over, _)| over.largest().max(over.ahead()).into()).max()?,
        alone: found.iter().map(|&(.., alone)| alone).max()?,
    })
}

impl Sums {
    /// Adds a section.
    fn add(&mut self, stage: &Stage) {
        self.peak = self.peak.max(self.surplus + stage.peak).max(0);
        self.surplus += stage.surplus;
        self.work = self.work.saturating_add(stage.work);
        self.with_others = self.with_others.saturating_add(stage.with_others);
        self.alone = self.alone.saturating_add(stage.alone);
        self.stages = self.stages.saturating_add(1);
    }

    /// Adds up to `times` sections, each of which is at most this one; their work together is at
    /// most this section's.
    fn add_up_to(&mut self, stage: &Stage, times: u64) {
        let alone = stage.alone.saturating_mul(times);
        let surplus = stage.surplus.max(0).saturating_mul(times.into());
        self.peak = self.peak.max(self.surplus + surplus + stage.peak).max(0);
        self.surplus += surplus;
        self.work = self.work.saturating_add(stage.work);
        self.with_others = self.with_others.saturating_add(alone).saturating_add(stage.work);
        self.alone = self.alone.saturating_add(alone);
        self.stages = self.stages.saturating_add(times);
    }

    fn share(self, cores: SubCores) -> BlockShare {
        // The work of other sub-cores counts in full, as if all work were on one sub-core; then
        // nothing is repeated.
        BlockShare {
            work: self.work,
            load: self.work,
            // the sum of the block's own S and D is at most the largest of that sum over all paths
            surplus: i128::from(self.with_others) - i128::from(self.work),
            peak: self.peak,
            stages: self.stages,
            alone: self.alone,
            of_class: std::array::from_fn(|class| if class < cores.count() { self.work } else { 0 }),
            classes: 1,
            ..BlockShare::default()
        }
    }
}
