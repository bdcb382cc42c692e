//! Matrices that are distributed over the lanes of a warp, and operations on them.
//!
//! Each lane holds some elements of a matrix in a few registers: its *fragment*. For every shape
//! the same rule determines which elements a lane holds. A matrix is cut into tiles; of each tile a
//! lane holds the contents of one register (two for accumulators of 32 bits or more). The lane with
//! number `4 g + t` holds
//!
//! * of A, in tiles of 8 rows and 128 bits of columns: the `t`-th 32 bits of row `g`;
//! * of B, in tiles of 8 columns and 128 bits of rows: the `t`-th 32 bits of column `g`;
//! * of accumulators, in tiles of 8 rows and 8 columns: columns `2 t` and `2 t + 1` of row `g`.
//!
//! The tiles of every matrix are ordered down the rows first; for B this is the direction of k.
//! With 64-bit elements a tile of A or B has 256 bits instead.
//!
//! For `mma.sync` the PTX ISA prescribes this layout (chapter "Warp-level matrix
//! multiply-accumulate instructions", the fragments of each shape). For `wmma` the ISA leaves it
//! open. This model uses the same rule, which for m16n16k16 matches Turing and later hardware: H.
//! Ootomo's WMMA extension library records it for sm_75, and also that the second half of a
//! factor's f16 registers repeats the first. The layout of a matrix does not depend on whether it
//! is in row-major or column-major order in memory, and that of accumulators depends only on the
//! shape. Element-wise operations on fragments are therefore well defined.

use super::{Address, GroupProduct, Operand};
use crate::base::RegId;
use crate::isa::Space;

/// The type of the elements of a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "named as in PTX")]
pub enum MatrixTy {
    F16,
    Bf16,
    /// The upper 19 bits of an f32; the other bits are ignored.
    Tf32,
    F32,
    F64,
    S4,
    U4,
    S8,
    U8,
    S32,
    /// Four bits of exponent and three of fraction, without infinities.
    E4m3,
    /// Five bits of exponent and two of fraction.
    E5m2,
}

impl MatrixTy {
    /// Returns the width of an element in bits.
    pub const fn bits(self) -> usize {
        match self {
            Self::S4 | Self::U4 => 4,
            Self::S8 | Self::U8 | Self::E4m3 | Self::E5m2 => 8,
            Self::F16 | Self::Bf16 => 16,
            Self::Tf32 | Self::F32 | Self::S32 => 32,
            Self::F64 => 64,
        }
    }

    /// Returns the width in bits of the registers that hold elements.
    pub const fn register_bits(self) -> usize {
        if self.bits() == 64 { 64 } else { 32 }
    }

    /// Returns the number of elements in a register.
    pub const fn per_register(self) -> usize {
        self.register_bits() / self.bits()
    }
}

/// The role of a matrix in `d = a b + c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatrixRole {
    /// The left factor, m by k.
    A,
    /// The right factor, k by n.
    B,
    /// The addend and the result, m by n.
    Accumulator,
}

/// The part of a matrix that a lane holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fragment {
    /// The role of the matrix.
    pub role: MatrixRole,
    /// The type of its elements.
    pub ty: MatrixTy,
    /// The number of rows of the matrix, a multiple of the tile's.
    pub rows: usize,
    /// The number of columns of the matrix, a multiple of the tile's.
    pub cols: usize,
}

impl Fragment {
    /// Returns the number of distinct elements that each lane holds.
    pub const fn elements(&self) -> usize {
        self.rows * self.cols / crate::base::WARP_SIZE
    }

    /// Returns the number of registers that hold the elements.
    pub const fn registers(&self) -> usize {
        self.elements() / self.ty.per_register()
    }

    /// Returns the row and column of the `index`-th element of lane 0, in order of registers and
    /// from the low bits of a register upwards.
    pub const fn position(&self, index: usize) -> (usize, usize) {
        let side = self.side_by_side();
        let (tile, part) = (index / side, index % side);
        match self.role {
            MatrixRole::A | MatrixRole::Accumulator => {
                let down = self.rows / 8;
                (tile % down * 8, tile / down * 4 * side + part)
            }
            MatrixRole::B => {
                let down = self.rows / (4 * side);
                (tile % down * 4 * side + part, tile / down * 8)
            }
        }
    }

    /// Returns the number of rows and columns by which the elements of a lane are offset from those
    /// of lane 0.
    pub const fn lane_offset(&self, lane: usize) -> (usize, usize) {
        let (g, t) = (lane / 4, lane % 4 * self.side_by_side());
        match self.role {
            MatrixRole::A | MatrixRole::Accumulator => (g, t),
            MatrixRole::B => (t, g),
        }
    }

