//! The comparison of one makespan with one bound.

use serde::{Deserialize, Serialize};

use super::saved;
use warpbound_bound::{BoundPart, Guarantee, Part, Standing};
use warpbound_core::base::{BlockId, Cycles, UnitId, WarpId};
use warpbound_core::machine::Machine;

/// The reason why there is no verdict: a clause without capital and full stop.
pub type Why = String;

/// The verdict on a bound in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The makespan is at most the bound.
    Holds,
    /// The makespan exceeds the bound.
    Violated,
    /// The given premise of the bound does not hold for this run.
    NotApplicable(Why),
    /// The bound applies, but what was simulated is not sufficient to decide whether it holds.
    Undecided(Why),
}

impl Verdict {
    /// Returns the verdict on a makespan by a bound, or by the reason why the bound has no value.
    pub fn of(makespan: Cycles, bound: Result<Guarantee, &str>) -> Self {
        match bound {
            Err(why) => Self::NotApplicable(why.to_owned()),
            Ok(bound) if makespan <= bound.cycles() => Self::Holds,
            Ok(_) => Self::Violated,
        }
    }

    /// Returns the verdict on a makespan that is only known to lie in an interval.
    pub fn between(at_least: Cycles, at_most: Cycles, bound: Guarantee, why_open: &str) -> Self {
        let bound = bound.cycles();
        if at_least > bound {
            Self::Violated
        } else if at_most <= bound {
            Self::Holds
        } else {
            Self::Undecided(why_open.to_owned())
        }
    }

    /// Returns the verdict as a word for scripts.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Violated => "violated",
            Self::NotApplicable(_) => "not-applicable",
            Self::Undecided(_) => "undecided",
        }
    }

    /// Returns whether the bound was exceeded.
    pub fn is_violated(&self) -> bool {
        *self == Self::Violated
    }

    /// Returns whether the bound applies.
    pub fn applies(&self) -> bool {
        !matches!(self, Self::NotApplicable(_))
    }

    /// Returns the reason why the bound neither holds nor is violated, or `None` if it does either.
    pub fn why(&self) -> Option<&str> {
        match self {
            Self::Holds | Self::Violated => None,
            Self::NotApplicable(why) | Self::Undecided(why) => Some(why),
        }
    }

    /// Returns the verdict over several bounds: violated if any is violated; else holds if any
    /// holds; else undecided if any is; else not applicable. Among equal verdicts the first one is
    /// returned.
    pub fn combine(all: impl IntoIterator<Item = Self>) -> Self {
        let weight = |verdict: &Self| match verdict {
            Self::NotApplicable(_) => 0,
            Self::Undecided(_) => 1,
            Self::Holds => 2,
            Self::Violated => 3,
        };
        let heavier = |a: Self, b: Self| if weight(&b) > weight(&a) { b } else { a };
        all.into_iter().reduce(heavier).unwrap_or_else(|| Self::NotApplicable("no bound decides".to_owned()))
    }
}

/// Returns (bound - makespan) / makespan. If the makespan is zero, it returns zero for a bound of
/// zero, and `None` otherwise.
pub fn overestimation(bound: Cycles, makespan: Cycles) -> Option<f64> {
    let (bound, makespan) = (bound.get() as f64, makespan.get() as f64);
    if makespan > 0.0 { Some((bound - makespan) / makespan) } else { (bound == 0.0).then_some(0.0) }
}

/// The name of a bound. (With a plain reference type `serde` would borrow from its input.)
pub type BoundName = &'static str;

/// A bound over a whole run; the values of blocks that run one after the other are added up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BoundRow {
    /// The bound's name.
    #[serde(deserialize_with = "saved::bound_name")]
    pub name: BoundName,
    /// Its value, or the reason why it has none, which is that it does not apply to some block.
    pub value: Result<Guarantee, Why>,
    /// Whether the makespan of some block to which it applies exceeds it.
    pub violated: bool,
    /// Its justification.
    pub standing: Standing,
    /// Whether reports omit the bound. They omit a bound for another policy than the run's. Unless
    /// the user names it, they also omit a bound for launches of several resident blocks if this
    /// launch has one at a time.
    pub left_out: bool,
    /// Whether the bound limits blocks. Otherwise it limits the launch, and has no value for a
    /// single block.
    pub of_blocks: bool,
    /// Whether the bound affects the exit code.
    pub gates: bool,
    /// The parts that the value consists of, or nothing if they are not known.
    pub parts: Vec<PartRow>,
}

/// The cycles of a bound that are counted for one part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartRow {
    /// The part.
    pub part: Part,
    /// The name of the unit, if the initiations of each unit are known.
    pub unit: Option<String>,
    /// The number of cycles.
    pub cycles: Cycles,
}

impl PartRow {
    /// Returns the part of a bound on this machine.
    pub(super) fn new(part: BoundPart, machine: &Machine) -> Self {
        let name = |unit: UnitId| machine.units()[unit.index()].name.clone();
        Self { part: part.part, unit: part.unit.map(name), cycles: part.cycles }
    }
}

impl BoundRow {
    /// Returns the verdict: violated if the bound is violated in any block; else not applicable if
    /// it does not apply to some block; else holds.
    pub fn verdict(&self) -> Verdict {
        match &self.value {
            _ if self.violated => Verdict::Violated,
            Ok(_) => Verdict::Holds,
            Err(why) => Verdict::NotApplicable(why.clone()),
        }
    }

    /// Adds the value of a block or launch that begins when the ones before have ended.
    pub(super) fn add(&mut self, value: Guarantee) {
        if let Ok(sum) = &self.value {
            self.value = sum.plus(value).map_err(|why| why.to_string());
        }
    }

