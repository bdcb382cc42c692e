//! Conversions between types.

use super::super::lanes::{Lanes, map1, map2, sign_extend, width_mask};
use super::exact::{F32, Format, Value};
use super::float::saturated;
use super::{format_of, int};
use warpbound_core::program::sem::{Convert, FloatTy, IntTy, Round, Tf32Mode, ValueTy};

/// Returns the result of a conversion in every lane; `low` is the lower half of a packed result.
/// Signed results are sign-extended, for destination registers wider than the type.
pub(crate) fn lanes(convert: &Convert, src: &Lanes, low: Option<&Lanes>) -> Lanes {
    match (convert.from, convert.to) {
        (ValueTy::Int(from), ValueTy::Int(to)) if !convert.sat => {
            if from.bits <= to.bits && from.signed {
                let mask = if to.signed { u64::MAX } else { width_mask(to.bits.into()) };
                map1(src, |v| sign_extend(v, from.bits.into()) as u64 & mask)
            } else if to.signed {
                let from_mask = width_mask(from.bits.into());
                map1(src, |v| sign_extend(v & from_mask, to.bits.into()) as u64)
            } else {
                let mask = width_mask(from.bits.min(to.bits).into());
                map1(src, |v| v & mask)
            }
        }
        (_, ValueTy::Float(packed)) if packed.half().is_some() => {
            let half_type = packed.half().unwrap_or(packed);
            let half = |v: u64| scalar(convert, ValueTy::Float(half_type), v);
            match low {
                Some(low) => map2(src, low, |high, low| half(high) << 16 | half(low)),
                None => map1(src, half),
            }
        }
        _ => map1(src, |v| scalar(convert, convert.to, v)),
    }
}

/// Returns the result of a conversion of one number to `to`.
fn scalar(convert: &Convert, to: ValueTy, bits: u64) -> u64 {
    let value = match convert.from {
        ValueTy::Int(from) => {
            let number = number(from, bits);
            if let ValueTy::Int(to) = to {
                let (least, most) = int::range(to);
                return if convert.sat { number.clamp(least, most) as u64 } else { number as u64 };
            }
            Value::scaled(number < 0, number.unsigned_abs(), 0)
        }
        ValueTy::Float(from) => {
            let format = format_of(from);
            let bits = bits & (format.sign() | (format.sign() - 1));
            format.unpack(if flushes(convert, format) { format.flush(bits) } else { bits })
        }
    };
    match to {
        ValueTy::Int(to) if value == Value::Nan => nan_as_integer(convert.from, to),
        ValueTy::Int(to) => {
            let (least, most) = int::range(to);
            value.clamped(convert.round, least, most) as u64
        }
        ValueTy::Float(ty) => {
            let format = format_of(ty);
            // an integer zero has no sign
            let value = match value {
                Value::Zero(_) if matches!(convert.from, ValueTy::Int(_)) => Value::Zero(false),
                value if convert.integral => value.integral(convert.round),
                value => value,
            };
            let bits = format.pack(value, convert.round);
            // the encoding of infinity is one more than that of the largest number
            let beyond = convert.finite && !format.is_nan(bits) && bits & !format.sign() == format.infinity();
            let bits = if beyond { bits - 1 } else { bits };
            let bits = if flushes(convert, format) { format.flush(bits) } else { bits };
            let bits = if convert.sat { saturated(format, bits) } else { bits };
            if convert.relu && bits & format.sign() != 0 && !format.is_nan(bits) { 0 } else { bits }
        }
    }
}

