//! Integer operations on single bits or bytes, as defined by the PTX ISA.

use super::super::lanes::{sign_extend, width_mask};
use warpbound_core::program::sem::PrmtMode;

/// Returns the position and the length of a field. For 32-bit fields they are the low 8 bits of
/// their words, as the PTX ISA states (9.7.1.19). The PTX ISA also states this for 64-bit fields,
/// but NVIDIA's assembler implements those with shifts, whose amounts are clamped and not
/// truncated. The other bits of the words therefore matter. ZLUDA, which was compared with NVIDIA
/// GPUs, agrees.
fn place(position: u64, length: u64, bits: u32) -> (u32, u32) {
    let amount = |value: u64| match bits {
        64 => (value as u32).min(64),
        _ => (value & 0xff) as u32,
    };
    (amount(position), amount(length))
}

/// Computes `bfe`: `length` bits of `a` from `position` on, sign-extended if `signed`.
pub(crate) fn extract(a: u64, position: u64, length: u64, bits: u32, signed: bool) -> u64 {
    let (position, length) = place(position, length, bits);
    let a = a & width_mask(bits);
    if length == 0 {
        return 0;
    }
    // bits beyond the top bit are the sign, or zero
    let fill = signed && a >> (position + length - 1).min(bits - 1) & 1 == 1;
    let available = bits.saturating_sub(position).min(length);
    let field = a.checked_shr(position).unwrap_or(0) & width_mask(available);
    let sign = if fill { !width_mask(available) } else { 0 };
    (field | sign) & width_mask(bits)
}

/// Computes `bfi`: inserts the low `length` bits of `a` into `b` at `position`.
pub(crate) fn insert(a: u64, b: u64, position: u64, length: u64, bits: u32) -> u64 {
    let (position, length) = place(position, length, bits);
    if position >= bits {
        return b & width_mask(bits);
    }
    let field = width_mask(length.min(bits - position)) << position;
    (b & !field | a << position & field) & width_mask(bits)
}

/// Computes `bfind`: the position of the highest bit that differs from the sign, or all ones if
/// there is none.
pub(crate) fn find_highest(a: u64, bits: u32, signed: bool, shift_amount: bool) -> u64 {
    let value = sign_extend(a, bits);
    let a = (if signed && value < 0 { !a } else { a }) & width_mask(bits);
    if a == 0 {
        return width_mask(32);
    }
    let position = 63 - a.leading_zeros();
    u64::from(if shift_amount { bits - 1 - position } else { position })
}

/// Computes `fns`: the position of the n-th set bit of `mask` from `base` on, downwards if `offset`
/// is negative; with offset 0, `base` itself if it is set. The result is all ones if there is no
/// such bit.
pub(crate) fn find_nth_set(mask: u64, base: u64, offset: u64) -> u64 {
    let (mask, base) = (mask as u32, base as u32);
    let offset = sign_extend(offset, 32);
    let set = |position: &u32| mask >> position & 1 == 1;
    let start = base.min(32);
    let found = match offset {
        0 => Some(base).filter(|b| *b < 32).filter(set),
        1.. => (start..32).filter(set).nth((offset - 1) as usize),
        _ => (0..=base.min(31)).rev().filter(set).nth((-offset - 1) as usize).filter(|_| base < 32),
    };
    u64::from(found.unwrap_or(u32::MAX))
}

/// Computes `prmt`: four bytes selected from `b:a`.
pub(crate) fn permute(a: u64, b: u64, selector: u64, mode: PrmtMode) -> u64 {
    let bytes = (a & width_mask(32)) | b << 32;
    let pick = |index: u64| bytes >> (8 * (index & 7)) & 0xff;
    let s = selector & 3;
    let indices: [u64; 4] = match mode {
        PrmtMode::Default => {
            return (0..4).fold(0, |result, i| {
                let nibble = selector >> (4 * i);
                let byte = pick(nibble);
                // the top bit of the nibble selects eight copies of the byte's sign
                let byte = if nibble & 8 == 0 { byte } else { (byte >> 7) * 0xff };
                result | byte << (8 * i)
            });
        }
        PrmtMode::F4e => [s, s + 1, s + 2, s + 3],
        PrmtMode::B4e => [s, s + 7, s + 6, s + 5],
        PrmtMode::Rc8 => [s; 4],
        PrmtMode::Ecl => [s, s.max(1), s.max(2), 3],
        PrmtMode::Ecr => [0, s.min(1), s.min(2), s],
        PrmtMode::Rc16 => {
            let low = (s & 1) * 2;
            [low, low + 1, low, low + 1]
        }
    };
    indices.iter().enumerate().fold(0, |result, (i, &index)| result | pick(index) << (8 * i))
}

/// Computes `lop3`: any function of three bits; bit `4a + 2b + c` of the table is its value.
pub(crate) fn lop3(a: u64, b: u64, c: u64, table: u8) -> u64 {
    let term = |index: u8| {
        let pick = |value: u64, bit: u8| if index >> bit & 1 == 1 { value } else { !value };
        if table >> index & 1 == 1 { pick(a, 2) & pick(b, 1) & pick(c, 0) } else { 0 }
    };
    (0..8).fold(0, |result, index| result | term(index)) & width_mask(32)
}

