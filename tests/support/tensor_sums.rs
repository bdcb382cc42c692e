//! The sums of a tensor core of Hopper, in integers.

/// A number that is added: the significand, the exponent of its lowest bit and that of its point.
pub struct Term {
    significand: i128,
    lowest: i32,
    point: i32,
}

impl Term {
    /// Returns a number whose point has at least the exponent `least`.
    pub fn of(value: f32, least: i32) -> Self {
        let (field, fraction) =
            ((value.to_bits() >> 23 & 0xff) as i32, i128::from(value.to_bits() & 0x7f_ffff));
        let (significand, lowest) =
            if field == 0 { (fraction, -149) } else { (fraction + (1 << 23), field - 150) };
        let significand = if value.is_sign_negative() { -significand } else { significand };
        Self { significand, lowest, point: (lowest + 23).max(least) }
    }

    /// Returns a product.
    pub fn times(&self, other: &Self) -> Self {
        Self {
            significand: self.significand * other.significand,
            lowest: self.lowest + other.lowest,
            point: self.point + other.point,
        }
    }
}

/// Adds all terms in one step: each is cut off 25 bits behind the highest point, and the sum to 24
/// bits.
pub fn sum(terms: impl Iterator<Item = Term>) -> f32 {
    let terms: Vec<_> = terms.filter(|term| term.significand != 0).collect();
    let unit = terms.iter().map(|term| term.point).max().unwrap_or(0) - 25;
    let cut = |term: &Term| match unit - term.lowest {
        up @ 0..=100 => term.significand / (1 << up),
        down @ -100..0 => term.significand << -down,
        _ => 0,
    };
    let sum: i128 = terms.iter().map(cut).sum();
    let beyond = (128 - sum.abs().leading_zeros() as i32 - 24).max(0);
    ((sum / (1 << beyond)) as f64 * f64::from(unit + beyond).exp2()) as f32
}

/// Returns a sum that begins with zero, and to which sixteen products at a time are added; the points
/// of factors have at least the exponent `least`.
pub fn chained(least: i32, factors: &[(f32, f32)]) -> f32 {
    let product = |&(a, b): &(f32, f32)| Term::of(a, least).times(&Term::of(b, least));
    let add = |before, step: &[_]| sum(step.iter().map(product).chain([Term::of(before, -126)]));
    factors.chunks(16).fold(0.0, add)
}