/// Rounds single precision to TF32, whose bits are the upper 19 of a single-precision number.
pub(crate) fn tf32(bits: u32, mode: Tf32Mode) -> u32 {
    const REST: u32 = (1 << 13) - 1;
    const SIGN: u32 = 1 << 31;
    const INFINITY: u32 = 0x7f80_0000;
    let (sign, magnitude) = (bits & SIGN, bits & !SIGN);
    if magnitude > INFINITY {
        return F32.nan as u32;
    }
    // rounding up may carry into the exponent, and the result is still correct
    let up = match mode.round {
        None => REST / 2 + 1,
        Some(Round::Nearest) => REST / 2 + (magnitude >> 13 & 1),
        Some(Round::Zero) => 0,
        Some(Round::Up) => {
            if sign == 0 {
                REST
            } else {
                0
            }
        }
        Some(Round::Down) => {
            if sign == 0 {
                0
            } else {
                REST
            }
        }
    };
    let rounded = if magnitude == INFINITY { magnitude } else { (magnitude + up) & !REST };
    let largest = INFINITY - REST - 1;
    let rounded = if mode.finite { rounded.min(largest) } else { rounded };
    if mode.relu && sign != 0 { 0 } else { sign | rounded }
}

/// Returns the integer to which a NaN is converted: "zero if source is not .f64 and destination is
/// not .s64, .u64; otherwise 1 << (BitWidth(dst) - 1)" (PTX ISA 9.1, 9.7.9.21).
fn nan_as_integer(from: ValueTy, to: IntTy) -> u64 {
    match (from == ValueTy::Float(FloatTy::F64) || to.bits == 64, to.signed) {
        (false, _) => 0,
        (true, true) => int::range(to).0 as u64,
        (true, false) => 1 << (to.bits - 1),
    }
}

/// Returns whether a conversion flushes numbers of this format. `.ftz` applies to single precision
/// only; halves and doubles keep their subnormal numbers.
///
/// Between single precision and halves it has no effect, contrary to the PTX ISA: ptxas emits
/// conversions without FTZ for `cvt.ftz.f16.f32` and `cvt.ftz.f32.f16` from sm_61 to sm_90, and
/// ZLUDA's sweep tests, which were run on NVIDIA GPUs, note that the former flushes no source.
fn flushes(convert: &Convert, format: Format) -> bool {
    const HALF: ValueTy = ValueTy::Float(FloatTy::F16);
    convert.ftz && format == F32 && convert.from != HALF && convert.to != HALF
}

fn number(ty: IntTy, bits: u64) -> i128 {
    let width = u32::from(ty.bits);
    if ty.signed { i128::from(sign_extend(bits, width)) } else { i128::from(bits & width_mask(width)) }
}

