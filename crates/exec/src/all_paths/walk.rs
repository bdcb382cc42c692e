//! The walk of a warp over all paths that it may take.

use super::super::barrier;
use super::super::fault::{self, Fault};
use super::super::lanes::width_mask;
use super::effect::Executions;
use super::fork::Onward;
use super::state::State;
use super::walker::{Begin, Walked, Walker};
use warpbound_core::base::{LaneMask, Pc, ProgressMonitor};
use warpbound_core::path::{BarrierUse, PathPart, Step};
use warpbound_core::program::Sem;
use warpbound_core::program::sem::{Barrier, BarrierKind, exchange, lanewise, memory};

/// The largest depth of nested walks. Each is a branch whose sides may both be taken.
const DEEPEST: usize = 6000;

impl Walker<'_, '_> {
    /// Walks from `pc` until all lanes that do not end are at `until`; afterwards `state` is the
    /// state there.
    ///
    /// # Errors
    /// Returns an error if the analysis requires unknown data, or if the kernel is wrong for all
    /// data.
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
        // whether the arrival of lanes at this point has been recorded: lanes that reconverge here
        // were recorded one by one
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
                let hint = "give a bound for each loop whose iterations depend on data: --loop-bound LINE=N";
                return Err(fault::at(program, pc, message, hint));
            }
            self.fuel -= 1;
            if self.monitor.is_some_and(ProgressMonitor::is_stopped) {
                return Err(fault::at(program, pc, "the walk was ended".to_owned(), ""));
            }
            let next = Pc::new(pc.get() + 1);
            match &instr.sem {
                Sem::Branch { target, reconverge } => {
                    match self.branch(state, pc, (*target, next, *reconverge), until, &mut out)? {
                        Onward::To(place) => pc = place,
                        Onward::Met(place) => (pc, entered) = (place, true),
                        Onward::Nowhere => break,
                        Onward::Never => {
                            self.depth -= 1;
                            return Ok(Walked { possible: false, ..out });
                        }
                    }
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
                Sem::None | Sem::Traced(_) => return Err(self.beyond(pc, "instructions without meaning")),
                // a run that reaches this instruction ends in an error
                Sem::Trap { .. } => {
                    out.paths.push(Step::plain(pc));
                    pc = next;
                }
                lanewise!()
                | exchange!()
                | memory!()
                | Sem::Nop
                | Sem::Sleep { .. }
                | Sem::Matrix(_)
                | Sem::Mbarrier(_) => {
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

    /// Continues the walk where it is unknown whether all lanes have ended.
    pub(super) fn perhaps(
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

    fn barrier(&mut self, state: &mut State, pc: Pc, barrier: &Barrier) -> Result<Step, Fault> {
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
}
