//! Double precision on the host's own IEEE arithmetic, rounded to nearest: the same bits as
//! [`super::float`]'s exact route.

use super::exact::F64;

/// The bits of a result.
#[inline(always)]
pub(crate) fn leave(value: f64) -> u64 {
    if value.is_nan() { F64.nan } else { value.to_bits() }
}