/// Computes `shf` to the left: the upper half of the 64 bits `b:a` shifted left.
pub(crate) fn funnel_left(a: u64, b: u64, amount: u64, wrap: bool) -> u64 {
    let both = (a & width_mask(32)) | b << 32;
    (both << limited(amount, wrap)) >> 32
}

/// Computes `shf` to the right: the lower half of the 64 bits `b:a` shifted right.
pub(crate) fn funnel_right(a: u64, b: u64, amount: u64, wrap: bool) -> u64 {
    let both = (a & width_mask(32)) | b << 32;
    both >> limited(amount, wrap) & width_mask(32)
}

/// Computes `bmsk`: `length` ones from `position` on.
pub(crate) fn mask(position: u64, length: u64, wrap: bool) -> u64 {
    width_mask(limited(length, wrap)) << limited(position, wrap) & width_mask(32)
}

/// Limits an amount to 32 bits: it wraps at 32, or is clamped to 32.
pub(crate) fn limited(amount: u64, wrap: bool) -> u32 {
    let amount = amount as u32;
    if wrap { amount & 31 } else { amount.min(32) }
}

/// Computes `dp4a`: the sum of four byte products and `c`.
pub(crate) fn dot4(a: u64, b: u64, c: u64, a_signed: bool, b_signed: bool) -> u64 {
    let sum = (0..4).fold(c as i64, |sum, i| {
        let product = part(a, i, 8, a_signed) * part(b, i, 8, b_signed);
        sum.wrapping_add(product)
    });
    sum as u64 & width_mask(32)
}

/// Computes `dp2a`: the sum of `c` and two products of a half of `a` with a byte of the selected
/// half of `b`.
pub(crate) fn dot2(a: u64, b: u64, c: u64, a_signed: bool, b_signed: bool, high: bool) -> u64 {
    let first = if high { 2 } else { 0 };
    let sum = (0..2).fold(c as i64, |sum, i| {
        let product = part(a, i, 16, a_signed) * part(b, first + i, 8, b_signed);
        sum.wrapping_add(product)
    });
    sum as u64 & width_mask(32)
}

