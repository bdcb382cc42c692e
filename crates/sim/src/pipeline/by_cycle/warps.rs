//! Warps, register by register.

use std::rc::Rc;

use super::codes::Codes;
use super::{Given, Sm};
use crate::key::Key;
use crate::ops::issuing;
use warpbound_core::base::RegId;
use warpbound_core::machine::Hazards;
use warpbound_core::path::{LineUse, Step, WarpPath};
use warpbound_core::program::Flow;

#[derive(Clone)]
pub(super) struct Warp {
    pub steps: Rc<[Step]>,
    all_steps: Rc<[Step]>,
    traffic: Rc<[LineUse]>,
    next_line: usize,
    pub next: usize,
    /// Whether there is a next step, as of the last call of `look`.
    pub has_next: bool,
    /// For each register, the instruction in flight that writes it last, and whether that loads
    /// from global memory.
    pub pending: Vec<Option<(usize, bool)>>,
    pub in_flight: u32,
    pub stores: u32,
    pub atomics: u32,
    pub fenced: bool,
    pub last_issue: u64,
    pub last_done: u64,
    pub codes: Codes,
}

impl Warp {
    pub fn new(regs: usize) -> Self {
        Self {
            steps: Rc::default(),
            all_steps: Rc::default(),
            traffic: Rc::default(),
            next_line: 0,
            next: 0,
            has_next: false,
            pending: vec![None; regs],
            in_flight: 0,
            stores: 0,
            atomics: 0,
            fenced: false,
            last_issue: 0,
            last_done: 0,
            codes: Codes::default(),
        }
    }

    pub fn begin(&mut self, path: &WarpPath, given: &Given<'_>, now: u64) {
        self.steps = issuing(path, given.table).into();
        self.all_steps = path.steps().into();
        self.traffic = path.traffic().into();
        (self.next, self.next_line) = (0, 0);
        (self.last_issue, self.last_done) = (now, now);
        self.look();
    }

    /// Updates whether there is a next step.
    pub fn look(&mut self) {
        self.has_next = self.next < self.steps.len();
    }

    pub fn next_step(&self) -> Option<Step> {
        self.has_next.then(|| self.steps[self.next])
    }

    /// Returns all steps of its path.
    pub fn path(&self) -> &[Step] {
        &self.all_steps
    }

    /// Returns the next group of lines.
    pub fn group(&mut self) -> Vec<LineUse> {
        let rest = &self.traffic[self.next_line..];
        let count = rest.iter().position(|line| line.is_last()).map_or(rest.len(), |last| last + 1);
        self.next_line += count;
        rest[..count].to_vec()
    }

    /// Returns whether a fence or an atomic holds the warp.
    pub fn is_held(&self) -> bool {
        self.fenced || self.atomics > 0
    }

    /// Adds the warp to the key of a state.
    pub fn key(&self, sm: usize, now: u64, key: &mut Key) {
        key.put(self.next as u64);
        key.put(self.has_next.into());
        let pending = self.pending.iter().enumerate();
        let pending: Vec<(usize, usize)> =
            pending.filter_map(|(reg, writer)| Some((reg, (*writer)?.0))).collect();
        key.list(pending, |key, (reg, writer)| {
            key.put(reg as u64);
            key.instr(sm, writer);
        });
        key.put(self.in_flight.into());
        key.put(self.stores.into());
        key.put(self.atomics.into());
        key.put(self.fenced.into());
        // the barriers of the block see the cycle after the last issue
        key.until(self.last_issue + 1, now);
        self.codes.key(sm, now, key);
    }
}

impl Sm<'_> {
    /// Returns the registers that the next instruction of a warp waits for.
    fn awaited(&self, step: Step) -> Vec<usize> {
        let table = self.given.table;
        let instr = table.instr(step.pc());
        let waw = table.hazards().contains(Hazards::WAW);
        let ring = table.async_reg(step).filter(|_| instr.flow == Flow::AsyncWait || waw);
        let results = instr.dsts.as_slice().iter().filter(|_| waw);
        let regs = instr.srcs.as_slice().iter().chain(results).copied().chain(ring);
        regs.map(RegId::index).collect()
    }

    /// Returns the registers that an instruction writes and that others may wait for.
    pub(super) fn written(&self, step: Step) -> Vec<usize> {
        let table = self.given.table;
        let instr = table.instr(step.pc());
        if instr.unscored {
            return Vec::new();
        }
        let ring = table.async_reg(step).filter(|_| instr.flow == Flow::AsyncCopy);
        instr.dsts.as_slice().iter().copied().chain(ring).map(RegId::index).collect()
    }

    /// Returns whether a warp has a next instruction without a hazard.
    pub(super) fn is_clear(&self, slot: usize) -> bool {
        let warp = &self.warps[slot];
        let there = |step| self.awaited(step).iter().all(|&reg| warp.pending[reg].is_none());
        warp.next_step().is_some_and(|step| self.codes_allow(slot, step).unwrap_or_else(|| there(step)))
    }

    /// Returns whether the next instruction of a warp waits for a load from global memory.
    pub(super) fn waits_for_global(&self, slot: usize) -> bool {
        let warp = &self.warps[slot];
        let global = |&reg: &usize| warp.pending[reg].is_some_and(|(_, global)| global);
        let waits = |step| self.awaited(step).iter().any(global);
        warp.next_step()
            .is_some_and(|step| self.codes_wait_for_global(slot, step).unwrap_or_else(|| waits(step)))
    }
}
