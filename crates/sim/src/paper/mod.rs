//! The engine of the paper model: the state of the SM and the event loop.

mod blocks;
mod codes;
mod idle;
mod launch;
mod machine;
mod several;
#[cfg(test)]
mod tests;

pub use launch::Engine;
pub(crate) use launch::launch;
pub use machine::PaperMachine;

use crate::SLOTS;
use crate::blocks::{Blocks, Layout};
use crate::error::RunError;
use crate::ops::{Op, Ops};
use crate::policy::{Policy, PolicyError, View};
use crate::result::SubCoreResult;
use crate::wheel::Wheel;
use warpbound_core::base::{Cycle, RegId, UnitId, WarpMask};
use warpbound_core::machine::SubCores;
use warpbound_core::path::Step;
use warpbound_core::program::{Barriers, Flow, TimingTable};
use warpbound_trace::trace::{Event, Issue, Observer};

/// The steps that each slot issues: the part of the warp's path that
/// [`issuing`](crate::ops::issuing) returns.
type SlotSteps<'p> = [&'p [Step]; SLOTS];

/// A warp slot.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    /// The number of instructions issued, which is the index of the next one.
    next: u32,
    /// The cycle in which its next instruction is ready, if the warp is not at a barrier.
    ready_at: u64,
    last_issue: u64,
    /// The largest `done` of its instructions, or the start of the block if none has issued.
    last_done: u64,
    /// The cycle in which its stall count lets it issue again; a barrier may hold it for longer.
    stalled_until: u64,
}

/// The SM. Time passes until [`Sm::restart`] resets it.
#[derive(Clone, Debug)]
struct Sm<'a> {
    ops: Ops<'a>,
    regs: usize,
    /// For each slot and register, the cycle in which its value is available.
    avail: Vec<u64>,
    /// Whether the policy needs to know which loads are from global memory.
    tracks_global: bool,
    /// For each slot and register, the cycle in which its value is available if such a load wrote
    /// it, else 0. It is empty unless the policy uses this.
    from_global: Vec<u64>,
    /// The registers that stand for barriers of control codes, if there are any.
    barriers: Option<Barriers>,
    /// The warps that issued last on their sub-core and whose control codes request a yield.
    yielding: WarpMask,
    sub_cores: SubCores,
    /// For each instance of a unit, the cycle in which it can start the next initiation.
    free: Vec<u64>,
    wheel: Wheel,
    view: View,
    slots: [Slot; SLOTS],
    blocks: Blocks,
    /// The results, by sub-core.
    pub used: [SubCoreResult; SubCores::MAX],
}

impl<'a> Sm<'a> {
    /// Creates an SM without blocks at cycle 0, with these CTA slots.
    pub fn new(table: &'a TimingTable, layout: Layout) -> Self {
        let mut sm = Self {
            ops: Ops::new(table),
            regs: table.regs(),
            avail: Vec::new(),
            tracks_global: false,
            from_global: Vec::new(),
            barriers: table.barriers(),
            yielding: WarpMask::empty(),
            sub_cores: table.sub_cores(),
            free: vec![0; table.units() * table.sub_cores().count()],
            wheel: Wheel::new(),
            view: View::new(),
            slots: [Slot::default(); SLOTS],
            blocks: Blocks::new(layout),
            used: Default::default(),
        };
        sm.restart(layout);
        sm
    }

    /// Resets the SM to a new one: without blocks, at cycle 0, with these CTA slots. Only its
    /// allocations remain. This is the only place that defines a new SM, and it names every field,
    /// so that none can be forgotten.
    pub fn restart(&mut self, layout: Layout) {
        let Self {
            ops: _,
            regs: _,
            barriers: _,
            sub_cores: _,
            avail,
            tracks_global,
            from_global,
            yielding,
            free,
            wheel,
            view,
            slots,
            blocks,
            used,
        } = self;
        // `cta_slot` extends them again, with zeros
        avail.clear();
        from_global.clear();
        // it depends on the policies, which are passed when blocks are placed
        *tracks_global = false;
        *yielding = WarpMask::empty();
        free.fill(0);
        wheel.clear();
        view.clear();
        *slots = [Slot::default(); SLOTS];
        blocks.restart(layout);
        *used = Default::default();
    }

    pub fn now(&self) -> Cycle {
        self.view.now
    }

