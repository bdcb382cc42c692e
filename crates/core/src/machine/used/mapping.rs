//! The mapping of addresses to channels and slices.

use super::index::place_of;
use crate::machine::memory::{Index, LINE_BYTES, Partitions};

/// A divisor, nearly always a power of two.
#[derive(Clone, Copy, Debug)]
struct Divisor {
    by: u64,
    bits: Option<u32>,
}

impl Divisor {
    fn new(by: u32) -> Self {
        Self { by: by.into(), bits: by.is_power_of_two().then(|| by.trailing_zeros()) }
    }

    #[inline]
    fn quotient(self, number: u64) -> u64 {
        self.bits.map_or_else(|| number / self.by, |bits| number >> bits)
    }

    #[inline]
    fn remainder(self, number: u64) -> u64 {
        if self.bits.is_some() { number & (self.by - 1) } else { number % self.by }
    }
}

/// The mapping of addresses to channels, slices and lines of the L2. It is part of the description of
/// a machine: it contains no times.
#[derive(Clone, Copy, Debug)]
pub struct Mapping {
    channels: Divisor,
    slices: Divisor,
    channel_bit: u32,
    slice_bit: u32,
    spread: Index,
    /// The address bits above the slice number that take part in the hash.
    spread_by: u64,
    bits: u32,
    /// The binary logarithm of the size of a line of the L2.
    line_bits: u32,
    /// The number of all slices, if the number of channels is not a power of two: the hashed number
    /// may be beyond it.
    all: Option<u64>,
}

impl Mapping {
    /// Creates the mapping of these partitions.
    pub fn new(settings: &Partitions) -> Self {
        let hashed = settings.channels.next_power_of_two() * settings.slices;
        let all =
            (!settings.channels.is_power_of_two()).then_some(u64::from(settings.channels * settings.slices));
        Self {
            channels: Divisor::new(settings.channels),
            slices: Divisor::new(settings.slices),
            channel_bit: settings.channel_bit,
            slice_bit: settings.slice_bit,
            spread: settings.spread,
            spread_by: 1u64.checked_shl(settings.spread_bits).unwrap_or(0).wrapping_sub(1),
            bits: hashed.trailing_zeros(),
            line_bits: settings.l2.map_or(LINE_BYTES as u32, |l2| l2.line).trailing_zeros(),
            all,
        }
    }

    /// Returns whether each line of 128 bytes lies in one slice and is a line of the L2.
    pub fn keeps_lines(&self) -> bool {
        let line_bits = LINE_BYTES.trailing_zeros();
        self.channel_bit.min(self.slice_bit) >= line_bits && self.line_bits == line_bits
    }

    /// Returns the number of an address's slice; the slices are numbered channel by channel.
    #[inline]
    pub fn slice(&self, address: u64) -> usize {
        let channel = self.channels.remainder(address >> self.channel_bit);
        let slice = self.slices.remainder(self.inner(address) >> self.slice_bit);
        let number = channel * self.slices.by + slice;
        if self.spread == Index::Linear {
            return number as usize;
        }
        // the bits above those that select the slice determine the hash of its number
        match self.all {
            None => self.spread(number, address >> (self.channel_bit + self.bits)),
            Some(all) => {
                self.spread(number, self.channels.quotient(address >> self.channel_bit)) % all as usize
            }
        }
    }

    /// Hashes a slice's number with the bits above it.
    #[inline]
    fn spread(&self, number: u64, above: u64) -> usize {
        place_of((above & self.spread_by) << self.bits | number, self.bits, self.spread)
    }

    /// Returns the address within its channel.
    #[inline]
    pub fn inner(&self, address: u64) -> u64 {
        let low = address & ((1 << self.channel_bit) - 1);
        (self.channels.quotient(address >> self.channel_bit) << self.channel_bit) | low
    }

    /// Returns the number of a line of the L2 among those of its slice, for the sets of the L2.
    #[inline]
    pub fn line(&self, address: u64) -> u64 {
        let inner = self.inner(address);
        let low = inner & ((1 << self.slice_bit) - 1);
        ((self.slices.quotient(inner >> self.slice_bit) << self.slice_bit) | low) >> self.line_bits
    }
}

#[cfg(test)]
mod tests {
    use crate::machine::memory::CacheSettings;

    use super::*;

    fn mapping(channels: u32, slices: u32, spread: Index) -> Mapping {
        Mapping::new(&Partitions { channels, slices, spread, ..Partitions::default() })
    }

