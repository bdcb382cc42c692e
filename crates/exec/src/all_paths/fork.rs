//! Branches, whose two sides are walked: a warp may execute one of them, or both, one after the
//! other.

use super::super::fault::Fault;
use super::state::State;
use super::walker::{Begin, Meeting, Walked, Walker};
use warpbound_core::base::{LaneMask, Pc};
use warpbound_core::path::{PathPart, PathSet, Sides, Step};
use warpbound_core::program::joins::MeetingPlace;

/// The lanes on both sides of a branch.
#[derive(Debug)]
pub(super) struct Fork {
    pub(super) taken: LaneMask,
    pub(super) taken_sure: LaneMask,
    pub(super) stay: LaneMask,
    pub(super) stay_sure: LaneMask,
    /// Whether in the same run some lanes may take the branch and others not.
    pub(super) both: bool,
    /// Whether lanes may be on the second side while the first one is executed.
    pub(super) others: bool,
}

impl Fork {
    /// Returns whether it is certain that lanes take both sides, one after the other.
    fn is_sequential(&self) -> bool {
        !self.taken_sure.is_empty() && !self.stay_sure.is_empty()
    }

    /// Appends the paths of both sides, the first of which belongs to the lanes that take the branch.
    pub(super) fn append_to(&self, paths: &mut PathSet, first: PathSet, second: PathSet) {
        if self.is_sequential() {
            paths.append(first);
            paths.append(second);
        } else {
            paths.push_part(PathPart::Sides(Box::new(Sides {
                first,
                second,
                both: self.both,
                first_alone: self.stay_sure.is_empty(),
                second_alone: self.taken_sure.is_empty(),
            })));
        }
    }

    /// Removes a side that is impossible because the branch has the same outcome in all lanes.
    fn settle(&mut self, may_diverge: bool) {
        self.both = self.is_sequential() || may_diverge && (self.taken | self.stay).count() > 1;
        self.others = self.both;
        if !self.both && !self.taken_sure.is_empty() {
            self.stay = LaneMask::empty();
        }
        if !self.both && !self.stay_sure.is_empty() {
            self.taken = LaneMask::empty();
        }
    }
}

/// The side of a branch that leaves a loop.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Leaving {
    /// The lanes that take the branch.
    Taken,
    /// The lanes that do not take it.
    Stays,
}

/// The point at which a walk continues after a branch.
pub(super) enum Onward {
    /// The walk continues there, and lanes reach the point now.
    To(Pc),
    /// The walk continues there, and lanes have reached the point already, by different paths.
    Met(Pc),
    /// The walk does not continue: all lanes ended, left, or were followed to the end of the walk.
    Nowhere,
    /// The path is impossible.
    Never,
}

impl Walker<'_, '_> {
    /// Walks a branch, given its target, the next instruction, and the reconvergence point of the
    /// two sides. Returns the point at which the walk continues.
    pub(super) fn branch(
        &mut self,
        state: &mut State,
        pc: Pc,
        (target, next, reconverge): (Pc, Pc, Option<Pc>),
        until: Option<Pc>,
        out: &mut Walked,
    ) -> Result<Onward, Fault> {
        let mut sides = self.sides(state, pc, (target, next));
        out.paths.push(Step::plain(pc));
        let leaves = self.leaves_whole(pc, reconverge, (target, next));
        let alone = match (sides.taken.is_empty(), sides.stay.is_empty()) {
            (_, true) => Some((Leaving::Taken, target)),
            (true, false) => Some((Leaving::Stays, next)),
            (false, false) => None,
        };
        if let Some((side, place)) = alone {
            return match leaves? {
                Some((leaving, outer)) if leaving == side => {
                    let join = reconverge.or(outer);
                    self.leave(state, (target, next), &sides, leaving, join, out)?;
                    Ok(Onward::Nowhere)
                }
                _ => Ok(Onward::To(place)),
            };
        }
        if let Some((leaving, outer)) = leaves? {
            let join = reconverge.or(outer);
            let stay = self.leave(state, (target, next), &sides, leaving, join, out)?;
            return Ok(stay.map_or(Onward::Nowhere, Onward::To));
        }
        if sides.both && self.parts_before_meeting(reconverge) {
            return Err(self.beyond(pc, "lanes that diverge again before they meet at a barrier"));
        }
        if let Some(place) = self.flow.meeting_of(pc).filter(|_| sides.both && !self.lanes_elsewhere()) {
            let at = place.onward();
            self.meeting = Some(Meeting { place, region: reconverge, calls: self.calls.len() });
            let possible = self.fork(state, (target, next), sides, Some(at), out)?;
            self.meeting = None;
            return if possible { self.meet_at(state, Some(at), until, out) } else { Ok(Onward::Never) };
        }
        let mut join = reconverge.or(until);
        let apart = self.header_if_diverged(pc, reconverge);
        if let Some(header) = apart {
            // the lanes on one side continue only when the lanes on the other side have left the
            // loop
            (sides.both, join) = (false, Some(header));
        }
        let possible = self.fork(state, (target, next), sides, join, out)?;
        if let (Some(_), Some(PathPart::Sides(sides))) = (apart, out.paths.parts().last())
            && let Some(whole) = self.wholes.last_mut()
        {
            whole.starts.push(sides.second.clone());
        }
        if !possible {
            return Ok(Onward::Never);
        }
        self.meet_at(state, join, until, out)
    }

