//! The most that something can be over all paths of a set.

use crate::path::{PathPart, PathSet, Rounds, Step};

/// Something that grows with each step, in a way that is linear in the algebra of maximum and sum: of two states that were possible
/// before, the larger of what follows is what follows from the larger; and if a state has grown by some time, so has all that
/// follows from it.
pub(super) trait Measure {
    /// What is known after some steps.
    type State: Clone;

    /// A step is executed.
    fn step(&self, state: &mut Self::State, step: Step);

    /// Becomes the larger of both.
    fn join(&self, state: &mut Self::State, other: &Self::State);

    /// By how much a state has grown since another one; nothing unless everything that later steps depend on has by as
    /// much. What only collects the largest of something does not count: see [`repeat`].
    fn growth(&self, before: &Self::State, after: &Self::State) -> Option<Growth>;

    /// Grows; what only collects stays as it is.
    fn grow(&self, state: &mut Self::State, by: Growth);
}

/// By how much a state grows. A barrier makes some of a state what it is at the beginning of a section, which does not
/// grow: where there may be one, only what is not negative is one (a state that is at least that beginning stays so).
pub(super) type Growth = i128;

/// An instant or a sum that has grown.
pub(super) fn grown(instant: u64, by: Growth) -> u64 {
    instant.saturating_add(u64::try_from(by).unwrap_or(if by < 0 { 0 } else { u64::MAX }))
}

/// The largest state after a part.
pub(super) fn over_part<M: Measure>(measure: &M, part: &PathPart, state: &mut M::State, last: bool) {
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
        PathPart::Steps(steps) => steps.iter().for_each(|&step| measure.step(state, step)),
        PathPart::OneOf(steps) => {
            let before = state.clone();
            for (index, &step) in steps.iter().enumerate() {
                let mut after = before.clone();
                measure.step(&mut after, step);
                if index == 0 { *state = after } else { measure.join(state, &after) }
            }
        }
        PathPart::End(step) => measure.step(state, if last { step.ending_warp() } else { *step }),
        PathPart::Sides(sides) => {
            // Sums of maxima are maxima of sums: each side is gone through once, the second from the larger of where it
            // may begin. Where the first may be all there is or be followed by the second, its end counts as one that is
            // followed, which takes an issue slot more at most.
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
        PathPart::Loop(rounds) => rounds_of(measure, rounds, state),
        PathPart::Leave(way) => {
            let mut gone = state.clone();
            walk(measure, &way.paths, &mut gone, false, &mut None);
            if way.first {
                measure.join(state, &gone);
            }
            join_into(measure, left, &gone);
        }
    }
}

fn join_into<M: Measure>(measure: &M, into: &mut Option<M::State>, other: &M::State) {
    match into {
        Some(into) => measure.join(into, other),
        None => *into = Some(other.clone()),
    }
}

/// A loop, from its beginning to where all have left it.
fn rounds_of<M: Measure>(measure: &M, rounds: &Rounds, state: &mut M::State) {
    let mut left = None;
    repeat(measure, state, rounds.most.saturating_add(1), |state| {
        walk(measure, &rounds.round, state, false, &mut left);
    });
    let Some(mut left) = left else { return };
    if rounds.ways_after().next().is_some() {
        // those that left in earlier rounds, one after the other
        let mut most = left.clone();
        let ways = rounds.ways_after().count() as u64;
        let waiting = rounds.most.saturating_add(1).saturating_mul(ways) - 1;
        repeat(measure, &mut left, waiting, |state| {
            let mut after = None;
            for way in rounds.ways_after() {
                let mut gone = state.clone();
                walk(measure, way, &mut gone, false, &mut None);
                join_into(measure, &mut after, &gone);
            }
            *state = after.expect("there is a way");
            measure.join(&mut most, state);
        });
        left = most;
    }
    *state = left;
}

/// Goes through so many rounds. What a round does is linear: once a state is an earlier one that has grown, the rounds
/// from there on repeat what was before, each time as much later. Whatever a repetition leads to grows from one to the next, or
/// falls, by the same: the largest is in the first or in the last, and all between them are left out.
fn repeat<M: Measure>(measure: &M, state: &mut M::State, times: u64, mut round: impl FnMut(&mut M::State)) {
    // the period is found as Brent does: against a state that is renewed after 1, 2, 4, .. rounds
    let (mut anchor, mut since, mut renew) = (Some(state.clone()), 0u64, 1u64);
    let mut left = times;
    while left > 0 {
        round(state);
        left -= 1;
        since += 1;
        let Some(before) = &anchor else { continue };
        if let Some(growth) = measure.growth(before, state) {
            let repetitions = (left / since).saturating_sub(1);
            measure.grow(state, growth.saturating_mul(repetitions.into()));
            left -= repetitions * since;
            anchor = None;
        } else if since == renew {
            (anchor, since, renew) = (Some(state.clone()), 0, renew.saturating_mul(2));
        }
    }
}
