//! The walk of a warp over all paths that it may take.

use super::super::barrier;
use super::super::fault::{self, Fault};
use super::super::lanes::width_mask;
use super::breaks::Parting;
use super::effect::Executions;
use super::fork::Onward;
use super::state::State;
use super::walker::{Begin, Walked, Walker};
use warpbound_core::base::{LaneMask, Pc, ProgressMonitor};
use warpbound_core::path::{BarrierUse, PathPart, Step, Steps};
use warpbound_core::program::sem::{Barrier, BarrierKind, Region, exchange, lanewise, memory};
use warpbound_core::program::{Instr, Sem};

/// The largest depth of nested walks. Most of them are walks of a side of a branch whose sides may
/// both be taken.
const DEEPEST: usize = 6000;

impl<'a> Walker<'_, 'a> {
    /// Walks from `pc` until all lanes that do not end are at `until`; afterwards `state` is the
    /// state there.
    ///
    /// # Errors
    /// Returns an error if the analysis requires unknown data, or if the kernel is wrong for all
    /// data.
    pub(super) fn walk(
        &mut self,
        state: &mut State,
        pc: Pc,
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
        out.possible = self.follow(state, pc, until, begin, &mut out)?;
        self.depth -= 1;
        Ok(out)
    }

    /// Follows the lanes to the end of the walk, and returns whether that is possible.
    fn follow(
        &mut self,
        state: &mut State,
        mut pc: Pc,
        until: Option<Pc>,
        begin: Begin,
        out: &mut Walked,
    ) -> Result<bool, Fault> {
        // whether the arrival of lanes at this point has been recorded already: for lanes that
        // reconverge here, this was done on each of their paths
        let mut entered = begin != Begin::Comes;
        let mut arrived = begin != Begin::Round;
        loop {
            if !std::mem::replace(&mut entered, false)
                && let Some(block) = self.flow.block_at(pc)
                && !self.enter(state, block, pc)?
            {
                return Ok(false);
            }
            if Some(pc) == until && arrived {
                return Ok(true);
            }
            let onward = match self.is_to_be_whole(state, pc).filter(|_| arrived) {
                Some((index, rounds)) => {
                    let most = self.flow.bound(index).unwrap_or(0) - rounds;
                    let join = self.whole(state, (index, pc), until, most, out)?;
                    self.meet_at(state, join, until, out)?
                }
                None => self.step(state, pc, until, out)?,
            };
            arrived = true;
            match onward {
                Onward::To(place) => pc = place,
                Onward::Met(place) => (pc, entered) = (place, true),
                Onward::Nowhere => return Ok(true),
                Onward::Never => return Ok(false),
            }
        }
    }

    /// Executes an instruction, and returns the point at which the walk continues.
    fn step(
        &mut self,
        state: &mut State,
        pc: Pc,
        until: Option<Pc>,
        out: &mut Walked,
    ) -> Result<Onward, Fault> {
        let instr = self.next_instr(pc)?;
        let next = Pc::new(pc.get() + 1);
        match &instr.sem {
            Sem::Branch { target, .. } if !self.flow.in_one_function(pc, *target) => {
                return Err(self.beyond(pc, "branches into another function"));
            }
            Sem::Branch { target, .. } => {
                let join = self.flow.join(pc, &instr.sem);
                if let (Some((outside, taken)), Some(join)) = (self.flow.break_at(pc), join) {
                    let way = Parting { outside, join, taken };
                    return self.leave_regions(state, pc, (*target, next), way, until, out);
                }
                return self.branch(state, pc, (*target, next, join), until, out);
            }
            Sem::Return { .. } if !self.calls.is_empty() => {
                return self.give_back(state, (pc, next), until, out);
            }
            Sem::Exit if !self.calls.is_empty() => {
                return Err(self.beyond(pc, "functions that end threads"));
            }
            Sem::Return { .. } | Sem::Exit => return self.end(state, (pc, next), until, out),
            Sem::Barrier(barrier) => out.paths.push(self.barrier(state, pc, barrier)?),
            Sem::Call(call) if call.moves_nothing(self.context.program) => {
                return self.call(state, (pc, next), call.target, out);
            }
            Sem::Call(_) => return Err(self.beyond(pc, "calls of functions with parameters")),
            Sem::CallPointer(_) => return Err(self.beyond(pc, "calls through pointers")),
            Sem::BranchTable { .. } => return Err(self.beyond(pc, "branches through tables")),
            Sem::OpenRegion { region, .. } | Sem::CloseRegion { region } | Sem::LeaveRegion { region } => {
                if !matches!(region, Region::Barrier(_)) {
                    return Err(self.beyond(pc, "regions of Pascal's machine code"));
                }
                if let Some(irregular) = self.flow.irregular(pc) {
                    return Err(self.beyond(irregular.pc, irregular.what));
                }
                out.paths.push(Step::plain(pc));
                if let Some(outside) = self.flow.exit_to(pc) {
                    return self.leave_region(state, (pc, next), outside, out);
                }
                if let Sem::OpenRegion { join, .. } = &instr.sem
                    && self.flow.is_reached_by_break(pc)
                {
                    return self.region(state, (next, *join), until, out);
                }
            }
            Sem::Yield | Sem::Collect { .. } | Sem::EndCollective => {
                return Err(self.beyond(pc, "instructions for threads that run independently of each other"));
            }
            Sem::WarpSync { .. } if self.lanes_elsewhere() && !self.meets_at(pc) => {
                return Err(
                    self.beyond(pc, "barriers of a warp at which lanes on other paths may be awaited")
                );
            }
            Sem::None | Sem::Traced(_) => return Err(self.beyond(pc, "instructions without meaning")),
            // a run that reaches this instruction ends in an error
            Sem::Trap { .. } if instr.folded => {}
            Sem::Trap { .. } => out.paths.push(Step::plain(pc)),
            lanewise!()
            | exchange!()
            | memory!()
            | Sem::Nop
            | Sem::Sleep { .. }
            | Sem::Matrix(_)
            | Sem::Cluster(_)
            | Sem::Mbarrier(_)
            | Sem::Bulk(_) => {
                let lanes = (state.may, state.must);
                let executed = self.effects.execute(&mut state.values, self.context, self.code, pc, lanes)?;
                match &executed.steps {
                    // a part of another instruction, which has the step of both
                    _ if instr.folded => {}
                    Executions::Exactly(step) => out.paths.push_access(*step, executed.accessed()),
                    Executions::AtMost(any) => {
                        let mut steps = Steps::default();
                        any.iter().for_each(|&step| steps.push_access(step, executed.accessed()));
                        out.paths.push_part(PathPart::OneOf(steps));
                    }
                }
            }
        }
        Ok(Onward::To(next))
    }

    /// Returns the instruction at a point that the walk has reached.
    ///
    /// # Errors
    /// Returns an error if there is none, if the walk has taken all its steps, or if it was
    /// stopped.
    fn next_instr(&mut self, pc: Pc) -> Result<&'a Instr, Fault> {
        let program = self.context.program;
        let Some(instr) = program.instrs.get(pc.index()) else {
            let last = Pc::from_index(program.instrs.len().saturating_sub(1));
            let message = format!("a warp runs past the end of `{}`", program.name);
            return Err(fault::at(program, last, message, "end the kernel with `ret` or `exit`"));
        };
        if self.fuel == 0 {
            let message = "the paths of a block have more steps than --max-instructions allows".to_owned();
            let hint = "give a bound for each loop whose iterations depend on data: --loop-bound LINE=N";
            return Err(fault::at(program, pc, message, hint));
        }
        self.fuel -= 1;
        if self.monitor.is_some_and(ProgressMonitor::is_stopped) {
            return Err(fault::at(program, pc, "the walk was ended".to_owned(), ""));
        }
        Ok(instr)
    }

    /// Ends the lanes in which the guard of a `ret` or `exit` holds; the others continue at the
    /// next instruction.
    fn end(
        &mut self,
        state: &mut State,
        (pc, next): (Pc, Pc),
        until: Option<Pc>,
        out: &mut Walked,
    ) -> Result<Onward, Fault> {
        let guard_of = self.context.program.instr(pc).guard;
        let guard = state.values.guard(guard_of, state.may);
        if let Some(guard_of) = guard_of.filter(|_| guard.may != guard.must) {
            self.note_unknown_end(state, pc, guard_of.reg);
        }
        state.values.ended |= guard.must & state.must;
        out.end_lanes(guard, state);
        let step = Step::plain(pc);
        if self.is_certain(state, out) && !state.may.is_empty() {
            out.paths.push(step);
        } else {
            out.paths.push_part(PathPart::End(step));
        }
        self.without_parted(state, next, until, out)
    }

    /// Returns the point at which a walk continues after lanes have ended or returned in front of
    /// `next`.
    pub(super) fn without_parted(
        &mut self,
        state: &mut State,
        next: Pc,
        until: Option<Pc>,
        out: &mut Walked,
    ) -> Result<Onward, Fault> {
        if state.may.is_empty() {
            return Ok(Onward::Nowhere);
        }
        if self.is_certain(state, out) {
            return Ok(Onward::To(next));
        }
        self.perhaps(state, (next, Begin::Comes), until, out)?;
        Ok(Onward::Nowhere)
    }

    /// Returns the point at which a walk continues after lanes took several ways, given the point
    /// at which these join, if they do.
    pub(super) fn meet_at(
        &mut self,
        state: &mut State,
        join: Option<Pc>,
        until: Option<Pc>,
        out: &mut Walked,
    ) -> Result<Onward, Fault> {
        let Some(join) = join.filter(|_| !state.may.is_empty()) else { return Ok(Onward::Nowhere) };
        if Some(join) != until && !self.is_certain(state, out) {
            self.perhaps(state, (join, Begin::Is), until, out)?;
            return Ok(Onward::Nowhere);
        }
        Ok(Onward::Met(join))
    }

    /// Continues the walk where it is unknown whether all lanes have ended.
    pub(super) fn perhaps(
        &mut self,
        state: &mut State,
        (pc, begin): (Pc, Begin),
        until: Option<Pc>,
        out: &mut Walked,
    ) -> Result<(), Fault> {
        let groups = state.values.warp.groups.clone();
        let rest = self.walk(state, pc, until, begin)?;
        // what follows on the path must not depend on whether this part was executed
        let is_last = until.is_none() && self.others == 0 && self.wholes.is_empty() && self.calls.is_empty();
        if !is_last {
            self.check_copies(pc, &state.values.warp.groups, &groups)?;
        }
        out.lose(&rest);
        if rest.possible {
            out.paths.push_part(PathPart::Perhaps(rest.paths));
        } else {
            state.may = LaneMask::empty();
        }
        Ok(())
    }

    /// Records a barrier, and returns its step.
    ///
    /// # Errors
    /// Returns an error if it depends on unknown data, or if its number of threads is wrong.
    fn barrier(&mut self, state: &mut State, pc: Pc, barrier: &Barrier) -> Result<Step, Fault> {
        if barrier.partly && self.lanes_elsewhere() {
            return Err(self.beyond(pc, "barriers that lanes on other paths of the warp may reach later"));
        }
        let instr = self.context.program.instr(pc);
        let guard = state.values.guard(instr.guard, state.may);
        let known = |operand: Option<warpbound_core::program::sem::Operand>| {
            let reg = operand.and_then(warpbound_core::program::sem::Operand::reg);
            reg.is_none_or(|reg| (state.values.unknown(reg) & state.may).is_empty())
        };
        // it is known whether any lane reaches the barrier: all lanes here reach it, or one that is
        // certainly here does, or none does
        let arrival_known =
            guard.may == state.may || !(guard.may & state.must).is_empty() || guard.may.is_empty();
        if guard.may != guard.must || !arrival_known || !known(Some(barrier.id)) || !known(barrier.threads) {
            return Err(self.beyond(pc, "barriers that depend on data"));
        }
        if let BarrierKind::And(dst, _) | BarrierKind::Or(dst, _) | BarrierKind::Popc(dst, _) = barrier.kind {
            state.values.written(dst, guard.may, guard.may, Some(pc));
        }
        let Some(lane) = guard.may.lanes().next() else {
            self.partial_barriers = true;
            return Ok(Step::with(pc, BarrierUse { id: 0, warps: 1 }));
        };
        let value_in =
            |operand, lane| state.values.warp.operand_in(operand, &self.context.shape, lane) & width_mask(32);
        let value = |operand| value_in(operand, lane);
        // the run takes the values of the first lane that is here, which may be any of these
        let differs = |operand| guard.may.lanes().any(|lane| value_in(operand, lane) != value(operand));
        if differs(barrier.id) || barrier.threads.is_some_and(differs) {
            return Err(self.beyond(pc, "barriers whose number or size differs between lanes"));
        }
        let threads = barrier.threads.map(value);
        let warps = match threads.map(|threads| barrier::warps_of(threads, self.context.shape.warps)) {
            None => 0,
            Some(Ok(warps)) => warps,
            Some(Err(message)) => return Err(fault::at(self.context.program, pc, message, "")),
        };
        self.partial_barriers |= warps != 0 || barrier.kind == BarrierKind::Arrive;
        Ok(Step::with(pc, BarrierUse { id: value(barrier.id) as u8, warps: warps as u8 }))
    }
}
