//! The warps of one block, run against each other.
//!
//! Warps run in id order, each until it waits, ends, or has used up its quantum. The order is
//! fixed, so a launch gives the same paths every time; whether another order could give other ones
//! is noted where it can be seen.

use super::Options;
use super::barrier::{Arrival, Barriers};
use super::fault::{self, Fault};
use super::loops::{Probe, hot_loop};
use super::step::{Context, Executed, Meeting, execute};
use super::warp::{State, Warp};
use crate::base::{LaneMask, Pc, WARP_SIZE, Watch};
use crate::path::{BarrierUse, BlockPaths, Step};
use crate::program::Sem;
use crate::program::sem::BarrierKind;

/// Instructions after which another warp gets its turn, so that warps can wait for each other
/// through memory.
const QUANTUM: u32 = 1 << 14;

/// Everything needed to run blocks one after the other.
pub(super) struct Runner<'a> {
    /// What the warps share.
    pub(super) context: Context<'a>,
    /// Why paths may depend on timing.
    pub(super) notes: Vec<String>,
    /// Who may end the run, if anybody.
    pub(super) watch: Option<&'a Watch>,
    options: Options,
    warps: Vec<Warp>,
    barriers: Barriers,
    probe: Probe,
    /// Warp instructions that the running block may still execute.
    fuel: u64,
}

impl<'a> Runner<'a> {
    /// Room for the warps of a block.
    pub(super) fn new(context: Context<'a>, options: Options) -> Self {
        let warp = |id| Warp::new(id, context.program, &context.shape, options.reconvergence);
        let warps = (0..context.shape.warps).map(warp).collect();
        let (barriers, probe) = (Barriers::default(), Probe::default());
        Self { context, notes: Vec::new(), watch: None, options, warps, barriers, probe, fuel: 0 }
    }

    /// Runs the block at these coordinates; `paths` has been reset for it. False if the run was ended
    /// from outside before the block was.
    ///
    /// # Errors
    /// The first thing that the kernel does wrong.
    pub(super) fn run(&mut self, at: [u32; 3], paths: &mut BlockPaths) -> Result<bool, Fault> {
        self.context.shape.at = at;
        self.context.memory.start_block();
        self.barriers.start(self.warps.len());
        self.warps.iter_mut().for_each(Warp::start);
        self.fuel = self.options.max_instructions_per_block;
        loop {
            let mut ran = false;
            for id in 0..self.warps.len() {
                if self.warps[id].state == State::Ready {
                    ran = true;
                    if self.watch.is_some_and(Watch::is_stopped) {
                        return Ok(false);
                    }
                    self.run_warp(id, paths)?;
                }
            }
            if self.warps.iter().all(|warp| warp.state == State::Finished) {
                return Ok(true);
            }
            if !ran {
                return Err(self.deadlock(paths));
            }
        }
    }

    fn run_warp(&mut self, id: usize, paths: &mut BlockPaths) -> Result<(), Fault> {
        for _ in 0..QUANTUM {
            self.advance(id, paths)?;
            if self.warps[id].state != State::Ready {
                return Ok(());
            }
        }
        let alone = self.warps.iter().all(|warp| warp.id == id || warp.state == State::Finished);
        if alone { Ok(()) } else { self.watch(id, paths) }
    }

    /// Notes it if the warp has only been waiting for another one.
    fn watch(&mut self, id: usize, paths: &mut BlockPaths) -> Result<(), Fault> {
        self.probe.remember(&self.warps[id]);
        let start = paths.warps[id].steps().len();
        for _ in 0..Probe::LENGTH {
            self.advance(id, paths)?;
            let warp = &self.warps[id];
            if warp.state != State::Ready {
                return Ok(());
            }
            if self.probe.returned(warp) {
                let place = Probe::place(self.context.program, &paths.warps[id].steps()[start..]);
                let note = format!(
                    "warps wait for each other by polling memory at {place}: how often depends on timing, \
                     here on the order in which a functional run takes the warps"
                );
                if !self.notes.contains(&note) {
                    self.notes.push(note);
                }
                return Ok(());
            }
        }
        Ok(())
    }

