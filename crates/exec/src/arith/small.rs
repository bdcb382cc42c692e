//! Floating-point numbers of 8 bits and fewer: e4m3, e5m2 and the types of 6 and 4 bits.
//!
//! Every number that is converted to or from these types can be represented exactly as a double,
//! and scaling a double by a power of two is exact in their range. Rounding the scaled number
//! once to an integer therefore gives the nearest number of the type.

use super::super::lanes::{Lanes, map1, map2};
use super::exact::{F32, F64, Format};
use super::format_of;
use warpbound_core::program::sem::{Round, SmallConvert, SmallTy, SmallWay};

/// Returns the result of a conversion in every lane. `second` is the lower of two sources.
pub(crate) fn lanes(convert: &SmallConvert, first: &Lanes, second: Option<&Lanes>) -> Lanes {
    let SmallConvert { small, way, relu, .. } = *convert;
    let place = small.place_bits();
    let narrow = |format: Format, bits: u64| encode(small, as_double(format, bits), relu);
    match way {
        SmallWay::FromSingles(..) => map2(first, second.unwrap_or(first), |upper, lower| {
            narrow(F32, upper) << place | narrow(F32, lower)
        }),
        SmallWay::FromPacked(_, ty) => {
            let format = format_of(ty);
            map1(first, |v| narrow(format, v >> 16) << place | narrow(format, v))
        }
        SmallWay::ToPacked(_, ty) => {
            let format = format_of(ty);
            let wide = |bits: u64| {
                let result = format.pack(F64.unpack(decode(small, bits).to_bits()), Round::Nearest);
                if relu && result & format.sign() != 0 && !format.is_nan(result) { 0 } else { result }
            };
            map1(first, |v| wide(v >> place) << 16 | wide(v))
        }
    }
}

/// Returns the exact value of these bits.
fn as_double(format: Format, bits: u64) -> f64 {
    let bits = bits & (format.sign() | (format.sign() - 1));
    f64::from_bits(F64.pack(format.unpack(bits), Round::Nearest))
}

/// Returns the bits of the largest finite number, and of NaN if there is one.
fn limits(ty: SmallTy) -> (u64, Option<u64>) {
    match ty {
        SmallTy::E4m3 => (0x7e, Some(0x7f)),
        SmallTy::E5m2 => (0x7b, Some(0x7f)),
        SmallTy::E2m1 => (0x7, None),
        SmallTy::E2m3 | SmallTy::E3m2 => (0x1f, None),
    }
}

fn bias(exponent_bits: u32) -> i32 {
    (1 << (exponent_bits - 1)) - 1
}

/// Returns the bits of the nearest number, ties to even. Larger values become the largest number,
/// and so does NaN for types without a NaN.
fn encode(ty: SmallTy, value: f64, relu: bool) -> u64 {
    let (exponent_bits, fraction_bits) = ty.shape();
    let (largest, nan) = limits(ty);
    if value.is_nan() {
        return nan.unwrap_or(largest);
    }
    let sign = if value.is_sign_negative() { 1 << (exponent_bits + fraction_bits) } else { 0 };
    if sign != 0 && relu {
        return 0;
    }
    let magnitude = value.abs();
    let smallest = 1 - bias(exponent_bits);
    // subnormal doubles are far below the smallest number of any of these types
    let exponent = ((magnitude.to_bits() >> 52) as i32 - 1023).clamp(smallest, 1 << exponent_bits);
    let units = (magnitude * power_of_two(fraction_bits as i32 - exponent)).round_ties_even();
    let normal = (exponent - smallest) as u64;
    // the hidden bit of a normal number increments the exponent, and so does a carry out of the
    // fraction
    let bits = (normal << fraction_bits).saturating_add(units as u64);
    sign | bits.min(largest)
}

/// Returns the value of these bits.
pub(crate) fn decode(ty: SmallTy, bits: u64) -> f64 {
    let (exponent_bits, fraction_bits) = ty.shape();
    let (largest, nan) = limits(ty);
    let magnitude = bits & ((1 << (exponent_bits + fraction_bits)) - 1);
    let negative = bits >> (exponent_bits + fraction_bits) & 1 == 1;
    let value = if magnitude > largest {
        if ty == SmallTy::E5m2 && magnitude == 0x7c { f64::INFINITY } else { f64::NAN }
    } else {
        let fraction = (magnitude & ((1 << fraction_bits) - 1)) as f64;
        let biased = (magnitude >> fraction_bits) as i32;
        let hidden = if biased > 0 { (1u32 << fraction_bits).into() } else { 0.0 };
        (hidden + fraction) * power_of_two(biased.max(1) - bias(exponent_bits) - fraction_bits as i32)
    };
    debug_assert!(nan.is_some() || value.is_finite(), "only types with a NaN have special values");
    if negative { -value } else { value }
}

