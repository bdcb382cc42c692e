//! Copies of boxes of tensors between global and shared memory, which complete at once.
//!
//! The elements of a box are adjacent in shared memory, axis 0 first, except that parts of 16 bytes may be
//! exchanged ([`swizzled`]). Elements outside of the tensor are read as 0 or NaN, and not written.

use super::access::{Targets, combined, decode, swizzled};
use super::context::Context;
use super::fault::{self, Fault};
use super::memory::Denied;
use super::races::{AccessEffect, Accessor};
use super::warp::Warp;
use warpbound_core::base::Pc;
use warpbound_core::isa::Space;
use warpbound_core::program::sem::{AtomOp, BulkCopy, IntTy, TensorCopy, ValueTy};
use warpbound_core::program::tensor_map::TensorMap;

/// Returns the places of the maps and of the boxes.
pub(super) fn targets(warp: &Warp, context: &Context, pc: Pc, copy: &TensorCopy) -> (Targets, Targets) {
    let unit = TensorCopy::UNIT as usize;
    let maps = Targets::new(warp, context, pc, (copy.space, &copy.map), TensorMap::BYTES, "tensor map");
    let boxes = Targets::new(warp, context, pc, (Space::Shared, &copy.shared), unit, "copy of a tensor");
    (maps, boxes)
}

/// Copies the box of a lane, and returns the number of its bytes.
///
/// # Errors
/// Returns an error if there is no tensor map with this number of axes, if a box is not in shared memory or
/// not aligned, or if an access is not allowed.
pub(super) fn execute(
    warp: &Warp,
    context: &mut Context,
    copy: &TensorCopy,
    (maps, boxes): (&Targets, &Targets),
    lane: usize,
) -> Result<u64, Fault> {
    let map = map_of(warp, context, copy, maps, lane)?;
    let start = context.memory.offset(boxes.of(lane).1);
    let fault = |message: String, hint| Err(fault::at(context.program, boxes.pc(), message, hint));
    if !start.is_multiple_of(TensorCopy::UNIT) {
        let message = format!(
            "the box of a tensor at {start:#x} of shared memory, which is no multiple of 128 (lane {lane} of \
             warp {})",
            warp.id
        );
        return fault(message, "align the variable to 128 bytes");
    }
    let (size, room) = (map.box_bytes(), context.shape.total_shared);
    if size > room.saturating_sub(start) {
        let message = format!(
            "a box of {size} bytes at {start:#x} of shared memory, which has {room} bytes (lane {lane} of warp {})",
            warp.id
        );
        return fault(message, "the product of the extents of the box and the size of an element has to fit");
    }
    let first: Vec<i64> = copy
        .position
        .iter()
        .map(|&at| i64::from(warp.operand_in(at, &context.shape, lane) as u32 as i32))
        .collect();
    let mover = Mover { warp, copy, map: &map, boxes, lane };
    // parts of 16 bytes stay together where others are exchanged
    let count = (BulkCopy::UNIT / map.elem.bytes()) as i64;
    let mut within = vec![0; map.extents.len()];
    for offset in (0..size).step_by(BulkCopy::UNIT as usize) {
        let held = offset_of(&map, start, offset);
        let mut position: Vec<i64> =
            first.iter().zip(&within).map(|(first, within)| first + within).collect();
        if !mover.move_part(context, held, &position, count) {
            for index in 0..count as u64 {
                mover.move_element(context, held + index * map.elem.bytes(), map.element(&position))?;
                position[0] += 1;
            }
        }
        advance(&mut within, count, &map.extents);
    }
    Ok(size)
}

/// Advances a position within a box by a number of elements that divides the extent of axis 0.
fn advance(position: &mut [i64], count: i64, extents: &[u32]) {
    let mut step = count;
    for (at, &extent) in position.iter_mut().zip(extents) {
        *at += step;
        if *at < i64::from(extent) {
            return;
        }
        *at = 0;
        step = 1;
    }
}

/// Returns the distance from the beginning of a box in shared memory of the element that is this many
/// bytes behind it if nothing is swizzled.
fn offset_of(map: &TensorMap, start: u64, offset: u64) -> u64 {
    swizzled(start + offset, u64::from(map.swizzle)).wrapping_sub(start)
}

/// Returns the tensor map of a lane.
///
/// # Errors
/// Returns an error if there is none, or it has another number of axes.
fn map_of(
    warp: &Warp,
    context: &mut Context,
    copy: &TensorCopy,
    maps: &Targets,
    lane: usize,
) -> Result<TensorMap, Fault> {
    let (space, address) = maps.of(lane);
    let bytes = match context.memory.bytes(space, warp.thread(lane), address, TensorMap::BYTES) {
        Ok(bytes) => bytes,
        Err(denied) => return Err(maps.fault(denied, lane, warp, context)),
    };
    let axes = copy.position.len();
    match TensorMap::decode(bytes) {
        Some(map) if map.dims.len() == axes => Ok(map),
        Some(map) => {
            let message = format!("a copy of {axes} axes of a tensor that has {}", map.dims.len());
            Err(fault::at(context.program, maps.pc(), message, "the map and the instruction must agree"))
        }
        None => {
            let message =
                format!("there is no tensor map at address {address:#x} of {} memory", space.name());
            let hint = "a launch passes one with TensorMap(..); maps that other programs have made are not known here";
            Err(fault::at(context.program, maps.pc(), message, hint))
        }
    }
}

