//! A warp that goes every way it may.

use super::super::barrier;
use super::super::code::Code;
use super::super::context::Context;
use super::super::fault::{self, Fault};
use super::super::lanes::width_mask;
use super::effect::{Effects, Executions};
use super::flow::CodeFlow;
use super::values::Values;
use crate::base::{LaneMask, Pc, RegId};
use crate::path::{BarrierUse, PathPart, PathSet, Rounds, Sides, Step, Way};
use crate::program::Sem;
use crate::program::sem::{Barrier, BarrierKind};

/// Rounds of a loop that are gone through one by one, with what is known in each. After that a loop with a bound is taken
/// as a whole.
const ROUNDS_APART: u64 = 64;

/// Walks within walks. Each is a branch whose sides lanes may both take.
const DEEPEST: usize = 6000;

/// Where the lanes of a warp are: all in one place, as far as they take part.
#[derive(Clone, Debug)]
pub(super) struct State {
    pub(super) values: Values,
    /// Lanes that may be here. If any path comes here, one of them is.
    pub(super) may: LaneMask,
    /// Lanes that are here if any path comes here.
    pub(super) must: LaneMask,
    /// The loops around this place, outer ones first.
    loops: Vec<InLoop>,
}

/// A loop that lanes are in.
#[derive(Clone, Copy, Debug)]
struct InLoop {
    index: usize,
    /// The outermost loop around it.
    outermost: usize,
    /// How often they went back to its beginning since they came to it from outside, at least; none if they are not in it.
    rounds: Option<u64>,
    /// How often they came to its beginning since they came to the outermost loop from outside, at least.
    arrivals: u64,
    /// Whether in this round a way out depended on nothing unknown.
    known_exit: bool,
    /// A way out that depended on something unknown in this round: the branch, and what made it unknown.
    unknown_exit: Option<(Pc, Option<Pc>)>,
}

impl InLoop {
    fn leave(&mut self) {
        self.rounds = None;
    }
}

/// How a walk went.
#[derive(Debug)]
pub(super) struct Walked {
    /// What was executed.
    pub(super) paths: PathSet,
    /// Lanes that may have ended on the way.
    gone: LaneMask,
    /// Whether there is such a path: not if a loop would go round more often than its bound.
    pub(super) possible: bool,
}

/// A loop that is taken as a whole, in a walk over one of its rounds.
struct Whole {
    index: usize,
    /// Where lanes wait that meet nowhere before.
    until: Option<Pc>,
    /// Where those that left wait for the others.
    join: Option<Option<Pc>>,
    /// Those that left.
    left: Option<State>,
    gone: LaneMask,
    /// What lanes do, to the beginning of the loop, that went another way than others and waited until those had left.
    starts: Vec<PathSet>,
}

/// Walks the warps of a block.
pub(super) struct Walker<'w, 'a> {
    pub(super) context: &'w mut Context<'a>,
    pub(super) code: &'w Code,
    pub(super) flow: &'w CodeFlow,
    pub(super) effects: &'w Effects,
    /// Steps that may still be written down.
    pub(super) fuel: u64,
    /// Whether some barrier is not of all warps.
    pub(super) partial_barriers: bool,
    depth: usize,
    wholes: Vec<Whole>,
}

impl State {
    /// A warp at its beginning.
    pub(super) fn new(values: Values) -> Self {
        let lanes = values.warp.stack.live();
        Self { values, may: lanes, must: lanes, loops: Vec::new() }
    }
}

impl Walked {
    fn new() -> Self {
        Self { paths: PathSet::default(), gone: LaneMask::empty(), possible: true }
    }
}

