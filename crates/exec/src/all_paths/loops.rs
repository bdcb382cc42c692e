//! Loops: iterations that are walked one by one, and iterations that are represented as a whole.

use super::super::fault::{self, Fault};
use super::fork::{Fork, Leaving};
use super::state::{InLoop, State};
use super::walker::{Begin, Walked, Walker, Whole};
use warpbound_core::base::{LaneMask, Pc, RegId};
use warpbound_core::path::{LoopIterations, PathPart, PathSet, Way};
use warpbound_core::program::Flow;

/// The number of iterations of a loop that are walked one by one, each with its own known values.
/// The remaining iterations of a loop with a bound are represented by one part of the path: the
/// loop is *taken as a whole*.
const SEPARATE_ITERATIONS: u64 = 64;

impl Walker<'_, '_> {
    /// Enters a block. Returns false if a loop would exceed its bound.
    pub(super) fn enter(&mut self, state: &mut State, block: usize, pc: Pc) -> Result<bool, Fault> {
        state.loops.retain(|inside| self.flow.contains(inside.outermost, block));
        state
            .loops
            .iter_mut()
            .filter(|inside| !self.flow.contains(inside.index, block))
            .for_each(InLoop::leave);
        let Some(index) = self.flow.loop_headed_by(block) else { return Ok(true) };
        let outermost = self.flow.outermost(index);
        let Some(inside) = state.loops.iter_mut().find(|inside| inside.index == index) else {
            state.loops.push(InLoop {
                index,
                outermost,
                rounds: Some(0),
                arrivals: 1,
                known_exit: false,
                unknown_exit: None,
            });
            return Ok(true);
        };
        inside.arrivals += 1;
        let Some(rounds) = inside.rounds else {
            *inside = InLoop { rounds: Some(0), known_exit: false, unknown_exit: None, ..*inside };
            return Ok(self.flow.most_arrivals(index).is_none_or(|most| inside.arrivals <= most));
        };
        inside.rounds = Some(rounds + 1);
        let bound = self.flow.bound(index);
        if bound.is_some_and(|most| rounds + 1 > most)
            || self.flow.most_arrivals(index).is_some_and(|most| inside.arrivals > most)
        {
            return Ok(false);
        }
        if let (None, false, Some((branch, cause))) = (bound, inside.known_exit, inside.unknown_exit) {
            return Err(self.unbounded(pc, branch, cause));
        }
        (inside.known_exit, inside.unknown_exit) = (false, None);
        Ok(true)
    }

    /// Returns the loop that begins here and is to be taken as a whole from now on, and the number
    /// of its iterations so far.
    pub(super) fn is_to_be_whole(&self, state: &State, pc: Pc) -> Option<(usize, u64)> {
        let index = self.flow.loop_headed_by(self.flow.block_at(pc)?)?;
        let inside = state.loops.iter().find(|inside| inside.index == index)?;
        let rounds = inside
            .rounds
            .filter(|&rounds| rounds >= SEPARATE_ITERATIONS || self.flow.diverges_permanently(index))?;
        self.flow.bound(index).filter(|&most| most > rounds).map(|_| (index, rounds))
    }

    /// Records whether a branch out of loops depends on an unknown value.
    pub(super) fn note_exit(
        &self,
        state: &mut State,
        pc: Pc,
        regs: &[RegId],
        (target, next): (Pc, Pc),
        sides: &Fork,
    ) {
        let unknown = !(sides.taken & sides.stay).is_empty();
        let cause = state.values.origin_of(regs);
        for inside in state.loops.iter_mut().filter(|inside| inside.rounds.is_some()) {
            let leaves = |to: Pc| !self.flow.contains_pc(inside.index, to);
            if leaves(target) != leaves(next) {
                match unknown {
                    true => inside.unknown_exit = Some((pc, cause)),
                    false => inside.known_exit = true,
                }
            }
        }
    }

    /// Records that it depends on an unknown value whether lanes end in the loops around them.
    pub(super) fn note_unknown_end(&self, state: &mut State, pc: Pc, reg: RegId) {
        let cause = state.values.origin_of(&[reg]);
        for inside in state.loops.iter_mut().filter(|inside| inside.rounds.is_some()) {
            inside.unknown_exit = Some((pc, cause));
        }
    }