    /// One instruction of a warp.
    #[inline]
    fn advance(&mut self, id: usize, paths: &mut BlockPaths) -> Result<(), Fault> {
        if self.fuel == 0 {
            return Err(self.out_of_fuel(id, paths));
        }
        self.fuel -= 1;
        let warp = &mut self.warps[id];
        let Executed { step, active, enabled, meeting } = execute(warp, &mut self.context)?;
        paths.thread_instructions += u64::from(enabled.count());
        let path = &mut paths.warps[id];
        if warp.stack.top().is_none() {
            path.push(step.ending_warp(), active);
            warp.state = State::Finished;
            self.barriers.finish(id);
            (0..super::barrier::BARRIERS).for_each(|barrier| self.open(barrier));
            return Ok(());
        }
        match meeting {
            Meeting::None => {
                path.push(step, active);
                self.context.record.deliver(path);
            }
            Meeting::Passed => {
                // a barrier of this warp alone, which opens at once
                let id = self.barriers.unused().unwrap_or(0) as u8;
                path.push(Step::with(step.pc(), BarrierUse { id, warps: 1 }), active);
                paths.partial_barriers = true;
            }
            Meeting::At(arrival) => {
                path.push(step, active);
                paths.partial_barriers |= arrival.warps != 0 || !arrival.waits;
                self.arrive(id, step.pc(), &arrival)?;
            }
        }
        Ok(())
    }

    fn arrive(&mut self, id: usize, pc: Pc, arrival: &Arrival) -> Result<(), Fault> {
        if arrival.waits {
            self.warps[id].state = State::Waiting(pc);
        }
        if let Err(expected) = self.barriers.arrive(id, arrival) {
            let count = |warps| match warps {
                0 => "all warps".to_owned(),
                n => format!("{} threads", n * WARP_SIZE),
            };
            let message = format!(
                "warp {id} comes to barrier {} for {}, those already there expect {}",
                arrival.id,
                count(arrival.warps),
                count(expected)
            );
            return Err(fault::at(self.context.program, pc, message, "all must give the same thread count"));
        }
        self.open(arrival.id);
        Ok(())
    }

    /// Lets the warps at a barrier go on if it is complete.
    fn open(&mut self, id: usize) {
        let Some((waiting, tally)) = self.barriers.release(id) else { return };
        for slot in waiting.slots() {
            let warp = &mut self.warps[slot];
            let State::Waiting(pc) = warp.state else { continue };
            warp.state = State::Ready;
            let Sem::Barrier(barrier) = &self.context.program.instr(pc).sem else { continue };
            let live = warp.stack.live();
            let verdict = |holds| if holds { LaneMask::ALL } else { LaneMask::empty() };
            match barrier.kind {
                BarrierKind::Sync | BarrierKind::Arrive => {}
                BarrierKind::And(dst, _) => warp.set_pred(dst, verdict(tally.holds == tally.threads), live),
                BarrierKind::Or(dst, _) => warp.set_pred(dst, verdict(tally.holds > 0), live),
                BarrierKind::Popc(dst, _) => {
                    let width = self.context.widths[dst.index()];
                    warp.set(dst, width, &[u64::from(tally.holds); WARP_SIZE], live);
                }
            }
        }
    }

    fn out_of_fuel(&self, id: usize, paths: &BlockPaths) -> Fault {
        let program = self.context.program;
        let steps = paths.warps[id].steps();
        let place = match hot_loop(program, steps) {
            Some(place) => format!("warp {id} is in the loop from {place}"),
            None => format!("warp {id} is running"),
        };
        let [x, y, z] = self.context.shape.at;
        let message = format!(
            "block ({x}, {y}, {z}) has executed {} warp instructions and does not end: {place}",
            self.options.max_instructions_per_block
        );
        let pc = steps.last().map_or(Pc::new(0), |step| step.pc());
        fault::at(program, pc, message, "if the loop does end, raise the limit with --max-instructions")
    }

    fn deadlock(&self, paths: &BlockPaths) -> Fault {
        let program = self.context.program;
        // warps that wait at the same instruction, in order of their first
        let mut groups: Vec<(Pc, usize, Vec<usize>)> = Vec::new();
        for warp in &self.warps {
            let State::Waiting(pc) = warp.state else { continue };
            let id = paths.warps[warp.id].steps().last().map_or(0, |step| usize::from(step.barrier().id));
            match groups.iter_mut().find(|(at, barrier, _)| (*at, *barrier) == (pc, id)) {
                Some((_, _, warps)) => warps.push(warp.id),
                None => groups.push((pc, id, vec![warp.id])),
            }
        }
        let lines: Vec<String> = groups
            .iter()
            .map(|(pc, id, warps)| {
                let warps: Vec<String> = warps.iter().map(usize::to_string).collect();
                let (place, progress) = (program.place(*pc), self.barriers.progress(*id));
                format!("warps {} wait at barrier {id} at {place} ({progress})", warps.join(", "))
            })
            .collect();
        let [x, y, z] = self.context.shape.at;
        let message = format!("barrier deadlock in block ({x}, {y}, {z}): {}", lines.join("; "));
        let pc = groups.first().map_or(Pc::new(0), |(pc, ..)| *pc);
        fault::at(program, pc, message, "every warp a barrier counts has to come to it or end")
    }
}
