//! The check whether the control codes of machine code cover its dependences on every way through
//! the code.
//!
//! A pipeline with control codes does not compare registers. Results of fixed latency are there
//! after a number of cycles, which stall counts have to provide; for others an instruction waits at
//! a barrier. The same holds for registers that are overwritten after they were written or read.
//! [`check`] follows the accesses to registers along all ways of the control flow, including those
//! that no launch takes, until nothing changes. At an instruction that several ways lead to, the
//! least time that has passed counts. A function is followed separately for each of its callers, except for
//! calls within functions that call themselves.
//!
//! The times come from the table of latencies of the generation
//! ([`warpbound_core::program::hazards`]). They are independent of the machine that is simulated.
//! The following is assumed:
//!
//! * A stall count of 0 passes one cycle, and a wait at a barrier none.
//! * All lanes of a warp are followed together. The lanes of another path of a divergent warp could
//!   only add time.
//! * The target of BRA.DIV, to which only the lanes of a divergent warp go, is not followed.

mod cycles;
mod findings;
mod flow;
mod pending;

use std::collections::{BTreeMap, BTreeSet};

use warpbound_core::program::hazards::{Hazard, Hazards};
use warpbound_core::program::{KernelCode, MachineCode};

pub use findings::{Findings, OfKind, Uncovered};

use cycles::Cycles;
use findings::{Judged, parts};
use flow::{Edge, Flow};
use pending::{Completed, State};

/// The number of nested calls that are kept apart.
const MAX_CALLS: usize = 32;

/// A point of the code: the first instruction of a block, and the number of the stack of callers.
type Point = (usize, usize);

/// The calls that have not returned, the innermost last.
type Callers = Vec<Caller>;

/// A call that has not returned.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Caller {
    /// The call continues with this instruction.
    Back(usize),
    /// Any number of calls within a group of functions that call each other.
    Group(usize),
}

/// The states at the points that are reached.
struct Walk<'p> {
    code: &'p MachineCode,
    hazards: &'p Hazards,
    flow: Flow,
    cycles: Cycles,
    callers: Vec<Callers>,
    states: BTreeMap<Point, State>,
    /// The points whose state has changed.
    changed: BTreeSet<Point>,
    findings: Findings,
}

/// Checks the control codes of a program; `None` if it has none, or if the times of its generation
/// are not known.
pub fn check(program: &KernelCode) -> Option<Findings> {
    let (code, hazards) = parts(program)?;
    let flow = Flow::of(program, code);
    let mut walk = Walk {
        code,
        hazards,
        cycles: Cycles::of(&flow.edges),
        flow,
        callers: vec![Callers::new()],
        states: BTreeMap::from([((0, 0), State::default())]),
        changed: BTreeSet::from([(0, 0)]),
        findings: Findings::default(),
    };
    while let Some(point) = walk.changed.pop_first() {
        walk.block(point);
    }
    Some(walk.findings)
}

impl Walk<'_> {
    /// Follows a block from its first instruction.
    fn block(&mut self, (start, callers): Point) {
        let Some(mut state) = self.states.get(&(start, callers)).map(State::resume) else { return };
        let mut here = start;
        while here < self.code.instructions.len() {
            self.instruction(start, here, &mut state);
            match self.flow.within_block(here) {
                Some(next) => here = next,
                None => break,
            }
        }
        state.settle();
        for edge in self.flow.edges.get(here).cloned().unwrap_or_default() {
            for point in self.targets(edge, callers) {
                self.reach(point, &state);
            }
        }
    }

    /// Returns the points to which an edge leads.
    fn targets(&mut self, edge: Edge, callers: usize) -> Vec<Point> {
        let mut stack = self.callers[callers].clone();
        match edge {
            Edge::To(to) => vec![(to, callers)],
            Edge::Call { function, back } => {
                let group = self.cycles.group(function).map(Caller::Group);
                if group.is_some() && stack.last() == group.as_ref() {
                    return vec![(function, callers)];
                }
                stack.push(Caller::Back(back));
                stack.extend(group);
                if stack.len() > MAX_CALLS { Vec::new() } else { vec![(function, self.number(stack))] }
            }
            Edge::Return => {
                let mut points = Vec::new();
                if let Some(&Caller::Group(group)) = stack.last() {
                    points.extend(self.cycles.backs(group).map(|back| (back, callers)));
                    stack.pop();
                }
                if let Some(Caller::Back(back)) = stack.pop() {
                    points.push((back, self.number(stack)));
                }
                points
            }
        }
    }

    /// Returns the number of a stack of callers.
    fn number(&mut self, stack: Callers) -> usize {
        self.callers.iter().position(|known| *known == stack).unwrap_or_else(|| {
            self.callers.push(stack);
            self.callers.len() - 1
        })
    }

    /// Adds a settled state to a point.
    fn reach(&mut self, point: Point, state: &State) {
        let changes = match self.states.get_mut(&point) {
            Some(known) => known.include(state),
            None => {
                self.states.insert(point, state.clone());
                true
            }
        };
        if changes {
            self.changed.insert(point);
        }
    }

    /// Judges the dependences of an instruction, and issues it. `start` is the first instruction of
    /// its block.
    fn instruction(&mut self, start: usize, here: usize, state: &mut State) {
        let hazards = self.hazards;
        let (coded, accesses) = (&self.code.instructions[here], &hazards.instructions[here]);
        let completed = state.wait(coded, hazards.delays.signal);
        for &access in &accesses.list {
            let earlier: &[(bool, Hazard)] = match access.writes {
                false => &[(true, Hazard::Read)],
                true => &[(true, Hazard::Write), (false, Hazard::Overwrite)],
            };
            for &(writes, hazard) in earlier {
                let all = state.accesses(access.register, writes);
                for pending in all.filter(|pending| !pending.apart(accesses)) {
                    let passed = state.passed(pending);
                    let by = pending.by as usize;
                    match self.findings.judge(hazards, (here, access), (pending, passed), hazard) {
                        Judged::Tight => {
                            let within = by >= start && by < here;
                            let all = if within { by..here } else { by..by + 1 };
                            all.for_each(|index| self.findings.add_tight(index));
                        }
                        Judged::NeedsBarrier if !pending.open => {
                            let of =
                                |done: &&Completed| done.by == pending.by && done.access == pending.access;
                            if let Some((barrier, from)) =
                                completed.iter().find(of).and_then(|done| done.only)
                            {
                                self.findings.add_needed((here, barrier), (from as usize, barrier));
                            }
                        }
                        _ => {}
                    }
                }
            }
        }
        state.issue(here as u32, accesses, &coded.control);
    }
}
