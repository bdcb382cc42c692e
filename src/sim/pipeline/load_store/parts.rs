//! How memory transactions divide the lines of an access.

/// The parts of a line, of so many sectors of 32 bytes each, that are a transaction each.
#[derive(Clone, Copy, Debug)]
pub(in crate::sim::pipeline) struct Parts {
    /// The sectors of the first part, as a mask.
    first: u8,
    /// Sectors per part, as a power of two.
    shift: u32,
}

impl Parts {
    /// Parts of so many bytes, a power of two.
    pub fn of(bytes: u32) -> Self {
        let sectors = (bytes / 32).max(1);
        Self { first: ((1u16 << sectors) - 1) as u8, shift: sectors.trailing_zeros() }
    }

    /// The sectors that lie in the same part as this one, as a mask.
    #[inline]
    pub fn around(self, sector: u32) -> u8 {
        self.first << (sector >> self.shift << self.shift)
    }

    /// In how many parts these sectors of a line lie.
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
        let of = |bytes| [0b0001, 0b0110, 0b1001, 0b1111].map(|sectors| Parts::of(bytes).count(sectors));
        assert_eq!(of(32), [1, 2, 2, 4]);
        assert_eq!(of(64), [1, 2, 2, 2]);
        assert_eq!(of(128), [1, 1, 1, 1]);
        let around = [(1, 32), (1, 64), (2, 64), (2, 128)].map(|(n, bytes)| Parts::of(bytes).around(n));
        assert_eq!(around, [0b10, 0b11, 0b1100, 0b1111]);
    }
}
