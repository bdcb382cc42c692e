//! RBB, the bound of launches whose blocks are resident together.

use super::claim::Claim;
use super::context::{Applicable, Context, NotApplicable};
use super::contract::{Bound, Scope, Standing};
use super::section::SectionAnalysis;
use super::sharing::Loads;
use super::value::BoundValue;
use crate::base::Cycles;

/// The resident-blocks bound, for launches of which several blocks are on an SM at a time, or several SMs
/// share the blocks. It bounds the launch, from the start of its first block to the end of its last. The
/// barriers of different blocks do not line up, so it says nothing of a single block.
///
/// n blocks, R places on each of M SMs; a block goes to the first place that is free and leaves it when all of
/// it is done. A *stage* is a section of a block in which some warp has an instruction. For a warp w in a stage
/// let C(w) be its time alone from an empty machine, S(w) the sum of the inits of its instructions, and a(w)
/// the most that one of its issues, alone, comes after the inits of what it issued before, at least 0. Of a block b,
///
/// ```text
/// S_b = the sum of all S(w)
/// L_b = the sum over its stages of the largest load of a sub-core            S_b with one sub-core
/// D_b = the sum over its stages of the largest C(w) - S(w)                   may be negative
/// H_b = the largest, over its stages, of (the sum so far, of D_b, before the stage)
///       + the largest a(w) or C(w) - S(w) of the stage;                      at least 0
/// ```
///
/// The *load* of a sub-core in a stage is the sum of the inits of its own warps' instructions and of the
/// other warps' on shared units. Then
///
/// ```text
/// n <= R,  M = 1:   RBB = L + X(s_b - 1) + D_b,   largest over the blocks b
/// n <= R M:         the largest RBB of the SMs: block i is on SM i mod M
/// n > R,   M = 1:   RBB = L + X(K) + (sum of all H_b) / R + max_b (D_b - H_b / R)
/// n > R M, M > 1:   RBB = (L + X(N / R)) / M + (sum of all H_b) / (R M) + W + A
/// ```
///
/// where L is the sum of all L_b (of the SM's blocks, in the first two lines), s_b the number of stages of b, N
/// that of all blocks and s the largest; `K = (N - s) / R + s - 1`; W is the sum of the R largest S_b; A is the
/// largest, over the blocks, sum over the stages of the largest C(w).
///
/// X(k) is what work of other sub-cores adds because the warp that is waited for may be on another sub-core in
/// each stage; it is 0 with one sub-core, and where all warps of a place are on the same one. A change of
/// sub-core can add, of each other block, the part of a stage that only the new sub-core sees. The *repeats* of a stage are the
/// inits of each sub-core's warps on private units, but for the largest of these, which is in L; they add up to what the stage
/// has in S_b and not in L_b. Let `left` be the most that a block's earlier stages may have queued on the
/// private units of a sub-core when one begins. The first two lines add, for each other block, its
/// k largest repeats and k times its largest `left`, at most S_b - L_b; if s_b is 1, `L + X` is the largest sum of
/// loads of one sub-core. The other lines add k times the sum over R - 1 blocks of their largest repeat and `left`, those
/// with the largest, at most the sum of all `S_b - L_b`. Quotients are exact; the value is rounded down at the end.
///
/// # Premises
/// A work-conserving policy; barriers of all warps; the paper model, with any number of sub-cores and
/// shared units, bank conflicts, write-after-write hazards and exits that issue. Several SMs
/// exist on the detailed engine only; it has to have nothing switched on. Every block must fit the same
/// number of places. What has queues that are bounded, dual issue, fetch, a load/store unit, caches, launch
/// latencies or partial barriers is not covered.
///
/// With one block at a time on one SM each block is judged by itself ([`Iwb`](super::Iwb) and the bounds
/// below it), and this one is left out. What it says of a single block is IWB with `c(y) = init(y)` throughout.
///
/// # Proof
/// In [`super::proofs::rbb`]. A sibling with D_b in place of H_b does not hold, nor does one without X: see
/// [`super::failed`].
///
/// # The slack
/// Every init of every instruction counts, as if no two units ever initiated at the same time: that is
/// what others can make of it, but few schedules do. On several SMs the last wave counts in full; with sub-cores X
/// counts what other sub-cores have almost as if there were one, wherever blocks have barriers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rbb;

impl Bound for Rbb {
    fn name(&self) -> &'static str {
        "rbb"
    }

    fn summary(&self) -> &'static str {
        "resident-blocks bound, proved, of launches whose blocks are resident together: all initiations, plus what blocks wait alone, shared by the places"
    }

    fn standing(&self) -> Standing {
        Standing::Proved
    }

    fn scope(&self) -> Scope {
        Scope::Launch
    }

    fn applicable(&self, context: &Context) -> Result<Applicable, NotApplicable> {
        context.resident_premises(Claim::Rbb)
    }

    fn warp_values(&self, section: &SectionAnalysis, values: &mut Vec<BoundValue>) {
        let loads = Loads::new(section);
        values.clear();
        values.extend(section.ids().zip(section.warps()).map(|(id, warp)| {
            let own: Cycles = section.uses(id).iter().map(|used| used.init).sum();
            BoundValue::new(warp.isolated + loads.of(section.sub_core(id)) - own)
        }));
    }
}
