//! Sets of paths that cover everything that a warp may execute in any run.
//!
//! A [`PathSet`] represents the paths of all runs: it contains the steps that every run executes,
//! and alternatives where runs differ. It is an overestimation: it contains each path of each run,
//! and possibly others.

use super::{Accessed, Step, Steps};
use crate::base::Pc;

/// A set of paths with the same beginning and end, represented as a sequence of parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathSet {
    parts: Vec<PathPart>,
}

/// A part that all paths of a set have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathPart {
    /// A sequence of steps.
    Steps(Steps),
    /// One of several steps of the same instruction.
    OneOf(Steps),
    /// A step that terminates lanes. It terminates the warp if nothing follows it, see
    /// [`PathSet::is_end`].
    End(Step),
    /// The sides of a branch.
    Sides(Box<Sides>),
    /// Either one of these paths or nothing. It is the last part of its set.
    Perhaps(PathSet),
    /// A loop.
    Loop(Box<LoopIterations>),
    /// An exit of the enclosing loop that all lanes, some lanes or no lanes take.
    Leave(Box<Way>),
}

/// The sides of a branch. A warp executes one of them, or both one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sides {
    /// The side that executes first if both do.
    pub first: PathSet,
    /// The other side.
    pub second: PathSet,
    /// Whether both sides may execute.
    pub both: bool,
    /// Whether the first side may execute alone.
    pub first_alone: bool,
    /// Whether the second side may execute alone.
    pub second_alone: bool,
}

/// The iterations of a loop, from its header until all lanes have left it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopIterations {
    /// The loop header.
    pub header: Pc,
    /// One iteration. Lanes leave it at each [`PathPart::Leave`], and take the back edge at its
    /// end.
    pub round: PathSet,
    /// The maximum number of times that the back edge is taken.
    pub most: u64,
}

/// The paths of lanes that leave a loop, up to the point where all lanes have left it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Way {
    /// The paths.
    pub paths: PathSet,
    /// Whether the leaving lanes execute the paths before the remaining lanes continue, rather than
    /// after the remaining lanes have left the loop.
    pub first: bool,
}

impl PathSet {
    /// Creates a set that contains only the path of a whole warp.
    pub fn from_path(steps: &[Step]) -> Self {
        let mut set = Self::default();
        match steps {
            [steps @ .., last] if last.ends_warp() => {
                set.push_part(PathPart::Steps(steps.to_vec().into()));
                set.push_part(PathPart::End(*last));
            }
            steps => set.push_part(PathPart::Steps(steps.to_vec().into())),
        }
        set
    }

    /// Creates the union of two sets.
    #[inline]
    pub fn either(these: Self, those: Self) -> Self {
        let sides = Sides { first: these, second: those, both: false, first_alone: true, second_alone: true };
        Self { parts: vec![PathPart::Sides(Box::new(sides))] }
    }

    /// Creates an exit of a loop that all lanes may take, with no steps outside of the loop.
    #[inline]
    pub fn leaving() -> Self {
        Self { parts: vec![PathPart::Leave(Box::new(Way { paths: Self::default(), first: true }))] }
    }

    /// Returns the parts in order.
    #[inline]
    pub fn parts(&self) -> &[PathPart] {
        &self.parts
    }

    /// Returns whether the set contains only the empty path.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Appends a step.
    #[inline]
    pub fn push(&mut self, step: Step) {
        self.push_access(step, Accessed::default());
    }

    /// Appends a step that may access global or local memory.
    #[inline]
    pub fn push_access(&mut self, step: Step, accessed: Accessed) {
        if !matches!(self.parts.last(), Some(PathPart::Steps(_))) {
            self.parts.push(PathPart::Steps(Steps::default()));
        }
        if let Some(PathPart::Steps(steps)) = self.parts.last_mut() {
            steps.push_access(step, accessed);
        }
    }

    /// Appends a part.
    #[inline]
    pub fn push_part(&mut self, part: PathPart) {
        match part {
            PathPart::Steps(steps) if steps.is_empty() => {}
            PathPart::Steps(steps) => match self.parts.last_mut() {
                Some(PathPart::Steps(before)) => before.append(&steps),
                _ => self.parts.push(PathPart::Steps(steps)),
            },
            part => self.parts.push(part),
        }
    }

    /// Appends the parts of another set.
    #[inline]
    pub fn append(&mut self, then: Self) {
        then.parts.into_iter().for_each(|part| self.push_part(part));
    }

    /// Returns whether an [`PathPart::End`] at this index terminates the warp, given whether this
    /// set is the last one.
    #[inline]
    pub fn is_end(&self, index: usize, last: bool) -> bool {
        last && index + 1 == self.parts.len()
    }

    /// Returns whether a path may leave the enclosing loop.
    #[inline]
    pub fn leaves(&self) -> bool {
        self.parts.iter().any(|part| match part {
            PathPart::Leave(_) => true,
            PathPart::Sides(sides) => sides.first.leaves() || sides.second.leaves(),
            PathPart::Perhaps(rest) => rest.leaves(),
            PathPart::Steps(_) | PathPart::OneOf(_) | PathPart::End(_) | PathPart::Loop(_) => false,
        })
    }

