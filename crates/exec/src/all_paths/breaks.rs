//! Regions of machine code that lanes leave early, by BREAK.
//!
//! Such lanes wait at the end of an outer region. A region at whose end they arrive is walked as a
//! whole, up to its end. While it is walked, lanes that have left inner regions count as lanes that
//! may be gone; at its end they join the others.

use super::super::fault::Fault;
use super::fork::{Fork, Onward};
use super::state::State;
use super::walker::{Begin, Early, Walked, Walker};
use warpbound_core::base::{LaneMask, Pc};
use warpbound_core::path::{PathPart, Sides, Step};

impl Walker<'_, '_> {
    /// Walks a region from the instruction behind its BSSY to its end, where lanes arrive early.
    pub(super) fn region(
        &mut self,
        state: &mut State,
        (next, join): (Pc, Pc),
        until: Option<Pc>,
        out: &mut Walked,
    ) -> Result<Onward, Fault> {
        let must = state.must;
        self.early.push(Early { join, arrived: None, lanes: LaneMask::empty() });
        let walked = self.walk(state, next, Some(join), Begin::Comes)?;
        let early = self.early.pop().expect("pushed above");
        out.paths.append(walked.paths);
        out.gone |= walked.gone;
        // lanes that wait at the end of a region further out
        out.away |= self.early.iter().fold(LaneMask::empty(), |lanes, outer| lanes | outer.lanes);
        match early.arrived {
            Some(arrived) if !walked.possible || state.may.is_empty() => *state = arrived,
            Some(arrived) => {
                self.check_copies(next, state, &arrived)?;
                state.meet(&arrived);
            }
            None if !walked.possible => return Ok(Onward::Never),
            None => {}
        }
        state.must = must - out.gone - out.away;
        state.must &= state.may;
        self.meet_at(state, Some(join), until, out)
    }

    /// Walks a branch that takes lanes which have left regions by BREAK. They wait at `outside`, and
    /// the others continue up to `join`.
    pub(super) fn leave_regions(
        &mut self,
        state: &mut State,
        pc: Pc,
        (target, next): (Pc, Pc),
        (outside, join): (Pc, Option<Pc>),
        until: Option<Pc>,
        out: &mut Walked,
    ) -> Result<Onward, Fault> {
        let within = |pc: Pc| self.wholes.last().is_none_or(|whole| self.flow.contains_pc(whole.index, pc));
        if !within(outside) || join.is_some_and(|join| !within(join)) {
            return Err(self.beyond(pc, "a BREAK out of a loop that is taken as a whole"));
        }
        let sides = self.sides(state, pc, (target, next));
        out.paths.push(Step::plain(pc));
        if sides.taken.is_empty() {
            return Ok(Onward::To(next));
        }
        let before = state.must;
        let mut leaving = state.clone();
        (leaving.may, leaving.must) = (sides.taken, sides.taken_sure);
        self.others += usize::from(sides.others);
        let first = self.walk(&mut leaving, target, Some(outside), Begin::Comes)?;
        self.others -= usize::from(sides.others);
        if !first.possible {
            return Err(self.beyond(target, "lanes that leave regions by BREAK and exceed the bound of a loop"));
        }
        out.gone |= first.gone;
        out.away |= first.away | sides.taken;
        if !leaving.may.is_empty() {
            self.arrive_early(pc, outside, leaving)?;
        }
        if sides.stay.is_empty() {
            out.paths.append(first.paths);
            (state.may, state.must) = (LaneMask::empty(), LaneMask::empty());
            return Ok(Onward::Nowhere);
        }
        (state.may, state.must) = (sides.stay, sides.stay_sure);
        let second = self.walk(state, next, join, Begin::Comes)?;
        if !second.possible {
            return Err(self.beyond(next, "lanes that leave regions by BREAK while others exceed the bound of a loop"));
        }
        out.gone |= second.gone;
        out.away |= second.away;
        let Fork { both, .. } = sides;
        if both && !sides.taken_sure.is_empty() && !sides.stay_sure.is_empty() {
            out.paths.append(first.paths);
            out.paths.append(second.paths);
        } else {
            out.paths.push_part(PathPart::Sides(Box::new(Sides {
                first: first.paths,
                second: second.paths,
                both,
                first_alone: sides.stay_sure.is_empty(),
                second_alone: sides.taken_sure.is_empty(),
            })));
        }
        state.must = before - out.gone - out.away;
        state.must &= state.may;
        self.meet_at(state, join, until, out)
    }

    /// Records lanes that have arrived early at the end of a region.
    fn arrive_early(&mut self, pc: Pc, join: Pc, arrived: State) -> Result<(), Fault> {
        let Some(at) = self.early.iter().rposition(|early| early.join == join) else {
            return Err(self.beyond(pc, "a BREAK to the end of a region that was opened elsewhere"));
        };
        self.early[at].lanes |= arrived.may;
        match self.early[at].arrived.take() {
            None => self.early[at].arrived = Some(arrived),
            Some(mut known) => {
                self.check_copies(pc, &known, &arrived)?;
                known.meet(&arrived);
                self.early[at].arrived = Some(known);
            }
        }
        Ok(())
    }

    /// Checks that lanes on two paths have the same asynchronous copies in flight.
    pub(super) fn check_copies(&self, pc: Pc, these: &State, those: &State) -> Result<(), Fault> {
        if these.values.warp.groups == those.values.warp.groups {
            return Ok(());
        }
        Err(self.beyond(pc, "asynchronous copies that depend on data"))
    }
}