/// Returns a conversion without modifiers, for tests.
#[cfg(test)]
pub(super) fn conversion(from: ValueTy, to: ValueTy, round: Round) -> Convert {
    Convert {
        dst: warpbound_core::base::RegId::new(0),
        src: warpbound_core::program::sem::Operand::Imm(0),
        src2: None,
        from,
        to,
        round,
        integral: false,
        sat: false,
        ftz: false,
        relu: false,
        finite: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use warpbound_core::base::WARP_SIZE;

    const F32T: ValueTy = ValueTy::Float(FloatTy::F32);
    const F64T: ValueTy = ValueTy::Float(FloatTy::F64);
    const F16T: ValueTy = ValueTy::Float(FloatTy::F16);

    #[test]
    fn tf32_keeps_eleven_bits() {
        let of = |round, bits| tf32(bits, Tf32Mode { round, relu: false, finite: false });
        let (away, even, zero) = (None, Some(Round::Nearest), Some(Round::Zero));
        // one plus this number of units of 2^-23; a unit of TF32 is 8192 of them
        for (rest, expected) in [
            (0, [0, 0, 0]),
            (4095, [0, 0, 0]),
            (4096, [8192, 0, 0]),
            (4097, [8192, 8192, 0]),
            (8192 + 4095, [8192, 8192, 8192]),
            (8192 + 4096, [16384, 16384, 8192]),
        ] {
            for sign in [0, 0x8000_0000] {
                let one = 0x3f80_0000 | sign;
                let got = [away, even, zero].map(|round| of(round, one + rest));
                assert_eq!(got, expected.map(|more| one + more), "{rest}");
            }
        }
        for round in [away, even, zero] {
            assert_eq!([of(round, 0x7f80_0001), of(round, 0xffff_ffff)], [0x7fff_ffff; 2]);
            assert_eq!([of(round, 0x7f80_0000), of(round, 0x8000_0000)], [0x7f80_0000, 0x8000_0000]);
        }
        let most = 0x7f7f_ffff;
        assert_eq!([away, even, zero].map(|round| of(round, most)), [0x7f80_0000, 0x7f80_0000, 0x7f7f_e000]);
        let finite = |bits| tf32(bits, Tf32Mode { round: None, relu: false, finite: true });
        assert_eq!(
            [0x7f7f_ffff, 0x7f80_0000, 0xff80_0000, 0x7fc0_0000].map(finite),
            [0x7f7f_e000, 0x7f7f_e000, 0xff7f_e000, 0x7fff_ffff]
        );
        let relu = |bits| tf32(bits, Tf32Mode { round: even, relu: true, finite: false });
        assert_eq!([0xbf80_0000, 0x8000_0000, 0xffc0_0000].map(relu), [0, 0, 0x7fff_ffff]);
        // subnormal numbers are rounded to the same grid
        assert_eq!([of(away, 0x1000), of(even, 0x1000), of(even, 0x1001)], [0x2000, 0, 0x2000]);
    }

    fn int(bits: u8, signed: bool) -> ValueTy {
        ValueTy::Int(IntTy { bits, signed })
    }

    fn apply(convert: &Convert, bits: u64) -> u64 {
        lanes(convert, &[bits; WARP_SIZE], None)[7]
    }

    fn single(x: f32) -> u64 {
        u64::from(x.to_bits())
    }

    #[test]
    fn integers_widen_narrow_and_saturate() {
        let to = |from, to, bits| apply(&conversion(from, to, Round::Nearest), bits);
        assert_eq!(to(int(8, true), int(32, true), 0x80) as u32, 0xffff_ff80);
        assert_eq!(to(int(8, false), int(32, true), 0x80) as u32, 0x80);
        assert_eq!(to(int(32, true), int(8, true), 0x1ff) as u32, 0xffff_ffff);
        assert_eq!(to(int(32, true), int(8, false), 0x1ff) as u32, 0xff);
        assert_eq!(to(int(32, true), int(64, false), 0xffff_ffff), u64::MAX);
        assert_eq!(to(int(32, false), int(64, true), 0xffff_ffff), 0xffff_ffff);
        let saturating =
            |from, to, bits| apply(&Convert { sat: true, ..conversion(from, to, Round::Nearest) }, bits);
        assert_eq!(saturating(int(32, true), int(8, true), 0xffff_0000) as u8, 0x80);
        assert_eq!(saturating(int(32, true), int(8, false), 0xffff_0000), 0);
        assert_eq!(saturating(int(64, false), int(32, true), u64::MAX), 0x7fff_ffff);
    }

    #[test]
    fn floats_round_to_integers_in_every_direction() {
        let rows = [
            (2.5, [2, 2, 2, 3]),
            (-2.5, [-2, -2, -3, -2]),
            (3.5, [4, 3, 3, 4]),
            (-0.25, [0, 0, -1, 0]),
            (1e-30, [0, 0, 0, 1]),
            (1e30, [i32::MAX; 4]),
            (-1e30, [i32::MIN; 4]),
            (f32::INFINITY, [i32::MAX; 4]),
            (f32::NAN, [0; 4]),
            (8_388_609.0, [8_388_609; 4]),
        ];
        for (x, expected) in rows {
            for (round, y) in [Round::Nearest, Round::Zero, Round::Down, Round::Up].into_iter().zip(expected)
            {
                assert_eq!(
                    apply(&conversion(F32T, int(32, true), round), single(x)) as i32,
                    y,
                    "{x} {round:?}"
                );
                let integral = Convert { integral: true, ..conversion(F32T, F32T, round) };
                let z = f32::from_bits(apply(&integral, single(x)) as u32);
                if x.abs() < 1e9 {
                    assert_eq!(z, y as f32);
                    assert_eq!(z.is_sign_negative(), x.is_sign_negative() && z <= 0.0);
                }
            }
        }
        assert_eq!(apply(&conversion(F32T, int(8, false), Round::Zero), single(300.0)), 255);
        assert_eq!(apply(&conversion(F32T, int(32, false), Round::Zero), single(-1.0)), 0);
        assert_eq!(
            apply(&conversion(F64T, int(64, false), Round::Zero), 1e19f64.to_bits()),
            10_000_000_000_000_000_000
        );
        assert_eq!(apply(&conversion(F64T, int(64, true), Round::Zero), 1e19f64.to_bits()), i64::MAX as u64);
        let huge = Convert { integral: true, ..conversion(F64T, F64T, Round::Up) };
        assert_eq!(f64::from_bits(apply(&huge, 1e300f64.to_bits())), 1e300);
    }

    #[test]
    fn narrowing_rounds_flushes_and_saturates() {
        let x = 1.0 + 2f64.powi(-30);
        let to = |round, x: f64| f32::from_bits(apply(&conversion(F64T, F32T, round), x.to_bits()) as u32);
        assert_eq!(to(Round::Nearest, x), 1.0);
        assert_eq!(to(Round::Up, x), 1.0 + f32::EPSILON);
        assert_eq!(to(Round::Down, -x), -1.0 - f32::EPSILON);
        assert_eq!(to(Round::Zero, 1e300), f32::MAX);
        assert_eq!(to(Round::Down, 1e300), f32::MAX);
        assert_eq!(to(Round::Up, 1e300), f32::INFINITY);
        assert_eq!(to(Round::Up, -1e-300).to_bits(), 0x8000_0000);
        let ftz = Convert { ftz: true, ..conversion(F64T, F32T, Round::Nearest) };
        assert_eq!(apply(&ftz, 1e-40f64.to_bits()), 0);
        let sat = Convert { sat: true, ..conversion(F32T, F32T, Round::Nearest) };
        assert_eq!(apply(&sat, single(-0.5)), 0);
        assert_eq!(apply(&sat, single(1.5)), single(1.0));
        assert_eq!(apply(&sat, single(f32::NAN)), 0);
        assert_eq!(apply(&conversion(F32T, F16T, Round::Nearest), single(65520.0)), 0x7c00);
        assert_eq!(apply(&conversion(F32T, F16T, Round::Zero), single(65520.0)), 0x7bff);
        assert_eq!(apply(&conversion(F16T, F32T, Round::Nearest), 0x0001), single(2f32.powi(-24)));
        let packed = conversion(F32T, ValueTy::Float(FloatTy::F16x2), Round::Nearest);
        let two = lanes(&packed, &[single(2.0); WARP_SIZE], Some(&[single(1.0); WARP_SIZE]));
        assert_eq!(two[0], 0x4000_3c00);
    }

    proptest! {
        #[test]
        fn nearest_agrees_with_the_host(v: u64, x: f64, y: f32) {
            let of = |from, to, bits| apply(&conversion(from, to, Round::Nearest), bits);
            prop_assert_eq!(of(int(64, true), F32T, v), single(v as i64 as f32));
            prop_assert_eq!(of(int(64, false), F64T, v), (v as f64).to_bits());
            prop_assert_eq!(of(int(32, false), F32T, v), single(v as u32 as f32));
            prop_assert_eq!(of(int(32, true), F32T, v), single(v as i32 as f32));
            prop_assert_eq!(of(F64T, F32T, x.to_bits()), single(x as f32));
            prop_assert_eq!(of(F32T, F64T, single(y)), f64::from(y).to_bits());
            prop_assert_eq!(of(F64T, F16T, x.to_bits()), u64::from(warpbound_core::program::launch::f16_bits(x)));
            prop_assert_eq!(of(F32T, F16T, single(y)), u64::from(warpbound_core::program::launch::f16_bits(y.into())));
            let cut = |to, x: f64| apply(&conversion(F64T, to, Round::Zero), x.to_bits());
            prop_assert_eq!(cut(int(32, true), x) as u32, x as i32 as u32);
            prop_assert_eq!(cut(int(64, true), x % 1e19), (x % 1e19) as i64 as u64);
        }
    }
}