    /// Returns whether lanes that diverge at a branch meet only where both sides of an outer branch
    /// meet at a barrier or WARPSYNC. Then the stack does not turn to the sides one after the other.
    fn parts_before_meeting(&self, reconverge: Option<Pc>) -> bool {
        let same = |meeting: Meeting| meeting.region == reconverge && meeting.calls == self.calls.len();
        self.meeting.is_some_and(same)
    }

    /// Returns whether both sides of a branch meet at this WARPSYNC.
    pub(super) fn meets_at(&self, pc: Pc) -> bool {
        let here = |meeting: Meeting| meeting.place == MeetingPlace::WarpSync(pc);
        self.meeting.is_some_and(|meeting| here(meeting) && meeting.calls == self.calls.len())
    }

    /// Returns the lanes on both sides of a branch, given its target and the next instruction.
    pub(super) fn sides(&self, state: &mut State, pc: Pc, (target, next): (Pc, Pc)) -> Fork {
        let guard_of = self.context.program.instr(pc).guard;
        let guard = state.values.guard(guard_of, state.may);
        let mut sides = Fork {
            taken: guard.may,
            taken_sure: guard.must & state.must,
            stay: state.may - guard.must,
            stay_sure: state.must - guard.may,
            both: true,
            others: true,
        };
        sides.settle(self.flow.may_diverge(pc));
        if let Some(guard) = guard_of {
            self.note_exit(state, pc, &[guard.reg], (target, next), &sides);
        }
        sides
    }

    /// Walks both sides of a branch up to the reconvergence point, and returns whether that is
    /// possible.
    fn fork(
        &mut self,
        state: &mut State,
        (target, next): (Pc, Pc),
        sides: Fork,
        join: Option<Pc>,
        out: &mut Walked,
    ) -> Result<bool, Fault> {
        let before = state.must;
        let sequential = sides.is_sequential();
        let groups = state.values.warp.groups.clone();
        let mut other = state.clone();
        (state.may, state.must) = (sides.taken, sides.taken_sure);
        let others = usize::from(sides.others);
        let first = self.beside(others, |this| this.walk(state, target, join, Begin::Comes))?;
        if sequential {
            other.values.warp.groups = state.values.warp.groups.clone();
        }
        (other.may, other.must) = (sides.stay, sides.stay_sure);
        let second = self.walk(&mut other, next, join, Begin::Comes)?;
        if !sequential {
            self.check_copies(target, &state.values.warp.groups, &groups)?;
            self.check_copies(target, &other.values.warp.groups, &groups)?;
        }
        out.lose(&first);
        out.lose(&second);
        let lost = |side: &Walked| !side.possible && side.paths.leaves();
        if lost(&first) || lost(&second) {
            return Err(self.beyond(
                target,
                "loops of more than 64 iterations that some lanes leave before other lanes exceed a bound",
            ));
        }
        match (first.possible, second.possible) {
            (true, true) => {
                sides.append_to(&mut out.paths, first.paths, second.paths);
                state.meet(&other);
                state.values.warp.groups = other.values.warp.groups;
            }
            (true, false) if sides.stay_sure.is_empty() => out.paths.append(first.paths),
            (false, true) if sides.taken_sure.is_empty() => {
                out.paths.append(second.paths);
                *state = other;
            }
            _ => return Ok(false),
        }
        state.must = out.remaining(before) & state.may;
        Ok(true)
    }
}