    #[test]
    fn lines_are_dealt_out_to_channels_and_slices() {
        let m = mapping(16, 2, Index::Linear);
        assert_eq!([0, 32, 128, 256, 384, 512].map(|a| m.slice(a)), [0, 0, 1, 2, 3, 4]);
        assert_eq!(m.slice(16 * 256), 0);
        assert_eq!(m.inner(16 * 256 + 128 + 5), 256 + 128 + 5);
        // the lines of one slice are numbered without gaps
        let of_slice_three = (0..512).map(|n| n * 128).filter(|&a| m.slice(a) == 3);
        assert!(of_slice_three.map(|a| m.line(a)).eq(0..16));
        // numbers of channels that are not powers of two
        let m = mapping(3, 1, Index::Linear);
        assert_eq!([0, 256, 512, 768].map(|a| m.slice(a)), [0, 1, 2, 0]);
        let of_channel_one = (0..60).map(|n| n * 128).filter(|&a| m.slice(a) == 1);
        assert!(of_channel_one.map(|a| m.line(a)).eq(0..20));
    }

    #[test]
    fn short_lines_of_a_slice_are_numbered_without_gaps() {
        for line in [32_u32, 64] {
            let l2 = Some(CacheSettings { line, ..CacheSettings::default() });
            let settings = Partitions {
                channels: 2,
                slices: 2,
                channel_bit: 6,
                slice_bit: 6,
                l2,
                ..Partitions::default()
            };
            let m = Mapping::new(&settings);
            let of_slice_one = (0..512).map(|n| n * u64::from(line)).filter(|&a| m.slice(a) == 1);
            assert!(of_slice_one.map(|a| m.line(a)).eq(0..128), "{line}");
        }
    }

    /// Compares the mapping to 12 slices with GPGPU-Sim 4.2, which applies its equations for 16
    /// slices and takes the result modulo 12.
    #[test]
    fn twelve_slices_use_the_hash_of_sixteen_modulo_twelve() {
        let settings = Partitions {
            channels: 6,
            slices: 2,
            spread: Index::Polynomial,
            spread_bits: 13,
            ..Partitions::default()
        };
        let m = Mapping::new(&settings);
        let theirs = |address: u64| {
            let (chip, above) = ((address >> 8) % 6, (address >> 8) / 6);
            let inner = above << 8 | address & 0xff;
            let b = chip * 2 + (inner >> 7 & 1);
            let xor = |bits: &[u32]| bits.iter().fold(0, |sum, &bit| sum ^ (above >> bit & 1));
            let hashed = (xor(&[11, 10, 9, 8, 6, 4, 3, 0]) ^ b & 1)
                | (xor(&[12, 8, 7, 6, 5, 3, 1, 0]) ^ b >> 1 & 1) << 1
                | (xor(&[9, 8, 7, 6, 4, 2, 1]) ^ b >> 2 & 1) << 2
                | (xor(&[10, 9, 8, 7, 5, 3, 2]) ^ b >> 3 & 1) << 3;
            (hashed % 12) as usize
        };
        for n in 0..20_000_u64 {
            let address = n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
            assert_eq!(m.slice(address), theirs(address), "{address:#x}");
        }
    }

    #[test]
    fn spreading_permutes_the_slices_of_each_row() {
        let m = mapping(16, 2, Index::Polynomial);
        for row in [0, 1, 77, 0x60000] {
            let mut seen = [0; 32];
            for line in 0..32 {
                seen[m.slice(row << 13 | line << 7)] += 1;
            }
            assert_eq!(seen, [1; 32], "row {row}");
        }
        let strided: std::collections::BTreeSet<_> = (0..32).map(|n| m.slice(n << 13)).collect();
        assert!(strided.len() > 16, "a stride of 8192 bytes meets {} slices", strided.len());
        // address bits beyond those that take part in the hash
        let narrow = Partitions {
            channels: 16,
            slices: 2,
            spread: Index::Polynomial,
            spread_bits: 15,
            ..Partitions::default()
        };
        let narrow = Mapping::new(&narrow);
        for address in (0..4096).map(|n| n * 128 * 37) {
            assert_eq!(narrow.slice(0xc000_0000 + address), m.slice(address));
        }
        assert_ne!(m.slice(0xc000_0000), m.slice(0));
    }
}
