//! Integer operations.

use super::super::lanes::{Lanes, sign_extend, width_mask};
use super::bits;
use warpbound_core::base::{LaneMask, WARP_SIZE};
use warpbound_core::program::sem::{HalvesOp, IntOp, IntTy, Mbarrier};

/// Returns the result of an operation in every lane.
pub(crate) fn lanes(op: IntOp, ty: IntTy, saturate: bool, [a, b, c, d]: [&Lanes; 4]) -> Lanes {
    std::array::from_fn(|lane| scalar(op, ty, saturate, [a[lane], b[lane], c[lane], d[lane]]))
}

/// Returns the result of an operation in one lane.
///
/// Division by zero, which PTX leaves to the machine, gives all ones, and so does the remainder:
/// NVIDIA's assembler selects these values from sm_61 to sm_90. The smallest number divided by -1
/// is itself, with remainder 0.
pub(crate) fn scalar(op: IntOp, ty: IntTy, saturate: bool, [a, b, c, d]: [u64; 4]) -> u64 {
    let width = u32::from(ty.bits);
    let mask = width_mask(width);
    let wide_mask = width_mask(2 * width);
    // the operands, interpreted by the type
    let number = |v: u64| if ty.signed { i128::from(sign_extend(v, width)) } else { i128::from(v & mask) };
    let wide = |v: u64| {
        if ty.signed { i128::from(sign_extend(v, 2 * width)) } else { i128::from(v & wide_mask) }
    };
    let (x, y, z) = (number(a), number(b), number(c));
    // a product of 64-bit numbers fits in 128 bits, but an unsigned one may not fit in an `i128`;
    // wrapping gives the right 128 bits
    let product = || x.wrapping_mul(y);
    let high = |p: i128| (p as u128 >> width) as u64;
    let product24 = || low24(a, ty.signed) * low24(b, ty.signed);
    // `>>` of 128 bits keeps the sign if the product has one
    let high24 = || i128::from(product24() >> 16);
    let clamp = |exact: i128| if saturate { clamped(exact, ty) } else { exact as u64 };
    let result = match op {
        IntOp::Add => clamp(x + y),
        IntOp::Sub => clamp(x - y),
        IntOp::MulLo => product() as u64,
        IntOp::MulHi => high(product()),
        IntOp::MulWide => return product() as u64 & wide_mask,
        IntOp::MadLo => product().wrapping_add(z) as u64,
        IntOp::MadHi => clamp(i128::from(sign_or_zero(high(product()), ty)) + z),
        IntOp::MadWide => return product().wrapping_add(wide(c)) as u64 & wide_mask,
        IntOp::Mul24Lo => product24() as u64,
        IntOp::Mul24Hi => high24() as u64,
        IntOp::Mad24Lo => (product24() as u64).wrapping_add(c),
        IntOp::Mad24Hi => clamp(i128::from(sign_or_zero(high24() as u64, ty)) + z),
        IntOp::Sad => (c).wrapping_add((x - y).unsigned_abs() as u64),
        IntOp::Div if y == 0 => mask,
        IntOp::Div => (x / y) as u64,
        IntOp::Rem if y == 0 => mask,
        IntOp::Rem => (x % y) as u64,
        IntOp::Abs => x.unsigned_abs() as u64,
        IntOp::Neg => 0u64.wrapping_sub(a),
        IntOp::Min => x.min(y) as u64,
        IntOp::Max => x.max(y) as u64,
        IntOp::And => a & b,
        IntOp::Or => a | b,
        IntOp::Xor => a ^ b,
        IntOp::Not => !a,
        IntOp::Cnot => u64::from(a & mask == 0),
        IntOp::Shl => (a & mask).checked_shl(shift_amount(b, width)).unwrap_or(0),
        IntOp::Shr => (x >> shift_amount(b, width)) as u64,
        IntOp::FunnelLeft { wrap } => bits::funnel_left(a, b, c, wrap),
        IntOp::FunnelRight { wrap } => bits::funnel_right(a, b, c, wrap),
        IntOp::Lop3(table) => bits::lop3(a, b, c, table),
        IntOp::Popc => u64::from((a & mask).count_ones()),
        IntOp::Clz => u64::from((a & mask).leading_zeros() + width - 64),
        IntOp::Bfind { shift_amount } => return bits::find_highest(a, width, ty.signed, shift_amount),
        IntOp::Brev => a.reverse_bits() >> (64 - width),
        IntOp::Bfe => bits::extract(a, b, c, width, ty.signed),
        IntOp::PendingCount => {
            let bits = Mbarrier::PENDING_BITS;
            (a >> Mbarrier::PENDING_AT & width_mask(bits)).wrapping_neg() & width_mask(bits)
        }
        IntOp::Bfi => bits::insert(a, b, c, d, width),
        IntOp::Prmt(mode) => bits::permute(a, b, c, mode),
        IntOp::Bmsk { wrap } => bits::mask(a, b, wrap),
        IntOp::Szext { wrap } => bits::extract(a, 0, bits::limited(b, wrap).into(), width, ty.signed),
        IntOp::Fns => bits::find_nth_set(a, b, c),
        IntOp::Xmad(xmad) => u64::from(xmad.of(a as u32, b as u32, c as u32)),
        IntOp::MinRelu => x.min(y).max(0) as u64,
        IntOp::MaxRelu => x.max(y).max(0) as u64,
        IntOp::Halves { op, relu } => halves(op, ty.signed, relu, a, b),
        IntOp::PackClamped { bits } => pack_clamped(IntTy { bits, signed: ty.signed }, [a, b, c]),
        IntOp::Dp4a { a_signed, b_signed } => bits::dot4(a, b, c, a_signed, b_signed),
        IntOp::Dp2a { a_signed, b_signed, high } => bits::dot2(a, b, c, a_signed, b_signed, high),
    };
    result & mask
}

