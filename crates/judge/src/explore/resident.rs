//! The worst case of a launch whose blocks are resident together, over all work-conserving
//! schedules.
//!
//! The search goes layer by layer over distinct states with all times relative to now, as for a
//! block ([`mod@super::search`]); a layer consists of all states after the same number of issues. A
//! state also records which block is in which CTA slot. The makespan is the largest `done` of any
//! issue, so it is sufficient to know for each state the latest cycle at which some schedule
//! reaches it. The search covers one SM with any number of sub-cores, which decide one after the
//! other within a cycle.

use std::collections::HashMap;
use std::fmt::Write;

use super::model::{Code, Unsupported};
use super::worst_makespan::WorstMakespan;
use warpbound_core::machine::SubCores;
use warpbound_core::path::BlockPaths;
use warpbound_core::program::TimingTable;

/// A launch to explore.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The code of every warp, on each sub-core that it may be on.
    codes: Vec<Code>,
    /// The index of the code, by block, warp and sub-core.
    code_of: Vec<Vec<[usize; SubCores::MAX]>>,
    places: usize,
    /// The number of warp slots of a CTA slot.
    warps: usize,
    sub_cores: usize,
    /// The number of instances of units.
    units: usize,
    /// The largest number of registers of a warp.
    registers: usize,
}

/// The issue of a warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The number of the block in the launch.
    pub block: usize,
    /// The index of the warp in the block.
    pub warp: usize,
    /// The cycle, counted from the start of the block.
    pub cycle: u64,
}

/// A state, as words. First come [`HEAD`] words, then for each unit the cycles until it is free,
/// then the CTA slots. A CTA slot has [`PLACE`] words and its warp slots; a warp slot has [`SLOT`]
/// words and for each register the cycles until it is available.
type State = [u16];

/// The words at the start of a state: the number of blocks placed, and the deciding sub-core.
const HEAD: usize = 2;
/// The words of a CTA slot: the block number plus one, or 0; and the cycles until everything that
/// the block has issued is done.
const PLACE: usize = 2;
/// The words of a warp slot: the next instruction, together with whether the warp waits at a
/// barrier; and the cycles until it is ready or, at a barrier, until that barrier is done.
const SLOT: usize = 2;

/// A warp that can issue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Choice {
    place: u8,
    warp: u8,
}

/// The states after the same number of issues.
#[derive(Debug, Default)]
struct Layer {
    states: Vec<Box<State>>,
    /// The latest cycle at which a schedule reaches the state, and the number of schedules that do.
    reached: Vec<(u64, f64)>,
    /// The state of the previous layer and the issue that led to this state at the latest cycle.
    from: Vec<(u32, Choice)>,
}

impl Launch {
    /// Creates a launch of these blocks, of which `places` are resident at a time. No block may
    /// have more warps than the first.
    ///
    /// # Errors
    /// Returns an error for launches that exploration does not support.
    pub fn new(table: &TimingTable, blocks: &[BlockPaths], places: usize) -> Result<Self, Unsupported> {
        let warps = blocks.first().map_or(0, |block| block.warps.len());
        let paths = || blocks.iter().flat_map(|block| &block.warps);
        if blocks.iter().any(|block| block.partial_barriers) {
            return Err(Unsupported::PartialBarriers);
        }
        let too_large = warps > 32
            || blocks.len() > 30_000
            || blocks.iter().any(|block| block.warps.len() > warps)
            || paths().any(|path| path.steps().len() > 30_000);
        if too_large {
            return Err(Unsupported::TooLarge);
        }
        let sub_cores = table.sub_cores().count();
        let mut codes: Vec<Code> = Vec::new();
        let mut longest = 0;
        let mut code_of = Vec::with_capacity(blocks.len());
        for block in blocks {
            let mut of_block = Vec::with_capacity(warps);
            for path in &block.warps {
                let mut of_warp = [0; SubCores::MAX];
                for (sub_core, code_of) in of_warp.iter_mut().enumerate().take(sub_cores) {
                    let code = Code::new(table, path, sub_core, &mut longest)?;
                    let known = codes.iter().position(|other| *other == code);
                    *code_of = known.unwrap_or(codes.len());
                    if known.is_none() {
                        codes.push(code);
                    }
                }
                of_block.push(of_warp);
            }
            code_of.push(of_block);
        }
        let initiations: u64 =
            code_of.iter().flatten().flat_map(|of| &codes[of[0]].ops).map(|op| u64::from(op.init)).sum();
        if initiations + longest > u64::from(u16::MAX) {
            return Err(Unsupported::TimesTooLong);
        }
        let registers = codes.iter().map(|code| code.registers).max().unwrap_or(0);
        let units = table.units() * sub_cores;
        Ok(Self { codes, code_of, places: places.max(1), warps, sub_cores, units, registers })
    }