    /// Walks the remaining iterations of a loop as a whole, starting at its header. Returns the
    /// point at which the lanes that left the loop reconverge; `None` if all of them end first.
    pub(super) fn whole(
        &mut self,
        state: &mut State,
        (index, header): (usize, Pc),
        until: Option<Pc>,
        most: u64,
        out: &mut Walked,
    ) -> Result<Option<Pc>, Fault> {
        if self.meeting.is_some() && self.flow.splits(index) {
            let feature = "lanes that leave a loop that is taken as a whole, before they meet at a barrier";
            return Err(self.beyond(header, feature));
        }
        let before = state.must;
        let (round, whole) = self.any_round(state, (index, header), until)?;
        let Some(left) = whole.left else {
            let hint = "no exit of it was found after its first iterations";
            return Err(fault::at(self.context.program, header, "a loop that does not end".to_owned(), hint));
        };
        if !(round.away | whole.away).is_empty() {
            return Err(self.beyond(header, "a BREAK out of a loop that is taken as a whole"));
        }
        if !(round.gone | whole.gone).is_empty() {
            let message = "threads that end in a loop that is taken as a whole: a loop of more than 64 iterations, or one whose lanes diverge and do not reconverge";
            return Err(self.beyond(header, message));
        }
        // lanes that leave several such loops at once
        if let (Some(outer), Some(join)) = (self.wholes.last(), whole.join)
            && !join.is_some_and(|join| self.flow.contains_pc(outer.index, join))
        {
            return Err(self.beyond(header, "exits of several loops that are taken as a whole"));
        }
        let most = if round.possible { most } else { 0 };
        if whole.starts.is_empty() {
            let rounds = LoopIterations { header, round: round.paths, most };
            out.paths.push_part(PathPart::Loop(Box::new(rounds)));
        } else {
            let round = whole.starts.into_iter().fold(round.paths, PathSet::either);
            let lanes = u64::from(state.may.count());
            push_strands(LoopIterations { header, round, most }, lanes, &mut out.paths);
        }
        *state = left;
        state.must = out.remaining(before);
        Ok(whole.join.flatten())
    }

    /// Walks an iteration of a loop from `state` on, and makes the values unknown that it changes.
    /// Repeats this until it changes no known value: the known values of `state` then hold at the
    /// beginning of every iteration. Returns the last walk, and the lanes that left the loop in it.
    fn any_round(
        &mut self,
        state: &mut State,
        (index, header): (usize, Pc),
        until: Option<Pc>,
    ) -> Result<(Walked, Whole), Fault> {
        state.must = LaneMask::empty();
        loop {
            let mut after = state.clone();
            for inside in after.loops.iter_mut().filter(|inside| inside.index == index) {
                (inside.rounds, inside.arrivals) = (Some(0), 0);
            }
            self.wholes.push(Whole {
                index,
                until,
                join: None,
                left: None,
                gone: LaneMask::empty(),
                away: LaneMask::empty(),
                starts: Vec::new(),
            });
            let walked = self.walk(&mut after, header, Some(header), Begin::Round);
            let whole = self.wholes.pop().expect("pushed above");
            let walked = walked?;
            if after.values.warp.groups != state.values.warp.groups {
                return Err(self.beyond(header, "asynchronous copies in a loop that is taken as a whole"));
            }
            if !walked.possible || after.may.is_empty() || !state.values.forget(&after.values, after.may) {
                return Ok((walked, whole));
            }
        }
    }

    /// Returns the side of a branch that leaves the loop that is taken as a whole, and the point at
    /// which lanes that have left the loop wait, if they do not reconverge earlier. Returns `None`
    /// if the branch does not leave the loop.
    pub(super) fn leaves_whole(
        &self,
        pc: Pc,
        join: Option<Pc>,
        (target, next): (Pc, Pc),
    ) -> Result<Option<(Leaving, Option<Pc>)>, Fault> {
        let Some(whole) = self.wholes.last() else { return Ok(None) };
        let meets_beyond = |outer: &Whole| {
            self.flow.contains_pc(outer.index, pc)
                && !join.is_some_and(|join| self.flow.contains_pc(outer.index, join))
        };
        if self.wholes[..self.wholes.len() - 1].iter().any(meets_beyond) {
            return Err(self.beyond(pc, "exits of several loops that are taken as a whole"));
        }
        let inside = |pc: Pc| self.flow.contains_pc(whole.index, pc);
        if !inside(pc) || join.is_some_and(inside) {
            return Ok(None);
        }
        if self.flow.innermost(pc) != Some(whole.index) {
            return Err(self.beyond(pc, "exits of several loops of which one is taken as a whole"));
        }
        match (inside(target), inside(next)) {
            (true, false) => Ok(Some((Leaving::Stays, whole.until))),
            (false, true) => Ok(Some((Leaving::Taken, whole.until))),
            // both sides stay, and do not reconverge in the loop; every branch in a loop has a side
            // that stays
            (false, false) | (true, true) => Ok(None),
        }
    }

