//! LWB, the long-wait bound.

use super::claim::Claim;
use super::context::{Applicable, Context, NotApplicable};
use super::contract::{Bound, Standing};
use super::iwb::Iwb;
use super::long_waits::{LongWait, LongWaits};
use super::parts::BlockParts;
use super::section::{SectionAnalysis, WarpSection};
use super::swb::Swb;
use super::value::BoundValue;
use warpbound_core::base::{Cycles, WarpId};

/// The long-wait bound: IWB less the issue slots that other warps must use while warp *own* waits
/// for its longest latencies, or SWB where that is less.
///
/// Let D, the long waits (l, k) of a warp and their inside times P be as in [`LongWaits`]: D is the
/// largest `init + lat` of the program among units without a queue, l has it, and k waits for l.
/// Let Q be the most initiation work that all warps together can have queued on one unit at a time.
/// Let V = Q + the largest `init + lat` on a unit with a queue, or 0 if there is no such unit. For
/// each long wait of own
///
/// ```text
/// around = the number of other warps that surely have not issued all of the section before l
/// room   = D - max(V, 1)                                               if k follows l directly
///          the smaller of D - max(V, 1) - P and (D - V) / 2 - P - 1    otherwise
/// credit = min(around, room), at least 0
/// LWB(w) = min( SWB(w), IWB(w) - the sum of the credits of w's long waits )
/// ```
///
/// per section. Sections are combined by the time at which they have *settled*. For w's section
/// alone from an empty machine, C°(w) is the largest of the `done` of its barrier, the ends of its
/// initiations, and the `done`s of the writes that w waits for in a later section. Nothing else
/// that is in flight at a barrier can delay a warp. With
///
/// ```text
/// G°(k) = G°(k - 1) + max over w of ( LWB(w) - C(w) + C°(w) ) in section k,   G°(0) = 0
/// LWB   = max over the sections k of ( G°(k - 1) + max over w of LWB(w) )
/// ```
///
/// Quotients are rounded down. For `around`, let `L_1 <= L_2 <= ... <= L_n` be the last issues of
/// the n other warps, each alone from an empty machine, and let I be the interference that SWB or
/// IWB, the smaller one, allows for own. Let `before(l)` be the end of own's instructions up to l
/// alone from an empty machine, less D. For each other warp, consider its first k (of a long wait)
/// that issues at τ or later, alone from an empty machine. Let W(τ) be the sum, over all other
/// warps, of the inits of the instructions before this k, or of all its instructions if there is no
/// such k. Then
///
/// ```text
/// early(l) = before(l) + (0 in the first section, else max(D, V))
/// x = early(l) + I
/// y = min( x, early(l) + W(τ) ) for the least τ with early(l) + W(τ) < τ
/// around = n - r with the largest r
///          such that L_i - i < x - n and L_i - i < y - r for all i <= r
/// ```
///
/// Premises: as for [`Swb`], with *exact* latencies, and one sub-core; with several sub-cores the
/// bound is the smaller of SWB and IWB. The evaluation takes one step per long wait and other warp.
/// The proof, an example and the slack are in [`proofs::lwb`](super::proofs::lwb).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lwb;

impl Bound for Lwb {
    fn name(&self) -> &'static str {
        "lwb"
    }

    fn summary(&self) -> &'static str {
        "long-wait bound, proved: as iwb or swb, less the slots that others must use while a warp waits for the longest latency, and less what no instruction waits for at barriers"
    }

    fn standing(&self) -> Standing {
        Standing::Proved
    }

    fn applicable(&self, context: &Context) -> Result<Applicable, NotApplicable> {
        context.paper_premises(Claim::Lwb)
    }

    fn warp_values(&self, section: &SectionAnalysis, values: &mut Vec<BoundValue>) {
        let mut initiations = Vec::with_capacity(section.warps().len());
        Iwb.warp_values(section, &mut initiations);
        Swb.warp_values(section, values);
        if section.sub_cores().count() > 1 {
            // the credits are proved for one issue slot; without them the smaller bound holds in
            // any case
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

    fn warp_parts(&self, section: &SectionAnalysis, own: WarpId, value: BoundValue) -> Option<BlockParts> {
        let of_swb = Swb.warp_parts(section, own, value)?;
        if of_swb.total() == value.cycles() {
            return Some(of_swb);
        }
        // the slots of others in which the warp waits alone are counted for the others
        Iwb.warp_parts(section, own, value)?.reduced_to(value.cycles())
    }

    fn tail(&self, warp: &WarpSection) -> Cycles {
        warp.isolated - warp.settled
    }
}

/// The quantities that the credits of all warps of a section have in common.
struct Block {
    /// V of the formula.
    late: Cycles,
    /// The last issue of every warp that has instructions, ascending.
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

    /// Returns the sum of the credits of all long waits of a warp whose bound is `bound`.
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

    /// Returns the room of a long wait, which limits its credit.
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

/// Returns how many other warps surely have an instruction left. `x` and `y` are those of the
/// formula, and `last_issues` are the last issues of the other warps, ascending.
fn around(last_issues: &[u64], x: u64, y: u64) -> u64 {
    let count = last_issues.len() as u64;
    let mut latest = 0;
    let mut rank_passed = 0;
    for (last, rank) in last_issues.iter().zip(1..) {
        // the largest L_i - i so far; the number of other warps is added to keep it non-negative
        latest = latest.max(last + count - rank);
        if latest >= x || latest + rank >= y + count {
            break;
        }
        rank_passed = rank;
    }
    count - rank_passed
}

/// The work that other warps can have issued by some time, which only increases.
struct Reach<'s> {
    /// The long waits of each other warp, and how many of them the warp can have passed.
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

    /// Returns the work before a long wait of a warp, or all of its work if there are no more
    /// waits.
    fn before(warp: &LongWaits, wait: usize) -> Cycles {
        warp.waits.get(wait).map_or(warp.work, |wait| wait.work)
    }

    /// Returns the least y with `from + work before y + 1 <= y`, but no more than `limit`.
    /// Successive calls must not pass a smaller `from`.
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
