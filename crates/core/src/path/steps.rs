//! Consecutive steps of a set of paths, with the memory that each of them may access.

use std::ops::Range;

use super::{LineUse, Step};

/// Consecutive steps of a set of paths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Steps {
    steps: Vec<Step>,
    /// The accesses to global or local memory, by ascending index of their steps.
    accesses: Vec<Access>,
    /// The lines of all accesses.
    lines: Vec<LineUse>,
}

/// The access of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Access {
    step: u32,
    /// The index after its last line.
    end: u32,
    elsewhere: Elsewhere,
}

/// The part of an access whose place depends on data, or which only some paths have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Elsewhere {
    /// The largest number of lines. An atomic operation counts a line once per pass over it.
    pub lines: u32,
    /// The largest number of sectors of all these lines together.
    pub sectors: u32,
}

/// What a step may access in global and local memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Accessed<'p> {
    /// The lines that the step accesses on every path.
    pub lines: &'p [LineUse],
    /// What it may access besides.
    pub elsewhere: Elsewhere,
}

impl Elsewhere {
    /// Returns a number of accesses within one sector each.
    pub fn apart(accesses: u32) -> Self {
        Self { lines: accesses, sectors: accesses }
    }

    /// Returns as many lines and sectors as these are.
    pub fn of_lines(lines: &[LineUse]) -> Self {
        let touched = lines.iter().filter(|line| line.sectors() != 0);
        touched.fold(Self::default(), |sum, line| Self {
            lines: sum.lines + 1,
            sectors: sum.sectors + line.sectors().count_ones(),
        })
    }

    /// Returns the sum of both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            lines: self.lines.saturating_add(other.lines),
            sectors: self.sectors.saturating_add(other.sectors),
        }
    }
}

impl Steps {
    /// Returns the steps.
    #[inline]
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Returns the number of steps.
    #[inline]
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Returns whether there are no steps.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Appends a step.
    #[inline]
    pub fn push(&mut self, step: Step) {
        self.steps.push(step);
    }

    /// Appends a step that accesses global or local memory.
    pub fn push_access(&mut self, step: Step, accessed: Accessed) {
        if !accessed.lines.is_empty() || accessed.elsewhere != Elsewhere::default() {
            self.lines.extend_from_slice(accessed.lines);
            let step = u32::try_from(self.steps.len()).expect("fuel limits a path to 2^32 steps");
            let end = u32::try_from(self.lines.len()).expect("an access has few lines");
            self.accesses.push(Access { step, end, elsewhere: accessed.elsewhere });
        }
        self.steps.push(step);
    }

    /// Appends other steps.
    pub fn append(&mut self, then: &Self) {
        then.iter().for_each(|(step, accessed)| self.push_access(step, accessed));
    }

    /// Returns the steps with what they may access.
    pub fn iter(&self) -> impl Iterator<Item = (Step, Accessed<'_>)> {
        self.range(0..self.len())
    }

    /// Returns the steps of a range with what they may access.
    pub fn range(&self, range: Range<usize>) -> impl Iterator<Item = (Step, Accessed<'_>)> {
        let mut next = self.accesses.partition_point(|access| (access.step as usize) < range.start);
        let mut from = next.checked_sub(1).map_or(0, |before| self.accesses[before].end as usize);
        range.map(move |index| {
            let accessed = match self.accesses.get(next) {
                Some(access) if access.step as usize == index => {
                    next += 1;
                    let first = std::mem::replace(&mut from, access.end as usize);
                    Accessed { lines: &self.lines[first..from], elsewhere: access.elsewhere }
                }
                _ => Accessed::default(),
            };
            (self.steps[index], accessed)
        })
    }
}

impl From<Vec<Step>> for Steps {
    fn from(steps: Vec<Step>) -> Self {
        Self { steps, ..Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Pc;

    #[test]
    fn a_range_has_the_accesses_of_its_steps() {
        let plain = |pc: u32| Step::plain(Pc::new(pc));
        let lines = [LineUse::new(7, 0b11, false), LineUse::new(8, 0b1, true)];
        let elsewhere = Elsewhere::apart(3);
        let mut steps = Steps::from(vec![plain(0)]);
        steps.push_access(plain(1), Accessed { lines: &lines, elsewhere });
        let mut more = Steps::default();
        more.push(plain(2));
        more.push_access(plain(3), Accessed { lines: &lines[1..], ..Accessed::default() });
        steps.append(&more);
        let of = |range: Range<usize>| -> Vec<(u32, usize, u32)> {
            let known = |(step, accessed): (Step, Accessed<'_>)| {
                (step.pc().get(), accessed.lines.len(), accessed.elsewhere.lines)
            };
            steps.range(range).map(known).collect()
        };
        assert_eq!(of(0..4), [(0, 0, 0), (1, 2, 3), (2, 0, 0), (3, 1, 0)]);
        assert_eq!(of(2..4), [(2, 0, 0), (3, 1, 0)]);
        assert_eq!(steps.range(3..4).next().expect("a step").1.lines, &lines[1..]);
        assert_eq!(Elsewhere::of_lines(&lines).and(elsewhere), Elsewhere { lines: 5, sectors: 6 });
    }
}
