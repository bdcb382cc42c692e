//! Products of matrices of one warp, whose elements are in registers or given by their bits.

use super::arith::{double, matrix, single, small};
use super::lanes::width_mask;
use super::warp::Warp;
use warpbound_core::base::{LaneMask, RegId, WARP_SIZE};
use warpbound_core::program::sem::{Fragment, MatrixTy, RegisterFragment, SmallTy};

/// A matrix of a product.
pub(super) struct Factor<'a> {
    /// The type of its elements.
    pub(super) ty: MatrixTy,
    /// The elements.
    pub(super) elements: Elements<'a>,
    /// The bits that are inverted in each element.
    pub(super) inverted: u64,
}

/// The elements of a matrix.
pub(super) enum Elements<'a> {
    /// The registers of the warp hold them.
    Held(&'a RegisterFragment),
    /// Their bits by rows.
    Bits(Vec<u64>),
}

impl<'a> Factor<'a> {
    /// Returns the matrix that the registers of the warp hold.
    pub(super) fn held(held: &'a RegisterFragment) -> Self {
        Self { ty: held.fragment.ty, elements: Elements::Held(held), inverted: 0 }
    }

    /// Returns the values of its elements, by rows.
    fn values<T: Copy + Default>(&self, warp: &Warp, value: impl Fn(u64) -> T) -> Vec<T> {
        let inverted = self.inverted;
        match &self.elements {
            Elements::Held(held) => gather(warp, held, |bits| value(bits ^ inverted)),
            Elements::Bits(bits) => bits.iter().map(|&bits| value(bits ^ inverted)).collect(),
        }
    }
}

/// The destination of a product `d = a b + c`, and how it is added.
pub(super) struct Sum<'a> {
    /// The layout of the result.
    pub(super) d: &'a Fragment,
    /// The destinations.
    pub(super) dsts: &'a [RegId],
    /// Whether integers are clamped.
    pub(super) saturate: bool,
    /// Whether e4m3 and e5m2 are converted to f16 and added in two steps.
    pub(super) widened: bool,
}

impl Sum<'_> {
    /// Computes the product of the factors `a` and `b`, whose extent along k is given, and adds it to
    /// `c`.
    pub(super) fn compute(&self, warp: &mut Warp, k: usize, [a, b, c]: &[Factor; 3], enabled: LaneMask) {
        let shape = [self.d.cols, k];
        match self.d.ty {
            MatrixTy::F16
            | MatrixTy::Bf16
            | MatrixTy::Tf32
            | MatrixTy::F32
            | MatrixTy::E4m3
            | MatrixTy::E5m2 => {
                let mut sums = c.values(warp, single_of(c.ty));
                let (left, right) = (a.values(warp, single_of(a.ty)), b.values(warp, single_of(b.ty)));
                if self.d.ty == MatrixTy::F16 {
                    matrix::singles(shape, &left, &right, &mut sums);
                    self.scatter(warp, &sums, enabled, matrix::to_half);
                } else {
                    sum_in_steps(shape, (a.ty, self.widened), &left, &right, &mut sums);
                    self.scatter(warp, &sums, enabled, |sum| u64::from(single::bits_of::<false>(sum)));
                }
            }
            MatrixTy::F64 => {
                let mut sums = c.values(warp, f64::from_bits);
                let (left, right) = (a.values(warp, f64::from_bits), b.values(warp, f64::from_bits));
                matrix::doubles(shape, &left, &right, &mut sums);
                self.scatter(warp, &sums, enabled, double::bits_of);
            }
            MatrixTy::S4 | MatrixTy::U4 | MatrixTy::S8 | MatrixTy::U8 | MatrixTy::S32 => {
                let mut sums = c.values(warp, integer_of(c.ty));
                let (left, right) = (a.values(warp, integer_of(a.ty)), b.values(warp, integer_of(b.ty)));
                matrix::integers(shape, &left, &right, &mut sums);
                let least = i64::from(i32::MIN);
                let most = i64::from(i32::MAX);
                let result = |sum: i64| if self.saturate { sum.clamp(least, most) } else { sum };
                self.scatter(warp, &sums, enabled, |sum| u64::from(result(sum) as u32));
            }
        }
    }

    /// Distributes the result to the fragments of all lanes.
    fn scatter<T: Copy>(&self, warp: &mut Warp, matrix: &[T], enabled: LaneMask, bits: impl Fn(T) -> u64) {
        let offsets = offsets(self.d);
        for (register, reg) in self.dsts.iter().enumerate() {
            let mut lanes = [0; WARP_SIZE];
            for (first, shift) in parts(self.d, register) {
                for (lane, offset) in lanes.iter_mut().zip(offsets) {
                    *lane |= bits(matrix[first + offset]) << shift;
                }
            }
            warp.set(*reg, &lanes, enabled);
        }
    }
}