    /// Returns the number of instructions that every schedule issues.
    pub fn issues(&self) -> usize {
        self.code_of.iter().flatten().map(|of| self.codes[of[0]].ops.len()).sum()
    }

    /// Returns the worst case, following at most `beam` states of a layer.
    pub fn worst(&self, beam: usize) -> WorstMakespan {
        self.search(beam, None)
    }

    /// Returns the worst case and a schedule that attains it, in the order of issue.
    pub fn witness(&self, beam: usize) -> (WorstMakespan, Vec<Decision>) {
        let mut history = Vec::new();
        let worst = self.search(beam, Some(&mut history));
        let mut best: Option<(u64, usize, usize, Choice)> = None;
        for (depth, layer) in history.iter().enumerate() {
            for (index, state) in layer.states.iter().enumerate() {
                for choice in self.choices(state) {
                    let done = self.issue(&mut state.clone(), choice);
                    let at = layer.reached[index].0 + u64::from(done);
                    if best.is_none_or(|(most, ..)| at > most) {
                        best = Some((at, depth, index, choice));
                    }
                }
            }
        }
        let Some((_, depth, mut index, choice)) = best else { return (worst, Vec::new()) };
        let mut choices = vec![choice];
        for layer in (1..=depth).rev() {
            let (from, choice) = history[layer].from[index];
            choices.push(choice);
            index = from as usize;
        }
        choices.reverse();
        (worst, self.decisions(choices))
    }

    /// Returns the decisions of a schedule that begins with these choices. The later choices are
    /// arbitrary: the makespan is already determined, and no schedule has a longer one.
    fn decisions(&self, choices: Vec<Choice>) -> Vec<Decision> {
        let mut state = self.start();
        let mut starts = vec![0; self.code_of.len()];
        let mut now = 0;
        let mut decisions = Vec::with_capacity(self.issues());
        let mut choices = choices.into_iter();
        loop {
            let placed = state[0];
            now += self.next_decision(&mut state);
            // blocks are placed in the cycle that the state reaches, which is before the next issue
            for start in &mut starts[usize::from(placed)..usize::from(state[0])] {
                *start = now;
            }
            let Some(choice) = choices.next().or_else(|| self.choices(&state).first().copied()) else {
                return decisions;
            };
            let block = usize::from(state[self.place(choice.place.into())]) - 1;
            let warp = usize::from(choice.warp);
            decisions.push(Decision { block, warp, cycle: now - starts[block] });
            self.issue(&mut state, choice);
        }
    }

    fn search(&self, beam: usize, mut history: Option<&mut Vec<Layer>>) -> WorstMakespan {
        let mut start = self.start();
        let first = self.next_decision(&mut start);
        let mut now =
            Layer { states: vec![start], reached: vec![(first, 1.0)], from: vec![Default::default()] };
        let mut worst = WorstMakespan { makespan: 0, exact: true, states: 1, schedules: 0.0 };
        for _ in 0..self.issues() {
            let mut next = self.advance(&now, &mut worst);
            if next.states.len() > beam {
                keep_latest(&mut next, beam);
                worst.exact = false;
            }
            worst.states += next.states.len() as u64;
            let before = std::mem::replace(&mut now, next);
            if let Some(history) = history.as_deref_mut() {
                history.push(before);
            }
        }
        worst.schedules = now.reached.iter().map(|(_, count)| count).sum();
        worst
    }

