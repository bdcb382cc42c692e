//! LWB, the long-wait bound, and its proof.

use super::claim::Claim;
use super::context::{Context, NotApplicable};
use super::iwb::Iwb;
use super::long_waits::{LongWait, LongWaits};
use super::section::SectionAnalysis;
use super::swb::Swb;
use super::value::{Bound, BoundValue, Standing};
use crate::base::{Cycles, WarpId};

/// The long-wait bound: IWB less the slots that others must use while own waits for its longest
/// latencies, or SWB where that is less.
///
/// While a warp waits for a load, work conservation makes the others issue, and it loses nothing by
/// that. IWB and SWB charge these slots all the same. Some of them cannot be avoided: the others
/// cannot have been waiting since before own's load *and* wait on after own's result, if no
/// instruction takes longer.
///
/// Let D, the long waits (l, k) of a warp and their inside times P be as in
/// [`LongWaits`]: D is the largest `init + lat` of the program among units
/// without a queue, l has it, and k waits for l. Let Q be the most initiation work that all warps
/// together can have queued on one unit at a time, and V = Q + the largest `init + lat` on a unit
/// with a queue (0 if there is no such unit). For each long wait of own
///
/// ```text
/// around = the number of other warps that surely have not issued everything of the section before l
/// room   = D - max(V, 1)                                                     if k follows l directly
///          the smaller of D - max(V, 1) - P and (D - V) / 2 - P - 1          otherwise
/// credit = min(around, room), at least 0
/// LWB(w) = min( SWB(w), IWB(w) - the sum of the credits of w's long waits )
/// LWB    = max over w of LWB(w)
/// ```
///
/// per section; the sections' values are added up. For `around`, let `last(B)` be the last issue of
/// B alone from an empty machine, `L_1 <= L_2 <= ... <= L_n` these of the n other warps, S the
/// interference that SWB or IWB, the smaller one, allows for own, and
/// `early(l) = before(l) + (0 in the first section, else max(D, V))`, where `before(l)` is the end
/// of own's instructions up to l alone from an empty machine, less D. Let W(τ) be the sum of the
/// inits of all others' instructions before the first k of a long wait, in each warp, that issues
/// at τ or later alone from an empty machine (all of them where there is none). Then
///
/// ```text
/// x = early(l) + S
/// y = early(l) + W(τ) for the least τ that exceeds it; x if that is less
/// around = n - r with the largest r such that L_i - i < x - n and L_i - i < y - r for all i <= r
/// ```
///
/// LWB holds for any work-conserving policy, and is at most SWB. Where a block is so large that
/// others could be through while own still waits for its first slot, `around` is 0 and nothing is
/// gained; rightly so, as such schedules exist.
///
/// # Model
/// As for [`Iwb`].
///
/// # Proof
/// Take a warp "own" in a section k and F(t), own's finishing time if nothing else issued from t
/// on, as in the proof of [`Swb`], with α, β, γ and φ. There, "others issue in runs of
/// one instruction" says:
///
/// * (A) An issue of another warp's y raises F by at most c(y), with c(y) as in
///   [`Iwb`]. Nothing else raises it. At the release F is at most G + C(w), G being the
///   sum of the bounds of the sections before.
///
/// So it is enough to find, for each long wait, *an interval of cycles in which F grows by at most
/// the sum of the c(y) issued in it, less the credit*, these intervals being disjoint.
///
/// Let own issue l at a, and let `e = a + D`. l has no queue, so that it starts at a and is done at
/// e; k cannot issue before. The interval is (a, e). The next long wait begins at k or later, hence
/// at e or later: they are disjoint. Let U be the sum of the c(y) over the y that others issue in
/// (a, e), `H <= U` the number of these y, m the number of own's instructions between l and k.
///
/// *(B) Backlog.* At any time t in section k, `φ_f <= t + Q`: what is left to initiate on f belongs
/// to instructions whose warp has not waited for them nor for later ones of its own on f, by FIFO.
/// A `done` is at most V after its issue on a unit with a queue, and at most D elsewhere; so for
/// own's instructions before k, and likewise for whatever is in flight when the section begins.
///
/// *(C) Others have to issue: H >= min(around, D - max(V, 1) - m), if own's issues between l and k
/// come before `e - around`.* Let e0 be the last cycle of (a, e) in which nothing issues. If there
/// is none, `H >= D - 1 - m`. At e0 every warp that has something left waits for a register. Let B
/// be another warp that had something left at a. If it issues in (a, e0] it counts for H there.
/// Else it has something left at e0, and it waits for the latest of its producers, q, which issued
/// before a (own issued at a). If q is on a unit with a queue, it is done by `a - 1 + V`, so that
/// `e0 <= a - 2 + V`, and all `e - 1 - e0 >= D + 1 - V` cycles after e0 have an issue, at most m of
/// them own's. Otherwise, the q of different such B issued at different times before a and take at
/// most D. If there are z of them, the first is done by `a - z + D = e - z`, so that `e0 < e - z`
/// and the z last cycles of the interval have an issue, by others than own as assumed. These are
/// issues after e0; with those up to e0 that makes one for each B.
///
/// *Who has something left at a.* Let r others have issued all of the section before a. Counted
/// from the release ρ, none issues its last before `last(B)`, as FIFO units and registers only
/// delay. Of these r, at least r - i + 1 have a `last` of at least L_i, for any `i <= r`; they
/// issue their last in different cycles before a, so that `a - ρ > L_i + (r - i)`. On the other
/// hand, look at own's instructions up to l alone, and their finishing time F'. What was in flight
/// at ρ is done by `ρ + max(D, V)`, and in the first section there is nothing; so F' is at most
/// `ρ + early(l) + D` at ρ, and it is at least a + D at a.
///
/// * By (A), and by (1) and (4) of [`Swb`]'s proof (with "m" of the runs that are
///   active at a), F' grows by at most S less what has not issued by a. That is an instruction, at
///   least, of each of the n - r others: `a - ρ <= x - (n - r)`. Together, `L_i - i < x - n`.
/// * Before ρ + τ others issue at most what is counted in W(τ). If `early(l) + W(τ) < τ`, l has
///   issued by ρ + τ, since F' would be at least `ρ + τ + D` otherwise; so
///   `a - ρ <= early(l) + W(τ)`, which is y. Together, `L_i + r - i < y`.
///
/// *k follows l directly (m = 0).* Until e own's next instruction is k, and `F(a+1) >= e + α`,
/// where α is that of k, and `α >= γ_f`. Up to e, only a φ_f can raise F: F(e) is at most the
/// larger of F(a+1) and, over the f that own still uses, `φ_f(e) + γ_f`. So the growth is at most
/// the largest `φ_f(e) - e`, or 0; if it is 0, U >= H will do. Otherwise f is occupied up to e,
/// without a gap since some t0. If t0 > a, then `φ_f(e) = t0 +` the inits issued to f since t0,
/// which are part of U; the rest of U is at least the issues before t0. Thus U - growth
/// `>= (e - t0) +` (issues before t0) `>= H`. If f has been occupied since a or before, the inits
/// issued to f in the interval are `φ_f(e) - φ_f(a+1)`, so that U - growth
/// `>= e - φ_f(a+1) >= e - (a + 1 + Q) = D - 1 - Q`. As V >= Q + 1 if there is a unit with a queue,
/// (C) gives the credit.
///
/// *Otherwise.* α and γ_f of own's instructions between l and k are at most P + α_k: a path from
/// the first of them is among these up to a point at P at the latest, and goes on at k or later,
/// with α_k at most. Let h be `(D - V) / 2`, rounded down, and `τ = e - h`, and suppose room > 0,
/// hence `h >= P + 2`, `τ - a >= h + V` and `τ + P + Q <= e`.
///
/// * *Own has not issued the last one before k at the beginning of cycle τ.* Until then F does not
///   grow: what others add ends at `t + 1 + α <= τ + P + α_k` or `φ_f + γ_f <= τ + Q + P + α_k`,
///   and `F >= e + α_k`. By a + V the units are through with what was queued at a (B), and so are
///   own's instructions before l on them; for the others before l, P has been computed. So by (A),
///   applied to the instructions between l and k alone, the last one issues by
///   `a + 1 + V + (P - 1) + U'`, where U' is the part of U in (a, τ). Hence U'
///   `>= τ - a - P - V >= h - P`, which is more than the room, and from τ on (A) applies.
/// * *It has.* Then F does not grow up to τ, as before, and what own has issued adds nothing: own's
///   own issues never raise F. After τ own's next instruction is k, and as above the growth is at
///   most the largest `φ_f(e) - e` for an f that own uses at k or later. Let o <= P be own's inits
///   between l and k on f. If it is not 0, f is occupied up to e since some t0. If t0 > a and none
///   of own's issues to f was since t0, then U - growth >= H as above. If one was, then t0 < τ, and
///   U - growth `>= e - t0 - o > h - P`. If t0 <= a, U - growth
///   `>= e - (a + 1 + Q) - o >= D - 1 - Q - P`. All are at least the room. As to H: `m <= P`, so
///   that the room is at most `D - max(V, 1) - m`, and own's issues come before `τ < e - room`; so
///   (C), with no more than `room` of the others looked at, gives `H >= min(around, room)`. QED
///
/// # Exact latencies
/// IWB holds as well if an instruction takes less than stated. LWB does not claim that: "done at e"
/// and "takes at most D" are about the same D. And it is not monotone: a longer latency can become
/// the longest, and earn credits (`tests/bound/lwb.rs`).
///
/// # The slack
/// Only waits for the very longest latency count, and each gives at most one slot per other warp,
/// though warps that woke up have more to do. Work that others do while own waits for short
/// latencies is charged in full. A wait behind a unit with long queues gives nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lwb;

