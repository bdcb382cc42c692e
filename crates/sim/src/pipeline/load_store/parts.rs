//! The division of the lines of an access into memory transactions.

/// The parts of a line, each of which is one transaction and consists of a number of 32-byte
/// sectors.
#[derive(Clone, Copy, Debug)]
pub(in crate::pipeline) struct Parts {
    /// The sectors of the first part, as a mask.
    first: u8,
    /// The binary logarithm of the number of sectors per part.
    shift: u32,
}

impl Parts {
    /// Creates parts of `bytes` bytes, a power of two.
    pub fn of(bytes: u32) -> Self {
        let sectors = (bytes / 32).max(1);
        Self { first: ((1u16 << sectors) - 1) as u8, shift: sectors.trailing_zeros() }
    }

    /// Returns the sectors that lie in the same part as this one, as a mask.
    #[inline]
    pub fn around(self, sector: u32) -> u8 {
        self.first << (sector >> self.shift << self.shift)
    }

    /// Returns the number of parts in which these sectors of a line lie.
    #[inline]
    pub fn count(self, mut sectors: u8) -> u32 {
        if self.shift == 0 {
            return sectors.count_ones();
        }
        let mut count = 0;
        while sectors != 0 {
            sectors &= !self.around(sectors.trailing_zeros());
            count += 1;
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sectors_go_in_parts_of_a_transaction() {
        let counts = |bytes| [0b0001, 0b0110, 0b1001, 0b1111].map(|sectors| Parts::of(bytes).count(sectors));
        assert_eq!(counts(32), [1, 2, 2, 4]);
        assert_eq!(counts(64), [1, 2, 2, 2]);
        assert_eq!(counts(128), [1, 1, 1, 1]);
        let around = [(1, 32), (1, 64), (2, 64), (2, 128)].map(|(n, bytes)| Parts::of(bytes).around(n));
        assert_eq!(around, [0b10, 0b11, 0b1100, 0b1111]);
    }
}
