//! The issue stage: issues the instruction that each sub-core's policy selects.

use super::Sm;
use super::code::Instr;
use super::collector::Entering;
use super::flight::{Flight, FlightId};
use super::latch_entry::LatchEntry;
use super::register_ports::Held;
use super::warps::Issuing;
use crate::idle::{Stalled, waiting};
use crate::policy::{AnyPolicy, Policy, PolicyError};
use warpbound_core::base::{Cycle, UnitId, WarpMask};
use warpbound_core::program::{Access, Flow};
use warpbound_trace::trace::{Event, Idle, Issue};

impl Sm<'_> {
    /// Simulates the issue slots of the sub-cores in this set that are awake in this cycle. A
    /// sub-core that issues may wake another one.
    #[inline(always)]
    pub(super) fn issue_on<const PLAIN: bool>(
        &mut self,
        mut sub_cores: u32,
        policies: &mut [AnyPolicy<'_>],
    ) -> Result<(), Box<PolicyError>> {
        while let Some(sub_core) = self.schedulers.next_awake(&mut sub_cores) {
            if !PLAIN && self.goes_on_with_held(sub_core) {
                continue;
            }
            let fetched = self.fetched(self.schedulers.slots(sub_core));
            let wrong_path = fetched & self.front_end.wrong_path();
            let supplied = fetched - wrong_path;
            let ready = self.can_issue(supplied, sub_core);
            let conserving = PLAIN || self.schedulers.conserves(sub_core);
            if conserving && (ready | wrong_path).is_empty() {
                let sleeps = PLAIN || self.code.sleeps || (supplied & self.warps.clear()).is_empty();
                self.idle::<PLAIN>(sub_core, supplied, ready, sleeps);
            } else {
                self.issue::<PLAIN>(sub_core, &mut policies[sub_core], (supplied, ready, wrong_path))?;
            }
        }
        Ok(())
    }

    /// Simulates the issue slot of one sub-core in this cycle. The masks contain warps of the
    /// sub-core: `supplied` are those that no barrier, fence or atomic holds back and whose next
    /// instruction is in the buffer, `ready` are those that can issue, and `wrong_path` are those
    /// whose buffers hold other instructions.
    #[inline(never)]
    fn issue<const PLAIN: bool>(
        &mut self,
        sub_core: usize,
        policy: &mut AnyPolicy<'_>,
        (supplied, ready, wrong_path): (WarpMask, WarpMask, WarpMask),
    ) -> Result<(), Box<PolicyError>> {
        let slots = self.schedulers.slots(sub_core);
        let conserving = PLAIN || self.schedulers.conserves(sub_core);
        let live = self.blocks.live() & slots;
        if !PLAIN {
            self.show(sub_core, live);
        }
        if !wrong_path.is_empty() {
            self.redirect_before(sub_core, policy, ready, wrong_path);
        }
        let visible = if PLAIN { ready } else { self.willing(policy, ready) };
        let view = self.schedulers.view(sub_core);
        view.ready = visible;
        let nothing = conserving && ready.is_empty() || live.is_empty();
        let chosen = if nothing { None } else { policy.choose(view)? };
        if !conserving {
            let wake = if chosen.is_none() && !nothing { policy.wake(view).get() } else { u64::MAX };
            self.schedulers.wake_at(sub_core, wake);
        }
        let Some(slot) = chosen else {
            self.idle::<PLAIN>(sub_core, supplied, ready, false);
            return Ok(());
        };
        if !PLAIN && let Some(until) = self.waits_for_ports(slot, sub_core) {
            self.hold(sub_core, Held { slot, until });
            return Ok(());
        }
        self.issue_chosen::<PLAIN>(slot, sub_core);
        Ok(())
    }

    /// Issues the next instruction of the warp that the policy has selected and, with dual issue,
    /// perhaps another one.
    #[inline(always)]
    fn issue_chosen<const PLAIN: bool>(&mut self, slot: usize, sub_core: usize) {
        let idle = self.schedulers.end_idle(sub_core, self.now);
        if !PLAIN {
            self.note_idle(idle);
        }
        let first = self.warps.next(slot);
        self.issue_next::<PLAIN>(slot, sub_core);
        if !PLAIN && self.settings.issue.per_warp > 1 && self.warps.may_issue_with(first.step) {
            self.issue_more(slot, sub_core, first.kind);
        }
    }

    /// Returns the later cycle in which the next instruction of a warp can read its registers, if it
    /// has to wait for one.
    #[inline(always)]
    fn waits_for_ports(&self, slot: usize, sub_core: usize) -> Option<u64> {
        let ports = self.register_ports.as_ref()?;
        let reads = self.code.table.port_reads(self.warps.next(slot).step.pc())?;
        let at = ports.first_cycle(sub_core, slot, reads, self.now);
        (at > self.now).then_some(at)
    }

    /// Makes a sub-core hold an instruction until ports are free for it.
    #[inline(never)]
    fn hold(&mut self, sub_core: usize, held: Held) {
        if let Some(ports) = &mut self.register_ports {
            ports.hold(sub_core, Some(held));
        }
        self.schedulers.wake_at(sub_core, held.until);
        let none = WarpMask::empty();
        let warp = WarpMask::slot(held.slot);
        let stalled = Stalled { ready: none, no_room: warp, awaiting: none, at_barrier: none, live: warp };
        self.account::<false>(sub_core, &stalled, false);
    }

    /// Returns whether a sub-core holds an instruction, which issues if ports are free for it now.
    /// What made it ready when it was selected has not changed: nothing else of its warp has issued,
    /// and nothing else of its sub-core, to which its unit belongs.
    #[inline(always)]
    fn goes_on_with_held(&mut self, sub_core: usize) -> bool {
        let Some(ports) = &mut self.register_ports else { return false };
        let Some(Held { slot, until }) = ports.held(sub_core) else { return false };
        if until <= self.now {
            ports.hold(sub_core, None);
            self.schedulers.wake_at(sub_core, u64::MAX);
            self.issue_chosen::<false>(slot, sub_core);
        }
        true
    }

    /// Passes the policy of a sub-core further state besides the set of ready warps.
    fn show(&mut self, sub_core: usize, live: WarpMask) {
        let at_barrier = self.blocks.at_barrier() & self.schedulers.slots(sub_core);
        let view = self.schedulers.view(sub_core);
        view.now = Cycle::new(self.now);
        view.live = live;
        view.at_barrier = at_barrier;
        if let Some(global) = self.warps.waiting_for_global() {
            for slot in live.slots() {
                // the cycle in which the access completes is unknown
                view.global_until[slot] = if global.has(slot) { Cycle::NEVER } else { Cycle::ZERO };
            }
        }
    }

    /// Issues further instructions of a warp that has issued one to this kind of unit in this
    /// cycle.
    fn issue_more(&mut self, slot: usize, sub_core: usize, first_kind: u8) {
        for _ in 1..self.settings.issue.per_warp {
            let supplied = self.fetched(WarpMask::slot(slot)) - self.front_end.wrong_path();
            let same = self.settings.issue.distinct_units && self.warps.next(slot).kind == first_kind;
            if same
                || self.can_issue(supplied, sub_core).is_empty()
                || self.waits_for_ports(slot, sub_core).is_some()
            {
                break;
            }
            self.issue_next::<false>(slot, sub_core);
        }
    }

    /// Returns the warps in this set that have an instruction in their buffer and that no barrier,
    /// fence or atomic holds back.
    #[inline(always)]
    fn fetched(&self, warps: WarpMask) -> WarpMask {
        (self.blocks.live() & warps & self.front_end.filled()) - self.blocks.at_barrier() - self.warps.held()
    }

    /// Returns the `supplied` warps, whose next instruction is in the buffer, that can issue it.
    #[inline(always)]
    fn can_issue(&mut self, supplied: WarpMask, sub_core: usize) -> WarpMask {
        let ready = supplied & self.warps.clear();
        if ready.is_empty() { ready } else { ready - self.without_room_for(ready, sub_core) }
    }

    /// Returns the `ready` warps that the policy sees. Warps whose control codes request a yield
    /// are left out if another warp is ready.
    fn willing(&self, policy: &AnyPolicy<'_>, ready: WarpMask) -> WarpMask {
        let Some(yielding) = self.warps.yielding() else { return ready };
        let willing = ready - yielding;
        if willing.is_empty() || !policy.lets_yield() { ready } else { willing }
    }

    /// Searches the warps in the order of the policy, and redirects each warp whose buffer holds
    /// the wrong instructions when its turn comes; this does not end the search.
    #[inline(never)]
    fn redirect_before(
        &mut self,
        sub_core: usize,
        policy: &AnyPolicy<'_>,
        ready: WarpMask,
        mut wrong_path: WarpMask,
    ) {
        while !wrong_path.is_empty() {
            let first = policy.first(self.schedulers.view(sub_core), ready | wrong_path);
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

    /// Empties the buffer of a warp, so that it is fetched from the actual next instruction of the
    /// warp.
    fn redirect(&mut self, slot: usize) {
        self.goes_on = true;
        if let Some(step) = self.warps.next_step(slot) {
            self.front_end.flush(slot, self.code.table.place(step.pc()));
        }
    }

    /// Issues the next instruction of a warp, which must exist.
    #[inline(always)]
    fn issue_next<const PLAIN: bool>(&mut self, slot: usize, sub_core: usize) {
        let (now, age, code) = (self.now, self.issues, self.code);
        let issuing @ Issuing { step, kind, .. } = self.warps.next(slot);
        self.warps.issue(slot, now);
        self.schedulers.issued(sub_core);
        self.goes_on = true;
        self.issues = age.wrapping_add(1);
        self.front_end.issued(slot);
        if !PLAIN && self.may_be_quiet && code.of(step).quiet {
            self.warps.begin_codes(slot, self.schedulers.slots(sub_core), age, step, now);
            self.dispatch_quietly((slot, age), step, code.place(kind, sub_core));
        } else {
            self.fly::<PLAIN>(slot, sub_core, age, issuing);
        }
        if !PLAIN
            && let Some(ports) = &mut self.register_ports
            && let Some(reads) = code.table.port_reads(step.pc())
        {
            ports.read(sub_core, slot, reads, now);
        }
        match self.warps.look_at_next(slot, now) {
            Some(place) => self.front_end.goes_to(slot, place, now),
            None => self.has_issued_all(slot),
        }
    }

    /// Sends an instruction of this age to its unit, or to the collector, and follows it from there to
    /// its completion.
    #[inline(always)]
    fn fly<const PLAIN: bool>(&mut self, slot: usize, sub_core: usize, age: u64, issuing: Issuing) {
        let (code, Issuing { step, index, kind }) = (self.code, issuing);
        let instr = code.of(step);
        let simple = (PLAIN || self.warps.are_plain()) && instr.writes_simply;
        let (id, flight) = self.flights.add();
        flight.age = age;
        flight.step = step;
        flight.slot = slot as u8;
        flight.place = code.place(kind, sub_core);
        flight.banks = code.written(instr, slot as u8, sub_core);
        flight.init = instr.init;
        flight.total = instr.total;
        flight.simple = simple;
        if simple {
            flight.writes = self.warps.reserve_simply(slot, instr);
        }
        if !PLAIN && self.listening {
            self.note_issue(id, sub_core, index);
        }
        if !(simple && instr.ordinary) || !PLAIN && self.collector.is_none() {
            self.issue_special(slot, sub_core, id, instr);
        }
        if let Some(collector) = &mut self.collector {
            let reads = code.reads(instr, slot as u8, sub_core);
            let entering = Entering {
                age,
                flight: id,
                place: code.place(kind, sub_core),
                counted: instr.counted,
                reads,
            };
            collector.put(LatchEntry::new(kind.into(), sub_core), entering);
        }
    }

    /// Handles a warp that has issued its last instruction.
    #[inline(never)]
    fn has_issued_all(&mut self, slot: usize) {
        if !self.blocks.at_barrier().has(slot) {
            self.finish(slot);
        }
    }

    /// Does the remaining work of issuing an instruction that is not simple.
    #[inline(never)]
    fn issue_special(&mut self, slot: usize, sub_core: usize, id: FlightId, instr: &Instr) {
        let &Flight { step, age, simple, .. } = self.flights.get(id);
        if let Some(access) = instr.access {
            self.claim_traffic(id, step, access);
        } else {
            let timing = self.code.timing(step);
            let flight = self.flights.get_mut(id);
            (flight.init, flight.total) = (timing.init, timing.total);
        }
        self.flights.get_mut(id).unwritten = instr.all_writes;
        if instr.flow == Flow::Exit && !step.ends_warp() {
            self.front_end.flush(slot, self.code.table.place(step.pc()) + 1);
        }
        if !simple {
            self.warps.reserve(slot, age, instr, step);
        }
        self.warps.begin_codes(slot, self.schedulers.slots(sub_core), age, step, self.now);
        let done = if self.collector.is_some() { None } else { self.dispatch_at_once(id) };
        if instr.access == Some(Access::Fence) {
            self.warps.fence(slot);
        }
        if matches!(instr.flow, Flow::Barrier | Flow::Arrive) {
            self.arrive(slot, step, instr.flow == Flow::Barrier, done.unwrap_or(self.now));
        }
    }

    /// Accounts for a cycle in which a sub-core issues nothing. The masks contain warps of the
    /// sub-core: `supplied` are those that no barrier, fence or atomic holds back and whose next
    /// instruction is in the buffer, and `ready` are those that could have issued. `sleeps` says
    /// that the sub-core can sleep until something changes for it. A fence or an atomic holds a
    /// warp back as a register does.
    #[inline(always)]
    fn idle<const PLAIN: bool>(
        &mut self,
        sub_core: usize,
        supplied: WarpMask,
        ready: WarpMask,
        sleeps: bool,
    ) {
        let slots = self.schedulers.slots(sub_core);
        let (live, clear) = (self.blocks.live() & slots, self.warps.clear());
        let stalled = Stalled {
            ready,
            no_room: supplied & clear,
            awaiting: (supplied - clear) | (self.warps.held() & live),
            at_barrier: self.blocks.at_barrier() & slots,
            live,
        };
        self.account::<PLAIN>(sub_core, &stalled, sleeps);
    }

    /// Accounts for a cycle in which a sub-core issues nothing because of these warps.
    #[inline(always)]
    fn account<const PLAIN: bool>(&mut self, sub_core: usize, stalled: &Stalled, sleeps: bool) {
        let change = self.schedulers.idle(sub_core, stalled, sleeps, self.now);
        if !PLAIN
            && self.listening
            && let Some(change) = change
        {
            self.note_idle(change.ended);
            let waiting = change.warps.lowest().and_then(|slot| {
                let (next, _) = self.warps.issued(slot);
                waiting(&self.blocks, slot, change.reason, next, self.warps.steps(slot))
            });
            self.schedulers.note_waiting(sub_core, waiting);
        }
    }

    /// Accounts for a cycle of a sub-core without any warp, on an SM without blocks.
    pub(super) fn drain(&mut self, sub_core: usize) {
        self.idle::<false>(sub_core, WarpMask::empty(), WarpMask::empty(), false);
    }

    /// Records an idle interval that has ended, if there was one.
    pub(super) fn note_idle(&mut self, idle: Option<Idle>) {
        if self.listening
            && let Some(idle) = idle
        {
            self.log.add(Event::Idled(idle));
        }
    }

    fn note_issue(&mut self, id: FlightId, sub_core: usize, index: u32) {
        let &Flight { slot, step, .. } = self.flights.get(id);
        let slot = usize::from(slot);
        let (block, warp) = self.blocks.warp(slot);
        let at = Cycle::new(self.now);
        self.flights.details_mut(id).entry = self.log.issued(Issue {
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
