//! Tests of bfloat16 against formulas that are independent of the arithmetic: rounding by an
//! addition to the bits of single precision, and the nearest number found among all of them.

use proptest::prelude::*;

use super::convert::conversion;
use super::exact::BF16;
use super::float::scalar;
use super::{convert, float};
use warpbound_core::base::WARP_SIZE;
use warpbound_core::program::sem::{Convert, FloatMode, FloatOp, FloatTy, IntTy, Round, ValueTy};

const BF16T: ValueTy = ValueTy::Float(FloatTy::Bf16);
const F32T: ValueTy = ValueTy::Float(FloatTy::F32);

fn apply(convert: &Convert, bits: u64) -> u64 {
    convert::lanes(convert, &[bits; WARP_SIZE], None)[9]
}

/// Returns the value of these bits, which are the upper half of a single-precision number.
fn value(bits: u64) -> f64 {
    f64::from(f32::from_bits((bits as u32) << 16))
}

/// Returns the nearest bfloat16, found by bisection among all of them; ties go to the even one.
fn nearest(x: f64) -> u64 {
    if x.is_nan() {
        return 0x7fff;
    }
    let sign = if x.is_sign_negative() { 0x8000 } else { 0 };
    let x = x.abs();
    // find the first one that is not below x; the successor of the largest one counts as infinity
    let value_at = |code: u64| if code == 0x7f80 { 2f64.powi(128) } else { value(code) };
    let (mut low, mut high) = (0, 0x7f80);
    while low < high {
        let middle = (low + high) / 2;
        if value_at(middle) < x { low = middle + 1 } else { high = middle }
    }
    if low == 0 || x >= value_at(0x7f80) {
        return sign | low;
    }
    let (below, above) = (x - value_at(low - 1), value_at(low) - x);
    let down = below < above || below == above && low % 2 == 1;
    sign | if down { low - 1 } else { low }
}

#[test]
fn singles_round_by_an_addition_to_their_bits() {
    let to = |round, relu, finite| Convert { relu, finite, ..conversion(F32T, BF16T, round) };
    let near = to(Round::Nearest, false, false);
    let zero = to(Round::Zero, false, false);
    let finite = to(Round::Nearest, false, true);
    let relu = to(Round::Nearest, true, false);
    for upper in 0..1u32 << 16 {
        for lower in [0, 1, 0x7fff, 0x8000, 0x8001, 0xffff] {
            let bits = upper << 16 | lower;
            let nan = bits & 0x7fff_ffff > 0x7f80_0000;
            let rounded = (bits.wrapping_add(0x7fff + (upper & 1))) >> 16;
            let expected = u64::from(if nan { 0x7fff } else { rounded });
            assert_eq!(apply(&near, bits.into()), expected, "{bits:#x}");
            assert_eq!(apply(&zero, bits.into()), u64::from(if nan { 0x7fff } else { upper }), "{bits:#x}");
            let largest = if expected & 0x7fff == 0x7f80 { expected - 1 } else { expected };
            assert_eq!(apply(&finite, bits.into()), largest, "{bits:#x}");
            let positive = if expected & 0x8000 != 0 { 0 } else { expected };
            assert_eq!(apply(&relu, bits.into()), positive, "{bits:#x}");
        }
    }
}

#[test]
fn every_number_widens_to_its_bits_and_back() {
    for bits in 0..1u64 << 16 {
        let wide = apply(&conversion(BF16T, F32T, Round::Nearest), bits);
        let expected = if value(bits).is_nan() { 0x7fff_ffff } else { bits << 16 };
        assert_eq!(wide, expected);
        let whole = Convert { integral: true, ..conversion(BF16T, BF16T, Round::Down) };
        assert_eq!(apply(&whole, bits), nearest(value(bits).floor()), "{bits:#x}");
        let int = conversion(BF16T, ValueTy::Int(IntTy { bits: 32, signed: true }), Round::Zero);
        assert_eq!(apply(&int, bits) as i32, value(bits) as i32);
        let half = conversion(ValueTy::Float(FloatTy::F16), BF16T, Round::Nearest);
        let source = apply(&conversion(BF16T, ValueTy::Float(FloatTy::F16), Round::Zero), bits);
        let of_half = f64::from_bits(apply(
            &conversion(ValueTy::Float(FloatTy::F16), ValueTy::Float(FloatTy::F64), Round::Nearest),
            source,
        ));
        assert_eq!(apply(&half, source), nearest(of_half));
    }
}