    /// Returns whether the elements of one register are contiguous in memory, given whether the
    /// matrix is in column-major or row-major order.
    pub const fn is_contiguous(&self, by_column: bool) -> bool {
        self.ty.per_register() == 1 || by_column == matches!(self.role, MatrixRole::B)
    }

    /// Returns the number of adjacent elements of a tile that a lane holds, along a row (for B,
    /// along a column).
    const fn side_by_side(&self) -> usize {
        match self.role {
            MatrixRole::A | MatrixRole::B => self.ty.per_register(),
            MatrixRole::Accumulator => 2,
        }
    }
}

/// A fragment and the registers that it is read from. There may be more of them than
/// [`Fragment::registers`]; the others repeat these and are ignored.
#[derive(Clone, Debug, PartialEq)]
pub struct RegisterFragment {
    /// The fragment.
    pub fragment: Fragment,
    /// The registers.
    pub regs: Vec<RegId>,
}

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::WARP_SIZE;

    fn fragment(role: MatrixRole, ty: MatrixTy, rows: usize, cols: usize) -> Fragment {
        Fragment { role, ty, rows, cols }
    }

    fn place(f: &Fragment, lane: usize, index: usize) -> (usize, usize) {
        let ((row, col), (down, right)) = (f.position(index), f.lane_offset(lane));
        (row + down, col + right)
    }

    /// Every element has exactly one location.
    #[test]
    fn fragments_cover_their_matrix() {
        use MatrixRole::{A, Accumulator, B};
        use MatrixTy::*;
        for (m, n, k, factor, sum) in [
            (16, 16, 16, F16, F16),
            (8, 32, 16, Bf16, F32),
            (32, 8, 16, F16, F32),
            (16, 16, 8, Tf32, F32),
            (16, 8, 8, F16, F16),
            (16, 8, 4, Tf32, F32),
            (16, 8, 32, S8, S32),
            (8, 8, 16, U8, S32),
            (8, 8, 32, S4, S32),
            (16, 8, 64, U4, S32),
            (8, 8, 4, F64, F64),
        ] {
            for f in [fragment(A, factor, m, k), fragment(B, factor, k, n), fragment(Accumulator, sum, m, n)]
            {
                let mut held = vec![0; f.rows * f.cols];
                for lane in 0..WARP_SIZE {
                    for index in 0..f.elements() {
                        let (row, col) = place(&f, lane, index);
                        assert!(row < f.rows && col < f.cols, "{f:?}");
                        held[row * f.cols + col] += 1;
                    }
                }
                assert!(held.iter().all(|&count| count == 1), "{f:?}");
            }
        }
    }

    /// The locations that the PTX ISA states for `mma`: "groupID = %laneid >> 2, threadID_in_group
    /// = %laneid % 4" and the formulas that follow, for m16n8k16 (f16), m16n8k8 (tf32), m16n8k32
    /// (s8).
    #[test]
    fn places_are_those_of_the_isa() {
        use MatrixRole::{A, Accumulator, B};
        let held = |role, ty, rows, cols, lane, index| place(&fragment(role, ty, rows, cols), lane, index);
        for lane in 0..WARP_SIZE {
            let (group, thread) = (lane / 4, lane % 4);
            for i in 0..8 {
                let row = if i < 2 || (4..6).contains(&i) { group } else { group + 8 };
                let col = thread * 2 + (i & 1) + if i < 4 { 0 } else { 8 };
                assert_eq!(held(A, MatrixTy::F16, 16, 16, lane, i), (row, col));
            }
            for i in 0..4 {
                let half_row = thread * 2 + (i & 1) + if i < 2 { 0 } else { 8 };
                assert_eq!(held(B, MatrixTy::Bf16, 16, 8, lane, i), (half_row, group));
                let single_row = if i % 2 == 0 { group } else { group + 8 };
                let single_col = if i < 2 { thread } else { thread + 4 };
                assert_eq!(held(A, MatrixTy::Tf32, 16, 8, lane, i), (single_row, single_col));
                let sum = (if i < 2 { group } else { group + 8 }, thread * 2 + (i & 1));
                assert_eq!(held(Accumulator, MatrixTy::F32, 16, 8, lane, i), sum);
            }
            for i in 0..16 {
                let row = if i < 4 || (8..12).contains(&i) { group } else { group + 8 };
                let col = thread * 4 + (i & 3) + if i < 8 { 0 } else { 16 };
                assert_eq!(held(A, MatrixTy::S8, 16, 32, lane, i), (row, col));
            }
            for i in 0..8 {
                let row = thread * 4 + (i & 3) + if i < 4 { 0 } else { 16 };
                assert_eq!(held(B, MatrixTy::U8, 32, 8, lane, i), (row, group));
            }
        }
    }
}
