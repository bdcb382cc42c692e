//! What a warp may execute: a set of paths, written down once whatever it is that a run does not know.
//!
//! A [`PathSet`] is what a path is to one run, for all runs: where every run does the same it has the steps, and where runs
//! differ it has what they may do instead. It is an over-approximation: each path of each run is in it, and there may be
//! others.

use super::Step;
use crate::base::Pc;

/// Paths that begin and end in the same places: what one part says, then the next.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathSet {
    parts: Vec<PathPart>,
}

/// A part of all paths of a set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathPart {
    /// These steps, one after the other.
    Steps(Vec<Step>),
    /// One of these steps, which are of the same instruction.
    OneOf(Vec<Step>),
    /// A step with which lanes end. It ends the warp where nothing follows it; see [`PathSet::is_end`].
    End(Step),
    /// The sides of a branch.
    Sides(Box<Sides>),
    /// These paths, or nothing. Stands last in its set.
    Perhaps(PathSet),
    /// A loop.
    Loop(Box<Rounds>),
    /// In the rounds of a loop: all lanes leave it here, or some, or none.
    Leave(Box<Way>),
}

/// The sides of a branch, of which a warp takes one, or both one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sides {
    /// The side that runs first where both do.
    pub first: PathSet,
    /// The other one.
    pub second: PathSet,
    /// Whether both may run.
    pub both: bool,
    /// Whether the first may run alone.
    pub first_alone: bool,
    /// Whether the second may.
    pub second_alone: bool,
}

/// Rounds of a loop, from where it begins to where its lanes have left it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rounds {
    /// Where the loop begins.
    pub header: Pc,
    /// A round; lanes leave it where its [`PathPart::Leave`] say, and go back to its beginning where it ends.
    pub round: PathSet,
    /// How often they go back at most.
    pub most: u64,
}

/// What lanes that leave a loop do until all have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Way {
    /// What they do.
    pub paths: PathSet,
    /// Whether they do it before the lanes that stay go on; otherwise after those have left.
    pub first: bool,
}

impl PathSet {
    /// The path of a whole warp, alone.
    pub fn from_path(steps: &[Step]) -> Self {
        let mut set = Self::default();
        match steps {
            [steps @ .., last] if last.ends_warp() => {
                set.push_part(PathPart::Steps(steps.to_vec()));
                set.push_part(PathPart::End(*last));
            }
            steps => set.push_part(PathPart::Steps(steps.to_vec())),
        }
        set
    }

    /// These paths or those.
    pub fn either(these: Self, those: Self) -> Self {
        let sides = Sides { first: these, second: those, both: false, first_alone: true, second_alone: true };
        Self { parts: vec![PathPart::Sides(Box::new(sides))] }
    }

    /// Where all lanes may leave a loop, and have nothing to do then.
    pub fn leaving() -> Self {
        Self { parts: vec![PathPart::Leave(Box::new(Way { paths: Self::default(), first: true }))] }
    }

    /// What comes one after the other.
    pub fn parts(&self) -> &[PathPart] {
        &self.parts
    }

    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Appends a step.
    pub fn push(&mut self, step: Step) {
        match self.parts.last_mut() {
            Some(PathPart::Steps(steps)) => steps.push(step),
            _ => self.parts.push(PathPart::Steps(vec![step])),
        }
    }

    /// Appends a part.
    pub fn push_part(&mut self, part: PathPart) {
        match part {
            PathPart::Steps(steps) if steps.is_empty() => {}
            PathPart::Steps(steps) => match self.parts.last_mut() {
                Some(PathPart::Steps(before)) => before.extend(steps),
                _ => self.parts.push(PathPart::Steps(steps)),
            },
            part => self.parts.push(part),
        }
    }

    /// Appends what follows.
    pub fn append(&mut self, then: Self) {
        then.parts.into_iter().for_each(|part| self.push_part(part));
    }

    /// Whether a part ends the warp if it is an [`PathPart::End`]: it is the last of a set that is last.
    pub fn is_end(&self, index: usize, last: bool) -> bool {
        last && index + 1 == self.parts.len()
    }

    /// Whether lanes may leave a loop around it on some path.
    pub fn leaves(&self) -> bool {
        self.parts.iter().any(|part| match part {
            PathPart::Leave(_) => true,
            PathPart::Sides(sides) => sides.first.leaves() || sides.second.leaves(),
            PathPart::Perhaps(rest) => rest.leaves(),
            PathPart::Steps(_) | PathPart::OneOf(_) | PathPart::End(_) | PathPart::Loop(_) => false,
        })
    }

