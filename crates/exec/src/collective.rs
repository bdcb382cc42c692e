//! Instructions by which the lanes of a warp exchange data.
//!
//! Every lane specifies the lanes that take part by its member mask. Enabled lanes with the same
//! mask form a group; lanes with different masks are independent of each other, like the tiles of
//! less than a warp that cooperative groups create. A mask that leaves out the lane that executes
//! the instruction has no meaning in PTX and is an error here. Members that are not enabled do not
//! take part. A lane that reads from a lane that does not take part gets the contents of the
//! register there.

use super::arith::{exact::F32, float, int};
use super::context::Context;
use super::fault::{self, Fault};
use super::lanes::{Lanes, map1, width_mask};
use super::warp::Warp;
use warpbound_core::base::{LaneMask, Pc, WARP_SIZE};
use warpbound_core::program::Sem;
use warpbound_core::program::sem::{
    FloatMode, FloatOp, IntOp, IntTy, Operand, Shuffle, ShuffleMode, VoteMode, jump, lanewise, memory,
    no_effect, ungrouped,
};

/// An iterator over the groups of lanes that take part together.
struct Groups {
    members: Lanes,
    left: LaneMask,
}

impl Iterator for Groups {
    type Item = LaneMask;

    fn next(&mut self) -> Option<LaneMask> {
        let first = self.left.lanes().next()?;
        let same = |lane: &usize| self.members[*lane] as u32 == self.members[first] as u32;
        let group = self
            .left
            .lanes()
            .filter(same)
            .fold(LaneMask::empty(), |group, lane| group | LaneMask::lane(lane));
        self.left.remove(group);
        Some(group)
    }
}

/// Returns the groups of an instruction; without member masks all enabled lanes form one.
///
/// # Errors
/// Returns an error if a lane is not a member of its own mask.
fn groups(
    warp: &Warp,
    context: &Context,
    pc: Pc,
    members: Option<Operand>,
    enabled: LaneMask,
) -> Result<Groups, Fault> {
    let members = members.map_or([u64::MAX; WARP_SIZE], |members| warp.operand(members, &context.shape));
    if let Some(lane) = enabled.lanes().find(|&lane| members[lane] >> lane & 1 == 0) {
        let mask = LaneMask::from_bits_retain(members[lane] as u32);
        let message = format!(
            "lane {lane} of warp {} is not in its own member mask {mask}: the result of the instruction is undefined",
            warp.id
        );
        let hint = "a lane may only execute a `.sync` instruction whose member mask names it";
        return Err(fault::at(context.program, pc, message, hint));
    }
    Ok(Groups { members, left: enabled })
}

/// Returns the lanes that WARPSYNC waits for: all that one of the enabled lanes names.
///
/// # Errors
/// Returns an error if a lane is not a member of its own mask.
pub(super) fn members(
    warp: &Warp,
    context: &Context,
    pc: Pc,
    members: Operand,
    enabled: LaneMask,
) -> Result<LaneMask, Fault> {
    let Groups { members, .. } = groups(warp, context, pc, Some(members), enabled)?;
    let named = |lane: usize| LaneMask::from_bits_retain(members[lane] as u32);
    Ok(enabled.lanes().fold(LaneMask::empty(), |all, lane| all | named(lane)))
}

