//! Arithmetic on bits, on all 32 lanes at once and otherwise independent of warps.
//!
//! Values are zero-extended 64-bit lanes; the type of an operation determines which bits it reads.
//! Every function here is total: it accepts any bits and never panics, so that inactive lanes can
//! be computed along with the active ones.

pub(super) mod approx;
pub(super) mod bits;
pub(super) mod compare;
pub(super) mod convert;
pub(super) mod double;
pub(super) mod exact;
pub(super) mod float;
pub(super) mod int;
pub(super) mod matrix;
pub(super) mod single;
pub(super) mod small;
pub(super) mod video;

#[cfg(test)]
mod brain;
#[cfg(test)]
mod oracle;

use warpbound_core::program::sem::FloatTy;

/// Returns the format of one number of a type; for packed types, that of each half.
pub(super) const fn format_of(ty: FloatTy) -> exact::Format {
    match ty {
        FloatTy::F16 | FloatTy::F16x2 => exact::F16,
        FloatTy::Bf16 | FloatTy::Bf16x2 => exact::BF16,
        FloatTy::F32 | FloatTy::F32x2 => exact::F32,
        FloatTy::F64 => exact::F64,
    }
}
