//! Issue, warp by warp, and the reasons for idle issue slots.

use super::choose::{Arbiter, Deciders};
use super::codes::Moment;
use super::registers::Registers;
use super::{Instr, Sm};
use crate::idle::{Stalled, waiting};
use crate::policy::{AnyPolicy, Policy, View};
use warpbound_core::base::{Cycle, UnitId, WarpMask};
use warpbound_core::isa::Space;
use warpbound_core::machine::pipeline::RegisterFile;
use warpbound_core::program::{Access, Flow};
use warpbound_trace::trace::{Event, Idle, Issue, StallReason, Stalls, Waiting};

#[derive(Clone)]
pub(super) struct SubCore {
    pub slots: WarpMask,
    pub view: View,
    pub issues: u64,
    pub stalls: Stalls,
    /// The warp that issued last, if its control codes request a yield.
    pub yields: Option<usize>,
    pub registers: Option<Registers>,
    idle: Option<(u64, StallReason, Option<Waiting>)>,
}

impl SubCore {
    pub fn new(slots: WarpMask, view: View, file: Option<RegisterFile>) -> Self {
        let registers = file.map(Registers::new);
        Self { slots, view, issues: 0, stalls: Stalls::default(), yields: None, registers, idle: None }
    }
}

impl Sm<'_> {
    fn all(&self, slots: WarpMask, what: impl Fn(usize) -> bool) -> WarpMask {
        slots
            .slots()
            .filter(|&slot| what(slot))
            .fold(WarpMask::empty(), |set, slot| set | WarpMask::slot(slot))
    }

    /// Returns the warps that have an instruction in their buffer and wait for no barrier, fence or
    /// atomic.
    fn fetched(&self, slots: WarpMask) -> WarpMask {
        let waiting = self.blocks.live() & (slots - self.blocks.at_barrier());
        self.all(waiting, |slot| {
            let supplied = self.supply.as_ref().is_none_or(|supply| supply.has(slot, self.now));
            supplied && self.fetch.is_filled(slot) && !self.warps[slot].is_held()
        })
    }

    fn wrong(&self, slots: WarpMask) -> WarpMask {
        self.all(slots, |slot| self.fetch.is_wrong(slot, &self.warps[slot], self.given.table))
    }

    fn can_issue(&self, there: WarpMask, sub_core: usize) -> WarpMask {
        self.all(there, |slot| self.is_clear(slot) && self.has_room(slot, sub_core))
    }

    /// Returns the unit of a warp's next instruction.
    fn unit(&self, slot: usize) -> usize {
        let given = self.given;
        let Some(step) = self.warps[slot].next_step() else { return 0 };
        let access = given.table.instr(step.pc()).access.is_some() && self.load_store.is_some();
        if access { given.memory() } else { given.table.op(step).unit.index() }
    }

    /// Returns whether the unit of a warp's next instruction accepts it.
    fn has_room(&self, slot: usize, sub_core: usize) -> bool {
        let unit = self.unit(slot);
        if let Some(collector) = &self.collector {
            return !collector.input.contains_key(&(self.given.kinds[unit], sub_core));
        }
        let Some(limit) = self.given.settings.queue else { return true };
        if unit == self.given.memory() {
            let limit = limit.max(1) as usize;
            return self.load_store.as_ref().is_none_or(|unit| unit.has_room(sub_core, limit));
        }
        let unit = &self.units[self.given.instance(unit, sub_core)];
        let waiting = unit.starts.iter().filter(|&&start| start > self.now).count();
        if limit == 0 { unit.free <= self.now } else { waiting < limit as usize }
    }

    /// Returns whether the ports of the register banks let a warp issue its next instruction now.
    fn ports_allow(&self, slot: usize, sub_core: usize) -> bool {
        let step = self.warps[slot].next_step();
        let reads = step.and_then(|step| self.given.table.port_reads(step.pc()));
        let registers = self.sub_cores[sub_core].registers.as_ref();
        registers.zip(reads).is_none_or(|(registers, reads)| registers.lets(slot, reads, self.now))
    }

    /// Simulates the issue slot of a sub-core.
    pub(super) fn issue(&mut self, sub_core: usize, deciders: &mut Deciders) {
        let held = self.sub_cores[sub_core].registers.as_mut().and_then(|registers| registers.held.take());
        let Some(slot) = held.or_else(|| self.select(sub_core, deciders)) else { return };
        if !self.ports_allow(slot, sub_core) {
            self.sub_cores[sub_core].registers.iter_mut().for_each(|registers| registers.held = Some(slot));
            // the sub-core considers no other warp
            return self.idle_for(sub_core, StallReason::UnitFull, WarpMask::slot(slot));
        }
        self.end_idle(sub_core);
        let (first, step) = (self.unit(slot), self.warps[slot].next_step());
        self.issue_next(slot, sub_core);
        for _ in 1..self.given.settings.issue.per_warp {
            if !step.is_some_and(|step| self.may_issue_with(step)) {
                break;
            }
            let fetched = self.fetched(WarpMask::slot(slot));
            let there = fetched - self.wrong(fetched);
            let same = self.given.settings.issue.distinct_units && self.unit(slot) == first;
            let ready = !self.can_issue(there, sub_core).is_empty();
            if same || !ready || !self.ports_allow(slot, sub_core) {
                break;
            }
            self.issue_next(slot, sub_core);
        }
    }

    /// Returns the warp that issues next, if there is one.
    fn select(&mut self, sub_core: usize, deciders: &mut Deciders) -> Option<usize> {
        let fetched = self.fetched(self.sub_cores[sub_core].slots);
        let wrong = self.wrong(fetched);
        let there = fetched - wrong;
        let ready = self.can_issue(there, sub_core);
        let chosen = match deciders.policies.get_mut(self.index) {
            Some(policies) => self.chosen_by_policy(sub_core, ready, wrong, &mut policies[sub_core]),
            None => self.chosen_freely(ready, wrong, deciders),
        };
        if chosen.is_none() {
            self.idle(sub_core, there, ready);
        }
        chosen
    }

    /// Returns a ready warp, after redirecting warps. A warp with the wrong instructions is reached
    /// unless another one issues before.
    fn chosen_freely(&mut self, ready: WarpMask, wrong: WarpMask, deciders: &mut Deciders) -> Option<usize> {
        for slot in wrong.slots() {
            if ready.is_empty() || deciders.whether(Arbiter::Redirect, true) {
                self.empty_buffer(slot);
            }
        }
        let ready: Vec<usize> = ready.slots().collect();
        deciders.choose(Arbiter::Issue, &ready, |slot| slot)
    }

    /// Returns the warp that a policy selects, after redirecting those that the policy reaches before.
    fn chosen_by_policy(
        &mut self,
        sub_core: usize,
        ready: WarpMask,
        wrong: WarpMask,
        policy: &mut AnyPolicy,
    ) -> Option<usize> {
        let slots = self.sub_cores[sub_core].slots;
        let live = self.blocks.live() & slots;
        let at_barrier = self.blocks.at_barrier() & slots;
        let global: Vec<bool> = (0..self.warps.len()).map(|slot| self.waits_for_global(slot)).collect();
        let (conserving, tracks_global) = (policy.is_work_conserving(), policy.tracks_global());
        let seen = self.seen(sub_core, ready, policy.lets_yield());
        let view = &mut self.sub_cores[sub_core].view;
        (view.now, view.live, view.at_barrier) = (Cycle::new(self.now), live, at_barrier);
        for slot in live.slots().filter(|_| tracks_global) {
            view.global_until[slot] = if global[slot] { Cycle::NEVER } else { Cycle::ZERO };
        }
        self.redirect(sub_core, ready, wrong, policy);
        let SubCore { view, .. } = &mut self.sub_cores[sub_core];
        view.ready = seen;
        let nothing = conserving && ready.is_empty() || live.is_empty();
        if nothing { None } else { policy.choose(view).expect("no policy here fails") }
    }

    /// Searches the warps in the order of the policy up to one that can issue, and redirects those
    /// before it whose buffers hold other instructions.
    fn redirect(&mut self, sub_core: usize, ready: WarpMask, mut wrong: WarpMask, policy: &AnyPolicy) {
        while !wrong.is_empty() {
            let first = policy.first(&self.sub_cores[sub_core].view, ready | wrong);
            let slots = match first {
                Some(slot) if wrong.has(slot) => WarpMask::slot(slot),
                Some(_) => return,
                None => wrong,
            };
            slots.slots().for_each(|slot| self.empty_buffer(slot));
            wrong -= slots;
        }
    }

    /// Empties the buffer of a warp that goes elsewhere.
    fn empty_buffer(&mut self, slot: usize) {
        let step = self.warps[slot].next_step().expect("it goes elsewhere");
        self.fetch.flush(slot, self.given.table.place(step.pc()));
    }

    fn issue_next(&mut self, slot: usize, sub_core: usize) {
        let (given, now, id) = (self.given, self.now, self.instrs.len());
        let table = given.table;
        let unit = self.unit(slot);
        let step = self.warps[slot].next_step().expect("it can issue");
        let index = self.warps[slot].next;
        let instr = table.instr(step.pc());
        let op = table.op(step);
        let warp = &mut self.warps[slot];
        warp.next += 1;
        warp.in_flight += 1;
        warp.last_issue = now;
        self.sub_cores[sub_core].issues += 1;
        let (block, number) = self.blocks.warp(slot);
        let at = Cycle::new(now);
        self.events.push(Event::Issued(Issue {
            block,
            slot,
            sub_core: sub_core as u8,
            warp: number,
            index: index as u32,
            step,
            unit: UnitId::from_index(op.unit.index()),
            issue: at,
            start: at,
            init_end: at,
            done: at,
        }));
        let banks: Vec<usize> =
            instr.results.as_slice().iter().map(|&reg| given.bank(reg, slot, sub_core)).collect();
        let mut issued = Instr {
            step,
            index,
            slot,
            sub_core,
            unit,
            init: op.init.get(),
            total: (op.init + op.lat).get(),
            start: 0,
            init_end: 0,
            writes: self.written(step),
            // of more than eight results, only eight are tracked individually
            unwritten: banks.iter().copied().take(8).collect(),
            banks,
            traffic: Vec::new(),
            transactions: 0,
            event: self.events.len() - 1,
        };
        self.fetch.issued(slot);
        let access = instr.access.filter(|_| self.load_store.is_some());
        if let Some(access) = access {
            self.claim(&mut issued, access);
        }
        if instr.flow == Flow::Exit && !step.ends_warp() {
            self.fetch.flush(slot, table.place(step.pc()) + 1);
        }
        let global = table.loads_global(step);
        for &reg in &issued.writes {
            self.warps[slot].pending[reg] = Some((id, global));
        }
        if let (Some(registers), Some(reads)) =
            (&mut self.sub_cores[sub_core].registers, table.port_reads(step.pc()))
        {
            registers.read(slot, reads, now);
        }
        let reads = instr.operands.as_slice().iter().map(|&reg| given.bank(reg, slot, sub_core)).collect();
        self.instrs.push(issued);
        self.begin_codes(id);
        let done = match &mut self.collector {
            Some(collector) => {
                collector.put((given.kinds[unit], sub_core), id, (unit, sub_core), reads);
                None
            }
            None => self.enqueue(id),
        };
        if access == Some(Access::Fence) {
            self.warps[slot].fenced = true;
        }
        if matches!(instr.flow, Flow::Barrier | Flow::Arrive) {
            let waits = instr.flow == Flow::Barrier;
            self.blocks.arrived(slot, step.barrier(), waits, done.unwrap_or(now), now);
            self.release_barriers();
        }
        self.warps[slot].look();
        self.go_on(slot);
        if !self.warps[slot].has_next && !self.blocks.at_barrier().has(slot) {
            self.finish(slot);
        }
    }

    /// Inserts an instruction into the queue of its unit, on a machine without a collector. Returns
    /// the cycle of its completion, if that is known.
    fn enqueue(&mut self, id: usize) -> Option<u64> {
        let instr = &mut self.instrs[id];
        if instr.unit == self.given.memory() {
            let to_memory = matches!(self.given.table.space(instr.step), Space::Global | Space::Local);
            let access = self.given.table.instr(instr.step.pc()).access.unwrap_or(Access::Fence);
            let sent = (access, if to_memory { instr.transactions } else { 0 });
            let sub_core = instr.sub_core;
            self.load_store.iter_mut().for_each(|unit| unit.enqueue(sub_core, id, sent, self.now));
            return None;
        }
        let unit = &mut self.units[self.given.instance(instr.unit, instr.sub_core)];
        let start = unit.free.max(self.now);
        unit.free = start + instr.init;
        unit.starts.retain(|&other| other > self.now);
        unit.starts.push(start);
        (instr.start, instr.init_end) = (start, start + instr.init);
        let done = start + instr.total + self.given.settings.write_back;
        self.done.entry(done).or_default().push(id);
        let read = instr.init_end;
        self.signal(id, Moment::SourcesRead, read);
        Some(done)
    }

    /// Accounts for a cycle in which a sub-core issues nothing.
    pub(super) fn idle(&mut self, sub_core: usize, there: WarpMask, ready: WarpMask) {
        let slots = self.sub_cores[sub_core].slots;
        let live = self.blocks.live() & slots;
        let clear = self.all(there, |slot| self.is_clear(slot));
        let stalled = Stalled {
            ready,
            no_room: clear,
            awaiting: (there - clear) | self.all(live, |slot| self.warps[slot].is_held()),
            at_barrier: self.blocks.at_barrier() & slots,
            live,
        };
        let (reason, warps) = stalled.reason();
        self.idle_for(sub_core, reason, warps);
    }

    /// Accounts for a cycle in which a sub-core issues nothing because of these warps.
    fn idle_for(&mut self, sub_core: usize, reason: StallReason, warps: WarpMask) {
        if self.sub_cores[sub_core].idle.is_some_and(|(_, other, _)| other == reason) {
            return;
        }
        self.end_idle(sub_core);
        let stands_for = warps.lowest().and_then(|slot| {
            let warp = &self.warps[slot];
            waiting(&self.blocks, slot, reason, warp.next as u32, warp.path())
        });
        self.sub_cores[sub_core].idle = Some((self.now, reason, stands_for));
    }

    pub(super) fn end_idle(&mut self, sub_core: usize) {
        let SubCore { idle, stalls, .. } = &mut self.sub_cores[sub_core];
        if let Some((from, reason, waiting)) = idle.take() {
            let (from, to) = (Cycle::new(from), Cycle::new(self.now));
            stalls.add(reason, to - from);
            self.events.push(Event::Idled(Idle { sub_core: sub_core as u8, from, to, reason, waiting }));
        }
    }
}
