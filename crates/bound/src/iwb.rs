//! IWB, the initiation-work bound.

use super::claim::Claim;
use super::context::{Applicable, Context, NotApplicable};
use super::contract::{Bound, Standing};
use super::parts::BlockParts;
use super::section::{SectionAnalysis, UnitUse};
use super::sharing::FromOthers;
use super::value::BoundValue;
use warpbound_core::base::{Cycles, WarpId};

/// The initiation-work bound:
///
/// ```text
/// IWB(w) = C(w) + sum over the instructions y of all other warps of c(y)
/// c(y)   = init(y) if w itself uses the unit of y (its sub-core's, or a shared one),
///          else 1 if y is on w's sub-core, else 0
/// IWB    = max over w of IWB(w)
/// ```
///
/// per section; the sections' values are added up. C(w) is the time that w's section takes alone
/// from an empty machine; with bounded queues it is the time without queues
/// ([`WarpSection::unqueued`](super::WarpSection::unqueued)).
///
/// Premises: a work-conserving policy, units that serve first-in first-out, barriers of all warps,
/// one block at a time. Dual issue, rotation, bounded queues, write-back and results that nothing
/// waits for are covered; launch costs are not, because they belong to no block. The bound also
/// holds if instructions take less time than stated. With sums per unit the evaluation takes time
/// in proportion to warps times units.
///
/// The proof, an example and the slack are in [`proofs::iwb`](super::proofs::iwb).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Iwb;

impl Bound for Iwb {
    fn name(&self) -> &'static str {
        "iwb"
    }

    fn summary(&self) -> &'static str {
        "initiation-work bound, proved: a warp alone, plus the initiations of all others on units it uses, plus one slot for each other instruction"
    }

    fn standing(&self) -> Standing {
        Standing::Proved
    }

    fn applicable(&self, context: &Context) -> Result<Applicable, NotApplicable> {
        context.paper_premises(Claim::Iwb)
    }

    fn warp_values(&self, section: &SectionAnalysis, values: &mut Vec<BoundValue>) {
        let units = section.units();
        // by sub-core, then unit
        let mut of_all = vec![UnitUse::default(); units * section.sub_cores().count()];
        for warp in section.ids() {
            let of_core = &mut of_all[section.sub_core(warp) * units..][..units];
            for (sum, used) in of_core.iter_mut().zip(section.uses(warp)) {
                sum.instructions += used.instructions;
                sum.init += used.init;
            }
        }
        let from_others = FromOthers::new(section);
        values.clear();
        for (id, warp) in section.ids().zip(section.warps()) {
            let of_core = &of_all[section.sub_core(id) * units..][..units];
            let pairs = of_core.iter().zip(section.uses(id));
            let interference: Cycles = pairs.map(|(sum, own)| charge_of_others(sum, own)).sum();
            let alone = warp.lone().isolated;
            values.push(BoundValue::new(alone + interference + from_others.on(id)));
        }
    }

    fn warp_parts(&self, section: &SectionAnalysis, own: WarpId, _value: BoundValue) -> Option<BlockParts> {
        let alone = section.warps()[own.index()].lone().isolated;
        let mut parts = BlockParts::alone(alone, section.units());
        let core = section.sub_core(own);
        for other in section.ids().filter(|&other| other != own && section.sub_core(other) == core) {
            let uses = section.uses(own).iter().zip(section.uses(other));
            for ((own, other), sum) in uses.zip(&mut parts.units) {
                if own.is_used() {
                    *sum += other.init;
                } else {
                    parts.slots += Cycles::new(other.instructions);
                }
            }
        }
        parts.add_from_others(&FromOthers::new(section), own);
        Some(parts)
    }
}

/// Returns the sum of c(y) over the instructions of the sub-core's other warps on one unit.
fn charge_of_others(of_all: &UnitUse, own: &UnitUse) -> Cycles {
    if own.is_used() { of_all.init - own.init } else { Cycles::new(of_all.instructions - own.instructions) }
}