fn part(value: u64, index: u32, bits: u32, signed: bool) -> i64 {
    let part = value >> (index * bits) & width_mask(bits);
    if signed { sign_extend(part, bits) } else { part as i64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computes `bfe` by the pseudo-code of the PTX ISA, bit by bit.
    fn extract_bitwise(a: u64, position: u64, length: u64, bits: u32, signed: bool) -> u64 {
        let msb = u64::from(bits - 1);
        let (position, length) = (position & 0xff, length & 0xff);
        let sign = if !signed || length == 0 { 0 } else { a >> (position + length - 1).min(msb) & 1 };
        (0..=msb).fold(0, |d, i| {
            let bit = if i < length && position + i <= msb { a >> (position + i) & 1 } else { sign };
            d | bit << i
        })
    }

    fn insert_bitwise(a: u64, b: u64, position: u64, length: u64, bits: u32) -> u64 {
        let msb = u64::from(bits - 1);
        let (position, length) = (position & 0xff, length & 0xff);
        (0..length)
            .take_while(|i| position + i <= msb)
            .fold(b & width_mask(bits), |f, i| f & !(1 << (position + i)) | (a >> i & 1) << (position + i))
    }

    fn find_nth_stepping(mask: u64, base: u64, offset: i32) -> u64 {
        let set = |p: i64| mask >> p & 1 == 1;
        if offset == 0 {
            return if base < 32 && set(base as i64) { base } else { 0xffff_ffff };
        }
        let (mut position, mut count) = (base as i64, offset.unsigned_abs() - 1);
        while (0..32).contains(&position) {
            if set(position) {
                if count == 0 {
                    return position as u64;
                }
                count -= 1;
            }
            position += i64::from(offset.signum());
        }
        0xffff_ffff
    }

    #[test]
    fn fields_follow_the_pseudo_code() {
        for bits in [32, 64] {
            for a in [0u64, 1, 0x8000_0000, 0xdead_beef, 0x8000_0000_0000_0001, u64::MAX] {
                let a = a & width_mask(bits);
                for position in [0, 1, 5, 31, 32, 33, 63, 64, 200, 255] {
                    for length in [0, 1, 4, 31, 32, 33, 63, 64, 65, 255] {
                        for signed in [false, true] {
                            assert_eq!(
                                extract(a, position, length, bits, signed),
                                extract_bitwise(a, position, length, bits, signed),
                                "bfe {a:#x} {position} {length} {bits} {signed}"
                            );
                        }
                        assert_eq!(
                            insert(a, !a, position, length, bits),
                            insert_bitwise(a, !a, position, length, bits),
                            "bfi {a:#x} {position} {length} {bits}"
                        );
                    }
                }
            }
        }
    }

    /// Beyond 255, 64-bit fields use the whole words of position and length, and 32-bit fields
    /// their lower eight bits.
    #[test]
    fn fields_of_64_bits_have_positions_of_32_bits() {
        let a = 0x8123_4567_89ab_cdef;
        for (position, length, unsigned, signed) in [
            (256, 8, 0, u64::MAX),
            (0xffff_ff04, 8, 0, u64::MAX),
            (4, 264, a >> 4, (a as i64 >> 4) as u64),
            (4, 0x8000_0000, a >> 4, (a as i64 >> 4) as u64),
            (4, 8, 0xde, 0xffff_ffff_ffff_ffde),
        ] {
            assert_eq!(extract(a, position, length, 64, false), unsigned, "{position} {length}");
            assert_eq!(extract(a, position, length, 64, true), signed, "{position} {length}");
        }
        assert_eq!(insert(a, 0, 256, 8, 64), 0);
        assert_eq!(insert(a, 0, 4, 264, 64), a << 4);
        assert_eq!(extract(0x89ab_cdef, 256, 264, 32, false), 0xef);
        assert_eq!(insert(0xff, 0, 260, 264, 32), 0xff0);
    }

    #[test]
    fn nth_set_bit_follows_the_pseudo_code() {
        for mask in [0u64, 1, 0x8000_0000, 0xa5a5_0ff0, 0xffff_ffff] {
            for base in [0u64, 1, 7, 30, 31, 32, 40, 0xffff_ffff] {
                for offset in [0, 1, 2, 5, 32, 33, -1, -2, -9, -33, i32::MIN, i32::MAX] {
                    let expected =
                        if base >= 32 { 0xffff_ffff } else { find_nth_stepping(mask, base, offset) };
                    let found = find_nth_set(mask, base, u64::from(offset as u32));
                    assert_eq!(found, expected, "fns {mask:#x} {base} {offset}");
                }
            }
        }
    }

    #[test]
    fn highest_bits() {
        assert_eq!(find_highest(0, 32, false, false), 0xffff_ffff);
        assert_eq!(find_highest(0xffff_ffff, 32, true, false), 0xffff_ffff);
        assert_eq!(find_highest(0xffff_ffff, 32, false, false), 31);
        assert_eq!(find_highest(0x10, 32, false, true), 27);
        assert_eq!(find_highest(0xffff_fff0, 32, true, false), 3);
        assert_eq!(find_highest(1 << 40, 64, true, true), 23);
    }

    #[test]
    fn bytes_permute_as_the_tables_of_the_isa_say() {
        let (a, b) = (0x3322_1100, 0xf766_5544);
        let permuted = |selector, mode| permute(a, b, selector, mode);
        assert_eq!(permuted(0x7410, PrmtMode::Default), 0xf744_1100);
        assert_eq!(permuted(0xf8f8, PrmtMode::Default), 0xff00_ff00);
        let rows = [
            (PrmtMode::F4e, [0x3322_1100, 0x4433_2211, 0x5544_3322, 0x6655_4433]),
            (PrmtMode::B4e, [0x5566_f700, 0x66f7_0011, 0xf700_1122, 0x0011_2233]),
            (PrmtMode::Rc8, [0, 0x1111_1111, 0x2222_2222, 0x3333_3333]),
            (PrmtMode::Ecl, [0x3322_1100, 0x3322_1111, 0x3322_2222, 0x3333_3333]),
            (PrmtMode::Ecr, [0, 0x1111_1100, 0x2222_1100, 0x3322_1100]),
            (PrmtMode::Rc16, [0x1100_1100, 0x3322_3322, 0x1100_1100, 0x3322_3322]),
        ];
        for (mode, results) in rows {
            for (selector, result) in results.into_iter().enumerate() {
                assert_eq!(permuted(selector as u64, mode), result, "{mode:?} {selector}");
            }
        }
    }

    #[test]
    fn truth_tables() {
        let (a, b, c) = (0xf0, 0xcc, 0xaa);
        for table in 0..=255u8 {
            assert_eq!(lop3(a, b, c, table) & 0xff, u64::from(table));
        }
    }

    #[test]
    fn funnels_and_dots() {
        let (a, b) = (0x89ab_cdef, 0x0123_4567);
        assert_eq!(funnel_left(a, b, 8, false), 0x2345_6789);
        assert_eq!(funnel_left(a, b, 40, false), a);
        assert_eq!(funnel_left(a, b, 40, true), 0x2345_6789);
        assert_eq!(funnel_right(a, b, 8, false), 0x6789_abcd);
        assert_eq!(funnel_right(a, b, 33, false), b);
        assert_eq!(funnel_right(a, b, 33, true), (b << 31 | a >> 1) & 0xffff_ffff);
        assert_eq!(dot4(0xff02_0304, 0x0201_0101, 10, true, false), 10 - 2 + 2 + 3 + 4);
        assert_eq!(dot4(0xff00_0000, 0x0200_0000, 0, false, false), 510);
        assert_eq!(dot2(0xffff_0002, 0x0403_0201, 0, true, true, false), 2 - 2);
        assert_eq!(dot2(0xffff_0002, 0x0403_0201, 0, true, true, true), 6 - 4);
    }
}
