//! Floating-point arithmetic.
//!
//! Rounding to nearest in single and double precision is the host's own IEEE arithmetic, which
//! gives the same bits everywhere; all else goes through [`super::exact`].

use super::super::lanes::{Lanes, map1, map2, map3};
use super::exact::{F16, F64, Format};
use super::{approx, format_of};
use crate::program::sem::{FloatMode, FloatOp, FloatTest, FloatTy, Round};

/// The result of an operation in every lane.
pub(crate) fn lanes(op: FloatOp, ty: FloatTy, mode: FloatMode, src: [&Lanes; 3]) -> Lanes {
    let mode = canonical(op, mode);
    let plain = mode.round == Round::Nearest && !mode.sat && !mode.relu;
    let [a, b, c] = src;
    match (ty, op) {
        (FloatTy::F32, FloatOp::Add) if plain => nearest32(a, b, mode.ftz, |x, y| x + y),
        (FloatTy::F32, FloatOp::Sub) if plain => nearest32(a, b, mode.ftz, |x, y| x - y),
        (FloatTy::F32, FloatOp::Mul) if plain => nearest32(a, b, mode.ftz, |x, y| x * y),
        (FloatTy::F32, FloatOp::Div) if plain => nearest32(a, b, mode.ftz, |x, y| x / y),
        (FloatTy::F32, FloatOp::Sqrt) if plain => nearest32(a, b, mode.ftz, |x, _| x.sqrt()),
        (FloatTy::F32, FloatOp::Rcp) if plain => nearest32(a, b, mode.ftz, |x, _| 1.0 / x),
        (FloatTy::F32, FloatOp::Fma) if plain && mode.ftz => {
            map3(a, b, c, |a, b, c| leave32(fma32(enter32(a), enter32(b), enter32(c)), true))
        }
        (FloatTy::F32, FloatOp::Fma) if plain => map3(a, b, c, |a, b, c| {
            let at = |bits: u64| f32::from_bits(bits as u32);
            leave32(fma32(at(a), at(b), at(c)), false)
        }),
        (FloatTy::F64, FloatOp::Add) if plain => nearest64(a, b, |x, y| x + y),
        (FloatTy::F64, FloatOp::Sub) if plain => nearest64(a, b, |x, y| x - y),
        (FloatTy::F64, FloatOp::Mul) if plain => nearest64(a, b, |x, y| x * y),
        (FloatTy::F64, FloatOp::Div) if plain => nearest64(a, b, |x, y| x / y),
        (FloatTy::F64, FloatOp::Sqrt) if plain => nearest64(a, b, |x, _| x.sqrt()),
        (FloatTy::F64, FloatOp::Rcp) if plain && !mode.ftz => nearest64(a, b, |x, _| 1.0 / x),
        (FloatTy::F64, FloatOp::Fma) if plain => {
            map3(a, b, c, |a, b, c| leave64(f64::from_bits(a).mul_add(f64::from_bits(b), f64::from_bits(c))))
        }
        (FloatTy::F16x2, _) => map3(a, b, c, |a, b, c| {
            let half = |shift: u32| scalar(op, F16, mode, [a >> shift, b >> shift, c >> shift]);
            half(0) | half(16) << 16
        }),
        _ => {
            let format = format_of(ty);
            map3(a, b, c, |a, b, c| scalar(op, format, mode, [a, b, c]))
        }
    }
}

/// Approximate variants of operations that IEEE defines are done exactly to nearest; double
/// precision has no `ftz`, except that it marks the gross approximations.
fn canonical(op: FloatOp, mode: FloatMode) -> FloatMode {
    let defined = matches!(op, FloatOp::Div | FloatOp::Sqrt | FloatOp::Rcp);
    if mode.approx && defined { FloatMode { round: Round::Nearest, ..mode } } else { mode }
}

#[inline(always)]
fn nearest32(a: &Lanes, b: &Lanes, ftz: bool, f: impl Fn(f32, f32) -> f32) -> Lanes {
    if ftz {
        map2(a, b, |a, b| leave32(f(enter32(a), enter32(b)), true))
    } else {
        map2(a, b, |a, b| leave32(f(f32::from_bits(a as u32), f32::from_bits(b as u32)), false))
    }
}

#[inline(always)]
fn nearest64(a: &Lanes, b: &Lanes, f: impl Fn(f64, f64) -> f64) -> Lanes {
    map2(a, b, |a, b| leave64(f(f64::from_bits(a), f64::from_bits(b))))
}

/// A source with its subnormal numbers flushed.
#[inline(always)]
fn enter32(bits: u64) -> f32 {
    f32::from_bits(flush32(bits as u32))
}

#[inline(always)]
fn flush32(bits: u32) -> u32 {
    if bits & 0x7f80_0000 == 0 { bits & 0x8000_0000 } else { bits }
}

/// The bits of a result.
#[inline(always)]
fn leave32(value: f32, ftz: bool) -> u64 {
    let bits = if value.is_nan() { 0x7fff_ffff } else { value.to_bits() };
    u64::from(if ftz { flush32(bits) } else { bits })
}

