//! The approximate functions of PTX.
//!
//! PTX documents an error bound for each function and leaves the exact bits to the hardware. The
//! functions here are computed in double precision by the `libm` crate, whose results do not depend
//! on the host, and rounded once. This is well within every documented error, but does not give the
//! bits of any particular GPU.

use super::exact::{F32, F64, Format, Value};
use warpbound_core::program::sem::{FloatOp, Round};

/// Rounds a double to the format.
fn rounded(value: f64, format: Format) -> u64 {
    format.pack(F64.unpack(value.to_bits()), Round::Nearest)
}

/// Converts a value of the format to a double, exactly.
fn widened(bits: u64, format: Format) -> f64 {
    f64::from_bits(F64.pack(format.unpack(bits), Round::Nearest))
}

/// Returns the result of `op` for one source in the given format. Flushing is done by the caller,
/// except in double precision, where `ftz` selects the gross approximations.
///
/// Operations other than those below give NaN; no front end makes them approximate.
pub(crate) fn unary(op: FloatOp, format: Format, ftz: bool, a: u64) -> u64 {
    if format == F64 && ftz {
        return gross(op, a);
    }
    let x = if format == F32 { f64::from(f32::from_bits(a as u32)) } else { widened(a, format) };
    let y = match op {
        FloatOp::Rcp => 1.0 / x,
        FloatOp::Rsqrt => 1.0 / x.sqrt(),
        FloatOp::Sin => libm::sin(x),
        FloatOp::Cos => libm::cos(x),
        FloatOp::Ex2 => libm::exp2(x),
        FloatOp::Lg2 => libm::log2(x),
        FloatOp::Tanh => libm::tanh(x),
        _ => f64::NAN,
    };
    if y.is_nan() {
        format.nan
    } else if format == F32 {
        u64::from((y as f32).to_bits())
    } else {
        rounded(y, format)
    }
}

/// Computes `rcp.approx.ftz.f64` and `rsqrt.approx.ftz.f64`, which use the upper 32 bits of the
/// source and give the upper 32 bits of the result, with subnormal numbers flushed.
fn gross(op: FloatOp, a: u64) -> u64 {
    const UPPER: u64 = 0xffff_ffff_0000_0000;
    /// "Input NaNs map to a canonical NaN with encoding 0x7fffffff00000000" (PTX ISA 9.1, 9.7.3.14
    /// and 9.7.3.17).
    const NAN: u64 = 0x7fff_ffff_0000_0000;
    // the lower half is ignored, even where it makes the difference between a NaN and an infinity
    let x = f64::from_bits(F64.flush(a) & UPPER);
    let y = match op {
        FloatOp::Rcp => 1.0 / x,
        FloatOp::Rsqrt => 1.0 / x.sqrt(),
        _ => f64::NAN,
    };
    match F64.unpack(y.to_bits()) {
        Value::Nan => NAN,
        _ => F64.flush(y.to_bits()) & UPPER,
    }
}

#[cfg(test)]
mod tests {
    use super::super::exact::F16;
    use super::*;

    fn single(op: FloatOp, x: f32) -> f32 {
        f32::from_bits(unary(op, F32, false, u64::from(x.to_bits())) as u32)
    }

    #[test]
    fn special_values_follow_the_tables_of_the_isa() {
        use FloatOp::*;
        let inf = f32::INFINITY;
        for (op, x, y) in [
            (Rcp, -inf, -0.0),
            (Rcp, -0.0, -inf),
            (Rcp, 0.0, inf),
            (Rcp, inf, 0.0),
            (Rsqrt, -0.0, -inf),
            (Rsqrt, 0.0, inf),
            (Rsqrt, inf, 0.0),
            (Rsqrt, 4.0, 0.5),
            (Sin, -0.0, -0.0),
            (Sin, 0.0, 0.0),
            (Cos, -0.0, 1.0),
            (Ex2, -inf, 0.0),
            (Ex2, -0.0, 1.0),
            (Ex2, inf, inf),
            (Ex2, -149.0, f32::from_bits(1)),
            (Ex2, 10.0, 1024.0),
            (Lg2, 0.0, -inf),
            (Lg2, -0.0, -inf),
            (Lg2, inf, inf),
            (Lg2, 8.0, 3.0),
            (Lg2, f32::from_bits(1), -149.0),
            (Tanh, inf, 1.0),
            (Tanh, -inf, -1.0),
            (Tanh, -0.0, -0.0),
        ] {
            assert_eq!(single(op, x).to_bits(), y.to_bits(), "{op:?} of {x}");
        }
        for (op, x) in [(Rsqrt, -1.0), (Rsqrt, -inf), (Sin, inf), (Cos, -inf), (Lg2, -1.0), (Lg2, -inf)] {
            assert_eq!(single(op, x).to_bits(), 0x7fff_ffff, "{op:?} of {x}");
        }
        for op in [Rcp, Rsqrt, Sin, Cos, Ex2, Lg2, Tanh] {
            assert_eq!(single(op, f32::NAN).to_bits(), 0x7fff_ffff, "{op:?}");
        }
    }

