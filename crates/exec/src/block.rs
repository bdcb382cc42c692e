//! The execution of the warps of one block.
//!
//! Warps run in the order of their ids, each until it waits, ends, or has used up its quantum. The
//! order is fixed, so a launch gives the same paths every time; [`super::races`] detects whether
//! another order could give other paths.

use std::sync::Arc;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::Options;
use super::barrier::{Arrival, Barriers, Opened};
use super::cluster_barrier::ClusterBarrier;
use super::code::{Code, Kind};
use super::context::{Context, Meeting};
use super::fault::{self, Fault};
use super::loops::hot_loop;
use super::registers::RegisterMap;
use super::rows::Processor;
use super::step::{self, Executed, execute};
use super::straight::Straight;
use super::warp::{State, Warp};
use warpbound_core::base::{BlockId, LaneMask, Pc, ProgressMonitor, WARP_SIZE, WarpMask};
use warpbound_core::path::{BarrierUse, BlockPaths, Step};
use warpbound_core::program::Sem;
use warpbound_core::program::sem::BarrierKind;

/// The number of instructions after which another warp gets its turn, so that warps can wait for
/// each other through memory.
const QUANTUM: u64 = 1 << 14;

/// The number of times in a row that a suspension at an mbarrier object is ended before the block
/// counts as deadlocked. Between these times, no other warp can run and no thread arrives at an
/// object.
const ENDED_SUSPENSIONS: u32 = 4096;

/// The suspensions that were ended without effect.
#[derive(Default)]
struct EndedSuspensions {
    times: u32,
    /// The warp whose suspension is ended next, if it is suspended; warps are counted over all blocks
    /// of the cluster.
    next: usize,
    /// The value of [`Context::objects_changed`] when the last suspension was ended.
    changed: u64,
}

/// The state needed to run blocks one after the other.
pub(super) struct Runner<'a> {
    /// The data that the warps share.
    pub(super) context: Context<'a>,
    /// The stop request of the run, if there is one.
    pub(super) monitor: Option<&'a ProgressMonitor>,
    options: Options,
    code: Arc<Code>,
    processor: Processor,
    warps: Vec<Warp>,
    barriers: Barriers,
    /// The generator of a random order of turns; `None` for the order of ids.
    turns: Option<ChaCha8Rng>,
    /// The number of warp instructions that the running block may still execute.
    fuel: u64,
    /// The other blocks of the cluster, by rank; the entry of the running block is meaningless.
    parked: Vec<Parked>,
    /// The paths of the blocks of the last cluster of several blocks that have not been yielded.
    done: Vec<BlockPaths>,
}

/// The state of a block of the cluster that is not the running one.
#[derive(Clone, Default)]
struct Parked {
    warps: Vec<Warp>,
    barriers: Barriers,
    fuel: u64,
    at: [u32; 3],
}

impl<'a> Runner<'a> {
    /// Creates the state for the warps of a block.
    pub(super) fn new(context: Context<'a>, options: Options) -> Self {
        let mut map = RegisterMap::new(context.program);
        let code = Arc::new(Code::new(context.program, &mut map, options.vectors));
        map.bind(context.memory.words());
        let map = Arc::new(map);
        let warp = |id| Warp::new(id, &map, &context.shape, options.reconvergence);
        let warps: Vec<Warp> = (0..context.shape.warps).map(warp).collect();
        let other = Parked { warps: warps.clone(), ..Parked::default() };
        let mut parked = vec![other; context.shape.ranks() - 1];
        parked.insert(0, Parked::default());
        Self {
            context,
            monitor: None,
            options,
            code,
            processor: Processor::new(options.vectors),
            warps,
            barriers: Barriers::default(),
            turns: options.another_order.map(ChaCha8Rng::seed_from_u64),
            fuel: 0,
            parked,
            done: Vec::new(),
        }
    }

