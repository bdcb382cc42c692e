//! Binary floating point by integer arithmetic, correctly rounded in every direction.
//!
//! A finite number is represented by a sign, a 128-bit significand and an exponent. Sums, products,
//! quotients and square roots are formed exactly, or with everything below the significand
//! collected in its lowest bit (a *sticky* bit). The significand is much wider than that of any
//! format, so rounding it once gives the rounding of the exact result. Other modules implement the
//! common cases faster; this one is correct for all formats and directions.

use warpbound_core::program::sem::Round;

/// An IEEE binary interchange format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Format {
    /// The number of significand bits, including the hidden one.
    precision: u32,
    exponent_bits: u32,
    /// The NaN that operations return.
    pub(crate) nan: u64,
}

/// The format binary16. PTX: the canonical NaN is 0x7fff.
pub(crate) const F16: Format = Format { precision: 11, exponent_bits: 5, nan: 0x7fff };
/// The format bfloat16. PTX: the canonical NaN is 0x7fff.
pub(crate) const BF16: Format = Format { precision: 8, exponent_bits: 8, nan: 0x7fff };
/// The format binary32. PTX: the canonical NaN is 0x7fffffff.
pub(crate) const F32: Format = Format { precision: 24, exponent_bits: 8, nan: 0x7fff_ffff };
/// The format binary64. PTX does not specify the bits of its NaN; this is the NaN of CUDA's
/// headers.
pub(crate) const F64: Format = Format { precision: 53, exponent_bits: 11, nan: 0xfff8_0000_0000_0000 };

/// The position of the highest bit of a normalised significand; two bits above it stay free for
/// carries.
const TOP: u32 = 125;

/// A non-zero finite magnitude, `significand * 2^exponent`, whose highest set bit is bit [`TOP`].
/// If bit 0 is set, the exact value may be slightly larger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Number {
    negative: bool,
    significand: u128,
    exponent: i32,
}

/// A floating-point value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    /// Not a number.
    Nan,
    /// Infinity; the flag is true if it is negative.
    Infinite(bool),
    /// Zero; the flag is true if it is negative.
    Zero(bool),
    /// Any other value.
    Finite(Number),
}

impl Format {
    fn bias(self) -> i32 {
        (1 << (self.exponent_bits - 1)) - 1
    }

    fn fraction_bits(self) -> u32 {
        self.precision - 1
    }

    /// Returns the sign bit.
    pub(crate) fn sign(self) -> u64 {
        1 << (self.fraction_bits() + self.exponent_bits)
    }

    /// Returns the bits of infinity.
    pub(crate) fn infinity(self) -> u64 {
        ((1 << self.exponent_bits) - 1) << self.fraction_bits()
    }

    /// Returns whether these are the bits of a subnormal number or zero.
    pub(crate) fn is_subnormal(self, bits: u64) -> bool {
        bits & self.infinity() == 0
    }

    /// Replaces a subnormal number by a zero of its sign.
    pub(crate) fn flush(self, bits: u64) -> u64 {
        if self.is_subnormal(bits) { bits & self.sign() } else { bits }
    }

    /// Returns whether these are the bits of a NaN.
    pub(crate) fn is_nan(self, bits: u64) -> bool {
        bits & (self.sign() - 1) > self.infinity()
    }

    /// Returns the value of these bits.
    pub(crate) fn unpack(self, bits: u64) -> Value {
        let negative = bits & self.sign() != 0;
        let fraction = bits & ((1 << self.fraction_bits()) - 1);
        let biased = (bits & self.infinity()) >> self.fraction_bits();
        let lowest = 1 - self.bias() - self.fraction_bits() as i32;
        match (biased, fraction) {
            (0, 0) => Value::Zero(negative),
            (0, _) => Value::scaled(negative, u128::from(fraction), lowest),
            (b, 0) if b == self.infinity() >> self.fraction_bits() => Value::Infinite(negative),
            (b, _) if b == self.infinity() >> self.fraction_bits() => Value::Nan,
            (b, _) => {
                let significand = fraction | 1 << self.fraction_bits();
                Value::scaled(negative, u128::from(significand), lowest + b as i32 - 1)
            }
        }
    }

    /// Rounds a value and returns its bits.
    pub(crate) fn pack(self, value: Value, round: Round) -> u64 {
        let signed = |negative: bool, bits: u64| if negative { bits | self.sign() } else { bits };
        match value {
            Value::Nan => self.nan,
            Value::Infinite(negative) => signed(negative, self.infinity()),
            Value::Zero(negative) => signed(negative, 0),
            Value::Finite(number) => signed(number.negative, self.pack_magnitude(number, round)),
        }
    }

