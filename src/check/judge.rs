//! One makespan against one bound.

use serde::{Serialize, Serializer};

use crate::base::{BlockId, Cycles, WarpId};
use crate::bound::Standing;

/// What became of a bound in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The makespan is at most the bound.
    Holds,
    /// The makespan exceeds the bound.
    Violated,
    /// A premise of the bound does not hold for this run.
    NotApplicable,
    /// It applies, and what was done does not suffice to say whether it holds.
    Undecided,
}

impl Status {
    /// As scripts read it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Violated => "violated",
            Self::NotApplicable => "not-applicable",
            Self::Undecided => "undecided",
        }
    }

    /// The verdict on a makespan; `None` for a bound that does not apply.
    pub fn of(makespan: Cycles, bound: Option<Cycles>) -> Self {
        match bound {
            None => Self::NotApplicable,
            Some(bound) if makespan <= bound => Self::Holds,
            Some(_) => Self::Violated,
        }
    }

    /// The verdict on something that lies in an interval, or on a run of which more is not known.
    pub fn between(at_least: Cycles, at_most: Cycles, bound: Cycles) -> Self {
        if at_least > bound {
            Self::Violated
        } else if at_most <= bound {
            Self::Holds
        } else {
            Self::Undecided
        }
    }

    /// The verdict on a run of two parts from theirs: violated if either is; else not applicable if either
    /// is; else undecided.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let weight = |status| match status {
            Self::Holds => 0,
            Self::Undecided => 1,
            Self::NotApplicable => 2,
            Self::Violated => 3,
        };
        if weight(self) >= weight(other) { self } else { other }
    }

    /// The verdict over several bounds: violated if any is; else holds if any does; else undecided.
    pub fn combine(all: impl IntoIterator<Item = Self>) -> Self {
        let weight = |status: &Self| match status {
            Self::NotApplicable => 0,
            Self::Undecided => 1,
            Self::Holds => 2,
            Self::Violated => 3,
        };
        all.into_iter().max_by_key(weight).unwrap_or(Self::NotApplicable)
    }
}

impl Serialize for Status {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// (bound - makespan) / makespan; zero for a run that takes no time and is bounded by none.
pub fn overestimation(bound: Cycles, makespan: Cycles) -> Option<f64> {
    let (bound, makespan) = (bound.get() as f64, makespan.get() as f64);
    if makespan > 0.0 { Some((bound - makespan) / makespan) } else { (bound == 0.0).then_some(0.0) }
}

/// A bound over a whole run: of blocks one after the other values add up.
#[derive(Clone, Debug, PartialEq)]
pub struct BoundRow {
    /// The bound's name.
    pub name: &'static str,
    /// Its value, if it applies to all blocks.
    pub value: Option<Cycles>,
    /// Violated if it is in any block; else not applicable if it does not apply to one.
    pub status: Status,
    /// Why it does not apply, to the first block to which it does not.
    pub reason: Option<String>,
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
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockTable {
    bounds: usize,
    /// Blocks that were entered.
    entered: usize,
    /// A makespan and the bounds of each block in launch order, up to the last that was entered.
    rows: Vec<u64>,
}

/// Stands for a bound that does not apply.
const NOT_APPLICABLE: u64 = u64::MAX;

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

    #[test]
    fn one_violation_decides() {
        use Status::{Holds, NotApplicable, Undecided, Violated};
        assert_eq!(Status::combine([Holds, Violated, NotApplicable]), Violated);
        assert_eq!(Status::combine([NotApplicable, Holds]), Holds);
        assert_eq!(Status::combine([]), NotApplicable);
        assert_eq!(Status::combine([NotApplicable, Undecided]), Undecided);
        let by_weight = [Holds, Undecided, NotApplicable, Violated];
        for (i, a) in by_weight.into_iter().enumerate() {
            for (j, b) in by_weight.into_iter().enumerate() {
                assert_eq!(a.and(b), by_weight[i.max(j)]);
            }
        }
        let cycles = |n| Cycles::new(n);
        for (bound, status) in [(4, Violated), (5, Undecided), (6, Undecided), (7, Holds)] {
            assert_eq!(Status::between(cycles(5), cycles(7), cycles(bound)), status);
        }
    }

    #[test]
    fn overestimation_is_a_fraction_of_the_makespan() {
        assert_eq!(overestimation(Cycles::new(200), Cycles::new(148)), Some(52.0 / 148.0));
        assert_eq!(overestimation(Cycles::new(0), Cycles::new(0)), Some(0.0));
        assert_eq!(overestimation(Cycles::new(3), Cycles::new(0)), None);
    }
}
