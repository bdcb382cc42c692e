//! Bounds for the policies that issue in turns and are not work conserving.

use super::claim::Claim;
use super::context::{Context, NotApplicable};
use super::section::SectionAnalysis;
use super::sharing::{by_sub_core, meet};
use super::value::{Bound, BoundValue, Standing};
use crate::base::{Cycles, WarpId};
use crate::machine::SchedulerKind;

/// The bound for strict round robin.
///
/// Under `srr` the turn stays with a warp until it issues and then passes to the next warp that
/// has an instruction left and does not wait at a barrier. So within a section, between two
/// releases, every round gives each warp that is not through with the section exactly one
/// instruction, in the order of warp ids: **the order of issues is fixed by the instruction counts
/// alone**, time does not enter. The first turn of a section is that of the warp after the one that
/// issued last in the section before, which is known in the same way.
///
/// Let z1, z2, ... be the instructions of a section in that order. The turn is waited for, and
/// nothing else keeps its warp from issuing: `issue(z_i) = max(issue(z_(i-1)) + 1, ready(z_i))`. With
/// `start(x) = max(issue(x), end of the initiation before on its unit)`, where "before" is given by
/// the same order, all times of the section are the least solution of constraints of the form `a >= b +
/// duration` whose graph is fixed. Let SRR be the last `done` if the section starts on an empty
/// machine. The bound is the sum over the sections:
///
/// *Proof.* Let G bound everything of the sections before. The release is at most G (see
/// [`Iwb`](super::Iwb), (b)), everything older is done by G, and nothing of the section issued before
/// the release. So the actual times solve the same constraints with sources at G at the latest in
/// place of 0, and least solutions are monotone: all is done by G + SRR. QED
///
/// It is exact where the block has one section, and stays a bound if any init or lat is *less* than
/// stated: the graph does not change, so strict round robin has no timing anomalies.
///
/// *Several sub-cores.* Turns go round in each sub-core by itself. Where no shared unit is used from two
/// sub-cores in the section, the sub-cores know nothing of each other in it, and the above holds of
/// each: a warp's value is that of its sub-core. Where they meet in a shared unit, the order there
/// depends on time; the value is then that of [`Gsrr`].
///
/// It needs [`Analyser::in_turns`](super::Analyser::in_turns); without that it falls back to the
/// value of [`Gsrr`], which holds for `srr` too.
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

    fn policy(&self) -> Option<SchedulerKind> {
        Some(SchedulerKind::Srr)
    }

    fn applicable(&self, context: &Context) -> Result<(), NotApplicable> {
        only_for(&SchedulerKind::Srr, Claim::Srr, context)
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
///           an instruction issues when the initiation before is over and its sources are there
/// S'(w)   = the last done of w in the same run
/// GSRR(w) = S'(w) + sum over W != w of S(W)          GSRR = max over w of GSRR(w)
/// ```
///
/// per section; the sections' values are added up.
///
/// # Proof
/// Let z1, z2, ... be the instructions of a section in the order in which they issue in a given
/// schedule. Under `gsrr` (and `srr`, and every work-conserving policy)
///
/// ```text
/// (1)  issue(z_i) = max( issue(z_(i-1)) + 1, ready(z_i) )
/// ```
///
/// where for i = 1 the cycle after the last issue of the section before takes the first place, and
/// ready includes the release. For `gsrr`: the turn is with the warp of `z_(i-1)` in the cycle after
/// that issue. If it is ready, it issues. Otherwise the turn passes, in that cycle, to a warp that keeps it
/// until it has issued, as soon as it is ready; that warp's next instruction is z_i. A warp that keeps
/// the turn without having issued does not lose it: it neither finishes nor arrives at a barrier, and
/// while it has not arrived no release lets others in. (If all wait at a barrier, the turn is decided at
/// the release, which is part of ready.)
///
/// So all times follow from `issue(z_i) >= issue(z_(i-1)) + 1`, `issue(x) >= start(p) + init(p) + lat(p)` for p
/// of the same warp that x waits for, `start(x) >= issue(x)`, `start(x) >= start(y) + init(y)` for the y
/// before x on the same unit, of any warp, and from what is in flight when the section begins,
/// all of it at G at the latest (as for [`Srr`]). Take the last `done` of own and a longest path to it. It
/// visits instructions in the order of their issue, some only by issue or only by start. Leave each
/// instruction with the weight of the edge that leaves it: 1 to the next issue, init on its unit,
/// init + lat to one that waits for it, and init + lat at the very end, which is own's.
///
/// Look at the instructions of one warp W on the path, in program order. After x, the next one
/// of W is one that waits for x, with weight init + lat of x; or else it is some later one x', with
/// weight 1 or init of x. In the serial run of W, `start(x') >= start(x) + init(x)` in the second case,
/// and `start(x') >= start(x) + init(x) + lat(x)` in the first. The last instruction of W on the path
/// contributes at most its init, which ends by S(W) in the serial run, or, if W is own, init + lat, which
/// end by S'(W). So W's weights sum to at most S(W), own's to S'(own). QED
///
/// *Several sub-cores.* (1) holds of each sub-core. Where no shared unit is used from two sub-cores in the
/// section, no edge of the graph leads from one to another, and the sum is over the warps of own's
/// sub-core. Otherwise it is over all warps of the block: on a shared unit y may be of another
/// sub-core and issue in the same cycle as x, but the path still visits the instructions of *one*
/// warp in program order, which is all that the sums use.
///
/// It is the sum of everything that every warp might ever wait for by itself: safe, and far above what
/// happens where many warps wait for long latencies at the same time. The slack: a wait of one warp
/// spans a turn of every other, which the sum does not know.
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

    fn policy(&self) -> Option<SchedulerKind> {
        Some(SchedulerKind::Gsrr)
    }

    fn applicable(&self, context: &Context) -> Result<(), NotApplicable> {
        only_for(&SchedulerKind::Gsrr, Claim::Gsrr, context)
    }

    fn warp_values(&self, section: &SectionAnalysis, values: &mut Vec<BoundValue>) {
        serial_sum(section, values);
    }
}

fn serial_sum(section: &SectionAnalysis, values: &mut Vec<BoundValue>) {
    let of = |warp: WarpId| &section.warps()[warp.index()];
    let of_core = by_sub_core(section, |warp| of(warp).serial);
    let of_all: Cycles = of_core.iter().copied().sum();
    let met = meet(section);
    values.clear();
    values.extend(section.ids().map(|warp| {
        let sum = if met { of_all } else { of_core[section.sub_core(warp)] };
        BoundValue::new(sum - of(warp).serial + of(warp).serial_end)
    }));
}

fn only_for(kind: &SchedulerKind, claim: Claim, context: &Context) -> Result<(), NotApplicable> {
    if context.scheduler != *kind {
        return Err(NotApplicable::new(format!("it is for policy `{kind}`, not `{}`", context.policy)));
    }
    context.one_aligned_block(claim)
}
