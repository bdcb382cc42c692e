//! Products of small matrices.
//!
//! Matrices are slices by rows. `c`, m by n, becomes `a b + c`; `a` is m by k, `b` is k by n.
//! [`warpbound_core::program::sem::Product`] specifies which results are exact and when they are
//! rounded.

use super::super::lanes::Lanes;
use super::single::fma;

/// Adds a product in single precision. Factors have at most 11 significant bits.
pub(crate) fn singles([n, k]: [usize; 2], a: &[f32], b: &[f32], c: &mut [f32]) {
    // the product of such factors within these limits is a single, so `a * b + c` rounds once
    let is_tame = |x: &f32| *x == 0.0 || !x.is_finite() || (1e-18..1e18).contains(&x.abs());
    if a.iter().chain(b).all(is_tame) {
        add_products([n, k], a, b, c, |a, b, c| a * b + c);
    } else {
        add_products([n, k], a, b, c, fma::<false>);
    }
}

/// The bits behind the point that a term of a sum of products keeps, on Hopper.
const KEPT_BITS: i32 = 25;

/// Adds a product as tensor cores do: all terms of an element are added in one step. Factors have at
/// most 11 significant bits, and there are at most 32 products per element.
///
/// Each term is cut off, toward zero, [`KEPT_BITS`] behind the point of the term with the largest
/// exponent, where the exponent of a product is the sum of those of its factors, and subnormal factors
/// have the exponent `least` of the least normal one. The sum is exact, and is cut off to a single.
pub(crate) fn sums_of_products([n, k]: [usize; 2], least: i32, a: &[f32], b: &[f32], c: &mut [f32]) {
    debug_assert!(k <= 32);
    let of_a: Vec<i32> = a.iter().map(|&x| exponent(x, least)).collect();
    let of_b: Vec<i32> = b.iter().map(|&x| exponent(x, least)).collect();
    let mut highest = vec![0; n];
    let mut scale = vec![0.0; n];
    let mut sums = vec![0i64; n];
    for ((a, of_a), c) in a.chunks_exact(k).zip(of_a.chunks_exact(k)).zip(c.chunks_exact_mut(n)) {
        for (highest, &c) in highest.iter_mut().zip(&*c) {
            *highest = exponent(c, -126);
        }
        for (&of_a, of_b) in of_a.iter().zip(of_b.chunks_exact(n)) {
            for (highest, &of_b) in highest.iter_mut().zip(of_b) {
                *highest = (*highest).max(of_a + of_b);
            }
        }
        for ((scale, sum), (&highest, &c)) in scale.iter_mut().zip(&mut sums).zip(highest.iter().zip(&*c)) {
            *scale = power_of_two(KEPT_BITS - highest.max(LOWEST));
            *sum = i64::from((f64::from(c) * *scale) as i32);
        }
        for (&a, b) in a.iter().zip(b.chunks_exact(n)) {
            let a = f64::from(a);
            for ((sum, &b), &scale) in sums.iter_mut().zip(b).zip(&scale) {
                // a product is less than four units of its exponent, so that it fits
                *sum += i64::from((a * f64::from(b) * scale) as i32);
            }
        }
        for ((c, &sum), (&highest, column)) in c.iter_mut().zip(&sums).zip(highest.iter().zip(0..)) {
            *c = if highest < INFINITE {
                cut_off(sum as f64 * power_of_two(highest.max(LOWEST) - KEPT_BITS))
            } else {
                let factors = a.iter().zip(b.iter().skip(column).step_by(n));
                factors.fold(*c, |sum, (&a, &b)| fma::<false>(a, b, sum))
            };
        }
    }
}

/// The exponent that stands for infinity and NaN; no sum of a finite one and of two others reaches it.
const INFINITE: i32 = 1 << 20;

/// The lowest exponent of a sum: that of the product of two least singles.
const LOWEST: i32 = -300;

/// Returns the exponent of the highest bit, or `least` if it is less. Zero has one that no other term is
/// aligned to.
fn exponent(x: f32, least: i32) -> i32 {
    match x.to_bits() >> 23 & 0xff {
        0 if x == 0.0 => -INFINITE,
        // infinity times zero is found, too
        0xff => 4 * INFINITE,
        biased => (biased as i32 - 127).max(least),
    }
}

/// Returns a power of two that is a normal number of double precision.
fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((1023 + exponent) as u64) << 52)
}

/// Rounds to a single toward zero. What is beyond all singles becomes infinity.
fn cut_off(x: f64) -> f32 {
    let nearest = x as f32;
    if f64::from(nearest).abs() > x.abs() && x.abs() < 128f64.exp2() {
        f32::from_bits(nearest.to_bits() - 1)
    } else {
        nearest
    }
}

/// Adds a product in double precision.
pub(crate) fn doubles([n, k]: [usize; 2], a: &[f64], b: &[f64], c: &mut [f64]) {
    add_products([n, k], a, b, c, f64::mul_add);
}

/// Adds a product of integers. Factors have at most 8 bits and a sign, so a sum of 64 products fits
/// into 64 bits.
pub(crate) fn integers([n, k]: [usize; 2], a: &[i64], b: &[i64], c: &mut [i64]) {
    add_products([n, k], a, b, c, |a, b, c| a * b + c);
}