    fn pack_magnitude(self, number: Number, round: Round) -> u64 {
        // the exponent of the leading bit; below the smallest normal exponent the spacing stays the
        // same
        let leading = number.exponent + TOP as i32;
        let smallest = 1 - self.bias();
        let below = (smallest - leading).max(0) as u32;
        let dropped = TOP - self.fraction_bits() + below;
        let (kept, rest_is_half, rest_is_zero, rest_above_half) = split(number.significand, dropped);
        let up = match round {
            Round::Nearest => rest_above_half || rest_is_half && kept & 1 == 1,
            Round::Zero => false,
            Round::Down => number.negative && !rest_is_zero,
            Round::Up => !number.negative && !rest_is_zero,
        };
        let kept = kept as u64 + u64::from(up);
        // a carry out of the fraction increments the exponent field, as it should
        let biased = if below > 0 { 0 } else { (leading + self.bias() - 1) as u64 };
        if biased >= self.infinity() >> self.fraction_bits() {
            return self.overflow(number.negative, round);
        }
        let bits = (biased << self.fraction_bits()) + kept;
        if bits >= self.infinity() { self.overflow(number.negative, round) } else { bits }
    }

    fn overflow(self, negative: bool, round: Round) -> u64 {
        let to_infinity = match round {
            Round::Nearest => true,
            Round::Zero => false,
            Round::Down => negative,
            Round::Up => !negative,
        };
        if to_infinity { self.infinity() } else { self.infinity() - 1 }
    }
}

/// Returns the bits above the lowest `dropped` ones, and a comparison of the dropped bits with half
/// a unit of the kept ones: (kept, is half, is zero, is above half).
fn split(significand: u128, dropped: u32) -> (u128, bool, bool, bool) {
    if dropped > TOP + 1 {
        return (0, false, significand == 0, false);
    }
    let rest = significand & ((1u128 << dropped) - 1);
    let half = 1u128 << (dropped - 1);
    (significand >> dropped, rest == half, rest == 0, rest > half)
}

/// Shifts right and collects the bits shifted out in the lowest bit.
fn shift_sticky(significand: u128, by: u32) -> u128 {
    if by == 0 {
        significand
    } else if by >= 128 {
        u128::from(significand != 0)
    } else {
        significand >> by | u128::from(significand & ((1 << by) - 1) != 0)
    }
}

impl Value {
    /// Returns `significand * 2^exponent`, exactly.
    pub(crate) fn scaled(negative: bool, significand: u128, exponent: i32) -> Self {
        if significand == 0 {
            return Self::Zero(negative);
        }
        let leading = 127 - significand.leading_zeros();
        let (significand, exponent) = if leading <= TOP {
            (significand << (TOP - leading), exponent - (TOP - leading) as i32)
        } else {
            (shift_sticky(significand, leading - TOP), exponent + (leading - TOP) as i32)
        };
        Self::Finite(Number { negative, significand, exponent })
    }

    fn is_negative(self) -> bool {
        match self {
            Self::Nan => false,
            Self::Infinite(negative) | Self::Zero(negative) => negative,
            Self::Finite(number) => number.negative,
        }
    }

    /// Returns the value with the other sign.
    pub(crate) fn negated(self) -> Self {
        match self {
            Self::Nan => Self::Nan,
            Self::Infinite(negative) => Self::Infinite(!negative),
            Self::Zero(negative) => Self::Zero(!negative),
            Self::Finite(number) => Self::Finite(Number { negative: !number.negative, ..number }),
        }
    }

    /// Returns the sum; `round` determines the sign of an exact zero.
    pub(crate) fn plus(self, other: Self, round: Round) -> Self {
        match (self, other) {
            (Self::Nan, _) | (_, Self::Nan) => Self::Nan,
            (Self::Infinite(a), Self::Infinite(b)) if a != b => Self::Nan,
            (Self::Infinite(a), _) | (_, Self::Infinite(a)) => Self::Infinite(a),
            (Self::Zero(a), Self::Zero(b)) if a == b => Self::Zero(a),
            (Self::Zero(_), Self::Zero(_)) => Self::Zero(round == Round::Down),
            (Self::Zero(_), x) | (x, Self::Zero(_)) => x,
            (Self::Finite(a), Self::Finite(b)) => {
                let (big, small) = if a.exponent >= b.exponent { (a, b) } else { (b, a) };
                let distance = (big.exponent - small.exponent) as u32;
                let aligned = shift_sticky(small.significand, distance);
                if big.negative == small.negative {
                    return Self::scaled(big.negative, big.significand + aligned, big.exponent);
                }
                match big.significand.cmp(&aligned) {
                    std::cmp::Ordering::Equal => Self::Zero(round == Round::Down),
                    std::cmp::Ordering::Greater => {
                        Self::scaled(big.negative, big.significand - aligned, big.exponent)
                    }
                    std::cmp::Ordering::Less => {
                        Self::scaled(small.negative, aligned - big.significand, big.exponent)
                    }
                }
            }
        }
    }