/// Performs an operation on both halves of words.
fn halves(op: HalvesOp, signed: bool, relu: bool, a: u64, b: u64) -> u64 {
    let half_at = |shift: u32| {
        let number = |word: u64| {
            let half = word >> shift & 0xffff;
            if signed { sign_extend(half, 16) } else { half as i64 }
        };
        let (x, y) = (number(a), number(b));
        let value = match op {
            HalvesOp::Add => x + y,
            HalvesOp::Min => x.min(y),
            HalvesOp::Max => x.max(y),
        };
        (if relu { value.max(0) } else { value }) as u64 & 0xffff
    };
    half_at(0) | half_at(16) << 16
}

/// Packs two 32-bit numbers, clamped to a type, into the low bits, below the low bits of `c`.
fn pack_clamped(ty: IntTy, [a, b, c]: [u64; 3]) -> u64 {
    let bits = u32::from(ty.bits);
    let part = |value: u64| clamped(sign_extend(value, 32).into(), ty) & width_mask(bits);
    part(b) | part(a) << bits | c << (2 * bits)
}

fn shift_amount(amount: u64, width: u32) -> u32 {
    (amount as u32).min(width)
}

/// Returns the low 24 bits, as `mul24` reads them.
fn low24(value: u64, signed: bool) -> i64 {
    if signed { sign_extend(value, 24) } else { (value & width_mask(24)) as i64 }
}

/// Returns a number of a type, extended to 64 bits.
fn sign_or_zero(value: u64, ty: IntTy) -> i64 {
    let width = u32::from(ty.bits);
    if ty.signed { sign_extend(value, width) } else { (value & width_mask(width)) as i64 }
}

/// Clamps a number to the range of the type.
fn clamped(exact: i128, ty: IntTy) -> u64 {
    let (least, most) = range(ty);
    exact.clamp(least, most) as u64
}

/// Returns the smallest and the largest number of a type.
pub(crate) fn range(ty: IntTy) -> (i128, i128) {
    let span = 1i128 << ty.bits;
    if ty.signed { (-span / 2, span / 2 - 1) } else { (0, span - 1) }
}