/// Returns 2 to a power that a double can represent.
fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use warpbound_core::base::{RegId, WARP_SIZE};
    use warpbound_core::program::sem::{FloatTy, Operand};

    /// Returns the values of a type's codes from zero up, written out: subnormal numbers, then
    /// powers of two times a fraction.
    fn values(ty: SmallTy) -> Vec<f64> {
        let (steps, lowest, count) = match ty {
            SmallTy::E4m3 => (8u32, 2f64.powi(-9), 127),
            SmallTy::E5m2 => (4, 2f64.powi(-16), 124),
            SmallTy::E2m1 => (2, 0.5, 8),
            SmallTy::E2m3 => (8, 0.125, 32),
            SmallTy::E3m2 => (4, 0.0625, 32),
        };
        let mut list: Vec<f64> = (0..steps).map(|step| f64::from(step) * lowest).collect();
        let mut unit = lowest;
        while list.len() < count {
            list.extend((steps..2 * steps).map(|step| f64::from(step) * unit));
            unit *= 2.0;
        }
        list.truncate(count);
        list
    }

    const ALL: [SmallTy; 5] = [SmallTy::E4m3, SmallTy::E5m2, SmallTy::E2m1, SmallTy::E2m3, SmallTy::E3m2];

    /// Returns the code of the nearest value, found by a search through all of them; ties go to the
    /// even code.
    fn nearest(list: &[f64], value: f64) -> u64 {
        let distance = |code: &usize| (list[*code] - value).abs();
        let least = (0..list.len()).map(|code| distance(&code)).fold(f64::INFINITY, f64::min);
        let mut near = (0..list.len()).filter(|code| distance(code) == least);
        let first = near.next().unwrap_or(0);
        near.next().filter(|code| code % 2 == 0).unwrap_or(first) as u64
    }

    fn expected(ty: SmallTy, list: &[f64], value: f64) -> u64 {
        let sign_bit = match ty {
            SmallTy::E4m3 | SmallTy::E5m2 => 0x80,
            SmallTy::E2m1 => 0x8,
            _ => 0x20,
        };
        let has_nan = matches!(ty, SmallTy::E4m3 | SmallTy::E5m2);
        if value.is_nan() {
            return if has_nan { 0x7f } else { list.len() as u64 - 1 };
        }
        let sign = if value.is_sign_negative() { sign_bit } else { 0 };
        let magnitude = value.abs();
        let largest = list.len() - 1;
        sign | if magnitude >= list[largest] { largest as u64 } else { nearest(list, magnitude) }
    }

    fn convert(small: SmallTy, way: SmallWay, relu: bool) -> SmallConvert {
        SmallConvert { dst: RegId::new(0), small, way, relu }
    }

    #[test]
    fn largest_and_smallest_numbers_are_those_of_the_types() {
        for (ty, largest, smallest) in [
            (SmallTy::E4m3, 448.0, 2f64.powi(-9)),
            (SmallTy::E5m2, 57344.0, 2f64.powi(-16)),
            (SmallTy::E2m1, 6.0, 0.5),
            (SmallTy::E2m3, 7.5, 0.125),
            (SmallTy::E3m2, 28.0, 0.0625),
        ] {
            let list = values(ty);
            assert_eq!((list[list.len() - 1], list[1]), (largest, smallest), "{ty:?}");
        }
    }

    #[test]
    fn every_code_means_its_value() {
        for ty in ALL {
            let list = values(ty);
            for (code, &value) in list.iter().enumerate() {
                let sign = 1 << (ty.shape().0 + ty.shape().1);
                assert_eq!(decode(ty, code as u64), value);
                assert_eq!(decode(ty, code as u64 | sign).to_bits(), (-value).to_bits());
            }
        }
        assert!([0x7f, 0xff].iter().all(|&code| decode(SmallTy::E4m3, code).is_nan()));
        assert!([0x7d, 0x7e, 0xff].iter().all(|&code| decode(SmallTy::E5m2, code).is_nan()));
        assert_eq!(decode(SmallTy::E5m2, 0xfc), f64::NEG_INFINITY);
    }

    #[test]
    fn every_half_becomes_the_nearest_number() {
        for ty in ALL {
            let list = values(ty);
            let operand = Operand::Imm(0);
            let [half, brain] = [FloatTy::F16x2, FloatTy::Bf16x2]
                .map(|packed| convert(ty, SmallWay::FromPacked(operand, packed), false));
            let single = convert(ty, SmallWay::FromSingles(operand, operand), false);
            let relu = convert(ty, SmallWay::FromSingles(operand, operand), true);
            let place = if ty == SmallTy::E2m1 { 4 } else { 8 };
            for bits in 0..1u64 << 16 {
                let of_half = half_value(bits);
                let of_brain = f64::from(f32::from_bits((bits as u32) << 16));
                for (convert, value) in [(&half, of_half), (&brain, of_brain)] {
                    // 1.0 in the lower part
                    let one = if std::ptr::eq(convert, &half) { 0x3c00 } else { 0x3f80 };
                    let got = lanes(convert, &[bits << 16 | one; WARP_SIZE], None)[3];
                    assert_eq!(got >> place, expected(ty, &list, value), "{ty:?} of {value}");
                    assert_eq!(got & ((1 << place) - 1), expected(ty, &list, 1.0));
                }
                let singles = [[bits << 16; WARP_SIZE], [0xc000_0000; WARP_SIZE]];
                let got = lanes(&single, &singles[0], Some(&singles[1]))[5];
                assert_eq!(got, expected(ty, &list, of_brain) << place | expected(ty, &list, -2.0));
                let got = lanes(&relu, &singles[1], Some(&singles[0]))[5];
                let positive = if of_brain.is_sign_negative() && !of_brain.is_nan() { 0.0 } else { of_brain };
                assert_eq!(got, expected(ty, &list, positive), "{ty:?} of {of_brain}, relu");
            }
        }
    }

    /// Returns the value of a binary16 number, from its definition.
    fn half_value(bits: u64) -> f64 {
        let (exponent, fraction) = ((bits >> 10 & 31) as i32, (bits & 0x3ff) as f64);
        let magnitude = match exponent {
            0 => fraction * 2f64.powi(-24),
            31 if fraction == 0.0 => f64::INFINITY,
            31 => f64::NAN,
            _ => (1024.0 + fraction) * 2f64.powi(exponent - 25),
        };
        if bits >> 15 == 1 { -magnitude } else { magnitude }
    }

    #[test]
    fn widening_is_exact_and_gives_one_nan() {
        for ty in ALL {
            let place = if ty == SmallTy::E2m1 { 4 } else { 8 };
            let way = |packed| SmallWay::ToPacked(Operand::Imm(0), packed);
            for bits in 0..1u64 << (2 * place) {
                let halves = lanes(&convert(ty, way(FloatTy::F16x2), false), &[bits; WARP_SIZE], None)[0];
                let brains = lanes(&convert(ty, way(FloatTy::Bf16x2), true), &[bits; WARP_SIZE], None)[0];
                for (shift, code) in [(16, bits >> place), (0, bits & ((1 << place) - 1))] {
                    let value = decode(ty, code);
                    let (half, brain) = (halves >> shift & 0xffff, brains >> shift & 0xffff);
                    if value.is_nan() {
                        assert_eq!((half, brain), (0x7fff, 0x7fff));
                    } else {
                        assert_eq!(half_value(half).to_bits(), value.to_bits());
                        let positive = if value.is_sign_negative() { 0.0 } else { value };
                        assert_eq!(f64::from(f32::from_bits((brain as u32) << 16)), positive);
                    }
                }
            }
        }
    }

    proptest! {
        #[test]
        fn every_single_becomes_the_nearest_number(bits: u32, near in -20.0f32..20.0, index in 0usize..5) {
            let ty = ALL[index];
            let list = values(ty);
            let operand = Operand::Imm(0);
            let single = convert(ty, SmallWay::FromSingles(operand, operand), false);
            let place = if ty == SmallTy::E2m1 { 4 } else { 8 };
            let wide = f32::from_bits(bits);
            let lower = near.exp2();
            let got = lanes(&single, &[bits.into(); WARP_SIZE], Some(&[lower.to_bits().into(); WARP_SIZE]))[0];
            prop_assert_eq!(got, expected(ty, &list, wide.into()) << place | expected(ty, &list, lower.into()));
        }
    }
}