    /// Yields the next block, the `number`-th one; the paths are reset for it. Returns false if the run
    /// was stopped before the block ended.
    ///
    /// # Errors
    /// Returns the first error of the kernel.
    pub(super) fn next(&mut self, number: u32, paths: &mut BlockPaths) -> Result<bool, Fault> {
        let ranks = self.parked.len();
        if ranks == 1 {
            return self.run(number, std::slice::from_mut(paths));
        }
        let rank = number as usize % ranks;
        if rank == 0 {
            let mut done = std::mem::take(&mut self.done);
            done.resize_with(ranks, BlockPaths::default);
            let goes_on = self.run(number / ranks as u32, &mut done);
            self.done = done;
            if !goes_on? {
                return Ok(false);
            }
        }
        std::mem::swap(paths, &mut self.done[rank]);
        Ok(true)
    }

    /// Runs the blocks of a cluster, given by its number; without clusters each block is one. Returns
    /// false if the run was stopped before all of them ended.
    fn run(&mut self, cluster: u32, paths: &mut [BlockPaths]) -> Result<bool, Fault> {
        let ranks = paths.len();
        self.context.cluster = ClusterBarrier::new(
            self.warps.iter().map(|warp| warp.lanes().count()).sum::<u32>() * ranks as u32,
        );
        for (rank, paths) in paths.iter_mut().enumerate() {
            self.enter(rank);
            self.context.shape.at = self.context.shape.place(cluster, rank);
            paths.reset(BlockId::new(self.context.shape.linear_block() as u32), self.warps.len());
            self.start_block();
        }
        let mut ended = EndedSuspensions::default();
        loop {
            let (mut ran, mut finished) = (false, 0);
            for (rank, paths) in paths.iter_mut().enumerate() {
                self.enter(rank);
                if self.monitor.is_some_and(ProgressMonitor::is_stopped) {
                    return Ok(false);
                }
                ran |= self.round(paths)?;
                finished += usize::from(self.warps.iter().all(|warp| warp.state == State::Finished));
            }
            if finished == ranks {
                return Ok(true);
            }
            if !ran {
                self.end_a_suspension(&mut ended, paths)?;
            }
        }
    }

    /// Prepares the block at the present position.
    fn start_block(&mut self) {
        self.context.memory.start_block();
        self.barriers.start(self.warps.len());
        if let Some(detector) = &mut self.context.detector {
            detector.start_block(self.context.shape.linear_block() as u32);
        }
        self.warps.iter_mut().for_each(|warp| warp.start(&self.context.shape));
        self.fuel = self.options.max_instructions_per_block;
    }

    /// Makes another block of the cluster the running one.
    fn enter(&mut self, rank: usize) {
        let running = self.context.memory.rank();
        if rank == running {
            return;
        }
        for other in [running, rank] {
            let parked = &mut self.parked[other];
            std::mem::swap(&mut self.warps, &mut parked.warps);
            std::mem::swap(&mut self.barriers, &mut parked.barriers);
            std::mem::swap(&mut self.fuel, &mut parked.fuel);
            std::mem::swap(&mut self.context.shape.at, &mut parked.at);
        }
        self.context.memory.enter(rank);
    }

    /// Gives each warp of the block a turn. Returns whether one of them ran, or could run.
    fn round(&mut self, paths: &mut BlockPaths) -> Result<bool, Fault> {
        let mut ran = false;
        for turn in 0..self.warps.len() {
            let id = self.next_in_turn(turn);
            if let State::Suspended(pc) = self.warps[id].state
                && step::can_go_on(&self.warps[id], &mut self.context, pc)
            {
                self.warps[id].state = State::Ready;
            }
            if self.warps[id].state == State::Ready {
                ran = true;
                if self.monitor.is_some_and(ProgressMonitor::is_stopped) {
                    return Ok(true);
                }
                self.run_warp(id, paths)?;
            }
        }
        // in a random order a warp may be ready without having had a turn
        let Self { warps, context, .. } = self;
        let can_run = |warp: &Warp| match warp.state {
            State::Ready => true,
            State::Suspended(pc) => step::can_go_on(warp, context, pc),
            State::Waiting(..) | State::Finished => false,
        };
        Ok(ran || warps.iter().any(can_run))
    }

