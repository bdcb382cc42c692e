//! What a bound is, and what it reports.

use std::fmt;

use super::context::{Applicable, Context, NotApplicable};
use super::resident::LaunchShares;
use super::section::{BlockAnalysis, SectionAnalysis, WarpSection};
use super::value::BoundValue;
use crate::base::{Cycles, WarpId};
use crate::machine::SchedulerKind;

/// The bound of one section. Its cycles count from when, by the bound, the sections before have settled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SectionBound {
    /// Up to the last `done` of the section.
    pub value: BoundValue,
    /// Until it has settled: nothing that is in flight from then on can delay a later section. No more than
    /// `value`; less only where the bound's proof knows the difference ([`Bound::tail`]).
    pub settled: BoundValue,
    /// The warp whose value is the largest; the first of them.
    pub warp: WarpId,
}

/// What a bound says about one block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BoundReport {
    /// From the start of the block to its last `done`.
    pub value: BoundValue,
    /// From the start of the block until all sections so far have settled: the sum of theirs. The next section
    /// counts from here.
    pub settled: BoundValue,
    /// Each section.
    pub sections: Vec<SectionBound>,
    /// From the start of the block to each warp's own last `done`, by warp id.
    pub warps: Vec<BoundValue>,
}

/// What a bound rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub enum Standing {
    /// Claimed by a paper, and checked as claimed.
    Published,
    /// Proved, in [`proofs`](super::proofs).
    Proved,
    /// Neither: reported, and a violation is shown, but it decides nothing.
    Conjectured,
}

impl Standing {
    /// As reports and scripts call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Published => "published",
            Self::Proved => "proved",
            Self::Conjectured => "conjectured",
        }
    }

    /// Whether a violation decides the exit code unless the user says otherwise.
    pub fn gates(self) -> bool {
        self != Self::Conjectured
    }
}

impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What a bound is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// A block that runs by itself; blocks one after the other add up.
    Block,
    /// A launch of which several blocks run at the same time, as a whole
    /// ([`LaunchShares`]).
    Launch,
}

/// A bound on the execution time of a block, or of a launch.
pub trait Bound: Sync {
    /// Its name on the command line and in JSON.
    fn name(&self) -> &'static str;

    /// What it is, in one line.
    fn summary(&self) -> &'static str;

    /// What it rests on. Without a proof, a bound is a conjecture.
    fn standing(&self) -> Standing {
        Standing::Conjectured
    }

    /// What it is about. The values of its sections are about a block that runs by itself all the same.
    fn scope(&self) -> Scope {
        Scope::Block
    }

    /// The one policy it is for; `None` if it is for all whose contract fits. Reports leave it out
    /// for other policies.
    fn policy(&self) -> Option<SchedulerKind> {
        None
    }

    /// Whether its premises hold.
    ///
    /// # Errors
    /// The premise that does not.
    fn applicable(&self, context: &Context) -> Result<Applicable, NotApplicable>;

    /// For each warp, how long its instructions of the section may take under interference of the
    /// other warps, counted from when the sections before have settled. Fills `values`,
    /// one entry per warp.
    fn warp_values(&self, section: &SectionAnalysis, values: &mut Vec<BoundValue>);

    /// By how much a warp's part of a section has settled before its value is over. Nothing for a bound that
    /// counts each section from the last `done` of those before.
    fn tail(&self, _warp: &WarpSection) -> Cycles {
        Cycles::ZERO
    }

    /// Adds the next section of a block to a report that began as the default one.
    fn add_section(&self, report: &mut BoundReport, section: &SectionAnalysis) {
        let mut values = Vec::with_capacity(section.warps().len());
        self.warp_values(section, &mut values);
        report.warps.resize(section.warps().len(), BoundValue::default());
        let before = report.settled.cycles();
        let after = |value: BoundValue| BoundValue::new(before + value.cycles());
        let none = BoundValue::default();
        let mut bound = SectionBound { value: none, settled: none, warp: WarpId::new(0) };
        for (index, (value, warp)) in values.into_iter().zip(section.warps()).enumerate() {
            // A warp without instructions here has nothing to be bounded. Leaving it out does not
            // change the maximum of the published formulas either: the others cannot delay it by
            // more than they need themselves.
            if warp.instructions == 0 {
                continue;
            }
            report.warps[index] = report.warps[index].max(after(value));
            bound.settled =
                bound.settled.max(BoundValue::new(value.cycles().saturating_sub(self.tail(warp))));
            if value > bound.value {
                (bound.value, bound.warp) = (value, WarpId::from_index(index));
            }
        }
        report.value = report.value.max(after(bound.value));
        report.settled = after(bound.settled);
        report.sections.push(bound);
    }

    /// The bound of a launch whose blocks have been put together, for bounds of that scope.
    fn of_launch(&self, shares: &LaunchShares) -> BoundValue {
        shares.value()
    }

    /// The bound of a block.
    fn evaluate(&self, block: &BlockAnalysis) -> BoundReport {
        let mut report =
            BoundReport { warps: vec![BoundValue::default(); block.warps.len()], ..BoundReport::default() };
        for section in &block.sections {
            self.add_section(&mut report, section);
        }
        report
    }
}
