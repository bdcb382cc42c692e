//! Regions of machine code that lanes leave early, by BREAK.
//!
//! Such lanes wait at the end of an outer region. A region at whose end they arrive is walked as a
//! whole, up to its end. While it is walked, lanes that have left inner regions count as lanes that
//! may be gone; at its end they join the others.

use super::super::fault::Fault;
use super::fork::Onward;
use super::state::State;
use super::walker::{Begin, Early, Walked, Walker};
use warpbound_core::base::{LaneMask, Pc};
use warpbound_core::path::{PathSet, Step};

/// The ways of lanes behind a branch that parts those that have left regions from the others.
pub(super) struct Parting {
    /// The end of the region at which the former wait.
    pub(super) outside: Pc,
    /// The end of the region at which the others wait.
    pub(super) join: Pc,
    /// Whether the former take the branch.
    pub(super) taken: bool,
}

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
                self.check_copies(next, &state.values.warp.groups, &arrived.values.warp.groups)?;
                state.meet(&arrived);
            }
            None if !walked.possible => return Ok(Onward::Never),
            None => {}
        }
        state.must = out.remaining(must) & state.may;
        self.meet_at(state, Some(join), until, out)
    }

    /// Walks a branch that parts lanes which have left regions by BREAK from the others.
    pub(super) fn leave_regions(
        &mut self,
        state: &mut State,
        pc: Pc,
        (target, next): (Pc, Pc),
        Parting { outside, join, taken }: Parting,
        until: Option<Pc>,
        out: &mut Walked,
    ) -> Result<Onward, Fault> {
        self.stays_in_whole(pc, outside)?;
        self.stays_in_whole(pc, join)?;
        let before = state.must;
        let sides = self.sides(state, pc, (target, next));
        out.paths.push(Step::plain(pc));
        let (leaves, stays) = if taken { (sides.taken, sides.stay) } else { (sides.stay, sides.taken) };
        if leaves.is_empty() {
            return Ok(Onward::To(if taken { next } else { target }));
        }
        let mut other = state.clone();
        (state.may, state.must) = (sides.taken, sides.taken_sure);
        (other.may, other.must) = (sides.stay, sides.stay_sure);
        let ends = if taken { (outside, join) } else { (join, outside) };
        let mut sets = (PathSet::default(), PathSet::default());
        // while lanes that have left are on their way, lanes at the end of the inner region may run
        let (first, second) = (usize::from(sides.others) + usize::from(taken), usize::from(!taken));
        if !sides.taken.is_empty() {
            sets.0 = self.beside(first, |this| this.side(state, (target, ends.0), out))?;
        }
        if !sides.stay.is_empty() {
            sets.1 = self.beside(second, |this| this.side(&mut other, (next, ends.1), out))?;
        }
        out.away |= leaves;
        if taken {
            std::mem::swap(state, &mut other);
        }
        if !other.may.is_empty() {
            self.arrive_early(pc, outside, other)?;
        }
        if sides.taken.is_empty() || sides.stay.is_empty() {
            // one of the sets is empty
            out.paths.append(sets.0);
            out.paths.append(sets.1);
        } else {
            sides.append_to(&mut out.paths, sets.0, sets.1);
        }
        if stays.is_empty() {
            (state.may, state.must) = (LaneMask::empty(), LaneMask::empty());
            return Ok(Onward::Nowhere);
        }
        state.must = out.remaining(before) & state.may;
        self.meet_at(state, Some(join), until, out)
    }

    /// Walks the lanes of the state, all of which have left a region by BREAK, up to the end of the
    /// region around it.
    pub(super) fn leave_region(
        &mut self,
        state: &mut State,
        (pc, next): (Pc, Pc),
        outside: Pc,
        out: &mut Walked,
    ) -> Result<Onward, Fault> {
        self.stays_in_whole(pc, outside)?;
        out.away |= state.may;
        let mut leaving = state.clone();
        // lanes that wait at the end of the region that these lanes leave may run now
        let paths = self.beside(1, |this| this.side(&mut leaving, (next, outside), out))?;
        out.paths.append(paths);
        if !leaving.may.is_empty() {
            self.arrive_early(pc, outside, leaving)?;
        }
        (state.may, state.must) = (LaneMask::empty(), LaneMask::empty());
        Ok(Onward::Nowhere)
    }

    /// Checks that lanes do not leave a loop that is taken as a whole.
    fn stays_in_whole(&self, pc: Pc, to: Pc) -> Result<(), Fault> {
        if self.wholes.last().is_none_or(|whole| self.flow.contains_pc(whole.index, to)) {
            return Ok(());
        }
        Err(self.beyond(pc, "a BREAK out of a loop that is taken as a whole"))
    }

    /// Walks a side of such a branch, and returns its paths.
    fn side(&mut self, state: &mut State, (from, to): (Pc, Pc), out: &mut Walked) -> Result<PathSet, Fault> {
        let groups = state.values.warp.groups.clone();
        let walked = self.walk(state, from, Some(to), Begin::Comes)?;
        if groups != state.values.warp.groups {
            return Err(self.beyond(from, "asynchronous copies behind a BREAK"));
        }
        if !walked.possible {
            return Err(self.beyond(from, "bounds of loops that lanes exceed behind a BREAK"));
        }
        out.lose(&walked);
        Ok(walked.paths)
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
                self.check_copies(pc, &known.values.warp.groups, &arrived.values.warp.groups)?;
                known.meet(&arrived);
                self.early[at].arrived = Some(known);
            }
        }
        Ok(())
    }
}
