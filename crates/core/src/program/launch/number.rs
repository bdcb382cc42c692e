//! Numbers in the contents of buffers. An integer keeps all its digits.

use std::fmt;

use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::program::expr::serialize_integer;

/// A number in a launch file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// A number without a point and an exponent.
    Integer(i128),
    /// Any other number.
    Float(f64),
}

impl Number {
    /// Returns the nearest number of double precision.
    pub(super) fn float(self) -> f64 {
        match self {
            Self::Integer(value) => value as f64,
            Self::Float(value) => value,
        }
    }

    /// Returns the bits of an integer of this many bytes. Negative numbers are allowed for types
    /// without a sign, as in C.
    ///
    /// # Errors
    /// The number is no integer, or too large.
    pub(super) fn integer(self, bytes: usize) -> Result<u64, String> {
        let value = match self {
            Self::Integer(value) => value,
            Self::Float(value) if value.fract() == 0.0 => value as i128,
            Self::Float(value) => return Err(format!("{value} is no integer")),
        };
        let bits = 8 * bytes as u32;
        if (-(1_i128 << (bits - 1))..1_i128 << bits).contains(&value) {
            Ok(value as u64)
        } else {
            Err(format!("{value} does not fit into {bits} bits"))
        }
    }
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match *self {
            Self::Float(value) => serializer.serialize_f64(value),
            Self::Integer(value) => serialize_integer(value, serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;

        impl Visitor<'_> for Reader {
            type Value = Number;

            fn expecting(&self, to: &mut fmt::Formatter) -> fmt::Result {
                to.write_str("a number")
            }

            fn visit_i64<E>(self, value: i64) -> Result<Number, E> {
                Ok(Number::Integer(value.into()))
            }

            fn visit_u64<E>(self, value: u64) -> Result<Number, E> {
                Ok(Number::Integer(value.into()))
            }

            fn visit_f64<E>(self, value: f64) -> Result<Number, E> {
                Ok(Number::Float(value))
            }
        }

        deserializer.deserialize_any(Reader)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn integer(text: &str, bytes: usize) -> Result<u64, String> {
        ron::from_str::<Number>(text).map_err(|error| error.to_string())?.integer(bytes)
    }

    #[test]
    fn integers_keep_all_digits() {
        assert_eq!(integer("9007199254740993", 8), Ok(9_007_199_254_740_993));
        assert_eq!(integer("18446744073709551615", 8), Ok(u64::MAX));
        assert_eq!(integer("-9223372036854775808", 8), Ok(1 << 63));
        assert_eq!(integer("-1", 2), Ok(u64::MAX));
        assert_eq!(integer("0xff", 1), Ok(0xff));
        assert_eq!(integer("3.0", 2), Ok(3));
        assert_eq!(ron::from_str::<Number>("3").unwrap().float(), 3.0);
        assert_eq!(ron::from_str::<Number>("inf").unwrap().float(), f64::INFINITY);
    }

    #[test]
    fn integers_that_do_not_fit_are_refused() {
        assert_eq!(integer("256", 1).unwrap_err(), "256 does not fit into 8 bits");
        assert_eq!(integer("-129", 1).unwrap_err(), "-129 does not fit into 8 bits");
        assert_eq!(integer("1e10", 4).unwrap_err(), "10000000000 does not fit into 32 bits");
        assert_eq!(integer("2.5", 4).unwrap_err(), "2.5 is no integer");
        assert_eq!(integer("NaN", 4).unwrap_err(), "NaN is no integer");
        assert!(integer("\"3\"", 4).is_err());
    }

    #[test]
    fn numbers_are_written_as_they_were_read() {
        for text in ["7", "-7", "18446744073709551615", "2.5"] {
            let number: Number = ron::from_str(text).unwrap();
            assert_eq!(ron::to_string(&number).unwrap(), text);
        }
    }
}