    /// Returns the header of the loop that is taken as a whole, if both sides of a branch in it
    /// stay in the loop and do not reconverge in it.
    pub(super) fn header_if_diverged(&self, pc: Pc, join: Option<Pc>) -> Option<Pc> {
        let whole = self.wholes.last()?;
        let inside = |pc: Pc| self.flow.contains_pc(whole.index, pc);
        (inside(pc) && !join.is_some_and(inside)).then(|| self.flow.header(whole.index))
    }

    /// Walks lanes that leave the loop that is taken as a whole. Returns the point at which the
    /// lanes that stay in the loop continue, if there are any.
    pub(super) fn leave(
        &mut self,
        state: &mut State,
        (target, next): (Pc, Pc),
        sides: &Fork,
        leaving: Leaving,
        join: Option<Pc>,
        out: &mut Walked,
    ) -> Result<Option<Pc>, Fault> {
        let (way_from, stay_at, leave, stay) = match leaving {
            Leaving::Taken => (target, next, sides.taken, sides.stay),
            Leaving::Stays => (next, target, sides.stay, sides.taken),
        };
        let mut leaving_state = state.clone();
        (leaving_state.may, leaving_state.must) = (leave, LaneMask::empty());
        // the lanes that leave this loop are in no inner loop that is taken as a whole
        let whole = self.wholes.pop().expect("a loop is taken as a whole here");
        let others = usize::from(self.flow.splits(whole.index));
        let way = self.beside(others, |this| this.walk(&mut leaving_state, way_from, join, Begin::Comes));
        self.wholes.push(whole);
        let way = way?;
        self.check_copies(way_from, &leaving_state.values.warp.groups, &state.values.warp.groups)?;
        let whole = self.wholes.last_mut().expect("pushed above");
        if whole.join.is_some_and(|known| known != join) {
            return Err(self.beyond(
                way_from,
                "exits of a loop of more than 64 iterations that meet in different places",
            ));
        }
        whole.join = Some(join);
        whole.gone |= way.gone;
        whole.away |= way.away;
        if way.possible {
            match &mut whole.left {
                Some(left) => left.meet(&leaving_state),
                None => whole.left = Some(leaving_state),
            }
            let first = leaving == Leaving::Taken;
            out.paths.push_part(PathPart::Leave(Box::new(Way { paths: way.paths, first })));
        }
        (state.may, state.must) = (stay, LaneMask::empty());
        Ok((!stay.is_empty()).then_some(stay_at))
    }

    fn unbounded(&self, header: Pc, branch: Pc, cause: Option<Pc>) -> Fault {
        let program = self.context.program;
        let line = program.instr(header).line;
        let cause = match cause.map(|pc| program.instr(pc).line) {
            Some(cause) => format!("the result of line {cause}"),
            None => "unknown data".to_owned(),
        };
        let exit = program.instr(branch);
        let how = if exit.flow == Flow::Exit { "the end of threads" } else { "the branch" };
        let message = format!(
            "the number of iterations of the loop of line {line} depends on {cause}, through {how} in line {}",
            exit.line
        );
        let hint = format!("give the largest number of times that it goes back: --loop-bound {line}=N");
        fault::at(program, header, message, &hint)
    }
}

/// Appends the iterations of a loop whose lanes iterate separately: one group of lanes until it has
/// left, then another group, from the points where its lanes were. However often lanes diverge,
/// there are no more groups than lanes.
fn push_strands(rounds: LoopIterations, lanes: u64, paths: &mut PathSet) {
    let (header, most) = (rounds.header, rounds.most);
    let ways: Vec<PathSet> = rounds.ways_after().cloned().collect();
    let strand = PathPart::Loop(Box::new(rounds));
    let mut more = PathSet::leaving();
    more.push_part(strand.clone());
    paths.push_part(strand);
    paths.push_part(PathPart::Loop(Box::new(LoopIterations { header, round: more, most: lanes - 1 })));
    let waiting = lanes.saturating_mul(ways.len() as u64);
    for way in ways {
        let mut again = PathSet::leaving();
        again.append(way);
        let most = waiting.saturating_mul(most.saturating_add(1));
        paths.push_part(PathPart::Loop(Box::new(LoopIterations { header, round: again, most })));
    }
}
