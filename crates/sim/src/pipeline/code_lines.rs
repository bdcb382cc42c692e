//! The lines of code in an instruction cache.

/// A set-associative cache of lines of code with LRU replacement. Each line has data of type `T`.
#[derive(Clone, Debug)]
pub(super) struct CodeLines<T> {
    ways: usize,
    /// The lines per set, most recently used first, by their numbers.
    sets: Vec<Vec<(u32, T)>>,
}

impl<T: Clone> CodeLines<T> {
    /// Creates an empty cache with this number of sets and of lines per set.
    pub fn new(sets: u32, ways: u32) -> Self {
        Self { ways: ways as usize, sets: vec![Vec::new(); sets as usize] }
    }

    fn set(&mut self, number: u32) -> &mut Vec<(u32, T)> {
        let sets = self.sets.len() as u32;
        &mut self.sets[(number % sets) as usize]
    }

    /// Returns whether a line is there.
    pub fn has(&mut self, number: u32) -> bool {
        self.set(number).iter().any(|&(other, _)| other == number)
    }

    /// Returns the data of a line, which becomes the most recently used one of its set.
    pub fn touch(&mut self, number: u32) -> Option<&mut T> {
        let set = self.set(number);
        let place = set.iter().position(|&(other, _)| other == number)?;
        set[..=place].rotate_right(1);
        set.first_mut().map(|(_, data)| data)
    }

    /// Inserts a line that is not there in place of the least recently used one.
    pub fn insert(&mut self, number: u32, data: T) {
        let ways = self.ways;
        let set = self.set(number);
        set.truncate(ways - 1);
        set.insert(0, (number, data));
    }
}

/// Returns the number of the line of the instruction at a place in the code; both sizes are in bytes.
pub(super) fn line_of(place: u32, instruction: u32, line: u32) -> u32 {
    (u64::from(place) * u64::from(instruction) / u64::from(line)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recently_used_line_leaves() {
        let mut lines = CodeLines::new(1, 2);
        let mut touch = |place: u32| {
            let line = line_of(place, 8, 16);
            let found = lines.touch(line).is_some();
            if !found {
                lines.insert(line, ());
            }
            found
        };
        let hits: Vec<bool> = [0, 1, 2, 0, 4, 2, 0].into_iter().map(&mut touch).collect();
        assert_eq!(hits, [false, true, false, true, false, false, false]);
    }
}
