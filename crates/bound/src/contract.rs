//! The trait of all bounds, and the report that a bound returns.

use std::fmt;

use super::context::{Applicable, Context, NotApplicable};
use super::parts::{BlockParts, BoundPart};
use super::pipelined::PipelineShares;
use super::resident::LaunchShares;
use super::section::{BlockAnalysis, SectionAnalysis, WarpSection};
use super::value::BoundValue;
use warpbound_core::base::{Cycles, WarpId};
use warpbound_core::machine::PolicyKind;

/// The bound of one section. Its cycles count from the time at which, according to the bound, the
/// sections before it have settled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SectionBound {
    /// The number of cycles up to the last `done` of the section.
    pub value: BoundValue,
    /// The number of cycles until the section has settled: nothing that is in flight from then on
    /// can delay a later section. It is at most `value`, and less only where the bound's proof
    /// shows the difference ([`Bound::tail`]).
    pub settled: BoundValue,
    /// The warp with the largest value; the first one if several have it.
    pub warp: WarpId,
}

/// The values of a bound for one block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BoundReport {
    /// The number of cycles from the start of the block to its last `done`.
    pub value: BoundValue,
    /// The number of cycles from the start of the block until all sections so far have settled,
    /// which is the sum of their `settled` values. The next section counts from here.
    pub settled: BoundValue,
    /// The bounds of the sections, in order.
    pub sections: Vec<SectionBound>,
    /// The number of cycles from the start of the block to each warp's own last `done`, by warp id.
    pub warps: Vec<BoundValue>,
    /// The parts of `value`, if they were requested and the bound has parts.
    pub parts: Option<ReportParts>,
}

/// The parts of the values of a [`BoundReport`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReportParts {
    /// The parts of `value`.
    pub value: BlockParts,
    /// The parts of `settled`.
    pub settled: BlockParts,
}

impl BoundReport {
    /// Creates the report of a block without sections that also collects the parts of the bound.
    pub fn with_parts() -> Self {
        Self { parts: Some(ReportParts::default()), ..Self::default() }
    }
}

/// The combined shares of the blocks of a launch.
#[derive(Clone, Copy, Debug)]
pub struct LaunchFigures<'a> {
    /// The shares for [`Rbb`](crate::Rbb).
    pub resident: &'a LaunchShares,
    /// The shares for [`Plb`](crate::Plb).
    pub pipelined: &'a PipelineShares,
}

/// The justification that a bound has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub enum Standing {
    /// A paper claims the bound, and it is evaluated as published.
    Published,
    /// The bound is proved in [`proofs`](super::proofs).
    Proved,
    /// The bound is neither published nor proved. It is reported, and a violation is shown, but it
    /// does not affect the exit code.
    Conjectured,
}

impl Standing {
    /// Returns the name that reports and scripts use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Published => "published",
            Self::Proved => "proved",
            Self::Conjectured => "conjectured",
        }
    }

    /// Returns whether a violation determines the exit code unless the user says otherwise.
    pub fn gates(self) -> bool {
        self != Self::Conjectured
    }
}

impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The unit of work whose execution time a bound limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// A block that runs by itself. The bounds of blocks that run one after the other are added up.
    Block,
    /// A whole launch, whose blocks may run at the same time ([`LaunchShares`]).
    Launch,
}

/// A bound on the execution time of a block, or of a launch.
pub trait Bound: Sync {
    /// Returns the bound's name on the command line and in JSON.
    fn name(&self) -> &'static str;

    /// Returns a description of one line.
    fn summary(&self) -> &'static str;

    /// Returns the bound's justification. Without a proof, a bound is a conjecture.
    fn standing(&self) -> Standing {
        Standing::Conjectured
    }

    /// Returns the scope of the bound. The values of its sections refer to a block that runs by
    /// itself, whatever the scope.
    fn scope(&self) -> Scope {
        Scope::Block
    }

    /// Returns the only policy that the bound applies to, or `None` if it applies to all policies
    /// whose contract fits. Reports omit the bound for other policies.
    fn policy(&self) -> Option<PolicyKind> {
        None
    }

    /// Checks the premises of the bound.
    ///
    /// # Errors
    /// Returns the premise that does not hold.
    fn applicable(&self, context: &Context) -> Result<Applicable, NotApplicable>;

    /// Computes for each warp how many cycles its instructions of the section may take under the
    /// interference of the other warps, counted from when the sections before have settled. Fills
    /// `values` with one entry per warp.
    fn warp_values(&self, section: &SectionAnalysis, values: &mut Vec<BoundValue>);

