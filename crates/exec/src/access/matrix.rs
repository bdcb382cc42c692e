//! Loads and stores of matrices that are distributed over the lanes of a warp.
//!
//! An instruction consists of *pieces*, in each of which every lane accesses a few bytes. `wmma`
//! has one piece for each register of the fragment, or one for each element if the elements of a
//! register are not adjacent in memory. `ldmatrix` and `stmatrix` have one piece for each matrix,
//! in which eight rows of 16 bytes are moved. A piece has bank conflicts like any other access; the
//! recorded lines are those of all pieces together.

use super::super::arith::matrix::transposed;
use super::super::context::Context;
use super::super::fault::{self, Fault};
use super::super::lanes::Lanes;
use super::super::races::{AccessEffect, Accessor};
use super::super::warp::Warp;
use super::{Targets, decode};
use warpbound_core::base::{LaneMask, Pc, RegId, WARP_SIZE};
use warpbound_core::isa::Space;
use warpbound_core::path::MemoryUse;
use warpbound_core::program::sem::{Fragment, MatrixBlock, MatrixRows, RegisterFragment};

/// The number of rows of an 8 by 8 matrix of 16-bit elements, and the bytes of each row.
const ROWS: usize = 8;
const ROW_BYTES: usize = 16;

/// An access of every lane to a part of one register of a fragment.
struct Piece {
    targets: Targets,
    register: usize,
    /// The position of the lowest bit in the register.
    shift: usize,
}

/// Executes `wmma.load`. Returns the space with its bank conflicts, and records the lines.
///
/// # Errors
/// Returns an error if lanes give different positions of the matrix, or if an access is not
/// allowed.
pub(in super::super) fn load_matrix(
    warp: &mut Warp,
    context: &mut Context,
    pc: Pc,
    from: &MatrixBlock,
    (fragment, dsts): (&Fragment, &[Option<RegId>]),
    enabled: LaneMask,
) -> Result<MemoryUse, Fault> {
    if enabled.is_empty() {
        return Ok(no_lane(context, pc, from.space));
    }
    let pieces = pieces(warp, context, pc, from, fragment, "load")?;
    let mut values = vec![[0; WARP_SIZE]; fragment.registers()];
    for Piece { targets, register, shift } in &pieces {
        for lane in enabled.lanes() {
            let bytes = read(warp, context, targets, lane)?;
            values[*register][lane] |= decode(bytes) << shift;
        }
    }
    // registers beyond those of the fragment repeat its values
    for (dst, value) in dsts.iter().zip(values.iter().cycle()) {
        if let Some(dst) = dst {
            warp.set(*dst, value, enabled);
        }
    }
    let targets: Vec<Targets> = pieces.into_iter().map(|piece| piece.targets).collect();
    Ok(used(&targets, enabled, warp, context))
}

/// Executes `wmma.store`; the counterpart of [`load_matrix`].
///
/// # Errors
/// Returns the same errors as [`load_matrix`].
pub(in super::super) fn store_matrix(
    warp: &Warp,
    context: &mut Context,
    pc: Pc,
    to: &MatrixBlock,
    src: &RegisterFragment,
    enabled: LaneMask,
) -> Result<MemoryUse, Fault> {
    if enabled.is_empty() {
        return Ok(no_lane(context, pc, to.space));
    }
    let pieces = pieces(warp, context, pc, to, &src.fragment, "store")?;
    for Piece { targets, register, shift } in &pieces {
        for lane in enabled.lanes() {
            let value = warp.get(src.regs[*register], lane) >> shift;
            write(warp, context, targets, lane, &value.to_le_bytes()[..targets.size])?;
        }
    }
    let targets: Vec<Targets> = pieces.into_iter().map(|piece| piece.targets).collect();
    Ok(used(&targets, enabled, warp, context))
}

