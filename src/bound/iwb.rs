//! IWB, the initiation-work bound, and its proof.

use super::claim::Claim;
use super::context::{Context, NotApplicable};
use super::section::{SectionAnalysis, UnitUse};
use super::sharing::FromOthers;
use super::value::{Bound, BoundValue, Standing};
use crate::base::Cycles;

/// The initiation-work bound:
///
/// ```text
/// IWB(w) = C(w) + sum over the instructions y of all other warps of c(y)
/// c(y)   = init(y) if w itself uses the unit of y, else 1
/// IWB    = max over w of IWB(w)
/// ```
///
/// per section; the sections' values are added up. C(w) is the time w's section takes alone from an
/// empty machine. It holds for any work-conserving policy. With per-unit sums it costs warps times
/// units.
///
/// # Model
/// What the proof uses, and nothing else:
///
/// * *In order.* A warp issues its instructions in program order, one cycle apart at least; in each
///   cycle at most one instruction issues.
/// * *Ready.* From some cycle on, own's next instruction x is ready: the largest of 0, one cycle
///   after own's previous issue, the `done` of certain earlier instructions p of own, and, if
///   own's previous instruction is a barrier, the release. Which p these are depends on the
///   program only: the last writer of each register read and, with the WAW hazard, of each
///   register written. That "last writer" is right although a `done` may come earlier than that of
///   an older write: issue sets the availability of a register to the new `done`.
/// * *Work conservation.* If some warp is ready in a cycle, some instruction issues in it.
/// * *FIFO units.* A unit serves in order of issue: `start = max(issue, end of the initiation
///   before)`. An instruction occupies its unit in `[start, start + init)`, `init >= 1`, and is
///   done at `start + init + lat`. init and lat belong to the dynamic instruction.
/// * *Barriers.* A release of section k comes after every unfinished warp issued its barrier of
///   section k and after the last issue of every warp that finished in k; and it is the later of
///   the latest `done` of these barriers and one cycle after those last issues.
///
/// # Proof
/// Fix a schedule. Claim: everything of sections up to k is done by `G(k)`, the sum of the IWBs of
/// the sections up to k. Induction; let `G = G(k-1)`. Then
///
/// * (a) Anything that is still waiting for its unit, initiating, or not done at a cycle
///   `t >= G`, and any instruction that issues at `t >= G`, belongs to section k or later, since
///   `done > t`.
/// * (b) The release into section k is at most G: it is the `done` of a barrier of an earlier
///   section, or one cycle after the issue of an instruction of an earlier section, whose `done`
///   is no earlier.
/// * (c) What issued before some instruction of section k belongs to section k or earlier: nothing
///   of k+1 issues before its release, hence not before all of section k has issued.
///
/// Take a warp with instructions in section k ("own"; all the rest is "other") and among these
/// instructions the one that is done last. Walk back in time from its `done`, which is
/// `init + lat` (the first *weight*) after its start, by the following moves. Each move goes from
/// an instant to an earlier one and accounts for every cycle between, either by a weight of own or
/// by charging the cycle to an instruction of another warp. *Stop when an instant `<= G` is
/// reached*; of the move that crosses G only the cycles from G on count.
///
/// * **S1**: at `start(x) > issue(x)`, x on unit f. Let x' be own's previous instruction on f, of
///   any section. If f initiates without a gap from start(x') to start(x): go to start(x'), with
///   weight init(x'), and charge each cycle of `[start(x') + init(x'), start(x))` to the
///   instruction that f initiates in it, which is other's.
/// * **S2**: at `start(x) > issue(x)` otherwise: go to issue(x), and charge each cycle between to
///   the instruction that f initiates in it. There is one in each such cycle, because x waits for
///   nothing but f, and it is other's: between a gap of f after x' and x there is nothing of own.
/// * **S0**: at `start(x) = issue(x)`: go to issue(x), weight 0.
/// * **I**: at issue(x). Let r be the cycle from which x is ready. In each cycle of `[r, issue(x))`
///   own is ready and does not issue, so some y of another warp does: charge the cycle to the issue
///   of y. Then, if `r > G`, r is not a release (b) and not 0: it is one cycle after the issue of
///   own's previous instruction (go there, weight 1), or the `done` of an earlier instruction p (go
///   to start(p), weight init(p) + lat(p)).
///
/// *The weights sum to at most C(w).* By (a), an instruction of own at which a move of I ends
/// belongs to section k, as does an x' whose initiation reaches beyond G; if it does not, the walk
/// has stopped and its weight does not count. So the moves, read forward, are a path of the
/// constraints `issue(x) >= issue(previous) + 1`, `issue(x) >= start(p) + init(p) + lat(p)`,
/// `start(x) >= issue(x)`, `start(x) >= start(x') + init(x')` of section k. The lone warp's times in
/// that section are the least solution of these constraints from an empty machine, that is, their
/// longest paths, and C(w) is the longest of all.
///
/// *The charged cycles are distinct*, since the moves account for disjoint intervals. Every charged
/// y issued before the instruction at which it was charged, and is not done at the charged cycle,
/// which is at least G; so by (a) and (c) it belongs to section k. It remains to show that the
/// charges to all y of section k number at most the sum of c(y).
///
/// If own has no instruction on y's unit in section k, no S move takes place on that unit, and only
/// the cycle issue(y) can be charged: at most `1 = c(y)`.
///
/// Otherwise `c(y) = init(y)`. Call the *busy interval* of y the longest interval without a gap in
/// which its unit f initiates, up to y's own initiation.
///
/// * (i) `start(y) = issue(y)`. The cycle issue(y) is then the first of y's initiation. All charges
///   to y are distinct cycles of `[start(y), start(y) + init(y))`.
/// * (ii) `start(y) > issue(y)`, and the busy interval contains an instruction of own before y.
///   Suppose some cycle of y's initiation is charged. This happens in an S move at some x of own,
///   and y is initiated without a gap before x. Own's previous instruction x' on f is not before
///   the one in the busy interval, so f is busy from x' to x: the move is S1. Since y's initiation
///   is charged, x' was initiated before y, hence issued before y. From start(x') the walk goes on
///   by S moves, each to the start of an instruction of own that issued even earlier or to the
///   issue of the present one, until it reaches an issue, at a cycle before issue(y), or stops.
///   These moves charge no issues; moves before ended at start(x) or later, after issue(y); moves
///   after charge cycles before issue(y) only. So the cycle issue(y) is not charged to the issue of
///   y. Hence y is charged either 1 cycle for its issue or at most init(y) cycles of its
///   initiation, never both.
/// * (iii) `start(y) > issue(y)`, and the busy interval contains only others before y. In the cycle
///   issue(y) the unit initiates some z of another warp before y in the interval. If the cycle
///   issue(y) was charged to y, *move* that charge to z. By (a) and (c) z belongs to section k, it
///   is on f, and it has only others before it in its busy interval: z is in case (i) or (iii), so
///   nothing is ever moved to a y of case (ii). After all moves, what a y of case (iii) is charged
///   are distinct cycles of its own initiation (its own issue's charge was moved away), and what a
///   y of case (i) is charged still are.
///
/// In each case y ends up with at most init(y) cycles. So own's part of section k is done by
/// `G + IWB(w)`, for every w, and everything of section k by `G(k)`. This also bounds each warp by
/// itself: [`BoundReport::warps`](super::BoundReport::warps). QED.
///
/// # What the proof covers
/// * **WAW hazards**: one more kind of p in move I, present in the lone warp's constraints too.
/// * **Ops with their own init on a shared unit, and timing per dynamic instruction** (generic
///   accesses, bank conflicts): init and lat appear per instruction only; FIFO order, not equal
///   length, is what (ii) and (iii) use. It matters that they do not depend on the schedule.
/// * **Barriers with instructions in flight across the release**: (a) and the stop at G. The
///   instruction x' of S1 may belong to an earlier section; (ii) needs that it is considered.
/// * **The barrier unit**: every warp that reaches the barrier uses it, so its instructions count
///   with their init. Nothing is special about it, also if the barrier runs on a unit that others use,
///   with any init and lat; the barrier's own `done` is part of C(w).
/// * **Warps that finish**: (b) and (c) are why a release waits for one cycle after their last
///   issue. With `exit_issues` the exit is an instruction like any other. Warps that finished take
///   part in later sections with nothing.
/// * **Asynchronous copies**: a register per commit group, written and read like others.
/// * **Arriving without waiting** (`Flow::Arrive`) issues like any instruction; but who arrives
///   makes others' releases depend on it, which (b) and (c) do not know. Such blocks have
///   `partial_barriers`, and the bound is not applicable.
///
/// It does not cover policies that leave a slot idle while a warp is ready (move I fails), blocks
/// that are resident together (their barriers are not aligned, so (a) to (c) fail), units that
/// reorder, and timing that depends on the schedule, such as caches.
///
/// # Several sub-cores
/// Own's sub-core is *home*; instructions of another are *foreign*. A unit is the one that own uses: its
/// sub-core's, or a shared one, which serves by issue cycle, then by sub-core.
///
/// ```text
/// c(y) = init(y) if own itself uses the unit of y (at home, or shared)
///        else 1 if y is at home, 0 if y is foreign
/// ```
///
/// The proof goes through word by word, "before" on a shared unit being the order in which it
/// serves. What has to be looked at again:
///
/// * *Issue charges* (move I) go only to instructions at home: own is ready, so by work conservation
///   its sub-core issues some y. So a foreign y is charged cycles of its own initiation, by S
///   moves, and nothing else but what (iii) moves to it. If own does not use y's unit, that is
///   nothing.
/// * *(a) to (c)* are about the block. On all sub-cores nothing of section k+1 issues before the
///   release, which is after the last issue of section k on any sub-core; so (c) holds also of what
///   issued in the same cycle and was served before.
/// * *S moves*: in each cycle of `[issue(x), start(x))` the unit initiates something served before x,
///   also if that issued in the same cycle as x: the first of the busy interval starts when it
///   issues, which is not after issue(x).
/// * *(i)* as before; a foreign y has no issue charge to begin with.
/// * *(ii)* matters only if y has an issue charge, hence is at home. Then x' and y are of one
///   sub-core, so "x' was served before y" means that it issued in an *earlier* cycle, and the walk
///   passes issue(y) without charging issues, as before.
/// * *(iii)* likewise for y at home. The unit is busy in cycle issue(y) with some z served before y, as
///   for S moves; z may be foreign and have issued in that very cycle. z belongs to section k, is on
///   a unit that own uses, and has only others before it in its busy interval; so it is in case (i) or
///   (iii), and the moved charge is a cycle of its own initiation: `c(z) = init(z)` suffices, foreign
///   or not. If z is at home, its own issue's charge was moved away from it in turn, in case (iii).
///
/// A section ends on all sub-cores when its release comes; so its value is the maximum over all warps of
/// the block, and sections add up as before.
///
/// # Bounded queues
/// On a machine on which an instruction does not issue while its unit's queue is full
/// (`pipeline.queue`), C(w) is replaced:
///
/// ```text
/// IWB(w) = Q(w) + sum over the instructions y of all other warps of c(y)
/// ```
///
/// Q(w) is what w's section takes alone without any queues: each instruction issues when w's initiations
/// on its unit are over, and not before it is ready ([`WarpSection::unqueued`]). It does not depend on how
/// long the queues are, and is C(w) at least.
///
/// [`WarpSection::unqueued`]: super::WarpSection::unqueued
///
/// *Why not C(w).* A queue full of others' instructions makes own wait for its own initiations, which
/// the lone warp overlaps. Queues of one; f0 and f1 take 20 cycles to initiate, s0 takes one, on the
/// unit of f0. Own is f0, s0, f1, all independent: alone, s0 waits in the queue, f1 issues in cycle 2, and
/// C(w) is 22. Another warp has a single s0. If that issues in cycle 1, the queue is full until
/// cycle 20; own's s0 issues then and its f1 in cycle 21, which ends at 41. Q(w) is 41, so the bound is
/// 42 (`tests/bound/queues.rs`).
///
/// *Model.* As above, but for work conservation, which now is: if in a cycle some warp of a sub-core is
/// ready and the queue of its next instruction's unit is not full, some instruction of the sub-core
/// issues. A queue, one for each instance of a unit, is full if it holds some number (one at least) of
/// instructions that have not started; so its unit initiates in that cycle.
///
/// *Proof.* The walk is the one above with another move from issue(x), x on unit f. Go back through the
/// cycles t of `[r, issue(x))`, the latest first:
///
/// * **I1**: in t some y of home issues: charge t to the issue of y.
/// * **I2**: otherwise the queue of f is full, and f initiates some z in t. If z is own's: go to start(z),
///   with weight `t + 1 - start(z) <= init(z)`, and leave the move.
/// * **I3**: z is other's and its busy interval contains an instruction of own, of which x' is the last
///   before z: go to start(x'), with weight init(x'), charge each cycle of `[start(x') + init(x'), t]` to
///   the instruction that f initiates in it, which is other's, and leave the move.
/// * **I4**: z is other's and its busy interval contains nothing of own before z: charge t to the
///   initiation of z.
///
/// At r go on as in move I. *The weights sum to at most Q(w)*: the walk is a path of the constraints
/// above and of `issue(x) >= start(z) + init(z)` for own's earlier z on x's unit, all of which the warp
/// without queues keeps. z and x' issued before x, since x has not issued in t, so (a) and (c) apply to
/// them as to an x' of S1.
///
/// The charged cycles are distinct, and what is charged belongs to section k, as before: y, z, and what
/// f initiates between x' and z all issued before x. That y ends up with at most c(y):
///
/// * A y on a unit that own does not use is charged its issue only: S moves, I3 and I4 charge initiations
///   on units of own.
/// * *(i)* as before.
/// * *(ii)* Suppose some cycle of y's initiation is charged. It is not by I4. If it is by an S move, it is
///   as before. If it is by I3, x' was served before y, and the walk goes on from start(x') as in S1: by S
///   moves, which charge no issues, to an issue at a cycle before issue(y), or stops. What was charged
///   before lies after t, hence after issue(y). So issue(y) is not charged to the issue of y.
/// * *(iii)* as before; what I4 charges are cycles of z's own initiation, and such a z is in case (i) or
///   (iii).
///
/// Several sub-cores change nothing: I1 charges home only, a foreign y has no issue charge, and the queue
/// of a shared unit is full whoever filled it, be it in the same cycle. QED.
///
/// The slack: what others can queue in front of own's few uses of a unit is limited, and a cycle is
/// charged once even if several others initiate in it.
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

    fn applicable(&self, context: &Context) -> Result<(), NotApplicable> {
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
            let alone = warp.unqueued.unwrap_or(warp.isolated);
            values.push(BoundValue::new(alone + interference + from_others.on(id)));
        }
    }
}

/// The sum of c(y) over the instructions of the sub-core's other warps on one unit.
fn charge_of_others(of_all: &UnitUse, own: &UnitUse) -> Cycles {
    if own.is_used() { of_all.init - own.init } else { Cycles::new(of_all.instructions - own.instructions) }
}