    /// The steps, if there is but one path, and it is that of a whole warp.
    pub fn only_path(&self) -> Option<Vec<Step>> {
        let mut steps = Vec::new();
        for (index, part) in self.parts.iter().enumerate() {
            match part {
                PathPart::Steps(part) => steps.extend_from_slice(part),
                PathPart::End(step) if self.is_end(index, true) => steps.push(step.ending_warp()),
                PathPart::End(step) => steps.push(*step),
                _ => return None,
            }
        }
        Some(steps)
    }

    /// Whether this is one of the paths, where memory accesses may have fewer transactions than the set says. `steps` is the path of
    /// a whole warp.
    pub fn contains(&self, steps: &[Step]) -> bool {
        let mut after = self.ends(steps, &[0], true, &mut Vec::new());
        after.pop() == Some(steps.len())
    }

    /// Where a path may be after this set if it was in one of these places before; ascending. `left` gets where lanes
    /// may all have left the loop around it.
    fn ends(&self, steps: &[Step], from: &[usize], last: bool, left: &mut Vec<usize>) -> Vec<usize> {
        let mut at = from.to_vec();
        for (index, part) in self.parts.iter().enumerate() {
            let last = self.is_end(index, last);
            let accepted = |at: &usize, step: Step| steps.get(*at).is_some_and(|&taken| accepts(step, taken));
            at = match part {
                PathPart::Steps(wanted) => at
                    .into_iter()
                    .filter(|&at| {
                        let taken = steps.get(at..at + wanted.len());
                        taken.is_some_and(|taken| taken.iter().zip(wanted).all(|(&t, &w)| accepts(w, t)))
                    })
                    .map(|at| at + wanted.len())
                    .collect(),
                PathPart::OneOf(any) => at
                    .into_iter()
                    .filter(|at| any.iter().any(|&step| accepted(at, step)))
                    .map(|at| at + 1)
                    .collect(),
                PathPart::End(step) => {
                    let ending = if last { step.ending_warp() } else { *step };
                    // the end of what may be all there is
                    at.into_iter()
                        .filter(|at| accepted(at, ending) || accepted(at, step.ending_warp()))
                        .map(|at| at + 1)
                        .collect()
                }
                PathPart::Sides(sides) => {
                    let first = sides.first.ends(steps, &at, last && !sides.both, left);
                    let mut into_second = if sides.second_alone { at.clone() } else { Vec::new() };
                    if sides.both {
                        into_second.extend(&first);
                    }
                    let second = sides.second.ends(steps, &sorted(into_second), last, left);
                    sorted(if sides.first_alone { [first, second].concat() } else { second })
                }
                PathPart::Perhaps(rest) => {
                    let more = rest.ends(steps, &at, last, left);
                    sorted([at, more].concat())
                }
                PathPart::Loop(rounds) => rounds.ends(steps, at),
                PathPart::Leave(way) => {
                    let gone = way.paths.ends(steps, &at, false, &mut Vec::new());
                    left.extend(&gone);
                    sorted(if way.first { [at, gone].concat() } else { at })
                }
            };
        }
        at
    }
}

impl Rounds {
    /// The ways of those that leave while others stay and go on.
    pub fn ways_after(&self) -> impl Iterator<Item = &PathSet> {
        let mut found = Vec::new();
        ways_after(&self.round, &mut found);
        found.into_iter()
    }

    fn ends(&self, steps: &[Step], mut at: Vec<usize>) -> Vec<usize> {
        let mut left = Vec::new();
        let mut rounds = 0;
        while !at.is_empty() && rounds <= self.most {
            at = self.round.ends(steps, &at, false, &mut left);
            rounds += 1;
        }
        let mut left = sorted(left);
        let mut more = left.clone();
        // in each round one for each of the ways, less that of those that leave last
        let ways = self.ways_after().count() as u64;
        for _ in 1..self.most.saturating_add(1).saturating_mul(ways) {
            more = sorted(
                self.ways_after().flat_map(|way| way.ends(steps, &more, false, &mut Vec::new())).collect(),
            );
            if more.is_empty() {
                break;
            }
            left.extend(&more);
        }
        sorted(left)
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

/// Whether a step that was taken is the one that is wanted, or less of the same.
fn accepts(wanted: Step, taken: Step) -> bool {
    if wanted == taken {
        return true;
    }
    let (w, t) = (wanted.memory(), taken.memory());
    wanted.pc() == taken.pc()
        && wanted.ends_warp() == taken.ends_warp()
        && w.space == t.space
        && t.extra_transactions <= w.extra_transactions
}
