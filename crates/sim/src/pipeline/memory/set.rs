//! Sets of small numbers.

/// A set of numbers below a limit, one bit each.
#[derive(Clone, Debug)]
pub(super) struct Set {
    bits: Vec<u64>,
}

impl Set {
    /// Creates an empty set for numbers below `limit`.
    pub fn new(limit: usize) -> Self {
        Self { bits: vec![0; limit.div_ceil(64)] }
    }

    #[inline(always)]
    pub fn insert(&mut self, member: usize) {
        self.bits[member / 64] |= 1 << (member % 64);
    }

    #[inline(always)]
    pub fn remove(&mut self, member: usize) {
        self.bits[member / 64] &= !(1 << (member % 64));
    }

    #[inline(always)]
    pub fn has(&self, member: usize) -> bool {
        self.bits[member / 64] >> (member % 64) & 1 == 1
    }

    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.bits.iter().all(|&word| word == 0)
    }

    /// Returns the first member from `from` on.
    #[inline(always)]
    pub fn next(&self, from: usize) -> Option<usize> {
        next(&self.bits, from)
    }
}

/// An array of such sets.
#[derive(Clone, Debug)]
pub(super) struct Sets {
    words: usize,
    bits: Vec<u64>,
}

impl Sets {
    /// Creates `count` empty sets for numbers below `limit`.
    pub fn new(count: usize, limit: usize) -> Self {
        let words = limit.div_ceil(64);
        Self { words, bits: vec![0; count * words] }
    }

    #[inline(always)]
    pub fn insert(&mut self, set: usize, member: usize) {
        self.bits[set * self.words + member / 64] |= 1 << (member % 64);
    }

    /// Removes a member, and returns whether the set is empty afterwards.
    #[inline(always)]
    pub fn remove(&mut self, set: usize, member: usize) -> bool {
        if self.words == 1 {
            self.bits[set] &= !(1 << (member % 64));
            return self.bits[set] == 0;
        }
        let words = &mut self.bits[set * self.words..][..self.words];
        words[member / 64] &= !(1 << (member % 64));
        words.iter().all(|&word| word == 0)
    }

    /// Returns the first member of a set from `from` on, wrapping around to 0.
    #[inline(always)]
    pub fn next_around(&self, set: usize, from: usize) -> Option<usize> {
        if self.words == 1 {
            let all = self.bits[set];
            let after = if from < 64 { all & u64::MAX << from } else { 0 };
            let bits = if after != 0 { after } else { all };
            return (bits != 0).then(|| bits.trailing_zeros() as usize);
        }
        let words = &self.bits[set * self.words..][..self.words];
        next(words, from).or_else(|| next(words, 0))
    }
}

/// Returns the first member from `from` on of the set with these bits.
#[inline(always)]
fn next(words: &[u64], from: usize) -> Option<usize> {
    let mut word = from / 64;
    let mut bits = words.get(word)? & u64::MAX << (from % 64);
    while bits == 0 {
        word += 1;
        bits = *words.get(word)?;
    }
    Some(word * 64 + bits.trailing_zeros() as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_found_in_order() {
        let mut set = Set::new(130);
        for member in [129, 3, 64, 3] {
            set.insert(member);
        }
        let members = |set: &Set| {
            let next = |&last: &usize| set.next(last + 1);
            std::iter::successors(set.next(0), next).collect::<Vec<_>>()
        };
        assert_eq!(members(&set), [3, 64, 129]);
        set.remove(64);
        assert_eq!((members(&set), set.next(130), set.next(1000)), (vec![3, 129], None, None));
    }

    #[test]
    fn sets_side_by_side_have_their_own_members() {
        let mut sets = Sets::new(3, 130);
        for (set, member) in [(0, 129), (1, 3), (1, 64)] {
            sets.insert(set, member);
        }
        assert_eq!([0, 4, 65].map(|from| sets.next_around(1, from)), [Some(3), Some(64), Some(3)]);
        assert!(!sets.remove(1, 64) && sets.remove(1, 3) && sets.next_around(1, 0).is_none());
        assert_eq!(sets.next_around(0, 2), Some(129));
    }
}
