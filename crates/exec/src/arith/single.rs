//! Single precision by the host's IEEE arithmetic, rounded to nearest. The results have the same
//! bits as those of the exact implementation in [`super::float`].

const SIGN: u32 = 0x8000_0000;
const INFINITY: u32 = 0x7f80_0000;
const NAN: u32 = 0x7fff_ffff;

/// Returns the bits of a source, with subnormal numbers flushed if `FTZ`.
#[inline(always)]
pub(crate) fn flushed<const FTZ: bool>(bits: u32) -> u32 {
    if FTZ && bits & INFINITY == 0 { bits & SIGN } else { bits }
}

/// Returns the value of a source, with subnormal numbers flushed if `FTZ`.
#[inline(always)]
pub(crate) fn value_of<const FTZ: bool>(bits: u32) -> f32 {
    f32::from_bits(flushed::<FTZ>(bits))
}

/// Returns the divisor that `div.approx` uses. The instruction multiplies by a reciprocal that is
/// flushed to zero if it is subnormal: "for 2^126 < |b| < 2^128, if a is infinity, div.approx.f32
/// returns NaN, otherwise it returns a sign-preserving zero" (PTX ISA 9.1, 9.7.3.8). Division by
/// infinity gives the same quotients.
#[inline(always)]
pub(crate) fn approximate_divisor(bits: u32) -> u32 {
    /// The bits of 2^126.
    const LARGEST: u32 = (126 + 127) << 23;
    let magnitude = bits & !SIGN;
    if magnitude > LARGEST && magnitude < INFINITY { bits & SIGN | INFINITY } else { bits }
}

/// Returns the bits of a result.
#[inline(always)]
pub(crate) fn bits_of<const FTZ: bool>(value: f32) -> u32 {
    flushed::<FTZ>(if value.is_nan() { NAN } else { value.to_bits() })
}

/// Clamps a number to [0, 1]; NaN becomes 0.
#[inline(always)]
pub(crate) fn saturated(bits: u32) -> u32 {
    /// The bits of 1.
    const ONE: u32 = 0x3f80_0000;
    // the negative numbers, and NaNs of both signs
    if bits & SIGN != 0 || bits > INFINITY { 0 } else { bits.min(ONE) }
}

/// Returns a product rounded towards zero. It is exact in double precision.
#[inline(always)]
pub(crate) fn product_to_zero(a: f32, b: f32) -> f32 {
    let exact = f64::from(a) * f64::from(b);
    let nearest = exact as f32;
    let is_farther = f64::from(nearest).abs() > exact.abs();
    f32::from_bits(nearest.to_bits().wrapping_sub(u32::from(is_farther)))
}

/// Returns `a * b + c`, rounded once; `FUSED` says that the processor has an instruction for it.
///
/// Without that instruction, the product of two singles is computed in double precision, where it
/// is exact. Its sum with `c` is rounded to odd there, which keeps all information that the second
/// rounding, to single precision, needs: 53 bits are more than 24 + 2 (Boldo and Melquiond, "When
/// double rounding is odd").
#[inline(always)]
pub(crate) fn fma<const FUSED: bool>(a: f32, b: f32, c: f32) -> f32 {
    if FUSED {
        return a.mul_add(b, c);
    }
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

/// Returns the larger or smaller of two numbers; -0 is less than +0, and a NaN is ignored if the
/// other operand is a number.
#[inline(always)]
pub(crate) fn extremum<const LARGEST: bool>(a: u32, b: u32) -> u32 {
    let is_nan = |bits: u32| bits & !SIGN > INFINITY;
    // map sign and magnitude to an order of integers
    let key = |bits: u32| bits ^ if bits & SIGN == 0 { SIGN } else { u32::MAX };
    let chosen = if (key(a) < key(b)) != LARGEST { a } else { b };
    match (is_nan(a), is_nan(b)) {
        (false, false) => chosen,
        (true, false) => b,
        (false, true) => a,
        (true, true) => NAN,
    }
}