impl Bound for Lwb {
    fn name(&self) -> &'static str {
        "lwb"
    }

    fn summary(&self) -> &'static str {
        "long-wait bound, proved: as iwb or swb, less the slots that others must use while a warp waits for the longest latency"
    }

    fn standing(&self) -> Standing {
        Standing::Proved
    }

    fn applicable(&self, context: &Context) -> Result<(), NotApplicable> {
        context.paper_premises(Claim::Lwb)
    }

    fn warp_values(&self, section: &SectionAnalysis, values: &mut Vec<BoundValue>) {
        let mut initiations = Vec::with_capacity(section.warps().len());
        Iwb.warp_values(section, &mut initiations);
        Swb.warp_values(section, values);
        if section.sub_cores().count() > 1 {
            // the credits are argued for one issue slot; without them this is what holds anyway
            for (value, iwb) in values.iter_mut().zip(initiations) {
                *value = (*value).min(iwb);
            }
            return;
        }
        let block = Block::new(section);
        for (index, (value, iwb)) in values.iter_mut().zip(initiations).enumerate() {
            let (swb, iwb) = (value.cycles(), iwb.cycles());
            let credit = block.credit(section, WarpId::from_index(index), swb.min(iwb));
            *value = BoundValue::new(swb.min(iwb.saturating_sub(credit)));
        }
    }
}