/// Executes shuffles, votes, matches, reductions and barriers of a warp, and the query of its
/// active lanes.
///
/// # Errors
/// Returns an error if a lane is not a member of its own mask.
pub(super) fn execute(warp: &mut Warp, context: &Context, pc: Pc, enabled: LaneMask) -> Result<(), Fault> {
    match &context.program.instr(pc).sem {
        Sem::Shuffle(shuffle) => {
            groups(warp, context, pc, shuffle.members, enabled)?;
            shuffle_lanes(warp, context, shuffle, enabled);
        }
        Sem::Vote { mode, dst, p, members } => {
            let votes = warp.pred(*p);
            for group in groups(warp, context, pc, *members, enabled)? {
                let result = vote(*mode, votes, group);
                if *mode == VoteMode::Ballot {
                    warp.set(*dst, &[u64::from(result.bits()); WARP_SIZE], group);
                } else {
                    warp.set_pred(*dst, result, group);
                }
            }
        }
        Sem::Elect { leader, elected, p, members } => {
            let willing = warp.pred(*p);
            for group in groups(warp, context, pc, *members, enabled)? {
                let first = (group & willing).lanes().next();
                if let Some(leader) = leader {
                    warp.set(*leader, &[first.unwrap_or(0) as u64; WARP_SIZE], group);
                }
                if let Some(elected) = elected {
                    warp.set_pred(*elected, first.map_or(LaneMask::empty(), LaneMask::lane), group);
                }
            }
        }
        Sem::Match { all, bits, dst, pred, src, members } => {
            let values = warp.operand(*src, &context.shape);
            for group in groups(warp, context, pc, Some(*members), enabled)? {
                let (value, holds) = if *all {
                    let agreed = match_all(&values, u32::from(*bits), group);
                    let mask = agreed.unwrap_or(LaneMask::empty());
                    ([u64::from(mask.bits()); WARP_SIZE], if agreed.is_some() { LaneMask::ALL } else { mask })
                } else {
                    (match_any(&values, u32::from(*bits), group), LaneMask::ALL)
                };
                warp.set(*dst, &value, group);
                if let Some(pred) = pred {
                    warp.set_pred(*pred, holds, group);
                }
            }
        }
        Sem::ReduceFloat { largest, magnitude, nan, dst, src, members } => {
            let mode = FloatMode { nan: *nan, ..FloatMode::default() };
            let op = if *largest { FloatOp::Max } else { FloatOp::Min };
            let keep = if *magnitude { !F32.sign() } else { u64::MAX };
            // each number is combined with itself, so that the result is in canonical form even if
            // only one lane takes part
            let values = map1(&warp.operand(*src, &context.shape), |v| {
                float::scalar(op, F32, mode, [v & keep, v & keep, 0])
            });
            for group in groups(warp, context, pc, Some(*members), enabled)? {
                let all = group.lanes().map(|lane| values[lane]);
                let value = all.reduce(|x, y| float::scalar(op, F32, mode, [x, y, 0])).unwrap_or(0);
                warp.set(*dst, &[value; WARP_SIZE], group);
            }
        }
        Sem::Reduce { op, ty, dst, src, members } => {
            let values = warp.operand(*src, &context.shape);
            for group in groups(warp, context, pc, Some(*members), enabled)? {
                let value = reduce(*op, *ty, &values, group);
                warp.set(*dst, &[value; WARP_SIZE], group);
            }
        }
        Sem::WarpSync { members } => {
            groups(warp, context, pc, Some(*members), enabled)?;
        }
        Sem::Together { dst, members } => {
            let members = self::members(warp, context, pc, *members, enabled)?;
            let together = enabled.contains(members & warp.stack.live());
            warp.set_pred(*dst, if together { LaneMask::ALL } else { LaneMask::empty() }, enabled);
        }
        Sem::ActiveMask { dst } => warp.set(*dst, &[u64::from(enabled.bits()); WARP_SIZE], enabled),
        lanewise!() | memory!() | no_effect!() | jump!() | ungrouped!() => {
            unreachable!("the lanes of these exchange nothing")
        }
    }
    Ok(())
}

fn shuffle_lanes(warp: &mut Warp, context: &Context, shuffle: &Shuffle, enabled: LaneMask) {
    let a = warp.operand(shuffle.a, &context.shape);
    let b = warp.operand(shuffle.b, &context.shape);
    let c = warp.operand(shuffle.c, &context.shape);
    let (value, in_range) = self::shuffle(shuffle.mode, &a, &b, &c);
    warp.set(shuffle.dst, &value, enabled);
    if let Some(pred) = shuffle.pred {
        warp.set_pred(pred, in_range, enabled);
    }
}

/// Computes `shfl`: the value that each lane gets, and the lanes whose source was in range.
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

/// Computes `vote`: for `Ballot` the votes themselves, otherwise all lanes if the result holds, and
/// none if it does not.
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

/// Computes `match.any`: for each lane the lanes that hold the same value.
pub(super) fn match_any(values: &Lanes, bits: u32, taking_part: LaneMask) -> Lanes {
    let width = width_mask(bits);
    std::array::from_fn(|lane| {
        let equal = taking_part.lanes().filter(|&other| (values[other] ^ values[lane]) & width == 0);
        equal.fold(0, |mask, other| mask | 1 << other)
    })
}

/// Computes `match.all`: the lanes, if they all hold the same value.
pub(super) fn match_all(values: &Lanes, bits: u32, taking_part: LaneMask) -> Option<LaneMask> {
    let width = width_mask(bits);
    let first = taking_part.lanes().next()?;
    taking_part.lanes().all(|lane| (values[lane] ^ values[first]) & width == 0).then_some(taking_part)
}

/// Computes `redux`: the combined values of the lanes.
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

    /// Computes the result in one lane by the pseudo-code of the PTX ISA, in signed numbers.
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
