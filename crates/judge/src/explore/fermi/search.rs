//! The exploration of every schedule of a template kernel: the longest and the shortest one, with a
//! witness each.
//!
//! A state is the number of warps at each instruction; the identity of warps does not matter, since
//! all warps execute the same code. The remaining time of a state does not depend on how it was
//! reached, so both extremes of every state are computed once and remembered. Every step advances
//! some warp, so the search terminates.

use std::collections::HashMap;

use super::machine::{FermiMachine, Op, TemplateKernel};
use warpbound_core::base::{Cycles, ProgressMonitor};

/// The rule of the scheduler beyond work conservation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fairness {
    /// The rule of Raravi and Andersson, 2010: an instruction of repetition k has priority over one
    /// of k+1.
    SubBlock,
    /// No further rule: any choice is allowed that leaves no requested slot empty.
    Unrestricted,
}

/// The position of each warp in its code, ascending; one byte each, lowest first, unused bytes
/// zero.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct State(u128);

impl State {
    fn positions(self) -> [u8; TemplateKernel::MAX_WARPS] {
        self.0.to_le_bytes()
    }

    fn new(mut positions: [u8; TemplateKernel::MAX_WARPS], warps: usize) -> Self {
        positions[..warps].sort_unstable();
        Self(u128::from_le_bytes(positions))
    }
}

/// The time from a state to the end of all warps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Left {
    worst: u32,
    best: u32,
}

/// The instructions executed in one cycle, as warp and instruction, ordered by warp.
pub type CycleUse = Vec<(usize, Op)>;

/// The extremes over all schedules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finishing {
    /// The longest finishing time.
    pub worst: Cycles,
    /// The shortest finishing time.
    pub best: Cycles,
    /// The number of distinct states.
    pub states: usize,
    /// A schedule that takes `worst`, cycle by cycle.
    pub worst_schedule: Vec<CycleUse>,
    /// A schedule that takes `best`, cycle by cycle.
    pub best_schedule: Vec<CycleUse>,
}

/// The error for a search that visited too many states or was stopped; nothing is claimed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfStates;

/// Explores every schedule.
///
/// # Errors
/// Returns an error if there are more than `max_states` states, or if `monitor` stops the search.
pub fn explore(
    machine: &FermiMachine,
    kernel: &TemplateKernel,
    fairness: Fairness,
    max_states: usize,
    monitor: &ProgressMonitor,
) -> Result<Finishing, OutOfStates> {
    let mut search = Search { machine, kernel, fairness, max_states, monitor, known: HashMap::new() };
    let start = State::new([0; TemplateKernel::MAX_WARPS], kernel.warps);
    let left = search.left(start)?;
    Ok(Finishing {
        worst: Cycles::new(left.worst.into()),
        best: Cycles::new(left.best.into()),
        states: search.known.len(),
        worst_schedule: search.schedule(|left| left.worst),
        best_schedule: search.schedule(|left| left.best),
    })
}

struct Search<'a> {
    machine: &'a FermiMachine,
    kernel: &'a TemplateKernel,
    fairness: Fairness,
    max_states: usize,
    monitor: &'a ProgressMonitor,
    known: HashMap<State, Left>,
}

/// The warps that take a slot, as the number at each position.
type Taken = Vec<(u8, usize)>;