    pub fn table(&self) -> &'a TimingTable {
        self.ops.table
    }

    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// Returns a free CTA slot, if there is one.
    pub fn free_cta_slot(&self) -> Option<usize> {
        self.blocks.free_cta_slot()
    }

    /// Runs until a block ends; [`Sm::take_ended`] then returns it. There must be one policy per
    /// sub-core.
    pub fn run<P: Policy, O: Observer>(
        &mut self,
        steps: &SlotSteps<'_>,
        policies: &mut [P],
        observer: &mut O,
    ) -> Result<(), RunError> {
        match policies {
            [policy] => self.run_one(steps, policy, observer),
            several => self.run_several(steps, several, observer),
        }
    }

    /// Runs the SM as one sub-core.
    fn run_one<P: Policy, O: Observer>(
        &mut self,
        steps: &SlotSteps<'_>,
        policy: &mut P,
        observer: &mut O,
    ) -> Result<(), RunError> {
        let conserving = policy.is_work_conserving();
        loop {
            let now = self.view.now.get();
            if now >= self.blocks.due() && self.follow_due(steps, observer) {
                return Ok(());
            }
            self.view.ready |= self.wheel.take(now);
            if (!conserving || !self.view.ready.is_empty())
                && let Some(slot) = self.choose(policy)?
            {
                debug_assert!(self.view.ready.has(slot));
                self.issue::<O, false>(0, slot, steps, observer);
                self.view.now = self.view.now.next();
                continue;
            }
            let mut next = self.wheel.next(now).min(self.blocks.due());
            if !conserving {
                next = next.min(policy.wake(&self.view).get());
            }
            if next == u64::MAX {
                return Err(RunError::Deadlock(self.deadlock(steps)));
            }
            debug_assert!(next > now);
            self.idle(0, WarpMask::ALL, Cycle::new(next), steps, observer);
            self.view.now = Cycle::new(next);
        }
    }

    /// Returns the decision of the policy.
    #[inline(always)]
    fn choose<P: Policy>(&mut self, policy: &mut P) -> Result<Option<usize>, Box<PolicyError>> {
        let ready = self.view.ready;
        let others = ready - self.yielding;
        if self.yielding.is_empty() || others.is_empty() || !policy.lets_yield() {
            return policy.choose(&self.view);
        }
        self.view.ready = others;
        let chosen = policy.choose(&self.view);
        self.view.ready = ready;
        chosen
    }

    /// Issues the next instruction of a slot in the present cycle. `SEVERAL` says whether there are
    /// several sub-cores, so that units have instances.
    #[inline(always)]
    fn issue<O: Observer, const SEVERAL: bool>(
        &mut self,
        sub_core: usize,
        slot: usize,
        steps: &SlotSteps<'_>,
        observer: &mut O,
    ) {
        let now = self.view.now.get();
        let path = steps[slot];
        let state = &mut self.slots[slot];
        let index = state.next as usize;
        let step = path[index];
        let op = self.ops.of(step);
        let (unit, init, total) = if op.special {
            let timing = self.ops.table.op(step);
            (timing.unit.get(), timing.init.get(), (timing.init + timing.lat).get())
        } else {
            (op.unit, op.init, op.total)
        };
        let instance = if SEVERAL {
            self.sub_cores.instance(UnitId::new(unit), sub_core, self.ops.table.units())
        } else {
            unit as usize
        };
        let free = &mut self.free[instance];
        let start = now.max(*free);
        let init_end = start + init;
        let done = start + total;
        *free = init_end;
        let base = slot * self.regs;
        let avail = &mut self.avail[base..base + self.regs];
        for &reg in op.writes() {
            avail[reg as usize] = done;
        }
        if op.flow == Flow::AsyncCopy
            && let Some(ring) = self.ops.table.async_reg(step)
        {
            avail[ring.index()] = done;
        }
        if self.tracks_global {
            let loads = self.ops.table.loads_global(step);
            for reg in written(op, self.ops.table.async_reg(step)) {
                self.from_global[base + reg] = if loads { done } else { 0 };
            }
        }
        let (stall, signals) = (u64::from(op.stall), op.signals);
        let (special, flow) = (op.special, op.flow);
        state.stalled_until = now + stall;
        state.last_issue = now;
        state.last_done = state.last_done.max(done);
        state.next += 1;
        self.used[sub_core].issues += 1;
        if observer.needs().events {
            let (block, warp) = self.blocks.warp(slot);
            observer.on(&Event::Issued(Issue {
                block,
                slot,
                sub_core: sub_core as u8,
                warp,
                index: index as u32,
                step,
                unit: UnitId::new(unit),
                issue: Cycle::new(now),
                start: Cycle::new(start),
                init_end: Cycle::new(init_end),
                done: Cycle::new(done),
            }));
        }
        if self.barriers.is_some() {
            self.follow_codes(sub_core, slot, step, signals.then_some((init_end, done)));
        }
        if special && matches!(flow, Flow::Barrier | Flow::Arrive) {
            let waits = flow == Flow::Barrier;
            self.arrive(slot, step, waits, done);
            if waits {
                return;
            }
        }
        match path.get(index + 1) {
            Some(&next) => self.wake_at(slot, next, now + 1),
            None => {
                self.view.ready -= WarpMask::slot(slot);
                self.finish(slot, observer);
            }
        }
    }

    /// Inserts a slot into the wheel under the cycle in which its next instruction can issue, which
    /// is at least `earliest`, the next cycle to decide about.
    #[inline(always)]
    fn wake_at(&mut self, slot: usize, next: Step, earliest: u64) {
        let op = self.ops.of(next);
        let base = slot * self.regs;
        let avail = &self.avail[base..base + self.regs];
        let mut at = earliest.max(self.slots[slot].stalled_until);
        for &reg in op.waits() {
            at = at.max(avail[reg as usize]);
        }
        if op.waits_ring
            && let Some(ring) = self.ops.table.async_reg(next)
        {
            at = at.max(avail[ring.index()]);
        }
        if self.tracks_global {
            let from_global = &self.from_global[base..base + self.regs];
            let mut until = 0;
            for &reg in op.waits() {
                until = until.max(from_global[reg as usize]);
            }
            if op.waits_ring
                && let Some(ring) = self.ops.table.async_reg(next)
            {
                until = until.max(from_global[ring.index()]);
            }
            self.view.global_until[slot] = Cycle::new(until);
        }
        self.slots[slot].ready_at = at;
        if at == earliest {
            self.view.ready |= WarpMask::slot(slot);
        } else {
            self.view.ready -= WarpMask::slot(slot);
            self.wheel.insert(self.view.now.get(), at, slot);
        }
    }
}

/// Returns the registers that an instruction writes, including the pseudo-register of an
/// asynchronous copy.
fn written(op: &Op, ring: Option<RegId>) -> impl Iterator<Item = usize> {
    let ring = ring.filter(|_| op.flow == Flow::AsyncCopy).map(RegId::index);
    op.writes().iter().map(|&reg| reg as usize).chain(ring)
}