/// Executes `ldmatrix`. Returns the space with its bank conflicts, and records the lines.
///
/// # Errors
/// Returns an error if an access is not allowed.
pub(in super::super) fn load_rows(
    warp: &mut Warp,
    context: &mut Context,
    pc: Pc,
    from: &MatrixRows,
    dsts: &[Option<RegId>],
    enabled: LaneMask,
) -> Result<MemoryUse, Fault> {
    if enabled.is_empty() {
        return Ok(no_lane(context, pc, Space::Shared));
    }
    let rows = rows(warp, context, pc, (from, dsts.len()), "load")?;
    for (matrix, dst) in dsts.iter().enumerate() {
        let mut words = [0; WARP_SIZE];
        for row in 0..ROWS {
            let bytes = read(warp, context, &rows, ROWS * matrix + row)?;
            let four = &mut words[4 * row..4 * row + 4];
            four.iter_mut().zip(bytes.chunks_exact(4)).for_each(|(word, bytes)| *word = decode(bytes));
        }
        if let Some(dst) = dst {
            let value = if from.transposed { transposed(&words) } else { words };
            warp.set(*dst, &value, enabled);
        }
    }
    Ok(used(&words_of_rows(&rows, dsts.len()), enabled, warp, context))
}

/// Executes `stmatrix`; the counterpart of [`load_rows`].
///
/// # Errors
/// Returns an error if an access is not allowed.
pub(in super::super) fn store_rows(
    warp: &Warp,
    context: &mut Context,
    pc: Pc,
    to: &MatrixRows,
    srcs: &[RegId],
    enabled: LaneMask,
) -> Result<MemoryUse, Fault> {
    if enabled.is_empty() {
        return Ok(no_lane(context, pc, Space::Shared));
    }
    let rows = rows(warp, context, pc, (to, srcs.len()), "store")?;
    for (matrix, src) in srcs.iter().enumerate() {
        let words = warp.registers.lanes(warp.map.place(*src));
        let words = if to.transposed { transposed(&words) } else { words };
        for row in 0..ROWS {
            let mut bytes = [0; ROW_BYTES];
            let four = &words[4 * row..4 * row + 4];
            for (bytes, word) in bytes.chunks_exact_mut(4).zip(four) {
                bytes.copy_from_slice(&(*word as u32).to_le_bytes());
            }
            write(warp, context, &rows, ROWS * matrix + row, &bytes)?;
        }
    }
    Ok(used(&words_of_rows(&rows, srcs.len()), enabled, warp, context))
}

/// Returns and records the memory use of an access without active lanes.
fn no_lane(context: &mut Context, pc: Pc, space: Space) -> MemoryUse {
    let space = if space == Space::Generic { Space::Global } else { space };
    if let Some(group) = context.record.collect(pc, space) {
        group.finish();
    }
    MemoryUse { space, extra_transactions: 0 }
}

/// Returns the pieces of `wmma.load` and `wmma.store`.
fn pieces(
    warp: &Warp,
    context: &Context,
    pc: Pc,
    block: &MatrixBlock,
    fragment: &Fragment,
    verb: &'static str,
) -> Result<Vec<Piece>, Fault> {
    let uniform = |values: Lanes, quantity: &str| {
        let differs = values.iter().position(|&value| value != values[0]);
        differs.map_or(Ok(values[0]), |lane| {
            let message = format!(
                "lanes 0 and {lane} of warp {} give different {quantity} for one matrix: {:#x} and {:#x}",
                warp.id, values[0], values[lane]
            );
            Err(fault::at(context.program, pc, message, "all lanes must give the same value"))
        })
    };
    let (per, bits) = (fragment.ty.per_register(), fragment.ty.bits());
    let together = if fragment.is_contiguous(block.by_column) { per } else { 1 };
    let size = together * bits / 8;
    let whole = Targets::new(warp, context, pc, (block.space, &block.addr), size, verb);
    let start = uniform(whole.addresses, "addresses")?;
    match whole.of(0).0 {
        Space::Global | Space::Shared => {}
        space => {
            let message = format!("this {verb} of a matrix goes to {} memory", space.name());
            return Err(fault::at(context.program, pc, message, "matrices lie in global or shared memory"));
        }
    }
    let stride = match block.stride {
        Some(stride) => uniform(warp.operand(stride, &context.shape), "strides")?,
        None => (if block.by_column { fragment.rows } else { fragment.cols }) as u64,
    };
    if !(stride * bits as u64).is_multiple_of(8) {
        let message = format!("a stride of {stride} elements of {bits} bits is not a whole number of bytes");
        return Err(fault::at(context.program, pc, message, ""));
    }
    let away = |(row, col): (usize, usize)| {
        let (line, place) = if block.by_column { (col, row) } else { (row, col) };
        (line as u64).wrapping_mul(stride).wrapping_add(place as u64).wrapping_mul(bits as u64) / 8
    };
    let lanes: Lanes = std::array::from_fn(|lane| away(fragment.lane_offset(lane)));
    let firsts = (0..fragment.elements()).step_by(together);
    Ok(firsts
        .map(|index| {
            let first = start.wrapping_add(away(fragment.position(index)));
            let addresses = lanes.map(|offset| first.wrapping_add(offset));
            let targets = Targets { space: block.space, addresses, size, verb, pc, range: None };
            Piece { targets, register: index / per, shift: index % per * bits }
        })
        .collect())
}