    /// Returns the steps if the set consists of a single path of a whole warp.
    pub fn only_path(&self) -> Option<Vec<Step>> {
        let mut steps = Vec::new();
        for (index, part) in self.parts.iter().enumerate() {
            match part {
                PathPart::Steps(part) => steps.extend_from_slice(part.steps()),
                PathPart::End(step) if self.is_end(index, true) => steps.push(step.ending_warp()),
                PathPart::End(step) => steps.push(*step),
                _ => return None,
            }
        }
        Some(steps)
    }

    /// Returns whether the set contains the path of a whole warp, whose memory accesses may have
    /// fewer transactions than those in the set.
    #[inline]
    pub fn contains(&self, steps: &[Step]) -> bool {
        let mut after = self.ends(steps, &[0], true, &mut Vec::new());
        after.pop() == Some(steps.len())
    }

    /// Returns the positions that a path may have after this set if it was at one of the positions
    /// `from` before, in ascending order. Adds to `exits` the positions at which all lanes may have
    /// left the enclosing loop.
    fn ends(&self, steps: &[Step], from: &[usize], last: bool, exits: &mut Vec<usize>) -> Vec<usize> {
        let mut at = from.to_vec();
        for (index, part) in self.parts.iter().enumerate() {
            let last = self.is_end(index, last);
            let accepted =
                |at: &usize, step: Step| steps.get(*at).is_some_and(|&executed| accepts(step, executed));
            at = match part {
                PathPart::Steps(wanted) => at
                    .into_iter()
                    .filter(|&at| {
                        let executed = steps.get(at..at + wanted.len());
                        executed.is_some_and(|executed| {
                            executed.iter().zip(wanted.steps()).all(|(&t, &w)| accepts(w, t))
                        })
                    })
                    .map(|at| at + wanted.len())
                    .collect(),
                PathPart::OneOf(any) => at
                    .into_iter()
                    .filter(|at| any.steps().iter().any(|&step| accepted(at, step)))
                    .map(|at| at + 1)
                    .collect(),
                PathPart::End(step) => {
                    let ending = if last { step.ending_warp() } else { *step };
                    // a step at the end of an optional part may also terminate the warp
                    at.into_iter()
                        .filter(|at| accepted(at, ending) || accepted(at, step.ending_warp()))
                        .map(|at| at + 1)
                        .collect()
                }
                PathPart::Sides(sides) => {
                    let first = sides.first.ends(steps, &at, last && !sides.both, exits);
                    let mut into_second = if sides.second_alone { at.clone() } else { Vec::new() };
                    if sides.both {
                        into_second.extend(&first);
                    }
                    let second = sides.second.ends(steps, &sorted(into_second), last, exits);
                    sorted(if sides.first_alone { [first, second].concat() } else { second })
                }
                PathPart::Perhaps(rest) => {
                    let after_rest = rest.ends(steps, &at, last, exits);
                    sorted([at, after_rest].concat())
                }
                PathPart::Loop(iterations) => iterations.ends(steps, at),
                PathPart::Leave(way) => {
                    let after_exit = way.paths.ends(steps, &at, false, &mut Vec::new());
                    exits.extend(&after_exit);
                    sorted(if way.first { [at, after_exit].concat() } else { at })
                }
            };
        }
        at
    }
}

impl LoopIterations {
    /// Returns the paths that leaving lanes execute after the remaining lanes have left the loop.
    #[inline]
    pub fn ways_after(&self) -> impl Iterator<Item = &PathSet> {
        let mut found = Vec::new();
        ways_after(&self.round, &mut found);
        found.into_iter()
    }

    fn ends(&self, steps: &[Step], mut at: Vec<usize>) -> Vec<usize> {
        let mut exits = Vec::new();
        let mut iterations = 0;
        while !at.is_empty() && iterations <= self.most {
            at = self.round.ends(steps, &at, false, &mut exits);
            iterations += 1;
        }
        let mut exits = sorted(exits);
        let mut positions = exits.clone();
        // each iteration adds at most one execution of each path, and `exits` already includes the
        // paths of the lanes that leave last
        let ways = self.ways_after().count() as u64;
        for _ in 1..self.most.saturating_add(1).saturating_mul(ways) {
            positions = sorted(
                self.ways_after()
                    .flat_map(|way| way.ends(steps, &positions, false, &mut Vec::new()))
                    .collect(),
            );
            if positions.is_empty() {
                break;
            }
            exits.extend(&positions);
        }
        sorted(exits)
    }
}

fn ways_after<'s>(set: &'s PathSet, found: &mut Vec<&'s PathSet>) {
    for part in set.parts() {
        match part {
            PathPart::Leave(way) if !way.first && !way.paths.is_empty() => found.push(&way.paths),
            PathPart::Sides(sides) => {
                ways_after(&sides.first, found);
                ways_after(&sides.second, found);
            }
            PathPart::Perhaps(rest) => ways_after(rest, found),
            _ => {}
        }
    }
}

fn sorted(mut places: Vec<usize>) -> Vec<usize> {
    places.sort_unstable();
    places.dedup();
    places
}

/// Returns whether a step equals the wanted one, or has fewer transactions.
fn accepts(wanted: Step, executed: Step) -> bool {
    if wanted == executed {
        return true;
    }
    let (w, t) = (wanted.memory(), executed.memory());
    wanted.pc() == executed.pc()
        && wanted.ends_warp() == executed.ends_warp()
        && w.space == t.space
        && t.extra_transactions <= w.extra_transactions
}
