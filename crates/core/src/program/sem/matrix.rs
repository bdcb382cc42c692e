//! Operations on matrices that are distributed over the lanes of a warp.

use super::{Address, Fragment, GroupProduct, Operand, RegisterFragment};
use crate::base::RegId;
use crate::isa::Space;

/// The matrix product `d = a b + c`.
///
/// Integers: the sum is exact; it wraps at 32 bits, or is clamped to them if `saturate`.
///
/// PTX leaves the order and rounding of floating-point sums open, and hardware differs by generation.
/// Products of f16, bf16 and tf32 with sums in single precision are those of Hopper, as measured on an
/// H100 (`docs/hardware.md`). The element of `c` and all exact products are added in one step: each
/// term is aligned to the largest exponent among them and cut off, toward zero, 25 bits behind the
/// point; their exact sum is cut off to single precision. The exponent of a product is the sum of those
/// of its factors. A sum beyond single precision is infinite. Hopper's machine code converts e4m3 and
/// e5m2 to f16, adds the products of the first two of every four values of k to zero, then those of the
/// others to the result, and adds that to `c`, rounded to nearest.
///
/// Two kinds were not measured. A sum for an f16 result begins with the element of `c`; the products
/// are added in ascending order of k, each addition is rounded once, to nearest with ties to even, to
/// single precision, and the last sum once more. For f64 it is the same in double precision: a chain
/// of fused multiply-adds, as in the ISA.
///
/// Subnormal numbers are not flushed, and NaN results are canonical. On other generations see M. Fasi,
/// N. J. Higham, M. Mikaitis, S. Pranesh, "Numerical behavior of NVIDIA tensor cores", PeerJ Computer
/// Science 7:e330, 2021.
#[derive(Clone, Debug, PartialEq)]
pub struct Product {
    /// The left factor.
    pub a: RegisterFragment,
    /// The right factor.
    pub b: RegisterFragment,
    /// The addend.
    pub c: RegisterFragment,
    /// The layout of the result.
    pub d: Fragment,
    /// The destinations.
    pub dsts: Vec<RegId>,
    /// Whether integers are clamped.
    pub saturate: bool,
}

/// A matrix in memory, in row-major or column-major order.
#[derive(Clone, Debug, PartialEq)]
pub struct MatrixBlock {
    /// The space.
    pub space: Space,
    /// The address of the first element; the same in all lanes.
    pub addr: Address,
    /// The number of elements between the beginnings of consecutive rows (or columns), the same in
    /// all lanes; `None` is the length of a row (or column).
    pub stride: Option<Operand>,
    /// Whether the matrix is in column-major order.
    pub by_column: bool,
}

/// Matrices of 8 by 8 16-bit elements in memory: lane `8 i + r` has the address of row `r` of
/// matrix `i`, whose elements are contiguous.
#[derive(Clone, Debug, PartialEq)]
pub struct MatrixRows {
    /// The space.
    pub space: Space,
    /// The addresses of the rows, aligned to 16 bytes.
    pub addr: Address,
    /// Whether the matrix in registers is the transpose of that in memory.
    pub transposed: bool,
}

/// An operation on matrices that are distributed over a warp. All lanes take part.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "fields are named as PTX names operands")]
pub enum Matrix {
    /// `wmma.mma`, `mma`.
    Multiply(Product),
    /// `wgmma.mma_async`: a warp's part of the product of a warp group.
    GroupMultiply(GroupProduct),
    /// `wmma.load`; registers beyond those of the fragment repeat its elements.
    Load { from: MatrixBlock, fragment: Fragment, dsts: Vec<Option<RegId>> },
    /// `wmma.store`.
    Store { to: MatrixBlock, src: RegisterFragment },
    /// `ldmatrix`: loads one register per matrix.
    LoadRows { from: MatrixRows, dsts: Vec<Option<RegId>> },
    /// `stmatrix`.
    StoreRows { to: MatrixRows, srcs: Vec<RegId> },
    /// `movmatrix`: transposes an 8 by 8 matrix of 16-bit elements.
    Transpose { dst: RegId, src: RegId },
}

impl Matrix {
    /// Returns the space and the number of bytes of each lane's access, as in
    /// [`super::Sem::access`].
    pub(super) fn access(&self) -> Option<(Space, usize)> {
        let bytes = |fragment: &Fragment| fragment.elements() * fragment.ty.bits() / 8;
        match self {
            Self::Load { from, fragment, .. } => Some((from.space, bytes(fragment))),
            Self::Store { to, src } => Some((to.space, bytes(&src.fragment))),
            Self::LoadRows { from, dsts } => Some((from.space, 4 * dsts.len())),
            Self::StoreRows { to, srcs } => Some((to.space, 4 * srcs.len())),
            Self::Multiply(_) | Self::GroupMultiply(_) | Self::Transpose { .. } => None,
        }
    }

    /// Returns the operands that determine the location in memory: the base of the address, and the
    /// stride.
    pub fn place(&self) -> impl Iterator<Item = Operand> {
        let (base, stride) = match self {
            Self::Load { from: block, .. } | Self::Store { to: block, .. } => {
                (Some(block.addr.base), block.stride)
            }
            Self::LoadRows { from: rows, .. } | Self::StoreRows { to: rows, .. } => {
                (Some(rows.addr.base), None)
            }
            Self::Multiply(_) | Self::GroupMultiply(_) | Self::Transpose { .. } => (None, None),
        };
        base.into_iter().chain(stride)
    }

    /// Returns whether the operation writes memory.
    pub fn stores(&self) -> bool {
        matches!(self, Self::Store { .. } | Self::StoreRows { .. })
    }

    /// Returns all operands that it reads.
    pub fn sources(&self) -> impl Iterator<Item = Operand> + '_ {
        let lists: [&[RegId]; 3] = match self {
            Self::Multiply(Product { a, b, c, .. }) => [&a.regs, &b.regs, &c.regs],
            Self::GroupMultiply(product) => [product.left_registers(), &product.c.regs, &[]],
            Self::Store { src, .. } => [&src.regs, &[], &[]],
            Self::StoreRows { srcs, .. } => [srcs, &[], &[]],
            Self::Transpose { src, .. } => [std::slice::from_ref(src), &[], &[]],
            Self::Load { .. } | Self::LoadRows { .. } => [&[]; 3],
        };
        let descriptors = match self {
            Self::GroupMultiply(product) => Some(product.descriptors()),
            _ => None,
        };
        let registers = lists.into_iter().flatten().map(|&reg| Operand::Reg(reg));
        registers.chain(self.place()).chain(descriptors.into_iter().flatten())
    }

    /// Returns all registers that it writes.
    pub(super) fn destinations(&self) -> impl Iterator<Item = RegId> + '_ {
        let (results, loaded): (&[RegId], &[Option<RegId>]) = match self {
            Self::Multiply(product) => (&product.dsts, &[]),
            Self::GroupMultiply(product) => (&product.dsts, &[]),
            Self::Load { dsts, .. } | Self::LoadRows { dsts, .. } => (&[], dsts),
            Self::Transpose { dst, .. } => (std::slice::from_ref(dst), &[]),
            Self::Store { .. } | Self::StoreRows { .. } => (&[], &[]),
        };
        results.iter().copied().chain(loaded.iter().flatten().copied())
    }
}
