//! GUB, the general upper bound of Jeanmougin et al., ECRTS 2025 (definition 10), as published.

use super::claim::Claim;
use super::context::{Applicable, Context, NotApplicable};
use super::contract::{Bound, Standing};
use super::parts::BlockParts;
use super::section::SectionAnalysis;
use super::sharing::{FromOthers, by_sub_core};
use super::value::BoundValue;
use warpbound_core::base::WarpId;

/// The general upper bound, as published:
///
/// ```text
/// WUB(w) = C(w) + sum over W != w of E(W)        GUB = max over w of WUB(w)
/// ```
///
/// C(w) is the time that warp w takes alone and E(W) the sum of the exec phases of W alone; with
/// barriers the sections' values are added up. The paper claims it for every work-conserving policy
/// on one sub-core with single issue, without caches, and with pipelined memory (its theorem 11).
///
/// # The theorem does not always hold
/// Its proof (lemma 7) equates the cycles in which another warp initiates something with the sum of
/// that warp's exec phases. But interference can separate initiations that overlap when the warp
/// runs alone, and then they block for longer than the phases say.
///
/// Consider units f0 (init 9), f1 (init 2), f2 (init 9), all with lat 0. Warp B has fourteen
/// independent instructions on f1, one on f0, and one on f2 that reads the result of f0. Warp A has
/// f0; f1; f2, and f2 reads the result of f1. C(B) = E(B) = 32, C(A) = E(A) = 12, GUB = 44. But:
///
/// ```text
/// cycle 0 to 13   B issues its f1s: f1 is occupied until 28
///       14        A issues f0: [14, 23)          alone [0, 9)
///       15        B issues f0: [23, 32)          alone [14, 23): 9 cycles late, behind A's f0
///       16        A issues f1: [28, 30)          behind B's f1s
///       30        A issues f2: [30, 39)          alone [3, 12), overlapping its f0
///       32        B issues f2: [39, 48)          7 more cycles late, behind A's f2
/// ```
///
/// No slot is left idle while a warp is ready, and the makespan is 48. A delayed B by 16 cycles
/// although its exec phases total 12. No constant factor repairs the formula
/// (`warpbound::model`, section 12, the ping-pong family). The formula is evaluated, compared and
/// asserted nevertheless, since users need it; a violation is a finding about the formula.
///
/// # Several sub-cores
/// The paper computes "a local WCET bound for each sub-core". "The effects related to components
/// that may be shared between the sub-cores" are to be added to it, which the paper leaves as
/// future work (section 2, after simplifying assumption 1). Our reading is that W ranges over the
/// other warps of w's sub-core, and that for each instruction of another sub-core on a shared unit
/// that w uses, its init is added. Without shared units this is the published formula.
///
/// GUB is not monotone either: with a longer latency, initiations of a lone warp can overlap that
/// did not overlap before, which lowers E and with it GUB (`tests/bound/monotone.rs`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gub;

impl Bound for Gub {
    fn name(&self) -> &'static str {
        "gub"
    }

    fn summary(&self) -> &'static str {
        "general upper bound (Jeanmougin et al., ECRTS 2025), as published: a warp alone, plus the exec phases of all others"
    }

    fn standing(&self) -> Standing {
        Standing::Published
    }

    fn applicable(&self, context: &Context) -> Result<Applicable, NotApplicable> {
        context.paper_premises(Claim::Gub)
    }

    fn warp_values(&self, section: &SectionAnalysis, values: &mut Vec<BoundValue>) {
        let exec = by_sub_core(section, |warp| section.warps()[warp.index()].exec);
        let from_others = FromOthers::new(section);
        values.clear();
        values.extend(section.ids().zip(section.warps()).map(|(id, warp)| {
            let on_sub_core = exec[section.sub_core(id)] - warp.exec;
            BoundValue::new(warp.isolated + on_sub_core + from_others.on(id))
        }));
    }

    fn warp_parts(&self, section: &SectionAnalysis, own: WarpId, _value: BoundValue) -> Option<BlockParts> {
        let of = |warp: WarpId| &section.warps()[warp.index()];
        let mut parts = BlockParts::alone(of(own).isolated, section.units());
        let others = section.ids().filter(|&other| section.sub_core(other) == section.sub_core(own));
        parts.exec_phases = others.filter(|&other| other != own).map(|other| of(other).exec).sum();
        parts.add_from_others(&FromOthers::new(section), own);
        Some(parts)
    }
}