/// What the credits of all warps of a section have in common.
struct Block {
    /// V of the formula.
    late: Cycles,
    /// `last` of every warp that has instructions, ascending.
    last_issues: Vec<u64>,
}

impl Block {
    fn new(section: &SectionAnalysis) -> Self {
        let warps = || (0..section.warps().len()).map(|index| section.long_waits(WarpId::from_index(index)));
        let on_unit = |unit: usize| warps().map(|warp| warp.queued[unit]).sum::<Cycles>();
        let queued = (0..section.units()).map(on_unit).max().unwrap_or_default();
        let total = warps().map(|warp| warp.longest_queued).max().unwrap_or_default();
        let busy = section.warps().iter().zip(warps()).filter(|(warp, _)| warp.instructions > 0);
        let mut last_issues: Vec<u64> = busy.map(|(_, waits)| waits.last_issue.get()).collect();
        last_issues.sort_unstable();
        Self { late: queued + total, last_issues }
    }

    /// What a warp whose bound is `bound` may take off, over all its long waits.
    fn credit(&self, section: &SectionAnalysis, own: WarpId, bound: Cycles) -> Cycles {
        let warp = section.warps()[own.index()];
        let long = section.long_waits(own);
        if long.waits.is_empty() {
            return Cycles::ZERO;
        }
        let mut last_issues = self.last_issues.clone();
        last_issues.remove(last_issues.partition_point(|&last| last < long.last_issue.get()));
        let in_flight = if long.first { Cycles::ZERO } else { long.longest.max(self.late) };
        let delay = bound - warp.isolated + in_flight;
        let mut reach = Reach::new(section, own);
        let of_wait = |wait: &LongWait| {
            let all = wait.before + delay;
            let latest = reach.latest(wait.before + in_flight, all);
            let around = around(&last_issues, all.get(), latest.get());
            self.room(long.longest, wait).min(Cycles::new(around))
        };
        long.waits.iter().map(of_wait).sum()
    }

