//! A fast search for the worst case of a tiny block, of which a hunt needs millions.
//!
//! Like [`mod@crate::explore::search`], it goes layer by layer over distinct relative states, with
//! two simplifications. First, only the worst case is needed, which is the largest `done` of any
//! issue in any schedule. It is therefore sufficient to know for each state the latest cycle at
//! which some schedule reaches it, and one pass forwards finds it. Second, nothing is allocated
//! once the buffers have grown. A test compares the two searches.
//!
//! If a layer has more states than the limit, only those reached latest are followed: a beam of
//! adversarial schedules, whose worst makespan is attained but need not be the largest.

use super::instance::{Instance, Kind};
use crate::explore::worst_makespan::WorstMakespan;

/// An instruction in the form that the search reads.
#[derive(Clone, Copy, Debug)]
struct Op {
    unit: u16,
    init: u16,
    lat: u16,
    barrier: bool,
    /// The position of its result in the warp's part of a state, or [`NO_SLOT`] if no instruction
    /// reads it.
    slot: u16,
    /// The positions of the results that it reads.
    reads: [u16; 2],
    /// Whether no later instruction reads that result.
    ends: [bool; 2],
    /// The index of the last instruction that reads its result.
    last_read: u16,
}

const NO_SLOT: u16 = u16::MAX;
/// The words of a warp before its result slots: the next instruction with a waiting bit, and the
/// cycles until it is ready.
const HEAD: usize = 2;

/// The position of a code in the flat lists.
#[derive(Clone, Copy, Debug)]
struct Span {
    /// The index of its first instruction in `ops`.
    ops: usize,
    len: usize,
    /// The index of the first word of its warp in a state.
    words: usize,
}

/// The states after the same number of issues.
#[derive(Debug, Default)]
struct Layer {
    states: Vec<u16>,
    /// The latest cycle at which a schedule reaches the state, and the number of schedules that do.
    reached: Vec<(u64, f64)>,
    /// The state of the previous layer, and the warp whose issue led to this state at the latest
    /// cycle.
    from: Vec<(u32, u8)>,
}

impl Layer {
    fn clear(&mut self) {
        self.states.clear();
        self.reached.clear();
        self.from.clear();
    }
}

/// Finds worst cases; reuses its memory from instance to instance.
#[derive(Debug, Default)]
pub struct Evaluator {
    ops: Vec<Op>,
    warps: Vec<Span>,
    /// The index after the last instruction of the warp that uses the unit, by warp and unit.
    last_use: Vec<usize>,
    units: usize,
    /// The number of words of a state: the warps, then for each unit the cycles until it is free.
    words: usize,
    now: Layer,
    next: Layer,
    /// A hash table with open addressing: the stamp and the index of a state of `next`.
    slots: Vec<(u32, u32)>,
    stamp: u32,
    scratch: Vec<u16>,
    order: Vec<u32>,
}

impl Evaluator {
    /// Returns the worst case over all work-conserving schedules, following at most `beam` states
    /// of a layer.
    pub fn worst(&mut self, instance: &Instance, beam: usize) -> WorstMakespan {
        self.run(instance, beam, None)
    }

    /// Returns the worst case and a schedule that attains it, as the warp at each issue.
    pub fn witness(&mut self, instance: &Instance, beam: usize) -> (WorstMakespan, Vec<usize>) {
        let mut history = Vec::new();
        let worst = self.run(instance, beam, Some(&mut history));
        let mut best: Option<(usize, usize, usize, u64)> = None;
        // a second pass over all edges, to find the first one that attains the worst case
        for (depth, layer) in history.iter().enumerate() {
            for state in 0..layer.reached.len() {
                for warp in 0..self.warps.len() {
                    self.scratch.clear();
                    self.scratch.extend_from_slice(self.state_of(layer, state));
                    if !self.is_ready(&self.scratch, warp) {
                        continue;
                    }
                    let mut after = std::mem::take(&mut self.scratch);
                    let (_, done) = self.issue(&mut after, warp);
                    self.scratch = after;
                    let at = layer.reached[state].0 + u64::from(done);
                    if best.is_none_or(|(.., most)| at > most) {
                        best = Some((depth, state, warp, at));
                    }
                }
            }
        }
        let Some((depth, mut state, warp, _)) = best else { return (worst, Vec::new()) };
        let mut chosen = vec![warp];
        let mut after = self.state_of(&history[depth], state).to_vec();
        for layer in (1..=depth).rev() {
            let (from, warp) = history[layer].from[state];
            chosen.push(usize::from(warp));
            state = from as usize;
        }
        chosen.reverse();
        // the later choices are arbitrary: the makespan is already determined, and no schedule has
        // a longer one
        self.issue(&mut after, warp);
        while let Some(warp) = (0..self.warps.len()).find(|&warp| self.is_ready(&after, warp)) {
            chosen.push(warp);
            self.issue(&mut after, warp);
        }
        (worst, chosen)
    }

