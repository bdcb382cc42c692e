//! The serialisation of results.

use serde::de::Error;
use serde::{Deserialize, Deserializer};

use warpbound_bound as bound;

/// Deserialises the name of an existing bound.
pub fn bound_name<'de, D: Deserializer<'de>>(from: D) -> Result<&'static str, D::Error> {
    let name = String::deserialize(from)?;
    let known = bound::all().iter().map(|bound| bound.name()).find(|known| *known == name);
    known.ok_or_else(|| D::Error::custom(format!("no bound is called `{name}`")))
}

/// The serialisation of numbers, in which the largest possible number represents a missing one.
pub mod rows {
    use serde::{Deserialize, Deserializer, Serializer};

    /// Writes a missing number as null.
    pub fn serialize<S: Serializer>(rows: &[u64], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(rows.iter().map(|&number| (number != u64::MAX).then_some(number)))
    }

    /// Reads null as a missing number.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u64>, D::Error> {
        let numbers = Vec::<Option<u64>>::deserialize(from)?;
        Ok(numbers.into_iter().map(|number| number.unwrap_or(u64::MAX)).collect())
    }
}
