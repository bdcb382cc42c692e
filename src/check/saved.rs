//! How results are written down and read again.

use serde::de::Error;
use serde::{Deserialize, Deserializer};

use crate::bound;

/// The name of a bound that there is.
pub fn bound_name<'de, D: Deserializer<'de>>(from: D) -> Result<&'static str, D::Error> {
    let name = String::deserialize(from)?;
    let known = bound::all().iter().map(|bound| bound.name()).find(|known| *known == name);
    known.ok_or_else(|| D::Error::custom(format!("no bound is called `{name}`")))
}

/// Numbers of which the largest stands for nothing.
pub mod rows {
    use serde::{Deserialize, Deserializer, Serializer};

    /// Nothing is null.
    pub fn serialize<S: Serializer>(rows: &[u64], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(rows.iter().map(|&number| (number != u64::MAX).then_some(number)))
    }

    /// Null is nothing.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u64>, D::Error> {
        let numbers = Vec::<Option<u64>>::deserialize(from)?;
        Ok(numbers.into_iter().map(|number| number.unwrap_or(u64::MAX)).collect())
    }
}