/// Returns the rows whose addresses the lanes give for `ldmatrix` and `stmatrix`. The addresses of
/// lanes without a row are ignored.
fn rows(
    warp: &Warp,
    context: &Context,
    pc: Pc,
    (rows, matrices): (&MatrixRows, usize),
    verb: &'static str,
) -> Result<Targets, Fault> {
    let targets = Targets::new(warp, context, pc, (rows.space, &rows.addr), ROW_BYTES, verb);
    let other = (0..ROWS * matrices).map(|lane| targets.of(lane).0).find(|&space| space != Space::Shared);
    match other {
        None => Ok(targets),
        Some(space) => {
            let message = format!("this {verb} of matrix rows goes to {} memory", space.name());
            Err(fault::at(context.program, pc, message, "rows of matrices lie in shared memory"))
        }
    }
}

/// Returns the pieces of matrices given by rows: lane `4 r + t` has the `t`-th word of row `r`.
fn words_of_rows(rows: &Targets, matrices: usize) -> Vec<Targets> {
    let piece = |matrix: usize| {
        let address = |lane: usize| rows.addresses[ROWS * matrix + lane / 4] + 4 * (lane as u64 % 4);
        Targets { addresses: std::array::from_fn(address), size: 4, ..*rows }
    };
    (0..matrices).map(piece).collect()
}

/// Returns the bytes that a lane loads.
fn read<'c>(
    warp: &Warp,
    context: &'c mut Context,
    targets: &Targets,
    lane: usize,
) -> Result<&'c [u8], Fault> {
    let (space, address) = targets.of(lane);
    if let Err(denied) = context.memory.read(space, warp.thread(lane), address, targets.size) {
        return Err(targets.fault(denied, lane, warp, context));
    }
    if let Some(detector) = &mut context.detector {
        let by = Accessor { warp: warp.id, pc: targets.pc };
        detector.access(by, space, address, targets.size as u64, AccessEffect::Reads);
    }
    let bytes = context.memory.read(space, warp.thread(lane), address, targets.size);
    Ok(bytes.unwrap_or_default())
}

/// Stores the bytes of a lane.
fn write(
    warp: &Warp,
    context: &mut Context,
    targets: &Targets,
    lane: usize,
    bytes: &[u8],
) -> Result<(), Fault> {
    let (space, address) = targets.of(lane);
    let place = match context.memory.write(space, warp.thread(lane), address, bytes.len()) {
        Ok(place) => place,
        Err(denied) => return Err(targets.fault(denied, lane, warp, context)),
    };
    let effect = if place == bytes { AccessEffect::Rewrites } else { AccessEffect::Writes };
    place.copy_from_slice(bytes);
    if let Some(detector) = &mut context.detector {
        let by = Accessor { warp: warp.id, pc: targets.pc };
        detector.access(by, space, address, bytes.len() as u64, effect);
    }
    Ok(())
}

/// Returns and records the memory use of all pieces together. Without conflicts they take as many
/// transactions as one access of as many bytes.
fn used(pieces: &[Targets], enabled: LaneMask, warp: &Warp, context: &mut Context) -> MemoryUse {
    let (first, space) = (&pieces[0], pieces[0].resolved(enabled));
    let transactions = match context.record.banks {
        Some(banks) if space == Space::Shared => {
            let bytes = pieces.iter().map(|piece| piece.size).sum();
            let transactions_of = |piece: &Targets| {
                banks.pools(piece.size) + usize::from(piece.extra_transactions(banks, enabled, false))
            };
            let all: usize = pieces.iter().map(transactions_of).sum();
            u8::try_from(all.saturating_sub(banks.pools(bytes))).unwrap_or(u8::MAX)
        }
        _ => 0,
    };
    if let Some(mut group) = context.record.collect(first.pc, space) {
        for piece in pieces {
            piece.touch(enabled, false, warp, (&mut context.memory, &context.shape), &mut group);
        }
        group.finish();
    }
    MemoryUse { space, extra_transactions: transactions }
}
