//! Issue: what each sub-core's policy chooses.

use super::code::Instr;
use super::flight::{Flight, FlightId};
use super::idle::EVERY;
use super::{Sm, SubCore};
use crate::base::{Cycle, UnitId, WarpMask};
use crate::program::{Access, Flow};
use crate::sim::policy::{AnyPolicy, Policy, ReplayError};
use crate::trace::Issue;

impl Sm<'_> {
    /// The issue slots of these sub-cores in this cycle, as far as they are awake; one that issues may wake another one.
    #[inline]
    pub(super) fn issue_on<const PLAIN: bool>(
        &mut self,
        mut sub_cores: u32,
        policies: &mut [AnyPolicy<'_>],
    ) -> Result<(), Box<ReplayError>> {
        while self.awake & sub_cores != 0 {
            let sub_core = (self.awake & sub_cores).trailing_zeros() as usize;
            sub_cores &= EVERY << sub_core << 1;
            self.issue::<PLAIN>(sub_core, &mut policies[sub_core])?;
        }
        Ok(())
    }

    /// The issue slot of one sub-core in this cycle.
    fn issue<const PLAIN: bool>(
        &mut self,
        sub_core: usize,
        policy: &mut AnyPolicy<'_>,
    ) -> Result<(), Box<ReplayError>> {
        let SubCore { slots, conserving, .. } = self.subs[sub_core];
        let conserving = PLAIN || conserving;
        let fetched = self.fetched(slots);
        let wrong_path = fetched & self.front_end.wrong_path;
        let there = fetched - wrong_path;
        let ready = self.can_issue(there, sub_core);
        if conserving && (ready | wrong_path).is_empty() {
            self.idle::<PLAIN>(sub_core, there, ready, PLAIN || self.code.sleeps);
            return Ok(());
        }
        let live = self.blocks.live() & slots;
        if !conserving {
            let view = &mut self.subs[sub_core].view;
            view.now = Cycle::new(self.now);
            view.live = live;
            view.at_barrier = self.blocks.at_barrier() & slots;
        }
        if !wrong_path.is_empty() {
            self.redirect_before(sub_core, policy, ready, wrong_path);
        }
        self.subs[sub_core].view.ready = if PLAIN { ready } else { self.willing(policy, ready) };
        let nothing = conserving && ready.is_empty() || live.is_empty();
        let chosen = if nothing { None } else { policy.choose(&self.subs[sub_core].view)? };
        if !conserving {
            let wakes = chosen.is_none() && !nothing;
            let view = &self.subs[sub_core].view;
            self.subs[sub_core].wake = if wakes { policy.wake(view).get() } else { u64::MAX };
        }
        let Some(slot) = chosen else {
            self.idle::<PLAIN>(sub_core, there, ready, false);
            return Ok(());
        };
        self.end_idle::<PLAIN>(sub_core);
        let (first_kind, first) = (self.warps[slot].kind, self.warps[slot].step);
        self.issue_next::<PLAIN>(slot, sub_core);
        if !PLAIN && self.settings.issue.per_warp > 1 && first.is_some_and(|step| self.may_issue_with(step)) {
            self.issue_more(slot, sub_core, first_kind);
        }
        Ok(())
    }

    /// Further instructions of a warp that has issued one to this kind of unit in this cycle.
    fn issue_more(&mut self, slot: usize, sub_core: usize, first_kind: u8) {
        for _ in 1..self.settings.issue.per_warp {
            let there = self.fetched(WarpMask::slot(slot)) - self.front_end.wrong_path;
            let same = self.settings.issue.distinct_units && self.warps[slot].kind == first_kind;
            if same || self.can_issue(there, sub_core).is_empty() {
                break;
            }
            self.issue_next::<false>(slot, sub_core);
        }
    }

    /// Of these warps, those with an instruction that is in their buffer and that no barrier, fence or atomic holds.
    #[inline(always)]
    fn fetched(&self, warps: WarpMask) -> WarpMask {
        (self.blocks.live() & warps & self.front_end.filled) - self.blocks.at_barrier() - self.held
    }

    /// Those among these warps, whose next instruction is there, that can issue it.
    #[inline(always)]
    fn can_issue(&mut self, there: WarpMask, sub_core: usize) -> WarpMask {
        let ready = there & self.clear;
        if ready.is_empty() { ready } else { ready - self.without_room_for(ready, sub_core) }
    }

    /// Those among these warps that a policy is shown: those that would rather have another one issue are not if there is one.
    #[inline(always)]
    fn willing(&self, policy: &AnyPolicy<'_>, ready: WarpMask) -> WarpMask {
        let Some(held) = &self.codes else { return ready };
        let willing = ready - held.yielding;
        if willing.is_empty() || !policy.lets_yield() { ready } else { willing }
    }

    /// The policy goes through its warps; one whose buffer holds the wrong instructions is put right when its turn comes,
    /// which does not end the search.
    fn redirect_before(
        &mut self,
        sub_core: usize,
        policy: &AnyPolicy<'_>,
        ready: WarpMask,
        mut wrong_path: WarpMask,
    ) {
        while !wrong_path.is_empty() {
            let first = policy.first(&self.subs[sub_core].view, ready | wrong_path);
            let Some(slot) = first.filter(|&slot| wrong_path.has(slot)) else {
                if first.is_none() {
                    wrong_path.slots().for_each(|slot| self.redirect(slot));
                }
                return;
            };
            self.redirect(slot);
            wrong_path -= WarpMask::slot(slot);
        }
    }

    /// The buffer of a warp gets ready for where the warp really goes.
    fn redirect(&mut self, slot: usize) {
        self.busy = true;
        if let Some(step) = self.warps[slot].step {
            self.front_end.flush(slot, step.pc().get());
        }
    }

    /// Issues the next instruction of a warp.
    #[inline]
    fn issue_next<const PLAIN: bool>(&mut self, slot: usize, sub_core: usize) {
        let (now, age, code) = (self.now, self.issues, self.code);
        let warp = &mut self.warps[slot];
        let Some(step) = warp.step else { return };
        let (index, kind) = (warp.next, warp.kind);
        warp.next += 1;
        warp.in_flight += 1;
        warp.last_issue = now;
        self.busy = true;
        self.issues += 1;
        self.subs[sub_core].issues += 1;
        let instr = code.of(step);
        let (id, flight) = self.flights.add();
        flight.age = age;
        flight.step = step;
        flight.slot = slot as u8;
        flight.place = code.place(kind, sub_core);
        flight.init = instr.op.init;
        flight.total = instr.op.total;
        if !PLAIN && self.listening {
            self.note_issue(id, sub_core, index);
        }
        self.front_end.step(slot);
        if instr.ordinary && (PLAIN || self.only_registers) {
            self.scoreboard.reserve(slot, &instr.writes, age, false);
            self.dispatch(id, kind, sub_core);
            self.look_at_next::<PLAIN>(slot);
        } else {
            self.issue_special(slot, sub_core, id, instr);
        }
        if self.warps[slot].step.is_none() && !self.blocks.at_barrier().has(slot) {
            self.finish(slot);
        }
    }

    /// The rest of issuing an instruction that may be anything.
    fn issue_special(&mut self, slot: usize, sub_core: usize, id: FlightId, instr: &Instr) {
        let Flight { step, age, .. } = *self.flights.get(id);
        let timing = self.code.timing(step);
        let (line, transactions) = match instr.access {
            Some(access) => self.claim_traffic(slot, step, access),
            None => (0, 0),
        };
        let flight = self.flights.get_mut(id);
        (flight.init, flight.total) = (timing.init, timing.total);
        (flight.line, flight.transactions) = (line, transactions);
        flight.unwritten = instr.all_writes;
        if instr.op.flow == Flow::Exit && !step.ends_warp() {
            self.front_end.flush(slot, step.pc().get() + 1);
        }
        self.reserve(slot, age, instr, step);
        self.begin_codes(slot, sub_core, age, step);
        self.dispatch(id, self.warps[slot].kind, sub_core);
        if instr.access == Some(Access::Fence) {
            self.fence(slot);
        }
        if matches!(instr.op.flow, Flow::Barrier | Flow::Arrive) {
            let done = self.done_of(id).unwrap_or(self.now);
            self.arrive(slot, step, instr.op.flow == Flow::Barrier, done);
        }
        self.look_at_next::<false>(slot);
    }

    fn note_issue(&mut self, id: FlightId, sub_core: usize, index: u32) {
        let flight = self.flights.get_mut(id);
        let (slot, step) = (usize::from(flight.slot), flight.step);
        let (block, warp) = self.blocks.warp(slot);
        let at = Cycle::new(self.now);
        flight.entry = self.log.issued(Issue {
            block,
            slot,
            sub_core: sub_core as u8,
            warp,
            index,
            step,
            unit: UnitId::new(self.code.timing(step).unit),
            issue: at,
            start: at,
            init_end: at,
            done: at,
        });
    }
}