/// Adds a product to sums in single precision, in the steps of a matrix product
/// ([`Product`](warpbound_core::program::sem::Product)).
fn sum_in_steps([n, k]: [usize; 2], (ty, widened): (MatrixTy, bool), a: &[f32], b: &[f32], sums: &mut [f32]) {
    match ty {
        MatrixTy::E4m3 | MatrixTy::E5m2 if widened => {
            let mut products = vec![0.0; sums.len()];
            for step in [0, 2] {
                let of_step = |k: usize| k & 2 == step;
                let a: Vec<f32> = (0..a.len()).filter(|at| of_step(at % k)).map(|at| a[at]).collect();
                let b: Vec<f32> = (0..b.len()).filter(|at| of_step(at / n)).map(|at| b[at]).collect();
                matrix::sums_of_products([n, k / 2], LEAST_OF_F16, &a, &b, &mut products);
            }
            for (sum, product) in sums.iter_mut().zip(products) {
                *sum += product;
            }
        }
        // halves represent all values of e4m3 and e5m2 as normal or subnormal numbers
        MatrixTy::F16 | MatrixTy::E4m3 | MatrixTy::E5m2 => {
            matrix::sums_of_products([n, k], LEAST_OF_F16, a, b, sums);
        }
        _ => matrix::sums_of_products([n, k], LEAST, a, b, sums),
    }
}

/// The exponent of the least normal half.
const LEAST_OF_F16: i32 = -14;

/// The exponent of the least normal number with the exponents of single precision.
const LEAST: i32 = -126;

/// Returns the function that converts bits of a type to single precision.
fn single_of(ty: MatrixTy) -> fn(u64) -> f32 {
    match ty {
        MatrixTy::F16 => matrix::from_half,
        MatrixTy::Bf16 => |bits| f32::from_bits((bits as u32) << 16),
        MatrixTy::Tf32 => |bits| f32::from_bits(bits as u32 & 0xffff_e000),
        // all of their values are values of single precision
        MatrixTy::E4m3 => |bits| small::decode(SmallTy::E4m3, bits) as f32,
        MatrixTy::E5m2 => |bits| small::decode(SmallTy::E5m2, bits) as f32,
        _ => |bits| f32::from_bits(bits as u32),
    }
}

/// Returns the function that converts bits of an integer type to a number.
fn integer_of(ty: MatrixTy) -> fn(u64) -> i64 {
    match ty {
        MatrixTy::S4 => |bits| (bits as i64) << 60 >> 60,
        MatrixTy::S8 => |bits| i64::from(bits as i8),
        MatrixTy::S32 => |bits| i64::from(bits as i32),
        _ => |bits| bits as i64,
    }
}

/// Returns, for each lane, the distance of an element from that of lane 0 in a matrix by rows.
fn offsets(fragment: &Fragment) -> [usize; WARP_SIZE] {
    std::array::from_fn(|lane| {
        let (down, right) = fragment.lane_offset(lane);
        down * fragment.cols + right
    })
}

/// Returns the positions in a matrix by rows of the elements of one register in lane 0, each with
/// the position of its lowest bit in the register.
fn parts(fragment: &Fragment, register: usize) -> impl Iterator<Item = (usize, usize)> {
    let fragment = *fragment;
    let per = fragment.ty.per_register();
    (0..per).map(move |part| {
        let (row, col) = fragment.position(register * per + part);
        (row * fragment.cols + col, part * fragment.ty.bits())
    })
}

/// Returns a matrix by rows, from the fragments of all lanes.
fn gather<T: Copy + Default>(warp: &Warp, source: &RegisterFragment, value: impl Fn(u64) -> T) -> Vec<T> {
    let fragment = &source.fragment;
    let width = width_mask(fragment.ty.bits() as u32);
    let offsets = offsets(fragment);
    let mut matrix = vec![T::default(); fragment.rows * fragment.cols];
    for (register, reg) in source.regs.iter().take(fragment.registers()).enumerate() {
        let lanes = warp.registers.lanes(warp.map.place(*reg));
        for (first, shift) in parts(fragment, register) {
            for (bits, offset) in lanes.iter().zip(offsets) {
                matrix[first + offset] = value(bits >> shift & width);
            }
        }
    }
    matrix
}
