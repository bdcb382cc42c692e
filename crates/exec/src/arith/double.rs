//! Double precision by the host's IEEE arithmetic, rounded to nearest. The results have the same
//! bits as those of the exact implementation in [`super::float`].

use super::exact::F64;

/// Returns the bits of a result.
#[inline(always)]
pub(crate) fn bits_of(value: f64) -> u64 {
    if value.is_nan() { F64.nan } else { value.to_bits() }
}