#[test]
fn sums_and_products_of_every_number_are_nearest() {
    // a double represents every product exactly; a sum that it cannot represent is far from any tie
    let others = [0, 0x8000, 0x3f80, 0xbf81, 0x0001, 0x807f, 0x7f7f, 0x7f80, 0xff80, 0x7fc0, 0x4049, 0x00ff];
    for a in 0..1u64 << 16 {
        for b in others {
            let of = |op| scalar(op, BF16, FloatMode::default(), [a, b, 0]);
            let (x, y) = (value(a), value(b));
            assert_eq!(of(FloatOp::Add), nearest(x + y), "{a:#x} + {b:#x}");
            assert_eq!(of(FloatOp::Sub), nearest(x - y), "{a:#x} - {b:#x}");
            assert_eq!(of(FloatOp::Mul), nearest(x * y), "{a:#x} * {b:#x}");
        }
    }
}

#[test]
fn extremes_follow_the_pseudo_code_of_the_isa() {
    let mode = |nan, signs| FloatMode { nan, magnitude: signs, sign_product: signs, ..FloatMode::default() };
    let some = [0, 0x8000, 0x3f80, 0xbf80, 0xbf81, 0x0001, 0x7f80, 0xff80, 0x7fc0, 0xffff, 0xc040];
    for a in some {
        for b in some {
            for (nan, signs) in [(false, false), (true, false), (false, true), (true, true)] {
                let of = |bits: u64| if signs { bits & 0x7fff } else { bits };
                let (x, y) = (of(a), of(b));
                let order =
                    |bits: u64| if bits & 0x8000 == 0 { bits as i64 } else { -1 - (bits & 0x7fff) as i64 };
                let is_nan = |bits: u64| bits & 0x7fff > 0x7f80;
                let expected = match (is_nan(x), is_nan(y)) {
                    (true, true) => 0x7fff,
                    (true, false) | (false, true) if nan => 0x7fff,
                    (true, false) => y,
                    (false, true) => x,
                    _ if order(x) > order(y) => x,
                    _ => y,
                };
                let expected =
                    if signs && !is_nan(expected) { expected | (a ^ b) & 0x8000 } else { expected };
                let got = scalar(FloatOp::Max, BF16, mode(nan, signs), [a, b, 0]);
                assert_eq!(got, expected, "max of {a:#x} and {b:#x}, {nan} {signs}");
            }
        }
    }
}

#[test]
fn packed_and_mixed_types_compute_each_number_by_itself() {
    let mode = FloatMode::default();
    let row = |value: u64| [value; WARP_SIZE];
    let packed = |ty, a, b, c| float::lanes(FloatOp::Fma, ty, mode, [&row(a), &row(b), &row(c)])[3];
    // 2 * 3 + 1 in the lower half, -1 * 0.5 + 2 in the upper one
    assert_eq!(packed(FloatTy::Bf16x2, 0xbf80_4000, 0x3f00_4040, 0x4000_3f80), 0x3fc0_40e0);
    let single = |low: f32, high: f32| u64::from(high.to_bits()) << 32 | u64::from(low.to_bits());
    assert_eq!(
        packed(FloatTy::F32x2, single(2.0, -1.0), single(3.0, 0.5), single(1.0, 2.0)),
        single(7.0, 1.5)
    );
    let mixed = |op, from, a: u64, b: u64, c: u64| {
        f32::from_bits(float::mixed(op, from, mode, [&row(a), &row(b), &row(c)])[0] as u32)
    };
    let bits = |x: f32| u64::from(x.to_bits());
    assert_eq!(mixed(FloatOp::Sub, FloatTy::Bf16, 0x4040, bits(0.1), 0), 3.0 - 0.1);
    assert_eq!(mixed(FloatOp::Add, FloatTy::F16, 0x4200, bits(0.1), 0), 3.0 + 0.1);
    assert_eq!(mixed(FloatOp::Fma, FloatTy::F16, 0x4200, 0xc000, bits(0.1)), -6.0 + 0.1);
}

proptest! {
    #[test]
    fn products_and_sums_round_once(a in 0u64..1 << 16, b in 0u64..1 << 16, c in 0u64..1 << 16) {
        // the exponents are so near that a double represents the result exactly
        let near = |bits: u64| bits & 0x80ff | 0x3c00 | (bits & 0x0300);
        let (a, b, c) = (near(a), near(b), near(c));
        let got = scalar(FloatOp::Fma, BF16, FloatMode::default(), [a, b, c]);
        prop_assert_eq!(got, nearest(value(a) * value(b) + value(c)));
        let relu = scalar(FloatOp::Fma, BF16, FloatMode { relu: true, ..FloatMode::default() }, [a, b, c]);
        let exact = value(a) * value(b) + value(c);
        prop_assert_eq!(relu, if exact.is_sign_negative() { 0 } else { nearest(exact) });
    }
}