    fn run(
        &mut self,
        instance: &Instance,
        beam: usize,
        mut history: Option<&mut Vec<Layer>>,
    ) -> WorstMakespan {
        self.load(instance);
        let mut worst = WorstMakespan { makespan: 0, exact: true, states: 1, schedules: 0.0 };
        self.now.clear();
        self.now.states.resize(self.words, 0);
        self.now.reached.push((0, 1.0));
        self.now.from.push((0, 0));
        for _ in 0..self.ops_of_all() {
            self.advance(&mut worst);
            if self.next.reached.len() > beam {
                self.keep_latest(beam);
                worst.exact = false;
            }
            worst.states += self.next.reached.len() as u64;
            std::mem::swap(&mut self.now, &mut self.next);
            if let Some(history) = history.as_deref_mut() {
                history.push(std::mem::take(&mut self.next));
            }
        }
        worst.schedules = self.now.reached.iter().map(|(_, count)| count).sum();
        worst
    }

    fn ops_of_all(&self) -> usize {
        self.warps.iter().map(|warp| warp.len).sum()
    }

    fn load(&mut self, instance: &Instance) {
        self.ops.clear();
        self.warps.clear();
        self.last_use.clear();
        self.units = instance.units.len() + 1;
        let mut words = 0;
        for code in &instance.codes {
            let first = self.ops.len();
            let mut results = 0;
            for (index, ins) in code.iter().enumerate() {
                let last_read = code
                    .iter()
                    .rposition(|later| later.reads.contains(&Some(index as u16)))
                    .filter(|_| matches!(ins.kind, Kind::On(_)));
                let (unit, time) = instance.timing(ins.kind);
                let slot = last_read.map_or(NO_SLOT, |_| results);
                results += u16::from(last_read.is_some());
                let ops = &self.ops;
                let reads =
                    ins.reads.map(|read| read.map_or(NO_SLOT, |read| ops[first + usize::from(read)].slot));
                let op = Op {
                    unit: unit as u16,
                    init: time.init,
                    lat: time.lat,
                    barrier: ins.kind == Kind::Barrier,
                    slot,
                    reads,
                    ends: ins.reads.map(|read| {
                        read.is_some_and(|r| usize::from(ops[first + usize::from(r)].last_read) == index)
                    }),
                    last_read: last_read.unwrap_or(0) as u16,
                };
                self.ops.push(op);
            }
            for _ in 0..instance.copies {
                self.warps.push(Span { ops: first, len: code.len(), words });
                words += HEAD + usize::from(results);
                for unit in 0..self.units {
                    let after = self.ops[first..].iter().rposition(|op| usize::from(op.unit) == unit);
                    self.last_use.push(after.map_or(0, |index| index + 1));
                }
            }
        }
        self.words = words + self.units;
    }