/// Performs an operation of a carry chain, and returns the result and the carry out.
///
/// The carry of a difference is that of `a + !b + 1`, which is set if nothing was borrowed, and
/// `subc` borrows if it is clear. The PTX ISA (9.7.2) calls it a borrow, which is equivalent
/// wherever `subc` follows `sub.cc`. It is not equivalent where `addc` reads the carry of `sub.cc`,
/// or `subc` that of `add.cc`: NVIDIA's assembler computes all of them as sums with one flag
/// (IADD.X with an inverted source on sm_61, IADD3.X with the same predicate on sm_90).
///
/// `mad.hi` adds the carry to the upper half of the product, as `madc.hi` does.
pub(crate) fn with_carry(
    op: IntOp,
    ty: IntTy,
    [a, b, c]: [&Lanes; 3],
    carry_in: Option<LaneMask>,
) -> (Lanes, LaneMask) {
    // a difference that begins a chain borrows nothing
    let carry_in = carry_in.unwrap_or(if op == IntOp::Sub { LaneMask::ALL } else { LaneMask::empty() });
    let width = u32::from(ty.bits);
    let mask = width_mask(width);
    let mut carries = 0u32;
    let mut result = [0; WARP_SIZE];
    for lane in 0..WARP_SIZE {
        let carry = u128::from(carry_in.has(lane));
        let (x, y) = (u128::from(a[lane] & mask), u128::from(b[lane] & mask));
        let z = u128::from(c[lane] & mask);
        let (value, out) = match op {
            IntOp::Sub => {
                let sum = x + (!y & u128::from(mask)) + carry;
                (sum, sum >> width != 0)
            }
            IntOp::MadLo | IntOp::MadHi => {
                let half = if op == IntOp::MadLo { IntOp::MulLo } else { IntOp::MulHi };
                let product = scalar(half, ty, false, [a[lane], b[lane], 0, 0]);
                let sum = u128::from(product) + z + carry;
                (sum, sum >> width != 0)
            }
            _ => {
                let sum = x + y + carry;
                (sum, sum >> width != 0)
            }
        };
        result[lane] = value as u64 & mask;
        carries |= u32::from(out) << lane;
    }
    (result, LaneMask::from_bits_retain(carries))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const U16: IntTy = IntTy { bits: 16, signed: false };
    const S16: IntTy = IntTy { bits: 16, signed: true };
    const U32: IntTy = IntTy { bits: 32, signed: false };
    const S32: IntTy = IntTy { bits: 32, signed: true };
    const U64: IntTy = IntTy { bits: 64, signed: false };
    const S64: IntTy = IntTy { bits: 64, signed: true };

    fn of(op: IntOp, ty: IntTy, a: i64, b: i64, c: i64) -> u64 {
        scalar(op, ty, false, [a as u64, b as u64, c as u64, 0])
    }

    fn sat(op: IntOp, ty: IntTy, a: i64, b: i64, c: i64) -> u64 {
        scalar(op, ty, true, [a as u64, b as u64, c as u64, 0])
    }

    #[test]
    fn corner_cases() {
        let min32 = i64::from(i32::MIN);
        let rows = [
            (of(IntOp::Div, U32, 7, 0, 0), 0xffff_ffff),
            (of(IntOp::Div, S32, -7, 0, 0), 0xffff_ffff),
            (of(IntOp::Div, S64, 7, 0, 0), u64::MAX),
            (of(IntOp::Rem, U32, 7, 0, 0), 0xffff_ffff),
            (of(IntOp::Rem, S32, -7, 0, 0), 0xffff_ffff),
            (of(IntOp::Div, S32, min32, -1, 0), 0x8000_0000),
            (of(IntOp::Rem, S32, min32, -1, 0), 0),
            (of(IntOp::Div, S64, i64::MIN, -1, 0), 1 << 63),
            (of(IntOp::Div, S32, -7, 2, 0), 0xffff_fffd),
            (of(IntOp::Rem, S32, -7, 2, 0), 0xffff_ffff),
            (of(IntOp::Shl, U32, 1, 31, 0), 0x8000_0000),
            (of(IntOp::Shl, U32, 1, 32, 0), 0),
            (of(IntOp::Shl, U64, 1, 64, 0), 0),
            (of(IntOp::Shl, U16, 0xffff, 4, 0), 0xfff0),
            (of(IntOp::Shr, S32, -8, 1, 0), 0xffff_fffc),
            (of(IntOp::Shr, S32, -8, 1000, 0), 0xffff_ffff),
            (of(IntOp::Shr, S64, i64::MIN, 64, 0), u64::MAX),
            (of(IntOp::Shr, U32, -8, 33, 0), 0),
            (of(IntOp::MulHi, U64, -1, -1, 0), u64::MAX - 1),
            (of(IntOp::MulHi, S64, -1, -1, 0), 0),
            (of(IntOp::MulHi, S64, i64::MIN, i64::MIN, 0), 1 << 62),
            (of(IntOp::MulHi, U32, -1, -1, 0), 0xffff_fffe),
            (of(IntOp::MulHi, S16, -2, 3, 0), 0xffff),
            (of(IntOp::MulWide, S16, -2, 3, 0), 0xffff_fffa),
            (of(IntOp::MulWide, U32, -1, -1, 0), 0xffff_fffe_0000_0001),
            (of(IntOp::MadWide, U32, -1, -1, 2), 0xffff_fffe_0000_0003),
            (of(IntOp::MadHi, S32, min32, 4, 5), 3),
            (of(IntOp::Mul24Lo, S32, 0x00ff_ffff, 3, 0), 0xffff_fffd),
            (of(IntOp::Mul24Lo, U32, 0x7fff_ffff, 2, 0), 0x01ff_fffe),
            (of(IntOp::Mul24Hi, U32, 0x00ff_ffff, 0x00ff_ffff, 0), 0xffff_fe00),
            (of(IntOp::Mul24Hi, S32, 0x00ff_ffff, 0x0001_0000, 0), 0xffff_ffff),
            (of(IntOp::Sad, S32, -3, 4, 10), 17),
            (of(IntOp::Sad, U32, -1, 0, 1), 0),
            (of(IntOp::Abs, S32, min32, 0, 0), 0x8000_0000),
            (of(IntOp::Cnot, U32, 0, 0, 0), 1),
            (of(IntOp::Clz, U32, 0, 0, 0), 32),
            (of(IntOp::Clz, U64, 1, 0, 0), 63),
            (of(IntOp::Popc, U64, -1, 0, 0), 64),
            (of(IntOp::Brev, U32, 1, 0, 0), 0x8000_0000),
            (sat(IntOp::Add, S32, i64::from(i32::MAX), 1, 0), 0x7fff_ffff),
            (sat(IntOp::Sub, S32, min32, 1, 0), 0x8000_0000),
            (sat(IntOp::MadHi, S32, min32, min32, i64::from(i32::MAX)), 0x7fff_ffff),
            (sat(IntOp::Mad24Hi, S32, 0x007f_ffff, 0x007f_ffff, i64::from(i32::MAX)), 0x7fff_ffff),
        ];
        for (index, (got, expected)) in rows.into_iter().enumerate() {
            assert_eq!(got, expected, "row {index}");
        }
    }

    #[test]
    fn carries_chain_over_words() {
        let word = |value: u128, index: u32| [(value >> (32 * index)) as u64 & 0xffff_ffff; WARP_SIZE];
        let zero = [0; WARP_SIZE];
        for (x, y) in [(u128::MAX >> 1, 1), (0xffff_ffff, 1), (1 << 96, (1 << 96) + 1), (5, u128::MAX)] {
            let chain = |op| {
                let mut carry = None;
                let mut result = 0u128;
                for i in 0..4 {
                    let (value, out) = with_carry(op, U32, [&word(x, i), &word(y, i), &zero], carry);
                    result |= u128::from(value[9]) << (32 * i);
                    carry = Some(out);
                }
                (result, carry.is_some_and(|carry| carry.has(9)))
            };
            assert_eq!(chain(IntOp::Add), x.overflowing_add(y));
            let (difference, borrowed) = x.overflowing_sub(y);
            assert_eq!(chain(IntOp::Sub), (difference, !borrowed));
        }
        let ones = [0xffff_ffff; WARP_SIZE];
        let (value, out) =
            with_carry(IntOp::MadHi, U32, [&ones, &ones, &[1; WARP_SIZE]], Some(LaneMask::ALL));
        assert_eq!((value[0], out), (0, LaneMask::ALL));
        let lane = Some(LaneMask::lane(3));
        let (value, out) = with_carry(IntOp::Add, U64, [&[u64::MAX; 32], &zero, &zero], lane);
        assert_eq!((value[3], value[4], out), (0, u64::MAX, LaneMask::lane(3)));
        // sub.cc, addc: 5 - 3 borrows nothing, so the carry is set; add.cc, subc: 5 + 3 carries
        // nothing
        let of = |value| [value; WARP_SIZE];
        let (_, out) = with_carry(IntOp::Sub, U32, [&of(5), &of(3), &zero], None);
        assert_eq!(with_carry(IntOp::Add, U32, [&of(10), &of(1), &zero], Some(out)).0[0], 12);
        let (_, out) = with_carry(IntOp::Add, U32, [&of(5), &of(3), &zero], None);
        assert_eq!(with_carry(IntOp::Sub, U32, [&of(10), &of(1), &zero], Some(out)).0[0], 8);
    }

    proptest! {
        #[test]
        fn arithmetic_agrees_with_the_host(a: u32, b: u32, c: u32, x: u64, y: u64) {
            let of32 = |op, ty| scalar(op, ty, false, [u64::from(a), u64::from(b), u64::from(c), 0]) as u32;
            let of64 = |op, ty| scalar(op, ty, false, [x, y, 0, 0]);
            let (sa, sb, sx, sy) = (a as i32, b as i32, x as i64, y as i64);
            prop_assert_eq!(of32(IntOp::MulHi, U32), ((u64::from(a) * u64::from(b)) >> 32) as u32);
            prop_assert_eq!(of32(IntOp::MulHi, S32), ((i64::from(sa) * i64::from(sb)) >> 32) as u32);
            prop_assert_eq!(of32(IntOp::MadLo, S32), a.wrapping_mul(b).wrapping_add(c));
            prop_assert_eq!(of32(IntOp::Div, U32), a.checked_div(b).unwrap_or(u32::MAX));
            prop_assert_eq!(of32(IntOp::Rem, S32), if b == 0 { u32::MAX } else { sa.wrapping_rem(sb) as u32 });
            prop_assert_eq!(of64(IntOp::MulHi, U64), ((u128::from(x) * u128::from(y)) >> 64) as u64);
            prop_assert_eq!(of64(IntOp::MulHi, S64), ((i128::from(sx) * i128::from(sy)) >> 64) as u64);
            prop_assert_eq!(of64(IntOp::Div, S64), if y == 0 { u64::MAX } else { sx.wrapping_div(sy) as u64 });
            prop_assert_eq!(of64(IntOp::Min, S64), sx.min(sy) as u64);
        }
    }
}