    /// Returns all states of the next layer.
    fn advance(&self, now: &Layer, worst: &mut WorstMakespan) -> Layer {
        let mut next = Layer::default();
        let mut known: HashMap<Box<State>, u32> = HashMap::new();
        for (index, (state, &(cycle, count))) in now.states.iter().zip(&now.reached).enumerate() {
            for choice in self.choices(state) {
                let mut after = state.clone();
                let done = self.issue(&mut after, choice);
                worst.makespan = worst.makespan.max(cycle + u64::from(done));
                let at = cycle + self.next_decision(&mut after);
                let from = (index as u32, choice);
                match known.get(&after) {
                    Some(&place) => {
                        let place = place as usize;
                        next.reached[place].1 += count;
                        if at > next.reached[place].0 {
                            next.reached[place].0 = at;
                            next.from[place] = from;
                        }
                    }
                    None => {
                        known.insert(after.clone(), next.states.len() as u32);
                        next.states.push(after);
                        next.reached.push((at, count));
                        next.from.push(from);
                    }
                }
            }
        }
        next
    }

    fn words(&self) -> usize {
        self.place(self.places)
    }

    /// Returns the index of the first word of a CTA slot.
    fn place(&self, place: usize) -> usize {
        HEAD + self.units + place * (PLACE + self.warps * (SLOT + self.registers))
    }

    /// Returns the index of the first word of a warp slot.
    fn slot(&self, place: usize, warp: usize) -> usize {
        self.place(place) + PLACE + warp * (SLOT + self.registers)
    }

    fn start(&self) -> Box<State> {
        let mut state = vec![0; self.words()].into_boxed_slice();
        self.place_blocks(&mut state);
        state
    }

    fn sub_core(&self, place: usize, warp: usize) -> usize {
        (place * self.warps + warp) % self.sub_cores
    }

    /// Returns the code of the warp in a warp slot, if there is one.
    fn code(&self, state: &State, place: usize, warp: usize) -> Option<&Code> {
        let block = usize::from(state[self.place(place)]).checked_sub(1)?;
        let of_warp = self.code_of[block].get(warp)?;
        Some(&self.codes[of_warp[self.sub_core(place, warp)]])
    }

    /// Fills every free CTA slot and removes blocks that have ended, until nothing changes.
    fn place_blocks(&self, state: &mut State) {
        loop {
            for place in 0..self.places {
                let at = self.place(place);
                if state[at] == 0 && usize::from(state[0]) < self.code_of.len() {
                    state[0] += 1;
                    state[at] = state[0];
                    state[at + 1..self.place(place + 1)].fill(0);
                }
            }
            let mut ended = false;
            for place in 0..self.places {
                let at = self.place(place);
                if state[at] > 0 && state[at + 1] == 0 && self.is_issued(state, place) {
                    state[at..self.place(place + 1)].fill(0);
                    ended = true;
                }
            }
            if !ended || usize::from(state[0]) == self.code_of.len() {
                return;
            }
        }
    }