#[inline(always)]
fn leave64(value: f64) -> u64 {
    if value.is_nan() { F64.nan } else { value.to_bits() }
}

/// `a * b + c`, rounded once.
///
/// The product of two singles is exact in double precision. Their sum with `c` is rounded to odd
/// there, which keeps what a second rounding, to single precision, has to know: 53 bits are more
/// than 24 + 2 (Boldo and Melquiond, "When double rounding is odd").
#[inline(always)]
fn fma32(a: f32, b: f32, c: f32) -> f32 {
    let product = f64::from(a) * f64::from(b);
    let c = f64::from(c);
    let sum = product + c;
    let c_part = sum - product;
    let error = (product - (sum - c_part)) + (c - c_part);
    let bits = sum.to_bits();
    // NaN and infinite sums have a NaN error and stay as they are
    let inexact = error.abs() > 0.0;
    let away_from_zero = (error > 0.0) == (sum > 0.0);
    let neighbour = if away_from_zero { bits.wrapping_add(1) } else { bits.wrapping_sub(1) };
    f64::from_bits(if inexact && bits & 1 == 0 { neighbour } else { bits }) as f32
}

/// The result of an operation on one number.
pub(crate) fn scalar(op: FloatOp, format: Format, mode: FloatMode, src: [u64; 3]) -> u64 {
    let mode = canonical(op, mode);
    let ftz = mode.ftz && format != F64;
    let width = format.sign() | (format.sign() - 1);
    let [a, b, c] = src.map(|bits| if ftz { format.flush(bits & width) } else { bits & width });
    let result = match op {
        FloatOp::Abs => a & !format.sign(),
        FloatOp::Neg => a ^ format.sign(),
        FloatOp::Copysign => (b & !format.sign()) | (a & format.sign()),
        FloatOp::Min => extremum(format, mode.nan, a, b, false),
        FloatOp::Max => extremum(format, mode.nan, a, b, true),
        FloatOp::Rsqrt | FloatOp::Sin | FloatOp::Cos | FloatOp::Ex2 | FloatOp::Lg2 | FloatOp::Tanh => {
            approx::unary(op, format, mode.ftz, a)
        }
        FloatOp::Rcp if mode.approx && mode.ftz && format == F64 => approx::unary(op, format, true, a),
        _ => {
            let (x, y, z) = (format.unpack(a), format.unpack(b), format.unpack(c));
            let value = match op {
                FloatOp::Add => x.plus(y, mode.round),
                FloatOp::Sub => x.plus(y.negated(), mode.round),
                FloatOp::Mul => x.times(y),
                FloatOp::Fma => x.times(y).plus(z, mode.round),
                FloatOp::Div => x.over(y),
                FloatOp::Sqrt => x.root(),
                // what is left is the reciprocal
                _ => super::exact::Value::scaled(false, 1, 0).over(x),
            };
            format.pack(value, mode.round)
        }
    };
    let result = if ftz { format.flush(result) } else { result };
    let result = if mode.sat { saturated(format, result) } else { result };
    if mode.relu && result & format.sign() != 0 && !format.is_nan(result) { 0 } else { result }
}

/// Clamped to [0, 1]; NaN becomes 0.
pub(crate) fn saturated(format: Format, bits: u64) -> u64 {
    let one = format.pack(super::exact::Value::scaled(false, 1, 0), Round::Nearest);
    if format.is_nan(bits) || bits & format.sign() != 0 { 0 } else { bits.min(one) }
}

/// Minimum or maximum; -0 is less than +0. A NaN loses against a number unless `nan` asks for it.
pub(crate) fn extremum(format: Format, nan: bool, a: u64, b: u64, largest: bool) -> u64 {
    match (format.is_nan(a), format.is_nan(b)) {
        (true, true) => format.nan,
        (true, false) => {
            if nan {
                format.nan
            } else {
                b
            }
        }
        (false, true) => {
            if nan {
                format.nan
            } else {
                a
            }
        }
        (false, false) => {
            // sign and magnitude to an order of integers
            let key = |bits: u64| {
                if bits & format.sign() == 0 {
                    bits | format.sign()
                } else {
                    !bits & (format.sign() | (format.sign() - 1))
                }
            };
            if (key(a) < key(b)) != largest { a } else { b }
        }
    }
}

/// `testp` in every lane.
pub(crate) fn test(test: FloatTest, ty: FloatTy, a: &Lanes) -> Lanes {
    let format = format_of(ty);
    map1(a, |bits| {
        let magnitude = bits & (format.sign() - 1);
        let holds = match test {
            FloatTest::Finite => magnitude < format.infinity(),
            FloatTest::Infinite => magnitude == format.infinity(),
            FloatTest::Number => !format.is_nan(bits),
            FloatTest::NotANumber => format.is_nan(bits),
            FloatTest::Normal => magnitude < format.infinity() && !format.is_subnormal(bits),
            FloatTest::Subnormal => format.is_subnormal(bits) && magnitude != 0,
        };
        u64::from(holds)
    })
}