    /// Returns the exact product of two values of at most 63 significant bits.
    pub(crate) fn times(self, other: Self) -> Self {
        let negative = self.is_negative() != other.is_negative();
        match (self, other) {
            (Self::Nan, _) | (_, Self::Nan) => Self::Nan,
            (Self::Infinite(_), Self::Zero(_)) | (Self::Zero(_), Self::Infinite(_)) => Self::Nan,
            (Self::Infinite(_), _) | (_, Self::Infinite(_)) => Self::Infinite(negative),
            (Self::Zero(_), _) | (_, Self::Zero(_)) => Self::Zero(negative),
            (Self::Finite(a), Self::Finite(b)) => {
                const LOW: u32 = TOP - 62;
                let product = (a.significand >> LOW) * (b.significand >> LOW);
                Self::scaled(negative, product, a.exponent + b.exponent + 2 * LOW as i32)
            }
        }
    }

    /// Returns the quotient of two values of at most 63 significant bits, to 64 bits and a sticky
    /// bit.
    pub(crate) fn over(self, other: Self) -> Self {
        let negative = self.is_negative() != other.is_negative();
        match (self, other) {
            (Self::Nan, _) | (_, Self::Nan) => Self::Nan,
            (Self::Infinite(_), Self::Infinite(_)) | (Self::Zero(_), Self::Zero(_)) => Self::Nan,
            (Self::Infinite(_), _) | (_, Self::Zero(_)) => Self::Infinite(negative),
            (Self::Zero(_), _) | (_, Self::Infinite(_)) => Self::Zero(negative),
            (Self::Finite(a), Self::Finite(b)) => {
                const LOW: u32 = TOP - 62;
                let divisor = b.significand >> LOW;
                let quotient = a.significand / divisor;
                let sticky = u128::from(a.significand % divisor != 0);
                // the quotient has more than 62 bits: doubling it makes room for the sticky bit
                Self::scaled(negative, quotient << 1 | sticky, a.exponent - b.exponent - LOW as i32 - 1)
            }
        }
    }

    /// Returns the square root, to 63 bits and a sticky bit.
    pub(crate) fn root(self) -> Self {
        match self {
            Self::Zero(_) | Self::Nan | Self::Infinite(false) => self,
            Self::Infinite(true) => Self::Nan,
            Self::Finite(a) if a.negative => Self::Nan,
            Self::Finite(a) => {
                // make the exponent even, so that half of it is the exponent of the root
                let (radicand, exponent) = if a.exponent % 2 == 0 {
                    (a.significand, a.exponent)
                } else {
                    (a.significand << 1, a.exponent - 1)
                };
                let root = radicand.isqrt();
                let sticky = u128::from(root * root != radicand);
                Self::scaled(false, root << 1 | sticky, exponent / 2 - 1)
            }
        }
    }

    /// Rounds to an integral value in the given direction.
    pub(crate) fn integral(self, round: Round) -> Self {
        match self {
            Self::Finite(number) if number.exponent < 0 => {
                let kept = number.rounded_magnitude(round);
                Self::scaled(number.negative, kept, 0)
            }
            _ => self,
        }
    }

    /// Returns the value as an integer, rounded and clamped to the given range. NaN counts as 0.
    pub(crate) fn clamped(self, round: Round, least: i128, most: i128) -> i128 {
        match self {
            Self::Nan | Self::Zero(_) => 0i128.clamp(least, most),
            Self::Infinite(true) => least,
            Self::Infinite(false) => most,
            Self::Finite(number) => {
                let leading = number.exponent + TOP as i32;
                let magnitude =
                    if leading > 70 { 1i128 << 70 } else { number.rounded_magnitude(round) as i128 };
                (if number.negative { -magnitude } else { magnitude }).clamp(least, most)
            }
        }
    }
}

impl Number {
    /// Returns the magnitude, which must be below 2^71, as an integer.
    fn rounded_magnitude(self, round: Round) -> u128 {
        let dropped = self.exponent.unsigned_abs();
        let (kept, is_half, is_zero, above) = split(self.significand, dropped);
        let up = match round {
            Round::Nearest => above || is_half && kept & 1 == 1,
            Round::Zero => false,
            Round::Down => self.negative && !is_zero,
            Round::Up => !self.negative && !is_zero,
        };
        kept + u128::from(up)
    }
}