/// Adds a product; the products are added to each element of `c` in ascending order of k.
#[inline(always)]
fn add_products<T: Copy>([n, k]: [usize; 2], a: &[T], b: &[T], c: &mut [T], step: impl Fn(T, T, T) -> T) {
    for (a_row, c_row) in a.chunks_exact(k).zip(c.chunks_exact_mut(n)) {
        for (&a, b_row) in a_row.iter().zip(b.chunks_exact(n)) {
            for (c, &b) in c_row.iter_mut().zip(b_row) {
                *c = step(a, b, *c);
            }
        }
    }
}

/// Converts a half, given by its 16 bits, to a single.
pub(crate) fn from_half(bits: u64) -> f32 {
    let bits = bits as u32;
    let sign = (bits & 0x8000) << 16;
    let magnitude = bits & 0x7fff;
    let value = match magnitude {
        // subnormal: a multiple of 2^-24
        0..0x400 => return f32::from_bits((magnitude as f32 / 16_777_216.0).to_bits() | sign),
        0x7c00.. => magnitude << 13 | 0x7f80_0000,
        _ => (magnitude << 13) + (112 << 23),
    };
    f32::from_bits(value | sign)
}

/// Rounds a single to the nearest half, ties to even; a NaN becomes the canonical one.
pub(crate) fn to_half(value: f32) -> u64 {
    let sign = value.to_bits() >> 16 & 0x8000;
    let magnitude = value.to_bits() & 0x7fff_ffff;
    let half = match magnitude {
        0x7f80_0001.. => return 0x7fff,
        // a value half a unit above the largest half rounds to infinity
        0x477f_f000.. => 0x7c00,
        // subnormal: a multiple of 2^-24
        0..0x3880_0000 => (f64::from(value.abs()) * 16_777_216.0).round_ties_even() as u32,
        _ => (magnitude + 0xfff + (magnitude >> 13 & 1) - (112 << 23)) >> 13,
    };
    u64::from(sign | half)
}

/// Returns the transpose of an 8 by 8 matrix of 16-bit elements, in which lane `4 g + t` holds row
/// `g`, columns `2 t` and `2 t + 1`.
pub(crate) fn transposed(words: &Lanes) -> Lanes {
    let element = |row: usize, col: usize| words[4 * row + col / 2] >> (16 * (col % 2)) & 0xffff;
    std::array::from_fn(|lane| {
        let (row, col) = (lane / 4, 2 * (lane % 4));
        element(col, row) | element(col + 1, row) << 16
    })
}

#[cfg(test)]
mod tests {
    use super::super::exact::{F16, F32};
    use super::*;
    use warpbound_core::program::sem::Round;

    #[test]
    fn halves_convert_as_in_the_exact_implementation() {
        for bits in 0..=0xffffu64 {
            let exact = F32.pack(F16.unpack(bits), Round::Nearest) as u32;
            let single = from_half(bits);
            assert!(single.is_nan() && F16.is_nan(bits) || single.to_bits() == exact, "{bits:#x}");
        }
        // neighbours of halves, of ties between halves, and others
        let interesting = (0..=0xffffu32).flat_map(|half| {
            let magnitude = (half & 0x7fff) << 13;
            let bits = (magnitude + (112 << 23)) | ((half & 0x8000) << 16);
            [
                bits,
                bits + 1,
                bits.wrapping_sub(1),
                bits + 0x1000,
                bits + 0xfff,
                bits + 0x1001,
                half << 16,
                magnitude,
            ]
        });
        for bits in interesting {
            let exact = F16.pack(F32.unpack(u64::from(bits)), Round::Nearest);
            assert_eq!(to_half(f32::from_bits(bits)), exact, "{bits:#x}");
        }
    }

    /// The fast implementation agrees with the general one wherever it is used.
    #[test]
    fn products_of_short_factors_are_exact() {
        let mut state = 1u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state
        };
        for _ in 0..200 {
            // 11 significant bits, exponents from 2^-59 to 2^59
            let mut factor = || {
                let exponent = 127 - 59 + (next() >> 8) % 119;
                f32::from_bits(next() & 0x8000_0000 | exponent << 23 | next() >> 9 & 0x007f_e000)
            };
            let a: Vec<f32> = (0..32).map(|_| factor()).collect();
            let b: Vec<f32> = (0..32).map(|_| factor()).collect();
            let start: Vec<f32> = (0..16).map(|_| factor()).collect();
            let (mut short, mut long) = (start.clone(), start);
            singles([4, 8], &a, &b, &mut short);
            add_products([4, 8], &a, &b, &mut long, f32::mul_add);
            assert_eq!(short, long);
        }
        // a product that no single can represent, cancelled by the sum
        let mut c = [f32::MIN, 0.0];
        singles([1, 1], &[2f32.powi(64), 2f32.powi(-80)], &[2f32.powi(64)], &mut c);
        assert_eq!(c, [(f64::from(f32::MIN) + 128f64.exp2()) as f32, 2f32.powi(-16)]);
    }
}
