//! Bank conflicts of an access to shared memory.

use crate::base::{LaneMask, WARP_SIZE};
use crate::machine::{AtomicRule, BankRule, Banks};

/// One address per lane.
type Lanes = [u64; WARP_SIZE];

/// The size in bytes of a word, which a bank delivers at a time.
const WORD: u64 = 4;
/// The maximum number of words that the lanes of a warp access: 8 per lane.
const MAX_WORDS: usize = 8 * WARP_SIZE;

/// Returns the number of transactions beyond those of an access without conflicts: for each pool,
/// the number of distinct words of the most loaded bank minus one, summed over the pools. For an atomic
/// ([`AtomicRule::Lanes`]), a word may count for each lane that accesses it.
///
/// Each enabled lane accesses `bytes` bytes at its address, which is aligned to that size.
#[inline]
pub fn extra_transactions(
    banks: Banks,
    addresses: &Lanes,
    bytes: usize,
    enabled: LaneMask,
    is_atomic: bool,
) -> u8 {
    most_extra_transactions(banks, addresses, bytes, (enabled, LaneMask::empty()), is_atomic)
}

/// Returns an upper bound of [`extra_transactions`] for an access in which any subset of `enabled`
/// accesses its addresses, and any subset of `anywhere` accesses arbitrary addresses.
pub fn most_extra_transactions(
    banks: Banks,
    addresses: &Lanes,
    bytes: usize,
    (enabled, anywhere): (LaneMask, LaneMask),
    is_atomic: bool,
) -> u8 {
    let by_lane = is_atomic && banks.atomics == AtomicRule::Lanes;
    let words_per_lane = match banks.rule {
        // GPGPU-Sim counts only the first word of each lane
        BankRule::Words => 1,
        BankRule::Pascal | BankRule::Turing => (bytes as u64).div_ceil(WORD),
    };
    let lanes_per_pool = WARP_SIZE / banks.pools(bytes);
    let mut extra = 0;
    for first in (0..WARP_SIZE).step_by(lanes_per_pool) {
        let pool = LaneMask::from_bits_retain(u32::MAX >> (WARP_SIZE - lanes_per_pool) << first);
        let load = if by_lane {
            most_loaded_by_lanes(banks.count, addresses, enabled & pool, words_per_lane)
        } else if words_per_lane == 1 {
            most_loaded::<WARP_SIZE>(banks.count, addresses, enabled & pool, 1)
        } else {
            most_loaded::<MAX_WORDS>(banks.count, addresses, enabled & pool, words_per_lane)
        };
        // the words of a lane are adjacent
        let to_one_bank =
            (anywhere & pool).bits().count_ones() * (words_per_lane as u32).div_ceil(banks.count);
        extra += (load + to_one_bank).saturating_sub(1);
    }
    // at most 255: 256 words in one bank, or 32 in each of 8 pools
    u8::try_from(extra).unwrap_or(u8::MAX)
}

/// Returns the number of distinct words of the most loaded bank for common patterns of words: all
/// words, or those of each half, are equally spaced, possibly after the removal of consecutive
/// duplicates. Returns `None` for other patterns. The number of banks must be a power of two.
fn most_loaded_in_pattern(banks: u64, addresses: &Lanes) -> Option<u32> {
    let mut words: Lanes = addresses.map(|address| address / WORD);
    if let Some(most) = most_loaded_with_stride(banks, &words) {
        return Some(most);
    }
    let (first, second) = words.split_at(WARP_SIZE / 2);
    if first == second {
        return most_loaded_with_stride(banks, first);
    }
    let mut count = 1;
    for lane in 1..WARP_SIZE {
        let word = words[lane];
        // this overwrites only words that have been read already
        words[count % WARP_SIZE] = word;
        count += usize::from(word != words[count - 1]);
    }
    most_loaded_with_stride(banks, &words[..count])
}

/// Returns the number of distinct words of the most loaded bank if the words are equally spaced.
fn most_loaded_with_stride(banks: u64, words: &[u64]) -> Option<u32> {
    let [first, second, ..] = *words else { return Some(words.len() as u32) };
    let step = second.wrapping_sub(first);
    let differ = words.iter().zip(&words[1..]).fold(0, |differ, (a, b)| differ | (b.wrapping_sub(*a) ^ step));
    if differ != 0 {
        return None;
    }
    if step == 0 {
        return Some(1);
    }
    // the first `apart` words lie in different banks, and the following ones repeat these banks
    let apart = banks >> step.trailing_zeros().min(banks.trailing_zeros());
    Some((words.len() as u64).div_ceil(apart) as u32)
}