    /// Ends the suspension of the next warp that waits for an mbarrier object, because nothing can run.
    fn end_a_suspension(&mut self, ended: &mut EndedSuspensions, paths: &[BlockPaths]) -> Result<(), Fault> {
        let program = self.context.program;
        let count = self.warps.len();
        let total = self.parked.len() * count;
        // the warps take turns, so that each of them goes on at some time
        for at in (ended.next..ended.next + total).map(|at| at % total) {
            let (rank, id) = (at / count, at % count);
            self.enter(rank);
            let warp = &mut self.warps[id];
            let State::Suspended(pc) = warp.state else { continue };
            // nothing ends a wait for the cluster
            if !matches!(program.instr(pc).sem, Sem::Mbarrier(_)) {
                continue;
            }
            (warp.state, warp.time_is_up) = (State::Ready, true);
            ended.next = at + 1;
            let changed = self.context.objects_changed;
            ended.times = if ended.changed == changed { ended.times + 1 } else { 1 };
            ended.changed = changed;
            if ended.times <= ENDED_SUSPENSIONS {
                return Ok(());
            }
            let [x, y, z] = self.context.shape.at;
            let message = format!(
                "block ({x}, {y}, {z}) does not end: warp {id} waits for a phase of an mbarrier object, nothing else can \
                 run, and no thread has arrived since it first came here"
            );
            let hint = "does the number of arrivals match the count of the object? do lanes of the waiting warp itself have to arrive first?";
            return Err(fault::at(program, pc, message, hint));
        }
        // a block that waits for itself is the cause, if there is one
        let waits: [fn(&Warp) -> bool; 2] = [
            |warp| matches!(warp.state, State::Waiting(..)),
            |warp| matches!(warp.state, State::Suspended(_)),
        ];
        let mut blocks = waits.iter().flat_map(|waits| (0..paths.len()).map(move |rank| (waits, rank)));
        blocks.find(|&(waits, rank)| {
            self.enter(rank);
            self.warps.iter().any(waits)
        });
        Err(self.deadlock(&paths[self.context.memory.rank()]))
    }

    /// Returns the warp that has the next turn of a round.
    fn next_in_turn(&mut self, turn: usize) -> usize {
        self.turns.as_mut().map_or(turn, |turns| turns.random_range(0..self.warps.len()))
    }