/// Moves elements between a box in shared memory and a tensor, for one lane.
struct Mover<'m> {
    warp: &'m Warp,
    copy: &'m TensorCopy,
    map: &'m TensorMap,
    boxes: &'m Targets,
    lane: usize,
}

impl Mover<'_> {
    /// Moves the 16 bytes of adjacent elements at once, and returns whether that is possible: all of
    /// them are in the tensor, are not combined with others, and may be accessed.
    fn move_part(&self, context: &mut Context, offset: u64, position: &[i64], count: i64) -> bool {
        let unit = BulkCopy::UNIT as usize;
        let thread = self.warp.thread(self.lane);
        let Some(global) = self.map.element(position) else { return false };
        if self.copy.reduce.is_some() || (position[0] + count) as u64 > self.map.dims[0] {
            return false;
        }
        let shared = self.boxes.of(self.lane).1.wrapping_add(offset);
        let (from, to) = match self.copy.stores {
            true => ((Space::Shared, shared), (Space::Global, global)),
            false => ((Space::Global, global), (Space::Shared, shared)),
        };
        let Ok(bytes) = context.memory.bytes(from.0, thread, from.1, unit) else { return false };
        let Some(part) = bytes.first_chunk::<{ BulkCopy::UNIT as usize }>().copied() else { return false };
        let Ok(place) = context.memory.write(to.0, thread, to.1, unit) else { return false };
        place.copy_from_slice(&part);
        self.watch(context, from, BulkCopy::UNIT, AccessEffect::Reads);
        self.watch(context, to, BulkCopy::UNIT, AccessEffect::Writes);
        true
    }

    /// Moves one element between its place in the box and that in global memory, if it has one there.
    ///
    /// # Errors
    /// Returns an error if an access is not allowed.
    fn move_element(&self, context: &mut Context, offset: u64, global: Option<u64>) -> Result<(), Fault> {
        let size = self.map.elem.bytes();
        let thread = self.warp.thread(self.lane);
        let shared = (Space::Shared, self.boxes.of(self.lane).1.wrapping_add(offset));
        let read = |context: &mut Context, (space, address): (Space, u64)| {
            let bytes = context.memory.read(space, thread, address, size as usize).map(decode);
            bytes.map_err(|denied| self.fault(denied, context, (space, address), offset))
        };
        let (place, value) = match (self.copy.stores, global) {
            // nothing is written outside of a tensor
            (true, None) => return Ok(()),
            (true, Some(global)) => {
                let value = read(context, shared)?;
                self.watch(context, shared, size, AccessEffect::Reads);
                let place = (Space::Global, global);
                let value = match self.copy.reduce {
                    None => value,
                    Some(op) => {
                        let old = read(context, place)?;
                        combined(op, reduced(op, self.map.elem.value()), Space::Global, old, value, 0)
                    }
                };
                (place, value)
            }
            (false, None) => (shared, self.map.outside()),
            (false, Some(global)) => {
                let value = read(context, (Space::Global, global))?;
                self.watch(context, (Space::Global, global), size, AccessEffect::Reads);
                (shared, value)
            }
        };
        match context.memory.write(place.0, thread, place.1, size as usize) {
            Ok(bytes) => bytes.copy_from_slice(&value.to_le_bytes()[..size as usize]),
            Err(denied) => return Err(self.fault(denied, context, place, offset)),
        }
        let effect = if self.copy.reduce.is_some() { AccessEffect::Updates } else { AccessEffect::Writes };
        self.watch(context, place, size, effect);
        Ok(())
    }

    fn watch(&self, context: &mut Context, place: (Space, u64), size: u64, effect: AccessEffect) {
        if let Some(detector) = &mut context.detector {
            let by = Accessor { warp: self.warp.id, pc: self.boxes.pc() };
            detector.by_bulk_copy(by, self.copy.signal.is_some(), place, size, effect);
        }
    }

    /// Returns the error of an access to global memory, or to the element this many bytes behind the
    /// beginning of the box.
    fn fault(&self, denied: Denied, context: &Context, (space, address): (Space, u64), offset: u64) -> Fault {
        if space == Space::Shared {
            return self.boxes.fault_behind(denied, self.lane, offset, self.warp, context);
        }
        let size = self.map.elem.bytes() as usize;
        let access =
            fault::Access { verb: "copy of a tensor", space, address, size, generic: false, lane: self.lane };
        let pc = self.boxes.pc();
        access.fault(denied, context.program, pc, &context.memory, self.warp, &context.shape)
    }
}

/// Returns the type in which an operation combines elements: bits for logic.
fn reduced(op: AtomOp, ty: ValueTy) -> ValueTy {
    match op {
        AtomOp::And | AtomOp::Or | AtomOp::Xor => {
            ValueTy::Int(IntTy { bits: (8 * ty.bytes()) as u8, signed: false })
        }
        _ => ty,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_advance_along_the_first_axis() {
        let mut position = [0, 0, 0];
        let mut seen = Vec::new();
        for _ in 0..6 {
            seen.push(position);
            advance(&mut position, 4, &[8, 1, 3]);
        }
        assert_eq!(seen, [[0, 0, 0], [4, 0, 0], [0, 0, 1], [4, 0, 1], [0, 0, 2], [4, 0, 2]]);
        assert_eq!(position, [0, 0, 0]);
    }
}
