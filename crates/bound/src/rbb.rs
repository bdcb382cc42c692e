//! RBB, the bound of launches whose blocks are resident together.

use super::claim::Claim;
use super::context::{Applicable, Context, NotApplicable};
use super::contract::{Bound, LaunchFigures, Scope, Standing};
use super::parts::BoundPart;
use super::section::SectionAnalysis;
use super::sharing::Loads;
use super::value::BoundValue;
use warpbound_core::base::Cycles;

/// The resident-blocks bound, for launches of which several blocks are on an SM at a time, or whose
/// blocks are spread over several SMs, or whose blocks are placed at a cost. It bounds the launch,
/// from its start to its end. The barriers of different blocks do not line up, so the bound makes
/// no statement about a single block.
///
/// Let the launch have n blocks, and let each of M SMs have R places (CTA slots); a block goes to
/// the first place that is free and leaves it when the whole block is done. A *stage* is a section
/// of a block in which some warp has an instruction. For a warp w in a stage let C(w) be its time
/// alone from an empty machine, and S(w) the sum of the inits of its instructions. Let a(w) be the
/// most by which one of its issues, alone, comes after the sum of the inits of its earlier
/// instructions, at least 0. For a block b let
///
/// ```text
/// S_b = the sum of all S(w)
/// L_b = the sum over its stages of the largest load of a sub-core            S_b with one sub-core
/// D_b = the sum over its stages of the largest C(w) - S(w)                   may be negative
/// H_b = the largest, over its stages, of (the terms of D_b of the earlier stages, summed)
///       + the largest a(w) or C(w) - S(w) of the stage;                      at least 0
/// ```
///
/// The *load* of a sub-core in a stage is the sum of the inits of its own warps' instructions and
/// of the other warps' on shared units. Then
///
/// ```text
/// n <= R,  M = 1:   RBB = L + X(s_b - 1) + D_b,   largest over the blocks b
/// n <= R M:         the largest RBB of the SMs: block i is on SM i mod M
/// n > R,   M = 1:   RBB = L + X(K) + (sum of all H_b) / R + max_b (D_b - H_b / R)
/// n > R M, M > 1:   RBB = (L + X(N / R)) / M + (sum of all H_b) / (R M) + W + A
/// ```
///
/// where L is the sum of all L_b (of the SM's blocks, in the first two lines), s_b the number of
/// stages of b, N the number of stages of all blocks and s the largest s_b;
/// `K = (N - s) / R + s - 1`; W is the sum of the R largest S_b; A is the largest A_b, where A_b is
/// the sum over the stages of b of the largest C(w).
///
/// X(k) is the work of other sub-cores that is added because, in each stage, the warp that is done
/// last may be on another sub-core; it is 0 with one sub-core, and if all warps of a place are on
/// the same one. A change of sub-core can add, for each other block, the part of a stage that
/// delays only the new sub-core. The *repeats* of a stage are the inits of each sub-core's warps on
/// private units, except the largest of these, which is part of L; they add up to the part of the
/// stage's S_b that is not in L_b. Let `left` be the most work that a block's earlier stages may
/// have queued on the private units of a sub-core when a stage begins. The first two lines add, for
/// each other block, its k largest repeats and k times its largest `left`, at most S_b - L_b; if
/// s_b is 1, `L + X` is the largest sum of loads of one sub-core, or, if the blocks of an SM are not
/// all placed in the same cycle, the sum of each block's largest load. For the other lines, consider the
/// sum of a block's largest repeat and its `left`. The lines add k times the total of the R - 1
/// largest of these sums, at most the sum of all `S_b - L_b`. Quotients are exact; the value is
/// rounded down at the end.
///
/// With bounded queues, C(w) and a(w) are the times of a lone warp without queues
/// ([`WarpSection::unqueued`](super::WarpSection::unqueued)). With dual issue they are those of a
/// warp that issues one instruction per cycle. What launching costs
/// ([`Launch`](warpbound_core::machine::pipeline::Launch)) is added: `start` to D_b, H_b and A_b of
/// each block, one cycle more if the block has no instructions, and `refill` if n > R M; `first` and `end` to RBB; and
/// `(m - 1) / blocks_per_cycle`, rounded down, where m is the number of blocks that are on the SM
/// in the first two lines, and n in the others, and `(n - 1) / total_blocks_per_cycle`. If the
/// blocks of an SM are not all placed in the same cycle, their sub-cores are not known in advance,
/// and a block with s_b = 1 has the bound `L + D_b`.
///
/// # Premises
/// A work-conserving policy; barriers of all warps; the paper model, with any number of sub-cores
/// and shared units, bank conflicts, write-after-write hazards and exits that issue; and of the
/// detailed engine several SMs, dual issue, rotation, bounded queues, write-back, results that
/// nothing waits for, and launch costs. Every block must fit the same number of places. Machines
/// with fetch, an operand collector, result buses, a load/store unit or random placement
/// are not covered, and neither are partial barriers.
///
/// If one block at a time runs on one SM and launching costs nothing, each block is judged by
/// itself ([`Iwb`](super::Iwb) and the bounds that are never above it), and this bound is omitted.
/// For a single block, RBB is IWB with `c(y) = init(y)` throughout.
///
/// # Proof
/// See [`super::proofs::rbb`]. A variant with D_b in place of H_b does not hold, nor does one
/// without X: see [`super::failed`].
///
/// # The slack
/// Every init of every instruction counts, as if no two units ever initiated at the same time.
/// Other warps can prevent all overlap, but in few schedules they do. On several SMs the last wave
/// counts in full. With sub-cores, if blocks have barriers, X counts the work of other sub-cores
/// almost as if there were only one.
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
            BoundValue::new(warp.lone().isolated + loads.of(section.sub_core(id)) - own)
        }));
    }

    fn parts_of_launch(&self, launch: &LaunchFigures) -> Vec<BoundPart> {
        launch.resident.resident_parts()
    }
}