impl<'w, 'a> Walker<'w, 'a> {
    pub(super) fn new(
        (context, code): (&'w mut Context<'a>, &'w Code),
        (flow, effects): (&'w CodeFlow, &'w Effects),
        fuel: u64,
    ) -> Self {
        Self { context, code, flow, effects, fuel, partial_barriers: false, depth: 0, wholes: Vec::new() }
    }

    /// Goes from `pc` until all lanes that do not end are at `until`; the state is that there.
    ///
    /// # Errors
    /// What the analysis has to know and does not, or the kernel does wrong.
    pub(super) fn walk(
        &mut self,
        state: &mut State,
        mut pc: Pc,
        until: Option<Pc>,
        begin: Begin,
    ) -> Result<Walked, Fault> {
        self.depth += 1;
        if self.depth > DEEPEST {
            let message = format!("branches on unknown data nest more than {DEEPEST} deep here");
            return Err(fault::at(
                self.context.program,
                pc,
                message,
                "give the loop a bound: --loop-bound LINE=N",
            ));
        }
        let mut out = Walked::new();
        // whether lanes have been seen to come to this place: those that meet here have come to it one by one
        let mut entered = begin != Begin::Comes;
        let mut arrived = begin != Begin::Round;
        let program = self.context.program;
        loop {
            if !std::mem::replace(&mut entered, false)
                && let Some(block) = self.flow.block_at(pc)
                && !self.enter(state, block, pc)?
            {
                self.depth -= 1;
                return Ok(Walked { possible: false, ..out });
            }
            if Some(pc) == until && arrived {
                break;
            }
            if arrived && let Some((index, rounds)) = self.is_to_be_whole(state, pc) {
                let most = self.flow.bound(index).unwrap_or(0) - rounds;
                let join = self.whole(state, (index, pc), until, most, &mut out)?;
                let Some(join) = join.filter(|_| !state.may.is_empty()) else { break };
                if Some(join) != until && !self.is_certain(state, &out) {
                    self.perhaps(state, (join, Begin::Is), until, &mut out)?;
                    break;
                }
                (pc, entered) = (join, true);
                continue;
            }
            arrived = true;
            let Some(instr) = program.instrs.get(pc.index()) else {
                let last = Pc::from_index(program.instrs.len().saturating_sub(1));
                let message = format!("a warp runs past the end of `{}`", program.name);
                return Err(fault::at(program, last, message, "end the kernel with `ret` or `exit`"));
            };
            if self.fuel == 0 {
                let message =
                    "the paths of a block have more steps than --max-instructions allows".to_owned();
                let hint = "give loops whose rounds depend on data a bound: --loop-bound LINE=N";
                return Err(fault::at(program, pc, message, hint));
            }
            self.fuel -= 1;
            let next = Pc::new(pc.get() + 1);
            match &instr.sem {
                Sem::Branch { target, reconverge } => {
                    let guard = state.values.guard(instr.guard, state.may);
                    let mut sides = Fork {
                        taken: guard.may,
                        taken_sure: guard.must & state.must,
                        stay: state.may - guard.must,
                        stay_sure: state.must - guard.may,
                        both: true,
                    };
                    let regs: Vec<RegId> = instr.guard.iter().map(|guard| guard.reg).collect();
                    sides.settle(self.flow.may_part(pc));
                    if !regs.is_empty() {
                        self.note_exit(state, pc, &regs, (*target, next), &sides);
                    }
                    out.paths.push(Step::plain(pc));
                    if (sides.stay.is_empty() || sides.taken.is_empty())
                        && let Some((leaving, outer)) = self.leaves_whole(pc, *reconverge, (*target, next))?
                        && (leaving == Leaving::Taken) == sides.stay.is_empty()
                    {
                        let join = reconverge.or(outer);
                        self.leave(state, (*target, next), &sides, leaving, join, &mut out)?;
                        break;
                    }
                    if sides.stay.is_empty() {
                        pc = *target;
                        continue;
                    }
                    if sides.taken.is_empty() {
                        pc = next;
                        continue;
                    }
                    let mut join = reconverge.or(until);
                    if let Some((leaving, outer)) = self.leaves_whole(pc, *reconverge, (*target, next))? {
                        let join = reconverge.or(outer);
                        let stay = self.leave(state, (*target, next), &sides, leaving, join, &mut out)?;
                        match stay {
                            Some(stay) => {
                                pc = stay;
                                continue;
                            }
                            None => break,
                        }
                    }
                    let apart = self.goes_apart(pc, *reconverge);
                    if let Some(header) = apart {
                        // whoever takes the other way does so when the others have left the loop
                        (sides.both, join) = (false, Some(header));
                    }
                    let possible = self.fork(state, (*target, next), sides, join, &mut out)?;
                    if let (Some(_), Some(PathPart::Sides(sides))) = (apart, out.paths.parts().last())
                        && let Some(whole) = self.wholes.last_mut()
                    {
                        whole.starts.push(sides.second.clone());
                    }
                    if !possible {
                        self.depth -= 1;
                        return Ok(Walked { possible: false, ..out });
                    }
                    if state.may.is_empty() {
                        break;
                    }
                    let Some(join) = join else { break };
                    if Some(join) != until && !self.is_certain(state, &out) {
                        self.perhaps(state, (join, Begin::Is), until, &mut out)?;
                        break;
                    }
                    (pc, entered) = (join, true);
                }
                Sem::Return | Sem::Exit => {
                    let guard = state.values.guard(instr.guard, state.may);
                    out.gone |= guard.may;
                    state.may.remove(guard.must);
                    state.must.remove(guard.may);
                    let step = Step::plain(pc);
                    if state.may.is_empty() {
                        out.paths.push_part(PathPart::End(step));
                        break;
                    }
                    if self.is_certain(state, &out) {
                        out.paths.push(step);
                        pc = next;
                        continue;
                    }
                    out.paths.push_part(PathPart::End(step));
                    self.perhaps(state, (next, Begin::Comes), until, &mut out)?;
                    break;
                }
                Sem::Barrier(barrier) => {
                    let step = self.barrier(state, pc, barrier)?;
                    out.paths.push(step);
                    pc = next;
                }
                Sem::Call(_) | Sem::CallPointer(_) => return Err(self.beyond(pc, "calls of functions")),
                Sem::BranchTable { .. } => return Err(self.beyond(pc, "branches through tables")),
                Sem::OpenRegion { .. } | Sem::CloseRegion { .. } => {
                    return Err(self.beyond(pc, "regions that instructions open and close"));
                }
                Sem::None => return Err(self.beyond(pc, "instructions without meaning")),
                // a run that comes here is none
                Sem::Trap { .. } => {
                    out.paths.push(Step::plain(pc));
                    pc = next;
                }
                _ => {
                    let lanes = (state.may, state.must);
                    let executions =
                        self.effects.execute(&mut state.values, self.context, self.code, pc, lanes)?;
                    match executions {
                        Executions::Exactly(step) => out.paths.push(step),
                        Executions::AtMost(steps) => out.paths.push_part(PathPart::OneOf(steps)),
                    }
                    pc = next;
                }
            }
        }
        self.depth -= 1;
        Ok(out)
    }

    /// Whether some lane is where the state says on every path of a walk.
    fn is_certain(&self, state: &State, out: &Walked) -> bool {
        !state.must.is_empty() || out.gone.is_empty()
    }

    /// All lanes may have ended, or some go on.
    fn perhaps(
        &mut self,
        state: &mut State,
        (pc, begin): (Pc, Begin),
        until: Option<Pc>,
        out: &mut Walked,
    ) -> Result<(), Fault> {
        let rest = self.walk(state, pc, until, begin)?;
        out.gone |= rest.gone;
        if rest.possible {
            out.paths.push_part(PathPart::Perhaps(rest.paths));
        } else {
            state.may = LaneMask::empty();
        }
        Ok(())
    }

    /// Both sides of a branch, to where they meet; whether that is possible.
    fn fork(
        &mut self,
        state: &mut State,
        (target, next): (Pc, Pc),
        sides: Fork,
        join: Option<Pc>,
        out: &mut Walked,
    ) -> Result<bool, Fault> {
        let before = state.must;
        let sequential = !sides.taken_sure.is_empty() && !sides.stay_sure.is_empty();
        let groups = state.values.warp.groups.clone();
        let mut other = state.clone();
        (state.may, state.must) = (sides.taken, sides.taken_sure);
        let first = self.walk(state, target, join, Begin::Comes)?;
        if sequential {
            other.values.warp.groups = state.values.warp.groups.clone();
        }
        (other.may, other.must) = (sides.stay, sides.stay_sure);
        let second = self.walk(&mut other, next, join, Begin::Comes)?;
        if !sequential && (state.values.warp.groups != groups || other.values.warp.groups != groups) {
            return Err(self.beyond(target, "asynchronous copies that depend on data"));
        }
        out.gone |= first.gone | second.gone;
        let lost = |side: &Walked| !side.possible && side.paths.leaves();
        if lost(&first) || lost(&second) {
            return Err(self.beyond(
                target,
                "loops of more than 64 rounds that lanes leave before others exceed a bound",
            ));
        }
        match (first.possible, second.possible) {
            (true, true) => {
                if sequential {
                    out.paths.append(first.paths);
                    out.paths.append(second.paths);
                } else {
                    out.paths.push_part(PathPart::Sides(Box::new(Sides {
                        first: first.paths,
                        second: second.paths,
                        both: sides.both,
                        first_alone: sides.stay_sure.is_empty(),
                        second_alone: sides.taken_sure.is_empty(),
                    })));
                }
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
        state.must = before - out.gone;
        state.must &= state.may;
        Ok(true)
    }

    /// Lanes come to the beginning of a block; whether they can, or a loop would have gone round too often.
    fn enter(&mut self, state: &mut State, block: usize, pc: Pc) -> Result<bool, Fault> {
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

    /// The loop that begins here and is to be taken as a whole from now on, and how often it has gone round.
    fn is_to_be_whole(&self, state: &State, pc: Pc) -> Option<(usize, u64)> {
        let index = self.flow.loop_headed_by(self.flow.block_at(pc)?)?;
        let inside = state.loops.iter().find(|inside| inside.index == index)?;
        let rounds =
            inside.rounds.filter(|&rounds| rounds >= ROUNDS_APART || self.flow.parts_for_good(index))?;
        self.flow.bound(index).filter(|&most| most > rounds).map(|_| (index, rounds))
    }

    /// Keeps in mind whether a branch out of loops depends on something unknown.
    fn note_exit(&self, state: &mut State, pc: Pc, regs: &[RegId], (target, next): (Pc, Pc), sides: &Fork) {
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

    /// A loop from where its rounds are no longer told apart, at its beginning. Where those that left it are together, unless all end.
    fn whole(
        &mut self,
        state: &mut State,
        (index, header): (usize, Pc),
        until: Option<Pc>,
        most: u64,
        out: &mut Walked,
    ) -> Result<Option<Pc>, Fault> {
        let before = state.must;
        state.must = LaneMask::empty();
        let (round, whole) = loop {
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
                starts: Vec::new(),
            });
            let walked = self.walk(&mut after, header, Some(header), Begin::Round);
            let whole = self.wholes.pop().expect("pushed above");
            let walked = walked?;
            if after.values.warp.groups != state.values.warp.groups {
                return Err(self.beyond(header, "asynchronous copies in a loop that is taken as a whole"));
            }
            if !walked.possible || after.may.is_empty() || !state.values.forget(&after.values, after.may) {
                break (walked, whole);
            }
        };
        let Some(left) = whole.left else {
            let hint = "no way out of it was found after its first rounds";
            return Err(fault::at(self.context.program, header, "a loop that does not end".to_owned(), hint));
        };
        if !(round.gone | whole.gone).is_empty() {
            let message = "threads that end in a loop that is taken as a whole: one of more than 64 rounds, or with lanes that part for good";
            return Err(self.beyond(header, message));
        }
        // lanes that leave several such loops at once
        if let (Some(outer), Some(join)) = (self.wholes.last(), whole.join)
            && !join.is_some_and(|join| self.flow.contains_pc(outer.index, join))
        {
            return Err(self.beyond(header, "ways out of several loops that are taken as a whole"));
        }
        let most = if round.possible { most } else { 0 };
        let mut paths = round.paths;
        let starts = whole.starts;
        if starts.is_empty() {
            out.paths.push_part(PathPart::Loop(Box::new(Rounds { header, round: paths, most })));
        } else {
            // lanes go round apart from each other: some until they have left, then others, from where they were. However
            // often they part, there are no more of these than lanes.
            let lanes = u64::from(state.may.count());
            for start in starts {
                paths = PathSet::either(paths, start);
            }
            let strand = PathPart::Loop(Box::new(Rounds { header, round: paths, most }));
            let PathPart::Loop(rounds) = &strand else { unreachable!("made above") };
            let ways: Vec<PathSet> = rounds.ways_after().cloned().collect();
            let mut more = PathSet::leaving();
            more.push_part(strand.clone());
            out.paths.push_part(strand);
            out.paths.push_part(PathPart::Loop(Box::new(Rounds { header, round: more, most: lanes - 1 })));
            let waiting = lanes.saturating_mul(ways.len() as u64);
            for way in ways {
                let mut again = PathSet::leaving();
                again.append(way);
                let most = waiting.saturating_mul(most.saturating_add(1));
                out.paths.push_part(PathPart::Loop(Box::new(Rounds { header, round: again, most })));
            }
        }
        *state = left;
        state.must = before - out.gone;
        Ok(whole.join.flatten())
    }

    /// Whether a branch leaves the loop that is taken as a whole: which of its sides does,
    /// and where lanes wait that meet nowhere before.
    fn leaves_whole(
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
            return Err(self.beyond(pc, "ways out of several loops that are taken as a whole"));
        }
        let inside = |pc: Pc| self.flow.contains_pc(whole.index, pc);
        if !inside(pc) || join.is_some_and(inside) {
            return Ok(None);
        }
        if self.flow.innermost(pc) != Some(whole.index) {
            return Err(self.beyond(pc, "ways out of several loops of which one is taken as a whole"));
        }
        match (inside(target), inside(next)) {
            (true, false) => Ok(Some((Leaving::Stays, whole.until))),
            (false, true) => Ok(Some((Leaving::Taken, whole.until))),
            // neither; or both stay, and meet nowhere in the loop
            (false, false) | (true, true) => Ok(None),
        }
    }

    /// The beginning of the loop that is taken as a whole, if the sides of a branch in it both stay there and do not meet in it.
    fn goes_apart(&self, pc: Pc, join: Option<Pc>) -> Option<Pc> {
        let whole = self.wholes.last()?;
        let inside = |pc: Pc| self.flow.contains_pc(whole.index, pc);
        (inside(pc) && !join.is_some_and(inside)).then(|| self.flow.header(whole.index))
    }

    /// Some lanes leave the loop that is taken as a whole. Where the others go on, if there are any.
    fn leave(
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
        let mut gone = state.clone();
        (gone.may, gone.must) = (leave, LaneMask::empty());
        // what leaves this loop is in no loop that is taken as a whole further in
        let whole = self.wholes.pop().expect("the caller has asked");
        let way = self.walk(&mut gone, way_from, join, Begin::Comes);
        self.wholes.push(whole);
        let way = way?;
        if gone.values.warp.groups != state.values.warp.groups {
            return Err(self.beyond(way_from, "asynchronous copies that depend on data"));
        }
        let whole = self.wholes.last_mut().expect("pushed above");
        if whole.join.is_some_and(|known| known != join) {
            return Err(self.beyond(
                way_from,
                "ways out of a loop of more than 64 rounds that meet in different places",
            ));
        }
        whole.join = Some(join);
        whole.gone |= way.gone;
        if way.possible {
            match &mut whole.left {
                Some(left) => left.meet(&gone),
                None => whole.left = Some(gone),
            }
            let first = leaving == Leaving::Taken;
            out.paths.push_part(PathPart::Leave(Box::new(Way { paths: way.paths, first })));
        }
        (state.may, state.must) = (stay, LaneMask::empty());
        Ok((!stay.is_empty()).then_some(stay_at))
    }

    fn barrier(&mut self, state: &mut State, pc: Pc, barrier: &Barrier) -> Result<Step, Fault> {
        let instr = self.context.program.instr(pc);
        let guard = state.values.guard(instr.guard, state.may);
        let known = |operand: Option<crate::program::sem::Operand>| {
            let reg = operand.and_then(crate::program::sem::Operand::reg);
            reg.is_none_or(|reg| (state.values.unknown(reg) & state.may).is_empty())
        };
        // whether a lane comes to it is known: all do that are here, or one of those that are sure to be
        let comes = guard.may == state.may || !(guard.may & state.must).is_empty() || guard.may.is_empty();
        if guard.may != guard.must || !comes || !known(Some(barrier.id)) || !known(barrier.threads) {
            return Err(self.beyond(pc, "barriers that depend on data"));
        }
        if let BarrierKind::And(dst, _) | BarrierKind::Or(dst, _) | BarrierKind::Popc(dst, _) = barrier.kind {
            state.values.written(dst, guard.may, guard.may, Some(pc));
        }
        let Some(lane) = guard.may.lanes().next() else {
            self.partial_barriers = true;
            return Ok(Step::with(pc, BarrierUse { id: 0, warps: 1 }));
        };
        let value =
            |operand| state.values.warp.operand_in(operand, &self.context.shape, lane) & width_mask(32);
        let threads = barrier.threads.map(value);
        let warps = match threads.map(|threads| barrier::warps_of(threads, self.context.shape.warps)) {
            None => 0,
            Some(Ok(warps)) => warps,
            Some(Err(message)) => return Err(fault::at(self.context.program, pc, message, "")),
        };
        self.partial_barriers |= warps != 0 || barrier.kind == BarrierKind::Arrive;
        Ok(Step::with(pc, BarrierUse { id: value(barrier.id) as u8, warps: warps as u8 }))
    }

    fn beyond(&self, pc: Pc, what: &str) -> Fault {
        let message = format!("the analysis of all paths does not know {what}");
        fault::at(self.context.program, pc, message, "")
    }

    fn unbounded(&self, header: Pc, branch: Pc, cause: Option<Pc>) -> Fault {
        let program = self.context.program;
        let line = program.instr(header).line;
        let cause = match cause.map(|pc| program.instr(pc).line) {
            Some(cause) => format!("what line {cause} gives"),
            None => "unknown data".to_owned(),
        };
        let message = format!(
            "how often the loop of line {line} goes round depends on {cause}, by the branch in line {}",
            program.instr(branch).line
        );
        let hint = format!("say how often it goes back at most: --loop-bound {line}=N");
        fault::at(program, header, message, &hint)
    }
}

impl State {
    /// Becomes what is known where lanes of this state and of another one meet.
    fn meet(&mut self, other: &Self) {
        self.values.join(self.may, &other.values, other.may);
        self.may |= other.may;
        // a bound is exceeded only where it is on every path that meets here
        self.loops.retain_mut(|known| {
            let inside = other.loops.iter().find(|inside| inside.index == known.index);
            inside.is_some_and(|inside| {
                known.rounds = known.rounds.min(inside.rounds);
                known.arrivals = known.arrivals.min(inside.arrivals);
                known.known_exit |= inside.known_exit;
                known.unknown_exit = known.unknown_exit.or(inside.unknown_exit);
                true
            })
        });
    }
}

/// How lanes are where a walk begins.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Begin {
    /// They come there now.
    Comes,
    /// They have come there.
    Is,
    /// They have, and the walk ends where they come there again.
    Round,
}

/// Which side of a branch leaves a loop.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Leaving {
    /// Those that take the branch.
    Taken,
    /// The others.
    Stays,
}

/// The lanes on both sides of a branch.
#[derive(Debug)]
struct Fork {
    taken: LaneMask,
    taken_sure: LaneMask,
    stay: LaneMask,
    stay_sure: LaneMask,
    /// Whether some may take it and others not, in the same run.
    both: bool,
}

impl Fork {
    /// Accounts for the branch being the same in all lanes, if it is.
    fn settle(&mut self, may_part: bool) {
        let sure = !self.taken_sure.is_empty() && !self.stay_sure.is_empty();
        self.both = sure || may_part && (self.taken | self.stay).count() > 1;
        if !self.both && !self.taken_sure.is_empty() {
            self.stay = LaneMask::empty();
        }
        if !self.both && !self.stay_sure.is_empty() {
            self.taken = LaneMask::empty();
        }
    }
}
