//! SWB, the sure-window bound, and its proof.

use super::claim::Claim;
use super::context::{Context, NotApplicable};
use super::section::SectionAnalysis;
use super::sharing::FromOthers;
use super::value::{Bound, BoundValue, Standing};
use crate::base::{Cycles, UnitId, WarpId};
use crate::machine::SubCores;

/// The sure-window bound. Cut each warp's section into *sure runs*, in which every instruction
/// after the first is surely ready one cycle after its predecessor issued, in every schedule
/// ([`SureRuns`](super::SureRuns) says how that is known). For a run r of n(r) instructions let
///
/// ```text
/// h_f(r) = the largest, over the ends s of r and the empty one, of (inits of s on f) - |s|
/// H(r)   = the largest h_f(r) over the units f that w uses in its section, at least 0
/// SWB(w) = C(w) + sum over the runs r of all other warps of ( n(r) + H(r) )
/// SWB    = max over w of SWB(w)
/// ```
///
/// per section; the sections' values are added up. C(w) is the time w's section takes alone from an
/// empty machine. h_f(r) is what the run leaves queued on f if it issues back to back on an idle
/// machine: `h := max(0, h + init - 1)` for an instruction on f and `h := max(0, h - 1)` for any
/// other, along the run, is the same number.
///
/// SWB holds for any work-conserving policy. It is at most IWB, warp by warp: `h_f(r)` is at most
/// the sum of `init - 1` over the instructions of r on f. Cutting a run further never lowers it,
/// since `h_f(ps) <= h_f(p) + h_f(s)`; so it is safe to take an instruction for not sure.
///
/// # Model
/// As in [`Iwb`](super::Iwb): in-order warps, one issue per cycle, work conservation, FIFO units,
/// and releases that come after everything of the sections before has issued and no later than it
/// is done.
///
/// # Proof
/// Take a warp w ("own") in a section; all other warps are "other". For the moment, only this
/// section exists.
///
/// *Own's remaining time.* At the beginning of cycle t, before anything issues in it, let x be
/// own's next instruction, `φ_f >= t` the cycle from which unit f can start another initiation, and
/// `ρ_r` the cycle from which register r is available. Of own's constraint graph (the constraints
/// `issue(x) >= issue(x before) + 1`, `issue(x) >= done(p)` for those p that x waits for,
/// `start(x) >= issue(x)`, `start(x) >= start(x') + init(x')` for own's x' before on the same unit)
/// consider the longest paths to any `done` of own:
///
/// * `α` from the issue of own's next instruction,
/// * `γ_f` from the start of own's next instruction on f, minus infinity if there is none,
/// * `β_r` from the moment r's present value is available to an instruction that waits for it,
///   minus infinity if none does.
///
/// Lengths of paths are durations that do not depend on the schedule, so these depend only on how
/// many instructions own has issued. If from t on no other instruction issued, own would be
/// finished at
///
/// ```text
/// F(t) = the largest of  t + α,  ρ_r + β_r,  φ_f + γ_f,  and the dones of what it has issued.
/// ```
///
/// *Steps of own.* If own issues x on unit g in cycle t, x starts at φ_g and:
/// `α >= 1 + α'`, where a prime means afterwards; `γ_g >= init(x) + γ_g'`;
/// `γ_g >= init(x) + lat(x) + β_r'` for the registers x writes; `γ_g >= init(x) + lat(x)`.
/// Each is a longest path that begins with the first edge named.
///
/// *Active runs.* Call a run of others active from the first issue of its instructions up to its
/// last. By its definition, in each cycle between, own excepted or not, its warp is ready; so by
/// work conservation some instruction issues: *while a run is active no cycle goes without an
/// issue*. Every other instruction belongs to a run, hence issues while that run is active.
///
/// Take a maximal stretch of cycles, each within an active run, beginning with cycle a. Let
/// `T(t) = F(a) + sum of ( n(r) + H(r) )` over the runs activated in the stretch up to and including
/// cycle t. Let m be the number of instructions not yet issued, and `M_f` the sum of their inits on
/// f, over all active runs; let K be the sum of the H of the runs activated in the stretch, and c
/// the number of instructions own has issued since a. Then
///
/// ```text
/// (0)  M_f <= m + K     for each f that own uses,
/// ```
///
/// because an active run has an end s left, with inits on f of at most `|s| + h_f(r) <= |s| + H(r)`.
/// Claim: at the beginning of each cycle t of the stretch, once the runs that begin in it are
/// counted as active, and at its end,
///
/// ```text
/// (1)  t + m + K + F(a) - a - c  <=  T
/// (2)  ρ_r + β_r <= T for each r,   and the dones of what own has issued are <= T
/// (3)  φ_f + M_f + γ_f <= T    for each f
/// ```
///
/// We need in addition that `(4) α <= F(a) - a - c` and `γ_f <= F(a) - a - c`: from the state at a,
/// c steps of program order lead to the issue of own's present next instruction, and further steps
/// of program order to its next instruction on f; own does not issue before a.
///
/// * *At a*, with no run activated yet: m, K, c and M_f are 0; (1) is `F(a) <= F(a)`, (2) and (3) are
///   among the terms of F(a).
/// * *A run r is activated*: T grows by `n(r) + H(r)`. In (1), m grows by n(r) and K by H(r). In (3),
///   M_f grows by the inits of r on f, at most `n(r) + h_f(r)`. If own does not use f any more,
///   γ_f is minus infinity; if it does, `h_f(r) <= H(r)`.
/// * *An instruction y of an active run issues on g in cycle t*: (1): t grows by one, m falls by one.
///   (2): nothing changes. (3) for g: `φ_g' = φ_g + init(y)`, and M_g falls by init(y). (3) for another f:
///   if φ_f > t, nothing changes. If φ_f = t, then `φ_f' = t + 1`, and by (0), (4) and (1)
///   `t + 1 + M_f + γ_f <= t + 1 + m' + K + F(a) - a - c <= T`. (Where own never uses f, γ_f is minus
///   infinity.)
/// * *Own issues x on g in cycle t*: (1): t and c grow by one. (2): a register that x writes becomes
///   available at `φ_g + init(x) + lat(x)`, and `φ_g + init(x) + lat(x) + β_r' <= φ_g + γ_g <= T`; likewise
///   x's own done. (3) for g: `φ_g' = φ_g + init(x)` and `init(x) + γ_g' <= γ_g`. (3) for another f: as
///   before, with c in place of m: if φ_f = t, `t + 1 + M_f + γ_f <= t + 1 + m + K + F(a) - a - c' <= T`.
///
/// So (1) to (3) hold until the stretch ends, at the beginning of a cycle e, with m = 0 and all
/// `M_f = 0`. By (1), (4): `e + α <= e + F(a) - a - c <= T`. With (2) and (3), `F(e) <= T`: over a stretch F
/// grows by at most `n(r) + H(r)` for each run in it. Between stretches no other instruction issues
/// and, by work conservation, own issues as soon as it is ready: F does not change. Each run is
/// active in one stretch. Hence own is finished by
///
/// ```text
/// F(first cycle) + sum over all runs of others of ( n(r) + H(r) ).
/// ```
///
/// *Sections.* Claim: everything of the sections up to k is done by `G(k)`, the sum of the SWBs of the
/// sections up to k. Induction; let `G = G(k-1)`, and let own have instructions in section k. Let ρ be
/// the release into section k, for the first section cycle 0. As for [`Iwb`](super::Iwb), (b), `ρ <= G`,
/// since a release is the done of a barrier of an earlier section or one cycle after an issue of an
/// earlier section, whose done is no earlier. At ρ nothing of section k has issued. What has been
/// issued belongs to earlier sections, so it is done by G: `φ_f <= max(ρ, G) = G` and `ρ_r <= G`. So F(ρ) is at most
/// what it would be if nothing of own could happen before G and everything were free at G, which is
/// `G + C(w)`. Until own has issued its last instruction of section k, others issue nothing of
/// section k+1: the release into it waits for own's barrier, or for one cycle after own's last issue if
/// it finishes. They issue nothing of earlier sections either. So all that can delay own is in section k, and the argument
/// above, started at ρ, bounds own's dones in section k by `G + SWB(w)`. (A run is a stretch of one
/// section; what is surely ready is so in every schedule, with whatever is in flight from before.)
/// QED.
///
/// # What the proof covers
/// Everything that it covers for IWB: WAW hazards (one more reason to wait, in C(w) and for being
/// surely ready), ops of different timing on one unit and timing per dynamic instruction (inits
/// enter one by one, in order), barriers on any unit with anything in flight, warps that finish,
/// exits that issue, asynchronous copies. It bounds each warp by itself.
///
/// With runs of one instruction it is another proof of IWB.
///
/// # Several sub-cores
/// ```text
/// SWB(w) = C(w) + sum over the runs r of the other warps of w's sub-core of ( n(r) + H(r) )
///               + sum over the instructions y of other sub-cores, on a shared unit that w uses, of init(y)
/// ```
///
/// *Sure runs* know that other sub-cores can queue on a shared unit in the same cycle: such a unit has a
/// queue even if all its inits are 1 ([`SureRuns`](super::SureRuns)). All else that they use is of
/// one warp.
///
/// *Proof.* Call an instruction of another sub-core *foreign*, and own's sub-core the home. "Other" is
/// from here on other and at home; runs, m, `M_f`, K and work conservation are of the home. F, α, β and γ
/// are as before; `φ_f >= t` is of the unit as own sees it, shared or not. Within a cycle first the
/// foreign instructions of lower sub-cores issue, then the home decides and t advances, then those of
/// higher sub-cores issue: the order in which a shared unit serves them. A foreign y that issues on f
/// raises φ_f by at most init(y): a lower one starts at φ_f, a higher one at the latest at φ_f, which
/// has been raised to t + 1 already. It changes nothing else. So with `T := T + init(y)` if own uses f in
/// the section (and where it does not, γ_f is minus infinity)
///
/// * (1) and (2) keep, since only their right sides change; so do (0) and (4), which do not speak of
///   φ at all; (3) for f keeps, since φ_f and T both grow by init(y);
/// * between stretches F grows by at most init(y): `φ_f + γ_f` does, the other terms stay. And the home's
///   decision does not let F grow there: own issues if it is ready. Then `t + 1 + α' <= t + α`; what x
///   writes and `φ_g' + γ_g'` are within `φ_g + γ_g`; and where φ_f rises from t to t + 1,
///   `γ_f <= α'`, by program order. If own is not ready, some ρ_r it waits for is at least t + 1, and
///   `t + 1 + γ_f <= t + 1 + α <= ρ_r + β_r`.
///
/// So F grows in all by at most the sum above. *Sections*: a release comes after everything of the
/// section before has issued, on all sub-cores, so at ρ nothing of section k has issued, foreign or not,
/// and what has been issued is done by G; and until own has issued its last instruction of section k
/// no sub-core issues anything of section k+1. So foreign instructions that can delay own are of section k,
/// and each is counted once. QED.
///
/// It is still at most IWB, whose foreign term is the same.
///
/// The slack: a slot that others use while own waits for its own results counts as if it delayed
/// own; H counts a run's backlog in full even where own never comes to the unit after it; and a
/// producer on a unit with a queue is never surely done before something has waited for it.
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

    fn applicable(&self, context: &Context) -> Result<(), NotApplicable> {
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
        let mut same: [Option<(WarpId, Cycles)>; SubCores::MAX] = [None; SubCores::MAX];
        values.clear();
        for (own, warp) in section.ids().zip(section.warps()) {
            let core = section.sub_core(own);
            let with_own = || section.ids().filter(|&other| section.sub_core(other) == core);
            let used = |unit: UnitId| section.unit_use(own, unit).is_used();
            let uses_as = |other: WarpId| {
                let pairs = section.uses(own).iter().zip(section.uses(other));
                pairs.into_iter().all(|(a, b)| a.is_used() == b.is_used())
            };
            let of_all = match same[core] {
                Some((other, sum)) if uses_as(other) => sum,
                _ => with_own().map(|other| section.runs(other).backlog(used)).sum(),
            };
            same[core] = Some((own, of_all));
            let backlog = of_all - section.runs(own).backlog(used);
            let slots_of_others = Cycles::new(slots[core] - warp.instructions);
            let local = warp.isolated + slots_of_others + backlog;
            values.push(BoundValue::new(local + from_others.on(own)));
        }
    }
}
