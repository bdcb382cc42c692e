//! Bank conflicts of one access to shared memory.

use crate::base::{LaneMask, WARP_SIZE};
use crate::machine::{BankRule, Banks};

/// An address per lane.
type Lanes = [u64; WARP_SIZE];

/// Bytes of a word, which is what a bank delivers at a time.
const WORD: u64 = 4;
/// Words that the lanes of a warp touch at most: 8 each.
const MOST_WORDS: usize = 8 * WARP_SIZE;

/// Transactions beyond those of an access without conflicts: the most loaded bank's distinct words
/// less one, summed over the pools.
///
/// Each enabled lane accesses `bytes` bytes at its address, aligned to that.
pub fn extra_transactions(banks: Banks, addresses: &Lanes, bytes: usize, enabled: LaneMask) -> u8 {
    most_extra_transactions(banks, addresses, bytes, enabled, LaneMask::empty())
}

/// As [`extra_transactions`], at most: some or all of `enabled` access memory at their address, and some or all of
/// `anywhere` wherever it is worst.
pub fn most_extra_transactions(
    banks: Banks,
    addresses: &Lanes,
    bytes: usize,
    enabled: LaneMask,
    anywhere: LaneMask,
) -> u8 {
    let words_per_lane = match banks.rule {
        // its count looks at the first word only
        BankRule::Words => 1,
        BankRule::Pascal | BankRule::Turing => (bytes as u64).div_ceil(WORD),
    };
    let lanes_per_pool = WARP_SIZE / banks.pools(bytes);
    let mut words = [0; MOST_WORDS];
    let mut extra = 0;
    for first in (0..WARP_SIZE).step_by(lanes_per_pool) {
        let mut count = 0;
        for lane in (first..first + lanes_per_pool).filter(|&lane| enabled.has(lane)) {
            let word = addresses[lane] / WORD;
            for word in word..word + words_per_lane {
                words[count] = word;
                count += 1;
            }
        }
        let pool = (first..first + lanes_per_pool).filter(|&lane| anywhere.has(lane)).count() as u32;
        // a lane's words are side by side
        let to_one_bank = pool * (words_per_lane as u32).div_ceil(banks.count);
        extra += (most_loaded(banks.count, &mut words[..count]) + to_one_bank).saturating_sub(1);
    }
    // at most 255: 256 words in one bank, or 32 in each of 8 pools
    u8::try_from(extra).unwrap_or(u8::MAX)
}

/// Distinct words of the bank that has the most of them.
fn most_loaded(banks: u32, words: &mut [u64]) -> u32 {
    words.sort_unstable();
    let mut load = [0u32; Banks::MOST as usize];
    let mut most = 0;
    let mut before = None;
    for &word in words.iter() {
        if before.replace(word) != Some(word) {
            let load = &mut load[(word % u64::from(banks)) as usize];
            *load += 1;
            most = most.max(*load);
        }
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extra(rule: BankRule, bytes: usize, address: impl Fn(usize) -> u64, lanes: u32) -> u8 {
        let banks = Banks { rule, count: 32 };
        extra_transactions(banks, &std::array::from_fn(address), bytes, LaneMask::from_bits_retain(lanes))
    }

    #[test]
    fn strides_conflict_as_their_common_divisor_with_the_banks() {
        for rule in [BankRule::Pascal, BankRule::Turing, BankRule::Words] {
            for (stride, ways) in [(0, 1), (1, 1), (2, 2), (3, 1), (8, 8), (32, 32), (33, 1), (48, 16)] {
                let got = extra(rule, 4, |lane| 4 * stride * lane as u64, u32::MAX);
                assert_eq!(u32::from(got) + 1, ways, "{rule:?}, stride {stride}");
            }
            assert_eq!(extra(rule, 1, |lane| lane as u64, u32::MAX), 0, "bytes of the same words");
            assert_eq!(extra(rule, 4, |lane| 128 * lane as u64, 0), 0, "no lane");
        }
    }

    #[test]
    fn wide_accesses_differ_between_the_rules() {
        let consecutive = |bytes: usize| move |lane: usize| (bytes * lane) as u64;
        assert_eq!(extra(BankRule::Pascal, 8, consecutive(8), u32::MAX), 0);
        assert_eq!(extra(BankRule::Pascal, 16, consecutive(16), u32::MAX), 0);
        assert_eq!(extra(BankRule::Turing, 8, consecutive(8), u32::MAX), 1);
        assert_eq!(extra(BankRule::Turing, 16, consecutive(16), u32::MAX), 3);
        assert_eq!(extra(BankRule::Words, 8, consecutive(8), u32::MAX), 1, "base words are two apart");
        assert_eq!(extra(BankRule::Words, 16, consecutive(16), u32::MAX), 3);
    }

    #[test]
    fn the_largest_count_fits() {
        let one = |rule| Banks { rule, count: 1 };
        let apart: Lanes = std::array::from_fn(|lane| 32 * lane as u64);
        assert_eq!(extra_transactions(one(BankRule::Turing), &apart, 32, LaneMask::ALL), 255);
        assert_eq!(extra_transactions(one(BankRule::Pascal), &apart, 32, LaneMask::ALL), 8 * 31);
        assert_eq!(extra_transactions(one(BankRule::Words), &apart, 32, LaneMask::ALL), 31);
    }
}
