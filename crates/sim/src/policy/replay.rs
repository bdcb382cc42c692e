//! The replay policy, whose decisions are read from a file.

use super::error::{PolicyError, PolicyFault};
use super::schedule::Decision;
use super::{Placed, Policy, Schedule, View};
use crate::SLOTS;
use warpbound_core::base::{BlockId, Cycle, WarpId, WarpMask};
use warpbound_core::machine::SubCores;

/// A policy that issues exactly as a [`Schedule`] says. It is as work conserving as the schedule
/// is.
#[derive(Clone, Debug)]
pub struct Replay<'a> {
    schedule: &'a Schedule,
    sub_cores: SubCores,
    sub_core: usize,
    residents: Vec<Resident>,
}

#[derive(Clone, Debug)]
struct Resident {
    placed: Placed,
    /// The index of the next decision for this sub-core in the block's section.
    next: usize,
}

impl<'a> Replay<'a> {
    /// Creates a policy that replays this schedule.
    pub fn new(schedule: &'a Schedule) -> Self {
        Self::on_sub_core(schedule, SubCores::ONE, 0)
    }

    /// Creates a policy that replays the decisions of this schedule for the warps of one of several
    /// sub-cores.
    pub fn on_sub_core(schedule: &'a Schedule, sub_cores: SubCores, sub_core: usize) -> Self {
        Self { schedule, sub_cores, sub_core, residents: Vec::new() }
    }

    /// Returns the index of the first decision for this sub-core from an index on.
    fn from(&self, placed: &Placed, index: usize) -> usize {
        let section = self.schedule.section(placed.block);
        let own = |decision: &Decision| {
            self.sub_cores.of_slot(placed.first_slot + decision.warp.index()) == self.sub_core
        };
        let skipped = section.iter().skip(index).position(own);
        skipped.map_or(section.len(), |skipped| index + skipped)
    }

    fn error(
        &self,
        resident: &Resident,
        now: Cycle,
        ready: WarpMask,
        fault: PolicyFault,
    ) -> Box<PolicyError> {
        let section = self.schedule.section(resident.placed.block);
        let line = section.get(resident.next).or(section.last()).map_or(0, |decision| decision.line);
        Box::new(PolicyError {
            file: self.schedule.file().to_owned(),
            line,
            block: resident.placed.block,
            cycle: Cycle::ZERO + (now - resident.placed.at),
            fault,
            ready: warps(resident, ready),
        })
    }

    /// Returns the cycle in which the next decision of a block is due.
    fn due(&self, resident: &Resident) -> Option<Cycle> {
        let decision = self.schedule.section(resident.placed.block).get(resident.next)?;
        Some(resident.placed.at + decision.cycle.since_start())
    }
}

/// Returns the warps of a block among these slots.
fn warps(resident: &Resident, slots: WarpMask) -> Vec<WarpId> {
    let own = slots & resident.placed.slots;
    own.slots().map(|slot| WarpId::from_index(slot - resident.placed.first_slot)).collect()
}

impl Policy for Replay<'_> {
    fn is_work_conserving(&self) -> bool {
        false
    }

    fn restart(&mut self) {
        self.residents.clear();
    }

    fn placed(&mut self, placed: &Placed) {
        let next = self.from(placed, 0);
        self.residents.push(Resident { placed: *placed, next });
    }

    fn choose(&mut self, view: &View) -> Result<Option<usize>, Box<PolicyError>> {
        let mut chosen = None;
        for (index, resident) in self.residents.iter().enumerate() {
            let Some(due) = self.due(resident) else {
                // a warp at a barrier may have no instruction after it
                let left = warps(resident, view.in_turn());
                if left.is_empty() {
                    continue;
                }
                return Err(self.error(resident, view.now, view.ready, PolicyFault::EndsEarly(left)));
            };
            if due != view.now {
                continue;
            }
            let warp = self.schedule.section(resident.placed.block)[resident.next].warp;
            let slot = resident.placed.first_slot + warp.index();
            let fault = if slot >= SLOTS || !resident.placed.slots.has(slot) {
                PolicyFault::NoSuchWarp(warp)
            } else if !view.live.has(slot) {
                PolicyFault::Finished(warp)
            } else if view.at_barrier.has(slot) {
                PolicyFault::AtBarrier(warp)
            } else if !view.ready.has(slot) {
                PolicyFault::WaitsForRegister(warp)
            } else if chosen.is_some() {
                PolicyFault::SlotTaken(warp)
            } else {
                chosen = Some((index, slot));
                continue;
            };
            return Err(self.error(resident, view.now, view.ready, fault));
        }
        let Some((index, slot)) = chosen else { return Ok(None) };
        let resident = &self.residents[index];
        let next = self.from(&resident.placed, resident.next + 1);
        self.residents[index].next = next;
        let resident = &self.residents[index];
        if self.due(resident) == Some(view.now) {
            let warp = self.schedule.section(resident.placed.block)[next].warp;
            return Err(self.error(resident, view.now, view.ready, PolicyFault::SlotTaken(warp)));
        }
        Ok(Some(slot))
    }

    fn wake(&self, view: &View) -> Cycle {
        let due = self.residents.iter().filter_map(|resident| self.due(resident));
        due.filter(|&cycle| cycle > view.now).min().unwrap_or(Cycle::NEVER)
    }

    fn ended(&mut self, block: BlockId) -> Result<(), Box<PolicyError>> {
        let Some(index) = self.residents.iter().position(|resident| resident.placed.block == block) else {
            return Ok(());
        };
        let resident = self.residents.remove(index);
        match self.due(&resident) {
            Some(due) => Err(self.error(&resident, due, WarpMask::empty(), PolicyFault::GoesOn)),
            None => Ok(()),
        }
    }
}