    fn state_of<'l>(&self, layer: &'l Layer, state: usize) -> &'l [u16] {
        &layer.states[state * self.words..][..self.words]
    }

    fn next_of(state: &[u16], warp: Span) -> (usize, bool) {
        let head = state[warp.words];
        (usize::from(head >> 1), head & 1 == 1)
    }

    fn is_ready(&self, state: &[u16], warp: usize) -> bool {
        let span = self.warps[warp];
        let (next, waiting) = Self::next_of(state, span);
        !waiting && next < span.len && state[span.words + 1] == 0
    }

    /// Computes all states of the next layer from all of this one.
    fn advance(&mut self, worst: &mut WorstMakespan) {
        self.next.clear();
        self.stamp = self.stamp.wrapping_add(1);
        if self.stamp == 0 {
            self.slots.fill((0, 0));
            self.stamp = 1;
        }
        let now = std::mem::take(&mut self.now);
        let mut after = std::mem::take(&mut self.scratch);
        for state in 0..now.reached.len() {
            let before = self.state_of(&now, state);
            let (cycle, count) = now.reached[state];
            for warp in 0..self.warps.len() {
                if !self.is_ready(before, warp) {
                    continue;
                }
                after.clear();
                after.extend_from_slice(before);
                let (elapsed, done) = self.issue(&mut after, warp);
                worst.makespan = worst.makespan.max(cycle + u64::from(done));
                self.enter(&after, cycle + u64::from(elapsed), count, (state as u32, warp as u8));
            }
        }
        self.scratch = after;
        self.now = now;
    }

    /// Issues the warp's next instruction and advances to the next decision. Returns the cycles to
    /// that decision, and to the result.
    fn issue(&self, state: &mut [u16], warp: usize) -> (u16, u16) {
        let span = self.warps[warp];
        let (index, _) = Self::next_of(state, span);
        let op = self.ops[span.ops + index];
        let free = &mut state[self.words - self.units + usize::from(op.unit)];
        *free += op.init;
        let done = *free + op.lat;
        if op.slot != NO_SLOT {
            state[span.words + HEAD + usize::from(op.slot)] = done;
        }
        let next = index + 1;
        state[span.words] = (next as u16) << 1 | u16::from(op.barrier);
        if op.barrier {
            state[span.words + 1] = done;
        } else {
            self.make_ready(state, span, next, 1);
        }
        self.release(state);
        let mut elapsed = u16::MAX;
        for &span in &self.warps {
            let (next, waiting) = Self::next_of(state, span);
            if !waiting && next < span.len {
                elapsed = elapsed.min(state[span.words + 1]);
            }
        }
        let elapsed = if elapsed == u16::MAX { 1 } else { elapsed.max(1) };
        let mut from = 0;
        for (number, &span) in self.warps.iter().enumerate() {
            let end = self.warps.get(number + 1).map_or(self.words - self.units, |next| next.words);
            debug_assert_eq!(from, span.words);
            for word in &mut state[span.words + 1..end] {
                *word = word.saturating_sub(elapsed);
            }
            from = end;
        }
        for word in &mut state[self.words - self.units..] {
            *word = word.saturating_sub(elapsed);
        }
        self.forget_units(state);
        (elapsed, done)
    }

    /// Sets when the next instruction of a warp is ready, and clears results that no later
    /// instruction reads.
    fn make_ready(&self, state: &mut [u16], span: Span, next: usize, base: u16) {
        let results = span.words + HEAD;
        let mut ready = base;
        if next >= span.len {
            state[span.words + 1] = 0;
            return;
        }
        let op = self.ops[span.ops + next];
        for read in op.reads {
            if read != NO_SLOT {
                ready = ready.max(state[results + usize::from(read)]);
            }
        }
        for (read, ends) in op.reads.into_iter().zip(op.ends) {
            if ends {
                state[results + usize::from(read)] = 0;
            }
        }
        state[span.words + 1] = ready;
    }

    /// Releases the warps at the barrier if every unfinished warp has arrived.
    fn release(&self, state: &mut [u16]) {
        let mut at = 1;
        let mut anyone = false;
        for &span in &self.warps {
            let (next, waiting) = Self::next_of(state, span);
            if waiting {
                anyone = true;
                at = at.max(state[span.words + 1]);
            } else if next < span.len {
                return;
            }
        }
        if !anyone {
            return;
        }
        for &span in &self.warps {
            let (next, waiting) = Self::next_of(state, span);
            if waiting {
                state[span.words] &= !1;
                self.make_ready(state, span, next, at);
            }
        }
    }

    /// Clears the state of units that no instruction uses any more, because it cannot matter.
    fn forget_units(&self, state: &mut [u16]) {
        for unit in 0..self.units {
            let word = self.words - self.units + unit;
            if state[word] == 0 {
                continue;
            }
            let used =
                self.warps.iter().enumerate().any(|(warp, &span)| {
                    Self::next_of(state, span).0 < self.last_use[warp * self.units + unit]
                });
            if !used {
                state[word] = 0;
            }
        }
    }

    /// Enters a state into the next layer, or updates the known state if it is reached later.
    fn enter(&mut self, state: &[u16], cycle: u64, count: f64, from: (u32, u8)) {
        if (self.next.reached.len() + 1) * 2 > self.slots.len() {
            self.grow();
        }
        let mask = self.slots.len() - 1;
        let mut slot = hash(state) as usize & mask;
        loop {
            let (stamp, index) = self.slots[slot];
            if stamp != self.stamp {
                break;
            }
            let index = index as usize;
            if self.next.states[index * self.words..][..self.words] == *state {
                let known = &mut self.next.reached[index];
                known.1 += count;
                if cycle > known.0 {
                    known.0 = cycle;
                    self.next.from[index] = from;
                }
                return;
            }
            slot = (slot + 1) & mask;
        }
        self.slots[slot] = (self.stamp, self.next.reached.len() as u32);
        self.next.states.extend_from_slice(state);
        self.next.reached.push((cycle, count));
        self.next.from.push(from);
    }

    fn grow(&mut self) {
        let size = (self.slots.len() * 2).max(256);
        self.slots.clear();
        self.slots.resize(size, (0, 0));
        for index in 0..self.next.reached.len() {
            let state = &self.next.states[index * self.words..][..self.words];
            let mut slot = hash(state) as usize & (size - 1);
            while self.slots[slot].0 == self.stamp {
                slot = (slot + 1) & (size - 1);
            }
            self.slots[slot] = (self.stamp, index as u32);
        }
    }

    /// Keeps the `beam` states of the next layer that are reached latest.
    fn keep_latest(&mut self, beam: usize) {
        let next = &mut self.next;
        self.order.clear();
        self.order.extend(0..next.reached.len() as u32);
        let reached = &next.reached;
        self.order.sort_by_key(|&index| (std::cmp::Reverse(reached[index as usize].0), index));
        self.order.truncate(beam);
        self.order.sort_unstable();
        for (to, &index) in self.order.iter().enumerate() {
            let index = index as usize;
            next.states.copy_within(index * self.words..(index + 1) * self.words, to * self.words);
            next.reached[to] = next.reached[index];
            next.from[to] = next.from[index];
        }
        next.states.truncate(beam * self.words);
        next.reached.truncate(beam);
        next.from.truncate(beam);
    }
}

/// Returns a hash; its quality affects only speed.
fn hash(words: &[u16]) -> u64 {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    for chunk in words.chunks(4) {
        let word = chunk.iter().fold(0u64, |word, &part| word << 16 | u64::from(part));
        state = (state ^ word).wrapping_mul(0xff51_afd7_ed55_8ccd);
        state ^= state >> 32;
    }
    state
}