impl Search<'_> {
    /// Returns the extremes from a state on. The recursion is as deep as a schedule is long, a few
    /// thousand levels at most.
    fn left(&mut self, state: State) -> Result<Left, OutOfStates> {
        if self.is_end(state) {
            return Ok(Left { worst: 0, best: 0 });
        }
        if let Some(left) = self.known.get(&state) {
            return Ok(*left);
        }
        if self.known.len() >= self.max_states || self.monitor.is_stopped() {
            return Err(OutOfStates);
        }
        let mut left = Left { worst: 0, best: u32::MAX };
        for taken in self.moves(state) {
            let after = self.left(self.advance(state, &taken))?;
            left.worst = left.worst.max(after.worst + 1);
            left.best = left.best.min(after.best + 1);
        }
        self.known.insert(state, left);
        Ok(left)
    }

    fn is_end(&self, state: State) -> bool {
        let end = self.kernel.code.len();
        let positions = state.positions();
        positions[..self.kernel.warps].iter().all(|p| usize::from(*p) == end)
    }

    fn advance(&self, state: State, taken: &Taken) -> State {
        let mut positions = state.positions();
        let before = positions;
        for (position, count) in taken {
            let there = (0..self.kernel.warps).filter(|w| before[*w] == *position);
            there.take(*count).for_each(|w| positions[w] += 1);
        }
        State::new(positions, self.kernel.warps)
    }

    /// Returns every way to fill the slots of a cycle.
    fn moves(&self, state: State) -> Vec<Taken> {
        let arithmetic = self.choices(state, false, self.machine.arithmetic_slots as usize);
        let memory = self.choices(state, true, self.machine.memory_slots as usize);
        let both = |a: &Taken| memory.iter().map(move |m| [a.as_slice(), m.as_slice()].concat()).collect();
        arithmetic.iter().flat_map(|a: &Taken| -> Vec<Taken> { both(a) }).collect()
    }

    /// Returns every way to fill one kind of slots: as many as exist, or as many as are requested.
    fn choices(&self, state: State, memory: bool, slots: usize) -> Vec<Taken> {
        let positions = state.positions();
        let asking: Vec<u8> = positions[..self.kernel.warps]
            .iter()
            .copied()
            .filter(|p| self.kernel.code.get(usize::from(*p)).is_some_and(|(op, _)| op.is_memory() == memory))
            .collect();
        let groups: Vec<(u8, usize)> =
            asking.chunk_by(|a, b| a == b).map(|run| (run[0], run.len())).collect();
        let rank = |group: &(u8, usize)| match self.fairness {
            Fairness::SubBlock => self.kernel.code[usize::from(group.0)].1,
            Fairness::Unrestricted => 0,
        };
        let mut free = slots;
        let mut sure = Taken::new();
        // positions ascend, and repetitions ascend with them
        for class in groups.chunk_by(|a, b| rank(a) == rank(b)) {
            if class.iter().map(|(_, count)| count).sum::<usize>() > free {
                let mut all = Vec::new();
                subsets(class, free, &mut sure, &mut all);
                return all;
            }
            sure.extend(class);
            free -= class.iter().map(|(_, count)| count).sum::<usize>();
        }
        vec![sure]
    }

    /// Returns the schedule that the remembered extremes describe, with individual warps: among
    /// those at the same position the first one advances.
    fn schedule(&self, value: impl Fn(Left) -> u32) -> Vec<CycleUse> {
        let warps = self.kernel.warps;
        let mut at = [0u8; TemplateKernel::MAX_WARPS];
        let mut cycles = Vec::new();
        let known = |state: State| self.known.get(&state).copied().unwrap_or(Left { worst: 0, best: 0 });
        loop {
            let state = State::new(at, warps);
            if self.is_end(state) {
                return cycles;
            }
            let wanted = value(known(state)) - 1;
            let moves = self.moves(state);
            let taken = moves
                .iter()
                .find(|taken| value(known(self.advance(state, taken))) == wanted)
                .expect("some move attains the extreme");
            let mut used = CycleUse::new();
            let before = at;
            for (position, count) in taken {
                let there = (0..warps).filter(|w| before[*w] == *position).take(*count);
                there.for_each(|w| {
                    used.push((w, self.kernel.code[usize::from(*position)].0));
                    at[w] += 1;
                });
            }
            used.sort_unstable_by_key(|(warp, _)| *warp);
            cycles.push(used);
        }
    }
}

/// Adds every way to take `count` of the warps in these groups, the earlier positions first.
fn subsets(groups: &[(u8, usize)], count: usize, chosen: &mut Taken, all: &mut Vec<Taken>) {
    let Some(((position, there), rest)) = groups.split_first() else {
        if count == 0 {
            all.push(chosen.clone());
        }
        return;
    };
    for taken in (0..=count.min(*there)).rev() {
        if taken > 0 {
            chosen.push((*position, taken));
        }
        subsets(rest, count - taken, chosen, all);
        if taken > 0 {
            chosen.pop();
        }
    }
}