    fn run_warp(&mut self, id: usize, paths: &mut BlockPaths) -> Result<(), Fault> {
        let mut left = self.turns.as_mut().map_or(QUANTUM, |turns| turns.random_range(1..16));
        while left > 0 {
            left = left.saturating_sub(self.advance(id, left, paths)?);
            if self.warps[id].state != State::Ready {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Executes the next instructions of a warp, at least one and at most `most`. Returns their
    /// number, or [`u64::MAX`] if other warps should get their turn now.
    #[inline]
    fn advance(&mut self, id: usize, most: u64, paths: &mut BlockPaths) -> Result<u64, Fault> {
        let mut done = 0;
        let warp = &self.warps[id];
        if let Some((pc, active)) = warp.stack.top()
            && let Some(&end) = self.code.ends_of(active, warp.stack.live()).get(pc.index())
        {
            let end = warp.stack.straight_until(Pc::new(end));
            let count = u64::from(end.get().saturating_sub(pc.get())).min(most).min(self.fuel);
            if count > 0 {
                let end = Pc::new(pc.get() + count as u32);
                self.advance_straight(id, pc, end, active, paths)?;
                done = count;
            }
        }
        if done == most {
            return Ok(done);
        }
        if self.fuel == 0 {
            return Err(self.out_of_fuel(id, paths));
        }
        let warp = &mut self.warps[id];
        if let Some((pc, active)) = warp.stack.top()
            && let Some(op) = self.code.ops.get(pc.index())
        {
            if op.kind == Kind::Branch {
                let taken = step::branch(warp, &mut self.context, op, pc, active);
                paths.thread_instructions += u64::from(taken.count());
                paths.warps[id].push(Step::plain(pc), active);
                if self.context.record.lanes() {
                    paths.warps[id].push_enabled(taken);
                }
                self.fuel -= 1;
                return Ok(done + 1);
            }
            // the next instruction may begin another straight run, of other lanes
            if self.code.ends_of(active, warp.stack.live())[pc.index()] != pc.get() {
                return Ok(done);
            }
        }
        self.fuel -= 1;
        let goes_on = self.advance_apart(id, paths)?;
        Ok(if goes_on { done + 1 } else { u64::MAX })
    }

    /// Executes instructions that follow each other.
    fn advance_straight(
        &mut self,
        id: usize,
        first: Pc,
        end: Pc,
        active: LaneMask,
        paths: &mut BlockPaths,
    ) -> Result<(), Fault> {
        let warp = &mut self.warps[id];
        // if the lanes of each step are recorded, execute one instruction at a time
        let lanes = self.context.record.lanes();
        let most = if lanes { 1 } else { usize::MAX };
        let mut next = first.index();
        while next < end.index() {
            let stop = next.saturating_add(most).min(end.index());
            if lanes && self.code.taken[stop] > self.code.taken[next] {
                let guard = self.code.ops[next].guard;
                let enabled = guard.map_or(active, |guard| active & warp.guard(guard));
                paths.warps[id].push_enabled(enabled);
            }
            let run = Straight {
                warp,
                context: &mut self.context,
                code: &self.code,
                path: &mut paths.warps[id],
                first: next,
                end: stop,
                active,
            };
            paths.thread_instructions += self.processor.run(run)?;
            next = stop;
        }
        let count = u64::from(end.get() - first.get());
        warp.executed += u64::from(self.code.taken[end.index()] - self.code.taken[first.index()]);
        warp.stack.advance_to(end);
        self.fuel -= count;
        Ok(())
    }

    /// Executes one instruction that cannot be part of a straight run and is no branch. Returns
    /// whether the warp's turn continues.
    fn advance_apart(&mut self, id: usize, paths: &mut BlockPaths) -> Result<bool, Fault> {
        let warp = &mut self.warps[id];
        let live = warp.stack.live();
        let Executed { step, active, enabled, meeting } = execute(warp, &mut self.context, &self.code)?;
        let ended = live - warp.stack.live();
        if !ended.is_empty() {
            self.context.cluster.end(warp.arrived, ended);
        }
        self.fuel = self.fuel.saturating_sub(std::mem::take(&mut self.context.bulk_units));
        if let Meeting::Suspended = meeting {
            // the instruction will be executed again
            self.fuel += 1;
            warp.state = State::Suspended(step.pc());
            return Ok(false);
        }
        if let Meeting::Gathering = meeting {
            // so will this one, when the other lanes of the warp have come
            self.fuel += 1;
            return Ok(true);
        }
        let goes_on = !matches!(meeting, Meeting::TestFailed);
        paths.thread_instructions += u64::from(enabled.count());
        let path = &mut paths.warps[id];
        // a part of another instruction, which has the step of both
        if self.context.program.instr(step.pc()).folded {
            return Ok(goes_on);
        }
        if self.context.record.lanes() {
            path.push_enabled(enabled);
        }
        if warp.stack.top().is_none() {
            path.push(step.ending_warp(), active);
            warp.state = State::Finished;
            self.barriers.finish(id);
            (0..super::barrier::BARRIERS).for_each(|barrier| self.open(barrier));
            return Ok(goes_on);
        }
        match meeting {
            Meeting::None | Meeting::TestFailed | Meeting::Suspended | Meeting::Gathering => {
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
        Ok(goes_on)
    }

    fn arrive(&mut self, id: usize, pc: Pc, arrival: &Arrival) -> Result<(), Fault> {
        if arrival.waits {
            self.warps[id].state = State::Waiting(pc, arrival.threads);
        }
        if let Some(detector) = &mut self.context.detector {
            detector.arrive(id, arrival.id);
            if arrival.split {
                detector.split_barrier(pc);
            }
        }
        if let Err(expected) = self.barriers.arrive(id, arrival) {
            let count = |warps| match warps {
                0 => "all warps".to_owned(),
                n => format!("{} threads", n * WARP_SIZE),
            };
            let message = format!(
                "warp {id} arrives at barrier {} for {}, but the warps that arrived before expect {}",
                arrival.id,
                count(arrival.warps),
                count(expected)
            );
            return Err(fault::at(self.context.program, pc, message, "all must give the same thread count"));
        }
        self.open(arrival.id);
        Ok(())
    }

    /// Releases the warps at a barrier if it is complete.
    fn open(&mut self, id: usize) {
        let Some(Opened { waiting, tally, arrived, for_all }) = self.barriers.release(id) else { return };
        if let Some(detector) = &mut self.context.detector {
            // a warp that ended without arriving counts as if it had arrived
            let ended = if for_all { self.barriers.finished() } else { WarpMask::empty() };
            detector.release(id, waiting, ended - arrived);
        }
        for slot in waiting.slots() {
            let warp = &mut self.warps[slot];
            let State::Waiting(pc, threads) = warp.state else { continue };
            warp.state = State::Ready;
            let Sem::Barrier(barrier) = &self.context.program.instr(pc).sem else { continue };
            let verdict = |holds| if holds { LaneMask::ALL } else { LaneMask::empty() };
            match barrier.kind {
                BarrierKind::Sync | BarrierKind::Arrive => {}
                BarrierKind::And(dst, _) => {
                    warp.set_pred(dst, verdict(tally.holds == tally.threads), threads)
                }
                BarrierKind::Or(dst, _) => warp.set_pred(dst, verdict(tally.holds > 0), threads),
                BarrierKind::Popc(dst, _) => {
                    warp.set(dst, &[u64::from(tally.holds); WARP_SIZE], threads);
                }
            }
        }
    }

    fn out_of_fuel(&self, id: usize, paths: &BlockPaths) -> Fault {
        let program = self.context.program;
        let steps = paths.warps[id].steps();
        let stack = &self.warps[id].stack;
        let divergent = stack.top().is_some_and(|(_, lanes)| lanes != stack.live());
        let (place, hint) = match hot_loop(program, steps) {
            Some(place) => (
                format!(" and does not end: warp {id} is in the loop from {place}"),
                if divergent && program.machine_code.is_none() {
                    "if its lanes wait for other lanes of the warp, run the machine code of this PTX, in which they take turns; if the loop does end, raise the limit with --max-instructions"
                } else {
                    "if the loop does end, raise the limit with --max-instructions"
                },
            ),
            None => (
                format!(", which is the limit, and has not ended; warp {id} is running"),
                "raise the limit with --max-instructions",
            ),
        };
        let [x, y, z] = self.context.shape.at;
        let message = format!(
            "block ({x}, {y}, {z}) has executed {} warp instructions{place}",
            self.options.max_instructions_per_block
        );
        let pc = steps.last().map_or(Pc::new(0), |step| step.pc());
        fault::at(program, pc, message, hint)
    }

    fn deadlock(&self, paths: &BlockPaths) -> Fault {
        let program = self.context.program;
        // the warps at the same barrier and instruction, ordered by the first warp of each group
        let mut groups: Vec<(Pc, Option<usize>, Vec<usize>)> = Vec::new();
        for warp in &self.warps {
            let (pc, id) = match warp.state {
                State::Waiting(pc, _) => {
                    let last = paths.warps[warp.id].steps().last();
                    (pc, Some(last.map_or(0, |step| usize::from(step.barrier().id))))
                }
                State::Suspended(pc) => (pc, None),
                State::Ready | State::Finished => continue,
            };
            match groups.iter_mut().find(|(at, barrier, _)| (*at, *barrier) == (pc, id)) {
                Some((_, _, warps)) => warps.push(warp.id),
                None => groups.push((pc, id, vec![warp.id])),
            }
        }
        let lines: Vec<String> = groups
            .iter()
            .map(|(pc, id, warps)| {
                let warps: Vec<String> = warps.iter().map(usize::to_string).collect();
                let (warps, place) = (warps.join(", "), program.place(*pc));
                match id {
                    Some(id) => {
                        let progress = self.barriers.progress(*id);
                        format!("warps {warps} wait at barrier {id} at {place} ({progress})")
                    }
                    None => {
                        let progress = self.context.cluster.progress();
                        format!("warps {warps} wait for the cluster at {place} ({progress})")
                    }
                }
            })
            .collect();
        let [x, y, z] = self.context.shape.at;
        let message = format!("barrier deadlock in block ({x}, {y}, {z}): {}", lines.join("; "));
        let pc = groups.first().map_or(Pc::new(0), |(pc, ..)| *pc);
        let hint = if groups
            .iter()
            .any(|(_, id, _)| id.is_some_and(|id| self.barriers.needs_the_finished(id)))
        {
            "a barrier with a thread count needs as many threads to arrive, and threads that have ended do not: leave \
             out the count, or let all threads that it counts come to the barrier"
        } else {
            "every warp that a barrier counts has to come to it or end"
        };
        fault::at(program, pc, message, hint)
    }
}