    /// How many credits a long wait has room for.
    fn room(&self, longest: Cycles, wait: &LongWait) -> Cycles {
        let direct = longest.saturating_sub(self.late.max(Cycles::ONE));
        match wait.inside {
            None => direct,
            Some(inside) => {
                let half = Cycles::new(longest.saturating_sub(self.late).get() / 2);
                direct.saturating_sub(inside).min(half.saturating_sub(inside + Cycles::ONE))
            }
        }
    }
}

/// How many others surely have something left: x and y of the formula, and the others' `last`,
/// ascending.
fn around(last_issues: &[u64], x: u64, y: u64) -> u64 {
    let count = last_issues.len() as u64;
    let mut latest = 0;
    let mut through = 0;
    for (last, rank) in last_issues.iter().zip(1..) {
        // the largest of L_i - i, plus the number of others, so as to stay above zero
        latest = latest.max(last + count - rank);
        if latest >= x || latest + rank >= y + count {
            break;
        }
        through = rank;
    }
    count - through
}

/// What others can have issued by some time, which only grows.
struct Reach<'s> {
    /// Per other warp: its long waits, and how many of them it can be past.
    others: Vec<(&'s LongWaits, usize)>,
    time: Cycles,
    /// The work that they can have issued before `time`.
    work: Cycles,
}

impl<'s> Reach<'s> {
    fn new(section: &'s SectionAnalysis, own: WarpId) -> Self {
        let warps = (0..section.warps().len()).map(WarpId::from_index);
        let others: Vec<_> =
            warps.filter(|&warp| warp != own).map(|warp| (section.long_waits(warp), 0)).collect();
        let work = others.iter().map(|(other, _)| Self::before(other, 0)).sum();
        Self { others, time: Cycles::ZERO, work }
    }

    /// The work before a long wait of a warp, or all of it if there are no more.
    fn before(warp: &LongWaits, wait: usize) -> Cycles {
        warp.waits.get(wait).map_or(warp.work, |wait| wait.work)
    }

    /// The least y with `from + work before y + 1 <= y`, but no more than `limit`. It must not be
    /// asked for less than before.
    fn latest(&mut self, from: Cycles, limit: Cycles) -> Cycles {
        loop {
            let latest = from + self.work;
            if latest >= limit {
                return limit;
            }
            if latest < self.time {
                return latest;
            }
            self.time = latest + Cycles::ONE;
            for (other, past) in &mut self.others {
                let before = Self::before(other, *past);
                while other.waits.get(*past).is_some_and(|wait| wait.resume < self.time) {
                    *past += 1;
                }
                self.work += Self::before(other, *past) - before;
            }
        }
    }
}
