//! Conversion to half precision.

/// Returns the half-precision bits of the value nearest to `value`, ties to even.
pub fn f16_bits(value: f64) -> u16 {
    let sign = if value.is_sign_negative() { 0x8000 } else { 0 };
    let magnitude = value.abs();
    if value.is_nan() {
        return 0x7fff;
    }
    if magnitude >= 65520.0 {
        return sign | 0x7c00;
    }
    // The spacing of half-precision numbers near the value is at least 2^-24; scaling by it is
    // exact.
    let exponent = if magnitude < 2f64.powi(-14) { -14 } else { magnitude.log2().floor() as i32 };
    let exponent = if magnitude < 2f64.powi(exponent) { (exponent - 1).max(-14) } else { exponent };
    let mantissa = (magnitude / 2f64.powi(exponent - 10)).round_ties_even() as u16;
    // a mantissa of 2048 carries into the exponent, and a subnormal one of 1024 becomes normal
    let biased = (exponent + 14) as u16;
    sign | (biased << 10).wrapping_add(mantissa)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_round_to_nearest_even() {
        for (value, bits) in [
            (0.0, 0),
            (-0.0, 0x8000),
            (1.0, 0x3c00),
            (-2.0, 0xc000),
            (65504.0, 0x7bff),
            (65519.9, 0x7bff),
            (65520.0, 0x7c00),
            (5.960_464_477_539_063e-8, 1),
            (2.980_232_238_769_531_3e-8, 0),
            (6.103_515_625e-5, 0x0400),
            (6.097_555_160_522_461e-5, 0x03ff),
            (1.000_488_281_25, 0x3c00),
            (1.001_464_843_75, 0x3c02),
            (f64::INFINITY, 0x7c00),
        ] {
            assert_eq!(f16_bits(value), bits, "{value}");
        }
    }
}
