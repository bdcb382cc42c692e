//! SWB, the sure-window bound.

use super::claim::Claim;
use super::context::{Applicable, Context, NotApplicable};
use super::contract::{Bound, Standing};
use super::parts::BlockParts;
use super::section::SectionAnalysis;
use super::sharing::FromOthers;
use super::value::BoundValue;
use warpbound_core::base::{Cycles, UnitId, WarpId};
use warpbound_core::machine::SubCores;

/// The sure-window bound. Each warp's section is cut into *sure runs*. In a sure run every
/// instruction after the first is ready, in every schedule, one cycle after its predecessor issued
/// ([`SureRuns`](super::SureRuns) explains how that is determined). For a run r of n(r)
/// instructions let
///
/// ```text
/// h_f(r) = the largest, over the ends s of r and the empty one, of (inits of s on f) - |s|
/// H(r)   = the largest h_f(r) over the units f that w uses in its section, at least 0
/// SWB(w) = C(w) + sum over the runs r of the other warps of w's sub-core of ( n(r) + H(r) )
///               + sum over the instructions y of other sub-cores, on a shared unit that w uses,
///                 of init(y)
/// SWB    = max over w of SWB(w)
/// ```
///
/// per section; the sections' values are added up. C(w) is the time that w's section takes alone
/// from an empty machine. SWB is at most IWB, warp by warp. Cutting a run further never lowers SWB,
/// so it is safe to treat an instruction as not surely ready.
///
/// Premises: as for [`Iwb`](super::Iwb), and additionally unbounded queues and exact latencies
/// (those of the runs). The runs are found once; the evaluation then takes, for each set of units
/// that a warp uses, time in proportion to warps times shapes of runs.
///
/// The proof, an example and the slack are in [`proofs::swb`](super::proofs::swb).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swb;

impl Bound for Swb {
    fn name(&self) -> &'static str {
        "swb"
    }

    fn summary(&self) -> &'static str {
        "sure-window bound, proved: a warp alone, plus the slots of all others, plus what their sure runs leave queued on units it uses"
    }

    fn standing(&self) -> Standing {
        Standing::Proved
    }

    fn applicable(&self, context: &Context) -> Result<Applicable, NotApplicable> {
        context.paper_premises(Claim::Swb)
    }

    fn warp_values(&self, section: &SectionAnalysis, values: &mut Vec<BoundValue>) {
        let mut slots = [0; SubCores::MAX];
        for (id, warp) in section.ids().zip(section.warps()) {
            slots[section.sub_core(id)] += warp.instructions;
        }
        let from_others = FromOthers::new(section);
        // most warps use the same units; the sum over all warps of a sub-core is computed once for
        // each such set
        let mut computed: [Option<(WarpId, Cycles)>; SubCores::MAX] = [None; SubCores::MAX];
        values.clear();
        for (own, warp) in section.ids().zip(section.warps()) {
            let core = section.sub_core(own);
            let with_own = || section.ids().filter(|&other| section.sub_core(other) == core);
            let used = |unit: UnitId| section.unit_use(own, unit).is_used();
            let uses_as = |other: WarpId| {
                let pairs = section.uses(own).iter().zip(section.uses(other));
                pairs.into_iter().all(|(a, b)| a.is_used() == b.is_used())
            };
            let of_all = match computed[core] {
                Some((other, sum)) if uses_as(other) => sum,
                _ => with_own().map(|other| section.runs(other).backlog(used)).sum(),
            };
            computed[core] = Some((own, of_all));
            let backlog = of_all - section.runs(own).backlog(used);
            let slots_of_others = Cycles::new(slots[core] - warp.instructions);
            let local = warp.isolated + slots_of_others + backlog;
            values.push(BoundValue::new(local + from_others.on(own)));
        }
    }

    fn warp_parts(&self, section: &SectionAnalysis, own: WarpId, _value: BoundValue) -> Option<BlockParts> {
        let mut parts = BlockParts::alone(section.warps()[own.index()].isolated, section.units());
        let core = section.sub_core(own);
        let used = |unit: UnitId| section.unit_use(own, unit).is_used();
        for other in section.ids().filter(|&other| other != own && section.sub_core(other) == core) {
            parts.slots += Cycles::new(section.warps()[other.index()].instructions);
            for (unit, backlog) in section.runs(other).backlogs(used) {
                parts.units[unit.index()] += backlog;
            }
        }
        parts.add_from_others(&FromOthers::new(section), own);
        Some(parts)
    }
}
