//! Exact floating-point arithmetic by [`super::exact`], for every format and rounding.
//!
//! Operations that round to nearest in single and double precision have a faster implementation
//! with the same bits, see [`super::single`] and [`super::double`].

use super::super::lanes::{Lanes, map1, map3};
use super::exact::{F32, F64, Format};
use super::{approx, format_of};
use warpbound_core::program::sem::{FloatMode, FloatOp, FloatTest, FloatTy, Round};

/// Returns the result of an operation in every lane.
pub(crate) fn lanes(op: FloatOp, ty: FloatTy, mode: FloatMode, src: [&Lanes; 3]) -> Lanes {
    let [a, b, c] = src;
    if ty.half().is_some() {
        let format = format_of(ty);
        let upper = if ty == FloatTy::F32x2 { 32 } else { 16 };
        return map3(a, b, c, |a, b, c| {
            let half = |shift: u32| scalar(op, format, mode, [a >> shift, b >> shift, c >> shift]);
            half(0) | half(upper) << upper
        });
    }
    let format = format_of(ty);
    map3(a, b, c, |a, b, c| scalar(op, format, mode, [a, b, c]))
}

/// Returns the result of an operation in single precision whose first source (for `Fma`, the first
/// two) has a narrower type.
pub(crate) fn mixed(op: FloatOp, from: FloatTy, mode: FloatMode, [a, b, c]: [&Lanes; 3]) -> Lanes {
    let format = format_of(from);
    let mask = format.sign() | (format.sign() - 1);
    let wide = |row: &Lanes| map1(row, |bits| F32.pack(format.unpack(bits & mask), Round::Nearest));
    let a = wide(a);
    let b = if op == FloatOp::Fma { wide(b) } else { *b };
    lanes(op, FloatTy::F32, mode, [&a, &b, c])
}

/// Returns the mode in which an operation is computed. Approximate variants of operations that IEEE
/// defines are computed exactly, rounded to nearest. Double precision has no `ftz`, except that it
/// marks the gross approximations.
fn canonical(op: FloatOp, mode: FloatMode) -> FloatMode {
    let defined = matches!(op, FloatOp::Div | FloatOp::Sqrt | FloatOp::Rcp);
    if mode.approx && defined { FloatMode { round: Round::Nearest, ..mode } } else { mode }
}

/// Returns the result of an operation on one number.
pub(crate) fn scalar(op: FloatOp, format: Format, mode: FloatMode, src: [u64; 3]) -> u64 {
    let mode = canonical(op, mode);
    let ftz = mode.ftz && format != F64;
    let width = format.sign() | (format.sign() - 1);
    let [a, b, c] = src.map(|bits| if ftz { format.flush(bits & width) } else { bits & width });
    let b = if op == FloatOp::Div && mode.approx && format == F32 {
        super::single::approximate_divisor(b as u32).into()
    } else {
        b
    };
    let result = match op {
        FloatOp::Abs => a & !format.sign(),
        FloatOp::Neg => a ^ format.sign(),
        FloatOp::Copysign => (b & !format.sign()) | (a & format.sign()),
        FloatOp::Min | FloatOp::Max | FloatOp::Min3 | FloatOp::Max3 => {
            let source = |x: u64| if mode.magnitude { x & !format.sign() } else { x };
            let largest = matches!(op, FloatOp::Max | FloatOp::Max3);
            let two = extremum(format, mode.nan, source(a), source(b), largest);
            match op {
                FloatOp::Min3 | FloatOp::Max3 => extremum(format, mode.nan, two, source(c), largest),
                _ if mode.sign_product && !format.is_nan(two) => two | (a ^ b) & format.sign(),
                _ => two,
            }
        }
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
                // the remaining operation is the reciprocal
                _ => super::exact::Value::scaled(false, 1, 0).over(x),
            };
            format.pack(value, mode.round)
        }
    };
    let result = if ftz { format.flush(result) } else { result };
    let result = if mode.sat { saturated(format, result) } else { result };
    if mode.relu && result & format.sign() != 0 && !format.is_nan(result) { 0 } else { result }
}

/// Clamps a number to [0, 1]; NaN becomes 0.
pub(crate) fn saturated(format: Format, bits: u64) -> u64 {
    let one = format.pack(super::exact::Value::scaled(false, 1, 0), Round::Nearest);
    if format.is_nan(bits) || bits & format.sign() != 0 { 0 } else { bits.min(one) }
}

/// Returns the minimum or maximum; -0 is less than +0. A NaN is ignored if the other operand is a
/// number, unless `nan` is set.
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
            // map sign and magnitude to an order of integers
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

/// Computes `testp` in every lane.
pub(crate) fn test(test: FloatTest, ty: FloatTy, a: &Lanes) -> Lanes {
    let format = format_of(ty);
    map1(a, |bits| {
        let magnitude = bits & (format.sign() - 1);
        let holds = match test {
            FloatTest::Finite => magnitude < format.infinity(),
            FloatTest::Infinite => magnitude == format.infinity(),
            FloatTest::Number => !format.is_nan(bits),
            FloatTest::NotANumber => format.is_nan(bits),
            // "positive and negative zero are considered normal numbers" (PTX ISA 9.1, 9.7.3.1)
            FloatTest::Normal => {
                magnitude < format.infinity() && (magnitude == 0 || !format.is_subnormal(bits))
            }
            FloatTest::Subnormal => format.is_subnormal(bits) && magnitude != 0,
        };
        u64::from(holds)
    })
}