/// Returns the number of distinct words of the most loaded bank; the lanes access at most `MOST`
/// words.
fn most_loaded<const MOST: usize>(
    banks: u32,
    addresses: &Lanes,
    lanes: LaneMask,
    words_per_lane: u64,
) -> u32 {
    let banks = u64::from(banks);
    if MOST == WARP_SIZE
        && lanes == LaneMask::ALL
        && banks.is_power_of_two()
        && let Some(most) = most_loaded_in_pattern(banks, addresses)
    {
        return most;
    }
    // the usual case, which needs no division
    let mask = if banks.is_power_of_two() { Some(banks - 1) } else { None };
    // The words of a bank form a linked list, the most recent first; 0 means no word, and n the
    // n-th word.
    let mut last = [0u16; Banks::MOST as usize];
    let mut load = [0u16; Banks::MOST as usize];
    let (mut words, mut before) = ([0u64; MOST], [0u16; MOST]);
    let (mut count, mut most) = (0, 0);
    for lane in lanes.lanes() {
        let word = addresses[lane] / WORD;
        for word in word..word + words_per_lane {
            let bank = mask.map_or_else(|| word % banks, |mask| word & mask) as usize;
            let mut other = last[bank];
            while other != 0 && words[usize::from(other) - 1] != word {
                other = before[usize::from(other) - 1];
            }
            if other == 0 {
                (words[count], before[count]) = (word, last[bank]);
                count += 1;
                last[bank] = count as u16;
                load[bank] += 1;
                most = most.max(load[bank]);
            }
        }
    }
    u32::from(most)
}

/// Returns the number of words of the most loaded bank if a word counts for each lane that accesses it.
fn most_loaded_by_lanes(banks: u32, addresses: &Lanes, lanes: LaneMask, words_per_lane: u64) -> u32 {
    let mut load = [0; Banks::MOST as usize];
    let words = lanes.lanes().flat_map(|lane| {
        let word = addresses[lane] / WORD;
        word..word + words_per_lane
    });
    words.for_each(|word| load[(word % u64::from(banks)) as usize] += 1);
    load.into_iter().max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extra(rule: BankRule, bytes: usize, address: impl Fn(usize) -> u64, lanes: u32) -> u8 {
        let banks = Banks { rule, count: 32, atomics: AtomicRule::Lanes };
        let lanes = LaneMask::from_bits_retain(lanes);
        extra_transactions(banks, &std::array::from_fn(address), bytes, lanes, false)
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

    /// Compares the count with one that uses sets of words.
    #[test]
    fn the_most_loaded_bank_counts() {
        let mut state = 1u64;
        let mut draw = move |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        for round in 0..3000 {
            let rule = [BankRule::Pascal, BankRule::Turing, BankRule::Words][round % 3];
            let atomics = [AtomicRule::Words, AtomicRule::Lanes][round / 3 % 2];
            let banks = Banks { rule, count: [1, 3, 16, 32, 33, 64][draw(6) as usize], atomics };
            let bytes = [1, 4, 8, 16][draw(4) as usize];
            let span = [2, 40, 2000][draw(3) as usize];
            let (step, every) = (draw(70).wrapping_sub(20), [1, 2, 3, 8, 16, 32][draw(6) as usize]);
            let (again, odd) = ([8, 16, 32][draw(3) as usize], draw(3 * WARP_SIZE as u64));
            let drawn = draw(2) == 0;
            let addresses: Lanes = std::array::from_fn(|lane| {
                let lane = lane as u64;
                let steps = (lane % again / every).wrapping_mul(step).wrapping_add(10_000);
                (if drawn || lane == odd { draw(span) } else { steps }) * bytes
            });
            let some = LaneMask::from_bits_retain(draw(1 << 32) as u32);
            let lanes = if draw(2) == 0 { LaneMask::ALL } else { some };
            let per_lane = if rule == BankRule::Words { 1 } else { bytes.div_ceil(WORD) };
            let lanes_per_pool = WARP_SIZE / banks.pools(bytes as usize);
            for is_atomic in [false, true] {
                let by_lane = is_atomic && atomics == AtomicRule::Lanes;
                let mut expected = 0;
                for first in (0..WARP_SIZE).step_by(lanes_per_pool) {
                    let mut of_bank = vec![std::collections::BTreeSet::new(); banks.count as usize];
                    for lane in (first..first + lanes_per_pool).filter(|&lane| lanes.has(lane)) {
                        let word = addresses[lane] / WORD;
                        (word..word + per_lane).for_each(|word| {
                            let by = if by_lane { lane } else { 0 };
                            of_bank[(word % u64::from(banks.count)) as usize].insert((word, by));
                        });
                    }
                    expected += of_bank.iter().map(|words| words.len()).max().unwrap().saturating_sub(1);
                }
                let got = extra_transactions(banks, &addresses, bytes as usize, lanes, is_atomic);
                assert_eq!(usize::from(got), expected, "{banks:?}, {bytes} bytes, {addresses:?}");
            }
        }
    }

    #[test]
    fn the_largest_count_fits() {
        let one = |rule| Banks { rule, count: 1, atomics: AtomicRule::Words };
        let apart: Lanes = std::array::from_fn(|lane| 32 * lane as u64);
        assert_eq!(extra_transactions(one(BankRule::Turing), &apart, 32, LaneMask::ALL, false), 255);
        assert_eq!(extra_transactions(one(BankRule::Pascal), &apart, 32, LaneMask::ALL, false), 8 * 31);
        assert_eq!(extra_transactions(one(BankRule::Words), &apart, 32, LaneMask::ALL, true), 31);
    }
}
