//! The maximum of a quantity over all paths of a set.

use warpbound_core::path::{Accessed, LoopIterations, PathPart, PathSet, Step};

/// A quantity that is updated by each step, and whose update is linear in the algebra of maximum
/// and sum. That means two things: an update of the maximum of two states is the maximum of their
/// updates; and adding a constant to a state adds the same constant to everything that follows from
/// it.
pub(crate) trait Measure {
    /// The value after some steps.
    type State: Clone;
    /// The amount by which a state grows: a number for each quantity that grows by itself.
    type Growth;

    /// Executes a step, which may access this in global and local memory.
    fn step(&self, state: &mut Self::State, step: Step, accessed: Accessed);

    /// Replaces the state by the elementwise maximum of both.
    fn join(&self, state: &mut Self::State, other: &Self::State);

    /// Returns by how much a state has grown since another one. Returns `None` unless everything
    /// that later steps depend on has grown by that same amount. Parts of the state that only
    /// collect a maximum are ignored: see [`repeat`].
    fn growth(&self, before: &Self::State, after: &Self::State) -> Option<Self::Growth>;

    /// Adds a growth to the state this many times, except to parts that only collect a maximum.
    fn grow(&self, state: &mut Self::State, by: &Self::Growth, times: u64);
}

/// The amount by which a state with a single quantity grows. A barrier resets some of the state to its value at the
/// beginning of a section, which does not grow. If there may be a barrier, only a non-negative
/// amount is therefore valid (a state that is at least that value stays so).
pub(crate) type Growth = i128;

/// Returns an instant or a sum after it has grown this many times. Its growth is never negative,
/// since [`Measure::growth`] of unsigned states is a checked difference.
pub(crate) fn grown(instant: u64, by: u64, times: u64) -> u64 {
    instant.saturating_add(by.saturating_mul(times))
}

/// Replaces the state by the largest state after a part.
pub(crate) fn over_part<M: Measure>(measure: &M, part: &PathPart, state: &mut M::State, last: bool) {
    walk_part(measure, part, state, last, &mut None);
}

fn walk<M: Measure>(
    measure: &M,
    set: &PathSet,
    state: &mut M::State,
    last: bool,
    left: &mut Option<M::State>,
) {
    for (index, part) in set.parts().iter().enumerate() {
        walk_part(measure, part, state, set.is_end(index, last), left);
    }
}

fn walk_part<M: Measure>(
    measure: &M,
    part: &PathPart,
    state: &mut M::State,
    last: bool,
    left: &mut Option<M::State>,
) {
    match part {
        PathPart::Steps(steps) => {
            steps.iter().for_each(|(step, accessed)| measure.step(state, step, accessed));
        }
        PathPart::OneOf(steps) => {
            let before = state.clone();
            for (index, (step, accessed)) in steps.iter().enumerate() {
                let mut after = before.clone();
                measure.step(&mut after, step, accessed);
                if index == 0 { *state = after } else { measure.join(state, &after) }
            }
        }
        PathPart::End(step) => {
            measure.step(state, if last { step.ending_warp() } else { *step }, Accessed::default());
        }
        PathPart::Sides(sides) => {
            // Sums of maxima are maxima of sums: each side is walked once, the second from the
            // maximum of the states in which it may begin. If the first side may either be the last
            // or be followed by the second, its end counts as followed, which takes at most one
            // issue slot more.
            let mut first = state.clone();
            walk(measure, &sides.first, &mut first, last && !sides.both, left);
            let mut second = sides.second_alone.then(|| state.clone());
            if sides.both {
                join_into(measure, &mut second, &first);
            }
            if let Some(second) = &mut second {
                walk(measure, &sides.second, second, last, left);
            }
            *state = match (sides.first_alone, second) {
                (true, Some(second)) => {
                    measure.join(&mut first, &second);
                    first
                }
                (false, Some(second)) => second,
                (_, None) => first,
            };
        }
        PathPart::Perhaps(rest) => {
            let mut more = state.clone();
            walk(measure, rest, &mut more, last, left);
            measure.join(state, &more);
        }
        PathPart::Loop(iterations) => over_loop(measure, iterations, state),
        PathPart::Leave(way) => {
            let mut leaving = state.clone();
            walk(measure, &way.paths, &mut leaving, false, &mut None);
            if way.first {
                measure.join(state, &leaving);
            }
            join_into(measure, left, &leaving);
        }
    }
}

fn join_into<M: Measure>(measure: &M, into: &mut Option<M::State>, other: &M::State) {
    match into {
        Some(into) => measure.join(into, other),
        None => *into = Some(other.clone()),
    }
}

/// Walks a loop, from its beginning to where all lanes have left it.
fn over_loop<M: Measure>(measure: &M, iterations: &LoopIterations, state: &mut M::State) {
    let mut left = None;
    repeat(measure, state, iterations.most.saturating_add(1), |state| {
        walk(measure, &iterations.round, state, false, &mut left);
    });
    let Some(mut left) = left else { return };
    if iterations.ways_after().next().is_some() {
        // the lanes that left in earlier iterations, one after the other
        let mut most = left.clone();
        let ways = iterations.ways_after().count() as u64;
        let waiting = iterations.most.saturating_add(1).saturating_mul(ways) - 1;
        repeat(measure, &mut left, waiting, |state| {
            let mut after = None;
            for way in iterations.ways_after() {
                let mut leaving = state.clone();
                walk(measure, way, &mut leaving, false, &mut None);
                join_into(measure, &mut after, &leaving);
            }
            *state = after.expect("the iterator of ways is not empty");
            measure.join(&mut most, state);
        });
        left = most;
    }
    *state = left;
}

/// Executes `times` iterations. An iteration is linear. Therefore, once a state equals an earlier
/// one plus a constant, the iterations between the two states repeat, and each repetition adds the
/// constant. The result of a repetition changes from one repetition to the next by the same amount,
/// up or down. The maximum therefore occurs in the first or in the last repetition, and all
/// repetitions between them are skipped.
fn repeat<M: Measure>(measure: &M, state: &mut M::State, times: u64, mut round: impl FnMut(&mut M::State)) {
    // the period is found with Brent's algorithm: the reference state is renewed after 1, 2, 4, ..
    // iterations
    let (mut anchor, mut since, mut renew) = (Some(state.clone()), 0u64, 1u64);
    let mut left = times;
    while left > 0 {
        round(state);
        left -= 1;
        since += 1;
        let Some(before) = &anchor else { continue };
        if let Some(growth) = measure.growth(before, state) {
            let repetitions = (left / since).saturating_sub(1);
            measure.grow(state, &growth, repetitions);
            left -= repetitions * since;
            anchor = None;
        } else if since == renew {
            (anchor, since, renew) = (Some(state.clone()), 0, renew.saturating_mul(2));
        }
    }
}
