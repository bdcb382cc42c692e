//! A set of small numbers.

/// Numbers below a limit, a bit each.
#[derive(Clone, Debug)]
pub(super) struct Set {
    bits: Vec<u64>,
}

impl Set {
    /// Without members; those it will have are below `limit`.
    pub fn new(limit: usize) -> Self {
        Self { bits: vec![0; limit.div_ceil(64)] }
    }

    #[inline]
    pub fn insert(&mut self, member: usize) {
        self.bits[member / 64] |= 1 << (member % 64);
    }

    #[inline]
    pub fn remove(&mut self, member: usize) {
        self.bits[member / 64] &= !(1 << (member % 64));
    }

    /// The first member from `from` on.
    #[inline]
    pub fn next(&self, from: usize) -> Option<usize> {
        let mut word = from / 64;
        let mut bits = self.bits.get(word)? & u64::MAX << (from % 64);
        while bits == 0 {
            word += 1;
            bits = *self.bits.get(word)?;
        }
        Some(word * 64 + bits.trailing_zeros() as usize)
    }
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
}