    /// Returns the parts of this value of a warp of the section, or `None` if the bound has no parts.
    /// They add up to `value`, which is the one of [`Bound::warp_values`].
    fn warp_parts(
        &self,
        _section: &SectionAnalysis,
        _warp: WarpId,
        _value: BoundValue,
    ) -> Option<BlockParts> {
        None
    }

    /// Returns by how many cycles a warp's part of a section settles before the warp's value ends.
    /// It is zero for a bound that counts each section from the last `done` of the sections before.
    fn tail(&self, _warp: &WarpSection) -> Cycles {
        Cycles::ZERO
    }

    /// Adds the next section of a block to a report that started as the default report.
    fn add_section(&self, report: &mut BoundReport, section: &SectionAnalysis) {
        let mut values = Vec::with_capacity(section.warps().len());
        self.warp_values(section, &mut values);
        report.warps.resize(section.warps().len(), BoundValue::default());
        let before = report.settled.cycles();
        let after = |value: BoundValue| BoundValue::new(before).sum(value);
        let none = BoundValue::default();
        let mut bound = SectionBound { value: none, settled: none, warp: WarpId::new(0) };
        // the value of the warp that settles last
        let mut last = (none, WarpId::new(0));
        for (index, (value, warp)) in values.into_iter().zip(section.warps()).enumerate() {
            // A warp without instructions in this section needs no bound. Leaving it out does not
            // change the maximum of the published formulas either: the other warps cannot delay it
            // by more than they need themselves.
            if warp.instructions == 0 {
                continue;
            }
            report.warps[index] = report.warps[index].max(after(value));
            let settled = BoundValue::new(value.cycles().saturating_sub(self.tail(warp)));
            if settled > bound.settled {
                (bound.settled, last) = (settled, (value, WarpId::from_index(index)));
            }
            if value > bound.value {
                (bound.value, bound.warp) = (value, WarpId::from_index(index));
            }
        }
        if let Some(parts) = report.parts.take() {
            report.parts = self.add_parts(parts, section, (&bound, last), after(bound.value) > report.value);
        }
        report.value = report.value.max(after(bound.value));
        report.settled = after(bound.settled);
        report.sections.push(bound);
    }

    /// Adds the parts of a section to those of the sections before. `decides` states whether the
    /// section's value makes the value of the block larger. `last` is the warp that settles last and
    /// its value.
    fn add_parts(
        &self,
        mut parts: ReportParts,
        section: &SectionAnalysis,
        (bound, last): (&SectionBound, (BoundValue, WarpId)),
        decides: bool,
    ) -> Option<ReportParts> {
        if bound.value == BoundValue::default() {
            return Some(parts);
        }
        let of_last = self.warp_parts(section, last.1, last.0)?;
        if decides {
            parts.value = parts.settled.clone();
            if last == (bound.value, bound.warp) {
                parts.value += &of_last;
            } else {
                parts.value += &self.warp_parts(section, bound.warp, bound.value)?;
            }
        }
        parts.settled += &of_last.reduced_to(bound.settled.cycles())?;
        Some(parts)
    }

    /// Returns whether the bound is meant for runs with these facts. Reports omit it for the other
    /// runs, for which other bounds are at most as large.
    fn concerns(&self, context: &Context) -> bool {
        self.scope() == Scope::Block || context.judged_as_a_whole()
    }

    /// Returns whether the bound is computed from the sections of blocks. Otherwise it is computed
    /// from the shares of a [`PipelineAnalyser`](crate::PipelineAnalyser).
    fn needs_sections(&self) -> bool {
        true
    }

    /// Returns the bound of a launch from the combined shares of its blocks, for bounds of that
    /// scope.
    fn of_launch(&self, launch: &LaunchFigures) -> BoundValue {
        launch.resident.value()
    }

    /// Returns the parts that the bound of a launch consists of, or nothing if they are not known.
    fn parts_of_launch(&self, _launch: &LaunchFigures) -> Vec<BoundPart> {
        Vec::new()
    }

    /// Returns the bound of a block.
    fn evaluate(&self, block: &BlockAnalysis) -> BoundReport {
        let mut report =
            BoundReport { warps: vec![BoundValue::default(); block.warps.len()], ..BoundReport::default() };
        for section in &block.sections {
            self.add_section(&mut report, section);
        }
        report
    }
}