    #[test]
    fn results_agree_with_series_computed_here() {
        // an independent value for each function, from its Taylor series
        let series = |term: &dyn Fn(f64, u32) -> f64, first: f64| {
            let mut sum = 0.0;
            let mut t = first;
            for n in 0..60 {
                sum += t;
                t = term(t, n);
            }
            sum
        };
        for step in -40..=40 {
            let x = f64::from(step) / 13.0;
            let sin = series(&|t, n| -t * x * x / f64::from((2 * n + 2) * (2 * n + 3)), x);
            let cos = series(&|t, n| -t * x * x / f64::from((2 * n + 1) * (2 * n + 2)), 1.0);
            let z = x * std::f64::consts::LN_2;
            let ex2 = series(&|t, n| t * z / f64::from(n + 1), 1.0);
            let input = x as f32;
            // the slope times the rounding of the input, plus half an ulp of the result
            let near = |got: f32, expected: f64| {
                assert!(
                    (f64::from(got) - expected).abs() < 4e-7 * (1.0 + expected.abs()),
                    "{got} {expected}"
                );
            };
            near(single(FloatOp::Sin, input), sin);
            near(single(FloatOp::Cos, input), cos);
            near(single(FloatOp::Ex2, input), ex2);
            near(single(FloatOp::Lg2, ex2 as f32), x);
            let (up, down) = (ex2 * ex2, 1.0 / (ex2 * ex2));
            near(single(FloatOp::Tanh, (z as f32) * 2.0), (up - down) / (up + down));
        }
    }

    #[test]
    fn halves_and_gross_doubles() {
        assert_eq!(unary(FloatOp::Ex2, F16, false, 0x4000), 0x4400);
        assert_eq!(unary(FloatOp::Tanh, F16, false, 0x7c00), 0x3c00);
        let third = unary(FloatOp::Rcp, F64, true, 3f64.to_bits());
        assert_eq!(third & 0xffff_ffff, 0);
        assert!((f64::from_bits(third) * 3.0 - 1.0).abs() < 2f64.powi(-20));
        assert_eq!(unary(FloatOp::Rcp, F64, true, 1), f64::INFINITY.to_bits());
        // the tables of 9.7.3.14 and 9.7.3.17, by the upper words
        let upper = |op, word: u64| unary(op, F64, true, word << 32 | 1) >> 32;
        for (word, reciprocal, root) in [
            (0xfff0_0000, 0x8000_0000, 0x7fff_ffff),
            (0x8000_0001, 0xfff0_0000, 0xfff0_0000),
            (0x8000_0000, 0xfff0_0000, 0xfff0_0000),
            (0x0000_0000, 0x7ff0_0000, 0x7ff0_0000),
            (0x0000_0001, 0x7ff0_0000, 0x7ff0_0000),
            (0x7ff0_0000, 0x0000_0000, 0x0000_0000),
            (0x7ff0_0001, 0x7fff_ffff, 0x7fff_ffff),
            (0xffff_ffff, 0x7fff_ffff, 0x7fff_ffff),
        ] {
            assert_eq!(
                [upper(FloatOp::Rcp, word), upper(FloatOp::Rsqrt, word)],
                [reciprocal, root],
                "{word:#x}"
            );
        }
        assert_eq!(unary(FloatOp::Rsqrt, F64, true, (-1f64).to_bits()), 0x7fff_ffff_0000_0000);
        assert_eq!(f64::from_bits(unary(FloatOp::Rsqrt, F64, false, 0.25f64.to_bits())), 2.0);
    }
}
