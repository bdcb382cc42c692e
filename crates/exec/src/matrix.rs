//! Matrix instructions: products, and the requirements on a warp that executes one.

use super::access;
use super::arith::{double, matrix, single, small};
use super::context::Context;
use super::fault::{self, Fault};
use super::lanes::width_mask;
use super::warp::Warp;
use warpbound_core::base::{LaneMask, Pc, WARP_SIZE};
use warpbound_core::path::Step;
use warpbound_core::program::sem::{Fragment, Matrix, MatrixTy, Product, RegisterFragment, SmallTy};

/// Executes a matrix instruction and returns its step.
///
/// # Errors
/// Returns an error if some lanes of the warp do not take part, or if its access to memory fails.
pub(super) fn execute(
    warp: &mut Warp,
    context: &mut Context,
    pc: Pc,
    op: &Matrix,
    enabled: LaneMask,
) -> Result<Step, Fault> {
    if !enabled.is_empty() && enabled != LaneMask::ALL {
        let message =
            format!("only lanes {enabled} of warp {} execute this matrix instruction together", warp.id);
        let hint = "all 32 lanes of a warp hold the matrices: they must come here together, no guard may \
                    disable some, and blocks must consist of whole warps";
        return Err(fault::at(context.program, pc, message, hint));
    }
    let used = match op {
        Matrix::Load { from, fragment, dsts } => {
            access::load_matrix(warp, context, pc, from, (fragment, dsts), enabled)?
        }
        Matrix::Store { to, src } => access::store_matrix(warp, context, pc, to, src, enabled)?,
        Matrix::LoadRows { from, dsts } => access::load_rows(warp, context, pc, from, dsts, enabled)?,
        Matrix::StoreRows { to, srcs } => access::store_rows(warp, context, pc, to, srcs, enabled)?,
        Matrix::Multiply(product) => {
            multiply(warp, product, enabled);
            return Ok(Step::plain(pc));
        }
        Matrix::Transpose { dst, src } => {
            let value = matrix::transposed(&warp.registers.lanes(warp.map.place(*src)));
            warp.set(*dst, &value, enabled);
            return Ok(Step::plain(pc));
        }
    };
    Ok(Step::with(pc, used))
}

fn multiply(warp: &mut Warp, product: &Product, enabled: LaneMask) {
    let Product { a, b, c, d, .. } = product;
    let shape = [d.cols, a.fragment.cols];
    match d.ty {
        MatrixTy::F16 | MatrixTy::Bf16 | MatrixTy::Tf32 | MatrixTy::F32 | MatrixTy::E4m3 | MatrixTy::E5m2 => {
            let mut sums = gather(warp, c, single_of(c.fragment.ty));
            let (a, b) =
                (gather(warp, a, single_of(a.fragment.ty)), gather(warp, b, single_of(b.fragment.ty)));
            if d.ty == MatrixTy::F16 {
                matrix::singles(shape, &a, &b, &mut sums);
                scatter(warp, product, &sums, enabled, matrix::to_half);
            } else {
                sum_in_steps(shape, product.a.fragment.ty, &a, &b, &mut sums);
                scatter(warp, product, &sums, enabled, |sum| u64::from(single::bits_of::<false>(sum)));
            }
        }
        MatrixTy::F64 => {
            let mut sums = gather(warp, c, f64::from_bits);
            let (a, b) = (gather(warp, a, f64::from_bits), gather(warp, b, f64::from_bits));
            matrix::doubles(shape, &a, &b, &mut sums);
            scatter(warp, product, &sums, enabled, double::bits_of);
        }
        MatrixTy::S4 | MatrixTy::U4 | MatrixTy::S8 | MatrixTy::U8 | MatrixTy::S32 => {
            let mut sums = gather(warp, c, integer_of(c.fragment.ty));
            let (a, b) =
                (gather(warp, a, integer_of(a.fragment.ty)), gather(warp, b, integer_of(b.fragment.ty)));
            matrix::integers(shape, &a, &b, &mut sums);
            let least = i64::from(i32::MIN);
            let most = i64::from(i32::MAX);
            let result = |sum: i64| if product.saturate { sum.clamp(least, most) } else { sum };
            scatter(warp, product, &sums, enabled, |sum| u64::from(result(sum) as u32));
        }
    }
}

/// Adds a product to sums in single precision, in the steps of [`Product`].
fn sum_in_steps([n, k]: [usize; 2], ty: MatrixTy, a: &[f32], b: &[f32], sums: &mut [f32]) {
    match ty {
        MatrixTy::E4m3 | MatrixTy::E5m2 => {
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
        MatrixTy::F16 => matrix::sums_of_products([n, k], LEAST_OF_F16, a, b, sums),
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

/// Distributes the result to the fragments of all lanes.
fn scatter<T: Copy>(
    warp: &mut Warp,
    product: &Product,
    matrix: &[T],
    enabled: LaneMask,
    bits: impl Fn(T) -> u64,
) {
    let offsets = offsets(&product.d);
    for (register, reg) in product.dsts.iter().enumerate() {
        let mut lanes = [0; WARP_SIZE];
        for (first, shift) in parts(&product.d, register) {
            for (lane, offset) in lanes.iter_mut().zip(offsets) {
                *lane |= bits(matrix[first + offset]) << shift;
            }
        }
        warp.set(*reg, &lanes, enabled);
    }
}