    /// Marks the bound as not applicable to anything in the run. The reason is `why`, unless there
    /// was a reason before.
    pub(super) fn withdraw(&mut self, why: &str) {
        self.violated = false;
        if self.value.is_ok() {
            self.value = Err(why.to_owned());
        }
    }
}

/// A warp of a run with one block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WarpRow {
    /// The warp.
    pub warp: WarpId,
    /// The cycle of its last `done`.
    pub finish: Cycles,
    /// Its time alone, summed over sections.
    pub isolated: Cycles,
    /// Its time in exec phases alone, summed over sections.
    pub exec: Cycles,
    /// Its time in idle phases alone, summed over sections.
    pub idle: Cycles,
}

/// The makespan and the bound values of every block, stored in one flat vector because a grid can
/// have millions of blocks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockTable {
    bounds: usize,
    /// The number of blocks that were entered.
    entered: usize,
    /// The makespan and the bounds of each block in launch order, up to the last block that was
    /// entered.
    #[serde(with = "saved::rows")]
    rows: Vec<u64>,
}

/// Marks a bound that does not apply.
pub(super) const NOT_APPLICABLE: u64 = u64::MAX;

impl BlockTable {
    /// Creates a table for this many bounds.
    pub fn new(bounds: usize) -> Self {
        Self { bounds, entered: 0, rows: Vec::new() }
    }

    /// Marks all bounds of all blocks as not applicable.
    pub(super) fn withdraw_bounds(&mut self) {
        for row in self.rows.chunks_exact_mut(1 + self.bounds) {
            row[1..].fill(NOT_APPLICABLE);
        }
    }

    /// Enters a block; blocks may end in another order than that of the launch.
    ///
    /// # Panics
    /// Panics if the number of values differs from the number of bounds.
    pub fn enter(
        &mut self,
        block: BlockId,
        makespan: Cycles,
        values: impl IntoIterator<Item = Option<Cycles>>,
    ) {
        let width = self.bounds + 1;
        let from = block.index() * width;
        if self.rows.len() < from + width {
            self.rows.resize(from + width, NOT_APPLICABLE);
        }
        let values = values.into_iter().map(|value| value.map_or(NOT_APPLICABLE, Cycles::get));
        let row: Vec<u64> = std::iter::once(makespan.get()).chain(values).collect();
        assert_eq!(row.len(), width, "one value per bound");
        self.rows[from..from + width].copy_from_slice(&row);
        self.entered += 1;
    }

    /// Returns whether the blocks are entered from the first on without a gap, each with this many
    /// bounds.
    pub(super) fn is_whole(&self, bounds: usize) -> bool {
        let width = bounds + 1;
        self.bounds == bounds
            && self.rows.len() == self.entered.saturating_mul(width)
            && self.rows.chunks_exact(width).all(|row| row[0] != NOT_APPLICABLE)
    }

    /// Returns the number of blocks that were entered.
    pub fn len(&self) -> usize {
        self.entered
    }

    /// Returns whether there is no block.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns the number, the makespan and the bound values of each block that was entered, in
    /// launch order.
    pub fn iter(
        &self,
    ) -> impl Iterator<Item = (usize, Cycles, impl Iterator<Item = Option<Cycles>> + '_)> + '_ {
        let rows = self.rows.chunks_exact(self.bounds + 1).enumerate();
        rows.filter(|(_, row)| row[0] != NOT_APPLICABLE).map(|(index, row)| {
            let values = row[1..].iter().map(|&v| (v != NOT_APPLICABLE).then(|| Cycles::new(v)));
            (index, Cycles::new(row[0]), values)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpbound_bound::{Bound, BoundValue, Context, Gub, Order, Schedules};
    use warpbound_core::machine::Features;

    #[test]
    fn one_violation_decides() {
        use Verdict::{Holds, Violated};
        let (not_applicable, undecided) =
            (Verdict::NotApplicable("n".into()), Verdict::Undecided("u".into()));
        assert_eq!(Verdict::combine([Holds, Violated, not_applicable.clone()]), Violated);
        assert_eq!(Verdict::combine([not_applicable.clone(), Holds]), Holds);
        assert_eq!(Verdict::combine([not_applicable.clone(), undecided.clone()]), undecided);
        let second = Verdict::NotApplicable("later".into());
        assert_eq!(Verdict::combine([not_applicable.clone(), second]), not_applicable);
        assert!(!Verdict::combine([]).applies());
        let cycles = |n| Cycles::new(n);
        let context = Context {
            schedules: Schedules::WorkConserving,
            resident_blocks: 1,
            partial_barriers: false,
            beyond: Features::default(),
            order: Order::Irrelevant,
        };
        let applicable = Gub.applicable(&context).expect("its premises hold");
        let bound = |n| applicable.guarantees(BoundValue::new(cycles(n))).expect("it fits");
        for (value, verdict) in [(4, Violated), (5, undecided.clone()), (6, undecided), (7, Holds)] {
            assert_eq!(Verdict::between(cycles(5), cycles(7), bound(value), "u"), verdict);
        }
    }

    #[test]
    fn overestimation_is_a_fraction_of_the_makespan() {
        assert_eq!(overestimation(Cycles::new(200), Cycles::new(148)), Some(52.0 / 148.0));
        assert_eq!(overestimation(Cycles::new(0), Cycles::new(0)), Some(0.0));
        assert_eq!(overestimation(Cycles::new(3), Cycles::new(0)), None);
    }
}
