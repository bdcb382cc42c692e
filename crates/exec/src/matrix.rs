//! Matrix instructions, and the requirements on a warp that executes one.

use super::access;
use super::arith::matrix;
use super::context::Context;
use super::fault::{self, Fault};
use super::product::{Factor, Sum};
use super::warp::Warp;
use super::warpgroup;
use warpbound_core::base::{LaneMask, Pc};
use warpbound_core::path::Step;
use warpbound_core::program::sem::{Matrix, MatrixTy, Product};

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
        Matrix::GroupMultiply(product) => {
            if !enabled.is_empty() {
                warpgroup::multiply(warp, context, pc, product, enabled)?;
            }
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
    let factors = [a, b, c].map(Factor::held);
    let widened = matches!(a.fragment.ty, MatrixTy::E4m3 | MatrixTy::E5m2);
    let sum = Sum { d, dsts: &product.dsts, saturate: product.saturate, widened };
    sum.compute(warp, a.fragment.cols, &factors, enabled);
}
