//! Products of matrices by the four warps of a warp group, with factors in shared memory.
//!
//! `wgmma.mma_async` multiplies a matrix of 64 rows. Each warp of the group computes 16 rows of the
//! result and needs the same 16 rows of A and all of B, so that its part does not depend on the
//! other warps. Results and factors in registers have the layout of a [`Fragment`] of 16 rows.

use super::{Fragment, MatrixTy, Operand, PredSrc, RegisterFragment};
use crate::base::RegId;

/// A warp's part of the product `d = a b + c` of a warp group.
///
/// PTX leaves the order and rounding of sums open, and those of warp groups were not measured. The
/// sums here are those of [`super::Product`], except that the products of e4m3 and e5m2 are added
/// in one step like those of f16.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupProduct {
    /// The left factor, 64 by k; its width is 256 bits.
    pub a: GroupFactor,
    /// The right factor, k by n, in shared memory.
    pub b: SharedFactor,
    /// The addend, as the accumulators of this warp.
    pub c: RegisterFragment,
    /// Whether the addend is added; it is 0 otherwise.
    pub accumulates: PredSrc,
    /// The layout of this warp's part of the result.
    pub d: Fragment,
    /// The destinations.
    pub dsts: Vec<RegId>,
    /// Whether integers are clamped.
    pub saturate: bool,
}

/// The left factor of a product of a warp group.
#[derive(Clone, Debug, PartialEq)]
pub enum GroupFactor {
    /// Each warp holds its 16 rows.
    Registers {
        /// The rows of this warp.
        held: RegisterFragment,
        /// Whether the elements are negated.
        negated: bool,
    },
    /// All 64 rows lie in shared memory.
    Shared(SharedFactor),
}

/// A factor in shared memory, whose position and layout a matrix descriptor states (PTX ISA,
/// "Asynchronous warpgroup-level matrix shared memory layout").
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SharedFactor {
    /// The descriptor of 64 bits, the same in all lanes.
    pub descriptor: Operand,
    /// The type of the elements.
    pub ty: MatrixTy,
    /// Whether elements that are adjacent in memory have the same position along k. Otherwise they
    /// have the same row of A, or the same column of B.
    pub transposed: bool,
    /// Whether the elements are negated.
    pub negated: bool,
}

impl GroupProduct {
    /// The number of rows that each warp computes.
    pub const ROWS: usize = 16;

    /// Returns the extent of both factors along k.
    pub const fn depth(&self) -> usize {
        256 / self.b.ty.bits()
    }

    /// Returns the descriptors of the factors in shared memory.
    pub fn descriptors(&self) -> impl Iterator<Item = Operand> + use<> {
        let left = match &self.a {
            GroupFactor::Registers { .. } => None,
            GroupFactor::Shared(factor) => Some(factor.descriptor),
        };
        left.into_iter().chain([self.b.descriptor])
    }

    /// Returns the registers of the left factor.
    pub fn left_registers(&self) -> &[RegId] {
        match &self.a {
            GroupFactor::Registers { held, .. } => &held.regs,
            GroupFactor::Shared(_) => &[],
        }
    }
}
