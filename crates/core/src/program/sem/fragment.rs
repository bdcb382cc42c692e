//! Matrices that are distributed over the lanes of a warp.
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

use crate::base::RegId;

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
