//! Issue: what each sub-core's policy chooses.

use super::Sm;
use super::flight::Flight;
use crate::base::{Cycle, UnitId, WarpMask};
use crate::program::{Access, Flow};
use crate::sim::error::RunError;
use crate::sim::policy::{AnyPolicy, Policy};
use crate::trace::Issue;

impl Sm<'_> {
    /// The issue slot of one sub-core in this cycle.
    pub(super) fn issue(&mut self, sub_core: usize, policy: &mut AnyPolicy<'_>) -> Result<(), RunError> {
        let mine = self.subs[sub_core].slots;
        let going = self.going() & mine;
        let (there, mut wrong_path) = self.fetched(going);
        let mut ready = self.can_issue(there, sub_core);
        let conserving = policy.is_work_conserving();
        if conserving && ready.is_empty() && wrong_path.is_empty() {
            self.idle(sub_core, there, ready, self.code.sleeps);
            return Ok(());
        }
        let view = &mut self.subs[sub_core].view;
        view.now = Cycle::new(self.now);
        view.live = self.blocks.live() & mine;
        view.at_barrier = self.blocks.at_barrier() & mine;
        // the policy goes through its warps; one whose buffer holds the wrong instructions is put
        // right when its turn comes, which does not end the search
        while !wrong_path.is_empty() {
            let first = policy.first(&self.subs[sub_core].view, ready | wrong_path);
            let Some(slot) = first.filter(|&slot| wrong_path.has(slot)) else {
                if first.is_some() {
                    break;
                }
                wrong_path.slots().for_each(|slot| self.redirect(slot));
                break;
            };
            self.redirect(slot);
            wrong_path -= WarpMask::slot(slot);
        }
        self.subs[sub_core].view.ready = ready;
        if let Some(held) = &self.codes
            && policy.lets_yield()
            && !(ready - held.yielding).is_empty()
        {
            self.subs[sub_core].view.ready = ready - held.yielding;
        }
        let nothing = conserving && ready.is_empty() || (self.blocks.live() & mine).is_empty();
        self.subs[sub_core].wake = u64::MAX;
        let chosen = if nothing { None } else { policy.choose(&self.subs[sub_core].view)? };
        let Some(slot) = chosen else {
            if !conserving && !nothing {
                self.subs[sub_core].wake = policy.wake(&self.subs[sub_core].view).get();
            }
            self.idle(sub_core, there, ready, false);
            return Ok(());
        };
        self.end_idle(sub_core);
        let (first_unit, first) = (self.warps[slot].unit, self.warps[slot].step);
        self.issue_next(slot, sub_core);
        if first.is_some_and(|step| !self.may_issue_with(step)) {
            return Ok(());
        }
        for _ in 1..self.settings.issue.per_warp {
            let there = self.fetched(self.going() & WarpMask::slot(slot)).0;
            ready = self.can_issue(there, sub_core);
            let same = self.settings.issue.distinct_units && self.warps[slot].unit == first_unit;
            if ready.is_empty() || same {
                break;
            }
            self.issue_next(slot, sub_core);
        }
        Ok(())
    }

    /// Warps with an instruction left that no barrier, fence or atomic holds.
    #[inline]
    fn going(&self) -> WarpMask {
        self.blocks.live() - self.blocks.at_barrier() - self.held
    }

    /// Of these warps, those whose next instruction is there, and those whose buffer holds the
    /// wrong instructions.
    #[inline]
    fn fetched(&self, going: WarpMask) -> (WarpMask, WarpMask) {
        let Some(front_end) = &self.front_end else { return (going, WarpMask::empty()) };
        let filled = going & front_end.filled;
        let wrong_path = filled & front_end.wrong_path;
        (filled - wrong_path, wrong_path)
    }

    /// Those among these warps, whose next instruction is there, that can issue it.
    #[inline]
    fn can_issue(&mut self, there: WarpMask, sub_core: usize) -> WarpMask {
        let ready = there & self.clear;
        if ready.is_empty() { ready } else { ready - self.without_room(ready, sub_core) }
    }

    /// The buffer of a warp gets ready for where the warp really goes.
    fn redirect(&mut self, slot: usize) {
        self.busy = true;
        if let (Some(front_end), Some(step)) = (&mut self.front_end, self.warps[slot].step) {
            front_end.flush(slot, step.pc().get());
        }
    }

    /// Issues the next instruction of a warp.
    fn issue_next(&mut self, slot: usize, sub_core: usize) {
        let Some(step) = self.warps[slot].step else { return };
        self.busy = true;
        let now = self.now;
        let code = self.code;
        let instr = code.of(step);
        let timing = code.timing(step);
        let index = self.warps[slot].next;
        let unit = self.warps[slot].unit;
        let age = self.issues;
        let (line, transactions) = match instr.access {
            Some(access) => self.claim_traffic(slot, step, access),
            None => (0, 0),
        };
        let id = self.flights.add(Flight {
            slot: slot as u8,
            sub_core: sub_core as u8,
            unit,
            step,
            age,
            start: now,
            init_end: now,
            init: timing.init,
            total: timing.total,
            line,
            transactions,
            unanswered: 0,
            unwritten: instr.all_writes(),
        });
        if self.listening {
            let (block, warp) = self.blocks.warp(slot);
            let at = Cycle::new(now);
            let issue = Issue {
                block,
                slot,
                sub_core: sub_core as u8,
                warp,
                index,
                step,
                unit: UnitId::new(timing.unit),
                issue: at,
                start: at,
                init_end: at,
                done: at,
            };
            self.log.issued(issue, age);
        }
        if let Some(front_end) = &mut self.front_end {
            front_end.step(slot);
            if instr.op.flow == Flow::Exit && !step.ends_warp() {
                front_end.flush(slot, step.pc().get() + 1);
            }
        }
        self.warps[slot].in_flight += 1;
        self.warps[slot].last_issue = now;
        self.issues += 1;
        self.subs[sub_core].issues += 1;
        self.reserve(slot, age, instr, step);
        self.begin_codes(slot, sub_core, age, step);
        self.dispatch(id);
        if instr.access == Some(Access::Fence) {
            self.fence(slot);
        }
        self.warps[slot].next += 1;
        if matches!(instr.op.flow, Flow::Barrier | Flow::Arrive) {
            let done = self.done_of(id).unwrap_or(now);
            self.arrive(slot, step, instr.op.flow == Flow::Barrier, done);
        }
        self.look_at_next(slot);
        if self.warps[slot].step.is_none() && !self.blocks.at_barrier().has(slot) {
            self.finish(slot);
        }
    }
}
