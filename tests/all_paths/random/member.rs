//! The test whether a path is in a set, with the lines that it accesses: an independent
//! implementation.

use std::collections::BTreeSet;

use warpbound::path::{Accessed, Elsewhere, LineUse, PathPart, PathSet, Step, WarpPath};
use warpbound::program::{Flow, KernelCode};

type Places = BTreeSet<usize>;

/// A step of a run, with the lines of device memory that it accesses and the sectors in them.
pub type Taken = (Step, Vec<(u64, u8)>);

/// Returns the steps of a path whose lines were recorded.
pub fn taken(program: &KernelCode, path: &WarpPath) -> Vec<Taken> {
    let mut traffic = path.traffic().iter();
    let with_lines = |&step: &Step| {
        let instr = program.instr(step.pc());
        let is_copy = instr.flow == Flow::AsyncCopy;
        let moves = instr.moves_lines(false) && (is_copy || step.memory().space.has_lines(false));
        let mut lines = Vec::new();
        let mut is_over = !moves;
        while !is_over {
            let line: &LineUse = traffic.next().expect("each access has its lines");
            if line.sectors() != 0 {
                lines.push((line.line(), line.sectors()));
            }
            is_over = line.is_last();
        }
        (step, lines)
    };
    let steps = path.steps().iter().map(with_lines).collect();
    assert!(traffic.next().is_none(), "lines of no access");
    steps
}

/// Returns whether these steps are one of the paths of a set, with at most as many transactions.
pub fn contains(set: &PathSet, steps: &[Taken]) -> bool {
    after(set, steps, &Places::from([0]), &mut Places::new()).contains(&steps.len())
}

/// Returns whether an access of a set covers the lines of a run.
fn covers(accessed: Accessed, lines: &[(u64, u8)]) -> bool {
    let known: Vec<(u64, u8)> = accessed.lines.iter().map(|line| (line.line(), line.sectors())).collect();
    let known: Vec<(u64, u8)> = known.into_iter().filter(|&(_, sectors)| sectors != 0).collect();
    let count = |lines: &[(u64, u8)]| lines.iter().map(|(_, sectors)| sectors.count_ones()).sum::<u32>();
    let Elsewhere { lines: more, sectors } = accessed.elsewhere;
    if more == 0 {
        return known == lines;
    }
    lines.len() <= known.len() + more as usize && count(lines) <= count(&known) + sectors
}

fn one(wanted: Step, taken: Step) -> bool {
    let (w, t) = (wanted.memory(), taken.memory());
    let ending = taken.ends_warp();
    let plain = if ending { wanted.ending_warp() } else { wanted };
    plain == taken
        || wanted.pc() == taken.pc()
            && !ending
            && w.space == t.space
            && t.extra_transactions <= w.extra_transactions
}

fn after(set: &PathSet, steps: &[Taken], from: &Places, left: &mut Places) -> Places {
    let mut at = from.clone();
    for part in set.parts() {
        at = match part {
            PathPart::Steps(wanted) => at
                .iter()
                .filter(|&&at| {
                    let taken = steps.get(at..at + wanted.len());
                    taken.is_some_and(|taken| {
                        wanted.iter().zip(taken).all(|((w, accessed), (t, lines))| {
                            !t.ends_warp() && one(w, *t) && covers(accessed, lines)
                        })
                    })
                })
                .map(|at| at + wanted.len())
                .collect(),
            PathPart::OneOf(any) => at
                .iter()
                .filter(|&&at| {
                    let is_taken = |(taken, lines): &Taken| {
                        let fits = |(step, accessed)| one(step, *taken) && covers(accessed, lines);
                        any.iter().any(fits)
                    };
                    steps.get(at).is_some_and(is_taken)
                })
                .map(|at| at + 1)
                .collect(),
            PathPart::End(step) => at
                .iter()
                .filter(|&&at| steps.get(at).is_some_and(|&(taken, _)| one(*step, taken)))
                .map(|at| at + 1)
                .collect(),
            PathPart::Sides(sides) => {
                let first = after(&sides.first, steps, &at, left);
                let mut into = if sides.second_alone { at } else { Places::new() };
                if sides.both {
                    into.extend(&first);
                }
                let mut all = after(&sides.second, steps, &into, left);
                if sides.first_alone {
                    all.extend(first);
                }
                all
            }
            PathPart::Perhaps(rest) => {
                let mut all = after(rest, steps, &at, left);
                all.extend(at);
                all
            }
            PathPart::Loop(rounds) => {
                let mut away = Places::new();
                // a position that was reached in fewer iterations has more of them left
                let (mut now, mut seen) = (at.clone(), at);
                for _ in 0..=rounds.most {
                    now = after(&rounds.round, steps, &now, &mut away);
                    now.retain(|place| seen.insert(*place));
                    if now.is_empty() {
                        break;
                    }
                }
                let mut more = away.clone();
                // in each iteration some lanes may leave by each of these exits and then wait;
                // those that left last continue first, and are in `away` already
                for _ in 1..(rounds.most + 1) * rounds.ways_after().count() as u64 {
                    let mut next = Places::new();
                    for way in rounds.ways_after() {
                        next.extend(after(way, steps, &more, &mut Places::new()));
                    }
                    next.retain(|place| away.insert(*place));
                    if next.is_empty() {
                        break;
                    }
                    more = next;
                }
                away
            }
            PathPart::Leave(way) => {
                let gone = after(&way.paths, steps, &at, &mut Places::new());
                left.extend(&gone);
                if way.first {
                    at.extend(gone);
                }
                at
            }
        };
    }
    at
}