    fn warps_of<'s>(&'s self, state: &'s State, place: usize) -> impl Iterator<Item = (usize, &'s Code)> {
        (0..self.warps).filter_map(move |warp| Some((warp, self.code(state, place, warp)?)))
    }

    /// Returns whether every warp of the block in a CTA slot has issued all its instructions.
    fn is_issued(&self, state: &State, place: usize) -> bool {
        self.warps_of(state, place).all(|(warp, code)| self.is_finished(state, place, warp, code))
    }

    fn is_finished(&self, state: &State, place: usize, warp: usize, code: &Code) -> bool {
        let head = state[self.slot(place, warp)];
        head & 1 == 0 && usize::from(head >> 1) >= code.ops.len()
    }

    /// Returns the number of cycles until the next instruction of a warp can issue, or `None` if it
    /// has none or waits at a barrier.
    fn ready_in(&self, state: &State, place: usize, warp: usize, code: &Code) -> Option<u16> {
        let slot = self.slot(place, warp);
        let waits = state[slot] & 1 == 1 || usize::from(state[slot] >> 1) >= code.ops.len();
        (!waits).then_some(state[slot + 1])
    }

    /// Returns the warps that can issue now on the deciding sub-core; among warps of a block in the
    /// same state, only the first.
    fn choices(&self, state: &State) -> Vec<Choice> {
        let turn = usize::from(state[1]);
        let mut choices: Vec<Choice> = Vec::new();
        for place in 0..self.places {
            for (warp, code) in self.warps_of(state, place) {
                let mine = self.sub_core(place, warp) == turn;
                if !mine || self.ready_in(state, place, warp, code) != Some(0) {
                    continue;
                }
                let slot = |warp: usize| &state[self.slot(place, warp)..][..SLOT + self.registers];
                let same = |known: &Choice| {
                    let other = usize::from(known.warp);
                    usize::from(known.place) == place
                        && self.code(state, place, other).is_some_and(|of_other| std::ptr::eq(of_other, code))
                        && slot(other) == slot(warp)
                };
                if !choices.iter().any(same) {
                    choices.push(Choice { place: place as u8, warp: warp as u8 });
                }
            }
        }
        choices
    }

    /// Issues the chosen instruction. Returns the number of cycles to its result.
    fn issue(&self, state: &mut State, choice: Choice) -> u16 {
        let (place, warp) = (usize::from(choice.place), usize::from(choice.warp));
        let Some(code) = self.code(state, place, warp) else { return 0 };
        let slot = self.slot(place, warp);
        let next = usize::from(state[slot] >> 1);
        let op = &code.ops[next];
        let free = &mut state[HEAD + usize::from(op.unit)];
        *free += op.init;
        let (initiated, done) = (*free, *free + op.lat);
        op.note(&mut state[slot + SLOT..][..code.registers], initiated, done);
        let block_done = &mut state[self.place(place) + 1];
        *block_done = (*block_done).max(done);
        state[slot] = ((next + 1) as u16) << 1 | u16::from(op.barrier);
        state[slot + 1] = if op.barrier { done } else { self.ready_at(state, slot, code, 1) };
        self.release(state, place);
        // this sub-core has issued in this cycle
        state[1] += 1;
        done
    }

    /// Returns when the next instruction of a warp can issue, but no earlier than `base`.
    fn ready_at(&self, state: &State, slot: usize, code: &Code, base: u16) -> u16 {
        let waits = code.ops.get(usize::from(state[slot] >> 1)).map_or(&[][..], |op| &op.waits);
        waits.iter().map(|&reg| state[slot + SLOT + usize::from(reg)]).fold(base, u16::max)
    }

    /// Releases the warps of a block at the barrier if every unfinished warp has arrived. This is
    /// checked directly after an issue, so that the next cycle is the earliest possible one for the
    /// release.
    fn release(&self, state: &mut State, place: usize) {
        let waiting: Vec<usize> = self
            .warps_of(state, place)
            .filter(|&(warp, _)| state[self.slot(place, warp)] & 1 == 1)
            .map(|(warp, _)| warp)
            .collect();
        let all_there = self.warps_of(state, place).all(|(warp, code)| {
            state[self.slot(place, warp)] & 1 == 1 || self.is_finished(state, place, warp, code)
        });
        if !all_there {
            return;
        }
        let at = waiting.iter().map(|&warp| state[self.slot(place, warp) + 1]).fold(1, u16::max);
        for warp in waiting {
            let slot = self.slot(place, warp);
            state[slot] &= !1;
            let Some(code) = self.code(state, place, warp) else { continue };
            state[slot + 1] = self.ready_at(state, slot, code, at);
        }
    }

    /// Advances to the next state in which a warp can issue, or to the end. Returns the number of
    /// elapsed cycles.
    fn next_decision(&self, state: &mut State) -> u64 {
        let mut elapsed = 0;
        loop {
            while usize::from(state[1]) < self.sub_cores {
                if !self.choices(state).is_empty() {
                    self.forget(state);
                    return elapsed;
                }
                state[1] += 1;
            }
            let mut wait: Option<u16> = None;
            for place in (0..self.places).filter(|&place| state[self.place(place)] > 0) {
                let ready = self.warps_of(state, place);
                let ready = ready.filter_map(|(warp, code)| self.ready_in(state, place, warp, code)).min();
                let ends = self.is_issued(state, place).then_some(state[self.place(place) + 1]);
                wait = [wait, ready, ends].into_iter().flatten().min();
            }
            state[1] = 0;
            let Some(wait) = wait else { return elapsed };
            let wait = wait.max(1);
            elapsed += u64::from(wait);
            self.pass(state, wait);
            self.place_blocks(state);
        }
    }

    /// Advances time by this number of cycles.
    fn pass(&self, state: &mut State, cycles: u16) {
        let less = |words: &mut State| words.iter_mut().for_each(|word| *word = word.saturating_sub(cycles));
        less(&mut state[HEAD..HEAD + self.units]);
        for place in 0..self.places {
            let at = self.place(place);
            less(&mut state[at + 1..at + PLACE]);
            for warp in 0..self.warps {
                let slot = self.slot(place, warp);
                less(&mut state[slot + 1..slot + SLOT + self.registers]);
            }
        }
    }

    /// Clears everything that can no longer matter.
    fn forget(&self, state: &mut State) {
        for place in 0..self.places {
            for warp in 0..self.warps {
                let Some(code) = self.code(state, place, warp) else { continue };
                let slot = self.slot(place, warp);
                let (next, waits) = (usize::from(state[slot] >> 1), state[slot] & 1 == 1);
                let kept = if waits { &code.all[next] } else { &code.beyond[next] };
                for reg in 0..self.registers {
                    if !kept.contains(&(reg as u16)) {
                        state[slot + SLOT + reg] = 0;
                    }
                }
                if !waits && next >= code.ops.len() {
                    state[slot + 1] = 0;
                }
            }
        }
    }
}

/// Keeps the `beam` states that are reached latest.
fn keep_latest(layer: &mut Layer, beam: usize) {
    let mut order: Vec<usize> = (0..layer.states.len()).collect();
    order.sort_by_key(|&index| (std::cmp::Reverse(layer.reached[index].0), index));
    order.truncate(beam);
    order.sort_unstable();
    layer.states = order.iter().map(|&index| std::mem::take(&mut layer.states[index])).collect();
    layer.reached = order.iter().map(|&index| layer.reached[index]).collect();
    layer.from = order.iter().map(|&index| layer.from[index]).collect();
}

/// Returns the decisions as a replay file.
pub fn replay_text(decisions: &[Decision]) -> String {
    let mut sorted = decisions.to_vec();
    // the decisions of a sub-core in one cycle stay in the order of issue
    sorted.sort_by_key(|decision| (decision.block, decision.cycle));
    let mut text = "# cycle warp\n".to_owned();
    for of_block in sorted.chunk_by(|a, b| a.block == b.block) {
        let _ = writeln!(text, "block {}", of_block[0].block);
        for Decision { warp, cycle, .. } in of_block {
            let _ = writeln!(text, "{cycle} {warp}");
        }
    }
    text
}
