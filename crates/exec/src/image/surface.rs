//! The surface accesses `suld.b` and `sust.b`.

use super::super::context::Context;
use super::super::fault::{self, Fault};
use super::super::lanes::{sign_extend, width_mask};
use super::super::races::{AccessEffect, Accessor};
use super::super::warp::Warp;
use super::{Expected, USED, find, no_texel, record};
use warpbound_core::base::{LaneMask, Pc, WARP_SIZE};
use warpbound_core::isa::Space;
use warpbound_core::path::MemoryUse;
use warpbound_core::program::image::{Bound, Image};
use warpbound_core::program::sem::{Operand, Outside, SurfaceAccess, SurfaceData};

/// The largest number of bytes of an access to a surface.
const MAX_ACCESS: usize = 32;

/// The addresses of the lanes of an access; `None` for a lane that does nothing.
type Places = [Option<u64>; WARP_SIZE];

/// Executes `suld.b` and `sust.b`, and records the lines that they touch.
///
/// # Errors
/// Returns an error for a handle that is not a surface of this shape, for an access outside of it
/// that has to trap, and for one that is not aligned.
pub(in super::super) fn surface(
    warp: &mut Warp,
    context: &mut Context,
    pc: Pc,
    access: &SurfaceAccess,
    enabled: LaneMask,
) -> Result<MemoryUse, Fault> {
    let size = access.size();
    let mut places = [None; WARP_SIZE];
    for lane in enabled.lanes() {
        places[lane] = place(warp, context, pc, access, lane)?;
    }
    match &access.data {
        SurfaceData::Load(dsts) => {
            let element = usize::from(access.bits / 8);
            for lane in enabled.lanes() {
                let mut bytes = [0; MAX_ACCESS];
                if let Some(address) = places[lane] {
                    match context.memory.read(Space::Global, warp.thread(lane), address, size) {
                        Ok(found) => bytes[..size].copy_from_slice(found),
                        Err(denied) => {
                            let attempt = ("surface load", address, size, lane);
                            return Err(no_texel(denied, attempt, pc, warp, context));
                        }
                    }
                    if let Some(detector) = &mut context.detector {
                        let by = Accessor { warp: warp.id, pc };
                        detector.access(by, Space::Global, address, size as u64, AccessEffect::Reads);
                    }
                }
                for (dst, bytes) in dsts.iter().zip(bytes.chunks(element)) {
                    if let Some(dst) = dst {
                        let value = bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte));
                        warp.set_in(*dst, lane, value);
                    }
                }
            }
        }
        SurfaceData::Store(srcs) => store(warp, context, pc, access, srcs, &places)?,
    }
    record(context, pc, places.into_iter().flatten(), size);
    Ok(USED)
}

fn store(
    warp: &Warp,
    context: &mut Context,
    pc: Pc,
    access: &SurfaceAccess,
    srcs: &[Operand],
    places: &Places,
) -> Result<(), Fault> {
    let (size, element) = (access.size(), usize::from(access.bits / 8));
    let all = || places.iter().enumerate().filter_map(|(lane, place)| Some((lane, (*place)?)));
    let mut values = [[0; MAX_ACCESS]; WARP_SIZE];
    // compare with the contents before any lane has stored
    let mut unchanged = LaneMask::empty();
    for (lane, address) in all() {
        for (src, bytes) in srcs.iter().zip(values[lane].chunks_mut(element)) {
            let value = warp.operand_in(*src, &context.shape, lane);
            bytes.copy_from_slice(&value.to_le_bytes()[..element]);
        }
        match context.memory.write(Space::Global, warp.thread(lane), address, size) {
            Ok(old) if *old == values[lane][..size] => unchanged |= LaneMask::lane(lane),
            Ok(_) => {}
            Err(denied) => {
                let attempt = ("surface store", address, size, lane);
                return Err(no_texel(denied, attempt, pc, warp, context));
            }
        }
    }
    if let Some(detector) = &mut context.detector {
        let by = Accessor { warp: warp.id, pc };
        for (effect, same) in [(AccessEffect::Writes, false), (AccessEffect::Rewrites, true)] {
            for (_, address) in all().filter(|(lane, _)| unchanged.has(*lane) == same) {
                detector.access(by, Space::Global, address, size as u64, effect);
            }
        }
    }
    for (lane, address) in all() {
        if let Ok(bytes) = context.memory.write(Space::Global, warp.thread(lane), address, size) {
            bytes.copy_from_slice(&values[lane][..size]);
        }
    }
    Ok(())
}

/// Returns the address of a lane's access, or `None` if it does nothing.
fn place(
    warp: &Warp,
    context: &Context,
    pc: Pc,
    access: &SurfaceAccess,
    lane: usize,
) -> Result<Option<u64>, Fault> {
    let value = |operand: Operand| warp.operand_in(operand, &context.shape, lane);
    let bound = find(context, pc, value(access.surface), true, Expected::Exactly(access.geometry))?;
    let mut at = [0; 3];
    for (at, &coord) in at.iter_mut().zip(&access.coords) {
        *at = sign_extend(value(coord) & width_mask(32), 32);
    }
    let layer = access.layer.map_or(0, |layer| value(layer) & width_mask(32));
    placed(&bound.image, at, layer, access.size(), access.outside)
        .ok_or_else(|| outside(warp, context, pc, access, (lane, bound, at, layer)))
}

#[cold]
fn outside(
    warp: &Warp,
    context: &Context,
    pc: Pc,
    access: &SurfaceAccess,
    (lane, bound, [x, y, z], layer): (usize, &Bound, [i64; 3], u64),
) -> Fault {
    let verb = if access.is_store() { "store" } else { "load" };
    let Bound { name, image, .. } = bound;
    let [_, height, depth] = image.extent;
    let message = format!(
        "surface {verb} of {} bytes outside of surface `{name}`: byte {x} of row {y}, slice {z}, layer {layer} \
         (lane {lane} of warp {}); a .{} surface of {} bytes by {height} rows by {depth} slices, layers: {}",
        access.size(),
        warp.id,
        image.geometry.name(),
        image.row_bytes(),
        image.layers,
    );
    let hint = "the first coordinate of a surface counts bytes; .clamp and .zero do not trap";
    fault::at(context.program, pc, message, hint)
}

/// Returns the address of an access to a surface, or `Some(None)` if it does nothing; `None` if it
/// has to trap.
fn placed(image: &Image, at: [i64; 3], layer: u64, size: usize, outside: Outside) -> Option<Option<u64>> {
    // the last position on each axis; negative if there is none
    let last = [
        image.row_bytes() as i64 - size as i64,
        i64::from(image.extent[1]) - 1,
        i64::from(image.extent[2]) - 1,
    ];
    let fits = at.iter().zip(&last).all(|(at, last)| (0..=*last).contains(at));
    match outside {
        _ if fits && layer < image.layers.into() => {}
        Outside::Zero => return Some(None),
        Outside::Clamp if last[0] >= 0 => {}
        Outside::Clamp | Outside::Trap => return None,
    }
    let [x, y, z] = std::array::from_fn(|axis| at[axis].clamp(0, last[axis]));
    let layer = layer.min(u64::from(image.layers - 1)) as u32;
    Some(Some(image.address_of(x as u64, [y as u32, z as u32], layer)))
}
