//! The combined estimates of the hybrid analysis.

use std::fmt;

use super::ilp::{IlpError, IntegerProgram, Limits, Worst};
use super::ipg::Ipg;
use super::observed::Observed;
use super::sections::NoSections;
use super::timing::Timing;
use super::tree::{NoTree, tree_value};
use super::waves::BlockWaves;
use warpbound_core::base::Cycles;

/// An estimate, and its comparison with the high-water mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Estimate {
    /// The estimate.
    pub value: Cycles,
    /// Whether a run took longer than the estimate, so that it is not a bound.
    pub below_high_water: bool,
}

impl Estimate {
    fn new(value: Cycles, high_water: Cycles) -> Self {
        Self { value, below_high_water: value < high_water }
    }
}

/// All results of the analysis of a kernel. Estimates combine what was observed; they do not bound
/// unobserved behaviour (Betts and Donaldson, section II-B).
#[derive(Clone, Debug)]
pub struct Estimates {
    /// The longest observed run.
    pub high_water: Cycles,
    /// Z_warp, the estimate of one warp alone, from the integer linear program.
    pub warp: Estimate,
    /// The counts that give Z_warp.
    pub worst: Worst,
    /// The constraints on these counts.
    pub limits: Limits,
    /// Z_warp by the tree rule, with loop bounds only, if the rule applies.
    pub tree: Result<Estimate, NoTree>,
    /// Z_dynamic: Z_warp plus the longest release jitter.
    pub dynamic: Estimate,
    /// Z_hybrid: Z_warp in waves, in which each warp delays the next.
    pub hybrid: Estimate,
    /// The estimate by waves of blocks instead of the paper's waves,
    /// [`BlockWaves::hybrid`](super::BlockWaves::hybrid); `None` if the block scheduler was not
    /// observed.
    pub blocks: Option<Estimate>,
    /// The estimates that use the path of a block instead of that of a warp, see
    /// [`super::sections`], or the reason why they do not exist.
    pub sections: Result<BySections, NoSections>,
    /// The transitions of the graph that no warp took, which no estimate accounts for.
    pub unobserved: Vec<usize>,
}

/// The estimates in which barriers divide a block into sections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BySections {
    /// The longest path of a block, from the start of its last warp.
    pub path: Cycles,
    /// The estimate by waves of blocks, each of which takes as long as that path.
    pub hybrid: Estimate,
}

/// The reason why there are no estimates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoEstimate {
    /// Z_warp does not exist.
    Warp(IlpError),
    /// An estimate exceeds 64 bits.
    TooLarge,
}

impl fmt::Display for NoEstimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Warp(error) => error.fmt(f),
            Self::TooLarge => f.write_str("an estimate is beyond 64 bits"),
        }
    }
}

impl std::error::Error for NoEstimate {}

/// Returns the default constraints on the counts: loop bounds, and, if divergence adds transitions,
/// also the observed counts.
pub fn default_limits(ipg: &Ipg) -> Limits {
    if ipg.has_divergence() { Limits::Counts } else { Limits::Loops }
}

/// Computes the estimates from what was observed. `bounds` are iteration bounds of the loops that
/// the user gives; they replace the observed ones.
///
/// # Errors
/// Returns an error if Z_warp does not exist with these constraints, or if a number is too large.
pub fn estimate(
    ipg: &Ipg,
    observed: &Observed,
    bounds: &[Option<u64>],
    limits: Limits,
) -> Result<Estimates, NoEstimate> {
    let mut timing = observed.timing.clone();
    timing.set_bounds(ipg, bounds);
    let solved =
        |timing: &Timing| IntegerProgram::new(ipg, timing, limits).and_then(|program| program.solve());
    let worst = solved(&timing).map_err(NoEstimate::Warp)?;
    let compared = |value| Estimate::new(value, observed.high_water);
    let z_warp = worst.value;
    let of_blocks = |waves: BlockWaves| waves.hybrid(z_warp).ok_or(NoEstimate::TooLarge);
    let by_sections = || {
        let sections = observed.sections.as_ref().map_err(Clone::clone)?;
        let waves = observed.blocks.ok_or(NoSections::Unknown)?;
        let no_path = |why: IlpError| NoSections::NoPath(why.to_string());
        let path = solved(&sections.timing(ipg, bounds)).map_err(no_path)?.value;
        let too_large = || NoSections::NoPath(NoEstimate::TooLarge.to_string());
        Ok(BySections { path, hybrid: compared(waves.hybrid(path).ok_or_else(too_large)?) })
    };
    Ok(Estimates {
        high_water: observed.high_water,
        warp: compared(z_warp),
        limits,
        tree: tree_value(ipg, &timing).map(compared),
        dynamic: compared(observed.waves.dynamic(z_warp).ok_or(NoEstimate::TooLarge)?),
        hybrid: compared(observed.waves.hybrid(z_warp).ok_or(NoEstimate::TooLarge)?),
        blocks: observed.blocks.map(of_blocks).transpose()?.map(compared),
        sections: by_sections(),
        unobserved: (0..ipg.transitions().len()).filter(|&at| observed.timing.wcet[at].is_none()).collect(),
        worst,
    })
}
