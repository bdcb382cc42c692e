//! Arithmetic on bits, with no idea of warps beyond "do this in 32 lanes".
//!
//! Values are zero-extended 64-bit lanes; what an operation reads of them its type says. Every
//! function here is total: any bits in, some bits out, no panic, so that inactive lanes can be
//! computed along with the active ones.

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

use crate::program::sem::FloatTy;

/// The format of one number of a type; of each half for packed ones.
pub(super) const fn format_of(ty: FloatTy) -> exact::Format {
    match ty {
        FloatTy::F16 | FloatTy::F16x2 => exact::F16,
        FloatTy::Bf16 | FloatTy::Bf16x2 => exact::BF16,
        FloatTy::F32 | FloatTy::F32x2 => exact::F32,
        FloatTy::F64 => exact::F64,
    }
}
