//! Bounds for the policies that issue in strict turns and are not work conserving.

use super::claim::Claim;
use super::context::{Applicable, Context, NotApplicable};
use super::contract::{Bound, Standing};
use super::section::SectionAnalysis;
use super::sharing::{by_sub_core, meet};
use super::value::BoundValue;
use warpbound_core::base::{Cycles, WarpId};
use warpbound_core::machine::PolicyKind;

/// The bound for strict round robin.
///
/// Under `srr` the turn stays with a warp until it issues and then passes to the next warp that has
/// an instruction left and does not wait at a barrier. The order in which a section's instructions
/// issue therefore follows from the instruction counts alone. Let SRR be the last `done` if the
/// section issues in that order from an empty machine; the bound is the sum over the sections. It
/// is exact if the block has one section, and also holds if instructions take less time than
/// stated.
///
/// With several sub-cores the value of a warp is that of its sub-core, and if sub-cores share a
/// unit that they both use, it is that of [`Gsrr`]. The bound needs
/// [`Analyser::in_turns`](super::Analyser::in_turns); without that it falls back to the value of
/// [`Gsrr`], which holds for `srr` too.
///
/// Premises: this policy, barriers of all warps, one block at a time, units that serve first-in
/// first-out. The evaluation takes one step per instruction. The proof and an example are in
/// [`proofs::turns`](super::proofs::turns).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Srr;

impl Bound for Srr {
    fn name(&self) -> &'static str {
        "srr"
    }

    fn summary(&self) -> &'static str {
        "bound for strict round robin, proved: the longest path through all instructions in the order of turns"
    }

    fn standing(&self) -> Standing {
        Standing::Proved
    }

    fn policy(&self) -> Option<PolicyKind> {
        Some(PolicyKind::Srr)
    }

    fn applicable(&self, context: &Context) -> Result<Applicable, NotApplicable> {
        context.of_policy(&PolicyKind::Srr, Claim::Srr)
    }

    fn warp_values(&self, section: &SectionAnalysis, values: &mut Vec<BoundValue>) {
        if meet(section) {
            return serial_sum(section, values);
        }
        values.clear();
        let of_warp = |warp| section.in_turns(warp).map(BoundValue::new);
        values.extend(section.ids().map_while(of_warp));
        if values.len() < section.warps().len() {
            serial_sum(section, values);
        }
    }
}

/// The bound for greedy-then-strict round robin, by serial times.
///
/// ```text
/// S(w)    = end of the last initiation of w alone if its initiations must not overlap:
///           an instruction issues when the initiation before is over and its sources are available
/// S'(w)   = the last done of w in the same run
/// GSRR(w) = S'(w) + sum over W != w of S(W)          GSRR = max over w of GSRR(w)
/// ```
///
/// per section; the sections' values are added up. With several sub-cores the sum is over the warps
/// of w's sub-core, and over all warps of the block if sub-cores share a unit that they both use.
///
/// Premises: `gsrr`, `srr` or a work-conserving policy (it is reported for the first), barriers of
/// all warps, one block at a time, units that serve first-in first-out. The evaluation takes one
/// sum per section. The proof, an example and the slack are in
/// [`proofs::turns`](super::proofs::turns).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gsrr;

impl Bound for Gsrr {
    fn name(&self) -> &'static str {
        "gsrr"
    }

    fn summary(&self) -> &'static str {
        "bound for greedy-then-strict round robin, proved: all warps one after the other without overlap of initiations"
    }

    fn standing(&self) -> Standing {
        Standing::Proved
    }

    fn policy(&self) -> Option<PolicyKind> {
        Some(PolicyKind::Gsrr)
    }

    fn applicable(&self, context: &Context) -> Result<Applicable, NotApplicable> {
        context.of_policy(&PolicyKind::Gsrr, Claim::Gsrr)
    }

    fn warp_values(&self, section: &SectionAnalysis, values: &mut Vec<BoundValue>) {
        serial_sum(section, values);
    }
}

fn serial_sum(section: &SectionAnalysis, values: &mut Vec<BoundValue>) {
    let warp_section = |warp: WarpId| &section.warps()[warp.index()];
    let of_core = by_sub_core(section, |warp| warp_section(warp).serial);
    let of_all: Cycles = of_core.iter().copied().sum();
    let met = meet(section);
    values.clear();
    values.extend(section.ids().map(|warp| {
        let sum = if met { of_all } else { of_core[section.sub_core(warp)] };
        BoundValue::new(sum - warp_section(warp).serial + warp_section(warp).serial_end)
    }));
}
