//! One makespan against one bound.

use serde::{Deserialize, Serialize};

use super::saved;
use crate::base::{BlockId, Cycles, WarpId};
use crate::bound::{Guarantee, Standing};

/// Why there is no verdict: a clause without capital and full stop.
pub type Why = String;

/// What became of a bound in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The makespan is at most the bound.
    Holds,
    /// The makespan exceeds the bound.
    Violated,
    /// This premise of the bound does not hold for this run.
    NotApplicable(Why),
    /// It applies, and what was done does not suffice to say whether it holds.
    Undecided(Why),
}

impl Verdict {
    /// The verdict on a makespan by a bound, or why the bound has no value.
    pub fn of(makespan: Cycles, bound: Result<Guarantee, &str>) -> Self {
        match bound {
            Err(why) => Self::NotApplicable(why.to_owned()),
            Ok(bound) if makespan <= bound.cycles() => Self::Holds,
            Ok(_) => Self::Violated,
        }
    }

    /// The verdict on something that lies in an interval, or on a run of which more is not known.
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

    /// The word for it, as scripts read it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Violated => "violated",
            Self::NotApplicable(_) => "not-applicable",
            Self::Undecided(_) => "undecided",
        }
    }

    /// Whether the bound was exceeded.
    pub fn is_violated(&self) -> bool {
        *self == Self::Violated
    }

    /// Whether the bound applies.
    pub fn applies(&self) -> bool {
        !matches!(self, Self::NotApplicable(_))
    }

    /// Why it neither holds nor is violated, if so.
    pub fn why(&self) -> Option<&str> {
        match self {
            Self::Holds | Self::Violated => None,
            Self::NotApplicable(why) | Self::Undecided(why) => Some(why),
        }
    }

    /// The verdict over several bounds: violated if any is; else holds if any does; else undecided. Of equals the
    /// first counts.
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

/// (bound - makespan) / makespan; zero for a run that takes no time and is bounded by none.
pub fn overestimation(bound: Cycles, makespan: Cycles) -> Option<f64> {
    let (bound, makespan) = (bound.get() as f64, makespan.get() as f64);
    if makespan > 0.0 { Some((bound - makespan) / makespan) } else { (bound == 0.0).then_some(0.0) }
}

/// The name of a bound. (Where `serde` saw a reference it would borrow from what it reads.)
pub type BoundName = &'static str;

/// A bound over a whole run: of blocks one after the other values add up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BoundRow {
    /// The bound's name.
    #[serde(deserialize_with = "saved::bound_name")]
    pub name: BoundName,
    /// Its value, or why it has none: to some block it does not apply.
    pub value: Result<Guarantee, Why>,
    /// Whether the makespan of some block to which it applies exceeds it.
    pub violated: bool,
    /// What it rests on.
    pub standing: Standing,
    /// Whether it is for another policy than the run's, or for launches whose blocks are resident together
    /// and this is none and nobody named it; reports leave it out then.
    pub left_out: bool,
    /// Whether it is about blocks; otherwise it is about the launch and blocks have no value of it.
    pub of_blocks: bool,
    /// Whether it decides the exit code.
    pub gates: bool,
}

impl BoundRow {
    /// Violated if it is in any block; else not applicable if it does not apply to one.
    pub fn verdict(&self) -> Verdict {
        match &self.value {
            _ if self.violated => Verdict::Violated,
            Ok(_) => Verdict::Holds,
            Err(why) => Verdict::NotApplicable(why.clone()),
        }
    }

    /// It applies to nothing of the run, for this reason unless there was one before.
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
    /// Its last `done`.
    pub finish: Cycles,
    /// Its time alone, summed over sections.
    pub isolated: Cycles,
    /// Time in exec phases, summed over sections.
    pub exec: Cycles,
    /// Time in idle phases, summed over sections.
    pub idle: Cycles,
}

/// Makespan and bound values of every block, flat: a grid can have millions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockTable {
    bounds: usize,
    /// Blocks that were entered.
    entered: usize,
    /// A makespan and the bounds of each block in launch order, up to the last that was entered.
    #[serde(with = "saved::rows")]
    rows: Vec<u64>,
}

/// Stands for a bound that does not apply.
pub(super) const NOT_APPLICABLE: u64 = u64::MAX;

impl BlockTable {
    /// A table for this many bounds.
    pub fn new(bounds: usize) -> Self {
        Self { bounds, entered: 0, rows: Vec::new() }
    }

    /// Makes all bounds of all blocks not applicable.
    pub(super) fn withdraw_bounds(&mut self) {
        for row in self.rows.chunks_exact_mut(1 + self.bounds) {
            row[1..].fill(NOT_APPLICABLE);
        }
    }

    /// Enters a block; blocks may end in another order than that of the launch.
    ///
    /// # Panics
    /// If there are not as many values as bounds.
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

    /// Whether these are blocks from the first on without a gap, each with this many bounds.
    pub(super) fn is_whole(&self, bounds: usize) -> bool {
        let width = bounds + 1;
        self.bounds == bounds
            && self.rows.len() == self.entered.saturating_mul(width)
            && self.rows.chunks_exact(width).all(|row| row[0] != NOT_APPLICABLE)
    }

    /// The number of blocks that were entered.
    pub fn len(&self) -> usize {
        self.entered
    }

    /// Whether there is no block.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The number, makespan and bound values of each block that was entered, in launch order.
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
    use crate::bound::{Bound, BoundValue, Context, Gub, Order, Schedules};
    use crate::machine::Features;

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
        let bound = |n| applicable.guarantees(BoundValue::new(cycles(n)));
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
