//! Instructions in which the lanes of a warp see each other.
//!
//! The lanes that take part are the enabled ones among the members. A lane that reads one that
//! does not take part gets what is in that lane's register.

use super::arith::int;
use super::lanes::{Lanes, width_mask};
use crate::base::{LaneMask, WARP_SIZE};
use crate::program::sem::{IntOp, IntTy, ShuffleMode, VoteMode};

/// `shfl`: the value each lane gets, and the lanes whose source was in range.
pub(super) fn shuffle(mode: ShuffleMode, a: &Lanes, b: &Lanes, c: &Lanes) -> (Lanes, LaneMask) {
    let mut in_range = LaneMask::empty();
    let value = std::array::from_fn(|lane| {
        let (amount, clamp) = ((b[lane] & 31) as usize, (c[lane] & 31) as usize);
        let segment = (c[lane] >> 8 & 31) as usize;
        let lowest = lane & segment;
        let highest = lowest | clamp & !segment & 31;
        let (source, holds) = match mode {
            // upwards the clamp is a lower limit
            ShuffleMode::Up => match lane.checked_sub(amount) {
                Some(source) => (source, source >= highest),
                None => (lane, false),
            },
            ShuffleMode::Down => (lane + amount, lane + amount <= highest),
            ShuffleMode::Bfly => (lane ^ amount, lane ^ amount <= highest),
            ShuffleMode::Idx => {
                let source = lowest | amount & !segment;
                (source, source <= highest)
            }
        };
        if holds && source < WARP_SIZE {
            in_range |= LaneMask::lane(lane);
            a[source]
        } else {
            a[lane]
        }
    });
    (value, in_range)
}

/// `vote`: the mask of lanes in which the result holds is all or none, for `Ballot` the votes.
pub(super) fn vote(mode: VoteMode, votes: LaneMask, taking_part: LaneMask) -> LaneMask {
    let votes = votes & taking_part;
    let verdict = match mode {
        VoteMode::Ballot => return votes,
        VoteMode::All => votes == taking_part,
        VoteMode::Any => !votes.is_empty(),
        VoteMode::Uni => votes == taking_part || votes.is_empty(),
    };
    if verdict { LaneMask::ALL } else { LaneMask::empty() }
}

/// `match.any`: per lane the lanes that hold the same value.
pub(super) fn match_any(values: &Lanes, bits: u32, taking_part: LaneMask) -> Lanes {
    let width = width_mask(bits);
    std::array::from_fn(|lane| {
        let equal = taking_part.lanes().filter(|&other| (values[other] ^ values[lane]) & width == 0);
        equal.fold(0, |mask, other| mask | 1 << other)
    })
}

/// `match.all`: the lanes, if they all hold the same value.
pub(super) fn match_all(values: &Lanes, bits: u32, taking_part: LaneMask) -> Option<LaneMask> {
    let width = width_mask(bits);
    let first = taking_part.lanes().next()?;
    taking_part.lanes().all(|lane| (values[lane] ^ values[first]) & width == 0).then_some(taking_part)
}

/// `redux`: the values of the lanes combined.
pub(super) fn reduce(op: IntOp, ty: IntTy, values: &Lanes, taking_part: LaneMask) -> u64 {
    let all = taking_part.lanes().map(|lane| values[lane]);
    all.reduce(|x, y| int::scalar(op, ty, false, [x, y, 0, 0])).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shuffled(mode: ShuffleMode, b: u64, c: u64) -> (Vec<u64>, u32) {
        let own = std::array::from_fn(|lane| lane as u64);
        let (value, in_range) = shuffle(mode, &own, &[b; WARP_SIZE], &[c; WARP_SIZE]);
        (value.to_vec(), in_range.bits())
    }

    /// The PTX ISA's pseudo-code, in signed numbers.
    fn reference(mode: ShuffleMode, lane: i64, b: i64, c: i64) -> (i64, bool) {
        let (bval, cval, mask) = (b & 31, c & 31, c >> 8 & 31);
        let max = (lane & mask) | (cval & !mask);
        let min = lane & mask;
        let (j, p) = match mode {
            ShuffleMode::Up => (lane - bval, lane - bval >= max),
            ShuffleMode::Down => (lane + bval, lane + bval <= max),
            ShuffleMode::Bfly => (lane ^ bval, lane ^ bval <= max),
            ShuffleMode::Idx => (min | (bval & !mask), (min | (bval & !mask)) <= max),
        };
        (if p { j } else { lane }, p)
    }

    #[test]
    fn shuffles_follow_the_pseudo_code() {
        let modes = [ShuffleMode::Up, ShuffleMode::Down, ShuffleMode::Bfly, ShuffleMode::Idx];
        for mode in modes {
            for b in 0..40 {
                for c in
                    (0..32).flat_map(|clamp| [0, 0x0800, 0x1000, 0x1800, 0x1c00, 0x1f00].map(|s| s | clamp))
                {
                    let (values, in_range) = shuffled(mode, b, c);
                    for (lane, &value) in values.iter().enumerate() {
                        let (source, holds) = reference(mode, lane as i64, b as i64, c as i64);
                        assert_eq!(value, source as u64, "{mode:?} {b} {c:#x} lane {lane}");
                        assert_eq!(in_range >> lane & 1 == 1, holds, "{mode:?} {b} {c:#x} lane {lane}");
                    }
                }
            }
        }
    }

    #[test]
    fn votes_count_those_who_take_part() {
        let mask = LaneMask::from_bits_retain;
        let holds = |mode, votes, part| !vote(mode, mask(votes), mask(part)).is_empty();
        assert!(holds(VoteMode::All, 0b0111, 0b0011) && !holds(VoteMode::All, 0b0101, 0b0011));
        assert!(holds(VoteMode::Any, 0b0101, 0b0011) && !holds(VoteMode::Any, 0b0100, 0b0011));
        assert!(holds(VoteMode::Uni, 0b0100, 0b0011) && !holds(VoteMode::Uni, 0b0001, 0b0011));
        assert_eq!(vote(VoteMode::Ballot, mask(0b1101), mask(0b0111)).bits(), 0b0101);
    }

    #[test]
    fn matches_and_reductions() {
        let values: Lanes = std::array::from_fn(|lane| (lane as u64 % 3) | (lane as u64) << 32);
        let part = LaneMask::first(6);
        assert_eq!(match_any(&values, 32, part)[1], 0b010010);
        assert_eq!(match_any(&values, 64, part)[1], 0b000010);
        assert_eq!(match_all(&values, 32, part), None);
        assert_eq!(match_all(&[7; 32], 32, part), Some(part));
        let ty = IntTy { bits: 32, signed: true };
        let signed: Lanes = std::array::from_fn(|lane| u64::from((lane as i32 - 3) as u32));
        assert_eq!(reduce(IntOp::Add, ty, &signed, part) as u32 as i32, -3);
        assert_eq!(reduce(IntOp::Min, ty, &signed, part) as u32 as i32, -3);
        assert_eq!(reduce(IntOp::Max, ty, &signed, part), 2);
    }
}
